"""Conservative backfilling, and EASY with several reservations, on a machine of several pools (`pools`).

As `conservative` and `easy_depth` for one resource, with the profiles of `pools_profile`, in which known windows are
taken, too. When a window becomes known, or ends jobs, all reservations of its pool are made anew in the order of the
queue. A job over a limit loses its reservation, which alone moves nobody; within the limits again it is placed like an
arrival, before this instant's arrivals and in the order of the queue.

A job stays without a search if its reservation is behind all that was freed since it was last visited, and no start at
which it would reach into that is left (`conservative` says why).
"""

from typing import NamedTuple

import numpy as np

from ._jit import kernel, part, routine
from .cluster import ARRIVED, EARLY, NEWCOMER, NOW
from .conservative import BY_RESERVATION, NO_COMPRESSION, REBUILD
from .pools import (
    BEGIN,
    COMING,
    EARLIER,
    END,
    ENDED,
    FIRST,
    LAST,
    PASSED,
    SINCE,
    SPAN,
    TOUCHED,
    VOID,
    advance,
    begin,
    exceeds,
    first_of,
    last_of,
    settle,
    sort_pool,
)
from .pools_profile import (
    FREES,
    TAKES,
    Steps,
    add,
    add_from,
    append,
    clear,
    earlier,
    earliest,
    fits_now,
    forget_past,
    new_profiles,
)
from .priority import sort
from .questions import ask, is_vetoed
from .sorted_pairs import NEVER, SortedPairs, back, insert, place_of, remove

BEHIND = np.bool_(True)  # a job that is blocked


class Book(NamedTuple):
    """The reservations; every field is modified in place. Times in seconds."""

    steps: Steps
    due: SortedPairs  # the jobs with reservations, by pool and then by their begins
    reserved: np.ndarray  # int64 of shape (n_jobs,): the begin, `NEVER` for a job that has no reservation
    freed_until: np.ndarray  # int64 of shape (n_pools,): where what was freed since the last visits ends
    waits: np.ndarray  # bool of shape (n_jobs,): whether a waiting job had a reservation at the end of a pass
    waited: np.ndarray  # bool of shape (n_jobs,): and whether a job's last run was that of such a job


def new_book(jobs: int, pools: int, windows: int) -> Book:
    """Allocate the reservations of so many jobs."""
    due = SortedPairs(*np.zeros((2, 2 * jobs), np.int64), np.zeros(2, np.int64))
    reserved = np.full(jobs, NEVER, np.int64)
    freed_until = np.zeros(pools, np.int64)
    return Book(new_profiles(jobs, pools, windows), due, reserved, freed_until, *np.zeros((2, jobs), np.bool_))


@kernel
def pools_conservative(c, book, order, backfill, ordered, veto, depth, compression, on_completion, repeat, halt):
    """Simulate conservative backfilling, or EASY with reservations for the first `depth` blocked jobs of each pool.

    Return which jobs waited with a reservation. A depth of 0 is for conservative backfilling, which has no candidates:
    `backfill`, `ordered` and `veto` are for EASY, and the arguments after the depth for conservative backfilling, as in
    `conservative`. Others as in `pools_easy`. Compiled together, the two take a third less time.
    """
    pools = c.news.shape[0]
    questions = (order.question, veto.question, backfill.question)
    for pool in range(pools):
        fill(c, book.steps, pool, np.int64(0))
    while advance(c, _next_due(book.due, pools), halt):
        settle(c, questions, 2 + ordered)
        for pool in range(pools):
            if c.news[pool, TOUCHED] or _first_due(book.due, pool) <= c.clock[NOW]:
                c.news[pool, PASSED] = 0
                if order.moving:
                    sort_pool(c, pool, order.question)
                if depth == 0:
                    _plan(c, book, pool, compression, on_completion, repeat, halt)
                else:
                    _backfill(c, book, pool, backfill, ordered, veto, depth, halt)
    return book.waited


@part
def _first_due(due, pool):
    """Return the instant of the next reservation in a pool, or `NEVER`."""
    place = first_of(due, pool)
    if place < back(due) and due.key[place] < (pool + 1) * SPAN:
        return due.key[place] - pool * SPAN
    return NEVER


@part
def _next_due(due, pools):
    instant = NEVER
    for pool in range(pools):
        instant = min(instant, _first_due(due, pool))
    return instant


