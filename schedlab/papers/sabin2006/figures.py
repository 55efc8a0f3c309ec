"""The paper's figures, and the reasons behind them."""

from functools import partial

import numpy as np
import pandas as pd

from schedlab import EASY, charts
from schedlab.schedule.statistics import geometric_means, over_seeds
from schedlab.web.in_page import Run

from ..cards import Drawing, Shown, rebuilt
from . import grids
from .grids import BESIDE, EVERY, ITERATIVE, LOG, PLAIN, RANDOM, SCENARIOS, SEVEN, SIX, SYSTEM, of_all, short

DRAWN = (
    f"Each draw moves each submission by up to {grids.SHAKE} s, and draws A and sigma where they are random. Schemes "
    "are compared within the draw; changes and means over the draws are geometric."
)
NAMED = "ObF: overbooking factor; EF: efficiency factor; plain shares: ObF 1, EF 0."
SCALE = {
    SYSTEM: "A = P: jobs can use the whole machine.",
    RANDOM: "A random: jobs can use about what they ask for, up to twice as much.",
}
NOTES = (DRAWN,)
AGAINST = "turnaround against plain shares (%)"
WASTED = "wasted, of what jobs hold (%)"
AXIS = {"change": AGAINST, "low": f"{AGAINST}_low", "high": f"{AGAINST}_high"}  # what changes are called on an axis
OVERBOOKING = ("SAB-3a", "SAB-3b", "SAB-3c", "SAB-3d", "SAB-4a", "SAB-4b", "SAB-16", "SAB-17")
BY = ("jobs", "load", "scheme", "group")  # what tells runs apart, besides the draw
charts.register(
    {short(name): colour for name in map(str, (*SEVEN, *grids.OVERBOOKED)) for colour in charts.colours([name])},
    dashes={"the paper's": (1, 0), "to compare with": (2, 2)},
)


def _sample(runs: Shown, part: pd.DataFrame, note: str = "", sigma: str = grids.written(grids.SIGMA)) -> str:
    """Say which runs a figure shows, and what a quick run lacks."""
    draws, loads, quick = part["draw"].nunique(), part["load"].nunique(), ""
    if runs.size == "quick":
        several, full = grids.SAMPLES["full"][None]
        quick = f" (quick; full size: {full} draws at {len(several)} loads on the whole log)"
    return (
        f"{runs.title(LOG)}, {part['jobs'].iloc[0]}, {grids.PROCS} processors, sigma {sigma}: {draws} draws at "
        f"{loads} loads, the same for every scheme{quick}. Shaded: 95 % intervals.{note}"
    )


def _primary(data):
    """Return the runs of the primary sample, which come first."""
    return data[data["jobs"] == data["jobs"].iloc[0]]


def _lines(data, y, column=None, rings=None, title=""):
    """Draw lines against load; schemes that are not the paper's, shown for comparison, are dashed."""
    references = [str(scheme) for scheme in grids.REFERENCES]
    settings = {"dash": "schemes"} if data["scheme"].isin(references).any() else {}
    data, rings = Shown(data, "", rings).both(
        lambda part: part.assign(
            schemes=np.where(part["scheme"].isin(references), "to compare with", "the paper's"),
            scheme=part["scheme"].map(short),
            effective_load=part["load"],
        )
    )
    return charts.lines(data, "effective_load", y, column=column, rings=rings, title=title, **settings)


def against_plain(data: pd.DataFrame, schemes, by) -> pd.DataFrame:
    """Compare all others of the schemes with plain shares, draw by draw, as `changes` does."""
    present = set(data["scheme"])
    others = [scheme for scheme in schemes if scheme != PLAIN and str(scheme) in present]
    parts = [grids.changes(data, scheme, PLAIN, by).assign(scheme=str(scheme)) for scheme in others]
    return pd.concat(parts, ignore_index=True)


def _apart(data, schemes):
    return against_plain(_primary(data), schemes, ["jobs", "load"]).rename(columns=AXIS)


def _at(low, high, loads):
    """Say which scheme is best at the lowest and at the highest load."""
    first, last = _least(low), _least(high)
    if first == last:
        return f"Both at load {loads[0]:g} and at {loads[1]:g} {last}"
    return f"At load {loads[1]:g} {last}; at {loads[0]:g} {first}"


