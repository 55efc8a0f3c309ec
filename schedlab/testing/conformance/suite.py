"""The probes: small logs that each isolate one choice of a scheduler, with the schedule under each convention.

Most have two to six jobs. A few have sixty or more, without two events at one instant: they leave nothing open, and
refuse mistakes that need a long queue to show.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from schedlab import show
from schedlab._runtime.paths import data_dir, replacing
from schedlab.schedule import Schedule
from schedlab.schedule.simulation import simulate
from schedlab.schemes import Scheme
from schedlab.workload import swf
from schedlab.workload.loading import read_swf
from schedlab.workload.trace import Trace

NONE = -1  # start of a job that never starts
MOST_TOLD, MOST_NAMED = 10, 3  # starts of an answer; mistakes that give the same schedule
FEW = 12  # jobs whose estimates are drawn, too
KINDS = ("FCFS", "SJF", "EASY", "conservative")  # kinds of schemes that the probes test


@dataclass(frozen=True)
class Answer:
    """The schedule of a probe under one convention.

    Attributes
    ----------
    convention : str
        In words.
    starts : tuple of int
        Of jobs 1, 2, ..., in seconds; -1 for a job that never starts.
    words : str
        Why.
    follows : bool
        Whether it is a convention of the scheme that the probe tests. Otherwise it is another scheme, or a mistake.
    ours : mapping
        The schedlab settings that follow it: scheme, its settings, overrun and events; empty if none do.
    under : mapping of str to tuple of str
        The conventions under which it follows, where the scheme leaves a choice: of a choice ("events", "compression"),
        those that give this schedule. Empty if all do. Answers of one simulator must have one convention in common.

    Examples
    --------
    >>> import schedlab as sl
    >>> answer = sl.conformance.probe(6).answers[1]
    >>> answer.convention, answer.starts, answer.follows
    ('whatever fits starts', (0, 22, 2), False)
    """

    convention: str
    starts: tuple[int, ...]
    words: str
    follows: bool = True
    ours: Mapping = field(default_factory=dict)
    under: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self):
        object.__setattr__(self, "starts", tuple(self.starts))
        object.__setattr__(self, "under", {choice: tuple(names) for choice, names in self.under.items()})

    @property
    def told(self) -> str:
        """The starts as text; of a long probe only the first."""
        return _told(self.starts)


@dataclass(frozen=True)
class Probe:
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
    >>> probe = sl.conformance.probe(1)
    >>> probe.title, probe.procs, len(probe.records)
    ('Extra processors at the shadow time', 4, 4)
    >>> probe.schedule(probe.answers[0]).jobs["start_time"].tolist()
    [0, 10, 2, 3]
    >>> chart = probe.chart()
    """

    number: int
    name: str
    scheme: str
    title: str
    words: str
    answers: tuple[Answer, ...]
    path: Path

    @cached_property
    def trace(self) -> Trace:
        """The log as a trace."""
        return read_swf(self.path)

    @cached_property
    def records(self) -> pd.DataFrame:
        """The unmodified records of the log, by job number."""
        return swf.read_log(self.path).records.set_index("job_number").sort_index()

    @property
    def procs(self) -> int:
        """Processors of the machine."""
        return self.trace.procs

    def schedule(self, answer: Answer) -> Schedule:
        """Return the schedule of an answer, for example for a Gantt chart, without the jobs that never start.

        Parameters
        ----------
        answer : Answer
            One of `answers`.
        """
        trace = self.trace.where([answer.starts[job - 1] != NONE for job in self.trace.table.index])
        begin = int(trace.table["submit_time"].iloc[0])
        starts = tuple(answer.starts[job - 1] - begin for job in trace.table.index)
        return simulate(trace, _Told(starts), overrun=answer.ours.get("overrun", "kill"))

    def chart(self):
        """Draw the schedules of all answers as Gantt charts below one another.

        Returns
        -------
        altair chart
        """
        from schedlab.charts import gantts  # here, since Altair is slow to load

        schedules = {answer.convention: self.schedule(answer) for answer in self.answers}
        how = {"color": "job_number", "label": "job_number", "height": 100 * len(schedules)}
        how["estimates"] = len(self.records) <= FEW
        return gantts(schedules, title=str(self), **how)

    def __str__(self) -> str:
        return f"Probe {self.number}, {self.scheme}: {self.title}"

    def _repr_html_(self) -> str:
        from schedlab.charts.files import within  # here, since Altair is slow to load

        parts = [show.line(self.words, strong=str(self))]
        for answer in self.answers:
            parts.append(show.line(f"{answer.words} Starts: {answer.told}.", strong=answer.convention))
        parts.append(within(self.chart(), self.title))
        if wrong := mistakes()[self.number]:
            rows = [(_told(starts), _named(names)) for starts, names in wrong.items()]
            parts.append(show.folded("what known mistakes make of it", show.table(("starts", "mistake"), rows, (0, 1))))
        return show.page(*parts)


