"""Charts of the nodes of a tree: who holds which at an instant."""

import altair as alt
import numpy as np
import pandas as pd

from ..schedule import Schedule
from .theme import HEIGHT, INK, MOST_ROWS, WIDE, about, check_kind, headed
from .timeline import Clock

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#882255", "#F0E442")
FREE, ABSENT = "white", "#dddddd"
SIDE = 2 * HEIGHT  # of the whole tree, in pixels


def tree(
    schedule: Schedule,
    instant=None,
    *,
    title: str | None = None,
    subtitle: str | None = None,
    width: float | None = None,
    height: float | None = None,
) -> alt.LayerChart:
    """Draw the nodes of a k-ary n-tree at an instant, each in the colour of its job, and the blocks of each stage.

    A block of k nodes is drawn as a small grid, k of these as a grid of grids, and so on, so that a switch is always a
    rectangle: the higher its stage, the thicker its outline. Neighbouring jobs have different colours; a free node is
    white.

    Parameters
    ----------
    schedule : Schedule
        On a `KaryTree` with at most 5,000 nodes installed.
    instant : date or number, optional
        A date at the machine, or seconds on the clock of the log; when most nodes are taken if left out.
    title, subtitle : str, optional
        By default the scheme and the instant; the trace, its load and its jobs.
    width, height : float, optional
        Of the plot, in pixels.
    """
    check_kind(schedule, Schedule)
    machine = schedule.machine
    if schedule.placed is None:
        raise ValueError(f"the chart needs jobs on nodes; this schedule is of {machine} without a topology")
    if machine.procs > MOST_ROWS:
        raise ValueError(f"{machine} has more nodes than a chart takes, {MOST_ROWS:,}")
    now = _fullest(schedule) if instant is None else schedule.trace.seconds(instant)
    clock = Clock(schedule.trace, now, now + 1)
    nodes = _nodes(schedule, now, clock)
    outlines = _outlines(machine)
    wide, high = nodes["right"].max(), nodes["bottom"].max()
    scale = SIDE / max(wide, high)
    x = alt.X("left:Q", axis=None, scale=alt.Scale(domain=[0, float(wide)], nice=False))
    y = alt.Y("top:Q", axis=None, scale=alt.Scale(domain=[float(high), 0], nice=False))
    tooltip = [
        alt.Tooltip("node:Q"),
        alt.Tooltip("job:N"),
        alt.Tooltip("procs:Q", title="nodes of the job"),
        alt.Tooltip("stage:Q", title="stage of its block"),
        alt.Tooltip("since:N", title="since"),
    ]
    squares = (
        alt.Chart(nodes)
        .mark_rect(stroke=ABSENT, strokeWidth=0.5)
        .encode(x=x, y=y, x2="right", y2="bottom", color=alt.Color("color:N", scale=None), tooltip=tooltip)
    )
    weight = alt.StrokeWidth("stage:Q", scale=alt.Scale(domain=[1, machine.n], range=[0.8, 3.5]), legend=None)
    frames = (
        alt.Chart(outlines)
        .mark_rect(filled=False, stroke=INK, clip=True)
        .encode(x=x, y=y, x2="right", y2="bottom", strokeWidth=weight)
    )
    chart = alt.layer(squares, frames).properties(width=round(wide * scale), height=round(high * scale))
    held = nodes.loc[nodes["job"] != "", "job"]
    at = clock.words(np.array([now]))[0]
    words = f"{schedule.scheme} at {at}{'' if clock.dated else ' s'}"
    said = (
        f"{held.nunique():,} jobs hold {held.size:,} of {machine.procs:,} nodes (a colour for each job; white: free); "
        f"frames: switches of {machine.n} stages"
    )
    subtitle = about(schedule) if subtitle is None else subtitle
    return headed(chart, words if title is None else title, WIDE, subtitle, said, size=(width, height))


def _fullest(schedule):
    timeline = schedule.timeline()
    return float(timeline["time"].iloc[timeline["used"].to_numpy().argmax()])


def _nodes(schedule, now, clock):
    """Give a row for each node: where it is drawn, and the job that holds it."""
    offset, first, last = schedule.processors()
    holder = np.full(schedule.machine.procs, -1)
    running = np.flatnonzero((schedule.start <= now) & (schedule.end > now))
    for job in running:
        for place in range(offset[job], offset[job + 1]):
            holder[first[place] : last[place] + 1] = job
    left, top = _corner(schedule.machine, np.arange(holder.size))
    held = holder >= 0
    seen = dict.fromkeys(holder[held].tolist())
    colour = {job: PALETTE[i % len(PALETTE)] for i, job in enumerate(seen)}
    jobs = schedule.trace.table.index
    stage = schedule.locality()["stage"].to_numpy()
    procs = schedule.trace.table["requested_procs"].to_numpy()
    return pd.DataFrame(
        {
            "node": np.arange(holder.size),
            "left": left,
            "top": top,
            "right": left + 1,
            "bottom": top + 1,
            "job": [str(jobs[job]) if job >= 0 else "" for job in holder],
            "color": [colour.get(job, FREE) for job in holder.tolist()],
            "procs": np.where(held, procs[holder], 0),
            "stage": np.where(held, stage[holder], 0),
            "since": np.where(held, clock.words(schedule.start[holder]), ""),
        }
    )


def _outlines(machine):
    """Give a row for each block that has nodes."""
    parts = []
    for stage in range(1, machine.n + 1):
        size = machine.k**stage
        left, top = _corner(machine, np.arange(0, machine.procs, size))
        wide, high = _extent(machine, stage)
        corners = {"left": left, "top": top, "right": left + wide, "bottom": top + high}
        parts.append(pd.DataFrame({**corners, "stage": stage}))
    return pd.concat(parts)


def _grid(k, stage):
    """Give columns and rows of the grid in which the k parts of a block lie; turned at every other stage."""
    columns = int(np.ceil(np.sqrt(k)))
    rows = -(-k // columns)
    return (columns, rows) if stage % 2 == 0 else (rows, columns)


def _extent(machine, stages):
    """Give columns and rows of a block."""
    grids = [_grid(machine.k, stage) for stage in range(stages)]
    return tuple(int(np.prod([grid[i] for grid in grids])) for i in (0, 1))


def _corner(machine, node):
    """Give the column and the row of nodes."""
    left, top = np.zeros_like(node), np.zeros_like(node)
    for stage in range(machine.n):
        wide, high = _extent(machine, stage)
        columns, _ = _grid(machine.k, stage)
        digit = node // machine.k**stage % machine.k
        left += digit % columns * wide
        top += digit // columns * high
    return left, top
