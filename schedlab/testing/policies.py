"""Checks of a policy: whether it works for any job, and how fast it is."""

import math
import statistics
import time
import zlib
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from itertools import product

import numba
import numpy as np

from schedlab._runtime.text import check_known, spelt
from schedlab.machine import Flat
from schedlab.schemes.base import Case, Jobs
from schedlab.schemes.cases import case_of, check_trace
from schedlab.schemes.lookahead import DPSA
from schedlab.schemes.orders import NAMED, NAMES, check_order, order_name
from schedlab.schemes.policies import MOVING, TAKES, Call, Policy, PolicyError, checked_in_python, is_function
from schedlab.schemes.rigid import EASY
from schedlab.schemes.values import Row, sum_named
from schedlab.workload.loading import model_trace
from schedlab.workload.swf import FIELDS
from schedlab.workload.trace import Trace

from .future import is_known
from .report import Check, CheckError, Report
from .workloads import POPULAR, numbered

YEAR = 31_557_600  # seconds
# Typical values in long logs of large machines: seconds, and processors.
SUBMIT = (0, 1, 86_399, YEAR, 10 * YEAR)
ESTIMATE = (0, 1, 60, 43_200, 30 * 86_400, 10 * YEAR)
PROCS = (1, 3, 4_096, 10**6)
WAITED = (0, 1, 60, 3_600, 86_400, 30 * 86_400, 10 * YEAR)
# Values at which a term of a formula is often zero: round times, and powers of two.
ROUND, POWERS = (60, 3_600, 86_400), tuple(2**power for power in range(1, 17))
MACHINE = 10**6
USED, COUNTED = (0.0, 2.5e5, MACHINE * 10.0 * YEAR), (0.0, 1.0, 1e6)  # processor-seconds; jobs or processors
WHAT = ("order", "may_backfill", "objective")
OTHERS = tuple(name for name in FIELDS[2:] if name != "run_time" and not name.endswith(("procs", "requested_time")))
QUEUED = 200  # jobs that are put in order
TIMED, ROUNDS = 3_000, 5  # jobs in a timed simulation, and how often it runs


def check_policy(
    policy: Callable,
    what: str = "order",
    *,
    like: str | Callable | None = None,
    clairvoyant: bool = False,
    known: Collection[str] = (),
    trace: Trace | None = None,
    raises: bool = True,
) -> Report:
    """Check your own policy: an order, a veto or an objective.

    - It compiles, and returns a number for every job: no exception, no nan. It is called for jobs such as occur in
      ten-year logs of machines with up to a million processors, at their submission and after waits of up to ten years.
    - It returns the same value when called again.
    - It does not overflow: the compiled function agrees with Python's exact integer arithmetic.
    - If it takes `now`, it depends on the time: there are two jobs whose order changes (for a veto, a job for which the
      answer changes). If not, leave out `now`: an order that does not change is computed only once.
    - It does not know the future: it takes no column that is known only after a job has ended, such as ``run_time`` or
      ``wait_time``, whatever it does with it, nor any other column that is not declared by `known` (`check_scheme`
      lists those that need no declaration).
    - If `like` is given: it puts jobs in the same order as that one.

    The report also gives the time that EASY takes with it, compared with a built-in policy: "sjf" or, if it depends on
    the time, "wfp3". A veto is compared with no veto, an objective with DPSA's "slowdown". Its notes say if the policy
    gives all jobs the same value, or only infinite ones, and if an order is the same as a built-in one.

    Parameters
    ----------
    policy : function
        As in ``EASY(order=...)``; `schedlab.schemes.rigid.Queued` lists the values that it can ask for.
    what : {"order", "may_backfill", "objective"}
        What the policy is used for.
    like : str or function, optional
        An order, as in ``EASY(order=...)``, that it should agree with.
    clairvoyant : bool
        Allow it to know the future.
    known : collection of str
        Further columns that are known when a job is submitted, such as ``["priority"]``.
    trace : Trace, optional
        Supplies the values of columns. Needed for columns that are not in the Standard Workload Format.
    raises : bool
        Raise if a check fails. If false, see ``report.passed``.

    Returns
    -------
    Report

    Raises
    ------
    PolicyError
        If it is not a function of values of a job.
    CheckError
        If a check fails; its attribute `report` has all results.

    Examples
    --------
    >>> import schedlab as sl
    >>> def area_squared(estimate, procs):
    ...     return (estimate * procs) ** 2
    >>> report = sl.testing.check_policy(area_squared, raises=False)
    >>> [check.name for check in report.failed]
    ['gives what exact arithmetic gives: no overflow']

    An order that is the same as a built-in one:

    >>> report = sl.testing.check_policy(lambda estimate: 2 * estimate, like="sjf")
    >>> report.notes
    ("puts the jobs tried in the same order as 'sjf'",)
    """
    check_known("what", what, WHAT)
    if not is_function(policy):
        raise TypeError(f"policy is {spelt(policy)}, expected a function of {TAKES}")
    if like is not None:
        if what != "order":
            raise ValueError(f"like is for orders, not for {what}")
        check_order(like)
    if trace is not None:
        check_trace(trace)
    wrapped = Policy.of(policy, what)
    row = _row(wrapped, trace)
    samples = list(_samples(wrapped, row))
    checks, notes = [_gives_numbers(wrapped, samples)], []
    compiled = _compiled(wrapped)
    if checks[0].passed:
        checks.append(_compiles(wrapped, compiled, samples))
    if all(check.passed for check in checks):
        checks.append(_repeats_itself(wrapped, compiled, samples))
        checks += [_does_not_overflow(wrapped, compiled, samples)] if checks[-1].passed else []
        checks += [_moves_as_it_says(wrapped, row)] if "now" in wrapped.takes else []
        checks += [] if clairvoyant else [_does_not_know_the_future(wrapped, row, known)]
        checks += [] if like is None else [_unless_it_fails(_is_like, wrapped, like, trace)]
        checks.append(_unless_it_fails(_speed, policy, wrapped, row, trace))
        notes = [*_even(wrapped, samples), *(_same(wrapped, trace) if what == "order" else ())]
    covered = f"{len(samples):,} combinations of submission, estimate, processors, wait and other values"
    report = Report(f"{what} {wrapped.name}", tuple(checks), tuple(notes), covered)
    if raises and not report.passed:
        raise CheckError(report)
    return report


