"""What a scheme can do wrong: functions that look for one fault in one workload.

Each returns None, or words and, if there is something to see, what makes the schedules that show it.
"""

import random
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Barrier

import numpy as np

from schedlab._runtime.threads import pool
from schedlab.machine import Limit
from schedlab.schedule import Schedule, ScheduleError
from schedlab.schedule.simulation import simulate
from schedlab.schemes import Outcome, Scheme
from schedlab.workload.conventions import KEEP

from . import future
from .apart import attempted
from .workloads import WEEK, Workload, changed_input, copied

IDLE = 10_000  # seconds; longer than any tiny workload
UNSEEN = 72_072_000  # added to job numbers; it has many divisors
DRAWN = 60  # jobs: more are not drawn
BY_NUMBER = "if its jobs have other numbers, whatever was simulated before"
REPEATED = 5  # simulations in a thread
STARTS = 8  # instants at which the future of a workload is changed
NOBODY_REACHES = Limit("user", running=10**6)  # couples the pools, which are simulated one by one without limits
FEW_MORE, MANY_MORE = 3, 150  # jobs that arrive in addition

Fault = Callable[[Workload], tuple[str, Callable | None] | None]


def tried(scheme: Scheme, workload: Workload) -> Outcome | str:
    """Return the outcome of a workload; text if the scheme fails, or changes the jobs that it is given."""
    outcome = attempted(scheme, workload.case)
    return workload.spoiled() or outcome


class Broken(Exception):
    """The scheme fails in a simulation of another check than that of the laws; its argument is how."""

    def __init__(self, problem, scheme, workload):
        super().__init__(problem)
        self.scheme = scheme
        self.workload = workload


def starts(scheme: Scheme, workload: Workload) -> np.ndarray:
    """Return the starts; raise `Broken` if the scheme fails."""
    outcome = tried(scheme, workload)
    if isinstance(outcome, str):
        raise Broken(outcome, scheme, workload)
    return outcome.start


def law(scheme: Scheme, seen: dict[Workload, Outcome]) -> Fault:
    """A law of scheduling is broken, or the scheme fails. Lawful outcomes are noted in `seen`."""

    def fault(workload):
        outcome = tried(scheme, workload)
        if isinstance(outcome, str):
            return outcome, None
        if is_lawful(scheme, workload, outcome):
            seen[workload] = outcome
            return None
        try:
            schedule(scheme, workload).validate()
        except Exception as error:  # a ScheduleError, or anything from the scheme
            return str(error), None
        return "the outcome is not that of its case", None

    return fault


def is_lawful(scheme: Scheme, workload: Workload, outcome: Outcome) -> bool:
    """Tell whether `Schedule.validate` would accept it; without pools, in a hundredth of its time."""
    case = workload.case
    if workload.machine is not None:
        settings = (workload.machine, workload.overrun, "batched", outcome, int(workload.columns["submit_time"][0]))
        try:
            return bool(len(Schedule(workload.trace(), scheme, *settings).validate()))
        except ScheduleError:
            return False
    start, jobs = outcome.start, case.jobs
    if (outcome.run != jobs.run).any() or (outcome.procs != jobs.procs).any():
        return False
    time = np.concatenate([start + jobs.run, start])
    change = np.concatenate([-jobs.procs, jobs.procs])
    held = np.cumsum(change[np.lexsort((change, time))])  # what ends at an instant is free at that instant
    due = scheme.promises(case.machine) and not (workload.overrun == KEEP and (jobs.run > jobs.estimate).any())
    kept = not due or ((outcome.promise < 0) | (start <= outcome.promise)).all()
    in_order = not scheme.in_order or (np.diff(start) >= 0).all()
    return held.max() <= case.machine.procs and kept and in_order


def schedule(scheme: Scheme, workload: Workload):
    """Simulate a workload as users do."""
    return simulate(workload.trace(), scheme, machine=workload.machine, overrun=workload.overrun)


def difference(workload, expected, found, before, after):
    """Return a fault if starts differ: the first job that does, and when it starts in either case."""
    if (expected == found).all():
        return None
    place = np.flatnonzero(expected != found)[0]
    job = workload.numbers[place]
    return f"job {job} starts at {expected[place]:,} s {before}, at {found[place]:,} s {after}", None


def again(scheme: Scheme) -> Fault:
    """Two simulations in a row differ."""

    def fault(workload):
        twice = starts(scheme, workload), starts(scheme, workload)
        return difference(workload, *twice, "at first", "in the next simulation")

    return fault


