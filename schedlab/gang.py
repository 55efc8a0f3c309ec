"""Gang scheduling of tasks on processing elements (PEs): `Workload`, `Config`, `simulate`, `GangSchedule`.

After F. A. B. da Silva and I. D. Scherson, "Improving parallel job scheduling using runtime measurements", JSSPP 2000,
LNCS 1911. What happens in a simulation, to the nanosecond, is told in `schedlab.kernels.gang`. Here all times are in
seconds, rounded once to whole nanoseconds.
"""

import operator
import zlib
from collections.abc import Iterable, Mapping, Set, Sized
from dataclasses import dataclass
from functools import cached_property, lru_cache
from numbers import Integral, Real

import numpy as np
import pandas as pd

from . import programs as tables
from .kernels import gang as kernel
from .kernels import variates
from .schedule import ScheduleError
from .threads import interruptible, pool
from .workload.models import _draws as draws
from .workload.models.jann import SIZES, JannTable, jann, jann_table

KINDS = {
    "io": kernel.IO,
    "emb": kernel.EMBARRASSING,
    "msg": kernel.MESSAGES,
    "bsp": kernel.BARRIERS,
    "interactive": kernel.INTERACTIVE,
}
SCHEDULERS = ("gang", "priority", "spin-block")
PACKINGS = {"first-fit": kernel.FIRST_FIT, "best-fit": kernel.BEST_FIT, "buddy": kernel.BUDDY}
BURSTS = {"exponential": variates.EXPONENTIAL, "constant": variates.CONSTANT, "uniform": variates.UNIFORM}
DOES = ("computing", "communicating", "spinning", "switching", "idle")  # what PEs do
COLUMNS = ("arrival_time", "size", "kind", "duration")

NANO = 1_000_000_000
MOST_PES = 2**15  # more pairs of tasks than of so many could not be drawn with 32 bits
LONGEST = 10**8  # seconds; sums of a few such times can still be counted in nanoseconds
DRAWN_AHEAD = 64  # operations of a task, until more are needed
MOST_AHEAD = 2**27  # of all tasks, 32 bytes each
LOGGED = 4096  # entries, until more are needed
EQUAL = 1e-9  # priorities that differ by no more are equal: rounding must not decide whether one is beta


