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
    """Simulate FCFS.

    Parameters
    ----------
    jobs : Jobs
        A job may outlive its estimate.
    machine : int
        Processors of the machine.
    order : Order
        Order of the queue.
    per_event : bool
        One pass for each event instead of one for each instant.
    halt : int64, shape (1,)
        Set from outside to a nonzero value to stop the kernel soon; its results are then meaningless.

    Returns
    -------
    start, promise : int64, shape (n_jobs,), seconds
        Start times, and -1, because FCFS promises nothing.
    """
    c = new_cluster(jobs, machine, order.rank, order.moving, per_event, halt)
    score = np.empty(jobs.submit.size if order.moving else 0, np.float64)
    while advance(c, NEVER):
        sort_queue(c, order, score)
        start_heads_that_fit(c)
    if c.clock[NAN]:
        raise ValueError("the order of the queue gives nan")
    return c.start, c.promise
