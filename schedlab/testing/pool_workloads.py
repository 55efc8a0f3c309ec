"""Tiny workloads on machines of several pools, with resources, closed windows and limits."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from schedlab.machine import Pools
from schedlab.machine.pools import Closed, Limit, Pool
from schedlab.schemes import Case, scheme
from schedlab.schemes.cases import case_of
from schedlab.workload.conventions import KEEP

from .workloads import LATEST, Workload, copied, tiny

GPUS = 3
POOL = "pool"  # the column that tells the pool


@dataclass(frozen=True, eq=False)
class PoolWorkload(Workload):
    """Jobs for a check on a machine of pools; the pool and the GPUs of a job follow from its `who`.

    Attributes
    ----------
    machine : Pools
        Windows are on the clock of the log.
    """

    machine: Pools | None = None

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """As of `Workload`, and pool and GPUs of each job."""
        pools = len(self.machine.pools)
        return super().columns | {POOL: self.who % pools, "gpus": self.who // pools % (GPUS + 1)}

    @cached_property
    def case(self) -> Case:
        """The case that a scheme simulates."""
        case, _ = case_of(self.trace(), scheme("fcfs"), self.machine, self.overrun)
        object.__setattr__(self, "_jobs", copied(case).jobs)
        return case

    def limited(self, *limits: Limit) -> "PoolWorkload":
        """Return the same with other limits."""
        settings = {name: getattr(self.machine, name) for name in ("closed", "on_closure", "column")}
        return replace(self, machine=Pools(dict(self.machine.pools), limits=limits, **settings))

    def __str__(self) -> str:
        rows = pd.DataFrame(self.rows, columns=["submit", "run", "estimate", "procs"])
        rows.insert(0, "job", self.numbers)
        columns = self.columns
        names = np.array([name for name, _ in self.machine.pools])
        rows = rows.assign(gpus=columns["gpus"], pool=names[columns[POOL]], user=columns["user_id"])
        return f"on {self.machine},\noverrun {self.overrun}:\n{rows.to_string(index=False)}"


def tiny_in_pools(count: int, overruns: tuple[str, ...]) -> list[PoolWorkload]:
    """Draw so many tiny workloads, under these rules for jobs that outlive their estimates."""
    random = np.random.default_rng(58)
    overruns = [rule for rule in overruns if rule != KEEP]  # jobs in pools end at their estimates
    workloads = []
    for plain in tiny(count, overruns):
        columns = {name: getattr(plain, name) for name in ("rows", "procs", "overrun", "numbers", "who", "of")}
        workloads.append(PoolWorkload(**columns, machine=_machine(random, plain.procs)))
    return workloads


def _machine(random, procs):
    pools = {}
    closed = []
    for place, name in enumerate("abc"[: random.integers(1, 4)]):
        gpus = GPUS if random.random() < 0.7 else None
        pools[name] = Pool(procs, gpus=gpus, partitions=(place,))
        begin = 0
        for _ in range(random.integers(0, 3)):
            begin += int(random.integers(0, LATEST))
            end = begin + int(random.integers(1, LATEST))
            amounts = [{}, {"procs": 1}, {"gpus": 1} if gpus else {}][random.integers(3)]
            announced = [None, 0, 2][random.integers(3)]
            closed.append(Closed(begin, end, name, announced, **amounts))
            begin = end
    few = [Limit("user", running=1), Limit(POOL, running=2)]
    limits = [[], few, [Limit(POOL, running=1), Limit("user", procs=procs)]][random.integers(3)]
    closure = ("requeue", "kill")[random.integers(2)]
    return Pools(pools, closed=closed, limits=limits, on_closure=closure, column=POOL)
