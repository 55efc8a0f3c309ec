"""Downey's workload of moldable jobs: their work, their parallelism and their arrivals.

Four quantities, each drawn for all jobs at once and from its own random stream:

* *work*, the run time on one processor: log-uniform, so that P(work < t) grows with log t;
* *average parallelism* A: log-uniform from 1 to the size of the machine;
* *variance of the parallelism* sigma: uniform from 0 to 2;
* *arrivals*: a Poisson process whose day has two parts of twelve hours, each with its own rate.

A and sigma determine the job's speedup S (`schedlab.workload.speedup`). A moldable job has no size of its own. For
simulators of rigid jobs it asks for A processors, rounded to nearest and at most the machine's, and its run time is
work / S(size).

The paper's own numbers for work and rates were not available. The defaults are this package's choice; pass others as
parameters.

References
----------
A. B. Downey: A parallel workload model and its implications for processor allocation. Cluster Computing 1 (1998)
133-145.
"""

import numpy as np
import pandas as pd

from schedlab._runtime.streams import Streams, entropy
from schedlab._runtime.text import spelt
from schedlab.workload.speedup import downey_speedup

from .common import at_least_one, job_numbers, seconds_at, whole_seconds

_HALF_DAY = 43_200
_HOUR = 3_600


def downey(
    jobs: int = 10_000,
    machine: int = 256,
    seed: int | np.random.Generator = 0,
    work: tuple[float, float] = (10.0, 1e6),
    rates: tuple[float, float] = (12.0, 4.0),
    sigma: tuple[float, float] = (0.0, 2.0),
) -> pd.DataFrame:
    """Generate moldable jobs with Downey's model: one row a job, sorted by submit time, index `job_number` from 1.

    `work` has the least and the most work of a job, in processor-seconds; `rates` the arrivals per hour in the first
    and in the second twelve hours of the day, one of which may be 0; `sigma` the least and the most variance of the
    parallelism. The same seed gives the same table, and a table with more jobs begins with the same ones.

    Columns: ``submit_time``, seconds since the start of the first half of the first day, rounded down; ``run_time``,
    seconds on ``requested_procs`` processors, rounded to nearest, at least 1; ``requested_procs``, the parallelism,
    rounded to nearest, at most `machine`; and, float64, ``work``, the seconds on one processor, ``parallelism`` and
    ``sigma``.

    With the defaults, 256 processors are offered a load of about 1. A job occupies work x n / S(n) processor-seconds,
    more than its work.
    """
    jobs = at_least_one("jobs", jobs)
    machine = at_least_one("machine", machine)
    least, most = _interval("work", work)
    if least <= 0:
        raise ValueError(f"work must begin above 0, got {least:g}")
    low, high = _interval("sigma", sigma)
    if low < 0:
        raise ValueError(f"sigma must begin at 0 or above, got {low:g}")
    half_days = _jobs_by_half_day(rates)
    streams = Streams(entropy(seed), 0)

    drawn_work = _log_uniform(streams("work").random(jobs), least, most)
    parallelism = _log_uniform(streams("parallelism").random(jobs), 1, machine)
    drawn_sigma = low + (high - low) * streams("sigma").random(jobs)
    size = np.minimum(np.rint(parallelism), machine)
    run_time = np.rint(drawn_work / downey_speedup(size, parallelism, drawn_sigma))
    submit_time = seconds_at(np.cumsum(streams("gap").exponential(size=jobs)), half_days)
    columns = {
        "submit_time": whole_seconds(np.floor(submit_time)),
        "run_time": whole_seconds(np.maximum(run_time, 1)),
        "requested_procs": size.astype(np.int64),
    }
    columns |= {"work": drawn_work, "parallelism": parallelism, "sigma": drawn_sigma}
    return pd.DataFrame(columns, index=job_numbers(jobs))


