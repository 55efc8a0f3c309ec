"""Pascual and Miguel-Alonso: what contiguous placement in a k-ary n-tree costs, and what speed-up pays for it."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from schedlab import EASY, FCFS, Schedule, charts, simulate
from schedlab.charts.theme import WIDE, headed
from schedlab.experiment import grid, remember
from schedlab.machine import ALLOCATIONS, KaryTree
from schedlab.schedule.statistics import crossing, over_seeds, ratios_of_means
from schedlab.show import duration, interval
from schedlab.workload.conventions import KILL_BACKFILLED
from schedlab.workload.loading import load_trace
from schedlab.workload.trace import Trace

from .cards import Drawing, Paper, chosen_size, rebuilt
from .checks import Check
from .ledger import claimed, claims_of, exact, judged

TITLE = "Contiguous placement (Pascual and Miguel-Alonso)"
PAPER = Paper(
    authors="J. A. Pascual and J. Miguel-Alonso",
    title="Effects of job placement on scheduling performance",
    venue="Technical Report EHU-KAT-IK-09-08, University of the Basque Country",
    year=2008,
    says=(
        "Jobs that must lie in one block of a k-ary n-tree wait 7 to 100 times as long. Contiguity pays if it shortens "
        "their run times by 25 to 30 % or more."
    ),
    found=(
        ("On HPC2N contiguity pays from a speed-up of 0.22 on (published: about 0.25)", "PAS-2a"),
        ("If the head of the queue is promised nodes, contiguity costs backfilling little", "PAS-1"),
        ("For backfilling the threshold depends on the reservation rule, and the paper names none", "PAS-7"),
    ),
    words=(
        ("contiguous", "all nodes of a job lie in one block: a switch, or a subtree of switches"),
        ("quasi-contiguous", "in one block, or in one a stage higher"),
        ("first-free", "the first free nodes, wherever they lie"),
        ("best-fit", "contiguous, in the block that leaves the fewest nodes free"),
        ("k-ary n-tree", "n stages of switches with k ports down each; it connects k to the power of n nodes"),
        ("EASY (count)", "backfilling; the head of the queue is promised the time when enough nodes are free"),
        ("EASY (block)", "backfilling; the head of the queue is promised nodes, the others may use the rest"),
        ("by count, by block", "these two readings of what the head of the queue is promised"),
        (
            "with, without spare nodes",
            "readings: whether jobs that end later may use nodes that the head does not need",
        ),
        ("whatever fits until the reservation", "a reading: any job may start, and is killed at the head's time"),
        ("s", "speed-up factor: by how much contiguity shortens the run times; 0.25 is 25 %"),
        ("hops", "links between two nodes of a job, averaged over its pairs of nodes"),
    ),
    defaults=(
        ("reservation by count", "reservation by count"),
        ("reservation by block", "by count"),
        ("by count with spare nodes", "by count, without spare nodes"),
        ("by block without spare nodes", "by count, without spare nodes"),
        ("whatever fits until the reservation", "only jobs that end before the reservation pass the head"),
    ),
)
HPC2N, THUNDER, BLUE = LOGS = ("HPC2N-2002", "LLNL-Thunder-2007", "SDSC-BLUE-2000")
OTHERS = ("CTC-SP2-1996", "KTH-SP2-1996")  # not in the paper; chosen before their results were seen
SAMPLES = {"quick": LOGS, "full": (*LOGS, *OTHERS)}
# k, n: those of section 3 of the paper; for the others, of its k, the smallest tree that has the nodes
TREES = {HPC2N: (4, 4), THUNDER: (4, 6), BLUE: (4, 6), **dict(zip(OTHERS, ((4, 5), (4, 4)), strict=True))}
CONTIGUOUS, ANYWHERE = "contiguous", "first-free"
POLICIES = {
    "FCFS": FCFS(),
    "EASY (count)": EASY(),
    "EASY (block)": EASY(shadow="block"),
    "EASY (count, spare nodes)": EASY(spare="on"),
    "EASY (block, no spare nodes)": EASY(shadow="block", spare="off"),
    "EASY (whatever fits)": EASY(spare="any"),
}
BACKFILLING = ("EASY (count)", "EASY (block)")
DRAWN = ("FCFS", *BACKFILLING)
READ = tuple(name for name in POLICIES if name not in BACKFILLING)  # readings of the full size only, beside FCFS
SHARE = "speed-up factor s"
WAIT, TOTAL = "wait_minutes", "total_minutes"
SHARES = {"quick": (0.0, 0.05, 0.15, 0.3, 0.45), "full": tuple(round(0.025 * i, 3) for i in range(21))}
COPIES = {"quick": 3, "full": 10}  # of a log: the log as it is, and shaken ones
SHAKE = 60  # seconds
BESIDE = {"quick": 50_000, "now": None, "full": None}  # jobs of HPC2N outside the paper's figures; None: all
COARSE = {"quick": (0.0, 0.15, 0.3), "now": (0.0, 0.3), "full": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)}
# Jobs and copies for the policies of `READ`, which are run at the values of `COARSE`: where spare nodes are used but no
# block is kept, the head of the queue can starve, and with a hundred thousand waiting jobs a run takes a minute.
READ_JOBS, READ_COPIES = 50_000, 5
RULES = (
    "Both reservation rules are drawn, since the paper names none and the result depends on the rule. By count, the "
    "head of the queue is promised the time when enough nodes are free anywhere, and only jobs that end by then may "
    "pass it. By block, it is promised specific nodes, and other jobs may use the rest."
)
BROAD = 760  # pixels, for bars that have the page to themselves
PROMISED = "The head of the queue is promised a time (count) or nodes (block)."
CHOSEN = (
    "The paper does not say what the head of the queue is promised under backfilling. The rule by count was chosen "
    "after results had been seen, because it comes closest to the published numbers. The sound rule is that by block."
)
UNCUT = "Jobs run on past their estimates; a backfilled one is killed when the head could start without it."

# Job sizes by the stage at which they belong, k = 4.
STAGES = {1: (1, 4), 2: (5, 14, 16), 3: (17, 64), 4: (65, 240, 256), 5: (257, 1024), 6: (1025, 1152, 4096)}
HOURS = {WAIT: "mean wait (hours)", TOTAL: "mean total time (hours)"}  # as figures draw them


@remember(len(TREES))
def log(name: str) -> Trace:
    """Return a log, or its stand-in."""
    return load_trace(name, or_standin=True)


def machine(name: str, allocation: str = CONTIGUOUS, **settings) -> KaryTree:
    """Return the tree on which the paper puts a log."""
    return KaryTree(*TREES[name], allocation=allocation, **settings)


def against_speedup(name: str, size: str, progress: bool = True, policies: tuple[str, ...] = DRAWN) -> pd.DataFrame:
    """Simulate copies of a log with and without contiguity, for each policy, over the speed-up that contiguity brings.

    Parameters
    ----------
    name : str
        One of the logs of `TREES`.
    size : {"quick", "full"}
    progress : bool
        Show a progress bar.
    policies : tuple of str
        `DRAWN`, or `READ`, for which there are fewer jobs, copies and values of s.

    Returns
    -------
    DataFrame
        One row for each copy (seed: 0 is the log as it is, the others are shaken), policy, allocation and s: means of
        wait and total time, in minutes; waiting, the share of the total time; jobs killed; free_minutes, the wait
        without contiguity; ratio, the wait divided by that; difference, the total time less that without contiguity
        (minutes).

    Notes
    -----
    Schedules are chaotic. The spread over the copies shows how much of a value is chance.
    """
    few = policies == READ
    trace = _head(log(name), READ_JOBS) if few else log(name)
    shares, copies = (COARSE[size], READ_COPIES) if few else (SHARES[chosen_size(size)], COPIES[size])
    trees = [machine(name, ANYWHERE), *(machine(name, CONTIGUOUS, speedup=share) for share in shares)]
    words = f"placing {name}{', as read' * few}"
    data = _on_trees(trace, words, progress, seed=range(copies), policy=list(policies), tree=trees)
    rows, free = [], {}
    for run, tree in zip(data.to_dict("records"), trees * (len(data) // len(trees)), strict=True):
        means = {key: run[key] for key in MEANS}
        if tree.allocation == ANYWHERE:  # the first of each copy and policy
            free = means
        row = {"trace": trace.title, "seed": run["seed"], "policy": run["policy"], "allocation": tree.allocation}
        row |= means
        row |= {"free_minutes": free[WAIT], "ratio": _ratio(means, free), "difference": means[TOTAL] - free[TOTAL]}
        rows += [{**row, "s": each} for each in (shares if tree.allocation == ANYWHERE else (tree.speedup,))]
    return pd.DataFrame(rows)


def _on_trees(trace, words, progress, seed=0, overrun=KILL_BACKFILLED, **values):
    """Place the jobs of a trace under policies on trees; one row a run.

    All values are passed on, even defaults, so that a run that several figures ask for is recognised as the same.
    """
    return grid(partial(_place, trace), words=words, progress=progress, seed=seed, overrun=overrun, **values)


def _place(trace, policy, tree, seed, overrun, local=False):
    """Measure a schedule of a trace, or of its copy with a seed; with `local`, also how local its jobs are."""
    schedule = simulate(_copy(trace, seed), POLICIES[policy], machine=tree, overrun=overrun)
    return _measures(schedule) if local else _means(schedule)


@remember(4)
def _copy(trace, seed):
    """Return a copy of a log: 0 is the log as it is."""
    return trace.shake(SHAKE, seed) if seed else trace


MEANS = (WAIT, TOTAL, "waiting", "killed")


def _means(schedule: Schedule):
    wait, total = schedule.start - schedule.submit, schedule.end - schedule.submit
    return {
        WAIT: wait.mean() / 60,
        TOTAL: total.mean() / 60,
        "waiting": wait.sum() / total.sum(),
        "killed": int(schedule.killed.sum()),
    }


def _ratio(means, free):
    """Return how many times as long jobs wait with contiguity; nan if nothing waits without it."""
    return means[WAIT] / free[WAIT] if free[WAIT] else np.nan


CASE = ["trace", "policy"]


def ratios(table: pd.DataFrame) -> pd.DataFrame:
    """Return how many times as long contiguous jobs wait at s = 0: of the means over the copies, with intervals."""
    return over_seeds(_ratios_of_copies(table).rename(columns={"value": "ratio"}), CASE)


def _ratios_of_copies(table):
    """Return each copy's part of the ratio of the mean waits, where anything waits without contiguity."""
    part = table[(table["s"] == 0) & (table["allocation"] == CONTIGUOUS)]
    part = part[part.groupby(CASE)["free_minutes"].transform("mean") > 0]
    return part[[*CASE, "seed"]].assign(value=ratios_of_means(part, WAIT, "free_minutes", CASE))


