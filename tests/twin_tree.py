"""
Naive twin of placement scheduling in a k-ary n-tree: plain lists and a rescan at every event, to be checked by eye.

It follows sections 6, 1.1 and 1.4 of the requirements and imports nothing from the package. Jobs are named by
their position in the list they came in (the "trace order"); times are whole seconds; the queue order is submit
time, then trace order; a run time may exceed its estimate. A job holds its nodes on [start, end).

At each distinct instant come all completions, then all arrivals, then one pass. A job that takes no time
completes in a further round of the instant of its start. A pass is also made at the reservation time found in
the last pass, unless the head was already due then ("any": unless that time had come).

A *block* is a sorted list of the installed nodes of one switch. For "first-free" and "random" the machine is the
only block. Decisions where the text leaves room:

* Whether the head is due is decided when its reservation is made: after the kills, before the candidates start.
* A head that had jobs killed for it is placed by the ordinary policy, like any other start. This matters for
  "best-fit" only: a victim spanning several blocks may have opened a tighter block than the one it was killed for.
* "Fewest free" (best-fit) counts only nodes the job may take, so not the reserved ones if it must avoid them.
* An estimate of 0 s counts as 1 s.
* If jobs run on (1.4, `kills` False), nobody is killed, and a pass is made at completions and arrivals only.
* `spare` says nothing about "fcfs", which ignores it.
* "on": only a candidate that starts without being in time uses up extra nodes, one that is in time takes none.
* "any": T is found after the kills and before the candidates start, and may be the very instant (count: enough
  nodes, but no block). It then counts from the next pass on, be that one at the same instant; a job killed at
  the instant of its start has held nothing. Jobs are killed only to start the head at once, so after T, too,
  candidates go on starting, and may be killed at any later pass.
* Seeds, positions and the like are exact integers. A run time's share is exact too: that of the decimal number s.
"""

from collections import namedtuple
from fractions import Fraction
from math import ceil

from twins import planned

Job = namedtuple("Job", "submit run estimate procs")  # whole seconds; run may exceed estimate
Outcome = namedtuple("Outcome", "start end nodes killed backfilled promise")  # nodes: sorted tuple of node numbers

GOLDEN = 0x9E3779B97F4A7C15
WHOLE_MACHINE = "first-free", "random"
TREE = "contiguous", "best-fit", "quasi-contiguous"


