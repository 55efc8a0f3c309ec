"""What the paper leaves open, how good and fast the iterative scheme's decisions are, and what is beyond the paper."""

from dataclasses import replace
from itertools import product

import pandas as pd

from schedlab import EASY, IterativeMoldable, charts, grid
from schedlab.papers.sabin2006.decisions import small_decisions, timed
from schedlab.schedule.statistics import geometric_means

from ..cards import Drawing, rebuilt
from . import grids
from .figures import AGAINST, AXIS, NAMED, NOTES, against_plain
from .grids import BESIDE, ITERATIVE, LOG, OTHER_LOGS, PLAIN, SCENARIOS, SEVEN, WIDE, how_many, of_all, short

READ = {"quick": (1_000, 10), "full": (grids.JOBS, 10)}  # jobs and draws
# For each reading: changes of the workload, changes of the shares' settings, and the iterative scheme.
READINGS = {
    grids.AS_DRAWN: ({}, {}, ITERATIVE),
    "430 processors": ({"machine": 430}, {}, ITERATIVE),
    "338 processors": ({"machine": 338}, {}, ITERATIVE),
    "A from 1 to twice the processors asked for": ({"A": "any"}, {}, ITERATIVE),
    **{name: ({}, shares, ITERATIVE) for name, shares in grids.READINGS.items() if shares},
    "bounds of the band as printed": ({}, {"canmove": "literal"}, ITERATIVE),
    "iteration over the first 20 jobs only": ({}, {}, IterativeMoldable(head=20)),
}
MIXES = {"quick": (0.0, 0.5, 1.0), "now": (0.0, 0.5, 1.0), "full": (0.0, 0.25, 0.5, 0.75, 1.0)}
MOLDABLE = "share of jobs that are moldable"
TIMED = {"quick": (0.7,), "full": (0.5, 0.7, 0.9)}  # loads
DECISIONS = {"quick": 100, "full": 5_000}  # of a schedule, timed at most
INSTANCES = {"quick": 100, "now": 100, "full": 1_000}  # small decisions


def _draw_readings(runs):
    jobs, draws = READ[runs.size]
    without = " Quick: shares only; full size: the iterative scheme, too." if runs.size == "quick" else ""
    schemes = [name for name in runs.data if name.endswith(" (%)")]
    rows = runs.data.melt(["scenario", "reading"], schemes, "compared", "words")
    numbers = rows["words"].str.extract(r"(\S+) \((\S+) to (\S+)\)").astype(float)
    rows = rows.assign(**dict(zip(("change", "low", "high"), numbers.to_numpy().T, strict=True)))
    rows["compared"] = rows["compared"].str.removesuffix(" (%)").replace(AGAINST_PLAIN)
    titles = {"title": "Mean turnaround, change (%), by reading", "subtitle": "blue is less, orange is more"}
    chart = charts.changes(rows, "compared", "reading", "change", panel="scenario", interval=("low", "high"), **titles)
    at = {name: part[part["compared"] == AGAINST_PLAIN[short(WIDE)]] for name, part in rows.groupby("scenario")}
    better = {name: f"{(part['high'] < 0).sum()} of {len(part)}" for name, part in at.items()}
    return Drawing(
        f"{short(WIDE)} beats plain shares under {better[grids.SYSTEM]} readings if jobs scale to the machine, under "
        f"{better[grids.RANDOM]} if not",
        f"Each row reads one thing differently that the paper does not say, at effective load {BESIDE:g}. {NAMED}",
        f"{runs.title(LOG)}, {how_many(jobs)}, {draws} draws; in the fold of numbers: 95 % intervals.{without}",
        chart,
        runs.data,
    )


AGAINST_PLAIN = {short(WIDE): f"{short(WIDE)} against plain", "iterative": "iterative against plain"}


@rebuilt("", _draw_readings, NOTES, logs=(LOG,), again=None)
def sensitivity(size: str, progress: bool) -> pd.DataFrame:
    """Tabulate what the paper leaves open, one reading at a time.

    A quick run leaves out the iterative scheme, which takes most of the time.
    """
    jobs, draws = READ[size]
    rows = []
    for (scenario, A), (reading, (changed, shares, iterative)) in product(SCENARIOS.items(), READINGS.items()):
        if size == "quick" and iterative != ITERATIVE:
            continue
        plain, wide = (replace(scheme, **shares) for scheme in (PLAIN, WIDE))
        schemes, pairs = [plain, wide], {f"{short(WIDE)} (%)": (wide, plain)}
        if size == "full":
            schemes.append(iterative)
            pairs |= {"iterative (%)": (iterative, plain), f"iterative against {short(WIDE)} (%)": (iterative, wide)}
        values = {"jobs": jobs, "draw": range(draws), "scheme": schemes, "A": A} | changed
        data = of_all(grids.compare(f"reading: {reading}", progress, **values))
        (seconds,) = geometric_means(data[data["scheme"] == str(plain)], "turnaround", ["scheme"])["turnaround"]
        row = {"scenario": scenario, "reading": reading, f"turnaround under {short(PLAIN)} (h)": seconds / 3600}
        for label, pair in pairs.items():
            change, low, high = grids.changes(data, *pair, by=["log"])[["change", "low", "high"]].iloc[0]
            row[label] = f"{change:+.1f} ({low:+.1f} to {high:+.1f})"
        rows.append(row)
    return pd.DataFrame(rows)


