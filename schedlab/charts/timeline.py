"""Charts over time: which jobs held which processors, and how machine and queue filled up."""

from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd

from ..schedule import Schedule, metrics
from ._altair import alt
from .theme import (
    BLUE,
    DURATIONS,
    GROUPS,
    IN_WORDS,
    INK,
    MOST_ROWS,
    ORANGE,
    PER_JOB,
    STATES,
    VERMILION,
    WIDE,
    about,
    axis,
    check_columns,
    check_kind,
    check_limit,
    headed,
    luminance,
    unchecked,
)

OTHERS = "other jobs"
PLANNED = "pale, dashed: from the end of a job to its estimated end"
BEYOND = 1.4  # times the length of a schedule: the longest axis that makes room for estimates
TASKS = {"sweep": GROUPS["sweeps"], "tasks of a sweep": "#F0E442"}
PANEL = 170  # height of one Gantt chart among others, in pixels
LETTERS = 11  # size of the text in rectangles, in pixels
LETTER = 0.62  # width of a letter, as a share of its size
MANY = 200_000  # jobs whose rectangles are in memory at a time
CELLS = (100, 50)  # cells in a Gantt chart of too many jobs: along time, along processors
BINS = 600  # points of a profile: about one per pixel
# Colours of names, after Okabe and Ito: jobs, users, nodes.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#882255", "#F0E442")
MOST_COLOURS = 7  # with the others, one line of the legend
OTHER = "other"
GREY = "#9E9E9E"  # the others, and jobs without a number
# Columns whose numbers are only names.
IDENTIFIERS = {"job_number", "user_id", "group_id", "executable", "queue", "partition", "status"}
DATES = ((120, "%b %Y"), (10, "%d %b"), (1.5, "%d %b %H:%M"), (0, "%H:%M"))  # least days, format
CLASS_TITLE = "class: short or long (1 h), narrow or wide (32 processors)"


class Clock:
    """Converts seconds of a log for an axis: local dates of the machine; without dates, hours (seconds if short).

    Parameters
    ----------
    trace : Trace
    begin, end : float, seconds
        The range of the axis. All hours have the same length: the offset from UTC is that of the beginning.
    """

    def __init__(self, trace, begin, end):
        self._span = np.array([begin, end])
        try:
            first, last = trace.at(begin), trace.at(end)
        except (NotImplementedError, ValueError):  # from pandas and datetime, for years after 9999
            raise ValueError(f"no calendar has a window from {begin:g} to {end:g} s of {trace.name}") from None
        self.dated = isinstance(first, pd.Timestamp)
        if self.dated:
            self._zero = trace.header.unix_start_time + first.utcoffset().total_seconds()
            days = " to ".join(dict.fromkeys(f"{date:%Y-%m-%d}" for date in (first, last)))
            self.title = f"local time, {days} (UTC{first.isoformat()[-6:]})"
        else:
            self._unit, words = (3600, "hours") if end - begin > 3600 else (1, "seconds")
            self.title = f"time ({words} on the clock of the log)"

    def values(self, seconds):
        """Return the values in the chart: milliseconds of the local clock, or hours or seconds."""
        return (self._zero + seconds) * 1000 if self.dated else seconds / self._unit

    def words(self, seconds):
        """Return the text of a tooltip."""
        if not self.dated:
            return np.round(seconds / self._unit, 3)
        dates = np.asarray(self._zero + seconds).astype("int64").astype("datetime64[s]")
        return np.char.replace(np.datetime_as_string(dates), "T", " ")

    def x(self, field, *, labels=True, within=None):
        """Encode a field along the axis, which opens on a part of it if one is given (seconds)."""
        span = self._span if within is None else np.array(within)
        axis = {"labels": labels, "ticks": labels, "tickCount": 8, "labelOverlap": True, "labelFlush": False}
        scale = {"domain": self.values(span).tolist(), "nice": False}
        if self.dated:
            scale["type"] = "utc"  # already local: the reader's own time zone must not be added
            days = np.ptp(span) / 86_400
            axis["format"] = next(words for least, words in DATES if days >= least)
        title = self.title if labels else None
        return alt.X(f"{field}:{'T' if self.dated else 'Q'}", title=title, scale=scale, axis=axis)

    def placed(self, field):
        """Place a field along an axis that another layer has, and may move."""
        return alt.X(f"{field}:T", scale={"type": "utc"}) if self.dated else alt.X(f"{field}:Q")


