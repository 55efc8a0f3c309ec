"""`Schedule`: when each job of a trace held which processors, and what that is worth."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from schedlab import display, metrics, statistics
from schedlab.kernels import tree_nodes
from schedlab.kernels.processors import assign_processors
from schedlab.machine import Flat, KaryTree, Partitions
from schedlab.schemes import Case, Outcome, Ranges, Scheme
from schedlab.schemes.cases import case_of
from schedlab.text import check_known
from schedlab.threads import abandonable
from schedlab.workload.copies import copied
from schedlab.workload.trace import Trace

from . import export, laws, starts
from .sweeps import sweeps
from .why import Why, why

SHOWN = (
    "wait_time",
    "utilization",
    "median_wait_time",
    "loss_of_capacity_share",
    "bounded_slowdown",
    "mean_queue",
    "max_wait_time",
    "killed",
)
MEANS = ("wait_time", "turnaround", "slowdown", "bounded_slowdown", "per_processor_slowdown")  # over jobs


@dataclass(frozen=True, eq=False, repr=False)
class Schedule:
    """The result of a simulation.

    Times are seconds on the clock of the log: int64; float64 where the tasks of sweeps ran by themselves, which need
    not take whole seconds.

    Attributes
    ----------
    trace : Trace
    scheme : Scheme
    machine : Flat, KaryTree or Partitions
    overrun, events : str
        The conventions it was simulated under (`simulate`).
    outcome : Outcome
        What the scheme made of the case.
    origin : int, seconds on the clock of the log
        When the clock of the outcome begins.
    site : int
        Which of several sites this is (`simulate_sites`).
    traces : tuple of Trace
        Of all sites; the trace alone if there are no others.
    """

    trace: Trace
    scheme: Scheme
    machine: Flat | KaryTree | Partitions
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
        """What a reader must know: where a recorded schedule has no waits, or breaks a law."""
        return self.scheme.notes(self)

    @cached_property
    def partitions(self) -> dict[str | int, "Schedule"]:
        """The schedule of each partition, by its name: its jobs on its processors (`schedlab.Partitions`).

        Raises
        ------
        ValueError
            For a machine without partitions.
        """
        if not isinstance(self.machine, Partitions):
            raise ValueError(f"partitions are of a machine that has some; this schedule is of {self.machine}")
        places = self.machine.places(self.trace.table, self.trace.names)
        cases = self.case.parts()
        return {
            name: self._partition(places == i, name, procs, cases[i])
            for i, (name, procs) in enumerate(self.machine.sizes)
        }

    def _partition(self, jobs, name, procs, case):
        part = replace(
            self.trace,
            table=self.trace.table[jobs],
            procs=procs,
            history=(*self.trace.history, f"partition {name}: {jobs.sum():,} jobs on {procs:,} processors"),
        )
        schedule = replace(self, trace=part, machine=Flat(procs), outcome=self.outcome.part(jobs), traces=())
        schedule.__dict__["case"] = case  # of the trace as it is now, times and texts would be numbered anew
        return schedule

    @cached_property
    def case(self) -> Case:
        """What was simulated; times in ticks of the outcome."""
        case, origin = case_of(self.trace, self.scheme, self.machine, self.overrun, self.events)
        later = case.jobs._replace(submit=case.jobs.submit + origin - self.origin)
        return case if origin == self.origin else replace(case, jobs=later)

    @property
    def held(self) -> tuple[np.ndarray, np.ndarray]:
        """Processors held from each instant to the next, int64, and for how many seconds."""
        timeline = self.timeline()
        return timeline["used"].to_numpy()[:-1], np.diff(timeline["time"])

    def __repr__(self) -> str:
        values = self.metrics()
        return (
            f"<Schedule {self.trace.title}, {self.scheme}: {len(self):,} jobs on {self.machine}, "
            f"mean wait {values['wait_time']:,.0f} s, mean bounded slowdown {values['bounded_slowdown']:,.2f}, "
            f"utilization {values['utilization']:.3f}{''.join(f'{chr(10)}   {note}' for note in self.notes)}>"
        )

    def _repr_html_(self) -> str:
        return display.page(*self._page(), self.trace.account_html())

    def _page(self):
        """Give the parts of a page: what it is, machine and queue over time, and the measures that are read first."""
        timeline = self.timeline()
        values = self._measures(self._per_job(metrics.TAU), timeline)
        time, used, queued = (timeline[name].to_numpy() for name in ("time", "used", "queued"))
        begin, end = (display.instant(self.trace.at(float(second))) for second in (time[0], time[-1]))
        conventions = {"overrun": (self.overrun, "kill"), "events": (self.events, "batched")}
        load = values["offered_load"]
        said = [f"{len(self):,} jobs on {self.machine}" + (f", offered load {load:.3g}" if np.isfinite(load) else "")]
        if self.scheme.simulated:
            said += [f"{name} {value}" for name, (value, usual) in conventions.items() if value != usual]
        shown = {metrics.MEASURES[name][0]: metrics.written(name, values[name]) for name in SHOWN}
        yield display.line(f"on {self.trace.title}", strong=str(self.scheme))
        yield display.line("; ".join(said))
        yield from map(display.note, self.notes)
        yield display.picture(time, used, queued, self.machine.procs, (begin, end))
        yield display.facts(shown)

    def seconds(self, ticks):
        """Give ticks of the outcome as seconds on the clock of the log.

        Parameters
        ----------
        ticks : array
            Ticks since the begin of the case (`Outcome`).

        Returns
        -------
        array, seconds
            Whole where a tick is a second.
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
        """The first start that the scheme promised to each job, -1 where it never did; as `start`."""
        promise = self.outcome.promise
        return _fixed(np.where(promise >= 0, self.seconds(promise), -1))

    @property
    def run(self) -> np.ndarray:
        """Run time of each job as simulated; int64, shape (n_jobs,), seconds.

        A kill cuts it, and a place on a tree may shorten it. For a sweep it is the run time of the parallel job.
        """
        return self.outcome.run

    @property
    def procs(self) -> np.ndarray:
        """Processors that each job held, the parallel job of a sweep; int64, shape (n_jobs,)."""
        return self.outcome.procs

    @property
    def killed(self) -> np.ndarray:
        """Jobs that ended before their work was done; bool, shape (n_jobs,)."""
        return self.outcome.killed

    @cached_property
    def estimate(self) -> np.ndarray:
        """How long each job was expected to run on its processors; int64, shape (n_jobs,), seconds."""
        given = self.outcome.estimate
        return self.trace.table["requested_time"].to_numpy() if given is None else given

    @cached_property
    def started_by(self) -> pd.Categorical:
        """How each job came to start, shape (n_jobs,).

        What counts is which jobs still waited when all starts of the instant had been made, in the order of the
        scheme's queue (of arrival, where it has none):

        - "head": the job started ahead of none of them.
        - "reservation": it did, and had held a reservation (conservative backfilling, several reservations).
        - "backfilled within the shadow": by its estimate it ends before the first of them could start.
        - "backfilled on extra processors": it does not, and holds processors that the first of them leaves over.

        When the first of them could start follows from the estimates of the jobs that ran, of which those count that
        started at the instant, whatever their length. On a tree the labels are
        "head" and "backfilled".

        Raises
        ------
        ValueError
            Where jobs run in several pieces.
        """
        return starts.started_by(self)

    @cached_property
    def _sequential_work(self) -> np.ndarray | None:
        """What each job does in processor-seconds, float64; None without speed-up data."""
        if not self.trace.has_speedup:
            return None
        if self.outcome.estimate is not None:
            return self.trace.sequential_work(self.overrun)  # run times on the chosen processors are rounded up
        return self.run * self.trace.laws(int(self.procs.max())).speedup(self.procs)

    @property
    def wasted(self) -> np.ndarray | None:
        """What each job held beyond its sequential work, processor-seconds, float64; None without speed-up data."""
        work = self._sequential_work
        return None if work is None else self.run * self.procs - work

    @cached_property
    def pieces(self) -> pd.DataFrame:
        """The pieces of the schedule: a job, or tasks of one sweep that start together.

        Columns: home_site, job_number (at that site), start_time and end_time (seconds on the clock of the log), procs,
        and tasks (0 for a job).
        """
        pieces = self.outcome.pieces
        number = np.empty(pieces.job.size, "int64")
        for site, trace in enumerate(self.traces):
            own = pieces.home == site
            number[own] = trace.table.index.to_numpy()[pieces.job[own]]
        return pd.DataFrame(
            {
                "home_site": pieces.home,
                "job_number": number,
                "start_time": self.seconds(pieces.start),
                "end_time": self.seconds(pieces.end),
                "procs": pieces.procs,
                "tasks": pieces.tasks,
            }
        )

    @cached_property
    def _table(self) -> pd.DataFrame:
        index, turnaround = self.trace.table.index, self.end - self.submit
        columns = dict(self.trace.table.items()) | {
            "logged_area": self.trace.logged_area.reindex(index),
            "killed": self.killed,
            "run_time": self.run,
            "start_time": self.start,
            "end_time": self.end,
            "procs": self.procs,
            "wait_time": self.start - self.submit,
            "turnaround": turnaround,
            "slowdown": metrics.slowdown(turnaround, self.run),
            "bounded_slowdown": metrics.bounded_slowdown(turnaround, self.run),
            "promised_start": self.promise,
            **self.outcome.columns(self.seconds),
        }
        if self._sequential_work is not None:
            columns["sequential_work"] = self._sequential_work
            columns["wasted"] = self.wasted
        return pd.DataFrame(columns, index=index)  # at once: to insert one column takes 0.2 ms

    @property
    def jobs(self) -> pd.DataFrame:
        """One row a job: the trace's columns, and what the simulation makes of them.

        run_time is as simulated (cut at the estimate where jobs are killed, `killed` says which), wait_time is the
        simulated one; new are start_time, end_time, procs, turnaround, slowdown, bounded_slowdown (tau = 10 s),
        promised_start (-1: none) and logged_area (processor-seconds before any rescaling). Times in seconds.

        - Where jobs run in one piece also `started_by`.
        - On a tree also backfilled, and nodes as ranges ("0-3 7").
        - With speed-up data also sequential_work (what the job would take on one processor) and wasted, the rest of
          what it held, in processor-seconds; and where the scheme chose procs, estimate, the seconds on these
          (requested_procs and requested_time stay the trace's).
        - Where sweeps ran in pieces also breakdown, parallel_start (of the parallel job, nan where it never did) and
          tasks_alone, which ran apart from it. start_time and end_time are those of the first and the last task;
          slowdown divides by the run time of the parallel job.
        """
        table = copied(self._table)
        if not self.outcome.in_pieces:
            table["started_by"] = self.started_by
        if self.outcome.nodes is not None:
            table["nodes"] = self.allocations()
        return table

    def column(self, name: str) -> pd.Series:
        """Give one column of `jobs`, without making those that take longer, such as `started_by`.

        Parameters
        ----------
        name : str
            Of the column.

        Raises
        ------
        ValueError
            If there is no such column.
        """
        jobs = self._table if name in self._table.columns else self.jobs
        check_known("column", name, jobs.columns)
        return jobs[name].copy()

    def classes(self, by) -> pd.Series:
        """Give the class of each job.

        Parameters
        ----------
        by : str, mapping, function or Series
            As in `metrics`.
        """
        whole = callable(by) or (isinstance(by, str) and by == "started_by")
        return metrics.classes(self.jobs if whole else self._table, by, self.trace.names)

    # -- measures ----------------------------------------------------------------------------------------

    def metrics(
        self,
        by=None,
        tau: float = metrics.TAU,
        window="makespan",
        ci: float | None = None,
        warm_up: int | str = 0,
    ):
        """Measure the schedule.

        Parameters
        ----------
        by : optional
            Classes of jobs, as in `schedlab.metrics.classes`; then one row a class, of the measures that a
            class has. Jobs in no class have a last row, nan.
        tau : float, seconds
            Of the bounded slowdown.
        window : "makespan", "arrivals" or (begin, end) in seconds
            Where utilization is measured: first submission to last end, first to last submission, or stated.
        ci : float, optional
            Confidence, such as 0.95; then intervals by batch means (`schedlab.statistics.batch_means`) on the means
            over jobs, in place of the measures below.
        warm_up : int or "mser"
            Jobs to leave out at the beginning of a class or of the whole, of the intervals only.

        Returns
        -------
        DataFrame, where `ci` is given
            One row a measure, or a (class, measure) for each class that has jobs: mean, low, high, batches, batch_size
            (jobs), warm_up (jobs), and a note on what speaks against the interval; an `IntervalWarning` points there.
        Series, or DataFrame where `by` is given
            It shows itself with units (`schedlab.metrics.Measures`); what is made of it is plain pandas.
            jobs; means of wait_time, turnaround (seconds), slowdown, bounded_slowdown, per_processor_slowdown; the
            median, 95th percentile and maximum of wait_time (seconds); killed (jobs); with speed-up data wasted_share,
            what was held above the sequential work, of all that was held; and of the whole:
            utilization, makespan (seconds), throughput (jobs per hour), loss_of_capacity (processor-seconds) and
            loss_of_capacity_share (of processors x makespan), mean_queue and max_queue (jobs), offered_load,
            effective_load (sequential work; without speed-up data as if all were perfectly efficient).
        """
        per_job = self._per_job(tau)
        labels = None if by is None else self.classes(by)
        if ci is not None:
            return metrics.MeasureTable(statistics.intervals(per_job[list(MEANS)], ci, labels, warm_up=warm_up))
        if by is not None:
            return metrics.MeasureTable(_means(per_job.groupby(labels, observed=False, dropna=False)))
        return self._measures(per_job, self.timeline(), window)

    def _measures(self, per_job, timeline, window="makespan"):
        values = _means_of_all(per_job) | self._whole(window, timeline)
        return metrics.Measures(values, name=str(self.scheme), dtype="float64")

    def _per_job(self, tau):
        turnaround = self.end - self.submit
        work = self._sequential_work
        shares = {} if work is None else {"area": self.run * self.procs, "sequential_work": work}
        return pd.DataFrame(
            {
                "wait_time": self.start - self.submit,
                "turnaround": turnaround,
                "slowdown": metrics.slowdown(turnaround, self.run),
                "bounded_slowdown": metrics.bounded_slowdown(turnaround, self.run, tau),
                "per_processor_slowdown": metrics.per_processor_slowdown(turnaround, self.run, self.procs, tau),
                "killed": self.killed,
                **shares,
            },
            index=self.trace.table.index,
        )

    def _whole(self, window, timeline):
        first, last, end = self.submit[0], self.submit[-1], self.end.max()
        windows = {"makespan": (first, end), "arrivals": (first, last)}
        if isinstance(window, str) and window not in windows:
            raise ValueError(f"unknown window {window!r}; known: makespan, arrivals, or (begin, end) in seconds")
        lasts = np.diff(timeline["time"]).astype("float64")
        makespan, size = (end - first).item(), self.machine.procs
        lost = self._lost(timeline)
        capacity, pieces = size * makespan, self.outcome.pieces
        held = (self.seconds(pieces.start), self.seconds(pieces.end), pieces.procs)
        return {
            "utilization": metrics.utilization(*held, size, windows[window] if isinstance(window, str) else window),
            "makespan": makespan,
            "throughput": 3600 * len(self) / makespan if makespan else float("nan"),
            "loss_of_capacity": lost,
            "loss_of_capacity_share": lost / capacity if capacity else float("nan"),
            "mean_queue": float((timeline["queued"].to_numpy()[:-1] * lasts).sum() / makespan) if makespan else 0.0,
            "max_queue": int(timeline["queued"].max()),
            "offered_load": self.trace.offered_load(self.overrun) * self.trace.procs / size,
            "effective_load": self._effective_work() / (size * int(last - first)) if last > first else float("inf"),
        }

    def _effective_work(self):
        if self._sequential_work is None:
            return metrics.effective_work(self.run, self.procs)
        return float(self._sequential_work.sum())

    def loss_of_capacity(self) -> float:
        """Add up what idled while jobs waited that could have used it: processor-seconds."""
        return self._lost(self.timeline())

    def _lost(self, timeline):
        if isinstance(self.machine, Partitions):  # what idles in one is of no use to the jobs of another
            return sum(part.loss_of_capacity() for part in filter(len, self.partitions.values()))
        lost = self.outcome.lost
        return metrics.loss_of_capacity(timeline, self.machine.procs) if lost is None else lost / self.outcome.tick

    @cached_property
    def states(self) -> tuple[np.ndarray, ...]:
        """Instants in ticks of the outcome; from each on processors in use, jobs queued, processors that they want."""
        return metrics.states(*self.outcome.changes())

    def timeline(self) -> pd.DataFrame:
        """Follow the machine and the queue over time.

        Returns
        -------
        DataFrame
            One row for each distinct instant: time (seconds), and from then until the next row used (processors),
            queued (jobs) and demand (processors that the queued jobs want; a queued sweep no more than it has tasks
            left).
        """
        time, used, queued, demand = self.states
        return pd.DataFrame({"time": self.seconds(time), "used": used, "queued": queued, "demand": demand})

    def locality(self) -> pd.DataFrame:
        """Tell how near to each other the nodes of each job on a tree are.

        Returns
        -------
        DataFrame
            Index job_number; stage, the lowest that has all nodes in one block; hops, the mean over all pairs of
            nodes of the links between them, 2 x the stage at which they meet (0 for a single node).
        """
        tree = self._tree("locality")
        stage, hops = abandonable(tree_nodes.locality, *self.processors(), tree.k, tree.n)
        return pd.DataFrame({"stage": stage, "hops": hops}, index=self.trace.table.index)

    def fragmentation(self) -> pd.DataFrame:
        """Follow the free nodes of a tree over time.

        Returns
        -------
        DataFrame
            time (seconds), free (nodes), largest (nodes of the largest job that would find a place in one block), and
            fragmentation, 1 - largest / free (0 where none is free): the share of free nodes that is of no use to it.
        """
        tree = self._tree("fragmentation")
        held = (self.start, self.end, *self.processors())
        time, free, largest = abandonable(tree_nodes.fragmentation, *held, tree.k, tree.n, tree.procs)
        lost = 1 - np.divide(largest, free, out=np.ones(time.size), where=free > 0)
        return pd.DataFrame({"time": time, "free": free, "largest": largest, "fragmentation": lost})

    def _tree(self, what):
        if not isinstance(self.machine, KaryTree):
            raise ValueError(f"{what} is of jobs on nodes; this schedule is of {self.machine} without a topology")
        return self.machine

    def sweeps(self) -> pd.DataFrame:
        """Tell what held processors for each parameter sweep: tasks that ran apart, and the parallel job.

        Returns
        -------
        DataFrame
            One row a sweep that was submitted at this site, index job_number: procs, run_time (seconds) and breakdown
            as submitted; tasks_alone, as in `jobs`; of the tasks that held processors, at whatever site: tasks (how
            many), tasks_procs, tasks_area (processor-seconds), shortest and longest (seconds; nan if there are none);
            and parallel_time, how long the parallel job ran (seconds; 0 if it never did).

        Raises
        ------
        ValueError
            If the scheme runs whole jobs, and no tasks.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=100, procs=64).with_sweeps(0.2)
        >>> bool((sl.simulate(trace, "flooding").sweeps()["parallel_time"] == 0).all())
        True
        """
        return sweeps(self)

    def why(self, job: int) -> Why:
        """Tell why a job waited, in words and as a Gantt chart.

        Which jobs held the processors meanwhile, which were submitted later and started earlier, when the job could
        expect to start (`schedlab.schedule.why.Why.expected`) and what changed that, and how it came to start.

        Parameters
        ----------
        job : int
            The job number.

        Returns
        -------
        Why
            Shown in a notebook with its chart; ``str`` gives the words, ``others`` and ``expected`` are tables.

        Raises
        ------
        ValueError
            For an unknown job, and where jobs run in several pieces.

        Examples
        --------
        >>> import schedlab as sl
        >>> schedule = sl.simulate(sl.model_trace("lublin", jobs=40, procs=32, seed=7), "easy")
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

    def users(self) -> pd.DataFrame:
        """Share out the machine over its users (`schedlab.metrics.user_shares`).

        Returns
        -------
        DataFrame
            One row a user, the largest area first.
        """
        return metrics.user_shares(self._table)

    def gini(self, measure: str = "bounded_slowdown") -> float:
        """Tell how unevenly a column of `jobs` is spread: its Gini coefficient (`schedlab.metrics.gini`).

        Parameters
        ----------
        measure : str
            The column.

        Raises
        ------
        ValueError
            For an unknown column, or one with values below 0.
        """
        check_known("measure", measure, self._table.columns)
        return metrics.gini(self._table[measure])

    # -- laws --------------------------------------------------------------------------------------------

    def validate(self) -> "Schedule":
        """Check the laws of scheduling (`schedlab.schedule.laws`), and give the schedule back.

        Every job starts exactly once and not before its submission; never are more processors held than there are;
        a job runs as long as the trace and `overrun` say; FCFS starts jobs in the order of its queue; a kept promise
        (EASY's for the head of a first come, first served queue, conservative's for every job; none where jobs run on
        past their estimates) is a start no later than promised.

        On partitions: all of this for each of them by itself.

        On a tree: a job has as many nodes as it needs, all of them installed and nobody else's, in one block of its
        stage where the allocation says so, and runs as long as its place lets it, or was killed past its estimate
        after it had been backfilled.

        Where the scheme chose processors: a moldable job has 1 to all of them and runs as long as its speedup on these
        says, as recomputed from the trace; a rigid one beside it runs as the trace has it.

        Where sweeps ran in pieces: each task of each sweep runs once, and a sweep ends with its last; the loss of
        capacity is what the states of machine and queue say; and tasks never disturb the local schedule. For that the
        site is replayed: whenever tasks start, the local scheduler had nothing left to start, and the reservation of
        EASY's head, or all those of conservative backfilling, are the same with them as without them. Under flooding
        tasks are jobs of the queue like others.

        Raises
        ------
        ScheduleError
        """
        laws.check(self)
        return self

    # -- processors and files ----------------------------------------------------------------------------

    def to_swf(self, path) -> None:
        """Write the simulated log as SWF (`schedlab.schedule.export.to_swf`).

        Parameters
        ----------
        path : path
            The file to write, gzipped if its name ends in .gz.
        """
        export.to_swf(self, path)

    def to_csv(self, path) -> None:
        """Write the schedule in the columns of Batsim's jobs file (`schedlab.schedule.export.to_csv`).

        Parameters
        ----------
        path : path
            The file to write.
        """
        export.to_csv(self, path)

    def processors(self) -> Ranges:
        """Give the processors of each of the `pieces`, where jobs run in one piece those of each job.

        On a tree its nodes, else the lowest-numbered ones that are free when it starts.

        Returns
        -------
        offset : int64, shape (n_pieces + 1,)
            The intervals of the i-th piece are ``offset[i]:offset[i + 1]``.
        first, last : int64, shape (n_intervals,)
            Processor numbers from 0, both ends included.

        Raises
        ------
        ScheduleError
            If more processors are held than there are.
        """
        if self.outcome.nodes is not None:
            return self.outcome.nodes
        if isinstance(self.machine, Partitions):
            return self._of_partitions()
        size, pieces, most = self.machine.procs, self.outcome.pieces, int(self.states[1].max(initial=0))
        if not self.scheme.simulated:
            size = max(size, most)  # a log may hold more than there are
        if most > size or (pieces.end < pieces.start).any():
            self.validate()
            raise laws.ScheduleError(f"{self.scheme} on {self.trace.name}: up to {most} processors held of {size}")
        return Ranges(*abandonable(assign_processors, pieces.start, pieces.end, pieces.procs, size))

    def _of_partitions(self):
        """Number the processors of the partitions one after the other."""
        places, own, below = self.machine.places(self.trace.table, self.trace.names), {}, 0
        for i, (part, (_, procs)) in enumerate(zip(self.partitions.values(), self.machine.sizes, strict=True)):
            offset, first, last = part.processors() if len(part) else ((0,), (), ())
            for job, begin, end in zip(np.flatnonzero(places == i), offset[:-1], offset[1:], strict=True):
                own[job] = (first[begin:end] + below, last[begin:end] + below)
            below += procs
        ranges = [own[job] for job in range(len(self))]
        offset = np.cumsum([0, *(first.size for first, _ in ranges)])
        return Ranges(offset, *(np.concatenate([each[side] for each in ranges]) for side in (0, 1)))

    def allocations(self) -> list[str]:
        """Give the processors of this machine that each job held as text ("0-3 7"), those of all its pieces.

        Returns
        -------
        list of str
            One for each job.
        """
        return self._nodes if self.outcome.nodes is not None else self._allocations()

    @cached_property
    def _nodes(self):
        return self._allocations()

    def _allocations(self):
        offset, first, last = self.processors()
        if self.outcome.in_pieces:
            offset, first, last = _joined(self.outcome.pieces, self.site, len(self), offset, first, last)
        interval = [f"{a}-{b}" if a < b else f"{a}" for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        return [" ".join(interval[a:b]) for a, b in zip(offset[:-1].tolist(), offset[1:].tolist(), strict=True)]


def _fixed(array):
    """Let nobody write into an array that a schedule gives away."""
    array.flags.writeable = False
    return array


def _joined(pieces, site, n_jobs, offset, first, last):
    """Give the processors of each job from those of its pieces."""
    piece = np.repeat(np.arange(pieces.job.size), np.diff(offset))
    own = pieces.home[piece] == site
    job, first, last = pieces.job[piece[own]], first[own], last[own]
    order = np.lexsort((first, job))
    joined = []
    for of, low, high in zip(job[order].tolist(), first[order].tolist(), last[order].tolist(), strict=True):
        if joined and joined[-1][0] == of and low <= joined[-1][2] + 1:
            joined[-1][2] = max(joined[-1][2], high)
        else:
            joined.append([of, low, high])
    job, first, last = np.array(joined, "int64").reshape(-1, 3).T
    return Ranges(np.searchsorted(job, np.arange(n_jobs + 1)), first, last)


def _means_of_all(per_job):
    """Give what `_means` does for one class of all jobs, in a tenth of the time."""
    columns = {name: per_job[name].to_numpy() for name in per_job}
    waits = columns["wait_time"]
    means = {"jobs": len(waits)} | {name: columns[name].mean() for name in MEANS}
    middle, late = np.quantile(waits, (0.5, 0.95))
    found = {"jobs": len(waits), "wait_time": means["wait_time"], "median_wait_time": middle, "p95_wait_time": late}
    found |= {"max_wait_time": waits.max(), **means, "killed": columns["killed"].sum()}
    if "sequential_work" in columns:
        found["wasted_share"] = 1 - columns["sequential_work"].sum() / columns["area"].sum()
    return found


def _means(groups):
    means = groups[list(MEANS)].mean()
    waits = groups["wait_time"]
    means.insert(0, "jobs", groups.size())
    means.insert(2, "median_wait_time", waits.median())
    means.insert(3, "p95_wait_time", waits.quantile(0.95))
    means.insert(4, "max_wait_time", waits.max())
    means["killed"] = groups["killed"].sum()
    if "sequential_work" in groups.obj:
        sums = groups[["area", "sequential_work"]].sum()
        means["wasted_share"] = 1 - sums["sequential_work"] / sums["area"]
    return means
