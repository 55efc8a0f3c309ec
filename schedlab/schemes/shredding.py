"""Schemes for parameter sweeps, flooding and opportune job shredding, and their results at each site."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd, lcm

import numpy as np

from schedlab._runtime.text import check_known, spelt
from schedlab._runtime.threads import interruptible
from schedlab.kernels import sites as kernel
from schedlab.kernels.replay import JOB_ARRIVES, JOB_WITHDRAWN, Events
from schedlab.kernels.shredding import shredding
from schedlab.machine import Flat

from .base import Case, Jobs, Outcome, Scheme
from .conservative import Conservative
from .outcomes import Pieces

LOCAL = ("easy", "conservative")
MOST_RESERVED = 10_000_000  # tasks with a reservation each: would take minutes, and gigabytes


@dataclass(frozen=True)
class Shredding(Scheme):
    """Base of the schemes for parameter sweeps; `Trace.with_parameter_sweeps` marks the sweeps."""

    local: str = "easy"

    needs = "sweeps"
    splits = True
    release = everywhere = flooding = False

    def __post_init__(self):
        check_known("local", self.local, LOCAL)

    def __str__(self) -> str:
        settings = [*[self.local] * (self.local != "easy"), *(o for o in ("release", "everywhere") if getattr(self, o))]
        return f"{self.label} ({', '.join(settings)})" if settings else self.label

    def promises(self, machine: Flat) -> bool:
        """Tell whether promises are kept: those of the local scheduler are."""
        return True

    def check(self, case: Case) -> None:
        super().check(case)
        if case.breakdown is None:
            return  # other sites may have sweeps
        if case.breakdown.dtype.kind not in "iu" or (case.breakdown < 0).any():
            raise ValueError(f"breakdown of {case.name} has values that are not whole numbers of at least 0")
        if (case.jobs.run[case.breakdown > 0] < 1).any():
            message = f"{case.name} has a sweep with a run time of 0"
            raise ValueError(f"{message}; with_parameter_sweeps never marks such jobs")

    def simulate(self, case: Case) -> Outcome:
        return self.simulate_sites([case], (1,))[0]

    def simulate_sites(self, cases: Sequence[Case], speeds: Sequence[int]) -> tuple[Outcome, ...]:
        """As of `Scheme`; see `schedlab.kernels.shredding`."""
        if all(case.breakdown is None for case in cases):
            names = ", ".join(case.name for case in cases)
            raise ValueError(f"{self} needs sweeps, and {names} has none: mark some with trace.with_parameter_sweeps()")
        shared = shred(self, cases, tuple(speeds))
        return tuple(_at_site(shared, site, case) for site, case in enumerate(cases))


@dataclass(frozen=True)
class Flooding(Shredding):
    """At submission, replace each sweep by its tasks: jobs of one processor, at the sweep's place in the queue.

    Parameters
    ----------
    local : {"easy", "conservative"}
        The local scheduler. Under EASY, the tasks of a sweep are kept as a count. Under conservative backfilling, each
        task has its own reservation, and simulation time grows with the number of tasks.

    Examples
    --------
    Job 2 is a sweep of 32 tasks of 1 s. Under EASY, it waits for all 8 processors. As tasks, it uses whatever is free,
    and all of them come before job 3, which arrived later:

    >>> import schedlab as sl
    >>> jobs = [(0, 6, 6, 5), (1, 4, 4, 8), (2, 4, 4, 3)]  # submission, run time, estimate, processors
    >>> trace = sl.testing.trace_of(jobs, machine=8).with_parameter_sweeps(1, min_procs=8, breakdown=4)
    >>> schedules = {"EASY": sl.simulate(trace, "easy"), "Flooding": sl.simulate(trace, sl.Flooding())}
    >>> [schedule.end.astype(int).tolist() for schedule in schedules.values()]
    [[6, 10, 6], [6, 9, 12]]
    >>> chart = sl.charts.gantts(schedules, color="job_number", label="job_number")

    References
    ----------
    Kurian, Balaji and Sadayappan, "Opportune job shredding", The Ohio State University, 2003.
    """

    label = "Flooding"
    names = {"flooding": {}}
    colours = {"Flooding": "#AA4499"}
    flooding = True


@dataclass(frozen=True)
class OpportuneShredding(Shredding):
    """Start tasks of queued sweeps where they do not disturb the local schedule; the parallel job runs the rest.

    ``schedule.metrics(by="breakdown")`` tells sweeps from other jobs, whose breakdown is 0; ``schedule.sweeps()`` tells
    of each sweep which tasks ran apart.

    Parameters
    ----------
    local : {"easy", "conservative"}
        The local scheduler, which is not modified.
    release : bool
        Whether the parallel job releases processors that have no more tasks before its last round ends.
    everywhere : bool
        True: the queue of each site holds a copy of each sweep, reshaped to the whole machine if that is smaller. The
        first copy to start takes the remaining tasks. False: the parallel job stays at home; other sites run tasks.

    Examples
    --------
    Job 2 is a sweep of 32 tasks of 1 s. Three of them start at 1 s, when no other job waits. Job 3 is backfilled as if
    they had not; flooding would delay it. The parallel job runs the other tasks:

    >>> import schedlab as sl
    >>> jobs = [(0, 6, 6, 5), (1, 4, 4, 8), (2, 4, 4, 3)]  # submission, run time, estimate, processors
    >>> trace = sl.testing.trace_of(jobs, machine=8).with_parameter_sweeps(1, min_procs=8, breakdown=4)
    >>> schedules = {"Flooding": sl.simulate(trace, "flooding"), "OJS": sl.simulate(trace, sl.OpportuneShredding())}
    >>> schedules["OJS"].sweeps()["tasks_alone"].tolist()
    [3]
    >>> chart = sl.charts.gantts(schedules, color="sweeps", label="job_number")

    References
    ----------
    As for `Flooding`.
    """

    release: bool = False
    everywhere: bool = False

    label = "OJS"
    names = {"ojs": {}}
    colours = {"OJS": "#B7891E"}

    def __post_init__(self):
        super().__post_init__()
        for name in ("release", "everywhere"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} is {spelt(getattr(self, name))}, expected True or False")


@dataclass(frozen=True, eq=False, repr=False)
class Shared:
    """The result of sweeps on one or several sites; arrays are int64, times in ticks (`tick` per second).

    The entries of all queues stand one site after the other, those of site s at ``offset[s]:offset[s + 1]``:
    submission, home site and position there (`job`), processors (`width`), estimate of the parallel job, number of the
    sweep or -1, start and promise as in `schedlab.kernels.shredding.shredding`, and when the entry started or was
    withdrawn (`gone`). Of each sweep: number of tasks, how many of them the parallel job ran (`claimed`), and its end.
    Of each site: `lost` (processor-ticks), its pieces, and when the local scheduler expected these to end. `events` is
    the kernel's log.
    """

    tick: int
    offset: np.ndarray
    submit: np.ndarray
    home: np.ndarray
    job: np.ndarray
    width: np.ndarray
    estimate: np.ndarray
    sweep: np.ndarray
    start: np.ndarray
    promise: np.ndarray
    gone: np.ndarray
    tasks: np.ndarray
    claimed: np.ndarray
    end: np.ndarray
    lost: np.ndarray
    events: np.ndarray
    flooding: bool
    pieces: tuple[Pieces, ...]
    expected: tuple[np.ndarray, ...]

    @cached_property
    def log(self) -> np.ndarray:
        """The rows of `events` that concern tasks."""
        return self.events[self.events[:, kernel.LOG_KIND] == kernel.TASKS_START]

    def entries(self, site: int) -> slice:
        """Return the entries of a site's queue."""
        return slice(int(self.offset[site]), int(self.offset[site + 1]))

    def changes(self, site: int) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """Return the changes over time at a site, as in `Outcome`; a queued sweep wants no more than its tasks."""
        entries, pieces = self.entries(site), self.pieces[site]
        sweep, width = self.sweep[entries], self.width[entries]
        full = np.where(self.flooding & (sweep >= 0), self.tasks[sweep], width) if self.tasks.size else width
        time = [pieces.start, pieces.end, self.submit[entries], self.gone[entries]]
        zeros = np.zeros(sweep.size, "int64")
        used = [pieces.procs, -pieces.procs, zeros, zeros]
        queued = [np.zeros(2 * pieces.procs.size, "int64"), zeros + 1, zeros - 1]
        # A queued sweep wants less as its tasks run: for each batch, the tasks left before and after it, on any site.
        log = self.log[np.lexsort((np.arange(len(self.log)), self.log[:, kernel.LOG_WHAT]))]
        number, count = log[:, kernel.LOG_WHAT], log[:, kernel.LOG_COUNT]
        started = np.cumsum(count)
        first = np.searchsorted(number, number)
        after = self.tasks[number] - (started - started[first] + count[first])
        entry_of = np.full(self.tasks.size, -1)
        entry_of[sweep[sweep >= 0]] = np.flatnonzero(sweep >= 0)
        entry = entry_of[number]
        present = entry >= 0
        most = full[entry[present]]
        fall = np.minimum(most, after[present] + count[present]) - np.minimum(most, after[present])
        left = full.copy()  # wanted when the entry left the queue
        np.subtract.at(left, entry[present], fall)
        time.append(log[present, kernel.LOG_TIME])
        used.append(np.zeros(fall.size, "int64"))
        queued.append(np.zeros(fall.size, "int64"))
        wanted = [np.zeros(2 * pieces.procs.size, "int64"), full, -left, -fall]
        return np.concatenate(time), tuple(np.concatenate(column) for column in (used, queued, wanted))

    def happened(self, site: int) -> Events:
        """List what happened at a site, in order."""
        entries, pieces = self.entries(site), self.pieces[site]
        what, at, when, _, kind = self.events.T
        sweep, row = self.sweep[entries], np.arange(kind.size)
        # The pieces are: the parallel jobs in the order of their entries, the second pieces of some, then the tasks.
        parallel = np.flatnonzero(self.start[entries] >= 0)
        apart = np.flatnonzero(pieces.tasks)
        place = np.full(sweep.size, -1)
        place[parallel] = np.arange(parallel.size)
        second = np.full(sweep.size, -1)
        entry_of = {key: i for i, key in enumerate(zip(self.home[entries], self.job[entries], strict=True))}
        for piece in range(parallel.size, pieces.tasks.size - apart.size):
            second[entry_of[pieces.home[piece], pieces.job[piece]]] = piece
        tasks, jobs = (row[(kind == code) & (at == site)] for code in (kernel.TASKS_START, kernel.JOB_STARTS))
        others = row[((kind == kernel.COMPRESSED) & (at == site)) | (kind == kernel.ANOTHER_ROUND)]
        # Copies are withdrawn when the sweep's last task starts, or when another copy starts.
        last = np.full(self.tasks.size, -1)
        started = kind == kernel.JOB_STARTS
        number = np.where(kind == kernel.TASKS_START, what, -1)
        number[started] = self.sweep[self.offset[at[started]] + what[started]]
        np.maximum.at(last, number[number >= 0], row[number >= 0])
        left = np.flatnonzero((sweep >= 0) & (place < 0))
        blank = np.full(max(sweep.size, row.size), -1)
        parts = [
            (self.submit[entries], np.full(sweep.size, JOB_ARRIVES), np.arange(sweep.size), blank, blank, blank),
            (when[jobs], kind[jobs], what[jobs], place[what[jobs]], second[what[jobs]], 2 * jobs),
            (when[tasks], kind[tasks], blank, apart[: tasks.size], blank, 2 * tasks),
            (when[others], kind[others], blank, blank, blank, 2 * others),
            (when[last[sweep[left]]], np.full(left.size, JOB_WITHDRAWN), left, blank, blank, 2 * last[sweep[left]] + 1),
        ]
        columns = [np.concatenate([part[i][: part[0].size] for part in parts]) for i in range(6)]
        order = np.lexsort((columns[2], columns[5], columns[0]))
        return Events(*(column[order] for column in columns[:5]))


