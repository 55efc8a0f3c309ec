"""The iterative scheme for moldable jobs: widen one job at a time while that lowers the mean turnaround.

After Sabin, Lang and Sadayappan, JSSPP 2006, Figure 6. At each scheduling point every waiting job gets one processor
and all get reservations, conservatively and in the order of the queue. Then, again and again, the job that gains most
from one more processor gets it, and all are placed anew; if the sum of the estimated completions does not fall, the job
gives it back and is not asked again. What is reserved for now starts; the next scheduling point forgets all else, so
that nothing happens where no processor is free.

To place all jobs anew for each processor is what the scheme spends its time on, and most of them stay where they are.
Those before the widened job do. Of those behind it, a job stays unless its place has become too narrow for it, or
processors that have become free let it start earlier; so it is enough to keep account of the difference that the jobs
placed so far make to the profile, a few steps, and to look at the profile where the difference is. A try is given up
as soon as it could not lower the sum even if all jobs that are left started now.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, kernel, maker, part, routine
from .cluster import FREE, NOW, advance, waiting
from .moldable import begin_with, moldable_cluster
from .ordered import FIRST, LAST
from .profile import NEVER
from .speedup import Laws, lasts, work_seconds

# Places in Plan.scalars: lengths, the sum of completions, and the steps of running jobs alone.
STEPS, CHANGES, TOTAL, LOGGED, NEEDED = range(5)

SLACK = 16  # so many steps more than needed are suffered

LATER = 1 << 62  # what has no end


class Plan(NamedTuple):
    """One scheduling decision; every field is modified in place.

    Attributes
    ----------
    job, width, duration, shorter, start : int64, shape (most_jobs,)
        The waiting jobs in the order of the queue: which it is, its processors, how long it takes with them and with
        one more, and its reservation. Times in seconds.
    tried : int64, shape (most_jobs,)
        Starts in the present try.
    first, last : int64, shape (most_jobs,)
        The steps of the profile at which a reservation begins and ends.
    time, free, before : int64, shape (most_steps,)
        The profile: from when on how many processors are free under all jobs that run or hold a reservation, and the
        same under those only that come before the job which is looked at. Steps may be alike.
    since, more : int64, shape (most_changes,)
        By how many processors the present try differs from that, and from when on.
    least, most : int64, shape (most_steps,)
        Bounds on that difference within each step.
    place : int64, shape (most_steps,)
        Scratch.
    scalars : int64, shape (5,)
    """

    job: np.ndarray
    width: np.ndarray
    duration: np.ndarray
    shorter: np.ndarray
    start: np.ndarray
    tried: np.ndarray
    first: np.ndarray
    last: np.ndarray
    time: np.ndarray
    free: np.ndarray
    before: np.ndarray
    since: np.ndarray
    more: np.ndarray
    least: np.ndarray
    most: np.ndarray
    place: np.ndarray
    scalars: np.ndarray


@maker
def _integers(n):
    return np.empty(n, np.int64)


@maker
def _new_plan(jobs, running):
    """Make room for so many waiting and running jobs."""
    changes = 4 * jobs + 8
    steps = running + 2 * jobs + changes + 8
    return Plan(
        _integers(jobs),
        _integers(jobs),
        _integers(jobs),
        _integers(jobs),
        _integers(jobs),
        _integers(jobs),
        _integers(jobs),
        _integers(jobs),
        _integers(steps),
        _integers(steps),
        _integers(steps),
        _integers(changes),
        _integers(changes),
        _integers(steps),
        _integers(steps),
        _integers(steps),
        np.zeros(5, np.int64),
    )


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
        if queued > plan.job.size:
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
        plan.job[job] = job
    free = machine
    for i in range(ends.size):
        free -= held[i]
    _open(plan, now, free)
    for i in range(ends.size):
        _release(plan, ends[i], held[i])
    _decide(plan, laws, work, estimate, procs, machine, n, log)
    return plan.width[:n].copy(), plan.start[:n].copy(), log[: plan.scalars[LOGGED]].copy()


@part
def _list_queue(c, plan, queued):
    first = c.queue.window[FIRST]
    for i in range(queued):
        plan.job[i] = c.queue.item[first + i]


@part
def _list_running(c, plan):
    running = c.running
    _open(plan, c.clock[NOW], c.clock[FREE])
    for place in range(running.window[FIRST], running.window[LAST]):
        _release(plan, running.key[place], c.jobs.procs[running.item[place]])


@part
def _open(plan, now, free):
    """Begin a profile."""
    plan.time[0], plan.free[0] = now, free
    plan.scalars[STEPS] = 1


@part
def _release(plan, instant, procs):
    """Free processors for ever from an instant not before the last step's."""
    steps = plan.scalars[STEPS]
    if instant > plan.time[steps - 1]:
        plan.time[steps], plan.free[steps] = instant, plan.free[steps - 1] + procs
        plan.scalars[STEPS] = steps + 1
    else:
        plan.free[steps - 1] += procs


