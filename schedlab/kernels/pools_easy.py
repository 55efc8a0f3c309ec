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

from ._jit import U, kernel, maker, part, routine
from .cluster import NAN, NOW
from .pools import (
    ARRIVALS,
    BEGIN,
    END,
    FREED,
    LATEST,
    NO_ALARM,
    NOBODY,
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
    interrupted,
    last_of,
    new_pools,
    sort_pool,
)
from .priority import sort
from .questions import ask, is_vetoed, look
from .sorted_pairs import NEVER, place_of


class Heads(NamedTuple):
    """The reservations, by pool; int64."""

    job: np.ndarray  # shape (n_pools,): the head, -1 for none
    shadow: np.ndarray  # shape (n_pools,), seconds
    extra: np.ndarray  # shape (n_pools, 4): what the head leaves over at its shadow time


@maker
def new_heads(pools):
    return Heads(np.full(pools, NOBODY, np.int64), np.zeros(pools, np.int64), np.zeros((pools, RESOURCES), np.int64))


@kernel
def pools_easy(jobs, machine, order, backfill, ordered, veto, backfills, halt):
    """Simulate EASY backfilling, or FCFS if nothing `backfills`; return starts, promises and the runs that were ended.

    `machine` is a tuple: the place of each job, its demand, the capacity of the pools, windows, limits, whether jobs
    that a window ends are queued again, and the most runs that may be ended (`new_pools`). Otherwise as `easy`.
    """
    place, demand, capacity, windows, limits, requeues, runs = machine
    n = jobs.submit.size
    pools = capacity.shape[0]
    c = new_pools(jobs, place, demand, capacity, windows, limits, requeues, runs, order.rank, order.moving, halt)
    heads = new_heads(pools)
    score = np.empty(n if order.moving or ordered else 0, np.float64)
    candidates = np.empty(n if ordered else 0, np.int64)
    while advance(c, NO_ALARM, order, backfill, ordered, veto):
        look(c, order.question)
        look(c, backfill.question)
        look(c, veto.question)
        for pool in range(pools):
            if c.news[pool, TOUCHED]:
                if _still_blocked(c, heads, pool, order, veto):
                    if backfills:
                        _backfill_newcomer(c, heads, pool, veto)
                    continue
                sort_pool(c, pool, order, score)
                waiting = start_heads(c, heads, pool, backfills)
                if backfills and waiting > 0:
                    if ordered:
                        count = _gather(c, heads, pool, backfill, score, candidates, waiting)
                        _backfill_in_own_order(c, heads, pool, veto, candidates, count)
                    else:
                        _backfill(c, heads, pool, veto, waiting)
    if c.clock[NAN]:
        raise ValueError("the order of the queue gives nan")
    return c.start, c.promise, interrupted(c)


@part
def _still_blocked(c, heads, pool, order, veto):
    """Tell whether the head and its reservation are those of the last pass, and only one later job has arrived.

    With limits, starts in other pools may have brought any job over one, which every pass has to note.
    """
    if c.news[pool, FREED] or c.news[pool, ARRIVALS] != 1 or heads.job[pool] == NOBODY:
        return False
    if order.moving or veto.moving or c.bound.size > 0:
        return False
    newcomer = c.news[pool, LATEST]
    head = heads.job[pool]
    return c.clock[NOW] < heads.shadow[pool] and c.rank[newcomer] > c.rank[head]


@routine
def start_heads(c, heads, pool, backfills):
    """Start jobs down the queue of a pool to the head, which does not fit; return how many stand behind the head."""
    c.news[pool, PASSED] = 0
    heads.job[pool] = NOBODY
    place = first_of(c, c.queue, pool)
    left = last_of(c, c.queue, pool) - place
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
    window = c.coming[pool] - 1
    closed = True
    if window < c.first[pool] or c.span[window, END] <= now:
        window = window + 1
        closed = False
    place = first_of(c, c.running, pool)
    last = last_of(c, c.running, pool)
    shadow = now
    if not closed:
        window = _known_from(c, pool, window)
    while shadow < NEVER:
        changes = NEVER
        if window < c.first[pool + 1]:
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
            if not closed:
                window = _known_from(c, pool, window)
            if not closed and window < c.first[pool + 1] and c.span[window, BEGIN] == shadow:
                continue  # the next window begins where this one ends
        if _has_room(c, pool, head, extra) and fits_windows(
            c, pool, head, NOBODY, shadow, shadow + c.jobs.estimate[head]
        ):
            break
    for i in range(RESOURCES):
        extra[pool, i] -= c.demand[head, i]
    if c.promise[head] < 0:
        c.promise[head] = shadow
    heads.shadow[pool] = shadow


@part
def _known_from(c, pool, window):
    """Return the first window of a pool, from one on, that is known."""
    while window < c.first[pool + 1] and c.span[window, SINCE] > c.clock[NOW]:
        window += 1
    return window


@part
def _has_room(c, pool, job, extra):
    short = False
    for i in range(RESOURCES):
        short |= c.demand[job, i] > extra[pool, i]
    return not short


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
    if not _has_room(c, pool, job, heads.extra):
        return False
    return fits_windows(c, pool, job, head, shadow, min(end, shadow + c.jobs.estimate[head]))


@part
def start_behind_head(c, heads, pool, place):
    job = c.queue.item[place]
    if c.clock[NOW] + c.jobs.estimate[job] > heads.shadow[pool]:
        for i in range(RESOURCES):
            heads.extra[pool, i] -= c.demand[job, i]
    return begin(c, place)


@routine
def _backfill(c, heads, pool, veto, left):
    queue = c.queue
    demand = c.demand
    free = c.free
    extra = heads.extra
    place = last_of(c, c.queue, pool) - left
    limited = c.bound.size > 0
    at = U(pool)
    longest = heads.shadow[pool] - c.clock[NOW]
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
        if (limited and exceeds(c, job)) or fails or not may_start(c, heads, pool, job) or is_vetoed(c, veto, job):
            place += 1
        else:
            place = start_behind_head(c, heads, pool, place)


@part
def _backfill_newcomer(c, heads, pool, veto):
    job = c.news[pool, LATEST]
    if not exceeds(c, job) and may_start(c, heads, pool, job) and not is_vetoed(c, veto, job):
        start_behind_head(c, heads, pool, place_of(c.queue, pool * SPAN + c.rank[job], job))


@part
def _gather(c, heads, pool, backfill, score, candidates, left):
    count = np.int64(0)
    last = last_of(c, c.queue, pool)
    for place in range(last - left, last):
        job = c.queue.item[place]
        if not exceeds(c, job) and may_start(c, heads, pool, job):
            candidates[count] = job
            score[count] = ask(c, backfill.question, job) if backfill.moving else backfill.rank[job]
            count += 1
    sort(score, candidates, np.int64(0), count)
    return count


@part
def _backfill_in_own_order(c, heads, pool, veto, candidates, count):
    for i in range(count):
        job = candidates[i]
        if not exceeds(c, job) and may_start(c, heads, pool, job) and not is_vetoed(c, veto, job):
            start_behind_head(c, heads, pool, place_of(c.queue, pool * SPAN + c.rank[job], job))
