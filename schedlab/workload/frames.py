"""Read a table of jobs with any column names: `from_frame` takes a DataFrame, `read_table` a CSV or Parquet file.

Each argument (submit, run, procs, ...) names a column. A column is read once, as an instant, a duration, a size or a
name. A value that cannot be read is an error; with `lenient`, its row is omitted instead, with the reason.
"""

import re
import warnings
import zlib
from collections.abc import Collection, Hashable, Mapping
from dataclasses import replace
from gzip import BadGzipFile
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd

from schedlab._runtime.files import opened
from schedlab._runtime.text import check_known, plain, suggestion
from schedlab._runtime.words import MissingEstimate

from . import swf
from .columns import WORDS
from .conventions import TAKEN
from .filter import BAD_ROW
from .loading import SizeUnknown, from_log
from .readers import (
    A_DURATION,
    ENDED,
    NO_VALUE,
    most_in_use,
    names_in_header,
    numbered,
    on_the_clock_of_the_log,
    slurm_duration,
    state_of,
    zone_named,
)
from .swf import LATEST, MOST_PROCS
from .trace import Trace

INSTANTS = ("submit", "start", "end")
DURATIONS = ("run", "estimate")
SIZES = ("procs", "nodes", "procs_per_node")
NAMES = {"user": "user_id", "group": "group_id", "queue": "queue", "partition": "partition"}
ROLES = (*INSTANTS, *DURATIONS, *SIZES, *NAMES, "status", "job")
# Default columns: those of a table with SWF's names, such as `Trace.to_parquet` writes.
USUAL = {
    "submit": "submit_time",
    "run": "run_time",
    "procs": "requested_procs",
    "estimate": "requested_time",
    "job": "job_number",
}
OTHER_NAME = "_given"
OPTIONS = (*ROLES, "name", "machine", "unit", "time_zone", "missing_estimate", "lenient")  # of `from_frame`
PARQUET = (".parquet", ".pq")

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3_600, "d": 86_400}  # in seconds
UNIX = 500_000_000  # seconds since 1970: November 1985, earlier than any log and longer than any log lasts
MOST_LATE, FAR_BEYOND = 0.5, 10  # warn if more than this share of the jobs outlive their estimates by this factor

NOTHING = (*NO_VALUE, "nan", "nat", "null", "<na>", "-1")  # texts that mean unknown
OFFSET = re.compile(r".*[0-9]:[0-9]{2}[0-9:.]* ?(?:Z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)")  # a time with its time zone
OTHER_ENDS = {
    **{str(code): code for code in range(-1, 6)},
    **dict.fromkeys(("PASS", "PASSED", "SUCCESS", "SUCCEEDED", "DONE", "FINISHED", "OK", "CD", "TRUE"), 1),
    **dict.fromkeys(("FAIL", "ERROR", "F", "TO", "NF", "OOM", "FALSE"), 0),
    **dict.fromkeys(("KILLED", "CANCELED", "ABORTED", "CA", "PR"), 5),
}
ENDINGS = ENDED | OTHER_ENDS
A_TIME = "a time like 2024-03-01 12:00:00, or seconds"
A_LENGTH = f"seconds, or {A_DURATION}"


class TableError(ValueError):
    """`from_frame` cannot read a table; the message says where, what was found and what was expected."""


class UnitWarning(UserWarning):
    """The numbers of a column probably do not have the stated unit."""


