"""How each job of a schedule on a machine of several pools started; see `started_by`, which is for one resource.

The criterion is the same: which jobs within the limits still wait in the pool after all starts of an instant.
"""

import numpy as np

from ._jit import kernel, part
from .cluster import BEGUN, NAN, NOW, WAITS
from .pools import PASSED, SPAN, UNORDERED, advance, begin, exceeds, first_of, fits, last_of, new_pools, sort_pool
from .pools_easy import new_heads, reserve
from .questions import look
from .sorted_pairs import NEVER, place_of
from .started_by import EXTRA, RESERVATION, WITHIN


@kernel
def pools_started_by(jobs, machine, order, no_order, veto, run_of, start_of, reserved, halt):
    """Label each job with how its last run started: int8, as `started_by`.

    `run_of` and `start_of` list the jobs and starts of all runs, by start; `reserved` marks jobs that waited
    with a reservation; otherwise as `pools_easy`.
    """
    place, demand, capacity, windows, limits, requeues, runs = machine
    n = jobs.submit.size
    pools = capacity.shape[0]
    c = new_pools(jobs, place, demand, capacity, windows, limits, requeues, runs, order.rank, order.moving, halt)
    heads = new_heads(pools)
    score = np.empty(n if order.moving else 0, np.float64)
    label = np.zeros(n, np.int8)
    while advance(c, _next(c, start_of), order, no_order, UNORDERED, veto):
        look(c, order.question)
        before = c.clock[BEGUN]
        if _next(c, start_of) > c.clock[NOW]:
            continue
        for pool in range(pools):
            sort_pool(c, pool, order, score)
        while _next(c, start_of) == c.clock[NOW]:
            job = run_of[c.clock[BEGUN]]
            begin(c, place_of(c.queue, c.place[job] * SPAN + c.rank[job], job))
        for pool in range(pools):
            _label(c, heads, pool, reserved, label, before)
    if c.clock[NAN]:
        raise ValueError("the order of the queue gives nan")
    return label


@part
def _next(c, start_of):
    """Return the instant of the next start, or `NEVER`."""
    return start_of[c.clock[BEGUN]] if c.clock[BEGUN] < start_of.size else NEVER


@part
def _label(c, heads, pool, reserved, label, before):
    """Label the jobs of a pool that have begun at this instant; `before` is the place of the first in `begun`."""
    head = WAITS
    for place in range(first_of(c, c.queue, pool), last_of(c, c.queue, pool)):
        if not exceeds(c, c.queue.item[place]):
            head = c.queue.item[place]
            break
    c.news[pool, PASSED] = 0
    shadow = WAITS
    for i in range(before, c.clock[BEGUN]):
        job = c.begun[i]
        if c.place[job] != pool:
            continue
        label[job] = 0
        if head == WAITS or c.rank[job] < c.rank[head] or (c.rank[job] == c.rank[head] and job < head):
            continue  # in its turn
        if reserved[job]:
            label[job] = RESERVATION
            continue
        if shadow == WAITS:
            shadow = c.clock[NOW]
            if not fits(c, pool, head):  # it may: its reservation is later, or a limit has held it back
                reserve(c, heads, pool, head)
                shadow = heads.shadow[pool]
        label[job] = WITHIN if c.clock[NOW] + c.jobs.estimate[job] <= shadow else EXTRA
