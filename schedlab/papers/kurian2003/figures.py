"""The paper's figures, and what it leaves open."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from schedlab import EASY, charts, simulate
from schedlab.schedule import metrics
from schedlab.schedule.statistics import over_seeds
from schedlab.show import interval
from schedlab.web.in_page import Run, Tasks

from ..cards import BROAD, Drawing, rebuilt
from . import grids
from .grids import DRAWN, FLOODING, IMPROVED, JOBS, LOG, MONTHS, OTHERS, PROCS, READ_SEEDS, SHREDDING, SWEEPS, subset

THREE_SITES = "shredding over three sites"
IN_TEXT = {11: ("KUR-1", "KUR-3", "KUR-11", "KUR-13"), 14: ("KUR-2",)}  # claims that name no figure
GROUPS, BY_CLASS, LOSS = "sweeps and other jobs", "other jobs by class", "loss of capacity"
JOBS_SHOWN = {GROUPS: (SWEEPS, OTHERS), BY_CLASS: grids.CLASSES, LOSS: (SWEEPS,)}  # the loss is the same for all
NUMBERS = {  # of the figures, with 5, 10 and 20 % sweeps; one has all shares
    (FLOODING, GROUPS): (4, 5, 6),
    (FLOODING, LOSS): (7,),
    (FLOODING, BY_CLASS): (8, 9, 10),
    (SHREDDING, GROUPS): (11, 12, 13),
    (SHREDDING, LOSS): (14,),
    (SHREDDING, BY_CLASS): (15, 16, 17),
    (THREE_SITES, GROUPS): (18, 19, 20),
    (THREE_SITES, LOSS): (21, 22, 23),
}
IN_THE_PAPER = {
    (FLOODING, GROUPS): "In the paper sweeps gain and other jobs lose, far more in slowdown than in turnaround.",
    (FLOODING, BY_CLASS): "In the paper short and narrow jobs suffer most.",
    (SHREDDING, GROUPS): "In the paper other jobs lose less than 4 % with 5 % sweeps.",
    (SHREDDING, BY_CLASS): (
        "In the paper no class loses more than 2.5 % in turnaround, or 10 % in slowdown, with 5 % sweeps."
    ),
    (THREE_SITES, GROUPS): "In the paper sweeps gain at every site, and the others hardly notice.",
    (THREE_SITES, LOSS): "No claim: the paper shows the loss of capacity at each site, and says nothing about it.",
}
# Improvements that the paper states for some case of a figure (percent). Its 70 and 21 % belong to no named figure.
PUBLISHED = {11: {"turnaround": (-4,), "slowdown": (-4,)}, 15: {"turnaround": (-2.5,), "slowdown": (-10,)}}


def _draw_improvements(number, scheme, what, share, runs):
    """Draw improvements against load, with a panel for each measure."""
    at_sites, panels = scheme == THREE_SITES, []
    bar = {GROUPS: "jobs", LOSS: "site"}[what] if at_sites else "sweeps" if what == LOSS else "group"
    means, rings = runs.both(lambda data: _bars(data, bar))
    for key in ("loss",) if what == LOSS else ("turnaround", "slowdown"):
        better, published = IMPROVED[key], PUBLISHED.get(number, {}).get(key)
        published = pd.DataFrame({better: published}) if published else None
        width = BROAD if what == LOSS or at_sites else None  # otherwise two panels stand side by side
        panels.append(charts.bars(means, "load", better, color=bar, published=published, rings=rings, width=width))
    seeds = grids.SITE_SEEDS if at_sites else grids.SEEDS
    few = f" (quick; full size: {seeds['full']}{' at more loads' * at_sites})" if runs.size == "quick" else ""
    where = _sites(runs) if at_sites else f"{runs.title(LOG)}, first {JOBS:,} jobs, {PROCS} processors"
    jobs = {GROUPS: "", BY_CLASS: ", other jobs by class", LOSS: ", loss of capacity"}[what]
    subject = f"{scheme[0].upper()}{scheme[1:]}{jobs}{f', {share} % sweeps' if share else ''}"
    return Drawing(
        f"{subject}: {_headline(means, what, bar)}",
        f"{_seen(means, what, bar)} {IN_THE_PAPER.get((scheme, what), '')}".strip(),
        f"Above zero is better than without shredding: (old - new) / old. {where}, run times scaled to the load, exact "
        f"estimates; {seeds[runs.size]} draws{few}; lines: 95 % intervals over the draws. The paper has one draw.",
        charts.stacked(panels),
        printed="a dashed line" if number in PUBLISHED else "",
    )


def _headline(means, what, bar):
    """Say the improvements in a few words."""
    if what == LOSS:
        return _range(means, IMPROVED["loss"])
    key = IMPROVED["slowdown"]
    if what == GROUPS:
        groups = means.groupby("group", sort=False)
        return f"slowdown of {', of '.join(f'{name} {_range(part, key)}' for name, part in groups)}"
    over_loads = means.groupby(bar)[key].mean()
    worst = over_loads.idxmin()
    if over_loads[worst] >= 0:
        return "no class of jobs suffers on average"
    return f"{worst} jobs suffer most: their slowdown is {-over_loads[worst]:.0f} % worse on average"


def _range(part, key):
    """Say a range of improvements (percent)."""
    low, high = part[key].min(), part[key].max()
    if low < 0 < high and round(low) and round(high):
        return f"{-low:.0f} % worse to {high:.0f} % better"
    word = "better" if low + high > 0 else "worse"
    ends = sorted({round(abs(low)), round(abs(high))})
    return f"{' to '.join(map(str, ends))} % {word}"


def _seen(means, what, bar):
    """Say in a sentence what the bars show, on average over the loads."""
    if what == LOSS:
        over_loads = means.groupby(bar, sort=False)[IMPROVED["loss"]].mean()
        ends = [over_loads.idxmin(), over_loads.idxmax()]
        least, most = (f"{_one(over_loads[end])} {_where(bar, end)}" for end in ends)
        return f"On average over the loads the loss of capacity is {least}, and {most}."
    key = IMPROVED["turnaround"]
    if what == GROUPS:
        over_loads = means.groupby("group", sort=False)[key].mean()
        sweeps, others = (_one(over_loads[name]) for name in (SWEEPS, OTHERS))
        at = "loads and sites" if means.groupby(["group", "load"]).size().max() > 1 else "loads"
        return f"On average over the {at}, the turnaround of sweeps is {sweeps}, that of other jobs {others}."
    over_loads = means.groupby(bar)[key].mean()
    worst, others = over_loads.idxmin(), means[means[bar] != over_loads.idxmin()]
    return (
        f"The turnaround of {worst} jobs is {_range(means[means[bar] == worst], key)}; that of the other classes "
        f"changes by at most {others[key].abs().max():.0f} %."
    )


def _one(better):
    """Say an improvement (percent)."""
    return f"{abs(better):.0f} % {'better' if better >= 0 else 'worse'}" if round(better) else "the same"


def _where(bar, name):
    return f"with {name} sweeps" if bar == "sweeps" else f"at {name}"


def _figure(number, scheme, what, share):
    """Make the function that rebuilds one of the figures."""

    def run(size, progress):
        data = grids.several(size, progress) if scheme == THREE_SITES else grids.single(size, progress)
        chosen = data["group"].isin(JOBS_SHOWN[what]) & data["share"].isin([share] if share else grids.SHARES)
        return data[chosen if scheme == THREE_SITES else chosen & (data["scheme"] == scheme)]

    about = f"Rebuild Figure {number}: {scheme}, {what}{f', {share} % sweeps' if share else ''}."
    by = ("share", "load", "group", *(("site",) if scheme == THREE_SITES else ()))
    keys = ("loss",) if what == LOSS else ("turnaround", "slowdown")
    measures = [f"{key}_{which}" for key in keys for which in ("old", "new")]
    draw = partial(_draw_improvements, number, scheme, what, share)
    more = {"claims": IN_TEXT[number]} if number in IN_TEXT else {}
    how = {"logs": (LOG,), "by": by, "measures": measures, "name": f"figure{number}", "about": about, **more}
    if scheme != THREE_SITES:
        how["in_page"] = partial(_draws_in_page, scheme, what, [share] if share else grids.SHARES)
    return rebuilt(f"Figure {number}", draw, (DRAWN,), **how)(run)


def _draws_in_page(scheme, what, shares):
    """Return the first draw of a figure at its first and last load, for each share and group of jobs."""
    trace = subset().shake(grids.SHAKE, 0)
    runs = []
    for share, load in product(shares, (grids.LOADS[0], grids.LOADS[-1])):
        marked = trace.with_parameter_sweeps(share / 100, breakdown=grids.BREAKDOWN, seed=0).scale_load(load)
        base = grids.measures_alone(simulate(trace.scale_load(load), EASY()))
        sweeps = np.flatnonzero(marked.table["breakdown"]).tolist()
        for row in grids.improvements_of(simulate(marked, grids.SCHEMES[scheme]), base):
            if row["group"] in JOBS_SHOWN[what]:
                values = {key: row[better] for key, better in IMPROVED.items()}
                group = metrics.CLASS_WORDS.get(row["group"], row["group"])
                tasks = Tasks(grids.SCHEMES[scheme], sweeps, grids.BREAKDOWN, group, values)
                runs.append(Run(f"{group}, {share} % sweeps, load {load:g}", trace, EASY(), load, tasks))
    return runs


def _bars(data, bar):
    """Return the values of a figure's bars, which a column tells apart."""
    means = averaged(data, {"jobs": ["site", "group"], "sweeps": ["share"]}.get(bar, [bar]))
    if bar == "jobs":  # sweeps first
        means = means.sort_values("group", ascending=False, kind="stable")
        means[bar] = means["group"] + ", " + means["site"]
    elif bar == "sweeps":
        means[bar] = [f"{share} %" for share in means["share"]]
    return means.replace({"group": metrics.CLASS_WORDS}).assign(load=[f"{load:g}" for load in means["load"]])