def from_frame(
    df: pd.DataFrame,
    *,
    submit=None,
    start=None,
    end=None,
    run=None,
    procs=None,
    nodes=None,
    procs_per_node=None,
    estimate=None,
    user=None,
    group=None,
    queue=None,
    partition=None,
    status=None,
    job=None,
    name: str = "table",
    machine=None,
    unit: str | Mapping[str, str] = "s",
    time_zone: str | None = None,
    missing_estimate: MissingEstimate = "run",
    lenient: bool = False,
) -> Trace:
    """Make a trace of a table with one row per job.

    Required are the submission, the run time (or start and end) and the processors (or nodes). Each argument from
    `submit` to `job` is the name of a column, or the values themselves: a Series with the table's index, or an array.
    `procs`, `nodes`, `procs_per_node` and `estimate` may also be a single number for all jobs.

    Parameters
    ----------
    df : DataFrame
        One row per job, in any order. It is not changed.
    submit, start, end : column
        Instants: dates with or without a time zone, or numbers on a common clock. If `run` is omitted, `start` and
        `end` give the run time. `start` also gives the waits for `recorded`.
    run, estimate : column
        Durations: timedeltas, numbers, or text like "2-12:05:30", "12:05:30" and "0 days 12:05:30". `estimate` is the
        requested time; `missing_estimate` says what jobs without one get.
    procs : column
        Processors of each job: CPUs, GPUs, nodes, or whatever unit the machine is counted in.
    nodes, procs_per_node : column
        Used instead of `procs`, as their product. `nodes` alone counts nodes as processors.
    user, group, queue, partition : column
        Text is numbered from 1 in order of first appearance, and `Trace.names` keeps the names. Whole numbers are kept;
        negative ones mean unknown.
    status : column
        How a job ended: text such as COMPLETED, FAILED, TIMEOUT, CANCELLED by 1000; or SWF's numbers (1 completed, 0
        failed, 5 cancelled).
    job : column
        Job numbers; if omitted, rows are numbered from 1.
    name : str
        Name of the trace, for messages and charts.
    machine : int or Flat, optional
        Processors of the machine. Default: the most processors in use at one instant, by the recorded starts;
        `Trace.history` then says so.
    unit : str or mapping
        Unit of numbers, for all columns or by argument: ``unit="ms"``, ``unit={"estimate": "min"}``. One of ns, us, ms,
        s, min, h, d.
    time_zone : str, optional
        Time zone of dates without one, such as "Europe/Stockholm". Default: UTC.
    missing_estimate : "run", "drop" or a number of seconds
        As in `read_swf`.
    lenient : bool
        Omit rows with unreadable values instead of raising; `Trace.dropped` lists them.

    Returns
    -------
    Trace
        It keeps all further columns of the table unchanged. Columns with SWF names fill those fields.

    Warns
    -----
    UnitWarning
        If most jobs run far longer than their estimates.
    LoadWarning
        If jobs with more than 1 % of the work are left out, for example because they are wider than the machine.

    Raises
    ------
    TableError
        Names the column, the first bad row, its value and what was expected.
    SizeUnknown
        If neither `machine` nor starts are given.

    Notes
    -----
    - Numbers of `submit` from 500,000,000 on (1985) are seconds since 1970, and give the trace its dates. Smaller ones
      are seconds on a clock of their own.
    - Missing values (empty, None, NaN, Unknown) and -1 mean unknown. A row without submission, run time or processors
      is omitted with its reason, as are jobs of 0 s: see `Trace.repairs`.
    - A job that starts before its submission has no known wait. It is an error if a job ends before its start, or if
      its run time is longer than the time from start to end.
    - A further column whose name `Schedule.jobs` needs is renamed: ``_given`` is appended, and the history says so.

    Examples
    --------
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> jobs = pd.DataFrame({"Submit": ["2024-03-01 08:00", "2024-03-01 08:05"], "Elapsed": ["01:00:00", "00:30:00"]})
    >>> jobs["NCPUS"], jobs["User"] = [64, 16], ["ann", "bob"]
    >>> trace = sl.from_frame(jobs, submit="Submit", run="Elapsed", procs="NCPUS", user="User", machine=64)
    >>> sl.simulate(trace, "easy").jobs["wait_time"].tolist()
    [0, 3300]
    """
    if not isinstance(df, pd.DataFrame):
        raise TypeError(f"df is a {type(df).__name__}, expected a DataFrame")
    columns = {"submit": submit, "start": start, "end": end, "run": run, "estimate": estimate}
    columns |= {"procs": procs, "nodes": nodes, "procs_per_node": procs_per_node, "status": status, "job": job}
    columns |= {"user": user, "group": group, "queue": queue, "partition": partition}
    table = Table(df, columns, plain(str(name)), df.index, unit, time_zone, lenient)
    return trace_of(table, name, machine, missing_estimate)


