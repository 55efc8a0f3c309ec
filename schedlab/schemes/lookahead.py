"""DPSA: lookahead backfilling, in its three variants."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Literal

import numpy as np

from schedlab._runtime.text import check_known, spelt
from schedlab._runtime.threads import interruptible
from schedlab.kernels import lookahead as kernel
from schedlab.kernels.lookahead_tree import lookahead_tree
from schedlab.machine import Flat, KaryTree
from schedlab.workload.conventions import OVERRUN

from .._runtime.words import Shadow
from . import placement
from .base import Case, Outcome
from .orders import check_order, explained, no_question, order_name, prepare_worth
from .rigid import Queued

VARIANTS = {"p": kernel.PRIORITY, "n": kernel.NARROW, "w": kernel.WIDE}
SEARCHES = {"exact": kernel.EXACT, "depth-first": kernel.DEPTH_FIRST}
OBJECTIVES = {"list": None, "slowdown": kernel.expected_slowdown}
FACTS = ("decisions", "greedy", "longest", "table", "missed", "lost", "best")  # in the order of the kernel
UNBOUNDED = np.iinfo(np.int64).max
TICK = 0.001  # seconds
LONGEST = 1_000_000  # seconds; about 12 days


@dataclass(frozen=True)
class DPSA(Queued):
    """Lookahead backfilling: start the waiting jobs that together use most free processors without delaying the head.

    Parameters
    ----------
    variant : {"p", "n", "w"}
        Order of the list of candidates: by priority, narrow jobs first, or wide jobs first. If several sets use equally
        many processors, the first one that a depth-first search of this list would find is started.
    objective : {"list", "slowdown"} or function
        How to choose among sets that use equally many processors: by the order of the list; by the largest sum of
        expected slowdowns (Shmueli and Feitelson); or by the largest sum of a function of any of ``now, submit,
        estimate, procs``.
    depth : int, optional
        Consider at most this many waiting jobs behind the head. Default: no limit.
    search : {"exact", "depth-first"}
        How to find the set: by tables of totals, or by the paper's search, which without a bound may take forever.
    budget : int, optional
        Stop the search of a pass after this many jobs, and start the best set so far. Makes the search depth-first.
    seconds : float, optional
        Stop the search of a pass after this time. The schedule then depends on the speed of the machine and **is not
        deterministic**. Makes the search depth-first.
    shadow : {"count", "block"}
        What the head of the queue is promised on a tree, as in `EASY`.
    order : str or function
        Keyword only; see `Queued`.

    Notes
    -----
    On the nodes of a tree, a set must be placed together: the search places its jobs one by one, in the order of the
    list. No table can tell which sets fit, so the search is depth-first and needs a bound, such as ``budget=1000``.

    Examples
    --------
    From 1 s on, 4 of 8 processors are free. EASY starts job 3, the first that fits, and leaves one processor idle. DPSA
    starts jobs 4 and 5 together, which use all four:

    >>> import schedlab as sl
    >>> jobs = [(0, 6, 6, 4), (1, 4, 4, 8), (1, 5, 5, 3), (1, 5, 5, 2), (1, 5, 5, 2)]  # submit, run, estimate, procs
    >>> trace = sl.testing.trace_of(jobs, machine=8)
    >>> schedules = {"EASY": sl.simulate(trace, sl.EASY()), "DPSA": sl.simulate(trace, sl.DPSA())}
    >>> [float(schedule.metrics()["wait_time"]) for schedule in schedules.values()]
    [4.6, 2.8]
    >>> chart = sl.charts.gantts(schedules, color="job_number", label="job_number")

    References
    ----------
    Grudenić and Bogunović, on DPSA; Shmueli and Feitelson, "Backfilling with lookahead to optimize the packing of
    parallel jobs", JPDC 65(9), 2005.
    """

    order: str | Callable = field(default="fcfs", kw_only=True)
    variant: Literal["p", "n", "w"] = "n"
    objective: str | Callable = "list"
    depth: int | None = None
    search: Literal["exact", "depth-first"] = "exact"
    budget: int | None = None
    seconds: float | None = None
    shadow: Shadow = "count"

    names = {"dpsap": {"variant": "p"}, "dpsan": {"variant": "n"}, "dpsaw": {"variant": "w"}}
    colours = {"DPSAp": "#1E97D3", "DPSAn": "#138A3B", "DPSAw": "#CF3F87"}
    machines = (Flat, KaryTree)
    overruns = OVERRUN
    one_reservation = True

    def __post_init__(self):
        super().__post_init__()
        check_known("variant", self.variant, VARIANTS)
        check_known("search", self.search, SEARCHES)
        check_known("shadow", self.shadow, placement.RULES)
        check_order(self.objective, "objective", OBJECTIVES)
        for name, least in (("depth", 1), ("budget", 0)):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value < least):
                raise ValueError(f"{name} must be a whole number of at least {least}, got {spelt(value)}")
        if self.seconds is not None and not (isinstance(self.seconds, Real) and 0 < self.seconds <= LONGEST):
            raise ValueError(f"seconds must be greater than 0 and at most {LONGEST:,}, got {spelt(self.seconds)}")
        if self.budget is not None or self.seconds is not None:
            object.__setattr__(self, "search", "depth-first")
        if self.search == "depth-first" and self.objective != "list":
            raise ValueError("an objective needs the exact search; leave out search, budget and seconds")

    @property
    def policies(self) -> tuple:
        return (self.order, self.objective)

    @property
    def label(self) -> str:
        """The paper's names: DPSAp, DPSAn, DPSAw."""
        return f"DPSA{self.variant}"

    def promises(self, machine: Flat | KaryTree) -> bool:
        """Tell whether promises are kept: as with EASY, only with the order "fcfs", and no counts for blocks."""
        placed = isinstance(machine, Flat) or machine.policy.whole or self.shadow == "block"
        return self.order == "fcfs" and placed

    def __str__(self) -> str:
        options = {
            "objective": None if self.objective == "list" else order_name(self.objective, OBJECTIVES),
            "depth": self.depth,
            "search": None if self.search == "exact" else self.search,
            "budget": self.budget,
            "seconds": self.seconds,
            "shadow": None if self.shadow == "count" else self.shadow,
        }
        if self.budget is not None or self.seconds is not None:
            del options["search"]  # a bound makes the search depth-first
        settings = ", ".join(f"{name} {value}" for name, value in options.items() if value is not None)
        return f"{super().__str__()} ({settings})" if settings else super().__str__()

    def check(self, case: Case) -> None:
        super().check(case)
        if isinstance(case.machine, KaryTree) and self.budget is None and self.seconds is None:
            instead = "the search is depth-first and needs a bound, such as DPSA(budget=1000)"
            raise ValueError(f"{self} cannot run on {case.machine}: on nodes {instead}")

    @explained
    def simulate(self, case: Case) -> Outcome:
        """As of `Scheme`; see `schedlab.kernels.lookahead` and `schedlab.kernels.lookahead_tree`."""
        if isinstance(case.machine, KaryTree):
            with _clock(self.seconds is not None) as ticks:
                rules = (placement.RULES[self.shadow], VARIANTS[self.variant], *self._bounds(case, ticks))
                return placement.simulate(lookahead_tree, case, self.queue(case), *rules)
        start, promise, _ = self._lookahead(case, audit=False)
        return case.outcome(start, promise)

    def audit(self, case: Case) -> dict[str, int]:
        """Report the cost of the search, and how far the sets of a bounded search are from the best ones.

        It counts, over the simulation: passes with something to choose from (decisions), how many of them took whatever
        fits (greedy), jobs in the longest list (longest), bytes of the largest tables (table), decisions whose set used
        fewer processors than the best one (missed), by how many in all (lost), and the processors in the best sets
        (best).

        Parameters
        ----------
        case : Case
            The jobs, the machine and the conventions.
        """
        return self.audited(case)[1]

    def audited(self, case: Case) -> tuple[Outcome, dict[str, int]]:
        """Return the results of `simulate` and `audit` from a single run.

        Parameters
        ----------
        case : Case
            As in `audit`.
        """
        start, promise, facts = self._lookahead(case, audit=True)
        return case.outcome(start, promise), dict(zip(FACTS, facts.tolist(), strict=True))

    def _lookahead(self, case, audit):
        ranked, worth = self.objective != "list", self.objective
        if isinstance(worth, str):
            worth = OBJECTIVES[worth]
        with _clock(self.seconds is not None) as ticks:
            depth, *bounds = self._bounds(case, ticks)
            question = prepare_worth(worth, case) if ranked else no_question()
            rules = (VARIANTS[self.variant], depth, ranked, question, SEARCHES[self.search])
            settings = kernel.Settings(*rules, *bounds, audit)
            arguments = (case.jobs, case.machine.procs, self.queue(case), settings, case.per_event)
            return interruptible(kernel.lookahead, *arguments)

    def _bounds(self, case, ticks):
        """Return depth, budget, the clock and the time limit."""
        return (
            len(case) if self.depth is None else min(self.depth, len(case)),
            UNBOUNDED if self.budget is None else min(self.budget, UNBOUNDED),
            ticks,
            UNBOUNDED if self.seconds is None else round(self.seconds / TICK),
        )


@contextmanager
def _clock(runs: bool) -> Iterator[np.ndarray]:
    """Return a counter of ticks. If the clock runs, a thread advances it: compiled code cannot read the time."""
    ticks = np.zeros(1, np.int64)
    stopped = []  # no `threading.Event`: an exception that a signal raises within it can leave its lock held

    def tick():
        begin = time.perf_counter()
        while not stopped:
            time.sleep(TICK)
            ticks[0] = (time.perf_counter() - begin) / TICK

    thread = threading.Thread(target=tick, daemon=True)
    if runs:
        thread.start()
    try:
        yield ticks
    finally:
        stopped.append(True)
        if runs:
            thread.join()
