"""Tables as pictures: jobs by size and run time, by hour and weekday; what works with what, in marks."""

import json
from collections.abc import Sequence
from textwrap import wrap

import numpy as np
import pandas as pd

from schedlab._runtime.text import spelt

from ..schedule import Schedule, metrics
from ..schedule.calendar import WEEKDAYS
from ..schemes.composing import YES
from ..workload.trace import Trace
from ._altair import alt
from .axes import DURATIONS, PER_JOB
from .checks import check_columns, check_kind, check_names, check_numbers, counted
from .palette import BLUE, INK, VERMILION
from .sizes import WIDTH, beside
from .theme import about, headed, unchecked

RUN_TIMES = {
    "under 1 min": 0,
    "1 to 10 min": 60,
    "10 min to 1 h": 600,
    "1 to 10 h": 3_600,
    "10 to 100 h": 36_000,
    "100 h and over": 360_000,
}  # lower ends, in seconds
LEAST = {"run_time": 0, "procs": 1}  # smallest values of a job
ROW = 28  # height of a cell, in pixels
CELL, WIDE_CELL = 32, 64  # width of a cell: for means, for sums
LINE, HEAD = 20, 13  # height of a row of marks; letters in a line of the heading over it
# Marks and their colours, from the best to the worst: a disc, a square, a cross.
CROSS = "M-1,-.65L-.65,-1L0,-.35L.65,-1L1,-.65L.35,0L1,.65L.65,1L0,.35L-.65,1L-1,.65L-.35,0Z"
SHAPES, COLOURS = ("circle", "square", CROSS), (BLUE, "#3EA08F", VERMILION)
SHADES = (0.04, 0.7)  # opacity of the least and of the largest; on both the ink of the page is readable


@unchecked
def heatmap(
    jobs: pd.DataFrame | Trace | Schedule,
    value: str = "jobs",
    *,
    window=None,
    title: str | None = None,
    subtitle: str | None = None,
    width: float | None = None,
    height: float | None = None,
) -> alt.LayerChart:
    """Draw jobs by size (processors, in powers of two) and run time, with a number in each cell that has jobs.

    Parameters
    ----------
    jobs : DataFrame, Trace or Schedule
        A table needs run_time and procs (or requested_procs).
    value : str
        "jobs" counts them; "area" sums processor-hours; a column gives its mean (times in hours).
    window : (begin, end), optional
        Of a trace or schedule, only jobs submitted in [begin, end): dates at the machine, or seconds on the clock of
        the log. Default: all that are counted (`Trace.counted`).
    title, subtitle, width, height : optional
        By default, the title says what is shown, and the subtitle gives the trace, its load and its jobs.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=3000, machine=128, seed=1)
    >>> chart = sl.charts.heatmap(trace, "area")
    """
    check_kind(jobs, pd.DataFrame, Trace, Schedule)
    described = "" if isinstance(jobs, pd.DataFrame) else about(jobs)
    if window is not None or not isinstance(jobs, pd.DataFrame):
        jobs = counted(jobs, window)
    if "procs" not in jobs.columns:
        check_columns(jobs, ["requested_procs"])
        jobs = jobs.assign(procs=jobs["requested_procs"])
    check_columns(jobs, ["run_time"])
    _check_jobs(jobs)
    amounts, measure, sum_up = _amounts(jobs, value)
    sizes = metrics.classes(jobs, "size").rename("size")
    lengths = pd.cut(jobs["run_time"], [*RUN_TIMES.values(), np.inf], right=False, labels=list(RUN_TIMES))
    groups = amounts.groupby([sizes, lengths.rename("length")], observed=True)
    cells = groups.agg(sum_up).rename("value").reset_index()
    classes = (cells["size"].cat, cells["length"].cat)  # drawn from the first to the last that has jobs
    columns, rows = (list(axis.categories[axis.codes.min() : axis.codes.max() + 1]) for axis in classes)
    cells = cells.astype({"size": str, "length": str})
    cells["text"] = [f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}" for amount in cells["value"]]
    along = alt.X("size:N", title="processors", sort=columns)
    down = alt.Y("length:N", title="run time", sort=rows[::-1])
    chart = mosaic(cells, measure, along, down, WIDE_CELL * len(columns), ROW * len(rows))
    title = f"{measure[0].upper()}{measure[1:]} by size and run time" if title is None else title
    subtitle = described if subtitle is None else subtitle
    return headed(chart, title, max(WIDE_CELL * len(columns), WIDTH), subtitle, size=(width, height))


def _check_jobs(jobs):
    """Raise if a job falls into no cell."""
    check_numbers(jobs, LEAST)
    for column, least in LEAST.items():
        values = jobs[column].to_numpy(dtype=float)
        bad = np.flatnonzero(~((values >= least) & (values < np.inf)))
        if bad.size:
            raise ValueError(f"job {jobs.index[bad[0]]} has {column} {values[bad[0]]}, expected {least} or more")


