"""What kernels ask a policy about a job at an instant, and the running sums that such an answer may depend on.

A policy is a C callback (`callbacks`). One that needs no more than ``now, submit, estimate, procs`` is called with
these. Any other is called with the instant, the job and three arrays: whole numbers and other numbers of each job, and
the running sums.

A running sum is kept for each value of a column, such as for each user:

- the usage so far, in processor-seconds, which grows while jobs run and loses half its value in each half-life;
- the jobs that run, the processors that they hold, and the jobs that wait.

A sum counts what has begun and ended when it is looked at: jobs that started earlier in the same pass are in it.
Between two looks the usage grows by a constant rate, so that its value has a closed form and costs no event of its own:
after dt seconds, with decay d = ln 2 / half-life, it is ``value * exp(-d dt) + rate / d * (1 - exp(-d dt))``.
"""

from math import exp, expm1, log
from typing import NamedTuple

import numpy as np

from ._jit import kernel, part, routine
from .callbacks import call_by_row, call_moving
from .cluster import ARRIVED, BEGUN, NAN, NOW
from .priority import sort
from .sorted_pairs import SortedPairs, back, first_key, front, insert, pop, size_of

USAGE, RUNNING, HELD, QUEUED = range(4)  # what `kind` may be
LN2 = log(2.0)


class Sums(NamedTuple):
    """Running sums; `cell` counts through the values of the first sum's column, then those of the second's, ....

    Attributes
    ----------
    kind : int64, shape (n_sums,)
    half_life : float64, shape (n_sums,), seconds
        0 where nothing decays.
    value : float64, shape (n_cells,)
        Processor-seconds, jobs or processors. Modified in place, as is what follows.
    rate : float64, shape (n_cells,)
        By how much the value grows in a second: the processors of the running jobs, of usage only.
    at : int64, shape (n_cells,), seconds
        The instant of the value.
    ends : SortedPairs
        Running jobs by end; the item is a place in `Cluster.begun`.
    seen : int64, shape (2,)
        Jobs begun and jobs arrived that are counted.
    """

    kind: np.ndarray
    half_life: np.ndarray
    value: np.ndarray
    rate: np.ndarray
    at: np.ndarray
    ends: SortedPairs
    seen: np.ndarray


class _Asked(NamedTuple):
    by_row: bool
    of_scalars: object
    of_row: object
    whole: np.ndarray
    width: int
    real: np.ndarray
    sums: Sums


class Question(_Asked):
    """A policy that may depend on the time.

    Attributes
    ----------
    by_row : bool
        Call `of_row`, not `of_scalars`.
    of_scalars, of_row : int
        Callbacks of the types MOVING and BY_ROW (`schedlab.kernels.callbacks`), the other being unused.
    whole : int64, shape (n_jobs * width,)
        Whole numbers of each job; the last of a row are its cells in the sums.
    width : int
        Whole numbers of a job.
    real : float64, shape (n_jobs * n_real,)
        Other numbers of each job.
    sums : Sums
    callback : object
        Keeps what lies at the address alive. Not handed over to kernels.
    """

    callback = None


class Veto(NamedTuple):
    """Which waiting jobs may start ahead of the head of the queue.

    Attributes
    ----------
    allowed : bool, shape (n_jobs,)
        Each job, where that does not depend on the time; of no job, if all may.
    moving : bool
        The answer depends on the time: `question` gives it, 0 for no.
    question : Question
    """

    allowed: np.ndarray
    moving: bool
    question: Question


@part
def ask(c, question, job):
    """Give what a policy says of a waiting job now."""
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
    """Bring the sums of a job up to now."""
    sums = question.sums
    if sums.seen[0] < c.clock[BEGUN] or sums.seen[1] < c.clock[ARRIVED] or size_of(sums.ends) > size_of(c.ends):
        count_events(c, question)
    first = (job + 1) * question.width - sums.kind.size
    for i in range(sums.kind.size):
        _bring(sums, i, question.whole[first + i], c.clock[NOW])


@routine
def count_events(c, question):
    """Count what has begun, ended and arrived since the last time.

    It must be called at each pass before jobs start, so that whatever has begun since then began before what has ended.
    """
    sums, jobs = question.sums, c.jobs
    for place in range(sums.seen[0], c.clock[BEGUN]):
        job = c.begun[place]
        _count(question, job, c.start[job], jobs.procs[job], 1)
        insert(sums.ends, c.start[job] + jobs.run[job], place)
    sums.seen[0] = c.clock[BEGUN]
    while size_of(sums.ends) > size_of(c.ends):  # both are in the order of ends, then of starts
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
    """Bring a sum to an instant."""
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
    """Put the queue in its order, if that moves with time; `score` is scratch."""
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
    """Count what has happened, at the begin of a pass."""
    if question.sums.kind.size > 0:
        count_events(c, question)


@kernel
def values_of_rows(policy, n_jobs, whole, real):
    """Give what a policy that does not move says of each job; float64, shape (n_jobs,)."""
    result, no_sums = np.empty(n_jobs, np.float64), np.empty(0, np.float64)
    for job in range(n_jobs):
        result[job] = call_by_row(policy, (0, job, whole, real, no_sums))
    return result