def _signed(part):
    """Say a change in words: a percentage and its direction."""
    return f"{abs(part):.0f} % {'shorter' if part < 0 else 'longer'}"


def _least(rows):
    """Name the scheme with the least turnaround, and how far it is below plain shares."""
    least = rows.loc[rows[AGAINST].idxmin()]
    if least[AGAINST] >= 0:
        return "none is below plain shares"
    return f"{short(least['scheme'])} is best, {-least[AGAINST]:.0f} % below plain shares"


def _best(rows):
    """Return the scheme with the least turnaround: the least change, or plain shares if none is below zero."""
    least = rows.loc[rows[AGAINST].idxmin()]
    return short(least["scheme"]) if least[AGAINST] < 0 else short(PLAIN)


def _draw_means(scenario, schemes, runs):
    """Draw the mean turnaround of all jobs, against that under plain shares, over load."""
    part = _primary(of_all(runs.data))
    papers = [scheme for scheme in schemes if scheme in SEVEN]  # others stand in the table: they are far away
    paper, rings = runs.both(lambda data: _apart(of_all(data), papers))
    low, high = (paper[paper["load"] == load] for load in (paper["load"].min(), paper["load"].max()))
    loads = tuple(rows["load"].iloc[0] for rows in (low, high))
    if ITERATIVE in schemes:
        first, last = (rows[rows["scheme"] == short(ITERATIVE)][AGAINST].iloc[0] for rows in (low, high))
        title = f"Under iteration turnaround is {_signed(last)} than under plain shares at load {loads[1]:g}, "
        title += f"{_signed(first)} at {loads[0]:g}"
    else:
        first, last = _best(low), _best(high)
        both = f"both at load {loads[0]:g} and at {loads[1]:g}"
        at = both if first == last else f"at load {loads[0]:g}, {last} at {loads[1]:g}"
        title = f"{first} is the best of the six {at}"
    means = geometric_means(part, "turnaround", ["scheme", "load"])
    seen = (
        f"Mean turnaround, change against plain shares; below zero is better. {_at(low, high, loads)}. "
        f"{SCALE[scenario]} {NAMED}"
    )
    table = means.assign(hours=means["turnaround"] / 3600).pivot_table(
        index="scheme", columns="load", values="hours", sort=False
    )
    table = table.rename(columns=lambda load: f"load {load:g} (h)").reset_index()
    return Drawing(title, seen, _sample(runs, part), _lines(paper, AGAINST, rings=rings), table)


def _draw_classes(scenario, schemes, runs):
    """Draw the mean turnaround of each class, against that under plain shares, over load."""
    part = _primary(runs.data)
    apart, rings = runs.both(lambda data: _sized(_apart(data[data["group"] != grids.ALL], schemes)))
    high = apart[apart["load"] == apart["load"].max()]
    load, names = high["load"].iloc[0], list(dict.fromkeys(high["group"]))
    bests = {name: _best(high[high["group"] == name]) for name in names}
    ends = [names[0], names[-1]]
    least = [_least(high[high["group"] == name]) for name in ends]
    if ITERATIVE in schemes:
        iterative = high[high["scheme"] == short(ITERATIVE)].set_index("group")[AGAINST]
        small, large = (_signed(iterative[end]) for end in ends)
        title = f"At load {load:g} the largest jobs' turnaround is {large} under iteration than under plain shares, "
        title += f"the smallest jobs' {small}"
        iterative = sum(best == short(ITERATIVE) for best in bests.values())
        first = f"At load {load:g} iteration is best in {iterative} of {len(names)} classes;"
    else:
        title = f"At load {load:g} the smallest jobs do best under {bests[ends[0]]}, the largest under {bests[ends[1]]}"
        first = f"At load {load:g} {'no' if len(set(bests.values())) > 1 else 'one'} scheme is best for all sizes:"
    return Drawing(
        title,
        f"Mean turnaround by class of job size, change against plain shares; below zero is better. {first} for the "
        f"smallest jobs {least[0]}, for the largest {least[1]}. {SCALE[scenario]} {NAMED}",
        _sample(runs, part, " Sizes as in the log."),
        _lines(apart, AGAINST, "group", rings),
        _of_classes(part),
    )


