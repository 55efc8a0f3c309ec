"""What comes out of a simulation: which jobs held how many processors, and when."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

if TYPE_CHECKING:  # its module imports this one
    from .base import Case, Scheme


class Pieces(NamedTuple):
    """The pieces of a schedule, in arrays of shape (n_pieces,): a job, or tasks of one sweep that start together.

    Each has the site where the job was submitted (`home`) and its position there (`job`), the job's submission, its own
    start and end (ticks), its processors, and its number of tasks, if they run apart from the parallel job, else 0.
    """

    home: np.ndarray
    job: np.ndarray
    submit: np.ndarray
    start: np.ndarray
    end: np.ndarray
    procs: np.ndarray
    tasks: np.ndarray


class Ranges(NamedTuple):
    """Processors of pieces: those of piece i are the intervals ``offset[i]:offset[i + 1]``, both ends included."""

    offset: np.ndarray
    first: np.ndarray
    last: np.ndarray


class Interrupted(NamedTuple):
    """Runs that ended before the last run of a job, in arrays of shape (n_runs,): the job, and start and end in ticks.

    A closed window ends them. The job is queued again, and runs once more from the beginning.
    """

    job: np.ndarray
    start: np.ndarray
    end: np.ndarray

    def of(self, jobs: np.ndarray) -> "Interrupted":
        """Return the runs of some jobs alone, by a mask or positions."""
        place = np.full(int(self.job.max(initial=0)) + 1 if jobs.dtype != bool else jobs.size, -1)
        chosen = np.flatnonzero(jobs) if jobs.dtype == bool else jobs
        chosen = chosen[chosen < place.size]
        place[chosen] = np.arange(chosen.size)
        mine = place[self.job] >= 0
        return Interrupted(place[self.job[mine]], self.start[mine], self.end[mine])


FLAGS = ("killed", "backfilled", "reserved")
OPTIONAL = ("estimate", "backfilled", "reserved")
COLUMNS = ("submit", "start", "run", "procs", "promise", *FLAGS, "estimate")  # of an outcome


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """The result of a case: which jobs held how many processors (and which processors), and when.

    Times are ticks since the beginning of the case; a tick is a second unless `tick` says otherwise. In this class each
    job is one piece. A scheme whose jobs run in several pieces defines a subclass.

    Attributes
    ----------
    submit, start : int64, shape (n_jobs,), ticks
    run, procs : int64, shape (n_jobs,)
        How long each job ran, or would have run in one piece (seconds), and on how many processors.
    promise : int64, shape (n_jobs,), ticks
        The first start that the scheme promised to each job, -1 for no promise.
    killed : bool, shape (n_jobs,)
        True for jobs that ended before their work was done.
    estimate : int64, shape (n_jobs,), seconds, optional
        Expected run time on the processors that the scheme chose, if it chooses how many.
    backfilled : bool, shape (n_jobs,), optional
        True for jobs that started ahead of others, if the scheme reports it.
    reserved : bool, shape (n_jobs,), optional
        True for jobs that waited with a reservation before their last run, if the scheme reports it.
    nodes : Ranges, optional
        The processors of each piece, if the scheme chooses them.
    interrupted : Interrupted, optional
        Runs that closed windows ended before the last run of a job, which is the one that the other columns describe.

    Examples
    --------
    >>> import schedlab as sl
    >>> jobs = [(0, 6, 6, 5), (1, 4, 4, 6), (2, 3, 3, 3)]  # submission, run time, estimate, processors
    >>> outcome = sl.simulate(sl.testing.trace_of(jobs, machine=8), "easy").outcome
    >>> outcome.start.tolist(), outcome.end.tolist(), outcome.promise.tolist()
    ([0, 6, 2], [6, 10, 5], [-1, 6, -1])
    """

    submit: np.ndarray
    start: np.ndarray
    run: np.ndarray
    procs: np.ndarray
    promise: np.ndarray | None = None
    killed: np.ndarray | None = None
    estimate: np.ndarray | None = None
    backfilled: np.ndarray | None = None
    reserved: np.ndarray | None = None
    nodes: Ranges | None = None
    interrupted: Interrupted | None = None

    tick: ClassVar[int] = 1  # ticks per second
    in_pieces: ClassVar[bool] = False  # whether a job may run in several pieces, at several times
    lost: ClassVar[int | None] = None  # processor-ticks, if the kernel itself counts the loss of capacity

    def __post_init__(self):
        if self.promise is None:
            object.__setattr__(self, "promise", np.full(self.submit.size, -1))
        if self.killed is None:
            object.__setattr__(self, "killed", np.zeros(self.submit.size, bool))
        self._protect()

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._protect()  # pickling forgets which arrays are read-only

    def _protect(self):
        for attribute in fields(self):
            array = getattr(self, attribute.name)
            if attribute.name in COLUMNS and array is not None:
                array = np.asarray(array)
            if isinstance(array, np.ndarray):
                # A view: kernels are compiled a second time for read-only arrays.
                array = array.view()
                array.flags.writeable = False
                object.__setattr__(self, attribute.name, array)

    @property
    def had_reservation(self) -> np.ndarray:
        """Whether each job waited with a reservation; if the scheme does not report it, whether it waited and got one.

        The two differ where a job can wait without a reservation and get one when it starts: over a limit, for example.
        """
        return (self.start > self.submit) & (self.promise >= 0 if self.reserved is None else self.reserved)

    @classmethod
    def together(cls, case: "Case", outcomes: Sequence["Outcome"]) -> "Outcome":
        """Combine the outcomes of all `Case.parts` of a case.

        Parameters
        ----------
        case, outcomes : Case, and sequence of Outcome
            The case on `Partitions`, and an outcome per partition.
        """
        columns = {}
        for name in COLUMNS:
            parts = [getattr(outcome, name) for outcome in outcomes]
            if name == "reserved" and any(part is not None for part in parts):
                parts = [outcome.had_reservation for outcome in outcomes]
            if all(part is not None for part in parts):
                columns[name] = np.empty(len(case), np.result_type(*parts))
                for i, part in enumerate(parts):
                    columns[name][case.places == i] = part
        runs = [
            (np.flatnonzero(case.places == i)[runs.job], runs.start, runs.end)
            for i, runs in enumerate(outcome.interrupted for outcome in outcomes)
            if runs is not None
        ]
        interrupted = Interrupted(*map(np.concatenate, zip(*runs, strict=True))) if runs else None
        return cls(**columns, interrupted=interrupted)

    def part(self, jobs: np.ndarray) -> "Outcome":
        """Return the outcome of some jobs alone.

        Parameters
        ----------
        jobs : bool or int64 array
            Which jobs.
        """
        columns = {name: getattr(self, name) for name in COLUMNS}
        columns = {name: None if column is None else column[jobs] for name, column in columns.items()}
        interrupted = None if self.interrupted is None else self.interrupted.of(np.asarray(jobs))
        return Outcome(**columns, interrupted=interrupted)

    def check(self, scheme: "Scheme", case: "Case") -> None:
        """Raise unless each column has one value per job, and each job starts after its submission.

        Parameters
        ----------
        scheme, case : Scheme, Case
            The case that was simulated, and by which scheme, for the message.
        """
        count, whole = len(case), "whole numbers, int64"
        for name in COLUMNS:
            column, kind = getattr(self, name), "True or False" if name in FLAGS else whole
            if column is None and name in OPTIONAL:
                continue
            if np.shape(column) != (count,):
                shape = "None" if column is None else f"of shape {column.shape}"
                raise ValueError(f"{scheme} gave {name} {shape}, expected one for each of {count} jobs")
            if column.dtype.kind != ("i" if kind == whole else "b"):
                raise TypeError(f"{scheme} gave {name} of type {column.dtype}, expected {kind}")
        early = np.flatnonzero(self.start < self.submit)
        if early.size:
            job, start, submit = case.number(early[0]), self.start[early[0]], self.submit[early[0]]
            raise ValueError(f"{scheme} starts job {job} at {start} s, before its submission at {submit} s")

    @property
    def end(self) -> np.ndarray:
        """End of each job; int64, shape (n_jobs,), ticks."""
        return self.start + self.run

    @cached_property
    def pieces(self) -> Pieces:
        """The pieces that held processors of the machine."""
        runs = [np.arange(self.start.size), self.start, self.end]
        if self.interrupted is not None:
            runs = [np.concatenate(pair) for pair in zip(self.interrupted, runs, strict=True)]
            order = np.lexsort((runs[1], runs[0]))
            runs = [column[order] for column in runs]
        job, start, end = runs
        zeros = np.zeros_like(start)
        return Pieces(zeros, job, self.submit[job], start, end, self.procs[job], zeros)

    @property
    def interruptions(self) -> np.ndarray:
        """How many runs of each job were interrupted; int64, shape (n_jobs,)."""
        runs = np.zeros(0, np.int64) if self.interrupted is None else self.interrupted.job
        return np.bincount(runs, minlength=self.start.size)

    @property
    def promised_start(self) -> np.ndarray:
        """The start that each job's promise refers to; int64, shape (n_jobs,), ticks."""
        return self.start

    def changes(self) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """Return the changes over time of processors in use, jobs queued, and processors that queued jobs want.

        Returns
        -------
        time : int64, shape (n_changes,), ticks
        change : three of int64, shape (n_changes,)
        """
        pieces = self.pieces
        came, start = self.queued()
        end = pieces.end
        procs = pieces.procs
        ones, zeros = np.ones_like(procs), np.zeros_like(procs)
        used = np.concatenate([zeros, procs, -procs])
        queued, wanted = np.concatenate([ones, -ones, zeros]), np.concatenate([procs, -procs, zeros])
        return np.concatenate([came, start, end]), (used, queued, wanted)

    def queued(self) -> tuple[np.ndarray, np.ndarray]:
        """Return when each entry of the machine's queue came and left; both int64, shape (n_entries,), ticks."""
        if self.interrupted is None:
            return self.submit, self.start
        pieces = self.pieces  # by job, and then by start
        again = np.append(False, pieces.job[1:] == pieces.job[:-1])
        return np.where(again, np.append(0, pieces.end[:-1]), pieces.submit), pieces.start

    def begun(self) -> tuple[np.ndarray, np.ndarray]:
        """Return when parts of the jobs' work began, on any machine (int64, ticks), and their processor-seconds."""
        return self.start, self.run * self.procs

    def columns(self, seconds: Callable[[np.ndarray], np.ndarray]) -> dict[str, np.ndarray]:
        """Return the columns that only this kind of outcome adds to `Schedule.jobs`, by name.

        Parameters
        ----------
        seconds : function
            Converts ticks to seconds on the clock of the log.
        """
        columns = {"estimate": self.estimate, "backfilled": self.backfilled}
        return {name: column for name, column in columns.items() if column is not None}
