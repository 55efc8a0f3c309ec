"""First come, first served: the queue in its order, the first job that does not fit blocks all others.

With another order of the queue this is plain list scheduling by that priority.
"""

import numpy as np

from ._jit import kernel
from .cluster import NAN, NEVER, Jobs, advance, new_cluster, sort_queue, start_heads_that_fit


@kernel
def fcfs(submit, run, estimate, procs, machine, rank, moving, policy, each, halt):
    """Simulate FCFS.

    Parameters
    ----------
    submit, run, estimate : int64, shape (n_jobs,), seconds
        In arrival order. A job may outlive its estimate.
    procs : int64, shape (n_jobs,)
        From 1 to `machine`.
    machine : int
        Processors of the machine.
    rank : int64, shape (n_jobs,)
        Place of each job in a fixed order of the queue.
    moving : bool
        The order moves with time: `policy` gives it and `rank` does not count.
    policy : C callback
        See `schedlab.kernels.priority`.
    each : bool
        One pass for each event instead of one for each instant.
    halt : int64, shape (1,)
        Set from outside, to anything but 0, the kernel ends at once; what it gives then is of no use.

    Returns
    -------
    start, promise : int64, shape (n_jobs,), seconds
        Start times; FCFS promises nothing, hence -1.
    """
    c = new_cluster(Jobs(submit, run, estimate, procs), machine, rank, moving, each, halt)
    score = np.empty(submit.size if moving else 0, np.float64)
    while advance(c, NEVER):
        if moving:
            sort_queue(c, policy, score)
        start_heads_that_fit(c)
    if c.clock[NAN]:
        raise ValueError("the order of the queue gives nan")
    return c.start, c.promise
