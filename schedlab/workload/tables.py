"""A table with a row per record and columns of any name, and what each column is: its role.

Every reader but that of SWF makes a `Table`. `values` reads its columns, and `runs` has the rules that make a trace of
them. A value that a run needs and that cannot be read is an error, or leaves its row out; any other becomes unknown and
is counted.
"""

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from numbers import Real

import numpy as np
import pandas as pd

from schedlab._runtime.text import check_known, plain, spelt, suggestion

from . import fields
from .filter import BAD_LINE, BAD_ROW

INSTANTS = ("submit", "eligible", "start", "end")
DURATIONS = ("run", "estimate")
SIZES = ("procs", "nodes", "procs_per_node")
NAMES = {"user": "user_id", "group": "group_id", "queue": "queue", "partition": "partition"}
TEXTS = {"account": "account", "qos": "qos", "reservation": "reservation", "job_name": "name"}
ROLES = (*INSTANTS, *DURATIONS, *SIZES, "gpus", "memory", *NAMES, *TEXTS, "status", "job")
NEEDED = ("submit", "start", "end", "run", *SIZES)  # no other value that cannot be read leaves a run out
# Default columns: those of a table with SWF's names, such as `Trace.to_parquet` writes.
USUAL = {"submit": "submit_time", "run": "run_time", "procs": "requested_procs"}
USUAL |= {"estimate": "requested_time", "job": "job_number"}
# Roles that columns have by their names alone, in small letters; the columns are kept, too.
JOBS = ("jobid", "jobidraw", "job_id", "id_job")
BY_NAME = {"gpus": ("alloctres", "tres_alloc", "allocgres", "gres_used"), "job": JOBS}
BY_NAME |= {"status": ("state", "status", "job_state", "jobstate")}
# Columns with what jobs asked for.
REQUESTED = ("reqcpus", "reqnodes", "cpus_req", "req_cpus", "req_nodes", "numprocessors")
SAYS_MORE = ("eligible", "gpus", "memory")  # columns of these roles are kept as they are, too
ARRIVALS = ("submit", "eligible")
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3_600, "d": 86_400}  # in seconds


class TableError(ValueError):
    """`from_frame` cannot read a table; the message says where, what was found and what was expected."""


class FirstKnown(tuple):
    """Columns that can supply one role: of each row, the first known value counts."""


