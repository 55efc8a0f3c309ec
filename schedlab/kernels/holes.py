"""How long the holes of an availability profile are, for jobs of each size class.

Class k is the jobs of 2**(k-1) + 1 to 2**k processors (1; 2; 3-4; 5-8; ...). For each, the longest stretch of time is kept
in which its narrowest job would fit: a bound, raised as processors are freed and never lowered. A job that is longer
than the bound of its class needs no search for a hole.
"""

from typing import NamedTuple

import numpy as np

from ._jit import maker, part, routine
from .ordered import FIRST, LAST
from .profile import step_at


class Holes(NamedTuple):
    """Bounds on the holes.

    Attributes
    ----------
    served : int64, shape (procs + 1,)
        How many classes fit into so many processors; the class of a job is one less.
    longest : int64, shape (n_classes,), seconds
        Modified in place.
    since : int64, shape (n_classes,), seconds
        Scratch: where the hole under measurement begins.
    """

    served: np.ndarray
    longest: np.ndarray
    since: np.ndarray


@maker
def new_holes(procs):
    """Make the bounds for a machine."""
    served = np.zeros(procs + 1, np.int64)
    count, top = 1, 1
    for size in range(1, procs + 1):
        if size > top:
            count, top = count + 1, 2 * top
        served[size] = count
    return Holes(served, np.zeros(count, np.int64), np.zeros(count, np.int64))


@part
def fits_no_hole(holes, procs, duration):
    """Tell whether a job is longer than every hole that was measured for its class."""
    return duration > holes.longest[holes.served[procs] - 1]


@part
def forget_holes(holes):
    """Begin anew: no holes."""
    holes.longest[:] = 0


@routine
def measure_holes(holes, steps, now, begin, end, horizon):
    """Raise the bounds to the holes that touch [begin, end), as far as they lie before the horizon."""
    if begin >= end:
        return
    served, since = holes.served, holes.since
    place = step_at(steps, begin)
    open_classes = served[steps.item[place]]
    _open_backwards(holes, steps, now, place, open_classes)
    place += 1
    while place < steps.window[LAST]:
        instant, fitting = steps.key[place], served[steps.item[place]]
        for size_class in range(fitting, open_classes):
            holes.longest[size_class] = max(holes.longest[size_class], instant - since[size_class])
        if instant < end:
            for size_class in range(open_classes, fitting):
                since[size_class] = instant
            open_classes = fitting
        else:
            open_classes = min(open_classes, fitting)
            if open_classes == 0:
                return
        place += 1
    for size_class in range(open_classes):
        holes.longest[size_class] = max(holes.longest[size_class], horizon - since[size_class])


@part
def _open_backwards(holes, steps, now, place, open_classes):
    """Find where the holes that are open at a place begin."""
    served, since = holes.served, holes.since
    while open_classes > 0:
        begins = max(steps.key[place], now)
        fitting = served[steps.item[place - 1]] if place > steps.window[FIRST] else 0
        for size_class in range(fitting, open_classes):
            since[size_class] = begins
        open_classes = min(open_classes, fitting)
        place -= 1
