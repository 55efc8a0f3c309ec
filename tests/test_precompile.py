"""Compiling ahead of time leaves nothing to compile."""

import gc
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import SimpleNamespace

import numba
import processes
import pytest
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.core.errors import TypingError

import schedlab as sl
from schedlab import compiling, precompile
from schedlab.kernels._jit import CACHE, PIECES, kernel

compiles = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


def entry_points():
    """Return the compiled functions that Python calls: those cached on disk."""
    modules = [import_module(found.name) for found in walk_packages(sl.kernels.__path__, "schedlab.kernels.")]
    found = {each for module in modules for each in vars(module).values() if isinstance(each, Dispatcher)}
    return [each for each in found if type(each._cache).__name__ != "NullCache"]


def test_nothing_is_left_to_compile():
    for group in precompile.groups():
        precompile.compile_group(group)
    found = entry_points()
    assert len(found) >= 15
    before = {each.__name__: each.signatures for each in found}
    assert [name for name, signatures in before.items() if not signatures] == []
    trace = sl.model_trace("lublin", jobs=60, procs=32, seed=2)
    for scheme in ("fcfs", "easy-sjbf", "easy-wfp3", "conservative-sjf", "dpsaw", "ojs", "flooding"):
        sl.simulate(trace.with_sweeps(0.5, min_procs=4), scheme, overrun="extend").metrics()
    for chosen in (sl.FairShareMoldable("proportional", 4, 1), sl.GreedyMoldable(), sl.IterativeMoldable(head=9)):
        for model in (sl.Amdahl(0.1), sl.Speedup(lambda n, procs: n)):
            sl.simulate(trace.with_speedup(model, share=0.5), chosen)
    for allocation in ("contiguous", "quasi-contiguous", "random"):
        tree = sl.KaryTree(k=2, n=5, allocation=allocation, speedup=0.2)
        sl.simulate(trace, "fcfs", machine=tree).validate().fragmentation()
    workload = sl.gang.Workload({"io": 0.5, "bsp": 0.5}, pes=4, horizon=1000, seed=2)
    sl.gang.simulate(workload, sl.gang.Config("spin-block", packing="buddy"), log=(0, 10), watch=[(1, 0)]).validate()
    assert {each.__name__: each.signatures for each in found} == before


def in_a_process(words, folder, **env):
    """Run a program that imports the package from a folder; return what it says on its two outputs."""
    environment = {**os.environ, "PYTHONPATH": str(folder), **env}
    with processes.start(words, cwd=folder, env=environment) as process:
        said = process.communicate(timeout=600)
    assert process.returncode == 0, said
    return said


def copied(cache, *missing):
    """Copy the compiled kernels into another cache, except some files; return their folder there."""
    kept = cache / "numba" / CACHE.name
    shutil.copytree(CACHE, kept, ignore=shutil.ignore_patterns("*.tmp.*", *missing))  # numba is writing the former
    return kept


NOTHING_COMPILED = """
import schedlab
from numba.core import event
from schedlab import precompile
with event.install_recorder("numba:compile") as recorder:
    precompile.compile_group("rigid")
compiled = [event.data["dispatcher"].py_func for _, event in recorder.buffer]
assert not [each for each in compiled if (each.__module__ or "").startswith("schedlab.kernels.")], compiled
"""


@compiles
def test_another_checkout_of_the_same_sources_compiles_nothing(tmp_path):
    precompile.compile_group("rigid")
    package = Path(sl.__file__).parent
    shutil.copytree(package, tmp_path / "schedlab", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "data").symlink_to(package.parent / "data")
    assert CACHE is not None
    in_a_process(f"{NOTHING_COMPILED}\nassert schedlab.__file__.startswith({str(tmp_path)!r})", tmp_path)


@compiles
def test_kernels_of_somebody_one_trusts_are_taken_over(tmp_path):
    precompile.compile_group("rigid")
    here = Path(sl.__file__).parents[1]
    own = {"SCHEDLAB_CACHE": str(tmp_path), "SCHEDLAB_KERNELS": str(CACHE.parent)}
    in_a_process(NOTHING_COMPILED, here, **own)
    assert [each.name for each in (tmp_path / "numba").iterdir()] == [CACHE.name]