@dataclass(frozen=True, eq=False, repr=False)
class AtSite(Outcome):
    """The result for the jobs that were submitted at a site, and for the site's machine; `shared` is that of all sites.

    A job starts when it first holds a processor, and ends with its last task, at whatever site.
    """

    shared: Shared | None = None
    site: int = 0
    breakdown: np.ndarray | None = None

    in_pieces = True

    @property
    def tick(self) -> int:
        """Ticks per second: tasks need not take whole seconds."""
        return self.shared.tick

    @property
    def lost(self) -> int:
        """The loss of capacity in processor-ticks."""
        return int(self.shared.lost[self.site])

    @cached_property
    def _own(self):
        entries = self.shared.entries(self.site)
        return entries.start + np.flatnonzero(self.shared.home[entries] == self.site)

    @cached_property
    def end(self) -> np.ndarray:
        entries, shared = self._own, self.shared
        sweep, ends = shared.sweep[entries], shared.start[entries] + self.run * self.tick
        return np.where(sweep >= 0, shared.end[sweep], ends) if shared.end.size else ends

    @property
    def pieces(self) -> Pieces:
        """The pieces that held the site's processors, including jobs of other sites."""
        return self.shared.pieces[self.site]

    def changes(self) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        return self.shared.changes(self.site)

    def queued(self) -> tuple[np.ndarray, np.ndarray]:
        entries = self.shared.entries(self.site)
        return self.shared.submit[entries], self.shared.gone[entries]

    @cached_property
    def parallel_start(self) -> np.ndarray:
        """Start of each parallel job, -1 if only tasks ran; int64, ticks."""
        shared, began = self.shared, np.full(self.submit.size, -1)
        at_home = shared.home == self.site
        np.maximum.at(began, shared.job[at_home], shared.start[at_home])
        return began

    @property
    def promised_start(self) -> np.ndarray:
        """As in `Outcome`: the start of the parallel job, -1 if only tasks ran."""
        return self.parallel_start

    def begun(self) -> tuple[np.ndarray, np.ndarray]:
        """As in `Outcome`; all tasks of a sweep have the same share of its work."""
        shared, work = self.shared, self.run * self.procs
        sweep = shared.sweep[self._own]
        swept = np.flatnonzero(sweep >= 0)
        task = np.zeros(shared.tasks.size)
        task[sweep[swept]] = work[swept] / shared.tasks[sweep[swept]]
        plain = np.flatnonzero(sweep < 0)
        joint = swept[self.parallel_start[swept] >= 0]
        log = shared.log[task[shared.log[:, kernel.LOG_WHAT]] > 0]
        times = [self.start[plain], self.parallel_start[joint], log[:, kernel.LOG_TIME]]
        claimed = shared.claimed[sweep[joint]] * task[sweep[joint]]
        parts = [work[plain], claimed, log[:, kernel.LOG_COUNT] * task[log[:, kernel.LOG_WHAT]]]
        return np.concatenate(times), np.concatenate(parts)

    def columns(self, seconds) -> dict[str, np.ndarray]:
        """As in `Outcome`: breakdown, parallel_start (nan if only tasks ran), tasks_alone (not in the parallel job)."""
        shared, sweep = self.shared, self.shared.sweep[self._own]
        alone = np.zeros(sweep.size, "int64")
        alone[sweep >= 0] = (shared.tasks - shared.claimed)[sweep[sweep >= 0]]
        began = self.parallel_start
        began = np.where(began >= 0, seconds(began), np.nan)
        return {"breakdown": self.breakdown, "parallel_start": began, "tasks_alone": alone}