def again_with_seeds(scheme: Scheme) -> Fault:
    """Two simulations in a row differ, though the generators that all share begin with the same seed."""

    def fault(workload):
        twice = []
        for _ in range(2):
            random.seed(1)
            np.random.seed(1)  # noqa: NPY002 - a scheme may use it
            twice.append(starts(scheme, workload))
        return difference(workload, *twice, "at first", "in the next simulation")

    return fault


@contextmanager
def as_before():
    """Restore the state of the generators that all share."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002


def keeps(scheme: Scheme, others: Sequence[Workload], first: dict[Workload, np.ndarray]) -> Fault:
    """A simulation depends on those before it: on their jobs, or on job numbers that were seen in them."""
    count, remembers = 0, False  # once seen, also in the smaller workloads

    def fault(workload):
        nonlocal count, remembers
        before = first.get(workload)
        if before is None:
            before = starts(scheme, workload)
            for other in others:
                starts(scheme, other)
        after = starts(scheme, workload)
        if problem := difference(workload, before, after, "at first", "after simulations of other workloads"):
            return problem
        # Starts that differ with each of the new numbers depend on the numbers themselves.
        new = [workload.numbers + (count + more) * UNSEEN for more in range(1, 5)]
        count += len(new)
        unseen = [starts(scheme, replace(workload, numbers=numbers)) for numbers in new]
        if any((start != unseen[0]).any() for start in unseen):
            return None
        # Other jobs had the next numbers before: what is remembered of them by number is wrong for these.
        rows = workload.rows
        wide = np.column_stack([0 * rows[:, 0], rows[:, 1] + 5, rows[::-1, 2] + 5, np.full(len(rows), workload.procs)])
        for past in (np.column_stack([rows[:, 0], rows[::-1, 1:]]), wide, wide * [1, 1, 0, 1] + [0, 0, 900, 0]):
            count += 1
            renumbered = replace(workload, numbers=workload.numbers + count * UNSEEN)
            starts(scheme, replace(renumbered, rows=past))
            again = starts(scheme, renumbered)
            remembers |= (again != unseen[0]).any()
        condition = "if no earlier simulation had jobs with these numbers" if remembers else BY_NUMBER
        return difference(workload, after, unseen[0], "at first", condition)

    return fault


def threads(scheme: Scheme, others: Sequence[Workload]) -> Fault:
    """A simulation depends on others that run at the same time."""

    def fault(workload):
        alone = starts(scheme, workload)
        mixed = [workload, *others[:2], workload]
        together = Barrier(len(mixed))

        def repeated(each):
            together.wait(timeout=60)
            return [starts(scheme, each) for _ in range(REPEATED)]

        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            with pool(len(mixed)) as workers:
                runs = list(workers.map(repeated, mixed))
        finally:
            sys.setswitchinterval(before)
        for other in (*runs[0], *runs[-1]):
            if problem := difference(workload, alone, other, "alone", "while other simulations run"):
                return problem
        return None

    return fault


def clock(scheme: Scheme, shifts: Sequence[int]) -> Fault:
    """The starts do not shift with the submissions of all jobs but the first, which has ended long before.

    The last shift is one of whole weeks that brings the workload to where the clock passes 2**31.
    """

    def fault(workload):
        first = workload.some(np.arange(len(workload)) == 0)
        first = replace(first, rows=np.array([[0, 0, 1, 1]]))  # which adds nothing to its user's usage
        passing = 2**31 - max(3, int(workload.rows[-1, 0]) // 2)
        begin = passing % WEEK + WEEK
        base = starts(scheme, workload.after(first, begin))
        for shift in (*shifts, max(0, passing - begin)):
            outcome = tried(scheme, workload.after(first, begin + shift))
            if isinstance(outcome, str):
                return f"{outcome}, if it and all jobs but an early one are submitted {shift:,} s later", None
            condition = f"if it and all jobs but an early one are submitted {shift:,} s later"
            if problem := difference(workload, base[1:] + shift, outcome.start[1:], "in shifted time", condition):
                return problem
            other = starts(scheme, replace(workload.after(first, begin), origin=workload.origin + shift))
            condition = f"if the log begins {shift:,} s later"
            if problem := difference(workload, base[1:], other[1:], "at first", condition):
                return problem
        return None

    return fault


def knows(scheme: Scheme, known: Collection[str]) -> Fault:
    """What starts up to an instant depends on what can be known only later."""

    def fault(workload):
        outcome = tried(scheme, workload)
        if isinstance(outcome, str):
            raise Broken(outcome, scheme, workload)
        case = workload.case
        all_of_it = future.changes(case, known)
        instants = list(future.instants(outcome, STARTS if len(workload) > 20 else 2 * STARTS))
        for place, now in enumerate(instants):
            # Another way to change arrivals at each instant; at the last one few jobs are left to change, but all
            # have started: then it is seen if the starts depend on how many jobs there are.
            extra = (MANY_MORE if len(workload) > 20 or len(workload) % 4 == 0 else FEW_MORE) * (now == instants[-1])
            way = place + len(workload), extra
            if not _differs(scheme, case, outcome, now, all_of_it, way):
                continue
            for what in all_of_it:
                if finding := _differs(scheme, case, outcome, now, [what], way):
                    return _said(workload, finding, now, what)
            finding = _differs(scheme, case, outcome, now, all_of_it, way)
            return finding and _said(workload, finding, now, "all that is known later")
        return None

    return fault


def _differs(scheme, case, outcome, now, what, way):
    """Return the place of a job, its start and its other start, or what was raised; None if nothing differs."""
    other = future.changed(case, outcome, now, what, *way)
    copy = copied(other)
    answer = attempted(scheme, copy)
    if problem := changed_input(copy, other.jobs) or (answer if isinstance(answer, str) else None):
        return problem  # the case is as valid as the first
    start = answer.start
    known = int(np.searchsorted(case.jobs.submit, now, side="right"))
    start, before = start[:known], outcome.start[:known]
    wrong = np.flatnonzero((start != before) & ((before <= now) | (start <= now)))
    return None if not wrong.size else (wrong[0], before[wrong[0]], start[wrong[0]])


def _said(workload, finding, now, what):
    reads = {
        future.ARRIVALS: f"if other jobs arrive after {now:,} s",
        future.RUN_TIMES: f"if jobs that run or wait at {now:,} s run for another time (run_time)",
    }
    condition = reads.get(what, f"if {what} of jobs that have not ended at {now:,} s is another")
    if isinstance(finding, str):
        return f"{finding}, {condition}", None
    place, before, after = finding
    way_out = "" if what in reads else f", or known=[{what!r}] if it is known at submission"
    first = f"job {workload.numbers[place]} starts at {before:,} s, but at {after:,} s {condition}"
    return f"{first}; if that is meant, pass clairvoyant=True{way_out}", None


def forgets(scheme: Scheme) -> Fault:
    """The starts depend on what was before a long idle time, at the same time of the clock."""

    def fault(workload):
        rows = workload.rows
        early = workload.some(np.arange(len(workload)) == 0)
        early = replace(early, rows=np.array([[0, 1, 1, 1]]))
        begin = int(rows[-1, 0] + np.maximum(rows[:, 1], rows[:, 2]).sum()) + IDLE
        # Other jobs of the same users: what is remembered of them is wrong for these.
        past = replace(workload, rows=np.column_stack([rows[:, 0], rows[::-1, 1:]]))
        cases = [workload.after(before, begin) for before in (early, past)]
        outcomes = [starts(scheme, case)[-len(workload) :] for case in cases]
        fault = difference(workload, *outcomes, "after a long idle time", "if other jobs ran before that")
        return fault and (f"{fault[0]}; if that is meant, pass remembers=True", None)

    return fault


def beside(scheme: Scheme) -> Fault:
    """The starts change if pools are simulated together: the scheme goes by the number of a pool, or by other pools."""

    def fault(workload):
        alone, together = (starts(scheme, workload.limited(*limits)) for limits in ([], [NOBODY_REACHES]))
        return difference(workload, alone, together, "without limits", f"with at most {NOBODY_REACHES}")

    return fault


def unlike(scheme: Scheme, like: Scheme, first: dict[Workload, np.ndarray]) -> Fault:
    """A job starts at another time than under another scheme."""

    def fault(workload):
        expected = tried(like, workload)
        if isinstance(expected, str):
            return f"{like}: {expected}", None
        expected = expected.start
        start = first.get(workload)
        start = starts(scheme, workload) if start is None else start
        if (start == expected).all():
            return None
        place = np.flatnonzero(start != expected)[0]
        message = f"job {workload.numbers[place]} starts at {start[place]:,} s; under {like} at {expected[place]:,} s"
        both = {str(side): side for side in (scheme, like)} if len(workload) <= DRAWN else {}
        return message, lambda: {name: schedule(side, workload) for name, side in both.items()}

    return fault
