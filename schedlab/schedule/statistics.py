"""How certain a mean is: intervals by batch means, warm-up, paired comparison, replications.

Jobs of one run are not independent: long waits come together, so the textbook formula gives intervals that are far too
narrow. The method of batch means cuts a run, in order of submission, into batches so long that their means are nearly
independent, and uses those means as the sample. The queue of a schedule may never settle, because more work arrives
than its scheme can do, or because one pile-up fills much of the log. Then the mean depends on how long the log is; it
has no interval (`unsettled`).

Over several runs (seeds, or shaken copies of a log): `over_seeds` gives the mean of each scheme with its interval, and
`ratio_over_seeds`, `geometric_changes` and `ratios_of_means` compare schemes within each run, which needs fewer of
them; `crossing` finds where curves cross.

If there is reason to doubt an interval, its notes say why, and the call warns once with an `IntervalWarning`.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from math import atan, cos, inf, isnan, nan, pi, sin, sqrt, tan
from numbers import Integral
from statistics import NormalDist

import numpy as np
import pandas as pd

from .. import show
from .._runtime.text import check_known, suggestion
from . import metrics

MOST, LEAST = 40, 20  # batches
TAIL = NormalDist().inv_cdf(0.90)  # one-sided test for correlation of batch means at 10 % (LABATCH.2)
PILE_UP = 3 / LEAST  # of the makespan: where a pile-up takes more batches than this, these cannot be independent
CYCLES = 3  # a log has to be this many days or weeks long to show a daily or weekly rhythm
NOISE = 0.5  # percent: a smaller change counts as none, however narrow its interval, and charts write it as 0
DRIFT = 0.99  # confidence at which a run is called not stationary: 1 % of stationary runs are, too
RUN = ("trace", "scheme", "load")  # columns that identify a run of a sweep, besides its seed


class IntervalWarning(UserWarning):
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

    mean: float
    low: float
    high: float
    confidence: float
    batches: int
    batch_size: int
    warm_up: int = 0
    notes: tuple[str, ...] = ()

    def __contains__(self, value) -> bool:
        return self.low <= value <= self.high

    def __repr__(self) -> str:
        return f"<Interval {self._words()}>"

    def _repr_html_(self) -> str:
        return show.page(show.line(self._words(noted=False)), *map(show.note, self.notes))

    def _words(self, noted=True):
        ends = f"{100 * self.confidence:g} % from {show.number(self.low)} to {show.number(self.high)}"
        ends = "no interval" if isnan(self.low) else ends
        parts = [f"{show.number(self.mean)}, {ends}"]
        if self.batches:
            parts.append(f"{self.batches} batches of {self.batch_size:,}")
        if self.warm_up:
            parts.append(f"the first {self.warm_up:,} left out")
        return "; ".join([*parts, *(self.notes if noted else ())])


@dataclass(frozen=True)
class Comparison:
    """Two schedules of the same jobs compared: difference (a - b) and ratio (a / b) of their means.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=5000, machine=64, seed=1).scale_load(0.5)
    >>> compared = sl.paired(sl.simulate(trace, "easy-sjf"), sl.simulate(trace, "easy"), "wait_time")
    >>> compared.difference.high < 0, compared.ratio.high < 1
    (True, True)
    """

    difference: Interval
    ratio: Interval

    def _repr_html_(self) -> str:
        return show.page(
            *(
                part
                for name, interval in (("Difference", self.difference), ("Ratio", self.ratio))
                for part in (show.line(interval._words(noted=False), strong=name), *map(show.note, interval.notes))
            )
        )


# -- batch means -------------------------------------------------------------------------------------------


def batch_means(values, confidence: float = 0.95, *, warm_up: int | str = 0) -> Interval:
    """Return the mean of a run with its confidence interval by batch means.

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

    Returns
    -------
    Interval
        Its notes give reasons to doubt it.

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
    >>> import numpy as np
    >>> from schedlab.schedule.statistics import batch_means
    >>> interval = batch_means(np.random.default_rng(1).exponential(5.0, 1000))
    >>> 5.0 in interval, interval.batches, interval.batch_size
    (True, 40, 25)
    """
    interval = _batch_means(values, confidence, warm_up)
    _warn(interval.notes)
    return interval


def _batch_means(values, confidence, warm_up, unsettled=()):
    """Do what `batch_means` does, without a warning; with reasons why there is no interval, only take the mean."""
    _check_confidence(confidence)
    values, left_out, notes = _trimmed(values, warm_up)
    mean = float(values.mean()) if values.size else nan
    if not np.isfinite(mean):
        note = "a value is infinite or missing" if values.size else "no values"
        return Interval(mean, nan, nan, confidence, 0, 0, left_out, (note,))
    if unsettled:
        return Interval(mean, nan, nan, confidence, 0, 0, left_out, unsettled)
    values = values - values[0]  # exactly 0 if all are equal, without rounding errors
    batches, widened, about = _batches(values)
    low, high = _ends(mean, _batched(values, batches), widened, confidence) if batches > 1 else (nan, nan)
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
    """Raise if a warm-up is asked for without intervals, since measures are those of all jobs.

    Parameters
    ----------
    confidence : float, optional
        Confidence of the intervals; None if there are none.
    warm_up : int or "mser"
        As in `batch_means`.

    Raises
    ------
    ValueError
    """
    if confidence is None and not (isinstance(warm_up, int | np.integer) and warm_up == 0):
        raise ValueError(f"warm_up is {warm_up!r}, but measures are of all jobs; for intervals give confidence= too")


def intervals(
    table: pd.DataFrame, confidence: float = 0.95, classes=None, *, warm_up: int | str = 0, unsettled: str = ""
) -> pd.DataFrame:
    """Return an interval by batch means for each column of a table, or for each class and column.

    Parameters
    ----------
    table : DataFrame
        One row a job, in the order of submission.
    confidence : float
        As in `batch_means`.
    classes : Series, optional
        The class of each job. A batch then holds jobs of one class only.
    warm_up : int or "mser"
        As in `batch_means`.
    unsettled : str
        Why the means have no intervals (`Schedule.unsettled`); their ends are then nan.

    Returns
    -------
    DataFrame
        One row per column, or per (class, column) for each class that has jobs: mean, low, high, batches, batch_size,
        warm_up, note.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=5000, machine=64, seed=1).scale_load(0.6)
    >>> jobs = sl.simulate(trace, "easy").jobs
    >>> table = sl.statistics.intervals(jobs[["wait_time", "turnaround"]] / 3600)
    >>> table[["low", "mean", "high"]].round(1).values.tolist()  # hours
    [[0.8, 1.4, 4.6], [1.8, 2.4, 5.6]]
    """
    reasons = (unsettled,) if unsettled else ()
    if classes is None:
        means = {name: _batch_means(table[name], confidence, warm_up, reasons) for name in table.columns}
    else:
        means = {
            (label, name): _batch_means(part[name], confidence, warm_up, reasons)
            for label, part in table.groupby(classes, observed=True, dropna=False)
            for name in table.columns
        }
    rows = [
        (
            interval.mean,
            interval.low,
            interval.high,
            interval.batches,
            interval.batch_size,
            interval.warm_up,
            "; ".join(interval.notes),
        )
        for interval in means.values()
    ]
    names = None if classes is None else [classes.name, "measure"]
    index = pd.Index(means, name="measure") if classes is None else pd.MultiIndex.from_tuples(means, names=names)
    noted = [
        f"{' '.join(map(str, np.atleast_1d(name)))}: {interval.notes[0]}"
        for name, interval in means.items()
        if interval.notes
    ]
    _warn([f"{len(noted)} of {len(means)} intervals carry a note, such as {noted[0]}"] if noted else ())
    columns = ["mean", "low", "high", "batches", "batch_size", "warm_up", "note"]
    return pd.DataFrame(rows, index=index, columns=columns)


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
        raise ValueError(f'warm_up is {left_out!r}, expected a number of values or "mser"')
    return values[left_out:], int(left_out), notes


def _batches(values):
    """Choose the number of batches; return it, the factor by which to widen the variance, and notes."""
    notes = []
    least = min(LEAST, values.size)
    for batches in range(min(MOST, values.size), least - 1, -1):
        means = _batched(values, batches)
        if not _correlated(means):
            break
    else:
        notes.append(
            f"too short: the means of {batches} batches are still correlated, so the interval may be too narrow"
        )
    if values.size < LEAST:
        notes.append(f"too short: {values.size} values")
    if not is_stationary(values, batches):
        notes.append("not stationary: the mean drifts")
    r = max(_autocorrelation(means), 0.0)
    return batches, (1 + r) / (1 - r), tuple(notes)


def _batched(values, batches):
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


# -- settling ------------------------------------------------------------------------------------------------


def unsettled(time, queue, last: float) -> str:
    """Say why a queue does not settle; empty if it does.

    A queue that settles returns to its usual length again and again, so the run holds many independent stretches. It
    does not settle if its longest pile-up (`schedlab.metrics.pile_up`) takes more than 15 % of the makespan, which is
    three of the twenty batches that batch means need at least. A pile-up of up to a day is a daily rhythm if the
    makespan has three days or more, and one of up to a week a weekly rhythm if it has three weeks.

    Parameters
    ----------
    time : array, shape (n_instants,), seconds
        From the first submission to the last end.
    queue : array, shape (n_instants,)
        Jobs queued from each instant until the next.
    last : float, seconds
        The last submission.

    Notes
    -----
    Of 100 M/M/1 queues with 1,000 jobs, none was called unsettled at loads 0.5 and 0.7, 9 at 0.8, 95 at 1.0 and all at
    1.2. At 0.9 it was 55, since their pile-ups last so long that batch means need more jobs; with 5,000 it was 6.

    References
    ----------
    Crane and Lemoine, "An introduction to the regenerative method for simulation analysis", 1977: a mean over time has
    an interval if the run holds many independent cycles. By Little's law, the mean wait is proportional to the mean
    queue.

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
    rhythms = [period for period in (metrics.DAY, metrics.WEEK) if makespan >= CYCLES * period]
    if end - begin <= max(PILE_UP * makespan, *rhythms, 0):
        return ""
    if begin <= last <= end:
        return "its queue piles up and does not drain before the end"
    return f"one pile-up of its queue takes {100 * (end - begin) / makespan:.0f} % of the time"