@routine
def fill(c, steps, pool, now):
    """Make the profile of what the running jobs and the known windows leave free."""
    running = c.running
    clear(steps, pool, now, c.free)
    for place in range(first_of(running, pool), last_of(running, pool)):
        append(steps, pool, running.key[place] - pool * SPAN, c.demand, running.item[place], FREES)
    window = c.news[pool, COMING] - 1
    if window >= c.news[pool, FIRST] and c.span[window, END] > now:  # closed now: open again at its end
        add_from(steps, pool, c.span[window, END], c.closed, window)
    for window in range(c.news[pool, COMING], c.news[pool, LAST]):
        if c.span[window, SINCE] <= now:
            add(steps, pool, c.span[window, BEGIN], c.span[window, END], c.closed, window, TAKES)


@part
def _reserve(c, book, pool, job):
    """Give a waiting job its earliest reservation."""
    instant = earliest(book.steps, pool, c.demand, job, c.jobs.estimate[job])
    add(book.steps, pool, instant, instant + c.jobs.estimate[job], c.demand, job, TAKES)
    insert(book.due, pool * SPAN + instant, job)
    book.reserved[job] = instant
    if c.promise[job] < 0:
        c.promise[job] = instant


@part
def _forget(book, pool, job):
    """Take a job off the list of reservations; the profile is left alone."""
    remove(book.due, pool * SPAN + book.reserved[job], job)
    book.reserved[job] = NEVER


@routine
def _plan(c, book, pool, compression, on_completion, repeat, halt):
    """Make a pass in a pool: compress or rebuild, place what has no reservation, and start what is due."""
    now = c.clock[NOW]
    news = c.news
    if compression == REBUILD or news[pool, VOID]:
        for place in range(first_of(c.queue, pool), last_of(c.queue, pool)):
            if book.reserved[c.queue.item[place]] < NEVER:
                _forget(book, pool, c.queue.item[place])
        fill(c, book.steps, pool, now)
        book.freed_until[pool] = now
        _visit_queue(c, book, pool, c.clock[ARRIVED], halt)
        return
    limited = c.allowance.size > 0
    forget_past(book.steps, pool, now)
    _release_early(c, book, pool)
    if limited:
        _drop_those_over_limits(c, book, pool)
    moves = compression < NO_COMPRESSION and (news[pool, EARLIER] or (on_completion and news[pool, ENDED]))
    while moves:
        _compress(c, book, pool, compression, halt)
        moves = repeat and book.freed_until[pool] > now and not halt[0]
    if limited:
        _visit_queue(c, book, pool, c.clock[NEWCOMER], halt)
    for job in range(c.clock[NEWCOMER], c.clock[ARRIVED]):
        if halt[0]:  # searches of a long queue take seconds, here and elsewhere
            return
        if c.place[job] == pool:
            _visit(c, book, pool, job, place_of(c.queue, pool * SPAN + c.rank[job], job))
    while _first_due(book.due, pool) <= now:
        job = book.due.item[first_of(book.due, pool)]
        _visit(c, book, pool, job, place_of(c.queue, pool * SPAN + c.rank[job], job))


@part
def _visit(c, book, pool, job, place):
    """Look at the limits of a waiting job, give it a reservation, start it if that is due; return the next place."""
    if exceeds(c, job):
        if book.reserved[job] < NEVER:
            _drop(c, book, pool, job)
        return place + 1
    if book.reserved[job] == NEVER:
        _reserve(c, book, pool, job)
    if book.reserved[job] > c.clock[NOW]:
        book.waits[job] = True
        return place + 1
    _forget(book, pool, job)
    return _begin(c, book, job, place)


@part
def _begin(c, book, job, place):
    """Start the waiting job at a place, and note whether it waited with a reservation."""
    book.waited[job] = book.waits[job]
    book.waits[job] = False
    return begin(c, place)


@routine
def _visit_queue(c, book, pool, before, halt):
    """Visit the waiting jobs that came before some job, in the order of the queue."""
    place = first_of(c.queue, pool)
    left = last_of(c.queue, pool) - place
    while left > 0 and not halt[0]:
        left -= 1
        job = c.queue.item[place]
        place = _visit(c, book, pool, job, place) if job < before else place + 1


@part
def _drop(c, book, pool, job):
    """Take away the reservation of a job."""
    begins = book.reserved[job]
    ends = book.reserved[job] + c.jobs.estimate[job]
    add(book.steps, pool, max(begins, c.clock[NOW]), ends, c.demand, job, FREES)
    book.freed_until[pool] = max(book.freed_until[pool], ends)
    _forget(book, pool, job)


