"""How kernels ask a policy about a job at an instant, and the running sums that the answer may depend on.

A policy is a C callback (`callbacks`). A policy that needs only ``now, submit, estimate, procs`` is called with these.
Any other policy is called with the instant, the job and three arrays: whole numbers of each job, other numbers of each
job, and the running sums.

A running sum is kept for each value of a column, such as for each user:

- the usage so far, in processor-seconds, which grows while jobs run and loses half its value in each half-life;
- the jobs that run, the processors that they hold, and the jobs that wait.

A sum counts everything that has begun or ended by the time it is read, including jobs that started earlier in the same
pass. Between two reads the usage grows at a constant rate, so its value has a closed form and needs no events of its
own: after dt seconds, with decay d = ln 2 / half-life, it is ``value * exp(-d dt) + rate / d * (1 - exp(-d dt))``.
"""

from math import exp, expm1, log
from typing import NamedTuple

import numpy as np

from ._jit import kernel, part, routine
from .callbacks import call_by_row, call_moving
from .cluster import ARRIVED, BEGUN, NAN, NOW
from .priority import sort
from .sorted_pairs import SortedPairs, back, first_key, front, insert, pop, size_of

USAGE, RUNNING, HELD, QUEUED = range(4)  # possible values of `kind`
LN2 = log(2.0)


class Sums(NamedTuple):
    """Running sums; `cell` numbers the values of the first sum's column, then those of the second's, and so on."""

    kind: np.ndarray  # int64 of shape (n_sums,)
    half_life: np.ndarray  # float64 of shape (n_sums,), seconds: 0 if nothing decays
    # float64 of shape (n_cells,): processor-seconds, jobs or processors. Modified in place, as are those below.
    value: np.ndarray
    # float64 of shape (n_cells,): growth of the value per second: the processors of the running jobs; for usage only.
    rate: np.ndarray
    at: np.ndarray  # int64 of shape (n_cells,), seconds: the instant to which the value refers
    ends: SortedPairs  # running jobs by end; the item is a place in `Cluster.begun`
    seen: np.ndarray  # int64 of shape (2,): how many begun and arrived jobs have been counted


class _Asked(NamedTuple):
    by_row: bool  # whether to call `of_row` instead of `of_scalars`
    of_scalars: object  # callback of the type MOVING (`callbacks`)
    of_row: object  # callback of the type BY_ROW; the one that is not called is unused
    whole: np.ndarray  # int64 of shape (n_jobs * width,): the last numbers of a row are the job's cells in the sums
    width: int  # number of whole numbers per job
    real: np.ndarray  # float64 of shape (n_jobs * n_real,): other numbers of each job
    sums: Sums


class Question(_Asked):
    """A policy that may depend on the time; `callback` keeps its callback alive, and is not passed to kernels."""

    callback = None


class Veto(NamedTuple):
    """Which waiting jobs may start ahead of the head of the queue."""

    # bool of shape (n_jobs,): the answer for each job, if it does not depend on the time; empty if all jobs may.
    allowed: np.ndarray
    moving: bool  # whether the answer depends on the time: then `question` gives it, 0 for no
    question: Question


@part
def ask(c, question, job):
    """Return a policy's answer about a waiting job now."""
    value = _of_row(c, question, job) if question.by_row else _of_scalars(c, question, job)
    c.clock[NAN] |= np.isnan(value)
    return value


@part
def _of_scalars(c, question, job):
    jobs = c.jobs
    return call_moving(question.of_scalars, (c.clock[NOW], jobs.submit[job], jobs.estimate[job], jobs.procs[job]))


@routine
def _of_row(c, question, job):
    if question.sums.kind.size > 0:
        _catch_up(c, question, job)
    return call_by_row(question.of_row, (c.clock[NOW], job, question.whole, question.real, question.sums.value))


@part
def is_vetoed(c, veto, job):
    """Tell whether a waiting job may not start ahead of the head of the queue now."""
    if veto.moving:
        return ask(c, veto.question, job) == 0.0
    return veto.allowed.size > 0 and not veto.allowed[job]


