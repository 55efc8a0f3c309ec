"""Kurian, Balaji and Sadayappan: opportune job shredding, which runs tasks of sweeps in the holes of a schedule."""

from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from schedlab import charts, metrics
from schedlab.schedule import Schedule
from schedlab.schemes import EASY, Conservative, Flooding, OpportuneShredding
from schedlab.simulation import simulate, simulate_sites
from schedlab.statistics import over_seeds
from schedlab.workload.trace import Trace

from .core import log_or_standin, standing_in
from .figure import Figure, chosen_size, ledger, spread, watched

TITLE = "Opportune job shredding (Kurian, Balaji and Sadayappan)"
LOG, PROCS, JOBS = "CTC-SP2-1996", 512, 5_000
MONTHS = (("1996-07-01", "1996-08-01"), ("1996-08-01", "1996-09-01"), ("1996-09-01", "1996-10-01"))
SPEEDS = (2, 1, 3)
BREAKDOWN = 10
SHARES = (5, 10, 20)  # percent of the eligible jobs
LOADS = (0.6, 0.7, 0.8, 0.9)
SEEDS = {"quick": 4, "full": 20}
FLOODING, SHREDDING = "flooding", "shredding"
SCHEMES = {FLOODING: Flooding(), SHREDDING: OpportuneShredding()}
SWEEPS, OTHERS = "sweeps", "other jobs"
CLASSES = ("SN", "SW", "LN", "LW")
IMPROVED = {"turnaround": "turnaround_better", "slowdown": "slowdown_better", "loss": "loss_better"}
BETTER = "Above zero is better than without shredding: (old - new) / old. "


def subset(procs: int | None = None, estimates: str = "exact") -> Trace:
    """Give the jobs of the single-site experiments: the first of the log, with exact estimates, on 512 processors."""
    return _prepared(log_or_standin(LOG), procs or PROCS, estimates).head(JOBS)


def months() -> list[Trace]:
    """Give the three sites of the other experiments: July, August and September 1996 of the log."""
    trace = _prepared(log_or_standin(LOG), PROCS, "exact")
    return [trace.between(*month) for month in MONTHS]


def _prepared(trace, procs, estimates):
    trace = trace.with_procs(procs).cut_at_estimates()
    return trace if estimates == "user" else trace.with_estimates(estimates)


# One site ----------------------------------------------------------------------------------------------------


def single(size: str, progress: bool = True) -> pd.DataFrame:
    """Compare flooding and shredding with plain EASY on the subset, for every share, load and draw of the sweeps.

    Returns
    -------
    DataFrame
        One row for each share (percent), load, scheme, seed and group of jobs: sweeps, other jobs, and these by class;
        turnaround_better, slowdown_better and, of the machine, loss_better: (old - new) / old in percent, old being
        the same jobs under EASY.
    """
    return _single(SEEDS[chosen_size(size)], SHARES, LOADS, tuple(SCHEMES), progress)


@lru_cache(maxsize=4)
def _single(seeds, shares, loads, schemes, progress):
    return experiment(subset(), seeds, shares, loads, schemes, progress=progress)


def experiment(
    trace: Trace,
    seeds: int,
    shares=SHARES,
    loads=LOADS,
    schemes=tuple(SCHEMES),
    *,
    breakdown: int = BREAKDOWN,
    of: str = "eligible",
    local: str = "easy",
    progress: bool = True,
    **options,
) -> pd.DataFrame:
    """Do what `single` does, for any trace and reading; the options are the scheme's."""
    scaled = {load: trace.scale_load(load) for load in loads}
    base = {load: _measured(simulate(one, LOCAL[local])) for load, one in scaled.items()}

    def rows(run):
        load, share, seed, scheme = run
        marked = scaled[load].with_sweeps(share / 100, breakdown=breakdown, seed=seed, of=of)
        schedule = simulate(marked, type(SCHEMES[scheme])(local=local, **options))
        about = {"share": share, "load": load, "scheme": scheme, "seed": seed}
        return [{**about, **row} for row in _better(schedule, base[load])]

    runs = list(product(loads, shares, range(seeds), schemes))
    done = watched(spread(rows, runs), len(runs), f"shredding {trace.name}", progress)
    return pd.DataFrame([row for several in done for row in several])


LOCAL = {"easy": EASY(), "conservative": Conservative()}


