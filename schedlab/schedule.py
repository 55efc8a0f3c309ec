"""`Schedule`: when each job of a trace started and ended, what that is worth, and whether it is possible."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from . import metrics, statistics
from .kernels.assign import assign
from .machine import Flat
from .schemes import FCFS, Scheme
from .workload import swf
from .workload.trace import Trace, run_times

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
    machine : Flat
    overrun, events : str
        The conventions it was simulated under (`simulate`).
    start, promise : int64, shape (n_jobs,), seconds on the clock of the log
        In the order of the trace's jobs. The promise is the first start time that the scheme reserved
        for a job, -1 where it never did.
    """

    trace: Trace
    scheme: Scheme
    machine: Flat
    overrun: str
    events: str
    start: np.ndarray
    promise: np.ndarray

    def __len__(self) -> int:
        return len(self.start)

    def __repr__(self) -> str:
        values = self.metrics()
        return (
            f"<Schedule {self.trace.title}, {self.scheme}: {len(self):,} jobs on {self.machine}, "
            f"mean wait {values['wait_time']:,.0f} s, mean bounded slowdown {values['bounded_slowdown']:,.2f}, "
            f"utilization {values['utilization']:.3f}>"
        )

    @cached_property
    def _run(self) -> np.ndarray:
        return run_times(self.trace.table, self.overrun).to_numpy()

    @cached_property
    def _procs(self) -> np.ndarray:
        return self.trace.table["requested_procs"].to_numpy()

    @cached_property
    def _submit(self) -> np.ndarray:
        return self.trace.table["submit_time"].to_numpy()

    @property
    def end(self) -> np.ndarray:
        """End of each job; int64, shape (n_jobs,), seconds on the clock of the log."""
        return self.start + self._run

    @cached_property
    def _table(self) -> pd.DataFrame:
        table = self.trace.jobs
        turnaround = self.end - self._submit
        table["logged_area"] = self.trace.logged_area.reindex(table.index)
        table["killed"] = table["run_time"] > self._run
        table["run_time"] = self._run
        table["start_time"] = self.start
        table["end_time"] = self.end
        table["procs"] = self._procs
        table["wait_time"] = self.start - self._submit
        table["turnaround"] = turnaround
        table["slowdown"] = metrics.slowdown(turnaround, self._run)
        table["bounded_slowdown"] = metrics.bounded_slowdown(turnaround, self._run)
        table["promised_start"] = self.promise
        return table

    @property
    def jobs(self) -> pd.DataFrame:
        """One row a job: the trace's columns, and what the simulation makes of them.

        run_time is as simulated (cut at the estimate where jobs are killed, `killed` says which), wait_time is
        the simulated one; new are start_time, end_time, procs, turnaround, slowdown, bounded_slowdown (tau = 10 s),
        promised_start (-1: none) and logged_area (processor-seconds before any rescaling). Times in seconds.
        """
        return self._table.copy(deep=False)

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
            jobs; means of wait_time, turnaround (seconds), slowdown, bounded_slowdown, per_processor_slowdown; the
            median, 95th percentile and maximum of wait_time (seconds); killed (jobs); and of the whole:
            utilization, makespan (seconds), throughput (jobs per hour), loss_of_capacity (processor-seconds) and
            loss_of_capacity_share (of processors x makespan), mean_queue and max_queue (jobs), offered_load,
            effective_load.
        """
        per_job = self._per_job(tau)
        if ci is not None:
            labels = None if by is None else metrics.classes(self.jobs, by)
            return statistics.intervals(per_job[list(MEANS)], ci, labels, warm_up=warm_up)
        if by is not None:
            return _means(per_job.groupby(metrics.classes(self.jobs, by), observed=False, dropna=False))
        one_class = per_job.groupby(np.zeros(len(self)))
        return pd.concat([_means(one_class).iloc[0], pd.Series(self._whole(window))]).rename(str(self.scheme))

    def _per_job(self, tau):
        turnaround = self.end - self._submit
        return pd.DataFrame(
            {
                "wait_time": self.start - self._submit,
                "turnaround": turnaround,
                "slowdown": metrics.slowdown(turnaround, self._run),
                "bounded_slowdown": metrics.bounded_slowdown(turnaround, self._run, tau),
                "per_processor_slowdown": metrics.per_processor_slowdown(turnaround, self._run, self._procs, tau),
                "killed": self.trace.table["run_time"].to_numpy() > self._run,
            },
            index=self.trace.table.index,
        )

    def _whole(self, window):
        first, last, end = self._submit[0], self._submit[-1], self.end.max()
        windows = {"makespan": (first, end), "arrivals": (first, last)}
        if isinstance(window, str) and window not in windows:
            raise ValueError(f"unknown window {window!r}; known: makespan, arrivals, or (begin, end) in seconds")
        timeline = self.timeline()
        lasts = np.diff(timeline["time"])
        makespan, size = int(end - first), self.machine.procs
        lost = metrics.loss_of_capacity(timeline, size)
        capacity = size * makespan
        return {
            "utilization": metrics.utilization(
                self.start, self.end, self._procs, size, windows[window] if isinstance(window, str) else window
            ),
            "makespan": makespan,
            "throughput": 3600 * len(self) / makespan if makespan else float("nan"),
            "loss_of_capacity": lost,
            "loss_of_capacity_share": lost / capacity if capacity else float("nan"),
            "mean_queue": float((timeline["queued"].to_numpy()[:-1] * lasts).sum() / makespan) if makespan else 0.0,
            "max_queue": int(timeline["queued"].max()),
            "offered_load": self.trace.offered_load(self.overrun) * self.trace.procs / size,
            "effective_load": metrics.effective_work(self._run, self._procs) / (size * (last - first))
            if last > first
            else float("inf"),
        }

    def timeline(self) -> pd.DataFrame:
        """Follow the machine and the queue: time (seconds), used (processors), queued (jobs), demand (processors)."""
        return metrics.states(self._submit, self.start, self.end, self._procs)

    def users(self) -> pd.DataFrame:
        """Share out the machine over its users (`schedlab.metrics.user_shares`)."""
        return metrics.user_shares(self.jobs)

    def gini(self, measure: str = "bounded_slowdown") -> float:
        """Tell how unevenly a column of `jobs` is spread (`schedlab.metrics.gini`)."""
        jobs = self.jobs
        if measure not in jobs.columns:
            raise ValueError(f"unknown measure {measure!r}; known: {', '.join(jobs.columns)}")
        return metrics.gini(jobs[measure])

    # -- laws --------------------------------------------------------------------------------------------

    def validate(self) -> "Schedule":
        """Check the laws of scheduling, and give the schedule back.

        Every job starts exactly once and not before its submission; never are more processors held than there are;
        FCFS starts jobs in the order of its queue; a kept promise (EASY's for the head of a first come,
        first served queue, conservative's for every job) is a start no later than promised.

        Raises
        ------
        ScheduleError
        """
        if len(self.start) != len(self.trace):
            raise ScheduleError(f"{len(self.start)} starts for {len(self.trace)} jobs")
        self._forbid(self.start < self._submit, "job {job} starts at {start}, before its submission at {submit}")
        timeline = self.timeline()
        over = np.flatnonzero(timeline["used"] > self.machine.procs)
        if over.size:
            at = timeline.iloc[over[0]]
            raise ScheduleError(f"{at['used']} processors held at {at['time']} s, there are {self.machine.procs}")
        if isinstance(self.scheme, FCFS) and self.scheme.order == "fcfs":
            late = np.append(False, np.diff(self.start) < 0)
            self._forbid(late, "job {job} starts at {start}, before a job submitted earlier")
        if self.scheme.promises:
            broken = (self.promise >= 0) & (self.start > self.promise)
            self._forbid(broken, "job {job} starts at {start}, but had been promised {promise}")
        return self

    def _forbid(self, where, words):
        bad = np.flatnonzero(where)
        if bad.size:
            i = bad[0]
            raise ScheduleError(
                f"{self.scheme} on {self.trace.name}: "
                + words.format(
                    job=self.trace.table.index[i],
                    start=self.start[i],
                    submit=self._submit[i],
                    promise=self.promise[i],
                )
            )

    # -- files -------------------------------------------------------------------------------------------

    def to_swf(self, path) -> None:
        """Write the simulated log as SWF: the trace's records with the simulated waits and run times."""
        table = self.jobs
        table["allocated_procs"] = table["procs"]
        simulated = swf.Header(
            (*self.trace.swf_header().lines, f"; Note: simulated with {self.scheme} (overrun {self.overrun})")
        )
        swf.write_log((simulated, table.reset_index()[list(swf.FIELDS)]), path)

    def to_csv(self, path) -> None:
        """Write the schedule in the columns of Batsim's jobs file, which evalys reads too.

        Times in seconds. The processors of a job are the lowest-numbered free ones at its start, as intervals
        ("0-3 7"). A job killed at its estimate counts as no success.
        """
        jobs = self.jobs
        pd.DataFrame(
            {
                "job_id": jobs.index,
                "workload_name": self.trace.name,
                "profile": "",
                "submission_time": jobs["submit_time"],
                "requested_number_of_resources": jobs["procs"],
                "requested_time": jobs["requested_time"],
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

    def allocations(self) -> list[str]:
        """Give the processors of each job as intervals ("0-3 7"): the lowest-numbered free ones at its start."""
        offset, first, last = assign(self.start, self.end, self._procs, self.machine.procs)
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
    return means
