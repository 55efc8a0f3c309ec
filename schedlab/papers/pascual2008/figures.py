"""The paper's figures, what it leaves open, and what is beyond it."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from schedlab import charts
from schedlab.machine import ALLOCATIONS, KaryTree
from schedlab.schedule.statistics import crossing
from schedlab.show import duration, interval
from schedlab.workload.conventions import KILL_BACKFILLED

from ..cards import BROAD, Drawing, rebuilt
from . import grids
from .grids import BACKFILLING, BESIDE, BY, COARSE, CONTIGUOUS, DRAWN, HOURS, HPC2N, SAMPLES, SHARE, TOTAL, WAIT, log

RULES = (
    "Both reservation rules are drawn, since the paper names none and the result depends on the rule. By count, the "
    "head of the queue is promised the time when enough nodes are free anywhere, and only jobs that end by then may "
    "pass it. By block, it is promised specific nodes, and other jobs may use the rest."
)
PROMISED = "The head of the queue is promised a time (count) or nodes (block)."
UNCUT = "Jobs run on past their estimates; a backfilled one is killed when the head could start without it."


def _written(data):
    """Write down crossings."""
    texts = []
    for row in data.itertuples():
        at = interval(row.crossing, row.crossing_low, row.crossing_high, grids.S)
        some = f"{at}, nowhere up to the largest s in {row.never:.0%} of the copies"
        texts.append(grids.NOWHERE if row.never == 1 else some if row.never else at)
    return data[BY].assign(**{CROSS: texts})


CROSS = "total times cross at s"


def _quick(size, less="Five values of s"):
    return f" {less} (quick; full size: more)." if size == "quick" else ""


def _hpc2n(size):
    """Return HPC2N's log for use outside the paper's figures: in a quick run, its first jobs."""
    return log(HPC2N) if BESIDE[size] is None else grids.first_jobs(log(HPC2N), BESIDE[size])


def _part(size):
    """Say how many jobs of the log are simulated."""
    return "whole log" if BESIDE[size] is None else f"first {BESIDE[size]:,} jobs"


NOTES = (grids.CHOSEN, RULES, UNCUT)
OF_RUNS = {"by": ("trace", "policy", "allocation", "s"), "measures": (WAIT, TOTAL, "free_minutes")}


def _sampled(runs, others=False):
    """Say how copies are made, what a quick run lacks and, of all logs, which the paper does not have."""
    logs = " and ".join(grids.OTHERS)
    beside = f" {logs} are not in the paper." if runs.size == "full" else f" The full size has {logs}, too."
    return f"{grids.copies_in_words(runs.size)}{_quick(runs.size)}{beside * others}"


def _draw_ratios(runs):
    def means_of(data):
        waits = data.groupby(BY, sort=False, as_index=False)[[WAIT, "free_minutes"]].mean()
        means = waits.merge(grids.ratios(data).drop(columns="seeds"), "left", BY)
        return _shortly(means.rename(columns={name: f"wait_{name}" for name in means if name.startswith("ratio")}))

    means, rings = runs.both(means_of)
    drawn = means.dropna(subset="wait_ratio")
    published = pd.DataFrame({"wait_ratio_low": [7], "wait_ratio_high": [100]})
    how = {"color": "policy", "published": published, "rings": rings, "width": BROAD}
    chart = charts.ratios(drawn, "trace", "wait_ratio", **how)
    times = [interval(*row, "{:.3g}") for row in means[["wait_ratio", "wait_ratio_low", "wait_ratio_high"]].to_numpy()]
    names = {WAIT: "contiguous (minutes)", "free_minutes": "anywhere (minutes)"}
    table = means[[*BY, *names]].rename(columns=names).assign(**{"times as long": times})
    unwaited = "; ".join(f"{row.trace}, {row.policy}" for row in means[means["wait_ratio"].isna()].itertuples())
    of_paper = drawn[~drawn["trace"].str.startswith(grids.OTHERS)]
    within = of_paper["wait_ratio"].between(7, 100).sum()
    return Drawing(
        f"Contiguous jobs wait {drawn['wait_ratio'].min():.1f} to {drawn['wait_ratio'].max():.0f} times as long if "
        f"they gain nothing by it",
        f"The paper has 7 to 100 times for every log and policy; {within} of {len(of_paper)} cases of its logs "
        f"here lie in this range. {PROMISED} By block, the sound rule, most of the cost disappears.",
        f"Mean wait with contiguous placement over that without, at s = 0. {_sampled(runs, others=True)}",
        chart,
        table,
        (f"No ratio, since nothing waits without contiguity: {unwaited}.",) if unwaited else (),
        printed="a band",
    )


@rebuilt("Figure 2", _draw_ratios, NOTES, logs=SAMPLES.get, **OF_RUNS)
def figure2(size: str, progress: bool) -> pd.DataFrame:
    """Rebuild Figure 2: how many times as long jobs wait if they must lie in one block and gain nothing by it."""
    data = grids.on_all_logs(SAMPLES[size], size, progress)
    return data[(data["s"] == 0) & (data["allocation"] == CONTIGUOUS)]


def _draw_over_s(y, column, text, runs):
    def means_of(data):
        by = ["trace", "policy", "allocation", "s"]
        return _in_hours(data.groupby(by, sort=False, as_index=False)[y].mean()).rename(columns={"s": SHARE})

    means, rings = runs.both(means_of)
    how = {"color": "policy", "dash": "allocation", "column": column, "log": True}
    chart = charts.lines(means, SHARE, HOURS[y], rings=rings, **how)
    ends = grids.crossings(runs.data) if y == TOTAL else None
    if ends is None:
        at = means[(means["allocation"] == CONTIGUOUS) & (means[SHARE] == means[SHARE].min())]
        title = f"Contiguous jobs of HPC2N wait {_minutes(at[y].min())} to {_minutes(at[y].max())} if they gain nothing"
        seen = text
    else:
        saved = ", ".join(
            f"{' and '.join(f'{100 * share:.0f}' for share in part['crossing'])} % under {policy}"
            for policy, part in ends[ends["never"] < 1].groupby("policy", sort=False)
        )
        logs = " and ".join(map(_log_of, ends["trace"].unique()))
        title = f"{logs}: contiguity pays once it saves {saved}"
        seen = f"Contiguous placement begins to pay where the dashed line meets the solid one. {text} {PROMISED}"
    logs = ", ".join(runs.data["trace"].unique())
    return Drawing(title, seen, f"{logs}, whole. {_sampled(runs)}", chart, None if ends is None else _written(ends))


def _log_of(title):
    return next(name for name in grids.TREES if title.startswith(name))


def _shortly(data):
    """Name logs without their versions; the names of stand-ins say that they are."""
    return data.assign(trace=data["trace"].str.replace(r"-\d+\.[\d.]+(-cln)?$", "", regex=True))


def _minutes(value):
    return duration(60 * value)


def _in_hours(data):
    """Add waits and total times as figures draw them; they are kept in minutes, the paper's unit."""
    return data.assign(**{label: data[name] / 60 for name, label in HOURS.items() if name in data})