@compiles
def test_with_another_numba_kernels_are_compiled_in_its_usual_way(tmp_path):
    trace = sl.model_trace("lublin", jobs=30, procs=16)
    trace.to_swf(tmp_path / "log.swf")
    out, _ = in_a_process(
        "import numba\n"
        "numba.version_info = numba.version_info._replace(short=(9, 9))\n"
        "import schedlab as sl\n"
        "from schedlab import compiling\n"
        "from schedlab.kernels.swf_text import scan_records\n"  # the quickest to compile, and made of parts
        "compiling.not_here()\n"  # others need not be compiled meanwhile
        f"print(sl.read_swf({str(tmp_path / 'log.swf')!r}, lenient=True).jobs['submit_time'].tolist())\n"
        "library = scan_records.overloads[scan_records.signatures[0]].library\n"
        "assert type(library).__name__ == 'JITCodeLibrary', library",
        Path(sl.__file__).parents[1],
        SCHEDLAB_CACHE=str(tmp_path),
    )
    assert out == f"{trace.jobs['submit_time'].tolist()}\n"


ON_ONE_NODE = """
import numpy as np
from schedlab.kernels.tree_nodes import conflict
end = np.array([5, 9])
given = np.array([0, 5]), end, np.array([0, 1, 2]), np.array([0, 0]), np.array([0, 0]), 1
assert conflict(*given) == -1
"""
LOADED = """
from schedlab.kernels import _compiler
happened, rebuild, make = [], _compiler.KernelStore.rebuild, _compiler._LoadedLibrary.__init__

def with_a_start(self, context, stored):  # as a kernel has that calls a user's parallel function
    symbols, result = stored
    result = (*result[:7], [lambda: happened.append("started")], *result[8:])  # numba's reload_init
    return rebuild(self, context, (symbols, result))

def noted(self, *given):
    happened.append("loaded")
    make(self, *given)

_compiler.KernelStore.rebuild, _compiler._LoadedLibrary.__init__ = with_a_start, noted
"""
LINKED = """
import numba
library = conflict.overloads[conflict.signatures[0]].library
print(happened, "parsed:", library._shared_module is not None)
of_users = numba.njit(lambda *given: 2 * conflict(*given))
print(of_users(*given), "parsed:", library._shared_module is not None)
end[0] = 6
print(conflict(*given), of_users(*given))
"""


@compiles
@pytest.mark.skipif(not PIECES or CACHE is None, reason="kernels are loaded as numba does it, or not kept")
def test_a_kernel_is_loaded_without_its_bitcode_and_can_still_be_linked():
    here = Path(sl.__file__).parents[1]
    in_a_process(ON_ONE_NODE, here)  # compiles it, unless it is in the cache
    said, _ = in_a_process(LOADED + ON_ONE_NODE + LINKED, here)
    assert said.splitlines() == ["['started', 'loaded'] parsed: False", "-2 parsed: True", "1 2"]


@compiles
def test_numbas_rules_are_its_own_again_once_a_kernel_is_compiled():
    ask = types.Function.get_call_type

    @kernel
    def failing(x):
        return x + "1"

    @kernel
    def doubled(x):
        return x + x

    with pytest.raises(TypingError):
        failing(1)
    assert (doubled(1), doubled(1.5)) == (2, 3.0)
    assert types.Function.get_call_type is ask


FIRST_USE = """
import time
import schedlab as sl
from schedlab.kernels._jit import CACHE
trace = sl.model_trace("lublin", jobs=30, procs=16)
trace.to_swf("log.swf")
sl.read_swf("log.swf", lenient=True)
sl.simulate(trace.with_speedup(sl.Downey()), sl.FairShareMoldable())
deadline = time.monotonic() + 300
while not list(CACHE.rglob("priority*.nbc")):  # not used here
    assert time.monotonic() < deadline
    time.sleep(0.02)
"""


