"""
A naive twin of machines of several pools, resources, closed windows and limits, to be checked by eye.

It imports nothing from the package. A job goes to the pool that serves its partition and asks for an amount of each of
the machine's resources, in the order of `Machine.resources`. Times are whole seconds. The order of the log is the order
of the list of jobs; FCFS order is submit time, then the log's. A job is killed at its estimate; an estimate of 0 s
counts as 1 s, before the run time is cut. A job of no length completes at the instant of its start, which is followed
by another pass of that instant. The only question ever asked of a pool is `fits`, and it looks at every instant at
which something changes.

At one instant come all completions, the begins and ends of windows, all arrivals, and then one pass.

Open in the specification
-------------------------
1. That a window becomes known is an instant of its own, with a pass under every scheme: the head's shadow time may move
   behind the window, which lets candidates start.
2. At the begin of a window the running jobs of the pool are ended strictly by start, latest first, until the rest fits
   at this instant: also those that need nothing of what is closed. That the jobs ended did not know of the window needs
   no check: had any of the running jobs known of it, all would fit (as long as no two windows of a pool overlap).
3. A job that is to be ended at a window holds its resources up to its estimated end in all planning before. Less than
   nothing is then free during the window, and a job that needs none of this resource does not fit there, either.
4. An ended job is queued before the pass of this instant, and may start again in it if it fits beside the window.
5. Overlapping windows of a pool add up, at most to all there is. An amount of None is all of the resource.
6. A limit counts the running jobs of all pools. In one pass the pools come in the order of the machine. A value of the
   column without an entry in a mapping has no limit.
7. Limits are checked when a job's turn comes. If a candidate then starts that uses up the head's limit, the head keeps
   its reservation until the end of the pass. Nothing is said about limits at the time of a reservation: they are not
   looked at.
8. Without limits a pool has a pass only when something happens in this pool (so that two pools are two simulations
   under orders that change with time, too). A completion in any pool is also something that happens in pools where a
   job was passed over in the last pass (so that a limit nobody reaches changes nothing).
9. Conservative: a job over a limit loses its reservation, which alone moves nobody. Within the limits again it is
   placed like an arrival, without moving others, but before this instant's arrivals and in the order of the queue.
   In a pass jobs take turns: the limits, a reservation, and the start if it is due. Jobs that arrive together are
   placed in the order of the log, whatever the order of the queue, as by the twin for one resource.
10. Conservative: reservations are made anew in the pool whose window it is. An instant at which they are has no
    compression besides. The end of a window that was known moves nothing.
11. The reservation promised to a job is its first, also if the job is ended and queued again.
12. k reservations and vetoes are defined for one resource by `twin_policies`: in the order of the queue, jobs that
    cannot start get reservations until there are k; every start behind a reservation can be vetoed, and a job so
    refused gets no reservation in this pass.
13. A head that never fits is an error when the pass comes to it; jobs that wait for ever (a limit of 0) are one when
    nothing is left to happen.
14. Promises are kept without limits and with windows that are all announced from the start; a job that comes within
    its limits again, or a window that becomes known, may break one.
"""

from collections import namedtuple
from dataclasses import dataclass, field, replace
from math import inf


@dataclass(frozen=True, eq=False)  # jobs are compared by identity, so they can be keys
class Job:
    number: int
    submit: int
    run: int
    estimate: int
    demands: tuple  # amounts, in the order of the machine's resources
    partition: str = ""
    columns: dict = field(default_factory=dict)  # "user", "qos", ...


Pool = namedtuple("Pool", "capacity partitions", defaults=(("",),))  # the capacity lists amounts, as demands do
# A window [begin, end): of the pool of this name or of all (None), of these amounts or all (None).
Closed = namedtuple("Closed", "begin end pool amounts announced", defaults=(None, None, inf))
# Each a number for all values of the column, or a mapping by value, or None.
Limit = namedtuple("Limit", "column running procs gpus", defaults=(None, None, None))
Machine = namedtuple("Machine", "pools resources closed limits on_closure", defaults=(("procs",), (), (), "requeue"))


