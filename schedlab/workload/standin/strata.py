"""What fitting and generating stand-ins share: strata, classes of jobs, and work by block."""

import numpy as np

# Strata: 0 means never ran. Otherwise the hundreds are the class of run time (upper ends, seconds), from 1, and the
# units are the width (how many of these fractions of the machine it exceeds). Strata of one run time are adjacent.
RUN_EDGES = (900, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 16 * 3600, 24 * 3600, 48 * 3600)
PARTS = (64, 32, 16, 8, 6, 4, 3, 2)
LONG = 200
ESTIMATE_EDGES = (0, 60, 300, 600, 1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 12 * 3600, 18 * 3600, 24 * 3600, 48 * 3600)

# Upper ends of the classes of distances between a job and the last job equal to it, in jobs.
BACK = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096, 8192, 1 << 20)
# A block's work relative to the work expected from its strata, in thousandths: 20 steps of a tenth.
WORK = tuple(400 * 11**step // 10**step for step in range(20))
ONE = 1 << 16  # quantiles and shares range from 0 to this
MILLION = 1_000_000


def strata_of(run, size, procs):
    width = (size[:, None] * np.array(PARTS) > procs).sum(1)
    return np.where(run <= 0, 0, 100 * (1 + np.searchsorted(RUN_EDGES, run)) + width)


def adjacent_jobs(strata, block):
    """Tell which jobs directly follow a job of their own stratum in the same block."""
    return np.append(False, (np.diff(strata) == 0) & (np.diff(block) == 0))


def class_of(strata, estimate):
    """Number the classes of run time, width and estimate."""
    return strata * (len(ESTIMATE_EDGES) + 1) + np.searchsorted(ESTIMATE_EDGES, estimate)


def block_sums(values, block):
    """Sum whole numbers by block."""
    return np.add.reduceat(values, np.searchsorted(block, np.arange(block[-1] + 1)))


def expected_work(table, strata):
    """Return the mean work of each job's stratum, processor-seconds."""
    work = {int(key): fitted["work"] for key, fitted in table["strata"].items()}
    return np.array([work.get(stratum, 0) for stratum in range(strata.max() + 1)])[strata]
