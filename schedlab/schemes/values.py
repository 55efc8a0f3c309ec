"""Values of a job that a policy can ask for by its parameter names: columns, and running sums such as usage."""

from dataclasses import dataclass
from functools import cache
from numbers import Real

import numpy as np

from schedlab._runtime.text import spelt
from schedlab.kernels import questions
from schedlab.kernels.questions import Sums
from schedlab.kernels.sorted_pairs import SortedPairs

WEEK = 7 * 24 * 3600.0  # seconds; Slurm's default half-life of usage
KINDS = {"usage": questions.USAGE, "running": questions.RUNNING, "held": questions.HELD, "queued": questions.QUEUED}
TOTAL = "total"  # instead of a column: all jobs
COUNT = "count"


class Code(int):
    """A whole number of a job, which may stand for text; comparing it with text is an error, not always false."""

    __hash__ = int.__hash__

    def __eq__(self, other):
        if isinstance(other, str):
            self.is_compared_with(other)
        return int.__eq__(self, other)

    def __ne__(self, other):
        return not self == other


@dataclass(frozen=True)
class Sum:
    """A running sum over the jobs with the same value of a column, or over all; it may have a half-life (seconds)."""

    kind: str
    of: str | None
    half_life: float | None = None


@dataclass(frozen=True)
class Usage:
    """Usage so far by the job's user, or by all jobs with the same value of another column; the default of a parameter.

    Usage is processors x seconds that jobs have held, up to now. A policy's parameter named ``user_usage`` or
    ``account_usage`` means the same, with a half-life of 7 days.

    Parameters
    ----------
    of : str, optional
        The column that identifies whose usage it is: ``"user"``, ``"account"``, .... None: usage of all jobs.
    half_life : float, seconds, optional
        As in `fairshare`.

    Examples
    --------
    >>> import schedlab as sl
    >>> def fewest_hours(used=sl.Usage("user", half_life=24 * 3600)):
    ...     return used
    >>> from schedlab.workload.sacct import example_path
    >>> trace = sl.read_sacct(example_path(), machine=128, partition="long")
    >>> len(sl.simulate(trace, sl.EASY(order=fewest_hours)).validate())
    47
    """

    of: str | None = "user"
    half_life: float | None = WEEK

    def __post_init__(self):
        if self.of is not None and not isinstance(self.of, str):
            raise TypeError(f"of is {spelt(self.of)}, expected the name of a column, or None for all jobs")
        number = isinstance(self.half_life, Real) and not isinstance(self.half_life, bool)
        if self.half_life is not None and not (number and 0 < self.half_life < np.inf):
            raise ValueError(
                f"half_life must be a number of seconds greater than 0, or None, got {spelt(self.half_life)}"
            )

    def __str__(self) -> str:
        decay = "without decay" if self.half_life is None else f"half-life {self.half_life / 3600:g} h"
        return f"{self.of or 'total'} {decay}"

    @property
    def sum(self) -> Sum:
        """In the form that the kernels keep."""
        return Sum("usage", self.of, self.half_life)


@dataclass(frozen=True)
class Count:
    """The number of distinct values of a column, such as the number of users, as a value in a policy."""

    of: str

    def __str__(self) -> str:
        return f"number of {self.of}"


def sum_named(name: str) -> Sum | Count | None:
    """Return what a name such as ``user_usage`` stands for: a column or "total", "_", and one of `KINDS` or "count"."""
    of, _, kind = name.rpartition("_")
    if not of or (kind == COUNT and of == TOTAL):
        return None
    if kind == COUNT:
        return Count(of)
    if kind in KINDS:
        return Sum(kind, None if of == TOTAL else of, WEEK if kind == "usage" else None)
    return None


PARAMETERS = ("now", "job", "whole", "real", "value")  # of a callback that is called by row