def placed(
    jobs,
    k,
    n,
    installed,
    *,
    scheme="easy",
    allocation="contiguous",
    reservation="count",
    seed=0,
    speedup=0.0,
    scale_estimate=False,
    kills=True,
    spare=None,
):
    """
    Schedule the jobs on nodes 0..installed-1 of a k-ary n-tree, and return their outcomes in trace order.

    `speedup` is one number for the tree allocations, or n numbers, one per level a job may have come to lie in,
    for every allocation. `promise` is the reservation time found when the job first was a blocked head (-1: never).

    `spare` says what a candidate for backfilling may take that does not end by the reservation time T. "off":
    nothing. "on": nodes the head does not need (count: in number; block: beside its reservation). None: "off" under
    count, "on" under block. "any": whatever is free; T then stays, and from T on any backfilled job may be killed.
    """
    assert scheme in ("fcfs", "easy"), scheme
    assert reservation in ("count", "block"), reservation
    assert spare in (None, "off", "on", "any"), spare
    assert kills or spare != "any"
    jobs = planned(jobs)
    queue_order, estimate, run_time, place = rules(jobs, k, n, installed, allocation, seed, speedup, scale_estimate)
    machine = list(range(installed))
    coming, waiting, running = list(queue_order), [], []  # the first two in queue order
    starts, ends, nodes, killed, backfilled, promises = {}, {}, {}, set(), set(), {}
    alarm = None  # the time of a pass that no completion or arrival brings about

    def free():
        held = [v for j in running for v in nodes[j]]
        return [v for v in machine if v not in held]

    def blocks(j):
        """The blocks of a job in the order in which the reservation and kill rules take them."""
        return blocks_of(jobs[j].procs, k, n, installed, allocation)

    def start(j, chosen, now):
        waiting.remove(j)
        running.append(j)
        starts[j], nodes[j] = now, tuple(sorted(chosen))
        ends[j] = now + run_time(j, nodes[j])

    def past_estimate(j, now):
        return starts[j] + estimate(j) <= now

    def may_be_killed(j, head, now):
        """A backfilled job past its estimate; under "any", every backfilled job once the head's time has come."""
        time_has_come = spare == "any" and head in promises and promises[head] <= now
        return j in backfilled and (past_estimate(j, now) or time_has_come)

    def kill_for(head, now):
        """Kill jobs that may be killed for the head so that it fits; say whether that can be done."""
        for block in blocks(head):
            victims = [j for j in running if may_be_killed(j, head, now)]
            victims = [j for j in victims if any(v in block for v in nodes[j])]
            to_be_had = free() + [v for j in victims for v in nodes[j]]
            if len([v for v in block if v in to_be_had]) < jobs[head].procs:
                continue
            victims.sort(key=lambda j: (starts[j], queue_order.index(j)))
            while len([v for v in block if v in free()]) < jobs[head].procs:
                j = victims.pop()  # latest start first, then later in the queue first
                running.remove(j)
                killed.add(j)
                ends[j] = now
            return True
        return False

    def released(t, now):
        """The nodes free now or, by the estimates, at time t >= now."""
        return free() + [v for j in running if max(starts[j] + estimate(j), now + 1) <= t for v in nodes[j]]

    def reserve(head, now):
        """The earliest time at which the head is thought to fit, and the block it then fits in."""
        rooms = blocks(head) if reservation == "block" else [machine]
        for t in sorted([now] + [max(starts[j] + estimate(j), now + 1) for j in running]):
            for block in rooms:
                if len([v for v in block if v in released(t, now)]) >= jobs[head].procs:
                    return t, block
        raise AssertionError("an empty machine has room for every job")

    def due(head, now):
        """Could the head be placed (count: are there enough nodes) with every job past its estimate gone?"""
        rooms = blocks(head) if reservation == "block" else [machine]
        to_be_had = free() + [v for j in running if past_estimate(j, now) for v in nodes[j]]
        return any(len([v for v in block if v in to_be_had]) >= jobs[head].procs for block in rooms)

    def backfill(head, now):
        """Start what the head's reservation admits, and return that reservation's time."""
        t, block = reserve(head, now)
        room = [v for v in block if v in released(t, now)]
        reserved = room[: jobs[head].procs]
        extra = len(room) - jobs[head].procs
        for j in waiting[1:]:
            in_time = now + estimate(j) <= t
            if in_time:
                chosen = place(j, free())
            elif spare == "off" or (spare is None and reservation == "count"):
                chosen = None
            elif reservation == "count" or allocation in WHOLE_MACHINE:
                chosen = place(j, free()) if jobs[j].procs <= extra else None
            else:
                chosen = place(j, [v for v in free() if v not in reserved])
            if chosen is not None:
                start(j, chosen, now)
                backfilled.add(j)
                if not in_time:
                    extra -= jobs[j].procs  # not read where the nodes themselves are reserved
        return t

    def backfill_any(now):
        """Start whatever fits."""
        for j in waiting[1:]:
            chosen = place(j, free())
            if chosen is not None:
                start(j, chosen, now)
                backfilled.add(j)

    def make_pass(now):
        """Start what may start; return the time of the pass the head asks for, or None."""
        while waiting:
            head = waiting[0]
            if place(head, free()) is None and not (kills and scheme == "easy" and kill_for(head, now)):
                break
            start(head, place(head, free()), now)
        if not waiting or scheme == "fcfs":
            return None
        if spare == "any":
            if head not in promises:
                promises[head], _ = reserve(head, now)
            backfill_any(now)
            return promises[head] if promises[head] > now else None
        overdue = due(head, now)
        t = backfill(head, now)
        promises.setdefault(head, t)
        return None if overdue or not kills else t

    while coming or waiting or running:
        times = [jobs[j].submit for j in coming] + [ends[j] for j in running]
        now = min(times + ([] if alarm is None else [alarm]))
        running[:] = [j for j in running if ends[j] > now]
        waiting += [j for j in coming if jobs[j].submit == now]
        coming = [j for j in coming if jobs[j].submit > now]
        alarm = make_pass(now)

    return [
        Outcome(starts[j], ends[j], nodes[j], j in killed, j in backfilled, promises.get(j, -1))
        for j in range(len(jobs))
    ]