def of_copies(table: pd.DataFrame) -> pd.DataFrame:
    """Find where contiguous placement begins to pay, by total time, in each copy of each log under each policy.

    Returns
    -------
    DataFrame
        One row a copy: trace, policy, seed, crossing (the s), and never: 1 if it does not pay up to the largest s,
        which then stands for the crossing; else 0.
    """
    contiguous = table[table["allocation"] == CONTIGUOUS]
    rows = []
    for case, part in contiguous.groupby([*CASE, "seed"], sort=False):
        at = crossing(part["s"], part["difference"])
        rows.append((*case, part["s"].max() if np.isnan(at) else at, int(np.isnan(at))))
    return pd.DataFrame(rows, columns=[*CASE, "seed", "crossing", "never"])


def crossings(table: pd.DataFrame) -> pd.DataFrame:
    """Find where contiguous placement begins to pay: the mean over the copies, and its interval.

    The column never has the share of the copies in which it does not; in these the largest s stands for the crossing.
    """
    return over_seeds(of_copies(table), CASE).drop(columns=["never_low", "never_high"])


def _shown(found):
    """Write down crossings."""
    words = []
    for row in found.itertuples():
        at = interval(row.crossing, row.crossing_low, row.crossing_high, S)
        some = f"{at}, nowhere up to the largest s in {row.never:.0%} of the copies"
        words.append(NOWHERE if row.never == 1 else some if row.never else at)
    return found[CASE].assign(**{"total times cross at s": words})


