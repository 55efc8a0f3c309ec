"""The iterative scheme for moldable jobs: widen one job at a time while that lowers the mean turnaround.

After Sabin, Lang and Sadayappan, JSSPP 2006, Figure 6. At each scheduling point every waiting job gets one processor
and all get reservations, conservatively and in the order of the queue. Then, again and again, the job that gains most
from one more processor gets it, and all are placed anew; if the sum of the estimated completions does not fall, the job
gives it back and is not asked again. What is reserved for now starts; the next scheduling point forgets all else, so
that nothing happens where no processor is free.

To place all jobs anew for each processor is what the scheme spends its time on, and most of them stay where they are:

- Often the widened job keeps its start, one processor is free under all jobs for as long as it now runs, and what it
  frees at its end lets nobody start earlier. That takes one look at the job and at each one behind it.
- Else those before it stay, and those behind it are placed one after the other. A job stays if its place is still wide
  enough and it cannot start earlier; for that, a stretch that is long enough must reach into processors that others
  have freed. There is none if even a start right before these would have the job run just before its reservation, where
  too few processors are free. So one look at the profile replaces most searches. The try is given up as soon as it
  could not lower the sum even if all jobs that are left started now.

A job that moves takes along the step of the profile at which it ended, if nothing else happens there. So few steps are
shifted, and few are left behind at which nothing happens.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, kernel, maker, part, routine
from .cluster import FREE as IDLE
from .cluster import NOW, advance, waiting
from .moldable import begin_with, moldable_cluster
from .sorted_pairs import NEVER, back, front, make_room, size_of
from .speedup import lasts, work_seconds

# Places in Plan.scalars: how many steps running jobs alone make, how many there are, and how many there were before the
# present try; the first step at which that has freed processors; the sum of the plan's completions; how much has been
# logged. And how many waiting jobs all tries so far had to look at.
NEEDED, STEPS, STEPS_BEFORE, FIRST_FREED, TOTAL, LOGGED, LOOKED = range(7)

SLACK = 16  # so many steps more than needed are suffered

LATER = 1 << 62  # what has no end
AFTER = np.iinfo(np.int64).max  # stands behind the last step's time, so that a search ends there by itself

# On machines beyond any log's, jobs of centuries may be widened a million times at each scheduling point. There a
# simulation is given up after so many looks at a waiting job, which are some seconds.
WIDE_MACHINE, MOST_LOOKS = 2**16, 5 * 10**8

# Rows of Plan.jobs: which job it is, its processors, how long it takes with them and with one more; its reservation,
# the steps of the profile at which that begins and ends, and how many processors are free right before it begins, under
# the jobs before it in the queue. The last four as they were before the present try.
JOB, PROCS, DURATION, SHORTER, RESERVED, BEGINS, ENDS, FREE_BEFORE, KEPT = range(9)

# Rows of Plan.steps: from when on so many processors are free, and how many waiting jobs begin or end then, and one
# more where running jobs end; these as they were before the present try; and scratch.
TIME, FREE, USES, KEPT_STEPS, SCRATCH = 0, 1, 2, 3, 6


class Plan(NamedTuple):
    """One scheduling decision; every field is modified in place. Times in seconds.

    Attributes
    ----------
    jobs : int64, shape (12, most_jobs)
        The waiting jobs in the order of the queue.
    steps : int64, shape (7, most_steps)
        The profile, in which neighbouring steps may be alike.
    scalars : int64, shape (7,)
    """

    jobs: np.ndarray
    steps: np.ndarray
    scalars: np.ndarray


@maker
def _rows(count, length):
    return np.empty((count, length), np.int64)


@maker
def _new_plan(jobs, running):
    """Make room for so many waiting and running jobs."""
    return Plan(_rows(12, jobs), _rows(7, running + 5 * jobs + SLACK + 8), np.zeros(7, np.int64))


@kernel
def iterative(jobs, machine, laws, head, halt):
    """Simulate the iterative scheme.

    Parameters
    ----------
    jobs, machine, laws
        As in `schedlab.kernels.moldable.fair_share`.
    head : int
        Only so many jobs at the head of the queue are decided on, and the others wait; 0 for all.
    halt
        As in `schedlab.kernels.fcfs`.

    Returns
    -------
    start, width : int64, shape (n_jobs,)
        Start times in seconds; processors.
    """
    n = jobs.submit.size
    c = moldable_cluster(jobs, machine, halt)
    plan, log = _new_plan(64, min(n, machine)), np.empty((0, 4), np.int64)
    work = np.empty(n, np.float64)
    for job in range(n):
        work[job] = work_seconds(laws, job, jobs.estimate[job], jobs.procs[job])
    while advance(c, NEVER):
        if c.clock[IDLE] == 0 or not waiting(c):
            continue
        queued = size_of(c.queue)
        if head:
            queued = min(queued, head)
        if queued > plan.jobs.shape[1]:
            looked = plan.scalars[LOOKED]
            plan = _new_plan(2 * queued, min(n, machine))
            plan.scalars[LOOKED] = looked
        _list_queue(c, plan, queued)
        _list_running(c, plan)
        _decide(plan, laws, work, jobs.estimate, jobs.procs, machine, queued, log, halt)
        if halt[0]:
            break
        _start_planned(c, jobs, plan, laws, queued)
    return c.start, c.jobs.procs


@kernel
def decision(ends, held, estimate, procs, machine, laws, now):
    """Make one scheduling decision.

    Parameters
    ----------
    ends, held : int64, shape (n_running,)
        Estimated ends of the running jobs, after `now`, in ascending order; their processors.
    estimate, procs, laws
        Of the waiting jobs, in the order of the queue; as in `iterative`.
    machine, now : int

    Returns
    -------
    width, start : int64, shape (n_waiting,)
        Processors, and the reservation in seconds.
    steps : int64, shape (n_steps, 4)
        What was tried, in order: place in the queue, processors, whether the job kept them, and the sum of the
        estimated completions, or -1 where the try was given up before it was known.
    """
    n = estimate.size
    plan, log = _new_plan(n, ends.size), np.empty((n * machine, 4), np.int64)
    work = np.empty(n, np.float64)
    for job in range(n):
        work[job] = work_seconds(laws, job, estimate[job], procs[job])
        plan.jobs[JOB, job] = job
    free = machine
    for i in range(ends.size):
        free -= held[i]
    _open(plan, now, free)
    for i in range(ends.size):
        _release(plan, ends[i], held[i])
    _decide(plan, laws, work, estimate, procs, machine, n, log, np.zeros(1, np.int64))
    return plan.jobs[PROCS, :n].copy(), plan.jobs[RESERVED, :n].copy(), log[: plan.scalars[LOGGED]].copy()


@part
def _list_queue(c, plan, queued):
    first = front(c.queue)
    for i in range(queued):
        plan.jobs[JOB, i] = c.queue.item[first + i]


@part
def _list_running(c, plan):
    running = c.running
    _open(plan, c.clock[NOW], c.clock[IDLE])
    for place in range(front(running), back(running)):
        _release(plan, running.key[place], c.jobs.procs[running.item[place]])


@part
def _open(plan, now, free):
    """Begin a profile."""
    plan.steps[TIME, 0], plan.steps[FREE, 0], plan.steps[USES, 0] = now, free, 1
    plan.scalars[STEPS] = 1


@part
def _release(plan, instant, procs):
    """Free processors for ever from an instant not before the last step's."""
    time, free = plan.steps[TIME], plan.steps[FREE]
    steps = plan.scalars[STEPS]
    if instant > time[steps - 1]:
        time[steps], free[steps], plan.steps[USES, steps] = instant, free[steps - 1] + procs, 1
        plan.scalars[STEPS] = steps + 1
    else:
        free[steps - 1] += procs


