"""Partitions: independent machines in one call, one schedule, measures of each."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workloads import examples

import schedlab as sl
from schedlab.workload.sacct import example_path

pytestmark = pytest.mark.tables

SIZES = {"short": 4, "long": 8}
SCHEMES = ("fcfs", "easy", "easy-sjbf", "conservative", "dpsan")

jobs = st.lists(
    st.tuples(st.integers(0, 9), st.integers(1, 9), st.integers(0, 5), st.integers(1, 4), st.sampled_from([*SIZES])),
    min_size=1,
    max_size=20,
)


def trace_of(rows, **more):
    table = pd.DataFrame(rows, columns=["submit", "run", "slack", "procs", "where"])
    table["limit"] = table["run"] + table.pop("slack")
    columns = {"submit": "submit", "run": "run", "procs": "procs", "estimate": "limit", "partition": "where"}
    return sl.from_frame(table, machine=12, **columns | more)


@examples(40)
@given(jobs, st.sampled_from(SCHEMES))
def test_each_partition_is_simulated_as_if_it_were_alone(rows, scheme):
    trace = trace_of(rows)
    schedule = sl.simulate(trace, scheme, machine=SIZES).validate()
    starts = pd.Series(schedule.start, index=schedule.jobs.index)
    for name, procs in SIZES.items():
        own = trace.names["partition"].values()
        if name not in own:
            assert len(schedule.partitions[name]) == 0
            continue
        alone = sl.simulate(trace.where(f"partition == '{name}'"), scheme, machine=procs)
        assert starts[alone.jobs.index].tolist() == alone.start.tolist()
        pd.testing.assert_series_equal(schedule.partitions[name].metrics(), alone.metrics(), rtol=1e-12)


@examples(40)
@given(jobs)
def test_processors_of_partitions_lie_side_by_side(rows):
    schedule = sl.simulate(trace_of(rows), "easy", machine=SIZES)
    offset, first, last = schedule.processors()
    assert np.add.reduceat(last - first + 1, offset[:-1]).tolist() == schedule.procs.tolist()
    names = schedule.jobs["partition"].map(schedule.trace.names["partition"]).to_numpy()
    of = np.repeat(names, np.diff(offset))
    assert (last[of == "short"] < 4).all()
    assert (first[of == "long"] >= 4).all()


def test_what_idles_or_overfills_one_partition_is_no_loss_to_another():
    rows = [(0, 10, 0, 4, "short"), (0, 10, 0, 4, "short"), (0, 10, 0, 1, "long")]
    schedule = sl.simulate(trace_of(rows), "easy", machine=SIZES)
    assert schedule.start.tolist() == [0, 10, 0]
    assert schedule.loss_of_capacity() == 0
    assert schedule.metrics(by="partition")["wait_time"].to_dict() == {"short": 5, "long": 0}
    schedule = sl.simulate(trace_of([(0, 10, 0, 4, "short"), (0, 10, 0, 4, "short")]), machine=SIZES)
    wrong = replace(schedule, outcome=replace(schedule.outcome, start=np.array([0, 0])))
    with pytest.raises(sl.schedule.ScheduleError, match="8 processors held at 0 s, expected at most 4"):
        wrong.validate()


def test_partitions_by_number_by_another_column_and_without_jobs():
    rows = [(0, 10, 0, 4, "short"), (0, 10, 0, 4, "long")]
    assert sl.simulate(trace_of(rows), machine={1: 4, 2: 8}).start.tolist() == [0, 0]
    trace = trace_of(rows, partition=None)
    machine = sl.Partitions(SIZES, column="where")
    assert sl.simulate(trace, machine=machine).validate().start.tolist() == [0, 0]
    assert {sl.Partitions(SIZES): 1}[sl.Partitions(SIZES)] == 1
    schedule = sl.simulate(trace_of([(0, 10, 0, 4, "short")]), machine=SIZES | {"gpu": 2}).validate()
    assert len(schedule.partitions["gpu"]) == 0
    assert schedule.machine.procs == 14


def test_the_example_of_sacct():
    trace = sl.read_sacct(example_path(), machine=144, partition=("debug", "short", "long"))
    schedule = sl.simulate(trace, "conservative", machine={"debug": 16, "short": 64, "long": 64}).validate()
    assert schedule.metrics(by="partition")["jobs"].sum() == len(trace)
    assert sl.fair_starts(schedule, jobs=trace.jobs.index[:3]).size == 3
    assert sl.charts.gantt(schedule.partitions["debug"]).to_dict()


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        ({"short": 4}, "1 jobs of partition 'long', expected one of 'short'"),
        ({"short": 3, "long": 8}, "job 1 asks for 4 processors, partition 'short' has 3"),
        ({}, "sizes is empty, expected the processors of each partition by its name"),
        ({"short": 0}, "machine must have at least 1 processor, got 0"),
        (sl.Partitions(SIZES, column="site"), "no column 'site' to tell partitions by"),
    ],
)
def test_partitions_that_do_not_fit_the_jobs(machine, words):
    trace = trace_of([(0, 10, 0, 4, "short"), (0, 10, 0, 4, "long")])
    with pytest.raises(ValueError, match=words):
        sl.simulate(trace, machine=machine)


@pytest.mark.parametrize(
    ("partition", "problem"),
    [
        ([-1, -1], "2 jobs without partition, expected one of 'short', 'long'; trace.where"),
        ([None, "short"], "1 jobs without partition, expected one of 'short'"),
        ([7, 7], "2 jobs of partition 7, expected one of 'short'"),
    ],
)
def test_jobs_without_a_partition_are_refused(partition, problem):
    trace = trace_of([(0, 10, 0, 4, "short")] * 2, partition=partition)
    with pytest.raises(ValueError, match=f"^{problem}"):
        sl.simulate(trace, machine=SIZES)


def test_what_cannot_be_split():
    trace = trace_of([(0, 10, 0, 4, "short")])
    with pytest.raises(ValueError, match="runs jobs in pieces, which pools do not allow"):
        sl.simulate(trace.with_parameter_sweeps(1, min_procs=1), "ojs", machine=SIZES)
    with pytest.raises(ValueError, match="partitions need a machine that has them"):
        _ = sl.simulate(trace).partitions
    trace = trace_of([(0, 10, 0, 4, "short"), (0, 10, 0, 4, None)], partition=None)
    with pytest.raises(ValueError, match="^1 jobs without where, expected one of"):
        sl.simulate(trace, machine=sl.Partitions(SIZES, column="where"))
