"""The kernels for machines of several pools against the naive twin, and what must change nothing."""

from dataclasses import replace
from math import inf

import numpy as np
import pandas as pd
import pytest
import twin_pools as twin
from hypothesis import given
from hypothesis import strategies as st
from twin_pools import Job
from workloads import examples, pick, trace_of, workloads

import schedlab as sl

RESOURCES = ("procs", "gpus", "memory")
NAMES = ("a", "b", "c")


def xfactor(now, submit, estimate):
    return -(now - submit + estimate) * 27720 // estimate  # in whole numbers


# Each order as the package and as the twin take it.
ORDERS = {
    "fcfs": ("fcfs", None),
    "sjf": ("sjf", lambda job, now: job.estimate),
    "wide": ("wide", lambda job, now: -job.demands[0]),
    "xfactor": (xfactor, lambda job, now: xfactor(now, job.submit, job.estimate)),
}


def odd(estimate):
    return estimate % 3 != 0


SCHEMES = {
    "fcfs": lambda order, backfill: (sl.FCFS(order[0]), ("fcfs", order[1], {})),
    "easy": lambda order, backfill: (
        sl.EASY(order[0], backfill=backfill and backfill[0]),
        ("easy", order[1], {"backfill": backfill and backfill[1]}),
    ),
    "veto": lambda order, backfill: (
        sl.EASY(order[0], backfill=backfill and backfill[0], may_backfill=odd),
        ("easy", order[1], {"backfill": backfill and backfill[1], "may_backfill": lambda job, now: odd(job.estimate)}),
    ),
    "three reservations": lambda order, backfill: (
        sl.EASY(order[0], backfill=backfill and backfill[0], reservations=3, may_backfill=odd),
        (
            "easy",
            order[1],
            {
                "backfill": backfill and backfill[1],
                "reservations": 3,
                "may_backfill": lambda job, now: odd(job.estimate),
            },
        ),
    ),
    **{
        f"conservative {rule} {compress_on} {repeat}": lambda order, backfill, settings=settings: (
            sl.Conservative(order[0], **settings),
            ("conservative", order[1], settings),
        )
        for rule, compress_on, repeat in (
            ("queue", "early", False),
            ("queue", "completion", True),
            ("reservation", "early", True),
            ("reservation", "completion", False),
            ("none", "early", False),
            ("rebuild", "early", False),
        )
        for settings in ({"compression": rule, "compress_on": compress_on, "repeat": repeat},)
    },
}


@st.composite
def clusters(draw, announced=(inf, 0, 3, 9), limited=(True, False)):
    """Draw jobs of two users, and a machine of up to three pools and resources, with windows and limits."""
    plain, procs = draw(workloads(most=9))
    pools, resources = pick(draw, (1, 2, 3), (1, 2, 3))
    capacity = dict.fromkeys(NAMES[:pools], (procs, 4, 6)[:resources])
    jobs = []
    for i, job in enumerate(sorted(plain, key=lambda job: job.submit)):
        gpus, memory, name, user, qos = pick(draw, range(5), range(7), NAMES[:pools], "xy", "pq")
        columns = {"user": user, "qos": qos}
        demands = (job.procs, gpus, memory)[:resources]
        jobs.append(Job(i + 1, job.submit, job.run, job.estimate, demands, name, columns))
    closed = []
    for name in NAMES[:pools]:
        now = 0
        for _ in range(draw(st.sampled_from([1, 2, 0]))):
            wait, length, amount, known = pick(draw, (5, 0, 2, 3, 12), range(1, 9), (None, 1, 2), announced)
            now += wait
            amounts = amount and (min(amount, procs), *(amount,) * (resources - 1))
            closed.append(twin.Closed(now, now + length, name, amounts, known))
            now += length
    choices = [(), (twin.Limit("user", running=1),), (twin.Limit("user", running={"x": 2}, procs=procs),)]
    choices.append((twin.Limit("user", procs=procs + 2), twin.Limit("qos", running=3, procs=procs + 1)))
    limits, closure = pick(draw, choices if any(limited) else [()], ("requeue", "kill"))
    served = {name: twin.Pool(capacity[name], (name,)) for name in capacity}
    return jobs, twin.Machine(served, RESOURCES[:resources], closed, limits, closure)


