"""The paper's live figures: a scheme beside plain shares and EASY, and a decision of the iterative scheme by steps."""

from dataclasses import replace

import numpy as np
import pandas as pd

from schedlab import charts
from schedlab.schedule import Schedule
from schedlab.schemes import EASY, FairShareMoldable, Outcome

from ..figure import known
from . import decisions, grids
from .decisions import situation, widths_after
from .grids import BESIDE, ITERATIVE, LOG, OTHER_LOGS, PLAIN, SCENARIOS, SIGMA, SYSTEM, simulated, written

CHOICES = ("fair share", "iterative", "greedy")
NAMES = (LOG, *OTHER_LOGS)
RANGES = {written(sigma): sigma for sigma in (SIGMA, (0, 1), (1, 2), 0, 0.5, 1, 2)}
LABELS = {
    "load": "effective load",
    "scheme": "scheme",
    "overbooking": "overbooking factor ObF",
    "efficiency": "efficiency factor EF",
    "scenario": "average parallelism A",
    "sigma": "sigma: variance of parallelism",
    "share": "moldable jobs (share)",
    "name": "log",
    "jobs": "jobs simulated",
    "draw": "draw (A, sigma, submissions)",
}
LABELS_OF_DECISION = {"step": "step of the decision", "nth": "decision, in order of time"} | {
    name: LABELS[name] for name in ("load", "scenario", "name", "jobs", "draw")
}
FEW = (3, 12)  # jobs of a decision that is shown
RUNS, WAITS, TRIED = "running", "waiting", "gets a processor"


def live(
    load: float = BESIDE,
    scheme: str = "fair share",
    overbooking: float = 4,
    efficiency: float = 1,
    scenario: str = SYSTEM,
    sigma: float | tuple[float, float] = SIGMA,
    share: float = 1.0,
    name: str = LOG,
    jobs: int = 2_000,
    draw: int = 0,
) -> tuple:
    """Draw turnarounds and processors under a scheme, beside plain shares and EASY; means by class below.

    Parameters
    ----------
    load : float
        Effective load to scale to: sequential work submitted, of the capacity of the machine.
    scheme : {"fair share", "iterative", "greedy"}
        Who chooses the processors of moldable jobs.
    overbooking : float
        By what factor shares are multiplied (fair share only).
    efficiency : float
        How far processors move from jobs that they help little to jobs that they help more (fair share only).
    scenario : {"A = P", "A random"}
        How far jobs scale: average parallelism A of the whole machine, or about what they ask for.
    sigma : float or (low, high)
        Variance of the parallelism: 0 scales best.
    share : float
        Of jobs that are moldable.
    name : str
        The log that the jobs are from.
    jobs : int
        How many of its first jobs are simulated.
    draw : int
        Of A, sigma, and how submissions are moved.

    Returns
    -------
    chart, table
    """
    A = known("scenario", scenario, SCENARIOS)
    fair = FairShareMoldable(overbooking=overbooking, efficiency=efficiency)
    chosen = known("scheme", scheme, dict(zip(CHOICES, (fair, ITERATIVE, grids.GREEDY), strict=True)))
    settings = {"log": name, "jobs": jobs, "A": A, "sigma": sigma, "share": share, "load": load, "draw": draw}
    schedules = {str(each): simulated(each, **settings) for each in (chosen, PLAIN, EASY())}
    subtitle = f"{grids.about(name, jobs)}, effective load {load:g}, {scenario}, sigma {written(sigma)}"
    drawn = [
        charts.distribution(schedules, measure, title=title, subtitle=subtitle)
        for measure, title in (("turnaround", "Turnaround"), ("procs", "Processors of a job"))
    ]
    means = {
        f"{each}: turnaround (h)": grids.measured(schedule).set_index("group")["turnaround"] / 3600
        for each, schedule in schedules.items()
    }
    return charts.stacked(drawn), charts.table(pd.DataFrame(means).rename_axis("processor-seconds in the log"))


