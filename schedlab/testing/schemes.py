"""Checks of a scheme on thousands of small workloads; each failure comes with a small one that shows it."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from numbers import Integral

import numpy as np
import pandas as pd

from schedlab.schemes import Scheme
from schedlab.schemes import scheme as scheme_named
from schedlab.schemes.cases import known_at
from schedlab.simulation import simulate
from schedlab.threads import pool

from .report import Check, CheckError, Report
from .workloads import LONGEST, MOST_JOBS, case_of, numbered, random_workloads, trace_of

SHIFT = 100_003  # seconds
GAP = 10_000  # seconds, longer than any small workload
FEW = 25
ASKED = ["submit_time", "run_time", "requested_time", "requested_procs", "allocated_procs", "wait_time", "status"]


def check_scheme(
    scheme: Scheme | str,
    like: Scheme | str | None = None,
    *,
    remembers: bool = False,
    clairvoyant: bool = False,
    examples: int = 1_000,
    raises: bool = True,
) -> Report:
    """Check a scheme on small random workloads that are full of ties, zero-length and full-width jobs, and early ends.

    - The laws: every job starts exactly once, and not before it is submitted; no more processors are held than the
      machine has. Promises are kept if the scheme says so (`Scheme.promises`), and jobs start in order of arrival if it
      says so. Letting jobs wait while processors idle is allowed. If a law is broken, nothing else is checked.
    - Repetition: the same schedule comes out again, also after other simulations and in several threads.
    - Shifting all times shifts the schedule.
    - The future has no influence: the starts up to an instant do not depend on later arrivals, nor on how much longer
      the running jobs take.
    - What happens before a long idle time has no influence on what happens after it.
    - If `like` is given: every job starts exactly when it does under that scheme. Use it to compare a compiled scheme
      with its plain form, or a scheme that claims to be EASY with EASY.

    Each failed check shows a small workload that breaks it, with the job and, if there is something to see, the
    schedules as Gantt charts.

    Parameters
    ----------
    scheme : Scheme or str
        A scheme for rigid jobs, on a machine without a topology.
    like : Scheme or str, optional
        The scheme that it should agree with.
    remembers : bool
        Allow the past before an idle time to matter: for fair share, and for orders that depend on `submit`.
    clairvoyant : bool
        Allow it to know the future: for schemes that use run times.
    examples : int
        Number of workloads for each check (fewer for checks that need traces or threads).
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
    >>> @sl.python_scheme
    ... def first_fit(state):
    ...     for job in state.queue:
    ...         if job.procs <= state.free:
    ...             state.start(job)
    >>> sl.testing.check_scheme(first_fit).passed
    True
    >>> report = sl.testing.check_scheme(first_fit, like="easy", raises=False)
    >>> [check.name for check in report.failed]
    ['starts every job when EASY does']
    """
    if not isinstance(examples, Integral) or examples < 1:
        raise ValueError(f"examples must be a whole number of at least 1, got {examples!r}")
    scheme = scheme_named(scheme)
    like = None if like is None else scheme_named(like)
    for one in (scheme, like):
        if one is not None and one.needs is not None:
            raise ValueError(f"{one} needs {one.needs!r} of the jobs; check_scheme is for schemes of rigid jobs")
    all_of_them, few = list(random_workloads(examples)), list(random_workloads(FEW, seed=2))
    before = {(tuple(jobs), procs): _starts(scheme, jobs, procs) for jobs, procs in few}
    checks = [_check("keeps the laws of scheduling", _law(scheme), all_of_them)]
    lawful = checks[0].passed
    if lawful:
        checks.append(_check("gives the same schedule again, in several threads too", _again(scheme, before), few))
        checks.append(_check("shifts the schedule with all times", _shift(scheme), few))
    if lawful and not clairvoyant:
        checks.append(_check("does not know the future", _future(scheme), all_of_them[: -(-examples // 5)]))
    if lawful and not remembers:
        checks.append(_check("forgets what lies before a long idle time", _gap(scheme), all_of_them))
    if lawful and like is not None:
        checks.append(_check(f"starts every job when {like} does", _likeness(scheme, like), all_of_them))
    report = Report(f"scheme {scheme}", tuple(checks))
    if raises and not report.passed:
        raise CheckError(report)
    return report


def _check(name: str, fault: Callable, drawn: Iterable) -> Check:
    """Look for a small workload that shows a fault; `fault` describes it, if there is one."""
    for jobs, procs in drawn:
        if found := fault(jobs, procs):
            break
    else:
        return Check(name, True)
    smaller = _smallest(fault, jobs, procs)
    if again := fault(*smaller):  # a scheme that uses randomness may not show it again
        (jobs, procs), found = smaller, again
    words, schedules = found
    return Check(name, False, f"{words}\n{_told(jobs, procs)}", schedules() if schedules else {})


def _smallest(fault, jobs, procs):
    """Simplify a workload step by step, as long as the fault remains."""
    while simpler := next((each for each in _simpler(jobs, procs) if fault(*each)), None):
        jobs, procs = simpler
    return jobs, procs


def _simpler(jobs, procs):
    """Yield workloads with one job fewer or smaller numbers, but positive run times, since charts show no others.

    Jobs submitted together keep their order.
    """
    for i in range(len(jobs) if len(jobs) > 1 else 0):
        yield [*jobs[:i], *jobs[i + 1 :]], procs
    for fewer in range(1, procs):
        yield [job._replace(procs=min(job.procs, fewer)) for job in jobs], fewer
    for sooner in range(jobs[-1].submit, 0, -1):
        yield [job._replace(submit=max(0, job.submit - sooner)) for job in jobs], procs
    for i, job in enumerate(jobs):
        over = job.estimate - job.run
        for each in (
            *(job._replace(submit=submit) for submit in range(job.submit)),
            *(job._replace(run=run, estimate=run + over) for run in range(1, job.run or LONGEST + 1)),
            *(job._replace(estimate=job.run + less) for less in range(over)),
            *(job._replace(procs=width) for width in range(1, job.procs)),
        ):
            yield sorted([*jobs[:i], each, *jobs[i + 1 :]], key=lambda job: job.submit), procs


def _told(jobs, procs):
    """Write a workload as text."""
    rows = pd.DataFrame(jobs, columns=["submit", "run", "estimate", "procs"], index=range(1, len(jobs) + 1))
    return f"on {procs} processors:\n{rows.rename_axis('job').reset_index().to_string(index=False)}"


# Faults: None, or words and what makes the schedules that show it -----------------------------------------------------


def _schedule(scheme, jobs, procs):
    trace = trace_of(jobs, procs)
    others = numbered(MOST_JOBS).table.iloc[: len(jobs)].drop(columns=ASKED).set_index(trace.table.index)
    return simulate(replace(trace, table=trace.table.assign(**others)), scheme)


def _law(scheme):
    def fault(jobs, procs):
        case = case_of(jobs, procs)
        try:
            outcome = scheme.outcome(case)
        except Exception as error:  # a scheme may raise anything
            return f"{type(error).__name__}: {error}", None
        if _is_lawful(scheme, case, outcome):
            return None
        try:
            _schedule(scheme, jobs, procs).validate()
        except AssertionError as error:
            return str(error), None
        return "the outcome is not that of its case", None

    return fault


def _is_lawful(scheme, case, outcome):
    """Tell whether `Schedule.validate` would accept it, in a hundredth of its time."""
    start, jobs = outcome.start, case.jobs
    if (outcome.run != jobs.run).any() or (outcome.procs != jobs.procs).any():
        return False
    time = np.concatenate([start + jobs.run, start])
    change = np.concatenate([-jobs.procs, jobs.procs])
    held = np.cumsum(change[np.lexsort((change, time))])  # what ends at an instant is free at that instant
    kept = not scheme.promises(case.machine) or ((outcome.promise < 0) | (start <= outcome.promise)).all()
    in_order = not scheme.in_order or (np.diff(start) >= 0).all()
    return held.max() <= case.machine.procs and kept and in_order


def _starts(scheme, jobs, procs, again=1):
    """Return the starts; None if the scheme raises, which another check reports."""
    try:
        return scheme.outcome(case_of(jobs, procs, again)).start
    except Exception:  # a scheme may raise anything
        return None


def _again(scheme, before):
    def fault(jobs, procs):
        runs = [before.get((tuple(jobs), procs)), _starts(scheme, jobs, procs)]
        runs = runs if runs[0] is not None else runs[1:]
        with pool(3) as threads:
            runs += threads.map(lambda _: _starts(scheme, jobs, procs), range(3))
        return next((found for one in runs[1:] if (found := _difference(runs[0], one, "at first", "then"))), None)

    return fault


def _shift(scheme):
    def fault(jobs, procs):
        later = [job._replace(submit=job.submit + SHIFT) for job in jobs]
        try:
            starts = [_schedule(scheme, each, procs).start for each in (jobs, later)]
        except Exception:  # a scheme may raise anything
            return None
        return _difference(starts[0] + SHIFT, starts[1], "shifted", f"of jobs submitted {SHIFT:,} s later")

    return fault


def _future(scheme):
    def fault(jobs, procs):
        case = case_of(jobs, procs)
        try:
            outcome = scheme.outcome(case)
        except Exception:  # a scheme may raise anything; the check of the laws reports it
            return None
        for now in np.unique(outcome.start).tolist():
            known = known_at(case, outcome, now)
            try:
                start, before = scheme.outcome(known).start, outcome.start[: len(known)]
            except Exception as error:  # a scheme may raise anything; the case is as valid as the first
                return f"{type(error).__name__}: {error}, if nothing new happens after {now} s", None
            wrong = np.flatnonzero((start != before) & ((before <= now) | (start <= now)))
            if wrong.size:
                job = wrong[0]
                words = f"job {job + 1} starts at {before[job]} s, but at {start[job]} s if nothing new happens"
                return f"{words} after {now} s; if that is meant, pass clairvoyant=True", None
        return None

    return fault


def _gap(scheme):
    def fault(jobs, procs):
        start = _starts(scheme, jobs, procs)
        twice = _starts(scheme, [*jobs, *(job._replace(submit=job.submit + GAP) for job in jobs)], procs, again=2)
        if start is None or twice is None:
            return None
        found = _difference(
            start + GAP, twice[len(jobs) :], "at first", "of the same jobs again, after a long idle time"
        )
        return found and (f"{found[0]}; if that is meant, pass remembers=True", None)

    return fault


def _difference(expected, found, before, after):
    if expected is None or found is None or (expected == found).all():
        return None
    job = np.flatnonzero(expected != found)[0]
    return f"job {job + 1} starts at {expected[job]:,} s {before}, at {found[job]:,} s {after}", None


def _likeness(scheme, like):
    def fault(jobs, procs):
        expected, found = like.outcome(case_of(jobs, procs)).start, _starts(scheme, jobs, procs)
        if found is None or (found == expected).all():
            return None
        job = np.flatnonzero(found != expected)[0]
        words = f"job {job + 1} starts at {found[job]} s; under {like} at {expected[job]} s"
        return words, lambda: {str(each): _schedule(each, jobs, procs) for each in (scheme, like)}

    return fault
