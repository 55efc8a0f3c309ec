"""Orders of the queue: built-in names, and functions written by users."""

import inspect
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, partial, wraps

import numba
import numpy as np

from schedlab._runtime.text import plain, spelt, suggestion
from schedlab.kernels import callbacks, priority
from schedlab.kernels._jit import cached_beside_kernels
from schedlab.kernels.priority import Order
from schedlab.kernels.questions import Question, Veto, values_of_rows
from schedlab.workload.conventions import KILL_BACKFILLED

from .base import Case
from .outside import ChangingError
from .policies import MOVING, TAKES, Call, Policy, PolicyError, is_function
from .values import PARAMETERS, WEEK, Count, Row, Usage, no_sums

FIXED = MOVING[1:]

_BUILT_IN = "lcfs sjf ljf narrow wide saf laf xfactor wfp3 unicef f1 f2 f3 f4 fairshare multifactor"
NAMED = {name: getattr(priority, name) for name in _BUILT_IN.split()}
NAMES = ("fcfs", *NAMED)
OF_USERS = ("fairshare", "multifactor")  # for logs that name the user of each job


def fairshare(of: str = "user", half_life: float | None = WEEK) -> Callable:
    """Return the order that serves first whoever has used least so far; its name is ``"fairshare"``.

    For unequal shares, divide by the share: ``lambda user, user_usage: user_usage / shares[user]``. `shares` is an
    array indexed by user number; its length is the largest number + 1.

    Parameters
    ----------
    of : str
        The column whose values share the machine: ``"user"``, ``"group"``, ``"account"``, ....
    half_life : float, seconds, optional
        Time in which usage loses half its weight. None: usage does not decay.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.workload.sacct import example_path
    >>> trace = sl.read_sacct(example_path(), machine=128, partition="long")
    >>> fair = sl.simulate(trace, sl.EASY(order=sl.fairshare("user", half_life=24 * 3600)))
    >>> str(fair.validate().scheme)
    'EASY-FAIRSHARE(USER_USAGE=USER HALF-LIFE 24 H)'
    """
    usage = Usage(of, half_life)
    return priority.fairshare if usage == Usage() else _with(priority.fairshare, user_usage=usage)


def multifactor(
    age: float = 1_000.0,
    fairshare: float = 10_000.0,
    size: float = 1_000.0,
    *,
    max_age: float = WEEK,
    of: str = "user",
    half_life: float | None = WEEK,
) -> Callable:
    """Return Slurm's multifactor priority as an order; ``"multifactor"`` names it with these defaults.

    The factors, each at most 1, are age: the wait divided by `max_age`; fair share: 2 ** -(usage / usage of all /
    share), with equal shares for all; and size: the job's processors divided by those of the machine. Factors that a
    site sets in tables, such as QOS and partition, are not included; a function of your own can add ``weights[queue]``.

    Parameters
    ----------
    age, fairshare, size : float
        Weights of the factors: Slurm's PriorityWeightAge, PriorityWeightFairshare and PriorityWeightJobSize. The
        defaults come from the examples in Slurm's manual; Slurm's own defaults are 0.
    max_age : float, seconds
        Wait from which age counts in full (PriorityMaxAge).
    of, half_life : optional
        As in `fairshare`; PriorityDecayHalfLife.

    References
    ----------
    Slurm's manual, "Multifactor Priority Plugin" and "Classic Fairshare Algorithm".

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.workload.sacct import example_path
    >>> trace = sl.read_sacct(example_path(), machine=128, partition="long")
    >>> str(sl.simulate(trace, sl.EASY(order=sl.multifactor(age=5_000))).validate().scheme)
    'EASY-MULTIFACTOR(AGE=5000)'
    """
    if not isinstance(of, str):
        raise TypeError(f"of is {spelt(of)}, expected the name of a column")
    settings = {"age": age, "fairshare": fairshare, "size": size, "max_age": max_age}
    defaults = inspect.signature(priority.multifactor).parameters
    changed = {name: value for name, value in settings.items() if value != defaults[name].default}
    if (of, half_life) != ("user", WEEK):
        changed["user_usage"], changed["total_usage"] = Usage(of, half_life), Usage(None, half_life)
    if of != "user":
        changed["user_count"] = Count(of)
    return _with(priority.multifactor, **changed) if changed else priority.multifactor


