"""Which nodes are free when: the plan of conservative backfilling on a k-ary n-tree.

The future is divided into slots, at every instant at which nodes are taken or come back. A slot has one bit per node,
set if the node is free in it. The last slot has no end, and all nodes are free there. A job fits at an instant if
enough nodes, in one block, are free in every slot that it would touch. Slurm's backfill scheduler and OAR's Kamelot
plan nodes in this way.

A search walks over the slots in which a job could start. If the nodes that are free throughout do not suffice, it looks
backwards for the last slot from which on they do not: no start up to that slot can succeed.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, maker, part, routine
from .tree_nodes import MODULUS, MULTIPLIER, NOWHERE

WORD = 64  # nodes in a word of bits

# Places in Plan.size: slots; rows that have been in use; and rows that are free again.
SLOTS, ROWS, SPARE = range(3)


class Plan(NamedTuple):
    """The plan; everything is modified in place."""

    time: np.ndarray  # int64 of shape (capacity,), seconds: when each slot begins
    row: np.ndarray  # int64 of shape (capacity,): the row of `bits` of each slot
    count: np.ndarray  # int64 of shape (capacity,): free nodes in each slot
    # uint64 of shape (2 * capacity, n_words): rows of bits, one bit per node: the free nodes of slots, and the nodes
    # that jobs have reserved.
    bits: np.ndarray
    spare: np.ndarray  # int64 of shape (2 * capacity,): rows that are free for reuse
    # uint64 of shape (n_words,): the nodes found by a search, those of one block; scratch before that.
    found: np.ndarray
    common: np.ndarray  # uint64 of shape (n_words,): scratch
    nodes: np.ndarray  # int64 of shape (installed,): scratch
    size: np.ndarray  # int64 of shape (3,): the scalars


class Want(NamedTuple):
    """What a job is looking for."""

    procs: int  # number of nodes
    duration: int  # seconds
    stage: int  # stages of the acceptable blocks; the first stage that has a block is used
    last_stage: int
    width: np.ndarray  # int64 of shape (n_stages + 1,): number of nodes in a full block of each stage
    installed: int
    best: bool  # whether the fullest block is taken instead of the first
    seed: int  # seed for drawing the nodes; 0 takes the lowest ones


@maker
def new_plan(installed, capacity):
    """Make the plan of an idle machine, with room for `capacity` slots and as many reservations."""
    n_words = (installed + WORD - 1) // WORD
    plan = Plan(
        np.zeros(capacity, np.int64),
        np.zeros(capacity, np.int64),
        np.zeros(capacity, np.int64),
        np.zeros((2 * capacity, n_words), np.uint64),
        np.zeros(2 * capacity, np.int64),
        np.zeros(n_words, np.uint64),
        np.zeros(n_words, np.uint64),
        np.zeros(installed, np.int64),
        np.zeros(3, np.int64),
    )
    plan.count[0] = installed
    for node in range(installed):
        plan.bits[0, node // WORD] |= U(1) << U(node % WORD)
    plan.size[SLOTS] = plan.size[ROWS] = 1
    return plan


@maker
def with_slots(plan):
    """Return the same plan with room for twice as many slots."""
    return Plan(
        np.append(plan.time, plan.time),
        np.append(plan.row, plan.row),
        np.append(plan.count, plan.count),
        np.concatenate((plan.bits, plan.bits)),
        np.append(plan.spare, plan.spare),
        plan.found,
        plan.common,
        plan.nodes,
        plan.size,
    )


@part
def has_room(plan, jobs):
    """Tell whether there is room for the reservations of `jobs` jobs: each begins and ends a slot, and has a row."""
    return 2 * jobs + 4 <= plan.time.size


@part
def new_row(plan):
    """Return an unused row of bits, with arbitrary content."""
    if plan.size[SPARE]:
        plan.size[SPARE] -= 1
        return plan.spare[plan.size[SPARE]]
    plan.size[ROWS] += 1
    return plan.size[ROWS] - 1


@part
def drop_row(plan, row):
    """Release a row."""
    plan.spare[plan.size[SPARE]] = row
    plan.size[SPARE] += 1


@routine
def slot_at(plan, instant):
    """Find the slot that contains an instant."""
    low, high = 0, plan.size[SLOTS]
    while high - low > 1:
        middle = (low + high) // 2
        if plan.time[middle] <= instant:
            low = middle
        else:
            high = middle
    return low


@routine
def _cut(plan, instant):
    """Make a slot begin at an instant; return that slot."""
    slot = slot_at(plan, instant)
    if plan.time[slot] == instant:
        return slot
    slot, size = slot + 1, plan.size
    for place in range(size[SLOTS], slot, -1):
        plan.time[place], plan.row[place], plan.count[place] = (
            plan.time[place - 1],
            plan.row[place - 1],
            plan.count[place - 1],
        )
    size[SLOTS] += 1
    before, row = plan.row[slot - 1], new_row(plan)
    plan.time[slot], plan.row[slot], plan.count[slot] = instant, row, plan.count[slot - 1]
    for word in range(plan.bits.shape[1]):
        plan.bits[row, word] = plan.bits[before, word]
    return slot


@routine
def _join(plan, slot):
    """Merge a slot with the one before it, if the same nodes are free in both."""
    if slot == 0 or slot >= plan.size[SLOTS] or plan.count[slot] != plan.count[slot - 1]:
        return
    before, after = plan.row[slot - 1], plan.row[slot]
    for word in range(plan.bits.shape[1]):
        if plan.bits[before, word] != plan.bits[after, word]:
            return
    _remove_slots(plan, slot, 1)


@routine
def _remove_slots(plan, slot, count):
    for place in range(slot, slot + count):
        drop_row(plan, plan.row[place])
    plan.size[SLOTS] -= count
    for place in range(slot, plan.size[SLOTS]):
        plan.time[place], plan.row[place], plan.count[place] = (
            plan.time[place + count],
            plan.row[place + count],
            plan.count[place + count],
        )


@part
def forget_before(plan, now):
    """Drop everything in the plan before an instant."""
    slot = slot_at(plan, now)
    if slot > 0:
        _remove_slots(plan, 0, slot)
    plan.time[0] = max(plan.time[0], now)


@routine
def change(plan, row, procs, begins, ends, gives):
    """Take the nodes of a row for a time, or give them back."""
    if begins >= ends:
        return
    first = _cut(plan, begins)
    after = _cut(plan, ends)
    for slot in range(first, after):
        slot_row = plan.row[slot]
        for word in range(plan.bits.shape[1]):
            if gives:
                plan.bits[slot_row, word] &= ~plan.bits[row, word]
            else:
                plan.bits[slot_row, word] |= plan.bits[row, word]
        plan.count[slot] += -procs if gives else procs
    _join(plan, after)
    _join(plan, first)


@routine
def earliest(plan, want, now, until, own, own_from):
    """Find the first instant before `until` at which a job fits; -1 if there is none. `plan.found` receives the nodes.

    `own` is the row of nodes that the job itself holds from `own_from` on, and that count as free; -1 if it holds none.
    """
    first, after = 0, 0
    while first < plan.size[SLOTS]:
        begins = max(now, plan.time[first])
        if begins >= until:
            return -1
        ends, after = begins + want.duration, max(after, first)
        enough = True
        while enough and after < plan.size[SLOTS] and plan.time[after] < ends:
            held = want.procs if own >= 0 and plan.time[after] >= own_from else 0
            enough = plan.count[after] + held >= want.procs
            after += 1
        if not enough:
            first = after  # the slot after the one with too few nodes
            continue
        last = _lacking(plan, want, first, after, own, own_from)
        if last < first:
            _choose(plan, want)
            return begins
        first = last + 1
    return -1  # the last slot has all nodes, so only `until` can end the search


@routine
def _lacking(plan, want, first, after, own, own_from):
    """Find the last slot from which on, up to `after`, too few nodes are free throughout; `first` - 1 if there is none.

    `common` receives the nodes that are free throughout the slots behind it.
    """
    n_words = plan.bits.shape[1]
    for word in range(n_words):
        plan.common[word] = ~U(0)
    for slot in range(after - 1, first - 1, -1):
        _narrow(plan, slot, own, own_from)
    if _find_block(plan, want) != NOWHERE:
        return first - 1
    # Bisect: which is the last slot that must be included for the rest to lack nodes?
    low, high = first, after - 1
    while low < high:
        middle = (low + high + 1) // 2
        for word in range(n_words):
            plan.common[word] = ~U(0)
        for slot in range(middle, after):
            _narrow(plan, slot, own, own_from)
        if _find_block(plan, want) == NOWHERE:
            low = middle
        else:
            high = middle - 1
    return low


@part
def _narrow(plan, slot, own, own_from):
    row = plan.row[slot]
    if own >= 0 and plan.time[slot] >= own_from:
        for word in range(plan.bits.shape[1]):
            plan.common[word] &= plan.bits[row, word] | plan.bits[own, word]
    else:
        for word in range(plan.bits.shape[1]):
            plan.common[word] &= plan.bits[row, word]


@part
def _ones(word):
    """Count the set bits of a word."""
    word = word - ((word >> U(1)) & U(0x5555555555555555))
    word = (word & U(0x3333333333333333)) + ((word >> U(2)) & U(0x3333333333333333))
    word = (word + (word >> U(4))) & U(0x0F0F0F0F0F0F0F0F)
    word += word >> U(8)  # sums instead of a product, whose overflow makes NumPy warn if the JIT is off
    word += word >> U(16)
    word += word >> U(32)
    return np.int64(word & U(0x7F))


@part
def _within(plan, first, after):
    """Count the common free nodes of a range."""
    low, high = first // WORD, (after - 1) // WORD
    above = ~U(0) << U(first % WORD)
    below = ~U(0) >> U(WORD - 1 - (after - 1) % WORD)
    if low == high:
        return _ones(plan.common[low] & above & below)
    count = _ones(plan.common[low] & above) + _ones(plan.common[high] & below)
    for word in range(low + 1, high):
        count += _ones(plan.common[word])
    return count


@routine
def _find_block(plan, want):
    """Find the first block with enough common free nodes, or the fullest one: its first node, or `NOWHERE`.

    The first entry of `nodes` receives the node after the block.
    """
    for stage in range(want.stage, want.last_stage + 1):
        width, block, least = want.width[stage], NOWHERE, want.installed + 1
        for first in range(0, want.installed, width):
            after = min(first + width, want.installed)
            count = _within(plan, first, after)
            if want.procs <= count < least:
                block, least = first, count
                if not want.best:
                    break
        if block != NOWHERE:
            plan.nodes[0] = min(block + width, want.installed)
            return block
    return NOWHERE


@routine
def _choose(plan, want):
    """Choose the nodes of a job in the block that was found."""
    node = _find_block(plan, want)
    after = plan.nodes[0]
    for word in range(plan.found.size):
        plan.found[word] = U(0)
    if want.seed:
        _draw(plan, want)
        return
    left = want.procs
    while left > 0 and node < after:
        if (plan.common[node // WORD] >> U(node % WORD)) & U(1):
            plan.found[node // WORD] |= U(1) << U(node % WORD)
            left -= 1
        node += 1


@routine
def _draw(plan, want):
    """Choose free nodes at random: the beginning of a partial shuffle, as in `schedlab.kernels.tree_nodes`."""
    count, seed = 0, want.seed
    for node in range(want.installed):
        if (plan.common[node // WORD] >> U(node % WORD)) & U(1):
            plan.nodes[count] = node
            count += 1
    for i in range(want.procs):
        seed = seed * MULTIPLIER % MODULUS
        j = i + seed % (count - i)
        node = plan.nodes[j]
        plan.nodes[j] = plan.nodes[i]
        plan.found[node // WORD] |= U(1) << U(node % WORD)
