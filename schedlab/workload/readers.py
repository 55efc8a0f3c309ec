"""Shared by the readers of tables: Slurm's durations and states, numbered names, and the log's clock."""

import re
from collections.abc import Iterable
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from schedlab._runtime.text import plain

from . import swf

NO_VALUE = ("", "unknown", "none", "n/a", "invalid", "unlimited", "partition_limit")
A_DURATION = "a duration like 05:30, 12:05:30, 2-12 or 2-12:05:30"
_DAYS = re.compile(r"([0-9]{1,6})-([0-9]{1,2})(?::([0-5][0-9])(?::([0-5][0-9](?:\.[0-9]+)?))?)?")
_CLOCK = re.compile(r"(?:([0-9]{1,8}):(?=[0-5][0-9]:))?([0-9]{1,8}):([0-5][0-9](?:\.[0-9]+)?)")

# Slurm's final states in the codes of SWF: 1 completed, 0 failed, 5 cancelled. A job that hits a limit has failed; a
# job removed from the machine by somebody, or by the scheduler, is cancelled.
ENDED = {
    "COMPLETED": 1,
    **dict.fromkeys(("FAILED", "TIMEOUT", "DEADLINE", "NODE_FAIL", "BOOT_FAIL", "OUT_OF_MEMORY"), 0),
    **dict.fromkeys(("LAUNCH_FAILED", "RECONFIG_FAIL", "SPECIAL_EXIT"), 0),
    **dict.fromkeys(("CANCELLED", "PREEMPTED", "REQUEUED", "RESIZING", "REVOKED"), 5),
}


def slurm_duration(text: str) -> float:
    """Read a duration in Slurm's format, in seconds; nan if unknown.

    Raises
    ------
    ValueError
        If the text is not a duration; the message is the expected format.
    """
    if text.lower() in NO_VALUE:
        return np.nan
    if match := _DAYS.fullmatch(text):
        days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    elif match := _CLOCK.fullmatch(text):
        days = 0
        hours, minutes, seconds = (float(part or 0) for part in match.groups())
    else:
        raise ValueError(A_DURATION)
    return 86_400 * days + 3_600 * hours + 60 * minutes + seconds


def state_of(text: str) -> str:
    """Return the state in a text such as "CANCELLED by 1000" or "CANCELLED+", in capitals."""
    return text.partition(" ")[0].rstrip("+").upper()


def numbered(texts: Iterable) -> tuple[np.ndarray, dict[int, str]]:
    """Number names in order of first appearance.

    Parameters
    ----------
    texts : iterable of str or None
        Empty or None if there is no name.

    Returns
    -------
    numbers : float64, shape (n_jobs,)
        From 1; nan if there is no name.
    names : dict
        Names by number.
    """
    texts = np.asarray(texts, dtype=object)
    codes, names = pd.factorize(np.where(texts == "", None, texts))
    return np.where(codes >= 0, codes + 1.0, np.nan), dict(enumerate(names, start=1))


INSTANTS = ("submit_time", "start_time")


def on_the_clock_of_the_log(records: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Count submissions and starts from the first submission, and replace unknown values by SWF's -1.

    Returns
    -------
    records : DataFrame
        int64 for fields whose values are all whole.
    epoch : int
        The first submission on the original clock of `records`, rounded down.
    """
    first = records["submit_time"].min()
    epoch = 0 if np.isnan(first) else int(np.floor(first))
    counted = {name: column - epoch if name in INSTANTS else column for name, column in records.items()}
    for field in swf.FIELDS:
        known = np.where(np.isnan(counted[field]), -1, counted[field])
        counted[field] = known.astype("int64") if np.isfinite(known).all() and (known % 1 == 0).all() else known
    return pd.DataFrame(counted, records.index), epoch


def most_in_use(jobs: pd.DataFrame) -> int:
    """Count the most processors in use at any instant; a job holds its processors in [start, end).

    Parameters
    ----------
    jobs : DataFrame
        Columns start_time, run_time and requested_procs.
    """
    jobs = jobs[(jobs["run_time"] > 0) & (jobs["requested_procs"] > 0)]
    when = np.concatenate([jobs["start_time"], jobs["start_time"] + jobs["run_time"]])
    change = np.concatenate([jobs["requested_procs"], -jobs["requested_procs"]])
    order = np.lexsort((change, when))  # at equal times, ends before starts
    return int(change[order].cumsum().max(initial=0))


def zone_named(name: str | None) -> ZoneInfo:
    """Return the time zone with this name, UTC for None; raise ValueError if there is none."""
    zone = swf.time_zone(name or "UTC")
    if zone is None:
        raise ValueError(f"unknown time zone {name!r}, expected a name like Europe/Stockholm")
    return zone


def names_in_header(label: str, names: dict[int, str]) -> list[str]:
    """Return the header lines that name queues or partitions (`label` "Queue" or "Partition")."""
    return [f"; {label}: {number} {plain(str(name))}" for number, name in names.items()]
