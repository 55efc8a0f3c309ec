"""Machines of several pools: resources, closed windows and limits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
import pandas as pd

from schedlab._runtime.text import check_known, spelt, suggestion
from schedlab.workload import columns as trace_columns
from schedlab.workload.conventions import check_procs
from schedlab.workload.fields import A_MEMORY, kilobytes

from .flat import Flat

MOST_RESOURCES = 4
MOST = 2**53  # of a resource
NODES = ("NNodes", "nodes_alloc", "nodes")  # columns that tell the number of nodes
ON_CLOSURE = ("requeue", "kill")
CALLED = {"procs": "processors", "gpus": "GPUs"}
LEAVES_OUT = "trace.with_machine(machine) leaves such jobs out and says so"


@dataclass(frozen=True, init=False)
class Pool:
    """Nodes that serve some partitions; a job there has to fit in all resources that the pool counts.

    Parameters
    ----------
    procs : int
        Processors, of which a job takes what it requests.
    gpus, memory : int, and int or str, optional
        GPUs, of the trace's column ``gpus``, and memory: KB, or text such as ``"16 TB"``, of ``requested_memory`` x
        processors. A job that asks for none, or whose demand is unknown, takes none.
    partitions : iterable of str or int, optional
        The partitions that it serves. Default: that of the pool's own name.
    unit : {"procs", "nodes"}
        "nodes": `procs` counts nodes, which jobs take whole, by the column of the trace that tells their number.
    **further : int
        Up to four resources in all; others have the name of a column of the trace, such as ``licenses=20``.

    Examples
    --------
    >>> import schedlab as sl
    >>> str(sl.Pool(2048, gpus=128, memory="16 TB"))
    '2,048 processors, 128 GPUs, 16 TB of memory'
    """

    amounts: tuple[tuple[str, int], ...]
    partitions: tuple[str | int, ...]
    unit: str

    def __init__(self, procs: int, *, gpus=None, memory=None, partitions=(), unit="procs", **further):
        check_procs(procs)
        check_known("unit", unit, ("procs", "nodes"))
        if isinstance(memory, str):
            memory = _kilobytes(memory)
        amounts = {"procs": procs, "gpus": gpus, "memory": memory, **further}
        amounts = {name: amount for name, amount in amounts.items() if amount is not None}
        for name, amount in amounts.items():
            if not _is_whole(amount) or not 0 <= amount < MOST:
                raise ValueError(f"{name} of a pool is {spelt(amount)}, expected a whole number from 0 to below 2**53")
        if len(amounts) > MOST_RESOURCES:
            raise ValueError(f"a pool has {', '.join(amounts)}, expected at most {MOST_RESOURCES} resources")
        served = (partitions,) if isinstance(partitions, str | Integral) else partitions
        served = tuple(map(_plain, served))
        _set(self, amounts=tuple((name, int(amount)) for name, amount in amounts.items()), partitions=served, unit=unit)

    def __str__(self) -> str:
        return ", ".join(self.shown(name, amount) for name, amount in self.amounts)

    def called(self, resource: str) -> str:
        """Return what a resource is called.

        Parameters
        ----------
        resource : str
            Such as ``"gpus"``, which are called GPUs.
        """
        return "nodes" if (resource, self.unit) == ("procs", "nodes") else CALLED.get(resource, resource)

    def shown(self, resource: str, amount: int) -> str:
        """Return an amount of a resource in words.

        Parameters
        ----------
        resource, amount : str, int
            Such as ``"gpus"``, 12.
        """
        if resource == "memory":
            return f"{_memory(amount)} of memory"
        name = self.called(resource)
        return f"{amount:,} {name.removesuffix('s') if amount == 1 and resource in CALLED else name}"


@dataclass(frozen=True, init=False)
class Closed:
    """A window [begin, end) in which a pool is closed, for example for maintenance.

    A job that could run into a window that is announced does not start. At the begin of a window, running jobs that no
    longer fit are ended, the latest start first; that happens only to jobs that started before it was announced.

    Parameters
    ----------
    begin, end : str, datetime or number
        Dates at the machine, or seconds on the clock of the log.
    pool : str or int, optional
        Which pool. Default: each.
    announced : number, optional
        Seconds before the begin at which schedulers learn of it. Default: it is always known.
    **amounts : int or str
        What is closed, such as ``gpus=16``. Default: all of each resource.

    Examples
    --------
    >>> import schedlab as sl
    >>> str(sl.Closed("2024-10-08 06:00", "2024-10-08 18:00", pool="gpu", gpus=16))
    '16 gpus of gpu closed from 2024-10-08 06:00 to 2024-10-08 18:00'
    """

    begin: object
    end: object
    pool: str | int | None
    announced: float
    amounts: tuple[tuple[str, int], ...]

    def __init__(self, begin, end, pool=None, announced=None, **amounts):
        if announced is not None and not (isinstance(announced, Real) and 0 <= announced < inf):
            raise ValueError(f"announced is {spelt(announced)}, expected seconds before the begin, 0 or more, or None")
        if isinstance(amounts.get("memory"), str):
            amounts["memory"] = _kilobytes(amounts["memory"])
        for name, amount in amounts.items():
            if not _is_whole(amount) or amount < 1:
                raise ValueError(f"{name} of a closed window is {spelt(amount)}, expected a whole number of at least 1")
        amounts = tuple((name, int(amount)) for name, amount in amounts.items())
        announced = inf if announced is None else announced
        _set(self, begin=begin, end=end, pool=_plain(pool), announced=announced, amounts=amounts)

    def __str__(self) -> str:
        amounts = ", ".join(f"{_memory(n) if name == 'memory' else f'{n:,}'} {name}" for name, n in self.amounts)
        of = ("each pool" if amounts else "all pools") if self.pool is None else self.pool
        what = f"{amounts} of {of}" if amounts else of
        known = "" if self.announced == inf else f", announced {self.announced:,.0f} s before"
        return f"{what} closed from {self.begin} to {self.end}{known}"


@dataclass(frozen=True, init=False)
class Limit:
    """A limit on what the running jobs of one user, account, QOS or the like hold together, in all pools.

    A waiting job whose start would exceed it is passed over: it is neither head nor candidate, and has no reservation.

    Parameters
    ----------
    column : str
        The column of the jobs: ``"user"``, ``"account"``, ``"qos"``, ``"partition"``, ....
    running, procs, gpus : int or mapping, optional
        At most so many jobs, processors, GPUs: one number for each value of the column, or a mapping by value; values
        that are not in it have no limit.

    Examples
    --------
    >>> import schedlab as sl
    >>> str(sl.Limit("user", running=20)), str(sl.Limit("qos", procs={"debug": 64}))
    ('20 running of each user', '64 procs of qos debug')
    """

    column: str
    most: tuple[tuple[str, int | tuple], ...]

    def __init__(self, column, *, running=None, procs=None, gpus=None):
        if not isinstance(column, str):
            raise TypeError(f"a limit needs the name of a column such as 'user', got {spelt(column)}")
        most = {"running": running, "procs": procs, "gpus": gpus}
        most = {kind: amount for kind, amount in most.items() if amount is not None}
        if not most or {} in most.values():
            raise ValueError(f"a limit by {column} limits nothing, give running=, procs= or gpus=")
        for kind, amount in most.items():
            for value in amount.values() if isinstance(amount, Mapping) else (amount,):
                if not _is_whole(value) or not 1 <= value < MOST:
                    expected = "a whole number of at least 1; trace.where() leaves out jobs that may not run"
                    raise ValueError(f"limit by {column}: {kind} is {spelt(value)}, expected {expected}")
        frozen = {
            kind: tuple((_plain(value), int(most)) for value, most in n.items()) if isinstance(n, Mapping) else int(n)
            for kind, n in most.items()
        }
        _set(self, column=column, most=tuple(frozen.items()))

    def __str__(self) -> str:
        parts = [
            f"{amount:,} {kind} of each {self.column}"
            if isinstance(amount, int)
            else ", ".join(f"{number:,} {kind} of {self.column} {value}" for value, number in amount)
            for kind, amount in self.most
        ]
        return ", ".join(parts)


@dataclass(frozen=True, init=False)
class Pools:
    """A machine of several pools, each with resources and a queue of its own, closed windows, and limits.

    Which GPU, node or socket a job gets is not simulated: in a pool a job fits if enough of each resource is free. What
    policies count, such as the usage of a user, they count in each pool by itself; limits count over all pools.

    Parameters
    ----------
    pools : mapping of str to Pool or int, optional
        The pools by name; a number is one of processors.
    closed : iterable of Closed
        When pools are closed. The windows of a pool must not overlap.
    limits : iterable of Limit
        What the running jobs of one user, account, ... hold at most.
    on_closure : {"requeue", "kill"}
        What happens to a job that is ended at the begin of a window: it is queued again in its old place, with its
        whole run time, or stays ended.
    column : str
        The column that says which partition each job belongs to.
    **named : Pool or int
        Further pools, by name.

    Examples
    --------
    >>> import schedlab as sl
    >>> machine = sl.Pools(
    ...     cpu=sl.Pool(256, partitions=("short", "debug")),
    ...     gpu=sl.Pool(64, gpus=16, partitions="long"),
    ...     limits=[sl.Limit("user", running=4)],
    ... )
    >>> machine.procs, machine.resources
    (320, ('procs', 'gpus'))
    """

    part: ClassVar[str] = "pool"  # what each is called

    pools: tuple[tuple[str | int, Pool], ...]
    closed: tuple[Closed, ...]
    limits: tuple[Limit, ...]
    on_closure: str
    column: str

    def __init__(self, pools=None, /, *, closed=(), limits=(), on_closure="requeue", column="partition", **named):
        check_known("on_closure", on_closure, ON_CLOSURE)
        pools = {**(pools or {}), **named}
        pools = {_plain(name): pool if isinstance(pool, Pool) else Pool(pool) for name, pool in pools.items()}
        if not pools:
            raise ValueError("a machine needs at least one pool, such as cpu=sl.Pool(procs=64)")
        check_procs(sum(dict(pool.amounts)["procs"] for pool in pools.values()))
        closed = (closed,) if isinstance(closed, Closed) else tuple(closed)
        limits = (limits,) if isinstance(limits, Limit) else tuple(limits)
        _set(self, pools=tuple(pools.items()), closed=closed, limits=limits, on_closure=on_closure, column=column)
        self._check(pools)

    def _check(self, pools):
        if len(self.resources) > MOST_RESOURCES:
            listed = ", ".join(self.resources)
            raise ValueError(f"the pools have {listed}, expected at most {MOST_RESOURCES} resources in all")
        served = [(partition, name) for name, pool in pools.items() for partition in pool.partitions or (name,)]
        of = {}
        for partition, name in served:
            if of.setdefault(partition, name) != name:
                raise ValueError(
                    f"partition {partition!r} is served by pools {of[partition]!r} and {name!r}, not by one"
                )
        for window in self.closed:
            if not isinstance(window, Closed):
                raise TypeError(f"closed has {window!r}, expected windows such as sl.Closed(begin, end)")
            if window.pool is not None and window.pool not in pools:
                known = f"known: {', '.join(map(str, pools))}{suggestion(window.pool, pools)}"
                raise ValueError(f"unknown pool of a closed window {window.pool!r}; {known}")
            for name, pool in pools.items():
                has = dict(pool.amounts)
                for resource, amount in window.amounts if window.pool in (None, name) else ():
                    if amount > has.get(resource, 0):
                        amount = pool.shown(resource, has[resource]) if resource in has else f"no {resource}"
                        raise ValueError(f"{window}: pool {name!r} has {amount}")
        for limit in self.limits:
            if not isinstance(limit, Limit):
                raise TypeError(f"limits has {limit!r}, expected limits such as sl.Limit('user', running=20)")
            for kind, _ in limit.most:
                if kind != "running" and kind not in self.resources:
                    known = ", ".join(self.resources)
                    raise ValueError(f"limit of {limit}: no pool has {kind}; they have {known}")

    @property
    def resources(self) -> tuple[str, ...]:
        """The resources of all pools, processors first."""
        return tuple(dict.fromkeys(name for _, pool in self.pools for name, _ in pool.amounts))

    @property
    def procs(self) -> int:
        """Processors of all pools."""
        return int(self.capacity[:, 0].sum())

    @property
    def capacity(self) -> np.ndarray:
        """What each pool has of each resource, 0 where it does not count it; int64, shape (n_pools, n_resources)."""
        return np.array([[dict(pool.amounts).get(name, 0) for name in self.resources] for _, pool in self.pools])

    @property
    def is_flat(self) -> bool:
        """Whether pools are nothing but processors, side by side: one resource, no windows, no limits."""
        return len(self.resources) == 1 and not self.closed and not self.limits

    @property
    def in_parts(self) -> bool:
        """Whether its pools can be simulated one by one, some of them as nothing but processors."""
        return not self.limits and (len(self.pools) > 1 or self.is_flat)

    @property
    def keeps_promises(self) -> bool:
        """Whether a start can be promised: not if a job may come within its limits again, or a window become known."""
        return not self.limits and not self.interrupts

    @property
    def interrupts(self) -> bool:
        """Whether windows may end running jobs: some are announced late."""
        return any(window.announced < inf for window in self.closed)

    def parts(self) -> list["Flat | Pools"]:
        """Return each pool as a machine of its own, with its windows: `Flat` if it is nothing but processors."""
        parts = []
        for name, pool in self.pools:
            closed = [window for window in self.closed if window.pool in (None, name)]
            is_flat = len(pool.amounts) == 1 and not closed
            pools = Pools({name: pool}, closed=closed, on_closure=self.on_closure, column=self.column)
            parts.append(Flat(pools.procs) if is_flat else pools)
        return parts

    def __str__(self) -> str:
        pools = [f"{name} ({pool})" for name, pool in self.pools]
        further = [f"{len(self.closed)} closed window{'s' * (len(self.closed) > 1)}"] if self.closed else []
        further += [f"at most {limit}" for limit in self.limits]
        return f"pools {', '.join(pools)}{''.join(f'; {text}' for text in further)}"

    def places(self, jobs, names) -> np.ndarray:
        """Return the pool in which each job runs, as positions in `pools`; int64, shape (n_jobs,).

        Parameters
        ----------
        jobs, names : DataFrame, mapping
            `Trace.jobs` and `Trace.names`.
        """
        partitions = {part: i for i, (name, pool) in enumerate(self.pools) for part in pool.partitions or (name,)}
        if len(self.pools) == 1 and not self.pools[0][1].partitions and self.column not in jobs:
            return np.zeros(len(jobs), np.int64)
        if self.column not in jobs:
            known = f"{', '.join(jobs.columns)}{suggestion(self.column, jobs.columns)}"
            raise ValueError(f"no column {self.column!r} to tell partitions by; known: {known}")
        values = jobs[self.column]
        known = names.get(self.column, {})
        # A name takes precedence over a number: a partition may be called "1".
        of_value = {
            value: partitions.get(known.get(value, value), partitions.get(value, -1)) for value in values.unique()
        }
        places = values.map(of_value).to_numpy("int64")
        if (places < 0).any():
            others = values[places < 0].map(lambda value: known.get(value, value))
            counts = others.value_counts(dropna=False)
            other = counts.index.tolist()[0]
            unknown = pd.isna(other) or other == -1
            which = f"without {self.column}" if unknown else f"of {self.column} {other!r}"
            expected = f"expected one of {', '.join(map(repr, partitions))}"
            raise ValueError(f"{counts.iloc[0]:,} jobs {which}, {expected}; trace.where() leaves jobs out")
        return places

    def demands(self, jobs, places: np.ndarray) -> np.ndarray:
        """Return how much of each resource of its pool each job needs; int64, shape (n_jobs, n_resources).

        Parameters
        ----------
        jobs : DataFrame
            `Trace.jobs`.
        places : int64, shape (n_jobs,)
            The pool of each job.
        """
        demands = np.zeros((len(jobs), len(self.resources)), np.int64)
        for column, resource in enumerate(self.resources):
            counted = np.array([resource in dict(pool.amounts) for _, pool in self.pools])[places]
            if counted.any():
                demands[counted, column] = _demand(jobs, resource)[counted]
        whole = np.array([pool.unit == "nodes" for _, pool in self.pools])[places]
        if whole.any():
            demands[whole, 0] = _nodes(jobs)[whole]
        return demands

    def too_large(self, demands: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Tell which jobs need more than their pool has of some resource; bool, shape (n_jobs,).

        Parameters
        ----------
        demands, places : int64, shapes (n_jobs, n_resources) and (n_jobs,)
            As from `demands` and `places`.
        """
        return (demands > self.capacity[places]).any(axis=1)

    def unfit(self, jobs, names) -> np.ndarray:
        """Tell which jobs can never run: they need more than their pool has; bool, shape (n_jobs,).

        Parameters
        ----------
        jobs, names : DataFrame, mapping
            `Trace.jobs` and `Trace.names`.
        """
        places = self.places(jobs, names)
        return self.too_large(self.demands(jobs, places), places)

    def check_fit(self, jobs, demands: np.ndarray, places: np.ndarray) -> None:
        """Raise if a job can never run: it needs more than its pool has.

        Parameters
        ----------
        jobs, demands, places : DataFrame, int64, int64
            As in `demands` and `too_large`.
        """
        large = np.flatnonzero(self.too_large(demands, places))
        if large.size:
            job = large[0]
            name, pool = self.pools[places[job]]
            column = int(np.argmax(demands[job] > self.capacity[places[job]]))
            resource = self.resources[column]
            asks = pool.shown(resource, demands[job, column])
            has = pool.shown(resource, self.capacity[places[job], column])
            more = f"; {large.size:,} jobs do not fit" if large.size > 1 else ""
            raise ValueError(
                f"job {jobs.index[job]} asks for {asks}, {self.part} {name!r} has {has}{more}; {LEAVES_OUT}"
            )