# -- warm-up and stationarity -------------------------------------------------------------------------------


def warm_up(values) -> int:
    """Return the length of the warm-up by MSER-5: the values to leave out at the beginning.

    It takes means of five values and considers all cuts that leave at least half of the run. It chooses the cut that
    minimizes the squared deviations of what remains, divided by the squared number of its values.

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

    The statistic compares the mean of the first k values with the mean of all, over all k. Its variance comes from
    batch means.

    Parameters
    ----------
    values : array-like, shape (n,)
        In time order.
    batches : int
        Number of batch means that estimate the variance.

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
    variance = count / batches * _batched(values, batches).var(ddof=1) if batches > 1 else 0.0
    if not variance > 0:
        return True
    k = np.arange(1, count + 1)
    away = (1 - k / count) * (k * values.mean() - np.cumsum(values))
    statistic = sqrt(45 / variance) * away.sum() / count**1.5
    return bool(abs(statistic) <= t_quantile((1 + DRIFT) / 2, batches - 1))


# -- comparison and replication -----------------------------------------------------------------------------


def paired(
    a, b, measure: str | Callable = "bounded_slowdown", confidence: float = 0.95, *, warm_up: int | str = 0
) -> Comparison:
    """Compare two schedules of the same jobs, job by job.

    Both schedules met the same arrivals, so most of the uncertainty cancels. The interval on the difference is far
    narrower than the intervals of the two means suggest.

    Parameters
    ----------
    a, b : Schedule
        Schedules of the same jobs with the same submit times.
    measure : str or function
        A column of `Schedule.jobs`, or a function of that table that gives a number for each job.
    confidence : float
        As in `batch_means`.
    warm_up : int or "mser"
        As in `batch_means`, applied to the differences.

    Returns
    -------
    Comparison
        Intervals on mean(a) - mean(b), by batch means of the differences in the order of submission, and on
        mean(a) / mean(b), by Fieller's theorem on batch means of the pairs. If a schedule does not settle
        (`Schedule.settles`), their ends are nan.

    Raises
    ------
    ValueError
        If the schedules are of different jobs or submit times.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=5000, machine=64, seed=1).scale_load(0.5)
    >>> sjf, easy = sl.simulate(trace, "easy-sjf"), sl.simulate(trace, "easy")
    >>> compared = sl.paired(sjf, easy, "wait_time")
    >>> [round(seconds / 60) for seconds in (compared.difference.low, compared.difference.high)]
    [-36, -4]

    References
    ----------
    Law, "Simulation Modeling and Analysis", section 10.2: paired-t, common random numbers. Fieller, "Some problems in
    interval estimation", Journal of the Royal Statistical Society B 16(2), 1954.
    """
    first, second = (schedule.trace.table["submit_time"] for schedule in (a, b))
    if not (first.index.equals(second.index) and first.equals(second)):
        raise ValueError(f"{a.trace.name} and {b.trace.name} are not the same jobs with the same submit times")
    x, y = (_measured(schedule, measure) for schedule in (a, b))
    unsettled = tuple(dict.fromkeys(schedule.unsettled for schedule in (a, b) if schedule.unsettled))
    difference = _batch_means(x - y, confidence, warm_up, unsettled)
    x, y = x[difference.warm_up :], y[difference.warm_up :]
    comparison = Comparison(difference, _ratio(x, y, confidence, difference.warm_up, unsettled))
    _warn(dict.fromkeys((*comparison.difference.notes, *comparison.ratio.notes)))
    return comparison


def _measured(schedule, measure):
    values = measure(schedule.jobs) if callable(measure) else schedule.column(measure)
    return np.asarray(values, dtype="float64")


def _ratio(x, y, confidence, left_out, unsettled):
    """Return the interval of mean(x) / mean(y): all r for which mean(x - r y) is compatible with 0."""
    top, bottom = (float(values.mean()) if values.size else nan for values in (x, y))
    if not (np.isfinite([top, bottom]).all() and bottom):
        return Interval(nan, nan, nan, confidence, 0, 0, left_out, ("no ratio: a mean is 0, infinite or missing",))
    ratio = top / bottom
    if unsettled:
        return Interval(ratio, nan, nan, confidence, 0, 0, left_out, unsettled)
    # The number of batches is chosen by the linear part of the ratio's error, on which the interval is based.
    batches, widened, notes = _batches(x - ratio * y)
    size = x.size // batches
    if batches < 2:
        return Interval(ratio, nan, nan, confidence, batches, size, left_out, notes)
    scale = t_quantile((1 + confidence) / 2, batches - 1) ** 2 * widened / batches
    (xx, xy), (_, yy) = scale * np.cov(_batched(x, batches), _batched(y, batches))
    square = bottom**2 - float(yy)
    if square <= 0:
        notes = (*notes, "too short: the denominator may be 0, so the ratio may be anything")
        return Interval(ratio, -inf, inf, confidence, batches, size, left_out, notes)
    middle = top * bottom - float(xy)
    root = sqrt(max(middle**2 - square * (top**2 - float(xx)), 0.0))
    low, high = (middle - root) / square, (middle + root) / square
    return Interval(ratio, low, high, confidence, batches, size, left_out, notes)


def over_seeds(table: pd.DataFrame, by=None, confidence: float = 0.95) -> pd.DataFrame:
    """Average the runs of a sweep over their seeds.

    Parameters
    ----------
    table : DataFrame
        From `sweep` with seeds: one row per run, with a column seed.
    by : str or list of str, optional
        Columns that are equal for runs that differ only in their seeds. Default: trace, scheme and load, as far as
        present.
    confidence : float
        Of the intervals, by Student's t; the seeds are independent.

    Returns
    -------
    DataFrame
        One row per group, in the order of the table: `by`, seeds (how many), and for each measure its mean and the ends
        of its interval, ``{measure}_low`` and ``{measure}_high``. The ends are nan if there is only one seed.

    Raises
    ------
    ValueError
        If the table lacks the column seed or one of `by`.

    Notes
    -----
    What an interval means depends on what the seeds do. Over shaken copies of a log, it says how much chaos moves the
    mean, and nothing about another year of the same machine. Over seeds of a model, or of `Trace.bootstrap`, it says
    how much another log of the same kind would differ.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=500, machine=64, seed=1)
    >>> runs = sl.sweep(trace, ["easy", "easy-sjf"], load=[0.7, 0.8, 0.9], seed=range(4))
    >>> means = sl.over_seeds(runs)
    >>> len(runs), len(means), means["seeds"].unique().tolist()
    (24, 6, [4])
    >>> chart = sl.charts.lines(means, "load", "bounded_slowdown", title="Mean over four shaken copies, with intervals")
    """
    _check_confidence(confidence)
    if "seed" not in table.columns:
        raise ValueError("the table has no column 'seed'; sweep(..., seed=range(10)) gives one")
    if by is None:
        by = [name for name in RUN if name in table.columns]
    by = [by] if isinstance(by, str) else list(by)
    missing = [name for name in by if name not in table.columns]
    if missing or not by:
        known = ", ".join(name for name in table.columns if name != "seed")
        named = missing[0] if missing else by
        known += suggestion(named, table.columns)
        raise ValueError(f"by is {named!r}, expected columns of the table: {known}")
    measures = [name for name in table.select_dtypes("number").columns if name not in (*by, "seed")]
    groups = table.groupby(by, sort=False, dropna=False)
    seeds, values = groups.size(), groups[measures]
    known = values.count().to_numpy()  # a run may lack a measure
    mean, half = values.mean(), values.sem() * np.vectorize(partial(_half, confidence), otypes=[float])(known)
    parts = {"": mean, "_low": mean - half, "_high": mean + half}
    columns = {"seeds": seeds.array}
    columns |= {f"{name}{end}": part[name].array for name in measures for end, part in parts.items()}
    return pd.DataFrame(columns, seeds.index).reset_index()


def ratios_of_means(table: pd.DataFrame, new: str, old: str, by: list[str]) -> pd.Series:
    """Return each run's contribution to the ratio of two means over the seeds.

    Averaging the runs' own ratios gives too much weight to runs whose old value is low by chance: of two schedules that
    differ by chance alone, each would seem worse than the other. These contributions average to mean(new) / mean(old),
    and their spread gives its error (delta method). Pass them to `over_seeds`.

    Parameters
    ----------
    table : DataFrame
        One row per run, with both values.
    new, old : str
        Columns.
    by : list of str
        The columns that identify a case; its rows differ only in their seeds.

    Returns
    -------
    Series
        One number per row; nan if either value is missing, since only pairs count.

    Examples
    --------
    >>> import pandas as pd
    >>> from schedlab.schedule.statistics import over_seeds, ratios_of_means
    >>> runs = pd.DataFrame({"load": 0.8, "seed": [0, 1, 2], "sjf": [11.0, 12.5, 10.5], "easy": [22.0, 24.0, 23.0]})
    >>> runs["ratio"] = ratios_of_means(runs, new="sjf", old="easy", by=["load"])
    >>> table = over_seeds(runs[["load", "seed", "ratio"]], by="load")
    >>> table[["ratio", "ratio_low", "ratio_high"]].round(2).values.tolist()
    [[0.49, 0.41, 0.58]]
    """
    pairs = table[new].notna() & table[old].notna()
    cases = table.where(pairs).groupby([table[name] for name in by], sort=False)
    top, bottom = (cases[name].transform("mean") for name in (new, old))
    return (top / bottom + (table[new] - top / bottom * table[old]) / bottom).where(pairs)


def ratio_over_seeds(new, old, confidence: float = 0.95) -> tuple[float, float, float]:
    """Compare two means over the same seeds by their ratio.

    To first order, the error of the ratio's logarithm is that of new - ratio * old, divided by the mean of new. Unlike
    `ratios_of_means`, this uses the logarithm, so swapping new and old inverts the ratio and its interval.

    Parameters
    ----------
    new, old : array-like, shape (n_seeds,)
        One value per seed, in the same order.
    confidence : float
        Of the interval, such as 0.95.

    Returns
    -------
    ratio, low, high : float
        mean(new) / mean(old) and the ends of its interval. All are nan if old is always 0. The ends are nan also if new
        is always 0, or if there is only one seed.

    Examples
    --------
    >>> from schedlab.schedule.statistics import ratio_over_seeds
    >>> ratio, low, high = ratio_over_seeds(new=[11.0, 12.5, 10.5, 13.0], old=[10.0, 11.0, 10.0, 12.0])
    >>> print(f"{ratio:.2f} [{low:.2f} to {high:.2f}]")
    1.09 [1.04 to 1.15]
    """
    _check_confidence(confidence)
    new, old = (np.asarray(values, float) for values in (new, old))
    if not old.any():
        return nan, nan, nan
    ratio = new.mean() / old.mean()
    if new.size == 1:
        return ratio, nan, nan
    error = np.std(new - ratio * old, ddof=1) / np.sqrt(new.size) / new.mean() if new.any() else nan
    half = t_quantile((1 + confidence) / 2, new.size - 1) * error
    return ratio, ratio * np.exp(-half), ratio * np.exp(half)


def crossing(x, y) -> float:
    """Find where values first fall to 0, by straight lines between the given points.

    Parameters
    ----------
    x, y : array-like, shape (n,)
        Places, in any order, and the value at each; nan if missing.

    Returns
    -------
    float
        In the unit of x: the least x if the value there is already 0 or less; nan if the values never fall to 0.

    Raises
    ------
    ValueError
        If x and y differ in shape.

    Examples
    --------
    >>> from schedlab.schedule.statistics import crossing
    >>> round(crossing([0.0, 0.2, 0.4], [30.0, 10.0, -10.0]), 6)
    0.3
    """
    x, y = (np.asarray(values, float) for values in (x, y))
    if x.shape != y.shape:
        raise ValueError(f"x and y have shapes {x.shape} and {y.shape}, expected the same")
    order = np.argsort(x, kind="stable")
    order = order[~np.isnan(y[order])]
    x, y = x[order], y[order]
    below = np.flatnonzero(y <= 0)
    if not below.size:
        return nan
    i = below[0]
    return float(x[0] if i == 0 else x[i - 1] + (x[i] - x[i - 1]) * y[i - 1] / (y[i - 1] - y[i]))


def jackknife(
    measure: Callable[[pd.DataFrame], float], runs: pd.DataFrame, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Measure all runs together, for example by a correlation, and return an interval over the seeds.

    The interval is that of the jackknife: it follows from how the measure changes when each seed in turn is left out.

    Parameters
    ----------
    measure : callable
        Takes a table of runs, and gives a number.
    runs : DataFrame
        One row per run, with a column seed.
    confidence : float
        Of the interval, such as 0.95.

    Returns
    -------
    value, low, high : float
        The ends are nan if there is only one seed.

    Raises
    ------
    ValueError
        If the table lacks the column seed.

    Examples
    --------
    >>> import pandas as pd
    >>> from schedlab.schedule.statistics import jackknife
    >>> runs = pd.DataFrame({"seed": [0, 1, 2, 3], "wait": [10.0, 12.0, 11.0, 15.0]})
    >>> value, low, high = jackknife(lambda part: part["wait"].mean(), runs)
    >>> print(f"{value:.2f} [{low:.2f} to {high:.2f}]")
    12.00 [8.56 to 15.44]

    References
    ----------
    B. Efron: The jackknife, the bootstrap and other resampling plans. SIAM, 1982.
    """
    _check_confidence(confidence)
    check_known("column", "seed", runs.columns)
    value, seeds = measure(runs), runs["seed"].unique()
    if seeds.size < 2:
        return value, nan, nan
    without = [measure(runs[runs["seed"] != seed]) for seed in seeds]
    n = seeds.size
    half = t_quantile((1 + confidence) / 2, n - 1) * (n - 1) / np.sqrt(n) * np.std(without, ddof=1)
    return value, value - half, value + half


