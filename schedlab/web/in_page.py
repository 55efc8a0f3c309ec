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
    up_to : function of the trace
        The end of the axis of each panel.
    columns : tuple of {"wait_time", "bounded_slowdown", "turnaround", "procs"}
        The measure of each panel.
    short : function of the name of a scheme
        Its name in the title.
    """

    trace: Callable[..., Trace]
    schemes: Callable[..., Mapping[str, Scheme]]
    title: str
    up_to: Callable[[Trace], tuple[float, ...]]
    columns: tuple[str, ...] = ("wait_time",)
    load: Callable[..., float | None] = lambda load: load
    tau: Callable[..., float] = lambda: 10
    short: Callable[[str], str] = str

    @property
    def controls(self) -> set[str]:
        """The names of the controls that the page has."""
        functions = (self.trace, self.schemes, self.load, self.tau)
        return {name for function in functions for name in inspect.signature(function).parameters}
