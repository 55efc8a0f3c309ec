"""Read and write logs in the Standard Workload Format (SWF) 2.2: strictly, exactly, header included.

A log is text: comment lines that begin with ``;``, some of them ``; Label: value``, and one line of 18 numbers per job.
A log may have further fields behind these, numbers or words, the same number of them on each line. The jitted scanner
of `schedlab.kernels.swf_text` reads the plain lines, without further fields. Every other line is parsed in Python
(`scanning`) and, if it is bad, reported.

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
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from schedlab._runtime.paths import is_own, own_folder, replacing
from schedlab._runtime.text import plain, spelt
from schedlab.kernels.swf_text import EXACT

from .fields import LATEST, MOST_PROCS, time_zone
from .header import FIELDS, LABELS, SIZES, Header, SWFError
from .packed import content_of, undamaged, without_suffix
from .scanning import compacted, expected_number, narrowed, scanned, skipped_table

__all__ = ["EXACT", "FIELDS", "LABELS", "LATEST", "MOST_PROCS", "SIZES", "Header", "Log", "SWFError"]
__all__ += ["cached_log", "read_log", "skipped_table", "time_zone", "write_log"]

A_LOG = "an SWF log (.swf or .swf.gz)"
_TABLE_FORMAT = 2  # of the cached tables; increase it if reading or `_save_table` changes its result


@dataclass(frozen=True, eq=False)
class Log:
    """A log that was read; `sha256` is that of the uncompressed text.

    `records` has a row per job, in file order, and the columns of `FIELDS`; int64 if every value of the column is
    whole, otherwise float64. Times in seconds, memory in KB, -1 for unknown. Then the further fields of an extended log
    (`Header.further`): numbers if all values are, otherwise text. `skipped` has the bad lines that lenient reading
    skipped: `line` (int64, from 1), `field` (int64, from 1; 0 for the whole line), `value` and `reason` (text).
    """

    header: Header
    records: pd.DataFrame
    skipped: pd.DataFrame
    sha256: str
    path: Path

    @property
    def name(self) -> str:
        """The file's name without ``.swf`` and the suffix of its packing."""
        return plain(without_suffix(self.path.name).removesuffix(".swf"))


def read_log(path: str | os.PathLike, *, lenient: bool = False) -> Log:
    """Read a log, plain or gzipped.

    Raises SWFError at the first line that is neither blank, comment nor record, or is a comment that `Header` refuses;
    with `lenient`, `Log.skipped` lists such lines. Always if the file is empty, binary, damaged, or has no record.
    """
    path = Path(path)
    return _parsed(path, content_of(path, A_LOG), lenient=lenient)


def cached_log(path: str | os.PathLike) -> Log:
    """Read a log strictly, and keep its table in the user's cache for the next time.

    The cache is keyed on the file's bytes, so a changed file is read anew. Logs with further fields are not cached. The
    cache only saves time: a cache file that is unreadable or has been altered is rebuilt, and if one cannot be written,
    or does not belong to the user alone, the log is read without it.
    """
    path = Path(path)
    folder = own_folder("tables")
    if folder is None:
        return read_log(path)
    content = [content_of(path, A_LOG)]  # released once it has been read
    source = hashlib.sha256(content[0]).hexdigest()
    kept = folder / f"{source}-{_TABLE_FORMAT}.npz"
    # A damaged npz raises nearly anything: BadZipFile, ValueError, KeyError, NotImplementedError, ...
    with suppress(Exception):
        return _load_table(kept, source, path)
    log = _parsed(path, content.pop(), lenient=False)
    if len(log.records.columns) == len(FIELDS):
        with suppress(OSError):
            _save_table(log, source, kept)
    return log


