"""The availability profile of a pool: free amounts of several resources as a step function of future time.

As `profile` for one resource: a step holds until the next, the last never ends, adjacent steps differ, and the first is
the one that holds now. Each pool has a profile of its own, in a row of common arrays. Free amounts can be negative: at
instants at which running jobs will be ended by a window.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, part, routine
from .pools import RESOURCES

FRONT, BACK = range(2)
TAKES, FREES = np.int64(-1), np.int64(1)  # signs
SLACK = 1024  # places before the first step that are not worth moving the others


class Steps(NamedTuple):
    """The profiles of all pools; every field is modified in place."""

    key: np.ndarray  # int64 of shape (n_pools, capacity), seconds: where each step begins
    free: np.ndarray  # int64 of shape (n_pools, capacity, 4): what is free from then on
    window: np.ndarray  # int64 of shape (n_pools, 2): the first place in use, and the place after the last


def new_profiles(jobs: int, pools: int, windows: int) -> Steps:
    """Allocate a profile for each pool, as in ``compiled_pool_scheme(memory=new_profiles)``; `fill_profile` fills it.

    Parameters
    ----------
    jobs, pools, windows : int
        How many there are.

    Returns
    -------
    Steps
        Instants (``key``, by pool) and what is free from each instant on (``free``, by pool, step and resource).

    Examples
    --------
    >>> from schedlab.kernels.pool_parts import new_profiles
    >>> new_profiles(jobs=100, pools=2, windows=3).free.shape
    (2, 314, 4)
    """
    room = 3 * jobs + 2 * windows + 8
    steps = np.zeros((pools, room), np.int64), np.zeros((pools, room, RESOURCES), np.int64)
    return Steps(*steps, np.zeros((pools, 2), np.int64))


@part
def clear(steps, pool, now, free):
    """Reduce a profile to a single step with the amounts of the pool's row."""
    steps.window[pool, FRONT] = 0
    steps.window[pool, BACK] = 1
    steps.key[pool, 0] = now
    for i in range(RESOURCES):
        steps.free[pool, 0, i] = free[pool, i]


@part
def append(steps, pool, instant, demand, row, sign):
    """Change the amounts from an instant on, which is not before the last step, by a row of demands."""
    last = steps.window[pool, BACK]
    if steps.key[pool, last - 1] < instant:
        steps.key[pool, last] = instant
        for i in range(RESOURCES):
            steps.free[pool, last, i] = steps.free[pool, last - 1, i]
        last += 1
        steps.window[pool, BACK] = last
    for i in range(RESOURCES):
        steps.free[pool, last - 1, i] += sign * demand[row, i]


@part
def step_at(steps, pool, instant):
    """Find the step that holds at an instant, which must not be before the first step."""
    place = U(steps.window[pool, FRONT])
    length = U(steps.window[pool, BACK]) - place
    while length > U(1):  # bisection without a branch to mispredict
        half = length >> U(1)
        place += half if steps.key[pool, place + half] <= instant else U(0)
        length -= half
    return np.int64(place)


@part
def forget_past(steps, pool, now):
    """Make a profile begin now."""
    first = steps.window[pool, FRONT]
    last = steps.window[pool, BACK]
    while first + 1 < last and steps.key[pool, first + 1] <= now:
        first += 1
    steps.window[pool, FRONT] = first
    steps.key[pool, first] = now
    if first > SLACK + last - first:  # so that few pages of the arrays are ever used
        _move_down(steps, pool, first, last, first)
        steps.window[pool, FRONT] = 0
        steps.window[pool, BACK] = last - first


@part
def _move_down(steps, pool, first, last, by):
    """Move the steps at places [first, last) some places towards the front."""
    key = steps.key
    free = steps.free
    for place in range(U(first), U(last)):
        key[pool, place - U(by)] = key[pool, place]
    for place in range(U(first), U(last)):
        for i in range(RESOURCES):
            free[pool, place - U(by), i] = free[pool, place, i]


@part
def _move_up(steps, pool, first, last):
    """Move the steps at places [first, last) one place towards the end."""
    key = steps.key
    free = steps.free
    for i in range(U(last - first)):
        key[pool, U(last) - i] = key[pool, U(last) - i - U(1)]
    for k in range(U(last - first)):
        for i in range(RESOURCES):
            free[pool, U(last) - k, i] = free[pool, U(last) - k - U(1), i]


