"""Long logs: seconds and bytes per job, from reading to a picture, for logs of growing length on a large machine.

    python tests/benchmarks/bench_long.py [--jobs 100000 1000000 10000000] [--procs 1000000] [--load 0.9]
        [--schemes easy fcfs conservative]
    python tests/benchmarks/bench_long.py --jobs 1000000 --procs 512 --load 1.2 --schemes easy easy-sjbf

The second command measures long queues, on which conservative backfilling would take hours.

The logs are made up (log-normal run times, sizes that are powers of two), written to a temporary folder, and read in a
process of their own. Memory is the peak of this process beyond what it uses with just the package loaded.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

LINES = 200_000  # written at a time
MEASURE = """
import json, resource, sys, time
import schedlab as sl
from schedlab.workload import swf

def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

def timed(name, call):
    begin = time.perf_counter()
    found = call()
    took[name] = time.perf_counter() - begin
    held[name] = peak() - base
    return found

small = sl.simulate(sl.model_trace("lublin", jobs=300, machine=1024), "easy")
for scheme in sys.argv[2:]:
    sl.simulate(small.trace, scheme)
sl.charts.specified(sl.charts.gantt(small.validate()))
small.metrics()
took, held, base = {}, {}, peak()
trace = timed("read", lambda: sl.read_swf(sys.argv[1]))
timed("read again", lambda: sl.read_swf(sys.argv[1]))
first, *others = sys.argv[2:]
schedule = timed(first, lambda: sl.simulate(trace, first))
for scheme in others:
    timed(scheme, lambda: sl.simulate(trace, scheme))
timed("validate", schedule.validate)
measures = timed("metrics", schedule.metrics)
timed("profile", lambda: sl.charts.specified(sl.charts.profile(schedule)))
if len(trace) <= 1_000_000:
    timed("Gantt", lambda: sl.charts.specified(sl.charts.gantt(schedule)))
print(json.dumps({"took": took, "held": held, "jobs": len(trace), "table": int(trace.table.memory_usage().sum()),
                  "queue": measures["max_queue"]}))
"""


def write(path, jobs, procs, load, seed=1):
    """Write a log."""
    draws = np.random.default_rng(seed)
    run = np.maximum(1, draws.lognormal(6.5, 1.8, jobs)).astype(np.int64).clip(1, 200_000)
    size = 2 ** draws.integers(0, int(np.log2(procs)) - 3, jobs)
    estimate = np.maximum(run, (run * draws.uniform(1, 4, jobs)).astype(np.int64))
    submit = np.cumsum(draws.exponential((run * size).sum() / procs / load / jobs, jobs)).astype(np.int64)
    user = draws.integers(1, 500, jobs)
    with open(path, "w") as file:
        file.write(f"; MaxProcs: {procs}\n; UnixStartTime: 1000000000\n")
        for begin in range(0, jobs, LINES):
            part = slice(begin, begin + LINES)
            rows = zip(*(column[part].tolist() for column in (submit, run, size, estimate, user)), strict=True)
            file.writelines(
                f"{number} {at} 10 {took} {wide} -1 -1 {wide} {told} -1 1 {who} 1 -1 1 1 -1 -1\n"
                for number, (at, took, wide, told, who) in enumerate(rows, start=begin + 1)
            )


def measured(jobs, procs, load, schemes):
    """Write a log and measure it in a process of its own: seconds and bytes by what is done, and sizes."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "long.swf")
        write(log, jobs, procs, load)
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, log, *schemes], check=True, capture_output=True, text=True
        )
        return json.loads(done.stdout) | {"text": log.stat().st_size}


def main():
    """Print one table per log."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--procs", type=int, default=1_000_000)
    parser.add_argument("--load", type=float, default=0.9)
    parser.add_argument("--schemes", nargs="+", default=["easy", "fcfs", "conservative"])
    options = parser.parse_args()
    for jobs in options.jobs:
        found = measured(jobs, options.procs, options.load, options.schemes)
        ratio = found["held"]["read"] / found["table"]
        print(f"{found['jobs']:,} jobs, {found['text'] / 1e6:,.0f} MB of text, table {found['table'] / 1e6:,.0f} MB")
        print(f"reading holds {ratio:.2f} of the table at most; longest queue {found['queue']:.0f}")
        for name, seconds in found["took"].items():
            held = found["held"][name] / found["jobs"]
            micros = 1e6 * seconds / found["jobs"]
            print(f"    {name:<14}{seconds:8.2f} s {micros:8.2f} us a job {held:8.0f} bytes a job")


if __name__ == "__main__":
    main()
