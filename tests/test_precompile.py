"""Compiling ahead of time leaves nothing to compile."""

from importlib import import_module
from pkgutil import walk_packages

import pytest
from numba.core.dispatcher import Dispatcher

import schedlab as sl
from schedlab import precompile


def entry_points():
    """Give the compiled functions that Python calls: those cached on disk."""
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


def test_each_group_is_compiled_in_a_process_of_its_own_from_any_folder(monkeypatch, tmp_path, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(precompile, "groups", lambda: {"lookahead": None})
    precompile.compile_kernels(progress=False)
    assert capfd.readouterr() == ("", "")


def test_what_cannot_be_compiled_is_said(monkeypatch):
    monkeypatch.setattr(precompile, "groups", lambda: {"nonsense": None})
    with pytest.raises(RuntimeError, match="(?s)the kernels of nonsense cannot be compiled: .*KeyError: 'nonsense'"):
        precompile.compile_kernels(progress=False)
