"""Machines of several pools in the form that the kernels take: demands, windows and limits as arrays."""

from typing import NamedTuple

import numpy as np

from schedlab._runtime.threads import interruptible
from schedlab.kernels.cluster import NAN
from schedlab.kernels.pools import BEGINS, ENDS, KNOWN, RESOURCES, Limits, Windows, interrupted, new_pools
from schedlab.machine import Pools
from schedlab.machine.pools import MOST, check_apart
from schedlab.workload.columns import codes_of, holds_numbers

from .outcomes import Interrupted

LATEST = 2**52  # seconds; with run times, keys of the kernels' queues stay below 2**53
ALWAYS = -1  # in `Windows.known`: before the first submission


class Pooled(NamedTuple):
    """What a case on `Pools` has beyond the jobs; amounts are padded with zeros to `RESOURCES` columns."""

    demand: np.ndarray  # int64 of shape (n_jobs, 4)
    capacity: np.ndarray  # int64 of shape (n_pools, 4)
    windows: Windows
    limits: Limits
    requeues: bool

    def of(self, jobs) -> "Pooled":
        """Return the same of some jobs, by a slice or positions."""
        limits = self.limits._replace(cell=self.limits.cell[jobs], amount=self.limits.amount[jobs])
        return self._replace(demand=self.demand[jobs], limits=limits)

    def pool(self, place: int, resources: list[int]) -> "Pooled":
        """Return the same of one pool alone, with the columns of its own resources; its jobs are chosen by `of`."""
        windows = self.windows
        mine = slice(windows.first[place], windows.first[place + 1])
        event = windows.event[windows.event[:, 3] == place] - [0, windows.first[place], 0, place]
        first = np.array([0, windows.first[place + 1] - windows.first[place]])
        columns = (column[mine] for column in (windows.begin, windows.end, windows.known))
        windows = Windows(first, *columns, _padded(windows.closed[mine][:, resources]), event)
        demand = _padded(self.demand[:, resources])
        return self._replace(demand=demand, capacity=_padded(self.capacity[[place]][:, resources]), windows=windows)

    def known_at(self, now: int) -> "Pooled":
        """Return the same without the windows that are not known at an instant."""
        windows = self.windows
        known = np.flatnonzero(windows.known <= now)
        first = np.searchsorted(known, windows.first)
        event = windows.event[np.isin(windows.event[:, 1], known)].copy()
        event[:, 1] = np.searchsorted(known, event[:, 1])
        columns = (column[known] for column in (windows.begin, windows.end, windows.known, windows.closed))
        return self._replace(windows=Windows(first, *columns, event))

    @property
    def most_runs(self) -> int:
        """The most runs that windows may end: those that were announced while jobs ran."""
        return int((self.windows.known != ALWAYS).sum()) * len(self.demand)


def pooled_of(trace, machine: Pools, places: np.ndarray, origin: int) -> Pooled:
    """Return the arrays of a trace's jobs on a machine of pools; times count from `origin`, a second of the log."""
    demand = machine.demands(trace.table, places)
    machine.check_fit(trace.table, demand, places)
    limits = _limits(trace, machine, demand)
    requeues = machine.on_closure == "requeue"
    return Pooled(_padded(demand), _padded(machine.capacity), _windows(trace, machine, origin), limits, requeues)


def pooled_alone(procs: np.ndarray, most: int) -> Pooled:
    """Return the arrays of jobs on a single pool of processors, without windows and limits."""
    none = np.zeros((4, 0), np.int64)
    windows = Windows(np.zeros(2, np.int64), *none[:3], np.zeros((0, RESOURCES), np.int64), none.T.copy())
    limits = Limits(*np.zeros((2, len(procs), 0), np.int64), none[0])
    return Pooled(_padded(procs[:, None]), _padded(np.array([[most]])), windows, limits, True)


def _padded(amounts):
    result = np.zeros((len(amounts), RESOURCES), np.int64)
    result[:, : amounts.shape[1]] = amounts
    return result


def seconds_of(trace, window) -> tuple[int, int]:
    """Return begin and end of a closed window on the clock of the log; raise if the end is not after the begin."""
    begin, end = (trace.seconds(instant) for instant in (window.begin, window.end))
    if not max(abs(begin), abs(end)) < LATEST:
        raise ValueError(f"{window}: expected a begin and an end of less than 2**52 seconds")
    if int(begin) >= int(end):
        raise ValueError(f"{window}: expected an end after the begin")
    return int(begin), int(end)


