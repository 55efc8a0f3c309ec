"""A binary heap of (time, item) pairs: the smallest time first, ties by item."""

from typing import NamedTuple

import numpy as np

from ._jit import maker, routine


class Heap(NamedTuple):
    """Pairs in heap order; every field is modified in place.

    Attributes
    ----------
    time, item : int64, shape (capacity,)
    size : int64, shape (1,)
    """

    time: np.ndarray
    item: np.ndarray
    size: np.ndarray


@maker
def heap(most):
    """Make an empty heap for at most `most` pairs at a time."""
    return Heap(np.empty(most, np.int64), np.empty(most, np.int64), np.zeros(1, np.int64))


@routine
def push(pairs, time, item):
    """Add a pair."""
    place = pairs.size[0]
    pairs.size[0] = place + 1
    while place > 0:
        parent = (place - 1) >> 1
        above = pairs.time[parent]
        if above < time or (above == time and pairs.item[parent] < item):
            break
        pairs.time[place] = above
        pairs.item[place] = pairs.item[parent]
        place = parent
    pairs.time[place] = time
    pairs.item[place] = item


@routine
def pop(pairs):
    """Take out the first pair and give its item."""
    top = pairs.item[0]
    size = pairs.size[0] - 1
    pairs.size[0] = size
    time, item = pairs.time[size], pairs.item[size]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        other = child + 1
        if other < size and (
            pairs.time[other] < pairs.time[child]
            or (pairs.time[other] == pairs.time[child] and pairs.item[other] < pairs.item[child])
        ):
            child = other
        below = pairs.time[child]
        if time < below or (time == below and item < pairs.item[child]):
            break
        pairs.time[place] = below
        pairs.item[place] = pairs.item[child]
        place = child
    pairs.time[place] = time
    pairs.item[place] = item
    return top
