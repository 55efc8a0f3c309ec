"""Bounds on the length of the holes of an availability profile, for jobs of each size class.

Class k contains the jobs of 2**(k-1) + 1 to 2**k processors (1; 2; 3-4; 5-8; ...). For each class, a bound is kept on
the longest stretch of time in which its narrowest job would fit. The bound is raised when processors are freed, but not
lowered when they are taken. A job that is longer than the bound of its class needs no search for a hole.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, maker, part, routine
from .profile import step_at
from .sorted_pairs import back, front

NO_BOUND = np.iinfo(np.int64).max

# Places in HoleBounds.memory.
ENOUGH, UNBOUNDED = range(2)


class HoleBounds(NamedTuple):
    """Bounds on the holes."""

    # int64 of shape (procs + 1,): the number of classes that fit into a number of processors; the class of a job is one
    # less.
    served: np.ndarray
    # int64 of shape (n_classes,), seconds: modified in place; `NO_BOUND` in the first `memory[UNBOUNDED]` classes.
    longest: np.ndarray
    since: np.ndarray  # int64 of shape (n_classes,), seconds: scratch: where the hole under measurement begins
    # int64 of shape (2,): a length in seconds beyond which a hole need not be measured, since hardly any job is longer;
    # and the number of classes that have such a hole. Modified in place.
    memory: np.ndarray


@maker
def new_holes(procs):
    """Make the bounds for a machine."""
    served = np.zeros(procs + 1, np.int64)
    count, top = 1, 1
    for size in range(1, procs + 1):
        if size > top:
            count, top = count + 1, 2 * top
        served[size] = count
    return HoleBounds(served, np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(2, np.int64))


@part
def fits_no_hole(holes, procs, duration):
    """Tell whether a job is longer than every hole measured for its class."""
    return duration > holes.longest[holes.served[procs] - 1]


@part
def forget_holes(holes, enough):
    """Reset: no holes, and none to be measured beyond a length."""
    holes.longest[:] = 0
    holes.memory[ENOUGH], holes.memory[UNBOUNDED] = enough, 0


@routine
def measure_holes(holes, steps, now, begin, end):
    """Raise the bounds to the holes that touch [begin, end), as far as they are before the last step."""
    served, memory = holes.served, holes.memory
    if begin >= end or memory[UNBOUNDED] == holes.longest.size:
        return
    first = step_at(steps, begin)
    fitting = served[steps.item[first]]
    _open_backwards(holes, steps, now, first, fitting)
    for place in range(U(first + 1), U(back(steps))):
        instant, before = steps.key[place], fitting
        fitting = served[steps.item[place]]
        _close(holes, fitting, before, instant)
        if instant >= end:
            fitting = min(fitting, before)  # a hole that opens here does not touch the freed stretch
            if fitting <= memory[UNBOUNDED]:
                return
        for size_class in range(before, fitting):
            holes.since[size_class] = instant
    _close(holes, 0, fitting, steps.key[back(steps) - 1])


@part
def _close(holes, first, last, instant):
    """Measure the open holes of classes below `last` at an instant; those from class `first` on end there."""
    longest, since, memory = holes.longest, holes.since, holes.memory
    unbounded = memory[UNBOUNDED]
    while unbounded < last and instant - since[unbounded] >= memory[ENOUGH]:
        longest[unbounded] = NO_BOUND
        unbounded += 1
    memory[UNBOUNDED] = unbounded
    for size_class in range(max(first, unbounded), last):
        longest[size_class] = max(longest[size_class], instant - since[size_class])


@part
def _open_backwards(holes, steps, now, place, open_classes):
    """Find where the holes begin that are open at a place."""
    served, since = holes.served, holes.since
    while open_classes > holes.memory[UNBOUNDED]:
        begins = max(steps.key[place], now)
        fitting = served[steps.item[place - 1]] if place > front(steps) else 0
        for size_class in range(fitting, open_classes):
            since[size_class] = begins
        open_classes = min(open_classes, fitting)
        place -= 1
