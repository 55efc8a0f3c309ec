"""`simulate` and `simulate_many`: a workload and a configuration in, a `GangSchedule` out."""

import operator
from collections.abc import Iterable

import numpy as np

from schedlab._runtime.text import spelt
from schedlab._runtime.threads import interruptible, pool
from schedlab.kernels.gang import state
from schedlab.kernels.gang.slices import gang

from .config import Config
from .schedule import GangSchedule
from .times import nanoseconds
from .workload import Workload

LOGGED = 4096  # entries of the log; doubled when more are needed


def simulate(
    workload: Workload,
    config: Config | str = "gang",
    *,
    log: tuple[float, float] | None = None,
    watch: Iterable[tuple[int, int]] = (),
) -> GangSchedule:
    """Simulate a workload on its machine until its horizon.

    Parameters
    ----------
    workload : Workload
        The jobs, the machine and the horizon.
    config : Config or str
        The settings, or the name of a scheduler, which leaves all other settings at their defaults.
    log : (float, float), seconds, optional
        Log what PEs do in all slices that overlap this span (`GangSchedule.log`).
    watch : iterable of (int, int)
        Tasks, as (job number, rank from 0), whose memberships are kept slice by slice (`GangSchedule.memberships`).

    Returns
    -------
    GangSchedule

    Raises
    ------
    TypeError
        If the workload or the config has another type.
    ValueError
        If the scheduler is unknown, the span is invalid or not within the horizon, or a task to watch does not exist.

    Examples
    --------
    >>> import schedlab as sl
    >>> workload = sl.gang.Workload("io", pes=4, horizon=2000, seed=1)
    >>> reference, local = (sl.gang.simulate(workload, name).validate() for name in ("gang", "priority"))
    >>> bool(local.utilization > reference.utilization)
    True
    """
    if not isinstance(workload, Workload):
        raise TypeError(f"workload is a {type(workload).__name__}, expected a gang.Workload")
    config = Config(config) if isinstance(config, str) else config
    if not isinstance(config, Config):
        raise TypeError(f"config is a {type(config).__name__}, expected a gang.Config or the name of a scheduler")
    jobs = workload.jobs_table
    rules = config.rules(int(workload.pes), workload.horizon, len(jobs))
    watch = _tasks(watch)
    for job, rank in watch:
        if job not in jobs.index:
            raise ValueError(f"there is no job {job} to watch, only {len(jobs)} until the horizon")
        if not 0 <= rank < jobs["procs"][job]:
            raise ValueError(f"job {job} has no task {rank} to watch, expected 0 to {jobs['procs'][job] - 1}")
    span = (0, 0)
    if log is not None:
        log = _span(log, workload.horizon)
        span = tuple(map(nanoseconds, log))
    before = jobs["procs"].cumsum() - jobs["procs"] if watch else None
    watched = np.array([before[job] + rank for job, rank in watch], "int64")
    room, logged = workload.room, LOGGED if log is not None else 0
    while True:
        full, *outcome = interruptible(gang, *workload.arrays, rules, room, state.Logging(logged, *span), watched)
        if not full:
            return GangSchedule(workload, config, rules, jobs, log, watch, *outcome)
        room *= 2 if full & state.NO_ROOM else 1
        logged *= 2 if full & state.NO_LOG else 1


def simulate_many(runs: Iterable[tuple], *, threads: int | None = None, **more) -> list[GangSchedule]:
    """Simulate several runs on several threads; the results do not depend on the number of threads.

    Parameters
    ----------
    runs : iterable of (Workload, Config or str)
        The arguments of `simulate`.
    threads : int, optional
        Number of threads (default: one per core).
    **more
        log and watch, as in `simulate`.

    Returns
    -------
    list of GangSchedule
        In the order of the runs.

    Raises
    ------
    TypeError, ValueError
        As `simulate`; also if `runs` does not hold pairs.

    Examples
    --------
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> workload = sl.gang.Workload(("io", "emb"), pes=8, horizon=2000, seed=1)
    >>> schedules = sl.gang.simulate_many([(workload, scheduler) for scheduler in sl.gang.SCHEDULERS])
    >>> [schedule.arrived for schedule in schedules]
    [7, 7, 7, 7]
    >>> table = pd.DataFrame([schedule.metrics() for schedule in schedules]).rename_axis("scheduler").reset_index()
    >>> chart = sl.charts.shares(table.melt("scheduler", sl.gang.DOES, "what", "share"), "scheduler")
    """
    expected = "expected pairs of a Workload and a Config or its scheduler"
    if not isinstance(runs, Iterable):
        raise ValueError(f"runs is {spelt(runs)}, {expected}")
    runs = list(runs)
    for run in runs:
        if not (isinstance(run, tuple | list) and len(run) == 2):
            raise ValueError(f"a run is {spelt(run)}, {expected}")
    more["watch"] = _tasks(more.get("watch", ()))
    with pool(threads) as executor:
        return list(executor.map(lambda run: simulate(*run, **more), runs))


def _tasks(watch):
    """Check the tasks to be watched, and return them as pairs of int."""
    wrong = ValueError(f"watch is {spelt(watch)}, expected tasks: pairs of a job's number and a rank")
    try:
        tasks = tuple((job, rank) for job, rank in watch)
        return tuple((operator.index(job), operator.index(rank)) for job, rank in tasks)
    except (TypeError, ValueError):
        raise wrong from None


def _span(log, horizon):
    """Check the span to be logged, and return it as two times in seconds, at most the horizon."""
    try:
        begin, end = log[0], min(log[1], horizon)
        right = len(log) == 2 and begin >= 0 and nanoseconds(begin) < nanoseconds(end)
    except (TypeError, ValueError, IndexError, KeyError):
        right = False
    if not right:
        raise ValueError(
            f"log is {spelt(log)}, expected two times in seconds, the earlier first, from 0 to below the horizon, "
            f"{horizon}"
        )
    return begin, end