@compiles
def test_who_waits_for_a_kernel_is_told_once_and_others_are_compiled_meanwhile(tmp_path):
    for group in ("rigid", "moldable"):
        precompile.compile_group(group)
    missing = (
        "swf_text",
        "speedup",
        "priority",
    )  # quick to compile: two that are used, one of another group
    kept = copied(tmp_path / "cache", *(f"{module}.*" for module in missing))
    here = str(Path(sl.__file__).parents[1])
    said = in_a_process(FIRST_USE, tmp_path, PYTHONPATH=here, SCHEDLAB_CACHE=str(tmp_path / "cache"))
    assert [list(kept.rglob(f"{module}.*.nbc")) != [] for module in missing] == [True, True, True]
    assert said == (
        "",
        "schedlab: compiling kernels (others), about 3 s; others meanwhile. `schedlab compile` compiles all once, "
        "ahead of time.\n",
    )


def test_each_group_is_announced_once_and_the_others_are_compiled_ahead_once(monkeypatch, capsys):
    ahead = []
    monkeypatch.setattr(compiling, "_compile_ahead", ahead.append)
    listener = compiling._Listener(compiling._say)
    modules = ("easy", "fcfs", "priority", "gang.slices")
    for module in ("numpy.core", *(f"schedlab.kernels.{name}" for name in modules)):
        function = SimpleNamespace(__module__=module)
        for options in ({}, {"nogil": True}, {"nogil": True}):  # the first as of a policy, such as `multifactor`
            compiled = SimpleNamespace(py_func=function, targetoptions=options)
            listener.on_start(SimpleNamespace(data={"dispatcher": compiled}))
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("schedlab: compiling kernels (rigid), about 6 s; others meanwhile.")
    assert second == "schedlab: compiling kernels (gang), about 14 s"
    assert ahead == [[group for group in compiling.SECONDS if group != "rigid"]]


def test_a_policy_of_the_package_is_no_kernel_to_wait_for():
    code = """
import schedlab as sl
trace = sl.read_sacct(sl.workload.sacct.example_path(), procs=128, partition="long")
sl.simulate(trace, sl.EASY(order="multifactor"))
"""
    assert in_a_process(code, Path(sl.__file__).parents[1]) == ("", "")


def test_compiling_ahead_takes_nothing_from_the_users_folder(monkeypatch, tmp_path):
    (tmp_path / "numpy.py").write_text("open('read', 'w')")
    monkeypatch.chdir(tmp_path)
    started, begin = [], subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *given, **more: started.append(begin(*given, **more)) or started[0])
    compiling._compile_ahead([])
    assert started[0].wait(60) == 0
    assert [each.name for each in tmp_path.iterdir()] == ["numpy.py"]


@compiles
@pytest.mark.parametrize(("suffix", "left"), [("nbi", 0), ("nbc", -10)])
def test_a_broken_file_of_a_kernel_is_written_anew(tmp_path, suffix, left):
    precompile.compile_group("others")
    kept = copied(tmp_path)
    version = "".join(map(str, sys.version_info[:2]))  # other versions may have compiled kernels there, too
    broken = sorted(kept.rglob(f"swf_text*.py{version}*.{suffix}"))
    before = [path.read_bytes() for path in broken]
    for path in broken:
        path.write_bytes(path.read_bytes()[:left])
    here = Path(sl.__file__).parents[1]
    own = {"SCHEDLAB_CACHE": str(tmp_path)}
    in_a_process("from schedlab import precompile; precompile.compile_group('others')", here, **own)
    assert len(broken) > 0
    assert min(path.stat().st_size for path in broken) >= min(map(len, before)) / 2
    in_a_process(NOTHING_COMPILED.replace("rigid", "others"), here, **own)


def test_one_process_at_a_time_compiles_ahead(tmp_path):
    with precompile.alone(tmp_path / "kept") as first:
        assert first
        assert precompile.fcntl is None or not elsewhere(tmp_path / "kept")
    assert elsewhere(tmp_path / "kept")


def elsewhere(folder):
    """Tell whether another process would compile ahead."""
    words = f"from schedlab.precompile import Path, alone\nwith alone(Path({str(folder)!r})) as first: print(first)"
    return processes.run(words) == "True\n"


