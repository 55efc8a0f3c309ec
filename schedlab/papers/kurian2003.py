"""Kurian, Balaji and Sadayappan: opportune job shredding, which runs tasks of sweeps in the holes of a schedule."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from schedlab import Schedule, Trace, charts, load_trace, simulate, simulate_sites
from schedlab.experiment import grid, remember
from schedlab.schedule import metrics
from schedlab.schedule.statistics import over_seeds, ratios_of_means
from schedlab.schemes import Flooding, OpportuneShredding
from schedlab.show import interval

from .cards import Drawing, Paper, rebuilt
from .checks import Check
from .ledger import claimed, claims_of, exact, judged

TITLE = "Opportune job shredding (Kurian, Balaji and Sadayappan)"
PAPER = Paper(
    authors="R. Kurian, P. Balaji and P. Sadayappan",
    title="Opportune job shredding: an effective approach for scheduling parameter sweep applications",
    venue="The Ohio State University",
    year=2003,
    says=(
        "A parameter sweep is many independent tasks. Started one by one on processors that would otherwise idle, they "
        "finish much sooner and hardly delay the other jobs; flooding the queue with them delays all other jobs."
    ),
    found=(
        ("The slowdown of sweeps improves about as much as published", "KUR-1"),
        ("The loss of capacity falls by more than published, and further with more sweeps", "KUR-2"),
        ("Short jobs lose more than published under EASY, and not under conservative backfilling", "KUR-4a"),
    ),
    words=(
        ("sweep", "many independent tasks, submitted as one parallel job; the paper's PSA"),
        ("flooding", "all tasks of a sweep are put into the queue as jobs of their own"),
        ("shredding", "the tasks run on processors that would idle, while the sweep's parallel job still waits"),
        ("short, long", "run time of less than an hour, or of at least an hour"),
        ("narrow, wide", "fewer than 32 processors, or at least 32"),
        ("SN, SW, LN, LW", "short narrow, short wide, long narrow, long wide jobs"),
        ("loss of capacity", "processor-seconds that idle although jobs wait that could use them"),
        ("EASY, conservative backfilling", "the scheduler beneath, which the paper does not name: two readings"),
        ("percent of all jobs", "a reading: so many of all jobs are sweeps, not of the jobs large enough for one"),
        (
            "processors given back in the last round",
            "a reading: a sweep gives up each processor that has no more tasks",
        ),
        ("a copy in every queue", "a reading: at three sites, each queue holds the sweep's parallel job"),
    ),
    defaults=(
        ("EASY", "EASY"),
        ("conservative backfilling", "EASY"),
        ("percent of all jobs", "percent of the jobs of more than 8 processors"),
        ("processors given back in the last round", "a sweep holds them until its last task ends"),
        ("a copy in every queue", "only in the queue of the home site"),
    ),
    others=(
        ("Figures 1 to 3", "drawings: EASY, how a sweep becomes a job, and the schedulers above it"),
        ("Figures 21 to 23", "the paper shows the loss of capacity at three sites and claims nothing about it"),
    ),
)
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
BROAD = 760  # pixels, for bars that have the page to themselves
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


# Experiments -------------------------------------------------------------------------------------------------


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
    of the schemes.

    Returns
    -------
    DataFrame
        One row for each share (percent), load, scheme, seed, site and group of jobs: sweeps, other jobs, and these by
        class; the means turnaround_old, turnaround_new (s), slowdown_old, slowdown_new and, of the machine, loss_old,
        loss_new (processor-seconds), utilization_old, utilization_new, old being the same jobs under the local
        scheduler alone; turnaround_better, slowdown_better, loss_better: (old - new) / old in percent.
    """
    run = partial(_draw, traces, shares=shares or SHARES, schemes=schemes, **settings)
    data = grid(run, load=loads or LOADS, seed=range(seeds), words=f"shredding {traces[0].name}", progress=progress)
    names = ["share", "load", "scheme", "seed"]
    return data[[*names, *data.columns.drop(names)]]


