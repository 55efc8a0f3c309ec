"""How certain a mean is: intervals by batch means, warm-up, paired comparison, replications."""

import warnings
from dataclasses import dataclass
from math import isfinite, isnan, nan, sqrt
from numbers import Integral
from operator import attrgetter
from statistics import NormalDist

import numpy as np
import pandas as pd

from schedlab import show
from schedlab._runtime.remarks import SchedlabWarning
from schedlab._runtime.text import spelt
from schedlab.schedule import metrics

from .student import check_confidence, t_quantile

MOST, LEAST = 40, 20  # batches
TAIL = NormalDist().inv_cdf(0.90)  # one-sided test for correlation of batch means at 10 % (LABATCH.2)
PILE_UP = 3 / LEAST  # of the makespan: where a pile-up takes more batches than this, these cannot be independent
CYCLES = 3  # a log has to be this many days or weeks long to show a daily or weekly rhythm
DRIFT = 0.99  # confidence at which a run is called not stationary: 1 % of stationary runs are, too


class IntervalWarning(SchedlabWarning):
    """An interval may not have its stated confidence; the message says why."""


@dataclass(frozen=True, repr=False)
class Interval:
    """An estimate and its confidence interval.

    Attributes
    ----------
    mean, low, high : float
        The estimate and the ends of its interval; nan if unknown.
    confidence : float
    batches, batch_size : int
        If the batches do not divide the values evenly, some are longer by one value.
    warm_up : int
        Values left out at the beginning.
    notes : tuple of str
        Reasons to doubt the interval: the run is too short, or not stationary.
    unit : str
        "s" if the values are known to be seconds, which are then displayed in minutes, hours or days where that is
        readable; "" otherwise.
    """

    mean: float
    low: float
    high: float
    confidence: float
    batches: int
    batch_size: int
    warm_up: int = 0
    notes: tuple[str, ...] = ()
    unit: str = ""

    def __contains__(self, value) -> bool:
        return self.low <= value <= self.high

    def __repr__(self) -> str:
        return f"<Interval {self._words()}>"

    def _repr_html_(self) -> str:
        return show.page(show.line(self._words(noted=False)), *map(show.note, self.notes))

    def _words(self, noted=True):
        (mean, low, high), unit = self._readable()
        ends = f"{100 * self.confidence:g} % from {show.number(low)} to {show.number(high)}{unit}"
        ends = "no interval" if isnan(self.low) else ends
        parts = [f"{show.number(mean)}{unit}, {ends}"]
        if self.batches:
            parts.append(f"{self.batches} batches of {self.batch_size:,}")
        if self.warm_up:
            parts.append(f"the first {self.warm_up:,} left out")
        return "; ".join([*parts, *(self.notes if noted else ())])

    def _readable(self):
        """Return the mean and the ends as they are displayed, and the unit that follows them."""
        values = (self.mean, self.low, self.high)
        if self.unit != "s":
            return values, f" {self.unit}".rstrip()
        name, seconds = show.unit_of(max((abs(value) for value in values if isfinite(value)), default=0.0))
        return [value / seconds for value in values], f" {name}"


def batch_means(values, confidence: float = 0.95, *, warm_up: int | str = 0) -> Interval:
    """Return the mean of a run with its confidence interval by batch means; its notes give reasons to doubt it.

    The number of batches is the largest from 40 down to 20 at which von Neumann's ratio shows no correlation of the
    batch means (one-sided, 10 %). If the first autocorrelation r of the sample is still positive, the interval is
    widened by sqrt((1 + r) / (1 - r)). If the batch means are skewed, so is the interval: for waits it reaches further
    above the mean than below.

    Parameters
    ----------
    values : array-like, shape (n,)
        In time order.
    confidence : float
        Confidence of the interval, such as 0.95.
    warm_up : int or "mser"
        Values to leave out at the beginning: this many, or as many as `warm_up` finds.

    Notes
    -----
    If a run is short compared with its correlation, such intervals are too narrow. On the waits of an M/M/1 queue, 95 %
    intervals covered the true mean about 94 % of the time at load 0.7, with 5,000 and with 20,000 jobs; at load 0.9, 88
    % and 92 %.

    References
    ----------
    Schmeiser, "Batch size effects in the analysis of simulation output", Operations Research 30(3), 1982: more than 30
    batches gain little. Fishman and Yarberry, "An implementation of the batch means method", INFORMS Journal on
    Computing 9(3), 1997: the test. Willink, "A confidence interval and test for the mean of an asymmetric
    distribution", Communications in Statistics 34(4), 2005: the skewed ends. Tafazzoli, Wilson, Lada and Steiger,
    "Performance of Skart", INFORMS Journal on Computing 23(2), 2011: both corrections together.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=5000, machine=64, seed=1).scale_load(0.6)
    >>> interval = sl.batch_means(sl.simulate(trace, "easy").jobs["wait_time"] / 3600)
    >>> interval
    <Interval 1.4, 95 % from 0.827 to 4.63; 23 batches of 217>
    >>> 1.0 in interval, interval.notes
    (True, ())
    """
    interval = batched_mean(values, confidence, warm_up)
    warn_of(interval.notes)
    return interval