def _sized(data):
    """Name classes by what is measured, as titles of panels."""
    short = {grids.CLASSES[0]: f"less than {grids.EDGES[1]:g}", "100,000-2,000,000": "0.1 to 2 million"}
    group = data["group"].replace(short | {"over 2,000,000": "over 2 million"}).str.replace("-", " to ")
    return data.assign(group=group + " processor-seconds")


def _of_classes(part):
    means = geometric_means(part, "turnaround", ["group", "scheme", "load"])
    table = means.assign(hours=means["turnaround"] / 3600)
    table = table.pivot_table(index=["group", "scheme"], columns="load", values="hours", sort=False)
    return table.rename(columns=lambda load: f"load {load:g} (h)").reset_index()


IN_PAGE = 2_000  # jobs that a page of the site simulates again
OF_PAPER = (2, 3, 4, 5, 7, 8, 9, 10)
OF_RUNS = {"logs": (LOG,), "by": BY, "measures": ("turnaround", "queue"), "again": "now"}


def _first_jobs_in_page(scenario, schemes):
    """Return a figure's schemes at its first loads, on the first jobs of the log and for one draw."""
    trace = grids.workload(jobs=IN_PAGE, A=SCENARIOS[scenario], load=None)
    loads = grids.SAMPLES["now"][None][0]
    sample = f"first {IN_PAGE:,} jobs, load"
    return [Run(f"{short(scheme)}, {sample} {load:g}", trace, scheme, load) for load in loads for scheme in schemes]


def _numbered(number):
    """Make the function that rebuilds a figure of the paper."""
    scenario, by_size = SYSTEM if number in (2, 3, 7, 8) else RANDOM, number in (3, 5, 8, 10)
    schemes = SIX if number <= 5 else SEVEN if by_size else EVERY
    about = f"{'Shares and efficiency' if schemes == SIX else 'The iterative scheme'}{' by size' * by_size}, {scenario}"
    draw = partial(_draw_classes if by_size else _draw_means, scenario, schemes)

    @rebuilt(
        f"Figure {number}",
        draw,
        NOTES,
        name=f"figure{number}",
        about=f"Rebuild Figure {number}: {about}.",
        in_page=partial(_first_jobs_in_page, scenario, schemes),
        **OF_RUNS,
    )
    def figure(size: str, progress: bool) -> pd.DataFrame:
        data = grids.results(scenario, size, progress, schemes)
        return data if by_size else of_all(data)

    return figure


NUMBERED = tuple(map(_numbered, OF_PAPER))


def _draw_overbooking(runs):
    def against(data):
        base, *others = grids.OVERBOOKED
        parts = [
            grids.changes(data, scheme, base, ["jobs", "sigma", "load"]).assign(scheme=str(scheme)) for scheme in others
        ]
        table = pd.concat(parts, ignore_index=True).rename(columns=AXIS)
        return table.assign(sigma=[f"sigma {sigma:g}" for sigma in table["sigma"]])

    part = _primary(of_all(runs.data))
    apart, rings = runs.both(lambda data: against(_primary(of_all(data))))
    perfect = apart[(apart["sigma"] == "sigma 0") & (apart["scheme"] == str(grids.OVERBOOKED[-1]))].sort_values("load")
    low, high = perfect.iloc[0], perfect.iloc[-1]
    return Drawing(
        f"With perfect speedup ObF 4 makes turnaround {_signed(low[AGAINST])} at load {low['load']:g}, "
        f"{_signed(high[AGAINST])} at {high['load']:g}",
        "Mean turnaround against plain shares, where all jobs speed up alike. With perfect speedup (sigma 0), the "
        "paper expects overbooking to help at low load and to do harm at high load. It pays less if jobs scale worse. "
        "ObF: overbooking factor.",
        _sample(runs, part, " Draws differ only in the submissions.", "0, 1 or 2"),
        _lines(apart, AGAINST, "sigma", rings),
    )


