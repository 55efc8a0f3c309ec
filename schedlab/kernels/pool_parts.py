"""The parts of the kernels for machines of several pools, for `schedlab.compiled_pool_scheme`.

A compiled scheme for pools is a function that is called at each pass in a pool, with the state `c` of the simulation,
the number of the pool, and the scheme's own `memory`. It may use Python's arithmetic, loops and conditions, arrays, and
these parts:

- `c.jobs.submit`, `c.jobs.estimate`: int64 arrays by job, in the order of arrival, as in `schedlab.kernels.parts`.
- ``c.demand[job, i]`` and ``c.free[pool, i]``: what a job needs and what is free, of each of `RESOURCES` resources,
  processors first; unused ones are 0. What is closed is not free. ``c.clock[NOW]`` is the instant.
- The queue of a pool: ``c.queue.item[place]`` is the job at a place, from ``first_of(c, c.queue, pool)`` to
  ``last_of(c, c.queue, pool)`` - 1; likewise the running jobs, ``c.running``, by estimated end.
- Whether a job may start now: `exceeds` tells whether a limit says no, so that it is passed over, and `fits` whether
  it has room for its whole estimate. `begin` starts the job at a place, and returns the place of the next one.
- One reservation a pool, in a memory that `new_heads` makes: `start_heads`, `may_start`, `begin_behind_head`.
- Many reservations, in profiles that `new_profiles` makes: `fill_profile` (from running jobs and known windows),
  `earliest`, `take`. A job can start if ``earliest`` returns the current instant. `c.promise[job]` is a job's first
  reservation, -1 until then, as in `schedlab.kernels.parts`.

`begin` and `begin_behind_head` refuse a job that runs already, one of another pool, one that has no room, and one over
a limit: the simulation then ends with an error. All other hazards are those of `schedlab.kernels.parts`. Where no limit
couples the pools, they are simulated one by one, each as pool 0 and with its own resources only: do not go by the
number of a pool.

Examples
--------
EASY backfilling:

>>> import schedlab as sl
>>> from schedlab.kernels.pool_parts import *
>>> @sl.compiled_pool_scheme(memory=new_heads)
... def easy(c, pool, heads):
...     place = start_heads(c, heads, pool)
...     while place < last_of(c, c.queue, pool):
...         job = c.queue.item[place]
...         if not exceeds(c, job) and may_start(c, heads, pool, job):
...             place = begin_behind_head(c, heads, pool, place)
...         else:
...             place += 1
>>> trace = sl.testing.trace_of([(0, 50, 60, 3), (10, 30, 30, 4), (11, 20, 20, 1)], machine=4)
>>> machine = sl.Pools({"batch": sl.Pool(4)}, closed=[sl.Closed(70, 100)], column="pool")
>>> sl.simulate(trace, easy, machine=machine).jobs["start_time"].tolist()
[0, 100, 11]

Conservative backfilling, with all reservations made anew at each pass:

>>> @sl.compiled_pool_scheme(memory=new_profiles)
... def conservative(c, pool, profiles):
...     fill_profile(c, profiles, pool)
...     place = first_of(c, c.queue, pool)
...     while place < last_of(c, c.queue, pool):
...         job = c.queue.item[place]
...         if exceeds(c, job):
...             place += 1
...             continue
...         start = earliest(c, profiles, pool, job)
...         take(c, profiles, pool, job, start)
...         place = begin(c, pool, place) if start == c.clock[NOW] else place + 1
>>> sl.simulate(trace, conservative, machine=machine).jobs["start_time"].tolist()
[0, 100, 11]
"""

import numpy as np

from ._jit import part
from .cluster import NOW, WAITS
from .pools import CULPRIT, FAULT, NOBODY, RESOURCES, exceeds, fits
from .pools import begin as begin_unchecked
from .pools import first_of as first_in
from .pools import last_of as last_in
from .pools_conservative import fill
from .pools_easy import may_start, new_heads, start_behind_head
from .pools_easy import start_heads as start_and_reserve
from .pools_profile import TAKES, add, new_profiles
from .pools_profile import earliest as earliest_of
from .sorted_pairs import NEVER

__all__ = [
    "NEVER",
    "NOBODY",
    "NOW",
    "RESOURCES",
    "begin",
    "begin_behind_head",
    "earliest",
    "exceeds",
    "fill_profile",
    "first_of",
    "fits",
    "last_of",
    "may_start",
    "new_heads",
    "new_profiles",
    "start_heads",
    "take",
]

