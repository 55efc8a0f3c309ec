"""The wall of a paper: its verdicts in a line, and all its figures as small pictures, in the paper's order."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from types import ModuleType

import pandas as pd

from schedlab.papers import kept
from schedlab.show import card as page
from schedlab.show.ledgers import counted, standing

from .cards import Card
from .kept import named_in
from .names import paper_in

LEDGER = "ledger"  # the name of the tile that leads there
READINGS = "sensitivity"  # the name of the figure of what a paper leaves open: it stands behind the paper's own
REST = "Claims that no figure shows"
BEGINNING = re.compile(r"^(Rebuild (Figure|Table) \d+: |Beyond the paper: |Draw |Show |Tabulate )")


@dataclass(frozen=True)
class Tile:
    """What a wall shows of a figure: a short title, and how many of its claims have each verdict.

    `picture` is an SVG, "" for a table; `claims` are rows of the ledger, shown where there is no picture.
    """

    name: str
    number: str
    title: str
    verdicts: dict[str, int]
    picture: str
    claims: pd.DataFrame | None = field(default=None, compare=False)


class Wall:
    """The wall of a paper, from what is kept. As the value of a notebook's cell it shows itself.

    Parameters
    ----------
    paper : module
        One of `schedlab.papers`.
    ledger : DataFrame, optional
        Its ledger. Default: the kept one.

    Examples
    --------
    >>> import schedlab as sl
    >>> wall = sl.papers.Wall(sl.papers.grudenic2010)
    >>> wall
    <Wall of grudenic2010: 9 figures, 11 claims>
    """

    def __init__(self, paper: ModuleType, ledger: pd.DataFrame | None = None):
        self.paper, self.name = paper, paper_in(paper.__name__)
        self.ledger = kept.ledger_of(self.name) if ledger is None else ledger

    def __repr__(self) -> str:
        claims = 0 if self.ledger is None else len(self.ledger)
        return f"<Wall of {self.name}: {len(self.paper.FIGURES)} figures, {claims} claims>"

    @cached_property
    def tiles(self) -> list[Tile]:
        """A tile for each figure that is kept: those of the paper in its order, then what is beyond it."""
        from schedlab.charts import thumbnail  # here, since it loads altair

        tiles = []
        for figure in sorted(self.paper.FIGURES, key=_place):
            card = figure.as_kept()
            if card is not None:
                picture = "" if card.chart is None else thumbnail(card.chart)
                title = _short(figure) if card.number else card.title
                tiles.append(Tile(card.name, card.number, title, _counted(card.claims), picture, card.claims))
        return tiles

    def rest(self) -> Tile | None:
        """Return a tile for the claims that name no figure or table."""
        if self.ledger is None:
            return None
        numbers = {figure.number for figure in self.paper.FIGURES}
        claims = {claim for figure in self.paper.FIGURES for claim in figure.claims}
        places = zip(self.ledger["id"], self.ledger["where"], strict=True)
        rest = self.ledger[[claim not in claims and not numbers & named_in(where) for claim, where in places]]
        if not len(rest):
            return None
        return Tile(LEDGER, "", REST, _counted(rest), "", rest)

    def others(self) -> list[tuple[str, str]]:
        """Return the figures that no claim names, in the paper's order, each with why it has no verdict."""
        named = set() if self.ledger is None else set().union(*map(named_in, self.ledger["where"]))
        unnamed = [
            (figure.number, f"no claim names it; it bears on {', '.join(figure.claims)}")
            for figure in self.paper.FIGURES
            if figure.number and figure.number not in named and figure.claims
        ]
        return sorted([*unnamed, *self.paper.PAPER.others], key=lambda row: int(re.search(r"\d+", row[0])[0]))

    def notes(self) -> list[str]:
        """Return the notes that figures share, each once."""
        return list(dict.fromkeys(note for figure in self.paper.FIGURES for note in getattr(figure, "notes", ())))

    def html(self, address: str = "", ledger: str = "ledger", findings: Iterable[tuple[str, str]] = ()) -> str:
        """Return the wall as HTML.

        Parameters
        ----------
        address : str
            Of a figure, up to its name; "" for no links.
        ledger : str
            The name of the ledger, in place of a figure's.
        findings : iterable of (str, str)
            Findings to begin with: sentences, each with the id of its claim.
        """
        lead = page.counts(counted(self.ledger)) if self.ledger is not None else "Nothing is kept of this paper."
        lead = "<br>".join([lead, *(f"{escape(sentence)} ({escape(claim)})." for sentence, claim in findings)])
        tiles = [*self.tiles, *filter(None, [self.rest()])]
        of_paper = [tile for tile in tiles if tile.number or (tile.verdicts and tile.name != READINGS)]
        beyond = [tile for tile in tiles if tile not in of_paper]
        names = {LEDGER: ledger}
        before = set()
        of_paper, beyond = (
            [(address and address + names.get(tile.name, tile.name), *_shown(tile, before)) for tile in several]
            for several in (of_paper, beyond)
        )
        about = self.paper.PAPER
        return page.wall(
            lead, of_paper, beyond, self.notes(), about.terms, self.ledger, dict(about.defaults), self.others()
        )

    def _repr_html_(self) -> str:
        return self.html(findings=self.paper.PAPER.findings)  # in a notebook, they are many screens further down


def _shown(tile, before):
    """Return what a wall shows of a tile; of claims without a picture only those that no tile before it shows."""
    rows = tile.claims if tile.claims is not None and not tile.picture else pd.DataFrame()
    verdicts = standing(rows) if len(rows) else ()
    claims = [pair for pair in zip(verdicts, rows.to_dict("records"), strict=True) if pair[1]["id"] not in before]
    before.update(row["id"] for _, row in claims)
    return tile.picture, tile.number, tile.title, tile.verdicts, claims


def _counted(claims):
    """Count the verdicts of some claims, from the best on, without those that nobody has."""
    return {verdict: count for verdict, count in counted(claims).items() if count} if len(claims) else {}


def _place(figure):
    kind, _, number = figure.number.partition(" ")
    return (not number, not number and not figure.claims, kind, int(number or 0))


def _short(figure):
    title = BEGINNING.sub("", figure.__doc__.partition("\n")[0]).rstrip(".")
    return title[0].upper() + title[1:]


class Family:
    """Cards of figures that belong together, such as the same for three shares of sweeps: one is shown at a time.

    Parameters
    ----------
    *cards : Card
        Of one paper.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.papers.Family(*(figure(progress=False) for figure in sl.papers.grudenic2010.FIGURES[:1]))
    <Family of grudenic2010: Figure 1>
    """

    def __init__(self, *cards: Card):
        self.cards = cards

    def __repr__(self) -> str:
        return f"<Family of {self.cards[0].paper}: {', '.join(card.number or card.name for card in self.cards)}>"

    def _repr_html_(self) -> str:
        from schedlab.charts.files import within  # here, since it loads altair

        names = [card.number or card.name for card in self.cards]
        parts = []
        for card in self.cards:
            picture = "" if card.chart is None else within(card.chart, card.title)
            parts.append(f"{card.head(card.name)}{picture}{card.below()}")
        return page.switch(names, parts, f"family-{self.cards[0].paper}-{self.cards[0].name}")

    def _ipython_display_(self):
        from .notebook import display_family  # here, since IPython takes a second that only notebooks should spend

        display_family(self)
