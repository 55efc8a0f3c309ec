"""Measures of a schedule: of each job, over classes of jobs, and of the machine.

Means are unweighted over jobs; a function names the source of its definition where authors differ. `start`, `end` and
so on are seconds on the clock of the log, int64, shape (n_jobs,).
"""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from . import display
from .workload.columns import WORDS

TAU = 10.0  # seconds; Feitelson 2001

SABIN_EDGES = (0, 200, 3_200, 100_000, 2_000_000, np.inf)
SABIN_NAMES = ("tiny", "200-3,200", "3,200-100,000", "100,000-2,000,000", "over 2,000,000")
CLASSES = ("kurian", "sabin", "size")
WIDE, LONG = 32, 3600  # Kurian: processors and seconds from which a job is wide, long

# What each measure of a schedule is called, and its unit: seconds ("s"), a share of 1, a number of something, or none.
MEASURES = {
    "jobs": ("jobs", ""),
    "wait_time": ("mean wait", "s"),
    "median_wait_time": ("median wait", "s"),
    "p95_wait_time": ("95th percentile of the wait", "s"),
    "max_wait_time": ("longest wait", "s"),
    "turnaround": ("mean turnaround", "s"),
    "slowdown": ("mean slowdown", ""),
    "bounded_slowdown": ("mean bounded slowdown", ""),
    "per_processor_slowdown": ("mean per-processor slowdown", ""),
    "killed": ("killed at their estimate", "jobs"),
    "wasted_share": ("wasted of what was held", "share"),
    "utilization": ("utilization", "share"),
    "makespan": ("makespan", "s"),
    "throughput": ("throughput", "jobs per hour"),
    "loss_of_capacity": ("loss of capacity", "processor-seconds"),
    "loss_of_capacity_share": ("loss of capacity, of all capacity", "share"),
    "mean_queue": ("mean queue", "jobs"),
    "max_queue": ("longest queue", "jobs"),
    "offered_load": ("offered load", ""),
    "effective_load": ("effective load", ""),
    # Of gang scheduling, beside some of these.
    "placed": ("placed in the matrix by the horizon", "jobs"),
    "completed": ("completed by the horizon", "jobs"),
    "one_task_share": ("of one task, of the completed jobs", "share"),
    "computing": ("time of the PEs spent computing", "share"),
    "communicating": ("time spent communicating", "share"),
    "spinning": ("time spent spinning", "share"),
    "switching": ("time spent switching", "share"),
    "idle": ("time spent idle", "share"),
}
MOST_ROWS = 60  # of a table that shows itself; of a longer one the ends
VALUES = {"mean", "low", "high"}  # columns in the unit of their row


def written(measure: str, value: float, like: float | None = None) -> str:
    """Write the value of a measure with its unit; a duration in the unit of another one.

    Parameters
    ----------
    measure : str
        Its name, as in `MEASURES`; any other has no unit.
    value : float
        In the unit of the measure: seconds, shares, processor-seconds.
    like : float, seconds, optional
        The duration whose unit is taken; default: `value`.

    Returns
    -------
    str
        Such as "2.14 h".

    Examples
    --------
    >>> written("wait_time", 7720.5), written("utilization", 0.84321), written("mean_queue", 3.25)
    ('2.14 h', '84.3 %', '3.25 jobs')
    """
    unit = MEASURES.get(measure, ("", ""))[1]
    if unit == "s":
        return display.duration(value, like)
    if unit == "share":
        return f"{100 * value:.3g} %" if np.isfinite(value) else display.number(value)
    if unit == "processor-seconds":
        return f"{display.number(value / 3600)} processor-hours"
    return f"{display.number(value)} {unit}".strip()


class Measures(pd.Series):
    """Measures of a schedule: a Series that shows itself with units; what is made of it is a plain Series."""

    @property
    def _constructor(self):
        return pd.Series

    def __repr__(self) -> str:
        rows = self._written()
        widths = [max(map(len, column), default=0) for column in zip(*rows, strict=True)]
        lines = [f"{name:<{widths[0]}}  {value:>{widths[1]}}  {words}".rstrip() for name, value, words in rows]
        return "\n".join([str(self.name), *lines])

    def _repr_html_(self) -> str:
        rows = [(words or name, value, name) for name, value, words in self._written()]
        shown = display.table(("measure", "", "name"), rows, words=(0, 2))
        return display.page(display.line("", strong=str(self.name)), shown)

    def _written(self):
        """Give a row for each: its name, its value with unit, and what it is called."""
        return [(str(name), written(name, value), MEASURES.get(name, ("",))[0]) for name, value in self.items()]