def _draw(traces, load, seed, shares, schemes, local="easy", breakdown=BREAKDOWN, of="eligible", **options):
    """Compare schemes with the local scheduler alone, for one load and draw of the sweeps."""
    # The base is shaken with the draw, each site with its own seed: a single base would bring its luck into all draws.
    scaled = [trace.shake(SHAKE, len(traces) * seed + i).scale_load(load) for i, trace in enumerate(traces)]
    base, rows = [_base(simulate(trace, local)) for trace in scaled], []
    together = {"speeds": SPEEDS, "begins": [begin for begin, _ in MONTHS]} if len(traces) > 1 else {}
    for share in shares:
        marked = [trace.with_parameter_sweeps(share / 100, breakdown=breakdown, seed=seed, of=of) for trace in scaled]
        for scheme in schemes:
            sites = simulate_sites(marked, replace(SCHEMES[scheme], local=local, **options), **together)
            rows += [
                {"share": share, "scheme": scheme, "site": f"site {i + 1}", **row}
                for i, schedule in enumerate(sites)
                for row in _better(schedule, base[i])
            ]
    return pd.DataFrame(rows)


def _base(schedule):
    """Return the class of each job and the measures of a schedule without tasks, to compare one with tasks with."""
    return schedule.classes("kurian").to_numpy(), _measured(schedule)


def _measured(schedule):
    """Return turnaround (s) and slowdown of each job, loss of capacity (processor-seconds) and utilization."""
    turnaround, (procs, lasts) = schedule.end - schedule.submit, schedule.held
    return {
        "turnaround": turnaround,
        "slowdown": metrics.slowdown(turnaround, schedule.run),
        "loss": schedule.loss_of_capacity(),
        "utilization": np.average(procs, weights=lasts) / schedule.machine.procs,
    }


def _better(schedule, base):
    """Give, for each group of jobs, means without and with tasks, and by how many percent they fell."""
    (classes, before), after = base, _measured(schedule)
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
    """Replace each draw's improvement by its part of the improvement of a case's means (`ratios_of_means`)."""
    better = {name: 100 * (1 - ratios_of_means(data, f"{key}_new", f"{key}_old", by)) for key, name in IMPROVED.items()}
    return data.assign(**better)


# The figures of the paper ------------------------------------------------------------------------------------

THREE_SITES = "shredding over three sites"
IN_TEXT = {11: ("KUR-1", "KUR-3", "KUR-11", "KUR-13"), 14: ("KUR-2",)}  # claims that name no figure
GROUPS, BY_CLASS, LOSS = "sweeps and other jobs", "other jobs by class", "loss of capacity"
JOBS_SHOWN = {GROUPS: (SWEEPS, OTHERS), BY_CLASS: CLASSES, LOSS: (SWEEPS,)}  # the loss is the same for all
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
PUBLISHED = {
    11: {"turnaround": (-4,), "slowdown": (-4,)},
    15: {"turnaround": (-2.5,), "slowdown": (-10,)},
}


def _draw_improvements(number, scheme, what, share, runs):
    """Draw improvements against load, with a panel for each measure."""
    at_sites, panels = scheme == THREE_SITES, []
    (means, bar), now = _bars(runs.data, at_sites, what), runs.now
    rings = None if now is None else _bars(now, at_sites, what)[0]
    for key in ("loss",) if what == LOSS else ("turnaround", "slowdown"):
        better, published = IMPROVED[key], PUBLISHED.get(number, {}).get(key)
        published = pd.DataFrame({better: published}) if published else None
        width = BROAD if what == LOSS or at_sites else None  # otherwise two panels stand side by side
        panels.append(charts.bars(means, "load", better, color=bar, published=published, rings=rings, width=width))
    seeds = SITE_SEEDS if at_sites else SEEDS
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
        data = several(size, progress) if scheme == THREE_SITES else single(size, progress)
        chosen = data["group"].isin(JOBS_SHOWN[what]) & data["share"].isin([share] if share else SHARES)
        return data[chosen if scheme == THREE_SITES else chosen & (data["scheme"] == scheme)]

    about = f"Rebuild Figure {number}: {scheme}, {what}{f', {share} % sweeps' if share else ''}."
    by = ("share", "load", "group", *(("site",) if scheme == THREE_SITES else ()))
    keys = ("loss",) if what == LOSS else ("turnaround", "slowdown")
    measures = [f"{key}_{which}" for key in keys for which in ("old", "new")]
    draw = partial(_draw_improvements, number, scheme, what, share)
    more = {"claims": IN_TEXT[number]} if number in IN_TEXT else {}
    how = {"logs": (LOG,), "by": by, "measures": measures, "name": f"figure{number}", "about": about, **more}
    return rebuilt(f"Figure {number}", draw, (DRAWN,), **how)(run)


