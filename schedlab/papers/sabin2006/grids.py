"""The paper's workloads and schemes, and grids of their runs."""

from dataclasses import replace
from inspect import signature
from itertools import product

import numpy as np
import pandas as pd

from schedlab import Downey, Schedule, Trace, load_trace, simulate
from schedlab.experiment import grid, remember
from schedlab.schedule import metrics
from schedlab.schedule.statistics import geometric_changes
from schedlab.schemes import EASY, Conservative, FairShareMoldable, GreedyMoldable, IterativeMoldable, Scheme

LOG, PROCS, JOBS = "CTC-SP2-1996", 512, 5_000
OTHER_LOGS = ("KTH-SP2-1996", "SDSC-SP2-1998", "HPC2N-2002")
BESIDE_LOG = {"quick": OTHER_LOGS[:2], "full": OTHER_LOGS}
SYSTEM, RANDOM = "A = P", "A random"
SCENARIOS = {SYSTEM: "system", RANDOM: "requested"}
SIGMA = (0, 2)
SHARES = {(obf, ef): FairShareMoldable(overbooking=obf, efficiency=ef) for obf, ef in product((1, 4), (0, 0.5, 1))}
PLAIN, WIDE = SHARES[1, 0], SHARES[4, 1]  # what the paper begins with, and its best at A = P
ITERATIVE, GREEDY = IterativeMoldable(), GreedyMoldable()
UNLIMITED = FairShareMoldable(overbooking=1e6)  # shares so large that only the machine limits a job
UNRESTRICTED = (GREEDY, UNLIMITED)
SIX, SEVEN = tuple(SHARES.values()), (*SHARES.values(), ITERATIVE)  # of Figures 2 to 5, and 7 to 10
REFERENCES = (GREEDY, EASY(), Conservative())
EVERY = (*SEVEN, *REFERENCES)
HALF = 365  # pixels; two charts of this width fit on a page
OVERBOOKED = tuple(FairShareMoldable(overbooking=obf) for obf in (1, 2, 4))
SIGMAS = (0, 1, 2)  # where all jobs speed up alike
# Jobs (None: the whole log), loads, and draws; the primary sample first. Quick runs are among those of the full size,
# so that the two compare. On the whole log an iterative run takes up to some minutes at the highest load.
FEW_LOADS, LOADS = (0.3, 0.5, 0.7), (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SAMPLES = {
    "quick": {JOBS: (FEW_LOADS, 3)},
    "now": {None: (FEW_LOADS[:2], 1)},  # beside the kept figures
    "full": {None: (LOADS, 10), JOBS: (LOADS, 10)},
}
# What the paper leaves open about shares, as changes of their settings; the reading of the figures first.
AS_DRAWN = "as in the figures"
READINGS = {
    AS_DRAWN: {},
    "shares by work": {"weight": "proportional"},
    "work as estimate x processors": {"work": "area"},
    "shares among queued jobs only": {"mix": "queued"},
    "backfilled jobs start at once or wait": {"backfill": "start-now"},
}
SIDE = {"quick": (1_000, 3), "now": (JOBS, 1), "full": (JOBS, 10)}  # jobs and draws outside the paper's figures
BESIDE = 0.5  # and their load
SHAKE = 60  # seconds
ALL = "all jobs"
CLASSES, EDGES = metrics.SABIN_NAMES, metrics.SABIN_EDGES
COLUMNS = (
    *("log", "jobs", "procs", "A", "sigma", "share", "load", "draw", "seed", "scheme"),
    *("group", "count", "turnaround", "run", "queue", "wide", "area", "wasted"),
)


@remember(8)
def first(log: str = LOG, jobs: int | None = None, machine: int | None = None) -> Trace:
    """Return the first jobs of a log, as `workload` takes them."""
    trace = load_trace(log, or_standin=True)
    trace = trace.with_machine(machine or (PROCS if log == LOG else trace.procs)).cut_at_estimates()
    return trace if jobs is None else trace.head(jobs)


@remember(8)
def workload(
    log: str = LOG,
    jobs: int | None = JOBS,
    machine: int | None = None,
    A: str = "system",
    sigma: float | tuple[float, float] = SIGMA,
    share: float = 1.0,
    load: float | None = BESIDE,
    draw: int = 0,
) -> Trace:
    """Return the first jobs of a log, or all of it, ready to be simulated at an effective load (None: its own).

    The machine is the paper's for its log, else the log's own. A share of the jobs is moldable, with A and sigma as in
    `Downey`. A draw sets A and sigma and also shakes the submissions. Schedules are chaotic: without shaking, all draws
    would share the luck of one run where nothing else is drawn, as with rigid jobs.
    """
    trace = first(log, jobs, machine).shake(SHAKE, seed=draw).with_speedup(Downey(A, sigma), share, draw)
    return trace if load is None else trace.scale_load(load, "effective")


DEFAULTS = {name: [parameter.default] for name, parameter in signature(workload).parameters.items()}


@remember(16)
def simulated(scheme: Scheme, **settings) -> Schedule:
    """Return the schedule of a workload; the settings are those of `workload`."""
    return simulate(workload(**settings), scheme)


def run(scheme: Scheme, **settings) -> pd.DataFrame:
    """Simulate a workload, and measure its groups of jobs; the settings are those of `workload`."""
    return measured(simulate(workload(**settings), scheme))


def measured(schedule: Schedule) -> pd.DataFrame:
    """Measure all jobs of a schedule, and each class by size that has jobs, a row each.

    turnaround, run (seconds) and procs are means over the jobs, queue is the mean number of them that wait, from the
    first submission to the last end of all jobs, and wide is the share that ran on more than half of the machine. area
    and wasted are sums (processor-seconds), and widths is an array that tells how many jobs ran on 0, 1, 2, ...
    processors.
    """
    # Arrays, since building the table of all jobs can take longer than the simulation.
    trace, procs = schedule.trace, schedule.procs
    classes = np.searchsorted(EDGES, trace.logged_area.reindex(trace.table.index).to_numpy(), "right") - 1
    turnaround, wasted, area = schedule.end - schedule.submit, schedule.wasted, schedule.run * procs
    waits, makespan = schedule.start - schedule.submit, schedule.end.max() - schedule.submit.min()
    wide = procs > schedule.machine.procs // 2
    rows = []
    for number, group in enumerate((ALL, *CLASSES), -1):
        jobs = slice(None) if group == ALL else classes == number
        if count := len(procs[jobs]):
            row = {"group": group, "count": count, "turnaround": turnaround[jobs].mean()}
            row |= {"run": schedule.run[jobs].mean(), "queue": waits[jobs].sum() / makespan, "wide": wide[jobs].mean()}
            row |= {"procs": procs[jobs].mean(), "area": area[jobs].sum(), "wasted": wasted[jobs].sum()}
            rows.append(row | {"widths": np.bincount(procs[jobs], minlength=schedule.machine.procs + 1)})
    return pd.DataFrame(rows)


def compare(label: str, progress: bool, columns=COLUMNS, **values) -> pd.DataFrame:
    """Run each scheme on workloads, a grid of `workload`'s values. In the table jobs are in words; seed is the draw."""
    data = grid(run, activity=label, progress=progress, **(DEFAULTS | values))
    return data.assign(jobs=data["jobs"].map(how_many), seed=data["draw"])[list(columns)]


def results(scenario: str, size: str, progress: bool, schemes=EVERY, reading: str = AS_DRAWN) -> pd.DataFrame:
    """Return the runs behind the paper's figures, as `compare` does: all schemes on the same draws.

    Jobs without a limit waste so much that on a whole log at high load their queue never empties, so they run on its
    first jobs only. Quick runs leave them out, since greedy jobs take as long as all shares together. Readings of the
    shares other than that of the figures are simulated on the primary sample only.
    """
    parts, chosen = [], [scheme for scheme in schemes if size == "full" or scheme not in UNRESTRICTED]
    for jobs, (loads, draws) in _samples(size, reading):
        values = {"A": SCENARIOS[scenario], "jobs": jobs, "load": loads, "draw": range(draws)}
        some = [scheme for scheme in chosen if jobs is not None or scheme not in UNRESTRICTED]
        parts.append(_under(reading, f"moldable jobs, {scenario}", progress, some, **values))
    return pd.concat(parts, ignore_index=True)


def scalings(size: str, progress: bool, reading: str = AS_DRAWN) -> pd.DataFrame:
    """Return runs under overbooked shares where all jobs speed up alike, as `results` does."""
    sigmas = SIGMAS if reading == AS_DRAWN else SIGMAS[:: len(SIGMAS) - 1]
    parts = []
    for jobs, (loads, draws) in _samples(size, reading):
        values = {"jobs": jobs, "sigma": sigmas, "load": loads, "draw": range(draws)}
        parts.append(_under(reading, "overbooking", progress, OVERBOOKED, **values))
    return pd.concat(parts, ignore_index=True)


def _samples(size, reading):
    samples = [*SAMPLES[size].items()]
    return samples if reading == AS_DRAWN else samples[:1]


def _under(reading, label, progress, schemes, **values):
    """Run schemes under a reading of the shares; in the table they have their names of the figures."""
    shares = {scheme for scheme in schemes if isinstance(scheme, FairShareMoldable)}
    read = {scheme: replace(scheme, **READINGS[reading]) if scheme in shares else scheme for scheme in schemes}
    label = label if reading == AS_DRAWN else f"{label}, {reading}"
    data = compare(label, progress, **values, scheme=list(read.values()))
    return data.assign(scheme=data["scheme"].map({str(variant): str(scheme) for scheme, variant in read.items()}))


def of_all(data: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows of all jobs, and leave out those of classes."""
    return data[data["group"] == ALL]


def changes(data: pd.DataFrame, scheme: Scheme, base: Scheme, by=("jobs", "load")) -> pd.DataFrame:
    """Return the change of turnaround (percent) from a base to a scheme, draw by draw, for each group of jobs."""
    with_scheme, with_base = (data[data["scheme"] == str(side)] for side in (scheme, base))
    return geometric_changes(with_scheme, with_base, "turnaround", [*by, "group"])


def how_many(jobs: int | None) -> str:
    """Say how many jobs of a log are simulated."""
    return "whole log" if jobs is None else f"first {jobs:,} jobs"


def about(log: str = LOG, jobs: int | None = JOBS, machine: int | None = None) -> str:
    """Say which jobs these are, for a subtitle."""
    trace = first(log, jobs, machine)
    return f"{trace.title}, {how_many(jobs)}, {trace.procs} processors"


def written(sigma: float | tuple[float, float]) -> str:
    """Write down sigma, or its range."""
    return f"{sigma[0]:g} to {sigma[1]:g}" if isinstance(sigma, tuple) else f"{sigma:g}"


def short(scheme: Scheme | str) -> str:
    """Name a scheme in a few letters."""
    return str(scheme).removeprefix("Fair share (").removesuffix(")")
