"""The iterative scheme for moldable jobs: widen one job at a time while that lowers the mean turnaround.

After Sabin, Lang and Sadayappan, JSSPP 2006, Figure 6. At each scheduling point every waiting job gets one processor
and all get reservations, conservatively and in the order of the queue. Then, again and again, the job that gains most
from one more processor gets it, and all are placed anew; if the sum of the estimated completions does not fall, the job
gives it back and is not asked again. What is reserved for now starts; the next scheduling point forgets all else, so
that nothing happens where no processor is free.

To place all jobs anew for each processor is what the scheme spends its time on, and most of them stay where they are.
Those before the widened job do. Of those behind it, a job stays unless its place has become too narrow for it, or
processors that have become free let it start earlier. So it is enough to keep account of the changes that the jobs
placed so far make to the profile, a few steps, to look at the profile where they are, and to search for a job from the
first hole on that they have widened. A try is given up as soon as it could not lower the sum even if all jobs that are
left started now.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, kernel, maker, part, routine
from .cluster import FREE, NOW, advance, waiting
from .moldable import begin_with, moldable_cluster
from .ordered import FIRST, LAST
from .profile import NEVER
from .speedup import Laws, lasts, work_seconds

# Places in Plan.scalars: lengths, the sum of completions, the steps of running jobs alone, and the span of steps in
# which the present try has taken processors, or freed some.
STEPS, CHANGES, TOTAL, LOGGED, NEEDED, TAKEN_FROM, TAKEN_UNTIL, FREED_FROM, FREED_UNTIL = range(9)

SLACK = 16  # so many steps more than needed are suffered

LATER = 1 << 62  # what has no end


# Rows of Plan.jobs: which job it is, its processors, how long it takes with them and with one more, its reservation,
# its start in the present try, and the steps of the profile at which the reservation begins and ends.
JOB, WIDTH, DURATION, SHORTER, START, TRIED, BEGINS, ENDS = range(8)

# Rows of Plan.steps: from when on so many processors are free under all jobs that run or hold a reservation; the same
# under those only that come before the job which is looked at; bounds on the changes within the step; and scratch.
TIME, UNDER_ALL, BEFORE, LEAST, MOST, PLACE = range(6)

# Rows of Plan.changes: from when on so many processors more are free in the present try.
SINCE, MORE = range(2)


class Plan(NamedTuple):
    """One scheduling decision; every field is modified in place. Times in seconds.

    Attributes
    ----------
    jobs : int64, shape (8, most_jobs)
        The waiting jobs in the order of the queue.
    steps : int64, shape (6, most_steps)
        The profile, in which neighbouring steps may be alike.
    changes : int64, shape (2, most_changes)
        By how much the present try differs from it.
    scalars : int64, shape (9,)
    """

    jobs: np.ndarray
    steps: np.ndarray
    changes: np.ndarray
    scalars: np.ndarray


@maker
def _rows(count, length):
    return np.empty((count, length), np.int64)


@maker
def _new_plan(jobs, running):
    """Make room for so many waiting and running jobs."""
    changes = 4 * jobs + 8
    steps = running + 2 * jobs + SLACK + changes
    return Plan(_rows(8, jobs), _rows(6, steps), _rows(2, changes), np.zeros(9, np.int64))


@kernel
def iterative(submit, run, estimate, procs, machine, law, a, b, curves, moldable, head):
    """Simulate the iterative scheme.

    Parameters
    ----------
    submit, run, estimate, procs, machine, law, a, b, curves, moldable
        As in `schedlab.kernels.moldable.fair_share`.
    head : int
        Only so many jobs at the head of the queue are decided on, and the others wait; 0 for all.

    Returns
    -------
    start, width : int64, shape (n_jobs,)
        Start times in seconds; processors.
    """
    n = submit.size
    laws = Laws(law, a, b, curves, moldable)
    c = moldable_cluster(submit, run, estimate, procs, machine)
    plan, log = _new_plan(64, min(n, machine)), np.empty((0, 4), np.int64)
    work = np.empty(n, np.float64)
    for job in range(n):
        work[job] = work_seconds(laws, job, estimate[job], procs[job])
    while advance(c, NEVER):
        if c.clock[FREE] == 0 or not waiting(c):
            continue
        queued = c.queue.window[LAST] - c.queue.window[FIRST]
        if head:
            queued = min(queued, head)
        if queued > plan.jobs.shape[1]:
            plan = _new_plan(2 * queued, min(n, machine))
        _list_queue(c, plan, queued)
        _list_running(c, plan)
        _decide(plan, laws, work, estimate, procs, machine, queued, log)
        _start_planned(c, plan, laws, run, procs, queued)
    return c.start, c.jobs.procs


@kernel
def decision(ends, held, estimate, procs, machine, law, a, b, curves, moldable, now):
    """Make one scheduling decision.

    Parameters
    ----------
    ends, held : int64, shape (n_running,)
        Estimated ends of the running jobs, after `now`, in ascending order; their processors.
    estimate, procs, law, a, b, curves, moldable
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
    laws = Laws(law, a, b, curves, moldable)
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
    _decide(plan, laws, work, estimate, procs, machine, n, log)
    return plan.jobs[WIDTH, :n].copy(), plan.jobs[START, :n].copy(), log[: plan.scalars[LOGGED]].copy()


