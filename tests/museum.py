"""A museum of schedulers that claim to be EASY and are not: one loop, as people write it by hand, with planted bugs.

Each passes `Schedule.validate`, or nearly always, since it holds no more processors than there are. Three correct
schemes stand beside them: EASY and FCFS as written with a `State`, and a scheme that returns all starts at once.
"""

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

import schedlab as sl


class OneByOne(sl.Scheme):
    """One job at a time, in the order of arrival."""

    def simulate(self, case):
        start, now = [], 0
        for submit, run in zip(case.jobs.submit, case.jobs.run, strict=True):
            start.append(max(now, submit))
            now = start[-1] + run
        return case.outcome(np.array(start))


@sl.python_scheme
def plain_fcfs(state):
    """FCFS in plain Python."""
    for job in state.queue:
        if job.procs > state.free:
            break
        state.start(job)


@sl.python_scheme
def plain_easy(state):
    """EASY in plain Python."""
    for job in state.queue:
        if state.fits(job):
            state.start(job)
        elif not state.reserved:
            state.reserve(job, state.earliest(job))


BUGS = {
    "first fit": "starts whatever fits, and delays the head of the queue for as long as something does",
    "no extra processors": "backfills only what ends by the shadow time",
    "shadow time excluded": "does not backfill what ends exactly at the shadow time",
    "one end at a time": "decides after each completion, though several end at one instant",
    "arrivals before ends": "decides on an arrival before it sees what ends at the same instant",
}


@dataclass(frozen=True)
class ByHand(sl.Scheme):
    """EASY backfilling by hand, with a bug; with none if `bug` is empty."""

    bug: str = ""

    def simulate(self, case):
        submit, run, estimate, procs = (column.tolist() for column in case.jobs)
        free, start, waiting, running, arrived = case.machine.procs, [-1] * len(submit), [], [], 0

        def begin(job):
            nonlocal free
            free -= procs[job]
            start[job] = now
            waiting.remove(job)
            heappush(running, (now + run[job], job))

        def decide():
            while waiting and procs[waiting[0]] <= free:
                begin(waiting[0])
            if not waiting:
                return
            shadow, extra = self.reservation(waiting[0], now, free, start, estimate, procs, running)
            for job in waiting[1:]:
                end = now + estimate[job]
                in_time = end < shadow if self.bug == "shadow time excluded" else end <= shadow
                if procs[job] <= free and (in_time or procs[job] <= extra or self.bug == "first fit"):
                    extra -= 0 if in_time else procs[job]
                    begin(job)

        while arrived < len(submit) or running:
            now = min(submit[arrived : arrived + 1] + [end for end, _ in running[:1]])
            if self.bug == "arrivals before ends" and submit[arrived : arrived + 1] == [now]:
                waiting.append(arrived)
                arrived += 1
                decide()
                continue
            while running and running[0][0] == now:
                free += procs[heappop(running)[1]]
                if self.bug == "one end at a time":
                    decide()
            while arrived < len(submit) and submit[arrived] == now:
                waiting.append(arrived)
                arrived += 1
            decide()
        return case.outcome(np.array(start))

    def reservation(self, head, now, free, start, estimate, procs, running):
        """Return the shadow time of the head, and the extra processors."""
        ends = sorted((start[job] + estimate[job], procs[job]) for _, job in running)
        available, shadow = free, now
        for end, released in ends:
            if available >= procs[head] and end > shadow:
                break
            available, shadow = available + released, end
        return shadow, 0 if self.bug == "no extra processors" else available - procs[head]
