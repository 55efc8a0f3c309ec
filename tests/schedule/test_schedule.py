"""Schedules: each broken law is found and named, and what is written can be read again."""

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workloads import changed, examples, integers, trace_of, workloads

import schedlab as sl
from schedlab.kernels.processors import assign_processors
from schedlab.schedule import ScheduleError

pytestmark = [pytest.mark.reduced, pytest.mark.tables]

# On four processors: 1 holds three until 10; 2 waits for it; 3 does not fit beside it either; 4 does.
JOBS = [(0, 10, 20, 3), (1, 5, 5, 4), (2, 3, 3, 2), (3, 30, 6, 1)]
SCHEMES = st.sampled_from(["fcfs", "easy", "easy-sjf", "conservative"])


def simulated(scheme, **conventions):
    return sl.simulate(trace_of(JOBS, 4), scheme, **conventions)


def corrupted(schedule, **starts):
    """Move jobs, named "job1" and so on, to other starts."""
    start = schedule.start.copy()
    for job, instant in starts.items():
        start[int(job.removeprefix("job")) - 1] = instant
    return changed(schedule, start=start)


# Laws ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("scheme", ["fcfs", "easy", "conservative", "easy-sjf"])
def test_a_sound_schedule_is_given_back(scheme):
    schedule = simulated(scheme)
    assert schedule.validate() is schedule


@pytest.mark.parametrize(
    ("scheme", "starts", "message"),
    [
        ("fcfs", {"job3": 1}, "FCFS on a test: job 3 starts at 1, before its submission at 2"),
        ("easy", {"job2": -1}, "job 2 starts at -1, before its submission at 1"),  # it never started
        ("easy", {"job2": 0, "job3": 0}, "job 2 starts"),  # the first broken job
        ("easy-sjf", {"job1": 0, "job2": 9, "job3": 20, "job4": 30}, "7 processors held at 9 s, expected at most 4"),
    ],
)
def test_a_job_that_starts_when_it_cannot_is_found(scheme, starts, message):
    with pytest.raises(ScheduleError, match=message):
        corrupted(simulated(scheme), **starts).validate()


@pytest.mark.parametrize("length", [0, 3, 5])
def test_a_schedule_of_another_length_is_found(length):
    with pytest.raises(ScheduleError, match=f"{length} starts for 4 jobs"):
        changed(simulated("easy"), start=np.full(length, 100)).validate()


def test_processors_are_counted_on_the_machine_of_the_schedule():
    wide = simulated("fcfs", machine=6).validate()
    with pytest.raises(ScheduleError, match="6 processors held at 10 s, expected at most 4"):
        replace(wide, machine=sl.Flat(4)).validate()


def test_fcfs_out_of_order_is_found():
    # Nothing else is wrong with it: there is room for job 3 beside job 4.
    schedule = corrupted(simulated("fcfs"), job2=10, job3=25, job4=15)
    with pytest.raises(ScheduleError, match="FCFS on a test: job 4 starts at 15, before a job submitted earlier"):
        schedule.validate()
    replace(schedule, scheme=sl.FCFS(order="sjf")).validate()
    replace(schedule, scheme=sl.EASY(order="sjf")).validate()


@pytest.mark.parametrize("scheme", ["easy", "conservative"])
def test_a_broken_promise_is_found(scheme):
    schedule = simulated(scheme)
    promised = schedule.promise[1]
    assert promised >= 0
    late = corrupted(schedule, job2=promised + 1, job3=promised + 50, job4=promised + 90)
    words = f"job 2 starts at {promised + 1}, but had been promised {promised}"
    with pytest.raises(ScheduleError, match=words):
        changed(late, promise=np.where(np.arange(4) == 1, schedule.promise, -1)).validate()
    for scheme_without in (sl.EASY(order="sjf"), sl.Conservative(compression="rebuild")):
        replace(late, scheme=scheme_without).validate()


@pytest.mark.parametrize("overrun", ["kill", "extend", "keep"])
def test_a_job_that_ends_too_soon_or_is_wrong_about_a_kill_is_found(overrun):
    schedule = simulated("easy", overrun=overrun)
    with pytest.raises(ScheduleError, match="job 4 does not run as long as it must"):
        changed(schedule, run=schedule.run - np.array([0, 0, 0, 1])).validate()
    with pytest.raises(ScheduleError, match="job 4 is marked killed wrongly"):
        changed(schedule, killed=schedule.killed ^ np.array([False, False, False, True])).validate()


