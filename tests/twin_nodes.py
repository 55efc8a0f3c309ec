"""
Naive twins of two schemes that plan with exact nodes in a k-ary n-tree: conservative backfilling, in which every
waiting job holds a reservation of nodes, and EASY with lookahead (DPSA), which backfills the set of jobs that
together use the most nodes.

They are to be checked by eye, like `twin_tree`, whose terms and conventions hold here too (trace order, rounds of an
instant, blocks, a job on [start, end)), and import nothing from the package. Points that are easily missed:

* The order of *arrival* is submit time, then trace order. It decides in which order newcomers get their reservations
  and which numbers random draws start from, whatever the queue order is.
* An estimate of 0 s counts as 1 s.
* "rebuild" is done in every pass, and may delay a job whose reservation has just come due.
* A candidate of the lookahead that cannot start beside the others still counts towards the budget.
"""

from collections import namedtuple

from twin_tree import TREE, blocks_of, rules
from twins import planned

Planned = namedtuple("Planned", "start end nodes promise")  # nodes: sorted tuple of node numbers
Filled = namedtuple("Filled", "start end nodes backfilled promise")
Entry = namedtuple("Entry", "nodes since until")  # of a plan: the nodes are held on [since, until)


def conservative(
    jobs,
    k,
    n,
    installed,
    *,
    allocation="contiguous",
    seed=0,
    speedup=0.0,
    scale_estimate=False,
    compression="queue",
    compress_on="early",
    repeat=False,
    order="fcfs",
):
    """
    Conservative backfilling on nodes 0..installed-1 of a k-ary n-tree; outcomes in trace order.

    Compression is "none", in "queue" or "reservation" order, or "rebuild". `promise` is the first time that was ever
    reserved for the job.
    """
    assert all(job.run <= job.estimate for job in jobs)
    assert compression in ("none", "queue", "reservation", "rebuild"), compression
    assert compress_on in ("early", "completion"), compress_on
    assert order in ("fcfs", "sjf"), order
    jobs = planned(jobs)
    arrival, estimate, run_time, place = rules(jobs, k, n, installed, allocation, seed, speedup, scale_estimate)

    queue = sorted(arrival, key=lambda j: jobs[j].estimate) if order == "sjf" else arrival  # ties by arrival
    coming, waiting, running = list(arrival), [], []
    plan = {}  # the entry of every running job and, once it has a reservation, of every waiting one
    starts, ends, nodes, promises = {}, {}, {}, {}

    def earliest(j, now):
        """The entry of the job at the earliest time from now on at which the plan has nodes for it."""
        for t in sorted([now] + [entry.until for entry in plan.values() if entry.until > now]):
            holders = [entry for entry in plan.values() if entry.since < t + estimate(j) and t < entry.until]
            held = {v for entry in holders for v in entry.nodes}
            chosen = place(j, [v for v in range(installed) if v not in held])
            if chosen is not None:
                return Entry(tuple(sorted(chosen)), t, t + estimate(j))
        raise AssertionError("an empty machine has room for every job")

    def reserve(j, now):
        plan[j] = earliest(j, now)
        promises.setdefault(j, plan[j].since)

    def visit(now):
        """Return each waiting job in turn an earlier reservation if there is one; say whether any got one."""
        moved = False
        later = [j for j in queue if j in waiting and j in plan and plan[j].since > now]
        if compression == "reservation":
            later.sort(key=lambda j: (plan[j].since, arrival.index(j)))
        for j in later:
            old = plan.pop(j)
            new = earliest(j, now)
            plan[j] = new if new.since < old.since else old
            moved = moved or new.since < old.since
        return moved

    while coming or waiting or running:
        now = min([jobs[j].submit for j in coming] + [ends[j] for j in running] + [plan[j].since for j in waiting])
        ended = [j for j in running if ends[j] == now]
        running = [j for j in running if ends[j] > now]
        compress = any(compress_on == "completion" or plan[j].until > now for j in ended)
        for j in ended:
            del plan[j]
        newcomers = [j for j in coming if jobs[j].submit == now]
        coming = [j for j in coming if jobs[j].submit > now]
        waiting += newcomers

        if compression == "rebuild":
            for j in waiting:
                plan.pop(j, None)
            for j in [j for j in queue if j in waiting]:
                reserve(j, now)
        else:
            if compression != "none" and compress:
                while visit(now) and repeat:
                    pass
            for j in newcomers:
                reserve(j, now)

        for j in [j for j in waiting if plan[j].since <= now]:
            waiting.remove(j)
            running.append(j)
            starts[j], nodes[j] = now, plan[j].nodes
            ends[j] = now + run_time(j, nodes[j])

    return [Planned(starts[j], ends[j], nodes[j], promises[j]) for j in range(len(jobs))]


