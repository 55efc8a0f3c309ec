"""Generate the records of a stand-in from its table."""

from heapq import heappop, heappush
from math import inf

import numpy as np
import pandas as pd

from schedlab._runtime.streams import entropy

from .. import swf
from .clock import Clock
from .digits import numbers_of
from .strata import BACK, LONG, MILLION, ONE, WORK, adjacent_jobs, block_sums, class_of, expected_work

SEED = 0
JITTER = ONE // 50  # between the quantiles of run times that are alike


class _Draws:
    """Random whole numbers from the raw output of PCG64."""

    def __init__(self, seed):
        self._bits = np.random.PCG64(seed + 1)  # seeds began at 1 once; so the stand-ins are still the same

    def below(self, bound, n):
        """Draw n numbers from 0 to below a bound, or each below its own bound."""
        return (self._bits.random_raw(n) >> np.uint64(33)).astype(np.int64) * bound >> 31

    def pick(self, counts, n):
        """Draw n positions in a list of counts, with probabilities proportional to the counts."""
        total = np.cumsum(counts)
        return np.searchsorted(total, self.below(total[-1], n), side="right")

    def back(self, counts, n):
        """Draw n distances by their counts; 0 means none."""
        place = self.pick(counts, n)
        low, high = np.array([-1, 0, *BACK])[place], np.array([0, *BACK])[place]
        return low + 1 + self.below(high - low, n)


def generate(table: dict, seed: int = SEED) -> tuple[swf.Header, pd.DataFrame]:
    """Generate as many records as the log had to which the table was fitted; on every machine the same for a seed.

    The header says that this is a stand-in, and for which log. Of the records, int64, fields that the table does not
    keep are unknown (-1): wait and processor times, memory, groups, queues.
    """
    seed = entropy(seed)
    draws = _Draws(seed)
    strata, block = _order(table, draws)
    n = len(strata)
    model = _repeats(table, draws, strata, block)

    first = _roots(model)
    even = _evenly_placed(draws, first, strata)
    size, estimate, alike = np.zeros((3, n), np.int64)
    other = np.zeros((4, n), np.int64)
    for key, fitted in table["strata"].items():
        mine = np.flatnonzero(strata == int(key))
        *kinds, counts = fitted["kinds"]
        size[mine], estimate[mine] = np.array(kinds)[:, _at_share(counts, even[mine])]
        alike[mine] = draws.below(1000, len(mine)) < fitted["alike"]
        *values, counts = table["other"][str(key != "0")]
        other[:, mine] = np.array(values)[:, draws.pick(counts, len(mine))]
    ran, status, *unknown = other

    place = np.arange(n)
    before = np.where(model < place, model, _back_from(place, draws.back(table["users"]["back"], n)))
    user = _users_of(table["users"], draws, _roots(before))

    origin = _roots(np.where(alike > 0, model, place))
    quantile = _evenly_placed(draws, origin, class_of(strata, estimate)) + draws.below(2 * JITTER + 1, n) - JITTER
    run = _run_times(table, np.clip(quantile, 0, ONE - 1), strata, size, estimate, block)
    columns = {
        "submit_time": _submissions(table, draws, user),
        "run_time": np.where(strata > 0, run, ran),
        "requested_time": np.where(estimate > 0, estimate, -1),
        "status": status,
        "user_id": user,
    }
    for field, gap in zip(swf.SIZES, unknown, strict=True):
        columns[field] = np.where((gap > 0) | (size == 0), -1, size)
    if table["starts"]:
        columns = _started(columns, size, table["procs"])
    return _header(table, seed), _records(table, draws, columns)


def _order(table, draws):
    """Return each job's stratum and block, in order."""
    strata = np.array([int(key) for key in table["strata"]])
    fitted = table["strata"].values()
    counts = np.stack([numbers_of(entry["jobs"]) for entry in fitted]).T
    group = np.repeat(np.arange(counts.size), counts.ravel())
    block, column = np.divmod(group, len(strata))
    # The jobs of a group are adjacent. Some stay directly behind the one before them, the others go anywhere in the
    # block.
    glued = np.array([entry["glued"] for entry in fitted])[column]
    loose = (draws.below(1000, len(group)) >= glued) | np.append(True, np.diff(group) > 0)
    leader = np.maximum.accumulate(np.where(loose, np.arange(len(group)), 0))
    order = np.lexsort((leader, draws.below(1 << 31, len(group))[leader], block))
    return strata[column[order]], block


