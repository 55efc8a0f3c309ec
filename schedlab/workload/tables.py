"""A table with one row per job and columns of any name, as a trace: the layer below `frames` and `public`.

Each argument of `from_frame` is a role: an instant, a duration, a size, a name, a status or a job number. The values of
a role are read once, as numbers. A value that cannot be read is an error, or leaves its row out.
"""

import warnings
from collections.abc import Collection, Hashable
from dataclasses import replace
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd

from schedlab._runtime.text import check_known, plain, suggestion

from . import fields, swf
from .columns import WORDS
from .conventions import TAKEN
from .filter import BAD_ROW, CANCELLED_EARLY, RUNNING, STEP, WAITING
from .loading import SizeUnknown, from_log
from .records import header_of, left_out, most_in_use, on_the_clock_of_the_log
from .trace import Trace

INSTANTS = ("submit", "start", "end")
DURATIONS = ("run", "estimate")
SIZES = ("procs", "nodes", "procs_per_node")
NAMES = {"user": "user_id", "group": "group_id", "queue": "queue", "partition": "partition"}
ROLES = (*INSTANTS, *DURATIONS, *SIZES, *NAMES, "status", "job")
# Default columns: those of a table with SWF's names, such as `Trace.to_parquet` writes.
USUAL = {"submit": "submit_time", "run": "run_time", "procs": "requested_procs"}
USUAL |= {"estimate": "requested_time", "job": "job_number"}
OTHER_NAME = "_given"

JOBS = ("jobid", "jobidraw", "job_id", "id_job")  # columns with the numbers of jobs, and with states
STATES = ("state", "status", "job_state", "jobstate")
A_STEP = r"[0-9]+(?:_[0-9]+|\+[0-9]+)?\.(?:batch|extern|interactive|[0-9]+)"  # 123.batch, 123_4.0

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3_600, "d": 86_400}  # in seconds
UNIX = 500_000_000  # seconds since 1970: November 1985, earlier than any log and longer than any log lasts
MOST_LATE = 0.5  # warn if more than this share of the jobs ...
FAR_BEYOND = 10  # ... outlive their estimates by this factor

NOTHING = (*fields.NO_VALUE, "nan", "nat", "null", "<na>", "-1")  # texts that mean unknown
OFFSET = r".*[0-9]:[0-9]{2}[0-9:.]* ?(?:Z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)"  # a time with its time zone
A_TIME = "a time like 2024-03-01 12:00:00, or seconds (pd.to_datetime(..., format=...) reads others)"
A_LENGTH = f"seconds, or {fields.A_DURATION}"


class TableError(ValueError):
    """`from_frame` cannot read a table; the message says where, what was found and what was expected."""


class UnitWarning(UserWarning):
    """The numbers of a column probably do not have the stated unit."""