def read_table(path, *, keep=None, separator: str | None = None, **columns) -> Trace:
    """Read a CSV or Parquet file with one row per job as a trace.

    Parameters
    ----------
    path : path
        A file whose name ends in .csv, .tsv or .txt (also compressed, such as .csv.gz) or in .parquet; or a folder of
        Parquet files with the same columns, which are read in order of their names.
    keep : list of str, optional
        Further columns to keep with the jobs. Default: all; ``[]`` for none. Columns that are not needed are not
        loaded, so the file may be larger than the memory.
    separator : str, optional
        Separator of the fields in a text file. Default: a tab in .tsv, otherwise a comma.
    **columns
        All other arguments are as in `from_frame`, with columns by name: ``submit="Submit", run="Elapsed",
        procs="NCPUS"``. Default for `name`: that of the file.

    Returns
    -------
    Trace

    Raises
    ------
    TableError
        As in `from_frame`, with rows counted from 1 below the header. Also for a file that is not such a table.
    ModuleNotFoundError
        For Parquet without pyarrow; install it with ``pip install "schedlab[parquet]"``.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.read_table("jobs.csv", submit="Submit", run="Elapsed", procs="NCPUS")  # doctest: +SKIP
    """
    if wrong := [name for name in columns if name not in OPTIONS]:
        known = f"{', '.join(OPTIONS)}{suggestion(wrong[0], OPTIONS)}"
        raise TypeError(f"read_table has no argument {wrong[0]!r}; known: {known}")
    options = {name: columns.pop(name) for name in tuple(columns) if name not in ROLES}
    for role, given in columns.items():
        if not isinstance(given, str | Real | None):
            raise TypeError(f"{role} is a {type(given).__name__}, expected the name of a column")
    path, file = Path(path), plain(Path(path).name)
    named = [given for given in columns.values() if isinstance(given, str)]
    frame = loaded(path, None if keep is None else [*keep, *named, *swf.FIELDS], separator)
    if missing := [column for column in keep or () if column not in frame.columns]:
        raise TableError(f"{file}: no column {missing[0]!r} to keep{suggestion(missing[0], frame.columns)}")
    name = options.pop("name", file.removesuffix(".gz").rpartition(".")[0] or file)
    machine, missing_estimate = options.pop("machine", None), options.pop("missing_estimate", "run")
    table = Table(frame, columns, file, range(1, len(frame) + 1), **options)
    return replace(trace_of(table, name, machine, missing_estimate), files=opened(path))


def loaded(path: Path, wanted: Collection[str] | None = None, separator: str | None = None) -> pd.DataFrame:
    """Load the wanted columns that a file has; all if `wanted` is None. See `read_table`.

    ``attrs["columns"]`` of the result lists all columns of the file.
    """
    file = plain(path.name)
    opened(path)
    try:
        if path.suffix in PARQUET or path.is_dir():
            known, read = _parquet(path, file)
        else:
            known, read = _text_table(path, file, separator or ("\t" if ".tsv" in path.suffixes else ","))
        frame = read(None if wanted is None else [name for name in known if name in wanted])
    except FileNotFoundError:
        raise FileNotFoundError(f"{plain(str(path))}: no such file, expected a table (.csv, .parquet)") from None
    frame.attrs["columns"] = known
    return frame


def _parquet(path, file):
    """Return the columns of a Parquet file, or of a folder of them, and a function that reads some of them."""
    try:
        from pyarrow import ArrowInvalid, dataset
    except ModuleNotFoundError:
        raise ModuleNotFoundError(f'{file}: Parquet needs pyarrow: pip install "schedlab[parquet]"') from None
    parts = sorted(part for part in path.rglob("*") if part.suffix in PARQUET) if path.is_dir() else [path]
    if not parts:
        raise TableError(f"{file}: a folder without Parquet files, expected some (.parquet)")

    def read(columns):
        stored = None if columns is None else [name for name in columns if name in table.schema.names]
        try:
            frame = _named(table.to_table(stored).to_pandas())
        except ArrowInvalid as error:
            raise TableError(f"{file}: not a Parquet file, or a damaged one ({str(error).splitlines()[0]})") from None
        return frame if columns is None else frame[columns]

    try:
        table = dataset.dataset([str(part) for part in parts], format="parquet")
        index = (table.schema.pandas_metadata or {}).get("index_columns", ())
        ranges = [one["name"] for one in index if isinstance(one, dict) and one["name"]]  # not stored in the file
        known = [*ranges, *table.schema.names]
    except ArrowInvalid as error:
        raise TableError(f"{file}: not a Parquet file, or a damaged one ({str(error).splitlines()[0]})") from None
    return known, read


def _named(frame):
    """Return a table whose named index levels are ordinary columns."""
    return frame.reset_index(level=[name for name in frame.index.names if name is not None])


def _text_table(path, file, separator):
    """Return the columns of a text file, and a function that reads some of them."""

    def read(columns=None, **options):
        try:
            return pd.read_csv(
                path,
                sep=separator,
                usecols=columns,
                index_col=False,
                skipinitialspace=True,
                low_memory=False,
                **options,
            )
        except pd.errors.EmptyDataError:
            raise TableError(f"{file}: the file is empty, expected a header and a row for each job") from None
        except pd.errors.ParserError as error:
            found = re.search(r"Expected ([0-9]+) fields in line ([0-9]+), saw ([0-9]+)", str(error))
            words = f":{found[2]}: {found[3]} fields, expected {found[1]}" if found else f": no table ({error})"
            raise TableError(f"{file}{words}") from None
        except (UnicodeDecodeError, EOFError, zlib.error, BadGzipFile) as error:
            raise TableError(f"{file}: not text in UTF-8, or damaged ({error})") from None

    return read(nrows=0).columns.tolist(), read


