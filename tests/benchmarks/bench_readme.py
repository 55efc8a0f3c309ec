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


def main():
    """Print the table as Markdown."""
    print("| a whole log | scheme | schedlab | the same in plain Python | times as fast |\n|---|---|---|---|---|")
    for name, words, compiled, plain in ROWS:
        trace = sl.load_trace(name)
        runs = [partial(sl.simulate, trace, scheme) for scheme in (compiled, plain)]
        for run in runs:
            run()  # compiles
        fast, slow = seconds(runs[0], REPEATS), seconds(runs[1], 1)
        jobs = f"{name.rpartition('-')[0]}, {len(trace):,} jobs"
        print(f"| {jobs} | {words} | {1000 * fast:.0f} ms | {slow:.1f} s | {slow / fast:.0f} |")


if __name__ == "__main__":
    main()