class Base(NamedTuple):
    """What a schedule without tasks is compared by: by job its class and measures, and the loss of capacity."""

    classes: np.ndarray
    measures: dict[str, np.ndarray]
    loss: float


def _measured(base: Schedule) -> Base:
    return Base(metrics.classes(base.jobs, "kurian").to_numpy(), _by_job(base), base.loss_of_capacity())


def _by_job(schedule):
    turnaround = schedule.end - schedule.submit
    return {"turnaround": turnaround, "slowdown": metrics.slowdown(turnaround, schedule.run)}


def _better(schedule: Schedule, base: Base):
    """Give, for each group of jobs, by how many percent its means fell."""
    sweep = schedule.trace.table["breakdown"].to_numpy() > 0
    groups = {SWEEPS: sweep, OTHERS: ~sweep, **{name: ~sweep & (base.classes == name) for name in CLASSES}}
    new, old = _by_job(schedule), base.measures
    lost = _percent(schedule.loss_of_capacity(), base.loss)
    for group, chosen in groups.items():
        if chosen.any():
            means = {IMPROVED[key]: _percent(new[key][chosen].mean(), old[key][chosen].mean()) for key in new}
            yield {"group": group, **means, IMPROVED["loss"]: lost}


def _percent(new, old):
    return 100 * (old - new) / old if old else np.nan


# The figures -------------------------------------------------------------------------------------------------


def _draws(size):
    few = " (quick; SIZE=full for 20)" if size == "quick" else ""
    return f"{SEEDS[size]} draws of the sweeps{few}; lines: 95 % intervals over the draws. The paper has one draw."


def _averaged(data, by):
    return over_seeds(data, [*by, "load"])


def _panels(data, color, keys, title, subtitle):
    shown = data.assign(load=[f"{load:g}" for load in data["load"]])
    return charts.stacked(
        [
            charts.bars(shown, "load", IMPROVED[key], color=color, title=title if i == 0 else "", subtitle=subtitle)
            for i, key in enumerate(keys)
        ]
    )


def _of_groups(number, scheme, share, groups, words):
    """Make the function that rebuilds one of the figures of the single site."""

    def figure(size: str | None = None, progress: bool = True) -> Figure:
        size = chosen_size(size)
        data = single(size, progress)
        data = data[(data["scheme"] == scheme) & (data["share"] == share) & data["group"].isin(groups)]
        means = _averaged(data, ["group"])
        title = f"{scheme.capitalize()}, {share} % sweeps: {words}"
        return Figure(
            name=f"figure{number}",
            title=f"Figure {number}: {title[0].lower()}{title[1:]}",
            caption=f"{BETTER}{EXPECTED[scheme, words]} {_draws(size)}",
            data=data,
            chart=_panels(means, "group", ("turnaround", "slowdown"), title, _about_single()),
            notes=standing_in([LOG]),
        )

    return _named(figure, number, f"{scheme}, {share} % sweeps, {words}")


def _of_loss(number, scheme):
    def figure(size: str | None = None, progress: bool = True) -> Figure:
        size = chosen_size(size)
        data = single(size, progress)
        data = data[(data["scheme"] == scheme) & (data["group"] == SWEEPS)]
        means = _averaged(data, ["share"])
        means["sweeps"] = [f"{share} %" for share in means["share"]]
        title = f"{scheme.capitalize()}: loss of capacity"
        return Figure(
            name=f"figure{number}",
            title=f"Figure {number}: {title[0].lower()}{title[1:]}",
            caption=f"{BETTER}The loss is what idles while jobs wait that could use it. {_draws(size)}",
            data=data,
            chart=_panels(means, "sweeps", ("loss",), title, _about_single()),
            notes=standing_in([LOG]),
        )

    return _named(figure, number, f"{scheme}, loss of capacity")


def _named(figure, number, words):
    figure.__name__ = figure.__qualname__ = f"figure{number}"
    figure.__doc__ = f"Rebuild Figure {number}: {words}."
    return figure


def _about_single():
    return f"{subset().title}, first {JOBS:,} jobs, {PROCS} processors, run times scaled to the load, exact estimates"