def _bars(data, at_sites, what):
    """Return the values of a figure's bars, and the column that tells the bars apart."""
    if at_sites and what == LOSS:
        means, bar = _averaged(data, ["site"]), "site"
    elif at_sites:  # sweeps first
        means, bar = _averaged(data, ["site", "group"]).sort_values("group", ascending=False, kind="stable"), "jobs"
        means[bar] = means["group"] + ", " + means["site"]
    elif what == LOSS:
        means, bar = _averaged(data, ["share"]), "sweeps"
        means[bar] = [f"{share} %" for share in means["share"]]
    else:
        means, bar = _averaged(data, ["group"]), "group"
        means[bar] = means[bar].replace(metrics.CLASS_WORDS)
    return means.assign(load=[f"{load:g}" for load in means["load"]]), bar


def _sites(runs):
    sites = [f"site {i + 1}: {pd.Timestamp(begin):%B %Y}, speed {SPEEDS[i]}" for i, (begin, _) in enumerate(MONTHS)]
    return f"{runs.title(LOG)}, three months as three sites of {PROCS} processors ({'; '.join(sites)})"


def _averaged(data, by):
    """Return the improvements of the means over the draws, and their intervals, for each load."""
    by = [*by, "load"]
    return over_seeds(of_means(data, by)[[*by, "seed", *IMPROVED.values()]], by)


OF_PAPER = tuple(
    _figure(number, *what, share)
    for what, numbers in NUMBERS.items()
    for number, share in zip(numbers, SHARES if len(numbers) > 1 else [None], strict=True)
)
figure4, figure5, figure6, figure7, figure8, figure9, figure10 = OF_PAPER[:7]
figure11, figure12, figure13, figure14, figure15, figure16, figure17 = OF_PAPER[7:14]
figure18, figure19, figure20, figure21, figure22, figure23 = OF_PAPER[14:]


# Beyond the paper --------------------------------------------------------------------------------------------

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
    plain, later, sites = [subset()], whole().between(*MONTHS[1]).head(JOBS), months()
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
    chart = charts.changes(
        rows,
        "of",
        "reading",
        "change",
        panel="jobs",
        interval=("low", "high"),
        title="What shredding changes (%), by reading",
        subtitle="blue is less than without shredding, orange is more",
    )
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


@rebuilt(
    "",
    _draw_readings,
    (CHOSEN, HOME_ONLY, DRAWN),
    logs=lambda size: (LOG, *OTHER_LOGS.get(size, ())),
    claims=("KUR-12a", "KUR-12b"),
    again=None,
)
def sensitivity(size: str, progress: bool) -> pd.DataFrame:
    """Tabulate what the paper leaves open: local scheduler, percent of what, which jobs, which machine, copies."""
    rows, seeds = [], READ_SEEDS[size]
    for reading, (traces, settings) in readings(size).items():
        data = draws(traces, seeds, (5,), (0.8,), (SHREDDING,), progress=progress, **settings)
        for (site, part), trace, speed in zip(data.groupby("site"), traces, SPEEDS, strict=False):
            means = _averaged(part, ["group"]).set_index("group").reindex([SWEEPS, OTHERS])  # nan: no such jobs
            row = {"reading": f"{reading}: {site}, speed {speed}" if len(traces) > 1 else reading, "jobs": len(trace)}
            for name, (group, better) in SUMMARY.items():
                row |= {f"{name}{end}": means.loc[group, f"{better}{end}"] for end in ("", "_low", "_high")}
            rows.append(row)
    return pd.DataFrame(rows)


FIGURES = (*OF_PAPER, sensitivity)


# Live --------------------------------------------------------------------------------------------------------

NAMES = (LOG, *OTHER_LOGS["full"])
RATIOS = {" : ".join(map(str, speeds)): speeds for speeds in (SPEEDS, (1, 1, 1), (1, 2, 4), (4, 2, 1))}
OF_SITE = WORDS | {"loss": "loss of capacity of the site"}
# The part of a day with which the picture opens: jobs and tasks have readable numbers.
OPENED = {"hour": 6, "hours": 6, "processor": 484, "processors": 20}
SPLIT = {SHREDDING: "Tasks of sweeps run in the holes", FLOODING: "All tasks of sweeps join the queue"}
COLUMNS = {IMPROVED[key]: f"{label}, better by (%)" for key, label in OF_SITE.items()}


