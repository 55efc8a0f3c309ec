"""What a paper's figures give: cards that show the kept full size, and what was simulated just now as rings on it.

A figure is two functions: one runs its simulations at a size and returns a table, one draws such a table. The card
draws the table that is kept of the full size (`schedlab.papers.kept`); a quick run is compared with it, run by run.
"""

import inspect
import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from schedlab import load_trace
from schedlab._runtime.paths import own_folder
from schedlab._runtime.text import check_known
from schedlab.papers import kept
from schedlab.show import card as page
from schedlab.show.ledgers import VERDICTS, counted, standing
from schedlab.workload import archive
from schedlab.workload.archive import TraceNotFound, standing_in

from .names import paper_in
from .tables import as_read

if TYPE_CHECKING:
    import altair as alt  # at run time it would cost every command of the command line a second or more

SIZES = ("quick", "full")
NO_PAPER = ("arena",)  # a study of our own
IN_TEXT, BEYOND = "In the text", "Beyond the paper"  # in place of a number
RING = "○ "  # the mark of what was simulated just now
BROAD = 760  # pixels, for bars that have the page to themselves
NO_RUN = "Drawn from what is kept: none of it was simulated again just now."


@dataclass(frozen=True)
class Shown:
    """What a figure draws: a table of its runs, and where it comes from.

    `data` is the kept full size, or what was simulated just now if nothing is kept; `size` is its size. `now` is what
    was simulated just now, where the data is kept.
    """

    data: pd.DataFrame
    size: str
    now: pd.DataFrame | None = None
    kept: bool = False

    def title(self, log: str) -> str:
        """Name a log in full: kept results are of the archive's, others may be of a stand-in."""
        return archive.resolve(log) if self.kept else load_trace(log, or_standin=True).title

    def both(self, drawn: Callable[[pd.DataFrame], pd.DataFrame]) -> tuple[pd.DataFrame, pd.DataFrame | None]:
        """Return what a function makes of the data, and of what was simulated just now, if anything was: the rings."""
        return drawn(self.data), None if self.now is None else drawn(self.now)


@dataclass(frozen=True)
class Drawing:
    """How a figure looks, and what it shows.

    Attributes
    ----------
    title, seen, sample : str
        What is seen; what this picture shows, in a sentence or two with its numbers; what was simulated, in a line.
    chart : altair chart, or None for a table
    table : DataFrame, optional
        The numbers, ready to read.
    notes : tuple of str
        What the reader must know.
    printed : str
        The mark of what the paper prints: "diamonds", "a band", "a dashed line"; "" if it prints no numbers.
    ringed : bool
        Whether the chart has what was simulated just now as rings.
    """

    title: str
    seen: str
    sample: str = ""
    chart: "alt.TopLevelMixin | None" = None
    table: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()
    printed: str = ""
    ringed: bool = True


