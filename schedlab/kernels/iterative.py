"""The iterative scheme for moldable jobs: widen one job at a time while that lowers the mean turnaround.

After Sabin, Lang and Sadayappan, JSSPP 2006, Figure 6. At each scheduling point every waiting job gets one processor,
and all get reservations, conservatively and in queue order. Then, repeatedly, the job that gains most from one more
processor gets it, and all jobs are placed anew. If the sum of the estimated completions does not fall, the job gives
the processor back and is not tried again. Jobs whose reservation is for now start. The next scheduling point forgets
all other reservations, so a point at which no processor is free can be skipped.

The scheme spends most of its time placing all jobs anew for each processor; `iterative_plan` has that part. Two
shortcuts are here:

- As long as processors are left over by all waiting jobs together, all jobs can start now, and a job that gets one more
  moves nobody. So jobs are placed only when none is left over.
- A job can move only jobs behind it. So the decision is made once the widths of the jobs at the head of the queue are
  final and these jobs take all processors that are free now: the reservations of the others will be forgotten.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, kernel, maker, part, routine
from .cluster import FREE as IDLE
from .cluster import NOW, advance, waiting
from .iterative_plan import (
    DURATION,
    FINAL,
    FREE,
    JOB,
    LATER,
    LEFT_OVER,
    LOGGED,
    LOOKED,
    NEEDED,
    PROCS,
    RESERVED,
    SHORTER,
    SLACK,
    STEPS,
    TIME,
    TOTAL,
    UNTAKEN,
    close_profile,
    forget_steps,
    give_back,
    new_plan,
    open_profile,
    place_first,
    release,
    with_one_more,
)
from .moldable import begin_with, moldable_cluster
from .sorted_pairs import NEVER, back, front, size_of
from .speedup import Laws, lasts, work_seconds

# On machines larger than any log's, jobs of centuries might be widened a million times at each scheduling point. On
# such machines a simulation is abandoned after this many looks at a waiting job, which take some seconds.
WIDE_MACHINE, MOST_LOOKS = 2**16, 5 * 10**8


class Asked(NamedTuple):
    """What all jobs ask for, and the machine's size."""

    laws: Laws
    work: np.ndarray  # float64 of shape (n_jobs,), seconds: sequential, by the estimates
    estimate: np.ndarray  # int64 of shape (n_jobs,), seconds
    procs: np.ndarray  # int64 of shape (n_jobs,)
    machine: int


@routine
def _decide(plan, asked, queued, log, halt):
    """Find width and start of each waiting job, as in Figure 6; log the attempts while the log has room.

    If the log has no room at all, only the jobs that start now are sure to have their final widths and reservations.
    """
    scalars, duration, shorter = plan.scalars, plan.jobs[DURATION], plan.jobs[SHORTER]
    _give_one_each(plan, asked, queued)
    if not _share_out(plan, asked, queued, log, halt):
        return  # all start now, with all processors that they gain from
    _place_all(plan, queued, halt)
    while log.shape[0] > 0 or not _are_starts_final(plan, queued):
        i = _gains_most(plan, asked.machine, queued)
        if i < 0 or halt[0]:
            return
        total = with_one_more(plan, queued, i)
        _log(plan, log, i, total < scalars[TOTAL], total)
        if total < scalars[TOTAL]:
            scalars[TOTAL] = total
            _widen(plan, asked, i)
            if scalars[STEPS] > scalars[NEEDED] + queued + SLACK:
                forget_steps(plan, queued)
        else:
            give_back(plan, queued)
            shorter[i] = duration[i]  # it gains nothing any more, so it is not tried again


