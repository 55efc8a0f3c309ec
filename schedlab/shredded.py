"""Schedules with tasks: `ShreddedSchedule`, of a site where sweeps were taken apart, and `Sites`, of several."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from . import display, metrics
from .kernels.assign import assign
from .kernels.replay import DELAYED, KEPT, OVERLOOKED, UNDUE, replay
from .kernels.shredding import COUNT, START, SWEEP
from .machine import Flat
from .schedule import MEANS, Schedule, ScheduleError
from .schemes.shredding import Outcome, Pieces, Shredding, shred
from .threads import abandonable
from .workload.trace import Trace

BROKEN = {
    OVERLOOKED: "a job waits that the local scheduler could start",
    DELAYED: "tasks delay what the local scheduler has promised",
    UNDUE: "a job starts that the local scheduler would not start",
}


@dataclass(frozen=True, eq=False, repr=False)
class ShreddedSchedule(Schedule):
    """The result of a simulation in which the tasks of sweeps ran by themselves.

    A job starts when its first processor is held, and ends with its last task, wherever that runs. Times are
    float64 seconds: tasks need not take whole ones. Slowdown divides by the run time of the parallel job.

    Attributes
    ----------
    outcome : Outcome
        What came of all sites, in ticks.
    traces : tuple of Trace
        Of all sites.
    site : int
        Which of them this is.
    origin : int, seconds on the clock of the log
        When the clock of the sites begins.
    """

    outcome: Outcome = None
    traces: tuple[Trace, ...] = ()
    site: int = 0
    origin: int = 0

    @cached_property
    def end(self) -> np.ndarray:
        """End of each job; float64, shape (n_jobs,), seconds on the clock of the log."""
        own, result = self._own, self.outcome
        sweep = result.sweep[own]
        ends = result.start[own] + self.run * result.tick
        return self._seconds(np.where(sweep >= 0, result.end[sweep], ends) if result.end.size else ends)

    @cached_property
    def _own(self):
        """The entries of the site's own jobs."""
        entries = self.outcome.entries(self.site)
        return entries.start + np.flatnonzero(self.outcome.home[entries] == self.site)

    def _seconds(self, ticks):
        return self.origin + ticks / self.outcome.tick

    @cached_property
    def parallel_start(self) -> np.ndarray:
        """Start of each job as a parallel one, nan where only tasks ran; float64, seconds on the clock of the log."""
        every = self.outcome
        began = np.full(len(self), -1)
        at_home = every.home == self.site
        np.maximum.at(began, every.job[at_home], every.start[at_home])
        return np.where(began >= 0, self._seconds(began), np.nan)

    @cached_property
    def pieces(self) -> pd.DataFrame:
        """What held the site's processors when: a job, or tasks of one sweep that started together.

        home_site, job_number (there), start_time and end_time (seconds on the clock of the log), procs, tasks (0 for a
        parallel job).
        """
        pieces = self.outcome.pieces[self.site]
        number = np.empty(pieces.job.size, "int64")
        for site, trace in enumerate(self.traces):
            own = pieces.home == site
            number[own] = trace.table.index.to_numpy()[pieces.job[own]]
        return pd.DataFrame(
            {
                "home_site": pieces.home,
                "job_number": number,
                "start_time": self._seconds(pieces.start),
                "end_time": self._seconds(pieces.end),
                "procs": pieces.procs,
                "tasks": pieces.tasks,
            }
        )

    @cached_property
    def _table(self) -> pd.DataFrame:
        table = Schedule._table.func(self)
        own, result = self._own, self.outcome
        sweep = result.sweep[own]
        alone = np.zeros(len(self), "int64")
        alone[sweep >= 0] = (result.tasks - result.claimed)[sweep[sweep >= 0]]
        if "breakdown" not in table:
            table["breakdown"] = 0
        table["parallel_start"] = self.parallel_start
        table["tasks_alone"] = alone
        return table

    @property
    def jobs(self) -> pd.DataFrame:
        """As of `Schedule`; also breakdown, parallel_start and tasks_alone.

        run_time is that of the parallel job, parallel_start (seconds) its start, nan where it never did; start_time and
        end_time are those of the first and the last task; tasks_alone counts those that ran apart from it.
        """
        return self._table.copy(deep=False)

    @cached_property
    def _states(self):
        return self.outcome.states(self.site)

    def timeline(self) -> pd.DataFrame:
        """As of `Schedule`; a queued sweep wants no more processors than it has tasks left."""
        time, used, queued, demand = self._states
        return pd.DataFrame({"time": self._seconds(time), "used": used, "queued": queued, "demand": demand})

    def _whole(self, window, timeline):
        whole = super()._whole(window, timeline)
        pieces, size = self.pieces, self.machine.procs
        first, end = self.submit[0], self.end.max()
        windows = {"makespan": (first, end), "arrivals": (first, self.submit[-1])}
        span = windows[window] if isinstance(window, str) else window
        held = (pieces["start_time"].to_numpy(), pieces["end_time"].to_numpy(), pieces["procs"].to_numpy())
        lost = self._lost(timeline)
        makespan = float(end - first)
        return whole | {
            "utilization": metrics.utilization(*held, size, span),
            "makespan": makespan,
            "loss_of_capacity": lost,
            "loss_of_capacity_share": lost / (size * makespan) if makespan else float("nan"),
        }

    def _lost(self, timeline):
        return int(self.outcome.lost[self.site]) / self.outcome.tick

    def queued(self) -> tuple[np.ndarray, np.ndarray]:
        """Give when the entries of the site's queue came and left it; seconds on the clock of the log."""
        entries = self.outcome.entries(self.site)
        return self._seconds(self.outcome.submit[entries]), self._seconds(self.outcome.gone[entries])

    def departures(self) -> tuple[np.ndarray, np.ndarray]:
        """Give when work of the site's jobs began, wherever it ran: seconds, and processor-seconds at home."""
        result, own = self.outcome, self._own
        work = self.run * self.procs
        sweep = result.sweep[own]
        swept = np.flatnonzero(sweep >= 0)
        task = np.zeros(result.tasks.size)
        task[sweep[swept]] = work[swept] / result.tasks[sweep[swept]]
        plain = np.flatnonzero(sweep < 0)
        joint = swept[~np.isnan(self.parallel_start[swept])]
        log = result.log[task[result.log[:, SWEEP]] > 0]
        times = [self.start[plain], self.parallel_start[joint], self._seconds(log[:, START])]
        claimed = result.claimed[sweep[joint]] * task[sweep[joint]]
        return np.concatenate(times), np.concatenate([work[plain], claimed, log[:, COUNT] * task[log[:, SWEEP]]])

    def processors(self):
        """Refuse: the processors of a sweep come and go; see `piece_processors`."""
        raise ValueError(f"under {self.scheme} jobs run in pieces: see pieces and piece_processors()")

    def piece_processors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give the lowest-numbered processors that are free when a piece starts, as of `Schedule.processors`."""
        pieces = self.outcome.pieces[self.site]
        return abandonable(assign, pieces.start, pieces.end, pieces.procs, self.machine.procs)

    def validate(self) -> "ShreddedSchedule":
        """Check the laws of scheduling, and give the schedule back.

        Nothing starts before its submission; never are more processors held than there are, tasks included; each task
        of each sweep runs once, and a sweep ends with its last; a promised start is kept; the loss of capacity is what
        the states of machine and queue say; and tasks never disturb the local schedule. For that the site is replayed
        (`schedlab.kernels.replay`): whenever tasks start, the local scheduler had nothing left to start, and the
        reservation of EASY's head, or all those of conservative backfilling, are the same with them as without them.
        Under flooding tasks are jobs of the queue like others.

        Raises
        ------
        ScheduleError
        """
        result, pieces = self.outcome, self.outcome.pieces[self.site]
        submit = (self.submit - self.origin) * result.tick
        late = pieces.home == self.site
        self._forbid(
            pieces.job[late][pieces.start[late] < submit[pieces.job[late]]],
            "job {job} starts at {start}, before its submission at {submit}",
        )
        time, used, queued, demand = self._states
        over = np.flatnonzero(used > self.machine.procs)
        if over.size:
            at = self._seconds(time[over[0]])
            raise ScheduleError(f"{used[over[0]]} processors held at {at} s, there are {self.machine.procs}")
        self._check_tasks()
        promised = self.promise >= 0
        broken = promised & ~np.isnan(self.parallel_start) & (self.parallel_start > self.promise)
        self._forbid(broken, "job {job} starts later than it had been promised, {promise}")
        if not self.scheme.flooding:
            self._check_replay(pieces)
        wanted = np.minimum(demand, self.machine.procs - used)[:-1]
        if int((wanted * np.diff(time)).sum()) != result.lost[self.site] or queued[-1]:
            raise ScheduleError(f"{self.scheme} on {self.trace.name}: the loss of capacity is not that of the timeline")
        return self

    def _check_tasks(self):
        result = self.outcome
        ran, ends = result.claimed.copy(), np.full(result.tasks.size, -1)
        batches = np.concatenate([[site.home, site.job, site.end, site.tasks] for site in result.pieces], axis=1)
        every = result.sweep >= 0
        number = dict(
            zip(
                zip(result.home[every].tolist(), result.job[every].tolist(), strict=True),
                result.sweep[every].tolist(),
                strict=True,
            )
        )
        sweep = np.array([number.get(key, -1) for key in zip(*batches[:2].tolist(), strict=True)], "int64")
        of = sweep >= 0
        np.add.at(ran, sweep[of], batches[3][of])
        np.maximum.at(ends, sweep[of], batches[2][of])
        wrong = np.flatnonzero((ran != result.tasks) | (ends != result.end))
        if wrong.size:
            raise ScheduleError(
                f"{self.scheme}: of sweep {wrong[0]}, {ran[wrong[0]]} of {result.tasks[wrong[0]]} tasks ran, "
                f"the last until tick {ends[wrong[0]]} of {result.end[wrong[0]]}"
            )

    def _check_replay(self, pieces: Pieces):
        time, kind, entry, piece, more = self.outcome.happened(self.site)
        begun = piece >= 0
        taken = begun.sum() + (more >= 0).sum()
        if taken != pieces.start.size or (pieces.start[piece[begun]] != time[begun]).any():
            raise ScheduleError(f"{self.scheme} on {self.trace.name}: the pieces are not those of the log")
        own, held = self.outcome.entries(self.site), (pieces.end, pieces.expected, pieces.procs)
        asked, conservative = (self.outcome.width[own], self.outcome.estimate[own]), self.scheme.local == "conservative"
        happened = (time, kind, entry, piece, more)
        found, tick = abandonable(replay, *happened, *held, *asked, self.machine.procs, conservative)
        if found != KEPT:
            raise ScheduleError(f"{self.scheme} on {self.trace.name}, at {self._seconds(tick)} s: {BROKEN[found]}")

    def to_csv(self, path) -> None:
        """Refuse: Batsim's jobs file has one start and one set of processors for a job."""
        self.processors()

    def to_swf(self, path) -> None:
        """Refuse: SWF has one start and one number of processors for a job."""
        self.processors()


