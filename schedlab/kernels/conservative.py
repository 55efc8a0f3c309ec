"""Conservative backfilling: every waiting job holds a reservation in a profile of free processors.

After Mu'alem and Feitelson, IEEE TPDS 12(6), 2001. A job is placed on arrival at the earliest time at which its
processors are free for its estimate, without moving others, and starts when its reservation comes. When a job
completes before its estimated end, one compression pass for that instant, before the instant's arrivals, visits the
waiting jobs in the order of the queue (or of their reservations) and moves each to its earliest feasible time. A job
that was visited early in a pass may miss a gap that a later move opens. Passes may therefore be repeated until nothing
moves, or made at every completion, those at estimated ends included. The variant "rebuild" forgets all reservations at
each pass instead and places the waiting jobs anew in the order of the queue, so that it promises nothing. Jobs that are
due at one instant start first come, first served.

Nearly every visit of a compression finds that the job cannot move, or that it can only slide to a slightly earlier
time. A job stands at the earliest time that was feasible when it was last visited, so an earlier one must touch a
stretch that was freed since then: by the completions of this instant, or by jobs that moved after that visit, in this
pass or in the last. If no hole that touches those stretches is as long as the job, it can only slide into what was
freed right before it; if nothing was freed as late as that, it stays. A search is made for the others only, and for the
last few of a pass, for which measuring holes would cost more than it saves.
"""

from typing import NamedTuple

import numpy as np

from ._jit import kernel, maker, part
from .cluster import (
    ARRIVED,
    EARLY,
    ENDED,
    FREE,
    NAN,
    NEWCOMER,
    NOW,
    advance,
    begin,
    new_cluster,
    place_in_queue,
    sort_queue,
)
from .hole_bounds import HoleBounds, fits_no_hole, forget_holes, measure_holes, new_holes, suppose_holes
from .profile import add, clear, earliest, forget_past, free_from, profile, slid
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

BY_QUEUE, BY_RESERVATION, NO_COMPRESSION, REBUILD = range(4)  # what `compression` may be

FREED_UNTIL, LONGEST_VISITED = range(2)  # places in Book.memory

# For so many visits searching costs less than measuring holes: KTH 42 ms instead of 50, SDSC-SP2 163 instead of 191.
FEW = 32


class Book(NamedTuple):
    """The reservations; every field is modified in place.

    Attributes
    ----------
    steps : SortedPairs
        The availability profile: running jobs and reservations.
    due : SortedPairs
        Waiting jobs by the time of their reservation.
    reserved : int64, shape (n_jobs,), seconds
        The same by job; `NEVER` for a job that has none yet.
    holes : HoleBounds
        The holes that touch what was freed since the waiting jobs were last visited.
    memory : int64, shape (2,), seconds
        Where the last of those stretches ends; the longest estimate met at the last visits.
    """

    steps: SortedPairs
    due: SortedPairs
    reserved: np.ndarray
    holes: HoleBounds
    memory: np.ndarray


