"""The paper's live figures: some slices under two schedulers, and the memberships of a task."""

import numpy as np
import pandas as pd

from schedlab import charts, gang
from schedlab.charts.gang import MEMBERSHIPS
from schedlab.charts.sizes import WIDE
from schedlab.charts.theme import headed

from .figures import PICTURED, SHOWN, logged_schedule, memberships_of_a_task, slices_under
from .grids import HORIZON, JOBS, KINDS, MODELS, SPIN, TURNS, UTILIZATION, WITHOUT, configs, workload

LANES = 116  # pixels, so that both pictures fit on a screen
EMPTY = "empty: idle; faint: spinning; outlined: chosen locally"
LISTED = {"jobs": "jobs", JOBS: "completed", "turnaround": "mean response (min)"}
SHARES = (UTILIZATION, *gang.DOES)


def live(
    second: float = PICTURED[0],
    mix: str = SHOWN["mix"],
    scheduler: str = SPIN,
    pes: int = SHOWN["pes"],
    slice: float = 0.2,
    alpha: float = 2.0,
    beta: float = 0.3,
    delta: float = 0.0008,
    alternate: bool = False,
    bursts: str = "exponential",
    table: str = SHOWN["table"],
    seed: int = SHOWN["seed"],
    faster: float = SHOWN["faster"],
    color: str = "job",
) -> tuple:
    """Draw five slices of the same jobs without information and under another scheduler, with the measures of both.

    Parameters
    ----------
    second : float, seconds
        Start of the picture (s). The first of the five slices begins then.
    mix : str
        Mix of jobs. The kinds of jobs, as the paper names them.
    scheduler : {"with information", "with information and spin control", "round robin among ready tasks"}
        Scheduler. The picture compares it with the scheduler without information.
    pes : int
        PEs. The processing elements of the machine.
    slice : float, seconds
        Slice (s). The time between global switches from row to row.
    alpha : float
        Alpha: weight of I/O. In a task's priority, I/O counts alpha times as much as computing.
    beta : float
        Beta: least priority. A task of lower priority runs in its own row only.
    delta : float, seconds
        Delta: spin-control margin (s). A spinning task makes room only if more than this is left of the slice.
    alternate : bool
        Alternate selection. A job of another row also runs where all its columns are free.
    bursts : {"exponential", "constant", "uniform"}
        Lengths of bursts. How they are distributed around their means.
    table : {"kth", "ctc"}
        Model fitted to. The log that the model of jobs is fitted to.
    seed : int
        Seed. All random numbers depend on it.
    faster : float
        Time compression. At 25, jobs come and go 25 times as fast: 50,000 s take 2,000 s.
    color : {"job", "what"}
        Colour by. A colour for each job, or for each activity of a PE.
    """
    jobs = workload(mix, pes, table, seed, faster)
    changed = {"slice": slice, "alpha": alpha, "beta": beta, "delta": delta, "alternate": alternate, "bursts": bursts}
    settings = configs(WITHOUT, scheduler, **changed)
    if not second >= 0:
        raise ValueError(f"second must be at least 0, got {second}")
    if not 5 * slice <= jobs.horizon:
        raise ValueError(
            f"{jobs.horizon:g} s is too short for five slices of {slice:g} s; choose a shorter slice or a lower faster"
        )
    begin = slice * np.floor(min(second, jobs.horizon - 5 * slice) / slice + 1e-9)
    window = (begin, begin + 5 * slice)
    measures = pd.DataFrame(
        {name: logged_schedule(jobs, config, *window).metrics() for name, config in settings.items()}
    ).T
    shares = (100 * measures[[*SHARES]]).add_suffix(" (%)")
    rows = measures[[*LISTED]].assign(turnaround=measures["turnaround"] / 60).rename(columns=LISTED).join(shares)
    rows = rows.rename_axis("scheduler").reset_index()
    caption = f"{jobs.horizon:,.0f} s, {MODELS[table]}, {mix}"
    used = " and ".join(f"{100 * measures.loc[name, UTILIZATION]:.0f} % {name}" for name in settings)
    chart = slices_under(jobs, settings, window, color, subtitle="", height=LANES)
    return headed(chart, f"Utilization: {used}", WIDE, EMPTY), charts.table(rows, caption)


def _limits(mix, scheduler, slice, faster):
    """Say what the controls can do, as the limits of `widgets.live`."""
    limits = {"second": HORIZON / faster - 5 * slice}
    if not {"msg", "bsp"} & {*KINDS[mix]}:
        limits["delta"] = "no job of this mix communicates, so no task spins"
    elif scheduler != SPIN:
        limits["delta"] = "only spin control has it"
    if scheduler == TURNS:
        limits["alpha"] = limits["beta"] = "round robin knows no priorities"
    return limits


live.limits = _limits
live.groups = {
    "workload": ["mix", "pes", "bursts", "table", "seed", "faster"],
    "scheme": ["scheduler", "slice", "alpha", "beta", "delta", "alternate"],
    "view": ["second", "color"],
}


def live_memberships(
    floor: float = 0.001,
    kind: str = "msg",
    mean: float = 0.1,
    slice: float = 0.2,
    statements: int = 1,
    alpha: float = 2.0,
    seed: int = 0,
) -> tuple:
    """Draw memberships and priority of a task over time as it changes phase.

    Parameters
    ----------
    floor : float
        Floor of memberships. No membership falls below it, so none vanishes.
    kind : {"io", "msg", "bsp", "interactive", "emb"}
        Kind of job. The task does I/O, messages, barriers, interaction, or computing only.
    mean : float, seconds
        Mean burst of computing (s). The task computes this long on average before it does something else.
    slice : float, seconds
        Slice (s). The time between global switches from row to row.
    statements : int
        Statements that make it communicate. A slice with this many communication statements counts as communicating.
    alpha : float
        Alpha: weight of I/O. In the task's priority, I/O counts alpha times as much as computing.
    seed : int
        Seed. The lengths of bursts depend on it.
    """
    settings = {"floor": floor, "slice": slice, "statements": statements, "alpha": alpha}
    table = memberships_of_a_task(kind, mean, seed, **settings)
    means = table.loc[table["held"], list(MEMBERSHIPS)].mean().rename(MEMBERSHIPS).rename("mean")
    return charts.memberships(table), charts.table(means.rename_axis("membership").reset_index())


COMMUNICATING = ("msg", "bsp")
NO_MESSAGES = {"statements": "this task does not communicate"}
live_memberships.limits = lambda kind: {} if kind in COMMUNICATING else NO_MESSAGES
