"""
Naive twins of the base schedulers: plain lists and a rescan at every event, to be checked by eye.

They follow sections 1.1, 1.4, 1.5, 5.1 and 10 of the requirements and import nothing from the package, so that a
kernel agreeing with them agrees with a second reading of the same text. Jobs are named by their position in
the list they came in (the "trace order"); times are whole seconds. Under all schemes but conservative backfilling a job
may run on past its estimate.

Whatever the scheme, a job holds its processors on [start, end), and "FCFS order" is submit time, then trace
order. Coincident events are taken in one of two ways. ``events="batched"``: all completions of the instant,
all its arrivals, then one decision. ``events="each"``: one event at a time, arrivals before completions,
completions in the order in which the jobs started, and a decision after each. A job that takes no time
completes at the instant of its start, which is a further event of that instant.

A running job whose estimate has expired is expected to end one second from now (1.4, point 4). An estimate of 0 s
counts as 1 s (`planned`).
"""

from collections import defaultdict, namedtuple
from math import inf, log2, log10, sqrt

Job = namedtuple("Job", "submit run estimate procs")


def table(*rows):
    return [Job(*row) for row in rows]


def planned(jobs):
    """Return the jobs as all twins plan with them: an estimate of 0 s counts as 1 s; the run time stays."""
    return [job._replace(estimate=max(job.estimate, 1)) for job in jobs]


def order_value(order, now, submit, estimate, procs):
    """Return what a named order sorts waiting jobs by, lower first; times count from the first submission."""
    wait, r, s = now - submit, max(estimate, 1), max(submit, 1)
    x = wait / r
    return {
        "fcfs": submit,
        "lcfs": -submit,
        "sjf": estimate,
        "ljf": -estimate,
        "narrow": procs,
        "wide": -procs,
        "saf": estimate * procs,
        "laf": -estimate * procs,
        "xfactor": -(wait + r) / r,
        "wfp3": -(x * x * x) * procs,
        "unicef": -wait / (log2(max(procs, 2)) * r),
        "f1": log10(r) * procs + 870.0 * log10(s),
        "f2": sqrt(r) * procs + 25600.0 * log10(s),
        "f3": r * procs + 6860000.0 * log10(s),
        "f4": r * sqrt(procs) + 530000.0 * log10(s),
    }[order]


def fcfs(jobs, procs, *, order="fcfs", events="batched"):
    """Start jobs in order; the first that does not fit blocks all others. Returns the start times."""
    jobs = planned(jobs)
    ranked = _ranking(jobs, order)

    def decide(now, held, waiting, arrived, early, ended):
        return _take_fitting_heads(jobs, ranked(waiting, now), procs - sum(p for _, p in held))

    return _simulate(jobs, events, decide)


def easy(jobs, procs, *, order="fcfs", backfill=None, events="batched"):
    """
    Let jobs overtake a blocked head unless its start, as estimated at this moment, would suffer (1.4).

    Returns the start times, and per job the shadow time found when it first was a blocked head (-1: never).
    """
    jobs = planned(jobs)
    ranked = _ranking(jobs, order)
    ranked_to_backfill = _ranking(jobs, order if backfill is None else backfill)
    promises = {}

    def decide(now, held, waiting, arrived, early, ended):
        queue = ranked(waiting, now)
        begun = _take_fitting_heads(jobs, queue, procs - sum(p for _, p in held))
        if not queue:
            return begun
        head = queue.pop(0)
        held = held + [(now + jobs[j].estimate, jobs[j].procs) for j in begun]
        free = procs - sum(p for _, p in held)

        def free_at(t):
            return free + sum(p for end, p in held if end <= t)

        shadow = min(end for end, _ in held if free_at(end) >= jobs[head].procs)
        extra = free_at(shadow) - jobs[head].procs
        promises.setdefault(head, shadow)
        for j in ranked_to_backfill(queue, now):
            in_time = now + jobs[j].estimate <= shadow
            if jobs[j].procs <= free and (in_time or jobs[j].procs <= extra):
                begun.append(j)
                free -= jobs[j].procs
                if not in_time:
                    extra -= jobs[j].procs
        return begun

    starts = _simulate(jobs, events, decide)
    return starts, [promises.get(j, -1) for j in range(len(jobs))]