class Table:
    """A table, the columns that supply the required values, and the problems of its rows.

    Parameters
    ----------
    frame : DataFrame
    columns : dict
        For each argument of `from_frame`, a column, values, or None.
    file : str
        Name of the table, for messages.
    labels : sequence
        Names of the rows, for messages.
    unit, time_zone, lenient
        As in `from_frame`.
    """

    def __init__(self, frame, columns, file, labels, unit="s", time_zone=None, lenient=False):
        names = [name for name in frame.index.names if name is not None]
        if twice := [name for name in names if name in frame.columns]:
            raise TableError(f"{file}: the index and a column are both called {twice[0]!r}; reset_index(drop=True)")
        self.frame = frame.reset_index() if names else frame.reset_index(drop=True)
        self.known = frame.attrs.get("columns", frame.columns)  # including those that were not loaded
        self.index, self.labels, self.file, self.lenient = frame.index, labels, file, lenient
        self.zone, self.zone_is_given = zone_named(time_zone), time_zone is not None
        self.units = dict.fromkeys(ROLES, unit) if isinstance(unit, str) else dict(unit)
        for role, name in self.units.items():
            check_known("argument in unit", role, ROLES)
            check_known("unit", name, UNITS)
        self.bad = {}  # the problem of a row, by its position
        self.given = {role: given for role, given in columns.items() if given is not None}
        doubled = self.frame.columns[self.frame.columns.duplicated()]
        if len(doubled):
            raise TableError(f"{file}: several columns are called {doubled[0]!r}, expected unique names")
        self._check_roles()

    def _check_roles(self):
        """Fill in the default columns, and raise if too little or too much was given."""
        for role, column in USUAL.items():
            said_otherwise = (role == "run" and "end" in self.given) or (role == "procs" and "nodes" in self.given)
            if role not in self.given and column in self.frame.columns and not said_otherwise:
                self.given[role] = column
        given = self.given.keys()
        if "submit" not in given:
            raise TableError(f"{self.file}: no submission; name its column: submit=...{self._known()}")
        if "run" not in given and not {"start", "end"} <= given:
            raise TableError(f"{self.file}: no run time; name its column, or start and end: run=...{self._known()}")
        if not {"procs", "nodes"} & given:
            raise TableError(f"{self.file}: no processors; name a column: procs=... or nodes=...{self._known()}")
        if {"procs", "nodes"} <= given:
            raise TableError(f"{self.file}: procs and nodes are both given; give procs, or nodes with procs_per_node")
        if "procs_per_node" in given and "nodes" not in given:
            raise TableError(f"{self.file}: procs_per_node is given without nodes")

    def _known(self):
        return f"; columns: {', '.join(map(_shown, self.known))}"

    def has(self, role):
        """Tell whether an argument was given."""
        return role in self.given

    def is_column(self, role):
        """Tell whether an argument is the name of a column."""
        given = self.given.get(role)
        return self.has(role) and isinstance(given, Hashable) and given in self.frame.columns

    def used(self):
        """List the columns that arguments name."""
        return {self.given[role] for role in self.given if self.is_column(role)}

    def said(self, role):
        """Describe what supplies an argument, for the history."""
        given = self.given[role]
        return plain(str(given)) if self.is_column(role) or isinstance(given, Real) else "values of the caller's"

    def title(self, role):
        """Name what supplies an argument, for messages."""
        return f"column {self.given[role]!r} ({role})" if self.is_column(role) else role

    def values(self, role):
        """Return the values of an argument: a Series, one value per row."""
        given, rows = self.given[role], len(self.frame)
        if self.is_column(role):
            return self.frame[given]
        if isinstance(given, str):
            known = f"{self._known()}{suggestion(given, map(str, self.known))}"
            raise TableError(f"{self.file}: no column {given!r} for {role}{known}")
        if isinstance(given, Real) and not isinstance(given, bool):
            if role not in (*SIZES, "estimate"):
                raise TableError(f"{self.file}: {role} is {given!r}, expected a column")
            return pd.Series(np.full(rows, given))
        if isinstance(given, pd.Series) and len(given) == rows and not given.index.equals(self.index):
            if not given.index.is_unique or set(given.index) != set(self.index):
                raise TableError(f"{self.file}: {role} is a Series with another index than the table")
            given = given.reindex(self.index)
        values = given.reset_index(drop=True) if isinstance(given, pd.Series) else pd.Series(given)
        if len(values) != rows:
            raise TableError(f"{self.file}: {role} has {len(values):,} values, the table {rows:,} rows")
        return values

    def refuse(self, role, rows, found, expected):
        """Record that rows cannot be used, or raise at the first.

        Parameters
        ----------
        role : str
        rows : int array
            Positions of the rows.
        found : sequence
            The value of each row of the table.
        expected : str
        """
        for row in rows:
            value = _shown(found[row])
            reason = f"{BAD_ROW}{self.labels[row]}: {self.title(role)} is {value}, expected {expected}"
            if not self.lenient:
                raise TableError(f"{self.file}, {reason}")
            self.bad.setdefault(int(row), plain(reason))

    def leave_out(self, rows, reason):
        """Omit rows, given as bool of shape (n_rows,), for a reason."""
        for row in np.flatnonzero(rows):
            self.bad.setdefault(int(row), reason)

    def further(self):
        """Return the columns that no argument names, by name."""
        used = self.used()
        return {str(name): self.frame[name] for name in self.frame.columns if name not in used}


