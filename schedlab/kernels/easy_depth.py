"""EASY backfilling with several reservations: the first k blocked jobs of the queue hold one each.

With k = 1 this is EASY (`easy`). With as many reservations as jobs it is conservative backfilling that places all jobs
anew at each pass. At each pass: forget all reservations. Go down the queue and start each job that can start now. Give
each of the first k jobs that cannot start a reservation: the earliest start at which its processors are free for its
estimate, in a profile of the running jobs and the earlier reservations. Then start any other waiting job that can start
now and delays no reservation, in queue order or in an order of their own.

A veto may keep back jobs that would start ahead of a reservation. Such a job waits without a reservation, because it
could start now. A job whose estimate is 0 delays no other job, and starts if its processors are free.

If nothing was freed since the last pass, all reservations still hold and every older job still waits, so only newcomers
are tested. This requires that nothing depends on the time, no job may be vetoed (a vetoed job that no longer fits needs
a reservation), newcomers are at the end of the queue, and no job has reached its estimated end or its reservation.
"""

import numpy as np

from ._jit import kernel, part
from .cluster import ARRIVED, FREE, FREED, NAN, NEWCOMER, NOW, advance, begin, new_cluster, place_in_queue
from .conservative import newcomers_are_last
from .priority import sort
from .profile import add, clear, earliest, forget_past, free_from, profile
from .questions import ask, is_vetoed, look, sort_queue
from .sorted_pairs import NEVER, back, first_key, front

RESERVED, FIRST = range(2)  # places in `memory`: the number of reservations, and the instant of the first


@kernel
def easy_depth(jobs, machine, order, backfill, own, veto, depth, per_event, halt):
    """Simulate EASY backfilling in which the first `depth` blocked jobs, at least 1, hold a reservation; as `easy`.

    Return start times and the first reservation of each job, in seconds; -1 for a job that never had one.
    """
    n = jobs.submit.size
    c = new_cluster(jobs, machine, order.rank, order.moving, per_event, halt)
    steps = profile(machine, n)
    score = np.empty(n if order.moving or own else 0, np.float64)
    candidates = np.empty(n if own else 0, np.int64)
    memory = np.full(2, -1, np.int64)
    steady = not (order.moving or veto.moving or veto.allowed.size > 0)
    while advance(c, NEVER):
        sort_queue(c, order, score)
        look(c, backfill.question)
        look(c, veto.question)
        newcomers = c.clock[ARRIVED] - c.clock[NEWCOMER]
        if steady and (newcomers <= 1 or not own) and _stand(c, memory):
            forget_past(steps, c.clock[NOW])
            place = back(c.queue) - newcomers
        else:
            fill_profile(c, steps)
            memory[RESERVED], memory[FIRST] = 0, NEVER
            place = front(c.queue)
        place = _reserve(c, steps, memory, veto, depth, place)
        if own:
            count = _gather(c, steps, backfill, score, candidates, place)
            for i in range(count):
                if _fits(c, steps, candidates[i]) and not is_vetoed(c, veto, candidates[i]):
                    _start(c, steps, place_in_queue(c, candidates[i]))
        else:
            _backfill(c, steps, veto, place)
    if c.clock[NAN]:
        raise ValueError("the order of the queue gives nan")
    return c.start, c.promise


@part
def _stand(c, memory):
    """Tell whether the reservations of the last pass still hold."""
    now = c.clock[NOW]
    return not c.clock[FREED] and now < memory[FIRST] and now < first_key(c.running) and newcomers_are_last(c)


@part
def fill_profile(c, steps):
    """Make the profile of processors that the running jobs will leave free, by their estimates.

    A job that is past its estimate is expected to end a second from now. A job whose estimate is 0 and that has begun
    in this pass is expected to end now, though it still holds its processors.

    Parameters
    ----------
    c : Cluster
        The state of the simulation.
    steps : SortedPairs
        The profile; its old content is discarded.
    """
    running, procs, now, overdue = c.running, c.jobs.procs, c.clock[NOW], 0
    clear(steps, now, c.clock[FREE])
    place = front(running)
    while place < back(running) and running.key[place] <= now:
        job = running.item[place]
        if c.start[job] == now:  # its estimate is 0, and it has just begun
            free_from(steps, now, procs[job])
        else:
            overdue += procs[job]
        place += 1
    if overdue > 0:
        free_from(steps, now + 1, overdue)
    while place < back(running):
        free_from(steps, running.key[place], procs[running.item[place]])
        place += 1


@part
def _fits(c, steps, job):
    """Tell whether a waiting job can start now and delays no reservation."""
    procs, estimate, now = c.jobs.procs[job], c.jobs.estimate[job], c.clock[NOW]
    if procs > c.clock[FREE]:
        return False
    place, last, end = front(steps), back(steps), now + estimate
    while place < last and steps.key[place] < end:
        if steps.item[place] < procs:
            return False
        place += 1
    return True


@part
def _start(c, steps, place):
    """Start a waiting job; return the place of its successor."""
    job, now = c.queue.item[place], c.clock[NOW]
    add(steps, now, now + c.jobs.estimate[job], -c.jobs.procs[job])
    return begin(c, place)


@part
def _reserve(c, steps, memory, veto, depth, place):
    """Go down the queue and start or reserve jobs until there are enough reservations; return the next place."""
    queue, jobs, now = c.queue, c.jobs, c.clock[NOW]
    while place < back(queue) and memory[RESERVED] < depth and not c.halt[0]:
        job = queue.item[place]
        if not _fits(c, steps, job):
            duration = max(jobs.estimate[job], 1)  # as in EASY, which keeps processors for a head whose estimate is 0
            instant = earliest(steps, now, NEVER, jobs.procs[job], duration)
            add(steps, instant, instant + duration, -jobs.procs[job])
            memory[RESERVED] += 1
            memory[FIRST] = min(memory[FIRST], instant)
            if c.promise[job] < 0:
                c.promise[job] = instant
            place += 1
        elif memory[RESERVED] > 0 and is_vetoed(c, veto, job):
            place += 1
        else:
            place = _start(c, steps, place)
    return place


@part
def _backfill(c, steps, veto, place):
    queue = c.queue
    while place < back(queue) and c.clock[FREE] > 0 and not c.halt[0]:
        if _fits(c, steps, queue.item[place]) and not is_vetoed(c, veto, queue.item[place]):
            place = _start(c, steps, place)
        else:
            place += 1


@part
def _gather(c, steps, backfill, score, candidates, place):
    queue, count = c.queue, 0
    for at in range(place, back(queue)):
        job = queue.item[at]
        if _fits(c, steps, job):
            candidates[count] = job
            score[count] = ask(c, backfill.question, job) if backfill.moving else backfill.rank[job]
            count += 1
    sort(score, candidates, 0, count)
    return count