@cache  # schemes with the same order are equal
def _with(function, **values):
    return partial(function, **values)


def check_order(policy: str | Callable, what: str = "order", names: Collection[str] = NAMES) -> None:
    """Raise unless something is the name of an order, or of what else is said, or a function that can serve as one."""
    if is_function(policy):
        Policy.of(policy, what)
    elif policy not in names:
        known = f"{', '.join(names)}, or a function of {TAKES}"
        raise ValueError(f"unknown {what} {policy!r}; known: {known}{suggestion(policy, names)}")


def check_veto(may_backfill: Callable) -> None:
    """Raise unless something is a function that says whether a job may be backfilled."""
    if not is_function(may_backfill):
        raise ValueError(f"may_backfill is {spelt(may_backfill)}, expected a function of {TAKES}")
    Policy.of(may_backfill, "may_backfill")


def policy_name(function: Callable) -> str:
    """Return the name under which a user's function is shown."""
    return plain(Policy.of(function, "policy").name)


def order_name(order: str | Callable, named: Collection[str] = (*NAMES, "sjbf")) -> str:
    """Return the name under which an order is shown; a user's function never has the name of a built-in order."""
    if isinstance(order, str):
        return order
    name = policy_name(order)
    return f"own-{name}" if name.lower() in named else name


def prepare(order: str | Callable, case: Case) -> Order:
    """Turn an order into the form that the kernels take."""
    arrival = np.arange(len(case))
    if order == "fcfs":
        return Order(arrival, False, no_question())
    value, question = _asked(Policy.of(NAMED[order] if isinstance(order, str) else order, "order"), case)
    if value is None:
        return Order(arrival, True, question)
    rank = np.empty_like(arrival)
    rank[np.argsort(value, kind="stable")] = arrival
    return Order(rank, False, question)


def prepare_worth(worth: Callable, case: Case) -> Question:
    """Turn a function for the present worth of a job into the form that the kernels take."""
    return _question(Policy.of(worth, "objective"), case)


def prepare_veto(may_backfill: Callable | None, case: Case) -> Veto:
    """Turn a function that says whether a job may be backfilled now into the form that the kernels take."""
    if may_backfill is None:
        return Veto(np.empty(0, bool), False, no_question())
    value, question = _asked(Policy.of(may_backfill, "may_backfill"), case)
    return Veto(np.empty(0, bool) if value is None else value != 0, value is None, question)


def _asked(policy, case):
    """Return a policy's value for each job if it does not depend on the time, else None; and its question."""
    jobs = case.jobs
    if policy.simple:
        if "now" in policy.takes:
            return None, _question(policy, case)
        function = _compiled(policy, Call.of_scalars(FIXED), callbacks.FIXED)
        value = priority.scores(_handed(function), jobs.submit, jobs.estimate, jobs.procs)
    else:
        question, moving = _by_row(policy, case)
        if moving:
            return None, question
        value = values_of_rows(question.of_row, len(case), question.whole, question.real)
    if np.isnan(value).any():
        raise ValueError(f"{policy.what} {policy.name} gives nan")
    return value, no_question()


def _question(policy, case):
    """Turn a policy into a question even if it does not depend on the time."""
    if not policy.simple:
        return _by_row(policy, case)[0]
    return _kept(no_question(), of_scalars=_compiled(policy, Call.of_scalars(MOVING), callbacks.MOVING))


def _by_row(policy, case):
    """Return a question whose values are passed in arrays, and whether it depends on the time."""
    row = Row(case)
    for name, what in policy.takes.items():
        if not row.ask(name, what):
            raise policy.unknown(name if what is None else str(what.of), case.columns.known)
    if row.unknown:
        raise policy.unknown_for_all(row.unknown, case.name)
    whole, width, real, sums = row.arrays()
    if sums.kind.size and case.overrun == KILL_BACKFILLED:
        raise ValueError(f"{policy.what} {policy.name} counts running jobs, which overrun {case.overrun!r} may kill")
    call = Call(PARAMETERS, tuple((name, *place) for name, place in row.places().items()))
    question = no_question()._replace(by_row=True, whole=whole, width=width, real=real, sums=sums)
    return _kept(question, of_row=_compiled(policy, call, callbacks.BY_ROW)), row.moving