def conservative(
    jobs, procs, *, order="fcfs", compression="queue", compress_on="early", repeat=False, events="batched"
):
    """
    Give every job a reservation on arrival; an early completion lets the reservations move forward (1.5).

    With ``compress_on="completion"`` every completion does; with `repeat`, passes are made until one moves nothing.
    With ``compression="rebuild"`` all reservations are made anew at every decision instead. Returns the start
    times and the first reservation of every job.
    """
    assert compress_on in ("early", "completion"), compress_on
    assert compression in ("queue", "reservation", "none", "rebuild"), compression
    jobs = planned(jobs)
    ranked = _ranking(jobs, order)
    reserved, promises = {}, {}

    def reserve(j, now, held):
        """Reserve the earliest time from now on where the processors stay free for the estimate."""
        estimate, needed = jobs[j].estimate, jobs[j].procs
        holds = [(now, end, p) for end, p in held]
        holds += [(t, t + jobs[i].estimate, jobs[i].procs) for i, t in reserved.items()]

        change = defaultdict(int, {now: 0})
        for begin, end, p in holds:
            change[begin] -= p
            change[end] += p
        free, start = procs, None  # since `start` enough processors have been free
        for t in sorted(change):
            if start is not None and start + estimate <= t:
                break
            free += change[t]
            if free < needed:
                start = None
            elif start is None:
                start = t
        reserved[j] = start
        promises.setdefault(j, reserved[j])

    def compress(now, held):
        fixed = sorted(reserved, key=lambda j: (reserved[j], jobs[j].submit, j))
        for j in ranked(reserved, now) if compression == "queue" else fixed:
            del reserved[j]
            reserve(j, now, held)

    def decide(now, held, waiting, arrived, early, ended):
        if compression == "rebuild":
            reserved.clear()
            arrived = ranked(waiting, now)
        elif (early or (ended and compress_on == "completion")) and compression != "none":
            before = None
            while before is None or (repeat and before != reserved):
                before = dict(reserved)
                compress(now, held)
        for j in arrived:
            reserve(j, now, held)
        begun = [j for j in waiting if reserved[j] <= now]
        for j in begun:
            del reserved[j]
        return begun

    starts = _simulate(jobs, events, decide, reserved)
    return starts, [promises[j] for j in range(len(jobs))]


def _simulate(jobs, events, decide, reserved=None):
    """
    Go from event to event and return the start times; `decide` names the jobs to start after each event.

    `decide` receives the time, the (expected end, procs) of the running jobs, the waiting jobs and, among them, those
    just arrived (both FCFS), and whether a job has just completed before its estimated end, or at all. The times in the
    dictionary `reserved`, which `decide` keeps up to date, are events too.
    """
    assert events in ("batched", "each"), events
    starts = {}
    coming = sorted(range(len(jobs)), key=lambda j: (jobs[j].submit, j))
    waiting, running = [], []  # waiting in FCFS order, running in order of start

    def end(j):
        return starts[j] + jobs[j].run

    def estimated_end(j):
        return starts[j] + jobs[j].estimate

    def expected_end(j, now):
        return now + 1 if estimated_end(j) <= now else estimated_end(j)

    def over(j, now):
        """Tell whether a job is over, also by its estimate; under "each", its completion event may still be to come."""
        return estimated_end(j) <= now and jobs[j].run <= jobs[j].estimate

    while coming or waiting or running:
        times = [jobs[j].submit for j in coming] + [end(j) for j in running]
        now = min(times + list((reserved or {}).values()))
        arrived = [j for j in coming if jobs[j].submit == now]
        completed = [j for j in running if end(j) == now]
        if events == "each":
            arrived = arrived[:1]
            completed = [] if arrived else completed[:1]
        coming = coming[len(arrived) :]
        waiting = waiting + arrived
        running = [j for j in running if j not in completed]
        held = [(expected_end(j, now), jobs[j].procs) for j in running if not over(j, now)]
        early = any(estimated_end(j) > now for j in completed)
        begun = decide(now, held, waiting, arrived, early, bool(completed))
        starts.update((j, now) for j in begun)
        waiting = [j for j in waiting if j not in begun]
        running = running + begun
    return [starts[j] for j in range(len(jobs))]


