"""Moldable jobs: the scheduler chooses how many processors a job gets, before it starts and for good.

*Fair share*, after Sabin, Lang and Sadayappan, JSSPP 2006 (Figure 1 and section 3): at each scheduling point every job
that waits or runs has a limit, its share of the processors by weight; the efficiency factor moves processors from jobs
with a flat speedup curve to jobs with a steep one, within a band around the shares. In the order of the queue each job
takes the width, up to its limit, with which it would be done first (of equals the smallest); it starts if that is now,
the first that cannot start gets the only reservation, which the next scheduling point forgets, and the others wait.

*Greedy*, after Cirne and Berman, 2002: at its submission a job takes for good the width with which it would be done
first in the profile of reservations, under conservative backfilling that makes all reservations anew at each pass.

Two things make the search for a width short. Where the free processors never become fewer, as under running jobs alone,
a job that starts at a step of the profile takes as many as are free; with the one reservation it takes as many as are
free until that begins, or as many as it leaves over, whichever is done first. And in any profile only the widths at
which steps stand need a search: of the widths between two of them the largest is done first, since it finds the same
gaps and is shorter. A pass in which no processor is free changes nothing.

Processors are not moved one at a time unless a curve gets steeper somewhere, as tables may: see `_level_processors`.
"""

from typing import NamedTuple

import numpy as np

from ._jit import kernel, maker, part, routine
from .cluster import (
    ARRIVED,
    BEGUN,
    EARLY,
    FREE,
    NEWCOMER,
    NOW,
    Jobs,
    advance,
    begin,
    new_cluster,
    waiting,
)
from .conservative import running_alone
from .ordered import FIRST, LAST, place_of
from .profile import NEVER, add, earliest, forget_past, profile, step_at
from .speedup import TABLE, Laws, lasts, slope, work_seconds

NEITHER, LOSES, GAINS = range(3)  # what a job did in one sharing of the processors

WIDTH, START, COMPLETION = range(3)  # places of a choice
FROM, UNTIL, HELD, OVER = range(4)  # places of the reservation: its span, its processors, those that it leaves over


class Shares(NamedTuple):
    """The limits of the jobs that wait and run; every field is modified in place.

    Attributes
    ----------
    turn : int64, shape (n_jobs,)
        Place of each job in the mix, in which ties go: waiting jobs, then running ones in the order of their starts.
    share, limit, least, most, moved : int64, shape (n_jobs,)
        The fair share, the limit made of it, the band around it, and whether the job has lost or gained processors.
    mix, donors, receivers : int64, shape (n_jobs,)
        The jobs that have a limit now; heaps of those that may lose or gain.
    donated, received : int64, shape (n_jobs,)
        Slope of the speedup at the limit, by which these two are ordered.
    tie : int64, shape (n_jobs,)
        As `turn`, for steps that are taken back too.
    level : int64, shape (1,)
        The slope at which the processors came to rest last time.
    flat, above, below : int64, shape (n_jobs,)
        The smallest width at which a job's curve is no steeper than some level, and the slopes one processor before it
        and at it, between which that level lies; `below` is `NEVER` where nothing is known.
    bound, steep : int64, shape (n_jobs,)
        The last width elsewhere on the curve, at the end of a band, and the slope there; 0 where nothing is known.
    tried, took : int64, shape (n_jobs,)
        The width with which a job was last seen to be too long for the time before the reservation, or 0; how long it
        takes then.
    """

    turn: np.ndarray
    share: np.ndarray
    limit: np.ndarray
    least: np.ndarray
    most: np.ndarray
    moved: np.ndarray
    mix: np.ndarray
    donors: np.ndarray
    receivers: np.ndarray
    donated: np.ndarray
    received: np.ndarray
    tie: np.ndarray
    level: np.ndarray
    flat: np.ndarray
    above: np.ndarray
    below: np.ndarray
    bound: np.ndarray
    steep: np.ndarray
    tried: np.ndarray
    took: np.ndarray


@maker
def _integers(n):
    return np.empty(n, np.int64)


