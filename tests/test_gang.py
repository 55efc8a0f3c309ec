"""Gang scheduling: the kernel beside its twin, what jobs do, and the laws and errors of the room above."""

from itertools import chain

import numpy as np
import pytest
import twin_gang
from gang_programs import SCHEDULERS
from hypothesis import given
from hypothesis import strategies as st
from twin_gang import joined
from workloads import examples

import schedlab as sl
from schedlab.kernels import gang as kernel
from schedlab.kernels import variates

NAMES = {
    kernel.IO: "io",
    kernel.EMBARRASSING: "emb",
    kernel.MESSAGES: "msg",
    kernel.BARRIERS: "bsp",
    kernel.INTERACTIVE: "interactive",
}
WHAT = ("computing", "communicating", "spinning", "switching", "idle")
NOBODY = np.zeros(0, "int64")


def rules(pes=2, horizon=1000, scheduler="gang", **changes):
    """Give the kernel's rules; times are a few ns."""
    given = {
        "slice": 100,
        "switch": 3,
        "latency": 2,
        "overhead": 1,
        "delta": 6,
        "max_tasks": 10,
        "statements": 1,
        "alpha": 2.0,
        "beta": 0.3,
        "floor": 0.001,
        "both": True,
        "packing": kernel.FIRST_FIT,
        "unify": False,
        "alternate": False,
        "law": variates.EXPONENTIAL,
        "compute": 10,
        "disk": 10,
        "gap": 5,
        "superstep": 8,
        "react": 4,
        "think": 20,
        "imbalance": 0.0,
    }
    chosen = {"priority": scheduler != "gang", "spin_block": scheduler == "spin-block"}
    return kernel.Rules(pes=pes, horizon=horizon, **chosen, **given | changes)


def settings_of(rules):
    """Say the same to the twin."""
    scheduler = "spin-block" if rules.spin_block else "priority" if rules.priority else "gang"
    names = set(twin_gang.Settings.__dataclass_fields__) - {"scheduler", "packing"}
    packing = {code: name for name, code in sl.gang.PACKINGS.items()}[rules.packing]
    return twin_gang.Settings(scheduler=scheduler, packing=packing, **{name: getattr(rules, name) for name in names})


def arrays(jobs):
    """Give jobs, (arrival, size, kind, demand, key), as the kernel takes them."""
    table = np.array(jobs, "int64").reshape(-1, 5)
    return tuple(np.ascontiguousarray(column) for column in table.T)


def run(rules, jobs, watched=NOBODY, logged=1 << 14, room=64):
    full, *outcome = kernel.gang(*arrays(jobs), rules, room, logged, 0, rules.horizon, watched)
    assert full == 0
    return outcome


def twin_jobs(rules, jobs):
    """Write what the kernel draws for each task as a program for the twin."""
    arrival, size, kind, demand, key = arrays(jobs)
    full, operations, _ = kernel.programs(size, kind, demand, key, rules, 256, 1 << 14)
    assert full == 0
    first = np.cumsum(size) - size
    owner = np.repeat(np.arange(size.size), size)
    steps = [[] for _ in owner]
    for task, *step in operations.T.tolist():
        steps[task].append(step)

    def receives(task, place):
        return sum(operation == kernel.RECEIVE for _, operation, *_ in steps[task][:place])

    def operation(task, at):
        _, name, more, place = steps[task][at]
        if name == kernel.SEND:
            return "send", more - int(first[owner[task]]), receives(more, place)
        if name == kernel.RECEIVE:
            return "recv", receives(task, at)
        return {
            kernel.END: ("end",),
            kernel.BARRIER: ("barrier",),
            kernel.DISK: ("io", more),
            kernel.THINK: ("think", more),
            kernel.LAST_DISK: ("io", more, "end"),
            kernel.LAST_THINK: ("think", more, "end"),
        }[name]

    def program(task):
        return [(steps[task][at][0], operation(task, at)) for at in range(len(steps[task]))]

    return [
        twin_gang.Job(when, NAMES[what], [program(task) for task in range(begin, begin + many)])
        for when, many, what, begin in zip(*(each.tolist() for each in (arrival, size, kind, first)), strict=True)
    ]