# --- Values -----------------------------------------------------------------------------------------------------------


def _instants(table, role):
    """Read instants: float64, shape (n_jobs,), seconds, nan if unknown; and whether they are dates."""
    values = table.values(role)
    if pd.api.types.is_datetime64_any_dtype(values):
        return _since_1970(table, role, values, values), True
    if pd.api.types.is_timedelta64_dtype(values):
        return (values / pd.Timedelta(1, "s")).to_numpy("float64", na_value=np.nan), False
    if _is_numeric(values):
        return _numbers(table, role, values), False
    codes, texts, numbers = _texts(table, role, values)
    if codes[codes >= 0].size and np.isnan(numbers[codes[codes >= 0][0]]):  # the first text decides
        return _dates(table, role, values, codes, texts), True
    table.refuse(role, np.flatnonzero((codes >= 0) & np.isnan(numbers[codes])), values, "a number like those before")
    return np.where(codes >= 0, numbers[codes], np.nan), False


def _dates(table, role, values, codes, texts):
    """Read dates from text; either all or none must have a time zone."""
    with_zone = np.array([OFFSET.fullmatch(text) is not None for text in texts], dtype=bool)
    zoned = bool(with_zone[codes[codes >= 0][0]])
    like = "a time with a time zone" if zoned else "a time without a time zone"
    other = (codes >= 0) & (with_zone[codes] != zoned)
    iso = pd.Series(np.where(with_zone == zoned, texts, None), dtype=object)
    iso = iso.str.replace(r" ?UTC$", "Z", regex=True) if zoned else iso
    dates = pd.to_datetime(iso, format="ISO8601", errors="coerce", utc=zoned)
    found = _since_1970(table, role, dates.iloc[codes].where(codes >= 0).reset_index(drop=True), values)
    bad = (codes >= 0) & dates.isna().to_numpy()[codes] & ~other
    hint = " (pd.to_datetime(..., format=...) reads others)"
    table.refuse(role, np.flatnonzero(bad), values, f"{A_TIME}{hint}")
    table.refuse(role, np.flatnonzero(other), values, f"{like}, like those before")
    return found


def _since_1970(table, role, dates, values):
    """Convert dates to seconds since 1970; those without a time zone are in the table's."""
    dates = pd.DatetimeIndex(dates)
    if dates.tz is None:
        missing = dates.isna()
        dates = dates.tz_localize(table.zone, ambiguous=np.ones(len(dates), bool), nonexistent="NaT")
        skipped = np.flatnonzero(dates.isna() & ~missing)
        table.refuse(role, skipped, values, f"a time that the clocks of {table.zone.key} showed")
    instants = dates.tz_convert(None).to_numpy()  # in NumPy, since pandas below 3.0 counts nanoseconds to the year 2262
    seconds = instants.astype("datetime64[us]").astype("int64") / 1e6
    return np.where(np.isnat(instants), np.nan, seconds)


