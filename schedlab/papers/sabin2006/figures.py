"""The paper's figures, and the reasons behind them."""

import numpy as np
import pandas as pd

from schedlab import EASY, charts
from schedlab.statistics import geometric_means, over_seeds
from schedlab.workload.archive import standing_in

from ..figure import rebuilt
from . import grids
from .grids import BESIDE, EVERY, LOG, PLAIN, RANDOM, SCENARIOS, SEVEN, SIX, SYSTEM, how_many, of_all, short

DRAWN = (
    f"Each draw moves each submission by up to {grids.SHAKE} s, and draws A and sigma where they are random. Schemes "
    "are compared within the draw; changes and means over the draws are geometric."
)
AGAINST = f"turnaround against {short(PLAIN)} (%)"
WASTED = "wasted, of what jobs hold (%)"
AXIS = {"change": AGAINST, "low": f"{AGAINST}_low", "high": f"{AGAINST}_high"}  # what changes are called on an axis
ROWS = ((grids.ALL, *grids.CLASSES[:2]), grids.CLASSES[2:])  # of panels
charts.register(dashes={"the paper's": (1, 0), "to compare with": (2, 2)})


def notes(size: str, logs=(LOG,)) -> tuple[str, ...]:
    """Return the notes that most figures have, of any size."""
    return DRAWN, *standing_in(logs)


def _sample(size, greedy=False):
    quick, full = (
        " and ".join(
            f"{draws} draws at each of {len(loads)} loads on the {how_many(jobs)}"
            for jobs, (loads, draws) in grids.SAMPLES[each].items()
        )
        for each in ("quick", "full")
    )
    drawn = full if size == "full" else f"{quick} (quick; full size: {full})"
    without = " Greedy jobs are in the full size only." if greedy and size == "quick" else ""
    return f"Sample: {drawn}; the same draws for every scheme. Shaded: 95 % intervals over the draws.{without}"


def _subtitle(scenario):
    trace = grids.first()
    return f"{trace.title}, {trace.procs} processors, {scenario}, sigma {grids.written(grids.SIGMA)}"


def _lines(data, y, title, subtitle, column="jobs"):
    """Draw lines against load; schemes that are not the paper's, shown for comparison, are dashed."""
    others = data["scheme"].isin([str(scheme) for scheme in grids.REFERENCES])
    settings = {"dash": "schemes"} if others.any() else {}
    data = data.assign(schemes=np.where(others, "to compare with", "the paper's"), effective_load=data["load"])
    settings |= {"column": column, "log": y == "turnaround", "title": title, "subtitle": subtitle}
    return charts.lines(data, "effective_load", y, **settings)


def _turnarounds(data, title, subtitle, column="jobs"):
    means = geometric_means(data, "turnaround", [column, "scheme", "load"])
    return _lines(means, "turnaround", title, subtitle, column)


def against_plain(data: pd.DataFrame, schemes, by) -> pd.DataFrame:
    """Compare all others of the schemes with plain shares, draw by draw, as `changes` does."""
    others = [scheme for scheme in schemes if scheme != PLAIN]
    return pd.concat([grids.changes(data, scheme, PLAIN, by).assign(scheme=str(scheme)) for scheme in others])


IN_THE_PAPER = {
    2: "ObF 4 with EF 1 is best, ObF 4 without efficiency does not help, and at ObF 1 efficiency does harm",
    3: "small jobs do best with ObF 1 and gain from EF 1; the largest need ObF 4, where EF hardly matters to them",
    4: "ObF 1 with EF 0 is best; ObF 4 is worse, and more so at higher loads, but less so with efficiency",
    5: "overbooking hurts every class, and efficiency helps most",
    7: "iteration is better than ObF 4 with EF 1",
    8: "iteration helps small jobs without hurting the largest",
    9: "iteration is best of all, by more at higher loads",
    10: "iteration is best in every class",
}


def _numbered(number):
    """Make the function that rebuilds a figure of the paper."""
    scenario, by_size = SYSTEM if number in (2, 3, 7, 8) else RANDOM, number in (3, 5, 8, 10)
    schemes = SIX if number <= 5 else SEVEN if by_size else EVERY
    subject = "Shares and efficiency" if schemes == SIX else "The iterative scheme"
    title = f"{subject}{' by size' * by_size}, {scenario}"
    heading = f"Figure {number}: {title[0].lower()}{title[1:]}"

    @rebuilt(heading, notes, name=f"figure{number}", about=f"Rebuild {heading}.")
    def figure(size: str, progress: bool) -> tuple:
        data = grids.results(scenario, size, progress, schemes)
        about, classes = _subtitle(scenario), " Classes by processor-seconds in the log." * by_size
        if by_size:
            panels = [
                _turnarounds(part[part["group"].isin(groups)], title, f"{about}, {jobs}", "group")
                for jobs, part in data.groupby("jobs", sort=False)
                for groups in ROWS
            ]
        else:
            data = of_all(data)
            apart = against_plain(data, SIX if number <= 5 else SEVEN, ["jobs", "load"]).rename(columns=AXIS)
            panels = [_turnarounds(data, title, about), _lines(apart, AGAINST, "The same, draw by draw", "")]
        caption = f"In the paper {IN_THE_PAPER[number]}.{classes} {_sample(size, schemes == EVERY)}"
        return caption, data, charts.stacked(panels)

    return figure


NUMBERED = tuple(map(_numbered, IN_THE_PAPER))


@rebuilt("Overbooking and scalability, A = P", notes)
def overbooking(size: str, progress: bool) -> tuple:
    """Show what overbooking does if all jobs speed up alike: without loss, and with more and more of it."""
    data, jobs = grids.scalings(size, progress), next(iter(grids.SAMPLES[size]))
    drawn = of_all(data[data["jobs"] == how_many(jobs)])
    named = drawn.assign(sigma=[f"sigma {sigma:g}" for sigma in drawn["sigma"]])
    subtitle = f"{grids.about(jobs=jobs)}, {SYSTEM}"
    caption = (
        "With perfect speedup (sigma 0), the paper expects overbooking to help at low load, to do harm at high load, "
        "and to harm light jobs at every load. It pays less if jobs scale worse. Draws differ only in the submissions. "
        f"{_sample(size)}"
    )
    return caption, data, _turnarounds(named, "Overbooking and scalability, A = P", subtitle, "sigma")


@rebuilt("Behind the figures: partition sizes", notes)
def widths(size: str, progress: bool) -> tuple:
    """Show on how many processors jobs run under each scheme: the reason behind the figures."""
    jobs, (loads, draws) = next(iter(grids.SAMPLES[size].items()))
    load = min(loads, key=lambda each: abs(each - BESIDE))
    values = {"jobs": jobs, "load": load, "draw": range(draws), "scheme": (*SEVEN, EASY())}
    panels, rows = [], []
    for scenario, A in SCENARIOS.items():
        data = of_all(grids.compare(f"widths, {scenario}", progress, ["group", "scheme", "widths"], A=A, **values))
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
        f"Jobs of all {draws} draws at load {load:g}. Overbooking gives jobs nearly the whole machine, one after the "
        "other, as soon as it is free; plain shares keep all jobs narrow. The iterative scheme gives each job what the "
        "current queue leaves."
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
        "A job with speedup S(n) on n processors wastes n - S(n) of them. Wider partitions waste more, and the waste "
        "adds to the effective load. This is why narrow partitions win at high load, and why the queue grows where "
        f"overbooking gives jobs the whole machine. {_sample(size, greedy=True)}"
    )
    return caption, data, charts.stacked(panels)
