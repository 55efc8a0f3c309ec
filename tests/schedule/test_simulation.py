"""`simulate` and `simulate_many`: the conventions do what they promise, and the caller's trace is left alone."""

from dataclasses import replace

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workloads import examples, trace_of, workloads

import schedlab as sl
from schedlab.schemes.conservative import COMPRESSION

pytestmark = [pytest.mark.reduced, pytest.mark.tables]

SCHEMES = [sl.FCFS(), sl.EASY(), sl.EASY(order="sjf"), sl.EASY(backfill="sjf"), sl.Conservative()]

# Job 1 outlives its estimate of 5 by 5; job 2 wants the whole machine.
OVERRUN = [(0, 10, 5, 1), (1, 4, 4, 2), (2, 3, 3, 1)]


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_a_job_that_outlives_its_estimate_is_killed_or_extended(scheme):
    trace = trace_of(OVERRUN, 2)
    killed = sl.simulate(trace, scheme, overrun="kill").validate()
    assert killed.end[0] == 5
    assert killed.jobs["killed"].tolist() == [True, False, False]
    assert killed.jobs["run_time"].tolist() == [5, 4, 3]
    extended = sl.simulate(trace, scheme, overrun="extend").validate()
    assert extended.end[0] == 10
    assert not extended.jobs["killed"].any()
    assert extended.jobs["run_time"].tolist() == [10, 4, 3]
    assert sl.simulate(trace, scheme).start.tolist() == killed.start.tolist()  # the default


def test_a_job_that_is_kept_is_expected_to_end_when_it_does_not():
    trace = trace_of(OVERRUN, 2)
    for overrun, end in (("extend", 10), ("kill", 5)):
        assert sl.simulate(trace, "easy", overrun=overrun).promise.tolist() == [-1, end, -1]
    for scheme in (sl.EASY(), sl.DPSA()):
        schedule = sl.simulate(trace, scheme, overrun="keep").validate()
        assert schedule.promise.tolist() == [-1, 5, -1]
        assert schedule.start.tolist() == [0, 10, 2]
        assert not schedule.killed.any()
        assert schedule.jobs["run_time"].tolist() == [10, 4, 3]
        assert schedule.jobs["requested_time"].tolist() == [5, 4, 3]
        assert schedule.metrics()["offered_load"] == trace.offered_load("extend") == trace.offered_load("keep")


@pytest.mark.parametrize("scheme", ["conservative", "ojs", "flooding", "shares", "greedy", "iterative"])
def test_schemes_that_cannot_keep_jobs_past_their_estimates_say_so(scheme):
    trace = trace_of(OVERRUN, 2).with_parameter_sweeps(0.5, min_procs=2).with_speedup(sl.Downey())
    words = "overrun 'keep' is for DPSA, EASY and FCFS, not for .*: use 'kill' or 'extend'"
    with pytest.raises(ValueError, match=words):
        sl.simulate(trace, scheme, overrun="keep")
    with pytest.raises(ValueError, match=words):
        sl.simulate_sites([trace], scheme, overrun="keep")


def test_the_machine_is_the_traces_own_or_a_given_one():
    trace = trace_of(OVERRUN, 2)
    assert sl.simulate(trace).machine == sl.Flat(2)
    for machine in (4, np.int64(4), sl.Flat(4)):
        schedule = sl.simulate(trace, machine=machine).validate()
        assert schedule.machine == sl.Flat(4)
        assert schedule.start.tolist() == [0, 1, 2]
        assert schedule.metrics()["offered_load"] == pytest.approx(trace.offered_load() / 2)


def test_a_machine_too_small_is_refused_with_the_way_out():
    trace = trace_of(OVERRUN, 2)
    words = r"a test has a job of 2 processors, the machine 1: trace.with_machine\(1\) drops such jobs"
    for machine in (1, sl.Flat(1)):
        with pytest.raises(ValueError, match=words):
            sl.simulate(trace, machine=machine)
    with pytest.raises(ValueError, match=words):  # a trace that was put together wrongly
        sl.simulate(replace(trace, procs=1))
    with pytest.warns(sl.workload.LoadWarning):
        fits = trace.with_machine(1)
    assert len(sl.simulate(fits, machine=1).validate()) == 2


@pytest.mark.parametrize(
    ("machine", "error", "message"),
    [
        *((machine, TypeError, r"machine is .*, expected processors or a machine") for machine in ("big", 2.5, [4])),
        (0, ValueError, "machine must have at least 1 processor, got 0"),
    ],
)
def test_what_is_no_machine_is_refused(machine, error, message):
    with pytest.raises(error, match=message):
        sl.simulate(trace_of(OVERRUN, 2), machine=machine)


