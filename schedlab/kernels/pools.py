"""The state of one simulation of a machine of several pools, with resources, closed windows and limits.

`cluster` has the state for one machine of processors, and says how time goes on. Here each pool has a queue and free
amounts of several resources, and capacity changes with time. At each distinct instant: completions, then what windows
do, then arrivals, then one pass in each pool in which something has happened.

All pools share one queue, sorted by pool and then by rank, and one list of running jobs, sorted by pool and then by
estimated end, so a pool has a stretch of each.

A window [begin, end) closes an amount of each resource. When it becomes known, begins and ends, its pool gets a pass.
At its begin, while more is held than is open, the running job that started last is ended; of equal starts the later in
the log. It is queued again, in its old place and with its whole run time, or stays ended. For plans, `held` has what
running jobs will hold at the begin of each window to come, by their estimated ends.

A limit counts the running jobs that share a value of a column, in all pools. A job that would exceed it is passed over.
If one was passed over in the last pass of a pool, a completion in any pool gives this pool a pass.
"""

from typing import NamedTuple

import numpy as np

from ._jit import inlined, maker, part, routine
from .cluster import ARRIVED, BEGUN, EARLY, NOW, SCALARS, WAITS, Jobs, next_arrival, next_end, open_instant
from .priority import sort
from .questions import QUEUED, ask, count_events, look
from .sorted_pairs import (
    NEVER,
    SortedPairs,
    back,
    front,
    insert,
    is_empty,
    new_pairs,
    place_of,
    pop,
    remove,
    remove_at,
)

RESOURCES = (
    4  # columns of demands and amounts, of which some may be unused: loops of known length are three times faster
)
# Constants that pieces take are numpy's: numba compiles a piece once more for each literal that it is called with.
NOBODY = np.int64(-1)
NO_ALARM = np.int64(NEVER)
UNORDERED = np.bool_(False)
TAKES, GIVES = np.int64(1), np.int64(-1)  # whether a job takes what is counted, or gives it back
SPAN = 2**53  # ranks and instants are smaller: keys of pool p are from p * SPAN to below (p + 1) * SPAN
ENDS, KNOWN, BEGINS = range(3)  # what a window does, in this order at one instant

# Places in Pools.news, by pool: whether something has happened at this instant, whether resources were freed or windows
# changed in it, the arrivals of this instant, the last of these jobs, whether a job completed before its estimated end,
# completions, whether reservations are void, whether a job was passed over in the last pass, and, in a user's scheme,
# what is wrong with a start, and of which job (`pool_parts`).
TOUCHED, FREED, ARRIVALS, LATEST, EARLIER, ENDED, VOID, PASSED, FAULT, CULPRIT = range(10)
NEWS = 10
BEGIN, END, SINCE = range(3)  # places in a row of Pools.span,
CELL, AMOUNT = range(2)  # of Pools.share,
MOST, COUNT = range(2)  # and of Pools.bound


class Windows(NamedTuple):
    """The closed windows, by pool and then by begin; all int64, times in seconds. Those of a pool do not overlap."""

    first: np.ndarray  # shape (n_pools + 1,): the windows of pool p are those from first[p] to first[p + 1] - 1
    begin: np.ndarray  # shape (n_windows,), like the next two
    end: np.ndarray
    known: np.ndarray  # the instant from which schedulers know it
    closed: np.ndarray  # shape (n_windows, 4)
    event: np.ndarray  # shape (n_events, 4): instant, window, `ENDS`, `KNOWN` or `BEGINS`, and pool; by instant


class Limits(NamedTuple):
    """What running jobs may hold together; all int64."""

    cell: np.ndarray  # shape (n_jobs, n_limits): which counter a job adds to, -1 for none
    amount: np.ndarray  # shape (n_jobs, n_limits): and how much
    most: np.ndarray  # shape (n_cells,)