OVER_S = {  # logs, measure, what to say of the figures against the speed-up factor
    3: ((HPC2N,), TOTAL, "The paper has the lines cross at about 25 %."),
    4: (
        *((HPC2N,), WAIT),
        "At small s most of the total time of a contiguous job is waiting, except under EASY (block). A higher s "
        "shortens the waits, too: shorter jobs free their blocks sooner.",
    ),
    5: (
        *((grids.BLUE, grids.THUNDER), TOTAL),
        "The paper calls the X axis logarithmic; it must mean the Y axis, as here. Thunder's log has no arrival times "
        "(submissions are start times) and hardly any estimates, so next to nothing waits there without contiguity.",
    ),
}


def _over_s(number):
    """Make the function that rebuilds one of the figures against the speed-up factor."""
    names, y, text = OVER_S[number]
    column, policies = ("policy", DRAWN) if len(names) == 1 else ("trace", BACKFILLING)

    def run(size, progress):
        return grids.of_policies(grids.on_all_logs(names, size, progress), policies)

    about = f"Rebuild Figure {number}: {HOURS[y]} against the speed-up factor."
    how = {"logs": names, "name": f"figure{number}", "about": about, **OF_RUNS}
    return rebuilt(f"Figure {number}", partial(_draw_over_s, y, column, text), NOTES, **how)(run)


