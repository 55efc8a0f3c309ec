"""The lines of a log in SWF, split into header, columns of numbers, and lines that cannot be read."""

import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

import numpy as np
import pandas as pd

from schedlab._runtime.text import plain, spelt
from schedlab.kernels.swf_text import EXACT, scan_records

from .fields import clipped
from .header import FIELDS, MOST_FIELDS, SIZES, BadLine, Header, SWFError, check_comment
from .packed import decoded

_NUMERIC = b"0123456789+-.eE"
_CODE = re.compile(rb"[+-]?0[0-9]")  # 007 is not a number: its zeros would be lost
_SHORTEST_RECORD = len("1 " * len(FIELDS))
_PIECE = 2**24  # bytes that are scanned at a time


def scanned(text: list[bytes], name: str, *, lenient: bool) -> tuple[Header, dict[str, list], pd.DataFrame]:
    """Split a log's text, which is removed from its list, into header, pieces of columns, and skipped lines."""
    text = text.pop()
    if not text.endswith(b"\n"):
        text += b"\n"  # the scanner relies on it
    text, further, uneven = _without_further_fields(text)
    pieces = {field: [] for field in FIELDS}
    comments = []
    skipped = []
    begin = 0
    number = 1
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
                    comments.append(check_comment(decoded(line.rstrip(b"\r"))))
                elif number in uneven:
                    raise uneven[number]
                else:
                    cells[:, row] = _record(line)
                    row += 1
            except BadLine as bad:
                if not lenient:
                    raise SWFError(f"{name}:{number}: {bad.reason}") from None
                skipped.append((number, bad.field, bad.value, bad.reason))
            start, number, row = scan_records(piece, end + 1, number + 1, row, cells)
        if row:
            for field, column in zip(FIELDS, cells[:, :row], strict=True):
                pieces[field].append(compacted(narrowed(column)))
    if not pieces[FIELDS[0]]:
        raise SWFError(f"{name}: no line is a record, expected at least one of {len(FIELDS)} numbers")
    header, skipped = Header(tuple(comments)), skipped_table(skipped)
    return header, pieces | _further_columns(header, further, skipped["line"]), skipped


def _without_further_fields(text: bytes) -> tuple[bytes, dict[int, list[bytes]], dict[int, BadLine]]:
    """Cut off the fields beyond the 18th; the first record tells how many there are.

    Return the text, whose shortened lines the scanner reads at full speed (any other line keeps its place, but without
    a record); the further fields, by line; and the problem of each line with another number of fields.
    """
    expected = _fields_of_the_first_record(text)
    cut = []
    further = {}
    uneven = {}
    if expected == len(FIELDS):
        return text, further, uneven
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
    for match in re.finditer(rb"[^\n]+", text):  # without splitting all of it
        fields = match[0].split(maxsplit=MOST_FIELDS)
        if len(FIELDS) <= len(fields) <= MOST_FIELDS and not fields[0].startswith(b";"):
            with suppress(BadLine):
                for number, field in enumerate(fields[: len(FIELDS)], start=1):
                    _number(field, number)
                return len(fields)
    return len(FIELDS)


def _further_columns(header: Header, further: dict[int, list[bytes]], skipped: Iterable[int]) -> dict[str, np.ndarray]:
    """Return the further fields by name: as numbers if all values are, otherwise as text."""
    for line in skipped:
        further.pop(int(line), None)
    columns = {}
    for place, texts in enumerate(zip(*further.values(), strict=True), start=len(FIELDS) + 1):
        numbers = [_further_number(text) for text in texts]
        as_text = None in numbers
        column = pd.Series(list(map(decoded, texts)), dtype="str") if as_text else narrowed(np.array(numbers))
        columns[header.field_name(place)] = column
    return columns


def _further_number(text: bytes) -> float | None:
    """Read a further field as a number; None if it cannot be kept exactly as one, such as the code 007."""
    value = _float(text)
    return value if abs(value) < EXACT and not _CODE.match(text) else None


def _float(text: bytes) -> float:
    """Read a number; nan if it is none."""
    with suppress(ValueError):
        return math.nan if text.translate(None, _NUMERIC) else float(text)
    return math.nan


def _record(line: bytes) -> list[float]:
    """Read a line that the scanner did not read; raise `BadLine` if it is not one of 18 numbers."""
    fields = line.split(maxsplit=len(FIELDS))
    if len(fields) != len(FIELDS):
        raise _miscounted(line, str(len(FIELDS)))
    return [_number(text, number) for number, text in enumerate(fields, start=1)]


def _miscounted(line: bytes, expected: str) -> BadLine:
    """Say that a line has another number of fields than expected."""
    count = sum(1 for _ in re.finditer(rb"\S+", line))  # a line of 10^8 fields must not become a list
    text = decoded(line.strip())
    return BadLine(0, text, f"{count} field{'s' * (count != 1)}, expected {expected}: '{plain(clipped(text))}'")


def _number(text: bytes, number: int) -> float:
    """Read one field, the `number`-th of its line; raise `BadLine` if it is not a valid number for that field."""
    value = _float(text)
    if expected := expected_number(value, FIELDS[number - 1]):
        problem = f"field {number} ({FIELDS[number - 1]}) is {spelt(clipped(decoded(text)))}, expected {expected}"
        raise BadLine(number, decoded(text), problem)
    return value


def expected_number(value: float, field: str) -> str | None:
    """Describe what a field should hold if `value` is wrong; nan stands for a value that is not a number."""
    if math.isnan(value):
        return "a number"
    if abs(value) >= EXACT:
        return "a number below 2^53 in magnitude"
    if value < 0 and value != -1 and field in SIZES:
        return "a number of processors, or -1 for unknown"
    return None


def narrowed(column: np.ndarray) -> np.ndarray:
    """Copy a float64 column, as int64 if all of it is whole."""
    whole = column.astype(np.int64)
    return whole if np.array_equal(whole, column) else column.copy()


def skipped_table(skipped: Sequence[tuple[int, int, str, str]] = ()) -> pd.DataFrame:
    """Make the table of skipped lines: see `schedlab.workload.swf.Log`."""
    types = {"line": "int64", "field": "int64", "value": "str", "reason": "str"}
    return pd.DataFrame(list(skipped), columns=list(types)).astype(types)


def compacted(column: np.ndarray) -> np.ndarray:
    """Convert whole numbers to the smallest signed type that holds them."""
    if column.dtype != np.int64:
        return column
    return column.astype(np.min_scalar_type(-1 - np.abs(column).max()))
