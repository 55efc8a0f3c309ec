"""Machines of several pools: what is refused, what is said, what is measured."""

from dataclasses import replace

import numpy as np
import pytest
from workloads import trace_of

import schedlab as sl
from schedlab.workload.filter import LoadWarning


def trace(rows, **columns):
    """Make a trace of (submit, run, estimate, procs), and further columns."""
    made_of = trace_of(rows, machine=100)
    return replace(made_of, table=made_of.table.assign(**columns))


TWO = trace([(0, 10, 10, 4), (0, 10, 10, 2)], where=["a", "b"], gpus=[0, 3], user=["x", "y"], qos=["long", "short"])


def pools(**settings):
    return sl.Pools(a=sl.Pool(4), b=sl.Pool(8, gpus=4), column="where", **settings)


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (lambda: sl.Pools(), "a machine needs at least one pool, such as cpu=sl.Pool"),
        (lambda: sl.Pool(0), "machine must have at least 1 processor, got 0"),
        (lambda: sl.Pool(4, gpus=-1), "gpus of a pool is -1, expected a whole number from 0"),
        (lambda: sl.Pool(4, memory="much"), "an amount of memory like"),
        (lambda: sl.Pool(4, unit="racks"), "unknown unit 'racks'; known: procs, nodes"),
        (lambda: sl.Pool(4, gpus=1, memory=1, disks=1, tapes=1), "expected at most 4 resources"),
        (
            lambda: sl.Pools(a=sl.Pool(4, gpus=1, memory=1), b=sl.Pool(4, disks=1, tapes=1)),
            "the pools have procs, gpus, memory, disks, tapes, expected at most 4 resources in all",
        ),
        (
            lambda: sl.Pools(a=sl.Pool(4, partitions=("x", "y")), b=sl.Pool(4, partitions="y")),
            "partition 'y' is served by pools 'a' and 'b', not by one",
        ),
        (lambda: pools(on_closure="wait"), "unknown on_closure 'wait'; known: requeue, kill"),
        (lambda: pools(closed=[(0, 5)]), "closed has .0, 5., expected windows such as sl.Closed"),
        (lambda: pools(closed=sl.Closed(0, 5, pool="c")), "unknown pool of a closed window 'c'; known: a, b$"),
        (lambda: sl.Pools({1: 4}, closed=sl.Closed(0, 5, pool="1")), "unknown pool of a closed window '1'; known: 1$"),
        (lambda: pools(closed=sl.Closed(0, 5, gpus=5, pool="b")), "pool 'b' has 4 GPUs"),
        (lambda: pools(closed=sl.Closed(0, 5, gpus=1, pool="a")), "pool 'a' has no gpus"),
        (lambda: pools(closed=sl.Closed(0, 5, gpus=0)), "gpus of a closed window is 0, expected a whole number"),
        (lambda: sl.Closed(0, 5, announced=-1), "announced is -1, expected seconds before the begin, 0 or more"),
        (lambda: sl.Limit("user", running=0), "limit by user: running is 0, expected a whole number of at least 1"),
        (lambda: sl.Limit("user", procs={"x": 1.5}), "limit by user: procs is 1.5, expected a whole number"),
        (lambda: sl.Limit("user", running={}), "a limit by user limits nothing, give running=, procs= or gpus="),
        (lambda: sl.Limit("user"), "a limit by user limits nothing, give running=, procs= or gpus="),
        (lambda: sl.Pools(a=4, limits=sl.Limit("user", gpus=2)), "no pool has gpus; they have procs"),
        (lambda: pools(limits=["user"]), "limits has 'user', expected limits such as sl.Limit"),
    ],
)
def test_bad_machines_are_refused(machine, message):
    with pytest.raises((ValueError, TypeError), match=message):
        machine()


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (sl.Pools(a=3, b=8, column="where"), "job 1 asks for 4 processors, pool 'a' has 3 processors; trace.with_mach"),
        (sl.Pools(a=4, b=sl.Pool(8, gpus=2), column="where"), "job 2 asks for 3 GPUs, pool 'b' has 2 GPUs"),
        (sl.Pools(a=4, column="where"), "1 jobs of where 'b', expected one of 'a'; trace.where"),
        (sl.Pools(a=4, b=sl.Pool(8, licenses=4), column="where"), "no column 'licenses' that says how much"),
        (sl.Pools(a=4, b=sl.Pool(8, unit="nodes"), column="where"), "no column says how many nodes jobs take"),
        (pools(closed=[sl.Closed(5, 5)]), "5 to 5: expected an end after the begin"),
        (pools(closed=sl.Closed(0, float("inf"))), "0 to inf: expected a begin and an end of less than 2..52 seconds"),
        (pools(closed=sl.Closed(0, 2**53)), "expected a begin and an end of less than 2..52 seconds"),
        (pools(closed=[sl.Closed("2024-01-01", 5)]), "a test has no UnixStartTime; give seconds"),
        (
            pools(closed=[sl.Closed(0, 10, pool="b"), sl.Closed(9, 12)]),
            "pool 'b' has windows that overlap: b closed from 0 to 10, and all pools closed from 9 to 12",
        ),
        (pools(limits=sl.Limit("team", running=1)), "no column 'team'"),
        (pools(limits=sl.Limit("user", procs=3)), "job 1 alone has 4 procs, at most 3 may run; trace.where"),
        (pools(limits=sl.Limit("user", gpus={"y": 2})), "job 2 alone has 3 gpus, at most 2 may run"),
    ],
)
def test_machines_that_do_not_fit_the_jobs_are_refused(machine, message):
    with pytest.raises(ValueError, match=message):
        sl.simulate(TWO, "easy", machine=machine)


