"""A folder that keeps the results of grids, as Parquet files that appear complete or not at all; nothing is pickled.

A store has one folder per study: a function in one version of its code and of the package. When either changes, results
go into another folder. A run is first written as a separate file. So a process that is killed loses only what it was
running, and any number of processes can write at once without a lock: no two write the same file, and if two made the
same run, either result is right. From time to time the small files are joined: first the joint file is written, then
the small ones are deleted. A process that reads meanwhile may see a run twice, and counts it once, or looks again.
"""

import io
import json
import os
import re
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, date, datetime, timedelta, timezone
from errno import EACCES, EPERM, EROFS, ESRCH
from functools import cache, cached_property
from inspect import getsource
from itertools import groupby
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import ClassVar
from uuid import uuid4

import numpy as np
import pandas as pd

from .. import __version__
from ..digests import code_digest, innermost, sources
from ..paths import replacing
from ..text import plain
from ..workload.trace import told_apart
from .results import HOST, OF_FAILURES, Failure, Result

ABOUT = "README.txt"  # marks a folder as a store
WORDS = """\
This folder keeps the results of grids of schedlab: one row a run (or several, where a run gives a table), in Parquet.

Each folder here is a study: a function, as its code was. In Python with schedlab:

    import schedlab as sl
    table = sl.store("{folder}").table()

Without schedlab, any reader of Parquet will do. In Python:

    import pandas as pd
    from pathlib import Path
    files = sorted(Path("{folder}").glob("*/[!.]*.parquet"))
    table = pd.concat(map(pd.read_parquet, files)).sort_values("run_finished", kind="stable")
    if "error" in table:  # leave out failures of runs that were repeated with success
        done = table["error"].isna()
        table = table[done | ~table["run_key"].isin(table["run_key"][done])]
    table = table.drop_duplicates(["run_key", "run_row"], keep="last").query("run_row > -2")

Columns: the values of the run, what it measured, error and error_at (of failed runs), and of every run run_key,
run_row, run_seconds, run_finished, run_host, run_origins (what tells apart values of one label) and run_kinds (types
that Parquet does not have). run_row is the row within the table that the run gave; -1 where it gave no table, -2 where
its table has no rows.
"""
FORMAT = 2  # of the files; other formats are ignored
OWN = ("run_key", "run_row", "run_seconds", "run_finished", "run_host", "run_origins", "run_kinds")  # columns
RESERVED = (*OF_FAILURES, *OWN, "function", "study")  # columns that a store reserves
ARRAYS = "arrays of numbers"  # a kind of column
ALONE, EMPTY = -1, -2  # instead of a row number: a run of one row, a run with an empty table
SESSION = uuid4().hex
_versions = {}  # of functions requested in this session, by requester and name
MARKS, ASKED, STUDY = "_running", "_asked", "_study.json"  # next to the results; readers of Parquet skip names with _
# Of a request. "several": the requester uses several functions of this name, so a new one does not replace this one.
NOTE = {"where": str, "function": str, "at": float, "keys": list, "version": str, "session": str, "several": bool}
JOINED = "joined-"
ASKED_DIGITS = 16  # digits of a key, enough to distinguish a million runs
JOIN_AT, MOST_JOINED = 500, 16  # small files written by a process; joint files in a study
BEAT = 5  # seconds between two signs of life
DEAD = 12 * BEAT  # seconds without a sign of life
MOMENT = 0.05  # seconds; results from elsewhere that arrive within it are stored together
# What Arrow raises for values that it cannot hold; its own errors are subclasses of these.
UNKEPT = (ValueError, TypeError, NotImplementedError, OverflowError)
READ_ONLY = (EACCES, EPERM, EROFS)
LOST = 86_400  # seconds after which an unfinished file is deleted


def store(path: str | os.PathLike) -> "Store":
    """Open a store: the folder where `grid` keeps results.

    Parameters
    ----------
    path : path
        The folder, as passed to `grid`.

    Returns
    -------
    Store
        `Store.table` reads all results; `Store.prune` deletes those that are no longer used.

    Raises
    ------
    FileNotFoundError
        If there is no store.

    Examples
    --------
    >>> import schedlab as sl
    >>> from tempfile import mkdtemp
    >>> runs = mkdtemp()
    >>> def run(load, scheme):
    ...     trace = sl.model_trace("lublin", jobs=200, seed=1).scale_load(load)
    ...     return sl.simulate(trace, scheme).metrics()[["wait_time", "utilization"]]
    >>> table = sl.grid(run, load=[0.6, 0.8], scheme=["fcfs", "easy"], store=runs)
    >>> sl.store(runs).table()[["load", "scheme", "wait_time"]].shape
    (4, 3)
    """
    found = Store(path)
    if not (found.path / ABOUT).is_file():
        raise FileNotFoundError(f"{plain(str(path))}: no store, expected a folder that grid(..., store=) has made")
    return found


_storing = ContextVar("_storing", default=None)


