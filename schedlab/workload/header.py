"""The comment lines of a log in SWF, some of them ``; Label: value``: what they may hold and what they say."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count, takewhile

from schedlab._runtime.text import plain, spelt
from schedlab.kernels.swf_text import EXACT

from .fields import LATEST, MOST_PROCS, clipped, time_zone

FIELDS = (
    *("job_number", "submit_time", "wait_time", "run_time", "allocated_procs", "avg_cpu_time", "used_memory"),
    *("requested_procs", "requested_time", "requested_memory", "status", "user_id", "group_id", "executable"),
    *("queue", "partition", "preceding_job", "think_time"),
)
SIZES = ("allocated_procs", "requested_procs")

LABELS = (
    *("Version", "Computer", "Installation", "Acknowledge", "Information", "Conversion", "Note"),
    *("MaxJobs", "MaxRecords", "Preemption", "UnixStartTime", "TimeZone", "TimeZoneString", "StartTime", "EndTime"),
    *("MaxNodes", "MaxProcs", "MaxRuntime", "MaxMemory", "AllowOveruse"),
    *("MaxQueues", "Queues", "Queue", "MaxPartitions", "Partitions", "Partition"),
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
MOST_FIELDS = 100  # in an extended record


class SWFError(ValueError):
    """A file or table is not valid SWF; the message says where, what was found and what was expected."""


class BadLine(Exception):
    """The problem of a line: the field (from 1; 0 for the whole line), its text, and the reason."""

    def __init__(self, field: int, value: str, reason: str):
        super().__init__(reason)
        self.field = field
        self.value = plain(clipped(value))
        self.reason = reason


@dataclass(frozen=True)
class Header:
    """The comment lines of a log, unchanged and without line ends, and their content as `plain` shows it.

    Raises SWFError if a line is not a comment, or its label cannot have its value (such as a number of processors
    beyond any machine), so that a log written with it could not be read again.
    """

    lines: tuple[str, ...] = ()

    def __post_init__(self):
        for line in self.lines:
            if not _COMMENT.fullmatch(line):
                raise SWFError(f"header line is {spelt(clipped(line))}, expected one line that begins with ';'")
            try:
                check_comment(line)
            except BadLine as bad:
                raise SWFError(f"header line is {spelt(clipped(line))}: {bad.reason}") from None

    @cached_property
    def _entries(self) -> tuple[tuple[str, str], ...]:
        """Labels with their values, in file order, each value with its continuation lines."""
        entries = []
        value = []  # of the label before, which the next line may continue
        for line in self.lines:
            text = line.strip().lstrip(";").strip()
            if match := _LABELLED.match(line):
                value = [plain(match["value"].strip())]
                entries.append((match["label"], value))
            elif text:
                value.append(plain(text))
            else:
                value = []
        return tuple((label, "\n".join(value).strip()) for label, value in entries)

    def labels(self) -> tuple[str, ...]:
        """List the distinct labels, as spelled in the log, in order of first appearance."""
        spelling = {}
        for label, _ in self._entries:
            spelling.setdefault(label.lower(), label)
        return tuple(spelling.values())

    def all(self, label: str) -> list[str]:
        """List the values of a label; continuation lines follow their value after a newline."""
        return [value for spelled, value in self._entries if spelled.lower() == label.lower()]

    def get(self, label: str, default=None):
        """Return the first value of a label."""
        return next(iter(self.all(label)), default)

    def integer(self, label: str) -> int | None:
        """Return the integer below 2**53 at the beginning of a label's first value; None for a value like "N/A"."""
        match = _LEADING_INTEGER.match(self.get(label, ""))
        number = _whole(match[0]) if match else EXACT
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
        """
        columns = set(columns)
        names = map(self.field_name, count(len(FIELDS) + 1))
        return list(takewhile(columns.__contains__, names))

    def calling(self, names: Mapping[str, str]) -> "Header":
        """Return a header with other names for further fields: a mapping from present to new names."""
        further = range(len(FIELDS) + 1, MOST_FIELDS + 1)
        numbers = {number: name for number in further if (name := names.get(self.field_name(number)))}
        for name in numbers.values():
            if not _FIELD_NAME.fullmatch(f"; 1: {name}"):
                raise ValueError(f"a field of a record cannot be called {name!r}, expected one word such as used_gpus")
        from_0 = self._named_fields[1]
        matches = [(line, _FIELD_NAME.match(line)) for line in self.lines]
        lines = [line for line, match in matches if not (match and int(match[1]) + from_0 in numbers)]
        return Header((*lines, *(f"; {number - from_0}: {name}" for number, name in numbers.items())))

    def field_name(self, number: int) -> str:
        """Return the name of a further field by its number, counted from 1."""
        names = self._named_fields[0]
        name = names.get(number)
        taken = name in FIELDS or list(names.values()).count(name) > 1
        return f"field_{number}" if name is None or taken else name

    @cached_property
    def _named_fields(self) -> tuple[dict[int, str], bool]:
        """The names of fields in the comments by number, counted from 1; and whether the comments count from 0."""
        matches = list(filter(None, map(_FIELD_NAME.match, self.lines)))
        from_0 = any(int(match[1]) == 0 for match in matches)
        return {int(match[1]) + from_0: match[2] for match in matches}, from_0

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


def check_comment(line: str) -> str:
    """Return a comment line; raise `BadLine` if its label cannot have its value, where words may stand for a number."""
    if match := _LABELLED.match(line):
        value = match["value"].strip()
        fits, expected = True, A_ZONE
        if match["label"].lower() == "timezonestring":
            fits = value.lower() in _NO_ZONE or _zone_name(value)
        elif (bounds := _NUMBERS.get(match["label"].lower())) and (digits := _DIGITS.match(value)):
            least, most, expected = bounds
            fits = least <= _whole(digits[0]) <= most
        if not fits:
            raise BadLine(0, value, f"{match['label']} is {spelt(clipped(value))}, expected {expected}")
    return line


def _zone_name(value: str) -> str | None:
    """Return the name of a time zone from a value that may end with a remark in brackets; None if there is none."""
    name = value.partition("(")[0].strip()
    return name if time_zone(name) else None


def _whole(text: str) -> int:
    """Read digits with or without a sign; 2**53 for larger magnitudes, as `int` refuses more than 4,300 digits."""
    digits = text.lstrip("+-").lstrip("0")
    magnitude = min(int(digits or "0"), EXACT) if len(digits) < 20 else EXACT
    return -magnitude if text.startswith("-") else magnitude
