"""Fit the table of a stand-in to a log."""

import numpy as np
import pandas as pd

from .. import swf
from .clock import HOUR, Clock, hours_of_week, past_the_hour
from .digits import DIGITS, digits_of
from .strata import BACK, LONG, MILLION, WORK, adjacent_jobs, block_sums, class_of, expected_work, strata_of

BLOCKS = 3_000  # about as many as fit into a table of some tens of kB
# Jobs per block or spell: a single job must not be recognizable, and one digit must hold a block's jobs of a stratum.
FEWEST = 16
MOST = len(DIGITS) - 1
FEW = 5  # jobs: values shared by fewer are rounded, or merged with their neighbours
NEAR = 16  # jobs: a user's session continues if the user's last job is at most this far back
POINTS = 16  # steps between the quantiles of a distribution with enough jobs
PER_POINT = 8  # jobs
ALIKE = 20  # a run time within a twentieth of another is alike

_KEPT_LABELS = ("Computer", "Installation", "Acknowledge", "Information", "Copyright")


def fit(log: swf.Log, name: str) -> dict:
    """Summarize a log in its table: numbers, lists and text, which ``data/README.md`` explains."""
    records = log.records
    dated = records[records["submit_time"] >= 0].sort_values("submit_time", kind="stable")
    jobs = {field: dated[field].to_numpy() for field in swf.FIELDS}
    n, submit, run, user = len(dated), jobs["submit_time"], jobs["run_time"], jobs["user_id"]
    size = np.where(jobs["requested_procs"] > 0, jobs["requested_procs"], np.maximum(jobs["allocated_procs"], 0))
    requested = np.maximum(jobs["requested_time"], 0)
    strata = strata_of(run, size, log.header.procs)
    strata = _nearest(strata, _frequent(strata, FEW))
    if n > BLOCKS * MOST:
        raise ValueError(f"{name} has {n:,} jobs, expected {BLOCKS * MOST:,} at most")
    blocks = max(min(BLOCKS, n // FEWEST), 1)
    block = np.arange(n) * blocks // n
    cuts, arrived = _spells((submit + past_the_hour(log.header.unix_start_time)) // HOUR, n // blocks)
    table = {
        "name": name,
        "header": _kept_lines(log.header),
        "procs": log.header.procs,
        "unix_start_time": log.header.unix_start_time,
        "timezone": log.header.timezone,
        "records": len(records),
        "starts": bool((jobs["wait_time"] < 0).all()),
        "hours": np.diff(cuts, prepend=0).tolist(),
        "jobs": arrived.tolist(),
    }
    hours = np.bincount(hours_of_week(table, submit), minlength=168)
    table["week"] = (1 + hours * 999 // hours.max()).tolist()

    kind = pd.factorize(pd.MultiIndex.from_arrays([user, size, requested]))[0]
    popular_size, estimate = _pooled(*_popular(size, requested, strata), strata)
    requested = np.where((estimate > 0) == (requested > 0), requested, estimate)
    model = np.full(n, -1)
    adjacent = adjacent_jobs(strata, block)
    table["strata"] = strata_table = {}
    for stratum in np.unique(strata).tolist():
        mine = np.flatnonzero(strata == stratum)
        last = _last_equal(kind[mine])
        model[mine] = np.where(last < 0, -1, mine[last])
        back = np.where(last < 0, -1, np.arange(len(mine)) - last)
        glued = adjacent[mine]
        together = np.diff(block[mine]) == 0  # as the job before, which they may directly follow
        strata_table[str(stratum)] = {
            "jobs": digits_of(np.bincount(block[mine], minlength=block[-1] + 1)),
            "glued": _thousandths(together & (np.diff(mine) == 1), together),
            "repeats": [_back_counts(back[~glued]), _back_counts(back[glued])],
            "alike": _alike(run[mine], last),
            "kinds": _counts(popular_size[mine], estimate[mine]),
            "work": _rounded(int(np.maximum(run[mine] * size[mine], 0).mean())),
        }
    work = block_sums(np.maximum(run * size, 0), block)
    expected = block_sums(expected_work(table, strata), block)
    table["work"] = digits_of(_nearest_place(work * 1000 // np.maximum(expected, 1), WORK))
    table["users"] = _users(user, model < 0)
    table["gaps"] = _gaps(table, submit, user)
    table["run_times"] = _run_time_quantiles(strata, run, requested, estimate)
    table["other"] = {str(ran): _other(jobs, (run > 0) == ran) for ran in (False, True)}
    return table


def _spells(hour, least):
    """Cut a log into the shortest runs of whole hours with at least so many jobs; return the cuts and job counts."""
    arrived = np.cumsum(np.bincount(hour - hour[0]))
    cuts, before = [0], 0
    while arrived[-1] - before >= least:
        last = int(np.searchsorted(arrived, before + least))
        cuts.append(last + 1)
        before = arrived[last]
    # The hours left at the end join the last run.
    cuts = np.array([*(cuts[:-1] or [0]), len(arrived)])
    return cuts + hour[0], np.diff(arrived[cuts[1:] - 1], prepend=0)


def _kept_lines(header):
    """Keep the header lines that name the machine and whom to thank, with their continuation lines."""
    kept = []
    keep = False
    for line in header.lines:
        text = line.lstrip("; ").rstrip()
        label = text.partition(":")[0]
        if label in (*swf.LABELS, *_KEPT_LABELS):
            keep = label in _KEPT_LABELS
        if keep and text:
            kept.append(line.rstrip())
    return kept


def _last_equal(values):
    """Return the position of the last equal value before each value; -1 if there is none."""
    order = np.argsort(values, kind="stable")
    equal = values[order[1:]] == values[order[:-1]]
    last = np.full(len(values), -1)
    last[order[1:][equal]] = order[:-1][equal]
    return last


def _back_counts(back):
    """Count distances: first the jobs without one (-1), then by the classes of BACK."""
    counts = np.bincount(np.searchsorted(BACK, back[back > 0]), minlength=len(BACK))
    return [int((back < 0).sum()), *counts.tolist()]


def _alike(run, last):
    """Return the share of repeats that run about as long as the job they repeat, in thousandths."""
    before = run[last]
    return _thousandths((last >= 0) & (np.abs(run - before) * ALIKE <= before), last >= 0)


def _thousandths(part, whole):
    return int(part.sum()) * 1000 // max(int(whole.sum()), 1)


def _popular(size, estimate, strata):
    """Return sizes and estimates, with rare pairs moved to the nearest values that are not rare."""
    size, estimate = size.copy(), estimate.copy()
    sizes = _frequent(size, FEW)
    estimates = _frequent(estimate[estimate > 0], max(4 * FEW, len(estimate) // 2000))
    # For long logs, a longer list of pairs would make the table too large.
    least = max(FEW, len(size) // 10_000)
    for stratum in np.unique(strata):
        mine = np.flatnonzero(strata == stratum)
        pair = pd.factorize(pd.MultiIndex.from_arrays([size[mine], estimate[mine]]))[0]
        rare = mine[np.bincount(pair)[pair] < least]
        known = rare[estimate[rare] > 0]
        size[rare] = _nearest(size[rare], sizes)
        estimate[known] = _nearest(estimate[known], estimates)
    return size, estimate


def _pooled(size, estimate, strata):
    """Return sizes and estimates such that each pair is shared by at least FEW jobs of its stratum.

    The jobs of rarer pairs are sorted by estimate and size and grouped by FEW. All jobs of a group get its middle
    estimate and, of the sizes in the stratum, the one nearest to the group's mean size. (The middle size would lose
    work, because sizes are skewed.)
    """
    sizes = size.max() + 1
    pair = estimate * sizes + size
    for stratum in np.unique(strata):
        mine = np.flatnonzero(strata == stratum)
        distinct, which, counts = np.unique(pair[mine], return_inverse=True, return_counts=True)
        rare = mine[counts[which] < FEW]
        rare = rare[np.argsort(pair[rare], kind="stable")]
        groups = len(rare) // FEW
        if groups:
            group = np.minimum(np.arange(len(rare)) // FEW, groups - 1)
            middle = pair[rare[FEW // 2 :: FEW]][:groups] // sizes
            mean = block_sums(pair[rare] % sizes, group) // np.bincount(group)
            pair[rare] = (middle * sizes + _nearest(mean, np.unique(size[mine])))[group]
        elif (counts >= FEW).any():
            pair[rare] = _nearest(pair[rare], distinct[counts >= FEW])
    return pair % sizes, pair // sizes


def _frequent(values, least):
    """List the values that occur at least so often; if none does, the most frequent ones."""
    distinct, counts = np.unique(values, return_counts=True)
    return distinct[counts >= min(least, counts.max(initial=0))]


def _nearest(values, known):
    return known[_nearest_place(values, known)]


def _nearest_place(values, known):
    known = np.asarray(known)
    above = np.minimum(np.searchsorted(known, values), len(known) - 1)
    below = np.maximum(above - 1, 0)
    return np.where(values - known[below] < known[above] - values, below, above)


def _counts(*columns):
    """Count the distinct rows of some columns; return the columns of the distinct rows, and the counts."""
    rows, counts = np.unique(np.stack(columns), axis=1, return_counts=True)
    return [*rows.tolist(), counts.tolist()]


def _users(user, new):
    """Return what the table keeps about the users.

    These are: how far back the user's last job is, if near, for the first jobs of a kind; the users' numbers of jobs,
    rounded; and the median over the users of the part of the log over which a user's jobs are spread, in thousandths.
    """
    place = np.arange(len(user))
    last = _last_equal(user)
    back = np.where((last < 0) | (place - last > NEAR), -1, place - last)
    number = pd.factorize(user)[0]
    jobs = np.bincount(number)
    spread = pd.Series(place).groupby(number).agg(np.ptp).to_numpy()
    typical = np.sort(spread[jobs >= min(FEW, jobs.max())])
    some = jobs[jobs >= FEW].tolist() + [FEW] * (int(jobs[jobs < FEW].sum()) // FEW)  # users with few jobs are combined
    return {
        "back": _back_counts(back[new]),
        "jobs": sorted((_rounded(count, 2) for count in some or [FEW]), reverse=True),
        "spread": int(typical[len(typical) // 2]) * 1000 // len(user),
    }


def _gaps(table, submit, user):
    """Return quantiles of gaps, in thousandths of the spell's mean gap: of different users, and of the same user."""
    clock = Clock(table)
    mean = np.diff(clock.spells) // clock.jobs + 1
    gap = np.diff(clock.show(submit)) * 1000 // mean[clock.spell[:-1]]
    same = np.diff(user) == 0
    return [_quantiles(gap[same == is_same], 8 * POINTS) for is_same in (False, True)]


def _quantiles(values, points, per_point=PER_POINT):
    """Return evenly spaced quantiles, each a rounded mean of a few jobs; for few values, only the median."""
    values = np.sort(values)
    steps = min(points, len(values) // per_point)
    # From the middle of the first step to the middle of the last: the extremes are single jobs, far from the rest.
    places = (2 * np.arange(steps + 1) + 1) * len(values) // (2 * steps + 2) if steps > 1 else [len(values) // 2]
    around = np.add.outer(places, np.arange(FEW) - FEW // 2).clip(0, len(values) - 1)
    return [_rounded(value // FEW) for value in values[around].sum(1).tolist()]


def _rounded(value, digits=3):
    unit = 10 ** max(len(str(value)) - digits, 0)
    return (value + unit // 2) // unit * unit


def _run_time_quantiles(strata, run, requested, estimate):
    """Return, by class, how many jobs ran within their estimate and how many over it, and quantiles of both.

    Within: millionths of the estimate, or seconds if there is none. Over: seconds beyond the estimate. If only a few
    jobs are in one of the two groups, the groups are merged.
    """
    classes = np.where(strata > 0, class_of(strata, estimate), -1)
    per_point = max(PER_POINT, len(run) // 5_000)  # otherwise these would be half of the tables of long logs
    table = {}
    for number in np.unique(classes[classes >= 0]).tolist():
        mine = classes == number
        ran, limit = run[mine], requested[mine]
        over = (ran > limit) & (limit > 0)
        if 0 < min(over.sum(), (~over).sum()) < FEW:
            over[:] = False
        share = np.where(limit > 0, ran * MILLION // np.maximum(limit, 1), ran)
        parts = share[~over], (ran - limit)[over]
        # The slowdown of short jobs is determined by the shortest ones.
        points = POINTS if strata[mine][0] >= LONG else 4 * POINTS
        quantiles = [_quantiles(part, points, per_point) if len(part) else [] for part in parts]
        table[str(number)] = [*map(len, parts), *quantiles]
    return table


def _other(jobs, mine):
    """Count the other fields: run time of jobs that never ran, status, and whether either size is unknown."""
    unknown = [(jobs[field] <= 0).astype(np.int64) for field in swf.SIZES]
    *rows, counts = _counts(*(column[mine] for column in (np.minimum(jobs["run_time"], 1), jobs["status"], *unknown)))
    frequent = np.array(counts) >= min(FEW, max(counts, default=0))
    return np.array([*rows, counts])[:, frequent].tolist()
