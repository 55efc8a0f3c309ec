"""What traces, machines and schemes agree on: jobs that outlive their estimates, sizes, names of columns."""

from numbers import Real

import numpy as np
import pandas as pd

from schedlab._runtime.text import spelt

from .swf import MOST_PROCS

KEEP = "keep"  # supported by some schemes only
OVERRUN = ("kill", "extend", KEEP)
KILL_BACKFILLED = "kill-backfilled"  # the fourth rule, on trees only
# Columns that a schedule of rigid jobs on a flat machine adds to those of its trace.
SIMULATED = (
    *("logged_area", "killed", "start_time", "end_time", "procs", "turnaround", "slowdown", "bounded_slowdown"),
    *("promised_start", "started_by"),
)
# Columns that any schedule may add; a trace's own column of such a name is renamed.
TAKEN = (*SIMULATED, "nodes", "backfilled", "estimate", "sequential_work", "wasted", "parallel_start", "tasks_alone")


def check_procs(machine: int) -> None:
    """Raise unless a number of processors is one that a machine may have."""
    if isinstance(machine, bool) or not isinstance(machine, int | np.integer):
        raise TypeError(f"machine is {spelt(machine)}, expected a whole number of processors")
    if machine < 1:
        raise ValueError(f"machine must have at least 1 processor, got {machine}")
    if machine > MOST_PROCS:
        raise ValueError(f"machine must have at most {MOST_PROCS:,} processors, got {machine:,}")


def run_times(jobs: pd.DataFrame, overrun: str) -> np.ndarray:
    """Return the run times as simulated: cut at the estimate ("kill"), otherwise in full."""
    run = jobs["run_time"].to_numpy()
    return np.minimum(run, jobs["requested_time"].to_numpy()) if overrun == "kill" else run


def check_positive(what: str, value: float) -> None:
    """Raise unless a value is a finite number above 0; `what` names it."""
    if not (isinstance(value, Real) and np.isfinite(value) and value > 0):
        raise ValueError(f"{what} must be greater than 0, got {spelt(value)}")