@contextmanager
def storing(path: "str | os.PathLike | Store | None") -> Iterator[None]:
    """Within the block, store the results of all grids that name no store of their own.

    Parameters
    ----------
    path : path or Store, or None
        None means no store.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=200, procs=64, seed=1)
    >>> with TemporaryDirectory() as folder:
    ...     with sl.experiment.storing(folder):
    ...         table = sl.sweep(trace, ["fcfs", "easy"], load=[0.6, 0.8])
    ...     len(sl.store(folder).table())
    4
    """
    before = _storing.set(None if path is None else Store(path))
    try:
        yield
    finally:
        _storing.reset(before)


def storing_in() -> "Store | None":
    """Return the store set by the enclosing `storing` block."""
    return _storing.get()


class Store:
    """The results of grids in a folder.

    Parameters
    ----------
    path : path or Store

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=200, procs=64, seed=1)
    >>> with TemporaryDirectory() as folder:
    ...     store = sl.Store(folder)
    ...     table = sl.sweep(trace, ["fcfs", "easy"], load=[0.6, 0.8], store=store)
    ...     store.table().groupby("scheme").size().to_dict()
    {'EASY': 2, 'FCFS': 2}
    """

    def __init__(self, path: "str | os.PathLike | Store"):
        self.path = path.path if isinstance(path, Store) else Path(path).expanduser().absolute()

    def __repr__(self) -> str:
        studies = self.studies()
        rows = [f"   {one.folder.name}: {len(one.keys()):,} runs of {one.name}" for one in studies]
        count = f"{len(studies)} {'study' if len(studies) == 1 else 'studies'}"
        return "\n".join([f"<Store {self.path}: {count}", *rows]) + ">"

    def make(self) -> None:
        """Create the folder, unless it exists.

        Raises
        ------
        ValueError
            If it is a file, or holds something else.
        ModuleNotFoundError
            Without pyarrow.
        """
        _parquet()
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"{plain(str(self.path))}: expected a folder for the store, found a file")
        self.path.mkdir(parents=True, exist_ok=True)
        about = self.path / ABOUT
        if not about.is_file():
            if others := sorted(one.name for one in self.path.iterdir() if not one.name.startswith(".")):
                if about.is_file():  # another process has just created it
                    return
                words = f"expected an empty folder or a store; it contains {plain(others[0])}"
                raise ValueError(f"{plain(str(self.path))}: {words}")
            with replacing(about) as part:
                part.write_text(WORDS.format(folder=self.path), encoding="utf-8")

    def study(self, plan, look: bool = False) -> "Study":
        """Return the study of a plan.

        Parameters
        ----------
        plan : schedlab.experiment.grids.Plan
            What is to be run.
        look : bool
            Whether to only look. Otherwise the folder is created if missing, and the request is recorded.
        """
        name = re.sub(r"\W+", "-", _name_of(plan.run)).strip("-")[-40:]
        study = Study(self.path / f"{name}-{plan.about[:16]}")
        if not look:
            self.make()
            try:
                study.ask(plan)
            except OSError as error:
                if error.errno not in READ_ONLY:  # with read access only, existing results can still be used
                    raise
        return study

    def studies(self) -> list["Study"]:
        """Return all studies."""
        return [Study(path.parent) for path in sorted(self.path.glob(f"*/{STUDY}"))]

    def table(self, function: str | None = None) -> pd.DataFrame:
        """Read everything as one table.

        Parameters
        ----------
        function : str, optional
            Only runs of functions with this name.

        Returns
        -------
        DataFrame
            One row per run, or several for runs that return tables. Columns: ``function``, the values, the measures,
            ``error`` and ``error_at`` (empty for runs that did not fail), ``run_seconds``, ``run_finished`` (UTC),
            ``run_host`` and ``run_key``. Different traces or schemes with the same label are distinguished as in the
            table of a grid. The runs of all versions of a function are included; ``study`` names the folder of each.
        """
        read = [(one, one.read()) for one in self.studies() if function in (None, one.name)]
        origins = [origin for _, parts in read for part in parts for origin in part.origins()]
        names = _names(origins)
        frames = [part.frame(names).assign(study=study.folder.name) for study, parts in read for part in parts]
        frames = [frame for frame in frames if len(frame)]
        if not frames:
            return pd.DataFrame(columns=["function", *OF_FAILURES, *OWN[2:5], "run_key", "study"])
        found = pd.concat(frames, ignore_index=True)
        found = found.assign(**{name: found[name].fillna("") if name in found else "" for name in OF_FAILURES})
        last = [*OF_FAILURES, "run_seconds", "run_finished", "run_host", "run_key", "study"]
        values = list(dict.fromkeys(name for _, parts in read for part in parts for name in part.given))
        measures = [name for name in found if name not in {"function", "run_row", *values, *last}]
        order = found.sort_values(["study", "run_finished", "run_key", "run_row"], kind="stable").index
        return found.loc[order, ["function", *values, *measures, *last]].reset_index(drop=True)

    def prune(self, *, asked_since: str | datetime | timedelta | None = None, dry_run: bool = False) -> pd.DataFrame:
        """Delete results that are no longer used, and list them.

        Results of an older version of a function, or of the package, are deleted once the same script or notebook has
        used the newer version in a later session. Some results are deleted only by `asked_since`: those of lambdas,
        those of several functions with the same name in one script, and those requested from a prompt or from a
        notebook without a name.

        Parameters
        ----------
        asked_since : date, datetime, timedelta or text, optional
            Also delete runs that no grid has requested since then: a date, ``"2026-03-01"``, or a length of time before
            now, ``"30 days"``.
        dry_run : bool
            Delete nothing; only list what would be deleted.

        Returns
        -------
        DataFrame
            One row per study from which something is deleted: study, function, runs, bytes (about), last_asked (UTC),
            why.
        """
        since = _instant(asked_since)
        askers = {one.folder.name: one.asked() for one in self.studies()}
        newest = {}  # per requested function: the latest version, and the session that requested it
        for one in (one for asked in askers.values() for one in asked):
            key = (one["where"], one["function"])
            newest[key] = max(newest.get(key, (0.0, "", "")), (one["at"], one["version"], one["session"]))
        rows = []
        for study in self.studies():
            name, asked, there = study.name, askers[study.folder.name], study.keys()
            current = [
                one for one in asked if one["several"] or _is_current(one, newest[one["where"], one["function"]])
            ]
            wanted = {key for one in current if one["at"] >= since for key in one["keys"]}
            gone = {key for key in there if key[:ASKED_DIGITS] not in wanted}
            if gone or not (there or current):  # a study that is requested but has no runs has just begun
                freed = round(study.bytes() * len(gone) / max(len(there), 1))
                why = f"not asked for since {asked_since}" if current else "the function or the package has changed"
                if not dry_run:
                    study.delete(gone)
                last = max((one["at"] for one in asked), default=0)
                rows.append((study.folder.name, name, len(gone), freed, pd.Timestamp(last, unit="s"), why))
        return pd.DataFrame(rows, columns=["study", "function", "runs", "bytes", "last_asked", "why"])


