"""`Schedule`: which processors each job of a trace held and when, and measures of that."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import overload

import numpy as np
import pandas as pd

from schedlab import show
from schedlab._runtime.text import check_known, suggestion
from schedlab._runtime.threads import abandonable
from schedlab.kernels import tree_nodes
from schedlab.kernels.processors import assign_processors
from schedlab.machine import Flat, KaryTree, Partitions
from schedlab.schedule import metrics, statistics
from schedlab.schedule.metrics import TAU, Measures, MeasureTable
from schedlab.schemes import Case, Outcome, Ranges, Scheme
from schedlab.schemes.cases import case_of
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
AREA_WEIGHTED = "area_weighted_turnaround"
PERIODS = {"throughput_sd_day": metrics.DAY, "throughput_sd_week": metrics.WEEK}


@dataclass(frozen=True, eq=False, repr=False)
class Schedule:
    """The result of a simulation.

    Times are seconds on the clock of the log: int64, or float64 if sweeps ran as separate tasks, which need not take
    whole seconds.

    Attributes
    ----------
    trace : Trace
    scheme : Scheme
    machine : Flat, KaryTree or Partitions
    overrun, events : str
        The conventions it was simulated under (`simulate`).
    outcome : Outcome
        The result of the scheme for the case.
    origin : int, seconds on the clock of the log
        When the clock of the outcome begins.
    site : int
        Position of this site, if several were simulated together (`simulate_sites`).
    traces : tuple of Trace
        The traces of all sites; only `trace` if there is a single site.

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
        """Warnings for the reader: for example, that a recorded schedule has no waits, or breaks a law."""
        return self.scheme.notes(self)

    @cached_property
    def partitions(self) -> dict[str | int, "Schedule"]:
        """The schedule of each partition by name: its jobs on its processors (`schedlab.Partitions`).

        Raises
        ------
        ValueError
            For a machine without partitions.
        """
        if not isinstance(self.machine, Partitions):
            raise ValueError(f"partitions need a machine that has them; this schedule is of {self.machine}")
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
        schedule.__dict__["case"] = case  # made anew from the trace, it would renumber times and texts
        return schedule

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
            f"<Schedule {self.trace.title}, {self.scheme}: {len(self):,} jobs on {self.machine}, "
            f"mean wait {values['wait_time']:,.0f} s, mean bounded slowdown {values['bounded_slowdown']:,.2f}, "
            f"utilization {values['utilization']:.3f}{''.join(f'{chr(10)}   {note}' for note in self.notes)}>"
        )

    def _repr_html_(self) -> str:
        return show.page(*self._page(), self.trace.account_html())

    def _page(self):
        """Return the parts of an HTML page: a heading, machine and queue over time, and the main measures."""
        timeline = self.timeline()
        values = self._measures(self._per_job(metrics.TAU), timeline)
        time, used, queued = (timeline[name].to_numpy() for name in ("time", "used", "queued"))
        begin, end = (show.instant(self.trace.at(float(second))) for second in (time[0], time[-1]))
        conventions = {"overrun": (self.overrun, "kill"), "events": (self.events, "batched")}
        load = values["offered_load"]
        parts = [f"{len(self):,} jobs on {self.machine}" + (f", offered load {load:.3g}" if np.isfinite(load) else "")]
        if self.scheme.simulated:
            parts += [f"{name} {value}" for name, (value, usual) in conventions.items() if value != usual]
        facts = {metrics.MEASURES[name][0]: metrics.written(name, values[name]) for name in SHOWN}
        yield show.line(f"on {self.trace.title}", strong=str(self.scheme))
        yield show.line("; ".join(parts))
        yield from map(show.note, self.notes)
        yield show.picture(time, used, queued, self.machine.procs, (begin, end))
        yield show.facts(facts)

    def seconds(self, ticks):
        """Convert ticks of the outcome to seconds on the clock of the log.

        Parameters
        ----------
        ticks : array
            Ticks since the begin of the case (`Outcome`).

        Returns
        -------
        array, seconds
            Integers if a tick is a second.
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

        If the job is killed, it is cut; a good place on a tree may shorten it. For a sweep, it is that of the parallel
        job.
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
        """How each job came to start, shape (n_jobs,).

        The label depends on which jobs still waited after all starts of the instant. They are taken in the order of the
        scheme's queue, or in order of arrival if it has none.

        - "head": the job started ahead of none of them.
        - "reservation": it started ahead of one, and had held a reservation (conservative backfilling, several
          reservations).
        - "backfilled within the shadow": by its estimate, it ends before the first of them could start.
        - "backfilled on extra processors": it does not end by then, but uses processors that the first of them does not
          need.

        When the first of them could start follows from the estimates of the running jobs. Jobs that started at the same
        instant count as running, whatever their length. On a tree, the labels are only "head" and "backfilled".

        Raises
        ------
        ValueError
            If jobs run in several pieces.
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

        Columns: home_site, job_number (at that site), start_time and end_time (seconds on the clock of the log), procs,
        and tasks (0 for a job).
        """
        pieces = self.outcome.pieces
        number = np.empty(pieces.job.size, "int64")
        for site, trace in enumerate(self.traces):
            at_home = pieces.home == site
            number[at_home] = trace.table.index.to_numpy()[pieces.job[at_home]]
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
        columns = dict(self.trace.table.items()) | {name: make(self) for name, make in RESULTS.items()} | self._own
        return pd.DataFrame(columns, index=self.trace.table.index)  # all at once: inserting one column takes 0.2 ms

    @cached_property
    def _own(self) -> dict[str, np.ndarray]:
        """The columns of `_table` that not every schedule has."""
        work = {"sequential_work": self._sequential_work, "wasted": self.wasted}
        return self.outcome.columns(self.seconds) | (work if self.trace.has_speedup else {})

    @property
    def jobs(self) -> pd.DataFrame:
        """One row per job: the columns of the trace, and the results of the simulation. Times in seconds.

        run_time is as simulated: it is cut at the estimate if the job was killed (see `killed`). wait_time is the
        simulated one. Added are start_time, end_time, procs, turnaround, slowdown, bounded_slowdown (tau = 10 s),
        promised_start (-1: none) and logged_area (processor-seconds before any rescaling).

        - If jobs run in one piece, also `started_by`.
        - On a tree, also backfilled, and nodes as ranges ("0-3 7").
        - With speed-up data, also sequential_work (processor-seconds on one processor) and wasted (processor-seconds
          held beyond that). If the scheme chose procs, also estimate, the expected seconds on these; requested_procs
          and requested_time stay those of the trace.
        - If sweeps ran in pieces, also breakdown, parallel_start (of the parallel job; nan if it never started) and
          tasks_alone (tasks that ran apart from it). start_time is the start of the first task and end_time the end of
          the last; slowdown divides by the run time of the parallel job.

        Examples
        --------
        >>> import schedlab as sl
        >>> jobs = [(0, 6, 6, 5), (1, 4, 4, 6), (2, 3, 3, 3)]  # submission, run time, estimate, processors
        >>> table = sl.simulate(sl.testing.trace_of(jobs, machine=8), "easy").jobs
        >>> table[["start_time", "wait_time", "promised_start"]].to_numpy().tolist()
        [[0, 0, -1], [6, 5, 6], [2, 0, -1]]
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

        Raises
        ------
        ValueError
            If there is no such column.

        Examples
        --------
        >>> import schedlab as sl
        >>> jobs = [(0, 6, 6, 5), (1, 4, 4, 6), (2, 3, 3, 3)]  # submission, run time, estimate, processors
        >>> sl.simulate(sl.testing.trace_of(jobs, machine=8), "easy").column("wait_time").tolist()
        [0, 5, 0]
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

    def classes(self, by) -> pd.Series:
        """Return the class of each job.

        Parameters
        ----------
        by : str, mapping, function or Series
            As in `metrics`.

        Examples
        --------
        >>> import schedlab as sl
        >>> schedule = sl.simulate(sl.testing.trace_of([(0, 60, 60, 4), (0, 7200, 7200, 32)], machine=32))
        >>> schedule.classes("kurian").tolist(), schedule.classes("size").tolist()
        (['SN', 'LW'], ['3-4', '17-32'])
        """
        whole = callable(by) or (isinstance(by, str) and by == "started_by")
        return metrics.classes(self.jobs if whole else self._table, by, self.trace.names)

    # -- measures ----------------------------------------------------------------------------------------

    @overload
    def metrics(self, by: None = None, tau: float = ..., window=..., *, warm_up: int | str = ...) -> Measures: ...
    @overload
    def metrics(
        self, by=None, tau: float = ..., window=..., confidence: float | None = ..., warm_up: int | str = ...
    ) -> MeasureTable: ...
    def metrics(
        self,
        by=None,
        tau: float = TAU,
        window="makespan",
        confidence: float | None = None,
        warm_up: int | str = 0,
    ):
        """Measure the schedule.

        Parameters
        ----------
        by : optional
            Classes of jobs, as in `schedlab.metrics.classes`. The result then has one row per class, with the measures
            that a class has. Jobs in no class have a last row, nan.
        tau : float, seconds
            Threshold of the bounded slowdown. Run times below it count as tau.
        window : "makespan", "arrivals" or (begin, end) in seconds
            Period over which to measure utilization.

            - "makespan": from the first submission to the last end.
            - "arrivals": from the first to the last submission.
            - (begin, end): the given period.
        confidence : float, optional
            Confidence level, such as 0.95. If given, the result has intervals by batch means
            (`schedlab.statistics.batch_means`) on the means over jobs, instead of the measures below.
        warm_up : int or "mser"
            Jobs to leave out at the beginning of each class, or of the whole. Only for intervals.

        Returns
        -------
        DataFrame, where `confidence` is given
            One row per measure, or per (class, measure) for each class that has jobs: mean, low, high, batches,
            batch_size (jobs), warm_up (jobs), and a note with reasons to doubt the interval, which an `IntervalWarning`
            points out. If the queue does not settle (`settles`), low and high are nan.
        Series, or DataFrame where `by` is given
            It displays with units (`schedlab.metrics.Measures`); anything computed from it is plain pandas.

            - jobs: how many; killed: how many of them were killed.
            - Means of wait_time, turnaround (seconds), slowdown, bounded_slowdown, per_processor_slowdown; the median,
              95th percentile and maximum of wait_time (seconds).
            - area_weighted_turnaround: the mean turnaround, each job weighted by the processor-seconds that it held
              (`schedlab.metrics.area_weighted_turnaround`; seconds).
            - throughput_sd_day, throughput_sd_week: standard deviation of the jobs completed per day and per week. The
              days and weeks count from the first submission, for classes, too; a last one that is cut short is left out
              (`schedlab.metrics.throughput_deviation`).
            - With speed-up data, wasted_share: processor-seconds held beyond the sequential work, as a share of all
              that was held.
            - Only for the whole: utilization, makespan (seconds), throughput (jobs per hour), loss_of_capacity
              (processor-seconds), loss_of_capacity_share (of processors x makespan), mean_queue and max_queue (jobs),
              longest_pile_up (share of the makespan for which the queue stays long: `schedlab.metrics.pile_up`),
              offered_load, and effective_load (from the sequential work; without speed-up data every job counts as
              perfectly efficient).

        Raises
        ------
        ValueError
            For unknown classes; for a quantity, such as "wait_time", instead of classes; for a `warm_up` without
            `confidence`; or for a `window` beside `by` or `confidence`.

        Examples
        --------
        >>> import schedlab as sl
        >>> schedule = sl.simulate(sl.testing.trace_of([(0, 7200, 7200, 8), (0, 3600, 3600, 4)], machine=8), "easy")
        >>> schedule.metrics()[["wait_time", "utilization"]].round(3).to_dict()
        {'wait_time': 3600.0, 'utilization': 0.833}
        >>> schedule.metrics(by="size")["turnaround"].dropna().to_dict()
        {'3-4': 10800.0, '5-8': 7200.0}
        >>> schedule.metrics(window=(0, 7200))["utilization"].item()
        1.0

        Intervals on the means, by batches of jobs in the order of submission:

        >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=2).scale_load(0.5)
        >>> table = sl.simulate(trace, "easy").metrics(confidence=0.95)
        >>> table[["mean", "low", "high"]].round(-3).loc["wait_time"].tolist()
        [2000.0, 1000.0, 4000.0]
        """
        statistics.check_warm_up(confidence, warm_up)
        if not (by is None and confidence is None) and not (isinstance(window, str) and window == "makespan"):
            raise ValueError(
                f"window is {window!r}, but classes and intervals have no utilization: leave out by and confidence"
            )
        per_job = self._per_job(tau)
        labels = None if by is None else self.classes(by)
        if confidence is not None:
            how = {"warm_up": warm_up, "unsettled": self.unsettled}
            return metrics.MeasureTable(statistics.intervals(per_job[list(MEANS)], confidence, labels, **how))
        if by is not None:
            groups = per_job.groupby(labels, observed=False, dropna=False)
            return metrics.MeasureTable(_means(groups, self.submit[0], self.end.max()))
        return self._measures(per_job, self.timeline(), window)

    def _measures(self, per_job, timeline, window="makespan"):
        values = _means_of_all(per_job) | self._whole(window, timeline)
        return metrics.Measures(values, name=str(self.scheme), dtype="float64")

    def _per_job(self, tau):
        turnaround = self.end - self.submit
        work = self._sequential_work
        shares = {} if work is None else {"sequential_work": work}
        return pd.DataFrame(
            {
                "wait_time": self.start - self.submit,
                "turnaround": turnaround,
                "slowdown": metrics.slowdown(turnaround, self.run),
                "bounded_slowdown": metrics.bounded_slowdown(turnaround, self.run, tau),
                "per_processor_slowdown": metrics.per_processor_slowdown(turnaround, self.run, self.procs, tau),
                "killed": self.killed,
                "end": self.end.astype("float64"),
                "area": self.run * self.procs,
                **shares,
            },
            index=self.trace.table.index,
        )

    def _whole(self, window, timeline):
        first, last, end = self.submit[0], self.submit[-1], self.end.max()
        windows = {"makespan": (first, end), "arrivals": (first, last)}
        if isinstance(window, str) and window not in windows:
            known = f"makespan, arrivals, or (begin, end) in seconds{suggestion(window, windows)}"
            raise ValueError(f"unknown window {window!r}; known: {known}")
        lasts = np.diff(timeline["time"]).astype("float64")
        makespan, size = (end - first).item(), self.machine.procs
        lost = self._lost(timeline)
        begin, until = metrics.pile_up(timeline["time"].to_numpy(), timeline["queued"].to_numpy())
        capacity, pieces = size * makespan, self.outcome.pieces
        held = (self.seconds(pieces.start), self.seconds(pieces.end), pieces.procs)
        return {
            "utilization": metrics.utilization(*held, size, windows[window] if isinstance(window, str) else window),
            "makespan": makespan,
            "throughput": 3600 * len(self) / makespan if makespan else float("nan"),
            **{name: metrics.throughput_deviation(self.end, first, end, period) for name, period in PERIODS.items()},
            "loss_of_capacity": lost,
            "loss_of_capacity_share": lost / capacity if capacity else float("nan"),
            "mean_queue": float((timeline["queued"].to_numpy()[:-1] * lasts).sum() / makespan) if makespan else 0.0,
            "max_queue": int(timeline["queued"].max()),
            "longest_pile_up": float((until - begin) / makespan) if makespan else 0.0,
            "offered_load": self.trace.offered_load(self.overrun) * self.trace.procs / size,
            "effective_load": self._effective_work() / (size * int(last - first)) if last > first else float("inf"),
        }

    def _effective_work(self):
        if self._sequential_work is None:
            return metrics.effective_work(self.run, self.procs)
        return float(self._sequential_work.sum())

    def loss_of_capacity(self) -> float:
        """Add up what idled while queued jobs could have used it, in processor-seconds.

        Examples
        --------
        >>> import schedlab as sl
        >>> jobs = [(0, 6, 6, 5), (1, 4, 4, 6)]  # from 1 to 6 s, 3 of 8 processors are idle while job 2 waits
        >>> sl.simulate(sl.testing.trace_of(jobs, machine=8), "easy").loss_of_capacity()
        15
        """
        return self._lost(self.timeline())

    def _lost(self, timeline):
        if isinstance(self.machine, Partitions):  # jobs of one partition cannot use what idles in another
            return sum(part.loss_of_capacity() for part in filter(len, self.partitions.values()))
        lost = self.outcome.lost
        return metrics.loss_of_capacity(timeline, self.machine.procs) if lost is None else lost / self.outcome.tick

    @cached_property
    def states(self) -> tuple[np.ndarray, ...]:
        """Instants in ticks of the outcome; from each on: processors in use, jobs queued, what these want."""
        return metrics.states(*self.outcome.changes())

    def timeline(self) -> pd.DataFrame:
        """Follow the machine and the queue over time.

        Returns
        -------
        DataFrame
            One row per distinct instant: time (seconds), and from then until the next row used (processors), queued
            (jobs) and demand (processors that the queued jobs want; a queued sweep wants at most as many as it has
            tasks left).

        Examples
        --------
        >>> import schedlab as sl
        >>> jobs = [(0, 6, 6, 5), (1, 4, 4, 6)]  # submission, run time, estimate, processors
        >>> timeline = sl.simulate(sl.testing.trace_of(jobs, machine=8), "easy").timeline()
        >>> timeline[["time", "used", "queued", "demand"]].to_numpy().tolist()
        [[0, 5, 0, 0], [1, 5, 1, 6], [6, 6, 0, 0], [10, 0, 0, 0]]
        """
        time, used, queued, demand = self.states
        return pd.DataFrame({"time": self.seconds(time), "used": used, "queued": queued, "demand": demand})

    @property
    def settles(self) -> bool:
        """Whether the queue settles, so that means over the jobs have intervals by batch means.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=5000, machine=64, seed=1)
        >>> [sl.simulate(trace.scale_load(load), "easy").settles for load in (0.5, 0.9)]
        [True, False]
        """
        return not self.unsettled

    @cached_property
    def unsettled(self) -> str:
        """Why the queue does not settle (`schedlab.statistics.unsettled`); empty if it does.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=5000, machine=64, seed=1).scale_load(1.1)
        >>> sl.simulate(trace, "easy").unsettled
        'EASY does not settle within the log at this load: its queue piles up and does not drain before the end'
        """
        time, _, queue, _ = self.states
        reason = statistics.unsettled(self.seconds(time), queue, self.submit[-1])
        return f"{self.scheme} does not settle within the log at this load: {reason}" if reason else ""

    def locality(self) -> pd.DataFrame:
        """Measure how close to each other the nodes of each job on a tree are.

        Returns
        -------
        DataFrame
            Index job_number; stage, the lowest stage with all nodes in one block; and hops, the mean number of links
            between two of its nodes: 2 x the stage at which they meet (0 for a single node).

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=200, machine=64, seed=1).scale_load(0.8)
        >>> schedule = sl.simulate(trace, "easy", machine=sl.KaryTree(4, 3, allocation="first-free"))
        >>> schedule.locality()["stage"].value_counts().sort_index().to_dict()
        {1: 88, 2: 49, 3: 63}
        >>> chart = sl.charts.tree(schedule)
        """
        tree = self._tree("locality")
        stage, hops = abandonable(tree_nodes.locality, *self.processors(), tree.k, tree.n)
        return pd.DataFrame({"stage": stage, "hops": hops}, index=self.trace.table.index)

    def fragmentation(self) -> pd.DataFrame:
        """Follow the free nodes of a tree over time.

        Returns
        -------
        DataFrame
            time (seconds); free (nodes); largest (nodes of the largest job that would find room in one block); and
            fragmentation, 1 - largest / free (0 if none is free): the share of free nodes that such a job could not
            use.

        Examples
        --------
        When job 2 ends at 2 s, 3 nodes are free, but only 2 of them in one block:

        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 8, 8, 3), (0, 2, 2, 2), (0, 7, 7, 2)], machine=8)
        >>> table = sl.simulate(trace, "easy", machine=sl.KaryTree(2, 3)).fragmentation()
        >>> table[["time", "free", "largest"]].to_numpy().tolist()
        [[0, 1, 1], [2, 3, 2], [7, 5, 5], [8, 8, 8]]
        """
        tree = self._tree("fragmentation")
        held = (self.start, self.end, *self.processors())
        time, free, largest = abandonable(tree_nodes.fragmentation, *held, tree.k, tree.n, tree.procs)
        lost = 1 - np.divide(largest, free, out=np.ones(time.size), where=free > 0)
        return pd.DataFrame({"time": time, "free": free, "largest": largest, "fragmentation": lost})

    def _tree(self, what):
        if not isinstance(self.machine, KaryTree):
            raise ValueError(f"{what} needs jobs on nodes; this schedule is of {self.machine} without a topology")
        return self.machine

    def sweeps(self) -> pd.DataFrame:
        """Show what held processors for each parameter sweep: tasks that ran apart, and the parallel job.

        Returns
        -------
        DataFrame
            One row per sweep that was submitted at this site, index job_number.

            - procs, run_time (seconds) and breakdown, as submitted.
            - tasks_alone, as in `jobs`.
            - Of the tasks that held processors at any site: tasks (how many), tasks_procs, tasks_area
              (processor-seconds), shortest and longest (seconds; nan if there are none).
            - parallel_time: how long the parallel job ran (seconds; 0 if it never did).

        Raises
        ------
        ValueError
            If the scheme runs only whole jobs, and no tasks.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=100, machine=64).with_parameter_sweeps(0.2)
        >>> bool((sl.simulate(trace, "flooding").sweeps()["parallel_time"] == 0).all())
        True
        """
        return sweeps(self)

    def why(self, job) -> Why:
        """Explain why a job waited, in words and as a Gantt chart.

        The explanation says which jobs held the processors meanwhile, which jobs were submitted later but started
        earlier, when the job could expect to start (`schedlab.schedule.why.Why.expected`) and what changed that, and
        how it came to start.

        Parameters
        ----------
        job : int
            The job number.

        Returns
        -------
        Why
            A notebook shows it with its chart. ``str`` gives the words; ``others`` and ``expected`` are tables.

        Raises
        ------
        ValueError
            For an unknown job, or if jobs run in several pieces.

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

    def users(self) -> pd.DataFrame:
        """Return each user's share of the machine (`schedlab.metrics.user_shares`).

        Returns
        -------
        DataFrame
            One row per user, largest area first.

        Examples
        --------
        >>> import pandas as pd
        >>> import schedlab as sl
        >>> jobs = pd.DataFrame({"submit": [0, 1, 2], "run": 60, "procs": [2, 4, 1], "user": ["ann", "bob", "ann"]})
        >>> trace = sl.from_frame(jobs, submit="submit", run="run", procs="procs", user="user", machine=4)
        >>> users = sl.simulate(trace, "easy").users()
        >>> [trace.names["user_id"][user] for user in users.index], users["area"].tolist()
        (['bob', 'ann'], [240, 180])
        """
        return metrics.user_shares(self._table)

    def gini(self, measure: str = "bounded_slowdown") -> float:
        """Measure how unequal the values of a column of `jobs` are: its Gini coefficient (`schedlab.metrics.gini`).

        Parameters
        ----------
        measure : str
            Name of the column.

        Raises
        ------
        ValueError
            For an unknown column, or one with values below 0.

        Examples
        --------
        >>> import schedlab as sl
        >>> jobs = [(0, 6, 6, 8), (0, 6, 6, 8), (0, 6, 6, 8)]  # waits of 0, 6 and 12 s
        >>> round(sl.simulate(sl.testing.trace_of(jobs, machine=8), "easy").gini("wait_time"), 3)
        0.444
        """
        check_known("measure", measure, self._table.columns)
        return metrics.gini(self._table[measure])

    # -- laws --------------------------------------------------------------------------------------------

    def validate(self) -> "Schedule":
        """Check the laws of scheduling (`schedlab.schedule.laws`), and return the schedule.

        - Always: every job starts exactly once, and not before its submission. No more processors are held than the
          machine has. A job runs as long as the trace and `overrun` say. FCFS starts jobs in the order of its queue.
          Where promises are kept, no job starts later than promised. EASY keeps that of the head of a first come, first
          served queue; conservative backfilling keeps that of every job; none is kept if jobs run on past their
          estimates.
        - On partitions: all of this for each partition by itself.
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

        Raises
        ------
        ScheduleError

        Examples
        --------
        >>> import schedlab as sl
        >>> schedule = sl.simulate(sl.testing.trace_of([(0, 6, 6, 5), (1, 4, 4, 6)], machine=8), "easy")
        >>> schedule.validate() is schedule
        True
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

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import schedlab as sl
        >>> schedule = sl.simulate(sl.model_trace("lublin", jobs=100, seed=1), "easy")
        >>> with TemporaryDirectory() as folder:
        ...     schedule.to_swf(Path(folder, "simulated.swf.gz"))
        ...     again = sl.recorded(sl.read_swf(Path(folder, "simulated.swf.gz")))
        >>> bool((again.start == schedule.start).all())
        True
        """
        export.to_swf(self, path)

    def to_csv(self, path) -> None:
        """Write the schedule in the columns of Batsim's jobs file (`schedlab.schedule.export.to_csv`).

        Parameters
        ----------
        path : path
            The file to write.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import schedlab as sl
        >>> schedule = sl.simulate(sl.testing.trace_of([(0, 6, 6, 5), (1, 4, 4, 6)], machine=8), "easy")
        >>> with TemporaryDirectory() as folder:
        ...     schedule.to_csv(Path(folder, "simulated.csv"))
        ...     lines = Path(folder, "simulated.csv").read_text().splitlines()
        >>> lines[0][:28], len(lines)
        ('job_id,workload_name,profile', 3)
        """
        export.to_csv(self, path)

    def processors(self) -> Ranges:
        """Return the processors of each of the `pieces`; if jobs run in one piece, those of each job.

        On a tree these are its nodes; otherwise the lowest-numbered processors that are free when it starts.

        Returns
        -------
        offset : int64, shape (n_pieces + 1,)
            The intervals of the i-th piece are ``offset[i]:offset[i + 1]``.
        first, last : int64, shape (n_intervals,)
            Processor numbers from 0, both ends included.

        Raises
        ------
        ScheduleError
            If more processors are held than the machine has.
        """
        if self.outcome.nodes is not None:
            return self.outcome.nodes
        if isinstance(self.machine, Partitions):
            return self._of_partitions()
        size, pieces, most = self.machine.procs, self.outcome.pieces, int(self.states[1].max(initial=0))
        if not self.scheme.simulated:
            size = max(size, most)  # a log may hold more than the machine has
        if most > size or (pieces.end < pieces.start).any():
            self.validate()
            raise laws.ScheduleError(f"{self.scheme} on {self.trace.name}: up to {most} processors held of {size}")
        return Ranges(*abandonable(assign_processors, pieces.start, pieces.end, pieces.procs, size))

    def _of_partitions(self):
        """Number the processors of the partitions consecutively."""
        places, by_job, below = self.machine.places(self.trace.table, self.trace.names), {}, 0
        for i, (part, (_, procs)) in enumerate(zip(self.partitions.values(), self.machine.sizes, strict=True)):
            offset, first, last = part.processors() if len(part) else ((0,), (), ())
            for job, begin, end in zip(np.flatnonzero(places == i), offset[:-1], offset[1:], strict=True):
                by_job[job] = (first[begin:end] + below, last[begin:end] + below)
            below += procs
        ranges = [by_job[job] for job in range(len(self))]
        offset = np.cumsum([0, *(first.size for first, _ in ranges)])
        return Ranges(offset, *(np.concatenate([pair[side] for pair in ranges]) for side in (0, 1)))

    def allocations(self) -> list[str]:
        """Return as text the processors of this machine that each job held ("0-3 7"), in all its pieces.

        Returns
        -------
        list of str
            One per job.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 6, 6, 2), (0, 4, 4, 3), (1, 3, 3, 3)], machine=8)
        >>> sl.simulate(trace, "easy", machine=sl.KaryTree(2, 3)).allocations()
        ['0-1', '4-6', '4-6']
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
    """Make an array that a schedule returns read-only."""
    array.flags.writeable = False
    return array


