"""Schedules: when each job of a trace held which processors, what that is worth, and whether it is possible."""

from .base import Schedule
from .laws import ScheduleError
from .sites import Sites

__all__ = ["Schedule", "ScheduleError", "Sites"]