@part
def _catch_up(c, question, job):
    """Update the sums of a job to now."""
    sums = question.sums
    if sums.seen[0] < c.clock[BEGUN] or sums.seen[1] < c.clock[ARRIVED] or size_of(sums.ends) > size_of(c.ends):
        count_events(c, question)
    first = (job + 1) * question.width - sums.kind.size
    for i in range(sums.kind.size):
        _bring(sums, i, question.whole[first + i], c.clock[NOW])


@routine
def count_events(c, question):
    """Count the jobs that have begun, ended and arrived since the last call.

    It must be called at each pass before jobs start, so that all jobs that have begun since the last call began before
    those that have ended.
    """
    sums, jobs = question.sums, c.jobs
    for place in range(sums.seen[0], c.clock[BEGUN]):
        job = c.begun[place]
        _count(question, job, c.start[job], jobs.procs[job], 1)
        insert(sums.ends, c.start[job] + jobs.run[job], place)
    sums.seen[0] = c.clock[BEGUN]
    while size_of(sums.ends) > size_of(c.ends):  # both are ordered by end, then by start
        end = first_key(sums.ends)
        job = c.begun[pop(sums.ends)]
        _count(question, job, end, jobs.procs[job], -1)
    for job in range(sums.seen[1], c.clock[ARRIVED]):
        _count(question, job, jobs.submit[job], jobs.procs[job], 0)
    sums.seen[1] = c.clock[ARRIVED]


@part
def _count(question, job, instant, procs, change):
    """Count a start (change 1), an end (-1) or an arrival (0)."""
    sums = question.sums
    first = (job + 1) * question.width - sums.kind.size
    for i in range(sums.kind.size):
        kind, cell = sums.kind[i], question.whole[first + i]
        if kind == QUEUED:
            sums.value[cell] += (change == 0) - (change == 1)
        elif kind == RUNNING:
            sums.value[cell] += change
        elif kind == HELD:
            sums.value[cell] += change * procs
        else:
            _bring(sums, i, cell, instant)
            sums.rate[cell] += change * procs


@part
def _bring(sums, i, cell, instant):
    """Update a sum to an instant."""
    lasted = instant - sums.at[cell]
    if lasted <= 0:
        return
    half_life = sums.half_life[i]
    if half_life > 0.0:
        decayed = lasted * (LN2 / half_life)
        grown = sums.rate[cell] * (half_life / LN2) * -expm1(-decayed)
        sums.value[cell] = sums.value[cell] * exp(-decayed) + grown
    else:
        sums.value[cell] += sums.rate[cell] * lasted
    sums.at[cell] = instant


@part
def sort_queue(c, order, score):
    """Sort the queue, if its order changes with time; `score` is scratch."""
    if order.moving:
        _sort_queue(c, order.question, score)


@routine
def _sort_queue(c, question, score):
    queue = c.queue
    first, last = front(queue), back(queue)
    look(c, question)
    if question.by_row:
        for place in range(first, last):
            score[place] = _of_row(c, question, queue.item[place])
    else:
        for place in range(first, last):
            score[place] = _of_scalars(c, question, queue.item[place])
    for place in range(first, last):
        c.clock[NAN] |= np.isnan(score[place])
    sort(score, queue.item, first, last)
    for place in range(first, last):
        queue.key[place] = place
        c.rank[queue.item[place]] = place


@part
def look(c, question):
    """Count events at the beginning of a pass."""
    if question.sums.kind.size > 0:
        count_events(c, question)


@kernel
def values_of_rows(policy, n_jobs, whole, real):
    """Return the answer of a policy that does not depend on the time for each job; float64, shape (n_jobs,)."""
    result, no_sums = np.empty(n_jobs, np.float64), np.empty(0, np.float64)
    for job in range(n_jobs):
        result[job] = call_by_row(policy, (0, job, whole, real, no_sums))
    return result
