"""Why a job waited: which jobs held the processors, which of these came later, and when it could expect to start.

The expected start at an instant is found by simulation, under any scheme: jobs not yet submitted are left out, and jobs
that have not ended run as long as estimated. So it is the reservation of conservative backfilling, the shadow time of
EASY's head, and for any other job the start that it gets if nothing new happens. It changes only when there is news: a
job is submitted, ends early, or runs on past its estimate.
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from schedlab import show
from schedlab._runtime.threads import pool
from schedlab.kernels.pools import BEGINS, ENDS, KNOWN
from schedlab.machine import Flat, KaryTree, Pools
from schedlab.schemes.cases import known_at

from .held_back import reasons
from .starts import LABELS, check_whole

if TYPE_CHECKING:  # its module imports this one
    from .base import Schedule

RAN, BEFORE, LATER = "ran already", "submitted before it", "submitted after it"
HEAD, RESERVATION = LABELS[:2]
ALL = 64  # up to this much news, the expected start is found after every piece of it
MOST_JOBS = 2_000_000  # simulated in total for one table of expected starts
SLOWER = 20  # how many times fewer, if the scheme is in plain Python
SHOWN, ROWS = 8, 40  # rows of tables in a page: of other jobs, of expected starts
EXACTLY = 600  # seconds; for shorter waits, instants are given to the second
MUCH = "several things had happened"
WINDOWS = {ENDS: "a window ended", KNOWN: "a window was announced", BEGINS: "a window closed the pool"}
TOLD = 3  # changes of the expected start that the sentence names


@dataclass(frozen=True, eq=False, repr=False)
class Why:
    """Why a job of a schedule waited; `Schedule.why` makes it. It displays itself, in words and as a Gantt chart.

    If the machine has partitions or pools, it is about the schedule of the job's own, which it names.
    """

    schedule: "Schedule"
    job: int
    where: str = ""

    @cached_property
    def _place(self):
        return self.schedule.trace.table.index.get_loc(self.job)

    @cached_property
    def _waited(self):
        """Submission and start, in seconds on the clock of the log."""
        return int(self.schedule.submit[self._place]), int(self.schedule.start[self._place])

    @property
    def _beside(self):
        """Which jobs run in the pool of this one."""
        case = self.schedule.case
        return True if case.places is None else case.places == case.places[self._place]

    @cached_property
    def others(self) -> pd.DataFrame:
        """The jobs that held processors while this one waited, index job_number.

        Columns: which ("ran already", "submitted before it" or "submitted after it"), procs, start_time and end_time
        (seconds on the clock of the log), and held (processor-seconds while this one waited). Largest held first.
        """
        schedule, place, (came, began) = self.schedule, self._place, self._waited
        start, end = schedule.start, schedule.end
        lasted = np.minimum(end, began) - np.maximum(start, came)
        places = np.flatnonzero((lasted > 0) & self._beside)
        held = (lasted * schedule.procs)[places]
        ran = (start[places] < came) | ((start[places] == came) & (places < place))
        kind = np.where(ran, RAN, np.where(places < place, BEFORE, LATER))
        columns = {"which": kind, "procs": schedule.procs[places], "start_time": start[places], "end_time": end[places]}
        table = pd.DataFrame(columns | {"held": held}, index=schedule.trace.table.index[places])
        return table.iloc[np.argsort(-held, kind="stable")]

    @cached_property
    def expected(self) -> pd.DataFrame:
        """When the job could expect to start, by the estimates and without later arrivals; one row per change.

        Columns: time and expected_start (seconds on the clock of the log), and news, which says what happened then. A
        job past its estimate is expected to end a second later, so starts that depend on it are delayed second by
        second; the table lists this only at each piece of news. If much happened while the job waited, some changes may
        be missing: those that were later undone and, in a long log, others. The table is empty if nothing can be said;
        the words say why.
        """
        rows, _, _ = self._looked
        return pd.DataFrame(rows, columns=["time", "expected_start", "news"])

    @cached_property
    def _looked(self):
        """The rows of `expected`, whether they include all changes, and the reason if there are none."""
        schedule, place = self.schedule, self._place
        if not schedule.scheme.simulated:
            return [], True, ""  # a log has no scheme to simulate
        if len(schedule.traces) > 1:
            return [], True, "sites share their jobs"
        if isinstance(schedule.machine, KaryTree) and np.any(schedule.machine.speedup):
            return [], True, "run times depend on where jobs are placed"
        last = int(schedule.outcome.start[place])
        for news in self._news():
            try:
                starts, every = self._look(news)
            except NotImplementedError:  # from `schedlab.steps`, where the caller decides
                return [], True, "it was decided step by step, from outside"
            if None not in starts.values() and starts[news.times.size - 1] == last:
                break
        else:
            return [], True, "the scheme's decisions depend on the future"
        rows, before = [], None
        for position in sorted(starts):
            if starts[position] != before:
                at, exact = schedule.origin + int(news.times[position]), position == 0 or position - 1 in starts
                rows.append((at, schedule.origin + starts[position], news.words(position) if exact else MUCH))
            before = starts[position]
        return rows, every, ""

    def _news(self):
        """Yield the news: if the scheme forgets, first only of jobs since none waited; then of all jobs."""
        schedule, numbers = self.schedule, self.schedule.trace.table.index
        case, outcome, estimate, place = schedule.case, schedule.outcome, self._estimate, self._place
        if isinstance(schedule.machine, Flat) and schedule.scheme.forgets:
            jobs, submit = _since_none_waited(outcome, place)
            less = case.some(jobs)
            less = replace(less, jobs=less.jobs._replace(submit=submit))
            part = replace(outcome.part(jobs), submit=submit)
            yield _News(less, part, estimate[jobs], int(np.flatnonzero(jobs == place)[0]), numbers[jobs])
        yield _News(case, outcome, estimate, place, numbers)

    def _look(self, news):
        """Find the expected start after some of the news, by position; tell whether this covers all of them."""
        starts, last = {}, news.times.size - 1
        most = MOST_JOBS // SLOWER if hasattr(self.schedule.scheme, "decide") else MOST_JOBS
        most = max(ALL // 4, most // len(news.case))

        def look(at):
            with pool() as threads:
                expected = threads.map(partial(_start_expected, self.schedule.scheme, news), at)
                starts.update(zip(at, expected, strict=True))

        every = last < min(ALL, most)
        look(range(last + 1) if every else [0, last])
        while not every and len(starts) < most:
            known = sorted(starts)
            halves = [(a + b) // 2 for a, b in pairwise(known) if b > a + 1 and starts[a] != starts[b]]
            if not halves:
                break
            look(halves[: most - len(starts)])
        return starts, every

    @property
    def _estimate(self):
        estimate = self.schedule.outcome.estimate
        return self.schedule.case.jobs.estimate if estimate is None else estimate

    def __str__(self) -> str:
        return "\n".join(self._sentences())

    __repr__ = __str__

    def _sentences(self):
        schedule, place, (came, began) = self.schedule, self._place, self._waited
        procs, others = int(schedule.procs[place]), self.others
        wide, long = _count(procs, "processor"), show.duration(int(self._estimate[place]))
        first = f"Job {self.job} ({wide}, estimate {long}{self.where})"
        if began == came:
            yield f"{first} did not wait: it started at {self._at(came)}, when it was submitted."
            if schedule.started_by[place] != HEAD:
                yield self._how()
            return
        yield f"{first} waited {show.duration(began - came)}, from {self._at(came)} to {self._at(began)}."
        ran = others["which"] == RAN
        queued = int((self._beside & (schedule.submit <= came) & (schedule.start > came)).sum()) - 1
        held = int(others["procs"][ran].sum())
        size = f"{held:,} of {_count(self._size, 'processor')}"
        busy = f"{_count(int(ran.sum()), 'job')} held {size}" if held else "the machine was idle"
        others_waited = f"{_count(queued, 'other job')} waited" if queued else "no other job waited"
        yield f"When it was submitted, {busy}, and {others_waited}."
        if schedule.outcome.estimate is None:  # a moldable job could have had another number
            yield from self._blocked(procs, began - came)
        yield from self._overtaken()
        yield from self._moves()
        yield self._how()

    def _blocked(self, procs, waited):
        """Say for how long too few processors were free, and for how long enough were free; in a pool, all reasons."""
        if isinstance(self.schedule.machine, Pools):
            for reason, seconds in reasons(self.schedule, self._place).items():
                yield f"For {show.duration(seconds)} {reason}."
            return
        free, lasts = self._free()
        few = int(lasts[free < procs].sum())
        if few:
            too_few = "no processor was free" if procs == 1 else f"fewer than {procs:,} processors were free"
            yield f"For {show.duration(few)} {too_few}."
        if few < waited:
            reason = "the scheme held it back" if self.schedule.scheme.simulated else "it did not get them"
            if isinstance(self.schedule.machine, KaryTree) and not self.schedule.machine.policy.whole:
                reason = f"not in one block, or {reason}"
            yield f"For {show.duration(waited - few)} enough were free, but {reason}."

    @property
    def _size(self):
        schedule = self.schedule
        if not isinstance(schedule.machine, Pools):
            return schedule.machine.procs
        return int(schedule.machine.capacity[schedule.case.places[self._place], 0])

    def _free(self):
        """Return the numbers of free processors while the job waited, and the duration of each."""
        came, began = self._waited
        timeline = self.schedule._timeline(None)
        time, used = timeline["time"].to_numpy(), timeline["used"].to_numpy()
        inside = (time > came) & (time < began)
        first = max(int(np.searchsorted(time, came, side="right")) - 1, 0)
        free = self.schedule.machine.procs - np.append(used[first], used[inside])
        return free, np.diff(np.concatenate([[came], time[inside], [began]]))

    def _overtaken(self):
        later = self.others[self.others["which"] == LATER]
        if len(later):
            numbers = ", ".join(map(str, later.index[:TOLD])) + ("" if len(later) <= TOLD else ", ...")
            yield f"{_count(len(later), 'job')} submitted later started before it ({numbers})."

    def _moves(self):
        table, (_, every, reason) = self.expected, self._looked
        if table.empty:
            if reason:
                yield f"What it could expect cannot be told: {reason}."
            return
        (_, first, _), *moves = table.itertuples(index=False)
        yield f"When it was submitted, it could expect to start at {self._at(first)}."
        if not moves:
            yield "That did not change."
            return
        largest = np.argsort(-np.abs(np.diff(table["expected_start"])), kind="stable")[:TOLD]
        examples = "; ".join(self._move(moves[i]) for i in sorted(largest))
        changed = f"That changed {'' if every else 'at least '}{_times(len(moves))}"
        subject = "The largest changes" if every else "The largest of these changes"
        yield f"{changed}: {examples}." if len(moves) <= TOLD else f"{changed}. {subject}: {examples}."

    def _move(self, row):
        if row.time == row.expected_start:
            return f"at {self._at(row.time)} it could start at once, as {row.news}"
        return f"at {self._at(row.time)} it became {self._at(row.expected_start)}, as {row.news}"

    def _how(self):
        how = self.schedule.started_by[self._place]
        if how == HEAD:
            return "It started in its turn."
        if how == RESERVATION:
            return "It started by its reservation, ahead of jobs that stood before it in the queue."
        return f"It was {how}."

    def _at(self, second):
        moment, (came, began) = self.schedule.trace.at(int(second)), self._waited
        if hasattr(moment, "strftime") and began - came < EXACTLY:
            return f"{moment:%Y-%m-%d %H:%M:%S}"
        return show.instant(moment)

    def _ipython_display_(self):
        from schedlab.charts import waited  # here, since a schedule needs charts only to be shown, and Altair is slow

        lines = map(show.line, self._sentences())
        show.display(show.page(*lines), waited(self), show.page(*self._tables()))

    def _tables(self):
        """Yield the tables as HTML, folded."""
        if len(self.others):
            rows = [
                (str(job), which, f"{procs:,}", self._at(start), self._at(end), show.number(held / 3600))
                for job, which, procs, start, end, held in self.others[:SHOWN].itertuples()
            ]
            names = ("job", "which", "processors", "start", "end", "processor-hours")
            limit = f", the {SHOWN} that held most" if len(self.others) > SHOWN else ""
            heading = f"{_count(len(self.others), 'job')} held processors while it waited{limit}"
            yield show.folded(heading, show.table(names, rows, (0, 1)))
        if len(self.expected) > 1:
            table = self.expected
            rows = [(self._at(at), self._at(start), news) for at, start, news in table[:ROWS].itertuples(index=False)]
            least = "" if self._looked[1] else "at least "
            limit = f", the first {ROWS - 1}" if len(table) > ROWS else ""
            heading = f"what it could expect, {least}{_count(len(table) - 1, 'change')}{limit}"
            yield show.folded(heading, show.table(("at", "expected start", "news"), rows, (0, 1, 2)))


class _News:
    """What happened unforeseeably while a job waited; times in seconds since the beginning of the case."""

    def __init__(self, case, outcome, estimate, place, numbers):
        self.case, self.place = case, place
        self.outcome, self._numbers = outcome, numbers
        self._expected = outcome.start + estimate
        self._came, self._ended = outcome.submit, outcome.end
        otherwise = self._ended != self._expected  # earlier or later than estimated
        overdue = self._expected[self._expected < self._ended]
        # Windows are news when they become known, and when they end runs.
        events = np.zeros(0, np.int64) if case.pooled is None else case.pooled.windows.event[:, 0]
        times = np.unique(np.concatenate([self._came, self._ended[otherwise], overdue, events]))
        self.times = times[(times >= self._came[place]) & (times <= outcome.start[place])]

    def words(self, position):
        """Describe the news at an instant: of several ends, the one that freed most; otherwise the first."""
        now = self.times[position]
        if position == 0:
            return "it was submitted"
        parts, before = [], self.outcome.start < now  # what starts only now is not news
        ended = np.flatnonzero(before & (self._ended == now) & (self._expected != now))
        if ended.size:
            most = ended[np.argmax(np.abs(self._expected - now)[ended] * self.outcome.procs[ended])]
            off = show.duration(abs(int(self._expected[most] - now)))
            when = f"{off} early" if self._expected[most] > now else f"{off} past its estimated end"
            parts.append(f"{self._named(most, ended)} ended{' ' if ended.size == 1 else ', the first of them '}{when}")
        late = np.flatnonzero(before & (self._expected == now) & (self._ended > now))
        if late.size:
            parts.append(f"{self._named(late[0], late)} ran on past {'its' if late.size == 1 else 'their'} estimate")
        came = np.flatnonzero(self._came == now)
        if came.size:
            parts.append(f"{self._named(came[0], came)} arrived")
        still = np.flatnonzero((self._expected < now) & (self._ended > now))
        if self.case.pooled is not None:
            events = self.case.pooled.windows.event
            parts += [WINDOWS[kind] for kind in np.unique(events[events[:, 0] == now, 2])]
        text = " and ".join(parts)
        if still.size:  # at each instant, these are expected to end a second later
            running = f"{self._named(still[0], still)} ran past {'its' if still.size == 1 else 'their'} estimate"
            text += f"{', ' if text else ''}while {running}"
        return text

    def _named(self, place, jobs):
        return f"job {self._numbers[place]}" + (f" and {_count(jobs.size - 1, 'other')}" if jobs.size > 1 else "")


def _since_none_waited(outcome, place):
    """Return the jobs that ran when last none waited (they count as submitted at their starts) and all later ones, and
    when each was submitted (ticks).
    """
    last_start = np.maximum.accumulate(outcome.start[:place])
    empty = np.flatnonzero(last_start < outcome.submit[1 : place + 1])
    first = int(empty[-1]) + 1 if empty.size else 0  # the job that came next
    running = np.flatnonzero(outcome.end[:first] > (last_start[first - 1] if first else 0))
    running = running[np.argsort(outcome.start[running], kind="stable")]
    since = np.arange(first, outcome.start.size)
    return np.append(running, since), np.append(outcome.start[running], outcome.submit[since])


def _start_expected(scheme, news, position):
    """Return the start that the job gets if nothing new happens; None if the past would then differ."""
    now = int(news.times[position])
    start = _starts_from(scheme.outcome(known_at(news.case, news.outcome, now)), now)
    before = _starts_from(news.outcome, now)[: start.size]
    if (start[before <= now] != before[before <= now]).any():
        return None
    return int(start[news.place])


def _starts_from(outcome, now):
    """Return the start of each job's first run that has not ended by an instant, or else of its last."""
    start = outcome.start
    if outcome.interrupted is not None:
        start = start.copy()
        job, begun, end = outcome.interrupted
        np.minimum.at(start, job[end > now], begun[end > now])
    return start


def why(schedule, job: int) -> Why:
    """Explain why a job waited; see `Schedule.why`."""
    check_whole(schedule, "why")
    if not isinstance(job, Integral) or job not in schedule.trace.table.index:
        number = job if isinstance(job, Integral) else repr(job)
        raise ValueError(f"{schedule.trace.name} has no job {number}; jobs are named by job_number")
    if isinstance(schedule.machine, Pools):
        place = schedule.trace.table.index.get_loc(job)
        name = schedule.machine.pools[schedule.case.places[place]][0]
        alone = schedule.pools[name] if schedule.case.in_parts else schedule
        return Why(alone, int(job), f", {schedule.machine.part} {name}")
    return Why(schedule, int(job))


def _count(number, noun):
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _times(number):
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")
