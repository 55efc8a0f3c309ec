"""
A naive twin of `Schedule.why`: what a job could expect, by simulating anew what was known at each instant.

It imports nothing from the package. Jobs are named by their position in the list they came in, which is the order of
arrival; times are whole seconds. A schedule is the list of its start times; `starts_of` gives it for a list of jobs.
"""

from collections import namedtuple

from twins import planned

Change = namedtuple("Change", "time expected_start")


def news(jobs, start, j):
    """Return the instants, in order, at which something unforeseeable happens while job j waits."""
    times = set()
    for job, begun in zip(planned(jobs), start, strict=True):
        times.add(job.submit)
        if job.run != job.estimate:
            times.add(begun + job.run)
        if job.run > job.estimate:
            times.add(begun + job.estimate)
    return sorted(t for t in times if jobs[j].submit <= t <= start[j])


def known(jobs, start, now):
    """Return the jobs as known at an instant: those that are still running run as long as estimated."""
    seen = []
    for job, begun in zip(planned(jobs), start, strict=True):
        if job.submit > now:
            continue
        if begun + job.run <= now:
            seen.append(job)
        elif begun <= now and begun + job.estimate <= now:
            seen.append(job._replace(run=now + 1 - begun))
        else:
            seen.append(job._replace(run=job.estimate))
    return seen


def expectation(starts_of, jobs, start, j, now):
    """Return when job j could expect to start at an instant."""
    return starts_of(known(jobs, start, now))[j]


def expected(starts_of, jobs, start, j):
    """Return the changes of what job j could expect, the first of them at its submission."""
    rows = []
    for now in news(jobs, start, j):
        found = expectation(starts_of, jobs, start, j, now)
        if not rows or rows[-1].expected_start != found:
            rows.append(Change(now, found))
    return rows


def others(jobs, start, j):
    """Return (came, processor-seconds) of each job that held processors while job j waited, by its position."""
    found = {}
    for i, (job, begun) in enumerate(zip(jobs, start, strict=True)):
        seconds = [t for t in range(jobs[j].submit, start[j]) if begun <= t < begun + job.run]
        if not seconds or i == j:
            continue
        came = "submitted before it" if i < j else "submitted after it"
        ran = begun < jobs[j].submit or (begun == jobs[j].submit and i < j)
        found[i] = "ran already" if ran else came, len(seconds) * job.procs
    return found


def free(jobs, procs, start, j):
    """Return the free processors in each second in which job j waits."""
    held = [
        sum(job.procs for job, begun in zip(jobs, start, strict=True) if begun <= t < begun + job.run)
        for t in range(jobs[j].submit, start[j])
    ]
    return [procs - each for each in held]
