"""Charts of gang scheduling: what each PE did in each slice, how its time was spent, and how tasks were classified."""

from numbers import Real

import numpy as np
import pandas as pd

from .._runtime.text import check_known, spelt
from ..gang import GangSchedule
from ._altair import alt
from .axes import axis
from .checks import MOST_ROWS, check, check_kind, check_numbers
from .palette import DOING, INK
from .series import lines
from .sizes import WIDE
from .theme import headed, unchecked

LANE = 26  # of one PE, in pixels
TALLEST = 520
APART = 60  # of panels beside one another, in pixels
PALE = 0.35
ROUNDED = 1e-9  # seconds by which sums of slices may differ from the log
MEMBERSHIPS = {"f_io": "I/O", "f_comm": "communicating", "f_comp": "computing", "priority": "priority"}
OWN, LOCAL = "in its own row", "chosen locally"


@unchecked
def slices(
    schedule: GangSchedule,
    window: tuple[float, float] | None = None,
    color: str = "job",
    *,
    title: str | None = None,
    subtitle: str | None = None,
    width: float | None = None,
    height: float | None = None,
) -> alt.LayerChart:
    """Draw what each PE did over a few slices: one lane per PE, one rectangle per activity of a task.

    An activity shorter than a pixel is drawn together with what the task did before.

    Parameters
    ----------
    schedule : GangSchedule
        With a log.
    window : (begin, end), seconds, optional
        The period to draw, of at most 5,000 pieces. Default: all that was logged.
    color : {"job", "what"}
        By job, faint while it spins; or by what the PE did.
    title, subtitle, width, height : optional
        By default, the title is the scheduler, and the subtitle gives machine and slice.

    Examples
    --------
    >>> import schedlab as sl
    >>> workload = sl.gang.Workload(("io", "msg"), pes=8, horizon=2000, seed=1)
    >>> schedule = sl.gang.simulate(workload, "priority", log=(1000, 1001.2))
    >>> chart = sl.charts.slices(schedule)
    """
    check_kind(schedule, GangSchedule)
    check_known("color", color, ("job", "what"))
    log, pes, config = schedule.log, schedule.workload.pes, schedule.config
    logged = float(log["start_time"].min()), float(log["end_time"].max())
    window = logged if window is None else _checked(window, *logged)
    pieces = _pieces(log, *window)
    kinds = schedule.jobs["kind"]
    pieces["number"] = pieces["job"]
    pieces["job"] = [f"{job} ({kinds[job]})" for job in pieces["job"]]
    if len(pieces) > MOST_ROWS:
        raise ValueError(
            f"the window has {len(pieces):,} pieces, a chart takes at most {MOST_ROWS:,}: choose a shorter one"
        )
    high = min(LANE * pes, TALLEST)
    seconds = alt.Scale(domain=list(window), nice=False)
    along = {"title": "time (seconds)", "scale": seconds, "axis": axis(tickCount=8)}
    lanes = alt.Scale(domain=list(range(pes)), paddingInner=0.12)
    where = {
        "x": alt.X("begin:Q", **along),
        "x2": alt.X2("end"),
        "y": alt.Y("pe:O", title="PE", scale=lanes, axis=alt.Axis(labelOverlap=True)),
    }
    legend = alt.Legend(orient="bottom", columns=8, titleLimit=WIDE)
    if color == "job":
        # By number, not by time: below one another or alone, charts of the same jobs give them the same colours.
        order = alt.EncodingSortField("number", op="min")
        fill = alt.Color("job:N", title="job", scale=alt.Scale(scheme="tableau20"), sort=order, legend=legend)
    else:
        seen = [what for what in DOING if (pieces["what"] == what).any()]
        fill = alt.Color(
            "what:N", title=None, legend=legend, scale=alt.Scale(domain=seen, range=[DOING[what] for what in seen])
        )
    pale = "datum.what == 'spinning'" if color == "job" else "false"
    marks = alt.Chart(pieces).mark_rect(strokeWidth=2)
    marks = marks.encode(
        **where,
        color=fill,
        opacity=alt.OpacityValue(1, condition={"test": pale, "value": PALE}),
        stroke=alt.Stroke(
            "chosen:N",
            title=None,
            scale=alt.Scale(domain=[OWN, LOCAL], range=["transparent", INK]),
            legend=alt.Legend(orient="bottom", values=[LOCAL], symbolType="square", symbolFillColor="transparent"),
        ),
        tooltip=[
            *map(alt.Tooltip, ("pe:O", "job:N", "rank:O", "what:N", "chosen:N")),
            alt.Tooltip("row:Q", title="current row"),
            alt.Tooltip("begin:Q", title="from (s)", format=".6f"),
            alt.Tooltip("end:Q", title="until (s)", format=".6f"),
        ],
    )
    rows = _current_rows(log, *window, config.slice)
    rules = alt.Chart(rows).mark_rule(color=INK, strokeDash=[2, 2]).encode(x=alt.X("begin:Q", **along))
    names = alt.Chart(rows).mark_text(dy=-8, color=INK, fontSize=11)
    names = names.encode(x=alt.X("middle:Q", **along), y=alt.YValue(0), text=alt.Text("words:N"))
    chart = alt.layer(marks, rules, names, width=WIDE, height=high)
    if subtitle is None:
        faint = "; faint: spinning" * (color == "job")
        subtitle = f"{pes} PEs, slices of {1000 * config.slice:g} ms; empty: idle{faint}"
    return headed(chart, str(config) if title is None else title, WIDE, subtitle, size=(width, height))