OTHER_POOL, OVER_LIMIT, NO_ROOM, RUNS = range(1, 5)  # what is wrong with a start
BACKFILLS = np.bool_(True)


@part
def _may_begin(c, pool, place):
    """Tell whether the job at a place of the queue may start, and note what is wrong if not; the first wrong counts."""
    job = c.queue.item[place]
    if c.news[pool, FAULT]:
        return False
    if c.start[job] != WAITS:
        c.news[pool, FAULT] = RUNS
    elif c.place[job] != pool:
        c.news[pool, FAULT] = OTHER_POOL
    elif exceeds(c, job):
        c.news[pool, FAULT] = OVER_LIMIT
    elif not fits(c, pool, job):
        c.news[pool, FAULT] = NO_ROOM
    c.news[pool, CULPRIT] = job
    return c.news[pool, FAULT] == 0


@part
def begin(c, pool, place):
    """Start the waiting job at a place of the pool's queue; return the new place of its successor.

    Parameters
    ----------
    c : Pools
        The state of the simulation.
    pool : int
        The pool of this pass.
    place : int
        Place in the queue.

    Returns
    -------
    int
    """
    return begin_unchecked(c, place) if _may_begin(c, pool, place) else place + 1


@part
def first_of(c, pairs, pool):
    """Return the first place of a pool's stretch of the queue or the running jobs, or of where it would be.

    Parameters
    ----------
    c : Pools
        The state of the simulation.
    pairs : SortedPairs
        ``c.queue`` or ``c.running``.
    pool : int
        Number of the pool.

    Returns
    -------
    int
    """
    return first_in(pairs, pool)


@part
def last_of(c, pairs, pool):
    """Return the place after a pool's stretch.

    Parameters
    ----------
    c, pairs, pool
        As in `first_of`.

    Returns
    -------
    int
    """
    return last_in(pairs, pool)


@part
def start_heads(c, heads, pool):
    """Start jobs down the queue of a pool to the first within its limits that does not fit, and reserve for that.

    Parameters
    ----------
    c : Pools
        The state of the simulation.
    heads : Heads
        Receives the head, its shadow time, and what it leaves over then.
    pool : int
        The pool of this pass.

    Returns
    -------
    int
        The place behind the head, from which on candidates for backfilling stand.
    """
    waiting = start_and_reserve(c, heads, pool, BACKFILLS)
    return last_in(c.queue, pool) - waiting


@part
def begin_behind_head(c, heads, pool, place):
    """Start a waiting job that `may_start`; return the place of its successor.

    Parameters
    ----------
    c : Pools
        The state of the simulation.
    heads : Heads
        The reservations; what the head of this pool leaves over is reduced.
    pool : int
        The pool of this pass.
    place : int
        Place in the queue.

    Returns
    -------
    int
    """
    return start_behind_head(c, heads, pool, place) if _may_begin(c, pool, place) else place + 1


@part
def fill_profile(c, profiles, pool):
    """Make the profile of what the running jobs, by their estimates, and the known windows leave free.

    Parameters
    ----------
    c : Pools
        The state of the simulation.
    profiles : Steps
        The profiles; that of this pool is made anew.
    pool : int
        The pool of this pass.
    """
    fill(c, profiles, pool, c.clock[NOW])


@part
def earliest(c, profiles, pool, job):
    """Return the first instant from which a job has room for its whole estimate.

    Parameters
    ----------
    c : Pools
        The state of the simulation.
    profiles : Steps
        The profiles.
    pool : int
        The pool of this pass.
    job : int
        A waiting job.

    Returns
    -------
    int
    """
    return earliest_of(profiles, pool, c.demand, job, c.jobs.estimate[job])


@part
def take(c, profiles, pool, job, instant):
    """Take from a profile what a job needs, from an instant on for its whole estimate.

    Parameters
    ----------
    c : Pools
        The state of the simulation.
    profiles : Steps
        The profiles; that of this pool is changed.
    pool : int
        The pool of this pass.
    job : int
        A waiting job.
    instant : int
        Seconds; not before now.
    """
    add(profiles, pool, instant, instant + c.jobs.estimate[job], c.demand, job, TAKES)
