"""Schemes in plain Python on machines of several pools: the passes of a simulation, and the `PoolState` of each pool.

`schedlab.kernels.pools` says what happens at one instant, and when a pool has a pass. Before the first submission there
are none.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from heapq import heapify, heappop
from operator import add, le, sub

import numpy as np

from schedlab._runtime.threads import go_on
from schedlab.kernels.pools import BEGINS, ENDS
from schedlab.machine import Pools

from .pooled import outcome_of
from .steps import ARRIVED, MOST, OFTEN, Job, JobList, State, put, read_only, still_waiting


class Amounts(Mapping):
    """Amounts by resource, read-only. They are compared as a whole: a job fits if ``job.demand <= state.free``."""

    __slots__ = ("_names", "_values")

    def __init__(self, names, values):
        self._names = names
        self._values = tuple(values)

    def __getitem__(self, name):
        if name not in self._names:
            raise KeyError(f"{name!r}; known: {', '.join(self._names)}")
        return self._values[self._names.index(name)]

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __repr__(self) -> str:
        return ", ".join(f"{value} {name}" for name, value in self.items())

    def __add__(self, other):
        return Amounts(self._names, map(add, self._values, other._values))

    def __sub__(self, other):
        return Amounts(self._names, map(sub, self._values, other._values))

    def __le__(self, other):
        return all(map(le, self._values, self._other(other)))

    def __ge__(self, other):
        return all(map(le, self._other(other), self._values))

    def __lt__(self, other):
        self._other(other)
        raise TypeError("compare amounts of several resources by <= or >=, which hold if they do for each resource")

    __gt__ = __lt__

    def _other(self, other):
        if not isinstance(other, Amounts):
            listed = " and ".join(self._names)
            name = self._names[0]
            instead = f"compare job.demand with state.free, or take one resource, such as state.free[{name!r}]"
            raise TypeError(f"amounts of {listed} are compared with {other!r}: {instead}")
        return other._values


class WithinLimits(JobList):
    """A queue from which a loop leaves out jobs that starts earlier in the loop have pushed over a limit."""

    __slots__ = ("_state",)

    def __init__(self, jobs, state):
        super().__init__(jobs)
        object.__setattr__(self, "_state", state)

    def __iter__(self):
        state = self._state
        return (job for job in super().__iter__() if job not in state._queue or state.within_limits(job))


class PoolState(State):
    """What a scheme can see and do at a pass in one pool (`schedlab.Pools`), as in a `State`, with these differences.

    Queue, running jobs, reservations and `memory` are those of the pool; `pool` is its name. A pool also has a pass
    when a closed window becomes known, begins or ends, and, if a job was over a limit in its last pass, when a job ends
    in another pool.

    - If the pool has several resources, `procs`, `free`, `free_at` and `Job.demand` are mappings by resource, such as
      ``state.free["gpus"]``; so are the levels of `profile`. ``job.demand <= state.free`` compares all of them.
    - What is closed is not free. `profile`, `free_at`, `fits` and `earliest` count the windows that are known; less
      than nothing is free in a window that will end jobs.
    - Waiting jobs over a limit are not in the queue; a loop over the queue also leaves out those that starts in the
      loop push over it. `fits` says False for them. `within_limits` tells about jobs in a list of your own, such as a
      sorted one. To start such a job or make it a reservation is a `SchemeError`.

    Examples
    --------
    >>> import schedlab as sl
    >>> @sl.python_scheme
    ... def first_fit(state):
    ...     for job in state.queue:
    ...         if state.fits(job):
    ...             state.start(job)
    >>> trace = sl.testing.trace_of([(0, 50, 60, 3), (10, 30, 30, 4)], machine=4)
    >>> machine = sl.Pools({"batch": sl.Pool(4)}, closed=[sl.Closed(20, 100)], column="pool")
    >>> sl.simulate(trace, first_fit, machine=machine).jobs["start_time"].tolist()
    [100, 150]
    """

    __slots__ = ("_pass", "_pool", "_shared", "_windows")

    def __init__(self, shared, place):
        case = shared.case
        whole = shared.whole
        windows = case.pooled.windows
        name, pool = case.machine.pools[place]
        resources = [resource for resource, _ in pool.amounts]
        columns = [case.machine.resources.index(resource) for resource in resources]

        def amounts(row):
            values = [int(row[column]) for column in columns]
            return values[0] if len(values) == 1 else Amounts(tuple(resources), values)

        for job in whole._jobs:
            if case.places[job.place] == place:
                put(job, "demand", amounts(case.pooled.demand[job.place]))
        capacity = amounts(case.pooled.capacity[place])
        attributes = {
            "procs": capacity,
            "free": capacity,
            "memory": {},
            "_queue": {},
            "_ends": [],
            "_alarms": [],
            "_reservations": {},
            "_time": [],
            "_level": [],
            "_pool": (name, pool),
            "_shared": shared,
            "_windows": {row: _Window(windows, row, amounts) for row in range(*windows.first[place : place + 2])},
            "_pass": {"touched": False, "passed over": False},
        }
        for slot in State.__slots__:
            put(self, slot, attributes.pop(slot) if slot in attributes else getattr(whole, slot))
        for slot, value in attributes.items():
            put(self, slot, value)

    def __repr__(self) -> str:
        free = ", ".join(
            f"{left} of {have}" for left, have in zip(*map(self._texts, (self.free, self.procs)), strict=True)
        )
        jobs = f"{len(self._queue)} jobs wait, {len(self._ends)} run"
        return f"<State of pool {self.pool!r} at {self.now} s: {free} free, {jobs}>"

    @property
    def pool(self) -> str | int:
        """The name of the pool that the pass is in."""
        return self._pool[0]

    @property
    def queue(self) -> JobList:
        """The waiting jobs within their limits, first come first served. Starting jobs does not change it."""
        if not self._shared.limits:
            return JobList(self._queue)
        return WithinLimits([job for job in self._queue if self.within_limits(job)], self)

    @property
    def profile(self) -> tuple[np.ndarray, np.ndarray | Mapping[str, np.ndarray]]:
        """The availability profile: instants, and what is free from each of them on, by estimates and known windows."""
        time, level = self._steps()
        if isinstance(self.procs, int):
            return read_only(time, np.int64), read_only(level, np.int64)
        rows = zip(*(amounts.values() for amounts in level), strict=True)
        return read_only(time, np.int64), {
            name: read_only(row, np.int64) for name, row in zip(self.procs, rows, strict=True)
        }

    def within_limits(self, job: Job) -> bool:
        """Tell whether a waiting job's start, besides what runs now in all pools, would exceed no limit."""
        shared = self._shared
        for cell, amount in shared.counted[job.place]:
            if shared.held[cell] + amount > shared.most[cell]:
                self._pass["passed over"] = True
                return False
        return True

    def fits(self, job: Job) -> bool:
        """Tell whether a waiting job can start now, by its estimate.

        That is if it exceeds no limit, runs into no window that is known, and delays no reservation of this pass.
        """
        if not self.within_limits(job):
            return False
        if self._reservations or not self._is_to_close():
            return super().fits(job)
        return job.demand <= self.free and self._stays_free(job.demand, self.now, self.now + job.estimate)

    def start(self, job: Job) -> None:
        """Start a waiting job now; its own reservation then ends. It is a `SchemeError` unless `fits` says True."""
        self._check_limits(job, f"start(job {getattr(job, 'number', job)})")
        if self._is_to_close():
            self._steps()  # the start is then checked against the profile
        super().start(job)
        self._shared.count(job, 1)

    def reserve(self, job: Job, time: int) -> None:
        """Reserve what a waiting job needs from an instant on, for this pass only.

        It is a `SchemeError` where it is for `State.reserve`, in a known window, and for a job over a limit.
        """
        self._check_limits(job, f"reserve(job {getattr(job, 'number', job)}, {time!r})")
        super().reserve(job, time)

    def _check_limits(self, job, what):
        """Raise if a waiting job is over a limit."""
        if type(job) is Job and job in self._queue and not self.within_limits(job):
            self._fail(f"{what}: {self._shared.excess(job)}; state.within_limits(job) tells")

    def _is_to_close(self):
        """Tell whether a window to come is known."""
        return any(window.begin > self.now >= window.known for window in self._windows.values())

    def _steps(self):
        time = self._time
        level = self._level
        if time:
            return time, level
        changes = {}
        for end, _, job in self._ends:
            changes[end] = changes[end] + job.demand if end in changes else job.demand
        nothing = self.procs - self.procs
        for window in self._windows.values():
            if window.known <= self.now < window.end:
                if window.begin > self.now:
                    changes[window.begin] = changes.get(window.begin, nothing) - window.closed
                changes[window.end] = changes.get(window.end, nothing) + window.closed
        free = self.free
        time.append(self.now)
        level.append(free)
        for instant in sorted(changes):
            free = free + changes[instant]
            time.append(instant)
            level.append(free)
        for job, begin in self._reservations.items():
            self._take(begin, begin + job.estimate, job.demand)
        return time, level

    def _by_resource(self, amounts):
        return {"procs": amounts} if isinstance(amounts, int) else amounts

    def _texts(self, amounts):
        """Return each amount in words."""
        pool = self._pool[1]
        return [pool.shown(resource, amount) for resource, amount in self._by_resource(amounts).items()]

    def _shortage(self, demand, free):
        demand = self._by_resource(demand)
        free = self._by_resource(free)
        short = [name for name in demand if demand[name] > free[name]] or list(demand)
        needs = ", ".join(self._texts({name: demand[name] for name in short}))
        if len(short) == 1 and short != ["memory"]:
            return needs, f"{free[short[0]]:,}"
        return needs, ", ".join(self._texts({name: free[name] for name in short}))

    def _has_no_room(self, job, time):
        self._fail(f"reserve(job {job.number}, {time}): {self._first_shortage(job, time, time + job.estimate)[0]}")

    def _delays(self, job, until):
        shortage, closed = self._first_shortage(job, self.now, until)
        if not closed:
            super()._delays(job, until)
        self._fail(f"start(job {job.number}): {shortage}")

    def _first_shortage(self, job, begin, end):
        """Say where a job first has no room in [begin, end), and tell whether that is in a window."""
        time, level = self._steps()
        places = range(bisect_right(time, begin) - 1, bisect_left(time, end))
        place = next(place for place in places if not job.demand <= level[place])
        instant = max(begin, time[place])
        needs, left = self._shortage(job.demand, level[place])
        windows = [window for window in self._windows.values() if window.begin <= instant < window.end]
        closed = f": the pool has a closed window from {windows[0].begin} to {windows[0].end} s" if windows else ""
        return f"it needs {needs} until {end} s, {left} are free at {instant} s{closed}", bool(windows)

    def _refuse(self, job, what):
        if isinstance(job, Job) and job.start is None and job.place < len(self._jobs):
            pool = self._shared.states[self._shared.case.places[job.place]]
            if pool is not self and job in pool._queue:
                self._fail(f"{what}(job {job.number}): it waits in pool {pool.pool!r}, this is a pass in {self.pool!r}")
        super()._refuse(job, what)

    def _open_pass(self, now):
        """Begin an instant: reservations lasted until now."""
        put(self, "now", now)
        self._reservations.clear()
        self._forget_profile()
        self._pass["touched"] = False
        while self._alarms and self._alarms[0] <= now:
            heappop(self._alarms)
            self._pass["touched"] = True

    def _release(self, job, entry):
        """Give back what a running job holds."""
        del self._ends[entry]
        put(self, "free", self.free + job.demand)
        self._shared.count(job, -1)
        self._pass["touched"] = True
        for state in self._shared.states:  # its end may bring jobs of any pool within a limit
            state._pass["touched"] |= state._pass["passed over"]

    def _queue_again(self, job):
        """Queue a job in its old place."""
        put(job, "start", None)
        put(job, "end", None)
        waiting = sorted([*self._queue, job], key=lambda job: job.place)
        self._queue.clear()
        self._queue.update(dict.fromkeys(waiting))