def _sites(runs):
    sites = [
        f"site {i + 1}: {pd.Timestamp(begin):%B %Y}, speed {grids.SPEEDS[i]}" for i, (begin, _) in enumerate(MONTHS)
    ]
    return f"{runs.title(LOG)}, three months as three sites of {PROCS} processors ({'; '.join(sites)})"


def averaged(data, by):
    """Return the improvements of the means over the draws, and their intervals, for each load."""
    by = [*by, "load"]
    return over_seeds(grids.of_means(data, by)[[*by, "seed", *IMPROVED.values()]], by)


OF_PAPER = tuple(
    _figure(number, *what, share)
    for what, numbers in NUMBERS.items()
    for number, share in zip(numbers, grids.SHARES if len(numbers) > 1 else [None], strict=True)
)
CHOSEN = (
    "The paper does not say what its percentages refer to. Here they are percentages of the jobs of more than 8 "
    "processors; this reading was chosen after results had been seen, because it comes closest to the published "
    "numbers. The sensitivity table also has percentages of all jobs."
)
HOME_ONLY = (
    "The paper describes two ways to treat a sweep's parallel job at several sites. Here it stays in the queue of its "
    "home site; this, too, was chosen after results had been seen. The sensitivity table also has the other way, a "
    "copy in every queue."
)
OTHER_LOGS = {"quick": ("HPC2N-2002",), "full": ("HPC2N-2002", "SDSC-SP2-1998", "SDSC-BLUE-2000")}
BREAKDOWNS = {"quick": (5, 100), "full": (2, 5, 50, 100)}
SUMMARY = {
    **{f"{group}: {key}": (group, IMPROVED[key]) for group in (SWEEPS, OTHERS) for key in ("turnaround", "slowdown")},
    "loss of capacity": (OTHERS, IMPROVED["loss"]),
}
# Shorter names of the readings.
BRIEF = {
    "^three sites, ": "",
    "the parallel job at home only, as in the figures": "three sites",
    ": (site .), speed .": r", \1",
    "^the first 5,000 jobs of ": "",
}
AS_DRAWN = "EASY"
VARIED = {
    "conservative backfilling": {"local": "conservative"},
    "percent of all jobs": {"of": "all"},
    "processors given back in the last round": {"release": True},
}
SITES_VARIED = VARIED | {"a copy in every queue": {"everywhere": True}}
# Under flooding there is no parallel job to hold processors, and conservative backfilling would have to give each of a
# flood of tasks a reservation.
FLOODING_VARIED = {"percent of all jobs": VARIED["percent of all jobs"]}