@pytest.mark.parametrize(
    ("scheme", "settings", "message"),
    [
        (sl.DPSA(), {}, "Conservative, EASY and FCFS simulate several resources, closed windows and limits"),
        ("easy", {"overrun": "keep"}, "overrun 'keep', expected overrun 'kill' or 'extend': jobs in pools end at"),
        ("easy", {"events": "each"}, "events are batched on pools"),
    ],
)
def test_what_has_no_meaning_in_pools_is_refused(scheme, settings, message):
    with pytest.raises(ValueError, match=message):
        sl.simulate(TWO, scheme, machine=pools(), **settings)


def test_jobs_that_never_fit_are_left_out_on_request():
    machine = sl.Pools(a=4, b=sl.Pool(8, gpus=2), column="where")
    with pytest.warns(LoadWarning, match="33.3 % of the work left out"):
        kept = TWO.with_machine(machine)
    assert kept.jobs.index.tolist() == [1]
    assert kept.procs == 12
    assert kept.dropped["reason"].tolist() == [f"wider than the machine ({machine})"]
    assert kept.dropped["work"].tolist() == [20]
    assert sl.simulate(kept, machine=machine).validate().start.tolist() == [0]


def test_demands_of_memory_nodes_and_further_resources():
    jobs = trace([(0, 10, 10, 4), (0, 10, 10, 3)], requested_memory=[1024, -1], nodes=[2, 1], licenses=[1.5, np.nan])
    machine = sl.Pools({"all": sl.Pool(4, memory="1 GB", licenses=3, unit="nodes")}, column="none")
    places = machine.places(jobs.table, jobs.names)
    assert machine.demands(jobs.table, places).tolist() == [[2, 4096, 2], [1, 0, 0]]
    assert machine.capacity.tolist() == [[4, 2**20, 3]]
    schedule = sl.simulate(jobs, machine=machine).validate()
    assert schedule.jobs["procs"].tolist() == [2, 1]
    assert str(machine) == "pools all (4 nodes, 1 GB of memory, 3 licenses)"


def test_an_interrupted_run_is_a_piece_and_is_measured():
    jobs = trace([(0, 10, 10, 4), (1, 2, 2, 4)], where="a")
    schedule = sl.simulate(jobs, machine=sl.Pools(a=4, closed=sl.Closed(5, 8, announced=1), column="where")).validate()
    assert schedule.pieces[["job_number", "start_time", "end_time"]].to_numpy().tolist() == [
        [1, 0, 5],
        [1, 8, 18],
        [2, 18, 20],
    ]
    assert schedule.jobs["interruptions"].tolist() == [1, 0]
    assert schedule.timeline()[["time", "used", "queued"]].to_numpy().tolist() == [
        [0, 4, 0], [1, 4, 1], [5, 0, 2], [8, 4, 1], [18, 4, 0], [20, 0, 0],
    ]  # fmt: skip
    assert schedule.resources().loc[("a", "procs")].round(6).tolist() == [4, *np.round([68 / 3600, 68 / 3600], 6), 1]
    assert schedule.notes == ("closed windows ended 1 runs of 1 jobs, which were queued again",)
    killed = sl.simulate(
        jobs, machine=sl.Pools(a=4, closed=sl.Closed(5, 8, announced=1), on_closure="kill", column="where")
    ).validate()
    assert killed.jobs[["start_time", "run_time", "killed"]].to_numpy().tolist() == [[0, 5, True], [8, 2, False]]


