"""`Workload`: the jobs of gang scheduling, from a model or a table, and what their tasks do."""

import zlib
from collections.abc import Iterable, Mapping, Set, Sized
from dataclasses import dataclass
from functools import cached_property, lru_cache
from numbers import Integral, Real

import numpy as np
import pandas as pd

from schedlab._runtime.streams import entropy, keys, uniforms
from schedlab._runtime.text import check_known, spelt, suggestion
from schedlab.kernels.gang import state
from schedlab.workload.models.common import at_least_one, job_numbers
from schedlab.workload.models.jann import SIZES, JannTable, jann, jann_table

from . import programs as tables
from .times import LONGEST, check_seconds, durations, nanoseconds

KINDS = {
    "io": state.IO,
    "emb": state.EMBARRASSING,
    "msg": state.MESSAGES,
    "bsp": state.BARRIERS,
    "interactive": state.INTERACTIVE,
}
COLUMNS = {"submit_time": "float64", "procs": "int64", "kind": "str", "duration": "float64"}  # and their types
NAMES = ", ".join(COLUMNS)

MOST_PES = 2**15  # beyond this, 32 bits do not suffice to draw a pair of tasks
DRAWN_AHEAD = 64  # operations of a task that are kept ahead; more if needed
MOST_AHEAD = 2**27  # operations of all tasks, 32 bytes each


