"""Orders of the queue: the names, and a user's own function in their place."""

import inspect
import math
import sys
import threading
from collections.abc import Callable, Collection
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, lru_cache

import numba
import numpy as np

from schedlab.kernels import priority

FIXED = ("submit", "estimate", "procs")
MOVING = ("now", *FIXED)

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


@dataclass(frozen=True)
class Order:
    """An order as the kernels take it.

    Attributes
    ----------
    rank : int64, shape (n_jobs,)
        Place of each job, if the order is fixed; that of arrival otherwise.
    moving : bool
        The order moves with time, and `policy` gives it.
    policy : C callback
    """

    rank: np.ndarray
    moving: bool
    policy: object

    @property
    def parts(self) -> tuple[np.ndarray, bool, object]:
        """The three, in the order in which every kernel takes them."""
        return self.rank, self.moving, self.policy


def check_order(order: str | Callable) -> None:
    """Raise where something is neither the name of an order nor a function that can be one."""
    order = _plain(order)
    if inspect.isfunction(order):
        parameters = tuple(inspect.signature(order).parameters)
        if parameters not in (FIXED, MOVING):
            raise ValueError(
                f"order {_name(order)} takes ({', '.join(parameters)}), expected ({', '.join(FIXED)}) "
                f"or, if it moves with time, ({', '.join(MOVING)})"
            )
    elif order not in NAMES:
        known = f"{', '.join(NAMES)}, or a function of ({', '.join(FIXED)})"
        raise ValueError(f"unknown order {order!r}; known: {known}")


def check_worth(worth: str | Callable, named: Collection[str]) -> None:
    """Raise where something is neither one of some names nor a function of a job that moves with time."""
    worth = _plain(worth)
    if inspect.isfunction(worth):
        parameters = tuple(inspect.signature(worth).parameters)
        if parameters != MOVING:
            found = ", ".join(parameters)
            raise ValueError(f"objective {_name(worth)} takes ({found}), expected ({', '.join(MOVING)})")
    elif worth not in named:
        known = f"{', '.join(named)}, or a function of ({', '.join(MOVING)})"
        raise ValueError(f"unknown objective {worth!r}; known: {known}")


def order_name(order: str | Callable) -> str:
    """Give the name by which an order is shown."""
    return order if isinstance(order, str) else _name(order)


def prepare(order: str | Callable, submit: np.ndarray, estimate: np.ndarray, procs: np.ndarray) -> Order:
    """Turn an order into what the kernels take, for jobs in arrival order."""
    arrival = np.arange(submit.size)
    if order == "fcfs":
        return Order(arrival, False, unused())
    function = NAMED[order] if isinstance(order, str) else _plain(order)
    if tuple(inspect.signature(function).parameters) == MOVING:
        return Order(arrival, True, _compiled(function, priority.MOVING))
    value = priority.scores(_compiled(function, priority.FIXED), submit, estimate, procs)
    if np.isnan(value).any():
        job = np.isnan(value).argmax()
        facts = f"submit {submit[job]}, estimate {estimate[job]}, procs {procs[job]}"
        raise ValueError(f"order {order_name(order)} gives nan for {facts}")
    rank = np.empty_like(arrival)
    rank[np.argsort(value, kind="stable")] = arrival
    return Order(rank, False, unused())


def prepare_worth(worth: Callable):
    """Turn a function that says what a job is worth now into what the kernels take."""
    return _compiled(_plain(worth), priority.MOVING)


@contextmanager
def errors_of_orders():
    """Raise what a user's order raises within the block.

    Compiled, it cannot raise by itself: numba hands the exception to `sys.unraisablehook`, in the thread of
    the kernel, which has the context of the block, and goes on with the value 0.
    """
    token = _caught.set(errors := [])
    try:
        yield
    finally:
        _caught.reset(token)
    if errors:
        raise ValueError(f"the order failed: {errors[0]!r}") from errors[0]


_caught = ContextVar("the errors of orders", default=None)


_before = None  # the hook that was there before ours
_lock = threading.Lock()


def _hook(unraisable):
    errors = _caught.get()
    if errors is None:
        _before(unraisable)
    elif not errors:
        errors.append(unraisable.exc_value)


def _listen():
    """See that our hook is in place: others replace it, too."""
    global _before
    with _lock:
        if sys.unraisablehook is not _hook:
            _before, sys.unraisablehook = sys.unraisablehook, _hook


def _compiled(function, signature):
    if (function.__module__ or "").startswith("schedlab.kernels."):
        return _compiled_once(function, signature)
    _listen()
    seen = inspect.getclosurevars(function)
    outer = tuple((seen.nonlocals | seen.globals).items())
    plain = all(isinstance(value, int | float | np.number) or value is math or value is np for _, value in outer)
    return (_compiled_with if plain else _compiled_now)(function, signature, outer)


_compiled_once = cache(priority.c_function)


def _compiled_now(function, signature, _):
    """Compile a user's order, in 30 ms, with the values that the names from outside it have now.

    Numba's disk cache would be a trap: it minds neither such values nor constants, and gives `K * estimate`
    with another K, or one of two lambdas in a line, the code of the first.
    """
    if numba.config.DISABLE_JIT:
        return function
    try:
        return numba.cfunc(signature)(function)
    except numba.core.errors.NumbaError as error:
        reason = next((line for line in str(error).splitlines()[1:] if line.strip()), str(error)).strip()
        place = f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"
        raise ValueError(f"order {_name(function)} at {place} cannot be compiled: {reason}") from error


_compiled_with = lru_cache(maxsize=64)(_compiled_now)


def _plain(order):
    """Give the function under numba's decorator: it is compiled once more, to a C callback."""
    return getattr(order, "py_func", order)


def unused():
    """Give a policy for kernels that will not call it: they take one in any case."""
    return _compiled_once(priority.xfactor, priority.MOVING)


def _name(order):
    return getattr(order, "__name__", repr(order))
