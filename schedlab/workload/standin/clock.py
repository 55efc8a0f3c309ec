"""A clock whose pace is proportional to how busy the hour of the week is."""

import numpy as np
import pandas as pd

HOUR = 3600  # seconds


def hours_of_week(table, seconds):
    """Return the hour of the week, 0 to 167 from Monday on, at given seconds of a log."""
    when = pd.to_datetime((table["unix_start_time"] or 0) + seconds, unit="s", utc=True)
    when = when.tz_convert(table["timezone"] or "UTC")
    return np.asarray(when.day_of_week * 24 + when.hour)


def past_the_hour(unix_start_time):
    return (unix_start_time or 0) % HOUR


class Clock:
    def __init__(self, table):
        hours = np.cumsum(table["hours"])
        self.hours = np.arange(hours[0], hours[-1] + 1) * HOUR - past_the_hour(table["unix_start_time"])
        self.pace = np.array(table["week"])[hours_of_week(table, self.hours)]
        self.shown = np.cumsum(self.pace * HOUR) - self.pace * HOUR
        self.spells = self.show(self.hours[hours - hours[0]].clip(0))  # logs begin at second 0
        self.jobs = np.array(table["jobs"])
        self.spell = np.repeat(np.arange(len(self.jobs)), self.jobs)  # of each job

    def show(self, seconds):
        """Return the time shown by the clock at given seconds of the log."""
        hour = np.searchsorted(self.hours, seconds, side="right") - 1
        return self.shown[hour] + (seconds - self.hours[hour]) * self.pace[hour]

    def seconds(self, shown):
        """Return the seconds of the log at which the clock shows given times."""
        hour = np.searchsorted(self.shown, shown, side="right") - 1
        return self.hours[hour] + (shown - self.shown[hour]) // self.pace[hour]
