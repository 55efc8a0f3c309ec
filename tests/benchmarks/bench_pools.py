"""Machines of several pools: the time of more resources in relation to one, and a year of a large cluster.

    python tests/benchmarks/bench_pools.py [--log CTC-SP2-1996-3.1-cln] [--runs 5] [--jobs 1000000]

Demands of further resources are drawn evenly from 0 to `DEMAND` times the processors of a job, on as many as the
machine has processors: such a resource is the scarce one for some jobs, and waits get longer. The time of one resource
is that of the kernels for processors alone, measured in the same run.
"""

import argparse
from dataclasses import replace
from functools import partial
from statistics import median

import numpy as np
import pandas as pd
from timing import bytes_held, seconds

import schedlab as sl

DEMAND = 1.5
YEAR = 365 * 86_400
NAMES = ("second", "third", "fourth")


def with_resources(trace, many):
    """Return a log with so many resources, and its machine."""
    draws = np.random.default_rng(1)
    procs = trace.jobs["requested_procs"].to_numpy()
    columns = {
        name: np.minimum(draws.integers(0, (DEMAND * procs).astype(int) + 1), trace.procs) for name in NAMES[: many - 1]
    }
    pool = sl.Pool(trace.procs, **dict.fromkeys(columns, trace.procs))
    return replace(trace, table=trace.table.assign(**columns)), sl.Pools({"all": pool}, column="none")


def cluster(jobs, load=0.85):
    """Return a year of made-up jobs in three pools, one of them with GPUs, and a machine with weekly windows."""
    draws = np.random.default_rng(1)
    place = draws.choice(3, jobs, p=[0.8, 0.15, 0.05])
    wide = np.where(place == 0, 2 ** draws.integers(0, 9, jobs), 8 * 2 ** draws.integers(0, 4, jobs))
    run = np.exp(draws.normal(7.0, 1.9, jobs)).astype(int).clip(1, 2 * 86_400)
    estimate = np.minimum((run * draws.uniform(1, 5, jobs)).astype(int) + 60, 2 * 86_400)
    gpus = np.where(place == 1, 2 ** draws.integers(0, 4, jobs), 0)
    columns = {"submit": np.sort(draws.integers(0, YEAR, jobs)), "run": np.minimum(run, estimate)}
    table = pd.DataFrame(columns | {"estimate": estimate, "procs": wide, "gpus": gpus, "part": np.choose(place, NAMES)})
    size = [int((wide * run)[place == i].sum() / YEAR / load) for i in range(3)]
    named = {name: name for name in ("submit", "run", "estimate", "procs")}
    trace = sl.from_frame(table, machine=sum(size), partition="part", name=f"{jobs:,} jobs", **named)
    pools = [sl.Pool(size[0]), sl.Pool(size[1], gpus=int((gpus * run).sum() / YEAR / load)), sl.Pool(size[2])]
    weekly = [sl.Closed(begin, begin + 6 * 3600) for begin in range(2 * 86_400, YEAR, 7 * 86_400)]
    return trace, sl.Pools(dict(zip(NAMES, pools, strict=True)), closed=weekly)


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--log", default="CTC-SP2-1996-3.1-cln")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1_000_000)
    options = parser.parse_args()
    trace = sl.load_trace(options.log)
    for scheme in ("easy", "conservative"):
        sl.simulate(trace, scheme)
        print(f"{trace.name}, {scheme}, beside processors alone in the same rounds")
        for many in (1, 2, 4):
            # With one resource, a window after the last end keeps it from being simulated as processors alone.
            log, machine = with_resources(trace, many)
            if many == 1:
                machine = sl.Pools(dict(machine.pools), closed=sl.Closed(10**10, 10**10 + 1), column="none")
            call = partial(sl.simulate, log, scheme, machine=machine)
            wait = call().metrics()["wait_time"]
            pairs = [(seconds(partial(sl.simulate, trace, scheme), 1), seconds(call, 1)) for _ in range(options.runs)]
            alone, took = map(median, zip(*pairs, strict=True))
            rate = len(trace) / took
            times = f"{1e3 * took:6.0f} ms, {1e3 * alone:.0f} ms alone, {took / alone:4.2f} times"
            held = bytes_held(call) / len(trace)
            print(
                f"  {many} resources: {times}, {rate:9,.0f} jobs/s, mean wait {wait:,.0f} s, {held:,.0f} bytes per job"
            )
    trace, machine = cluster(options.jobs)
    print(f"{trace.name} on {machine}")
    took = seconds(lambda: sl.simulate(trace, "easy", machine=machine), 1)
    print(f"  easy: {took:.1f} s, {len(trace) / took:,.0f} jobs/s")


if __name__ == "__main__":
    main()
