"""Small workloads for hypothesis: full of ties, zero run times, full-machine jobs and estimates of all kinds."""

from contextlib import nullcontext
from dataclasses import replace
from functools import lru_cache
from math import gcd, prod
from unittest import mock

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from twins import Job

from schedlab.machine import Flat
from schedlab.schemes import Case, Jobs, rigid
from schedlab.testing import trace_of  # noqa: F401 - tests take it from here

# Making a strategy takes longer than drawing from it, so `draw` always gets the same ones.
once = lru_cache(maxsize=None, typed=True)
integers, one_of, booleans = once(st.integers), once(st.one_of), once(st.booleans)


@once
def among(*values):
    """Return the strategy that draws one of some values."""
    return st.sampled_from(values)


def pick(draw, *columns):
    """Draw a value of each column, all by one number: the time of a draw hardly depends on how much it decides.

    Jobs take two, one of them for submission and width: hypothesis likes to repeat draws, and equal jobs show little.
    """
    many = prod(map(len, columns))
    place = draw(integers(0, many - 1)) * _spread(many) % many
    drawn = []
    for values in columns:
        place, i = divmod(place, len(values))
        drawn.append(values[i])
    return drawn


@once
def _spread(many):
    """Return a factor that permutes this many numbers, so that small ones give every value of each column.

    Hypothesis draws up to 256 numbers evenly, and of more the small ones far more often.
    """
    factor = round(many * 0.618) if many > 256 else 1
    while gcd(factor, many) > 1:
        factor += 1
    return factor


def named(draw, **columns):
    """Draw a value of each column, as `pick` does; return them by name."""
    return dict(zip(columns, pick(draw, *columns.values()), strict=True))


INSTANTS = range(13)
LENGTHS = (*range(9), *[0, 1, 4, 8] * 2)


def examples(many):
    """Draw as many in a search, half as many in `.ci/run`, and a quarter otherwise: see tests/conftest.py."""
    return settings(max_examples=many * settings().max_examples // 200)


@st.composite
def workloads(draw, shortest=0, most=14, exact=False, overrun=False):
    """Draw (jobs, procs): a list of `Job` in submit order with ties, and a machine they fit on.

    With `overrun` some jobs outlive their estimates.
    """
    overs = (0,) if exact else (0, 0, 1, 3, 8, *[-1, -3, -8] * overrun)
    lengths = [length for length in LENGTHS if length >= shortest]
    procs = draw(integers(1, 6))
    widths = (*range(1, procs + 1), *[1, procs] * procs)
    jobs = []
    for _ in range(draw(integers(1, most))):
        (submit, width), (run, over) = pick(draw, INSTANTS, widths), pick(draw, lengths, overs)
        jobs.append(Job(submit, run, max(0, run + over), width))
    return sorted(jobs, key=lambda job: job.submit), procs


def crowd(seed, jobs=90, procs=8):
    """Draw jobs that all arrive almost at once, so that nearly all of them wait at the same time."""
    random = np.random.default_rng(seed)
    run = random.integers(0, 30, jobs)
    estimate = run + random.choice([0, 0, 5, 30], jobs)
    columns = (np.sort(random.integers(0, 10, jobs)), run, estimate, random.integers(1, procs + 1, jobs))
    return [Job(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def always_by_index(yes):
    """Let EASY find all candidates by its index, which it otherwise builds only if hundreds wait."""
    return mock.patch.multiple(rigid, MANY=0, LOOKS=0) if yes else nullcontext()


def arrays(jobs):
    """Return submit, run, estimate and procs as the kernels take them."""
    table = np.array(jobs, dtype=np.int64)
    return tuple(np.ascontiguousarray(table[:, column]) for column in range(4))


def case_of(jobs, procs, **settings):
    """Make a case of jobs as a twin takes them, on processors without a topology."""
    return Case(Jobs(*arrays(jobs)), Flat(procs), **settings)


def changed(schedule, **columns):
    """Return the schedule with other columns of its outcome, instants on the clock of the log."""
    for name in columns.keys() & {"start", "promise"}:
        instants = np.asarray(columns[name])
        columns[name] = np.where(instants >= 0, instants - schedule.origin, instants)
    return replace(schedule, outcome=replace(schedule.outcome, **columns))
