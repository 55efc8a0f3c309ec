"""Fairness of a schedule to each job: when it should have started, and how much later it did.

How evenly slowdowns are spread, and what each user got, say `Schedule.gini` and `Schedule.users`.
"""

import numpy as np
import pandas as pd

from .._runtime.text import check_known
from .._runtime.threads import pool
from ..schemes.cases import case_of
from . import Schedule
from .simulation import simulate


def fair_starts(
    schedule: Schedule, definition: str = "arrivals", *, jobs=None, window=None, threads: int | None = None
) -> pd.Series:
    """Return the fair start time of jobs, by job_number, in seconds on the clock of the log, like `Schedule.start`.

    Parameters
    ----------
    schedule : Schedule
        The schedule whose jobs, machine and scheme are used.
    definition : {"arrivals", "conservative", "fcfs"}
        When a job's start counts as fair.

        - ``"arrivals"``: its start under the same scheme if no job had arrived later (of jobs that arrive together:
          later in the trace). This takes one simulation per job: about a second for 2,000 jobs, and four times that for
          twice as many. For a long trace, choose some `jobs`.
        - ``"conservative"``: that under conservative backfilling with exact estimates (CONS_P). One simulation.
        - ``"fcfs"``: its start under strict first come, first served. Takes one simulation.
    jobs : list of int, optional
        Job numbers; default: all that are counted (`Trace.counted`).
    window : (begin, end), optional
        Only the jobs submitted in [begin, end): dates at the machine, or seconds on the clock of the log.
    threads : int, optional
        How many simulations run at a time. Default: one per core.

    Examples
    --------
    Job 4, which arrives last, is backfilled and delays job 3 from 8 to 11 s:

    >>> import schedlab as sl
    >>> jobs = [(0, 4, 4, 3), (1, 4, 4, 3), (1, 4, 4, 4), (2, 9, 9, 1)]  # submission, run time, estimate, processors
    >>> schedule = sl.simulate(sl.testing.trace_of(jobs, machine=4), "easy")
    >>> schedule.start.tolist(), sl.fair_starts(schedule).tolist()
    ([0, 4, 11, 2], [0, 4, 8, 2])

    References
    ----------
    Sabin, Kochhar and Sadayappan, "Job fairness in non-preemptive job scheduling", ICPP 2004: no later job should delay
    an earlier one. Leung, Sabin and Sadayappan, "Parallel job scheduling policies to improve fairness: a case study",
    ICPP Workshops 2010: CONS_P.
    """
    check_known("definition", definition, ("arrivals", "conservative", "fcfs"))
    numbers = schedule.trace.table.index
    if jobs is not None and window is not None:
        raise ValueError("jobs and window both say which jobs are meant, give one of them")
    place = np.flatnonzero(schedule.trace.some_counted(window)) if jobs is None else numbers.get_indexer(pd.Index(jobs))
    if (place < 0).any():
        unknown = pd.Index(jobs)[place < 0][0]
        raise ValueError(f"{schedule.trace.name} has no job {unknown}")
    if definition == "arrivals":
        start = _without_later(schedule, place, threads)
    else:
        start = _reference(schedule, definition)[place]
    return pd.Series(start, index=numbers[place], name="fair_start")


def _without_later(schedule, place, threads):
    if len(schedule.traces) > 1:
        raise ValueError(f"fair starts by arrivals need a single site; {schedule.trace.name} is one of several")
    if not schedule.scheme.simulated:
        reason = "is the recorded schedule and cannot be simulated"
        raise ValueError(f"{schedule.scheme} {reason}; choose another definition")
    scheme, conventions = schedule.scheme, (schedule.overrun, schedule.events)
    case, origin = case_of(schedule.trace, scheme, schedule.machine, *conventions)

    def start(job):
        outcome = scheme.outcome(case.first(job + 1))
        return outcome.start[job] / outcome.tick if outcome.in_pieces else outcome.start[job]

    with pool(threads) as executor:
        starts = list(executor.map(start, place.tolist()))
    return origin + np.array(starts, dtype=schedule.start.dtype)


def _reference(schedule, definition):
    trace = schedule.trace
    if definition == "conservative":
        trace = (trace.cut_at_estimates() if schedule.overrun == "kill" else trace).with_estimates("exact")
    return simulate(trace, definition, machine=schedule.machine, overrun=schedule.overrun, events=schedule.events).start


def fair_start_miss(
    schedule: Schedule, definition: str = "arrivals", *, jobs=None, window=None, threads=None
) -> pd.Series:
    """Measure how much later than their fair start times (`fair_starts`) jobs started.

    The measures are jobs (how many); unfair, the share that started later than fair; mean_miss, the mean of max(0,
    start - fair start) over all these jobs; and max_miss. Misses in seconds.

    Parameters
    ----------
    schedule, definition, jobs, window, threads : optional
        As in `fair_starts`.

    Examples
    --------
    >>> import schedlab as sl
    >>> jobs = [(0, 4, 4, 3), (1, 4, 4, 3), (1, 4, 4, 4), (2, 9, 9, 1)]  # submission, run time, estimate, processors
    >>> schedule = sl.simulate(sl.testing.trace_of(jobs, machine=4), "easy")
    >>> sl.fair_start_miss(schedule).to_dict()
    {'jobs': 4.0, 'unfair': 0.25, 'mean_miss': 0.75, 'max_miss': 3.0}
    """
    fair = fair_starts(schedule, definition, jobs=jobs, window=window, threads=threads)
    start = pd.Series(schedule.start, index=schedule.trace.table.index).reindex(fair.index)
    miss = (start - fair).clip(lower=0)
    measured = {"jobs": len(miss), "unfair": (miss > 0).mean(), "mean_miss": miss.mean(), "max_miss": miss.max()}
    return pd.Series(measured, name=definition)


def fairness_table(
    schedules, definition: str = "fcfs", *, jobs=None, window=None, threads: int | None = None
) -> pd.DataFrame:
    """Compare schedules by the measures of `fair_start_miss`, and by how unequal bounded slowdowns are (gini).

    Parameters
    ----------
    schedules : Schedule, or several
        One row each, indexed by scheme.
    definition, jobs, window, threads : optional
        As in `fair_starts`.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=300, machine=64, seed=1).scale_load(0.9)
    >>> schedules = sl.simulate_many([(trace, scheme) for scheme in ("fcfs", "easy", "easy-sjf")])
    >>> table = sl.fairness_table(schedules)
    >>> table["unfair"].round(2).to_dict()
    {'FCFS': 0.0, 'EASY': 0.0, 'EASY-SJF': 0.03}
    >>> chart = sl.charts.distribution(schedules, "bounded_slowdown")
    """
    schedules = [schedules] if isinstance(schedules, Schedule) else list(schedules)
    if not schedules:
        raise ValueError("there is no schedule to measure, give one or more")
    how = {"jobs": jobs, "window": window, "threads": threads}
    rows = [fair_start_miss(schedule, definition, **how) for schedule in schedules]
    table = pd.DataFrame(rows, index=pd.Index([str(schedule.scheme) for schedule in schedules], name="scheme"))
    return table.assign(gini=[schedule.gini(window=window) for schedule in schedules])