@dataclass(frozen=True)
class Workload:
    """Jobs of one or more tasks.

    Parameters
    ----------
    mix : str, tuple of str, or dict
        Kinds of jobs: ``"io"`` (computing and disk in turn), ``"emb"`` (computing only), ``"msg"`` (messages between
        random pairs of tasks), ``"bsp"`` (barriers), ``"interactive"`` (computing and thinking in turn). One kind,
        several kinds with equal shares, or a dict with the share of each. The kind of each job is drawn independently.
    pes : int
        Processing elements of the machine, at most 32,768.
    horizon : float, seconds
        Jobs arrive and are simulated until this time.
    table, sizes
        Parameters of the model of arrivals, sizes and durations; see `schedlab.workload.models.jann.jann`.
    seed : int or numpy.random.Generator
        Seed of all random draws, including what the jobs do. Arrivals, sizes and durations do not depend on the mix.
    jobs : DataFrame, optional
        Your own jobs, in place of the model and the mix. They are kept as a tuple of rows.

        - submit_time: seconds, at least 0;
        - procs: number of tasks, each on its own PE;
        - kind: as in the mix;
        - duration: seconds that each task takes on a dedicated PE. This is not a run_time: under gang scheduling a job
          shares its PEs and holds them for longer.
    programs : DataFrame, optional
        Your own programs for some or all of `jobs`: what each task does, operation by operation, in place of random
        draws by kind. `GangSchedule.programs` returns the same table.

        - job_number: counted from 1 in the order of `jobs`; rank: of the task, from 0;
        - compute: seconds of computing before the operation;
        - operation: ``"disk"``, ``"think"``, ``"send"``, ``"receive"``, ``"barrier"`` or ``"end"``; the last operation
          of a task is end, disk or think;
        - seconds: duration of a disk or think operation;
        - peer: rank of the other task of a send or receive. Messages from one task to another are received in the order
          in which they are sent.

        Times that round to 0 ns take 1 ns. If all jobs have programs, `jobs` needs only submit_time: procs is then the
        number of tasks in the program, duration is that of the longest task (computing, disk and thinking), and kind
        follows from the operations. Blank cells are filled in the same way. For a job with a program, the kind matters
        only if it is ``"interactive"``, and only to spin control; the duration is used only for the slowdown. Programs
        are kept as a tuple of rows.

    Raises
    ------
    ValueError
        If a setting is out of range, or a row of `jobs` or `programs` is invalid; the message names the row, what was
        found and what was expected.

    Examples
    --------
    >>> import schedlab as sl
    >>> len(sl.gang.Workload(("io", "msg"), pes=8, horizon=10_000, seed=1).jobs_table)
    24
    """

    mix: str | tuple | Mapping = "io"
    pes: int = 8
    horizon: float = 50_000
    table: str | JannTable = "ctc"
    sizes: str = "uniform"
    seed: int = 0
    jobs: pd.DataFrame | tuple | None = None
    programs: pd.DataFrame | tuple | None = None

    def __post_init__(self):
        if at_least_one("pes", self.pes) > MOST_PES:
            raise ValueError(f"pes must be at most {MOST_PES}, got {self.pes}")
        check_seconds("horizon", self.horizon)
        object.__setattr__(self, "seed", entropy(self.seed))
        check_known("sizes", self.sizes, SIZES)
        object.__setattr__(self, "mix", _mixed(self.mix))
        shares = self.shares
        for kind, share in shares.items():
            check_known("kind of jobs", kind, KINDS)
            if not (isinstance(share, Real) and 0 <= share <= 1):
                raise ValueError(f"the share of {kind} jobs is {spelt(share)}, expected 0 to 1")
        if not abs(sum(shares.values()) - 1) < 1e-9:
            raise ValueError(f"the shares of the mix add up to {sum(shares.values()):g}, expected 1")
        if self.jobs is None:
            jann_table(self.table).on_machine(self.pes)
            if self.programs is not None:
                raise ValueError("programs are given without jobs; expected also a table of jobs with submit_time")
        else:
            self._take_jobs()

    def _take_jobs(self):
        """Check the user's own jobs and programs, and keep them as rows."""
        jobs = self.jobs
        if self.programs is not None:
            jobs = _as_frame(jobs)
            programs = tables.checked(self.programs, len(jobs), self.pes)
            jobs = _completed_by(jobs, tables.summed_up(programs))
            object.__setattr__(self, "programs", tuple(programs.itertuples(index=False, name=None)))
        object.__setattr__(self, "jobs", _rows(jobs, self.pes))

    @property
    def shares(self) -> dict:
        """The share of each kind, 0 to 1."""
        if isinstance(self.mix, str):
            return {self.mix: 1}
        if all(isinstance(kind, str) for kind in self.mix):
            return {kind: 1 / len(self.mix) for kind in self.mix}
        return dict(self.mix)

    @property
    def jobs_table(self) -> pd.DataFrame:
        """One row per job, in order of arrival: submit_time (seconds), procs, kind, duration (seconds)."""
        return self._jobs_table.copy()

    @cached_property
    def _jobs_table(self):
        if self.jobs is not None:
            table = pd.DataFrame(self.jobs, columns=list(COLUMNS)).astype(COLUMNS)
            return table.set_axis(job_numbers(len(table))).sort_values("submit_time", kind="stable")
        table = _arrivals(self.pes, self.horizon, self.seed, self.table, self.sizes)
        kind = np.array(list(self.shares))
        place = np.searchsorted(np.cumsum(list(self.shares.values()))[:-1], self._uniforms(table.index), side="right")
        return table.assign(kind=kind[place].astype(object))[list(COLUMNS)].astype({"kind": "str"})

    @cached_property
    def programs_table(self) -> pd.DataFrame | None:
        """The user's own programs, as `programs` describes them; None without any."""
        return None if self.programs is None else pd.DataFrame(list(self.programs), columns=tables.COLUMNS)

    @cached_property
    def arrays(self) -> tuple[state.Jobs, state.Programs]:
        """The jobs and programs in the form that the kernel takes."""
        jobs, programs = self._jobs_table, self.programs_table
        kind = jobs["kind"].map(KINDS)
        if programs is not None:
            programmed = jobs.index.isin(programs["job_number"]) & (jobs["kind"] != "interactive")
            kind = kind.mask(programmed, state.EMBARRASSING)
        arrivals = state.Jobs(
            nanoseconds(jobs["submit_time"].to_numpy()),
            jobs["procs"].to_numpy(copy=True),
            kind.to_numpy("int64", copy=True),
            durations(jobs["duration"]),
            self._keys(jobs.index),
        )
        return arrivals, tables.as_arrays(programs, jobs)

    @property
    def room(self) -> int:
        """Number of operations kept ahead for each task: a power of two, at least the longest program.

        Raises ValueError if the programs are too long for so many tasks.
        """
        if self.programs is None:
            return DRAWN_AHEAD
        longest = self.programs_table.groupby(["job_number", "rank"]).size().max()
        tasks = self._jobs_table["procs"].sum()
        room = max(DRAWN_AHEAD, 1 << int(longest - 1).bit_length())
        if room * tasks > MOST_AHEAD:
            raise ValueError(
                f"the longest program has {longest:,} operations, and there are {tasks:,} tasks, each with room for as "
                f"many: expected at most {MOST_AHEAD:,} in all"
            )
        return room

    def _uniforms(self, numbers):
        return uniforms(self.seed, "kind", numbers.to_numpy())

    def _keys(self, numbers):
        """Return the key of each job's random numbers; int64, 32 bits."""
        return (keys((self.seed, zlib.crc32(b"bursts")), numbers.to_numpy()) >> np.uint64(32)).astype("int64")


@lru_cache(maxsize=256)
def _arrivals(pes, horizon, seed, table, sizes):
    """Draw the model's jobs until one arrives after the horizon; the same jobs for all mixes."""
    count = 64
    while True:
        jobs = jann(count, pes, seed, table, sizes)
        if jobs["submit_time"].iloc[-1] >= horizon:
            break
        count *= 2
    jobs = jobs[jobs["submit_time"] < horizon]
    longest = jobs["run_time"].max()
    if longest >= LONGEST:
        raise ValueError(f"a job of the model lasts {longest:g} s, expected below {LONGEST:g}")
    return pd.DataFrame(
        {
            "submit_time": jobs["submit_time"].astype("float64"),
            "procs": jobs["requested_procs"],
            "duration": jobs["run_time"].astype("float64"),
        }
    )


