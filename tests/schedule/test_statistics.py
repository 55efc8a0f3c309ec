"""How certain a mean is, logs similar to one, and fairness: against formulas, invariants and plain loops."""

import math
import re
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from workloads import examples, trace_of, workloads

import schedlab as sl
from schedlab import metrics, statistics
from schedlab.workload.variations import WEEK

pytestmark = pytest.mark.tables

FEW = examples(80)
SCHEMES = st.sampled_from(["fcfs", "easy", "easy-sjf", "conservative"])
RUNS = st.tuples(st.integers(0, 10**6), st.integers(2, 3000), st.sampled_from([0.0, 0.5, 0.95]))
MEASURES = ["wait_time", "turnaround", "slowdown", "bounded_slowdown", "per_processor_slowdown"]


def run(seed, length, memory):
    """Draw a positive, skewed, correlated run: an exponentially smoothed exponential sample."""
    drawn = np.random.default_rng(seed).exponential(size=length)
    for i in range(1, length):
        drawn[i] = memory * drawn[i - 1] + (1 - memory) * drawn[i]
    return drawn


def quiet(function, *args, **options):
    """Call without the warnings: the notes say the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.statistics.IntervalWarning)
        return function(*args, **options)


def ends(interval):
    return [interval.mean, interval.low, interval.high]


# Student's t --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("df", [*range(1, 41), 99, 100, 1000, 12345])
def test_quantiles_of_student_are_those_of_scipy(df):
    for p in (0.001, 0.025, 0.3, 0.5, 0.6, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.9995):
        assert statistics.t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("p", "df"), [(0, 5), (1, 5), (1.5, 5), (math.nan, 5), (0.9, 0)])
def test_quantiles_there_are_none_of(p, df):
    with pytest.raises(ValueError, match="expected p in"):
        statistics.t_quantile(p, df)


# Batch means --------------------------------------------------------------------------------------------
def batched(values, batches):
    """Cut a list into batches whose sizes differ by one at most, and return their means."""
    cut = [len(values) * i // batches for i in range(batches + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(cut)]


def autocorrelation(means):
    """Return the lag-1 autocorrelation, or 0 if it is negative."""
    middle = sum(means) / len(means)
    return max(sum((a - middle) * (b - middle) for a, b in pairwise(means)) / sum((m - middle) ** 2 for m in means), 0)


def naive_batch_means(values, batches, confidence):
    """Compute it with plain lists and scipy: cut, widen, skew."""
    means = batched(values, batches)
    r = autocorrelation(means)
    error = math.sqrt((1 + r) / (1 - r) * np.var(means, ddof=1) / batches)
    t = stats.t.ppf((1 + confidence) / 2, batches - 1)
    beta = stats.skew(means, bias=False) / (6 * math.sqrt(batches))
    low, high = ((math.cbrt(1 + 6 * beta * (end - beta)) - 1) / (2 * beta) for end in (t, -t))
    mean = sum(values) / len(values)
    return mean, mean - low * error, mean - high * error


@FEW
@given(RUNS.filter(lambda r: r[1] >= 3), st.sampled_from([0.8, 0.95, 0.99]))
def test_an_interval_is_what_the_plain_loop_gives(drawn, confidence):
    values = run(*drawn)
    found = quiet(sl.batch_means, values, confidence)
    assert min(20, len(values)) <= found.batches <= 40
    assert found.batch_size == len(values) // found.batches
    assert ends(found) == pytest.approx(naive_batch_means(values.tolist(), found.batches, confidence), rel=1e-6)
    assert found.mean in found


@FEW
@given(RUNS, st.sampled_from([-3.0, 0.25, 1000.0]), st.sampled_from([0.0, -7.0, 1000.0]))
def test_scale_and_origin_do_not_matter(drawn, factor, shift):
    values = run(*drawn)
    one, other = (quiet(sl.batch_means, each) for each in (values, factor * values + shift))
    assert (one.batches, one.batch_size, one.notes) == (other.batches, other.batch_size, other.notes)
    expected = [factor * end + shift for end in ends(one)]
    assert ends(other) == pytest.approx([expected[0], *sorted(expected[1:])], rel=1e-6)


@pytest.mark.parametrize("memory", [0.0, 0.9, 0.95])
def test_the_number_of_batches_is_the_largest_without_correlation(memory):
    def correlated(values, batches):
        means = batched(values, batches)
        ratio = 1 - sum((a - b) ** 2 for a, b in pairwise(means)) / (2 * batches * np.var(means))
        return ratio / math.sqrt((batches - 2) / (batches**2 - 1)) > stats.norm.ppf(0.9)

    found = []
    for seed in range(20):
        values = run(seed, 1010, memory)
        fit = [batches for batches in range(40, 19, -1) if not correlated(values.tolist(), batches)]
        found.append(quiet(sl.batch_means, values).batches)
        assert found[-1] == (fit[0] if fit else 20)
    assert len(set(found)) > 1


def test_a_drift_is_seen():
    values = run(1, 4000, 0.5)
    assert sl.batch_means(values).notes == ()
    with pytest.warns(sl.statistics.IntervalWarning, match="not stationary: the mean drifts"):
        found = sl.batch_means(values + np.linspace(0, 0.5, 4000))
    assert "not stationary: the mean drifts" in found.notes


def test_one_run_in_a_hundred_is_called_drifting_without_reason():
    called = sum(not statistics.is_stationary(run(seed, 1000, 0.5), 20) for seed in range(400))
    assert called <= stats.binom.ppf(0.999, 400, 0.02)


WALK = np.cumsum(np.random.default_rng(1).normal(size=400))


@pytest.mark.parametrize(
    ("values", "note", "batches", "size"),
    [
        (WALK, "too short: the means of 20 batches are still correlated", 20, 20),
        *((run(1, length, 0), f"too short: {length} values", length, 1) for length in (2, 5, 19)),
        ([7.0], "too short: 1 values", 1, 1),
        ([], "no values", 0, 0),
        ([1.0, math.inf, 2.0], "infinite or missing", 0, 0),
        ([1.0, math.nan], "infinite or missing", 0, 0),
    ],
)
def test_a_run_without_a_sure_interval_says_so(values, note, batches, size):
    with pytest.warns(sl.statistics.IntervalWarning, match=note):
        found = sl.batch_means(values)
    assert (found.batches, found.batch_size) == (batches, size)
    assert math.isnan(found.low) == math.isnan(found.high) == (batches < 2)
    assert found.mean in found or batches < 2
    assert found.mean == 7 or len(values) != 1


def test_constant_values_are_sure():
    assert ends(sl.batch_means(np.full(100, 3.0))) == [3, 3, 3]
    for value, length in ((0.1, 100), (1.1, 1013)):  # sums of these are rounded, which must not count as a drift
        assert ends(sl.batch_means(np.full(length, value))) == pytest.approx([value] * 3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"confidence": 95}, "confidence must be between 0 and 1, got 95"),
        ({"confidence": 0}, "confidence must be between 0 and 1, got 0"),
        ({"confidence": "0.9"}, "confidence must be between 0 and 1, got '0.9'"),
        ({"warm_up": "auto"}, "warm_up is 'auto', expected a number of values or \"mser\""),
        ({"warm_up": -1}, "warm_up is -1"),
        ({"warm_up": 0.5}, "warm_up is 0.5"),
    ],
)
def test_what_is_wrong_is_said(options, words):
    with pytest.raises(ValueError, match=words):
        sl.batch_means(np.arange(50.0), **options)
    with pytest.raises(ValueError, match=r"values have shape \(2, 2\)"):
        sl.batch_means(np.ones((2, 2)))


# Warm-up ------------------------------------------------------------------------------------------------
def naive_mser(values):
    fives = [sum(values[i : i + 5]) / 5 for i in range(0, len(values) - 4, 5)]
    errors = [
        sum((y - sum(fives[d:]) / len(fives[d:])) ** 2 for y in fives[d:]) / len(fives[d:]) ** 2
        for d in range(len(fives) // 2 + 1)
    ]
    return 5 * errors.index(min(errors))


@FEW
@given(RUNS.filter(lambda r: 10 <= r[1] <= 400))
def test_warm_up_is_what_the_plain_loop_gives(drawn):
    values = run(*drawn)
    assert statistics.warm_up(values) == naive_mser(values.tolist())


def test_warm_up_is_found_and_left_out():
    values = run(2, 5000, 0.5)
    values[:500] += np.linspace(8, 0, 500)
    left_out = statistics.warm_up(values)
    assert 300 <= left_out <= 600
    found = sl.batch_means(values, warm_up="mser")
    assert found.warm_up == left_out
    assert found == replace(sl.batch_means(values[left_out:]), warm_up=left_out)
    assert sl.batch_means(values, warm_up=1000).warm_up == 1000


def test_a_warm_up_as_long_as_half_the_run_is_noted():
    with pytest.warns(sl.statistics.IntervalWarning, match="the warm-up takes half the run or more"):
        sl.batch_means(np.arange(1000.0), warm_up="mser")
    assert statistics.warm_up([1.0, 2.0]) == statistics.warm_up([math.inf] * 20) == 0


# Metrics with intervals ---------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def trace():
    return sl.model_trace("lublin", jobs=1500, machine=64, seed=5).scale_load(0.8)


@pytest.fixture(scope="module")
def schedule(trace):
    return sl.simulate(trace, "easy").validate()


@pytest.fixture(scope="module")
def other(trace):
    return sl.simulate(trace, "conservative").validate()


@pytest.mark.parametrize("by", [None, "kurian", "size", {"procs": [1, 4, 16]}])
def test_intervals_of_a_schedule_stand_round_its_means(schedule, by):
    found, means = quiet(schedule.metrics, by, confidence=0.9), schedule.metrics(by)
    assert found.columns.tolist() == ["mean", "low", "high", "batches", "batch_size", "warm_up", "note"]
    expected = means[MEASURES] if by is None else means[means["jobs"] > 0][MEASURES]
    assert found["mean"].tolist() == pytest.approx(expected.to_numpy().ravel().tolist())
    if by is not None:
        assert found.index.get_level_values(0).unique().dropna().tolist() == [
            label for label in means.index[means["jobs"] > 0] if not pd.isna(label)
        ]
    held = found.dropna()
    assert ((held["low"] <= held["mean"]) & (held["mean"] <= held["high"])).all()
    jobs = len(schedule) if by is None else means["jobs"][means["jobs"] > 0].repeat(len(MEASURES)).to_numpy()
    assert (found["batch_size"] == jobs // found["batches"]).all()


def test_intervals_of_a_schedule_are_batch_means(schedule):
    found = quiet(schedule.metrics, confidence=0.95, tau=60, warm_up=100).loc["bounded_slowdown"]
    slowdown = metrics.bounded_slowdown(schedule.jobs["turnaround"], schedule.jobs["run_time"], 60)
    expected = quiet(sl.batch_means, slowdown, warm_up=100)
    assert found[["mean", "low", "high"]].tolist() == ends(expected)
    assert (found["batches"], found["warm_up"]) == (expected.batches, 100)


def test_a_table_of_intervals_warns_once(schedule):
    words = r"^\d+ of \d+ intervals carry a note, such as .*: "
    with pytest.warns(sl.statistics.IntervalWarning, match=words) as caught:
        found = schedule.metrics(by="procs", confidence=0.95)
    assert len(caught) == 1
    noted = (found["note"] != "").sum()
    assert str(caught[0].message).startswith(f"{noted} of {len(found)} intervals")


# Settling -----------------------------------------------------------------------------------------------
PILES_UP = "its queue piles up and does not drain before the end"
TAKES = r"one pile-up of its queue takes \d+ % of the time"


def single_queue(load, jobs=2000, seed=1):
    """Simulate an M/M/1 queue with a mean service time of 100 s."""
    draw = np.random.default_rng(seed)
    arrival, service = draw.exponential(100 / load, jobs).cumsum(), draw.exponential(100, jobs)
    lasts = [max(1, round(time)) for time in service]
    return sl.simulate(trace_of([(round(a), s, s, 1) for a, s in zip(arrival, lasts, strict=True)], 1), "fcfs")


def at(submissions, run=100, procs=1):
    """Simulate jobs of the same length on processors of which each takes one."""
    return sl.simulate(trace_of([(submit, run, run, 1) for submit in submissions], procs), "fcfs")


def expect(schedule, reason):
    """Check that a schedule does not settle for a reason, and has no intervals but its means."""
    assert not schedule.settles
    said = f"{schedule.scheme} does not settle within the log at this load: "
    assert re.fullmatch(re.escape(said) + reason, schedule.unsettled)
    found, measured = quiet(schedule.metrics, confidence=0.95), schedule.metrics()
    assert found["mean"].tolist() == measured[MEASURES].tolist()
    assert found[["low", "high"]].isna().all(axis=None)
    assert (found["note"] == schedule.unsettled).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_queue_settles_below_its_capacity_only(seed):
    for load in (0.3, 0.5, 0.7):
        settled = single_queue(load, seed=seed)
        assert settled.settles
        assert settled.unsettled == ""
        assert quiet(settled.metrics, confidence=0.95)[["low", "high"]].notna().all(axis=None)
    for load in (1.1, 1.2, 2.0):
        expect(single_queue(load, seed=seed), PILES_UP)


def test_what_is_no_pile_up():
    assert at(range(0, 10**6, 200)).settles  # nothing ever waits
    assert at([0]).settles
    bursts = [hour * 10_000 + second for hour in range(40) for second in range(50)]
    assert at(bursts).settles  # each drains after 5,000 s
    assert at([*range(0, 10**6, 200), *[500_000] * 300]).settles  # one burst, which takes 6 % of the time


def test_pile_ups_that_do_not_drain_or_take_too_long():
    expect(at([0] * 200), PILES_UP)  # all jobs at once
    steady = list(range(0, 10**5, 200))
    expect(at([*steady, *[99_900] * 300]), PILES_UP)  # a short log with a burst at the end
    expect(at([*steady, *[30_000] * 200]), TAKES)  # the burst drains, but takes much of the log
    assert at([*range(0, 2 * 10**6, 200), *[2 * 10**6 - 100] * 300]).settles  # at the end of a long log it is short


@pytest.mark.parametrize(
    ("days", "cycle", "settles"), [(70, 1, True), (4, 1, True), (2, 1, False), (70, 7, True), (22, 7, True)]
)
def test_a_rhythm_of_days_or_weeks_is_no_pile_up(days, cycle, settles):
    """Jobs come for four tenths of each day or week, twice as fast as they can be served."""
    day, run = 86_400, 800
    came = [second for second in range(0, days * day, run // 2) if second % (cycle * day) < 0.4 * cycle * day]
    schedule = at(came, run)
    assert schedule.metrics()["longest_pile_up"] * days > 0.5 * cycle
    assert schedule.settles == settles


def test_a_pair_has_no_interval_if_either_does_not_settle():
    settled = single_queue(0.9, 20_000)
    other = sl.simulate(settled.trace, "fcfs", machine=2)
    assert settled.settles
    assert quiet(sl.paired, settled, other, "wait_time").difference.low > 0
    slow = single_queue(1.2)
    fast = sl.simulate(slow.trace, "fcfs", machine=2)
    for one, two in ((slow, fast), (fast, slow)):
        with pytest.warns(sl.statistics.IntervalWarning, match="^FCFS does not settle"):
            found = sl.paired(one, two, "wait_time")
        means = [each.metrics()["wait_time"] for each in (one, two)]
        assert ends(found.difference) == pytest.approx([means[0] - means[1], math.nan, math.nan], nan_ok=True)
        assert ends(found.ratio) == pytest.approx([means[0] / means[1], math.nan, math.nan], nan_ok=True)
        assert found.difference.notes == found.ratio.notes == (slow.unsettled,)
        assert "no interval; FCFS does not settle" in repr(found.ratio)


@pytest.mark.traces
@pytest.mark.parametrize("name", ["KTH-SP2-1996", "CTC-SP2-1996", "SDSC-SP2-1998", "HPC2N-2002"])
def test_easy_settles_on_logs_at_their_own_load_and_not_above_capacity(name):
    trace = sl.load_trace(name)
    assert sl.simulate(trace, "easy").settles
    assert sl.simulate(trace.scale_load(0.6), "fcfs").settles
    assert not sl.simulate(trace.scale_load(1.1), "easy").settles


@pytest.mark.traces
def test_first_come_first_served_does_not_settle_on_logs_that_it_cannot_serve():
    kth, ctc = sl.load_trace("KTH-SP2-1996"), sl.load_trace("CTC-SP2-1996")
    expect(sl.simulate(kth, "fcfs"), TAKES)
    for trace in (ctc, kth.scale_load(0.9), ctc.scale_load(0.9), sl.load_trace("SDSC-SP2-1998")):
        expect(sl.simulate(trace, "fcfs"), PILES_UP)


# Paired comparison --------------------------------------------------------------------------------------
def test_a_pair_differs_by_the_difference_of_the_means(schedule, other):
    found = quiet(sl.paired, schedule, other, "wait_time", 0.9)
    means = [each.metrics()["wait_time"] for each in (schedule, other)]
    assert found.difference.mean == pytest.approx(means[0] - means[1])
    assert found.ratio.mean == pytest.approx(means[0] / means[1])
    for interval in (found.difference, found.ratio):
        assert interval.mean in interval
        assert interval.confidence == 0.9
    gap = schedule.jobs["wait_time"] - other.jobs["wait_time"]
    assert found.difference == replace(quiet(sl.batch_means, gap, 0.9), unit="s")
    later = quiet(sl.paired, schedule, other, "wait_time", warm_up=200)
    rest = [each.jobs["wait_time"].iloc[200:].mean() for each in (schedule, other)]
    assert later.difference.mean == pytest.approx(rest[0] - rest[1])
    assert later.ratio.mean == pytest.approx(rest[0] / rest[1])
    assert (later.difference.warm_up, later.ratio.warm_up) == (200, 200)
    again = quiet(sl.paired, schedule, other, lambda jobs: jobs["wait_time"] / 60, 0.9)
    assert ends(again.ratio) == pytest.approx(ends(found.ratio))


def test_a_schedule_does_not_differ_from_itself(schedule):
    found = sl.paired(schedule, schedule)
    assert ends(found.difference) == [0, 0, 0]
    assert ends(found.ratio) == pytest.approx([1, 1, 1])


def test_fieller_by_the_definition(schedule, other):
    found = quiet(sl.paired, schedule, other, "turnaround").ratio
    x, y = (each.jobs["turnaround"].to_numpy(dtype=float) for each in (schedule, other))
    t = stats.t.ppf(0.975, found.batches - 1)
    r = autocorrelation(batched((x - found.mean * y).tolist(), found.batches))
    for end in (found.low, found.high):
        means = batched((x - end * y).tolist(), found.batches)
        error = math.sqrt((1 + r) / (1 - r) * np.var(means, ddof=1) / found.batches)
        assert abs((x - end * y).mean()) == pytest.approx(t * error, rel=1e-6)


def test_where_there_is_no_ratio():
    ample = sl.simulate(trace_of([(i, 5, 5, 1) for i in range(50)], 100), "fcfs").validate()
    found = quiet(sl.paired, ample, ample, "wait_time")
    assert math.isnan(found.ratio.mean)
    assert found.ratio.notes == ("no ratio: a mean is 0, infinite or missing",)
    # One job of sixty waited in the second schedule: its mean may as well be 0.
    jobs = [(100 * i, 10, 10, 1) for i in range(59)] + [(5805, 10, 10, 1)]
    narrow, wide = (sl.simulate(trace_of(jobs, 2), "fcfs", machine=procs).validate() for procs in (2, 3))
    slow = sl.simulate(trace_of([(s, r, e, 2) for s, r, e, _ in jobs], 2), "fcfs").validate()
    with pytest.warns(sl.statistics.IntervalWarning, match="so the ratio may be anything"):
        found = sl.paired(narrow, slow, "wait_time").ratio
    assert (found.low, found.high) == (-math.inf, math.inf)
    assert math.isnan(quiet(sl.paired, slow, wide, "wait_time").ratio.mean)


def test_a_pair_must_be_of_the_same_jobs(trace, schedule):
    for other in (trace.shake(60), trace.head(1499)):
        with pytest.raises(ValueError, match="are not the same jobs with the same submit times"):
            sl.paired(schedule, sl.simulate(other))
    with pytest.raises(ValueError, match="unknown column 'speed'; known: submit_time, "):
        sl.paired(schedule, schedule, "speed")


# Replications -------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def table(trace):
    return sl.sweep(trace, ["fcfs", "easy"], [0.6, 0.9], range(4), shake=30, progress=False)


def test_a_row_for_each_seed(trace, table):
    names = [(load, scheme, seed) for load in (0.6, 0.9) for scheme in ("FCFS", "EASY") for seed in range(4)]
    assert list(table[["load", "scheme", "seed"]].itertuples(index=False, name=None)) == names
    assert table.columns[:4].tolist() == ["trace", "load", "scheme", "seed"]
    for _, row in table.iterrows():
        shaken = trace.scale_load(row["load"]).shake(30, row["seed"])
        expected = sl.simulate(shaken, row["scheme"].lower()).validate().metrics()
        assert row[expected.index].tolist() == expected.tolist()


def test_a_function_of_a_seed_is_not_shaken():
    def made(seed):
        return sl.model_trace("lublin", jobs=100, machine=32, seed=seed)

    table = sl.sweep([made, made(7)], "easy", seed=[3, 8], progress=False)
    assert table["seed"].tolist() == [3, 8, 3, 8]
    for seed, found in zip([3, 8], table["wait_time"], strict=False):
        assert found == sl.simulate(made(seed)).validate().metrics()["wait_time"]
    assert table["load"][0] == table["load"][1] == pytest.approx(table["offered_load"][:2].mean())
    assert table["load"][2] == table["load"][3] == made(7).offered_load()
    scaled = sl.sweep(made, "easy", 0.7, range(2), progress=False)
    assert scaled["load"].tolist() == [0.7, 0.7]
    assert scaled["offered_load"].tolist() == pytest.approx([0.7, 0.7], rel=0.01)
    assert sl.sweep(made, seed=np.int64(3), progress=False)["wait_time"].tolist() == table["wait_time"][:1].tolist()
    with pytest.raises(ValueError, match=r"a trace that is a function needs seeds, such as seed=range\(10\)"):
        sl.sweep(made, progress=False)
    with pytest.raises(TypeError, match="expected a Trace"):
        sl.sweep(lambda seed: seed, seed=1, progress=False)


def test_seeds_are_averaged(table):
    found = sl.over_seeds(table)
    names = [(scheme, load, 4) for load in (0.6, 0.9) for scheme in ("FCFS", "EASY")]
    assert list(found[["scheme", "load", "seeds"]].itertuples(index=False, name=None)) == names
    for row in found.itertuples():
        mine = table[(table["load"] == row.load) & (table["scheme"] == row.scheme)]["wait_time"]
        low, high = stats.t.interval(0.95, 3, mine.mean(), stats.sem(mine))
        assert (row.wait_time, row.wait_time_low, row.wait_time_high) == pytest.approx((mine.mean(), low, high))
    by_scheme = sl.over_seeds(table, by="scheme", confidence=0.5)
    assert by_scheme["seeds"].tolist() == [8, 8]
    assert "load_low" in by_scheme


def test_one_seed_has_no_interval(table):
    found = sl.over_seeds(table[table["seed"] == 2])
    assert found["seeds"].tolist() == [1] * 4
    assert found["wait_time"].notna().all()
    assert found["wait_time_low"].isna().all()


def test_runs_that_lack_a_measure_do_not_narrow_its_interval():
    values = [2.0, 3.0, np.nan, np.nan]
    lacking = pd.DataFrame({"scheme": "EASY", "seed": range(4), "wait_time": values, "utilization": 0.5})
    found, whole = (sl.over_seeds(each, "scheme") for each in (lacking, lacking.head(2)))
    ends = ["wait_time", "wait_time_low", "wait_time_high"]
    assert found[ends].equals(whole[ends])
    assert found["seeds"].tolist() == [4]


def test_a_ratio_is_that_of_the_means_over_the_seeds():
    # By chance half as much in one run, twice as much in the other: no difference. The runs' own ratios average 1.25.
    table = pd.DataFrame({"group": 1, "seed": [0, 1], "new": [10.0, 20.0], "old": [20.0, 10.0]})
    same = pd.DataFrame({"group": 2, "seed": [0, 1], "new": [6.0, 18.0], "old": [10.0, 30.0]})  # the same in each run
    parts = statistics.ratios_of_means(pd.concat([table, same], ignore_index=True), "new", "old", ["group"])
    assert parts.tolist() == pytest.approx([1 - 2 / 3, 1 + 2 / 3, 0.6, 0.6])


def test_ratios_over_seeds_pair_them():
    old = np.array([10.0, 20.0, 40.0])
    exact = statistics.ratio_over_seeds(1.5 * old, old)
    assert exact == pytest.approx((1.5, 1.5, 1.5))
    found = statistics.ratio_over_seeds(1.5 * old + [1, -1, 0], old)
    # Errors 1, -1, 0 around 105 / 70: standard error 1 / sqrt(3) of a mean of 35; t = 4.302653 at two degrees.
    half = 4.302653 / np.sqrt(3) / 35
    assert found == pytest.approx((1.5, 1.5 * np.exp(-half), 1.5 * np.exp(half)), rel=1e-6)
    assert np.isnan(statistics.ratio_over_seeds([1, 2], [0, 0])).all()
    assert statistics.ratio_over_seeds([3], [2])[0] == 1.5
    assert np.isnan(statistics.ratio_over_seeds([3], [2])[1:]).all()


def test_geometric_means_and_changes_are_those_of_the_logarithms():
    runs = pd.DataFrame({"group": "one", "seed": range(3), "old": [1.0, 10.0, 100.0]})
    (row,) = statistics.geometric_means(runs, "old", ["group"]).to_dict("records")
    half = 4.302653 * np.log(10) / np.sqrt(3)  # t at two degrees, and the standard error of 0, log 10, log 100
    assert (row["group"], row["seeds"], row["old"]) == ("one", 3, pytest.approx(10))
    assert (row["old_low"], row["old_high"]) == pytest.approx((10 * np.exp(-half), 10 * np.exp(half)), rel=1e-6)
    new = runs.assign(old=runs["old"] * [1, 2, 4])[::-1]  # seeds are paired whatever their order
    (row,) = statistics.geometric_changes(new, runs, "old", ["group"]).to_dict("records")
    half = 4.302653 * np.log(2) / np.sqrt(3)
    assert row["change"] == pytest.approx(100)
    assert (row["low"], row["high"]) == pytest.approx((200 * np.exp(-half) - 100, 200 * np.exp(half) - 100), rel=1e-6)
    (back,) = statistics.geometric_changes(runs, new, "old", ["group"]).to_dict("records")
    assert back["change"] == pytest.approx(-50)


def test_a_table_without_seeds_is_refused(table):
    for by, found in (("nope", "'nope'"), (["load", "when"], "'when'"), ([], r"\[\]")):
        with pytest.raises(ValueError, match=f"^by is {found}, expected columns of the table: .*load"):
            sl.over_seeds(pd.DataFrame({"load": [0.5], "seed": [1]}), by)
    with pytest.raises(ValueError, match="the table has no column 'seed'"):
        sl.over_seeds(table.drop(columns="seed"))


# Shaken traces ------------------------------------------------------------------------------------------
@FEW
@given(workloads(), st.integers(1, 100), st.integers(0, 2**32), st.sampled_from([0, 10**9]))
def test_a_shaken_job_stays_near(drawn, seconds, seed, shift):
    jobs, procs = drawn
    trace = trace_of([job._replace(submit=job.submit + shift) for job in jobs], procs)
    shaken = trace.shake(seconds, seed)
    moved = shaken.jobs["submit_time"] - trace.jobs["submit_time"]
    assert moved.abs().max() <= seconds
    assert shaken.jobs["submit_time"].min() >= trace.jobs["submit_time"].min()
    assert shaken.jobs["submit_time"].is_monotonic_increasing
    assert shaken.jobs["submit_time"].dtype == np.int64
    rest = [name for name in trace.jobs.columns if name != "submit_time"]
    pd.testing.assert_frame_equal(shaken.jobs.sort_index()[rest], trace.jobs.sort_index()[rest])
    assert shaken.history == (f"submissions shaken by up to {seconds:,} s, seed {seed}",)
    assert shaken.jobs.equals(trace.shake(seconds, seed).jobs)
    sl.simulate(shaken, "easy").validate()


@FEW
@given(workloads(), st.integers(0, 99), st.randoms(use_true_random=False))
def test_a_shake_does_not_see_the_order_of_rows(drawn, seed, random):
    trace = trace_of(*drawn)
    rows = [*range(len(trace))]
    random.shuffle(rows)
    mixed = replace(trace, table=trace.jobs.iloc[rows])
    one, other = (each.shake(5, seed).jobs["submit_time"].sort_index() for each in (trace, mixed))
    assert one.equals(other)


def test_a_shake_is_uniform_and_moves_the_whole_nowhere():
    trace = trace_of([(1000 + i, 1, 1, 1) for i in range(50_000)], 1)
    moved = (trace.shake(10, 3).jobs["submit_time"].sort_index() - trace.jobs["submit_time"]).iloc[100:]
    assert abs(moved.mean()) < 4 * math.sqrt((21**2 - 1) / 12 / len(moved))
    counts = moved.value_counts()
    assert sorted(counts.index) == [*range(-10, 11)]
    assert stats.chisquare(counts).pvalue > 0.001
    other = trace.shake(10, 4).jobs["submit_time"].sort_index()
    assert (other != trace.shake(10, 3).jobs["submit_time"].sort_index()).mean() > 0.9


def test_what_would_come_before_the_log_is_reflected():
    trace = trace_of([(100, 1, 1, 1)] * 2000, 1)
    submit = trace.shake(3, 1).jobs["submit_time"]
    share = submit.value_counts(normalize=True).sort_index()
    assert share.index.tolist() == [100, 101, 102, 103]
    assert share.tolist() == pytest.approx([1 / 7, 2 / 7, 2 / 7, 2 / 7], abs=0.04)


@pytest.mark.parametrize("seconds", [0, -5, 1.5, True, "60", 2**62])
def test_a_shake_takes_whole_seconds(trace, seconds):
    with pytest.raises(ValueError, match="seconds must be a whole number of at least 1"):
        trace.shake(seconds)


@pytest.mark.parametrize("seed", [-1, 1.5, "x", None])
@pytest.mark.parametrize("way", ["shake", "bootstrap"])
def test_copies_take_a_whole_number_for_a_seed(seed, way):
    month = trace_of([(86_400 * day, 10, 10, 1) for day in range(28)], 2)
    with pytest.raises(ValueError, match="^seed must be a whole number of at least 0"):
        getattr(month, way)(seed=seed)
    assert getattr(month, way)(seed=np.random.default_rng(1)).history[-1].rpartition(" ")[2].isdecimal()


# Bootstrapped logs --------------------------------------------------------------------------------------
def log(weeks, rest=0, gap=40_000):
    """Make a log of some weeks and a rest in seconds; a job's user is its place, its predecessor the one before."""
    submit = np.arange(12_345, 12_345 + weeks * WEEK + rest, gap)
    trace = trace_of([(s, 100 + i, 200 + i, 1 + i % 4) for i, s in enumerate(submit.tolist())], 4)
    table = trace.jobs
    table["user_id"] = np.arange(len(table))
    table["preceding_job"] = [-1, *table.index[:-1]]
    table["think_time"] = [-1, *range(1, len(table))]
    area = table["run_time"] * table["requested_procs"]
    return replace(trace, table=table, logged_area=area)


