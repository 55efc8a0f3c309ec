"""FCFS and EASY backfilling on a machine of several pools (`pools`): one reservation a pool, for its head, or none.

As `fcfs` and `easy` for one resource. Jobs over a limit are passed over: the head is the first job within its limits
that does not fit from now. Its shadow time is the first instant from which it fits for its whole estimate, by the
estimates of the running jobs and the windows known. A candidate starts if it fits from now, and if with it running to
its estimated end the head still fits from its shadow time: at that time itself (the extra amounts) and at the begin of
each window that the head runs through. In between nothing is taken away.

If nothing but one arrival has happened since the last pass, and the newcomer stands behind the head, only the newcomer
is tested (see `easy`).
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, kernel, part, routine
from .cluster import NOW
from .pools import (
    ARRIVALS,
    BEGIN,
    COMING,
    END,
    FIRST,
    FREED,
    LAST,
    LATEST,
    NO_ALARM,
    NOBODY,
    ONE,
    PASSED,
    RESOURCES,
    SINCE,
    SPAN,
    TOUCHED,
    advance,
    begin,
    exceeds,
    first_of,
    fits,
    fits_windows,
    has_room,
    last_of,
    settle,
    sort_pool,
)
from .priority import sort
from .questions import ask, is_vetoed
from .sorted_pairs import NEVER, place_of

STARTS = np.bool_(False)  # candidates start; they are not only listed


class Heads(NamedTuple):
    """The reservations, by pool; int64."""

    job: np.ndarray  # shape (n_pools,): the head, -1 for none
    shadow: np.ndarray  # shape (n_pools,), seconds
    extra: np.ndarray  # shape (n_pools, 4): what the head leaves over at its shadow time


def new_heads(jobs: int, pools: int, windows: int) -> Heads:
    """Allocate a reservation for the head of each pool, as in ``compiled_pool_scheme(memory=new_heads)``.

    Parameters
    ----------
    jobs, pools, windows : int
        How many there are.

    Returns
    -------
    Heads
        The head of each pool (``job``, `NOBODY` if nobody is blocked), its shadow time (``shadow``, seconds), and what
        it leaves over then (``extra``, by pool and resource).

    Examples
    --------
    >>> from schedlab.kernels.pool_parts import new_heads
    >>> new_heads(jobs=100, pools=2, windows=0).job.tolist()
    [-1, -1]
    """
    return Heads(np.full(pools, NOBODY), np.zeros(pools, np.int64), np.zeros((pools, RESOURCES), np.int64))


@kernel
def pools_easy(c, heads, order, backfill, ordered, veto, backfills, halt):
    """Simulate EASY backfilling, or FCFS if nothing `backfills`, from an idle machine (`new_pools`) on.

    Starts, promises and ended runs are those of the last state. Otherwise as `easy`.
    """
    questions = (order.question, veto.question, backfill.question)
    moving = order.moving or veto.moving
    while advance(c, NO_ALARM, halt):
        settle(c, questions, 2 + ordered)
        for pool in range(c.news.shape[0]):
            if not c.news[pool, TOUCHED]:
                continue
            alone = not moving and _is_still_blocked(c, heads, pool)
            if alone:
                place = place_in_queue(c, c.news[pool, LATEST])
                left = ONE
            else:
                if order.moving:
                    sort_pool(c, pool, order.question)
                left = start_heads(c, heads, pool, backfills)
                place = last_of(c.queue, pool) - left
            if not backfills:
                continue
            count = _backfill(c, heads, pool, veto, place, left, ordered and not alone)
            if count > 0:
                _rate(c, backfill, count)
            for i in range(count):
                _backfill(c, heads, pool, veto, place_in_queue(c, c.listed[i]), ONE, STARTS)


@part
def _is_still_blocked(c, heads, pool):
    """Tell whether the head and its reservation are those of the last pass, and only one later job has arrived.

    With limits, starts in other pools may have brought any job over one, which every pass has to note.
    """
    head = heads.job[pool]
    if c.news[pool, FREED] or c.news[pool, ARRIVALS] != 1 or head == NOBODY or c.allowance.size > 0:
        return False
    return c.clock[NOW] < heads.shadow[pool] and c.rank[c.news[pool, LATEST]] > c.rank[head]


@routine
def start_heads(c, heads, pool, backfills):
    """Start jobs down the queue of a pool to the head, which does not fit; return how many stand behind the head."""
    c.news[pool, PASSED] = 0
    heads.job[pool] = NOBODY
    place = first_of(c.queue, pool)
    left = last_of(c.queue, pool) - place
    while left > 0:
        left -= 1
        job = c.queue.item[place]
        if exceeds(c, job):
            place += 1
        elif fits(c, pool, job):
            place = begin(c, place)
        else:
            heads.job[pool] = job
            heads.shadow[pool] = NEVER
            if backfills:
                reserve(c, heads, pool, job)
            return left
    return 0


@part
def reserve(c, heads, pool, head):
    """Find the shadow time of a head, and the amounts that it leaves over then."""
    now = c.clock[NOW]
    extra = heads.extra
    for i in range(RESOURCES):
        extra[pool, i] = c.free[pool, i]
    last_window = c.news[pool, LAST]
    window = c.news[pool, COMING] - 1
    closed = window >= c.news[pool, FIRST] and c.span[window, END] > now
    window += not closed
    place = first_of(c.running, pool)
    last = last_of(c.running, pool)
    shadow = now
    while shadow < NEVER:
        while not closed and window < last_window and c.span[window, SINCE] > now:  # not known
            window += 1
        changes = NEVER
        if window < last_window:
            changes = c.span[window, END] if closed else c.span[window, BEGIN]
        shadow = changes
        if place < last:
            shadow = min(shadow, c.running.key[place] - pool * SPAN)
        while place < last and c.running.key[place] - pool * SPAN == shadow:
            for i in range(RESOURCES):
                extra[pool, i] += c.demand[c.running.item[place], i]
            place += 1
        if changes == shadow and shadow < NEVER:
            for i in range(RESOURCES):
                extra[pool, i] += c.closed[window, i] if closed else -c.closed[window, i]
            window += closed
            closed = not closed
            if not closed and window < last_window and c.span[window, BEGIN] == shadow and c.span[window, SINCE] <= now:
                continue  # the next window begins where this one ends
        end = shadow + c.jobs.estimate[head]
        if has_room(c.demand, head, extra, pool) and fits_windows(c, pool, head, NOBODY, shadow, end):
            break
    for i in range(RESOURCES):
        extra[pool, i] -= c.demand[head, i]
    if c.promise[head] < 0:
        c.promise[head] = shadow
    heads.shadow[pool] = shadow


@part
def may_start(c, heads, pool, job):
    """Tell whether a candidate fits from now and leaves the head room from its shadow time.

    Parameters
    ----------
    c : Pools
        The state of the simulation.
    heads : Heads
        The reservations.
    pool : int
        The job's pool, in which a head is blocked.
    job : int
        A waiting job.

    Returns
    -------
    bool
    """
    if not fits(c, pool, job):
        return False
    shadow = heads.shadow[pool]
    head = heads.job[pool]
    end = c.clock[NOW] + c.jobs.estimate[job]
    if end <= shadow:
        return True
    if not has_room(c.demand, job, heads.extra, pool):
        return False
    return fits_windows(c, pool, job, head, shadow, min(end, shadow + c.jobs.estimate[head]))


@part
def start_behind_head(c, heads, pool, place):
    job = c.queue.item[place]
    if c.clock[NOW] + c.jobs.estimate[job] > heads.shadow[pool]:
        for i in range(RESOURCES):
            heads.extra[pool, i] -= c.demand[job, i]
    return begin(c, place)


@part
def place_in_queue(c, job):
    """Return the place of a waiting job in the queue."""
    return place_of(c.queue, c.place[job] * SPAN + c.rank[job], job)


@routine
def _backfill(c, heads, pool, veto, place, left, gathers):
    """Start the jobs that may start, of so many from a place of the queue on; or list them, if this only gathers them.

    Return how many are listed.
    """
    queue = c.queue
    demand = c.demand
    free = c.free
    extra = heads.extra
    limited = c.allowance.size > 0
    at = U(pool)
    longest = heads.shadow[pool] - c.clock[NOW]
    count = 0
    while left > 0:
        left -= 1
        job = queue.item[U(place)]
        row = U(job)
        short = False
        more = False  # without branches, which would be mispredicted
        for i in range(RESOURCES):
            short |= demand[row, i] > free[at, i]
            more |= demand[row, i] > extra[at, i]
        fails = short or (more and c.jobs.estimate[row] > longest)
        if (limited and exceeds(c, job)) or fails or not may_start(c, heads, pool, job):
            place += 1
        elif gathers:
            c.listed[count] = job
            count += 1
            place += 1
        elif is_vetoed(c, veto, job):
            place += 1
        else:
            place = start_behind_head(c, heads, pool, place)
    return count


@routine
def _rate(c, backfill, count):
    """Sort the listed candidates in their own order."""
    for i in range(count):
        job = c.listed[i]
        c.score[i] = ask(c, backfill.question, job) if backfill.moving else backfill.rank[job]
    sort(c.score, c.listed, np.int64(0), np.int64(count))
