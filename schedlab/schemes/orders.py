"""Orders of the queue: the names, and a user's own function in their place."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

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


def check_order(order: str | Callable) -> None:
    """Raise where something is neither the name of an order nor a function that can be one."""
    if callable(order):
        parameters = tuple(inspect.signature(order).parameters)
        if parameters not in (FIXED, MOVING):
            raise ValueError(
                f"order {_name(order)} takes ({', '.join(parameters)}), expected ({', '.join(FIXED)}) "
                f"or, if it moves with time, ({', '.join(MOVING)})"
            )
    elif order not in NAMES:
        raise ValueError(f"unknown order {order!r}; known: {', '.join(NAMES)}, or a function of ({', '.join(FIXED)})")


def order_name(order: str | Callable) -> str:
    """Give the name by which an order is shown."""
    return order if isinstance(order, str) else _name(order)


def prepare(order: str | Callable, submit: np.ndarray, estimate: np.ndarray, procs: np.ndarray) -> Order:
    """Turn an order into what the kernels take, for jobs in arrival order."""
    arrival = np.arange(submit.size)
    if order == "fcfs":
        return Order(arrival, False, _unused())
    function = NAMED[order] if isinstance(order, str) else order
    if tuple(inspect.signature(function).parameters) == MOVING:
        return Order(arrival, True, _compiled(function, priority.MOVING))
    value = priority.scores(_compiled(function, priority.FIXED), submit, estimate, procs)
    rank = np.empty_like(arrival)
    rank[np.argsort(value, kind="stable")] = arrival
    return Order(rank, False, _unused())


@lru_cache(maxsize=64)
def _compiled(function, signature):
    return priority.c_function(function, signature)


def _unused():
    """Give a policy for kernels that will not call it: they take one in any case."""
    return _compiled(priority.xfactor, priority.MOVING)


def _name(order):
    return getattr(order, "__name__", repr(order))
