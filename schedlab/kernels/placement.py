"""FCFS and EASY backfilling on a k-ary n-tree, where a job may have to find its nodes in one block.

After Pascual and Miguel-Alonso, Technical Report EHU-KAT-IK-09-08, 2008. A job of x nodes belongs to the lowest stage
whose blocks have x nodes. It takes the x lowest free nodes of the first such block that has x free nodes, or waits.
(The printed loop over the stages never advances to the next one; here it does.) For a policy without contiguity, the
whole machine is the only block of every job.

FCFS starts heads of the queue while they can be placed. EASY gives the first head that cannot be placed a reservation,
by one of two rules. `BY_COUNT`: from the numbers of nodes alone, as on a machine without a topology. The reservation is
therefore now if there are enough nodes but no block. `BY_BLOCK`: when, and in which block, the head can be placed by
the estimates; its lowest nodes there are held for it.

Jobs that end by then, by their estimates, may be advanced. Others: `OFF`: none. `ON`: those that leave the head its
nodes. By block, they do without the held nodes; by count, or if the machine is one block, they need only the extra
processors. `ANY`: all that can be placed. Then a head keeps its first reservation, and all advanced jobs may be killed
for it once that has come.

Jobs may outlive their estimates: such a job is expected to be released one second from now. It runs on, unless kills
are enabled: if the head cannot be placed, but could be placed in a block without the advanced jobs there that are past
their estimates, these jobs are killed, latest start first, until it can be placed. A killed job has ended. With kills,
the reservation is an event of its own, unless the head could be placed if all jobs past their estimates were gone.

Run times are reduced by a fraction of whole numbers, so that times are never rounded except up to the next second.

At each instant: completions, then arrivals, then one pass. If nothing was freed since the last pass, the head is the
same and its reservation has not come, then older candidates still fail unless a veto depends on the time, so if at most
one job has arrived, only that job is tested.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, kernel, maker, part, routine
from .cluster import (
    ARRIVED,
    BEGUN,
    FREE,
    NAN,
    NEWCOMER,
    NOW,
    Jobs,
    advance,
    begin,
    new_cluster,
    place_in_queue,
    waiting,
)
from .processors import in_job_order
from .questions import is_vetoed, look, sort_queue
from .reservation import EXTRA, HEAD, SHADOW, still_blocked
from .sorted_pairs import NEVER, back, first_item, front, remove
from .tree_nodes import (
    NOBODY,
    NOWHERE,
    Nodes,
    Ranges,
    end_of_range,
    expect,
    find,
    first_node,
    forget_held,
    hold,
    new_nodes,
    new_ranges,
    nodes_in,
    release,
    stage_of,
    take,
    with_room,
)

NO_RESERVATION, BY_COUNT, BY_BLOCK = range(3)  # possible values of `rule`; the first is FCFS
OFF, ON, ANY = range(3)  # possible values of `spare`

# Places in the reservation, after those of reservation.py: when it wants a pass, and the range in which nodes are held.
ALARM, HELD_FIRST, HELD_LAST = range(3, 6)


class Tree(NamedTuple):
    """The machine: a k-ary n-tree."""

    arity: int
    stages: int
    installed: int  # nodes of the machine; the tree's further nodes do not exist
    # int64 of shape (stages + 1,): a job whose nodes are in one block of a stage, but in none of a lower stage, takes
    # ``kept / parts`` of its run time; both are at most 10^9.
    kept: np.ndarray
    parts: np.ndarray


class Allocation(NamedTuple):
    """Which nodes a job may have."""

    stage: np.ndarray  # int64 of shape (n_jobs,): stage of each job's blocks, from 1 to `stages`
    # int64 of shape (n_jobs,): seed of each job, from 1 to `tree_nodes.MODULUS` - 1, if nodes are drawn; 0 if the
    # lowest nodes are taken.
    seed: np.ndarray
    whole: bool  # whether the whole machine is the only block of every job; then `stage` is `stages` for all
    relaxed: bool  # whether a job may use a block of the next stage if no block of its own stage can take it
    best: bool  # of several blocks, whether the fullest is taken instead of the first


class Placement(NamedTuple):
    """The nodes, their owners, and the rules of allocation; arrays from `nodes` to `advanced` are modified in place."""

    nodes: Nodes
    ranges: Ranges
    seat: np.ndarray  # int64 of shape (n_jobs,): place of each job in `Cluster.begun`
    killed: np.ndarray  # bool of shape (n_jobs,)
    advanced: np.ndarray  # bool of shape (n_jobs,)
    tree: Tree  # from here on: the arguments of `placement`
    allocation: Allocation
    rule: int
    spare: int
    kills: bool


@maker
def new_placement(tree, allocation, rule, spare, kills):
    """Make free nodes, and room for their future owners."""
    n = allocation.stage.size
    nodes = new_nodes(tree.arity, tree.stages, tree.installed, rule == BY_BLOCK and not allocation.whole)
    ranges = new_ranges(n, n + 4 * tree.installed)
    seat, killed, advanced = np.empty(n, np.int64), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    return Placement(nodes, ranges, seat, killed, advanced, tree, allocation, rule, spare, kills)


@maker
def roomier(p, more):
    """Return the same placement with room for `more` further ranges."""
    ranges = with_room(p.ranges, more)
    return Placement(p.nodes, ranges, p.seat, p.killed, p.advanced, p.tree, p.allocation, p.rule, p.spare, p.kills)


def shortened(seconds, kept, parts):
    """Return `kept` of `parts` equal parts of a time, rounded up to whole seconds; for numbers or arrays."""
    whole, rest = seconds // parts, seconds % parts
    return whole * kept + (rest * kept + parts - 1) // parts


_shortened = part(shortened)


@kernel
def placement(jobs, tree, allocation, order, veto, rule, spare, kills, halt):
    """Simulate FCFS or EASY on a k-ary n-tree; a run time may exceed its estimate.

    The veto decides which jobs may be advanced, and `spare` which of those that do not end by the reservation. `kills`
    tells whether advanced jobs that are past their estimates are killed if the head needs their nodes; `ANY` needs it.
    Return start times; the first reservation of each job that was blocked at the head of the queue, -1 for others; run
    times, shortened by the placement or by a kill (seconds); which jobs were killed and which advanced; and the nodes:
    those of job j are the ranges ``offset[j]:offset[j + 1]`` of `first` and `last`, both ends included.
    """
    copies = Jobs(jobs.submit, jobs.run.copy(), jobs.estimate, jobs.procs)  # a placement or a kill shortens run times
    c = new_cluster(copies, tree.installed, order.rank, order.moving, False, halt)
    p = new_placement(tree, allocation, rule, spare, kills)
    score = np.empty(jobs.submit.size if order.moving else 0, np.float64)
    reservation = np.zeros(6, np.int64)
    reservation[HEAD], reservation[ALARM] = NOBODY, NEVER
    shortest = jobs.estimate.min()
    while not _simulated(c, p, reservation, order, veto, score, shortest):
        p = roomier(p, 4 * tree.installed)
    if c.clock[NAN]:
        raise ValueError("the order of the queue gives nan")
    offset, first, last = in_job_order(p.ranges.begin, p.ranges.count, p.ranges.first, p.ranges.last)
    return c.start, c.promise, c.jobs.run, p.killed, p.advanced, offset, first, last


@part
def _simulated(c, p, reservation, order, veto, score, shortest):
    """Simulate until nothing is left, or until there is no more room for ranges; tell whether nothing is left."""
    ended = front(c.ends)
    # A pass allocates the nodes that are free and those that its kills free.
    while p.ranges.used[0] + 2 * p.nodes.owner.size <= p.ranges.first.size:
        if not advance(c, reservation[ALARM]):
            return True
        # Jobs removed from the list of ends are still stored before its front.
        for place in range(ended, front(c.ends)):
            release(p.nodes, p.ranges, c.begun[c.ends.item[place]])
        sort_queue(c, order, score)
        look(c, veto.question)
        stands = still_blocked(c, reservation)
        if not stands:
            start_heads(c, p)
            reserve(c, p, reservation)
        newcomers = c.clock[ARRIVED] - c.clock[NEWCOMER]
        if not stands or newcomers > 1 or veto.moving:
            place, last = front(c.queue) + 1, NEVER
        else:
            place = last = place_in_queue(c, c.clock[NEWCOMER]) if newcomers else back(c.queue)
        # Without spare nodes no job longer than this can be advanced, and by counts the reservation is often for now.
        longest = reservation[SHADOW] - c.clock[NOW]
        if p.rule != NO_RESERVATION and (p.spare != OFF or longest >= shortest):
            place = _next_candidate(c, p, reservation, place)
            while place <= last and place < back(c.queue) and not c.halt[0]:
                place = _next_candidate(c, p, reservation, _try_to_advance(c, p, reservation, veto, place))
        ended = front(c.ends)
    return False


@part
def start_heads(c, p):
    """Start jobs from the front of the queue, up to the first that cannot be placed."""
    head = front(c.queue)
    while head < back(c.queue):
        job = c.queue.item[head]
        block = block_for(c, p, job, p.nodes.free, p.nodes.bound)
        if block == NOWHERE and p.kills and p.rule != NO_RESERVATION and _make_room(c, p, job):
            block = block_for(c, p, job, p.nodes.free, p.nodes.bound)
        if block == NOWHERE:
            return
        head = start(c, p, head, block, False)


@part
def block_for(c, p, job, counts, bound):
    """Find the block that a job would get according to `counts`, or `NOWHERE`."""
    nodes, lowest, procs = p.nodes, p.allocation.stage[job], c.jobs.procs[job]
    for stage in range(lowest, _last_stage(p, lowest) + 1):
        if procs <= bound[stage]:
            block = find(nodes.base, counts, bound, stage, procs, p.allocation.best)
            if block != NOWHERE:
                return block
    return NOWHERE


@part
def _last_stage(p, stage):
    return min(stage + p.allocation.relaxed, p.nodes.size.size - 1)


@part
def start(c, p, place, block, open_only):
    """Start a waiting job in a block; return the place of its successor."""
    job, run = c.queue.item[place], c.jobs.run
    used = take(p.nodes, p.ranges, job, c.jobs.procs[job], block, open_only, p.allocation.seed[job])
    run[job] = _shortened(run[job], p.tree.kept[used], p.tree.parts[used])
    p.seat[job] = c.clock[BEGUN]
    return begin(c, place)


@routine
def _next_candidate(c, p, reservation, place):
    """Find the first job, from a place of the queue on, that may be advanced by its width and its estimate."""
    item, procs, estimate = c.queue.item, c.jobs.procs, c.jobs.estimate
    free, extra, longest = c.clock[FREE], reservation[EXTRA], reservation[SHADOW] - c.clock[NOW]
    if free == 0:
        return back(c.queue)
    if p.spare == OFF:
        extra = 0
    elif p.spare == ANY or not _is_counted(p):
        extra = free
    place, end = U(place), U(back(c.queue))
    while place < end:
        job = U(item[place])
        if procs[job] <= free and (procs[job] <= extra or estimate[job] <= longest):
            break
        place += U(1)
    return np.int64(place)


@part
def _try_to_advance(c, p, reservation, veto, place):
    """Start a job behind the head, if there is a block for it; return the place of its successor."""
    job = c.queue.item[place]
    lasts = p.spare != ANY and outlasts(c, reservation, job)
    block = block_beside(c, p, reservation, job, lasts)
    if block == NOWHERE or is_vetoed(c, veto, job):
        return place + 1
    return start_beside(c, p, reservation, place, block, lasts)


@part
def outlasts(c, reservation, job):
    """Tell whether a job would end after the shadow time if it started now."""
    return c.clock[NOW] + c.jobs.estimate[job] > reservation[SHADOW]


@part
def _is_counted(p):
    """Tell whether the nodes that the head leaves over are counted, rather than those held that it needs."""
    return p.allocation.whole or p.rule == BY_COUNT


@part
def block_beside(c, p, reservation, job, lasts):
    """Find the block in which a job may start beside the reservation, or `NOWHERE`."""
    too_many = _is_counted(p) and c.jobs.procs[job] > reservation[EXTRA]
    if lasts and (p.spare == OFF or too_many):
        return NOWHERE
    if lasts and not _is_counted(p):
        return block_for(c, p, job, p.nodes.open, p.nodes.open_bound)
    return block_for(c, p, job, p.nodes.free, p.nodes.bound)


@part
def start_beside(c, p, reservation, place, block, lasts):
    """Start a job behind the head in a block; return the place of its successor."""
    job = c.queue.item[place]
    if lasts and _is_counted(p):
        reservation[EXTRA] -= c.jobs.procs[job]
    p.advanced[job] = True
    return start(c, p, place, block, lasts and not _is_counted(p))


@part
def _begin_expecting(p, stage):
    nodes = p.nodes
    for block in range(nodes.base[stage], nodes.base[_last_stage(p, stage) + 1]):
        nodes.coming[block] = nodes.free[block]


@part
def _first_that_will_do(p, stage, procs):
    nodes = p.nodes
    for block in range(nodes.base[stage], nodes.base[_last_stage(p, stage) + 1]):
        if nodes.coming[block] >= procs:
            return block
    return NOWHERE


@routine
def _make_room(c, p, job):
    """Kill advanced jobs that are past their estimates, if that makes room for a job; tell whether it does.

    If whatever fits was started, all advanced jobs may be killed once the reservation of the job has come.
    """
    running, procs, stage = c.running, c.jobs.procs[job], p.allocation.stage[job]
    comes = p.spare == ANY and 0 <= c.promise[job] <= c.clock[NOW]
    place, most, until = front(running), 0, NEVER if comes else c.clock[NOW]
    while place < back(running) and running.key[place] <= until:
        other = running.item[place]
        if p.advanced[other]:
            if most == 0:
                _begin_expecting(p, stage)
            most = max(most, expect(p.nodes, p.ranges, other, stage, _last_stage(p, stage)))
        place += 1
    if most < procs:
        return False
    block = _first_that_will_do(p, stage, procs)
    while p.nodes.free[block] < procs:
        _kill(c, p, _latest_of_those(c, p, block, until))
    return True


@part
def _latest_of_those(c, p, block, until):
    """Find, of the advanced jobs with nodes in a block and estimates up to an instant, the one that started last."""
    running, latest = c.running, NOBODY
    place = front(running)
    while place < back(running) and running.key[place] <= until:
        job = running.item[place]
        if p.advanced[job] and nodes_in(p.nodes, p.ranges, job, block) > 0:
            later = latest == NOBODY or c.start[job] > c.start[latest]
            tie = latest != NOBODY and c.start[job] == c.start[latest]
            if later or (tie and c.rank[job] > c.rank[latest]):
                latest = job
        place += 1
    return latest


@part
def _kill(c, p, job):
    start, run = c.start[job], c.jobs.run
    remove(c.ends, start + run[job], p.seat[job])
    remove(c.running, start + c.jobs.estimate[job], job)
    run[job] = c.clock[NOW] - start
    p.killed[job] = True
    c.clock[FREE] += c.jobs.procs[job]
    release(p.nodes, p.ranges, job)


@part
def reserve(c, p, reservation):
    """Make the reservation of the head, which cannot be placed now."""
    if not waiting(c):
        reservation[HEAD] = NOBODY
        reservation[SHADOW] = reservation[ALARM] = NEVER
        return
    head = first_item(c.queue)
    if p.rule == NO_RESERVATION:
        shadow, due = NEVER, True
    elif p.spare == ANY and c.promise[head] >= 0:
        shadow, due = c.promise[head], True  # it stays
    elif p.allocation.whole or p.rule == BY_COUNT:
        shadow, due = _when_enough(c, reservation, head)
    else:
        shadow, due = _when_placed(c, p, reservation, head)
    if p.rule != NO_RESERVATION and c.promise[head] < 0:
        c.promise[head] = shadow
    if p.spare == ANY:
        due = shadow <= c.clock[NOW]  # then it wants no pass of its own
    reservation[HEAD], reservation[SHADOW] = head, shadow
    reservation[ALARM] = shadow if p.kills and not due else NEVER


@part
def _when_enough(c, reservation, head):
    """Find when there are enough nodes for the head, and whether free nodes and those of overdue jobs suffice now."""
    running, procs, now = c.running, c.jobs.procs[head], c.clock[NOW]
    available, shadow, due = c.clock[FREE], now, True
    if available < procs:
        place, available = _released_by(c, now, front(running), available)
        due, shadow = available >= procs, now + 1
        place, available = _released_by(c, shadow, place, available)
        while available < procs:
            shadow = running.key[place]
            place, available = _released_by(c, shadow, place, available)
    reservation[EXTRA] = available - procs
    return shadow, due


@part
def _released_by(c, instant, place, available):
    running = c.running
    while place < back(running) and running.key[place] <= instant:
        available += c.jobs.procs[running.item[place]]
        place += 1
    return place, available


@routine
def _when_placed(c, p, reservation, head):
    """Find when and where the head can be placed, and hold its nodes there; tell the same as `_when_enough`."""
    nodes, running, now = p.nodes, c.running, c.clock[NOW]
    procs, stage = c.jobs.procs[head], p.allocation.stage[head]
    _begin_expecting(p, stage)
    place, most = _expected_by(c, p, stage, now, front(running), 0)
    due, shadow = most >= procs, now + 1
    place, most = _expected_by(c, p, stage, shadow, place, most)
    while most < procs:
        shadow = running.key[place]
        place, most = _expected_by(c, p, stage, shadow, place, most)
    block = _first_that_will_do(p, stage, procs)
    forget_held(nodes, reservation[HELD_FIRST], reservation[HELD_LAST])
    node = first_node(nodes, block, stage_of(nodes, block))
    reservation[HELD_FIRST] = node
    while procs > 0:
        owner, begin = nodes.owner[node], node
        node = min(end_of_range(nodes, p.ranges, node), begin + procs)
        if owner == NOBODY or max(c.start[owner] + c.jobs.estimate[owner], now + 1) <= shadow:
            hold(nodes, begin, node, owner == NOBODY)  # now, or as soon as they are free
            procs -= node - begin
    reservation[HELD_LAST] = node
    return shadow, due


@part
def _expected_by(c, p, stage, instant, place, most):
    running = c.running
    while place < back(running) and running.key[place] <= instant:
        most = max(most, expect(p.nodes, p.ranges, running.item[place], stage, _last_stage(p, stage)))
        place += 1
    return place, most
