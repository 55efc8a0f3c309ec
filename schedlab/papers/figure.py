"""What a paper's experiments give: figures, and rows of the ledger."""

from dataclasses import dataclass, field

import altair as alt
import pandas as pd

SIZES = ("quick", "full")
LEDGER = ("id", "where", "statement", "published", "measured", "trace", "verdict", "reason")
VERDICTS = ("reproduced", "trend only", "not reproduced", "not testable")


@dataclass(frozen=True)
class Figure:
    """A figure or table, rebuilt.

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
    """

    name: str
    title: str
    caption: str
    data: pd.DataFrame
    chart: alt.TopLevelMixin | None = None
    table: pd.DataFrame | None = None
    notes: tuple[str, ...] = field(default=())


def check_size(size: str) -> None:
    """Raise where a size is neither quick nor full."""
    if size not in SIZES:
        raise ValueError(f"unknown size {size!r}; known: {', '.join(SIZES)}")


def ledger(rows: list[dict]) -> pd.DataFrame:
    """Make a ledger of rows, and see that each has all its columns and a verdict that exists."""
    table = pd.DataFrame(rows, columns=list(LEDGER))
    unknown = set(table["verdict"]) - set(VERDICTS)
    if unknown:
        raise ValueError(f"unknown verdict {unknown.pop()!r}; known: {', '.join(VERDICTS)}")
    return table