@dataclass(frozen=True)
class Card(Drawing):
    """A figure or table of a paper, rebuilt. As the value of a notebook's cell it shows itself.

    Besides what a `Drawing` has:

    Attributes
    ----------
    name, number : str
        The name of the function, and the number in the paper ("" beyond it).
    data : DataFrame
        The numbers that are drawn: the kept full size, or this run's if it is full itself or if nothing is kept.
    shared : tuple of str
        Those of the notes that the paper's wall shows, once for all figures.
    standins : tuple of str
        Which logs are not at hand, so that stand-ins were simulated just now.
    paper : str
        Name of the paper's module.
    size, kept : str, bool
        Of the data; whether it is the kept full size.
    now : DataFrame, optional
        What was simulated just now, beside kept data.
    rings : DataFrame, optional
        Its comparison with the kept runs, as `kept.compared` gives it.
    in_page : function, optional
        Gives the runs (`schedlab.web.in_page.Run`) that a page of the site simulates again.
    claims : DataFrame
        The rows of the kept ledger that belong to the figure.

    Examples
    --------
    >>> import schedlab as sl
    >>> card = sl.papers.grudenic2010.figure1(progress=False)
    >>> card
    <Card Figure 1: DPSA fills the hole that EASY leaves, and ends earlier>
    >>> card.verdict
    'reproduced'
    >>> chart = card.chart
    """

    name: str = ""
    number: str = ""
    data: pd.DataFrame = field(default_factory=pd.DataFrame)
    shared: tuple[str, ...] = ()
    standins: tuple[str, ...] = ()
    paper: str = ""
    size: str = "quick"
    kept: bool = False
    now: pd.DataFrame | None = None
    rings: pd.DataFrame | None = None
    in_page: Callable | None = None
    claims: pd.DataFrame = field(default_factory=pd.DataFrame)

    def __repr__(self) -> str:
        return f"<Card {self.number or self.name}: {self.title}>"

    @property
    def verdict(self) -> str:
        """The verdict of all claims about the figure; "" if there is none."""
        return verdict_of(standing(self.claims)) if len(self.claims) else ""

    @property
    def off(self) -> list[str]:
        """What was simulated just now and lies outside the kept spread, in words."""
        if self.rings is None or self.standins:
            return []
        rows = self.rings[~self.rings["agrees"]]
        names = [name for name in rows if name not in ("measure", "now", "low", "high", "agrees")]
        return [
            f"{', '.join(f'{row[name]}' for name in names)}: {row['measure']} {row['now']:.4g}, "
            f"kept {row['low']:.4g} to {row['high']:.4g}"
            for row in rows.to_dict("records")
        ]

    @cached_property
    def agreement(self) -> str:
        """What was simulated just now, and whether it agrees with what is kept, in a sentence."""
        if not self.kept:
            return "" if self.size == "full" else "No full-size result is kept: this is the quick run alone."
        if self.now is None:
            return NO_RUN
        if self.standins:
            return "Just now stand-ins were simulated: their rings say nothing about the logs, and nothing is judged."
        if self.rings is None or not len(self.rings):
            return "Just now: nothing of what was simulated is kept, so that nothing can be compared."
        count, total = int(self.rings["agrees"].sum()), len(self.rings)
        ring = RING if self.ringed else ""
        if count == total:
            where = "in the kept single runs" if self.ringed else "kept"  # a ring may lie off the mean that is drawn
            return f"{ring}Simulated again just now, a few single runs to check: {_all(total)} as {where}."
        return (
            f"{ring}Just now: {total - count} of {total} values lie outside the kept runs: {'; '.join(self.off[:5])}."
        )

    def _ipython_display_(self):
        from .notebook import display_card  # here, since IPython takes a second that only notebooks should spend

        display_card(self)

    def again(self, size: str = "quick", progress: bool = True) -> "Card":
        """Simulate again.

        Parameters
        ----------
        size : {"quick", "full"}
            How much.
        progress : bool
            Show progress bars.
        """
        from . import modules

        (paper,) = modules([self.paper])
        (figure,) = (figure for figure in paper.FIGURES if figure.__name__.replace("_", "-") == self.name)
        return figure(size, progress)

    @property
    def code(self) -> str:
        """The same in Python."""
        call = f"sl.papers.{self.paper}.{self.name.replace('-', '_')}"
        return (
            f'import schedlab as sl\n\ncard = {call}()  # "full": simulate the full size again\ncard.data, card.chart'
        )

    def head(self, name: str = "") -> str:
        """Return number, title and verdict as HTML.

        Parameters
        ----------
        name : str
            Where links to the card lead; "": nowhere.
        """
        where = self.number or ("" if self.paper in NO_PAPER else IN_TEXT if len(self.claims) else BEYOND)
        return page.head(where, self.title, counted(self.claims) if len(self.claims) else {}, name)

    def below(self) -> str:
        """Return what stands below the picture as HTML: what it shows, the sample, and the folds."""
        from schedlab.charts import table  # here, since it loads altair

        key = f"{self.paper}-{self.name}"
        numbers = "" if self.table is None else table(as_read(self.table)).to_html(table_uuid=f"{key}-table")
        return page.below(
            seen=self.seen,
            standins=self.standins,
            agreement=self.agreement,
            warning=bool(self.off),
            sample=f"{self.sample} {self._marks()}".strip(),
            numbers=numbers,
            opened=self.chart is None,
            claims=self.claims,
            elsewhere=self._elsewhere() if self.chart is None else {},
            notes=[note for note in self.notes if note not in self.shared],
            code=self.code if self.paper else "",
        )

    def _elsewhere(self):
        """Say for each claim about several tables which of them has it in full, unless it is this one."""
        firsts = {
            row["id"]: min(kept.named_in(row["where"]), key=lambda name: int(name.split()[1]), default=self.number)
            for row in self.claims.to_dict("records")
        }
        return {claim: first for claim, first in firsts.items() if first != self.number and self.number}

    def _marks(self):
        """Say what the paper prints of a figure of its own."""
        if self.printed:
            return "◇ Published." if self.printed == "diamonds" else f"Published: {self.printed}."
        return "The paper prints this figure without numbers." if self.number and self.chart is not None else ""


def _all(count):
    return f"all {count:,} values are" if count > 1 else "the value is"


def verdict_of(verdicts: Iterable[str]) -> str:
    """Return the verdict of several claims, of which those that cannot be tested do not count.

    It is the one that all share; in part if some are reproduced and others are not, or one is in part; else undecided.

    Examples
    --------
    >>> verdict_of(["reproduced", "cannot be tested"]), verdict_of(["reproduced", "not reproduced"])
    ('reproduced', 'in part')
    """
    verdicts = set(verdicts)
    tested = verdicts - {CANNOT} or verdicts
    if len(tested) < 2:
        return tested.pop() if tested else ""
    return IN_PART if IN_PART in tested or {REPRODUCED, NOT_REPRODUCED} <= tested else UNDECIDED


REPRODUCED, IN_PART, NOT_REPRODUCED, UNDECIDED, CANNOT = VERDICTS


