"""Replay one site of `shredding`, to check the local scheduler's decisions and that tasks respect its promises.

The events at the site are taken from the log: arrivals, starts of parallel jobs and of tasks, withdrawals. The promises
of the local scheduler are recomputed at every step, by plain rules that share no code with the schemes' kernels except
the profile. Tasks may start only when the local scheduler has nothing left to start. They must not delay the shadow
time of EASY's head, nor any reservation of conservative backfilling. Parallel jobs must start when the local scheduler
would start them. Under EASY that is the head if it fits, or another job if it does not delay the head; under
conservative backfilling, a job at its reservation. At no instant may a job wait that could start.
"""

from typing import NamedTuple

import numpy as np

from ._jit import kernel, part, routine
from .profile import add, earliest, forget_past, least, profile
from .sites import ANOTHER_ROUND, COMPRESSED, JOB_STARTS, TASKS_START
from .sorted_pairs import NEVER, SortedPairs, back, first_item, first_key, front, insert, new_pairs, pop, remove

JOB_ARRIVES, JOB_WITHDRAWN = 4, 5  # further kinds of events
KEPT, OVERLOOKED, DELAYED, UNDUE = range(4)  # possible results


class Site(NamedTuple):
    """The state of the site, modified in place, and the properties of its pieces and entries."""

    queue: SortedPairs  # entries; the key is the entry, since entries are numbered in queue order
    ends: SortedPairs  # pieces by end
    running: SortedPairs  # pieces by estimated end
    steps: SortedPairs  # the availability profile, under conservative backfilling
    reserved: np.ndarray  # int64 of shape (n_entries,), ticks
    free: np.ndarray  # int64 of shape (1,)
    # int64 of shape (n_pieces,); the last two of shape (n_entries,).
    end: np.ndarray
    expected: np.ndarray
    procs: np.ndarray
    width: np.ndarray
    estimate: np.ndarray


class Events(NamedTuple):
    """The events at the site, in order; each int64, shape (n_events,)."""

    time: np.ndarray  # ticks
    kind: np.ndarray  # as in `shredding`'s log, or `JOB_ARRIVES`, `JOB_WITHDRAWN`
    entry: np.ndarray  # of the queue
    piece: np.ndarray  # the piece that then held processors
    more: np.ndarray  # a second piece of the same job, or -1


@kernel
def replay(events, end, expected, procs, width, estimate, machine, conservative):
    """Follow a site, event by event, up to the first one that violates a rule; return verdict and instant (ticks).

    The pieces have `end`, `expected` (estimated end) and `procs`; the entries have `width` (requested processors) and
    `estimate`. Verdicts: `KEPT`; `OVERLOOKED`: a job waits that the local scheduler should have started; `DELAYED`:
    tasks disturb its promises; `UNDUE`: it starts a job that it should not start.
    """
    n, entries = end.size, width.size
    steps, free = profile(machine, n + entries), np.full(1, machine, np.int64)
    reserved = np.full(entries, NEVER, np.int64)
    site = Site(
        new_pairs(entries), new_pairs(n), new_pairs(n), steps, reserved, free, end, expected, procs, width, estimate
    )
    now, place, time = np.int64(0), 0, events.time
    while True:
        then = min(first_key(site.ends), time[place] if place < time.size else NEVER)
        if _overlooks(site, now, then, conservative):
            return OVERLOOKED, now
        if then == NEVER:
            return KEPT, now
        now = then
        _complete(site, now, conservative)
        while place < time.size and time[place] == now:
            verdict = _happens(site, now, events, place, conservative)
            if verdict != KEPT:
                return verdict, now
            place += 1


