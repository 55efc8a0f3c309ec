"""The model of user estimates of Tsafrir, Etsion and Feitelson: a few round values, shared by most of the jobs.

Estimates are first drawn as a histogram and then assigned to the jobs:

* *number* of different values: a function of the number of jobs;
* *head*: twenty round values carry 89 % of the jobs. The longest is the most popular; the popularity of the others is
  drawn from their ranks in four logs;
* *tail*: the other values, denser towards short times, share the other 11 % by a power law;
* *assignment*: jobs are taken in descending order of their run time. Each gets one of the remaining estimates that are
  long enough, all equally likely.

The model leaves three points open, which are settled as follows:

* If the longest estimate is less than 100 minutes, there are fewer than twenty round values. The head then has as many
  as there are, with as many ranks of popularity, and still 89 %.
* A value of the tail that is 0, longer than the longest estimate or already taken is shifted to one that is none of
  these.
* Rounding to whole jobs leaves a few jobs too many or too few. The most popular value makes up the difference.

References
----------
D. Tsafrir, Y. Etsion, D. G. Feitelson: Modeling user runtime estimates. Job Scheduling Strategies for Parallel
Processing 2005, LNCS 3834, 1-35; constants and tables are those of the authors' program (est_model).
"""

from dataclasses import dataclass

import numpy as np

from schedlab._runtime.streams import Streams, entropy

from .common import EXACT, at_least_one

LEAST_JOBS = 200  # the model's histogram needs about so many

_MINUTE, _HOUR = 60, 3_600
_HEAD = 20
_HEAD_SHARE = 89.0  # percent of the jobs
_POPULAR = tuple(_MINUTE * m for m in (5, 10, 15, 20, 30)) + tuple(_HOUR * h for h in (1, 2, 3, 4, 5, 6, 8, 10, 12, 18))
_ROUND = tuple(_HOUR * h for h in (200, 100, 50, 10, 5, 2, 1)) + tuple(_MINUTE * m for m in (20, 10, 5))
_SHIFTS = (0, 30, -30, 20, -20, 10, -10)  # seconds
_DISTINCT = ((0, 0), (20, 10), (200, 20), (1000, 35), (10_000, 90), (70_000, 340), (250_000, 565))

# The ranks of popularity of the head's values: the longest value first, then the others from the shortest on. One
# column for each of SDSC-SP2, CTC, KTH and SDSC-BLUE.
_RANKS = (
    (3, 1, 1, 1), (1, 3, 4, 6), (4, 4, 10, 5), (17, 2, 14, 3), (13, 12, 20, 7), (7, 9, 2, 2), (8, 8, 3, 18),
    (18, 18, 7, 19), (2, 6, 12, 4), (6, 7, 6, 11), (16, 11, 19, 20), (10, 20, 5, 9), (5, 16, 18, 10),
    (15, 5, 16, 14), (14, 14, 9, 13), (19, 13, 17, 16), (11, 10, 15, 15), (12, 15, 13, 17), (9, 17, 8, 8),
    (20, 19, 11, 12),
)  # fmt: skip


