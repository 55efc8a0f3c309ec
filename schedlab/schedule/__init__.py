"""Schedules: which processors each job of a trace held and when, measures of that, and checks that it is possible."""

from .base import Schedule
from .laws import ScheduleError
from .sites import Sites

__all__ = ["Schedule", "ScheduleError", "Sites"]
