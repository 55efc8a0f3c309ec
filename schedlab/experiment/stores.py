"""A folder that keeps the results of grids: a line of JSON for each run, with a checksum. Nothing is pickled.

A store has one folder per function, in one version of its code and of the package: when either changes, results go into
another folder. Each process appends to a file of its own, at once when a run ends. So a process that is killed loses
only what it was running, and any number of processes can write at the same time. A line counts if it is whole and its
checksum is right.
"""

import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from datetime import date, timedelta
from errno import EACCES
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from uuid import uuid4

import pandas as pd

from .._runtime.paths import replacing
from .._runtime.remarks import SchedlabWarning
from .._runtime.text import plain, spelt
from ..workload.labels import told_apart
from .results import HOST, OF_FAILURES, Failure, Result, tabled
from .written import read, read_table, written_row, written_table

try:
    from fcntl import LOCK_EX, flock
except ModuleNotFoundError:  # Windows: there, `prune` should run alone
    flock = None

ABOUT = "README.txt"  # marks a folder as a store
LOCK = ".lock"  # whoever changes a file of the store holds it
WORDS = """\
This folder keeps the results of grids of schedlab: a folder for each function, as its code was, and in its files a line
of JSON for each run. What JSON does not have is an object with one entry, such as {{"float": "nan"}}. In Python:

    import schedlab as sl
    table = sl.store("{folder}").table()
"""
OWN = ("run_seconds", "run_finished", "run_host", "run_key", "study")  # the last columns of the table of a store
RESERVED = (*OF_FAILURES, *OWN, "function")
SESSION = uuid4().hex[:8]
CHECK, DIGITS = ', "sha256": "', 16  # what stands before the checksum of a line, and its digits
_asked = set()  # keys of the runs that this session has asked for


def store(path: str | os.PathLike) -> "Store":
    """Open a store: the folder where `grid` keeps results. Raises FileNotFoundError if there is no store.

    Parameters
    ----------
    path : path
        The folder, as passed to `grid`.

    Returns
    -------
    Store
        `Store.table` reads all results; `Store.prune` deletes those that are no longer used.

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
    opened = Store(path)
    if not (opened.path / ABOUT).is_file():
        raise FileNotFoundError(f"{plain(str(path))}: no store, expected a folder that grid(..., store=) has made")
    return opened


storing_in = ContextVar("storing_in", default=None)  # the store of the enclosing block


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
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64, seed=1)
    >>> with TemporaryDirectory() as folder:
    ...     with sl.experiment.storing(folder):
    ...         table = sl.sweep(trace, ["fcfs", "easy"], load=[0.6, 0.8])
    ...     len(sl.store(folder).table())
    4
    """
    before = storing_in.set(None if path is None else Store(path))
    try:
        yield
    finally:
        storing_in.reset(before)


