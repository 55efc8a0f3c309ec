"""Queues with a known answer: the kernels must reproduce the formulas, and the intervals must cover them.

Times are whole seconds; services last a hundred thousand on average, so that rounding is far below any tolerance here.
"""

import math
from heapq import heapreplace

import numpy as np
import pytest
from scipy import integrate, stats
from workloads import trace_of

import schedlab as sl

pytestmark = pytest.mark.tables

SERVICE = 100_000  # seconds, on average
SURE = 0.999  # of the intervals that a formula must lie in: the seeds are fixed, and one in a thousand may fail


def queue(jobs, load, seed, procs=1):
    """Make a trace of Poisson arrivals and exponential services on one processor each, estimates exact."""
    random = np.random.default_rng(seed)
    run = np.rint(SERVICE * random.exponential(size=jobs))
    submit = np.rint(np.cumsum(random.exponential(SERVICE / (load * procs), jobs)))
    return trace_of(np.column_stack([submit, run, run, np.ones(jobs)]).astype("int64"), procs)


def erlang_c(servers, load):
    """Return the probability that an arrival waits in M/M/c (Erlang's delay formula)."""
    offered = servers * load
    blocked = 1.0  # Erlang B, by its recursion
    for k in range(1, servers + 1):
        blocked = offered * blocked / (k + offered * blocked)
    return blocked / (1 - load * (1 - blocked))


def phipps(load):
    """Return the mean wait in M/M/1 under shortest job first, not preemptive, in mean services (Phipps 1956)."""

    def wait(x):
        shorter = load * (1 - (1 + x) * math.exp(-x))  # load of the jobs up to x
        return load / (1 - shorter) ** 2

    return integrate.quad(lambda x: wait(x) * math.exp(-x), 0, math.inf)[0]


def waits(schedule, warm_up=5_000):
    return schedule.validate().jobs["wait_time"].to_numpy()[warm_up:] / SERVICE


def assert_is(schedule, expected, near):
    """Check that a mean wait, in services, is as expected: in its interval, and within `near` of it."""
    interval = sl.batch_means(waits(schedule), SURE)
    assert expected in interval
    assert interval.mean == pytest.approx(expected, rel=near)
    assert interval.notes == ()


@pytest.mark.reduced
@pytest.mark.parametrize("scheme", ["fcfs", "easy", "conservative"])
@pytest.mark.parametrize("servers", [1, 3])
def test_starts_are_those_of_kiefer_and_wolfowitz(scheme, servers):
    trace = queue(300, 0.9, seed=1, procs=servers)
    free = [0] * servers  # when each server is free
    expected = []
    for submit, run in zip(trace.jobs["submit_time"], trace.jobs["run_time"], strict=True):
        expected.append(max(submit, free[0]))
        heapreplace(free, expected[-1] + run)
    assert sl.simulate(trace, scheme).validate().start.tolist() == expected


@pytest.mark.parametrize(("servers", "load"), [(1, 0.7), (4, 0.8), (32, 0.9)])
@pytest.mark.parametrize("scheme", ["fcfs", "easy"])
def test_mmc_waits_as_erlang_says(servers, load, scheme):
    schedule = sl.simulate(queue(200_000, load, seed=servers, procs=servers), scheme)
    assert_is(schedule, erlang_c(servers, load) / (servers * (1 - load)), near=0.05)
    waited = waits(schedule) > 0
    assert waited.mean() == pytest.approx(erlang_c(servers, load), abs=0.02)
    assert schedule.metrics(window="arrivals")["utilization"] == pytest.approx(load, rel=0.01)


@pytest.mark.parametrize("load", [0.7, 0.9])
def test_shortest_job_first_waits_as_phipps_says(load):
    assert_is(sl.simulate(queue(300_000, load, seed=5), sl.FCFS(order="sjf")), phipps(load), near=0.06)


def test_a_paired_comparison_finds_what_shortest_job_first_saves():
    trace = queue(100_000, 0.8, seed=6)
    first, short = sl.simulate(trace, "fcfs").validate(), sl.simulate(trace, sl.FCFS(order="sjf")).validate()
    expected = erlang_c(1, 0.8) / (1 - 0.8), phipps(0.8)
    found = sl.paired(first, short, "wait_time", 0.99)
    assert (expected[0] - expected[1]) * SERVICE in found.difference
    assert expected[0] / expected[1] in found.ratio


@pytest.mark.filterwarnings("ignore::schedlab.schedule.statistics.IntervalWarning")  # of one run in a hundred
def test_intervals_cover_what_they_should():
    """Two hundred runs of 20,000 jobs of M/M/1 at load 0.7, the first 2,000 left out.

    The band, 180 to 198, holds 997 of 1,000 such counts where the coverage is 95 %. When this was written it was 189,
    and 938 of 1,000 runs.
    """
    runs, expected = 200, erlang_c(1, 0.7) / (1 - 0.7) * SERVICE
    found = [
        sl.batch_means(sl.simulate(queue(20_000, 0.7, seed), "fcfs").validate().jobs["wait_time"], warm_up=2_000)
        for seed in range(1_000, 1_000 + runs)
    ]
    covered = sum(expected in interval for interval in found)
    assert runs - stats.binom.ppf(0.9985, runs, 0.05) <= covered <= runs - stats.binom.ppf(0.0015, runs, 0.05)