def _durations(table, role):
    """Read durations: float64, shape (n_jobs,), seconds; nan if unknown."""
    values = table.values(role)
    if pd.api.types.is_timedelta64_dtype(values):
        lengths = (values / pd.Timedelta(1, "s")).to_numpy("float64", na_value=np.nan)
    elif pd.api.types.is_datetime64_any_dtype(values):
        first = np.flatnonzero(values.notna())[:1]
        table.lenient = False  # no row can be read
        table.refuse(role, first, values, "a duration; dates go to start and end")
        lengths = np.full(len(values), np.nan)
    elif _is_numeric(values):
        lengths = _numbers(table, role, values)
    else:
        codes, texts, lengths = _texts(table, role, values)
        for place in np.flatnonzero(np.isnan(lengths[:-1])):
            lengths[place] = _duration(texts[place])
        table.refuse(role, np.flatnonzero((codes >= 0) & np.isnan(lengths[codes])), values, A_LENGTH)
        lengths = np.where(codes >= 0, lengths[codes], np.nan)
    table.refuse(role, np.flatnonzero(lengths < 0), values, "0 or more, or -1 for unknown")
    table.refuse(role, np.flatnonzero(lengths > LATEST), values, "seconds that a job can last")
    return lengths


def _duration(text):
    """Read a duration in the form of Slurm or pandas; nan if it is neither."""
    try:
        return slurm_duration(text)
    except ValueError:
        return pd.to_timedelta(text, errors="coerce") / pd.Timedelta(1, "s")


def _sizes(table, role):
    """Read numbers of processors or nodes: float64, shape (n_jobs,); nan if unknown."""
    values = table.values(role)
    if _is_numeric(values):
        sizes = _numbers(table, role, values, scaled=False)
    else:
        codes, _, sizes = _texts(table, role, values, scaled=False)
        table.refuse(role, np.flatnonzero((codes >= 0) & np.isnan(sizes[codes])), values, "a number")
        sizes = np.where(codes >= 0, sizes[codes], np.nan)
    wrong = np.flatnonzero((sizes < 0) | (sizes > MOST_PROCS))
    table.refuse(role, wrong, values, f"a number up to {MOST_PROCS:,}, or -1 for unknown")
    return sizes


def _is_numeric(values):
    return pd.api.types.is_any_real_numeric_dtype(values)


def _numbers(table, role, values, scaled=True):
    """Return numbers in seconds, or unscaled; -1 and missing ones as nan."""
    numbers = values.to_numpy("float64", na_value=np.nan)
    table.refuse(role, np.flatnonzero(np.isinf(numbers)), values, "a number")
    return np.where(numbers == -1, np.nan, numbers) * (UNITS[table.units.get(role, "s")] if scaled else 1)


def _texts(table, role, values, scaled=True):
    """Return each distinct text once: its position for each row (-1 if unknown), the texts, and their numbers.

    A number is nan if the text is not one. An extra nan at the end stands for rows without a text.
    """
    if pd.api.types.is_bool_dtype(values):
        table.lenient = False  # no row can be read
        table.refuse(role, range(min(1, len(values))), values, "a number")
    words = values.astype(object).map(str, na_action="ignore").astype(object)
    words = words.where(values.notna(), "").str.strip()
    codes, texts = pd.factorize(words.where(~words.str.lower().isin(NOTHING), None).to_numpy(object))
    texts = np.asarray(texts, dtype=object)
    numbers = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").to_numpy("float64")
    return codes, texts, np.append(numbers, np.nan) * (UNITS[table.units.get(role, "s")] if scaled else 1)


def _names(table, role):
    """Read the user, group or the like of each job: float64, shape (n_jobs,), nan if unknown; and the names, if any."""
    values = table.values(role)
    if _is_numeric(values):
        numbers = values.to_numpy("float64", na_value=np.nan)
        numbers = np.where(numbers < 0, np.nan, numbers)
        wrong = (numbers != np.floor(numbers)) | (numbers >= swf.EXACT)
        table.refuse(role, np.flatnonzero(wrong & ~np.isnan(numbers)), values, "a name or a whole number below 2^53")
        return np.where(wrong, np.nan, numbers), {}
    words = values.astype(object).map(str, na_action="ignore").where(values.notna(), "")
    return numbered(words)


def _status(table):
    """Read how jobs ended, in SWF's codes: float64, shape (n_jobs,), -1 if unknown; and the words not understood."""
    values = table.values("status")
    if pd.api.types.is_bool_dtype(values):
        return values.to_numpy("float64", na_value=-1.0), []
    if _is_numeric(values):
        numbers = values.to_numpy("float64", na_value=-1.0)
        wrong = np.flatnonzero(~np.isin(numbers, range(-1, 6)))
        hint = "; of exit codes make True where they are 0"
        table.refuse("status", wrong, values, f"SWF's 1 (completed), 0 (failed) or 5 (cancelled){hint}")
        return numbers, []
    words = values.astype(object).map(str, na_action="ignore").where(values.notna(), "").str.strip()
    states = words.map(state_of)
    unknown = sorted({*words[~states.isin([*ENDINGS, ""])]})
    return states.map(ENDINGS).fillna(-1).to_numpy("float64"), unknown


