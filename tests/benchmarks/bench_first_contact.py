"""How long users wait: compiling, kernels, imports, figures, notebooks, tests; here or compared with another checkout.

    python tests/benchmarks/bench_first_contact.py [--against CHECKOUT] [--rounds 5] [--only compile kernels ...]

Parts: compile (processor seconds of each group of kernels, from an empty cache), kernels (milliseconds of one core),
imports (seconds to the package, and to a first chart), figures (seconds to the first one on the page and to the last,
compiled and with an empty cache), notebooks (seconds of each, compiled), tests (seconds on all cores, compiled).
Kernels and imports are medians of some rounds. With --against, both checkouts are measured in turn, row by row, in
processes of this interpreter, and the median of the rounds' ratios is printed. This ratio holds even if the machine's
speed drifts. Logs are those of SCHEDLAB_DATA.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parents[2]
UNITS = {"compile": "CPU s", "kernels": "ms", "imports": "s", "figures": "s", "notebooks": "s", "tests": "s"}
ONE_RUN = ("compile", "figures", "notebooks", "tests")  # too long for medians


# --- The parts: each yields functions that measure something and return values by name ---
def compile_all():
    """Compile each group in a process of its own, then all at once as users do, always from an empty cache."""
    from schedlab._runtime import precompile

    for group in precompile.groups():
        yield partial(compiled, group, [sys.executable, "-m", "schedlab._runtime.precompile", group])
    yield partial(compiled, "all", [sys.executable, "-m", "schedlab.cli", "compile"], "all, seconds waited")


def compiled(name, command, waited=None):
    """Compile from an empty cache, in a process of its own; its workers count only once they have ended."""
    with emptied_cache():
        begin, clock = spent(), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return {name: spent() - begin} | ({waited: time.perf_counter() - clock} if waited else {})


def spent():
    """Return the processor seconds taken by this process and by those of its children that have ended."""
    return sum(os.times()[:4])


@contextmanager
def emptied_cache():
    """Start with an empty cache of compiled kernels."""
    before = os.environ.get("SCHEDLAB_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SCHEDLAB_CACHE"] = folder
        try:
            yield
        finally:
            os.environ.pop("SCHEDLAB_CACHE")
            if before is not None:
                os.environ["SCHEDLAB_CACHE"] = before


def kernel_runs():
    """Return what is run, by name: the targets first, then a run of every other kernel."""
    import schedlab as sl
    from schedlab.schedule.simulation import case_of

    def run_of(trace, scheme, machine=None, step="simulate"):
        """Return the run of a scheme's kernel."""
        case, _ = case_of(trace, scheme := sl.schemes.scheme(scheme), machine)
        return partial(getattr(scheme, step), case)

    log = sl.load_trace
    for name in ("SDSC-SP2-1998", "CTC-SP2-1996", "HPC2N-2002"):
        yield f"conservative, {name}", partial(sl.simulate, log(name), "conservative")
    for words, trace, compression in (
        ("no compression", log("CTC-SP2-1996"), "none"),
        ("by reservation", log("CTC-SP2-1996").head(20_000), "reservation"),
        ("exact estimates", log("CTC-SP2-1996").with_estimates("exact"), "queue"),
    ):
        yield f"conservative, CTC, {words}", run_of(trace, sl.Conservative(compression=compression))
    ctc = log("CTC-SP2-1996").with_machine(512)
    for words, trace, parallelism, load in (
        ("5,000 jobs", ctc.head(5_000), "system", 0.9),
        ("whole log", ctc, "system", 0.7),
    ):
        molded = trace.with_speedup(sl.Downey(A=parallelism), seed=1).scale_load(load, by="effective")
        yield f"iterative moldable, CTC, {words}", run_of(molded, "iterative", step="choose")
    shares = sl.FairShareMoldable(overbooking=4, efficiency=1)
    yield "fair share moldable, CTC, 20,000 jobs", run_of(molded.head(20_000), shares, step="choose")
    yield "greedy moldable, CTC, 3,000 jobs", run_of(molded.head(3_000), "greedy", step="choose")
    for name in ("HPC2N-2002", "SDSC-BLUE-2000"):
        trace = log(name)
        stages = next(n for n in range(1, 13) if 4**n >= trace.procs)
        for reservation in ("block", "count"):
            tree = sl.KaryTree(4, stages, trace.procs)
            yield f"EASY contiguous ({reservation}), {name}", run_of(trace, sl.EASY(shadow=reservation), tree)
    swept = ctc.with_estimates("exact").head(5000).scale_load(0.9).with_parameter_sweeps(0.05)
    for scheme in ("ojs", sl.OpportuneShredding(local="conservative"), "flooding"):
        yield f"{sl.schemes.scheme(scheme)}, 5,000 jobs", run_of(swept, scheme)
    kth = log("KTH-SP2-1996")
    yield "simulate() EASY, KTH", partial(sl.simulate, kth, "easy")
    yield "the kernel of that", run_of(kth, "easy")
    for scheme in ("fcfs", "easy", "easy-sjbf", "easy-wfp3", "dpsan", "dpsap"):
        yield f"{sl.schemes.scheme(scheme)}, CTC, 40,000 jobs", run_of(log("CTC-SP2-1996").head(40_000), scheme)
    user = {
        "order": sl.EASY(order=lambda now, submit, estimate: (submit - now) / max(estimate, 1)),
        "veto": sl.EASY(may_backfill=lambda user_running: user_running == 0),
        "two reservations": sl.EASY(reservations=2),
    }
    for name, scheme in user.items():
        yield f"{name} of a user, KTH", run_of(kth, scheme)
    yield "conservative, rebuilt, KTH", run_of(kth, sl.Conservative(compression="rebuild"))
    schedule = sl.simulate(log("CTC-SP2-1996"), "conservative")
    yield "validate conservative, CTC", schedule.validate
    gangs = sl.gang.Workload(("io", "msg"), pes=16, horizon=5_000, seed=1)
    yield "gang, 5,000 s", partial(sl.gang.simulate, gangs, "priority")