@part
def _list_queue(c, plan, queued):
    first = c.queue.window[FIRST]
    for i in range(queued):
        plan.jobs[JOB, i] = c.queue.item[first + i]


@part
def _list_running(c, plan):
    running = c.running
    _open(plan, c.clock[NOW], c.clock[FREE])
    for place in range(running.window[FIRST], running.window[LAST]):
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
def _start_planned(c, plan, laws, run, procs, queued):
    """Start the jobs whose reservations are for now."""
    now, place = c.clock[NOW], c.queue.window[FIRST]
    for i in range(queued):
        if plan.jobs[START, i] == now:
            place = begin_with(c, laws, place, plan.jobs[WIDTH, i], now + plan.jobs[DURATION, i], run, procs)
        else:
            place += 1


# --- The decision -------------------------------------------------------------------------------------------


@routine
def _decide(plan, laws, work, estimate, procs, machine, queued, log):
    """Find width and start of each waiting job; what is tried goes to the log while it has room."""
    width, duration, shorter, scalars = plan.jobs[WIDTH], plan.jobs[DURATION], plan.jobs[SHORTER], plan.scalars
    scalars[TOTAL] = scalars[LOGGED] = 0
    scalars[NEEDED] = scalars[STEPS]
    for i in range(queued):
        job = plan.jobs[JOB, i]
        if laws.moldable[job]:
            width[i], duration[i] = 1, lasts(laws, job, work[job], 1)
        else:
            width[i], duration[i] = procs[job], estimate[job]
        shorter[i] = _with_one_more(plan, laws, work, machine, i)
        _place_first(plan, i)
        scalars[TOTAL] += plan.jobs[START, i] + duration[i]
    for i in range(queued):
        plan.jobs[BEGINS, i] = _step_at(plan, plan.jobs[START, i])
        plan.jobs[ENDS, i] = _step_at(plan, plan.jobs[START, i] + duration[i])
    while True:
        most, i = 0, -1
        for k in range(queued):
            if duration[k] - shorter[k] > most:
                most, i = duration[k] - shorter[k], k
        if i < 0:
            return
        total = _try(plan, queued, i)
        kept = total < scalars[TOTAL]
        if scalars[LOGGED] < log.shape[0]:
            row = log[scalars[LOGGED]]
            row[0], row[1], row[2], row[3] = i, width[i] + 1, kept, total if total < LATER else -1
            scalars[LOGGED] += 1
        if kept:
            scalars[TOTAL] = total
            _keep(plan, queued, i)
            shorter[i] = _with_one_more(plan, laws, work, machine, i)
        else:
            shorter[i] = duration[i]  # gains nothing any more, so is not asked again


