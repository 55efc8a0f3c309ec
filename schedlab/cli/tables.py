"""Tables and paragraphs as wide as the terminal."""

import json
import math
import shutil
import sys
from textwrap import fill

import numpy as np
import pandas as pd

from schedlab._runtime.text import plain

NARROWEST = 8  # characters of a column


def print_table(table, header=True):
    """Print numbers right-aligned and words left-aligned; in a narrow terminal the widest words are cut.

    The first column, which names the row, stays whole.
    """
    texts = [not pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes]
    columns = [[plain(str(name))] * header + [cell(value) for value in column] for name, column in table.items()]
    widths = [max(map(len, column), default=0) for column in columns]
    excess = sum(widths) + 2 * (len(widths) - 1) - _width()
    while excess > 0 and any(texts[1:]):
        widest = max((i for i in range(1, len(widths)) if texts[i]), key=widths.__getitem__)
        if widths[widest] <= NARROWEST:
            break
        widths[widest] -= 1
        excess -= 1
    columns = [
        [_cut(text, width) for text in column] if is_text else column
        for column, width, is_text in zip(columns, widths, texts, strict=True)
    ]
    for row in zip(*columns, strict=True):
        cells = (
            f"{cell:{'<' if is_text else '>'}{width}}" for cell, is_text, width in zip(row, texts, widths, strict=True)
        )
        print("  ".join(cells).rstrip())


def records(table) -> list[dict]:
    """Return the rows of a table by the names of its columns."""
    return table.to_dict("records")


def print_json(content) -> None:
    """Print JSON; dates as text, and null for what is missing or infinite."""
    print(json.dumps(_plain(content), indent=1, ensure_ascii=False, default=str))


def _plain(content):
    if isinstance(content, dict):
        return {str(name): _plain(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(value) for value in content]
    if isinstance(content, np.generic):
        content = content.item()
    missing = content is pd.NA or (isinstance(content, float) and not math.isfinite(content))
    return None if missing else content


def cell(value):
    if isinstance(value, str):
        return plain(value)
    if pd.isna(value):
        return "-"
    if abs(value) < 1000 and value != int(value):
        return f"{value:,.4g}"
    return f"{value:,.0f}"


def _cut(text, width):
    return text if len(text) <= width else text[: width - 1].rstrip(" ,") + "…"


def _width():
    """Return the columns of the terminal, or COLUMNS if set; for a pipe or a file there is no limit."""
    return shutil.get_terminal_size((sys.maxsize, 24)).columns


def print_indented(text):
    """Print a text with its first line indented, and the others further."""
    print(fill(text, _width(), initial_indent="    ", subsequent_indent=" " * 15, break_on_hyphens=False))
