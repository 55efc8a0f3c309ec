"""DPSA lookahead backfilling on a k-ary n-tree: of the sets that can be placed together, the one that uses most nodes.

As EASY on a tree (`placement`), except that candidates are not started one by one. A depth-first search over their
list, as in `lookahead`, puts jobs on nodes and takes them off again, and the first set found that uses the most nodes
is started. Which sets can be placed depends on the blocks that their jobs get, in list order, so no table of totals
gives the best set. Instead, the search is limited, in jobs tried or in ticks of a clock.
"""

import numpy as np

from ._jit import kernel, part, routine
from .best_set import BOUND, N_CANDIDATES, N_CHOSEN, OPEN, ROOM, new_choice
from .cluster import FREE, NAN, Jobs, advance, new_cluster, place_in_queue, waiting
from .lookahead import arrange, gather, mark_long
from .placement import (
    BY_COUNT,
    OFF,
    ON,
    block_beside,
    new_placement,
    outlasts,
    reserve,
    roomier,
    start_beside,
    start_heads,
)
from .processors import in_job_order
from .questions import sort_queue
from .reservation import EXTRA, HEAD, still_blocked
from .sorted_pairs import NEVER, front
from .tree_nodes import NOBODY, NOWHERE, put_back, release, take


@kernel
def lookahead_tree(jobs, tree, allocation, order, rule, variant, depth, budget, ticks, patience, halt):
    """Simulate DPSA lookahead backfilling on a k-ary n-tree; no job is killed.

    Arguments as in `placement` (the rule is BY_COUNT or BY_BLOCK) and `lookahead.Settings`; results as in `placement`.
    """
    n = jobs.submit.size
    copies = Jobs(jobs.submit, jobs.run.copy(), jobs.estimate, jobs.procs)  # placement shortens run times
    c = new_cluster(copies, tree.installed, order.rank, order.moving, False, halt)
    p = new_placement(tree, allocation, rule, OFF if rule == BY_COUNT else ON, False)
    choice = new_choice(n)
    score = np.empty(n if order.moving else 0, np.float64)
    reservation = np.zeros(6, np.int64)
    reservation[HEAD] = NOBODY
    search = (variant, depth, budget, ticks, patience)
    while not _simulated(c, p, reservation, choice, order, score, search):
        p = roomier(p, 4 * tree.installed)
    if c.clock[NAN]:
        raise ValueError("the order of the queue gives nan")
    offset, first, last = in_job_order(p.ranges.begin, p.ranges.count, p.ranges.first, p.ranges.last)
    return c.start, c.promise, c.jobs.run, p.killed, p.advanced, offset, first, last


@part
def _simulated(c, p, reservation, choice, order, score, search):
    """Simulate until nothing is left, or until there is no more room for ranges; tell whether nothing is left."""
    variant, depth, budget, ticks, patience = search
    ended = front(c.ends)
    while p.ranges.used[0] + 2 * p.nodes.owner.size <= p.ranges.first.size:
        if not advance(c, NEVER):
            return True
        # Jobs removed from the list of ends are still stored before its front.
        for place in range(ended, front(c.ends)):
            release(p.nodes, p.ranges, c.begun[c.ends.item[place]])
        sort_queue(c, order, score)
        if not still_blocked(c, reservation):
            start_heads(c, p)
            reserve(c, p, reservation)
        if waiting(c) and c.clock[FREE] > 0:
            gather(c, reservation, choice, depth, 0)
            if not p.allocation.whole:
                choice.size[OPEN] = choice.size[ROOM]  # an upper bound; the search knows which are open
            elif p.rule == BY_COUNT:
                choice.size[OPEN] = 0
            arrange(c, choice, variant)
            mark_long(c, reservation, choice)
            _search(c, p, reservation, choice, budget, ticks, patience)
            _start_chosen(c, p, reservation, choice)
        ended = front(c.ends)
    return False


@routine
def _search(c, p, reservation, choice, budget, ticks, patience):
    """Search depth first, by place in the list, up to the limits; keep the first set that uses the most nodes."""
    size, stack, procs = choice.size, choice.stack, c.jobs.procs
    best, used, depth, tried, i, begun = 0, 0, 0, 0, 0, ticks[0]
    size[N_CHOSEN] = 0
    while best < size[BOUND]:
        if i == size[N_CANDIDATES]:
            if depth == 0:
                break
            depth -= 1
            i = stack[depth]
            used -= procs[choice.job[i]]
            _take_off(c, p, reservation, choice, i)
            i += 1
            continue
        if tried == budget or ticks[0] - begun > patience or c.halt[0]:
            break
        tried += 1
        if _put_on(c, p, reservation, choice, i):
            stack[depth] = i
            depth += 1
            used += procs[choice.job[i]]
            if used > best:
                best = used
                for k in range(depth):
                    choice.chosen[k] = stack[k]
                size[N_CHOSEN] = depth
        i += 1
    while depth > 0:
        depth -= 1
        _take_off(c, p, reservation, choice, stack[depth])


@routine
def _put_on(c, p, reservation, choice, i):
    """Put a candidate on the nodes on which it would start; tell whether there are such nodes."""
    job, lasts = choice.job[i], choice.long[i]
    block = block_beside(c, p, reservation, job, lasts)
    if block == NOWHERE:
        return False
    procs = c.jobs.procs[job]
    if lasts and p.allocation.whole:
        reservation[EXTRA] -= procs
    take(p.nodes, p.ranges, job, procs, block, lasts and not p.allocation.whole, p.allocation.seed[job])
    return True


@part
def _take_off(c, p, reservation, choice, i):
    """Undo the latest `_put_on` that has not been undone."""
    job = choice.job[i]
    if choice.long[i] and p.allocation.whole:
        reservation[EXTRA] += c.jobs.procs[job]
    put_back(p.nodes, p.ranges, job)


@part
def _start_chosen(c, p, reservation, choice):
    """Start the chosen jobs in list order, so that they get the nodes that the search found."""
    for i in range(choice.size[N_CHOSEN]):
        job = choice.job[choice.chosen[i]]
        lasts = outlasts(c, reservation, job)
        block = block_beside(c, p, reservation, job, lasts)
        start_beside(c, p, reservation, place_in_queue(c, job), block, lasts)