@dataclass(frozen=True, eq=False, repr=False)
class Sites:
    """The result of a simulation of several sites.

    Attributes
    ----------
    schedules : tuple of Schedule
        One for each site, of the jobs that were submitted there; its machine and its `pieces` are of what ran there.
    speeds : tuple of int
    """

    schedules: tuple[Schedule, ...]
    speeds: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.schedules)

    def __iter__(self):
        return iter(self.schedules)

    def __getitem__(self, site: int) -> Schedule:
        return self.schedules[site]

    def __repr__(self) -> str:
        traces = ", ".join(schedule.trace.title for schedule in self.schedules)
        return f"<Sites {self.schedules[0].scheme}, speeds {self.speeds}: {traces}>"

    def _repr_html_(self) -> str:
        speeds = ", ".join(map(str, self.speeds))
        head = display.line(f"at {len(self)} sites, speeds {speeds}", strong=str(self.schedules[0].scheme))
        return display.page(head, *(part for schedule in self for part in schedule._page()))

    @property
    def jobs(self) -> pd.DataFrame:
        """The jobs of all sites; index site and job_number."""
        return pd.concat([schedule.jobs for schedule in self.schedules], keys=range(len(self)), names=["site"])

    def metrics(self, by=None, tau: float = metrics.TAU) -> pd.Series | pd.DataFrame:
        """Measure all sites together.

        Parameters
        ----------
        by : optional
            ``"site"``: a row for each site, of all that `Schedule.metrics` measures. Else classes of jobs, as there.
        tau : float, seconds
            Of the bounded slowdown.

        Returns
        -------
        Series or DataFrame
            jobs; means of wait_time, turnaround (seconds), slowdown, bounded_slowdown, per_processor_slowdown; without
            `by` also loss_of_capacity (processor-seconds, all sites) and its share of all processors x makespans.
        """
        if isinstance(by, str) and by == "site":
            table = pd.DataFrame([schedule.metrics(tau=tau) for schedule in self.schedules])
            return metrics.MeasureTable(table.set_axis(pd.RangeIndex(len(self), name="site")))
        per_job = pd.concat([schedule._per_job(tau) for schedule in self.schedules], ignore_index=True)[list(MEANS)]
        if by is not None:
            labels = pd.concat([metrics.classes(schedule.jobs, by) for schedule in self.schedules], ignore_index=True)
            groups = per_job.groupby(labels, observed=False, dropna=False)
            means = groups.mean()
            means.insert(0, "jobs", groups.size())
            return metrics.MeasureTable(means)
        wholes = [schedule.metrics() for schedule in self.schedules]
        lost = sum(whole["loss_of_capacity"] for whole in wholes)
        capacity = sum(one.machine.procs * whole["makespan"] for one, whole in zip(self, wholes, strict=True))
        whole = {"loss_of_capacity": lost, "loss_of_capacity_share": lost / capacity if capacity else float("nan")}
        values = pd.concat([pd.Series({"jobs": float(len(per_job))}), per_job.mean(), pd.Series(whole)])
        return metrics.Measures(values.rename(str(self.schedules[0].scheme)))

    def validate(self) -> "Sites":
        """Check the laws of scheduling at every site (`ShreddedSchedule.validate`), and give the sites back."""
        for schedule in self.schedules:
            schedule.validate()
        return self


