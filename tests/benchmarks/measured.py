"""The times in README, guide and about: measured here, and kept in data/measured.json, from which pages take them.

    python tests/benchmarks/measured.py [--only readme kernels start long]

It takes ten minutes on a quiet machine. tests/house/test_measured.py fails when kernels have changed since.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import bench_first_contact
import bench_long
import bench_readme
from timing import seconds

import schedlab as sl
from schedlab.papers.kept import KERNELS, kernel_digest

ROOT = Path(__file__).parents[2]
FILE = ROOT / "data/measured.json"
ROUNDS = 5
OF_KERNELS = {
    "conservative_sdsc": "conservative, SDSC-SP2-1998",
    "conservative_ctc": "conservative, CTC-SP2-1996",
    "conservative_hpc2n": "conservative, HPC2N-2002",
    "iterative_5000": "iterative moldable, CTC, 5,000 jobs",
    "iterative_ctc": "iterative moldable, CTC, whole log",
    "tree_hpc2n": "EASY contiguous (block), HPC2N-2002",
    "tree_blue": "EASY contiguous (block), SDSC-BLUE-2000",
    "shredding": "OJS, 5,000 jobs",
}


def digests():
    """Return a digest of the code of each module of kernels."""
    folder = ROOT / "schedlab/kernels"
    names = (path.relative_to(folder).with_suffix("").as_posix().replace("/", ".") for path in folder.rglob("*.py"))
    known = {name: kernel_digest(f"{KERNELS}.{name}") for name in sorted(names)}
    return {name: digest for name, digest in known.items() if digest is not None}


def readme():
    """Measure the README's table, and a part of a log from its text to its measures."""
    rows = list(bench_readme.rows())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kth.swf")
        sl.load_trace("KTH-SP2-1996").head(5000).to_swf(path)
        took = seconds(lambda: sl.simulate(sl.read_swf(path, lenient=True), "easy").metrics(), ROUNDS)
    yield "readme", bench_readme.table(rows)
    yield (
        "ctc_easy",
        next(f"{row['ms']:.0f} ms" for row in rows if row["log"] == "CTC-SP2-1996" and row["scheme"] == "EASY"),
    )
    yield "kth_5000", f"{took:.2f} s"


def kernels():
    """Measure whole simulations."""
    runs = dict(bench_first_contact.kernel_runs())
    for key, name in OF_KERNELS.items():
        runs[name]()
        yield key, _short(seconds(runs[name], ROUNDS))


def start():
    """Measure what a user waits for: compiling, the first chart, the report, notebooks."""
    os.environ["PYTHONPATH"] = str(ROOT)
    (compiled,) = [part() for part in list(bench_first_contact.compile_all())[-1:]]
    yield "compile", f"{compiled['all']:.0f}"
    chart = list(bench_first_contact.imports())[-1]
    yield "first_chart", _short(median(chart()["a first chart"] for _ in range(ROUNDS)))
    for key, report in zip(("compiled", "empty"), bench_first_contact.figures(), strict=True):
        first, whole = report().values()
        yield f"first_figure_{key}", f"{first:.0f}"
        yield f"figures_{key}", f"{whole:.0f}"
    times = [next(iter(notebook().values())) for notebook in bench_first_contact.notebooks()]
    yield "notebooks", f"{min(times):.0f} to {max(times):.0f}"


def long():
    """Measure a log of ten million jobs."""
    found = bench_long.measured(10_000_000, 1_000_000, 0.9, ["easy"])
    yield "long_text", f"{found['text'] / 1e6:.0f} MB"
    yield "long_memory", f"{found['held']['read'] / found['table']:.1f}"
    for name in ("read", "easy", "metrics"):
        yield f"long_{name}", f"{_short(found['took'][name])} s"


def _short(value):
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


PARTS = {part.__name__: part for part in (readme, kernels, start, long)}


def main():
    """Measure, and keep what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    content = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {"parts": {}}
    for name in parser.parse_args().only:
        values = {}
        for key, value in PARTS[name]():
            values[key] = value
            print(key, value, file=sys.stderr)
        about = {"made": datetime.now(UTC).strftime("%Y-%m-%d"), "kernels": digests(), "values": values}
        machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
        content["parts"][name] = {"machine": machine, **about}
        FILE.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
