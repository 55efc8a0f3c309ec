"""The time and the memory of a call, as benchmarks tell them."""

import time
import tracemalloc
from statistics import median


def seconds(run, runs, clock=time.perf_counter):
    """Return the median time of some runs."""
    times = []
    for _ in range(runs):
        begin = clock()
        run()
        times.append(clock() - begin)
    return median(times)


def bytes_held(run):
    """Return the peak memory of a run in bytes; tracemalloc sees numba's allocations too."""
    tracemalloc.start()
    run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak
