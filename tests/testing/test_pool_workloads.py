"""What `check_scheme` finds in schemes on machines of several pools."""

import re

import pytest
from museum import plain_easy, plain_fcfs

import schedlab as sl
from schedlab.kernels.pool_parts import begin, exceeds, first_of, fits, last_of
from schedlab.testing import apart, check_scheme
from schedlab.testing.pool_workloads import tiny_in_pools
from schedlab.testing.schemes import BESIDE, KEEPS, POOLS

LIKE = "starts every job when EASY does"


def nowhere(*arguments):
    raise OSError("no other process in this test")


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Leave out the process apart, which takes half a second."""
    monkeypatch.setattr(apart, "launch", nowhere)


def checked(scheme, like=None):
    return check_scheme(scheme, like, pools=True, effort=0.3, raises=False)


@pytest.mark.parametrize(("scheme", "like"), [(plain_easy, "easy"), (sl.Conservative(), None)])
def test_right_schemes_pass(scheme, like):
    report = checked(scheme, like)
    assert report.passed
    assert POOLS in [check.name for check in report.checks]
    assert "and 30 workloads in pools" in report.covered


class AtOnce(sl.Scheme):
    """A scheme of its own starts on flat machines in turn, and in pools at once."""

    machines = (sl.Flat, sl.Pools)

    def simulate(self, case):
        if isinstance(case.machine, sl.Pools):
            return case.outcome(case.jobs.submit.copy())
        return sl.FCFS().simulate(case)


@sl.python_scheme
def tries_all(state):
    for job in list(state.queue):
        if job.demand <= state.free:  # it looks neither at windows nor at limits
            state.start(job)


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        (AtOnce(), "SchemeError: AtOnce at .* expected at most"),
        (plain_fcfs, "TypeError: amounts of procs and gpus are compared with 1: compare job.demand with state.free"),
        (tries_all, "SchemeError: tries_all at .* in pool .*: start"),
    ],
)
def test_wrong_schemes_are_refused_with_a_small_workload(scheme, message):
    report = checked(scheme)
    (failed,) = report.failed
    assert failed.name == POOLS
    first, *rest = failed.found.split("\n")
    assert re.search(message, first)
    assert rest[0].startswith("on pools a (")
    assert len(rest) <= 8


@sl.python_scheme
def easy_without_pools(state):
    if state.pool is None:
        plain_easy.decide(state)
    else:
        for job in state.queue:
            if not state.fits(job):
                break
            state.start(job)


def test_another_schedule_in_pools_is_found():
    (failed,) = checked(easy_without_pools, "easy").failed
    assert failed.name == LIKE
    assert "on pools a (" in failed.found


@sl.compiled_pool_scheme
def stops_in_the_first_pool(c, pool):
    place = first_of(c, c.queue, pool)
    while place < last_of(c, c.queue, pool):
        if not exceeds(c, c.queue.item[place]) and fits(c, pool, c.queue.item[place]):
            place = begin(c, pool, place)
        elif pool == 0:
            break
        else:
            place += 1


def test_a_scheme_that_goes_by_the_number_of_a_pool_is_found():
    (failed,) = checked(stops_in_the_first_pool).failed
    assert failed.name == BESIDE
    assert re.match(r"job .* s without limits, at .* s with at most 1,000,000 running of each user", failed.found)


PASSES = []


@sl.python_scheme
def by_turns(state):
    """Start first the oldest jobs, then the youngest, in every other pass in a pool."""
    if state.pool is not None:
        PASSES.append(state.now)
    queue = list(state.queue)
    for job in queue if len(PASSES) % 2 == 0 else queue[::-1]:
        if state.fits(job):
            state.start(job)


def test_a_scheme_that_keeps_something_in_pools_only_is_found():
    failed = checked(by_turns).failed[0]
    assert failed.name == KEEPS
    assert "on pools a (" in failed.found


@sl.compiled_pool_scheme
def heeds_no_limit(c, pool):
    place = first_of(c, c.queue, pool)
    while place < last_of(c, c.queue, pool):
        place = begin(c, pool, place) if fits(c, pool, c.queue.item[place]) else place + 1


def test_a_scheme_that_heeds_no_limit_is_found():
    (failed,) = checked(heeds_no_limit).failed
    assert failed.name == POOLS
    assert "is over a limit: exceeds(c, job) tells" in failed.found


def test_without_pools_they_are_not_looked_at():
    assert check_scheme(AtOnce(), effort=0.05).passed


def test_schemes_that_run_on_no_pools_are_refused():
    with pytest.raises(ValueError, match="DPSA.* does not run on pools: leave out pools=True"):
        check_scheme("dpsaw", pools=True)


def test_a_workload_names_the_pools_of_its_jobs():
    workload = tiny_in_pools(1, ("kill",))[0]
    machine, rule, names, *rows = str(workload).splitlines()
    assert (machine, rule) == (f"on {workload.machine},", "overrun kill:")
    place = names.split().index("pool")
    assert {row.split()[place] for row in rows} == {name for name, _ in workload.machine.pools}
