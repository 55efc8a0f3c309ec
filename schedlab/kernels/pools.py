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

from ._jit import inlined, part, routine
from .cluster import ARRIVED, BEGUN, EARLY, NEWCOMER, NOW, SCALARS, WAITS, Jobs
from .priority import sort
from .questions import QUEUED, ask, count_events
from .sorted_pairs import (
    NEVER,
    SortedPairs,
    back,
    first_key,
    front,
    insert,
    is_empty,
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
ONE = np.int64(1)
NO_ALARM = np.int64(NEVER)
TAKES, GIVES = np.int64(1), np.int64(-1)  # whether a job takes what is counted, or gives it back
SPAN = 2**53  # ranks and instants are smaller: keys of pool p are from p * SPAN to below (p + 1) * SPAN
ENDS, KNOWN, BEGINS = range(3)  # what a window does, in this order at one instant

# Places in Pools.news, by pool: whether something has happened at this instant, whether resources were freed or windows
# changed in it, the arrivals of this instant, the last of these jobs, whether a job completed before its estimated end,
# completions, whether reservations are void, whether a job was passed over in the last pass; in a user's scheme, what
# is wrong with a start, and of which job (`pool_parts`); the first window, the first that has not begun, and the place
# after the last.
TOUCHED, FREED, ARRIVALS, LATEST, EARLIER, ENDED, VOID, PASSED, FAULT, CULPRIT, FIRST, COMING, LAST = range(13)
NEWS = 13
# Places in Pools.clock behind those of Cluster.clock: the next event, how many runs windows have ended, and how many of
# these policies know of.
EVENT, RUNS, SEEN = range(SCALARS, SCALARS + 3)
BEGIN, END, SINCE, LEFT = range(4)  # places in a row of Pools.span,
CELL, AMOUNT = range(2)  # and of Pools.share


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
    place: np.ndarray  # int64 of shape (n_jobs,): the pool of each job
    demand: np.ndarray  # int64 of shape (n_jobs, 4)
    free: np.ndarray  # int64 of shape (n_pools, 4): of the open capacity
    # int64 of shape (n_windows, 7): `BEGIN`, `END`, from when on a window is known (`SINCE`), and from `LEFT` on what
    # is left over at its begin by what is closed and by what running jobs will hold then, by their estimates.
    span: np.ndarray
    closed: np.ndarray  # as of `Windows`
    event: np.ndarray  # as of `Windows`, with a last row at `NEVER`
    share: np.ndarray  # int64 of shape (n_jobs, n_limits, 2): `CELL` and `AMOUNT` of `Limits`
    allowance: np.ndarray  # int64 of shape (n_cells,): what running jobs leave of what they may hold together
    requeues: bool
    ended: np.ndarray  # int64 of shape (most, 3): job, start and end of each run that a window ended
    news: np.ndarray  # int64 of shape (n_pools, 13)
    listed: np.ndarray  # int64 of shape (n_jobs,), scratch: some jobs,
    score: np.ndarray  # float64 of shape (n_jobs,), scratch: and what they are sorted by


def new_pools(jobs, machine, order) -> Pools:
    """Make an idle machine before the first arrival.

    Kernels take it and change it: if each kernel made these arrays, it would take seconds longer to compile.

    Parameters
    ----------
    jobs : Jobs
        The jobs.
    machine : tuple
        The place of each job, its demand, the capacity of the pools, `Windows`, `Limits`, whether jobs that a window
        ends are queued again, and the most runs that may be ended.
    order : Order
        The order of the queue.
    """
    place, demand, capacity, windows, limits, requeues, runs = machine
    n = len(jobs.submit)
    clock = np.zeros(SEEN + 1, np.int64)
    clock[NOW] = -1
    pairs = (SortedPairs(*np.zeros((2, 2 * n), np.int64), np.zeros(2, np.int64)) for _ in range(3))
    news = np.zeros((len(capacity), NEWS), np.int64)
    news[:, FIRST] = news[:, COMING] = windows.first[:-1]
    news[:, LAST] = windows.first[1:]
    left = np.repeat(capacity, np.diff(windows.first), axis=0) - windows.closed
    return Pools(
        jobs,
        np.full(n, WAITS, np.int64),
        np.full(n, -1, np.int64),
        order.rank + n if order.moving else order.rank.copy(),
        np.zeros(n + runs, np.int64),
        np.zeros(n, np.int64),
        *pairs,
        clock,
        place,
        demand,
        capacity.copy(),
        np.column_stack([windows.begin, windows.end, windows.known, left]),
        windows.closed,
        np.concatenate([windows.event, [[NEVER, 0, 0, 0]]]),
        np.stack([limits.cell, limits.amount], axis=2),
        limits.most.copy(),
        requeues,
        np.zeros((runs, 3), np.int64),
        news,
        np.empty(n, np.int64),
        np.empty(n, np.float64),
    )


@inlined
def advance(c, alarm, halt):
    """Advance to the next instant, or to `alarm`; False if nothing is left to happen, or on `halt`.

    Runs that windows end stay among the ends until policies know of them: `settle` has to follow.
    """
    clock = c.clock
    news = c.news
    end = first_key(c.ends)
    arrival = _next_of(c.jobs.submit, clock[ARRIVED])
    if (arrival == NEVER and end == NEVER and is_empty(c.queue)) or halt[0]:
        return False
    now = min(arrival, end, c.event[clock[EVENT], 0], alarm)
    if now == NEVER:
        return False
    clock[NOW] = now
    clock[NEWCOMER] = clock[ARRIVED]
    clock[EARLY] = 0
    for pool in range(news.shape[0]):
        for i in range(PASSED):
            news[pool, i] = 0
    while first_key(c.ends) == now:
        _complete(c)
    while c.event[clock[EVENT], 0] == now:
        _happen(c)
    if (end == now or clock[RUNS] > clock[SEEN]) and c.allowance.size > 0:
        for pool in range(news.shape[0]):
            if news[pool, PASSED]:
                news[pool, TOUCHED] = news[pool, FREED] = 1
    while _next_of(c.jobs.submit, clock[ARRIVED]) == now:
        job = clock[ARRIVED]
        pool = c.place[job]
        insert(c.queue, pool * SPAN + c.rank[job], job)
        clock[ARRIVED] = job + 1
        news[pool, TOUCHED] = 1
        news[pool, ARRIVALS] += 1
        news[pool, LATEST] = job
    return True


@part
def _next_of(instants, place):
    return instants[place] if place < instants.size else NEVER


@part
def _complete(c):
    """End the running job that ends next."""
    job = c.begun[pop(c.ends)]
    pool = c.place[job]
    c.news[pool, ENDED] += 1
    if c.start[job] + c.jobs.estimate[job] > c.clock[NOW]:
        c.early[c.clock[EARLY]] = job
        c.clock[EARLY] += 1
        c.news[pool, EARLIER] += 1
    _release(c, pool, job)


@routine
def _release(c, pool, job):
    """Give back what a running job holds."""
    expected = c.start[job] + c.jobs.estimate[job]
    remove(c.running, pool * SPAN + expected, job)
    _count(c, pool, job, expected, GIVES)
    c.news[pool, TOUCHED] = c.news[pool, FREED] = 1


@part
def _count(c, pool, job, expected, sign):
    """Count what a job takes or gives back: of the pool, at the begins of windows to come, and of its limits."""
    for i in range(RESOURCES):
        c.free[pool, i] -= sign * c.demand[job, i]
    window = c.news[pool, COMING]
    while window < c.news[pool, LAST] and c.span[window, BEGIN] < expected:
        for i in range(RESOURCES):
            c.span[window, LEFT + i] -= sign * c.demand[job, i]
        window += 1
    for i in range(c.share.shape[1]):
        if c.share[job, i, CELL] >= 0:
            c.allowance[c.share[job, i, CELL]] -= sign * c.share[job, i, AMOUNT]


@routine
def _happen(c):
    """Let a window become known, begin or end."""
    event = c.clock[EVENT]
    c.clock[EVENT] = event + 1
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
        c.news[pool, COMING] = window + 1
        while _is_overfull(c.free, pool):
            _end_latest(c, pool)
            c.news[pool, VOID] = 1


@part
def _is_overfull(free, pool):
    over = False
    for i in range(RESOURCES):
        over |= free[pool, i] < 0
    return over


@part
def _end_latest(c, pool):
    """End the running job that started last; of equal starts the later in the log."""
    running = c.running
    latest = NOBODY
    for place in range(first_of(running, pool), last_of(running, pool)):
        job = running.item[place]
        if latest < 0 or c.start[job] > c.start[latest] or (c.start[job] == c.start[latest] and job > latest):
            latest = job
    many = c.clock[RUNS]
    c.clock[RUNS] = many + 1
    c.ended[many, 0] = latest
    c.ended[many, 1] = c.start[latest]
    c.ended[many, 2] = c.clock[NOW]
    _release(c, pool, latest)
    if c.requeues:
        insert(c.queue, pool * SPAN + c.rank[latest], latest)


@routine
def settle(c, questions, many):
    """Count what has happened in the sums of the first so many policies; then take ended runs off the list of ends."""
    for i in range(many):
        if questions[i].sums.kind.size > 0:
            _count_events(c, questions[i])
    for row in range(c.clock[SEEN], c.clock[RUNS]):
        job = c.ended[row, 0]
        remove(c.ends, c.ended[row, 1] + c.jobs.run[job], _entry_of(c.begun, c.clock[BEGUN], job))
        if c.requeues:
            c.start[job] = WAITS
    c.clock[SEEN] = c.clock[RUNS]


@part
def _entry_of(begun, many, job):
    """Return the place of a job's last run in `begun`; that of a run that a window has ended is among the last."""
    place = many - 1
    while begun[place] != job:
        place -= 1
    return place


@routine
def _count_events(c, question):
    """Let the sums of a policy know what has happened, and of jobs that a window has ended, which may wait again."""
    count_events(c, question)
    sums = question.sums
    for row in range(c.clock[SEEN], c.clock[RUNS]):
        job = c.ended[row, 0]
        entry = _entry_of(c.begun, c.clock[BEGUN], job)
        remove(sums.ends, c.ended[row, 1] + c.jobs.run[job], entry)
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
    insert(c.ends, now + jobs.run[job], clock[BEGUN])
    clock[BEGUN] += 1
    insert(c.running, pool * SPAN + expected, job)
    _count(c, pool, job, expected, TAKES)
    return remove_at(c.queue, place)


@part
def first_of(pairs, pool):
    """Return the first place of a pool's stretch of the queue or the running jobs, or of where it would be."""
    place = front(pairs)
    return place_of(pairs, pool * SPAN, NOBODY) if pool > 0 else place


@part
def last_of(pairs, pool):
    """Return the place after a pool's stretch."""
    place = back(pairs)
    if place == front(pairs) or pairs.key[place - 1] < (pool + 1) * SPAN:
        return place
    return place_of(pairs, (pool + 1) * SPAN, NOBODY)


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
        if cell >= 0 and c.share[job, i, AMOUNT] > c.allowance[cell]:
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
    now = c.clock[NOW]
    return has_room(c.demand, job, c.free, pool) and fits_windows(c, pool, job, NOBODY, now, now + c.jobs.estimate[job])


@part
def has_room(demand, job, amounts, pool):
    """Tell whether a row of amounts has what a job needs."""
    short = False
    for i in range(RESOURCES):
        short |= demand[job, i] > amounts[pool, i]
    return not short


@part
def fits_windows(c, pool, job, beside, after, before):
    """Tell whether a job has room at the begins of all known windows after one instant and before another.

    `beside` is a job that holds what it needs then, as well as the running ones, or `NOBODY`.
    """
    window = c.news[pool, COMING]
    last = c.news[pool, LAST]
    while window < last and c.span[window, BEGIN] < before:
        if c.span[window, BEGIN] > after and c.span[window, SINCE] <= c.clock[NOW]:
            for i in range(RESOURCES):
                left = c.span[window, LEFT + i]
                if beside >= 0:
                    left -= c.demand[beside, i]
                if c.demand[job, i] > left:
                    return False
        window += 1
    return True


def interrupted(c) -> np.ndarray:
    """Return jobs, starts and ends of the runs that windows ended; int64 of shape (3, n_runs)."""
    return c.ended[: c.clock[RUNS]].T.copy()


@routine
def sort_pool(c, pool, question):
    """Sort the queue of a pool by an order that changes with time."""
    queue = c.queue
    score = c.score
    first = first_of(queue, pool)
    last = last_of(queue, pool)
    for place in range(first, last):
        score[place] = ask(c, question, queue.item[place])
    sort(score, queue.item, first, last)
    for place in range(first, last):
        queue.key[place] = pool * SPAN + place
        c.rank[queue.item[place]] = place
