"""
Naive twins of moldable scheduling: plain lists and a schedule made anew for every question, to be checked by eye.

They follow the specification, sections 2 and 7.1, with 1.1 (instants) and 1.5 (the conservative schedule), and import
nothing from the package. Jobs are named by their position in the list they came in; queue order is submit time, then
that position. At each instant all completions, all arrivals, then one scheduling pass. A job that runs holds its
processors until its estimated end, where it would be killed; no job takes less than a second.

The text leaves these points open; they are decided here:

1. A reserved start is never an event of its own. Every pass makes all reservations anew, and the earliest that is not
   now begins at the estimated end of a running job. If that job ends sooner, there is a pass then. So the fair-share
   scheme needs no scheduling point at its reservation; `_simulate` asserts as much for all three schemes.
2. The mix is in the order of arrival (1.1), whether its jobs wait or run. Running jobs count in full, with the work of
   their whole run. Processors are moved from and to their limits as well (2.3), by the slope at the limit and not at
   the width they run on.
3. Limits are computed once in a pass and stand while jobs start in it. FS in the band is the rounded, clamped limit.
4. ``backfill="start-now"`` concerns the jobs behind the reservation; until there is one, jobs choose freely.
5. Greedy: reservations are made anew before the arrivals of the instant choose, so a job chooses in a profile that
   knows the completions of the instant; the arrivals are the end of the queue, so one walk along it does both.
6. If a job gains nothing from one more processor, the iterative scheme gives it none, even if two more would help
   (which is possible, since durations are whole seconds).
7. A rigid job beside moldable ones has its share, which neither loses nor gains processors and does not bind it: it
   runs on the processors it asks for, from the start of an iterative decision on.
"""

from bisect import bisect
from collections.abc import Callable
from itertools import pairwise
from math import ceil, floor, fsum, inf, sqrt
from typing import NamedTuple


class Moldable(NamedTuple):
    """A moldable job: `run` <= `estimate` are whole seconds on `procs` processors, at least 1."""

    submit: int
    run: int
    estimate: int
    procs: int
    speedup: Callable[[int], float]  # of n = 1 .. processors of the machine
    slope: Callable[[int], float]  # right derivative of the speedup
    rigid: bool = False  # runs on `procs`, whatever its speedup


def downey(A, sigma):
    """Return Downey's speedup and its right derivative (7.1). Where two formulas meet, the first one counts."""
    A, sigma = float(A), float(sigma)

    def speedup(n):
        if sigma <= 1:
            if n <= A:
                return A * n / (A + sigma * (n - 1) / 2)
            if n <= 2 * A - 1:
                return A * n / (sigma * (A - 1 / 2) + n * (1 - sigma / 2))
        elif n <= A + A * sigma - sigma:
            return n * A * (sigma + 1) / (sigma * (n + A - 1) + A)
        return A

    def slope(n):
        if sigma <= 1:
            if n < A:
                below = A + sigma * (n - 1) / 2
                return A * (A - sigma / 2) / (below * below)
            if n < 2 * A - 1:
                below = sigma * (A - 1 / 2) + n * (1 - sigma / 2)
                return A * sigma * (A - 1 / 2) / (below * below)
        elif n < A + A * sigma - sigma:
            below = sigma * (n + A - 1) + A
            return A * (sigma + 1) * (sigma * (A - 1) + A) / (below * below)
        return 0.0

    return speedup, slope


def duration(seconds, job, n):
    """Return how long a job takes on n processors, from its seconds on the processors of the trace (2.1)."""
    x = (seconds * job.speedup(job.procs)) / job.speedup(n)
    return max(1, ceil(x * (1 - 1e-12)))


# --- ---- limits ---
def fair_limits(weights, procs, overbooking, weight="sqrt"):
    """Share the processors out by weight (2.2)."""
    assert weight in ("sqrt", "proportional"), weight
    shares = [sqrt(w) for w in weights] if weight == "sqrt" else weights
    total = fsum(shares)
    rounded = [floor(((overbooking * share) / total) * procs + 1 / 2 + 1e-9) for share in shares]
    return [min(max(limit, 1), procs) for limit in rounded]