@part
def _with_one_more(plan, laws, work, machine, i):
    """Give how long a waiting job takes with one processor more; where it can have none, as long as without."""
    job = plan.jobs[JOB, i]
    if laws.moldable[job] and plan.jobs[WIDTH, i] < machine:
        return lasts(laws, job, work[job], plan.jobs[WIDTH, i] + 1)
    return plan.jobs[DURATION, i]


@part
def _place_first(plan, i):
    """Give a waiting job the earliest reservation under those before it."""
    start = _earliest(plan, plan.steps[UNDER_ALL], 0, plan.jobs[WIDTH, i], plan.jobs[DURATION, i], 0)
    plan.jobs[START, i] = start
    first = _step_at(plan, start)  # a step begins there
    last = _cut(plan, start + plan.jobs[DURATION, i])
    _add(plan.steps[UNDER_ALL], first, last, -plan.jobs[WIDTH, i])


@part
def _step_at(plan, instant):
    """Find the step that holds at an instant."""
    place, length = U(0), U(plan.scalars[STEPS])
    while length > U(1):
        half = length >> U(1)
        place += half if plan.steps[TIME, place + half] <= instant else U(0)
        length -= half
    return np.int64(place)


@part
def _cut(plan, instant):
    """Let a step begin at an instant; give its place."""
    step = _step_at(plan, instant)
    if plan.steps[TIME, step] == instant:
        return step
    step += 1
    for i in range(plan.scalars[STEPS], step, -1):
        plan.steps[TIME, i], plan.steps[UNDER_ALL, i] = plan.steps[TIME, i - 1], plan.steps[UNDER_ALL, i - 1]
    plan.steps[TIME, step], plan.steps[UNDER_ALL, step] = instant, plan.steps[UNDER_ALL, step - 1]
    plan.scalars[STEPS] += 1
    return step


@part
def _add(free, first, last, procs):
    for i in range(U(first), U(last)):
        free[i] += procs


@routine
def _earliest(plan, free, changes, width, duration, step):
    """Find the first time from which so many processors stay free for so long, from a step of the profile on."""
    time, since, more, steps = plan.steps[TIME], plan.changes[SINCE], plan.changes[MORE], plan.scalars[STEPS]
    start = instant = time[step]
    change, value, fits = 0, 0, False
    while True:
        while change < changes and since[change] <= instant:
            value = more[change]
            change += 1
        if free[step] + value < width:
            fits = False
        elif not fits:
            fits, start = True, instant
        following = time[step + 1] if step + 1 < steps else LATER
        instant = min(following, since[change]) if change < changes else following
        if fits and instant - start >= duration:
            return start
        if instant == following:
            step += 1


# --- A try --------------------------------------------------------------------------------------------------


@routine
def _try(plan, queued, i):
    """Give a waiting job one processor more and place all anew; give the sum of completions, or LATER if too late."""
    scalars, start, tried = plan.scalars, plan.jobs[START], plan.jobs[TRIED]
    duration, width = plan.jobs[DURATION], plan.jobs[WIDTH]
    now, before = plan.steps[TIME, 0], plan.steps[BEFORE]
    for step in range(U(scalars[STEPS])):
        before[step] = plan.steps[UNDER_ALL, step]
        plan.steps[LEAST, step] = plan.steps[MOST, step] = 0
    to_gain = 0  # if all jobs that are left started now
    for k in range(i, queued):
        _add(before, plan.jobs[BEGINS, k], plan.jobs[ENDS, k], width[k])
        to_gain += start[k] - now
    to_gain -= start[i] - now
    scalars[CHANGES] = scalars[TAKEN_UNTIL] = scalars[FREED_UNTIL] = 0
    scalars[TAKEN_FROM] = scalars[FREED_FROM] = scalars[STEPS]
    tried[i] = _earliest(plan, before, 0, width[i] + 1, plan.jobs[SHORTER, i], 0)
    _change(plan, start[i], start[i] + duration[i], width[i])
    _change(plan, tried[i], tried[i] + plan.jobs[SHORTER, i], -width[i] - 1)
    total = scalars[TOTAL] + tried[i] + plan.jobs[SHORTER, i] - start[i] - duration[i]
    for k in range(i + 1, queued):
        if total - to_gain >= scalars[TOTAL]:
            return LATER
        to_gain -= start[k] - now
        _add(before, plan.jobs[BEGINS, k - 1], plan.jobs[ENDS, k - 1], -width[k - 1])
        tried[k] = _again(plan, k)
        if tried[k] != start[k]:
            _change(plan, start[k], start[k] + duration[k], width[k])
            _change(plan, tried[k], tried[k] + duration[k], -width[k])
            total += tried[k] - start[k]
    return total