class Store:
    """The results of grids in a folder, as `store` opens it.

    Parameters
    ----------
    path : path or Store
        The folder; unlike for `store`, it need not exist yet.
    """

    def __init__(self, path: "str | os.PathLike | Store"):
        self.path = path.path if isinstance(path, Store) else Path(path).expanduser().absolute()

    def __repr__(self) -> str:
        studies = self.studies()
        rows = [f"   {study.folder.name}: {len(study.runs()):,} runs" for study in studies]
        count = f"{len(studies)} {'study' if len(studies) == 1 else 'studies'}"
        return "\n".join([f"<Store {self.path}: {count}", *rows]) + ">"

    def make(self) -> None:
        """Create the folder, unless it exists. Raises ValueError if it is a file, or holds something else."""
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"{plain(str(self.path))}: expected a folder for the store, found a file")
        self.path.mkdir(parents=True, exist_ok=True)
        others = [plain(path.name) for path in _listed(self.path)]
        if not (about := self.path / ABOUT).is_file():
            if others:
                name = plain(str(self.path))
                raise ValueError(f"{name}: expected an empty folder or a store; it contains {others[0]}")
            with replacing(about) as part:
                part.write_text(WORDS.format(folder=self.path), encoding="utf-8")

    def studies(self) -> list["Study"]:
        """Return all studies: the functions of which there are runs, each as its code was."""
        return [study for folder in _listed(self.path) if folder.is_dir() and (study := Study(folder)).files()]

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
        runs = [run | {"study": study.folder.name} for study in self.studies() for run in study.runs().values()]
        runs = [run for run in runs if function in (None, run["function"])]
        runs.sort(key=itemgetter("study", "finished", "key"))
        values = [{"function": run["function"], **values} for run, values in zip(runs, _values(runs), strict=True)]
        facts = itemgetter("seconds", "finished", "host", "key", "study")
        ends = [{"finished": pd.Timestamp(round(1000 * run["finished"]), unit="ms")} for run in runs]
        last = [dict(zip(OWN, facts(run | end), strict=True)) for run, end in zip(runs, ends, strict=True)]
        table = tabled(values, [_result(run) for run in runs], True, last)
        front = dict.fromkeys(["function", *(name for row in values for name in row)])
        back = [*OF_FAILURES, *OWN]
        return table.reindex(columns=[*front, *(name for name in table if name not in {*front, *back}), *back])

    def prune(
        self, *, older_than: str | date | timedelta | None = None, unasked: bool = False, dry_run: bool = False
    ) -> pd.DataFrame:
        """Delete and list the results that meet all conditions; raise ValueError without one, or for a wrong instant.

        Parameters
        ----------
        older_than : date, datetime, timedelta or text, optional
            Results of runs that ended before then: a date, ``"2026-03-01"``, or a time before now, ``"30 days"``.
        unasked : bool
            Results that no grid has asked for in this session. So after a notebook has run as a whole, what is left
            over from earlier versions of it can go.
        dry_run : bool
            Delete nothing; only list what would be deleted.

        Returns
        -------
        DataFrame
            One row per study from which something is deleted: study, function, runs, bytes, last_finished (UTC).
        """
        if older_than is None and not unasked:
            raise ValueError("prune needs a condition, such as older_than='30 days' or unasked=True")
        before = float("inf") if older_than is None else _instant(older_than)
        rows = []
        for study in self.studies():
            runs = study.runs()
            gone = {key for key, run in runs.items() if run["finished"] < before and not (unasked and key in _asked)}
            if gone:
                freed = study.delete(gone, dry_run)
                last = max(runs[key]["finished"] for key in gone)
                function = next(iter(runs.values()))["function"]
                rows.append((study.folder.name, function, len(gone), freed, pd.Timestamp(round(last), unit="s")))
        return pd.DataFrame(rows, columns=["study", "function", "runs", "bytes", "last_finished"])


class Study:
    """The results of one version of a function, in a folder. It can be sent to other processes.

    If `required`, a run whose result cannot be stored has failed; otherwise its result is returned but not kept.
    """

    def __init__(self, folder: Path, function: str = "", required: bool = True):
        self.folder, self.function, self.required = folder, function, required

    def files(self) -> list[Path]:
        """Return the files of all processes that have written."""
        return [path for path in _listed(self.folder) if path.suffix == ".jsonl"]

    def check_writable(self, count: int) -> None:
        """Raise if the store is read-only; `count` runs are missing in it."""
        with suppress(OSError):
            self.folder.mkdir(exist_ok=True)
        if not os.access(self.folder, os.W_OK):
            message = f"this store is read-only, and {count:,} {'run is' if count == 1 else 'runs are'} missing"
            raise PermissionError(EACCES, message, str(self.folder.parent))

    def keep(self, key: str, values: Mapping, result: Result) -> None:
        """Store a result, completely or not at all. Raises TypeError for a measure that cannot be stored."""
        measured = result.measured
        if result.failed:
            what = {"error": [measured.words, measured.at]}
        elif isinstance(measured, pd.DataFrame):
            what = {"table": written_table(measured)}
        else:
            what = {"measured": written_row(measured)}
        about = {"seconds": result.seconds, "finished": result.finished, "host": result.host}
        run = {"key": key, "function": self.function, "values": values, **what, **about, "files": dict(result.files)}
        text = json.dumps(run, allow_nan=False)
        line = f'{text[:-1]}{CHECK}{_checksum(text)}"}}\n'.encode()
        with _locked(self.folder.parent):
            self.folder.mkdir(exist_ok=True)
            with open(self.folder / f"{HOST}-{os.getpid()}-{SESSION}.jsonl", "ab", buffering=0) as file:
                size = file.tell()
                try:
                    while line:
                        line = line[file.write(line) :]
                except BaseException:  # a full disk, or an interrupt
                    with suppress(OSError):
                        file.truncate(size)
                    raise

    def runs(self) -> dict[str, dict]:
        """Return the runs, as written, by key: the latest of each, and none that failed if another succeeded."""
        runs = []
        for path in self.files():
            with suppress(FileNotFoundError):  # it was pruned just now
                runs.extend(_runs(path, path.read_bytes()))
        runs.sort(key=lambda run: ("error" not in run, run["finished"]))
        return {run["key"]: run for run in runs}

    def results(self, keys: Iterable[str]) -> dict[str, Result]:
        """Return the results of some runs; note that this session has asked for them."""
        _asked.update(keys)
        runs = self.runs()
        return {key: _result(runs[key]) for key in dict.fromkeys(keys) if key in runs}

    def delete(self, keys: set[str], dry_run: bool = False) -> int:
        """Delete some runs, and the folder if it becomes empty; return how many bytes that frees."""
        freed = 0
        with nullcontext() if dry_run else _locked(self.folder.parent):
            for path in self.files():
                lines = path.read_bytes().splitlines(keepends=True)
                left = [line for line in lines if not any(run["key"] in keys for run in _runs(path, line))]
                freed += sum(map(len, lines)) - sum(map(len, left))
                if not (dry_run or left):
                    path.unlink()
                elif not dry_run and len(left) < len(lines):
                    with replacing(path) as part:
                        part.write_bytes(b"".join(left))
            with suppress(OSError):  # it is not empty
                self.folder.rmdir()
        return freed


