"""The plan of one decision of the iterative scheme: widths and reservations, changed by attempts and restored.

To give one job one more processor, all jobs have to be placed anew, although most stay where they are. Two shortcuts:

- Often the widened job keeps its start, one processor is free under all jobs for its whole new duration, and the time
  that it frees at its end lets no job start earlier. Checking this takes one look at the job and at each job behind it.
- Otherwise the jobs before it stay, and those behind it are placed one after the other. A job stays if its place is
  still wide enough and it cannot start earlier. To start earlier, it needs a long enough stretch that includes
  processors freed by other jobs. There is none if even a start right before the freed processors would have the job run
  just before its reservation, where too few processors are free. So one look at the profile replaces most searches. The
  attempt is abandoned as soon as it could not lower the sum even if all remaining jobs started now.

A job that moves takes along the profile step at which it ended, if nothing else happens there. So few steps have to be
shifted, and few steps remain at which nothing happens.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, inlined, maker, part, routine
from .sorted_pairs import make_room

# Places in Plan.scalars: the number of steps made by running jobs alone, the number of all steps, and that before the
# present attempt; the first step at which the attempt has freed processors; the sum of the plan's completions; the
# number of log entries; the number of waiting jobs that all attempts so far had to look at; the processors that all
# waiting jobs together leave over; how many jobs at the head of the queue have their final widths, and how many of the
# processors that are free now these jobs do not take.
NEEDED, STEPS, STEPS_BEFORE, FIRST_FREED, TOTAL, LOGGED, LOOKED, LEFT_OVER, FINAL, UNTAKEN = range(10)

SLACK = 16  # the number of superfluous steps that is tolerated

# An instruction works on so many 32-bit numbers at once, or on twice as many. Hot loops go on to the next multiple,
# since the last few entries, one by one, would take longer than all others. The arrays of a plan have room for that.
LANES = 8

LATER = 1 << 62  # used as infinity
AFTER = np.iinfo(np.int64).max  # the time after the last step, at which a search stops by itself

# Rows of Plan.jobs: the job; its processors; its duration with them, and with one more; its reservation, and the one
# before the present attempt.
JOB, PROCS, DURATION, SHORTER, RESERVED, KEPT_RESERVED = range(6)

# Rows of Plan.places: the profile steps at which a job's reservation begins and ends, and the processors that are free
# right before it begins, under the jobs before it in the queue. Then these three as they were before the attempt.
BEGINS, ENDS, FREE_BEFORE, KEPT_PLACES = range(4)

# Rows of Plan.times: the steps' times, and those before the present attempt.
TIME, KEPT_TIME = range(2)

# Rows of Plan.steps: the processors that are free from a step on; and how many waiting jobs begin or end then, plus one
# if running jobs end. Then these two as they were before the attempt; and scratch.
FREE, USES, KEPT_STEPS, SCRATCH = 0, 1, 2, 4


class Plan(NamedTuple):
    """One scheduling decision; every field is modified in place. Times in seconds."""

    jobs: np.ndarray  # int64 of shape (6, most_jobs): the waiting jobs in queue order
    # int32 of shape (6, most_jobs): their places in the profile. Routines get them as uint64: each other type would be
    # compiled once more.
    places: np.ndarray
    times: np.ndarray  # int64 of shape (2, most_steps): when the steps of the profile begin
    # int32 of shape (5, most_steps): the profile; adjacent steps may be equal. A machine has at most 2**24 processors,
    # so 32 bits are enough, and an instruction works on twice as many steps.
    steps: np.ndarray
    scalars: np.ndarray  # int64 of shape (10,)
    # int32 of shape (most_steps + LANES,): all bits set, except in the last LANES entries. The entries from the n-th
    # before these on tell which of an array's entries are among n.
    within: np.ndarray


@maker
def new_plan(jobs, running):
    """Allocate a plan for given numbers of waiting and running jobs.

    A profile has at most `running + 2 * jobs + SLACK + 1` steps, so loops may go on behind the last one.
    """
    jobs = np.int64(_padded(jobs))
    steps = np.int64(_padded(running + 5 * jobs + SLACK + LANES))
    within = np.zeros(steps + LANES, np.int32)
    for step in range(steps):
        within[step] = -1
    return Plan(
        np.empty((6, jobs), np.int64),
        np.empty((6, jobs), np.int32),
        np.empty((2, steps), np.int64),
        np.empty((5, steps), np.int32),
        np.zeros(10, np.int64),
        within,
    )


@part
def open_profile(plan, now, free):
    """Start a profile."""
    plan.times[TIME, 0], plan.steps[FREE, 0], plan.steps[USES, 0] = now, free, 1
    plan.scalars[STEPS] = 1


@part
def release(plan, instant, procs):
    """Free processors permanently, from an instant not before the last step's."""
    time, free = plan.times[TIME], plan.steps[FREE]
    steps = plan.scalars[STEPS]
    if instant > time[steps - 1]:
        time[steps], free[steps], plan.steps[USES, steps] = instant, free[steps - 1] + procs, 1
        plan.scalars[STEPS] = steps + 1
    else:
        free[steps - 1] += procs