S, NEVER, NOWHERE = "{:.3f}", "nowhere up to {:g}", "nowhere up to the largest s"


# The figures -------------------------------------------------------------------------------------------------


def _quick(size, words="Five values of s"):
    return f" {words} (quick; full size: more)." if size == "quick" else ""


def _hpc2n(size):
    """Return HPC2N's log for use outside the paper's figures: in a quick run, its first jobs."""
    return log(HPC2N) if BESIDE[size] is None else _head(log(HPC2N), BESIDE[size])


def _part(size):
    """Say how many jobs of the log are simulated."""
    return "whole log" if BESIDE[size] is None else f"first {BESIDE[size]:,} jobs"


def _copies(size):
    shaken = COPIES[size] - 1
    return (
        f"Means over the log as it is and {shaken} {'copy' if shaken == 1 else 'copies'} whose submissions are moved "
        "by up to a minute; 95 % intervals show how far chance moves them."
    )


def _beside(size):
    """Say which logs the paper does not have."""
    several = " and ".join(OTHERS)
    return f"{several} are not in the paper." if size == "full" else f"The full size has {several}, too."


NOTES = (CHOSEN, RULES, UNCUT)


def _on_all(names, size, progress, policies=DRAWN):
    return pd.concat([against_speedup(name, size, progress, policies) for name in names], ignore_index=True)


OF_RUNS = {"by": ("trace", "policy", "allocation", "s"), "measures": (WAIT, TOTAL, "free_minutes")}


def _logs(size):
    return SAMPLES[size]


def _draw_ratios(shown):
    def means_of(data):
        waits = data.groupby(CASE, sort=False, as_index=False)[[WAIT, "free_minutes"]].mean()
        means = waits.merge(ratios(data).drop(columns="seeds"), "left", CASE)
        return means.rename(columns={name: f"wait_{name}" for name in means if name.startswith("ratio")})

    means, rings = (None if data is None else means_of(data) for data in (shown.data, shown.now))
    means, rings = _shortly(means), None if rings is None else _shortly(rings)
    drawn = means.dropna(subset="wait_ratio")
    published = pd.DataFrame({"wait_ratio_low": [7], "wait_ratio_high": [100]})
    how = {"color": "policy", "published": published, "rings": rings, "width": BROAD}
    chart = charts.ratios(drawn, "trace", "wait_ratio", **how)
    times = [interval(*row, "{:.3g}") for row in means[["wait_ratio", "wait_ratio_low", "wait_ratio_high"]].to_numpy()]
    names = {WAIT: "contiguous (minutes)", "free_minutes": "anywhere (minutes)"}
    table = means[[*CASE, *names]].rename(columns=names).assign(**{"times as long": times})
    unwaited = "; ".join(f"{row.trace}, {row.policy}" for row in means[means["wait_ratio"].isna()].itertuples())
    of_paper = drawn[~drawn["trace"].str.startswith(OTHERS)]
    within = of_paper["wait_ratio"].between(7, 100).sum()
    return Drawing(
        f"Contiguous jobs wait {drawn['wait_ratio'].min():.1f} to {drawn['wait_ratio'].max():.0f} times as long if "
        f"they gain nothing by it",
        f"The paper has 7 to 100 times for every log and policy; {within} of {len(of_paper)} cases of its logs "
        f"here lie in this range. {PROMISED} By block, the sound rule, most of the cost disappears.",
        f"Mean wait with contiguous placement over that without, at s = 0. {_sampled(shown)} {_beside(shown.size)}",
        chart,
        table,
        (f"No ratio, since nothing waits without contiguity: {unwaited}.",) if unwaited else (),
        printed="a band",
    )


@rebuilt("Figure 2", _draw_ratios, NOTES, logs=_logs, **OF_RUNS)
def figure2(size: str, progress: bool) -> pd.DataFrame:
    """Rebuild Figure 2: how many times as long jobs wait if they must lie in one block and gain nothing by it."""
    data = _on_all(SAMPLES[size], size, progress)
    return data[(data["s"] == 0) & (data["allocation"] == CONTIGUOUS)]