def kernels():
    """Time each run, after one that warms up."""
    for name, run in kernel_runs():
        run()
        yield partial(kernel, name, run)


def kernel(name, run, least=0.2):
    """Run it until `least` seconds of processor time are over; return milliseconds per run."""
    begin, runs = time.process_time(), 0
    while (taken := time.process_time() - begin) < least:
        run()
        runs += 1
    return {name: 1e3 * taken / runs}


FIRST_CHART = """
import schedlab as sl
schedule = sl.simulate(sl.load_trace("KTH-SP2-1996"), "easy")
sl.charts.gantt(schedule)._repr_mimebundle_()
"""


def imports():
    """Time whole processes: the package, a simulation, and a first chart as JupyterLab asks for it."""
    first, second, _ = FIRST_CHART.strip().splitlines()
    for name, words in (
        ("import schedlab", first),
        ("a simulation of KTH", f"{first}\n{second}"),
        ("a first chart", FIRST_CHART),
    ):
        subprocess.run([sys.executable, "-c", words], check=True)
        yield partial(waited_for, name, [sys.executable, "-c", words], check=True)


def waited_for(name, command, **options):
    """Time a process by the wall clock."""
    begin = time.perf_counter()
    subprocess.run(command, **options)
    return {name: time.perf_counter() - begin}


def figures():
    """Time the report, compiled and with an empty cache: until its page appears, and until it is complete."""
    yield partial(report, "compiled")
    yield emptied_cache()(partial(report, "nothing compiled"))


def report(how):
    """Time the report once."""
    command = [sys.executable, "-m", "schedlab.cli", "figures", "--size", "quick", "--out"]
    with tempfile.TemporaryDirectory() as folder:
        begin, page, first = time.perf_counter(), Path(folder) / "report.html", None
        with subprocess.Popen([*command, page], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            while running.poll() is None:
                if first is None and page.exists():
                    first = time.perf_counter() - begin
                time.sleep(0.05)
        whole = time.perf_counter() - begin
        if running.returncode:
            raise SystemExit(f"the report failed with exit code {running.returncode}")
        return {
            f"the first figure on the page, {how}": whole if first is None else first,
            f"all figures and ledgers, {how}": whole,
        }


def notebooks():
    """Time each notebook with no browser, compiled."""
    for path in sorted((Path(os.environ["PYTHONPATH"]) / "notebooks").glob("*.ipynb")):
        yield partial(notebook, path)


def notebook(path):
    """Run a notebook."""
    import nbclient
    import nbformat

    read = nbformat.read(path, as_version=4)
    begin = time.perf_counter()
    nbclient.NotebookClient(read, timeout=900, resources={"metadata": {"path": path.parent}}).execute()
    return {path.stem: time.perf_counter() - begin}


def tests():
    """Time the tests, as `make test` runs them, whether they pass or not."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal"]
    yield partial(waited_for, "all tests", command, stdout=subprocess.DEVNULL)


PARTS = {
    "compile": compile_all,
    "kernels": kernels,
    "imports": imports,
    "figures": figures,
    "notebooks": notebooks,
    "tests": tests,
}


# --- Two checkouts in turn ---
def measure(part):
    """Measure a part: each word on standard input asks for the next row ("next") or the same one ("again")."""
    rows = PARTS[part]()
    for word in map(str.strip, sys.stdin):
        if word == "next" and (row := next(rows, None)) is None:
            return
        print(json.dumps(row()), flush=True)


class Side:
    """A process that measures a part of a checkout, row by row."""

    def __init__(self, checkout, part):
        env = {**os.environ, "PYTHONPATH": str(checkout)}
        command = [sys.executable, __file__, "--measure", part]
        self.process = subprocess.Popen(
            command, env=env, cwd=checkout, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, word):
        """Return the values of a row by name; None after the last."""
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        if line := self.process.stdout.readline():
            return json.loads(line)
        if self.process.wait():
            raise SystemExit(f"measuring failed with exit code {self.process.returncode}")
        return None


def main():
    """Print one table per part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, help="another checkout, to be measured in turn")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--measure", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure)
        return
    checkouts = [checkout.resolve() for checkout in (options.against, HERE) if checkout]
    for part in options.only:
        print(f"{part + ', ' + UNITS[part]:<44}" + "".join(f"{one.name:>12}" for one in checkouts) + "   ratio")
        sides = [Side(checkout, part) for checkout in checkouts]
        again = 0 if part in ONE_RUN else options.rounds - 1
        while None not in (found := [side.ask("next") for side in sides]):
            show([found, *([side.ask("again") for side in sides] for _ in range(again))])


def show(rounds):
    """Print the medians of some rounds, and that of their ratios."""
    for name in rounds[0][-1]:
        values = [[side.get(name, float("nan")) for side in sides] for sides in rounds]
        medians = map(median, zip(*values, strict=True))
        ratio = median(last / first for first, *_, last in values) if len(values[0]) > 1 else 1
        print(f"{name:<44}" + "".join(f"{value:>12.2f}" for value in medians) + f"{ratio:8.2f}", flush=True)


if __name__ == "__main__":
    main()