def test_what_workers_compile_is_said_once_and_nothing_is_compiled_ahead(monkeypatch, capsys):
    listener = compiling._Listener(compiling._say)
    monkeypatch.setattr(compiling, "_listener", listener)
    monkeypatch.setattr(compiling, "_compile_ahead", lambda groups: pytest.fail("workers have the cores"))
    for group in ("rigid", "gang", "rigid", "others"):
        compiling.hear(group)
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("schedlab: compiling kernels (rigid), about 6 s; others when needed.")
    assert second == "schedlab: compiling kernels (gang), about 14 s"


def test_a_worker_compiles_nothing_ahead(monkeypatch, capsys):
    ahead = []
    monkeypatch.setattr(compiling, "_compile_ahead", ahead.append)
    monkeypatch.setattr(compiling, "parent_process", lambda: "a process")
    compiling._say("rigid", True, True)
    assert capsys.readouterr().err == "schedlab: compiling kernels (rigid), about 6 s\n"
    assert ahead == []


def test_without_a_cache_nothing_is_compiled_ahead_and_that_is_said(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(compiling, "_compile_ahead", lambda groups: pytest.fail("nobody can use it"))
    compiling._say("rigid", True, True)
    words = f"about 6 s. {tmp_path / 'file' / 'numba'} cannot keep them, so each process compiles them again.\n"
    assert capsys.readouterr().err.endswith(words)
    monkeypatch.setattr(precompile, "CACHE", None)
    with pytest.raises(
        OSError, match="numba: compiled kernels cannot be kept there; set SCHEDLAB_CACHE to another folder"
    ):
        precompile.compile_kernels()


def test_every_kernel_has_a_group_with_an_expected_time():
    assert set(compiling.SECONDS) == set(precompile.groups())
    assert set(compiling.GROUPS.values()) <= set(compiling.SECONDS)


def test_compiled_kernels_are_run_again_only_if_a_file_is_not_as_it_was(monkeypatch, tmp_path):
    runs, groups, compiled = [], precompile.groups(), False
    monkeypatch.setattr(precompile, "CACHE", tmp_path)
    monkeypatch.setattr(precompile, "groups", lambda: groups)
    monkeypatch.setattr(
        precompile, "Parallel", lambda *_, **__: lambda tasks: [runs.append(1) or compiled for _ in tasks]
    )
    code = tmp_path / "kernels" / "easy.nbc"
    code.parent.mkdir()

    def ran():
        runs.clear()
        precompile.compile_kernels(progress=False)
        return len(runs) > 0

    for change in (lambda: code.write_bytes(b"code"), lambda: code.write_bytes(b"co"), code.unlink):
        change()
        assert (ran(), ran()) == (True, False)
    (listed,) = tmp_path.glob("complete-*.json")
    for broken in ("", "[]", '{"kernels/easy.nbc": 4'):
        listed.write_text(broken)
        assert (ran(), ran()) == (True, False)
    for name, value in (("target", lambda: ("another Python",)), ("sources", lambda: "others")):
        with monkeypatch.context() as patch:
            patch.setattr(precompile, name, value)
            compiled = True  # another process may do so at the same time, and overwrite an index
            assert (ran(), ran()) == (True, True)
            compiled = False
            assert (ran(), ran()) == (True, False)
    groups["somebody.elses"] = []
    assert (ran(), ran()) == (True, True)


def test_each_group_is_compiled_from_any_folder(monkeypatch, tmp_path, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(precompile, "CACHE", tmp_path)
    monkeypatch.setattr(precompile, "groups", lambda: {"lookahead": None})
    precompile.compile_kernels(progress=False)
    assert capfd.readouterr() == ("", "")


def test_what_cannot_be_compiled_is_said(monkeypatch):
    monkeypatch.setattr(precompile, "groups", lambda: {"nonsense": None})
    with pytest.raises(RuntimeError, match=r"the kernels of nonsense cannot be compiled: KeyError\('nonsense'\)"):
        precompile.compile_kernels(progress=False)


def test_who_compiles_in_this_process_leaves_its_garbage_collector_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(precompile, "CACHE", tmp_path)
    monkeypatch.setattr(precompile, "groups", lambda: {"none": []})
    monkeypatch.setattr(gc, "freeze", lambda: pytest.fail("what the caller has made could never be collected"))
    collects = gc.isenabled()
    precompile.compile_kernels(processes=1, progress=False)
    assert gc.isenabled() == collects
