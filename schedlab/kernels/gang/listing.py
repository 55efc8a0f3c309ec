"""The operations of jobs, listed without simulating a machine."""

import numpy as np

from .._jit import inlined, kernel, routine
from ..sorted_pairs import NEVER
from .meeting import next_pair
from .operations import has_to_meet, in_ring, next_operation, start_job
from .state import (
    BURST,
    DISK,
    DONE,
    END,
    FIRST,
    FULL,
    HEAD,
    KIND,
    LAST_DISK,
    LAST_THINK,
    LEFT,
    LENGTH,
    LOGGED,
    MESSAGES,
    NO_LOG,
    OPERATION,
    QUEUED_OTHER,
    QUEUED_PEER,
    RECEIVE,
    SEND,
    SIZE,
    THINK,
    new_gang,
)


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
        if not g.clock[FULL]:
            start_job(g, rules, job)
            _list(g, rules, job, operations, sums)
    return g.clock[FULL], operations[:, : g.clock[LOGGED]].copy(), sums


@routine
def _list(g, rules, job, operations, sums):
    """Let each task of a job do one operation in turn, until all have ended."""
    jobs, tasks = g.jobs, g.tasks
    while jobs[job, LEFT] > 0 and not g.clock[FULL]:
        for task in range(jobs[job, FIRST], jobs[job, FIRST] + jobs[job, SIZE]):
            if tasks[task, DONE] == NEVER:
                while g.jobs[job, KIND] == MESSAGES and has_to_meet(g, task) and not g.clock[FULL]:
                    next_pair(g, rules, job)
                next_operation(g, rules, task)
                operation = tasks[task, OPERATION]
                burst = tasks[task, BURST] if operation in (DISK, THINK, LAST_DISK, LAST_THINK) else 0
                sums[0, task] += tasks[task, LENGTH]
                sums[1, task] += burst
                if operations.shape[1] > 0:
                    _list_operation(g, operations, task, burst)
                if operation in (END, LAST_DISK, LAST_THINK):
                    tasks[task, DONE] = 0
                    jobs[job, LEFT] -= 1
                else:
                    tasks[task, HEAD] += 1


@inlined
def _list_operation(g, operations, task, burst):
    at = g.clock[LOGGED]
    if at == operations.shape[1]:
        g.clock[FULL] |= NO_LOG
        return
    operation, place = g.tasks[task, OPERATION], in_ring(g, g.tasks[task, HEAD])
    operations[0, at], operations[1, at], operations[2, at] = task, g.tasks[task, LENGTH], operation
    operations[3, at] = g.queued[task, place, QUEUED_PEER] if operation in (SEND, RECEIVE) else burst
    operations[4, at] = g.queued[task, place, QUEUED_OTHER] if operation == SEND else 0
    g.clock[LOGGED] += 1
