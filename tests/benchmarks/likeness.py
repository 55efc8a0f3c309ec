"""How similar the stand-ins are to their logs: the tables of data/README.md.

    python -m tests.benchmarks.likeness [--part marginals|rhythm|easy|starts|schemes ...] [--seeds 3]

It needs the logs (SCHEDLAB_DATA), and takes some minutes, nearly all of them for conservative backfilling.
"""

import argparse
import itertools
from dataclasses import replace

import numpy as np
import pandas as pd

import schedlab as sl
from schedlab.workload import standin
from schedlab.workload.standin import fitting

COMPARED = ("CTC-SP2-1996", "KTH-SP2-1996", "SDSC-SP2-1998")  # under every scheme
SCHEMES = ("fcfs", "easy", "easy-sjf", "conservative")
LOADS = (0.6, 0.7, 0.8)  # beyond, FCFS saturates
WINDOWS = {"minute": 60, "10 minutes": 600, "hour": 3600, "6 hours": 21_600, "day": 86_400, "week": 604_800}
SIGNIFICANT = 2  # standard errors of the mean weekly difference
CLOSE = 0.25


def distance(one, other):
    """Return the Kolmogorov-Smirnov distance of two samples: the largest difference of their distributions."""
    values = np.union1d(one, other)
    shares = [np.searchsorted(np.sort(sample), values, side="right") / len(sample) for sample in (one, other)]
    return np.abs(shares[0] - shares[1]).max()


def repeats(jobs):
    """Return the share of jobs with size and estimate of the user's last job, and of these that of like run time."""
    last = jobs.groupby("user_id")[["requested_procs", "requested_time", "run_time"]].shift()
    same = (last["requested_procs"] == jobs["requested_procs"]) & (last["requested_time"] == jobs["requested_time"])
    alike = (jobs["run_time"] - last["run_time"]).abs() * fitting.ALIKE <= last["run_time"]
    return same.mean(), alike[same].mean()


def marginals(name, real, fake):
    """Compare the jobs' properties, regardless of when they arrive."""
    kinds = {
        "size": lambda jobs: jobs["requested_procs"],
        "run time": lambda jobs: jobs["run_time"],
        "estimate": lambda jobs: jobs["requested_time"],
        "run / estimate": lambda jobs: jobs["run_time"] / jobs["requested_time"],
        "work": lambda jobs: jobs["run_time"] * jobs["requested_procs"],
        "gap": lambda jobs: np.diff(jobs["submit_time"]),
    }
    row = {"log": name, "jobs": f"{len(real):,} / {len(fake):,}"}
    row["load"] = f"{real.offered_load():.3f} / {fake.offered_load():.3f}"
    row |= {f"D {what}": f"{distance(of(real.table), of(fake.table)):.3f}" for what, of in kinds.items()}
    over = [(trace.table["run_time"] > trace.table["requested_time"]).mean() for trace in (real, fake)]
    same, alike = zip(*(repeats(trace.table) for trace in (real, fake)), strict=True)
    users = [trace.table["user_id"].value_counts(normalize=True) for trace in (real, fake)]
    row["users"] = " / ".join(str(len(shares)) for shares in users)
    row["of the busiest ten"] = pair([shares.iloc[:10].sum() for shares in users])
    row["over estimate"], row["repeats"], row["alike"] = pair(over), pair(same), pair(alike)
    return row


def pair(values):
    """Print the log's value and the stand-in's."""
    return " / ".join(f"{value:.2f}" for value in values)