def _amounts(jobs, value):
    """Return each job's amount, what the amount is, and how to combine the amounts in a cell."""
    if value == "jobs":
        return pd.Series(1, index=jobs.index), "jobs", "sum"
    if value == "area":
        return jobs["run_time"] * jobs["procs"] / 3600, "processor-hours", "sum"
    check_columns(jobs, [value])
    check_numbers(jobs, [value])
    name = PER_JOB.get(value, value.replace("_", " "))
    if value in DURATIONS:
        return jobs[value] / 3600, f"mean {name} (hours)", "mean"
    return jobs[value], f"mean {name}", "mean"


@unchecked
def arrivals(
    trace: Trace,
    start=None,
    *,
    window=None,
    title: str | None = None,
    subtitle: str | None = None,
    width: float | None = None,
    height: float | None = None,
) -> alt.LayerChart:
    """Draw the mean number of jobs submitted per hour, by weekday and hour of the day at the machine.

    The mean is over the hours from the first to the last submission; the first and last hour are counted in full.

    Parameters
    ----------
    trace : Trace
        Whose submissions are counted.
    start : date, optional
        Local date and time of second 0 of the log: for a log whose header has no UnixStartTime, and only for that.
    window : (begin, end), optional
        Only jobs submitted in [begin, end): dates at the machine, or seconds on the clock of the log. Default: all that
        are counted (`Trace.counted`).
    title, subtitle, width, height : optional
        By default, the title says what is shown, and the subtitle gives the trace, its load and its jobs.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=5000, machine=128, seed=1)  # a model's clock has no date
    >>> chart = sl.charts.arrivals(trace, start="2024-01-01")
    """
    check_kind(trace, Trace)
    dated = trace.header.unix_start_time is not None
    if start is not None and dated:
        raise ValueError(f"{trace.name} has a UnixStartTime; start is for logs that have none")
    if start is None and not dated:
        raise ValueError(f"{trace.name} has no UnixStartTime; give start=, the local date of second 0 of its clock")
    submit = counted(trace, window)["submit_time"].to_numpy()
    zero = trace.at(0) if dated else pd.Timestamp(start)
    jobs = _hours_of_week(zero, submit)
    past = (submit[0] + zero.minute * 60 + zero.second) % 3600  # the full hour
    hours = _hours_of_week(zero, np.arange(submit[0] - past, submit[-1] + 1, 3600))
    with np.errstate(invalid="ignore"):  # an hour of the week that the log does not reach
        means = jobs / hours
    cells = pd.DataFrame({"value": means, "day": np.repeat(WEEKDAYS, 24), "hour": np.tile(np.arange(24), 7)})
    cells = cells.dropna(ignore_index=True)
    cells["text"] = [f"{mean:.1f}" for mean in cells["value"]]
    along = alt.X("hour:O", title=f"hour of the day ({zero.tzinfo or 'local'})")
    down = alt.Y("day:N", title=None, sort=list(WEEKDAYS))
    chart = mosaic(cells, "mean jobs submitted per hour", along, down, CELL * 24, ROW * 7)
    title = "Jobs submitted an hour, by weekday and hour" if title is None else title
    return headed(chart, title, CELL * 24, about(trace) if subtitle is None else subtitle, size=(width, height))


def _hours_of_week(zero, seconds):
    """Count instants by hour of the week, starting on Monday at midnight."""
    dates = pd.DatetimeIndex(zero + pd.to_timedelta(seconds, unit="s"))
    return np.bincount(dates.day_of_week * 24 + dates.hour, minlength=7 * 24)


def mosaic(cells, measure, x, y, width, height):
    """Draw value as a cell of x and y, with its text on it."""
    x.axis = alt.Axis(labelAngle=0, ticks=False, domain=False)
    y.axis = alt.Axis(ticks=False, domain=False)
    # By the root, since a few cells hold most. No legend: each cell has its number.
    (least, most), part = SHADES, np.sqrt(cells["value"] / cells["value"].max())
    cells = cells.assign(shade=least + (most - least) * part.fillna(0))
    rectangles = (
        alt.Chart()
        .mark_rect(color=BLUE, stroke=INK, strokeOpacity=0.15)
        .encode(
            fillOpacity=alt.FillOpacity("shade:Q", scale=None),
            tooltip=alt.Tooltip("value:Q", title=measure, format=",.4~g"),
        )
    )
    text = alt.Chart().mark_text(fontSize=11, color=INK).encode(text=alt.Text("text:N"))
    layers = [rectangles.encode(x=x, y=y), text.encode(x=x, y=y)]
    return alt.layer(*layers, data=cells, width=width, height=height)