def test_promises_bind_unless_a_job_runs_on_past_its_estimate():
    for jobs, binds in ((JOBS, False), (JOBS[:3], True)):
        schedule = sl.simulate(trace_of(jobs, 4), "easy", overrun="keep").validate()
        late = changed(schedule, promise=np.where(schedule.promise >= 0, schedule.start - 1, -1))
        if binds:
            with pytest.raises(ScheduleError, match="job 2 starts at 10, but had been promised 9"):
                late.validate()
        else:
            late.validate()


def test_a_schedule_cannot_be_written_over():
    schedule = simulated("easy")
    for array in (schedule.start, schedule.promise):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5
    before = schedule.metrics()
    jobs = schedule.jobs
    jobs["start_time"] = 0
    jobs.loc[1, "wait_time"] = 99
    assert schedule.metrics().equals(before)
    assert schedule.jobs["start_time"].tolist() == schedule.start.tolist()
    assert schedule.trace.jobs["wait_time"].tolist() == [-1] * 4


# Processors ---------------------------------------------------------------------------------------------
def numbers(text):
    """Read intervals such as "0-3 7"."""
    ends = [part.split("-") for part in text.split()]
    return [number for pair in ends for number in range(int(pair[0]), int(pair[-1]) + 1)]


def lowest_free(starts, ends, procs, machine):
    """Return each job the lowest-numbered free processors at its start; jobs of one instant in trace order."""
    held = {}
    for job in sorted(range(len(starts)), key=lambda job: starts[job]):
        if ends[job] == starts[job]:
            continue
        busy = {number for other in held for number in held[other] if ends[other] > starts[job]}
        held[job] = [number for number in range(machine) if number not in busy][: procs[job]]
    return [held.get(job, []) for job in range(len(starts))]


@st.composite
def packings(draw):
    """Draw jobs and a schedule of them, by any scheme, on a machine wide enough for gaps."""
    machine = draw(integers(1, 12))
    jobs = []
    for _ in range(draw(integers(1, 20))):
        run = draw(integers(0, 9))
        jobs.append((draw(integers(0, 30)), run, run + draw(integers(0, 3)), draw(integers(1, machine))))
    return sl.simulate(trace_of(sorted(jobs), machine), draw(SCHEMES))


@examples(120)
@given(packings())
def test_processors_are_the_lowest_free_ones_and_never_shared(schedule):
    jobs, sets = schedule.jobs, [numbers(text) for text in schedule.allocations()]
    starts, ends, procs = (jobs[field].tolist() for field in ("start_time", "end_time", "procs"))
    assert sets == lowest_free(starts, ends, procs, schedule.machine.procs)
    for i in range(len(jobs)):
        assert len(set(sets[i])) == len(sets[i]) == (procs[i] if ends[i] > starts[i] else 0)
        assert all(0 <= number < schedule.machine.procs for number in sets[i])
        for j in range(i):
            if starts[i] < ends[j] and starts[j] < ends[i]:
                assert not set(sets[i]) & set(sets[j])


@examples(60)
@given(packings())
def test_intervals_are_as_few_as_can_be(schedule):
    for text in schedule.allocations():
        held = numbers(text)
        parts = sum(number - 1 not in held for number in held)
        assert len(text.split()) == parts
        assert held == sorted(held)


def test_a_machine_in_pieces_needs_more_intervals_than_expected():
    # Every second processor is given back; then each wide job takes fifty single ones.
    comb = [(0, 1000 if i % 2 else 10, 1000, 1) for i in range(100)]
    wide = [(10 + 10 * k, 10, 10, 50) for k in range(9)]
    schedule = sl.simulate(trace_of(comb + wide, 100), "fcfs").validate()
    sets = [numbers(text) for text in schedule.allocations()]
    assert sets[:100] == [[i] for i in range(100)]
    assert sets[100:] == [list(range(0, 100, 2))] * 9