@dataclass(frozen=True)
class Paper:
    """What a paper is, for headings and for the front page of the report.

    Attributes
    ----------
    authors, title, venue : str
    year : int
    says : str
        What the paper claims, in a sentence or two.
    findings : tuple of (str, str)
        The three findings: a sentence each, and the id of the claim that it rests on.
    terms : tuple of (str, str)
        The paper's codes and words, each with what it means in a line.
    defaults : tuple of (str, str)
        Readings of what the paper leaves open, each with what is assumed otherwise; itself if that is the default.
    others : tuple of (str, str)
        Figures that no claim names, each with why it has no verdict.
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
    findings: tuple[tuple[str, str], ...] = ()
    terms: tuple[tuple[str, str], ...] = ()
    defaults: tuple[tuple[str, str], ...] = ()
    others: tuple[tuple[str, str], ...] = ()
    doi: str = ""


def chosen_size(size: str | None = None) -> str:
    """Return the size of the experiments: the argument, else the environment variable SCHEDLAB_SIZE, else quick.

    Parameters
    ----------
    size : str, optional
        One of `SIZES`; others are refused.
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
    """Return the folder where these runs are stored; None if there can be none."""
    return own_folder("runs")


def rebuilt(
    number: str,
    draw: Callable[[Shown], Drawing],
    notes: Iterable[str] = (),
    *,
    logs: Callable[[str], Iterable[str]] | Iterable[str] = (),
    by: Iterable[str] = (),
    measures: Iterable[str] = (),
    within: dict[str, tuple[str, str]] | None = None,
    claims: Iterable[str] = (),
    again: str | None = "quick",
    in_page: Callable | None = None,
    name: str = "",
    about: str = "",
) -> Callable[[Callable[[str, bool], pd.DataFrame]], Callable[..., Card]]:
    """Turn a function that simulates into one that gives a `Card`, with its name and paper.

    The function takes a valid size and whether to show progress, and returns a table of its runs. If a log without a
    stand-in is missing, the card says so.

    Parameters
    ----------
    number : str
        In the paper: "Figure 3"; "" beyond it.
    draw : function of a `Shown` that gives a `Drawing`
    notes : iterable of str
        They come before those of the drawing.
    logs : iterable of str, or function of the size that gives them
        Names of the logs that are simulated: the card says which are stand-ins.
    by, measures, within
        How a quick run is compared with the kept one, as in `kept.compared`.
    claims : iterable of str
        Ids of claims that belong to the figure besides those that name it.
    again : str, optional
        The size of what is simulated beside a kept figure. None: nothing.
    in_page : function, optional
        As in `Card`.
    name, about : str
        The function's name and the first line of its docstring, for a function made by another function.
    """

    def decorate(run):
        @wraps(run)
        def figure(size: str | None = None, progress: bool = True) -> Card:
            size = chosen_size(size)
            before = None if size == "full" else numbers()
            try:
                simulated = size if before is None else again
                now = run(simulated, progress) if simulated else None
                used = () if simulated is None else logs(simulated) if callable(logs) else logs
                runs = Shown(now, size) if before is None else Shown(before, "full", now, kept=True)
                return card(runs, standing_in(used))
            except Exception as error:  # the other figures should not fail because of a missing log
                missing = error.__cause__ or error  # a run of a grid says so by the cause of its error
                if not isinstance(missing, TraceNotFound):
                    raise
                if before is not None:
                    return card(Shown(before, "full", kept=True), (str(missing),))
                title = f"{number or called()}: not at hand"
                return Card(title, str(missing), name=called(), number=number, paper=paper)

        def as_kept() -> Card | None:
            before = numbers()
            return None if before is None else card(Shown(before, "full", kept=True))

        def card(runs: Shown, standins: tuple[str, ...] = ()) -> Card:
            drawing, now = draw(runs), runs.now
            ringed = drawing.ringed and drawing.chart is not None
            return Card(
                **vars(drawing) | {"notes": (*notes, *drawing.notes), "ringed": ringed},
                **vars(runs),
                name=called(),
                number=number,
                shared=tuple(notes) if paper else (),
                standins=standins,
                paper=paper,
                in_page=in_page,
                rings=None if now is None else kept.compared(runs.data, now, by, measures, within),
                claims=kept.claims_about(paper, number, claims),
            )

        def called() -> str:
            return figure.__name__.replace("_", "-")

        def numbers() -> pd.DataFrame | None:
            return kept.numbers_of(paper, called()) if paper else None

        paper = paper_of(run)
        if name:
            figure.__name__ = figure.__qualname__ = name
            figure.__doc__ = about
        figure.number, figure.claims, figure.as_kept = number, tuple(claims), as_kept
        figure.notes = tuple(notes)
        figure.compared = {"by": tuple(by), "measures": tuple(measures), "within": within}
        return as_called(figure, Card)

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
    del function.__wrapped__  # or its signature would be runs
    function.__annotations__ = {"size": str | None, "progress": bool, "return": gives}
    function.__doc__ = inspect.cleandoc(function.__doc__) + TAKES
    return function


def paper_of(function: Callable) -> str:
    """Name the paper (as in `PAPERS`) whose module defines a function; "" elsewhere."""
    return paper_in(function.__module__)
