"""Conservative backfilling: every waiting job holds a reservation."""

from dataclasses import dataclass

from schedlab.kernels import conservative as kernel
from schedlab.machine import Flat, KaryTree
from schedlab.threads import interruptible

from .base import Case, Outcome
from .orders import explained
from .rigid import Queued

COMPRESSION = {
    "queue": kernel.QUEUE,
    "reservation": kernel.RESERVATION,
    "none": kernel.NONE,
    "rebuild": kernel.REBUILD,
}


@dataclass(frozen=True)
class Conservative(Queued):
    """Conservative backfilling: every waiting job holds a reservation.

    Parameters
    ----------
    order : str or function
        See `Queued`. It orders compression and rebuilding; a new job is always placed behind those that wait.
    compression : {"queue", "reservation", "none", "rebuild"}
        When a job ends early: visit the waiting jobs in the order of the queue or of their reservations and move
        each to its earliest time, or leave them; or place all of them anew at every pass, which keeps no promise.

    References
    ----------
    Mu'alem and Feitelson, IEEE TPDS 12(6), 2001.
    """

    compression: str = "queue"

    label = "Conservative"
    names = {"conservative": {}}
    colours = {"Conservative": "#D55E00", "Conservative-SJF": "#009E73"}

    def __post_init__(self):
        super().__post_init__()
        if self.compression not in COMPRESSION:
            raise ValueError(f"unknown compression {self.compression!r}; known: {', '.join(COMPRESSION)}")

    def __str__(self) -> str:
        name = super().__str__()
        return name if self.compression == "queue" else f"{name} ({self.compression})"

    def promises(self, machine: Flat | KaryTree) -> bool:
        """Tell whether promises are kept: a reservation only moves to an earlier time, unless all are made anew."""
        return self.compression != "rebuild"

    @explained
    def simulate(self, case: Case) -> Outcome:
        """As of `Scheme`; see `schedlab.kernels.conservative`."""
        compression, order = COMPRESSION[self.compression], self.queue(case)
        settings = (case.machine.procs, *order.parts, compression, case.per_event)
        return case.outcome(*interruptible(kernel.conservative, *case.jobs.arrays, *settings))
