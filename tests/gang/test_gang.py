"""Gang scheduling: the kernel against its twin, the operations of jobs, and the laws and errors of `schedlab.gang`."""

import math
import re
import time
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import chain

import numpy as np
import pandas as pd
import pytest
import twin_gang
from gang_programs import SCHEDULERS, crowded, gang_workloads
from hypothesis import assume, given
from hypothesis import strategies as st
from twin_gang import joined
from workloads import examples, integers, named, pick

import schedlab as sl
from schedlab import metrics, statistics
from schedlab._runtime.threads import interruptible
from schedlab.gang import Config, Workload, simulate, simulate_many
from schedlab.kernels import variates
from schedlab.kernels._jit import kernel as compiled
from schedlab.kernels.gang import state
from schedlab.kernels.gang.listing import list_operations
from schedlab.kernels.gang.slices import gang
from schedlab.schedule import ScheduleError
from schedlab.workload.models.jann import HyperErlang, jann_table

NAMES = {
    state.IO: "io",
    state.EMBARRASSING: "emb",
    state.MESSAGES: "msg",
    state.BARRIERS: "bsp",
    state.INTERACTIVE: "interactive",
}
RECLAIMING = ("priority", "round-robin")  # schedulers that can be combined with reclaim
WHAT = ("computing", "communicating", "spinning", "switching", "idle")
NOBODY = np.zeros(0, "int64")


def rules(pes=2, horizon=1000, scheduler="gang", **changes):
    """Return the kernel's rules; times are a few ns."""
    times = {"slice": 100, "switch": 3, "latency": 2, "overhead": 1, "delta": 6, "compute": 10, "disk": 10, "gap": 5}
    times |= {"superstep": 8, "react": 4, "think": 20}
    own = {"pes": pes, "horizon": horizon, "beta": 0.3}
    return Config(scheduler).rules(pes, 1, 10)._replace(**own | times | changes)


def settings_of(rules):
    """Return the same settings for the twin."""
    flags = {"spin-block": rules.spin_block, "round-robin": rules.round_robin, "priority": rules.priority, "gang": True}
    scheduler = next(name for name, flag in flags.items() if flag)
    names = set(twin_gang.Settings.__dataclass_fields__) - {"scheduler", "packing"}
    packing = {code: name for name, code in sl.gang.PACKINGS.items()}[rules.packing]
    return twin_gang.Settings(scheduler=scheduler, packing=packing, **{name: getattr(rules, name) for name in names})


def arrays(jobs):
    """Return jobs, (arrival, size, kind, demand, key), as the kernel takes them, and no programs."""
    table = np.array(jobs, "int64").reshape(-1, 5)
    columns = (np.ascontiguousarray(column) for column in table.T)
    return state.Jobs(*columns), state.Programs(np.zeros(table[:, 1].sum() + 1, "int64"), np.zeros((0, 4), "int64"))


def run(rules, jobs):
    full, *outcome = interruptible(gang, *arrays(jobs), rules, 64, state.Logging(1 << 14, 0, rules.horizon), NOBODY)
    assert full == 0
    return outcome


def twin_jobs(rules, jobs, listed=1 << 14):
    """Write what the kernel draws for each task as a program for the twin."""
    (arrival, size, kind, *_), _ = arrays(jobs)
    full, operations, _ = list_operations(*arrays(jobs), rules, 256, listed)
    assert full == 0
    first = np.cumsum(size) - size
    owner = np.repeat(np.arange(size.size), size)
    steps = [[] for _ in owner]
    for task, *step in operations.T.tolist():
        steps[task].append(step)

    def receives(task, place):
        return sum(operation == state.RECEIVE for _, operation, *_ in steps[task][:place])

    def operation(task, at):
        _, name, more, place = steps[task][at]
        if name == state.SEND:
            return "send", more - int(first[owner[task]]), receives(more, place)
        if name == state.RECEIVE:
            return "recv", receives(task, at)
        return {
            state.END: ("end",),
            state.BARRIER: ("barrier",),
            state.DISK: ("io", more),
            state.THINK: ("think", more),
            state.LAST_DISK: ("io", more, "end"),
            state.LAST_THINK: ("think", more, "end"),
        }[name]

    def program(task):
        return [(steps[task][at][0], operation(task, at)) for at in range(len(steps[task]))]

    return [
        twin_gang.Job(when, NAMES[what], [program(task) for task in range(begin, begin + many)])
        for when, many, what, begin in zip(*(each.tolist() for each in (arrival, size, kind, first)), strict=True)
    ]