def _shown(value):
    """Write a value as a message quotes it."""
    if isinstance(value, str) or not np.isscalar(value):
        text = repr(str(value))
        return text if len(text) <= 60 else f"{text[:59]}..."
    value = getattr(value, "item", lambda: value)()  # 5, not np.int64(5)
    return f"{value:.15g}" if isinstance(value, float) else str(value)


# --- The trace --------------------------------------------------------------------------------------------------------


def trace_of(table: Table, name: str, machine=None, missing_estimate="run") -> Trace:
    """Make a trace of a table; parameters as in `from_frame`."""
    history = [f"columns: {', '.join(f'{role} = {table.said(role)}' for role in ROLES if table.has(role))}"]
    records, dated = _times(table)
    procs = _sizes(table, "procs" if table.has("procs") else "nodes")
    if table.has("procs_per_node"):
        procs = procs * _sizes(table, "procs_per_node")
    records["requested_procs"] = procs
    if not len(procs):
        raise TableError(f"{table.file}: the table has no rows, expected one for each job")
    names = {}
    for role, field in NAMES.items():
        if table.has(role):
            records[field], names[field] = _names(table, role)
    if table.has("status"):
        records["status"], unknown = _status(table)
        if unknown:
            named = ", ".join(map(repr, unknown[:5])) + ", ..." * (len(unknown) > 5)
            history.append(f"status: {named} not known, taken for unknown")
    records["job_number"] = _job_numbers(table)
    further, renamed = _further(table, records)
    history += renamed
    records = dict.fromkeys(swf.FIELDS, np.nan) | {"allocated_procs": procs} | records
    records["start_time"] = records["submit_time"] + np.where((wait := records["wait_time"]) == -1, np.nan, wait)
    records, epoch = _on_the_clock(pd.DataFrame(records | further, index=table.frame.index), dated)

    left_out = records.loc[list(table.bad), list(swf.FIELDS)]
    left_out.insert(0, "reason", pd.Series(table.bad, dtype="str"))
    kept = records.drop(index=list(table.bad))
    size = getattr(machine, "procs", machine)
    if size is None:
        size, words = _size(table, kept)
        history.append(words)
    header = _header(table, names, size, epoch, dated)
    skipped = pd.DataFrame({"line": [], "reason": []})
    log = swf.Log(header, kept.drop(columns="start_time"), skipped, "", Path(table.file))
    try:
        trace = from_log(log, name, "file", size, missing_estimate, left_out.set_index("job_number"))
    except swf.SWFError as error:  # if nothing is left to simulate
        raise TableError(str(error)) from None
    _warn_of_units(table, trace)
    people = {field: names[field] for field in ("user_id", "group_id") if names.get(field)}
    return replace(trace, history=tuple(history), people=people or None)


def _times(table):
    """Return submit_time, run_time, requested_time and wait_time in seconds, if known; and whether they are dates."""
    submit, dated = _instants(table, "submit")
    known = submit[~np.isnan(submit)]
    by_date = dated or (known.size > 0 and known.min() >= UNIX)
    columns = {"submit_time": submit}
    for role in ("start", "end"):
        if table.has(role):
            columns[role], same = _instants(table, role)
            other = ~np.isnan(columns[role]) & ((columns[role] >= UNIX) != by_date)
            kind = "a date" if by_date else "seconds on the clock"
            if not (dated and same):
                table.refuse(role, np.flatnonzero(other), table.values(role), f"{kind}, as in {table.title('submit')}")
    for role, values in zip(INSTANTS, (submit, columns.get("start"), columns.get("end")), strict=True):
        if values is not None:
            table.refuse(role, np.flatnonzero(values > LATEST), table.values(role), _a_second(values))
            if by_date:
                table.refuse(role, np.flatnonzero(values < 0), table.values(role), "a date from 1970 on")
    start, end = columns.pop("start", None), columns.pop("end", None)
    nothing = np.full(len(submit), np.nan)
    run = _durations(table, "run") if table.has("run") else nothing
    if start is not None and end is not None:
        lasted = end - start
        table.refuse("end", np.flatnonzero(lasted < 0), table.values("end"), "a time at or after the start")
        long = np.flatnonzero(run > lasted + 1)  # 1: fractions of a second
        if table.has("run"):
            table.refuse("run", long, table.values("run"), "at most the time from start to end; is the unit right?")
        run = np.where(np.isnan(run), lasted, run)
    if start is None:
        start = nothing if end is None else end - run
    columns["run_time"] = run
    if not np.isnan(start).all():
        columns["wait_time"] = np.where(start >= submit, start - submit, np.nan)
    if table.has("estimate"):
        columns["requested_time"] = _durations(table, "estimate")
    return columns, by_date