def _checked(window, first, last):
    """Check that a window is two times within the log; outside it, PEs would seem to idle."""
    if not (isinstance(window, tuple | list) and len(window) == 2 and all(isinstance(time, Real) for time in window)):
        raise ValueError(f"window is {spelt(window)}, expected two times in seconds")
    begin, end = map(float, window)
    if not begin < end:
        raise ValueError(f"the window must begin before it ends, got {window[0]} to {window[1]}")
    if begin < first - ROUNDED or end > last + ROUNDED:
        raise ValueError(
            f"the window, {window[0]} to {window[1]} s, must lie in what was logged, {first:g} to {last:g} s"
        )
    return begin, end


def _pieces(log, begin, end):
    """Return what tasks did on [begin, end), with short pieces joined to those before."""
    pixel = (end - begin) / WIDE
    busy = log[(log["job_number"] >= 0) & (log["end_time"] > begin) & (log["start_time"] < end)]
    columns = busy[["pe", "job_number", "rank", "row", "gang", "what", "start_time", "end_time"]]
    pieces = []
    for *task, what, since, until in columns.itertuples(index=False, name=None):
        since, until = max(since, begin), min(until, end)
        if pieces:
            last, did, _, ended = pieces[-1]
            if last == task and since - ended < pixel and (what == did or until - since < pixel):
                pieces[-1][-1] = until
                continue
        pieces.append([task, what, since, until])
    names = ["pe", "job", "rank", "row", "gang", "what", "begin", "end"]
    pieces = pd.DataFrame([(*task, *rest) for task, *rest in pieces], columns=names)
    pieces = pieces.astype({"begin": "float64", "end": "float64"})  # even if there are none
    return pieces.assign(chosen=np.where(pieces["gang"], OWN, LOCAL)).drop(columns="gang")


def _current_rows(log, begin, end, length):
    """Return the slices in a window: their beginnings, their middles, and the rows of the matrix."""
    inside = log[(log["end_time"] > begin) & (log["start_time"] < end)]
    numbers = np.floor(inside["start_time"] / length + 1e-9)
    rows = inside.groupby(numbers)["row"].first()
    starts = rows.index.to_numpy() * length
    table = pd.DataFrame({"begin": np.maximum(starts, begin), "until": np.minimum(starts + length, end)})
    table["middle"] = table[["begin", "until"]].mean(axis=1)
    return table.assign(words=[f"row {row + 1}" if row >= 0 else "no row" for row in rows])


