"""The single reservation of EASY and related schemes: for the job at the head of the queue, when it does not fit.

After Mu'alem and Feitelson, IEEE TPDS 12(6), 2001. If the running jobs end at their estimated ends, the head can start
at the shadow time and then leaves the extra processors over. Jobs that end at the same instant are counted together. At
every pass, a running job that has outlived its estimate is expected to end one second from now.
"""

from ._jit import part
from .cluster import FREE, FREED, NOW, begin, waiting
from .sorted_pairs import back, first_item, front

SHADOW, EXTRA, HEAD = range(3)
NOBODY = -1


@part
def still_blocked(c, reservation):
    """Tell whether the head and its reservation are those of the last pass.

    If the shadow time has come without the head's start, the reservation is void: a job has outlived its estimate. If
    the shadow time is still ahead, the reservation holds: jobs that are past their estimates by now are counted as
    released by then, as they were before.

    Parameters
    ----------
    c : Cluster
        The state of the simulation.
    reservation : int64, shape (3,)
        The reservation of the last pass.

    Returns
    -------
    bool
    """
    if c.clock[FREED] or not waiting(c) or c.clock[NOW] >= reservation[SHADOW]:
        return False
    return first_item(c.queue) == reservation[HEAD]


@part
def reserve_for_head(c, reservation):
    """Find the shadow time and extra processors for the head of the queue, which must not fit.

    Parameters
    ----------
    c : Cluster
        The state of the simulation.
    reservation : int64, shape (3,)
        Receives the head, the shadow time and the extra processors; see `HEAD`, `SHADOW`, `EXTRA`.
    """
    if not waiting(c):
        reservation[HEAD] = NOBODY
        return
    running, procs, now = c.running, c.jobs.procs, c.clock[NOW]
    head = first_item(c.queue)
    available, overdue = c.clock[FREE], 0
    place = front(running)
    while place < back(running) and running.key[place] <= now:
        job = running.item[place]
        if c.start[job] == now:  # its estimate is 0, and it has just begun
            available += procs[job]
        else:
            overdue += procs[job]
        place += 1
    shadow = now
    if available < procs[head] and overdue > 0:
        shadow = now + 1
        available += overdue
    while place < back(running) and (available < procs[head] or running.key[place] == shadow):
        shadow = running.key[place]
        available += procs[running.item[place]]
        place += 1
    if c.promise[head] < 0:
        c.promise[head] = shadow
    reservation[HEAD], reservation[SHADOW], reservation[EXTRA] = head, shadow, available - procs[head]


@part
def ends_by_shadow(c, reservation, job):
    """Tell whether a job that starts now will not outlast the shadow time, if its estimate holds.

    Parameters
    ----------
    c : Cluster
        The state of the simulation.
    reservation : int64, shape (3,)
        The head's reservation.
    job : int
        A waiting job.

    Returns
    -------
    bool
    """
    return c.clock[NOW] + c.jobs.estimate[job] <= reservation[SHADOW]


@part
def begin_behind_head(c, reservation, place):
    """Start a waiting job that does not delay the reservation; return the place of its successor.

    Parameters
    ----------
    c : Cluster
        The state of the simulation.
    reservation : int64, shape (3,)
        The head's reservation; its extra processors are reduced.
    place : int
        Place in the queue. Whether the job fits is not checked.

    Returns
    -------
    int
    """
    job = c.queue.item[place]
    if not ends_by_shadow(c, reservation, job):
        reservation[EXTRA] -= c.jobs.procs[job]
    return begin(c, place)