class Table:
    """A table, what supplies the values of each role (a column, values, or None), and the problems of its rows.

    `file` and `labels` name table and rows in messages; `unit`, `time_zone`, `states`, `arrival` and `lenient` are as
    in `from_frame`. With `lines`, labels are numbers of lines. `error` is the reader's own kind.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        columns: dict,
        file: str,
        labels: Collection,
        unit="s",
        time_zone: str | None = None,
        lenient: bool = False,
        states: str | None = None,
        arrival: str = "submit",
        lines: bool = False,
        error: type[Exception] = TableError,
    ):
        self.error = error
        names = [name for name in frame.index.names if name is not None]
        if twice := [name for name in names if name in frame.columns]:
            raise error(f"{file}: the index and a column are both called {twice[0]!r}; reset_index(drop=True)")
        self.frame = frame.reset_index() if names else frame.reset_index(drop=True)
        self.known = frame.attrs.get("columns", frame.columns)  # including those that were not loaded
        self.index = frame.index
        self.labels = labels
        self.file = file
        self.lines = lines
        self.zone = fields.zone_named(time_zone)
        self.zone_is_given = time_zone is not None
        self.units = dict.fromkeys(ROLES, unit) if isinstance(unit, str) else dict(unit)
        for role, name in self.units.items():
            check_known("argument in unit", role, ROLES)
            check_known("unit", name, UNITS)
        self.states = states if states is None else check_known("states", states, ("swf", "slurm"))
        self.arrival = check_known("arrival", arrival, ARRIVALS)
        self.refused = fields.Refusals(self._error, BAD_LINE if lines else BAD_ROW, lenient)
        # What a front end knows: what a processor is, lines and notes for the header, records that it left out, the
        # highest number of a job among them, names behind numbers, and whether those of users and groups are kept.
        self.unit = "processors"
        self.origin = ()
        self.notes = ()
        self.omitted = None
        self.highest = 0
        self.called = {}
        self.identity = None  # a column of texts that tell runs apart where the numbers of jobs do not
        self.people = True
        self.unread = {}  # of optional values that cannot be read: the rows, by what supplies them
        self.sources = {role: source for role, source in columns.items() if source is not None}
        doubled = self.frame.columns[self.frame.columns.duplicated()]
        if len(doubled):
            raise error(f"{file}: several columns are called {doubled[0]!r}, expected unique names")
        self._check_roles()

    def _error(self, label, reason):
        return self.error(f"{self.file}{':' if self.lines else f', {BAD_ROW}'}{label}: {reason}")

    def _check_roles(self):
        """Fill in the default columns, and raise if there is too little or too much."""
        instead = {"run": "end", "procs": "nodes"}
        for role, column in USUAL.items():
            if column in self.frame.columns and instead.get(role) not in self.sources:
                self.sources.setdefault(role, column)
        roles = self.sources.keys()
        missing = []
        if "submit" not in roles:
            missing.append("no submission; name its column: submit=...")
        if "run" not in roles and not {"start", "end"} <= roles:
            missing.append("no run time; name its column, or start and end: run=...")
        if not {"procs", "nodes"} & roles:
            missing.append("no processors; name a column: procs=... or nodes=...")
        if missing:
            raise self.error(f"{self.file}: {'; '.join(missing)}{self._columns()}")
        if {"procs", "nodes"} <= roles:
            raise self.error(f"{self.file}: procs and nodes are both given; give procs, or nodes with procs_per_node")
        if "procs_per_node" in roles and "nodes" not in roles:
            raise self.error(f"{self.file}: procs_per_node is given without nodes")
        if self.arrival not in roles:
            raise self.error(f"{self.file}: arrival={self.arrival!r}, but no column for {self.arrival}")

    def _columns(self):
        return f"; columns: {', '.join(map(_shown, self.known))}"

    def has(self, role: str) -> bool:
        return role in self.sources

    def is_column(self, source) -> bool:
        return isinstance(source, Hashable) and source in self.frame.columns

    def source(self, role: str) -> str:
        """Describe what supplies a role, for the history."""
        source = self.sources[role]
        if isinstance(source, FirstKnown):
            return " or ".join(plain(str(name)) for name in source)
        return plain(str(source)) if self.is_column(source) or isinstance(source, Real) else "values of the caller's"

    def title(self, role: str, source) -> str:
        """Name what supplies a role, for messages."""
        return f"column {source!r} ({role})" if self.is_column(source) else role

    def columns(self, role: str) -> list["Column"]:
        """Return what supplies a role; or, if nothing is named, a column whose name says so."""
        if not self.has(role):
            name = self.named(BY_NAME.get(role, ()))
            return [] if name is None else [Column(self, role, name)]
        source = self.sources[role]
        return [Column(self, role, name) for name in (source if isinstance(source, FirstKnown) else (source,))]

    def values(self, role: str, source) -> pd.Series:
        """Return the values of a source, one per row."""
        rows = len(self.frame)
        if self.is_column(source):
            return self.frame[source]
        if isinstance(source, str):
            known = f"{self._columns()}{suggestion(source, map(str, self.known))}"
            if len(self.known) == 1 and (mark := next((mark for mark in "|;\t" if mark in str(self.known[0])), "")):
                known += f"; is it separated by {mark!r}? give read_table separator={mark!r}"
            raise self.error(f"{self.file}: no column {source!r} for {role}{known}")
        if isinstance(source, Real) and not isinstance(source, bool):
            if role not in (*SIZES, "estimate"):
                raise self.error(f"{self.file}: {role} is {spelt(source)}, expected a column")
            return pd.Series(np.full(rows, source))
        if isinstance(source, pd.Series) and len(source) == rows and not source.index.equals(self.index):
            if not source.index.is_unique or set(source.index) != set(self.index):
                raise self.error(f"{self.file}: {role} is a Series with another index than the table")
            source = source.reindex(self.index)
        values = source.reset_index(drop=True) if isinstance(source, pd.Series) else pd.Series(source)
        if len(values) != rows:
            raise self.error(f"{self.file}: {role} has {len(values):,} values, the table {rows:,} rows")
        return values

    def named(self, names: Collection[str]):
        """Return the first column with one of some names, in small letters; None if there is none."""
        return next((name for name in self.frame.columns if str(name).lower() in names), None)

    def leave_out(self, rows: Collection[bool], reason: str) -> None:
        """Omit rows, bool of shape (n_rows,), for a reason; rows that are left out already keep theirs."""
        for row in np.flatnonzero(rows).tolist():
            self.refused.setdefault(row, reason)

    def is_unreadable(self) -> np.ndarray:
        """Return the rows of which a value that a run needs could not be read: bool, shape (n_rows,)."""
        unreadable = np.zeros(len(self.frame), dtype=bool)
        unreadable[[row for row, reason in self.refused.items() if reason.startswith(self.refused.begin)]] = True
        return unreadable

    def kept(self) -> np.ndarray:
        """Return the rows that are not left out, so far: bool, shape (n_rows,)."""
        kept = np.ones(len(self.frame), dtype=bool)
        kept[list(self.refused)] = False
        return kept

    def further(self) -> dict[str, pd.Series]:
        """Return the columns that supply no role, by name."""
        whole = {role: source for role, source in self.sources.items() if role not in SAYS_MORE}
        used = {name for source in whole.values() for name in _names(source) if str(name).lower() not in REQUESTED}
        return {str(name): self.frame[name] for name in self.frame.columns if name not in used}


def _names(source):
    return source if isinstance(source, FirstKnown) else (source,) if isinstance(source, Hashable) else ()


@dataclass(frozen=True)
class Column:
    """One source of the values of a role."""

    table: Table
    role: str
    source: object

    @property
    def series(self) -> pd.Series:
        return self.table.values(self.role, self.source)

    @property
    def title(self) -> str:
        return self.table.title(self.role, self.source)

    @property
    def unit(self) -> float:
        """What 1 means, in seconds; 1 of all that is no time."""
        timed = self.role in (*INSTANTS, *DURATIONS)
        return UNITS[self.table.units.get(self.role, "s")] if timed else 1

    def refuse(self, bad: np.ndarray, expected: str) -> None:
        """Leave out the rows where `bad`, bool of shape (n_rows,), is true, or raise at the first of them.

        Of a role that no run needs, the values only are unknown.
        """
        rows = [row for row in np.flatnonzero(bad).tolist() if row not in self.table.refused]
        if rows and self.role not in NEEDED:
            self.table.unread.setdefault(self.role, {}).update(dict.fromkeys(rows, self))
            return
        values = self.series if rows else ()
        for row in rows:
            reason = f"{self.title} is {_shown(values[row])}, expected {expected}"
            self.table.refused.add(row, self.table.labels[row], reason)

    def refuse_all(self, expected: str, bad: np.ndarray | None = None) -> None:
        """Raise at the first known value, or the first bad one, even if lenient: no row can be read."""
        for row in np.flatnonzero(self.series.notna() if bad is None else bad)[:1].tolist():
            reason = f"{self.title} is {_shown(self.series[row])}, expected {expected}"
            raise self.table._error(self.table.labels[row], reason)

    def shown(self, row: int) -> str:
        """Return the value of a row as messages quote it, and where it stands."""
        label = f"{self.table.refused.begin}{self.table.labels[row]}"
        return f"{_shown(self.series[row])} in {self.title}, {label}"


def _shown(value):
    """Write a value as a message quotes it."""
    if isinstance(value, str) or not np.isscalar(value):
        text = repr(str(value))
        return text if len(text) <= fields.LONGEST else f"{text[: fields.LONGEST - 1]}..."
    value = getattr(value, "item", lambda: value)()  # 5, not np.int64(5)
    return f"{value:.15g}" if isinstance(value, float) else str(value)
