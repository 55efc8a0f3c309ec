"""Read and write logs in the Standard Workload Format (SWF) 2.2: strictly, exactly, header included.

A log is text: comment lines that begin with ``;``, some of them ``; Label: value``, and one line of 18 numbers per job.
A log may have further fields behind these, numbers or words, the same number of them on each line. The jitted scanner
of `schedlab.kernels.swf_text` reads the plain lines, without further fields. Every other line is parsed here in Python
and, if it is bad, reported.

A number is what Python's ``float`` accepts, made of digits, a sign, a point and an exponent. So nan, infinities,
hexadecimals and underscores are errors. So are values of 2**53 or more in magnitude, which could not be kept exactly. A
column of whole numbers becomes int64 even if the log writes ``142.00``.

References
----------
Parallel Workloads Archive, "The Standard Workload Format", version 2.2,
https://www.cs.huji.ac.il/labs/parallel/workload/swf.html
"""

import codecs
import gzip
import hashlib
import json
import math
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
import pandas as pd

from schedlab._runtime.files import opened
from schedlab._runtime.paths import is_own, own_folder, replacing
from schedlab._runtime.text import plain
from schedlab.kernels.swf_text import EXACT, scan_records

FIELDS = (
    "job_number",
    "submit_time",
    "wait_time",
    "run_time",
    "allocated_procs",
    "avg_cpu_time",
    "used_memory",
    "requested_procs",
    "requested_time",
    "requested_memory",
    "status",
    "user_id",
    "group_id",
    "executable",
    "queue",
    "partition",
    "preceding_job",
    "think_time",
)
SIZES = ("allocated_procs", "requested_procs")
MOST_PROCS = 2**24  # more than any machine has; kernels hold a table of this length
LATEST = 253_402_214_400  # seconds since 1970: the last day of the year 9999, the end of the calendar

LABELS = (
    "Version",
    "Computer",
    "Installation",
    "Acknowledge",
    "Information",
    "Conversion",
    "MaxJobs",
    "MaxRecords",
    "Preemption",
    "UnixStartTime",
    "TimeZone",
    "TimeZoneString",
    "StartTime",
    "EndTime",
    "MaxNodes",
    "MaxProcs",
    "MaxRuntime",
    "MaxMemory",
    "AllowOveruse",
    "MaxQueues",
    "Queues",
    "Queue",
    "MaxPartitions",
    "Partitions",
    "Partition",
    "Note",
)

# Any capitalised word before a colon is a label too ("Copyright:"), but the start of an address is not.
_LABELLED = re.compile(rf"\s*;\s*(?P<label>(?i:{'|'.join(LABELS)})(?=\s*:)|[A-Z][A-Za-z]*(?=:))\s*:(?!//)(?P<value>.*)")
_COMMENT = re.compile(r"[ \t\r\v\f]*;[^\n\ud800-\udfff]*(?<!\r)")
_DIGITS = re.compile(r"[+-]?[0-9]+")
_LEADING_INTEGER = re.compile(rf"{_DIGITS.pattern}(?!,?[0-9])")  # 338 of "338 (batch)", but not 1 of "1,024"
# A field and its name, as the logs of JSSPP's archive list them: "; 18: used_GPUs (sum over all used nodes)".
_FIELD_NAME = re.compile(r"\s*;\s*([0-9]{1,3}):\s*([A-Za-z_][A-Za-z0-9_]*)\b")
_NUMBERED_NAME = re.compile(r"([0-9]+)(?:\s+(.*))?", re.DOTALL)

# For labels whose value may begin with a number: the allowed range, and its description.
_A_COUNT = (1 - EXACT, EXACT - 1, "a number below 2^53 in magnitude")
_A_SIZE = (1 - EXACT, MOST_PROCS, f"a number of processors or nodes up to {MOST_PROCS:,}")
_NUMBERED = (0, EXACT - 1, "a number below 2^53 and a name")
_NUMBERS = {
    **dict.fromkeys(("maxjobs", "maxrecords", "timezone", "maxruntime", "maxmemory"), _A_COUNT),
    **dict.fromkeys(("maxqueues", "maxpartitions"), _A_COUNT),
    **dict.fromkeys(("maxprocs", "maxnodes"), _A_SIZE),
    **dict.fromkeys(("queue", "partition"), _NUMBERED),
    "unixstarttime": (-1, LATEST, "seconds since 1970, up to the year 9999"),
}
A_ZONE = "a time zone like Europe/Stockholm"
_NO_ZONE = ("", "n/a", "none", "unknown", "-1")
# Names in the archive's logs that some systems only know by their new names.
_RENAMED = {
    "US/Eastern": "America/New_York",
    "US/Central": "America/Chicago",
    "US/Mountain": "America/Denver",
    "US/Pacific": "America/Los_Angeles",
}