def test_why_names_limits_windows_and_resources():
    rows = [(0, 10, 10, 4), (1, 5, 5, 1), (2, 30, 30, 1), (3, 20, 20, 2)]
    jobs = trace(rows, where="b", gpus=[4, 1, 0, 1], user=["x", "x", "x", "y"])
    machine = sl.Pools(
        b=sl.Pool(8, gpus=4), closed=sl.Closed(20, 40), limits=sl.Limit("user", running=2), column="where"
    )
    schedule = sl.simulate(jobs, machine=machine).validate()
    assert schedule.start.tolist() == [0, 10, 40, 40]
    assert "For 9 s no GPU was free." in str(schedule.why(2)).splitlines()
    lines = str(schedule.why(3)).splitlines()
    assert "For 20 s what it needs was closed, from 20 s to 40 s." in lines
    assert "For 18 s it would have run into the window from 20 s to 40 s." in lines
    limited = sl.simulate(
        jobs, machine=sl.Pools(b=sl.Pool(8, gpus=8), limits=sl.Limit("user", running=1), column="where")
    )
    assert "For 9 s a limit held it back: at most 1 running of each user." in str(limited.why(2)).splitlines()


def test_what_a_reader_should_know_is_a_note():
    jobs = trace([(0, 10, 10, 4), (0, 10, 10, 2)], where=["a", "b"], gpus=[2, 3], qos=["long", "short"])
    schedule = sl.simulate(jobs, machine=pools(limits=sl.Limit("qos", running={"shrt": 1})))
    assert schedule.notes == (
        "which node, GPU or socket a job gets is not simulated: in a pool it fits if enough of each resource is free",
        "1 jobs ask for gpus in pools that count none (a)",
        "a limit names qos 'shrt', which no job has; did you mean 'short'?",
    )


@pytest.mark.parametrize(
    ("column", "running", "starts", "values"),
    [
        ("user", {np.int64(7): 1, 8: 1}, [0, 10, 20], ["8"]),
        ("user", {"7": 1}, [0, 0, 0], ["'7'"]),
        ("team", {0: 1, 5: 1}, [0, 0, 0], ["0", "5"]),  # 0 is the code of the first text, and no value
        ("team", {np.str_("x"): 1, 7: 1}, [0, 10, 20], ["7"]),
        ("group", {"staff": 1, 4: 1, "root": 1}, [0, 10, 20], ["4", "'root'"]),
        ("group", {3: 1}, [0, 10, 20], []),
    ],
)
def test_limits_name_values_of_the_column_and_others_are_noted(column, running, starts, values):
    jobs = trace([(0, 10, 10, 1)] * 3, user=7, team="x", group_id=3)
    jobs = replace(jobs, people={"group_id": {3: "staff"}})
    machine = sl.Pools({"all": 8}, limits=sl.Limit(column, running=running), column="none")
    schedule = sl.simulate(jobs, machine=machine).validate()
    assert schedule.start.tolist() == starts
    assert schedule.notes == tuple(f"a limit names {column} {value}, which no job has" for value in values)


def test_names_of_numpy_are_plain():
    one, two = np.array([1, 2])
    machine = sl.Pools({one: 4, two: sl.Pool(4, partitions=np.int64(9))}, closed=sl.Closed(0, 5, np.int64(1)))
    assert repr(machine) == repr(sl.Pools({1: 4, 2: sl.Pool(4, partitions=9)}, closed=sl.Closed(0, 5, 1)))
    assert str(sl.Closed(0, 5, 0)) == "0 closed from 0 to 5"


WRONG = {
    "more GPUs than there are": ([0, 0], "6 gpus of pool 'b' are held or closed, of 4"),
    "in a window": ([0, 25], "are held or closed, of"),
    "over a limit": ([0, 12], "2 running of a user are held, a limit allows 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_laws_refuse_wrong_schedules(name):
    starts, message = WRONG[name]
    jobs = trace(
        [(0, 20, 20, 2), (0, 10, 10, 2)], where="b", gpus=[3, 3 if name == "more GPUs than there are" else 0], user="x"
    )
    limits = sl.Limit("user", running=1) if name == "over a limit" else ()
    schedule = sl.simulate(
        jobs, machine=sl.Pools(b=sl.Pool(8, gpus=4), closed=sl.Closed(30, 40), limits=limits, column="where")
    )
    wrong = replace(schedule, outcome=replace(schedule.outcome, start=np.array(starts)))
    with pytest.raises(sl.schedule.ScheduleError, match=message):
        wrong.validate()


def test_a_run_that_no_window_ended_is_refused():
    jobs = trace([(0, 10, 10, 4)], where="a")
    schedule = sl.simulate(jobs, machine=sl.Pools(a=4, closed=sl.Closed(5, 8, announced=1), column="where")).validate()
    runs = schedule.outcome.interrupted
    for wrong in (runs._replace(end=runs.end - 1), runs._replace(start=runs.start + 4)):
        outcome = replace(schedule.outcome, interrupted=wrong)
        with pytest.raises(sl.schedule.ScheduleError, match="job 1 was ended by no window that it did not know of"):
            replace(schedule, outcome=outcome).validate()