@part
def close_profile(plan):
    """Note that all running jobs are in the profile."""
    scalars = plan.scalars
    scalars[NEEDED] = scalars[STEPS]
    plan.times[TIME, scalars[STEPS]] = AFTER


@routine
def place_first(plan, i):
    """Give a waiting job its first reservation, behind those of all jobs before it."""
    width, duration = plan.jobs[PROCS, i], plan.jobs[DURATION, i]
    first, last = _earliest(plan, width, duration, U(0))
    _settle(plan, U(i), U(i), first, last, U(plan.scalars[STEPS]), width, duration)
    _note_before(plan, i)


@routine
def with_one_more(plan, queued, i):
    """Give a waiting job one more processor, and place all anew; return the sum of completions, LATER if abandoned."""
    if _moves_nobody(plan, queued, i):
        return plan.scalars[TOTAL] - plan.jobs[DURATION, i] + plan.jobs[SHORTER, i]
    return _try(plan, queued, i)


# --- Where nobody else moves --------------------------------------------------------------------------------
@routine
def _moves_nobody(plan, queued, i):
    """Give a waiting job one more processor if it surely keeps its start and no other job moves; tell whether."""
    time, free, uses = plan.times[TIME], plan.steps[FREE], plan.steps[USES]
    start, begins, before = plan.jobs[RESERVED], plan.places[BEGINS], plan.places[FREE_BEFORE]
    width, duration, shorter = plan.jobs[PROCS], plan.jobs[DURATION], plan.jobs[SHORTER, i]
    now, first, old = time[0], np.int64(begins[i]), np.int64(plan.places[ENDS, i])
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
    # From its new to its old end, the job frees the processors it had. A job that starts earlier because of that runs
    # in this stretch, and not right before its own reservation, where too few processors are free. How far it may
    # extend on either side is bounded by what it finds right before the new end and at the old end: the processors free
    # under all jobs, and those that it and the jobs behind it hold there.
    behind_end, behind_until = 0, 0
    for k in range(queued - 1, i, -1):
        if start[k] > end:
            available = before[k] + (width[i] if start[k] <= until else 0)
            earliest = end if free[last - 1] - 1 + behind_end < width[k] else now
            latest = time[begins[k] - 1]
            if free[old] + behind_until < width[k]:
                latest = min(latest, until)
            if available >= width[k] or latest - earliest >= duration[k]:
                return False
        behind_end += width[k] if begins[k] < last <= plan.places[ENDS, k] else 0
        behind_until += width[k] if begins[k] <= old < plan.places[ENDS, k] else 0
    for k in range(U(i + 1), U(queued)):
        if start[i] < start[k] <= until:
            before[k] += width[i] if start[k] > end else -1
    for step in range(U(first), U(old)):
        free[step] += width[i]
    uses[first] -= 1
    uses[old] -= 1
    _settle(plan, U(queued), U(i), U(first), U(last), U(old), width[i] + 1, shorter)
    return True