def simulate(jobs, machine, scheme="fcfs", order=None, **settings):
    """
    Return the pieces, as (number, start, end) in the order of the log, and the first reservations, by number.

    The scheme is "fcfs", "easy" or "conservative", with the settings of the classes below. The functions `order`,
    `backfill` and `may_backfill` take a job and the present time.
    """
    assert machine.on_closure in ("requeue", "kill"), machine.on_closure
    return {"fcfs": FCFS, "easy": EASY, "conservative": Conservative}[scheme](jobs, machine, order, **settings).run()


class PoolState:
    """What waits, runs and is reserved in a pool, and what happens there at the present instant."""

    def __init__(self, name, pool, closed):
        self.name = name
        self.capacity = pool.capacity
        self.closed = [window for window in closed if window.pool in (None, name)]
        self.waiting = []
        self.running = {}  # the start of each job
        self.reserved = {}  # the begin of each reservation
        self.passed_over = False  # a job was over a limit in the last pass
        self.quiet()

    def quiet(self):
        self.touched = False  # something happens here
        self.arrived = []
        self.completed = False
        self.early = False  # a job completes before its estimated end
        self.changed = False  # a window becomes known or ends jobs

    def known(self, now):
        return [window for window in self.closed if window.begin - window.announced <= now]

    def open_at(self, t, now):
        """Return the open capacity at an instant t, as known now."""
        left = list(self.capacity)
        for window in self.known(now):
            if window.begin <= t < window.end:
                for i, all_of_it in enumerate(self.capacity):
                    amount = None if window.amounts is None else window.amounts[i]
                    left[i] -= all_of_it if amount is None else amount
        return [max(amount, 0) for amount in left]

    def holds(self, reserved):
        """List begin, end and demands of the running jobs, as estimated, and of the jobs with reservations."""
        return [(begin, begin + job.estimate, job.demands) for job, begin in [*self.running.items(), *reserved.items()]]

    def free_at(self, t, now, reserved):
        left = self.open_at(t, now)
        for begin, end, demands in self.holds(reserved):
            if begin <= t < end:
                left = [amount - demand for amount, demand in zip(left, demands, strict=True)]
        return left

    def changes(self, now, reserved):
        """Return all instants at which the free amounts may change, as known now."""
        instants = {t for begin, end, _ in self.holds(reserved) for t in (begin, end)}
        return instants | {t for window in self.known(now) for t in (window.begin, window.end)}

    def fits(self, job, t, now, reserved):
        """Tell whether the job fits from t: at every instant of [t, t + estimate), in each resource."""
        instants = [t] + [change for change in self.changes(now, reserved) if t < change < t + job.estimate]
        return all(
            demand <= amount
            for instant in instants
            for demand, amount in zip(job.demands, self.free_at(instant, now, reserved), strict=True)
        )

    def earliest(self, job, now, reserved):
        """Return the first instant from which the job fits; there is more room only after a change."""
        for t in sorted({now} | {change for change in self.changes(now, reserved) if now < change < inf}):
            if self.fits(job, t, now, reserved):
                return t
        raise ValueError(f"job {job.number} never fits in pool {self.name} given the windows known")

    def overfull(self, now):
        return any(amount < 0 for amount in self.free_at(now, now, {}))