@dataclass(frozen=True)
class Workload:
    """Jobs of one or more tasks.

    Parameters
    ----------
    mix : str, tuple of str, or dict
        Kinds of jobs: ``"io"`` (computing and disk in turn), ``"emb"`` (computing only), ``"msg"`` (messages between
        random pairs of tasks), ``"bsp"`` (barriers), ``"interactive"`` (computing and thinking in turn). One kind, or
        several with equal shares, or a dict with the share of each. A kind is drawn for every job by itself.
    pes : int
        Processing elements of the machine, at most 32,768.
    horizon : float, seconds
        What arrives until then.
    table, sizes
        Of the model of arrivals, sizes and durations; see `schedlab.workload.models.jann.jann`.
    seed : int or numpy.random.Generator
        Of everything that is drawn, what jobs do included. With another mix arrivals, sizes and durations are the same.
    jobs : DataFrame, optional
        Jobs of your own in place of the model and the mix: arrival_time (seconds, from 0 on), size (tasks), kind,
        duration (seconds; the dedicated time of each task). It is kept as a tuple of rows.
    programs : DataFrame, optional
        Programs of your own for some of `jobs`, or all: what each task does, operation by operation, in place of what
        is drawn by kind. `GangSchedule.programs` gives the same table.

        - job: number, counted from 1 on in the order of `jobs`; rank: of the task, from 0 on;
        - compute: seconds of computing before the operation;
        - operation: ``"disk"``, ``"think"``, ``"send"``, ``"receive"``, ``"barrier"`` or ``"end"``; the last one of a
          task is end, disk or think;
        - seconds: of disk and think;
        - peer: rank of the other task, of send and receive. The messages from one task to another are received in the
          order in which they are sent.

        Times that round to 0 ns take 1 ns. Where all jobs have programs, `jobs` needs arrival_time only: the size is
        that of the program, the duration that of its longest task (computing, disk and thinking), the kind what it
        does; so where a cell of theirs is blank. Of the kind only ``"interactive"`` makes a difference, to spin
        control, and of the duration only the slowdown is measured by it. It is kept as a tuple of rows.

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
        if draws.at_least_one("pes", self.pes) > MOST_PES:
            raise ValueError(f"pes must be at most {MOST_PES}, got {self.pes}")
        _check_times(self, "horizon")
        object.__setattr__(self, "seed", draws.entropy(self.seed))
        _check_known(self, "sizes", SIZES)
        object.__setattr__(self, "mix", _mixed(self.mix))
        shares = self.shares
        for kind, share in shares.items():
            if kind not in KINDS:
                raise ValueError(f"unknown kind of jobs {kind!r}; known: {', '.join(KINDS)}")
            if not (isinstance(share, Real) and 0 <= share <= 1):
                raise ValueError(f"the share of {kind} jobs is {share!r}, expected 0 to 1")
        if not abs(sum(shares.values()) - 1) < 1e-9:
            raise ValueError(f"the shares of the mix add up to {sum(shares.values()):g}, expected 1")
        if self.jobs is None:
            jann_table(self.table).on_machine(self.pes)
            if self.programs is not None:
                raise ValueError("programs without jobs, expected a table of jobs with arrival_time, too")
        else:
            self._take_jobs()

    def _take_jobs(self):
        """Check the user's own jobs and programs, and keep them as rows."""
        jobs = self.jobs
        if self.programs is not None:
            jobs = _as_frame(jobs)
            given = tables.checked(self.programs, len(jobs), self.pes)
            jobs = _completed_by(jobs, tables.summed_up(given))
            object.__setattr__(self, "programs", tuple(given.itertuples(index=False, name=None)))
        object.__setattr__(self, "jobs", _rows(jobs, self.pes))

    @property
    def shares(self) -> dict:
        """The share of each kind."""
        if isinstance(self.mix, str):
            return {self.mix: 1}
        if all(isinstance(each, str) for each in self.mix):
            return {kind: 1 / len(self.mix) for kind in self.mix}
        return dict(self.mix)

    @property
    def jobs_table(self) -> pd.DataFrame:
        """One row a job, in the order of arrival: arrival_time (seconds), size, kind, duration (seconds)."""
        return self._jobs_table.copy()

    @cached_property
    def _jobs_table(self):
        if self.jobs is not None:
            table = pd.DataFrame(self.jobs, columns=COLUMNS)
            table = table.astype({"arrival_time": "float64", "size": "int64", "kind": "str", "duration": "float64"})
            return table.set_axis(draws.job_numbers(len(table))).sort_values("arrival_time", kind="stable")
        table = _arrivals(self.pes, self.horizon, self.seed, self.table, self.sizes)
        kind = np.array(list(self.shares))
        place = np.searchsorted(np.cumsum(list(self.shares.values()))[:-1], self._uniforms(table.index), side="right")
        return table.assign(kind=kind[place].astype(object))[list(COLUMNS)].astype({"kind": "str"})

    @cached_property
    def _arrays(self):
        """The jobs as the kernel takes them."""
        jobs, programs = self._jobs_table, self._programs_table
        kind = jobs["kind"].map(KINDS)
        if programs is not None:
            own = jobs.index.isin(programs["job"]) & (jobs["kind"] != "interactive")
            kind = kind.mask(own, kernel.EMBARRASSING)
        return (
            _nanoseconds(jobs["arrival_time"].to_numpy()),
            jobs["size"].to_numpy(copy=True),
            kind.to_numpy("int64", copy=True),
            tables.nanoseconds(jobs["duration"]),
            self._keys(jobs.index),
            *tables.as_arrays(programs, jobs),
        )

    @cached_property
    def _programs_table(self):
        return None if self.programs is None else pd.DataFrame(list(self.programs), columns=tables.COLUMNS)

    @property
    def _room(self):
        """How many operations have to be known ahead of a task: a power of two, no less than the longest program."""
        if self.programs is None:
            return DRAWN_AHEAD
        longest, tasks = self._programs_table.groupby(["job", "rank"]).size().max(), self._jobs_table["size"].sum()
        room = max(DRAWN_AHEAD, 1 << int(longest - 1).bit_length())
        if room * tasks > MOST_AHEAD:
            raise ValueError(
                f"the longest program has {longest:,} operations, and there are {tasks:,} tasks, each with room for as "
                f"many: expected at most {MOST_AHEAD:,} in all"
            )
        return room

    def _uniforms(self, numbers):
        return draws.uniforms(self.seed, "kind", numbers.to_numpy())

    def _keys(self, numbers):
        """Give each job the key of its random numbers; int64, 32 bits."""
        return (draws.keys((self.seed, zlib.crc32(b"bursts")), numbers.to_numpy()) >> np.uint64(32)).astype("int64")


@lru_cache(maxsize=256)
def _arrivals(pes, horizon, seed, table, sizes):
    """Draw the model's jobs until one comes too late; the same for all mixes."""
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
            "arrival_time": jobs["submit_time"].astype("float64"),
            "size": jobs["requested_procs"],
            "duration": jobs["run_time"].astype("float64"),
        }
    )


def _mixed(mix):
    """Check that a mix is one, and give it as a kind, or as a tuple of kinds or of kinds with their shares."""
    if isinstance(mix, str):
        return mix
    expected = f"mix is {mix!r}, expected a kind of jobs, several, or a dict with the share of each"
    if isinstance(mix, bytes | Set) or not isinstance(mix, Iterable):  # a set has no order to rely on
        raise ValueError(expected)
    mix = tuple(mix.items() if isinstance(mix, Mapping) else mix)
    if not mix:
        raise ValueError("the mix is empty, expected at least one kind of jobs")
    kinds = mix
    if not all(isinstance(each, str) for each in mix):
        if not all(isinstance(each, tuple) and len(each) == 2 for each in mix):
            raise ValueError(expected)
        kinds = [kind for kind, _ in mix]
    for kind in kinds:
        if kinds.count(kind) > 1:
            raise ValueError(f"the mix has {kind} jobs more than once, expected each kind once")
    return mix


def _whole(value):
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _completed_by(jobs, found):
    """Fill in what programs say of their jobs where the table of jobs says nothing; the sizes must be the same."""
    jobs = jobs.set_axis(pd.RangeIndex(1, len(jobs) + 1))
    for column in ("size", "kind", "duration"):
        if column not in jobs.columns:
            for number in jobs.index.difference(found.index):
                raise ValueError(f"jobs has no column {column}, and job {number} no program to take it from")
            jobs[column] = found[column]
        blank = jobs.index[jobs[column].isna()].intersection(found.index)
        if blank.size:
            filled = jobs[column].astype(object).mask(jobs.index.isin(blank), found[column])
            jobs[column] = filled.map(_whole)  # blanks have made fractions of whole numbers
    told = jobs["size"][found.index]
    for number in found.index[told.to_numpy() != found["size"].to_numpy()]:
        size = told.tolist()[found.index.get_loc(number)]
        raise ValueError(f"job {number} has {size!r} tasks, expected {found['size'][number]}, as in its program")
    return jobs