class Pools(NamedTuple):
    """The state of a simulation; the names that `Cluster` has, too, mean the same. Times in seconds."""

    jobs: Jobs
    start: np.ndarray
    promise: np.ndarray
    rank: np.ndarray
    begun: np.ndarray
    early: np.ndarray
    ends: SortedPairs
    running: SortedPairs
    queue: SortedPairs
    clock: np.ndarray
    halt: np.ndarray
    place: np.ndarray  # int64 of shape (n_jobs,): the pool of each job
    demand: np.ndarray  # int64 of shape (n_jobs, 4)
    capacity: np.ndarray  # int64 of shape (n_pools, 4)
    free: np.ndarray  # int64 of shape (n_pools, 4): of the open capacity
    first: np.ndarray  # as of `Windows`, like `closed` and `event`
    span: np.ndarray  # int64 of shape (n_windows, 3): `BEGIN`, `END`, and from when on a window is known (`SINCE`)
    closed: np.ndarray
    event: np.ndarray
    held: np.ndarray  # int64 of shape (n_windows, 4): held at the begin of a window to come, by estimates
    # int64 of shape (n_pools + 2,): the first window of each pool that has not begun, the next event, and how many runs
    # windows have ended.
    coming: np.ndarray
    share: np.ndarray  # int64 of shape (n_jobs, n_limits, 2): `CELL` and `AMOUNT` of `Limits`
    bound: np.ndarray  # int64 of shape (n_cells, 2): `MOST` and `COUNT` of `Limits`; the latter is modified in place
    requeues: bool
    ended: np.ndarray  # int64 of shape (most, 3): job, start and end of each run that a window ended
    news: np.ndarray  # int64 of shape (n_pools, 10)
    entry: np.ndarray  # int64 of shape (n_jobs,): the place of a running job in `begun`


@maker
def new_pools(jobs, place, demand, capacity, windows, limits, requeues, runs, rank, moving, halt):
    """Make an idle machine before the first arrival; `runs` is the most runs that windows may end."""
    n = jobs.submit.size
    pools = capacity.shape[0]
    clock = np.zeros(SCALARS, np.int64)
    clock[NOW] = -1
    coming = np.zeros(pools + 2, np.int64)
    for pool in range(pools):  # slices would cost four seconds of compiling
        coming[pool] = windows.first[pool]
    span = np.empty((windows.begin.size, 3), np.int64)
    share = np.empty((*limits.cell.shape, 2), np.int64)
    bound = np.zeros((limits.most.size, 2), np.int64)
    for i in range(windows.begin.size):
        span[i, BEGIN] = windows.begin[i]
        span[i, END] = windows.end[i]
        span[i, SINCE] = windows.known[i]
    for job in range(limits.cell.shape[0]):
        for i in range(limits.cell.shape[1]):
            share[job, i, CELL] = limits.cell[job, i]
            share[job, i, AMOUNT] = limits.amount[job, i]
    for i in range(limits.most.size):
        bound[i, MOST] = limits.most[i]
    return Pools(
        jobs,
        np.full(n, WAITS, np.int64),
        np.full(n, -1, np.int64),
        rank + n if moving else rank.copy(),
        np.empty(n + runs, np.int64),
        np.empty(n, np.int64),
        new_pairs(2 * n),
        new_pairs(2 * n),
        new_pairs(2 * n),
        clock,
        halt,
        place,
        demand,
        capacity,
        capacity.copy(),
        windows.first,
        span,
        windows.closed,
        windows.event,
        np.zeros((windows.begin.size, RESOURCES), np.int64),
        coming,
        share,
        bound,
        requeues,
        np.empty((runs, 3), np.int64),
        np.zeros((pools, NEWS), np.int64),
        np.zeros(n, np.int64),
    )


@inlined
def advance(c, alarm, order, backfill, ordered, veto):
    """Advance to the next instant, or to `alarm`; False if nothing is left to happen, or on `halt`.

    The policies are those whose running sums have to know of runs that windows end.
    """
    news = c.news
    limited = c.bound.size > 0
    arrival = next_arrival(c)
    end = next_end(c)
    event = next_event(c)
    if (arrival == NEVER and end == NEVER and is_empty(c.queue)) or c.halt[0]:
        return False
    now = min(arrival, end, event, alarm)
    if now == NEVER:
        return False
    open_instant(c, now)
    for pool in range(news.shape[0]):
        for i in range(PASSED):
            news[pool, i] = 0
    freed = next_end(c) == now
    while next_end(c) == now:
        complete(c)
    runs = c.coming[c.capacity.shape[0] + 1]
    while next_event(c) == now:
        happen(c, order, backfill, ordered, veto)
    freed = freed or c.coming[c.capacity.shape[0] + 1] > runs
    if freed and limited:
        for pool in range(news.shape[0]):
            if news[pool, PASSED]:
                news[pool, TOUCHED] = news[pool, FREED] = 1
    while next_arrival(c) == now:
        arrive(c)
    return True


@part
def next_event(c):
    """Return the instant at which a window becomes known, begins or ends next, or `NEVER`."""
    event = c.coming[c.capacity.shape[0]]
    return c.event[event, 0] if event < c.event.shape[0] else NEVER


