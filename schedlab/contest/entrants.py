"""Who competes in an arena: schemes, what they need besides the log, and their runs on shaken copies of logs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product

import pandas as pd

from schedlab._runtime.text import spelt

from ..experiment.grids import several, table_of
from ..experiment.memory import remember
from ..machine import Flat, KaryTree, Partitions, Pools
from ..schedule.bounds import check_run_times, lower_bounds
from ..schedule.metrics import TAU, bounded_slowdown, classes
from ..schedule.simulation import machine_for, simulate
from ..schemes import DPSA, EASY, FCFS, Conservative, FairShareMoldable, Flooding, OpportuneShredding, Scheme
from ..schemes import scheme as scheme_named
from ..schemes.cases import case_of, check_trace
from ..schemes.composing import refusal
from ..workload.conventions import OVERRUN, run_times
from ..workload.labels import labels
from ..workload.loading import load_trace
from ..workload.speedup import Downey
from ..workload.trace import Trace

RIGID, JOBS_CHANGED, MACHINE_CHANGED = "rigid", "jobs changed", "machine changed"
LOADS = (0.6, 0.7, 0.8, 0.9, 0.95)
SHAKE = 60  # seconds
MEASURES = (
    "wait_time",
    "turnaround",
    "bounded_slowdown",
    "p95_wait_time",
    "max_wait_time",
    "makespan",
    "utilization",
    "loss_of_capacity_share",
)  # of a whole schedule, as `Schedule.metrics` has them
BOUNDED = ("wait_time", "turnaround", "bounded_slowdown", "makespan")  # measures that have lower bounds
CLASSES = ("SN", "SW", "LN", "LW")  # short or long, narrow or wide: the classes "kurian" of `metrics.classes`
JUDGED = (*MEASURES, "gini", "unfair", *(f"{name} {code}" for code in CLASSES for name in BOUNDED[:3]))
REFUSED = ["log", "scheme", "reason"]  # columns of `Arena.refused`
BETWEEN = "; "  # separates the names of tied schemes, since some contain commas


@dataclass(frozen=True)
class Entrant:
    """A scheme in the arena, and what it needs besides the log.

    Attributes
    ----------
    scheme : Scheme or name
    name : str, optional
        Its name in tables and charts. Default: the name of the scheme.
    kind : str, optional
        Entrants of the kind "rigid" compete for the wins; those of other kinds are only shown. Default: "jobs changed"
        or "machine changed" if the entrant or its scheme changes the jobs or the machine, otherwise "rigid".
    change : function, optional
        Takes a trace and a seed, and returns the trace that the scheme gets, such as one with moldable jobs. It must
        keep the number of jobs and their order.
    machine : function, optional
        Takes a trace, and returns the machine, such as a `KaryTree`. Default: that of the arena.

    Examples
    --------
    >>> import schedlab as sl
    >>> def moldable(trace, seed):
    ...     return trace.with_speedup(sl.Downey("system"), seed=seed)
    >>> def tree(trace):
    ...     return sl.KaryTree(k=4, n=3, allocation="contiguous")
    >>> own_procs = sl.Entrant(sl.FairShareMoldable(), "moldable jobs", change=moldable)
    >>> in_blocks = sl.Entrant("easy", "in blocks", machine=tree)
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64, seed=1)
    >>> result = sl.arena(trace, ["easy", own_procs, in_blocks], load=0.8, seed=1, rounds=None)
    >>> result.cells("turnaround")[["scheme", "kind", "value"]].round().values.tolist()
    [['EASY', 'rigid', 11609.0], ['moldable jobs', 'jobs changed', 7909.0], ['in blocks', 'machine changed', 16027.0]]
    """

    scheme: Scheme
    name: str = ""
    kind: str = ""
    change: Callable[[Trace, int], Trace] | None = None
    machine: Callable[[Trace], Flat | KaryTree | Pools] | None = None

    def __post_init__(self):
        object.__setattr__(self, "scheme", scheme_named(self.scheme))
        object.__setattr__(self, "name", self.name or str(self.scheme))
        for name in ("change", "machine"):
            if not (getattr(self, name) is None or callable(getattr(self, name))):
                raise TypeError(f"{name} of {self.name} is {spelt(getattr(self, name))}, expected a function")
        for name in ("name", "kind"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"{name} of an entrant is {spelt(getattr(self, name))}, expected a text")
        if BETWEEN in self.name:
            raise ValueError(f"the name of the entrant {self.name!r} has {BETWEEN!r}, which separates tied names")
        jobs = self.change is not None or self.scheme.needs is not None
        kind = JOBS_CHANGED if jobs else RIGID if self.machine is None else MACHINE_CHANGED
        if self.kind == RIGID != kind:
            raise ValueError(f"{self.name} is not a rigid entrant: {kind}; leave out kind, or give another")
        object.__setattr__(self, "kind", self.kind or kind)

    def __str__(self) -> str:
        return self.name


# The schemes for rigid jobs: those of the five papers, and related ones.
ENTRANTS = (
    FCFS(),
    EASY(),
    EASY(order="sjf"),
    EASY(backfill="sjf"),
    EASY(order="saf"),
    EASY(order="wfp3"),
    EASY(order="f1"),
    EASY(reservations=4),
    Conservative(),
    Entrant(Conservative(compression="reservation"), "Conservative, by reservation"),
    Entrant(Conservative(compression="rebuild"), "Conservative, rebuilt"),
    Entrant(Conservative(compression="none"), "Conservative, uncompressed"),
    Entrant(Conservative(compress_on="completion", repeat=True), "Conservative, repeated"),
    DPSA(variant="p"),
    DPSA(variant="n"),
    DPSA(variant="w"),
)
SHARE, SWEEPS, ARITY = 0.2, 0.05, 4  # share of moldable jobs; share of sweeps; arity of the tree


def moldable(trace: Trace, seed: int) -> Trace:
    """Make a fifth of the jobs moldable, as Sabin, Lang and Sadayappan draw them."""
    return trace.with_speedup(Downey(A="system", sigma=(0, 2)), share=SHARE, seed=seed)


def sweeping(trace: Trace, seed: int) -> Trace:
    """Make sweeps of a twentieth of the jobs, as Kurian draws them."""
    return trace.with_parameter_sweeps(SWEEPS, seed=seed)


def tree(trace: Trace) -> KaryTree:
    """Return the smallest 4-ary tree that holds the machine, on which jobs need nodes of one block."""
    return KaryTree(ARITY, max(1, math.ceil(math.log(trace.procs, ARITY) - 1e-9)))


LOOKAHEAD = DPSA(variant="n", budget=1_000, shadow="block")
# Entrants that change the jobs or the machine. They do not compete for wins, and run only the first jobs of each log.
OTHERS = (
    Entrant(FairShareMoldable(), "fair share, 20 % moldable", change=moldable),
    Entrant(Flooding(), "flooding, 5 % sweeps", change=sweeping),
    Entrant(OpportuneShredding(), "OJS, 5 % sweeps", change=sweeping),
    Entrant(EASY(), "EASY (count), nodes of one block", machine=tree),
    Entrant(EASY(shadow="block"), "EASY (block), nodes of one block", machine=tree),
    Entrant(Conservative(), "conservative, nodes of one block", machine=tree),
    Entrant(LOOKAHEAD, "DPSAn (block), nodes of one block", machine=tree),
)


def traces_by_name(traces):
    """Return traces by distinct names; those given by name are loaded."""
    loaded = [load_trace(trace) if isinstance(trace, str) else trace for trace in several("traces", traces)]
    for trace in loaded:
        check_trace(trace)
    return dict(zip(labels(loaded), loaded, strict=True))


def entrants_of(schemes):
    entrants = [scheme if isinstance(scheme, Entrant) else Entrant(scheme) for scheme in schemes]
    names = [entrant.name for entrant in entrants]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"two entrants are called {twice[0]!r}; give one of them another name: Entrant(scheme, name)")
    return entrants


@dataclass(frozen=True)
class Setting:
    """How the copies of an arena are made: the loads, the seeds, how far submissions move, and their machine."""

    loads: tuple[float, ...]
    seeds: tuple[int, ...]
    shake: int = SHAKE
    by: str = "run_time"
    tau: float = TAU
    machine: Flat | KaryTree | Pools | int | Callable[[Trace], Flat | KaryTree | Pools] | None = None


def machine_of(choice, trace):
    """Return the machine of a trace: that of a function of the trace, or a machine as `simulate` takes it."""
    return machine_for(choice(trace) if callable(choice) else choice, trace)


def check_machine(machine):
    """Return the machine of an arena; a mapping is `Partitions`."""
    if isinstance(machine, Mapping):
        return Partitions(machine)
    if machine is None or callable(machine) or isinstance(machine, Flat | KaryTree | Pools):
        return machine
    if isinstance(machine, int) and not isinstance(machine, bool):
        return machine
    raise TypeError(f"machine is {spelt(machine)}, expected a machine such as sl.Pools(...), or a function of a trace")


def refusals_of(traces, entrants, setting, bounded) -> pd.DataFrame:
    """Return who cannot run on a machine, and why: log, scheme, reason; raise if a job does not fit, or nobody runs.

    Only machines that are not the traces' own are looked at. With `bounded`, machines that have no bounds are refused.
    """
    rows = []
    for log, trace in traces.items():
        if setting.machine is not None:
            machine = machine_of(setting.machine, trace)
            case_of(trace, FCFS(), machine)  # raises for a job that does not fit
            if bounded:
                check_run_times(machine, OVERRUN[0])
        reasons = {entrant.name: _refusal(trace, entrant, setting) for entrant in entrants}
        refused = {name: reason for name, reason in reasons.items() if reason}
        if len(refused) == len(entrants):
            listed = "; ".join(dict.fromkeys(refused.values()))
            raise ValueError(f"no scheme can run {log} on its machine: {listed}")
        rows += [{"log": log, "scheme": name, "reason": reason} for name, reason in refused.items()]
    return pd.DataFrame(rows, columns=REFUSED)


def _refusal(trace, entrant, setting):
    choice = entrant.machine or setting.machine
    if choice is None:
        return ""
    trace = trace if entrant.change is None else entrant.change(trace, setting.seeds[0])
    return refusal(trace, entrant.scheme, machine_of(choice, trace))


def runs_of(traces, entrants, setting, refused, how):
    # All entrants in turn, so that each copy is made once.
    several = [({"scheme": entrant.name, "kind": entrant.kind}, {"entrant": entrant}) for entrant in entrants]
    pairs = set(zip(refused["log"], refused["scheme"], strict=True))
    return _tabled(_measured, traces, setting, several, pairs, how | {"activity": "simulating"})


def bounds_of(traces, setting, rounds, how):
    return _tabled(_bounded, traces, setting, [({}, {"rounds": rounds})], (), how | {"activity": "bounding"})


def _tabled(function, traces, setting, several, refused, how):
    """Run a function on each copy of each trace at each load, once for each of several names and values of a run."""
    common = {"shake": setting.shake, "by": setting.by, "tau": setting.tau}
    machine = {} if setting.machine is None else {"machine": setting.machine}
    names, runs = [], []
    for (log, trace), load, seed in product(traces.items(), setting.loads, setting.seeds):
        for named, values in several:
            if (log, named.get("scheme")) in refused:
                continue
            names.append({"log": log, "load": load, "seed": seed} | named)
            runs.append({"trace": trace, "load": load, "seed": seed} | common | machine | values)
    settings = common | {name: getattr(value, "__name__", str(value)) for name, value in machine.items()}
    return table_of(function, runs, names, settings, **how)


@remember(4)
def _copy(trace, load, seed, shake, by):
    return trace.scale_load(load, by=by).shake(shake, seed)


@remember(4)
def _first_come(trace, load, seed, shake, by, machine):
    copy = _copy(trace, load, seed, shake, by)
    return simulate(copy, FCFS(), machine=machine_of(machine, copy)).start


def _measured(trace, load, seed, shake, by, entrant, tau, machine=None):
    copy = _copy(trace, load, seed, shake, by)
    changed = copy if entrant.change is None else entrant.change(copy, seed)
    if len(changed) != len(copy):
        raise ValueError(f"change of {entrant} gave {len(changed):,} jobs, expected the {len(copy):,} of the copy")
    schedule = simulate(changed, entrant.scheme, machine=machine_of(entrant.machine or machine, changed))
    measures = schedule.metrics(tau=tau)[list(MEASURES)].to_dict()
    measures["gini"] = schedule.gini()
    late = schedule.start > _first_come(trace, load, seed, shake, by, machine)
    measures["unfair"] = float(late[copy.some_counted()].mean())
    return measures | _by_class(copy, schedule, tau)


def _by_class(copy, schedule, tau):
    """Return the means of each class of jobs; classes depend on run times and requested processors."""
    sizes = {"run_time": run_times(copy.table, OVERRUN[0]), "procs": copy.table["requested_procs"].to_numpy()}
    of_class = classes(pd.DataFrame(sizes), "kurian").to_numpy()
    turnaround = schedule.end - schedule.submit
    columns = {
        "wait_time": schedule.start - schedule.submit,
        "turnaround": turnaround,
        "bounded_slowdown": bounded_slowdown(turnaround, schedule.run, tau),
    }
    return {
        f"{name} {code}": float(values[jobs].mean()) if jobs.any() else float("nan")
        for code, jobs in ((code, copy.counted() & (of_class == code)) for code in CLASSES)
        for name, values in columns.items()
    }


def _bounded(trace, load, seed, shake, by, tau, rounds, machine=None):
    copy = _copy(trace, load, seed, shake, by)
    return lower_bounds(copy, machine_of(machine, copy), tau=tau, rounds=rounds)["bound"].to_dict()