@maker
def new_book(n, machine):
    """Make the book of an idle machine."""
    due = new_pairs(n + n // 2 + 1)
    reserved = np.full(n, NEVER, np.int64)
    return Book(profile(machine, n), due, reserved, new_holes(machine), np.zeros(2, np.int64))


@kernel
def conservative(jobs, machine, order, compression, on_completion, repeat, per_event, halt):
    """Simulate conservative backfilling.

    Parameters
    ----------
    jobs, machine, order, per_event, halt
        As in `schedlab.kernels.fcfs`, but that no job may outlive its estimate; the order is that in which jobs are
        visited when reservations are compressed or rebuilt.
    compression : {BY_QUEUE, BY_RESERVATION, NO_COMPRESSION, REBUILD}
    on_completion : bool
        Compress at every completion, not only at those before the estimated end.
    repeat : bool
        Compress again until no reservation moves.

    Returns
    -------
    start, promise : int64, shape (n_jobs,), seconds
        Start times, and the reservation that a job was given first.
    """
    n = jobs.submit.size
    c = new_cluster(jobs, machine, order.rank, order.moving, per_event, halt)
    book = new_book(n, machine)
    score = np.empty(n if order.moving else 0, np.float64)
    # Nothing needs rebuilding while no job ends early, unless the order moves, or a job of length zero, which reserves
    # nothing, may lose its place.
    unsettled = order.moving or jobs.estimate.min() == 0
    visits = new_pairs(n if compression == BY_RESERVATION else 0)
    while advance(c, next_due(book)):
        forget_past(book.steps, c.clock[NOW])
        sort_queue(c, order, score)
        if compression == REBUILD and (c.clock[EARLY] or unsettled or not _newcomers_are_last(c)):
            make_anew(c, book, back(c.queue))
        else:
            release_early(c, book)
            moves = compression < NO_COMPRESSION and (c.clock[EARLY] or (on_completion and c.clock[ENDED]))
            while moves:
                if compression == BY_RESERVATION:
                    copy_into(visits, book.due)
                compress(c, book, visits if compression == BY_RESERVATION else c.queue)
                moves = repeat and book.memory[FREED_UNTIL] > c.clock[NOW] and not c.halt[0]
            place_newcomers(c, book)
        start_due(c, book)
    if c.clock[NAN]:
        raise ValueError("the order of the queue gives nan")
    return c.start, c.promise


@part
def next_due(book):
    """Give the instant of the next reservation, or `NEVER`."""
    due = book.due
    return first_key(due)


@part
def reserve(c, book, job, instant):
    """Give a waiting job the reservation that begins at an instant."""
    add(book.steps, instant, instant + c.jobs.estimate[job], -c.jobs.procs[job])
    insert(book.due, instant, job)
    book.reserved[job] = instant
    if c.promise[job] < 0:
        c.promise[job] = instant


@part
def place_newcomers(c, book):
    """Give the jobs that have just arrived their reservations."""
    jobs = c.jobs
    for job in range(c.clock[NEWCOMER], c.clock[ARRIVED]):
        if c.halt[0]:  # searches of a long queue take seconds, here and below
            return
        instant = earliest(book.steps, c.clock[NOW], NEVER, jobs.procs[job], jobs.estimate[job])
        reserve(c, book, job, instant)


@part
def start_due(c, book):
    """Start the jobs whose reservations have come."""
    due = book.due
    while next_due(book) <= c.clock[NOW]:
        begin(c, place_in_queue(c, pop(due)))


@part
def release_early(c, book):
    """Free what the jobs that ended early would have held until their estimated ends."""
    jobs = c.jobs
    for i in range(c.clock[EARLY]):
        job = c.early[i]
        expected = c.start[job] + jobs.estimate[job]
        add(book.steps, c.clock[NOW], expected, jobs.procs[job])
        book.memory[FREED_UNTIL] = max(book.memory[FREED_UNTIL], expected)


@part
def compress(c, book, visits):
    """Move waiting jobs to their earliest feasible times, in the order of `visits`."""
    jobs, steps, holes, memory, now = c.jobs, book.steps, book.holes, book.memory, c.clock[NOW]
    forget_holes(holes, memory[LONGEST_VISITED])
    horizon = book.due.key[back(book.due) - 1] if next_due(book) < NEVER else now
    _look_for_holes(book, now, now, memory[FREED_UNTIL], horizon, size_of(visits))
    freed_until = memory[FREED_UNTIL]
    memory[FREED_UNTIL], memory[LONGEST_VISITED] = now, 0
    for place in range(front(visits), back(visits)):
        job = visits.item[place]
        procs, duration, instant = jobs.procs[job], jobs.estimate[job], book.reserved[job]
        if instant == NEVER or instant <= now:
            continue
        memory[LONGEST_VISITED] = max(memory[LONGEST_VISITED], duration)
        if not fits_no_hole(holes, procs, duration):
            if c.halt[0]:
                return
            better = earliest(steps, now, instant, procs, duration)
        elif instant <= freed_until:
            better = slid(steps, now, instant, procs)
        else:
            continue
        if better < instant:
            _move(c, book, job, better)
            begins, ends = max(instant, better + duration), instant + duration
            _look_for_holes(book, now, begins, ends, horizon, back(visits) - place)
            freed_until = max(freed_until, ends)
            memory[FREED_UNTIL] = max(memory[FREED_UNTIL], ends)


@part
def _look_for_holes(book, now, begin, end, horizon, visits):
    if visits > FEW:
        measure_holes(book.holes, book.steps, now, begin, end, horizon)
    else:
        suppose_holes(book.holes)


@part
def _move(c, book, job, better):
    steps, procs, duration, instant = book.steps, c.jobs.procs[job], c.jobs.estimate[job], book.reserved[job]
    add(steps, better, min(instant, better + duration), -procs)
    add(steps, max(instant, better + duration), instant + duration, procs)
    remove(book.due, instant, job)
    insert(book.due, better, job)
    book.reserved[job] = better


@part
def _newcomers_are_last(c):
    """Tell whether this instant's arrivals stand at the end of the queue, in the order of arrival."""
    place = back(c.queue) - (c.clock[ARRIVED] - c.clock[NEWCOMER])
    for job in range(c.clock[NEWCOMER], c.clock[ARRIVED]):
        if c.queue.item[place] != job:
            return False
        place += 1
    return True


@part
def running_alone(c, steps):
    """Make the profile of the processors that running jobs leave free."""
    running = c.running
    clear(steps, c.clock[NOW], c.clock[FREE])
    for place in range(front(running), back(running)):
        free_from(steps, running.key[place], c.jobs.procs[running.item[place]])


@part
def make_anew(c, book, last):
    """Forget all reservations, and place the waiting jobs in the order of the queue, up to a place of it."""
    jobs, steps, now = c.jobs, book.steps, c.clock[NOW]
    running_alone(c, steps)
    empty(book.due)
    for place in range(front(c.queue), last):
        if c.halt[0]:
            return
        job = c.queue.item[place]
        instant = earliest(steps, now, NEVER, jobs.procs[job], jobs.estimate[job])
        reserve(c, book, job, instant)
