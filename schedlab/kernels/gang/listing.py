"""The operations of jobs, listed without simulating a machine."""

import numpy as np

from .._jit import inlined, kernel, routine
from ..sorted_pairs import NEVER
from . import state
from .meeting import next_pair
from .operations import has_to_meet, in_ring, next_operation, start_job
from .state import new_gang


@kernel
def list_operations(jobs, programs, rules, room, listed):
    """List what the tasks of jobs do, in the order in which each task does it; at most `listed` operations.

    Arguments as in `slices.gang`; of the rules, only those about what jobs do matter; with 0 `listed`, there are only
    the sums. Return whether arrays were too small, as there; the operations, int64 of shape (5, n_operations): task,
    numbered across all jobs; nanoseconds of computing before the operation; the operation; and two values. These are,
    for disk and think operations, nanoseconds and 0; for SEND, the receiving task and the position of its RECEIVE among
    its operations; for RECEIVE, the sending task and 0; else 0 and 0. And the sums, int64 of shape (2, n_tasks),
    nanoseconds: computing; disk and thinking.
    """
    g = new_gang(jobs, programs, rules, room, 0)
    operations, sums = np.zeros((5, listed), np.int64), np.zeros((2, g.tasks.shape[0]), np.int64)
    for job in range(jobs.size.size):
        if not g.clock[state.FULL]:
            start_job(g, rules, job)
            _list(g, rules, job, operations, sums)
    return g.clock[state.FULL], operations[:, : g.clock[state.LOGGED]].copy(), sums


@routine
def _list(g, rules, job, operations, sums):
    """Let each task of a job do one operation in turn, until all have ended."""
    jobs, tasks = g.jobs, g.tasks
    while jobs[job, state.LEFT] > 0 and not g.clock[state.FULL]:
        for task in range(jobs[job, state.FIRST], jobs[job, state.FIRST] + jobs[job, state.SIZE]):
            if tasks[task, state.DONE] == NEVER:
                while g.jobs[job, state.KIND] == state.MESSAGES and has_to_meet(g, task) and not g.clock[state.FULL]:
                    next_pair(g, rules, job)
                next_operation(g, rules, task)
                operation = tasks[task, state.OPERATION]
                burst = (
                    tasks[task, state.BURST]
                    if operation in (state.DISK, state.THINK, state.LAST_DISK, state.LAST_THINK)
                    else 0
                )
                sums[0, task] += tasks[task, state.LENGTH]
                sums[1, task] += burst
                if operations.shape[1] > 0:
                    _list_operation(g, operations, task, burst)
                if operation in (state.END, state.LAST_DISK, state.LAST_THINK):
                    tasks[task, state.DONE] = 0
                    jobs[job, state.LEFT] -= 1
                else:
                    tasks[task, state.HEAD] += 1


@inlined
def _list_operation(g, operations, task, burst):
    at = g.clock[state.LOGGED]
    if at == operations.shape[1]:
        g.clock[state.FULL] |= state.NO_LOG
        return
    operation, place = g.tasks[task, state.OPERATION], in_ring(g, g.tasks[task, state.HEAD])
    operations[0, at], operations[1, at], operations[2, at] = task, g.tasks[task, state.LENGTH], operation
    operations[3, at] = g.queued[task, place, state.QUEUED_PEER] if operation in (state.SEND, state.RECEIVE) else burst
    operations[4, at] = g.queued[task, place, state.QUEUED_OTHER] if operation == state.SEND else 0
    g.clock[state.LOGGED] += 1
