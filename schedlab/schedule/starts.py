"""How each job of a schedule came to start."""

import numpy as np
import pandas as pd

from schedlab._runtime.threads import interruptible
from schedlab.kernels.pools_easy import new_heads
from schedlab.kernels.pools_started_by import pools_started_by
from schedlab.kernels.started_by import HEAD
from schedlab.kernels.started_by import started_by as labelled
from schedlab.machine import KaryTree, Pools
from schedlab.schemes import Jobs
from schedlab.schemes.orders import prepare
from schedlab.schemes.pooled import check_order, counts_of, state_of

LABELS = ("head", "reservation", "backfilled within the shadow", "backfilled on extra processors")
ON_NODES = ("head", "backfilled")  # a head that waits for a block has no shadow time that follows from counts alone


def started_by(schedule) -> pd.Categorical:
    """Return how each job came to start; see `Schedule.started_by`."""
    check_whole(schedule, "started_by")
    if schedule.case.in_parts:
        codes = np.zeros(len(schedule), "int8")
        for i, part in enumerate(schedule.pools.values()):
            if len(part):
                codes[schedule.case.places == i] = part.started_by.codes
        return pd.Categorical.from_codes(codes, LABELS)
    outcome, on_nodes = schedule.outcome, isinstance(schedule.machine, KaryTree)
    if on_nodes and outcome.backfilled is not None:
        return pd.Categorical.from_codes(outcome.backfilled.astype("int8"), ON_NODES)
    case, scheme = schedule.case, schedule.scheme
    estimate = case.jobs.estimate if outcome.estimate is None else outcome.estimate
    columns = (outcome.submit, outcome.run, estimate, outcome.procs)
    jobs = Jobs(*(column.copy() for column in columns))
    start = np.maximum(outcome.start, jobs.submit)  # in a schedule of another simulator a job may start too early
    most = max(schedule.machine.procs, int(schedule.states[1].max(initial=0)))  # logs may hold more
    order = scheme.queue(case) or prepare("fcfs", case)
    held = outcome.had_reservation & (not scheme.one_reservation)
    if isinstance(schedule.machine, Pools):
        pieces = outcome.pieces
        by_start = np.argsort(pieces.start, kind="stable")
        runs = pieces.job[by_start], pieces.start[by_start]
        state = state_of(case, order)
        codes = np.zeros(len(case), np.int8)
        interruptible(pools_started_by, state, new_heads(*counts_of(case)), codes, order, *runs, held)
        check_order(state)
        return pd.Categorical.from_codes(codes, LABELS)
    by_start = np.argsort(start, kind="stable")
    codes = interruptible(labelled, jobs, most, order, start, by_start, held)
    if on_nodes:
        return pd.Categorical.from_codes((codes != HEAD).astype("int8"), ON_NODES)
    return pd.Categorical.from_codes(codes, LABELS)


def check_whole(schedule, what) -> None:
    """Raise if jobs run in several pieces."""
    if schedule.outcome.in_pieces:
        raise ValueError(f"{what} needs jobs that run in one piece; {schedule.scheme} may split them")
