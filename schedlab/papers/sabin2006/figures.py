"""The paper's figures, the reasons behind them, and what is beyond the paper."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from schedlab import charts
from schedlab.schemes import EASY, IterativeMoldable
from schedlab.statistics import over_seeds

from ..figure import Figure, chosen_size, rebuilt, standing_in
from . import grids
from .grids import ALL, BESIDE, ITERATIVE, LOG, PLAIN, RANDOM, SCENARIOS, SEVEN, SIX, SYSTEM, WIDE, how_many, short

DRAWN = (
    f"Each draw moves each submission by up to {grids.SHAKE} s, and draws A and sigma where they are random. Schemes "
    "are compared within the draw; changes and means over the draws are geometric."
)
AGAINST = f"turnaround against {short(PLAIN)} (%)"
WASTED = "wasted, of what jobs hold (%)"
MOLDABLE = "share of jobs that are moldable"
ROWS = ((ALL, *grids.CLASSES[:2]), grids.CLASSES[2:])  # of panels
charts.register(dashes={"the paper's": (1, 0), "to compare with": (2, 2)})


def _draws(size):
    told = _drawn(size)
    if size == "quick":
        told += f" (quick; full size: {_drawn('full')})"
    return f"Sample: {told}; the same draws for every scheme. Shaded: 95 % intervals over the draws."


def _drawn(size):
    return " and ".join(
        f"{draws} draws at each of {len(loads)} loads on the {how_many(jobs)}"
        for jobs, (loads, draws) in grids.SAMPLES[size].items()
    )


def _subtitle(scenario):
    trace = grids.first()
    return f"{trace.title}, {trace.procs} processors, {scenario}, sigma {grids.written(grids.SIGMA)}"


def _lines(data, y, title, subtitle, column="jobs", log=False):
    """Draw lines against load; dash what stands beside the paper's schemes only to compare with."""
    others = data["scheme"].isin([str(scheme) for scheme in grids.REFERENCES])
    dash = {"dash": "schemes"} if others.any() else {}
    data = data.assign(schemes=np.where(others, "to compare with", "the paper's"))
    data = data.rename(columns={"load": "effective_load"})
    return charts.lines(data, "effective_load", y, column=column, log=log, title=title, subtitle=subtitle, **dash)


def _against_plain(data, schemes, by):
    """Compare schemes with plain shares, draw by draw."""
    return pd.concat([grids.changes(data, scheme, PLAIN, by).assign(scheme=str(scheme)) for scheme in schemes])


def _for_axis(apart):
    return apart.rename(columns={"change": AGAINST, "low": f"{AGAINST}_low", "high": f"{AGAINST}_high"})


def _figure(logs=(LOG,), **settings):
    """Make a figure with the notes that all have."""
    return Figure(notes=(DRAWN, *standing_in(logs)), **settings)


# The paper's figures -----------------------------------------------------------------------------------------

# Of each: the scenario, the schemes, whether it is by size, and what the paper shows in it.
SHOWN = {
    2: (
        *(SYSTEM, SIX, False),
        "ObF 4 with EF 1 is best, ObF 4 without efficiency no help, and at ObF 1 efficiency does harm",
    ),
    3: (
        *(SYSTEM, SIX, True),
        "small jobs prefer ObF 1 and gain by EF 1; the largest need ObF 4, where EF hardly matters to them",
    ),
    4: (
        *(RANDOM, SIX, False),
        "ObF 1 with EF 0 is best; ObF 4 is worse, the more so the higher the load, less so with efficiency",
    ),
    5: (RANDOM, SIX, True, "overbooking hurts every class, and efficiency helps most"),
    7: (SYSTEM, grids.EVERY, False, "iteration is better at every load"),
    8: (SYSTEM, SEVEN, True, "iteration helps small jobs without hurting the largest"),
    9: (RANDOM, grids.EVERY, False, "iteration is best of all, the more so the higher the load"),
    10: (RANDOM, SEVEN, True, "iteration is best in every class"),
}