def efficiency_limits(limits, slopes, procs, efficiency, canmove="role", rigid=()):
    """Move processors from flat speedup curves to steep ones, within a band around the fair shares (2.3)."""
    assert canmove in ("role", "literal"), canmove
    least = [max(1, ceil((1 - efficiency) * share - 1e-9)) for share in limits]
    most = [min(procs, floor((1 + efficiency) * share + 1e-9)) for share in limits]
    limits = list(limits)
    direction = [None for _ in limits]

    def slope(i):
        return floor(1e12 * slopes[i](limits[i]) + 1 / 2)

    while True:
        movable = [i for i in range(len(limits)) if i not in rigid]
        if canmove == "literal":  # for the rest of the call: the direction lets no job come back from its bound
            movable = [i for i in movable if least[i] < limits[i] < most[i]]
        donors = [i for i in movable if limits[i] > least[i] and direction[i] != "gain"]
        receivers = [i for i in movable if limits[i] < most[i] and direction[i] != "lose"]
        if not donors or not receivers:
            return limits
        donor, receiver = min(donors, key=slope), max(receivers, key=slope)  # of equals the first
        if slope(donor) >= slope(receiver):
            return limits
        limits[donor] -= 1
        limits[receiver] += 1
        direction[donor], direction[receiver] = "lose", "gain"


# ---- the profile: a list of (time, processors free from then on), by time, from now to eternity


def profile_of(running, procs, now):
    """Return the profile under running jobs, given as (estimated end, procs)."""
    profile = [(now, procs)]
    for end, width in running:
        hold(profile, now, end, width)
    return profile


def hold(profile, start, end, width):
    """Take processors out of the profile on [start, end)."""
    for time in (start, end):
        last = bisect(profile, (time, inf)) - 1  # the step that the time falls in
        if profile[last][0] < time:
            profile.insert(last + 1, (time, profile[last][1]))
    profile[:] = [(time, free - width if start <= time < end else free) for time, free in profile]


def earliest(profile, width, seconds):
    """Return the first time from which `width` processors stay free for `seconds`."""
    start = None
    for (time, free), (end, _) in pairwise([*profile, (inf, 0)]):
        if free < width:
            start = None
            continue
        start = time if start is None else start
        if end - start >= seconds:
            return start
    raise AssertionError("the whole machine is free in the end")


def placements(job, profile, widths):
    """Return (estimated completion, width, start) of a job for each of the widths: the least is the best."""
    options = []
    for n in [job.procs] if job.rigid else widths:
        seconds = duration(job.estimate, job, n)
        start = earliest(profile, n, seconds)
        options.append((start + seconds, n, start))
    return options


# --- ---- the schemes ---
def fair_share(
    jobs,
    procs,
    overbooking=1,
    efficiency=0,
    weight="sqrt",
    work="sequential",
    mix="queued+running",
    canmove="role",
    backfill="any",
):
    """
    Let each job choose, up to its limit, the width with which it is done first; reserve for one job only (2.4).

    Returns (start, width) per job.
    """
    assert work in ("sequential", "area"), work
    assert mix in ("queued+running", "queued"), mix
    assert backfill in ("any", "start-now"), backfill

    def weight_of(job):
        return job.estimate * (job.speedup(job.procs) if work == "sequential" else job.procs)

    def decide(now, queue, running):
        mixed = queue + list(running) if mix == "queued+running" else queue
        mixed = sorted(mixed, key=lambda j: (jobs[j].submit, j))
        limits = fair_limits([weight_of(jobs[j]) for j in mixed], procs, overbooking, weight)
        rigid = [i for i, j in enumerate(mixed) if jobs[j].rigid]
        limits = efficiency_limits(limits, [jobs[j].slope for j in mixed], procs, efficiency, canmove, rigid)
        limit = dict(zip(mixed, limits, strict=True))
        profile = profile_of(running.values(), procs, now)
        begun, reserved = {}, []
        for j in queue:
            options = placements(jobs[j], profile, range(1, limit[j] + 1))
            if reserved and backfill == "start-now":
                options = [option for option in options if option[2] == now]
            if not options:
                continue
            completion, width, start = min(options)
            if start == now:
                begun[j] = width
            elif not reserved:
                reserved = [start]
            else:
                continue
            hold(profile, start, completion, width)
        return begun, reserved

    return _simulate(jobs, procs, decide)