def as_trace(jobs, machine):
    """Return the twin's jobs as a trace."""
    trace = trace_of([(job.submit, job.run, job.estimate, job.demands[0]) for job in jobs], machine=10**6)
    columns = {name: [job.columns[name] for job in jobs] for name in jobs[0].columns}
    columns["where"] = [job.partition for job in jobs]
    for i, name in enumerate(machine.resources[1:], start=1):
        columns[name] = [job.demands[i] for job in jobs]
    if "memory" in columns:
        columns["requested_memory"] = np.array(columns.pop("memory")) / [max(job.demands[0], 1) for job in jobs]
    return replace(trace, table=trace.table.assign(**columns))


def as_pools(machine, **more):
    """Return the twin's machine as the package's."""
    names = machine.resources
    closed = [
        sl.Closed(
            window.begin,
            window.end,
            window.pool,
            None if window.announced == inf else window.announced,
            **(dict(zip(names, window.amounts, strict=True)) if window.amounts else {}),
        )
        for window in machine.closed
    ]
    limits = [
        sl.Limit(limit.column, **{k: v for k, v in limit._asdict().items() if k != "column" and v is not None})
        for limit in machine.limits
    ]
    pools = {name: sl.Pool(**dict(zip(names, pool.capacity, strict=True))) for name, pool in machine.pools.items()}
    settings = {"closed": closed, "limits": limits, "on_closure": machine.on_closure, "column": "where"}
    return sl.Pools(pools, **settings | more)


def rows_of(schedule):
    """Return the pieces as the twin does, and the promises."""
    pieces = schedule.outcome.pieces
    origin = schedule.origin
    rows = zip(pieces.job + 1, pieces.start + origin, pieces.end + origin, strict=True)
    promise = {i + 1: int(t) for i, t in enumerate(schedule.promise) if t >= 0}
    return [tuple(map(int, row)) for row in rows], promise


@pytest.mark.parametrize("scheme", SCHEMES)
@examples(200)
@given(clusters(), st.sampled_from(sorted(ORDERS)), st.sampled_from([None, "sjf", "wide"]))
def test_the_twin_agrees(scheme, cluster, order, backfill):
    jobs, machine = cluster
    own, (name, key, settings) = SCHEMES[scheme](ORDERS[order], ORDERS.get(backfill))
    schedule = sl.simulate(as_trace(jobs, machine), own, machine=as_pools(machine)).validate()
    assert rows_of(schedule) == twin.simulate(jobs, machine, name, key, **settings)


FORMS = ("fcfs", "easy", "easy-sjbf", "conservative", sl.Conservative(compression="none"), sl.EASY(reservations=3))


@pytest.mark.parametrize("scheme", FORMS, ids=str)
def test_what_changes_nothing(scheme):
    # "Equalities that must hold job by job"
    trace = sl.model_trace("lublin", jobs=1500, machine=128, seed=5).scale_load(1.0)
    gpus = trace.table["requested_procs"].to_numpy() * 3
    trace = replace(trace, table=trace.table.assign(gpus=gpus, none=0, where=1))
    flat = sl.simulate(trace, scheme)
    late = sl.Closed(10**9, 10**9 + 1)
    wide = sl.Limit("where", running=10**6)
    machines = {
        "one resource": sl.Pools({1: 128}, column="where"),
        "a window beyond the last end": sl.Pools({1: 128}, closed=late, column="where"),
        "a limit nobody reaches": sl.Pools({1: 128}, limits=wide, column="where"),
        "a resource nobody needs": sl.Pools({1: sl.Pool(128, none=0)}, column="where"),
        "a proportional resource": sl.Pools({1: sl.Pool(128, gpus=3 * 128)}, column="where"),
        "an empty pool": sl.Pools({1: sl.Pool(128, gpus=384), 2: 64}, limits=wide, closed=late, column="where"),
    }
    for name, machine in machines.items():
        schedule = sl.simulate(trace, scheme, machine=machine).validate()
        assert (schedule.start == flat.start).all(), name
        assert (schedule.promise == flat.promise).all(), name
        assert (schedule.started_by == flat.started_by).all(), name


