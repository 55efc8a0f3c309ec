"""Read a table of jobs with any column names: `from_frame` takes a DataFrame, `read_table` a CSV or Parquet file.

Each argument (submit, run, procs, ...) names a column; `tables` reads these.
"""

from __future__ import annotations

import codecs
import json
import re
import warnings
import zlib
from collections.abc import Collection, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from gzip import BadGzipFile
from itertools import takewhile
from numbers import Real
from pathlib import Path
from typing import Literal

import pandas as pd

from schedlab._runtime.files import opened
from schedlab._runtime.text import plain, spelt, suggestion
from schedlab._runtime.words import MissingEstimate

from . import packed, swf
from .packed import readable
from .runs import UnitWarning, trace_of
from .tables import ROLES, UNITS, Table, TableError
from .trace import Trace
from .writing import HEADER, TEXTS

__all__ = ["OPTIONS", "PARQUET", "ROLES", "UNITS", "TableError", "UnitWarning", "from_frame", "loaded", "read_table"]

SETTINGS = ("unit", "time_zone", "lenient", "states", "arrival")
OPTIONS = (*ROLES, "name", "machine", "missing_estimate", *SETTINGS)  # of `from_frame`
PARQUET = (".parquet", ".pq")


def from_frame(
    df: pd.DataFrame,
    *,
    submit=None,
    eligible=None,
    start=None,
    end=None,
    run=None,
    procs=None,
    nodes=None,
    procs_per_node=None,
    gpus=None,
    memory=None,
    estimate=None,
    user=None,
    group=None,
    account=None,
    qos=None,
    reservation=None,
    job_name=None,
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
    states: Literal["swf", "slurm"] | None = None,
    arrival: Literal["submit", "eligible"] = "submit",
) -> Trace:
    """Make a trace of a table with one row per run of a job.

    Required are the submission, the run time (or start and end) and the processors (or nodes). Each argument from
    `submit` to `job` is the name of a column, or the values themselves: a Series with the table's index, or an array.
    `procs`, `nodes`, `procs_per_node` and `estimate` may also be a single number for all jobs.

    Parameters
    ----------
    df : DataFrame
        One row per run, in any order. It is not changed.
    submit, eligible, start, end : column
        Instants: dates with or without a time zone, or numbers on a common clock. If `run` is omitted, `start` and
        `end` give the run time. `start` also gives the waits for `recorded`. `eligible`: see `arrival`.
    run, estimate : column
        Durations: timedeltas, numbers, or text like "2-12:05:30", "12:05:30" and "0 days 12:05:30". `estimate` is the
        requested time; `missing_estimate` says what jobs without one get, and those with UNLIMITED or 4294967295.
    procs : column
        Processors of each job: CPUs, GPUs, nodes, or whatever unit the machine is counted in.
    nodes, procs_per_node : column
        Used instead of `procs`, as their product. `nodes` alone counts nodes as processors.
    gpus : column
        GPUs of each job: numbers, or a TRES such as ``cpu=16,gres/gpu:a100=4``. They are kept, not simulated: for that,
        give them as `procs`.
    memory : column
        Requested memory: text like 4000Mc (for a CPU), 16Gn (for a node), 2T; numbers are MB.
    user, group, queue, partition : column
        Text is numbered from 1 in order of first appearance, and `Trace.names` keeps the names. Whole numbers are kept;
        negative ones mean unknown.
    account, qos, reservation, job_name : column
        Text, kept as ``account``, ``qos``, ``reservation`` and ``name``. An account is no group.
    status : column
        How a job ended: text such as COMPLETED, CD, TIMEOUT, CANCELLED by 1000; truth values; or numbers: see `states`.
    job : column
        Job numbers, also in Slurm's forms (7_4, 7+1); if omitted, rows are numbered from 1. Several rows with one
        number are several runs of a job; the last keeps the number.
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
    states : {"swf", "slurm"}, optional
        What numbers in `status` mean: SWF's (0 failed, 1 completed, 5 cancelled) or Slurm's (1 running, 3 completed, 5
        failed). Numbers above 5, or a table of slurmdbd, can only be Slurm's.
    arrival : {"submit", "eligible"}
        When a job arrives: when it was submitted; or, if that is known, when nothing held it back any more.

    Returns
    -------
    Trace
        It keeps all further columns of the table unchanged. Columns with SWF names fill those fields.

    Warns
    -----
    UnitWarning
        If most jobs run far longer than their estimates.
    GpuWarning
        If jobs have GPUs, and processors are simulated.
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
    - Steps of jobs (``123.batch``) are no jobs. Jobs that still wait or run, by their state or a missing end, are
      omitted; what those that run have done so far is counted as work left out. So are records given twice.
    - Only a submission, a start, an end, a run time or a size that cannot be read is an error, or costs a row. Any
      other value becomes unknown, and `Trace.repaired` lists it.
    - A time that the clock showed twice is read by how long the job ran, or else by order, or else as the earlier one.
      A time that the clock skipped is an error: the time zone is wrong.
    - A job that starts before its submission has no known wait. It is an error if a job ends before its start, or if
      its run time is longer than the time from start to end; except by an hour where no time zone is known.
    - What a table cannot tell: processors that nobody could use, partitions that share nodes, why a job waited.
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
    columns = {"submit": submit, "eligible": eligible, "start": start, "end": end, "run": run, "estimate": estimate}
    columns |= {"procs": procs, "nodes": nodes, "procs_per_node": procs_per_node, "gpus": gpus, "memory": memory}
    columns |= {"user": user, "group": group, "queue": queue, "partition": partition, "status": status, "job": job}
    columns |= {"account": account, "qos": qos, "reservation": reservation, "job_name": job_name}
    table = Table(df, columns, plain(str(name)), df.index, unit, time_zone, lenient, states, arrival)
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
    for role, column in columns.items():
        if not isinstance(column, str | Real | None):
            raise TypeError(f"{role} is a {type(column).__name__}, expected the name of a column")
    path = Path(path)
    file = plain(path.name)
    named = [column for column in columns.values() if isinstance(column, str)]
    frame = loaded(path, None if keep is None else [*keep, *named, *swf.FIELDS], separator)
    if missing := [column for column in keep or () if column not in frame.columns]:
        raise TableError(f"{file}: no column {missing[0]!r} to keep{suggestion(missing[0], frame.columns)}")
    name = options.pop("name", packed.without_suffix(file).rpartition(".")[0] or file)
    settings = {option: options.pop(option) for option in ("machine", "missing_estimate") if option in options}
    table = Table(frame, columns, file, range(1, len(frame) + 1), **options)
    header = swf.Header(tuple(frame.attrs.get("header", ())))
    settings["machine"] = settings.get("machine") or header.procs
    trace = trace_of(table, name, **settings)
    if header.lines:  # of a trace that was written here
        trace = replace(trace, header=header, history=trace.history[1:])
    return replace(trace, files=opened(path))


def loaded(path: Path, wanted: Collection[str] | None = None, separator: str | None = None) -> pd.DataFrame:
    """Load the wanted columns that a file has; all if `wanted` is None. See `read_table`.

    ``attrs["columns"]`` of the result lists all columns of the file.
    """
    file = plain(path.name)
    opened(path)
    with readable(path, "a table (.csv, .parquet)"):
        if path.suffix in PARQUET or path.is_dir():
            known, read, header = _parquet(path, file)
        else:
            known, read, header = _text_table(path, file, separator or ("\t" if ".tsv" in path.suffixes else ","))
        frame = read(None if wanted is None else [name for name in known if name in wanted])
    frame.attrs |= {"columns": known, "header": header}
    return frame


def _parquet(path, file):
    """Return the columns of a Parquet file or of a folder of them, a function that reads some, and a trace's header."""
    try:
        from pyarrow import ArrowInvalid, dataset
    except ModuleNotFoundError:
        raise ModuleNotFoundError(f'{file}: Parquet needs pyarrow: pip install "schedlab[parquet]"') from None
    parts = sorted(part for part in path.rglob("*") if part.suffix in PARQUET) if path.is_dir() else [path]
    if not parts:
        raise TableError(f"{file}: a folder without Parquet files, expected some (.parquet)")

    @contextmanager
    def sound():
        try:
            yield
        except ArrowInvalid as error:
            raise TableError(f"{file}: not a Parquet file, or a damaged one ({str(error).splitlines()[0]})") from None

    def read(columns):
        stored = None if columns is None else [name for name in columns if name in table.schema.names]
        with sound():
            frame = table.to_table(stored).to_pandas()
        frame = frame.reset_index(level=[name for name in frame.index.names if name is not None])
        return frame if columns is None else frame[columns]

    with sound():
        table = dataset.dataset([str(part) for part in parts], format="parquet")
        index = (table.schema.pandas_metadata or {}).get("index_columns", ())
    ranges = [level["name"] for level in index if isinstance(level, dict) and level["name"]]  # not stored in the file
    header = json.loads((table.schema.metadata or {}).get(HEADER.encode(), b"[]"))
    return [*ranges, *table.schema.names], read, header