def _as_frame(jobs):
    """Give jobs of the user's own, a table or rows, as a DataFrame that has no column twice."""
    columns = ", ".join(COLUMNS)
    if isinstance(jobs, pd.DataFrame):
        for column in COLUMNS:
            if list(jobs.columns).count(column) > 1:
                raise ValueError(f"jobs has column {column} more than once, expected {columns}")
        return jobs
    if isinstance(jobs, str | Mapping) or not isinstance(jobs, Iterable):
        found = "a dict" if isinstance(jobs, Mapping) else repr(jobs)
        raise ValueError(f"jobs is {found}, expected a DataFrame or rows of {columns}")
    rows = list(jobs)
    for number, row in enumerate(rows, 1):
        if isinstance(row, str) or not isinstance(row, Sized) or len(row) != len(COLUMNS):
            raise ValueError(f"job {number} is {row!r}, expected {columns}")
    values = zip(*(tuple(row) for row in rows), strict=True) if rows else [[]] * len(COLUMNS)
    # As they are given: a column of its own type for each would turn whole numbers into others.
    return pd.DataFrame({name: pd.Series(list(each), dtype=object) for name, each in zip(COLUMNS, values, strict=True)})


def _rows(jobs, pes):
    """Check jobs of the user's own, and give them as a tuple of rows."""
    jobs = _as_frame(jobs)
    for column in COLUMNS:
        if column not in jobs.columns:
            raise ValueError(f"jobs has no column {column}, expected {', '.join(COLUMNS)}")
    rows = tuple(zip(*(jobs[column].tolist() for column in COLUMNS), strict=True))
    if not rows:
        raise ValueError("jobs has no rows, expected at least one job")
    for number, (arrival, size, kind, duration) in enumerate(rows, 1):
        if not (isinstance(arrival, Real) and 0 <= arrival < LONGEST):
            raise ValueError(f"job {number} arrives at {arrival!r}, expected seconds, from 0 to below {LONGEST:g}")
        if not isinstance(size, Integral) or size < 1:
            raise ValueError(f"job {number} has {size!r} tasks, expected a whole number from 1 on")
        if size > pes:
            raise ValueError(f"job {number} has {size} tasks, the machine {pes} PEs: expected at most one task a PE")
        if not (isinstance(kind, str) and kind in KINDS):
            raise ValueError(f"job {number} is of unknown kind {kind!r}; known: {', '.join(KINDS)}")
        _check_seconds(f"the duration of job {number}", duration)
    return rows