# --- A try --------------------------------------------------------------------------------------------------
@routine
def _try(plan, queued, i):
    """Place a widened job and the jobs behind it, one after the other; return as `with_one_more`."""
    scalars, start, begins, ends = plan.scalars, plan.jobs[RESERVED], plan.places[BEGINS], plan.places[ENDS]
    width, duration = plan.jobs[PROCS], plan.jobs[DURATION]
    time, free = plan.times[TIME], plan.steps[FREE]
    now = time[0]
    scalars[STEPS_BEFORE] = scalars[STEPS]
    _copy(plan, queued, 0, 1)
    _lift(plan, i, queued)
    scalars[FIRST_FREED] = scalars[STEPS] + 4 * queued  # none yet
    to_gain = 0  # the gain if all remaining jobs started now
    for k in range(U(i + 1), U(queued)):
        to_gain += start[k] - now
    total = scalars[TOTAL] - start[i] - duration[i]
    first, last = _earliest(plan, width[i] + 1, plan.jobs[SHORTER, i], U(0))
    _move(plan, queued, U(i), first, last, width[i] + 1, plan.jobs[SHORTER, i])
    total += start[i] + plan.jobs[SHORTER, i]
    for k in range(U(i + 1), U(queued)):
        if total - to_gain >= scalars[TOTAL]:
            return LATER
        reserved = start[k]
        to_gain -= reserved - now
        step, need = U(begins[k]), np.int32(width[k])
        if U(scalars[FIRST_FREED]) < step:
            first = U(scalars[FIRST_FREED])
            while first > U(0) and free[first - U(1)] >= need:
                first -= U(1)
            if free[step - U(1)] >= need or time[first] + duration[k] <= time[step - U(1)]:
                step = first
        if step == U(begins[k]) and free[step] >= need:
            if _take(plan.within, free, step, ends[k], width[k]):
                _note_before(plan, k)
                continue
            _take(plan.within, free, step, ends[k], -width[k])
        first, last = _earliest(plan, width[k], duration[k], step)
        if first == U(begins[k]):
            _take(plan.within, free, first, last, width[k])
            _note_before(plan, k)
            continue
        _move(plan, queued, k, first, last, width[k], duration[k])
        total += start[k] - reserved
    return total


@routine
def give_back(plan, queued):
    """Restore the plan from before the attempt."""
    scalars = plan.scalars
    scalars[STEPS] = scalars[STEPS_BEFORE]
    plan.times[TIME, scalars[STEPS]] = AFTER
    _copy(plan, queued, 1, 0)


@inlined
def _copy(plan, queued, source, target):
    """Copy the present plan (0) to the kept one (1), or back."""
    for step in range(_padded(plan.scalars[STEPS])):
        plan.times[TIME + target, step] = plan.times[TIME + source, step]
    for row in range(2):
        for step in range(_padded(plan.scalars[STEPS])):
            plan.steps[row + KEPT_STEPS * target, step] = plan.steps[row + KEPT_STEPS * source, step]
    for k in range(_padded(queued)):
        plan.jobs[RESERVED + target, k] = plan.jobs[RESERVED + source, k]
    for row in range(3):
        for k in range(_padded(queued)):
            plan.places[row + KEPT_PLACES * target, k] = plan.places[row + KEPT_PLACES * source, k]


@part
def _lift(plan, i, queued):
    """Remove the jobs from one on from the profile."""
    free, more, width = plan.steps[FREE], plan.steps[SCRATCH], plan.jobs[PROCS]
    begins, ends = plan.places[BEGINS], plan.places[ENDS]
    for step in range(_padded(plan.scalars[STEPS])):
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
    """Place a waiting job anew in the present attempt, and record what that frees; see `_settle`."""
    begins, ends, uses, scalars = plan.places[BEGINS], plan.places[ENDS], plan.steps[USES], plan.scalars
    time = plan.times[TIME]
    began, old = U(begins[k]), U(ends[k])
    until = time[old]
    uses[began] -= 1
    uses[old] -= 1
    later = first > began
    begun = _settle(plan, U(queued), k, first, last, old, width, duration)
    _note_before(plan, k)
    freed = begun if later else max(U(ends[k]), begun)
    if time[freed] < until:
        scalars[FIRST_FREED] = min(U(scalars[FIRST_FREED]), freed)


