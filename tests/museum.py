"""Schemes as users write them: EASY and FCFS with a `State`, and one that returns all starts at once."""

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