@dataclass(frozen=True)
class Tsafrir:
    """Hold the settings of the model of user estimates of Tsafrir, Etsion and Feitelson (2005).

    Parameters
    ----------
    longest : int
        The longest estimate, in seconds, at least an hour: the most that the machine's users may ask for.
    distinct : int, optional
        Number of different estimates. By default it grows with the number of jobs: 35 for 1,000, 90 for 10,000.
    head : tuple of (int, float), optional
        The popular estimates, in seconds, each with its percentage of the jobs. By default those of the model.

    Examples
    --------
    >>> estimates = Tsafrir(longest=64_800).draw(1000, seed=1)
    >>> estimates.size, int(estimates.max()), np.unique(estimates).size
    (1000, 64800, 35)
    """

    longest: int
    distinct: int | None = None
    head: tuple[tuple[int, float], ...] = ()

    def __post_init__(self) -> None:
        if at_least_one("longest", self.longest) < _HOUR:
            raise ValueError(f"longest must be at least an hour, {_HOUR} s, got {self.longest}")
        if self.longest >= EXACT:
            raise ValueError(f"longest must be less than 2**53 s, got {self.longest}")
        if self.distinct is not None:
            at_least_one("distinct", self.distinct)
        values = [at_least_one("an estimate of head", seconds) for seconds, _ in self.head]
        if len(set(values)) < len(values):
            raise ValueError("the estimates of head must differ")
        if values and max(values) > self.longest:
            raise ValueError(f"the estimates of head must be at most longest, {self.longest} s, got {max(values)}")
        if not all(0 < percent <= 100 for _, percent in self.head):
            raise ValueError("the percentages of head must be greater than 0 and at most 100")
        total = sum(percent for _, percent in self.head)
        if total > 100 + 1e-9:
            raise ValueError(f"the percentages of head must sum up to at most 100, got {total:g}")

    def draw(self, jobs: int, seed: int | np.random.Generator = 0) -> np.ndarray:
        """Draw estimates for this many jobs, without assigning them: int64, seconds, in descending order.

        Parameters
        ----------
        jobs : int
            At least 200, and enough for the different estimates.
        seed : int or numpy.random.Generator
            Same seed, same estimates. A generator draws one number, which is the seed.
        """
        jobs = at_least_one("jobs", jobs)
        if jobs < LEAST_JOBS:
            raise ValueError(f"the model of estimates needs at least {LEAST_JOBS} jobs, got {jobs}")
        streams = Streams(entropy(seed), 0)
        head = dict(self.head) or _drawn_head(self.longest, streams("popularity"))
        distinct = self.distinct or round(float(np.interp(jobs, *zip(*_DISTINCT, strict=True))))
        if distinct < len(head):
            raise ValueError(f"distinct must be at least {len(head)}, the number of popular estimates, got {distinct}")
        tail = _tail_values(self.longest, distinct, head)
        values = np.array([*head, *tail], np.int64)
        percent = np.array([*head.values(), *_tail_shares(len(tail), 100 - sum(head.values()), streams("tail"))])
        counts = _counts(percent / percent.sum(), jobs)
        order = np.argsort(-values)
        return np.repeat(values[order], counts[order])

    def assign(self, run_time: np.ndarray, seed: int | np.random.Generator = 0) -> np.ndarray:
        """Assign each job an estimate that is no shorter than its run time: int64, shape (jobs,), seconds.

        Parameters
        ----------
        run_time : array-like, int64, shape (jobs,), seconds
            At most the longest estimate; it is an error if too few estimates are long enough for the long jobs.
        seed : int or numpy.random.Generator
            As in `draw`.
        """
        run_time = np.asarray(run_time)
        seed = entropy(seed)
        estimates = self.draw(run_time.size, seed)
        by_length = np.argsort(-run_time, kind="stable")
        run = run_time[by_length]
        # For each job, the last estimate that is long enough; those from its own place up to there are still available.
        last = np.searchsorted(-estimates, -run, side="right") - 1
        place = np.arange(run.size)
        self._check_feasible(run, last - place)
        chosen = place + (Streams(seed, 0)("assignment").random(run.size) * (last - place + 1)).astype(np.int64)
        assigned = np.empty(run.size, np.int64)
        assigned[by_length] = _swapped(estimates, chosen)
        return assigned

    def _check_feasible(self, run, spare):
        short = np.flatnonzero(spare < 0)
        if short.size:
            job = short[0]
            count = job + 1 + spare[job]
            jobs = f"{job + 1:,} of {run.size:,} jobs run for {run[job]:,} s or longer"
            few = f"but only {count:,} of the estimates up to {self.longest:,} s are that long"
            advice = "use another longest estimate, other popular ones, or cut_at_estimates() first"
            raise ValueError(f"{jobs}, {few}; {advice}")


def fit_tsafrir(trace, popular: int = _HEAD) -> Tsafrir:
    """Fit the model of user estimates to a log's own, for ``trace.with_estimates``.

    It keeps the log's longest estimate, its number of different estimates, and its most popular ones.

    Parameters
    ----------
    trace : Trace, or DataFrame with its columns
        The log, with at least 200 jobs, and an estimate of an hour or more.
    popular : int
        How many of the most popular estimates keep their shares of the jobs; the others are modelled.

    Notes
    -----
    Estimates that were filled in from run times are not users' estimates. Leave such jobs out first, as
    ``read_swf(path, missing_estimate="drop")`` does.

    If jobs outlive their estimates, the fitted model may have too few long estimates for the log's run times. After
    ``cut_at_estimates``, and with a `popular` large enough to keep all estimates, there are enough.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.workload.sacct import example_path
    >>> log = sl.read_sacct(example_path(), machine=192, partition=["short", "long"])
    >>> model = sl.workload.fit_tsafrir(log)
    >>> model.longest, [seconds for seconds, _ in model.head[:3]]
    (172800, [7200, 14400, 3600])
    >>> trace = sl.model_trace("lublin", jobs=500, machine=64, seed=1).with_estimates(model, seed=1)
    >>> trace.history[-1]
    'estimates: Tsafrir model, longest 172,800 s, seed 1'
    """
    popular = at_least_one("popular", popular)
    table = getattr(trace, "jobs", trace)
    if len(table) < LEAST_JOBS:
        raise ValueError(f"the model of estimates needs at least {LEAST_JOBS} jobs, got {len(table)}")
    shares = table["requested_time"].value_counts(normalize=True)
    # Of equally popular values the longer one goes first, so that the result does not depend on the log's order.
    shares = shares.sort_index(ascending=False).sort_values(ascending=False, kind="stable")
    head = tuple((int(seconds), float(100 * share)) for seconds, share in shares.head(popular).items())
    return Tsafrir(longest=int(shares.index.max()), distinct=len(shares), head=head)


