"""Schemes in plain Python: the passes of a simulation, and the `State` that a scheme sees and changes in each."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from numbers import Integral
from typing import NoReturn

import numpy as np

from schedlab._runtime.text import spelt, suggestion
from schedlab._runtime.threads import go_on

from .values import Code

OFTEN = 1_000  # passes between two checks whether to continue
MOST = 2**62  # seconds
# What other simulators' schemes can do to running jobs.
PREEMPTION = "abort cancel checkpoint evict interrupt kill migrate pause preempt requeue resume stop suspend terminate"

ARRIVED, BEGUN = range(2)  # places in `State._counts`

put = object.__setattr__  # for what is read-only to schemes


class SchemeError(ValueError):
    """A scheme tried something impossible; the message names the scheme, the instant and the job."""


class _Clock:
    """What the jobs of a simulation share: their columns, and for messages the scheme, the instant and the pool."""

    __slots__ = ("columns", "now", "pool", "scheme")

    def __init__(self, scheme, columns, pool):
        self.scheme, self.columns, self.now = scheme, columns, 0
        self.pool = pool

    def __str__(self) -> str:
        where = "" if self.pool is None else f" in pool {self.pool!r}"
        return f"{self.scheme} at {self.now} s{where}"


class _ReadOnly:
    """What schemes can only look at: the simulation sets attributes by `put`."""

    __slots__ = ()

    def __setstate__(self, state):
        for name, value in state[1].items():
            put(self, name, value)


class Job(_ReadOnly):
    """A job as a scheme sees it; it is read-only.

    It has number, place (from 0, in the order of arrival), submit (seconds since the first submission), estimate
    (seconds, at least 1: an estimate of 0 s counts as 1 s), procs, demand (the same, unless its pool has several
    resources: see `PoolState`), start and estimated end (seconds since the first submission; None while the job waits),
    and the columns of the trace, such as ``job.user``; text columns are given as codes (`Trace.codes`). Even facts that
    only the log knows are there, such as ``run_time``: a scheme that uses them is clairvoyant.
    """

    __slots__ = ("_clock", "demand", "end", "estimate", "number", "place", "procs", "start", "submit")

    def __init__(self, clock, place, number, submit, estimate, procs):
        values = (clock, procs, None, estimate, number, place, procs, None, submit)  # neither started nor ended
        for name, value in zip(self.__slots__, values, strict=True):
            put(self, name, value)

    def __getattr__(self, name):
        if name.startswith("_") or name in self.__slots__:  # for example while it is being copied
            raise AttributeError(name)
        columns = self._clock.columns
        if name not in columns:
            known = (*self.__slots__[1:], *columns.known)
            raise AttributeError(f"{self._clock}: job {self.number} has no {name!r}{_meant(name, known)}")
        value = columns[name][self.place].item()
        return _Code(value, name) if isinstance(value, int) else value

    def __setattr__(self, name, value):
        instead = "state.start(job) starts it" if name in ("start", "end") else "notes of your own go into state.memory"
        raise SchemeError(f"{self._clock}: job {self.number} is read-only, {name} cannot be set; {instead}")

    def __delattr__(self, name):
        raise SchemeError(f"{self._clock}: job {self.number} is read-only, {name} cannot be deleted")

    def __repr__(self) -> str:
        when = "waits" if self.start is None else f"runs from {self.start} s, estimated to end at {self.end} s"
        return f"<Job {self.number}: {amount_text(self)}, {self.estimate} s, submitted at {self.submit} s, {when}>"


class _Code(Code):
    def __new__(cls, value, column):
        code = super().__new__(cls, value)
        code.column = column
        return code

    def is_compared_with(self, text):
        column, way_out = self.column, f"trace.codes({self.column!r})[{text!r}]"
        raise SchemeError(f"{column} is compared with {text!r}, but text comes as codes; compare with {way_out}")

    def __reduce__(self):
        return int, (int(self),)


class JobList(list):
    """A list of jobs as they are now; a change of it changes nothing else.

    Its attributes are read-only arrays: ``state.queue.procs``, ``state.running.end``, ``state.queue.user``.
    """

    __slots__ = ()

    def __getitem__(self, place):
        item = super().__getitem__(place)
        return JobList(item) if isinstance(place, slice) else item

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return read_only([getattr(job, name) for job in self], None if self else np.int64)

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} of a list of jobs cannot be set: jobs are read-only")


class State(_ReadOnly):
    """What a scheme can see and do at a pass. All times are whole seconds since the first submission.

    There is a pass at each instant at which jobs arrive or end, after all of these events, and at each instant that
    `wake` asks for. Reservations last for one pass: the next pass begins without any.

    The state has the time `now`, the processors of the machine (`procs`), how many of them are `free` now, and
    `memory`, a dict for the scheme's own notes, empty when a simulation begins. A scheme changes the state by `start`,
    `reserve` and `wake`; setting an attribute of it or of a job is an error. Wherever a plan is made, a job takes at
    least a second: an estimate of 0 s counts as 1 s (`Job.estimate` is 1).
    """

    # Slots: looking up an attribute takes twice as long in a class with __getattr__ and a dictionary (Python 3.11).
    __slots__ = (
        *("_alarms", "_case", "_clock", "_completions", "_counts", "_ends", "_jobs", "_level", "_promise", "_queue"),
        *("_reservations", "_run", "_time", "free", "memory", "now", "procs"),
    )

    def __init__(self, case, scheme):
        jobs, clock = case.jobs, _Clock(scheme, case.columns, case.pool)
        rows = zip(*(column.tolist() for column in (jobs.submit, jobs.estimate, jobs.procs)), strict=True)
        numbers = range(1, len(case) + 1) if case.numbers is None else list(case.numbers)
        first = {
            "now": 0,
            "procs": case.machine.procs,
            "free": case.machine.procs,
            "memory": {},
            "_case": case,
            "_clock": clock,
            "_run": jobs.run.tolist(),
            "_jobs": [
                Job(clock, place, number, *row) for place, (number, row) in enumerate(zip(numbers, rows, strict=True))
            ],
            "_counts": [0, 0],  # jobs arrived, jobs begun
            "_queue": {},
            "_completions": [],  # by true end
            "_ends": [],  # by estimated end
            "_alarms": [],
            "_reservations": {},  # of this pass: the begin of each job's
            "_time": [],  # the profile of this pass: instants,
            "_level": [],  # and the processors that are free from each on; both are empty until they are needed
            "_promise": np.full(len(case), -1),
        }
        for name, value in first.items():
            put(self, name, value)

    def __repr__(self) -> str:
        jobs = f"{len(self._queue)} jobs wait, {len(self._ends)} run"
        return f"<State at {self.now} s: {self.free} of {self.procs} processors free, {jobs}>"

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        known = [attribute for attribute in dir(type(self)) if not attribute.startswith("_")]
        raise AttributeError(f"{self._clock}: a State has no {name!r}{_meant(name, known)}")

    def __setattr__(self, name, value):
        instead = {
            "now": "wake(time) asks for a pass at another instant",
            "procs": "machine= of simulate() is the size of the machine",
            "memory": "it is a dict for the scheme to fill",
        }.get(name, "start(job) and reserve(job, time) change the state, notes of your own go into state.memory")
        self._fail(f"{name} of a State cannot be set: {instead}")

    def __delattr__(self, name):
        self._fail(f"{name} of a State cannot be deleted")

    @property
    def pool(self) -> str | int | None:
        """The name of the pool that the pass is in; None on a machine without pools."""
        return self._case.pool

    @property
    def queue(self) -> JobList:
        """The waiting jobs, first come first served. Starting jobs does not change a list taken earlier."""
        return JobList(self._queue)

    @property
    def running(self) -> JobList:
        """The running jobs, in order of their estimated ends."""
        return JobList(job for _, _, job in self._ends)

    @property
    def reserved(self) -> JobList:
        """The waiting jobs with a reservation in this pass, in the order in which the reservations were made."""
        return JobList(self._reservations)

    @property
    def profile(self) -> tuple[np.ndarray, np.ndarray]:
        """The availability profile, two int64 arrays: instants, and how many processors are free from each of them on.

        It follows from the estimates of the running jobs and the reservations of this pass. A job that is past its
        estimate is expected to end a second from now.
        """
        time, level = self._steps()
        return read_only(time, np.int64), read_only(level, np.int64)

    def free_at(self, time: int) -> int:
        """Return the number of free processors at an instant, not before now, by estimates and reservations."""
        if not time >= self.now:
            self._fail(f"free_at({time!r}): expected an instant, not before now")
        instants, level = self._steps()
        return level[bisect_right(instants, time) - 1]

    def within_limits(self, job: Job) -> bool:
        """Tell whether no limit (`schedlab.Limit`) keeps a waiting job from starting now; only pools have limits."""
        return True

    def fits(self, job: Job) -> bool:
        """Tell whether a waiting job can start now without delaying any reservation of this pass, by its estimate."""
        if not job.demand <= self.free:
            return False
        if not self._reservations:
            return True
        end = self.now + job.estimate
        return self._stays_free(job.demand, self.now, min(end, self._reservations.get(job, end)))

    def earliest(self, job: Job) -> int:
        """Find the earliest instant from which a waiting job's processors are free for its whole estimate.

        If it is now, the job can start now.
        """
        time, level = self._steps()
        demand, estimate, steps, place = job.demand, job.estimate, len(time), 0
        while True:
            while not demand <= level[place]:  # ends, because the last step has all processors
                place += 1
            begin = time[place]
            end = begin + estimate
            place += 1
            while place < steps and time[place] < end and demand <= level[place]:
                place += 1
            if place == steps or time[place] >= end:
                return begin

    def start(self, job: Job) -> None:
        """Start a waiting job now; its own reservation then ends.

        It is a `SchemeError` if too few processors are free, or if that delays a reservation of this pass.
        """
        if type(job) is not Job or job not in self._queue:
            self._refuse(job, "start")
        demand, now, free, reservations = job.demand, self.now, self.free, self._reservations
        if not demand <= free:
            needs, left = self._shortage(demand, free)
            self._fail(f"start(job {job.number}): it needs {needs}, {left} are free")
        end = now + job.estimate
        reserved = reservations.get(job) if reservations else None
        if reserved is None:
            if (reservations or self._time) and not self._take(now, end, demand):
                self._delays(job, end)
        else:  # it holds its processors already, or begins before it was to hold them
            if reserved > now:
                if not self._stays_free(demand, now, min(end, reserved)):
                    self._delays(job, min(end, reserved))
                self._forget_profile()
            del reservations[job]
        del self._queue[job]
        self._counts[BEGUN] = begun = self._counts[BEGUN] + 1
        put(self, "free", free - demand)
        put(job, "start", now)
        put(job, "end", end)
        insort(self._ends, (end, begun, job))
        heappush(self._completions, (now + self._run[job.place], begun, job))

    def reserve(self, job: Job, time: int) -> None:
        """Reserve processors for a waiting job from an instant on, such as `earliest` gives, for this pass only.

        A job's first reservation is its promised start. It is a `SchemeError` if the job already holds a reservation,
        or if its processors are not free then.
        """
        if type(job) is not Job or job not in self._queue:
            self._refuse(job, "reserve")
        if type(time) is not int:
            if not _is_instant(time):
                self._fail(f"reserve(job {job.number}, {time!r}): expected a whole second, not before now")
            time = int(time)
        if not self.now <= time < MOST:
            self._fail(f"reserve(job {job.number}, {time}): expected a whole second, not before now")
        if job in self._reservations:
            self._fail(f"reserve(job {job.number}, {time}): it holds a reservation already")
        if not self._take(time, time + job.estimate, job.demand):
            self._has_no_room(job, time)
        self._reservations[job] = time
        if self._promise[job.place] < 0:
            self._promise[job.place] = time

    def wake(self, time: int) -> None:
        """Ask for a pass at an instant after now, even if no job arrives or ends then."""
        if not _is_instant(time) or time <= self.now:
            self._fail(f"wake({time!r}): expected a whole second after now")
        heappush(self._alarms, int(time))

    def _steps(self):
        """Return the instants and levels of the profile of this pass; make it from running jobs and reservations."""
        time, level, now, free = self._time, self._level, self.now, self.free
        if time:
            return time, level
        time.append(now)
        level.append(free)
        for end, _, job in self._ends:
            if end <= now:
                end = now + 1  # it is past its estimate
            free += job.demand
            if end == time[-1]:
                level[-1] = free
            else:
                time.append(end)
                level.append(free)
        for job, begin in self._reservations.items():
            self._take(begin, begin + job.estimate, job.demand)
        return time, level

    def _forget_profile(self):
        self._time.clear()
        self._level.clear()

    def _take(self, begin, end, demand):
        """Take processors from the profile on [begin, end), if they are free throughout; tell whether they are."""
        time, level = self._steps()
        steps = len(time)
        first = bisect_left(time, begin)
        cut = first == steps or time[first] != begin
        last = first - cut
        while last < steps and time[last] < end:
            if not demand <= level[last]:
                return False
            last += 1
        if last == steps or time[last] != end:
            time.insert(last, end)
            level.insert(last, level[last - 1])
        if cut:
            time.insert(first, begin)
            level.insert(first, level[first - 1])
            last += 1
        for place in range(first, last):
            level[place] -= demand
        return True

    def _stays_free(self, demand, begin, end):
        """Tell whether processors are free throughout [begin, end), by the profile."""
        time, level = self._steps()
        place, steps = bisect_right(time, begin) - 1, len(time)
        while place < steps and time[place] < end:
            if not demand <= level[place]:
                return False
            place += 1
        return True

    def _delays(self, job, until):
        """Raise because a job that needs more until an instant than is reserved for it would delay another one."""
        delayed = next(
            f"job {other.number}, reserved for {begin} s"
            for other, begin in self._reservations.items()
            if begin < until and not job.demand <= self.free_at(begin)
        )
        delay = f"with {amount_text(job)} until {self.now + job.estimate} s it delays {delayed}"
        self._fail(f"start(job {job.number}): {delay}")

    def _has_no_room(self, job, time):
        """Raise because a job does not fit from the instant of its reservation on."""
        free = self.free_at(time)
        needs, left = self._shortage(job.demand, free)
        shortage = f"it needs {needs} for {job.estimate} s, {left} are free then"
        later = ", but fewer later on" * (job.demand <= free)
        self._fail(f"reserve(job {job.number}, {time}): {shortage}{later}")

    def _shortage(self, demand, free):
        """Return what is needed and what is free, in words."""
        return f"{demand} processors", f"{free}"

    def _passes(self) -> Iterator["State"]:
        """Advance from instant to instant; yield the state at each pass."""
        jobs, counts, queue, clock = self._jobs, self._counts, self._queue, self._clock
        completions, ends, alarms = self._completions, self._ends, self._alarms
        submits, passes = [*(job.submit for job in jobs), MOST], 0
        while counts[ARRIVED] < len(jobs) or completions or queue:
            now = submits[counts[ARRIVED]]
            if completions and completions[0][0] < now:
                now = completions[0][0]
            if alarms and alarms[0] < now:
                now = alarms[0]
            if now == MOST:
                still_waiting(clock, queue)
            put(self, "now", now)
            clock.now = now
            self._reservations.clear()
            self._forget_profile()
            while alarms and alarms[0] <= now:
                heappop(alarms)
            while completions and completions[0][0] == now:
                _, begun, job = heappop(completions)
                del ends[bisect_left(ends, (job.end, begun))]
                put(self, "free", self.free + job.demand)
            while submits[counts[ARRIVED]] == now:
                queue[jobs[counts[ARRIVED]]] = None
                counts[ARRIVED] += 1
            if passes % OFTEN == 0:
                go_on()
            passes += 1
            yield self

    def _outcome(self):
        return self._case.outcome(np.array([job.start for job in self._jobs], np.int64), self._promise)

    def _refuse(self, job, what):
        """Raise because something is not a waiting job."""
        if not isinstance(job, Job):
            raise TypeError(f"{self._clock}: {what}() takes a job of state.queue, got {spelt(job)}")
        if not (job.place < len(self._jobs) and self._jobs[job.place] is job):
            self._fail(f"{what}(job {job.number}): it is not a job of this simulation")
        status = "has not been submitted" if job.start is None else f"started at {job.start} s"
        self._fail(f"{what}(job {job.number}): it {status}")

    def _fail(self, message):
        raise SchemeError(f"{self._clock}: {message}")


def still_waiting(clock: _Clock, queue: Iterable[Job]) -> NoReturn:
    """Raise because jobs wait for ever."""
    first, *others = queue
    facts = f"{amount_text(first)}, submitted at {first.submit} s"
    many = f"{len(others) + 1} job{'s' * (len(others) > 0)} still wait"
    raise SchemeError(f"{clock}: no job runs, none will arrive, and {many}: first job {first.number} ({facts})")


def amount_text(job: Job) -> str:
    """Return what a job needs, in words."""
    return f"{job.demand} processors" if isinstance(job.demand, int) else str(job.demand)


def _meant(name, known):
    """Return the end of a message about a name that does not exist: similar ones, and all that do."""
    listed = f"; known: {', '.join(known)}"
    if name.lower() in PREEMPTION.split():
        return f": schedlab does not preempt jobs yet{listed}"
    similar = suggestion(name, known)
    if "'run_time'" in similar:
        similar = "; did you mean 'run_time', which only the log knows, or 'estimate'?"
    return listed + similar


def read_only(values, kind=None):
    array = np.array(values, kind)
    array.flags.writeable = False
    return array


def _is_instant(time):
    return isinstance(time, Integral) and not isinstance(time, bool) and time < MOST
