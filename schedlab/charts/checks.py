"""What charts refuse to draw, with messages that say why."""

import math
from numbers import Integral, Real

import pandas as pd

from schedlab._runtime.text import spelt, suggestion

MOST_ROWS = 5_000


def check_kind(value, *kinds: type) -> None:
    """Raise unless what is to be drawn is of one of these kinds."""
    if not isinstance(value, kinds):
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"expected {expected}, got {type(value).__name__}")


def counted(part, window=None) -> pd.DataFrame:
    """Return the jobs of a schedule or a trace that are counted, in a window if one is given (`Trace.counted`)."""
    if not hasattr(part, "jobs"):
        kind = type(part).__name__
        raise ValueError(f"window needs a trace or a schedule, which has a clock; got a {kind}")
    return part.jobs[getattr(part, "trace", part).some_counted(window)]


def check_size(width, height) -> None:
    """Raise for an impossible width or height of a chart; None means not given."""
    for name, pixels in (("width", width), ("height", height)):
        if pixels is not None and not (isinstance(pixels, Real) and 0 < pixels < math.inf):
            raise ValueError(f"{name} must be a number of pixels above 0, got {spelt(pixels)}")


def check(table, columns) -> None:
    """Raise if a table lacks a column, or has more rows than a chart can take."""
    check_columns(table, columns)
    if len(table) > MOST_ROWS:
        raise ValueError(f"the table has {len(table):,} rows, a chart takes at most {MOST_ROWS:,}: aggregate it first")


def check_columns(table, columns) -> None:
    """Raise if something is not a table, or lacks a column."""
    check_kind(table, pd.DataFrame)
    missing = [name for name in columns if name not in table.columns]
    if missing:
        known = f"{', '.join(map(str, table.columns))}{suggestion(missing[0], table.columns)}"
        raise ValueError(f"the table has no column {missing[0]!r}; it has: {known}")


def check_names(names) -> None:
    """Raise if the name of a column is not text."""
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"expected the name of one column, got {spelt(name)}")


def check_numbers(table, columns) -> None:
    """Raise if a column measured along an axis holds anything but numbers; values may be missing."""
    for name in columns:
        if pd.api.types.is_numeric_dtype(table[name]):
            continue
        known = table[name].dropna()
        wrong = known[[not isinstance(value, Real) for value in known]]
        if len(wrong):
            raise ValueError(f"column {name!r} has {wrong.iloc[0]!r} in row {wrong.index[0]}, expected numbers only")


def check_limit(limit: int) -> None:
    """Raise if a limit is not a possible number of rows of a chart."""
    if not (isinstance(limit, Integral) and 1 <= limit <= MOST_ROWS):
        number = f"{limit:,}" if isinstance(limit, Integral) else repr(limit)
        raise ValueError(f"limit must be a whole number from 1 to {MOST_ROWS:,}, got {number}")


def two_names(names, *schedules) -> tuple[str, str]:
    """Return what two schedules are called: these names, or by default their schemes; raise for other than two."""
    if names is None:
        return tuple(str(schedule.scheme) for schedule in schedules)
    if isinstance(names, str) or len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise ValueError(f"names are {names!r}, expected two texts: one for each schedule")
    return tuple(names)
