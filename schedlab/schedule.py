"""`Schedule`: when each job of a trace started and ended, what that is worth, and whether it is possible."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from . import display, metrics, statistics
from .kernels import nodes as node_kernels
from .kernels.assign import assign
from .machine import Flat, KaryTree
from .schemes import FCFS, Placed, Scheme
from .schemes.placement import fractions, shortened
from .text import cell
from .threads import abandonable
from .workload import swf
from .workload.trace import KEEP, KILL_BACKFILLED, Trace, run_times

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


class ScheduleError(AssertionError):
    """A schedule breaks a law of scheduling; the message names the law, the job and the time."""


@dataclass(frozen=True, eq=False, repr=False)
class Schedule:
    """The result of a simulation.

    Attributes
    ----------
    trace : Trace
    scheme : Scheme
    machine : Flat or KaryTree
    overrun, events : str
        The conventions it was simulated under (`simulate`).
    start, promise : int64, shape (n_jobs,), seconds on the clock of the log
        In the order of the trace's jobs. The promise is the first start time that the scheme reserved
        for a job, -1 where it never did.
    run : int64, shape (n_jobs,), seconds
        Run times as simulated: cut where a job was killed, shortened by a place in one block of a tree.
    killed : bool, shape (n_jobs,)
    placed : Placed, optional
        On a tree: the nodes of each job, and which were backfilled.
    width, estimate : int64, shape (n_jobs,), optional
        Under a scheme for moldable jobs: the processors that it chose for each, and the seconds estimated on these.
    """

    trace: Trace
    scheme: Scheme
    machine: Flat | KaryTree
    overrun: str
    events: str
    start: np.ndarray
    promise: np.ndarray
    run: np.ndarray
    killed: np.ndarray
    placed: Placed | None = None
    width: np.ndarray | None = None
    estimate: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know: where a recorded schedule has no waits, or breaks a law."""
        return self.scheme.notes(self)

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

    @cached_property
    def procs(self) -> np.ndarray:
        """Processors that each job held; int64, shape (n_jobs,)."""
        return self.trace.table["requested_procs"].to_numpy() if self.width is None else self.width

    @cached_property
    def _estimate(self) -> np.ndarray:
        return self.trace.table["requested_time"].to_numpy() if self.estimate is None else self.estimate

    @cached_property
    def _sequential_work(self) -> np.ndarray | None:
        """What each job does in processor-seconds, float64; None without speed-up data."""
        if not self.trace.has_speedup:
            return None
        if self.width is not None:
            return self.trace.sequential_work(self.overrun)  # run times on the chosen processors are rounded up
        return self.run * self.trace.laws(int(self.procs.max())).speedup(self.procs)

    @cached_property
    def submit(self) -> np.ndarray:
        """Submission of each job; int64, shape (n_jobs,), seconds on the clock of the log."""
        return self.trace.table["submit_time"].to_numpy()

    @property
    def end(self) -> np.ndarray:
        """End of each job; int64, shape (n_jobs,), seconds on the clock of the log."""
        return self.start + self.run

    @cached_property
    def _table(self) -> pd.DataFrame:
        table = self.trace.jobs
        turnaround = self.end - self.submit
        table["logged_area"] = self.trace.logged_area.reindex(table.index)
        table["killed"] = self.killed
        table["run_time"] = self.run
        table["start_time"] = self.start
        table["end_time"] = self.end
        table["procs"] = self.procs
        table["wait_time"] = self.start - self.submit
        table["turnaround"] = turnaround
        table["slowdown"] = metrics.slowdown(turnaround, self.run)
        table["bounded_slowdown"] = metrics.bounded_slowdown(turnaround, self.run)
        table["promised_start"] = self.promise
        if self.width is not None:
            table["estimate"] = self.estimate
        if self._sequential_work is not None:
            table["sequential_work"] = self._sequential_work
            table["wasted"] = self.run * self.procs - self._sequential_work
        if self.placed is not None:
            table["backfilled"] = self.placed.advanced
        return table

    @property
    def jobs(self) -> pd.DataFrame:
        """One row a job: the trace's columns, and what the simulation makes of them.

        run_time is as simulated (cut at the estimate where jobs are killed, `killed` says which), wait_time is
        the simulated one; new are start_time, end_time, procs, turnaround, slowdown, bounded_slowdown (tau = 10 s),
        promised_start (-1: none) and logged_area (processor-seconds before any rescaling). Times in seconds. On a tree
        also backfilled, and nodes as ranges ("0-3 7"). With speed-up data also sequential_work (what the job would take
        on one processor) and wasted, the rest of what it held, in processor-seconds; and where the scheme chose procs,
        estimate, the seconds on these (requested_procs and requested_time stay the trace's).
        """
        table = self._table.copy(deep=False)
        if self.placed is not None:
            table["nodes"] = self._ranges
        return table

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
        labels = None if by is None else metrics.classes(self._table, by, self.trace.names)
        if ci is not None:
            return metrics.MeasureTable(statistics.intervals(per_job[list(MEANS)], ci, labels, warm_up=warm_up))
        if by is not None:
            return metrics.MeasureTable(_means(per_job.groupby(labels, observed=False, dropna=False)))
        return self._measures(per_job, self.timeline(), window)

    def _measures(self, per_job, timeline, window="makespan"):
        one_class = per_job.groupby(np.zeros(len(self)))
        values = pd.concat([_means(one_class).iloc[0], pd.Series(self._whole(window, timeline))])
        return metrics.Measures(values.rename(str(self.scheme)))

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
        capacity = size * makespan
        return {
            "utilization": metrics.utilization(
                self.start, self.end, self.procs, size, windows[window] if isinstance(window, str) else window
            ),
            "makespan": makespan,
            "throughput": 3600 * len(self) / makespan if makespan else float("nan"),
            "loss_of_capacity": lost,
            "loss_of_capacity_share": lost / capacity if capacity else float("nan"),
            "mean_queue": float((timeline["queued"].to_numpy()[:-1] * lasts).sum() / makespan) if makespan else 0.0,
            "max_queue": int(timeline["queued"].max()),
            "offered_load": self.trace.offered_load(self.overrun) * self.trace.procs / size,
            "effective_load": self._effective_work() / (size * int(last - first))
            if last > first
            else float("inf"),
        }

    def _effective_work(self):
        if self._sequential_work is None:
            return metrics.effective_work(self.run, self.procs)
        return float(self._sequential_work.sum())

    def loss_of_capacity(self) -> float:
        """Add up what idled while jobs waited that could have used it: processor-seconds."""
        return self._lost(self.timeline())

    def _lost(self, timeline):
        return metrics.loss_of_capacity(timeline, self.machine.procs)

    def timeline(self) -> pd.DataFrame:
        """Follow the machine and the queue: time (seconds), used (processors), queued (jobs), demand (processors)."""
        return metrics.states(self.submit, self.start, self.end, self.procs)

    def locality(self) -> pd.DataFrame:
        """Tell how near to each other the nodes of each job on a tree are.

        Returns
        -------
        DataFrame
            Index job_number; stage, the lowest that has all nodes in one block; hops, the mean over all pairs of
            nodes of the links between them, 2 x the stage at which they meet (0 for a single node).
        """
        tree = self._tree("locality")
        stage, hops = abandonable(node_kernels.locality, *self.processors(), tree.k, tree.n)
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
        time, free, largest = abandonable(node_kernels.fragmentation, *held, tree.k, tree.n, tree.procs)
        lost = 1 - np.divide(largest, free, out=np.ones(time.size), where=free > 0)
        return pd.DataFrame({"time": time, "free": free, "largest": largest, "fragmentation": lost})

    def _tree(self, what):
        if not isinstance(self.machine, KaryTree):
            raise ValueError(f"{what} is of jobs on nodes; this schedule is of {self.machine} without a topology")
        return self.machine

    def users(self) -> pd.DataFrame:
        """Share out the machine over its users (`schedlab.metrics.user_shares`)."""
        return metrics.user_shares(self._table)

    def gini(self, measure: str = "bounded_slowdown") -> float:
        """Tell how unevenly a column of `jobs` is spread (`schedlab.metrics.gini`)."""
        if measure not in self._table.columns:
            raise ValueError(f"unknown measure {measure!r}; known: {', '.join(self._table.columns)}")
        return metrics.gini(self._table[measure])

    # -- laws --------------------------------------------------------------------------------------------

    def validate(self) -> "Schedule":
        """Check the laws of scheduling, and give the schedule back.

        Every job starts exactly once and not before its submission; never are more processors held than there are;
        a job runs as long as the trace and `overrun` say; FCFS starts jobs in the order of its queue; a kept promise
        (EASY's for the head of a first come, first served queue, conservative's for every job; none where jobs run on
        past their estimates) is a start no later than promised. On a tree: a job has as
        many nodes as it needs, all of them installed and nobody else's, in one block of its stage where the allocation
        says so, and runs as long as its place lets it, or was killed past its estimate after it had been backfilled.
        Where the scheme chose processors, a moldable job has 1 to all of them and runs as long as its speedup on these
        says, as recomputed from the trace; a rigid one beside it runs as the trace has it.

        Raises
        ------
        ScheduleError
        """
        if len(self.start) != len(self.trace):
            raise ScheduleError(f"{len(self.start)} starts for {len(self.trace)} jobs")
        self._forbid(self.start < self.submit, "job {job} starts at {start}, before its submission at {submit}")
        timeline = self.timeline()
        over = np.flatnonzero(timeline["used"] > self.machine.procs)
        if over.size:
            at = timeline.iloc[over[0]]
            raise ScheduleError(f"{at['used']} processors held at {at['time']} s, there are {self.machine.procs}")
        if isinstance(self.scheme, FCFS) and self.scheme.order == "fcfs":
            late = np.append(False, np.diff(self.start) < 0)
            self._forbid(late, "job {job} starts at {start}, before a job submitted earlier")
        if isinstance(self.machine, KaryTree):
            self._check_nodes()
        elif self.width is not None:
            self._check_widths()
        else:
            self._check_run_times()
        if self.scheme.promises and self._keeps_promises():
            broken = (self.promise >= 0) & (self.start > self.promise)
            self._forbid(broken, "job {job} starts at {start}, but had been promised {promise}")
        return self

    def _keeps_promises(self):
        """Tell whether promises bind: not if nodes that must lie together were only counted, nor if jobs overrun."""
        table = self.trace.table
        if self.overrun in (KEEP, KILL_BACKFILLED) and (table["run_time"] > table["requested_time"]).any():
            return False
        return self.placed is None or self.machine.reservation == "block" or self.machine.policy.whole

    def _check_run_times(self):
        given = run_times(self.trace.table, self.overrun).to_numpy()
        self._forbid(self.run != given, "job {job} does not run as long as it must, from {start}")
        cut = given < self.trace.table["run_time"].to_numpy()
        self._forbid(self.killed != cut, "job {job} is wrong about a kill, from {start}")

    def _check_widths(self):
        table, size = self.trace.table, self.machine.procs
        requested, laws = table["requested_procs"].to_numpy(), self.trace.laws(size)
        outside = (self.width < 1) | (self.width > size)
        self._forbid(outside, f"job {{job}} has not 1 to {size} processors, at {{start}}")
        self._forbid(~laws.moldable & (self.width != requested), "job {job} is rigid, but was reshaped, at {start}")
        run = run_times(table, self.overrun).to_numpy()
        estimate = np.maximum(run, table["requested_time"].to_numpy())
        for seconds, given, what in ((run, self.run, "run"), (estimate, self.estimate, "estimated to run")):
            due = np.where(laws.moldable, laws.durations(seconds, requested, self.width), seconds)
            self._forbid(given != due, f"job {{job}} is not {what} as long as its speedup says, from {{start}}")

    def _check_nodes(self):
        if self.placed is None:
            raise ScheduleError(f"{self.scheme} on {self.trace.name}: no job has nodes, the machine is {self.machine}")
        tree, (offset, first, last) = self.machine, self.placed[-3:]
        if offset.size != len(self) + 1 or offset[0] != 0 or not offset[-1] == first.size == last.size:
            raise ScheduleError(f"{self.scheme} on {self.trace.name}: ranges of nodes that belong to no job")
        job = np.repeat(np.arange(len(self)), np.diff(offset))
        given = np.bincount(job, weights=last - first + 1, minlength=len(self))
        self._forbid(given != self.procs, "job {job} has not as many nodes as it needs, at {start}")
        nowhere = job[(first < 0) | (last >= tree.procs)]
        self._forbid(nowhere, "job {job} runs on a node that is not installed, at {start}")
        taken = abandonable(node_kernels.conflict, self.start, self.end, offset, first, last, tree.procs)
        self._forbid([taken] if taken >= 0 else [], "job {job} runs on a node that another job holds, at {start}")
        stage = self.locality()["stage"].to_numpy()
        if not tree.policy.whole:
            scattered = stage > tree.stage(self.procs) + tree.policy.relaxed
            self._forbid(scattered, "job {job} is spread over more than a block of its stage, at {start}")
        given, left = run_times(self.trace.table, self.overrun).to_numpy(), fractions(tree.saved())[:, stage]
        due = shortened(given, *left)
        stopped = self.killed & (self.run < due)
        estimate = self.trace.table["requested_time"].to_numpy()
        past = self.run >= (shortened(estimate, *left) if tree.scale_estimates else estimate)
        self._forbid((self.run != due) & ~stopped, "job {job} does not run as long as it must, from {start}")
        self._forbid(stopped & ~(past & self.placed.advanced), "job {job} was killed for no reason, from {start}")
        cut = given < self.trace.table["run_time"].to_numpy()
        self._forbid(self.killed != (cut | stopped), "job {job} is wrong about a kill, from {start}")
        if isinstance(self.scheme, FCFS):
            self._forbid(self.placed.advanced, "job {job} starts at {start} as backfilled, which FCFS does not do")

    def _forbid(self, where, words):
        where = np.asarray(where)
        bad = np.flatnonzero(where) if where.dtype == bool else where
        if bad.size:
            i = bad[0]
            raise ScheduleError(
                f"{self.scheme} on {self.trace.name}: "
                + words.format(
                    job=self.trace.table.index[i],
                    start=self.start[i],
                    submit=self.submit[i],
                    promise=self.promise[i],
                )
            )

    # -- files -------------------------------------------------------------------------------------------

    def to_swf(self, path) -> None:
        """Write the simulated log as SWF: the trace's records with the simulated waits and run times."""
        table = self.jobs
        table["allocated_procs"] = table["procs"]
        nodes = f" on a {self.machine}" if isinstance(self.machine, KaryTree) else ""
        notes = [f"; Note: {self.scheme.origin}{nodes} (overrun {self.overrun})"]
        if self.width is not None:
            notes.append("; Note: run times are on the allocated processors, requested times on the requested ones")
        simulated = swf.Header((*self.trace.swf_header().lines, *notes))
        swf.write_log((simulated, table.reset_index()[list(swf.FIELDS)]), path)

    def to_csv(self, path) -> None:
        """Write the schedule in the columns of Batsim's jobs file, which evalys reads too.

        Times in seconds. The processors of a job are those of `processors`, as intervals ("0-3 7"). A job that was
        killed counts as no success. A name that a spreadsheet would take for a formula gets a ``'`` in front
        (`schedlab.text.cell`).
        """
        jobs = self.jobs
        pd.DataFrame(
            {
                "job_id": jobs.index,
                "workload_name": cell(self.trace.name),
                "profile": "",
                "submission_time": jobs["submit_time"],
                "requested_number_of_resources": jobs["procs"],
                "requested_time": self._estimate,
                "success": (~jobs["killed"]).astype(int),
                "final_state": np.where(jobs["killed"], "COMPLETED_WALLTIME_REACHED", "COMPLETED_SUCCESSFULLY"),
                "starting_time": jobs["start_time"],
                "execution_time": jobs["run_time"],
                "finish_time": jobs["end_time"],
                "waiting_time": jobs["wait_time"],
                "turnaround_time": jobs["turnaround"],
                "stretch": jobs["slowdown"],
                "allocated_resources": self.allocations(),
                "consumed_energy": -1,
                "metadata": "",
            }
        ).to_csv(path, index=False)

    def processors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give the processors of each job: its nodes on a tree, else the lowest-numbered free ones at its start.

        Returns
        -------
        offset : int64, shape (n_jobs + 1,)
            The intervals of the j-th job are ``offset[j]:offset[j + 1]``.
        first, last : int64, shape (n_intervals,)
            Processor numbers from 0, both ends included.
        """
        if self.placed is not None:
            return self.placed[-3:]
        size = self.machine.procs
        if not self.scheme.simulated:
            size = max(size, int(self.held[0].max(initial=0)))  # a log may hold more than there are
        return abandonable(assign, self.start, self.end, self.procs, size)

    def allocations(self) -> list[str]:
        """Give the `processors` of each job as text ("0-3 7")."""
        return self._ranges if self.placed is not None else self._written()

    @cached_property
    def _ranges(self):
        return self._written()

    def _written(self):
        offset, first, last = self.processors()
        interval = [f"{a}-{b}" if a < b else f"{a}" for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        return [" ".join(interval[a:b]) for a, b in zip(offset[:-1].tolist(), offset[1:].tolist(), strict=True)]


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