@maker
def _new_shares(n):
    turn = _integers(n)
    for job in range(n):
        turn[job] = job
    return Shares(
        turn,
        np.zeros(n, np.int64),
        _integers(n),
        _integers(n),
        _integers(n),
        _integers(n),
        _integers(n),
        _integers(n),
        _integers(n),
        _integers(n),
        _integers(n),
        _integers(n),
        np.zeros(1, np.int64),
        _integers(n),
        _integers(n),
        np.full(n, NEVER, np.int64),
        np.zeros(n, np.int64),
        _integers(n),
        np.zeros(n, np.int64),
        _integers(n),
    )


@maker
def moldable_cluster(submit, run, estimate, procs, machine):
    """Make an idle machine whose jobs may be given other widths and times than they came with."""
    n = submit.size
    rank = _integers(n)
    for job in range(n):
        rank[job] = job
    return new_cluster(Jobs(submit, run.copy(), estimate.copy(), procs.copy()), machine, rank, False, False)


@part
def begin_with(c, laws, place, width, lasts_until, run, procs):
    """Start the job at a place of the queue with so many processors; give the place of its successor."""
    jobs = c.jobs
    job = c.queue.item[place]
    jobs.estimate[job] = lasts_until - c.clock[NOW]
    if laws.moldable[job]:
        jobs.run[job] = lasts(laws, job, work_seconds(laws, job, run[job], procs[job]), width)
    jobs.procs[job] = width
    return begin(c, place)


# --- Fair share ---------------------------------------------------------------------------------------------


@kernel
def fair_share(
    submit,
    run,
    estimate,
    procs,
    machine,
    law,
    a,
    b,
    curves,
    moldable,
    overbooking,
    efficiency,
    proportional,
    area,
    queued,
    literal,
    start_now,
):
    """Simulate fair-share moldable scheduling.

    Parameters
    ----------
    submit, run, estimate, procs, machine
        As in `schedlab.kernels.fcfs`; times are those on the processors that a job asks for, at least 1.
    law, a, b, curves, moldable
        As in `schedlab.kernels.speedup.Laws`.
    overbooking : float
        The limits add up to so many times the machine, but for rounding.
    efficiency : float
        Half the width of the band around a limit, in limits.
    proportional : bool
        Weights are in proportion to the work, not to its square root.
    area : bool
        The work is estimate x processors, not the sequential work.
    queued : bool
        Only waiting jobs have a limit.
    literal : bool
        A job at either bound of its band neither loses nor gains, as the paper prints it.
    start_now : bool
        Behind the reservation a job chooses among the widths that can start now.

    Returns
    -------
    start, width : int64, shape (n_jobs,)
        Start times in seconds; processors.
    """
    n = submit.size
    laws = Laws(law, a, b, curves, moldable)
    c = moldable_cluster(submit, run, estimate, procs, machine)
    shares, held, choice = _new_shares(n), _integers(4), _integers(3)
    bent = _bent(laws, machine)
    steps = profile(machine, min(n, machine))
    work, weight = np.empty(n, np.float64), np.empty(n, np.float64)
    for job in range(n):
        work[job] = work_seconds(laws, job, estimate[job], procs[job])
        weight[job] = np.float64(estimate[job]) * procs[job] if area else work[job]
        if not proportional:
            weight[job] = np.sqrt(weight[job])
    while advance(c, NEVER):
        if c.clock[FREE] > 0 and waiting(c):
            count = _share_out(c, shares, weight, machine, overbooking, queued)
            if efficiency > 0:
                if _make_bands(shares, laws, bent, count, machine, efficiency, literal):
                    _move_processors(shares, laws, count)
                else:
                    _level_processors(shares, laws, count, machine)
            _fair_share_pass(c, steps, shares, laws, work, run, procs, held, choice, start_now)
    return c.start, c.jobs.procs


@routine
def _share_out(c, shares, weight, machine, overbooking, queued):
    """Give each job of the mix its fair share; give the size of the mix."""
    count = _gather(c.queue, shares.mix, 0)
    if not queued:
        count = _gather(c.running, shares.mix, count)
    total = _sum(weight, shares.mix, count)
    for i in range(count):
        job = shares.mix[i]
        share = ((overbooking * weight[job]) / total) * machine
        shares.limit[job] = max(np.int64(min(np.floor(share + 1 / 2 + 1e-9), machine)), 1)
    return count


