"""Simulate extreme workloads under every scheme: no run may hang, and every schedule is valid or refused in one line.

Run it as ``python -m tests.fuzz.fuzz_schemes --seconds 30 --seed 1``; README.md beside this file says more.
"""

import argparse
import multiprocessing
import random
import sys
import time
import traceback
import warnings
from itertools import count

from workloads import trace_of

import schedlab as sl
from schedlab.schemes.orders import NAMES, OF_USERS

ORDERS = [name for name in NAMES if name not in OF_USERS]  # these workloads have no users

LATEST = 2**53 - 1  # seconds; float64 does not hold every larger integer
WIDEST = 2**24  # processors; the most that a trace may have
WIDEST_BY_NODE = 2**20  # the same if a simulation tracks each node, or each task on a processor
MOST_RESERVED = 10**4  # tasks, if each has a reservation; many more take minutes, and far more are refused
CHECKED = "schedule.validate().metrics()"
COMPILING = 1200  # extra seconds for a run in a new process, whose kernels may not be compiled yet


def seconds(r, longest):
    """Draw a time span: 0, 1, or of any order of magnitude."""
    return r.choice([0, 1, r.randrange(10), r.randrange(longest + 1), int(2 ** r.uniform(0, longest.bit_length()) - 1)])


def size(r, most):
    """Draw processors: 1, all, a power of two, or of any order of magnitude."""
    power = 2 ** r.randrange(most.bit_length())
    return r.choice([1, most, power, r.randint(1, most), min(most, int(2 ** r.uniform(0, most.bit_length())))])