@routine
def _insert(steps, pool, place, instant):
    """Insert a step before a place, with the amounts of the step before it; return its place."""
    first = steps.window[pool, FRONT]
    last = steps.window[pool, BACK]
    if last == steps.key.shape[1]:
        _move_down(steps, pool, first, last, first)
        place -= first
        last -= first
        first = 0
        steps.window[pool, FRONT] = first
        steps.window[pool, BACK] = last
    if first > 0 and place - first < last - place:
        _move_down(steps, pool, first, place, np.int64(1))
        steps.window[pool, FRONT] = first - 1
        place -= 1
    else:
        _move_up(steps, pool, place, last)
        steps.window[pool, BACK] = last + 1
    steps.key[pool, place] = instant
    for i in range(RESOURCES):
        steps.free[pool, place, i] = steps.free[pool, place - 1, i]
    return place


@part
def _cut(steps, pool, instant):
    """Make a step begin at an instant; return its place."""
    place = step_at(steps, pool, instant)
    return _insert(steps, pool, place + 1, instant) if steps.key[pool, place] < instant else place


@part
def _join(steps, pool, place):
    """Remove the step at a place if it is like the one before; return by how much later places move to the front."""
    first = steps.window[pool, FRONT]
    last = steps.window[pool, BACK]
    if place == first or place >= last:
        return 0
    for i in range(RESOURCES):
        if steps.free[pool, place, i] != steps.free[pool, place - 1, i]:
            return 0
    if place - first < last - 1 - place:
        _move_up(steps, pool, first, place)
        steps.window[pool, FRONT] = first + 1
        return 0
    _move_down(steps, pool, place + 1, last, np.int64(1))
    steps.window[pool, BACK] = last - 1
    return 1


@routine
def add(steps, pool, begin, end, demand, row, sign):
    """Add a row of demands to what is free on [begin, end), or take it if `sign` is -1; not before the first step."""
    if begin >= end:
        return
    _cut(steps, pool, begin)
    last = _cut(steps, pool, end)
    first = step_at(steps, pool, begin)  # the second cut may have moved it
    for place in range(first, last):
        for i in range(RESOURCES):
            steps.free[pool, U(place), i] += sign * demand[row, i]
    last -= _join(steps, pool, first)
    _join(steps, pool, last)


@routine
def add_from(steps, pool, begin, demand, row):
    """Add a row of demands to what is free from an instant on, not before the first step."""
    first = _cut(steps, pool, begin)
    for place in range(first, steps.window[pool, BACK]):
        for i in range(RESOURCES):
            steps.free[pool, place, i] += demand[row, i]
    _join(steps, pool, first)


@part
def has_room(steps, pool, place, demand, row):
    """Tell whether a step has what a row of demands asks for."""
    short = False
    for i in range(RESOURCES):
        short |= demand[row, i] > steps.free[pool, place, i]
    return not short


@routine
def earliest(steps, pool, demand, row, duration):
    """Find the first instant from which a row of demands is free for so many seconds."""
    key = steps.key
    last = U(steps.window[pool, BACK])
    place = U(steps.window[pool, FRONT])
    while True:
        while not has_room(steps, pool, place, demand, row):  # ends, because the last step has all there is
            place += U(1)
        start = key[pool, place]
        while True:
            place += U(1)
            if place == last or key[pool, place] >= start + duration:
                return start
            if not has_room(steps, pool, place, demand, row):
                break


@routine
def fits_now(steps, pool, demand, row, duration):
    """Tell whether a row of demands is free from the first step on for so many seconds."""
    place = U(steps.window[pool, FRONT])
    last = U(steps.window[pool, BACK])
    end = steps.key[pool, place] + duration
    while place < last and steps.key[pool, place] < end:
        if not has_room(steps, pool, place, demand, row):
            return False
        place += U(1)
    return True


@routine
def earlier(steps, pool, instant, demand, row, duration, latest):
    """Find the earliest instant at which a job with a reservation at `instant` could start before it, or -1.

    The job may use its own reservation: it can slide to an earlier start if its demand is free up to there. Otherwise
    its whole time must be before the steps that stop it from sliding; such starts are searched up to a latest one.
    """
    key = steps.key
    first = U(steps.window[pool, FRONT])
    place = current = U(step_at(steps, pool, instant - 1)) + U(1)
    while place > first and has_room(steps, pool, place - U(1), demand, row):
        place -= U(1)
    if place > first and key[pool, first] <= latest:
        stop = place - U(1)
        while stop > first and not has_room(steps, pool, stop - U(1), demand, row):
            stop -= U(1)
        latest = min(latest, key[pool, stop] - duration)
        start = first
        while key[pool, start] <= latest:  # ends, because the step at `stop` is later and has too little
            end = key[pool, start] + duration
            probe = start
            while has_room(steps, pool, probe, demand, row) and key[pool, probe] < end:
                probe += U(1)
            if key[pool, probe] >= end:
                place = start
                break
            start = probe + U(1)
    return key[pool, place] if place < current else -1
