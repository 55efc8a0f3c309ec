"""The iterative scheme for moldable jobs: widen one job at a time while that lowers the mean turnaround.

After Sabin, Lang and Sadayappan, JSSPP 2006, Figure 6. At each scheduling point every waiting job gets one processor
and all get reservations, conservatively and in the order of the queue. Then, again and again, the job that gains most
from one more processor gets it, and all are placed anew; if the sum of the estimated completions does not fall, the job
gives it back and is not asked again. What is reserved for now starts; the next scheduling point forgets all else, so
that nothing happens where no processor is free.

To place all jobs anew for each processor is what the scheme spends its time on, and most of them stay where they are.
Those before the widened job do. A job behind it stays if its place is still wide enough and it cannot start earlier;
for that, a stretch that is long enough must reach into processors that others have freed. There is none if even a start
right before these would have the job run just before its reservation, where too few processors are free. So one look at
the profile replaces most searches. A try is made on a copy of the profile, which becomes the plan if the job keeps its
processor, and is given up as soon as it could not lower the sum even if all jobs that are left started now.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, kernel, maker, part, routine
from .cluster import FREE, NOW, advance, waiting
from .moldable import begin_with, moldable_cluster
from .sorted_pairs import NEVER, back, front, make_room, size_of
from .speedup import lasts, work_seconds

# Places in Plan.scalars: how many steps running jobs alone make, how many the plan and the present try have, the first
# step at which the try has freed processors, the sum of the plan's completions, and how much has been logged.
# And how many waiting jobs all tries so far had to look at.
NEEDED, STEPS, TRIED_STEPS, FIRST_FREED, TOTAL, LOGGED, LOOKED = range(7)

SLACK = 16  # so many steps more than needed are suffered

LATER = 1 << 62  # what has no end

# On machines beyond any log's, jobs of centuries may be widened a million times at each scheduling point. There a
# simulation is given up after so many looks at a waiting job, which are some seconds.
WIDE_MACHINE, MOST_LOOKS = 2**16, 5 * 10**8

# Rows of Plan.jobs: which job it is, its processors, how long it takes with them and with one more; its reservation and
# the steps of the profile at which it begins and ends; and the same in the present try.
JOB, PROCS, DURATION, SHORTER, RESERVED, BEGINS, ENDS, TRIED, TRIED_BEGINS, TRIED_ENDS = range(10)

# Rows of Plan.steps: from when on so many processors are free under all jobs that run or hold a reservation; the same
# in the present try, under those jobs only that have been placed; and scratch.
TIME, UNDER_ALL, TRIED_TIME, UNDER_PLACED, SCRATCH = range(5)


class Plan(NamedTuple):
    """One scheduling decision; every field is modified in place. Times in seconds.

    Attributes
    ----------
    jobs : int64, shape (10, most_jobs)
        The waiting jobs in the order of the queue.
    steps : int64, shape (5, most_steps)
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
    return Plan(_rows(10, jobs), _rows(5, running + 5 * jobs + SLACK + 8), np.zeros(7, np.int64))


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
        if c.clock[FREE] == 0 or not waiting(c):
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
    _open(plan, c.clock[NOW], c.clock[FREE])
    for place in range(front(running), back(running)):
        _release(plan, running.key[place], c.jobs.procs[running.item[place]])


@part
def _open(plan, now, free):
    """Begin a profile."""
    plan.steps[TIME, 0], plan.steps[UNDER_ALL, 0] = now, free
    plan.scalars[STEPS] = 1


