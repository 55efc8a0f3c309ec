"""Two schedules compared by class of jobs: intervals by batch means of each class, and none where a queue piles up."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import schedlab as sl
from schedlab.testing import trace_of

pytestmark = pytest.mark.filterwarnings("ignore::schedlab.schedule.statistics.IntervalWarning")
DAY = 86_400


def in_partitions(jobs, machine):
    """Make a trace of jobs (submission, run time, processors, partition)."""
    table = pd.DataFrame(jobs, columns=["submit", "run", "procs", "partition"])
    return sl.from_frame(table, submit="submit", run="run", procs="procs", partition="partition", machine=machine)


def calm(days, name, busy=()):
    """Draw jobs of one processor that come all day long, and on some days three times as many as there is room for."""
    draw = np.random.default_rng(len(name))
    jobs = []
    for day in range(days):
        count = 300 if day in busy else 70
        for second in sorted(draw.integers(0, DAY, count).tolist()):
            jobs.append((day * DAY + second, int(draw.integers(600, 1_200)), 1, name))
    return jobs


@pytest.fixture(scope="module")
def busy_gpu():
    """Two pools of a processor each: one is calm, one has a rush of three days and takes weeks to drain."""
    jobs = sorted(calm(60, "cpu") + calm(60, "gpu", busy=range(20, 23)))
    return in_partitions(jobs, 2)


@pytest.fixture(scope="module")
def pools():
    return sl.Pools(cpu=sl.Pool(1), gpu=sl.Pool(1))


@pytest.fixture(scope="module")
def pair():
    trace = sl.model_trace("lublin", jobs=4000, machine=64, seed=1).scale_load(0.5)
    return [sl.simulate(trace, scheme) for scheme in ("easy-sjf", "easy")]


def means_of(values, batches):
    cut = [len(values) * i // batches for i in range(batches + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(cut)]


def by_hand(values, batches):
    """Compute an interval with plain lists and scipy: cut, widen by the autocorrelation, skew."""
    means = means_of(values, batches)
    middle = sum(means) / batches
    together = sum((one - middle) * (next_ - middle) for one, next_ in pairwise(means))
    r = max(together / sum((mean - middle) ** 2 for mean in means), 0)
    error = math.sqrt((1 + r) / (1 - r) * np.var(means, ddof=1) / batches)
    t = stats.t.ppf(0.975, batches - 1)
    beta = stats.skew(means, bias=False) / (6 * math.sqrt(batches))
    low, high = ((math.cbrt(1 + 6 * beta * (end - beta)) - 1) / (2 * beta) for end in (t, -t))
    mean = sum(values) / len(values)
    return [mean, mean - low * error, mean - high * error]


def test_each_class_has_the_batch_means_of_its_own_jobs(pair):
    a, b = pair
    table = sl.paired(a, b, "wait_time", by="size").difference
    labels = a.classes("size")
    assert [name for name, _ in table.index] == list(labels.cat.categories)
    assert table.index.names == ["procs", "measure"]
    for (label, measure), row in table.iterrows():
        jobs = (labels == label).to_numpy()
        values = (a.start - b.start)[jobs].tolist()
        assert measure == "wait_time"
        assert 20 <= row["batches"] <= 40
        assert row["batch_size"] == len(values) // row["batches"]
        assert row[["mean", "low", "high"]].tolist() == pytest.approx(by_hand(values, row["batches"]), rel=1e-6)


def test_each_class_has_the_ratio_of_its_own_means(pair):
    a, b = pair
    table = sl.paired(a, b, "wait_time", by="size").ratio
    labels = a.classes("size")
    for (label, name), row in table.iterrows():
        means = [(schedule.start - schedule.submit)[labels == label].mean() for schedule in pair]
        assert name == "ratio"
        assert row["mean"] == pytest.approx(means[0] / means[1])
        assert row["low"] < row["mean"] < row["high"]
    whole = sl.paired(a, b, "wait_time", by=lambda jobs: "all")
    alone = sl.paired(a, b, "wait_time")
    for part in ("difference", "ratio"):
        row = getattr(whole, part).iloc[0]
        interval = getattr(alone, part)
        assert row[["mean", "low", "high"]].tolist() == [interval.mean, interval.low, interval.high]


def test_the_order_of_submission_is_kept_within_a_class(pair):
    """Batches of shuffled jobs are independent, and so would be far too narrow."""
    a, b = pair
    halves = pd.Series(np.arange(len(a)) % 2, a.trace.table.index, name="half")
    table = sl.paired(a, b, "wait_time", by=halves).difference
    values = (a.start - b.start).astype(float)
    for half in (0, 1):
        row = table.loc[half].iloc[0]
        assert row["high"] - row["low"] == pytest.approx(np.ptp(by_hand(values[half::2].tolist(), row["batches"])[1:]))


def test_a_pool_that_does_not_settle_has_no_interval_and_the_other_has(busy_gpu, pools):
    fcfs, sjf = (sl.simulate(busy_gpu, scheme, machine=pools).validate() for scheme in ("fcfs", "easy-sjf"))
    assert not fcfs.pools["gpu"].settles
    assert fcfs.pools["cpu"].settles
    compared = sl.paired(sjf, fcfs, "wait_time", by="partition")
    for table in (compared.difference, compared.ratio):
        cpu, gpu = (table.loc[name].iloc[0] for name in ("cpu", "gpu"))
        assert cpu["low"] < cpu["mean"] < cpu["high"]
        assert math.isnan(gpu["low"])
        assert math.isnan(gpu["high"])
        assert gpu["batches"] == 0
        assert takes("FCFS", "the queue of pool gpu") in gpu["note"]
        assert "gpu" not in cpu["note"]
    gpu = (busy_gpu.jobs["partition"] == busy_gpu.codes("partition")["gpu"]).to_numpy()
    expected = (sjf.start - fcfs.start)[gpu].mean()
    assert compared.difference.loc["gpu"]["mean"].item() == pytest.approx(expected)


def takes(scheme, queue):
    return f"{scheme} does not settle within the log at this load: one pile-up of {queue} takes "


def test_measures_of_classes_follow_the_same_rule(busy_gpu, pools):
    fcfs = sl.simulate(busy_gpu, "fcfs", machine=pools)
    table = fcfs.metrics(by="partition", confidence=0.95)
    assert table.loc["gpu", ["low", "high"]].isna().all(axis=None)
    assert table.loc["cpu", ["low", "high"]].notna().all(axis=None)
    assert table.loc[("gpu", "wait_time"), "note"].startswith(takes("FCFS", "the queue of pool gpu"))


def test_a_mean_over_all_pools_has_no_interval_if_one_of_them_does_not_settle(busy_gpu, pools):
    fcfs, sjf = (sl.simulate(busy_gpu, scheme, machine=pools) for scheme in ("fcfs", "easy-sjf"))
    assert not fcfs.settles
    assert fcfs.unsettled.startswith(takes("FCFS", "the queue of pool gpu"))
    assert math.isnan(sl.paired(sjf, fcfs, "wait_time").difference.low)
    assert fcfs.metrics(confidence=0.95)[["low", "high"]].isna().all(axis=None)
    both_calm = in_partitions(sorted(calm(60, "cpu") + calm(60, "gpu")), 2)
    assert sl.simulate(both_calm, "fcfs", machine=pools).settles


def test_a_class_has_no_interval_if_its_own_jobs_pile_up_though_the_queue_as_a_whole_settles():
    """Every day many jobs wait for hours; a single job waits for weeks, which the whole queue hardly shows."""
    many = [(day * DAY + second, 1_000 * (60 - second), "many") for day in range(100) for second in range(60)]
    few = [(day * DAY + 100, 0 if day != 40 else 20 * DAY, "few") for day in range(0, 100, 2)]
    table = pd.DataFrame(sorted(many + few), columns=["submit", "wait", "partition"]).assign(run=60, procs=1)
    columns = {"submit": "submit", "run": "run", "procs": "procs", "partition": "partition", "machine": 64}
    waited = sl.recorded(sl.from_frame(table.assign(start=table["submit"] + table["wait"]), start="start", **columns))
    at_once = sl.recorded(sl.from_frame(table.assign(start=table["submit"]), start="start", **columns))
    assert waited.settles
    for pair in ((waited, at_once), (at_once, waited)):
        found = sl.paired(*pair, "wait_time", by="partition").difference
        assert found.loc["few", ["low", "high"]].isna().all(axis=None)
        assert "one pile-up of the queue of these jobs takes 20 % of the time" in found.loc["few"]["note"].item()
        assert found.loc["many", ["low", "high"]].notna().all(axis=None)


@pytest.mark.parametrize("window", [None, (10 * DAY, 30 * DAY)])
def test_a_window_counts_its_own_jobs_only(busy_gpu, pools, window):
    fcfs, sjf = (sl.simulate(busy_gpu, scheme, machine=pools) for scheme in ("fcfs", "easy-sjf"))
    table = sl.paired(sjf, fcfs, "wait_time", by="partition", window=window).difference
    cpu = (busy_gpu.jobs["partition"] == busy_gpu.codes("partition")["cpu"]).to_numpy()
    if window is not None:
        cpu = cpu & (fcfs.submit >= window[0]) & (fcfs.submit < window[1])
    assert table.loc["cpu"]["mean"].item() == pytest.approx((sjf.start - fcfs.start)[cpu].mean())


def test_jobs_of_no_class_have_a_row_and_a_small_class_says_that_it_is_short(pair):
    a, b = pair
    few = pd.Series("few", a.trace.table.index, name="kind").where(np.arange(len(a)) < 5)
    table = sl.paired(a, b, "wait_time", by=few).difference
    assert table.loc["few"]["note"].item().endswith("too short: 5 values")
    rest = table[table.index.get_level_values(0).isna()]
    assert rest["mean"].item() == pytest.approx((a.start - b.start)[5:].mean())


def test_it_warns_once_and_shows_units(pair):
    a, b = pair
    kinds = pd.Series(np.where(np.arange(len(a)) < 5, "few", "many"), a.trace.table.index, name="kind")
    with pytest.warns(
        sl.statistics.IntervalWarning, match=r"^\d of 4 intervals carry a note, such as few wait_time: "
    ) as caught:
        compared = sl.paired(a, b, "wait_time", by=kinds)
    assert len(caught) == 1
    assert " min" in repr(compared.difference)
    page = compared._repr_html_()
    assert page.index("Differences") < page.index("Ratios")


def test_classes_are_those_of_the_first_schedule_and_unknown_ones_are_refused(pair):
    a, b = pair
    table = sl.paired(a, b, "wait_time", by="started_by").difference
    assert {name for name, _ in table.index} == set(a.classes("started_by"))
    with pytest.raises(ValueError, match="unknown classes 'partitoin'"):
        sl.paired(a, b, "wait_time", by="partitoin")


def test_one_queue_that_does_not_settle_leaves_no_class_an_interval():
    trace = trace_of([(0, 100, 100, 1 + i % 2) for i in range(200)], 2)
    schedule = sl.simulate(trace, "fcfs")
    table = sl.paired(schedule, schedule, "wait_time", by="size").difference
    assert table[["low", "high"]].isna().all(axis=None)
    assert (table["note"] == schedule.unsettled).all()


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("scheme_name", "unknown column 'scheme_name'"),
        ("who", "who gives 'ann', expected a number for each job, in the order of the jobs"),
        (lambda jobs: 5, "<lambda> gives values of shape \\(\\), expected a number for each job"),
        (lambda jobs: jobs["wait_time"][:-1], "<lambda> gives values of other jobs, or in another order, expected"),
        (lambda jobs: jobs["wait_time"][::-1], "<lambda> gives values of other jobs, or in another order, expected"),
    ],
)
@pytest.mark.parametrize("by", [None, "size"])
def test_a_measure_that_is_not_a_number_for_each_job_is_refused(measure, message, by):
    trace = trace_of([(0, 5, 5, 1), (1, 5, 5, 2)], machine=2)
    schedule = sl.simulate(replace(trace, table=trace.table.assign(who="ann")), "easy")
    with pytest.raises(ValueError, match=message):
        sl.paired(schedule, schedule, measure, by=by)


def test_missing_values_of_a_measure_are_unknown(pair):
    compared = sl.paired(*pair, lambda jobs: jobs["wait_time"].astype("Int64").mask(jobs["wait_time"] > 9))
    assert math.isnan(compared.difference.mean)