class Study:
    """The results of one version of a function, in a folder. It can be sent to other processes.

    Attributes
    ----------
    optional : bool
        If true, a result that cannot be stored is returned but not kept; otherwise its run counts as failed.
    """

    def __init__(self, folder: Path):
        self.folder, self.optional, self.most_joined = folder, False, MOST_JOINED

    @cached_property
    def facts(self) -> dict:
        """What is known of the function: name, where, source, versions; empty until that is written."""
        with suppress(OSError, ValueError):
            if isinstance(found := json.loads((self.folder / STUDY).read_text(encoding="utf-8")), dict):
                return found
        return {}

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.facts.get("function", "?")

    # --- What is asked for ---

    def ask(self, plan) -> None:
        """Record that a plan requests its runs."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / ASKED).mkdir(exist_ok=True)
        (self.folder / MARKS).mkdir(exist_ok=True)
        where, name = asker(plan.run), _name_of(plan.run)
        if not (self.folder / STUDY).is_file():
            facts = {"function": name, "where": where, "source": _source(plan.run), "schedlab": __version__}
            _write_json(self.folder / STUDY, facts | {"made": datetime.now(UTC).isoformat(timespec="seconds")})
        keys = sorted({key[:ASKED_DIGITS] for key in plan.keys})
        note = {"where": where, "function": name, "at": time.time(), "keys": keys}
        version = f"{code_digest(plan.run)} {sources()}"
        versions = _versions.setdefault((where, name), {version})
        several = "<lambda>" in name or (where.endswith(".py") and bool(versions - {version}))
        versions.add(version)
        note |= {"version": version, "session": SESSION, "several": several}
        _write_json(self.folder / ASKED / f"{plan.asked_as(where)}.json", note)

    def asked(self) -> list[dict]:
        """List who requested what, and when; a note of another form counts as damaged."""
        notes = (
            {"session": "", "several": False, **note} for note in _jsons(self.folder / ASKED)
        )  # early notes lack it
        return [note for note in notes if all(isinstance(note.get(name), kind) for name, kind in NOTE.items())]

    # --- Writing ---

    def keep(self, *several: tuple[str, Mapping, Mapping, Result]) -> None:
        """Store results, each completely or not at all. Each has a key, values, origins (see `Plan.described`) and a
        result.

        Raises
        ------
        TypeError
            For a measure that no column can hold.
        """
        pa, _ = _parquet()
        self.write(_rows(pa, *one) for one in several)

    def write(self, tables: Iterable) -> None:
        """Write Arrow tables; those with the same columns go into one file."""
        _, pq = _parquet()
        for table in _alike(tables):
            whole = io.BytesIO()  # faster than letting it open and write a file
            pq.write_table(table, whole, compression="none", use_dictionary=False, write_statistics=False)
            # A unique name: a process that joins small files must not delete a file that replaced one that it has
            # read.
            with replacing(self.folder / f"{table.column('run_key')[0]}-{uuid4().hex[:8]}.parquet") as part:
                part.write_bytes(whole.getbuffer())

    @contextmanager
    def writing(self, count: int) -> Iterator["Writer"]:
        """Until the block ends, show that this process makes this many runs; then join small files.

        Raises
        ------
        PermissionError
            If the store is read-only.
        """
        if not os.access(self.folder, os.W_OK):
            words = f"this store is read-only, and {count:,} {'run is' if count == 1 else 'runs are'} missing"
            raise PermissionError(EACCES, words, str(self.folder.parent))
        writer = Writer(self, count)
        try:
            with writer.alive():
                yield writer
        finally:
            self.join()

    def join(self, without: Iterable[str] = ()) -> None:
        """Join small files, leaving out some runs."""
        _, pq = _parquet()
        without, files = set(without), self.files()
        joined = [path for path in files if path.name.startswith(JOINED)]
        if not without and len(joined) < self.most_joined:
            files = [path for path in files if path not in joined]
            if len(files) < 2:
                return
        parts = self.read(files)
        tables = _alike(part.table_of(lambda key: key not in without) for part in parts)
        for table in tables:
            with replacing(self.folder / f"{JOINED}{uuid4().hex}.parquet") as path:
                pq.write_table(table, path)
        if len(joined) >= self.most_joined:  # all tables differ in kind, so they cannot become fewer
            self.most_joined = MOST_JOINED + len(tables)
        for part in parts:
            part.path.unlink(missing_ok=True)

    def delete(self, keys: Iterable[str]) -> None:
        """Delete some runs; delete the folder too, if no run is left and no process is writing."""
        self.join(without=keys)
        now = time.time()
        for path in self.folder.glob(".*"):  # left half-written by a killed process
            with suppress(OSError):
                if now - path.stat().st_mtime > LOST:
                    path.unlink()
        if not self.files() and not self.running():
            for path in [*self.folder.glob("*/*"), *self.folder.glob("*")]:
                with suppress(OSError):
                    path.rmdir() if path.is_dir() else path.unlink()
            with suppress(OSError):
                self.folder.rmdir()

    # --- Reading ---

    def files(self) -> list[Path]:
        """Return the files of results."""
        return sorted(self.folder.glob("[!._]*.parquet"))

    def bytes(self) -> int:
        """Return the size of the results in bytes."""
        total = 0
        for path in self.files():
            with suppress(OSError):
                total += path.stat().st_size
        return total

    def read(self, files: Iterable[Path] | None = None) -> list["Part"]:
        """Read all results, or those in some files; other processes may be joining files meanwhile.

        A failure is left out if the run has succeeded since. If a run failed several times, the last failure counts.
        """
        parts, seen = [], set()
        while missing := [path for path in (self.files() if files is None else files) if path not in seen]:
            for path in missing:
                seen.add(path)
                with suppress(FileNotFoundError):  # it was joined: the next round lists the file that now holds it
                    if (table := _read(path)) is not None:
                        parts.append(Part(path, table, self.name))
        _leave_out(parts)
        return parts

    def found(self, keys: Iterable[str]) -> dict[str, Result]:
        """Return the results of some runs."""
        wanted, found = set(keys), {}
        for part in self.read():
            found |= part.results(wanted)
        return found

    def keys(self) -> set[str]:
        """Return the keys of all runs that are kept."""
        return set().union(*(part.keys() for part in self.read()))

    def running(self) -> list[dict]:
        """List the active processes: host, process, since, done, count, and what each is running, since when.

        A worker has no count. A process that has ended, or has given no sign of life for some time, is left out.
        """
        marks = [one for one in _jsons(self.folder / MARKS) if time.time() - one["alive"] < DEAD]
        return [one for one in marks if (one["count"] or one["running"]) and not _has_ended(one)]


def _has_ended(mark):
    """Tell whether a process on this computer has ended without saying so."""
    if mark["host"] != HOST or os.name != "posix":
        return False
    try:
        os.kill(mark["process"], 0)  # sends no signal
    except OSError as error:
        return error.errno == ESRCH
    return False


class Mark:
    """Signs of life: a file that says which runs of a study this process is making, renewed until it ends.

    Parameters
    ----------
    folder : Path
        Folder of the study.
    count : int
        Number of runs that it is to make; 0 for a worker, which does not know.
    """

    of_workers: ClassVar[dict[Path, "Mark"]] = {}  # by folder; they end by themselves

    def __init__(self, folder: Path, count: int = 0):
        self.folder, self.count, self.done, self.since = folder, count, 0, time.time()
        self.begun, self.lock, self.over = {}, Lock(), Event()
        self.path = folder / MARKS / f"{HOST}-{os.getpid()}-{uuid4().hex[:8]}.json"
        self.thread = Thread(target=self._beat, daemon=True)

    @classmethod
    def here(cls, folder: Path) -> "Mark":
        """Return the mark of this process, a worker."""
        if folder not in cls.of_workers:
            cls.of_workers[folder] = cls(folder)
            cls.of_workers[folder].start()
        return cls.of_workers[folder]

    def start(self) -> None:
        """Begin to show signs of life."""
        for path in self.path.parent.glob("*.json"):  # left by killed processes
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > LOST:
                    path.unlink()
        self.write()
        self.thread.start()

    def stop(self) -> None:
        """Stop showing signs of life."""
        self.over.set()
        self.thread.join()
        self.path.unlink(missing_ok=True)

    def begin(self, key: str, shown: Mapping) -> None:
        """Note that a run begins."""
        with self.lock:
            self.begun[key] = (shown, time.time())

    def end(self, key: str) -> None:
        """Note that a run has ended."""
        with self.lock:
            self.begun.pop(key, None)

    def write(self) -> None:
        """Say what is being run."""
        with self.lock:
            begun = list(self.begun.items())
        running = [{"key": key, "values": _words(shown), "since": since} for key, (shown, since) in begun]
        about = {"host": HOST, "process": os.getpid(), "since": self.since, "alive": time.time()}
        with suppress(OSError):  # a full disk is reported when a result cannot be stored
            _write_json(self.path, about | {"done": self.done, "count": self.count, "running": running})

    def _beat(self):
        pause, idle = 1, 0
        while not self.over.wait(pause):
            idle = 0 if self.begun or self.count else idle + 1
            if idle > 1:  # an idle worker, which others may now use
                self.of_workers.pop(self.folder, None)
                self.path.unlink(missing_ok=True)
                return
            self.write()
            pause = BEAT


class Writer:
    """A process that makes runs of a study: it shows signs of life, and joins files when there are many."""

    def __init__(self, study: Study, count: int):
        self.study, self.mark, self.small = study, Mark(study.folder, count), 0
        self.arrived, self.errors = SimpleQueue(), []

    def ticket(self, key: str, shown: Mapping, origins: Mapping) -> "Ticket":
        """Permit a worker to keep the result of a run."""
        return Ticket(self.study, key, shown, origins, self.mark)

    def keep(self, key: str, shown: Mapping, origins: Mapping, result: Result) -> None:
        """Store a result from elsewhere, together with others that arrive at the same moment.

        Raises
        ------
        TypeError
            For a measure that no column can hold.
        OSError
            If an earlier one could not be stored.
        """
        self._check()
        self.arrived.put(_rows(_parquet()[0], key, shown, origins, result))

    def _keep_arrived(self):
        """Store arriving results until an end mark; a batch arrives at once, and writing a file takes a millisecond."""
        over = False
        while not over:
            several = [self.arrived.get()]
            if several[0] is not None:  # the end of a grid waits for nothing
                time.sleep(MOMENT)
            with suppress(Empty):
                while True:
                    several.append(self.arrived.get_nowait())
            over = None in several
            try:
                self.study.write(table for table in several if table is not None)
            except OSError as error:
                self.errors.append(error)  # raised when the next result is given

    def _check(self):
        if self.errors:
            raise self.errors[0]

    def came(self) -> None:
        """Note that a result is there."""
        self.mark.done += 1
        self.small += 1
        if self.small >= JOIN_AT:
            self.small = 0
            self.study.join()

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Until the block ends, show that this process is active, and store arriving results."""
        keeping = Thread(target=self._keep_arrived, daemon=True)
        self.mark.start()
        keeping.start()
        try:
            yield
        finally:
            self.arrived.put(None)
            keeping.join()
            self.mark.stop()
        self._check()