_GZIP_MAGIC = b"\x1f\x8b"
_NUMERIC = b"0123456789+-.eE"
_CODE = re.compile(rb"[+-]?0[0-9]")  # 007 is not a number: its zeros would be lost
_SHORTEST_RECORD = len("1 " * len(FIELDS))
_PIECE = 2**24  # bytes that are scanned at a time
_MANY = 10**6  # records: with fewer, speed matters more than memory
MOST_FIELDS = 100  # in an extended record
_TABLE_FORMAT = 2  # of the cached tables; increase it if reading or `_save_table` changes its result


class SWFError(ValueError):
    """A file or table is not valid SWF; the message says where, what was found and what was expected."""


@dataclass(frozen=True)
class Header:
    """The comment lines of a log, and their content.

    Parameters
    ----------
    lines : tuple of str
        All comment lines unchanged, in file order, without line ends.

    Raises
    ------
    SWFError
        If a line is not a comment, or its label cannot have its value (such as a number of processors beyond any
        machine), so that a log written with it could not be read again.

    Notes
    -----
    Values are given as `schedlab._runtime.text.plain` shows them; the lines themselves are kept unchanged.

    Examples
    --------
    >>> header = Header(("; MaxNodes: 338 (batch partition; 512 total)", "; Queue:  1 DSI"))
    >>> header.procs, header.queues
    (338, {1: 'DSI'})
    """

    lines: tuple[str, ...] = ()

    def __post_init__(self):
        for line in self.lines:
            if not _COMMENT.fullmatch(line):
                raise SWFError(f"header line is {_clipped(line)!r}, expected one line that begins with ';'")
            try:
                _check_comment(line)
            except _BadLine as bad:
                raise SWFError(f"header line is {_clipped(line)!r}: {bad.reason}") from None

    @cached_property
    def _entries(self) -> tuple[tuple[str, str], ...]:
        """Labels with their values, in file order, each value with its continuation lines."""
        entries: list[tuple[str, list[str]]] = []
        value: list[str] | None = None  # the value that the next line may continue
        for line in self.lines:
            text = line.strip().lstrip(";").strip()
            if labelled := _LABELLED.match(line):
                value = [plain(labelled["value"].strip())]
                entries.append((labelled["label"], value))
            elif not text:
                value = None
            elif value is not None:
                value.append(plain(text))
        return tuple((label, "\n".join(value).strip()) for label, value in entries)

    def labels(self) -> tuple[str, ...]:
        """List the distinct labels, as spelled in the log, in order of first appearance."""
        spelling: dict[str, str] = {}
        for label, _ in self._entries:
            spelling.setdefault(label.lower(), label)
        return tuple(spelling.values())

    def all(self, label: str) -> list[str]:
        """List the values of a label; continuation lines follow their value after a newline."""
        return [value for found, value in self._entries if found.lower() == label.lower()]

    def get(self, label: str, default=None):
        """Return the first value of a label."""
        return next(iter(self.all(label)), default)

    def integer(self, label: str) -> int | None:
        """Return the integer below 2**53 at the beginning of a label's first value; None for a value like "N/A"."""
        leading = _LEADING_INTEGER.match(self.get(label, ""))
        number = _whole(leading[0]) if leading else EXACT
        return number if abs(number) < EXACT else None

    @property
    def procs(self) -> int | None:
        """Machine size in processors: MaxProcs, or else MaxNodes, or else None."""
        sizes = (self.integer(label) for label in ("MaxProcs", "MaxNodes"))
        return next((size for size in sizes if size is not None and 0 < size <= MOST_PROCS), None)

    @property
    def unix_start_time(self) -> int | None:
        """Second 0 of the log, in seconds since 1970 (UTC); None if the header has none, or -1."""
        second = self.integer("UnixStartTime")
        return second if second is not None and 0 <= second <= LATEST else None

    @property
    def timezone(self) -> str | None:
        """Name of the machine's time zone, such as "Europe/Stockholm"; `time_zone` gives the zone itself."""
        return _zone_name(self.get("TimeZoneString", "").partition("\n")[0])

    @property
    def queues(self) -> dict[int, str]:
        """Names of the queues by number; a queue may have an empty name."""
        return self._names("Queue")

    @property
    def partitions(self) -> dict[int, str]:
        """Names of the partitions by number; a partition may have an empty name."""
        return self._names("Partition")

    def further(self, columns: Iterable[str]) -> list[str]:
        """List, in order, those of some columns that are fields beyond the 18th.

        Their names are those in the comments, else ``field_19``, ``field_20``, ... If the comments begin with a field
        0, they count from there.

        Parameters
        ----------
        columns : iterable of str
            Columns of a table of records.
        """
        columns, found = set(columns), []
        while (name := self._field_name(len(FIELDS) + len(found) + 1)) in columns:
            found.append(name)
        return found

    def calling(self, names: Mapping[str, str]) -> "Header":
        """Return a header with other names for further fields: a mapping from present to new names.

        Raises
        ------
        ValueError
            For a name that a comment cannot contain: it must be one word of letters, digits and underscores.
        """
        numbers = {
            number: name
            for number in range(len(FIELDS) + 1, MOST_FIELDS + 1)
            if (name := names.get(self._field_name(number)))
        }
        for name in numbers.values():
            if not _FIELD_NAME.fullmatch(f"; 1: {name}"):
                raise ValueError(f"a field of a record cannot be called {name!r}, expected one word such as used_gpus")
        zero = self._counts_from_0
        lines = [
            line for line in self.lines if not ((match := _FIELD_NAME.match(line)) and int(match[1]) + zero in numbers)
        ]
        return Header((*lines, *(f"; {number - zero}: {name}" for number, name in numbers.items())))

    def _field_name(self, number: int) -> str:
        """Return the name of a further field by its number, counted from 1."""
        name = self._field_names.get(number)
        taken = name in FIELDS or list(self._field_names.values()).count(name) > 1
        return f"field_{number}" if name is None or taken else name

    @cached_property
    def _field_names(self) -> dict[int, str]:
        return {number + self._counts_from_0: name for number, name in self._fields_named}

    @property
    def _fields_named(self) -> list[tuple[int, str]]:
        return [(int(match[1]), match[2]) for match in map(_FIELD_NAME.match, self.lines) if match]

    @property
    def _counts_from_0(self) -> bool:
        return any(number == 0 for number, _ in self._fields_named)

    @property
    def acknowledge(self) -> str | None:
        """Whom to thank for the log, one per line."""
        return "\n".join(self.all("Acknowledge")) or None

    @property
    def computer(self) -> str | None:
        """Maker and model of the machine."""
        return self.get("Computer")

    @property
    def installation(self) -> str | None:
        """Location of the machine."""
        return self.get("Installation")

    def _names(self, label: str) -> dict[int, str]:
        matches = filter(None, (_NUMBERED_NAME.fullmatch(value) for value in self.all(label)))
        numbered = ((_whole(match[1]), match[2] or "") for match in matches)
        return {number: name for number, name in numbered if number < EXACT}