def geometric_means(table: pd.DataFrame, name: str, by, confidence: float = 0.95) -> pd.DataFrame:
    """Average a measure over the seeds geometrically, for values that span orders of magnitude.

    Parameters
    ----------
    table : DataFrame
        One row per run, with a column seed.
    name : str
        The measure, above 0.
    by : str or list of str
        The columns that identify a case.
    confidence : float
        Of the intervals, by Student's t.

    Returns
    -------
    DataFrame
        As in `over_seeds`: `by`, seeds, and the measure with the ends of its interval.

    Raises
    ------
    ValueError
        For a value that is not above 0, or a missing column.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=500, machine=64, seed=1)
    >>> runs = sl.sweep(trace, ["easy", "easy-sjf"], load=[0.7, 0.9], seed=range(5))
    >>> means = sl.statistics.geometric_means(runs, "bounded_slowdown", by=["scheme", "load"])
    >>> means[["scheme", "load", "bounded_slowdown"]].round(1).values.tolist()
    [['EASY', 0.7, 96.9], ['EASY-SJF', 0.7, 48.7], ['EASY', 0.9, 175.9], ['EASY-SJF', 0.9, 55.1]]
    """
    by = _cases(by, name, table)
    means = over_seeds(table[[*by, "seed"]].assign(**{name: _logarithms(table[name])}), by, confidence)
    columns = [name, f"{name}_low", f"{name}_high"]
    return means.assign(**{column: np.exp(means[column]) for column in columns})


