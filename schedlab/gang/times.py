"""Times of gang scheduling: seconds outside, whole nanoseconds inside."""

from numbers import Real

import numpy as np

from schedlab._runtime.text import spelt

NANO = 1_000_000_000
LONGEST = 10**8  # seconds; sums of a few such times can still be counted in nanoseconds


def nanoseconds(seconds):
    """Round seconds, a number or an array of any shape, to whole nanoseconds (int64)."""
    rounded = np.rint(np.asarray(seconds, "float64") * NANO).astype("int64")
    return rounded if rounded.ndim else int(rounded)


def durations(seconds) -> np.ndarray:
    """Round seconds to whole nanoseconds (int64), at least 1: nothing in a simulation takes zero time."""
    return np.maximum(nanoseconds(seconds), 1)


def check_seconds(name: str, value) -> None:
    """Refuse, by its name, a duration that cannot be counted in nanoseconds: below 1e-9 s, or not below 1e8 s."""
    if not (isinstance(value, Real) and 1 / NANO <= value < LONGEST):
        raise ValueError(f"{name} is {spelt(value)}, expected seconds, from 1e-9 to below {LONGEST:g}")