@part
def _gather(jobs, mix, count):
    for place in range(jobs.window[FIRST], jobs.window[LAST]):
        mix[count] = jobs.item[place]
        count += 1
    return count


@part
def _sum(weight, mix, count):
    """Add up weights as if exactly (Neumaier 1974), so that the order of the mix does not matter."""
    total, lost = 0.0, 0.0
    for i in range(count):
        one = weight[mix[i]]
        both = total + one
        lost += (total - both) + one if total >= one else (one - both) + total
        total = both
    return total + lost


@routine
def _make_bands(shares, laws, bent, count, machine, efficiency, literal):
    """Give each job of the mix the band around its share; tell whether a curve gets steeper somewhere."""
    share, least, most = shares.limit, shares.least, shares.most
    steeper = False
    for i in range(count):
        job = shares.mix[i]
        steeper |= bent[job]
        shares.moved[job] = NEITHER
        if shares.share[job] == share[job]:
            continue  # as is the band
        shares.share[job] = share[job]
        least[job] = max(1, np.int64(np.ceil((1 - efficiency) * share[job] - 1e-9)))
        most[job] = min(machine, np.int64(np.floor((1 + efficiency) * share[job] + 1e-9)))
        if not laws.moldable[job] or (literal and not least[job] < share[job] < most[job]):
            least[job] = most[job] = share[job]
    return steeper


@maker
def _bent(laws, machine):
    """Tell which jobs have a curve that gets steeper somewhere, if only because its slopes are rounded."""
    bent = np.zeros(laws.a.size, np.bool_)
    known = np.full(laws.curves.shape[0], -1, np.int64)
    for job in range(laws.a.size):
        place = np.int64(min(laws.a[job], machine))
        if laws.law == TABLE:
            if known[place] < 0:
                known[place] = _gets_steeper(laws, job, 1, machine)
            bent[job] = known[place] == 1
        else:  # only where two formulas of Downey's meet can it be
            bent[job] = _gets_steeper(laws, job, max(1, place - 1), min(place + 2, machine))
    return bent


@part
def _gets_steeper(laws, job, narrowest, widest):
    steeper = False
    for width in range(narrowest, widest):
        steeper |= slope(laws, job, width + 1) > slope(laws, job, width)
    return steeper


