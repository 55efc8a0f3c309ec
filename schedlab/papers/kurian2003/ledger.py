"""The paper's claims: what must hold in the runs, under each reading of the paper."""

import numpy as np
import pandas as pd

from schedlab import Schedule, simulate
from schedlab.schedule.statistics import ratios_of_means

from ..checks import Check
from ..ledger import claimed, claims_of, exact, judged
from . import grids
from .figures import AS_DRAWN, CHOSEN, FLOODING_VARIED, HOME_ONLY, SITES_VARIED, VARIED
from .grids import BREAKDOWN, CLASSES, FLOODING, IMPROVED, OTHERS, SHARES, SHREDDING, SWEEPS, WORDS, several, subset

BOTH = ("turnaround", "slowdown")
MUCH = 2  # times as much
HARDLY = 10  # percent by which other jobs change
STEADY = 2  # percent of the utilization, either way
CLAIMS = claims_of("kurian2003")
BY = ["share", "load"]
OTHERS_PAY = (
    "under EASY only the head of the queue has a reservation, so jobs behind it wait for tasks to end; conservative "
    "backfilling promises every job a start."
)
MORE_SWEEPS = "The paper does not say which share of sweeps its best case has."
SLOW_SITE = "at the slow site short jobs wait for tasks, which last longest there."


def read(size: str, progress: bool = True) -> list[dict[str, pd.DataFrame]]:
    """Return the runs that the claims are about under each reading of the paper; that of the figures first.

    They are of shredding and of flooding at one site, of shredding over three sites, and of shredding with users'
    estimates. A quick run has only the reading of the figures.
    """

    def under(readings, drawn, traces, seeds, scheme, **more):
        several = readings if size == "full" else {}
        settings = {"schemes": (scheme,), "progress": progress, **more}
        others = {name: grids.draws(traces, seeds, **settings, **options) for name, options in several.items()}
        return {AS_DRAWN: drawn, **others}

    seeds, plain, users = grids.READ_SEEDS[size], [subset()], [subset(estimates="user")]
    loads = {"loads": grids.SITE_LOADS[size]}
    data = grids.single(size, progress)
    shredding, flooding = (data[data["scheme"] == scheme] for scheme in (SHREDDING, FLOODING))
    inaccurate = grids.draws(users, seeds, schemes=(SHREDDING,), progress=progress)
    return [
        under(VARIED, shredding, plain, seeds, SHREDDING),
        under(FLOODING_VARIED, flooding, plain, seeds, FLOODING),
        under(SITES_VARIED, several(size, progress), grids.months(), grids.SITE_SEEDS[size], SHREDDING, **loads),
        under(VARIED, inaccurate, users, seeds, SHREDDING),
    ]


@claimed
def claims(size: str, progress: bool) -> list[dict]:
    """Return the ledger of the paper's claims."""
    rows = []
    for name, (check, more) in _tested(*read(size, progress)).items():
        details = " ".join([*[HOME_ONLY] * name.startswith("KUR-10"), CHOSEN, grids.DRAWN])
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
    later = _improvement(flooded, [OTHERS], BOTH[:1], "lower")
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
        "KUR-7": (_under(flooding, _slowdown_suffers_more), {"others": [later]}),
        "KUR-8a": (_under(flooding, _shrinks, "share", BOTH), {}),
        "KUR-8b": (_under(flooding, _shrinks, "load", BOTH[:1]), {}),
        "KUR-9": (_under(flooding, _narrow_suffer_most), {}),
        "KUR-10a": (_under(sites, _gains_everywhere), {"others": [_gains(sites[AS_DRAWN], "loss")]}),
        "KUR-10b": (_under(sites, _hardly_change), {"conjecture": SLOW_SITE}),
        "KUR-11": (sometimes, {"measured": _best(sometimes[AS_DRAWN])}),
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
    trace = subset().scale_load(grids.LOADS[-1]).with_parameter_sweeps(SHARES[0] / 100, breakdown=BREAKDOWN, seed=0)
    flooded, shredded = (simulate(trace, grids.SCHEMES[scheme]) for scheme in (FLOODING, SHREDDING))
    wrong = wrong_tasks(flooded) + wrong_tasks(shredded)
    ran, some = flooded.sweeps(), shredded.sweeps()
    measured = f"{len(ran)} sweeps of {ran['procs'].sum():,} processors: {ran['tasks'].sum():,} tasks ran"
    details = (
        f"Counted in schedules at load {grids.LOADS[-1]:g}. Under flooding all tasks ran separately; under shredding "
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
    """Return improvements as the runs of a check: a value for each share, load, measure, group and seed."""
    by = [name for name in (*BY, "site", "group") if name in data]
    parts = grids.of_means(data[data["group"].isin(groups)], by)
    runs = [parts[[*by, "seed"]].assign(measure=WORDS[key], value=parts[IMPROVED[key]]) for key in keys]
    return pd.concat(runs, ignore_index=True)


def _told_apart(runs):
    """Leave out columns that tell no conditions apart."""
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
    parts = grids.of_means(flooding[flooding["group"] == OTHERS], BY)
    beyond = parts[[*BY, "seed"]].assign(value=parts["slowdown_better"] - MUCH * parts["turnaround_better"])
    quantity = f"improvement of the slowdown of other jobs less {MUCH} times that of their turnaround"
    return Check(quantity, _told_apart(beyond), "lower")


def _shrinks(flooding, along, keys):
    """Check the steps of the sweeps' gains from share to share, or from load to load, within the draws."""
    runs = _runs(flooding, [SWEEPS], keys).sort_values([*BY, "seed"])
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


def _best(check):
    return f"{check.quantity}, in the best case: {check.written(int(check.conditions['value'].argmax()))}"


def _same_utilization(data, of=SHREDDING):
    """Check that utilization hardly changes."""
    data = data[data["group"] == OTHERS]  # it is that of the machine
    value = 100 * (ratios_of_means(data, "utilization_new", "utilization_old", BY) - 1)
    runs = _told_apart(data[[*BY, "seed"]].assign(value=value.round(9)))  # or sums in another order would differ
    return Check(f"change of the utilization by {of}", runs, "within", (-STEADY, STEADY), every=True)