def rules(jobs, k, n, installed, allocation, seed, speedup, scale_estimate):
    """What the schemes share: the jobs in order of arrival, and the functions estimate, run_time and place."""
    assert allocation in WHOLE_MACHINE + TREE, allocation
    assert k >= 2
    assert 1 <= installed <= k**n
    assert all(1 <= job.procs <= installed for job in jobs)
    per_level = not isinstance(speedup, (int, float))
    assert not per_level or (len(speedup) == n and not scale_estimate)
    arrival = sorted(range(len(jobs)), key=lambda j: (jobs[j].submit, j))

    def estimate(j):
        if scale_estimate and allocation in TREE:
            return max(1, shortened(jobs[j].estimate, speedup))
        return jobs[j].estimate

    def run_time(j, nodes):
        """The run time on these nodes."""
        if per_level:
            return shortened(jobs[j].run, speedup[level_used(nodes, k) - 1])
        return shortened(jobs[j].run, speedup) if allocation in TREE else jobs[j].run

    def place(j, allowed):
        """The nodes the allocation policy picks among the allowed ones, or None."""
        procs = jobs[j].procs
        if allocation == "random" and procs <= len(allowed):
            return draw(allowed, procs, seed * GOLDEN + arrival.index(j) + 1)
        left = set(allowed)
        rooms = [[v for v in block if v in left] for block in blocks_of(procs, k, n, installed, allocation)]
        rooms = [room for room in rooms if len(room) >= procs]
        if not rooms:
            return None
        room = min(rooms, key=len) if allocation == "best-fit" else rooms[0]  # min takes the first of equals
        return room[:procs]

    return arrival, estimate, run_time, place


def level(procs, k):
    """The smallest l >= 1 with k^l >= procs."""
    found = 1
    while k**found < procs:
        found += 1
    return found


def level_used(nodes, k):
    """The smallest l >= 1 such that a single block of k^l nodes holds all the given ones."""
    found = 1
    while min(nodes) // k**found != max(nodes) // k**found:
        found += 1
    return found


def blocks_of(procs, k, n, installed, allocation):
    """The blocks, each a sorted list of nodes, in which `procs` nodes may be placed."""
    if allocation in WHOLE_MACHINE:
        return [list(range(installed))]
    lowest = level(procs, k)
    levels = [lowest, lowest + 1] if allocation == "quasi-contiguous" and lowest < n else [lowest]
    return [
        list(range(first, min(first + k**stage, installed)))
        for stage in levels
        for first in range(0, installed, k**stage)
    ]


def shortened(seconds, s):
    """(1 - s) times the time, rounded up."""
    return ceil(seconds * (1 - Fraction(str(s))))


def draw(allowed, procs, number):
    """`procs` of the allowed nodes at random: the first steps of a shuffle, by Lehmer's generator.

    Its first state is the output of splitmix64 that follows the given number.
    """
    mask = 2**64 - 1
    z = (number + GOLDEN) & mask
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
    state = 1 + (z ^ (z >> 31)) % (2**31 - 2)
    pool = sorted(allowed)
    for i in range(procs):
        state = state * 48271 % (2**31 - 1)
        j = i + state % (len(pool) - i)
        pool[i], pool[j] = pool[j], pool[i]
    return pool[:procs]