def study_of(plan, store: Store, required: bool) -> Study:
    """Return the study of a plan. Raises ValueError for a value that is named as a column of the store."""
    if both := sorted({name for names in plan.names for name in names} & set(RESERVED)):
        columns = "is a reserved column" if len(both) == 1 else "are reserved columns"
        raise ValueError(f"{', '.join(both)} {columns} of a store; give the function's parameters other names")
    function = getattr(plan.run, "func", plan.run)  # within a partial function
    name = getattr(function, "__qualname__", type(function).__name__)
    short = re.sub(r"\W+", "-", name).strip("-")[-40:]
    return Study(store.path / f"{short}-{plan.about[:DIGITS]}", name, required)


def _listed(folder):
    """Return what is in a folder, but for hidden files; nothing if it is no folder, or has just been deleted."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    return []


@contextmanager
def _locked(folder):
    """Let no other process or thread change the files of a store."""
    with open(folder / LOCK, "ab") as file:
        with suppress(OSError):  # some file systems have no locks
            if flock is not None:
                flock(file, LOCK_EX)
        yield


def _runs(path, content):
    """Yield the runs of lines that are whole; warn of others, but for the last, which may just be written."""
    lines = content.split(b"\n")[:-1]
    for number, line in enumerate(lines, start=1):
        try:
            text, check, checksum = line.decode().rpartition(CHECK)
            if not check or checksum != f'{_checksum(f"{text}}}")}"}}':
                raise ValueError("another checksum")
            yield json.loads(f"{text}}}")
        except ValueError:
            message = f"{path}:{number}: this run is skipped, since its line is damaged"
            warnings.warn(message, SchedlabWarning, stacklevel=3)


def _checksum(text):
    return sha256(text.encode()).hexdigest()[:DIGITS]


def _result(run):
    if "error" in run:
        measured = Failure(*run["error"])
    elif "table" in run:
        measured = read_table(run["table"])
    else:
        measured = {name: read(value) for name, value in run["measured"].items()}
    return Result(measured, run["seconds"], run["finished"], run["host"], run["files"])


def _values(runs):
    """Return the values of runs; those with the same label are told apart as in a grid's table."""
    rows = [{name: read(value) for name, value in run["values"].items()} for run in runs]
    for name in dict.fromkeys(name for row in rows for name in row):
        named = [row for row in rows if isinstance(row.get(name), tuple)]  # label, digest, history
        facts = dict.fromkeys(row[name] for row in named)
        labels = told_apart([(label, history) for label, _, *history in facts])
        names = dict(zip(facts, labels, strict=True))
        for row in named:
            row[name] = names[row[name]]
    return rows


def _instant(older_than):
    """Convert a date, or a length of time before now, to seconds since 1970."""
    with suppress(ValueError):  # it is neither
        if isinstance(older_than, timedelta) or re.fullmatch(r"\d+ ?[a-z]+", str(older_than)):
            if (ago := pd.Timedelta(older_than)) > pd.Timedelta(0):
                return (pd.Timestamp.now("UTC") - ago).timestamp()
        elif isinstance(older_than, str | date):
            instant = pd.Timestamp(older_than)
            return (instant.tz_localize("UTC") if instant.tz is None else instant).timestamp()
    raise ValueError(
        f"older_than is {spelt(older_than)}, expected a date such as 2026-03-01, or a time such as 30 days"
    )
