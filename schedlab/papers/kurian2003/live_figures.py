"""The paper's live figure: a day of a site with and without the tasks of sweeps."""

from dataclasses import replace

import numpy as np
import pandas as pd

from schedlab import EASY, Conservative, charts, simulate, simulate_sites
from schedlab.experiment import remember
from schedlab.schedule import metrics
from schedlab.web.in_page import DayInPage

from . import grids
from .figures import OTHER_LOGS
from .grids import BREAKDOWN, FLOODING, IMPROVED, JOBS, LOG, SCHEMES, SHREDDING, SPEEDS, WORDS, improvements_of, whole

NAMES = (LOG, *OTHER_LOGS["full"])
RATIOS = {" : ".join(map(str, speeds)): speeds for speeds in (SPEEDS, (1, 1, 1), (1, 2, 4), (4, 2, 1))}
OF_SITE = WORDS | {"loss": "loss of capacity of the site"}
# The part of a day with which the picture opens: jobs and tasks have readable numbers.
OPENED = {"hour": 6, "hours": 6, "processor": 484, "processors": 20}
SPLIT = {SHREDDING: "Tasks of sweeps run in the holes", FLOODING: "All tasks of sweeps join the queue"}
LOCAL = {"easy": EASY(), "conservative": Conservative()}
COLUMNS = {IMPROVED[key]: f"{label}, better by (%)" for key, label in OF_SITE.items()}


def live(
    name: str = LOG,
    share: int = 20,
    breakdown: int = BREAKDOWN,
    load: float = 0.9,
    scheme: str = SHREDDING,
    local: str = "easy",
    sites: int = 1,
    speeds: tuple[int, ...] = SPEEDS,
    seed: int = 0,
    day: int = 10,
) -> tuple:
    """Draw a day of the first site with and without the tasks of sweeps, and what each site gains.

    The picture opens on six hours of some processors; it can be moved and zoomed.

    Parameters
    ----------
    name : str
        Log. Its jobs are simulated.
    share : int
        Sweeps (% of eligible jobs). Those of more than 8 processors are eligible.
    breakdown : int
        Tasks per processor of a sweep. A task takes the job's run time divided by this number.
    load : float
        Offered load. Run times are scaled to it.
    scheme : {"shredding", "flooding"}
        Scheme. What becomes of sweeps: tasks run in holes of the schedule, or all of them join the queue.
    local : {"easy", "conservative"}
        Local scheduler. What starts the jobs: EASY or, without flooding, conservative backfilling.
    sites : int
        Sites. Each takes the next part of the log, with the same number of jobs.
    speeds : tuple of int
        Relative speeds of the sites. At least one for each site.
    seed : int
        Draw of the sweeps. Another seed makes other jobs into sweeps.
    day : int
        Day drawn. The first submission is on day 0; days begin at its time.
    """
    local = _local_of(scheme, local)
    traces, base = _sites_of(name, load, sites, local)
    marked = [trace.with_parameter_sweeps(share / 100, breakdown=breakdown, seed=seed) for trace in traces]
    schedules = simulate_sites(marked, replace(SCHEMES[scheme], local=local), speeds=speeds[:sites])
    begin = float(schedules[0].submit[0] + 86_400 * day)
    procs = schedules[0].machine.procs
    low = max(0, min(OPENED["processor"], procs - OPENED["processors"]))
    opened = begin + 3_600 * OPENED["hour"], begin + 3_600 * (OPENED["hour"] + OPENED["hours"])
    chart = charts.gantts(
        {"No sweep is split": simulate(marked[0], local), SPLIT[scheme]: schedules[0]},
        (begin, begin + 86_400),
        color="sweeps",
        label="job_number",
        opened=(opened, (low, min(procs, low + OPENED["processors"]) - 1)),
        title=f"{scheme.capitalize()} on day {day}{', site 1' * (sites > 1)}",
        subtitle=f"{marked[0].title}, {len(marked[0]):,} jobs on {procs:,} processors",
    )
    rows = [
        {"site": f"{i + 1}, speed {speeds[i]}", **row}
        for i, (schedule, old) in enumerate(zip(schedules, base, strict=True))
        for row in improvements_of(schedule, old)
    ]
    columns = ["group", *COLUMNS] if sites == 1 else ["site", "group", *COLUMNS]
    return chart, charts.table(
        pd.DataFrame(rows)[columns].replace({"group": metrics.CLASS_WORDS}).rename(columns=COLUMNS)
    )


def _local_of(scheme, local):
    """Return the local scheduler; conservative backfilling would have to reserve each of a flood of tasks."""
    return "easy" if scheme == FLOODING else local


def _limits(name, load, scheme, local, sites):
    """Say what the controls can do, as the limits of `widgets.live`."""
    trace = _sites_of(name, load, sites, _local_of(scheme, local))[0][0]
    submit = trace.table["submit_time"]
    days = -(-int(submit.iloc[-1] - submit.iloc[0]) // 86_400)  # what was submitted on the last one may run on then
    limits = {"day": days}
    if scheme == FLOODING:
        limits["local"] = "a flood of tasks is too many for reservations: EASY"
    return limits if sites > 1 else limits | {"speeds": "there is one site"}


live.limits = _limits
live.groups = {
    "workload": ["name", "share", "breakdown", "load", "sites", "speeds", "seed"],
    "scheme": ["scheme", "local"],
    "view": ["day"],
}


@remember(16)
def _sites_of(name, load, sites, local):
    """Return the traces of some sites at a load, and the measures of their schedules without tasks of sweeps."""
    traces = [trace.scale_load(load) for trace in _parts(name, sites)]
    return traces, [grids.measures_alone(simulate(part, local)) for part in traces]


@remember(4)
def _parts(name, sites):
    """Return the parts of a log that some sites take."""
    trace = whole(name)
    submit = trace.table["submit_time"].to_numpy()
    ends = [*submit[: sites * JOBS : JOBS], submit[min(sites * JOBS, len(trace) - 1)]]
    return [trace.between(*ends[i : i + 2]) for i in range(sites)]


def _sweeps(share):
    """Return the places of the first site's sweeps."""
    marked = _parts(LOG, 1)[0].with_parameter_sweeps(share / 100, seed=0)
    return np.flatnonzero(marked.table["breakdown"]).tolist()


def _titles(scheme):
    """Return the titles of a figure with tasks, and of its second panel."""
    name = FLOODING if scheme.flooding else SHREDDING
    return name.capitalize(), SPLIT[name]


live.in_page = DayInPage(
    trace=lambda: _parts(LOG, 1)[0],
    sweeps=_sweeps,
    alone=lambda scheme, local: LOCAL[_local_of(scheme, local)],
    scheme=lambda scheme, local: replace(SCHEMES[scheme], local=_local_of(scheme, local)),
    titles=_titles,
)