class Table:
    """A table, what supplies the values of each role (a column, values, or None), and the problems of its rows.

    `file` and `labels` name table and rows in messages; `unit`, `time_zone` and `lenient` are as in `from_frame`.
    """

    def __init__(self, frame, columns, file, labels, unit="s", time_zone=None, lenient=False):
        names = [name for name in frame.index.names if name is not None]
        if twice := [name for name in names if name in frame.columns]:
            raise TableError(f"{file}: the index and a column are both called {twice[0]!r}; reset_index(drop=True)")
        self.frame = frame.reset_index() if names else frame.reset_index(drop=True)
        self.known = frame.attrs.get("columns", frame.columns)  # including those that were not loaded
        self.index = frame.index
        self.labels = labels
        self.file = file
        self.zone = fields.zone_named(time_zone)
        self.zone_is_given = time_zone is not None
        self.units = dict.fromkeys(ROLES, unit) if isinstance(unit, str) else dict(unit)
        for role, name in self.units.items():
            check_known("argument in unit", role, ROLES)
            check_known("unit", name, UNITS)
        self.refused = fields.Refusals(self._error, BAD_ROW, lenient)
        self.sources = {role: source for role, source in columns.items() if source is not None}
        doubled = self.frame.columns[self.frame.columns.duplicated()]
        if len(doubled):
            raise TableError(f"{file}: several columns are called {doubled[0]!r}, expected unique names")
        self._check_roles()

    def _error(self, label, reason):
        return TableError(f"{self.file}, {BAD_ROW}{label}: {reason}")

    def _check_roles(self):
        """Fill in the default columns, and raise if there is too little or too much."""
        instead = {"run": "end", "procs": "nodes"}
        for role, column in USUAL.items():
            if column in self.frame.columns and instead.get(role) not in self.sources:
                self.sources.setdefault(role, column)
        roles = self.sources.keys()
        problem = ""
        if "submit" not in roles:
            problem = f"no submission; name its column: submit=...{self._columns()}"
        elif "run" not in roles and not {"start", "end"} <= roles:
            problem = f"no run time; name its column, or start and end: run=...{self._columns()}"
        elif not {"procs", "nodes"} & roles:
            problem = f"no processors; name a column: procs=... or nodes=...{self._columns()}"
        elif {"procs", "nodes"} <= roles:
            problem = "procs and nodes are both given; give procs, or nodes with procs_per_node"
        elif "procs_per_node" in roles and "nodes" not in roles:
            problem = "procs_per_node is given without nodes"
        if problem:
            raise TableError(f"{self.file}: {problem}")

    def _columns(self):
        return f"; columns: {', '.join(map(_shown, self.known))}"

    def has(self, role: str) -> bool:
        return role in self.sources

    def is_column(self, role: str) -> bool:
        source = self.sources.get(role)
        return self.has(role) and isinstance(source, Hashable) and source in self.frame.columns

    def source(self, role: str) -> str:
        """Describe what supplies a role, for the history."""
        source = self.sources[role]
        return plain(str(source)) if self.is_column(role) or isinstance(source, Real) else "values of the caller's"

    def title(self, role: str) -> str:
        """Name what supplies a role, for messages."""
        return f"column {self.sources[role]!r} ({role})" if self.is_column(role) else role

    def values(self, role: str) -> pd.Series:
        """Return the values of a role, one per row."""
        source = self.sources[role]
        rows = len(self.frame)
        if self.is_column(role):
            return self.frame[source]
        if isinstance(source, str):
            known = f"{self._columns()}{suggestion(source, map(str, self.known))}"
            if len(self.known) == 1 and (mark := next((mark for mark in "|;\t" if mark in str(self.known[0])), "")):
                known += f"; is it separated by {mark!r}? give read_table separator={mark!r}"
            raise TableError(f"{self.file}: no column {source!r} for {role}{known}")
        if isinstance(source, Real) and not isinstance(source, bool):
            if role not in (*SIZES, "estimate"):
                raise TableError(f"{self.file}: {role} is {source!r}, expected a column")
            return pd.Series(np.full(rows, source))
        if isinstance(source, pd.Series) and len(source) == rows and not source.index.equals(self.index):
            if not source.index.is_unique or set(source.index) != set(self.index):
                raise TableError(f"{self.file}: {role} is a Series with another index than the table")
            source = source.reindex(self.index)
        values = source.reset_index(drop=True) if isinstance(source, pd.Series) else pd.Series(source)
        if len(values) != rows:
            raise TableError(f"{self.file}: {role} has {len(values):,} values, the table {rows:,} rows")
        return values

    def refuse(self, role: str, bad: np.ndarray, expected: str) -> None:
        """Leave out the rows where `bad`, bool of shape (n_rows,), is true, or raise at the first of them."""
        rows = np.flatnonzero(bad).tolist()
        values = (self.values(role) if self.has(role) else self.frame[role]) if rows else ()
        for row in rows:
            self.refused.add(row, self.labels[row], f"{self.title(role)} is {_shown(values[row])}, expected {expected}")

    def refuse_all(self, role: str, expected: str) -> None:
        """Raise at the first known value, if there is one, even if lenient: no row can be read."""
        self.refused.lenient = False
        self.refuse(role, self.values(role).notna(), expected)

    def leave_out(self, rows: Collection[bool], reason: str) -> None:
        """Omit rows, bool of shape (n_rows,), for a reason."""
        for row in np.flatnonzero(rows).tolist():
            self.refused.setdefault(row, reason)

    def further(self) -> dict[str, pd.Series]:
        """Return the columns that supply no role, by name."""
        used = {self.sources[role] for role in self.sources if self.is_column(role)}
        return {str(name): self.frame[name] for name in self.frame.columns if name not in used}


