"""The conformance suite: small logs that each isolate one choice of a scheduler, and the results of other simulators.

Two simulators of "EASY" seldom give the same schedule, because they differ in what no paper specifies: what ends at the
shadow time, which of two simultaneous events comes first, what a missing estimate means. Each case is a log of two to
five jobs, with the schedule that follows from each convention, worked out by hand. Run a simulator on the logs, and
`judge` says which conventions it follows, and in which cases it follows none.
"""

import csv
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache
from numbers import Real
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from . import display
from .machine import Flat
from .paths import data_dir, replacing
from .schedule import Schedule
from .schemes import Scheme
from .simulation import simulate
from .text import check_known, plain
from .workload import swf
from .workload.trace import read_swf

NONE = -1  # start of a job that never starts
ACCASIM = "%Y-%m-%d %H:%M:%S"
# Column names, in upper or lower case: those of Batsim and evalys, of schedlab and SWF, and plain ones.
JOB = ("job_id", "job_number", "jobid", "job", "id")
START = ("starting_time", "start_time", "start", "begin")
KINDS = ("FCFS", "SJF", "EASY", "conservative")  # kinds of schemes that the cases test
SUFFIXES = (".swf", ".csv", ".txt", ".data", ".out")


@dataclass(frozen=True)
class Answer:
    """The schedule of a case under one convention.

    Attributes
    ----------
    convention : str
        In words.
    starts : tuple of int
        Of jobs 1, 2, ..., in seconds; -1 for a job that never starts.
    words : str
        Why.
    follows : bool
        Whether it is a convention of the scheme that the case tests. Otherwise it is another scheme, or a mistake.
    ours : mapping
        The schedlab settings that follow it: scheme, its settings, overrun and events; empty if none do.

    Examples
    --------
    >>> import schedlab as sl
    >>> answer = sl.conformance.case(6).answers[1]
    >>> answer.convention, answer.starts, answer.follows
    ('whatever fits starts', (0, 22, 2), False)
    """

    convention: str
    starts: tuple[int, ...]
    words: str
    follows: bool = True
    ours: Mapping = field(default_factory=dict)

    def __post_init__(self):
        object.__setattr__(self, "starts", tuple(self.starts))


@dataclass(frozen=True)
class Case:
    """A log that isolates one choice.

    Attributes
    ----------
    number : int
    name, scheme, title, words : str
        The scheme is "FCFS", "SJF", "EASY" or "conservative".
    answers : tuple of Answer
    path : Path
        The log, in SWF.

    Examples
    --------
    >>> import schedlab as sl
    >>> case = sl.conformance.case(1)
    >>> case.title, case.procs, len(case.records)
    ('Extra processors at the shadow time', 4, 4)
    >>> case.schedule(case.answers[0]).jobs["start_time"].tolist()
    [0, 10, 2, 3]
    >>> chart = case.chart()
    """

    number: int
    name: str
    scheme: str
    title: str
    words: str
    answers: tuple[Answer, ...]
    path: Path

    @property
    def records(self) -> pd.DataFrame:
        """The unmodified records of the log, by job number."""
        return swf.read_log(self.path).records.set_index("job_number").sort_index()

    @property
    def procs(self) -> int:
        """Processors of the machine."""
        return swf.read_log(self.path).header.procs

    def schedule(self, answer: Answer) -> Schedule:
        """Return the schedule of an answer, for example for a Gantt chart, without the jobs that never start.

        Parameters
        ----------
        answer : Answer
            One of `answers`.
        """
        trace = read_swf(self.path)
        trace = trace.where([answer.starts[job - 1] != NONE for job in trace.table.index])
        begin = int(trace.table["submit_time"].iloc[0])
        starts = tuple(answer.starts[job - 1] - begin for job in trace.table.index)
        return simulate(trace, _Told(starts), overrun=answer.ours.get("overrun", "kill"))

    def chart(self):
        """Draw the schedules of all answers as Gantt charts below one another.

        Returns
        -------
        altair chart
        """
        from .charts import gantts  # here, since Altair is slow to load

        schedules = {answer.convention: self.schedule(answer) for answer in self.answers}
        how = {"color": "job_number", "label": "job_number", "width": 480, "height": 100 * len(schedules)}
        return gantts(schedules, title=str(self), **how)

    def __str__(self) -> str:
        return f"Case {self.number}, {self.scheme}: {self.title}"

    def _repr_html_(self) -> str:
        from .charts import svg

        parts = [display.line(self.words, strong=str(self))]
        for answer in self.answers:
            starts = ", ".join("never" if start == NONE else str(start) for start in answer.starts)
            parts.append(display.line(f"{answer.words} Starts: {starts}.", strong=answer.convention))
        return display.page(*parts, display.image(svg(self.chart()), self.title))


