"""The time of a log along an axis."""

import numpy as np
import pandas as pd

from ._altair import alt

KNOWN = "to the last submission: later arrivals are not on record"
DATES = ((120, "%b %Y"), (10, "%d %b"), (1.5, "%d %b %H:%M"), (0, "%H:%M"))  # least days, format
BEYOND = 1.4  # times the length of a schedule: the longest axis that makes room for estimates


class Clock:
    """Converts seconds of a log for an axis: local dates of the machine; without dates, hours (seconds if short).

    All hours have the same length: the offset from UTC is that of the beginning.
    """

    def __init__(self, trace, begin, end):
        self._span = np.array([begin, end])
        try:
            first, last = trace.at(begin), trace.at(end)
        except (NotImplementedError, ValueError):  # from pandas and datetime, for years after 9999
            raise ValueError(f"no calendar has a window from {begin:g} to {end:g} s of {trace.name}") from None
        self.dated = isinstance(first, pd.Timestamp)
        if self.dated:
            self._zero = trace.header.unix_start_time + first.utcoffset().total_seconds()
            days = " to ".join(dict.fromkeys(f"{date:%Y-%m-%d}" for date in (first, last)))
            self.title = f"local time, {days} (UTC{first.isoformat()[-6:]})"
        else:
            self._unit, unit = (3600, "hours") if end - begin > 3600 else (1, "seconds")
            self.title = f"time ({unit} on the clock of the log)"

    def values(self, seconds):
        """Return the values in the chart: milliseconds of the local clock, or hours or seconds."""
        return (self._zero + seconds) * 1000 if self.dated else seconds / self._unit

    def words(self, seconds):
        """Return the text of a tooltip."""
        if not self.dated:
            return np.round(seconds / self._unit, 3)
        dates = np.asarray(self._zero + seconds).astype("int64").astype("datetime64[s]")
        return np.char.replace(np.datetime_as_string(dates), "T", " ")

    def x(self, field, *, labels=True, within=None):
        """Encode a field along the axis, which opens on a part of it if one is given (seconds)."""
        span = self._span if within is None else np.array(within)
        axis = {"labels": labels, "ticks": labels, "tickCount": 8, "labelOverlap": True, "labelFlush": False}
        scale = {"domain": self.values(span).tolist(), "nice": False}
        if self.dated:
            scale["type"] = "utc"  # already local: the reader's own time zone must not be added
            days = np.ptp(span) / 86_400
            axis["format"] = next(form for least, form in DATES if days >= least)
        title = self.title if labels else None
        return alt.X(f"{field}:{'T' if self.dated else 'Q'}", title=title, scale=scale, axis=axis)

    def placed(self, field):
        """Place a field along an axis that another layer has, and may move."""
        return alt.X(f"{field}:T", scale={"type": "utc"}) if self.dated else alt.X(f"{field}:Q")


def window_of(schedule, window, estimates=False):
    """Return begin and end of a window, in seconds; if none is given, of all that a schedule has.

    The jobs of a lead-in are left out. What happened by a log is drawn as far as the log knows (`last_known`).
    """
    if window is None:
        counted = schedule.trace.some_counted()
        # Tasks from other sites may end after all jobs of this site.
        last = schedule.seconds(schedule.outcome.pieces.end.max(initial=0)) if counted.all() else 0
        begin, end = float(schedule.submit[counted][0]), float(max(schedule.end[counted].max(), last))
        if (known := last_known(schedule)) is not None:
            end = float(known)
        if estimates:  # with room for those that reach beyond the last end, but not for any length
            estimated = float((schedule.start + schedule.estimate)[counted].max())
            end = max(end, min(estimated, begin + BEYOND * (end - begin)))
        return begin, end
    return schedule.trace.period(window)


def last_known(schedule):
    """Return the last submission of a log whose schedule happened; None for a simulation, or if most ran after it.

    What arrived later is not on record, and machine and queue seem to drain; a run whose end was never recorded would
    stretch the axis over years.
    """
    last = schedule.submit[-1]
    return None if schedule.scheme.simulated or np.median(schedule.end) > last else last


def length(seconds):
    """Write a length of time in a readable unit."""
    for unit, name in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.3g} seconds"