def _shown(value):
    """Write a value as a message quotes it."""
    if isinstance(value, str) or not np.isscalar(value):
        text = repr(str(value))
        return text if len(text) <= 60 else f"{text[:59]}..."
    value = getattr(value, "item", lambda: value)()  # 5, not np.int64(5)
    return f"{value:.15g}" if isinstance(value, float) else str(value)


# --- Values: of each role float64, shape (n_rows,); nan if unknown ----------------------------------------------------


def _instants(table, role):
    """Read instants, in seconds; and tell whether they are dates."""
    values = table.values(role)
    if pd.api.types.is_datetime64_any_dtype(values):
        return _since_1970(table, role, pd.DatetimeIndex(values)), True
    if pd.api.types.is_timedelta64_dtype(values):
        return _seconds(values), False
    if _is_numeric(values):
        return _numbers(table, role), False
    texts = _texts(table, role)
    first = texts[texts != ""][:1]
    if np.isnan(_number(first)).any():  # the first text decides
        return _dates(table, role, texts), True
    return _numbers(table, role, expected="a number like those before"), False


def _dates(table, role, texts):
    """Read dates from text, each distinct one once; either all or none must have a time zone."""
    codes, texts = pd.factorize(texts)
    known = texts != ""
    with_zone = pd.Series(texts, dtype=object).str.fullmatch(OFFSET).to_numpy(bool)
    zoned = with_zone[known][0]
    other = known & (with_zone != zoned)
    iso = pd.Series(np.where(known & ~other, texts, None), dtype=object)
    iso = iso.str.replace(r" ?UTC$", "Z", regex=True) if zoned else iso
    dates = pd.DatetimeIndex(pd.to_datetime(iso, format="ISO8601", errors="coerce", utc=zoned))
    seconds = _since_1970(table, role, dates, codes)
    table.refuse(role, (known & dates.isna() & ~other)[codes], A_TIME)
    like = f"a time {'with' if zoned else 'without'} a time zone, like those before"
    table.refuse(role, other[codes], like)
    return seconds


def _since_1970(table, role, dates, codes=slice(None)):
    """Convert dates to seconds since 1970; those without a time zone are in the table's."""
    seconds = fields.since_1970(dates, table.zone)
    table.refuse(role, (np.isnan(seconds) & ~dates.isna())[codes], fields.shown_by(table.zone))
    return seconds[codes]


def _durations(table, role):
    values = table.values(role)
    if pd.api.types.is_timedelta64_dtype(values):
        lengths = _seconds(values)
    elif pd.api.types.is_datetime64_any_dtype(values):
        table.refuse_all(role, "a duration; dates go to start and end")
        lengths = np.full(len(values), np.nan)
    else:
        lengths = _numbers(table, role, _duration, A_LENGTH)
    table.refuse(role, lengths < 0, "0 or more, or -1 for unknown")
    table.refuse(role, lengths > fields.LATEST, "seconds that a job can last")
    return lengths


def _duration(text):
    """Read a duration in the form of Slurm or pandas."""
    try:
        return fields.duration(text)
    except ValueError:
        length = pd.to_timedelta(text, errors="coerce") / pd.Timedelta(1, "s")
        if np.isnan(length):
            raise
        return length


