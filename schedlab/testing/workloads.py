"""Workloads for checks: tiny ones full of ties, and realistic ones with times of hours and days and deep queues."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from math import ceil
from typing import NamedTuple

import numpy as np
import pandas as pd

from schedlab.machine import Flat
from schedlab.schemes import Case, Jobs
from schedlab.workload.columns import Columns
from schedlab.workload.conventions import KEEP, OVERRUN
from schedlab.workload.loading import load_trace
from schedlab.workload.swf import FIELDS, Header
from schedlab.workload.trace import Trace

NAME = "a test"
COLUMNS = pd.Index(FIELDS[1:])
SUBMIT, RUN, ESTIMATE, PROCS = range(4)  # columns of `Workload.rows`

# Tiny workloads: small numbers make ties.
MOST_JOBS, MOST_PROCS = 12, 6
WHO = 4 * MOST_JOBS  # rows of other columns that their jobs take
LATEST, LONGEST = 6, 4  # seconds
OVERS = (0, 0, 1, 3, 8)  # seconds by which estimates exceed run times
UNDERS = (-1, -3)  # the same for some jobs that outlive their estimates

HOUR, DAY, WEEK = 3_600, 86_400, 604_800
# Estimates that users ask for, and how often: Tsafrir et al., JSSPP 2005, find that few values make up most requests.
POPULAR = 60 * np.array([1, 5, 15, 60, 120, 240, 360, 720, 1_080, 1_440, 2_880, 10_080, 14_400])
SHARES = np.array([6, 8, 16, 18, 10, 12, 5, 10, 5, 6, 2, 1, 1]) / 100
LATE = 2**31 - 5 * HOUR  # seconds; the clock of a late workload passes 2**31
LOADS = (1.2, 0.7, 1.05, 0.9)
# What is drawn, on how many processors (few are powers of two); what finds most comes first.
KINDS = (
    ("burst", 100),
    ("late", 37),
    ("steady", 1_000_000),
    ("log", 100),
    ("steady", 10),
    ("burst", 40_961),
    ("steady", 430),
    ("late", 70_001),
    ("steady", 5_004),
    ("burst", 1_000_000),
    ("steady", 1_000),
    ("steady", 37),
    ("crowd", 600),
)
# Jobs: for kernels, for Python. The crowd is beyond 256 running and 1,000 waiting jobs.
LENGTHS = {"burst": (850, 330), "steady": (160, 60), "late": (160, 60), "log": (400, 120), "crowd": (1_600, 1_600)}
MANY = 4_096  # jobs that have columns of their own


class Job(NamedTuple):
    """A job of a test; times in seconds."""

    submit: int
    run: int
    estimate: int
    procs: int


def trace_of(jobs: Sequence[tuple[int, int, int, int]], machine: int, name: str = NAME) -> Trace:
    """Make a trace of jobs with any run times: zero ones are not dropped.

    Parameters
    ----------
    jobs : sequence of (submit, run, estimate, procs)
        In seconds and processors; numbered from 1 in this order.
    machine : int
        Processors of the machine.
    name : str
        Name of the trace.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.testing.trace_of([(0, 50, 60, 3), (10, 30, 30, 4), (20, 40, 40, 1), (30, 0, 10, 1)], machine=4)
    >>> schedule = sl.simulate(trace, "easy")
    >>> schedule.jobs["start_time"].tolist()
    [0, 60, 20, 50]
    >>> chart = sl.charts.gantt(schedule, color="job_number", label="job_number", height=160)
    """
    jobs = np.array(jobs, dtype="int64").reshape(-1, 4)
    order = np.argsort(jobs[:, 0], kind="stable")
    submit, run, estimate, width = jobs[order].T
    known = {
        "submit_time": submit,
        "run_time": run,
        "requested_time": estimate,
        "requested_procs": width,
        "allocated_procs": width,
        "status": np.ones_like(order),
    }
    unknown = np.full_like(order, -1)
    values = np.array([known.get(field, unknown) for field in COLUMNS])
    table = pd.DataFrame(values.T, pd.Index(order + 1, name="job_number"), COLUMNS)
    return _trace(table, name, machine)


def _trace(table, name, procs):
    nothing = table.iloc[:0]
    area = table["run_time"] * table["requested_procs"]
    return Trace(table, name, procs, Header(), "model", nothing, nothing, area)


@cache
def numbered(n_jobs: int) -> Columns:
    """Return columns for this many jobs: few different numbers for tiny workloads, hundreds for realistic ones."""
    numbers = np.arange(n_jobs)
    many = np.where(numbers < WHO, 1, 20)
    return Columns(pd.DataFrame({name: numbers * (7 + i) % (many * (3 + 2 * i)) for i, name in enumerate(FIELDS[1:])}))


@lru_cache(maxsize=2_048)
def _rows_of_columns(n_jobs, names):
    """Return a table whose columns have the right names; `Columns` takes the numbers from elsewhere."""
    return pd.DataFrame(0, range(n_jobs), pd.Index(names))


@dataclass(frozen=True, eq=False)
class Workload:
    """Jobs for a check, with everything else that a scheme can see of them.

    Attributes
    ----------
    rows : int64, shape (n_jobs, 4)
        Submission, run time and estimate in seconds, and processors, in the order of arrival; the first is submitted
        at 0. A run time may exceed the estimate.
    procs : int
        Processors of the machine.
    overrun : str
        As in `schedlab.simulate`.
    numbers : int64, shape (n_jobs,)
        Job numbers. Default: from 1.
    who : int64, shape (n_jobs,)
        Which row of `of` the other columns of a job come from; it keeps them when jobs before it are left out.
    origin : int, seconds
        The first submission on the clock of the log: it counts in the column ``submit_time`` only.
    of : Columns
        Values of the other columns.
    """

    rows: np.ndarray
    procs: int
    overrun: str = "kill"
    numbers: np.ndarray | None = None
    who: np.ndarray | None = None
    origin: int = 0
    of: Columns | None = None

    machine = None  # the machine of `PoolWorkload`

    def __post_init__(self):
        counted = np.arange(len(self))
        for name, value in (("numbers", counted + 1), ("who", counted), ("of", numbered(MANY))):
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.rows)

    def some(self, jobs: np.ndarray) -> "Workload":
        """Return the workload with only some of the jobs, by their places or as a mask."""
        return replace(self, rows=self.rows[jobs], numbers=self.numbers[jobs], who=self.who[jobs]).from_zero()

    def from_zero(self) -> "Workload":
        """Return the workload with its jobs in the order of arrival, the first submitted at 0."""
        order = np.argsort(self.rows[:, SUBMIT], kind="stable")
        rows = self.rows[order]
        rows[:, SUBMIT] -= rows[0, SUBMIT]
        return replace(self, rows=rows, numbers=self.numbers[order], who=self.who[order])

    def after(self, past: "Workload", instant: int) -> "Workload":
        """Return the jobs of another workload, and from an instant on (seconds) these; columns, settings are of these.

        The jobs of the other workload get new numbers.
        """
        moved = self.rows + np.array([instant, 0, 0, 0])
        new = self.numbers.max() + 1 + np.arange(len(past))
        return replace(
            self,
            rows=np.concatenate([past.rows, moved]),
            numbers=np.concatenate([new, self.numbers]),
            who=np.concatenate([past.who, self.who]),
        )

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The columns of the jobs as a trace has them, by name."""
        submit, run, estimate, procs = self.rows.T.copy()
        columns = {"submit_time": submit + self.origin, "run_time": run, "requested_time": estimate}
        columns |= {"requested_procs": procs, "allocated_procs": procs}
        rows = self.who % len(self.of.table)
        return {name: columns[name] if name in columns else self.of[name][rows] for name in self.of.table.columns}

    @cached_property
    def case(self) -> Case:
        """The case that a scheme simulates, made in a hundredth of the time that a trace takes."""
        submit, run, estimate, procs = self.rows.T.copy()
        late = run > estimate
        if self.overrun == "kill":
            run = np.minimum(run, estimate)
        elif self.overrun == "extend":
            estimate = np.maximum(run, estimate)
        cut = late if self.overrun == "kill" else np.zeros_like(late)
        columns = columns_of(self.columns)
        jobs, numbers = Jobs(submit, run, estimate, procs), pd.Index(self.numbers)
        case = Case(jobs, Flat(self.procs), self.overrun, cut=cut, columns=columns, name=NAME, numbers=numbers)
        object.__setattr__(self, "_jobs", copied(case).jobs)
        return case

    def spoiled(self) -> str | None:
        """Say how a scheme has changed the case; if it has, the next simulation gets a new one."""
        case = self.__dict__.get("case")
        change = None if case is None else changed_input(case, self._jobs)
        if change:
            self.__dict__.pop("case", None)
        return change

    def trace(self) -> Trace:
        """Return the workload as a trace."""
        table = pd.DataFrame(self.columns, pd.Index(self.numbers, name="job_number"))
        return _trace(table, NAME, self.procs)

    def __str__(self) -> str:
        rows = pd.DataFrame(self.rows, columns=["submit", "run", "estimate", "procs"])
        rows.insert(0, "job", self.numbers)
        machine = f"on {self.procs:,} processor{'s' * (self.procs > 1)}"
        rule = f", overrun {self.overrun}" if self.overrun != "kill" else ""
        more = f"\n... {len(rows):,} jobs in all" if len(rows) > 30 else ""
        return f"{machine}{rule}:\n{rows.head(30).to_string(index=False)}{more}"


