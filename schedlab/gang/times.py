"""Times of gang scheduling: seconds outside, whole nanoseconds inside."""

from numbers import Real

import numpy as np

NANO = 1_000_000_000
LONGEST = 10**8  # seconds; sums of a few such times can still be counted in nanoseconds


def nanoseconds(seconds):
    """Round seconds to whole nanoseconds.

    Parameters
    ----------
    seconds : float, or array of any shape

    Returns
    -------
    int, or int64 array of the same shape
    """
    rounded = np.rint(np.asarray(seconds, "float64") * NANO).astype("int64")
    return rounded if rounded.ndim else int(rounded)


def durations(seconds) -> np.ndarray:
    """Round seconds to whole nanoseconds, at least 1: nothing in a simulation takes zero time.

    Parameters
    ----------
    seconds : array, shape (n,)

    Returns
    -------
    int64, shape (n,)
    """
    return np.maximum(nanoseconds(seconds), 1)


def check_seconds(name: str, value) -> None:
    """Check that a duration can be counted in nanoseconds.

    Parameters
    ----------
    name : str
        Name of the duration in the message.
    value : float, seconds

    Raises
    ------
    ValueError
        If it is not a number, below 1e-9, or not below 1e8.
    """
    if not (isinstance(value, Real) and 1 / NANO <= value < LONGEST):
        raise ValueError(f"{name} is {value!r}, expected seconds, from 1e-9 to below {LONGEST:g}")
