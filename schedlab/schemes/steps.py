"""Schemes in plain Python: the passes of a simulation, and the `State` that a scheme sees and changes in each."""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from numbers import Integral

import numpy as np

from schedlab.threads import go_on

OFTEN = 1_000  # passes between two checks whether to continue
MOST = 2**62  # seconds


class SchemeError(ValueError):
    """A scheme tried something impossible; the message names the scheme, the instant and the job."""


class Job:
    """A job as a scheme sees it.

    Besides the attributes below, it has the columns of the trace, such as ``job.user``; text columns are given as codes
    (`Trace.codes`). Even facts that only the log knows are there, such as ``run_time``: a scheme that uses them is
    clairvoyant.

    Attributes
    ----------
    number : int
        Job number.
    place : int
        Position in the order of arrival, counted from 0.
    submit : int
        Seconds since the first submission.
    estimate : int
        Seconds.
    procs : int
    start, end : int or None
        Start and estimated end, in seconds since the first submission; None while the job waits.
    """

    __slots__ = ("_columns", "end", "estimate", "number", "place", "procs", "start", "submit")

    def __init__(self, place, number, submit, estimate, procs, columns):
        self.place, self.number, self.submit, self.estimate, self.procs = place, number, submit, estimate, procs
        self.start = self.end = None
        self._columns = columns

    def __getattr__(self, name):
        if name.startswith("_") or name in self.__slots__:  # for example while it is being copied
            raise AttributeError(name)
        if name not in self._columns:
            known = ", ".join((*self.__slots__[1:], *self._columns.known))
            raise AttributeError(f"job {self.number} has no {name!r}; known: {known}")
        return self._columns[name][self.place].item()

    def __repr__(self) -> str:
        when = "waits" if self.start is None else f"runs from {self.start} s, estimated to end at {self.end} s"
        return f"<Job {self.number}: {self.procs} processors, {self.estimate} s, submitted at {self.submit} s, {when}>"


class JobList(list):
    """A list of jobs; its attributes are arrays: ``state.queue.procs``, ``state.running.end``, ``state.queue.user``."""

    def __getitem__(self, place):
        found = super().__getitem__(place)
        return JobList(found) if isinstance(place, slice) else found

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return np.array([getattr(job, name) for job in self], None if self else np.int64)


class _Reservation:
    """Processors reserved for a waiting job; `spare` are those left over when it begins."""

    __slots__ = ("begin", "end", "job", "procs", "spare")

    def __init__(self, job, begin, spare):
        self.job, self.begin, self.end, self.procs = job, begin, begin + max(job.estimate, 1), job.procs
        self.spare = spare


