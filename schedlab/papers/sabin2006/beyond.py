"""What the paper leaves open, how good and fast the iterative scheme's decisions are, and what is beyond the paper."""

from dataclasses import replace
from itertools import product

import pandas as pd

from schedlab import EASY, IterativeMoldable, charts, grid
from schedlab.decisions import small_decisions, timed
from schedlab.statistics import geometric_means
from schedlab.workload.archive import standing_in

from ..figure import rebuilt
from . import grids
from .figures import AGAINST, AXIS, against_plain, notes
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
MIXES = {"quick": (0.0, 0.5, 1.0), "full": (0.0, 0.25, 0.5, 0.75, 1.0)}
MOLDABLE = "share of jobs that are moldable"
TIMED = {"quick": (0.7,), "full": (0.5, 0.7, 0.9)}  # loads
DECISIONS = {"quick": 100, "full": 5_000}  # of a schedule, timed at most
INSTANCES = {"quick": 100, "full": 1_000}  # small decisions


@rebuilt("What the paper does not say", notes)
def sensitivity(size: str, progress: bool) -> tuple:
    """Tabulate what the paper leaves open, one reading at a time.

    A quick run leaves out the iterative scheme, which takes most of the time.
    """
    jobs, draws = READ[size]
    rows = []
    for (scenario, A), (reading, (changed, shares, iterative)) in product(SCENARIOS.items(), READINGS.items()):
        if size == "quick" and iterative != ITERATIVE:
            continue
        plain, wide = (replace(each, **shares) for each in (PLAIN, WIDE))
        schemes, pairs = [plain, wide], {f"{short(WIDE)} (%)": (wide, plain)}
        if size == "full":
            schemes.append(iterative)
            pairs |= {"iterative (%)": (iterative, plain), f"iterative against {short(WIDE)} (%)": (iterative, wide)}
        values = {"jobs": jobs, "draw": range(draws), "scheme": schemes, "A": A} | changed
        data = of_all(grids.compare(f"reading: {reading}", progress, **values))
        (seconds,) = geometric_means(data[data["scheme"] == str(plain)], "turnaround", ["scheme"])["turnaround"]
        row = {"scenario": scenario, "reading": reading, f"turnaround under {short(PLAIN)} (h)": seconds / 3600}
        for words, pair in pairs.items():
            change, low, high = grids.changes(data, *pair, by=["log"])[["change", "low", "high"]].iloc[0]
            row[words] = f"{change:+.1f} ({low:+.1f} to {high:+.1f})"
        rows.append(row)
    data = pd.DataFrame(rows)
    caption = (
        f"Effective load {BESIDE:g}, {how_many(jobs)}, {draws} draws: mean turnaround under {short(PLAIN)}, and "
        "by how many percent it changes under other schemes (95 % intervals over the draws)."
    )
    caption += " Quick: shares only; full size: the iterative scheme, too." if size == "quick" else ""
    return caption, data, None, data


def _beside(size, words, progress, **values):
    """Return the runs of an experiment outside the paper's figures, as `compare` does, over all jobs."""
    jobs, draws = grids.SIDE[size]
    return of_all(grids.compare(words, progress, jobs=jobs, draw=range(draws), **values))


def _full_size(size):
    jobs, draws = grids.SIDE["full"]
    return f" Quick; full size: {draws} draws on {jobs:,} jobs." if size == "quick" else ""


@rebuilt("Beyond the paper: other logs", lambda size: notes(size, (LOG, *grids.BESIDE_LOG[size])))
def other_logs(size: str, progress: bool) -> tuple:
    """Beyond the paper: the same on other logs, each on its own machine."""
    jobs, draws = grids.SIDE[size]
    schemes, parts = (*SEVEN, EASY()), []
    for log, (scenario, A) in product((LOG, *grids.BESIDE_LOG[size]), SCENARIOS.items()):
        data = _beside(size, f"{log}, {scenario}", progress, log=log, A=A, scheme=schemes)
        apart = against_plain(data, schemes, ["log"])
        parts.append(apart.assign(scenario=scenario, trace=grids.first(log, jobs).title))
    data = pd.concat(parts, ignore_index=True)
    panels = [
        charts.bars(part.rename(columns=AXIS), "trace", AGAINST, title=scenario, width=700)
        for scenario, part in data.groupby("scenario", sort=False)
    ]
    caption = (
        f"{how_many(jobs).capitalize()} of each log at effective load {BESIDE:g}, on its own machine "
        f"(CTC: {grids.PROCS} processors); means of {draws} draws, lines: 95 % intervals.{_full_size(size)}"
    )
    if size == "quick":
        caption += (
            f" The full size has {' and '.join(log for log in OTHER_LOGS if log not in grids.BESIDE_LOG[size])}, too."
        )
    return caption, data, charts.stacked(panels)


