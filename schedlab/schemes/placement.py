"""Schemes on a k-ary n-tree: the calls that place jobs on its nodes."""

from fractions import Fraction

import numpy as np

from schedlab._runtime.streams import GOLDEN, splitmix64
from schedlab._runtime.threads import interruptible
from schedlab.kernels.conservative_tree import conservative_tree
from schedlab.kernels.lookahead_tree import lookahead_tree
from schedlab.kernels.placement import ANY, BY_BLOCK, BY_COUNT, OFF, ON, Allocation, Tree, placement, shortened
from schedlab.kernels.tree_nodes import MODULUS

from .base import Case, Outcome
from .orders import Order, Veto
from .outcomes import Ranges

RULES = {"count": BY_COUNT, "block": BY_BLOCK}
SPARE = {"off": OFF, "on": ON, "any": ANY}
USUAL = {"count": "off", "block": "on"}  # the usual value of `spare` by the rule
PARTS = 10**9  # largest denominator of a share of time: the remaining time must not overflow


def place(case: Case, order: Order, veto: Veto, rule: int, spare: int = OFF) -> Outcome:
    """Simulate jobs on a tree, with jobs placed on nodes; see `schedlab.kernels.placement.placement`."""
    arrays = interruptible(placement, *_on_nodes(case), order, veto, rule, spare, case.kills)
    start, promise, run, killed, advanced, *nodes = arrays
    return _outcome(case, start, promise, run, nodes, killed=killed, backfilled=advanced)


def reserve(case: Case, order: Order, *passes) -> Outcome:
    """Simulate conservative backfilling on a tree; see `schedlab.kernels.conservative_tree.conservative_tree`."""
    start, promise, run, *nodes = interruptible(conservative_tree, *_on_nodes(case), order, *passes)
    return _outcome(case, start, promise, run, nodes)


def look_ahead(case: Case, order: Order, rule: int, *search) -> Outcome:
    """Simulate lookahead backfilling on a tree; see `schedlab.kernels.lookahead_tree.lookahead_tree`."""
    arrays = interruptible(lookahead_tree, *_on_nodes(case), order, rule, *search)
    start, promise, run, killed, advanced, *nodes = arrays
    return _outcome(case, start, promise, run, nodes, killed=killed, backfilled=advanced)


def _on_nodes(case):
    """Return jobs, machine and allocation in the form that the kernels for trees take."""
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
    return jobs._replace(estimate=estimate), Tree(tree.k, tree.n, tree.procs, kept, parts), allocation


def _outcome(case, start, promise, run, nodes, killed=None, **more):
    cut = [mask for mask in (killed, case.cut) if mask is not None]
    killed = np.logical_or.reduce(cut) if cut else None
    return case.outcome(start, promise, run=run, killed=killed, nodes=Ranges(*nodes), **more)


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
