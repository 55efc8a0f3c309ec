"""Judge a whole log: which scheme and conventions give the starts that another simulator gave its jobs.

Laws come first: a schedule that breaks one is refused, whatever else it agrees with. Then every setting that could fit
is tried (`settings.py`). If none gives all starts, the verdict shows where the nearest one first differs.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from os import PathLike

import numpy as np
import pandas as pd

from schedlab import show
from schedlab._runtime.text import check_known
from schedlab.schedule import Schedule
from schedlab.schedule.why import Why
from schedlab.schemes.cases import check_trace
from schedlab.workload.trace import Trace

from . import settings
from .files import read_table, table_of
from .laws import broken, broken_as
from .matching import Output, count, matched, theirs_on
from .settings import Fit
from .suite import KINDS

WAITING = 12  # waiting jobs that the words list
OTHERS = "schedlab passes at each instant, or at each event with completions first: the probes tell other orders apart"
SETTINGS = 6  # settings that the words list
BEFORE, AFTER = 0.5, 1.5  # what the chart shows around the first difference, as shares of the difference
SHORTEST = 600  # seconds; the least difference that the chart is drawn for


@dataclass(frozen=True, eq=False)
class Difference:
    """Where two schedules of a log first differ.

    Attributes
    ----------
    time : int, seconds on the clock of the log
        The first instant at which one of them starts a job that the other does not.
    job : int
        The number of such a job, the first one in the order of arrival.
    free : int
        Processors that were free before anything started at that instant; both schedules agree up to there.
    waiting : DataFrame
        The jobs that waited then, index job_number: procs, estimate (that of the log, whatever was tried), submit_time,
        and their starts in the schedules, ours and theirs.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=100, machine=64, seed=3).scale_load(0.9)
    >>> starts = sl.simulate(trace, "easy").column("start_time")
    >>> starts.iloc[60] += 1
    >>> difference = sl.conformance.judge(starts, trace=trace).first_difference
    >>> difference.job == starts.index[60]
    True
    """

    time: int
    job: int
    free: int
    waiting: pd.DataFrame


def first_difference(theirs: Schedule, ours: Schedule, log: Trace) -> Difference | None:
    """Return where two schedules of the jobs of a log first differ, None if nowhere."""
    other = theirs.start != ours.start
    if not other.any():
        return None
    first = np.minimum(theirs.start, ours.start)
    now = int(first[other].min())
    job = int(np.flatnonzero(other & (first == now))[0])
    ran = (first < now) & (ours.end > now)
    waited = np.flatnonzero((first >= now) & ((ours.submit <= now) | (first == now)))
    columns = {
        "procs": ours.procs[waited],
        "estimate": log.table["requested_time"].to_numpy()[waited],
        "submit_time": ours.submit[waited],
        "theirs": theirs.start[waited],
        "ours": ours.start[waited],
    }
    numbers = ours.trace.table.index
    waiting = pd.DataFrame(columns, numbers[waited])
    return Difference(now, int(numbers[job]), int(ours.machine.procs - ours.procs[ran].sum()), waiting)


@dataclass(frozen=True, eq=False, repr=False)
class LogVerdict:
    """Which scheme and conventions give the starts of another simulator on a whole log; it displays itself.

    Attributes
    ----------
    output : Output
        What the other simulator gave.
    fits : tuple of Fit
        How well each setting fits, best first.
    kind : str, optional
        The kind of scheme that it claims to be; one of `KINDS`.
    theirs, ours : Schedule
        The starts of the other simulator, and those of the setting that fits best.
    laws : tuple of str
        The laws that the other schedule breaks.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=300, machine=64, seed=3).scale_load(0.9).with_estimates("tsafrir")
    >>> output = sl.simulate(trace, sl.DPSA()).jobs[["start_time"]]  # of another simulator
    >>> verdict = sl.conformance.judge(output, trace=trace)
    >>> verdict.passed, verdict.candidates.query("agree == jobs")["scheme"].unique().tolist()
    (True, ['DPSAn'])
    >>> sl.conformance.judge(output, "EASY", trace=trace).passed
    False
    """

    output: Output
    fits: tuple[Fit, ...]
    kind: str | None
    theirs: Schedule
    ours: Schedule
    laws: tuple[str, ...]

    @property
    def exact(self) -> list[Fit]:
        """The settings that give all starts."""
        return [fit for fit in self.fits if fit.all and fit.jobs == len(self.output.start)]

    @property
    def nearest(self) -> Fit:
        """The setting that fits best, of the claimed kind if one was claimed."""
        return next(fit for fit in self.fits if self.kind in (None, fit.setting.kind))

    @property
    def passed(self) -> bool:
        """Whether no law is broken, and a setting gives all starts; if a kind was claimed, one of that kind."""
        return not self.laws and any(self.kind in (None, fit.setting.kind) for fit in self.exact)

    @cached_property
    def candidates(self) -> pd.DataFrame:
        """The settings that were tried, best first.

        Columns: scheme, events, overrun, estimates; jobs, the length of the first part of the log on which the setting
        was tried; agree and share, how many of these start at the same time; mean_difference and max_difference, in
        seconds: their starts minus ours, and the largest in absolute value.
        """
        rows = [
            (str(fit.setting.scheme), *fit.setting.conventions, fit.jobs, fit.agree, fit.agree / fit.jobs,
             fit.difference, fit.largest)
            for fit in self.fits
        ]  # fmt: skip
        names = ["scheme", "events", "overrun", "estimates", "jobs", "agree", "share"]
        return pd.DataFrame(rows, columns=[*names, "mean_difference", "max_difference"])

    @cached_property
    def first_difference(self) -> Difference | None:
        """Where the best setting first differs from them; None if nowhere."""
        return first_difference(self.theirs, self.ours, self.output.trace)

    @cached_property
    def why(self) -> dict[str, Why]:
        """Why the job at which they first differ waited, in ours and in theirs; empty if nothing differs."""
        at = self.first_difference
        if at is None:
            return {}
        place = self.ours.trace.table.index.get_loc(at.job)
        both = {"ours": self.ours, "theirs": self.theirs}
        # A job that starts before its submission did not wait.
        waited = {name: schedule for name, schedule in both.items() if schedule.start[place] >= schedule.submit[place]}
        return {name: schedule.why(at.job) for name, schedule in waited.items()}

    def chart(self):
        """Draw both schedules around their first difference as Gantt charts below one another.

        Raises ValueError if nothing differs.

        Returns
        -------
        altair chart
        """
        from schedlab.charts import gantts  # here, since Altair is slow to load

        at = self.first_difference
        if at is None:
            raise ValueError("the schedules do not differ, so there is no first difference to draw")
        starts = [
            int(schedule.start[schedule.trace.table.index.get_loc(at.job)]) for schedule in (self.theirs, self.ours)
        ]
        span = max(abs(starts[0] - starts[1]), SHORTEST)
        window = int(at.time - BEFORE * span), int(at.time + AFTER * span)
        schedules = {"theirs": self.theirs, f"ours: {self.ours.scheme}": self.ours}
        title = f"The first difference, at {self._at(at.time)}: job {at.job}"
        return gantts(schedules, window, "job_number", label="job_number", title=title, height=260)

    def _at(self, second):
        moment = self.output.trace.at(int(second))
        dated = f" ({moment:%Y-%m-%d %H:%M:%S})" if hasattr(moment, "strftime") else ""
        return f"{second:,} s{dated}"

    def _laws(self):
        for law in self.laws:
            yield f"breaks a law: {law}"

    def _verdict(self):
        total, claimed = len(self.output.start), [fit for fit in self.exact if self.kind in (None, fit.setting.kind)]
        exact = self._grouped([fit.setting for fit in claimed or self.exact])
        prefix = "" if claimed or not self.kind else f"not {self.kind}: "
        if exact:
            yield f"{prefix}all {count(total, 'start')} are those of {exact[0]}"
            estimates = list(dict.fromkeys(fit.setting.estimates for fit in claimed or self.exact))
            if settings.GIVEN not in estimates:
                kinds = " or ".join(settings.ESTIMATES[name] for name in estimates)
                yield f"    only with {kinds}: not with the estimates of the log"
            for description in exact[1:SETTINGS]:
                yield f"    this log does not tell it from {description}"
            if len(exact) > SETTINGS:
                yield f"    nor from {len(exact) - SETTINGS} others (candidates)"
            if (self.theirs.start == self.theirs.submit).all():
                yield "    every job starts when it is submitted: such a log tells nothing about a scheduler"
        else:
            yield f"{prefix}no setting gives all {count(total, 'start')}"
            yield f"    {OTHERS}"
        if not claimed:
            yield from self._nearest()

    def _nearest(self):
        fit = self.nearest
        share = 100 * fit.agree / fit.jobs
        longer = "longer" if fit.difference > 0 else "shorter"
        yield (
            f"nearest{f' {self.kind}' if self.kind else ''}: {self._words(fit.setting)}: {fit.agree:,} of {fit.jobs:,} "
            f"starts ({share:.5g} %); the others differ by up to {fit.largest:,} s, and the mean wait of theirs is "
            f"{abs(fit.difference):,.4g} s {longer}"
        )
        if (first := self.fits[0]) is not fit and not first.all:
            yield f"    nearest of all: {self._words(first.setting)}: {first.agree:,} of {first.jobs:,} starts"
        shift = self.theirs.start - self.ours.start
        values, counts = np.unique(shift[shift != 0], return_counts=True)
        if counts.size and 2 * counts.max() > shift.size:
            yield f"    {count(int(counts.max()), 'job')} start exactly {values[counts.argmax()]:+,} s from ours"

    def _words(self, setting):
        return self._named(setting.scheme, setting.conventions)

    def _named(self, scheme, conventions):
        """Name a scheme and its conventions, without those of which only one was tried."""
        names = ("events", "overrun", "estimates")
        several = [len(set(self.candidates[name])) > 1 for name in names]
        choices = [f"{name} {value}" for name, value, many in zip(names, conventions, several, strict=True) if many]
        return f"{scheme} ({', '.join(choices)})"

    def _grouped(self, exact):
        """Describe settings that give the same schedule, one scheme a line."""
        lines = []
        for scheme in dict.fromkeys(setting.scheme for setting in exact):
            conventions = [setting.conventions for setting in exact if setting.scheme == scheme]
            values = [list(dict.fromkeys(column)) for column in zip(*conventions, strict=True)]
            if len(conventions) == len([*product(*values)]):
                conventions = [tuple(" or ".join(column) for column in values)]
            lines += [self._named(scheme, convention) for convention in conventions]
        return lines

    def _difference(self):
        at = self.first_difference
        if at is None:
            return
        row, waiting = at.waiting.loc[at.job], at.waiting
        yield (
            f"first difference: at {self._at(at.time)}, job {at.job}: it starts at {row.theirs:,} s in theirs, at "
            f"{row.ours:,} s in ours"
        )
        yield f"    free then: {count(at.free, 'processor')} of {self.ours.machine.procs:,}; waiting: {len(waiting):,}"
        for name in ("theirs", "ours"):
            started = waiting.index[waiting[name] == at.time]
            yield f"    {name} starts {', '.join(f'job {job}' for job in started[:WAITING]) or 'nothing'} then"
        for job, entry in waiting[:WAITING].iterrows():
            yield (
                f"    job {job}: {count(entry.procs, 'processor')}, estimate {entry.estimate:,} s, submitted at "
                f"{entry.submit_time:,} s; starts at {entry.theirs:,} s in theirs, at {entry.ours:,} s in ours"
            )
        if len(waiting) > WAITING:
            yield f"    and {count(len(waiting) - WAITING, 'other job')} (first_difference.waiting)"

    def _reasons(self):
        used = self.nearest.setting.estimates
        estimates = "" if used == settings.GIVEN else f" (with {settings.ESTIMATES[used]})"
        for name, reason in self.why.items():
            yield f"why, in {name}{estimates}: {' '.join(str(reason).splitlines())}"

    def _tried(self):
        parts = self.candidates["jobs"].value_counts().sort_index()
        parts = parts[parts.index < len(self.output.start)]
        part = "; ".join(f"{count:,} on the first {jobs:,} jobs only" for jobs, count in parts.items())
        schemes = self.candidates["scheme"].nunique()
        summary = f"tried: {count(len(self.fits), 'setting')} of {schemes} schemes"
        return summary + (f" ({part}: these do not give all starts of that part, or of the whole log)" if part else "")

    def __str__(self) -> str:
        lines = [*self._laws(), *self._verdict(), *self._difference(), *self._reasons()]
        return "\n".join([*lines, *(f"note: {note}" for note in self.output.notes), self._tried()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from schedlab.charts.files import within  # here, since Altair is slow to load

        name = f"{'follows' if self.passed else 'does not follow'} {self.kind or 'a known scheme'}"
        parts = [show.line(f"on {self.output.trace.title}", strong=f"another simulator {name}")]
        parts += map(show.note, self._laws())
        parts += map(show.line, self._verdict())
        if self.first_difference is not None:
            first, free, *starts = list(self._difference())[:4]
            parts += [show.line(line.strip()) for line in (first, free, *starts)]
            parts.append(within(self.chart(), first))
            table = self.first_difference.waiting[:WAITING]
            rows = [(str(job), *(f"{value:,}" for value in row)) for job, *row in table.itertuples()]
            parts.append(show.folded("waiting jobs", show.table(("job", *table.columns), rows)))
            for which, reason in self.why.items():
                parts.append(show.folded(f"why, in {which}", *map(show.line, str(reason).splitlines())))
        best = self.candidates[:WAITING]
        rows = [
            (*setting, f"{agree:,} of {jobs:,}", f"{mean:,.4g}")
            for *setting, jobs, agree, _, mean, _ in best.itertuples(index=False)
        ]
        names = ("scheme", "events", "overrun", "estimates", "same start", "mean difference (s)")
        parts.append(show.folded(self._tried(), show.table(names, rows, (0, 1, 2, 3))))
        parts += [show.line(note, faint=True) for note in self.output.notes]
        return show.page(*parts)


def judge_log(
    output: str | PathLike | pd.DataFrame | pd.Series | Schedule, trace: Trace | None, kind: str | None = None
) -> LogVerdict:
    """Say which scheme and conventions give the starts of another simulator on a whole log; see `judge`.

    The log of a schedule is its own by default; `kind` is what the other simulator claims to be, one of `KINDS`.
    """
    if trace is None and isinstance(output, Schedule):
        trace = output.trace
    if trace is None:
        raise ValueError("the starts of a whole log were given without the log, expected trace=")
    check_trace(trace)
    if kind is not None:
        check_known("scheme", kind, KINDS)
    known = isinstance(output, pd.DataFrame | pd.Series | Schedule)
    output = matched(table_of(output) if known else read_table(output), trace)
    fits = settings.fits(output.trace, output.start, kind)
    best = next(fit for fit in fits if kind in (None, fit.setting.kind))
    rule = best.setting.overrun
    theirs = theirs_on(best.setting.trace, output.start, rule)
    # Run times cut at their estimates are the shortest that a simulator may have used.
    laws = [*output.laws, *broken(theirs_on(output.trace, output.start))]
    if not laws:
        claim = kind or (None if fits[0].all else best.setting.kind)
        estimates = settings.estimates_of(output.trace, rule).values()
        of_claim = [broken_as(claim, theirs_on(variant, output.start, rule)) for variant in estimates]
        laws = (
            of_claim[0] if all(of_claim) else []
        )  # a promise is broken only if it is by all estimates that may be theirs
    return LogVerdict(output, tuple(fits), kind, theirs, best.setting.simulate(), tuple(laws))
