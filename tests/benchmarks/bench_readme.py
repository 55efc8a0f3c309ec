"""The README's table: whole logs under the compiled kernels, and under the same schemes in plain Python, in one run.

python tests/benchmarks/bench_readme.py
"""

import sys
from functools import partial
from pathlib import Path

import schedlab as sl

sys.path.insert(0, str(Path(__file__).parents[1]))
import planted
from timing import seconds

ROWS = (  # log, scheme in words, compiled, in plain Python
    ("KTH-SP2-1996", "EASY", "easy", planted.plain_easy),
    ("KTH-SP2-1996", "conservative", sl.Conservative(compression="rebuild"), planted.plain_conservative),
    ("CTC-SP2-1996", "EASY", "easy", planted.plain_easy),
    ("CTC-SP2-1996", "FCFS", "fcfs", planted.plain_fcfs),
)
REPEATS = 5


def rows():
    """Measure each row: milliseconds of the compiled kernel, seconds in plain Python."""
    for name, words, compiled, plain in ROWS:
        trace = sl.load_trace(name)
        runs = [partial(sl.simulate, trace, scheme) for scheme in (compiled, plain)]
        for run in runs:
            run()  # compiles
        fast, slow = seconds(runs[0], REPEATS), seconds(runs[1], 1)
        yield {"log": name, "jobs": len(trace), "scheme": words, "ms": 1000 * fast, "plain": slow}


def table(rows):
    """Return the table as Markdown, a line each."""
    lines = ["| a whole log | scheme | schedlab | the same in plain Python | times as fast |", "|---|---|---|---|---|"]
    for row in rows:
        jobs, ratio = f"{row['log'].rpartition('-')[0]}, {row['jobs']:,} jobs", 1000 * row["plain"] / row["ms"]
        lines.append(f"| {jobs} | {row['scheme']} | {row['ms']:.0f} ms | {row['plain']:.1f} s | {ratio:.0f} |")
    return lines


if __name__ == "__main__":
    print(*table(rows()), sep="\n")