@part
def arrive(c):
    """Put the next arriving job into the queue of its pool."""
    job = c.clock[ARRIVED]
    pool = c.place[job]
    insert(c.queue, pool * SPAN + c.rank[job], job)
    c.clock[ARRIVED] = job + 1
    c.news[pool, TOUCHED] = 1
    c.news[pool, ARRIVALS] += 1
    c.news[pool, LATEST] = job


@part
def complete(c):
    """End the running job that ends next."""
    job = c.begun[pop(c.ends)]
    pool = c.place[job]
    c.news[pool, ENDED] += 1
    if c.start[job] + c.jobs.estimate[job] > c.clock[NOW]:
        c.early[c.clock[EARLY]] = job
        c.clock[EARLY] += 1
        c.news[pool, EARLIER] += 1
    _release(c, job)


@part
def _release(c, job):
    """Give back what a running job holds."""
    pool = c.place[job]
    expected = c.start[job] + c.jobs.estimate[job]
    remove(c.running, pool * SPAN + expected, job)
    for i in range(RESOURCES):
        c.free[pool, i] += c.demand[job, i]
    _count_held(c, pool, job, expected, GIVES)
    _count_running(c, job, GIVES)
    c.news[pool, TOUCHED] = c.news[pool, FREED] = 1


@part
def _count_running(c, job, sign):
    """Count a job for the limits that apply to it."""
    for i in range(c.share.shape[1]):
        if c.share[job, i, CELL] >= 0:
            c.bound[c.share[job, i, CELL], COUNT] += sign * c.share[job, i, AMOUNT]


@part
def _count_held(c, pool, job, expected, sign):
    """Count what a job holds at the begins of windows to come."""
    window = c.coming[pool]
    while window < c.first[pool + 1] and c.span[window, BEGIN] < expected:
        for i in range(RESOURCES):
            c.held[window, i] += sign * c.demand[job, i]
        window += 1


@routine
def happen(c, order, backfill, ordered, veto):
    """Let a window become known, begin or end."""
    event = c.coming[c.capacity.shape[0]]
    c.coming[c.capacity.shape[0]] = event + 1
    window = c.event[event, 1]
    kind = c.event[event, 2]
    pool = c.event[event, 3]
    sign = 1 if kind == ENDS else -1 if kind == BEGINS else 0
    for i in range(RESOURCES):
        c.free[pool, i] += sign * c.closed[window, i]
    c.news[pool, TOUCHED] = c.news[pool, FREED] = 1
    if kind == KNOWN:
        c.news[pool, VOID] = 1
    if kind == BEGINS:
        c.coming[pool] = window + 1
        while _is_overfull(c, pool):
            _end_latest(c, pool, order, backfill, ordered, veto)
            c.news[pool, VOID] = 1


@part
def _is_overfull(c, pool):
    over = False
    for i in range(RESOURCES):
        over |= c.free[pool, i] < 0
    return over


@part
def _end_latest(c, pool, order, backfill, ordered, veto):
    """End the running job that started last; of equal starts the later in the log."""
    running = c.running
    latest = NOBODY
    for place in range(first_of(c, running, pool), last_of(c, running, pool)):
        job = running.item[place]
        if latest < 0 or c.start[job] > c.start[latest] or (c.start[job] == c.start[latest] and job > latest):
            latest = job
    entry = c.entry[latest]
    end = c.start[latest] + c.jobs.run[latest]
    _count_early(c, order.question, latest, end, entry)
    if ordered:
        _count_early(c, backfill.question, latest, end, entry)
    _count_early(c, veto.question, latest, end, entry)
    remove(c.ends, end, entry)
    _release(c, latest)
    many = c.coming[c.capacity.shape[0] + 1]
    c.coming[c.capacity.shape[0] + 1] = many + 1
    c.ended[many, 0] = latest
    c.ended[many, 1] = c.start[latest]
    c.ended[many, 2] = c.clock[NOW]
    if c.requeues:
        c.start[latest] = WAITS
        insert(c.queue, pool * SPAN + c.rank[latest], latest)


@routine
def _count_early(c, question, job, end, entry):
    """Let the sums of a policy know that a job ends now, not at its `end`, and waits again if jobs are requeued."""
    sums = question.sums
    if sums.kind.size == 0:
        return
    count_events(c, question)
    remove(sums.ends, end, entry)
    insert(sums.ends, c.clock[NOW], entry)  # counted with the next events
    first = (job + 1) * question.width - sums.kind.size
    for i in range(sums.kind.size):
        if c.requeues and sums.kind[i] == QUEUED:
            sums.value[question.whole[first + i]] += 1