@unchecked
def marks(
    table: pd.DataFrame,
    x: str,
    y: str,
    mark: str,
    meanings: Sequence[str],
    *,
    details: Sequence[str] = (),
    step: int = CELL * 2,
    title: str = "",
    subtitle: str = "",
    width: float | None = None,
    height: float | None = None,
) -> alt.LayerChart:
    """Draw a table of marks, which differ in shape and colour.

    Parameters
    ----------
    table : DataFrame
        At most one row per cell; where there is none, the cell stays empty.
    x, y : str
        Columns that name the cell's place.
    mark : str
        The column with the meaning of each mark: one of `meanings`.
    meanings : sequence of two or three str
        The meanings, from the best to the worst: a blue disc, a green square if there are three, an orange cross.
    details : sequence of str
        Columns that the tooltip shows, too.
    step : int
        Width of a column, in pixels.
    title, subtitle, width, height : optional
        Texts above the chart, and its size.

    Examples
    --------
    >>> import schedlab as sl
    >>> table = sl.conformance.others().query("simulator == 'CQSim'")
    >>> table["starts"] = table["follows"].map({True: "right", False: "wrong"})
    >>> chart = sl.charts.marks(table, "simulator", "title", "starts", ("right", "wrong"), details=["convention"])
    """
    check_columns(table, [x, y, mark, *details])
    check_names([x, y, mark, *details])
    if len(meanings) not in (2, 3):
        raise ValueError(f"got {len(meanings)} meanings, expected 2 or 3")
    unknown = set(table[mark]) - set(meanings)
    if unknown:
        raise ValueError(f"a mark is {spelt(unknown.pop())}, expected one of {', '.join(map(repr, meanings))}")
    doubled = table.duplicated([x, y])
    if doubled.any():
        row = table[doubled].iloc[0]
        raise ValueError(f"the table has two marks for {row[x]} and {row[y]}, expected one")
    rows = table[list(dict.fromkeys([x, y, mark, *details]))].copy()
    rows[x] = rows[x].map(str)
    along, down = list(dict.fromkeys(rows[x])), list(dict.fromkeys(rows[y]))
    lines = {name: wrap(name, HEAD) for name in along}
    most = max(map(len, lines.values()), default=1)
    lines = {name: [*["\u00a0"] * (most - len(several)), *several] for name, several in lines.items()}
    heads = alt.Axis(orient="top", labelAngle=0, labelExpr=f"({json.dumps(lines)})[datum.label]")
    heads.labelPadding = 13 * (most - 1) + 4  # the last line is above the cells
    heads.ticks = heads.domain = False
    place = {
        "x": alt.X(f"{x}:N", title=None, sort=along, axis=heads),
        "y": alt.Y(f"{y}:N", title=None, sort=down, axis=alt.Axis(labelLimit=400, ticks=False, domain=False)),
        "tooltip": [alt.Tooltip(f"{name}:N") for name in dict.fromkeys([y, x, mark, *details])],
    }
    ends = [0, 2] if len(meanings) == 2 else [0, 1, 2]
    columns = min(len(meanings), beside(list(meanings), step * len(along)))
    legend = alt.Legend(orient="top", title=None, columns=columns, labelLimit=2 * WIDTH, symbolSize=90)
    shapes = alt.Scale(domain=list(meanings), range=[SHAPES[i] for i in ends])
    colours = alt.Scale(domain=list(meanings), range=[COLOURS[i] for i in ends])
    cells = alt.Chart().mark_rect(color=INK, fillOpacity=0, stroke=INK, strokeOpacity=0.15)
    drawn = alt.Chart().mark_point(filled=True, opacity=1, size=70)
    drawn = drawn.encode(
        shape=alt.Shape(f"{mark}:N", scale=shapes, legend=legend),
        color=alt.Color(f"{mark}:N", scale=colours, legend=legend),
    )
    layers = [cells.encode(**place), drawn.encode(**place)]
    chart = alt.layer(*layers, data=rows, width=step * len(along), height=LINE * len(down))
    return headed(chart, title, max(step * len(along), 2 * WIDTH), subtitle, size=(width, height))


def compositions(
    table: pd.DataFrame, *, title: str | None = None, width: float | None = None, height: float | None = None
) -> alt.LayerChart:
    """Draw which machines, conventions and orders each scheme supports; the tooltip of a cross says why not.

    Parameters
    ----------
    table : DataFrame
        Of `schedlab.compositions`.
    title : str, optional
        By default, it says how many combinations are supported.
    width, height : float, optional
        Of the plot, in pixels.

    Examples
    --------
    >>> import schedlab as sl
    >>> chart = sl.charts.compositions(sl.compositions(["easy", "conservative", "dpsan", "greedy"]))
    """
    check_kind(table, pd.DataFrame)
    rows = table.rename_axis("scheme").reset_index().melt("scheme", var_name="option", value_name="answer")
    supported = rows["answer"] == YES
    meanings = "supported", "refused: point at it for the reason"
    rows["mark"] = np.where(supported, *meanings)
    if title is None:
        title = f"{supported.sum()} of {len(rows)} combinations of a scheme and an option are supported"
    size = {"width": width, "height": height}
    return marks(rows, "option", "scheme", "mark", meanings, details=["answer"], step=66, title=title, **size)
