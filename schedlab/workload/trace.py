"""`Trace`: an immutable table of jobs with the facts of its machine, and functions to load or make one."""

import inspect
import os
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from schedlab import show
from schedlab._runtime.files import opened, recording
from schedlab._runtime.streams import entropy, keys, uniforms
from schedlab._runtime.text import check_known, plain, suggestion
from schedlab._runtime.words import MissingEstimate, Overrun, Rescaled

from . import archive, swf
from .columns import WORDS, Columns, codes_of
from .copies import Table, copied
from .filter import BAD_LINE, FEW, TOO_WIDE, account, in_one_line, lost_work, usable
from .joining import joined
from .models.common import whole_seconds
from .models.downey import downey
from .models.jann import jann, jann_table
from .models.lublin import lublin_feitelson
from .models.tsafrir import LEAST_JOBS, Tsafrir, fit_tsafrir
from .queues import queue_limits
from .speedup import Amdahl, Downey, Laws, Model, Speedup
from .standin import SEED, look_alike
from .swf import MOST_PROCS

KEEP = "keep"  # supported by some schemes only
OVERRUN = ("kill", "extend", KEEP)
KILL_BACKFILLED = "kill-backfilled"  # the fourth rule, on trees only
_COUNTS = re.compile(r";\s*(MaxJobs|MaxRecords|MaxProcs)\s*:", re.IGNORECASE)  # wrong for a changed trace
SPEEDUP = Downey.columns  # columns of a job of Downey's model beyond those of SWF
HOUR = 3_600
MOST_LOAD = 1.5  # a higher load is probably a mistake
MODELS = {"lublin": lublin_feitelson, "jann": jann, "downey": downey}
MODEL_NAMES = {"lublin": "Lublin-Feitelson model", "jann": "Jann model", "downey": "Downey model"}
# Columns that a schedule of rigid jobs on a flat machine adds to those of its trace.
SIMULATED = (
    "logged_area",
    "killed",
    "start_time",
    "end_time",
    "procs",
    "turnaround",
    "slowdown",
    "bounded_slowdown",
    "promised_start",
    "started_by",
)
# Columns that any schedule may add; a trace's own column of such a name is renamed.
TAKEN = (
    *SIMULATED,
    "nodes",
    "backfilled",
    "estimate",
    "sequential_work",
    "wasted",
    "parallel_start",
    "tasks_alone",
)
MOST_REASONS = 5  # listed in a message
WEEK = 7 * 24 * 3600  # seconds
EARLIEST = -62_135_510_400  # seconds since 1970: the second day of year 1, so that the date exists in every time zone


class SizeUnknown(swf.SWFError):
    """A log does not say how many processors its machine has."""


class LoadWarning(UserWarning):
    """A load is probably not the one that was meant.

    Either it is so high that a percentage was meant, or more than 1 % of the work was left out as a trace was loaded or
    put on another machine.
    """


