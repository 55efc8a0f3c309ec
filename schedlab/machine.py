"""Machines: what the jobs run on."""

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Literal

import numpy as np
import pandas as pd

from ._runtime.text import check_known, suggestion
from .workload.conventions import check_procs
from .workload.swf import MOST_PROCS


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
class Flat:
    """Identical processors without a topology: a job can run on any that are free.

    Parameters
    ----------
    procs : int
        Number of processors.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64, seed=1)
    >>> own, twice = (sl.simulate(trace, "easy", machine=sl.Flat(procs)).metrics() for procs in (64, 128))
    >>> bool(twice["wait_time"] < own["wait_time"])
    True
    """

    procs: int

    def __post_init__(self):
        check_procs(self.procs)

    def __str__(self) -> str:
        return f"{self.procs:,} processors"


@dataclass(frozen=True)
class Partitions:
    """Independent machines side by side: each job runs in its own partition, which has a queue of its own.

    Parameters
    ----------
    sizes : mapping of str or int to int
        Processors of each partition, by the partition's name or number.
    column : str
        The column of the jobs that says which partition each belongs to.

    Examples
    --------
    >>> import schedlab as sl
    >>> machine = sl.Partitions({"short": 64, "long": 128})
    >>> machine.procs, str(machine)
    (192, 'partitions short (64), long (128)')
    >>> from schedlab.workload.sacct import example_path
    >>> trace = sl.read_sacct(example_path(), machine=192, partition=["short", "long"])
    >>> schedule = sl.simulate(trace, "easy", machine=machine)
    >>> {name: len(part) for name, part in schedule.partitions.items()}
    {'short': 163, 'long': 47}
    >>> chart = sl.charts.gantts(schedule.partitions)
    """

    sizes: tuple[tuple[str | int, int], ...]
    column: str = "partition"

    def __post_init__(self):
        sizes = tuple(dict(self.sizes).items())  # a tuple can be hashed
        if not sizes:
            raise ValueError("sizes is empty, expected the processors of each partition by its name")
        for _, procs in sizes:
            check_procs(procs)
        check_procs(sum(procs for _, procs in sizes))
        object.__setattr__(self, "sizes", sizes)

    @property
    def procs(self) -> int:
        """Processors of all partitions."""
        return sum(procs for _, procs in self.sizes)

    def __str__(self) -> str:
        return f"partitions {', '.join(f'{name} ({procs:,})' for name, procs in self.sizes)}"

    def places(self, jobs, names) -> np.ndarray:
        """Return the partition in which each job runs, as positions in `sizes`; int64, shape (n_jobs,).

        Parameters
        ----------
        jobs, names : DataFrame, mapping
            `Trace.jobs` and `Trace.names`.
        """
        if self.column not in jobs:
            known = f"{', '.join(jobs.columns)}{suggestion(self.column, jobs.columns)}"
            raise ValueError(f"no column {self.column!r} to tell partitions by; known: {known}")
        values, known = jobs[self.column], names.get(self.column, {})
        place_of = {name: place for place, (name, _) in enumerate(self.sizes)}
        # A name takes precedence over a number: a partition may be called "1".
        of_value = {value: place_of.get(known.get(value, value), place_of.get(value, -1)) for value in values.unique()}
        places = values.map(of_value).to_numpy("int64")
        if (places < 0).any():
            others = values[places < 0].map(lambda value: known.get(value, value))
            counts = others.value_counts(dropna=False)
            other = counts.index.tolist()[0]
            which = f"without {self.column}" if pd.isna(other) or other == -1 else f"of {self.column} {other!r}"
            expected = f"expected one of {', '.join(map(repr, place_of))}"
            raise ValueError(f"{counts.iloc[0]:,} jobs {which}, {expected}; trace.where() leaves jobs out")
        procs, size = jobs["requested_procs"].to_numpy(), np.array([procs for _, procs in self.sizes])
        if (wide := np.flatnonzero(procs > size[places])).size:
            name = self.sizes[places[wide[0]]][0]
            found = f"job {jobs.index[wide[0]]} asks for {procs[wide[0]]:,} processors"
            raise ValueError(
                f"{found}, partition {name!r} has {size[places[wide[0]]]:,}; trace.where() leaves jobs out"
            )
        return places


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
                raise ValueError(f"{name} is {value!r}, expected a whole number of at least {least}")
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
                raise ValueError(f"speedup is {share!r}, expected a share from 0 to below 1")

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
