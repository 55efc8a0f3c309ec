"""Read what Slurm's `sacct --parsable2` writes: the accounting of a cluster, as a `Trace`.

An export is text: a line of column names, then one line per record, with fields separated by ``|``. A record is a job,
one run of a requeued job, or a step of a job. `read_sacct` says which columns it needs and how it uses each.

References
----------
SchedMD, "sacct" (manual page), https://slurm.schedmd.com/sacct.html
"""

import gzip
import hashlib
import os
import re
import warnings
import zlib
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from schedlab._runtime import paths
from schedlab._runtime.files import opened
from schedlab._runtime.text import check_known, plain, suggestion
from schedlab._runtime.words import MissingEstimate

from . import filter as load_filter
from . import swf
from .loading import from_log
from .readers import (
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
from .swf import MOST_PROCS
from .trace import Trace

COMMAND = (
    "sacct --allusers --allocations --duplicates --parsable2 --noconvert"
    " --starttime=2024-03-01 --endtime=2024-04-01"
    " --format=JobID,JobIDRaw,Cluster,Partition,User,Group,Submit,Eligible,Start,End,"
    "ElapsedRaw,TimelimitRaw,AllocCPUS,NNodes,ReqMem,State > jobs.txt"
)
PROCS_OF = {"cpus": ("AllocCPUS", "NCPUS", "ReqCPUS"), "nodes": ("NNodes", "AllocNodes", "ReqNodes")}
USER = ("User", "UID")
GROUP = ("Group", "GID", "Account")
# Columns in which users may write what they like, even a '|'.
FREE_TEXT = ("JobName", "Comment", "AdminComment", "SystemComment", "Extra", "SubmitLine", "WorkDir")
FREE_TEXT += ("StdIn", "StdOut", "StdErr")
ARRIVAL = {"submit": "Submit", "eligible": "Eligible"}

WAITING = ("PENDING", "CONFIGURING", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "POWER_UP_NODE")
RUNNING = ("RUNNING", "SUSPENDED", "STOPPED", "COMPLETING", "SIGNALING", "STAGE_OUT", "UPDATE_DB", "EXPEDITING")
_STATES = (*ENDED, *WAITING, *RUNNING)

_GZIP_MAGIC = b"\x1f\x8b"
_JOB = re.compile(r"([0-9]{1,15})(?:_(?:[0-9]+|\[[^]]*\]?)|\+[0-9]+)?(\..+)?")  # 7, 7_4, 7_[5-9%2], 7+1; then the step
_EPOCH = re.compile(r"[0-9]{9,11}")  # 1973 to 5138
_DATE = re.compile(
    r"(?:19|20|21)[0-9]{2}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_MEMORY = re.compile(r"([0-9]{1,12}(?:\.[0-9]+)?)([KMGTP]?)([cn]?)", re.IGNORECASE)
_KILOBYTES = {"K": 1, "": 1024, "M": 1024, "G": 1024**2, "T": 1024**3, "P": 1024**4}
_WHOLE = re.compile(r"[0-9]{1,12}")
FEW_NAMED = 10  # clusters, in a message
LEAST_BARS = 5  # in each record: with fewer columns, it is not such an export
MOST_MEMORY = 1024**5  # kilobytes, an exabyte

ADVICE = (
    "if they share their nodes, name them all with partition=; if each has its own, do so and simulate with "
    "machine={name: processors, ...}"
)
A_TIME = "a time like 2024-03-01T12:00:00, seconds since 1970 (SLURM_TIME_FORMAT=%s), Unknown or None"
A_COUNT = "a whole number (run sacct with --noconvert)"
A_MEMORY = "an amount of memory like 4000Mc, 16Gn, 2T or 0"


class PartitionWarning(UserWarning):
    """Jobs of several partitions are put on one machine."""


class SacctError(ValueError):
    """`read_sacct` cannot read a file; the message says where, what was found and what was expected."""


def example_path() -> Path:
    """Return the path of a small invented export that comes with the package."""
    return paths.data_dir() / "sacct-example.txt"


def is_export(path: str | os.PathLike) -> bool:
    """Tell whether a file looks like sacct's output, with --parsable2 or in a form that `read_sacct` refuses."""
    with suppress(OSError, EOFError, zlib.error):  # a damaged file is reported when it is read
        with open(path, "rb") as stream:
            gzipped = stream.read(2) == _GZIP_MAGIC
        with (gzip.open if gzipped else open)(path, "rb") as stream:
            first = next((line for line in iter(lambda: stream.readline(10_000), b"") if line.strip()), b"").lstrip()
            return not first.startswith(b";") and (b"jobid" in first.lower() or first.count(b"|") >= LEAST_BARS)
    return False


def read_sacct(
    path: str | os.PathLike,
    *,
    machine: int | None = None,
    procs_of: Literal["cpus", "nodes"] = "cpus",
    partition: str | Collection[str] | None = None,
    arrival: str = "submit",
    time_zone: str | None = None,
    missing_estimate: MissingEstimate = "run",
    names: bool = False,
    lenient: bool = False,
) -> Trace:
    """Read Slurm's accounting, as written by `sacct --parsable2`, and keep the jobs that can be simulated.

    Run this command on the cluster, on one line and without ``--truncate``, which would change the times. With
    ``SLURM_TIME_FORMAT=%s`` in front of it, times are exact whatever the time zone::

        sacct --allusers --allocations --duplicates --parsable2 --noconvert
        --starttime=2024-03-01 --endtime=2024-04-01
        --format=JobID,JobIDRaw,Cluster,Partition,User,Group,Submit,Eligible,Start,End,
        ElapsedRaw,TimelimitRaw,AllocCPUS,NNodes,ReqMem,State > jobs.txt

    Parameters
    ----------
    path : path
        The output, plain or gzipped. Several outputs may be joined in one file.
    machine : int, optional
        Size of the machine, in the unit of `procs_of`. sacct does not record it. Default: the most that the kept jobs
        used at one instant; `Trace.history` then says so, and the real machine may be larger.
    procs_of : {"cpus", "nodes"}
        Unit of jobs and machine. Use "nodes" if each node is given to one job at a time.
    partition : str, or several, optional
        Keep only the jobs of this partition, or of these. All jobs go to one machine, so name several partitions only
        if they share their nodes.
    arrival : {"submit", "eligible"}
        When a job arrives.

        - "submit": when it was submitted.
        - "eligible": when nothing held it back any more (such as a dependency or a begin time), if that is known.
    time_zone : str, optional
        Time zone of the cluster, such as "Europe/Stockholm". Default: UTC. Seconds since 1970 need it only to show
        dates.
    missing_estimate : "run", "drop" or a number of seconds
        What to do with a job without a time limit (UNLIMITED, Partition_Limit), as in `read_swf`.
    names : bool
        Keep the names of users and groups, for classes (``schedule.metrics(by="user")``). They are never written to a
        file, but appear in what you show.
    lenient : bool
        Skip bad lines instead of raising; `Trace.dropped` lists them.

    Returns
    -------
    Trace
        Users, groups and partitions are numbered in order of first appearance. The header keeps the names of the
        partitions and of the cluster. Names of users and groups are kept only with `names`.

    Warns
    -----
    PartitionWarning
        If jobs of several partitions go to one machine and `partition` does not name them.
    LoadWarning
        If jobs with more than 1 % of the work are left out, for example because they are wider than the machine.

    Raises
    ------
    SacctError
        Names file, line, field, value and what was expected.

    Notes
    -----
    Columns may be in any order; others are ignored. A ``|`` inside a JobName, Comment or similar column is told apart
    from a separator by counting from both ends of the line. If there are several such columns, all extra ``|`` of a
    record must be in the same one.

    ===========  ======================================================================================
    needed       JobID or JobIDRaw (both is best); Submit; Start; State;
                 ElapsedRaw or Elapsed or End; TimelimitRaw or Timelimit;
                 AllocCPUS or NCPUS or ReqCPUS, for `procs_of="nodes"` NNodes or AllocNodes or ReqNodes
    optional     End, Partition, User or UID, Group or GID or Account, ReqMem (with NNodes), Eligible, Cluster
    ===========  ======================================================================================

    If several alternatives are present, the first with a known value counts.

    - *Sizes*: the number of processors is what a job occupied, AllocCPUS, not what it requested, ReqCPUS, which is
      smaller if whole cores or nodes are allocated. Both size fields of SWF get it.
    - *Arrays and heterogeneous jobs*: each task, and each component, is a separate job. The information that components
      start together is lost.
    - *Requeued and resized jobs*: each run of a job is a separate job, since each used its share of the machine, and
      Slurm itself gives each its own submit time. The last run keeps the job number; the earlier ones get new numbers,
      listed in `Trace.repaired`.
    - *Omitted*, with the reason in `Trace.dropped`: steps; duplicate records (same job, submission and start; the last
      one with an end is kept); other partitions; jobs still waiting or running; jobs cancelled before they started. A
      pending array is one record. The load filter then omits jobs that lasted 0 s.
    - *Status*: COMPLETED 1; CANCELLED, PREEMPTED, REQUEUED, RESIZING, REVOKED 5; TIMEOUT and all failures 0.
    - *Run times* are Slurm's Elapsed, which excludes the time that a job was suspended. It is an error (with `lenient`,
      a bad line) if Elapsed is longer than from Start to End, or if End is before Start.
    - *Daylight saving*: a time that the clock showed twice means the earlier one, unless the job would then start
      before its submission, end before its start, or end sooner than it ran. A time that the clock skipped is an error:
      the time zone is wrong.
    - *Memory*: "c" means per CPU, "n" per node, neither means per job; 0 and ? mean unknown.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.workload.sacct import example_path
    >>> all_of_it = {"partition": ("debug", "short", "long"), "time_zone": "Europe/Stockholm"}
    >>> trace = sl.read_sacct(example_path(), machine=128, **all_of_it)
    >>> sl.simulate(trace, "easy").validate().metrics()  # doctest: +SKIP
    """
    check_known("procs_of", procs_of, PROCS_OF)
    check_known("arrival", arrival, ARRIVAL)
    zone = zone_named(time_zone)
    path = Path(path)
    file = plain(path.name)
    text = _text(path, file)
    export = _Export(text, file, lenient)
    export.require(procs_of, partition, arrival)
    if not export.rows:
        found = f"{len(export.steps):,} steps, {len(export.bad_lines):,} bad lines"
        raise SacctError(f"{file}: no job in it ({found}), expected a line for each; run\n    {COMMAND}")
    partitions = _partitions(export)
    wanted = None if partition is None else (partition,) if isinstance(partition, str) else tuple(partition)
    for name in wanted or ():
        if name not in partitions:
            known = plain(f"{', '.join(sorted(partitions))}{suggestion(name, partitions)}")
            raise SacctError(f"{file}: no job of partition {name!r}; known: {known}")

    records = _records(export, procs_of, wanted, partitions, arrival, zone)
    reasons = _reasons(export, records, wanted)
    records, epoch = on_the_clock_of_the_log(records)
    left_out = records.loc[reasons != "", list(swf.FIELDS)]
    left_out.insert(0, "reason", reasons[reasons != ""])
    left_out = pd.concat([export.left_out(), left_out.set_index("job_number")])
    highest = max([*export.numbers, *export.steps], default=0)
    jobs, renumbered = _with_numbers_of_their_own(records[reasons == ""].reset_index(drop=True), highest)

    history = ()
    if machine is None:
        machine = max(1, most_in_use(jobs))
        history += (f"size of the machine not in the record; the most {procs_of} in use at one instant: {machine:,}",)
    notes = _notes(procs_of, arrival, time_zone, names)
    header = _header(_cluster(export), partitions, machine, epoch, zone, notes)
    digest = hashlib.sha256(text.encode()).hexdigest()
    nothing_skipped = pd.DataFrame({"line": [], "reason": []})
    log = swf.Log(header, jobs[list(swf.FIELDS)], nothing_skipped, digest, path)
    name = Path(path.name.removesuffix(".gz")).stem
    try:
        trace = from_log(log, name, "file", machine, missing_estimate, left_out)
    except swf.SWFError as error:  # if nothing is left to simulate
        raise SacctError(str(error)) from None
    repaired = pd.concat([renumbered, trace.repaired], ignore_index=True)
    people = {"user_id": _numbers(export, *USER)[1], "group_id": _numbers(export, *GROUP)[1]} if names else None
    pooled = _pooled(jobs[jobs["job_number"].isin(trace.table.index)], partitions, machine)
    if len(pooled) > 1:
        words = f"{len(pooled)} partitions on one machine of {machine:,} {procs_of}: {_uses(pooled)}"
        history += (words,)
        if partition is None:
            warnings.warn(f"{file}: {words}; {ADVICE}", PartitionWarning, stacklevel=2)
    return replace(trace, repaired=repaired, history=history, people=people, files=opened(path))


# The text -----------------------------------------------------------------------------------------------


def _text(path, file):
    opened(path)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(f"{plain(str(path))}: no such file, expected the output of sacct") from None
    if content.startswith(_GZIP_MAGIC):
        try:
            content = gzip.decompress(content)
        except (EOFError, OSError, zlib.error) as error:
            raise SacctError(f"{file}: the gzip stream is damaged ({error}), expected a sound file") from None
    if b"\0" in content[:1024]:
        raise SacctError(f"{file}: the file is binary, expected the output of sacct")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")  # in which any byte is valid


class _Export:
    """The job records of an export, column by column, and its other records.

    Parameters
    ----------
    text, name : str
        Content of the file, and its name for messages.
    lenient : bool
        Collect bad lines instead of raising at the first.
    """

    def __init__(self, text, name, lenient):
        self.name = name
        self.lenient = lenient
        self.steps = []  # job numbers
        self.bad_lines = []  # problems of lines that are not records
        self.bad_rows = {}  # the problem of a record, by its row
        self._texts = {}  # columns already extracted
        lines = [line.rstrip("\r") for line in text.split("\n")]
        head = next((line for line in lines if line.strip()), None)
        if head is None:
            raise SacctError(f"{name}: the file is empty, expected the output of sacct; run\n    {COMMAND}")
        self.fields = self._fields(head, lines.index(head) + 1)
        self.columns = {field.lower(): place for place, field in reversed(list(enumerate(self.fields)))}
        self.identity = "JobID" if "jobid" in self.columns else "JobIDRaw"
        self.lines, self.rows, self.numbers = [], [], []
        for number, line in enumerate(lines, start=1):
            if line.strip() and line != head:  # the header line is repeated where outputs were joined
                self._take(number, line.split("|"))

    def _fields(self, head, number):
        """Return the names of the columns."""
        fields = [field.strip() for field in head.split("|")]
        if not any(field.lower() in ("jobid", "jobidraw") for field in fields):
            expected = "the names of columns with '|' between them, JobID among them (--parsable2, no --noheader)"
            hint = _hint(head)
            raise SacctError(
                f"{self.name}:{number}: found {_clipped(head)!r}, expected {expected}{hint}; run\n    {COMMAND}"
            )
        return fields

    def _take(self, number, row):
        """Add a line to the jobs, the steps or the bad lines."""
        if len(row) > len(self.fields):
            row = self._rejoined(row) or row
        if len(row) != len(self.fields):
            hint = "a '|' or a line end inside a JobName or Comment? leave such columns out"
            self._bad_line(number, f"{len(row)} fields, expected {len(self.fields)} ({hint})")
            return
        found = row[self.columns[self.identity.lower()]]
        raw = row[self.columns.get("jobidraw", self.columns[self.identity.lower()])]
        job = _JOB.fullmatch(found)
        whole = _JOB.fullmatch(raw)
        if not job or not whole:
            column, text = ("JobIDRaw", raw) if job else (self.identity, found)
            self._bad_line(number, self._words(column, text, "a job like 123, 123_4, 123_[5-9] or 123+0, or its step"))
        elif job[2]:
            self.steps.append(int(whole[1]))
        else:
            self.lines.append(number)
            self.rows.append(row)
            self.numbers.append(int(whole[1]))

    def _rejoined(self, row):
        """Rejoin a free text that was split at its own bars; None if it is unclear which text that is."""
        more = len(row) - len(self.fields)
        free = [self.columns[name.lower()] for name in FREE_TEXT if self.has(name)]
        rows = [[*row[:at], "|".join(row[at : at + more + 1]), *row[at + more + 1 :]] for at in free]
        if len(rows) > 1:
            rows = [row for row in rows if self._is_plausible(row)]
        found = {tuple(text for at, text in enumerate(row) if at not in free): row for row in rows}
        return next(iter(found.values())) if len(found) == 1 else None

    def _is_plausible(self, row):
        """Tell whether the fields that are easy to distinguish from free text have plausible values."""
        try:
            for column, parse in PLAUSIBLE.items():
                if self.has(column):
                    parse(row[self.columns[column.lower()]].strip())
        except ValueError:
            return False
        return True

    def _bad_line(self, number, reason):
        if not self.lenient:
            raise SacctError(f"{self.name}:{number}: {reason}")
        self.bad_lines.append(f"{load_filter.BAD_LINE}{number}: {reason}")

    def _words(self, column, text, expected):
        place = self.columns[column.lower()]
        return f"field {place + 1} ({self.fields[place]}) is {_clipped(text)!r}, expected {expected}"

    def has(self, column):
        """Tell whether there is such a column."""
        return column.lower() in self.columns

    def require(self, procs_of, partition, arrival):
        """Raise if columns are missing."""
        needed = [("Submit",), ("Start",), ("State",), ("ElapsedRaw", "Elapsed", "End"), ("TimelimitRaw", "Timelimit")]
        needed += [PROCS_OF[procs_of]]
        needed += [("Partition",)] * (partition is not None) + [("Eligible",)] * (arrival == "eligible")
        missing = [" or ".join(names) for names in needed if not any(map(self.has, names))]
        if missing:
            raise SacctError(f"{self.name}: no column {', no '.join(missing)}; run\n    {COMMAND}")

    def text(self, column):
        """Return a column unchanged: str, shape (n_jobs,); empty texts if it does not exist."""
        if not self.has(column):
            return np.full(len(self.rows), "", dtype=object)
        if column not in self._texts:
            place = self.columns[column.lower()]
            self._texts[column] = np.array([row[place].strip() for row in self.rows], dtype=object)
        return self._texts[column]

    def read(self, parse: Callable[[str], float], *columns: str, most: Callable | None = None) -> np.ndarray:
        """Read the first of some columns that has a value: float64, shape (n_jobs,); nan if unknown.

        `parse` returns the value of a text (nan if unknown), or raises ValueError with the expected format. `most` does
        the same for many texts at once; its nan leaves a text to `parse`.
        """
        values = np.full(len(self.rows), np.nan)
        for column in filter(self.has, columns):
            # Each distinct text once: a month has few durations, sizes and states, and many times are repeated.
            codes, texts = pd.factorize(self.text(column))
            parsed = most(texts) if most else np.full(len(texts), np.nan)
            bad = {}
            for place in np.flatnonzero(np.isnan(parsed)).tolist():
                try:
                    parsed[place] = parse(texts[place])
                except ValueError as expected:
                    bad[place] = self._words(column, texts[place], expected)
            for row in np.flatnonzero(np.isin(codes, list(bad))).tolist():
                self._bad_row(row, bad[codes[row]])
            values = np.where(np.isnan(values), parsed[codes], values)
        return values

    def _bad_row(self, row, reason):
        if not self.lenient:
            raise SacctError(f"{self.name}:{self.lines[row]}: {reason}")
        self.bad_rows.setdefault(row, f"{load_filter.BAD_LINE}{self.lines[row]}: {reason}")

    def refuse(self, row, column, expected):
        """Record that a record's value in a column is impossible, or raise."""
        self._bad_row(row, self._words(column, self.text(column)[row], expected))

    def left_out(self):
        """Return the steps and the bad lines in the form of `Trace.dropped`."""
        reasons = [load_filter.STEP] * len(self.steps) + self.bad_lines
        numbers = self.steps + [-1] * len(self.bad_lines)
        table = pd.DataFrame({field: np.full(len(numbers), -1) for field in swf.FIELDS})
        table["job_number"] = np.array(numbers, dtype="int64")
        table.insert(0, "reason", pd.Series(reasons, dtype="str"))
        return table.set_index("job_number")


def _hint(head):
    """Explain a first line that is not a header of columns between bars."""
    if "jobid" not in head.lower():
        return "; there is no header line" if head.count("|") >= LEAST_BARS else ""
    if "," in head:
        return "; there are commas: give sacct --parsable2, and no --delimiter"
    return "; these are aligned columns, in which sacct cuts long values: give it --parsable2"


def _clipped(text, length=60):
    return text if len(text) <= length else text[:length] + "..."


# The fields ---------------------------------------------------------------------------------------------


def _count(text: str) -> float:
    """Read a whole number."""
    if text.lower() in NO_VALUE:
        return np.nan
    if not _WHOLE.fullmatch(text):
        raise ValueError(A_COUNT)
    return float(text)


def _size(text: str) -> float:
    """Read a number of processors or nodes; 0 means none yet."""
    size = _count(text)
    if size > MOST_PROCS:
        raise ValueError(f"a number of processors or nodes up to {MOST_PROCS:,}")
    return size or np.nan


def _limit(text: str) -> float:
    """Read a time limit: whole minutes (TimelimitRaw) or a duration (Timelimit), in seconds."""
    return 60 * float(text) if _WHOLE.fullmatch(text) else slurm_duration(text)


def _state(text: str) -> float:
    """Read a state, including "CANCELLED by 1000", as its position in `_STATES`."""
    state = state_of(text)
    if state not in _STATES:
        raise ValueError("one of Slurm's job states, such as COMPLETED or CANCELLED by 1000")
    return float(_STATES.index(state))


def _instant(text: str, zone: ZoneInfo, fold: int) -> float:
    """Read a time, in seconds since 1970; if the clock showed it twice, `fold` selects which one is meant."""
    if text.lower() in NO_VALUE:
        return np.nan
    if _EPOCH.fullmatch(text):
        return float(text)
    try:
        date = datetime.fromisoformat(text if _DATE.fullmatch(text) else "")
    except ValueError:
        raise ValueError(A_TIME) from None
    if not 1 < date.year < datetime.max.year:  # in another time zone, the year may be outside the calendar
        raise ValueError(A_TIME)
    if date.tzinfo is None:
        local = date.replace(tzinfo=zone, fold=fold)
        if zone.key != "UTC" and local.astimezone(UTC).astimezone(zone).replace(tzinfo=None, fold=0) != date:
            raise ValueError(f"a time that the clocks of {zone.key} showed (they were put forward over it)")
        date = local
    return date.timestamp()


def _plain_instants(texts: np.ndarray, zone: ZoneInfo, fold: int) -> np.ndarray:
    """Do `_instant`'s work for usual local times, nan for others: 300,000 at once in 0.07 s instead of 1.9 s."""
    dates = pd.DatetimeIndex(pd.to_datetime(texts, format="%Y-%m-%dT%H:%M:%S", errors="coerce"))
    dates = dates.where((dates.year > 1) & (dates.year < datetime.max.year))
    local = dates.tz_localize(zone, ambiguous=np.full(len(dates), fold == 0), nonexistent="NaT")
    return ((local - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(1, "s")).to_numpy(dtype="float64", copy=True)


def _kilobytes(text: str) -> float:
    """Read an amount of memory in KB, whether per CPU, node or job: see `_memory`."""
    if text.lower() in NO_VALUE or text.startswith("?"):
        return np.nan
    match = _MEMORY.fullmatch(text)
    if not match:
        raise ValueError(A_MEMORY)
    amount = float(match[1]) * _KILOBYTES[match[2].upper()]
    if amount > MOST_MEMORY:
        raise ValueError(A_MEMORY)
    return amount or np.nan  # 0 requests all memory of a node


PLAUSIBLE = {
    "State": _state,
    **dict.fromkeys(("Submit", "Start", "End", "Eligible"), partial(_instant, zone=ZoneInfo("UTC"), fold=0)),
    **dict.fromkeys(("ElapsedRaw", "AllocCPUS", "NCPUS", "NNodes"), _count),
}


# The table ----------------------------------------------------------------------------------------------


def _records(export, procs_of, wanted, partitions, arrival, zone):
    """Make SWF's columns, with times in seconds since 1970 and nan for unknown; and the facts that `_reasons` needs."""
    run = export.read(_count, "ElapsedRaw")
    run = np.where(np.isnan(run), export.read(slurm_duration, "Elapsed"), run)
    submit, start, end, eligible = _times(export, zone, run)
    run = np.where(np.isnan(run) & (end >= start), end - start, run)
    arrived = submit if arrival == "submit" else np.where(np.isnan(eligible), submit, eligible)
    allocated = export.read(_size, *PROCS_OF[procs_of][:2])
    size = export.read(_size, *PROCS_OF[procs_of])
    state = export.read(_state, "State")
    states = np.array([*ENDED.values(), *[-1] * (len(_STATES) - len(ENDED))])
    listed = [text.split(",") for text in export.text("Partition")]
    first = [next((name for name in names if name in (wanted or ())), names[0]) for names in listed]
    columns = dict.fromkeys(swf.FIELDS, np.nan) | {
        "job_number": np.array(export.numbers, dtype="int64"),
        "submit_time": arrived,
        "wait_time": np.where(start >= arrived, start - arrived, np.nan),
        "run_time": run,
        "allocated_procs": allocated,
        "requested_procs": size,
        "requested_time": export.read(_limit, "TimelimitRaw", "Timelimit"),
        "requested_memory": _memory(export, size),
        "status": states[np.nan_to_num(state).astype(int)],
        "user_id": _numbers(export, *USER)[0],
        "group_id": _numbers(export, *GROUP)[0],
        "partition": [partitions.get(name, -1) for name in first],
        "state": [_STATES[int(place)] for place in np.nan_to_num(state)],
        "start_time": start,
        "end_time": end,
        "ended": ~np.isnan(end) if export.has("End") else True,
        "in_partition": [wanted is None or not set(wanted).isdisjoint(names) for names in listed],
    }
    return pd.DataFrame(columns, index=range(len(export.rows)))


def _times(export, zone, run):
    """Return submission, start, end and eligibility: float64, shape (n_jobs,), seconds since 1970; nan if unknown.

    `run` is the run time of each job: float64, shape (n_jobs,), seconds; nan if unknown.
    """
    times = []
    ran = np.nan_to_num(run)
    for column, after, least in (("Submit", None, 0), ("Start", 0, 0), ("End", 1, ran), ("Eligible", 0, 0)):
        early, late = (
            export.read(
                partial(_instant, zone=zone, fold=fold), column, most=partial(_plain_instants, zone=zone, fold=fold)
            )
            for fold in (0, 1)
        )
        # If a local time occurred twice, take the earlier one, unless that breaks the order of events.
        times.append(early if after is None else np.where(early < times[after] + least, late, early))
    return times


def _memory(export, size):
    """Return the requested memory in KB per processor, rounded up: float64, shape (n_jobs,); nan if unknown."""
    amount = export.read(_kilobytes, "ReqMem")
    of_what = np.array([text[-1:].lower() for text in export.text("ReqMem")], dtype="str")
    cpus, nodes = (export.read(_size, *PROCS_OF[unit]) for unit in ("cpus", "nodes"))
    times = np.select([of_what == "c", of_what == "n"], [cpus, nodes], default=1.0)
    return np.ceil(amount * times / size)


def _numbers(export, *columns):
    """Number the names in the first existing column, in order of first appearance; nan if a name is missing.

    Returns
    -------
    numbers : float64, shape (n_jobs,)
    names : dict
        By number.
    """
    return numbered(export.text(next(filter(export.has, columns), columns[0])))


def _partitions(export):
    """Number the partitions in order of first appearance; a job may name several."""
    names = dict.fromkeys(name for text in export.text("Partition") for name in text.split(",") if name)
    return {name: number for number, name in enumerate(names, start=1)}


def _reasons(export, records, wanted):
    """Tell why a record cannot be simulated: str, shape (n_jobs,), "" if it can."""
    state, started = records["state"], records["start_time"].notna()
    waiting, cancelled = state.isin(WAITING), state == "CANCELLED"
    running = state.isin(RUNNING) | (started & ~records["ended"])
    unused = (records["run_time"] == 0) & records["allocated_procs"].isna()
    unused |= (records["end_time"] < records["start_time"]) & ~(records["run_time"] > 0)
    _check_times(export, records[~waiting & ~running & ~(cancelled & unused)])
    bad = records.index.isin(list(export.bad_rows))
    conditions = {
        load_filter.GIVEN_TWICE: _given_again(export, waiting | running | bad),
        f"{load_filter.OTHER_PARTITION} {' or '.join(wanted or ())}": ~records["in_partition"],
        load_filter.WAITING: waiting,
        load_filter.CANCELLED_EARLY: cancelled & (~started | unused),
        load_filter.NEVER_STARTED: ~started,
        load_filter.RUNNING: running,
    }
    reasons = np.select(list(conditions.values()), list(conditions), default="").astype(object)
    for row, reason in export.bad_rows.items():
        reasons[row] = reason
    return pd.Series(reasons, index=records.index, dtype="str")


def _check_times(export, records):
    """Refuse records with contradictory times; a suspended job may have run for less time than from start to end."""
    lasted = records["end_time"] - records["start_time"]
    for row in records.index[lasted < 0]:
        export.refuse(row, "End", f"a time at or after Start, {export.text('Start')[row]}")
    for row in records.index[(lasted >= 0) & (records["run_time"] > lasted + 1)]:  # 1: fractions of a second
        column = next(name for name in ("ElapsedRaw", "Elapsed") if export.text(name)[row].lower() not in NO_VALUE)
        hint = "is the time_zone that of the cluster?"
        export.refuse(row, column, f"at most the {lasted[row]:,.0f} s from Start to End ({hint})")


def _given_again(export, unsettled):
    """Find duplicate records; the last one with an end is kept."""
    keys = pd.DataFrame({name: export.text(name) for name in (export.identity, "Submit", "Start")})
    return keys.iloc[np.argsort(~unsettled.to_numpy(), kind="stable")].duplicated(keep="last").sort_index()


def _with_numbers_of_their_own(jobs, highest):
    """Renumber, above the highest, all but the last of the jobs that share a number; list these repairs."""
    shared = jobs["job_number"].duplicated(keep="last")
    was = jobs.loc[shared, "job_number"]
    now = highest + np.arange(1, len(was) + 1)
    numbered = jobs.copy()
    numbered.loc[shared, "job_number"] = now
    repairs = {"job_number": now, "field": "job_number", "was": was.astype("float64"), "now": now * 1.0}
    return numbered, pd.DataFrame(repairs | {"reason": load_filter.SEVERAL_RUNS}).reset_index(drop=True)


def _pooled(jobs, partitions, procs):
    """Measure how much of the machine each partition used; largest use first.

    Returns
    -------
    DataFrame
        Index name; utilization, of the whole machine from the first start to the last end; and most, the most
        processors in use at one instant.
    """
    begin, end = jobs["start_time"].min(), (jobs["start_time"] + jobs["run_time"]).max()
    names = {number: plain(name) for name, number in partitions.items()}
    rows = {
        names[number]: {
            "utilization": (part["run_time"] * part["requested_procs"]).sum() / (procs * (end - begin)),
            "most": most_in_use(part),
        }
        for number, part in jobs[jobs["partition"] > 0].groupby("partition")
    }
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["utilization", "most"])
    return table.sort_values("utilization", ascending=False, kind="stable")


def _uses(pooled, most=6):
    """Describe how much each partition used."""
    said = [
        f"{row.Index} uses {100 * row.utilization:.1f} % (up to {row.most:,} at once)"
        for row in pooled.iloc[:most].itertuples()
    ]
    rest = pooled["utilization"].iloc[most:]
    return ", ".join([*said, *[f"{len(rest)} more use {100 * rest.sum():.1f} %"] * (len(rest) > 0)])


# The header ---------------------------------------------------------------------------------------------


def _cluster(export):
    clusters = sorted({*export.text("Cluster")} - {""})
    if len(clusters) > 1:
        named = plain(", ".join(map(_clipped, clusters[:FEW_NAMED]))) + ", ..." * (len(clusters) > FEW_NAMED)
        raise SacctError(f"{export.name}: jobs of several clusters ({named}), expected one; run sacct with --clusters=")
    return clusters[0] if clusters else None


def _notes(procs_of, arrival, time_zone, names):
    yield "a processor is a node" if procs_of == "nodes" else "a processor is a CPU as Slurm counts them"
    if arrival == "eligible":
        yield "submit times are those at which jobs became eligible"
    if time_zone is None:
        yield "no time zone was given; dates are those of UTC"
    yield "users and groups are numbered" if names else "users and groups are numbered, their names were not kept"


def _header(cluster, partitions, procs, epoch, zone, notes):
    lines = ["; Version: 2.2"]
    lines += [f"; Computer: Slurm cluster {plain(cluster)}"] if cluster else []
    lines += ["; Conversion: by schedlab from the output of sacct"]
    lines += [f"; UnixStartTime: {epoch}", f"; TimeZoneString: {zone.key}", f"; MaxProcs: {procs}"]
    lines += names_in_header("Partition", {number: name for name, number in partitions.items()})
    return swf.Header((*lines, *(f"; Note: {note}" for note in notes)))