@st.composite
def rules_and_jobs(draw, schedulers=SCHEDULERS, kinds=tuple(NAMES), most=7, laws=(0, 1, 1, 2)):
    """Draw (rules, jobs) full of ties."""
    drawn = named(
        draw,
        pes=range(1, 7),
        scheduler=schedulers,
        slice=(8, 12, 20, 40),
        switch=range(1, 5),
        latency=(1, 2),
        overhead=(1, 2),
        delta=(0, 1, 2, 4, 8),
        max_tasks=(1, 2, 3, 10),
        statements=(1, 2, 3),
        thresholds=((2.0, 0.3), (2.0, 0.3), (2.0, 0.9), (1.0, 0.5), (2.0, 0.0)),
    )
    drawn |= named(
        draw,
        floor=(0.0, 0.001, 0.05),
        window=(0, 0, 1, 2, 3, 5),
        both=(False, True),
        law=laws,
        imbalance=(0.0, 0.0, 0.5),
        packing=(state.FIRST_FIT, state.FIRST_FIT, state.BEST_FIT, state.BUDDY),
        unify=(False, True),
        alternate=(False, True),
        reclaim=(False, True),
    )
    drawn |= named(draw, **dict.fromkeys(("compute", "disk", "gap", "superstep", "react", "think"), (1, 2, 3, 4, 8)))
    alpha, beta = drawn.pop("thresholds")
    drawn["reclaim"] &= drawn["scheduler"] in RECLAIMING
    pes, length = drawn["pes"], drawn["slice"]
    chosen = rules(horizon=draw(integers(1, 14 * length)), alpha=alpha, beta=beta, **drawn)
    widths = (*range(1, pes + 1), *[pes] * pes)
    demands = (*range(1, 4 * length + 1), *[1, 4, length - chosen.switch, length] * length)
    jobs = []
    for _ in range(draw(integers(0, most))):
        (arrival, width), (kind, demand) = pick(draw, range(17), widths), pick(draw, kinds, demands)
        jobs.append((arrival * (length // 4), width, kind, demand, draw(integers(0, 2**32 - 1))))
    return chosen, sorted(jobs, key=lambda job: job[0])


@pytest.mark.reduced
@examples(1000)
@given(rules_and_jobs())
def test_the_kernel_is_its_twin(workload):
    check_twin(*workload)


def test_a_choice_waits_for_messages_to_tasks_that_made_room():
    # One of two tasks that communicate has made room until a message; this arrives before the other's spin is checked.
    times = {"slice": 40, "switch": 1, "latency": 1, "delta": 0, "compute": 2, "disk": 2, "gap": 8, "superstep": 4}
    settings = {"alpha": 1.0, "statements": 8, "floor": 0.05, "law": variates.CONSTANT}
    jobs = [
        (40, 3, state.BARRIERS, 169, 3598558261),
        (60, 3, state.MESSAGES, 187, 2925081562),
        (60, 3, state.IO, 83, 1766241742),
    ]
    check_twin(rules(3, 382, "spin-block", **times, **settings), jobs)


@pytest.mark.reduced
@examples(1000)
@given(gang_workloads(most=5), st.booleans())
def test_programs_are_those_of_the_twin(workload, reclaim):
    # Also messages, barriers, disk and thinking in one task, which the model's kinds of jobs never mix.
    settings, jobs = workload
    settings = replace(settings, reclaim=reclaim and settings.scheduler in RECLAIMING)
    names = twin_gang.Settings.__dataclass_fields__.keys() - {"packing"}
    chosen = rules(**{name: getattr(settings, name) for name in names})
    logging = state.Logging(1 << 14, 0, chosen.horizon)
    full, *outcome = interruptible(gang, *arrays_of_programs(jobs), chosen, 64, logging, NOBODY)
    assert full == 0
    compare(twin_gang.simulate(settings, jobs), chosen, *outcome[:5])


CODES = {
    "io": (state.DISK, state.LAST_DISK),
    "think": (state.THINK, state.LAST_THINK),
    "barrier": (state.BARRIER,),
    "end": (state.END,),
}


def arrays_of_programs(jobs):
    """Return jobs of the twin, with their programs, as the kernel takes them."""
    begins, given = [0], []
    for job in jobs:
        first = len(begins) - 1
        steps = [(rank, at, step) for rank, program in enumerate(job.programs) for at, step in enumerate(program)]
        senders = {tuple(more): first + rank for rank, _, (_, (name, *more)) in steps if name == "send"}
        receives = {(rank, *more): at for rank, at, (_, (name, *more)) in steps if name == "recv"}
        for rank, program in enumerate(job.programs):
            for compute, (name, *more) in program:
                if name == "send":
                    operation = state.SEND, first + more[0], receives[tuple(more)]
                elif name == "recv":
                    operation = state.RECEIVE, senders[rank, *more], state.NEVER
                else:
                    operation = CODES[name][more[-1:] == ["end"]], more[0] if more else 0, 0
                given.append((compute, *operation))
            begins.append(len(given))
    kinds = [state.INTERACTIVE if job.kind == "interactive" else state.EMBARRASSING for job in jobs]
    asked, _ = arrays([(job.arrival, job.size, kind, 1, 0) for job, kind in zip(jobs, kinds, strict=True)])
    return asked, state.Programs(np.array(begins), np.array(given, "int64").reshape(-1, 4))


@pytest.mark.reduced
@examples(100)
@given(gang_workloads(most=5), st.booleans())
def test_programs_of_ones_own_are_those_of_the_twin(workload, reclaim):
    # The tables of the room: reading them takes ten times as long as the kernel and the twin do.
    settings, jobs = workload
    assume(jobs)
    check_programs(replace(settings, reclaim=reclaim and settings.scheduler in RECLAIMING), jobs)


def check_programs(settings, jobs):
    """Give programs to the kernel, as a user would, and to the twin."""
    times = {name: getattr(settings, name) / 1e9 for name in ("slice", "switch", "latency", "overhead", "delta")}
    names = ("scheduler", "alpha", "beta", "max_tasks", "statements", "floor", "both", "reclaim")
    config = Config(**times, window=settings.window or None, **{name: getattr(settings, name) for name in names})
    table = pd.DataFrame({"submit_time": [job.arrival / 1e9 for job in jobs], "kind": [job.kind for job in jobs]})
    workload = Workload(pes=settings.pes, horizon=settings.horizon / 1e9, jobs=table, programs=as_programs(jobs))
    found = simulate(workload, config, log=(0, workload.horizon)).validate()
    rows = (found.job_rows, found.task_rows, found.member_rows, found.pe_rows, found.log_rows)
    twin = twin_gang.simulate(settings, jobs)
    compare(twin, found.rules, *rows)
    disk, overlap = (sum(times) for times in zip(*twin.disk, strict=True))
    assert found.io_overlap == pytest.approx(overlap / disk if disk else math.nan, nan_ok=True)
    again = replace(workload, programs=found.programs())
    assert again == workload
    np.testing.assert_array_equal(simulate(again, config).pe_rows, found.pe_rows)


TABLE = {"io": "disk", "recv": "receive"}  # what a table calls the twin's operations


def as_programs(jobs):
    """Write programs of the twin as the table that a workload takes."""
    rows = []
    for number, job in enumerate(jobs, 1):
        steps = [(rank, *step) for rank, program in enumerate(job.programs) for step in program]
        senders = {tuple(more): rank for rank, _, (name, *more) in steps if name == "send"}
        for rank, compute, (name, *more) in steps:
            row = {"job_number": number, "rank": rank, "compute": compute / 1e9, "operation": TABLE.get(name, name)}
            if name in ("io", "think"):
                row["seconds"] = more[0] / 1e9
            if name in ("send", "recv"):
                row["peer"] = more[0] if name == "send" else senders[rank, more[0]]
            rows.append(row)
    return pd.DataFrame(rows)


def test_the_task_of_the_row_reclaims_its_pe():
    # Job 0 waits for its disk from 13 to 53; job 1 is chosen at 13, and has the PE until 100, or until 53.
    jobs = [twin_gang.Job(0, "io", [[(10, ("io", 40)), (30, ("end",))]]), twin_gang.Job(0, "emb", [[(500, ("end",))]])]
    table = pd.DataFrame({"submit_time": [0.0, 0.0]})
    workload = Workload(pes=1, horizon=100e-9, jobs=table, programs=as_programs(jobs))
    settings = {"slice": 100e-9, "switch": 3e-9, "latency": 2e-9, "overhead": 1e-9}
    for reclaim, expected in ((False, [0, 0, 1, 1]), (True, [0, 0, 1, 1, 0, 0, 1, 1])):
        found = simulate(workload, Config("priority", reclaim=reclaim, **settings), log=(0, 1)).validate()
        assert [job - 1 for job in found.log["job_number"]] == expected
        assert found.jobs["end_time"].notna().tolist() == [reclaim, False]
    assert found.jobs["end_time"][1] == pytest.approx(86e-9)  # a switch of 3 and 30 from 53 on


@pytest.mark.reduced
@pytest.mark.parametrize("seed", [182, 253, 309, *range(20)])
def test_a_spin_is_looked_at_if_a_task_with_io_may_come_back(seed):
    # A task that has itself made room until a message: this happens in the first three of these, and in one of a
    # hundred.
    check_programs(*crowded(seed))


def check_twin(rules, jobs):
    twin = twin_gang.simulate(settings_of(rules), twin_jobs(rules, jobs))
    rows, tasks, members, pes, log, _, _ = run(rules, jobs)
    compare(twin, rules, rows, tasks, members, pes, log)


def compare(twin, rules, rows, tasks, members, pes, log):
    placed = rows[state.PLACED]
    done = (placed >= 0) & (rows[state.LEFT] == 0) & (rows[state.FINISH] <= rules.horizon)
    assert twin.placed == placed.tolist()
    assert twin.completed == np.where(done, rows[state.FINISH], -1).tolist()
    assert list(chain(*twin.pe)) == tasks[state.PE].tolist()
    assert list(chain(*twin.computed)) == tasks[state.COMPUTED].tolist()
    there = tasks[state.PE] >= 0
    for name, row in (("S", state.S_IO), ("f", state.F_IO)):
        measured = np.array(list(chain(*getattr(twin, name)))).reshape(-1, 3)
        np.testing.assert_allclose(members[row : row + 3, there].T, measured[there], rtol=1e-12, atol=0)
    assert [tuple(each[what] for what in WHAT) for each in twin.totals] == [
        tuple(column) for column in pes[state.TIME_COMPUTING : state.TIME_IDLE + 1].T.tolist()
    ]
    later = np.maximum(pes[state.DISK_FREE] - rules.horizon, 0)
    assert twin.disk == list(zip((pes[state.DISK_TIME] - later).tolist(), pes[state.OVERLAP].tolist(), strict=True))
    assert twin.segments == segments(rows, tasks, log)


def segments(rows, tasks, log):
    """Return the kernel's log as the twin has it."""
    found = []
    for pe, task, what, begin, end, *_ in log.T.tolist():
        job = int(tasks[state.JOB, task]) if task >= 0 else -1
        rank = task - int(rows[state.FIRST, job]) if task >= 0 else -1
        found.append((pe, job, rank, WHAT[what], begin, end))
    return joined(found)


@pytest.mark.reduced
def test_too_little_room_is_said():
    jobs = [(0, 3, state.MESSAGES, 500, 1)]
    chosen = rules(3)
    assert interruptible(gang, *arrays(jobs), chosen, 1, state.Logging(0, 0, 0), NOBODY)[0] == state.NO_ROOM
    assert interruptible(gang, *arrays(jobs), chosen, 64, state.Logging(9, 0, 1000), NOBODY)[0] == state.NO_LOG
    assert list_operations(*arrays(jobs), chosen, 64, 9)[0] == state.NO_LOG


# --- Packings, unification and alternation, by hand: slices of 100 ns, switches of 3 ---
def emb(*jobs):
    return [(0, size, state.EMBARRASSING, demand, 0) for size, demand in jobs]


@pytest.mark.reduced
@pytest.mark.parametrize(
    ("packing", "sizes", "pes"),
    [
        # Row 0 has two columns left and row 1 one, when the job of one task comes.
        (state.FIRST_FIT, (2, 3, 1), [0, 1, 0, 1, 2, 2]),
        (state.BEST_FIT, (2, 3, 1), [0, 1, 0, 1, 2, 3]),
        (state.BUDDY, (2, 3, 1), [0, 1, 0, 1, 2, 2]),
        # A block of two begins at an even column.
        (state.FIRST_FIT, (1, 2), [0, 1, 2]),
        (state.BEST_FIT, (1, 2), [0, 1, 2]),
        (state.BUDDY, (1, 2), [0, 2, 3]),
        # Three tasks take a block of four, of which the fourth column is left for others.
        (state.BUDDY, (3, 1), [0, 1, 2, 3]),
    ],
)
def test_packings(packing, sizes, pes):
    _, tasks, *_ = run(rules(4, 50, packing=packing), emb(*((size, 10) for size in sizes)))
    assert tasks[state.PE].tolist() == pes


@pytest.mark.reduced
@pytest.mark.parametrize(
    ("changes", "ends"),
    [
        # Jobs 0 and 1 have row 0, job 2 has row 1; job 0 leaves at 23. Jobs 1 and 2 take turns: job 1 runs at 3-100,
        # 200-300 and, its row being the only one, from 400 on; job 2 at 103-200 and from 300 on.
        ({}, [23, 503, 303]),
        # At 100 there is one row for both.
        ({"unify": True}, [23, 303, 203]),
        # At 100 it is the turn of row 1, where PE 1 is free for job 1; at 200 of row 0, where PE 0 is free for job 2.
        ({"alternate": True}, [23, 303, 203]),
    ],
)
def test_unification_and_alternation(changes, ends):
    rows, *_ = run(rules(2, 600, **changes), emb((1, 20), (1, 300), (1, 100)))
    assert rows[state.FINISH].tolist() == ends


# --- What jobs do ---
def plain_mixed(x):
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x ^= x >> shift
        x = x * factor % 2**32
    return x ^ x >> 16


def plain_bits(key, place):
    return plain_mixed((plain_mixed(place ^ key) + plain_mixed(key ^ 0x9E3779B9)) % 2**32)


def plain_draw(law, mean, key, place):
    u = (plain_bits(key, place) + 0.5) / 2**32
    factor = {variates.CONSTANT: 1, variates.UNIFORM: 2 * u, variates.EXPONENTIAL: -math.log(u)}[law]
    return max(1, math.floor(mean * factor + 0.5))


def plain_messages(law, gap, size, demand, key):
    """Draw pair after pair, as the specification has it, section 3.5."""
    left, programs = [demand] * size, [[] for _ in range(size)]
    stream, pair = plain_bits(key, 0), -1

    def end(rank):
        programs[rank].append((left[rank], ("end",)))
        left[rank] = 0

    while any(left):
        pair += 1
        number = plain_bits(stream ^ 0x5BD1E995, pair) * size * (size - 1) // 2**32
        ranks = number // (size - 1), number % (size - 1)
        sender, receiver = ranks[0], ranks[1] + (ranks[1] >= ranks[0])
        if not (left[sender] and left[receiver]):
            continue
        before = [plain_draw(law, gap, stream, 2 * pair + i) for i in range(2)]
        exhausted = [r for r, time in zip((sender, receiver), before, strict=True) if time >= left[r]]
        if not exhausted:
            index = sum(operation[0] == "recv" for _, operation in programs[receiver])
            programs[sender].append((before[0], ("send", receiver, index)))
            programs[receiver].append((before[1], ("recv", index)))
            left[sender] -= before[0]
            left[receiver] -= before[1]
        for rank in exhausted:
            end(rank)
        alive = [rank for rank in range(size) if left[rank]]
        if len(alive) == 1:  # without anyone to talk to
            end(alive[0])
    return programs


@pytest.mark.reduced
@examples(300)
@given(
    st.sampled_from([variates.EXPONENTIAL, variates.CONSTANT, variates.UNIFORM]),
    st.integers(1, 20),
    st.integers(2, 6),
    st.integers(1, 200),
    st.integers(0, 2**32 - 1),
)
def test_messages_are_those_of_the_pairs_that_are_drawn(law, gap, size, demand, key):
    chosen = rules(size, law=law, gap=gap)
    (job,) = twin_jobs(chosen, [(0, size, state.MESSAGES, demand, key)])
    assert job.programs == plain_messages(law, gap, size, demand, key)
    assert [sum(compute for compute, _ in program) for program in job.programs] == [demand] * size


@compiled
def drawn(law, mean, key, count):
    values, units = np.empty(count, np.int64), np.empty((1, variates.AHEAD))
    for place in range(count):
        at = place % variates.AHEAD
        if at == 0:
            variates.fill(law, key, place, units, 0)
        values[place] = variates.duration(law, mean, units[0, at])
    return values


@pytest.mark.parametrize("key", [0, 1, 12345, 2**32 - 1])
@pytest.mark.parametrize(
    ("law", "spread", "below"),
    [
        (variates.EXPONENTIAL, 1, lambda x: -np.expm1(-x)),
        (variates.UNIFORM, 1 / math.sqrt(3), lambda x: np.minimum(x / 2, 1)),
    ],
)
def test_bursts_follow_their_law(law, spread, below, key):
    count = 40_000
    values = np.sort(drawn(law, 10**8, key, count)) / 1e8
    assert abs(values.mean() - 1) < 4 * spread / math.sqrt(count)
    assert abs(values.std() - spread) < 4 * math.sqrt(2) / math.sqrt(count)
    # Kolmogorov-Smirnov: a value above 1.95 occurs once in a thousand times.
    distance = np.abs(below(values) - (np.arange(count) + 0.5) / count).max()
    assert distance * math.sqrt(count) < 1.95
    neighbours = np.corrcoef(drawn(law, 10**8, key, count)[:-1], drawn(law, 10**8, key, count)[1:])[0, 1]
    assert abs(neighbours) < 4 / math.sqrt(count)


def test_bursts_are_the_same_on_every_machine():
    # -log u by the series, and by Python's library, at 40 places.
    assert [plain_draw(0, 10**8, 5, place) for place in range(40)] == drawn(0, 10**8, 5, 40).tolist()
    assert drawn(variates.CONSTANT, 7, 5, 3).tolist() == [7, 7, 7]


@pytest.mark.reduced
@given(rules_and_jobs(), st.integers(0, 6))
def test_what_a_job_does_depends_on_its_key_alone(workload, which):
    chosen, jobs = workload
    for job in jobs[which : which + 1]:
        assert twin_jobs(chosen, jobs)[which] == twin_jobs(chosen, [job])[0]


# --- The room ---
SMALL = Workload(("io", "msg", "bsp", "emb", "interactive"), pes=8, horizon=3000, seed=4)


def test_the_baseline_is_a_request_and_its_answer():
    # Specification, SIL-0.
    assert simulate(replace(SMALL, horizon=10)).baseline == 55e-6


def test_memberships_of_a_task_that_blocks_in_every_slice():
    # Specification, SIL-1, without the floor: f and priority after each of the first slices.
    job = pd.DataFrame({"submit_time": [0], "procs": [1], "kind": ["io"], "duration": [60]})
    config = Config(floor=0, bursts="constant", compute=0.03, disk=0.05)
    table = simulate(Workload(pes=1, horizon=2, jobs=job), config, watch=[(1, 0)]).memberships(1)
    assert table["time"][:4].tolist() == pytest.approx([0.2, 0.4, 0.6, 0.8])
    assert table["held"].all()
    assert table["f_io"][:4].tolist() == pytest.approx([0.6, 0.913043, 0.993691, 0.999795], abs=5e-7)
    assert table["f_comm"][:4].tolist() == pytest.approx([0.2, 0.043478, 0.003155, 0.000102], abs=5e-7)
    assert table["f_comm"].tolist() == table["f_comp"].tolist()
    assert table["priority"][:4].tolist() == pytest.approx([1.2, 1.8261, 1.9874, 1.9996], abs=5e-5)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize(
    "changes", [{}, {"packing": "buddy", "unify": True}, {"alternate": True, "imbalance": 0.1}, {"window": 5}]
)
def test_the_laws_hold(scheduler, changes):
    schedule = simulate(SMALL, Config(scheduler, **changes), log=(100.05, 130)).validate()
    log = schedule.log
    assert (log["start_time"].min(), log["end_time"].max()) == (100, 130)
    assert ((log["end_time"] - log["start_time"]).groupby(log["pe"]).sum() - 30).abs().max() < 1e-6
    assert schedule.metrics()["completed"] == schedule.completed == schedule.jobs["end_time"].notna().sum() > 5
    busy = schedule.pes.drop(columns="idle").to_numpy().sum()
    assert schedule.utilization == pytest.approx(busy / (8 * 3000), abs=1e-9)
    if scheduler == "gang":
        assert log["gang"][log["job_number"] >= 0].all()


def of_one_pe(rows, horizon):
    """Make a workload of programs of one task each, whose jobs come at 0."""
    programs = pd.DataFrame(rows, columns=["job_number", "compute", "operation", "seconds"]).assign(rank=0)
    jobs = pd.DataFrame({"submit_time": np.zeros(programs["job_number"].max())})
    return Workload(pes=1, horizon=horizon, jobs=jobs, programs=programs)


def test_io_is_hidden_behind_another_task():
    # The disk works from 50.2 to 100.2 ms. From 50.4 ms on the PE computes for another task, if it may; below, only
    # until the horizon, 80.2 ms.
    workload = of_one_pe([(1, 0.05, "disk", 0.05), (1, 1.0, "end", 0.0), (2, 1.0, "end", 0.0)], horizon=0.2)
    for scheduler, hidden in (("gang", 0), ("round-robin", 49.8 / 50), ("priority", 49.8 / 50)):
        schedule = simulate(workload, scheduler)
        assert schedule.io_overlap == schedule.metrics()["io_overlap"] == pytest.approx(hidden)
    assert simulate(replace(workload, horizon=0.0802), "priority").io_overlap == pytest.approx(29.8 / 30)
    assert math.isnan(simulate(replace(workload, horizon=0.03)).io_overlap)  # no I/O yet


def test_jobs_have_the_columns_of_a_schedule():
    jobs = simulate(SMALL, "priority").jobs
    names = "submit_time procs kind duration placed_time end_time turnaround slowdown"
    assert list(jobs.columns) == names.split()
    done = jobs.dropna()
    assert 5 < len(done) == jobs["end_time"].notna().sum() < len(jobs)
    pd.testing.assert_series_equal(done["turnaround"], done["end_time"] - done["submit_time"], check_names=False)
    pd.testing.assert_series_equal(done["slowdown"], done["turnaround"] / done["duration"], check_names=False)


LATE = Workload(pes=2, horizon=2, jobs=[(0, 1, "emb", 0.5), (0.1, 2, "emb", 1), (1, 1, "io", 9), (2, 1, "io", 1)])


def test_measures_of_the_whole():
    schedule = simulate(LATE)
    measures, done = schedule.metrics(), schedule.jobs.dropna()
    assert measures[["jobs", "placed", "completed"]].tolist() == [3, 3, len(done)]
    assert measures["turnaround"] == done["turnaround"].mean()
    assert measures["slowdown"] == done["slowdown"].mean()
    assert "completed by the horizon" in repr(measures)
    assert set(measures.index) <= set(metrics.MEASURES)
    nobody = simulate(Workload(pes=2, horizon=2, jobs=[(0, 1, "emb", 9)])).metrics()
    assert nobody["completed"] == 0
    assert nobody[["turnaround", "slowdown", "one_task_share"]].isna().all()


@pytest.mark.parametrize("by", ["kind", "size", {"procs": (1, 2, 4, 9, 99)}, lambda jobs: jobs["duration"] > 100])
def test_measures_by_class_are_those_of_its_jobs(by):
    schedule = simulate(SMALL, "priority")
    found, labels = schedule.metrics(by), metrics.classes(schedule.jobs, by)
    assert found["jobs"].sum() == schedule.arrived
    assert found["completed"].sum() == schedule.completed
    for label, row in found.iterrows():
        jobs = schedule.jobs[labels == label]
        done = jobs.dropna(subset="end_time")
        assert row["placed"] == jobs["placed_time"].notna().sum()
        assert row["completed"] == len(done)
        for name in ("turnaround", "slowdown"):
            assert row[name] == pytest.approx(done[name].mean(), nan_ok=True)
        assert row["one_task_share"] == pytest.approx((done["procs"] == 1).mean(), nan_ok=True)
    assert (found["jobs"] == 0).any() == isinstance(by, dict)  # a class without jobs has a row
    whole = schedule.metrics(pd.Series("all", index=schedule.jobs.index)).loc["all"]
    pd.testing.assert_series_equal(whole, schedule.metrics()[list(whole.index)], check_names=False)


def test_jobs_in_no_class_have_the_last_row():
    schedule = simulate(SMALL, "priority")
    found = schedule.metrics({"procs": (1, 2)})
    assert np.isnan(found.index[-1])
    assert found["jobs"].tolist() == [(schedule.jobs["procs"] == 1).sum(), (schedule.jobs["procs"] > 1).sum()]


@pytest.mark.filterwarnings("ignore::schedlab.schedule.statistics.IntervalWarning")
@pytest.mark.parametrize("by", [None, "kind"])
def test_intervals_are_batch_means_of_completed_jobs(by):
    schedule = simulate(replace(SMALL, horizon=40_000), "priority")
    done = schedule.jobs.dropna()
    found = schedule.metrics(by, confidence=0.9, warm_up=3)
    for at, row in found.iterrows():
        kind, name = (None, at) if by is None else at
        values = done[name] if kind is None else done.loc[done["kind"] == kind, name]
        expected = statistics.batch_means(values, 0.9, warm_up=3)
        assert (row["mean"], row["low"], row["high"]) == (expected.mean, expected.low, expected.high)
        assert (row["batches"], row["warm_up"]) == (expected.batches, 3)
    assert len(found) == (2 if by is None else 2 * done["kind"].nunique())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by": "kurian"}, r"unknown classes 'kurian'; known: size, a column \(submit_time, procs, kind"),
        ({"by": "kind", "confidence": 95}, "confidence must be between 0 and 1, got 95"),
        ({"warm_up": 3}, "warm_up is 3, but measures are of all jobs; for intervals give confidence= too"),
        ({"by": "turnaround"}, "'turnaround' is a quantity, expected classes of jobs"),
        ({"confidence": 0.95, "warm_up": -1}, "warm_up is -1, expected a number of values"),
    ],
)
def test_measures_say_what_was_expected(settings, message):
    with pytest.raises(ValueError, match=message):
        simulate(LATE).metrics(**settings)


BROKEN = [
    ("pe_rows", (state.OVERLAP, 3), 10**12, "PE 3 computes for .* ns while its disk works, but for"),
    ("pe_rows", (state.DISK_TIME, 3), -(10**14), "and its disk works for -"),
    ("pe_rows", (state.DISK_TIME, 3), 10**14, "and its disk works for 1"),
    ("pe_rows", (state.TIME_IDLE, 3), 1, "PE 3: computing .* expected 3000000000000 in all"),
    ("task_rows", (state.COMPUTED, 8), 1, "task 0 of job 4 has computed for .* expected 198000000000"),
    ("task_rows", (state.COMPUTED, 0), 10**15, "task 0 of job 1 has computed for"),
    ("job_rows", (state.PLACED, 1), 7, "expected a multiple of 200000000 ns"),
    ("job_rows", (state.PLACED, 0), 10**15, "not placed in the order"),
    ("task_rows", (state.PE, 0), 3, "PE . has computed for"),
    ("log_rows", (state.LOG_UNTIL, 0), 1, "the log"),
    ("job_rows", (state.FINISH, 3), -1, "job 4 ends at .* ns, but its last task at"),
    ("job_rows", (state.LEFT, 3), 1, "job 4 has 1 tasks to end, expected 0"),
    ("task_rows", (state.DONE, 8), -(10**12), "task 0 of job 4 ends at .*, expected at least 198000000000 ns after"),
    ("member_rows", (state.F_IO, 0), 0.1, "the memberships of task 0 of job 1 add up to 1.1, expected 1"),
    ("member_rows", (state.F_IO, 0), math.nan, "the memberships of task 0 of job 1 add up to nan, expected 1"),
]


@pytest.mark.parametrize(("rows", "place", "more", "message"), BROKEN)
def test_a_broken_law_is_named(rows, place, more, message):
    schedule = simulate(SMALL, "priority", log=(500, 501))
    wrong = getattr(schedule, rows).copy()
    wrong[place] += more
    with pytest.raises(ScheduleError, match=message):
        replace(schedule, **{rows: wrong}).validate()


def test_a_whole_log_adds_up_to_what_pes_did():
    schedule = simulate(SMALL, "priority", log=(0, 3000)).validate()
    wrong = schedule.log_rows.copy()
    computes = np.flatnonzero(wrong[state.LOG_WHAT] == WHAT.index("computing"))[0]
    wrong[state.LOG_WHAT, computes] = WHAT.index("spinning")
    with pytest.raises(ScheduleError, match="PE 0: the log has .* ns of computing, expected"):
        replace(schedule, log_rows=wrong).validate()


def test_runs_are_the_same_over_threads():
    runs = [(replace(SMALL, seed=seed), name) for seed in range(2) for name in SCHEDULERS]
    one, four = (simulate_many(runs, threads=threads, watch=[(1, 0)]) for threads in (1, 4))
    for a, b in zip(one, four, strict=True):
        for name in ("job_rows", "task_rows", "member_rows", "pe_rows", "history"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_another_mix_has_the_same_arrivals():
    table, other = SMALL.jobs_table, replace(SMALL, mix={"io": 0.25, "bsp": 0.75}).jobs_table
    same = ["submit_time", "procs", "duration"]
    pd.testing.assert_frame_equal(table[same], other[same])
    assert set(other["kind"]) == {"io", "bsp"}
    longer = replace(SMALL, horizon=6000).jobs_table
    pd.testing.assert_frame_equal(longer.head(len(table)), table)
    assert len(longer) > len(table)
    assert table["submit_time"].max() < 3000


def test_kinds_have_their_shares():
    kinds = Workload({"io": 0.25, "bsp": 0.75}, horizon=1_000_000, seed=1).jobs_table["kind"]
    assert abs((kinds == "io").mean() - 0.25) < 4 * math.sqrt(0.25 * 0.75 / len(kinds))


def test_jobs_of_ones_own():
    # Jobs that are not given in order of arrival keep their numbers.
    jobs = pd.DataFrame({"submit_time": [0.3, 0], "procs": [2, 1], "kind": "emb", "duration": [0.1, 0.25]})
    workload = Workload(pes=2, horizon=2, jobs=jobs)
    table = simulate(workload).validate().jobs
    assert table.index.tolist() == [2, 1]
    assert table["placed_time"].tolist() == pytest.approx([0, 0.4])
    # Job 2 runs at 0.0002-0.2502; job 1 from 0.4002 on, on a PE that it has to load.
    assert table["end_time"].tolist() == pytest.approx([0.2502, 0.5002])
    assert hash(workload) == hash(Workload(pes=2, horizon=2, jobs=workload.jobs))
    assert simulate(replace(workload, horizon=0.3)).jobs["end_time"].isna().tolist() == [False, True]


PINGPONG = pd.DataFrame(
    [(1, 0, 0.1, "send", 1), (1, 0, 0.2, "receive", 1), (1, 0, 0.1, "end", -1)]
    + [(1, 1, 0.2, "receive", 0), (1, 1, 0.1, "send", 0), (1, 1, 0.3, "end", -1)],
    columns=["job_number", "rank", "compute", "operation", "peer"],
)
BARRIERS = PINGPONG.iloc[[1, 2, 5]].assign(operation=["barrier", "end", "end"])  # one of them, of task 0


def test_programs_tell_what_their_jobs_are():
    workload = Workload(pes=2, horizon=2, jobs=ONE, programs=PINGPONG)
    assert workload.jobs_table.loc[1].tolist() == [0, 2, "msg", pytest.approx(0.6)]
    found = simulate(workload).validate()
    # The first message is there at 0.1 s and a little, the answer at 0.3 s and a little.
    assert found.jobs.loc[1, "end_time"] == pytest.approx(0.6, abs=0.001)
    told = found.programs(1)
    pd.testing.assert_frame_equal(told[list(PINGPONG)], PINGPONG, check_dtype=False)
    assert hash(replace(workload, programs=told)) == hash(workload)


def test_some_jobs_have_programs_and_others_are_drawn():
    jobs = pd.DataFrame({"submit_time": [0.0, 0.3], "procs": 2, "kind": ["bsp", "msg"], "duration": 3.0})
    programs = PINGPONG.assign(job_number=2)
    workload = Workload(pes=2, horizon=9, jobs=jobs, programs=programs, seed=5)
    drawn = simulate(replace(workload, programs=None)).validate().programs(1)
    found = simulate(workload).validate()
    pd.testing.assert_frame_equal(found.programs(1), drawn)
    pd.testing.assert_frame_equal(found.programs(2)[list(PINGPONG)], programs, check_dtype=False)
    pd.testing.assert_frame_equal(found.programs(), pd.concat([drawn, found.programs(2)], ignore_index=True))
    for wrong in (3, [1], "1"):
        with pytest.raises(ValueError, match=r"there is no job .*, expected a number, 1 to 2"):
            found.programs(wrong)
    pd.testing.assert_frame_equal(found.programs(1, 1), drawn)


ONE = pd.DataFrame({"submit_time": [0]})


def pingpong(row=None, jobs=ONE, **changes):
    """Change a row of a program, and make a workload of it."""
    programs = PINGPONG.astype(object)
    for column, value in changes.items():
        programs.loc[row, column] = value
    return Workload(pes=2, jobs=jobs, programs=programs)


def test_programs_without_time_take_the_least():
    programs = PINGPONG.iloc[[0, 2, 3, 5]].assign(compute=0)
    workload = Workload(pes=2, horizon=1, jobs=ONE, programs=programs)
    assert workload.jobs_table.loc[1, "duration"] == 2e-9
    assert simulate(workload).validate().completed == 1


def test_blank_cells_of_jobs_are_filled_in_from_their_programs():
    jobs = pd.DataFrame({"submit_time": [0.0, 0.3], "procs": [1, None], "kind": ["io", None], "duration": [3.0, None]})
    workload = Workload(pes=2, jobs=jobs, programs=PINGPONG.assign(job_number=2))
    assert workload.jobs_table[["procs", "kind"]].to_numpy().tolist() == [[1, "io"], [2, "msg"]]
    with pytest.raises(ValueError, match="job 1 has nan tasks"):
        Workload(pes=2, jobs=jobs.assign(procs=[None, 2]), programs=PINGPONG.assign(job_number=2))


def test_too_much_room_for_programs_is_refused():
    jobs = pd.DataFrame({"submit_time": [0.0] * 2000, "procs": 1, "kind": "emb", "duration": 1.0})
    rows = pd.DataFrame({"job_number": 1, "rank": 0, "compute": 1e-6, "operation": ["disk"] * 100_000, "seconds": 1e-6})
    workload = Workload(pes=2, jobs=jobs, programs=rows)
    with pytest.raises(ValueError, match="the longest program has 100,000 operations, and there are 2,000 tasks"):
        simulate(workload)


def test_many_programs_are_checked_in_no_time():
    many = pd.concat([PINGPONG.assign(job_number=number) for number in range(1, 3001)])
    begin = time.perf_counter()
    Workload(pes=2, jobs=pd.DataFrame({"submit_time": np.zeros(3000)}), programs=many)
    assert time.perf_counter() - begin < 5  # 20 s before, when each job was looked at by itself


LONG_DISK = PINGPONG[:1].assign(operation="disk", compute=9e7, seconds=9e7)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Workload(programs=PINGPONG), "programs are given without jobs; expected also a table of jobs"),
        (lambda: pingpong(0, operation="sned"), "programs, row 1: operation is 'sned', expected disk, think, send"),
        (lambda: pingpong(1, job_number=2), "programs, row 2: job_number is 2, expected a job's number, 1 to 1"),
        (lambda: pingpong(1, rank=0.5), r"programs, row 2: rank is 0.5, expected a task's rank"),
        (lambda: pingpong([3, 4, 5], rank=True), "programs, row 4: rank is True, expected a task's rank"),
        (lambda: pingpong([3, 4, 5], rank=10**18), "programs, row 4: rank is 10{18}, expected .* below the 2 PEs"),
        (lambda: pingpong(2, compute="x"), "programs, row 3: compute is 'x', expected seconds, from 0 to below"),
        (lambda: pingpong(2, compute=-1), "programs, row 3: compute is -1, expected seconds"),
        (lambda: pingpong(0, operation="disk"), "programs, row 1: seconds is nan, expected seconds.*of disk and think"),
        (lambda: pingpong(0, peer=0), "programs, row 1: peer is 0, expected the rank of another task of the job"),
        (lambda: pingpong(0, peer=2), "programs, row 1: peer is 2, expected the rank of another task of the job"),
        (lambda: pingpong(2, operation="barrier"), "programs, row 3: operation is 'barrier', expected end, disk or"),
        (lambda: pingpong(1, operation="end"), "programs, row 2: operation is 'end', expected end as a task's last"),
        (lambda: pingpong(0, operation="receive"), "1 messages to task 0, which receives 2 from it, expected as many"),
        (lambda: pingpong([0, 4], operation="barrier"), "job 1: task 0 sends 0 messages to task 1, which receives 1"),
        (lambda: pingpong([0, 1], operation=["receive", "send"]), "tasks would wait for one another forever: task 0"),
        (lambda: pingpong([0, 1], operation="barrier", jobs=own(procs=2)), "job 1: task 1 sends 1 messages to task 0"),
        (lambda: pingpong(jobs=own(procs=1)), "job 1 has 1 tasks, expected 2, as in its program"),
        (lambda: pingpong(jobs=own(procs="2")), "job 1 has '2' tasks, expected 2, as in its program"),
        (lambda: pingpong(jobs=own(procs=2)[["procs", "procs"]]), "jobs has column procs more than once"),
        (lambda: pingpong(jobs=own()[["submit_time"]].loc[[0, 0]]), "has no column procs, and job 2 no program"),
        (lambda: pingpong(jobs=5), "jobs is 5, expected a DataFrame or rows of submit_time"),
        (lambda: pingpong(jobs=[(1,)]), r"job 1 is \(1,\), expected submit_time, procs"),
        (lambda: own_programs(PINGPONG.replace({"rank": 1}, 2), pes=3), "no program|none for task 1"),
        (lambda: own_programs(PINGPONG.assign(compute=pd.to_timedelta(1, "s"))), "column compute holds timedelta64"),
        (lambda: own_programs(((0, 1),)), r"row 1 of programs is \(0, 1\), expected a DataFrame of job"),
        (lambda: own_programs(LONG_DISK), "task 0 of job 1 takes 1.8e.08 s, expected below 1e.08"),
        (lambda: own_programs([1]), "programs is a list, expected a DataFrame of job_number, rank"),
        (lambda: own_programs(PINGPONG[["job_number"]]), "programs has no column rank, expected a Da"),
        (lambda: own_programs(PINGPONG[:0]), "programs has no rows, expected at least one operation"),
        (lambda: own_programs(BARRIERS), "job 1: task 1 has 0 barriers, task 0 has 1"),
    ],
)
def test_errors_of_programs_name_the_row_and_what_was_expected(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def own_programs(programs, pes=2):
    return Workload(pes=pes, jobs=ONE, programs=programs)


def own(**changes):
    return pd.DataFrame([{"submit_time": 0, "procs": 1, "kind": "io", "duration": 1} | changes])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Workload(pes=2, jobs=own(procs=3)), "job 1 has 3 tasks, the machine 2 PEs"),
        (lambda: Workload(jobs=own(procs=0)), "job 1 has 0 tasks, expected a whole number of at least 1"),
        (lambda: Workload(jobs=own(duration=0)), "the duration of job 1 is 0, expected seconds"),
        (lambda: Workload(jobs=own(submit_time=-1)), "job 1 arrives at -1, expected seconds, from 0"),
        (lambda: Workload(jobs=own(kind="cpu")), "job 1 is of unknown kind 'cpu'; known: io, emb"),
        (lambda: Workload(jobs=own().drop(columns="kind")), "jobs has no column kind"),
        (lambda: Workload(jobs=own().iloc[:0]), "jobs has no rows"),
        (lambda: Workload({"io": 0.5, "msg": 0.4}), "shares of the mix add up to 0.9, expected 1"),
        (lambda: Workload({"io": 1.5, "msg": -0.5}), "the share of io jobs is 1.5, expected 0 to 1"),
        (lambda: Workload(("io", "mpi")), "unknown kind of jobs 'mpi'; known: io, emb"),
        (lambda: Workload(()), "the mix is empty, expected at least one kind of jobs"),
        (lambda: Workload(5), "mix is 5, expected a kind of jobs, several, or a dict with the share of each"),
        *[
            (partial(Workload, mix), "mix is .*, expected a kind of jobs, several, or a dict")
            for mix in ({"io", "msg"}, ("io", 3), ("io", ("msg", 1)), [["io", 1.0]])
        ],
        *[
            (partial(Workload, mix), "the mix has io jobs more than once")
            for mix in (("io", "io"), (("io", 0.5), ("io", 0.5)))
        ],
        (lambda: Workload(jobs="abc"), "jobs is 'abc', expected a DataFrame or rows of submit_time, procs, kind"),
        (lambda: Workload(jobs={"procs": [1]}), "jobs is a dict, expected a DataFrame or rows"),
        (lambda: Workload(jobs=[(0, 1, "io")]), r"job 1 is \(0, 1, 'io'\), expected submit_time, procs, kind, dur"),
        (lambda: Workload(jobs=[None]), "job 1 is None, expected submit_time, procs, kind, duration"),
        (lambda: Workload(jobs=[(0, 1, ["io"], 1)]), r"job 1 is of unknown kind \['io'\]; known: io, emb"),
        (lambda: Workload(jobs=pd.concat([own(), own()], axis=1)), "jobs has column submit_time more than once"),
        (lambda: Workload(pes=40_000), "pes must be at most 32768, got 40000"),
        (lambda: Workload(table=None), "unknown table None; known: ctc, kth"),
        (lambda: Workload(table=["ctc"]), r"unknown table \['ctc'\]; known: ctc, kth"),
        (lambda: Workload(pes=0), "pes must be at least 1"),
        (lambda: Workload(horizon=0), "horizon is 0, expected seconds"),
        (lambda: Workload(table="sdsc"), "unknown table 'sdsc'"),
        (lambda: Workload(sizes="all"), "unknown sizes 'all'"),
        (lambda: Config("fifo"), "unknown scheduler 'fifo'; known: gang, round-robin, priority, spin-block"),
        (lambda: Config(window=0), "window must be at least 1, got 0"),
        (lambda: Config(window=2.5), "window must be a whole number, got 2.5"),
        (lambda: Config("spin-block", reclaim=True), "reclaim cannot be combined with spin-block; use another"),
        (lambda: Config(beta=3), "beta is 3, expected 0 to alpha, which is 2"),
        (lambda: Config(alpha=0.5), "alpha is 0.5, expected at least 1"),
        (lambda: Config(slice=0), "slice is 0, expected seconds"),
        (lambda: Config(latency=1e-10), "latency is 1e-10, expected seconds, from 1e-9"),
        (lambda: Config(think=float("nan")), "think is nan"),
        (lambda: Config(delta=-1), "delta is -1, expected seconds, from 0 to below 1e.08"),
        (lambda: Config(max_tasks=0), "max_tasks must be at least 1"),
        (lambda: Config(statements=1.5), "statements must be a whole number"),
        (lambda: Config(floor=0.4), "floor is 0.4, expected from 0 to below 1/3"),
        (lambda: Config(imbalance=1), "imbalance is 1, expected from 0 to below 1"),
        (lambda: Config(both="yes"), "both is 'yes', expected True or False"),
        (lambda: Config(packing="worst-fit"), "unknown packing 'worst-fit'"),
        (lambda: Config(bursts="normal"), "unknown bursts 'normal'"),
        (lambda: simulate(SMALL, "fifo"), "unknown scheduler"),
        (lambda: simulate(SMALL, watch=[(999, 0)]), "there is no job 999 to watch"),
        (lambda: simulate(SMALL, watch=[(1, 9)]), "job 1 has no task 9 to watch"),
        *[
            (
                partial(simulate, SMALL, watch=watch),
                f"watch is {re.escape(repr(watch))}, expected tasks: pairs of a job'",
            )
            for watch in (5, (1, 0), [(1,)], [(1.5, 0)], [("1", 0)])
        ],
        *[
            (
                partial(simulate, SMALL, log=log),
                f"log is {re.escape(repr(log))}, expected two times in seconds, the ear",
            )
            for log in (5, (5, 2), ("a", "b"), {1, 3}, (None, 3))
        ],
        (lambda: simulate(SMALL, log=(3000, 3001)), "log is .3000, 3001., expected .* to below the horizon, 3000"),
        (lambda: simulate(SMALL).log, "nothing was logged"),
        (lambda: simulate(SMALL).memberships(1), "task 0 of job 1 was not watched"),
        (lambda: simulate_many([SMALL]), "expected pairs of a Workload and a Config or its scheduler"),
        (lambda: simulate_many(5), "runs is 5, expected pairs of a Workload and a Config or its scheduler"),
    ],
)
def test_errors_say_what_was_expected(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_something_else_than_a_workload_is_refused():
    with pytest.raises(TypeError, match="expected a gang.Workload"):
        simulate("io")
    with pytest.raises(TypeError, match="expected a gang.Config"):
        simulate(SMALL, 3)


# Numbers of every kind


@pytest.mark.parametrize("number", [np.int16, np.int32, np.int64, np.float32, float, Fraction])
def test_times_may_be_numbers_of_any_kind(number):
    def simulated(number):
        rows = ((number(0), 1, "emb", number(7)), (number(3), 2, "io", number(40)))
        config = Config("spin-block", slice=number(1), think=number(9), delta=number(2))
        return simulate(Workload(pes=2, horizon=number(100), jobs=rows), config, log=(0, 100))

    schedule, expected = simulated(number).validate(), simulated(int)
    assert schedule.rules == expected.rules
    pd.testing.assert_frame_equal(schedule.jobs, expected.jobs)
    pd.testing.assert_frame_equal(schedule.log, expected.log)


def test_a_limit_may_be_as_large_as_one_likes():
    few = simulate(SMALL, Config("priority", max_tasks=len(SMALL.jobs_table)))
    many = simulate(SMALL, Config("priority", max_tasks=10**30)).validate()
    np.testing.assert_array_equal(few.job_rows, many.job_rows)
    assert simulate(SMALL, Config("priority", statements=10**30)).validate().tasks["f_comm"].max() < 0.5
    short, long = (simulate(replace(SMALL, horizon=100), Config("priority", window=n)) for n in (500, 10**30))
    np.testing.assert_array_equal(short.member_rows, long.validate().member_rows)


@pytest.mark.parametrize("until", [3001, 1e12, math.inf])
def test_a_log_ends_at_the_horizon(until):
    schedule = simulate(SMALL, log=(2999.5, until)).validate()
    assert schedule.logged == (2999.5, 3000)
    assert schedule.log["end_time"].max() == 3000


def test_tasks_are_watched_in_every_run():
    runs = [(SMALL, "gang"), (SMALL, "priority")]
    one, other = simulate_many(runs, watch=iter([(np.int64(1), np.int8(0))]))
    assert one.watched == other.watched == ((1, 0),)
    assert len(one.memberships(np.int64(1))) == len(one.memberships(True)) > 0


def test_rounding_does_not_keep_a_task_from_beta():
    # A task that communicates in its first slice and its third has 1, 99 and 25 parts of 125: a priority of 0.2.
    workload = Workload(pes=2, horizon=2, jobs=((0, 2, "bsp", 10), (0, 1, "io", 10)), seed=4)
    config = Config("priority", alpha=1, beta=0.2, floor=0, superstep=0.2)
    at, below = (
        simulate(workload, replace(config, beta=beta), log=(0, 2), watch=[(1, 0)]) for beta in (0.2, 0.1999999)
    )
    assert at.memberships(1)["priority"][2] == pytest.approx(0.2, abs=1e-12)
    pd.testing.assert_frame_equal(at.log, below.log)


def test_a_model_whose_jobs_last_too_long_is_refused():
    table = jann_table("ctc")
    slow = HyperErlang(1, 1e-12, 1e-12, 0.5)
    endless = replace(table, ranges=tuple(replace(each, service=slow) for each in table.ranges))
    with pytest.raises(ValueError, match=r"a job of the model lasts .* s, expected below 1e.08"):
        simulate(Workload(table=endless))


def test_jobs_that_come_after_the_horizon_have_not_arrived():
    workload = Workload(pes=1, horizon=2, jobs=((0, 1, "emb", 1), (2, 1, "emb", 1), (5, 1, "emb", 1)))
    schedule = simulate(workload).validate()
    assert schedule.metrics()["jobs"] == 1
    assert "1 of 1 jobs" in repr(schedule)
    assert len(schedule.jobs) == 3
