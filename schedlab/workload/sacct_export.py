"""The text that `sacct --parsable2` writes, split into records, column by column; see `schedlab.workload.sacct`."""

import re
from array import array
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pandas as pd

from schedlab._runtime.text import spelt

from . import packed, sacct_json, swf
from .fields import NO_VALUE, STATES, Refusals, clipped, count, state_of
from .filter import BAD_LINE, NOISE, STEP
from .records import left_out

COMMAND = (
    "SLURM_TIME_FORMAT=%s sacct --allusers --allocations --duplicates --parsable2 --noconvert"
    " --starttime=2024-03-01 --endtime=2024-04-01"
    " --format=JobID,JobIDRaw,Cluster,Partition,User,Group,Account,QOS,Submit,Eligible,Start,End,"
    "ElapsedRaw,TimelimitRaw,AllocCPUS,NNodes,ReqMem,AllocTRES,Reservation,State > jobs.txt"
)
# Columns in which users may write what they like, even a '|'.
FREE_TEXT = ("JobName", "Comment", "AdminComment", "SystemComment", "Extra", "SubmitLine", "WorkDir")
FREE_TEXT += ("StdIn", "StdOut", "StdErr")


def _state(text):
    if state_of(text) not in STATES:
        raise ValueError("a state")


def _instant(text):
    if text.lower() not in NO_VALUE and not _TIME.fullmatch(text):
        raise ValueError("a time")


# Columns that are easy to tell from free text.
PLAUSIBLE = {
    "State": _state,
    **dict.fromkeys(("Submit", "Start", "End", "Eligible"), _instant),
    **dict.fromkeys(("ElapsedRaw", "AllocCPUS", "NCPUS", "NNodes"), count),
}
BLOCK = 4000  # records that are split at once: more leave the processor's caches
MOST_BEFORE = 50  # lines before a header
HEADER = {"submit", "start", "end", "elapsed", "elapsedraw", "state", "alloccpus", "ncpus", "timelimit", "user"}
LEAST_BARS = 5  # in each record: with fewer columns, it is not such an export
SEPARATORS = ("|||", "^|^", "|", ";", "\t", ",")  # tried where no header tells
# What Slurm's tools write to standard error, which may be in the same file.
_NOISE = re.compile(r"\s*(?:sacct|slurm\w*): (?:error|warning|fatal|info|debug\d*): ", re.IGNORECASE)
_TIME = re.compile(r"[0-9]{9,11}|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{5,8}.*")
_SEPARATED = re.compile(r"\s*\w+([^\w\s]+|\t)(?=\w)")  # the first name of a header, and what stands before the next
_JOB = re.compile(r"([0-9]{1,15})(?:_(?:[0-9]+|\[[^]]*\]?)|\+[0-9]+)?(\..+)?")  # 7, 7_4, 7_[5-9%2], 7+1; then the step


class SacctError(ValueError):
    """`read_sacct` cannot read a file; the message says where, what was found and what was expected."""


def is_export(path) -> bool:
    """Tell whether a file looks like sacct's output, with --parsable2 or in a form that `read_sacct` refuses."""
    with suppress(*packed.DAMAGED), packed.opener(path) as stream:  # a damaged file is reported when it is read
        lines = (line for line in iter(lambda: stream.readline(10_000), b"") if line.strip())
        first = next((line for line in lines if not _NOISE.match(line.decode("latin-1"))), b"").lstrip()
        named = b"jobid" in first.lower() or first.startswith(b"{")
        return not first.startswith(b";") and (named or first.count(b"|") >= LEAST_BARS)
    return False


def _lines_of(path, file):
    """Yield the lines of a file, with their numbers; JSON as the lines that sacct writes with --parsable2."""
    lines = packed.lines_of(path, SacctError, "the output of sacct")
    number, first = next(lines, (1, ""))
    while _NOISE.match(first):
        yield number, first
        number, first = next(lines, (number, ""))
    if not sacct_json.is_json(first):
        yield number, first
        yield from lines
        return
    text = "\n".join([first, *(line for _, line in lines)])
    yield from enumerate(sacct_json.as_text(text, file, SacctError).split("\n"), start=1)