def geometric_changes(new: pd.DataFrame, old: pd.DataFrame, name: str, by, confidence: float = 0.95) -> pd.DataFrame:
    """Compare a measure of two tables of runs, seed by seed, by the geometric mean of its ratios.

    Swapping the tables inverts the ratio, so chance alone favours neither.

    Parameters
    ----------
    new, old : DataFrame
        One row per run, with a column seed.
    name : str
        The measure, above 0.
    by : str or list of str
        The columns that identify a case.
    confidence : float
        Of the intervals, by Student's t.

    Returns
    -------
    DataFrame
        One row per case: `by`, seeds (those in both tables), change, and the ends of its interval, low and high. All in
        percent; below 0, the new values are lower.

    Raises
    ------
    ValueError
        For a value that is not above 0, a missing column, or two runs of one case and seed in a table.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=500, machine=64, seed=1)
    >>> runs = sl.sweep(trace, ["easy", "easy-sjf"], load=[0.7, 0.9], seed=range(5))
    >>> sjf, easy = runs[runs["scheme"] == "EASY-SJF"], runs[runs["scheme"] == "EASY"]
    >>> changes = sl.statistics.geometric_changes(sjf, easy, "bounded_slowdown", by="load")
    >>> changes[["load", "change", "low", "high"]].round(1).values.tolist()  # percent
    [[0.7, -49.7, -53.1, -46.2], [0.9, -68.7, -72.5, -64.3]]
    """
    by = _cases(by, name, new, old)
    keys = [*by, "seed"]
    after, before = (table[[*keys, name]].reset_index(drop=True) for table in (new, old))
    alike = after[keys].equals(before[keys])  # usual; otherwise matching the runs takes as long as all the rest
    for runs in (after, before):
        _logarithms(runs[name])
        if not (alike and runs is before) and (again := runs.duplicated(keys)).any():
            case = ", ".join(f"{column} {runs.loc[again, column].iloc[0]}" for column in keys)
            raise ValueError(f"the table has several runs of {case}")
    if alike:
        runs = after[keys].assign(change=np.log(after[name] / before[name]))
    else:
        after, before = (runs.set_index(keys)[name] for runs in (after, before))
        runs = np.log(after / before).rename("change").reset_index()
    changes = over_seeds(runs.dropna(subset="change"), by, confidence)
    columns = {"change": "change", "low": "change_low", "high": "change_high"}
    return changes[[*by, "seeds"]].assign(**{end: 100 * np.expm1(changes[column]) for end, column in columns.items()})