class State:
    """What a scheme can see and do at a pass.

    There is a pass at each instant at which jobs arrive or end, after all of these events, and at each instant that
    `wake` asks for. Reservations last for one pass: the next pass begins without any.

    Attributes
    ----------
    now : int
        Seconds since the first submission.
    procs, free : int
        Processors of the machine, and how many of them are free now.
    memory : dict
        The scheme's own storage, empty when a simulation begins.
    """

    def __init__(self, case, scheme):
        jobs = case.jobs
        rows = zip(*(column.tolist() for column in (jobs.submit, jobs.estimate, jobs.procs)), strict=True)
        numbers = range(1, len(case) + 1) if case.numbers is None else list(case.numbers)
        self._jobs = [
            Job(place, number, *row, case.columns)
            for place, (number, row) in enumerate(zip(numbers, rows, strict=True))
        ]
        self._case, self._run, self._scheme = case, jobs.run.tolist(), scheme
        self.now, self.procs, self.free, self.memory = 0, case.machine.procs, case.machine.procs, {}
        self._queue, self._arrived, self._begun = {}, 0, 0
        self._completions, self._ends, self._alarms = [], [], []  # by true end; by estimated end; by instant
        self._reservations, self._promise = [], np.full(len(case), -1)

    def __repr__(self) -> str:
        return (
            f"<State at {self.now} s: {self.free} of {self.procs} processors free, {len(self._queue)} jobs wait, "
            f"{len(self._ends)} run>"
        )

    # -- what is seen ------------------------------------------------------------------------------------------------

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
        return JobList(one.job for one in self._reservations)

    @property
    def profile(self) -> tuple[np.ndarray, np.ndarray]:
        """The availability profile: how many processors are free, and from which instant on.

        It follows from the estimates of the running jobs and the reservations of this pass.

        Returns
        -------
        time : int64, shape (n_steps,), seconds since the first submission
        free : int64, shape (n_steps,)
        """
        time = sorted({self.now, *(end for end, _ in self._releases()), *self._turns()})
        return np.array(time), np.array([self.free_at(instant) for instant in time])

    def free_at(self, time: int) -> int:
        """Return the number of free processors at an instant, by estimates and reservations.

        Parameters
        ----------
        time : int
            Seconds since the first submission, not before now.
        """
        free = self.free
        for end, procs in self._releases():
            if end > time:
                break
            free += procs
        for one in self._reservations:
            if one.begin <= time < one.end:
                free -= one.procs
        return free

    def fits(self, job: Job) -> bool:
        """Tell whether a waiting job can start now without delaying any reservation of this pass, by its estimate.

        Parameters
        ----------
        job : Job
            A job in the queue.
        """
        if job.procs > self.free:
            return False
        if self._reservations and job.estimate:
            end, own = self.now + job.estimate, self._reservation_of(job)
            for one in self._reservations:
                if one.begin < end and one is not own and one.spare + _counted_in(own, one) < job.procs:
                    return False
        return True

    def earliest(self, job: Job) -> int:
        """Find the earliest instant from which a job's processors are free, by the profile, for its whole estimate.

        The instant may be now even if too few processors are free: a job with an estimate of 0 holds its processors
        until the pass is over. So call `fits` before `start`.

        Parameters
        ----------
        job : Job
            A job in the queue.

        Returns
        -------
        int
            Seconds since the first submission.
        """
        if not self._reservations:
            available = self.free
            if available >= job.procs:
                return self.now
            for end, procs in self._releases():
                available += procs
                if available >= job.procs:
                    return end
        times = sorted({self.now, *(end for end, _ in self._releases()), *(one.end for one in self._reservations)})
        return next(time for time in times if self._is_free(job, time))

    # -- what can be done --------------------------------------------------------------------------------------------

    def start(self, job: Job) -> None:
        """Start a waiting job now; its own reservation then ends.

        Parameters
        ----------
        job : Job
            A job in the queue.

        Raises
        ------
        SchemeError
            If the job does not wait, if too few processors are free, or if starting it delays a reservation of this
            pass.
        """
        self._check_waits(job, "start")
        procs, now = job.procs, self.now
        if procs > self.free:
            self._fail(f"start(job {job.number}): it needs {procs} processors, {self.free} are free")
        end = now + job.estimate
        if (own := self._reservation_of(job)) is not None:
            self._reservations.remove(own)
            for one in self._reservations:
                one.spare += _counted_in(own, one)
        for one in self._reservations:
            if one.begin < end:
                one.spare -= procs
                if one.spare < 0:
                    late = f"job {one.job.number}, reserved for {one.begin} s"
                    self._fail(f"start(job {job.number}): with {procs} processors until {end} s it delays {late}")
        del self._queue[job]
        self.free -= procs
        job.start, job.end = now, end
        self._begun += 1
        insort(self._ends, (end, self._begun, job))
        heappush(self._completions, (now + self._run[job.place], self._begun, job))

    def reserve(self, job: Job, time: int) -> None:
        """Reserve processors for a waiting job from an instant on, for this pass only.

        A job's first reservation is its promised start.

        Parameters
        ----------
        job : Job
            A job in the queue.
        time : int
            Seconds since the first submission, such as the result of `earliest`.

        Raises
        ------
        SchemeError
            If the job does not wait, already holds a reservation, or its processors are not free then.
        """
        self._check_waits(job, "reserve")
        if not _is_instant(time) or time < self.now:
            self._fail(f"reserve(job {job.number}, {time!r}): expected a whole second, not before now")
        if self._reservation_of(job) is not None:
            self._fail(f"reserve(job {job.number}, {time}): it holds a reservation already")
        made = _Reservation(job, int(time), self.free_at(time) - job.procs)
        if made.spare < 0 or not self._stays_free(job, time, made.end):
            found = f"it needs {job.procs} processors for {job.estimate} s, {self.free_at(time)} are free then"
            self._fail(f"reserve(job {job.number}, {time}): {found}{', but fewer later on' * (made.spare >= 0)}")
        for one in self._reservations:
            if made.begin <= one.begin < made.end:
                one.spare -= job.procs
        self._reservations.append(made)
        if self._promise[job.place] < 0:
            self._promise[job.place] = time

    def wake(self, time: int) -> None:
        """Ask for a pass at an instant, even if no job arrives or ends then.

        Parameters
        ----------
        time : int
            Seconds since the first submission, after now.
        """
        if not _is_instant(time) or time <= self.now:
            self._fail(f"wake({time!r}): expected a whole second after now")
        heappush(self._alarms, int(time))

    # -- the simulation ----------------------------------------------------------------------------------------------

    def _passes(self) -> Iterator["State"]:
        """Advance from instant to instant; yield the state at each pass."""
        jobs, count = self._jobs, 0
        while self._arrived < len(jobs) or self._completions or self._queue:
            times = [jobs[self._arrived].submit] if self._arrived < len(jobs) else []
            times += [self._completions[0][0]] if self._completions else []
            times += self._alarms[:1]
            if not times:
                first = next(iter(self._queue))
                words = f"{first.procs} processors, submitted at {first.submit} s"
                jobs = f"{len(self._queue)} job{'s' * (len(self._queue) > 1)}"
                self._fail(f"no job runs, none will arrive, and {jobs} still wait: first job {first.number} ({words})")
            self._open(min(times))
            if count % OFTEN == 0:
                go_on()
            count += 1
            yield self

    def _open(self, now):
        """Process the events of an instant."""
        jobs, completions = self._jobs, self._completions
        self.now, self._reservations = now, []
        while self._alarms and self._alarms[0] <= now:
            heappop(self._alarms)
        while completions and completions[0][0] == now:
            _, begun, job = heappop(completions)
            del self._ends[bisect_left(self._ends, (job.end, begun))]
            self.free += job.procs
        while self._arrived < len(jobs) and jobs[self._arrived].submit == now:
            self._queue[jobs[self._arrived]] = None
            self._arrived += 1

    def _outcome(self):
        """Return the outcome of the case once all jobs have started."""
        return self._case.outcome(np.array([job.start for job in self._jobs], np.int64), self._promise)

    def _releases(self):
        """Return the expected ends of the running jobs, and their processors; past the estimate, in a second."""
        if not self._ends or self._ends[0][0] > self.now:
            return [(end, job.procs) for end, _, job in self._ends]
        overdue = sum(job.procs for end, _, job in self._ends if end <= self.now and job.start < self.now)
        begun = sum(job.procs for end, _, job in self._ends if end <= self.now and job.start == self.now)
        at_once = [(self.now, begun)] * (begun > 0) + [(self.now + 1, overdue)] * (overdue > 0)
        return at_once + [(end, job.procs) for end, _, job in self._ends if end > self.now]

    def _turns(self):
        for one in self._reservations:
            yield from (one.begin, one.end)

    def _is_free(self, job, time):
        """Tell whether a job's processors are free from an instant on, for its whole estimate."""
        return self.free_at(time) >= job.procs and self._stays_free(job, time, time + max(job.estimate, 1))

    def _stays_free(self, job, begin, end):
        return all(one.spare >= job.procs for one in self._reservations if begin <= one.begin < end)

    def _reservation_of(self, job):
        for one in self._reservations:
            if one.job is job:
                return one
        return None

    def _check_waits(self, job, what):
        if not isinstance(job, Job):
            raise TypeError(f"{what}() takes a job of state.queue, got {job!r}")
        if job not in self._queue:
            if not (job.place < len(self._jobs) and self._jobs[job.place] is job):
                self._fail(f"{what}(job {job.number}): it is not a job of this simulation")
            found = "has not been submitted" if job.start is None else f"started at {job.start} s"
            self._fail(f"{what}(job {job.number}): it {found}")

    def _fail(self, words):
        raise SchemeError(f"{self._scheme} at {self.now} s: {words}")


def _counted_in(own, one):
    """Return how many processors of a reservation come out of the spare ones of another."""
    return own.procs if own is not None and own.begin <= one.begin < own.end else 0


def _is_instant(time):
    return isinstance(time, Integral) and not isinstance(time, bool) and time < MOST


def decided(decide: Callable[[State], None], case, scheme):
    """Return the outcome of a case in which a function decides at each pass.

    Parameters
    ----------
    decide : function
        Takes the `State`.
    case : Case
        The case to simulate.
    scheme : Scheme
        Named in messages.

    Returns
    -------
    Outcome
    """
    state = State(case, scheme)
    for each in state._passes():
        decide(each)
    return state._outcome()