@dataclass(frozen=True, eq=False)
class Log:
    """A log that was read.

    Parameters
    ----------
    header : Header
    records : DataFrame
        One row per job, with the columns of `FIELDS` in their order, in file order; int64 if every value of the column
        is whole, otherwise float64. Times in seconds, memory in KB, -1 for unknown. Then the further fields of an
        extended log (`Header.further`): numbers if all values are, otherwise text.
    skipped : DataFrame
        The bad lines that lenient reading skipped: `line` (int64, from 1), `field` (int64, from 1; 0 for the whole
        line), `value` and `reason` (text). Empty after strict reading.
    sha256 : str
        SHA-256 of the uncompressed text.
    path : Path
        The file.
    """

    header: Header
    records: pd.DataFrame
    skipped: pd.DataFrame
    sha256: str
    path: Path

    @property
    def name(self) -> str:
        """The file's name without ``.swf`` and ``.gz``."""
        return plain(self.path.name.removesuffix(".gz").removesuffix(".swf"))


class _BadLine(Exception):
    """The problem of a line: the field (from 1; 0 for the whole line), its text, and the reason."""

    def __init__(self, field: int, value: str, reason: str):
        super().__init__(reason)
        self.field = field
        self.value = plain(_clipped(value))
        self.reason = reason