def _draw_over_s(y, column, words, shown):
    def means_of(data):
        by = ["trace", "policy", "allocation", "s"]
        return _in_hours(data.groupby(by, sort=False, as_index=False)[y].mean()).rename(columns={"s": SHARE})

    means, rings = (None if data is None else means_of(data) for data in (shown.data, shown.now))
    how = {"color": "policy", "dash": "allocation", "column": column, "log": True}
    chart = charts.lines(means, SHARE, HOURS[y], rings=rings, **how)
    found = crossings(shown.data) if y == TOTAL else None
    if found is None:
        at = means[(means["allocation"] == CONTIGUOUS) & (means[SHARE] == means[SHARE].min())]
        title = f"Contiguous jobs of HPC2N wait {_minutes(at[y].min())} to {_minutes(at[y].max())} if they gain nothing"
        seen = words
    else:
        at = {
            policy: " and ".join(f"{100 * each:.0f}" for each in part["crossing"])
            for policy, part in found[found["never"] < 1].groupby("policy", sort=False)
        }
        logs = " and ".join(next(name for name in TREES if title.startswith(name)) for title in found["trace"].unique())
        told = ", ".join(f"{each} % under {policy}" for policy, each in at.items())
        title = f"{logs}: contiguity pays once it saves {told}"
        seen = f"Contiguous placement begins to pay where the dashed line meets the solid one. {words} {PROMISED}"
    logs = ", ".join(shown.data["trace"].unique())
    return Drawing(title, seen, f"{logs}, whole. {_sampled(shown)}", chart, None if found is None else _shown(found))


def _shortly(data):
    """Name logs without their versions; the names of stand-ins say that they are."""
    return data.assign(trace=data["trace"].str.replace(r"-\d+\.[\d.]+(-cln)?$", "", regex=True))


def _minutes(value):
    return duration(60 * value)


def _in_hours(data):
    """Add waits and total times as figures draw them; they are kept in minutes, the paper's unit."""
    if data is None:
        return None
    return data.assign(**{words: data[name] / 60 for name, words in HOURS.items() if name in data})


OVER_S = {  # logs, measure, what to say of the figures against the speed-up factor
    3: ((HPC2N,), TOTAL, "The paper has the lines cross at about 25 %."),
    4: (
        *((HPC2N,), WAIT),
        "At small s most of the total time of a contiguous job is waiting, except under EASY (block). A higher s "
        "shortens the waits, too: shorter jobs free their blocks sooner.",
    ),
    5: (
        *((BLUE, THUNDER), TOTAL),
        "The paper calls the X axis logarithmic; it must mean the Y axis, as here. Thunder's log has no arrival times "
        "(submissions are start times) and hardly any estimates, so next to nothing waits there without contiguity.",
    ),
}


def _over_s(number):
    """Make the function that rebuilds one of the figures against the speed-up factor."""
    names, y, words = OVER_S[number]
    column, policies = ("policy", DRAWN) if len(names) == 1 else ("trace", BACKFILLING)

    def run(size, progress):
        return _of(_on_all(names, size, progress), policies)

    about = f"Rebuild Figure {number}: {HOURS[y]} against the speed-up factor."
    how = {"logs": names, "name": f"figure{number}", "about": about, **OF_RUNS}
    return rebuilt(f"Figure {number}", partial(_draw_over_s, y, column, words), NOTES, **how)(run)


figure3, figure4, figure5 = map(_over_s, OVER_S)


def _sampled(shown):
    return f"{_copies(shown.size)}{_quick(shown.size)}"


def _draw_thresholds(shown):
    data = _shortly(shown.data)
    ends = {f"crossing{end}": f"{NEEDED}{end}" for end in ("", "_low", "_high")}
    drawn = data[CASE].join(100 * data[list(ends)].rename(columns=ends))[data["never"] < 1]
    names = {title: next(name for name in TREES if title.startswith(name)) for title in data["trace"].unique()}
    published = pd.DataFrame([{"trace": title, **CROSSES[name]} for title, name in names.items() if name in CROSSES])
    chart = charts.bars(drawn, "trace", NEEDED, color="policy", width=BROAD, published=published)
    block, count = (drawn[drawn["policy"] == policy][NEEDED] for policy in BACKFILLING[::-1])
    return Drawing(
        f"Contiguity pays from {count.min():.0f} to {count.max():.0f} % of run time saved by count, from "
        f"{block.min():.0f} to {block.max():.0f} % by block",
        "In the paper HPC2N's lines cross at about 25 %, those of SDSC under backfilling between 25 and 30 %, and "
        f"those of LLNL slightly above. No bar means that it pays at once. {PROMISED}",
        f"Speed-up at which mean total times with and without contiguity are equal; whole logs. {_sampled(shown)} "
        f"{_beside(shown.size)}",
        chart,
        _shown(data),
        printed="diamonds",
    )


@rebuilt("", _draw_thresholds, NOTES, logs=_logs, claims=("PAS-7",), again=None)
def thresholds(size: str, progress: bool) -> pd.DataFrame:
    """Draw the speed-up from which contiguous placement pays, for each log and policy: a summary of Figures 3 and 5."""
    return crossings(_on_all(SAMPLES[size], size, progress))


NEEDED = "run time to be saved, percent"
CROSSES = {HPC2N: {NEEDED: 25}, BLUE: {f"{NEEDED}_low": 25, f"{NEEDED}_high": 30}}  # in the paper


