"""The nodes of a k-ary n-tree: which job holds them, how many are free in each block, and which block takes a job.

A switch of stage l, counted from 1 at the bottom, covers a block of k^l consecutive nodes whose first number is a
multiple of k^l. Nodes that are not installed belong to no block. Blocks are numbered across all stages, stage by stage.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, kernel, maker, part, routine

NOBODY = -1
NOWHERE = -1
TOGETHER = 16  # blocks that are compared before a branch, so that the processor compares several at once

# Lehmer's generator (Park and Miller 1988, multiplier of 1993): its products fit int64.
MODULUS, MULTIPLIER = 2**31 - 1, 48_271


class Nodes(NamedTuple):
    """The nodes; everything but `size` and `base` is modified in place."""

    size: np.ndarray  # int64 of shape (stages + 1,): nodes in a full block of each stage; 1 at stage 0
    # int64 of shape (stages + 2,): the number of the first block of each stage, from 1; the last entry is the number of
    # blocks.
    base: np.ndarray
    owner: np.ndarray  # int64 of shape (installed,): the job that holds a node, or `NOBODY`
    held: np.ndarray  # bool of shape (installed,): kept for the job at the head of the queue
    free: np.ndarray  # int64 of shape (n_blocks,): free nodes of each block
    # int64 of shape (n_blocks,) or (0,): free nodes that are not held; empty if no nodes are ever held.
    open: np.ndarray
    # int64 of shape (stages + 1,): no block of a stage has more free (or open) nodes than this.
    bound: np.ndarray
    open_bound: np.ndarray
    coming: np.ndarray  # int64 of shape (n_blocks,): scratch: free nodes at a future time
    drawn: np.ndarray  # int64 of shape (installed,): scratch


class Ranges(NamedTuple):
    """The nodes of each job as ranges, in the order of allocation; modified in place."""

    first: np.ndarray  # int64 of shape (capacity,): node numbers, both ends included
    last: np.ndarray
    begin: np.ndarray  # int64 of shape (n_jobs,): the ranges of job j are ``begin[j]:begin[j] + count[j]``
    count: np.ndarray
    used: np.ndarray  # int64 of shape (1,): number of ranges so far


@maker
def new_nodes(arity, stages, installed, holds):
    """Make free nodes; `holds` tells whether some will ever be held."""
    size = np.ones(stages + 1, np.int64)
    base = np.zeros(stages + 2, np.int64)
    for stage in range(1, stages + 1):
        size[stage] = size[stage - 1] * arity
        base[stage + 1] = base[stage] + (installed + size[stage] - 1) // size[stage]
    free = np.empty(base[-1], np.int64)
    for stage in range(1, stages + 1):
        for block in range(base[stage], base[stage + 1]):
            free[block] = min(size[stage], installed - (block - base[stage]) * size[stage])
    return Nodes(
        size,
        base,
        np.full(installed, NOBODY, np.int64),
        np.zeros(installed, np.bool_),
        free,
        free.copy() if holds else free[:0].copy(),
        size.copy(),
        size.copy(),
        np.empty_like(free),
        np.empty(installed, np.int64),
    )


@maker
def new_ranges(jobs, capacity):
    """Allocate room for the ranges of jobs."""
    return Ranges(
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.zeros(jobs, np.int64),
        np.zeros(jobs, np.int64),
        np.zeros(1, np.int64),
    )


@maker
def with_room(ranges, more):
    """Return the ranges with room for `more` further ones."""
    if ranges.used[0] + more <= ranges.first.size:
        return ranges
    room = np.empty(ranges.first.size + more, np.int64)
    return Ranges(np.append(ranges.first, room), np.append(ranges.last, room), ranges.begin, ranges.count, ranges.used)


@part
def stage_of(nodes, block):
    """Return the stage of a block."""
    stage = 1
    while nodes.base[stage + 1] <= block:
        stage += 1
    return stage


@part
def first_node(nodes, block, stage):
    """Return the lowest node of a block."""
    return (block - nodes.base[stage]) * nodes.size[stage]


@routine
def find(base, counts, bound, stage, procs, best):
    """Find the first block of a stage with at least `procs` nodes in `counts`, or the fullest such block.

    Call it only if `bound` allows such a block: most attempts end at that test, which is cheaper than a call.
    """
    first, last = U(base[stage]), U(base[stage + 1])
    block = _fullest(counts, first, last, procs) if best else _first(counts, first, last, procs)
    if block == NOWHERE:
        most = 0
        for i in range(first, last):
            most = max(most, counts[i])
        bound[stage] = most
    return block


@part
def _first(counts, block, last, procs):
    while block + U(TOGETHER) <= last:
        suitable = 0
        for i in range(U(TOGETHER)):
            suitable += counts[block + i] >= procs
        if suitable:
            break
        block += U(TOGETHER)
    while block < last:
        if counts[block] >= procs:
            return np.int64(block)
        block += U(1)
    return NOWHERE


@part
def _fullest(counts, first, last, procs):
    fullest, least = NOWHERE, 0
    for block in range(first, last):
        if counts[block] >= procs and (fullest == NOWHERE or counts[block] < least):
            fullest, least = np.int64(block), counts[block]
    return fullest


@routine
def shift(counts, base, size, first, last, amount):
    """Add an amount to the blocks of a stage for each node of a range, which has some; return the largest sum."""
    block, final = U(first) // U(size), U(last) // U(size)
    place, end = U(base) + block, U(base) + final
    if block == final:
        counts[place] += amount * (last - first + 1)
        return counts[place]
    counts[place] += amount * (np.int64(block + U(1)) * size - first)
    counts[end] += amount * (last + 1 - np.int64(final) * size)
    most = max(counts[place], counts[end])
    for between in range(place + U(1), end):
        counts[between] += amount * size
        most = max(most, counts[between])
    return most


@routine
def take(nodes, ranges, job, procs, block, open_only, seed):
    """Give a job the lowest free nodes of a block (with `open_only` none held), or random ones if `seed` is not 0.

    Return the lowest stage that has all of them in one block.
    """
    stage = stage_of(nodes, block)
    first = first_node(nodes, block, stage)
    ranges.begin[job] = ranges.used[0]
    if seed:
        _draw(nodes, job, procs, seed)
        first = 0
    low, high, left = NOBODY, NOBODY, procs
    node = border = first
    while left > 0:
        if seed:
            suits = nodes.owner[U(node)] == job
        else:
            if node == border:
                node = _after_full_blocks(nodes, node)
                border = node + nodes.size[1]
            suits = nodes.owner[U(node)] == NOBODY and not (open_only and nodes.held[U(node)])
        if suits:
            left -= 1
            nodes.owner[U(node)] = job
            if node != high + 1 or low < 0:
                _close(nodes, ranges, low, high)
                low = node
            high = node
        node += 1
    _close(nodes, ranges, low, high)
    ranges.count[job] = ranges.used[0] - ranges.begin[job]
    used, lowest = 1, ranges.first[ranges.begin[job]]
    while lowest // nodes.size[used] != high // nodes.size[used]:
        used += 1
    return used


@part
def _after_full_blocks(nodes, node):
    """Return the first node, from one that begins a block of stage 1 on, of such a block with free nodes."""
    free, base, arity = nodes.free, nodes.base, U(nodes.size[1])
    stage, block = U(1), U(node) // arity
    while free[U(base[stage]) + block] == 0:
        block += U(1)
        while block % arity == 0 and stage + U(1) < U(nodes.size.size):
            stage, block = stage + U(1), block // arity
    while stage > U(1):
        stage, block = stage - U(1), block * arity
        while free[U(base[stage]) + block] == 0:
            block += U(1)
    return np.int64(block * arity)


@part
def _close(nodes, ranges, low, high):
    """Record a range, unless it is empty, and subtract its nodes from the counts."""
    if low < 0:
        return
    place = ranges.used[0]
    ranges.first[place], ranges.last[place] = low, high
    ranges.used[0] = place + 1
    for stage in range(1, nodes.size.size):
        shift(nodes.free, nodes.base[stage], nodes.size[stage], low, high, -1)
        if nodes.open.size:
            shift(nodes.open, nodes.base[stage], nodes.size[stage], low, high, -1)
    if nodes.open.size:
        _count_held(nodes, low, high + 1, 1)


@routine
def _count_held(nodes, first, last, amount):
    """Add the held nodes of a range to the counts, or subtract them: they are not open, but were counted as open."""
    node = first
    while node < last:
        begin = node
        while node < last and nodes.held[node]:
            node += 1
        if begin < node:
            _shift_open(nodes, begin, node - 1, amount)
        else:
            node += 1


@part
def _shift_open(nodes, first, last, amount):
    """Add an amount to the open nodes of blocks for each node of a range.

    Adjacent nodes are counted together: with one node at a time at each stage, a head that waits for 2**24 nodes of a
    binary tree took most of a second at every pass.
    """
    for stage in range(1, nodes.size.size):
        shift(nodes.open, nodes.base[stage], nodes.size[stage], first, last, amount)


@part
def end_of_range(nodes, ranges, node):
    """Return the end of the run of nodes, from a node on, that have the same owner or are free."""
    owner = nodes.owner[node]
    if owner == NOBODY:
        end = U(node)
        while end < U(nodes.owner.size) and nodes.owner[end] == NOBODY:
            end += U(1)
        return np.int64(end)
    place = ranges.begin[owner]
    while ranges.last[place] < node:
        place += 1
    return ranges.last[place] + 1


@routine
def hold(nodes, first, last, free):
    """Hold the nodes of a range, which are all free or all taken, for the head of the queue."""
    for node in range(U(first), U(last)):
        nodes.held[node] = True
    if free:
        _shift_open(nodes, first, last - 1, -1)


@routine
def _draw(nodes, job, procs, seed):
    """Give free nodes to a job at random: the beginning of a partial shuffle."""
    count = 0
    for node in range(nodes.owner.size):
        if nodes.owner[node] == NOBODY:
            nodes.drawn[count] = node
            count += 1
    for i in range(procs):
        seed = seed * MULTIPLIER % MODULUS
        j = i + seed % (count - i)
        node = nodes.drawn[j]
        nodes.drawn[j] = nodes.drawn[i]
        nodes.owner[node] = job


@routine
def release(nodes, ranges, job):
    """Release the nodes of a job."""
    for place in range(ranges.begin[job], ranges.begin[job] + ranges.count[job]):
        first, last = ranges.first[place], ranges.last[place]
        for node in range(U(first), U(last + 1)):
            nodes.owner[node] = NOBODY
        for stage in range(1, nodes.size.size):
            most = shift(nodes.free, nodes.base[stage], nodes.size[stage], first, last, 1)
            nodes.bound[stage] = max(nodes.bound[stage], most)


@routine
def put_back(nodes, ranges, job):
    """Undo the last `take`."""
    release(nodes, ranges, job)
    if nodes.open.size:
        for place in range(ranges.begin[job], ranges.begin[job] + ranges.count[job]):
            _shift_open(nodes, ranges.first[place], ranges.last[place], 1)
            _count_held(nodes, ranges.first[place], ranges.last[place] + 1, -1)
        for stage in range(nodes.bound.size):
            nodes.open_bound[stage] = max(nodes.open_bound[stage], nodes.bound[stage])
    ranges.used[0] = ranges.begin[job]


@routine
def nodes_in(nodes, ranges, job, block):
    """Count the nodes of a job in a block."""
    stage = stage_of(nodes, block)
    low = first_node(nodes, block, stage)
    high = low + nodes.size[stage] - 1
    count = 0
    for place in range(ranges.begin[job], ranges.begin[job] + ranges.count[job]):
        count += max(0, min(high, ranges.last[place]) - max(low, ranges.first[place]) + 1)
    return count


@routine
def expect(nodes, ranges, job, stage, last_stage):
    """Add the nodes of a job to those that are coming, at some stages; return the largest sum."""
    most = 0
    for place in range(ranges.begin[job], ranges.begin[job] + ranges.count[job]):
        first, last = ranges.first[place], ranges.last[place]
        for level in range(stage, last_stage + 1):
            most = max(most, shift(nodes.coming, nodes.base[level], nodes.size[level], first, last, 1))
    return most


@routine
def forget_held(nodes, first, last):
    """Stop holding the nodes of a range; recount the open nodes."""
    for node in range(U(first), U(last)):
        nodes.held[node] = False
    for block in range(U(nodes.open.size)):
        nodes.open[block] = nodes.free[block]
    for stage in range(nodes.bound.size):
        nodes.open_bound[stage] = nodes.bound[stage]


@kernel
def conflict(start, end, offset, first, last, installed):
    """Return a job that runs on a node held by another job, or -1.

    The nodes of job j are the ranges ``offset[j]:offset[j + 1]`` of `first` and `last`, all below `installed`.
    """
    until = np.full(installed, -1, np.int64)
    for job in np.argsort(start, kind="mergesort"):
        if start[job] < end[job]:
            for place in range(offset[job], offset[job + 1]):
                for node in range(first[place], last[place] + 1):
                    if until[node] > start[job]:
                        return job
                    until[node] = end[job]
    return -1


@kernel
def locality(offset, first, last, arity, stages):
    """Measure how close to each other the nodes of each job are: ranges as in `conflict`, in ascending order.

    Return the lowest stage that has all nodes of the job in one block; and the links between two nodes of the job (2 x
    the stage at which they meet), averaged over all pairs.
    """
    n = offset.size - 1
    stage, hops = np.zeros(n, np.int64), np.zeros(n, np.float64)
    for job in range(n):
        begin, end = offset[job], offset[job + 1]
        procs = (last[begin:end] - first[begin:end] + 1).sum()
        size, met, links = 1, 0, 0
        for level in range(1, stages + 1):
            size *= arity
            together = _pairs(first, last, begin, end, size)
            links += 2 * level * (together - met)
            met = together
            if stage[job] == 0 and first[begin] // size == last[end - 1] // size:
                stage[job] = level
        if procs > 1:
            hops[job] = links / (procs * (procs - 1) // 2)
    return stage, hops


@part
def _pairs(first, last, begin, end, size):
    """Count the pairs of nodes in one block of a given size."""
    pairs, count, block = 0, 0, -1
    for place in range(begin, end):
        node = first[place]
        while node <= last[place]:
            if node // size != block:
                pairs += count * (count - 1) // 2
                count, block = 0, node // size
            after = min(last[place] + 1, (block + 1) * size)
            count += after - node
            node = after
    return pairs + count * (count - 1) // 2


@kernel
def fragmentation(start, end, offset, first, last, arity, stages, installed):
    """Record how many nodes are free, and how many of them a job could have in one block; ranges as in `conflict`.

    Return the instants at which a job starts or ends (seconds); the free nodes from each instant on; and the nodes of
    the largest job that fits into a block of its stage.
    """
    nodes = new_nodes(arity, stages, installed, False)
    starts, ends = np.argsort(start, kind="mergesort"), np.argsort(end, kind="mergesort")
    most = 2 * start.size
    time, free, largest = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    begun = ended = count = 0
    while ended < end.size:
        now = end[ends[ended]]
        if begun < start.size:
            now = min(now, start[starts[begun]])
        while ended < end.size and end[ends[ended]] == now:
            _count(nodes, offset, first, last, ends[ended], 1)
            ended += 1
        while begun < start.size and start[starts[begun]] == now:
            _count(nodes, offset, first, last, starts[begun], -1)
            begun += 1
        time[count] = now
        free[count] = nodes.free[-1]
        largest[count] = _largest(nodes)
        count += 1
    return time[:count], free[:count], largest[:count]


@part
def _count(nodes, offset, first, last, job, amount):
    for place in range(offset[job], offset[job + 1]):
        for stage in range(1, nodes.size.size):
            shift(nodes.free, nodes.base[stage], nodes.size[stage], first[place], last[place], amount)


@part
def _largest(nodes):
    """Find the most free nodes in one block of the highest stage at which a job of that many nodes would be placed."""
    for stage in range(nodes.size.size - 1, 0, -1):
        most = 0
        for block in range(nodes.base[stage], nodes.base[stage + 1]):
            most = max(most, nodes.free[block])
        if most > nodes.size[stage - 1] or stage == 1:
            return most
    return 0
