"""Stand-ins: look-alikes of the archive's logs, generated from small tables of fitted figures.

`fit` summarizes a log in a table, which is kept in ``data/standins``; `generate` makes as many records from it as the
log has. Two features of a log matter most to a scheduler: the load rises and falls over hours and weeks, and users
submit the same job again and again. So the table keeps

* *the series*: the log is cut into blocks of equal numbers of jobs. For each block the table keeps the number of jobs
  in each *stratum*, a class of run time and width, and the block's work, but not the order inside it. For the times,
  the log is cut into *spells*, the shortest runs of whole hours with as many jobs as a block. The table keeps the hours
  and the jobs of each;
* *repeats*: how far back, among the jobs of its stratum, is the last job equal to a job in user, size and estimate. If
  there is none, the job is the first of its *kind*. A generated job copies the job that far back, as in Simon's
  process. As often as in the log, it also copies the run time, or nearly;
* *kinds*: sizes with estimates; popular pairs are exact and rare ones rounded. *Run times*: quantiles of their ratio to
  the estimate, by classes of run time, estimate and width, and quantiles of the time by which jobs overrun the
  estimate. *Gaps*: quantiles of the time between submissions, separately for jobs of one user and of different users,
  on a clock that runs faster in the busy hours of the week;
* *users*: how many jobs each had, rounded and sorted; over how long a part of the log; and how far back the previous
  job of a user is when that user submits something new.

Kinds, run times and users are distributed evenly over the families of jobs that copying makes. With random draws, a few
large families would determine what most jobs are like. Finally, the run times of a block are shifted until its work is
about as in the log.

If the submit times of a log are start times (it has no wait times), generated jobs are delayed until they fit.

The table holds only counts, means and rounded numbers of several jobs. Fitting and generating are integer arithmetic on
the raw output of PCG64, which NumPy guarantees, so every machine builds the same table and the same records.

References
----------
D. G. Feitelson, "Workload Modeling for Computer Systems Performance Evaluation", Cambridge University Press, 2015:
locality of sampling and user-based models.
D. Tsafrir, Y. Etsion, D. G. Feitelson, "Modeling user runtime estimates", JSSPP 2005, LNCS 3834: popular values.
H. A. Simon, "On a class of skew distribution functions", Biometrika 42, 1955, pp. 425-440.
"""

import gzip
import json
import sys
from heapq import heappop, heappush
from math import inf
from pathlib import Path

import numpy as np
import pandas as pd

from schedlab._runtime.streams import entropy

from . import archive, swf

SEED = 0

BLOCKS = 3_000  # about as many as fit into a table of some tens of kB
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&()*+,-./:;<=>?@[]^_"
# Jobs per block or spell: a single job must not be recognizable, and one digit must hold a block's jobs of a stratum.
FEWEST, MOST = 16, len(DIGITS) - 1
HOUR = 3600

# Strata: 0 means never ran. Otherwise the hundreds are the class of run time (upper ends, seconds), from 1, and the
# units are the width (how many of these fractions of the machine it exceeds). Strata of one run time are adjacent.
RUN_EDGES = (900, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 16 * 3600, 24 * 3600, 48 * 3600)
PARTS = (64, 32, 16, 8, 6, 4, 3, 2)
LONG = 200
ESTIMATE_EDGES = (0, 60, 300, 600, 1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 12 * 3600, 18 * 3600, 24 * 3600, 48 * 3600)