@dataclass(frozen=True)
class Config:
    """The machine, the scheduler and the behaviour of jobs.

    Parameters
    ----------
    scheduler : {"gang", "priority", "spin-block"}
        The reference: a PE idles where its row has no task or the task is blocked. Or it then runs another of its tasks
        by priority, by what was measured. Or, besides, a task that has spun for the `GangSchedule.baseline` makes room
        for one that does I/O.
    reclaim : bool
        The task of the row takes its PE back as soon as its I/O is done. Otherwise the task that was chosen by priority
        keeps the PE until it blocks or ends, or the next global switch. Under ``"gang"``, which chooses nothing by
        priority, it makes no difference; it cannot be combined with ``"spin-block"``.
    slice, switch : float, seconds
        Between global switches; of a context switch.
    latency, overhead : float, seconds
        Of a message on its way; of sending it and of receiving it.
    delta : float, seconds, optional
        More than this must be left of the slice for a spinning task to make room; four switches if left out.
    alpha, beta : float
        The priority of a task is the larger of alpha times its membership in I/O and of its membership in computing; a
        task with less than beta runs in its own row only.
    max_tasks : int
        On one PE.
    statements : int
        How many communication statements in a slice make a task one that communicates: sending, receiving, a barrier.
        One counts where the task reaches it, and again where the task gets its PE, or keeps it at a global switch,
        within it; so a task that spins all through a slice has one.
    floor : float
        Of memberships, so that none vanishes.
    both : bool
        A task that communicates and does I/O in one slice is measured as doing both, or only as communicating.
    packing : {"first-fit", "best-fit", "buddy"}
        Rows of the matrix for a job: the first with enough free columns; that with the fewest; the first with an
        aligned block of a power of two that is free.
    unify : bool
        When jobs have ended, rows that have no column in common become one.
    alternate : bool
        Jobs of other rows run, too, where all their columns are free in the current one.
    bursts : {"exponential", "constant", "uniform"}
        The law of all bursts below; uniform ones are from 0 to twice the mean.
    compute, disk : float, seconds
        Means of computing and of disk service of an I/O job.
    gap, superstep : float, seconds
        Means of computing between two messages, and between two barriers.
    react, think : float, seconds
        Means of computing and of thinking of an interactive job.
    imbalance : float
        By what share of a superstep its tasks may differ, from 0 to below 1.

    Notes
    -----
    Six readings of what the paper leaves open:

    1. A communication statement counts again in each slice in which its task gets its PE, or keeps it, within it.
    2. Among equal priorities the next task in the order of jobs takes its turn.
    3. A context switch that the global switch cuts short has unloaded nothing: the task that was loaded before goes on
       free of charge.
    4. Such a switch is finished if the same task is chosen at the global switch. It is lost if another one is, or if
       the PE idles then.
    5. A spin that is to be looked at when the slice ends goes on: nothing is left of the slice, so delta is not.
    6. Nothing is decided at the horizon, even if it is a multiple of the slice.

    The other choices change utilization by at most half a point in the paper's runs, but for IO/Msg under spin control:
    two independent simulators gave 85.3 % and 83.0 %.
    """

    scheduler: str = "gang"
    slice: float = 0.2
    switch: float = 200e-6
    latency: float = 10e-6
    overhead: float = 8.75e-6
    delta: float | None = None
    alpha: float = 2
    beta: float = 0.3
    max_tasks: int = 10
    statements: int = 1
    floor: float = 0.001
    both: bool = True
    packing: str = "first-fit"
    unify: bool = False
    alternate: bool = False
    bursts: str = "exponential"
    compute: float = 0.1
    disk: float = 0.1
    gap: float = 0.01
    superstep: float = 0.05
    react: float = 0.05
    think: float = 1
    imbalance: float = 0
    reclaim: bool = False

    def __post_init__(self):
        for name, known in (("scheduler", SCHEDULERS), ("packing", PACKINGS), ("bursts", BURSTS)):
            _check_known(self, name, known)
        _check_times(self, "slice", "switch", "latency", "overhead")
        _check_times(self, "compute", "disk", "gap", "superstep", "react", "think")
        if self.delta is not None and not (isinstance(self.delta, Real) and 0 <= self.delta < LONGEST):
            raise ValueError(f"delta is {self.delta!r}, expected seconds, from 0 to below {LONGEST:g}")
        if not (isinstance(self.alpha, Real) and 1 <= self.alpha < np.inf):
            raise ValueError(f"alpha is {self.alpha!r}, expected at least 1: tasks that compute have up to 1")
        if not (isinstance(self.beta, Real) and 0 <= self.beta <= self.alpha):
            raise ValueError(f"beta is {self.beta!r}, expected 0 to alpha, which is {self.alpha!r}")
        _check_whole(self, "max_tasks", "statements")
        for name, end in (("floor", "1/3"), ("imbalance", "1")):
            value = getattr(self, name)
            if not (isinstance(value, Real) and 0 <= value < (1 / 3 if name == "floor" else 1)):
                raise ValueError(f"{name} is {value!r}, expected from 0 to below {end}")
        for name in ("both", "unify", "alternate", "reclaim"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ValueError(f"{name} is {getattr(self, name)!r}, expected True or False")
        if self.reclaim and self.scheduler == "spin-block":
            raise ValueError("reclaim cannot be combined with spin-block, expected the scheduler gang or priority")

    def __str__(self) -> str:
        return self.scheduler

    def _rules(self, pes, horizon, jobs):
        """Give what the kernel takes: no larger limit than matters to so many jobs."""
        return kernel.Rules(
            pes=pes,
            slice=_nanoseconds(self.slice),
            switch=_nanoseconds(self.switch),
            latency=_nanoseconds(self.latency),
            overhead=_nanoseconds(self.overhead),
            delta=4 * _nanoseconds(self.switch) if self.delta is None else _nanoseconds(self.delta),
            horizon=_nanoseconds(horizon),
            max_tasks=int(min(self.max_tasks, max(jobs, 1))),
            statements=int(min(self.statements, kernel.NEVER)),
            alpha=float(self.alpha),
            beta=float(self.beta) - EQUAL,
            floor=float(self.floor),
            both=bool(self.both),
            priority=self.scheduler != "gang",
            spin_block=self.scheduler == "spin-block",
            reclaim=self.scheduler == "priority" and bool(self.reclaim),
            packing=PACKINGS[self.packing],
            unify=bool(self.unify),
            alternate=bool(self.alternate),
            law=BURSTS[self.bursts],
            compute=_nanoseconds(self.compute),
            disk=_nanoseconds(self.disk),
            gap=_nanoseconds(self.gap),
            superstep=_nanoseconds(self.superstep),
            react=_nanoseconds(self.react),
            think=_nanoseconds(self.think),
            imbalance=float(self.imbalance),
        )


def simulate(
    workload: Workload,
    config: Config | str = "gang",
    *,
    log: tuple[float, float] | None = None,
    watch: Iterable[tuple[int, int]] = (),
) -> "GangSchedule":
    """Simulate a workload on its machine until its horizon.

    Parameters
    ----------
    workload : Workload
    config : Config, or the name of its scheduler
    log : (float, float), seconds, optional
        Note what PEs do in all slices that have a part in this span.
    watch : iterable of (int, int)
        Tasks, as (job number, rank from 0 on), whose memberships are noted slice by slice.

    Returns
    -------
    GangSchedule

    Examples
    --------
    >>> import schedlab as sl
    >>> workload = sl.gang.Workload("io", pes=4, horizon=2000, seed=1)
    >>> reference, local = (sl.gang.simulate(workload, name).validate() for name in ("gang", "priority"))
    >>> bool(local.utilization > reference.utilization)
    True
    """
    if not isinstance(workload, Workload):
        raise TypeError(f"workload is a {type(workload).__name__}, expected a gang.Workload")
    config = Config(config) if isinstance(config, str) else config
    if not isinstance(config, Config):
        raise TypeError(f"config is a {type(config).__name__}, expected a gang.Config or the name of a scheduler")
    jobs = workload.jobs_table
    rules = config._rules(int(workload.pes), workload.horizon, len(jobs))
    watch = _tasks(watch)
    for job, rank in watch:
        if job not in jobs.index:
            raise ValueError(f"there is no job {job} to watch, only {len(jobs)} until the horizon")
        if not 0 <= rank < jobs["size"][job]:
            raise ValueError(f"job {job} has no task {rank} to watch, expected 0 to {jobs['size'][job] - 1}")
    span = (0, 0)
    if log is not None:
        log = _span(log, workload.horizon)
        span = tuple(map(_nanoseconds, log))
    before = jobs["size"].cumsum() - jobs["size"] if watch else None
    watched = np.array([before[job] + rank for job, rank in watch], "int64")
    room, logged = workload._room, LOGGED if log is not None else 0
    while True:
        full, *outcome = interruptible(kernel.gang, *workload._arrays, rules, room, logged, *span, watched)
        if not full:
            return GangSchedule(workload, config, rules, jobs, log, watch, *outcome)
        room *= 2 if full & kernel.NO_ROOM else 1
        logged *= 2 if full & kernel.NO_LOG else 1


def simulate_many(runs: Iterable[tuple], *, threads: int | None = None, **more) -> list["GangSchedule"]:
    """Simulate several runs over threads; the result is the same for any number of them.

    Parameters
    ----------
    runs : iterable of (Workload, Config or str)
    threads : int, optional
        One for each core if left out.
    **more
        log and watch, as in `simulate`.
    """
    expected = "expected pairs of a Workload and a Config or its scheduler"
    if not isinstance(runs, Iterable):
        raise ValueError(f"runs is {runs!r}, {expected}")
    runs = list(runs)
    for run in runs:
        if not (isinstance(run, tuple | list) and len(run) == 2):
            raise ValueError(f"a run is {run!r}, {expected}")
    more["watch"] = _tasks(more.get("watch", ()))
    with pool(threads) as executor:
        return list(executor.map(lambda run: simulate(*run, **more), runs))


def _tasks(watch):
    """Check the tasks to be watched, and give them as pairs of int."""
    wrong = ValueError(f"watch is {watch!r}, expected tasks: pairs of a job's number and a rank")
    try:
        tasks = tuple((job, rank) for job, rank in watch)
        return tuple((operator.index(job), operator.index(rank)) for job, rank in tasks)
    except (TypeError, ValueError):
        raise wrong from None


def _span(log, horizon):
    """Check the span that is to be logged, and give it as two times in seconds, up to the horizon."""
    try:
        begin, end = log[0], min(log[1], horizon)
        right = len(log) == 2 and begin >= 0 and _nanoseconds(begin) < _nanoseconds(end)
    except (TypeError, ValueError, IndexError, KeyError):
        right = False
    if not right:
        raise ValueError(
            f"log is {log!r}, expected two times in seconds, the earlier first, from 0 to below the horizon, {horizon}"
        )
    return begin, end


@dataclass(frozen=True, eq=False, repr=False)
class GangSchedule:
    """The result of a simulation of gang scheduling.

    Attributes
    ----------
    workload : Workload
    config : Config
    rules : schedlab.kernels.gang.Rules
        What the kernel was told.
    table : DataFrame
        The workload's jobs.
    logged : (float, float) or None, seconds
    watched : tuple of (int, int)
    job_rows, task_rows, member_rows, pe_rows, log_rows, history : arrays
        What the kernel gave, nanoseconds; see `schedlab.kernels.gang.gang`.
    events : int
        Steps of the simulation.
    """

    workload: Workload
    config: Config
    rules: kernel.Rules
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
    def _placed(self):
        return self.job_rows[kernel.PLACED] >= 0

    @cached_property
    def _completed(self):
        rows = self.job_rows
        return self._placed & (rows[kernel.LEFT] == 0) & (rows[kernel.FINISH] <= self.rules.horizon)

    @property
    def jobs(self) -> pd.DataFrame:
        """One row a job: the workload's columns, placed_time, completion_time and response_time (seconds).

        They are nan where a job was not placed, or not completed, by the horizon.
        """
        placed, completed = self.job_rows[kernel.PLACED] / NANO, self.job_rows[kernel.FINISH] / NANO
        table = self.table.copy()
        table["placed_time"] = np.where(self._placed, placed, np.nan)
        table["completion_time"] = np.where(self._completed, completed, np.nan)
        table["response_time"] = table["completion_time"] - table["arrival_time"]
        return table

    @property
    def tasks(self) -> pd.DataFrame:
        """One row a task, by job_number and rank.

        pe (-1 where it was not placed), computed (seconds), completion_time (seconds, nan where it was not done by the
        horizon), and its memberships f_io, f_comm, f_comp and priority in the last slice.
        """
        rows = self.task_rows
        size = self.table["size"].to_numpy()
        number = np.repeat(self.table.index.to_numpy(), size)
        rank = np.arange(number.size) - np.repeat(np.cumsum(size) - size, size)
        table = pd.DataFrame(index=pd.MultiIndex.from_arrays([number, rank], names=["job_number", "rank"]))
        table["pe"] = rows[kernel.PE]
        table["computed"] = rows[kernel.COMPUTED] / NANO
        table["completion_time"] = np.where(self._done, rows[kernel.DONE] / NANO, np.nan)
        for name, row in _MEMBERS.items():
            table[name] = np.where(rows[kernel.PE] >= 0, self.member_rows[row], np.nan)
        return table

    @cached_property
    def _done(self):
        return self.task_rows[kernel.DONE] <= self.rules.horizon

    @property
    def pes(self) -> pd.DataFrame:
        """One row a PE: seconds spent computing, communicating (sending and receiving), spinning, switching, idle."""
        times = self.pe_rows[kernel.TIME_COMPUTING : kernel.TIME_IDLE + 1] / NANO
        return pd.DataFrame(times.T, columns=DOES, index=pd.RangeIndex(self.rules.pes, name="pe"))

    @property
    def arrived(self) -> int:
        """How many jobs arrived before the horizon."""
        return int((self.job_rows[kernel.ARRIVAL] < self.rules.horizon).sum())

    @property
    def completed(self) -> int:
        """How many jobs were completed by the horizon: the throughput."""
        return int(self._completed.sum())

    @property
    def utilization(self) -> float:
        """The share of the time in which PEs were not idle; spinning and switching count as busy."""
        return 1 - int(self.pe_rows[kernel.TIME_IDLE].sum()) / (self.rules.pes * self.rules.horizon)

    @property
    def baseline(self) -> float:
        """How long a task spins before spin control looks at it, seconds: a request and its answer."""
        return (2 * self.rules.latency + 4 * self.rules.overhead) / NANO

    def metrics(self) -> pd.Series:
        """Measure the whole.

        Returns
        -------
        Series
            jobs (arrived), placed, completed; response_time (mean, seconds) and slowdown (mean of response time over
            duration) of the completed ones, and which share of them have one task; utilization; and the shares of all
            PEs' time: computing, communicating, spinning, switching, idle.
        """
        completed = self._completed
        arrived, size, duration = (self.table[name].to_numpy()[completed] for name in COLUMNS if name != "kind")
        response = self.job_rows[kernel.FINISH, completed] / NANO - arrived
        times = self.pe_rows[kernel.TIME_COMPUTING : kernel.TIME_IDLE + 1].sum(axis=1)
        values = {
            "jobs": self.arrived,
            "placed": self._placed.sum(),
            "completed": completed.sum(),
            "response_time": _mean(response),
            "slowdown": _mean(response / duration),
            "one_task_share": _mean(size == 1),
            "utilization": self.utilization,
            **dict(zip(DOES, times / (self.rules.pes * self.rules.horizon), strict=True)),
        }
        return pd.Series(values, dtype="float64", name=str(self.config))

    def memberships(self, job: int, rank: int = 0) -> pd.DataFrame:
        """Give the memberships of a watched task, slice by slice from its placement to its end.

        Returns
        -------
        DataFrame
            time (end of the slice, seconds), f_io, f_comm, f_comp, priority, held (whether it had a PE in the slice).
            A slice that ends at the horizon is not measured any more: its row has the memberships of the one before.
        """
        if (job, rank) not in self.watched:
            raise ValueError(f"task {rank} of job {job} was not watched: simulate(..., watch=[({job}, {rank})])")
        which = self.watched.index((job, rank))
        rows, (job, rank) = self.history[which], self.watched[which]
        at = self.table.index.get_loc(job)
        task = self.job_rows[kernel.FIRST, at] + rank
        ends = np.minimum(np.arange(1, len(rows) + 1) * self.rules.slice, self.rules.horizon)
        began = ends - self.rules.slice
        there = (
            self._placed[at] & (ends > self.job_rows[kernel.PLACED, at]) & (began < self.task_rows[kernel.DONE, task])
        )
        table = pd.DataFrame({"time": ends / NANO})
        for name, row in _MEMBERS.items():
            table[name] = rows[:, row]
        table["held"] = rows[:, -1] > 0
        return table[there].reset_index(drop=True)

    @property
    def log(self) -> pd.DataFrame:
        """What PEs did in the slices that were logged, in the order of PEs and times.

        pe, job (number, -1 where it is idle), rank (-1 likewise), what (computing, communicating, spinning, switching,
        idle), begin and end (seconds), row (the current one of the matrix, from 0 on), gang (whether the task is the
        one of that row).
        """
        if self.logged is None:
            raise ValueError("nothing was logged: simulate(..., log=(from, until)) notes what PEs do")
        rows = self.log_rows
        rows = rows[:, np.lexsort((rows[kernel.LOG_FROM], rows[kernel.LOG_PE]))]
        task = rows[kernel.LOG_TASK]
        job = self.task_rows[kernel.JOB, task]
        idle = task < 0
        return pd.DataFrame(
            {
                "pe": rows[kernel.LOG_PE],
                "job": np.where(idle, -1, self.table.index.to_numpy()[job]),
                "rank": np.where(idle, -1, task - self.job_rows[kernel.FIRST, job]),
                "what": pd.Categorical.from_codes(rows[kernel.LOG_WHAT], DOES),
                "begin": rows[kernel.LOG_FROM] / NANO,
                "end": rows[kernel.LOG_UNTIL] / NANO,
                "row": rows[kernel.LOG_ROW],
                "gang": rows[kernel.LOG_TURN] > 0,
            }
        )

    def programs(self, *jobs: int) -> pd.DataFrame:
        """Give what the tasks of jobs do, of all jobs if none is named: see `programs` of `Workload`, which takes it.

        Whole programs, whatever of them was done by the horizon.

        Returns
        -------
        DataFrame
            One row an operation, by job (as they are named, or arrive), rank and time: job, rank, compute (seconds),
            operation, seconds, peer.

        Examples
        --------
        >>> import schedlab as sl
        >>> workload = sl.gang.Workload(pes=2, horizon=10, jobs=[(0, 1, "io", 0.25)])
        >>> sl.gang.simulate(workload, sl.gang.Config(bursts="constant")).programs(1)
           job  rank  compute operation  seconds  peer
        0    1     0     0.10      disk      0.1    -1
        1    1     0     0.05       end      0.0    -1
        """
        for job in jobs:
            if not isinstance(job, Integral) or job not in self.table.index:
                raise ValueError(f"there is no job {job!r}, expected a number, 1 to {len(self.table)}")
        table = self.table.loc[list(dict.fromkeys(jobs))] if jobs else self.table
        operations, _ = self._listed(table, LOGGED)
        return tables.as_table(operations, table)

    def _listed(self, table, room_for):
        """List so many operations of jobs, or more, and sum up computing and bursts of their tasks."""
        at = self.table.index.get_indexer(table.index)
        rows = (kernel.SIZE, kernel.KIND, kernel.DEMAND, kernel.KEY)
        jobs = [np.ascontiguousarray(self.job_rows[row][at]) for row in rows]
        programs, room = self.workload._programs_table, self.workload._room
        if programs is not None:
            programs = programs[programs["job"].isin(table.index)]
        given = tables.as_arrays(programs, table)
        while True:
            full, operations, sums = kernel.programs(*jobs, *given, self.rules, room, room_for)
            if not full:
                return operations, sums
            room *= 2 if full & kernel.NO_ROOM else 1
            room_for *= 2 if full & kernel.NO_LOG else 1

    def validate(self) -> "GangSchedule":
        """Check the laws of gang scheduling, and give the schedule back.

        To the nanosecond: the times of each PE add up to the horizon, its computing to that of its tasks; and a task
        that is done has computed what its program says, which with its bursts of disk and thinking is its duration,
        while others have computed less; it ends no sooner than that takes, and its job with the last of its tasks.
        Memberships add up to 1. Jobs are placed in their order, at multiples of the slice, after they have arrived;
        their tasks have PEs of their own, none of which holds more than max_tasks. If PEs were logged, the log leaves
        no gap, a log of all slices adds up to the times of the PEs, tasks run on their PEs between placement and end,
        and, under the reference, only when it is the turn of their row.

        Raises
        ------
        ScheduleError
        """
        self._check_times()
        self._check_work()
        self._check_places()
        self._check_ends()
        self._check_memberships()
        if self.logged is not None:
            self._check_log()
        return self

    def _check_times(self):
        times = self.pe_rows[kernel.TIME_COMPUTING : kernel.TIME_IDLE + 1]
        for pe in np.flatnonzero((times.sum(axis=0) != self.rules.horizon) | (times < 0).any(axis=0)):
            spent = ", ".join(f"{what} {time}" for what, time in zip(DOES, times[:, pe], strict=True))
            raise ScheduleError(f"PE {pe}: {spent} ns, expected {self.rules.horizon} in all")

    def _check_work(self):
        _, (computing, bursts) = self._listed(self.table, 0)
        done, computed = self._done, self.task_rows[kernel.COMPUTED]
        for task in np.flatnonzero(np.where(done, computed != computing, (computed < 0) | (computed > computing))):
            expected = computing[task] if done[task] else f"0 to {computing[task]}"
            raise ScheduleError(f"{self._name(task)} has computed for {computed[task]} ns, expected {expected}")
        size, kind, demand = (self.job_rows[row] for row in (kernel.SIZE, kernel.KIND, kernel.DEMAND))
        unequal = (kind == kernel.BARRIERS) & (size > 1) & (self.rules.imbalance > 0)
        if self.workload.programs is not None:
            unequal |= self.table.index.isin(self.workload._programs_table["job"])
        demand = np.repeat(demand, size)
        for task in np.flatnonzero((computing + bursts != demand) & ~np.repeat(unequal, size)):
            raise ScheduleError(
                f"{self._name(task)} is to take {computing[task] + bursts[task]} ns, its job {demand[task]}"
            )
        ends, came = self.task_rows[kernel.DONE], self.job_rows[kernel.PLACED, self.task_rows[kernel.JOB]]
        takes = computing + bursts
        for task in np.flatnonzero((ends < kernel.NEVER) & (ends - came < takes)):
            raise ScheduleError(
                f"{self._name(task)} ends at {ends[task]} ns, expected at least {takes[task]} ns after its placement "
                f"at {came[task]}"
            )
        placed = self.task_rows[kernel.PE] >= 0
        spent = np.zeros(self.rules.pes, "int64")
        np.add.at(spent, self.task_rows[kernel.PE, placed], computed[placed])
        for pe in np.flatnonzero(spent != self.pe_rows[kernel.TIME_COMPUTING]):
            found = self.pe_rows[kernel.TIME_COMPUTING, pe]
            raise ScheduleError(f"PE {pe} has computed for {found} ns, its tasks for {spent[pe]}")

    def _check_ends(self):
        ends, job = self.task_rows[kernel.DONE], np.repeat(np.arange(len(self.table)), self.job_rows[kernel.SIZE])
        left, last = np.zeros(len(self.table), "int64"), np.zeros(len(self.table), "int64")
        np.add.at(left, job, ends == kernel.NEVER)
        np.maximum.at(last, job, ends)
        numbers = self.table.index
        for at in np.flatnonzero(self._placed & (self.job_rows[kernel.LEFT] != left)):
            raise ScheduleError(
                f"job {numbers[at]} has {self.job_rows[kernel.LEFT, at]} tasks to end, expected {left[at]}"
            )
        for at in np.flatnonzero(self._placed & (left == 0) & (self.job_rows[kernel.FINISH] != last)):
            found = self.job_rows[kernel.FINISH, at]
            raise ScheduleError(f"job {numbers[at]} ends at {found} ns, the last of its tasks at {last[at]}")

    def _check_memberships(self):
        members = self.member_rows[kernel.F_IO : kernel.F_COMP + 1]
        placed, measured = self.task_rows[kernel.PE] >= 0, (self.member_rows[: kernel.F_IO] != 1 / 2).any(axis=0)
        total = members.sum(axis=0)
        vanished = (members == 0).all(axis=0) & (self.rules.floor == 0)
        for task in np.flatnonzero(placed & measured & ~vanished & ~(np.abs(total - 1) < EQUAL)):
            raise ScheduleError(f"the memberships of {self._name(task)} add up to {total[task]:g}, expected 1")

    def _name(self, task):
        at = int(np.searchsorted(self.job_rows[kernel.FIRST], task, side="right")) - 1
        return f"task {task - self.job_rows[kernel.FIRST, at]} of job {self.table.index[at]}"

    def _check_log(self):
        rows = self.log_rows[:, np.lexsort((self.log_rows[kernel.LOG_FROM], self.log_rows[kernel.LOG_PE]))]
        pe, task, begin, end = (
            rows[row] for row in (kernel.LOG_PE, kernel.LOG_TASK, kernel.LOG_FROM, kernel.LOG_UNTIL)
        )
        first, last = (min(_nanoseconds(time), self.rules.horizon) for time in self.logged)
        step = self.rules.slice
        first, last = first // step * step, min(-(-last // step) * step, self.rules.horizon)
        new = np.append(True, np.diff(pe) > 0)
        expected = np.where(new, first, np.append(first, end[:-1]))
        for at in np.flatnonzero((begin != expected) | (end <= begin)):
            raise ScheduleError(f"PE {pe[at]}: the log goes on at {begin[at]} ns, expected {expected[at]}")
        for at in np.flatnonzero(np.append(new[1:], True) & (end != last)):
            raise ScheduleError(f"PE {pe[at]}: the log ends at {end[at]} ns, expected {last}")
        if (first, last) == (0, self.rules.horizon):
            found = np.zeros((len(DOES), self.rules.pes), "int64")
            np.add.at(found, (rows[kernel.LOG_WHAT], pe), end - begin)
            spent = self.pe_rows[kernel.TIME_COMPUTING : kernel.TIME_IDLE + 1]
            for what, at in np.argwhere(found != spent):
                raise ScheduleError(
                    f"PE {at}: the log has {found[what, at]} ns of {DOES[what]}, expected {spent[what, at]}"
                )
        runs = task >= 0
        placed = self.job_rows[kernel.PLACED, self.task_rows[kernel.JOB, task]]
        wrong = (self.task_rows[kernel.PE, task] != pe) | (begin < placed) | (end > self.task_rows[kernel.DONE, task])
        for at in np.flatnonzero(runs & wrong):
            raise ScheduleError(f"{self._name(task[at])} runs on PE {pe[at]} at {begin[at]} ns, where it is not")
        if not self.rules.priority:
            for at in np.flatnonzero(runs & (rows[kernel.LOG_TURN] == 0)):
                raise ScheduleError(f"{self._name(task[at])} runs at {begin[at]} ns, which is not its row's turn")

    def _check_places(self):
        rows, placed = self.job_rows, self._placed
        when = rows[kernel.PLACED, placed]
        numbers = self.table.index.to_numpy()
        if not placed[: placed.sum()].all() or (np.diff(when) < 0).any():
            raise ScheduleError("jobs are not placed in the order of their arrivals")
        for at in np.flatnonzero((when % self.rules.slice != 0) | (when < rows[kernel.ARRIVAL, placed])):
            raise ScheduleError(
                f"job {numbers[at]} is placed at {when[at]} ns, expected a multiple of {self.rules.slice} ns, "
                f"not before its arrival at {rows[kernel.ARRIVAL, at]} ns"
            )
        left = np.where(self._completed, rows[kernel.FINISH], self.rules.horizon)[self.task_rows[kernel.JOB]]
        there = self.task_rows[kernel.PE] >= 0
        came = rows[kernel.PLACED][self.task_rows[kernel.JOB]]
        for pe in range(self.rules.pes):
            mine = there & (self.task_rows[kernel.PE] == pe)
            jobs = self.task_rows[kernel.JOB, mine]
            if np.unique(jobs).size != jobs.size:
                raise ScheduleError(f"PE {pe} has two tasks of one job")
            held = [int(((came[mine] <= time) & (left[mine] > time)).sum()) for time in came[mine]]
            if held and max(held) > self.rules.max_tasks:
                raise ScheduleError(f"PE {pe} holds {max(held)} tasks, expected at most {self.rules.max_tasks}")


_MEMBERS = {"f_io": kernel.F_IO, "f_comm": kernel.F_COMM, "f_comp": kernel.F_COMP, "priority": kernel.PRIORITY}


# --- Checks -------------------------------------------------------------------------------------------------


def _mean(values):
    return values.mean() if values.size else np.nan


def _nanoseconds(seconds):
    """Round seconds to whole nanoseconds; int, or int64 of an array."""
    rounded = np.rint(np.asarray(seconds, "float64") * NANO).astype("int64")
    return rounded if rounded.ndim else int(rounded)


def _check_seconds(name, value):
    if not (isinstance(value, Real) and 1 / NANO <= value < LONGEST):
        raise ValueError(f"{name} is {value!r}, expected seconds, from 1e-9 to below {LONGEST:g}")


def _check_times(given, *names):
    for name in names:
        _check_seconds(name, getattr(given, name))


def _check_whole(given, *names):
    for name in names:
        draws.at_least_one(name, getattr(given, name))


def _check_known(given, name, known):
    if getattr(given, name) not in tuple(known):
        raise ValueError(f"unknown {name} {getattr(given, name)!r}; known: {', '.join(known)}")
