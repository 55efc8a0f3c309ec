"""The decisions of schemes for moldable jobs, recomputed from their schedules.

`instants` and `situation` return the decisions of the iterative scheme, one by one, so that they can be made again,
timed or compared; `draw_step` draws a step of one. `fair_shares` returns the shares that the fair-share scheme should
have used.
"""

from dataclasses import replace
from itertools import product
from time import perf_counter
from typing import NamedTuple

import numpy as np
import pandas as pd

from ... import charts
from ...kernels.iterative import decision
from ...kernels.speedup import DOWNEY, durations
from ...schedule import Schedule
from ...schemes import FairShareMoldable, Outcome
from ...workload.speedup import Laws

__all__ = [
    "Decision",
    "draw_step",
    "fair_shares",
    "instants",
    "planned",
    "readable_instants",
    "situation",
    "small_decisions",
    "timed",
]

DRAWN = 280  # pixels, of both plans
RUNS, WAITS, TRIED = "running", "waiting", "gets a processor"


class Decision(NamedTuple):
    """The input of the iterative scheme's decision at an instant; jobs are identified by their places in the trace.

    Attributes
    ----------
    now : int
        Seconds on the clock of the log.
    queued : int64, shape (n_queued,)
        Places of the waiting jobs, in queue order.
    running, ends, held : int64, shape (n_running,)
        Places of the running jobs, ordered by estimated end; these ends (seconds after `now`); their processors.
    estimate, procs : int64, shape (n_queued,)
        Processors that the queued jobs request, and their estimates on these (seconds).
    laws : Laws
        How the queued jobs speed up.
    machine : int
        Processors of the machine.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64, seed=1).with_speedup(sl.Downey("system"), seed=1)
    >>> schedule = sl.simulate(trace.scale_load(0.9), sl.IterativeMoldable())
    >>> now = sl.decisions.readable_instants(schedule, least=4, most=8)[-1]
    >>> decision = sl.decisions.situation(schedule, now)
    >>> width, start, steps = decision.made()
    >>> decision.procs.tolist(), width.tolist()  # what the jobs ask for, and what they get
    ([4, 4, 64, 4, 3], [4, 5, 14, 4, 5])
    >>> decision.total(width) < decision.total(decision.procs)
    True
    """

    now: int
    queued: np.ndarray
    running: np.ndarray
    ends: np.ndarray
    held: np.ndarray
    estimate: np.ndarray
    procs: np.ndarray
    laws: Laws
    machine: int

    def made(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Make the decision.

        Returns
        -------
        width : int64, shape (n_queued,)
            Processors of the queued jobs.
        start : int64, shape (n_queued,), seconds after `now`
            Their reservations.
        steps : int64, shape (n_steps, 4)
            The attempts, in order: the place in `queued`, the processors, whether the job kept them, and the sum of the
            estimated completions, or -1 if the attempt was abandoned before the sum was known.
        """
        return decision(self.ends, self.held, self.estimate, self.procs, self.machine, self.laws, 0)

    def widths_after(self, steps) -> np.ndarray:
        """Return the processors of the queued jobs after some steps of the decision.

        Parameters
        ----------
        steps : int64, shape (n_steps, 4)
            The first of the steps that `made` returns.
        """
        width = np.where(self.laws.moldable, 1, self.procs)
        for place, tried, stays, _ in steps.tolist():
            if stays:
                width[place] = tried
        return width

    def lasting(self, width) -> np.ndarray:
        """Return the estimated durations of the queued jobs (int64, seconds).

        Parameters
        ----------
        width : int64, shape (n_queued,)
            Processors of each job.
        """
        return durations(self.estimate, self.procs, width, self.laws)

    def reserved(self, width) -> np.ndarray:
        """Return the reservations of the queued jobs (int64, seconds after `now`).

        Parameters
        ----------
        width : int64, shape (n_queued,)
            Processors of each job.
        """
        rigid = self.laws._replace(moldable=np.zeros(self.queued.size, bool))
        return decision(self.ends, self.held, self.lasting(width), width, self.machine, rigid, 0)[1]

    def total(self, width) -> int:
        """Add up the estimated completions of the queued jobs, in seconds after `now`.

        Parameters
        ----------
        width : int64, shape (n_queued,)
            Processors of each job.
        """
        return int((self.reserved(width) + self.lasting(width)).sum())

    def least_total(self) -> int:
        """Return the smallest `total` of any widths. All are tried, so this is only for few jobs and processors."""
        every = product(range(1, self.machine + 1), repeat=self.queued.size)
        return min(self.total(np.array(width)) for width in every)


def instants(schedule: Schedule) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the instants at which the iterative scheme decides: jobs wait and processors are free.

    Parameters
    ----------
    schedule : Schedule
        A schedule of `IterativeMoldable`.

    Returns
    -------
    instants, waiting, free : int64
        Seconds on the clock of the log; number of jobs to decide on, and of processors free for them.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64, seed=1).with_speedup(sl.Downey("system"), seed=1)
    >>> schedule = sl.simulate(trace.scale_load(0.9), sl.IterativeMoldable())
    >>> times, waiting, free = sl.decisions.instants(schedule)
    >>> busiest = waiting.argmax()
    >>> len(times), int(waiting[busiest]), int(free[busiest])
    (204, 24, 50)
    """
    start, end, procs = schedule.start, schedule.end, schedule.procs
    times = np.unique(np.concatenate([schedule.submit, end]))
    by_start, by_end = np.argsort(start, kind="stable"), np.argsort(end, kind="stable")
    begun = np.searchsorted(start[by_start], times, side="left")  # before this instant's decision
    ended = np.searchsorted(end[by_end], times, side="right")
    held = np.append(0, procs[by_start].cumsum())[begun] - np.append(0, procs[by_end].cumsum())[ended]
    waiting = np.searchsorted(schedule.submit, times, side="right") - begun
    free = schedule.machine.procs - held
    decides = (waiting > 0) & (free > 0)
    return times[decides], waiting[decides], free[decides]


def readable_instants(schedule: Schedule, least: int = 3, most: int = 12) -> np.ndarray:
    """Return the `instants` at which the iterative scheme decides on few enough jobs to draw.

    Raises ValueError if there are no such instants at all.

    Parameters
    ----------
    schedule : Schedule
        A schedule of `IterativeMoldable`.
    least, most : int
        Fewest and most jobs to decide on.

    Returns
    -------
    int64, seconds on the clock of the log
        The instants with at least a quarter of the machine free, or all of them if there are none.
    """
    times, waiting, free = instants(schedule)
    few = (waiting >= least) & (waiting <= most)
    if not few.any():
        raise ValueError(f"no decision on {least} to {most} jobs, try another load")
    freer = few & (4 * free >= schedule.machine.procs)
    return times[freer if freer.any() else few]


def situation(schedule: Schedule, now: int) -> Decision:
    """Return the input of the iterative scheme's decision at an instant of its schedule.

    Raises ValueError if no job waits at that instant, or no processor is free.

    Parameters
    ----------
    schedule : Schedule
        A schedule of `IterativeMoldable`.
    now : int
        One of its `instants`.
    """
    queued = np.flatnonzero((schedule.submit <= now) & (schedule.start >= now))
    running = np.flatnonzero((schedule.start < now) & (schedule.end > now))
    ends = (schedule.start + schedule.estimate)[running] - now
    order = np.argsort(ends, kind="stable")
    running, ends = running[order], ends[order]
    machine = schedule.machine.procs
    free = machine - schedule.procs[running].sum()
    if not queued.size or free < 1:
        raise ValueError(f"nothing is decided at {now} s: {queued.size} jobs wait and {free} processors are free")
    _, _, estimate, procs = (column[queued] for column in schedule.case.jobs)
    laws = schedule.trace.laws(machine).of(queued)
    return Decision(int(now), queued, running, ends, schedule.procs[running], estimate, procs, laws, machine)


def timed(schedule: Schedule, most: int) -> pd.DataFrame:
    """Repeat decisions of the iterative scheme, one after the other, and measure how long they take.

    Parameters
    ----------
    schedule : Schedule
        A schedule of `IterativeMoldable`.
    most : int
        Maximum number of decisions, 1 or more; evenly spaced if the schedule has more.

    Returns
    -------
    DataFrame
        One row per decision: instant (seconds on the clock of the log), waiting (jobs), seconds (that it took).

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64, seed=1).with_speedup(sl.Downey("system"), seed=1)
    >>> schedule = sl.simulate(trace.scale_load(0.9), sl.IterativeMoldable())
    >>> table = sl.decisions.timed(schedule, most=5)
    >>> table["waiting"].tolist()  # the column seconds tells how long each decision took
    [1, 8, 7, 16, 1]
    """
    if most < 1:
        raise ValueError(f"most must be at least 1, got {most}")
    times, waiting, _ = instants(schedule)
    some = np.unique(np.linspace(0, times.size - 1, min(most, times.size)).round().astype(int))
    situation(schedule, times[some[0]]).made()  # so that nothing is compiled while the time is measured
    took = []
    for now in times[some]:
        decision = situation(schedule, now)
        begin = perf_counter()
        decision.made()
        took.append(perf_counter() - begin)
    return pd.DataFrame({"instant": times[some], "waiting": waiting[some], "seconds": took})


def small_decisions(count: int, seed: int = 0, sigma: tuple[float, float] = (0, 2)) -> list[Decision]:
    """Draw decisions so small that all outcomes can be tried: 2 to 4 jobs on 3 to 6 processors, some of them busy.

    Parameters
    ----------
    count, seed : int
        Number of decisions; the same seed gives the same decisions.
    sigma : (float, float)
        Range from which sigma of Downey's law is drawn. A is the size of the machine in every second decision,
        otherwise once to twice the processors that the job requests.

    Examples
    --------
    >>> import schedlab as sl
    >>> decisions = sl.decisions.small_decisions(20, seed=1)
    >>> best = [decision.total(decision.made()[0]) == decision.least_total() for decision in decisions]
    >>> sum(best)
    10
    """
    random = np.random.default_rng(seed)
    drawn = []
    for i in range(count):
        machine, n = int(random.integers(3, 7)), int(random.integers(2, 5))
        procs = random.integers(1, machine + 1, n)
        A = np.full(n, machine) if i % 2 else procs * random.uniform(1, 2, n)
        laws = Laws(DOWNEY, A.astype("float64"), random.uniform(*sigma, n), np.zeros((1, 1)), np.ones(n, bool))
        held = random.integers(1, 3, random.integers(0, machine // 2))
        ends = np.sort(random.integers(1, 3_600, held.size))
        estimate = np.exp(random.uniform(np.log(60), np.log(36_000), n)).astype("int64")
        drawn.append(Decision(0, np.arange(n), np.arange(held.size), ends, held, estimate, procs, laws, machine))
    return drawn


def planned(schedule: Schedule, decision: Decision, width) -> Schedule:
    """Return the plan of a decision as a schedule: running jobs up to their estimated ends, and reservations.

    Parameters
    ----------
    schedule : Schedule
        The schedule in which the decision was made.
    decision : Decision
        The decision to plan.
    width : int64, shape (n_queued,)
        Processors of the queued jobs.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64, seed=1).with_speedup(sl.Downey("system"), seed=1)
    >>> schedule = sl.simulate(trace.scale_load(0.9), sl.IterativeMoldable())
    >>> now = sl.decisions.readable_instants(schedule, least=4, most=8)[-1]
    >>> decision = sl.decisions.situation(schedule, now)
    >>> plan = sl.decisions.planned(schedule, decision, decision.made()[0])
    >>> title = "Running jobs to their estimated ends, and reservations"
    >>> chart = sl.charts.gantt(plan, (now, now + 86_400), label="job_number", title=title)
    """
    start, lasts, procs = schedule.start.copy(), schedule.estimate.copy(), schedule.procs.copy()
    start[decision.queued] = decision.now + decision.reserved(width)
    lasts[decision.queued] = decision.lasting(width)
    procs[decision.queued] = width
    places = np.sort(np.concatenate([decision.running, decision.queued]))
    start, lasts, procs = start[places], lasts[places], procs[places]
    part = replace(schedule.trace, table=schedule.trace.table.iloc[places])
    outcome = Outcome(part.table["submit_time"].to_numpy(), start, run=lasts, procs=procs, estimate=lasts)
    return Schedule(part, schedule.scheme, schedule.machine, schedule.overrun, schedule.events, outcome)


def draw_step(schedule: Schedule, now: int, step: int) -> tuple:
    """Draw a step of a decision of the iterative scheme: which job is tried, and the plan before and after.

    Raises ValueError if nothing was decided or tried at that instant.

    Parameters
    ----------
    schedule : Schedule
        A schedule of `IterativeMoldable`.
    now : int
        One of its `instants`.
    step : int
        Which step of the decision, from 1; the last one if there are fewer.

    Returns
    -------
    chart, table
        Gantt charts of the two plans; and for each queued job the processors, estimate and start in both.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64, seed=1).with_speedup(sl.Downey("system"), seed=1)
    >>> schedule = sl.simulate(trace.scale_load(0.9), sl.IterativeMoldable())
    >>> now = sl.decisions.readable_instants(schedule, least=4, most=8)[-1]
    >>> chart, table = sl.decisions.draw_step(schedule, now, step=20)
    """
    decision = situation(schedule, now)
    steps = decision.made()[2]
    if not len(steps):
        raise ValueError(f"nothing was tried at {now} s: no job gains from a second processor")
    step = min(max(step, 1), len(steps))
    before, after = decision.widths_after(steps[: step - 1]), decision.widths_after(steps[: step - 1])
    tried, width, kept, _ = steps[step - 1].tolist()
    after[tried] = width
    table = schedule.trace.table
    names = table.index[decision.queued]
    job, more = f"job {names[tried]}", f"{width} processors"
    fewer = f"{width - 1} processor{'s' if width > 2 else ''}"
    state = np.full(len(schedule), RUNS, object)
    state[decision.queued] = WAITS
    state[decision.queued[tried]] = TRIED
    coloured = replace(schedule, trace=replace(schedule.trace, table=table.assign(state=state)))
    plans = {f"Before: {job} on {fewer}": before, f"Tried: {job} on {more}": after}
    plans = {title: planned(coloured, decision, widths) for title, widths in plans.items()}
    until = now + max(int((decision.reserved(widths) + decision.lasting(widths)).max()) for widths in (before, after))
    ruling = f"{job} keeps {more}" if kept else f"{job} goes back to {fewer} and is not tried again"
    sums = [f"{decision.total(widths) / 3600:,.2f} h" for widths in (before, after)]
    how = {
        "color": "state",
        "label": "job_number",
        "processors": _processors_of(names, plans.values()),
        "height": DRAWN,
    }
    how["title"] = f"Step {step:,} of {len(steps):,}: one more processor for {job}"
    how["subtitle"] = f"sum of estimated completions: {sums[0]} before, {sums[1]} tried, so {ruling}"
    chart = charts.gantts(plans, (now, until), **how)
    columns = {"job": names}
    for prefix, widths in (("", before), ("with it: ", after)):
        columns |= {f"{prefix}processors": widths, f"{prefix}estimate (h)": decision.lasting(widths) / 3600}
        columns |= {f"{prefix}starts after (h)": decision.reserved(widths) / 3600}
    return chart, charts.table(pd.DataFrame(columns))


def _processors_of(names, plans):
    """Return the lowest and the highest processor that some jobs hold in any of the plans."""
    ends = []
    for plan in plans:
        offset, first, last = plan.processors()
        held = np.repeat(plan.trace.table.index.isin(names), np.diff(offset))
        ends += [first[held].min(), last[held].max()]
    return min(ends), max(ends)


def fair_shares(schedule: Schedule) -> np.ndarray:
    """Return the fair share of each job at its start, recomputed from the jobs that wait or run at that time.

    The share is ObF x sqrt(work) / the sum over these jobs x processors, rounded to the nearest whole number, from 1 to
    the size of the machine; work is the estimated sequential work.

    Parameters
    ----------
    schedule : Schedule
        A schedule of `FairShareMoldable` with any overbooking and efficiency, and its default settings otherwise.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64, seed=1).with_speedup(sl.Downey("system"), seed=1)
    >>> schedule = sl.simulate(trace.scale_load(0.9), sl.FairShareMoldable())
    >>> bool((schedule.procs <= sl.decisions.fair_shares(schedule)).all())
    True

    References
    ----------
    Sabin, Lang and Sadayappan, JSSPP 2006, section 3; Srinivasan et al., Cluster 2003, for the square root.
    """
    scheme = schedule.scheme
    settings = {name: getattr(scheme, name, None) for name in ("overbooking", "efficiency")}
    if None in settings.values() or scheme != FairShareMoldable(**settings):
        raise ValueError(
            f"the schedule is under {scheme}, expected FairShareMoldable with its usual weight, work and mix"
        )
    trace, machine = schedule.trace, schedule.machine.procs
    estimate, procs = (trace.table[name].to_numpy() for name in ("requested_time", "requested_procs"))
    weight = np.sqrt(estimate * trace.laws(machine).speedup(procs))
    end = schedule.end
    sums = [weight[(schedule.submit <= start) & (end > start)].sum() for start in schedule.start]
    share = schedule.scheme.overbooking * weight / np.array(sums) * machine
    return np.clip(np.floor(share + 1 / 2 + 1e-9), 1, machine).astype("int64")
