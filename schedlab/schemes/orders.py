"""Orders of the queue: the names, and a user's own function in their place."""

import math
import sys
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, lru_cache, wraps

import numba
import numpy as np

from schedlab.kernels import priority
from schedlab.kernels.priority import Order
from schedlab.text import plain

from .base import Jobs
from .policies import MOVING, Policy, PolicyError, checked_in_python, is_function

FIXED = MOVING[1:]

NAMED = {
    function.__name__: function
    for function in (
        priority.lcfs,
        priority.sjf,
        priority.ljf,
        priority.narrow,
        priority.wide,
        priority.saf,
        priority.laf,
        priority.xfactor,
        priority.wfp3,
        priority.unicef,
        priority.f1,
        priority.f2,
        priority.f3,
        priority.f4,
    )
}
NAMES = ("fcfs", *NAMED)


def check_order(order: str | Callable) -> None:
    """Raise where something is neither the name of an order nor a function that can be one."""
    if is_function(order):
        Policy.of(order, "order")
    elif order not in NAMES:
        known = f"{', '.join(NAMES)}, or a function of ({', '.join(FIXED)})"
        raise ValueError(f"unknown order {order!r}; known: {known}")


def check_worth(worth: str | Callable, named: Collection[str]) -> None:
    """Raise where something is neither one of some names nor a function of a job that moves with time."""
    if is_function(worth):
        Policy.of(worth, "objective")
    elif worth not in named:
        known = f"{', '.join(named)}, or a function of ({', '.join(MOVING)})"
        raise ValueError(f"unknown objective {worth!r}; known: {known}")


def order_name(order: str | Callable, named: Collection[str] = (*NAMES, "sjbf")) -> str:
    """Give the name by which an order is shown; a user's function is told from a built-in order of its name."""
    if isinstance(order, str):
        return order
    name = plain(Policy.of(order, "order").name)
    return f"own-{name}" if name.lower() in named else name


def prepare(order: str | Callable, jobs: Jobs) -> Order:
    """Turn an order into what the kernels take."""
    arrival = np.arange(jobs.submit.size)
    if order == "fcfs":
        return Order(arrival, False, unused())
    policy = Policy.of(NAMED[order] if isinstance(order, str) else order, "order")
    if policy.moving:
        return Order(arrival, True, _compiled(policy, MOVING))
    value = priority.scores(_compiled(policy, FIXED), jobs.submit, jobs.estimate, jobs.procs)
    if np.isnan(value).any():
        raise ValueError(f"order {policy.name} gives nan")
    rank = np.empty_like(arrival)
    rank[np.argsort(value, kind="stable")] = arrival
    return Order(rank, False, unused())


def prepare_worth(worth: Callable):
    """Turn a function that says what a job is worth now into what the kernels take."""
    return _compiled(Policy.of(worth, "objective"), MOVING)


def run_policies(run: Callable):
    """Run a simulation; where a user's function fails in it, say so with its line and the values of the job.

    Compiled, a function cannot raise by itself: numba hands the exception to `sys.unraisablehook`, in the context of
    the kernel, and goes on with the value 0. The simulation is then run once more; the function is now asked again
    in plain Python for the job at which it fails, which knows the line.

    Parameters
    ----------
    run : function without parameters
        Prepares its orders and gives a result, the same each time.

    Raises
    ------
    PolicyError
    """
    running = _Running()
    token = _running.set(running)
    try:
        try:
            found = run()
        except PolicyError:
            raise
        except ValueError as error:  # such as that of a kernel that was given nan
            if not running.own:
                raise
            raise _failure(run, running) or error from None
        if running.errors:
            failure = _failure(run, running) or PolicyError(f"the order failed: {running.errors[0]!r}")
            raise failure from None
        return found
    finally:
        _running.reset(token)


def explained(simulate: Callable):
    """Let a scheme's `simulate` say where a user's function fails in it, as `run_policies` does."""

    @wraps(simulate)
    def run(scheme, case):
        return run_policies(lambda: simulate(scheme, case))

    return run


def _failure(run, running):
    """Run a simulation once more, and give the failure of the user's function if it has one."""
    running.failures = []
    with suppress(ValueError):
        run()
    return running.failures[0] if running.failures else None


@dataclass
class _Running:
    """A simulation that runs: what went wrong in it, and whether a function of the user's is in it.

    `failures` is where the function of the second run reports to.
    """

    errors: list = field(default_factory=list)
    own: bool = False
    failures: list | None = None


_running = ContextVar("the simulation that runs", default=None)
_before = None  # the hook that was there before ours
_lock = threading.Lock()


def _hook(unraisable):
    running = _running.get()
    if running is None:
        _before(unraisable)
    elif not running.errors:
        running.errors.append(unraisable.exc_value)


def _listen():
    """See that our hook is in place: others replace it, too."""
    global _before
    with _lock:
        if sys.unraisablehook is not _hook:
            _before, sys.unraisablehook = sys.unraisablehook, _hook


def _compiled(policy, names):
    """Give a policy of some values as a kernel takes it; one that reports its failure where that is looked for."""
    signature = priority.MOVING if names == MOVING else priority.FIXED
    if (policy.function.__module__ or "").startswith("schedlab.kernels."):
        return _compiled_once(policy.function, signature)
    running = _running.get() or _Running()
    running.own = True
    if numba.config.DISABLE_JIT:
        return checked_in_python(policy, names)
    if running.failures is not None:
        return numba.cfunc(signature)(policy.reporting(names, running.failures))
    _listen()
    outer = policy.outer()
    numbers = all(isinstance(value, int | float | np.number) or value is math or value is np for _, value in outer)
    try:
        return (_compiled_with if numbers else _compiled_now)(policy, names, signature, outer)
    except Exception as error:  # numba raises nearly anything; the user gets one PolicyError
        raise policy.not_compiled(error, names) from None


_compiled_once = cache(priority.c_function)


def _compiled_now(policy, names, signature, _):
    """Compile a user's policy, in 30 ms, with the values that the names from outside it have now.

    Numba's disk cache would be a trap: it minds neither such values nor constants, and gives `K * estimate`
    with another K, or one of two lambdas in a line, the code of the first.
    """
    return numba.cfunc(signature)(policy.adapted(names))


_compiled_with = lru_cache(maxsize=64)(_compiled_now)


def unused():
    """Give a policy for kernels that will not call it: they take one in any case."""
    return _compiled_once(priority.xfactor, priority.MOVING)
