"""The parts of the kernels, for user-defined compiled schemes (`schedlab.compiled_scheme`).

A compiled scheme is a function that is called at each pass with the state `c` of the simulation and its own `memory`.
It may use Python's arithmetic, loops and conditions, arrays, and these parts:

- `c.jobs.submit`, `c.jobs.estimate`, `c.jobs.procs`: int64 arrays by job, in the order of arrival; times in seconds
  since the first submission. An estimate of 0 s counts as 1 s: it is 1 here.
- `c.clock[NOW]`, `c.clock[FREE]`: the instant and the free processors. `c.clock[FREED]` tells whether processors were
  freed at this instant; jobs `c.clock[NEWCOMER]` to `c.clock[ARRIVED]` - 1 have arrived at this instant.
- The queue: `c.queue.item[place]` is the job at a place, from `front(c.queue)` to `back(c.queue)` - 1; `waiting`,
  `first_item(c.queue)` (the head), `place_in_queue`.
- Starts: `begin(c, place)` starts the job at a place and returns the place of the next one; `start_heads_that_fit`.
- One reservation, in an array of three numbers: `reserve_for_head`, `ends_by_shadow`, `begin_behind_head`,
  `still_blocked`; `reservation[SHADOW]`, `reservation[EXTRA]`, `reservation[HEAD]`. `c.promise[job]` is a job's first
  reservation, -1 until then: set it if you reserve in another way and declare ``promises=True``.
- Many reservations, in a profile of free processors over time, which `new_profile` makes: `fill_profile` (from the
  running jobs), `earliest`, `add`, `least`. A job can start if ``earliest`` returns the current instant.
- Running jobs by estimated end: `c.running.key[place]` (the end) and `c.running.item[place]` (the job).

The only check on a running compiled scheme is that every job it starts fits: an index beyond an array reads garbage, or
ends the process. `schedlab.testing.check_scheme` runs the scheme in another process first, where indices are checked
and an endless loop is stopped. Set ``NUMBA_DISABLE_JIT=1`` to run it in plain Python, with errors where they happen.

Examples
--------
EASY backfilling:

>>> import schedlab as sl
>>> from schedlab.kernels.parts import *
>>> @sl.compiled_scheme(memory=3)
... def easy(c, reservation):
...     start_heads_that_fit(c)
...     reserve_for_head(c, reservation)
...     place = front(c.queue) + 1
...     while place < back(c.queue):
...         job = c.queue.item[place]
...         procs = c.jobs.procs[job]
...         delays_nobody = procs <= reservation[EXTRA] or ends_by_shadow(c, reservation, job)
...         if procs <= c.clock[FREE] and delays_nobody:
...             place = begin_behind_head(c, reservation, place)
...         else:
...             place += 1
>>> trace = sl.model_trace("lublin", jobs=300, seed=1)
>>> bool((sl.simulate(trace, easy).start == sl.simulate(trace, "easy").start).all())
True

Conservative backfilling, with all reservations made anew at each pass:

>>> @sl.compiled_scheme(memory=new_profile)
... def conservative(c, profile):
...     fill_profile(c, profile)
...     place = front(c.queue)
...     while place < back(c.queue):
...         job = c.queue.item[place]
...         procs, estimate = c.jobs.procs[job], c.jobs.estimate[job]
...         start = earliest(profile, c.clock[NOW], NEVER, procs, estimate)
...         add(profile, start, start + estimate, -procs)
...         if start == c.clock[NOW]:
...             place = begin(c, place)
...         else:
...             place += 1
>>> rebuilt = sl.Conservative(compression="rebuild")
>>> bool((sl.simulate(trace, conservative).start == sl.simulate(trace, rebuilt).start).all())
True
"""

import numpy as np

from .cluster import ARRIVED, FREE, FREED, NEWCOMER, NOW, begin, place_in_queue, start_heads_that_fit, waiting
from .easy_depth import fill_profile
from .profile import add, earliest, least
from .reservation import EXTRA, HEAD, SHADOW, begin_behind_head, ends_by_shadow, reserve_for_head, still_blocked
from .sorted_pairs import NEVER, SortedPairs, back, first_item, front, size_of

__all__ = [
    "ARRIVED",
    "EXTRA",
    "FREE",
    "FREED",
    "HEAD",
    "NEVER",
    "NEWCOMER",
    "NOW",
    "SHADOW",
    "add",
    "back",
    "begin",
    "begin_behind_head",
    "earliest",
    "ends_by_shadow",
    "fill_profile",
    "first_item",
    "front",
    "least",
    "new_profile",
    "place_in_queue",
    "reserve_for_head",
    "size_of",
    "start_heads_that_fit",
    "still_blocked",
    "waiting",
]


def new_profile(jobs: int, procs: int) -> SortedPairs:
    """Allocate a profile, as in ``compiled_scheme(memory=new_profile)``; `fill_profile` fills it.

    Parameters
    ----------
    jobs : int
        Number of jobs in the trace.
    procs : int
        Processors of the machine.

    Returns
    -------
    SortedPairs
        Instants (``key``) and the processors that are free from each instant on (``item``).

    Examples
    --------
    >>> from schedlab.kernels.parts import new_profile
    >>> profile = new_profile(jobs=100, procs=64)
    >>> profile.key[0].item(), profile.item[0].item()  # from 0 s on, 64 processors are free
    (0, 64)
    """
    room = 3 * jobs + 8  # a job adds two steps at most; with the rest, the list rarely has to be moved to the front
    profile = SortedPairs(np.empty(room, np.int64), np.empty(room, np.int64), np.array([0, 1]))
    profile.key[0], profile.item[0] = 0, procs
    return profile
