"""The state of one simulation and its clock. Every scheme shares them, so a scheme contains only its own rule.

At each distinct instant: completions, then arrivals (by submit time, then trace order), then one pass of the scheme. A
job holds its processors on [start, end). A job of length zero completes at the instant at which it started, so that
instant gets another round.

In the per-event mode (used by pyss and its descendants, and so by many published schedules) the order at one instant
is: arrivals first, then completions in the order of their starts, with a pass after every single event. A running job
whose estimated end has come counts as free from the beginning of that instant.

A job may outlive its estimate if the scheme supports that (`reservation`, `placement`). It then holds its processors
until it completes; in the per-event mode, until its completion event is processed.

A simulation stops once `halt` is set from outside; its results are then meaningless.
"""

from typing import NamedTuple

import numpy as np

from ._jit import inlined, maker, part
from .sorted_pairs import (
    NEVER,
    SortedPairs,
    back,
    first_key,
    front,
    insert,
    is_empty,
    new_pairs,
    place_of,
    pop,
    remove,
    remove_at,
)

WAITS = -1  # in `start`: the job has not started

# Places in Cluster.clock: the instant; free processors; the first newcomer of this instant; the next job to arrive;
# jobs begun; completions of this instant, and those of them before the estimated end; whether processors were freed in
# it; per-event mode; and whether a priority was not a number.
NOW, FREE, NEWCOMER, ARRIVED, BEGUN, ENDED, EARLY, FREED, PER_EVENT, NAN = range(10)
SCALARS = 10


class Jobs(NamedTuple):
    """The jobs as a kernel sees them, in arrival order (submit time, then trace order).

    All int64 of shape (n_jobs,); times in seconds, ``0 <= run <= estimate``, unless a scheme says otherwise.
    """

    submit: np.ndarray
    run: np.ndarray
    estimate: np.ndarray
    procs: np.ndarray  # from 1 to the size of the machine


class Cluster(NamedTuple):
    """The state of a simulation; everything but `jobs` and `halt` is modified in place. Times in seconds."""

    jobs: Jobs
    start: np.ndarray  # int64 of shape (n_jobs,): when the job started; -1 until then
    promise: np.ndarray  # int64 of shape (n_jobs,): the first start time promised to it; -1 until then
    rank: np.ndarray  # int64 of shape (n_jobs,): place of each job in the order of the queue
    begun: np.ndarray  # int64 of shape (n_jobs,): jobs in the order of their starts
    early: np.ndarray  # int64 of shape (n_running,): jobs that completed at this instant, before their estimated ends
    ends: SortedPairs  # running jobs by true end; the item is a place in `begun`
    running: SortedPairs  # running jobs by estimated end
    queue: SortedPairs  # waiting jobs by rank
    clock: np.ndarray  # int64 of shape (10,): the scalars
    halt: np.ndarray  # int64 of shape (1,): set from outside to a nonzero value to end the simulation early


@maker
def new_cluster(jobs, machine, rank, moving, per_event, halt):
    """Make an idle machine before the first arrival.

    If the order of the queue changes with time, newcomers rank behind the whole queue until it is sorted.
    """
    n = jobs.submit.size
    clock = np.zeros(SCALARS, np.int64)
    clock[NOW] = -1
    clock[FREE] = machine
    clock[PER_EVENT] = per_event
    return Cluster(
        jobs,
        np.full(n, WAITS, np.int64),
        np.full(n, -1, np.int64),
        rank + n if moving else rank.copy(),
        np.empty(n, np.int64),
        np.empty(min(n, machine), np.int64),  # a job that ends early has held at least one processor until now
        new_pairs(n),  # each job is inserted once
        new_pairs(n),
        new_pairs(n),
        clock,
        halt,
    )


@inlined  # a call would pass 17 arrays at each event: a tenth of FCFS's time, a twentieth of EASY's
def advance(c, alarm):
    """Advance to the next instant (in per-event mode: to the next event); False if nothing is left, or on `halt`.

    `alarm` is an instant at which the scheme wants a pass even if nothing happens then.
    """
    clock = c.clock
    arrival, end = next_arrival(c), next_end(c)
    now = min(arrival, end, alarm)
    if now == NEVER or c.halt[0]:
        return False
    open_instant(c, now)
    if clock[PER_EVENT]:
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
    clock[ENDED] = clock[EARLY] = clock[FREED] = 0
    clock[NOW] = now


@part
def next_arrival(c):
    """Return the instant of the next arrival, or `NEVER`."""
    arrived = c.clock[ARRIVED]
    return c.jobs.submit[arrived] if arrived < c.jobs.submit.size else NEVER


@part
def next_end(c):
    """Return the instant of the next completion, or `NEVER`."""
    ends = c.ends
    return first_key(ends)


@part
def arrive(c):
    """Put the next arriving job into the queue."""
    job = c.clock[ARRIVED]
    insert(c.queue, c.rank[job], job)
    c.clock[ARRIVED] = job + 1


@part
def complete(c):
    """End the running job that ends next."""
    clock = c.clock
    job = c.begun[pop(c.ends)]
    clock[ENDED] += 1
    expected = c.start[job] + c.jobs.estimate[job]
    if expected > clock[NOW]:
        c.early[clock[EARLY]] = job
        clock[EARLY] += 1
    elif clock[PER_EVENT] and not outlives(c, job):
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
    place = front(running)
    while place < back(running) and running.key[place] <= clock[NOW]:
        job = running.item[place]
        if outlives(c, job):
            place += 1
            continue
        clock[FREE] += c.jobs.procs[job]
        clock[FREED] = 1
        place = remove_at(running, place)


@part
def begin(c, place):
    """Start the waiting job at a place of the queue; return the new place of its successor.

    Parameters
    ----------
    c : Cluster
        The state of the simulation.
    place : int
        Place in the queue. Whether the job fits is not checked.

    Returns
    -------
    int
    """
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
    """Return the place of a waiting job in the queue.

    Parameters
    ----------
    c : Cluster
        The state of the simulation.
    job : int
        A waiting job.

    Returns
    -------
    int
    """
    return place_of(c.queue, c.rank[job], job)


@part
def waiting(c):
    """Tell whether any job waits.

    Parameters
    ----------
    c : Cluster
        The state of the simulation.

    Returns
    -------
    bool
    """
    return not is_empty(c.queue)


@part
def start_heads_that_fit(c):
    """Start jobs from the front of the queue, up to the first that does not fit.

    Parameters
    ----------
    c : Cluster
        The state of the simulation.
    """
    head = front(c.queue)
    while head < back(c.queue) and c.jobs.procs[c.queue.item[head]] <= c.clock[FREE]:
        head = begin(c, head)
