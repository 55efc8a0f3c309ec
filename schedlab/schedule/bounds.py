"""Lower bounds on the measures of a trace, which hold for every schedule, scheme and order.

A schedule of a trace gives each job a start, not before its submission. From then on, the job holds its processors for
its run time. At no instant do jobs hold more processors than the machine has. Everything here follows from that alone.
No scheme can do better, even one that knows all run times and arrivals in advance; a scheme that must decide as jobs
arrive will rarely come close.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from .._runtime.threads import interruptible
from .._runtime.words import Overrun
from ..kernels.relaxations import least_busy_time, least_turnaround, raise_prices
from ..machine import Flat, KaryTree, Pools
from ..schemes import EASY
from ..schemes.cases import MOST_WORK, case_of, check_trace
from ..workload.conventions import KILL_BACKFILLED
from ..workload.trace import Trace
from . import Schedule
from .metrics import TAU
from .simulation import machine_for

PROOFS = ("run times", "area", "wide jobs", "shortest first", "prices")
SHARES = (1, 2, 3, 4)  # k: jobs wider than a (k + 1)th of the machine, of which at most k run at a time
BINS = 32_000  # for the finest prices
LEVELS = (16, 4, 1)  # how much coarser the first prices are
ROUNDS = 150  # at each level
SLACK = 1e-9  # fraction of the summed values: tolerance for floating-point rounding


def lower_bounds(
    trace: Trace,
    machine: Flat | KaryTree | Pools | Mapping | int | None = None,
    *,
    overrun: Overrun = "kill",
    tau: float = TAU,
    rounds: int = ROUNDS,
) -> pd.DataFrame:
    """Compute lower bounds on the mean wait, turnaround and bounded slowdown and on the makespan of a trace.

    They hold for every schedule that runs each job once, without interruption, on the processors that it requests.
    Schemes that choose the widths of jobs or split sweeps may beat them, so traces of such jobs are refused:
    ``trace.with_speedup(model, share=0)`` or ``trace.with_parameter_sweeps(0)`` has the same jobs, all rigid. A lead-in
    (`Trace.between`) is left out, which can only lower the bounds on the jobs that count.

    Parameters
    ----------
    trace : Trace
        The workload.
    machine : Flat, KaryTree, Pools, mapping or int, optional
        As in `simulate`. For a tree, only the number of nodes counts, and it must have no speed-up. For pools, only
        their processors count: what other resources, windows and limits cost beyond that is not in the bounds.
    overrun : {"kill", "extend", "keep"}
        As in `simulate`: how long jobs run.
    tau : float, seconds
        Threshold of the bounded slowdown.
    rounds : int
        Rounds of the search for good prices, at each of three levels; 0 omits "prices".

    Returns
    -------
    DataFrame
        One row per measure (wait_time, turnaround, makespan in seconds; bounded_slowdown): `bound`, the largest of all;
        `by`, how it was proved; then one column per proof, nan if the proof does not apply to the measure.

    Notes
    -----
    The proofs, for jobs with submission r, start s, run time p, width w on P processors:

    - "run times": no job ends before r + p.
    - "area": consider a machine that does w processor-seconds of each running job per second, at most P in all. The
      mean busy time of a job, the mean instant at which its work is done, is s + p / 2 in any schedule, so the sum of
      the waits s - r follows from the sum of mean busy times. That sum is smallest if the available job with the
      largest weight for its work always goes first [1]_, [2]_. For the makespan: the jobs submitted from r on take at
      least their work / P after r.
    - "wide jobs": of the jobs wider than P / (k + 1), at most k run at a time. More generally, the argument for the
      area holds with any function of w / P that adds up to at most 1 wherever the widths add up to at most P [3]_. The
      values k = 1 to 4 are tried.
    - "shortest first": the same machine, with its whole rate for the job of least remaining work, has the smallest sum
      of turnarounds of all machines that may interrupt jobs [4]_.
    - "prices": each processor-second has a price that depends on its time, and each job starts where the sum of its
      wait and its processors' prices is smallest, regardless of the other jobs. In any schedule, the jobs together pay
      for processors at most what the whole machine is worth at these prices. So the least that all jobs would pay,
      minus the worth of the machine, is a lower bound on the cost of waiting, whatever the prices [5]_, [6]_. A
      subgradient method searches for good prices. This is the linear relaxation of the time-indexed formulation.

    The bounded slowdown is 1 plus a cost of waiting: 1 / max(p, tau) per second, where a job shorter than tau first
    waits for the difference without cost. So the same proofs hold with these weights. The tests check all bounds
    against the best schedules of thousands of small instances.

    References
    ----------
    .. [1] Goemans, Queyranne, Schulz, Skutella and Wang, "Single machine scheduling with release dates", SIAM Journal
       on Discrete Mathematics 15(2), 2002.
    .. [2] Turek, Ludwig, Wolf, Fleischer, Tiwari, Glasgow, Schwiegelshohn and Yu, "Scheduling parallelizable tasks to
       minimize average response time", SPAA 1994: squashed area.
    .. [3] Fekete and Schepers, "New classes of fast lower bounds for bin packing problems", Mathematical Programming
       91, 2001: dual feasible functions, u(k).
    .. [4] Schrage, "A proof of the optimality of the shortest remaining processing time discipline", Operations
       Research 16(3), 1968.
    .. [5] Dyer and Wolsey, "Formulating the single machine sequencing problem with release dates as a mixed integer
       program", Discrete Applied Mathematics 26, 1990.
    .. [6] Avella, Boccia and D'Auria, "Near-optimal solutions of large-scale single-machine scheduling problems",
       INFORMS Journal on Computing 17(2), 2005.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=300, machine=64, seed=1).scale_load(0.9)
    >>> bounds = sl.lower_bounds(trace)
    >>> bool(bounds.loc["wait_time", "bound"] <= sl.simulate(trace, "easy").metrics()["wait_time"])
    True
    """
    check_trace(trace)
    check_rigid(trace)
    trace = trace.without_lead_in()
    machine = machine_for(machine, trace)
    check_run_times(machine, overrun)
    case, _ = case_of(trace, EASY(), Flat(machine.procs) if isinstance(machine, KaryTree) else machine, overrun)
    parts = [part for part in case.parts() if len(part)] if isinstance(machine, Pools) else [case]
    # Other resources, windows and limits can only delay jobs: what holds without them holds.
    parts = [replace(part, machine=Flat(part.machine.procs), pooled=None) for part in parts]
    count, jobs = len(case), case.jobs
    least = [_of_part(part, tau, rounds) for part in parts]
    waits, slowed = (pd.DataFrame([bound[name] for bound in least]).sum() / count for name in ("wait", "slowdown"))
    rows = {
        "wait_time": waits,
        "turnaround": waits + jobs.run.mean(),
        "bounded_slowdown": slowed + 1,
        "makespan": pd.DataFrame([bound["makespan"] for bound in least]).max(),
    }
    table = pd.DataFrame(rows).T.reindex(columns=PROOFS).rename_axis("measure")
    table.insert(0, "bound", table.max(axis=1))
    table.insert(1, "by", table[list(PROOFS)].idxmax(axis=1))
    return table


def check_run_times(machine: Flat | KaryTree | Pools, overrun: str) -> None:
    """Raise if run times depend on the schedule."""
    if overrun == KILL_BACKFILLED or (isinstance(machine, KaryTree) and any(machine.saved())):
        raise ValueError("bounds need jobs with known run times; here run times depend on the schedule")
    if isinstance(machine, Pools) and machine.on_closure == "kill" and machine.interrupts:
        raise ValueError("bounds need jobs with known run times; here closed windows may end jobs, on_closure='kill'")


def check_rigid(trace: Trace) -> None:
    """Raise if a trace has jobs that need not run in one piece on the processors that they request."""
    molds = int(trace.laws().moldable.sum()) if trace.has_speedup else 0
    sweeps = int((trace.table["breakdown"] > 0).sum()) if "breakdown" in trace.table else 0
    for count, kind, rigid in (
        (molds, "moldable jobs", "with_speedup(sl.Downey(), share=0)"),
        (sweeps, "parameter sweeps, which may be split", "with_parameter_sweeps(0)"),
    ):
        if count:
            way_out = f"trace.{rigid} has the same jobs, all of them rigid"
            raise ValueError(f"bounds are for rigid jobs, and {trace.name} has {count:,} {kind}: {way_out}")


def _of_part(case, tau, rounds):
    """Return, by proof, the least costs of waiting (seconds; slowdown) and the least makespan of a machine's jobs."""
    submit, run, _, procs = case.jobs
    capacity = case.machine.procs
    longest = np.maximum(run, tau)
    costs = {"wait": (np.ones(run.size), np.zeros(run.size, np.int64))}
    costs["slowdown"] = 1 / longest, np.ceil(longest - run).astype(np.int64)
    machines = {"area": [(procs, capacity)], "wide jobs": [_wide(procs, capacity, k) for k in SHARES]}
    bounds = {name: {"run times": 0.0} for name in costs}
    bounds["makespan"] = {"run times": int((submit + run).max())}
    for proof, several in machines.items():
        several = [machine for machine in several if machine[1] * (float(submit[-1]) + run.sum()) < MOST_WORK]
        bounds["makespan"][proof] = max((_makespan(case.jobs, *machine) for machine in several), default=0)
        for name, cost in costs.items():
            bounds[name][proof] = max((_by_area(case.jobs, *machine, *cost) for machine in several), default=0.0)
        best = bounds["wait"].get("shortest first", 0.0)
        bounds["wait"]["shortest first"] = max([best, *(_by_remaining(case.jobs, *machine) for machine in several)])
    if rounds:
        reference = EASY().simulate(case)
        for name, cost in costs.items():
            bounds[name]["prices"] = _by_prices(case, reference, *cost, rounds)
    return bounds


