"""What all readers share below the format of their files: instants, durations, sizes, memory, states and names.

A reader of one text (`duration`, `instant`, `size`, ...) returns nan if the value is unknown, and raises ValueError
with the expected format if the text is none. `parsed` applies it to a column; `Refusals` keeps what could not be read.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
import pandas as pd

from schedlab._runtime.text import plain

MOST_PROCS = 2**24  # more than any machine has; kernels hold a table of this length
LATEST = 253_402_214_400  # seconds since 1970: the last day of the year 9999, the end of the calendar
MOST_MEMORY = 1024**5  # kilobytes, an exabyte
LONGEST = 60  # letters that a message quotes

NO_VALUE = ("", "unknown", "none", "n/a", "invalid", "unlimited", "partition_limit")
A_DURATION = "a duration like 05:30, 12:05:30, 2-12 or 2-12:05:30"
A_COUNT = "a whole number"
A_MEMORY = "an amount of memory like 4000Mc, 16Gn, 2T or 0"

_DAYS = re.compile(r"([0-9]{1,6})-([0-9]{1,2})(?::([0-5][0-9])(?::([0-5][0-9](?:\.[0-9]+)?))?)?")
_CLOCK = re.compile(r"()(?:([0-9]{1,8}):(?=[0-5][0-9]:))?([0-9]{1,8}):([0-5][0-9](?:\.[0-9]+)?)")  # "": no days
_MEMORY = 1024**5  # kilobytes, an exabyte
LONGEST = 60  # letters that a message quotes

NO_VALUE = ("", "unknown", "none", "n/a", "invalid", "unlimited", "partition_limit")
A_DURATION = "a duration like 05:30, 12:05:30, 2-12 or 2-12:05:30"
A_COUNT = "a whole number"
A_MEMORY = "an amount of memory like 4000Mc, 16Gn, 2T or 0"

_DAYS = re.compile(r"([0-9]{1,6})-([0-9]{1,2})(?::([0-5][0-9])(?::([0-5][0-9](?:\.[0-9]+)?))?)?")
_CLOCK = re.compile(r"()(?:([0-9]{1,8}):(?=[0-5][0-9]:))?([0-9]{1,8}):([0-5][0-9](?:\.[0-9]+)?)")  # "": no days
_EPOCH = re.compile(r"[0-9]{9,11}")  # 1973 to 5138
_DATE = re.compile(
    r"(?:19|20|21)[0-9]{2}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_MEMORY = re.compile(r"([0-9]{1,12}(?:\.[0-9]+)?)([KMGTP]?)([cn]?)", re.IGNORECASE)
_KILOBYTES = {"K": 1, "": 1024, "M": 1024, "G": 1024**2, "T": 1024**3, "P": 1024**4}
_GPUS = re.compile(r"(?:^|[,/:])gpu(?:[:/](?![0-9]+(?:[,(]|$))([^:=,()]+))?[:=]([0-9]+)")
_TRES = re.compile(r"[\w./-]+[:=]")
_WHOLE = re.compile(r"[0-9]{1,12}")

# Names in the archive's logs that some systems only know by their new names.
_RENAMED = {
    "US/Eastern": "America/New_York",
    "US/Central": "America/Chicago",
    "US/Mountain": "America/Denver",
    "US/Pacific": "America/Los_Angeles",
}

# Slurm's final states in the codes of SWF: 1 completed, 0 failed, 5 cancelled. A job that hits a limit has failed; a
# job removed from the machine by somebody, or by the scheduler, is cancelled.
ENDED = {
    "COMPLETED": 1,
    **dict.fromkeys(("FAILED", "TIMEOUT", "DEADLINE", "NODE_FAIL", "BOOT_FAIL", "OUT_OF_MEMORY"), 0),
    **dict.fromkeys(("LAUNCH_FAILED", "RECONFIG_FAIL", "SPECIAL_EXIT"), 0),
    **dict.fromkeys(("CANCELLED", "PREEMPTED", "REQUEUED", "RESIZING", "REVOKED"), 5),
}
WAITING = ("PENDING", "CONFIGURING", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "POWER_UP_NODE")
RUNNING = ("RUNNING", "SUSPENDED", "STOPPED", "COMPLETING", "SIGNALING", "STAGE_OUT", "UPDATE_DB", "EXPEDITING")
STATES = (*ENDED, *WAITING, *RUNNING)
# Slurm's numbers, and its short forms; and what other systems and their simulators call a state.
NUMBERED = ("PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED")
NUMBERED += ("BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY")
FLAGGED = {2**10: "REQUEUED", 2**13: "RESIZING", 2**19: "REVOKED"}  # Slurm's numbers in its database
_SHORT = "BF BOOT_FAIL CA CANCELLED CD COMPLETED CF CONFIGURING CG COMPLETING DL DEADLINE F FAILED NF NODE_FAIL"
_SHORT += " OOM OUT_OF_MEMORY PD PENDING PR PREEMPTED R RUNNING RD RESV_DEL_HOLD RF REQUEUE_FED RH REQUEUE_HOLD"
_SHORT += " RQ REQUEUED RS RESIZING RV REVOKED SI SIGNALING SE SPECIAL_EXIT SO STAGE_OUT ST STOPPED S SUSPENDED"
_SHORT += " TO TIMEOUT"
CALLED = dict(zip(_SHORT.split()[::2], _SHORT.split()[1::2], strict=True)) | {
    **dict.fromkeys(("PASS", "PASSED", "SUCCESS", "SUCCEEDED", "DONE", "FINISHED", "OK", "TRUE"), "COMPLETED"),
    **dict.fromkeys(("FAIL", "ERROR", "EXIT", "FALSE", "COMPLETED_FAILED"), "FAILED"),
    **dict.fromkeys(("KILLED", "CANCELED", "ABORTED", "REJECTED", "COMPLETED_KILLED"), "CANCELLED"),
    **dict.fromkeys(("WAITING", "QUEUED"), "PENDING"),
    "COMPLETED_SUCCESSFULLY": "COMPLETED",
    "COMPLETED_WALLTIME_REACHED": "TIMEOUT",
}


def duration(text: str) -> float:
    """Read a duration in Slurm's format, in seconds."""
    if text.lower() in NO_VALUE:
        return np.nan
    match = _DAYS.fullmatch(text) or _CLOCK.fullmatch(text)
    if not match:
        raise ValueError(A_DURATION)
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return 86_400 * days + 3_600 * hours + 60 * minutes + seconds