@part
def _again(plan, k):
    """Find the start of a waiting job in the present try; `BEFORE` is the profile that it stood in."""
    scalars, start, duration, width = plan.scalars, plan.jobs[START, k], plan.jobs[DURATION, k], plan.jobs[WIDTH, k]
    time, before, least, most = plan.steps[TIME], plan.steps[BEFORE], plan.steps[LEAST], plan.steps[MOST]
    first, last = plan.jobs[BEGINS, k], plan.jobs[ENDS, k]
    fewest = width
    for step in range(U(max(first, scalars[TAKEN_FROM])), U(min(last, scalars[TAKEN_UNTIL]))):
        fewest = min(fewest, before[step] + least[step])
    if fewest < width:
        return _earliest(plan, before, scalars[CHANGES], width, duration, 0)
    if first == 0:
        return start
    # Right before its start it was blocked, else it would have started earlier: so were all starts that would have it
    # run then. An earlier one needs a hole that was freed in part.
    found = first - 1
    if start - 1 - time[0] >= duration:
        found = scalars[FREED_FROM]
        until = min(first, scalars[FREED_UNTIL])
        while found < until and not before[found] < width <= before[found] + most[found]:
            found += 1
        if found >= until:
            return start
    elif before[found] + most[found] < width:
        return start
    while found > 0 and before[found - 1] + most[found - 1] >= width:
        found -= 1
    return _earliest(plan, before, scalars[CHANGES], width, duration, found)


@routine
def _change(plan, begin, end, procs):
    """Add to the changes so many processors on [begin, end)."""
    more, scalars = plan.changes[MORE], plan.scalars
    first = _change_at(plan, begin)
    last = _change_at(plan, end)
    for x in range(first, last):
        more[x] += procs
    _join(plan, last)
    _join(plan, first)
    steps, time = scalars[STEPS], plan.steps[TIME]
    step, final = _step_at(plan, begin), _step_at(plan, end - 1)
    if procs > 0:
        scalars[FREED_FROM], scalars[FREED_UNTIL] = min(scalars[FREED_FROM], step), max(scalars[FREED_UNTIL], final + 1)
    else:
        scalars[TAKEN_FROM], scalars[TAKEN_UNTIL] = min(scalars[TAKEN_FROM], step), max(scalars[TAKEN_UNTIL], final + 1)
    # Both bounds where a step is changed as a whole, one where it is in part.
    _add(plan.steps[MOST] if procs > 0 else plan.steps[LEAST], step, final + 1, procs)
    step += time[step] < begin
    final -= final + 1 == steps or time[final + 1] > end
    _add(plan.steps[LEAST] if procs > 0 else plan.steps[MOST], step, final + 1, procs)


@part
def _change_at(plan, instant):
    """Let a change begin at an instant; give its place."""
    since, more, scalars = plan.changes[SINCE], plan.changes[MORE], plan.scalars
    x = scalars[CHANGES]
    while x > 0 and since[x - 1] >= instant:
        x -= 1
    if x == scalars[CHANGES] or since[x] > instant:
        for y in range(scalars[CHANGES], x, -1):
            since[y], more[y] = since[y - 1], more[y - 1]
        since[x], more[x] = instant, more[x - 1] if x > 0 else 0
        scalars[CHANGES] += 1
    return x


