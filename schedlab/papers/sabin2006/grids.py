"""The paper's workloads and schemes, and grids of their runs."""

from inspect import signature
from itertools import product

import numpy as np
import pandas as pd

from schedlab import metrics
from schedlab.experiment import grid, remember
from schedlab.schedule import Schedule
from schedlab.schemes import EASY, Conservative, FairShareMoldable, GreedyMoldable, IterativeMoldable, Scheme
from schedlab.simulation import simulate
from schedlab.statistics import over_seeds
from schedlab.workload.speedup import Downey
from schedlab.workload.trace import Trace, load_trace

LOG, PROCS, JOBS = "CTC-SP2-1996", 512, 5_000
OTHER_LOGS = ("KTH-SP2-1996", "SDSC-SP2-1998", "HPC2N-2002")
SYSTEM, RANDOM = "A = P", "A random"
SCENARIOS = {SYSTEM: "system", RANDOM: "requested"}
SIGMA = (0, 2)
SHARES = {(obf, ef): FairShareMoldable(overbooking=obf, efficiency=ef) for obf, ef in product((1, 4), (0, 0.5, 1))}
PLAIN, WIDE = SHARES[1, 0], SHARES[4, 1]  # what the paper begins with, and its best at A = P
ITERATIVE, GREEDY = IterativeMoldable(), GreedyMoldable()
SIX, SEVEN = tuple(SHARES.values()), (*SHARES.values(), ITERATIVE)  # of Figures 2 to 5, and 7 to 10
REFERENCES = (GREEDY, EASY(), Conservative())
EVERY = (*SEVEN, *REFERENCES)
OVERBOOKED = tuple(FairShareMoldable(overbooking=obf) for obf in (1, 2, 4))
SIGMAS = (0, 1, 2)  # where all jobs speed up alike
FEW_LOADS = (0.3, 0.5, 0.7)
# Jobs (None: the whole log), loads, and draws. On the whole log an iterative run takes minutes at higher loads.
SAMPLES = {
    "quick": {3_000: (FEW_LOADS, 5)},
    "full": {JOBS: ((0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9), 10), None: (FEW_LOADS, 10)},
}
SIDE = {"quick": (1_000, 5), "full": (JOBS, 10)}  # jobs and draws of what is beside the paper's figures
BESIDE = 0.5  # and its load
SHAKE = 60  # seconds
ALL = "all jobs"
CLASSES = metrics.SABIN_NAMES
COLUMNS = (
    *("log", "jobs", "procs", "A", "sigma", "share", "load", "draw", "seed", "scheme"),
    *("group", "count", "turnaround", "area", "wasted"),
)


@remember(8)
def first(log: str = LOG, jobs: int | None = None, machine: int | None = None) -> Trace:
    """Give the first jobs of a log, as `workload` takes them."""
    trace = load_trace(log, or_standin=True)
    own = PROCS if log == LOG else trace.procs
    trace = trace.with_procs(machine or own).cut_at_estimates()
    return trace if jobs is None else trace.head(jobs)


@remember(8)
def workload(
    log: str = LOG,
    jobs: int | None = JOBS,
    machine: int | None = None,
    A: str = "system",
    sigma: float | tuple[float, float] = SIGMA,
    share: float = 1.0,
    load: float = BESIDE,
    draw: int = 0,
) -> Trace:
    """Give the first jobs of a log, ready to be simulated.

    Parameters
    ----------
    log : str
    jobs : int, optional
        None: the whole log.
    machine : int, optional
        Processors. Default: the paper's 512 for its log, else the log's own machine.
    A, sigma
        How jobs speed up, as in `Downey`.
    share : float
        Of jobs that are moldable.
    load : float
        Effective load.
    draw : int
        Of A and sigma. It shakes the submissions, too: schedules are chaotic, and where nothing else is drawn, as with
        rigid jobs, all draws would share the luck of one run.
    """
    trace = first(log, jobs, machine).shake(SHAKE, seed=draw)
    return trace.with_speedup(Downey(A, sigma), share, draw).scale_load(load, "effective")


DEFAULTS = {name: [parameter.default] for name, parameter in signature(workload).parameters.items()}


@remember(16)
def simulated(scheme: Scheme, **settings) -> Schedule:
    """Give the schedule of a workload; the settings are those of `workload`."""
    return simulate(workload(**settings), scheme)


def run(scheme: Scheme, **settings) -> pd.DataFrame:
    """Simulate a workload, and measure its groups of jobs; the settings are those of `workload`."""
    return measured(simulate(workload(**settings), scheme))