@part
def _start_planned(c, jobs, plan, laws, queued):
    """Start the jobs whose reservations are for now."""
    now, place = c.clock[NOW], front(c.queue)
    for i in range(queued):
        if plan.jobs[RESERVED, i] == now:
            place = begin_with(c, jobs, laws, place, plan.jobs[PROCS, i], now + plan.jobs[DURATION, i])
        else:
            place += 1


# --- The decision -------------------------------------------------------------------------------------------


@routine
def _decide(plan, laws, work, estimate, procs, machine, queued, log, halt):
    """Find width and start of each waiting job; what is tried goes to the log while it has room."""
    width, duration, shorter, scalars = plan.jobs[PROCS], plan.jobs[DURATION], plan.jobs[SHORTER], plan.scalars
    scalars[TOTAL] = scalars[LOGGED] = 0
    scalars[NEEDED] = scalars[STEPS]
    plan.steps[TIME, scalars[STEPS]] = AFTER
    for i in range(queued):
        if halt[0]:
            return
        job = plan.jobs[JOB, i]
        if laws.moldable[job]:
            width[i], duration[i] = 1, lasts(laws, job, work[job], 1)
        else:
            width[i], duration[i] = procs[job], estimate[job]
        shorter[i] = _with_one_more(plan, laws, work, machine, i)
        first, last = _earliest(plan, width[i], duration[i], 0)
        _settle(plan, i, i, first, last, scalars[STEPS], width[i], duration[i])
        _note_before(plan, i)
        scalars[TOTAL] += plan.jobs[RESERVED, i] + duration[i]
        if scalars[TOTAL] >= LATER // 2:  # a try may come to as much again, and a completion more
            raise ValueError("the completions of the waiting jobs add up to more seconds than int64 can count")
    while True:
        most = 0
        for k in range(U(queued)):
            most = max(most, duration[k] - shorter[k])
        if most == 0 or halt[0]:
            return
        i = 0
        while duration[i] - shorter[i] < most:
            i += 1
        total = scalars[TOTAL] - most if _moves_nobody(plan, queued, i) else _try(plan, queued, i)
        scalars[LOOKED] += queued
        if machine > WIDE_MACHINE and scalars[LOOKED] > MOST_LOOKS:
            raise ValueError("the iterative scheme has too many processors to give one by one; set a head")
        kept = total < scalars[TOTAL]
        if scalars[LOGGED] < log.shape[0]:
            row = log[scalars[LOGGED]]
            row[0], row[1], row[2], row[3] = i, width[i] + 1, kept, total if total < LATER else -1
            scalars[LOGGED] += 1
        if not kept:
            _give_back(plan, queued)
            shorter[i] = duration[i]  # gains nothing any more, so is not asked again
            continue
        scalars[TOTAL] = total
        width[i] += 1
        duration[i] = shorter[i]
        shorter[i] = _with_one_more(plan, laws, work, machine, i)
        if scalars[STEPS] > scalars[NEEDED] + 2 * queued + SLACK:
            _forget_steps(plan, queued)