@routine
def _give_one_each(plan, asked, queued):
    """Give each waiting job one processor, or what it requests if it is not moldable, as if all could start now."""
    width, duration, scalars = plan.jobs[PROCS], plan.jobs[DURATION], plan.scalars
    scalars[LOGGED] = scalars[TOTAL] = scalars[FINAL] = 0
    close_profile(plan)
    scalars[UNTAKEN] = scalars[LEFT_OVER] = plan.steps[FREE, 0]
    for i in range(queued):
        job = plan.jobs[JOB, i]
        if asked.laws.moldable[job]:
            width[i], duration[i] = 1, lasts(asked.laws, job, asked.work[job], 1)
        else:
            width[i], duration[i] = asked.procs[job], asked.estimate[job]
        plan.jobs[SHORTER, i] = _duration_with_one_more(plan, asked, i)
        plan.jobs[RESERVED, i] = plan.times[TIME, 0]
        _count_completion(plan, i)
        scalars[LEFT_OVER] -= width[i]


@routine
def _share_out(plan, asked, queued, log, halt):
    """Give away the processors that are left over, one by one; False if no job gains from one any more."""
    scalars = plan.scalars
    while scalars[LEFT_OVER] > 0:
        i = _gains_most(plan, asked.machine, queued)
        if i < 0 or halt[0]:
            return False
        scalars[TOTAL] -= plan.jobs[DURATION, i] - plan.jobs[SHORTER, i]
        _log(plan, log, i, True, scalars[TOTAL])
        _widen(plan, asked, i)
        scalars[LEFT_OVER] -= 1
    return True


@routine
def _place_all(plan, queued, halt):
    """Give all waiting jobs reservations, in queue order."""
    plan.scalars[TOTAL] = 0
    for i in range(queued):
        if halt[0]:
            return
        place_first(plan, i)
        _count_completion(plan, i)


@part
def _are_starts_final(plan, queued):
    """Tell whether the first jobs of the queue, whose widths are final, take all processors that are free now."""
    scalars, final = plan.scalars, plan.scalars[FINAL]
    while final < queued and plan.jobs[SHORTER, final] == plan.jobs[DURATION, final]:
        if plan.jobs[RESERVED, final] == plan.times[TIME, 0]:
            scalars[UNTAKEN] -= plan.jobs[PROCS, final]
        final += 1
    scalars[FINAL] = final
    return scalars[UNTAKEN] == 0


@part
def _count_completion(plan, i):
    """Add a waiting job's completion to the sum."""
    plan.scalars[TOTAL] += plan.jobs[RESERVED, i] + plan.jobs[DURATION, i]
    if plan.scalars[TOTAL] >= LATER // 2:  # an attempt may add up to as much again, plus one completion
        raise ValueError("the completions of the waiting jobs add up to more seconds than int64 can count")


@routine
def _gains_most(plan, machine, queued):
    """Return the first of the waiting jobs that one more processor shortens most; -1 if it shortens none."""
    duration, shorter = plan.jobs[DURATION], plan.jobs[SHORTER]
    most = 0
    for k in range(U(queued)):
        most = max(most, duration[k] - shorter[k])
    if most == 0:
        return -1
    plan.scalars[LOOKED] += queued
    if machine > WIDE_MACHINE and plan.scalars[LOOKED] > MOST_LOOKS:
        raise ValueError("the iterative scheme has too many processors to give one by one; set a head")
    i = 0
    while duration[i] - shorter[i] < most:
        i += 1
    return i


@part
def _log(plan, log, i, kept, total):
    """Log an attempt to give a job one more processor, if the log has room."""
    if plan.scalars[LOGGED] < log.shape[0]:
        row = log[plan.scalars[LOGGED]]
        row[0], row[1], row[2], row[3] = i, plan.jobs[PROCS, i] + 1, kept, total if total < LATER else -1
        plan.scalars[LOGGED] += 1


@part
def _widen(plan, asked, i):
    """Give a waiting job one more processor."""
    plan.jobs[PROCS, i] += 1
    plan.jobs[DURATION, i] = plan.jobs[SHORTER, i]
    plan.jobs[SHORTER, i] = _duration_with_one_more(plan, asked, i)


