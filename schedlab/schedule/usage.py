"""Who used the machine, and when: processor-hours, jobs and waits by columns of the log, hour, weekday and month."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from schedlab._runtime.text import plain
from schedlab.machine import Partitions, Pools

from . import calendar, metrics
from .metrics import CLASSES, MeasureTable

MANY = 1_000_000  # parts of runs, each within an hour or a day, that are in memory at a time
ELSEWHERE = "other sites"  # tasks of sweeps that were submitted there
UNKNOWN = "unknown"


class Usage:
    def usage(self, by, window=None) -> MeasureTable:
        """Measure who used the machine: jobs, processor-hours and waits for each value of a column, or over time.

        Parameters
        ----------
        by : str, mapping, function, Series, or a list of these
            - Classes of jobs as in `metrics`: a column of the log, such as ``"user"``, ``"account"``, ``"qos"``,
              ``"partition"`` or ``"state"``, or classes such as ``"size"``. Rows have names where the log knows them,
              else numbers.
            - ``"hour"`` (0 to 23), ``"weekday"`` or ``"month"`` on the clock of the machine. Processor-hours are those
              used within it: a run over midnight counts on both days. Jobs and waits are by submission.
            - A list of several; the table then has a row for each combination that occurs.
        window : (begin, end), optional
            Dates at the machine, or seconds on the clock of the log. Processor-hours are those within [begin, end), and
            jobs those submitted in it. Default: all jobs that are counted (`Trace.counted`), and whatever ran from the
            first of their submissions to the last of their ends.

        Returns
        -------
        DataFrame
            It displays with units. Rows are sorted by processor-hours, the largest first, of several keys by the first,
            then by the next; classes that have an order, such as sizes and months, by that. The columns are:

            - jobs: how many; killed: how many of them were killed.
            - processor_hours; share: the part of all processor-hours; gpu_hours, if the log has a column ``gpus``.
            - utilization: the part of the machine's processors that these jobs used in the window, or in this hour,
              weekday or month of it. On `schedlab.Pools`, by pool or partition, of the processors of the pool, whether
              open or closed; `Schedule.resources` has the share of what was open.
            - wait_time (the mean), median_wait_time, p95_wait_time, max_wait_time (seconds), and bounded_slowdown (the
              mean).

        Examples
        --------
        >>> import pandas as pd
        >>> import schedlab as sl
        >>> submit = pd.to_datetime(["2024-03-04 22:00", "2024-03-04 23:30", "2024-03-05 01:00"])
        >>> jobs = pd.DataFrame({"submit": submit, "run": [3600, 7200, 1800], "procs": [4, 8, 8]})
        >>> jobs["account"] = ["astro", "physics", "astro"]
        >>> trace = sl.from_frame(jobs, submit="submit", run="run", procs="procs", machine=8)
        >>> schedule = sl.simulate(trace, "easy")
        >>> schedule.usage(by="account")[["jobs", "processor_hours", "wait_time"]].to_dict("index")["astro"]
        {'jobs': 2, 'processor_hours': 8.0, 'wait_time': 900.0}
        >>> used = schedule.usage(by="weekday")["processor_hours"]
        >>> used[used > 0].to_dict()
        {'Monday': 8.0, 'Tuesday': 16.0}
        """
        keys = list(by) if isinstance(by, list | tuple) else [by]
        if not keys:
            raise ValueError("by is an empty list, expected columns or classes of jobs")
        return MeasureTable(_table(self, [_key(self, key) for key in keys], window))


class _Key(NamedTuple):
    """A key of a table: its name, the number of its value for each job, the names of the numbers and their order.

    Without names it is of the calendar; rows without an order are sorted by processor-hours.
    """

    name: str
    numbers: np.ndarray
    names: list | None = None
    ordered: bool = True

    @property
    def timed(self):
        return self.names is None

    def shown(self, number):
        return calendar.name(number, self.name) if self.timed else self.names[number]


def has_order(key, columns) -> bool:
    """Tell whether classes have an order of their own, as hours and sizes do, but users do not."""
    return not isinstance(key, str) or key in CLASSES or metrics.is_calendar(key, columns)


def named(classes, key) -> tuple[np.ndarray, list]:
    """Return the number of each job's class, and the names of the numbers; the last two are of unknown and of others.

    `classes` are those of jobs by a key, as `Schedule.classes` returns them.
    """
    column = pd.Categorical(classes)
    names = [plain(value) if isinstance(value, str) else value for value in column.categories]
    names = [UNKNOWN if isinstance(key, str) and value == -1 else value for value in names]
    unknown = names.index(UNKNOWN) if UNKNOWN in names else len(names)
    return np.where(column.codes < 0, unknown, column.codes), [*names, UNKNOWN, ELSEWHERE]


def _key(schedule, key):
    columns = schedule._table.columns
    if metrics.is_calendar(key, columns):
        return _Key(key, calendar.numbers(calendar.local(schedule.trace, schedule.submit), key))
    classes = schedule.classes(key)
    name = key if isinstance(key, str) else classes.name
    return _Key(name, *named(classes, key), has_order(key, columns))


def _table(schedule, keys, window):
    slots = _slots(schedule, keys, *_window(schedule, window))
    places = list(range(len(keys)))
    used = _used(schedule, keys, slots)
    here = schedule.trace.counted(window)
    jobs = schedule._per_job(metrics.TAU)[here].groupby([key.numbers[here] for key in keys])
    waits = jobs["wait_time"]
    measures = {"wait_time": waits.mean(), "median_wait_time": waits.median(), "p95_wait_time": waits.quantile(0.95)}
    measures |= {"max_wait_time": waits.max(), "bounded_slowdown": jobs["bounded_slowdown"].mean()}
    table = pd.DataFrame({"jobs": jobs.size()} | dict(used / 3600) | measures | {"killed": jobs["killed"].sum()})
    if len(keys) == 1 and keys[0].name in calendar.COUNT and keys[0].timed:  # hours without jobs are rows, too
        table = table.reindex(range(calendar.COUNT[keys[0].name]))
    sums = ["jobs", *used, "killed"]
    table[sums] = table[sums].fillna(0)
    table = table.astype({"jobs": "int64", "killed": "int64"})
    rows = table.index.to_frame()
    rows.columns = places
    hours = table["processor_hours"]
    capacity = _capacity(schedule, keys, slots, rows) / 3600
    table = table.assign(share=hours / hours.sum(), utilization=hours / capacity)
    table = table[["jobs", *used, "share", "utilization", *measures, "killed"]]
    names = [[key.shown(number) for number in rows[place]] for place, key in enumerate(keys)]
    table.index = pd.MultiIndex.from_arrays(names) if len(keys) > 1 else pd.Index(names[0])
    table.index.names = [key.name for key in keys]
    order = []
    for place, key in enumerate(keys):
        if not key.ordered:
            order.append(-hours.groupby(rows[place]).transform("sum"))
        order.append(rows[place])
    return table.iloc[np.lexsort(order[::-1])]


def _window(schedule, window):
    """Return begin and end in whole seconds on the clock of the log."""
    _, begin, until, whole = schedule.measured(window)
    if whole:  # tasks from other sites may end after all jobs of this site
        until = max(until, schedule.seconds(schedule.outcome.pieces.end.max(initial=0)))
    return int(begin), math.ceil(until) if window is None else int(until)


def _slots(schedule, keys, begin, until):
    """Return the parts of a window within each of which the keys of the calendar have one number, in columns."""
    timed = {place: key.name for place, key in enumerate(keys) if key.timed}
    edges = np.array([begin, until])
    if timed:
        unit = calendar.HOUR if "hour" in timed.values() else calendar.DAY
        edges = calendar.edges(schedule.trace, begin, until, unit)
    slots = {"begin": edges[:-1], "end": edges[1:]}
    dates = calendar.local(schedule.trace, edges[:-1]) if timed else None
    return pd.DataFrame(slots | {place: calendar.numbers(dates, word) for place, word in timed.items()})


def _used(schedule, keys, slots):
    """Return the processor-seconds, and GPU-seconds if the log has GPUs, that jobs held within the slots, by key."""
    pieces = schedule.outcome.pieces
    edges = np.append(slots["begin"], slots["end"].iloc[-1:])
    start, end = (np.clip(schedule.seconds(side), edges[0], edges[-1]) for side in (pieces.start, pieces.end))
    home = pieces.home == schedule.site
    amounts = {"processor_hours": pieces.procs}
    if "gpus" in schedule.trace.columns and not schedule.outcome.in_pieces:
        amounts["gpu_hours"] = np.maximum(np.nan_to_num(schedule.trace.columns["gpus"]), 0)[pieces.job]
    columns = {}
    for place, key in enumerate(keys):
        if not key.timed:
            columns[place] = np.where(home, key.numbers[np.where(home, pieces.job, 0)], len(key.names) - 1)
    first = np.searchsorted(edges, start, side="right") - 1
    parts = np.maximum(np.searchsorted(edges, end) - first, 0)
    sums = []
    ends = np.searchsorted(np.cumsum(parts), np.arange(MANY, parts.sum(), MANY))
    for chosen in np.split(np.arange(parts.size), ends):
        piece = np.repeat(chosen, parts[chosen])
        slot = first[piece] + np.arange(piece.size) - np.repeat(np.cumsum(parts[chosen]) - parts[chosen], parts[chosen])
        seconds = np.minimum(end[piece], edges[slot + 1]) - np.maximum(start[piece], edges[slot])
        held = {place: numbers[piece] for place, numbers in columns.items()}
        held |= {place: slots[place].to_numpy()[slot] for place in range(len(keys)) if place in slots}
        held |= {name: seconds * amount[piece] for name, amount in amounts.items()}
        sums.append(pd.DataFrame(held).groupby([*range(len(keys))]).sum())
    return pd.concat(sums).groupby(level=[*range(len(keys))]).sum()


def _capacity(schedule, keys, slots, rows):
    """Return the processor-seconds that were there for each row: of its hours or days, or of the whole window."""
    seconds = (slots["end"] - slots["begin"]).rename("seconds")
    timed = [place for place in rows if place in slots]
    lasts = seconds.sum()
    if timed:
        lasts = rows.join(seconds.groupby([slots[place] for place in timed]).sum(), on=timed)["seconds"].fillna(0)
    machine = schedule.machine
    procs = machine.procs
    for place, key in enumerate(keys):
        if isinstance(machine, Pools) and key.name in _pool_columns(machine):
            sizes = machine.capacity[schedule.case.places, 0]
            procs = rows[place].map(dict(zip(key.numbers.tolist(), sizes.tolist(), strict=True)))
    return lasts * procs


def _pool_columns(machine):
    """Return the columns of `Schedule.jobs` whose values have jobs in one pool only."""
    return (machine.column,) if isinstance(machine, Partitions) else (machine.column, "pool")
