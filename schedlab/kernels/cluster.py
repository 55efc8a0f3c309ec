"""The state of one simulation and its clock: what every scheme shares, so that a scheme is only its rule.

At each distinct instant: completions, then arrivals (by submit time, then trace order), then one pass of the
scheme. A job holds its processors on [start, end); one of length zero completes at the instant at which
it started, which gives that instant another round.

In the per-event mode (that of pyss and its descendants, so of many published schedules) the order at one instant is:
arrivals first, then completions in the order of their starts, with a pass after every single event; and a
running job whose estimated end has come counts as free from the beginning of that instant.

A job may outlive its estimate where the scheme can take that (`reservation`, `placement`). It then holds its processors
until its completion, in the per-event mode until the event of it.

A simulation ends early once `halt` is set from outside; what it gives then is of no use.
"""

from typing import NamedTuple

import numpy as np

from ._jit import maker, part
from .ordered import FIRST, LAST, Ordered, insert, ordered, place_of, pop, remove, remove_at
from .priority import sort
from .profile import NEVER

WAITS = -1  # in `start`: the job has not started

# Places in Cluster.clock: the instant, free processors, the first newcomer of this instant and the next job to
# arrive, jobs begun, early completions of this instant, whether processors were freed in it, per-event mode, and
# whether a priority was not a number.
NOW, FREE, NEWCOMER, ARRIVED, BEGUN, EARLY, FREED, EACH, NAN = range(9)


class Jobs(NamedTuple):
    """What a kernel knows of the jobs, in arrival order (submit time, then trace order).

    Attributes
    ----------
    submit, run, estimate : int64, shape (n_jobs,), seconds
        ``0 <= run <= estimate``, unless a scheme says otherwise.
    procs : int64, shape (n_jobs,)
        From 1 to the size of the machine.
    """

    submit: np.ndarray
    run: np.ndarray
    estimate: np.ndarray
    procs: np.ndarray


class Cluster(NamedTuple):
    """The state of a simulation; everything but `jobs` and `halt` is modified in place.

    Attributes
    ----------
    jobs : Jobs
    start, promise : int64, shape (n_jobs,), seconds
        When the job started, and the first start time that was promised to it; -1 until then.
    rank : int64, shape (n_jobs,)
        Place of each job in the order of the queue.
    begun : int64, shape (n_jobs,)
        Jobs in the order of their starts.
    early : int64, shape (n_running,)
        Jobs that completed at this instant, before their estimated ends.
    ends : Ordered
        Running jobs by true end; the item is a place in `begun`.
    running : Ordered
        Running jobs by estimated end.
    queue : Ordered
        Waiting jobs by rank.
    clock : int64, shape (9,)
        The scalars.
    halt : int64, shape (1,)
        Set from outside, to anything but 0, where the simulation is to end early.
    """

    jobs: Jobs
    start: np.ndarray
    promise: np.ndarray
    rank: np.ndarray
    begun: np.ndarray
    early: np.ndarray
    ends: Ordered
    running: Ordered
    queue: Ordered
    clock: np.ndarray
    halt: np.ndarray


@maker
def new_cluster(jobs, procs, rank, moving, each, halt):
    """Make an idle machine of `procs` processors before the first arrival.

    Where the order of the queue moves with time, newcomers rank behind every place of the queue until it
    is sorted.
    """
    n = jobs.submit.size
    clock = np.zeros(9, np.int64)
    clock[NOW] = -1
    clock[FREE] = procs
    clock[EACH] = each
    return Cluster(
        jobs,
        np.full(n, WAITS, np.int64),
        np.full(n, -1, np.int64),
        rank + n if moving else rank.copy(),
        np.empty(n, np.int64),
        np.empty(min(n, procs), np.int64),  # a job that ends early held at least one processor until now
        ordered(n),  # each job is inserted once
        ordered(n),
        ordered(n),
        clock,
        halt,
    )