@part
def _release(plan, instant, procs):
    """Free processors for ever from an instant not before the last step's."""
    steps = plan.scalars[STEPS]
    if instant > plan.steps[TIME, steps - 1]:
        plan.steps[TIME, steps], plan.steps[UNDER_ALL, steps] = instant, plan.steps[UNDER_ALL, steps - 1] + procs
        plan.scalars[STEPS] = steps + 1
    else:
        plan.steps[UNDER_ALL, steps - 1] += procs


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
    begins, ends, tried = plan.jobs[TRIED_BEGINS], plan.jobs[TRIED_ENDS], plan.jobs[TRIED]
    scalars[TOTAL] = scalars[LOGGED] = 0
    scalars[NEEDED] = scalars[STEPS]
    _copy_profile(plan)
    for i in range(queued):
        if halt[0]:
            return
        job = plan.jobs[JOB, i]
        if laws.moldable[job]:
            width[i], duration[i] = 1, lasts(laws, job, work[job], 1)
        else:
            width[i], duration[i] = procs[job], estimate[job]
        shorter[i] = _with_one_more(plan, laws, work, machine, i)
        begins[i], ends[i] = _place(plan, i, width[i], duration[i], 0)
        tried[i] = plan.steps[TRIED_TIME, begins[i]]
        scalars[TOTAL] += tried[i] + duration[i]
        if scalars[TOTAL] >= LATER // 2:  # a try may come to as much again, and a completion more
            raise ValueError("the completions of the waiting jobs add up to more seconds than int64 can count")
    _adopt(plan, 0, queued)
    while True:
        most = 0
        for k in range(U(queued)):
            most = max(most, duration[k] - shorter[k])
        if most == 0 or halt[0]:
            return
        i = 0
        while duration[i] - shorter[i] < most:
            i += 1
        total = _try(plan, queued, i)
        scalars[LOOKED] += queued
        if machine > WIDE_MACHINE and scalars[LOOKED] > MOST_LOOKS:
            raise ValueError("the iterative scheme has too many processors to give one by one; set a head")
        kept = total < scalars[TOTAL]
        if scalars[LOGGED] < log.shape[0]:
            row = log[scalars[LOGGED]]
            row[0], row[1], row[2], row[3] = i, width[i] + 1, kept, total if total < LATER else -1
            scalars[LOGGED] += 1
        if not kept:
            shorter[i] = duration[i]  # gains nothing any more, so is not asked again
            continue
        scalars[TOTAL] = total
        width[i] += 1
        duration[i] = shorter[i]
        shorter[i] = _with_one_more(plan, laws, work, machine, i)
        _adopt(plan, i, queued)
        if scalars[STEPS] > scalars[NEEDED] + 2 * queued + SLACK:
            _forget_steps(plan, queued)


@part
def _with_one_more(plan, laws, work, machine, i):
    """Give how long a waiting job takes with one processor more; where it can have none, as long as without."""
    job = plan.jobs[JOB, i]
    if laws.moldable[job] and plan.jobs[PROCS, i] < machine:
        return lasts(laws, job, work[job], plan.jobs[PROCS, i] + 1)
    return plan.jobs[DURATION, i]


# --- A try --------------------------------------------------------------------------------------------------


@routine
def _try(plan, queued, i):
    """Give a waiting job one processor more and place all anew; give the sum of completions, or LATER if too late."""
    scalars, start, tried = plan.scalars, plan.jobs[RESERVED], plan.jobs[TRIED]
    begins, ends = plan.jobs[TRIED_BEGINS], plan.jobs[TRIED_ENDS]
    width, duration = plan.jobs[PROCS], plan.jobs[DURATION]
    time, free = plan.steps[TRIED_TIME], plan.steps[UNDER_PLACED]
    now = time[0]
    _copy_profile(plan)
    _lift(plan, i, queued)
    scalars[FIRST_FREED] = scalars[STEPS] + 4 * queued  # nothing yet
    to_gain = 0  # if all jobs that are left started now
    for k in range(U(i + 1), U(queued)):
        to_gain += start[k] - now
    _move(plan, queued, i, width[i] + 1, plan.jobs[SHORTER, i], 0)
    total = scalars[TOTAL] + tried[i] + plan.jobs[SHORTER, i] - start[i] - duration[i]
    for k in range(i + 1, queued):
        if total - to_gain >= scalars[TOTAL]:
            return LATER
        to_gain -= start[k] - now
        step = begins[k]
        if scalars[FIRST_FREED] < step:
            first = scalars[FIRST_FREED]
            while first > 0 and free[first - 1] >= width[k]:
                first -= 1
            if free[step - 1] >= width[k] or time[first] + duration[k] < start[k]:
                step = first
        if step == begins[k]:
            if _take(free, step, ends[k], width[k]):
                tried[k] = start[k]
                continue
            _take(free, step, ends[k], -width[k])
        _move(plan, queued, k, width[k], duration[k], step)
        total += tried[k] - start[k]
    return total


@part
def _copy_profile(plan):
    scalars = plan.scalars
    for step in range(U(scalars[STEPS])):
        plan.steps[TRIED_TIME, step] = plan.steps[TIME, step]
        plan.steps[UNDER_PLACED, step] = plan.steps[UNDER_ALL, step]
    scalars[TRIED_STEPS] = scalars[STEPS]


