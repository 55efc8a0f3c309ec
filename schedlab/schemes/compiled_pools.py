"""Compiled schemes on machines of several pools: a function that is called at each pass in a pool."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import overload

import numpy as np

from schedlab.kernels.cluster import BEGUN, NOW, WAITS
from schedlab.kernels.pool_parts import NO_ROOM, OTHER_POOL, OVER_LIMIT, RUNS
from schedlab.kernels.pools import (
    CULPRIT,
    FAULT,
    NO_ALARM,
    ONE,
    PASSED,
    TOUCHED,
    advance,
    first_of,
    interrupted,
    last_of,
    settle,
    sort_pool,
)
from schedlab.machine import Flat, Pools

from .base import Case, Outcome, can_promise
from .compiled import CompiledScheme, kernel_of, note_promise
from .orders import explained
from .pooled import check_order, counts_of, outcome_of, pooled_alone, state_of
from .steps import SchemeError

FAULTS = {
    OTHER_POOL: "waits in pool {other!r}, this is a pass in {pool!r}",
    OVER_LIMIT: "is over a limit: exceeds(c, job) tells",
    RUNS: "runs already",
    NO_ROOM: "does not fit from now on in pool {pool!r}: fits(c, pool, job) tells",
}


@dataclass(frozen=True)
class CompiledPoolScheme(CompiledScheme):
    """A scheme for `Pools`, made from a function of the kernels' parts; `schedlab.compiled_pool_scheme` makes it.

    Its fields are those of `CompiledScheme`.
    """

    machines = (Flat, Pools)
    overruns = ("kill", "extend")
    events = ("batched",)
    maker = "compiled_pool_scheme"
    takes = ("c", "pool")
    counts = ("jobs", "pools", "windows")

    def promises(self, machine: Flat | Pools) -> bool:
        return self.keeps and can_promise(machine)

    @explained
    def simulate(self, case: Case) -> Outcome:
        case = _in_pools(case)
        state, *others = self._arguments(case)
        promise, (now, pool, kind, job) = self._run(state, *others)
        if kind:
            names = [name for name, _ in case.machine.pools] if isinstance(case.machine, Pools) else ["all"]
            names = names if case.pool is None else [case.pool]
            wrong = FAULTS[int(kind)].format(pool=names[pool], other=names[case.places[job]])
            raise SchemeError(f"{self} at {now} s: job {case.number(int(job))} is started, but {wrong}")
        check_order(state)
        self._check_waiting(case, state.start, state.start.argmin() if (state.start == WAITS).any() else -1)
        return outcome_of(case, state.start, promise, *interrupted(state))

    def _kernel(self):
        return kernel_of(self.function, self.keeps, _simulation, len(self.takes))

    def _arguments(self, case):
        case = _in_pools(case)
        counts = counts_of(case)
        memory = self.memory(*counts) if callable(self.memory) else np.zeros((counts[1], self.memory), np.int64)
        order = self.queue(case)
        state = state_of(case, order)
        # What is not set yet is no job: whoever reads it gets an index outside all arrays.
        for jobs in (state.begun, state.queue.item, state.running.item, state.ends.item):
            jobs[:] = counts[0]
        return state, order, memory


@overload
def compiled_pool_scheme(
    function: Callable,
    *,
    memory: int | Callable = ...,
    order: str | Callable = ...,
    promises: bool = ...,
    in_order: bool = ...,
) -> "CompiledPoolScheme": ...
@overload
def compiled_pool_scheme(
    *, memory: int | Callable = ..., order: str | Callable = ..., promises: bool = ..., in_order: bool = ...
) -> "Callable[[Callable], CompiledPoolScheme]": ...
def compiled_pool_scheme(
    function: Callable | None = None,
    *,
    memory: int | Callable = 0,
    order: str | Callable = "fcfs",
    promises: bool = False,
    in_order: bool = False,
):
    """Make a scheme for `Pools` from a function of the kernels' parts (`schedlab.kernels.pool_parts`).

    As `schedlab.compiled_scheme`, for machines of several pools, with several resources, closed windows and limits; it
    also runs on one machine of processors, which is one pool. The function is called at each pass in a pool: where
    something has happened in it, after all completions, windows and arrivals of the instant.

    Parameters
    ----------
    function : function
        Takes the state `c` of the simulation, the number of the pool, and, if it has a third parameter, its memory.
    memory : int or function
        How many integers the scheme keeps of each pool from pass to pass, all 0 at the beginning: an array of shape
        (n_pools, memory). Or a function of (jobs, pools, windows), how many there are, that makes arrays, such as
        `schedlab.kernels.pool_parts.new_heads`.
    order, promises, in_order : optional
        As in `schedlab.compiled_scheme`.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.kernels.pool_parts import begin, exceeds, first_of, fits, last_of
    >>> @sl.compiled_pool_scheme
    ... def first_fit(c, pool):
    ...     place = first_of(c, c.queue, pool)
    ...     while place < last_of(c, c.queue, pool):
    ...         job = c.queue.item[place]
    ...         if not exceeds(c, job) and fits(c, pool, job):
    ...             place = begin(c, pool, place)
    ...         else:
    ...             place += 1
    >>> trace = sl.testing.trace_of([(0, 50, 60, 3), (10, 30, 30, 4)], machine=4)
    >>> machine = sl.Pools({"batch": sl.Pool(4)}, closed=[sl.Closed(20, 100)], column="pool")
    >>> sl.simulate(trace, first_fit, machine=machine).jobs["start_time"].tolist()
    [100, 150]
    """
    settings = {"memory": memory, "keeps": promises, "in_order": in_order}
    if function is None:
        return lambda function: CompiledPoolScheme(order, function=function, **settings)
    return CompiledPoolScheme(order, function=function, **settings)


def _in_pools(case):
    """Return a case as it is on pools: a machine of processors is one."""
    if case.pooled is not None:
        return case
    places = np.zeros(len(case), np.int64)
    return replace(case, places=places, pooled=pooled_alone(case.jobs.procs, case.machine.procs))


def _simulation(decide, noted):
    """Return the function to compile; see `schedlab.schemes.compiled`."""

    def simulate(c, order, memory, halt):
        n = c.start.size
        first = np.full(n if noted else 0, -1, np.int64)
        fault = np.zeros(4, np.int64)  # instant, pool, what is wrong, and the job
        questions = (order.question, order.question, order.question)
        while advance(c, NO_ALARM, halt):
            settle(c, questions, ONE)
            for pool in range(c.news.shape[0]):
                if c.news[pool, TOUCHED]:
                    c.news[pool, PASSED] = 0
                    if order.moving:
                        sort_pool(c, pool, order.question)
                    begun = c.clock[BEGUN]
                    decide(c, pool, memory)
                    if c.news[pool, FAULT]:
                        fault[0] = c.clock[NOW]
                        fault[1] = pool
                        fault[2] = c.news[pool, FAULT]
                        fault[3] = c.news[pool, CULPRIT]
                        return c.promise, fault
                    if noted:
                        for row in range(first_of(c.queue, pool), last_of(c.queue, pool)):
                            note_promise(c, first, c.queue.item[row])
                        for row in range(begun, c.clock[BEGUN]):
                            note_promise(c, first, c.begun[row])
        return first if noted else c.promise, fault

    return simulate