class Ticket:
    """Lets a worker store the result of one run; as a context, it shows that the run is in progress."""

    def __init__(self, study: Study, key: str, shown: Mapping, origins: Mapping, mark: Mark | None = None):
        self.study, self.key, self.shown, self.origins, self.mark = study, key, shown, origins, mark

    def __reduce__(self):
        return Ticket, (self.study, self.key, self.shown, self.origins)

    def __enter__(self):
        self.mark = self.mark or Mark.here(self.study.folder)
        self.mark.begin(self.key, self.shown)
        return self

    def __exit__(self, *_):
        self.mark.end(self.key)

    def keep(self, result: Result) -> None:
        """Keep its result."""
        self.study.keep((self.key, self.shown, self.origins, result))


# --- Rows and files -----------------------------------------------------------------------------------------


def _parquet():
    try:
        import pyarrow
        import pyarrow.compute
        from pyarrow import parquet
    except ModuleNotFoundError:
        words = 'a store needs pyarrow: pip install "schedlab[parquet]"'
        raise ModuleNotFoundError(words, name="pyarrow") from None
    return pyarrow, parquet


def _rows(pa, key, shown, origins, result):
    """Return what is stored of a run as an Arrow table."""
    measured, kinds, more = result.measured, {}, {}
    if result.failed:
        own = pa.table({"error": [measured.words], "error_at": [measured.at]})
        count, numbers = 1, [ALONE]
    elif isinstance(measured, pd.DataFrame):
        names = measured.columns.tolist()
        if odd := [name for name in names if not isinstance(name, str)]:
            texts = list(map(str, names))  # Parquet has only text names
            if len(set(texts)) < len(texts) or not all(type(name) in (int, float) for name in odd):
                words = f"a column {odd[0]!r}, expected names that are texts or numbers, to be kept in a store"
                raise TypeError(f"the run gives {words}")
            measured, more = measured.set_axis(texts, axis=1), {"names": names}
        own, kinds = _column_types(pa, measured)
        count, numbers = max(len(measured), 1), [*range(len(measured))] or [EMPTY]
        if not len(measured):
            own = pa.table([pa.nulls(1, one.type) for one in own.schema], names=own.schema.names).cast(own.schema)
    else:
        own, kinds = _one_row(pa, measured)
        count, numbers = 1, [ALONE]
    about = {name: pa.array([_cell(pa, value)] * count) for name, value in shown.items()}
    tail = {
        "run_key": pa.array([key] * count),
        "run_row": pa.array(numbers, pa.int32()),
        "run_seconds": pa.array([result.seconds] * count),
        "run_finished": pa.array([round(1000 * result.finished)] * count, pa.timestamp("ms", "UTC")),
        "run_host": pa.array([result.host] * count),
        "run_origins": pa.array([json.dumps(origins)] * count),
        "run_kinds": pa.array([json.dumps(kinds)] * count),
    }
    table = pa.table({**about, **dict(zip(own.schema.names, own.columns, strict=True)), **tail})
    notes = {"format": FORMAT, "values": list(shown), "measures": [] if result.failed else own.schema.names} | more
    about = {b"schedlab": json.dumps(notes).encode()}
    if pandas := _of_pandas(own.schema):  # pandas-only types; others would depend on the values
        own_types = [one for one in pandas["columns"] if one["pandas_type"] not in ("categorical", "empty")]
        about[b"pandas"] = json.dumps(pandas | {"columns": own_types}).encode()
    return table.replace_schema_metadata(about)