@part
def _lift(plan, i, queued):
    """Begin a try: take the jobs from one on out of the profile."""
    free, more, width = plan.steps[UNDER_PLACED], plan.steps[SCRATCH], plan.jobs[PROCS]
    begins, ends = plan.jobs[BEGINS], plan.jobs[ENDS]
    for step in range(U(plan.scalars[STEPS])):
        more[step] = 0
    for k in range(U(queued)):
        plan.jobs[TRIED_BEGINS, k], plan.jobs[TRIED_ENDS, k] = begins[k], ends[k]
    for k in range(U(i), U(queued)):
        more[U(begins[k])] += width[k]
        more[U(ends[k])] -= width[k]
    lifted = 0
    for step in range(U(plan.scalars[STEPS])):
        lifted += more[step]
        free[step] += lifted


@part
def _move(plan, queued, k, width, duration, step):
    """Place a waiting job anew in the present try, and note what that frees."""
    begins, ends, scalars = plan.jobs[TRIED_BEGINS], plan.jobs[TRIED_ENDS], plan.scalars
    first, last = _place(plan, queued, width, duration, step)
    freed = begins[k] if first > begins[k] else max(last, begins[k])
    if freed < ends[k]:
        scalars[FIRST_FREED] = min(scalars[FIRST_FREED], freed)
    begins[k], ends[k] = first, last
    plan.jobs[TRIED, k] = plan.steps[TRIED_TIME, first]


@routine
def _place(plan, placed, width, duration, step):
    """Take the earliest so many processors for so long, from a step on; give the steps at which that begins and ends.

    At the end a step may have to be put in: those of the first `placed` jobs move along.
    """
    time, free, scalars = plan.steps[TRIED_TIME], plan.steps[UNDER_PLACED], plan.scalars
    begins, ends = plan.jobs[TRIED_BEGINS], plan.jobs[TRIED_ENDS]
    steps = scalars[TRIED_STEPS]
    last, fits = U(step), False
    while not fits:
        while free[last] < width:
            last += U(1)
        first = last
        end = time[first] + duration
        while True:
            last += U(1)
            fits = last == U(steps) or time[last] >= end
            if fits or free[last] < width:
                break
    first, last = np.int64(first), np.int64(last)
    if last == steps or time[last] > end:
        make_room(time, last, steps)
        make_room(free, last, steps)
        time[last], free[last] = end, free[last - 1]
        scalars[TRIED_STEPS] = steps + 1
        for k in range(U(placed)):
            begins[k] += begins[k] >= last
            ends[k] += ends[k] >= last
        scalars[FIRST_FREED] += scalars[FIRST_FREED] >= last
    _take(free, first, last, width)
    return first, last


@part
def _take(free, first, last, width):
    """Take so many processors, or give them back where negative; tell whether there were enough."""
    fewest = 0
    for step in range(U(first), U(last)):
        left = free[step] - width
        free[step] = left
        fewest = min(fewest, left)
    return fewest == 0


@part
def _adopt(plan, i, queued):
    """Make the try, in which the jobs from one on have been placed anew, the plan."""
    scalars, jobs = plan.scalars, plan.jobs
    scalars[STEPS] = scalars[TRIED_STEPS]
    for step in range(U(scalars[STEPS])):
        plan.steps[TIME, step] = plan.steps[TRIED_TIME, step]
        plan.steps[UNDER_ALL, step] = plan.steps[UNDER_PLACED, step]
    for k in range(U(queued)):
        jobs[BEGINS, k], jobs[ENDS, k] = jobs[TRIED_BEGINS, k], jobs[TRIED_ENDS, k]
    for k in range(U(i), U(queued)):
        jobs[RESERVED, k] = jobs[TRIED, k]


@routine
def _forget_steps(plan, queued):
    """Drop the steps at which nothing begins or ends any more."""
    time, free, place = plan.steps[TIME], plan.steps[UNDER_ALL], plan.steps[SCRATCH]
    begins, ends = plan.jobs[BEGINS], plan.jobs[ENDS]
    _copy_profile(plan)
    _lift(plan, 0, queued)
    lifted, steps = plan.steps[UNDER_PLACED], plan.scalars[STEPS]
    for step in range(steps):
        place[step] = step == 0 or lifted[step] != lifted[step - 1]
    for k in range(queued):
        place[begins[k]] = place[ends[k]] = 1
    kept = 0
    for step in range(steps):
        if place[step]:
            time[kept], free[kept], place[step] = time[step], free[step], kept
            kept += 1
    plan.scalars[STEPS] = kept
    for k in range(queued):
        begins[k], ends[k] = place[begins[k]], place[ends[k]]
