"""Schedules of machines of several pools: their parts, what is held of each resource, and what a reader should know."""

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from schedlab._runtime.text import suggestion
from schedlab.machine import Partitions, Pools
from schedlab.schemes.pooled import values_of

if TYPE_CHECKING:  # its module imports this one
    from .base import Schedule

PACKED = "which node, GPU or socket a job gets is not simulated: in a pool it fits if enough of each resource is free"


class Pooling:
    @cached_property
    def partitions(self) -> "dict[str | int, Schedule]":
        """The schedule of each partition by name: its jobs on its processors (`schedlab.Partitions`)."""
        if not isinstance(self.machine, Partitions):
            raise ValueError(f"partitions need a machine that has them; this schedule is of {self.machine}")
        return self.pools

    @cached_property
    def pools(self) -> "dict[str | int, Schedule]":
        """The schedule of each pool by name: its jobs on its resources (`schedlab.Pools`)."""
        if not isinstance(self.machine, Pools):
            raise ValueError(f"pools need a machine that has them; this schedule is of {self.machine}")
        cases = self.case.parts()
        return {name: self._pool(i, name, cases[i]) for i, (name, _) in enumerate(self.machine.pools)}

    def _pool(self, place, name, case):
        jobs = self.case.places == place
        procs = case.machine.procs
        history = (*self.trace.history, f"{self.machine.part} {name}: {jobs.sum():,} jobs on {procs:,} processors")
        part = replace(self.trace, table=self.trace.table[jobs], procs=procs, history=history)
        schedule = replace(self, trace=part, machine=case.machine, outcome=self.outcome.part(jobs), traces=())
        schedule.__dict__["case"] = case  # made anew from the trace, it would renumber times and texts
        return schedule

    def resources(self, window: str | tuple | None = "makespan") -> pd.DataFrame:
        """Return how much of each resource of each pool was open and held, index (pool, resource).

        Columns: capacity; open and held, in amount x hours; utilization, the share of what was open that was held.

        Parameters
        ----------
        window : optional
            As in `metrics`.

        Examples
        --------
        >>> import schedlab as sl
        >>> machine = sl.Pools(short=sl.Pool(64), long=sl.Pool(128), closed=[sl.Closed(3600, 7200, pool="long")])
        >>> from schedlab.workload.sacct import example_path
        >>> trace = sl.read_sacct(example_path(), machine=192, partition=["short", "long"])
        >>> table = sl.simulate(trace, "easy", machine=machine).resources()
        >>> table["capacity"].tolist(), bool(table["utilization"].between(0, 1).all())
        ([64, 128], True)
        """
        begin, end = self.measured(window)[1:3]
        rows = []
        for (pool, resource), states in self.held_over_time((begin, end)).groupby(["pool", "resource"], sort=False):
            hours = np.diff(states["time"]) / 3600
            free, held = ((states[name].to_numpy()[:-1] * hours).sum() for name in ("open", "held"))
            share = held / free if free else np.nan
            rows.append((pool, resource, states["open"].max(), free, held, share))
        names = ["pool", "resource", "capacity", "open", "held", "utilization"]
        table = pd.DataFrame(rows, columns=names).set_index(["pool", "resource"])
        capacity = {(pool, name): amount for pool, of in self._pools() for name, amount in of.amounts}
        return table.assign(capacity=[capacity[row] for row in table.index])

    def held_over_time(self, window: str | tuple | None = "makespan") -> pd.DataFrame:
        """Follow each resource of each pool over time: pool, resource, time (seconds), and from then on open and held.

        One row per instant at which either changes, from the begin of the window to its end.

        Parameters
        ----------
        window : optional
            As in `metrics`.
        """
        begin, end = self.measured(window)[1:3]
        case = self.case
        pieces = self.outcome.pieces
        tables = []
        for place, (pool, of) in enumerate(self._pools()):
            mine = np.flatnonzero(case.places[pieces.job] == place)
            start = self.seconds(pieces.start[mine])
            until = self.seconds(pieces.end[mine])
            for name, _ in of.amounts:
                demand = self._demand(name)[pieces.job[mine]]
                times = [start, until]
                changes = [demand, -demand]
                instants = np.unique(np.concatenate([*times, [begin, end], self._edges(place, name)]))
                instants = instants[(instants >= begin) & (instants <= end)]
                held = _total(instants, np.concatenate(times), np.concatenate(changes))
                free = self._open(place, name, instants)
                columns = {"pool": pool, "resource": name, "time": instants, "open": free, "held": held}
                tables.append(pd.DataFrame(columns))
        return pd.concat(tables, ignore_index=True)

    def _pools(self):
        if not isinstance(self.machine, Pools):
            raise ValueError(f"resources need a machine of several pools; this schedule is of {self.machine}")
        return self.machine.pools

    def _demand(self, resource):
        return self.case.pooled.demand[:, self.machine.resources.index(resource)]

    def _windows(self, place, resource):
        """Return begin and end (seconds) of each window of a pool, and what it closes of a resource."""
        windows = self.case.pooled.windows
        column = self.machine.resources.index(resource)
        mine = range(windows.first[place], windows.first[place + 1])
        return [(self.seconds(windows.begin[i]), self.seconds(windows.end[i]), windows.closed[i, column]) for i in mine]

    def _edges(self, place, resource):
        """Return the instants (seconds) at which what is open of a resource changes."""
        return np.array([edge for *span, amount in self._windows(place, resource) if amount for edge in span], "int64")

    def _open(self, place, resource, instants):
        """Return what is open of a resource of a pool from each instant (seconds) on."""
        free = np.full(len(instants), dict(self.machine.pools[place][1].amounts)[resource])
        for begin, end, amount in self._windows(place, resource):
            free[(instants >= begin) & (instants < end)] -= amount
        return free

    def _open_over_time(self, timeline):
        """Return a timeline of the only pool with rows where windows begin and end, too, and the processors open."""
        time = timeline["time"].to_numpy()
        edges = self._edges(0, "procs")
        instants = np.unique(np.concatenate([time, edges[(edges > time[0]) & (edges < time[-1])]]))
        rows = timeline.iloc[np.searchsorted(time, instants, side="right") - 1]
        return rows.assign(time=instants), self._open(0, "procs", instants[:-1])

    def _pool_notes(self):
        """Return what a reader of a schedule on pools should know."""
        machine = self.machine
        if not isinstance(machine, Pools):
            return ()
        notes = [PACKED] if any(len(pool.amounts) > 1 for _, pool in machine.pools) else []
        for resource in ("gpus",) if "gpus" in self.trace.table else ():
            without = [i for i, (_, pool) in enumerate(machine.pools) if resource not in dict(pool.amounts)]
            asking = np.isin(self.case.places, without) & (self.trace.table[resource].to_numpy() > 0)
            if asking.any():
                names = ", ".join(str(machine.pools[i][0]) for i in np.unique(self.case.places[asking]))
                notes.append(f"{asking.sum():,} jobs ask for {resource} in pools that count none ({names})")
        for limit in machine.limits:
            named = {value for _, most in limit.most if not isinstance(most, int) for value, _ in most}
            known = values_of(self.trace, limit.column) if named else {}
            for value in sorted(named - known.keys(), key=str):
                notes.append(f"a limit names {limit.column} {value!r}, which no job has{suggestion(value, known)}")
        if runs := int(self.outcome.interruptions.sum()):
            jobs = int((self.outcome.interruptions > 0).sum())
            notes.append(f"closed windows ended {runs:,} runs of {jobs:,} jobs, which were queued again")
        return tuple(notes)


def _total(instants, times, changes):
    """Return the sum of the changes up to each instant, itself included."""
    order = np.argsort(times, kind="stable")
    sums = np.append(0, np.cumsum(changes[order]))
    return sums[np.searchsorted(times[order], instants, side="right")]