GROUPS, BY_CLASS, LOSS = "sweeps and other jobs", "other jobs by class", "loss of capacity"
EXPECTED = {
    (FLOODING, GROUPS): "In the paper sweeps gain, and other jobs pay, in slowdown far more than in turnaround.",
    (SHREDDING, GROUPS): "In the paper sweeps gain, and the other jobs hardly notice.",
    (FLOODING, BY_CLASS): "In the paper short and narrow jobs suffer most.",
    (SHREDDING, BY_CLASS): "In the paper no class loses more than some percent.",
}
figure4, figure5, figure6 = (
    _of_groups(n, FLOODING, share, (SWEEPS, OTHERS), GROUPS) for n, share in zip((4, 5, 6), SHARES, strict=True)
)
figure7 = _of_loss(7, FLOODING)
figure8, figure9, figure10 = (
    _of_groups(n, FLOODING, share, CLASSES, BY_CLASS) for n, share in zip((8, 9, 10), SHARES, strict=True)
)
figure11, figure12, figure13 = (
    _of_groups(n, SHREDDING, share, (SWEEPS, OTHERS), GROUPS) for n, share in zip((11, 12, 13), SHARES, strict=True)
)
figure14 = _of_loss(14, SHREDDING)
figure15, figure16, figure17 = (
    _of_groups(n, SHREDDING, share, CLASSES, BY_CLASS) for n, share in zip((15, 16, 17), SHARES, strict=True)
)


# Several sites -----------------------------------------------------------------------------------------------


def several(size: str, progress: bool = True) -> pd.DataFrame:
    """Compare shredding over three sites with three sites that do not help one another, as `single` does.

    Returns
    -------
    DataFrame
        As of `single`, with a column site; the groups are sweeps and other jobs.
    """
    return _several(SEEDS[chosen_size(size)], progress)


@lru_cache(maxsize=2)
def _several(seeds, progress):
    traces = months()
    scaled = {load: [trace.scale_load(load) for trace in traces] for load in LOADS}
    base = {load: [_measured(simulate(trace, EASY())) for trace in several] for load, several in scaled.items()}

    def rows(run):
        load, share, seed = run
        marked = [trace.with_sweeps(share / 100, breakdown=BREAKDOWN, seed=seed) for trace in scaled[load]]
        sites = simulate_sites(marked, OpportuneShredding(), speeds=SPEEDS, begins=[begin for begin, _ in MONTHS])
        return [
            {"share": share, "load": load, "seed": seed, "site": _site(i), **row}
            for i, schedule in enumerate(sites)
            for row in _better(schedule, base[load][i])
            if row["group"] in (SWEEPS, OTHERS)
        ]

    runs = list(product(LOADS, SHARES, range(seeds)))
    done = watched(spread(rows, runs), len(runs), "three sites", progress)
    return pd.DataFrame([row for several in done for row in several])


def _site(i):
    return f"site {i + 1}"


def _of_sites(number, share):
    def figure(size: str | None = None, progress: bool = True) -> Figure:
        size = chosen_size(size)
        data = several(size, progress)
        data = data[data["share"] == share]
        means = _averaged(data, ["site", "group"]).sort_values("group", ascending=False, kind="stable")  # sweeps first
        means["jobs"] = means["group"] + ", " + means["site"]
        title = f"Shredding over three sites, {share} % sweeps"
        return Figure(
            name=f"figure{number}",
            title=f"Figure {number}: {title[0].lower()}{title[1:]}",
            caption=f"{BETTER}In the paper sweeps gain at every site, and the others hardly notice. {_draws(size)}",
            data=data,
            chart=_panels(means, "jobs", ("turnaround", "slowdown"), title, _about_sites()),
            notes=standing_in([LOG]),
        )

    return _named(figure, number, f"three sites, {share} % sweeps")


def _of_loss_at_sites(number, share):
    def figure(size: str | None = None, progress: bool = True) -> Figure:
        size = chosen_size(size)
        data = several(size, progress)
        data = data[(data["share"] == share) & (data["group"] == SWEEPS)]
        means = _averaged(data, ["site"])
        title = f"Shredding over three sites, {share} % sweeps: loss of capacity"
        return Figure(
            name=f"figure{number}",
            title=f"Figure {number}: {title[0].lower()}{title[1:]}",
            caption=f"{BETTER}{_draws(size)}",
            data=data,
            chart=_panels(means, "site", ("loss",), title, _about_sites()),
            notes=standing_in([LOG]),
        )

    return _named(figure, number, f"three sites, {share} % sweeps, loss of capacity")