@examples(60)
@given(st.integers(3, 9), st.integers(0, WEEK - 1), st.integers(1, 3), st.integers(0, 999))
def test_a_bootstrapped_log_is_made_of_blocks_of_weeks(weeks, rest, length, seed):
    trace = log(weeks + length - 1, rest)
    old = trace.jobs.reset_index().set_index("user_id")
    first = old["submit_time"].iloc[0]
    again = trace.bootstrap(seed, weeks=length)
    jobs = again.jobs
    assert jobs.index.tolist() == [*range(1, len(jobs) + 1)]
    assert jobs.index.name == "job_number"
    assert jobs["submit_time"].is_monotonic_increasing
    assert jobs["submit_time"].min() >= first
    assert jobs["submit_time"].max() <= old["submit_time"].max()
    source = old.loc[jobs["user_id"]]
    moved = jobs["submit_time"].to_numpy() - source["submit_time"].to_numpy()
    assert (moved % WEEK == 0).all()  # the same weekday and hour
    place = (jobs["submit_time"].to_numpy() - first) // (length * WEEK)
    for block in np.unique(place):
        mine = place == block
        assert len(set(moved[mine])) == 1
        begin = first + block * length * WEEK - moved[mine][0]
        end = min(begin + length * WEEK, old["submit_time"].max() + 1 - moved[mine][0])
        assert begin + length * WEEK <= first + (weeks + length - 1) * WEEK + rest
        whole = old.index[(old["submit_time"] >= begin) & (old["submit_time"] < end)]
        assert jobs["user_id"][mine].tolist() == whole.tolist()
    for name in ("run_time", "requested_time", "requested_procs"):
        assert jobs[name].tolist() == source[name].tolist()
    # In the same block, the job before is still the predecessor; the first job of a block has none.
    starts = np.append(True, np.diff(place) > 0)
    assert jobs["preceding_job"].tolist() == np.where(starts, -1, jobs.index - 1).tolist()
    assert jobs["think_time"].tolist() == np.where(starts, -1, source["think_time"]).tolist()
    assert again.logged_area.tolist() == (jobs["run_time"] * jobs["requested_procs"]).tolist()
    assert again.logged_area.index.equals(jobs.index)
    assert jobs.equals(trace.bootstrap(seed, weeks=length).jobs)
    sl.simulate(again, "easy").validate()


