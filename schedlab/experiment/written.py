"""Results as JSON, which any language reads, and back without loss: numbers, texts, times, and tables of them.

What JSON has itself is written as it is; anything else as an object with one entry, such as ``{"float": "nan"}``.
"""

import math
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd

from schedlab._runtime.text import spelt

from .results import without_numpy

READ = {  # by name, how a value is made of what is written
    "float": float,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "timedelta": lambda parts: timedelta(*parts),
    "Timestamp": lambda parts: _timestamp(*parts),
    "Timedelta": lambda parts: pd.Timedelta(np.timedelta64(*parts)),
    "named": tuple,
    "NaT": lambda _: pd.NaT,
    "NA": lambda _: pd.NA,
    "array": lambda parts: np.array(list(map(read, parts[1])), parts[0]),
}


def written(value):
    """Return a value as JSON has it. Raises TypeError for a value of another kind."""
    kind = type(value)
    if value is None or kind in (bool, int, str) or (kind is float and math.isfinite(value)):
        return value
    if kind is float:
        return {"float": repr(value)}
    if value is pd.NaT or value is pd.NA:
        return {"NaT" if value is pd.NaT else "NA": None}
    if kind is datetime and value.tzinfo is None:
        return {"datetime": value.isoformat()}
    if isinstance(value, datetime):
        value = pd.Timestamp(value)
        parts = [int(value.asm8.astype("int64")), value.unit, None if value.tz is None else str(value.tz)]
        with suppress(AttributeError, LookupError, ValueError):  # a zone that pandas does not know by this name
            if repr(back := _timestamp(*parts)) == repr(value) and type(back.tz) is type(value.tz):
                return {"Timestamp": parts}
        raise TypeError(f"a time in the zone {value.tz!r}")
    if isinstance(value, pd.Timedelta):
        return {"Timedelta": [int(value.asm8.astype("int64")), value.unit]}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    if isinstance(value, timedelta):
        return {"timedelta": [value.days, value.seconds, value.microseconds]}
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iuf":
        return {"array": [str(value.dtype), list(map(written, value.tolist()))]}
    raise TypeError(f"a {kind.__name__}")


def written_or_text(value):
    """Return a value as JSON has it, or else as a text."""
    try:
        return written(value)
    except TypeError:
        return str(value)


def read(value):
    """Return a value that `written` wrote."""
    if not isinstance(value, dict):
        return value
    ((kind, parts),) = value.items()
    return READ[kind](parts)


def written_row(measured: Mapping) -> dict:
    """Return the measures of a run, by name, as JSON has them."""
    row = {}
    for name, value in measured.items():
        try:
            row[name] = written(value)
        except TypeError:
            message = f"measure {name} is {spelt(value)}, which a store cannot hold; give it as a float or a text"
            raise TypeError(message) from None
    return row


def written_table(table: pd.DataFrame) -> dict:
    """Return the names and the values of a table's columns, as JSON has them.

    Raises TypeError, which names a column that would not come back as it is.
    """
    columns = []
    for name, column in table.items():
        if type(name) not in (str, int, float):
            expected = "expected names that are texts or numbers, to be kept in a store"
            raise TypeError(f"the run gives a column {name!r}, {expected}")
        try:
            columns.append(record := _written_column(column))
            if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
                continue
            back = _column(record)
            if back.dtype != column.dtype or list(map(repr, back)) != list(map(repr, column)):
                raise TypeError("it does not come back")
        except (TypeError, ValueError, KeyError):
            message = f"the column {name} cannot be stored without loss; give numbers, texts or times of one type"
            raise TypeError(message) from None
    return {"names": list(map(written, table.columns)), "columns": columns, "rows": len(table)}


def read_table(whole: Mapping) -> pd.DataFrame:
    """Return a table that `written_table` wrote."""
    columns = dict(enumerate(map(_column, whole["columns"])))
    table = pd.DataFrame(columns, index=range(whole["rows"]))
    return table.set_axis([*map(read, whole["names"])], axis=1)


def _written_column(column):
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        categories = _written_column(pd.Series(kind.categories))
        return {"categories": categories, "ordered": kind.ordered, "codes": column.cat.codes.tolist()}
    return {"dtype": str(kind), "values": [written(without_numpy(value)) for value in column.tolist()]}


def _column(whole):
    if "codes" in whole:
        kind = pd.CategoricalDtype(pd.Index(_column(whole["categories"])), whole["ordered"])
        return pd.Series(pd.Categorical.from_codes(whole["codes"], dtype=kind))
    return pd.Series(list(map(read, whole["values"])), dtype=whole["dtype"])


def _timestamp(count, unit, zone):
    naive = pd.Timestamp(np.datetime64(count, unit))
    return naive if zone is None else naive.tz_localize("UTC").tz_convert(zone)