def _about_sites():
    sites = ", ".join(f"{_site(i)} {pd.Timestamp(MONTHS[i][0]):%B %Y} at speed {SPEEDS[i]}" for i in range(len(SPEEDS)))
    return f"{subset().title}, three months as three sites of {PROCS} processors: {sites}"


figure18, figure19, figure20 = (_of_sites(n, share) for n, share in zip((18, 19, 20), SHARES, strict=True))
figure21, figure22, figure23 = (_of_loss_at_sites(n, share) for n, share in zip((21, 22, 23), SHARES, strict=True))


# Beyond the paper --------------------------------------------------------------------------------------------


def sensitivity(size: str | None = None, progress: bool = True) -> Figure:
    """Tabulate what the paper leaves open: which jobs, which machine, percent of what, which local scheduler."""
    size = chosen_size(size)
    seeds = SEEDS[size]
    rows = []
    for reading, (trace, settings) in readings().items():
        data = experiment(trace, seeds, (5,), (0.8,), (SHREDDING,), progress=progress, **settings)
        rows.append({"reading": reading, "jobs": len(trace), **_summary(data)})
    data = pd.DataFrame(rows)
    return Figure(
        name="sensitivity",
        title="What the paper does not say",
        caption=(
            f"Shredding at load 0.8 with 5 % sweeps: means over {seeds} draws of what each reading gains (percent; "
            "above zero is better)." + (" Quick; SIZE=full for 20." if size == "quick" else "")
        ),
        data=data,
        table=data,
        notes=standing_in([LOG, *OTHER_LOGS]),
    )


OTHER_LOGS = ("HPC2N-2002", "SDSC-SP2-1998", "SDSC-BLUE-2000")


def readings() -> dict:
    """Give traces and settings of the experiment by what is read differently."""
    whole = _prepared(log_or_standin(LOG), PROCS, "exact")
    plain = whole.head(JOBS)
    later = whole.between(*MONTHS[1]).head(JOBS)
    others = {
        f"the first {JOBS:,} jobs of {name}": _prepared(trace, trace.procs, "exact").head(JOBS)
        for name in OTHER_LOGS
        for trace in [log_or_standin(name)]
    }
    return {
        "as in the figures": (plain, {}),
        "percent of all jobs, not of the eligible": (plain, {"of": "all"}),
        "430 processors": (subset(procs=430), {}),
        "338 processors": (subset(procs=338), {}),
        f"the first {len(later):,} jobs of August 1996": (later, {}),
        "conservative backfilling": (plain, {"local": "conservative"}),
        "processors given back in the last round": (plain, {"release": True}),
        "users' estimates": (subset(estimates="user"), {}),
        **{f"{b} tasks for each processor": (plain, {"breakdown": b}) for b in (2, 5, 50, 100)},
        **{name: (trace, {}) for name, trace in others.items()},
    }


def _summary(data):
    means = data.groupby("group")[list(IMPROVED.values())].mean().reindex([SWEEPS, OTHERS])  # nan where there are none
    return {
        "sweeps: turnaround": means.loc[SWEEPS, IMPROVED["turnaround"]],
        "sweeps: slowdown": means.loc[SWEEPS, IMPROVED["slowdown"]],
        "other jobs: turnaround": means.loc[OTHERS, IMPROVED["turnaround"]],
        "other jobs: slowdown": means.loc[OTHERS, IMPROVED["slowdown"]],
        "loss of capacity": means.loc[SWEEPS, IMPROVED["loss"]],
    }



# Live --------------------------------------------------------------------------------------------------------