def time_zone(name: str) -> ZoneInfo | None:
    """Return the time zone with a name; None if there is none. A name is never used as the path of a file.

    Examples
    --------
    >>> time_zone("Europe/Stockholm")
    zoneinfo.ZoneInfo(key='Europe/Stockholm')
    """
    known = next((key for key in (name, _RENAMED.get(name)) if key in _zones()), None)
    return ZoneInfo(known) if known else None


@cache
def _zones() -> frozenset[str]:
    """List the existing time zones, without those that differ between machines."""
    return frozenset(available_timezones()) - {"localtime", "Factory"}


def read_log(path: str | os.PathLike, *, lenient: bool = False) -> Log:
    """Read a log, plain or gzipped; its content, not its name, decides which.

    Parameters
    ----------
    path : str or path
        The file.
    lenient : bool
        Instead of raising at the first bad line, skip lines that are not records and header lines with impossible
        values, and list them in ``Log.skipped``.

    Returns
    -------
    Log

    Raises
    ------
    SWFError
        Unless `lenient`: at the first line that is neither blank, comment nor record, or is a comment that `Header`
        refuses. Always: if the file is empty, binary, or has no record; if its gzip stream is damaged or ends early.
    FileNotFoundError
        If the file does not exist.

    Examples
    --------
    >>> log = read_log("KTH-SP2-1996-2.1-cln.swf.gz")  # doctest: +SKIP
    >>> len(log.records), log.header.procs  # doctest: +SKIP
    (28476, 100)
    """
    path = Path(path)
    return _parsed(path, _content(path), lenient=lenient)


def cached_log(path: str | os.PathLike) -> Log:
    """Read a log strictly, and keep its table in the user's cache for the next time.

    The cache is keyed on the file's bytes, so a changed file is read anew. Logs with further fields are not cached. The
    cache only saves time: a cache file that is unreadable or has been altered is rebuilt, and if one cannot be written,
    or does not belong to the user alone, the log is read without it.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Log
        The same as `read_log` returns.

    Raises
    ------
    SWFError, FileNotFoundError
        As in `read_log`.
    """
    path = Path(path)
    folder = own_folder("tables")
    if folder is None:
        return read_log(path)
    opened(path)
    with _readable(path), open(path, "rb") as stream:
        source = hashlib.file_digest(stream, "sha256").hexdigest()
    kept = folder / f"{source}-{_TABLE_FORMAT}.npz"
    # A damaged npz raises nearly anything: BadZipFile, ValueError, KeyError, NotImplementedError, ...
    with suppress(Exception):
        return _load_table(kept, source, path)
    content = [_content(path)]  # released once it has been read
    if hashlib.sha256(content[0]).hexdigest() != source:  # the file is still being written
        return _parsed(path, content.pop(), lenient=False)
    log = _parsed(path, content.pop(), lenient=False)
    if len(log.records.columns) == len(FIELDS):
        with suppress(OSError):
            _save_table(log, source, kept)
    return log


def write_log(log: Log | tuple[Header, pd.DataFrame], path: str | os.PathLike) -> None:
    """Write a log that `read_log` reads back exactly; gzipped when the name ends in ``.gz``.

    The comment lines come first, then the records in aligned columns. The file appears complete or not at all. The same
    log always gives the same bytes.

    Parameters
    ----------
    log : Log, or Header and DataFrame
        What to write. The index, and columns other than `FIELDS` and the header's further ones, are ignored.
    path : str or path
        The file; an existing one is replaced.

    Raises
    ------
    SWFError
        If a column is missing or not numeric, if there are no records, or if a value could not be read back: nan,
        infinite, 2**53 or more in magnitude, a negative number of processors other than -1, or in a further field a
        text that is empty or contains blanks.
    FileNotFoundError
        If the folder does not exist.
    """
    path = Path(path)
    header, records = (log.header, log.records) if isinstance(log, Log) else log
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: the folder {path.parent} does not exist")
    lines = [line.encode() + b"\n" for line in header.lines]
    text = b"".join([*lines, *_record_lines(records, header.further(records.columns))])
    with replacing(path) as part, open(part, "xb") as stream:
        # Level 6: a sixth of level 9's time for 7 % more bytes (RICC). No time stamp: same log, same bytes.
        stream.write(gzip.compress(text, 6, mtime=0) if path.suffix == ".gz" else text)


