"""Schemes on a k-ary n-tree: what places jobs there."""

from fractions import Fraction

import numpy as np

from schedlab.kernels.placement import BY_BLOCK, BY_COUNT, Allocation, Tree, placement, shortened
from schedlab.kernels.tree_nodes import MODULUS
from schedlab.streams import GOLDEN, splitmix64
from schedlab.threads import interruptible

from .base import Case, Outcome, Ranges
from .orders import Order, Veto

RULES = {"count": BY_COUNT, "block": BY_BLOCK}
PARTS = 10**9  # of a time, at most: what is left of it must not overflow


def place(case: Case, order: Order, veto: Veto, rule: int) -> Outcome:
    """Simulate jobs on a tree, each on its own nodes; see `schedlab.kernels.placement.placement`.

    Parameters
    ----------
    case : Case
        Of a `KaryTree`.
    order : Order
    veto : Veto
    rule : {NO_RESERVATION, BY_COUNT, BY_BLOCK}
    """
    jobs, tree = case.jobs, case.machine
    policy, (kept, parts) = tree.policy, fractions(tree.saved())
    estimate = shortened(jobs.estimate, kept[-1], parts[-1]) if tree.scale_estimates else jobs.estimate
    allocation = Allocation(
        np.full(len(case), tree.n) if policy.whole else tree.stage(jobs.procs),
        _seeds(tree.seed, len(case)) if policy.drawn else np.zeros(len(case), np.int64),
        policy.whole,
        policy.relaxed,
        policy.best,
    )
    start, promise, run, killed, advanced, *nodes = interruptible(
        placement,
        jobs._replace(estimate=estimate),
        Tree(tree.k, tree.n, tree.procs, kept, parts),
        allocation,
        order,
        veto,
        rule,
        case.kills,
    )
    killed = killed if case.cut is None else killed | case.cut
    return case.outcome(start, promise, run=run, killed=killed, backfilled=advanced, nodes=Ranges(*nodes))


def fractions(saved):
    """Give what is left of times that fall by some shares: numerators and denominators, int64, shape (2, n_shares).

    A share stands for the simplest fraction next to it: 0.1 for 1/10, which it is not in binary.
    """
    left = [1 - Fraction(float(share)).limit_denominator(PARTS) for share in saved]
    left = [max(one, Fraction(1, PARTS)) for one in left]
    return np.array([[one.numerator for one in left], [one.denominator for one in left]])


def _seeds(seed, n):
    """Give each job a seed of its own, by its place in the order of arrival."""
    states = np.full(n, seed % 2**64, "uint64") * GOLDEN + np.arange(1, n + 1, dtype="uint64") + GOLDEN
    return (splitmix64(states) % np.uint64(MODULUS - 1)).astype("int64") + 1
