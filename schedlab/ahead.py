"""Compile every kernel ahead of its first use, several at once: minutes that would else be waited for bit by bit."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numba.core import event as numba_event
from tqdm.auto import tqdm

from . import gang
from .kernels.iterative import decision
from .machine import KaryTree
from .schemes import DPSA, EASY
from .simulation import simulate
from .threads import pool
from .workload import swf
from .workload.speedup import Downey
from .workload.trace import model_trace


def _shredding(trace):
    simulate(trace.with_sweeps(0.5, min_procs=2), "ojs").validate()


def _moldable(trace):
    trace = trace.with_speedup(Downey())
    for scheme in ("fairshare", "greedy", "iterative"):
        simulate(trace, scheme)
    ends, held = np.array([10]), np.array([1])
    estimate, procs = (trace.jobs[name].to_numpy(copy=True) for name in ("requested_time", "requested_procs"))
    decision(ends, held, estimate, procs, trace.procs, *trace.laws(), 0)


def _trees(trace):
    schedule = simulate(trace, "easy", machine=KaryTree(k=4, n=2)).validate()
    schedule.fragmentation()


def _gang(trace):
    gang.simulate(gang.Workload("msg", pes=2, horizon=100), "gang").validate()


def _conservative(trace):
    simulate(trace, "conservative")


def _lookahead(trace):
    simulate(trace, DPSA())


def _others(trace):
    simulate(trace, "fcfs")
    simulate(trace, EASY(order="sjf")).processors()
    with tempfile.TemporaryDirectory() as folder:
        trace.to_swf(path := Path(folder) / "log.swf")
        swf.read_log(path)


KERNELS = f"{__package__}.kernels."
# Longest first.
GROUPS = {
    "gang": _gang,
    "shredding": _shredding,
    "moldable": _moldable,
    "trees": _trees,
    "conservative": _conservative,
    "lookahead": _lookahead,
    "others": _others,
}


def compile_kernels(processes: int | None = None, progress: bool = True) -> None:
    """Compile every kernel into the cache on disk, unless it is there.

    Parameters
    ----------
    processes : int, optional
        One for each core if left out.
    progress : bool
        Show a progress bar, if it takes over a second.

    Raises
    ------
    RuntimeError
        If a kernel cannot be compiled, with what was said about it.
    """
    with pool(processes) as executor:
        done = executor.map(_in_a_process, GROUPS)
        list(tqdm(done, total=len(GROUPS), desc="compiling", unit="kernels", delay=1, disable=not progress))


def _in_a_process(group):
    """Compile in an interpreter of its own: the compiler works on one kernel at a time in each."""
    here = str(Path(__file__).parents[1])
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", __name__, group]
    ran = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError(f"the kernels of {group} cannot be compiled: {ran.stderr.strip() or ran.returncode}")


def compile_group(group: str) -> None:
    """Run the kernels of a group on a few jobs, in this process."""
    GROUPS[group](model_trace("lublin", jobs=30, procs=16))


@contextmanager
def on_compiling(callback: Callable[[], None]) -> Iterator[None]:
    """Call back once if a kernel is compiled within the block; what comes from the cache on disk is not."""
    listener = _Kernels(callback)
    with numba_event.install_listener("numba:compile", listener):
        yield


class _Kernels(numba_event.Listener):
    """Hears of every function that numba begins to compile, in any thread."""

    def __init__(self, callback):
        self.callback = callback

    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        if self.callback is not None and (function.__module__ or "").startswith(KERNELS):
            callback, self.callback = self.callback, None
            callback()

    def on_end(self, event):
        pass


if __name__ == "__main__":
    compile_group(sys.argv[1])
