"""Schemes on a k-ary n-tree: what places jobs there, and what comes of it."""

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from schedlab.kernels import placement as kernel
from schedlab.kernels.nodes import MODULUS
from schedlab.kernels.placement import shortened
from schedlab.machine import KaryTree
from schedlab.threads import interruptible

FCFS, COUNT, BLOCK = kernel.NONE, kernel.COUNT, kernel.BLOCK
RULES = {"count": COUNT, "block": BLOCK}
PARTS = 10**9  # of a time, at most: what is left of it must not overflow


class Placed(NamedTuple):
    """Jobs with their nodes, each array in the order of the jobs.

    Attributes
    ----------
    start, promise, run : int64, shape (n_jobs,), seconds
        As of `schedlab.kernels.placement.placed`.
    killed, advanced : bool, shape (n_jobs,)
    offset : int64, shape (n_jobs + 1,)
    first, last : int64, shape (n_ranges,)
        The nodes of job j are the ranges ``offset[j]:offset[j + 1]``, both ends included.
    """

    start: np.ndarray
    promise: np.ndarray
    run: np.ndarray
    killed: np.ndarray
    advanced: np.ndarray
    offset: np.ndarray
    first: np.ndarray
    last: np.ndarray


def place(jobs, tree: KaryTree, order, rule: int, kills: bool) -> Placed:
    """Simulate jobs on a tree.

    Parameters
    ----------
    jobs : Arrivals
    tree : KaryTree
    order : Order
    rule : {FCFS, COUNT, BLOCK}
    kills : bool
        Backfilled jobs that are past their estimates may be killed.
    """
    policy, (kept, parts) = tree.policy, fractions(tree.saved())
    estimate = jobs.estimate
    if tree.scale_estimates:
        estimate = shortened(estimate, kept[-1], parts[-1])
    n = jobs.submit.size
    return Placed(
        *interruptible(
            kernel.placed,
            *replace(jobs, estimate=estimate).arrays,
            tree.procs,
            *order.parts,
            np.full(n, tree.n) if policy.whole else tree.stage(jobs.procs),
            _seeds(tree.seed, n) if policy.drawn else np.zeros(n, np.int64),
            kept,
            parts,
            policy.whole,
            policy.relaxed,
            policy.best,
            rule,
            kills,
            tree.k,
            tree.n,
        )
    )


def fractions(saved):
    """Give what is left of times that fall by some shares: numerators and denominators, int64, shape (2, n_shares).

    A share stands for the simplest fraction next to it: 0.1 for 1/10, which it is not in binary.
    """
    left = [1 - Fraction(float(share)).limit_denominator(PARTS) for share in saved]
    left = [max(one, Fraction(1, PARTS)) for one in left]
    return np.array([[one.numerator for one in left], [one.denominator for one in left]])


def _seeds(seed, n):
    """Give each job a seed of its own, by its place in the order of arrival: splitmix64 (Steele and others 2014)."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    z = np.full(n, seed % 2**64, "uint64") * golden + np.arange(1, n + 1, dtype="uint64") + golden
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) % np.uint64(MODULUS - 1)).astype("int64") + 1
