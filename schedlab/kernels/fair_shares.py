"""How many processors each job may have: fair shares, and moving processors to the jobs that gain most by them.

After Sabin, Lang and Sadayappan, JSSPP 2006 (section 3). Processors are moved one at a time only if some curve gets
steeper somewhere, as tables may; otherwise see `_level_processors`.
"""

from typing import NamedTuple

import numpy as np

from ._jit import maker, part, routine
from .sorted_pairs import NEVER
from .speedup import TABLE, slope

NEITHER, LOSES, GAINS = range(3)  # what a job did while the processors were shared out

# From this many steps per job on, it costs less to find the level at which they end than to take them one by one.
MANY_STEPS = 100

N_JOBS, N_BENT, LEVEL = range(3)  # places in Mix.scalars


class Mix(NamedTuple):
    """The jobs that have a limit, and their limits; every field but `bent` is modified in place.

    All fields have one entry a job, int64 except where another type is given. All but `place` and `bent` are indexed by
    place in the mix, so that loops over the mix read adjacent words: when a job leaves, the last job takes its place.
    """

    bent: np.ndarray  # bool: whether a job's curve gets steeper somewhere
    place: np.ndarray  # of a job in the mix
    # Three numbers: of jobs and of bent jobs in the mix; the slope at which the processors settled last time.
    scalars: np.ndarray
    job: np.ndarray  # in order of arrival, in which ties are broken, whether jobs wait or run
    weight: np.ndarray  # float64
    share: np.ndarray
    limit: np.ndarray  # derived from the fair share
    least: np.ndarray  # the band around the share
    most: np.ndarray
    moved: np.ndarray  # whether the job has lost or gained processors
    # The smallest width at which a job's curve is no steeper than some level, and the slopes one processor before it
    # and at it; the level is between the two. `below` is `NEVER` if nothing is known.
    flat: np.ndarray
    above: np.ndarray
    below: np.ndarray
    # Another width at which the slope was last computed, at the end of a band, and the slope there; 0 if none.
    bound: np.ndarray
    steep: np.ndarray
    tried: np.ndarray  # the width at which a job was last found too long for the time before the reservation, or 0
    took: np.ndarray  # its duration at that width
    # Heaps of the jobs that may lose or gain processors, and the slopes at the limit, by which they are ordered.
    donors: np.ndarray
    receivers: np.ndarray
    donated: np.ndarray
    received: np.ndarray
    tie: np.ndarray  # as `job`, but also for steps that are taken back


@maker
def _integers(n):
    return np.empty(n, np.int64)


@maker
def new_mix(laws, machine):
    """Make an empty mix."""
    n = laws.a.size
    return Mix(
        _bent(laws, machine),
        _integers(n),
        np.zeros(3, np.int64),
        _integers(n),
        np.empty(n, np.float64),
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
        _integers(n),
        _integers(n),
        _integers(n),
        _integers(n),
        _integers(n),
        _integers(n),
        _integers(n),
    )


@maker
def _bent(laws, machine):
    """Tell which jobs have a curve that gets steeper somewhere, even if only because its slopes are rounded."""
    bent = np.zeros(laws.a.size, np.bool_)
    known = np.full(laws.curves.shape[0], -1, np.int64)
    for job in range(laws.a.size):
        place = np.int64(min(laws.a[job], machine))
        if laws.law == TABLE:
            if known[place] < 0:
                known[place] = _gets_steeper(laws, job, 1, machine)
            bent[job] = known[place] == 1
        else:  # possible only where two of Downey's formulas meet
            bent[job] = _gets_steeper(laws, job, max(1, place - 1), min(place + 2, machine))
    return bent


@part
def _gets_steeper(laws, job, narrowest, widest):
    steeper = False
    for width in range(narrowest, widest):
        steeper |= slope(laws, job, width + 1) > slope(laws, job, width)
    return steeper


@part
def enter(mix, job, weight):
    """Add a job at the end of the mix."""
    i = mix.scalars[N_JOBS]
    mix.scalars[N_JOBS] = i + 1
    mix.scalars[N_BENT] += mix.bent[job]
    mix.place[job], mix.job[i], mix.weight[i] = i, job, weight
    mix.share[i], mix.below[i], mix.bound[i], mix.tried[i] = 0, NEVER, 0, 0


@part
def leave(mix, job):
    """Remove a job from the mix."""
    i, last = mix.place[job], mix.scalars[N_JOBS] - 1
    mix.scalars[N_JOBS] = last
    mix.scalars[N_BENT] -= mix.bent[job]
    mix.place[mix.job[last]] = i
    mix.weight[i] = mix.weight[last]
    for column in (
        mix.job,
        mix.share,
        mix.limit,
        mix.least,
        mix.most,
        mix.flat,
        mix.above,
        mix.below,
        mix.bound,
        mix.steep,
        mix.tried,
        mix.took,
    ):
        column[i] = column[last]