@part
def begin(c, place):
    """Start the waiting job at a place of the queue; return the new place of its successor."""
    jobs = c.jobs
    clock = c.clock
    job = c.queue.item[place]
    now = clock[NOW]
    pool = c.place[job]
    expected = now + jobs.estimate[job]
    c.start[job] = now
    c.begun[clock[BEGUN]] = job
    c.entry[job] = clock[BEGUN]
    insert(c.ends, now + jobs.run[job], clock[BEGUN])
    clock[BEGUN] += 1
    insert(c.running, pool * SPAN + expected, job)
    for i in range(RESOURCES):
        c.free[pool, i] -= c.demand[job, i]
    _count_held(c, pool, job, expected, TAKES)
    _count_running(c, job, TAKES)
    return remove_at(c.queue, place)


@part
def first_of(c, pairs, pool):
    """Return the first place of a pool's stretch of the queue or the running jobs, or of where it would be.

    Parameters
    ----------
    c : Pools
        The state of the simulation.
    pairs : SortedPairs
        ``c.queue`` or ``c.running``.
    pool : int
        Number of the pool.

    Returns
    -------
    int
    """
    return front(pairs) if pool == 0 else place_of(pairs, pool * SPAN, NOBODY)


@part
def last_of(c, pairs, pool):
    """Return the place after a pool's stretch.

    Parameters
    ----------
    c, pairs, pool
        As in `first_of`.

    Returns
    -------
    int
    """
    return back(pairs) if pool == c.capacity.shape[0] - 1 else place_of(pairs, (pool + 1) * SPAN, NOBODY)


@part
def exceeds(c, job):
    """Tell whether the start of a waiting job would exceed a limit; then it is passed over.

    Parameters
    ----------
    c : Pools
        The state of the simulation.
    job : int
        A waiting job.

    Returns
    -------
    bool
    """
    for i in range(c.share.shape[1]):
        cell = c.share[job, i, CELL]
        if cell >= 0 and c.bound[cell, COUNT] + c.share[job, i, AMOUNT] > c.bound[cell, MOST]:
            c.news[c.place[job], PASSED] = 1
            return True
    return False


@part
def fits(c, pool, job):
    """Tell whether a waiting job fits from now: for its whole estimate, beside what runs and is closed.

    Parameters
    ----------
    c : Pools
        The state of the simulation.
    pool : int
        The job's pool.
    job : int
        A waiting job.

    Returns
    -------
    bool
    """
    for i in range(RESOURCES):
        if c.demand[job, i] > c.free[pool, i]:
            return False
    now = c.clock[NOW]
    return fits_windows(c, pool, job, NOBODY, now, now + c.jobs.estimate[job])


@part
def fits_windows(c, pool, job, beside, after, before):
    """Tell whether a job has room at the begins of all known windows after one instant and before another.

    `beside` is a job that holds what it needs then, as well as the running ones, or `NOBODY`.
    """
    window = c.coming[pool]
    last = c.first[pool + 1]
    while window < last and c.span[window, BEGIN] < before:
        if c.span[window, BEGIN] > after and c.span[window, SINCE] <= c.clock[NOW]:
            for i in range(RESOURCES):
                left = c.capacity[pool, i] - c.closed[window, i] - c.held[window, i]
                if beside >= 0:
                    left -= c.demand[beside, i]
                if c.demand[job, i] > left:
                    return False
        window += 1
    return True


@maker
def interrupted(c):
    """Return job, start and end of each run that a window ended; int64 of shape (n_runs, 3)."""
    return c.ended[: c.coming[c.capacity.shape[0] + 1]].copy()


@part
def sort_pool(c, pool, order, score):
    """Sort the queue of a pool, if its order changes with time; `score` is scratch."""
    if order.moving:
        _sort_pool(c, pool, order.question, score)


@routine
def _sort_pool(c, pool, question, score):
    queue = c.queue
    first = first_of(c, queue, pool)
    last = last_of(c, queue, pool)
    look(c, question)
    for place in range(first, last):
        score[place] = ask(c, question, queue.item[place])
    sort(score, queue.item, first, last)
    for place in range(first, last):
        queue.key[place] = pool * SPAN + place
        c.rank[queue.item[place]] = place
