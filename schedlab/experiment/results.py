"""Results of runs, measures or failures, how they become one table, and what names values have in it."""

import pickle
import socket
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from numbers import Real
from pathlib import Path
from types import NoneType

import numpy as np
import pandas as pd

from .._runtime.digests import NoDigestError, digest, is_installed
from .._runtime.files import recording
from ..workload.labels import labels
from ..workload.trace import Trace

PLAIN = (str, Real, date, timedelta, tuple, NoneType)  # appears in a table unchanged
OF_FAILURES = ("error", "error_at")  # columns
HOST = socket.gethostname()


@dataclass(frozen=True)
class Failure:
    """An error that a run raised: its last line, where the user's own code raised it, the exception in this session."""

    words: str
    at: str = ""
    error: Exception | None = None

    def __getstate__(self):
        """Leave out an error that other processes could not read."""
        try:
            pickle.loads(pickle.dumps(self.error))
        except Exception:  # an error of a user's class, whose pickling may raise anything: only its words are kept
            return {"words": self.words, "at": self.at, "error": None}
        return vars(self)


@dataclass(frozen=True)
class Result:
    """The result of a run: measures, duration and end (seconds, since 1970), computer, and the files that it read."""

    measured: dict | pd.DataFrame | Failure
    seconds: float
    finished: float
    host: str
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether it raised an error."""
        return isinstance(self.measured, Failure)


def result_of(run: Callable, values: Mapping) -> Result:
    """Make one run, and catch its errors: joblib would hide their cause."""
    begin = time.perf_counter()
    with recording() as files:
        try:
            measured = _plain(run(**values))
        except Exception as error:  # a user's function may raise anything
            measured = failure_of(error)
    return Result(measured, time.perf_counter() - begin, time.time(), HOST, files)


def failure_of(error: Exception) -> Failure:
    """Describe an error that a run raised, and where: in the user's own code, if it passed through any."""
    message = f"{type(error).__name__}: {error}".encode(errors="backslashreplace").decode()  # as a file can hold it
    steps = traceback.extract_tb(error.__traceback__)[1:]  # the first is the call of the run
    steps = [step for step in steps if not is_installed(step.filename)] or steps
    places = [f"{Path(step.filename).name}, line {step.lineno}, in {step.name}: {step.line}" for step in steps[-1:]]
    return Failure(message, "".join(places).rstrip(": "), error)


def _plain(result):
    """Return the result of a run as a separate table, or as a dict."""
    if isinstance(result, pd.DataFrame):
        table = result.reset_index() if any(result.index.names) else result.reset_index(drop=True)
        _check_once(table.columns)
        return table
    if isinstance(result, Mapping | pd.Series):
        _check_once(result.keys())
        measures = {str(name): without_numpy(value) for name, value in result.items()}
        for name, value in measures.items():
            if not isinstance(value, PLAIN) or isinstance(value, tuple):
                raise TypeError(f"measure {name} is a {type(value).__name__}, expected a number, a text or a time")
        return measures
    if isinstance(value := without_numpy(result), Real):
        return {"value": value}
    raise TypeError(f"the run gave a {type(result).__name__}, expected measures: a mapping, a Series or a DataFrame")


def without_numpy(value):
    """Convert NumPy's numbers and times to those of Python and pandas."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return pd.Timestamp(value) if isinstance(value, np.datetime64) else pd.Timedelta(value)
    return value.item() if isinstance(value, np.generic | np.ndarray) and not value.ndim else value


def _check_once(names):
    for name in map(str, names):
        if name != name.encode(errors="replace").decode():
            raise ValueError(f"the run gives {name!r}, a name that cannot be written to a file")
    if twice := [str(name) for name, count in Counter(names).items() if count > 1]:
        raise ValueError(f"the run gives {', '.join(twice)} more than once")


def check_columns(about: Mapping, result: Result, reserved: Sequence[str] = ()) -> None:
    """Raise if a measure has the name of a value, or of a reserved column, which has another meaning."""
    measures = [] if result.failed else [*result.measured]
    columns = Counter([*about, *measures, *reserved])
    if both := [name for name, count in columns.items() if count > 1]:
        what = "is a reserved column" if set(both) & set(reserved) else "is also one of its values"
        raise ValueError(f"the run gives {', '.join(sorted(both))}, which {what}; rename the measure")


def tabled(
    names: Sequence[Mapping], results: Sequence[Result], kept: bool, last: Sequence[Mapping] | None = None
) -> pd.DataFrame:
    """Join the rows of all runs into one table: a run's names, its measures, its last columns.

    With `kept`, failures become rows, which say what failed, and where.
    """
    rows = []
    for about, result, more in zip(names, results, last or [{}] * len(names), strict=True):
        check_columns(about, result, OF_FAILURES if kept else ())
        failure = (result.measured.words, result.measured.at) if result.failed else ("", "")
        back = dict(zip(OF_FAILURES, failure, strict=True)) | more if kept else more
        rows.append((about, {} if result.failed else result.measured, back))
    if not any(isinstance(values, pd.DataFrame) for _, values, _ in rows):
        return pd.DataFrame([{**about, **values, **back} for about, values, back in rows])
    tables = [
        values if isinstance(values, pd.DataFrame) else pd.DataFrame([values] if values or back else [])
        for _, values, back in rows
    ]
    # One table of the values of all runs, with repeated rows: a separate table per run would cost 3 ms each.
    places = np.repeat(np.arange(len(rows)), [len(table) for table in tables])
    front, back = (pd.DataFrame([row[i] for row in rows]).iloc[places].reset_index(drop=True) for i in (0, 2))
    filled = [table for table in tables if len(table)] or tables[:1]  # an empty one would change the column types
    return pd.concat([front, pd.concat(filled, ignore_index=True), back], axis=1)


def named(runs: Sequence[Mapping]) -> list[dict]:
    """Return the values of runs as they appear in a table."""
    names = dict.fromkeys(name for values in runs for name in values)
    columns = {name: labelled(values[name] for values in runs if name in values) for name in names}
    return [
        {name: value if isinstance(value, PLAIN) else columns[name][identity(value)] for name, value in values.items()}
        for values in runs
    ]


def identity(value):
    """Return a key that is equal for equal values; traces, and values without a digest, are compared by identity."""
    try:
        return id(value) if isinstance(value, Trace) else digest(value)
    except NoDigestError:
        return id(value)


def labelled(values: Iterable) -> dict:
    """Name all values that are not plain: traces, schemes, functions and others. Number equal names."""
    values = list(values)
    traces = {id(trace): trace for trace in values if isinstance(trace, Trace)}
    names = dict(zip(traces, labels(traces.values()), strict=True))
    others = {identity(value): value for value in values if not isinstance(value, (Trace, *PLAIN))}
    taken = Counter()
    for known, value in others.items():
        taken[name := name_of(value)] += 1
        names[known] = f"{name} ({taken[name]})" if taken[name] > 1 else name
    return names


def name_of(value):
    return getattr(value, "__name__", str(value))