def _of_pandas(schema):
    return json.loads((schema.metadata or {}).get(b"pandas", b"{}"))


def _column_types(pa, measured):
    try:
        own = pa.Table.from_pandas(measured, preserve_index=False)
    except UNKEPT as error:
        raise TypeError(f"the table of a run cannot be kept in a store: {error}") from None
    for place, one in enumerate(own.columns):
        if pa.types.is_dictionary(one.type):  # its type would depend on the number of categories
            values = pa.chunked_array([part.dictionary_decode() for part in one.chunks], one.type.value_type)
            own = own.set_column(place, own.field(place).with_type(one.type.value_type), values)
    kinds = {name: ARRAYS if _of_arrays(one) else _kind(name, one.dtype) for name, one in measured.items()}
    back = _as_it_was(own.to_pandas(), kinds, lambda name: own.column(name).to_pylist())
    for name in measured:
        if not (back[name].dtype == measured[name].dtype and _same(back[name], measured[name])):
            raise TypeError(
                f"the column {name} cannot be stored without loss; give numbers, texts or times of one type"
            )
    return own, kinds


def _as_it_was(found, kinds, values):
    """Return a pandas table its original types; `values` gives those of a column as Python objects."""
    for name, kind in kinds.items():
        if isinstance(kind, dict):
            categories = pd.Index(kind["categories"], dtype=kind["dtype"])
            found[name] = found[name].astype(pd.CategoricalDtype(categories, kind["ordered"]))
        elif kind == "object":
            found[name] = pd.Series(values(name), found.index, dtype=object)
        elif kind != ARRAYS and str(found[name].dtype) != kind:
            found[name] = found[name].astype(kind)
    return found


