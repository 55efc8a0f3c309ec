"""Which processors a job holds, for schedules that give only their number: the lowest-numbered free ones at its start.

Free processors are kept as a sorted list of intervals (first, last). A job takes whole intervals from the front and a
part of the last one. At its end its intervals are returned and merged with their neighbours.
"""

import numpy as np

from ._jit import kernel, maker, part
from .sorted_pairs import back, front, insert, new_pairs, place_of, remove_at, size_of


@kernel
def assign_processors(start, end, procs, machine):
    """Give processors to the jobs of a schedule that never holds more than `machine`.

    Return the intervals: those of job j are ``offset[j]:offset[j + 1]`` of `first` and `last`, processor numbers from
    0, both ends included; a job of length zero has none.
    """
    n = start.size
    by_start, by_end = np.argsort(start, kind="mergesort"), np.argsort(end, kind="mergesort")
    free = new_pairs(2 * machine + 2)
    insert(free, 0, machine - 1)
    begin = np.zeros(n, np.int64)  # of each job's intervals, in the order of allocation
    count = np.zeros(n, np.int64)
    first, last = np.empty(2 * n + 1, np.int64), np.empty(2 * n + 1, np.int64)
    ended = used = 0
    for i in range(n):
        job = by_start[i]
        while ended < n and end[by_end[ended]] <= start[job]:
            gone = by_end[ended]
            for k in range(begin[gone], begin[gone] + count[gone]):
                _give_back(free, first[k], last[k])
            ended += 1
        if end[job] == start[job]:
            continue
        if used + size_of(free) > first.size:
            first = np.append(first, np.empty(first.size, np.int64))
            last = np.append(last, np.empty(last.size, np.int64))
        begin[job] = used
        used = _take(free, procs[job], first, last, used)
        count[job] = used - begin[job]
    return in_job_order(begin, count, first, last)


@part
def _take(free, procs, first, last, used):
    while procs > 0:
        place = front(free)
        begin, end = free.key[place], min(free.item[place], free.key[place] + procs - 1)
        if end == free.item[place]:
            remove_at(free, place)
        else:
            free.key[place] = end + 1
        first[used], last[used] = begin, end
        used += 1
        procs -= end - begin + 1
    return used


@part
def _give_back(free, begin, end):
    place = place_of(free, begin, begin)
    if place < back(free) and free.key[place] == end + 1:
        end = free.item[place]
        remove_at(free, place)
        place = place_of(free, begin, begin)
    if place > front(free) and free.item[place - 1] == begin - 1:
        free.item[place - 1] = end
    else:
        insert(free, begin, end)


@maker
def in_job_order(begin, count, first, last):
    """Reorder the intervals from the order of allocation to the order of the jobs."""
    offset = np.zeros(begin.size + 1, np.int64)
    for job in range(begin.size):
        offset[job + 1] = offset[job] + count[job]
    firsts, lasts = np.empty(offset[-1], np.int64), np.empty(offset[-1], np.int64)
    for job in range(begin.size):
        for k in range(count[job]):
            firsts[offset[job] + k] = first[begin[job] + k]
            lasts[offset[job] + k] = last[begin[job] + k]
    return offset, firsts, lasts
