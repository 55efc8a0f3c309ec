"""`Config`: the machine, the scheduler and the behaviour of jobs."""

from dataclasses import dataclass
from numbers import Real

import numpy as np

from schedlab.kernels import variates
from schedlab.kernels.gang import state
from schedlab.text import check_known
from schedlab.workload.models.common import at_least_one

from .times import LONGEST, check_seconds, nanoseconds

SCHEDULERS = ("gang", "priority", "spin-block")
PACKINGS = {"first-fit": state.FIRST_FIT, "best-fit": state.BEST_FIT, "buddy": state.BUDDY}
BURSTS = {"exponential": variates.EXPONENTIAL, "constant": variates.CONSTANT, "uniform": variates.UNIFORM}
DOES = ("computing", "communicating", "spinning", "switching", "idle")  # what PEs do
EQUAL = 1e-9  # priorities that differ by no more are equal: rounding must not decide whether one is beta
KNOWN = {"scheduler": SCHEDULERS, "packing": PACKINGS, "bursts": BURSTS}
TIMES = ("slice", "switch", "latency", "overhead", "compute", "disk", "gap", "superstep", "react", "think")
FLAGS = ("both", "unify", "alternate", "reclaim")


@dataclass(frozen=True)
class Config:
    """The machine, the scheduler and the behaviour of jobs.

    Parameters
    ----------
    scheduler : {"gang", "priority", "spin-block"}
        What a PE does where its row has no task for it or the task is blocked.

        - ``"gang"``, the reference: it idles.
        - ``"priority"``: it runs another of its tasks, chosen by priority from what was measured.
        - ``"spin-block"``: as ``"priority"``; besides, a task that has spun for the `GangSchedule.baseline` makes room
          for one that does I/O.
    reclaim : bool
        The task of the row takes its PE back as soon as its I/O is done. Otherwise the task that was chosen by priority
        keeps the PE until it blocks or ends, or until the next global switch. It makes no difference under ``"gang"``
        and cannot be combined with ``"spin-block"``.
    slice, switch : float, seconds
        Time between global switches; time that a context switch takes.
    latency, overhead : float, seconds
        Time that a message is on its way; time that sending takes, and receiving.
    delta : float, seconds, optional
        A spinning task makes room only if more than this is left of the slice. Default: four switches.
    alpha, beta : float
        The priority of a task is the larger of alpha times its membership in I/O and of its membership in computing. A
        task with less than beta runs in its own row only.
    max_tasks : int
        Most tasks on one PE.
    statements : int
        How many communication statements (sending, receiving, a barrier) in a slice make a task one that communicates.
        A statement counts where the task reaches it. It counts again where the task gets its PE, or keeps it at a
        global switch, within the statement; so a task that spins all through a slice has one.
    floor : float
        Least membership, so that none vanishes; from 0 to below 1/3.
    both : bool
        Whether a task that communicates and does I/O in one slice is measured as doing both, or only as communicating.
    packing : {"first-fit", "best-fit", "buddy"}
        Row of the matrix for a job: the first with enough free columns; the one with the fewest of these; the first
        with an aligned block of a power of two that is free.
    unify : bool
        When jobs have ended, merge rows that have no column in common.
    alternate : bool
        Jobs of other rows run, too, where all their columns are free in the current row.
    bursts : {"exponential", "constant", "uniform"}
        The law of all bursts below. Uniform bursts lie between 0 and twice the mean.
    compute, disk : float, seconds
        Mean bursts of computing and of disk service of an I/O job.
    gap, superstep : float, seconds
        Mean computing between two messages, and between two barriers.
    react, think : float, seconds
        Mean bursts of computing and of thinking of an interactive job.
    imbalance : float
        The largest difference between tasks of a job, as a fraction of a superstep, from 0 to below 1.

    Raises
    ------
    ValueError
        For a setting out of its range; the message names it, its value and the range.

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
        for name, known in KNOWN.items():
            check_known(name, getattr(self, name), known)
        for name in TIMES:
            check_seconds(name, getattr(self, name))
        if self.delta is not None and not (isinstance(self.delta, Real) and 0 <= self.delta < LONGEST):
            raise ValueError(f"delta is {self.delta!r}, expected seconds, from 0 to below {LONGEST:g}")
        if not (isinstance(self.alpha, Real) and 1 <= self.alpha < np.inf):
            raise ValueError(
                f"alpha is {self.alpha!r}, expected at least 1, the highest priority of a task that computes"
            )
        if not (isinstance(self.beta, Real) and 0 <= self.beta <= self.alpha):
            raise ValueError(f"beta is {self.beta!r}, expected 0 to alpha, which is {self.alpha!r}")
        for name in ("max_tasks", "statements"):
            at_least_one(name, getattr(self, name))
        if not (isinstance(self.floor, Real) and 0 <= self.floor < 1 / 3):
            raise ValueError(f"floor is {self.floor!r}, expected from 0 to below 1/3")
        if not (isinstance(self.imbalance, Real) and 0 <= self.imbalance < 1):
            raise ValueError(f"imbalance is {self.imbalance!r}, expected from 0 to below 1")
        for name in FLAGS:
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ValueError(f"{name} is {getattr(self, name)!r}, expected True or False")
        if self.reclaim and self.scheduler == "spin-block":
            raise ValueError("reclaim cannot be combined with spin-block; use the scheduler gang or priority")

    def __str__(self) -> str:
        return self.scheduler

    def rules(self, pes: int, horizon: float, jobs: int) -> state.Rules:
        """Give the settings as the kernel takes them.

        Parameters
        ----------
        pes : int
            Processing elements of the machine.
        horizon : float, seconds
            When the simulation ends.
        jobs : int
            How many jobs the workload has. Limits are cut to what matters to so many, so that they fit into an int64.

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
            imbalance=float(self.imbalance),
            both=bool(self.both),
            unify=bool(self.unify),
            alternate=bool(self.alternate),
            priority=self.scheduler != "gang",
            spin_block=self.scheduler == "spin-block",
            reclaim=self.scheduler == "priority" and bool(self.reclaim),
            packing=PACKINGS[self.packing],
            law=BURSTS[self.bursts],
        )
