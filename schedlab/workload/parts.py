"""Parts of a trace, and its clock: `head`, `between`, `where`, `sample`, names, and traces put together."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Self

import numpy as np
import pandas as pd

from schedlab._runtime.streams import entropy, uniforms
from schedlab._runtime.text import check_known, plain, spelt, suggestion

from . import swf
from .columns import WORDS
from .conventions import TAKEN
from .edges import COUNTED, lead_begins, with_lead_in
from .joining import joined

EARLIEST = -62_135_510_400  # seconds since 1970: the second day of year 1, so that the date exists in every time zone


class Parts:
    def head(self, jobs: int) -> Self:
        """Keep the first jobs by submit time.

        Parameters
        ----------
        jobs : int
            How many jobs, at least 1. If there are fewer, all are kept. A lead-in (`between`) is kept, too.

        Examples
        --------
        >>> import schedlab as sl
        >>> len(sl.model_trace("lublin", jobs=1000, seed=1).head(100))
        100
        """
        if jobs < 1:
            raise ValueError(f"jobs must be at least 1, got {jobs}")
        counted = self.counted()
        last = counted & (counted.cumsum() == jobs)  # up to there, and whatever leads in to it
        kept = self.table.iloc[: int(last.argmax()) + 1] if last.any() else self.table
        return self._with(kept, f"first {min(jobs, counted.sum()):,} jobs")

    def between(self, begin, end, lead=None) -> Self:
        """Keep the jobs submitted in [begin, end), and before them a lead-in: at `begin` the machine was not empty.

        The jobs of the lead-in are simulated and not counted: a column ``counted`` of the jobs says which are which,
        and measures and charts are of the counted ones (`counted`).

        Parameters
        ----------
        begin, end : str, datetime or number
            Dates in the time zone of the machine (``"1996-09-01"``), or seconds on the clock of the log. A period
            without jobs is an error.
        lead : str, datetime, number or False, optional
            - A length of time (``"7 days"``, or a number of seconds) or a date: the jobs submitted from that long
              before `begin`, or from that date on, and those that were in the system then by the log's own starts and
              ends. Of these, a job that ran is submitted at its recorded start, and so does not start before that; one
              that waited keeps its submission. 0 is only what was in the system at `begin`.
            - None (default): from when, by the log, no job waited for the last time before `begin`, but at most four
              weeks. Where none waited at `begin`, it is what ran then.
            - False: none. The machine is empty at `begin`.

            What was in the system is known if the log records waits and nothing changed them (`altered`); otherwise, by
            default there is no lead-in.

        Notes
        -----
        Without a lead-in waits are too short: of weeks cut out of four logs of the archive (KTH, CTC, SDSC-SP2, HPC2N),
        mean waits under EASY were 35, 44, 57 and 5 % off those of the same jobs in a simulation of the whole log. With
        only what was in the system they were 20, 26, 51 and 2 % off, with one week 0.2, 10, 36 and 0.5 %, by default
        0.2, 1, 4 and 1 %. Whether a lead-in is long enough shows where a longer one changes nothing.

        What arrives after `end` is not simulated. Where it matters, as under shortest job first, take a longer period
        and measure a part of it: ``schedule.metrics(window=(begin, end))``.

        Examples
        --------
        >>> import schedlab as sl
        >>> from schedlab.workload.sacct import example_path
        >>> trace = sl.read_sacct(example_path(), machine=128, partition="long")
        >>> day = trace.between("2024-03-04", "2024-03-05")
        >>> len(trace), len(day), day.history[-1]
        (47, 15, 'submitted from 2024-03-04 to 2024-03-05')
        >>> trace.between("2024-03-05", "2024-03-06").history[-1]
        'submitted from 2024-03-05 to 2024-03-06; 1 job before that as lead-in, not counted'
        """
        first, last = self.period((begin, end), "period")
        inside = self.some_counted((begin, end))
        since = lead_begins(self, first, lead)
        table = with_lead_in(self, inside, since, last, lead is not False)
        before = len(table) - int(inside.sum())
        lead_in = f"; {before:,} job{'s' * (before != 1)} before that as lead-in, not counted"
        return self._with(table, f"submitted from {begin} to {end}{lead_in * (before > 0)}")

    def period(self, window, what: str = "window") -> tuple[float, float]:
        """Return the seconds, on the clock of the log, at which a period begins and ends.

        Parameters
        ----------
        window : (begin, end)
            Dates or seconds, as in `between`.
        what : str
            What a message calls it.

        Examples
        --------
        >>> import schedlab as sl
        >>> sl.model_trace("lublin", jobs=10, seed=1).period((0, 3600))
        (0.0, 3600.0)
        """
        if isinstance(window, str) or not hasattr(window, "__len__") or len(window) != 2:
            raise ValueError(
                f"{what} is {spelt(window)}, expected (begin, end): dates, or seconds on the clock of the log"
            )
        begin, end = map(self.seconds, window)
        if not -np.inf < begin < end < np.inf:
            raise ValueError(f"the {what} must begin before it ends, got {window[0]} to {window[1]}")
        return begin, end

    def counted(self, window=None) -> np.ndarray:
        """Tell which jobs are measured: bool, shape (n_jobs,).

        All are, save those of a lead-in (`between`), or where a column ``counted`` says otherwise.

        Parameters
        ----------
        window : (begin, end), optional
            Only those submitted in [begin, end): dates or seconds, as in `between`.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 60, 60, 1), (100, 60, 60, 1)], machine=8)
        >>> trace.counted().tolist(), trace.counted((50, 150)).tolist()
        ([True, True], [False, True])
        """
        counted = self.table.get(COUNTED)
        if counted is not None and not pd.api.types.is_bool_dtype(counted):
            instead = f"it says which jobs are measured; rename(columns={{{COUNTED!r}: ...}}) gives it another name"
            raise ValueError(
                f"column {COUNTED!r} holds {counted.dtype}, expected true or false for each job: {instead}"
            )
        counted = np.ones(len(self.table), bool) if counted is None else counted.to_numpy(bool)
        if window is None:
            return counted
        begin, end = self.period(window)
        submit = self.table["submit_time"].to_numpy()
        return counted & (submit >= begin) & (submit < end)

    def some_counted(self, window=None) -> np.ndarray:
        """Do what `counted` does, and raise ValueError if it is no job.

        Parameters
        ----------
        window : (begin, end), optional
            As in `counted`.
        """
        counted = self.counted(window)
        if counted.any():
            return counted
        if window is None or self.table.empty:
            raise ValueError(f"{self.name} has no job that is counted")
        ends = self.table["submit_time"].iloc[[0, -1]]
        first, last = (self.at(second) if self._is_dated(second) else second for second in ends)
        period = f"the log has {first} to {last}"
        raise ValueError(f"no job of {self.name} was submitted from {window[0]} to {window[1]}; {period}")

    def without_lead_in(self) -> Self:
        """Keep the counted jobs alone (`counted`), as if nothing had been before them.

        Examples
        --------
        >>> import schedlab as sl
        >>> from schedlab.workload.sacct import example_path
        >>> day = sl.read_sacct(example_path(), machine=128, partition="long").between("2024-03-05", "2024-03-06")
        >>> len(day), len(day.without_lead_in())
        (26, 25)
        """
        if COUNTED not in self.table:
            return self
        counted = self.some_counted()
        return self._with(self.table[counted].drop(columns=COUNTED), "without the lead-in")

    def where(self, chosen) -> Self:
        """Keep the jobs that meet a condition; it is an error if none does.

        Parameters
        ----------
        chosen : str, bool array-like or function
            - Text: a condition on the columns of `jobs`, as for `DataFrame.query`, such as ``"requested_procs >= 64 and
              user == 'ann'"``. ``user``, ``group``, ``queue`` and ``partition`` can be used too: they are names if
              known (`names`), else numbers.
            - A mask: one truth value per job, in the order of `jobs`. A Series is matched by job number.
            - A function that takes the table `jobs` and returns a mask.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=1000, machine=128)
        >>> trace.where("requested_procs > 64 and run_time > 3600").history[-1]  # doctest: +ELLIPSIS
        'where requested_procs > 64 and run_time > 3600: ... of 1,000 jobs'
        """
        condition = chosen if isinstance(chosen, str) else "a mask is true"
        subject = f"{chosen!r} gives" if isinstance(chosen, str) else "the mask holds"
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
            raise ValueError(f"{subject} nothing for {missing:,} jobs, expected true or false for each job")
        if not pd.api.types.is_bool_dtype(mask := mask.infer_objects()):
            raise ValueError(f"{subject} {mask.dtype}, expected true or false for each job")
        if not mask.any():
            raise ValueError(f"no job of {self.name} has {condition!r}")
        kept = self.table[mask.to_numpy(bool)]
        return self._with(kept, f"where {condition}: {len(kept):,} of {len(self):,} jobs")

    def _asked(self, condition):
        """Evaluate a condition on the columns, and on the names of users, groups, queues and partitions."""
        table = self.jobs
        for word, column in ({"queue": "queue", "partition": "partition"} | WORDS).items():
            if names := self.names.get(column):
                table[word] = table[column].map(names)
            elif word not in table:
                table[word] = table[column]
        try:
            mask = table.eval(condition, engine="python")
        except Exception as error:  # pandas raises nearly anything for a condition: NameError, TypeError, ...
            unknown = re.search(r"name '(\w+)' is not defined", str(error))
            known = f"{', '.join(map(str, table.columns))}{suggestion(unknown and unknown[1], table.columns)}"
            raise ValueError(f"cannot evaluate {condition!r} ({error}); columns: {known}") from None
        if not isinstance(mask, pd.Series):
            raise ValueError(f"{condition!r} gives a {type(mask).__name__}, expected true or false for each job")
        return pd.Series(np.where(mask.isna(), False, mask), index=mask.index)  # an unknown value meets no condition

    def sample(self, share: float, seed: int = 0) -> Self:
        """Keep a random share of the jobs; the load falls with them.

        Parameters
        ----------
        share : float
            Probability that each job is kept, above 0 and at most 1; it is an error if none is.
        seed : int
            Seed of the random choice. It depends on job numbers only, so with the same seed a smaller share is a subset
            of a larger one.

        Examples
        --------
        >>> import schedlab as sl
        >>> sl.model_trace("lublin", jobs=1000).sample(0.1, seed=1).history[-1]  # doctest: +ELLIPSIS
        'sample of 0.1, seed 1: ... of 1,000 jobs'
        """
        if isinstance(share, bool) or not (isinstance(share, Real) and 0 < share <= 1):
            raise ValueError(f"share must be above 0 and at most 1, got {spelt(share)}")
        seed = entropy(seed)
        kept = self.table[uniforms(seed, "sample", self.table.index.to_numpy()) < share]
        if kept.empty:
            raise ValueError(f"a sample of {share:g} of the {len(self):,} jobs of {self.name} is empty")
        return self._with(kept, f"sample of {share:g}, seed {seed}: {len(kept):,} of {len(self):,} jobs")

    def rename(self, name: str | None = None, columns: Mapping[str, str] | None = None) -> Self:
        """Rename the trace, or columns of it that are not part of SWF.

        Parameters
        ----------
        name : str, optional
            New name of the trace.
        columns : mapping, optional
            New names, not in use yet, by present names. SWF's own columns cannot be renamed.

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

    def concat(self, *others: Self, by: str = "date") -> Self:
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

            Lead-ins (`between`) are left out, except by date those jobs that no other trace has.

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

    def at(self, seconds: float) -> pd.Timestamp | float:
        """Return the date of a second of the log, in the machine's time zone; without UnixStartTime, the second itself.

        Raises ValueError for a date outside the years 1 to 9999.

        Parameters
        ----------
        seconds : float, seconds
            On the clock of the log.

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