def _text_table(path, file, separator):
    """Return the columns of a text file, a function that reads some of them, and the header of a trace above them."""
    with packed.sound(file, "packed", TableError), packed.opener(path) as stream:
        encoding = "utf-16" if stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8"
    with packed.sound(file, "packed", TableError), packed.opener(path) as stream:
        lines = iter(stream.readline, b"")
        header = [packed.decoded(line).rstrip() for line in takewhile(lambda line: line.startswith(b";"), lines)]
    above = len(header)
    texts = json.loads(header.pop().removeprefix(TEXTS)) if header and header[-1].startswith(TEXTS) else []

    def read(columns=None, **options):
        options |= {"sep": separator, "usecols": columns, "index_col": False, "skiprows": above}
        options |= {"dtype": dict.fromkeys(texts, "str"), "encoding": encoding}
        try:
            with packed.opener(path) as stream, warnings.catch_warnings():
                warnings.simplefilter("error", pd.errors.ParserWarning)
                return pd.read_csv(stream, skipinitialspace=True, low_memory=False, **options)
        except pd.errors.EmptyDataError:
            raise TableError(f"{file}: the file is empty, expected a header and a row for each job") from None
        except pd.errors.ParserWarning:
            problem = (
                f"more fields in the first row than in the header; is {spelt(separator)} in a number, without quotes?"
            )
            raise TableError(f"{file}: {problem}") from None
        except pd.errors.ParserError as error:
            match = re.search(r"Expected ([0-9]+) fields in line ([0-9]+), saw ([0-9]+)", str(error))
            problem = f":{match[2]}: {match[3]} fields, expected {match[1]}" if match else f": no table ({error})"
            raise TableError(f"{file}{problem}") from None
        except (UnicodeDecodeError, EOFError, zlib.error, BadGzipFile) as error:
            raise TableError(f"{file}: not text in UTF-8, or damaged ({error})") from None

    known = read(nrows=1).columns.tolist()  # a row, to see whether it fits
    written = {"keep_default_na": False, "na_values": {name: [""] for name in known if name not in texts}}
    return known, partial(read, **written) if texts else read, header