@unchecked
def shares(
    table: pd.DataFrame,
    y: str,
    x: str = "share",
    color: str = "what",
    *,
    column: str | None = None,
    title: str = "",
    subtitle: str = "",
    width: float | None = None,
    height: float | None = None,
) -> alt.Chart:
    """Draw shares of a whole as stacked bars, one below the other.

    Parameters
    ----------
    table : DataFrame
        Tidy, one row per bar and share; shares from 0 to 1.
    y, x, color : str
        Columns that give the bar, the share, and what it is a share of.
    column : str, optional
        A column with one panel for each value.
    title, subtitle, width, height : optional
        Texts above the chart, and its size.

    Examples
    --------
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> workload = sl.gang.Workload(("io", "msg"), pes=8, horizon=2000, seed=1)
    >>> schedules = {name: sl.gang.simulate(workload, name) for name in ("gang", "priority", "spin-block")}
    >>> spent = pd.DataFrame({name: one.metrics()[list(sl.gang.DOES)] for name, one in schedules.items()})
    >>> table = spent.rename_axis("what").reset_index().melt("what", var_name="scheduler", value_name="share")
    >>> chart = sl.charts.shares(table, "scheduler", title="Where the time of 8 PEs goes", width=560)
    """
    check_kind(table, pd.DataFrame)
    names = [y, x, color, *filter(None, (column,))]
    check(table, names)
    check_numbers(table, [x])
    rows = table[names].copy()
    parts = list(dict.fromkeys(rows[color]))
    rows["place"] = rows[color].map(parts.index)
    panels = list(dict.fromkeys(rows[column])) if column else [""]
    wide = WIDE // len(panels) - APART * (len(panels) > 1)
    scale = alt.Scale(domain=parts, range=[DOING.get(part, INK) for part in parts])
    chart = alt.Chart(rows).mark_bar()
    chart = chart.encode(
        x=alt.X(f"{x}:Q", title=f"{x} of the time", scale=alt.Scale(domain=[0, 1]), axis={"format": "%"}),
        y=alt.Y(f"{y}:N", title=None, sort=list(dict.fromkeys(rows[y])), axis=alt.Axis(labelLimit=WIDE // 2)),
        color=alt.Color(f"{color}:N", title=None, scale=scale, legend=alt.Legend(orient="bottom", columns=5)),
        order=alt.Order("place:Q"),
        tooltip=[alt.Tooltip(f"{y}:N"), alt.Tooltip(f"{color}:N"), alt.Tooltip(f"{x}:Q", format=".1%")],
    ).properties(width=wide, height=18 * rows[y].nunique())
    if column:
        chart = chart.facet(column=alt.Column(f"{column}:N", title=None, sort=panels))
    return headed(chart, title, WIDE, subtitle, size=(width, height))


@unchecked
def memberships(
    table: pd.DataFrame,
    *,
    column: str | None = None,
    title: str = "Memberships and priority of a task",
    subtitle: str = "at the end of each slice in which it held its PE",
    width: float | None = None,
    height: float | None = None,
) -> alt.Chart:
    """Draw how a task was classified over time: its memberships and its priority.

    Parameters
    ----------
    table : DataFrame
        From `GangSchedule.memberships`. For several tasks or settings, put the tables one below the other; `column`
        tells them apart. Slices in which the task had no PE are left out.
    column : str, optional
        A column with one panel for each value.
    title, subtitle, width, height : optional
        Texts above the chart, and its size.

    Examples
    --------
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> steps = {"compute": [4.0, *[0.1] * 20, 4.0], "operation": ["disk"] * 21 + ["end"]}
    >>> program = pd.DataFrame(steps).assign(job_number=1, rank=0, seconds=0.1)
    >>> jobs = pd.DataFrame({"submit_time": [0]})
    >>> workload = sl.gang.Workload(pes=1, horizon=20, jobs=jobs, programs=program)
    >>> schedule = sl.gang.simulate(workload, watch=[(1, 0)])
    >>> chart = sl.charts.memberships(schedule.memberships(job=1), title="A task that computes, does I/O and computes")
    """
    check_kind(table, pd.DataFrame)
    names = ["time (s)", *filter(None, (column,))]
    check(table, ["time", *MEMBERSHIPS, "held", *names[1:]])
    held = table[table["held"]].rename(columns={"time": "time (s)"} | MEMBERSHIPS)
    long = held.melt(names, list(MEMBERSHIPS.values()), "line", "membership")
    named = {"title": title, "subtitle": subtitle, "width": width, "height": height}
    return lines(long, "time (s)", "membership", "line", column=column, **named)