def readings(size: str) -> dict:
    """Return the traces and settings of the experiment for each reading of what the paper leaves open."""
    plain, later, sites = [subset()], grids.whole().between(*MONTHS[1]).head(JOBS), grids.months()
    return {
        "as in the figures": (plain, {}),
        **{reading: (plain, settings) for reading, settings in VARIED.items()},
        "430 processors": ([subset(machine=430)], {}),
        "338 processors": ([subset(machine=338)], {}),
        f"the first {len(later):,} jobs of August 1996": ([later], {}),
        "users' estimates": ([subset(estimates="user")], {}),
        **{f"{n} tasks for each processor": (plain, {"breakdown": n}) for n in BREAKDOWNS[size]},
        **{f"the first {JOBS:,} jobs of {name}": ([subset(name)], {}) for name in OTHER_LOGS[size]},
        "three sites, the parallel job at home only, as in the figures": (sites, {}),
        "three sites, a copy in every queue": (sites, {"everywhere": True}),
    }


def _draw_readings(runs):
    table, seeds, cells = runs.data[["reading", "jobs"]].copy(), READ_SEEDS[runs.size], []
    for name in SUMMARY:
        better, low, high = (runs.data[f"{name}{end}"] for end in ("", "_low", "_high"))
        table[name] = [interval(*values, "{:+.1f}") for values in zip(better, low, high, strict=True)]
        jobs, _, measure = name.partition(": ")
        cells.append(runs.data[["reading"]].assign(jobs=jobs, of=measure, change=-better, low=-high, high=-low))
    few = f" (quick; full size: {READ_SEEDS['full']}, and more readings)" if runs.size == "quick" else ""
    gains = runs.data[f"{SWEEPS}: slowdown"]
    rows = pd.concat(cells[:-1])  # the loss of capacity stands in the table
    for long, brief in BRIEF.items():
        rows["reading"] = rows["reading"].str.replace(long, brief, regex=True)
    how = {"panel": "jobs", "interval": ("low", "high"), "title": "What shredding changes (%), by reading"}
    how["subtitle"] = "blue is less than without shredding, orange is more"
    chart = charts.changes(rows, "of", "reading", "change", **how)
    return Drawing(
        f"Whatever the paper leaves open, shredding makes the slowdown of sweeps {_ends(gains)}",
        "Each row reads one thing differently that the paper does not say; less is better in every column.",
        f"Shredding at load 0.8 with 5 % sweeps; in the fold of numbers: improvements, in brackets 95 % intervals over "
        f"{seeds} draws{few}.",
        chart,
        table,
    )


