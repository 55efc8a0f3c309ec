"""`Trace`: an immutable table of jobs with the facts of its machine, and functions to load or make one."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from schedlab import show
from schedlab._runtime.text import check_known, plain
from schedlab._runtime.words import Overrun

from . import swf
from .assumptions import Assumptions
from .columns import Columns, codes_of
from .conventions import KILL_BACKFILLED, OVERRUN, run_times
from .copies import Table, copied
from .edges import edge_notes, has_waits
from .filter import FEW, account, in_one_line, with_work
from .parts import Parts
from .records import most_in_use
from .speedup import Downey, Laws, Model
from .variations import Variations
from .writing import Writing

SPEEDUP = Downey.columns  # columns of a job of Downey's model beyond those of SWF


_columns = WeakKeyDictionary()  # by trace, but not inside it: ``Trace(**vars(trace) | changes)`` copies a trace


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Parts, Variations, Assumptions, Writing):
    """Jobs that can be simulated, on a machine of known size. Each method that changes something returns a new trace.

    Its tables are handed out as copies (made on write): changing one does not change the trace.

    Attributes
    ----------
    table : DataFrame
        The jobs; see `jobs`.
    name : str
        Name of the log or model, without control characters (`schedlab._runtime.text.plain`). The steps of `history`
        have none either.
    procs : int
        Processors of the machine.
    header : swf.Header
        The comment lines of the log.
    source : {"archive", "stand-in", "file", "model"}
        Where the jobs come from.
    dropped, repaired : DataFrame
        Records that the load filter omitted, and values that it filled in, with reasons
        (`schedlab.workload.filter.usable`) and the ``work`` of these jobs, in processor-seconds.
    logged_area : Series
        Run time x processors of each job as read, before any rescaling; processor-seconds, index job_number.
    history : tuple of str
        What was done to the trace since the log was read, in order.
    speedup : Model, optional
        How the jobs speed up (`with_speedup`).
    people : mapping, optional
        Names of users and groups by number, for each column (`read_sacct` with ``names=True``). They are never written
        to a file.
    altered : str
        The first step after which the log's waits no longer belong to the jobs; empty if there is none.
    files : mapping of str to str
        What it was read from: paths and names of logs, each with a digest of the content (`schedlab._runtime.files`).
        Once such a file is another one, results computed from this trace are not used again.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=2000, machine=64, seed=1)
    >>> part = trace.head(1000).where("requested_procs > 1").scale_load(0.8).with_estimates("factor", factor=2)
    >>> len(part.history), round(part.offered_load(), 2)
    (5, 0.8)
    >>> chart = sl.charts.heatmap(trace)
    """

    unchanging: ClassVar[bool] = True  # so the digest of its content is computed once

    table: pd.DataFrame = Table()  # noqa: RUF009 - a descriptor, no default
    name: str
    procs: int
    header: swf.Header
    source: str
    dropped: pd.DataFrame = Table()  # noqa: RUF009 - a descriptor, no default
    repaired: pd.DataFrame = Table()  # noqa: RUF009 - a descriptor, no default
    logged_area: pd.Series = Table()  # noqa: RUF009 - a descriptor, no default
    history: tuple[str, ...] = ()
    speedup: Model | None = None
    people: Mapping[str, Mapping[int, str]] | None = None
    altered: str = ""
    files: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self):
        # A copy (made on write), so that later changes to the caller's table do not reach the trace.
        sort = not self.table["submit_time"].is_monotonic_increasing
        table = self.table.sort_values("submit_time", kind="stable") if sort else copied(self.table)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "dropped", with_work(self.dropped, self.logged_area))
        object.__setattr__(self, "repaired", with_work(self.repaired, self.logged_area))
        # Both are shown in many places, and written to the header of a file.
        object.__setattr__(self, "name", plain(str(self.name)))
        object.__setattr__(self, "history", tuple(plain(step) for step in self.history))

    @property
    def jobs(self) -> pd.DataFrame:
        """One row per job: index job_number, SWF columns, sorted by submit time; times in seconds.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 6, 9, 5), (1, 4, 4, 6)], machine=8)
        >>> trace.jobs[["submit_time", "run_time", "requested_time", "requested_procs"]].to_numpy().tolist()
        [[0, 6, 9, 5], [1, 4, 4, 6]]
        """
        return self.table

    def __len__(self) -> int:
        return len(self.table)  # with a lead-in

    def __repr__(self) -> str:
        standin = " STAND-IN, not the real log" if self.source == "stand-in" else ""
        facts = f"{self.jobs_text} on {self.procs:,} processors, offered load {_load_text(self)}"
        lines = filter(None, (in_one_line(self.repairs), *self.notes, *self.history))
        return "\n   ".join([f"<Trace {self.name} ({self.source}){standin}: {facts}", *lines]) + ">"

    @property
    def jobs_text(self) -> str:
        """The number of jobs in words: ``"5,000 jobs"``, or ``"120 jobs + 31 as lead-in, not counted"``."""
        counted = int(self.counted().sum())
        lead = len(self) - counted
        return f"{counted:,} jobs" + f" + {lead:,} as lead-in, not counted" * (lead > 0)

    @property
    def repairs(self) -> pd.DataFrame:
        """What was omitted and filled in, by reason: first what is worth a look, then what every log has.

        Columns: table ("dropped" or "repaired"), field, reason, kind ("worth a look" or "usual"), count, work in
        processor-seconds, its share, and words; see `schedlab.workload.filter.account`. The records themselves are in
        `dropped` and `repaired`.

        Examples
        --------
        >>> import pandas as pd
        >>> import schedlab as sl
        >>> jobs = pd.DataFrame({"submit": [0, 5, 9], "run": [60, 60, 0], "procs": [1, 2, 2]})
        >>> trace = sl.from_frame(jobs, submit="submit", run="run", procs="procs", machine=4)
        >>> len(trace), trace.repairs["words"].tolist()
        (2, ['all 2 jobs without an estimate (run time taken)', '1 job of 0 s (left out)'])
        """
        modelled = self.source == "model"
        return account(self.dropped, self.repaired, self.logged_area, modelled, self.procs)

    def _repr_html_(self) -> str:
        submit = self.table["submit_time"][self.counted()]
        facts = {"jobs": self.jobs_text.replace(" jobs", ""), "processors": f"{self.procs:,}"}
        if len(submit):
            facts["offered load"] = _load_text(self)
            first, last = (self.at(float(second)) for second in submit.iloc[[0, -1]])
            facts |= {"users": f"{self.table['user_id'].nunique():,}"}
            facts |= {"first submission": show.instant(first), "last submission": show.instant(last)}
            late, _ = self.beyond_estimates()
            facts |= {"run longer than estimated": f"{late:,} jobs" if late else "none"}
        if self.has_speedup:
            facts["effective load"] = f"{self.effective_load():.3f}" if len(submit) else "unknown"
        kind = {"archive": "log of the archive", "file": "read from a file", "model": "from a model"}
        parts = [show.line(kind.get(self.source, ""), strong=self.name)]
        if self.source == "stand-in":
            parts.append(show.note("a stand-in, not the real log"))
        parts.append(show.facts(facts))
        parts += [show.note(note) for note in self.notes]
        parts += [show.line(step, faint=True) for step in self.history]
        return show.page(*parts, self.account_html())

    def account_html(self) -> str:
        """Return the part of an HTML page that says what was omitted and filled in, by reason."""
        repairs = self.repairs  # by reason, those worth a look first
        if not len(repairs):
            return show.line("nothing was left out or filled in", faint=True)
        look = repairs.loc[repairs["kind"] == "worth a look", "words"].tolist()
        heading = f"worth a look: {', '.join(look)}" if look else "left out and filled in: nothing to worry about"
        shares = repairs["share"].map(lambda share: "" if np.isnan(share) else f"{100 * share:.3g} %")
        rows = repairs[["kind", "words"]].assign(share=shares).to_numpy()
        return show.folded(heading, show.table(("", "", "of the work"), rows, texts=(0, 1)))

    @property
    def title(self) -> str:
        """Name for a chart's subtitle; it says so if the jobs are not those of a real log."""
        return f"{self.name} (stand-in, not the real log)" if self.source == "stand-in" else self.name

    @property
    def names(self) -> dict[str, Mapping[int, str]]:
        """Names of the numbers in some columns, by column, as far as the log gives them."""
        people = {
            column: {number: plain(name) for number, name in names.items()}
            for column, names in (self.people or {}).items()
        }
        return {"queue": self.header.queues, "partition": self.header.partitions, **people}

    @property
    def columns(self) -> Columns:
        """The columns of the jobs as numbers, the way a policy sees them: ``trace.columns["user"]``.

        Text appears as codes, which `codes` lists; see `schedlab.workload.columns.Columns`.
        """
        if self not in _columns:
            _columns[self] = Columns(self.table, self.header.unix_start_time)
        return _columns[self]

    def codes(self, column: str) -> dict[str, int]:
        """Return the number that a policy sees for each name in a column: the log's own, else its alphabetical place.

        Parameters
        ----------
        column : str
            Such as ``"queue"``, ``"user"``, or a text column that the reader kept; a column of numbers without names
            is an error.

        Examples
        --------
        >>> import pandas as pd, schedlab as sl
        >>> jobs = pd.DataFrame({"submit": [0, 5], "run": [60, 60], "procs": [1, 2], "account": ["physics", "astro"]})
        >>> sl.from_frame(jobs, submit="submit", run="run", procs="procs", machine=4).codes("account")
        {'astro': 0, 'physics': 1}
        """
        return codes_of(self.columns, self.names, column)

    def offered_load(self, overrun: Overrun = "kill", window=None) -> float:
        """Processor-seconds submitted, divided by the machine's capacity between the first and the last submission.

        1 is the whole capacity. It is inf if all jobs are submitted at one instant; without jobs, it is an error. A
        lead-in does not count (`counted`).

        Parameters
        ----------
        overrun : {"kill", "extend", "keep", "kill-backfilled"}
            How to count a job that outlives its estimate (as in `simulate`): under "kill" up to the estimate, else in
            full.
        window : (begin, end), optional
            Only what was submitted in [begin, end), divided by the capacity of that period: dates or seconds, as in
            `between`.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 60, 40, 4), (100, 60, 60, 4)], machine=8)  # job 1 outlives its estimate
        >>> trace.offered_load(), trace.offered_load("extend")
        (0.5, 0.6)
        """
        return self._load(self._areas, overrun, window)

    def _load(self, work, overrun, window=None):
        """Divide the work of the counted jobs by the machine's capacity, between the first and the last submission."""
        check_known("overrun", overrun, (*OVERRUN, KILL_BACKFILLED))
        counted = self.counted(window)
        if window is None and not counted.any():
            raise ValueError(f"{self.name} has no jobs, and so no load")
        submit = self.table["submit_time"].to_numpy()[counted]
        begin, end = map(int, submit[[0, -1]]) if window is None else self.period(window)
        capacity = self.procs * (end - begin)
        return float(work(overrun)[counted].sum() / capacity) if capacity else float("inf")

    def _areas(self, overrun):
        return run_times(self.table, overrun) * self.table["requested_procs"].to_numpy()

    def work(self, overrun: Overrun = "kill") -> int:
        """Sum up run time x processors of the counted jobs, in processor-seconds.

        Parameters
        ----------
        overrun : {"kill", "extend", "keep", "kill-backfilled"}
            As in `offered_load`.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 60, 40, 4), (100, 60, 60, 4)], machine=8)  # job 1 outlives its estimate
        >>> trace.work(), trace.work("extend")
        (400, 480)
        """
        return int(self._areas(overrun)[self.counted()].sum())

    def beyond_estimates(self) -> tuple[int, float]:
        """Return the number of jobs that run longer than estimated, and the share of all work beyond the estimates.

        That share is what overrun "kill" cuts off.

        Examples
        --------
        >>> import schedlab as sl
        >>> sl.testing.trace_of([(0, 60, 40, 4), (100, 20, 60, 4)], machine=8).beyond_estimates()
        (1, 0.25)
        """
        run, estimate = self.table["run_time"], self.table["requested_time"]
        procs = self.table["requested_procs"].astype("float64")
        late, work = run > estimate, (run * procs).sum()
        return int(late.sum()), float(((run - estimate) * procs)[late].sum() / work) if work else 0.0

    @property
    def notes(self) -> list[str]:
        """What else to know before the log is simulated, each where it touches more than 1 % of the work or jobs.

        What overrun "kill" cuts off; jobs that got other sizes than they requested; jobs that have to wait for others
        (SWF's field 17), which no scheme here observes; and what runs over the edges of the log (of recorded starts).

        Examples
        --------
        >>> import pandas as pd
        >>> import schedlab as sl
        >>> jobs = pd.DataFrame({"submit": [0, 0], "run": [60, 60], "procs": [4, 4], "preceding_job": [-1, 1]})
        >>> sl.from_frame(jobs, submit="submit", run="run", procs="procs", machine=8).notes
        ['1 job has to wait for another (preceding_job), which is not simulated']
        """
        table = self.table
        notes = [self.cut_words()]
        if self.source != "model":
            work = self.logged_area.reindex(table.index).to_numpy("float64")
            requested = table["requested_procs"]
            other = (table["allocated_procs"] > 0) & (table["allocated_procs"] != requested)
            share = work[other].sum() / (np.nansum(work) or 1)
            sizes = "is of jobs that got other sizes than they requested, which count"
            notes.append(f"{100 * share:.3g} % of the work {sizes}" if share > FEW else "")
        after = int(table["preceding_job"].isin(table.index).sum())
        jobs = f"{after:,} jobs have to wait for others" if after > 1 else "1 job has to wait for another"
        notes.append(f"{jobs} (preceding_job), which is not simulated" if after else "")
        if has_waits(self) and self.counted().all():
            notes += edge_notes(table, self.procs)
        return [note for note in notes if note]

    @property
    def gpus(self) -> int:
        """The most GPUs in use at one instant, by the recorded starts; 0 if the log has none, or no starts.

        Examples
        --------
        >>> import warnings
        >>> import pandas as pd
        >>> import schedlab as sl
        >>> jobs = pd.DataFrame({"submit": [0, 5], "start": [0, 10], "end": [60, 70], "procs": [1, 2]})
        >>> with warnings.catch_warnings(action="ignore"):  # of GPUs where processors are simulated
        ...     trace = sl.from_frame(jobs, submit="submit", start="start", end="end", procs="procs", gpus=[4, 8])
        >>> trace.gpus
        12
        """
        jobs = self.table
        if "gpus" not in jobs or not pd.api.types.is_numeric_dtype(jobs["gpus"]):
            return 0
        jobs = jobs[jobs["wait_time"] >= 0]
        return most_in_use(jobs.assign(start_time=jobs["submit_time"] + jobs["wait_time"]), "gpus")

    def cut_words(self) -> str:
        """Say how much overrun "kill" cuts off, if it is more than 1 % of the work; else an empty text."""
        late, share = self.beyond_estimates()
        if share <= FEW:
            return ""
        jobs = f"{late:,} jobs run" if late > 1 else "1 job runs"
        cut = f"{100 * share:.3g} % of the work"
        return f'{jobs} longer than estimated: overrun "kill" cuts off {cut}, not "extend" or "keep"'

    def sequential_work(self, overrun: Overrun = "kill") -> np.ndarray:
        """Return the work of each job on one processor: float64, shape (n_jobs,), processor-seconds.

        It is the run time x the speedup on the requested processors. Without speed-up data (`with_speedup`), a job
        counts as perfectly efficient.

        Parameters
        ----------
        overrun : {"kill", "extend", "keep", "kill-backfilled"}
            As in `offered_load`.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 60, 60, 4)], machine=8)
        >>> moldable = trace.with_speedup(sl.Amdahl(serial=0.2))  # a speedup of 2.5 on 4 processors
        >>> trace.sequential_work().tolist(), moldable.sequential_work().round(6).tolist()
        ([240], [150.0])
        """
        procs = self.table["requested_procs"].to_numpy()
        return run_times(self.table, overrun) * (self.laws().speedup(procs) if self.has_speedup else procs)

    def effective_load(self, overrun: Overrun = "kill", window=None) -> float:
        """Return the load if jobs were as efficient as on one processor: `offered_load` of the `sequential_work`.

        Parameters
        ----------
        overrun, window : optional
            As in `offered_load`.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 60, 60, 4), (100, 60, 60, 4)], machine=8)
        >>> trace.offered_load(), round(trace.with_speedup(sl.Amdahl(serial=0.2)).effective_load(), 3)
        (0.6, 0.375)

        References
        ----------
        Sabin, Lang and Sadayappan, "Moldable parallel job scheduling using job efficiency: an iterative approach",
        JSSPP 2006.
        """
        return self._load(self.sequential_work, overrun, window)

    @property
    def has_speedup(self) -> bool:
        """Whether the speedup of the jobs is known: from `with_speedup`, or because they come from Downey's model."""
        return self.speedup is not None or set(SPEEDUP) <= set(self.table.columns)

    def check_speedup(self, who) -> None:
        """Raise ValueError if the speedup of the jobs is unknown.

        Parameters
        ----------
        who : str or Scheme
            Who needs it: the beginning of the message.
        """
        if not self.has_speedup:
            advice = "trace.with_speedup(sl.Downey(A='system', sigma=(0, 2))) draws some"
            raise ValueError(f"{who} needs speed-up data, and {self.name} has none: {advice}")

    def laws(self, procs: int | None = None) -> Laws:
        """Tell how the jobs speed up on 1 to `procs` processors, in the form that the kernels take.

        Parameters
        ----------
        procs : int, optional
            How many processors the curves cover; default: those of the machine.

        Examples
        --------
        >>> import numpy as np
        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 60, 60, 4), (100, 20, 60, 8)], machine=8)
        >>> trace = trace.with_speedup(sl.Amdahl(serial=0.2))
        >>> trace.laws().speedup(np.array([1, 4])).round(3).tolist()  # of job 1 on 1 processor, of job 2 on 4
        [1.0, 2.5]
        """
        self.check_speedup("laws()")
        return (self.speedup or Downey()).laws(self.table, self.procs if procs is None else procs)

    def _with(self, table, step) -> Self:
        return replace(self, table=table, history=(*self.history, step))

    def _altered(self, table, step) -> Self:
        """Do the same for a step after which the log's waits no longer belong to the jobs."""
        return replace(self._with(table, step), altered=self.altered or step)


def _load_text(trace):
    if not len(trace):
        return "unknown"
    load = trace.offered_load()
    return f"{load:.3f}" if np.isfinite(load) else "none (all arrive at once)"
