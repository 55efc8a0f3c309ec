"""The paper's figures, and the reasons behind them."""

from itertools import product

import numpy as np
import pandas as pd

from schedlab import charts
from schedlab.schemes import EASY
from schedlab.statistics import over_seeds

from ..figure import rebuilt, standing_in
from . import grids
from .grids import BESIDE, EVERY, LOG, PLAIN, RANDOM, SCENARIOS, SEVEN, SIX, SYSTEM, how_many, of_all, short

DRAWN = (
    f"Each draw moves each submission by up to {grids.SHAKE} s, and draws A and sigma where they are random. Schemes "
    "are compared within the draw; changes and means over the draws are geometric."
)
AGAINST = f"turnaround against {short(PLAIN)} (%)"
WASTED = "wasted, of what jobs hold (%)"
ROWS = ((grids.ALL, *grids.CLASSES[:2]), grids.CLASSES[2:])  # of panels
charts.register(dashes={"the paper's": (1, 0), "to compare with": (2, 2)})


def notes(size: str, logs=(LOG,)) -> tuple[str, ...]:
    """Give the notes that most figures have, of any size."""
    return DRAWN, *standing_in(logs)


def _sample(size):
    def drawn(size):
        return " and ".join(
            f"{draws} draws at each of {len(loads)} loads on the {how_many(jobs)}"
            for jobs, (loads, draws) in grids.SAMPLES[size].items()
        )

    full = f" (quick; full size: {drawn('full')})" if size == "quick" else ""
    return f"Sample: {drawn(size)}{full}; the same draws for every scheme. Shaded: 95 % intervals over the draws."


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


def against_plain(data: pd.DataFrame, schemes, by) -> pd.DataFrame:
    """Compare schemes with plain shares, draw by draw, as `changes` does."""
    return pd.concat([grids.changes(data, scheme, PLAIN, by).assign(scheme=str(scheme)) for scheme in schemes])


def for_axis(apart: pd.DataFrame) -> pd.DataFrame:
    """Name changes against plain shares as an axis does."""
    return apart.rename(columns={"change": AGAINST, "low": f"{AGAINST}_low", "high": f"{AGAINST}_high"})


# The paper's figures -----------------------------------------------------------------------------------------

IN_THE_PAPER = {
    2: "ObF 4 with EF 1 is best, ObF 4 without efficiency no help, and at ObF 1 efficiency does harm",
    3: "small jobs prefer ObF 1 and gain by EF 1; the largest need ObF 4, where EF hardly matters to them",
    4: "ObF 1 with EF 0 is best; ObF 4 is worse, the more so the higher the load, less so with efficiency",
    5: "overbooking hurts every class, and efficiency helps most",
    7: "iteration is better at every load",
    8: "iteration helps small jobs without hurting the largest",
    9: "iteration is best of all, the more so the higher the load",
    10: "iteration is best in every class",
}


def _numbered(number, scenario, schemes, by_size=False):
    """Make the function that rebuilds a figure of the paper."""
    subject = "Shares and efficiency" if schemes == SIX else "The iterative scheme"
    title = f"{subject}{' by size' * by_size}, {scenario}"
    heading = f"Figure {number}: {title[0].lower()}{title[1:]}"

    @rebuilt(heading, notes, name=f"figure{number}", about=f"Rebuild {heading}.")
    def figure(size: str, progress: bool) -> tuple:
        data = grids.results(scenario, size, progress, schemes)
        data = data if by_size else of_all(data)
        panels = _by_size(data, title, scenario) if by_size else _of_all(data, title, scenario, schemes)
        classes = " Classes by processor-seconds in the log." * by_size
        return f"In the paper {IN_THE_PAPER[number]}.{classes} {_sample(size)}", data, charts.stacked(panels)

    return figure


def _of_all(data, title, scenario, schemes):
    means = grids.averaged(data, ["jobs", "scheme", "load"])
    others = [scheme for scheme in schemes if scheme not in (PLAIN, *grids.REFERENCES)]
    apart = for_axis(against_plain(data, others, ["jobs", "load"]))
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