@routine
def share_out(mix, laws, machine, overbooking, efficiency, literal):
    """Set the limit of each job of the mix: `overbooking`, `efficiency` and `literal` as in `moldable.fair_share`."""
    _give_shares(mix, machine, overbooking)
    if efficiency > 0:
        _make_bands(mix, laws, machine, efficiency, literal)
        if mix.scalars[N_BENT] > 0:
            _move_processors(mix, laws)
        else:
            _level_processors(mix, laws, machine)


@routine
def _give_shares(mix, machine, overbooking):
    weight, limit, count = mix.weight, mix.limit, mix.scalars[N_JOBS]
    total = _sum(weight, count)
    for i in range(count):
        share = np.divide(overbooking * weight[i], total) * machine
        limit[i] = max(np.int64(min(np.floor(share + 1 / 2 + 1e-9), machine)), 1)


@part
def _sum(weight, count):
    """Add up weights as if exactly (Neumaier 1974), so that the order of the mix does not matter."""
    total, lost = 0.0, 0.0
    for i in range(count):
        term = weight[i]
        both = total + term
        lost += (total - both) + term if total >= term else (term - both) + total
        total = both
    return total + lost


@routine
def _make_bands(mix, laws, machine, efficiency, literal):
    """Set the band of each job of the mix around its share, which is its limit so far."""
    for i in range(mix.scalars[N_JOBS]):
        share = mix.limit[i]
        if mix.share[i] == share:
            continue  # the band is the same, too
        least = max(1, np.int64(np.ceil((1 - efficiency) * share - 1e-9)))
        most = min(machine, np.int64(np.floor((1 + efficiency) * share + 1e-9)))
        if not laws.moldable[mix.job[i]] or (literal and not least < share < most):
            least = most = share
        mix.share[i], mix.least[i], mix.most[i] = share, least, most


@routine
def _level_processors(mix, laws, machine):
    """Find the result of `_move_processors` for curves that never get steeper.

    Jobs then lose in the order of their slopes and gain in the order of their slopes, regardless of the pairing. Only
    the number of moves has to be found: processors move as long as the next job to lose is flatter than the next to
    gain. First, all jobs lose up to some slope and gain down to it; then one side is ahead by some steps. As long as it
    is, one of two things happens: the other side makes its next step, if that is a gain against the last step of the
    side that is ahead; or that side takes its last step back.
    """
    limit, count, level = mix.limit, mix.scalars[N_JOBS], mix.scalars[LEVEL]
    lost = _limits_at(mix, laws, level, machine)
    if abs(lost) > MANY_STEPS * count:
        lost = _find_level(mix, laws, level, lost, machine)
    if lost == 0:
        return
    step, steps = 1 if lost > 0 else -1, abs(lost)
    size = 0
    heap, key, tie = mix.donors, mix.donated, mix.tie
    for i in range(count):  # as many jobs as there are steps: those with the earliest first steps
        if not _has_step(mix, laws, i, step):
            continue
        if size < steps:
            heap[size] = i
            size += 1
            if size == steps:
                _order(heap, key, tie, size, True)
        elif _comes_before(i, heap[0], key, tie):
            heap[0] = i
            _sift(heap, key, tie, size, 0, True)
    _order(heap, key, tie, size, False)
    while steps > 0:
        i = heap[0]
        mix.scalars[LEVEL] = abs(key[i])
        taken = _alike(mix, laws, i, step, steps)
        limit[i] += step * taken
        steps -= taken
        if _has_step(mix, laws, i, step):
            _sift(heap, key, tie, size, 0, False)
        else:
            size = _drop_top(heap, key, tie, size)


@routine
def _limits_at(mix, laws, level, machine):
    """Let all jobs lose up to some slope and gain down to it; return how many more processors are lost than gained."""
    share, limit, flat = mix.share, mix.limit, mix.flat
    lost = 0
    for i in range(mix.scalars[N_JOBS]):
        if not mix.below[i] <= level < mix.above[i]:
            _find_flat(mix, laws, i, level, machine)
        fewer, more = max(mix.least[i], flat[i] - 1), min(mix.most[i], flat[i])
        limit[i] = fewer if share[i] >= flat[i] else more
        lost += share[i] - limit[i]
    return lost


@routine
def _find_level(mix, laws, level, lost, machine):
    """Find the lowest slope up to which at least as many processors are lost as gained; set limits, return as above."""
    low = high = level
    distance = 1
    while lost < 0:  # the higher the level, the more processors are lost
        low, high = high, high + distance
        lost, distance = _limits_at(mix, laws, high, machine), 2 * distance
    if high == level:
        while lost >= 0 and low >= 0:
            high, low = low, max(low - distance, -1)
            lost, distance = _limits_at(mix, laws, low, machine), 2 * distance
    while high - low > 1:
        middle = (low + high) // 2
        if _limits_at(mix, laws, middle, machine) < 0:
            low = middle
        else:
            high = middle
    return _limits_at(mix, laws, high, machine)