figure3, figure4, figure5 = map(_over_s, OVER_S)


def _draw_thresholds(runs):
    data = _shortly(runs.data)
    ends = {f"crossing{end}": f"{NEEDED}{end}" for end in ("", "_low", "_high")}
    drawn = data[BY].join(100 * data[list(ends)].rename(columns=ends))[data["never"] < 1]
    titles = [title for title in data["trace"].unique() if _log_of(title) in CROSSES]
    published = pd.DataFrame([{"trace": title, **CROSSES[_log_of(title)]} for title in titles])
    chart = charts.bars(drawn, "trace", NEEDED, color="policy", width=BROAD, published=published)
    block, count = (drawn[drawn["policy"] == policy][NEEDED] for policy in BACKFILLING[::-1])
    return Drawing(
        f"Contiguity pays from {count.min():.0f} to {count.max():.0f} % of run time saved by count, from "
        f"{block.min():.0f} to {block.max():.0f} % by block",
        "In the paper HPC2N's lines cross at about 25 %, those of SDSC under backfilling between 25 and 30 %, and "
        f"those of LLNL slightly above. No bar means that it pays at once. {PROMISED}",
        "Speed-up at which mean total times with and without contiguity are equal; whole logs. "
        f"{_sampled(runs, others=True)}",
        chart,
        _written(data),
        printed="diamonds",
    )


@rebuilt("", _draw_thresholds, NOTES, logs=SAMPLES.get, claims=("PAS-7",), again=None)
def thresholds(size: str, progress: bool) -> pd.DataFrame:
    """Draw the speed-up from which contiguous placement pays, for each log and policy: a summary of Figures 3 and 5."""
    return grids.crossings(grids.on_all_logs(SAMPLES[size], size, progress))


NEEDED = "run time to be saved, percent"
CROSSES = {HPC2N: {NEEDED: 25}, grids.BLUE: {f"{NEEDED}_low": 25, f"{NEEDED}_high": 30}}  # in the paper

ROW = "case"  # log and policy, as they are called where the mouse rests


def _draw_allocations(runs):
    hops = runs.data.groupby("allocation", sort=False)[grids.HOPS].mean()
    data = _shortly(runs.data.rename(columns={grids.HOPS: "hops"}))
    cells = data.assign(**{ROW: data["trace"] + ", " + data["policy"], "wait": data[WAIT]})
    cells = cells.melt([ROW, "allocation"], ["hops", "wait"], "of", "value")
    base = cells[cells["allocation"] == grids.ANYWHERE].set_index([ROW, "of"])["value"]
    cells = cells.join(base.rename("base"), on=[ROW, "of"])
    forms = {"hops": "{:.1f}".format, "wait": _minutes}
    texts = [forms[of](value) for of, value in zip(cells["of"], cells["value"], strict=True)]
    cells = cells.assign(told=texts, change=100 * (cells["value"] / cells["base"] - 1))
    cells["of"] = cells["of"].map({"hops": "hops between nodes of a job", "wait": "mean wait"})
    how = {"panel": "of", "written": "told", "title": "What each allocation gives"}
    how["subtitle"] = f"colour: blue is less than {grids.ANYWHERE} of the same row, orange is more"
    chart = charts.changes(cells, "allocation", ROW, "change", **how)
    return Drawing(
        f"Contiguous jobs are {hops[CONTIGUOUS]:.1f} hops wide on average, those placed at random {hops['random']:.1f}",
        "Hops: links between two nodes of a job, averaged over its pairs. Allowing one stage more "
        "(quasi-contiguous, as in the authors' later work) keeps most of the locality. In the fold of numbers, "
        "fragmentation is the share of free nodes that the largest job that fits into one block leaves over, averaged "
        "over time.",
        f"{data['trace'].nunique()} logs as they are, without a speed-up."
        + _quick(runs.size, f"HPC2N only, {_part(runs.size)}"),
        chart,
        data.rename(columns=MINUTES | {"mean stage": "stage"}),
    )