class Scheme:
    """The one meaning of time that all schemes share; a scheme says in `decide` what a pass does in a pool."""

    def __init__(self, jobs, machine, order):
        self.jobs = []
        for job in jobs:
            estimate = max(job.estimate, 1)
            self.jobs.append(replace(job, estimate=estimate, run=min(job.run, estimate)))
        self.place = {job: i for i, job in enumerate(self.jobs)}
        self.machine = machine
        self.order = order
        self.pools = [PoolState(name, pool, machine.closed) for name, pool in machine.pools.items()]
        self.pieces = []
        self.promises = {}
        self.now = None
        for job in self.jobs:
            pool = self.pool_of(job)
            for resource, demand, capacity in zip(machine.resources, job.demands, pool.capacity, strict=True):
                if demand > capacity:
                    raise ValueError(f"job {job.number} needs {demand} {resource}, pool {pool.name} has {capacity}")

    def pool_of(self, job):
        for pool in self.pools:
            if job.partition in self.machine.pools[pool.name].partitions:
                return pool
        raise ValueError(f"no pool serves partition {job.partition!r} of job {job.number}")

    def ranked(self, jobs, order):
        """Sort jobs by a function as it stands now, ties in FCFS order."""
        return sorted(jobs, key=lambda job: (order(job, self.now) if order else 0, job.submit, self.place[job]))

    def run(self):
        coming = list(self.jobs)
        moments = {t for w in self.machine.closed for t in (w.begin - w.announced, w.begin, w.end) if abs(t) < inf}
        while coming or any(pool.waiting or pool.running for pool in self.pools):
            instants = [job.submit for job in coming] + list(moments)
            instants += [start + job.run for pool in self.pools for job, start in pool.running.items()]
            instants += [begin for pool in self.pools for begin in pool.reserved.values()]
            if not instants:
                numbers = [job.number for pool in self.pools for job in pool.waiting]
                raise ValueError(f"jobs {numbers} can never start")
            self.now = min(instants)
            for pool in self.pools:
                pool.quiet()
                pool.touched = self.now in pool.reserved.values()
            for pool in self.pools:
                self.complete(pool)
            if self.now in moments:
                moments.remove(self.now)
                for pool in self.pools:
                    self.open_and_close(pool)
            for job in [job for job in coming if job.submit == self.now]:
                coming.remove(job)
                pool = self.pool_of(job)
                pool.touched = True
                pool.waiting.append(job)
                pool.arrived.append(job)
            for pool in self.pools:
                if pool.touched:
                    pool.passed_over = False
                    self.decide(pool)
        pieces = sorted(self.pieces, key=lambda piece: (self.place[piece[0]], piece[1], piece[2]))
        return [(job.number, start, end) for job, start, end in pieces], self.promises

    def complete(self, pool):
        for job, start in list(pool.running.items()):
            if start + job.run == self.now:
                self.end(pool, job)
                pool.completed = True
                pool.early = pool.early or job.run < job.estimate

    def open_and_close(self, pool):
        """Let windows become known, begin and end; a begin may end running jobs."""
        now = self.now
        for window in pool.closed:
            pool.touched = pool.touched or now in (window.begin - window.announced, window.begin, window.end)
            pool.changed = pool.changed or now == window.begin - window.announced
        if any(window.begin == now for window in pool.closed):
            while pool.overfull(now):
                latest = max(pool.running, key=lambda job: (pool.running[job], self.place[job]))
                self.end(pool, latest)
                pool.changed = True
                if self.machine.on_closure == "requeue":
                    pool.waiting.append(latest)

    def end(self, pool, job):
        self.pieces.append((job, pool.running.pop(job), self.now))
        for other in self.pools:  # the end of a job may bring jobs of any pool within the limits
            other.touched = other.touched or other is pool or other.passed_over

    def start(self, pool, job):
        pool.waiting.remove(job)
        pool.running[job] = self.now

    def within_limits(self, job):
        """Tell whether the running jobs and this one together exceed no limit."""
        jobs = [job] + [other for pool in self.pools for other in pool.running]
        within = all(
            sum(self.amount(other, kind) for other in jobs if _value(other, limit.column) == _value(job, limit.column))
            <= self.most(getattr(limit, kind), _value(job, limit.column))
            for limit in self.machine.limits
            for kind in ("running", "procs", "gpus")
        )
        pool = self.pool_of(job)
        pool.passed_over = pool.passed_over or not within
        return within

    def amount(self, job, kind):
        if kind == "running":
            return 1
        return job.demands[self.machine.resources.index(kind)] if kind in self.machine.resources else 0

    def most(self, numbers, value):
        if isinstance(numbers, dict):
            return numbers.get(value, inf)
        return inf if numbers is None else numbers


