"""The Lublin-Feitelson model of rigid jobs: their arrivals, sizes and run times.

Three parts, each drawn for all jobs at once and from its own random streams, so that no job's numbers depend on another
job's redraws, and adding jobs leaves the first ones unchanged:

* *size*: serial with one probability, a power of two with another, otherwise any size; log2 of the size
  of a parallel job follows a two-stage uniform distribution;
* *run time*: exp of a hyper-gamma whose mixing probability falls with the size, so wide jobs run longer;
* *arrivals*: a job's gap is exp(gamma) seconds' worth of points, and each of the 48 half hours of the day
  costs points to pass: few at night, many at noon. So jobs arrive fastest around noon.

The authors' program steps from half hour to half hour, job by job. It carries unspent points and the rest of
the half hour over to the next job, so its clock is a function of all points paid so far: the inverse of the
running total of the half hours' weights. Here that inverse is computed for all jobs at once.

One departure: the program drops the fraction of a second at every job, so its printed times fall behind its
daily cycle by half a second a job: 1.4 hours after 10,000 jobs. Here the clock keeps its fractions, and only
the table holds whole seconds.

References
----------
U. Lublin, D. G. Feitelson: The workload on parallel supercomputers: modeling the characteristics of rigid
jobs. Journal of Parallel and Distributed Computing 63 (2003) 1105-1122.
"""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from schedlab._runtime.streams import Streams, entropy
from schedlab._runtime.text import suggestion

from .common import at_least_one, job_numbers, seconds_at

PUBLISHED_PROCS = 128  # of the machine that the published size limits describe (UHi = 7 of batch and typeless)

_BUCKETS = 48
_BUCKET_SECONDS = 1800
_CYCLE_START = 11  # the gamma of the daily cycle counts half hours, and its day begins with the 11th
_MAX_LOG_RUN = 12.0  # exp(12) s: just under two days
_MAX_LOG_GAP = 13.0  # exp(13) s: about five days


