"""Schemes that choose the processors of moldable jobs: fair share, greedy and iterative."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from schedlab._runtime.text import check_known, spelt
from schedlab._runtime.threads import interruptible
from schedlab.kernels import moldable as kernel
from schedlab.kernels.iterative import iterative
from schedlab.kernels.speedup import durations
from schedlab.kernels.swf_text import EXACT

from .base import Case, Outcome, Scheme


class Moldable(Scheme, ABC):
    """Base of the schemes for moldable jobs; `Trace.with_speedup` says how jobs speed up."""

    needs = "speedup"

    def check(self, case: Case) -> None:
        super().check(case)
        jobs = case.jobs
        if (nothing := jobs.run < 1).any():
            job = f"job {case.number(np.argmax(nothing))} of {case.name}"
            raise ValueError(f"{job} has a run time of 0, expected more under {self}; the load filter drops such jobs")
        longest = (jobs.estimate * case.laws.speedup(jobs.procs)).sum()  # one after the other, each on one processor
        if jobs.submit[-1] + longest >= EXACT:
            seconds = f"{jobs.submit[-1] + longest:.4g} s"
            raise ValueError(f"the jobs of {case.name} on one processor each take {seconds}, expected less than 2**53")

    def simulate(self, case: Case) -> Outcome:
        start, procs = self.choose(case)
        jobs = case.jobs
        run, estimate = (durations(seconds, jobs.procs, procs, case.laws) for seconds in (jobs.run, jobs.estimate))
        return case.outcome(start, run=run, procs=procs, estimate=estimate)

    @abstractmethod
    def choose(self, case: Case) -> tuple[np.ndarray, np.ndarray]:
        """Choose the start (int64, seconds after the beginning of the case) and the processors (int64) of each job.

        Parameters
        ----------
        case : Case
            As in `check`.
        """


@dataclass(frozen=True)
class FairShareMoldable(Moldable):
    """Let each job choose, within its share of the machine, the number of processors on which it ends first.

    Waiting jobs choose in the order of the queue, anew at every scheduling point. The first one that has to wait holds
    a reservation.

    Parameters
    ----------
    weight : {"sqrt", "proportional"}
        Shares are proportional to the square root of a job's work, or to the work.
    overbooking : number
        Factor by which the shares are multiplied, above 0; the paper's ObF.
    efficiency : number
        Largest part of its share by which a job's share may change, from 0 to 1, when processors move from jobs that
        gain little from them to jobs that gain more; the paper's EF.
    canmove : {"role", "literal"}
        What a job at the limit of that change may not do: go further ("role"), or, as printed, go back either.
    work : {"sequential", "area"}
        How a job's work is estimated: on one processor, or on the processors that it requests.
    mix : {"all", "queued"}
        Whether running jobs have a share too ("all") or not.
    backfill : {"any", "start-now"}
        What jobs behind the reservation may do: wait for more processors ("any"), or start on as many of the free
        processors as let them end first.

    Examples
    --------
    Jobs 1 and 2 ask for all 8 processors. Each gets its share instead, so that both start at once; so do jobs 3 and 4
    when job 2 ends:

    >>> import schedlab as sl
    >>> jobs = [(0, 60, 60, 8), (0, 40, 40, 8), (10, 30, 30, 4), (20, 30, 30, 8)]  # submit, run, estimate, procs
    >>> trace = sl.testing.trace_of(jobs, machine=8).with_speedup(sl.Amdahl(serial=0.2))
    >>> schedules = {"Rigid": sl.simulate(trace, "easy"), "Fair share": sl.simulate(trace, sl.FairShareMoldable())}
    >>> schedules["Fair share"].jobs["procs"].tolist()
    [4, 4, 2, 2]
    >>> [float(schedule.metrics()["turnaround"]) for schedule in schedules.values()]
    [105.0, 79.25]
    >>> chart = sl.charts.gantts(schedules, color="job_number", label="job_number")

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
    names = {"shares": {}}
    colours = {  # one hue per overbooking, unlike EASY's; darker for higher efficiency
        "Fair share (ObF 1, EF 0)": "#C46EEF",
        "Fair share (ObF 1, EF 0.5)": "#B446EA",
        "Fair share (ObF 1, EF 1)": "#9C19DE",
        "Fair share (ObF 4, EF 0)": "#ED6E03",
        "Fair share (ObF 4, EF 0.5)": "#CC560C",
        "Fair share (ObF 4, EF 1)": "#B93C03",
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
            raise ValueError(f"overbooking must be a number above 0, got {spelt(self.overbooking)}")
        if not (_is_number(self.efficiency) and 0 <= self.efficiency <= 1):
            raise ValueError(f"efficiency must be a number from 0 to 1, got {spelt(self.efficiency)}")

    def __str__(self) -> str:
        settings = [f"ObF {_shown(self.overbooking)}", f"EF {_shown(self.efficiency)}"]
        before = {"weight": "", "canmove": "", "work": "by ", "mix": "among ", "backfill": ""}
        changed = [name for name in before if getattr(self, name) != getattr(FairShareMoldable, name)]
        settings += [f"{before[name]}{getattr(self, name)}" for name in changed]
        return f"{self.label} ({', '.join(settings)})"

    def choose(self, case: Case) -> tuple[np.ndarray, np.ndarray]:
        """As of `Moldable`; see `schedlab.kernels.moldable`."""
        return interruptible(kernel.fair_share, case.jobs, case.machine.procs, case.laws, self.rules)

    @property
    def rules(self) -> kernel.Rules:
        """The settings in the form that the kernel takes."""
        numbers = (float(self.overbooking), float(self.efficiency))
        choices = (self.weight == "proportional", self.work == "area", self.mix == "queued", self.canmove == "literal")
        return kernel.Rules(*numbers, *choices, self.backfill == "start-now")


@dataclass(frozen=True)
class GreedyMoldable(Moldable):
    """Fix at submission the processors on which a job ends first in the current schedule; then backfill conservatively.

    Examples
    --------
    Job 2 asks for 5 processors, which are free at 60 s. It ends sooner on the 3 that are free when it is submitted:

    >>> import schedlab as sl
    >>> jobs = [(0, 60, 60, 5), (10, 30, 30, 5), (20, 20, 20, 5)]  # submission, run time, estimate, processors
    >>> trace = sl.testing.trace_of(jobs, machine=8).with_speedup(sl.Downey(A=5, sigma=0))
    >>> schedules = {"Rigid": sl.simulate(trace, "easy"), "Greedy": sl.simulate(trace, sl.GreedyMoldable())}
    >>> schedules["Greedy"].jobs["procs"].tolist()
    [5, 3, 5]
    >>> chart = sl.charts.gantts(schedules, color="job_number", label="job_number")

    References
    ----------
    Cirne and Berman, "Using moldability to improve the performance of supercomputer jobs", JPDC 62(10), 2002. All
    reservations are made anew at every scheduling point, as in the comparison of Sabin, Lang and Sadayappan, JSSPP
    2006.
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

    At every scheduling point, all queued jobs begin with one processor. A job whose extra processor does not lower the
    mean turnaround is not tried again at that point.

    Parameters
    ----------
    head : int, optional
        Treat only this many jobs at the head of the queue at a scheduling point. Jobs behind them wait, and count
        neither in the schedule nor in the mean. Default: all jobs.

    Examples
    --------
    The greedy scheme gives each job the processors on which that job ends first. Here the mean of all queued jobs
    decides:

    >>> import schedlab as sl
    >>> jobs = [(0, 60, 60, 8), (0, 40, 40, 8), (10, 30, 30, 4), (20, 30, 30, 8)]  # submit, run, estimate, procs
    >>> trace = sl.testing.trace_of(jobs, machine=8).with_speedup(sl.Amdahl(serial=0.2))
    >>> schedules = {"Greedy": sl.simulate(trace, "greedy"), "Iterative": sl.simulate(trace, sl.IterativeMoldable())}
    >>> [float(schedule.metrics()["turnaround"]) for schedule in schedules.values()]
    [101.5, 79.25]
    >>> chart = sl.charts.gantts(schedules, color="job_number", label="job_number")

    References
    ----------
    Sabin, Lang and Sadayappan, JSSPP 2006, as for `FairShareMoldable`.
    """

    head: int | None = None

    label = "Iterative"
    names = {"iterative": {}}
    colours = {"Iterative": "#238B45"}

    def __post_init__(self):
        if self.head is None:
            return
        if isinstance(self.head, bool) or not isinstance(self.head, Integral) or self.head < 1:
            raise ValueError(f"head must be a whole number of at least 1, or None for all jobs, got {spelt(self.head)}")

    def __str__(self) -> str:
        return self.label if self.head is None else f"{self.label} (first {self.head})"

    def choose(self, case: Case) -> tuple[np.ndarray, np.ndarray]:
        """As of `Moldable`; see `schedlab.kernels.iterative`."""
        head = min(self.head or 0, len(case))
        return interruptible(iterative, case.jobs, case.machine.procs, case.laws, head)


def _shown(value):
    """Return a number as text: in six digits, or in as many as are needed to read it back unchanged."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))


def _is_number(value):
    return isinstance(value, Real) and not isinstance(value, bool)
