"""How a page of the site simulates a live figure by itself."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from schedlab.schemes import Scheme
from schedlab.workload.trace import Trace


@dataclass(frozen=True)
class InPage:
    """How a page simulates a live figure that draws the distribution of a measure under some schemes.

    Parameters
    ----------
    trace, schemes, load, tau : function
        Of some controls, which are called with their values by keyword: the trace at its own load, the schemes by their
        names, the offered load (None: its own), and the threshold of the bounded slowdown, in seconds.
    title : str
        Of the figure, before the means.
    column : {"wait_time", "bounded_slowdown"}
        The measure.
    up_to : function of the trace
        End of the axis.
    """

    trace: Callable[..., Trace]
    schemes: Callable[..., Mapping[str, Scheme]]
    title: str
    up_to: Callable[[Trace], float]
    column: str = "wait_time"
    load: Callable[..., float | None] = lambda load: load
    tau: Callable[..., float] = lambda: 10

    @property
    def controls(self) -> set[str]:
        """The names of the controls that the page has."""
        functions = (self.trace, self.schemes, self.load, self.tau)
        return {name for function in functions for name in inspect.signature(function).parameters}
