"""`simulate`: a trace and a scheme in, a schedule out; `simulate_many`, over threads; `simulate_sites`, on several."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral

import numpy as np

from .machine import Flat, KaryTree, Partitions
from .schedule import Schedule, Sites
from .schemes import Scheme
from .schemes import scheme as scheme_named
from .schemes.base import checked
from .schemes.cases import case_of, check_trace
from .schemes.python import StepByStep
from .schemes.steps import State
from .text import check_known
from .threads import pool
from .workload.trace import KILL_BACKFILLED, OVERRUN, Trace

EVENTS = ("batched", "each")


def simulate(
    trace: Trace,
    scheme: str | Scheme = "easy",
    *,
    machine: Flat | KaryTree | Partitions | Mapping | int | None = None,
    overrun: str = "kill",
    events: str = "batched",
) -> Schedule:
    """Simulate a trace under a scheme.

    Parameters
    ----------
    trace : Trace
        The workload.
    scheme : Scheme or str
        ``EASY()``, or a plain name: ``"fcfs"``, ``"easy"``, ``"easy-sjf"``, ``"conservative"``. For moldable jobs
        (`Trace.with_speedup`) ``IterativeMoldable()`` or ``"iterative"``, ``"fairshare"``, ``"greedy"``.
        ``"log"`` is what really happened (`recorded`), whatever the conventions.
    machine : Flat, KaryTree, Partitions, mapping or int, optional
        The trace's own machine if left out; or one that its widest job fits on. On a tree FCFS and EASY place jobs
        on nodes. ``{"short": 64, "long": 128}`` are `Partitions`, each with its own processors and queue;
        ``schedule.metrics(by="partition")`` and `Schedule.partitions` tell them apart.
    overrun : {"kill", "extend", "keep", "kill-backfilled"}
        What becomes of a job that outlives its estimate.

        - "kill": it ends there.
        - "extend": its estimate is raised to its run time beforehand.
        - "keep": it runs on; once its estimate has expired, the scheduler expects its end one second from now. Under
          FCFS, EASY and DPSA.
        - "kill-backfilled": on a tree, as "keep", but a job that was backfilled ends where the head of the queue needs
          its nodes.
    events : {"batched", "each"}
        One scheduling pass for each instant, or one for each single event as some published simulators have
        it (`schedlab.kernels.cluster`); on a tree batched only.

    Returns
    -------
    Schedule

    Raises
    ------
    ValueError
        For settings that do not go together, or where numbers would not be exact: from the first submission to the last
        and then all run times or estimates, whichever are longer, one after the other, must take less than 2**53 s (285
        million years); a job's processors x that time must be less than 2**53 processor-seconds, and the sum over all
        jobs less than 2**62.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=1000, seed=1)
    >>> len(sl.simulate(trace, sl.EASY()).validate().jobs)
    1000
    """
    check_trace(trace)
    scheme, machine = scheme_named(scheme), machine_for(machine, trace)
    _check_conventions(overrun, events)
    case, origin = case_of(trace, scheme, machine, overrun, events)
    return Schedule(trace, scheme, machine, case.overrun, case.events, scheme.outcome(case), origin)


class Steps:
    """A simulation that goes on from pass to pass as it is iterated over; `schedlab.steps` makes it.

    Iterating gives the `State` of each pass, always the same object. When all jobs have started and ended, `schedule`
    has the result.
    """

    def __init__(self, trace, machine, overrun):
        self._trace, self._scheme = trace, StepByStep()
        self._case, self._origin = case_of(trace, self._scheme, machine, overrun)
        self._scheme.check(self._case)
        self.state, self._done = State(self._case, self._scheme), False

    def __iter__(self) -> Iterator[State]:
        yield from self.state._passes()
        self._done = True

    @property
    def schedule(self) -> Schedule:
        """The schedule.

        Raises
        ------
        RuntimeError
            Before the last pass.
        """
        if not self._done:
            raise RuntimeError(f"not all passes are over: {self.state!r}; go on until the loop ends")
        case = self._case
        outcome = checked(self._scheme, case, self.state._outcome())
        return Schedule(self._trace, self._scheme, case.machine, case.overrun, case.events, outcome, self._origin)


def steps(trace: Trace, *, machine: Flat | int | None = None, overrun: str = "kill") -> Steps:
    """Simulate a trace step by step: look at the state, decide, and go on.

    Parameters
    ----------
    trace : Trace
        The workload.
    machine : Flat or int, optional
        The trace's own machine if left out.
    overrun : {"kill", "extend", "keep"}
        As in `simulate`.

    Returns
    -------
    Steps
        To iterate over; ``schedule`` has the result.

    Raises
    ------
    ValueError
        For a machine with a topology or partitions, and for another overrun.

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
    if not isinstance(machine, Flat):
        raise ValueError(f"steps are of one machine without a topology, got {machine}")
    return Steps(trace, machine, overrun)