def live_decision(
    step: int = 1,
    nth: int = 0,
    load: float = 0.6,
    scenario: str = SYSTEM,
    name: str = OTHER_LOGS[0],
    jobs: int = 500,
    draw: int = 0,
) -> tuple:
    """Follow a decision of the iterative scheme: which job is tried, what becomes of it, the plan before and after.

    Parameters
    ----------
    step : int
        Which step of the decision, from 1; the last one where there are fewer.
    nth : int
        Which decision, in order of time, from 0: of those on 3 to 12 jobs with a quarter of the machine free, or, where
        there are none, with anything free; the last one where there are fewer.
    load : float
        Effective load to scale to: sequential work submitted, of the capacity of the machine.
    scenario : {"A = P", "A random"}
        How far jobs scale: average parallelism A of the whole machine, or about what they ask for.
    name : str
        The log that the jobs are from.
    jobs : int
        How many of its first jobs are simulated.
    draw : int
        Of A, sigma, and how submissions are moved.

    Returns
    -------
    chart, table
    """
    A = known("scenario", scenario, SCENARIOS)
    schedule = simulated(ITERATIVE, log=name, jobs=jobs, A=A, load=load, draw=draw)
    times, waiting, free = decisions.instants(schedule)
    few = (waiting >= FEW[0]) & (waiting <= FEW[1])
    if not few.any():
        raise ValueError(f"no decision on {FEW[0]} to {FEW[1]} jobs, try another load")
    freer = few & (4 * free >= schedule.machine.procs)
    shown = times[freer if freer.any() else few]
    return follow(schedule, shown[min(nth, shown.size - 1)], step)


def follow(schedule: Schedule, now: int, step: int) -> tuple:
    """Draw a step of the decision that the iterative scheme made at an instant of its schedule, as `live_decision`."""
    asked = situation(schedule, now)
    steps = asked.made()[2]
    if not len(steps):
        raise ValueError(f"nothing was tried at {now} s: no job gains from a second processor")
    step = min(max(step, 1), len(steps))
    before, (tried, width, kept, _) = widths_after(asked, steps[: step - 1]), steps[step - 1].tolist()
    after = before.copy()
    after[tried] = width
    names = schedule.trace.table.index[asked.queued]
    job, more = f"job {names[tried]}", f"{width} processors"
    fewer = f"{width - 1} processor{'s' if width > 2 else ''}"
    plans = {f"Before: {job} on {fewer}": before, f"Tried: {job} on {more}": after}
    plans = {title: _planned(schedule, asked, each, tried) for title, each in plans.items()}
    until = now + max(int((asked.reserved(each) + asked.lasting(each)).max()) for each in (before, after))
    ruling = f"{job} keeps {more}" if kept else f"{job} goes back to {fewer} and is not tried again"
    chart = charts.gantts(
        plans,
        (now, until),
        color="state",
        label="job_number",
        processors=_waited_for(plans.values(), names),
        title=f"Step {step:,} of {len(steps):,}: one more processor for {job}",
        subtitle=(
            f"sum of the estimated completions: {asked.total(before) / 3600:,.2f} h before, "
            f"{asked.total(after) / 3600:,.2f} h tried, so {ruling} (drawn: the processors of waiting jobs)"
        ),
    )
    columns = {"job": names}
    for words, each in (("", before), ("with it: ", after)):
        columns |= {f"{words}processors": each, f"{words}estimate (h)": asked.lasting(each) / 3600}
        columns |= {f"{words}starts after (h)": asked.reserved(each) / 3600}
    return chart, charts.table(pd.DataFrame(columns))


def _waited_for(plans, names):
    """Give the lowest and the highest processor that plans have for the queued jobs."""
    ends = []
    for plan in plans:
        offset, first, last = plan.processors()
        for place in np.flatnonzero(plan.trace.table.index.isin(names)):
            ends += [first[offset[place] : offset[place + 1]].min(), last[offset[place] : offset[place + 1]].max()]
    return min(ends), max(ends)


def _planned(schedule, asked, width, tried):
    """Make the schedule of what runs, to its estimated end, and of what is reserved."""
    state = np.array([RUNS] * asked.running.size + [WAITS] * asked.queued.size, object)
    state[asked.running.size + tried] = TRIED
    plan = {
        "place": np.concatenate([asked.running, asked.queued]),
        "start": np.concatenate([schedule.start[asked.running], asked.now + asked.reserved(width)]),
        "lasts": np.concatenate([schedule.estimate[asked.running], asked.lasting(width)]),
        "procs": np.concatenate([asked.held, width]),
    }
    order = np.argsort(plan["place"], kind="stable")
    places, start, lasts, procs = (each[order] for each in plan.values())
    part = replace(schedule.trace, table=schedule.trace.table.iloc[places].assign(state=state[order]))
    conventions = schedule.scheme, schedule.machine, schedule.overrun, schedule.events
    planned = Outcome(part.table["submit_time"].to_numpy(), start, run=lasts, procs=procs, estimate=lasts)
    return Schedule(part, *conventions, planned)