# Reading ------------------------------------------------------------------------------------------------


def _content(path: Path) -> bytes:
    opened(path)
    with _readable(path):
        return path.read_bytes()


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Explain why a file cannot be read."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"{plain(str(path))}: no such file, expected an SWF log (.swf or .swf.gz)") from None
    except IsADirectoryError:
        raise IsADirectoryError(f"{plain(str(path))} is a folder, expected an SWF log (.swf or .swf.gz)") from None


def _parsed(path: Path, content: bytes, *, lenient: bool) -> Log:
    name = plain(path.name)
    text = _uncompressed(content, name)
    del content  # the text of a long log is as large as half of its table
    digest = hashlib.sha256(text).hexdigest()
    given = [text.removeprefix(codecs.BOM_UTF8)]
    del text
    header, columns, skipped = _scanned(given, name, lenient=lenient)
    return Log(header, _table_of(columns), skipped, digest, path)


def _uncompressed(content: bytes, name: str) -> bytes:
    """Undo gzip if it was used, and refuse what cannot be text."""
    if content.startswith(_GZIP_MAGIC):
        try:
            content = gzip.decompress(content)
        except EOFError:
            raise SWFError(
                f"{name}: the gzip stream ends early (truncated download?), expected a complete file"
            ) from None
        except (zlib.error, gzip.BadGzipFile) as error:
            raise SWFError(f"{name}: the gzip stream is damaged ({error}), expected a sound file") from None
    if not content:
        raise SWFError(f"{name}: the file is empty, expected SWF text")
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise SWFError(f"{name}: the text is UTF-16 (from PowerShell's `>`?), expected UTF-8")
    if b"\0" in content[:1024]:
        raise SWFError(f"{name}: the file is binary, expected SWF text")
    return content