def live(
    name: str = LOG,
    share: int = 20,
    breakdown: int = BREAKDOWN,
    load: float = 0.9,
    scheme: str = SHREDDING,
    local: str = "easy",
    sites: int = 1,
    speeds: tuple[int, ...] = SPEEDS,
    seed: int = 0,
    day: int = 10,
) -> tuple:
    """Draw a day of the first site with and without the tasks of sweeps, and what each site gains.

    The picture opens on six hours of some processors; it can be moved and zoomed.

    Parameters
    ----------
    name : str
        Log. Its jobs are simulated.
    share : int
        Sweeps (% of eligible jobs). Those of more than 8 processors are eligible.
    breakdown : int
        Tasks per processor of a sweep. A task takes the job's run time divided by this number.
    load : float
        Offered load. Run times are scaled to it.
    scheme : {"shredding", "flooding"}
        Scheme. What becomes of sweeps: tasks run in holes of the schedule, or all of them join the queue.
    local : {"easy", "conservative"}
        Local scheduler. What starts the jobs: EASY or, without flooding, conservative backfilling.
    sites : int
        Sites. Each takes the next part of the log, with the same number of jobs.
    speeds : tuple of int
        Relative speeds of the sites. At least one for each site.
    seed : int
        Draw of the sweeps. Another seed makes other jobs into sweeps.
    day : int
        Day drawn. The first submission is on day 0; days begin at its time.
    """
    local = _local_of(scheme, local)
    traces, base = _sites_of(name, load, sites, local)
    marked = [trace.with_parameter_sweeps(share / 100, breakdown=breakdown, seed=seed) for trace in traces]
    schedules = simulate_sites(marked, replace(SCHEMES[scheme], local=local), speeds=speeds[:sites])
    begin = float(schedules[0].submit[0] + 86_400 * day)
    procs = schedules[0].machine.procs
    low = max(0, min(OPENED["processor"], procs - OPENED["processors"]))
    opened = begin + 3_600 * OPENED["hour"], begin + 3_600 * (OPENED["hour"] + OPENED["hours"])
    chart = charts.gantts(
        {"No sweep is split": simulate(marked[0], local), SPLIT[scheme]: schedules[0]},
        (begin, begin + 86_400),
        color="sweeps",
        label="job_number",
        opened=(opened, (low, min(procs, low + OPENED["processors"]) - 1)),
        title=f"{scheme.capitalize()} on day {day}{', site 1' * (sites > 1)}",
        subtitle=f"{marked[0].title}, {len(marked[0]):,} jobs on {procs:,} processors",
    )
    rows = [
        {"site": f"{i + 1}, speed {speeds[i]}", **row}
        for i, (schedule, old) in enumerate(zip(schedules, base, strict=True))
        for row in _better(schedule, old)
    ]
    columns = ["group", *COLUMNS] if sites == 1 else ["site", "group", *COLUMNS]
    return chart, charts.table(
        pd.DataFrame(rows)[columns].replace({"group": metrics.CLASS_WORDS}).rename(columns=COLUMNS)
    )


def _local_of(scheme, local):
    """Return the local scheduler; conservative backfilling would have to reserve each of a flood of tasks."""
    return "easy" if scheme == FLOODING else local


