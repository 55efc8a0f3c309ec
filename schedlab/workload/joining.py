"""Put traces of one machine together: one clock, one numbering of jobs, users, groups, queues and partitions."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from . import swf
from .filter import SHARED_NUMBERS
from .readers import names_in_header

NAMED = {"user_id": None, "group_id": None, "queue": "Queue", "partition": "Partition"}  # with the label of the header
LEAST_REAL_FIRST = ("stand-in", "model", "file", "archive")
_REPLACED = re.compile(r"\s*;\s*(?:Queue|Partition|UnixStartTime|MaxJobs|MaxRecords)\s*:", re.IGNORECASE)


def joined(traces: Sequence, by: str):
    """Put traces together, as `Trace.concat` says."""
    first = traces[0]
    _check(traces, by)
    shifts, epoch = _shifts(traces, by)
    numbers, renumbered = _job_numbers(traces)
    tables, names = _with_one_numbering(traces)
    for i, (table, shift, now) in enumerate(zip(tables, shifts, numbers, strict=True)):
        new_of_old = pd.Series(now, index=table.index)
        known = table["preceding_job"].map(new_of_old).fillna(-1).astype("int64")
        tables[i] = table.assign(submit_time=table["submit_time"] + shift, preceding_job=known).set_axis(
            pd.Index(now, name=table.index.name)
        )
    repaired = [
        trace.repaired.assign(job_number=_as_numbered(trace.repaired["job_number"], trace.table.index, now))
        for trace, now in zip(traces, numbers, strict=True)
    ]
    area = [
        trace.logged_area.reindex(trace.table.index).set_axis(now) for trace, now in zip(traces, numbers, strict=True)
    ]
    lines = [line for line in first.header.lines if not _REPLACED.match(line)]
    lines += [] if epoch is None else [f"; UnixStartTime: {epoch}"]
    for column, label in NAMED.items():
        lines += names_in_header(label, names.get(column, {})) if label else []
    step = f"{len(traces)} traces put together by {by}: {', '.join(trace.name for trace in traces)}"
    before = dict.fromkeys(f"{trace.name}: {done}" for trace in traces for done in trace.history)
    changed = next((trace.altered for trace in traces if trace.altered), "" if by == "date" else step)
    people = {column: names[column] for column, label in NAMED.items() if not label and names.get(column)}
    return replace(
        first,
        table=pd.concat(tables),
        name=" + ".join(dict.fromkeys(trace.name for trace in traces)),
        header=swf.Header(tuple(lines)),
        source=min((trace.source for trace in traces), key=LEAST_REAL_FIRST.index),
        dropped=pd.concat({id(trace.dropped): trace.dropped for trace in traces}.values()),  # parts of a log share one
        repaired=pd.concat([*repaired, *renumbered], ignore_index=True),
        logged_area=pd.concat(area),
        history=(*before, step),
        people=people or None,
        altered=changed,
    )


def _check(traces, by):
    first = traces[0]
    for trace in traces[1:]:
        if not isinstance(trace, type(first)):
            raise TypeError(f"found a {type(trace).__name__}, expected a Trace")
        if trace.procs != first.procs:
            sizes = f"{first.procs:,} ({first.name}) and {trace.procs:,} ({trace.name})"
            raise ValueError(f"the machines have {sizes} processors; with_procs() gives both the same size")
        if trace.speedup != first.speedup:
            raise ValueError("the traces have different speed-up data; put them together before with_speedup()")
    for trace in traces if by == "date" else ():
        if trace.header.unix_start_time is None:
            raise ValueError(f"{trace.name} has no dates (UnixStartTime); say by='begin' or by='end'")


def _shifts(traces, by):
    """Give by how many seconds the submissions of each trace move, and the date of second 0, if any."""
    begins = [int(trace.table["submit_time"].iloc[0]) for trace in traces]
    ends = [int(trace.table["submit_time"].iloc[-1]) for trace in traces]
    epoch = traces[0].header.unix_start_time
    if by == "date":
        shifts = [trace.header.unix_start_time - epoch for trace in traces]
        before = min(0, *(begin + shift for begin, shift in zip(begins, shifts, strict=True)))
        return [shift - before for shift in shifts], epoch + before
    shifts = [begins[0] - begin for begin in begins]
    if by == "end":
        for i in range(1, len(traces)):
            shifts[i] = ends[i - 1] + shifts[i - 1] - begins[i]
    return shifts, epoch


def _job_numbers(traces):
    """Give the job numbers of each trace, higher ones where some come twice; and the repairs that say so."""
    numbers = [trace.table.index.to_numpy() for trace in traces]
    if pd.Index(np.concatenate(numbers)).is_unique:
        return numbers, []
    highest, new, repairs = 0, [], []
    for was in numbers:
        now = was + highest
        highest = max(highest, int(now.max()))
        new.append(now)
        if (was != now).any():
            rows = {"job_number": now, "field": "job_number", "was": was * 1.0, "now": now * 1.0}
            repairs.append(pd.DataFrame(rows | {"reason": SHARED_NUMBERS}))
    return new, repairs


def _as_numbered(numbers, old, new):
    """Give the new numbers of jobs; those that a trace no longer has keep theirs."""
    return numbers.map(pd.Series(new, index=old)).fillna(numbers).astype("int64")


def _with_one_numbering(traces):
    """Number users, groups, queues and partitions alike in all tables where they have names; give tables and names."""
    tables, names = [trace.table.copy() for trace in traces], {}
    for column in NAMED:
        if not any(trace.names.get(column) for trace in traces):
            continue
        number_of = {}
        for trace, table in zip(traces, tables, strict=True):
            known = trace.names.get(column, {})
            new = {
                number: number_of.setdefault(known.get(number, str(number)), len(number_of) + 1)
                for number in table[column].unique().tolist()
                if number >= 0
            }
            table[column] = table[column].map(new).fillna(-1).astype("int64")
        names[column] = {number: name for name, number in number_of.items()}
    return tables, names
