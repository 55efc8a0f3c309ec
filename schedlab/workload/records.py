"""From records to a trace, for all readers of tables: the log's clock, its machine, its header, what was left out."""

from collections.abc import Iterable, Mapping
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from schedlab._runtime.text import plain

from . import swf

INSTANTS = ("submit_time", "start_time")


def put_on_the_clock_of_the_log(records: dict[str, np.ndarray], ended: np.ndarray) -> int:
    """Count submissions and starts from the first submission, and replace unknown values by SWF's -1, in place.

    The first is that of the runs that have `ended`, bool of shape (n_records,): what has run for years does not set the
    clock. Fields whose values are all whole become int64. Return the first submission, rounded down.
    """
    submit = records["submit_time"][ended if ended.any() else slice(None)]
    epoch = 0 if np.isnan(submit).all() else int(np.floor(np.nanmin(submit)))
    for field in INSTANTS:
        records[field] = records[field] - epoch
    for field in swf.FIELDS:
        known = records[field]
        known = np.where(np.isnan(known), -1, known)
        records[field] = known.astype("int64") if np.isfinite(known).all() and (known % 1 == 0).all() else known
    return epoch


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