def _beside(size, label, progress, **values):
    """Return the runs of an experiment outside the paper's figures, as `compare` does, over all jobs."""
    jobs, draws = grids.SIDE[size]
    return of_all(grids.compare(label, progress, jobs=jobs, draw=range(draws), **values))


def _full_size(size):
    jobs, draws = grids.SIDE["full"]
    return f" Quick; full size: {draws} draws on {jobs:,} jobs." if size == "quick" else ""


LOGS_OF = {"quick": (LOG, *grids.BESIDE_LOG["quick"]), "now": (LOG, *OTHER_LOGS), "full": (LOG, *OTHER_LOGS)}


def _draw_other_logs(runs):
    def apart(data):
        parts = (
            against_plain(part, (*SEVEN, EASY()), ["log"]).assign(scenario=scenario)
            for scenario, part in data.groupby("scenario", sort=False)
        )
        table = pd.concat(parts, ignore_index=True).rename(columns=AXIS)
        return table.assign(scheme=table["scheme"].map(short))

    means, rings = runs.both(apart)
    panels = []
    for scenario, part in means.groupby("scenario", sort=False):
        now = None if rings is None else rings[rings["scenario"] == scenario]
        panels.append(charts.bars(part, "log", AGAINST, rings=now, title=scenario, width=700))
    iterative = means[means["scheme"] == str(ITERATIVE)]
    jobs, draws = runs.data["jobs"].iloc[0], runs.data["draw"].nunique()
    return Drawing(
        f"Iteration beats plain shares in {(iterative[f'{AGAINST}_high'] < 0).sum()} of {len(iterative)} cases, beyond "
        f"chance, on {means['log'].nunique()} logs",
        f"Mean turnaround against plain shares; below zero is better. Under iteration it changes by "
        f"{iterative[AGAINST].min():+.0f} to {iterative[AGAINST].max():+.0f} %. {NAMED}",
        f"{jobs.capitalize()} of each log at effective load {BESIDE:g}, on its own machine (CTC: {grids.PROCS} "
        f"processors); {draws} draws, lines: 95 % intervals.{_full_size(runs.size)}",
        charts.stacked(panels),
    )


BESIDE_RUNS = {"by": ("log", "jobs", "scenario", "share", "scheme"), "measures": ("turnaround",), "again": "now"}