def _of_arrays(column):
    """Tell whether a column holds arrays of numbers, which are returned unchanged."""
    return (
        len(column) > 0
        and column.dtype == "object"
        and all(isinstance(one, np.ndarray) and one.ndim == 1 and one.dtype.kind in "iuf" for one in column)
    )


def _same(one, other):
    """Tell whether two columns hold equal values of equal types."""
    if one.dtype != "object":
        return one.equals(other)
    if _of_arrays(other):
        return all(a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))
    return list(map(repr, one)) == list(map(repr, other))


def _kind(name, kind):
    """Describe the type of a column for the file's notes."""
    if isinstance(kind, pd.CategoricalDtype):
        categories = kind.categories.tolist()
        if not all(isinstance(one, str | int | float) for one in categories):
            raise TypeError(f"the column {name} has categories such as {categories[0]!r}, expected texts or numbers")
        return {"categories": categories, "dtype": str(kind.categories.dtype), "ordered": kind.ordered}
    return str(kind)


def _cell(pa, value):
    """Convert a value of a run to one that a column can hold."""
    try:
        pa.scalar(value)
    except UNKEPT:
        return str(value).encode(errors="backslashreplace").decode()
    return value


def _one_row(pa, measured):
    arrays, kinds = {}, {}
    for name, value in measured.items():
        try:
            if value is pd.NaT:
                arrays[name], kinds[name] = pa.nulls(1), ["NaT", ""]
                continue
            is_large = isinstance(value, int) and 2**63 <= value < 2**64
            arrays[name] = pa.array([value], pa.uint64()) if is_large else pa.array([value])
            if isinstance(value, pd.Timestamp | pd.Timedelta):
                is_date = isinstance(value, pd.Timestamp)
                kind = pa.timestamp(value.unit, arrays[name].type.tz) if is_date else pa.duration(value.unit)
                arrays[name] = pa.array([value], kind)
                kinds[name] = [type(value).__name__, value.unit]
        except UNKEPT:
            words = f"measure {name} is {value!r}, which no column of a store can hold"
            raise TypeError(f"{words}; give it as a float or a text") from None
    return pa.table(arrays) if arrays else pa.table({"_": [0]}).select([]), kinds


