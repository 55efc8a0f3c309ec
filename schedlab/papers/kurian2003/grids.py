"""The paper's sites and sweeps, and runs with and without the tasks of sweeps on the same draws."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from schedlab import Trace, charts, load_trace, simulate, simulate_sites
from schedlab.experiment import grid, remember
from schedlab.schedule import metrics
from schedlab.schedule.statistics import ratios_of_means
from schedlab.schemes import Flooding, OpportuneShredding

LOG, PROCS, JOBS = "CTC-SP2-1996", 512, 5_000
MONTHS = (("1996-07-01", "1996-08-01"), ("1996-08-01", "1996-09-01"), ("1996-09-01", "1996-10-01"))
SPEEDS = (2, 1, 3)
BREAKDOWN = 10
SHARES = (5, 10, 20)  # percent of the eligible jobs
LOADS = (0.6, 0.7, 0.8, 0.9)
SITE_LOADS = {"quick": (0.7, 0.9), "full": LOADS}
SEEDS = {"quick": 10, "full": 40}  # draws
SITE_SEEDS = {"quick": 6, "full": 40}  # draws over three sites
READ_SEEDS = {"quick": 5, "full": 40}  # draws for each reading of what the paper leaves open
SHAKE = 60  # seconds
FLOODING, SHREDDING = "flooding", "shredding"
SCHEMES = {FLOODING: Flooding(), SHREDDING: OpportuneShredding()}
SWEEPS, OTHERS, CLASSES = "sweeps", "other jobs", ("SN", "SW", "LN", "LW")
WORDS = {"turnaround": "turnaround", "slowdown": "slowdown", "loss": "loss of capacity"}
IMPROVED = {key: f"{key}_better" for key in WORDS}
BLUES = ("#0066C5", "#487DB3", "#5897D4")
OF_SITES = {  # from dark to light
    "sweeps, site": ("#007567", "#00897A", "#3AA296"),
    "other jobs, site": ("#676767", "#7B7B7B", "#929292"),
    "site": BLUES,
}
charts.register(
    colours={f"{bar} {i}": shade for bar, shades in OF_SITES.items() for i, shade in enumerate(shades, 1)}
    | {f"{share} %": shade for share, shade in zip(SHARES, reversed(BLUES), strict=True)}
    | dict(zip(metrics.CLASS_WORDS.values(), charts.colours([*metrics.CLASS_WORDS]), strict=True)),
    axes={f"{key}_better": f"{label} better by (%)" for key, label in WORDS.items()},
)
DRAWN = (
    "Each draw chooses other sweeps and moves each submission by up to a minute, also for the run without shredding. "
    "Both runs are compared within the draw; the improvement is that of the means over the draws."
)


@remember(8)
def whole(name: str = LOG, machine: int | None = None, estimates: str = "exact") -> Trace:
    """Return a log with exact estimates, the paper's on 512 processors and others on their own, or on `procs`."""
    trace = load_trace(name, or_standin=True)
    trace = trace.with_machine(machine or (PROCS if name == LOG else trace.procs)).cut_at_estimates()
    return trace if estimates == "user" else trace.with_estimates(estimates)


def subset(name: str = LOG, **settings) -> Trace:
    """Return the jobs of the single-site experiments: the first of a log; the settings are those of `whole`."""
    return whole(name, **settings).head(JOBS)


def months() -> list[Trace]:
    """Return the three sites of the other experiments: July, August and September 1996 of the log."""
    trace = whole()
    return [trace.between(*month) for month in MONTHS]


def single(size: str, progress: bool = True) -> pd.DataFrame:
    """Compare flooding and shredding with plain EASY on the subset, for every share, load and draw of the sweeps."""
    return draws([subset()], SEEDS[size], progress=progress).drop(columns="site")


def several(size: str, progress: bool = True) -> pd.DataFrame:
    """Compare shredding over three sites with three sites that do not help one another, as `single` does."""
    data = draws(months(), SITE_SEEDS[size], loads=SITE_LOADS[size], schemes=(SHREDDING,), progress=progress)
    return data[data["group"].isin([SWEEPS, OTHERS])].drop(columns="scheme").reset_index(drop=True)


