"""Compiling ahead of time leaves nothing to compile."""

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import numba
import processes
import pytest
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.core.errors import TypingError

import schedlab as sl
from schedlab._runtime import compiling, precompile
from schedlab.kernels._jit import CACHE, PIECES, kernel

HERE = Path(sl.__file__).parents[1]
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
    trace = sl.model_trace("lublin", jobs=60, machine=32, seed=2)
    for scheme in ("fcfs", "easy-sjbf", "easy-wfp3", "conservative-sjf", "dpsaw", "ojs", "flooding"):
        sl.simulate(trace.with_parameter_sweeps(0.5, min_procs=4), scheme, overrun="extend").metrics()
    for chosen in (sl.FairShareMoldable("proportional", 4, 1), sl.GreedyMoldable(), sl.IterativeMoldable(head=9)):
        for model in (sl.Amdahl(0.1), sl.Speedup(lambda n, procs: n)):
            sl.simulate(trace.with_speedup(model, share=0.5), chosen)
    for allocation in ("contiguous", "quasi-contiguous", "random"):
        tree = sl.KaryTree(k=2, n=5, allocation=allocation, speedup=0.2)
        sl.simulate(trace, "fcfs", machine=tree).validate().fragmentation()
    workload = sl.gang.Workload({"io": 0.5, "bsp": 0.5}, pes=4, horizon=1000, seed=2)
    sl.gang.simulate(workload, sl.gang.Config("spin-block", packing="buddy"), log=(0, 10), watch=[(1, 0)]).validate()
    assert {each.__name__: each.signatures for each in found} == before


def in_a_process(words, folder=HERE, **env):
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


def copy_package(folder):
    """Copy the package into a folder, with its data; return the copy."""
    package = Path(sl.__file__).parent
    shutil.copytree(package, folder / "schedlab", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "data").symlink_to(package.parent / "data")
    return folder / "schedlab"


NOTHING_COMPILED = """
import schedlab
from numba.core import event
from schedlab._runtime import precompile
with event.install_recorder("numba:compile") as recorder:
    precompile.compile_group("rigid")
compiled = [event.data["dispatcher"].py_func for _, event in recorder.buffer]
assert not [each for each in compiled if (each.__module__ or "").startswith("schedlab.kernels.")], compiled
"""


@compiles
def test_another_checkout_of_the_same_sources_compiles_nothing(tmp_path):
    precompile.compile_group("rigid")
    copy_package(tmp_path)
    assert CACHE is not None
    in_a_process(f"{NOTHING_COMPILED}\nassert schedlab.__file__.startswith({str(tmp_path)!r})", tmp_path)


@compiles
def test_kernels_of_somebody_one_trusts_are_taken_over(tmp_path):
    precompile.compile_group("rigid")
    in_a_process(NOTHING_COMPILED, SCHEDLAB_CACHE=str(tmp_path), SCHEDLAB_KERNELS=str(CACHE.parent))
    assert [each.name for each in (tmp_path / "numba").iterdir()] == [CACHE.name]


@compiles
def test_with_another_numba_kernels_are_compiled_in_its_usual_way(tmp_path):
    trace = sl.model_trace("lublin", jobs=30, machine=16)
    trace.to_swf(tmp_path / "log.swf")
    out, _ = in_a_process(
        "import numba\n"
        "numba.version_info = numba.version_info._replace(short=(9, 9))\n"
        "import schedlab as sl\n"
        "from schedlab._runtime import compiling\n"
        "from schedlab.kernels.swf_text import scan_records\n"  # the quickest to compile, and made of parts
        "compiling.not_here()\n"  # others need not be compiled meanwhile
        f"print(sl.read_swf({str(tmp_path / 'log.swf')!r}, lenient=True).jobs['submit_time'].tolist())\n"
        "library = scan_records.overloads[scan_records.signatures[0]].library\n"
        "assert type(library).__name__ == 'JITCodeLibrary', library",
        SCHEDLAB_CACHE=str(tmp_path),
    )
    assert out == f"{trace.jobs['submit_time'].tolist()}\n"


