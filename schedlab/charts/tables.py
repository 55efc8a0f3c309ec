"""Tables for notebooks: readable numbers, and verdicts with their shapes."""

import html
from numbers import Integral, Real
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
import pandas as pd

from schedlab.show.ledgers import SHAPES
from schedlab.show.reading import typeset

from .checks import check_kind

if TYPE_CHECKING:  # at run time it would delay the first chart by 0.1 s, in which it compiles its templates
    from pandas.io.formats.style import Styler

NUMBERS = "font-variant-numeric: tabular-nums; text-align: right; padding: .2em .6em"
WORDS = "text-align: left; white-space: normal; padding: .2em .6em"
NAMES = "white-space: nowrap"  # otherwise the name of a log would be broken at its hyphens
TITLES = {"job_number": "job"}
SHORT = 16  # characters in a two-word name


def table(frame: pd.DataFrame | pd.Series, caption: str = "") -> "Styler":
    """Style a table for a notebook, light or dark.

    Parameters
    ----------
    frame : DataFrame or Series
        Any table whose columns have different names; a meaningful index becomes its first columns. In a ledger, the
        measured values are placed next to the published ones, and verdicts have their shapes.
    caption : str
        Shown above the table.

    Returns
    -------
    Styler
        A notebook displays it; ``to_html()`` gives the HTML.

    Examples
    --------
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> waits = pd.DataFrame({"scheme": ["FCFS", "EASY"], "wait_time": [29472.4, 3803.1]})
    >>> shown = sl.charts.table(waits, caption="Mean waits in seconds")
    >>> "29,472" in shown.to_html()
    True
    """
    from pandas.io.formats.style import Styler

    check_kind(frame, pd.DataFrame, pd.Series)
    if isinstance(frame, pd.Series):
        frame = frame.rename(frame.name or "value").to_frame()
    index = frame.index
    joined = index.names == [None] and index.dtype.kind == "i" and index.has_duplicates  # row numbers of several tables
    meaningful = index.names != [None] or not (isinstance(index, pd.RangeIndex) or joined)
    names = pd.Index([*(frame.index.names if meaningful else ()), *frame.columns])
    if names.dropna().has_duplicates:
        twice = names[names.duplicated()].dropna()[0]
        raise ValueError(f"the table has several columns {twice!r}, the index counted; rename all but one")
    if meaningful:
        frame = frame.reset_index(names="" if frame.index.names == [None] else None)
    frame = frame.reset_index(drop=True)
    if {"published", "measured"} <= set(frame.columns):
        measured = frame.pop("measured")
        frame.insert(frame.columns.get_loc("published") + 1, "measured", measured)
    frame.columns = [TITLES.get(name, name) for name in frame.columns]
    numbers = [name for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name])]
    # The same table always has the same identifier, so that running a notebook again does not change it.
    styler = Styler(frame, uuid=f"{crc32(frame.to_csv().encode()):08x}", cell_ids=False)
    styler = styler.hide(axis="index").format(_text).format_index(_text, axis="columns")
    styler = styler.set_caption(html.escape(caption))
    # One rule for a column and its head: below a live figure, nothing else would pad the heads.
    sides = [
        {"selector": f".col{place}", "props": NUMBERS if name in numbers else WORDS}
        for place, name in enumerate(frame.columns)
    ]
    for place, name in enumerate(frame.columns):
        texts = frame[name].astype(object).map(str)
        if not texts.str.contains(" ").any() or texts.str.len().max() <= SHORT:  # names or numbers, not sentences
            sides.append({"selector": f"td.col{place}", "props": NAMES})
    styler = styler.set_table_styles([{"selector": "caption", "props": "text-align: left"}, *sides])
    if "verdict" in frame.columns:
        styler = styler.format(_marked, subset=["verdict"]).map(lambda _: "white-space: nowrap", subset=["verdict"])
    return styler


def _marked(verdict):
    """Write a verdict with its shape."""
    return f"{SHAPES[verdict]} {verdict}" if verdict in SHAPES else _text(verdict)


def _text(value):
    if isinstance(value, bool | np.bool):
        return "yes" if value else "no"
    if not isinstance(value, Real):
        return "" if value is None else html.escape(str(value))
    if np.isnan(value):
        return "-"
    value += 0  # no -0
    form = ",d" if isinstance(value, Integral) else ",.0f" if abs(value) >= 100 else ".3g"
    return typeset(f"{value:{form}}")
