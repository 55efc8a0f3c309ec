"""The paper's live figures: a scheme beside plain shares and EASY, and a decision of the iterative scheme in steps."""

import numpy as np
import pandas as pd

from schedlab import EASY, FairShareMoldable, charts
from schedlab._runtime.text import check_known
from schedlab.charts.sizes import WIDE
from schedlab.charts.theme import headed
from schedlab.papers.sabin2006.decisions import draw_step, readable_instants, situation
from schedlab.show import duration
from schedlab.web.in_page import InPage

from . import grids
from .grids import BESIDE, ITERATIVE, LOG, OTHER_LOGS, PLAIN, SCENARIOS, SIGMA, SYSTEM, simulated, written

CHOICES = ("fair share", "iterative", "greedy")
NAMES = (LOG, *OTHER_LOGS)
RANGES = {written(sigma): sigma for sigma in (SIGMA, (0, 1), (1, 2), 0, 0.5, 1, 2)}


def live(
    load: float = BESIDE,
    scheme: str = "fair share",
    overbooking: float = 4,
    efficiency: float = 1,
    weight: str = "sqrt",
    mix: str = "all",
    backfill: str = "any",
    scenario: str = SYSTEM,
    sigma: float | tuple[float, float] = SIGMA,
    share: float = 1.0,
    name: str = LOG,
    machine: int | None = None,
    jobs: int = 2_000,
    draw: int = 0,
) -> tuple:
    """Draw turnarounds and processors under a scheme, beside plain shares and EASY; means by class below.

    Parameters
    ----------
    load : float
        Effective load. The sequential work submitted is scaled to this part of the capacity of the machine.
    scheme : {"fair share", "iterative", "greedy"}
        Scheme. It chooses the processors of moldable jobs.
    overbooking : float
        Overbooking factor ObF. Shares are multiplied by it (fair share only).
    efficiency : float
        Efficiency factor EF. How far processors move to jobs that use them better (fair share only).
    weight : {"sqrt", "proportional"}
        Weight of a job. Its share goes by the square root of its work, or by its work (fair share only).
    mix : {"all", "queued"}
        Jobs with a share. All that run or wait, or only those that wait (fair share only).
    backfill : {"any", "start-now"}
        Backfilling. Behind the reservation jobs wait for more processors, or start on what is free (fair share only).
    scenario : {"A = P", "A random"}
        Average parallelism A. How far jobs scale: to the whole machine, or to about what they ask for.
    sigma : float or (low, high)
        Sigma: variance of parallelism. Jobs scale best at 0.
    share : float
        Moldable jobs (share). The others are rigid.
    name : str
        Log. Its jobs are simulated.
    machine : int, optional
        Processors of the machine. By default 512 for CTC's log, as in the paper, and the log's own for others.
    jobs : int
        Jobs simulated. The first of the log.
    draw : int
        Draw (A, sigma, submissions). Each draws A and sigma anew, and moves the submissions by other seconds.
    """
    A = SCENARIOS[check_known("scenario", scenario, SCENARIOS)]
    schemes = _beside(scheme, overbooking, efficiency, weight, mix, backfill)
    settings = {"log": name, "jobs": jobs, "machine": machine, "A": A, "sigma": sigma, "share": share}
    settings |= {"load": load, "draw": draw}
    schedules = {label: simulated(choice, **settings) for label, choice in schemes.items()}
    first = next(iter(schedules.values()))
    # The axes stay whatever the load and the scheme are.
    most = {"turnaround": float(np.ptp(first.submit)), "procs": first.machine.procs}
    panels = [
        charts.distribution(schedules, measure, up_to=most[measure], title=title, subtitle="", width=grids.HALF)
        for measure, title in (("turnaround", "Turnaround"), ("procs", "Processors of a job"))
    ]
    means = {label: duration(float(schedule.metrics()["turnaround"])) for label, schedule in schedules.items()}
    title = f"Mean turnaround: {'; '.join(f'{mean} under {grids.short(label)}' for label, mean in means.items())}"
    by_class = {
        f"{label}: turnaround (h)": grids.measured(schedule).set_index("group")["turnaround"] / 3600
        for label, schedule in schedules.items()
    }
    chart = headed(charts.stacked(panels), title, WIDE, grids.about(name, jobs, machine))
    return chart, charts.table(pd.DataFrame(by_class).rename_axis("processor-seconds in the log"))


def _beside(scheme, overbooking, efficiency, weight, mix, backfill):
    """Return a scheme, plain shares and EASY, by name."""
    read = {"weight": weight, "mix": mix, "backfill": backfill}
    fair = FairShareMoldable(overbooking=overbooking, efficiency=efficiency, **read)
    schemes = dict(zip(CHOICES, (fair, ITERATIVE, grids.GREEDY), strict=True))
    return {str(choice): choice for choice in (schemes[check_known("scheme", scheme, schemes)], PLAIN, EASY())}


def _limits(scheme, share):
    """Say which controls have no effect, as the limits of `widgets.live`."""
    why = "only fair share has it" if scheme != CHOICES[0] else "no job is moldable" if share == 0 else None
    return dict.fromkeys(("overbooking", "efficiency", "weight", "mix", "backfill"), why)


live.limits = _limits
live.in_page = InPage(
    lambda: grids.workload(jobs=2_000, load=None),
    _beside,
    "Mean turnaround",
    lambda trace: (float(np.ptp(trace.table["submit_time"])), trace.procs),
    columns=("turnaround", "procs"),
    short=grids.short,
)
live.groups = {
    "workload": ["load", "scenario", "sigma", "share", "name", "machine", "jobs", "draw"],
    "scheme": ["scheme", "overbooking", "efficiency", "weight", "mix", "backfill"],
}


def live_decision(
    step: int = 1,
    nth: int = 0,
    load: float = 0.6,
    scenario: str = SYSTEM,
    name: str = OTHER_LOGS[0],
    jobs: int = 500,
    draw: int = 0,
) -> tuple:
    """Follow a decision of the iterative scheme: which job is tried, with what result, and the plan before and after.

    Parameters
    ----------
    step : int
        Step of the decision. Counted from 1; beyond their number, the last one.
    nth : int
        Decision. In order of time, counted from 0 among those on 3 to 12 jobs with a quarter of the machine free (if
        there are none, with anything free); beyond their number, the last one.
    load : float
        Effective load. The sequential work submitted is scaled to this part of the capacity of the machine.
    scenario : {"A = P", "A random"}
        Average parallelism A. How far jobs scale: to the whole machine, or to about what they ask for.
    name : str
        Log. Its jobs are simulated.
    jobs : int
        Jobs simulated. The first of the log.
    draw : int
        Draw (A, sigma, submissions). Each draws A and sigma anew, and moves the submissions by other seconds.
    """
    schedule, times = _decided(load, scenario, name, jobs, draw)
    return draw_step(schedule, times[min(nth, times.size - 1)], step)


def _decided(load, scenario, name, jobs, draw):
    """Return a schedule of the iterative scheme, and the instants of its decisions that can be drawn."""
    A = SCENARIOS[check_known("scenario", scenario, SCENARIOS)]
    schedule = simulated(ITERATIVE, log=name, jobs=jobs, A=A, load=load, draw=draw)
    return schedule, readable_instants(schedule)


def _decision_limits(nth, load, scenario, name, jobs, draw):
    """Say where the sliders of decisions and of their steps end, as the limits of `widgets.live`."""
    schedule, times = _decided(load, scenario, name, jobs, draw)
    last = times.size - 1
    return {"nth": last, "step": len(situation(schedule, times[min(nth, last)]).made()[2])}


live_decision.limits = _decision_limits
