"""Gantt charts: which jobs held which processors, and when."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pandas as pd

from ..schedule import Schedule
from ._altair import alt
from .axes import axis
from .cells import CELLS, cells_of
from .checks import MOST_ROWS, check_columns, check_kind, check_limit
from .clock import KNOWN, Clock, last_known, length, window_of
from .job_colours import GREY, colours_of, owners
from .palette import INK, ink_on
from .pooled import BANDS, ENDED, bands, demands_in_words, ended_by_windows, has_pools, windows_of
from .sizes import WIDE
from .theme import about, headed, unchecked

PLANNED = "pale, dashed: from the end of a job to its estimated end"
PANEL = 170  # height of one Gantt chart among others, in pixels
LETTERS = 11  # size of the text in rectangles, in pixels
LETTER = 0.62  # width of a letter, as a share of its size
PALE = 0.35  # opacity of a run that a closed window ended
ENDINGS = ("ended by a closed window", "went to its end")
MOVABLE = "drag to move, turn the wheel to zoom, double-click to go back"


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
    marks: Mapping[str, object] | None = None,
    always: int | None = None,
    title: str | None = None,
    subtitle: str | None = None,
    width: float | None = None,
    height: float | None = None,
) -> alt.Chart | alt.LayerChart:
    """Draw which processors each job held, and when: one rectangle per interval of processors.

    If there are so many jobs that most of their work would be missing, the chart shows cells of time and processors
    instead. A cell has the colour that holds most of it, and is stronger the more of it is held.

    Processors are those of `Schedule.processors`: on a tree the nodes, otherwise the lowest-numbered ones that are free
    when the job starts. On `schedlab.Pools` the pools lie above one another, and are grey while they are closed; a run
    that a closed window ended is pale with a border. If a scheme splits sweeps into tasks, tasks that start together
    are one rectangle with a dark border. If no job runs in the window, the chart is empty and says so.

    Parameters
    ----------
    schedule : Schedule
        The schedule to draw.
    window : (begin, end), optional
        Dates at the machine, or seconds on the clock of the log. Default: as in `profile`.
    color : str
        "class" (Kurian's: short or long, narrow or wide); "sweeps" (sweeps, their tasks, other jobs; only if sweeps
        were split into tasks); "wait"; "job_number"; "user", "state", "size", "weekday" or other classes of
        `schedlab.metrics.classes`; or a column of `Schedule.jobs`. Of names, the seven that hold most have a colour.
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
    marks : mapping of str to instants, optional
        Dates or seconds to mark with a dashed line, by the words above it.
    always : int, optional
        A job that is drawn even if smaller ones are left out.
    title, subtitle, width, height : optional
        By default, the title is the scheme, and the subtitle gives the trace, its load and its jobs.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=300, machine=128, seed=1).scale_load(0.9)
    >>> schedule = sl.simulate(trace, "easy")
    >>> chart = sl.charts.gantt(schedule, window=(36 * 3600, 60 * 3600), label="job_number")
    """
    if limit is not None:
        check_limit(limit)
    cells = CELLS if limit is None and opened is None else None
    settings = (window, color, label, estimates, processors, opened, limit or MOST_ROWS, WIDE // 2, cells, always)
    (chart,), left_out, planned = _drawn([schedule], *settings)
    if marks:
        chart = _marked(chart, schedule.trace, window_of(schedule, window, estimates), marks)
    title = str(schedule.scheme) if title is None else title
    subtitle = about(schedule) if subtitle is None else subtitle
    chart, moving = _movable(chart, opened)
    known = KNOWN if window is None and last_known(schedule) is not None else ""
    return headed(chart, title, WIDE, subtitle, *left_out, planned, moving, known, size=(width, height))


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
    """Draw Gantt charts below one another, with a common time axis and common colours, as `gantt` draws each.

    Parameters
    ----------
    schedules : mapping of str to Schedule
        Schedules of one log, by the titles of their charts.
    window : (begin, end), optional
        Dates at the machine, or seconds on the clock of the log. Default: from the first submission to the last end in
        any of the schedules.
    color, label, estimates, processors, opened : optional
        As in `gantt`. The charts move together.
    title, subtitle, width, height : optional
        Texts above all charts, and their size together.

    Examples
    --------
    >>> import schedlab as sl
    >>> jobs = [(0, 40, 40, 5), (0, 60, 60, 2), (10, 30, 30, 6), (10, 20, 20, 1), (20, 40, 40, 2), (20, 10, 10, 1)]
    >>> trace = sl.testing.trace_of(jobs, machine=8)  # submit time, run time, estimate, processors
    >>> schedules = {"FCFS": sl.simulate(trace, "fcfs"), "EASY": sl.simulate(trace, "easy")}
    >>> title = "EASY lets jobs 4 and 6 start ahead of job 3"
    >>> chart = sl.charts.gantts(schedules, color="job_number", label="job_number", title=title)
    """
    count = max(len(schedules), 1)
    cells = (CELLS[0], max(CELLS[1] // count, 1)) if opened is None else None
    settings = (window, color, label, estimates, processors, opened, MOST_ROWS // count, PANEL, cells)
    plots, left_out, planned = _drawn([*schedules.values()], *settings)
    named = zip(schedules, plots, strict=True)
    panels = [plot.properties(title={"text": str(name), "fontSize": 13}) for name, plot in named]
    chart, moving = _movable(alt.vconcat(*panels, spacing=12), opened)
    differ = len(set(left_out)) > 1
    named = zip(schedules, left_out, strict=True)
    left_out = dict.fromkeys(f"{name}: {message}" if differ else message for name, message in named if message)
    if subtitle and left_out:  # in one line, where there is room
        subtitle, left_out = "; ".join([subtitle, *left_out]), ()
    return headed(chart, title, WIDE, subtitle, *left_out, planned, moving, size=(width, height))


def _drawn(schedules, window, color, label, estimates, processors, opened, limit, height, cells, always=None):
    """Draw each schedule, in a common window and with common colours; return what a subtitle must say, too."""
    for schedule in schedules:
        check_kind(schedule, Schedule)
    windows = [window_of(schedule, window, estimates) for schedule in schedules if len(schedule)]
    if not windows:
        raise ValueError("no schedule has jobs, so there is nothing to draw")
    whole = min(begin for begin, _ in windows), max(end for _, end in windows)
    gantts = [_Gantt(schedule, whole, processors, limit, opened, cells, always) for schedule in schedules]
    filled = [gantt for gantt in gantts if not gantt.empty]
    plots = {gantt: gantt.nothing(height, last=gantt is gantts[-1]) for gantt in gantts if gantt.empty}
    if filled:
        area, tasks = (np.concatenate([getattr(gantt, name) for gantt in filled]) for name in ("area", "tasks"))
        jobs, apart = pd.concat([gantt.jobs for gantt in filled]), any(gantt.apart for gantt in gantts)
        values, *colours = colours_of(jobs, color, area, tasks, apart, filled[0].schedule.trace)
        ends = np.cumsum([gantt.area.size for gantt in filled])
        for gantt, part in zip(filled, np.split(values, ends[:-1]), strict=True):
            last = gantt is gantts[-1]
            plots[gantt] = gantt.chart(part, *colours, label, height, gantts.index(gantt), last, estimates)
    left_out = [gantt.left_out for gantt in gantts]
    notes = [PLANNED] if any(gantt.planned for gantt in filled) else []
    notes += [ENDED] if any(gantt.ended.any() and not gantt.in_cells for gantt in filled) else []
    notes += [BANDS] if any(gantt.windows for gantt in gantts) else []
    return [gantt.with_pools(plots[gantt], height) for gantt in gantts], left_out, "; ".join(notes)


def _marked(chart, trace, window, marks):
    """Mark instants with dashed lines, and words above them; those near the right end stand before their lines."""
    clock, instants = Clock(trace, *window), np.array([trace.seconds(instant) for instant in marks.values()])
    late = instants > np.mean(window)
    table = pd.DataFrame({"mark": [*marks], "instant": clock.values(instants), "late": late})
    base = alt.Chart(table).encode(x=clock.placed("instant"))
    labels = [
        base.transform_filter(f"datum.late == {str(side).lower()}")
        .mark_text(align="right" if side else "left", baseline="bottom", dy=-3, fontSize=12, color=INK)
        .encode(y=alt.YValue(0), text="mark:N")
        for side in dict.fromkeys(late.tolist())
    ]
    return alt.layer(chart, base.mark_rule(color=INK, strokeDash=[4, 3]), *labels)


def _movable(chart, opened):
    """Let the reader move and zoom charts that open on a part of what they have, and return the words that say so."""
    views = [name for part in getattr(chart, "vconcat", [chart]) if (name := _name_of(part)) is not alt.Undefined]
    if opened is None or not views:  # nothing is drawn
        return chart, ""
    moved = alt.TopLevelSelectionParameter(name="moved", select="interval", bind="scales", views=views)
    return chart.properties(params=[moved]), MOVABLE


def _name_of(chart):
    names = map(_name_of, chart.layer) if isinstance(chart, alt.LayerChart) else [chart.name]
    return next((name for name in names if name is not alt.Undefined), alt.Undefined)


class _Gantt:
    """The parts of a schedule in a Gantt chart's window: pieces, their jobs, and the intervals of their processors."""

    planned = False  # whether an estimate is drawn

    def __init__(self, schedule, window, processors, limit, opened, cells, always):
        begin, end = self.window = window
        self.schedule, self.clock = schedule, Clock(schedule.trace, begin, end)
        self.cells = cells  # along time and processors; None: never in cells
        self.moves = opened is not None
        self.apart = schedule.outcome.in_pieces
        pieces = schedule.outcome.pieces
        start, until = schedule.seconds(pieces.start), schedule.seconds(pieces.end)
        area = np.clip(np.minimum(until, end) - np.maximum(start, begin), 0, None) * pieces.procs
        offset, first, last = self.intervals = schedule.processors()
        self.size = schedule.machine.procs
        # A log may hold more processors than the machine has.
        self.low, self.high = _processors(processors, max(self.size, int(last.max(initial=-1)) + 1))
        self.seen, self.rows = self.window, (self.low, self.high)
        if opened is not None:
            self.seen, self.rows = window_of(schedule, opened[0]), _processors(opened[1], self.high)
        intervals = np.diff(offset)
        if processors is not None:
            inside = (first < self.high) & (last >= self.low)
            area = area * (np.bincount(np.repeat(np.arange(area.size), intervals)[inside], minlength=area.size) > 0)
        seen = np.flatnonzero(area)
        self.windows = windows_of(schedule, begin, end)
        self.empty, self.left_out = not seen.size, ""
        if self.empty:
            return
        its_own = pieces.job == (-1 if always is None else schedule.trace.table.index.get_loc(always))
        largest = seen[np.argsort(-np.where(its_own, np.inf, area)[seen], kind="stable")]
        drawn = np.sort(largest[np.cumsum(intervals[largest]) <= limit])
        self.in_cells = cells is not None and area[drawn].sum() < area.sum() / 2
        self.drawn = drawn = seen if self.in_cells else drawn
        jobs = _jobs_of_pieces(schedule, drawn) if self.apart else schedule.jobs
        repeated = pieces.job.size > len(schedule) and not self.apart
        if repeated:
            jobs = _jobs_of_runs(schedule)
        self.ran = (until - start)[drawn] if repeated else None
        self.ended = ended_by_windows(schedule)[drawn]
        self.jobs = jobs if self.apart or drawn.size == len(jobs) else jobs.iloc[drawn]
        self.start, self.until = np.maximum(start[drawn], begin), np.minimum(until[drawn], end)
        self.procs, self.area = pieces.procs[drawn], area[drawn]
        self.tasks = pieces.tasks[drawn] if self.apart else np.full(drawn.size, -1)
        left, missing = seen.size - drawn.size, 1 - self.area.sum() / area.sum()
        what = "pieces" if self.apart else "runs" if repeated else "jobs"
        if self.in_cells:
            wide, high = (end - begin) / cells[0], (self.high - self.low) / cells[1]
            self.left_out = (
                f"all {seen.size:,} {what}; a cell covers {length(wide)} x {high:,.3g} processors; colour: who uses "
                "most of it; opacity: how much is used"
            )
        elif left:
            self.left_out = (
                f"{left:,} of {seen.size:,} {what}, the smallest ({100 * missing:.1f} % of the processor-hours), "
                "left out"
            )

    def rectangles(self, begin=0, end=None):
        """Return the piece and the processors of each rectangle, from `begin` up to `end` among those drawn."""
        offset, first, last = self.intervals
        drawn = self.drawn[begin:end]
        row = np.repeat(np.arange(drawn.size), np.diff(offset)[drawn])
        interval = offset[drawn[row]] + np.arange(row.size) - np.searchsorted(row, row)
        bottom, top = np.maximum(first[interval], self.low), np.minimum(last[interval] + 1, self.high)
        inside = bottom < top
        return begin + row[inside], bottom[inside], top[inside]

    def nothing(self, height, last):
        """Draw the empty axes of a window without jobs, and say when there are jobs."""
        begin, end = (str(self.clock.words(at)) for at in self.window)
        lines = [f"no job runs from {begin} to {end} on processors {self.low} to {self.high - 1}"]
        if len(self.schedule):
            first, final = (str(self.clock.words(at)) for at in (self.schedule.start.min(), self.schedule.end.max()))
            lines.append(f"the first of the schedule starts at {first}, the last ends at {final}")
        middle = {"begin": self.clock.values(sum(self.seen) / 2), "low": sum(self.rows) / 2}
        text = alt.Chart({"values": [middle]}, width=WIDE, height=height)
        text = text.mark_text(text=lines, fontSize=13, lineHeight=18, color=INK)
        return text.encode(x=self.clock.x("begin", labels=last, within=self.seen), y=self._upward("low"))

    def _upward(self, field):
        """Encode a field along the axis of the processors."""
        scale, span = alt.Scale(domain=list(self.rows), nice=False), self.rows[1] - self.rows[0]
        # Vega-Lite drops tickMinStep, and draws half processors where there are few.
        ticks = axis(tickCount=span) if span < 6 else axis()
        return alt.Y(f"{field}:Q", title="processor", scale=scale, axis=ticks)

    def chart(self, values, encoded, fills, label, height, place, last, estimates):
        """Draw the rectangles with the colours of `colours_of`; only the last of several charts shows the times."""
        sides = {"x": self.clock.x("begin", labels=last, within=self.seen), "x2": alt.X2("end")}
        sides |= {"y": self._upward("low"), "y2": alt.Y2("high"), "color": encoded}
        if self.in_cells:
            table = cells_of(self, values)
            shade = alt.Opacity("held:Q", scale=alt.Scale(domain=[0, 1], range=[0.05, 1]), legend=None)
            cells = alt.Chart(table, width=WIDE, height=height).mark_rect()
            tips = [alt.Tooltip("held:Q", title="held", format=".1%"), "color"]
            return _with_grey(cells.encode(**sides, opacity=shade, tooltip=tips), table)
        self.row, self.bottom, self.top = self.rectangles()
        jobs, clock = self.jobs, self.clock
        table = pd.DataFrame(
            {
                "begin": clock.values(self.start),
                "end": clock.values(self.until),
                "color": values,
                "job": jobs.index.to_numpy(),
                "procs": self.procs,
                "submit": clock.words(jobs["submit_time"].to_numpy()),
                "wait": np.round(jobs["wait_time"].to_numpy() / 3600, 3),
                "run": np.round((jobs["run_time"].to_numpy() if self.ran is None else self.ran) / 3600, 3),
                "estimate": np.round(jobs.get("estimate", jobs["requested_time"]).to_numpy() / 3600, 3),
                **(whose := owners(jobs, self.schedule.trace)),
                **(needs := self._needs()),
            }
        )
        table = table.iloc[self.row].assign(low=self.bottom, high=self.top)
        # A border would hide a rectangle narrower than three pixels.
        pixel = np.ptp(clock.values(np.array(self.seen))) / WIDE, (self.rows[1] - self.rows[0]) / height
        wide = f"datum.end - datum.begin > {3 * pixel[0]} && datum.high - datum.low > {3 * pixel[1]}"
        rules = [{"test": wide, "value": "white"}]
        tips = [
            alt.Tooltip("job:Q"),
            *(alt.Tooltip(f"{word}:N") for word in {**whose, **needs}),
            alt.Tooltip("procs:Q", title="processors"),
            alt.Tooltip("submit", type="nominal" if clock.dated else "quantitative", title="submitted"),
            alt.Tooltip("wait:Q", title="wait (hours)"),
            alt.Tooltip("run:Q", title="run time (hours)"),
            alt.Tooltip("estimate:Q", title="estimate (hours)"),
        ]
        if self.apart:
            rules.insert(0, {"test": "datum.tasks > 0", "value": INK})
            tips += [alt.Tooltip("site:Q", title="submitted at site"), alt.Tooltip("tasks:Q", title="tasks at once")]
            table["site"] = jobs["home_site"].to_numpy()[self.row]
            table["tasks"] = self.tasks[self.row]
        chart = alt.Chart(table, width=WIDE, height=height).mark_rect(strokeWidth=0.3, clip=self.moves)
        if self.ended.any():
            table["ending"] = np.where(self.ended, *ENDINGS)[self.row]
            test = f"datum.ending == '{ENDINGS[0]}'"
            rules.insert(0, {"test": f"{test} && {wide}", "value": INK})
            pale = alt.condition(test, alt.value(PALE), alt.value(1))
            chart = chart.encode(fillOpacity=pale, strokeWidth=alt.condition(test, alt.value(1), alt.value(0.3)))
            tips.append(alt.Tooltip("ending:N", title="this run"))
        chart = chart.encode(**sides, stroke=alt.StrokeValue("transparent", condition=rules), tooltip=tips)
        if self.moves:
            chart.name = f"held{place}"
        chart = _with_grey(chart, table)
        if estimates:
            chart = self._with_estimates(chart, table, encoded)
        if self.rows[1] > self.size:
            there = alt.Chart({"values": [{"size": self.size}]})
            there = there.mark_rule(color=INK, strokeDash=[6, 3]).encode(y=alt.Y("size:Q"))
            chart = alt.layer(chart, there)
        if label is None:
            return chart
        text = alt.Chart(self._labels(table, label, fills, *pixel)).mark_text(fontSize=LETTERS, clip=self.moves)
        ink = alt.Color("ink:N", scale=None)
        text = text.encode(x=clock.placed("middle"), y=alt.Y("center:Q"), text=alt.Text("words:N"), color=ink)
        return alt.layer(chart, text, width=WIDE, height=height)

    def _needs(self):
        """Return the pool of each job, and its demand if that is not only of processors."""
        machine = self.schedule.machine
        if not has_pools(self.schedule):
            return {}
        needs = {"pool": self.jobs["pool"].to_numpy()} if len(machine.pools) > 1 else {}
        if len(machine.resources) > 1:
            needs["demand"] = demands_in_words(self.schedule, self.schedule.outcome.pieces.job[self.drawn])
        return needs

    def with_pools(self, chart, height):
        """Add what a chart shows of pools: closed windows behind the jobs, and borders and names of the pools."""
        if not has_pools(self.schedule):
            return chart
        machine = self.schedule.machine
        edges = np.cumsum([0, *machine.capacity[:, 0]]).tolist()
        spans = [(max(low, self.low), min(high, self.high)) for low, high in pairwise(edges)]
        sides = {"y": self._upward("low"), "y2": alt.Y2(field="high")}
        layers = [chart]
        rows = []
        for window in self.windows:
            low, high = spans[window.place]
            whole = window.closed.get("procs", 0) == machine.capacity[window.place, 0]
            begin, end = map(self.clock.values, window[1:3])
            times = {"begin": begin, "end": end, "whole": bool(whole), "text": window.text}
            rows += [times | {"low": low, "high": high}] if low < high else []
        if rows:
            layers.insert(0, bands(rows, self.clock.placed("begin"), *sides.values(), clip=self.moves))
        if len(spans) > 1:
            borders = alt.Chart({"values": [{"low": low} for low, high in spans[1:] if self.low < low < high]})
            mark = borders.mark_rule(color=INK, opacity=0.6, strokeWidth=0.8, clip=self.moves)
            layers.append(mark.encode(y=self._upward("low")))
            least = LETTERS * (self.rows[1] - self.rows[0]) / height
            labels = [
                {"name": str(name), "low": (low + high) / 2}
                for (name, _), (low, high) in zip(machine.pools, spans, strict=True)
                if high - low >= least
            ]
            names = alt.Chart({"values": [] if self.moves else labels})
            names = names.mark_text(align="left", dx=6, fontSize=LETTERS, color=INK)
            layers.append(names.encode(x=alt.value("width"), y=self._upward("low"), text=alt.Text("name:N")))
        return alt.layer(*layers, width=WIDE, height=height)

    def _with_estimates(self, chart, table, encoded):
        """Add a pale part with a dashed border, from the end of each job to its estimated end."""
        if self.apart:
            raise ValueError("estimates=True needs whole jobs, but sweeps were split into tasks")
        estimate = self.jobs["estimate" if "estimate" in self.jobs else "requested_time"].to_numpy()
        ends = self.jobs["start_time"].to_numpy() + estimate
        until = np.minimum(ends, self.window[1])
        rest = table.assign(rest=self.clock.values(until)[self.row], by=self.clock.words(ends)[self.row])
        rest = rest[(until > self.until)[self.row]]
        self.planned = len(rest) > 0
        if not self.planned:
            return chart
        sides = {"x": self.clock.placed("end"), "x2": alt.X2("rest"), "y": alt.Y("low:Q"), "y2": alt.Y2("high")}
        rest = alt.Chart(rest).encode(**sides)
        by = [alt.Tooltip("job:Q"), alt.Tooltip("by:N", title="end by its estimate")]
        pale = rest.mark_rect(fillOpacity=0.25, clip=self.moves).encode(color=encoded, tooltip=by)
        border = rest.mark_rect(filled=False, stroke=INK, strokeWidth=1, strokeDash=[3, 2], clip=self.moves)
        return alt.layer(pale, chart, border)

    def _labels(self, table, label, fills, wide, high):
        """Return the labels: one for each rectangle that is large enough."""
        if fills is None:
            raise ValueError(f"label={label!r} needs colours of classes or names; choose another color")
        jobs = self.jobs.reset_index()
        check_columns(jobs, [label])
        texts = jobs[label].astype(str).to_numpy()[self.row]
        width, height = (table["end"] - table["begin"]).to_numpy() / wide, (self.top - self.bottom) / high
        labels = {"words": texts, "middle": (table["begin"] + table["end"]).to_numpy() / 2}
        inks = [ink_on(fills[value]) for value in table["color"]]
        labels |= {"center": (self.bottom + self.top) / 2, "ink": np.where(self.ended[self.row], INK, inks)}
        return pd.DataFrame(labels)[fits(np.char.str_len(texts.astype(str)), width, height)]


