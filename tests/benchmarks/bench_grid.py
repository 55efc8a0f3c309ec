"""Grids: the overhead of a run, one study run four ways, and what is lost when a process is killed.

    python tests/benchmarks/bench_grid.py [--only overhead ways kills] [--runs 10000] [--kills 100]

overhead: milliseconds per run, of runs that do nothing, on threads, with a store, and read from it again.
ways: EASY on 5,000 jobs of KTH's stand-in at many loads and seeds: on threads, killed and resumed, on two workers of
Dask, and as four shards; seconds of each, efficiency of two workers, and whether the tables are identical.
kills: a grid that is killed at random moments and resumed; the runs that were lost or made twice.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import pandas as pd

STUDY = """
import os

import schedlab as sl
from schedlab.experiment import remember


@remember(4)
def log(jobs=5_000):
    return sl.load_trace("KTH-SP2-1996", standin=True).head(jobs)


def run(load, seed):
    trace = log().scale_load(load).shake(60, seed)
    return sl.simulate(trace, "easy").metrics()[["wait_time", "bounded_slowdown", "utilization"]]


values = {{"load": [round(0.5 + step / 200, 3) for step in range({loads})], "seed": range({seeds})}}
"""
KILLED = """
import os, threading, time

def run(a, b):
    name = f"{{os.getpid()}} {{threading.get_ident()}} {{a}} {{b}}\\n"
    with open({log!r}, "a") as file:
        file.write("begin " + name)
    time.sleep(0.004 * (1 + (a + b) % 5))
    with open({log!r}, "a") as file:
        file.write("end " + name)
    return {{"sum": a + b}}

values = {{"a": range(60), "b": range(50)}}
"""


def overhead(options):
    """Measure runs that do nothing."""
    import schedlab as sl
    from schedlab.experiment import forget

    def nothing(a):
        return {"x": a, "y": 0.5 * a, "z": 1}

    def timed(**how):
        forget()
        begin = time.perf_counter()
        sl.grid(nothing, a=range(options.runs), progress=False, **how)
        return 1e3 * (time.perf_counter() - begin) / options.runs

    rows = {"threads": [], "one thread": [], "with a store": [], "read from it": []}
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            rows["threads"].append(timed())
            rows["one thread"].append(timed(threads=1))
            rows["with a store"].append(timed(store=f"{folder}/runs"))
            rows["read from it"].append(timed(store=f"{folder}/runs"))
    for name, values in rows.items():
        print(f"{name:<16}{median(values):8.3f} ms a run", flush=True)


def command(folder, *arguments):
    """Begin a call of the command line on the study in a folder."""
    call = [sys.executable, "-m", "schedlab.cli", "grid", "study.py", *arguments]
    return subprocess.Popen(call, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)


def kill(process):
    """Kill a process and all that it has started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def ways(options):
    """Run the same study four ways."""
    import joblib

    import schedlab as sl
    from schedlab.experiment import forget, studies

    seeds = max(options.runs // 100, 1)
    text = STUDY.format(loads=100, seeds=seeds)
    tables, took = {}, {}

    def finished(name, plan, folder, begin):
        took[name] = time.perf_counter() - begin
        forget()
        table = studies.table(plan, f"{folder}/runs")
        tables[name] = table if table is not None else pd.DataFrame()
        print(f"{name:<44}{took[name]:8.1f} s, {len(tables[name]):,} runs", flush=True)

    for name in ("one thread", "two threads", "killed and resumed", "two Dask workers", "four shards"):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "study.py").write_text(text)
            plan = studies.read_study(Path(folder, "study.py"))
            plan.run(**plan.runs[0])  # compiled, and the log read
            begin = time.perf_counter()
            grid = {"store": f"{folder}/runs", "progress": False}
            if name in ("one thread", "two threads"):
                forget()
                sl.grid(plan.run, plan.runs, threads=1 if name == "one thread" else 2, **grid)
            elif name == "killed and resumed":
                for _ in range(5):
                    process = command(folder, "--store", "runs")
                    time.sleep(took["two threads"] / 5)
                    kill(process)
                command(folder, "--store", "runs").communicate()
            elif name == "four shards":
                parts = [command(folder, "--store", "runs", "--shard", f"{i}/4", "--threads", "1") for i in range(1, 5)]
                for part in parts:
                    part.communicate()
            else:
                from distributed import Client, LocalCluster

                forget()
                with (
                    LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
                    Client(cluster),
                    joblib.parallel_config("dask"),
                ):
                    begin = time.perf_counter()
                    sl.grid(plan.run, plan.runs, **grid)
            finished(name, plan, folder, begin)
    first = tables["one thread"]
    for name, table in tables.items():
        pd.testing.assert_frame_equal(table, first, check_exact=True, obj=name)
    print("all tables are identical")
    for name in ("two threads", "two Dask workers"):
        print(f"{name}: efficiency {took['one thread'] / took[name] / 2:.2f}")


def kills(options):
    """Kill a grid at random moments."""
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        Path(folder, "study.py").write_text(KILLED.format(log=str(log)))
        count = 0
        while count < options.kills:
            process = command(folder, "--store", "runs", "--threads", "2")
            wanted = (len(log.read_text()) if log.exists() else 0) + 1
            while process.poll() is None and not (log.exists() and len(log.read_text()) >= wanted):
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 0.4))
            if process.poll() is not None:
                print(f"all runs were done after {count} kills")
                break
            kill(process)
            count += 1
        command(folder, "--store", "runs", "--threads", "2").communicate()
        lines = [line.split() for line in log.read_text().splitlines()]
        table = __import__("schedlab").store(f"{folder}/runs").table()
    begun, ended, again = {}, set(), 0
    last = {}  # the last run of each thread
    for what, process, thread, *values in lines:
        key = tuple(values)
        if what == "end":
            ended.add((process, key))
            continue
        if key in begun:
            before = begun[key]
            # It was made before. Its thread made no other run after it, so it was still running or being stored.
            assert last[before] == key, f"{key} was made twice"
            again += 1
        begun[key] = last_of = (process, thread)
        last[last_of] = key
    assert len(table) == len(begun) == 3_000, (len(table), len(begun))
    assert not table.duplicated(["a", "b"]).any()
    print(f"{count} kills: 3,000 runs in the table, each once; {again} were running when killed, and made again")


PARTS = {"overhead": overhead, "ways": ways, "kills": kills}


def main():
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=100)
    options = parser.parse_args()
    for part in options.only:
        print(f"{part}:", flush=True)
        PARTS[part](options)


if __name__ == "__main__":
    main()
