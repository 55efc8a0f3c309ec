"""What a paper's experiments give: figures, and rows of the ledger."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd
from tqdm.auto import tqdm

from ..threads import pool

if TYPE_CHECKING:
    import altair as alt  # at run time it would cost every command of the command line a second or more

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
    chart: "alt.TopLevelMixin | None" = None
    table: pd.DataFrame | None = None
    notes: tuple[str, ...] = field(default=())


def chosen_size(size: str | None = None) -> str:
    """Give the size of the experiments: as said, or as the environment variable SCHEDLAB_SIZE says, or quick."""
    size = size or os.environ.get("SCHEDLAB_SIZE") or "quick"
    if size not in SIZES:
        raise ValueError(f"unknown size {size!r}; known: {', '.join(SIZES)}")
    return size


def known(what: str, name: str, values: Mapping) -> object:
    """Give the value of a name, which must be known."""
    if name not in values:
        raise ValueError(f"unknown {what} {name!r}; known: {', '.join(values)}")
    return values[name]


def watched(results: Iterable, total: int, words: str, progress: bool) -> Iterator:
    """Give results as they come, with a progress bar if they take more than a second."""
    return iter(tqdm(results, total=total, desc=words, unit="run", delay=1, disable=not progress))


def spread(function: Callable, arguments: Iterable) -> Iterator:
    """Call a function over threads, with each of some arguments; give the results in order, each when it is there."""
    with pool() as executor:
        yield from executor.map(function, arguments)


def ledger(rows: list[dict]) -> pd.DataFrame:
    """Make a ledger of rows; each must have all columns, a verdict that exists, and the reason where it needs one."""
    for row in rows:
        if row.keys() != set(LEDGER):
            raise ValueError(f"a row of the ledger has {', '.join(row)}; expected {', '.join(LEDGER)}")
        if row["verdict"] not in VERDICTS:
            raise ValueError(f"unknown verdict {row['verdict']!r}; known: {', '.join(VERDICTS)}")
        if row["verdict"].startswith("not ") and not row["reason"]:
            raise ValueError(f"{row['id']} is {row['verdict']}, but no reason is given")
    return pd.DataFrame(rows, columns=list(LEDGER))
