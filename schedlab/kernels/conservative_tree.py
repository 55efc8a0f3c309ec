"""Conservative backfilling on a k-ary n-tree: every waiting job holds a reservation of a time and of nodes.

As `schedlab.kernels.conservative`, with a plan of nodes in place of a profile of processors (`node_plan`). A job is
placed at the first instant at which enough nodes of one block are free for its expected run time; the block and its
nodes are chosen by the same rule as for jobs that start at once (`placement`). When a job ends early, its nodes are
free until its expected end, and the waiting jobs are visited. Each moves to its earliest time if that is earlier than
its reservation; otherwise it keeps its time and its nodes. So no job starts later than promised.

A job whose estimate is 0 is placed as if it took a second, but holds nothing.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, kernel, maker, part, routine
from .cluster import ARRIVED, EARLY, ENDED, NAN, NEWCOMER, NOW, Jobs, advance, begin, new_cluster, place_in_queue
from .conservative import BY_RESERVATION, NO_COMPRESSION, REBUILD
from .node_plan import (
    WORD,
    Plan,
    Want,
    change,
    drop_row,
    earliest,
    forget_before,
    has_room,
    new_plan,
    new_row,
    with_slots,
)
from .placement import shortened
from .processors import in_job_order
from .questions import sort_queue
from .sorted_pairs import (
    NEVER,
    SortedPairs,
    back,
    copy_into,
    empty,
    first_key,
    front,
    insert,
    new_pairs,
    pop,
    remove,
    size_of,
)
from .tree_nodes import Ranges, new_ranges, with_room

NONE = -1  # the row of a job without nodes
FREED_UNTIL, MOVED, STEP = range(3)  # places in Book.memory
ADVANCE, REPLAN, START = range(3)  # steps of an instant: a simulation that needs room resumes at the same step

_shortened = part(shortened)


class Book(NamedTuple):
    """The reservations, and which job holds which nodes; everything but `width` is modified in place."""

    plan: Plan
    due: SortedPairs  # waiting jobs, ordered by reservation
    reserved: np.ndarray  # int64 of shape (n_jobs,), seconds: reservation of each waiting job
    mine: np.ndarray  # int64 of shape (n_jobs,): the row of the plan with the nodes of a waiting or running job
    ranges: Ranges  # the nodes of the jobs that have started
    width: np.ndarray  # int64 of shape (stages + 1,): number of nodes in a block of each stage
    # int64 of shape (3,): until when nodes were freed that not all visits have seen; whether the last visits moved a
    # job; the next step.
    memory: np.ndarray


@maker
def _new_book(n, tree):
    width = np.ones(tree.stages + 1, np.int64)
    for stage in range(1, tree.stages + 1):
        width[stage] = width[stage - 1] * tree.arity
    return Book(
        new_plan(tree.installed, 64),
        new_pairs(n),
        np.full(n, NEVER, np.int64),
        np.full(n, NONE, np.int64),
        new_ranges(n, n + 4 * tree.installed),
        width,
        np.zeros(3, np.int64),
    )


@maker
def _with_room(book, more):
    plan, ranges = with_slots(book.plan), with_room(book.ranges, more)
    return Book(plan, book.due, book.reserved, book.mine, ranges, book.width, book.memory)


@kernel
def conservative_tree(jobs, tree, allocation, order, compression, on_completion, repeat, halt):
    """Simulate conservative backfilling on a k-ary n-tree; arguments as in `conservative` and `placement`.

    No run time exceeds its estimate. A rebuild places all waiting jobs anew at every pass. Return start times, the
    first reservation of each job, run times shortened according to the places (seconds), and the nodes as in
    `placement`.
    """
    n = jobs.submit.size
    copies = Jobs(jobs.submit, jobs.run.copy(), jobs.estimate, jobs.procs)
    c = new_cluster(copies, tree.installed, order.rank, order.moving, False, halt)
    book = _new_book(n, tree)
    score = np.empty(n if order.moving else 0, np.float64)
    visits = new_pairs(n if compression == BY_RESERVATION else 0)
    rules = (compression, on_completion, repeat)
    while not _simulated(c, book, tree, allocation, order, score, visits, rules):
        book = _with_room(book, 4 * tree.installed)
    if c.clock[NAN]:
        raise ValueError("the order of the queue gives nan")
    ranges = book.ranges
    offset, first, last = in_job_order(ranges.begin, ranges.count, ranges.first, ranges.last)
    return c.start, c.promise, c.jobs.run, offset, first, last


@part
def _simulated(c, book, tree, allocation, order, score, visits, rules):
    """Continue until nothing is left, or until there is no more room; tell whether nothing is left."""
    memory = book.memory
    while True:
        if memory[STEP] == ADVANCE:
            ended = front(c.ends)
            if not advance(c, first_key(book.due)):
                return True
            forget_before(book.plan, c.clock[NOW])
            # Jobs removed from the list of ends are still stored before its front.
            for place in range(ended, front(c.ends)):
                _release(c, book, c.begun[c.ends.item[place]])
            memory[STEP] = REPLAN
        if memory[STEP] == REPLAN:
            if not has_room(book.plan, size_of(c.queue) + size_of(c.running)):
                return False
            sort_queue(c, order, score)
            _replan(c, book, tree, allocation, visits, rules)
            memory[STEP] = START
        while first_key(book.due) <= c.clock[NOW]:
            if book.ranges.used[0] + tree.installed > book.ranges.first.size:
                return False
            _start(c, book, tree, pop(book.due))
        memory[STEP] = ADVANCE


@part
def _release(c, book, job):
    """Release the nodes of a job that has ended."""
    now, expected = c.clock[NOW], c.start[job] + c.jobs.estimate[job]
    if expected > now:
        change(book.plan, book.mine[job], c.jobs.procs[job], now, expected, False)
        book.memory[FREED_UNTIL] = max(book.memory[FREED_UNTIL], expected)
    drop_row(book.plan, book.mine[job])


@part
def _replan(c, book, tree, allocation, visits, rules):
    compression, on_completion, repeat = rules
    queue = c.queue
    if compression == REBUILD:
        for place in range(front(queue), back(queue)):
            _forget(c, book, queue.item[place])
        empty(book.due)
        for place in range(front(queue), back(queue)):
            _reserve(c, book, tree, allocation, queue.item[place])
        return
    moves = compression < NO_COMPRESSION and (c.clock[EARLY] > 0 or (on_completion and c.clock[ENDED] > 0))
    while moves:
        if compression == BY_RESERVATION:
            copy_into(visits, book.due)
        _visit(c, book, tree, allocation, visits if compression == BY_RESERVATION else queue)
        moves = repeat and book.memory[MOVED] > 0 and not c.halt[0]
    for job in range(c.clock[NEWCOMER], c.clock[ARRIVED]):
        _reserve(c, book, tree, allocation, job)


@part
def _forget(c, book, job):
    """Release what a waiting job has reserved, if anything."""
    instant = book.reserved[job]
    if instant < NEVER:
        change(book.plan, book.mine[job], c.jobs.procs[job], instant, instant + c.jobs.estimate[job], False)
        drop_row(book.plan, book.mine[job])
        book.reserved[job] = NEVER


@part
def _wanted(c, book, tree, allocation, job):
    stage = allocation.stage[job]
    last = min(stage + allocation.relaxed, tree.stages)
    duration = max(c.jobs.estimate[job], 1)
    procs, seed = c.jobs.procs[job], allocation.seed[job]
    return Want(procs, duration, stage, last, book.width, tree.installed, allocation.best, seed)


@routine
def _reserve(c, book, tree, allocation, job):
    """Reserve the first possible place for a waiting job."""
    if c.halt[0]:  # searches of a long queue take seconds, here and below
        return
    want = _wanted(c, book, tree, allocation, job)
    instant = earliest(book.plan, want, c.clock[NOW], NEVER, NONE, NEVER)
    book.mine[job] = new_row(book.plan)
    _hold(c, book, job, instant)
    if c.promise[job] < 0:
        c.promise[job] = instant


@part
def _hold(c, book, job, instant):
    """Give a job the nodes found by the search, from an instant on."""
    plan, row = book.plan, book.mine[job]
    for word in range(plan.found.size):
        plan.bits[row, word] = plan.found[word]
    change(plan, row, c.jobs.procs[job], instant, instant + c.jobs.estimate[job], True)
    insert(book.due, instant, job)
    book.reserved[job] = instant


@routine
def _visit(c, book, tree, allocation, visits):
    """Move waiting jobs to their earliest times, if these are earlier, in the order of `visits`."""
    memory, now = book.memory, c.clock[NOW]
    freed_until = memory[FREED_UNTIL]
    memory[FREED_UNTIL], memory[MOVED] = now, 0
    for place in range(front(visits), back(visits)):
        job = visits.item[place]
        instant, estimate = book.reserved[job], c.jobs.estimate[job]
        if instant == NEVER or instant <= now:
            continue
        if c.halt[0]:
            return
        # Since the job was last placed, nodes were freed up to `freed_until` only: a better place begins before that.
        row = book.mine[job] if estimate > 0 else NONE
        want = _wanted(c, book, tree, allocation, job)
        start = earliest(book.plan, want, now, min(instant, freed_until), row, instant)
        if start >= 0:
            change(book.plan, book.mine[job], c.jobs.procs[job], instant, instant + estimate, False)
            remove(book.due, instant, job)
            _hold(c, book, job, start)
            freed_until = max(freed_until, instant + estimate)
            memory[FREED_UNTIL], memory[MOVED] = max(memory[FREED_UNTIL], instant + estimate), 1


@routine
def _start(c, book, tree, job):
    """Start a job on the nodes that it has reserved."""
    bits, row, ranges = book.plan.bits, book.mine[job], book.ranges
    ranges.begin[job] = ranges.used[0]
    low, high = NONE, NONE
    for node in range(tree.installed):
        if (bits[row, node // WORD] >> U(node % WORD)) & U(1):
            if low == NONE or node != high + 1:
                low = node
                ranges.first[ranges.used[0]] = low
                ranges.used[0] += 1
            high = node
            ranges.last[ranges.used[0] - 1] = high
    ranges.count[job] = ranges.used[0] - ranges.begin[job]
    used, first = 1, ranges.first[ranges.begin[job]]
    while first // book.width[used] != high // book.width[used]:
        used += 1
    c.jobs.run[job] = _shortened(c.jobs.run[job], tree.kept[used], tree.parts[used])
    book.reserved[job] = NEVER
    begin(c, place_in_queue(c, job))
