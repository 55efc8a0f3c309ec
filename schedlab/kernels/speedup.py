"""How long a job takes on how many processors: speedup laws, one job and one width at a time.

A law is Downey's (parallelism, sigma), Amdahl's (serial share), or a table of speedups. A job that runs `seconds` on
the processors that it asks for runs (seconds S(requested)) / S(n) on n, rounded up to whole seconds: no work is lost.
The factor keeps what is exact but for the last bit from being rounded up, so that on the requested processors a job
takes what the trace says.
"""

from typing import NamedTuple

import numpy as np

from ._jit import kernel, part, routine

DOWNEY, AMDAHL, TABLE = range(3)

GUARD = 1 - 1e-12
SLOPES = 1e12  # slopes are compared as whole multiples of 1 / SLOPES


class Laws(NamedTuple):
    """The speedup of each job.

    Attributes
    ----------
    law : {DOWNEY, AMDAHL, TABLE}
    a, b : float64, shape (n_jobs,)
        Parallelism and sigma; serial share; or row of the table.
    curves : float64, shape (n_curves, machine + 1)
        S(n) for each n; column 0 is not used.
    moldable : bool, shape (n_jobs,)
        The others run on the processors that they ask for.
    """

    law: int
    a: np.ndarray
    b: np.ndarray
    curves: np.ndarray
    moldable: np.ndarray


@part
def speedup(laws, job, procs):
    """Give S(n) of a job; where two formulas of Downey's meet, the first one counts."""
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
    """Give the right derivative of S at n, as a whole multiple of 1 / SLOPES."""
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
    """Give the sequential work of a job that takes so many seconds on the processors that it asks for."""
    return seconds * speedup(laws, job, procs)


@routine
def lasts(laws, job, work, procs):
    """Give how long a job of some sequential work takes, in whole seconds."""
    return max(np.int64(1), np.int64(np.ceil(work / speedup(laws, job, procs) * GUARD)))


@kernel
def durations(seconds, procs, width, laws):
    """Give how long jobs take on other numbers of processors than they ask for.

    Parameters
    ----------
    seconds, procs, width : int64, shape (n_jobs,)
        Time on `procs` processors, which the job asks for; on how many it is to run.
    laws : Laws

    Returns
    -------
    int64, shape (n_jobs,), seconds
    """
    found = seconds.copy()
    for job in range(seconds.size):
        if laws.moldable[job]:
            found[job] = lasts(laws, job, work_seconds(laws, job, seconds[job], procs[job]), width[job])
    return found
