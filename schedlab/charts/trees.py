"""Charts of the nodes of a tree: which job holds which node at an instant."""

from itertools import groupby

import numpy as np
import pandas as pd

from ..schedule import Schedule
from ._altair import alt
from .checks import MOST_ROWS, check_kind
from .clock import Clock
from .job_colours import PALETTE
from .palette import INK, ink_on
from .sizes import WIDE
from .theme import about, headed, unchecked
from .timeline import LETTER, fits

FREE, ABSENT = "transparent", "#80808055"
SIDE = 500  # side of the whole tree, in pixels: with its title it fits on the page of a small screen
LETTERS = 12  # size of a job's number, in pixels


@unchecked
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

    A block of k nodes is drawn as a small grid, k such blocks as a grid of grids, and so on. So every switch is a
    rectangle; the higher its stage, the thicker its outline. Neighbouring jobs have different colours, and show their
    numbers if there is room. A free node is empty; a node that is not installed is grey.

    Parameters
    ----------
    schedule : Schedule
        A schedule on a `KaryTree` with at most 5,000 nodes installed.
    instant : date or number, optional
        A date at the machine, or seconds on the clock of the log. Default: when most nodes are in use.
    title, subtitle, width, height : optional
        By default, the title gives the scheme and the instant, and the subtitle the trace, its load and its jobs.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=300, machine=64, seed=1).scale_load(0.8)
    >>> schedule = sl.simulate(trace, "easy", machine=sl.KaryTree(k=4, n=3, allocation="contiguous"))
    >>> chart = sl.charts.tree(schedule)
    """
    check_kind(schedule, Schedule)
    machine = schedule.machine
    if schedule.outcome.nodes is None:
        raise ValueError(f"the chart needs jobs on nodes; this schedule is of {machine} without a topology")
    if machine.procs > MOST_ROWS:
        raise ValueError(f"{machine} has more nodes than the {MOST_ROWS:,} that a chart takes")
    now = _fullest(schedule) if instant is None else schedule.trace.seconds(instant)
    clock = Clock(schedule.trace, now, now + 1)
    nodes, numbers = _nodes(schedule, now, clock, width, height)
    numbers = {"values": numbers}
    # Rows as dictionaries: Altair would clean and convert a table, 5 ms each.
    outlines = {"values": _outlines(machine).to_dict("records")}
    wide, high = nodes["right"].max(), nodes["bottom"].max()
    scale = SIDE / max(wide, high)
    along = {"axis": None, "scale": alt.Scale(domain=[0, float(wide)], nice=False)}
    down = {"axis": None, "scale": alt.Scale(domain=[float(high), 0], nice=False)}
    where = {"x": alt.X("left:Q", **along), "y": alt.Y("top:Q", **down)}
    where |= {"x2": alt.X2(field="right"), "y2": alt.Y2(field="bottom")}  # by keyword: rows have no types
    tooltip = [
        alt.Tooltip("node:Q"),
        alt.Tooltip("job:N"),
        alt.Tooltip("procs:Q", title="nodes of the job"),
        alt.Tooltip("stage:Q", title="stage of its block"),
        alt.Tooltip("since:N", title="since"),
    ]
    squares = (
        alt.Chart({"values": nodes.to_dict("records")})
        .mark_rect(stroke=INK, strokeOpacity=0.25, strokeWidth=0.5)
        .encode(**where, color=alt.Color("color:N", scale=None), tooltip=tooltip)
    )
    weight = alt.StrokeWidth("stage:Q", scale=alt.Scale(domain=[1, machine.n], range=[0.8, 3.5]), legend=None)
    frames = alt.Chart(outlines).mark_rect(filled=False, stroke=INK, clip=True).encode(**where, strokeWidth=weight)
    # On a plate of the job's colour; otherwise the frames would cross the number.
    plates = alt.Chart(numbers).mark_rect().encode(**where, color=alt.Color("color:N", scale=None))
    middle = {"x": alt.X("middle:Q", **along), "y": alt.Y("center:Q", **down)}
    text = alt.Chart(numbers).mark_text(fontSize=LETTERS)
    text = text.encode(**middle, text=alt.Text("job:N"), color=alt.Color("ink:N", scale=None))
    layers = [squares, frames, plates, text]
    if missing := _absent(machine).to_dict("records"):
        layers.append(alt.Chart({"values": missing}).mark_rect(color=ABSENT, clip=True).encode(**where))
    chart = alt.layer(*layers).properties(width=round(wide * scale), height=round(high * scale))
    held = nodes.loc[nodes["job"] != "", "job"]
    at = clock.words(np.array([now]))[0] if clock.dated else f"{now:,.10g} s"
    heading = f"{schedule.scheme} at {at}"
    key = (
        f"{held.nunique():,} jobs hold {held.size:,} of {machine.procs:,} nodes; numbers: jobs; empty: free"
        f"{'; grey: not installed' if machine.procs < machine.k**machine.n else ''}; frames: switches of {machine.n} "
        "stages"
    )
    subtitle = about(schedule) if subtitle is None else subtitle
    return headed(chart, heading if title is None else title, WIDE, subtitle, key, size=(width, height))


def _fullest(schedule):
    timeline = schedule.timeline()
    return float(timeline["time"].iloc[timeline["used"].to_numpy().argmax()])


def _nodes(schedule, now, clock, width, height):
    """Return a row for each node (where it is drawn, and which job holds it), and the rows of the job numbers."""
    offset, first, last = schedule.processors()
    holder = np.full(schedule.machine.procs, -1)
    running = np.flatnonzero((schedule.start <= now) & (schedule.end > now))
    for job in running:
        for place in range(offset[job], offset[job + 1]):
            holder[first[place] : last[place] + 1] = job
    left, top = _corner(schedule.machine, np.arange(holder.size))
    held = holder >= 0
    grid = np.full((top.max() + 1, left.max() + 1), -1)
    grid[top, left] = holder
    colour = _coloured(grid)
    jobs = schedule.trace.table.index
    stage = schedule.locality()["stage"].to_numpy()
    procs = schedule.trace.table["requested_procs"].to_numpy()
    nodes = pd.DataFrame(
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
    down, across = grid.shape
    pixel = SIDE / max(grid.shape)
    return nodes, _numbers(grid, jobs, colour, width / across if width else pixel, height / down if height else pixel)


def _absent(machine):
    """Return a row for each place of a node that is not installed, up to as many as a chart takes."""
    left, top = _corner(machine, np.arange(machine.procs, min(machine.k**machine.n, MOST_ROWS)))
    return pd.DataFrame({"left": left, "top": top, "right": left + 1, "bottom": top + 1})


def _coloured(grid):
    """Give each job a rarely used colour that no neighbouring job has; the largest jobs choose first."""
    beside = {}
    edged = np.pad(grid, 1, constant_values=-1)
    for near in (edged[1:-1, 2:], edged[2:, 1:-1], edged[2:, 2:], edged[2:, :-2]):
        touching = (grid != near) & (grid >= 0) & (near >= 0)
        for job, other in set(zip(grid[touching].tolist(), near[touching].tolist(), strict=True)):
            beside.setdefault(job, set()).add(other)
            beside.setdefault(other, set()).add(job)
    jobs, sizes = np.unique(grid[grid >= 0], return_counts=True)
    colours, used = {}, dict.fromkeys(PALETTE, 0)
    for job in jobs[np.argsort(-sizes, kind="stable")].tolist():
        near = [colours.get(other) for other in beside.get(job, ())]
        colours[job] = min(PALETTE, key=lambda colour: (near.count(colour), used[colour]))
        used[colours[job]] += 1
    return colours


def _numbers(grid, jobs, colours, pixels, down):
    """Return a row for each job whose number has room, placed in the largest rectangle of the job's nodes."""
    places, above = {}, {}
    for bottom, line in enumerate(grid.tolist(), 1):
        row, left = {}, 0
        for job, run in groupby(line):
            right = left + len(list(run))
            if job >= 0:
                row[job, left, right] = top = above.get((job, left, right), bottom - 1)
                number, wide, high = str(jobs[job]), pixels * (right - left), down * (bottom - top)
                room = bool(fits(len(number), wide, high, LETTERS))
                place = (room, wide * high, number, (left + right) / 2, (top + bottom) / 2)
                places[job] = max(places.get(job, place), place, key=lambda place: place[:2])
            left = right
        above = row
    rows = []
    for job, (room, _, number, middle, center) in places.items():
        if room:
            wide, high = (LETTER * LETTERS * len(number) + 2) / 2 / pixels, LETTERS / 2 / down
            row = {"job": number, "middle": middle, "center": center}
            row |= {"left": middle - wide, "right": middle + wide, "top": center - high, "bottom": center + high}
            rows.append({**row, "color": colours[job], "ink": ink_on(colours[job])})
    return rows