@part
def _with_one_more(plan, laws, work, machine, i):
    """Give how long a waiting job takes with one processor more; where it can have none, as long as without."""
    job = plan.jobs[JOB, i]
    if laws.moldable[job] and plan.jobs[PROCS, i] < machine:
        return lasts(laws, job, work[job], plan.jobs[PROCS, i] + 1)
    return plan.jobs[DURATION, i]


# --- Where nobody else moves --------------------------------------------------------------------------------


@routine
def _moves_nobody(plan, queued, i):
    """Give a waiting job one processor more if it is sure to keep its start and nobody else moves; tell whether."""
    time, free, uses = plan.steps[TIME], plan.steps[FREE], plan.steps[USES]
    start, begins, before = plan.jobs[RESERVED], plan.jobs[BEGINS], plan.jobs[FREE_BEFORE]
    width, duration, shorter = plan.jobs[PROCS], plan.jobs[DURATION], plan.jobs[SHORTER, i]
    now, first, old = time[0], begins[i], plan.jobs[ENDS, i]
    end, until = start[i] + shorter, time[old]
    if first > 0 and (before[i] > width[i] or time[first - 1] - now >= shorter):
        return False  # it might start earlier
    last = old
    while time[last - 1] >= end:
        last -= 1
    fewest = free[first]
    for step in range(U(first), U(last)):
        fewest = min(fewest, free[step])
    if fewest == 0:
        return False
    # From its new to its old end it frees what it had. Whoever starts earlier for that runs then, and not right before
    # its own reservation, where too few are free. How far it may reach to either side is bounded by what it finds right
    # before the new end and at the old one: what is free under all, and what it and those behind it hold there.
    behind_end, behind_until = 0, 0
    for k in range(queued - 1, i, -1):
        if start[k] > end:
            found = before[k] + (width[i] if start[k] <= until else 0)
            earliest = end if free[last - 1] - 1 + behind_end < width[k] else now
            latest = time[begins[k] - 1]
            if free[old] + behind_until < width[k]:
                latest = min(latest, until)
            if found >= width[k] or latest - earliest >= duration[k]:
                return False
        behind_end += width[k] if begins[k] < last <= plan.jobs[ENDS, k] else 0
        behind_until += width[k] if begins[k] <= old < plan.jobs[ENDS, k] else 0
    for k in range(U(i + 1), U(queued)):
        if start[i] < start[k] <= until:
            before[k] += width[i] if start[k] > end else -1
    for step in range(U(first), U(old)):
        free[step] += width[i]
    uses[first] -= 1
    uses[old] -= 1
    _settle(plan, queued, i, first, last, old, width[i] + 1, shorter)
    return True