class Export:
    """The job records of an export, column by column; the job numbers of its steps; and what cannot be read.

    `columns` names the columns of a text without a header.
    """

    def __init__(self, path: Path, name: str, lenient: bool, columns: Sequence[str] | None = None):
        self.name = name
        self.bad_lines = Refusals(self._error, BAD_LINE, lenient)  # that are not records, by line
        self.noise = 0
        lines = self._without_noise(_lines_of(path, name))
        lines = self._from_header(lines) if columns is None else lines
        begin, head = next(lines, (1, ""))
        if not head:
            raise SacctError(f"{name}: the file is empty, expected the output of sacct; run\n    {COMMAND}")
        if columns is None:
            match = _SEPARATED.match(head)
            self.separator = match[1] if match else "|"
            self.fields = [field.strip() for field in head.split(self.separator)]
        else:
            self.separator = _separator_of(head, len(columns))
            trailing = head.count(self.separator) == len(columns)  # --parsable ends each line with it
            self.fields = [*columns, *[""] * trailing]
        self.columns = {field.lower(): place for place, field in reversed(list(enumerate(self.fields)))}
        numbered = self.has("JobID") or self.has("JobIDRaw")
        if head.startswith("JobId=") or (not numbered and len(HEADER & {*self.columns}) < 2):
            expected = "the names of columns with '|' between them, JobID among them (--parsable2, no --noheader)"
            problem = f"found {clipped(head)!r}, expected {expected}{_hint(head)}; run\n    {COMMAND}"
            raise self._error(begin, problem)
        if columns is not None and head.lower().startswith(self.fields[0].lower()):
            raise self._error(begin, f"found {clipped(head)!r}, a header line, expected a record; leave out columns=")
        self.identity = ("JobID" if self.has("JobID") else "JobIDRaw") if numbered else None
        self.lines = array("q")  # the number of the line of each job record, ...
        self.numbers = array("q")  # ... and that of its job, ...
        self.numbers_say_all = True  # ... which is all that its fields for it hold
        self.steps = array("q")  # the numbers of the jobs of the steps
        self.blanks = (f" {self.separator}", f"{self.separator} ")
        self.padded = any(blank in head for blank in self.blanks)
        self._rows = []  # the fields of the latest records, ...
        self._blocks = []  # ... and those of the ones before, by column
        if columns is not None:
            lines = chain([(begin, head)], lines)
        # The header line is repeated where outputs were joined.
        again = {head, f"\ufeff{head}"}
        for number, line in self._whole(line for line in lines if columns is not None or line[1] not in again):
            self._take(number, line)
        self._pack()

    def _without_noise(self, lines):
        for number, line in lines:
            if not line.strip() or _NOISE.match(line):
                self.noise += bool(line.strip())
            else:
                yield number, line

    def _from_header(self, lines):
        """Leave out what shells print before the header: lines without its separator."""
        begin = list(islice(lines, MOST_BEFORE))
        for place, (_, line) in enumerate(begin):
            match = _SEPARATED.match(line)
            if match and {"jobid", "jobidraw"} & {name.strip().lower() for name in line.split(match[1])}:
                if any(match[1] in before for _, before in begin[:place]):
                    break
                self.noise += place
                return chain(begin[place:], lines)
        return chain(begin, lines)

    def _error(self, line, reason):
        return SacctError(f"{self.name}:{line}: {reason}")

    def _whole(self, lines):
        """Yield the records, each with the number of its first line: a free text may go on over several lines."""
        free = [name.lower() in map(str.lower, FREE_TEXT) for name in self.fields]
        if not any(free) or self.identity is None:
            yield from lines
            return
        place = self.columns[self.identity.lower()]
        bars = len(self.fields) - 1
        number = None
        text = ""
        for at, line in lines:
            row = line.split(self.separator)
            before = text.count(self.separator)
            begins = place < len(row) and _JOB.fullmatch(row[place]) and len(row) > 1
            goes_on = free[-1] if before >= bars else before + len(row) - 1 <= bars
            if number is not None and not begins and goes_on:
                text += f"\n{line}"
                continue
            if number is not None:
                yield number, text
            number = at
            text = line
        if number is not None:
            yield number, text

    def _take(self, line, text):
        """Add a line to the jobs, the steps or the bad lines."""
        row = text.split(self.separator)
        if len(row) > len(self.fields):
            row = self._rejoined(row) or row
        before, after = self.blanks
        self.padded = self.padded or before in text or after in text or text[0] == " " or text[-1] == " "
        if len(row) != len(self.fields):
            self._refuse_header(line, row)
            mark = self.separator
            hint = f"a {mark!r} or a line end inside a field? leave such columns out, or give sacct --parsable2"
            self.bad_lines.add(line, line, f"{len(row)} fields, expected {len(self.fields)} ({hint})")
            return
        if self.identity is None:  # nothing tells steps from jobs, which are numbered by their lines
            self._add(line, row)
            return
        place = self.columns[self.identity.lower()]
        job = _JOB.fullmatch(row[place])
        raw = _JOB.fullmatch(row[self.columns.get("jobidraw", place)])
        if not job or not raw:
            self._refuse_header(line, row)
            column = "JobIDRaw" if job else self.identity
            text = row[self.columns[column.lower()]]
            expected = "a job like 123, 123_4, 123_[5-9] or 123+0, or its step"
            self.bad_lines.add(line, line, self._problem(column, text, expected))
        elif job[2]:
            self.steps.append(int(raw[1]))
        else:
            self.numbers.append(int(raw[1]))
            self.numbers_say_all &= row[place] == raw[1]
            self._add(line, row)

    def _refuse_header(self, line, row):
        """Raise, even if lenient, if a line names other columns than the header: what follows would be misread."""
        if {"jobid", "jobidraw"} & {text.strip("\ufeff ").lower() for text in row}:
            message = f"found {clipped(self.separator.join(row))!r}, another header"
            raise self._error(line, f"{message}, expected only outputs with the same columns to be joined")

    def _add(self, line, row):
        self.lines.append(line)
        self._rows.append(row)
        if len(self._rows) == BLOCK:
            self._pack()

    def _pack(self):
        """Keep the latest records by column: as lists of lists they need four times the memory."""
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(self.fields)
        texts = (pd.Series(column, dtype="str") for column in columns)
        self._blocks.append([text.str.strip() if self.padded else text for text in texts])
        self._rows = []

    def _rejoined(self, row):
        """Rejoin a free text that was split at its own bars; None if it is unclear which text that is."""
        more = len(row) - len(self.fields)
        free = [self.columns[name.lower()] for name in FREE_TEXT if self.has(name)]
        splits = [(at, more) for at in free]
        last = len(self.fields) - 1
        if last in free:  # it may have bars of its own besides those of another
            splits += [(at, count) for at in free if at != last for count in range(1, more)]
        rows = [self._joined(row, at, count) for at, count in splits]
        if len(rows) > 1:
            rows = [row for row in rows if self._is_plausible(row)]
        distinct = {tuple(text for at, text in enumerate(row) if at not in free): row for row in rows}
        return next(iter(distinct.values())) if len(distinct) == 1 else None

    def _joined(self, row, at, more):
        """Join the parts of a text that was split at some bars, and all that is too much at the end."""
        row = [*row[:at], self.separator.join(row[at : at + more + 1]), *row[at + more + 1 :]]
        last = len(self.fields) - 1
        return [*row[:last], self.separator.join(row[last:])]

    def _is_plausible(self, row):
        with suppress(ValueError):
            for column in filter(self.has, PLAUSIBLE):
                PLAUSIBLE[column](row[self.columns[column.lower()]].strip())
            return True
        return False

    def _problem(self, column, text, expected):
        place = self.columns[column.lower()]
        return f"field {place + 1} ({self.fields[place]}) is {spelt(clipped(text))}, expected {expected}"

    def has(self, column: str) -> bool:
        return column.lower() in self.columns

    def require(self, needed: list[tuple[str, ...]]) -> None:
        """Raise if columns are missing, of each group of alternatives all."""
        missing = [" or ".join(names) for names in needed if not any(map(self.has, names))]
        if missing:
            raise SacctError(f"{self.name}: no column {', no '.join(missing)}; run\n    {COMMAND}")

    def named(self, column: str) -> str:
        """Return the name of a column as the header has it."""
        return self.fields[self.columns[column.lower()]]

    def frame(self) -> pd.DataFrame:
        """Return the records as text, a column for each field; the export gives them away."""
        blocks = self._blocks
        self._blocks = []
        columns = {}
        left_out = {"jobid", "jobidraw"} if self.numbers_say_all and self.identity else {"jobidraw"}
        for place, name in enumerate(self.fields):
            parts = [block[place] for block in blocks]
            for block in blocks:
                block[place] = None
            if name and self.columns[name.lower()] == place and name.lower() not in left_out:
                columns[name] = pd.concat(parts, ignore_index=True)
        return pd.DataFrame(columns)

    def left_out(self) -> pd.DataFrame:
        """Return the steps and the bad lines in the form of `Trace.dropped`."""
        reasons = [STEP] * len(self.steps) + list(self.bad_lines.values()) + [NOISE] * self.noise
        table = pd.DataFrame(-1, range(len(reasons)), swf.FIELDS)
        table["job_number"] = np.array([*self.steps, *[-1] * (len(reasons) - len(self.steps))], dtype="int64")
        return left_out(table, dict(enumerate(reasons)))


def _separator_of(record, count):
    """Return what separates so many fields of a record, the last of which may be followed by it, too."""
    return next((mark for mark in SEPARATORS if record.count(mark) in (count - 1, count)), "|")


def _hint(head):
    """Explain a first line that is not a header of columns between bars."""
    if head.startswith("JobId="):
        return "; these are records of Slurm's jobcomp/filetxt, which nothing here reads"
    if "jobid" not in head.lower():
        named = "; there is no header line: name its columns with columns="
        return named if max(map(head.count, SEPARATORS)) >= LEAST_BARS else ""
    return "; these are aligned columns, in which sacct cuts long values: give it --parsable2"
