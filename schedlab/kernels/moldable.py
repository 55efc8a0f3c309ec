"""Moldable jobs: the scheduler chooses a job's processors before it starts, and does not change them later.

*Fair share*, after Sabin, Lang and Sadayappan, JSSPP 2006 (Figure 1 and section 3): at each scheduling point every
waiting or running job has a limit, its share of the processors by weight. The efficiency factor moves processors from
jobs with a flat speedup curve to jobs with a steep one, within a band around the shares. In queue order, each job takes
the width, up to its limit, at which it would complete first (of equal widths the smallest). It starts if that is now.
The first job that cannot start gets the only reservation, which the next scheduling point forgets; the others wait.

*Greedy*, after Cirne and Berman, 2002: at its submission a job permanently takes the width at which it would complete
first in the profile of reservations, under conservative backfilling that makes all reservations anew at each pass.

Two facts shorten the search for a width. First, if the number of free processors never falls, as with running jobs
alone, a job that starts at a step of the profile takes all free processors. With the one reservation it takes all that
are free until the reservation begins, or all that the reservation leaves over, whichever completes first. Second, in
any profile only the widths that occur as steps need a search: of the widths between two of them, the largest completes
first, since it finds the same gaps and is shorter. A pass in which no processor is free changes nothing.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, kernel, maker, part, routine
from .cluster import ARRIVED, EARLY, FREE, NEWCOMER, NOW, Jobs, advance, begin, new_cluster, waiting
from .conservative import running_alone
from .fair_shares import enter, leave, new_mix, share_out
from .profile import add, earliest, forget_past, profile, step_at
from .sorted_pairs import NEVER, back, first_item, front, place_of
from .speedup import lasts, work_seconds

# Places in `choice`.
WIDTH, START, COMPLETION = range(3)
# Places in the reservation: begin and end, its processors, and the processors that it leaves over.
HELD_FROM, HELD_UNTIL, HELD_PROCS, LEFT_OVER = range(4)


@maker
def moldable_cluster(jobs, machine, halt):
    """Make an idle machine whose jobs may get other widths and times than the submitted ones."""
    n = jobs.submit.size
    rank = np.empty(n, np.int64)
    for job in range(n):
        rank[job] = job
    copies = Jobs(jobs.submit, jobs.run.copy(), jobs.estimate.copy(), jobs.procs.copy())
    return new_cluster(copies, machine, rank, False, False, halt)


@part
def begin_with(c, asked, laws, place, width, lasts_until):
    """Start the job at a place of the queue with a given width; return the place of its successor.

    `asked` are the jobs as submitted.
    """
    jobs = c.jobs
    job = c.queue.item[place]
    jobs.estimate[job] = lasts_until - c.clock[NOW]
    if laws.moldable[job]:
        work = work_seconds(laws, job, asked.run[job], asked.procs[job])
        jobs.run[job] = lasts(laws, job, work, width)
    jobs.procs[job] = width
    return begin(c, place)


# --- Fair share ---------------------------------------------------------------------------------------------
class Rules(NamedTuple):
    """The settings of fair share."""

    overbooking: float  # the sum of the limits, as a multiple of the machine, except for rounding
    efficiency: float  # half the width of the band around a limit, as a fraction of the limit
    proportional: bool  # weights are proportional to the work, not to its square root
    area: bool  # the work is estimate x processors, not the sequential work
    queued: bool  # only waiting jobs have a limit
    literal: bool  # a job at either bound of its band neither loses nor gains, as printed in the paper
    start_now: bool  # behind the reservation a job chooses among the widths that can start now


@kernel
def fair_share(jobs, machine, laws, rules, halt):
    """Simulate fair-share moldable scheduling; return start times (seconds) and processors.

    Times of jobs are those on the requested processors, at least 1, and no job may outlive its estimate.
    """
    n = jobs.submit.size
    c = moldable_cluster(jobs, machine, halt)
    mix, held, choice = new_mix(laws, machine), np.empty(4, np.int64), np.empty(3, np.int64)
    steps = profile(machine, min(n, machine))
    work, weight = np.empty(n, np.float64), np.empty(n, np.float64)
    for job in range(n):
        work[job] = work_seconds(laws, job, jobs.estimate[job], jobs.procs[job])
        weight[job] = np.float64(jobs.estimate[job]) * jobs.procs[job] if rules.area else work[job]
        if not rules.proportional:
            weight[job] = np.sqrt(weight[job])
    ended = 0
    while advance(c, NEVER):
        while ended < front(c.ends):
            if not rules.queued:
                leave(mix, c.begun[c.ends.item[ended]])
            ended += 1
        for job in range(c.clock[NEWCOMER], c.clock[ARRIVED]):
            enter(mix, job, weight[job])
        if c.clock[FREE] > 0 and waiting(c):
            share_out(mix, laws, machine, rules.overbooking, rules.efficiency, rules.literal)
            _fair_share_pass(c, jobs, steps, mix, laws, work, held, choice, rules.queued, rules.start_now)
            ended = front(c.ends)  # the place in the list; a start may move it
    return c.start, c.jobs.procs


@routine
def _fair_share_pass(c, jobs, steps, mix, laws, work, held, choice, queued, start_now):
    """Start the waiting jobs whose best width can start now, and make a reservation for the first that cannot."""
    queue, clock = c.queue, c.clock
    now = clock[NOW]
    running_alone(c, steps)
    held[HELD_FROM], held[HELD_UNTIL], held[HELD_PROCS] = NEVER, NEVER, 0
    place = front(queue)
    while place < back(queue):
        reserved = held[HELD_PROCS] > 0
        if reserved and clock[FREE] == 0:
            return
        job = queue.item[place]
        in_mix = mix.place[job]
        limit = mix.limit[in_mix]
        if reserved and held[LEFT_OVER] == 0 and _too_long(c, mix, laws, in_mix, work[job], held[HELD_FROM] - now):
            place += 1
            continue
        _choose(c, steps, laws, job, work[job], limit, held, choice, start_now)
        if choice[START] == now:
            if queued:
                leave(mix, job)
            if reserved and choice[COMPLETION] > held[HELD_FROM]:
                held[LEFT_OVER] -= choice[WIDTH]
            add(steps, now, choice[COMPLETION], -choice[WIDTH])
            place = begin_with(c, jobs, laws, place, choice[WIDTH], choice[COMPLETION])
            continue
        if not reserved:
            held[HELD_FROM], held[HELD_UNTIL], held[HELD_PROCS] = choice[START], choice[COMPLETION], choice[WIDTH]
            held[LEFT_OVER] = steps.item[step_at(steps, choice[START])] - choice[WIDTH]
        place += 1


@part
def _too_long(c, mix, laws, i, work, seconds):
    """Tell whether a moldable job takes longer than `seconds`, even with all free processors that it may use.

    If it is too long, it is also too long with fewer processors, so most answers need no new duration.
    """
    job, width = mix.job[i], min(mix.limit[i], c.clock[FREE])
    if not laws.moldable[job]:
        return False
    if width > mix.tried[i] or mix.took[i] <= seconds:
        mix.tried[i], mix.took[i] = width, lasts(laws, job, work, width)
    return mix.took[i] > seconds


@part
def _choose(c, steps, laws, job, work, limit, held, choice, start_now):
    """Find the width at which a job completes first (of equal widths the smallest); start -1 if it has to wait.

    Behind the reservation only a start at this instant counts, so a job waits as soon as that is not the best.
    """
    now, reserved = c.clock[NOW], held[HELD_PROCS] > 0
    moldable = laws.moldable[job]
    narrowest, widest = (1, limit) if moldable else (c.jobs.procs[job], c.jobs.procs[job])
    shortest = lasts(laws, job, work, widest) if moldable else c.jobs.estimate[job]
    choice[WIDTH], choice[START], choice[COMPLETION] = 0, -1, NEVER
    place, instant = front(steps), now
    while choice[COMPLETION] == NEVER or instant + shortest <= choice[COMPLETION]:
        width, duration = _fit(laws, job, work, narrowest, widest, shortest, instant, steps.item[place], held)
        if width >= narrowest and instant + duration <= choice[COMPLETION]:
            better = instant + duration < choice[COMPLETION]
            if moldable and not better:
                width = _narrowed(laws, job, work, 0, width, duration)
                better = width < _narrowed(laws, job, work, 0, choice[WIDTH], choice[COMPLETION] - choice[START])
            if better:
                choice[WIDTH], choice[START], choice[COMPLETION] = width, instant, instant + duration
        if reserved and (choice[START] != now or start_now):
            break
        # The next step: the end of running jobs or of the reservation.
        following = steps.key[place + 1] if place + 1 < back(steps) else NEVER
        if instant < held[HELD_UNTIL] < following:
            instant = held[HELD_UNTIL]
            continue
        if following == NEVER:
            break
        instant = following
        place += 1
    if moldable and (choice[START] == now or not reserved):
        choice[WIDTH] = _narrowed(laws, job, work, 0, choice[WIDTH], choice[COMPLETION] - choice[START])


@part
def _fit(laws, job, work, narrowest, widest, shortest, instant, free, held):
    """Return how many processors a job can have from an instant on, and its duration with them."""
    width, duration = min(widest, free), shortest
    if held[HELD_FROM] <= instant < held[HELD_UNTIL]:
        width = min(width, free - held[HELD_PROCS])
    if narrowest <= width < widest:
        duration = lasts(laws, job, work, width)
    if instant < held[HELD_FROM] and width > held[LEFT_OVER] and instant + duration > held[HELD_FROM]:
        width = held[LEFT_OVER]
        if width >= narrowest:
            duration = lasts(laws, job, work, width)
    return width, duration


@part
def _narrowed(laws, job, work, low, width, duration):
    """Find the smallest width, above `low`, with which a job takes no longer."""
    while width - low > 1:
        middle = (low + width) // 2
        if lasts(laws, job, work, middle) == duration:
            width = middle
        else:
            low = middle
    return width


# --- Greedy -------------------------------------------------------------------------------------------------
@kernel
def greedy(jobs, machine, laws, halt):
    """Simulate conservative backfilling of jobs that choose their widths at submission; as `fair_share`."""
    n = jobs.submit.size
    c = moldable_cluster(jobs, machine, halt)
    steps, reserved = profile(machine, n), np.full(n, NEVER, np.int64)
    choice = np.empty(3, np.int64)
    unplaced = 0
    while advance(c, NEVER):  # a reservation comes when a running job ends, so no alarm is needed
        now = c.clock[NOW]
        forget_past(steps, now)
        if c.clock[EARLY]:
            running_alone(c, steps)
            unplaced = 0
        unplaced = _place_waiting(c, steps, reserved, unplaced)
        for job in range(c.clock[NEWCOMER], c.clock[ARRIVED]):
            if laws.moldable[job]:
                _choose_for_good(c, steps, laws, job, jobs.run[job], choice)
            _place(c, steps, reserved, job)
        place = front(c.queue)
        while place < back(c.queue) and c.queue.item[place] < unplaced:
            place = begin(c, place) if reserved[c.queue.item[place]] <= now else place + 1
    return c.start, c.jobs.procs


@part
def _place(c, steps, reserved, job):
    """Give a waiting job the earliest possible place."""
    procs, duration = c.jobs.procs[job], c.jobs.estimate[job]
    reserved[job] = earliest(steps, c.clock[NOW], NEVER, procs, duration)
    add(steps, reserved[job], reserved[job] + duration, -procs)


@routine
def _place_waiting(c, steps, reserved, unplaced):
    """Place the waiting jobs from one on, except newcomers, in queue order; return the first that has no place.

    If there are newcomers, all are placed, because newcomers choose among what the others leave. Otherwise only as many
    are placed as might start now: often an early completion makes all places obsolete before the rest is needed.
    """
    queue, jobs = c.queue, c.jobs
    last = back(queue) - (c.clock[ARRIVED] - c.clock[NEWCOMER])
    all_of_them = c.clock[NEWCOMER] < c.clock[ARRIVED]
    place = fits = place_of(queue, unplaced, unplaced)
    while place < last:
        fits = max(fits, place)
        while fits < last and not all_of_them and jobs.procs[queue.item[fits]] > first_item(steps):
            fits += 1
        if fits == last or c.halt[0]:
            return queue.item[place]
        _place(c, steps, reserved, queue.item[place])
        place += 1
    return c.clock[ARRIVED]


@routine
def _choose_for_good(c, steps, laws, job, run, choice):
    """Give a newcomer the width at which it completes first in the profile; of equal widths the smallest."""
    jobs, now = c.jobs, c.clock[NOW]
    work = work_seconds(laws, job, jobs.estimate[job], jobs.procs[job])
    true_work = work_seconds(laws, job, run, jobs.procs[job])
    choice[COMPLETION] = NEVER
    width = _widest_below(steps, NEVER)
    while width > 0:
        duration = lasts(laws, job, work, width)
        if choice[COMPLETION] != NEVER and now + duration > choice[COMPLETION]:
            break  # narrower jobs take even longer
        completion = earliest(steps, now, NEVER, width, duration) + duration
        if completion <= choice[COMPLETION]:
            choice[WIDTH], choice[COMPLETION] = width, completion
            jobs.estimate[job] = duration
        width = _widest_below(steps, width)
    below = _widest_below(steps, choice[WIDTH])
    # All widths between two adjacent step widths find the same gaps.
    jobs.procs[job] = _narrowed(laws, job, work, below, choice[WIDTH], jobs.estimate[job])
    jobs.run[job] = lasts(laws, job, true_work, jobs.procs[job])


@part
def _widest_below(steps, width):
    """Find the largest number of free processors below `width` at any step of a profile; 0 if there is none."""
    most = 0
    for place in range(U(front(steps)), U(back(steps))):
        if most < steps.item[place] < width:
            most = steps.item[place]
    return most
