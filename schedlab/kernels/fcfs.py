"""First come, first served: jobs start in queue order; the first job that does not fit blocks all others.

With another order of the queue, this is plain list scheduling by that priority.
"""

import numpy as np

from ._jit import kernel
from .cluster import NAN, advance, new_cluster, start_heads_that_fit
from .questions import sort_queue
from .sorted_pairs import NEVER


@kernel
def fcfs(jobs, machine, order, per_event, halt):
    """Simulate FCFS; jobs may outlive their estimates.

    `machine` is a number of processors; `order` is the order of the queue; with `per_event` there is one pass for each
    event instead of one for each instant. If `halt[0]` is set to a nonzero value from outside, the kernel stops soon;
    its results are then meaningless. Return start times (seconds) and promises, which are -1: FCFS promises nothing.
    """
    c = new_cluster(jobs, machine, order.rank, order.moving, per_event, halt)
    score = np.empty(jobs.submit.size if order.moving else 0, np.float64)
    while advance(c, NEVER):
        sort_queue(c, order, score)
        start_heads_that_fit(c)
    if c.clock[NAN]:
        raise ValueError("the order of the queue gives nan")
    return c.start, c.promise