@dataclass(frozen=True)
class _Told(Scheme):
    """A schedule given as starts, not decided by a scheme."""

    starts: tuple[int, ...]

    overruns = ("kill", "extend", "keep")

    def simulate(self, case):
        return case.outcome(np.array(self.starts, np.int64))


def folder() -> Path:
    """Return the folder of the cases.

    Examples
    --------
    >>> import schedlab as sl
    >>> log = sl.conformance.folder() / "06-candidates-against-the-head.swf"
    >>> sl.read_swf(log).jobs["requested_procs"].tolist()
    [2, 3, 2]
    """
    return data_dir() / "conformance"


@cache
def cases() -> tuple[Case, ...]:
    """Return all cases.

    Examples
    --------
    >>> from schedlab import conformance
    >>> case = conformance.cases()[0]
    >>> case.title, [answer.starts for answer in case.answers][0]
    ('Extra processors at the shadow time', (0, 10, 2, 3))
    """
    table = tomllib.loads((folder() / "cases.toml").read_text(encoding="utf-8"))["case"]
    return tuple(
        Case(
            **{each.name: row[each.name] for each in fields(Case) if each.name in row},
            answers=tuple(Answer(**answer) for answer in row["answer"]),
            path=folder() / f"{row['number']:02d}-{row['name']}.swf",
        )
        for row in table
    )


def case(number: int) -> Case:
    """Return one case; it displays itself, with a Gantt chart of each answer.

    Parameters
    ----------
    number : int
        Counted from 1.

    Raises
    ------
    ValueError
        For a number without a case.

    Examples
    --------
    >>> import schedlab as sl
    >>> case = sl.conformance.case(6)
    >>> print(case)
    Case 6, EASY: Candidates that would delay the head of the queue
    >>> chart = case.chart()
    """
    known = {each.number: each for each in cases()}
    if number not in known:
        raise ValueError(f"unknown case {number!r}; known: 1 to {len(known)}")
    return known[number]


def export(to: str | PathLike) -> list[Path]:
    """Write the logs into a folder, ready for another simulator.

    Parameters
    ----------
    to : path
        The folder, created if missing.

    Returns
    -------
    list of Path

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import schedlab as sl
    >>> with TemporaryDirectory() as folder:
    ...     logs = sl.conformance.export(folder)
    >>> len(logs), logs[0].name
    (17, '01-extra-processors.swf')
    """
    to = Path(to)
    to.mkdir(parents=True, exist_ok=True)
    found = []
    for case in cases():
        with replacing(to / case.path.name) as part:
            part.write_bytes(case.path.read_bytes())
        found.append(to / case.path.name)
    return found


# --- What a simulator made of them ---


