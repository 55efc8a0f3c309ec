"""A replay of one site of `shredding`: are its local scheduler's decisions its own, and do tasks leave its promises be?

What happened at the site is taken from the log: arrivals, starts of parallel jobs and of tasks, withdrawals. What the
local scheduler has promised is found anew at every step, by plain rules that share nothing with the schemes' kernels
but the profile. Tasks start only when the local scheduler has nothing left to start, and leave the shadow time of
EASY's head where it is without them, and every reservation of conservative backfilling. Parallel jobs start when the
local scheduler would start them: the head if it fits, another one if the head is not delayed, or, under conservative
backfilling, at the reservation. At no instant is a job left waiting that could start.
"""

from typing import NamedTuple

import numpy as np

from ._jit import kernel, part, routine
from .ordered import FIRST, LAST, Ordered, insert, ordered, pop, remove
from .profile import NEVER, add, earliest, forget_past, least, profile
from .shredding import AGAIN, COMPRESSED, JOB, TASKS

ARRIVED, WITHDRAWN = 4, 5  # further kinds of events
KEPT, OVERLOOKED, DELAYED, UNDUE = range(4)  # what is found


class Site(NamedTuple):
    """The state of the site, modified in place, and what its pieces and entries are.

    Attributes
    ----------
    queue : Ordered
        Entries; the key is the entry, since they are numbered in the order of the queue.
    ends, running : Ordered
        Pieces by end, and by estimated end.
    steps : Ordered
        The availability profile, under conservative backfilling.
    reserved : int64, shape (n_entries,), ticks
    free : int64, shape (1,)
    end, expected, procs : int64, shape (n_pieces,)
    width, estimate : int64, shape (n_entries,)
    """

    queue: Ordered
    ends: Ordered
    running: Ordered
    steps: Ordered
    reserved: np.ndarray
    free: np.ndarray
    end: np.ndarray
    expected: np.ndarray
    procs: np.ndarray
    width: np.ndarray
    estimate: np.ndarray


@kernel
def replay(time, kind, entry, piece, more, end, expected, procs, width, estimate, machine, local):
    """Follow a site, event by event, to the first that should not have been.

    Parameters
    ----------
    time, kind, entry, piece, more : int64, shape (n_events,)
        In the order in which they happened: ticks; as in `shredding`'s log, or arrived or withdrawn; the entry of the
        queue; what then held processors, and a second piece of the same job, or -1.
    end, expected, procs : int64, shape (n_pieces,)
        Ticks; the estimated end; processors.
    width, estimate : int64, shape (n_entries,)
        Processors asked for; ticks.
    machine : int
    local : bool
        Conservative backfilling, not EASY.

    Returns
    -------
    found : {KEPT, OVERLOOKED, DELAYED, UNDUE}
        A job waits that the local scheduler should have started; tasks disturb what it promised; it starts a job that
        it should not.
    now : int, ticks
    """
    n, entries = end.size, width.size
    steps, free = profile(machine, n + entries), np.full(1, machine, np.int64)
    reserved = np.full(entries, NEVER, np.int64)
    site = Site(ordered(entries), ordered(n), ordered(n), steps, reserved, free, end, expected, procs, width, estimate)
    now, place = np.int64(0), 0
    while True:
        then = min(_first(site.ends), time[place] if place < time.size else NEVER)
        if _overlooks(site, now, then, local):
            return OVERLOOKED, now
        if then == NEVER:
            return KEPT, now
        now = then
        _complete(site, now, local)
        while place < time.size and time[place] == now:
            found = _happens(site, now, kind[place], entry[place], piece[place], more[place], local)
            if found != KEPT:
                return found, now
            place += 1


@part
def _first(pairs):
    return pairs.key[pairs.window[FIRST]] if pairs.window[FIRST] < pairs.window[LAST] else NEVER


@routine
def _happens(site, now, kind, entry, piece, more, local):
    """Let an event happen, and tell what is wrong with it."""
    queue, free = site.queue, site.free
    if kind == AGAIN:
        _complete(site, now, local)
    elif kind == COMPRESSED:
        _compress(site, now)
    elif kind == ARRIVED:
        insert(queue, entry, entry)
        if local:
            _reserve(site, entry, earliest(site.steps, now, NEVER, site.width[entry], site.estimate[entry]))
    elif kind == WITHDRAWN:
        remove(queue, entry, entry)
        if local:
            _unreserve(site, entry)
    elif kind == JOB:
        due = site.reserved[entry] == now if local else site.width[entry] <= free[0]
        if not due:
            return UNDUE
        remove(queue, entry, entry)
        before = NEVER if local or entry < _first(queue) else _reservation(site, now)[0]
        held = _hold(site, piece) + (_hold(site, more) if more >= 0 else 0)
        if local and held < site.width[entry]:  # it does not need all that was reserved
            add(site.steps, now, now + site.estimate[entry], site.width[entry] - held)
        if before < NEVER and _reservation(site, now)[0] > before:
            return UNDUE
    elif kind == TASKS:
        if _overlooks(site, now, now, local):
            return OVERLOOKED
        count, until = site.procs[piece], site.expected[piece]
        if local:
            if least(site.steps, now, until) < count:
                return DELAYED
            add(site.steps, now, until, -count)
        before = _reservation(site, now)[0]
        _hold(site, piece)
        if not local and _reservation(site, now)[0] > before:
            return DELAYED
    return KEPT


@routine
def _complete(site, now, local):
    early = False
    while _first(site.ends) <= now:
        piece = pop(site.ends)
        until, procs = site.expected[piece], site.procs[piece]
        remove(site.running, until, piece)
        site.free[0] += procs
        if until > now:
            early = True
            if local:
                add(site.steps, now, until, procs)
    if local:
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
def _overlooks(site, now, then, local):
    """Tell whether a queued job could start now, or should have before the next instant."""
    queue, free = site.queue, site.free[0]
    first, last = queue.window[FIRST], queue.window[LAST]
    if local:
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
    """Find when the head of the queue can start if all pieces end at their estimated ends, and what is left then."""
    queue, running = site.queue, site.running
    shadow, free = now, site.free[0]
    if queue.window[FIRST] == queue.window[LAST]:
        return shadow, free
    width = site.width[queue.item[queue.window[FIRST]]]
    place = running.window[FIRST]
    while place < running.window[LAST] and (free < width or running.key[place] == shadow):
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
    for place in range(queue.window[FIRST], queue.window[LAST]):
        entry = queue.item[place]
        instant = site.reserved[entry]
        if instant > now:
            _unreserve(site, entry)
            better = earliest(site.steps, now, NEVER, site.width[entry], site.estimate[entry])
            _reserve(site, entry, min(better, instant))