def _ranking(jobs, order):
    """Return a function that sorts jobs by an order's name or function as it stands now, ties FCFS."""
    first = min((job.submit for job in jobs), default=0)

    def ranked(some, now):
        def key(j):
            submit, _, estimate, procs = jobs[j]
            seen = now - first, submit - first, estimate, procs
            return order(*seen) if callable(order) else order_value(order, *seen), submit, j

        return sorted(some, key=key)

    return ranked


def _take_fitting_heads(jobs, queue, free):
    """Remove jobs from the front of the queue while they fit, and return them."""
    taken = []
    while queue and jobs[queue[0]].procs <= free:
        free -= jobs[queue[0]].procs
        taken.append(queue.pop(0))
    return taken


def dpsa(jobs, procs, variant="n", order="fcfs", events="batched", depth=None, objective=None, budget=None):
    """
    Fill the hole before a blocked head's reservation with the set of jobs that uses most processors (5.1).

    Returns the start times, and per job the shadow time found when it first was a blocked head (-1: never).
    """
    assert variant in ("p", "n", "w"), variant
    assert objective is None or budget is None
    jobs = planned(jobs)
    ranked = _ranking(jobs, order)
    first = min((job.submit for job in jobs), default=0)
    promises = {}

    def value(j, now):
        submit, _, estimate, needed = jobs[j]
        return objective(now - first, submit - first, estimate, needed) if objective else 0

    def decide(now, held, waiting, arrived, early, ended):
        queue = ranked(waiting, now)
        begun = _take_fitting_heads(jobs, queue, procs - sum(p for _, p in held))
        if not queue:
            return begun
        head = queue.pop(0)
        held = held + [(now + jobs[j].estimate, jobs[j].procs) for j in begun]
        releases = sorted(end for end, p in held for _ in range(p))  # one for every processor in use
        free = procs - len(releases)
        shadow = releases[jobs[head].procs - free - 1]
        promises.setdefault(head, shadow)
        # The reservation takes processors released by then, all of the same instant too, before free ones.
        reserved = max(jobs[head].procs - sum(end <= shadow for end in releases), 0)
        availability = [shadow - now] * reserved + [inf] * (free - reserved)  # of each free processor

        lp = [j for j in queue[:depth] if jobs[j].procs <= free]
        lp.sort(key=lambda j: {"p": 0, "n": jobs[j].procs, "w": -jobs[j].procs}[variant])  # ties: in queue order
        return begun + _best_set(jobs, lp, availability, {j: value(j, now) for j in lp}, bool(objective), budget)

    starts = _simulate(jobs, events, decide)
    return starts, [promises.get(j, -1) for j in range(len(jobs))]


def _best_set(jobs, lp, availability, values, weighed, budget):
    """
    Search depth first for the jobs of the list `lp` that use most processors, and return the first such set.

    The processors are in order of availability. If the sets are `weighed`, the sum of the values decides
    between equal sets; else the search may end once no processor is left.
    """
    best, best_merit, nodes = [], (0, 0), 0

    def search(partial, free, i):
        nonlocal best, best_merit, nodes
        merit = sum(jobs[j].procs for j in partial), sum(values[j] for j in partial)
        if merit > best_merit:
            best, best_merit = partial, merit
        while i < len(lp):  # counted from 0, so this includes the last job
            if nodes == budget or (best_merit[0] == len(availability) and not weighed):
                return
            nodes += 1
            estimate, needed = jobs[lp[i]].estimate, jobs[lp[i]].procs
            feasible = [k for k in free if availability[k] >= estimate]
            if len(feasible) >= needed:
                search(partial + [lp[i]], [k for k in free if k not in feasible[:needed]], i + 1)
            i += 1

    search([], list(range(len(availability))), 0)
    return best