def greedy(jobs, procs):
    """
    Fix at submission, for good, the width with which a job is done first; then be conservative (2.4).

    Returns (start, width) per job.
    """
    widths = {}

    def decide(now, queue, running):
        profile = profile_of(running.values(), procs, now)
        starts = {}
        for j in queue:
            allowed = [widths[j]] if j in widths else range(1, procs + 1)
            completion, widths[j], starts[j] = min(placements(jobs[j], profile, allowed))
            hold(profile, starts[j], completion, widths[j])
        begun = {j: widths[j] for j in queue if starts[j] == now}
        return begun, [starts[j] for j in queue if j not in begun]

    return _simulate(jobs, procs, decide)


def iterative(jobs, procs, head=None, trace=None):
    """
    Widen the queued jobs one processor at a time, as long as that lowers their mean turnaround (2.5).

    `head` caps the number of jobs at the head of the queue that are treated. The text does not say what becomes of the
    others: here they wait, and do not exist for the decision. To the list `trace` goes each step: (now, job, width
    tried, accepted, sum of the estimated completions with that width). Returns (start, width) per job.
    """

    def decide(now, queue, running):
        queue = queue[:head]
        queued = [jobs[j] for j in queue]
        widths, starts, steps = one_decision(list(running.values()), queued, procs, now)
        if trace is not None:
            trace.extend((now, queue[i], *step) for i, *step in steps)
        begun = {j: width for j, width, start in zip(queue, widths, starts, strict=True) if start == now}
        return begun, [start for start in starts if start > now]

    return _simulate(jobs, procs, decide)


def one_decision(running, queue, procs, now):
    """
    Make one scheduling decision of the iterative scheme (2.5).

    `running` lists (estimated end, procs), `queue` the queued Moldables in queue order. Returns the widths and the
    starts (those that are not now are reserved) of the queued jobs, and the steps: (position in the queue, width tried,
    accepted, sum of the estimated completions with that width).
    """

    def estimate(i, n):
        return duration(queue[i].estimate, queue[i], n)

    def conservative():
        """Return the starts with the widths as they are, and the sum of the estimated completions."""
        profile = profile_of(running, procs, now)
        placed, total = [], 0
        for i, width in enumerate(widths):
            seconds = estimate(i, width)
            start = earliest(profile, width, seconds)
            hold(profile, start, start + seconds, width)
            placed.append(start)
            total += start + seconds
        return placed, total

    def gain(i):
        return estimate(i, widths[i]) - estimate(i, widths[i] + 1) if widths[i] < procs else 0

    widths, steps = [job.procs if job.rigid else 1 for job in queue], []
    unmarked = [i for i, job in enumerate(queue) if not job.rigid]
    starts, best = conservative()
    while unmarked and gain(i := max(unmarked, key=gain)) > 0:  # of equals the first
        widths[i] += 1
        tried, total = conservative()
        steps.append((i, widths[i], total < best, total))
        if total < best:
            starts, best = tried, total
        else:
            widths[i] -= 1
            unmarked.remove(i)
    return widths, starts, steps


def _simulate(jobs, procs, decide):
    """
    Go from event to event and return (start, width) per job.

    `decide` receives the time, the queue and the running jobs, {job: (estimated end, width)} in order of start. It
    returns the jobs to start, {job: width} in queue order, and the times reserved for others.
    """
    coming = sorted(range(len(jobs)), key=lambda j: (jobs[j].submit, j))
    queue, running, placed, ends, reserved = [], {}, {}, {}, []
    while coming or queue or running:
        now = min([jobs[j].submit for j in coming] + [ends[j] for j in running] + reserved)
        arrived = [j for j in coming if jobs[j].submit == now]
        completed = [j for j in running if ends[j] == now]
        assert arrived or completed, "a reserved start is the end of a job that runs"
        coming = coming[len(arrived) :]
        queue = queue + arrived
        running = {j: held for j, held in running.items() if j not in completed}
        begun, reserved = decide(now, queue, running)
        for j, width in begun.items():
            placed[j] = now, width
            ends[j] = now + duration(jobs[j].run, jobs[j], width)
            running[j] = now + duration(jobs[j].estimate, jobs[j], width), width
        queue = [j for j in queue if j not in begun]
    return [placed[j] for j in range(len(jobs))]
