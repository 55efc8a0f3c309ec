"""From records to a trace, for all readers of tables: the log's clock, its machine, its header, what was left out."""

from collections.abc import Iterable, Mapping
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from schedlab._runtime.text import plain

from . import swf

INSTANTS = ("submit_time", "start_time")


def on_the_clock_of_the_log(records: pd.DataFrame, ended: np.ndarray) -> tuple[pd.DataFrame, int]:
    """Count submissions and starts from the first submission, and replace unknown values by SWF's -1.

    The first is that of the runs that have `ended`, bool of shape (n_records,): what has run for years does not set the
    clock. Return the records, int64 for fields whose values are all whole; and the first submission, rounded down.
    """
    first = records.loc[ended if ended.any() else slice(None), "submit_time"].min()
    epoch = 0 if np.isnan(first) else int(np.floor(first))
    counted = {name: column - epoch if name in INSTANTS else column for name, column in records.items()}
    for field in swf.FIELDS:
        known = np.where(np.isnan(counted[field]), -1, counted[field])
        counted[field] = known.astype("int64") if np.isfinite(known).all() and (known % 1 == 0).all() else known
    return pd.DataFrame(counted, records.index), epoch


def most_in_use(jobs: pd.DataFrame, of: str = "requested_procs") -> int:
    """Count the most processors (or of another column) in use at any instant; a job holds them in [start, end)."""
    jobs = jobs[(jobs["run_time"] > 0) & (jobs[of] > 0)]
    when = np.concatenate([jobs["start_time"], jobs["start_time"] + jobs["run_time"]])
    change = np.concatenate([jobs[of], -jobs[of]])
    order = np.lexsort((change, when))  # at equal times, ends before starts
    return int(np.ceil(change[order].cumsum().max(initial=0)))


def left_out(records: pd.DataFrame, reasons: Mapping[int, str]) -> pd.DataFrame:
    """Return some records, by their rows, with the reasons to leave them out, in the form of `Trace.dropped`."""
    table = records.loc[list(reasons), list(swf.FIELDS)]
    table.insert(0, "reason", pd.Series(reasons, dtype="str"))
    return table.set_index("job_number")


def header_of(
    origin: Iterable[str],
    procs: int,
    epoch: int | None,
    zone: ZoneInfo,
    names: Mapping[str, Mapping[int, str]],
    notes: Iterable[str],
) -> swf.Header:
    """Make the header of a log, with dates unless `epoch` is None; `origin` are its first lines."""
    dates = [] if epoch is None else [f"UnixStartTime: {epoch}", f"TimeZoneString: {zone.key}"]
    lines = [f"; {line}" for line in ("Version: 2.2", *origin, *dates, f"MaxProcs: {procs}")]
    for column in ("queue", "partition"):
        lines += names_in_header(column.capitalize(), names.get(column, {}))
    return swf.Header((*lines, *(f"; Note: {note}" for note in notes)))


def names_in_header(label: str, names: Mapping[int, str]) -> list[str]:
    """Return the header lines that name queues or partitions (`label` "Queue" or "Partition")."""
    return [f"; {label}: {number} {plain(str(name))}" for number, name in names.items()]