# --- The profile --------------------------------------------------------------------------------------------
@routine
def _earliest(plan, width, duration, step):
    """Return the first step, from `step` on, with enough processors for long enough, and the first step not needed."""
    time, free = plan.times[TIME], plan.steps[FREE]
    last, need = U(step), np.int32(width)
    while True:
        while free[last] < need:
            last += U(1)
        first, end = last, time[last] + duration
        last += U(1)
        while time[last] < end and free[last] >= need:
            last += U(1)
        if time[last] >= end:
            return first, last


@routine
def _settle(plan, placed, k, first, last, old, width, duration):
    """Take processors for a waiting job from a step on; return the step at which it began before.

    The first step that it does not need is `last`. If the job does not end there, a step is inserted: the one at which
    it ended before, `old`, if nothing else happens there. The steps of the first `placed` jobs are shifted accordingly,
    perhaps with some that are still without meaning.
    """
    begins, ends, scalars = plan.places[BEGINS], plan.places[ENDS], plan.scalars
    time, free, uses = plan.times[TIME], plan.steps[FREE], plan.steps[USES]
    end = time[first] + duration
    uses[first] += 1
    if time[last] > end:
        if old < U(scalars[STEPS]) and uses[old] > 0:
            old = U(scalars[STEPS])
        if old > last:
            make_room(time, last, old)
            make_room(free, last, old)
            make_room(uses, last, old)
            low, high = np.int32(last), np.int32(old)
            for j in range(_padded(placed)):
                begins[j] += (begins[j] >= low) & (begins[j] < high)
                ends[j] += (ends[j] >= low) & (ends[j] < high)
            scalars[FIRST_FREED] += last <= U(scalars[FIRST_FREED]) < old
        if old >= last:
            if old == U(scalars[STEPS]):
                scalars[STEPS] += 1
                time[old + U(1)] = AFTER
        else:
            last -= U(1)
            for step in range(old, last):
                time[step] = time[step + U(1)]
            for row in (free, uses):
                for step in range(old, last):
                    row[step] = row[step + U(1)]
            low, high = np.int32(old), np.int32(last)
            for j in range(_padded(placed)):
                begins[j] -= (begins[j] > low) & (begins[j] <= high)
                ends[j] -= (ends[j] > low) & (ends[j] <= high)
            first -= U(first > old)
            scalars[FIRST_FREED] -= old <= U(scalars[FIRST_FREED]) <= last
        time[last], free[last], uses[last] = end, free[last - U(1)], 0
    uses[last] += 1
    begun = U(begins[k])
    begins[k], ends[k] = first, last
    plan.jobs[RESERVED, k] = time[first]
    _take(plan.within, free, first, last, width)
    return begun


@part
def _note_before(plan, k):
    first = U(plan.places[BEGINS, k])
    plan.places[FREE_BEFORE, k] = plan.steps[FREE, first - U(1)] if first else np.int32(0)


@part
def _padded(count):
    """Round up to a multiple of LANES."""
    return (U(count) + U(LANES - 1)) & ~U(LANES - 1)


@part
def _take(within, free, first, last, width):
    """Take processors, or give them back if `width` is negative; tell whether there were enough.

    Up to `LANES - 1` steps behind are written, too, with what they held.
    """
    fewest, width, count = np.int32(0), np.int32(width), U(last) - U(first)
    offset = U(within.size - LANES) - count
    for step in range(_padded(count)):
        here = within[offset + step]
        left = np.int32(free[U(first) + step] - (width & here))
        free[U(first) + step] = left
        fewest = min(fewest, np.int32(left & here))
    return fewest == 0


@routine
def forget_steps(plan, queued):
    """Drop the steps at which no job begins or ends any more."""
    time, free, uses, place = plan.times[TIME], plan.steps[FREE], plan.steps[USES], plan.steps[SCRATCH]
    kept = 0
    for step in range(plan.scalars[STEPS]):
        if uses[step]:
            time[kept], free[kept], uses[kept], place[step] = time[step], free[step], uses[step], kept
            kept += 1
    plan.scalars[STEPS] = kept
    time[kept] = AFTER
    for k in range(queued):
        plan.places[BEGINS, k], plan.places[ENDS, k] = place[plan.places[BEGINS, k]], place[plan.places[ENDS, k]]