def draws(
    traces: list[Trace], seeds: int, shares=None, loads=None, schemes=tuple(SCHEMES), progress: bool = True, **settings
) -> pd.DataFrame:
    """Compare schemes at one site or several, which share tasks, with the local scheduler alone.

    The settings are `local` (the local scheduler), `breakdown` and `of` as in `Trace.with_parameter_sweeps`, and those
    of the schemes. One row for each share (percent), load, scheme, seed, site and group of jobs: sweeps, other jobs,
    and these by class; the means turnaround_old, turnaround_new (s), slowdown_old, slowdown_new and, of the machine,
    loss_old, loss_new (processor-seconds), utilization_old, utilization_new, old being the same jobs under the local
    scheduler alone; turnaround_better, slowdown_better, loss_better: (old - new) / old in percent.
    """
    run = partial(_draw, traces, shares=shares or SHARES, schemes=schemes, **settings)
    data = grid(run, load=loads or LOADS, seed=range(seeds), activity=f"shredding {traces[0].name}", progress=progress)
    names = ["share", "load", "scheme", "seed"]
    return data[[*names, *data.columns.drop(names)]]


def _draw(traces, load, seed, shares, schemes, local="easy", breakdown=BREAKDOWN, of="eligible", **options):
    """Compare schemes with the local scheduler alone, for one load and draw of the sweeps."""
    # The base is shaken with the draw, each site with its own seed: a single base would bring its luck into all draws.
    scaled = [trace.shake(SHAKE, len(traces) * seed + i).scale_load(load) for i, trace in enumerate(traces)]
    base, rows = [measures_alone(simulate(trace, local)) for trace in scaled], []
    together = {"speeds": SPEEDS, "begins": [begin for begin, _ in MONTHS]} if len(traces) > 1 else {}
    for share in shares:
        marked = [trace.with_parameter_sweeps(share / 100, breakdown=breakdown, seed=seed, of=of) for trace in scaled]
        for scheme in schemes:
            sites = simulate_sites(marked, replace(SCHEMES[scheme], local=local, **options), **together)
            rows += [
                {"share": share, "scheme": scheme, "site": f"site {i + 1}", **row}
                for i, schedule in enumerate(sites)
                for row in improvements_of(schedule, base[i])
            ]
    return pd.DataFrame(rows)


def measures_alone(schedule):
    """Return the class of each job and the measures of a schedule without tasks, to compare one with tasks with."""
    return schedule.classes("kurian").to_numpy(), measures_of(schedule)


def measures_of(schedule):
    """Return turnaround (s) and slowdown of each job, loss of capacity (processor-seconds) and utilization."""
    turnaround, (procs, lasts) = schedule.end - schedule.submit, schedule.held
    return {
        "turnaround": turnaround,
        "slowdown": metrics.slowdown(turnaround, schedule.run),
        "loss": schedule.loss_of_capacity(),
        "utilization": np.average(procs, weights=lasts) / schedule.machine.procs,
    }


def improvements_of(schedule, base):
    """Give, for each group of jobs, means without and with tasks, and by how many percent they fell."""
    (classes, before), after = base, measures_of(schedule)
    sweep = schedule.trace.table["breakdown"].to_numpy() > 0
    groups = {SWEEPS: sweep, OTHERS: ~sweep, **{name: ~sweep & (classes == name) for name in CLASSES}}
    for group, chosen in groups.items():
        if chosen.any():
            row = {"group": group}
            for key in before:
                old, new = (of[key][chosen].mean() if np.ndim(of[key]) else of[key] for of in (before, after))
                row |= {f"{key}_old": old, f"{key}_new": new}
                if key in IMPROVED:
                    row[IMPROVED[key]] = 100 * (old - new) / old if old else np.nan
            yield row


def of_means(data: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Replace each draw's improvement by its part of the improvement of the means of all (`ratios_of_means`)."""
    better = {name: 100 * (1 - ratios_of_means(data, f"{key}_new", f"{key}_old", by)) for key, name in IMPROVED.items()}
    return data.assign(**better)