class MeasureTable(pd.DataFrame):
    """A table of measures: a DataFrame that shows itself with units; what is made of it is plain."""

    @property
    def _constructor(self):
        return pd.DataFrame

    @property
    def _constructor_sliced(self):
        return pd.Series

    def __repr__(self) -> str:
        return self._written().to_string()

    def _repr_html_(self) -> str:
        shown = self._written()
        index = [" ".join(map(str, np.atleast_1d(name))) for name in shown.index.to_flat_index()]
        head = [" ".join(str(name) for name in shown.index.names if name is not None)]
        rows = [[name, *row] for name, row in zip(index, shown.to_numpy().tolist(), strict=True)]
        more = f"{len(self):,} rows; the first and the last {MOST_ROWS // 2} are shown" if len(self) > MOST_ROWS else ""
        names = [*head, *map(str, shown.columns)]
        words = [place for place, name in enumerate(names) if place == 0 or name == "note"]
        return display.page(display.table(names, rows, words), display.line(more, faint=True))

    def _written(self):
        """Give the same as text, cells with their units."""
        plain = pd.DataFrame(self)
        if len(plain) > MOST_ROWS:
            plain = pd.concat([plain.head(MOST_ROWS // 2), plain.tail(MOST_ROWS // 2)])
        if set(plain.columns) >= VALUES:  # a measure a row
            rows, middle = plain.index.get_level_values(-1), plain["mean"]
            cells = {
                name: [
                    _cell(row if name in VALUES else name, value, like)
                    for row, value, like in zip(rows, column, middle, strict=True)
                ]
                for name, column in plain.items()
            }
        else:
            cells = {name: [_cell(name, value, column.median()) for value in column] for name, column in plain.items()}
        return pd.DataFrame(cells, index=plain.index, dtype="object")


def _cell(measure, value, like):
    """Write one value of many: durations in the unit of most, counts without one."""
    if isinstance(value, str):
        return value
    unit = MEASURES.get(measure, ("", ""))[1]
    return written(measure, value, like) if unit in ("s", "share") else display.number(value)


def slowdown(turnaround, run):
    """Give turnaround / run time; float64, shape (n_jobs,).

    A job of length zero has slowdown 1 if it did not wait; if it did, no number is large enough: inf. The
    load filter leaves such jobs out, and the bounded slowdown was invented for them.

    Parameters
    ----------
    turnaround, run : array, shape (n_jobs,), seconds
        From submission to end, and from start to end.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        # fmax passes over the nan of 0 / 0, where turnaround and run time are equal.
        return np.fmax(np.true_divide(turnaround, run), np.equal(turnaround, run))


def bounded_slowdown(turnaround, run, tau=TAU):
    """Give max(1, turnaround / max(run, tau)); float64, shape (n_jobs,).

    Parameters
    ----------
    turnaround, run : array, shape (n_jobs,), seconds
        From submission to end, and from start to end.
    tau : float, seconds
        Run times below it count as this, above 0.

    Raises
    ------
    ValueError
        If tau is not above 0.

    References
    ----------
    Feitelson, "Metrics for parallel job scheduling and their convergence", JSSPP 2001.
    """
    return np.maximum(turnaround / _at_least(tau, run), 1.0)


def per_processor_slowdown(turnaround, run, procs, tau=TAU):
    """Give max(1, turnaround / (processors x max(run, tau))); float64, shape (n_jobs,).

    Parameters
    ----------
    turnaround, run : array, shape (n_jobs,), seconds
        From submission to end, and from start to end.
    procs : array, shape (n_jobs,)
        Processors of each job.
    tau : float, seconds
        Run times below it count as this, above 0.

    Raises
    ------
    ValueError
        If tau is not above 0.

    References
    ----------
    Zotkin and Keleher, "Job-length estimation and performance in backfilling schedulers", HPDC 1999.
    """
    return np.maximum(turnaround / (procs * _at_least(tau, run)), 1.0)


def _at_least(tau, run):
    if not tau > 0:
        raise ValueError(f"tau must be greater than 0, got {tau}")
    return np.maximum(run, tau)


def utilization(start, end, procs, machine, window):
    """Give the share of the machine's processor-seconds in a window that jobs held.

    Parameters
    ----------
    start, end : array, shape (n_jobs,), seconds
        When each job held its processors.
    procs : array, shape (n_jobs,)
        Processors of each job.
    machine : int
        Processors.
    window : (float, float)
        Seconds, [begin, end).

    Returns
    -------
    float
        nan for an empty window.
    """
    begin, finish = window
    held = np.clip(np.minimum(end, finish) - np.maximum(start, begin), 0, None)
    return float((held * procs).sum() / (machine * float(finish - begin))) if finish > begin else float("nan")


def effective_work(run, procs, efficiency=1.0):
    """Give the sequential work done, in processor-seconds: run time x processors x efficiency, summed.

    Sabin's effective load is this over processors x span. A rigid job counts as perfectly efficient.

    Parameters
    ----------
    run : array, shape (n_jobs,), seconds
        Run times.
    procs : array, shape (n_jobs,)
        Processors of each job.
    efficiency : float or array, shape (n_jobs,)
        Speedup per processor.
    """
    return float((np.asarray(run) * np.asarray(procs) * efficiency).sum())


def states(time, changes):
    """Add up what changes over time.

    Parameters
    ----------
    time : int64, shape (n_changes,)
        When something changes, in any order.
    changes : for each quantity int64, shape (n_changes,)
        By how much.

    Returns
    -------
    instants : int64, shape (n_instants,)
        The distinct times.
    *sums : int64, shape (n_instants,)
        Of each quantity, from then until the next instant.
    """
    order = np.argsort(time, kind="stable")
    time = time[order]
    last = np.flatnonzero(np.append(np.diff(time) > 0, True))
    # One by one: an array of all of them is laid out across by taking columns, and is five times as slow to add up.
    return time[last], *(np.cumsum(row[order])[last] for row in changes)


def loss_of_capacity(timeline, machine):
    """Give Kurian's loss of capacity in processor-seconds: idle processors that queued jobs could have filled.

    While jobs are queued, min(processors they want, idle processors), integrated over time.

    Parameters
    ----------
    timeline : DataFrame
        `Schedule.timeline`.
    machine : int
        Processors.
    """
    lasts = np.diff(timeline["time"]).astype("float64")  # int64 would wrap where a large machine idles for ages
    idle = np.maximum(machine - timeline["used"].to_numpy()[:-1], 0)  # a log may hold more than there are
    return int((np.minimum(timeline["demand"].to_numpy()[:-1], idle) * lasts).sum())


def gini(values) -> float:
    """Give the Gini coefficient of non-negative values: 0 where all are equal, near 1 where one has it all.

    Half the mean absolute difference of two values drawn at random, over their mean; nan without values, or where all
    are 0.

    Parameters
    ----------
    values : array-like, shape (n,)
        None below 0.

    Raises
    ------
    ValueError
        For a value below 0.

    References
    ----------
    Gini, "Variabilita e mutabilita", 1912; as a sum over sorted values, Sen, "On Economic Inequality", 1973.
    """
    values = np.sort(np.asarray(values, dtype="float64"))
    total = values.sum()
    if not total > 0:
        return float("nan")
    if values[0] < 0:
        raise ValueError(f"the least value is {values[0]:g}, expected none below 0")
    rank = np.arange(1, values.size + 1)
    return float(((2 * rank - values.size - 1) * values).sum() / (values.size * total))


def user_shares(jobs: pd.DataFrame) -> pd.DataFrame:
    """Share out the machine over its users.

    Parameters
    ----------
    jobs : DataFrame
        `Schedule.jobs`.

    Returns
    -------
    DataFrame
        One row a user_id (-1: unknown), the largest area first: jobs, area (processor-seconds held), share (of all area
        held), and means over the user's jobs of wait_time (seconds) and bounded_slowdown.
    """
    users = jobs.assign(area=jobs["run_time"] * jobs["procs"]).groupby("user_id")
    area = users["area"].sum()
    table = pd.DataFrame({"jobs": users.size(), "area": area, "share": area / area.sum()})
    table = table.join(users[["wait_time", "bounded_slowdown"]].mean())
    return table.sort_values("area", ascending=False, kind="stable")


def classes(jobs: pd.DataFrame, by, names: Mapping[str, Mapping[int, str]] | None = None) -> pd.Series:
    """Sort jobs into classes.

    Parameters
    ----------
    jobs : DataFrame
        `Schedule.jobs` (run_time, procs, logged_area and any other column).
    by : str, mapping, function or Series
        ``"kurian"``: short or long (3600 s), narrow or wide (32 processors): SN, SW, LN, LW.
        ``"sabin"``: by processor-seconds in the log.
        ``"size"``: processors, in powers of two.
        Any other column name: its values, or their names where these are known; ``"user"`` for user_id, ``"group"``
        and ``"account"`` for group_id.
        ``{column: edges}``: intervals [low, high) of a column.
        A function of the table, or a Series of labels with the index of the jobs.
    names : mapping, optional
        For a column, the names of its numbers (`Trace.names`).

    Returns
    -------
    Series
        The class of each job, with the index of `jobs`.

    Raises
    ------
    TypeError, ValueError
        For another `by`, or no such column.
    """
    if callable(by) and not isinstance(by, pd.Series):
        return pd.Series(by(jobs), index=jobs.index)
    if isinstance(by, pd.Series):
        return by.reindex(jobs.index)
    if isinstance(by, Mapping):
        ((column, edges),) = by.items()
        return pd.cut(_column(jobs, column), list(edges), right=False)
    if not isinstance(by, str):
        raise TypeError(f"classes are {by!r}, expected a name, {{column: edges}}, a function or a Series")
    if by == "kurian":
        long, wide = jobs["run_time"] >= LONG, jobs["procs"] >= WIDE
        labels = np.select([~long & ~wide, ~long & wide, long & ~wide], ["SN", "SW", "LN"], "LW")
        return pd.Series(pd.Categorical(labels, ["SN", "SW", "LN", "LW"], ordered=True), index=jobs.index)
    if by == "sabin":
        return pd.cut(jobs["logged_area"], SABIN_EDGES, right=False, labels=SABIN_NAMES)
    if by == "size":
        top = int(np.ceil(np.log2(max(jobs["procs"].max(), 2))))
        edges = [0, *(2**power for power in range(top + 1))]
        names = ["1", "2", *(f"{high // 2 + 1}-{high}" for high in edges[3:])]
        return pd.cut(jobs["procs"], edges, labels=names)
    values = _column(jobs, by)
    known = (names or {}).get(values.name)
    return _named(values, known) if known else values


def check_classes(by: str, columns: Iterable[str]) -> None:
    """Raise where there are no classes of such a name, and no such column.

    Parameters
    ----------
    by : str
        The name asked for.
    columns : iterable of str
        Columns that there are.

    Raises
    ------
    ValueError
        Naming those that are known.
    """
    columns = list(columns)
    if by not in (*CLASSES, *WORDS, *columns):
        known = f"{', '.join((*CLASSES, *WORDS))}, a column ({', '.join(columns)})"
        raise ValueError(f"unknown classes {by!r}; known: {known}")


def _column(jobs, name):
    check_classes(name, jobs.columns)
    return jobs[name if name in jobs else WORDS.get(name, name)]


def _first_line(text):
    return (text or "").partition("\n")[0].strip()


def _named(values, known):
    """Put names for numbers, in the order of the numbers; what has no name keeps its number."""
    numbers = sorted(values.unique())
    names = [_first_line(known.get(number)) or ("unknown" if number == -1 else str(number)) for number in numbers]
    pairs = zip(numbers, names, strict=True)
    labels = [f"{name} ({number})" if names.count(name) > 1 else name for number, name in pairs]
    codes = np.searchsorted(numbers, values)
    return pd.Series(pd.Categorical.from_codes(codes, labels, ordered=True), index=values.index, name=values.name)