# The values it is called with ---------------------------------------------------------------------------------------


def _row(policy, trace, jobs=None):
    """Return the values that a policy asks for, for these jobs (submission, estimate, processors) or for all kinds."""
    jobs = np.array([*product(SUBMIT, ESTIMATE, PROCS), *product(SUBMIT[-1:], ROUND, POWERS)]) if jobs is None else jobs
    submit, estimate, procs = (np.ascontiguousarray(column) for column in jobs.T)
    columns, known = _columns(trace, len(jobs)), Jobs(submit, estimate, estimate, procs)
    row = Row(Case(known, Flat(MACHINE), columns=columns, name="these jobs" if trace is None else trace.name))
    for name, what in policy.takes.items():
        if not row.ask(name, what):
            raise policy.unknown(name if what is None else str(what.of), columns.known)
    if row.unknown:
        raise policy.unknown_for_all(row.unknown, row.case.name)
    return row


def _columns(trace, n_jobs):
    """Return columns for this many jobs: those of a trace, from beginning to end; else numbers in the usual columns."""
    if trace is None:
        return numbered(n_jobs)
    places = np.linspace(0, len(trace) - 1, n_jobs).astype("int64")
    return trace.columns.of(places)


def _samples(policy, row):
    """Return values for the policy, by name: for each job at its submission and later, with small and large sums."""
    levels = {name: USED if what.kind == "usage" else COUNTED for name, (what, _) in row.sums.items()}
    for count, (job, waited) in enumerate(product(range(len(row.case)), WAITED if row.moving else (0,))):
        sample = {"now": int(row.case.jobs.submit[job]) + waited} if row.moving else {}
        sample |= {name: column[job].item() for name, column in row.columns.items()}
        sample |= {name: values[(count + count // 3) % 3] for name, values in levels.items()}
        yield sample


# What must hold -----------------------------------------------------------------------------------------------------


def _gives_numbers(policy, samples):
    name = "gives a number for every job"
    call = Call((), tuple((parameter, parameter, isinstance(value, int)) for parameter, value in samples[0].items()))
    value = checked_in_python(policy, call)
    try:
        for sample in samples:
            value(*sample.values())
    except PolicyError as failure:
        return Check(name, False, str(failure))
    except OverflowError:
        return Check(name, False, f"too large for a number of 64 bits {_for(sample, policy)}")
    return Check(name, True)


def _compiles(policy, compiled, samples):
    name = "compiles"
    try:
        compiled(samples[0])
    except Exception as error:  # numba raises nearly anything
        call = Call(
            (), tuple((parameter, parameter, isinstance(value, int)) for parameter, value in samples[0].items())
        )
        return Check(name, False, str(policy.not_compiled(error, call)))
    return Check(name, True)


def _compiled(policy):
    """Return the policy as a function of the values by name; it is compiled at the first call."""
    function = numba.njit(policy.function)
    return lambda sample: float(
        function(*(sample[name] if name in policy.takes else value for name, value in policy.arguments))
    )


def _does_not_overflow(policy, compiled, samples):
    name = "gives what exact arithmetic gives: no overflow"
    for sample in samples:
        with np.errstate(all="ignore"):
            exact, computed = float(policy(**sample)), compiled(sample)
        if not math.isclose(exact, computed, rel_tol=1e-6, abs_tol=1e-9):
            values = f"gives {computed:,.6g} instead of {exact:,.6g} {_for(sample, policy)}"
            return Check(
                name, False, f"{values}\nWhole numbers have 64 bits: begin with a float, such as 1.0 * estimate."
            )
    return Check(name, True)


def _repeats_itself(policy, compiled, samples):
    name = "gives the same value when asked again"
    for sample in samples:
        values = compiled(sample), compiled(sample)
        if values[0] != values[1]:
            return Check(name, False, f"gives {values[0]:.6g}, then {values[1]:.6g} {_for(sample, policy)}")
    return Check(name, True)


def _moves_as_it_says(policy, row):
    name = "depends on the time, since it takes now"
    jobs = [
        {parameter: column[job].item() for parameter, column in row.columns.items()} for job in range(len(row.case))
    ]
    for job, values in enumerate(jobs):
        values |= dict.fromkeys(row.sums, 1000.0 * (job % 7))
    seen = set()
    for waited in WAITED:
        values = np.array([float(policy(now=SUBMIT[-1] + waited, **job)) for job in jobs])
        answer = {"order": np.argsort(values, kind="stable"), "may_backfill": values != 0, "objective": values}
        seen.add(tuple(answer[policy.what].tolist()))
    if len(seen) > 1:
        return Check(name, True)
    what = {"order": "the order of two jobs", "may_backfill": "the answer", "objective": "the value"}[policy.what]
    instead = ", and the order is made only once" if policy.what == "order" and not row.sums else ""
    return Check(name, False, f"{what} never changes while they wait: leave out now{instead}")


def _does_not_know_the_future(policy, row, known):
    name = "does not know the future"
    for parameter, what in policy.takes.items():
        if parameter in row.sums:
            column = row.sums[parameter][0].of
        elif what is not None or parameter not in row.case.columns:  # the number of distinct values of a column
            column = getattr(what or sum_named(parameter), "of", None)
        else:
            column = parameter
        if column is None or parameter in MOVING or is_known(column, known):
            continue
        subject = "which" if column == parameter else f"and {column}"
        when = "is known only after a job has ended" if column in FIELDS else "is not declared as known at submission"
        way_out = f"if that is meant, pass clairvoyant=True, or known=[{column!r}] if it is known at submission"
        return Check(name, False, f"takes {parameter}, {subject} {when}; {way_out}")
    return Check(name, True)


def _even(policy, samples):
    """Return notes on a policy that says nothing about the jobs."""
    with np.errstate(all="ignore"):
        values = {float(policy(**sample)) for sample in samples}
    if all(map(math.isinf, values)):
        yield "every value is infinite"
    if len(values) == 1:
        yield f"gives every job the same value, {values.pop():,.6g}"


def _jobs_in_a_queue():
    """Return jobs to put in order: submission, estimate and processors."""
    random = np.random.default_rng(3)
    submit = np.sort(random.integers(0, 30 * 86_400, QUEUED))
    procs = (1_000.0 ** random.random(QUEUED)).astype("int64")
    return np.column_stack([submit, random.choice(POPULAR, QUEUED), np.maximum(procs, 1)])


def _orders(policy, trace):
    """Return the order into which a policy puts jobs, each at several instants and with several sums."""
    jobs = _jobs_in_a_queue()
    row = _row(policy, trace, jobs)
    columns = {name: column.tolist() for name, column in row.columns.items()}
    sums = {name: _amounts(f"{what}") for name, (what, _) in row.sums.items()}
    for waited in WAITED if row.moving else WAITED[:1]:
        values = []
        for job in range(len(jobs)):
            sample = {name: column[job] for name, column in (columns | sums).items()}
            with np.errstate(all="ignore"):
                values.append(float(policy(now=int(jobs[-1, 0]) + waited, **sample)))
        yield waited, np.argsort(values, kind="stable")


def _amounts(name):
    """Return the values of a sum: others for each sum."""
    return (1_000 * np.random.default_rng(zlib.crc32(name.encode())).integers(0, 9, QUEUED)).astype(float).tolist()


def _first_difference(policy, other, trace):
    """Return the wait, and the two jobs that two orders put at the first place that differs; None if none does."""
    pairs = zip(_at_each_wait(policy, trace), _at_each_wait(other, trace), strict=True)
    for (waited, mine), (_, theirs) in pairs:
        if (mine != theirs).any():
            place = np.flatnonzero(mine != theirs)[0]
            return waited, mine[place], theirs[place]
    return None


def _at_each_wait(policy, trace):
    """Return the orders at all waits, also of an order that does not depend on the time."""
    orders = [(0, np.arange(QUEUED))] if policy is None else list(_orders(policy, trace))
    return orders if len(orders) == len(WAITED) else [(waited, orders[0][1]) for waited in WAITED]


def _of(order):
    """Return an order as a policy; None for first come, first served."""
    return None if order == "fcfs" else Policy.of(NAMED.get(order, order) if isinstance(order, str) else order, "order")


def _is_like(policy, like, trace):
    name = f"puts jobs in the order of {order_name(like)}"
    difference = _first_difference(policy, _of(like), trace)
    if difference is None:
        return Check(name, True)
    waited, *jobs = difference
    rows = _jobs_in_a_queue()
    first, other = (
        f"the job with submit = {submit:,}, estimate = {estimate:,}, procs = {procs:,}"
        for submit, estimate, procs in rows[jobs].tolist()
    )
    return Check(
        name, False, f"{waited:,} s after the last submission of {QUEUED} jobs it puts first\n{first}, not\n{other}"
    )


def _same(policy, trace):
    """Return notes on built-in orders that are the same."""
    for name in NAMES:
        with suppress(Exception):  # no user is known, or the policy fails for these jobs
            if _first_difference(policy, _of(name), trace) is None:
                yield f"puts the jobs tried in the same order as {name!r}"


def _unless_it_fails(check, *arguments):
    """Return a check; a failed one if the policy fails for jobs that are not among the samples."""
    try:
        return check(*arguments)
    except Exception as error:  # a policy may raise anything
        message = str(error) if isinstance(error, PolicyError) else f"{type(error).__name__}: {error}"
        return Check("gives a number for every job in a simulation", False, message)


def _speed(function, policy, row, trace):
    builtin = "wfp3" if row.moving else "sjf"
    schemes = {
        "order": (EASY(order=builtin), lambda: EASY(order=function), f"EASY-{builtin.upper()}"),
        "may_backfill": (EASY(), lambda: EASY(may_backfill=function), "EASY"),
        "objective": (DPSA(objective="slowdown"), lambda: DPSA(objective=function), "DPSA (objective slowdown)"),
    }
    other, make, label = schemes[policy.what]
    jobs = _busy(trace)
    cases = [(scheme, case_of(jobs, scheme)[0]) for scheme in (other, make())]
    times = [[] for _ in cases]
    for _ in range(1 + ROUNDS):
        for (scheme, case), taken in zip(cases, times, strict=True):
            begin = time.perf_counter()
            scheme.outcome(case)
            taken.append(time.perf_counter() - begin)
    slow, fast = (statistics.median(taken[1:]) for taken in (times[1], times[0]))
    comparison = f"{slow / fast:.1f} times as long as {label}, for {len(jobs):,} jobs"
    return Check("is timed", True, comparison)


def _busy(trace):
    """Return jobs such that many of them wait at the same time."""
    if trace is not None:
        return trace.head(TIMED)
    jobs = model_trace("lublin", jobs=TIMED, machine=128, seed=1).scale_load(1.0)
    return replace(
        jobs, table=jobs.table.assign(**{name: numbered(len(jobs)).table[name].to_numpy() for name in OTHERS})
    )


def _for(sample, policy):
    values = ", ".join(f"{name} = {sample[name]:,}" for name in policy.takes)
    return f"for a job with {values}"
