"""Schemes on a k-ary n-tree: the calls that place jobs on its nodes."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from schedlab._runtime.streams import GOLDEN, splitmix64
from schedlab._runtime.threads import interruptible
from schedlab.kernels.placement import ANY, BY_BLOCK, BY_COUNT, OFF, ON, Allocation, Tree, shortened
from schedlab.kernels.tree_nodes import MODULUS

from .base import Case, Outcome
from .orders import Order
from .outcomes import Ranges

RULES = {"count": BY_COUNT, "block": BY_BLOCK}
SPARE = {"off": OFF, "on": ON, "any": ANY}
USUAL = {"count": "off", "block": "on"}  # the usual value of `spare` by the rule
PARTS = 10**9  # largest denominator of a share of time: the remaining time must not overflow


def simulate(kernel: Callable, case: Case, order: Order, *rules) -> Outcome:
    """Simulate a case on a `KaryTree` by one of the kernels for trees, which take the order of the queue and rules."""
    start, promise, run, *marks, offset, first, last = interruptible(kernel, *_on_nodes(case), order, *rules)
    killed, advanced = marks or (None, None)
    cut = [mask for mask in (killed, case.cut) if mask is not None]
    killed = np.logical_or.reduce(cut) if cut else None
    nodes = Ranges(offset, first, last)
    return case.outcome(start, promise, run=run, killed=killed, backfilled=advanced, nodes=nodes)


def _on_nodes(case):
    """Return jobs, machine and allocation in the form that the kernels for trees take."""
    jobs, tree = case.jobs, case.machine
    policy, (kept, parts) = tree.policy, fractions(tree.saved())
    estimate = shortened(jobs.estimate, kept[-1], parts[-1]) if tree.scale_estimates else jobs.estimate
    stage = np.full(len(case), tree.n) if policy.whole else tree.stage(jobs.procs)
    seeds = _seeds(tree.seed, len(case)) if policy.drawn else np.zeros(len(case), np.int64)
    allocation = Allocation(stage, seeds, policy.whole, policy.relaxed, policy.best)
    return jobs._replace(estimate=estimate), Tree(tree.k, tree.n, tree.procs, kept, parts), allocation


def fractions(saved):
    """Return what remains of times shortened by some shares: numerators and denominators, int64, shape (2, n_shares).

    A share stands for the nearest simple fraction: 0.1 means 1/10, which binary floating point cannot represent.
    """
    left = [1 - Fraction(float(share)).limit_denominator(PARTS) for share in saved]
    left = [max(fraction, Fraction(1, PARTS)) for fraction in left]
    return np.array([[fraction.numerator for fraction in left], [fraction.denominator for fraction in left]])


def _seeds(seed, n):
    """Return a seed for each job, by its position in the order of arrival."""
    states = np.full(n, seed % 2**64, "uint64") * GOLDEN + np.arange(1, n + 1, dtype="uint64") + GOLDEN
    return (splitmix64(states) % np.uint64(MODULUS - 1)).astype("int64") + 1