@rebuilt("", _draw_allocations, logs=grids.LOGS, again=None)
def allocations(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: what each allocation costs, and how local its jobs are, without any speed-up."""
    rows = []
    for name in grids.LOGS if size == "full" else (HPC2N,):
        trace = log(name) if size == "full" else _hpc2n(size)
        trees = [grids.machine(name, allocation) for allocation in ALLOCATIONS]
        data = grids.on_trees(trace, f"allocations on {name}", progress, policy=list(DRAWN), tree=trees, local=True)
        data = data.assign(tree=[*ALLOCATIONS] * len(DRAWN)).rename(columns={"tree": "allocation"})
        data.insert(0, "trace", trace.title)
        rows.append(data.drop(columns=["seed", "overrun", "local"]))
    return pd.concat(rows, ignore_index=True)


MINUTES = {WAIT: "wait (minutes)", TOTAL: "total (minutes)"}
ARITIES = (2, 4, 8, 16)  # the paper's is 4


def _draw_other_trees(runs):
    count = runs.data[runs.data["policy"] == BACKFILLING[0]]
    few, many = count.iloc[0], count.iloc[-1]
    return Drawing(
        f"Contiguity pays from {_from(count.iloc[[0]])} on a {few['tree']}, from {_from(count.iloc[[-1]])} on a "
        f"{many['tree']} ({few['policy']})",
        "The fewer ports a switch has, the more sizes of blocks there are, and the closer a block is to the size of "
        f"a job. {PROMISED}",
        f"{runs.title(HPC2N)}, {_part(runs.size)}, one run of each."
        + _quick(runs.size, f"Three values of s, {_part(runs.size)}"),
        None,
        runs.data,
    )


@rebuilt("", _draw_other_trees, logs=(HPC2N,), again=None)
def other_trees(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: the same nodes as trees of other arities, at a few speed-ups."""
    trace, rows = _hpc2n(size), []
    for arity in ARITIES:
        stages = grids.stages_of(arity, trace.procs)
        name = f"{arity}-ary {stages}-tree"
        rows += [{"tree": name, **cost} for cost in _costs(trace, name, size, progress, arity, stages, policies=DRAWN)]
    return pd.DataFrame(rows)


def _costs(trace, label, size, progress, k, n, policies, scaled=False, **settings):
    """Write down, under each policy, what contiguity costs at s = 0, and where it begins to pay."""
    trees = [KaryTree(k, n, allocation=grids.ANYWHERE)]
    trees += [KaryTree(k, n, allocation=CONTIGUOUS, speedup=s, scale_estimates=scaled) for s in COARSE[size]]
    runs = grids.on_trees(trace, label, progress, policy=list(policies), tree=trees, **settings)
    for policy, part in runs.groupby("policy", sort=False):
        free, *means = part.to_dict("records")
        at = crossing(COARSE[size], [mean[TOTAL] - free[TOTAL] for mean in means])
        crossed = grids.NEVER.format(max(COARSE[size])) if np.isnan(at) else grids.S.format(at)
        yield {"policy": policy, "wait at s = 0, times as long": grids.ratio_to_free(means[0], free), CROSS: crossed}


WITHIN = "speed-up within one switch"


def _draw_by_stage(runs):
    k, n = grids.TREES[HPC2N]
    last = runs.data[runs.data[WITHIN] == runs.data[WITHIN].max()]
    best = last.loc[last[TOTAL].idxmin()]
    data, rings = runs.both(_in_hours)
    return Drawing(
        f"With a speed-up of {100 * best[WITHIN]:.0f} % within one switch, {best['allocation']} placement is the "
        f"best of five",
        "The paper speeds up every contiguously placed job by the same factor and other jobs not at all, even one "
        "that lies in one block by luck. Here, under every allocation, a job's speed-up depends on the lowest stage "
        "at which one block has all its nodes; the share saved falls linearly to 0 at the top stage.",
        f"{runs.title(HPC2N)}, {_part(runs.size)}, {k}-ary {n}-tree, EASY (block), one run of each."
        + _quick(runs.size, f"Three values, {_part(runs.size)}"),
        charts.lines(data, WITHIN, HOURS[TOTAL], color="allocation", rings=rings),
    )


@rebuilt("", _draw_by_stage, logs=(HPC2N,), by=("allocation", WITHIN), measures=(WAIT, TOTAL), again="now")
def by_stage(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: a speed-up by the stage that a job really got, under any allocation."""
    pairs = list(product(ALLOCATIONS, COARSE[size]))
    n = grids.TREES[HPC2N][1]
    falling = [tuple(share * (n - stage) / (n - 1) for stage in range(1, n + 1)) for _, share in pairs]
    trees = [
        grids.machine(HPC2N, allocation, speedup=shares) for (allocation, _), shares in zip(pairs, falling, strict=True)
    ]
    runs = grids.on_trees(_hpc2n(size), "speed-up by stage", progress, policy="EASY (block)", tree=trees)
    return pd.DataFrame(pairs, columns=["allocation", WITHIN]).join(runs[list(grids.MEANS)])


# How jobs that outlive their estimates are treated, and whether the speed-up shortens estimates too.
READINGS = {
    "as in Figure 3": (KILL_BACKFILLED, False),
    "estimates scaled too": (KILL_BACKFILLED, True),
    "run times cut at the estimates": ("kill", False),
    "estimates raised to the run times": ("extend", False),
}


def _from(runs):
    """Say from which share of the run time on contiguity pays, over some rows of `_costs`."""
    at = pd.to_numeric(runs[CROSS], errors="coerce")
    ends = dict.fromkeys(f"{100 * end:.0f}" for end in (at.min(), at.max()))
    return "nowhere" if at.isna().any() else f"{' to '.join(ends)} %"


def _draw_readings(runs):
    count, block = (_from(runs.data[runs.data["policy"] == policy]) for policy in BACKFILLING)
    return Drawing(
        f"Whatever becomes of jobs that outlive their estimates, contiguity pays on HPC2N from {count} by count, "
        f"{block} by block",
        "Where the lines of HPC2N cross under each reading of what happens to jobs that outlive their estimates. "
        f"{PROMISED}",
        f"{runs.title(HPC2N)}, one run of each. For HPC2N and LLNL the paper counts the jobs of the raw logs "
        f"(527,371 and 128,662), which are not available: these are the cleaned ones."
        + _quick(runs.size, f"Crossings from three values of s, {_part(runs.size)}"),
        None,
        runs.data,
    )


@rebuilt("", _draw_readings, logs=(HPC2N,), again=None)
def sensitivity(size: str, progress: bool) -> pd.DataFrame:
    """Tabulate what the paper leaves open: where the lines of HPC2N cross under each reading."""
    rows = []
    for reading, (overrun, scaled) in READINGS.items():
        how = {"policies": BACKFILLING, "scaled": scaled, "overrun": overrun}
        costs = _costs(_hpc2n(size), reading, size, progress, *grids.TREES[HPC2N], **how)
        rows += [{"reading": reading, **cost} for cost in costs]
    return pd.DataFrame(rows)
