"""Conservative backfilling: every waiting job holds a reservation in a profile of free processors.

After Mu'alem and Feitelson, IEEE TPDS 12(6), 2001. On arrival, a job is placed at the earliest time at which its
processors are free for its estimate, without moving other jobs. It starts when its reservation comes. When a job
completes before its estimated end, one compression pass for that instant, before the instant's arrivals, visits the
waiting jobs in the order of the queue (or of their reservations) and moves each to its earliest feasible time. A job
visited early in a pass may miss a gap that a later move opens. Passes may therefore be repeated until nothing moves, or
made at every completion, including those at estimated ends. The variant "rebuild" instead forgets all reservations at
each pass and places the waiting jobs anew in queue order, so it promises nothing. Jobs that are due at the same instant
start first come, first served.

Nearly every visit of a compression finds that the job cannot move, or that it can only slide to a slightly earlier
time. One invariant makes it exact to skip most searches: *a job is at the earliest time that was feasible when it was
last visited*. Since then, processors have been freed only on known stretches: by completions, and by jobs that moved
after that visit, in this pass or in the last. So an earlier place for the job overlaps one of these stretches. There
are two cases. Either the place also reaches up to the reservation: then the job slides, and the time right before the
reservation was freed. Or the whole place is before the reservation, in a hole that is at least as long as the job and
touches a freed stretch. A job stays without a search if its reservation is behind all stretches and it is longer than
every such hole for its size.
"""

from typing import NamedTuple

import numpy as np

from ._jit import inlined, kernel, maker, part, routine
from .cluster import ARRIVED, EARLY, ENDED, FREE, NAN, NEWCOMER, NOW, advance, begin, new_cluster, place_in_queue
from .hole_bounds import HoleBounds, fits_no_hole, forget_holes, measure_holes, new_holes
from .profile import add, add_at, clear, earlier, earliest, forget_past, free_from, profile
from .questions import sort_queue
from .sorted_pairs import (
    NEVER,
    SortedPairs,
    back,
    copy_into,
    drop_from,
    empty,
    first_key,
    front,
    insert,
    is_empty,
    new_pairs,
    pop,
    remove,
    size_of,
)

BY_QUEUE, BY_RESERVATION, NO_COMPRESSION, REBUILD = range(4)  # possible values of `compression`

FREED_UNTIL, LONGEST_VISITED, LISTED_UNTIL, TO_LIST, AT_LEAST = range(5)  # places in Book.memory

# Steps of the profile that searches may scan before holes are measured: a measurement costs about as much. Values from
# 50 to 3000 were tried: CTC takes 180 ms with 100 and 190 ms with 3000; CTC at load 1.0 takes 1.9 s and 2.3 s.
WORTH_MEASURING = 100


class Book(NamedTuple):
    """The reservations; every field is modified in place."""

    steps: SortedPairs  # the availability profile: running jobs and reservations
    # The waiting jobs with the earliest reservations: all those before `memory[LISTED_UNTIL]`. While jobs move, it may
    # hold only those at the first instant, since the others may move before their time comes; as long as none moves, it
    # grows. With all reservations listed, CTC takes 200 ms, not 165. With a scan of the whole queue at each instant
    # instead, CTC without compression takes 220 ms, not 32.
    due: SortedPairs
    # int64 of shape (n_jobs,), seconds: the reservations of the waiting jobs; `NEVER` for a job that has none yet.
    reserved: np.ndarray
    holes: HoleBounds  # the holes that touch processor time freed since the waiting jobs were last visited
    # int64 of shape (5,): where the last of those stretches ends; the longest estimate met at the last visits; the
    # instant before which all reservations are in `due` (seconds); how many jobs `due` should hold, and how many even
    # while jobs move.
    memory: np.ndarray


@maker
def new_book(n, machine):
    """Make the reservation book of an idle machine."""
    reserved, memory = np.full(n, NEVER, np.int64), np.zeros(5, np.int64)
    memory[LISTED_UNTIL] = NEVER
    return Book(profile(machine, n), new_pairs(n), reserved, new_holes(machine), memory)


@kernel
def conservative(jobs, machine, order, compression, on_completion, repeat, per_event, halt):
    """Simulate conservative backfilling; return start times and the first reservation of each job, in seconds.

    Arguments as in `fcfs`, except that no job may outlive its estimate; `order` is also the order in which jobs are
    visited when reservations are compressed or rebuilt. `on_completion`: compress at every completion, not only at
    those before the estimated end. `repeat`: compress again until no reservation moves.
    """
    n = jobs.submit.size
    c = new_cluster(jobs, machine, order.rank, order.moving, per_event, halt)
    book = new_book(n, machine)
    score = np.empty(n if order.moving else 0, np.float64)
    # While no job ends early, nothing needs rebuilding, with two exceptions: the order may change, and a job of length
    # zero, which reserves nothing, may lose its place.
    unsettled = order.moving or jobs.estimate.min() == 0
    visits = new_pairs(n if compression == BY_RESERVATION else 0)
    if compression == BY_RESERVATION:
        book.memory[TO_LIST] = book.memory[AT_LEAST] = n
    while advance(c, next_due(c, book)):
        forget_past(book.steps, c.clock[NOW])
        sort_queue(c, order, score)
        if compression == REBUILD and (c.clock[EARLY] or unsettled or not newcomers_are_last(c)):
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


@inlined  # a call at each instant costs two percent without compression
def next_due(c, book):
    """Return the instant of the next reservation, or `NEVER`."""
    if is_empty(book.due) and book.memory[LISTED_UNTIL] < NEVER:
        _list_anew(c.queue, book)
    return first_key(book.due)


