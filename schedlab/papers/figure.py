"""What a paper's experiments give: figures that show themselves, and the helpers that papers share."""

import html
import inspect
import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from schedlab import kept
from schedlab.paths import own_folder
from schedlab.text import check_known
from schedlab.workload.archive import TraceNotFound

if TYPE_CHECKING:
    import altair as alt  # at run time it would cost every command of the command line a second or more

SIZES = ("quick", "full")


@dataclass(frozen=True)
class Figure:
    """A figure or table, rebuilt. As the value of a notebook's cell it shows itself: chart, caption, table and notes.

    Attributes
    ----------
    name, title, caption : str
        The caption says what should be seen, and what is reduced in a quick run.
    data : DataFrame
        The numbers behind it; tidy.
    chart : altair chart, or None for a table
    table : DataFrame, optional
        What to print beside the chart, ready to read.
    notes : tuple of str
        What the reader must know: stand-ins, reduced size.
    paper : str
        Name of the paper's module; `rebuilt` fills it in.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=500, procs=64, seed=1)
    >>> table = sl.sweep(trace, ["easy", "easy-sjf"], load=[0.6, 0.7, 0.8, 0.9])
    >>> drawn = sl.charts.lines(table, "load", "wait_time", title="Mean wait")
    >>> caption = "Serving short jobs first shortens the mean wait, the more the higher the load."
    >>> figure = sl.papers.Figure("figure1", "Mean wait against load", caption, table, drawn)
    >>> figure
    <Figure figure1: Mean wait against load>
    >>> chart = figure.chart
    """

    name: str
    title: str
    caption: str
    data: pd.DataFrame
    chart: "alt.TopLevelMixin | None" = None
    table: pd.DataFrame | None = None
    notes: tuple[str, ...] = field(default=())
    paper: str = ""

    def __repr__(self) -> str:
        return f"<Figure {self.name}: {self.title}>"

    def _ipython_display_(self):
        from IPython.display import HTML, display  # here, since it takes a second that only notebooks should spend

        if self.chart is None:
            display(HTML(f'<h4 class="schedlab-title">{html.escape(self.title)}</h4>'))
        else:
            display(self.chart)
        display(HTML(self.words()))
        if self.table is not None:
            from schedlab.charts import table  # here, since it loads altair

            display(table(self.table))
        if beside := self.kept():
            display(HTML(beside))

    def kept(self) -> str:
        """Return the kept full-size figure as HTML that unfolds; "" if none is kept or its numbers are the same."""
        return kept.beside(self) if self.paper else ""

    def words(self) -> str:
        """Return the caption and the notes as HTML; lines break between words only."""
        style = "max-width: 60em; margin: .3em 0; overflow-wrap: normal; word-break: normal"
        escaped = (html.escape(note) for note in self.notes)
        notes = "".join(f'<p class="schedlab-note" style="{style}">Note: {note}</p>' for note in escaped)
        return f'<p class="schedlab-caption" style="{style}">{html.escape(self.caption)}</p>{notes}'


@dataclass(frozen=True)
class Paper:
    """What a paper is, for headings and for the front page of the report.

    Attributes
    ----------
    authors, title, venue : str
    year : int
    says : tuple of str
        What the paper claims, in a sentence or two.
    found : tuple of (str, str)
        The three findings: a sentence each, and the id of the claim that it rests on.
    doi : str

    Examples
    --------
    >>> import schedlab as sl
    >>> paper = sl.papers.pascual2008.PAPER
    >>> paper.authors, paper.year
    ('J. A. Pascual and J. Miguel-Alonso', 2008)
    """

    authors: str
    title: str
    venue: str
    year: int
    says: str
    found: tuple[tuple[str, str], ...] = ()
    doi: str = ""


def chosen_size(size: str | None = None) -> str:
    """Return the size of the experiments: the argument, else the environment variable SCHEDLAB_SIZE, else quick.

    Parameters
    ----------
    size : str, optional
        One of `SIZES`.

    Raises
    ------
    ValueError
        For an unknown size.
    """
    size = size or os.environ.get("SCHEDLAB_SIZE") or "quick"
    return check_known("size", size, SIZES)


def keeping(size: str) -> AbstractContextManager:
    """Return a context that stores full-size runs as they finish; an interrupted run continues where it stopped.

    Parameters
    ----------
    size : {"quick", "full"}
        Quick runs are not stored.
    """
    from schedlab.experiment import storing  # here: it loads joblib, which the names of papers do not need

    return storing(runs_folder() if size == "full" else None)


def runs_folder() -> Path | None:
    """Return the folder where these runs are stored; None if there can be none, or without pyarrow."""
    return own_folder("runs") if find_spec("pyarrow") else None


def rebuilt(
    title: str, notes: Callable[[str], Iterable[str]] | Iterable[str] = (), name: str = "", about: str = ""
) -> Callable[[Callable[[str, bool], tuple]], Callable[..., Figure]]:
    """Turn a function that draws into one that rebuilds a `Figure` with its name and paper.

    The function takes a valid size and whether to show progress. It returns caption, data, chart (None for a table)
    and, if there are any, table and notes, in this order. If a log without a stand-in is missing, the caption says so.

    Parameters
    ----------
    title : str
        Of the figure.
    notes : iterable of str, or function of the size that gives them
        They come before those that the function returns.
    name, about : str
        The function's name and the first line of its docstring, for a function made by another function.
    """

    def decorate(draw):
        @wraps(draw)
        def figure(size: str | None = None, progress: bool = True) -> Figure:
            size = chosen_size(size)
            try:
                said, shown = notes(size) if callable(notes) else notes, draw(size, progress)
            except TraceNotFound as missing:  # the other figures should not fail because of it
                said, shown = (), (str(missing), pd.DataFrame())
            caption, data, chart, table, more = (*shown, *(None, None, ())[len(shown) - 2 :])
            return Figure(figure.__name__.replace("_", "-"), title, caption, data, chart, table, (*said, *more), paper)

        paper = paper_of(draw)
        if name:
            figure.__name__ = figure.__qualname__ = name
            figure.__doc__ = about
        return as_called(figure, Figure)

    return decorate


TAKES = """

Parameters
----------
size : {"quick", "full"}, optional
    Default: the environment variable SCHEDLAB_SIZE, or quick.
progress : bool
    Show progress bars.
"""


def as_called(function: Callable, gives: type) -> Callable:
    """Give a decorated function of the size and progress its own signature and docstring."""
    del function.__wrapped__  # or its signature would be shown
    function.__annotations__ = {"size": str | None, "progress": bool, "return": gives}
    function.__doc__ = inspect.cleandoc(function.__doc__) + TAKES
    return function


def paper_of(function: Callable) -> str:
    """Name the paper (as in `PAPERS`) whose module defines a function; "" elsewhere."""
    return function.__module__.partition(f"{__package__}.")[2].partition(".")[0]
