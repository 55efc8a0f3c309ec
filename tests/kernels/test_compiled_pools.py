"""Compiled schemes on machines of several pools: equal to the kernels, and impossible starts are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels.test_pools import ORDERS, as_pools, as_trace, clusters
from workloads import examples, trace_of, workloads

import schedlab as sl
from schedlab.kernels.parts import new_profile
from schedlab.kernels.pool_parts import (
    NOW,
    begin,
    begin_behind_head,
    earliest,
    exceeds,
    fill_profile,
    first_of,
    fits,
    last_of,
    may_start,
    new_heads,
    new_profiles,
    start_heads,
    take,
)
from schedlab.schemes.compiled_pools import CompiledPoolScheme
from schedlab.schemes.steps import SchemeError

pytestmark = pytest.mark.reduced


@sl.compiled_pool_scheme(memory=new_heads)
def easy(c, pool, heads):
    place = start_heads(c, heads, pool)
    while place < last_of(c, c.queue, pool):
        job = c.queue.item[place]
        if not exceeds(c, job) and may_start(c, heads, pool, job):
            place = begin_behind_head(c, heads, pool, place)
        else:
            place += 1


@sl.compiled_pool_scheme(memory=new_profiles)
def conservative(c, pool, profiles):
    fill_profile(c, profiles, pool)
    place = first_of(c, c.queue, pool)
    while place < last_of(c, c.queue, pool):
        job = c.queue.item[place]
        if exceeds(c, job):
            place += 1
            continue
        start = earliest(c, profiles, pool, job)
        take(c, profiles, pool, job, start)
        place = begin(c, pool, place) if start == c.clock[NOW] else place + 1


@sl.compiled_pool_scheme
def first_fit(c, pool):
    place = first_of(c, c.queue, pool)
    while place < last_of(c, c.queue, pool):
        job = c.queue.item[place]
        if not exceeds(c, job) and fits(c, pool, job):
            place = begin(c, pool, place)
        else:
            place += 1


@sl.compiled_pool_scheme(memory=1, promises=True)
def every_other(c, pool, passes):
    """Start the first jobs in every other pass of a pool, and the rest where nothing runs."""
    passes[pool, 0] += 1
    idle = first_of(c, c.running, pool) == last_of(c, c.running, pool)
    place = first_of(c, c.queue, pool)
    while place < last_of(c, c.queue, pool) and (idle or passes[pool, 0] % 2 == 1):
        job = c.queue.item[place]
        if exceeds(c, job) or not fits(c, pool, job):
            break
        place = begin(c, pool, place)


@sl.python_scheme
def plain_first_fit(state):
    for job in state.queue:
        if state.fits(job):
            state.start(job)


def plain_every_other():
    """Return the same as `every_other`; a new function has a new memory."""

    @sl.python_scheme
    def decide(state):
        state.memory["passes"] = state.memory.get("passes", 0) + 1
        if state.running and state.memory["passes"] % 2 == 0:
            return
        for job in list(state.queue):
            if not state.fits(job):
                break
            state.start(job)

    return decide


def same(scheme, other, trace, machine):
    own, other = (sl.simulate(trace, each, machine=machine).validate() for each in (scheme, other))
    assert own.start.tolist() == other.start.tolist()
    assert own.outcome.pieces.start.tolist() == other.outcome.pieces.start.tolist()
    return own, other


@examples(200)
@given(clusters(), st.sampled_from(sorted(ORDERS)))
def test_what_is_made_of_the_parts_is_what_the_kernels_are(cluster, order):
    jobs, machine = cluster
    trace = as_trace(jobs, machine)
    machine = as_pools(machine)
    order = ORDERS[order][0]
    own, kernel = same(
        CompiledPoolScheme(order, function=easy.function, memory=new_heads), sl.EASY(order), trace, machine
    )
    assert own.promise.tolist() == kernel.promise.tolist()
    rebuilt = CompiledPoolScheme(order, function=conservative.function, memory=new_profiles)
    same(rebuilt, sl.Conservative(order, compression="rebuild"), trace, machine)


@examples(200)
@given(clusters(limited=(True,)))
def test_as_in_plain_python(cluster):
    jobs, machine = cluster
    trace = as_trace(jobs, machine)
    same(first_fit, plain_first_fit, trace, as_pools(machine))


@examples(100)
@given(workloads(), st.sampled_from(["kill", "extend"]))
def test_a_machine_of_processors_is_one_pool(workload, overrun):
    jobs, procs = workload
    trace = trace_of(jobs, procs)
    for own, kernel in ((easy, sl.EASY()), (conservative, sl.Conservative(compression="rebuild"))):
        starts = [sl.simulate(trace, scheme, overrun=overrun).validate().start.tolist() for scheme in (own, kernel)]
        assert starts[0] == starts[1]


def test_each_pool_has_a_memory_of_its_own():
    jobs = [(0, 9, 9, 2), (1, 2, 2, 1), (1, 2, 2, 1), (2, 2, 2, 1), (3, 4, 4, 2)]
    trace = trace_of(jobs, 4)
    table = trace.table.assign(where=np.array(["a", "b", "a", "a", "b"]), user=1)
    trace = sl.from_frame(table.reset_index(), machine=4)
    for limits in ((), sl.Limit("user", running=4)):
        machine = sl.Pools(a=3, b=2, limits=limits, column="where")
        same(every_other, plain_every_other(), trace, machine)


TRACE = trace_of([(0, 9, 9, 3), (1, 4, 4, 2), (2, 4, 4, 1)], 4)


ALL, ELSEWHERE, NONE, TWICE = range(4)


def wrong(c, pool, kind):
    """Start all jobs, the first of all that wait in whatever pool, none, or one twice; one function, compiled once."""
    place = first_of(c, c.queue, pool)
    if kind[0] == ALL:
        while place < last_of(c, c.queue, pool):
            place = begin(c, pool, place)
    first = first_of(c, c.queue, 0)
    if kind[0] == ELSEWHERE and (pool == 1 or fits(c, pool, c.queue.item[first])):
        begin(c, pool, first)
    if kind[0] == TWICE:
        begin(c, pool, place)
        begin(c, pool, place)


def _refusal(kind, machine=None):
    scheme = sl.compiled_pool_scheme(wrong, memory=lambda jobs, pools, windows: np.array([kind]))
    with pytest.raises(SchemeError) as refused:
        sl.simulate(TRACE, scheme, machine=machine)
    return str(refused.value)


def test_impossible_starts_are_refused():
    no_room = "does not fit from now on in pool '{}': fits(c, pool, job) tells"
    assert _refusal(ALL) == "wrong at 1 s: job 2 is started, but " + no_room.format("all")
    closed = sl.Pools({"x": 8}, closed=sl.Closed(5, 20), column="none")
    assert _refusal(ALL, closed) == "wrong at 0 s: job 1 is started, but " + no_room.format("x")
    limit = sl.Limit("user", running=1)
    limited = sl.Pools({"x": 8}, limits=limit, column="none")
    assert _refusal(ALL, limited) == "wrong at 1 s: job 2 is started, but is over a limit: exceeds(c, job) tells"
    pools = {"x": sl.Pool(3, partitions=(2, 3)), "y": sl.Pool(4, partitions=(1,))}
    two = sl.Pools(pools, limits=sl.Limit("user", running=9), column="requested_procs")
    elsewhere = "wrong at 2 s: job 2 is started, but waits in pool 'x', this is a pass in 'y'"
    assert _refusal(ELSEWHERE, two) == elsewhere
    assert _refusal(TWICE) == "wrong at 0 s: job 1 is started, but runs already"
    assert _refusal(NONE) == "wrong: no job runs, none will arrive, and 3 jobs still wait: first job 1"


def test_what_it_takes_is_said():
    def fcfs(c):
        return

    with pytest.raises(TypeError, match=r"compiled_pool_scheme takes a function of \(c, pool\) or \(c, pool, memory\)"):
        sl.compiled_pool_scheme(fcfs)
    with pytest.raises(TypeError, match=r"takes no memory: leave out memory="):
        sl.compiled_pool_scheme(first_fit.function, memory=3)
    flat = r"memory is <function new_profile.*>, expected .* or a function of \(jobs, pools, windows\)"
    with pytest.raises(TypeError, match=flat):
        sl.compiled_pool_scheme(conservative.function, memory=new_profile)
    with pytest.raises(ValueError, match="events are batched under first_fit, got 'each'"):
        sl.simulate(TRACE, first_fit, events="each")
    with pytest.raises(ValueError, match="overrun 'keep'"):
        sl.simulate(TRACE, first_fit, overrun="keep")


def test_check_scheme_takes_them():
    report = sl.testing.check_scheme(easy, "easy", pools=True, effort=0.2)
    assert not report.failed