@part
def _duration_with_one_more(plan, asked, i):
    """Return a waiting job's duration with one more processor, or its present duration if it can have no more."""
    job = plan.jobs[JOB, i]
    if asked.laws.moldable[job] and plan.jobs[PROCS, i] < asked.machine:
        return lasts(asked.laws, job, asked.work[job], plan.jobs[PROCS, i] + 1)
    return plan.jobs[DURATION, i]


# --- At each scheduling point -------------------------------------------------------------------------------
@kernel
def iterative(jobs, machine, laws, head, halt):
    """Simulate the iterative scheme; as `moldable.fair_share`.

    Only the first `head` jobs of the queue are decided on, while the others wait; 0 for all.
    """
    n = jobs.submit.size
    c = moldable_cluster(jobs, machine, halt)
    plan, log = new_plan(64, min(n, machine)), np.empty((0, 4), np.int64)
    asked = Asked(laws, _work(laws, jobs.estimate, jobs.procs), jobs.estimate, jobs.procs, machine)
    while advance(c, NEVER):
        if c.clock[IDLE] == 0 or not waiting(c):
            continue
        queued = size_of(c.queue)
        if head:
            queued = min(queued, head)
        if queued > plan.jobs.shape[1]:
            looked = plan.scalars[LOOKED]
            plan = new_plan(2 * queued, min(n, machine))
            plan.scalars[LOOKED] = looked
        _list_queue(c, plan, queued)
        _list_running(c, plan)
        _decide(plan, asked, queued, log, halt)
        if halt[0]:
            break
        _start_planned(c, jobs, plan, laws, queued)
    return c.start, c.jobs.procs


@kernel
def decision(ends, held, estimate, procs, machine, laws, now):
    """Make one scheduling decision for waiting jobs in queue order; return processors, reservations and attempts.

    `ends` are the estimated ends of the running jobs, after `now`, in ascending order, and `held` their processors. The
    attempts are int64, shape (n_steps, 4), in order: place in the queue, processors, whether the job kept them, and the
    sum of the estimated completions, or -1 if the attempt was abandoned before the sum was known.
    """
    n = estimate.size
    plan, log = new_plan(n, ends.size), np.empty((n * machine, 4), np.int64)
    asked = Asked(laws, _work(laws, estimate, procs), estimate, procs, machine)
    for job in range(n):
        plan.jobs[JOB, job] = job
    free = machine
    for i in range(ends.size):
        free -= held[i]
    open_profile(plan, now, free)
    for i in range(ends.size):
        release(plan, ends[i], held[i])
    _decide(plan, asked, n, log, np.zeros(1, np.int64))
    return plan.jobs[PROCS, :n].copy(), plan.jobs[RESERVED, :n].copy(), log[: plan.scalars[LOGGED]].copy()


@maker
def _work(laws, estimate, procs):
    """Return the sequential work of all jobs, in seconds, by their estimates."""
    work = np.empty(estimate.size, np.float64)
    for job in range(estimate.size):
        work[job] = work_seconds(laws, job, estimate[job], procs[job])
    return work


@part
def _list_queue(c, plan, queued):
    first = front(c.queue)
    for i in range(queued):
        plan.jobs[JOB, i] = c.queue.item[first + i]


@part
def _list_running(c, plan):
    running = c.running
    open_profile(plan, c.clock[NOW], c.clock[IDLE])
    for place in range(front(running), back(running)):
        release(plan, running.key[place], c.jobs.procs[running.item[place]])


@part
def _start_planned(c, jobs, plan, laws, queued):
    """Start the jobs whose reservations are for now."""
    now, place = c.clock[NOW], front(c.queue)
    for i in range(queued):
        if plan.jobs[RESERVED, i] == now:
            place = begin_with(c, jobs, laws, place, plan.jobs[PROCS, i], now + plan.jobs[DURATION, i])
        else:
            place += 1
