"""The availability profile: free processors as a step function of future time.

A sorted list of steps, (time, free): `free` processors from `time` until the next step; the last step never ends.
Adjacent steps never have the same number of free processors, and the first step is the one that holds now.
"""

import numpy as np

from ._jit import U, maker, part, routine
from .sorted_pairs import back, drop_before, empty, front, insert, insert_at, new_pairs, remove_at


@maker
def profile(procs, jobs):
    """Make the profile of an idle machine with room for the places of at most `jobs` jobs at a time.

    A job adds at most two steps; with half as much room again, the list rarely has to be moved to the front.
    """
    steps = new_pairs(3 * jobs + 8)
    clear(steps, 0, procs)
    return steps


@part
def clear(steps, now, free):
    """Reduce the profile to a single step."""
    empty(steps)
    insert_at(steps, 0, now, free)


@part
def step_at(steps, instant):
    """Find the step that holds at an instant, which must not be before the first step."""
    place = U(front(steps))
    length = U(back(steps)) - place
    while length > U(1):  # bisection without a branch to mispredict
        half = length >> U(1)
        place += half if steps.key[place + half] <= instant else U(0)
        length -= half
    return np.int64(place)


@part
def forget_past(steps, now):
    """Make the profile begin now."""
    first, last = front(steps), back(steps)
    while first + 1 < last and steps.key[first + 1] <= now:
        first += 1
    drop_before(steps, first)
    steps.key[first] = now


@routine
def add(steps, begin, end, procs):
    """Add `procs` free processors on [begin, end), or take them if negative.

    Parameters
    ----------
    steps : SortedPairs
        The profile.
    begin, end : int, seconds
        Not before the first step.
    procs : int
        How many; negative to take them.
    """
    if begin < end:
        add_at(steps, _cut(steps, begin), end, procs)


@routine
def add_at(steps, first, end, procs):
    """Add `procs` free processors from the beginning of a step until `end`, which is later."""
    key, free = steps.key, steps.item
    place, last = first, back(steps)
    while place < last and key[U(place)] < end:
        free[U(place)] += procs
        place += 1
    # An insertion or a removal may shift the pairs before it by one place.
    if place == last or key[place] > end:
        first += insert_at(steps, place, end, free[place - 1] - procs) - place
    elif free[place] == free[place - 1]:
        first += remove_at(steps, place) - place
    if first > front(steps) and free[first] == free[first - 1]:
        remove_at(steps, first)


@part
def free_from(steps, begin, procs):
    """Add `procs` free processors permanently, from an instant not before the last step's."""
    last = back(steps) - 1
    free = steps.item[last] + procs
    if begin <= steps.key[last]:
        steps.item[last] = free
    else:
        insert(steps, begin, free)


@part
def _cut(steps, instant):
    """Make a step begin at an instant; return its place."""
    place = step_at(steps, instant)
    if steps.key[place] < instant:
        place = insert_at(steps, place + 1, instant, steps.item[place])
    return place


@routine
def earliest(steps, now, before, procs, duration):
    """Find the earliest start at which `procs` processors are free for `duration` seconds.

    From `before` on, they count as free whatever the profile says: a job that holds a reservation there may use it. A
    duration of zero needs the processors at the start itself.

    Parameters
    ----------
    steps : SortedPairs
        The profile.
    now : int, seconds
        Begin of the profile.
    before : int, seconds
        Instant from which the processors count as free; `NEVER` uses the profile as it is.
    procs, duration : int, seconds
        The processors and the time that are needed.

    Returns
    -------
    int, seconds
    """
    key, free, last = steps.key, steps.item, U(back(steps))
    duration = max(duration, 1)  # in whole seconds, free at an instant means free for a second
    start = now
    place = U(front(steps))
    while True:
        if free[place] < procs:
            while free[place] < procs:  # ends, because the last step has all processors
                place += U(1)
            start = key[place]
            if start >= before:
                return before
        enough = start + min(duration, before - start)
        while True:
            place += U(1)
            if place == last or key[place] >= enough:
                return start
            if free[place] < procs:
                break


@part
def least(steps, begin, end):
    """Return how many processors are free throughout [begin, end).

    Parameters
    ----------
    steps : SortedPairs
        The profile.
    begin, end : int, seconds
        Not before the first step.

    Returns
    -------
    int
    """
    place = step_at(steps, begin)
    fewest = steps.item[place]
    place += 1
    while fewest > 0 and place < back(steps) and steps.key[place] < end:
        fewest = min(fewest, steps.item[place])
        place += 1
    return fewest


@routine
def earlier(steps, instant, procs, duration, latest):
    """Find the earliest place at which a job with a reservation at `instant` could start before it, or -1.

    The job may use its own reservation: it can slide to an earlier start if the processors up to the reservation are
    free. Otherwise its whole time must be before the steps that stop it from sliding; such places are searched up to a
    latest start.
    """
    key, free, first = steps.key, steps.item, U(front(steps))
    place = current = U(step_at(steps, instant - 1)) + U(1)
    while place > first and free[place - U(1)] >= procs:
        place -= U(1)
    if place > first and key[first] <= latest:
        stop = place - U(1)
        while stop > first and free[stop - U(1)] < procs:
            stop -= U(1)
        duration = max(duration, 1)  # as in `earliest`
        latest, start = min(latest, key[stop] - duration), first
        while key[start] <= latest:  # ends, because the step at `stop` is later and has too few processors
            end, probe = key[start] + duration, start
            while free[probe] >= procs and key[probe] < end:
                probe += U(1)
            if key[probe] >= end:
                place = start
                break
            start = probe + U(1)
    return np.int64(place) if place < current else -1