def live(
    name: str = LOG,
    share: int = 20,
    breakdown: int = BREAKDOWN,
    load: float = 0.9,
    scheme: str = SHREDDING,
    sites: int = 1,
    speeds: tuple[int, ...] = SPEEDS,
    seed: int = 0,
    day: int = 10,
    hour: int = 6,
    hours: int = 6,
    first: int = 480,
    shown: int = 32,
) -> tuple:
    """Draw some hours on some processors of the first site, with the tasks of sweeps, and what each site gains.

    Parameters
    ----------
    name : str
        The log that the jobs are from.
    share : int
        Percent of the eligible jobs that are sweeps.
    breakdown : int
        Tasks for each processor of a sweep.
    load : float
        Offered load to scale run times to.
    scheme : {"shredding", "flooding"}
        What becomes of sweeps: tasks run in holes of the schedule, or all of them join the queue.
    sites : int
        How many sites there are; each has as many of the log's jobs, one after the other.
    speeds : tuple of int
        How fast the sites are compared with each other, at least as many as there are sites.
    seed : int
        Of the draw that makes jobs into sweeps.
    day, hour : int
        When the picture begins: so many days and hours after the first submission.
    hours : int
        How many hours the picture spans.
    first : int
        The lowest processor in the picture.
    shown : int
        How many processors are in the picture.

    Returns
    -------
    chart, table
    """
    traces, base = _sites_of(name, load, sites)
    marked = [trace.with_sweeps(share / 100, breakdown=breakdown, seed=seed) for trace in traces]
    found = simulate_sites(marked, SCHEMES[scheme], speeds=speeds[:sites])
    begin = float(found[0].submit[0] + 86_400 * day + 3_600 * hour)
    procs = found[0].machine.procs
    shown = min(shown, procs)
    first = min(first, procs - shown)
    chart = charts.gantt(
        found[0],
        (begin, begin + 3_600 * hours),
        color="sweeps",
        label="job_number",
        processors=(first, first + shown - 1),
        title=f"{scheme.capitalize()}: {hours} hours on {shown} of {procs} processors{', site 1' * (sites > 1)}",
    )
    rows = [
        {**({"site": f"{i + 1}, speed {speeds[i]}"} if sites > 1 else {}), **row}
        for i, (schedule, old) in enumerate(zip(found, base, strict=True))
        for row in _better(schedule, old)
    ]
    names = {IMPROVED[key]: f"{words}, better by (%)" for key, words in WORDS.items()}
    return chart, charts.table(pd.DataFrame(rows).rename(columns=names))


LABELS = {
    "name": "log",
    "share": "sweeps (% of eligible jobs)",
    "breakdown": "tasks per processor of a sweep",
    "load": "offered load",
    "scheme": "scheme",
    "sites": "sites",
    "speeds": "speeds of the sites",
    "seed": "draw of the sweeps",
    "day": "from day",
    "hour": "from hour of the day",
    "hours": "hours shown",
    "first": "from processor",
    "shown": "processors shown",
}
WORDS = {"turnaround": "turnaround", "slowdown": "slowdown", "loss": "loss of capacity of the site"}
NAMES = (LOG, *OTHER_LOGS)
RATIOS = {" : ".join(map(str, speeds)): speeds for speeds in (SPEEDS, (1, 1, 1), (1, 2, 4), (4, 2, 1))}


@lru_cache(maxsize=16)
def _sites_of(name, load, sites):
    """Give the traces of some sites at a load, and the measures of their schedules under EASY."""
    trace = log_or_standin(name)
    whole = _prepared(trace, PROCS if name == LOG else trace.procs, "exact")
    submit = whole.table["submit_time"].to_numpy()
    ends = [*submit[: sites * JOBS : JOBS], submit[min(sites * JOBS, len(whole) - 1)]]
    traces = [whole.between(*ends[i : i + 2]).scale_load(load) for i in range(sites)]
    return traces, [_measured(simulate(one, EASY())) for one in traces]


FIGURES = (
    figure4,
    figure5,
    figure6,
    figure7,
    figure8,
    figure9,
    figure10,
    figure11,
    figure12,
    figure13,
    figure14,
    figure15,
    figure16,
    figure17,
    figure18,
    figure19,
    figure20,
    figure21,
    figure22,
    figure23,
    sensitivity,
)


# The ledger --------------------------------------------------------------------------------------------------