@part
def advance(c, alarm):
    """Go on to the next instant (in per-event mode: to the next event); False when nothing is left, or on `halt`.

    `alarm` is an instant at which the scheme wants a pass even if nothing happens then.
    """
    clock = c.clock
    arrival, end = next_arrival(c), next_end(c)
    now = min(arrival, end, alarm)
    if now == NEVER or c.halt[0]:
        return False
    open_instant(c, now)
    if clock[EACH]:
        _release_expired(c)
        if arrival == now:
            arrive(c)
        elif end == now:
            complete(c)
        return True
    while next_end(c) == now:
        complete(c)
    while next_arrival(c) == now:
        arrive(c)
    return True


@part
def open_instant(c, now):
    """Set the clock to an instant at which nothing has happened yet."""
    clock = c.clock
    clock[NEWCOMER] = clock[ARRIVED]
    clock[EARLY] = clock[FREED] = 0
    clock[NOW] = now


@part
def next_arrival(c):
    """Give the instant of the next arrival, or `NEVER`."""
    arrived = c.clock[ARRIVED]
    return c.jobs.submit[arrived] if arrived < c.jobs.submit.size else NEVER


@part
def next_end(c):
    """Give the instant of the next completion, or `NEVER`."""
    ends = c.ends
    return ends.key[ends.window[FIRST]] if ends.window[FIRST] < ends.window[LAST] else NEVER


@part
def arrive(c):
    """Put the next job to arrive in the queue."""
    job = c.clock[ARRIVED]
    insert(c.queue, c.rank[job], job)
    c.clock[ARRIVED] = job + 1


@part
def complete(c):
    """End the running job that is the next to end."""
    clock = c.clock
    job = c.begun[pop(c.ends)]
    expected = c.start[job] + c.jobs.estimate[job]
    if expected > clock[NOW]:
        c.early[clock[EARLY]] = job
        clock[EARLY] += 1
    elif clock[EACH] and not outlives(c, job):
        return  # released as expired
    remove(c.running, expected, job)
    clock[FREE] += c.jobs.procs[job]
    clock[FREED] = 1


@part
def outlives(c, job):
    """Tell whether a job takes longer than its estimate."""
    return c.jobs.run[job] > c.jobs.estimate[job]


@part
def _release_expired(c):
    running, clock = c.running, c.clock
    place = running.window[FIRST]
    while place < running.window[LAST] and running.key[place] <= clock[NOW]:
        job = running.item[place]
        if outlives(c, job):
            place += 1
            continue
        clock[FREE] += c.jobs.procs[job]
        clock[FREED] = 1
        place = remove_at(running, place)


@part
def begin(c, place):
    """Start the waiting job at a place of the queue; give the place where its successor now stands."""
    jobs, clock = c.jobs, c.clock
    job = c.queue.item[place]
    now = clock[NOW]
    c.start[job] = now
    c.begun[clock[BEGUN]] = job
    insert(c.ends, now + jobs.run[job], clock[BEGUN])
    clock[BEGUN] += 1
    insert(c.running, now + jobs.estimate[job], job)
    clock[FREE] -= jobs.procs[job]
    return remove_at(c.queue, place)


@part
def place_in_queue(c, job):
    """Find the place of a waiting job."""
    return place_of(c.queue, c.rank[job], job)


@part
def waiting(c):
    """Tell whether a job waits."""
    return c.queue.window[FIRST] < c.queue.window[LAST]


@part
def start_heads_that_fit(c):
    """Start jobs from the front of the queue, up to the first that does not fit."""
    head = c.queue.window[FIRST]
    while head < c.queue.window[LAST] and c.jobs.procs[c.queue.item[head]] <= c.clock[FREE]:
        head = begin(c, head)


@part
def sort_queue(c, policy, score):
    """Put the queue in the order of a priority that moves with time; `score` is scratch."""
    queue, jobs, clock, now = c.queue, c.jobs, c.clock, c.clock[NOW]
    first, last = queue.window[FIRST], queue.window[LAST]
    for place in range(first, last):
        job = queue.item[place]
        score[place] = policy(now, jobs.submit[job], jobs.estimate[job], jobs.procs[job])
        clock[NAN] |= np.isnan(score[place])
    sort(score, queue.item, first, last)
    for place in range(first, last):
        queue.key[place] = place
        c.rank[queue.item[place]] = place
