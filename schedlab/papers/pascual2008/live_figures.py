"""The paper's live figure: the tree at an instant under two allocations."""

import pandas as pd

from schedlab import charts, simulate
from schedlab.charts.sizes import WIDE
from schedlab.charts.theme import headed
from schedlab.experiment import remember
from schedlab.machine import ALLOCATIONS, KaryTree
from schedlab.show import duration
from schedlab.workload.conventions import KILL_BACKFILLED
from schedlab.workload.trace import Trace

from .grids import ANYWHERE, CONTIGUOUS, HOURS, HPC2N, POLICIES, TOTAL, WAIT, first_jobs, log, measures_of, stages_of

SMALLER = 0.73  # than a tree by itself, so that two stand side by side


def live(
    trace: str | Trace = HPC2N,
    k: int = 4,
    n: int = 4,
    allocation: str = CONTIGUOUS,
    s: float = 0.0,
    policy: str = "EASY (count)",
    hour: int = 6 * 168 + 84,
    jobs: int = 20_000,
) -> tuple:
    """Draw the tree at an instant under two allocations, and compare their means.

    Parameters
    ----------
    trace : str or Trace
        Log. By its name, or a trace.
    k : int
        k: ports down of a switch. A block of stage 1 has k nodes, one of stage 2 has k x k, and so on.
    n : int
        n: stages of switches. More are added if the machine needs them.
    allocation : str
        Allocation. Which nodes a job gets: those of one block, or others as in `KaryTree`.
    s : float
        s: run time saved by contiguity (share). Jobs anywhere save nothing.
    policy : str
        Scheduler (reservation). EASY promises the head of the queue a time when enough nodes are free, or nodes in a
        block. Jobs that do not end by then may use the nodes that the head does not need, or none, or whatever fits
        (and are then killed for the head).
    hour : int
        Instant (h). The tree is drawn this many hours after the first submission.
    jobs : int
        Jobs simulated. The log's first ones.
    """
    whole = trace if isinstance(trace, Trace) else log(trace)
    part = first_jobs(whole, jobs)
    n = max(n, stages_of(k, part.procs))
    chosen, free = (
        _simulated(part, policy, KaryTree(k, n, allocation=placing, speedup=s if placing == allocation else 0.0))
        for placing in (allocation, ANYWHERE)
    )
    instant = float(chosen.submit[0] + 3_600 * hour)
    drawn = {ANYWHERE: free, allocation: chosen}
    whole = charts.tree(chosen, instant)
    how = {"subtitle": "", "width": SMALLER * whole.width, "height": SMALLER * whole.height}
    trees = [charts.tree(run, instant, title=f"{policy}, {name}", **how) for name, run in drawn.items()]
    waits = [f"{duration(float(schedule.metrics()['wait_time']))} {name}" for name, schedule in drawn.items()]
    chart = headed(charts.stacked(trees), f"Mean wait under {policy}: {', '.join(waits)}", WIDE)
    rows = {f"{policy}, {allocation}, s = {s:g}": measures_of(chosen), f"{policy}, {ANYWHERE}": measures_of(free)}
    table = pd.DataFrame(rows).T
    table[[WAIT, TOTAL]] /= 60
    table = table.rename(columns=HOURS)
    return chart, charts.table(table.rename_axis(f"{len(part):,} jobs").reset_index())


def _limits(trace, k, allocation):
    """Say what the controls can do, as the limits of `widgets.live`."""
    whole = trace if isinstance(trace, Trace) else log(trace)
    needed = stages_of(k, whole.procs)
    limits = {"n": (range(needed, 25), f"{whole.procs:,} nodes need {needed} stages")}
    if ALLOCATIONS[allocation].whole:
        limits["s"] = "jobs anywhere save nothing"
    return limits


live.limits = _limits
live.groups = {"workload": ["trace", "s", "jobs"], "scheme": ["allocation", "policy", "k", "n"], "view": ["hour"]}


@remember(16)
def _simulated(trace, policy, tree):
    return simulate(trace, POLICIES[policy], machine=tree, overrun=KILL_BACKFILLED)