class Row:
    """Gathers, for each job, the values that a policy asks for into the arrays that a kernel passes on.

    `columns` has the values that do not depend on the time, by name; `sums` the running sums, each with the column that
    it is kept by. `moving` says whether any value depends on the time, `unknown` names a requested column without a
    value for any job.
    """

    def __init__(self, case):
        jobs = case.jobs
        self.case, self.moving = case, False
        self.columns = {"submit": jobs.submit, "estimate": jobs.estimate, "procs": jobs.procs}
        self.sums, self.unknown = {}, ""

    def ask(self, name: str, what: object = None) -> bool:
        """Add a value by the policy's name for it, or by `what` if the name does not say. Return whether it exists."""
        case = self.case
        if what is None:
            if name == "now":
                self.moving = True
                return True
            if name in self.columns:
                return True
            if name == "machine_procs":
                self.columns[name] = self._in_pool(case.machine.procs, lambda pool: case.pooled.capacity[pool, 0])
                return True
            if name in case.columns:
                self.columns[name] = self._known(name)
                return True
            what = sum_named(name)
        if isinstance(what, Usage):
            what = what.sum
        if what is None or (what.of is not None and what.of not in case.columns):
            return False
        if isinstance(what, Count):
            values = self._known(what.of)
            count = case.columns.count(what.of)
            self.columns[name] = self._in_pool(count, lambda pool: np.unique(values[case.places == pool]).size)
        else:
            self.moving = True
            self.sums[name] = what, None if what.of is None else self._known(what.of)
        return True

    @property
    def _pools(self):
        return 1 if self.case.pooled is None else len(self.case.pooled.capacity)

    def _in_pool(self, value, of_pool):
        """Return a value of the machine for each job; of several pools, that of the job's own."""
        if self._pools == 1:
            return np.full(len(self.case), value)
        return np.array([of_pool(pool) for pool in range(self._pools)])[self.case.places]

    def _known(self, column):
        """Return a column; note if it has no value for any job."""
        if self.case.columns.is_unknown(column):
            self.unknown = column
        return self.case.columns[column]

    def arrays(self) -> tuple[np.ndarray, int, np.ndarray, Sums]:
        """Return whole, width, real and sums, in the form that `Question` has."""
        n, cells, keys = len(self.case), 0, []
        for _, column in self.sums.values():
            values, key = np.unique(np.zeros(n, np.int64) if column is None else column, return_inverse=True)
            if self._pools > 1:  # each pool counts for itself
                values, key = np.unique(key + values.size * self.case.places, return_inverse=True)
            keys.append(cells + key)
            cells += values.size
        whole, real = [*self._named("i").values(), *keys], list(self._named("f").values())
        kind = np.array([KINDS[what.kind] for what, _ in self.sums.values()], np.int64)
        half_life = np.array([what.half_life or 0.0 for what, _ in self.sums.values()], np.float64)
        sums = _new_sums(kind, half_life, cells, n)
        return _flat(whole, np.int64), len(whole), _flat(real, np.float64), sums

    def places(self) -> dict[str, tuple[str, bool]]:
        """Tell by name where a callback with the `PARAMETERS` finds each value, and whether it is an integer."""
        whole, real = list(self._named("i")), list(self._named("f"))
        width = len(whole) + len(self.sums)
        now = {"now": ("now", True)} if self.moving else {}
        return (
            now
            | {name: (f"whole[job * {width} + {place}]", True) for place, name in enumerate(whole)}
            | {name: (f"real[job * {len(real)} + {place}]", False) for place, name in enumerate(real)}
            | {name: (f"value[whole[job * {width} + {len(whole) + i}]]", False) for i, name in enumerate(self.sums)}
        )

    def _named(self, kind):
        return {name: column for name, column in self.columns.items() if column.dtype.kind == kind}


def _flat(columns, kind):
    return np.column_stack(columns).astype(kind).ravel() if columns else np.empty(0, kind)


def _new_sums(kind, half_life, cells, n):
    zeros = np.zeros(cells, np.int64)
    n = n if kind.size else 0
    ends = SortedPairs(np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(2, np.int64))
    return Sums(kind, half_life, np.zeros(cells), np.zeros(cells), zeros, ends, np.zeros(2, np.int64))


@cache
def no_sums() -> Sums:
    """Return the sums of a policy that needs none."""
    return _new_sums(np.empty(0, np.int64), np.empty(0), 0, 0)
