"""The columns of the jobs as numbers, for policies and schemes, which name them by words such as ``user``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Number

import numpy as np
import pandas as pd

from schedlab._runtime.text import plain, suggestion

# Short words for columns; a column that has the word as its own name goes first.
WORDS = {"user": "user_id", "group": "group_id"}  # an account is no group


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of some jobs, each as an array of numbers that is made on first use.

    - Whole numbers and truth values are int64; -1 means unknown.
    - Other numbers are float64; nan means unknown.
    - Dates are int64, seconds since the first submission of the trace; -1 means unknown. Durations are float64,
      seconds.
    - Text is int64: its position in the alphabetical list of the column's distinct texts in this trace; -1 means
      unknown. In a part of the trace that lacks some of the texts the positions differ: use `Trace.codes` of the trace
      that is simulated.

    `table` has the jobs of a trace, whose clock starts at `epoch`, in seconds since 1970; `chosen` are the selected
    ones, and `counted` those over which `count` counts, if they are others.
    """

    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    epoch: int | None = None
    chosen: slice | np.ndarray = field(default_factory=lambda: slice(None))
    counted: slice | np.ndarray | None = None
    _made: dict = field(default_factory=dict, repr=False)

    def __getitem__(self, word: str) -> np.ndarray:
        name = self.name_of(word)
        if name not in self._made:
            self._made[name] = self._numbers(name)
            self._made[name].flags.writeable = False  # schedules share it
        return self._made[name][self.chosen]

    def __contains__(self, word: str) -> bool:
        return self.name_of(word) is not None

    @property
    def known(self) -> list[str]:
        """The words that can be used."""
        short = [word for word, name in WORDS.items() if name in self.table and word not in self.table]
        return [*short, *map(str, self.table.columns)]

    def name_of(self, word: str) -> str | None:
        """Return the column that a word means: its name, one of `WORDS`, or its name in other case; else None."""
        alike = [name for name in self.table if str(name).lower() == str(word).lower()]
        names = (word, WORDS.get(word), *(alike if len(alike) == 1 else ()))
        return next((name for name in names if name in self.table), None)

    def is_unknown(self, word: str) -> bool:
        """Tell whether a column is unknown for all jobs: -1, or nan."""
        _ = self[word]
        values = self._made[self.name_of(word)]
        return bool((np.isnan(values) if values.dtype.kind == "f" else values == -1).all())

    def of(self, jobs, *, first: bool = False) -> "Columns":
        """Return the columns of some of these jobs; text keeps its codes.

        `first`: they are the first of these jobs and others will follow, so `count` still counts over all of them.
        """
        if self.table.empty:
            return self
        places = np.arange(len(self.table))[self.chosen]
        counted = (places if self.counted is None else self.counted) if first else None
        return Columns(self.table, self.epoch, places[jobs], counted, self._made)

    def count(self, word: str) -> int:
        """Count the distinct values of a column; unknown is one of them."""
        values = self[word]
        return np.unique(values if self.counted is None else self._made[self.name_of(word)][self.counted]).size

    def with_numbers(self, **columns: np.ndarray) -> "Columns":
        """Return the same columns with other numbers in some of them; names without a column are ignored."""
        arrays = dict(self._made)
        for name, numbers in columns.items():
            if name in self.table:
                arrays[name] = np.zeros(len(self.table), numbers.dtype)
                arrays[name][self.chosen] = numbers
                arrays[name].flags.writeable = False
        return Columns(self.table, self.epoch, self.chosen, self.counted, arrays)

    def codes(self, word: str) -> dict[str, int]:
        """Return the code of each text of a column."""
        return {text: code for code, text in enumerate(np.unique(_texts(self.table[self.name_of(word)]).dropna()))}

    def _numbers(self, name):
        values = _with_a_kind(self.table[name])
        kind = getattr(values.dtype, "kind", "O")
        if kind in "biu":
            if (largest := values.max()) is not pd.NA and largest > np.iinfo(np.int64).max:
                raise ValueError(f"column {name!r} has {largest}, expected whole numbers below 2**63")
            return values.astype("Int64").to_numpy("int64", na_value=-1)
        if kind == "f":
            return values.to_numpy("float64", na_value=np.nan)
        if kind == "m":
            return (values / pd.Timedelta(1, "s")).to_numpy("float64", na_value=np.nan)
        if kind == "M":
            return self._since_first(values)
        return _texts(values).map(self.codes(name)).fillna(-1).to_numpy("int64")

    def _since_first(self, dates):
        if self.epoch is None:
            raise ValueError(f"column {dates.name!r} holds dates, but the log has no UnixStartTime to count them from")
        if dates.dt.tz is not None:
            dates = dates.dt.tz_convert("UTC").dt.tz_localize(None)
        seconds = dates.to_numpy().astype("datetime64[s]")  # nanoseconds would end in 2262
        first = self.table["submit_time"].min()
        return np.where(dates.notna(), seconds.astype("int64") - self.epoch - first, -1).astype("int64")


def _with_a_kind(values: pd.Series) -> pd.Series:
    """Return a column with the type of its values, if pandas holds numbers as objects, categories or Arrow's."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(object)
    if isinstance(values.dtype, pd.ArrowDtype) and values.dtype.kind in "mM":
        return values.astype(f"{values.dtype.kind}8[s]" if values.dtype.kind == "m" else object).infer_objects()
    if values.dtype == object:
        known = values.dropna()
        if len(known) and known.map(lambda value: isinstance(value, Number)).all():
            return pd.to_numeric(values.map(lambda value: value, na_action="ignore"))
        return values.infer_objects()
    return values


def _texts(values: pd.Series) -> pd.Series:
    """Return a column as texts; None where a value is missing."""
    texts = values.astype(object)
    known = texts.notna()
    return texts.where(known, None).map(lambda value: plain(str(value)), na_action="ignore")


def codes_of(columns: Columns, names: Mapping[str, Mapping[int, str]], word: str) -> dict[str, int]:
    """Return the number behind each name of a column: the log's own numbers, or else the codes of its texts."""
    name = columns.name_of(word)
    if name is None:
        raise ValueError(f"no column {word!r}; known: {', '.join(columns.known)}{suggestion(word, columns.known)}")
    if named := names.get(name):
        return {text: number for number, text in named.items()}
    if holds_numbers(columns, name):
        raise ValueError(f"column {name!r} holds numbers without names: a policy sees them as they are")
    return columns.codes(word)


def holds_numbers(columns: Columns, name: str) -> bool:
    """Tell whether a column of a log holds numbers, or dates."""
    return getattr(_with_a_kind(columns.table[name]).dtype, "kind", "O") in "biufmM"