def _draw_allocations(shown):
    data, hops = shown.data.rename(columns={HOPS: "hops"}), shown.data.groupby("allocation", sort=False)[HOPS].mean()
    data = _shortly(data)
    cells = data.assign(case=data["trace"] + ", " + data["policy"], wait=data[WAIT])
    cells = cells.melt(["case", "allocation"], ["hops", "wait"], "of", "value")
    base = cells[cells["allocation"] == ANYWHERE].set_index(["case", "of"])["value"]
    cells = cells.join(base.rename("base"), on=["case", "of"])
    forms = {"hops": "{:.1f}".format, "wait": _minutes}
    told = [forms[of](value) for of, value in zip(cells["of"], cells["value"], strict=True)]
    cells = cells.assign(told=told, change=100 * (cells["value"] / cells["base"] - 1))
    chart = charts.changes(
        cells.assign(of=cells["of"].map({"hops": "hops between nodes of a job", "wait": "mean wait"})),
        "allocation",
        "case",
        "change",
        panel="of",
        written="told",
        title="What each allocation gives",
        subtitle=f"colour: blue is less than {ANYWHERE} of the same row, orange is more",
    )
    return Drawing(
        f"Contiguous jobs are {hops[CONTIGUOUS]:.1f} hops wide on average, those placed at random {hops['random']:.1f}",
        "Hops: links between two nodes of a job, averaged over its pairs. Allowing one stage more "
        "(quasi-contiguous, as in the authors' later work) keeps most of the locality. In the fold of numbers, "
        "fragmentation is the share of free nodes that the largest job that fits into one block leaves over, averaged "
        "over time.",
        f"{data['trace'].nunique()} logs as they are, without a speed-up."
        + _quick(shown.size, f"HPC2N only, {_part(shown.size)}"),
        chart,
        data.rename(columns=MINUTES | {"mean stage": "stage"}),
    )


