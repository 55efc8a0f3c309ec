"""How far lower bounds are from the optimum of small instances, and from schemes on whole logs.

    python tests/benchmarks/bench_bounds.py [--instances 3000] [--logs KTH-SP2-1996 SDSC-SP2-1998] [--load 0.8]

For each measure and proof: the share of instances on which the bound equals the optimum, and the mean fraction of the
optimum that it proves. Both bound and optimum count from the trivial bound (no wait; the longest job), and only
instances whose optimum lies above it count.
"""

import argparse
import random
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
import twin_bounds

import schedlab as sl
from schedlab.schedule.bounds import PROOFS
from schedlab.testing import trace_of

MEASURES = ("wait_time", "makespan")


def drawn(count, seed=1):
    """Draw instances of five jobs that arrive within a few seconds of each other."""
    draw = random.Random(seed)
    for _ in range(count):
        procs = draw.randint(2, 5)
        yield sorted((draw.randint(0, 6), draw.randint(1, 6), draw.randint(1, procs)) for _ in range(5)), procs


def best(jobs, procs):
    """Return the least mean wait, and the least makespan, of all schedules."""
    begin, count = jobs[0][0], len(jobs)
    costs = sum, lambda starts: max(start + job[1] for start, job in zip(starts, jobs, strict=True))
    starts, last = twin_bounds.best(jobs, procs, costs)
    waits = (starts - sum(job[0] for job in jobs)) / count
    return dict(zip(MEASURES, (waits, last - begin), strict=True))


def against_the_best(count):
    """Compare the bounds of instances with their best schedules."""
    rows = []
    for jobs, procs in drawn(count):
        optimum = best(jobs, procs)
        table = sl.lower_bounds(trace_of([(submit, run, run, width) for submit, run, width in jobs], procs))
        for measure, value in optimum.items():
            trivial = table.loc[measure, "run times"]
            for proof in ("bound", *PROOFS):
                found = table.loc[measure, proof]
                if found > value + 1e-6:
                    raise AssertionError(f"{proof}: {measure} of {jobs} on {procs} is {value}, below its bound {found}")
                proved = (max(found, trivial) - trivial) / (value - trivial) if value > trivial else np.nan
                rows.append((measure, proof, value - found < 1e-6, proved))
    table = pd.DataFrame(rows, columns=["measure", "proof", "is the optimum", "proved"]).dropna(subset="proved")
    print(f"{count} instances of five jobs; shares of those whose optimum is above the trivial bound")
    print(table.groupby(["measure", "proof"], sort=False).mean().round(3).to_string())


def of_logs(names, load):
    """Bound whole logs."""
    for name in names:
        trace = sl.load_trace(name).scale_load(load)
        begin = time.perf_counter()
        bounds = sl.lower_bounds(trace)
        took = time.perf_counter() - begin
        print(f"\n{trace.title}: {took:.1f} s\n{bounds.drop(columns=list(PROOFS)).to_string()}")
        table = sl.gaps(sl.simulate(trace, "easy"), bounds)
        print(table[["scheme", "measure", "value", "above"]].to_string(index=False))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=3000)
    parser.add_argument("--logs", nargs="*", default=["KTH-SP2-1996", "SDSC-SP2-1998"])
    parser.add_argument("--load", type=float, default=0.8)
    options = parser.parse_args()
    against_the_best(options.instances)
    of_logs(options.logs, options.load)
