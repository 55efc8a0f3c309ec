"""Conservative backfilling: every waiting job holds a reservation."""

from dataclasses import dataclass
from typing import Literal

from schedlab._runtime.text import check_known, spelt
from schedlab._runtime.threads import interruptible
from schedlab.kernels import conservative as kernel
from schedlab.kernels.conservative_tree import conservative_tree
from schedlab.kernels.pools_conservative import new_book, pools_conservative
from schedlab.machine import Flat, KaryTree, Pools

from . import placement, pooled
from .base import Case, Outcome, can_promise
from .orders import explained, prepare_veto
from .rigid import Queued

COMPRESSION = {
    "queue": kernel.BY_QUEUE,
    "reservation": kernel.BY_RESERVATION,
    "none": kernel.NO_COMPRESSION,
    "rebuild": kernel.REBUILD,
}


@dataclass(frozen=True)
class Conservative(Queued):
    """Conservative backfilling: every waiting job holds a reservation.

    Parameters
    ----------
    order : str or function
        See `schedlab.schemes.Queued`. It is that of compression and rebuilding. A new job is placed behind all others.
    compression : {"queue", "reservation", "none", "rebuild"}
        What happens to the waiting jobs when a job ends early.

        - "queue", "reservation": visit them in the order of the queue, or of their reservations, and move each to its
          earliest possible start.
        - "none": leave their reservations as they are.
        - "rebuild": place all of them anew at every pass. No promise is kept then.
    compress_on : {"early", "completion"}
        Make a compression pass when a job ends before its estimated end, or whenever a job ends, as pyss does.
    repeat : bool
        Repeat compression passes until no job moves.

    Notes
    -----
    A compression pass visits every waiting job. At a load above 1 the queue grows, and the time of a simulation grows
    with the square of the number of jobs or faster: with 500 jobs waiting, one job takes 2.5 us; with 17,000, 0.5 ms.
    With ``compression="none"`` it takes less than a microsecond.

    On the nodes of a tree each reservation is of nodes, not of a number of them. A simulation then takes several times
    as long where few jobs wait, and the time grows with the cube of the queue: a second or two for the CTC log at its
    own load, 11 s at a load of 0.9, half a minute for 2,000 jobs that all wait on 4,096 nodes.

    One pass can leave a machine idle while a job waits. In the example, job 1 ends at 3 s, 2 s early. The pass moves
    job 2 from 5 to 3 s. It finds nothing better than 7 s for job 3, which needs both processors, because job 4 still
    holds one of them from 5 to 7 s. Then it moves job 4 to 3 s, and job 3 is not visited again. So the machine is idle
    from 6 s, when job 2 ends, to 7 s. A second pass at 3 s (`repeat`) or one at 6 s (`compress_on`) starts job 3 then.

    Examples
    --------
    >>> import schedlab as sl
    >>> jobs = [(0, 3, 5, 2), (1, 3, 3, 1), (1, 2, 4, 2), (1, 2, 2, 1)]  # submission, run time, estimate, processors
    >>> trace = sl.testing.trace_of(jobs, machine=2)
    >>> [sl.simulate(trace, sl.Conservative(repeat=repeat)).start.tolist() for repeat in (False, True)]
    [[0, 3, 7, 3], [0, 3, 6, 3]]

    Under EASY, only job 2 holds a reservation, and job 4 delays job 3. Here job 3 holds one too:

    >>> jobs = [(0, 4, 4, 3), (1, 4, 4, 3), (1, 4, 4, 4), (2, 9, 9, 1)]
    >>> trace = sl.testing.trace_of(jobs, machine=4)
    >>> schedules = {"EASY": sl.simulate(trace, sl.EASY()), "Conservative": sl.simulate(trace, sl.Conservative())}
    >>> [schedule.jobs["wait_time"].tolist() for schedule in schedules.values()]
    [[0, 3, 10, 0], [0, 3, 7, 10]]
    >>> chart = sl.charts.gantts(schedules, color="job_number", label="job_number")

    References
    ----------
    Mu'alem and Feitelson, IEEE TPDS 12(6), 2001.
    """

    compression: Literal["queue", "reservation", "none", "rebuild"] = "queue"
    compress_on: Literal["early", "completion"] = "early"
    repeat: bool = False

    label = "Conservative"
    names = {"conservative": {}}
    colours = {"Conservative": "#D55E00", "Conservative-SJF": "#009E73"}
    machines = (Flat, KaryTree, Pools)

    def __post_init__(self):
        super().__post_init__()
        check_known("compression", self.compression, COMPRESSION)
        check_known("compress_on", self.compress_on, ("early", "completion"))
        if not isinstance(self.repeat, bool):
            raise ValueError(f"repeat must be True or False, got {spelt(self.repeat)}")
        if self.compression in ("none", "rebuild") and (self.compress_on != "early" or self.repeat):
            reason = "makes no compression passes; leave out compress_on and repeat"
            raise ValueError(f"compression={self.compression!r} {reason}")

    def __str__(self) -> str:
        settings = [] if self.compression == "queue" else [self.compression]
        settings += [] if self.compress_on == "early" else ["every completion"]
        settings += ["repeated"] if self.repeat else []
        return f"{super().__str__()} ({', '.join(settings)})" if settings else super().__str__()

    def promises(self, machine: Flat | KaryTree) -> bool:
        """Tell whether promises are kept: reservations only move earlier, except under "rebuild"."""
        return can_promise(machine) and self.compression != "rebuild"

    @explained
    def simulate(self, case: Case) -> Outcome:
        """As of `Scheme`; see `schedlab.kernels.conservative` and `schedlab.kernels.conservative_tree`."""
        passes = (COMPRESSION[self.compression], self.compress_on == "completion", self.repeat)
        order = self.queue(case)
        if isinstance(case.machine, KaryTree):
            return placement.simulate(conservative_tree, case, order, *passes)
        if isinstance(case.machine, Pools):
            veto = prepare_veto(None, case)
            return pooled.simulate(pools_conservative, new_book, case, order, order, False, veto, 0, *passes)
        rules = (order, *passes, case.per_event)
        return case.outcome(*interruptible(kernel.conservative, case.jobs, case.machine.procs, *rules))