def _cases(by, name, *tables):
    """Return `by` as a list, after checking that each table has its columns, the measure and the seeds."""
    by = [by] if isinstance(by, str) else list(by)
    for table in tables:
        for column in (*by, name, "seed"):
            check_known("column", column, table.columns)
    return by


def _logarithms(values):
    bad = values[~(values > 0) & values.notna()]
    if len(bad):
        raise ValueError(f"{values.name} is {bad.iloc[0]:g}, expected a number above 0")
    return np.log(values)


def _half(confidence, seeds):
    return t_quantile((1 + confidence) / 2, seeds - 1) if seeds > 1 else nan


# -- Student's t --------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: int) -> float:
    """Return the quantile of Student's t distribution.

    Parameters
    ----------
    p : float
        In (0, 1).
    df : int
        Degrees of freedom, at least 1.

    Raises
    ------
    ValueError
        For p or df outside these ranges.

    Notes
    -----
    The distribution has a closed form in the angle atan(t / sqrt(df)): a finite sum that increases with the angle. It
    is inverted by bisection, down to the last bits of a float64.

    Examples
    --------
    >>> from schedlab.schedule.statistics import t_quantile
    >>> round(t_quantile(0.975, df=4), 3)
    2.776

    References
    ----------
    Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4.
    """
    if not (0 < p < 1 and df >= 1):
        raise ValueError(f"p and df are {p} and {df}, expected p in (0, 1) and df of at least 1")
    if p < 0.5:
        return -t_quantile(1 - p, df)
    low, high = 0.0, pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        if _t_within(middle, df) < 2 * p - 1:
            low = middle
        else:
            high = middle
    return sqrt(df) * tan(low)


