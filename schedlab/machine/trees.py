"""Nodes on a k-ary n-tree."""

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Literal

import numpy as np

from schedlab._runtime.text import check_known, spelt
from schedlab.workload.conventions import check_procs
from schedlab.workload.swf import MOST_PROCS


@dataclass(frozen=True)
class Allocation:
    """How a policy chooses the nodes of a job.

    From the whole machine, not from one block; if no block fits, `relaxed`, also from a block of the next stage; from
    the fullest block that fits (`best`), not from the first; `drawn` at random.
    """

    whole: bool = False
    relaxed: bool = False
    best: bool = False
    drawn: bool = False


ALLOCATIONS = {
    "first-free": Allocation(whole=True),
    "contiguous": Allocation(),
    "quasi-contiguous": Allocation(relaxed=True),
    "best-fit": Allocation(best=True),
    "random": Allocation(whole=True, drawn=True),
}


@dataclass(frozen=True)
class KaryTree:
    """A k-ary n-tree: a switch of stage l (1 is the bottom) covers a block of k^l consecutive nodes.

    Parameters
    ----------
    k, n : int
        Downward ports of each switch (at least 2), and number of stages. The tree has k^n nodes.
    procs : int, optional
        Number of nodes installed: those with the lowest numbers. Default: as many as the trace's machine has.
    allocation : str
        How the nodes of a job are chosen. The smallest blocks are those of the lowest stage that can hold it.

        - ``"contiguous"``: the lowest free nodes of the first such block that has enough.
        - ``"quasi-contiguous"``: the same; if no block has enough, the lowest free nodes of a block of the next stage.
        - ``"best-fit"``: the lowest free nodes of the fullest block that still fits the job.
        - ``"first-free"``: the lowest free nodes anywhere; ``"random"``: any free nodes.
    speedup : float, or n floats
        Share by which locality shortens run times, from 0 to below 1. One number applies to all jobs, but has no effect
        under "first-free" and "random". With one number per stage, a job gets that of the lowest stage with all its
        nodes in one block, whatever the allocation.
    scale_estimates : bool
        Shorten estimates by the same share. Only with a single `speedup`.
    seed : int
        Seed for ``"random"`` allocation.

    References
    ----------
    J. A. Pascual and J. Miguel-Alonso: Effects of job placement on scheduling performance. Technical Report
    EHU-KAT-IK-09-08, University of the Basque Country, 2008. "quasi-contiguous" after Pascual, Navaridas and
    Miguel-Alonso, JSSPP 2009.

    Examples
    --------
    >>> import schedlab as sl
    >>> tree = sl.KaryTree(4, 4, procs=240)
    >>> tree.stage([4, 5, 14, 240]).tolist()
    [1, 2, 2, 4]

    On 8 nodes in blocks of 2 and 4, job 4 needs 3 nodes. Under contiguous allocation, it waits for a block of 4 with 3
    free nodes. If it takes any free nodes, it starts sooner, but across both blocks:

    >>> trace = sl.testing.trace_of([(0, 8, 8, 3), (0, 2, 2, 2), (0, 7, 7, 2), (1, 4, 4, 3)], machine=8)
    >>> schedules = {
    ...     allocation: sl.simulate(trace, "fcfs", machine=sl.KaryTree(2, 3, allocation=allocation))
    ...     for allocation in ("contiguous", "first-free")
    ... }
    >>> [(schedule.start[3].item(), schedule.allocations()[3]) for schedule in schedules.values()]
    [(7, '4-6'), (2, '3-4 7')]
    >>> chart = sl.charts.gantts(schedules, color="job_number", label="job_number")
    """

    k: int
    n: int
    procs: int | None = None
    allocation: Literal["contiguous", "quasi-contiguous", "best-fit", "first-free", "random"] = "contiguous"
    speedup: float | tuple[float, ...] = 0.0
    scale_estimates: bool = False
    seed: int = 0

    def __post_init__(self):
        for name, least in (("k", 2), ("n", 1), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < least:
                raise ValueError(f"{name} is {spelt(value)}, expected a whole number of at least {least}")
            object.__setattr__(self, name, int(value))  # a narrow NumPy type would overflow
        if self.k > MOST_PROCS or self.n > 24 or self.k**self.n > MOST_PROCS:
            raise ValueError(f"a {self.k}-ary {self.n}-tree has more than {MOST_PROCS:,} nodes")
        if self.procs is not None:
            check_procs(self.procs)
            if self.procs > (most := self.k**self.n):
                raise ValueError(f"{self.procs:,} nodes do not fit on a {self.k}-ary {self.n}-tree, which has {most:,}")
        check_known("allocation", self.allocation, ALLOCATIONS)
        self._check_speedup()

    def _check_speedup(self):
        several = np.ndim(self.speedup) == 1
        shares = tuple(self.speedup) if several else (self.speedup,)
        if several:
            object.__setattr__(self, "speedup", shares)
            if len(shares) != self.n:
                raise ValueError(f"speedup has {len(shares)} values, expected one, or one for each of {self.n} stages")
            if self.scale_estimates:
                raise ValueError("scale_estimates needs a single speedup: a job's stage is not known before it starts")
        for share in shares:
            if not (isinstance(share, Real) and 0 <= share < 1):
                raise ValueError(f"speedup is {spelt(share)}, expected a share from 0 to below 1")

    def __str__(self) -> str:
        nodes = "" if self.procs is None else f" of {self.procs:,} nodes"
        drawn = f", seed {self.seed}" if self.seed and self.policy.drawn else ""
        share = f", speed-up {self.speedup}" if np.any(self.speedup) else ""
        also = " also of estimates" if share and self.scale_estimates else ""
        return f"{self.k}-ary {self.n}-tree{nodes}, {self.allocation}{drawn}{share}{also}"

    def holding(self, procs: int) -> "KaryTree":
        """Return the same tree with this many nodes installed, if the number was left open.

        Parameters
        ----------
        procs : int
            Nodes installed, at most k**n.
        """
        if self.procs is not None:
            return self
        return replace(self, procs=procs)

    @property
    def policy(self) -> Allocation:
        """How nodes are chosen."""
        return ALLOCATIONS[self.allocation]

    def stage(self, procs) -> np.ndarray:
        """Return the lowest stage whose blocks have at least this many nodes; int64, in the shape of `procs`.

        Parameters
        ----------
        procs : int or array of int
            Nodes that jobs need, from 1 to k**n.
        """
        sizes = self.k ** np.arange(1, self.n + 1)
        procs = np.asarray(procs)
        if (procs < 1).any() or (procs > sizes[-1]).any():
            raise ValueError(f"a job on {self} needs 1 to {sizes[-1]:,} nodes")
        return np.searchsorted(sizes, procs) + 1

    def saved(self) -> np.ndarray:
        """Return the share by which run times fall for jobs within a block of each stage; float64, shape (n + 1,)."""
        if isinstance(self.speedup, tuple):
            return np.array([0.0, *self.speedup])
        return np.full(self.n + 1, 0.0 if self.policy.whole else float(self.speedup))