def judge(given: str | PathLike | Scheme | Mapping[str, Mapping[int, int]], scheme: str | None = None, **conventions):
    """Say which conventions a simulator follows.

    Parameters
    ----------
    given : path, Scheme or mapping
        - A folder with one file per case, named like its log (``06-candidates-against-the-head.csv``). Formats: SWF
          with waits; the jobs file of Batsim or evalys, or any CSV with columns for the job and its start; a CSV of
          these two columns without a header; AccaSim's dispatching plan.
        - A schedlab scheme, which is run on the cases of its kind.
        - The starts themselves, by name of the case and job number.
    scheme : {"FCFS", "SJF", "EASY", "conservative"}, optional
        Judge only the cases that test this scheme. Default: the cases that have a file; for a scheme, those of its
        kind.
    **conventions
        overrun and events, as in `simulate`; only for a scheme.

    Returns
    -------
    Verdicts
        One row per case.

    Raises
    ------
    ValueError
        Names file and line of what cannot be read. Also if no case has a file, or for an unknown case.

    Examples
    --------
    >>> import schedlab as sl
    >>> bool(sl.conformance.judge(sl.EASY(), events="each")["follows"].all())
    True
    >>> starts = {"candidates-against-the-head": {1: 0, 2: 22, 3: 2}}  # of each job, from another simulator
    >>> sl.conformance.judge(starts)[["case", "follows", "convention"]].values.tolist()
    [[6, False, 'whatever fits starts']]
    """
    if scheme is None and isinstance(given, Scheme):
        scheme = _kind_of(given)
    known = cases() if scheme is None else [case for case in cases() if case.scheme == _kind(scheme)]
    if isinstance(given, Scheme):
        starts = {case.name: _simulated(case, given, conventions) for case in known}
    elif isinstance(given, Mapping):
        for name in given:
            check_known("case", name, [case.name for case in cases()])
        if not given:
            raise ValueError("no case is given, expected the starts of one or more, by the name of the case")
        starts = {case.name: _whole_starts(case, given[case.name]) for case in known if case.name in given}
        if not starts:
            names = ", ".join(case.name for case in known)
            raise ValueError(f"none of the cases given tests {scheme}; these do: {names}")
    else:
        files = [(case, _file(Path(given), case)) for case in known]
        starts = {case.name: read_starts(path, case) for case, path in files if path is not None}
        if not starts:
            example = f"{known[0].path.stem}.csv"
            raise ValueError(f"{plain(str(given))}: no file of any case, expected such as {example}")
    rows = [_verdict(case, starts[case.name]) for case in known if case.name in starts]
    return Verdicts(rows, columns=["case", "scheme", "title", "starts", "follows", "convention", "words"])


def _whole_starts(case, given):
    """Return the starts of a case by job number, after a check: jobs of the case, and whole seconds."""
    if not hasattr(given, "items"):
        raise ValueError(f"{case.name}: the starts are {given!r}, expected the start of each job by its number")
    jobs, starts = case.records.index.tolist(), {}
    for job, start in given.items():
        if job not in jobs:
            raise ValueError(f"{case.name}: there is no job {job!r}, expected numbers of {', '.join(map(str, jobs))}")
        if not (isinstance(start, Real) and np.isfinite(start) and abs(start - round(start)) < 0.01):
            raise ValueError(f"{case.name}: job {job} starts at {start!r}, expected a whole number of seconds")
        starts[job] = round(start)
    return starts


def _kind(scheme):
    return check_known("scheme", scheme, KINDS)


def _kind_of(scheme):
    if scheme.in_order:
        return "FCFS"
    if scheme.one_reservation:
        return "EASY"
    if scheme.promises(Flat(1)):
        return "conservative"
    raise ValueError(f'{scheme}: say which cases it should be judged by, with scheme="EASY"')


def _simulated(case, scheme, conventions):
    schedule = simulate(read_swf(case.path), scheme, **conventions)
    return dict(zip(schedule.trace.table.index.tolist(), schedule.start.tolist(), strict=True))


def _file(folder, case):
    if not folder.is_dir():
        raise ValueError(f"{plain(str(folder))}: no such folder, expected one with a file for each case")
    found = [folder / f"{case.path.stem}{suffix}" for suffix in SUFFIXES]
    return next((path for path in found if path.is_file()), None)


def _verdict(case, starts):
    starts = tuple(int(starts.get(job, NONE)) for job in case.records.index)
    answer = next((answer for answer in case.answers if answer.starts == starts), None)
    about = (case.number, case.scheme, case.title, starts)
    if answer is not None:
        return (*about, answer.follows, answer.convention, answer.words)
    return (*about, False, "", fault(case, starts))