def _repeats(table, draws, strata, block):
    """Draw the earlier job that each job copies; a job that is the first of its kind gets itself."""
    model = np.arange(len(strata))
    adjacent = adjacent_jobs(strata, block)
    for key, fitted in table["strata"].items():
        mine = np.flatnonzero(strata == int(key))
        for glued, counts in enumerate(fitted["repeats"]):
            rank = np.flatnonzero(adjacent[mine] == glued)
            if sum(counts):
                model[mine[rank]] = mine[_back_from(rank, draws.back(counts, len(rank)))]
    return model


def _back_from(place, back):
    """Go back from a position; distances that lead beyond the first position are folded back into the range."""
    folded = (back - 1) % np.maximum(place, 1) + 1
    return np.maximum(place - np.where(back > 0, folded, 0), 0)


def _roots(model):
    """Trace each job to the first job that it was copied from, in doubling steps."""
    while not np.array_equal(model, beyond := model[model]):
        model = beyond
    return model


def _evenly_placed(draws, root, group):
    """Return each job's position, from 0 to below ONE: the same for a family (one root), even within a group's jobs.

    With independent draws, a few large families would determine what most jobs of their group are like.
    """
    roots, family, jobs = np.unique(root, return_inverse=True, return_counts=True)
    order = np.lexsort((draws.below(1 << 31, len(roots)), group[roots]))
    groups, begins = np.unique(group[roots[order]], return_index=True)
    upto = np.cumsum(jobs[order]) - jobs[order]
    whole = np.diff(np.append(upto[begins], len(root)))
    which = np.searchsorted(groups, group[roots[order]])
    place = np.empty(len(roots), np.int64)
    place[order] = (2 * (upto - upto[begins][which]) + jobs[order]) * ONE // (2 * whole[which])
    return place[family]