# Names that numba can do without once it is loaded, so that they can be removed.
REMOVED = {
    "numba.core.codegen": ["JITCodeLibrary"],
    "numba.core.compiler": ["CompilerBase"],
    "numba.core.compiler_machinery": ["register_pass"],
    "numba.core.typed_passes": ["NativeLowering"],
    "numba.core.caching": ["FunctionCache", "UserProvidedCacheLocator"],
    "numba.core": ["event"],
}
REMOVING = """
import sys
from importlib import import_module
import numba
numba.njit(lambda: 0)()  # loads what any compiled function needs
for module, name in {names!r}:
    delattr(import_module(module), name)
    if f"{{module}}.{{name}}" in sys.modules:
        sys.modules[f"{{module}}.{{name}}"] = None
"""
NAMES = [(module, name) for module, names in REMOVED.items() for name in names]


@compiles
@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_kernel_runs_without_any_name_that_numba_may_drop(tmp_path, module, name):
    code = """
from schedlab.kernels._jit import CACHE, PIECES, kernel, part
from schedlab.kernels.priority import sjf
doubled = part(lambda x: 2 * x)
run, cached = kernel(lambda x: doubled(x) + 1, cache=None), kernel(sjf)
print(run(3), cached(1, 2, 3), PIECES, CACHE is not None)
"""
    out, _ = in_a_process(REMOVING.format(names=[(module, name)]) + code, SCHEDLAB_CACHE=str(tmp_path))
    pieces = PIECES and name in ("FunctionCache", "UserProvidedCacheLocator", "event")
    cached = name not in ("FunctionCache", "UserProvidedCacheLocator")
    assert out == f"7 2 {pieces} {cached}\n"
    assert (list(tmp_path.rglob("priority.sjf*.nbc")) != []) == cached


def test_the_locked_numba_is_one_with_which_pieces_are_compiled():
    assert PIECES or os.environ.get("SCHEDLAB_PIECES") == "0"


@compiles
def test_nothing_compiled_stays_in_the_package(tmp_path):
    precompile.compile_group("rigid")
    package = copy_package(tmp_path)
    kept = copied(tmp_path / "cache", "priority.*")  # the callbacks, which are to be compiled
    before = {path for path in package.rglob("*") if path.suffix != ".pyc"}
    code = """
import schedlab as sl
trace = sl.model_trace("lublin", jobs=30, machine=16, seed=1)
for order in ("sjf", "wfp3", lambda estimate: -estimate):
    sl.simulate(trace, sl.EASY(order=order, backfill="saf"))
"""
    in_a_process(code, tmp_path, SCHEDLAB_CACHE=str(tmp_path / "cache"))
    after = {path for path in package.rglob("*") if path.suffix != ".pyc" and path.name != "__pycache__"}
    assert after == before
    names = {path.name.partition("-")[0] for path in kept.rglob("priority.*.nbc")}
    assert {"priority.sjf", "priority.wfp3", "priority.saf"} <= names


@compiles
def test_callbacks_are_loaded_from_the_cache_and_leave_numbas_settings_alone(tmp_path):
    code = """
import numba
from schedlab.kernels import callbacks, priority
from schedlab.schemes.orders import _compiled_once
print(_compiled_once(priority.f1, callbacks.FIXED).cache_hits, repr(numba.config.CACHE_DIR))
"""
    assert [in_a_process(code, SCHEDLAB_CACHE=str(tmp_path))[0] for _ in range(2)] == ["0 ''\n", "1 ''\n"]


@compiles
def test_without_a_folder_for_the_cache_callbacks_are_cached_nowhere(tmp_path):
    (tmp_path / "file").write_text("no folder")
    package = copy_package(tmp_path)
    code = """
from schedlab.kernels import callbacks, priority
from schedlab.schemes.orders import _compiled_once
print(_compiled_once(priority.f1, callbacks.FIXED).address > 0)
"""
    assert in_a_process(code, tmp_path, SCHEDLAB_CACHE=str(tmp_path / "file"))[0] == "True\n"
    assert [*package.rglob("*.nb?")] == []