def _seconds(lengths):
    return (lengths / pd.Timedelta(1, "s")).to_numpy("float64", na_value=np.nan)


def _sizes(table, role):
    sizes = _numbers(table, role)
    expected = f"a number up to {fields.MOST_PROCS:,}, or -1 for unknown"
    table.refuse(role, (sizes < 0) | (sizes > fields.MOST_PROCS), expected)
    return sizes


def _is_numeric(values):
    return pd.api.types.is_any_real_numeric_dtype(values)


def _numbers(table, role, parse=fields.count, expected="a number"):
    """Read numbers, times in their unit; of a text that is no number, the value that `parse` reads in it."""
    values = table.values(role)
    unit = 1 if role in SIZES else UNITS[table.units.get(role, "s")]
    if _is_numeric(values):
        numbers = values.to_numpy("float64", na_value=np.nan)
        table.refuse(role, np.isinf(numbers), "a number")
        return np.where(numbers == -1, np.nan, numbers) * unit
    texts = _texts(table, role)
    numbers, problems = fields.parsed(texts, parse, most=lambda distinct: _number(distinct) * unit)
    table.refuse(role, problems != "", expected)
    return numbers


def _number(texts):
    return pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").to_numpy("float64", copy=True)


def _texts(table, role):
    """Return values as text without blanks around it, empty if unknown: object, shape (n_rows,)."""
    values = table.values(role)
    if pd.api.types.is_bool_dtype(values):
        table.refuse_all(role, "a number")
    texts = _as_text(values).str.strip()
    return texts.where(~texts.str.lower().isin(NOTHING), "").to_numpy(object)


def _as_text(values):
    return values.astype(object).map(str, na_action="ignore").astype(object).where(values.notna(), "")


def _names(table, role):
    """Read the user, group or the like of each job; return its number, and the names, if any."""
    values = table.values(role)
    if not _is_numeric(values):
        return fields.numbered(_as_text(values))
    numbers = values.to_numpy("float64", na_value=np.nan)
    numbers = np.where(numbers < 0, np.nan, numbers)
    wrong = ~np.isnan(numbers) & ((numbers != np.floor(numbers)) | (numbers >= swf.EXACT))
    table.refuse(role, wrong, "a name or a whole number below 2^53")
    return np.where(wrong, np.nan, numbers), {}


def _status(table):
    """Read how jobs ended, in SWF's codes, -1 if unknown; return also the texts that are not understood."""
    values = table.values("status")
    if not (pd.api.types.is_bool_dtype(values) or _is_numeric(values)):
        texts = _as_text(values).str.strip()
        states = texts.map(fields.state_of)
        unknown = sorted({*texts[~states.isin([*fields.ENDINGS, *fields.STATES, ""])]})
        return states.map(fields.ENDINGS).fillna(-1).to_numpy("float64"), unknown
    numbers = values.to_numpy("float64", na_value=-1.0)
    expected = "SWF's 1 (completed), 0 (failed) or 5 (cancelled); of exit codes make True where they are 0"
    table.refuse("status", ~np.isin(numbers, range(-1, 6)), expected)
    return numbers, []