def _wide(procs, capacity, k):
    """Return widths of jobs and machine that allow at most k jobs wider than a (k + 1)th of the machine at a time.

    This is the function u(k) of [3], times k (k + 1).
    """
    whole, rest = np.divmod((k + 1) * procs, capacity)
    return np.where(rest == 0, whole * k, whole * (k + 1)), k * (k + 1)


def _makespan(jobs, procs, capacity):
    after = np.cumsum((jobs.run * procs)[::-1])[::-1]  # the work submitted from each job on
    return float((jobs.submit + after / capacity).max())


def _by_area(jobs, procs, capacity, slope, free):
    """Bound the cost of waiting by mean busy times: of all jobs, or of the jobs whose waits cost from the beginning."""
    most = 0.0
    for counted in [np.ones(slope.size, bool)] if not free.any() else [np.ones(slope.size, bool), free == 0]:
        width = np.where(counted, procs, 0)
        work = jobs.run * width
        order = np.argsort(-np.divide(slope, work, out=np.full(work.size, np.inf), where=work > 0), kind="stable")
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        least = interruptible(least_busy_time, jobs.submit, jobs.run, width, capacity, slope, rank)
        known = slope[work > 0] @ (jobs.run[work > 0] / 2)
        most = max(most, _safe(least - known - slope[counted] @ free[counted], least + known))
    return most