def fault(case: Case, starts: tuple[int, ...]) -> str:
    """Say in a sentence what is wrong with a schedule that follows no known convention.

    Parameters
    ----------
    case : Case
        The simulated log.
    starts : tuple of int
        Of jobs 1, 2, ...

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.conformance.fault(sl.conformance.case(1), starts=(0, 20, 30, 40))
    'job 2 is first in the queue and fits at 10, but starts at 20'
    """
    records = case.records
    submit, run, procs, estimate = (
        records[name].tolist() for name in ("submit_time", "run_time", "requested_procs", "requested_time")
    )
    estimate = [run[i] if estimate[i] < 0 else estimate[i] for i in range(len(run))]
    jobs = range(len(run))
    if missing := [i for i in jobs if starts[i] == NONE]:
        return f"job {missing[0] + 1} never starts"
    for i in jobs:
        if starts[i] < submit[i]:
            return f"job {i + 1} starts at {starts[i]}, before its submission at {submit[i]}"
    for now in sorted({*starts}):
        held = sum(procs[i] for i in jobs if starts[i] <= now < starts[i] + min(run[i], estimate[i]))
        if held > case.procs:
            return f"at {now} jobs hold {held} processors of {case.procs}"
    order = sorted(jobs, key=lambda i: (submit[i], list(records.index)[i]))
    for i in sorted(jobs, key=lambda i: starts[i]):
        now = starts[i]
        waiting = [j for j in order if submit[j] <= now < starts[j]]
        ahead = [j for j in waiting if order.index(j) < order.index(i)]
        if not ahead:
            continue
        head = ahead[0]
        if case.scheme in ("FCFS", "SJF"):
            return f"job {i + 1} starts at {now}, ahead of job {head + 1}, which waits since {submit[head]}"
        others = [j for j in jobs if j != i and starts[j] <= now < starts[j] + run[j]]
        shadow, left = _shadow(head, now, others, starts, estimate, procs, case.procs)
        if now + estimate[i] > shadow and procs[i] > left:
            delayed = f", and waits until {starts[head]}" if starts[head] > shadow else ""
            return (
                f"job {i + 1} starts at {now} and may run until {now + estimate[i]}, though job {head + 1}, the head "
                f"of the queue, could start at {shadow}{delayed}"
            )
    for i in order:
        free = [
            now
            for now in sorted({submit[i], *(starts[j] + run[j] for j in jobs)})
            if submit[i] <= now < starts[i]
            and not any(submit[j] <= now < starts[j] for j in order[: order.index(i)])
            and case.procs - sum(procs[j] for j in jobs if starts[j] <= now < starts[j] + run[j]) >= procs[i]
        ]
        if free:
            return f"job {i + 1} is first in the queue and fits at {free[0]}, but starts at {starts[i]}"
    return "follows no known convention"


def _shadow(head, now, running, starts, estimate, procs, machine):
    """Return when the head of the queue could start, by running jobs' estimates, and the processors it leaves over."""
    free = machine - sum(procs[j] for j in running)
    shadow = now
    ends = sorted((max(starts[j] + estimate[j], now + 1), procs[j]) for j in running)
    for end, freed in ends:
        if free >= procs[head] and end > shadow:
            break
        free, shadow = free + freed, end
    return shadow, free - procs[head]


class Verdicts(pd.DataFrame):
    """The result of `judge`; it displays itself in words.

    Columns: case, scheme, title, starts, follows (whether the starts follow any convention of the case's scheme),
    convention (empty if it is unknown), and words.

    Examples
    --------
    >>> import schedlab as sl
    >>> verdicts = sl.conformance.judge(sl.FCFS())
    >>> verdicts[["case", "convention"]].values.tolist()
    [[10, 'in the order of the log'], [11, 'nothing passes the head'], [12, 'it is left out']]
    """

    @property
    def _constructor(self):
        return pd.DataFrame

    @property
    def passed(self) -> bool:
        """Whether every case follows its scheme."""
        return bool(self["follows"].all())

    def __str__(self) -> str:
        lines = []
        for row in self.itertuples():
            about = f"case {row.case} ({row.title})"
            if row.follows:
                lines.append(f"{row.scheme}, {about}: {row.convention}")
            else:
                told = f"{row.convention}. {row.words}" if row.convention else row.words
                lines.append(f"not {row.scheme}: {about}: {told}")
        count, total = int((~self["follows"]).sum()), len(self)
        cases = f"{total} {'case' if total == 1 else 'cases'}"
        lines.append(
            f"all of {cases} follow their scheme" if not count else f"not following their scheme: {count} of {cases}"
        )
        return "\n".join(lines)


def others() -> pd.DataFrame:
    """Return the results of other simulators on the logs.

    Returns
    -------
    DataFrame
        One row per simulator and case: simulator, version, its scheme, case, title, convention (or what is wrong, if no
        convention is followed), follows (whether it follows the scheme that the case tests).

    Examples
    --------
    >>> import schedlab as sl
    >>> found = sl.conformance.others()
    >>> found.loc[found["case"] == 17, ["simulator", "follows"]].values.tolist()
    [['predictsim', True], ['CQSim', False]]
    """
    rows = []
    for run in pd.read_csv(folder() / "others.csv", dtype=str).itertuples():
        about = case(int(run.case))
        verdict = _verdict(about, dict(enumerate(map(int, run.starts.split()), start=1)))
        told = verdict[5] or f"none: {verdict[6]}"
        rows.append((run.simulator, run.version, run.scheme, *verdict[:1], *verdict[2:3], told, verdict[4]))
    return pd.DataFrame(rows, columns=["simulator", "version", "scheme", "case", "title", "convention", "follows"])