def trace_of(table: Table, name: str, machine=None, missing_estimate="run") -> Trace:
    """Make a trace of a table; parameters as in `from_frame`."""
    history = [f"columns: {', '.join(f'{role} = {table.source(role)}' for role in ROLES if table.has(role))}"]
    records, dated, instants = _times(table)
    procs = _sizes(table, "procs" if table.has("procs") else "nodes")
    if table.has("procs_per_node"):
        procs = procs * _sizes(table, "procs_per_node")
    if not len(procs):
        raise TableError(f"{table.file}: the table has no rows, expected one for each job")
    records["requested_procs"] = procs
    names = {}
    for role in filter(table.has, NAMES):
        records[NAMES[role]], names[NAMES[role]] = _names(table, role)
    if table.has("status"):
        records["status"], unknown = _status(table)
        if unknown:
            listed = ", ".join(map(repr, unknown[:5])) + ", ..." * (len(unknown) > 5)
            history.append(f"status: {listed} not known, taken for unknown")
    _leave_out_unfinished(table, records, instants)
    records["job_number"] = _job_numbers(table)
    further, renamed = _further(table, records)
    records = dict.fromkeys(swf.FIELDS, np.nan) | {"allocated_procs": procs} | records
    wait = records["wait_time"]
    records["start_time"] = records["submit_time"] + np.where(wait == -1, np.nan, wait)
    records, epoch = _on_the_clock(pd.DataFrame(records | further, index=table.frame.index), dated)

    kept = records.drop(index=list(table.refused))
    size = getattr(machine, "procs", machine)
    if size is None:
        started = kept[kept["start_time"].notna()]
        if started.empty:
            raise SizeUnknown(f"{table.file}: the size of the machine is not known; give machine=")
        size = max(1, most_in_use(started))
        renamed += [f"size of the machine not given; the most processors in use at one instant: {size:,}"]
    header = _header(table, names, size, epoch if dated else None)
    log = swf.Log(header, kept.drop(columns="start_time"), swf.skipped_table(), "", Path(table.file))
    dropped = left_out(records, table.refused)
    trace = from_log(log, name, "file", size, missing_estimate, dropped, error=TableError)
    _warn_of_units(table, trace)
    people = {field: names[field] for field in ("user_id", "group_id") if names.get(field)}
    return replace(trace, history=(*history, *renamed), people=people or None)


def _times(table):
    """Return the times of records in seconds, if known; whether they are dates; and the instants, by role."""
    submit, dated = _instants(table, "submit")
    known = submit[~np.isnan(submit)]
    by_date = dated or (known.size > 0 and known.min() >= UNIX)
    instants = {"submit": submit}
    for role in filter(table.has, ("start", "end")):
        instants[role], same = _instants(table, role)
        if not (dated and same):
            other = ~np.isnan(instants[role]) & ((instants[role] >= UNIX) != by_date)
            kind = "a date" if by_date else "seconds on the clock"
            table.refuse(role, other, f"{kind}, as in {table.title('submit')}")
    for role, values in instants.items():
        table.refuse(role, values > fields.LATEST, _a_second(values))
        table.refuse(role, (values < 0) & by_date, "a date from 1970 on")
    unknown = np.full(len(submit), np.nan)
    end = instants.get("end", unknown)
    run = _durations(table, "run") if table.has("run") else unknown
    start = instants.get("start", end - run)
    if table.has("start") and table.has("end"):
        lasted = end - start
        table.refuse("end", lasted < 0, "a time at or after the start")
        if table.has("run"):
            too_long = run > lasted + 1  # 1: fractions of a second
            table.refuse("run", too_long, "at most the time from start to end; is the unit right?")
        run = np.where(np.isnan(run), lasted, run)
    records = {"submit_time": submit, "run_time": run}
    if not np.isnan(start).all():
        records["wait_time"] = np.where(start >= submit, start - submit, np.nan)
    if table.has("estimate"):
        records["requested_time"] = _durations(table, "estimate")
    return records, by_date, instants


def _leave_out_unfinished(table, records, instants):
    """Leave out steps of jobs, and runs that wait or go on: by their numbers, their states, or a missing end."""
    jobs, states = (_texts_of(table, role, names) for role, names in (("job", JOBS), ("status", STATES)))
    if jobs is not None:
        table.leave_out(jobs.str.fullmatch(A_STEP), STEP)
    if states is None:
        states = pd.Series("", range(len(table.frame)))
    states = states.map(fields.state_of)
    unknown = np.full(len(states), np.nan)
    start, end = (instants.get(role, unknown) for role in ("start", "end"))
    goes_on = states.isin(fields.RUNNING) | (table.has("end") & ~np.isnan(start) & np.isnan(end) & (states == ""))
    never = states.eq("CANCELLED") & table.has("start") & np.isnan(start) & ~(records["run_time"] > 0)
    table.leave_out(states.isin(fields.WAITING), WAITING)
    table.leave_out(never, CANCELLED_EARLY)
    table.leave_out(goes_on, RUNNING)


