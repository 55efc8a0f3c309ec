"""Schemes written as a function in plain Python."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module

from schedlab._runtime.text import plain, spelt
from schedlab.machine import Flat, Pools
from schedlab.workload.conventions import OVERRUN

from .base import Scheme, can_promise
from .steps import State


@dataclass(frozen=True)
class PythonScheme(Scheme):
    """A scheme made from a function that decides at each pass; `schedlab.python_scheme` makes it.

    Its fields are the parameters of `schedlab.python_scheme`; `keeps` is `promises` there.
    """

    function: Callable[[State], None]
    keeps: bool = field(default=False, kw_only=True)
    in_order: bool = field(default=False, kw_only=True)

    def __post_init__(self):
        if not callable(self.function):
            raise TypeError(f"python_scheme takes a function of the state, got {spelt(self.function)}")

    def __reduce_ex__(self, protocol):
        return by_its_name(self, self.function) or super().__reduce_ex__(protocol)

    def __str__(self) -> str:
        return plain(getattr(self.function, "__name__", type(self.function).__name__))

    def promises(self, machine: Flat | Pools) -> bool:
        return self.keeps and can_promise(machine)

    def decide(self, state: State) -> None:
        """Call the function.

        Parameters
        ----------
        state : State
            What the scheme can see and do.
        """
        self.function(state)


def by_its_name(scheme: Scheme, function: Callable) -> tuple | None:
    """Return the reference by which a decorated function, whose name refers to the scheme, is unpickled; else None."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if module == "__main__" or getattr(sys.modules.get(module), name, None) is not scheme:
        return None  # cloudpickle, which joblib uses, sends the function itself
    return _attribute, (module, name)


def _attribute(module, name):
    return getattr(import_module(module), name)


class StepByStep(Scheme):
    """Stands for the caller's own decisions in `schedlab.steps`."""

    label = "step by step"
    machines = (Flat, Pools)
    overruns = OVERRUN


def python_scheme(
    function: Callable[[State], None] | None = None, *, promises: bool = False, in_order: bool = False
) -> PythonScheme:
    """Make a scheme from a function that is called at each pass of a simulation.

    There is a pass at each instant at which jobs arrive or end. The function gets the `schedlab.schemes.steps.State`:
    the queue, the running jobs, the free processors and the availability profile. On a machine of several pools
    (`Pools`), each pass is one in one pool: see `schedlab.schemes.pool_steps.PoolState`. It starts jobs with
    ``state.start(job)`` and makes reservations with ``state.reserve(job, time)``. The state and its jobs are read-only.
    Anything impossible raises an error that names the instant. If the function keeps asking for another pass
    (``state.wake``), the simulation never ends. Without a function, it returns a decorator.

    Parameters
    ----------
    function : function
        Takes the state.
    promises : bool
        Whether the scheme promises that no job starts later than its first reservation. If so, `Schedule.validate` and
        `schedlab.testing.check_scheme` hold it to that.
    in_order : bool
        Whether it promises that jobs start in order of arrival. It is checked likewise.

    Examples
    --------
    EASY backfilling:

    >>> import schedlab as sl
    >>> @sl.python_scheme
    ... def easy(state):
    ...     for job in state.queue:
    ...         if state.fits(job):  # starts ahead of the first blocked job only where that delays nobody
    ...             state.start(job)
    ...         elif not state.reserved:
    ...             state.reserve(job, state.earliest(job))
    >>> trace = sl.model_trace("lublin", jobs=300, seed=1)
    >>> bool((sl.simulate(trace, easy).start == sl.simulate(trace, "easy").start).all())
    True
    """
    if function is None:
        return lambda function: PythonScheme(function, keeps=promises, in_order=in_order)
    return PythonScheme(function, keeps=promises, in_order=in_order)