def _limits(name, load, scheme, local, sites):
    """Say what the controls can do, as the limits of `widgets.live`."""
    trace = _sites_of(name, load, sites, _local_of(scheme, local))[0][0]
    submit = trace.table["submit_time"]
    days = -(-int(submit.iloc[-1] - submit.iloc[0]) // 86_400)  # what was submitted on the last one may run on then
    limits = {"day": days}
    if scheme == FLOODING:
        limits["local"] = "a flood of tasks is too many for reservations: EASY"
    return limits if sites > 1 else limits | {"speeds": "there is one site"}


live.limits = _limits
live.groups = {
    "workload": ["name", "share", "breakdown", "load", "sites", "speeds", "seed"],
    "scheme": ["scheme", "local"],
    "view": ["day"],
}


@remember(16)
def _sites_of(name, load, sites, local):
    """Return the traces of some sites at a load, and the measures of their schedules without tasks of sweeps."""
    trace = whole(name)
    submit = trace.table["submit_time"].to_numpy()
    ends = [*submit[: sites * JOBS : JOBS], submit[min(sites * JOBS, len(trace) - 1)]]
    traces = [trace.between(*ends[i : i + 2]).scale_load(load) for i in range(sites)]
    return traces, [_base(simulate(part, local)) for part in traces]


# The ledger --------------------------------------------------------------------------------------------------

BOTH = ("turnaround", "slowdown")
MUCH = 2  # times as much
HARDLY = 10  # percent by which other jobs change
STEADY = 2  # percent of the utilization, either way
CLAIMS = claims_of("kurian2003")
CASE = ["share", "load"]
OTHERS_PAY = (
    "under EASY only the head of the queue has a reservation, so jobs behind it wait for tasks to end; conservative "
    "backfilling promises every job a start."
)
MORE_SWEEPS = "The paper does not say which share of sweeps its best case has."
SLOW_SITE = "at the slow site short jobs wait for tasks, which last longest there."


def read(size: str, progress: bool = True) -> list[dict[str, pd.DataFrame]]:
    """Return the runs that the claims are about under each reading of the paper; that of the figures first.

    A quick run has only that one.

    Parameters
    ----------
    size : {"quick", "full"}
    progress : bool
        Show progress bars.

    Returns
    -------
    list of dict
        Of shredding and of flooding at one site, of shredding over three sites, and of shredding with users' estimates.
    """

    def under(readings, drawn, traces, seeds, scheme, **more):
        several = readings.items() if size == "full" else ()
        settings = {"schemes": (scheme,), "progress": progress, **more}
        return {AS_DRAWN: drawn, **{name: draws(traces, seeds, **settings, **options) for name, options in several}}

    seeds, plain, users = READ_SEEDS[size], [subset()], [subset(estimates="user")]
    data = single(size, progress)
    shredding, flooding = (data[data["scheme"] == scheme] for scheme in (SHREDDING, FLOODING))
    inaccurate = draws(users, seeds, schemes=(SHREDDING,), progress=progress)
    return [
        under(VARIED, shredding, plain, seeds, SHREDDING),
        under(FLOODING_VARIED, flooding, plain, seeds, FLOODING),
        under(SITES_VARIED, several(size, progress), months(), SITE_SEEDS[size], SHREDDING, loads=SITE_LOADS[size]),
        under(VARIED, inaccurate, users, seeds, SHREDDING),
    ]


@claimed
def claims(size: str, progress: bool) -> list[dict]:
    """Return the ledger of the paper's claims."""
    rows = []
    for name, (check, more) in _tested(*read(size, progress)).items():
        details = " ".join([*[HOME_ONLY] * name.startswith("KUR-10"), CHOSEN, DRAWN])
        rows.append(judged(CLAIMS[name], check, subset().title, details=details, **more))
    return [_divided(), *rows]


def _tested(shredding, flooding, sites, users):
    """Return, for each claim but the first, its check under each reading, and what else `judged` takes."""
    few = {reading: data[data["share"] == SHARES[0]] for reading, data in shredding.items()}
    more = {reading: data[data["share"] > SHARES[0]] for reading, data in shredding.items()}
    plain, flooded, pays = shredding[AS_DRAWN], flooding[AS_DRAWN], {"conjecture": OTHERS_PAY}
    best = {key: {"others": [_gains(plain, key)], "why": _best_words(plain, key)} for key in ("slowdown", "loss")}
    best["loss"]["why"] += f" {MORE_SWEEPS}"
    sometimes = _under(shredding, _sometimes_better)
    return {
        "KUR-1": (_under(shredding, _up_to, "slowdown", 70), best["slowdown"]),
        "KUR-2": (_under(shredding, _up_to, "loss", 21), best["loss"]),
        "KUR-3": (_under(few, _not_worse, [OTHERS], 4), pays),
        "KUR-4a": (_under(few, _not_worse, CLASSES, 2.5, "turnaround"), pays),
        "KUR-4b": (_under(few, _not_worse, CLASSES, 10, "slowdown"), pays),
        "KUR-5a": (_under(more, _not_worse, [OTHERS], HARDLY), pays),
        "KUR-5b": (_under(more, _not_worse, CLASSES, HARDLY), pays),
        "KUR-6a": (_under(flooding, _gains, *BOTH), {}),
        "KUR-6b": (_under(flooding, _gains, "loss"), {}),
        "KUR-6c": (_under(flooding, _improvement, [OTHERS], BOTH, "lower"), {}),
        "KUR-7": (
            _under(flooding, _slowdown_suffers_more),
            {"others": [_improvement(flooded, [OTHERS], BOTH[:1], "lower")]},
        ),
        "KUR-8a": (_under(flooding, _shrinks, "share", BOTH), {}),
        "KUR-8b": (_under(flooding, _shrinks, "load", BOTH[:1]), {}),
        "KUR-9": (_under(flooding, _narrow_suffer_most), {}),
        "KUR-10a": (_under(sites, _gains_everywhere), {"others": [_gains(sites[AS_DRAWN], "loss")]}),
        "KUR-10b": (_under(sites, _hardly_change), {"conjecture": SLOW_SITE}),
        "KUR-11": (sometimes, {"measured": _best_case(sometimes[AS_DRAWN])}),
        "KUR-12a": (_under(users, _gains, *BOTH), {"others": [_gains(users[AS_DRAWN], "loss")]}),
        "KUR-12b": (_under(users, _not_worse, [OTHERS], HARDLY), pays),
        "KUR-13": (_under(shredding, _same_utilization), {"others": [_same_utilization(flooded, FLOODING)]}),
    }


def _under(readings, check, *settings):
    return {reading: check(data, *settings) for reading, data in readings.items()}


def wrong_tasks(schedule: Schedule) -> list[str]:
    """List where the tasks that ran in a schedule differ from the paper's definition."""
    table = schedule.sweeps()
    tasks, length, wanted = table["tasks"], table["run_time"] / BREAKDOWN, BREAKDOWN * table["procs"]
    rounds = np.ceil((wanted - tasks) / table["procs"])  # of the parallel job, with what is left
    missing = (tasks != table["tasks_alone"]) | ~np.isclose(table["parallel_time"], rounds * length)
    as_long = np.isclose(table["shortest"], length) & np.isclose(table["longest"], length)
    faults = {
        "the number of tasks differs": missing,
        "tasks held several processors": table["tasks_procs"] != tasks,
        "tasks were longer or shorter": (tasks > 0) & ~as_long,
    }
    if schedule.scheme.flooding:  # only tasks run
        faults["the number of tasks differs"] |= tasks != wanted
        faults["the processor-seconds differ"] = ~np.isclose(table["tasks_area"], table["procs"] * table["run_time"])
    return [f"{schedule.scheme.label}: in {wrong.sum()} sweeps {what}" for what, wrong in faults.items() if wrong.any()]


def _divided():
    """Check the tasks that ran in schedules of flooding and of shredding."""
    trace = subset().scale_load(LOADS[-1]).with_parameter_sweeps(SHARES[0] / 100, breakdown=BREAKDOWN, seed=0)
    flooded, shredded = (simulate(trace, SCHEMES[scheme]) for scheme in (FLOODING, SHREDDING))
    wrong = wrong_tasks(flooded) + wrong_tasks(shredded)
    ran, some = flooded.sweeps(), shredded.sweeps()
    measured = f"{len(ran)} sweeps of {ran['procs'].sum():,} processors: {ran['tasks'].sum():,} tasks ran"
    details = (
        f"Counted in schedules at load {LOADS[-1]:g}. Under flooding all tasks ran separately; under shredding "
        f"{some['tasks'].sum():,} of them did, and the others ran in {(some['parallel_time'] > 0).sum()} parallel jobs."
    )
    return exact(CLAIMS["KUR-0"], not wrong, measured, trace.title, "; ".join(wrong), details)


def _best_words(data, key):
    sweeps = data[data["group"] == SWEEPS]
    best, by_share = (sweeps.groupby(by)[IMPROVED[key]].max() for by in (["seed"], ["share", "seed"]))
    by_share = by_share.groupby("share").mean()
    shares = ", ".join(f"{value:.0f} % with {share} % sweeps" for share, value in by_share.items())
    return (
        f"The paper's number is the best case of one draw. Here the best cases of single draws are {best.min():.0f} to "
        f"{best.max():.0f} % (on average {shares})."
    )


def _runs(data, groups, keys):
    """Return improvements as the runs of a check: a value for each case, measure, group and seed."""
    by = [name for name in (*CASE, "site", "group") if name in data]
    parts = of_means(data[data["group"].isin(groups)], by)
    runs = [parts[[*by, "seed"]].assign(measure=WORDS[key], value=parts[IMPROVED[key]]) for key in keys]
    return pd.concat(runs, ignore_index=True)


def _told_apart(runs):
    """Leave out columns that tell no cases apart."""
    return runs.drop(columns=[name for name in runs if name not in ("seed", "value") and runs[name].nunique() < 2])


def _up_to(data, key, published):
    """Check that the best case of a draw is the published one."""
    best = data[data["group"] == SWEEPS].groupby("seed")[IMPROVED[key]].max().rename("value").reset_index()
    return Check(f"{WORDS[key]} in the best case of a draw", best, "is", published, single=True)


def _improvement(data, groups, keys, *expected, **more):
    """Check the improvements of some groups."""
    whose = groups[0] if len(groups) == 1 else "each class"
    quantity = f"improvement of the {' and '.join(WORDS[key] for key in keys)}"
    quantity += "" if keys == ("loss",) else f" of {whose}"
    return Check(quantity, _told_apart(_runs(data, groups, keys)), *expected, **more)


def _gains(data, *keys, **more):
    """Check that sweeps gain."""
    return _improvement(data, [SWEEPS], keys, "higher", **more)


def _gains_everywhere(data):
    return _gains(data, *BOTH, every=True)


def _not_worse(data, groups, most, *keys):
    """Check that no group loses more than some percent in any case."""
    return _improvement(data, groups, keys or BOTH, "not lower", -most, every=True)


def _hardly_change(data):
    """Check that other jobs neither gain nor lose more than some percent in any case."""
    return _improvement(data, [OTHERS], BOTH, "within", (-HARDLY, HARDLY), every=True)


def _slowdown_suffers_more(flooding):
    parts = of_means(flooding[flooding["group"] == OTHERS], CASE)
    beyond = parts[[*CASE, "seed"]].assign(value=parts["slowdown_better"] - MUCH * parts["turnaround_better"])
    quantity = f"improvement of the slowdown of other jobs less {MUCH} times that of their turnaround"
    return Check(quantity, _told_apart(beyond), "lower")


def _shrinks(flooding, along, keys):
    """Check the steps of the sweeps' gains from share to share, or from load to load, within the draws."""
    runs = _runs(flooding, [SWEEPS], keys).sort_values([*CASE, "seed"])
    others = [name for name in runs if name not in (along, "value")]
    steps = runs.assign(value=runs.groupby(others)["value"].diff())
    return Check(f"gain of sweeps less that with the next lower {along}", _told_apart(steps.dropna()), "lower")


def _narrow_suffer_most(flooding):
    """Compare the short narrow jobs with each other class, within the draws."""
    runs = _runs(flooding, CLASSES, BOTH)
    narrow, wide = runs[runs["group"] == "SN"], runs[runs["group"] != "SN"]
    pairs = wide.merge(narrow, on=[name for name in runs if name not in ("group", "value")], suffixes=("", "_narrow"))
    apart = pairs.assign(value=pairs["value_narrow"] - pairs["value"]).drop(columns=["value_narrow", "group_narrow"])
    return Check("improvement of short narrow jobs less that of other classes", _told_apart(apart), "lower", every=True)


def _sometimes_better(data):
    return _improvement(data, [OTHERS], BOTH, "higher", some=True)


def _best_case(check):
    return f"{check.quantity}, in the best case: {check.written(int(check.cases['value'].argmax()))}"


def _same_utilization(data, of=SHREDDING):
    """Check that utilization hardly changes."""
    data = data[data["group"] == OTHERS]  # it is that of the machine
    value = 100 * (ratios_of_means(data, "utilization_new", "utilization_old", CASE) - 1)
    runs = _told_apart(data[[*CASE, "seed"]].assign(value=value.round(9)))  # or sums in another order would differ
    return Check(f"change of the utilization by {of}", runs, "within", (-STEADY, STEADY), every=True)