@rebuilt("", _draw_allocations, logs=LOGS, again=None)
def allocations(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: what each allocation costs, and how local its jobs are, without any speed-up."""
    rows = []
    for name in LOGS if size == "full" else (HPC2N,):
        trace = log(name) if size == "full" else _hpc2n(size)
        trees = [machine(name, allocation) for allocation in ALLOCATIONS]
        found = _on_trees(trace, f"allocations on {name}", progress, policy=list(DRAWN), tree=trees, local=True)
        found = found.assign(tree=[*ALLOCATIONS] * len(DRAWN)).rename(columns={"tree": "allocation"})
        found.insert(0, "trace", trace.title)
        rows.append(found.drop(columns=["seed", "overrun", "local"]))
    return pd.concat(rows, ignore_index=True)


HOPS = "hops (jobs of several nodes)"
MINUTES = {WAIT: "wait (minutes)", TOTAL: "total (minutes)"}


def _measures(schedule):
    near, over_time = schedule.locality(), schedule.fragmentation()
    lasts = np.diff(over_time["time"])
    several = schedule.trace.table["requested_procs"].to_numpy() > 1
    means = _means(schedule)
    return {
        WAIT: means[WAIT],
        TOTAL: means[TOTAL],
        "mean stage": near["stage"].mean(),
        HOPS: near["hops"].to_numpy()[several].mean(),
        "fragmentation": float((over_time["fragmentation"].to_numpy()[:-1] * lasts).sum() / lasts.sum()),
        "killed": means["killed"],
    }


ARITIES = (2, 4, 8, 16)  # the paper's is 4


def _draw_other_trees(shown):
    count = shown.data[shown.data["policy"] == BACKFILLING[0]]
    few, many = count.iloc[0], count.iloc[-1]
    return Drawing(
        f"Contiguity pays from {_from(count.iloc[[0]])} on a {few['tree']}, from {_from(count.iloc[[-1]])} on a "
        f"{many['tree']} ({few['policy']})",
        "The fewer ports a switch has, the more sizes of blocks there are, and the closer a block is to the size of "
        f"a job. {PROMISED}",
        f"{shown.title(HPC2N)}, {_part(shown.size)}, one run of each."
        + _quick(shown.size, f"Three values of s, {_part(shown.size)}"),
        None,
        shown.data,
    )


@rebuilt("", _draw_other_trees, logs=(HPC2N,), again=None)
def other_trees(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: the same nodes as trees of other arities, at a few speed-ups."""
    trace, rows = _hpc2n(size), []
    for arity in ARITIES:
        stages = _stages(arity, trace.procs)
        trees = [KaryTree(arity, stages, allocation=ANYWHERE)]
        trees += [KaryTree(arity, stages, allocation=CONTIGUOUS, speedup=share) for share in COARSE[size]]
        words = f"{arity}-ary {stages}-tree"
        done = _on_trees(trace, words, progress, policy=list(DRAWN), tree=trees)
        for policy, runs in done.groupby("policy", sort=False):
            free, *means = runs.to_dict("records")
            rows.append({"tree": words, "policy": policy} | _cost(free, means, size))
    return pd.DataFrame(rows)


def _cost(free, means, size):
    """Write down what contiguity costs at s = 0, and where it begins to pay."""
    at = crossing(COARSE[size], [mean[TOTAL] - free[TOTAL] for mean in means])
    crossed = NEVER.format(max(COARSE[size])) if np.isnan(at) else S.format(at)
    return {"wait at s = 0, times as long": _ratio(means[0], free), "total times cross at s": crossed}


WITHIN = "speed-up within one switch"


def _draw_by_stage(shown):
    k, n = TREES[HPC2N]
    last = shown.data[shown.data[WITHIN] == shown.data[WITHIN].max()]
    best = last.loc[last[TOTAL].idxmin()]
    return Drawing(
        f"With a speed-up of {100 * best[WITHIN]:.0f} % within one switch, {best['allocation']} placement is the "
        f"best of five",
        "The paper speeds up every contiguously placed job by the same factor and other jobs not at all, even one "
        "that lies in one block by luck. Here, under every allocation, a job's speed-up depends on the lowest stage "
        "at which one block has all its nodes; the share saved falls linearly to 0 at the top stage.",
        f"{shown.title(HPC2N)}, {_part(shown.size)}, {k}-ary {n}-tree, EASY (block), one run of each."
        + _quick(shown.size, f"Three values, {_part(shown.size)}"),
        charts.lines(_in_hours(shown.data), WITHIN, HOURS[TOTAL], color="allocation", rings=_in_hours(shown.now)),
    )


@rebuilt("", _draw_by_stage, logs=(HPC2N,), by=("allocation", WITHIN), measures=(WAIT, TOTAL), again="now")
def by_stage(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: a speed-up by the stage that a job really got, under any allocation."""
    runs = list(product(ALLOCATIONS, COARSE[size]))
    stages = TREES[HPC2N][1]
    trees = [machine(HPC2N, allocation, speedup=_falling(share, stages)) for allocation, share in runs]
    found = _on_trees(_hpc2n(size), "speed-up by stage", progress, policy="EASY (block)", tree=trees)
    return pd.DataFrame(runs, columns=["allocation", WITHIN]).join(found[list(MEANS)])


def _falling(share, n):
    return tuple(share * (n - stage) / (n - 1) for stage in range(1, n + 1))


# How jobs that outlive their estimates are treated, and whether the speed-up shortens estimates too.
READINGS = {
    "as in Figure 3": (KILL_BACKFILLED, False),
    "estimates scaled too": (KILL_BACKFILLED, True),
    "run times cut at the estimates": ("kill", False),
    "estimates raised to the run times": ("extend", False),
}


def _from(runs):
    """Say from which share of the run time on contiguity pays, over some rows of `_cost`."""
    at = pd.to_numeric(runs["total times cross at s"], errors="coerce")
    ends = dict.fromkeys(f"{100 * end:.0f}" for end in (at.min(), at.max()))
    return "nowhere" if at.isna().any() else f"{' to '.join(ends)} %"


def _draw_readings(shown):
    count, block = (_from(shown.data[shown.data["policy"] == policy]) for policy in BACKFILLING)
    return Drawing(
        f"Whatever becomes of jobs that outlive their estimates, contiguity pays on HPC2N from {count} by count, "
        f"{block} by block",
        "Where the lines of HPC2N cross under each reading of what happens to jobs that outlive their estimates. "
        f"{PROMISED}",
        f"{shown.title(HPC2N)}, one run of each. For HPC2N and LLNL the paper counts the jobs of the raw logs "
        f"(527,371 and 128,662), which are not available: these are the cleaned ones."
        + _quick(shown.size, f"Crossings from three values of s, {_part(shown.size)}"),
        None,
        shown.data,
    )


@rebuilt("", _draw_readings, logs=(HPC2N,), again=None)
def sensitivity(size: str, progress: bool) -> pd.DataFrame:
    """Tabulate what the paper leaves open: where the lines of HPC2N cross under each reading."""
    trace = _hpc2n(size)
    rows = []
    for (reading, (overrun, scaled)), policy in product(READINGS.items(), BACKFILLING):
        trees = [machine(HPC2N, speedup=share, scale_estimates=scaled) for share in COARSE[size]]
        trees = [machine(HPC2N, ANYWHERE), *trees]
        done = _on_trees(trace, f"{reading}, {policy}", progress, policy=policy, tree=trees, overrun=overrun)
        free, *means = done.to_dict("records")
        rows.append({"reading": reading, "policy": policy} | _cost(free, means, size))
    return pd.DataFrame(rows)


FIGURES = (figure2, figure3, figure4, figure5, thresholds, allocations, other_trees, by_stage, sensitivity)


# Live --------------------------------------------------------------------------------------------------------

SMALLER = 0.73  # than a tree by itself, so that two stand side by side


def live(
    trace: str | Trace = HPC2N,
    k: int = 4,
    n: int = 4,
    allocation: str = CONTIGUOUS,
    s: float = 0.0,
    policy: str = "EASY (count)",
    hour: int = 6 * 168 + 84,
    jobs: int = 20_000,
) -> tuple:
    """Draw the tree at an instant under two allocations, and compare their means.

    Parameters
    ----------
    trace : str or Trace
        Log. By its name, or a trace.
    k : int
        k: ports down of a switch. A block of stage 1 has k nodes, one of stage 2 has k x k, and so on.
    n : int
        n: stages of switches. More are added if the machine needs them.
    allocation : str
        Allocation. Which nodes a job gets: those of one block, or others as in `KaryTree`.
    s : float
        s: run time saved by contiguity (share). Jobs anywhere save nothing.
    policy : str
        Scheduler (reservation). EASY promises the head of the queue a time when enough nodes are free, or nodes in a
        block. Jobs that do not end by then may use the nodes that the head does not need, or none, or whatever fits
        (and are then killed for the head).
    hour : int
        Instant (h). The tree is drawn this many hours after the first submission.
    jobs : int
        Jobs simulated. The log's first ones.
    """
    whole = trace if isinstance(trace, Trace) else log(trace)
    part = _head(whole, jobs)
    n = max(n, _stages(k, part.procs))
    chosen, free = (
        _simulated(part, policy, KaryTree(k, n, allocation=each, speedup=s if each == allocation else 0.0))
        for each in (allocation, ANYWHERE)
    )
    instant = float(chosen.submit[0] + 3_600 * hour)
    drawn = {ANYWHERE: free, allocation: chosen}
    whole = charts.tree(chosen, instant)
    size = {"width": SMALLER * whole.width, "height": SMALLER * whole.height}
    trees = [charts.tree(one, instant, title=f"{policy}, {words}", subtitle="", **size) for words, one in drawn.items()]
    waits = [f"{duration(float(schedule.metrics()['wait_time']))} {name}" for name, schedule in drawn.items()]
    chart = headed(charts.stacked(trees), f"Mean wait under {policy}: {', '.join(waits)}", WIDE)
    rows = {f"{policy}, {allocation}, s = {s:g}": _measures(chosen), f"{policy}, {ANYWHERE}": _measures(free)}
    table = pd.DataFrame(rows).T
    table[[WAIT, TOTAL]] /= 60
    table = table.rename(columns=HOURS)
    return chart, charts.table(table.rename_axis(f"{len(part):,} jobs").reset_index())


def _limits(trace, k, allocation):
    """Say what the controls can do, as the limits of `widgets.live`."""
    whole = trace if isinstance(trace, Trace) else log(trace)
    needed = _stages(k, whole.procs)
    limits = {"n": (range(needed, 25), f"{whole.procs:,} nodes need {needed} stages")}
    if ALLOCATIONS[allocation].whole:
        limits["s"] = "jobs anywhere save nothing"
    return limits


live.limits = _limits
live.groups = {"workload": ["trace", "s", "jobs"], "scheme": ["allocation", "policy", "k", "n"], "view": ["hour"]}


def _stages(k, nodes):
    return next(stages for stages in range(1, 25) if k**stages >= nodes)


@remember(4)
def _head(trace, jobs):
    return trace.head(jobs)


@remember(16)
def _simulated(trace, policy, tree):
    return simulate(trace, POLICIES[policy], machine=tree, overrun=KILL_BACKFILLED)


# The ledger --------------------------------------------------------------------------------------------------

READ_SO = (
    f"The last three readings, of which jobs may outlast the reservation, are run on the first {READ_JOBS:,} jobs of "
    f"each log, in {READ_COPIES} copies."
)
# The readings, as policies.
RULE = {
    "reservation by count": "EASY (count)",
    "reservation by block": "EASY (block)",
    "by count with spare nodes": "EASY (count, spare nodes)",
    "by block without spare nodes": "EASY (block, no spare nodes)",
    "whatever fits until the reservation": "EASY (whatever fits)",
}
ABOUT, SLIGHTLY, ROUNDED = 0.05, 0.1, 0.005  # of s
CLAIMS = claims_of("pascual2008")
NODES_PROMISED = "while a head with promised nodes waits, other jobs can pass it, so contiguity costs little by block."


@claimed
def claims(size: str, progress: bool) -> list[dict]:
    """Return the ledger of the paper's claims, judged under each reading of backfilling."""
    data = _on_all(SAMPLES[size], size, progress)
    titles = dict(zip(SAMPLES[size], data["trace"].unique(), strict=True))
    own = dict.fromkeys(BACKFILLING, data)
    if size == "full":
        own |= dict.fromkeys(READ[1:], _on_all(SAMPLES[size], size, progress, READ))
    names = {title: name for name, title in titles.items()}
    own = {policy: runs.assign(trace=runs["trace"].map(names)) for policy, runs in own.items()}
    rows, data = [_levels()], own[BACKFILLING[0]]
    for name, (check, logs, *why) in CHECKS.items():
        logs = SAMPLES[size] if logs is LOGS else logs
        part = data[data["trace"].isin(logs)]
        readings = {
            reading: check(own[policy][own[policy]["trace"].isin(logs)], ("FCFS", policy))
            for reading, policy in RULE.items()
            if policy in own
        }
        details = " ".join(filter(None, [CHOSEN, _copies(size), "" if check in ON_TIMES else _censored(part), READ_SO]))
        reasons = {"why": _free_waits(part) if _free_waits in why else ""}
        reasons["conjecture"] = NODES_PROMISED if NODES_PROMISED in why else ""
        rows.append(judged(CLAIMS[name], readings, ", ".join(titles[log] for log in logs), details=details, **reasons))
    return rows


def _levels():
    tree = KaryTree(4, 6)
    found = {int(procs): int(tree.stage(procs)) for sizes in STAGES.values() for procs in sizes}
    differ = [procs for stage, sizes in STAGES.items() for procs in sizes if found[procs] != stage]
    words = {procs: f"{procs:,} nodes: stage {stage}" for procs, stage in found.items()}
    measured = "; ".join(words[procs] for procs in (4, 14, *differ))
    why = f"other stages for {', '.join(f'{procs:,}' for procs in differ)} nodes"
    return exact(CLAIMS["PAS-0"], not differ, measured, why=why, details="; ".join(words.values()))


def _free_waits(data):
    """Say how long jobs wait under backfilling when placement is free."""
    part = data[data["policy"].isin(BACKFILLING[:1]) & (data["allocation"] == ANYWHERE)]
    waits = part.groupby("trace", sort=False)[WAIT].mean()
    told = ", ".join(f"{minutes:.3g} on {name}" for name, minutes in waits.items())
    return f"Minutes that jobs wait on average under backfilling when placement is free: {told}."


def _censored(data):
    """Say in how many runs of the primary reading lines do not cross; "" if they all do."""
    primary = _of(data, ("FCFS", BACKFILLING[0]))
    never, largest = _shown_in_figures(of_copies(primary))["never"], data["s"].max()
    words = f"lines cross nowhere up to s = {largest:g}, which counts as their crossing."
    return f"In {never.sum()} of {len(never)} runs (a copy of a log under a policy) {words}" if never.any() else ""


def _of(found, policies):
    return found[found["policy"].isin(policies)]


def _shown_in_figures(found):
    """Leave out FCFS for the logs of Figure 5, which has backfilling only, and those that are not in the paper."""
    return found[(found["policy"] != "FCFS") | (found["trace"] == HPC2N)]


def _crossed(data, policies):
    """Return the crossings as runs of a check."""
    found = _shown_in_figures(of_copies(data))
    return _of(found, policies).drop(columns="never").rename(columns={"crossing": "value"})


def _apart(runs, name, one, other):
    """Return by how much a case lies above another, in each copy."""
    wide = runs.pivot_table("value", "seed", name)
    return (wide[one] - wide[other]).rename("value").reset_index()


def _many_times(data, policies):
    runs = _ratios_of_copies(_of(data, policies))
    return Check("wait, times as long", runs, "within", (7, 100), form="{:.3g}", every=True)


def _about(data, policies):
    runs = _crossed(data, policies).drop(columns="trace")
    return Check("crossing", runs, "is", 0.25, noise=ABOUT, form=S, single=True)


def _nearly_same(data, policies):
    runs = _apart(_crossed(data, policies), "policy", policies[-1], "FCFS")
    return Check("backfilling's crossing less that of FCFS", runs, "within", (-ABOUT, ABOUT), form="{:+.3f}")


def _within(data, policies):
    return Check("crossing", _crossed(data, policies[-1:])[["seed", "value"]], "within", (0.25, 0.30), ROUNDED, S)


def _above(one, other, *expected):
    """Make a check that compares the crossings of two logs under backfilling."""

    def check(data, policies):
        runs = _apart(_crossed(data, policies[-1:]), "trace", one, other)
        return Check(f"crossing on {one} less that on {other}", runs, *expected, form="{:+.3f}")

    return check


def _lower(data, policies):
    data = data[(data["allocation"] == CONTIGUOUS) | (data["s"] == 0)]  # without contiguity s means nothing
    contiguous = data["allocation"] + data["s"].map(", s {:g}".format)
    data = data.assign(placed=contiguous.where(data["allocation"] == CONTIGUOUS, data["allocation"]))
    by = ["trace", "placed"]
    wide = data.pivot_table(TOTAL, [*by, "seed"], "policy", sort=False).reset_index()
    runs = wide[[*by, "seed"]].assign(value=100 * (ratios_of_means(wide, policies[-1], "FCFS", by) - 1))
    return Check("total time against FCFS", runs, "lower", every=True)


def _mostly_waiting(data, policies):
    part = _of(data[(data["allocation"] == CONTIGUOUS) & (data["s"] == 0)], policies)
    runs = part[[*CASE, "seed"]].assign(value=100 * part["waiting"])
    return Check("waiting, of the total time at s = 0", runs, "higher", 50, form="{:.0f} %")


def _waits_fall(data, policies):
    data = _of(data[data["allocation"] == CONTIGUOUS], policies).sort_values("s", kind="stable")
    steps = data.groupby([*CASE, "seed"], sort=False)
    data = data.assign(**{"from": steps["s"].shift(), "to": data["s"], "before": steps[WAIT].shift()})
    data, by = data.dropna(subset="before"), [*CASE, "from", "to"]
    runs = data[[*by, "seed"]].assign(value=100 * (ratios_of_means(data, WAIT, "before", by) - 1))
    return Check("wait against the next smaller s", runs, "lower", every=True)


def _overall(data, policies):
    return Check("crossing", _crossed(data, policies), "within", (0.25, 0.30), ABOUT, S)


# Of each claim but the first: the check, the logs, and what to say where it fails.
CHECKS = {
    "PAS-1": (_many_times, LOGS, _free_waits, NODES_PROMISED),
    "PAS-2a": (_about, [HPC2N], NODES_PROMISED),
    "PAS-2b": (_nearly_same, [HPC2N], NODES_PROMISED),
    "PAS-3a": (_within, [BLUE], NODES_PROMISED),
    "PAS-3b": (_above(BLUE, HPC2N, "higher"), [BLUE, HPC2N]),
    "PAS-4a": (_above(THUNDER, BLUE, "higher"), [THUNDER, BLUE]),
    "PAS-4b": (_above(THUNDER, BLUE, "not higher", SLIGHTLY), [THUNDER, BLUE], _free_waits),
    "PAS-5": (_lower, LOGS),
    "PAS-6a": (_mostly_waiting, LOGS, NODES_PROMISED),
    "PAS-6b": (_waits_fall, LOGS),
    "PAS-7": (_overall, LOGS, _free_waits, NODES_PROMISED),
}
ON_TIMES = (_many_times, _lower, _mostly_waiting, _waits_fall)  # the other checks are on crossings