def _windows(trace, machine, origin):
    rows = []
    events = []
    first = [0]
    timed = [(*seconds_of(trace, window), window) for window in machine.closed]
    for place, (name, pool) in enumerate(machine.pools):
        mine = sorted((row for row in timed if row[2].pool in (None, name)), key=lambda row: row[0])
        check_apart(name, mine)
        for begin, end, window in mine:
            known = max(begin - origin - window.announced, ALWAYS)
            closed = dict(window.amounts) or dict(pool.amounts)
            at = len(rows)
            amounts = [closed.get(resource, 0) for resource in machine.resources]
            rows.append((begin - origin, end - origin, int(known), *amounts))
            events += [(begin - origin, at, BEGINS, place), (end - origin, at, ENDS, place)]
            events += [(int(known), at, KNOWN, place)] * (known != ALWAYS)
        first.append(len(rows))
    events.sort(key=lambda event: (event[0], event[2]))
    table = np.array(rows, np.int64).reshape(-1, 3 + len(machine.resources))
    begin, end, known = (np.ascontiguousarray(column) for column in table[:, :3].T)
    return Windows(np.array(first), begin, end, known, _padded(table[:, 3:]), np.array(events, np.int64).reshape(-1, 4))


def _limits(trace, machine, demand):
    cells = []
    amounts = []
    most = []
    for limit in machine.limits:
        name = trace.columns.name_of(limit.column)
        if name is None:
            codes_of(trace.columns, trace.names, limit.column)  # raises, with the columns that are known
        codes = trace.columns[limit.column]
        for kind, allowed in limit.most:
            if isinstance(allowed, int):
                values = np.unique(codes)
                bound = dict.fromkeys(values.tolist(), allowed)
            else:
                known = values_of(trace, limit.column)
                bound = {known[value]: number for value, number in allowed if value in known}  # notes tell the others
            cell_of = {value: len(most) + i for i, value in enumerate(bound)}
            most += bound.values()
            cell = np.array([cell_of.get(value, -1) for value in codes.tolist()], np.int64)
            amount = 1 if kind == "running" else demand[:, machine.resources.index(kind)]
            amount = np.where(cell >= 0, amount, 0)
            _check_alone(trace, limit, kind, amount, np.array([*most, MOST])[cell])  # -1 is the last
            cells.append(cell)
            amounts.append(amount)
    shape = (len(cells), len(demand))
    columns = (np.ascontiguousarray(np.array(rows, np.int64).reshape(shape).T) for rows in (cells, amounts))
    return Limits(*columns, np.array(most, np.int64))


def values_of(trace, column) -> dict:
    """Return the values of a column that a limit may name, each with its number in `Trace.columns`."""
    name = trace.columns.name_of(column)
    names = trace.names.get(name, {})
    if not names and not holds_numbers(trace.columns, name):
        return trace.columns.codes(column)
    numbers = [*names, *np.unique(trace.columns[column]).tolist()]
    return dict(zip(numbers, numbers, strict=True)) | {text: number for number, text in names.items()}


def _check_alone(trace, limit, kind, amount, most):
    """Raise if a job by itself exceeds a limit: it would wait for ever."""
    over = np.flatnonzero(amount > most)
    if over.size:
        job = over[0]
        more = f"; {over.size:,} jobs exceed it" if over.size > 1 else ""
        reason = f"job {trace.table.index[job]} alone has {amount[job]:,} {kind}, at most {most[job]:,} may run"
        raise ValueError(f"limit of {limit}: {reason}{more}; trace.where() leaves such jobs out")


def state_of(case, order):
    """Return the state of the idle machine of a case, as the kernels take it."""
    pooled = case.pooled
    places = np.require(case.places, np.int64, "CW")  # kernels would be compiled once more for arrays of pandas
    machine = places, pooled.demand, pooled.capacity, pooled.windows, pooled.limits, pooled.requeues, pooled.most_runs
    return new_pools(case.jobs, machine, order)


def counts_of(case) -> tuple[int, int, int]:
    """Return how many jobs, pools and windows there are."""
    return len(case), len(case.pooled.capacity), len(case.pooled.windows.begin)


def simulate(kernel, memory, case, order, *rules):
    """Run a kernel for pools; `memory` makes what it keeps besides the state. Return the outcome."""
    state = state_of(case, order)
    reserved = interruptible(kernel, state, memory(*counts_of(case)), order, *rules)
    check_order(state)
    return outcome_of(case, state.start, state.promise, *interrupted(state), reserved)


def check_order(state):
    """Raise if the order of the queue was not a number for some job."""
    if state.clock[NAN]:
        raise ValueError("the order of the queue gives nan")


def outcome_of(case, start, promise, job, begun, until, reserved=None):
    """Return the outcome of starts, promises, and the runs that windows ended: job, start and end of each."""
    if case.pooled.requeues:
        return case.outcome(start, promise, reserved=reserved, interrupted=Interrupted(job, begun, until))
    run = case.jobs.run.copy()
    run[job] = until - begun
    killed = np.zeros(len(case), bool) if case.cut is None else case.cut.copy()
    killed[job] = True
    return case.outcome(start, promise, reserved=reserved, run=run, killed=killed)
