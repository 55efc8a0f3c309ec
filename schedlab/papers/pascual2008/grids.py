"""The paper's logs, trees and policies; copies of logs with and without contiguity, and where it begins to pay."""

from functools import partial

import numpy as np
import pandas as pd

from schedlab import EASY, FCFS, Schedule, simulate
from schedlab.experiment import grid, remember
from schedlab.machine import KaryTree
from schedlab.schedule.statistics import crossing, over_seeds, ratios_of_means
from schedlab.workload.conventions import KILL_BACKFILLED
from schedlab.workload.loading import load_trace
from schedlab.workload.trace import Trace

from ..cards import chosen_size

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
CHOSEN = (
    "The paper does not say what the head of the queue is promised under backfilling. The rule by count was chosen "
    "after results had been seen, because it comes closest to the published numbers. The sound rule is that by block."
)
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

    For the policies `READ` there are fewer jobs, copies and values of s. One row for each copy (seed: 0 is the log as
    it is, the others are shaken: schedules are chaotic, and their spread shows how much of a value is chance), policy,
    allocation and s: means of wait and total time, in minutes; waiting, the share of the total time; jobs killed;
    free_minutes, the wait without contiguity; ratio, the wait divided by that; difference, the total time less that
    without contiguity (minutes).
    """
    few = policies == READ
    trace = first_jobs(log(name), READ_JOBS) if few else log(name)
    shares, copies = (COARSE[size], READ_COPIES) if few else (SHARES[chosen_size(size)], COPIES[size])
    trees = [machine(name, ANYWHERE), *(machine(name, CONTIGUOUS, speedup=share) for share in shares)]
    label = f"placing {name}{', as read' * few}"
    data = on_trees(trace, label, progress, seed=range(copies), policy=list(policies), tree=trees)
    rows, free = [], {}
    for run, tree in zip(data.to_dict("records"), trees * (len(data) // len(trees)), strict=True):
        means = {key: run[key] for key in MEANS}
        if tree.allocation == ANYWHERE:  # the first of each copy and policy
            free = means
        row = {"trace": trace.title, "seed": run["seed"], "policy": run["policy"], "allocation": tree.allocation}
        row |= means | {"free_minutes": free[WAIT], "ratio": ratio_to_free(means, free)}
        row["difference"] = means[TOTAL] - free[TOTAL]
        rows += [{**row, "s": share} for share in (shares if tree.allocation == ANYWHERE else (tree.speedup,))]
    return pd.DataFrame(rows)


def on_trees(trace, label, progress, seed=0, overrun=KILL_BACKFILLED, **values):
    """Place the jobs of a trace under policies on trees; one row a run.

    All values are passed on, even defaults, so that a run that several figures ask for is recognised as the same.
    """
    return grid(partial(_place, trace), activity=label, progress=progress, seed=seed, overrun=overrun, **values)


def _place(trace, policy, tree, seed, overrun, local=False):
    """Measure a schedule of a trace, or of its copy with a seed; with `local`, also how local its jobs are."""
    schedule = simulate(_copy(trace, seed), POLICIES[policy], machine=tree, overrun=overrun)
    return measures_of(schedule) if local else _means(schedule)


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


def ratio_to_free(means, free):
    """Return how many times as long jobs wait with contiguity; nan if nothing waits without it."""
    return means[WAIT] / free[WAIT] if free[WAIT] else np.nan


BY = ["trace", "policy"]


def ratios(table: pd.DataFrame) -> pd.DataFrame:
    """Return how many times as long contiguous jobs wait at s = 0: of the means over the copies, with intervals."""
    return over_seeds(ratio_of_each(table).rename(columns={"value": "ratio"}), BY)


def ratio_of_each(table):
    """Return each copy's part of the ratio of the mean waits, where anything waits without contiguity."""
    part = table[(table["s"] == 0) & (table["allocation"] == CONTIGUOUS)]
    part = part[part.groupby(BY)["free_minutes"].transform("mean") > 0]
    return part[[*BY, "seed"]].assign(value=ratios_of_means(part, WAIT, "free_minutes", BY))


def of_copies(table: pd.DataFrame) -> pd.DataFrame:
    """Find where contiguous placement begins to pay, by total time, in each copy of each log under each policy.

    One row a copy: trace, policy, seed, crossing (the s), and never: 1 if it does not pay up to the largest s, which
    then stands for the crossing; else 0.
    """
    contiguous = table[table["allocation"] == CONTIGUOUS]
    rows = []
    for key, part in contiguous.groupby([*BY, "seed"], sort=False):
        at = crossing(part["s"], part["difference"])
        rows.append((*key, part["s"].max() if np.isnan(at) else at, int(np.isnan(at))))
    return pd.DataFrame(rows, columns=[*BY, "seed", "crossing", "never"])


def crossings(table: pd.DataFrame) -> pd.DataFrame:
    """Find where contiguous placement begins to pay: the mean over the copies, and its interval.

    The column never has the share of the copies in which it does not; in these the largest s stands for the crossing.
    """
    return over_seeds(of_copies(table), BY).drop(columns=["never_low", "never_high"])


S, NEVER, NOWHERE = "{:.3f}", "nowhere up to {:g}", "nowhere up to the largest s"


def copies_in_words(size):
    shaken = COPIES[size] - 1
    return (
        f"Means over the log as it is and {shaken} {'copy' if shaken == 1 else 'copies'} whose submissions are moved "
        "by up to a minute; 95 % intervals show how far chance moves them."
    )


def on_all_logs(names, size, progress, policies=DRAWN):
    return pd.concat([against_speedup(name, size, progress, policies) for name in names], ignore_index=True)


HOPS = "hops (jobs of several nodes)"


def measures_of(schedule):
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


def stages_of(k, nodes):
    return next(stages for stages in range(1, 25) if k**stages >= nodes)


@remember(4)
def first_jobs(trace, jobs):
    return trace.head(jobs)


def of_policies(runs, policies):
    return runs[runs["policy"].isin(policies)]