def _numbered(number, scenario, schemes, by_size, expected):
    """Make the function that rebuilds a figure of the paper."""
    subject = "Shares and efficiency" if schemes == SIX else "The iterative scheme"
    title = f"{subject}{' by size' * by_size}, {scenario}"
    heading = f"Figure {number}: {title[0].lower()}{title[1:]}"

    @rebuilt
    def figure(size: str | None = None, progress: bool = True) -> Figure:
        size = chosen_size(size)
        data = grids.results(scenario, size, progress, schemes)
        data = data if by_size else data[data["group"] == ALL]
        panels = _by_size(data, title, scenario) if by_size else _of_all(data, title, scenario, schemes)
        classes = " Classes by processor-seconds in the log." * by_size
        return _figure(
            name=f"figure{number}",
            title=heading,
            caption=f"In the paper {expected}.{classes} {_draws(size)}",
            data=data,
            chart=charts.stacked(panels),
        )

    figure.__name__ = figure.__qualname__ = f"figure{number}"
    figure.__doc__ = f"Rebuild {heading}."
    return figure


def _of_all(data, title, scenario, schemes):
    means = grids.averaged(data, ["jobs", "scheme", "load"])
    others = [scheme for scheme in schemes if scheme not in (PLAIN, *grids.REFERENCES)]
    apart = _for_axis(_against_plain(data, others, ["jobs", "load"]))
    return [
        _lines(means, "turnaround", title, _subtitle(scenario), log=True),
        _lines(apart, AGAINST, "The same, draw by draw", ""),
    ]


def _by_size(data, title, scenario):
    means = grids.averaged(data, ["jobs", "group", "scheme", "load"])
    panels = []
    for jobs, groups in product(means["jobs"].unique(), ROWS):
        part = means[(means["jobs"] == jobs) & means["group"].isin(groups)]
        panels.append(_lines(part, "turnaround", title, f"{_subtitle(scenario)}, {jobs}", "group", log=True))
    return panels


figure2, figure3, figure4, figure5, figure7, figure8, figure9, figure10 = (
    _numbered(number, *shown) for number, shown in SHOWN.items()
)


# The reasons behind them -------------------------------------------------------------------------------------


@rebuilt
def overbooking(size: str | None = None, progress: bool = True) -> Figure:
    """Show what overbooking does where all jobs speed up alike: without loss, and with more and more of it."""
    size = chosen_size(size)
    data = grids.scalings(size, progress)
    data = data[data["group"] == ALL]
    named = data.assign(sigma=[f"sigma {sigma:g}" for sigma in data["sigma"]])
    means = grids.averaged(named, ["sigma", "scheme", "load"])
    title, subtitle = "Overbooking and scalability, A = P", f"{grids.about(jobs=grids.first_sample(size)[0])}, {SYSTEM}"
    return _figure(
        name="overbooking",
        title=title,
        caption=(
            "Where speedup is perfect (sigma 0), the paper expects overbooking to help at low load and to do harm at "
            "high load, to light jobs everywhere; the worse jobs scale, the less it pays. Draws differ in the "
            f"submissions only. {_draws(size)}"
        ),
        data=data,
        chart=_lines(means, "turnaround", title, subtitle, "sigma", log=True),
    )


@rebuilt
def widths(size: str | None = None, progress: bool = True) -> Figure:
    """Show on how many processors jobs run under each scheme: the reason behind the figures."""
    size = chosen_size(size)
    jobs, loads, draws = grids.first_sample(size)
    load = min(loads, key=lambda each: abs(each - BESIDE))
    values = {"jobs": jobs, "load": load, "draw": range(draws), "scheme": (*SEVEN, EASY())}
    drawn, rows = [], []
    for scenario, A in SCENARIOS.items():
        data = grids.runs(f"widths, {scenario}", progress, A=A, **values)
        parts = data[data["group"] == ALL].groupby("scheme", sort=False)["widths"]
        counts = {name: sum(several) for name, several in parts}
        sizes = {name: np.repeat(np.arange(count.size), count) for name, count in counts.items()}
        title = f"Processors of a job, {scenario}"
        subtitle = f"{_subtitle(scenario)}, effective load {load:g}, {how_many(jobs)}; EASY: as the jobs ask for"
        drawn.append(charts.distribution(sizes, "procs", title=title, subtitle=subtitle))
        rows += [
            {"scenario": scenario, "scheme": name, "procs": procs, "count": count[procs]}
            for name, count in counts.items()
            for procs in np.flatnonzero(count)
        ]
    return _figure(
        name="widths",
        title="Behind the figures: partition sizes",
        caption=(
            f"Jobs of all {draws} draws at load {load:g}. Overbooking lets a job have nearly the machine as "
            "soon as it is free, one after the other; shares alone keep everybody narrow. The iterative scheme gives "
            "each what the queue of the moment leaves."
        ),
        data=pd.DataFrame(rows),
        chart=charts.stacked(drawn),
    )


