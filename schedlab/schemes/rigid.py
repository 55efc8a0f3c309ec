"""Schemes for rigid jobs: FCFS, EASY and conservative backfilling."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from schedlab.kernels import conservative as conservative_kernel
from schedlab.kernels.easy import easy
from schedlab.kernels.fcfs import fcfs
from schedlab.machine import KaryTree
from schedlab.threads import interruptible

from . import placement
from .orders import check_order, order_name, prepare

COMPRESSION = {
    "queue": conservative_kernel.QUEUE,
    "reservation": conservative_kernel.RESERVATION,
    "none": conservative_kernel.NONE,
    "rebuild": conservative_kernel.REBUILD,
}


@dataclass(frozen=True)
class Arrivals:
    """The jobs of a trace as the kernels take them; each int64, shape (n_jobs,), in arrival order.

    Attributes
    ----------
    submit : seconds since the first submission
    run, estimate : seconds, ``run <= estimate`` but for a scheme that `keeps` jobs past their estimates
    procs : processors
    """

    submit: np.ndarray
    run: np.ndarray
    estimate: np.ndarray
    procs: np.ndarray

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The four, in the order in which every kernel takes them."""
        return self.submit, self.run, self.estimate, self.procs


@dataclass(frozen=True)
class Scheme:
    """What the schemes for rigid jobs have in common.

    Parameters
    ----------
    order : str or function
        Order of the queue, smallest value first, ties first come first served: a name
        (``schedlab.schemes.orders.NAMES``) or a function of any of ``now, submit, estimate, procs``, by name and in any
        order: int64 seconds since the first submission and processors, a number back. With `now` the order moves with
        time. Other parameters need a default or a value by `functools.partial`.
    """

    order: str | Callable = "fcfs"

    label = ""
    promises = False  # whether a promised start is kept, so that `validate` may insist on it
    simulated = True
    keeps = False  # whether jobs may run on past their estimates

    def __post_init__(self):
        check_order(self.order)

    def __str__(self) -> str:
        return self.label if self.order == "fcfs" else f"{self.label}-{order_name(self.order).upper()}"

    @property
    def origin(self) -> str:
        """Where the starts come from, in words for a file's header."""
        return f"simulated with {self}"

    def notes(self, schedule) -> tuple[str, ...]:
        """Say what a reader of a schedule must know."""
        return ()

    def place(self, jobs: Arrivals, tree: KaryTree, kills: bool = True) -> placement.Placed:
        """Simulate jobs on a tree, each on its own nodes; with `kills` backfilled jobs may end past their estimates."""
        raise ValueError(f"{self} cannot run on {tree}: FCFS and EASY place jobs on nodes")


@dataclass(frozen=True)
class FCFS(Scheme):
    """First come, first served; the first job that does not fit blocks all behind it.

    Parameters
    ----------
    order : str or function
        See `Scheme`. Another order makes this list scheduling by that priority.
    """

    label = "FCFS"
    keeps = True

    def run(self, jobs: Arrivals, procs: int, each: bool) -> tuple[np.ndarray, np.ndarray]:
        """Give the start and promised start of each job in seconds; see `schedlab.kernels.fcfs`."""
        order = prepare(self.order, jobs.submit, jobs.estimate, jobs.procs)
        return interruptible(fcfs, *jobs.arrays, procs, *order.parts, each)

    def place(self, jobs: Arrivals, tree: KaryTree, kills: bool = True) -> placement.Placed:
        """Simulate jobs on a tree, each on its own nodes; see `schedlab.kernels.placement`."""
        order = prepare(self.order, jobs.submit, jobs.estimate, jobs.procs)
        return placement.place(jobs, tree, order, placement.FCFS, kills)


@dataclass(frozen=True)
class EASY(Scheme):
    """EASY (aggressive) backfilling: the job at the head of the queue holds the one reservation.

    Parameters
    ----------
    order : str or function
        See `Scheme`.
    backfill : str or function, optional
        Order in which candidates for backfilling are tried, if not that of the queue; "sjf" makes EASY-SJBF.

    References
    ----------
    Lifka 1995; Skovira et al. 1996; Mu'alem and Feitelson, IEEE TPDS 12(6), 2001.
    """

    backfill: str | Callable | None = None

    label = "EASY"
    keeps = True

    def __post_init__(self):
        super().__post_init__()
        if self.backfill is not None:
            check_order(self.backfill)

    def __str__(self) -> str:
        if self.backfill is None:
            return super().__str__()
        name = "SJBF" if self.backfill == "sjf" else f"BACKFILL-{order_name(self.backfill).upper()}"
        return f"{super().__str__()}-{name}"

    @property
    def promises(self) -> bool:
        """Only under first come, first served does a head stay at the head until it starts."""
        return self.order == "fcfs"

    def run(self, jobs: Arrivals, procs: int, each: bool) -> tuple[np.ndarray, np.ndarray]:
        """Give the start and promised start of each job in seconds; see `schedlab.kernels.easy`."""
        order = prepare(self.order, jobs.submit, jobs.estimate, jobs.procs)
        own = order if self.backfill is None else prepare(self.backfill, jobs.submit, jobs.estimate, jobs.procs)
        return interruptible(easy, *jobs.arrays, procs, *order.parts, self.backfill is not None, *own.parts, each)

    def place(self, jobs: Arrivals, tree: KaryTree, kills: bool = True) -> placement.Placed:
        """Simulate jobs on a tree, each on its own nodes; see `schedlab.kernels.placement`."""
        if self.backfill is not None:
            raise ValueError(f"{self} cannot run on {tree}: on nodes, candidates are tried in the order of the queue")
        order = prepare(self.order, jobs.submit, jobs.estimate, jobs.procs)
        return placement.place(jobs, tree, order, placement.RULES[tree.reservation], kills)


@dataclass(frozen=True)
class Conservative(Scheme):
    """Conservative backfilling: every waiting job holds a reservation.

    Parameters
    ----------
    order : str or function
        See `Scheme`. It orders compression and rebuilding; a new job is always placed behind those that wait.
    compression : {"queue", "reservation", "none", "rebuild"}
        When a job ends early: visit the waiting jobs in the order of the queue or of their reservations and move
        each to its earliest time, or leave them; or place all of them anew at every pass, which keeps no promise.

    References
    ----------
    Mu'alem and Feitelson, IEEE TPDS 12(6), 2001.
    """

    compression: str = "queue"

    label = "Conservative"

    def __post_init__(self):
        super().__post_init__()
        if self.compression not in COMPRESSION:
            raise ValueError(f"unknown compression {self.compression!r}; known: {', '.join(COMPRESSION)}")

    def __str__(self) -> str:
        name = super().__str__()
        return name if self.compression == "queue" else f"{name} ({self.compression})"

    @property
    def promises(self) -> bool:
        """A reservation only ever moves to an earlier time, unless all are made anew."""
        return self.compression != "rebuild"

    def run(self, jobs: Arrivals, procs: int, each: bool) -> tuple[np.ndarray, np.ndarray]:
        """Give the start and promised start of each job in seconds; see `schedlab.kernels.conservative`."""
        order = prepare(self.order, jobs.submit, jobs.estimate, jobs.procs)
        compression = COMPRESSION[self.compression]
        kernel = conservative_kernel.conservative
        return interruptible(kernel, *jobs.arrays, procs, *order.parts, compression, each)
