"""The papers: each a module with its figures, and a ledger of what it claims and what was measured.

A paper's module has `TITLE` and `PAPER` (what it is, and what was found), `FIGURES` (a tuple of functions of the size,
each giving a `Card`) and `claims` (of the size too, giving a `Ledger`). Listing it in `names.py` is all that the report
and the command line need.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from schedlab._runtime.text import check_known, suggestion

from .cards import SIZES, Card, Paper, chosen_size, keeping, runs_folder
from .checks import Check
from .findings import Finding, Findings
from .ledger import LEDGER, VERDICTS, Claim, Ledger, claimed, exact, judged, ledger, untestable
from .names import PAPERS, module_of
from .walls import Family, Wall

if TYPE_CHECKING:
    from . import base, grudenic2010, kurian2003, lelong2017, pascual2008, sabin2006, silva2000  # noqa: F401 - for checkers

__all__ = [
    "LEDGER",
    "PAPERS",
    "SIZES",
    "VERDICTS",
    "Card",
    "Check",
    "Claim",
    "Family",
    "Finding",
    "Findings",
    "Ledger",
    "Paper",
    "Wall",
    "chosen_size",
    "claimed",
    "exact",
    "judged",
    "keeping",
    "ledger",
    "modules",
    "runs_folder",
    "untestable",
]


def modules(names: Iterable[str] = ()) -> list:
    """Load the papers' modules, or those of some names, in the order of the report.

    Parameters
    ----------
    names : iterable of str
        As in `PAPERS`, others are refused; all if there are none.

    Examples
    --------
    >>> import schedlab as sl
    >>> [paper.PAPER.year for paper in sl.papers.modules(["sabin2006", "pascual2008"])]
    [2006, 2008]
    """
    names = set(names) or PAPERS
    for name in names:
        check_known("paper", name, PAPERS)
    return [module_of(name) for name in PAPERS if name in names]


def __getattr__(name):
    if name in PAPERS:
        return module_of(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{suggestion(name, PAPERS)}")
