"""Measures of schedules on machines of several pools: usage, loss of capacity and processors, pool by pool."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workloads import examples, trace_of, workloads

import schedlab as sl

pytestmark = pytest.mark.tables

# (submit, run, estimate, processors); 3 of 4 processors of pool a are held until 10 s, while a job waits for 2.
JOBS = [(0, 10, 10, 3), (0, 20, 20, 2), (0, 10, 10, 2), (0, 4, 4, 2)]
POOLS = {"a": sl.Pool(4, partitions=("x", "y")), "b": sl.Pool(2, gpus=3, partitions=("z",))}


def simulated(scheme="fcfs", **settings):
    trace = trace_of(JOBS, 8)
    table = trace.table.assign(where=["x", "y", "z", "z"], gpus=[0, 0, 1, 3])
    return sl.simulate(replace(trace, table=table), scheme, machine=sl.Pools(POOLS, column="where", **settings))


@pytest.fixture
def schedule():
    return simulated()


def test_usage_is_of_the_processors_of_the_pool(schedule):
    table = schedule.usage("pool", (0, 10))
    assert table["utilization"].to_dict() == {"a": 30 / 40, "b": 20 / 20}
    assert table["jobs"].to_dict() == {"a": 2, "b": 2}
    parts = schedule.pools
    for name, part in parts.items():
        assert table.loc[name, "utilization"] == part.metrics(window=(0, 10))["utilization"]
    # Two partitions share the processors of a pool.
    assert schedule.usage("where", (0, 10))["utilization"].to_dict() == {"x": 0.75, "y": 0, "z": 1}
    assert schedule.usage(["pool", "where"], (0, 20))["utilization"].to_dict()["a", "y"] == 20 / 80
    assert schedule.usage("user", (0, 10))["utilization"].tolist() == pytest.approx([50 / 60])


def test_a_closed_pool_has_its_processors_all_the_same():
    schedule = simulated(closed=[sl.Closed(30, 40, "a")])
    assert schedule.usage("pool", (0, 40))["utilization"]["a"] == 70 / 160
    assert schedule.resources((0, 40)).loc[("a", "procs"), "utilization"] == 70 / 120


def test_measures_by_pool_are_those_of_its_schedule(schedule):
    table = schedule.metrics(by="pool")
    for name, part in schedule.pools.items():
        assert table.loc[name, "wait_time"] == part.metrics()["wait_time"]
    assert table["wait_time"].to_dict() == {"a": 5, "b": 5}


def test_jobs_of_one_pool_cannot_use_what_idles_in_another(schedule):
    # In a, 1 processor idles for 10 s while a job waits for 2; in b, all are held while one waits.
    assert schedule.loss_of_capacity() == 10
    assert schedule.loss_of_capacity() == sum(part.loss_of_capacity() for part in schedule.pools.values())
    assert schedule.metrics()["loss_of_capacity"] == 10
    assert schedule.loss_of_capacity((0, 4)) == 4


def test_what_is_closed_is_not_lost():
    # The second job would run into the window, and waits from 0 to 30 s: 1 processor idles until 10 s, 4 until 15 s.
    closed = simulated(closed=[sl.Closed(15, 30, "a")])
    assert closed.start.tolist() == [0, 30, 0, 10]
    assert closed.loss_of_capacity() == 10 + 2 * 5
    partly = simulated(closed=[sl.Closed(15, 30, "a", procs=3)])
    assert partly.start.tolist() == [0, 30, 0, 10]
    assert partly.loss_of_capacity() == 10 + 2 * 5 + 15
    alone = partly.pools["a"]
    assert alone.loss_of_capacity((12, 20)) == 2 * 3 + 5


def test_pools_have_their_own_processors_one_after_another(schedule):
    assert schedule.allocations() == ["0-2", "0-1", "4-5", "4-5"]
    assert schedule.pools["b"].allocations() == ["0-1", "0-1"]


def test_a_run_that_a_window_ended_has_processors_of_its_own():
    schedule = simulated(closed=[sl.Closed(5, 8, "b", announced=0)])
    assert schedule.pieces["start_time"].tolist() == [0, 10, 0, 8, 18]
    offset, first, last = schedule.processors()
    assert (offset.tolist(), first.tolist(), last.tolist()) == ([0, 1, 2, 3, 4, 5], [0, 0, 4, 4, 4], [2, 1, 5, 5, 5])
    assert schedule.allocations() == ["0-2", "0-1", "4-5", "4-5"]


def test_a_pool_without_jobs_has_no_processors_held():
    trace = replace(trace_of(JOBS, 8), table=trace_of(JOBS, 8).table.assign(where=["x"] * 4, gpus=0))
    schedule = sl.simulate(trace, "fcfs", machine=sl.Pools(POOLS, column="where"))
    assert [array.tolist() for array in schedule.pools["b"].processors()] == [[0], [], []]
    assert schedule.usage("pool").index.tolist() == ["a"]


def test_a_pool_by_itself_has_its_own_resources(schedule):
    machine = sl.Pools(
        {"b": sl.Pool(2, gpus=3, partitions=("z",)), "a": sl.Pool(4, memory=9, partitions=("x", "y"))}, column="where"
    )
    table = schedule.trace.table.assign(requested_memory=[2, 1, 5, 5])
    whole = sl.simulate(replace(schedule.trace, table=table), "fcfs", machine=machine)
    window = (0, 30)
    for name, part in whole.pools.items():
        assert part.resources(window).equals(whole.resources(window).loc[[name]])
    assert whole.resources(window).loc[("a", "memory"), "held"] * 3600 == 6 * 10 + 2 * 20


@st.composite
def clusters(draw):
    """Draw a trace of jobs in two pools, and a machine with windows that are announced late, and perhaps a limit."""
    jobs, procs = draw(workloads(most=9))
    begin, length, announced, running = (draw(st.integers(*ends)) for ends in ((0, 12), (1, 8), (0, 4), (1, 3)))
    closed = [sl.Closed(begin, begin + length, draw(st.sampled_from(["a", "b", None])), announced)]
    limits = [sl.Limit("where", running=running)] if draw(st.booleans()) else []
    machine = sl.Pools({"a": sl.Pool(procs), "b": sl.Pool(procs)}, closed=closed, limits=limits, column="where")
    trace = trace_of(jobs, 2 * procs)
    where = [draw(st.sampled_from("ab")) for _ in jobs]
    return replace(trace, table=trace.table.assign(where=where)), machine


@examples(50)
@given(clusters(), st.sampled_from(["fcfs", "easy", "conservative"]))
def test_pieces_have_processors_of_their_pool_that_nobody_else_holds(cluster, scheme):
    trace, machine = cluster
    schedule = sl.simulate(trace, scheme, machine=machine)
    pieces = schedule.outcome.pieces
    ranges = schedule.processors()
    edges = np.cumsum([0, *schedule.machine.capacity[:, 0]])
    held = [
        {processor for i in range(begin, end) for processor in range(ranges.first[i], ranges.last[i] + 1)}
        for begin, end in zip(ranges.offset[:-1], ranges.offset[1:], strict=True)
    ]
    for i, (job, start, end) in enumerate(zip(pieces.job, pieces.start, pieces.end, strict=True)):
        place = schedule.case.places[job]
        assert len(held[i]) == (pieces.procs[i] if end > start else 0)
        assert held[i] <= set(range(edges[place], edges[place + 1]))
        for k in range(i):
            assert pieces.end[k] <= start or pieces.start[k] >= end or not held[i] & held[k]
    assert schedule.loss_of_capacity() >= 0


@pytest.mark.parametrize("machine", [8, {"x": 4, "y": 4, "z": 2}])
def test_other_machines_have_no_pools(schedule, machine):
    plain = sl.simulate(schedule.trace, "fcfs", machine=sl.Partitions(machine, "where") if machine != 8 else None)
    with pytest.raises(ValueError, match="^unknown classes 'pool'; known: .*$"):
        plain.usage(by="pool")