def _texts_of(table, role, names):
    """Return the texts of a role, or of a column that is named as it usually is; None if these are numbers."""
    name = next((name for name in table.frame.columns if str(name).lower() in names), None)
    if not table.has(role) and name is None:
        return None
    values = table.values(role) if table.has(role) else table.frame[name]
    return None if pd.api.types.is_bool_dtype(values) or _is_numeric(values) else _as_text(values).str.strip()


def _a_second(values):
    """Describe a valid instant, with a hint if the numbers are too large to be seconds."""
    largest = np.max(values, initial=0, where=~np.isnan(values))
    unit = next((name for name in ("ms", "us", "ns") if UNIX <= largest * UNITS[name] <= fields.LATEST), None)
    return f"seconds since 1970{f'; are these {unit}? unit={unit!r}' if unit else ''}"


def _job_numbers(table):
    """Return the job numbers: those of the table, or row numbers from 1."""
    places = np.arange(1, len(table.frame) + 1)
    if not (table.has("job") and _is_numeric(values := table.values("job"))):
        return places
    numbers = values.to_numpy("float64", na_value=np.nan)
    wrong = ~(np.abs(numbers) < swf.EXACT) | (numbers % 1 != 0)
    table.refuse("job", wrong, "a whole number")
    return np.where(wrong, places, numbers).astype("int64")


def _further(table, records):
    """Return the columns that supply no role, under unique names, and notes on renamed ones for the history."""
    columns = {}
    notes = []
    further = table.further()
    if table.is_column("job") and not _is_numeric(table.values("job")):
        further[str(table.sources["job"])] = table.values("job")
    for name, values in further.items():
        if name in swf.FIELDS and name not in records and _is_numeric(values):
            records[name] = values.to_numpy("float64", na_value=np.nan)
            table.refuse(name, np.abs(records[name]) >= swf.EXACT, "a number below 2^53 in magnitude")
            continue
        free = name
        while free in swf.FIELDS or free in TAKEN or WORDS.get(free) in records or (free != name and free in further):
            free += OTHER_NAME
        columns[free] = values
        notes += [f"column {name} is kept as {free}"] if free != name else []
    return columns, notes


def _on_the_clock(records, by_date):
    """Count dates from the first submission; other clocks from 0, unless they begin earlier."""
    counted, epoch = on_the_clock_of_the_log(records)
    if not by_date and epoch >= 0:
        known = counted["submit_time"] >= 0
        counted["submit_time"] += np.where(known, epoch, 0)
        counted["start_time"] += epoch
    return counted, epoch


def _header(table, names, size, epoch):
    notes = []
    if epoch is not None and not table.zone_is_given:
        notes += ["no time zone was given; dates are those of UTC"]
    if table.has("nodes") and not table.has("procs_per_node"):
        notes += ["a processor is a node"]
    return header_of([f"Conversion: by schedlab from {table.file}"], size, epoch, table.zone, names, notes)


def _warn_of_units(table, trace):
    """Warn if most jobs run far longer than their estimates."""
    if not table.has("estimate"):
        return
    repaired = trace.repaired
    filled_in = repaired.loc[repaired["field"] == "requested_time", "job_number"]
    jobs = trace.jobs[~trace.jobs.index.isin(filled_in)]
    late = jobs["run_time"] > FAR_BEYOND * jobs["requested_time"]
    if len(jobs) and late.mean() > MOST_LATE:
        message = f"{100 * late.mean():.0f} % of the jobs run more than {FAR_BEYOND} times as long as their estimates"
        hint = "are these minutes? unit={'estimate': 'min'}"
        warnings.warn(f"{table.file}: {message}; {hint}", UnitWarning, stacklevel=4)