def count(text: str) -> float:
    """Read a whole number."""
    if text.lower() in NO_VALUE:
        return np.nan
    if not _WHOLE.fullmatch(text):
        raise ValueError(A_COUNT)
    return float(text)


def kilobytes(text: str) -> float:
    """Read an amount of memory in KB, whether per CPU, per node or of the job; 0 requests all memory of a node."""
    if text.lower() in NO_VALUE or text.startswith("?"):
        return np.nan
    match = _MEMORY.fullmatch(text)
    amount = float(match[1]) * _KILOBYTES[match[2].upper()] if match else np.inf
    if amount > MOST_MEMORY:
        raise ValueError(A_MEMORY)
    return amount or np.nan


def since_1970(dates: pd.DatetimeIndex, zone: ZoneInfo, fold: int = 0) -> np.ndarray:
    """Convert dates, those without a time zone by the clocks of `zone`, to seconds; nan for a time that these skipped.

    float64, shape (n_dates,), in NumPy, since pandas below 3.0 counts nanoseconds to the year 2262.
    """
    if dates.tz is None:
        dates = dates.tz_localize(zone, ambiguous=np.full(len(dates), fold == 0), nonexistent="NaT")
    instants = dates.tz_convert(None).to_numpy()
    return np.where(np.isnat(instants), np.nan, instants.astype("datetime64[us]").astype("int64") / 1e6)


def shown_by(zone: ZoneInfo) -> str:
    """Describe what was expected instead of a time that the clocks of a zone skipped."""
    return f"a time that the clocks of {zone.key} showed"