def _scanned(text: list[bytes], name: str, *, lenient: bool) -> tuple[Header, dict[str, list], pd.DataFrame]:
    """Split a log's text, which is removed from its list, into header, pieces of columns, and skipped lines."""
    text = text.pop()
    if not text.endswith(b"\n"):
        text += b"\n"  # the scanner relies on it
    text, further, uneven = _without_further_fields(text)
    pieces = {field: [] for field in FIELDS}
    comments, skipped = [], []
    begin, number = 0, 1
    while begin < len(text):
        cut = text.rfind(b"\n", begin, begin + _PIECE) + 1 or text.index(b"\n", begin) + 1
        piece = text[begin:cut] if cut - begin < len(text) else text
        begin = cut
        # Two bounds on the number of records, so that a file of blank lines does not exhaust the memory.
        n_rows = min(piece.count(b"\n"), len(piece) // _SHORTEST_RECORD)
        cells = np.empty((len(FIELDS), n_rows + 1))
        start, number, row = scan_records(piece, 0, number, 0, cells)
        while start < len(piece):
            end = piece.index(b"\n", start)
            line = piece[start:end]
            try:
                if line.lstrip().startswith(b";"):
                    comments.append(_check_comment(_decoded(line.rstrip(b"\r"))))
                elif number in uneven:
                    raise uneven[number]
                else:
                    cells[:, row] = _record(line)
                    row += 1
            except _BadLine as bad:
                if not lenient:
                    raise SWFError(f"{name}:{number}: {bad.reason}") from None
                skipped.append((number, bad.field, bad.value, bad.reason))
            start, number, row = scan_records(piece, end + 1, number + 1, row, cells)
        if row:
            for field, column in zip(FIELDS, cells[:, :row], strict=True):
                pieces[field].append(_compacted(_narrowed(column)))
    if not pieces[FIELDS[0]]:
        raise SWFError(f"{name}: no line is a record, expected at least one of {len(FIELDS)} numbers")
    header, skipped = Header(tuple(comments)), _skipped_table(skipped)
    return header, pieces | _further_columns(header, further, skipped["line"]), skipped


def _table_of(columns: dict[str, list]) -> pd.DataFrame:
    """Join pieces of columns, one column after the other, so that memory never holds a second table."""
    records = {}
    for name in list(columns):
        column = columns.pop(name)
        if name in FIELDS:
            whole = all(piece.dtype.kind == "i" for piece in column)
            column = np.concatenate(column, dtype=np.int64 if whole else np.float64)
        records[name] = column
    return pd.DataFrame(records, copy=False)


def _without_further_fields(text: bytes) -> tuple[bytes, dict[int, list[bytes]], dict[int, _BadLine]]:
    """Cut off the fields beyond the 18th; the first record tells how many there are.

    Returns
    -------
    text : bytes
        The scanner reads the shortened lines at full speed; every other line keeps its place, but without a record.
    further : dict
        The further fields, by line.
    uneven : dict
        The problem of each line with another number of fields.
    """
    expected = _fields_of_the_first_record(text)
    if expected == len(FIELDS):
        return text, {}, {}
    cut, further, uneven = [], {}, {}
    for number, line in enumerate(text.split(b"\n")[:-1], start=1):
        fields = line.split(maxsplit=MOST_FIELDS)
        if not fields or fields[0].startswith(b";"):
            cut.append(line)
        elif len(fields) == expected:
            cut.append(b" ".join(fields[: len(FIELDS)]))
            further[number] = fields[len(FIELDS) :]
        else:
            cut.append(fields[0][:1])  # this is not a record
            uneven[number] = _miscounted(line, f"{expected} as in the first record")
    return b"\n".join([*cut, b""]), further, uneven


def _fields_of_the_first_record(text: bytes) -> int:
    """Count the fields of the first line that begins with a record; 18 if no line has further ones."""
    for line in _lines(text):
        fields = line.split(maxsplit=MOST_FIELDS)
        if len(FIELDS) <= len(fields) <= MOST_FIELDS and not fields[0].startswith(b";"):
            with suppress(_BadLine):
                for number, field in enumerate(fields[: len(FIELDS)], start=1):
                    _number(field, number)
                return len(fields)
    return len(FIELDS)


def _lines(text: bytes) -> Iterator[bytes]:
    """Yield the lines of a text one by one, without splitting all of it."""
    begin = 0
    while begin < len(text):
        end = text.index(b"\n", begin)
        yield text[begin:end]
        begin = end + 1


def _further_columns(header: Header, further: dict[int, list[bytes]], skipped: Iterable[int]) -> dict[str, np.ndarray]:
    """Return the further fields by name: as numbers if all values are, otherwise as text."""
    for line in skipped:
        further.pop(int(line), None)
    columns = {}
    for place, texts in enumerate(zip(*further.values(), strict=True), start=len(FIELDS) + 1):
        numbers = [_further_number(text) for text in texts]
        whole = None not in numbers
        column = _narrowed(np.array(numbers)) if whole else np.array([_decoded(text) for text in texts], dtype=object)
        columns[header._field_name(place)] = column if whole else pd.Series(column, dtype="str")
    return columns


def _further_number(text: bytes) -> float | None:
    """Read a further field as a number; None if it cannot be kept exactly as one, such as the code 007."""
    if _CODE.match(text):
        return None
    try:
        value = float(text) if not text.translate(None, _NUMERIC) else math.nan
    except ValueError:
        return None
    return value if abs(value) < EXACT else None


def _check_comment(line: str) -> str:
    """Return a comment line; raise `_BadLine` if its label cannot have its value."""
    if labelled := _LABELLED.match(line):
        label, value = labelled["label"], labelled["value"].strip()
        if expected := _expected_value(label.lower(), value):
            raise _BadLine(0, value, f"{label} is {_clipped(value)!r}, expected {expected}")
    return line


def _expected_value(label: str, value: str) -> str | None:
    """Describe what a header line should hold if its value is wrong; words instead of a number are allowed."""
    if label == "timezonestring":
        return None if value.lower() in _NO_ZONE or _zone_name(value) else A_ZONE
    number = _DIGITS.match(value) if label in _NUMBERS else None
    if number is None:
        return None
    least, most, expected = _NUMBERS[label]
    return None if least <= _whole(number[0]) <= most else expected


def _zone_name(value: str) -> str | None:
    """Return the name of a time zone from a value that may end with a remark in brackets; None if there is none."""
    name = value.partition("(")[0].strip()
    return name if time_zone(name) else None


def _whole(text: str) -> int:
    """Read digits with or without a sign; 2**53 for larger magnitudes, as `int` refuses more than 4,300 digits."""
    digits = text.lstrip("+-").lstrip("0")
    magnitude = min(int(digits or "0"), EXACT) if len(digits) < 20 else EXACT
    return -magnitude if text.startswith("-") else magnitude


def _record(line: bytes) -> list[float]:
    """Read the 18 numbers of a line that the scanner did not read; raise `_BadLine` if they are not numbers."""
    fields = line.split(maxsplit=len(FIELDS))
    if len(fields) != len(FIELDS):
        raise _miscounted(line, str(len(FIELDS)))
    return [_number(text, number) for number, text in enumerate(fields, start=1)]


def _miscounted(line: bytes, expected: str) -> _BadLine:
    """Say that a line has another number of fields than expected."""
    count = sum(1 for _ in re.finditer(rb"\S+", line))  # a line of 10^8 fields must not become a list
    found = "1 field" if count == 1 else f"{count} fields"
    text = _decoded(line.strip())
    return _BadLine(0, text, f"{found}, expected {expected}: '{plain(_clipped(text))}'")


def _number(text: bytes, number: int) -> float:
    """Read one field, the `number`-th of its line; raise `_BadLine` if it is not a valid number for that field."""
    try:
        value = float(text) if not text.translate(None, _NUMERIC) else math.nan
    except ValueError:
        value = math.nan
    if expected := _expected(value, FIELDS[number - 1]):
        found = f"field {number} ({FIELDS[number - 1]}) is {_clipped(_decoded(text))!r}"
        raise _BadLine(number, _decoded(text), f"{found}, expected {expected}")
    return value


def _expected(value: float, field: str) -> str | None:
    """Describe what a field should hold if `value` is wrong; nan stands for a value that is not a number."""
    if math.isnan(value):
        return "a number"
    if abs(value) >= EXACT:
        return "a number below 2^53 in magnitude"
    if value < 0 and value != -1 and field in SIZES:
        return "a number of processors, or -1 for unknown"
    return None


def _narrowed(column: np.ndarray) -> np.ndarray:
    """Copy a float64 column, as int64 if all of it is whole."""
    whole = column.astype(np.int64)
    return whole if np.array_equal(whole, column) else column.copy()


def _skipped_table(skipped: list[tuple[int, int, str, str]]) -> pd.DataFrame:
    types = {"line": "int64", "field": "int64", "value": "str", "reason": "str"}
    columns = zip(*skipped, strict=True) if skipped else [()] * len(types)
    return pd.DataFrame(
        {name: pd.array(column, dtype=kind) for (name, kind), column in zip(types.items(), columns, strict=True)}
    )


def _decoded(line: bytes) -> str:
    """Read UTF-8, otherwise Latin-1, in which any byte is valid."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _clipped(text: str, length: int = 60) -> str:
    """Shorten text that a message quotes: it may be a whole file without line ends."""
    return text if len(text) <= length else text[:length] + "..."


# Writing ------------------------------------------------------------------------------------------------


def _record_lines(records: pd.DataFrame, further: Iterable[str] = ()) -> Iterator[bytes]:
    """Lay out records in right-aligned columns; floats in the shortest form that reads back exactly."""
    missing = [field for field in FIELDS if field not in records]
    if missing:
        raise SWFError(f"the records lack {', '.join(missing)}; expected the {len(FIELDS)} fields of SWF")
    if records.empty:
        raise SWFError("there are no records to write, expected at least one")
    columns = [_narrowed(_checked(records[field])) for field in FIELDS]
    columns += [_further_field(records[field]) for field in further]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    layout = b" ".join(map(_column_format, columns)) + b"\n"
    return map(layout.__mod__, rows)


def _checked(column: pd.Series) -> np.ndarray:
    """Return a column as float64, after checking that all its values can be read back."""
    if not pd.api.types.is_any_real_numeric_dtype(column):
        raise SWFError(f"{column.name} is a column of {column.dtype}, expected numbers")
    values = column.to_numpy(np.float64, na_value=np.nan)
    bad = ~(np.abs(values) < EXACT)  # nan compares as false
    if column.name in SIZES:
        bad |= (values < 0) & (values != -1)
    if bad.any():
        row = int(bad.argmax())
        found, expected = column.iloc[row], _expected(values[row], column.name)
        raise SWFError(f"row {row} of the records: {column.name} is {found}, expected {expected}")
    return values


def _further_field(column: pd.Series) -> np.ndarray:
    """Return a further field as numbers, or as text without blanks; missing values are -1."""
    if pd.api.types.is_any_real_numeric_dtype(column):
        return _narrowed(_checked(column.fillna(-1)))
    texts = column.astype(object).where(column.notna(), "-1").to_numpy()
    for row, text in enumerate(texts):
        if not isinstance(text, str) or not _is_word(text):
            raise SWFError(f"row {row} of the records: {column.name} is {text!r}, expected a number or one word")
    return np.array([text.encode() for text in texts], dtype=object)


def _is_word(text: str) -> bool:
    """Tell whether a text will be read as one field; only ASCII blanks separate fields."""
    word = text.encode(errors="ignore")
    return word.split() == [word] and word.decode() == text and "\0" not in text


def _column_format(column: np.ndarray) -> bytes:
    if column.dtype == object:
        return b"%%%ds" % max(map(len, column))
    if column.dtype == np.int64:
        return b"%%%dd" % max(len(str(column.min())), len(str(column.max())))
    return b"%%%da" % max(map(len, map(repr, column.tolist())))


# Cached tables ------------------------------------------------------------------------------------------


def _save_table(log: Log, source: str, kept: Path) -> None:
    """Cache the table of a log whose file's bytes have the SHA-256 `source`."""
    text = json.dumps({"source": source, "sha256": log.sha256, "lines": log.header.lines})
    facts = np.frombuffer(text.encode(), np.uint8)
    columns = {field: _compacted(log.records[field].to_numpy()) for field in FIELDS}
    with replacing(kept) as part, open(part, "xb") as stream:
        np.savez(stream, facts=facts, digest=_digest(facts, columns), **columns)


def _load_table(kept: Path, source: str, path: Path) -> Log:
    """Load what `_save_table` wrote; raise if it is anything else."""
    with open(kept, "rb") as stream:
        if not is_own(stream):
            raise SWFError(f"{kept.name} belongs to somebody else")
        stored = np.load(stream)
        columns = {field: stored[field] for field in FIELDS}
        facts, digest = stored["facts"], stored["digest"]
    said = json.loads(facts.tobytes())
    if not np.array_equal(digest, _digest(facts, columns)) or said["source"] != source:
        raise SWFError(f"{kept.name} is not as it was written")
    records = pd.DataFrame(_widened(columns), copy=False)
    return Log(Header(tuple(said["lines"])), records, _skipped_table([]), said["sha256"], path)


def _digest(facts: np.ndarray, columns: dict[str, np.ndarray]) -> np.ndarray:
    """Digest a table for the cache by SHA-256, which takes 12 ms for RICC's 17 MB; BLAKE2b takes 30."""
    digest = hashlib.sha256(facts)
    for field, column in columns.items():
        digest.update(f"{field} {column.dtype.str} {column.shape}".encode())
        digest.update(column)
    return np.frombuffer(digest.digest(), np.uint8)


def _compacted(column: np.ndarray) -> np.ndarray:
    """Convert whole numbers to the smallest signed type that holds them."""
    if column.dtype != np.int64:
        return column
    return column.astype(np.min_scalar_type(-1 - np.abs(column).max()))


def _widened(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Widen whole numbers to int64, in a single block of memory: RICC in 11 ms, column by column in 45."""
    whole = [field for field in FIELDS if columns[field].dtype != np.float64]
    if columns[FIELDS[0]].size > _MANY:  # as separate columns, which can be released one by one
        return {field: column.astype(np.int64 if field in whole else np.float64) for field, column in columns.items()}
    block = np.empty((len(whole), columns[FIELDS[0]].size), np.int64)
    for row, field in zip(block, whole, strict=True):
        row[:] = columns[field]
    return columns | dict(zip(whole, block, strict=True))
