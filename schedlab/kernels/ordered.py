"""A sorted list of (key, item) pairs in two arrays: the waiting queue, the running set, the reservations.

The pairs occupy the window ``[first, last)`` of the arrays; an insertion or a removal moves the shorter side of
the window by one place. Lists here are short (what waits or runs at one instant), and moving a few
hundred neighbouring words costs less than following the pointers of a tree or a linked list.
"""

from typing import NamedTuple

import numpy as np

from ._jit import maker, part, routine

FIRST, LAST = 0, 1


class Ordered(NamedTuple):
    """Pairs in ascending (key, item) order; every field is modified in place.

    Attributes
    ----------
    key, item : int64, shape (capacity,)
    window : int64, shape (2,)
        The first occupied place and the place after the last.
    """

    key: np.ndarray
    item: np.ndarray
    window: np.ndarray


@maker
def ordered(capacity):
    """Make an empty list.

    The window wanders through the arrays. When it meets their end it is carried back to the front, so
    `capacity` should be twice the most pairs at a time, or the number of insertions if that is smaller.
    """
    return Ordered(np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.zeros(2, np.int64))


@routine
def place_of(pairs, key, item):
    """Find the first place whose pair is not smaller than (key, item)."""
    place = pairs.window[FIRST]
    length = pairs.window[LAST] - place
    while length > 0:  # halving without a branch to mispredict
        half = (length + 1) >> 1
        place += half if pairs.key[place + half - 1] < key else 0
        length -= half
    while place < pairs.window[LAST] and pairs.key[place] == key and pairs.item[place] < item:
        place += 1
    return place


@routine
def insert(pairs, key, item):
    """Put a pair in its place; give that place."""
    first, last = pairs.window[FIRST], pairs.window[LAST]
    if last == pairs.key.size:
        for i in range(first, last):
            pairs.key[i - first] = pairs.key[i]
            pairs.item[i - first] = pairs.item[i]
        first, last = 0, last - first
    pairs.window[FIRST], pairs.window[LAST] = first, last
    place = place_of(pairs, key, item)
    if first > 0 and place - first < last - place:
        for i in range(first, place):
            pairs.key[i - 1] = pairs.key[i]
            pairs.item[i - 1] = pairs.item[i]
        place -= 1
        pairs.window[FIRST] = first - 1
    else:
        for i in range(last, place, -1):
            pairs.key[i] = pairs.key[i - 1]
            pairs.item[i] = pairs.item[i - 1]
        pairs.window[LAST] = last + 1
    pairs.key[place] = key
    pairs.item[place] = item
    return place


@routine
def remove_at(pairs, place):
    """Take out the pair at a place; give the place where its successor now stands."""
    first, last = pairs.window[FIRST], pairs.window[LAST]
    if place - first < last - 1 - place:
        for i in range(place, first, -1):
            pairs.key[i] = pairs.key[i - 1]
            pairs.item[i] = pairs.item[i - 1]
        pairs.window[FIRST] = first + 1
        return place + 1
    for i in range(place, last - 1):
        pairs.key[i] = pairs.key[i + 1]
        pairs.item[i] = pairs.item[i + 1]
    pairs.window[LAST] = last - 1
    return place


@part
def remove(pairs, key, item):
    """Take out a pair that is there."""
    remove_at(pairs, place_of(pairs, key, item))