def _ends(better):
    """Say the range of some improvements (percent)."""
    return _range(pd.DataFrame({"better": better}), "better")


OF_READINGS = {"logs": lambda size: (LOG, *OTHER_LOGS.get(size, ())), "claims": ("KUR-12a", "KUR-12b")}


@rebuilt("", _draw_readings, (CHOSEN, HOME_ONLY, DRAWN), again=None, **OF_READINGS)
def sensitivity(size: str, progress: bool) -> pd.DataFrame:
    """Tabulate what the paper leaves open: local scheduler, percent of what, which jobs, which machine, copies."""
    rows, seeds = [], READ_SEEDS[size]
    for reading, (traces, settings) in readings(size).items():
        data = grids.draws(traces, seeds, (5,), (0.8,), (SHREDDING,), progress=progress, **settings)
        for (site, part), trace, speed in zip(data.groupby("site"), traces, grids.SPEEDS, strict=False):
            means = averaged(part, ["group"]).set_index("group").reindex([SWEEPS, OTHERS])  # nan: no such jobs
            row = {"reading": f"{reading}: {site}, speed {speed}" if len(traces) > 1 else reading, "jobs": len(trace)}
            for name, (group, better) in SUMMARY.items():
                row |= {f"{name}{end}": means.loc[group, f"{better}{end}"] for end in ("", "_low", "_high")}
            rows.append(row)
    return pd.DataFrame(rows)