def _mixed(mix):
    """Check a mix, and return it as a kind, a tuple of kinds, or a tuple of kinds with their shares."""
    if isinstance(mix, str):
        return mix
    expected = f"mix is {spelt(mix)}, expected a kind of jobs, several, or a dict with the share of each"
    if isinstance(mix, bytes | Set) or not isinstance(mix, Iterable):  # a set has no fixed order
        raise ValueError(expected)
    mix = tuple(mix.items() if isinstance(mix, Mapping) else mix)
    if not mix:
        raise ValueError("the mix is empty, expected at least one kind of jobs")
    kinds = mix
    if not all(isinstance(entry, str) for entry in mix):
        if not all(isinstance(entry, tuple) and len(entry) == 2 for entry in mix):
            raise ValueError(expected)
        kinds = [kind for kind, _ in mix]
    for kind in kinds:
        if kinds.count(kind) > 1:
            raise ValueError(f"the mix has {kind} jobs more than once, expected each kind once")
    return mix


def _whole(value):
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _completed_by(jobs, summary):
    """Fill blanks in the table of jobs from their programs; sizes given in both must agree."""
    jobs = jobs.set_axis(pd.RangeIndex(1, len(jobs) + 1))
    for column in ("procs", "kind", "duration"):
        if column not in jobs.columns:
            for number in jobs.index.difference(summary.index):
                raise ValueError(f"jobs has no column {column}, and job {number} no program to take it from")
            jobs[column] = summary[column]
        blank = jobs.index[jobs[column].isna()].intersection(summary.index)
        if blank.size:
            filled = jobs[column].astype(object).mask(jobs.index.isin(blank), summary[column])
            jobs[column] = filled.map(_whole)  # blanks have turned whole numbers into floats
    sizes = jobs["procs"][summary.index]
    for number in summary.index[sizes.to_numpy() != summary["procs"].to_numpy()]:
        procs = sizes.tolist()[summary.index.get_loc(number)]
        raise ValueError(f"job {number} has {procs!r} tasks, expected {summary['procs'][number]}, as in its program")
    return jobs


def _as_frame(jobs):
    """Return the user's own jobs, a table or rows, as a DataFrame without duplicate columns."""
    if isinstance(jobs, pd.DataFrame):
        for column in COLUMNS:
            if list(jobs.columns).count(column) > 1:
                raise ValueError(f"jobs has column {column} more than once, expected {NAMES}")
        return jobs
    if isinstance(jobs, str | Mapping) or not isinstance(jobs, Iterable):
        description = "a dict" if isinstance(jobs, Mapping) else repr(jobs)
        raise ValueError(f"jobs is {description}, expected a DataFrame or rows of {NAMES}")
    rows = list(jobs)
    for number, row in enumerate(rows, 1):
        if isinstance(row, str) or not isinstance(row, Sized) or len(row) != len(COLUMNS):
            raise ValueError(f"job {number} is {spelt(row)}, expected {NAMES}")
    values = zip(*(tuple(row) for row in rows), strict=True) if rows else [[]] * len(COLUMNS)
    # Keep the values as they are: a typed column would turn some whole numbers into others.
    return pd.DataFrame(
        {name: pd.Series(list(column), dtype=object) for name, column in zip(COLUMNS, values, strict=True)}
    )


def _rows(jobs, pes):
    """Check the user's own jobs, and return them as a tuple of rows."""
    jobs = _as_frame(jobs)
    for column in COLUMNS:
        if column not in jobs.columns:
            raise ValueError(f"jobs has no column {column}, expected {NAMES}")
    rows = tuple(zip(*(jobs[column].tolist() for column in COLUMNS), strict=True))
    if not rows:
        raise ValueError("jobs has no rows, expected at least one job")
    for number, (submit, procs, kind, duration) in enumerate(rows, 1):
        if not (isinstance(submit, Real) and 0 <= submit < LONGEST):
            raise ValueError(f"job {number} arrives at {submit!r}, expected seconds, from 0 to below {LONGEST:g}")
        if not isinstance(procs, Integral) or procs < 1:
            raise ValueError(f"job {number} has {procs!r} tasks, expected a whole number of at least 1")
        if procs > pes:
            raise ValueError(f"job {number} has {procs} tasks, the machine {pes} PEs: expected at most one task a PE")
        if not (isinstance(kind, str) and kind in KINDS):
            known = f"{', '.join(KINDS)}{suggestion(kind, KINDS)}"
            raise ValueError(f"job {number} is of unknown kind {kind!r}; known: {known}")
        check_seconds(f"the duration of job {number}", duration)
    return rows