def test_each_week_is_drawn_as_often(trace):
    weeks = log(4, gap=WEEK // 2)
    drawn = np.concatenate([weeks.bootstrap(seed).jobs["user_id"] // 2 for seed in range(500)])
    counts = np.bincount(drawn[drawn < 3])  # the fourth whole week lacks its last second
    assert stats.chisquare(counts).pvalue > 0.001


def test_a_bootstrap_says_what_it_did():
    assert log(5).bootstrap(3).history == ("5 blocks of 1 week(s) drawn from 4, seed 3",)
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="weeks must be a whole number of at least 1"):
            log(5).bootstrap(weeks=wrong)
    with pytest.raises(ValueError, match="a test has 3 whole weeks, expected at least 4 for blocks of 3"):
        log(3, WEEK // 2).bootstrap(weeks=3)
    with pytest.raises(ValueError, match="has no jobs to draw from"):
        replace(log(3), table=log(3).jobs.iloc[:0]).bootstrap()


# Fairness -----------------------------------------------------------------------------------------------
@FEW
@given(st.lists(st.integers(0, 1000), min_size=1, max_size=30).filter(any))
def test_gini_is_half_the_mean_difference_over_the_mean(values):
    n = len(values)
    expected = sum(abs(a - b) for a in values for b in values) / (2 * n * sum(values))
    assert metrics.gini(values) == pytest.approx(expected)
    assert metrics.gini([3 * value for value in values]) == pytest.approx(expected)


def test_gini_at_its_ends(schedule):
    assert math.isnan(metrics.gini([]))
    assert math.isnan(metrics.gini([0, 0]))
    with pytest.raises(ValueError, match="the least value is -1, expected no value below 0"):
        metrics.gini([-1, 5])
    assert schedule.gini() == metrics.gini(schedule.jobs["bounded_slowdown"])
    assert schedule.gini("wait_time") == metrics.gini(schedule.jobs["wait_time"])
    with pytest.raises(ValueError, match="^unknown measure 'speed'; known: submit_time, "):
        schedule.gini("speed")


def test_shares_of_users():
    trace = trace_of([(0, 10, 10, 2), (0, 30, 30, 4), (5, 10, 10, 1), (6, 20, 8, 1)], 4)
    trace = replace(trace, table=trace.jobs.assign(user_id=[7, -1, 7, 3]))
    users = sl.simulate(trace, "fcfs").validate().users()
    assert users.index.tolist() == [-1, 7, 3]  # by area
    assert users["jobs"].tolist() == [1, 2, 1]
    assert users["area"].tolist() == [120, 30, 8]  # the last was killed at 8 s
    assert users["share"].tolist() == [120 / 158, 30 / 158, 8 / 158]
    assert users["wait_time"].tolist() == [10, (0 + 35) / 2, 34]
    assert users["bounded_slowdown"].tolist() == pytest.approx([40 / 30, (1 + 4.5) / 2, 42 / 10])


@FEW
@given(workloads(most=10), SCHEMES, st.sampled_from(["kill", "extend"]), st.sampled_from(["batched", "each"]))
def test_a_fair_start_is_that_without_later_arrivals(drawn, scheme, overrun, events):
    jobs, procs = drawn
    trace = trace_of([job._replace(submit=job.submit + 50, run=job.run + 1) for job in jobs], procs)
    schedule = sl.simulate(trace, scheme, overrun=overrun, events=events).validate()
    found = sl.fair_starts(schedule)
    for last, number in enumerate(trace.jobs.index, start=1):
        alone = sl.simulate(trace.head(last), scheme, machine=schedule.machine, overrun=overrun, events=events)
        assert found[number] == alone.validate().start[-1]
    assert found.index.equals(trace.jobs.index)
    if scheme == "fcfs":
        assert (found == schedule.start).all()  # nobody is delayed by a later job
    some = trace.jobs.index[::-2]
    assert sl.fair_starts(schedule, jobs=some).equals(found[some])


@FEW
@given(workloads(shortest=1), SCHEMES, st.sampled_from(["kill", "extend"]))
def test_fair_starts_by_reference_schedules(drawn, scheme, overrun):
    jobs, procs = drawn
    trace = trace_of([job._replace(run=job.run + 1) for job in jobs], procs)
    schedule = sl.simulate(trace, scheme, overrun=overrun).validate()
    strict = sl.simulate(trace, "fcfs", overrun=overrun).validate()
    assert sl.fair_starts(schedule, "fcfs").tolist() == strict.start.tolist()
    exact = sl.simulate(trace.with_estimates(schedule.jobs["run_time"]), "conservative").validate()
    assert sl.fair_starts(schedule, "conservative").tolist() == exact.start.tolist()


def test_shortest_job_first_makes_a_long_job_miss_its_fair_start():
    # The long job waits for the first; short ones come meanwhile and go before it.
    trace = trace_of([(0, 10, 10, 1), (1, 50, 50, 1), (2, 5, 5, 1), (3, 5, 5, 1)], 1)
    schedule = sl.simulate(trace, sl.FCFS(order="sjf")).validate()
    assert schedule.start.tolist() == [0, 20, 10, 15]
    assert sl.fair_starts(schedule).to_dict() == {1: 0, 2: 10, 3: 10, 4: 15}
    assert sl.fair_start_miss(schedule).to_dict() == {"jobs": 4, "unfair": 0.25, "mean_miss": 2.5, "max_miss": 10}
    assert sl.fair_start_miss(schedule, jobs=[1, 3])["unfair"] == 0
    assert sl.fair_start_miss(schedule, "fcfs")["max_miss"] == 10
    with pytest.raises(ValueError, match="unknown definition 'strict'; known: arrivals, conservative, fcfs"):
        sl.fair_starts(schedule, "strict")
    with pytest.raises(ValueError, match="a test has no job 9"):
        sl.fair_starts(schedule, jobs=[1, 9])


def test_a_table_of_fairness(trace):
    schedules = [sl.simulate(trace, scheme).validate() for scheme in ("fcfs", "easy-sjf")]
    table = sl.fairness_table(schedules)
    assert table.index.tolist() == ["FCFS", "EASY-SJF"]
    assert table.loc["FCFS", ["unfair", "mean_miss", "max_miss"]].tolist() == [0, 0, 0]
    for schedule, (_, row) in zip(schedules, table.iterrows(), strict=True):
        assert row["gini"] == schedule.gini()
        assert row.drop("gini").to_dict() == sl.fair_start_miss(schedule, "fcfs").to_dict()
    assert sl.fairness_table(schedules[1], "conservative").shape == (1, 5)
    with pytest.raises(ValueError, match="there is no schedule to measure"):
        sl.fairness_table([])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([4, 2, -2, -4], 0.15),
        ([4, 0, -2, -4], 0.1),
        ([-1, -2, -3, -4], 0.0),
        ([4, 3, 2, 1], np.nan),
        ([4, -4, 4, -4], 0.05),  # the first of several
    ],
)
def test_a_crossing_is_on_a_straight_line(values, expected):
    for order in ([0, 1, 2, 3], [2, 0, 3, 1]):
        found = statistics.crossing(np.array([0.0, 0.1, 0.2, 0.3])[order], np.array(values)[order])
        assert found == pytest.approx(expected, nan_ok=True)


def test_the_jackknife_of_a_mean_is_student_s_interval():
    runs = pd.DataFrame({"seed": [0, 1, 2, 3, 4], "wait": [3.0, 5.0, 4.0, 8.0, 5.0]})
    value, low, high = statistics.jackknife(lambda part: part["wait"].mean(), runs)
    (row,) = statistics.over_seeds(runs.assign(log="KTH"), "log").to_dict("records")
    assert [value, low, high] == pytest.approx([row["wait"], row["wait_low"], row["wait_high"]])
    one = statistics.jackknife(lambda part: part["wait"].mean(), runs.head(1))
    assert one == pytest.approx((3.0, np.nan, np.nan), nan_ok=True)


def test_a_crossing_passes_over_what_is_missing():
    assert statistics.crossing([0, 1, 2], [1, np.nan, -1]) == 1
    with pytest.raises(ValueError, match=r"x and y have shapes \(3,\) and \(2,\)"):
        statistics.crossing([0, 1, 2], [1, -1])


def test_columns_that_a_table_lacks_are_named():
    runs = pd.DataFrame({"group": "a", "seed": range(3), "wait": 1.0})
    pd.testing.assert_frame_equal(*(statistics.geometric_means(runs, "wait", by) for by in ("group", ["group"])))
    for lacking, column in ((runs.drop(columns="seed"), "seed"), (runs.drop(columns="group"), "group")):
        for tables in ((lacking, runs), (runs, lacking)):
            with pytest.raises(ValueError, match=f"unknown column '{column}'; known: "):
                statistics.geometric_changes(*tables, "wait", "group")
        with pytest.raises(ValueError, match=f"unknown column '{column}'; known: "):
            statistics.geometric_means(lacking, "wait", "group")
    with pytest.raises(ValueError, match="unknown column 'waits'; known: group, seed, wait"):
        statistics.geometric_means(runs, "waits", "group")
    with pytest.raises(ValueError, match="unknown column 'seed'; known: group, wait"):
        statistics.jackknife(len, runs.drop(columns="seed"))


def test_geometric_changes_count_the_seeds_of_both_tables():
    new, old = (pd.DataFrame({"group": "a", "seed": range(n), "wait": np.arange(1.0, n + 1)}) for n in (4, 3))
    (row,) = statistics.geometric_changes(new, old, "wait", ["group"]).to_dict("records")
    assert (row["seeds"], row["change"]) == (3, 0)
    with pytest.raises(ValueError, match="the table has several runs of group a, seed 0"):
        statistics.geometric_changes(pd.concat([new, new]), old, "wait", ["group"])
    for table, bad in ((new.assign(wait=0.0), "0"), (old.assign(wait=-2.0), "-2")):
        with pytest.raises(ValueError, match=f"wait is {bad}, expected a number above 0"):
            statistics.geometric_means(table, "wait", ["group"])
        with pytest.raises(ValueError, match=f"wait is {bad}, expected a number above 0"):
            statistics.geometric_changes(table, old, "wait", ["group"])
