"""Schemes for moldable jobs, whose processors the scheduler chooses: fair share, greedy and iterative."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from schedlab.kernels import moldable as kernel
from schedlab.kernels.iterative import iterative
from schedlab.kernels.speedup import durations
from schedlab.kernels.swf_text import EXACT
from schedlab.text import check_known
from schedlab.threads import interruptible

from .base import Case, Outcome, Scheme


class Moldable(Scheme, ABC):
    """What the schemes for moldable jobs have in common; `Trace.with_speedup` says how jobs speed up."""

    needs = "speedup"

    def check(self, case: Case) -> None:
        """As of `Scheme`."""
        super().check(case)
        jobs = case.jobs
        if (nothing := jobs.run < 1).any():
            job = f"job {case.number(np.argmax(nothing))} of {case.name}"
            raise ValueError(f"{job} takes no time, under {self} it must; the load filter drops such")
        longest = (jobs.estimate * case.laws.speedup(jobs.procs)).sum()  # one after the other, each on one processor
        if jobs.submit[-1] + longest >= EXACT:
            seconds = f"{jobs.submit[-1] + longest:.4g} s"
            raise ValueError(f"the jobs of {case.name} on one processor each take {seconds}, expected less than 2**53")

    def simulate(self, case: Case) -> Outcome:
        """As of `Scheme`."""
        start, procs = self.choose(case)
        jobs = case.jobs
        run, estimate = (durations(seconds, jobs.procs, procs, case.laws) for seconds in (jobs.run, jobs.estimate))
        return case.outcome(start, run=run, procs=procs, estimate=estimate)

    @abstractmethod
    def choose(self, case: Case) -> tuple[np.ndarray, np.ndarray]:
        """Choose the start and the processors of each job.

        Parameters
        ----------
        case : Case
            The jobs, the machine and the conventions.

        Returns
        -------
        start : int64, shape (n_jobs,), seconds
            Since the begin of the case.
        procs : int64, shape (n_jobs,)
        """


@dataclass(frozen=True)
class FairShareMoldable(Moldable):
    """Let each job choose, up to its share of the machine, on how many processors it is done first.

    Jobs choose in the order of the queue, anew at every scheduling point until they start; the first that has to wait
    holds a reservation.

    Parameters
    ----------
    weight : {"sqrt", "proportional"}
        Shares go by the square root of a job's work, or by the work.
    overbooking : number
        By what the shares are multiplied, above 0; the paper's ObF.
    efficiency : number
        Processors are moved from jobs that they help little to jobs that they help more, but no job's share changes by
        more than this part of it, from 0 to 1; the paper's EF.
    canmove : {"role", "literal"}
        At the end of that band a job may not go on, or, as the paper prints it, may not go back either.
    work : {"sequential", "area"}
        A job's work as estimated: on one processor, or on those that it asks for.
    mix : {"all", "queued"}
        Whether running jobs have a share too.
    backfill : {"any", "start-now"}
        Jobs behind the reservation may wait for more processors, or else start on those with which they are done first
        of all who are free now.

    References
    ----------
    Sabin, Lang and Sadayappan, "Moldable parallel job scheduling using job efficiency: an iterative approach", JSSPP
    2006. Shares by work: Srinivasan et al., HiPC 2002; by its square root: the same, Cluster 2003.
    """

    weight: str = "sqrt"
    overbooking: float = 1
    efficiency: float = 0
    canmove: str = "role"
    work: str = "sequential"
    mix: str = "all"
    backfill: str = "any"

    label = "Fair share"
    names = {"fairshare": {}}
    colours = {  # of one overbooking one hue, darker with the efficiency
        "Fair share (ObF 1, EF 0)": "#9ECAE1",
        "Fair share (ObF 1, EF 0.5)": "#4292C6",
        "Fair share (ObF 1, EF 1)": "#08519C",
        "Fair share (ObF 4, EF 0)": "#FDAE6B",
        "Fair share (ObF 4, EF 0.5)": "#F16913",
        "Fair share (ObF 4, EF 1)": "#A63603",
    }

    def __post_init__(self):
        for name, known in (
            ("weight", ("sqrt", "proportional")),
            ("canmove", ("role", "literal")),
            ("work", ("sequential", "area")),
            ("mix", ("all", "queued")),
            ("backfill", ("any", "start-now")),
        ):
            check_known(name, getattr(self, name), known)
        if not (_is_number(self.overbooking) and 0 < self.overbooking < np.inf):
            raise ValueError(f"overbooking must be a number above 0, got {self.overbooking!r}")
        if not (_is_number(self.efficiency) and 0 <= self.efficiency <= 1):
            raise ValueError(f"efficiency must be a number from 0 to 1, got {self.efficiency!r}")

    def __str__(self) -> str:
        said = [f"ObF {_shown(self.overbooking)}", f"EF {_shown(self.efficiency)}"]
        said += [
            word
            for name, word in (
                ("weight", self.weight),
                ("canmove", self.canmove),
                ("work", f"by {self.work}"),
                ("mix", f"among {self.mix}"),
                ("backfill", self.backfill),
            )
            if getattr(self, name) != getattr(FairShareMoldable, name)
        ]
        return f"{self.label} ({', '.join(said)})"

    def choose(self, case: Case) -> tuple[np.ndarray, np.ndarray]:
        """As of `Moldable`; see `schedlab.kernels.moldable`."""
        rules = kernel.Rules(
            float(self.overbooking),
            float(self.efficiency),
            self.weight == "proportional",
            self.work == "area",
            self.mix == "queued",
            self.canmove == "literal",
            self.backfill == "start-now",
        )
        return interruptible(kernel.fair_share, case.jobs, case.machine.procs, case.laws, rules)


@dataclass(frozen=True)
class GreedyMoldable(Moldable):
    """Fix at submission on how many processors a job is done first in the schedule as it is; then be conservative.

    References
    ----------
    Cirne and Berman, "Using moldability to improve the performance of supercomputer jobs", Journal of Parallel and
    Distributed Computing 62(10), 2002. As Sabin, Lang and Sadayappan, JSSPP 2006, compare with it: all reservations are
    made anew at every scheduling point.
    """

    label = "Greedy"
    names = {"greedy": {}}
    colours = {"Greedy": "#807DBA"}

    def choose(self, case: Case) -> tuple[np.ndarray, np.ndarray]:
        """As of `Moldable`; see `schedlab.kernels.moldable`."""
        return interruptible(kernel.greedy, case.jobs, case.machine.procs, case.laws)


@dataclass(frozen=True)
class IterativeMoldable(Moldable):
    """Give queued jobs one more processor at a time, as long as that lowers their mean turnaround.

    At every scheduling point all queued jobs begin with one processor; a job whose step is no gain to all is not tried
    again then.

    Parameters
    ----------
    head : int, optional
        Only so many jobs at the head of the queue are treated at a scheduling point. Those behind them wait: they do
        not exist for the decision, neither in its schedule nor in its mean. All jobs if left out.

    References
    ----------
    Sabin, Lang and Sadayappan, "Moldable parallel job scheduling using job efficiency: an iterative approach", JSSPP
    2006.
    """

    head: int | None = None

    label = "Iterative"
    names = {"iterative": {}}
    colours = {"Iterative": "#238B45"}

    def __post_init__(self):
        if self.head is None:
            return
        if isinstance(self.head, bool) or not isinstance(self.head, Integral) or self.head < 1:
            raise ValueError(f"head must be a whole number of at least 1, or None for all jobs, got {self.head!r}")

    def __str__(self) -> str:
        return self.label if self.head is None else f"{self.label} (first {self.head})"

    def choose(self, case: Case) -> tuple[np.ndarray, np.ndarray]:
        """As of `Moldable`; see `schedlab.kernels.iterative`."""
        head = min(self.head or 0, len(case))
        return interruptible(iterative, case.jobs, case.machine.procs, case.laws, head)


def _shown(value):
    """Give a number in six digits, or in all that tell it from others."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))


def _is_number(value):
    return isinstance(value, Real) and not isinstance(value, bool)
