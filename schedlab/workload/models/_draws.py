"""What the models share: random streams by name, the clock of the daily cycle, the check of common arguments."""

import operator
import zlib
from dataclasses import dataclass

import numpy as np
import pandas as pd

_DAY = 86_400  # seconds
EXACT = 2**53  # below it, float64 holds every integer


@dataclass(frozen=True)
class Streams:
    """Give independent generators by name, for one part of the workload (a class, a range of sizes) of one seed."""

    seed: int
    part: int

    def __call__(self, name: str, again: int = 0) -> np.random.Generator:
        key = (self.part, zlib.crc32(name.encode()), again)
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))


def entropy(seed: int | np.random.Generator) -> int:
    """Give the number that all streams start from; a generator is asked for it."""
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise ValueError(f"seed must be a whole number from 0 on or a numpy Generator, got {seed!r}")
    return number


def keys(seed: int | tuple[int, ...], numbers: np.ndarray) -> np.ndarray:
    """Give each number a key drawn for it and the seed alone: splitmix64 (Steele and others 2014), uint64."""
    words = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    z = words + np.asarray(numbers).astype("uint64") * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def uniforms(seed: int, name: str, numbers: np.ndarray) -> np.ndarray:
    """Give each number one in [0, 1) drawn for it, the seed and the name of what is drawn; float64."""
    words = keys((seed, zlib.crc32(name.encode())), numbers)
    return (words >> np.uint64(11)) * 2.0**-53


def at_least_one(name: str, value: int) -> int:
    """Check a number of jobs, processors or the like."""
    try:
        count = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, got {value!r}") from None
    if count < 1:
        raise ValueError(f"{name} must be at least 1, got {count}")
    return count


def job_numbers(jobs: int) -> pd.Index:
    """Give the index of a model's table, from 1 on."""
    return pd.RangeIndex(1, jobs + 1, name="job_number").astype(np.int64)


def whole_seconds(times):
    """Make whole numbers int64; beyond what float64 holds exactly they would be no times but noise."""
    longest = float(np.asarray(times).max(initial=0))
    if not longest < EXACT:
        raise ValueError(f"a time would be {longest:g} s, expected less than 2**53")
    return times.astype("int64")


def seconds_at(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Turn points paid since midnight into seconds since midnight.

    Passing a part of the day costs its weight, so this is the inverse of the weights' running total, continued day
    after day.

    Parameters
    ----------
    points : ndarray, float64, shape (n,)
        Running total, non-decreasing.
    weights : array-like, float64, shape (parts,)
        Costs of the equal parts of the day, midnight first; none below 0, and not all 0.

    Returns
    -------
    ndarray, float64, shape (n,), seconds
    """
    paid = np.concatenate(([0.0], np.cumsum(weights)))
    days, rest = np.divmod(points, paid[-1])
    edges = _DAY // len(weights) * np.arange(len(weights) + 1)
    return days * _DAY + np.interp(rest, paid, edges)
