"""Checks of a scheme on tiny and on realistic workloads; each failure comes with a small workload that shows it."""

import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from itertools import chain
from math import ceil
from numbers import Real
from operator import itemgetter

import numpy as np

from schedlab._runtime.text import spelt
from schedlab.machine import Pools
from schedlab.schemes import EASY, Scheme
from schedlab.schemes import scheme as scheme_named
from schedlab.schemes.cases import check_trace
from schedlab.schemes.compiled import CompiledScheme
from schedlab.schemes.python import PythonScheme
from schedlab.workload.trace import Trace

from . import faults, notes
from .apart import MOMENT, Apart, Beyond, Lost, smallest_lost
from .pool_workloads import tiny_in_pools
from .report import Check, CheckError, Report
from .shrinking import smallest
from .workloads import DAY, WEEK, Coverage, Workload, overruns_of, realistic, tiny

APART = "ends, and stays within its arrays, in a process of its own"
LAWS = "keeps the laws of scheduling"
POOLS = "keeps the laws on machines of several pools"
BESIDE = "does not depend on the number of a pool, or on pools beside it"
AGAIN = "gives the same schedule again"
KEEPS = "keeps nothing from one simulation to the next"
NUMBERS = "does not depend on job numbers"
THREADS = "gives the same in several threads"
HASHES = "does not depend on hash order"
CLOCK = "does not depend on the clock's origin"
HOURS = "does not depend on the hour of day"
FUTURE = "does not know the future"
FORGETS = "forgets what lies before a long idle time"

