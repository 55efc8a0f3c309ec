"""Hours, weekdays and months on the clock of the machine: which one an instant is in, and when each begins."""

import numpy as np
import pandas as pd

from . import metrics

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HOUR = 3600  # seconds
DAY = 24 * HOUR
COUNT = {"hour": 24, "weekday": 7}


def local(trace, seconds) -> np.ndarray:
    """Return what the clock of the machine shows at some seconds of a log: datetime64[s], without a time zone."""
    if trace.header.unix_start_time is None:
        raise ValueError(f"{trace.name} has no dates (UnixStartTime), and so no hour, weekday or month")
    for second in (np.min(seconds), np.max(seconds)) if len(seconds) else ():
        trace.at(float(second))  # raises for years that no calendar has
    zone = trace.at(0).tzinfo
    instants = (trace.header.unix_start_time + np.floor(seconds).astype("int64")).astype("datetime64[s]")
    return pd.DatetimeIndex(instants, tz="UTC").tz_convert(zone).tz_localize(None).to_numpy("datetime64[s]")


def classes_of(jobs: pd.DataFrame, by, trace) -> pd.Series:
    """Return the class of each of some jobs of a trace: `metrics.classes`, or of the calendar by their submission."""
    if not metrics.is_calendar(by, jobs.columns):
        return metrics.classes(jobs, by, trace.names)
    places = numbers(local(trace, jobs["submit_time"].to_numpy()), by)
    known = np.unique(places) if by == "month" else range(COUNT[by])
    labels = pd.Categorical(places, known, ordered=True).rename_categories([name(number, by) for number in known])
    return pd.Series(labels, index=jobs.index, name=by)


def numbers(dates: np.ndarray, word: str) -> np.ndarray:
    """Return the hour (from 0), the weekday (Monday is 0) or the month (since 1970) of some dates; int64."""
    if word == "month":
        return dates.astype("datetime64[M]").astype("int64")
    days = dates.astype("datetime64[D]")
    return (days.astype("int64") + 3) % 7 if word == "weekday" else (dates - days).astype("int64") // HOUR


def name(number: int, word: str) -> int | str:
    """Return what is shown for such a number: 13, "Tuesday", "2024-03"."""
    if word == "month":
        return str(np.datetime64(int(number), "M"))
    return WEEKDAYS[number] if word == "weekday" else int(number)


def edges(trace, begin: int, end: int, unit: int) -> np.ndarray:
    """Return `begin`, the seconds at which the clock of the machine begins an hour or a day or is changed, and `end`.

    `unit` is an hour or a day in seconds. Seconds are those of the log, int64, in order.
    """
    epoch = trace.header.unix_start_time

    def shown(seconds):
        return local(trace, seconds).astype("int64") - epoch  # seconds on a clock that shows local time

    grid = np.unique(np.append(np.arange(begin, end, DAY), end))
    ahead = shown(grid) - grid
    changed = np.flatnonzero(np.diff(ahead))
    before = grid[changed]
    after = grid[changed + 1]
    while (after - before > 1).any():  # find the second at which the clock is changed
        middle = (before + after) // 2
        same = shown(middle) - middle == ahead[changed]
        before = np.where(same, middle, before)
        after = np.where(same, after, middle)
    parts = [after]
    for first, last in zip(np.append(begin, after), np.append(after, end), strict=True):
        offset = epoch + (shown(np.array([first])) - first).item()
        parts.append(np.arange(first + -(first + offset) % unit, last, unit))
    return np.unique(np.concatenate([[begin], *parts, [end]]))
