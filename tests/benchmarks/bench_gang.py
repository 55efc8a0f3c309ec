"""How fast gang scheduling is: events per second, memory, and the ratio to the naive twin.

    python tests/benchmarks/bench_gang.py [--runs 5]

Whole runs of 50,000 s, compiled, in one thread: the median processor time of the runs. It includes making the tables,
which takes milliseconds. Memory is the peak of a run. The twin rescans everything at every instant, so it is timed on
20 s in which all PEs are busy, and the kernel on the same jobs in the same run.
"""

import argparse
import sys
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "gang"))

import test_gang
import twin_gang
from timing import bytes_held, seconds

import schedlab as sl
from schedlab.gang import SCHEDULERS, Config, Workload, simulate
from schedlab.kernels.gang import state

HORIZON = 20  # seconds that the twin simulates
MIXES = ("io", ("io", "msg"), ("io", "bsp"), ("emb", "msg"))


def against_twin(mix, pes, scheduler, runs):
    """Return the ratio of the twin's time to the kernel's, if all jobs of a horizon of 2,000 s arrive at once.

    The twin needs a full list of what a job does, so jobs are cut to end soon after the horizon, at the latest.
    """
    jobs = Workload(mix, pes, 2000, seed=1).jobs_table
    jobs = jobs.assign(submit_time=0.0, duration=jobs["duration"].clip(upper=1.5 * HORIZON))
    workload = Workload(pes=pes, horizon=HORIZON, jobs=jobs)
    outcome = simulate(workload, scheduler)
    rows = outcome.job_rows[[state.ARRIVAL, state.SIZE, state.KIND, state.DEMAND, state.KEY]]
    programs = test_gang.twin_jobs(outcome.rules, rows.T, listed=1 << 22)
    settings = test_gang.settings_of(outcome.rules)
    slow = seconds(lambda: twin_gang.simulate(settings, programs), 1, process_time)
    return slow / seconds(lambda: simulate(workload, scheduler), runs, process_time)


def main():
    """Print a line for each mix, machine and scheduler."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    sl.gang.simulate(Workload(horizon=1), "gang")
    print(f"{'mix':12} {'PEs':>3}  {'scheduler':11} {'M events':>8} {'s':>6} {'M/s':>5} {'MB':>5} {'twin':>6}")
    for mix in MIXES:
        for pes in (8, 16):
            for scheduler in SCHEDULERS:
                workload = Workload(mix, pes, seed=1)
                events = simulate(workload, scheduler).events / 1e6
                took = seconds(lambda w=workload, s=scheduler: simulate(w, s), runs, process_time)
                held = bytes_held(lambda w=workload, s=scheduler: simulate(w, Config(s))) / 1e6
                ratio = against_twin(mix, pes, scheduler, runs)
                name = mix if isinstance(mix, str) else "/".join(mix)
                speed = f"{took:6.2f} {events / took:5.1f} {held:5.1f} {ratio:6.0f}"
                print(f"{name:12} {pes:3}  {scheduler:11} {events:8.1f} {speed}", flush=True)


if __name__ == "__main__":
    main()