def series(trace, width, end):
    """Return the jobs, and the work in processor-seconds, that arrive in each window."""
    jobs = trace.table
    window = jobs["submit_time"].to_numpy() // width
    work = (jobs["run_time"] * jobs["requested_procs"]).to_numpy()
    return [np.bincount(window, weights, end // width + 1) for weights in (None, work)]


def rhythm(name, real, fake):
    """Compare arrivals: autocorrelation from one window to the next, and log against stand-in by window."""
    end = int(max(real.table["submit_time"].max(), fake.table["submit_time"].max()))
    for window, width in WINDOWS.items():
        both = [series(trace, width, end) for trace in (real, fake)]
        row = {"log": name, "window": window}
        for what, place in (("jobs", 0), ("work", 1)):
            one, other = both[0][place], both[1][place]
            row[f"{what}, to the next"] = pair([np.corrcoef(of[:-1], of[1:])[0, 1] for of in (one, other)])
            row[f"{what}, to the log"] = f"{np.corrcoef(one, other)[0, 1]:.2f}"
        yield row


def significant(one, other):
    """Tell whether two schedules of the same jobs differ in mean wait, by their differences summed over weeks."""
    difference = one.jobs["wait_time"] - other.jobs["wait_time"]
    weekly = difference.groupby(one.jobs["submit_time"] // WINDOWS["week"]).sum()
    return abs(weekly.mean()) > SIGNIFICANT * weekly.std() / np.sqrt(len(weekly))


def conclusions(name, real, fake):
    """Compare results of the schemes: wait, bounded slowdown, and which scheme waits less than which."""
    for load in LOADS:
        schedules = [{one: sl.simulate(trace.scale_load(load), one) for one in SCHEMES} for trace in (real, fake)]
        waits = [{one: run.metrics()["wait_time"] for one, run in runs.items()} for runs in schedules]
        slowdowns = [{one: run.metrics()["bounded_slowdown"] for one, run in runs.items()} for runs in schedules]
        pairs = list(itertools.combinations(SCHEMES, 2))
        clear = [(one, other) for one, other in pairs if significant(schedules[0][one], schedules[0][other])]
        wrong = [
            f"{one}, {other}"
            for one, other in clear
            if (waits[0][one] < waits[0][other]) != (waits[1][one] < waits[1][other])
        ]
        row = {"log": name, "load": load}
        for scheme in SCHEMES:
            row[f"{scheme} wait"] = f"{waits[0][scheme]:,.0f} {waits[1][scheme] / waits[0][scheme] - 1:+.0%}"
            ratio = slowdowns[1][scheme] / slowdowns[0][scheme]
            row[f"{scheme} bsld"] = f"{slowdowns[0][scheme]:,.1f} {ratio - 1:+.0%}"
        row["clear differences"], row["in another order"] = f"{len(clear)} of {len(pairs)}", "; ".join(wrong) or "none"
        yield row


def easy(name, real, fakes):
    """Compare EASY's mean wait and bounded slowdown, for several seeds of the stand-in."""
    for load in LOADS:
        schedules = [sl.simulate(trace.scale_load(load), "easy").metrics() for trace in (real, *fakes)]
        row = {"log": name, "load": load}
        for measure, title in (("wait_time", "wait"), ("bounded_slowdown", "bsld")):
            log, *others = (measures[measure] for measures in schedules)
            row[title] = f"{log:,.0f}" if measure == "wait_time" else f"{log:,.1f}"
            row[f"{title}, stand-in"] = ", ".join(f"{other / log - 1:+.0%}" for other in others)
        within = abs(schedules[1]["wait_time"] / schedules[0]["wait_time"] - 1) <= CLOSE
        yield row | {f"within {CLOSE:.0%}": "yes" if within else "no"}


def crowded(trace):
    """Tell which jobs run, according to the log, while more processors are in use than the machine has."""
    start, procs = trace.table["submit_time"].to_numpy(), trace.table["requested_procs"].to_numpy()
    end = start + trace.table["run_time"].to_numpy()
    times, change = np.concatenate([end, start]), np.concatenate([-procs, procs])
    order = np.lexsort((change, times))
    times, used = times[order], np.cumsum(change[order])
    over = np.append(0, np.cumsum(np.diff(times) * (used > trace.procs)[:-1]))  # seconds of overuse up to each time
    return over[np.searchsorted(times, end)] > over[np.searchsorted(times, start)]


def starts(name, real, fakes):
    """Compare EASY's mean wait if submit times are starts, also without the jobs that the log cannot have run so."""
    ours = crowded(real)
    kept = replace(real, table=real.table[~ours])
    for load in LOADS:
        log, rest, *others = (
            sl.simulate(trace.scale_load(load), "easy").metrics()["wait_time"] for trace in (real, kept, *fakes)
        )
        row = {"log": name, "load": load, "wait": f"{log:,.1f}", "left out": f"{ours.sum():,} of {len(ours):,}"}
        row["wait without them"] = f"{rest:,.1f}"
        yield row | {"wait, stand-in": ", ".join(f"{other:,.1f}" for other in others)}


def show(title, rows):
    """Print a table as Markdown."""
    table = pd.DataFrame(list(rows)).astype(str)
    lines = [table.columns.tolist(), ["---"] * len(table.columns), *table.to_numpy().tolist()]
    print(f"\n{title}\n")
    print("\n".join(f"| {' | '.join(cells)} |" for cells in lines), flush=True)


def main():
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = ("marginals", "rhythm", "easy", "starts", "schemes")
    parser.add_argument("--part", nargs="+", choices=parts, default=parts)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    names = standin.names()
    real = {name: sl.load_trace(name) for name in names}
    fake = {name: sl.load_trace(name, standin=True) for name in names}
    few = [name for name in names if name.startswith(COMPARED)]
    if "marginals" in options.part:
        show("Marginals: log / stand-in", (marginals(name, real[name], fake[name]) for name in names))
    if "rhythm" in options.part:
        rows = (row for name in few for row in rhythm(name, real[name], fake[name]))
        show("Rhythm: log / stand-in", rows)
    seeds = range(standin.SEED, standin.SEED + options.seeds)
    if "easy" in options.part:
        others = ([sl.load_trace(name, standin=True, seed=seed) for seed in seeds] for name in names)
        rows = (row for name, fakes in zip(names, others, strict=True) for row in easy(name, real[name], fakes))
        show("EASY: the log, and the stand-ins of several seeds", rows)
    if "starts" in options.part:
        unwaited = [name for name in names if (real[name].table["wait_time"] < 0).all()]
        others = ([sl.load_trace(name, standin=True, seed=seed) for seed in seeds] for name in unwaited)
        rows = (row for name, fakes in zip(unwaited, others, strict=True) for row in starts(name, real[name], fakes))
        show("EASY where submit times are starts: the log, without jobs that overfill the machine, and stand-ins", rows)
    if "schemes" in options.part:
        rows = (row for name in few for row in conclusions(name, real[name], fake[name]))
        show("Schemes: the log, and how much more on the stand-in", rows)


if __name__ == "__main__":
    main()