def _kept(question, **callback):
    """Return a question with another callback, which stays alive as long as the question."""
    ((name, function),) = callback.items()
    question = question._replace(**{name: _handed(function)})
    question.callback = function
    return question


def _handed(callback):
    return getattr(callback, "address", callback)  # in the form that kernels take


def explained(simulate: Callable):
    """Make a scheme's `simulate` say, by a `PolicyError`, where a user's function fails: at which line, for which job.

    A compiled function cannot raise by itself: numba passes the exception to `sys.unraisablehook`, in the context of
    the kernel, and continues with the value 0. The simulation is then run once more, with the same result. This time,
    for the job at which it fails, the function is called in plain Python, which knows the line.
    """

    @wraps(simulate)
    def run(scheme, case):
        running = _Running()
        token = _running.set(running)
        try:
            try:
                outcome = simulate(scheme, case)
                if not running.errors:
                    return outcome
                failure = PolicyError(f"the order failed: {running.errors[0]!r}")
            except ValueError as error:  # for example from a kernel that was given nan
                if isinstance(error, PolicyError) or not running.of_user:
                    raise
                failure = error
            running.failures = []
            with suppress(ValueError):
                simulate(scheme, case)
            raise (running.failures[0] if running.failures else failure) from None
        finally:
            _running.reset(token)

    return run


@dataclass
class _Running:
    """A running simulation: what failed in it, and whether it calls a function of the user's.

    In the second run, the function reports to `failures`.
    """

    errors: list = field(default_factory=list)
    of_user: bool = False
    failures: list | None = None


_running = ContextVar("the simulation that runs", default=None)
_before = None  # the hook that was installed before ours
_lock = threading.Lock()


def _hook(unraisable):
    running = _running.get()
    if running is None:
        _before(unraisable)
    elif not running.errors:
        running.errors.append(unraisable.exc_value)


def _listen():
    """Make sure that our hook is installed: others replace it, too."""
    global _before
    with _lock:
        if sys.unraisablehook is not _hook:
            _before, sys.unraisablehook = sys.unraisablehook, _hook


def _compiled(policy, call, signature):
    """Return a policy in the form that a kernel calls; if failures are being looked for, one that reports them."""
    if policy.simple and (policy.function.__module__ or "").startswith("schedlab.kernels."):
        return _compiled_once(policy.function, signature)
    running = _running.get() or _Running()
    running.of_user = True
    if numba.config.DISABLE_JIT:
        return policy.in_python(call)
    try:
        if running.failures is not None:
            return numba.cfunc(signature)(policy.reporting(call, signature, running.failures))
        _listen()
        return _compiled_policy(policy, call, signature)
    except PolicyError:
        raise
    except Exception as error:  # numba raises nearly anything; the user gets one PolicyError
        raise policy.not_compiled(error, call) from None


@cache
def _compiled_once(function, signature):
    """Return a policy of the package as a callback, cached on disk."""
    with cached_beside_kernels():
        return callbacks.c_function(function, signature)


_policies, _MANY = OrderedDict(), 64  # the policies compiled last, by all that they depend on


def _compiled_policy(policy, call, signature):
    """Return a user's policy as a callback, compiled once for the same code and the same values from outside.

    Numba's disk cache would be a trap: it ignores such values and constants. It would run `K * estimate` with an old K,
    or confuse two lambdas on one line.
    """
    try:
        parameters = tuple(policy.takes.items())
        key = policy.outside().key, tuple(name for name, _ in policy.arguments), parameters, call, signature
    except ChangingError:
        key = None
    with _lock:
        if key in _policies:
            _policies.move_to_end(key)
            return _policies[key]
    # An array indexed by the number of a column may be too short: reading past its end would order the queue by
    # garbage.
    adapted, jitted = policy.adapted(call)
    compiled = numba.cfunc(signature, boundscheck=True)(adapted)
    policy.check_texts(jitted)
    with _lock:
        if key is not None:
            _policies[key] = compiled
        if len(_policies) > _MANY:
            _policies.popitem(last=False)
    return compiled


@cache
def no_question() -> Question:
    """Return a question for kernels that take one but will not ask it."""
    of_scalars = _handed(_compiled_once(priority.xfactor, callbacks.MOVING))
    of_row = _handed(_compiled_once(priority.no_row, callbacks.BY_ROW))
    return Question(False, of_scalars, of_row, np.empty(0, np.int64), 0, np.empty(0), no_sums())
