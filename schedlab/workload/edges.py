"""The edges of a log: what was in the system when it begins and ends, runs that never end, lead-ins of parts."""

import re

import numpy as np
import pandas as pd

from .filter import FEW

DAY = 86_400  # seconds
COUNTED = "counted"  # the column that says which jobs are measured
GENERATED = ("model", "stand-in")
LONGEST_LEAD = 28 * DAY  # that is chosen
LONG = 30 * DAY  # a runaway lasts longer than that, and than ten times what most runs last


def has_waits(trace) -> bool:
    """Tell whether a trace has waits that the log recorded and that still are those of its jobs."""
    real = trace.source not in GENERATED and not trace.altered
    return real and bool((trace.table["wait_time"] >= 0).any())


def duration(text) -> float:
    """Return the seconds of a length of time such as ``"7 days"``; nan for anything else, as for a date."""
    if isinstance(text, str) and not re.search("[a-zA-Z]", text):
        return np.nan  # pandas would count nanoseconds
    try:
        return pd.Timedelta(text).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return np.nan


def lead_begins(trace, first: float, lead) -> float:
    """Return the second at which a lead-in to `first` begins; `lead` is that of `Trace.between`."""
    if lead is None:
        return max(_nobody_waited(trace.table, first), first - LONGEST_LEAD) if has_waits(trace) else first
    if lead is False:
        return first
    try:
        length = float(lead) if isinstance(lead, int | float | np.number) else duration(lead)
        begin = trace.seconds(lead) if np.isnan(length) else first - length
    except ValueError:
        begin = np.nan
    if lead is True or not -np.inf < begin <= first:
        expected = 'a length of time such as "7 days" or seconds, a date before that, or False'
        raise ValueError(f"lead is {repr(lead)[:60]}, expected {expected}")
    return begin


def _nobody_waited(table, first):
    """Return the last instant, up to `first`, at which no job waited by the log's own starts."""
    submit = table["submit_time"].to_numpy()
    submit = submit[submit < first]
    starts = submit + np.maximum(table["wait_time"].to_numpy()[: submit.size], 0)
    latest = np.maximum.accumulate(starts)  # of the starts of these jobs up to each of them
    if not submit.size or latest[-1] < first:
        return first
    before = np.append(-np.inf, latest)[np.searchsorted(submit, submit)]  # of jobs submitted earlier
    return submit[before < submit][-1]


def with_lead_in(trace, inside: np.ndarray, begin: float, last: float, alive: bool) -> pd.DataFrame:
    """Return the jobs submitted on [begin, last), and if `alive` those in the system at `begin`; see `Trace.between`.

    `inside` tells which jobs of the trace are counted. If there are others, the column `counted` says so.
    """
    table = trace.table
    submit = table["submit_time"].to_numpy()
    kept = (submit >= begin) & (submit < last)
    if alive and has_waits(trace):
        wait = table["wait_time"].to_numpy()
        start = submit + np.maximum(wait, 0)
        there = (submit < begin) & (wait >= 0) & (start + table["run_time"].to_numpy() > begin)
        running = there & (start < begin)  # not to start before it did, where others are missing
        moved = np.where(running, np.floor(start), submit).astype("int64")
        table["wait_time"] = np.where(running, start - moved, wait)
        table["submit_time"] = moved
        kept |= there
    if not inside[kept].all():
        table[COUNTED] = inside
    return table[kept]


def runaways(jobs: pd.DataFrame) -> np.ndarray:
    """Tell which runs have probably no end on record: bool, shape (n_jobs,).

    They last longer than 30 days, and longer than ten times what 99 % of all runs last.
    """
    run = jobs["run_time"].to_numpy()
    return run > max(LONG, 10 * np.quantile(run, 0.99, method="lower")) if run.size else np.zeros(0, bool)


def edge_notes(jobs: pd.DataFrame, procs: int) -> list[str]:
    """Say how many runs reach over the edges of a log, and which records probably have no end.

    - At the begin: runs that started before the first run of all ended, if that took longer than half of all runs last.
      Such a log was cut from a running system: of what ran before, it has only what lasted.
    - At the end: runs that go on after the last submission.
    - Runs without an end: `runaways`.

    Of these, only what has more than 1 % of the work, or holds a tenth of the machine, is said.

    Parameters
    ----------
    jobs : DataFrame
        With submit_time, wait_time (-1: unknown, taken as 0), run_time and requested_procs.
    procs : int
        Processors of the machine.

    Examples
    --------
    >>> import pandas as pd
    >>> day, columns = 86_400, ["submit_time", "wait_time", "run_time", "requested_procs"]
    >>> rows = [(0, 0, 9 * day, 4), (day, 0, 7 * day, 2), (7 * day, 0, 60, 1), (8 * day, 0, 60, 1)]
    >>> for note in edge_notes(pd.DataFrame(rows, columns=columns), procs=8):
    ...     print(note)
    2 runs began before the first run ended, 7.0 days after the first submission: 100 % of the work, 6 of 8 processors
    1 run goes on after the last submission: 8 % of the work, 4 of 8 processors
    """
    if jobs.empty:
        return []
    submit, run, width = (jobs[name].to_numpy() for name in ("submit_time", "run_time", "requested_procs"))
    start = submit + np.maximum(jobs["wait_time"].to_numpy(), 0)
    end = start + run
    lost = runaways(jobs)
    first = end.min()
    last = submit.max()
    total = float(run @ width.astype("float64")) or 1.0
    notes = []

    def add(runs, seconds, verbs, rest):
        held = width[runs].sum()
        share = float(seconds[runs] @ width[runs].astype("float64")) / total
        if runs.any() and (share > FEW or held >= procs / 10):
            count = int(runs.sum())
            what = f"{count:,} run{'s' * (count > 1)} {verbs[count > 1]} {rest}"
            notes.append(f"{what}: {100 * share:.3g} % of the work, {held:,} of {procs:,} processors")

    if first - start.min() > np.median(run):
        days = f"{(first - submit.min()) / DAY:,.1f} days after the first submission"
        add((start < first) & (end > first), run, ("began", "began"), f"before the first run ended, {days}")
    add((start < last) & (end > last) & ~lost, end - last, ("goes", "go"), "on after the last submission")
    add(lost, run, ("lasts", "last"), f"up to {run.max() / DAY:,.0f} days, as if no end was recorded")
    return notes
