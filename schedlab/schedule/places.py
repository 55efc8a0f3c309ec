"""Where the jobs of a schedule ran: on which processors, and on which nodes of a tree."""

from functools import cached_property

import numpy as np
import pandas as pd

from schedlab._runtime.threads import abandonable
from schedlab.kernels import tree_nodes
from schedlab.kernels.processors import assign_processors
from schedlab.machine import KaryTree, Pools
from schedlab.schemes import Ranges

from . import laws


class Places:
    def locality(self) -> pd.DataFrame:
        """Measure how close to each other the nodes of each job on a tree are.

        The table has, by job_number, stage, the lowest stage with all nodes in one block; and hops, the mean number of
        links between two of its nodes: 2 x the stage at which they meet (0 for a single node).

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=200, machine=64, seed=1).scale_load(0.8)
        >>> schedule = sl.simulate(trace, "easy", machine=sl.KaryTree(4, 3, allocation="first-free"))
        >>> schedule.locality()["stage"].value_counts().sort_index().to_dict()
        {1: 88, 2: 49, 3: 63}
        >>> chart = sl.charts.tree(schedule)
        """
        tree = self._tree("locality")
        stage, hops = abandonable(tree_nodes.locality, *self.processors(), tree.k, tree.n)
        return pd.DataFrame({"stage": stage, "hops": hops}, index=self.trace.table.index)

    def fragmentation(self) -> pd.DataFrame:
        """Follow the free nodes of a tree over time.

        The table has the time (seconds); free (nodes); largest (nodes of the largest job that would find room in one
        block); and fragmentation, 1 - largest / free (0 if none is free): the free nodes' share that it could not use.

        Examples
        --------
        When job 2 ends at 2 s, 3 nodes are free, but only 2 of them in one block:

        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 8, 8, 3), (0, 2, 2, 2), (0, 7, 7, 2)], machine=8)
        >>> table = sl.simulate(trace, "easy", machine=sl.KaryTree(2, 3)).fragmentation()
        >>> table[["time", "free", "largest"]].to_numpy().tolist()
        [[0, 1, 1], [2, 3, 2], [7, 5, 5], [8, 8, 8]]
        """
        tree = self._tree("fragmentation")
        held = (self.start, self.end, *self.processors())
        time, free, largest = abandonable(tree_nodes.fragmentation, *held, tree.k, tree.n, tree.procs)
        lost = 1 - np.divide(largest, free, out=np.ones(time.size), where=free > 0)
        return pd.DataFrame({"time": time, "free": free, "largest": largest, "fragmentation": lost})

    def _tree(self, what):
        if not isinstance(self.machine, KaryTree):
            raise ValueError(f"{what} needs jobs on nodes; this schedule is of {self.machine} without a topology")
        return self.machine

    def processors(self) -> Ranges:
        """Return the processors of each of the `pieces` (`Ranges`); if jobs run in one piece, those of each job.

        On a tree these are its nodes; otherwise the lowest-numbered processors that are free when it starts, in each
        pool if there are several, whose processors are numbered one pool after another. A schedule that holds more
        processors than the machine has is a ScheduleError.
        """
        if self.outcome.nodes is not None:
            return self.outcome.nodes
        if not len(self):  # a pool without jobs
            return Ranges(*(np.zeros(size, np.int64) for size in (1, 0, 0)))
        if isinstance(self.machine, Pools) and len(self.machine.pools) > 1:
            return self._of_pools()
        size, pieces, most = self.machine.procs, self.outcome.pieces, int(self.states[1].max(initial=0))
        if not self.scheme.simulated:
            size = max(size, most)  # a log may hold more than the machine has
        if most > size or (pieces.end < pieces.start).any():
            self.validate()
            raise laws.ScheduleError(f"{self.scheme} on {self.trace.name}: up to {most} processors held of {size}")
        return Ranges(*abandonable(assign_processors, pieces.start, pieces.end, pieces.procs, size))

    def _of_pools(self):
        """Number the processors of the pools consecutively."""
        places = self.case.places[self.outcome.pieces.job]
        intervals = []
        below = 0
        for i, (part, procs) in enumerate(zip(self.pools.values(), self.machine.capacity[:, 0].tolist(), strict=True)):
            offset, first, last = part.processors()
            intervals.append((np.repeat(np.flatnonzero(places == i), np.diff(offset)), first + below, last + below))
            below += procs
        piece, first, last = (np.concatenate(column) for column in zip(*intervals, strict=True))
        order = np.argsort(piece, kind="stable")
        return Ranges(np.searchsorted(piece[order], np.arange(len(places) + 1)), first[order], last[order])

    def allocations(self) -> list[str]:
        """Return as text, for each job, the processors of this machine that it held ("0-3 7"), in all its pieces.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 6, 6, 2), (0, 4, 4, 3), (1, 3, 3, 3)], machine=8)
        >>> sl.simulate(trace, "easy", machine=sl.KaryTree(2, 3)).allocations()
        ['0-1', '4-6', '4-6']
        """
        return list(self._allocations)

    @cached_property
    def _allocations(self):
        offset, first, last = self.processors()
        if self.outcome.in_pieces or self.outcome.interrupted is not None:
            offset, first, last = _joined(self.outcome.pieces, self.site, len(self), offset, first, last)
        interval = [f"{a}-{b}" if a < b else f"{a}" for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        return [" ".join(interval[a:b]) for a, b in zip(offset[:-1].tolist(), offset[1:].tolist(), strict=True)]

    def sweeps(self) -> pd.DataFrame:
        """Show what held processors for each parameter sweep that was submitted at this site, by job_number.

        The table has procs, run_time (seconds) and breakdown, as submitted; tasks_alone, as in `jobs`; of the tasks
        that held processors at any site, tasks (how many), tasks_procs, tasks_area (processor-seconds), shortest and
        longest (seconds; nan if there are none); and parallel_time, how long the parallel job ran (seconds, or 0).

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=100, machine=64).with_parameter_sweeps(0.2)
        >>> bool((sl.simulate(trace, "flooding").sweeps()["parallel_time"] == 0).all())
        True
        """
        outcome = self.outcome
        if not outcome.in_pieces:
            raise ValueError(f"sweeps needs a scheme that runs the tasks of sweeps; {self.scheme} runs whole jobs")
        jobs = self.jobs
        table = jobs.loc[jobs["breakdown"] > 0, ["requested_procs", "run_time", "breakdown", "tasks_alone"]]
        # The pieces of all sites, since tasks run anywhere.
        columns = (np.concatenate(column) for column in zip(*outcome.shared.pieces, strict=True))
        pieces = pd.DataFrame(dict(zip(outcome.pieces._fields, columns, strict=True)))
        pieces = pieces[pieces["home"] == self.site]
        pieces = pieces.assign(job_number=jobs.index.to_numpy()[pieces["job"]])
        pieces["lasts"] = (pieces["end"] - pieces["start"]) / outcome.tick
        pieces["area"] = pieces["lasts"] * pieces["procs"]
        apart = pieces[pieces["tasks"] > 0].groupby("job_number")
        joint = pieces[pieces["tasks"] == 0].groupby("job_number")
        sums = apart[["tasks", "procs", "area"]].sum().rename(columns={"procs": "tasks_procs", "area": "tasks_area"})
        table = table.rename(columns={"requested_procs": "procs"}).join(sums.reindex(table.index, fill_value=0))
        longest = joint["lasts"].max().reindex(table.index, fill_value=0)  # the pieces of a parallel job start together
        lasts = apart["lasts"]
        return table.assign(shortest=lasts.min(), longest=lasts.max(), parallel_time=longest)


def _joined(pieces, site, n_jobs, offset, first, last):
    """Return the processors of each job from those of its pieces."""
    piece = np.repeat(np.arange(pieces.job.size), np.diff(offset))
    at_site = pieces.home[piece] == site
    job, first, last = pieces.job[piece[at_site]], first[at_site], last[at_site]
    order = np.lexsort((first, job))
    joined = []
    for of, low, high in zip(job[order].tolist(), first[order].tolist(), last[order].tolist(), strict=True):
        if joined and joined[-1][0] == of and low <= joined[-1][2] + 1:
            joined[-1][2] = max(joined[-1][2], high)
        else:
            joined.append([of, low, high])
    job, first, last = np.array(joined, "int64").reshape(-1, 3).T
    return Ranges(np.searchsorted(job, np.arange(n_jobs + 1)), first, last)