def dpsa(
    jobs,
    k,
    n,
    installed,
    *,
    variant="n",
    budget=None,
    depth=None,
    allocation="contiguous",
    reservation="count",
    seed=0,
    speedup=0.0,
    scale_estimate=False,
):
    """
    EASY with lookahead on nodes 0..installed-1 of a k-ary n-tree; outcomes in trace order.

    Of the first `depth` jobs behind a blocked head (None: all), those are started that together use the most nodes.
    The search takes them in queue order (variant "p"), narrow ("n") or wide ones ("w") first, and tries `budget` times
    at most. `promise` is the reservation time found when the job first was a blocked head (-1: never).
    """
    assert variant in ("p", "n", "w"), variant
    assert reservation in ("count", "block"), reservation
    jobs = planned(jobs)
    arrival, estimate, run_time, place = rules(jobs, k, n, installed, allocation, seed, speedup, scale_estimate)

    machine = list(range(installed))
    coming, waiting, running = list(arrival), [], []  # the first two in queue order, which is that of arrival
    starts, ends, nodes, backfilled, promises = {}, {}, {}, set(), {}

    def free():
        held = [v for j in running for v in nodes[j]]
        return [v for v in machine if v not in held]

    def start(j, chosen, now):
        waiting.remove(j)
        running.append(j)
        starts[j], nodes[j] = now, tuple(sorted(chosen))
        ends[j] = now + run_time(j, nodes[j])

    def release(j, now):
        """When a running job is thought to end: one second from now if it should have ended already."""
        return max(starts[j] + estimate(j), now + 1)

    def reserve(head, now):
        """The earliest time at which the head is thought to fit, and the nodes then free in the block it fits in."""
        rooms = blocks_of(jobs[head].procs, k, n, installed, allocation) if reservation == "block" else [machine]
        for t in sorted([now] + [release(j, now) for j in running]):
            released = free() + [v for j in running if release(j, now) <= t for v in nodes[j]]
            for block in rooms:
                room = [v for v in block if v in released]
                if len(room) >= jobs[head].procs:
                    return t, room
        raise AssertionError("an empty machine has room for every job")

    def backfill(head, now):
        """Start the fullest set that the head's reservation admits, and return that reservation's time."""
        t, room = reserve(head, now)
        reserved = room[: jobs[head].procs]
        extra = len(room) - jobs[head].procs
        unused = free()
        behind = waiting[1:] if depth is None else waiting[1 : 1 + depth]
        candidates = [j for j in behind if jobs[j].procs <= len(unused)]
        candidates.sort(key=lambda j: {"p": 0, "n": 1, "w": -1}[variant] * jobs[j].procs)  # ties stay in queue order

        def place_beside(j, others):
            """The nodes on which the job may start beside the others, a list of (job, nodes), or None."""
            taken = [v for _, chosen in others for v in chosen]
            left = [v for v in unused if v not in taken]
            if now + estimate(j) <= t:
                return place(j, left)
            if reservation == "count":
                return None
            if allocation in TREE:
                return place(j, [v for v in left if v not in reserved])
            lasting = sum(jobs[other].procs for other, _ in others if now + estimate(other) > t)
            return place(j, left) if jobs[j].procs <= extra - lasting else None

        for j, chosen in fullest(candidates, place_beside, len(unused), budget):
            start(j, chosen, now)
            backfilled.add(j)
        return t

    while coming or waiting or running:
        now = min([jobs[j].submit for j in coming] + [ends[j] for j in running])
        running = [j for j in running if ends[j] > now]
        waiting += [j for j in coming if jobs[j].submit == now]
        coming = [j for j in coming if jobs[j].submit > now]
        while waiting and place(waiting[0], free()) is not None:
            start(waiting[0], place(waiting[0], free()), now)
        if waiting:
            head = waiting[0]
            t = backfill(head, now)
            promises.setdefault(head, t)

    return [Filled(starts[j], ends[j], nodes[j], j in backfilled, promises.get(j, -1)) for j in range(len(jobs))]


def fullest(candidates, place_beside, unused, budget):
    """The set of candidates, a list of (job, nodes), that uses the most nodes: the first found, depth first."""

    def used(some):
        return sum(len(chosen) for _, chosen in some)

    stack, best, tries, i = [], [], 0, 0
    while used(best) < unused and len(best) < len(candidates):  # a fuller set than such a one cannot be found
        if i < len(candidates):
            if tries == budget:
                break
            tries += 1
            chosen = place_beside(candidates[i], stack)
            if chosen is not None:
                stack.append((candidates[i], chosen))
                best = max(best, list(stack), key=used)  # the old one if they are equal
        elif stack:
            i = candidates.index(stack.pop()[0])
        else:
            break
        i += 1
    return best
