"""How a page of the site simulates a live figure by itself."""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from schedlab.schemes import Scheme
from schedlab.workload.trace import Trace


class Simulated:
    """Base of these: a dataclass whose fields are functions of controls, which are called with values by keyword."""

    has_table = False  # below the figure
    functions = ()  # names of the fields that are functions of controls
    offered = None  # by control, the values that the page has; of other controls, all

    @property
    def controls(self) -> set[str]:
        """The names of the controls that the page has."""
        functions = (getattr(self, name) for name in self.functions)
        return {name for function in functions for name in inspect.signature(function).parameters}


@dataclass(frozen=True)
class InPage(Simulated):
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
    offered : mapping of str to collection
        By control, the values that the page has; of other controls, all.
    """

    trace: Callable[..., Trace]
    schemes: Callable[..., Mapping[str, Scheme]]
    title: str
    up_to: Callable[[Trace], tuple[float, ...]]
    columns: tuple[str, ...] = ("wait_time",)
    load: Callable[..., float | None] = lambda load: load
    tau: Callable[..., float] = lambda: 10
    short: Callable[[str], str] = str
    offered: Mapping[str, Collection] | None = None

    functions = ("trace", "schemes", "load", "tau")


@dataclass(frozen=True)
class DayInPage(Simulated):
    """How a page simulates a live figure of a day without and with the tasks of parameter sweeps, at one site.

    Parameters
    ----------
    trace, sweeps, breakdown, alone, scheme, load, day : function
        Of some controls, which are called with their values by keyword: the trace at its own load, the places of the
        jobs that are sweeps, their tasks per processor, the scheme without tasks and that with them, the offered load,
        and the day, from the first submission.
    titles : function of the scheme
        The titles of the figure, before the day, and of the panel with tasks.
    """

    trace: Callable[..., Trace]
    sweeps: Callable[..., Sequence[int]]
    alone: Callable[..., Scheme]
    scheme: Callable[..., Scheme]
    titles: Callable[[Scheme], tuple[str, str]]
    breakdown: Callable[..., int] = lambda breakdown: breakdown
    load: Callable[..., float] = lambda load: load
    day: Callable[..., int] = lambda day: day

    functions = ("trace", "sweeps", "alone", "scheme", "breakdown", "load", "day")
    has_table = True


@dataclass(frozen=True)
class Tasks:
    """What the tasks of parameter sweeps change for a group of jobs, at one site.

    Parameters
    ----------
    scheme : Shredding
        What becomes of the tasks.
    sweeps : sequence of int
        The places of the jobs that are sweeps.
    breakdown : int
        Their tasks per processor.
    group : str
        The jobs whose means are compared: sweeps, other jobs, or a class of these.
    values : mapping of str to float
        What Python gives for turnaround, slowdown and loss (of capacity): by how many percent the mean fell.
    """

    scheme: Scheme
    sweeps: Sequence[int]
    breakdown: int
    group: str
    values: Mapping[str, float]


@dataclass(frozen=True)
class Run:
    """A run that a card of the site simulates again in the page.

    Parameters
    ----------
    label : str
        What it is, in words.
    trace, scheme
        Both must be in the page.
    load : float, optional
        To which the trace is scaled; None: its own.
    tasks : Tasks, optional
        Of sweeps, with which the run is compared.
    """

    label: str
    trace: Trace
    scheme: Scheme
    load: float | None = None
    tasks: Tasks | None = None