def _with_grey(chart, table):
    """Add the marks without a number, which Vega-Lite leaves out."""
    if not table["color"].isna().any():
        return chart
    return alt.layer(chart, chart.transform_filter("!isValid(datum.color)").encode(color=alt.ColorValue(GREY)))


def fits(letters, width, height, size: int = LETTERS):
    """Tell whether this many letters of a size fit in a rectangle of the given pixels; also for arrays."""
    return (width >= LETTER * size * letters + 2) & (height >= size + 1)


def _processors(processors, size):
    """Return the first processor that is drawn, and the one after the last."""
    if processors is None:
        return 0, size
    first, last = processors
    if not 0 <= first <= last < size:
        raise ValueError(f"processors are {first} to {last}, expected two numbers from 0 to {size - 1}, in order")
    return int(first), int(last) + 1


def _jobs_of_runs(schedule):
    """Return the job of each piece, if closed windows ended runs that were repeated."""
    pieces = schedule.outcome.pieces
    start = schedule.seconds(pieces.start)
    return schedule.jobs.iloc[pieces.job].assign(start_time=start, wait_time=start - schedule.seconds(pieces.submit))


def _jobs_of_pieces(schedule, drawn):
    """Return the job of each piece, which may be from another site."""
    pieces, frames = schedule.outcome.pieces, []
    submit, start = schedule.seconds(pieces.submit), schedule.seconds(pieces.start)
    for site, trace in enumerate(schedule.traces):
        places = drawn[pieces.home[drawn] == site]
        if not places.size:
            continue
        table = trace.table.iloc[pieces.job[places]]
        frame = table.assign(place=places, home_site=site, procs=table["requested_procs"])
        frame = frame.assign(breakdown=table.get("breakdown", 0), submit_time=submit[places])
        frames.append(frame.assign(wait_time=start[places] - submit[places]))
    return pd.concat(frames).sort_values("place")