# --- Files of others ---


def read_starts(path: str | PathLike, case: Case) -> dict[int, int]:
    """Read when the jobs of a case start from the output of any simulator.

    Parameters
    ----------
    path : path
        SWF, CSV or AccaSim's dispatching plan; the content decides which.
    case : Case
        For submit times, if the file counts from another origin.

    Returns
    -------
    dict of int to int
        By job number.

    Raises
    ------
    ValueError
        Names file, line, field, value and what was expected.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> output = pd.DataFrame({"job_id": [1, 2, 3, 4], "starting_time": [0, 10, 2, 3]})
    >>> with TemporaryDirectory() as folder:
    ...     output.to_csv(f"{folder}/jobs.csv", index=False)
    ...     sl.conformance.read_starts(f"{folder}/jobs.csv", sl.conformance.case(1))
    {1: 0, 2: 10, 3: 2, 4: 3}
    """
    path = Path(path)
    lines = [
        (number, line.strip())
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith((";", "#"))
    ]
    if not lines:
        raise ValueError(f"{plain(str(path))}: no jobs in the file")
    first = lines[0][1]
    if len(first.split()) == len(swf.FIELDS):
        read = _of_swf
    elif first.count(";") > 3 and "__" in first:
        read = _of_accasim
    else:
        return _of_csv(path, lines)
    return dict(read(path, number, line, case) for number, line in lines)


def _of_swf(path, number, line, case):
    words = zip(swf.FIELDS[:3], line.split(), strict=False)
    job, submit, wait = (_whole(path, number, name, word) for name, word in words)
    return job, NONE if wait < 0 else submit + wait


def _of_accasim(path, number, line, case):
    before, *_, after = line.split("__")  # job, user, queued; nodes; start, end and more
    (job, *_, queued), start = before.split(";"), after.split(";")[0]
    try:
        wait = datetime.strptime(start, ACCASIM) - datetime.strptime(queued, ACCASIM)
    except ValueError:
        expected = "expected a time such as 2001-01-31 12:00:00"
        raise ValueError(f"{plain(str(path))}:{number}: start is {start!r}, {expected}") from None
    job = _whole(path, number, "job_id", job)
    if job not in case.records.index:
        raise ValueError(f"{plain(str(path))}:{number}: job {job} is not in case {case.number}")
    return job, int(case.records.loc[job, "submit_time"] + wait.total_seconds())


def _of_csv(path, lines):
    separator = max(",;\t", key=lines[0][1].count)
    rows = [(number, next(csv.reader([line], delimiter=separator))) for number, line in lines]
    names = [name.strip().casefold() for name in rows[0][1]]
    job, start = (next((names.index(name) for name in known if name in names), None) for known in (JOB, START))
    if job is None and start is None and len(names) == 2:  # a file without a header
        job, start = 0, 1
    elif job is None or start is None:
        missing, known = ("job", JOB) if job is None else ("start", START)
        expected = f"expected a column {known[0]} or {known[-2]}, or two columns without names"
        raise ValueError(f"{plain(str(path))}:{rows[0][0]}: no {missing} among {', '.join(names)}; {expected}")
    else:
        rows = rows[1:]
    found = {}
    for number, row in rows:
        if len(row) <= max(job, start):
            raise ValueError(f"{plain(str(path))}:{number}: {len(row)} fields, expected {len(names)}")
        key = _whole(path, number, names[job], row[job].rpartition("!")[2])  # Batsim's "w0!1"
        found[key] = _whole(path, number, names[start], row[start] or str(NONE))
    return found


def _whole(path, number, name, word):
    """Read a number of seconds, or of a job; rounding noise such as Batsim's 10.000001 is removed."""
    try:
        value = float(word)
        whole = round(value)
        if abs(value - whole) < 0.01:
            return whole
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"{plain(str(path))}:{number}: {name} is {word!r}, expected a whole number")
