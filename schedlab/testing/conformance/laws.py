"""The laws of scheduling that the starts of another simulator may break, in words."""

import numpy as np

from schedlab.schedule import Schedule
from schedlab.workload.conventions import KEEP

from .matching import NAMED, count


def broken(schedule: Schedule) -> list[str]:
    """Return the laws that a schedule of one machine, jobs in one piece, breaks: in words, each with an example."""
    return [*_early(schedule), *_over_capacity(schedule)]


def broken_as(kind: str | None, schedule: Schedule) -> list[str]:
    """Return the laws of a kind of scheme that an otherwise lawful schedule breaks.

    Jobs start in the order of arrival under "FCFS"; under "EASY" nothing delays the head of the queue.
    """
    if kind == "FCFS":
        return _out_of_order(schedule)
    if kind == "EASY" and schedule.overrun != KEEP:  # then no estimate can be relied on
        return _delayed_head(schedule)
    return []


def _early(schedule):
    submit, start = schedule.submit, schedule.start
    early = np.flatnonzero(start < submit)
    if not early.size:
        return []
    i, number = early[0], schedule.trace.table.index[early[0]]
    return [f"job {number} starts at {start[i]:,} s, before its submission at {submit[i]:,} s{_more(early)}"]


def _out_of_order(schedule):
    """Find jobs that start ahead of one that was submitted earlier; within a second any order will do."""
    submit, start, numbers = schedule.submit, schedule.start, schedule.trace.table.index
    earlier = np.searchsorted(submit, submit)  # how many jobs were submitted before
    latest = np.append(start.min(), np.maximum.accumulate(start))[earlier]  # start of these
    late = np.flatnonzero(start < latest)
    if not late.size:
        return []
    i = late[0]
    passed = numbers[np.flatnonzero(start[: earlier[i]] > start[i])[0]]
    return [
        f"job {numbers[i]} starts at {start[i]:,} s, ahead of job {passed}, which was submitted earlier{_more(late)}"
    ]


def _more(places):
    return f", and {count(len(places) - 1, 'other job')} too" if len(places) > 1 else ""


def _over_capacity(schedule):
    start, end, procs, most = schedule.start, schedule.end, schedule.procs, schedule.machine.procs
    lasts = end > start
    times = np.concatenate([start[lasts], end[lasts]])
    changes = np.concatenate([procs[lasts], -procs[lasts]])
    order = np.argsort(times, kind="stable")
    at = np.flatnonzero(np.append(np.diff(times[order]) > 0, True))
    held, times = np.cumsum(changes[order])[at], times[order][at]
    over = np.flatnonzero(held > most)
    if not over.size:
        return []
    now = times[over[0]]
    started = ", ".join(map(str, schedule.trace.table.index[start == now][:NAMED]))
    seconds = int((np.append(np.diff(times), 0)[over]).sum())
    jobs = f"with job {started}, which starts then" if started else "by jobs that started before"
    return [
        f"at {now:,} s {count(int(held[over[0]]), 'processor')} are held, {jobs}, and the machine has {most:,}; "
        f"it holds more than it has for {count(seconds, 'second')} in all"
    ]


def _delayed_head(schedule):
    """Find a job that starts later than when it became the head of the queue the estimates promised.

    Jobs that start at the instant at which it becomes the head count as running, if they were submitted before it; with
    a pass for each event also the others, since they may have started before.
    """
    start, end = schedule.start.tolist(), schedule.end.tolist()
    expected, procs = (schedule.start + schedule.estimate).tolist(), schedule.procs.tolist()
    heads = np.maximum.accumulate(np.append(schedule.submit[0], np.maximum(schedule.submit[1:], schedule.start[:-1])))
    by_start, began, running, late = np.argsort(schedule.start, kind="stable").tolist(), 0, [], []
    each_event = schedule.events == "each"
    shadows = {}
    for i, now in enumerate(heads.tolist()):
        if start[i] <= now:
            continue
        while began < len(start) and start[by_start[began]] <= now:
            running.append(by_start[began])
            began += 1
        running = [job for job in running if end[job] > now]
        free, shadow = schedule.machine.procs, now
        ends = [(now, 0)]
        for job in running:
            if start[job] < now or job < i or each_event:
                free -= procs[job]
                ends.append((max(expected[job], now + 1), procs[job]))
        for expected_end, released in sorted(ends):
            if free >= procs[i]:
                break
            free, shadow = free + released, expected_end
        if start[i] > shadow:
            late.append(i)
            shadows[i] = now, shadow
    if not late:
        return []
    i, numbers = late[0], schedule.trace.table.index
    now, shadow = shadows[i]
    return [
        f"job {numbers[i]}, the head of the queue from {now:,} s on, could start at {shadow:,} s by the estimates of "
        f"the running jobs, but was delayed to {start[i]:,} s{_more(late)}"
    ]