_columns = WeakKeyDictionary()  # by trace, but not inside it: ``Trace(**vars(trace) | changes)`` copies a trace


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
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
        (`schedlab.workload.filter.usable`).
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
        return len(self.table)

    def __repr__(self) -> str:
        standin = " STAND-IN, not the real log" if self.source == "stand-in" else ""
        lines = [
            f"<Trace {self.name} ({self.source}){standin}: {len(self):,} jobs on {self.procs:,} processors,"
            f" offered load {_load_text(self)}",
        ]
        if words := in_one_line(self.repairs):
            lines.append(f"   {words}")
        if words := self.cut_words():
            lines.append(f"   {words}")
        return "\n".join([*lines, *(f"   {step}" for step in self.history)]) + ">"

    @property
    def repairs(self) -> pd.DataFrame:
        """What was omitted and filled in, by reason: first what is worth a look, then what every log has.

        Columns: table ("dropped" or "repaired"), field, reason, kind ("worth a look" or "usual"), count and words; see
        `schedlab.workload.filter.account`. The records themselves are in `dropped` and `repaired`.

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
        return account(self.dropped, self.repaired, len(self.logged_area), modelled, self.logged_area)

    def _repr_html_(self) -> str:
        submit = self.table["submit_time"]
        facts = {"jobs": f"{len(self):,}", "processors": f"{self.procs:,}"}
        if len(self):
            facts["offered load"] = _load_text(self)
            first, last = (self.at(float(second)) for second in submit.iloc[[0, -1]])
            facts |= {"users": f"{self.table['user_id'].nunique():,}"}
            facts |= {"first submission": show.instant(first), "last submission": show.instant(last)}
            late, _ = self.beyond_estimates()
            facts |= {"run longer than estimated": f"{late:,} jobs" if late else "none"}
        if self.has_speedup:
            facts["effective load"] = f"{self.effective_load():.3f}" if len(self) else "unknown"
        kind = {"archive": "log of the archive", "file": "read from a file", "model": "from a model"}
        parts = [show.line(kind.get(self.source, ""), strong=self.name)]
        if self.source == "stand-in":
            parts.append(show.note("a stand-in, not the real log"))
        parts.append(show.facts(facts))
        if words := self.cut_words():
            parts.append(show.note(words))
        parts += [show.line(step, faint=True) for step in self.history]
        return show.page(*parts, self.account_html())

    def account_html(self) -> str:
        """Return the part of an HTML page that says what was omitted and filled in, by reason."""
        repairs = self.repairs  # by reason, those worth a look first
        if not len(repairs):
            return show.line("nothing was left out or filled in", faint=True)
        look = repairs.loc[repairs["kind"] == "worth a look", "words"].tolist()
        said = f"worth a look: {', '.join(look)}" if look else "left out and filled in: nothing to worry about"
        return show.folded(said, show.table(("", ""), repairs[["kind", "words"]].to_numpy(), words=(0, 1)))

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
        """Return the number that a policy sees for each name in a column.

        Parameters
        ----------
        column : str
            Such as ``"queue"``, ``"user"``, or a text column that the reader kept.

        Returns
        -------
        dict of str to int
            The log's own numbers if it names them, else positions in alphabetical order.

        Raises
        ------
        ValueError
            For an unknown column, or a column of numbers without names.

        Examples
        --------
        >>> import pandas as pd, schedlab as sl
        >>> jobs = pd.DataFrame({"submit": [0, 5], "run": [60, 60], "procs": [1, 2], "account": ["physics", "astro"]})
        >>> sl.from_frame(jobs, submit="submit", run="run", procs="procs", machine=4).codes("account")
        {'astro': 0, 'physics': 1}
        """
        return codes_of(self.columns, self.names, column)

    # -- parts of a trace -------------------------------------------------------------------------------

    def head(self, jobs: int) -> "Trace":
        """Keep the first jobs by submit time.

        Parameters
        ----------
        jobs : int
            How many jobs, at least 1. If there are fewer, all are kept.

        Returns
        -------
        Trace

        Raises
        ------
        ValueError
            For less than 1 job.

        Examples
        --------
        >>> import schedlab as sl
        >>> len(sl.model_trace("lublin", jobs=1000, seed=1).head(100))
        100
        """
        if jobs < 1:
            raise ValueError(f"jobs must be at least 1, got {jobs}")
        return self._with(self.table.iloc[:jobs], f"first {min(jobs, len(self)):,} jobs")

    def between(self, begin, end) -> "Trace":
        """Keep the jobs submitted in [begin, end).

        Parameters
        ----------
        begin, end : str, datetime or number
            Dates in the time zone of the machine (``"1996-09-01"``), or seconds on the clock of the log.

        Returns
        -------
        Trace

        Raises
        ------
        ValueError
            For an empty period, a period without jobs, or a date that `seconds` refuses.

        Examples
        --------
        >>> import schedlab as sl
        >>> from schedlab.workload.sacct import example_path
        >>> trace = sl.read_sacct(example_path(), machine=128, partition="long")
        >>> day = trace.between("2024-03-04", "2024-03-05")
        >>> len(trace), len(day), day.history[-1]
        (47, 15, 'submitted from 2024-03-04 to 2024-03-05')
        """
        first, last = self.seconds(begin), self.seconds(end)
        if first >= last:
            raise ValueError(f"the period must begin before it ends, got {begin} to {end}")
        submit = self.table["submit_time"]
        kept = self.table[(submit >= first) & (submit < last)]
        if kept.empty:
            raise ValueError(f"no job of {self.name} was submitted from {begin} to {end}; the log has {self._period()}")
        return self._with(kept, f"submitted from {begin} to {end}")

    def where(self, chosen) -> "Trace":
        """Keep the jobs that meet a condition.

        Parameters
        ----------
        chosen : str, bool array-like or function
            - Text: a condition on the columns of `jobs`, as for `DataFrame.query`, such as ``"requested_procs >= 64 and
              user == 'ann'"``. ``user``, ``group``, ``queue`` and ``partition`` can be used too: they are names if
              known (`names`), else numbers.
            - A mask: one truth value per job, in the order of `jobs`. A Series is matched by job number.
            - A function that takes the table `jobs` and returns a mask.

        Returns
        -------
        Trace

        Raises
        ------
        ValueError
            For a condition that cannot be evaluated, a mask of the wrong length, or if no job is chosen.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=1000, machine=128)
        >>> trace.where("requested_procs > 64 and run_time > 3600").history[-1]  # doctest: +ELLIPSIS
        'where requested_procs > 64 and run_time > 3600: ... of 1,000 jobs'
        """
        said, found = (chosen, f"{chosen!r} gives") if isinstance(chosen, str) else ("a mask is true", "the mask holds")
        if isinstance(chosen, str):
            mask = self._asked(chosen)
        else:
            mask = chosen(self.jobs) if callable(chosen) else chosen
            if isinstance(mask, pd.Series) and not mask.index.is_unique:
                raise ValueError("the mask has job numbers twice, expected one value for each job")
            mask = mask.reindex(self.table.index) if isinstance(mask, pd.Series) else pd.Series(mask)
        if len(mask) != len(self):
            raise ValueError(f"the mask has {len(mask):,} values, expected one for each of the {len(self):,} jobs")
        if missing := int(mask.isna().sum()):
            raise ValueError(f"{found} nothing for {missing:,} jobs, expected true or false for each job")
        if not pd.api.types.is_bool_dtype(mask := mask.infer_objects()):
            raise ValueError(f"{found} {mask.dtype}, expected true or false for each job")
        if not mask.any():
            raise ValueError(f"no job of {self.name} has {said!r}")
        kept = self.table[mask.to_numpy(bool)]
        return self._with(kept, f"where {said}: {len(kept):,} of {len(self):,} jobs")

    def _asked(self, condition):
        """Evaluate a condition on the columns, and on the names of users, groups, queues and partitions."""
        table = self.jobs
        for word, column in ({"queue": "queue", "partition": "partition"} | WORDS).items():
            if names := self.names.get(column):
                table[word] = table[column].map(names)
            elif word not in table:
                table[word] = table[column]
        try:
            found = table.eval(condition, engine="python")
        except (
            Exception
        ) as error:  # pandas raises nearly anything for a condition: NameError, SyntaxError, TypeError, ...
            unknown = re.search(r"name '(\w+)' is not defined", str(error))
            known = f"{', '.join(map(str, table.columns))}{suggestion(unknown and unknown[1], table.columns)}"
            raise ValueError(f"cannot evaluate {condition!r} ({error}); columns: {known}") from None
        if not isinstance(found, pd.Series):
            raise ValueError(f"{condition!r} gives a {type(found).__name__}, expected true or false for each job")
        return pd.Series(np.where(found.isna(), False, found), index=found.index)  # an unknown value meets no condition

    def sample(self, share: float, seed: int = 0) -> "Trace":
        """Keep a random share of the jobs; the load falls with them.

        Parameters
        ----------
        share : float
            Probability that each job is kept, above 0 and at most 1.
        seed : int
            Seed of the random choice. It depends on job numbers only, so with the same seed a smaller share is a subset
            of a larger one.

        Returns
        -------
        Trace

        Raises
        ------
        ValueError
            For a share outside 0 to 1, or if no job is kept.

        Examples
        --------
        >>> import schedlab as sl
        >>> sl.model_trace("lublin", jobs=1000).sample(0.1, seed=1).history[-1]  # doctest: +ELLIPSIS
        'sample of 0.1, seed 1: ... of 1,000 jobs'
        """
        if isinstance(share, bool) or not (isinstance(share, Real) and 0 < share <= 1):
            raise ValueError(f"share must be above 0 and at most 1, got {share!r}")
        seed = entropy(seed)
        kept = self.table[uniforms(seed, "sample", self.table.index.to_numpy()) < share]
        if kept.empty:
            raise ValueError(f"a sample of {share:g} of the {len(self):,} jobs of {self.name} is empty")
        return self._with(kept, f"sample of {share:g}, seed {seed}: {len(kept):,} of {len(self):,} jobs")

    def rename(self, name: str | None = None, columns: Mapping[str, str] | None = None) -> "Trace":
        """Rename the trace, or columns of it that are not part of SWF.

        Parameters
        ----------
        name : str, optional
            New name of the trace.
        columns : mapping, optional
            New names by present names. SWF's own columns cannot be renamed.

        Returns
        -------
        Trace

        Raises
        ------
        ValueError
            For an unknown column, a column of SWF, or a name already in use.

        Examples
        --------
        >>> import schedlab as sl
        >>> sl.model_trace("lublin", jobs=10).rename("toy").name
        'toy'
        """
        columns = dict(columns or {})
        further = [column for column in self.table.columns if column not in swf.FIELDS]
        for old, new in columns.items():
            check_known("column", old, further)
            if new in (*swf.FIELDS, *TAKEN) or (new in further and new not in columns):
                raise ValueError(f"{old} cannot be called {new!r}: another column has that name")
        if len({*columns.values()}) < len(columns):
            raise ValueError(f"several columns would be called {Counter(columns.values()).most_common(1)[0][0]!r}")
        steps = [f"called {plain(str(name))}, was {self.name}"] if name is not None and name != self.name else []
        steps += [f"column {new} was {old}" for old, new in columns.items() if new != old]
        header = self.header.calling({old: columns[old] for old in self.header.further(further) if old in columns})
        table, history = self.table.rename(columns=columns), (*self.history, *steps)
        changed = replace(self, table=table, header=header, history=history)
        return changed if name is None else replace(changed, name=str(name))

    def concat(self, *others: "Trace", by: str = "date") -> "Trace":
        """Join the jobs of several traces of one machine, such as the months of a log.

        Parameters
        ----------
        *others : Trace
            Traces of machines with the same number of processors (`with_machine`).
        by : {"date", "begin", "end"}
            How the traces are placed in time.

            - "date": jobs keep their dates.
            - "begin": all traces begin at the same instant.
            - "end": each trace begins at the last submission of the one before it.

        Returns
        -------
        Trace
            Users, groups, queues and partitions with the same name are the same; without names, those with the same
            number. If a job number occurs twice, jobs are renumbered, and `repaired` lists them. Columns that a trace
            lacks are empty for its jobs.

        Raises
        ------
        ValueError
            For machines of different sizes, or with ``by="date"`` for traces without dates.

        Examples
        --------
        >>> import schedlab as sl
        >>> first, second = (sl.model_trace("lublin", jobs=100, seed=seed) for seed in (1, 2))
        >>> len(first.concat(second, by="end"))
        200
        """
        check_known("by", by, ("date", "begin", "end"))
        return joined((self, *others), by)

    def _period(self):
        submit = self.table["submit_time"]
        first, last = (self.at(second) if self._is_dated(second) else second for second in submit.iloc[[0, -1]])
        return f"{first} to {last}"

    def at(self, seconds: float) -> pd.Timestamp | float:
        """Return the date of a second of the log, in the machine's time zone; the second itself if the date is unknown.

        Parameters
        ----------
        seconds : float, seconds
            On the clock of the log.

        Returns
        -------
        Timestamp or float
            A date in the machine's time zone; `seconds` if the header has no UnixStartTime.

        Raises
        ------
        ValueError
            For a date outside the years 1 to 9999.

        Examples
        --------
        >>> import schedlab as sl
        >>> from schedlab.workload.sacct import example_path
        >>> trace = sl.read_sacct(example_path(), machine=128, partition="long")
        >>> str(trace.at(3600)), trace.seconds(trace.at(3600))
        ('2024-03-04 07:10:25+00:00', 3600.0)
        """
        epoch = self.header.unix_start_time
        if epoch is None:
            return seconds
        if not self._is_dated(seconds):
            raise ValueError(f"{self.name} has no date at second {seconds}; expected one of the years 1 to 9999")
        # From fractional seconds pandas makes nanoseconds, which end in the year 2262.
        microseconds = round((epoch + seconds) * 10**6)
        return pd.Timestamp(microseconds, unit="us", tz="UTC").tz_convert(self._zone())

    def _is_dated(self, seconds):
        epoch = self.header.unix_start_time
        return epoch is not None and EARLIEST <= epoch + seconds <= swf.LATEST

    def seconds(self, instant) -> float:
        """Return the second of the log at a date in the machine's time zone; a number is returned unchanged.

        If the clock showed a time twice, the earlier one is meant. For a time that the clock skipped, the end of the
        gap is used.

        Parameters
        ----------
        instant : str, datetime or number
            A date (``"1996-09-01"``), or seconds on the clock of the log.

        Raises
        ------
        ValueError
            For something that is neither a date nor a number, or a date when the log has no UnixStartTime.

        Examples
        --------
        >>> import schedlab as sl
        >>> from schedlab.workload.sacct import example_path
        >>> trace = sl.read_sacct(example_path(), machine=128, partition="long")
        >>> trace.seconds("2024-03-05") - trace.seconds("2024-03-04"), trace.seconds(3600)
        (86400.0, 3600.0)
        """
        number = isinstance(instant, int | float | np.number)
        epoch = self.header.unix_start_time
        if epoch is None and not number:
            raise ValueError(f"{self.name} has no UnixStartTime; give seconds, not the date {repr(instant)[:60]}")
        try:
            second = float(instant) if number else self._date(instant).timestamp() - epoch
        except (ValueError, TypeError, OverflowError, NotImplementedError):  # pandas, for an unreadable date
            second = np.nan
        if np.isnan(second):
            expected = f"a date like 1996-09-01 or seconds on the clock of {self.name}"
            raise ValueError(f"{repr(instant)[:60]} is not a date, expected {expected}")
        return second

    def _date(self, instant):
        date = pd.Timestamp(instant)
        if date.tzinfo is not None:
            return date
        return date.tz_localize(self._zone(), ambiguous=True, nonexistent="shift_forward")

    def _zone(self):
        return swf.time_zone(self.header.timezone or "UTC")

    # -- load -------------------------------------------------------------------------------------------

    def offered_load(self, overrun: Overrun = "kill") -> float:
        """Processor-seconds submitted, divided by the machine's capacity between the first and the last submission.

        Parameters
        ----------
        overrun : {"kill", "extend", "keep", "kill-backfilled"}
            How to count a job that outlives its estimate (as in `simulate`): under "kill" up to the estimate, else in
            full.

        Returns
        -------
        float
            1 means the whole capacity; inf if all jobs are submitted at one instant.

        Raises
        ------
        ValueError
            For a trace without jobs.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 60, 40, 4), (100, 60, 60, 4)], machine=8)  # job 1 outlives its estimate
        >>> trace.offered_load(), trace.offered_load("extend")
        (0.5, 0.6)
        """
        check_known("overrun", overrun, (*OVERRUN, KILL_BACKFILLED))
        capacity = self._capacity()
        return self.work(overrun) / capacity if capacity else float("inf")

    def _capacity(self):
        """Return the machine's capacity between the first and the last submission, in processor-seconds."""
        if not len(self):
            raise ValueError(f"{self.name} has no jobs, and so no load")
        submit = self.table["submit_time"]
        return self.procs * int(submit.iloc[-1] - submit.iloc[0])

    def work(self, overrun: Overrun = "kill") -> int:
        """Sum up run time x processors, in processor-seconds.

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
        return int((run_times(self.table, overrun) * self.table["requested_procs"]).sum())

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

    def effective_load(self, overrun: Overrun = "kill") -> float:
        """Return the submitted `sequential_work`, divided by the machine's capacity between the first and the last
        submission.

        Parameters
        ----------
        overrun : {"kill", "extend", "keep", "kill-backfilled"}
            As in `offered_load`.

        Returns
        -------
        float
            1 means the whole capacity; inf if all jobs are submitted at one instant.

        Raises
        ------
        ValueError
            For a trace without jobs.

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
        check_known("overrun", overrun, (*OVERRUN, KILL_BACKFILLED))
        capacity = self._capacity()
        return float(self.sequential_work(overrun).sum() / capacity) if capacity else float("inf")

    def scale_load(self, load: float, by: Rescaled = "run_time", overrun: Overrun = "kill") -> "Trace":
        """Scale the trace to a given offered load, or effective load.

        Parameters
        ----------
        load : float
            Target load, above 0; 1 is the whole capacity of the machine.
        by : {"run_time", "interarrival", "effective"}
            What to scale.

            - ``"run_time"``: multiply run times and estimates. They are rounded to whole seconds, at least one, so the
              load reaches the target only within that rounding.
            - ``"interarrival"``: divide the times between submissions, rounded to whole seconds.
            - ``"effective"``: multiply run times and estimates until `effective_load` reaches the target.
        overrun : {"kill", "extend", "keep", "kill-backfilled"}
            As in `offered_load`.

        Returns
        -------
        Trace

        Raises
        ------
        ValueError
            For a load that is not above 0, or a trace whose jobs are all submitted at one instant. With "effective",
            also for a trace without speed-up data.

        Warns
        -----
        LoadWarning
            Above a load of 1.5: 90 % is 0.9, not 90.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1)
        >>> longer, denser = trace.scale_load(0.8), trace.scale_load(0.8, by="interarrival")
        >>> round(longer.offered_load(), 2), round(denser.offered_load(), 2)
        (0.8, 0.8)
        >>> denser.jobs["run_time"].equals(trace.jobs["run_time"])
        True
        """
        _check_positive("load", load)
        if load > MOST_LOAD:
            warnings.warn(_high_load(float(load)), LoadWarning, stacklevel=2)
        check_known("by", by, ("run_time", "interarrival", "effective"))
        effective = by == "effective"
        if effective:
            self.check_speedup("scale_load(by='effective')")
        what, before = ("effective", self.effective_load) if effective else ("offered", self.offered_load)
        before = before(overrun)
        if not np.isfinite(before):
            raise ValueError(f"{self.name} has no {what} load to scale: all its jobs are submitted at one instant")
        return self.scale(load / before, "run_time" if effective else by, f"{what} load {before:.4f} -> {load:g}")

    def scale(self, factor: float, by: Rescaled = "run_time", why: str = "load") -> "Trace":
        """Multiply the load by a factor: run times and estimates, or the rate of submissions.

        Parameters
        ----------
        factor : float
            The factor, above 0.
        by : {"run_time", "interarrival"}
            Multiply run times and estimates, or divide the times between submissions, as in `scale_load`.
        why : str
            The reason that the history gives.

        Returns
        -------
        Trace

        Raises
        ------
        ValueError
            For a factor that is not above 0.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 60, 100, 4), (100, 60, 60, 4)], machine=8)
        >>> trace.scale(0.5).jobs[["run_time", "requested_time"]].to_numpy().tolist()
        [[30, 50], [30, 30]]
        >>> trace.scale(2, by="interarrival").jobs["submit_time"].tolist()
        [0, 50]
        """
        _check_positive("factor", factor)
        check_known("by", by, ("run_time", "interarrival"))
        table = copied(self.table)
        if by == "run_time":
            for field in ("run_time", "requested_time"):
                table[field] = np.maximum(1, whole_seconds(np.rint(table[field] * factor)))
            return self._altered(table, f"{why}: run times and estimates x {factor:.4f}")
        first = table["submit_time"].iloc[0]
        table["submit_time"] = first + whole_seconds(np.rint((table["submit_time"] - first) / factor))
        return self._altered(table, f"{why}: inter-arrival times / {factor:.4f}")

    # -- variations of this log --------------------------------------------------------------------------

    def shake(self, seconds: int = 60, seed: int = 0) -> "Trace":
        """Move each submission at random, by at most a given number of seconds.

        Schedules are chaotic: if one job arrives a second later, thousands start at other times. The spread of a
        measure over shaken copies shows how large a difference must be to mean anything: smaller ones are noise.

        Parameters
        ----------
        seconds : int
            Each job moves up to this many seconds earlier or later, every whole number equally likely. A time before
            the first submission is reflected there.
        seed : int
            Seed of the random moves. They depend on job numbers only, not on the order of simultaneous jobs in the
            table.

        Returns
        -------
        Trace

        Raises
        ------
        ValueError
            If `seconds` is not a whole number of at least 1.

        Examples
        --------
        A measure that differs by less than it does between shaken copies says nothing about schemes:

        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=300, machine=64, seed=1).scale_load(0.8)
        >>> waits = [sl.simulate(trace.shake(60, seed), "easy").start.sum() for seed in range(3)]
        >>> len(set(waits))
        3

        References
        ----------
        Tsafrir and Feitelson, "Instability in parallel job scheduling simulation: the role of workload flurries",
        IPDPS 2006; Tsafrir, Ouaknine and Feitelson, "Reducing performance evaluation sensitivity and variability by
        input shaking", MASCOTS 2007.
        """
        if isinstance(seconds, bool) or not isinstance(seconds, int | np.integer) or not 1 <= seconds < swf.EXACT:
            raise ValueError(f"seconds must be a whole number of at least 1 and less than 2**53, got {seconds!r}")
        seed = entropy(seed)
        table = copied(self.table)
        moved = np.empty(len(table), dtype="int64")
        by_number = np.argsort(table.index, kind="stable")
        moved[by_number] = np.random.default_rng(seed).integers(-seconds, seconds, len(table), endpoint=True)
        first = table["submit_time"].min()
        table["submit_time"] = first + (table["submit_time"] - first + moved).abs()
        return self._altered(table, f"submissions shaken by up to {seconds:,} s, seed {seed}")

    def bootstrap(self, seed: int = 0, weeks: int = 1) -> "Trace":
        """Make another plausible log of the same length: blocks of whole weeks, drawn with replacement.

        Blocks start at the weekday and hour of the first submission, in any week, so the daily and weekly cycles
        continue across the seams (except for daylight saving). An incomplete week at the end of the log is not used.

        Parameters
        ----------
        seed : int
            The same seed gives the same log.
        weeks : int
            Length of a block. Patterns that last longer are broken up.

        Returns
        -------
        Trace
            Jobs are renumbered from 1; users, groups and the like stay. preceding_job is kept if that job is in the
            same block; otherwise it and think_time are -1.

        Raises
        ------
        ValueError
            If the log has too few whole weeks for blocks of this length.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=5000, machine=64, seed=1)
        >>> drawn = [trace.bootstrap(seed) for seed in (1, 2)]
        >>> drawn[0].history[-1]
        '7 blocks of 1 week(s) drawn from 6, seed 1'
        >>> chart = sl.charts.weekly([trace, *drawn], subtitle="")

        References
        ----------
        Kunsch, "The jackknife and the bootstrap for general stationary observations", Annals of Statistics 17(3), 1989.
        """
        if isinstance(weeks, bool) or not isinstance(weeks, int | np.integer) or weeks < 1:
            raise ValueError(f"weeks must be a whole number of at least 1, got {weeks!r}")
        if self.table.empty:
            raise ValueError(f"{self.name} has no jobs to draw from")
        after = (self.table["submit_time"] - self.table["submit_time"].iloc[0]).to_numpy()
        length = int(after[-1]) + 1
        starts = length // WEEK - weeks + 1
        if starts < 2:
            raise ValueError(
                f"{self.name} has {length // WEEK} whole weeks, expected at least {weeks + 1} for blocks of {weeks}"
            )
        block = weeks * WEEK
        seed = entropy(seed)
        begin = WEEK * np.random.default_rng(seed).integers(0, starts, -(-length // block))
        place = block * np.arange(begin.size)
        low = np.searchsorted(after, begin)
        high = np.searchsorted(after, begin + np.minimum(block, length - place))  # the last block may be cut short
        size = high - low
        shift = np.repeat(np.cumsum(size) - size - low, size)  # from a row of this log to the same row of the new log
        row = np.arange(size.sum()) - shift
        table = self.table.iloc[row]
        area = self.logged_area.reindex(table.index).to_numpy()
        preceding = self.table.index.get_indexer(table["preceding_job"])
        known = (preceding >= np.repeat(low, size)) & (preceding < np.repeat(high, size))
        table = table.set_axis(pd.RangeIndex(1, len(table) + 1, name=self.table.index.name))
        table["submit_time"] += np.repeat(place - begin, size)
        table["preceding_job"] = np.where(known, preceding + shift + 1, -1)
        table["think_time"] = table["think_time"].where(known, -1)
        step = f"{begin.size} blocks of {weeks} week(s) drawn from {length // WEEK}, seed {seed}"
        drawn = pd.DataFrame({"job_number": self.table.index[row], "new": table.index})
        repaired = drawn.merge(self.repaired, on="job_number").drop(columns="job_number")
        repaired = repaired.rename(columns={"new": "job_number"})[self.repaired.columns]
        changed = self._altered(table, step)
        return replace(changed, logged_area=pd.Series(area, index=table.index), repaired=repaired)

    # -- estimates and machine ---------------------------------------------------------------------------

    def with_estimates(self, kind, factor: float = 2.0, seed: int = 0) -> "Trace":
        """Replace the users' estimates (requested times).

        Parameters
        ----------
        kind : {"exact", "factor", "tsafrir", "fitted", "queue"}, Tsafrir, or int64 array-like, shape (n_jobs,), seconds
            - "exact": the run time.
            - "factor": the run time times `factor`, rounded up.
            - "tsafrir", or a `Tsafrir`: drawn from the model of how users estimate, by Tsafrir, Etsion and Feitelson
              2005.
            - "fitted": the users' own. Missing ones are drawn from that model, fitted to the others.
            - "queue": the limit of the job's queue, if the queue's name tells it, as on the SDSC Paragon. If the run
              time is longer, or the queue has no limit, it is the run time.
            - an array: the estimates themselves. A Series is matched by job number.
        factor : float
            Used with ``"factor"``.
        seed : int
            Seed of the model.

        Returns
        -------
        Trace

        Raises
        ------
        ValueError
            For an unknown kind, or an array without one positive number per job.

        Notes
        -----
        The model needs the longest estimate that users may give. ``"tsafrir"`` takes the longest in this trace, rounded
        up to whole hours. To choose it, pass ``Tsafrir(longest=...)``; to fit the model to the users of a log, pass
        ``fit_tsafrir(log)``. Run times above the longest estimate are cut to it; `repaired` lists them.

        Examples
        --------
        >>> import schedlab as sl
        >>> exact = sl.model_trace("lublin", jobs=500, machine=64, seed=1)
        >>> twice, modelled = exact.with_estimates("factor", factor=2), exact.with_estimates("tsafrir")
        >>> bool((twice.jobs["requested_time"] == 2 * exact.jobs["run_time"]).all())
        True
        >>> traces = {"exact": exact, "twice the run time": twice, "model of users": modelled}
        >>> chart = sl.charts.distribution(traces, "requested_time", title="Estimates", subtitle="")
        """
        if isinstance(kind, Tsafrir):
            return self._with_modelled_estimates(kind, seed)
        table = copied(self.table)
        run = table["run_time"]
        if isinstance(kind, str):
            check_known("estimates", kind, ("exact", "factor", "tsafrir", "fitted", "queue"))
            if kind == "fitted":
                return self._with_fitted_estimates(seed)
            if kind == "queue":
                limit = table["queue"].map(queue_limits(self.header.queues)).fillna(0)
                table["requested_time"] = np.maximum(limit, run).astype("int64")
                step = f"limits of the queues, exact for the {(limit == 0).sum():,} jobs of queues without one"
                return self._with(table, f"estimates: {step}")
            if kind == "tsafrir":
                hours = -(-int(table["requested_time"].max()) // HOUR)
                return self._with_modelled_estimates(Tsafrir(longest=hours * HOUR), seed)
            if kind == "factor":
                _check_positive("factor", factor)
            if kind == "exact":
                table["requested_time"] = run
                return self._with(table, "estimates: exact")
            # The factor just below 1 undoes the product's rounding error: 1.1 x 50 s are 55 s, not 56.
            table["requested_time"] = whole_seconds(np.ceil(run * factor * (1 - 1e-12)))
            return self._with(table, f"estimates: run time x {factor:g}")
        given = np.asarray(kind.reindex(table.index) if isinstance(kind, pd.Series) else kind, dtype="float64")
        if given.shape != (len(table),):
            raise ValueError(f"estimates have shape {given.shape}, expected one for each of the {len(table)} jobs")
        bad = np.flatnonzero(~((given > 0) & (given < np.inf)))
        if bad.size:
            job, found = table.index[bad[0]], given[bad[0]]
            raise ValueError(f"estimate of job {job} is {found}, expected a positive number")
        table["requested_time"] = whole_seconds(np.ceil(given))
        return self._with(table, "estimates: given by the caller")

    def _with_fitted_estimates(self, seed):
        """Draw missing estimates from the model fitted to those that exist.

        Raise if more jobs run long than the model has long estimates, or if there are too few estimates to fit it.
        """
        missing = self.table.index.isin(self.repaired.loc[self.repaired["field"] == "requested_time", "job_number"])
        if not missing.any():
            return self._with(self.table, "estimates: none is missing")
        if (given := (~missing).sum()) < LEAST_JOBS:
            raise ValueError(
                f"{given} jobs have an estimate of their own, expected at least {LEAST_JOBS} to fit the model"
            )
        run, model = self.table["run_time"], fit_tsafrir(replace(self, table=self.table[~missing]))
        drawn = np.maximum(model.assign(run.clip(upper=model.longest).to_numpy(), seed), run)
        table = self.table.assign(requested_time=self.table["requested_time"].where(~missing, drawn))
        return self._with(table, f"estimates: missing ones from the Tsafrir model fitted to the others, seed {seed}")

    def _with_modelled_estimates(self, model, seed):
        table = copied(self.table)
        run = table["run_time"]
        over = table.index[run > model.longest]
        table["run_time"] = run.clip(upper=model.longest)
        table["requested_time"] = model.assign(table["run_time"].to_numpy(), seed)
        step = f"estimates: Tsafrir model, longest {model.longest:,} s, seed {seed}"
        if over.empty:
            return self._with(table, step)
        cuts = pd.DataFrame(
            {
                "job_number": over,
                "field": "run_time",
                "was": run[over].to_numpy(dtype="float64"),
                "now": float(model.longest),
                "reason": "longer than the longest estimate of the model",
            }
        )
        changed = self._altered(table, f"{step}; {len(over):,} run times cut to the longest")
        return replace(changed, repaired=pd.concat([self.repaired, cuts], ignore_index=True))

    def cut_at_estimates(self) -> "Trace":
        """Cut run times at their estimates permanently, as overrun="kill" in `simulate` does for one run.

        Published clairvoyant simulations start from this: their exact estimates are the run times left after the kill.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 60, 40, 4), (100, 20, 60, 4)], machine=8).cut_at_estimates()
        >>> trace.jobs["run_time"].tolist(), trace.history[-1]
        ([40, 20], '1 run times cut at their estimates')
        """
        over = int((self.table["run_time"] > self.table["requested_time"]).sum())
        table = copied(self.table)
        table["run_time"] = run_times(table, "kill")
        return self._altered(table, f"{over:,} run times cut at their estimates")

    def with_machine(self, machine: int) -> "Trace":
        """Put the jobs on a machine of another size; jobs wider than the machine are dropped and listed.

        Parameters
        ----------
        machine : int
            Processors of the new machine.

        Returns
        -------
        Trace
            `dropped` lists the omitted jobs.

        Raises
        ------
        ValueError
            If no job fits.

        Warns
        -----
        LoadWarning
            If the omitted jobs have more than 1 % of the work. To omit them on purpose, choose the others first:
            ``trace.where("requested_procs <= 64").with_machine(64)``.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 9000, 9000, 4), (100, 20, 60, 8)], machine=8).with_machine(4)
        >>> trace.procs, len(trace), trace.dropped["reason"].tolist()
        (4, 1, ['wider than the machine (4 processors)'])
        """
        check_procs(machine)
        too_wide = self.table["requested_procs"] > machine
        if too_wide.all():
            raise ValueError(f"no job of {self.name} fits on {machine} processors")
        gone = self.table[too_wide]
        gone.insert(0, "reason", f"{TOO_WIDE} ({machine} processors)")
        kept = self.table[~too_wide]
        words = warn_of_lost_work(self.name, gone, kept, stacklevel=3)
        changed = self._altered(kept, f"machine of {machine:,} processors{words and ': '}{words}")
        return replace(changed, procs=int(machine), dropped=pd.concat([self.dropped, gone]))

    # -- parameter sweeps --------------------------------------------------------------------------------

    def with_parameter_sweeps(
        self,
        fraction: float = 0.05,
        min_procs: int = 9,
        breakdown: int = 10,
        seed: int = 0,
        of: str = "eligible",
    ) -> "Trace":
        """Mark jobs as parameter sweeps: many independent sequential tasks, submitted as one parallel job.

        Parameters
        ----------
        fraction : float
            Share of the jobs that become sweeps, from 0 to 1.
        min_procs : int
            Only jobs with at least this many processors are eligible.
        breakdown : int
            Tasks per processor of a sweep. A task takes this many times less than the job.
        seed : int
            Seed of the random choice. It depends on job numbers only: whatever the load, the same jobs are chosen, and
            a smaller share is a subset of a larger one.
        of : {"eligible", "all"}
            What the share is of. If fewer jobs are eligible than needed, all of these are taken.

        Returns
        -------
        Trace
            With a column breakdown, 0 for ordinary jobs. Earlier marks are removed.

        Raises
        ------
        ValueError
            For a share outside 0 to 1, or a `min_procs` or `breakdown` below 1.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1)
        >>> trace = trace.with_parameter_sweeps(fraction=0.2, breakdown=10)
        >>> sorted(trace.jobs["breakdown"].unique().tolist())
        [0, 10]
        >>> bool(trace.jobs.query("breakdown > 0")["requested_procs"].min() >= 9)
        True

        References
        ----------
        Kurian, Balaji and Sadayappan, "Opportune job shredding", The Ohio State University, 2003.
        """
        if isinstance(fraction, bool) or not (isinstance(fraction, Real) and 0 <= fraction <= 1):
            raise ValueError(f"fraction must be a share from 0 to 1, got {fraction!r}")
        check_known("of", of, ("eligible", "all"))
        for name, value in (("min_procs", min_procs), ("breakdown", breakdown)):
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
        seed = entropy(seed)
        table = copied(self.table)
        # A job that takes no time has no meaningful tasks.
        lasts = np.minimum(table["run_time"], table["requested_time"]) > 0
        eligible = np.flatnonzero((table["requested_procs"] >= min_procs) & lasts)
        wanted = round(fraction * (len(table) if of == "all" else eligible.size))
        drawn = np.argsort(keys(seed, table.index.to_numpy()[eligible]), kind="stable")[:wanted]
        marks = np.zeros(len(table), "int64")
        marks[eligible[drawn]] = breakdown
        table["breakdown"] = marks
        step = (
            f"{drawn.size:,} parameter sweeps of breakdown {breakdown}: {fraction:.4g} of the {of} jobs, "
            f"from {min_procs} processors, seed {seed}"
        )
        if wanted > eligible.size:
            step += f"; {wanted:,} asked for, all {eligible.size:,} eligible jobs taken"
        return self._with(table, step)

    # -- moldable jobs -----------------------------------------------------------------------------------

    def with_speedup(self, model: Model, share: float = 1.0, seed: int = 0) -> "Trace":
        """Make jobs moldable: say how they speed up, so that a scheme may choose their processors.

        On the processors that it requests, a job runs as in the trace.

        Parameters
        ----------
        model : Downey, Amdahl or Speedup
            The speedup curves, and how the parameters of each job are drawn.
        share : float
            Probability that a job is moldable, from 0 to 1. The other jobs are rigid. They have a speedup too, so that
            they count in the effective load.
        seed : int
            Seed of the random draws. They depend on job numbers only: a job has the same speedup under every scheme,
            load and share, and in every part of the trace. A job that is moldable at a smaller share is so at a larger
            one.

        Returns
        -------
        Trace
            With a column moldable, and the model's own columns (Downey: parallelism and sigma; Amdahl: serial_share).
            Those of an earlier call are removed.

        Raises
        ------
        TypeError
            If the model is none of these.
        ValueError
            For a share outside 0 to 1, or a curve that does not fit the machine.

        References
        ----------
        Sabin, Lang and Sadayappan, "Moldable parallel job scheduling using job efficiency: an iterative approach",
        JSSPP 2006.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=500, machine=64).with_speedup(sl.Downey(A="system", sigma=(0, 2)))
        >>> trace.scale_load(0.7, by="effective").history[-1][:14]
        'effective load'
        """
        if not isinstance(model, Model):
            raise TypeError(f"model is {model!r}, expected one such as Downey(A='system', sigma=(0, 2))")
        if isinstance(share, bool) or not (isinstance(share, Real) and 0 <= share <= 1):
            raise ValueError(f"share must be from 0 to 1, got {share!r}")
        seed = entropy(seed)
        earlier = ("moldable", *(column for law in (Downey, Amdahl, Speedup) for column in law.columns))
        table = self.table.drop(columns=list(earlier), errors="ignore")
        numbers = table.index.to_numpy()
        moldable = uniforms(seed, "moldable", numbers) < share
        drawn = model.draw(numbers, table["requested_procs"].to_numpy(), self.procs, seed)
        table = table.assign(moldable=moldable, **drawn)
        model.laws(table, self.procs)  # checks the curve now
        step = f"speedup {model}, seed {seed}: {moldable.sum():,} of {len(table):,} jobs moldable"
        return replace(self._with(table, step), speedup=model)

    @property
    def has_speedup(self) -> bool:
        """Whether the speedup of the jobs is known: from `with_speedup`, or because they come from Downey's model."""
        return self.speedup is not None or set(SPEEDUP) <= set(self.table.columns)

    def check_speedup(self, who) -> None:
        """Raise if the speedup of the jobs is unknown; the message names who needs it.

        Parameters
        ----------
        who : str or Scheme
            Who needs it: the beginning of the message.

        Raises
        ------
        ValueError
        """
        if not self.has_speedup:
            raise ValueError(
                f"{who} needs speed-up data, and {self.name} has none: "
                "trace.with_speedup(sl.Downey(A='system', sigma=(0, 2))) draws some"
            )

    def laws(self, procs: int | None = None) -> Laws:
        """Tell how the jobs speed up on 1 to `procs` processors.

        Parameters
        ----------
        procs : int, optional
            How many processors the curves cover; default: those of the machine.

        Returns
        -------
        Laws
            The speedup of each job, in the form that the kernels take (`schedlab.kernels.speedup`).

        Raises
        ------
        ValueError
            For a trace without speed-up data.

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

    def _with(self, table, step) -> "Trace":
        return replace(self, table=table, history=(*self.history, step))

    def _altered(self, table, step) -> "Trace":
        """Do the same for a step after which the log's waits no longer belong to the jobs."""
        return replace(self._with(table, step), altered=self.altered or step)

    # -- files -------------------------------------------------------------------------------------------

    def to_swf(self, path) -> None:
        """Write the jobs as an SWF log (gzipped if the name ends in .gz); notes in the header say what was done to
        them.

        Parameters
        ----------
        path : path
            The file to write.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=100, seed=1).scale_load(0.8)
        >>> with TemporaryDirectory() as folder:
        ...     trace.to_swf(Path(folder, "scaled.swf.gz"))
        ...     again = sl.read_swf(Path(folder, "scaled.swf.gz"))
        >>> again.jobs["run_time"].equals(trace.jobs["run_time"])
        True
        """
        swf.write_log((self.swf_header(), self._records()), path)

    def to_parquet(self, path) -> None:
        """Write the jobs as a Parquet file; needs pyarrow (``pip install "schedlab[parquet]"``).

        Parameters
        ----------
        path : path
            The file to write.
        """
        self.table.to_parquet(path)

    def _records(self):
        return self.table.reset_index()[[*swf.FIELDS, *self.header.further(self.table.columns)]]

    def swf_header(self) -> swf.Header:
        """Return the header to write: the log's own lines, and notes of what was done to the trace."""
        done = [f"read by schedlab as {self.name} ({self.source})", *self.history]
        if words := in_one_line(self.repairs):
            done.append(words)
        kept = [line for line in self.header.lines if not _COUNTS.match(line)]
        size = [f"; MaxRecords: {len(self)}", f"; MaxProcs: {self.procs}"]
        return swf.Header((*kept, *size, *(f"; Note: {step}" for step in done)))


def labels(families: Iterable[Trace | str | Sequence[Trace]]) -> list[str]:
    """Name traces for a comparison, so that different traces with the same title can be told apart.

    Parameters
    ----------
    families : iterable of Trace, str or sequence of Trace
        Each entry a trace, the name of a log, or several traces under one name, such as replications.

    Returns
    -------
    list of str
        The title (of several traces, that of the first), and the steps that were not applied to all others with that
        title; a number if the steps do not differ. Equal traces get equal names.
    """
    families = [[one] if isinstance(one, Trace | str) else list(one) for one in families]
    keys = [tuple(one if isinstance(one, str) else id(one) for one in family) for family in families]
    facts = {key: _title_and_steps(*family) for key, family in zip(keys, families, strict=True)}
    names = dict(zip(facts, told_apart(facts.values()), strict=True))
    return [names[key] for key in keys]


def told_apart(facts: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    """Name things by their titles and by the steps in which they differ, as `labels` does."""
    facts, names, taken = list(facts), [], Counter()
    for title, steps in facts:
        others = [done for name, done in facts if name == title]
        name = ", ".join([title, *(step for step in steps if not all(step in done for done in others))])
        taken[name] += 1
        names.append(f"{name} ({taken[name]})" if taken[name] > 1 else name)
    return names


def _title_and_steps(first, *more):
    """Return the title of a family of traces, and the steps applied to all of them."""
    if isinstance(first, str):
        return first, []
    return first.title, [step for step in first.history if all(step in one.history for one in more)]


def check_procs(machine: int) -> None:
    """Raise unless a number of processors is one that a machine may have."""
    if isinstance(machine, bool) or not isinstance(machine, int | np.integer):
        raise TypeError(f"machine is {machine!r}, expected a whole number of processors")
    if machine < 1:
        raise ValueError(f"machine must have at least 1 processor, got {machine}")
    if machine > MOST_PROCS:
        raise ValueError(f"machine must have at most {MOST_PROCS:,} processors, got {machine:,}")


def run_times(jobs: pd.DataFrame, overrun: str) -> np.ndarray:
    """Return the run times as simulated: cut at the estimate ("kill"), otherwise in full."""
    run = jobs["run_time"].to_numpy()
    return np.minimum(run, jobs["requested_time"].to_numpy()) if overrun == "kill" else run


def _check_positive(what, value):
    if not (isinstance(value, Real) and np.isfinite(value) and value > 0):
        raise ValueError(f"{what} must be greater than 0, got {value!r}")


def _high_load(load):
    meant = f"if you mean {load:g} %, give {load / 100:g}" if load >= 10 else "the queue grows as long as jobs arrive"
    return f"load {load:g} is {100 * load:,.6g} % of the machine; {meant}"


def _load_text(trace):
    if not len(trace):
        return "unknown"
    load = trace.offered_load()
    return f"{load:.3f}" if np.isfinite(load) else "none (all arrive at once)"


def read_swf(
    path: str | os.PathLike,
    *,
    machine: int | None = None,
    missing_estimate: MissingEstimate = "run",
    lenient: bool = False,
) -> Trace:
    """Read a log in the Standard Workload Format and keep the records that can be simulated.

    Parameters
    ----------
    path : path
        A .swf or .swf.gz file.
    machine : int, optional
        Size of the machine. Default: the header's MaxProcs, else its MaxNodes.
    missing_estimate : "run", "drop" or a number of seconds
        What to do with a record without a requested time.

        - "run" (default): use its run time.
        - "drop": omit it.
        - a number: use it, in seconds.
    lenient : bool
        Skip bad lines instead of raising; `Trace.dropped` lists them.

    Returns
    -------
    Trace
        `dropped` lists what was omitted, `repaired` what was filled in.

    Raises
    ------
    swf.SWFError
        Names file, line, field, value and what was expected.

    Warns
    -----
    LoadWarning
        If jobs with more than 1 % of the work are left out, for example because they are wider than the machine.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import schedlab as sl
    >>> with TemporaryDirectory() as folder:
    ...     sl.model_trace("lublin", jobs=100, seed=1).to_swf(Path(folder, "my.swf.gz"))
    ...     trace = sl.read_swf(Path(folder, "my.swf.gz"))
    >>> len(trace), trace.procs, trace.source
    (100, 256, 'file')
    """
    log = swf.read_log(path, lenient=True) if lenient else swf.cached_log(path)
    return from_log(log, log.name, "file", machine, missing_estimate, files=opened(path))


def load_trace(
    name: str,
    *,
    machine: int | None = None,
    missing_estimate: MissingEstimate = "run",
    progress: bool = True,
    standin: bool | None = None,
    or_standin: bool = False,
    seed: int = SEED,
) -> Trace:
    """Load a log of the Parallel Workloads Archive by its name.

    The log is looked up in the folder named by the environment variable SCHEDLAB_DATA, then in the cache; if it is in
    neither, it is downloaded from the archive. Its checksum is verified. Nothing replaces it unless you ask for a
    stand-in.

    Parameters
    ----------
    name : str
        ``"CTC-SP2-1996-3.1-cln"``, or ``"CTC-SP2-1996"`` without the version. `list_traces` lists all names.
    machine : int, optional
        As in `read_swf`.
    missing_estimate : "run", "drop" or a number of seconds
        As in `read_swf`.
    progress : bool
        Show a progress bar during a download.
    standin : bool, optional
        True: generate a stand-in, a trace with similar statistics (`schedlab.workload.standin`), even if the log is
        available. The trace says that it is a stand-in.
    or_standin : bool
        Generate the stand-in, instead of downloading, if the log is not available locally. `standin` takes precedence.
    seed : int
        Seed of the stand-in. A seed other than the default becomes part of its name.

    Returns
    -------
    Trace

    Raises
    ------
    TraceNotFound
        For an unknown name, or if the log is neither available nor downloaded and has no stand-in.

    Warns
    -----
    LoadWarning
        As in `read_swf`.

    Examples
    --------
    A stand-in, so that it runs without the log; ``sl.load_trace("KTH-SP2-1996")`` loads the log itself:

    >>> import schedlab as sl
    >>> trace = sl.load_trace("KTH-SP2-1996", standin=True)
    >>> trace.procs, trace.source
    (100, 'stand-in')
    >>> chart = sl.charts.arrivals(trace)
    """
    official = archive.resolve(name)
    label = f"{archive.STANDIN if standin else archive.LOG}{official}"
    files = {label: archive.digest_now(label)}
    if standin is None:
        standin = or_standin and archive.find(official) is None
    if standin:
        name = official if seed == SEED else f"{official}, seed {seed}"
        return from_log(look_alike(official, seed), name, "stand-in", machine, missing_estimate, files=files)
    path = archive.fetch(official, progress=progress)
    with recording(alone=True):  # it counts by its name, wherever it is kept
        log = swf.cached_log(path)
    archive.check_digest(official, log.sha256, path)
    files = {label: archive.digest_now(label)}  # it may have been downloaded
    return from_log(log, official, "archive", machine, missing_estimate, files=files)


def model_trace(
    model: str = "lublin", jobs: int = 10_000, machine: int | None = None, seed: int = 0, **parameters
) -> Trace:
    """Generate a trace from a workload model.

    The models have no user estimates: a job's estimate is its run time. `Trace.with_estimates` replaces them.

    Parameters
    ----------
    model : {"lublin", "jann", "downey"}
        ``"lublin"``
            Lublin and Feitelson 2003, rigid jobs. ``classes``: "typeless" (the default), "batch",
            "batch+interactive", or `LublinClass` objects.
        ``"jann"``
            Jann et al. 1997, rigid jobs in ranges of sizes. ``table``: "ctc" (the default; fitted to the log of the
            authors' machine and months), "kth" (not the authors' numbers), the path of a table, or a `JannTable` such
            as `fit_jann` returns; ``sizes`` in a range: "uniform" (the default), "upper", "weighted".
        ``"downey"``
            Downey 1998, moldable jobs with the size and run time that they would choose. ``work``, ``rates``,
            ``sigma``: pairs of numbers, see `schedlab.workload.models.downey.downey`; `fit_downey` returns the first
            two.
            The columns ``parallelism`` and ``sigma`` say how a job speeds up; its work is its run time times the
            speedup on the processors that it requests.
    jobs : int
        Number of jobs.
    machine : int, optional
        Processors of the machine. Default: 256; for ``"jann"``, the largest size in its table.
    seed : int
        The same seed gives the same trace.
    **parameters
        Parameters of the model, as above.

    Returns
    -------
    Trace

    Raises
    ------
    ValueError
        For an unknown model or parameter, or one outside its range.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.model_trace("jann", jobs=1000, machine=128, table="kth", sizes="weighted").title
    "Jann model (KTH, not Jann's numbers)"

    The models compared by their run times:

    >>> models = ("lublin", "jann", "downey")
    >>> traces = {model: sl.model_trace(model, jobs=1000, machine=128, seed=1) for model in models}
    >>> chart = sl.charts.distribution(traces, "run_time")
    """
    check_known("model", model, tuple(MODELS))
    generate, name, seed = MODELS[model], MODEL_NAMES[model], entropy(seed)
    own = [word for word in inspect.signature(generate).parameters if word not in ("jobs", "machine", "seed")]
    for word in parameters:
        check_known(f"parameter of {model}", word, own)
    settings = "".join(f", {word} {value}" for word, value in parameters.items())
    left_out = ()
    if model == "jann":
        table = parameters["table"] = jann_table(parameters.get("table", "ctc"))
        name = f"{name} ({table.name})"
        machine = table.procs if machine is None else machine
        wider = [each.label for each in table.ranges if each.smallest > machine]
        left_out = (f"sizes {', '.join(wider)} of the table left out: wider than the machine",) if wider else ()
    machine = 256 if machine is None else machine
    drawn = generate(jobs=jobs, machine=machine, seed=seed, **parameters).reset_index()
    columns = [*swf.FIELDS, *drawn.columns.intersection(SPEEDUP)]
    records = pd.DataFrame({column: drawn.get(column, -1) for column in columns})
    header = swf.Header((f"; Computer: {plain(name)}", f"; MaxProcs: {machine}"))
    table, dropped, repaired = usable(records, machine)
    history = (f"{jobs:,} jobs for {machine:,} processors, seed {seed}{settings}", *left_out)
    return Trace(table, name, machine, header, "model", dropped, repaired, _area(table), history)


def from_log(
    log: swf.Log,
    name: str,
    source: str,
    machine: int | None,
    missing_estimate: str | float,
    left_out: pd.DataFrame | None = None,
    files: Mapping[str, str] | None = None,
) -> Trace:
    """Make a trace of a log; every reader ends here.

    Parameters
    ----------
    log : swf.Log
        Header and records. The records are taken out of it.
    name, source : str
        As in `Trace`.
    machine, missing_estimate
        As in `read_swf`.
    left_out : DataFrame, optional
        Records that the reader already left out, in the form of `Trace.dropped`.
    files : mapping, optional
        As in `Trace`.
    """
    size = log.header.procs if machine is None else machine
    if size is None:
        raise SizeUnknown(f"{plain(log.path.name)}: the header has neither MaxProcs nor MaxNodes; give machine=")
    check_procs(size)
    table, dropped, repaired = usable(log.records, size, missing_estimate, spare=True)
    if len(log.skipped):
        dropped = pd.concat([dropped, _skipped(log.skipped)])
    if left_out is not None and len(left_out):
        dropped = pd.concat([left_out, dropped])
    if table.empty:
        n_records = len(dropped) - len(log.skipped)
        none = f"{plain(log.path.name)}: none of {n_records:,} records can be simulated"
        raise swf.SWFError(f"{none}; {_summary(dropped)}")
    warn_of_lost_work(name, dropped, table, stacklevel=4)
    area = _area(table)
    return Trace(table, name, int(size), log.header, source, dropped, repaired, area, files=files or {})


def warn_of_lost_work(name: str, dropped: pd.DataFrame, kept: pd.DataFrame, stacklevel: int) -> str:
    """Warn if jobs with more than 1 % of the work are left out, and say how much; else return an empty text.

    Parameters
    ----------
    name : str
        What the trace is called.
    dropped, kept : DataFrame
        The jobs left out, with their reasons, and the jobs kept.
    stacklevel : int
        As in `warnings.warn`.
    """
    if dropped.empty:
        return ""
    lost, total = lost_work(dropped, _area(kept))
    work = sum(lost.values())
    if work <= FEW * total:
        return ""
    counts = dropped["reason"].value_counts().to_dict()
    reasons = "; ".join(f"{counts[reason]:,} job{'s' * (counts[reason] != 1)}: {reason}" for reason in lost)
    words = f"{100 * work / total:.3g} % of the work left out"
    message = f"{plain(str(name))}: {words} ({work:,.0f} processor-seconds; {reasons})"
    warnings.warn(message, LoadWarning, stacklevel=stacklevel)
    return words


def _area(table):
    return table["run_time"] * table["requested_procs"]


def _skipped(lines):
    text = [f"{BAD_LINE}{row.line}: {row.reason}" for row in lines.itertuples()]
    return pd.DataFrame({"reason": text}, index=pd.Index([-1] * len(text), name="job_number"))


def _summary(dropped):
    counts = dropped["reason"].value_counts()
    words = [f"{count:,}: {reason}" for reason, count in counts.iloc[:MOST_REASONS].items()]  # one per bad line
    return "; ".join([*words, "..."] if len(counts) > MOST_REASONS else words)
