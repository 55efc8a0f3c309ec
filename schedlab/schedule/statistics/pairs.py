"""Comparison of two schedules of the same jobs, job by job."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, nan, sqrt
from typing import overload

import numpy as np
import pandas as pd

from schedlab import show
from schedlab.schedule import metrics

from .batches import Interval, batched_mean, batching, in_batches, noted, table_of, warn_of
from .student import t_quantile


@dataclass(frozen=True)
class Comparison:
    """Two schedules of the same jobs compared (`paired`): difference (a - b) and ratio (a / b) of their means."""

    difference: Interval
    ratio: Interval

    def _repr_html_(self) -> str:
        parts = []
        for name, interval in (("Difference", self.difference), ("Ratio", self.ratio)):
            parts += [show.line(interval._words(noted=False), strong=name), *map(show.note, interval.notes)]
        return show.page(*parts)


@dataclass(frozen=True)
class Comparisons:
    """Two schedules of the same jobs compared by class (`paired`): differences (a - b) and ratios (a / b) as tables.

    Both have one row for each class that has jobs, index (class, measure), with mean, low, high, batches, batch_size
    (jobs), warm_up (jobs), and a note with reasons to doubt the interval, or why there is none.
    """

    difference: metrics.MeasureTable
    ratio: metrics.MeasureTable

    def _repr_html_(self) -> str:
        parts = []
        for name, table in (("Differences", self.difference), ("Ratios", self.ratio)):
            parts += [show.line("", strong=name), table._repr_html_()]
        return show.page(*parts)


@overload
def paired(
    a, b, measure: str | Callable = ..., confidence: float = ..., *, by: None = ..., warm_up=..., window=...
) -> Comparison: ...
@overload
def paired(
    a, b, measure: str | Callable = ..., confidence: float = ..., *, by: object, warm_up=..., window=...
) -> Comparisons: ...
def paired(
    a,
    b,
    measure: str | Callable = "bounded_slowdown",
    confidence: float = 0.95,
    *,
    by=None,
    warm_up: int | str = 0,
    window=None,
) -> Comparison | Comparisons:
    """Compare two schedules of the same jobs, job by job: all jobs, or each class of them.

    Both schedules met the same arrivals, so most of the uncertainty cancels. The interval on the difference is far
    narrower than the intervals of the two means suggest.

    Parameters
    ----------
    a, b : Schedule
        Schedules of the same jobs with the same submit times.
    measure : str or function
        A column of `Schedule.jobs`, or a function of that table that gives a number for each job.
    confidence, warm_up : optional
        As in `batch_means`; the warm-up is that of the differences (of each class).
    by : optional
        Classes of jobs, as in `Schedule.metrics`; those of `a`, where they depend on the schedule. A mean over all jobs
        may hide that a change helps one partition and harms another.
    window : (begin, end), optional
        Only the jobs submitted in [begin, end): dates at the machine, or seconds on the clock of the log. Default: all
        that are counted (`Trace.counted`).

    Returns
    -------
    Comparison
        Intervals on mean(a) - mean(b), by batch means of the differences in the order of submission, and on mean(a) /
        mean(b), by Fieller's theorem on batch means of the pairs. If a schedule does not settle (`Schedule.settles`),
        their ends are nan.
    Comparisons, where `by` is given
        The same for each class, as tables; a batch then holds jobs of one class only. The ends are nan unless, in both
        schedules, the queue of these jobs settles, and so does that of the machine, or of each pool in which they wait.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=5000, machine=64, seed=1).scale_load(0.5)
    >>> sjf, easy = sl.simulate(trace, "easy-sjf"), sl.simulate(trace, "easy")
    >>> compared = sl.paired(sjf, easy, "wait_time")
    >>> [round(seconds / 60) for seconds in (compared.difference.low, compared.difference.high)]
    [-36, -4]

    By the size of the jobs, in minutes: the small jobs gain, of the large ones it is not sure:

    >>> table = sl.paired(sjf, easy, "wait_time", by="size").difference
    >>> (table.loc[["1", "33-64"], ["low", "high"]] / 60).round().values.tolist()
    [[-51.0, -3.0], [-18.0, 208.0]]

    References
    ----------
    Law, "Simulation Modeling and Analysis", section 10.2: paired-t, common random numbers. Fieller, "Some problems in
    interval estimation", Journal of the Royal Statistical Society B 16(2), 1954.
    """
    first, second = (schedule.trace.table["submit_time"] for schedule in (a, b))
    if not (first.index.equals(second.index) and first.equals(second)):
        raise ValueError(f"{a.trace.name} and {b.trace.name} are not the same jobs with the same submit times")
    counted = a.trace.some_counted(window)
    x, y = (_measured(schedule, measure)[counted] for schedule in (a, b))
    unit = _unit(measure)
    if by is None:
        reasons = [schedule._unsettled(window) for schedule in (a, b)]
        comparison = _compared(x, y, confidence, warm_up, reasons, unit)
        warn_of(dict.fromkeys((*comparison.difference.notes, *comparison.ratio.notes)))
        return comparison
    labels = a.classes(by)
    reasons = [schedule._unsettled_by(labels, window).to_numpy()[counted] for schedule in (a, b)]
    name = _name(measure)
    differences = {}
    ratios = {}
    for label, jobs in labels[counted].groupby(labels[counted], observed=True, dropna=False).indices.items():
        texts = [text[jobs[0]] for text in reasons]
        comparison = _compared(x[jobs], y[jobs], confidence, warm_up, texts, unit)
        differences[label, name] = comparison.difference
        ratios[label, "ratio"] = comparison.ratio
    warn_of(noted(differences | ratios))
    names = [labels.name, "measure"]
    return Comparisons(*(metrics.MeasureTable(table_of(means, names)) for means in (differences, ratios)))


def _compared(x, y, confidence, warm_up, reasons, unit):
    """Compare two samples, given why the queues of either do not settle ("" if they do)."""
    unsettled = tuple(dict.fromkeys(filter(None, reasons)))
    difference = replace(batched_mean(x - y, confidence, warm_up, unsettled), unit=unit)
    left_out = difference.warm_up
    return Comparison(difference, _ratio(x[left_out:], y[left_out:], confidence, left_out, unsettled))


def _measured(schedule, measure):
    """Return the measure of each job; raise if there is not a number for each, in the order of the jobs."""
    values = measure(schedule.jobs) if callable(measure) else schedule.column(measure)
    index = schedule.trace.table.index
    count = np.shape(values)
    wrong = f"values of shape {count}" if count != index.shape else ""
    if isinstance(values, pd.Series) and not values.index.equals(index):
        wrong = "values of other jobs, or in another order"
    if not wrong:
        try:
            return pd.Series(values).to_numpy("float64", na_value=nan)
        except (TypeError, ValueError):
            wrong = repr(np.asarray(values)[0])
    raise ValueError(f"{_name(measure)} gives {wrong}, expected a number for each job, in the order of the jobs")


def _name(measure):
    return measure if isinstance(measure, str) else getattr(measure, "__name__", "measure")


def _unit(measure):
    """Return the unit of a measure; that of a function is not known."""
    return metrics.MEASURES.get(measure, ("", ""))[1] if isinstance(measure, str) else ""


def _ratio(x, y, confidence, left_out, unsettled):
    """Return the interval of mean(x) / mean(y): all r for which mean(x - r y) is compatible with 0."""
    top, bottom = (float(values.mean()) if values.size else nan for values in (x, y))
    if not (np.isfinite([top, bottom]).all() and bottom):
        return Interval(nan, nan, nan, confidence, 0, 0, left_out, ("no ratio: a mean is 0, infinite or missing",))
    ratio = top / bottom
    if unsettled:
        return Interval(ratio, nan, nan, confidence, 0, 0, left_out, unsettled)
    # The number of batches is chosen by the linear part of the ratio's error, on which the interval is based.
    batches, widened, notes = batching(x - ratio * y)
    size = x.size // batches
    if batches < 2:
        return Interval(ratio, nan, nan, confidence, batches, size, left_out, notes)
    scale = t_quantile((1 + confidence) / 2, batches - 1) ** 2 * widened / batches
    (xx, xy), (_, yy) = scale * np.cov(in_batches(x, batches), in_batches(y, batches))
    square = bottom**2 - float(yy)
    if square <= 0:
        notes = (*notes, "too short: the denominator may be 0, so the ratio may be anything")
        return Interval(ratio, -inf, inf, confidence, batches, size, left_out, notes)
    middle = top * bottom - float(xy)
    root = sqrt(max(middle**2 - square * (top**2 - float(xx)), 0.0))
    low, high = (middle - root) / square, (middle + root) / square
    return Interval(ratio, low, high, confidence, batches, size, left_out, notes)