def columns_of(numbers: dict[str, np.ndarray]) -> Columns:
    """Return columns with these numbers, by name; each has shape (n_jobs,)."""
    (n_jobs,) = next(iter(numbers.values())).shape
    return Columns(_rows_of_columns(n_jobs, tuple(numbers)), _made=dict(numbers))


def copied(case: Case) -> Case:
    """Return the case with jobs of its own, which a scheme may change without harm to others."""
    return replace(case, jobs=Jobs(*(column.copy() for column in case.jobs)))


def changed_input(case: Case, jobs: Jobs) -> str | None:
    """Say which number of the jobs of a simulated case is not what it was before."""
    for name, before, after in zip(Jobs._fields, jobs, case.jobs, strict=True):
        if not np.array_equal(before, after):
            place = np.flatnonzero(before != after)[0]
            change = f"{name} of job {case.number(place)} from {before[place]:,} to {after[place]:,}"
            return f"changes its input: {change}; work on a copy: case.jobs.{name}.copy()"
    return None


# Draws --------------------------------------------------------------------------------------------------------------


def tiny(count: int, overruns: Sequence[str] = ("kill",), of: Columns | None = None, seed: int = 1) -> list[Workload]:
    """Draw so many tiny workloads, under these rules for jobs that outlive their estimates.

    `of` has the values of the other columns.
    """
    random, drawn = np.random.default_rng(seed), []
    for place in range(count):
        procs, n_jobs = int(random.integers(1, MOST_PROCS + 1)), random.integers(1, MOST_JOBS + 1)
        submit = np.sort(random.integers(0, LATEST + 1, n_jobs))
        run = random.integers(0, LONGEST + 1, n_jobs)
        estimate = run + random.choice(OVERS, n_jobs)
        width = np.where(random.random(n_jobs) < 0.2, procs, random.integers(1, procs + 1, n_jobs))
        overrun = overruns[place // 2 % len(overruns)]
        if place % 2 and len(overruns) > 1:  # some jobs outlive their estimates in every other workload
            late = random.random(n_jobs) < 0.3
            estimate = np.where(late, np.maximum(run + random.choice(UNDERS, n_jobs), np.minimum(run, 1)), estimate)
        numbers = random.permutation(50 * n_jobs)[:n_jobs] + 1 if place % 4 == 3 else None
        rows = np.column_stack([submit - submit[0], run, estimate, width])
        drawn.append(Workload(rows, procs, overrun, numbers, random.permutation(WHO)[:n_jobs], of=of))
    return drawn


def realistic(
    effort: float,
    fast: bool,
    overruns: Sequence[str] = ("kill",),
    of: Columns | None = None,
    trace: Trace | None = None,
) -> Iterator[Workload]:
    """Draw realistic workloads: 13 for an effort of 1, twice as many for twice the effort.

    If the scheme is not as fast as a kernel, each has fewer jobs. Slices are taken of `trace`, by default of the
    stand-in of KTH-SP2, even where the log is at hand. The rest is as in `tiny`.
    """
    for place in range(ceil(effort * len(KINDS))):
        kind, procs = KINDS[place % len(KINDS)]
        random = np.random.default_rng([7, place])
        n_jobs, load = LENGTHS[kind][0 if fast else 1], LOADS[place % len(LOADS)]
        if kind == "log":
            rows, procs = _slice(_log() if trace is None else trace, n_jobs, random)
        else:
            draw = {"burst": _burst, "late": _late, "steady": _steady, "crowd": _crowd}[kind]
            rows = draw(random, n_jobs, procs, load)
        numbers = random.permutation(20 * n_jobs)[: len(rows)] + 1  # shuffled and sparse
        who, origin = random.integers(0, MANY, len(rows)), int(random.integers(DAY, 30 * DAY))
        yield Workload(rows, procs, overruns[place % len(overruns)], numbers, who, origin, of)


def _lengths(random, n_jobs):
    """Draw run times and popular estimates; some jobs end at once, at their estimate, or not even then.

    One estimate in four is not popular: any number of seconds, or a popular one but for a few.
    """
    estimate = random.choice(POPULAR, n_jobs, p=SHARES)
    kind, few = random.random(n_jobs), random.integers(-9, 10, n_jobs)
    estimate = np.select([kind < 0.1, kind < 0.25], [random.integers(1, estimate + 1), estimate + few], estimate)
    part = random.random(n_jobs) ** 2
    kind = random.random(n_jobs)
    part = np.select([kind < 0.12, kind < 0.2, kind < 0.3], [1.0, 0.0, 1.0 + part], part)
    return (part * estimate).astype("int64"), estimate


def _widths(random, n_jobs, procs):
    """Draw processors: of any order of magnitude, few of them powers of two, and now and then the whole machine."""
    width = np.floor(float(procs) ** random.random(n_jobs)).astype("int64")
    kind = random.random(n_jobs)
    two = 2 ** np.floor(np.log2(np.maximum(width, 1))).astype("int64")
    return np.clip(np.select([kind < 0.2, kind < 0.24, kind < 0.28], [two, procs, procs // 2 + 1], width), 1, procs)


def _steady(random, n_jobs, procs, load):
    """Draw jobs that arrive one by one and several at once, with an offered load."""
    run, estimate = _lengths(random, n_jobs)
    width = _widths(random, n_jobs, procs)
    gap = np.where(random.random(n_jobs) < 0.3, 0.0, random.exponential(size=n_jobs))
    gap[0] = 0
    submit = np.cumsum(gap) / gap.sum()
    span = (np.minimum(run, estimate) * width).sum() / (load * procs)
    return np.column_stack([(submit * span).astype("int64"), run, estimate, width])


def _burst(random, n_jobs, procs, load):
    """Draw hundreds of jobs that wait at once, wide ones first: all arrive within hours, behind two long ones."""
    run, estimate = _lengths(random, n_jobs)
    width = np.minimum(_widths(random, n_jobs, procs), procs // 3 + 1)
    wide = (np.arange(n_jobs) < 0.85 * n_jobs) & (random.random(n_jobs) < 0.97)
    width = np.where(wide, random.integers(procs // 3 + 1, procs * 5 // 6 + 1, n_jobs), width)
    short = ~wide & (random.random(n_jobs) < 0.3)
    run, estimate, width = np.where(short, [run % 60, estimate * 0 + 60, width * 0 + 1], [run, estimate, width])
    submit = np.sort(random.integers(0, 3 * HOUR, n_jobs))
    submit[:2], run[:2], estimate[:2], width[:2] = 0, 4 * HOUR, 6 * HOUR, (procs // 2, procs - procs // 2 - procs // 50)
    return np.column_stack([submit, run, estimate, width])


def _crowd(random, n_jobs, procs, load):
    """Draw over a thousand jobs, most of them serial, that arrive at a few instants and end at few more."""
    estimate = random.choice([1, 8, 16, 48], n_jobs) * (HOUR // 4)
    run = np.where(random.random(n_jobs) < 0.3, estimate // 2, estimate)
    estimate += random.integers(-9, 10, n_jobs) * (random.random(n_jobs) < 0.7)
    kind = random.random(n_jobs)
    width = np.select([kind < 0.01, kind < 0.1], [random.integers(procs // 20, procs // 4, n_jobs), 2], 1)
    submit = np.sort(random.integers(0, 10, n_jobs)) * 300
    return np.column_stack([submit - submit[0], run, estimate, width])


def _late(random, n_jobs, procs, load):
    """Draw jobs of which all but the first are submitted when the clock is about to pass 2**31."""
    rows = _steady(random, n_jobs, procs, load)
    rows[0] = 0, 60, 60, 1
    rows[1:, SUBMIT] += LATE
    return rows


@cache
def _log():
    return load_trace("KTH-SP2-1996", standin=True)


def _slice(trace, n_jobs, random):
    """Return jobs of a log that follow one another, at an offered load of 1.2, and the processors of its machine."""
    first = int(random.integers(0, max(1, len(trace) - n_jobs)))
    table = trace.table.iloc[first : first + n_jobs]
    rows = table[["submit_time", "run_time", "requested_time", "requested_procs"]].to_numpy("int64", copy=True)
    rows[:, SUBMIT] -= rows[0, SUBMIT]
    if (span := rows[-1, SUBMIT]) > 0:
        shorter = (rows[:, RUN] * rows[:, PROCS]).sum() / (1.2 * trace.procs) / span
        rows[:, SUBMIT] = (rows[:, SUBMIT] * shorter).astype("int64")
    return rows, trace.procs


def overruns_of(*schemes) -> tuple[str, ...]:
    """Return the rules for jobs that outlive their estimates that all of these schemes support."""
    return tuple(rule for rule in OVERRUN if all(rule in scheme.overruns for scheme in schemes))


class Coverage:
    """What the simulated workloads contain, for the report."""

    def __init__(self):
        self.count = self.waiting = self.jobs = self.procs = self.wide = 0
        self.span = self.clock = self.load = 0
        self.overruns = []

    def add(self, workload: Workload, start: np.ndarray) -> None:
        """Count a workload, with the starts under the scheme."""
        submit, run, _, procs = workload.case.jobs.submit, *workload.case.jobs[1:]
        self.count += 1
        self.jobs = max(self.jobs, len(workload))
        time = np.concatenate([submit, start])
        change = np.repeat([1, -1], len(submit))
        self.waiting = max(self.waiting, int(np.cumsum(change[np.lexsort((change, time))]).max(initial=0)))
        self.procs = max(self.procs, workload.procs)
        self.clock = max(self.clock, int((start + run).max()))
        busy = submit > LATE - HOUR if len(submit) > 1 and submit[1] > LATE - HOUR else np.ones(len(submit), bool)
        span = int(submit[-1] - submit[busy][0])
        self.span = max(self.span, int((start + run)[busy].max() - submit[busy][0]))
        if span > DAY:  # of jobs that arrive at once, no load can be told
            self.load = max(self.load, float((run * procs)[busy].sum() / (span * workload.procs)))
        if workload.overrun not in self.overruns:
            self.overruns.append(workload.overrun)

    def __str__(self) -> str:
        if not self.count:
            return "no workload"
        span = f"{self.span / DAY:,.0f} days" if self.span > 2 * DAY else f"{self.span:,} s"
        clock = ["clocks beyond 2**31 s"] if self.clock > 2**31 else []
        load = [f"loads up to {self.load:.2f}"] if self.load else []
        rules = [rule for rule in (*OVERRUN, KEEP) if rule in self.overruns]
        rules = f"overrun {', '.join(dict.fromkeys(rules))}"
        jobs = f"{self.count:,} workloads of up to {self.jobs:,} jobs, {self.waiting:,} waiting at once"
        return ", ".join([jobs, span, f"{self.procs:,} processors", *load, *clock, rules])