def write_log(log: Log | tuple[Header, pd.DataFrame], path: str | os.PathLike) -> None:
    """Write a log that `read_log` reads back exactly; gzipped when the name ends in ``.gz``.

    The file appears complete or not at all. The same log always gives the same bytes. The index, and columns other than
    `FIELDS` and the header's further ones, are ignored. Raises SWFError if a column is missing, if there are no
    records, or if a value could not be read back.
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


def _parsed(path: Path, content: bytes, *, lenient: bool) -> Log:
    name = plain(path.name)
    text = undamaged(content, name, SWFError, "SWF text")
    if not text:
        raise SWFError(f"{name}: the file is empty, expected SWF text")
    del content  # the text of a long log is as large as half of its table
    digest = hashlib.sha256(text).hexdigest()
    texts = [text.removeprefix(codecs.BOM_UTF8)]
    del text
    header, columns, skipped = scanned(texts, name, lenient=lenient)
    return Log(header, _table_of(columns), skipped, digest, path)


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


def _record_lines(records: pd.DataFrame, further: Iterable[str] = ()) -> Iterator[bytes]:
    """Lay out records in right-aligned columns; floats in the shortest form that reads back exactly."""
    if missing := [field for field in FIELDS if field not in records]:
        raise SWFError(f"the records lack {', '.join(missing)}; expected the {len(FIELDS)} fields of SWF")
    if records.empty:
        raise SWFError("there are no records to write, expected at least one")
    columns = [narrowed(_checked(records[field])) for field in FIELDS]
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
    bad |= (column.name in SIZES) & (values < 0) & (values != -1)
    if bad.any():
        row = int(bad.argmax())
        expected = expected_number(values[row], column.name)
        raise SWFError(f"row {row} of the records: {column.name} is {column.iloc[row]}, expected {expected}")
    return values


def _further_field(column: pd.Series) -> np.ndarray:
    """Return a further field as numbers, or as text without blanks; missing values are -1."""
    if pd.api.types.is_any_real_numeric_dtype(column):
        return narrowed(_checked(column.fillna(-1)))
    texts = column.astype(object).where(column.notna(), "-1").to_numpy()
    for row, text in enumerate(texts):
        if not isinstance(text, str) or not _is_word(text):
            raise SWFError(f"row {row} of the records: {column.name} is {spelt(text)}, expected a number or one word")
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


def _save_table(log: Log, source: str, kept: Path) -> None:
    """Cache the table of a log whose file's bytes have the SHA-256 `source`."""
    text = json.dumps({"source": source, "sha256": log.sha256, "lines": log.header.lines})
    facts = np.frombuffer(text.encode(), np.uint8)
    columns = {field: compacted(log.records[field].to_numpy()) for field in FIELDS}
    with replacing(kept) as part, open(part, "xb") as stream:
        np.savez(stream, facts=facts, digest=_digest(facts, columns), **columns)


def _load_table(kept: Path, source: str, path: Path) -> Log:
    """Load what `_save_table` wrote; raise if it is anything else."""
    with open(kept, "rb") as stream:
        if not is_own(stream):
            raise SWFError(f"{kept.name} belongs to somebody else")
        stored = np.load(stream)
        columns = {field: stored[field] for field in FIELDS}
        facts = stored["facts"]
        digest = stored["digest"]
    about = json.loads(facts.tobytes())
    if not np.array_equal(digest, _digest(facts, columns)) or about["source"] != source:
        raise SWFError(f"{kept.name} is not as it was written")
    wide = {field: column.astype(np.result_type(column, np.int64)) for field, column in columns.items()}
    records = pd.DataFrame(wide, copy=False)
    return Log(Header(tuple(about["lines"])), records, skipped_table(), about["sha256"], path)


def _digest(facts: np.ndarray, columns: dict[str, np.ndarray]) -> np.ndarray:
    """Digest a table for the cache by SHA-256, which takes 12 ms for RICC's 17 MB; BLAKE2b takes 30."""
    digest = hashlib.sha256(facts)
    for field, column in columns.items():
        digest.update(f"{field} {column.dtype.str} {column.shape}".encode())
        digest.update(column)
    return np.frombuffer(digest.digest(), np.uint8)
