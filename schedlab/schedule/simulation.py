"""Simulate a trace under a scheme (`simulate`), a batch over threads (`simulate_many`), or sites (`simulate_sites`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral

import numpy as np

from .._runtime.calls import guided
from .._runtime.text import check_known, spelt
from .._runtime.threads import pool
from .._runtime.words import Events, Overrun
from ..machine import Flat, KaryTree, Partitions, Pools
from ..schemes import Scheme
from ..schemes import scheme as scheme_named
from ..schemes.cases import case_of, check_trace
from ..schemes.checking import checked
from ..schemes.pool_steps import simulation_of
from ..schemes.python import StepByStep
from ..schemes.steps import State
from ..workload.conventions import KILL_BACKFILLED, OVERRUN
from ..workload.trace import Trace
from . import Schedule, Sites

EVENTS = ("batched", "each")


@guided(
    call="simulate(trace, scheme), and name all others",
    load="trace.scale_load({}) gives a trace of that load",
    order="it belongs to the scheme, as in EASY(order={})",
    jobs="trace.head({}) gives the first jobs",
    seed="trace.shake(60, seed={}) gives a shaken copy",
)
def simulate(
    trace: Trace,
    scheme: str | Scheme = "easy",
    *,
    machine: Flat | KaryTree | Pools | Mapping | int | None = None,
    overrun: Overrun = "kill",
    events: Events = "batched",
) -> Schedule:
    """Simulate a trace under a scheme.

    Parameters
    ----------
    trace : Trace
        The workload.
    scheme : Scheme or str
        ``EASY()``, or a plain name: ``"fcfs"``, ``"easy"``, ``"easy-sjf"``, ``"conservative"``. For moldable jobs
        (`Trace.with_speedup`): ``IterativeMoldable()``, or ``"iterative"``, ``"shares"``, ``"greedy"``. ``"log"`` gives
        the schedule that really happened (`recorded`), whatever `overrun` and `events` are.
    machine : Flat, KaryTree, Pools, Partitions, mapping or int, optional
        If omitted, the trace's own machine. Any other must be large enough for the widest job. On a tree, FCFS and EASY
        place jobs on nodes. ``{"short": 64, "long": 128}`` makes `Partitions`, each with its own processors and queue;
        use ``schedule.metrics(by="partition")`` and `Schedule.partitions` to tell them apart.
    overrun : {"kill", "extend", "keep", "kill-backfilled"}
        What happens to a job that outlives its estimate.

        - "kill": it ends when its estimate expires.
        - "extend": its estimate is raised to its run time beforehand.
        - "keep": it runs on. Once its estimate has expired, the scheduler expects it to end one second from now.
          Supported by FCFS, EASY and DPSA.
        - "kill-backfilled": on a tree only. As "keep", but backfilled jobs are killed when the head needs their nodes.
    events : {"batched", "each"}
        When the scheduler acts: one scheduling pass per instant ("batched"), or one per event ("each"), as in some
        published simulators (`schedlab.kernels.cluster`), which is not available on a tree.

    Raises
    ------
    ValueError
        For settings that do not go together, or numbers too large to be exact. With each job counted at the longer of
        its run time and its estimate: the span from the first submission to the last, plus all jobs one after the
        other, must be below 2**53 s (285 million years); no job may hold 2**53 processor-seconds or more; and all jobs
        together must hold less than 2**62.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=1000, seed=1)
    >>> len(sl.simulate(trace, sl.EASY()).validate().jobs)
    1000

    With another order, on a busier and smaller workload:

    >>> trace = sl.model_trace("lublin", jobs=60, machine=64, seed=3).scale_load(0.9)
    >>> schedule = sl.simulate(trace, sl.EASY(order="sjf"))
    >>> str(schedule.scheme), schedule.machine.procs
    ('EASY-SJF', 64)
    >>> chart = sl.charts.gantt(schedule)
    """
    check_trace(trace)
    scheme, machine = scheme_named(scheme), machine_for(machine, trace)
    _check_conventions(overrun, events)
    case, origin = case_of(trace, scheme, machine, overrun, events)
    return Schedule(trace, scheme, machine, case.overrun, case.events, scheme.outcome(case), origin)


class Steps:
    """A simulation that advances by one pass per step of the loop; `schedlab.steps` makes it.

    Each step yields the `State` of a pass, always the same object; in pools, the `PoolState` of the pool that the pass
    is in, one object for each pool. At the end, `schedule` holds the result.
    """

    def __init__(self, trace, machine, overrun):
        self._trace, self._scheme = trace, StepByStep()
        self._case, self._origin = case_of(trace, self._scheme, machine, overrun)
        self._scheme.check(self._case)
        self._simulation, self._done = simulation_of(self._case, self._scheme), False

    def __repr__(self) -> str:
        return f"<Steps of {self._trace.title}: {str(self._simulation).strip('<>')}>"

    def __iter__(self) -> Iterator[State]:
        yield from self._simulation._passes()
        self._done = True

    @property
    def schedule(self) -> Schedule:
        """The schedule, once all passes are over."""
        if not self._done:
            raise RuntimeError(f"not all passes are over: {self._simulation!r}; go on until the loop ends")
        case = self._case
        outcome = checked(self._scheme, case, self._simulation._outcome())
        return Schedule(self._trace, self._scheme, case.machine, case.overrun, case.events, outcome, self._origin)


def steps(trace: Trace, *, machine: Flat | Pools | Mapping | int | None = None, overrun: Overrun = "kill") -> Steps:
    """Simulate a trace step by step: look at the state, decide, go on. At the end, ``schedule`` holds the result.

    Parameters
    ----------
    trace : Trace
        The workload.
    machine : Flat, Pools, mapping or int, optional
        As in `simulate`; one with a topology is refused.
    overrun : {"kill", "extend", "keep"}
        As in `simulate`.

    Examples
    --------
    >>> import schedlab as sl
    >>> simulation = sl.steps(sl.model_trace("lublin", jobs=100, seed=1))
    >>> for state in simulation:
    ...     for job in sorted(state.queue, key=lambda job: job.estimate):
    ...         if job.procs <= state.free:
    ...             state.start(job)
    >>> len(simulation.schedule.validate())
    100
    """
    check_trace(trace)
    _check_conventions(overrun, "batched")
    machine = machine_for(machine, trace)
    if isinstance(machine, KaryTree):
        raise ValueError(f"steps need a machine without a topology, got {machine}")
    return Steps(trace, machine, overrun)


def recorded(trace: Trace) -> Schedule:
    """Return the schedule that really happened, from the log's waits, to chart, measure and compare like any other.

    A job starts at its submission plus the log's wait, and runs as long as the log says, even beyond its estimate. It
    holds the processors that it requested, as in simulations, so that the two compare job by job. A job without a
    recorded wait counts as started on submission; `Schedule.notes` says so. The notes also say if the log holds more
    processors than the machine has; `Schedule.validate` then raises. ``simulate(trace, "log")`` is the same.

    What was submitted after the log ends is not on record, and after its last submission the machine seems to drain:
    charts over time end there, and ``window=(begin, end)`` gives measures of a period before it. The notes name runs
    that last months where others take hours, as if their ends were never recorded.

    Parameters
    ----------
    trace : Trace
        Read from a log, not generated. Parts of it (`head`, `between`), other estimates, sweeps and speed-up data are
        fine. Changing times or the machine is not: the log's waits would no longer belong to the jobs.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.workload.sacct import example_path
    >>> trace = sl.read_sacct(example_path(), machine=128, partition="long")
    >>> str(sl.recorded(trace).scheme)
    'log'
    """
    check_trace(trace)
    return simulate(trace, "log")


def simulate_sites(
    traces: Sequence[Trace],
    scheme: str | Scheme = "ojs",
    *,
    speeds: Sequence[int] | None = None,
    machines: Sequence[Flat | int] | None = None,
    begins: Sequence | None = None,
    overrun: Overrun = "kill",
) -> Sites:
    """Simulate several sites, each with its own trace and queue, that share the tasks of their parameter sweeps.

    Parameters
    ----------
    traces : sequence of Trace
        One per site, with sweeps marked by `Trace.with_parameter_sweeps`. Run times are those at the trace's own site.
    scheme : Scheme or str
        ``OpportuneShredding()``. Under any other scheme the sites do not interact.
    speeds, machines : sequence of int, of Flat or int, optional
        Relative speed and machine of each site. Default: equal speeds, and each trace's own machine.
    begins : sequence of str or number, optional
        One instant per trace that all sites share as their common begin: a date at its machine, or a second on the
        clock of its log. Default: each trace's first submission, so logs of different months run side by side;
        `Sites.begins` and its repr say which instants are taken as the same. For logs of one clock, give the same date.
    overrun : {"kill", "extend"}
        As in `simulate`.

    Examples
    --------
    >>> import schedlab as sl
    >>> traces = [sl.model_trace("lublin", jobs=200, seed=seed).with_parameter_sweeps(0.2) for seed in (1, 2)]
    >>> len(sl.simulate_sites(traces, "ojs", speeds=(2, 1)).validate().jobs)
    400
    """
    traces = [traces] if isinstance(traces, Trace) else list(traces)
    if not traces:
        raise ValueError("traces is an empty list, expected one trace for each site")
    for trace in traces:
        check_trace(trace)
    scheme, n = scheme_named(scheme), len(traces)
    _check_conventions(overrun, "batched")
    speeds = (1,) * n if speeds is None else (speeds,) if np.isscalar(speeds) else tuple(speeds)
    for name, values in (("speeds", speeds), ("machines", machines), ("begins", begins)):
        if values is not None and len(values) != n:
            raise ValueError(f"{name} has {len(values)} values, expected one for each of {n} sites")
    for speed in speeds:
        if isinstance(speed, bool) or not isinstance(speed, Integral) or speed < 1:
            raise ValueError(f"speeds must be whole numbers of at least 1, relative to one another, got {spelt(speed)}")
    machines = [machine_for(machine, trace) for machine, trace in zip(machines or [None] * n, traces, strict=True)]
    for machine in machines:
        if not isinstance(machine, Flat):
            raise ValueError(f"sites must be machines without a topology, got {machine}")
    pairs = [case_of(trace, scheme, machine, overrun) for trace, machine in zip(traces, machines, strict=True)]
    cases, origins = zip(*pairs, strict=True)
    if begins is not None:
        begins = [int(trace.seconds(begin)) for trace, begin in zip(traces, begins, strict=True)]
        after = [origin - begin for origin, begin in zip(origins, begins, strict=True)]
        cases = [_later(case, by - min(after)) for case, by in zip(cases, after, strict=True)]
        origins = [begin + min(after) for begin in begins]
    for case in cases:
        scheme.check(case)
    outcomes = list(scheme.simulate_sites(cases, tuple(map(int, speeds))))
    if len(outcomes) != len(cases):
        raise ValueError(f"{scheme} gave {len(outcomes)} outcomes, expected one for each of {len(cases)} sites")
    outcomes = [checked(scheme, case, outcome) for case, outcome in zip(cases, outcomes, strict=True)]
    schedules = [
        Schedule(trace, scheme, case.machine, case.overrun, case.events, outcome, origin, site, tuple(traces))
        for site, (trace, case, outcome, origin) in enumerate(zip(traces, cases, outcomes, origins, strict=True))
    ]
    return Sites(tuple(schedules), speeds)


def _later(case, seconds):
    return replace(case, jobs=case.jobs._replace(submit=case.jobs.submit + seconds))


def _check_conventions(overrun, events):
    check_known("overrun", overrun, (*OVERRUN, KILL_BACKFILLED))
    check_known("events", events, EVENTS)


@guided(call='simulate_many([(trace, "easy"), (trace, "fcfs")])')
def simulate_many(runs: Iterable[tuple], *, threads: int | None = None, **conventions) -> list[Schedule]:
    """Return the schedules of a batch of traces and schemes, simulated over any number of threads.

    Parameters
    ----------
    runs : iterable of (Trace, Scheme or str) or (Trace, Scheme or str, machine)
        Each run's load, seed and parameters are already in its trace, scheme and machine.
    threads, **conventions : int, optional
        How many run at a time (default: one per core); machine, overrun and events, as in `simulate`.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=300, machine=64, seed=1).scale_load(0.8)
    >>> schedules = sl.simulate_many([(trace, scheme) for scheme in ("fcfs", "easy", "conservative")])
    >>> fcfs, easy, _ = (schedule.metrics()["wait_time"] for schedule in schedules)
    >>> bool(easy < fcfs)
    True
    >>> chart = sl.charts.distribution(schedules)
    """
    runs = list(runs)
    for place, run in enumerate(runs):
        if not (isinstance(run, tuple | list) and 2 <= len(run) <= 3):
            what = type(run).__name__ if isinstance(run, Trace | Schedule) else spelt(run)
            raise TypeError(f'run {place} is {what}, expected a pair such as (trace, "easy")')

    def simulated(run):
        trace, scheme, *machine = run
        return simulate(trace, scheme, **conventions, **({"machine": machine[0]} if machine else {}))

    with pool(threads) as executor:
        return list(executor.map(simulated, runs))


def machine_for(machine: Flat | KaryTree | Pools | Mapping | int | None, trace: Trace):
    """Turn `machine`, as `simulate` takes it, into a machine, and check that the trace can run on it."""
    if machine is None:
        machine = trace.procs
    if isinstance(machine, int | np.integer):
        machine = Flat(int(machine))
    if isinstance(machine, Mapping):
        machine = Partitions(machine)
    if isinstance(machine, Pools):
        return machine  # its jobs are checked later, once their partitions are known
    if isinstance(machine, KaryTree):
        if machine.procs is None and trace.procs > (most := machine.k**machine.n):
            instead = f"trace.with_machine({most}) drops wider jobs and says so, or use a larger tree"
            tree = f"a {machine.k}-ary {machine.n}-tree, which has {most:,}"
            raise ValueError(f"{trace.procs:,} nodes do not fit on {tree}: {instead}")
        machine = machine.holding(trace.procs)
    if not isinstance(machine, Flat | KaryTree):
        raise TypeError(f"machine is {spelt(machine)}, expected processors or a machine such as Flat(128)")
    widest = trace.table["requested_procs"].to_numpy().max(initial=0)
    if widest > machine.procs:
        instead = f"trace.with_machine({machine.procs}) drops such jobs and says so"
        raise ValueError(f"{trace.name} has a job of {widest} processors, the machine {machine.procs}: {instead}")
    return machine