@part
def _alike(mix, laws, i, step, steps):
    """Count a job's next steps, up to `steps`, that come before those of all others because the first one does."""
    limit, share = mix.limit[i], mix.share[i]
    back = (share - limit) * step > 0
    end = share if back else mix.most[i] if step > 0 else mix.least[i]
    most = min(steps, abs(end - limit))
    width, key = limit + step if back else limit, -step * mix.donated[i]
    if most == 1 or _known_slope(mix, laws, i, width + step) != key:
        return 1
    alike = 2
    while most - alike > 0:
        middle = alike + (most - alike + 1) // 2
        if slope(laws, mix.job[i], width + step * (middle - 1)) == key:
            alike = middle
        else:
            most = middle - 1
    return alike


@part
def _has_step(mix, laws, i, step):
    """Tell whether a job can lose (-1) or gain (1) a processor, and set its order: at ties, steps back come first."""
    limit = mix.limit[i]
    if limit == (mix.most[i] if step > 0 else mix.least[i]):
        return False
    back = (mix.share[i] - limit) * step > 0
    mix.donated[i] = -step * _known_slope(mix, laws, i, limit + step if back else limit)
    mix.tie[i] = -1 - mix.job[i] if back else mix.job[i]
    return True


@part
def _known_slope(mix, laws, i, width):
    if width == mix.flat[i]:
        return mix.below[i]
    if width == mix.flat[i] - 1:
        return mix.above[i]
    if width != mix.bound[i]:
        mix.bound[i], mix.steep[i] = width, slope(laws, mix.job[i], width)
    return mix.steep[i]


@routine
def _find_flat(mix, laws, i, level, machine):
    """Find the smallest width at which a curve is no steeper than a level; beyond the machine if there is none."""
    low, high, above, below = 0, machine + 1, NEVER, -1
    while high - low > 1:
        middle = (low + high) // 2
        steep = slope(laws, mix.job[i], middle)
        if steep > level:
            low, above = middle, steep
        else:
            high, below = middle, steep
    mix.flat[i], mix.above[i], mix.below[i] = high, above, below


@routine
def _move_processors(mix, laws):
    """Move processors, one at a time, from the flattest speedup curve to the steepest, until no move gains."""
    job, limit, least, most, moved = mix.job, mix.limit, mix.least, mix.most, mix.moved
    donors, receivers, donated, received = mix.donors, mix.receivers, mix.donated, mix.received
    n_donors = n_receivers = 0
    for i in range(mix.scalars[N_JOBS]):
        moved[i] = NEITHER
        steep = slope(laws, job[i], limit[i])
        if limit[i] > least[i]:
            donated[i] = steep
            donors[n_donors] = i
            n_donors += 1
        if limit[i] < most[i]:
            received[i] = -steep
            receivers[n_receivers] = i
            n_receivers += 1
    _order(donors, donated, job, n_donors, False)
    _order(receivers, received, job, n_receivers, False)
    while True:
        # A job that has moved the other way stays in a heap until it comes to the top.
        while n_donors and moved[donors[0]] == GAINS:
            n_donors = _drop_top(donors, donated, job, n_donors)
        while n_receivers and moved[receivers[0]] == LOSES:
            n_receivers = _drop_top(receivers, received, job, n_receivers)
        if not n_donors or not n_receivers or donated[donors[0]] >= -received[receivers[0]]:
            return
        i = donors[0]
        moved[i] = LOSES
        limit[i] -= 1
        if limit[i] == least[i]:
            n_donors = _drop_top(donors, donated, job, n_donors)
        else:
            donated[i] = slope(laws, job[i], limit[i])
            _sift(donors, donated, job, n_donors, 0, False)
        i = receivers[0]
        moved[i] = GAINS
        limit[i] += 1
        if limit[i] == most[i]:
            n_receivers = _drop_top(receivers, received, job, n_receivers)
        else:
            received[i] = -slope(laws, job[i], limit[i])
            _sift(receivers, received, job, n_receivers, 0, False)


@part
def _order(heap, key, tie, size, last_first):
    """Make a heap of the first entries of an array."""
    for place in range(size // 2 - 1, -1, -1):
        _sift(heap, key, tie, size, place, last_first)


@part
def _drop_top(heap, key, tie, size):
    heap[0] = heap[size - 1]
    _sift(heap, key, tie, size - 1, 0, False)
    return size - 1


@routine
def _sift(heap, key, tie, size, place, last_first):
    """Let an entry of a heap sink to its place; the top is the first entry in order, or the last if `last_first`."""
    i = heap[place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and _comes_before(heap[child + 1], heap[child], key, tie) != last_first:
            child += 1
        if _comes_before(heap[child], i, key, tie) == last_first:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = i


@part
def _comes_before(i, j, key, tie):
    return key[i] < key[j] or (key[i] == key[j] and tie[i] < tie[j])