def batched_mean(values, confidence, warm_up, unsettled=()):
    """Do what `batch_means` does, without a warning; with reasons why there is no interval, only take the mean."""
    check_confidence(confidence)
    values, left_out, notes = _trimmed(values, warm_up)
    mean = float(values.mean()) if values.size else nan
    if not np.isfinite(mean):
        unsettled = ("a value is infinite or missing" if values.size else "no values",)
    if unsettled:
        return Interval(mean, nan, nan, confidence, 0, 0, left_out, unsettled)
    values = values - values[0]  # exactly 0 if all are equal, without rounding errors
    batches, widened, about = batching(values)
    low, high = _ends(mean, in_batches(values, batches), widened, confidence) if batches > 1 else (nan, nan)
    return Interval(mean, low, high, confidence, batches, values.size // batches, left_out, (*notes, *about))


def _ends(mean, means, widened, confidence):
    """Return the ends of an interval from batch means, as skewed as they are."""
    error = sqrt(widened * means.var(ddof=1) / means.size)
    t = t_quantile((1 + confidence) / 2, means.size - 1)
    skewness = _skewness(means)
    if abs(skewness) < 1e-6:  # near 0 the formula loses precision, and has no effect
        return mean - t * error, mean + t * error
    beta = skewness / (6 * sqrt(means.size))
    low, high = ((np.cbrt(1 + 6 * beta * (end - beta)) - 1) / (2 * beta) for end in (t, -t))
    return mean - float(low) * error, mean - float(high) * error


def _skewness(values):
    """Return the sample skewness, adjusted for bias; 0 if it is negligible."""
    n, centred = values.size, values - values.mean()
    squares = np.square(centred).mean()
    if n < 3 or not squares > 0:
        return 0.0
    return float((centred**3).mean() / squares**1.5) * sqrt(n * (n - 1)) / (n - 2)


def check_warm_up(confidence: float | None, warm_up: int | str) -> None:
    """Raise if a warm-up is asked for without intervals, and so without a confidence: measures are of all jobs."""
    if confidence is None and not (isinstance(warm_up, int | np.integer) and warm_up == 0):
        raise ValueError(
            f"warm_up is {spelt(warm_up)}, but measures are of all jobs; for intervals give confidence= too"
        )


def intervals(
    table: pd.DataFrame,
    confidence: float = 0.95,
    classes=None,
    *,
    warm_up: int | str = 0,
    unsettled: str | pd.Series = "",
) -> pd.DataFrame:
    """Return an interval by batch means for each column of a table, or for each class and column.

    The table has mean, low, high, batches, batch_size, warm_up and note for each column, or each (class, column) that
    has jobs.

    Parameters
    ----------
    table : DataFrame
        One row a job, in the order of submission.
    confidence, warm_up : optional
        As in `batch_means`.
    classes : Series, optional
        The class of each job. A batch then holds jobs of one class only.
    unsettled : str or Series of str
        Why the means have no intervals (`Schedule.unsettled`), "" if they have; for classes, of each job of a class.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=5000, machine=64, seed=1).scale_load(0.6)
    >>> jobs = sl.simulate(trace, "easy").jobs
    >>> table = sl.statistics.intervals(jobs[["wait_time", "turnaround"]] / 3600)
    >>> table[["low", "mean", "high"]].round(1).values.tolist()  # hours
    [[0.8, 1.4, 4.6], [1.8, 2.4, 5.6]]
    """
    if classes is None:
        means = {name: batched_mean(table[name], confidence, warm_up, _reasons(unsettled)) for name in table.columns}
        warn_of(noted(means))
        return table_of(means, ["measure"])
    means = {
        (label, name): batched_mean(part[name], confidence, warm_up, _reasons(unsettled, part.index[0]))
        for label, part in table.groupby(classes, observed=True, dropna=False)
        for name in table.columns
    }
    warn_of(noted(means))
    return table_of(means, [classes.name, "measure"])


def table_of(means: dict, names: list) -> pd.DataFrame:
    """Return intervals as a table, with an index of these names."""
    columns = ["mean", "low", "high", "batches", "batch_size", "warm_up"]
    rows = [[*attrgetter(*columns)(interval), "; ".join(interval.notes)] for interval in means.values()]
    index = pd.Index(means, name=names[0]) if len(names) == 1 else pd.MultiIndex.from_tuples(means, names=names)
    return pd.DataFrame(rows, index=index, columns=[*columns, "note"])


def noted(means: dict) -> list[str]:
    """Return a sentence on the intervals of a table that carry notes, if there are any."""
    names = [name for name, interval in means.items() if interval.notes]
    if not names:
        return []
    example = f"{' '.join(map(str, np.atleast_1d(names[0])))}: {means[names[0]].notes[0]}"
    return [f"{len(names)} of {len(means)} intervals carry a note, such as {example}"]


def _reasons(unsettled, job=None):
    text = unsettled if isinstance(unsettled, str) else unsettled[job]
    return (text,) if text else ()


def _trimmed(values, left_out):
    """Return the values after the warm-up, the number left out, and a note if the warm-up has not ended."""
    values = np.asarray(values, dtype="float64")
    if values.ndim != 1:
        raise ValueError(f"values have shape {values.shape}, expected one dimension")
    notes = ()
    if left_out == "mser":
        left_out = warm_up(values)
        if left_out and left_out // 5 == values.size // 5 // 2:
            notes = ("too short: the warm-up takes half the run or more",)
    elif isinstance(left_out, str) or not isinstance(left_out, Integral) or left_out < 0:
        raise ValueError(f'warm_up is {spelt(left_out)}, expected a number of values or "mser"')
    return values[left_out:], int(left_out), notes


def batching(values):
    """Choose the number of batches; return it, the factor by which to widen the variance, and notes."""
    notes = []
    least = min(LEAST, values.size)
    for batches in range(min(MOST, values.size), least - 1, -1):
        means = in_batches(values, batches)
        if not _correlated(means):
            break
    else:
        correlated = f"the means of {batches} batches are still correlated, so the interval may be too narrow"
        notes.append(f"too short: {correlated}")
    if values.size < LEAST:
        notes.append(f"too short: {values.size} values")
    if not is_stationary(values, batches):
        notes.append("not stationary: the mean drifts")
    r = max(_autocorrelation(means), 0.0)
    return batches, (1 + r) / (1 - r), tuple(notes)


def in_batches(values, batches):
    """Return the means of consecutive values, in batches whose sizes differ by at most one."""
    ends = np.arange(1, batches + 1) * values.size // batches
    starts = np.append(0, ends[:-1])
    return np.add.reduceat(values, starts) / (ends - starts)


def _correlated(means):
    """Test batch means for positive correlation by von Neumann's ratio (Fishman and Yarberry 1997)."""
    squares = np.square(means - means.mean()).sum()
    if means.size < 3 or squares == 0:
        return False
    ratio = 1 - np.square(np.diff(means)).sum() / (2 * squares)
    return ratio > TAIL * sqrt((means.size - 2) / (means.size**2 - 1))


def _autocorrelation(values):
    centred = values - values.mean()
    squares = np.square(centred).sum()
    return float((centred[1:] * centred[:-1]).sum() / squares) if squares else 0.0


def longest_rhythm(makespan: float) -> float:
    """Return how long a pile-up of a queue that settles can be, in seconds, as `unsettled` says."""
    rhythms = [period for period in (metrics.DAY, metrics.WEEK) if makespan >= CYCLES * period]
    return max(PILE_UP * makespan, *rhythms, 0)


def unsettled(time, queue, last: float) -> str:
    """Say why a queue does not settle; empty if it does.

    A queue that settles returns to its usual length again and again, so the run holds many independent stretches. It
    does not settle if its longest pile-up (`schedlab.metrics.pile_up`) takes more than 15 % of the makespan, which is
    three of the twenty batches that batch means need at least. A pile-up of up to a day is a daily rhythm if the
    makespan has three days or more, and one of up to a week a weekly rhythm if it has three weeks.

    Parameters
    ----------
    time, queue : array, shape (n_instants,)
        Seconds from the first submission to the last end, and the jobs queued from each instant until the next.
    last : float, seconds
        The last submission.

    Notes
    -----
    Of 100 M/M/1 queues with 1,000 jobs, none was called unsettled at loads 0.5 and 0.7, 9 at 0.8, 95 at 1.0 and all at
    1.2. At 0.9 it was 55, since their pile-ups last so long that batch means need more jobs; with 5,000 it was 6.

    References
    ----------
    Crane and Lemoine, "An introduction to the regenerative method for simulation analysis", 1977: a mean over time has
    an interval if the run holds many independent cycles. By Little's law, the mean wait is proportional to the queue's.

    Examples
    --------
    >>> import numpy as np
    >>> from schedlab.schedule.statistics import unsettled
    >>> time = np.arange(0, 2000, 10)
    >>> unsettled(time, time // 10 % 20, last=1900), unsettled(time, time // 10, last=1900)
    ('', 'its queue piles up and does not drain before the end')
    """
    makespan = time[-1] - time[0]
    begin, end = metrics.pile_up(time, queue)
    if end - begin <= longest_rhythm(makespan):
        return ""
    if begin <= last <= end:
        return "its queue piles up and does not drain before the end"
    return f"one pile-up of its queue takes {100 * (end - begin) / makespan:.0f} % of the time"


def warm_up(values) -> int:
    """Return the length of the warm-up by MSER-5: the values to leave out at the beginning.

    Of all cuts between means of five values that leave at least half of the run, it is the one that minimizes the
    squared deviations of what remains, divided by the squared number of its values.

    Parameters
    ----------
    values : array-like, shape (n,)
        In time order.

    Examples
    --------
    >>> import numpy as np
    >>> from schedlab.schedule.statistics import warm_up
    >>> steady = np.random.default_rng(1).exponential(5.0, 2000)
    >>> warm_up(steady), warm_up(steady * np.minimum(np.arange(2000) / 200, 1))  # the second run starts empty
    (0, 65)

    References
    ----------
    White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69(6), 1997; White,
    Cobb and Spratt, "A comparison of five steady-state truncation heuristics for simulation", WSC 2000: means of five.
    """
    values = np.asarray(values, dtype="float64")
    fives = values.size // 5
    if fives < 2 or not np.isfinite(values).all():
        return 0
    means = values[: 5 * fives].reshape(fives, 5).mean(axis=1)
    means -= means.mean()  # otherwise the sums of squares below are differences of large numbers
    left = np.arange(fives, 0, -1)
    sums, squares = np.cumsum(means[::-1])[::-1], np.cumsum(np.square(means)[::-1])[::-1]
    error = (squares - np.square(sums) / left) / np.square(left)
    return 5 * int(np.argmin(error[: fives // 2 + 1]))


def is_stationary(values, batches: int = LEAST) -> bool:
    """Tell whether a run shows no drift of its mean, at 99 %.

    The statistic compares the mean of the first k values, for all k, with that of all. Batch means give its variance.

    Parameters
    ----------
    values, batches : array-like, shape (n,), and int
        The run in time order, and the number of batch means that estimate the variance.

    Examples
    --------
    >>> import numpy as np
    >>> from schedlab.schedule.statistics import is_stationary
    >>> steady = np.random.default_rng(1).exponential(5.0, 2000)
    >>> is_stationary(steady), is_stationary(steady + np.linspace(0, 5, 2000))
    (True, False)

    References
    ----------
    Schruben, Singh and Tierney, "Optimal tests for initialization bias in simulation output", Operations Research
    31(6), 1983.
    """
    values = np.asarray(values, dtype="float64")
    count = values.size
    variance = count / batches * in_batches(values, batches).var(ddof=1) if batches > 1 else 0.0
    if not variance > 0:
        return True
    k = np.arange(1, count + 1)
    away = (1 - k / count) * (k * values.mean() - np.cumsum(values))
    statistic = sqrt(45 / variance) * away.sum() / count**1.5
    return bool(abs(statistic) <= t_quantile((1 + DRIFT) / 2, batches - 1))


def warn_of(notes):
    if notes:
        warnings.warn("; ".join(notes), IntervalWarning, stacklevel=3)