@pytest.mark.parametrize("scheme", ["fcfs", "easy", "conservative", "easy-fairshare", "conservative-multifactor"])
def test_two_pools_are_two_simulations(scheme):
    logs = [sl.model_trace("lublin", jobs=600, machine=64, seed=seed).scale_load(0.9) for seed in (1, 2)]
    logs = [replace(log, table=log.table.assign(user=np.arange(600) % 7)) for log in logs]
    window = sl.Closed(20_000, 60_000, announced=5_000)
    alone = [
        sl.simulate(log, scheme, machine=sl.Pools({"all": sl.Pool(64)}, closed=window, column="none")) for log in logs
    ]
    table = pd.concat([log.table.assign(where=name) for log, name in zip(logs, "ab", strict=True)], ignore_index=True)
    table.index = pd.Index(np.arange(1, 1201), name="job_number")
    together = replace(logs[0], table=table, procs=128)
    for limits in ((), sl.Limit("where", running=10**6)):
        machine = sl.Pools(a=64, b=64, closed=window, limits=limits, column="where")
        schedule = sl.simulate(together, scheme, machine=machine).validate()
        for name, part in zip("ab", alone, strict=True):
            mine = together.table["where"] == name
            assert (schedule.start[mine] == part.start).all()
            assert (schedule.outcome.interruptions[mine] == part.outcome.interruptions).all()


def test_a_window_of_another_pool_gives_no_pass():
    # On 4 processors; each user may run one job. At 1 job 3 starts and job 4 is held back by the limit, so a completion
    # in any pool gives a pass. The window of the empty pool gives none: job 2 keeps its reservation at 8, where job 1
    # should end.
    rows = [(0, 0, 8, 4, "z"), (0, 1, 1, 2, "x"), (1, 2, 2, 2, "x"), (1, 1, 1, 1, "x")]
    jobs = [Job(i, *row[:3], row[3:4], "a", {"user": row[4]}) for i, row in enumerate(rows, start=1)]
    pools = {name: twin.Pool((4,), (name,)) for name in "ab"}
    limits = [twin.Limit("user", running=1)]
    for closed in ((), [twin.Closed(2, 3, "b")]):
        machine = twin.Machine(pools, ("procs",), closed, limits)
        scheme = sl.Conservative(compression="none")
        schedule = sl.simulate(as_trace(jobs, machine), scheme, machine=as_pools(machine)).validate()
        assert schedule.start.tolist() == [0, 8, 1, 3]


def fewest_running(user_running):
    return user_running


def most_queued(user_queued):
    return -user_queued


def least_usage(plain_usage=sl.Usage("user", half_life=None)):
    return plain_usage


@pytest.mark.parametrize(
    ("order", "starts"),
    [(fewest_running, [8, 0, 18]), (most_queued, [8, 0, 18]), (least_usage, [18, 0, 8]), ("fcfs", [8, 0, 18])],
)
@pytest.mark.parametrize("limits", [(), sl.Limit("user", running=9)], ids=["alone", "coupled"])
def test_sums_know_of_runs_that_windows_end(order, starts, limits):
    # Job 1 of user 1 runs in [0, 5), is ended by the window, and waits again beside job 3 of user 2.
    trace = trace_of([(0, 10, 10, 3), (0, 3, 3, 1), (6, 10, 10, 3)], machine=10)
    trace = replace(trace, table=trace.table.assign(user=[1, 2, 2], where="a"))
    window = sl.Closed(5, 8, announced=0)
    machine = sl.Pools(a=4, b=1, closed=window, limits=limits, column="where")
    schedule = sl.simulate(trace, sl.FCFS(order), machine=machine).validate()
    assert schedule.start.tolist() == starts