def _a_second(values):
    """Describe a valid instant, with a hint if the numbers are too large to be seconds."""
    largest = np.max(values, initial=0, where=~np.isnan(values))
    unit = next((name for name in ("ms", "us", "ns") if UNIX <= largest * UNITS[name] <= LATEST), None)
    return f"seconds since 1970{f'; are these {unit}? unit={unit!r}' if unit else ''}"


def _job_numbers(table):
    """Return the job numbers: those of the table, or row numbers from 1."""
    places = np.arange(1, len(table.frame) + 1)
    if not table.has("job"):
        return places
    values = table.values("job")
    if not _is_numeric(values):
        return places
    numbers = values.to_numpy("float64", na_value=np.nan)
    wrong = np.flatnonzero(~(np.abs(numbers) < swf.EXACT) | (numbers % 1 != 0))
    table.refuse("job", wrong, values, "a whole number")
    return np.where(np.isin(np.arange(len(numbers)), wrong), places, numbers).astype("int64")


def _further(table, records):
    """Return the columns that no argument names, under unique names, and notes on renamed ones for the history."""
    columns, history, further = {}, [], table.further()
    if table.is_column("job") and not _is_numeric(table.values("job")):
        further[str(table.given["job"])] = table.values("job")
    for name, values in further.items():
        if name in swf.FIELDS and name not in records and _is_numeric(values):
            records[name] = values.to_numpy("float64", na_value=np.nan)
            huge = np.flatnonzero(np.abs(records[name]) >= swf.EXACT)
            table.refuse(name, huge, values, "a number below 2^53 in magnitude")
            continue
        free = name
        while free in swf.FIELDS or free in TAKEN or WORDS.get(free) in records or (free != name and free in further):
            free += OTHER_NAME
        columns[free] = values
        history += [f"column {name} is kept as {free}"] if free != name else []
    return columns, history


def _on_the_clock(records, by_date):
    """Count dates from the first submission; other clocks from 0, unless they begin earlier."""
    counted, epoch = on_the_clock_of_the_log(records)
    if not by_date and epoch >= 0:
        known = counted["submit_time"] >= 0
        counted["submit_time"] += np.where(known, epoch, 0)
        counted["start_time"] += epoch
    return counted, epoch


def _size(table, kept):
    """Estimate the size of the machine from its jobs, and return it with a note for the history."""
    if kept["start_time"].isna().all():
        raise SizeUnknown(f"{table.file}: the size of the machine is not known; give machine=")
    most = max(1, most_in_use(kept[kept["start_time"].notna()]))
    return most, f"size of the machine not given; the most processors in use at one instant: {most:,}"


def _header(table, names, size, epoch, by_date):
    lines = ["; Version: 2.2", f"; Conversion: by schedlab from {table.file}"]
    if by_date:
        lines += [f"; UnixStartTime: {epoch}", f"; TimeZoneString: {table.zone.key}"]
    lines += [f"; MaxProcs: {size}"]
    lines += names_in_header("Queue", names.get("queue", {}))
    lines += names_in_header("Partition", names.get("partition", {}))
    if by_date and not table.zone_is_given:
        lines += ["; Note: no time zone was given; dates are those of UTC"]
    if table.has("nodes") and not table.has("procs_per_node"):
        lines += ["; Note: a processor is a node"]
    return swf.Header(tuple(lines))


def _warn_of_units(table, trace):
    """Warn if most jobs run far longer than their estimates."""
    if not table.has("estimate"):
        return
    given = trace.jobs[
        ~trace.jobs.index.isin(trace.repaired.loc[trace.repaired["field"] == "requested_time", "job_number"])
    ]
    times = given["run_time"] / given["requested_time"]
    if len(times) and (share := (times > FAR_BEYOND).mean()) > MOST_LATE:
        words = f"{100 * share:.0f} % of the jobs run more than {FAR_BEYOND} times as long as their estimates"
        warnings.warn(
            f"{table.file}: {words}; are these minutes? unit={{'estimate': 'min'}}", UnitWarning, stacklevel=4
        )