def _value(job, column):
    return job.partition if column == "partition" else job.columns[column]


class FCFS(Scheme):
    """Start jobs in order; the first within its limits that does not fit from now blocks all others."""

    def decide(self, pool):
        for job in self.ranked(pool.waiting, self.order):
            if self.within_limits(job):
                if not pool.fits(job, self.now, self.now, {}):
                    break
                self.start(pool, job)


class EASY(Scheme):
    """Let candidates, in an order of their own (`backfill`), overtake the first blocked jobs without delaying these."""

    def __init__(self, jobs, machine, order, backfill=None, reservations=1, may_backfill=None):
        super().__init__(jobs, machine, order)
        self.backfill = backfill
        self.reservations = reservations
        self.may_backfill = may_backfill

    def decide(self, pool):
        now = self.now
        heads = {}  # the shadow time of each; forgotten after the pass

        def start_if_possible(job):
            """Start a job that fits from now and leaves the heads room from their shadow times; tell whether it fits.

            The head still fits beside the job exactly if the job fits beside the head's reservation.
            """
            if not pool.fits(job, now, now, heads):
                return False
            if not heads or self.may_backfill is None or self.may_backfill(job, now):
                self.start(pool, job)
            return True

        queue = self.ranked(pool.waiting, self.order)
        while queue and len(heads) < self.reservations:
            job = queue.pop(0)
            if self.within_limits(job) and not start_if_possible(job):
                heads[job] = pool.earliest(job, now, heads)
                self.promises.setdefault(job.number, heads[job])
        for job in self.ranked(queue, self.backfill or self.order):
            if self.within_limits(job):
                start_if_possible(job)


class Conservative(Scheme):
    """Give every job within its limits a reservation; completions let the reservations move forward (1.5).

    Compression goes in the order of the "queue" or of the "reservation", or there is "none"; "rebuild" makes all
    reservations anew in every pass. It comes after an "early" completion, or after every "completion"; with `repeat`
    passes are made until none moves anything.
    """

    def __init__(self, jobs, machine, order, compression="queue", compress_on="early", repeat=False):
        assert compression in ("queue", "reservation", "none", "rebuild"), compression
        assert compress_on in ("early", "completion"), compress_on
        super().__init__(jobs, machine, order)
        self.compression = compression
        self.compress_on = compress_on
        self.repeat = repeat

    def decide(self, pool):
        if pool.changed or self.compression == "rebuild":
            pool.reserved.clear()
            queue = self.ranked(pool.waiting, self.order)
        else:
            for job in [job for job in pool.reserved if not self.within_limits(job)]:
                del pool.reserved[job]
            if self.compression != "none" and (pool.early if self.compress_on == "early" else pool.completed):
                self.compress(pool)
            older = [job for job in pool.waiting if job not in pool.arrived]
            queue = self.ranked(older, self.order) + pool.arrived
        for job in queue:
            if not self.within_limits(job):
                pool.reserved.pop(job, None)
                continue
            if job not in pool.reserved:
                self.reserve(pool, job)
            if pool.reserved[job] == self.now:
                del pool.reserved[job]
                self.start(pool, job)

    def reserve(self, pool, job):
        pool.reserved[job] = pool.earliest(job, self.now, pool.reserved)
        self.promises.setdefault(job.number, pool.reserved[job])

    def compress(self, pool):
        before = None
        while before is None or (self.repeat and before != pool.reserved):
            before = dict(pool.reserved)
            queue = self.ranked(before, self.order)
            if self.compression == "reservation":
                queue.sort(key=lambda job: (before[job], job.submit, self.place[job]))
            for job in queue:
                del pool.reserved[job]
                self.reserve(pool, job)