@part
def _start_planned(c, plan, laws, run, procs, queued):
    """Start the jobs whose reservations are for now."""
    now, place = c.clock[NOW], c.queue.window[FIRST]
    for i in range(queued):
        if plan.start[i] == now:
            place = begin_with(c, laws, place, plan.width[i], now + plan.duration[i], run, procs)
        else:
            place += 1


# --- The decision -------------------------------------------------------------------------------------------


@routine
def _decide(plan, laws, work, estimate, procs, machine, queued, log):
    """Find width and start of each waiting job; what is tried goes to the log while it has room."""
    width, duration, shorter, scalars = plan.width, plan.duration, plan.shorter, plan.scalars
    scalars[TOTAL] = scalars[LOGGED] = 0
    scalars[NEEDED] = scalars[STEPS]
    for i in range(queued):
        job = plan.job[i]
        if laws.moldable[job]:
            width[i], duration[i] = 1, lasts(laws, job, work[job], 1)
        else:
            width[i], duration[i] = procs[job], estimate[job]
        shorter[i] = _with_one_more(plan, laws, work, machine, i)
        _place_first(plan, i)
        scalars[TOTAL] += plan.start[i] + duration[i]
    for i in range(queued):
        plan.first[i], plan.last[i] = _step_at(plan, plan.start[i]), _step_at(plan, plan.start[i] + duration[i])
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
    job = plan.job[i]
    if laws.moldable[job] and plan.width[i] < machine:
        return lasts(laws, job, work[job], plan.width[i] + 1)
    return plan.duration[i]


@part
def _place_first(plan, i):
    """Give a waiting job the earliest reservation under those before it."""
    start = _earliest(plan, plan.free, 0, plan.width[i], plan.duration[i])
    plan.start[i] = start
    first = _step_at(plan, start)  # a step begins there
    last = _cut(plan, start + plan.duration[i])
    _add(plan.free, first, last, -plan.width[i])


@part
def _step_at(plan, instant):
    """Find the step that holds at an instant."""
    place, length = U(0), U(plan.scalars[STEPS])
    while length > U(1):
        half = length >> U(1)
        place += half if plan.time[place + half] <= instant else U(0)
        length -= half
    return np.int64(place)


@part
def _cut(plan, instant):
    """Let a step begin at an instant; give its place."""
    step = _step_at(plan, instant)
    if plan.time[step] == instant:
        return step
    step += 1
    for i in range(plan.scalars[STEPS], step, -1):
        plan.time[i], plan.free[i] = plan.time[i - 1], plan.free[i - 1]
    plan.time[step], plan.free[step] = instant, plan.free[step - 1]
    plan.scalars[STEPS] += 1
    return step


@part
def _add(free, first, last, procs):
    for i in range(U(first), U(last)):
        free[i] += procs


@routine
def _earliest(plan, free, changes, width, duration):
    """Find the first time from which so many processors stay free for so long, in a profile and its changes."""
    time, since, more, steps = plan.time, plan.since, plan.more, plan.scalars[STEPS]
    start, step, change, value = time[0], 0, 0, 0
    fits = False
    instant = time[0]
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
    scalars, start, duration, width, tried = plan.scalars, plan.start, plan.duration, plan.width, plan.tried
    now, before = plan.time[0], plan.before
    for step in range(U(scalars[STEPS])):
        before[step] = plan.free[step]
        plan.least[step] = plan.most[step] = 0
    to_gain = 0  # if all jobs that are left started now
    for k in range(i, queued):
        _add(before, plan.first[k], plan.last[k], width[k])
        to_gain += start[k] - now
    to_gain -= start[i] - now
    scalars[CHANGES] = 0
    tried[i] = _earliest(plan, before, 0, width[i] + 1, plan.shorter[i])
    _change(plan, start[i], start[i] + duration[i], width[i])
    _change(plan, tried[i], tried[i] + plan.shorter[i], -width[i] - 1)
    total = scalars[TOTAL] + tried[i] + plan.shorter[i] - start[i] - duration[i]
    for k in range(i + 1, queued):
        if total - to_gain >= scalars[TOTAL]:
            return LATER
        to_gain -= start[k] - now
        _add(before, plan.first[k - 1], plan.last[k - 1], -width[k - 1])
        tried[k] = start[k]
        if not _stays(plan, k):
            tried[k] = _earliest(plan, before, scalars[CHANGES], width[k], duration[k])
            if tried[k] != start[k]:
                _change(plan, start[k], start[k] + duration[k], width[k])
                _change(plan, tried[k], tried[k] + duration[k], -width[k])
                total += tried[k] - start[k]
    return total