def claims(size: str | None = None, progress: bool = True) -> pd.DataFrame:
    """Give the ledger of the paper's claims."""
    size = chosen_size(size)
    one, three = single(size, progress), several(size, progress)
    columns = list(IMPROVED.values())
    draws = one.set_index(["scheme", "seed", "share", "load", "group"])[columns]
    shredding, flooding = draws.loc[SHREDDING], draws.loc[FLOODING].groupby(["share", "load", "group"]).mean()
    sweeps, share = shredding.xs(SWEEPS, level="group"), shredding.index.get_level_values("share")
    few, more = shredding[share == SHARES[0]], shredding[share > SHARES[0]]
    sites = three.groupby(["site", "share", "load", "group"])[columns].mean()
    tested = {
        "KUR-0": _tasks(),
        "KUR-1": _up_to(70, sweeps, "slowdown"),
        "KUR-2": _up_to(21, sweeps, "loss"),
        "KUR-3": _not_worse(few, [OTHERS], {"turnaround": 4, "slowdown": 4}),
        "KUR-4": _not_worse(few, CLASSES, {"turnaround": 2.5, "slowdown": 10}),
        "KUR-5": _not_worse(more, [OTHERS, *CLASSES], {"turnaround": 10, "slowdown": 10}),
        "KUR-6": _trade(flooding),
        "KUR-7": _slowdown_suffers_more(flooding),
        "KUR-8": _shrinks(flooding),
        "KUR-9": _narrow_suffer_most(flooding),
        "KUR-10": _at_every_site(sites),
    }
    return ledger([{**row, **tested[row["id"]], "trace": subset().title} for row in PUBLISHED])


PUBLISHED = tuple(
    {"id": f"KUR-{n}", "where": where, "statement": statement, "published": published}
    for n, (where, statement, published) in enumerate(
        (
            ("section 2", "a sweep of p processors for nT is p n tasks of T; n = 10", "10 p tasks"),
            ("section 5.2", "shredding improves the slowdown of sweeps", "by up to 70 %"),
            ("section 5.2", "shredding improves the loss of capacity", "by up to 21 %"),
            ("section 5.2", "shredding, 5 % sweeps: other jobs degrade in no case by more", "below 4 %"),
            ("Figure 15", "shredding, 5 % sweeps: no class degrades by more", "2.5 % turnaround, 10 % slowdown"),
            ("Figures 12, 13, 16, 17", "the same holds at 10 and 20 % sweeps", "do not suffer greatly"),
            ("Figures 4 to 7", "flooding improves sweeps and loss of capacity, clearly hurts other jobs", "in words"),
            ("Figures 4 to 6", "flooding: other jobs' slowdown suffers much more than their turnaround", "in words"),
            ("Figures 4 to 6", "flooding: sweeps gain less as their share grows, turnaround with load", "in words"),
            ("Figures 8 to 10", "flooding: short narrow jobs suffer most", "in words"),
            ("Figures 18 to 23", "three sites: sweeps gain at each, others hardly change, loss falls", "in words"),
        )
    )
)


def _tasks():
    trace = subset().with_sweeps(0.05, breakdown=BREAKDOWN, seed=0)
    sweeps = trace.table[trace.table["breakdown"] > 0]
    tasks = (sweeps["requested_procs"] * sweeps["breakdown"]).sum()
    holds = tasks == BREAKDOWN * sweeps["requested_procs"].sum()
    measured = f"{len(sweeps)} sweeps of {sweeps['requested_procs'].sum():,} processors, {tasks:,} tasks"
    return _found(holds, measured, "another number of tasks")


def _found(holds, measured, reason, otherwise="trend only"):
    return {"measured": measured, "verdict": "reproduced" if holds else otherwise, "reason": "" if holds else reason}


def _up_to(published, draws, key):
    """Compare the best case of the paper's one draw with the best cases of ours: is it one of the middle 90 %?"""
    draws = draws[IMPROVED[key]]
    best, means = draws.groupby(level="seed").max(), draws.groupby(["share", "load"]).mean()
    by_share = draws.groupby(["share", "seed"]).max().groupby("share").median()
    low, high = best.quantile([0.05, 0.95])
    measured = (
        f"best case of a draw {best.min():.1f} to {best.max():.1f} %, median {best.median():.1f} % "
        f"({', '.join(f'{value:.1f} % with {share} % sweeps' for share, value in by_share.items())}); "
        f"means over draws up to {_cases(means.nlargest(1))}"
    )
    reason = f"the best case is {published} % or less in {(best <= published).sum()} of {len(best)} draws"
    return _found(low <= published <= high, measured, reason, "trend only" if means.max() > 0 else "not reproduced")


def _not_worse(draws, groups, limits):
    """Tell whether no group loses more than some percent on average over the draws, and in how many draws."""
    draws = draws[draws.index.get_level_values("group").isin(groups)]
    means = draws.groupby(["share", "load", "group"]).mean()
    within = pd.concat([draws[IMPROVED[key]] > -limit for key, limit in limits.items()], axis=1).all(axis=1)
    kept = within.groupby(level="seed").all()
    checks = [(key, means[IMPROVED[key]], means[IMPROVED[key]] > -limit) for key, limit in limits.items()]
    why = f"; {kept.sum()} of {len(kept)} draws are within in every case. {WHY_OTHERS_LOSE}. {UNDER_CONSERVATIVE}"
    return _everywhere(checks, why)