# Upper ends of the classes of distances between a job and the last job equal to it, in jobs.
BACK = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096, 8192, 1 << 20)
NEAR = 16  # jobs: a user's session continues if the user's last job is at most this far back
POINTS = 16  # steps between the quantiles of a distribution with enough jobs
PER_POINT = 8  # jobs
FEW = 5  # jobs: values shared by fewer are rounded, or merged with their neighbours
# A block's work relative to the work expected from its strata, in thousandths: 20 steps of a tenth.
WORK = tuple(400 * 11**step // 10**step for step in range(20))
ALIKE = 20  # a run time within a twentieth of another is alike
ONE = 1 << 16  # quantiles and shares range from 0 to this
JITTER = ONE // 50  # between the quantiles of run times that are alike
MILLION = 1_000_000

_KEPT = ("Computer", "Installation", "Acknowledge", "Information", "Copyright")


def names() -> list[str]:
    """List the logs that have a stand-in, by official name."""
    return [name for name in archive.catalogue().index if archive.standin_table(name).is_file()]


def look_alike(name: str, seed: int = SEED) -> swf.Log:
    """Generate the look-alike of a log (`archive.resolve`); raise TraceNotFound if there is no stand-in for it."""
    name = archive.resolve(name)
    path = archive.standin_table(name)
    if not path.is_file():
        raise archive.TraceNotFound(f"{name} has no stand-in; there are stand-ins for {', '.join(names()) or 'no log'}")
    header, records = generate(load(path), seed)
    return swf.Log(header, records, skipped=pd.DataFrame(), sha256="", path=path)


def load(path: Path) -> dict:
    """Read a table."""
    return json.loads(gzip.decompress(path.read_bytes()))


def save(table: dict, path: Path) -> None:
    """Write a table, without a time stamp."""
    path.write_bytes(gzip.compress(text_of(table), 9, mtime=0))


def text_of(table: dict) -> bytes:
    """Return the text of a table: JSON, one entry per line."""
    lines = (f'"{key}":{json.dumps(value, separators=(",", ":"))}' for key, value in table.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


# Strata and the clock -----------------------------------------------------------------------------------


def _strata(run, size, procs):
    width = (size[:, None] * np.array(PARTS) > procs).sum(1)
    return np.where(run <= 0, 0, 100 * (1 + np.searchsorted(RUN_EDGES, run)) + width)


def _adjacent(strata, block):
    """Tell which jobs directly follow a job of their own stratum in the same block."""
    return np.append(False, (np.diff(strata) == 0) & (np.diff(block) == 0))


def _class_of(strata, estimate):
    """Number the classes of run time, width and estimate."""
    return strata * (len(ESTIMATE_EDGES) + 1) + np.searchsorted(ESTIMATE_EDGES, estimate)


def _hours(table, seconds):
    """Return the hour of the week, 0 to 167 from Monday on, at given seconds of a log."""
    when = pd.to_datetime((table["unix_start_time"] or 0) + seconds, unit="s", utc=True)
    when = when.tz_convert(table["timezone"] or "UTC")
    return np.asarray(when.day_of_week * 24 + when.hour)


def _past_the_hour(unix_start_time):
    return (unix_start_time or 0) % HOUR


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


class _Clock:
    """A clock whose pace is proportional to how busy the hour of the week is."""

    def __init__(self, table):
        hours = np.cumsum(table["hours"])
        self.hours = np.arange(hours[0], hours[-1] + 1) * HOUR - _past_the_hour(table["unix_start_time"])
        self.pace = np.array(table["week"])[_hours(table, self.hours)]
        self.shown = np.cumsum(self.pace * HOUR) - self.pace * HOUR
        self.spells = self.show(self.hours[hours - hours[0]].clip(0))  # logs begin at second 0
        self.jobs = np.array(table["jobs"])
        self.spell = np.repeat(np.arange(len(self.jobs)), self.jobs)  # of each job

    def show(self, seconds):
        """Return the time shown by the clock at given seconds of the log."""
        hour = np.searchsorted(self.hours, seconds, side="right") - 1
        return self.shown[hour] + (seconds - self.hours[hour]) * self.pace[hour]

    def seconds(self, shown):
        """Return the seconds of the log at which the clock shows given times."""
        hour = np.searchsorted(self.shown, shown, side="right") - 1
        return self.hours[hour] + (shown - self.shown[hour]) // self.pace[hour]


# Fitting ------------------------------------------------------------------------------------------------


def fit(log: swf.Log, name: str) -> dict:
    """Summarize a log in its table: numbers, lists and text, which ``data/README.md`` explains."""
    records = log.records
    dated = records[records["submit_time"] >= 0].sort_values("submit_time", kind="stable")
    jobs = {field: dated[field].to_numpy() for field in swf.FIELDS}
    n, submit, run, user = len(dated), jobs["submit_time"], jobs["run_time"], jobs["user_id"]
    size = np.where(jobs["requested_procs"] > 0, jobs["requested_procs"], np.maximum(jobs["allocated_procs"], 0))
    requested = np.maximum(jobs["requested_time"], 0)
    strata = _strata(run, size, log.header.procs)
    strata = _nearest(strata, _frequent(strata, FEW))
    if n > BLOCKS * MOST:
        raise ValueError(f"{name} has {n:,} jobs, expected {BLOCKS * MOST:,} at most")
    blocks = max(min(BLOCKS, n // FEWEST), 1)
    block = np.arange(n) * blocks // n
    cuts, arrived = _spells((submit + _past_the_hour(log.header.unix_start_time)) // HOUR, n // blocks)
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
    hours = np.bincount(_hours(table, submit), minlength=168)
    table["week"] = (1 + hours * 999 // hours.max()).tolist()

    kind = pd.factorize(pd.MultiIndex.from_arrays([user, size, requested]))[0]
    popular_size, estimate = _pooled(*_popular(size, requested, strata), strata)
    requested = np.where((estimate > 0) == (requested > 0), requested, estimate)
    model = np.full(n, -1)
    adjacent = _adjacent(strata, block)
    table["strata"] = strata_table = {}
    for stratum in np.unique(strata).tolist():
        mine = np.flatnonzero(strata == stratum)
        last = _last_equal(kind[mine])
        model[mine] = np.where(last < 0, -1, mine[last])
        back = np.where(last < 0, -1, np.arange(len(mine)) - last)
        glued = adjacent[mine]
        strata_table[str(stratum)] = {
            "jobs": _digits(np.bincount(block[mine], minlength=block[-1] + 1)),
            "glued": _glued(mine, block),
            "repeats": [_back_counts(back[~glued]), _back_counts(back[glued])],
            "alike": _alike(run[mine], last),
            "kinds": _counts(popular_size[mine], estimate[mine]),
            "work": _rounded(int(np.maximum(run[mine] * size[mine], 0).mean())),
        }
    work = _block_sums(np.maximum(run * size, 0), block)
    expected = _block_sums(_expected_work(table, strata), block)
    table["work"] = _digits(_nearest_place(work * 1000 // np.maximum(expected, 1), WORK))
    table["users"] = _users(user, model < 0)
    table["gaps"] = _gaps(table, submit, user)
    table["run_times"] = _run_time_quantiles(strata, run, requested, estimate)
    table["other"] = {str(ran): _other(jobs, (run > 0) == ran) for ran in (False, True)}
    return table


def _digits(numbers):
    return "".join(DIGITS[number] for number in numbers)


def _numbers(digits):
    return np.array([DIGITS.index(digit) for digit in digits])


def _kept_lines(header):
    """Keep the header lines that name the machine and whom to thank, with their continuation lines."""
    kept, keep = [], False
    for line in header.lines:
        text = line.lstrip("; ").rstrip()
        label = text.partition(":")[0]
        if label in (*swf.LABELS, *_KEPT):
            keep = label in _KEPT
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


def _glued(mine, block):
    """Return how many of a stratum's jobs directly follow the last one, in thousandths of those that could."""
    together = np.diff(block[mine]) == 0
    return _thousandths(together & (np.diff(mine) == 1), together)


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
            mean = _block_sums(pair[rare] % sizes, group) // np.bincount(group)
            pair[rare] = (middle * sizes + _nearest(mean, np.unique(size[mine])))[group]
        elif (counts >= FEW).any():
            pair[rare] = _nearest(pair[rare], distinct[counts >= FEW])
    return pair % sizes, pair // sizes


def _block_sums(values, block):
    """Sum whole numbers by block."""
    return np.add.reduceat(values, np.searchsorted(block, np.arange(block[-1] + 1)))


def _expected_work(table, strata):
    """Return the mean work of each job's stratum, processor-seconds."""
    work = {int(key): fitted["work"] for key, fitted in table["strata"].items()}
    return np.array([work.get(stratum, 0) for stratum in range(strata.max() + 1)])[strata]


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
    clock = _Clock(table)
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
    classes = np.where(strata > 0, _class_of(strata, estimate), -1)
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


# Generating ---------------------------------------------------------------------------------------------


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
    quantile = _evenly_placed(draws, origin, _class_of(strata, estimate)) + draws.below(2 * JITTER + 1, n) - JITTER
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
    counts = np.stack([_numbers(entry["jobs"]) for entry in fitted]).T
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
    adjacent = _adjacent(strata, block)
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
    target = np.array(WORK)[_numbers(table["work"])]
    target = target * (_block_sums(_expected_work(table, strata), block) // 1000)
    run = _run_times_at(table, quantile, strata, estimate)
    # Only long jobs are shifted: short jobs have little work, and their slowdown would be distorted.
    long = np.flatnonzero(strata >= LONG)
    short_work = _block_sums(np.where((strata > 0) & (strata < LONG), run * size, 0), block)
    bend = np.zeros(len(target), np.int64)
    for step in (ONE // 4, ONE // 8, ONE // 16, ONE // 32, ONE // 64):
        run[long] = _run_times_at(table, _bent(quantile, bend[block])[long], strata[long], estimate[long])
        work = np.zeros(len(run), np.int64)
        work[long] = run[long] * size[long]
        bend += np.where(_block_sums(work, block) + short_work < target, step, -step)
    return run


def _at_share(counts, share):
    """Return the positions in a list of counts at given shares, from 0 to below ONE, of their total."""
    return np.searchsorted(np.cumsum(counts) * ONE, share * sum(counts), side="right")


def _bent(quantile, bend):
    """Bend quantiles upwards or downwards (bend from -ONE / 2 to ONE / 2); 0 and ONE are unchanged."""
    return quantile + bend * (quantile * (ONE - quantile) // ONE) * 2 // ONE


def _run_times_at(table, quantile, strata, estimate):
    """Return run times at given quantiles, from 0 to below ONE, of their classes."""
    classes = _class_of(strata, estimate)
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
    clock = _Clock(table)
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
    name = table["name"]
    lines = [
        "; Version: 2.2",
        *table["header"],
        f"; MaxRecords: {table['records']}",
        *([f"; UnixStartTime: {table['unix_start_time']}"] if table["unix_start_time"] is not None else []),
        *([f"; TimeZoneString: {table['timezone']}"] if table["timezone"] else []),
        f"; MaxProcs: {table['procs']}",
        f"; Note: THIS IS NOT THE LOG but a stand-in: made by schedlab from figures fitted to {name}, seed {seed}",
        "; Note: no record is that of a real job; wait times are unknown",
    ]
    return swf.Header(tuple(lines))


def _records(table, draws, columns):
    """Make the records, including those whose time is missing in the log."""
    n = len(columns["submit_time"])
    undated = np.sort(draws.below(n, table["records"] - n))
    columns = {field: np.insert(column, undated, -1) for field, column in columns.items()}
    unknown = np.full(table["records"], -1)
    records = {field: columns.get(field, unknown) for field in swf.FIELDS}
    return pd.DataFrame(records | {"job_number": np.arange(1, table["records"] + 1)})


def main(arguments: list[str]) -> None:
    """Refit the tables from the logs: ``python -m schedlab.workload.standin CTC-SP2-1996 ...``."""
    for name in map(archive.resolve, arguments or names()):
        path = archive.standin_table(name)
        save(fit(swf.cached_log(archive.fetch(name)), name), path)
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