@rebuilt("", _draw_other_logs, NOTES, logs=LOGS_OF.get, **BESIDE_RUNS)
def other_logs(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: the same on other logs, each on its own machine."""
    parts = [
        _beside(size, f"{log}, {scenario}", progress, log=log, A=A, scheme=(*SEVEN, EASY())).assign(scenario=scenario)
        for log, (scenario, A) in product(LOGS_OF[size], SCENARIOS.items())
    ]
    return pd.concat(parts, ignore_index=True)


def _draw_mixes(runs):
    by = ["scenario", "scheme", MOLDABLE]
    named = {MOLDABLE: lambda data: data["share"], "scheme": lambda data: data["scheme"].map(short)}
    means, rings = runs.both(lambda data: geometric_means(data.assign(**named), "turnaround", by))
    jobs, draws = runs.data["jobs"].iloc[0], runs.data["draw"].nunique()
    ends = means[(means["scenario"] == grids.SYSTEM) & (means["scheme"] == str(ITERATIVE))].sort_values(MOLDABLE)
    less = 100 * (1 - ends["turnaround"].iloc[-1] / ends["turnaround"].iloc[0])
    wide = means[(means["scenario"] == grids.RANDOM) & (means["scheme"] == short(WIDE))].sort_values(MOLDABLE)
    wide = wide["turnaround"]
    more = 100 * (wide.iloc[-1] / wide.iloc[0] - 1)
    return Drawing(
        f"If all jobs are moldable, the iterative scheme's mean turnaround is {less:.0f} % shorter than if none is "
        f"(A = P)",
        f"If jobs scale only to about what they ask for (A random), the turnaround under {short(WIDE)} "
        f"{'rises' if more > 0 else 'falls'} by {abs(more):.0f} % instead. With rigid jobs only, shares reduce to EASY "
        "backfilling, and the iterative scheme to conservative backfilling that is replanned at each instant.",
        f"{runs.title(LOG)}, {jobs}, effective load {BESIDE:g}, {draws} draws; shaded: 95 % intervals."
        f"{_full_size(runs.size)}",
        charts.lines(means, MOLDABLE, "turnaround", column="scenario", log=True, rings=rings),
    )


@rebuilt("", _draw_mixes, NOTES, logs=(LOG,), **BESIDE_RUNS)
def mixes(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: moldable jobs among rigid ones."""
    values = {"share": MIXES[size], "scheme": (PLAIN, WIDE, ITERATIVE)}
    data = _beside(size, "mixes", progress, A=SCENARIOS.values(), **values).reset_index(drop=True)
    return data.assign(scenario=data["A"].map({A: scenario for scenario, A in SCENARIOS.items()}))


def _draw_decision_times(runs):
    jobs, most = grids.SIDE[runs.size][0], DECISIONS[runs.size]
    typical = runs.data["median (ms)"]
    return Drawing(
        f"A decision of the iterative scheme takes {typical.min():.2g} to {typical.max():.2g} ms in the median",
        f"The paper says a few hundred ms. The longest took {runs.data['longest (ms)'].max():.3g} ms.",
        f"{runs.title(LOG)}, {how_many(jobs)}. Each decision of a schedule (or {most:,} evenly spaced ones, if "
        f"there are more) is repeated by itself, in one thread, and timed on the machine that made the numbers.",
        None,
        runs.data,
    )


@rebuilt("", _draw_decision_times, logs=(LOG,), claims=("SAB-15",), again=None)
def decision_times(size: str, progress: bool) -> pd.DataFrame:
    """Tabulate how long a decision of the iterative scheme takes."""
    jobs, most = grids.SIDE[size][0], DECISIONS[size]
    values = {"scenario": list(SCENARIOS), "load": TIMED[size], "jobs": jobs, "most": most}
    # One after the other, since parallel runs would slow one another down.
    return grid(_timed, threads=1, activity="decisions", progress=progress, **values).drop(columns=["jobs", "most"])


def _timed(scenario, load, jobs, most):
    schedule = grids.simulated(ITERATIVE, A=SCENARIOS[scenario], load=load, jobs=jobs)
    times = timed(schedule, most)
    waiting, took = times["waiting"], 1000 * times["seconds"]
    return {
        "decisions": len(times),
        "jobs waiting, median": waiting.median(),
        "jobs waiting, most": waiting.max(),
        "median (ms)": took.median(),
        "99th percentile (ms)": took.quantile(0.99),
        "longest (ms)": took.max(),
    }


def _tried(decision):
    best, total = decision.least_total(), decision.total(decision.made()[0])
    return {"jobs": decision.queued.size, "processors": decision.machine, "best": best, "found": total}


def _draw_decisions(runs):
    groups = runs.data.groupby("jobs")["gap"]
    columns = {
        "decisions": groups.size(),
        "at the optimum (%)": 100 * groups.agg(lambda gap: (gap == 0).mean()),
        "median gap (%)": groups.median(),
        "95th percentile (%)": groups.quantile(0.95),
        "worst gap (%)": groups.max(),
    }
    best = 100 * (runs.data["gap"] == 0).mean()
    return Drawing(
        f"The iterative scheme finds the best widths in {best:.0f} % of small decisions",
        "Its sum of estimated completion times (from now) is compared with the least sum of all combinations of "
        f"widths, with jobs placed in the order of the queue. Where it is not the best, it is up to "
        f"{runs.data['gap'].max():.0f} % above it.",
        f"{len(runs.data):,} random decisions on 3 to 6 processors."
        + (f" Quick; full size: {INSTANCES['full']:,}." if runs.size == "quick" else ""),
        None,
        pd.DataFrame(columns).reset_index(),
    )


@rebuilt("", _draw_decisions, by=("decision",), measures=("best", "found"), again="now")
def heuristic(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: how good the iterative scheme's decisions are, if few enough jobs allow trying all outcomes."""
    drawn = [{"decision": decision} for decision in small_decisions(INSTANCES[size], seed=1, sigma=grids.SIGMA)]
    data = grid(_tried, drawn, activity="small decisions", progress=progress).drop(columns="decision")
    return data.assign(gap=100 * (data["found"] / data["best"] - 1), decision=range(len(data)))