class _Window:
    """A closed window of a pool, in its resources; seconds since the first submission."""

    __slots__ = ("begin", "closed", "end", "known")

    def __init__(self, windows, row, amounts):
        self.begin, self.end, self.known = (int(column[row]) for column in (windows.begin, windows.end, windows.known))
        self.closed = amounts(windows.closed[row])


class PoolSimulation:
    """The simulation of a machine of pools: what its states share, and how time goes on."""

    def __init__(self, case, scheme):
        self.case = case
        self.whole = State(case, scheme)  # the jobs of all pools
        limits = case.pooled.limits
        self.limits = [(limit.column, kind) for limit in case.machine.limits for kind, _ in limit.most]
        # Of each job, the counter that each limit adds to, -1 for none, and how much; and without those of none.
        rows = zip(limits.cell.tolist(), limits.amount.tolist(), strict=True)
        self.cells = [list(zip(cells, amounts, strict=True)) for cells, amounts in rows]
        self.counted = [[(cell, amount) for cell, amount in row if cell >= 0] for row in self.cells]
        self.most = limits.most.tolist()
        self.held = [0] * len(self.most)
        self.interrupted = []
        self.states = [PoolState(self, place) for place in range(len(case.machine.pools))]

    def __repr__(self) -> str:
        return ", ".join(map(repr, self.states))

    def count(self, job: Job, sign: int) -> None:
        """Count a job that begins (1) or ends (-1) in the limits."""
        for cell, amount in self.counted[job.place]:
            self.held[cell] += sign * amount

    def excess(self, job: Job) -> str:
        """Return the limit that the start of a waiting job would exceed, in words."""
        rows = zip(self.limits, self.cells[job.place], strict=True)
        (column, kind), cell, amount = next(
            (limit, cell, amount)
            for limit, (cell, amount) in rows
            if cell >= 0 and self.held[cell] + amount > self.most[cell]
        )
        most = f"its {column} may have {self.most[cell]:,} {kind} at most"
        return f"{most}, has {self.held[cell]:,}, and the job adds {amount:,}"

    def _passes(self) -> Iterator[PoolState]:
        """Advance from instant to instant; yield the state of each pool in which something has happened."""
        clock = self.whole._clock
        counts = self.whole._counts
        completions = self.whole._completions
        jobs = self.whole._jobs
        states = self.states
        places = self.case.places.tolist()
        submits = [*(job.submit for job in jobs), MOST]
        events = self.case.pooled.windows.event.tolist()
        coming = 0  # the next event
        passes = 0
        while counts[ARRIVED] < len(jobs) or completions or any(state._queue for state in states):
            instants = [submits[counts[ARRIVED]], *(state._alarms[0] for state in states if state._alarms)]
            instants += [events[coming][0]] if coming < len(events) else []
            instants += [completions[0][0]] if completions else []
            now = min(instants)
            clock.pool = None
            if now == MOST:
                waiting = [job for state in states for job in state._queue]
                still_waiting(clock, sorted(waiting, key=lambda job: job.place))
            clock.now = now
            for state in states:
                state._open_pass(now)
            while completions and completions[0][0] == now:
                _, begun, job = heappop(completions)
                state = states[places[job.place]]
                state._release(job, bisect_left(state._ends, (job.end, begun)))
            while coming < len(events) and events[coming][0] == now:
                self._happen(*events[coming][1:])
                coming += 1
            while submits[counts[ARRIVED]] == now:
                job = jobs[counts[ARRIVED]]
                state = states[places[job.place]]
                state._queue[job] = None
                state._pass["touched"] = True
                counts[ARRIVED] += 1
            if now < 0:
                continue
            for state in states:
                if state._pass["touched"]:
                    state._pass["passed over"] = False
                    clock.pool = state.pool
                    if passes % OFTEN == 0:
                        go_on()
                    passes += 1
                    yield state

    def _happen(self, row, kind, place):
        """Let a window become known, begin or end."""
        state = self.states[place]
        state._pass["touched"] = True
        window = state._windows[row]
        if kind == ENDS:
            put(state, "free", state.free + window.closed)
            del state._windows[row]
        if kind == BEGINS:
            put(state, "free", state.free - window.closed)
            nothing = state.free - state.free
            while not nothing <= state.free:
                self._end_latest(state)

    def _end_latest(self, state):
        """End the running job that started last; of equal starts the later in the log."""
        entries = range(len(state._ends))
        entry = max(entries, key=lambda entry: (state._ends[entry][2].start, state._ends[entry][2].place))
        _, begun, job = state._ends[entry]
        completions = self.whole._completions
        completions.remove((job.start + self.whole._run[job.place], begun, job))
        heapify(completions)
        self.interrupted.append((job.place, job.start, state.now))
        state._release(job, entry)
        if self.case.pooled.requeues:
            state._queue_again(job)

    def _outcome(self):
        start = np.array([job.start for job in self.whole._jobs], np.int64)
        ended = np.array(self.interrupted, np.int64).reshape(-1, 3).T
        return outcome_of(self.case, start, self.whole._promise, *ended)


def simulation_of(case, scheme) -> State | PoolSimulation:
    """Return the simulation of a case, in which the caller decides at each pass."""
    return PoolSimulation(case, scheme) if isinstance(case.machine, Pools) else State(case, scheme)


def decided(decide: Callable[[State], None], case, scheme):
    """Return the outcome of a case in which a function of the `State` decides at each pass."""
    simulation = simulation_of(case, scheme)
    for state in simulation._passes():
        decide(state)
    return simulation._outcome()