def t_beyond(t: float, df: int) -> float:
    """Return the probability that the absolute value of Student's t is larger than `t`.

    Parameters
    ----------
    t : float
        0 or more.
    df : int
        Degrees of freedom, at least 1.

    Examples
    --------
    >>> from schedlab.schedule.statistics import t_beyond
    >>> round(t_beyond(2.776, df=4), 3)
    0.05
    """
    return max(0.0, 1 - _t_within(atan(t / sqrt(df)), df))


def _t_within(angle, df):
    """Return the probability that abs(t) <= sqrt(df) tan(angle)."""
    odd = df % 2
    # 1 + 1/2 c^2 + 1/2 3/4 c^4 + ... for even df, c (1 + 2/3 c^2 + 2/3 4/5 c^4 + ...) for odd ones; df // 2 terms.
    k = np.arange(1, df // 2)
    factors = (2 * k / (2 * k + 1) if odd else (2 * k - 1) / (2 * k)) * cos(angle) ** 2
    series = sin(angle) * (1 + float(np.cumprod(factors).sum())) if df > 1 else 0.0
    return 2 / pi * (angle + series * cos(angle)) if odd else series


def _check_confidence(confidence):
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")


def _warn(notes):
    if notes:
        warnings.warn("; ".join(notes), IntervalWarning, stacklevel=3)