def _drawn_head(longest, rng):
    """Return the popular values, in seconds, with their percentages: the longest first, then from the shortest on."""
    values = _head_values(longest)
    ranks = _popularity(len(values), rng)
    percent = 14.0491 * np.exp(-0.177531 * np.arange(1, len(values) + 1)) + 0.462513
    percent[0] = _HEAD_SHARE - percent[1:].sum()
    return {value: float(percent[rank - 1]) for value, rank in zip(values, ranks, strict=True)}


def _head_values(longest):
    """Return up to twenty round values: the longest, then the others from the shortest on."""
    values = {longest, *(value for value in _POPULAR if value < longest)}
    for unit in _ROUND:
        for value in range(longest // unit * unit, 0, -unit):
            if len(values) == _HEAD:
                break
            values.add(value)
    return [longest, *sorted(values - {longest})]


def _popularity(count, rng):
    """Draw the ranks of popularity of `count` values in the order of `_head_values`; the first is 1."""
    last_row = {rank: max(row for row, ranks in enumerate(_RANKS) if rank in ranks) for rank in range(2, count + 1)}
    taken, pool = [1], [rank for rank in _RANKS[0] if rank in last_row]
    for row in range(1, count):
        pool += [rank for rank in _RANKS[row] if rank in last_row]
        # A rank that no later row contains is assigned now; so is one if a short head has emptied the pool.
        overdue = [rank for rank in last_row if last_row[rank] <= row]
        if overdue or not pool:
            rank = min(overdue or last_row)
        else:
            rank = min(pool[i] for i in rng.integers(len(pool), size=2))
        taken.append(rank)
        del last_row[rank]
        pool = [left for left in pool if left != rank]
    return taken


def _tail_values(longest, distinct, head):
    """Return the values outside the head, in seconds; fewer if there is no room for all."""
    count = distinct - len(head)
    a = 1 + 12.1039 * distinct**-0.6026
    taken, tail = set(head), []
    for i in range(1, count + 1):
        x = i / count
        value = _MINUTE * round(longest * (a - 1) * x / (a - x) / _MINUTE)
        free = [value + shift for shift in _SHIFTS if 0 < value + shift <= longest and value + shift not in taken]
        if free:
            taken.add(free[0])
            tail.append(free[0])
    return tail


def _tail_shares(count, percent, rng):
    """Return the tail's shares of the jobs, in random order, float64, shape (count,), summing up to `percent`."""
    # The model's factor, 795.6, cancels in the normalization.
    weights = np.arange(_HEAD + 1.0, _HEAD + 1 + count) ** -2.267
    return rng.permutation(weights / weights.sum() * percent) if count else weights


def _counts(shares, jobs):
    """Turn shares into whole numbers of jobs, each at least 1."""
    counts = np.maximum(1, np.rint(shares * jobs)).astype(np.int64)
    most = np.argmax(counts)
    counts[most] += jobs - counts.sum()
    if counts[most] < 1:
        raise ValueError(f"{jobs:,} jobs cannot have {len(counts):,} different estimates by the model's shares")
    return counts


def _swapped(estimates, chosen):
    """Swap each place, from the first on, with the one chosen for it; int64, shape (n,)."""
    # A plain loop, because each swap depends on all those before it: 1.2 s for a million jobs.
    left = estimates.tolist()
    for place, other in enumerate(chosen.tolist()):
        left[place], left[other] = left[other], left[place]
    return np.array(left)
