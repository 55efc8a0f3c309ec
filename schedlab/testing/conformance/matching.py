"""Match what a simulator gave with the jobs of a trace: job numbers, and the clock that it counts by."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from schedlab.schedule import Schedule
from schedlab.schemes import FromLog
from schedlab.schemes.cases import case_of
from schedlab.workload.trace import Trace

NAMED = 3  # examples in a sentence
DAY = 86_400  # seconds
MILLI = 1_000  # milliseconds in a second
MOST_LATE = 10  # how many times longer than submissions the starts of a log take that is believed to be in milliseconds


@dataclass(frozen=True)
class Theirs(FromLog):
    """The starts of another simulator, in the form of `recorded`. Any trace will do, also a model or a changed one.

    The waits of the trace are theirs, and jobs run as long as the overrun rule says.
    """

    label = "theirs"
    needs = None

    @property
    def origin(self) -> str:
        """As of `Scheme`."""
        return "starts as another simulator gave them"

    def conventions(self, overrun: str, events: str) -> tuple[str, str]:
        """As in `Scheme`: unchanged."""
        return overrun, events

    def simulate(self, case):
        """As in `Scheme`."""
        return case.outcome(case.jobs.submit + case.columns["wait_time"])


def theirs_on(trace: Trace, start: np.ndarray, overrun: str = "kill") -> Schedule:
    """Return starts (int64, seconds on the clock of the log) as a schedule of the trace, whatever laws they break."""
    submit = trace.table["submit_time"].to_numpy()
    replayed = replace(trace, table=trace.table.assign(wait_time=start - submit))
    case, origin = case_of(replayed, Theirs(), None, overrun)
    return Schedule(replayed, Theirs(), case.machine, case.overrun, case.events, case.outcome(start - origin), origin)


@dataclass(frozen=True, eq=False)
class Output:
    """What another simulator gave: the jobs that start there, and their starts in seconds on the clock of the log.

    `notes` say what was assumed and left out, `laws` what cannot be so: jobs that start twice or never, or that are
    submitted at another time.
    """

    trace: Trace
    start: np.ndarray
    notes: tuple[str, ...]
    laws: tuple[str, ...]


def matched(table: pd.DataFrame, trace: Trace) -> Output:
    """Match what a simulator gave, as `read_table` returns it, with the jobs of the log that was simulated.

    Raises ValueError if nothing can be matched: other job numbers, or other submissions.
    """
    notes, laws, numbers = [*table.attrs["notes"]], [], trace.table.index
    again = table["job"].duplicated().to_numpy()
    if again.any():
        first = table["job"].to_numpy()[again][0]
        places = " and ".join(table.index[table["job"] == first][:2])
        laws.append(f"given more than one start: {_jobs(pd.unique(table['job'][again]))}; job {first} by {places}")
    table = table[~again]
    known = table["job"].isin(numbers).to_numpy()
    if not known.any():
        theirs, ours = (f"{column.min():,} to {column.max():,}" for column in (table["job"], numbers))
        raise ValueError(f"no job of the output is in {trace.name}: its jobs are {theirs}, those of the trace {ours}")
    if not known.all():
        strange = table["job"].to_numpy()[~known]
        left_out = np.isin(strange, trace.dropped.get("job_number", ())).all() if len(trace.dropped) else False
        why = "; they were left out when the log was read (trace.dropped)" if left_out else ""
        notes.append(f"in the output, but not in {trace.name}, and not judged: {_jobs(strange)}{why}")
    table = table[known].set_index("job")
    table = table.reindex(numbers[numbers.isin(table.index)])
    unlike = np.flatnonzero((table["start"] - table["submit"] - table["wait"]).abs() > 1)  # 1 s: each may be rounded
    if unlike.size:
        first = table.iloc[unlike[0]]
        times = f"submitted at {first.submit:,.0f} s, waited {first.wait:,.0f} s, started at {first.start:,.0f} s"
        laws.append(
            f"submission, wait and start contradict each other: {_jobs(table.index[unlike])}; the first {times}"
        )
    submit = trace.table["submit_time"].loc[table.index].to_numpy()
    start, has_start = _on_the_clock(table, submit, trace, notes, laws)
    absent = numbers.difference(table.index, sort=False).append(table.index[~has_start])
    if len(absent):
        laws.append(f"without a start: {_jobs(absent)}")
        notes.append(f"judged without {'it' if len(absent) == 1 else 'them'}, though others could then start otherwise")
    if not has_start.any():
        raise ValueError(f"no job of {trace.name} has a start in the output")
    if len(absent):
        trace = trace.where(numbers.isin(table.index[has_start]))
    return Output(trace, start[has_start].astype("int64"), tuple(notes), tuple(laws))


def _on_the_clock(table, submit, trace, notes, laws):
    """Return the starts on the clock of the log, and whether each job has one."""
    start, wait, theirs = (table[name].to_numpy() for name in ("start", "wait", "submit"))
    if np.isnan(start).all():
        return submit + wait, ~np.isnan(wait)
    off = theirs - submit
    if np.isnan(off).all():
        offset, note = _origin(start[~np.isnan(start)], submit[~np.isnan(start)], trace)
        if note:
            notes.append(note)
        known = ~np.isnan(start)
        if _is_longer(start[known], submit[known]):
            notes.append(
                "the starts span 1,000 times as long as the submissions of the trace: milliseconds? expected seconds"
            )
        return start - offset, ~np.isnan(start)
    values, counts = np.unique(off[~np.isnan(off)], return_counts=True)
    offset = values[counts.argmax()]
    wrong = np.flatnonzero(off != offset)
    if 2 * wrong.size > off.size:
        job = table.index[wrong[0]]
        known = ~np.isnan(theirs)
        units = ", but milliseconds instead of seconds would" * _is_longer(theirs[known], submit[known])
        clash = f"job {job} is submitted at {theirs[wrong[0]]:.0f} s, in the trace at {submit[wrong[0]]:,} s"
        raise ValueError(
            f"the submissions of the output are not those of {trace.name}: {clash}, and no shift of the clock explains "
            f"this for most jobs{units}; give the trace that was simulated, with its load and its changes"
        )
    if wrong.size:
        at = f"{theirs[wrong[0]] - offset:,.0f} s, in the trace at {submit[wrong[0]]:,} s"
        laws.append(f"submitted at another time: {_jobs(table.index[wrong])}; job {table.index[wrong[0]]} at {at}")
    if offset:
        notes.append(f"the clock of the output is {_ahead(offset)} the log's, by the submissions")
    return start - offset, ~np.isnan(start)


def _origin(start, submit, trace):
    """Return how far a clock without submissions is ahead of the log's, and what to say about it."""
    waits, epoch = start - submit, trace.header.unix_start_time
    usual = {0: ""}
    usual.setdefault(-int(submit[0]), "the clock of the output is taken to begin at the first submission")
    if epoch and epoch > 0:
        usual[int(epoch)] = "the clock of the output is taken to count from 1970"
    rank = {offset: ((waits < offset).mean() <= 0.5, (waits == offset).sum()) for offset in usual}
    best = max(usual, key=rank.get)
    if not rank[best][0] or (waits - best).min() >= DAY:
        values, counts = np.unique(waits, return_counts=True)
        best = int(values[counts.argmax()])
        return best, (
            f"the clock of the output is taken to be {_ahead(best)} the log's: most jobs then start at their "
            "submission; a column of submissions would tell"
        )
    return best, usual[best]


def _ahead(offset):
    return f"{abs(offset):,.0f} s {'ahead of' if offset > 0 else 'behind'}"


def _is_longer(times, submit):
    """Return whether times pass about 1000 times as fast as submissions, as milliseconds would."""
    span = np.ptp(submit) * MILLI
    least = (submit - submit.min()) * MILLI - MILLI  # a start is never earlier, but for rounding
    return bool(span > 0 and (times - times.min() >= least).all() and np.ptp(times) <= MOST_LATE * span)


def _jobs(numbers):
    """Name some jobs: how many, and the first of them."""
    if len(numbers) == 1:
        return f"job {numbers[0]}"
    some = ", ".join(map(str, list(numbers)[:NAMED])) + (", ..." if len(numbers) > NAMED else "")
    return f"{len(numbers):,} jobs ({some})"


def count(number, what):
    return f"{number:,} {what}{'' if number == 1 else 's'}"