# --- A try --------------------------------------------------------------------------------------------------


@routine
def _try(plan, queued, i):
    """Give a waiting job one processor more and place all anew; give the sum of completions, or LATER if too late."""
    scalars, start, begins, ends = plan.scalars, plan.jobs[RESERVED], plan.jobs[BEGINS], plan.jobs[ENDS]
    width, duration = plan.jobs[PROCS], plan.jobs[DURATION]
    time, free = plan.steps[TIME], plan.steps[FREE]
    now = time[0]
    _keep(plan, queued)
    _lift(plan, i, queued)
    scalars[FIRST_FREED] = scalars[STEPS] + 4 * queued  # nothing yet
    to_gain = 0  # if all jobs that are left started now
    for k in range(U(i + 1), U(queued)):
        to_gain += start[k] - now
    total = scalars[TOTAL] - start[i] - duration[i]
    first, last = _earliest(plan, width[i] + 1, plan.jobs[SHORTER, i], 0)
    _move(plan, queued, i, first, last, width[i] + 1, plan.jobs[SHORTER, i])
    total += start[i] + plan.jobs[SHORTER, i]
    for k in range(i + 1, queued):
        if total - to_gain >= scalars[TOTAL]:
            return LATER
        reserved = start[k]
        to_gain -= reserved - now
        step = begins[k]
        if scalars[FIRST_FREED] < step:
            first = scalars[FIRST_FREED]
            while first > 0 and free[first - 1] >= width[k]:
                first -= 1
            if free[step - 1] >= width[k] or time[first] + duration[k] <= time[step - 1]:
                step = first
        if step == begins[k]:
            if _take(free, step, ends[k], width[k]):
                _note_before(plan, k)
                continue
            _take(free, step, ends[k], -width[k])
        first, last = _earliest(plan, width[k], duration[k], step)
        if first == begins[k]:
            _take(free, first, last, width[k])
            _note_before(plan, k)
            continue
        _move(plan, queued, k, first, last, width[k], duration[k])
        total += start[k] - reserved
    return total


@part
def _keep(plan, queued):
    """Note the plan as it is before a try."""
    scalars = plan.scalars
    scalars[STEPS_BEFORE] = scalars[STEPS]
    for row in range(3):
        for step in range(U(scalars[STEPS])):
            plan.steps[KEPT_STEPS + row, step] = plan.steps[row, step]
    for row in range(4):
        for k in range(U(queued)):
            plan.jobs[KEPT + row, k] = plan.jobs[RESERVED + row, k]


@part
def _give_back(plan, queued):
    """Make the plan what it was before the try."""
    scalars = plan.scalars
    scalars[STEPS] = scalars[STEPS_BEFORE]
    plan.steps[TIME, scalars[STEPS]] = AFTER
    for row in range(3):
        for step in range(U(scalars[STEPS])):
            plan.steps[row, step] = plan.steps[KEPT_STEPS + row, step]
    for row in range(4):
        for k in range(U(queued)):
            plan.jobs[RESERVED + row, k] = plan.jobs[KEPT + row, k]


@part
def _lift(plan, i, queued):
    """Take the jobs from one on out of the profile."""
    free, more, width = plan.steps[FREE], plan.steps[SCRATCH], plan.jobs[PROCS]
    begins, ends = plan.jobs[BEGINS], plan.jobs[ENDS]
    for step in range(U(plan.scalars[STEPS])):
        more[step] = 0
    for k in range(U(i), U(queued)):
        more[U(begins[k])] += width[k]
        more[U(ends[k])] -= width[k]
    lifted = 0
    for step in range(U(plan.scalars[STEPS])):
        lifted += more[step]
        free[step] += lifted


