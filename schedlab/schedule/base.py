"""`Schedule`: which processors each job of a trace held and when, and measures of that."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from schedlab import show
from schedlab._runtime.text import check_known
from schedlab.machine import Flat, KaryTree, Partitions, Pools
from schedlab.schedule import metrics
from schedlab.schemes import Case, Outcome, Scheme
from schedlab.schemes.cases import case_of
from schedlab.workload.copies import copied
from schedlab.workload.trace import Trace

from . import laws, starts
from .export import Exporting
from .measuring import Measuring
from .places import Places
from .pooling import Pooling
from .usage import Usage
from .why import Why, why

SHOWN = (
    *("wait_time", "utilization", "median_wait_time", "loss_of_capacity_share"),
    *("bounded_slowdown", "mean_queue", "max_wait_time", "killed"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Schedule(Measuring, Usage, Places, Pooling, Exporting):
    """The result of a simulation.

    Times are seconds on the clock of the log: int64, or float64 if sweeps ran as tasks, which end at any time.

    Attributes
    ----------
    trace, scheme : Trace, Scheme
    machine : Flat, KaryTree or Pools
    overrun, events : str
        The conventions it was simulated under (`simulate`).
    outcome : Outcome
        The result of the scheme for the case.
    origin : int, seconds on the clock of the log
        When the clock of the outcome begins.
    site, traces : int, tuple of Trace
        If several sites were simulated together (`simulate_sites`), the position of this one, and the traces of all.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=300, machine=64, seed=1).scale_load(0.8)
    >>> schedule = sl.simulate(trace, "easy").validate()
    >>> len(schedule), str(schedule.scheme), schedule.machine.procs
    (300, 'EASY', 64)
    >>> chart = sl.charts.profile(schedule)
    """

    trace: Trace
    scheme: Scheme
    machine: Flat | KaryTree | Pools
    overrun: str
    events: str
    outcome: Outcome
    origin: int = 0
    site: int = 0
    traces: tuple[Trace, ...] = ()

    def __post_init__(self):
        if not self.traces:
            object.__setattr__(self, "traces", (self.trace,))

    def __len__(self) -> int:
        return len(self.outcome.start)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Warnings for the reader: for example, that a recorded schedule has no waits, or breaks a law."""
        return (*self.scheme.notes(self), *self._pool_notes())

    @cached_property
    def case(self) -> Case:
        """The case that was simulated; times in ticks of the outcome."""
        case, origin = case_of(self.trace, self.scheme, self.machine, self.overrun, self.events)
        later = case.jobs._replace(submit=case.jobs.submit + origin - self.origin)
        return case if origin == self.origin else replace(case, jobs=later)

    @property
    def held(self) -> tuple[np.ndarray, np.ndarray]:
        """Processors held from each instant to the next, int64, and the length of each of these periods in seconds."""
        timeline = self.timeline()
        return timeline["used"].to_numpy()[:-1], np.diff(timeline["time"])

    def __repr__(self) -> str:
        values = self.metrics()
        return (
            f"<Schedule {self.trace.title}, {self.scheme}: {self.trace.jobs_text} on {self.machine}, "
            f"mean wait {values['wait_time']:,.0f} s, mean bounded slowdown {values['bounded_slowdown']:,.2f}, "
            f"utilization {values['utilization']:.3f}{''.join(f'{chr(10)}   {note}' for note in self.notes)}>"
        )

    def _repr_html_(self) -> str:
        return show.page(*self._page(), self.trace.account_html())

    def _page(self):
        """Return the parts of an HTML page: a heading, machine and queue over time, and the main measures."""
        timeline = self.timeline()
        values = self._measures(self._per_job(metrics.TAU))
        time, used, queued = (timeline[name].to_numpy() for name in ("time", "used", "queued"))
        begin, end = (show.instant(self.trace.at(float(second))) for second in (time[0], time[-1]))
        conventions = {"overrun": (self.overrun, "kill"), "events": (self.events, "batched")}
        load = values["offered_load"]
        parts = [
            f"{self.trace.jobs_text} on {self.machine}" + (f", offered load {load:.3g}" if np.isfinite(load) else "")
        ]
        if self.scheme.simulated:
            parts += [f"{name} {value}" for name, (value, usual) in conventions.items() if value != usual]
        facts = {metrics.MEASURES[name][0]: metrics.written(name, values[name]) for name in SHOWN}
        yield show.line(f"on {self.trace.title}", strong=str(self.scheme))
        yield show.line("; ".join(parts))
        yield from map(show.note, self.notes)
        yield show.picture(time, used, queued, self.machine.procs, (begin, end))
        yield show.facts(facts)

    def seconds(self, ticks):
        """Convert ticks of the outcome to seconds on the clock of the log: integers if a tick is a second.

        Parameters
        ----------
        ticks : array
            Ticks since the begin of the case (`Outcome`).
        """
        tick = self.outcome.tick
        return self.origin + (ticks if tick == 1 else ticks / tick)

    @cached_property
    def submit(self) -> np.ndarray:
        """Submission of each job; int64, shape (n_jobs,), seconds on the clock of the log."""
        return self.trace.table["submit_time"].to_numpy()

    @cached_property
    def start(self) -> np.ndarray:
        """Start of each job: when its first processor is held; shape (n_jobs,), seconds on the clock of the log."""
        return _fixed(self.seconds(self.outcome.start))

    @cached_property
    def end(self) -> np.ndarray:
        """End of each job, with its last task; shape (n_jobs,), seconds on the clock of the log."""
        return _fixed(self.seconds(self.outcome.end))

    @cached_property
    def promise(self) -> np.ndarray:
        """The first start that the scheme promised to each job, -1 if it promised none; otherwise like `start`."""
        promise = self.outcome.promise
        return _fixed(np.where(promise >= 0, self.seconds(promise), -1))

    @property
    def run(self) -> np.ndarray:
        """Run time of each job as simulated; int64, shape (n_jobs,), seconds.

        It is cut if the job is killed; a good place on a tree may shorten it. For a sweep, it is the parallel job's.
        """
        return self.outcome.run

    @property
    def procs(self) -> np.ndarray:
        """Processors that each job held (for a sweep, those of the parallel job); int64, shape (n_jobs,)."""
        return self.outcome.procs

    @property
    def killed(self) -> np.ndarray:
        """Whether each job ended before its work was done; bool, shape (n_jobs,)."""
        return self.outcome.killed

    @cached_property
    def estimate(self) -> np.ndarray:
        """How long each job was expected to run on its processors; int64, shape (n_jobs,), seconds."""
        estimate = self.outcome.estimate
        return self.trace.table["requested_time"].to_numpy() if estimate is None else estimate

    @cached_property
    def started_by(self) -> pd.Categorical:
        """How each job came to start, shape (n_jobs,), if jobs run in one piece.

        The label depends on which jobs still waited after all starts of the instant. They are taken in the order of the
        scheme's queue, or in order of arrival if it has none.

        - "head": the job started ahead of none of them.
        - "reservation": it started ahead of one, and had held a reservation (conservative, or several reservations).
        - "backfilled within the shadow": by its estimate, it ends before the first of them could start.
        - "backfilled on extra processors": it does not end by then, but uses processors that the first does not need.

        When the first of them could start follows from the estimates of the running jobs. Jobs that started at the same
        instant count as running, whatever their length. On a tree, the labels are only "head" and "backfilled".
        """
        return starts.started_by(self)

    @cached_property
    def _sequential_work(self) -> np.ndarray | None:
        """Work of each job on one processor, in processor-seconds, float64; None without speed-up data."""
        if not self.trace.has_speedup:
            return None
        if self.outcome.estimate is not None:
            return self.trace.sequential_work(self.overrun)  # run times on the chosen processors are rounded up
        return self.run * self.trace.laws(int(self.procs.max())).speedup(self.procs)

    @property
    def wasted(self) -> np.ndarray | None:
        """Processor-seconds that each job held beyond its sequential work, float64; None without speed-up data."""
        work = self._sequential_work
        return None if work is None else self.run * self.procs - work

    @cached_property
    def pieces(self) -> pd.DataFrame:
        """The pieces of the schedule: a job, or tasks of one sweep that start together.

        Columns: home_site, job_number (there), start_time, end_time (seconds on the log's clock), procs, tasks (or 0).
        """
        pieces = self.outcome.pieces
        number = np.empty(pieces.job.size, "int64")
        for site, trace in enumerate(self.traces):
            at_home = pieces.home == site
            number[at_home] = trace.table.index.to_numpy()[pieces.job[at_home]]
        times = {"start_time": self.seconds(pieces.start), "end_time": self.seconds(pieces.end)}
        columns = {"home_site": pieces.home, "job_number": number, **times}
        return pd.DataFrame(columns | {"procs": pieces.procs, "tasks": pieces.tasks})

    @cached_property
    def _table(self) -> pd.DataFrame:
        columns = dict(self.trace.table.items()) | {name: make(self) for name, make in RESULTS.items()} | self._own
        return pd.DataFrame(columns, index=self.trace.table.index)  # all at once: inserting one column takes 0.2 ms

    @cached_property
    def _own(self) -> dict[str, np.ndarray]:
        """The columns of `_table` that not every schedule has."""
        work = {"sequential_work": self._sequential_work, "wasted": self.wasted}
        columns = self.outcome.columns(self.seconds) | (work if self.trace.has_speedup else {})
        if isinstance(self.machine, Pools) and not isinstance(self.machine, Partitions):
            names = np.array([str(name) for name, _ in self.machine.pools], dtype=object)
            columns |= {"pool": names[self.case.places], "interruptions": self.outcome.interruptions}
        return columns

    @property
    def jobs(self) -> pd.DataFrame:
        """One row per job: the columns of the trace, and the results of the simulation. Times in seconds.

        run_time is as simulated: it is cut at the estimate if the job was killed (see `killed`). wait_time is the
        simulated one. Added are start_time, end_time, procs, turnaround, slowdown, bounded_slowdown (tau = 10 s),
        promised_start (-1: none) and logged_area (processor-seconds before any rescaling).

        - If jobs run in one piece, also `started_by`.
        - On a tree, also backfilled, and nodes as ranges ("0-3 7").
        - On `Pools`, also pool, and interruptions: how many runs closed windows ended before the one in this row.
        - With speed-up data, also sequential_work (processor-seconds on one processor) and wasted (processor-seconds
          held beyond that). If the scheme chose procs, also estimate, the expected seconds on these; requested_procs
          and requested_time stay those of the trace.
        - If sweeps ran in pieces, also breakdown, parallel_start (of the parallel job; nan if it never started) and
          tasks_alone (tasks that ran apart from it). start_time is the start of the first task and end_time the end of
          the last; slowdown divides by the run time of the parallel job.
        """
        table = copied(self._table)
        if not self.outcome.in_pieces:
            table["started_by"] = self.started_by
        if self.outcome.nodes is not None:
            table["nodes"] = self.allocations()
        return table

    def column(self, name: str) -> pd.Series:
        """Return one column of `jobs`, without computing slow ones such as `started_by`.

        Parameters
        ----------
        name : str
            Name of the column.
        """
        table = self.trace.table
        if name in self._own:
            values = self._own[name]
        elif name in RESULTS:
            values = RESULTS[name](self)
        elif name in table.columns:
            values = table[name]
        else:
            jobs = self.jobs
            check_known("column", name, jobs.columns)
            values = jobs[name]
        return pd.Series(values, table.index, name=name, copy=True)

    def why(self, job) -> Why:
        """Explain why a job, which ran in one piece, waited.

        The explanation (`schedlab.schedule.why.Why`) says which jobs held the processors meanwhile, which jobs were
        submitted later but started earlier, when the job could expect to start (`schedlab.schedule.why.Why.expected`)
        and what changed that, and how it came to start. A notebook shows it with a Gantt chart. ``str`` gives the
        words; ``others`` and ``expected`` are tables.

        Parameters
        ----------
        job : int
            The job number.

        Examples
        --------
        >>> import schedlab as sl
        >>> schedule = sl.simulate(sl.model_trace("lublin", jobs=40, machine=32, seed=7), "easy")
        >>> print(schedule.why(17))
        Job 17 (4 processors, estimate 3.12 min) waited 87.8 min, from 9,895 s to 15,162 s.
        When it was submitted, 4 jobs held 30 of 32 processors, and no other job waited.
        For 87.8 min fewer than 4 processors were free.
        2 jobs submitted later started before it (18, 23).
        When it was submitted, it could expect to start at 15,162 s.
        That did not change.
        It started in its turn.
        """
        return why(self, job)

    def validate(self) -> "Schedule":
        """Check the laws of scheduling (`schedlab.schedule.laws`); raise a ScheduleError, or return the schedule.

        - Always: every job starts exactly once, and not before its submission. No more processors are held than the
          machine has. A job runs as long as the trace and `overrun` say. FCFS starts jobs in the order of its queue.
          Where promises are kept, no job starts later than promised. EASY keeps that of the head of a first come, first
          served queue; conservative backfilling keeps that of every job; none is kept if jobs outlive their estimates.
        - On partitions: all of this for each partition by itself.
        - On pools: at no instant more of a resource is held in a pool than is open, or a limit is exceeded. Only runs
          that began before a window was announced are ended at its begin.
        - On a tree: a job has as many nodes as it needs. They are installed, belong to no other job, and lie in one
          block of its stage if the allocation says so. The job runs as long as its place allows, or was killed past its
          estimate after it had been backfilled.
        - If the scheme chose processors: a moldable job has from 1 to all processors, and runs as long as its speedup
          on these says, recomputed from the trace. A rigid job runs as the trace says.
        - If sweeps ran in pieces: each task of each sweep runs once, and a sweep ends with its last task. The loss of
          capacity is that of the states of machine and queue. Tasks never disturb the local schedule. To check that,
          the site is replayed: whenever tasks start, the local scheduler had nothing left to start, and the reservation
          of EASY's head, or all those of conservative backfilling, are the same with the tasks as without them. Under
          flooding, tasks are ordinary jobs of the queue.
        """
        laws.check(self)
        return self


# The columns that a simulation adds to those of the trace, or puts in their place.
RESULTS = {
    "logged_area": lambda schedule: schedule.trace.logged_area.reindex(schedule.trace.table.index),
    "killed": lambda schedule: schedule.killed,
    "run_time": lambda schedule: schedule.run,
    "start_time": lambda schedule: schedule.start,
    "end_time": lambda schedule: schedule.end,
    "procs": lambda schedule: schedule.procs,
    "wait_time": lambda schedule: schedule.start - schedule.submit,
    "turnaround": lambda schedule: schedule.end - schedule.submit,
    "slowdown": lambda schedule: metrics.slowdown(schedule.end - schedule.submit, schedule.run),
    "bounded_slowdown": lambda schedule: metrics.bounded_slowdown(schedule.end - schedule.submit, schedule.run),
    "promised_start": lambda schedule: schedule.promise,
}


def _fixed(array):
    array.flags.writeable = False
    return array