@rebuilt
def waste(size: str | None = None, progress: bool = True) -> Figure:
    """Show what schemes waste: processor-seconds held beyond the work that one processor would do."""
    size = chosen_size(size)
    data = pd.concat([grids.results(scenario, size, progress).assign(scenario=scenario) for scenario in SCENARIOS])
    data = data[data["group"] == ALL].assign(**{WASTED: lambda table: 100 * table["wasted"] / table["area"]})
    by = ["jobs", "scenario", "scheme", "load"]
    means = over_seeds(data[[*by, "seed", WASTED]], by)
    panels = [
        _lines(means[means["scenario"] == scenario], WASTED, "Wasted processor-seconds", _subtitle(scenario))
        for scenario in SCENARIOS
    ]
    return _figure(
        name="waste",
        title="Behind the figures: what is wasted",
        caption=(
            "A job on n processors of speedup S(n) wastes n - S(n) of them. The wider the partitions, the more is "
            "wasted, and what is wasted comes on top of the effective load: it is why narrow partitions win at high "
            f"load, and why the queue grows where overbooking lets jobs have the machine. {_draws(size)}"
        ),
        data=data,
        chart=charts.stacked(panels),
    )


# What the paper leaves open, and what is beyond it -----------------------------------------------------------

READ = {"quick": (3_000, 10), "full": (grids.JOBS, 10)}  # jobs and draws
# By what is read differently: changes of the workload, of the shares' settings, and the iterative scheme.
READINGS = {
    "as in the figures": ({}, {}, ITERATIVE),
    "430 processors": ({"machine": 430}, {}, ITERATIVE),
    "338 processors": ({"machine": 338}, {}, ITERATIVE),
    "A from 1 to twice the processors asked for": ({"A": "any"}, {}, ITERATIVE),
    "shares by work, not its square root": ({}, {"weight": "proportional"}, ITERATIVE),
    "work as estimate x processors": ({}, {"work": "area"}, ITERATIVE),
    "shares among queued jobs only": ({}, {"mix": "queued"}, ITERATIVE),
    "bounds of the band as printed": ({}, {"canmove": "literal"}, ITERATIVE),
    "backfilled jobs start at once or wait": ({}, {"backfill": "start-now"}, ITERATIVE),
    "iteration over the first 20 jobs only": ({}, {}, IterativeMoldable(head=20)),
}


@rebuilt
def sensitivity(size: str | None = None, progress: bool = True) -> Figure:
    """Tabulate what the paper leaves open, one reading at a time.

    A quick run leaves the iterative scheme out, which takes most of the time.
    """
    size = chosen_size(size)
    jobs, draws = READ[size]
    rows = []
    for (scenario, A), (reading, (changed, shares, iterative)) in product(SCENARIOS.items(), READINGS.items()):
        if size == "quick" and iterative != ITERATIVE:
            continue
        plain, wide = (replace(each, **shares) for each in (PLAIN, WIDE))
        pairs = {f"{short(WIDE)} (%)": (wide, plain)}
        if size == "full":
            pairs |= {"iterative (%)": (iterative, plain), f"iterative against {short(WIDE)} (%)": (iterative, wide)}
        schemes = [plain, wide] + [iterative] * (size == "full")
        values = {"jobs": jobs, "draw": range(draws), "scheme": schemes, "A": A} | changed
        data = grids.compare(f"reading: {reading}", progress, **values)
        data = data[data["group"] == ALL]
        hours = grids.averaged(data[data["scheme"] == str(plain)], ["scheme"])["turnaround"].iloc[0] / 3600
        row = {"scenario": scenario, "reading": reading, f"turnaround under {short(PLAIN)} (h)": hours}
        for words, pair in pairs.items():
            change, low, high = grids.changes(data, *pair, by=["log"])[["change", "low", "high"]].iloc[0]
            row[words] = f"{change:+.1f} ({low:+.1f} to {high:+.1f})"
        rows.append(row)
    data = pd.DataFrame(rows)
    quick = " Quick: shares only; full size: the iterative scheme, too." if size == "quick" else ""
    return _figure(
        name="sensitivity",
        title="What the paper does not say",
        caption=(
            f"Effective load {BESIDE:g}, {how_many(jobs)}, {draws} draws: mean turnaround under {short(PLAIN)}, and "
            f"by how many percent it changes under other schemes (95 % intervals over the draws).{quick}"
        ),
        data=data,
        table=data,
    )


