"""Speed of the SWF reader on about 100 MB of text, beside pandas' C parser on the same file.

Run it as ``python -m tests.benchmarks.bench_swf``; SCHEDLAB_DATA must name the folder of the logs.
Medians of five runs each, taken in turn, after one that compiles the scanner.
"""

import gzip
import os
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path
from statistics import median

import pandas as pd

from schedlab.workload.swf import FIELDS, read_log, write_log

LARGEST = ("RICC-2010-2.swf.gz", "CEA-Curie-2011-2.1-cln.swf.gz")
SIZE = 100_000_000  # bytes
RUNS = 5


def large_text(folder: Path) -> bytes:
    """Join the two largest logs in turn until there are about `SIZE` bytes."""
    logs = cycle([gzip.decompress((folder / name).read_bytes()) for name in LARGEST])
    text = b""
    while len(text) < SIZE:
        text += next(logs)
    return text


def read_with_pandas(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, sep=r"\s+", comment=";", header=None, names=FIELDS, engine="c")


def seconds(function, *arguments) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def main() -> None:
    folder = os.environ.get("SCHEDLAB_DATA")
    if not folder:
        sys.exit("SCHEDLAB_DATA does not name the folder of the archive's logs")
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "large.swf"
        path.write_bytes(large_text(Path(folder)))
        size = path.stat().st_size / 1e6
        log = read_log(path)
        if not log.records.equals(read_with_pandas(path)):
            sys.exit("the two readers differ")
        runs = [(seconds(read_log, path), seconds(read_with_pandas, path)) for _ in range(RUNS)]
        ours, theirs = map(median, zip(*runs, strict=True))
        print(f"{size:.0f} MB, {len(log.records):,} records, median of {RUNS}")
        print(f"read_log         {ours:6.2f} s  {size / ours:6.0f} MB/s")
        print(f"pandas.read_csv  {theirs:6.2f} s  {size / theirs:6.0f} MB/s")
        print(f"ratio            {theirs / ours:6.2f}")
        excerpt = log.header, log.records.head(200_000)
        for name in ("excerpt.swf", "excerpt.swf.gz"):
            took = seconds(write_log, excerpt, Path(scratch) / name)
            print(f"write_log of 200,000 records to {name}: {took:.2f} s")


if __name__ == "__main__":
    main()