@rebuilt("", _draw_overbooking, NOTES, **OF_RUNS | {"by": (*BY, "sigma")}, claims=OVERBOOKING)
def overbooking(size: str, progress: bool) -> pd.DataFrame:
    """Show what overbooking does if all jobs speed up alike: without loss, and with more and more of it."""
    return grids.scalings(size, progress)


def _draw_widths(runs):
    panels, half, data = [], {}, runs.data
    for scenario, part in data.groupby("scenario", sort=False):
        counts = dict(list(part.groupby("scheme", sort=False)))
        sizes = {short(name): np.repeat(rows["procs"], rows["count"]).to_numpy() for name, rows in counts.items()}
        panels.append(charts.distribution(sizes, "procs", title=f"Processors of a job, {scenario}", width=grids.HALF))
        half |= {(scenario, name): np.mean(several > grids.PROCS / 2) for name, several in sizes.items()}
    wide, plain = (100 * half[SYSTEM, short(scheme)] for scheme in (grids.SHARES[4, 0], PLAIN))
    return Drawing(
        f"If jobs scale to the machine, ObF 4 gives {wide:.0f} % of them more than half of it, plain shares "
        f"{plain:.0f} %",
        "Overbooking lets jobs take much of the machine, one after the other; plain shares keep them narrower. The "
        f"iterative scheme gives each job what the current queue leaves. EASY: as the jobs ask for. {NAMED}",
        f"{runs.title(LOG)} at effective load {BESIDE:g}, {grids.PROCS} processors; jobs of all draws.",
        charts.stacked(panels),
    )


@rebuilt("", _draw_widths, NOTES, logs=(LOG,), again=None)
def widths(size: str, progress: bool) -> pd.DataFrame:
    """Show on how many processors jobs run under each scheme: the reason behind the figures."""
    jobs, (loads, draws) = next(iter(grids.SAMPLES[size].items()))
    load = min(loads, key=lambda candidate: abs(candidate - BESIDE))
    values = {"jobs": jobs, "load": load, "draw": range(draws), "scheme": (*SEVEN, EASY())}
    rows = []
    for scenario, A in SCENARIOS.items():
        data = of_all(grids.compare(f"widths, {scenario}", progress, ["group", "scheme", "widths"], A=A, **values))
        counts = {name: sum(several) for name, several in data.groupby("scheme", sort=False)["widths"]}
        rows += [
            {"scenario": scenario, "scheme": name, "procs": procs, "count": count[procs]}
            for name, count in counts.items()
            for procs in np.flatnonzero(count)
        ]
    return pd.DataFrame(rows)


def _draw_waste(runs):
    by = ["scenario", "scheme", "load"]
    part = _primary(runs.data)
    means, rings = runs.both(lambda data: over_seeds(_primary(data)[[*by, "seed", WASTED]], by))
    most = means.loc[means[WASTED].idxmax()]
    at_most = {name: part.loc[part[WASTED].idxmax()] for name, part in means.groupby("scenario", sort=False)}
    maxima = "; ".join(
        f"{name}: up to {row[WASTED]:.0f} %, {short(row['scheme'])} at load {row['load']:g}"
        for name, row in at_most.items()
    )
    return Drawing(
        f"Wide partitions waste up to {most[WASTED]:.0f} % of the processor-seconds that jobs hold",
        f"A job with speedup S(n) on n processors wastes n - S(n) of them. {maxima}. Rigid jobs waste the same "
        "under EASY and conservative backfilling: their dotted lines lie on one another. The waste adds to the "
        f"effective load. {NAMED}",
        _sample(runs, part),
        _lines(means, WASTED, "scenario", rings),
    )


@rebuilt("", _draw_waste, NOTES, **OF_RUNS | {"by": (*BY, "scenario"), "measures": ("wasted",)})
def waste(size: str, progress: bool) -> pd.DataFrame:
    """Show what schemes waste: processor-seconds held beyond the work that one processor would do."""
    data = pd.concat([grids.results(scenario, size, progress).assign(scenario=scenario) for scenario in SCENARIOS])
    return of_all(data).assign(**{WASTED: lambda table: 100 * table["wasted"] / table["area"]})