MIXES = {"quick": (0.0, 0.5, 1.0), "full": (0.0, 0.25, 0.5, 0.75, 1.0)}


def _beside(size, words, progress, **values):
    """Give the runs of all jobs of what is beside the paper's figures, as `compare` does."""
    jobs, draws = grids.SIDE[size]
    data = grids.compare(words, progress, jobs=jobs, draw=range(draws), **values)
    return data[data["group"] == ALL]


def _beside_words(size):
    jobs, draws = grids.SIDE["full"]
    return f" Quick; full size: {draws} draws on {jobs:,} jobs." if size == "quick" else ""


@rebuilt
def other_logs(size: str | None = None, progress: bool = True) -> Figure:
    """Beyond the paper: the same on other logs, each on its own machine."""
    size = chosen_size(size)
    jobs, draws = grids.SIDE[size]
    schemes, parts = (*SEVEN, EASY()), []
    for log, (scenario, A) in product((LOG, *grids.OTHER_LOGS), SCENARIOS.items()):
        data = _beside(size, f"{log}, {scenario}", progress, log=log, A=A, scheme=schemes)
        apart = _against_plain(data, [scheme for scheme in schemes if scheme != PLAIN], ["log"])
        parts.append(apart.assign(scenario=scenario, trace=grids.first(log, jobs).title))
    data = pd.concat(parts, ignore_index=True)
    drawn = _for_axis(data)
    panels = [
        charts.bars(drawn[drawn["scenario"] == scenario], "trace", AGAINST, title=scenario, width=700)
        for scenario in SCENARIOS
    ]
    return _figure(
        name="other-logs",
        title="Beyond the paper: other logs",
        caption=(
            f"{how_many(jobs).capitalize()} of each log at effective load {BESIDE:g}, on its own machine "
            f"(CTC: {grids.PROCS} processors); means of {draws} draws, lines: 95 % intervals." + _beside_words(size)
        ),
        data=data,
        chart=charts.stacked(panels),
        logs=(LOG, *grids.OTHER_LOGS),
    )


@rebuilt
def mixes(size: str | None = None, progress: bool = True) -> Figure:
    """Beyond the paper: moldable jobs among rigid ones."""
    size = chosen_size(size)
    values = {"share": MIXES[size], "scheme": (PLAIN, WIDE, ITERATIVE)}
    parts = [
        _beside(size, f"mixes, {scenario}", progress, A=A, **values).assign(scenario=scenario)
        for scenario, A in SCENARIOS.items()
    ]
    data = pd.concat(parts, ignore_index=True)
    means = grids.averaged(data, ["scenario", "scheme", "share"]).rename(columns={"share": MOLDABLE})
    told = {
        "title": "Moldable among rigid jobs",
        "subtitle": f"{grids.about(jobs=grids.SIDE[size][0])}, effective load {BESIDE:g}",
    }
    return _figure(
        name="mixes",
        title="Beyond the paper: a mix of moldable and rigid jobs",
        caption=(
            "With rigid jobs only, shares are EASY backfilling, and the iterative scheme is conservative backfilling "
            f"made anew at each instant. {grids.SIDE[size][1]} draws; shaded: 95 % intervals." + _beside_words(size)
        ),
        data=data,
        chart=charts.lines(means, MOLDABLE, "turnaround", column="scenario", log=True, **told),
    )