def _at_site(shared, site, case):
    queue = shared.entries(site)
    entries = queue.start + np.flatnonzero(shared.home[queue] == site)
    first = np.full(len(case), np.iinfo(np.int64).max)
    for pieces in shared.pieces:
        local = pieces.home == site
        np.minimum.at(first, pieces.job[local], pieces.start[local])
    jobs = case.jobs
    more = {"shared": shared, "site": site, "breakdown": _rounds(case)}
    return AtSite(jobs.submit * shared.tick, first, jobs.run, jobs.procs, shared.promise[entries], case.cut, **more)


def _rounds(case):
    return np.zeros(len(case), "int64") if case.breakdown is None else case.breakdown


def shred(scheme: Shredding, cases: Sequence[Case], speeds: tuple[int, ...]) -> Shared:
    """Simulate sites together, with cases in seconds since the common beginning."""
    jobs, machines = [case.jobs for case in cases], [case.machine.procs for case in cases]
    home = np.repeat(np.arange(len(jobs)), [table.submit.size for table in jobs])
    job = np.concatenate([np.arange(table.submit.size) for table in jobs])
    submit, run, estimate, procs = map(np.concatenate, zip(*jobs, strict=True))
    parts = np.concatenate([_rounds(case) for case in cases])
    queue = np.lexsort((job, home, submit))
    columns = (home, job, submit, run, estimate, procs, parts)
    home, job, submit, run, estimate, procs, parts = (column[queue] for column in columns)
    speed = np.array(speeds) // gcd(*speeds)
    tick = lcm(*np.unique(parts[parts > 0]).tolist()) * lcm(*speed.tolist())
    slow = int(speed.max())
    span = float(submit[-1] - submit[0]) + slow * estimate.sum(dtype="float64")
    if tick >= 2**31 or span * tick * max(machines) >= 2**62:
        raise ValueError(f"ticks of 1/{tick:,} second, which whole tasks need, are more than int64 can count")

    swept = np.flatnonzero(parts)
    tasks = procs[swept] * parts[swept]
    if scheme.flooding and scheme.local == "conservative" and tasks.sum() > MOST_RESERVED:
        most = f"at most {MOST_RESERVED:,}; local='easy' counts them only"
        raise ValueError(f"{scheme} gives each task a reservation, and cannot for {tasks.sum():,} tasks: {most}")
    # From the home's speed to each site's, whole by the choice of ticks.
    task_run, task_estimate = (
        time[swept] * tick // parts[swept] * speed[home[swept]] // speed[:, None] for time in (run, estimate)
    )
    number = np.full(home.size, -1)
    number[swept] = np.arange(swept.size)
    chosen = [np.flatnonzero((home == site) | (scheme.everywhere & (number >= 0))) for site in range(len(machines))]
    offset = np.concatenate([[0], np.cumsum([rows.size for rows in chosen])])
    at = np.repeat(np.arange(len(machines)), np.diff(offset))
    row = np.concatenate(chosen)
    width = np.minimum(procs[row], np.array(machines)[at])
    length, expected = run[row] * tick, estimate[row] * tick
    sweep = number[row]
    sweeps = np.flatnonzero(sweep >= 0)
    rounds = -(-tasks[sweep[sweeps]] // width[sweeps]) if not scheme.flooding else 1
    length[sweeps] = rounds * task_run[at[sweeps], sweep[sweeps]]
    expected[sweeps] = rounds * task_estimate[at[sweeps], sweep[sweeps]]
    requested = np.where((sweep >= 0) & scheme.flooding, 1, width)
    conservative = scheme.local == "conservative"
    entries = kernel.Entries(offset, Jobs(submit[row] * tick, length, expected, requested), sweep)
    if conservative and scheme.flooding:
        start, promise, end, claimed, events, lost = _flooded(entries, machines, tasks)
    else:
        sweeping = kernel.Tasks(tasks, task_run, task_estimate)
        rules = kernel.Rules(conservative, scheme.flooding, scheme.release)
        results = interruptible(shredding, entries, np.array(machines), sweeping, rules)
        start, promise, end, claimed, events, lost = results
    log = events[events[:, kernel.LOG_KIND] == kernel.TASKS_START]
    gone = start.copy()
    ended = np.full(swept.size, -1)
    np.maximum.at(ended, log[:, kernel.LOG_WHAT], log[:, kernel.LOG_TIME])
    np.maximum.at(ended, sweep[sweeps], start[sweeps])  # a parallel job that starts cancels its copies
    gone[sweeps] = ended[sweep[sweeps]]
    pieces, ends = [], []
    for site in range(len(machines)):
        entry = offset[site] + np.flatnonzero(start[offset[site] : offset[site + 1]] >= 0)
        columns = (column[entry] for column in (width, length, sweep))
        parallel, procs, lasts = _held(entry, *columns, claimed, task_run[site], scheme.release)
        batch, _, began, count, _ = log[log[:, kernel.LOG_SITE] == site].T
        of = np.concatenate([row[parallel], swept[batch]])
        begin = np.concatenate([start[parallel], began])
        last = begin + np.concatenate([lasts, task_run[site, batch]])
        held, apart = (np.concatenate([first, count]) for first in (procs, np.zeros_like(procs)))
        pieces.append(Pieces(home[of], job[of], submit[of] * tick, begin, last, held, apart))
        ends.append(begin + np.concatenate([expected[parallel], task_estimate[site, batch]]))
    entries = (offset, submit[row] * tick, home[row], job[row], width, expected, sweep, start, promise, gone)
    sweeps = (tasks, claimed, end)
    return Shared(tick, *entries, *sweeps, lost, events, scheme.flooding, tuple(pieces), tuple(ends))


def _flooded(entries, machines, tasks):
    """Do the kernel's work for flooding under conservative backfilling, where each task has its own reservation."""
    offset, (submit, run, estimate, procs), sweep = entries
    start, promise = np.full(submit.size, -1), np.full(submit.size, -1)
    end, events, lost = np.zeros(tasks.size, "int64"), [], []
    for site, machine in enumerate(machines):
        queue = np.arange(offset[site], offset[site + 1])
        count = np.ones(queue.size, "int64")
        count[sweep[queue] >= 0] = tasks[sweep[queue][sweep[queue] >= 0]]
        entry = np.repeat(queue, count)
        jobs = Jobs(*(column[entry] for column in (submit, run, estimate, procs)))
        outcome = Conservative().simulate(Case(jobs, Flat(machine)))
        began, promised = outcome.start, outcome.promise
        first = np.cumsum(count) - count  # of each sweep, the first task that is promised a start
        promise[queue] = promised[first]
        start[queue] = np.where(sweep[queue] >= 0, -1, began[first])
        number, task = sweep[entry], sweep[entry] >= 0
        np.maximum.at(end, number[task], (began + jobs.run)[task])
        (when, what), batch = np.unique(np.stack([began[task], number[task]]), axis=1, return_counts=True)
        same = np.ones_like(when)
        events.append(np.stack([what, site * same, when, batch, kernel.TASKS_START * same], axis=1))
        lost.append(_lost(outcome, machine))
    return start, promise, end, np.zeros(tasks.size, "int64"), np.concatenate(events), np.array(lost)


def _lost(outcome, machine):
    """Return the loss of capacity when each job runs in one piece."""
    time, (used, _, wanted) = outcome.changes()
    order = np.argsort(time, kind="stable")
    used, wanted = (np.cumsum(change[order]) for change in (used, wanted))
    return int((np.minimum(wanted, machine - used)[:-1] * np.diff(time[order])).sum())


def _held(entry, width, length, sweep, claimed, task_run, release):
    """Return what parallel jobs held at a site: entry, processors, ticks. A job that releases some has two rows."""
    swept = np.flatnonzero(sweep >= 0)
    number, wide = sweep[swept], width[swept]
    full, rest = np.divmod(claimed[number], wide)
    length, procs = length.copy(), width.copy()
    length[swept] = (full + (rest > 0)) * task_run[number]
    if not release:
        return entry, procs, length
    # The remainder runs until the end of the last round, the others until the end of the last full round.
    procs[swept] = np.where(rest > 0, rest, wide)
    two = (rest > 0) & (full > 0)
    second = [entry[swept[two]], (wide - rest)[two], (full * task_run[number])[two]]
    return tuple(np.concatenate(pair) for pair in zip((entry, procs, length), second, strict=True))