@dataclass(frozen=True)
class LublinClass:
    """Hold the parameters of one class of jobs, named as in the paper; gamma(a, b) has shape a, scale b and mean a b.

    - p_serial, p_power2: probability that a job needs one processor; that log2 of its size is rounded to an integer.
    - u_low, u_med, u_hi, u_prob: log2 of the size of a parallel job is uniform over [u_low, u_med] with probability
      `u_prob`, else over [u_med, u_hi].
    - a1, b1, a2, b2, pa, pb: log of the run time in seconds is gamma(a1, b1) with probability ``pa * size + pb``,
      clipped to [0, 1], else gamma(a2, b2).
    - aarr, barr, arar: log of the gap between arrivals, in seconds at the mean rate, is gamma(aarr * arar, barr).
      gamma(aarr, barr) describes the gaps of the rush hours; `arar` turns it into that of all hours.
    - anum, bnum: the daily cycle is gamma(anum, bnum) over half hours counted from 1 at midnight, cut to 11 .. 58.
    - queue: number for the jobs' `queue` column: 0 interactive, 1 batch, -1 unknown (as in SWF).

    A parameter outside its range is an error. So are gammas of which more than half of the draws would exceed the
    longest run time or gap (exp 12 and exp 13 seconds). The limits and the redraws are those of the authors' program.
    """

    p_serial: float
    p_power2: float
    u_low: float
    u_med: float
    u_hi: float
    u_prob: float
    a1: float
    b1: float
    a2: float
    b2: float
    pa: float
    pb: float
    aarr: float
    barr: float
    anum: float
    bnum: float
    arar: float
    queue: int = -1

    def __post_init__(self) -> None:
        for name, value in dataclasses.asdict(self).items():
            if not math.isfinite(value):
                raise ValueError(f"{name} must be finite, got {value}")
        for name in ("p_serial", "p_power2", "u_prob"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be between 0 and 1, got {getattr(self, name)}")
        if self.p_serial + self.p_power2 > 1:
            raise ValueError(f"p_serial + p_power2 must be at most 1, got {self.p_serial + self.p_power2}")
        if not 0 <= self.u_low <= self.u_med <= self.u_hi <= 60:
            limits = f"u_low={self.u_low}, u_med={self.u_med}, u_hi={self.u_hi}"
            raise ValueError(f"expected 0 <= u_low <= u_med <= u_hi <= 60, got {limits}")
        for name in ("a1", "b1", "a2", "b2", "aarr", "barr", "anum", "bnum", "arar"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be greater than 0, got {getattr(self, name)}")
        for label, shape, scale, limit in (
            ("a1, b1", self.a1, self.b1, _MAX_LOG_RUN),
            ("a2, b2", self.a2, self.b2, _MAX_LOG_RUN),
            ("aarr * arar, barr", self.aarr * self.arar, self.barr, _MAX_LOG_GAP),
        ):
            # The published sets redraw 0.7 % at most. If more than half were redrawn, this would no longer be the
            # model as described; if nearly all draws were too large, the redraws would not end.
            if _gamma_cdf(limit, shape, scale) < 0.5:
                most = f"the model's limit of {limit:g}, the log of its longest time in seconds"
                raise ValueError(f"{label}: more than half of gamma({shape:g}, {scale:g}) exceeds {most}")
        if not _cycle(self.anum, self.bnum).sum() > 0:
            law = f"gamma({self.anum:g}, {self.bnum:g})"
            raise ValueError(f"anum, bnum: {law} has no weight in the 48 half hours from {_CYCLE_START} on")

    def on_machine(self, procs: int) -> "LublinClass":
        """Return this class with its size limits set for a machine: UHi = log2(procs), UMed = UHi - 2.5.

        The rule leaves two cases open. At the published 128 processors, the class is returned as it is: batch keeps its
        fitted UMed = 5 (the rule would say 4.5), interactive its UHi = 5.5 (45 processors at most). If UHi - 2.5 falls
        below ULow (typeless: fewer than 10 processors; batch: fewer than 13), UMed is ULow, and with one processor all
        three are 0. So every machine works: on 2 processors jobs take 1 or 2.
        """
        procs = at_least_one("procs", procs)
        if procs == PUBLISHED_PROCS:
            return self
        u_hi = math.log2(procs)
        u_low = min(self.u_low, u_hi)
        return dataclasses.replace(self, u_low=u_low, u_med=max(u_hi - 2.5, u_low), u_hi=u_hi)


def lublin_feitelson(
    jobs: int = 10_000,
    machine: int = 256,
    seed: int | np.random.Generator = 0,
    classes: str | LublinClass | tuple[LublinClass, ...] = "typeless",
) -> pd.DataFrame:
    """Generate rigid jobs with the Lublin-Feitelson model: one row a job, sorted by submit time; all int64.

    `classes` is "typeless", one class fitted to all jobs together; "batch"; or "batch+interactive", two classes, each
    with its own arrival clock, merged by time: their sizes are set for the machine by `LublinClass.on_machine`. Classes
    passed as objects are used unchanged. The same seed gives the same table, and a table with more jobs begins with the
    same ones.

    Columns: ``submit_time``, seconds since midnight of the first day, rounded down, the first of which is not 0;
    ``run_time``, seconds, rounded to nearest, 1 to 162,755; ``requested_procs``, cut to those of the machine;
    ``queue``, 1 batch, 0 interactive, -1 typeless, where the authors' program prints 0. Index: `job_number`, from 1.

    The gaps do not depend on the machine, so the model does not set an offered load (typeless on 256 processors: about
    0.9, give or take 0.05 for 10,000 jobs). Rescale it afterwards. The authors' program rounds run times down, which
    makes them half a second shorter on average.
    """
    jobs = at_least_one("jobs", jobs)
    machine = at_least_one("machine", machine)
    chosen = _resolve(classes, machine)
    seed = entropy(seed)

    # It is not known yet how many of the first jobs each class sends, but none sends more than all of them.
    clocks = [_arrivals(cls, Streams(seed, i), jobs) for i, cls in enumerate(chosen)]
    clock_of = np.repeat(np.arange(len(chosen)), jobs)
    arrival = np.concatenate(clocks)
    if len(chosen) > 1:
        first = np.argsort(arrival, kind="stable")[:jobs]
        arrival, clock_of = arrival[first], clock_of[first]

    size = np.empty(jobs, np.int64)
    run_time = np.empty(jobs, np.int64)
    queue = np.empty(jobs, np.int64)
    for i, cls in enumerate(chosen):
        mine = clock_of == i
        streams = Streams(seed, i)
        sizes = _sizes(cls, streams, int(mine.sum()), machine)
        size[mine] = sizes
        run_time[mine] = _run_times(cls, streams, sizes)
        queue[mine] = cls.queue
    columns = {"submit_time": np.floor(arrival).astype(np.int64), "run_time": run_time, "requested_procs": size}
    return pd.DataFrame(columns | {"queue": queue}, index=job_numbers(jobs))


def _sizes(cls: LublinClass, streams: Streams, n: int, procs: int) -> np.ndarray:
    """Draw sizes, int64, shape (n,), 1 to `procs`."""
    kind = streams("size kind").random(n)
    low_stage = streams("size stage").random(n) < cls.u_prob
    place = streams("size place").random(n)
    low = cls.u_low + place * (cls.u_med - cls.u_low)
    v = np.where(low_stage, low, cls.u_med + place * (cls.u_hi - cls.u_med))
    v = np.where(kind < cls.p_serial + cls.p_power2, np.floor(v + 0.5), v)
    size = np.where(kind < cls.p_serial, 1.0, np.floor(np.exp2(v) + 0.5))
    return np.minimum(size, procs).astype(np.int64)


def _run_times(cls: LublinClass, streams: Streams, size: np.ndarray) -> np.ndarray:
    """Draw run times in whole seconds, int64, shape (n,), given the sizes."""
    p = np.clip(cls.pa * size + cls.pb, 0, 1)

    def log_run(again: int, n: int) -> np.ndarray:
        # Both gammas are drawn for every job, and one is thrown away. If only the chosen one were drawn, a job's
        # number would depend on the choices of all jobs before it.
        return np.where(
            streams("run mixture", again).random(n) < p[:n],
            streams("run first", again).gamma(cls.a1, cls.b1, n),
            streams("run second", again).gamma(cls.a2, cls.b2, n),
        )

    # exp of a positive number: never below 1 s.
    return np.rint(np.exp(_redrawn(log_run, size.size, _MAX_LOG_RUN))).astype(np.int64)


def _arrivals(cls: LublinClass, streams: Streams, n: int) -> np.ndarray:
    """Draw arrival times, float64, shape (n,), seconds since midnight, non-decreasing."""

    def log_gap(again: int, n: int) -> np.ndarray:
        return streams("gap", again).gamma(cls.aarr * cls.arar, cls.barr, n)

    log_gaps = _redrawn(log_gap, n, _MAX_LOG_GAP)
    cycle = _cycle(cls.anum, cls.bnum)
    return seconds_at(np.cumsum(np.exp(log_gaps) / _BUCKET_SECONDS), cycle / cycle.mean())


def _cycle(anum: float, bnum: float) -> np.ndarray:
    """Return gamma(anum, bnum)'s probability of each half hour, midnight first, float64, shape (48,)."""
    edges = np.arange(_CYCLE_START, _CYCLE_START + _BUCKETS + 1) - 0.5
    mass = np.diff([_gamma_cdf(edge, anum, bnum) for edge in edges])
    # The fit counts half hours from 1, so the 11th is bucket 10; those past midnight wrap around to bucket 0.
    return np.roll(mass, _CYCLE_START - 1)


def _redrawn(draw: Callable[[int, int], np.ndarray], n: int, limit: float) -> np.ndarray:
    """Draw n values and replace those above `limit` until none is left.

    ``draw(again, m)`` returns the first m values of round `again`. A value is replaced by the one at the same
    position of the next round, so it depends neither on other values' redraws nor on the number of jobs.
    """
    values = draw(0, n)
    again = 0
    while (over := np.flatnonzero(values > limit)).size:
        again += 1
        values[over] = draw(again, over[-1] + 1)[over]
    return values


def _resolve(classes: str | LublinClass | tuple[LublinClass, ...], procs: int) -> tuple[LublinClass, ...]:
    if isinstance(classes, str) and classes in _PUBLISHED:
        return tuple(cls.on_machine(procs) for cls in _PUBLISHED[classes])
    if isinstance(classes, LublinClass):
        return (classes,)
    if isinstance(classes, tuple | list) and classes and all(isinstance(c, LublinClass) for c in classes):
        return tuple(classes)
    known = f"{', '.join(sorted(_PUBLISHED))}, or a LublinClass, or a tuple of them{suggestion(classes, _PUBLISHED)}"
    raise ValueError(f"unknown classes {classes!r}; known: {known}")


def _gamma_cdf(x: float, shape: float, scale: float) -> float:
    """Return gamma(shape, scale)'s cumulative probability at x: the regularized lower incomplete gamma function.

    By its power series below the mean (Abramowitz and Stegun, 6.5.29), and above it, where that would under- and
    overflow, by the even part of the continued fraction 6.5.31 with Lentz's method (Applied Optics 15 (1976) 668-671).
    The error is below 1e-11 for shapes up to 1,000. With some fifty points a class, the package does without scipy.
    """
    x = x / scale
    if x <= 0:
        return 0.0
    front = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1:
        term = total = 1 / shape
        k = shape
        while term > total * 1e-17:
            k += 1
            term *= x / k
            total += term
        return front * total
    b = x + 1 - shape
    c = math.inf
    d = fraction = 1 / b
    for k in range(1, 100_000):
        a = k * (shape - k)
        b += 2
        d = 1 / (b + a * d)
        c = b + a / c
        fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return 1 - front * fraction


# The published parameter sets, for a machine of 128 processors.
BATCH = LublinClass(
    p_serial=0.2927, p_power2=0.6686, u_low=1.2, u_med=5, u_hi=7, u_prob=0.875,
    a1=6.57, b1=0.823, a2=639.1, b2=0.0156, pa=-0.003, pb=0.6986,
    aarr=6.0415, barr=0.8531, anum=6.1271, bnum=5.2740, arar=1.0519, queue=1,
)  # fmt: skip

INTERACTIVE = LublinClass(
    p_serial=0.1541, p_power2=0.625, u_low=1, u_med=3, u_hi=5.5, u_prob=0.705,
    a1=3.8351, b1=0.6605, a2=7.073, b2=0.6856, pa=-0.0118, pb=0.9156,
    aarr=6.5510, barr=0.6621, anum=8.9186, bnum=3.6680, arar=0.9797, queue=0,
)  # fmt: skip

TYPELESS = LublinClass(
    p_serial=0.244, p_power2=0.576, u_low=0.8, u_med=4.5, u_hi=7, u_prob=0.86,
    a1=4.2, b1=0.94, a2=312, b2=0.03, pa=-0.0054, pb=0.78,
    aarr=10.2303, barr=0.4871, anum=8.1737, bnum=3.9631, arar=1.0225,
)  # fmt: skip

_PUBLISHED = {"typeless": (TYPELESS,), "batch": (BATCH,), "batch+interactive": (BATCH, INTERACTIVE)}