def measured(schedule: Schedule) -> pd.DataFrame:
    """Measure all jobs of a schedule, and each class by size.

    Returns
    -------
    DataFrame
        One row a group that has jobs: count, turnaround (mean, seconds), procs (mean), area and wasted
        (processor-seconds), and widths: an array that tells how many jobs ran on 0, 1, 2, ... processors.
    """
    trace, machine = schedule.trace, schedule.machine.procs
    sizes = metrics.classes(trace.logged_area.reindex(trace.table.index).to_frame("logged_area"), "sabin").to_numpy()
    turnaround, area = schedule.end - schedule.submit, schedule.run * schedule.procs
    wasted = area - trace.sequential_work(schedule.overrun)
    rows = []
    for group in (ALL, *CLASSES):
        chosen = np.ones(len(trace), bool) if group == ALL else sizes == group
        if chosen.any():
            row = {"group": group, "count": int(chosen.sum()), "turnaround": float(turnaround[chosen].mean())}
            row |= {"procs": float(schedule.procs[chosen].mean()), "area": int(area[chosen].sum())}
            row |= {"wasted": float(wasted[chosen].sum())}
            rows.append(row | {"widths": np.bincount(schedule.procs[chosen], minlength=machine + 1)})
    return pd.DataFrame(rows)


def runs(words: str, progress: bool, **values) -> pd.DataFrame:
    """Run schemes on workloads, as `grid` does: values of ``scheme`` and of the parameters of `workload`."""
    return grid(run, words=words, progress=progress, **(DEFAULTS | values))


def compare(words: str, progress: bool, **values) -> pd.DataFrame:
    """Give `runs` as the figures take them: `COLUMNS`, jobs in words; seed is the draw, to be averaged over."""
    data = runs(words, progress, **values)
    return data.assign(jobs=data["jobs"].map(how_many), seed=data["draw"])[list(COLUMNS)]


def results(scenario: str, size: str, progress: bool, schemes=EVERY) -> pd.DataFrame:
    """Give the runs behind the paper's figures, as `compare` does: all schemes on the same draws.

    Greedy jobs waste so much that their queue never ends on a whole log at high load: they are on its first jobs only.
    """
    parts = []
    for jobs, (loads, draws) in SAMPLES[size].items():
        values = {"A": SCENARIOS[scenario], "jobs": jobs, "load": loads, "draw": range(draws)}
        values["scheme"] = [each for each in schemes if jobs is not None or each != GREEDY]
        parts.append(compare(f"moldable jobs, {scenario}", progress, **values))
    return pd.concat(parts, ignore_index=True)


def first_sample(size: str) -> tuple:
    """Give the jobs, loads and draws of the first of `SAMPLES`."""
    jobs, (loads, draws) = next(iter(SAMPLES[size].items()))
    return jobs, loads, draws


def scalings(size: str, progress: bool) -> pd.DataFrame:
    """Give runs under overbooked shares where all jobs speed up alike, as `compare` does."""
    jobs, loads, draws = first_sample(size)
    values = {"jobs": jobs, "sigma": SIGMAS, "load": loads, "draw": range(draws), "scheme": OVERBOOKED}
    return compare("overbooking", progress, **values)


def of_all(data: pd.DataFrame) -> pd.DataFrame:
    """Leave the classes of jobs out."""
    return data[data["group"] == ALL]


def averaged(data: pd.DataFrame, by) -> pd.DataFrame:
    """Average turnarounds over draws, geometrically, with their interval."""
    means = over_seeds(data[[*by, "seed"]].assign(turnaround=np.log(data["turnaround"])), by)
    columns = ["turnaround", "turnaround_low", "turnaround_high"]
    return means.assign(**np.exp(means[columns]))


def changes(data: pd.DataFrame, scheme: Scheme, base: Scheme, by=("jobs", "load")) -> pd.DataFrame:
    """Compare the turnaround under two schemes, draw by draw.

    Returns
    -------
    DataFrame
        One row for each of `by` and group of jobs: seeds, change (percent; below 0 is faster than under the base), low
        and high.
    """
    by = [*by, "group"]
    one, other = (data[data["scheme"] == str(each)].set_index([*by, "seed"])["turnaround"] for each in (scheme, base))
    means = over_seeds(np.log(one / other).rename("change").reset_index(), by)
    ends = {"change": "change", "low": "change_low", "high": "change_high"}
    return means[[*by, "seeds"]].assign(**{name: 100 * np.expm1(means[column]) for name, column in ends.items()})


def how_many(jobs: int | None) -> str:
    """Say how many jobs of a log are simulated."""
    return "whole log" if jobs is None else f"first {jobs:,} jobs"


def about(log: str = LOG, jobs: int | None = JOBS) -> str:
    """Say which jobs these are, for a subtitle."""
    trace = first(log, jobs)
    return f"{trace.title}, {how_many(jobs)}, {trace.procs} processors"


def written(sigma: float | tuple[float, float]) -> str:
    """Write sigma down, or its range."""
    return f"{sigma[0]:g} to {sigma[1]:g}" if isinstance(sigma, tuple) else f"{sigma:g}"


def short(scheme: Scheme | str) -> str:
    """Name a scheme in a few letters."""
    return str(scheme).removeprefix("Fair share (").removesuffix(")")