@routine
def _list_anew(queue, book):
    """List the earliest reservations, twice as many as before if none has moved since."""
    empty(book.due)
    book.memory[LISTED_UNTIL] = NEVER
    for place in range(front(queue), back(queue)):
        job = queue.item[place]
        _list(book, job, book.reserved[job])
    book.memory[TO_LIST] = 2 * book.memory[TO_LIST] + 1


@routine
def _list(book, job, instant):
    """List a reservation, unless it is too late for the list."""
    due, memory = book.due, book.memory
    if instant < memory[LISTED_UNTIL]:
        insert(due, instant, job)
        if size_of(due) > 2 * memory[TO_LIST]:
            until = max(due.key[front(due) + memory[TO_LIST]], first_key(due) + 1)  # all of the first instant stay
            last = back(due)
            while due.key[last - 1] >= until:
                last -= 1
            drop_from(due, last)
            memory[LISTED_UNTIL] = until


@routine
def unlist(book, job):
    """Remove a job from the list, if it is there, before its reservation is changed."""
    if book.reserved[job] < book.memory[LISTED_UNTIL]:
        remove(book.due, book.reserved[job], job)


@part
def reserve(c, book, job, instant):
    """Give a waiting job a reservation that begins at an instant."""
    add(book.steps, instant, instant + c.jobs.estimate[job], -c.jobs.procs[job])
    _list(book, job, instant)
    book.reserved[job] = instant
    if c.promise[job] < 0:
        c.promise[job] = instant


@part
def place_newcomers(c, book):
    """Give reservations to the jobs that have just arrived."""
    jobs = c.jobs
    for job in range(c.clock[NEWCOMER], c.clock[ARRIVED]):
        if c.halt[0]:  # searches of a long queue take seconds, here and below
            return
        instant = earliest(book.steps, c.clock[NOW], NEVER, jobs.procs[job], jobs.estimate[job])
        reserve(c, book, job, instant)


@inlined
def start_due(c, book):
    """Start the jobs whose reservations have come."""
    while next_due(c, book) <= c.clock[NOW]:
        begin(c, place_in_queue(c, pop(book.due)))


@part
def release_early(c, book):
    """Free the time between early end and estimated end of the jobs that ended early."""
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
    freed_until = memory[FREED_UNTIL]
    unmeasured_from, unmeasured_until, searched = now, freed_until, 0  # the hull of freed stretches not yet measured
    forget_holes(holes, memory[LONGEST_VISITED])
    memory[FREED_UNTIL], memory[LONGEST_VISITED] = now, 0
    for place in range(front(visits), back(visits)):
        job = visits.item[place]
        procs, duration, instant = jobs.procs[job], jobs.estimate[job], book.reserved[job]
        if instant == NEVER or instant <= now:
            continue
        memory[LONGEST_VISITED] = max(memory[LONGEST_VISITED], duration)
        latest = now - 1  # latest begin of a place that does not reach up to the reservation
        if now + duration < instant:
            may_fit = not fits_no_hole(holes, procs, duration)
            if not may_fit and unmeasured_from < unmeasured_until:
                searched += size_of(steps)
                if searched > WORTH_MEASURING:
                    measure_holes(holes, steps, now, unmeasured_from, unmeasured_until)
                    unmeasured_from, unmeasured_until, searched = NEVER, now, 0
                may_fit = searched > 0 or not fits_no_hole(holes, procs, duration)
            if may_fit:
                latest = instant - duration
        if instant > freed_until and latest < now:
            continue
        if c.halt[0]:
            return
        start = earlier(steps, instant, procs, duration, latest)
        if start >= 0:
            begins, ends = _move(c, book, job, start)
            unmeasured_from, unmeasured_until = min(unmeasured_from, begins), max(unmeasured_until, ends)
            freed_until = max(freed_until, ends)
            memory[FREED_UNTIL] = max(memory[FREED_UNTIL], ends)


@part
def _move(c, book, job, place):
    """Move a reservation to an earlier step; return the stretch on which that frees processors."""
    steps, procs, duration, instant = book.steps, c.jobs.procs[job], c.jobs.estimate[job], book.reserved[job]
    better = steps.key[place]
    begins, ends = max(instant, better + duration), instant + duration
    if duration > 0:
        add_at(steps, place, min(instant, better + duration), -procs)
        add(steps, begins, ends, procs)
    book.memory[TO_LIST] = book.memory[AT_LEAST]
    unlist(book, job)
    _list(book, job, better)
    book.reserved[job] = better
    return begins, ends


@part
def newcomers_are_last(c):
    """Tell whether this instant's arrivals are at the end of the queue, in order of arrival."""
    place = back(c.queue) - (c.clock[ARRIVED] - c.clock[NEWCOMER])
    for job in range(c.clock[NEWCOMER], c.clock[ARRIVED]):
        if c.queue.item[place] != job:
            return False
        place += 1
    return True


@part
def running_alone(c, steps):
    """Make the profile of processors left free by the running jobs."""
    running = c.running
    clear(steps, c.clock[NOW], c.clock[FREE])
    for place in range(front(running), back(running)):
        free_from(steps, running.key[place], c.jobs.procs[running.item[place]])


@part
def make_anew(c, book, last):
    """Forget all reservations, and place the waiting jobs anew in queue order, up to a place in the queue."""
    jobs, steps, now = c.jobs, book.steps, c.clock[NOW]
    running_alone(c, steps)
    empty(book.due)
    book.memory[LISTED_UNTIL], book.memory[TO_LIST] = NEVER, book.memory[AT_LEAST]
    for place in range(front(c.queue), last):
        if c.halt[0]:
            return
        job = c.queue.item[place]
        instant = earliest(steps, now, NEVER, jobs.procs[job], jobs.estimate[job])
        reserve(c, book, job, instant)