def _joined(pieces, site, n_jobs, offset, first, last):
    """Return the processors of each job from those of its pieces."""
    piece = np.repeat(np.arange(pieces.job.size), np.diff(offset))
    at_site = pieces.home[piece] == site
    job, first, last = pieces.job[piece[at_site]], first[at_site], last[at_site]
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
    """Do what `_means` does, for one class of all jobs, in a tenth of the time."""
    columns = {name: per_job[name].to_numpy() for name in per_job}
    waits = columns["wait_time"]
    means = {"jobs": len(waits)} | {name: columns[name].mean() for name in MEANS}
    middle, late = np.quantile(waits, (0.5, 0.95))
    measures = {"jobs": len(waits), "wait_time": means["wait_time"], "median_wait_time": middle, "p95_wait_time": late}
    measures |= {"max_wait_time": waits.max(), **means}
    measures[AREA_WEIGHTED] = metrics.area_weighted_turnaround(columns["turnaround"], columns["area"])
    measures["killed"] = columns["killed"].sum()
    if "sequential_work" in columns:
        measures["wasted_share"] = 1 - columns["sequential_work"].sum() / columns["area"].sum()
    return measures


def _means(groups, begin, until):
    """Measure each class; its throughput is counted in the periods of the whole schedule."""
    means = groups[list(MEANS)].mean()
    waits = groups["wait_time"]
    means.insert(0, "jobs", groups.size())
    means.insert(2, "median_wait_time", waits.median())
    means.insert(3, "p95_wait_time", waits.quantile(0.95))
    means.insert(4, "max_wait_time", waits.max())
    means[AREA_WEIGHTED] = groups[["turnaround", "area"]].apply(
        lambda jobs: metrics.area_weighted_turnaround(jobs["turnaround"], jobs["area"])
    )
    means["killed"] = groups["killed"].sum()
    for name, period in PERIODS.items():
        means[name] = groups["end"].agg(metrics.throughput_deviation, begin, until, period)
    if "sequential_work" in groups.obj:
        sums = groups[["area", "sequential_work"]].sum()
        means["wasted_share"] = 1 - sums["sequential_work"] / sums["area"]
    return means