def _outlines(machine):
    """Return a row for each block that has nodes."""
    parts = []
    for stage in range(1, machine.n + 1):
        size = machine.k**stage
        left, top = _corner(machine, np.arange(0, machine.procs, size))
        wide, high = _extent(machine, stage)
        corners = {"left": left, "top": top, "right": left + wide, "bottom": top + high}
        parts.append(pd.DataFrame({**corners, "stage": stage}))
    return pd.concat(parts)


def _grid(k, stage):
    """Return columns and rows of the grid in which the k parts of a block lie; rotated at every other stage."""
    columns = int(np.ceil(np.sqrt(k)))
    rows = -(-k // columns)
    return (columns, rows) if stage % 2 == 0 else (rows, columns)


def _extent(machine, stages):
    """Return columns and rows of a block."""
    grids = [_grid(machine.k, stage) for stage in range(stages)]
    return tuple(int(np.prod([grid[i] for grid in grids])) for i in (0, 1))


def _corner(machine, node):
    """Return the column and the row of nodes."""
    left, top = np.zeros_like(node), np.zeros_like(node)
    for stage in range(machine.n):
        wide, high = _extent(machine, stage)
        columns, _ = _grid(machine.k, stage)
        digit = node // machine.k**stage % machine.k
        left += digit % columns * wide
        top += digit // columns * high
    return left, top