@routine
def _level_processors(shares, laws, count, machine):
    """Find what `_move_processors` comes to where no curve gets steeper.

    Jobs then lose in the order of their slopes and gain in the order of their slopes, whoever is paired with whom, and
    only how often is to be found: as long as the next to lose is flatter than the next to gain. Of all who would lose
    up to some slope, and gain down to it, either side is ahead by some steps. As long as it is, either the other side
    makes its next step, if that is a gain against the last step of this one; or else this one takes that step back.
    """
    limit, flat, heap, key, tie = shares.limit, shares.flat, shares.donors, shares.donated, shares.tie
    level = shares.level[0]
    lost = 0
    for i in range(count):
        job = shares.mix[i]
        if not shares.below[job] <= level < shares.above[job]:
            _find_flat(shares, laws, job, level, machine)
        if limit[job] >= flat[job]:
            limit[job] = max(shares.least[job], flat[job] - 1)
        else:
            limit[job] = min(shares.most[job], flat[job])
        lost += shares.share[job] - limit[job]
    if lost == 0:
        return
    step = 1 if lost > 0 else -1
    size = 0
    for i in range(count):
        heap[size] = shares.mix[i]
        size += _has_step(shares, laws, heap[size], step)
    for place in range(size // 2 - 1, -1, -1):
        _sift(heap, key, tie, size, place)
    while lost != 0:
        job = heap[0]
        shares.level[0] = abs(key[job])
        limit[job] += step
        lost -= step
        if _has_step(shares, laws, job, step):
            _sift(heap, key, tie, size, 0)
        else:
            size = _drop_top(heap, key, tie, size)


@part
def _has_step(shares, laws, job, step):
    """Tell whether a job can lose (-1) or gain (1) a processor, and when: steps taken back go before their equals."""
    limit = shares.limit[job]
    if limit == (shares.most[job] if step > 0 else shares.least[job]):
        return False
    back = (shares.share[job] - limit) * step > 0
    shares.donated[job] = -step * _known_slope(shares, laws, job, limit + step if back else limit)
    shares.tie[job] = -1 - shares.turn[job] if back else shares.turn[job]
    return True


@part
def _known_slope(shares, laws, job, width):
    if width == shares.flat[job]:
        return shares.below[job]
    if width == shares.flat[job] - 1:
        return shares.above[job]
    if width != shares.bound[job]:
        shares.bound[job], shares.steep[job] = width, slope(laws, job, width)
    return shares.steep[job]


@routine
def _find_flat(shares, laws, job, level, machine):
    """Find the smallest width at which a curve is no steeper than a level; beyond the machine if there is none."""
    low, high, above, below = 0, machine + 1, NEVER, -1
    while high - low > 1:
        middle = (low + high) // 2
        steep = slope(laws, job, middle)
        if steep > level:
            low, above = middle, steep
        else:
            high, below = middle, steep
    shares.flat[job], shares.above[job], shares.below[job] = high, above, below


@routine
def _move_processors(shares, laws, count):
    """Move processors, one at a time, from the flattest speedup curve to the steepest, until no move gains."""
    limit, least, most, moved = shares.limit, shares.least, shares.most, shares.moved
    donors, receivers, donated, received = shares.donors, shares.receivers, shares.donated, shares.received
    n_donors = n_receivers = 0
    for i in range(count):
        job = shares.mix[i]
        steep = slope(laws, job, limit[job])
        if limit[job] > least[job]:
            donated[job] = steep
            donors[n_donors] = job
            n_donors += 1
        if limit[job] < most[job]:
            received[job] = -steep
            receivers[n_receivers] = job
            n_receivers += 1
    for place in range(n_donors // 2 - 1, -1, -1):
        _sift(donors, donated, shares.turn, n_donors, place)
    for place in range(n_receivers // 2 - 1, -1, -1):
        _sift(receivers, received, shares.turn, n_receivers, place)
    while True:
        # What has moved the other way stays in a heap until it comes to the top.
        while n_donors and moved[donors[0]] == GAINS:
            n_donors = _drop_top(donors, donated, shares.turn, n_donors)
        while n_receivers and moved[receivers[0]] == LOSES:
            n_receivers = _drop_top(receivers, received, shares.turn, n_receivers)
        if not n_donors or not n_receivers or donated[donors[0]] >= -received[receivers[0]]:
            return
        job = donors[0]
        moved[job] = LOSES
        limit[job] -= 1
        if limit[job] == least[job]:
            n_donors = _drop_top(donors, donated, shares.turn, n_donors)
        else:
            donated[job] = slope(laws, job, limit[job])
            _sift(donors, donated, shares.turn, n_donors, 0)
        job = receivers[0]
        moved[job] = GAINS
        limit[job] += 1
        if limit[job] == most[job]:
            n_receivers = _drop_top(receivers, received, shares.turn, n_receivers)
        else:
            received[job] = -slope(laws, job, limit[job])
            _sift(receivers, received, shares.turn, n_receivers, 0)


@part
def _drop_top(heap, key, turn, size):
    heap[0] = heap[size - 1]
    _sift(heap, key, turn, size - 1, 0)
    return size - 1


@routine
def _sift(heap, key, turn, size, place):
    """Let what stands at a place of a heap sink to where it belongs; the least key is at the top."""
    job = heap[place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and _comes_before(heap[child + 1], heap[child], key, turn):
            child += 1
        if not _comes_before(heap[child], job, key, turn):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = job


@part
def _comes_before(one, other, key, turn):
    return key[one] < key[other] or (key[one] == key[other] and turn[one] < turn[other])


@routine
def _fair_share_pass(c, steps, shares, laws, work, run, procs, held, choice, start_now):
    """Start the waiting jobs whose best width can start now, and reserve for the first that cannot."""
    queue, clock = c.queue, c.clock
    now = clock[NOW]
    running_alone(c, steps)
    held[FROM], held[UNTIL], held[HELD] = NEVER, NEVER, 0
    place = queue.window[FIRST]
    while place < queue.window[LAST]:
        reserved = held[HELD] > 0
        if reserved and clock[FREE] == 0:
            return
        job = queue.item[place]
        if reserved and held[OVER] == 0 and _too_long(c, shares, laws, job, work[job], held[FROM] - now):
            place += 1
            continue
        _choose(c, steps, laws, job, work[job], shares.limit[job], held, choice, start_now)
        if choice[START] == now:
            shares.turn[job] = procs.size + clock[BEGUN]
            if reserved and choice[COMPLETION] > held[FROM]:
                held[OVER] -= choice[WIDTH]
            add(steps, now, choice[COMPLETION], -choice[WIDTH])
            place = begin_with(c, laws, place, choice[WIDTH], choice[COMPLETION], run, procs)
            continue
        if not reserved:
            held[FROM], held[UNTIL], held[HELD] = choice[START], choice[COMPLETION], choice[WIDTH]
            held[OVER] = steps.item[step_at(steps, choice[START])] - choice[WIDTH]
        place += 1


@part
def _too_long(c, shares, laws, job, work, seconds):
    """Tell whether a moldable job takes longer than so many seconds with all that it can have of what is free now.

    What is too long stays so with fewer processors: most answers need no new duration.
    """
    width = min(shares.limit[job], c.clock[FREE])
    if not laws.moldable[job]:
        return False
    if width > shares.tried[job] or shares.took[job] <= seconds:
        shares.tried[job], shares.took[job] = width, lasts(laws, job, work, width)
    return shares.took[job] > seconds


@part
def _choose(c, steps, laws, job, work, limit, held, choice, start_now):
    """Find the width with which a job is done first, and of equals the smallest; a start of -1 where it has to wait.

    Behind the reservation only a start at this instant counts, so that a job waits as soon as that is not the best.
    """
    now, reserved = c.clock[NOW], held[HELD] > 0
    moldable = laws.moldable[job]
    narrowest, widest = (1, limit) if moldable else (c.jobs.procs[job], c.jobs.procs[job])
    shortest = lasts(laws, job, work, widest) if moldable else c.jobs.estimate[job]
    choice[WIDTH], choice[START], choice[COMPLETION] = 0, -1, NEVER
    place, instant = steps.window[FIRST], now
    while choice[COMPLETION] == NEVER or instant + shortest <= choice[COMPLETION]:
        width, duration = _fit(laws, job, work, narrowest, widest, shortest, instant, steps.item[place], held)
        if width >= narrowest and instant + duration <= choice[COMPLETION]:
            better = instant + duration < choice[COMPLETION]
            if moldable and not better:
                width = _narrowed(laws, job, work, width, duration)
                better = width < _narrowed(laws, job, work, choice[WIDTH], choice[COMPLETION] - choice[START])
            if better:
                choice[WIDTH], choice[START], choice[COMPLETION] = width, instant, instant + duration
        if reserved and (choice[START] != now or start_now):
            break
        # The next step: where running jobs end, or the reservation does.
        following = steps.key[place + 1] if place + 1 < steps.window[LAST] else NEVER
        if instant < held[UNTIL] < following:
            instant = held[UNTIL]
            continue
        if following == NEVER:
            break
        instant = following
        place += 1
    if moldable and (choice[START] == now or not reserved):
        choice[WIDTH] = _narrowed(laws, job, work, choice[WIDTH], choice[COMPLETION] - choice[START])


@part
def _fit(laws, job, work, narrowest, widest, shortest, instant, free, held):
    """Give how many processors a job can have from an instant on, and how long it takes then."""
    width, duration = min(widest, free), shortest
    if held[FROM] <= instant < held[UNTIL]:
        width = min(width, free - held[HELD])
    if narrowest <= width < widest:
        duration = lasts(laws, job, work, width)
    if instant < held[FROM] and width > held[OVER] and instant + duration > held[FROM]:
        width = held[OVER]
        if width >= narrowest:
            duration = lasts(laws, job, work, width)
    return width, duration


@part
def _narrowed(laws, job, work, width, duration):
    """Find the smallest width with which a job takes no longer."""
    low = 0
    while width - low > 1:
        middle = (low + width) // 2
        if lasts(laws, job, work, middle) == duration:
            width = middle
        else:
            low = middle
    return width


# --- Greedy -------------------------------------------------------------------------------------------------


@kernel
def greedy(submit, run, estimate, procs, machine, law, a, b, curves, moldable):
    """Simulate conservative backfilling of jobs that choose their widths at submission.

    Parameters
    ----------
    submit, run, estimate, procs, machine, law, a, b, curves, moldable
        As in `fair_share`.

    Returns
    -------
    start, width : int64, shape (n_jobs,)
        Start times in seconds; processors.
    """
    n = submit.size
    laws = Laws(law, a, b, curves, moldable)
    c = moldable_cluster(submit, run, estimate, procs, machine)
    steps, reserved = profile(machine, n), np.full(n, NEVER, np.int64)
    choice, stands = _integers(3), np.full(machine + 1, -1, np.int64)
    unplaced = 0
    while advance(c, NEVER):  # a place that comes is where a running job ends, so that it needs no alarm
        now = c.clock[NOW]
        forget_past(steps, now)
        if c.clock[EARLY]:
            running_alone(c, steps)
            unplaced = 0
        unplaced = _place_waiting(c, steps, reserved, unplaced)
        for job in range(c.clock[NEWCOMER], c.clock[ARRIVED]):
            if moldable[job]:
                _choose_for_good(c, steps, laws, job, run[job], machine, stands, choice)
            _place(c, steps, reserved, job)
        place = c.queue.window[FIRST]
        while place < c.queue.window[LAST] and c.queue.item[place] < unplaced:
            place = begin(c, place) if reserved[c.queue.item[place]] <= now else place + 1
    return c.start, c.jobs.procs


@part
def _place(c, steps, reserved, job):
    """Give a waiting job the earliest place that there is."""
    procs, duration = c.jobs.procs[job], c.jobs.estimate[job]
    reserved[job] = earliest(steps, c.clock[NOW], NEVER, procs, duration)
    add(steps, reserved[job], reserved[job] + duration, -procs)


@routine
def _place_waiting(c, steps, reserved, unplaced):
    """Place the waiting jobs from one on, but newcomers, in the order of the queue; give the first that has no place.

    Unless there are newcomers, who choose among what the others leave, only as far as a job might start now: often an
    early completion has all places found anew before the rest is looked at, and until then nothing happens to it.
    """
    queue, jobs = c.queue, c.jobs
    last = queue.window[LAST] - (c.clock[ARRIVED] - c.clock[NEWCOMER])
    all_of_them = c.clock[NEWCOMER] < c.clock[ARRIVED]
    place = fits = place_of(queue, unplaced, unplaced)
    while place < last:
        fits = max(fits, place)
        while fits < last and not all_of_them and jobs.procs[queue.item[fits]] > steps.item[steps.window[FIRST]]:
            fits += 1
        if fits == last:
            return queue.item[place]
        _place(c, steps, reserved, queue.item[place])
        place += 1
    return c.clock[ARRIVED]


@routine
def _choose_for_good(c, steps, laws, job, run, machine, stands, choice):
    """Give a newcomer the width with which it is done first in the profile, and of equals the smallest."""
    jobs, now = c.jobs, c.clock[NOW]
    work = work_seconds(laws, job, jobs.estimate[job], jobs.procs[job])
    true_work = work_seconds(laws, job, run, jobs.procs[job])
    for place in range(steps.window[FIRST], steps.window[LAST]):
        stands[steps.item[place]] = job
    choice[COMPLETION] = NEVER
    for width in range(machine, 0, -1):
        if stands[width] != job:
            continue
        duration = lasts(laws, job, work, width)
        if choice[COMPLETION] != NEVER and now + duration > choice[COMPLETION]:
            break  # narrower still takes longer
        completion = earliest(steps, now, NEVER, width, duration) + duration
        if completion <= choice[COMPLETION]:
            choice[WIDTH], choice[COMPLETION] = width, completion
            jobs.estimate[job] = duration
    # Between two widths at which steps stand all find the same gaps.
    width = choice[WIDTH]
    while width > 1 and stands[width - 1] != job and lasts(laws, job, work, width - 1) == jobs.estimate[job]:
        width -= 1
    jobs.procs[job] = width
    jobs.run[job] = lasts(laws, job, true_work, width)