def _set(instance, **values):
    for name, value in values.items():
        object.__setattr__(instance, name, value)  # the class is frozen


def _plain(name):
    return name.item() if isinstance(name, np.generic) else name


def _is_whole(amount):
    return isinstance(amount, Integral) and not isinstance(amount, bool)


def _kilobytes(text):
    amount = kilobytes(text.strip().upper().removesuffix("IB").removesuffix("B").replace(" ", ""))
    if amount != amount:
        raise ValueError(f"memory is {spelt(text)}, expected {A_MEMORY}")
    return int(amount)


def memory_unit(amount: int) -> tuple[str, int]:
    """Return the largest unit in which an amount of KB is at least 1, and how many KB it has."""
    power = max(0, min(3, int(np.log2(max(amount, 1)) // 10)))
    return ("KB", "MB", "GB", "TB")[power], 1024**power


def _memory(amount):
    unit, size = memory_unit(amount)
    return f"{amount / size:,.4g} {unit}"


def _demand(jobs, resource):
    """Return the demand of each job for a resource, 0 if it asks for none or that is unknown; int64."""
    procs = jobs["requested_procs"].to_numpy("float64")
    if resource == "procs":
        return procs.astype("int64")
    if resource == "memory":
        return np.maximum(jobs["requested_memory"].to_numpy("float64") * procs, 0).astype("int64")
    name = trace_columns.Columns(jobs).name_of(resource)
    if name is None:
        known = f"{', '.join(jobs.columns)}{suggestion(resource, jobs.columns)}"
        raise ValueError(f"no column {resource!r} that says how much of it jobs need; known: {known}")
    return np.maximum(np.ceil(np.nan_to_num(_numbers(jobs[name]), nan=0.0)), 0).astype("int64")


def _nodes(jobs):
    columns = trace_columns.Columns(jobs)
    name = next(filter(None, map(columns.name_of, NODES)), None)
    if name is None:
        expected = f"expected one of {', '.join(NODES)}"
        raise ValueError(f"no column says how many nodes jobs take, {expected}; of a trace in nodes leave out unit=")
    return np.maximum(_numbers(jobs[name]), 1).astype("int64")


def _numbers(values):
    try:
        return values.to_numpy("float64", na_value=np.nan)
    except (TypeError, ValueError):
        raise ValueError(f"column {values.name!r} has {values.iloc[0]!r}, expected numbers") from None


def check_apart(pool, windows: Iterable[tuple[int, int, Closed]]) -> None:
    """Raise if windows of a pool overlap: (begin, end, window), in seconds and sorted by begin."""
    for (_, end, before), (begin, _, after) in pairwise(windows):
        if begin < end:
            raise ValueError(f"pool {pool!r} has windows that overlap: {before}, and {after}; make them one")