def test_events_each_gives_arrivals_their_own_pass():
    trace = trace_of([(0, 5, 5, 2), (5, 4, 4, 2), (5, 1, 1, 1)], 2)
    batched, each = (sl.simulate(trace, "easy-sjf", events=events).validate() for events in ("batched", "each"))
    assert (batched.events, each.events) == ("batched", "each")
    # One pass for the instant sees both newcomers and takes the shorter; a pass for each takes the first.
    assert batched.start.tolist() == [0, 6, 5]
    assert each.start.tolist() == [0, 5, 9]
    assert sl.simulate(trace, "easy-sjf").events == "batched"


@pytest.mark.parametrize(
    ("conventions", "message"),
    [
        ({"overrun": "cut"}, "unknown overrun 'cut'; known: kill, extend, keep, kill-backfilled"),
        ({"events": "all"}, "unknown events 'all'; known: batched, each"),
        ({"scheme": "esay"}, "unknown scheme 'esay'; known: conservative, dpsan, dpsap, dpsaw, easy, "),
        ({"scheme": "easy-shortest"}, "unknown order 'shortest'; known: fcfs, lcfs, sjf"),
    ],
)
def test_unknown_values_are_answered_with_known_ones(conventions, message):
    with pytest.raises(ValueError, match=message):
        sl.simulate(trace_of(OVERRUN, 2), **conventions)


def test_a_trace_without_jobs_is_refused():
    trace = trace_of(OVERRUN, 2)
    with pytest.raises(ValueError, match="a test has no jobs to simulate"):
        sl.simulate(replace(trace, table=trace.jobs.iloc[:0]))


def test_the_callers_trace_is_left_alone():
    trace = trace_of(OVERRUN, 2)
    before = trace.jobs.copy(deep=True)
    for overrun in ("kill", "extend"):
        schedule = sl.simulate(trace, "easy-sjf", overrun=overrun)
        _ = schedule.jobs, schedule.metrics()
    assert trace.jobs.equals(before)
    assert schedule.trace is trace


def test_times_are_on_the_clock_of_the_log():
    later = [(10**9 + submit, run, estimate, procs) for submit, run, estimate, procs in OVERRUN]
    schedule = sl.simulate(trace_of(later, 2), "easy").validate()
    assert schedule.start.tolist() == [10**9, 10**9 + 5, 10**9 + 2]
    assert schedule.promise.tolist() == [-1, 10**9 + 5, -1]


def test_the_scheme_is_easy_unless_another_is_named():
    trace = trace_of(OVERRUN, 2)
    assert sl.simulate(trace).scheme == sl.EASY()
    assert sl.simulate(trace, "easy-sjbf").scheme == sl.EASY(backfill="sjf")


