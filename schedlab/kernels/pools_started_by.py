"""How each job of a schedule on a machine of several pools started; see `started_by`, which is for one resource.

The criterion is the same: which jobs within the limits still wait in the pool after all starts of an instant.
"""

from ._jit import kernel, part
from .cluster import BEGUN, NOW, WAITS
from .pools import ONE, PASSED, advance, begin, exceeds, first_of, fits, last_of, settle, sort_pool
from .pools_easy import place_in_queue, reserve
from .sorted_pairs import NEVER
from .started_by import EXTRA, RESERVATION, WITHIN


@kernel
def pools_started_by(c, heads, label, order, run_of, start_of, reserved, halt):
    """Label each job with how its last run started: int8, as `started_by`.

    `run_of` and `start_of` list the jobs and starts of all runs, by start; `reserved` marks jobs that waited
    with a reservation; otherwise as `pools_easy`.
    """
    pools = c.news.shape[0]
    questions = (order.question, order.question, order.question)
    while advance(c, _next(c.clock, start_of), halt):
        settle(c, questions, ONE)
        before = c.clock[BEGUN]
        if _next(c.clock, start_of) > c.clock[NOW]:
            continue
        if order.moving:
            for pool in range(pools):
                sort_pool(c, pool, order.question)
        while _next(c.clock, start_of) == c.clock[NOW]:
            begin(c, place_in_queue(c, run_of[c.clock[BEGUN]]))
        for pool in range(pools):
            _label(c, heads, pool, reserved, label, before)


@part
def _next(clock, start_of):
    """Return the instant of the next start, or `NEVER`."""
    return start_of[clock[BEGUN]] if clock[BEGUN] < start_of.size else NEVER


@part
def _label(c, heads, pool, reserved, label, before):
    """Label the jobs of a pool that have begun at this instant; `before` is the place of the first in `begun`."""
    head = WAITS
    for place in range(first_of(c.queue, pool), last_of(c.queue, pool)):
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