@routine
def _happens(site, now, events, place, conservative):
    """Apply an event, and return what is wrong with it."""
    queue, free = site.queue, site.free
    kind, entry, piece, more = events.kind[place], events.entry[place], events.piece[place], events.more[place]
    if kind == ANOTHER_ROUND:
        _complete(site, now, conservative)
    elif kind == COMPRESSED:
        _compress(site, now)
    elif kind == JOB_ARRIVES:
        insert(queue, entry, entry)
        if conservative:
            _reserve(site, entry, earliest(site.steps, now, NEVER, site.width[entry], site.estimate[entry]))
    elif kind == JOB_WITHDRAWN:
        remove(queue, entry, entry)
        if conservative:
            _unreserve(site, entry)
    elif kind == JOB_STARTS:
        due = site.reserved[entry] == now if conservative else site.width[entry] <= free[0]
        if not due:
            return UNDUE
        remove(queue, entry, entry)
        before = NEVER if conservative or entry < first_key(queue) else _reservation(site, now)[0]
        held = _hold(site, piece) + (_hold(site, more) if more >= 0 else 0)
        if conservative and held < site.width[entry]:  # it does not need all reserved processors
            add(site.steps, now, now + site.estimate[entry], site.width[entry] - held)
        if before < NEVER and _reservation(site, now)[0] > before:
            return UNDUE
    elif kind == TASKS_START:
        if _overlooks(site, now, now, conservative):
            return OVERLOOKED
        count, until = site.procs[piece], site.expected[piece]
        if conservative:
            if least(site.steps, now, until) < count:
                return DELAYED
            add(site.steps, now, until, -count)
        before = _reservation(site, now)[0]
        _hold(site, piece)
        if not conservative and _reservation(site, now)[0] > before:
            return DELAYED
    return KEPT


@routine
def _complete(site, now, conservative):
    early = False
    while first_key(site.ends) <= now:
        piece = pop(site.ends)
        until, procs = site.expected[piece], site.procs[piece]
        remove(site.running, until, piece)
        site.free[0] += procs
        if until > now:
            early = True
            if conservative:
                add(site.steps, now, until, procs)
    if conservative:
        forget_past(site.steps, now)
        if early:
            _compress(site, now)


@part
def _hold(site, piece):
    insert(site.ends, site.end[piece], piece)
    insert(site.running, site.expected[piece], piece)
    site.free[0] -= site.procs[piece]
    return site.procs[piece]


@routine
def _overlooks(site, now, then, conservative):
    """Tell whether a queued job could start now, or should have started before the next instant."""
    queue, free = site.queue, site.free[0]
    first, last = front(queue), back(queue)
    if conservative:
        for place in range(first, last):
            reserved = site.reserved[queue.item[place]]
            if reserved <= now or reserved < then:
                return True
        return False
    if first == last:
        return False
    shadow, extra = _reservation(site, now)
    if site.width[queue.item[first]] <= free:
        return True
    for place in range(first + 1, last):
        entry = queue.item[place]
        width = site.width[entry]
        if width <= free and (now + site.estimate[entry] <= shadow or width <= extra):
            return True
    return False


@part
def _reservation(site, now):
    """Find when the head of the queue can start if all pieces end at their estimated ends, and what it leaves over."""
    queue, running = site.queue, site.running
    shadow, free = now, site.free[0]
    if front(queue) == back(queue):
        return shadow, free
    width = site.width[first_item(queue)]
    place = front(running)
    while place < back(running) and (free < width or running.key[place] == shadow):
        shadow = running.key[place]
        free += site.procs[running.item[place]]
        place += 1
    return shadow, free - width


@part
def _reserve(site, entry, instant):
    add(site.steps, instant, instant + site.estimate[entry], -site.width[entry])
    site.reserved[entry] = instant


@part
def _unreserve(site, entry):
    instant = site.reserved[entry]
    add(site.steps, instant, instant + site.estimate[entry], site.width[entry])


@routine
def _compress(site, now):
    queue = site.queue
    for place in range(front(queue), back(queue)):
        entry = queue.item[place]
        instant = site.reserved[entry]
        if instant > now:
            _unreserve(site, entry)
            better = earliest(site.steps, now, NEVER, site.width[entry], site.estimate[entry])
            _reserve(site, entry, min(better, instant))
