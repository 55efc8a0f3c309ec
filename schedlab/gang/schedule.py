"""`GangSchedule`: what happened to jobs, tasks and PEs, and the measures derived from it."""

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

import numpy as np
import pandas as pd

from schedlab._runtime.text import suggestion
from schedlab.kernels.gang import state
from schedlab.kernels.gang.listing import list_operations
from schedlab.schedule import metrics, statistics
from schedlab.schedule.statistics.batches import check_warm_up

from . import laws
from . import programs as tables
from .config import DOES, Config
from .times import NANO
from .workload import Workload

MEMBERS = {"f_io": state.F_IO, "f_comm": state.F_COMM, "f_comp": state.F_COMP, "priority": state.PRIORITY}
MEANS = ("turnaround", "slowdown")  # over completed jobs
LISTED = 4096  # operations of programs; doubled when more are needed


@dataclass(frozen=True, eq=False, repr=False)
class GangSchedule:
    """The result of a simulation of gang scheduling.

    Its tables use the same names as `schedlab.schedule.Schedule`. Times are in seconds since the start of the
    simulation.

    Attributes
    ----------
    workload : Workload
    config : Config
    rules : schedlab.kernels.gang.state.Rules
        The settings passed to the kernel.
    table : DataFrame
        The workload's jobs, as `Workload.jobs_table`.
    logged : (float, float) or None, seconds
        The span that was logged.
    watched : tuple of (int, int)
        The tasks that were watched: job number and rank.
    job_rows, task_rows, member_rows, pe_rows, log_rows : arrays, shape (n_rows, n_jobs, tasks, PEs or entries)
        The kernel's output: int64, nanoseconds; memberships are float64. See `schedlab.kernels.gang.slices.gang`.
    history : float64, shape (n_watched, n_slices, 8)
        Memberships of each watched task after each slice, and whether it had a PE.
    events : int
        Steps of the simulation.

    Examples
    --------
    >>> import schedlab as sl
    >>> jobs = [(0, 4, "io", 5), (0, 2, "emb", 5), (0, 4, "msg", 5)]  # submission, tasks, kind, duration
    >>> workload = sl.gang.Workload(pes=4, horizon=30, jobs=jobs, seed=1)
    >>> schedule = sl.gang.simulate(workload, "priority", log=(1, 2.6)).validate()
    >>> schedule.jobs["end_time"].round(1).tolist()
    [13.1, 9.9, 17.8]
    >>> chart = sl.charts.slices(schedule)
    """

    workload: Workload
    config: Config
    rules: state.Rules
    table: pd.DataFrame
    logged: tuple[float, float] | None
    watched: tuple[tuple[int, int], ...]
    job_rows: np.ndarray
    task_rows: np.ndarray
    member_rows: np.ndarray
    pe_rows: np.ndarray
    log_rows: np.ndarray
    history: np.ndarray
    events: int

    def __repr__(self) -> str:
        return (
            f"<GangSchedule {self.config}: {self.completed} of {self.arrived} jobs completed in "
            f"{self.workload.horizon:,} s on {self.rules.pes} PEs, utilization {self.utilization:.3f}>"
        )

    @cached_property
    def is_placed(self) -> np.ndarray:
        """Whether each job got a place in the matrix by the horizon; bool, shape (n_jobs,)."""
        return self.job_rows[state.PLACED] >= 0

    @cached_property
    def is_completed(self) -> np.ndarray:
        """Whether each job ended by the horizon; bool, shape (n_jobs,)."""
        rows = self.job_rows
        return self.is_placed & (rows[state.LEFT] == 0) & (rows[state.FINISH] <= self.rules.horizon)

    @cached_property
    def is_done(self) -> np.ndarray:
        """Whether each task ended by the horizon; bool, shape (n_tasks,)."""
        return self.task_rows[state.DONE] <= self.rules.horizon

    @property
    def times(self) -> np.ndarray:
        """Time that each PE spent on each of `DOES`; int64, shape (5, n_pes), nanoseconds."""
        return self.pe_rows[state.TIME_COMPUTING : state.TIME_IDLE + 1]

    @property
    def jobs(self) -> pd.DataFrame:
        """One row per job: the workload's columns and the results of the simulation; times in seconds.

        The new columns are placed_time (when the job got its place in the matrix; its first task runs when its row has
        its turn), end_time (of its last task), turnaround (end_time - submit_time) and slowdown (turnaround /
        duration). They are nan if the job was not placed, or not completed, by the horizon.

        Examples
        --------
        >>> import schedlab as sl
        >>> jobs = [(0, 1, "emb", 1), (0, 2, "emb", 1), (9.5, 1, "emb", 1)]  # submission, tasks, kind, duration
        >>> workload = sl.gang.Workload(pes=2, horizon=10, jobs=jobs)
        >>> sl.gang.simulate(workload).jobs["slowdown"].round(1).tolist()  # the last is not completed
        [2.0, 2.2, nan]
        """
        end = np.where(self.is_completed, self.job_rows[state.FINISH] / NANO, np.nan)
        turnaround = pd.Series(end, self.table.index) - self.table["submit_time"]
        new = {
            "placed_time": np.where(self.is_placed, self.job_rows[state.PLACED] / NANO, np.nan),
            "end_time": end,
            "turnaround": turnaround,
            "slowdown": turnaround / self.table["duration"],
        }
        return pd.DataFrame(dict(self.table.items()) | new, index=self.table.index)

    @property
    def tasks(self) -> pd.DataFrame:
        """One row per task, by job_number and rank.

        pe (-1 if the task was not placed), computed (seconds), end_time (seconds, nan if it was not done by the
        horizon), and its memberships f_io, f_comm, f_comp and its priority in the last slice (nan if it was not
        placed).

        Examples
        --------
        >>> import schedlab as sl
        >>> workload = sl.gang.Workload(pes=2, horizon=10, jobs=[(0, 1, "emb", 1), (0, 2, "emb", 1)])
        >>> tasks = sl.gang.simulate(workload).tasks
        >>> tasks["computed"].tolist(), tasks["pe"].tolist()
        ([1.0, 1.0, 1.0], [0, 0, 1])
        """
        rows = self.task_rows
        procs = self.table["procs"].to_numpy()
        number = np.repeat(self.table.index.to_numpy(), procs)
        rank = np.arange(number.size) - np.repeat(np.cumsum(procs) - procs, procs)
        table = pd.DataFrame(index=pd.MultiIndex.from_arrays([number, rank], names=["job_number", "rank"]))
        table["pe"] = rows[state.PE]
        table["computed"] = rows[state.COMPUTED] / NANO
        table["end_time"] = np.where(self.is_done, rows[state.DONE] / NANO, np.nan)
        for name, row in MEMBERS.items():
            table[name] = np.where(rows[state.PE] >= 0, self.member_rows[row], np.nan)
        return table

    @property
    def pes(self) -> pd.DataFrame:
        """One row per PE: seconds spent computing, communicating (send and receive), spinning, switching and idle.

        Examples
        --------
        >>> import schedlab as sl
        >>> workload = sl.gang.Workload(pes=2, horizon=10, jobs=[(0, 1, "emb", 1), (0, 2, "emb", 1)])
        >>> sl.gang.simulate(workload).pes[["computing", "idle"]].round(1).to_numpy().tolist()
        [[2.0, 8.0], [1.0, 9.0]]
        """
        return pd.DataFrame((self.times / NANO).T, columns=DOES, index=pd.RangeIndex(self.rules.pes, name="pe"))

    @property
    def arrived(self) -> int:
        """How many jobs arrived before the horizon."""
        return int(self._arrived.sum())

    @property
    def _arrived(self):
        return self.job_rows[state.ARRIVAL] < self.rules.horizon

    @property
    def completed(self) -> int:
        """How many jobs were completed by the horizon."""
        return int(self.is_completed.sum())

    @property
    def utilization(self) -> float:
        """The share of time in which PEs were not idle; spinning and switching count as busy."""
        return 1 - int(self.pe_rows[state.TIME_IDLE].sum()) / (self.rules.pes * self.rules.horizon)

    @property
    def disk_times(self) -> np.ndarray:
        """Time that each PE's disk worked by the horizon; int64, shape (n_pes,), nanoseconds."""
        later = np.maximum(self.pe_rows[state.DISK_FREE] - self.rules.horizon, 0)
        return self.pe_rows[state.DISK_TIME] - later

    @property
    def io_overlap(self) -> float:
        """The share of the time of I/O that is hidden behind computing, from 0 to 1; nan without I/O.

        Of the time in which disks work, added up over all PEs, it is the part in which the PE of the disk computes. The
        task that does the I/O is blocked, so it is another task that computes. Idle, spinning, switching and
        communicating PEs do not count as computing, and waiting for a busy disk does not count as I/O. Even under the
        reference scheduler it is not 0, since a disk goes on working when the row changes.

        Examples
        --------
        >>> import schedlab as sl
        >>> workload = sl.gang.Workload(pes=1, horizon=100, jobs=[(0, 1, "io", 20), (0, 1, "emb", 80)], seed=1)
        >>> [round(sl.gang.simulate(workload, name).io_overlap, 2) for name in ("gang", "priority")]
        [0.33, 1.0]
        """
        total = int(self.disk_times.sum())
        return int(self.pe_rows[state.OVERLAP].sum()) / total if total else np.nan

    @property
    def baseline(self) -> float:
        """How long a task spins before spin control checks it, in seconds: the time of a request and its answer."""
        return (2 * self.rules.latency + 4 * self.rules.overhead) / NANO

    def metrics(self, by=None, confidence: float | None = None, warm_up: int | str = 0):
        """Measure the schedule, as `schedlab.schedule.Schedule.metrics` does.

        Parameters
        ----------
        by : optional
            Classes of jobs, as in `schedlab.metrics.classes`: ``"size"`` (procs), a column of `jobs`,
            ``{column: edges}``, a function or a Series. The result has one row per class, with the measures that apply
            to a class. Jobs without a class form a last row, nan.
        confidence : float, optional
            Confidence level, such as 0.95. If given, the result has batch-means intervals
            (`schedlab.statistics.batch_means`) on the means over completed jobs, in order of submission, in place of
            the measures below.
        warm_up : int or "mser"
            Number of completed jobs to discard at the beginning of each class, or of the whole. Only for intervals.

        Returns
        -------
        DataFrame, where `confidence` is given
            One row per measure, or per (class, measure) for each class with completed jobs. The measures are turnaround
            and slowdown. The columns are mean, low, high, batches, batch_size (jobs), warm_up (jobs), and a note on any
            reason to distrust the interval; an `IntervalWarning` points to such notes.
        Series, or DataFrame where `by` is given
            It is displayed with units (`schedlab.metrics.Measures`); anything derived from it is plain pandas.
            jobs (arrived), placed, completed; the means of turnaround (seconds) and slowdown over completed jobs, and
            one_task_share, the share of completed jobs with one task. Without `by` also utilization, the shares of all
            PEs' time (computing, communicating, spinning, switching, idle), and `io_overlap`.

        Raises
        ------
        ValueError
            If the jobs do not have these classes, the confidence is not between 0 and 1, or warm_up is invalid.

        Examples
        --------
        >>> import schedlab as sl
        >>> schedule = sl.gang.simulate(sl.gang.Workload(("io", "msg"), pes=8, horizon=2000, seed=1), "priority")
        >>> schedule.metrics(by="kind")["jobs"].astype(int).to_dict()
        {'io': 3, 'msg': 4}
        >>> measures = schedule.metrics()
        >>> bool(measures["utilization"] > measures["computing"])  # spinning and switching count as busy
        True
        """
        check_warm_up(confidence, warm_up)
        if by is None and confidence is None:
            shares = self.times.sum(axis=1) / (self.rules.pes * self.rules.horizon)
            values = self._of_all() | {"utilization": self.utilization} | dict(zip(DOES, shares, strict=True))
            values["io_overlap"] = self.io_overlap
            return metrics.Measures(values, dtype="float64", name=str(self.config))
        jobs = self.jobs
        if isinstance(by, str) and by != "size" and by not in jobs.columns:
            known = f"size, a column ({', '.join(jobs.columns)}){suggestion(by, ['size', *jobs.columns])}"
            raise ValueError(f"unknown classes {by!r}; known: {known}")
        labels = None if by is None else metrics.classes(jobs, by)
        if confidence is not None:
            completed = jobs.loc[self.is_completed, list(MEANS)]
            labels = None if labels is None else labels[completed.index]
            return metrics.MeasureTable(statistics.intervals(completed, confidence, labels, warm_up=warm_up))
        flags = {"arrived": self._arrived, "placed": self.is_placed, "completed": self.is_completed}
        table = pd.DataFrame({name: jobs[name] for name in ("procs", *MEANS)} | flags, index=jobs.index)
        index = table.groupby(labels, observed=False, dropna=False).size().index
        rows = [_measured(table[labels.isna() if pd.isna(label) else labels == label]) for label in index]
        return metrics.MeasureTable(rows, index=index)

    def _of_all(self):
        """Measure all jobs as `_measured` does, but without a table: building one can take longer than a short run."""
        completed = self.is_completed
        submit, procs, duration = (
            self.table[name].to_numpy()[completed] for name in ("submit_time", "procs", "duration")
        )
        turnaround = self.job_rows[state.FINISH][completed] / NANO - submit
        means = zip((*MEANS, "one_task_share"), (turnaround, turnaround / duration, procs == 1), strict=True)
        return {
            "jobs": self.arrived,
            "placed": int(self.is_placed.sum()),
            "completed": self.completed,
            **{name: values.mean() if values.size else np.nan for name, values in means},
        }

    def memberships(self, job: int, rank: int = 0) -> pd.DataFrame:
        """Return the memberships of a watched task, slice by slice from its placement to its end.

        Raises ValueError if the task was not watched.

        Parameters
        ----------
        job, rank : int
            The job's number, and the rank of the task in it, from 0.

        Returns
        -------
        DataFrame
            time (end of the slice, seconds), f_io, f_comm, f_comp, priority, held (whether it had a PE in the slice).
            A slice that ends at the horizon is not measured: its row repeats the memberships of the slice before.

        Examples
        --------
        A job that does I/O is known as such after a few slices:

        >>> import schedlab as sl
        >>> workload = sl.gang.Workload(pes=2, horizon=6, jobs=[(0, 1, "io", 8), (0, 2, "emb", 4)], seed=1)
        >>> schedule = sl.gang.simulate(workload, "priority", watch=[(1, 0)])
        >>> table = schedule.memberships(1)
        >>> bool(table["f_io"].iloc[-1] > 0.9)
        True
        >>> chart = sl.charts.memberships(table)
        """
        if (job, rank) not in self.watched:
            raise ValueError(f"task {rank} of job {job} was not watched: simulate(..., watch=[({job}, {rank})])")
        index = self.watched.index((job, rank))
        rows, (job, rank) = self.history[index], self.watched[index]
        at = self.table.index.get_loc(job)
        task = self.job_rows[state.FIRST, at] + rank
        ends = np.minimum(np.arange(1, len(rows) + 1) * self.rules.slice, self.rules.horizon)
        began = ends - self.rules.slice
        placed, finish = self.job_rows[state.PLACED, at], self.task_rows[state.DONE, task]
        present = self.is_placed[at] & (ends > placed) & (began < finish)
        table = pd.DataFrame({"time": ends / NANO})
        for name, row in MEMBERS.items():
            table[name] = rows[:, row]
        table["held"] = rows[:, -1] > 0
        return table[present].reset_index(drop=True)

    @cached_property
    def log_in_order(self) -> np.ndarray:
        """The kernel's log, ordered by PE and time; int64, shape (n_rows, n_entries), nanoseconds."""
        return self.log_rows[:, np.lexsort((self.log_rows[state.LOG_FROM], self.log_rows[state.LOG_PE]))]

    @property
    def log(self) -> pd.DataFrame:
        """What PEs did in the logged slices, ordered by PE and time.

        pe, job_number (-1 when idle), rank (-1 when idle), what (computing, communicating, spinning, switching, idle),
        start_time and end_time (seconds), row (the current row of the matrix, from 0), gang (whether it is the
        task's turn). Raises ValueError if nothing was logged.

        Examples
        --------
        >>> import schedlab as sl
        >>> workload = sl.gang.Workload(pes=2, horizon=10, jobs=[(0, 1, "emb", 1), (0, 2, "emb", 1)])
        >>> log = sl.gang.simulate(workload, log=(0, 0.4)).log
        >>> log.loc[log["what"] == "computing", ["pe", "job_number", "row"]].to_numpy().tolist()
        [[0, 1, 0], [0, 2, 1], [1, 2, 1]]
        """
        if self.logged is None:
            raise ValueError("nothing was logged: simulate(..., log=(from, until)) notes what PEs do")
        rows = self.log_in_order
        task = rows[state.LOG_TASK]
        job = self.task_rows[state.JOB, task]
        idle = task < 0
        return pd.DataFrame(
            {
                "pe": rows[state.LOG_PE],
                "job_number": np.where(idle, -1, self.table.index.to_numpy()[job]),
                "rank": np.where(idle, -1, task - self.job_rows[state.FIRST, job]),
                "what": pd.Categorical.from_codes(rows[state.LOG_WHAT], DOES),
                "start_time": rows[state.LOG_FROM] / NANO,
                "end_time": rows[state.LOG_UNTIL] / NANO,
                "row": rows[state.LOG_ROW],
                "gang": rows[state.LOG_TURN] > 0,
            }
        )

    def programs(self, *jobs: int) -> pd.DataFrame:
        """Return what the tasks of jobs do, as the table that `Workload` takes as its `programs`.

        Programs are complete, including operations that were not done by the horizon. Raises ValueError if there is no
        such job.

        Parameters
        ----------
        *jobs : int
            Job numbers (default: all jobs).

        Returns
        -------
        DataFrame
            One row per operation, ordered by job (as named, or by arrival), rank and time: job_number, rank, compute
            (seconds), operation, seconds, peer.

        Examples
        --------
        >>> import schedlab as sl
        >>> workload = sl.gang.Workload(pes=2, horizon=10, jobs=[(0, 1, "io", 0.25)])
        >>> sl.gang.simulate(workload, sl.gang.Config(bursts="constant")).programs(1)
           job_number  rank  compute operation  seconds  peer
        0           1     0     0.10      disk      0.1    -1
        1           1     0     0.05       end      0.0    -1
        """
        for job in jobs:
            if not isinstance(job, Integral) or job not in self.table.index:
                raise ValueError(f"there is no job {job!r}, expected a number, 1 to {len(self.table)}")
        table = self.table.loc[list(dict.fromkeys(jobs))] if jobs else self.table
        operations, _ = self._listed(table, LISTED)
        return tables.as_table(operations, table)

    @cached_property
    def work(self) -> np.ndarray:
        """Total work of each task: computing; disk and thinking. int64, shape (2, n_tasks), nanoseconds."""
        _, sums = self._listed(self.table, 0)
        return sums

    def _listed(self, table, room_for):
        """List operations of jobs, with room for at least so many, and add up each task's computing and bursts."""
        at = self.table.index.get_indexer(table.index)
        rows = (state.ARRIVAL, state.SIZE, state.KIND, state.DEMAND, state.KEY)
        jobs = state.Jobs(*(np.ascontiguousarray(self.job_rows[row][at]) for row in rows))
        programs, room = self.workload.programs_table, self.workload.room
        if programs is not None:
            programs = programs[programs["job_number"].isin(table.index)]
        arrays = tables.as_arrays(programs, table)
        while True:
            full, operations, sums = list_operations(jobs, arrays, self.rules, room, room_for)
            if not full:
                return operations, sums
            room *= 2 if full & state.NO_ROOM else 1
            room_for *= 2 if full & state.NO_LOG else 1

    def validate(self) -> "GangSchedule":
        """Check the laws of gang scheduling (`schedlab.gang.laws`), and return the schedule.

        All laws hold to the nanosecond. The times of each PE add up to the horizon, and its computing time equals that
        of its tasks; the part of it that overlaps with I/O is no longer than its disk works. A completed task has
        computed what its program says; together with its disk and think times this is the duration of its job. Other
        tasks have computed no more. A task takes at least the time of its work, and a job ends with the last of its
        tasks. Memberships add up to 1.

        Jobs are placed in order of arrival, at global switches, not before they arrive. Each task of a job has its own
        PE, and no PE holds more than max_tasks.

        If PEs were logged: the log has no gaps; a log of all slices adds up to the times of the PEs; tasks run on their
        PEs between placement and end and, under the reference scheduler, only when it is the turn of their row. Raises
        ScheduleError if a law is broken; the message names the job and task or the PE, and the time.

        Examples
        --------
        >>> import schedlab as sl
        >>> schedule = sl.gang.simulate(sl.gang.Workload("io", pes=4, horizon=500, seed=1))
        >>> schedule.validate() is schedule
        True
        """
        laws.check(self)
        return self


def _measured(jobs):
    """Measure jobs: their numbers, and means over the completed ones; nan where there are none."""
    completed = jobs[jobs["completed"]]
    return {
        "jobs": jobs["arrived"].sum(),
        "placed": jobs["placed"].sum(),
        "completed": len(completed),
        **{name: completed[name].mean() for name in MEANS},
        "one_task_share": (completed["procs"] == 1).mean(),
    }