@st.composite
def cases(draw, schedulers=SCHEDULERS, kinds=tuple(NAMES), most=7, laws=(0, 1, 1, 2)):
    """Draw (rules, jobs) full of ties."""
    pes = draw(st.integers(1, 6))
    length = draw(st.sampled_from([8, 12, 20, 40]))
    few = st.sampled_from([1, 2, 3, 4, 8])
    alpha, beta = draw(st.sampled_from([(2.0, 0.3), (2.0, 0.3), (2.0, 0.9), (1.0, 0.5), (2.0, 0.0)]))
    chosen = rules(
        pes,
        draw(st.integers(1, 14 * length)),
        draw(st.sampled_from(schedulers)),
        slice=length,
        switch=draw(st.integers(1, 4)),
        latency=draw(st.integers(1, 2)),
        overhead=draw(st.integers(1, 2)),
        delta=draw(st.sampled_from([0, 1, 2, 4, 8])),
        alpha=alpha,
        beta=beta,
        max_tasks=draw(st.sampled_from([1, 2, 3, 10])),
        statements=draw(st.integers(1, 3)),
        floor=draw(st.sampled_from([0.0, 0.001, 0.05])),
        both=draw(st.booleans()),
        law=draw(st.sampled_from(laws)),
        imbalance=draw(st.sampled_from([0.0, 0.0, 0.5])),
        packing=draw(st.sampled_from([kernel.FIRST_FIT, kernel.FIRST_FIT, kernel.BEST_FIT, kernel.BUDDY])),
        unify=draw(st.booleans()),
        alternate=draw(st.booleans()),
        **{name: draw(few) for name in ("compute", "disk", "gap", "superstep", "react", "think")},
    )
    jobs = [
        (
            draw(st.integers(0, 16)) * (length // 4),
            draw(st.one_of(st.integers(1, pes), st.just(pes))),
            draw(st.sampled_from(kinds)),
            draw(st.one_of(st.integers(1, 4 * length), st.sampled_from([1, 4, length - chosen.switch, length]))),
            draw(st.integers(0, 2**32 - 1)),
        )
        for _ in range(draw(st.integers(0, most)))
    ]
    return chosen, sorted(jobs, key=lambda job: job[0])


@pytest.mark.reduced
@examples(1000)
@given(cases())
def test_the_kernel_is_its_twin(case):
    check_twin(*case)


def check_twin(rules, jobs):
    twin = twin_gang.simulate(settings_of(rules), twin_jobs(rules, jobs))
    rows, tasks, members, pes, log, _, _ = run(rules, jobs)
    placed = rows[kernel.PLACED]
    done = (placed >= 0) & (rows[kernel.LEFT] == 0) & (rows[kernel.FINISH] <= rules.horizon)
    assert twin.placed == placed.tolist()
    assert twin.completed == np.where(done, rows[kernel.FINISH], -1).tolist()
    assert list(chain(*twin.pe)) == tasks[kernel.PE].tolist()
    assert list(chain(*twin.computed)) == tasks[kernel.COMPUTED].tolist()
    there = tasks[kernel.PE] >= 0
    for name, row in (("S", kernel.S_IO), ("f", kernel.F_IO)):
        measured = np.array(list(chain(*getattr(twin, name)))).reshape(-1, 3)
        np.testing.assert_allclose(members[row : row + 3, there].T, measured[there], rtol=1e-12, atol=0)
    assert [tuple(each[what] for what in WHAT) for each in twin.totals] == [
        tuple(column) for column in pes[kernel.TIME_COMPUTING : kernel.TIME_IDLE + 1].T.tolist()
    ]
    assert twin.segments == segments(rows, tasks, log)


def segments(rows, tasks, log):
    """Give the kernel's log as the twin has it."""
    found = []
    for pe, task, what, begin, end, *_ in log.T.tolist():
        job = int(tasks[kernel.JOB, task]) if task >= 0 else -1
        rank = task - int(rows[kernel.FIRST, job]) if task >= 0 else -1
        found.append((pe, job, rank, WHAT[what], begin, end))
    return joined(found)
