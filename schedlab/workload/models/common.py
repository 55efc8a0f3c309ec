"""What the models share: the clock of the daily cycle, whole seconds, checks of common arguments."""

import operator

import numpy as np
import pandas as pd

from schedlab._runtime.text import spelt
from schedlab.kernels.swf_text import EXACT  # below it, float64 holds every integer

_DAY = 86_400  # seconds


def at_least_one(name: str, value: int) -> int:
    """Check a number of jobs, processors or the like."""
    try:
        count = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, got {spelt(value)}") from None
    if count < 1:
        raise ValueError(f"{name} must be at least 1, got {count}")
    return count


def job_numbers(jobs: int) -> pd.Index:
    """Return the index of a model's table, from 1 on."""
    return pd.RangeIndex(1, jobs + 1, name="job_number").astype(np.int64)


def whole_seconds(times):
    """Convert whole-number times to int64; raise if one is too large for float64 to hold it exactly."""
    longest = float(np.asarray(times).max(initial=0))
    if not longest < EXACT:
        raise ValueError(f"a time would be {longest:g} s, expected less than 2**53")
    return times.astype("int64")


def seconds_at(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Turn points paid since midnight, float64, shape (n,), non-decreasing, into seconds since midnight.

    Passing each of the equal parts of the day, midnight first, costs its weight in points. So this is the inverse of
    the weights' running total, continued day after day.
    """
    paid = np.concatenate(([0.0], np.cumsum(weights)))
    days, rest = np.divmod(points, paid[-1])
    edges = _DAY // len(weights) * np.arange(len(weights) + 1)
    return days * _DAY + np.interp(rest, paid, edges)