def time_zone(name: str) -> ZoneInfo | None:
    """Return the time zone with a name; None if there is none. A name is never used as the path of a file."""
    known = next((key for key in (name, _RENAMED.get(name)) if key in _zones()), None)
    return ZoneInfo(known) if known else None


def zone_named(name: str | None) -> ZoneInfo:
    """Return the time zone with a name, UTC for None; raise ValueError if there is none."""
    zone = time_zone(name or "UTC")
    if zone is None:
        raise ValueError(f"unknown time zone {name!r}, expected a name like Europe/Stockholm")
    return zone


@cache
def _zones() -> frozenset[str]:
    """List the existing time zones, without those that differ between machines."""
    return frozenset(available_timezones()) - {"localtime", "Factory"}


def gpus(text: str) -> float:
    """Read the number of GPUs in a TRES or GRES of any form; nan if it is empty.

    ``gres/gpu=4`` counts all, ``gres/gpu:a100=4`` those of a type, which are among them where both are there; in older
    forms ``gpu:4``, ``gpu:tesla:2`` and ``gpu:a100:2(IDX:0-1)``.
    """
    if text.lower() in NO_VALUE:
        return np.nan
    if not _TRES.match(text):
        raise ValueError("a number of GPUs, or a TRES such as cpu=16,gres/gpu=4")
    amounts = [(match[1], float(match[2])) for match in _GPUS.finditer(text)]
    untyped = [amount for kind, amount in amounts if not kind]
    return sum(untyped or [amount for _, amount in amounts])


def state_of(text: str) -> str:
    """Return the state in a text of any form, in capitals: "CANCELLED by 1000", "CANCELLED+", "OUT_OF_ME+", "CD".

    A text that is none of `STATES` is returned in capitals.
    """
    name = text.strip().partition(" ")[0].upper()
    if name.endswith("+"):  # cut to its column's width
        name = name.rstrip("+")
        longer = [state for state in STATES if state.startswith(name)]
        return longer[0] if len(longer) == 1 else name
    return CALLED.get(name, name)


def numbered(texts: Iterable) -> tuple[np.ndarray, dict[int, str]]:
    """Number names from 1 in order of first appearance, nan if empty or None; return also the names by number."""
    texts = np.asarray(texts, dtype=object)
    codes, names = pd.factorize(np.where(texts == "", None, texts))
    return np.where(codes >= 0, codes + 1.0, np.nan), dict(enumerate(names, start=1))


def parsed(
    texts: np.ndarray, parse: Callable[[str], float], most: Callable[[np.ndarray], np.ndarray] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Read a column, each distinct text once: a month has few durations and sizes, and many times are repeated.

    `most` reads many texts at once; its nan leaves a text to `parse`. Return the values, and the expected format of
    each text that could not be read (empty for all others).
    """
    codes, distinct = pd.factorize(texts)
    values = most(distinct) if most else np.full(len(distinct), np.nan)
    expected = np.full(len(distinct), "", dtype=object)
    for place in np.flatnonzero(np.isnan(values)).tolist():
        try:
            values[place] = parse(distinct[place])
        except ValueError as error:
            expected[place] = str(error)
    return values[codes], expected[codes]


class Refusals(dict[int, str]):
    """The rows that cannot be used, each with the first reason: "line 7: ..." for a label 7 and `begin` "line ".

    Unless `lenient`, the first is an error, which `error` makes of label and reason.
    """

    def __init__(self, error: Callable[[object, str], Exception], begin: str, lenient: bool):
        super().__init__()
        self.error = error
        self.begin = begin
        self.lenient = lenient

    def add(self, row: int, label: object, reason: str) -> None:
        if not self.lenient:
            raise self.error(label, reason)
        self.setdefault(row, plain(f"{self.begin}{label}: {reason}"))


def clipped(text: str, longest: int = LONGEST) -> str:
    """Shorten text that a message quotes: it may be a whole file without line ends."""
    return text if len(text) <= longest else text[:longest] + "..."
