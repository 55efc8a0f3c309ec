"""How long one waits: compiling, kernels, imports, figures, notebooks, tests; of this checkout or beside another one.

    python tests/benchmarks/bench_first_contact.py [--against CHECKOUT] [--rounds 3] [--only compile kernels ...]

Parts: compile (processor seconds of each group of kernels, from an empty cache), kernels (medians, in milliseconds of
one core), imports (seconds to the package, and to a first chart), figures (seconds to the first one on the page and to
the last, compiled and with an empty cache), notebooks (seconds of each, compiled), tests (seconds on all cores,
compiled). With --against both checkouts are measured in turn, in processes of this interpreter, and the ratio is
printed. Logs are those of SCHEDLAB_DATA.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parents[2]
UNITS = {"compile": "CPU s", "kernels": "ms", "imports": "s", "figures": "s", "notebooks": "s", "tests": "s"}
ONE_RUN = ("compile", "figures", "notebooks", "tests")  # too long for medians


def spent():
    """Give the processor seconds that this process and the ended ones it has started have taken."""
    return sum(os.times()[:4])


def compile_all():
    """Compile group after group, each in a process of its own, and all at once as users do, from nothing each."""
    from schedlab import precompile

    for group in precompile.groups():
        with emptied_cache():
            begin = spent()
            subprocess.run([sys.executable, "-m", "schedlab.precompile", group], check=True)
            yield group, spent() - begin
    with emptied_cache():
        begin, clock = spent(), time.perf_counter()
        # In a process that ends, since its workers count only when they have ended.
        subprocess.run([sys.executable, "-m", "schedlab.cli", "compile"], check=True, stdout=subprocess.DEVNULL)
        yield "all", spent() - begin
        yield "all, seconds waited", time.perf_counter() - clock


def emptied_cache():
    """Give a context in which nothing is compiled yet."""

    class Emptied(tempfile.TemporaryDirectory):
        def __enter__(self):
            self.before = os.environ.get("SCHEDLAB_CACHE")
            os.environ["SCHEDLAB_CACHE"] = super().__enter__()

        def __exit__(self, *error):
            os.environ.pop("SCHEDLAB_CACHE")
            if self.before is not None:
                os.environ["SCHEDLAB_CACHE"] = self.before
            super().__exit__(*error)

    return Emptied()


def kernel_runs():
    """Give what is run, by name: the targets first, then a run of every other kernel."""
    import schedlab as sl
    from schedlab.simulation import case_of

    log = sl.load_trace
    for name in ("SDSC-SP2-1998", "CTC-SP2-1996", "HPC2N-2002"):
        yield f"conservative, {name}", partial(sl.simulate, log(name), "conservative")
    for words, trace, compression in (
        ("no compression", log("CTC-SP2-1996"), "none"),
        ("by reservation", log("CTC-SP2-1996").head(20_000), "reservation"),
        ("exact estimates", log("CTC-SP2-1996").with_estimates("exact"), "queue"),
    ):
        case, _ = case_of(trace, scheme := sl.Conservative(compression=compression))
        yield f"conservative, CTC, {words}", partial(scheme.simulate, case)
    ctc = log("CTC-SP2-1996").with_procs(512)
    for words, trace, parallelism, load in (
        ("5,000 jobs", ctc.head(5_000), "system", 0.9),
        ("whole log", ctc, "system", 0.7),
    ):
        molded = trace.with_speedup(sl.Downey(A=parallelism), seed=1).scale_load(load, by="effective")
        case, _ = case_of(molded, scheme := sl.IterativeMoldable())
        yield f"iterative moldable, CTC, {words}", partial(scheme.choose, case)
    case, _ = case_of(molded.head(20_000), scheme := sl.FairShareMoldable(overbooking=4, efficiency=1))
    yield "fair share moldable, CTC, 20,000 jobs", partial(scheme.choose, case)
    case, _ = case_of(molded.head(3_000), scheme := sl.GreedyMoldable())
    yield "greedy moldable, CTC, 3,000 jobs", partial(scheme.choose, case)
    for name in ("HPC2N-2002", "SDSC-BLUE-2000"):
        trace = log(name)
        stages = next(n for n in range(1, 13) if 4**n >= trace.procs)
        for reservation in ("block", "count"):
            case, _ = case_of(trace, scheme := sl.EASY(reservation=reservation), sl.KaryTree(4, stages, trace.procs))
            yield f"EASY contiguous ({reservation}), {name}", partial(scheme.simulate, case)
    swept = log("CTC-SP2-1996").with_procs(512).with_estimates("exact").head(5000).scale_load(0.9).with_sweeps(0.05)
    for scheme in ("ojs", sl.OpportuneShredding(local="conservative"), "flooding"):
        case, _ = case_of(swept, scheme := sl.schemes.scheme(scheme) if isinstance(scheme, str) else scheme)
        yield f"{scheme}, 5,000 jobs", partial(scheme.simulate, case)
    yield "simulate() EASY, KTH", partial(sl.simulate, log("KTH-SP2-1996"), "easy")
    for scheme in ("fcfs", "easy", "easy-sjbf", "easy-wfp3", "dpsan", "dpsap"):
        case, _ = case_of(log("CTC-SP2-1996").head(40_000), scheme := sl.schemes.scheme(scheme))
        yield f"{scheme}, CTC, 40,000 jobs", partial(scheme.simulate, case)
    case, _ = case_of(log("KTH-SP2-1996"), scheme := sl.Conservative(compression="rebuild"))
    yield "conservative, rebuilt, KTH", partial(scheme.simulate, case)
    schedule = sl.simulate(log("CTC-SP2-1996"), "conservative")
    yield "validate conservative, CTC", schedule.validate
    gangs = sl.gang.Workload(("io", "msg"), pes=16, horizon=5_000, seed=1)
    yield "gang, 5,000 s", partial(sl.gang.simulate, gangs, "priority")


def kernels():
    """Time each run for a second or five times, whichever is more, after one that warms up."""
    for name, run in kernel_runs():
        run()
        times = []
        while len(times) < 3 or (sum(times) < 1 and len(times) < 50):
            begin = time.process_time()
            run()
            times.append(time.process_time() - begin)
        yield name, 1e3 * median(times)


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
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", words], check=True)
            times.append(time.perf_counter() - begin)
        yield name, median(times)


def figures():
    """Time the report, compiled and with an empty cache: until its page is there, and until it is whole."""
    yield from report("compiled")
    with emptied_cache():
        yield from report("nothing compiled")


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
        yield f"the first figure on the page, {how}", whole if first is None else first
        yield f"all figures and ledgers, {how}", whole


def notebooks():
    """Time each notebook with no browser, compiled."""
    import nbclient
    import nbformat

    for path in sorted((Path(os.environ["PYTHONPATH"]) / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        begin = time.perf_counter()
        nbclient.NotebookClient(notebook, timeout=900, resources={"metadata": {"path": path.parent}}).execute()
        yield path.stem, time.perf_counter() - begin


def tests():
    """Time the tests, as `make test` runs them; whether they pass is not asked."""
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal"], stdout=subprocess.DEVNULL
    )
    yield "all tests", time.perf_counter() - begin


PARTS = {
    "compile": compile_all,
    "kernels": kernels,
    "imports": imports,
    "figures": figures,
    "notebooks": notebooks,
    "tests": tests,
}


def measured(checkout, part):
    """Measure a part in a process that imports from a checkout; give seconds by name."""
    env = {**os.environ, "PYTHONPATH": str(checkout)}
    command = [sys.executable, __file__, "--measure", part]
    ran = subprocess.run(command, env=env, cwd=checkout, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(ran.stdout.splitlines()[-1])


def main():
    """Print a table a part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, help="another checkout, to be measured in turn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--measure", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(dict(PARTS[options.measure]())))
        return
    sides = [side.resolve() for side in (options.against, HERE) if side]
    for part in options.only:
        rounds = 1 if part in ONE_RUN else options.rounds
        found = [[measured(side, part) for side in sides] for _ in range(rounds)]
        print(f"{part + ', ' + UNITS[part]:<44}" + "".join(f"{side.name:>12}" for side in sides) + f"{'ratio':>8}")
        for name in found[0][-1]:
            values = [median(each[i].get(name, float("nan")) for each in found) for i in range(len(sides))]
            ratio = f"{values[-1] / values[0]:8.2f}" if options.against else ""
            print(f"{name:<44}" + "".join(f"{value:>12.2f}" for value in values) + ratio, flush=True)


if __name__ == "__main__":
    main()