class Part:
    """A file of results."""

    def __init__(self, path: Path, table, function: str):
        self.path, self.table, self.function = path, table, function
        notes = json.loads(table.schema.metadata[b"schedlab"])
        self.given, self.measures = notes["values"], notes["measures"]
        self.names = notes.get("names")  # of the columns of a run's table, unless all are texts
        self.failures = "error" in table.schema.names and "error" not in self.measures

    def keys(self) -> list[str]:
        """Return the key of each row."""
        return self.table.column("run_key").to_pylist()

    def ends(self) -> list[tuple]:
        """Return key and end time of each row."""
        return list(zip(self.keys(), self.table.column("run_finished").to_pylist(), strict=True))

    def table_of(self, wanted):
        """Return the rows of the runs whose keys meet a condition."""
        keys = self.keys()
        chosen = [place for place, key in enumerate(keys) if wanted(key)]
        return _taken(self.table, chosen)

    def origins(self) -> Iterator[tuple[str, str, list]]:
        """Return column, label and origin of each value that has one."""
        texts = self.table.column("run_origins").to_pylist()
        kept = {text: json.loads(text) for text in texts}
        for name in dict.fromkeys(name for origins in kept.values() for name in origins):
            labels = self.table.column(name).to_pylist()
            for text, label in dict.fromkeys(zip(texts, labels, strict=True)):
                if name in kept[text]:
                    yield name, label, kept[text][name]

    def frame(self, names: Mapping) -> pd.DataFrame:
        """Return the rows, with values named as among all stored values."""
        table = self.table.filter(_parquet()[0].compute.not_equal(self.table.column("run_row"), EMPTY))
        found = table.to_pandas()
        origins = [json.loads(text) for text in found["run_origins"]]
        for name in dict.fromkeys(name for one in origins for name in one):
            own = [one.get(name) for one in origins]
            found[name] = [
                names[name, label, tuple(origin)] if origin else label
                for label, origin in zip(found[name], own, strict=True)
            ]
        found["run_finished"] = found["run_finished"].dt.tz_localize(None)
        return found.drop(columns=["run_origins", "run_kinds"]).assign(function=self.function)

    def results(self, wanted: set) -> dict[str, Result]:
        """Return the results of the runs that are wanted."""
        pa, _ = _parquet()
        if not len(table := self.table_of(wanted.__contains__)):
            return {}
        rows = table.column("run_row").to_pylist()
        texts = table.column("run_kinds").to_pylist()
        known = {text: json.loads(text) for text in set(texts)}
        kinds = [known[text] for text in texts]
        columns = {name: table.column(name).to_pylist() for name in ("run_key", "run_seconds", "run_host")}
        finished = [one / 1000 for one in table.column("run_finished").cast(pa.int64()).to_pylist()]
        if self.failures:
            texts = (table.column(name).to_pylist() for name in OF_FAILURES)
            measured = [Failure(words, at) for words, at in zip(*texts, strict=True)]
        elif rows[0] == ALONE:
            measured = self._alone(table, kinds)
        else:
            return self._tables(table, rows, kinds, columns, finished)
        return {
            key: Result(one, seconds, at, host)
            for one, at, key, seconds, host in zip(measured, finished, *columns.values(), strict=True)
        }

    def _alone(self, table, kinds):
        own = {name: table.column(name).to_pylist() for name in self.measures}
        for place, its in enumerate(kinds):
            for name, (kind, unit) in its.items():
                own[name][place] = _time(kind, unit, own[name][place])
        if not own:
            return [{} for _ in range(len(table))]
        return [dict(zip(own, values, strict=True)) for values in zip(*own.values(), strict=True)]

    def _tables(self, table, rows, kinds, columns, finished):
        pa, _ = _parquet()
        kept = table.filter(pa.compute.not_equal(table.column("run_row"), EMPTY)).select(self.measures)
        whole, values = kept.to_pandas(), cache(lambda name: kept.column(name).to_pylist())
        found, begin = {}, 0  # a run's rows are consecutive; one whose table has none has a row here, and none there
        for key, own in groupby(zip(columns["run_key"], rows, range(len(rows)), strict=True), lambda one: one[0]):
            (_, first, place), *more = own
            end = begin + (first != EMPTY) + len(more)
            part = whole.iloc[begin:end].reset_index(drop=True)
            part = _as_it_was(part, kinds[place], lambda name, begin=begin, end=end: values(name)[begin:end])
            if self.names is not None:
                part.columns = self.names
            found[key] = Result(part, columns["run_seconds"][place], finished[place], columns["run_host"][place])
            begin = end
        return found


def _time(kind, unit, value):
    """Return a pandas time as it was."""
    if kind == "NaT":
        return pd.NaT
    value = {"Timestamp": pd.Timestamp, "Timedelta": pd.Timedelta}[kind](value).as_unit(unit)
    zone = getattr(value, "tz", None)
    if zone is not None and str(zone).startswith(("pytz.FixedOffset", "+", "-")):  # before pandas 3.0 as pytz's
        value = value.tz_convert(timezone(value.utcoffset()))
    return value


def _alike(tables):
    """Join tables with the same columns; a column without values takes any type."""
    pa, _ = _parquet()
    groups = []
    for table in tables:
        if not len(table):
            continue
        for group in groups:
            if (schema := _common(pa, group[0], table.schema)) is not None:
                group[0] = schema
                group.append(table)
                break
        else:
            groups.append([table.schema, table])
    found = []
    for schema, *several in groups:
        joint = pa.concat_tables([table.replace_schema_metadata() for table in several], promote_options="default")
        found.append(joint.select(schema.names).replace_schema_metadata(schema.metadata))
    return found


