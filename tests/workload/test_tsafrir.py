"""
The model of user estimates against its recipe (specification, section 7.5), followed literally here.

Statistical tests have fixed seeds and tolerances of 4 standard errors (one false alarm in 16,000).
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from workloads import examples, trace_of

import schedlab as sl
from schedlab._runtime.streams import Streams
from schedlab.workload.models import tsafrir
from schedlab.workload.models.tsafrir import Tsafrir, fit_tsafrir

HOUR = 3600
TEN_HOURS = np.full(1000, 10 * HOUR)

RANKS = """
0: 3 1 1 1 | 1: 1 3 4 6 | 2: 4 4 10 5 | 3: 17 2 14 3 | 4: 13 12 20 7 | 5: 7 9 2 2 | 6: 8 8 3 18 | 7: 18 18 7 19 |
8: 2 6 12 4 | 9: 6 7 6 11 | 10: 16 11 19 20 | 11: 10 20 5 9 | 12: 5 16 18 10 | 13: 15 5 16 14 | 14: 14 14 9 13 |
15: 19 13 17 16 | 16: 11 10 15 15 | 17: 12 15 13 17 | 18: 9 17 8 8 | 19: 20 19 11 12
"""
CELLS = [cell.split(":") for cell in RANKS.replace("\n", " ").split("|")]
TABLE = {int(row): [int(rank) for rank in ranks.split()] for row, ranks in CELLS}


def log_like(jobs, longest, seed=1):
    """Draw run times log-uniform between 1 s and a bit above the longest estimate."""
    uniform = np.random.default_rng(seed).random(jobs)
    return np.ceil(np.exp(uniform * np.log(longest * 0.9))).astype(np.int64)


# --- The head -----------------------------------------------------------------------------------------------
def test_ranks_are_those_of_four_traces():
    assert dict(enumerate(map(list, tsafrir._RANKS))) == TABLE


@pytest.mark.parametrize(
    ("longest", "hours"),
    [
        # 14 popular ones below 18 h and 18 h itself; then multiples of 10 h, 5 h, 2 h and 1 h from above.
        (18, [18, 1 / 12, 1 / 6, 0.25, 1 / 3, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 13, 14, 15, 16, 17]),
        # All fifteen and 100 h; 50 h; then 90, 80 and 70 h.
        (100, [100, 1 / 12, 1 / 6, 0.25, 1 / 3, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 18, 50, 70, 80, 90]),
        # 200 h before 100 h before 50 h multiples: 400, 200; 300, 100; 350, ...
        (400, [400, 1 / 12, 1 / 6, 0.25, 1 / 3, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 18, 100, 200, 300, 350]),
        # Too short for twenty: all multiples of 5 minutes.
        (1, [1, *(k / 12 for k in range(1, 12))]),
    ],
)
def test_head_values(longest, hours):
    assert tsafrir._head_values(longest * HOUR) == [round(h * HOUR) for h in hours]


def test_popular_values_share_89_percent_and_the_longest_is_the_most_popular():
    n = 1_000_000  # enough to make the tail's most popular value clearly less popular than the head's least popular one
    values, counts = np.unique(Tsafrir(longest=18 * HOUR).draw(n), return_counts=True)
    assert values[np.argmax(counts)] == values.max() == 18 * HOUR
    counts = np.sort(counts)[::-1]
    expected = [14.0491 * math.exp(-0.177531 * rank) + 0.462513 for rank in range(2, 21)]
    # Shares are rounded to whole jobs, and the remainder went to the most popular value.
    np.testing.assert_allclose(counts[1:20], np.array(expected) * n / 100, atol=0.5 + 1e-6)
    assert counts[:20].sum() == pytest.approx(0.89 * n, abs=600 / 2)


def literal_ranks(rng):
    """Follow the recipe: the smaller of two ranks of a pool that grows, unless no later row has some rank."""
    taken, pool = [1], [rank for rank in TABLE[0] if rank != 1]
    for row in range(1, 20):
        pool += [rank for rank in TABLE[row] if rank not in taken]
        later = [rank for following in range(row + 1, 20) for rank in TABLE[following]]
        overdue = [rank for rank in range(1, 21) if rank not in (*taken, *later)]
        taken.append(min(overdue) if overdue else min(pool[i] for i in rng.integers(len(pool), size=2)))
        pool = [rank for rank in pool if rank != taken[-1]]
    return taken


def test_ranks_are_drawn_by_the_recipe():
    for seed in range(300):
        ranks = tsafrir._popularity(20, np.random.default_rng(seed))
        assert ranks == literal_ranks(np.random.default_rng(seed))
        assert sorted(ranks) == list(range(1, 21))
    for count in range(1, 20):  # with fewer values there are fewer ranks, none twice
        assert sorted(tsafrir._popularity(count, np.random.default_rng(count))) == list(range(1, count + 1))


# --- The tail, and the whole histogram ----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("jobs", "distinct"),
    [(200, 20), (600, 28), (1000, 35), (5500, 62), (10_000, 90), (70_000, 340), (250_000, 565), (400_000, 565)],
)
def test_how_many_different_estimates(jobs, distinct):
    found = np.unique(Tsafrir(longest=100 * HOUR).draw(jobs)).size
    # Linear between the points; a tail value may be dropped if there is no room for it.
    assert distinct - 2 <= found <= distinct


def literal_tail(longest, distinct, head):
    count, taken, tail = distinct - len(head), set(head), []
    a = 1 + 12.1039 * distinct ** (-0.6026)
    for i in range(1, count + 1):
        x = i / count
        minutes = round(longest * (a - 1) * x / (a - x) / 60)
        for shift in (0, 30, -30, 20, -20, 10, -10):
            seconds = minutes * 60 + shift
            if seconds not in taken and 0 < seconds <= longest:
                taken.add(seconds)
                tail.append(seconds)
                break
    return tail


@pytest.mark.parametrize(("hours", "distinct"), [(18, 90), (1, 340), (400, 565), (36, 21)])
def test_tail_values(hours, distinct):
    head = tsafrir._head_values(hours * HOUR)
    tail = tsafrir._tail_values(hours * HOUR, distinct, head)
    assert tail == literal_tail(hours * HOUR, distinct, head)
    assert not set(tail) & set(head)
    # The last is the longest estimate itself, which is in the head: it is shifted, and never upwards.
    assert hours * HOUR - 60 < tail[-1] < hours * HOUR


def test_tail_shares_and_counts():
    shares = tsafrir._tail_shares(70, 11.0, np.random.default_rng(1))
    expected = np.array([795.6 * x**-2.267 for x in range(21, 91)])
    np.testing.assert_allclose(np.sort(shares)[::-1], expected * 11 / expected.sum())
    assert not np.array_equal(shares, np.sort(shares)[::-1])
    assert tsafrir._tail_shares(0, 11.0, np.random.default_rng(1)).size == 0
    assert tsafrir._counts(np.array([0.5, 0.3, 0.2]), 10).tolist() == [5, 3, 2]
    assert tsafrir._counts(np.array([0.002, 0.996, 0.002]), 100).tolist() == [1, 98, 1]  # at least 1 each
    with pytest.raises(ValueError, match="3 jobs cannot have 4 different estimates"):
        tsafrir._counts(np.full(4, 0.25), 3)


@examples(100)
@given(st.integers(HOUR, 400 * HOUR), st.integers(200, 3000), st.integers(0, 10**9))
def test_any_histogram_is_whole(longest, jobs, seed):
    estimates = Tsafrir(longest=longest).draw(jobs, seed)
    assert estimates.dtype == np.int64
    assert estimates.size == jobs
    assert estimates.max() == longest
    assert estimates.min() > 0
    assert (np.diff(estimates) <= 0).all()


# --- The assignment -----------------------------------------------------------------------------------------
def literal_assignment(run_times, estimates, uniform):
    """Go through the jobs in descending order; `uniform` has a number in [0, 1) for each of them."""
    estimates = sorted(estimates, reverse=True)
    jobs = sorted(range(len(run_times)), key=lambda job: -run_times[job])
    given_ = {}
    for j, job in enumerate(jobs):
        long_enough = [i for i in range(j, len(estimates)) if estimates[i] >= run_times[job]]
        if not long_enough:
            return None
        assert long_enough == list(range(j, long_enough[-1] + 1))
        chosen = j + int(uniform[j] * (long_enough[-1] - j + 1))
        estimates[j], estimates[chosen] = estimates[chosen], estimates[j]
        given_[job] = estimates[j]
    return [given_[job] for job in range(len(run_times))]


@examples(80)
@given(st.integers(200, 300), st.integers(0, 10**9), st.floats(0.2, 1.1))
def test_assignment_follows_the_recipe(jobs, seed, reach):
    model = Tsafrir(longest=18 * HOUR)
    uniform = np.random.default_rng(seed).random(jobs)
    run_times = np.minimum(np.ceil(np.exp(uniform * reach * np.log(18 * HOUR))), 18 * HOUR).astype(np.int64)
    estimates = model.draw(jobs, seed)
    chances = Streams(seed, 0)("assignment").random(jobs)
    expected = literal_assignment(run_times.tolist(), estimates.tolist(), chances)
    if expected is None:
        with pytest.raises(ValueError, match="jobs run for .* or longer, but only .* of the estimates up to 64,800 s"):
            model.assign(run_times, seed)
        return
    assigned = model.assign(run_times, seed)
    assert assigned.tolist() == expected
    assert (assigned >= run_times).all()
    assert np.array_equal(np.sort(assigned)[::-1], estimates)


# --- Settings -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"longest": 3599}, "longest must be at least an hour, 3600 s, got 3599"),
        ({"longest": 2**70}, r"longest must be less than 2\*\*53 s, got"),
        ({"longest": 3600.5}, "longest must be a whole number, got 3600.5"),
        ({"longest": 7200, "distinct": 0}, "distinct must be at least 1, got 0"),
        ({"longest": 7200, "head": ((7300, 10.0),)}, "the estimates of head must be at most longest, 7200 s, got 7300"),
        ({"longest": 7200, "head": ((60, 10.0), (60, 5.0))}, "the estimates of head must differ"),
        ({"longest": 7200, "head": ((60, 0.0),)}, "the percentages of head must be greater than 0 and at most 100"),
        ({"longest": 7200, "head": ((60, float("nan")),)}, "the percentages of head must be greater than 0"),
        ({"longest": 7200, "head": ((60, 70.0), (120, 31.0))}, "must sum up to at most 100, got 101"),
    ],
)
def test_settings_that_cannot_be(settings_, message):
    with pytest.raises(ValueError, match=message):
        Tsafrir(**settings_)


TWO_JOBS = [(0, 10, 20, 2), (5, 30, 25, 1)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: trace_of(TWO_JOBS, 4).with_estimates("tsafrir"), "needs at least 200 jobs, got 2"),
        (lambda: sl.workload.fit_tsafrir(trace_of(TWO_JOBS, 4)), "needs at least 200 jobs, got 2"),
        (lambda: Tsafrir(longest=7200).draw(199), "the model of estimates needs at least 200 jobs, got 199"),
        (lambda: Tsafrir(longest=7200).draw(200, seed=-1), "seed must be a whole number of at least 0"),
        (lambda: Tsafrir(longest=7200, distinct=10).draw(200), "distinct must be at least 20, the number of popular"),
        (lambda: Tsafrir(longest=360_000, distinct=500).draw(200), "200 jobs cannot have .* different estimates"),
        (lambda: Tsafrir(longest=18 * HOUR).assign(TEN_HOURS), r"\d+ of 1,000 jobs run for 36,000 s or longer, but on"),
        (lambda: Tsafrir(longest=5 * HOUR).assign(TEN_HOURS), "1 of 1,000 jobs run for 36,000 s or longer, but only 0"),
    ],
)
def test_draws_that_cannot_be_and_too_many_long_jobs_are_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_settings_are_hashable_and_seeds_tell():
    model = Tsafrir(longest=18 * HOUR, distinct=50, head=((300, 30.0), (3600, 20.0)))
    assert hash(model) == hash(Tsafrir(longest=18 * HOUR, distinct=50, head=((300, 30.0), (3600, 20.0))))
    run_times = log_like(500, 4 * HOUR)
    one = model.assign(run_times, 1)
    assert np.array_equal(one, model.assign(run_times, 1))
    assert not np.array_equal(one, model.assign(run_times, 2))
    assert (one == 3600).sum() == 100
    assert np.unique(one).size <= 50


# --- On traces ----------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def trace():
    return sl.model_trace("downey", jobs=3000, machine=64, seed=1, work=(10, 3e5))


def test_a_trace_gets_estimates(trace):
    changed = trace.with_estimates("tsafrir", seed=3)
    jobs = changed.jobs
    longest = -(-int(trace.jobs["requested_time"].max()) // HOUR) * HOUR
    assert jobs["requested_time"].max() == longest
    assert (jobs["requested_time"] >= jobs["run_time"]).all()
    assert changed.history[-1] == f"estimates: Tsafrir model, longest {longest:,} s, seed 3"
    assert changed.jobs.drop(columns="requested_time").equals(trace.jobs.drop(columns="requested_time"))
    assert len(changed.repaired) == len(trace.repaired)
    assert jobs.equals(trace.with_estimates("tsafrir", seed=3).jobs)
    assert not jobs.equals(trace.with_estimates("tsafrir", seed=4).jobs)


def test_run_times_above_the_longest_estimate_are_cut_and_listed(trace):
    run = trace.jobs["run_time"]
    longest = 8 * HOUR
    over = run[run > longest]
    assert 0 < len(over) < 300
    changed = trace.with_estimates(sl.workload.Tsafrir(longest=longest), seed=1)
    assert changed.history[-1].endswith(f"longest 28,800 s, seed 1; {len(over):,} run times cut to the longest")
    rows = changed.repaired.iloc[len(trace.repaired) :]
    expected = [[job, "run_time", was, longest] for job, was in over.items()]
    assert rows[["job_number", "field", "was", "now"]].to_numpy().tolist() == expected
    assert changed.repaired.dtypes.equals(trace.repaired.dtypes)
    assert changed.jobs["run_time"].equals(run.clip(upper=longest))


def test_fit_takes_over_the_popular_estimates(trace):
    own = trace.with_estimates("tsafrir", seed=5)
    fitted = sl.workload.fit_tsafrir(own)
    counts = own.jobs["requested_time"].value_counts()
    assert (fitted.longest, fitted.distinct, len(fitted.head)) == (counts.index.max(), len(counts), 20)
    again = own.with_estimates(fitted, seed=6).jobs["requested_time"].value_counts()
    for seconds, percent in fitted.head:
        assert counts[seconds] == pytest.approx(percent / 100 * len(own))
        # Exact to one job, except for the most popular value, which takes the remainder of the rounding.
        assert again[seconds] == pytest.approx(counts[seconds], abs=0.5 if seconds != fitted.head[0][0] else 60)
    assert len(again) <= len(counts)
    whole = own.with_estimates(sl.workload.fit_tsafrir(own, popular=1000), seed=7)
    assert histogram(whole).equals(histogram(own))
    assert not whole.jobs["requested_time"].equals(own.jobs["requested_time"])


def histogram(trace):
    return trace.jobs["requested_time"].value_counts().sort_index()


def test_equally_popular_estimates_are_taken_in_one_order(trace):
    jobs = trace.jobs.assign(requested_time=np.arange(len(trace)) % 30 * HOUR + HOUR)
    fitted = fit_tsafrir(jobs)
    assert [seconds for seconds, _ in fitted.head] == [HOUR * h for h in range(30, 10, -1)]
    assert fit_tsafrir(jobs.sample(frac=1, random_state=1)) == fitted


@pytest.mark.traces
@pytest.mark.parametrize("name", ["CTC-SP2-1996", "KTH-SP2-1996", "SDSC-SP2-1998"])
def test_logs_get_their_own_estimates_and_the_models(name):
    log = sl.load_trace(name).cut_at_estimates()
    modelled = log.with_estimates("tsafrir", seed=1)
    whole = log.with_estimates(sl.workload.fit_tsafrir(log, popular=10_000), seed=1)
    for changed in (modelled, whole):
        assert (changed.jobs["requested_time"] >= changed.jobs["run_time"]).all()
        assert changed.jobs["run_time"].equals(log.jobs["run_time"])
    assert histogram(whole).equals(histogram(log))


def test_estimates_do_not_know_the_order_of_the_jobs():
    run_times = log_like(2000, 10 * HOUR, seed=2)
    assert np.unique(run_times).size > 500
    rank = stats.spearmanr(np.arange(2000), Tsafrir(longest=18 * HOUR).assign(run_times, 3)).statistic
    assert abs(rank) < 4 / math.sqrt(2000)
