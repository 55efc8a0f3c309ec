"""What was found about a paper: five sentences whose numbers and verdicts are filled from what is kept.

`sentences` has a function for each paper, of the rows of its kept ledger, that gives `Finding`s. Each says whether it
follows from the rows, so that none can outlive them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType

import numpy as np
import pandas as pd

from schedlab._runtime.text import check_known
from schedlab.papers import kept
from schedlab.papers.names import paper_in
from schedlab.show import card as page
from schedlab.show.ledgers import TOGETHER, VERDICTS

REPRODUCED, IN_PART, NOT_REPRODUCED, *_ = VERDICTS
HOLDS, FAILS = "holds under", "fails under"  # what the rows say of readings
STALE = "This no longer follows from the kept results."


@dataclass(frozen=True)
class Finding:
    """A sentence on what was found.

    Attributes
    ----------
    text : str
    claims : tuple of str
        Ids of the claims on which it rests; none if it rests on a figure.
    follows : bool
        Whether the text follows from what is kept, beyond the numbers in them.
    """

    text: str
    claims: tuple[str, ...] = ()
    follows: bool = True


class Rows:
    """The rows of a kept ledger, asked for what sentences need.

    Each method raises ValueError if the ledger has no row of a claim, or several.
    """

    def __init__(self, ledger: pd.DataFrame):
        self.ledger = ledger

    @cached_property
    def _records(self) -> dict[str, list[dict]]:
        return {claim: rows.to_dict("records") for claim, rows in self.ledger.groupby("id")}

    def row(self, claim: str) -> dict:
        """Return the row of a claim."""
        several = self._records.get(claim, [])
        if len(several) != 1:
            raise ValueError(f"{claim}: {len(several)} rows in this ledger, expected one")
        return several[0]

    def verdict(self, claim: str) -> str:
        """Return the verdict of a claim."""
        return self.row(claim)["verdict"]

    def verdicts(self, *claims: str) -> set[str]:
        """Return the verdicts of several claims."""
        return {self.verdict(claim) for claim in claims}

    def under(self, claim: str, verb: str) -> list[str]:
        """Return the readings under which a claim holds or fails, by `HOLDS` or `FAILS`."""
        readings = dict(part.split(": ") for part in filter(None, self.row(claim)["readings"].split("; ")))
        return list(filter(None, readings.get(verb, "").split(", ")))

    def conditions(self, claim: str, check: str = "", condition: str = "", outcome: str = "") -> pd.Series:
        """Return the means under conditions of a claim, by name; names of check and condition have these words."""
        chosen = {
            row["condition"]: float(row["mean"] or "nan")
            for row in self.row(claim)["conditions"]
            if row["condition"] != TOGETHER and check in row["check"] and condition in row["condition"]
            if outcome in ("", row["outcome"])
        }
        return pd.Series(chosen, dtype="float64")

    def effect(self, claim: str, check: str = "") -> float:
        """Return the mean effect over the conditions of the first check whose name has these words, or its only one."""
        first = next(row["check"] for row in self.row(claim)["conditions"] if check in row["check"])
        several = [row for row in self.row(claim)["conditions"] if row["check"] == first]
        return float(several[-1]["mean"])

    def published(self, claim: str, check: str = "") -> str:
        """Return the published number of the first condition of the first check whose name has these words."""
        number = next(row["expected"] for row in self.row(claim)["conditions"] if check in row["check"])
        return number.lstrip("+")


class Findings:
    """What was found about a paper, in five sentences. As the value of a notebook's cell it shows itself.

    Parameters
    ----------
    paper : module
        One of `schedlab.papers`.
    ledger : DataFrame, optional
        Its ledger of the full size. Default: the kept one.

    Examples
    --------
    >>> import schedlab as sl
    >>> found = sl.papers.Findings(sl.papers.grudenic2010)
    >>> found
    <Findings of grudenic2010: 5 sentences>
    >>> found.sentences[0].claims
    ('GRU-3a',)
    """

    def __init__(self, paper: ModuleType, ledger: pd.DataFrame | None = None):
        self.paper, self.name = paper, paper_in(paper.__name__)
        self.ledger = kept.ledger_of(self.name) if ledger is None else ledger

    def __repr__(self) -> str:
        return f"<Findings of {self.name}: {len(self.sentences)} sentences>"

    @cached_property
    def sentences(self) -> list[Finding]:
        """The sentences; none if nothing is kept."""
        from .sentences import SENTENCES  # here, since it uses this module

        check_known("paper with findings", self.name, SENTENCES)
        return [] if self.ledger is None else list(SENTENCES[self.name](Rows(self.ledger)))

    def _repr_html_(self) -> str:
        rows = None if self.ledger is None else Rows(self.ledger)
        verdicts = [{claim: rows.verdict(claim) for claim in sentence.claims} for sentence in self.sentences]
        stale = ["" if sentence.follows else STALE for sentence in self.sentences]
        texts = [sentence.text for sentence in self.sentences]
        return page.findings(list(zip(texts, verdicts, stale, strict=True)))


def percent(*values: float) -> str:
    """Write a change in percent without its sign, such as "0.5 %", or a range of several in whole numbers."""
    written = _short if len(values) == 1 else "{:.0f}".format
    return f"{_ends([abs(value) for value in values], written)} %"


def times(*values: float) -> str:
    """Write a factor, or the range of several, with three digits at most."""
    return _ends(values, "{:.3g}".format)


def part(*values: float) -> str:
    """Write a fraction, or the range of several, with two decimals."""
    return _ends(values, "{:.2f}".format)


def gains(ratios: Iterable[float]) -> np.ndarray:
    """Return by how many percent ratios are above 1."""
    return 100 * (np.asarray(ratios, "float64") - 1)


def _short(value):
    return f"{value:.0f}" if value >= 9.5 else f"{value:.1f}".removesuffix(".0")


def _ends(values, written):
    values = values or (float("nan"),)  # of conditions that are gone, so that the sentence does not follow
    return " to ".join(dict.fromkeys(written(end) for end in (min(values), max(values))))
