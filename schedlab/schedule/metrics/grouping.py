"""Classes of jobs: those of papers, sizes, the calendar, and the values of any column."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from ..._runtime import text
from ...workload.columns import WORDS
from .tables import MEASURES

SABIN_EDGES = (0, 200, 3_200, 100_000, 2_000_000, np.inf)
SABIN_NAMES = ("tiny", "200-3,200", "3,200-100,000", "100,000-2,000,000", "over 2,000,000")
CLASSES = ("kurian", "sabin", "size")
CALENDAR = ("hour", "weekday", "month")  # of a submission, on the clock of the machine
SHORT = WORDS | {"state": "status"}
# Names of numbers that mean the same in all logs.
STATES = ("failed", "completed", "partial, continued", "partial, completed", "partial, failed", "cancelled")
NAMES = {"status": dict(enumerate(STATES))}
# Columns of numbers that differ from job to job: as classes, each would hold a job or two.
QUANTITIES = (
    *("submit_time", "wait_time", "run_time", "avg_cpu_time", "used_memory", "requested_time", "requested_memory"),
    *("preceding_job", "think_time", "logged_area", "start_time", "end_time", "turnaround", "slowdown"),
    *("bounded_slowdown", "promised_start", "estimate", "sequential_work", "wasted", "parallel_start", "tasks_alone"),
    *("duration", "placed_time"),  # of gang scheduling
)
WIDE, LONG = 32, 3600  # Kurian: a job is wide from 32 processors on, long from 3600 s on


def classes(jobs: pd.DataFrame, by, names: Mapping[str, Mapping[int, str]] | None = None) -> pd.Series:
    """Return the class of each job, with the index of `jobs`.

    Parameters
    ----------
    jobs : DataFrame
        `Schedule.jobs` (run_time, procs, logged_area and any other column).
    by : str, mapping, function or Series
        - ``"kurian"``: short or long (from 3600 s), narrow or wide (from 32 processors): SN, SW, LN, LW.
        - ``"sabin"``: by processor-seconds in the log.
        - ``"size"``: processors, in powers of two.
        - Any other column name: its values, or their names if known. ``"user"`` stands for user_id, ``"group"`` for
          group_id, ``"state"`` for status. Not a quantity, such as wait_time.
        - ``{column: edges}``: intervals [low, high) of a column, also of a quantity.
        - A function of the table, or a Series of labels with the index of the jobs.
    names : mapping, optional
        Names of a column's numbers (`Trace.names`).

    Examples
    --------
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> jobs = pd.DataFrame({"run_time": [60, 7200, 60], "procs": [1, 4, 64]})
    >>> sl.metrics.classes(jobs, "kurian").tolist(), sl.metrics.classes(jobs, "size").tolist()
    (['SN', 'LN', 'SW'], ['1', '3-4', '33-64'])
    >>> sl.metrics.classes(jobs, {"run_time": [0, 3600, 86_400]}).astype("str").tolist()
    ['[0, 3600)', '[3600, 86400)', '[0, 3600)']
    """
    if callable(by) and not isinstance(by, pd.Series):
        return pd.Series(by(jobs), index=jobs.index)
    if isinstance(by, pd.Series):
        return by.reindex(jobs.index)
    if isinstance(by, Mapping):
        ((column, edges),) = by.items()
        _check_column(column, jobs.columns)
        return pd.cut(jobs[_name_of(column, jobs)], list(edges), right=False)
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
    check_classes(by, jobs.columns)
    if is_calendar(by, jobs.columns):
        raise ValueError(f"{by!r} needs the dates of a log: use the classes of a schedule, as Schedule.classes does")
    values = jobs[_name_of(by, jobs)]
    if values.dtype.kind == "f" and (values % 1).fillna(0).any():
        raise _quantity(by)
    known = {**NAMES, **(names or {})}.get(values.name)
    return _named(values, known) if known else values


def check_classes(by: str, columns: Iterable[str]) -> None:
    """Raise if a name is neither a set of classes nor a column whose values can be classes.

    Parameters
    ----------
    by, columns : str, iterable of str
        The name asked for, and the columns that exist.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.metrics.check_classes("length", ["queue", "procs"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: unknown classes 'length'; known: kurian, sabin, size, user, ..., a column (queue, procs)
    """
    columns = list(columns)
    if by in QUANTITIES or (by in MEASURES and by not in columns):
        raise _quantity(by, by in columns)
    _check_column(by, columns)


def is_calendar(by, columns: Iterable[str]) -> bool:
    """Tell whether classes are hours, weekdays or months of the calendar; a column of that name goes first.

    Parameters
    ----------
    by, columns : object, iterable of str
        The classes asked for, and the columns that exist.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.metrics.is_calendar("hour", ["queue"]), sl.metrics.is_calendar("hour", ["hour"])
    (True, False)
    """
    return isinstance(by, str) and by in CALENDAR and by not in columns


def _quantity(by, column=True):
    """Return the error for a quantity, or a measure of the whole, where classes are expected."""
    edges = f"; in Python, by={{{by!r}: [low, ..., high]}} makes classes of it" if column else ""
    measure = f"; metrics()[{by!r}] is the {MEASURES[by][0]}" if by in MEASURES else ""
    known = ", ".join((*CLASSES, *WORDS))
    return ValueError(f"{by!r} is a quantity, expected classes of jobs ({known}, ...){edges}{measure}")


def _check_column(by, columns):
    known = (*CLASSES, *SHORT, *CALENDAR, *columns)
    if by not in known:
        listed = f"{', '.join((*CLASSES, *SHORT, *CALENDAR))}, a column ({', '.join(columns)})"
        raise ValueError(f"unknown classes {by!r}; known: {listed}{text.suggestion(by, known)}")


def _name_of(by, jobs):
    return by if by in jobs else SHORT.get(by, by)


def _named(values, known):
    """Replace numbers by names, in the order of the numbers; a number without a name stays."""
    numbers = sorted(values.unique())
    names = [(known.get(number) or "").partition("\n")[0].strip() for number in numbers]
    names = [name or ("unknown" if number == -1 else str(number)) for name, number in zip(names, numbers, strict=True)]
    pairs = zip(numbers, names, strict=True)
    labels = [f"{name} ({number})" if names.count(name) > 1 else name for number, name in pairs]
    codes = np.searchsorted(numbers, values)
    return pd.Series(pd.Categorical.from_codes(codes, labels, ordered=True), index=values.index, name=values.name)
