"""The relaxations behind lower bounds, and the best schedules of small instances, in plain Python; nothing is shared.

Jobs are (submit, run, procs), in order of submission.
"""

from fractions import Fraction
from itertools import permutations


def least_busy_time(jobs, capacity, weights):
    """Do the work tick by tick, `capacity` ticks a second, always for the job with the most weight per unit of work."""
    return sum(
        weight * (Fraction(sum(ticks) * 2 + len(ticks), 2 * len(ticks) * capacity) - submit)
        for (submit, _, _), weight, ticks in zip(
            jobs, weights, _ticks(jobs, capacity, lambda i, left: (-weights[i] / _work(jobs[i]), i)), strict=True
        )
        if ticks
    )


def least_turnaround(jobs, capacity):
    """Do the work tick by tick, always for the job with the least work left."""
    return sum(
        Fraction(ticks[-1] + 1, capacity) - submit
        for (submit, _, _), ticks in zip(jobs, _ticks(jobs, capacity, lambda i, left: (left, i)), strict=True)
        if ticks
    )


def _work(job):
    return Fraction(job[1] * job[2])


def _ticks(jobs, capacity, key):
    """Return the ticks that are spent on each job."""
    left, done, now = [run * procs for _, run, procs in jobs], [[] for _ in jobs], 0
    while any(left):
        there = [i for i, job in enumerate(jobs) if left[i] and job[0] * capacity <= now]
        if there:
            i = min(there, key=lambda i: key(i, left[i]))
            left[i] -= 1
            done[i].append(now)
        now += 1
    return done


def bound_at_prices(jobs, capacity, slopes, free, prices, step):
    """Let each job start at whichever second costs it least."""

    def price(second):
        return prices[second // step] if second // step < len(prices) else 0.0

    end = len(prices) * step
    total = 0.0
    for (submit, run, procs), slope, grace in zip(jobs, slopes, free, strict=True):
        total += min(
            slope * max(0, start - submit - grace) + procs * sum(price(second) for second in range(start, start + run))
            for start in range(submit, max(submit, end) + 1)
        )
    return total - capacity * step * sum(prices)


def best(jobs, capacity, costs):
    """Return the least of each cost over the starts of all schedules: jobs are placed in turn, each as early as it can.

    Some order of the jobs gives the best schedule, provided that a later start never costs less.
    """
    schedules = [_starts(jobs, capacity, order) for order in permutations(range(len(jobs)))]
    return [min(map(cost, schedules)) for cost in costs]


def _starts(jobs, capacity, order):
    used, starts = {}, [None] * len(jobs)
    for i in order:
        submit, run, procs = jobs[i]
        start = submit
        while any(used.get(second, 0) + procs > capacity for second in range(start, start + run)):
            start += 1
        for second in range(start, start + run):
            used[second] = used.get(second, 0) + procs
        starts[i] = start
    return starts