def recorded(trace: Trace) -> Schedule:
    """Give the schedule that really happened, by the waits of the log; to be charted, measured, compared like others.

    A job starts at its submission + the log's wait and runs as long as the log says, beyond its estimate too. It holds
    the processors that simulations give it, those requested, so that both compare job by job. A job whose wait is not
    recorded counts as started when it was submitted. `Schedule.notes` says so, and where the log holds more processors
    than the machine has; `Schedule.validate` raises there. ``simulate(trace, "log")`` is the same.

    Parameters
    ----------
    trace : Trace
        Of a log; parts of it (`head`, `between`), other estimates, sweeps and speed-up data will do. After anything
        that changes times or the machine, the log's waits are no longer those of the jobs.

    Raises
    ------
    ValueError
        For a generated trace, or one that was changed.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.workload.sacct import example_path
    >>> trace = sl.read_sacct(example_path(), procs=128, partition="long")
    >>> str(sl.recorded(trace).scheme)
    'log'
    """
    check_trace(trace)
    return simulate(trace, "log")


def has_waits(trace: Trace) -> bool:
    """Tell whether `recorded` has waits to go by."""
    real = trace.source not in ("model", "stand-in") and not trace.altered
    return real and bool((trace.table["wait_time"] >= 0).any())


def simulate_sites(
    traces: Sequence[Trace],
    scheme: str | Scheme = "ojs",
    *,
    speeds: Sequence[int] | None = None,
    machines: Sequence[Flat | int] | None = None,
    begins: Sequence | None = None,
    overrun: str = "kill",
) -> Sites:
    """Simulate several sites, each with its own trace and queue, that share the tasks of their parameter sweeps.

    Parameters
    ----------
    traces : sequence of Trace
        One for each site, marked by `Trace.with_sweeps`. Run times are those of the trace's own site.
    scheme : Scheme or str
        ``OpportuneShredding()``; under any other the sites do not interact.
    speeds : sequence of int, optional
        How fast the sites are, compared with each other; all alike if left out.
    machines : sequence of Flat or int, optional
        The traces' own if left out.
    begins : sequence of str or number, optional
        For each trace a date at its machine, or a second on the clock of its log: these instants fall together. The
        first submissions if left out.
    overrun : {"kill", "extend"}
        As in `simulate`.

    Returns
    -------
    Sites

    Raises
    ------
    ValueError
        For settings that do not go together, or lists that do not have one value for each site.

    Examples
    --------
    >>> import schedlab as sl
    >>> traces = [sl.model_trace("lublin", jobs=200, seed=seed).with_sweeps(0.2) for seed in (1, 2)]
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
    for name, given in (("speeds", speeds), ("machines", machines), ("begins", begins)):
        if given is not None and len(given) != n:
            raise ValueError(f"{name} has {len(given)} values, expected one for each of {n} sites")
    for speed in speeds:
        if isinstance(speed, bool) or not isinstance(speed, Integral) or speed < 1:
            raise ValueError(f"speeds are whole numbers of at least 1, compared with each other, got {speed!r}")
    machines = [machine_for(one, trace) for one, trace in zip(machines or [None] * n, traces, strict=True)]
    for machine in machines:
        if not isinstance(machine, Flat):
            raise ValueError(f"sites are machines without a topology, got {machine}")
    cases, origins = zip(
        *(case_of(trace, scheme, one, overrun) for trace, one in zip(traces, machines, strict=True)), strict=True
    )
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


def simulate_many(runs: Iterable[tuple], *, threads: int | None = None, **conventions) -> list[Schedule]:
    """Simulate a batch of traces and schemes over threads; the result is the same for any number of them.

    Parameters
    ----------
    runs : iterable of (Trace, Scheme or str) or (Trace, Scheme or str, machine)
        Loads, seeds and parameters are in the traces, the schemes and the machines.
    threads : int, optional
        One for each core if left out.
    **conventions
        machine, overrun and events, as in `simulate`.

    Returns
    -------
    list of Schedule
        In the order of `runs`.
    """
    return list(simulate_each(runs, threads=threads, **conventions))


def simulate_each(runs: Iterable[tuple], *, threads: int | None = None, **conventions) -> Iterator[Schedule]:
    """Do what `simulate_many` does, one schedule at a time, in order, as soon as it is there."""

    def one(run):
        trace, scheme, *machine = run
        return simulate(trace, scheme, **conventions, **({"machine": machine[0]} if machine else {}))

    with pool(threads) as executor:
        yield from executor.map(one, runs)


def machine_for(machine: Flat | KaryTree | Partitions | Mapping | int | None, trace: Trace):
    """Give the machine that is meant, if a trace can run on it; parameters as of `simulate`."""
    if machine is None:
        machine = trace.procs
    if isinstance(machine, int | np.integer):
        machine = Flat(int(machine))
    if isinstance(machine, Mapping):
        machine = Partitions(machine)
    if isinstance(machine, Partitions):
        return machine  # whose jobs are checked when their partitions are known
    if isinstance(machine, KaryTree):
        if machine.procs is None and trace.procs > (most := machine.k**machine.n):
            raise ValueError(
                f"{trace.procs:,} nodes do not fit on a {machine.k}-ary {machine.n}-tree, which has {most:,}: "
                f"trace.with_procs({most}) drops wider jobs and says so, or take a larger tree"
            )
        machine = machine.holding(trace.procs)
    if not isinstance(machine, Flat | KaryTree):
        raise TypeError(f"machine is {machine!r}, expected processors or a machine such as Flat(128)")
    widest = trace.table["requested_procs"].max()
    if widest > machine.procs:
        raise ValueError(
            f"{trace.name} has a job of {widest} processors, the machine {machine.procs}: "
            f"trace.with_procs({machine.procs}) drops such jobs and says so"
        )
    return machine