def test_allocations_come_from_arrays_of_any_order():
    offset, first, last = assign_processors(np.array([5, 0]), np.array([9, 5]), np.array([3, 2]), 4)
    assert offset.tolist() == [0, 1, 2]
    assert (first.tolist(), last.tolist()) == ([0, 0], [2, 1])


# Columns ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "schedule",
    [
        lambda: simulated("easy"),
        lambda: simulated("easy", machine=sl.KaryTree(2, 2, allocation="contiguous")),  # has nodes
        lambda: sl.simulate(trace_of(JOBS, 4).with_speedup(sl.Downey(A=3), seed=1), "iterative"),  # has work and waste
        lambda: sl.simulate(trace_of(JOBS, 4).with_parameter_sweeps(1, min_procs=1), "ojs"),  # in pieces
    ],
)
def test_each_column_is_that_of_the_table(schedule):
    schedule = schedule()
    for name, column in schedule.jobs.items():
        pd.testing.assert_series_equal(schedule.column(name), column)
    for name in ("start_time", "submit_time"):
        column = schedule.column(name)
        column[:] = 1_000  # it is the caller's own
        assert 1_000 not in schedule.column(name).tolist()
    with pytest.raises(ValueError, match="unknown column 'wait'"):
        schedule.column("wait")


# Files --------------------------------------------------------------------------------------------------
# The columns of Batsim's out_jobs.csv (version 4), which evalys reads.
BATSIM = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,"
    "final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,"
    "allocated_resources,consumed_energy,metadata"
)


def test_csv_is_in_the_layout_of_batsim(tmp_path):
    simulated("easy").to_csv(tmp_path / "jobs.csv")
    lines = (tmp_path / "jobs.csv").read_text().splitlines()
    assert lines[0] == BATSIM
    assert lines[1:] == [
        "1,a test,,0,3,20,1,COMPLETED_SUCCESSFULLY,0,10,10,0,10,1.0,0-2,-1,",
        "2,a test,,1,4,5,1,COMPLETED_SUCCESSFULLY,10,5,15,9,14,2.8,0-3,-1,",
        "3,a test,,2,2,3,1,COMPLETED_SUCCESSFULLY,15,3,18,13,16,5.333333333333333,0-1,-1,",
        "4,a test,,3,1,6,0,COMPLETED_WALLTIME_REACHED,3,6,9,0,6,1.0,3,-1,",
    ]


@examples(50)
@given(workload=workloads(shortest=1), scheme=SCHEMES, overrun=st.sampled_from(["kill", "extend"]))
def test_a_simulated_log_is_read_back(tmp_path_factory, workload, scheme, overrun):
    jobs, procs = workload
    schedule = sl.simulate(trace_of([job._replace(run=job.run + 2) for job in jobs], procs), scheme, overrun=overrun)
    path = tmp_path_factory.mktemp("log") / "simulated.swf.gz"
    schedule.to_swf(path)
    again = sl.read_swf(path)
    assert again.procs == procs
    assert len(again.dropped) == len(again.repaired) == 0
    for column, expected in {
        "wait_time": schedule.jobs["wait_time"],
        "run_time": schedule.jobs["run_time"],
        "allocated_procs": schedule.jobs["procs"],
        "submit_time": schedule.trace.jobs["submit_time"],
        "requested_time": schedule.trace.jobs["requested_time"],
    }.items():
        assert again.jobs[column].equals(expected.rename(column))
    assert (again.jobs["submit_time"] + again.jobs["wait_time"]).tolist() == schedule.start.tolist()
    assert again.header.all("Note")[-1] == f"simulated with {schedule.scheme} (overrun {overrun})"


def test_repr_names_trace_scheme_and_machine():
    text = repr(simulated("easy-sjf", machine=2000))
    assert text.startswith("<Schedule a test, EASY-SJF: 4 jobs on 2,000 processors, mean wait 0 s")
    assert repr(simulated("easy")).startswith("<Schedule a test, EASY: 4 jobs on 4 processors, mean wait 6 s")
    standin = replace(simulated("easy"), trace=replace(trace_of(JOBS, 4), source="stand-in"))
    assert re.search(r"a test \(stand-in, not the real log\), EASY:", repr(standin))
    assert not math.isnan(simulated("easy").metrics()["utilization"])
