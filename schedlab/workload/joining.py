"""Join traces of one machine: one clock, one numbering of jobs, users, groups, queues and partitions."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from . import swf
from .edges import COUNTED
from .filter import SHARED_NUMBERS, repairs_of
from .records import names_in_header

NAMED = {"user_id": None, "group_id": None, "queue": "Queue", "partition": "Partition"}  # and the label in the header
LEAST_REAL_FIRST = ("stand-in", "model", "file", "archive")
_REPLACED = re.compile(r"\s*;\s*(?:Queue|Partition|UnixStartTime|MaxJobs|MaxRecords)\s*:", re.IGNORECASE)


def joined(traces: Sequence, by: str):
    """Join traces, as `Trace.concat` describes."""
    _check(traces, by)
    traces = _without_lead_ins(traces, by)
    first = traces[0]
    shifts, epoch = _shifts(traces, by)
    numbers, renumbered = _job_numbers(traces)
    tables, names = _with_one_numbering(traces)
    repaired = []
    area = []
    for i, (trace, table, shift, now) in enumerate(zip(traces, tables, shifts, numbers, strict=True)):
        new_of_old = pd.Series(now, index=table.index)
        known = table["preceding_job"].map(new_of_old).fillna(-1).astype("int64")
        moved = table.assign(submit_time=table["submit_time"] + shift, preceding_job=known)
        tables[i] = moved.set_axis(pd.Index(now, name=table.index.name))
        listed = trace.repaired[trace.repaired["job_number"].isin(table.index)]  # parts of a log share one list
        repaired.append(listed.assign(job_number=listed["job_number"].map(new_of_old)))
        area.append(trace.logged_area.reindex(table.index).set_axis(now))
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
        dropped=pd.concat(_dropped(traces)),
        repaired=pd.concat([*repaired, *renumbered], ignore_index=True),
        logged_area=pd.concat(area),
        history=(*before, step),
        people=people or None,
        altered=changed,
        files={path: digest for trace in traces for path, digest in trace.files.items()},
    )


def _without_lead_ins(traces, by):
    """Leave out what leads in to a trace: by date only what another part of the same log has."""
    if not any(COUNTED in trace.table for trace in traces):
        return traces
    if by != "date":
        return [trace.without_lead_in() for trace in traces]
    logs = [(trace.name, trace.header) for trace in traces]
    keys = [[(logs.index(logs[i]), number) for number in trace.table.index] for i, trace in enumerate(traces)]
    known = {keys[i][j] for i, trace in enumerate(traces) for j in np.flatnonzero(trace.counted())}
    parts = []
    for trace, numbers in zip(traces, keys, strict=True):
        counted = trace.counted()
        kept = counted | [number not in known for number in numbers]
        known.update(numbers)
        parts.append(replace(trace, table=trace.table[kept].assign(**{COUNTED: counted[kept]})))
    return parts


def _dropped(traces):
    """Return what was dropped of each log, once where several traces are parts of one."""
    of_logs = {}
    for trace in traces:
        known = of_logs.setdefault((trace.name, trace.header), [])
        if not any(trace.dropped.equals(other) for other in known):
            known.append(trace.dropped)
    return [dropped for known in of_logs.values() for dropped in known]


def _check(traces, by):
    first = traces[0]
    for trace in traces[1:]:
        if not isinstance(trace, type(first)):
            raise TypeError(f"found a {type(trace).__name__}, expected a Trace")
        if trace.procs != first.procs:
            sizes = f"{first.procs:,} ({first.name}) and {trace.procs:,} ({trace.name})"
            raise ValueError(f"the machines have {sizes} processors; with_machine() gives both the same size")
        if trace.speedup != first.speedup:
            raise ValueError("the traces have different speed-up data; put them together before with_speedup()")
    for trace in traces if by == "date" else ():
        if trace.header.unix_start_time is None:
            raise ValueError(f"{trace.name} has no dates (UnixStartTime); use by='begin' or by='end'")


def _shifts(traces, by):
    """Return by how many seconds the submissions of each trace move, and the date of second 0, if known."""
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
    """Return the job numbers of each trace, made unique if some occur twice; and the repairs that record the change."""
    numbers = [trace.table.index.to_numpy() for trace in traces]
    if pd.Index(np.concatenate(numbers)).is_unique:
        return numbers, []
    new, repairs = [], []
    for was in numbers:
        now = was + (int(new[-1].max()) - min(int(was.min()), 1) + 1 if new else 0)  # some logs number from 0
        new.append(now)
        if (was != now).any():
            repairs.append(repairs_of(now, "job_number", was, now, SHARED_NUMBERS))
    return new, repairs


def _with_one_numbering(traces):
    """Number named users, groups, queues and partitions alike in all tables; return the tables and the names."""
    tables, names = [trace.table.copy() for trace in traces], {}
    for column in NAMED:
        if not any(trace.names.get(column) for trace in traces):
            continue
        called = [_called(trace, column) for trace in traces]
        pairs = [*dict.fromkeys(pair for names_of_one in called for pair in names_of_one.items())]
        if len(pairs) == len(dict(pairs)) == len({name for _, name in pairs}):  # parts of a log keep their numbers
            names[column] = dict(pairs)
            continue
        number_of = {name: number for number, name in enumerate(dict.fromkeys(name for _, name in pairs), start=1)}
        for names_of_one, table in zip(called, tables, strict=True):
            new = {number: number_of[name] for number, name in names_of_one.items()}
            table[column] = table[column].map(new).fillna(-1).astype("int64")
        names[column] = {number: name for name, number in number_of.items()}
    return tables, names


def _called(trace, column):
    """Return the name of each number in a column of a trace; a number without a name is its own name."""
    known = trace.names.get(column, {})
    numbers = sorted({*known, *(number for number in trace.table[column].unique().tolist() if number >= 0)})
    return {number: known.get(number, str(number)) for number in numbers}
