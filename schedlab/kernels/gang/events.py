"""The next event of each PE, kept in the leaves of a tree whose inner nodes hold the minimum of their children."""

import numpy as np

from .._jit import U, inlined
from ..sorted_pairs import NEVER
from .state import ABSENT, ANSWERED, CHECK, DOES, RUNNING, SINCE, SPINNING, UNTIL


@inlined
def next_event(g):
    """Return a PE that can continue, or else the one with the earliest event; and the time of that event."""
    if g.clock[ANSWERED] == 0:
        return _earliest_pe(g), g.tree[1]
    g.clock[ANSWERED] -= 1
    pe = g.answered[g.clock[ANSWERED]]
    instant = g.tasks[g.pes[pe, RUNNING], UNTIL]
    return pe, max(min(instant, g.pes[pe, CHECK]), g.pes[pe, SINCE]) if g.pes[pe, DOES] == SPINNING else instant


@inlined
def is_alone(g, pe):
    """Tell whether a PE's next step does not depend on other PEs."""
    spins = g.pes[pe, DOES] == SPINNING
    return g.pes[pe, ABSENT] == 0 and not (spins and g.tasks[g.pes[pe, RUNNING], UNTIL] == NEVER)


@inlined
def event_of(g, pe):
    return g.tree[g.tree.size // 2 + pe]


@inlined
def set_event(g, pe, instant):
    tree = g.tree
    at = U(tree.size // 2 + pe)
    if tree[at] == instant:
        return
    tree[at] = instant
    while at > U(1):
        at >>= U(1)
        tree[at] = min(tree[U(2) * at], tree[U(2) * at + U(1)])


@inlined
def _earliest_pe(g):
    """Find a PE that has the earliest event."""
    tree, at = g.tree, U(1)
    while at < U(tree.size // 2):
        at = U(2) * at + U(tree[U(2) * at] != tree[at])
    return np.int64(at) - tree.size // 2