def _by_remaining(jobs, procs, capacity):
    least = interruptible(least_turnaround, jobs.submit, jobs.run, procs, capacity)
    known = float(jobs.run[procs > 0].sum())
    return _safe(least - known, least + known)


def _by_prices(case, reference, slope, free, rounds):
    submit, run, _, procs = case.jobs
    horizon = int(reference.end.max()) + 1
    finest, target = -(-horizon // BINS), 0.5 * float(slope @ np.maximum(reference.start - submit - free, 0))
    most, price, before = 0.0, None, 1
    for level in dict.fromkeys(LEVELS if finest > 1 else (1,)):
        step = finest * level
        places = np.arange(-(-horizon // step))
        price = np.zeros(places.size) if price is None else price[places * step // before]
        before = step
        arguments = (submit, run, procs, case.machine.procs, slope, free, price, step, rounds, target)
        value = interruptible(raise_prices, *arguments)
        most = max(most, _safe(value, abs(value) + case.machine.procs * step * float(price.sum())))
    return most


def _safe(value, summed):
    """Return a bound that is safe from rounding: reduced by the possible error of its sums, but at least 0."""
    return max(0.0, float(value) - SLACK * float(summed))


def gaps(schedules, bounds: pd.DataFrame | None = None) -> pd.DataFrame:
    """Tell how far, at most, schedules are from the best possible schedule.

    The table has, for each scheme and measure, value, bound, by, and above (percent): the value is at most this far
    above that of any schedule.

    Parameters
    ----------
    schedules : Schedule or list of Schedule
        Schedules of one trace on one machine. None ran jobs in pieces, or on other processors than they request.
    bounds : DataFrame, optional
        As returned by `lower_bounds`. Default: those of the first schedule's trace.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=300, machine=64, seed=1).scale_load(0.9)
    >>> table = sl.gaps([sl.simulate(trace, scheme) for scheme in ("fcfs", "easy")])
    >>> table.columns.tolist()
    ['scheme', 'measure', 'value', 'bound', 'by', 'above']
    """
    schedules = [schedules] if isinstance(schedules, Schedule) else list(schedules)
    if bounds is None:
        first = schedules[0]
        bounds = lower_bounds(first.trace, first.machine, overrun=first.overrun)
    rows = []
    for schedule in schedules:
        other = schedule.procs != schedule.trace.table["requested_procs"].to_numpy()
        if schedule.outcome.in_pieces or other.any():
            held = "split jobs" if schedule.outcome.in_pieces else f"chose the processors of {int(other.sum()):,} jobs"
            raise ValueError(f"bounds are for rigid jobs, and {schedule.scheme} {held}, so it may beat them")
        measures = schedule.metrics()
        for measure, bound, by in bounds[["bound", "by"]].itertuples():
            value = measures[measure]
            above = 100 * (value / bound - 1) if bound else np.inf if value else 0.0
            rows.append((str(schedule.scheme), measure, value, bound, by, above))
    return pd.DataFrame(rows, columns=["scheme", "measure", "value", "bound", "by", "above"])