def _told(starts):
    times = ["never" if start == NONE else str(start) for start in starts[:MOST_TOLD]]
    return ", ".join([*times, f"... ({len(starts)} jobs)"] if len(starts) > MOST_TOLD else times)


def _named(mistakes):
    more = len(mistakes) - MOST_NAMED
    return "; ".join([*mistakes[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])


@dataclass(frozen=True)
class _Told(Scheme):
    """A schedule given as starts, not decided by a scheme."""

    starts: tuple[int, ...]

    overruns = ("kill", "extend", "keep")

    def simulate(self, case):
        return case.outcome(np.array(self.starts, np.int64))


def folder() -> Path:
    """Return the folder of the probes.

    Examples
    --------
    >>> import schedlab as sl
    >>> log = sl.conformance.folder() / "06-candidates-against-the-head.swf"
    >>> sl.read_swf(log).jobs["requested_procs"].tolist()
    [2, 3, 2]
    """
    return data_dir() / "conformance"


@cache
def probes() -> tuple[Probe, ...]:
    """Return all probes.

    Examples
    --------
    >>> from schedlab import conformance
    >>> probe = conformance.probes()[0]
    >>> probe.title, [answer.starts for answer in probe.answers][0]
    ('Extra processors at the shadow time', (0, 10, 2, 3))
    """
    table = tomllib.loads((folder() / "probes.toml").read_text(encoding="utf-8"))["probe"]
    return tuple(
        Probe(
            **{field.name: row[field.name] for field in fields(Probe) if field.name in row},
            answers=tuple(Answer(**answer) for answer in row["answer"]),
            path=folder() / f"{row['number']:02d}-{row['name']}.swf",
        )
        for row in table
    )


@cache
def mistakes() -> Mapping[int, Mapping[tuple[int, ...], tuple[str, ...]]]:
    """Return what known mistakes make of the probes: for each probe, the schedules and which mistakes give them.

    A mistake that is not listed for a probe gives the first answer there, which is right.

    Examples
    --------
    >>> from schedlab import conformance
    >>> "starts whatever fits: first fit" in conformance.mistakes()[6][0, 22, 2]
    True
    """
    table = pd.read_csv(folder() / "mistakes.csv", dtype=str)
    wrong = {probe.number: {} for probe in probes()}
    for row in table.itertuples():
        wrong[int(row.probe)][tuple(map(int, row.starts.split()))] = tuple(row.mistakes.split("; "))
    return wrong


def probe(number: int) -> Probe:
    """Return one probe; it displays itself, with a Gantt chart of each answer.

    Raises ValueError for a number without a probe.

    Parameters
    ----------
    number : int
        Counted from 1.

    Examples
    --------
    >>> import schedlab as sl
    >>> probe = sl.conformance.probe(6)
    >>> print(probe)
    Probe 6, EASY: Candidates that would delay the head of the queue
    >>> chart = probe.chart()
    """
    known = {example.number: example for example in probes()}
    if number not in known:
        raise ValueError(f"unknown probe {number!r}; known: 1 to {len(known)}")
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
    (58, '01-extra-processors.swf')
    """
    to = Path(to)
    to.mkdir(parents=True, exist_ok=True)
    paths = []
    for probe in probes():
        with replacing(to / probe.path.name) as part:
            part.write_bytes(probe.path.read_bytes())
        paths.append(to / probe.path.name)
    return paths
