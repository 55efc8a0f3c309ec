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
from schedlab._runtime.text import check_known, plain, suggestion

from . import swf
from .columns import WORDS
from .conventions import TAKEN
from .joining import joined

EARLIEST = -62_135_510_400  # seconds since 1970: the second day of year 1, so that the date exists in every time zone


class Parts:
    def head(self, jobs: int) -> Self:
        """Keep the first jobs by submit time.

        Parameters
        ----------
        jobs : int
            How many jobs, at least 1. If there are fewer, all are kept.

        Examples
        --------
        >>> import schedlab as sl
        >>> len(sl.model_trace("lublin", jobs=1000, seed=1).head(100))
        100
        """
        if jobs < 1:
            raise ValueError(f"jobs must be at least 1, got {jobs}")
        return self._with(self.table.iloc[:jobs], f"first {min(jobs, len(self)):,} jobs")

    def between(self, begin, end) -> Self:
        """Keep the jobs submitted in [begin, end).

        Parameters
        ----------
        begin, end : str, datetime or number
            Dates in the time zone of the machine (``"1996-09-01"``), or seconds on the clock of the log. A period
            without jobs is an error.

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
            submit = self.table["submit_time"].iloc[[0, -1]]
            first, last = (self.at(second) if self._is_dated(second) else second for second in submit)
            period = f"the log has {first} to {last}"
            raise ValueError(f"no job of {self.name} was submitted from {begin} to {end}; {period}")
        return self._with(kept, f"submitted from {begin} to {end}")

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
            raise ValueError(f"share must be above 0 and at most 1, got {share!r}")
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
