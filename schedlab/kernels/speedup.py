"""How long a job takes on a given number of processors: speedup laws, for one job and one width at a time.

A law is Downey's (parallelism, sigma), Amdahl's (serial share), or a table of speedups. A job that takes `seconds` on
its requested processors takes (seconds S(requested)) / S(n) on n processors, rounded up to whole seconds, so that no
work is lost. A factor just below 1 prevents errors in the last bit from being rounded up, so that a job takes the time
of the trace on its requested processors.
"""

from typing import NamedTuple

import numpy as np

from ._jit import kernel, part, routine

DOWNEY, AMDAHL, TABLE = range(3)

GUARD = 1 - 1e-12
SLOPES = 1e12  # slopes are compared as whole multiples of 1 / SLOPES


class Laws(NamedTuple):
    """The speedup of each job."""

    law: int  # {DOWNEY, AMDAHL, TABLE}
    a: np.ndarray  # float64 of shape (n_jobs,): parallelism and (b) sigma; serial share; or row of the table
    b: np.ndarray
    curves: np.ndarray  # float64 of shape (n_curves, machine + 1): S(n) for each n; column 0 is not used
    moldable: np.ndarray  # bool of shape (n_jobs,): the other jobs run on their requested processors


@part
def speedup(laws, job, procs):
    """Return S(n) of a job; where two of Downey's formulas meet, the first one counts."""
    a, b, n = laws.a[job], laws.b[job], np.float64(procs)
    if laws.law == TABLE:
        return laws.curves[np.int64(a), procs]
    if laws.law == AMDAHL:
        return 1 / (a + (1 - a) / n)
    if b <= 1:
        if n <= a:
            return a * n / (a + b * (n - 1) / 2)
        if n <= 2 * a - 1:
            return a * n / (b * (a - 1 / 2) + n * (1 - b / 2))
    elif n <= a + a * b - b:
        return n * a * (b + 1) / (b * (n + a - 1) + a)
    return a


@part
def slope(laws, job, procs):
    """Return the right derivative of S at n, as a whole multiple of 1 / SLOPES."""
    a, b, n = laws.a[job], laws.b[job], np.float64(procs)
    value = 0.0
    if laws.law == TABLE:
        row = laws.curves[np.int64(a)]
        if procs + 1 < row.size:
            value = row[procs + 1] - row[procs]
    elif laws.law == AMDAHL:
        below = a * n + (1 - a)
        value = (1 - a) / (below * below)
    elif b <= 1:
        if n < a:
            below = a + b * (n - 1) / 2
            value = a * (a - b / 2) / (below * below)
        elif n < 2 * a - 1:
            below = b * (a - 1 / 2) + n * (1 - b / 2)
            value = a * b * (a - 1 / 2) / (below * below)
    elif n < a + a * b - b:
        below = b * (n + a - 1) + a
        value = a * (b + 1) * (b * (a - 1) + a) / (below * below)
    return np.int64(np.floor(SLOPES * value + 1 / 2))


@part
def work_seconds(laws, job, seconds, procs):
    """Return the sequential work of a job that takes `seconds` on its requested processors."""
    return seconds * speedup(laws, job, procs)


@routine
def lasts(laws, job, work, procs):
    """Return how long a job of a given sequential work takes, in whole seconds."""
    return max(np.int64(1), np.int64(np.ceil(work / speedup(laws, job, procs) * GUARD)))


@kernel
def durations(seconds, procs, width, laws):
    """Return how long jobs take on `width` processors instead of the requested `procs`, which take `seconds`."""
    duration = seconds.copy()
    for job in range(seconds.size):
        if laws.moldable[job]:
            duration[job] = lasts(laws, job, work_seconds(laws, job, seconds[job], procs[job]), width[job])
    return duration
