"""Speedup laws: how much faster a job runs on n processors than on one. Pure functions of arrays."""

import numpy as np

__all__ = ["downey_slope", "downey_speedup"]


def downey_speedup(n, A, sigma) -> np.ndarray:
    """Give Downey's speedup S(n).

    Parameters
    ----------
    n : array-like
        Processors, at least 1.
    A : array-like
        Average parallelism, at least 1.
    sigma : array-like
        Variance of the parallelism, at least 0: 0 is linear speedup up to A processors.

    Returns
    -------
    ndarray, float64, of the shape that the three broadcast to
        S(1) is 1; S is concave, never falls, and stays at A once it got there.

    Raises
    ------
    ValueError
        For a number outside its range.

    References
    ----------
    A. B. Downey: A parallel workload model and its implications for processor allocation. Cluster Computing 1
    (1998) 133-145.

    Examples
    --------
    >>> downey_speedup([1, 32, 127], A=64, sigma=0.5).round(4).tolist()
    [1.0, 28.5436, 64.0]
    """
    n, A, sigma = _checked(n, A, sigma)
    pieces, (first, second, third) = _pieces(n, A, sigma)
    values = (A * n / first, A * n / second, n * A * (sigma + 1) / third)
    return np.select(pieces, values, default=A)


def downey_slope(n, A, sigma) -> np.ndarray:
    """Give the derivative of `downey_speedup` in n; where S has a kink, the derivative to its right.

    Parameters
    ----------
    n, A, sigma : array-like
        As in `downey_speedup`.

    Returns
    -------
    ndarray, float64, of the shape that the three broadcast to

    Examples
    --------
    >>> downey_slope([1, 63, 64], A=64, sigma=0).tolist()
    [1.0, 1.0, 0.0]
    """
    n, A, sigma = _checked(n, A, sigma)
    pieces, (first, second, third) = _pieces(n, A, sigma)
    slopes = (
        A * (A - sigma / 2) / first**2,
        A * sigma * (A - 0.5) / second**2,
        A * (sigma + 1) * (sigma * (A - 1) + A) / third**2,
    )
    return np.select(pieces, slopes, default=0.0)


def _pieces(n, A, sigma):
    """Tell where each formula holds, in the order of the paper, and its denominator; beyond them S is A."""
    low = sigma <= 1
    pieces = low & (n < A), low & (n < 2 * A - 1), ~low & (n < A + A * sigma - sigma)
    denominators = (
        A + sigma * (n - 1) / 2,
        # Only where it is used: for sigma above 2 it passes through 0.
        np.where(low, sigma * (A - 0.5) + n * (1 - sigma / 2), 1),
        sigma * (n + A - 1) + A,
    )
    return pieces, denominators


def _checked(n, A, sigma):
    arrays = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (n, A, sigma)))
    for name, values, least in zip(("n", "A", "sigma"), arrays, (1, 1, 0), strict=True):
        bad = ~((values >= least) & np.isfinite(values))
        if bad.any():
            raise ValueError(f"{name} must be at least {least} and finite, got {values[bad].flat[0]:g}")
    return arrays