def _common(pa, one, other):
    """Return a common schema for two tables; None if their columns differ."""
    if one.equals(other, check_metadata=True):
        return one
    if one.names != other.names or one.metadata[b"schedlab"] != other.metadata[b"schedlab"]:
        return None
    pairs = list(zip(one, other, strict=True))
    if any(a.type != b.type and not pa.types.is_null(a.type) and not pa.types.is_null(b.type) for a, b in pairs):
        return None
    metadata = one.metadata
    if b"pandas" in metadata:
        columns = {each["field_name"]: each for schema in (other, one) for each in _of_pandas(schema)["columns"]}
        metadata |= {b"pandas": json.dumps(_of_pandas(one) | {"columns": list(columns.values())}).encode()}
    return pa.schema([b if pa.types.is_null(a.type) else a for a, b in pairs], metadata)


def _once(table, seen=()):
    """Leave out runs that occur twice, or were seen elsewhere; the rows of a run are consecutive."""
    seen, chosen, last = set(seen), [], None
    rows = table.column("run_row").to_pylist()
    for place, (key, row) in enumerate(zip(table.column("run_key").to_pylist(), rows, strict=True)):
        if row <= 0:  # the first or only row of a run
            last = None if key in seen else key
            seen.add(key)
        if key == last:
            chosen.append(place)
    return _taken(table, chosen)


def _leave_out(parts):
    """Leave out failures of runs that succeeded since, all but the last failure of a run, and duplicates."""
    made = set().union(*(part.keys() for part in parts if not part.failures))
    failures, last = [part for part in parts if part.failures], {}
    for key, at in (one for part in failures for one in part.ends()):
        last[key] = max(at, last.get(key, at))
    for part in failures:
        stands = [place for place, (key, at) in enumerate(part.ends()) if key not in made and at == last[key]]
        part.table = _taken(part.table, stands)
    there = set()
    for part in parts:
        part.table = _once(part.table, there)
        there.update(part.keys())


def _taken(table, chosen):
    """Return some rows of a table."""
    if len(chosen) == len(table):
        return table
    return table.take(chosen) if chosen else table.slice(0, 0)


def _read(path):
    """Read a file of results; None, with a warning, if it is damaged: cut short by a full disk or a power failure."""
    _, pq = _parquet()
    try:
        table = pq.ParquetFile(path).read()
        table.validate(full=True)
        if json.loads(table.schema.metadata[b"schedlab"])["format"] != FORMAT:
            raise ValueError("of another version of schedlab")
        return table
    except FileNotFoundError:
        raise
    except Exception:  # of damaged files: OSError, UnicodeDecodeError, KeyError, Arrow's own; its runs are made again
        words = "it is damaged, or from another version of schedlab; delete it"
        warnings.warn(f"{path} is skipped: {words}", stacklevel=4)
        return None


def _names(origins):
    """Distinguish values with the same label, by column, as the table of a grid does."""
    labels = {}
    for name, label, origin in dict.fromkeys((name, label, tuple(origin)) for name, label, origin in origins):
        labels.setdefault(name, []).append((label, origin))
    found = {}
    for name, several in labels.items():
        names = told_apart([(label, list(origin[1:])) for label, origin in several])
        found |= {(name, *one): told for one, told in zip(several, names, strict=True)}
    return found


def _instant(since):
    """Convert a date, or a length of time before now, to seconds since 1970; 0 for None."""
    if since is None:
        return 0.0
    try:
        if isinstance(since, timedelta) or (isinstance(since, str) and re.fullmatch(r"\d+ ?[a-z]+", since)):
            if (ago := pd.Timedelta(since).total_seconds()) > 0:
                return time.time() - ago
        elif isinstance(since, str | date):
            instant = pd.Timestamp(since)
            return (instant.tz_localize("UTC") if instant.tz is None else instant).timestamp()
    except ValueError:
        pass  # it is neither
    raise ValueError(f"asked_since is {since!r}, expected a date such as 2026-03-01, or a time such as 30 days")


def _name_of(run):
    function = innermost(run)
    return getattr(function, "__qualname__", type(function).__name__)


def asker(run) -> str:
    """Name the requester: the notebook or script, or the file in which a function is defined."""
    function = innermost(run)
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    path = Path(code.co_filename) if code is not None else None
    if path is not None and path.is_file() and "ipykernel" not in str(path):
        return str(path.resolve())
    main = __import__("__main__")
    notebook = os.environ.get("JPY_SESSION_NAME") or getattr(main, "__vsc_ipynb_file__", "")
    script = None if "ipykernel" in sys.modules else getattr(main, "__file__", None)
    return notebook or script or f"session {SESSION}"  # no later session will request the same in its place


def _source(run):
    with suppress(OSError, TypeError):
        return getsource(innermost(run))
    return ""


def _is_current(note, newest):
    """Tell whether a note is of the latest version of a function, or of the session that requested that version."""
    _, version, session = newest
    return note["version"] == version or note["session"] == session  # a session may use two functions of one name


def _words(values):
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _write_json(path, content):
    with replacing(path) as part:
        part.write_text(json.dumps(content), encoding="utf-8")


def _jsons(folder):
    for path in sorted(folder.glob("[!.]*.json")):
        with suppress(OSError, ValueError):  # it was just deleted, or is damaged
            if isinstance(found := json.loads(path.read_text(encoding="utf-8")), dict) and found:
                yield found