@part
def _stays(plan, k):
    """Tell whether a waiting job surely stays where it is; `before` is the profile that it stood in."""
    before, width = plan.before, plan.width[k]
    first, last = plan.first[k], plan.last[k]
    for step in range(U(first), U(last)):
        if before[step] + plan.least[step] < width:
            return False
    if first == 0:
        return True
    # Right before its start it was blocked, else it would have started earlier.
    if before[first - 1] + plan.most[first - 1] >= width:
        return False
    # All that could start earlier and not end by then is blocked still.
    room = plan.start[k] - 1 - plan.time[0] - plan.duration[k]
    step = 0
    while room >= 0 and step < first - 1 and plan.time[step] <= plan.start[k] - 1:
        if before[step] < width <= before[step] + plan.most[step]:
            return False
        step += 1
    return True


@routine
def _change(plan, begin, end, procs):
    """Add to the changes so many processors on [begin, end)."""
    more, scalars = plan.more, plan.scalars
    first = _change_at(plan, begin)
    last = _change_at(plan, end)
    for x in range(first, last):
        more[x] += procs
    _join(plan, last)
    _join(plan, first)
    bound = plan.most if procs > 0 else plan.least
    other = plan.least if procs > 0 else plan.most
    time = plan.time
    step = _step_at(plan, begin)
    final = _step_at(plan, end - 1)
    for x in range(step, final + 1):
        bound[x] += procs
    step += time[step] < begin
    if final + 1 == scalars[STEPS] or time[final + 1] > end:
        final -= 1
    for x in range(step, final + 1):
        other[x] += procs


@part
def _change_at(plan, instant):
    """Let a change begin at an instant; give its place."""
    since, more, scalars = plan.since, plan.more, plan.scalars
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
    since, more, scalars = plan.since, plan.more, plan.scalars
    if more[x] == (more[x - 1] if x > 0 else 0):
        scalars[CHANGES] -= 1
        for y in range(x, scalars[CHANGES]):
            since[y], more[y] = since[y + 1], more[y + 1]


@routine
def _keep(plan, queued, i):
    """Make the try the plan."""
    scalars, width = plan.scalars, plan.width
    _merge_changes(plan)
    for k in range(queued):
        plan.first[k], plan.last[k] = plan.place[plan.first[k]], plan.place[plan.last[k]]
    width[i] += 1
    plan.duration[i] = plan.shorter[i]
    for k in range(i, queued):
        if k == i or plan.tried[k] != plan.start[k]:
            plan.start[k] = plan.tried[k]
            plan.first[k] = _cut_behind(plan, plan.start[k], queued)
            plan.last[k] = _cut_behind(plan, plan.start[k] + plan.duration[k], queued)
    if scalars[STEPS] > scalars[NEEDED] + 2 * queued + SLACK:
        _forget_steps(plan, queued)


@part
def _cut_behind(plan, instant, queued):
    """Let a step begin at an instant where two changes cancelled each other; give its place."""
    steps = plan.scalars[STEPS]
    step = _cut(plan, instant)
    if plan.scalars[STEPS] > steps:
        for k in range(queued):
            plan.first[k] += plan.first[k] >= step
            plan.last[k] += plan.last[k] >= step
    return step


@part
def _merge_changes(plan):
    """Bring the changes into the profile, from the end on; note in `place` where each step has gone."""
    time, free, since, more, scalars = plan.time, plan.free, plan.since, plan.more, plan.scalars
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
            plan.place[step] = to
            step -= 1
        to -= 1


@routine
def _forget_steps(plan, queued):
    """Drop the steps at which nothing begins or ends any more."""
    time, free, before, place = plan.time, plan.free, plan.before, plan.place
    steps = plan.scalars[STEPS]
    for step in range(steps):
        before[step], place[step] = free[step], 0
    for k in range(queued):
        _add(before, plan.first[k], plan.last[k], plan.width[k])
        place[plan.first[k]] = place[plan.last[k]] = 1
    kept = 0
    for step in range(steps):
        if step == 0 or place[step] or before[step] != before[step - 1]:
            time[kept], free[kept] = time[step], free[step]
            place[step] = kept
            kept += 1
    plan.scalars[STEPS] = kept
    for k in range(queued):
        plan.first[k], plan.last[k] = place[plan.first[k]], place[plan.last[k]]