# Tiny workloads for an effort of 1: for a scheme that is as fast as a kernel, and for others.
TINY = 600, 250
IN_POOLS = 100  # tiny workloads on machines of pools
# One tiny workload of so many; POOLS: of those on machines of pools, for the same schedule again.
PARTS = {FUTURE: 5, FORGETS: 3, CLOCK: 5, HOURS: 10, KEEPS: 10, AGAIN: 20, THREADS: 20, POOLS: 5}
# Realistic workloads in checks other than those of the laws and of `like`: so many of up to so many jobs, for a scheme
# that is as fast as a kernel and for others, whose simulations may take so many seconds there.
FEW, SHORT, QUICK = (100, 3), (400, 130), 0.1
SWIFT = 0.02  # seconds; if a simulation takes no longer, the workload counts among them in any case
SLOW = 20, 1  # seconds that the tiny and the realistic workloads may take with such a scheme and an effort of 1
TIMED, SIMULATED = 20, 8  # tiny workloads whose time is taken; how often all checks together simulate one
SHIFTS = (100_003, DAY // 2, 3 * DAY)  # seconds
WEEKS = (2 * WEEK,)  # seconds

DRAWS = "It draws random numbers: begin each simulation with a seed of its own."
HOLDS = (
    "It keeps something (a global, a default argument, an attribute), has an unseeded generator of its own, reads the\n"
    "clock of the computer, or goes by the addresses of objects: by id(), or through a set of them."
)
ONCE = "the next simulation of it keeps them: the scheme keeps something from one simulation to the next, or draws"
DAILY = "decisions depend on the time of day or of the week, counted from the first submission"


def check_scheme(
    scheme: Scheme | str,
    like: Scheme | str | None = None,
    *,
    remembers: bool = False,
    clairvoyant: bool = False,
    dated: bool = False,
    pools: bool = False,
    known: Collection[str] = (),
    trace: Trace | None = None,
    effort: float = 1.0,
    raises: bool = True,
) -> Report:
    """Check a scheme on workloads of two kinds.

    The tiny ones, on up to 6 processors, are full of ties, zero-length and full-width jobs, and early ends. The
    realistic ones have times of hours and days with popular estimates, machines of 10 to 1,000,000 processors, hundreds
    of waiting jobs, clocks beyond 2**31 s, shuffled job numbers, slices of a log at a load of 1.2, and all rules for
    jobs that outlive their estimates that the scheme supports. The report says what was covered.

    - A scheme of your own first runs in a process of its own, where compiled code checks that indices lie within their
      arrays. What ends the process, or does not end within 20 s (100 s for a realistic workload), is a failed check. A
      negative index counts from the end of an array, as everywhere in Python. A scheme that cannot be sent to another
      process is not tried there, and the report says so.
    - The laws: every job starts exactly once, and not before it is submitted; no more processors are held than the
      machine has. Promises are kept if the scheme says so (`Scheme.promises`), and jobs start in order of arrival if it
      says so (`Scheme.in_order`). Letting jobs wait while processors idle is allowed. If a law is broken, nothing else
      is checked.
    - The same schedule comes out again: at once, after simulations of other workloads, in several threads, and in a
      process in which sets and dictionaries have another order.
    - The clock: if all jobs but an early one are submitted later, they start as much later.
    - The future has no influence. Up to an instant, starts depend neither on later arrivals, nor on how long jobs run
      that have not ended, nor on their columns that are known only afterwards: each is changed at random. Known at
      submission are the submission, the request (processors, time and memory), user, group, account, project, qos,
      executable, queue, partition, preceding job and think time. Others must be declared by `known`.
    - What happens before a long idle time has no influence on what happens after it.
    - If `pools`, it keeps the laws on tiny machines of several pools (`Pools`), too: no more of a resource is held than
      a pool has open, limits hold, and windows that are announced end no job. A limit that no job reaches, with which
      the pools are simulated together and not one by one, changes nothing.
    - If `like` is given: every job starts exactly when it does under that scheme, with `pools` in pools, too. Use it to
      compare a compiled scheme with its plain form, or a scheme that claims to be EASY with EASY.

    Each failed check shows a small workload that breaks it, with the job and, if there is something to see, the
    schedules as Gantt charts. `Report.notes` has what is no error but worth knowing: jobs that wait as long as others
    arrive, waits over ten times EASY's, a delayed head of the queue, decisions that depend on the hour of day.

    Parameters
    ----------
    scheme : Scheme or str
        A scheme for rigid jobs, on machines without a topology.
    like : Scheme or str, optional
        The scheme that it should agree with.
    remembers : bool
        Allow the past before an idle time to matter: for fair share.
    clairvoyant : bool
        Allow it to know the future: for schemes that use run times.
    dated : bool
        Allow it to depend on the time since the log began: for orders of the absolute submission, such as "f1".
    pools : bool
        Check it on machines of several pools, with resources, closed windows and limits, too.
    known : collection of str
        Further columns that are known when a job is submitted, such as ``["priority"]``.
    trace : Trace, optional
        Supplies columns that are not in the Standard Workload Format, and the slices of a log. Default: a stand-in.
    effort : float
        1 takes 3 to 5 seconds for most schemes, besides compiling, and draws 600 tiny and 13 realistic workloads; 10
        draws ten times as many. Schemes in plain Python have 250 tiny ones, and fewer jobs in the realistic ones. Of a
        scheme that needs milliseconds for each pass, fewer workloads are simulated, and the report says so.
    raises : bool
        Raise if a check fails. If false, see ``report.passed``.

    Returns
    -------
    Report

    Raises
    ------
    CheckError
        If a check fails; its attribute `report` has all results.
    ValueError
        For a scheme that needs more than rigid jobs.

    Examples
    --------
    >>> import schedlab as sl
    >>> report = sl.testing.check_scheme(sl.FCFS(), like="easy", effort=0.1, raises=False)
    >>> [check.name for check in report.failed]
    ['starts every job when EASY does']
    """
    if isinstance(effort, bool) or not isinstance(effort, Real) or not 0 < effort < np.inf:
        raise ValueError(f"effort must be a number greater than 0, got {spelt(effort)}")
    scheme = scheme_named(scheme)
    like = None if like is None else scheme_named(like)
    for candidate in (scheme, like):
        if candidate is not None and candidate.needs is not None:
            raise ValueError(
                f"{candidate} needs {candidate.needs!r} of the jobs; check_scheme is for schemes of rigid jobs"
            )
        if candidate is not None and pools and not issubclass(Pools, candidate.machines):
            raise ValueError(f"{candidate} does not run on pools: leave out pools=True")
    if trace is not None:
        check_trace(trace)
    run = _Run(scheme, like, known, effort, trace, pools)
    checks = []
    remarks = []
    try:
        checks += run.checks(remembers, clairvoyant, dated)
        flat = {workload: outcome for workload, outcome in run.seen.items() if workload.machine is None}
        remarks += [*run.notes, *notes.of_scheme(scheme, flat)] if run.lawful else []
    except faults.Broken as broken:
        checks.append(_broken(LAWS, broken))
    finally:
        run.close()
    report = Report(f"scheme {scheme}", tuple(checks), tuple(remarks), run.covered)
    if raises and not report.passed:
        raise CheckError(report)
    return report


class _Run:
    """The checks of one scheme, which share workloads and starts."""

    def __init__(self, scheme, like, known, effort, trace, pools):
        self.scheme, self.like, self.known = scheme, like, tuple(known)
        self.own = not _is_of_the_package(scheme)
        schemes, of = [scheme, *([] if like is None else [like])], None if trace is None else trace.columns
        self.fast = all(_is_of_the_package(candidate) or isinstance(candidate, CompiledScheme) for candidate in schemes)
        rules = overruns_of(*schemes)
        self.tiny = sorted(tiny(ceil(TINY[not self.fast] * effort), rules, of), key=len)
        self.real = list(realistic(effort, self.fast, rules, of, trace))
        self.in_pools = tiny_in_pools(ceil(IN_POOLS * effort), rules) if pools else []
        if not self.fast:
            self.real.sort(key=len)  # what long ones take is told by short ones
        self.coverage, self.seen, self.notes = Coverage(), {}, []
        patience = max(effort, 1)
        self.tiny_time, self.left = (np.inf, np.inf) if self.fast else (SLOW[0] * patience, SLOW[1] * patience)
        self.few, self.lawful, self.skipped, self.apart, self.other, self.unsent = [], False, False, None, None, ""
        self._set_apart()

    def _set_apart(self):
        """Let another process simulate the workloads, instead of one before."""
        self.close()
        if self.own and not self.unsent:
            try:
                self.apart = Apart(self.scheme, [*self.tiny, *self.real, *self.in_pools])
            except Exception as error:  # a scheme may hold anything
                self.unsent = f"not tried: it cannot be sent to another process ({type(error).__name__}: {error})"

    def close(self):
        if self.apart:
            self.apart.close()

    @property
    def covered(self):
        pools = f", and {len(self.in_pools):,} workloads in pools" if self.in_pools else ""
        return f"{self.coverage}{pools}{'; less than usual, since it takes long' * self.skipped}"

    def checks(self, remembers, clairvoyant, dated):
        """Yield the checks, and no more after one that makes the others meaningless."""
        yield from self._first()
        if not self.lawful:
            return
        scheme, start = self.scheme, {workload: outcome.start for workload, outcome in self.seen.items()}
        with faults.as_before():
            some = [*self._some(AGAIN), *self.in_pools[:: PARTS[POOLS]]]
            twice = look(AGAIN, faults.again(scheme), some)
            if not twice.passed:
                seeded = look(KEEPS, faults.again_with_seeds(scheme), some)
                yield _with(twice, DRAWS) if seeded.passed else _with(seeded, HOLDS)
                return
            yield twice
            hashes = [self._hashes()] if self.own else []
            if all(check.passed for check in hashes):
                kept = look(KEEPS, faults.keeps(scheme, self.tiny[-20::5], start), self._some(KEEPS))
                if faults.BY_NUMBER in kept.found:
                    hashes.append(Check(NUMBERS, False, kept.found, kept.schedules))
                else:
                    hashes.append(kept if kept.passed else _with(kept, HOLDS))
            yield from hashes
            if not hashes[-1].passed:
                return
        small = sorted(self.few, key=len)[:3]
        yield look(THREADS, faults.threads(scheme, small), [*self.tiny[:: PARTS[THREADS]], *small])
        if self.in_pools:
            yield look(BESIDE, faults.beside(scheme), self.in_pools)
        yield self._clock(dated)
        if not clairvoyant:
            yield look(FUTURE, faults.knows(scheme, self.known), self._some(FUTURE))
        if not remembers:
            yield look(FORGETS, faults.forgets(scheme), self._some(FORGETS))
        if self.like is not None:
            fault = faults.unlike(scheme, self.like, start)
            yield look(f"starts every job when {self.like} does", fault, self._in_time_of(self.like, [*self.seen]))

    def _some(self, name):
        """Return the workloads of a check that is not about the laws."""
        return [*self.tiny[:: PARTS[name]], *self.few]

    def _in_time(self):
        """Yield the workloads; end before one that would take too long, and note the short ones."""
        yield from self.tiny[:TIMED]
        self._thin_out()
        yield from self.tiny[TIMED:]
        longest = SHORT[not self.fast]
        for workload in self.real:
            begin = time.perf_counter()
            if self._is_too_long(self.scheme, workload):
                return
            yield workload
            taken = time.perf_counter() - begin
            self.left -= taken
            enough = len(self.few) >= FEW[not self.fast]
            some = not enough and (self.fast or taken < QUICK)
            if (len(workload) <= longest and some) or (len(workload) <= SHORT[0] and taken < SWIFT):
                self.few.append(workload)

    def _thin_out(self):
        """Take fewer tiny workloads of those that are left, if all checks of all of them would take too long."""
        if self.fast:
            return
        tried, left = self.tiny[:TIMED], self.tiny[TIMED:]
        taken = np.inf
        for _ in range(2):
            begin = time.perf_counter()
            for workload in tried:
                faults.starts(self.scheme, workload)
            taken = min(taken, time.perf_counter() - begin)
        jobs = sum(map(len, left)) / sum(map(len, tried))
        step = ceil(taken * jobs * SIMULATED / self.tiny_time)
        if step > 1:
            self.skipped, self.tiny = True, [*tried, *left[::step]]
            self._set_apart()

    def _in_time_of(self, scheme, workloads):
        """Yield workloads; end before one that would take too long under another scheme."""
        for workload in workloads:
            if self._is_too_long(scheme, workload):
                return
            yield workload

    def _is_too_long(self, scheme, workload):
        """Tell whether a simulation will take more time than is left, by those of its first jobs."""
        if self.fast or len(workload) <= SHORT[1]:
            return False
        times = []
        for count in (60, 120):
            begin = time.perf_counter()
            faults.starts(scheme, workload.some(np.arange(count)))
            times.append(time.perf_counter() - begin)
        expected = times[1] * (times[1] / times[0]) ** np.log2(len(workload) / 120)
        self.skipped |= bool(expected > self.left)
        return expected > self.left

    def _first(self):
        """Simulate each workload, after the process apart has: the scheme ends, and keeps the laws."""
        law = faults.law(self.scheme, self.seen)
        if self.apart and isinstance(self.scheme, CompiledScheme):
            with suppress(Exception):  # meanwhile; the first simulation fails in the same way, and is reported
                self.scheme.compile(self.tiny[0].case)
        for known in filter(None, (self.like, EASY())):  # meanwhile too: their kernels are loaded
            faults.starts(known, self.tiny[0])
        for workload in chain(self._in_time(), self.in_pools):
            answer = None
            if self.apart:
                try:
                    answer = self.apart.answer_to(workload)
                except Lost as lost:
                    limit = f"; nor does this workload end within {MOMENT:g} s" if lost.code is None else ""
                    yield Check(APART, False, f"{self.scheme} {lost}{limit}\n{smallest_lost(self.scheme, lost)}")
                    return
                if isinstance(answer, Beyond):
                    yield Check(APART, False, f"{answer.words}\n{answer.workload}")
                    return
            if problem := law(workload):
                yield from self._apart()
                recurring = look(LAWS if workload.machine is None else POOLS, law, [workload])
                once = _broken(recurring.name, faults.Broken(problem[0], self.scheme, workload))
                yield once if recurring.passed else recurring
                return
            start = self.seen[workload].start
            if workload.machine is None:
                self.coverage.add(workload, start)
            if self.other is None and answer is not None and not np.array_equal(answer, start):
                self.other = workload, answer
        self.lawful = True
        yield from self._apart()
        yield Check(LAWS, True)
        if self.in_pools:
            yield Check(POOLS, True)

    def _apart(self):
        return [Check(APART, True, self.unsent)] if self.own else []

    def _hashes(self):
        """Say whether the process apart gave the same; if not, whether hashes or earlier simulations are the cause."""
        if self.unsent:
            return Check(HASHES, True, self.unsent)
        if self.other is None:
            return Check(HASHES, True)
        workload, answer = self.other
        before = [*self.seen][: [*self.seen].index(workload) + 1]
        second = Apart(self.scheme, before, extra=False)
        try:
            alone = [second.answer_to(past) for past in before][-1]
        except Lost:
            alone = None
        finally:
            second.close()
        condition = "after simulations of other workloads"
        check, more = KEEPS, [HOLDS]
        if (isinstance(answer, str) and answer == alone) or np.array_equal(answer, alone):
            condition = "in a process in which sets and dictionaries have another order"
            check, more = HASHES, []
        if isinstance(answer, str):
            message = f"{answer}, {condition}"
        else:
            message, _ = faults.difference(workload, self.seen[workload].start, answer, "at first", condition)
        return Check(check, False, "\n".join([message, *more, str(workload)]))

    def _clock(self, dated):
        """Say whether the starts shift with the submissions; a scheme may depend on the time of day or week."""
        weeks = look(CLOCK, faults.clock(self.scheme, WEEKS), self._some(CLOCK))
        if not weeks.passed:
            if not dated:
                return _with(weeks, "", "; if that is meant, pass dated=True")
            self.notes.append("decisions depend on the time since the log began")
            return Check(CLOCK, True, "not needed: dated=True")
        days = look(HOURS, faults.clock(self.scheme, SHIFTS), self._some(HOURS))
        if not days.passed:
            self.notes.append(f"{DAILY}\n{days.found}")
        return weeks


def look(name: str, fault: faults.Fault, workloads: Iterable[Workload]) -> Check:
    """Look for a fault; if a workload shows it, return the smallest one that does."""
    try:
        workload, problem = next(filter(itemgetter(1), ((tried, fault(tried)) for tried in workloads)), (None, None))
    except faults.Broken as broken:  # though it kept the laws before
        return _broken(name, broken)
    if problem is None:
        return Check(name, True)
    smaller = smallest(_quiet(fault), workload)
    if again := _quiet(fault)(smaller):  # a scheme that uses randomness may not show it again
        workload, problem = smaller, again
    message, schedules = problem
    return Check(name, False, f"{message}\n{workload}", schedules() if schedules else {})


def _quiet(fault):
    """Return the search for a fault, to which other failures of the scheme are none."""

    def quiet(workload):
        with suppress(faults.Broken):
            return fault(workload)
        return None

    return quiet


def _broken(name, broken):
    """Return a failed check, in which the scheme failed at least once."""
    again = isinstance(faults.tried(broken.scheme, broken.workload), str)
    return Check(name, False, "\n".join([str(broken), *[ONCE] * (not again), str(broken.workload)]))


def _with(check, line, more=""):
    """Return a failed check with another line, and more words in the first."""
    first, *rest = check.found.split("\n")
    lines = [f"{first}{more}", *filter(None, [line]), *rest]
    return Check(check.name, False, "\n".join(lines), check.schedules)


def _is_of_the_package(scheme):
    by_user = isinstance(scheme, PythonScheme | CompiledScheme)
    return type(scheme).__module__.startswith("schedlab.") and not by_user