def workload(r, shortest, widest):
    """Draw jobs (submit, run, estimate, procs) in the order of their arrivals, and processors."""
    procs = size(r, min(r.choice([8, 300, 10**4, 10**7, WIDEST]), widest))
    longest = r.choice([20, 10**4, 10**6, 10**12, LATEST])
    span = r.choice([0, 5, 10**4, 10**6, 10**12, LATEST])
    instants = [seconds(r, span) for _ in range(r.randint(1, 20))]
    lengths = [max(shortest, seconds(r, longest)) for _ in range(r.randint(1, 20))]
    most = r.choice([procs, procs, max(1, procs // 3)])
    jobs = []
    for _ in range(r.choice([1, 2, r.randint(1, 10), r.randint(1, 60)])):
        run = r.choice([r.choice(lengths), max(shortest, seconds(r, longest))])
        guess = [run, run, 2 * run, run + r.randrange(5), max(1, run // 1000), longest, seconds(r, longest)]
        estimate = max(shortest, min(r.choice(guess), LATEST))
        submit = r.choice([r.choice(instants), seconds(r, span)])
        jobs.append((submit, run, estimate, size(r, most)))
    return sorted(jobs, key=lambda job: job[0]), procs


def order(r):
    """Draw an order of the queue, mostly the usual one."""
    return r.choice(["fcfs", r.choice(ORDERS)])


def rigid(r):
    """Draw a scheme for rigid jobs, as text."""
    kind = r.choice(["FCFS", "EASY", "EASY", "Conservative", "Conservative", "DPSA", "DPSA", "DPSA"])
    settings = {"order": order(r)}
    if kind == "EASY" and r.random() < 0.5:
        settings["backfill"] = r.choice(ORDERS)
    if kind == "Conservative":
        settings["compression"] = r.choice(["queue", "reservation", "none", "rebuild"])
        if settings["compression"] in ("queue", "reservation"):
            settings["compress_on"] = r.choice(["early", "completion"])
            settings["repeat"] = r.random() < 0.5
    if kind == "DPSA":
        settings["variant"] = r.choice("pnw")
        if r.random() < 0.3:
            settings["depth"] = r.choice([1, 2, 10, 10**20])
        if r.random() < 0.3:
            settings["budget"] = r.choice([0, 1, 100, 10**4])
        elif r.random() < 0.4:
            settings["objective"] = "slowdown"
    return kind, settings


def moldable(r):
    """Draw a scheme for moldable jobs, as text."""
    kind = r.choice(["FairShareMoldable", "FairShareMoldable", "GreedyMoldable", "IterativeMoldable"])
    settings = {}
    if kind == "FairShareMoldable":
        settings = {
            "overbooking": r.choice([0.001, 0.5, 1, 4, 1e12]),
            "efficiency": r.choice([0, 0.3, 0.5, 1]),
            "weight": r.choice(["sqrt", "proportional"]),
            "canmove": r.choice(["role", "literal"]),
            "work": r.choice(["sequential", "area"]),
            "mix": r.choice(["all", "queued"]),
            "backfill": r.choice(["any", "start-now"]),
        }
    if kind == "IterativeMoldable":
        settings = {"head": r.choice([None, None, 1, 4])}
    return kind, settings


def speedup(r):
    """Draw how jobs speed up, as text."""
    low = r.choice([0, 0, 0.5, 1, 2])
    sigma = r.choice([low, (low, low + 2)])
    amdahl = f"sl.Amdahl({r.choice([0, 0, 0.001, 0.5, 1])})"
    curve = r.choice(["n**0.8", "1 + n // 4", "1 + (n >= 9)", "1.0 * n", "n**1.01"])
    table = f"sl.Speedup(lambda n: {curve})"
    return r.choice([f"sl.Downey(A={r.choice(['system', 'requested'])!r}, sigma={sigma})"] * 3 + [amdahl, table])


def tree(r, procs):
    """Draw a tree that the jobs fit on, as text; none if it would have too many nodes."""
    k = r.choice([2, 3, 4, 8, 16, 64, max(2, procs)])
    n = 1
    while k**n < procs:
        n += 1
    if k**n > WIDEST:
        return None
    settings = {
        "allocation": r.choice(["contiguous", "quasi-contiguous", "best-fit", "first-free", "random"]),
        "speedup": r.choice([0, 0.25, 0.99, tuple(r.choice([0, 0.1, 0.5]) for _ in range(n))]),
        "seed": r.randrange(10),
    }
    if not isinstance(settings["speedup"], tuple):
        settings["scale_estimates"] = r.random() < 0.3
    return f"sl.KaryTree({k}, {n}, {call(settings)})"


def call(settings):
    """Return settings as the arguments of a call."""
    return ", ".join(f"{name}={value!r}" for name, value in settings.items())


def program(seed, number):
    """Draw a run: the lines of Python that make its schedule."""
    r = random.Random(f"{seed} {number}")
    family = r.choice(["rigid"] * 5 + ["moldable"] * 3 + ["sweeps", "sweeps", "tree", "tree"])
    shortest = 1 if family == "moldable" and r.random() < 0.95 else 0
    jobs, procs = workload(r, shortest, WIDEST_BY_NODE if family in ("sweeps", "tree") else WIDEST)
    convention = {"overrun": r.choice(["kill", "extend"]), "events": "batched"}
    steps, machine = "", ""
    if family == "rigid":
        kind, settings = rigid(r)
        convention["overrun"] = r.choice(["kill", "kill", "extend", "keep"])
        convention["events"] = r.choice(["batched", "batched", "each"])
    elif family == "moldable":
        kind, settings = moldable(r)
        steps = f".with_speedup({speedup(r)}, share={r.choice([1, 1, 0.5, 0])}, seed={r.randrange(100)})"
    elif family == "sweeps":
        kind, settings = r.choice(["Flooding", "OpportuneShredding"]), {"local": r.choice(["easy", "conservative"])}
        if kind == "OpportuneShredding":
            settings["release"] = r.random() < 0.5
        share, least, parts = r.choice([0, 0.2, 1]), r.choice([1, 9]), r.choice([1, 2, 3, 10, 1000])
        if kind == "Flooding" and share * parts * sum(job[3] for job in jobs) > MOST_RESERVED:
            settings["local"] = "easy"
        steps = f".with_parameter_sweeps({share}, min_procs={least}, breakdown={parts})"
    else:
        kind, settings = r.choice(["FCFS", "EASY", "EASY"]), {"order": order(r)}
        if kind == "EASY":
            settings["shadow"] = r.choice(["count", "block"])
        machine = tree(r, procs)
        convention["overrun"] = r.choice(["kill", "extend", "keep", "kill-backfilled"])
        machine = f"machine={machine}, " if machine else ""
        if not machine and convention["overrun"] == "kill-backfilled":
            convention["overrun"] = "kill"
    return [
        "import schedlab as sl",
        "from workloads import trace_of",
        "",
        f"jobs = {jobs}  # submit, run, estimate, procs",
        f"trace = trace_of(jobs, {procs}){steps}",
        f"schedule = sl.simulate(trace, sl.{kind}({call(settings)}), {machine}{call(convention)})",
        CHECKED,
    ]


def simulated(lines):
    """Run a program; return the message of its refusal, or "". Any other exception is a failure."""
    code = "\n".join(line for line in lines if not line.startswith("import ") and not line.startswith("from "))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        names = {"sl": sl, "trace_of": trace_of}
        try:
            exec(code.replace(CHECKED, ""), names)
        except (ValueError, TypeError) as error:
            if "\n" in str(error) or not str(error):
                raise
            return str(error)
        exec(CHECKED, names)
    return ""


def work(connection):
    """Run one program after the other, in a process of its own."""
    while True:
        lines = connection.recv()
        try:
            connection.send(("done", simulated(lines)))
        except BaseException:
            connection.send(("failed", traceback.format_exc()))


class Worker:
    """The process that runs the programs; it is killed if one does not end."""

    def __init__(self):
        self.connection, other = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("spawn").Process(target=work, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.known = set()  # schemes whose kernels have run here

    def run(self, lines, limit):
        """Return how a program ended, with its message; "hung" if it did not end within its limit."""
        scheme = next(line for line in lines if line.startswith("schedule =")).split("sl.")[2].split("(")[0]
        scheme += " on a tree" * ("KaryTree" in lines[5])
        self.connection.send(lines)
        patience = limit if scheme in self.known else limit + COMPILING
        if not self.connection.poll(patience):
            return "hung", f"did not end within {patience} seconds"
        try:
            ended = self.connection.recv()
        except EOFError:
            self.process.join(10)
            return "failed", f"the process died with exit code {self.process.exitcode}"
        self.known.add(scheme)
        return ended

    def end(self):
        """End the process, whatever it is doing."""
        self.process.kill()
        self.process.join()


def main(arguments=None):
    """Draw and run programs until the time is over or one fails; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.fuzz_schemes", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30, help="how long to go on (default: 30)")
    parser.add_argument("--seed", type=int, default=1, help="of all draws (default: 1)")
    parser.add_argument("--limit", type=float, default=60, help="seconds that one run may take (default: 60)")
    parser.add_argument("--only", type=int, help="do this run alone")
    options = parser.parse_args(arguments)
    refusals, slowest, warm, worker = 0, (0, -1), 0, Worker()
    begin = time.monotonic()
    for number in count() if options.only is None else [options.only]:
        if time.monotonic() - begin - warm >= options.seconds:
            break
        lines = program(options.seed, number)
        known, started = len(worker.known), time.monotonic()
        ended, message = worker.run(lines, options.limit)
        took = time.monotonic() - started
        if len(worker.known) > known:
            warm += took  # the time excludes compiling
        else:
            slowest = max(slowest, (took, number))
        refusals += ended == "done" and message != ""
        if ended != "done":
            print(f"run {number} of seed {options.seed} {ended}: {message}\n")
            print("\n".join(["# PYTHONPATH=tests", *lines]), flush=True)
            worker.end()
            return 1
    worker.end()
    if options.only is not None:
        print("\n".join([*lines, f"refused: {message}" if message else "valid"]))
        return 0
    print(
        f"fuzz_schemes: {number:,} runs, {refusals:,} of them refused; the slowest, number {slowest[1]}, took "
        f"{slowest[0]:.1f} s (seed {options.seed})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