def fit_downey(trace) -> dict[str, tuple[float, float]]:
    """Fit the work and the rates of Downey's model to a log: arguments of ``model_trace("downey", **fit)``.

    A log of rigid jobs does not show the parallelism of a job; it and sigma stay those of the model.

    Parameters
    ----------
    trace : Trace, or DataFrame with its columns
        The log: at least a day, run times above 0, and jobs of at least two amounts of work.

    Notes
    -----
    Work is run time x S if the table has ``parallelism`` and ``sigma``. Otherwise it is run time x processors, as if
    speedup were linear, which overestimates the work. Its bounds are those of the log-uniform law whose logarithm has
    the same mean and variance; the least and the most work of a log belong to single, unusual jobs. The first half of
    the day is the twelve hours, starting at a whole hour of the log's clock, in which most jobs arrived.

    Examples
    --------
    >>> from schedlab.workload.models.downey import downey, fit_downey
    >>> least, most = fit_downey(downey(20_000, work=(1e3, 1e6)))["work"]
    >>> 900 < least < 1100, 9e5 < most < 1.1e6
    (True, True)
    """
    table = getattr(trace, "jobs", trace)
    submit = table["submit_time"].to_numpy(np.float64)
    span = np.ptp(submit) if submit.size else 0
    if span < 2 * _HALF_DAY:
        raise ValueError(f"a log of a day or more is needed to fit two rates, got {submit.size} jobs in {span:g} s")
    work = _work(table)
    if not work.min() > 0:
        raise ValueError(f"job {table.index[np.argmin(work)]} has no work, expected run time and processors above 0")
    log_work = np.log(work)
    half = np.sqrt(3) * log_work.std()  # a uniform law's variance is its width squared / 12
    if half == 0:
        raise ValueError("all jobs are of the same work, expected at least two different ones")
    middle = log_work.mean()
    return {"work": (float(np.exp(middle - half)), float(np.exp(middle + half))), "rates": _rates(submit)}


def _work(table):
    """Return the jobs' work, float64, shape (n,), processor-seconds."""
    run_time, procs = (table[column].to_numpy(np.float64) for column in ("run_time", "requested_procs"))
    if "parallelism" not in table:
        return run_time * procs
    return run_time * downey_speedup(procs, table["parallelism"], table["sigma"])


def _rates(submit):
    """Return the arrivals per hour in the busiest twelve hours of the day and in the other twelve."""
    hour = (submit // _HOUR % 24).astype(np.int64)
    by_hour = np.bincount(hour, minlength=24)
    in_window = np.array([np.roll(by_hour, -begin)[:12].sum() for begin in range(24)])
    begin = int(np.argmax(in_window))
    # The part of the log's span, from the first to the last submission, inside those twelve hours of each day.
    ends = np.array([submit.min(), submit.max()]) - begin * _HOUR
    days, rest = np.divmod(ends, 2 * _HALF_DAY)
    inside = float(np.diff(days * _HALF_DAY + np.minimum(rest, _HALF_DAY))[0])
    outside = float(np.diff(ends)[0]) - inside
    busy = int(in_window[begin])
    return busy / inside * _HOUR, (len(submit) - busy) / outside * _HOUR


def _jobs_by_half_day(rates):
    """Check two rates per hour; return the expected number of jobs in each half of a day."""
    try:
        first, second = (float(rate) for rate in rates)
    except (TypeError, ValueError):
        raise ValueError(f"rates must be two numbers, got {spelt(rates)}") from None
    if not (0 <= first < np.inf and 0 <= second < np.inf and 0 < (first + second) * 12 < np.inf):
        raise ValueError(f"rates must be at least 0, finite and not both 0, got {first:g} and {second:g}")
    return first * 12, second * 12


def _log_uniform(uniform, least, most):
    """Turn numbers uniform in [0, 1) into log-uniform ones in [least, most)."""
    return least * (most / least) ** uniform


def _interval(name, bounds):
    try:
        least, most = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be two numbers, least and most, got {spelt(bounds)}") from None
    if not (np.isfinite(least) and np.isfinite(most) and least <= most):
        raise ValueError(f"{name} must be two finite numbers, least and most, got {least:g} and {most:g}")
    return least, most
