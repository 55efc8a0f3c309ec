"""Measures of a schedule: per job, per class of jobs, and of the machine.

Means count every job equally. Where authors differ, a function names the source of its definition. Arrays such as
`start` and `end` are seconds on the clock of the log, int64, shape (n_jobs,).
"""

import numpy as np
import pandas as pd

from .grouping import CALENDAR as CALENDAR
from .grouping import CLASSES as CLASSES
from .grouping import SABIN_EDGES as SABIN_EDGES
from .grouping import SABIN_NAMES as SABIN_NAMES
from .grouping import SHORT as SHORT
from .grouping import check_classes as check_classes
from .grouping import classes as classes
from .grouping import is_calendar as is_calendar
from .tables import CLASS_WORDS as CLASS_WORDS
from .tables import MEASURES as MEASURES
from .tables import Measures as Measures
from .tables import MeasureTable as MeasureTable
from .tables import written as written

TAU = 10.0  # seconds; Feitelson 2001
DAY, WEEK = 86_400, 7 * 86_400  # seconds


def slowdown(turnaround, run):
    """Return turnaround / run time; float64, shape (n_jobs,).

    A job of length zero has slowdown 1 if it did not wait, and inf if it did. The load filter leaves such jobs out; the
    bounded slowdown was invented for them.

    Parameters
    ----------
    turnaround, run : array, shape (n_jobs,), seconds
        From submission to end, and from start to end.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.metrics.slowdown([30, 20, 0], [10, 20, 0]).tolist()
    [3.0, 1.0, 1.0]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        # fmax ignores the nan of 0 / 0, where turnaround and run time are equal.
        return np.fmax(np.true_divide(turnaround, run), np.equal(turnaround, run))


def bounded_slowdown(turnaround, run, tau=TAU):
    """Return max(1, turnaround / max(run, tau)); float64, shape (n_jobs,).

    Parameters
    ----------
    turnaround, run : array, shape (n_jobs,), seconds
        As in `slowdown`.
    tau : float, seconds
        Run times below tau count as tau; above 0.

    Examples
    --------
    A job of 1 s that waited 29 s has slowdown 30. Its run time counts as 10 s:

    >>> import schedlab as sl
    >>> sl.metrics.bounded_slowdown([30, 300], [1, 100]).tolist()
    [3.0, 3.0]

    References
    ----------
    Feitelson, "Metrics for parallel job scheduling and their convergence", JSSPP 2001.
    """
    return np.maximum(turnaround / _at_least(tau, run), 1.0)


def per_processor_slowdown(turnaround, run, procs, tau=TAU):
    """Return max(1, turnaround / (processors x max(run, tau))); float64, shape (n_jobs,).

    Parameters
    ----------
    turnaround, run, procs : array, shape (n_jobs,)
        As in `slowdown`; processors of each job.
    tau : float, seconds
        As in `bounded_slowdown`.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.metrics.per_processor_slowdown([400, 400], [100, 100], procs=[1, 2]).tolist()
    [4.0, 2.0]

    References
    ----------
    Zotkin and Keleher, "Job-length estimation and performance in backfilling schedulers", HPDC 1999.
    """
    return np.maximum(turnaround / (procs * _at_least(tau, run)), 1.0)


def _at_least(tau, run):
    if not tau > 0:
        raise ValueError(f"tau must be greater than 0, got {tau}")
    return np.maximum(run, tau)


def area_weighted_turnaround(turnaround, area):
    """Return the mean turnaround in seconds, each job weighted by the processor-seconds that it held; float64.

    Every processor-second counts equally, so serving small jobs first does not by itself lower it. It is nan if no job
    held any.

    Parameters
    ----------
    turnaround, area : array, shape (n_jobs,)
        Seconds from submission to end, and the processor-seconds that each job held: run time x processors.

    Examples
    --------
    A job of 100 s on 3 processors that did not wait, and one of 100 s on 1 processor that waited 300 s:

    >>> import schedlab as sl
    >>> sl.metrics.area_weighted_turnaround([100, 400], area=[300, 100])
    175.0

    References
    ----------
    Goponenko, Lamar, Peterson, Allan, Brandt and Dechev, "Metrics for packing efficiency and fairness of HPC cluster
    batch job scheduling", SBAC-PAD 2022. Boëzennec, Dufossé and Pallez, "Qualitatively analyzing optimization
    objectives in the design of HPC resource manager", ACM TOMPECS, 2024, recommend it in place of plain means.
    """
    area = np.asarray(area, dtype="float64")  # products of long times and large areas exceed int64
    total = area.sum()
    return float((turnaround * area).sum() / total) if total else float("nan")


def throughput_deviation(end, begin, until, period):
    """Return the standard deviation of the jobs completed in a period, such as a day; float64.

    Periods follow each other from `begin`, so the first is never cut short. The last is left out unless it is over by
    `until`. A job belongs to the period in which it ends (at its very end: to the next one). The variance of n periods
    divides by n - 1; with fewer than two periods it is nan.

    Parameters
    ----------
    end : array, shape (n_jobs,), seconds
        End of each job.
    begin, until, period : float, seconds
        The time that is measured: from the first submission to the last end of the schedule; and such as `DAY` or
        `WEEK`.

    Examples
    --------
    Two days with 3 jobs and 1 job; the half day after them does not count:

    >>> import numpy as np
    >>> import schedlab as sl
    >>> end = 3600 * np.array([1, 2, 23, 30, 60])
    >>> round(sl.metrics.throughput_deviation(end, begin=0, until=end[-1], period=sl.metrics.DAY), 3)
    1.414

    References
    ----------
    Boëzennec, Dufossé and Pallez (as for `area_weighted_turnaround`) recommend it beside utilization.
    """
    count = int((until - begin) // period)
    if count < 2:
        return float("nan")
    place = ((np.asarray(end) - begin) // period).astype("int64")
    place = place[(place >= 0) & (place < count)]
    _, jobs = np.unique(place, return_counts=True)  # periods without an end have no entry: there may be far more
    mean = jobs.sum() / count  # of them than jobs
    return float(np.sqrt((((jobs - mean) ** 2).sum() + (count - len(jobs)) * mean**2) / (count - 1)))


def pile_up(time, queue):
    """Find the longest pile-up of a queue: its begin and end in seconds, which are equal if there is none.

    A pile-up begins when the queue grows beyond its mean over time, and ends when at most half of that mean is left.
    The gap between the two levels ignores small dips.

    Parameters
    ----------
    time, queue : array, shape (n_instants,)
        Seconds, in order, each once; jobs queued from each instant until the next (the last value does not count).

    Examples
    --------
    The mean is 0.9 jobs. One job alone is a pile-up; so are the seconds from 5 to 8, when the queue is empty again:

    >>> import numpy as np
    >>> import schedlab as sl
    >>> time, queue = np.array([0, 1, 2, 5, 6, 7, 8, 10]), np.array([0, 1, 0, 4, 3, 1, 0, 0])
    >>> [int(instant) for instant in sl.metrics.pile_up(time, queue)]
    [5, 8]

    References
    ----------
    Gunther and Wolff, "The almost regenerative method for stochastic system simulations", Operations Research 28, 1980:
    cycles between two levels, where a queue rarely is empty.
    """
    queue, lasts = queue[:-1], np.diff(time)
    total = lasts.sum()
    mean = (queue * lasts).sum() / total if total else 0.0
    long, short = _beginnings(queue > mean), _beginnings(queue <= mean / 2)
    if not long.size:
        return time[0], time[0]
    # All that is long before the same short queue is one pile-up.
    following = np.searchsorted(short, long)
    first = np.flatnonzero(np.diff(following, prepend=-1))
    begin, end = time[long[first]], np.append(time[short], time[-1])[following[first]]
    longest = (end - begin).argmax()
    return begin[longest], end[longest]


def _beginnings(holds):
    """Return the places where a condition begins to hold."""
    return np.flatnonzero(holds & ~np.append(False, holds[:-1]))


def utilization(start, end, procs, machine, window):
    """Return the share of the machine's processor-seconds in a window that jobs held; nan for an empty window.

    Parameters
    ----------
    start, end, procs : array, shape (n_jobs,)
        When each job held its processors (seconds), and how many.
    machine : int
        Processors.
    window : (float, float)
        Seconds, [begin, end).

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.metrics.utilization(start=[0, 4], end=[10, 6], procs=[2, 4], machine=8, window=(0, 10))
    0.35
    """
    begin, finish = window
    held = np.clip(np.minimum(end, finish) - np.maximum(start, begin), 0, None)
    return float((held * procs).sum() / (machine * float(finish - begin))) if finish > begin else float("nan")


def effective_work(run, procs, efficiency=1.0):
    """Return the sequential work done, in processor-seconds: the sum of run time x processors x efficiency.

    Sabin's effective load is this divided by processors x span. A rigid job counts as perfectly efficient.

    Parameters
    ----------
    run, procs : array, shape (n_jobs,)
        Run times (seconds) and processors.
    efficiency : float or array, shape (n_jobs,)
        Speedup per processor.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.metrics.effective_work(run=[10, 10], procs=[4, 8], efficiency=[1.0, 0.5])
    80.0
    """
    return float((np.asarray(run) * np.asarray(procs) * efficiency).sum())


def states(time, changes):
    """Sum up changes: return the distinct times, and for each quantity its state from then until the next.

    Parameters
    ----------
    time : int64, shape (n_changes,)
        When something changes, in any order.
    changes : for each quantity int64, shape (n_changes,)
        The change of each quantity at each time.

    Examples
    --------
    Two jobs on 2 and 3 processors, from 0 to 10 s and from 4 to 6 s:

    >>> import numpy as np
    >>> import schedlab as sl
    >>> instants, used = sl.metrics.states(np.array([0, 4, 10, 6]), [np.array([2, 3, -2, -3])])
    >>> instants.tolist(), used.tolist()
    ([0, 4, 6, 10], [2, 5, 2, 0])
    """
    order = np.argsort(time, kind="stable")
    time = time[order]
    last = np.flatnonzero(np.append(np.diff(time) > 0, True))
    # One array at a time: stacking them and taking columns changes the memory layout, and adding up is then 5x as
    # slow.
    return time[last], *(np.cumsum(row[order])[last] for row in changes)


def loss_of_capacity(timeline, machine):
    """Return Kurian's loss of capacity in processor-seconds: idle processors that queued jobs could have used.

    It is min(processors that queued jobs want, idle processors), integrated over time.

    Parameters
    ----------
    timeline, machine : DataFrame, int
        `Schedule.timeline`, and the number of processors, or an array of those from each row until the next.

    Examples
    --------
    Until 2 s, 3 of 8 processors are idle while a job waits for 4:

    >>> import pandas as pd
    >>> import schedlab as sl
    >>> timeline = pd.DataFrame({"time": [0, 2, 5], "used": [5, 8, 0], "demand": [4, 0, 0]})
    >>> sl.metrics.loss_of_capacity(timeline, machine=8)
    6
    """
    lasts = np.diff(timeline["time"]).astype("float64")  # int64 would wrap if a large machine idles for very long
    idle = np.maximum(machine - timeline["used"].to_numpy()[:-1], 0)  # a log may hold more than the machine has
    return int((np.minimum(timeline["demand"].to_numpy()[:-1], idle) * lasts).sum())


def gini(values) -> float:
    """Return the Gini coefficient of non-negative values: 0 if all are equal, near 1 if one has nearly everything.

    Half the mean absolute difference of two values drawn at random, divided by their mean; nan if none is above 0.

    Parameters
    ----------
    values : array-like, shape (n,)
        All at least 0.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.metrics.gini([5, 5, 5, 5]), sl.metrics.gini([0, 0, 0, 20])
    (0.0, 0.75)

    References
    ----------
    Gini, "Variabilita e mutabilita", 1912; as a sum over sorted values, Sen, "On Economic Inequality", 1973.
    """
    values = np.sort(np.asarray(values, dtype="float64"))
    total = values.sum()
    if not total > 0:
        return float("nan")
    if values[0] < 0:
        raise ValueError(f"the least value is {values[0]:g}, expected no value below 0")
    rank = np.arange(1, values.size + 1)
    return float(((2 * rank - values.size - 1) * values).sum() / (values.size * total))


def user_shares(jobs: pd.DataFrame) -> pd.DataFrame:
    """Return each user's share of the machine, largest area first.

    For each user_id (-1: unknown) the table has jobs, area (processor-seconds held), share (of all area held), and the
    user's mean wait_time (seconds) and bounded_slowdown.

    Parameters
    ----------
    jobs : DataFrame
        `Schedule.jobs`.

    Examples
    --------
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> jobs = pd.DataFrame({"submit": [0, 1, 2], "run": 60, "procs": [2, 1, 1], "user": ["ann", "bob", "ann"]})
    >>> trace = sl.from_frame(jobs, submit="submit", run="run", procs="procs", user="user", machine=4)
    >>> sl.metrics.user_shares(sl.simulate(trace).jobs)["share"].tolist()
    [0.75, 0.25]
    """
    users = jobs.assign(area=jobs["run_time"] * jobs["procs"]).groupby("user_id")
    area = users["area"].sum()
    table = pd.DataFrame({"jobs": users.size(), "area": area, "share": area / area.sum()})
    table = table.join(users[["wait_time", "bounded_slowdown"]].mean())
    return table.sort_values("area", ascending=False, kind="stable")