WHY_OTHERS_LOSE = (
    "Only the head of the queue is promised anything. Short jobs behind it pay, and the mean slowdown is theirs: a "
    "serial one waits for a task to end, the longer the fewer tasks a sweep has; from one of several processors tasks "
    "take each that comes free, the more so the shorter they are"
)
UNDER_CONSERVATIVE = (
    "Under conservative backfilling, which promises everybody a start, little of this is left up to a load of 0.8 "
    "(sensitivity)"
)


def _everywhere(checks, why=""):
    """Tell whether something holds in every case: name, means and where it holds. Name the cases where it does not."""
    words, wrong = [], []
    for name, values, holds in checks:
        words.append(f"{name} {values.min():+.1f} to {values.max():+.1f} %")
        if not holds.all():
            wrong.append(f"{name} not in {(~holds).sum()} of {len(holds)} cases: {_cases(values[~holds])}")
    return _found(not wrong, "; ".join(words), "; ".join(wrong) + why)


def _cases(values):
    """Name the smallest three of some means, by what their index says."""
    named = [
        f"{value:+.1f} % ({', '.join(_word(*pair) for pair in zip(values.index.names, where, strict=True))})"
        for where, value in values.nsmallest(3).items()
    ]
    return ", ".join([*named, *[f"{len(values) - 3} more"] * (len(values) > 3)])


def _word(key, value):
    return f"{value} % sweeps" if key == "share" else f"load {value:g}" if key == "load" else str(value)


def _of_group(means, group):
    return means[means.index.get_level_values("group") == group].droplevel("group")


def _signs(means, least):
    """Give checks that sweeps gain, the loss falls, and other jobs' measures are as `least` says of them."""
    sweeps, others = (_of_group(means, group) for group in (SWEEPS, OTHERS))
    for key in ("turnaround", "slowdown"):
        yield f"{SWEEPS}' {key}", sweeps[IMPROVED[key]], sweeps[IMPROVED[key]] > 0
    for key in ("turnaround", "slowdown"):
        yield f"{OTHERS}' {key}", others[IMPROVED[key]], least(others[IMPROVED[key]])
    yield "loss", sweeps[IMPROVED["loss"]], sweeps[IMPROVED["loss"]] > 0


def _trade(flooding):
    return _everywhere(_signs(flooding, lambda values: values < 0))


def _at_every_site(sites):
    return _everywhere(_signs(sites, lambda values: values > -10), f". {WHY_OTHERS_LOSE}")


def _slowdown_suffers_more(flooding):
    turnaround, slowdown = (_of_group(flooding, OTHERS)[IMPROVED[key]] for key in ("turnaround", "slowdown"))
    return _everywhere(
        [("turnaround", turnaround, turnaround < 0), ("slowdown, twice that", slowdown, slowdown < 2 * turnaround)]
    )


def _shrinks(flooding):
    gains = _of_group(flooding, SWEEPS).sort_index()
    turnaround, slowdown = gains[IMPROVED["turnaround"]], gains[IMPROVED["slowdown"]]
    measured = "; ".join(
        f"{share} %: turnaround {', '.join(f'{value:.0f}' for value in values)} % by load"
        for share, values in turnaround.groupby(level="share")
    )
    steps = {
        "turnaround from share to share": turnaround.groupby(level="load").diff().dropna(),
        "slowdown from share to share": slowdown.groupby(level="load").diff().dropna(),
        "turnaround from load to load": turnaround.groupby(level="share").diff().dropna(),
    }
    return _everywhere((name, step, step < 0) for name, step in steps.items()) | {"measured": measured}


def _narrow_suffer_most(flooding):
    classes = flooding[flooding.index.get_level_values("group").isin(CLASSES)].reset_index()
    checks = []
    for key in ("turnaround", "slowdown"):
        by_class = classes.pivot_table(index=["share", "load"], columns="group", values=IMPROVED[key])
        checks.append((f"SN {key}", by_class["SN"], by_class.idxmin(axis=1) == "SN"))
    return _everywhere(checks)
