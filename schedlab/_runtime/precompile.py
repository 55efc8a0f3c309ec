"""Compile every kernel ahead of its first use, several at once."""

import hashlib
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from tqdm.auto import tqdm

from .. import gang
from ..kernels._jit import CACHE
from ..kernels.iterative import decision
from ..machine import Closed, KaryTree, Pools
from ..schedule.bounds import lower_bounds
from ..schedule.simulation import recorded, simulate
from ..schemes import by_name
from ..schemes.conservative import Conservative
from ..schemes.lookahead import DPSA
from ..schemes.rigid import EASY
from ..workload.loading import model_trace, read_swf
from ..workload.speedup import Downey
from .compiling import SECONDS, has_compiled, not_here, target
from .digests import sources
from .paths import cache_dir, replacing
from .remarks import progress as is_on

try:
    import fcntl
except ModuleNotFoundError:
    fcntl = None


def _gang(trace):
    gang.simulate(gang.Workload("msg", pes=2, horizon=100), "gang").validate()


def _trees(trace):
    schedule = simulate(trace, "easy", machine=KaryTree(k=4, n=2)).validate()
    schedule.fragmentation()


def _plans(trace):
    for scheme in (Conservative(), DPSA(budget=10)):
        simulate(trace, scheme, machine=KaryTree(k=4, n=2))  # what validates it is compiled with the other trees


def _others(trace):
    with tempfile.TemporaryDirectory() as folder:
        trace.to_swf(path := Path(folder) / "log.swf")
        # Lenient, because this reads the text; with the cached table of the log, the parser would not be compiled.
        schedule = recorded(read_swf(path, lenient=True))
        schedule.processors(), schedule.started_by


def _bounds(trace):
    lower_bounds(trace, rounds=2)


def _decision(trace):
    """Make one decision, as Sabin's live figures do."""
    ends, held = np.array([10]), np.array([1])
    estimate, procs = (trace.jobs[name].to_numpy(copy=True) for name in ("requested_time", "requested_procs"))
    decision(ends, held, estimate, procs, trace.procs, trace.with_speedup(Downey()).laws(), 0)


def _reservations(trace):
    simulate(trace, EASY(reservations="all", may_backfill=lambda requested_procs: requested_procs > 1))


def _pools(trace):
    machine = Pools({"all": 16}, closed=Closed(1000, 2000), column="none")
    for scheme in (EASY(), Conservative(), EASY(reservations=2)):
        simulate(trace, scheme, machine=machine).column("started_by")


NEEDED = {
    None: lambda trace: trace,
    "speedup": lambda trace: trace.with_speedup(Downey()),
    "sweeps": lambda trace: trace.with_parameter_sweeps(0.5, min_procs=2),
}
LONGEST_FIRST = ("gang", "pools", "shredding", "moldable", "trees", "plans", "conservative", "lookahead")


def groups() -> dict[str, list[Callable]]:
    """Return the groups that are compiled together, as calls with a trace; schemes of one module share most kernels."""
    calls = {"gang": [_gang], "trees": [_trees], "plans": [_plans], "others": [_others], "moldable": [_decision]}
    calls |= {"pools": [_pools], "conservative": [_reservations], "rigid": [_bounds]}  # they share most with these
    for make in by_name().values():
        scheme, module = make(), make.func.__module__.removeprefix("schedlab.schemes.")
        if scheme.simulated:
            calls.setdefault(module, []).append(partial(_simulated, scheme))
    return {name: calls[name] for name in sorted(calls, key=_place)}


def _simulated(scheme, trace):
    simulate(NEEDED[scheme.needs](trace), scheme).validate()


def _place(name):
    return LONGEST_FIRST.index(name) if name in LONGEST_FIRST else len(LONGEST_FIRST)


def compile_kernels(processes: int | None = None, progress: bool = True) -> None:
    """Compile every kernel into the cache on disk, unless it is already there; by default in a process per core.

    Raises OSError if no folder can keep the compiled kernels, RuntimeError with the cause if one cannot be compiled.
    """
    if CACHE is None:
        raise OSError(
            f"{cache_dir('numba')}: compiled kernels cannot be kept there; set SCHEDLAB_CACHE to another folder"
        )
    names, listing = groups(), _done()
    known = names.keys() <= SECONDS.keys()  # kernels of other packages may change unseen
    if known and _still_there(listing):
        return
    # A free worker takes the next group. An interpreter compiles one kernel at a time, and shared pieces once for all.
    processes = processes or os.cpu_count()
    workers = Parallel(
        processes,
        return_as="generator_unordered",
        backend="loky",
        batch_size=1,
        pre_dispatch="all",
        idle_worker_timeout=1,  # seconds; the compiler takes much memory
    )
    looked_at = workers(delayed(_looked_at)(name) for name in names)
    with warnings.catch_warnings():
        # joblib replaces a worker that takes too much memory, and warns of it.
        warnings.filterwarnings("ignore", "A worker stopped", UserWarning)
        silent = not (progress and is_on())
        bar = tqdm(looked_at, total=len(names), desc="compiling", unit="kernels", delay=1, disable=silent)
        compiled = any([*bar])
    if compiled or not known:
        return  # two processes that compile at a time may overwrite each other's files; the next call looks again
    with suppress(OSError), replacing(listing) as part:  # the list only saves time
        files = {str(path.relative_to(CACHE)): path.stat().st_size for path in CACHE.rglob("*.nb[ci]")}
        part.write_text(json.dumps(files))


def _done():
    """Return the file that lists what is compiled, for these sources on this machine, by name and size."""
    inputs = repr((sources(), Path(__file__).read_bytes(), *target()))  # this file says how kernels are called
    return CACHE / f"complete-{hashlib.sha256(inputs.encode()).hexdigest()[:16]}.json"


def _still_there(listing):
    """Tell whether all kernels were compiled once and their files are as they were. Running each takes seconds."""
    try:
        return all((CACHE / name).stat().st_size == size for name, size in json.loads(listing.read_text()).items())
    except (OSError, ValueError, AttributeError):
        return False


def _looked_at(group):
    """Compile a group; tell whether this process has compiled any kernel so far."""
    try:
        compile_group(group)
        return has_compiled()
    except Exception as error:  # joblib would not say which group failed
        raise RuntimeError(f"the kernels of {group} cannot be compiled: {error!r}") from error


def compile_group(group: str) -> None:
    """Run the kernels of a group on a few jobs, in this process."""
    not_here()
    trace = model_trace("lublin", jobs=30, machine=16)
    for run in groups()[group]:
        run(trace)


@contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Tell whether no other process compiles ahead into a folder, and keep others out for the duration of the block."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "ahead.lock", "wb") as stream:
        if fcntl is None:  # Windows: some work may be done twice, without harm
            yield True
            return
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)  # released when the process ends, however it ends
        except OSError:
            yield False
        else:
            yield True


if __name__ == "__main__":
    with alone(CACHE) as first:
        for group in sys.argv[1:] if first else ():
            _looked_at(group)