@unchecked
def gantt(
    schedule,
    window=None,
    color: str = "class",
    limit: int | None = None,
    *,
    label: str | None = None,
    estimates: bool = False,
    processors: tuple[int, int] | None = None,
    opened: tuple | None = None,
    title: str | None = None,
    subtitle: str | None = None,
    width: float | None = None,
    height: float | None = None,
) -> alt.Chart | alt.LayerChart:
    """Draw which processors each job held, and when: one rectangle per interval of processors.

    If there are so many jobs that most of their work would be missing, the chart shows cells of time and processors
    instead. A cell has the colour that holds most of it, and is stronger the more of it is held.

    Processors are those of `Schedule.processors`: on a tree the nodes, otherwise the lowest-numbered ones that are free
    when the job starts. If a scheme splits sweeps into tasks, tasks that start together are one rectangle with a dark
    border. If no job runs in the window, the chart is empty and says so.

    Parameters
    ----------
    schedule : Schedule
        The schedule to draw.
    window : (begin, end), optional
        Dates at the machine, or seconds on the clock of the log. Default: the whole schedule.
    color : str
        "class" (Kurian's: short or long, narrow or wide); "sweeps" (sweeps, their tasks, other jobs; only if sweeps
        were split into tasks); "wait"; "job_number"; or a column of `Schedule.jobs`.
    limit : int, optional
        Maximum number of rectangles, up to 5,000. Beyond that, the jobs with the fewest processor-seconds in the window
        are left out, and the subtitle says how many. Default: 5,000, or cells if that would leave out more than half.
    label : str, optional
        "job_number" or a column of `Schedule.jobs`, written into each rectangle that is large enough. Not available if
        colours stand for numbers, such as "wait"; cells have no labels.
    estimates : bool
        Whether to draw the estimate of each job that ended earlier, as a pale part with a dashed border.
    processors : (first, last), optional
        The processors to draw. Default: all.
    opened : (window, processors), optional
        A part of the window and of the processors with which the chart opens. Dragging moves it, the wheel zooms, and
        a double click goes back. Default: a fixed picture of all.
    title, subtitle : str, optional
        By default, the title is the scheme, and the subtitle gives the trace, its load and its jobs.
    width, height : float, optional
        Of the plot, in pixels.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=300, machine=128, seed=1).scale_load(0.9)
    >>> schedule = sl.simulate(trace, "easy")
    >>> chart = sl.charts.gantt(schedule, window=(36 * 3600, 60 * 3600), label="job_number")
    """
    check_kind(schedule, Schedule)
    if limit is not None:
        check_limit(limit)
    drawn = _Gantt(
        schedule,
        _window(schedule, window, estimates),
        processors,
        limit or MOST_ROWS,
        opened,
        cells=limit is None and opened is None,
    )
    if drawn.empty:
        chart = drawn.nothing(WIDE // 2)
    else:
        chart = drawn.chart(
            *_gantt_colour(drawn.jobs, color, drawn.area, drawn.tasks, drawn.apart),
            label,
            WIDE // 2,
            estimates=estimates,
        )
    title = str(schedule.scheme) if title is None else title
    subtitle = about(schedule) if subtitle is None else subtitle
    chart, told = _movable(chart, opened)
    return headed(
        chart, title, WIDE, subtitle, drawn.left_out, PLANNED if drawn.planned else "", told, size=(width, height)
    )


@unchecked
def gantts(
    schedules: Mapping[str, Schedule],
    window=None,
    color: str = "class",
    *,
    label: str | None = None,
    estimates: bool = False,
    processors: tuple[int, int] | None = None,
    opened: tuple | None = None,
    title: str = "",
    subtitle: str = "",
    width: float | None = None,
    height: float | None = None,
) -> alt.VConcatChart:
    """Draw Gantt charts below one another, with a common time axis and common colours.

    Parameters
    ----------
    schedules : mapping of str to Schedule
        Schedules of one log, by the titles of their charts.
    window : (begin, end), optional
        Dates at the machine, or seconds on the clock of the log. Default: from the first submission to the last end in
        any of the schedules.
    color, label, estimates, processors, opened : optional
        As in `gantt`. The charts move together.
    title, subtitle : str
        Shown above all charts.
    width, height : float, optional
        Of all plots together, in pixels.

    Examples
    --------
    >>> import schedlab as sl
    >>> jobs = [(0, 40, 40, 5), (0, 60, 60, 2), (10, 30, 30, 6), (10, 20, 20, 1), (20, 40, 40, 2), (20, 10, 10, 1)]
    >>> trace = sl.testing.trace_of(jobs, machine=8)  # submit time, run time, estimate, processors
    >>> schedules = {"FCFS": sl.simulate(trace, "fcfs"), "EASY": sl.simulate(trace, "easy")}
    >>> title = "EASY lets jobs 4 and 6 start ahead of job 3"
    >>> chart = sl.charts.gantts(schedules, color="job_number", label="job_number", title=title)
    """
    for schedule in schedules.values():
        check_kind(schedule, Schedule)
    windows = [_window(schedule, window, estimates) for schedule in schedules.values()]
    whole = min(begin for begin, _ in windows), max(end for _, end in windows)
    drawn = [_Gantt(one, whole, processors, MOST_ROWS // len(schedules), opened) for one in schedules.values()]
    filled = [one for one in drawn if not one.empty]
    plots = {one: one.nothing(PANEL, last=one is drawn[-1]) for one in drawn if one.empty}
    if filled:
        pooled = (np.concatenate([getattr(one, name) for one in filled]) for name in ("area", "tasks"))
        apart = any(one.apart for one in drawn)
        shown, *colours = _gantt_colour(pd.concat([one.jobs for one in filled]), color, *pooled, apart)
        ends = np.cumsum([one.area.size for one in filled])
        for one, part in zip(filled, np.split(shown, ends[:-1]), strict=True):
            plots[one] = one.chart(
                part, *colours, label, PANEL, drawn.index(one), last=one is drawn[-1], estimates=estimates
            )
    named = zip(schedules, drawn, strict=True)
    panels = [plots[one].properties(title={"text": name, "fontSize": 13}) for name, one in named]
    left_out = dict.fromkeys(one.left_out for one in filled if one.left_out)
    planned = PLANNED if any(one.planned for one in filled) else ""
    chart, told = _movable(alt.vconcat(*panels, spacing=12), opened)
    if subtitle and left_out:  # in one line, where there is room
        subtitle, left_out = "; ".join([subtitle, *left_out]), ()
    return headed(chart, title, WIDE, subtitle, *left_out, planned, told, size=(width, height))


def _movable(chart, opened):
    """Let the reader move and zoom charts that open on a part of what they have, and return the words that say so."""
    if opened is None:
        return chart, ""
    views = [name for part in getattr(chart, "vconcat", [chart]) if (name := _name_of(part)) is not alt.Undefined]
    if not views:  # nothing is drawn
        return chart, ""
    moved = alt.TopLevelSelectionParameter(name="moved", select="interval", bind="scales", views=views)
    return chart.properties(params=[moved]), "drag to move, turn the wheel to zoom, double-click to go back"


def _name_of(chart):
    names = map(_name_of, chart.layer) if isinstance(chart, alt.LayerChart) else [chart.name]
    return next((name for name in names if name is not alt.Undefined), alt.Undefined)


class _Gantt:
    """The parts of a schedule in a Gantt chart's window: pieces, their jobs, and the intervals of their processors."""

    planned = False  # whether an estimate is drawn

    def __init__(self, schedule, window, processors, limit, opened=None, cells=False):
        begin, end = self.window = window
        self.schedule, self.clock = schedule, Clock(schedule.trace, begin, end)
        self.moves = opened is not None
        self.apart = schedule.outcome.in_pieces
        start, until, procs, tasks = _pieces(schedule)
        area = np.clip(np.minimum(until, end) - np.maximum(start, begin), 0, None) * procs
        offset, first, last = schedule.processors()
        self.size = schedule.machine.procs
        # A log may hold more processors than the machine has.
        self.low, self.high = _processors(processors, max(self.size, int(last.max()) + 1))
        self.seen, self.rows = self.window, (self.low, self.high)
        if opened is not None:
            self.seen, self.rows = _window(schedule, opened[0]), _processors(opened[1], self.high)
        intervals = np.diff(offset)
        if processors is not None:
            inside = (first < self.high) & (last >= self.low)
            area = area * (np.bincount(np.repeat(np.arange(area.size), intervals)[inside], minlength=area.size) > 0)
        seen = np.flatnonzero(area)
        self.empty, self.left_out = not seen.size, ""
        if self.empty:
            return
        largest = seen[np.argsort(-area[seen], kind="stable")]
        drawn = np.sort(largest[np.cumsum(intervals[largest]) <= limit])
        self.in_cells = cells and area[drawn].sum() < area.sum() / 2
        if self.in_cells:
            drawn = seen
        jobs = _jobs_of_pieces(schedule, drawn) if self.apart else schedule.jobs
        self.jobs = jobs if self.apart or drawn.size == len(jobs) else jobs.iloc[drawn]
        self.start, self.until = np.maximum(start[drawn], begin), np.minimum(until[drawn], end)
        self.procs, self.area = procs[drawn], area[drawn]
        self.tasks = tasks[drawn] if self.apart else np.full(drawn.size, -1)
        self.drawn, self.intervals = drawn, (offset, first, last)
        left, missing = seen.size - drawn.size, 1 - self.area.sum() / area.sum()
        what = "pieces" if self.apart else "jobs"
        if left:
            self.left_out = (
                f"{left:,} of {seen.size:,} {what}, the smallest ({100 * missing:.1f} % of the processor-hours), "
                "left out"
            )
        if self.in_cells:
            wide, high = (end - begin) / CELLS[0], (self.high - self.low) / CELLS[1]
            self.left_out = (
                f"all {seen.size:,} {what}; a cell covers {_length(wide)} x {high:,.3g} processors; colour: who uses "
                "most of it; opacity: how much is used"
            )

    def rectangles(self, begin=0, end=None):
        """Return the piece and the processors of each rectangle, from `begin` up to `end` among those drawn."""
        offset, first, last = self.intervals
        drawn = self.drawn[begin:end]
        row = np.repeat(np.arange(drawn.size), np.diff(offset)[drawn])
        interval = offset[drawn[row]] + np.arange(row.size) - np.searchsorted(row, row)
        bottom, top = np.maximum(first[interval], self.low), np.minimum(last[interval] + 1, self.high)
        shown = bottom < top
        return begin + row[shown], bottom[shown], top[shown]

    def nothing(self, height, last=True):
        """Draw the empty axes of a window without jobs, and say when there are jobs."""
        begin, end = (str(self.clock.words(at)) for at in self.window)
        first, final = (str(self.clock.words(at)) for at in (self.schedule.start.min(), self.schedule.end.max()))
        lines = [
            f"no job runs from {begin} to {end} on processors {self.low} to {self.high - 1}",
            f"the first of the schedule starts at {first}, the last ends at {final}",
        ]
        middle = {"begin": self.clock.values(sum(self.seen) / 2), "low": sum(self.rows) / 2}
        words = alt.Chart({"values": [middle]}).mark_text(text=lines, fontSize=13, lineHeight=18, color=INK)
        return words.encode(x=self.clock.x("begin", labels=last, within=self.seen), y=self._upward("low")).properties(
            width=WIDE, height=height
        )

    def _upward(self, field):
        """Encode a field along the axis of the processors."""
        scale, span = alt.Scale(domain=list(self.rows), nice=False), self.rows[1] - self.rows[0]
        # Vega-Lite drops tickMinStep, and draws half processors where there are few.
        ticks = axis(tickCount=span) if span < 6 else axis()
        return alt.Y(f"{field}:Q", title="processor", scale=scale, axis=ticks)

    def chart(self, shown, encoded, fills, label, height, place=0, last=True, estimates=False):
        """Draw the rectangles with the colours of `_gantt_colour`; only the last of several charts shows the times."""
        if self.in_cells:
            return self._cells(shown, encoded, height)
        self.row, self.bottom, self.top = self.rectangles()
        jobs, clock = self.jobs, self.clock
        table = pd.DataFrame(
            {
                "begin": clock.values(self.start),
                "end": clock.values(self.until),
                "color": shown,
                "job": jobs.index.to_numpy(),
                "procs": self.procs,
                "submit": clock.words(jobs["submit_time"].to_numpy()),
                "wait": np.round(jobs["wait_time"].to_numpy() / 3600, 3),
                "run": np.round(jobs["run_time"].to_numpy() / 3600, 3),
                "estimate": np.round(jobs.get("estimate", jobs["requested_time"]).to_numpy() / 3600, 3),
                "user": jobs["user_id"].to_numpy(),
            }
        )
        table = table.iloc[self.row].assign(low=self.bottom, high=self.top)
        # A border would hide a rectangle narrower than three pixels.
        pixel = np.ptp(clock.values(np.array(self.seen))) / WIDE, (self.rows[1] - self.rows[0]) / height
        wide = f"datum.end - datum.begin > {3 * pixel[0]} && datum.high - datum.low > {3 * pixel[1]}"
        rules, tips = [{"test": wide, "value": "white"}], []
        if self.apart:
            rules.insert(0, {"test": "datum.tasks > 0", "value": INK})
            tips = [alt.Tooltip("site:Q", title="submitted at site"), alt.Tooltip("tasks:Q", title="tasks at once")]
            table["site"] = jobs["home_site"].to_numpy()[self.row]
            table["tasks"] = self.tasks[self.row]
        chart = (
            alt.Chart(table)
            .mark_rect(strokeWidth=0.3, clip=self.moves)
            .encode(
                x=clock.x("begin", labels=last, within=self.seen),
                x2=alt.X2("end"),
                y=self._upward("low"),
                y2=alt.Y2("high"),
                color=encoded,
                stroke=alt.StrokeValue("transparent", condition=rules),
                tooltip=[
                    alt.Tooltip("job:Q"),
                    alt.Tooltip("user:Q"),
                    alt.Tooltip("procs:Q", title="processors"),
                    alt.Tooltip("submit", type="nominal" if clock.dated else "quantitative", title="submitted"),
                    alt.Tooltip("wait:Q", title="wait (hours)"),
                    alt.Tooltip("run:Q", title="run time (hours)"),
                    alt.Tooltip("estimate:Q", title="estimate (hours)"),
                    *tips,
                ],
            )
            .properties(width=WIDE, height=height)
        )
        if self.moves:
            chart.name = f"held{place}"
        chart = _with_grey(chart, table)
        if estimates:
            chart = self._with_estimates(chart, table, encoded, last)
        if self.rows[1] > self.size:
            there = alt.Chart({"values": [{"size": self.size}]})
            there = there.mark_rule(color=INK, strokeDash=[6, 3]).encode(y=alt.Y("size:Q"))
            chart = alt.layer(chart, there)
        if label is None:
            return chart
        text = alt.Chart(self._words(table, label, fills, *pixel)).mark_text(fontSize=LETTERS, clip=self.moves)
        text = text.encode(
            x=clock.placed("middle"),
            y=alt.Y("center:Q"),
            text=alt.Text("words:N"),
            color=alt.Color("ink:N", scale=None),
        )
        return alt.layer(chart, text, width=WIDE, height=height)

    def _with_estimates(self, chart, table, encoded, last):
        """Add a pale part with a dashed border, from the end of each job to its estimated end."""
        if self.apart:
            raise ValueError("estimates=True needs whole jobs, but sweeps were split into tasks")
        begun, estimate = (
            self.jobs[name].to_numpy()
            for name in ("start_time", "estimate" if "estimate" in self.jobs else "requested_time")
        )
        until = np.minimum(begun + estimate, self.window[1])
        rest = table.assign(rest=self.clock.values(until)[self.row], by=self.clock.words(begun + estimate)[self.row])[
            (until > self.until)[self.row]
        ]
        self.planned = len(rest) > 0
        if not self.planned:
            return chart
        rest = alt.Chart(rest).encode(
            x=self.clock.placed("end"), x2=alt.X2("rest"), y=alt.Y("low:Q"), y2=alt.Y2("high")
        )
        by = [alt.Tooltip("job:Q"), alt.Tooltip("by:N", title="end by its estimate")]
        pale = rest.mark_rect(fillOpacity=0.25, clip=self.moves).encode(color=encoded, tooltip=by)
        border = rest.mark_rect(filled=False, stroke=INK, strokeWidth=1, strokeDash=[3, 2], clip=self.moves)
        return alt.layer(pale, chart, border)

    def _cells(self, shown, encoded, height):
        """Draw how much of each cell of time and processors is held, and by what."""
        (begin, end), (columns, rows) = self.window, CELLS
        numbers = shown.dtype.kind in "iuf"
        # One layer each for: the sum of the numbers, what is held with a number, all that is held; or what each name
        # holds.
        codes, names = (np.full(len(shown), 2), ()) if numbers else pd.factorize(shown)
        layers = np.zeros((3 if numbers else len(names), (columns + 2) * (rows + 2)))
        finite = np.isfinite(shown) if numbers else None
        for first in range(0, self.drawn.size, MANY):
            row, bottom, top = self.rectangles(first, first + MANY)
            across = columns * (np.stack([self.start, self.until])[:, row] - begin) / (end - begin)
            up = rows * (np.stack([bottom, top]) - self.low) / (self.high - self.low)
            _add_corners(layers, codes[row], across, up)
            if numbers:
                _add_corners(layers, np.zeros(len(row), int), across, up, np.where(finite, shown, 0.0)[row])
                _add_corners(layers, np.ones(len(row), int), across, up, finite[row].astype(float))
        filled = layers.reshape(-1, columns + 2, rows + 2).cumsum(axis=1).cumsum(axis=2)[:, :columns, :rows]
        if numbers:
            total, with_one, held = filled
            # The mean over what is held; nan for cells in which no job has a number.
            colour = np.round(np.divide(total, with_one, where=with_one > 1e-9, out=np.full(held.shape, np.nan)), 3)
        else:
            held = filled.sum(axis=0)
            colour = np.asarray(names)[filled.argmax(axis=0)]
        share = np.minimum(held.ravel(), 1)  # a log may hold more processors than the machine has
        column, row = np.divmod(np.arange(columns * rows), rows)
        edges, levels = np.linspace(begin, end, columns + 1), np.linspace(self.low, self.high, rows + 1)
        table = pd.DataFrame(
            {
                "begin": self.clock.values(edges)[column],
                "end": self.clock.values(edges)[column + 1],
                "low": levels[row],
                "high": levels[row + 1],
                "color": colour.ravel(),
                "held": np.round(share, 3),
            }
        )[share > 0.0005]
        chart = (
            alt.Chart(table)
            .mark_rect()
            .encode(
                x=self.clock.x("begin", within=self.seen),
                x2=alt.X2("end"),
                y=self._upward("low"),
                y2=alt.Y2("high"),
                color=encoded,
                opacity=alt.Opacity("held:Q", scale=alt.Scale(domain=[0, 1], range=[0.05, 1]), legend=None),
                tooltip=[alt.Tooltip("held:Q", title="held", format=".1%"), "color"],
            )
            .properties(width=WIDE, height=height)
        )
        return _with_grey(chart, table)

    def _words(self, table, label, fills, wide, high):
        """Return the labels: one for each rectangle that is large enough."""
        if fills is None:
            raise ValueError(f"label={label!r} needs colours of classes or names; choose another color")
        jobs = self.jobs.reset_index()
        check_columns(jobs, [label])
        words = jobs[label].astype(str).to_numpy()[self.row]
        width, height = (table["end"] - table["begin"]).to_numpy() / wide, (self.top - self.bottom) / high
        found = pd.DataFrame(
            {
                "words": words,
                "middle": (table["begin"] + table["end"]).to_numpy() / 2,
                "center": (self.bottom + self.top) / 2,
                "ink": [ink_on(fills[value]) for value in table["color"]],
            }
        )
        return found[fits(np.char.str_len(words.astype(str)), width, height)]


def _with_grey(chart, table):
    """Add the marks without a number, which Vega-Lite leaves out."""
    if not table["color"].isna().any():
        return chart
    return alt.layer(chart, chart.transform_filter("!isValid(datum.color)").encode(color=alt.ColorValue(GREY)))


def _add_corners(layers, layer, across, up, weights=1.0):
    """Add rectangles to layers of cells, so that a cumulative sum along both axes gives the covered share of each cell.

    A side within cell i, at i + f, adds 1 - f to cell i and f to the next.

    Parameters
    ----------
    layers : float64 array, shape (n_layers, cells)
        Modified in place; has the size of `CELLS` plus two along each axis.
    layer : int array, shape (n_rectangles,)
        The layer of each rectangle.
    across, up : float64 array, shape (2, n_rectangles)
        Their sides, in cells.
    weights : float or array, shape (n_rectangles,)
        What a rectangle adds to a cell that it covers.
    """
    for (i, x), (j, y) in product(enumerate(across), enumerate(up)):
        left, low = np.floor(x).astype("int64"), np.floor(y).astype("int64")
        right, high = x - left, y - low
        place = layer * layers.shape[1] + left * (CELLS[1] + 2) + low
        signed = weights if i == j else -weights
        for step, part in (
            (0, (1 - right) * (1 - high)),
            (1, (1 - right) * high),
            (CELLS[1] + 2, right * (1 - high)),
            (CELLS[1] + 3, right * high),
        ):
            layers += np.bincount(place + step, signed * part, layers.size).reshape(layers.shape)


def fits(letters, width, height, size: int = LETTERS):
    """Tell whether this many letters of a size fit in a rectangle of the given pixels; also for arrays."""
    return (width >= LETTER * size * letters + 2) & (height >= size + 1)


def ink_on(colour: str) -> str:
    """Return the colour of text that is easier to read on a colour, "#rrggbb": black or white."""
    light = luminance(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return "black" if light > 0.179 else "white"  # there, both have a contrast of 4.6


def _processors(processors, size):
    """Return the first processor that is drawn, and the one after the last."""
    if processors is None:
        return 0, size
    first, last = processors
    if not 0 <= first <= last < size:
        raise ValueError(f"processors are {first} to {last}, expected two numbers from 0 to {size - 1}, in order")
    return int(first), int(last) + 1


def _pieces(schedule):
    """Return what held processors: start, end, processors, and number of tasks of a sweep (0 for a whole job)."""
    pieces = schedule.outcome.pieces
    return schedule.seconds(pieces.start), schedule.seconds(pieces.end), pieces.procs, pieces.tasks


def _jobs_of_pieces(schedule, drawn):
    """Return the job of each piece, which may be from another site."""
    pieces, frames = schedule.outcome.pieces, []
    submit, start = schedule.seconds(pieces.submit), schedule.seconds(pieces.start)
    for site, trace in enumerate(schedule.traces):
        own = drawn[pieces.home[drawn] == site]
        if not own.size:
            continue
        table = trace.table.iloc[pieces.job[own]]
        frames.append(
            table.assign(
                place=own,
                home_site=site,
                procs=table["requested_procs"],
                breakdown=table.get("breakdown", 0),
                submit_time=submit[own],
                wait_time=start[own] - submit[own],
            )
        )
    return pd.concat(frames).sort_values("place")


def _window(schedule, window, estimates=False):
    if window is None:
        # Tasks from other sites may end after all jobs of this site.
        last = schedule.seconds(schedule.outcome.pieces.end.max(initial=0))
        begin, end = float(schedule.trace.table["submit_time"].iloc[0]), float(max(schedule.end.max(), last))
        if estimates:  # with room for those that reach beyond the last end, but not for any length
            end = max(end, min(float((schedule.start + schedule.estimate).max()), begin + BEYOND * (end - begin)))
        return begin, end
    begin, end = (schedule.trace.seconds(instant) for instant in window)
    if not -np.inf < begin < end < np.inf:
        raise ValueError(f"the window must begin before it ends, got {window[0]} to {window[1]}")
    return begin, end


def _gantt_colour(jobs, color, area, tasks, apart):
    """Return the value of each piece, its encoding, and the colour of each value (None for numbers).

    `tasks` is -1 for whole jobs, and `apart` says whether sweeps were split into tasks.
    """
    if color == "class":
        shown, scale = metrics.classes(jobs, "kurian").map(metrics.CLASS_WORDS).astype(str).to_numpy(), IN_WORDS
        if apart:
            shown = np.select([tasks > 0, jobs.get("breakdown", pd.Series(0, jobs.index)) > 0], [*TASKS][::-1], shown)
            scale = IN_WORDS | TASKS
        return shown, _legend("color:N", CLASS_TITLE, _scale(scale)), scale
    if color == "sweeps":
        if not apart:
            raise ValueError(
                "color='sweeps' needs a schedule in which sweeps were split into tasks: choose another color"
            )
        shown = np.select([tasks > 0, jobs.get("breakdown", pd.Series(0, jobs.index)) > 0], [*TASKS][::-1], OTHERS)
        scale = {OTHERS: GROUPS[OTHERS]} | TASKS
        return shown, _legend("color:N", None, _scale(scale)), scale
    column = {"wait": "wait_time"}.get(color, color)
    jobs = jobs.reset_index()
    check_columns(jobs, [column])
    values = jobs[column].to_numpy()
    name = PER_JOB.get(column, column.replace("_", " "))
    if column not in IDENTIFIERS and values.dtype.kind in "iuf":
        scale = alt.Scale(scheme="viridis", type="sqrt", reverse=True)  # most waits are short, some days
        if column in DURATIONS:
            values, name = np.round(values / 3600, 3), f"{name} (hours)"
        if np.isfinite(values).all():
            return values, _legend("color:Q", name, scale), None
        values = np.where(np.isfinite(values), values, np.nan)
        return values, _legend("color:Q", f"{name}; grey: none", scale), None
    values = values.astype(str)
    most = pd.Series(area).groupby(values).sum().nlargest(MOST_COLOURS).index.tolist()
    shown = np.where(np.isin(values, most), values, OTHER)
    several = {OTHER: GREY} if OTHER in shown else {}
    states = {state: colour for state, colour in STATES.items() if state in most}
    others = sorted(set(most) - set(states), key=_natural)
    own = states | dict(zip(others, PALETTE, strict=False)) | several
    return shown, _legend("color:N", name, _scale(own)), own


def _natural(text):
    """Order numbers that are written as text by their value, in front of other text."""
    return (not text.isdecimal(), int(text) if text.isdecimal() else 0, text)


def _scale(colours):
    return alt.Scale(domain=list(colours), range=list(colours.values()))


def _legend(field, title, scale):
    legend = alt.Legend(orient="bottom", titleLimit=WIDE, columns=8, symbolType="square")
    return alt.Color(field, title=title, scale=scale, legend=legend)


@unchecked
def profile(
    schedule,
    window=None,
    *,
    against=None,
    title: str | None = None,
    subtitle: str | None = None,
    width: float | None = None,
    height: float | None = None,
) -> alt.VConcatChart:
    """Draw over time: processors in use, the length of the queue, and the work waiting in it.

    With more than 600 changes, the chart shows time-weighted means over 600 equal parts of the window; for the queue of
    a single schedule, also its maximum. The work of a queued job is its run time, as simulated, times its processors.

    Parameters
    ----------
    schedule : Schedule
        The schedule to draw.
    window : (begin, end), optional
        Dates at the machine, or seconds on the clock of the log. Default: the whole schedule.
    against : Schedule, optional
        Another schedule of the same log, drawn as a thin line.
    title, subtitle : str, optional
        By default, the title is the scheme, and the subtitle gives the trace, its load and its jobs.
    width, height : float, optional
        Of the three plots together, in pixels.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1).scale_load(0.9)
    >>> chart = sl.charts.profile(sl.simulate(trace, "easy"))
    """
    for one in (schedule, schedule if against is None else against):
        check_kind(one, Schedule)
    begin, end = _window(schedule, window)
    if against is not None:
        if (len(against), against.machine.procs) != (len(schedule), schedule.machine.procs):
            raise ValueError(
                f"expected schedules of one log on one machine, got {about(schedule)} and {about(against)}"
            )
        end = max(end, _window(against, window)[1])
    clock = Clock(schedule.trace, begin, end)

    def rows(of):
        states, binned = _states(of, begin, end)
        instants = states["time"].to_numpy()
        # Rows as dictionaries: Altair would clean and convert a table, 9 ms more.
        return states.assign(time=clock.values(instants), at=clock.words(instants)).to_dict("records"), binned

    table, binned = rows(schedule)
    others, means = ([], False) if against is None else rows(against)
    other = [] if against is None else [{"values": others}]
    thin = {"type": "line", "interpolate": "step-after", "color": INK, "opacity": 0.7, "strokeWidth": 0.8}

    def panel(field, words, height, colour, *more, labels=False, **tips):
        x = clock.x("time", labels=labels)
        y = alt.Y(f"{field}:Q", title=words, scale={"zero": True}, axis=axis(tickCount=4, minExtent=45))
        at = alt.Tooltip(f"at:{'N' if clock.dated else 'Q'}", title="from")
        tooltip = [at, *(alt.Tooltip(f"{name}:Q", title=title, format=",.4~g") for name, title in tips.items())]
        mark = {"type": "area", "interpolate": "step-after", "color": colour, "opacity": 0.75}
        area = alt.Chart(mark=mark, width=WIDE, height=height).encode(x=x, y=y, tooltip=tooltip)
        more = [*more, *(alt.Chart(data, mark=thin).encode(x=clock.x("time", labels=False), y=y) for data in other)]
        return alt.layer(area, *more) if more else area

    dashed = {"type": "rule", "color": INK, "strokeDash": [6, 3]}
    size = alt.Chart({"values": [{"size": schedule.machine.procs}]}, mark=dashed)
    size = size.encode(y=alt.Y("size:Q"))
    longest = alt.Chart(mark=thin).encode(x=clock.x("time", labels=False), y=alt.Y("longest:Q"))
    maxima = binned and against is None  # one thin line is enough
    queue = ["jobs queued:", "mean, maximum"] if maxima else "jobs queued"
    words = ["processors in use", f"of {schedule.machine.procs:,} (dashed)"]
    work = ["work queued", "(processor-hours)"]
    whole = alt.vconcat(
        panel("used", words, 130, BLUE, size, used="processors in use"),
        panel(
            "queued",
            queue,
            110,
            ORANGE,
            *[longest] * maxima,
            queued="jobs queued",
            longest="jobs queued, at most",
        ),
        panel("backlog", work, 110, VERMILION, labels=True, backlog=" ".join(work)),
        data={"values": table},
        spacing=14,
    )
    said = [f"means over {_length((end - begin) / BINS)}"] * (binned or means)
    said += [] if against is None else [f"area: {schedule.scheme}; line: {against.scheme}"]
    title = str(schedule.scheme) if title is None else title
    return headed(
        whole, title, WIDE, about(schedule) if subtitle is None else subtitle, "; ".join(said), size=(width, height)
    )


def _states(schedule, begin, end):
    """Return the states of machine and queue in a window, and whether they are means over bins."""
    start, until, procs, _ = _pieces(schedule)
    submit, work, outcome = schedule.submit, schedule.run * schedule.procs, schedule.outcome
    came, left = map(schedule.seconds, outcome.queued())
    begun, gone_work = outcome.begun()
    begun = schedule.seconds(begun)
    time = np.concatenate([submit, came, left, begun, start, until])
    time = np.unique(np.append(begin, time[(time > begin) & (time < end)]))
    # Cumulative sums over jobs, not `Schedule.timeline`, which sorts all instants of the whole log: 20 ms instead of
    # 80.
    came, left = (_by(time, instants, np.ones_like(instants))[0] for instants in (came, left))
    (came_work,), (gone_work,) = _by(time, submit, work), _by(time, begun, gone_work)
    backlog = np.maximum(came_work - gone_work, 0) / 3600  # the parts of a sweep are rounded
    (taken,), (freed,) = _by(time, start, procs), _by(time, until, procs)
    values = {"used": taken - freed, "queued": came - left, "backlog": backlog}
    binned = time.size > BINS
    edges = np.linspace(begin, end, BINS + 1) if binned else np.append(time, end)
    before = np.searchsorted(time, edges[:-1], side="right") - 1
    until = np.searchsorted(time, edges[1:], side="left")
    longest = np.maximum.reduceat(np.append(values["queued"], 0), np.column_stack([before, until]).ravel())[::2]
    states = {name: _means(np.append(time, end), value, edges) for name, value in values.items()}
    states["longest"] = longest
    # A last row draws the last step to its end.
    return pd.DataFrame({"time": edges, **{name: np.append(of, of[-1]) for name, of in states.items()}}), binned


def _by(instants, times, *amounts):
    """Sum up amounts, at each instant, over the jobs whose time has come."""
    order = np.argsort(times)
    place = np.searchsorted(times[order], instants, side="right")
    return [np.append(0, np.cumsum(amount[order]))[place] for amount in amounts]


def _means(time, value, edges):
    """Return the time-weighted means between edges of a step function with a step at all times but the last."""
    integral = np.append(0, np.cumsum(value * np.diff(time)))
    return np.diff(np.interp(edges, time, integral)) / np.diff(edges)


def _length(seconds):
    for unit, name in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.3g} seconds"