@rebuilt("Beyond the paper: a mix of moldable and rigid jobs", notes)
def mixes(size: str, progress: bool) -> tuple:
    """Beyond the paper: moldable jobs among rigid ones."""
    jobs, draws = grids.SIDE[size]
    values = {"share": MIXES[size], "scheme": (PLAIN, WIDE, ITERATIVE)}
    data = _beside(size, "mixes", progress, A=SCENARIOS.values(), **values).reset_index(drop=True)
    data["scenario"] = data["A"].map({A: scenario for scenario, A in SCENARIOS.items()})
    means = geometric_means(data, "turnaround", ["scenario", "scheme", "share"]).rename(columns={"share": MOLDABLE})
    title, subtitle = "Moldable among rigid jobs", f"{grids.about(jobs=jobs)}, effective load {BESIDE:g}"
    chart = charts.lines(means, MOLDABLE, "turnaround", column="scenario", log=True, title=title, subtitle=subtitle)
    caption = (
        "With rigid jobs only, shares reduce to EASY backfilling, and the iterative scheme to conservative backfilling "
        f"that is replanned at each instant. {draws} draws; shaded: 95 % intervals.{_full_size(size)}"
    )
    return caption, data, chart


@rebuilt("How long a decision of the iterative scheme takes", lambda _: standing_in([LOG]))
def decision_times(size: str, progress: bool) -> tuple:
    """Tabulate how long a decision of the iterative scheme takes."""
    jobs, most = grids.SIDE[size][0], DECISIONS[size]
    values = {"scenario": list(SCENARIOS), "load": TIMED[size], "jobs": jobs, "most": most}
    # One after the other, since parallel runs would slow one another down.
    data = grid(_timed, threads=1, words="decisions", progress=progress, **values).drop(columns=["jobs", "most"])
    caption = (
        f"{grids.about(jobs=jobs)}. Each decision of a schedule (or {most:,} evenly spaced ones, if there are more) is "
        "repeated by itself, in one thread, and timed on this machine when the page was made. The paper says a few "
        "hundred ms."
    )
    return caption, data, None, data


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


def _tried(asked):
    best, found = asked.least_total(), asked.total(asked.made()[0])
    return {"jobs": asked.queued.size, "processors": asked.machine, "best": best, "found": found}


@rebuilt("Beyond the paper: how good the iterative decisions are")
def heuristic(size: str, progress: bool) -> tuple:
    """Beyond the paper: how good the iterative scheme's decisions are, if few enough jobs allow trying all outcomes."""
    drawn = [{"asked": asked} for asked in small_decisions(INSTANCES[size], seed=1, sigma=grids.SIGMA)]
    data = grid(_tried, drawn, words="small decisions", progress=progress).drop(columns="asked")
    data["gap"] = 100 * (data["found"] / data["best"] - 1)
    groups = data.groupby("jobs")["gap"]
    columns = {
        "decisions": groups.size(),
        "at the optimum (%)": 100 * groups.agg(lambda gap: (gap == 0).mean()),
        "median gap (%)": groups.median(),
        "95th percentile (%)": groups.quantile(0.95),
        "worst gap (%)": groups.max(),
    }
    caption = (
        "Random decisions on 3 to 6 processors. The iterative scheme's sum of estimated completion times (from now) is "
        "compared with the least sum of all combinations of widths, with jobs placed in the order of the queue."
        + (f" Quick; full size: {INSTANCES['full']:,}." if size == "quick" else "")
    )
    return caption, data, None, pd.DataFrame(columns).reset_index()