@part
def _drop_those_over_limits(c, book, pool):
    for place in range(first_of(c.queue, pool), last_of(c.queue, pool)):
        job = c.queue.item[place]
        if book.reserved[job] < NEVER and exceeds(c, job):
            _drop(c, book, pool, job)


@part
def _release_early(c, book, pool):
    """Free the time between early end and estimated end of the jobs that ended early."""
    for i in range(c.clock[EARLY]):
        job = c.early[i]
        if c.place[job] == pool:
            expected = c.start[job] + c.jobs.estimate[job]
            add(book.steps, pool, c.clock[NOW], expected, c.demand, job, FREES)
            book.freed_until[pool] = max(book.freed_until[pool], expected)


@routine
def _compress(c, book, pool, compression, halt):
    """Move waiting jobs to their earliest feasible times, in the order of the queue or of their reservations."""
    jobs = c.jobs
    now = c.clock[NOW]
    freed_until = book.freed_until[pool]
    visits = book.due if compression == BY_RESERVATION else c.queue
    first = first_of(visits, pool)
    last = last_of(visits, pool)
    for place in range(first, last):
        c.listed[place - first] = visits.item[place]
    book.freed_until[pool] = now
    for i in range(last - first):
        job = c.listed[i]
        duration = jobs.estimate[job]
        instant = book.reserved[job]
        if instant == NEVER or instant <= now:
            continue
        latest = min(instant - duration, freed_until)  # of starts that do not reach up to the reservation
        if instant > freed_until and latest < now:
            continue
        if halt[0]:
            return
        start = earlier(book.steps, pool, instant, c.demand, job, duration, latest)
        if start >= 0:
            begins = max(instant, start + duration)
            ends = instant + duration
            add(book.steps, pool, start, min(instant, start + duration), c.demand, job, TAKES)
            add(book.steps, pool, begins, ends, c.demand, job, FREES)
            _forget(book, pool, job)
            insert(book.due, pool * SPAN + start, job)
            book.reserved[job] = start
            freed_until = max(freed_until, ends)
            book.freed_until[pool] = max(book.freed_until[pool], ends)


@routine
def _backfill(c, book, pool, backfill, ordered, veto, depth, halt):
    """Make a pass of EASY with several reservations in a pool."""
    candidates = c.listed
    fill(c, book.steps, pool, c.clock[NOW])
    count = _reserve_first(c, book, pool, veto, depth, candidates, halt)
    if ordered:
        for i in range(count):
            job = candidates[i]
            c.score[i] = ask(c, backfill.question, job) if backfill.moving else backfill.rank[job]
        sort(c.score, candidates, np.int64(0), count)
    for i in range(count):
        _try(c, book, pool, veto, candidates[i], BEHIND)


@part
def _try(c, book, pool, veto, job, behind):
    """Start a job if it is within the limits, fits and is not vetoed; tell whether it is blocked by others."""
    if exceeds(c, job):
        return False
    if not fits_now(book.steps, pool, c.demand, job, c.jobs.estimate[job]):
        return True
    if not behind or not is_vetoed(c, veto, job):
        now = c.clock[NOW]
        add(book.steps, pool, now, now + c.jobs.estimate[job], c.demand, job, TAKES)
        _begin(c, book, job, place_of(c.queue, pool * SPAN + c.rank[job], job))
    return False


@routine
def _reserve_first(c, book, pool, veto, depth, candidates, halt):
    """Go down the queue, start jobs and reserve for the first that are blocked; list those behind, return how many."""
    first = first_of(c.queue, pool)
    last = last_of(c.queue, pool)
    for place in range(first, last):
        candidates[place - first] = c.queue.item[place]
    reserved = i = 0
    while i < last - first and reserved < depth and not halt[0]:
        job = candidates[i]
        if _try(c, book, pool, veto, job, reserved > 0):
            instant = earliest(book.steps, pool, c.demand, job, c.jobs.estimate[job])
            add(book.steps, pool, instant, instant + c.jobs.estimate[job], c.demand, job, TAKES)
            book.waits[job] = True
            reserved += 1
            if c.promise[job] < 0:
                c.promise[job] = instant
        i += 1
    for place in range(i, last - first):
        candidates[place - i] = candidates[place]
    return last - first - i
