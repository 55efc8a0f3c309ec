"""Schemes for rigid jobs: FCFS and EASY backfilling, on processors without a topology and on the nodes of a tree."""

from collections.abc import Callable
from dataclasses import dataclass

from schedlab.kernels.easy import easy
from schedlab.kernels.fcfs import fcfs
from schedlab.kernels.placement import NO_RESERVATION
from schedlab.machine import Flat, KaryTree
from schedlab.text import check_known
from schedlab.threads import interruptible
from schedlab.workload.trace import KILL_BACKFILLED, OVERRUN

from . import placement
from .base import Case, Outcome, Scheme
from .orders import Order, check_order, explained, order_name, prepare


@dataclass(frozen=True)
class Queued(Scheme):
    """What the schemes that serve a queue in some order have in common.

    Parameters
    ----------
    order : str or function
        Order of the queue, smallest value first, ties first come first served: a name
        (``schedlab.schemes.orders.NAMES``) or a function of any of ``now, submit, estimate, procs``, by name and in any
        order: int64 seconds since the first submission and processors, a number back. With `now` the order moves with
        time. Other parameters need a default or a value by `functools.partial`.
    """

    order: str | Callable = "fcfs"

    events = ("batched", "each")

    def __post_init__(self):
        check_order(self.order)

    def __str__(self) -> str:
        return self.label if self.order == "fcfs" else f"{self.label}-{order_name(self.order).upper()}"

    def queue(self, case: Case) -> Order:
        """Give the order of the queue as the kernels take it.

        Parameters
        ----------
        case : Case
            The jobs to order.

        Returns
        -------
        Order
            See `schedlab.kernels.priority`.
        """
        return prepare(self.order, case.jobs)


@dataclass(frozen=True)
class FCFS(Queued):
    """First come, first served; the first job that does not fit blocks all behind it.

    Parameters
    ----------
    order : str or function
        See `Queued`. Another order makes this list scheduling by that priority.
    """

    label = "FCFS"
    names = {"fcfs": {}}
    colours = {"FCFS": "#999999", "FCFS-SJF": "#CC79A7"}
    machines = (Flat, KaryTree)
    overruns = (*OVERRUN, KILL_BACKFILLED)
    backfills = False

    @property
    def in_order(self) -> bool:
        """Only with the order "fcfs" do jobs start in the order of arrival."""
        return self.order == "fcfs"

    @explained
    def simulate(self, case: Case) -> Outcome:
        """As of `Scheme`; see `schedlab.kernels.fcfs` and `schedlab.kernels.placement`."""
        if isinstance(case.machine, KaryTree):
            return placement.place(case, self.queue(case), NO_RESERVATION)
        return case.outcome(*interruptible(fcfs, case.jobs, case.machine.procs, self.queue(case), case.per_event))


@dataclass(frozen=True)
class EASY(Queued):
    """EASY (aggressive) backfilling: the job at the head of the queue holds the one reservation.

    Parameters
    ----------
    order : str or function
        See `Queued`.
    backfill : str or function, optional
        Order in which candidates for backfilling are tried, if not that of the queue; "sjf" makes EASY-SJBF.
    reservation : {"count", "block"}
        The promise to the head of the queue on a tree. "count": a time, at which enough nodes are free by the
        estimates; only jobs that end by then may start ahead of the head. "block": that time and a block of nodes; jobs
        that leave those nodes free may start, too. If nodes need not be contiguous, "block" is EASY's usual rule, with
        extra processors. On a flat machine both are the usual rule.

    References
    ----------
    Lifka 1995; Skovira et al. 1996; Mu'alem and Feitelson, IEEE TPDS 12(6), 2001. On a tree: Pascual and
    Miguel-Alonso, Technical Report EHU-KAT-IK-09-08, University of the Basque Country, 2008.
    """

    backfill: str | Callable | None = None
    reservation: str = "count"

    label = "EASY"
    names = {"easy": {}, "easy-sjbf": {"backfill": "sjf"}}
    colours = {
        "EASY": "#0072B2",
        "EASY (count)": "#004C8C",
        "EASY (block)": "#74C3F0",
        "EASY-SJF": "#E69F00",
        "EASY-SJBF": "#56B4E9",
    }
    machines = (Flat, KaryTree)
    overruns = (*OVERRUN, KILL_BACKFILLED)

    def __post_init__(self):
        super().__post_init__()
        if self.backfill is not None:
            check_order(self.backfill)
        check_known("reservation", self.reservation, placement.RULES)

    def __str__(self) -> str:
        name = super().__str__()
        if self.backfill is not None:
            name += "-SJBF" if self.backfill == "sjf" else f"-BACKFILL-{order_name(self.backfill).upper()}"
        return name if self.reservation == "count" else f"{name} ({self.reservation})"

    def promises(self, machine: Flat | KaryTree) -> bool:
        """Tell whether promises are kept: only with the order "fcfs", and not by counts where blocks are needed."""
        if self.order != "fcfs":
            return False  # a head may lose its place before it starts
        return isinstance(machine, Flat) or machine.policy.whole or self._rule(machine) == "block"

    def _rule(self, tree):
        return tree.reservation or self.reservation

    def check(self, case: Case) -> None:
        """As of `Scheme`."""
        super().check(case)
        tree = case.machine
        if isinstance(tree, Flat):
            return
        if self.backfill is not None:
            raise ValueError(f"{self} cannot run on {tree}: on nodes, candidates are tried in the order of the queue")
        if tree.reservation is not None and self.reservation not in ("count", tree.reservation):
            both = f"{self.reservation!r} of the scheme and {tree.reservation!r} of the tree"
            raise ValueError(f"two reservations, {both}: leave out that of the tree")

    @explained
    def simulate(self, case: Case) -> Outcome:
        """As of `Scheme`; see `schedlab.kernels.easy` and `schedlab.kernels.placement`."""
        order = self.queue(case)
        if isinstance(case.machine, KaryTree):
            return placement.place(case, order, placement.RULES[self._rule(case.machine)])
        own = self.backfill is not None
        backfill = prepare(self.backfill, case.jobs) if own else order
        return case.outcome(*interruptible(easy, case.jobs, case.machine.procs, order, backfill, own, case.per_event))
