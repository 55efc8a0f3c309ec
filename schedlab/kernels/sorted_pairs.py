"""A sorted list of (key, item) pairs in two arrays: the waiting queue, the running set, the reservations, the events.

The pairs occupy the window ``[first, last)`` of the arrays; an insertion or a removal moves the shorter side of the
window by one place. Lists here are short (the jobs that wait or run at one instant). Moving a few hundred adjacent
words costs less than following the pointers of a tree or a linked list, or the branches of a heap.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, maker, part, routine

NEVER = np.iinfo(np.int64).max

_FIRST, _LAST = 0, 1  # places in SortedPairs.window


class SortedPairs(NamedTuple):
    """Pairs in ascending (key, item) order; every field is modified in place."""

    key: np.ndarray  # int64 of shape (capacity,), like the items
    item: np.ndarray
    window: np.ndarray  # int64 of shape (2,): the first occupied place and the place after the last


@maker
def new_pairs(capacity):
    """Make an empty list.

    The window wanders through the arrays. When it reaches their end, it is moved back to the front, so `capacity`
    should be twice the most pairs at a time, or the number of insertions if that is smaller.
    """
    return SortedPairs(np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.zeros(2, np.int64))


@part
def is_empty(pairs):
    """Tell whether the list is empty."""
    return pairs.window[_FIRST] == pairs.window[_LAST]


@part
def size_of(pairs):
    """Count the pairs.

    Parameters
    ----------
    pairs : SortedPairs
        Such as ``c.queue``.

    Returns
    -------
    int
    """
    return pairs.window[_LAST] - pairs.window[_FIRST]


@part
def front(pairs):
    """Return the place of the first pair.

    Parameters
    ----------
    pairs : SortedPairs
        Such as ``c.queue``.

    Returns
    -------
    int
    """
    return pairs.window[_FIRST]


@part
def back(pairs):
    """Return the place after the last pair.

    Parameters
    ----------
    pairs : SortedPairs
        Such as ``c.queue``.

    Returns
    -------
    int
    """
    return pairs.window[_LAST]


@part
def first_key(pairs):
    """Return the key of the first pair, or `NEVER` if the list is empty."""
    first = pairs.window[_FIRST]
    return pairs.key[first] if first < pairs.window[_LAST] else NEVER


@part
def first_item(pairs):
    """Return the item of the first pair; the list must not be empty.

    Parameters
    ----------
    pairs : SortedPairs
        Such as ``c.queue``.

    Returns
    -------
    int
    """
    return pairs.item[pairs.window[_FIRST]]


@part
def empty(pairs):
    """Remove all pairs."""
    pairs.window[_FIRST] = pairs.window[_LAST] = 0


@part
def copy_into(pairs, source):
    """Replace the pairs by those of another list; the capacity must suffice."""
    first, last = front(source), back(source)
    for place in range(first, last):
        pairs.key[place - first] = source.key[place]
        pairs.item[place - first] = source.item[place]
    pairs.window[_FIRST], pairs.window[_LAST] = 0, last - first


@part
def drop_before(pairs, place):
    """Remove the pairs before a place."""
    pairs.window[_FIRST] = place


@part
def drop_from(pairs, place):
    """Remove the pairs from a place on."""
    pairs.window[_LAST] = place


@routine
def place_of(pairs, key, item):
    """Find the first place whose pair is not smaller than (key, item)."""
    place = U(pairs.window[_FIRST])
    last = U(pairs.window[_LAST])
    length = last - place
    while length > U(0):  # bisection without a branch to mispredict
        half = (length + U(1)) >> U(1)
        place += half if pairs.key[place + half - U(1)] < key else U(0)
        length -= half
    while place < last and pairs.key[place] == key and pairs.item[place] < item:
        place += U(1)
    return np.int64(place)


@part
def insert_at(pairs, place, key, item):
    """Insert a pair at the place given by `place_of`; return its place after the insertion."""
    first, last = pairs.window[_FIRST], pairs.window[_LAST]
    if last == pairs.key.size:
        for i in range(first, last):
            pairs.key[i - first] = pairs.key[i]
            pairs.item[i - first] = pairs.item[i]
        place, first, last = place - first, 0, last - first
    pairs.window[_FIRST], pairs.window[_LAST] = first, last
    if first > 0 and place - first < last - place:
        _move_down(pairs, first, place)
        place -= 1
        pairs.window[_FIRST] = first - 1
    else:
        _move_up(pairs, place, last)
        pairs.window[_LAST] = last + 1
    pairs.key[place] = key
    pairs.item[place] = item
    return place


@routine
def insert(pairs, key, item):
    """Insert a pair in order."""
    last = pairs.window[_LAST]
    if last == pairs.window[_FIRST] or pairs.key[last - 1] < key:
        insert_at(pairs, last, key, item)
    else:
        insert_at(pairs, place_of(pairs, key, item), key, item)


@part
def pop(pairs):
    """Remove the first pair and return its item."""
    first = pairs.window[_FIRST]
    pairs.window[_FIRST] = first + 1
    return pairs.item[first]


@part
def remove_at(pairs, place):
    """Remove the pair at a place; return the new place of its successor."""
    first, last = pairs.window[_FIRST], pairs.window[_LAST]
    if place - first < last - 1 - place:
        _move_up(pairs, first, place)
        pairs.window[_FIRST] = first + 1
        return place + 1
    _move_down(pairs, place + 1, last)
    pairs.window[_LAST] = last - 1
    return place


@routine
def remove(pairs, key, item):
    """Remove a pair, which must be in the list."""
    remove_at(pairs, place_of(pairs, key, item))


@part
def _move_down(pairs, first, last):
    """Move the pairs of places [first, last) one place towards the front."""
    for array in (pairs.key, pairs.item):
        for i in range(U(first), U(last)):
            array[i - U(1)] = array[i]


@part
def _move_up(pairs, first, last):
    """Move the pairs of places [first, last) one place towards the end."""
    for array in (pairs.key, pairs.item):
        make_room(array, first, last)


@part
def make_room(array, first, last):
    """Move the entries at places [first, last) one place towards the end."""
    for i in range(U(last - first)):
        array[U(last) - i] = array[U(last) - i - U(1)]
