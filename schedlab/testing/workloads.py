"""Small workloads that are hard to get right: full of ties, zero run times, full-width jobs and early ends."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from schedlab.machine import Flat
from schedlab.schemes import Case, Jobs
from schedlab.workload.columns import Columns
from schedlab.workload.swf import FIELDS, Header
from schedlab.workload.trace import Trace

NAME = "a test"
COLUMNS = pd.Index(FIELDS[1:])
MOST_JOBS, MOST_PROCS = 12, 6
LATEST, LONGEST = 6, 4  # seconds; small numbers make ties
OVERS = (0, 0, 1, 3, 8)  # seconds by which estimates exceed run times


class Job(NamedTuple):
    """A job of a test.

    Attributes
    ----------
    submit, run, estimate : int, seconds
    procs : int
    """

    submit: int
    run: int
    estimate: int
    procs: int


def trace_of(jobs: Sequence[tuple[int, int, int, int]], procs: int, name: str = NAME) -> Trace:
    """Make a trace of jobs with any run times: zero ones are not dropped.

    Parameters
    ----------
    jobs : sequence of (submit, run, estimate, procs)
        In seconds and processors; numbered from 1 in this order.
    procs : int
        Processors of the machine.
    name : str
        Name of the trace.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.testing.trace_of([(0, 50, 60, 3), (10, 30, 30, 4), (20, 40, 40, 1), (30, 0, 10, 1)], procs=4)
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
    nothing = table.iloc[:0]
    area = pd.Series(run * width, table.index)
    return Trace(table, name, procs, Header(), "model", nothing, nothing, area)


def case_of(jobs: Sequence[Job], procs: int, again: int = 1) -> Case:
    """Make a case of jobs directly, without a trace, in a hundredth of the time.

    Parameters
    ----------
    jobs : sequence of Job
        In the order of arrival.
    procs : int
        Processors of the machine.
    again : int
        How many times the same jobs follow one another; this determines their columns.
    """
    own = Jobs(*(np.ascontiguousarray(column) for column in np.array(jobs, dtype="int64").T))
    columns = numbered(MOST_JOBS).of(np.arange(len(jobs)) % (len(jobs) // again))
    return Case(own, Flat(procs), columns=columns.with_numbers(run_time=own.run), name=NAME)


@cache
def numbered(n_jobs: int) -> Columns:
    """Return columns for this many jobs, each with a few different numbers.

    Parameters
    ----------
    n_jobs : int
    """
    numbers = np.arange(n_jobs)
    return Columns(pd.DataFrame({name: numbers * (7 + i) % (3 + 2 * i) for i, name in enumerate(FIELDS[1:])}))


def random_workloads(count: int, seed: int = 1):
    """Draw workloads.

    Parameters
    ----------
    count : int
        How many to draw.
    seed : int
        Seed of the random draws.

    Yields
    ------
    jobs : list of Job
    procs : int
    """
    random = np.random.default_rng(seed)
    for _ in range(count):
        procs, n_jobs = int(random.integers(1, MOST_PROCS + 1)), random.integers(1, MOST_JOBS + 1)
        submit = np.sort(random.integers(0, LATEST + 1, n_jobs))
        run = random.integers(0, LONGEST + 1, n_jobs)
        estimate = run + random.choice(OVERS, n_jobs)
        width = np.where(random.random(n_jobs) < 0.2, procs, random.integers(1, procs + 1, n_jobs))
        yield (
            [Job(*row) for row in zip(*(each.tolist() for each in (submit, run, estimate, width)), strict=True)],
            int(procs),
        )