@part
def _join(plan, x):
    """Drop a change that changes nothing."""
    since, more, scalars = plan.changes[SINCE], plan.changes[MORE], plan.scalars
    if more[x] == (more[x - 1] if x > 0 else 0):
        scalars[CHANGES] -= 1
        for y in range(x, scalars[CHANGES]):
            since[y], more[y] = since[y + 1], more[y + 1]


@routine
def _keep(plan, queued, i):
    """Make the try the plan."""
    scalars, width = plan.scalars, plan.jobs[WIDTH]
    _merge_changes(plan)
    for k in range(queued):
        plan.jobs[BEGINS, k] = plan.steps[PLACE, plan.jobs[BEGINS, k]]
        plan.jobs[ENDS, k] = plan.steps[PLACE, plan.jobs[ENDS, k]]
    width[i] += 1
    plan.jobs[DURATION, i] = plan.jobs[SHORTER, i]
    for k in range(i, queued):
        if k == i or plan.jobs[TRIED, k] != plan.jobs[START, k]:
            plan.jobs[START, k] = plan.jobs[TRIED, k]
            plan.jobs[BEGINS, k] = _cut_behind(plan, plan.jobs[START, k], queued)
            plan.jobs[ENDS, k] = _cut_behind(plan, plan.jobs[START, k] + plan.jobs[DURATION, k], queued)
    if scalars[STEPS] > scalars[NEEDED] + 2 * queued + SLACK:
        _forget_steps(plan, queued)


@part
def _cut_behind(plan, instant, queued):
    """Let a step begin at an instant where two changes cancelled each other; give its place."""
    steps = plan.scalars[STEPS]
    step = _cut(plan, instant)
    if plan.scalars[STEPS] > steps:
        for k in range(queued):
            plan.jobs[BEGINS, k] += plan.jobs[BEGINS, k] >= step
            plan.jobs[ENDS, k] += plan.jobs[ENDS, k] >= step
    return step


@part
def _merge_changes(plan):
    """Bring the changes into the profile, from the end on; note in `place` where each step has gone."""
    time, free, scalars = plan.steps[TIME], plan.steps[UNDER_ALL], plan.scalars
    since, more = plan.changes[SINCE], plan.changes[MORE]
    step, change = scalars[STEPS] - 1, scalars[CHANGES] - 1
    fresh = 0
    for x in range(scalars[CHANGES]):
        fresh += time[_step_at(plan, since[x])] != since[x]
    scalars[STEPS] += fresh
    to = scalars[STEPS] - 1
    while step >= 0:
        if change >= 0 and since[change] > time[step]:
            time[to], free[to] = since[change], free[step] + more[change]
            change -= 1
        else:
            value = more[change] if change >= 0 else 0
            if change >= 0 and since[change] == time[step]:
                change -= 1
            time[to], free[to] = time[step], free[step] + value
            plan.steps[PLACE, step] = to
            step -= 1
        to -= 1


@routine
def _forget_steps(plan, queued):
    """Drop the steps at which nothing begins or ends any more."""
    time, free, before, place = plan.steps[TIME], plan.steps[UNDER_ALL], plan.steps[BEFORE], plan.steps[PLACE]
    steps = plan.scalars[STEPS]
    for step in range(steps):
        before[step], place[step] = free[step], 0
    for k in range(queued):
        _add(before, plan.jobs[BEGINS, k], plan.jobs[ENDS, k], plan.jobs[WIDTH, k])
        place[plan.jobs[BEGINS, k]] = place[plan.jobs[ENDS, k]] = 1
    kept = 0
    for step in range(steps):
        if step == 0 or place[step] or before[step] != before[step - 1]:
            time[kept], free[kept] = time[step], free[step]
            place[step] = kept
            kept += 1
    plan.scalars[STEPS] = kept
    for k in range(queued):
        plan.jobs[BEGINS, k], plan.jobs[ENDS, k] = place[plan.jobs[BEGINS, k]], place[plan.jobs[ENDS, k]]
