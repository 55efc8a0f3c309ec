"""Find the jobs behind the head of a long queue that may start, without looking at every waiting job.

All jobs have a place: they are sorted by width (processors), and within one width by the order in which candidates are
tried. A tree over the estimates of the waiting jobs stores in each node the minimum of the `FAN` nodes below it. The
jobs that fit occupy the first places. Most passes find that none of them ends in time, which takes one descent. Each
width that has such a job costs one more descent.

Building the index costs as much as some tens of looks at each job of the log, and each start and arrival costs a little
more, so it pays off when many jobs wait for long. It is updated only when it is queried.
"""

from typing import NamedTuple

import numpy as np

from ._jit import maker, part, routine
from .cluster import ARRIVED, BEGUN, FREE, NOW, WAITS, place_in_queue
from .questions import is_vetoed
from .reservation import EXTRA, NOBODY, SHADOW, begin_behind_head
from .sorted_pairs import NEVER

FAN = 16  # two cache lines


class Candidates(NamedTuple):
    """The index; empty until it is first needed, modified in place."""

    place: np.ndarray  # int64 of shape (n_jobs,): place of each job
    job: np.ndarray  # int64 of shape (n_jobs,): the job at each place
    rank: np.ndarray  # int64 of shape (n_jobs,): place of each job in the order in which candidates are tried
    width: np.ndarray  # int64 of shape (n_widths,): processors, ascending
    first: np.ndarray  # int64 of shape (n_widths + 1,): the first place of each width; the last is the number of jobs
    # int64 of shape (n_nodes,): the nodes of the tree, starting with those of the places: the estimate of a waiting
    # job, `NEVER` for any other.
    least: np.ndarray
    level: np.ndarray  # int64 of shape (n_levels,): the first node of each level of the tree, from the places up
    seen: np.ndarray  # int64 of shape (2,): how many starts and arrivals the index has processed
    aside: np.ndarray  # int64 of shape (n_jobs,) or (0,): scratch: jobs kept back by a veto in this pass


@maker
def no_candidates(rank):
    """Return an empty index."""
    empty = np.empty(0, np.int64)
    return Candidates(empty, empty, rank, empty, empty, empty, empty, empty, empty)


@maker
def new_candidates(procs, rank, vetoes):
    """Build the index of jobs; `vetoes` tells whether there is a veto that depends on the time."""
    n = procs.size
    count = np.zeros(procs.max() + 1, np.int64)
    for job in range(n):
        count[procs[job]] += 1
    width = np.flatnonzero(count)
    first = np.zeros(width.size + 1, np.int64)
    for i in range(width.size):
        first[i + 1] = first[i] + count[width[i]]
        count[width[i]] = first[i]  # from here on, the next free place of that width
    ranked, job_at, place = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for job in range(n):
        ranked[rank[job]] = job
    for job in ranked:
        place[job] = count[procs[job]]
        job_at[place[job]] = job
        count[procs[job]] += 1
    nodes, size, levels = 0, n, 0
    while size > 1 or levels == 0:
        size = (size + FAN - 1) // FAN
        nodes += FAN * size
        levels += 1
    level = np.zeros(levels, np.int64)
    size = n
    for i in range(levels - 1):
        size = (size + FAN - 1) // FAN
        level[i + 1] = level[i] + FAN * size
    least = np.full(nodes, NEVER, np.int64)
    seen, aside = np.zeros(2, np.int64), np.empty(n if vetoes else 0, np.int64)
    return Candidates(place, job_at, rank, width, first, least, level, seen, aside)


@routine
def backfill_long(c, candidates, reservation, veto):
    """Start the jobs behind the head that may start, in the order in which candidates are tried.

    A job that cannot start now cannot start later in this pass: processors and time only shrink.
    """
    count = 0
    if c.clock[FREE] > 0:
        _catch_up(c, candidates, veto)
    while c.clock[FREE] > 0:
        job = _first_to_try(c, candidates, reservation)
        if job == NOBODY:
            break
        _enter(candidates, job, NEVER)
        if veto.moving and is_vetoed(c, veto, job):
            candidates.aside[count] = job
            count += 1
        else:
            begin_behind_head(c, reservation, place_in_queue(c, job))
    for i in range(count):
        _enter(candidates, candidates.aside[i], c.jobs.estimate[candidates.aside[i]])


@part
def _catch_up(c, candidates, veto):
    """Process the starts and arrivals since the last update; jobs that a fixed veto bars are not entered."""
    seen = candidates.seen
    for i in range(seen[0], c.clock[BEGUN]):
        job = c.begun[i]
        if candidates.least[candidates.place[job]] < NEVER:
            _enter(candidates, job, NEVER)
    for job in range(seen[1], c.clock[ARRIVED]):
        if c.start[job] == WAITS and (veto.moving or not is_vetoed(c, veto, job)):
            _enter(candidates, job, c.jobs.estimate[job])
    seen[0], seen[1] = c.clock[BEGUN], c.clock[ARRIVED]


@routine
def _enter(candidates, job, estimate):
    """Set a job's estimate in the tree."""
    least, level = candidates.least, candidates.level
    node = candidates.place[job]
    least[node] = estimate
    for i in range(1, level.size):
        node //= FAN
        below = level[i - 1] + FAN * node
        lowest = least[below]
        for other in range(below + 1, below + FAN):
            lowest = min(lowest, least[other])
        if least[level[i] + node] == lowest:
            return
        least[level[i] + node] = lowest


@part
def _first_to_try(c, candidates, reservation):
    """Find the job that is tried first among all that may start, or `NOBODY`."""
    free, extra, longest = c.clock[FREE], reservation[EXTRA], reservation[SHADOW] - c.clock[NOW]
    job = _first_of(candidates, 0, min(free, extra), NEVER - 1, NOBODY)
    return _first_of(candidates, min(free, extra), free, longest, job)


@routine
def _first_of(candidates, more, most, longest, best):
    """Find the job tried first: `best`, or a short enough one of more than `more` and at most `most` processors."""
    place, end = _end_of(candidates, more), _end_of(candidates, most)
    while True:
        place = _next_within(candidates, place, longest)
        if place >= end:
            return best
        job = candidates.job[place]
        if best == NOBODY or candidates.rank[job] < candidates.rank[best]:
            best = job
        place = candidates.first[np.searchsorted(candidates.first, place, side="right")]


@part
def _end_of(candidates, procs):
    """Return the place after the last job that has at most `procs` processors."""
    return candidates.first[np.searchsorted(candidates.width, procs, side="right")]


@part
def _next_within(candidates, place, longest):
    """Return the first place, from a given one on, whose job is short enough; a place beyond all if there is none."""
    least, level = candidates.least, candidates.level
    i, node, end = 0, place, 0
    while node >= end:
        while node % FAN == 0 and i + 1 < level.size:  # the search covers all nodes below this one
            node //= FAN
            i += 1
        end = node - node % FAN + FAN
        if end > FAN and i + 1 == level.size:
            return NEVER
        while node < end and least[level[i] + node] > longest:
            node += 1
    while i > 0:
        i -= 1
        node *= FAN
        while least[level[i] + node] > longest:
            node += 1
    return node