NUMBERED = (
    _numbered(2, SYSTEM, SIX),
    _numbered(3, SYSTEM, SIX, by_size=True),
    _numbered(4, RANDOM, SIX),
    _numbered(5, RANDOM, SIX, by_size=True),
    _numbered(7, SYSTEM, EVERY),
    _numbered(8, SYSTEM, SEVEN, by_size=True),
    _numbered(9, RANDOM, EVERY),
    _numbered(10, RANDOM, SEVEN, by_size=True),
)


# The reasons behind them -------------------------------------------------------------------------------------


@rebuilt("Overbooking and scalability, A = P", notes)
def overbooking(size: str, progress: bool) -> tuple:
    """Show what overbooking does where all jobs speed up alike: without loss, and with more and more of it."""
    data = of_all(grids.scalings(size, progress))
    named = data.assign(sigma=[f"sigma {sigma:g}" for sigma in data["sigma"]])
    means = grids.averaged(named, ["sigma", "scheme", "load"])
    title, subtitle = "Overbooking and scalability, A = P", f"{grids.about(jobs=grids.first_sample(size)[0])}, {SYSTEM}"
    caption = (
        "Where speedup is perfect (sigma 0), the paper expects overbooking to help at low load and to do harm at "
        "high load, to light jobs everywhere; the worse jobs scale, the less it pays. Draws differ in the "
        f"submissions only. {_sample(size)}"
    )
    return caption, data, _lines(means, "turnaround", title, subtitle, "sigma", log=True)


@rebuilt("Behind the figures: partition sizes", notes)
def widths(size: str, progress: bool) -> tuple:
    """Show on how many processors jobs run under each scheme: the reason behind the figures."""
    jobs, loads, draws = grids.first_sample(size)
    load = min(loads, key=lambda each: abs(each - BESIDE))
    values = {"jobs": jobs, "load": load, "draw": range(draws), "scheme": (*SEVEN, EASY())}
    panels, rows = [], []
    for scenario, A in SCENARIOS.items():
        data = of_all(grids.runs(f"widths, {scenario}", progress, A=A, **values))
        counts = {name: sum(several) for name, several in data.groupby("scheme", sort=False)["widths"]}
        sizes = {name: np.repeat(np.arange(count.size), count) for name, count in counts.items()}
        title = f"Processors of a job, {scenario}"
        subtitle = f"{_subtitle(scenario)}, effective load {load:g}, {how_many(jobs)}; EASY: as the jobs ask for"
        panels.append(charts.distribution(sizes, "procs", title=title, subtitle=subtitle))
        rows += [
            {"scenario": scenario, "scheme": name, "procs": procs, "count": count[procs]}
            for name, count in counts.items()
            for procs in np.flatnonzero(count)
        ]
    caption = (
        f"Jobs of all {draws} draws at load {load:g}. Overbooking lets a job have nearly the machine as "
        "soon as it is free, one after the other; shares alone keep everybody narrow. The iterative scheme gives "
        "each what the queue of the moment leaves."
    )
    return caption, pd.DataFrame(rows), charts.stacked(panels)


@rebuilt("Behind the figures: what is wasted", notes)
def waste(size: str, progress: bool) -> tuple:
    """Show what schemes waste: processor-seconds held beyond the work that one processor would do."""
    data = pd.concat([grids.results(scenario, size, progress).assign(scenario=scenario) for scenario in SCENARIOS])
    data = of_all(data).assign(**{WASTED: lambda table: 100 * table["wasted"] / table["area"]})
    by = ["jobs", "scenario", "scheme", "load"]
    means = over_seeds(data[[*by, "seed", WASTED]], by)
    panels = [
        _lines(means[means["scenario"] == scenario], WASTED, "Wasted processor-seconds", _subtitle(scenario))
        for scenario in SCENARIOS
    ]
    caption = (
        "A job on n processors of speedup S(n) wastes n - S(n) of them. The wider the partitions, the more is "
        "wasted, and what is wasted comes on top of the effective load: it is why narrow partitions win at high "
        f"load, and why the queue grows where overbooking lets jobs have the machine. {_sample(size)}"
    )
    return caption, data, charts.stacked(panels)