ON_ONE_NODE = """
import numpy as np
from schedlab.kernels.tree_nodes import conflict
end = np.array([5, 9])
given = np.array([0, 5]), end, np.array([0, 1, 2]), np.array([0, 0]), np.array([0, 0]), 1
assert conflict(*given) == -1
"""
LINKED = """
import numba
of_users = numba.njit(lambda *given: 2 * conflict(*given))
print(sum(conflict.stats.cache_hits.values()), of_users(*given))
end[0] = 6
print(conflict(*given), of_users(*given))
"""


@compiles
@pytest.mark.skipif(CACHE is None, reason="kernels are not kept")
def test_a_kernel_loaded_from_the_cache_can_be_called_by_users_functions():
    in_a_process(ON_ONE_NODE)  # compiles it, unless it is in the cache
    output, _ = in_a_process(ON_ONE_NODE + LINKED)
    assert output.splitlines() == ["1 -2", "1 2"]


@compiles
def test_numbas_rules_are_its_own_again_once_a_kernel_is_compiled():
    ask = types.Function.get_call_type
    with pytest.raises(TypingError):
        kernel(lambda x: x + "1")(1)
    doubled = kernel(lambda x: x + x)
    assert (doubled(1), doubled(1.5)) == (2, 3.0)
    assert types.Function.get_call_type is ask


FIRST_USE = """
import time
import schedlab as sl
from schedlab.kernels._jit import CACHE
trace = sl.model_trace("lublin", jobs=30, machine=16)
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
    missing = ("swf_text", "speedup", "priority")  # quick to compile: two that are used, one of another group
    kept = copied(tmp_path / "cache", *(f"{module}.*" for module in missing))
    said = in_a_process(FIRST_USE, tmp_path, PYTHONPATH=str(HERE), SCHEDLAB_CACHE=str(tmp_path / "cache"))
    assert [list(kept.rglob(f"{module}.*.nbc")) != [] for module in missing] == [True, True, True]
    assert said == (
        "",
        "schedlab: compiling kernels (others), about 3 s; others meanwhile. `schedlab compile` compiles all once, "
        "ahead of time.\n",
    )


def test_a_policy_of_the_package_is_no_kernel_to_wait_for():
    code = """
import schedlab as sl
trace = sl.read_sacct(sl.workload.sacct.example_path(), machine=128, partition="long")
sl.simulate(trace, sl.EASY(order="multifactor"))
"""
    assert in_a_process(code) == ("", "")


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
    own = {"SCHEDLAB_CACHE": str(tmp_path)}
    in_a_process("from schedlab._runtime import precompile; precompile.compile_group('others')", **own)
    assert len(broken) > 0
    assert min(path.stat().st_size for path in broken) >= min(map(len, before)) / 2
    in_a_process(NOTHING_COMPILED.replace("rigid", "others"), **own)


def test_one_process_at_a_time_compiles_ahead(tmp_path):
    with precompile.alone(tmp_path / "kept") as first:
        assert first
        assert precompile.fcntl is None or not elsewhere(tmp_path / "kept")
    assert elsewhere(tmp_path / "kept")


def elsewhere(folder):
    """Tell whether another process would compile ahead."""
    words = "from schedlab._runtime.precompile import Path, alone"
    words = f"{words}\nwith alone(Path({str(folder)!r})) as first: print(first)"
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
    with pytest.raises(OSError, match="numba: compiled kernels cannot be kept there; set SCHEDLAB_CACHE to another"):
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
    listed = tmp_path / "complete.json"

    def ran():
        runs.clear()
        precompile.compile_kernels(progress=False)
        return len(runs) > 0

    broken = [lambda text=text: listed.write_text(text) for text in ("", "[]", '{"kernels/easy.nbc": 4')]
    for change in (lambda: code.write_bytes(b"code"), lambda: code.write_bytes(b"co"), code.unlink, *broken):
        change()
        assert (ran(), ran()) == (True, False)
        (listed,) = tmp_path.glob("complete-*.json")
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
