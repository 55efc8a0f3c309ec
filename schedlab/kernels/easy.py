"""EASY (aggressive) backfilling: one reservation, for the job at the head of the queue.

After Lifka 1995, Skovira et al. 1996, and Mu'alem and Feitelson, IEEE TPDS 12(6), 2001. At each pass: start heads of
the queue while they fit. For the first that does not fit, find when it could start if the running jobs end at their
estimated ends (the shadow time), and how many processors it would leave over then (the extra processors). Then start
any other waiting job that ends by the shadow time or that needs only extra processors. Jobs that end at the same
instant are counted together.

Candidates are tried in queue order or in an order of their own (shortest first: EASY-SJBF). Only candidates that pass
their test before any of them has started can pass it later, so only they are sorted.

A veto may keep candidates back; it is called only for candidates that pass their test, when their turn comes.

If nothing was freed since the last pass and the head is the same, the reservation still holds and every older candidate
still fails (time has gone on), unless the veto depends on the time. So if at most one job has arrived, only that job is
tested. If many jobs wait, and the order of the candidates does not depend on the time, an index finds them
(`candidates`).
"""

import numpy as np

from ._jit import kernel, part
from .candidates import backfill_long, new_candidates, no_candidates
from .cluster import ARRIVED, FREE, NAN, NEWCOMER, NOW, advance, new_cluster, place_in_queue, start_heads_that_fit
from .priority import sort
from .questions import ask, is_vetoed, look, sort_queue
from .reservation import EXTRA, NOBODY, SHADOW, begin_behind_head, ends_by_shadow, reserve_for_head, still_blocked
from .sorted_pairs import NEVER, back, front, size_of


@kernel
def easy(jobs, machine, order, backfill, own, veto, many, looks, per_event, halt):
    """Simulate EASY backfilling; return start times and promises, in seconds; other arguments as in `fcfs`.

    Candidates are tried in the order `backfill`; `own` tells whether it differs from the order of the queue. If more
    than `many` jobs wait, an index finds the candidates, once `looks` waiting jobs of such queues have been examined.
    The promise is the shadow time of a job when it was first blocked at the head of the queue, -1 for a job that never
    was.
    """
    n = jobs.submit.size
    c = new_cluster(jobs, machine, order.rank, order.moving, per_event, halt)
    score = np.empty(n if order.moving or own else 0, np.float64)
    candidates = np.empty(n if own else 0, np.int64)
    reservation = np.full(3, NOBODY, np.int64)
    index = no_candidates(backfill.rank)
    if backfill.moving:
        many = n
    while _goes_on(c, reservation, order, backfill, own, veto, score, candidates, many, looks):
        if index.place.size == 0:
            index, looks = new_candidates(jobs.procs, backfill.rank, veto.moving), 0
        backfill_long(c, index, reservation, veto)
    if c.clock[NAN]:
        raise ValueError("the order of the queue gives nan")
    return c.start, c.promise


@part
def _goes_on(c, reservation, order, backfill, own, veto, score, candidates, many, looks):
    """Simulate until nothing is left, or up to a pass in which the index is to backfill; tell which."""
    while advance(c, NEVER):
        sort_queue(c, order, score)
        look(c, backfill.question)
        look(c, veto.question)
        if not still_blocked(c, reservation):
            start_heads_that_fit(c)
            reserve_for_head(c, reservation)
        elif not veto.moving and c.clock[ARRIVED] - c.clock[NEWCOMER] <= 1:
            _backfill_newcomer(c, reservation, veto)
            continue
        if size_of(c.queue) > many:
            looks -= size_of(c.queue)
            if looks < 0:
                return True
        if own:
            count = _gather(c, reservation, backfill, score, candidates)
            _backfill_in_own_order(c, reservation, veto, candidates, count)
        else:
            _backfill(c, reservation, veto)
    return False


@part
def _may_start(c, reservation, job):
    procs = c.jobs.procs[job]
    if procs > c.clock[FREE]:
        return False
    return procs <= reservation[EXTRA] or ends_by_shadow(c, reservation, job)


@part
def _backfill(c, reservation, veto):
    queue, procs, estimate = c.queue, c.jobs.procs, c.jobs.estimate
    free, extra, longest = c.clock[FREE], reservation[EXTRA], reservation[SHADOW] - c.clock[NOW]
    place = front(queue) + 1
    while place < back(queue) and free > 0:
        job = queue.item[place]
        may_start = procs[job] <= free and (procs[job] <= extra or estimate[job] <= longest)
        if may_start and not is_vetoed(c, veto, job):
            place = begin_behind_head(c, reservation, place)
            free, extra = c.clock[FREE], reservation[EXTRA]
        else:
            place += 1


@part
def _backfill_newcomer(c, reservation, veto):
    job = c.clock[NEWCOMER]
    if job < c.clock[ARRIVED] and _may_start(c, reservation, job) and not is_vetoed(c, veto, job):
        begin_behind_head(c, reservation, place_in_queue(c, job))


@part
def _gather(c, reservation, backfill, score, candidates):
    queue = c.queue
    count = 0
    for place in range(front(queue) + 1, back(queue)):
        job = queue.item[place]
        if _may_start(c, reservation, job):
            candidates[count] = job
            score[count] = ask(c, backfill.question, job) if backfill.moving else backfill.rank[job]
            count += 1
    sort(score, candidates, 0, count)
    return count


@part
def _backfill_in_own_order(c, reservation, veto, candidates, count):
    for i in range(count):
        if _may_start(c, reservation, candidates[i]) and not is_vetoed(c, veto, candidates[i]):
            begin_behind_head(c, reservation, place_in_queue(c, candidates[i]))