def _users_of(fitted, draws, root):
    """Return each job's user: families keep one user, and users have as many jobs as in the log, in one part of it."""
    roots, family, jobs = np.unique(root, return_inverse=True, return_counts=True)
    order = np.argsort(roots + draws.below(1 + len(root) * fitted["spread"] // 1000, len(roots)), kind="stable")
    middle = np.empty(len(roots), np.int64)
    middle[order] = (2 * np.cumsum(jobs[order]) - jobs[order]) * ONE // (2 * len(root))
    of_users = np.array(fitted["jobs"])
    of_users = of_users[np.argsort(draws.below(1 << 31, len(of_users)), kind="stable")]
    return pd.factorize(_at_share(of_users, middle)[family])[0] + 1


def _run_times(table, quantile, strata, size, estimate, block):
    """Return run times; the quantiles of a block are shifted together until its work is as in the log."""
    target = np.array(WORK)[numbers_of(table["work"])]
    target = target * (block_sums(expected_work(table, strata), block) // 1000)
    run = _run_times_at(table, quantile, strata, estimate)
    # Only long jobs are shifted: short jobs have little work, and their slowdown would be distorted.
    long = np.flatnonzero(strata >= LONG)
    short_work = block_sums(np.where((strata > 0) & (strata < LONG), run * size, 0), block)
    bend = np.zeros(len(target), np.int64)
    for step in (ONE // 4, ONE // 8, ONE // 16, ONE // 32, ONE // 64):
        run[long] = _run_times_at(table, _bent(quantile, bend[block])[long], strata[long], estimate[long])
        work = np.zeros(len(run), np.int64)
        work[long] = run[long] * size[long]
        bend += np.where(block_sums(work, block) + short_work < target, step, -step)
    return run


def _at_share(counts, share):
    """Return the positions in a list of counts at given shares, from 0 to below ONE, of their total."""
    return np.searchsorted(np.cumsum(counts) * ONE, share * sum(counts), side="right")


def _bent(quantile, bend):
    """Bend quantiles upwards or downwards (bend from -ONE / 2 to ONE / 2); 0 and ONE are unchanged."""
    return quantile + bend * (quantile * (ONE - quantile) // ONE) * 2 // ONE


def _run_times_at(table, quantile, strata, estimate):
    """Return run times at given quantiles, from 0 to below ONE, of their classes."""
    classes = class_of(strata, estimate)
    run = np.zeros(len(classes), np.int64)
    for number, (within, over, shares, more) in table["run_times"].items():
        mine = np.flatnonzero(classes == int(number))
        bound = within * ONE // (within + over)
        if within:
            inside = mine[quantile[mine] < bound]
            share, limit = _at(shares, quantile[inside] * ONE // bound), estimate[inside]
            run[inside] = np.where(limit > 0, (share * limit + MILLION // 2) // MILLION, share)
        if over:
            late = mine[quantile[mine] >= bound]
            run[late] = estimate[late] + _at(more, (quantile[late] - bound) * ONE // (ONE - bound))
    return np.maximum(run, 1)


def _at(points, quantile):
    """Interpolate between evenly spaced quantiles."""
    points = np.array([*points, points[-1]])
    step, rest = np.divmod(quantile * (len(points) - 2), ONE)
    return points[step] + ((points[step + 1] - points[step]) * rest // ONE)


def _submissions(table, draws, user):
    """Spread each spell's jobs over its hours: draw gaps and stretch them to fill the hours."""
    clock = Clock(table)
    same = np.append(np.diff(user) == 0, False)
    gap = np.zeros(len(user), np.int64)
    for is_same, points in enumerate(table["gaps"]):
        mine = np.flatnonzero(same == is_same)
        gap[mine] = _at(points, draws.below(ONE, len(mine)))
    reached = np.append(0, np.cumsum(gap))
    end = np.cumsum(clock.jobs)
    begin = end - clock.jobs
    # Part of the last gap is before the first job; otherwise every spell would begin with a job on the hour.
    before = draws.below(gap[end - 1] + 1, len(end))
    part = reached[:-1] + (before - reached[begin])[clock.spell]
    whole = np.maximum(reached[end] - reached[begin], 1)
    clock_time = clock.spells[clock.spell] + np.diff(clock.spells)[clock.spell] * part // whole[clock.spell]
    return clock.seconds(clock_time)


def _started(columns, size, procs):
    """Delay jobs until they fit beside the jobs before them: a log whose submit times are starts is a schedule."""
    run = np.where(columns["run_time"] > 0, columns["run_time"], 0).tolist()
    size = np.minimum(size, procs).tolist()
    start = columns["submit_time"].tolist()
    ends, waiting, free = [], [], procs
    for job, now in enumerate([*start, inf]):
        while ends and ends[0][0] <= now:
            end, ended = heappop(ends)
            free += size[ended]
            if ends and ends[0][0] == end:  # more jobs end at the same instant
                continue
            still = []
            for candidate in waiting:
                if size[candidate] > free:
                    still.append(candidate)
                    continue
                free -= size[candidate]
                start[candidate] = end
                heappush(ends, (end + run[candidate], candidate))
            waiting = still
        if now == inf:
            break
        if size[job] > free:
            waiting.append(job)
        else:
            free -= size[job]
            heappush(ends, (now + run[job], job))
    order = np.argsort(start, kind="stable")
    return {field: column[order] for field, column in (columns | {"submit_time": np.array(start)}).items()}


def _header(table, seed):
    lines = ["; Version: 2.2", *table["header"], f"; MaxRecords: {table['records']}"]
    if table["unix_start_time"] is not None:
        lines += [f"; UnixStartTime: {table['unix_start_time']}"]
    if table["timezone"]:
        lines += [f"; TimeZoneString: {table['timezone']}"]
    origin = f"made by schedlab from figures fitted to {table['name']}, seed {seed}"
    lines += [f"; MaxProcs: {table['procs']}", f"; Note: THIS IS NOT THE LOG but a stand-in: {origin}"]
    return swf.Header((*lines, "; Note: no record is that of a real job; wait times are unknown"))


def _records(table, draws, columns):
    """Make the records, including those whose time is missing in the log."""
    n = len(columns["submit_time"])
    undated = np.sort(draws.below(n, table["records"] - n))
    columns = {field: np.insert(column, undated, -1) for field, column in columns.items()}
    unknown = np.full(table["records"], -1)
    records = {field: columns.get(field, unknown) for field in swf.FIELDS}
    return pd.DataFrame(records | {"job_number": np.arange(1, table["records"] + 1)})
