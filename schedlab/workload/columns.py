"""The columns of the jobs as numbers: what a policy or a scheme may ask for, by a word such as ``user``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Number

import numpy as np
import pandas as pd

from schedlab.text import plain

# Short words for columns, where no column has that name itself.
WORDS = {"user": "user_id", "group": "group_id", "account": "group_id"}


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of some jobs, each as an array of numbers that is made when it is first asked for.

    - Whole numbers and truth values are int64, -1 where unknown.
    - Other numbers are float64, nan where unknown.
    - Dates are int64, seconds since the first submission of the trace, -1 where unknown; lengths of time are float64,
      seconds.
    - Text is int64: its position in the alphabetical list of the column's distinct texts in this trace; -1 where
      unknown. A part of the trace that lacks a text has other positions: take `Trace.codes` of what is simulated.

    Attributes
    ----------
    table : DataFrame
        The jobs of a trace.
    epoch : int, optional
        What 1970 is on the clock of the log, negated (`swf.Header.unix_start_time`).
    chosen : slice or int64 array
        Which of the jobs.
    counted : slice or int64 array, optional
        Over which jobs `count` goes, if not over those chosen.
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
        """The words that can be asked for."""
        short = [word for word, name in WORDS.items() if name in self.table and word not in self.table]
        return [*short, *map(str, self.table.columns)]

    def name_of(self, word: str) -> str | None:
        """Give the name of the column that a word means; None if there is none.

        Parameters
        ----------
        word : str
            Name of a column, or one of `WORDS`.
        """
        return next((name for name in (word, WORDS.get(word)) if name in self.table), None)

    def is_unknown(self, word: str) -> bool:
        """Tell whether a column says nothing of any job: -1, or nan, for all.

        Parameters
        ----------
        word : str
            As of `name_of`.
        """
        _ = self[word]
        values = self._made[self.name_of(word)]
        return bool((np.isnan(values) if values.dtype.kind == "f" else values == -1).all())

    def of(self, jobs, *, first: bool = False) -> "Columns":
        """Give the columns of some of these jobs; text keeps its codes.

        Parameters
        ----------
        jobs : slice or int64 array
            Which ones.
        first : bool
            They are the first of these jobs, and others will come: `count` goes over all.
        """
        if self.table.empty:
            return self
        places = np.arange(len(self.table))[self.chosen]
        counted = (places if self.counted is None else self.counted) if first else None
        return Columns(self.table, self.epoch, places[jobs], counted, self._made)

    def count(self, word: str) -> int:
        """Count the different values of a column; what is unknown is one of them.

        Parameters
        ----------
        word : str
            As of `name_of`.
        """
        values = self[word]
        return np.unique(values if self.counted is None else self._made[self.name_of(word)][self.counted]).size

    def with_numbers(self, **columns: np.ndarray) -> "Columns":
        """Give the same columns with other numbers in some of them; those that there are not are left out.

        Parameters
        ----------
        **columns : array, shape (n_jobs,)
            By the names of the columns.
        """
        made = dict(self._made)
        for name, numbers in columns.items():
            if name in self.table:
                made[name] = np.zeros(len(self.table), numbers.dtype)
                made[name][self.chosen] = numbers
                made[name].flags.writeable = False
        return Columns(self.table, self.epoch, self.chosen, self.counted, made)

    def codes(self, word: str) -> dict[str, int]:
        """Give the code of each text of a column.

        Parameters
        ----------
        word : str
            As of `name_of`.
        """
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
        texts = _texts(values)
        codes = {text: code for code, text in enumerate(np.unique(texts.dropna()))}
        return texts.map(codes).fillna(-1).to_numpy("int64")

    def _since_first(self, dates):
        if self.epoch is None:
            raise ValueError(f"column {dates.name!r} holds dates, but the log has no UnixStartTime to count them from")
        if dates.dt.tz is not None:
            dates = dates.dt.tz_convert("UTC").dt.tz_localize(None)
        seconds = dates.to_numpy().astype("datetime64[s]")  # in nanoseconds, time ends in 2262
        first = self.table["submit_time"].min()
        return np.where(dates.notna(), seconds.astype("int64") - self.epoch - first, -1).astype("int64")


def _with_a_kind(values: pd.Series) -> pd.Series:
    """Give a column with the type of its values, where pandas holds numbers as objects, categories or Arrow's."""
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
    """Give a column as texts, None where there is none."""
    texts = values.astype(object)
    known = texts.notna()
    return texts.where(known, None).map(lambda value: plain(str(value)), na_action="ignore")


def codes_of(columns: Columns, names: Mapping[str, Mapping[int, str]], word: str) -> dict[str, int]:
    """Give the number behind each name of a column: as the log numbers them, else the codes of its texts.

    Parameters
    ----------
    columns : Columns
        Of a trace.
    names : mapping
        `Trace.names`.
    word : str
        Name of a column, or one of `WORDS`.

    Raises
    ------
    ValueError
        For an unknown column, or one of numbers without names.
    """
    name = columns.name_of(word)
    if name is None:
        raise ValueError(f"no column {word!r}; known: {', '.join(columns.known)}")
    if named := names.get(name):
        return {text: number for number, text in named.items()}
    if getattr(_with_a_kind(columns.table[name]).dtype, "kind", "O") in "biufmM":
        raise ValueError(f"column {name!r} holds numbers without names: a policy sees them as they are")
    return columns.codes(word)
