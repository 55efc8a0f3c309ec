"""Schemes in plain Python, made of a function."""

from collections.abc import Callable
from dataclasses import dataclass

from schedlab.text import plain
from schedlab.workload.trace import OVERRUN

from .base import Scheme
from .steps import State


@dataclass(frozen=True)
class PythonScheme(Scheme):
    """A scheme made of a function that decides at each pass; `schedlab.python_scheme` makes it.

    Parameters
    ----------
    function : function
        Takes the `State` of the pass.
    """

    function: Callable[[State], None]

    def __post_init__(self):
        if not callable(self.function):
            raise TypeError(f"python_scheme takes a function of the state, got {self.function!r}")

    def __str__(self) -> str:
        return plain(getattr(self.function, "__name__", type(self.function).__name__))

    def decide(self, state: State) -> None:
        """Decide what starts at a pass.

        Parameters
        ----------
        state : State
            What is seen, and what can be done.
        """
        self.function(state)


class StepByStep(Scheme):
    """What decides in `schedlab.steps`: the caller."""

    label = "step by step"
    overruns = OVERRUN


def python_scheme(function: Callable[[State], None]) -> PythonScheme:
    """Make a scheme of a function that is called at each pass of a simulation.

    There is a pass at each instant at which jobs arrive or end. The function sees the `schedlab.schemes.steps.State`:
    the queue, the running jobs, the free processors and the availability profile. It starts jobs by
    ``state.start(job)`` and makes reservations by ``state.reserve(job, time)``. What cannot be done is an error at that
    instant.

    Parameters
    ----------
    function : function
        Takes the state.

    Returns
    -------
    PythonScheme
        A scheme as any other.

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
    return PythonScheme(function)
