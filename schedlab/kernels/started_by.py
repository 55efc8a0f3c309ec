"""How each job of a schedule started: in its turn, by a reservation, or backfilled, and in which way.

This works for any schedule of whole jobs, whatever produced it: the only criterion is which jobs still wait after all
starts of an instant. A job that started ahead of none of them started in its turn. Otherwise the first of them has a
shadow time (`reservation`), by the estimates of the jobs that run then. EASY's own tests give the same labels: a job
that it backfills changes neither the head nor its shadow time.
"""

import numpy as np

from ._jit import kernel, part
from .cluster import BEGUN, FREE, NAN, NOW, advance, begin, new_cluster, place_in_queue, waiting
from .questions import look, sort_queue
from .reservation import HEAD as HEAD_OF
from .reservation import NOBODY, ends_by_shadow, reserve_for_head
from .sorted_pairs import NEVER, first_item

HEAD, RESERVATION, WITHIN, EXTRA = range(4)


@kernel
def started_by(jobs, machine, order, start, by_start, reserved, halt):
    """Label each job with how it started: int8, `HEAD`, `RESERVATION`, `WITHIN` or `EXTRA`; arguments as in `fcfs`.

    If the jobs hold more processors at some instant than the machine has, `machine` is the most that they hold. No
    start is before the submission; `by_start` lists the jobs in order of start; `reserved` marks those that held a
    reservation.
    """
    n = jobs.submit.size
    # All passes of an instant are repeated as one: more jobs of length zero may end in it than there are processors.
    c = new_cluster(jobs, max(machine, n), order.rank, order.moving, False, halt)
    c.clock[FREE] = machine
    score = np.empty(n if order.moving else 0, np.float64)
    label = np.zeros(n, np.int8)
    reservation = np.full(3, NOBODY, np.int64)
    while advance(c, start[by_start[c.clock[BEGUN]]] if c.clock[BEGUN] < n else NEVER):
        look(c, order.question)
        first = c.clock[BEGUN]
        if first == n or start[by_start[first]] > c.clock[NOW]:
            continue
        sort_queue(c, order, score)
        while c.clock[BEGUN] < n and start[by_start[c.clock[BEGUN]]] == c.clock[NOW]:
            begin(c, place_in_queue(c, by_start[c.clock[BEGUN]]))
        if waiting(c):
            _label(c, reservation, reserved, label, first)
    if c.clock[NAN]:
        raise ValueError("the order of the queue gives nan")
    return label


@part
def _label(c, reservation, reserved, label, first):
    """Label the jobs that have begun at this instant; `first` is the place of the first one in `begun`."""
    head = first_item(c.queue)
    reservation[HEAD_OF] = NOBODY
    for i in range(first, c.clock[BEGUN]):
        job = c.begun[i]
        if c.rank[job] < c.rank[head] or (c.rank[job] == c.rank[head] and job < head):
            continue  # in its turn
        if reserved[job]:
            label[job] = RESERVATION
            continue
        if reservation[HEAD_OF] == NOBODY:
            reserve_for_head(c, reservation)
        label[job] = WITHIN if ends_by_shadow(c, reservation, job) else EXTRA
