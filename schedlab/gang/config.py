"""`Config`: the machine, the scheduler and the behaviour of jobs."""

from dataclasses import dataclass
from numbers import Real

import numpy as np

from schedlab._runtime.text import check_known, spelt
from schedlab.kernels import variates
from schedlab.kernels.gang import state
from schedlab.workload.models.common import at_least_one

from .times import LONGEST, check_seconds, nanoseconds

SCHEDULERS = ("gang", "round-robin", "priority", "spin-block")
PACKINGS = {"first-fit": state.FIRST_FIT, "best-fit": state.BEST_FIT, "buddy": state.BUDDY}
BURSTS = {"exponential": variates.EXPONENTIAL, "constant": variates.CONSTANT, "uniform": variates.UNIFORM}
DOES = ("computing", "communicating", "spinning", "switching", "idle")  # what PEs do
EQUAL = 1e-9  # priorities this close count as equal: rounding must not decide whether a priority reaches beta
KNOWN = {"scheduler": SCHEDULERS, "packing": PACKINGS, "bursts": BURSTS}
TIMES = ("slice", "switch", "latency", "overhead", "compute", "disk", "gap", "superstep", "react", "think")
FLAGS = ("both", "unify", "alternate", "reclaim")


@dataclass(frozen=True)
class Config:
    """The machine, the scheduler and the behaviour of jobs.

    Parameters
    ----------
    scheduler : {"gang", "round-robin", "priority", "spin-block"}
        What a PE does when its row has no task for it, or when that task is blocked.

        - ``"gang"``, the reference: the PE idles.
        - ``"round-robin"``: the PE runs another of its tasks. All its ready tasks take turns, whatever they do.
        - ``"priority"``: the PE runs another of its tasks, chosen by a priority that is measured at run time.
        - ``"spin-block"``: as ``"priority"``; in addition, a task that has spun for the `GangSchedule.baseline` makes
          room for a task that does I/O.
    reclaim : bool
        Whether the task of the row takes its PE back as soon as its I/O is done. Otherwise the task that the PE chose
        keeps it until it blocks or ends, or until the next global switch. `reclaim` has no effect under ``"gang"``
        and cannot be combined with ``"spin-block"``.
    slice, switch : float, seconds
        Time between global switches; duration of a context switch.
    latency, overhead : float, seconds
        Transit time of a message; time to send a message, which is also the time to receive one.
    delta : float, seconds, optional
        A spinning task makes room only if more than this is left of the slice (default: four switches).
    alpha, beta : float
        The priority of a task is the larger of two values: alpha times its I/O membership, and its computing
        membership. A task with a priority below beta runs in its own row only, except under ``"round-robin"``.
    max_tasks : int
        Maximum number of tasks on one PE.
    statements : int
        A task counts as communicating if it executes at least this many communication statements (send, receive,
        barrier) in a slice. A statement counts when the task reaches it. It counts again when the task, still within
        the statement, gets its PE or keeps it at a global switch; a task that spins through a whole slice therefore has
        one.
    floor : float
        Lower bound on each membership, so that none vanishes; from 0 to below 1/3.
    window : int, optional
        Memberships follow the average over this many of a task's last slices, fewer at first (a moving average). Only
        slices in which the task had its PE count. Default: exponential smoothing, in which each slice counts twice as
        much as the one before.
    both : bool
        Whether a task that both communicates and does I/O in one slice is measured as doing both, or only as
        communicating.
    packing : {"first-fit", "best-fit", "buddy"}
        How a row of the matrix is chosen for a job.

        - ``"first-fit"``: the first row with enough free columns.
        - ``"best-fit"``: of the rows with enough free columns, the one with the fewest free columns.
        - ``"buddy"``: the first row with a free aligned block whose size is a power of two.
    unify : bool
        Whether rows that have no column in common are merged after jobs have ended.
    alternate : bool
        Whether a job of another row also runs when all its columns are free in the current row.
    bursts : {"exponential", "constant", "uniform"}
        Distribution of all bursts below. Uniform bursts lie between 0 and twice the mean.
    compute, disk : float, seconds
        Mean computing burst and mean disk burst of an I/O job.
    gap, superstep : float, seconds
        Mean computing time between two messages; mean computing time between two barriers.
    react, think : float, seconds
        Mean computing burst and mean think time of an interactive job.
    imbalance : float
        How far a task's superstep may deviate from its nominal length, as a fraction of it, from 0 to below 1.

    Raises
    ------
    ValueError
        If a setting is out of range; the message names the setting, its value and the range.

    Notes
    -----
    The paper leaves six points open. They are read as follows:

    1. A communication statement counts again in each slice in which its task, still within it, gets or keeps its PE.
    2. Among tasks of equal priority, and under round robin among all ready tasks, the next one in job order after the
       PE's last choice takes its turn.
    3. A context switch that is cut short by the global switch has unloaded nothing: the previously loaded task
       continues at no cost.
    4. Such a switch is completed if the global switch chooses the same task. It is lost if another task is chosen, or
       if the PE then idles.
    5. A spin due to be checked exactly when the slice ends continues: nothing is left of the slice, so not more than
       delta is left.
    6. No decision is made at the horizon, even if it is a multiple of the slice.

    Other readings change utilization by at most half a point in the paper's runs, except for IO/Msg under spin control:
    two independent simulators gave 85.3 % and 83.0 %.

    Examples
    --------
    Three jobs share 4 PEs. Under the reference, a PE idles while its task does I/O. If it runs another task meanwhile,
    chosen by priority, all jobs end sooner:

    >>> import schedlab as sl
    >>> jobs = [(0, 4, "io", 5), (0, 2, "emb", 5), (0, 4, "msg", 5)]  # submission, tasks, kind, duration
    >>> workload = sl.gang.Workload(pes=4, horizon=30, jobs=jobs, seed=1)
    >>> configs = [sl.gang.Config("gang", slice=0.1), sl.gang.Config("priority", slice=0.1)]
    >>> gang, local = (sl.gang.simulate(workload, config, log=(1, 1.8)) for config in configs)
    >>> bool((local.jobs["end_time"] < gang.jobs["end_time"]).all())
    True
    >>> chart = sl.charts.slices(gang, color="what")
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
    window: int | None = None

    def __post_init__(self):
        for name, known in KNOWN.items():
            check_known(name, getattr(self, name), known)
        for name in TIMES:
            check_seconds(name, getattr(self, name))
        if self.delta is not None and not (isinstance(self.delta, Real) and 0 <= self.delta < LONGEST):
            raise ValueError(f"delta is {spelt(self.delta)}, expected seconds, from 0 to below {LONGEST:g}")
        if not (isinstance(self.alpha, Real) and 1 <= self.alpha < np.inf):
            raise ValueError(
                f"alpha is {spelt(self.alpha)}, expected at least 1, the highest priority of a task that computes"
            )
        if not (isinstance(self.beta, Real) and 0 <= self.beta <= self.alpha):
            raise ValueError(f"beta is {spelt(self.beta)}, expected 0 to alpha, which is {spelt(self.alpha)}")
        for name in ("max_tasks", "statements"):
            at_least_one(name, getattr(self, name))
        if self.window is not None:
            at_least_one("window", self.window)
        if not (isinstance(self.floor, Real) and 0 <= self.floor < 1 / 3):
            raise ValueError(f"floor is {spelt(self.floor)}, expected from 0 to below 1/3")
        if not (isinstance(self.imbalance, Real) and 0 <= self.imbalance < 1):
            raise ValueError(f"imbalance is {spelt(self.imbalance)}, expected from 0 to below 1")
        for name in FLAGS:
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ValueError(f"{name} is {spelt(getattr(self, name))}, expected True or False")
        if self.reclaim and self.scheduler == "spin-block":
            raise ValueError("reclaim cannot be combined with spin-block; use another scheduler")

    def __str__(self) -> str:
        return self.scheduler

    def rules(self, pes: int, horizon: float, jobs: int) -> state.Rules:
        """Return the settings in the form that the kernel takes.

        Parameters
        ----------
        pes : int
            Processing elements of the machine.
        horizon : float, seconds
            When the simulation ends.
        jobs : int
            Number of jobs in the workload. Limits are capped at the largest value that matters for this many jobs, so
            that they fit into an int64.

        Returns
        -------
        schedlab.kernels.gang.state.Rules
            Times in nanoseconds.
        """
        times = {name: nanoseconds(getattr(self, name)) for name in TIMES}
        return state.Rules(
            pes=pes,
            horizon=nanoseconds(horizon),
            **times,
            delta=4 * times["switch"] if self.delta is None else nanoseconds(self.delta),
            max_tasks=int(min(self.max_tasks, max(jobs, 1))),
            statements=int(min(self.statements, state.NEVER)),
            alpha=float(self.alpha),
            beta=float(self.beta) - EQUAL,
            floor=float(self.floor),
            window=int(min(self.window or 0, -(-nanoseconds(horizon) // times["slice"]))),
            imbalance=float(self.imbalance),
            both=bool(self.both),
            unify=bool(self.unify),
            alternate=bool(self.alternate),
            priority=self.scheduler != "gang",
            round_robin=self.scheduler == "round-robin",
            spin_block=self.scheduler == "spin-block",
            reclaim=self.scheduler != "gang" and bool(self.reclaim),
            packing=PACKINGS[self.packing],
            law=BURSTS[self.bursts],
        )
