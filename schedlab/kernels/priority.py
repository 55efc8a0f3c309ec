"""Orders of the queue: small functions of a job; the job with the smallest value goes first.

An order is either fixed, ``f(submit, estimate, procs)``, or changes with time, ``f(now, submit, estimate, procs)``. The
arguments are int64 seconds and processors, with submit time and `now` counted from the first submission; the result is
float64. Equal values are served first come, first served. A user's function is handled in the same way: it is compiled
to a C callback (`callbacks`). A function of other values of the job is called with arrays that hold them (`questions`).
"""

from math import log2, log10, sqrt
from typing import NamedTuple

import numpy as np

from ._jit import kernel, part
from .callbacks import call_fixed


class Order(NamedTuple):
    """An order of the queue."""

    rank: np.ndarray  # int64 of shape (n_jobs,): place of each job in a fixed order
    moving: bool  # whether the order changes with time: then `question` gives it, and `rank` is the order of arrival
    question: NamedTuple  # a `questions.Question`, used for a moving order only


def sjf(submit, estimate, procs):
    """Shortest estimate first."""
    return estimate


def ljf(submit, estimate, procs):
    """Longest estimate first."""
    return -estimate


def lcfs(submit, estimate, procs):
    """Last come, first served."""
    return -submit


def narrow(submit, estimate, procs):
    """Fewest processors first."""
    return procs


def wide(submit, estimate, procs):
    """Most processors first."""
    return -procs


def saf(submit, estimate, procs):
    """Smallest area (estimate x processors) first."""
    return estimate * procs


def laf(submit, estimate, procs):
    """Largest area (estimate x processors) first."""
    return -estimate * procs


def f1(submit, estimate, procs):
    """F1 of Carastan-Santos and de Camargo, SC 2017, Table 3."""
    return log10(max(estimate, 1)) * procs + 870.0 * log10(max(submit, 1))


def f2(submit, estimate, procs):
    """F2 of Carastan-Santos and de Camargo, SC 2017, Table 3."""
    return sqrt(max(estimate, 1)) * procs + 25600.0 * log10(max(submit, 1))


def f3(submit, estimate, procs):
    """F3 of Carastan-Santos and de Camargo, SC 2017, Table 3."""
    return max(estimate, 1) * procs + 6860000.0 * log10(max(submit, 1))


def f4(submit, estimate, procs):
    """F4 of Carastan-Santos and de Camargo, SC 2017, Table 3."""
    return max(estimate, 1) * sqrt(procs) + 530000.0 * log10(max(submit, 1))


def xfactor(now, submit, estimate, procs):
    """Largest expansion factor, (wait + estimate) / estimate, first."""
    return -(now - submit + max(estimate, 1)) / max(estimate, 1)


def wfp3(now, submit, estimate, procs):
    """WFP3 of Tang et al., Cluster 2009: wide jobs that have waited long relative to their length first."""
    relative = (now - submit) / max(estimate, 1)
    return -(relative * relative * relative) * procs


def unicef(now, submit, estimate, procs):
    """UNICEF of Tang et al., Cluster 2009: favours small short jobs; log2 of one processor counts as 1."""
    return -(now - submit) / (log2(max(procs, 2)) * max(estimate, 1))


def fairshare(user_usage):
    """Least usage first: jobs of the users who have had the fewest processor-seconds so far, with decay."""
    return user_usage


def multifactor(
    now,
    submit,
    procs,
    machine_procs,
    user_usage,
    total_usage,
    user_count,
    age=1_000.0,
    fairshare=10_000.0,
    size=1_000.0,
    max_age=604_800.0,
):
    """Slurm's multifactor priority: age, fair share with equal shares, and size, each a weight x a factor up to 1.

    The classic fair-share factor is 2 ** -(usage of the user / usage of all / share of the user).
    """
    older = min((now - submit) / max_age, 1.0)
    used = user_usage * user_count / total_usage if total_usage > 0 else 0.0
    return -(age * older + fairshare * 2.0**-used + size * procs / machine_procs)


def no_row(now, job, whole, real, value):
    """Return a value for kernels that do not use this callback."""
    return 0.0


@part
def sort(key, item, first, last):
    """Sort the pairs of places [first, last) by (key, item), in place.

    This is Shell's method. The order of the last pass is usually close to that of this pass, for which insertion sort
    is best; the wide gaps avoid quadratic time if the order is reversed at every pass.
    """
    gap = 1
    while gap < (last - first) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(first + gap, last):
            moved_key, moved_item = key[i], item[i]
            j = i - gap
            while j >= first and (key[j] > moved_key or (key[j] == moved_key and item[j] > moved_item)):
                key[j + gap], item[j + gap] = key[j], item[j]
                j -= gap
            key[j + gap], item[j + gap] = moved_key, moved_item
        gap //= 3


@kernel
def scores(order, submit, estimate, procs):
    """Return the value of a fixed order for each job; float64, shape (n_jobs,)."""
    result = np.empty(submit.size, np.float64)
    for job in range(submit.size):
        result[job] = call_fixed(order, (submit[job], estimate[job], procs[job]))
    return result