@part
def _move(plan, queued, k, first, last, width, duration):
    """Place a waiting job anew in the present try, and note what that frees; see `_settle`."""
    begins, ends, uses, scalars = plan.jobs[BEGINS], plan.jobs[ENDS], plan.steps[USES], plan.scalars
    time = plan.steps[TIME]
    old = ends[k]
    until = time[old]
    uses[begins[k]] -= 1
    uses[old] -= 1
    later = first > begins[k]
    begun = _settle(plan, queued, k, first, last, old, width, duration)
    _note_before(plan, k)
    freed = begun if later else max(ends[k], begun)
    if time[freed] < until:
        scalars[FIRST_FREED] = min(scalars[FIRST_FREED], freed)


# --- The profile --------------------------------------------------------------------------------------------


@routine
def _earliest(plan, width, duration, step):
    """Give the step, from one on, from which so many processors are free for so long, and the first one not needed."""
    time, free = plan.steps[TIME], plan.steps[FREE]
    last = U(step)
    while True:
        while free[last] < width:
            last += U(1)
        first, end = last, time[last] + duration
        last += U(1)
        while time[last] < end and free[last] >= width:
            last += U(1)
        if time[last] >= end:
            return np.int64(first), np.int64(last)


@routine
def _settle(plan, placed, k, first, last, old, width, duration):
    """Take processors for a waiting job from a step on; give the step at which it began before.

    The first step that it does not need is `last`. If it does not end there, a step is put in: the one at which it
    ended before, `old`, if nothing else happens then. The steps of the first `placed` jobs move along.
    """
    begins, ends, scalars = plan.jobs[BEGINS], plan.jobs[ENDS], plan.scalars
    time, free, uses = plan.steps[TIME], plan.steps[FREE], plan.steps[USES]
    end = time[first] + duration
    uses[first] += 1
    if time[last] > end:
        if old < scalars[STEPS] and uses[old] > 0:
            old = scalars[STEPS]
        if old > last:
            for row in (time, free, uses):
                make_room(row, last, old)
            for j in range(U(placed)):
                begins[j] += (begins[j] >= last) & (begins[j] < old)
                ends[j] += (ends[j] >= last) & (ends[j] < old)
            scalars[FIRST_FREED] += last <= scalars[FIRST_FREED] < old
        if old >= last:
            if old == scalars[STEPS]:
                scalars[STEPS] += 1
                time[scalars[STEPS]] = AFTER
        else:
            last -= 1
            for row in (time, free, uses):
                for step in range(U(old), U(last)):
                    row[step] = row[step + U(1)]
            for j in range(U(placed)):
                begins[j] -= (begins[j] > old) & (begins[j] <= last)
                ends[j] -= (ends[j] > old) & (ends[j] <= last)
            first -= first > old
            scalars[FIRST_FREED] -= old <= scalars[FIRST_FREED] <= last
        time[last], free[last], uses[last] = end, free[last - 1], 0
    uses[last] += 1
    begun = begins[k]
    begins[k], ends[k] = first, last
    plan.jobs[RESERVED, k] = time[first]
    _take(free, first, last, width)
    return begun


@part
def _note_before(plan, k):
    first = plan.jobs[BEGINS, k]
    plan.jobs[FREE_BEFORE, k] = plan.steps[FREE, first - 1] if first else 0


@part
def _take(free, first, last, width):
    """Take so many processors, or give them back where negative; tell whether there were enough."""
    fewest = 0
    for step in range(U(first), U(last)):
        left = free[step] - width
        free[step] = left
        fewest = min(fewest, left)
    return fewest == 0


@routine
def _forget_steps(plan, queued):
    """Drop the steps at which nothing begins or ends any more."""
    time, free, uses, place = plan.steps[TIME], plan.steps[FREE], plan.steps[USES], plan.steps[SCRATCH]
    kept = 0
    for step in range(plan.scalars[STEPS]):
        if uses[step]:
            time[kept], free[kept], uses[kept], place[step] = time[step], free[step], uses[step], kept
            kept += 1
    plan.scalars[STEPS] = kept
    time[kept] = AFTER
    for k in range(queued):
        plan.jobs[BEGINS, k], plan.jobs[ENDS, k] = place[plan.jobs[BEGINS, k]], place[plan.jobs[ENDS, k]]