@examples(80)
@given(workloads(), st.sampled_from(SCHEMES), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_is_irrelevant_where_submissions_differ(workload, scheme, random):
    jobs, procs = workload
    trace = trace_of([job._replace(submit=3 * i + job.submit // 5) for i, job in enumerate(jobs)], procs)
    rows = trace.jobs.index.tolist()
    random.shuffle(rows)
    permuted = replace(trace, table=trace.jobs.loc[rows])
    one, other = sl.simulate(trace, scheme), sl.simulate(permuted, scheme)
    assert other.jobs.equals(one.jobs)
    assert other.metrics().equals(one.metrics())


def batch():
    """Make runs that differ in length, so that they do not end in the order in which they begin."""
    traces = [sl.model_trace("lublin", jobs=jobs, machine=64, seed=jobs) for jobs in (1500, 20, 700, 100)]
    return [(trace.scale_load(load), scheme) for trace in traces for load in (0.7, 1.1) for scheme in SCHEMES]


@pytest.fixture(scope="module")
def one_by_one():
    return [sl.simulate(trace, scheme) for trace, scheme in batch()]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="takes minutes")
@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_many_are_the_same_as_one_by_one_for_any_number_of_threads(one_by_one, threads):
    many = sl.simulate_many(batch(), threads=threads)
    assert len(many) == len(one_by_one) == 40
    for found, expected in zip(many, one_by_one, strict=True):
        assert found.scheme == expected.scheme
        assert found.trace.history == expected.trace.history
        assert np.array_equal(found.start, expected.start)
        assert np.array_equal(found.promise, expected.promise)


def test_many_take_names_and_conventions():
    trace = trace_of(OVERRUN, 2)
    many = sl.simulate_many(((trace, name) for name in ("fcfs", "easy")), overrun="extend", machine=3, threads=2)
    assert [str(schedule.scheme) for schedule in many] == ["FCFS", "EASY"]
    for schedule in many:
        assert (schedule.overrun, schedule.machine.procs) == ("extend", 3)
        assert np.array_equal(schedule.start, sl.simulate(trace, schedule.scheme, overrun="extend", machine=3).start)
    assert sl.simulate_many([]) == []


def test_many_refuse_an_unknown_scheme():
    with pytest.raises(ValueError, match="unknown scheme 'nothing'"):
        sl.simulate_many([(trace_of(OVERRUN, 2), "fcfs"), (trace_of(OVERRUN, 2), "nothing")], threads=1)


@pytest.mark.parametrize("threads", [0, -2])
def test_threads_are_positive(threads):
    with pytest.raises(ValueError, match="greater than 0"):
        sl.simulate_many([(trace_of(OVERRUN, 2), "fcfs")], threads=threads)


def test_times_that_int64_cannot_count_are_refused():
    trace = sl.model_trace(jobs=2_000, machine=8, seed=1)
    with pytest.warns(sl.workload.LoadWarning), pytest.raises(ValueError, match="expected less than 2"):
        trace.scale_load(1e300)
    with pytest.raises(ValueError, match="expected less than 2"):
        trace.with_estimates("factor", 1e17)
    with pytest.raises(ValueError, match="model and then all its jobs take .* s, expected less than 2"):
        sl.simulate(trace.with_estimates([2**52] * 2_000), "conservative")


LIMIT = 2**53
CONSERVATIVE = [sl.Conservative(compression=compression) for compression in COMPRESSION]


@pytest.mark.parametrize("scheme", [sl.FCFS(), sl.EASY(), sl.DPSA(), *CONSERVATIVE], ids=str)
def test_times_are_exact_up_to_the_limit_and_refused_beyond(scheme):
    jobs = [(0, 5, LIMIT // 2, 1), (1, LIMIT // 2 - 2, LIMIT // 2 - 2, 2)]  # 2 ** 53 - 1 s with the second submission
    schedule = sl.simulate(trace_of(jobs, 2), scheme, overrun="extend").validate()
    assert schedule.end.max() == schedule.start[1] + LIMIT // 2 - 2 < LIMIT
    more = trace_of([*jobs, (1, 1, 1, 1)], 2)
    with pytest.raises(ValueError, match="last submission of a test and then all its jobs take 9.007e.15 s, expected"):
        sl.simulate(more, scheme, overrun="extend")
    with pytest.raises(ValueError, match=r"all its jobs take 9.007e\+16 s, expected less than 2\*\*53"):
        sl.simulate(trace_of([(0, 1, LIMIT - 1, 1)] * 10, 1), scheme)


@pytest.mark.parametrize("overrun", ["kill", "extend", "keep"])
def test_run_times_count_for_the_limit_where_jobs_are_not_cut(overrun):
    trace = trace_of([(0, LIMIT // 2, 1, 1), (0, LIMIT // 2, 1, 1)], 1)
    if overrun == "kill":
        sl.simulate(trace, "easy", overrun=overrun).validate()
    else:
        with pytest.raises(ValueError, match=r"expected less than 2\*\*53"):
            sl.simulate(trace, "easy", overrun=overrun)


@pytest.mark.parametrize(("order", "first"), [("saf", 2), ("laf", 1)])
def test_areas_are_exact_up_to_the_limit_and_refused_beyond(order, first):
    """Without an error, 2**63 would be the smallest area of all."""
    wide = 2**23
    jobs = [(0, 1, 1, wide), (0, 1, 2**30 - 1, wide), (0, 1, 2**30 - 2, wide)]
    start = sl.simulate(trace_of(jobs, wide), sl.FCFS(order=order)).validate().start
    assert np.argsort(start[1:])[0] + 1 == first
    for estimate in (2**30, 2**40):
        with pytest.raises(ValueError, match=r"job 4 of a test may hold .* processor-seconds, expected less than 2"):
            sl.simulate(trace_of([*jobs, (0, 1, estimate, wide)], wide), sl.FCFS(order=order))
    with pytest.raises(ValueError, match="the jobs of a test may hold 4.6.* processor-seconds in all, expected less"):
        sl.simulate(trace_of([(0, 1, 2**30 - 1, wide)] * 513, wide), sl.FCFS(order=order))


def test_what_a_large_machine_loses_in_ages_is_counted():
    """2 * 10**19 processor-seconds, too many for int64."""
    ages, wide = 2 * 10**12, 10**7
    values = sl.simulate(trace_of([(0, ages, ages, 1), (0, 1, 1, wide), (ages, 1, 1, 1)], wide), "fcfs").metrics()
    assert values["loss_of_capacity"] == pytest.approx((wide - 1) * ages)
    assert values["loss_of_capacity_share"] == pytest.approx(1)
    assert values["mean_queue"] == pytest.approx(1)
    arrivals = sl.simulate(trace_of([(0, ages, ages, 1), (ages, 1, 1, 1)], wide), "fcfs").metrics(window="arrivals")
    for measure in ("utilization", "effective_load", "offered_load"):
        assert arrivals[measure] == pytest.approx(1 / wide)