def shredded_schedules(
    traces, scheme: Shredding, machines: list[Flat], speeds, jobs, origins, overrun: str
) -> tuple[ShreddedSchedule, ...]:
    """Simulate traces under a scheme for sweeps, each on its site.

    Parameters
    ----------
    traces : list of Trace
        At least one with sweeps (`Trace.with_sweeps`).
    jobs : list of Arrivals
        Of each; seconds since a begin that all share.
    origins : list of int
        That begin, in seconds on the clock of each log.
    """
    marks = [
        trace.table["breakdown"].to_numpy() if "breakdown" in trace.table else np.zeros(len(trace), "int64")
        for trace in traces
    ]
    if not any("breakdown" in trace.table for trace in traces):
        names = ", ".join(trace.name for trace in traces)
        raise ValueError(f"{scheme} needs sweeps, and {names} has none marked: trace.with_sweeps() marks some")
    for trace, mark, one in zip(traces, marks, jobs, strict=True):
        if mark.dtype.kind not in "iu" or (mark < 0).any():
            raise ValueError(f"breakdown of {trace.name} has values that are no whole numbers from 0 on")
        if (one.run[mark > 0] < 1).any():
            raise ValueError(f"{trace.name} has a sweep that takes no time; with_sweeps marks none such")
    outcome = shred(scheme, jobs, marks, [machine.procs for machine in machines], speeds)
    return tuple(
        _schedule(outcome, tuple(traces), site, scheme, machines[site], overrun, jobs[site].run, origins[site])
        for site, trace in enumerate(traces)
    )


def _schedule(outcome, traces, site, scheme, machine, overrun, run, origin):
    trace, tick, entries = traces[site], outcome.tick, outcome.entries(site)
    own = entries.start + np.flatnonzero(outcome.home[entries] == site)
    first = np.full(len(trace), np.iinfo(np.int64).max)
    for pieces in outcome.pieces:
        mine = pieces.home == site
        np.minimum.at(first, pieces.job[mine], pieces.start[mine])
    promise = outcome.promise[own]
    start = origin + first / tick
    promise = np.where(promise >= 0, origin + promise / tick, -1)
    killed = trace.table["run_time"].to_numpy() > run
    for array in (start, promise, run, killed):
        array.flags.writeable = False
    return ShreddedSchedule(
        trace, scheme, machine, overrun, "batched", start, promise, run, killed,
        outcome=outcome, traces=traces, site=site, origin=origin,
    )  # fmt: skip
