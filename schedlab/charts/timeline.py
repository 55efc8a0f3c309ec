"""Charts over time: which job held which processors when, and how machine and queue filled."""

import altair as alt
import numpy as np
import pandas as pd

from .. import metrics
from ..schedule import Schedule
from ..shredded import ShreddedSchedule
from .theme import (
    CLASSES,
    COLOURS,
    DURATIONS,
    GROUPS,
    INK,
    MOST_ROWS,
    PER_JOB,
    STATES,
    WIDE,
    about,
    axis,
    check_columns,
    check_kind,
    check_limit,
    headed,
)

TASKS = {"sweep": GROUPS["sweeps"], "tasks of a sweep": "#F0E442"}
BINS = 600  # of a profile: about one for each pixel
MOST_COLOURS = 7
OTHER = "other"
# Numbers that only name.
IDENTIFIERS = {"job_number", "user_id", "group_id", "executable", "queue", "partition", "status"}
DATES = ((120, "%b %Y"), (10, "%d %b"), (1.5, "%d %b %H:%M"), (0, "%H:%M"))  # from so many days on, so written
CLASS_TITLE = "class: short or long (1 h), narrow or wide (32 processors)"


class Clock:
    """Seconds of a log as an axis shows them: local dates of the machine, or hours (seconds, of a few) without dates.

    Parameters
    ----------
    trace : Trace
    begin, end : float, seconds
        What the axis spans. An hour is an hour all along it: the offset from UTC is that of its begin.
    """

    def __init__(self, trace, begin, end):
        self._span = np.array([begin, end])
        try:
            first, last = trace.at(begin), trace.at(end)
        except (NotImplementedError, ValueError):  # of a year after 9999, say
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
        """Give what the chart carries: milliseconds of the local clock, or hours or seconds."""
        return (self._zero + seconds) * 1000 if self.dated else seconds / self._unit

    def words(self, seconds):
        """Give what a tooltip shows."""
        if not self.dated:
            return np.round(seconds / self._unit, 3)
        dates = np.asarray(self._zero + seconds).astype("int64").astype("datetime64[s]")
        return np.char.replace(np.datetime_as_string(dates), "T", " ")

    def x(self, field, *, labels=True):
        """Encode a field along the axis."""
        axis = {"labels": labels, "ticks": labels, "tickCount": 8, "labelOverlap": True, "labelFlush": False}
        scale = {"domain": self.values(self._span).tolist(), "nice": False}
        if self.dated:
            scale["type"] = "utc"  # local already: the reader's own zone must not be added
            days = np.ptp(self._span) / 86_400
            axis["format"] = next(words for least, words in DATES if days >= least)
        title = self.title if labels else None
        return alt.X(f"{field}:{'T' if self.dated else 'Q'}", title=title, scale=scale, axis=axis)


def gantt(
    schedule,
    window=None,
    color: str = "class",
    limit: int = MOST_ROWS,
    *,
    title: str | None = None,
    subtitle: str | None = None,
    width: float | None = None,
    height: float | None = None,
) -> alt.Chart:
    """Draw which processors each job held when: one rectangle for each interval of processors.

    Processors are those of `Schedule.processors`: nodes on a tree, else the lowest-numbered free ones at its start.
    Where sweeps were taken apart, tasks that start together are a rectangle with a dark border.

    Parameters
    ----------
    schedule : Schedule
    window : (begin, end), optional
        Dates at the machine, or seconds on the clock of the log; the whole schedule if left out.
    color : str
        "class" (Kurian's: short or long, narrow or wide), "wait", "job_number", or a column of `Schedule.jobs`.
    limit : int
        Rectangles at most, up to 5,000. Beyond that the jobs with the least processor-seconds in the window are left
        out, and the subtitle says how many.
    title, subtitle : str, optional
        By default the scheme; the trace, its load and its jobs.
    width, height : float, optional
        Of the plot, in pixels.
    """
    check_kind(schedule, Schedule)
    check_limit(limit)
    begin, end = _window(schedule, window)
    clock = Clock(schedule.trace, begin, end)
    size, apart = schedule.machine.procs, isinstance(schedule, ShreddedSchedule)
    start, until, procs, tasks = _pieces(schedule) if apart else _whole_jobs(schedule)
    area = np.clip(np.minimum(until, end) - np.maximum(start, begin), 0, None) * procs
    seen = np.flatnonzero(area)
    if not seen.size:
        raise ValueError(f"no job of {schedule.trace.name} runs from {clock.words(begin)} to {clock.words(end)}")
    offset, first, last = schedule.piece_processors() if apart else schedule.processors()
    intervals = np.diff(offset)
    top = max(size, int(last.max()) + 1)  # a log may hold more processors than there are: a dashed line
    largest = seen[np.argsort(-area[seen], kind="stable")]
    drawn = np.sort(largest[np.cumsum(intervals[largest]) <= limit])

    jobs = _jobs_of_pieces(schedule, drawn) if apart else schedule.jobs.iloc[drawn]
    shown, encoded = _gantt_colour(jobs, color, area[drawn])
    if apart and color == "class":
        shown = np.select([tasks[drawn] > 0, jobs["breakdown"] > 0], [*TASKS][::-1], shown)
        scale = CLASSES | TASKS
        encoded = _legend("color:N", CLASS_TITLE, alt.Scale(domain=list(scale), range=list(scale.values())))
    table = pd.DataFrame(
        {
            "begin": clock.values(np.maximum(start[drawn], begin)),
            "end": clock.values(np.minimum(until[drawn], end)),
            "color": shown,
            "job": jobs.index.to_numpy(),
            "procs": procs[drawn],
            "submit": clock.words(jobs["submit_time"].to_numpy()),
            "wait": np.round(jobs["wait_time"].to_numpy() / 3600, 3),
            "run": np.round(jobs["run_time"].to_numpy() / 3600, 3),
            "estimate": np.round(jobs.get("estimate", jobs["requested_time"]).to_numpy() / 3600, 3),
            "user": jobs["user_id"].to_numpy(),
        }
    )
    row = np.repeat(np.arange(drawn.size), intervals[drawn])
    nth = np.arange(row.size) - np.searchsorted(row, row)  # of its job
    interval = offset[drawn[row]] + nth
    table = table.iloc[row].assign(low=first[interval], high=last[interval] + 1)
    # A border around what is narrower than three pixels would hide it.
    least, fewest = 3 * np.ptp(clock.values(np.array([begin, end]))) / WIDE, 3 * size / (WIDE // 2)
    wide = f"datum.end - datum.begin > {least} && datum.high - datum.low > {fewest}"
    border = alt.condition(wide, alt.value("white"), alt.value("transparent"))
    tips = []
    if apart:
        rules = [{"test": "datum.tasks > 0", "value": INK}, {"test": wide, "value": "white"}]
        border = alt.StrokeValue("transparent", condition=rules)
        tips = [alt.Tooltip("site:Q", title="submitted at site"), alt.Tooltip("tasks:Q", title="tasks at once")]
        table["site"] = jobs["home_site"].to_numpy()[row]
        table["tasks"] = tasks[drawn][row]
    chart = (
        alt.Chart(table)
        .mark_rect(strokeWidth=0.3)
        .encode(
            x=clock.x("begin"),
            x2="end",
            y=alt.Y("low:Q", title="processor", scale=alt.Scale(domain=[0, top], nice=False), axis=axis()),
            y2="high",
            color=encoded,
            stroke=border,
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
        .properties(width=WIDE, height=WIDE // 2)
    )
    if top > size:
        there = alt.Chart({"values": [{"size": size}]}, mark={"type": "rule", "color": INK, "strokeDash": [6, 3]})
        chart = alt.layer(chart, there.encode(y=alt.Y("size:Q")))
    left = seen.size - drawn.size
    missing = 1 - area[drawn].sum() / area.sum()
    what = "pieces" if apart else "jobs"
    said = (
        f"{left:,} of {seen.size:,} {what}, the smallest ({missing:.1%} of the processor-hours), "
        f"left out beyond {limit:,} rectangles"
    )
    title = str(schedule.scheme) if title is None else title
    subtitle = about(schedule) if subtitle is None else subtitle
    return headed(chart, title, WIDE, subtitle, said if left else "", size=(width, height))


def _whole_jobs(schedule):
    """Give what held processors: start, end, processors; and how many tasks of a sweep it was: none."""
    return schedule.start, schedule.end, schedule.procs, np.zeros_like(schedule.procs)


def _pieces(schedule):
    """Give the same of a schedule with tasks: of tasks that started together, how many they are."""
    return (schedule.pieces[name].to_numpy() for name in ("start_time", "end_time", "procs", "tasks"))


def _jobs_of_pieces(schedule, drawn):
    """Give the job of each piece, be it from another site."""
    result, pieces = schedule.outcome, schedule.outcome.pieces[schedule.site]
    frames = []
    for site, trace in enumerate(schedule.traces):
        own = drawn[pieces.home[drawn] == site]
        if not own.size:
            continue
        table = trace.table.iloc[pieces.job[own]]
        entries = result.entries(site)
        at = entries.start + np.flatnonzero(result.home[entries] == site)
        submit = np.empty(len(trace))
        submit[result.job[at]] = schedule.origin + result.submit[at] / result.tick
        frames.append(
            table.assign(
                place=own,
                home_site=site,
                procs=table["requested_procs"],
                breakdown=table.get("breakdown", 0),
                submit_time=submit[pieces.job[own]],
                wait_time=schedule.pieces["start_time"].to_numpy()[own] - submit[pieces.job[own]],
            )
        )
    return pd.concat(frames).sort_values("place")


def _window(schedule, window):
    if window is None:
        # Tasks from elsewhere may end after all jobs of a site.
        last = schedule.pieces["end_time"].max() if isinstance(schedule, ShreddedSchedule) else 0
        return float(schedule.trace.table["submit_time"].iloc[0]), float(np.fmax(schedule.end.max(), last))
    begin, end = (schedule.trace.seconds(instant) for instant in window)
    if not -np.inf < begin < end < np.inf:
        raise ValueError(f"the window must begin before it ends, got {window[0]} to {window[1]}")
    return begin, end


def _gantt_colour(jobs, color, area):
    """Give the value of each job and how it is coloured."""
    if color == "class":
        scale = alt.Scale(domain=list(CLASSES), range=list(CLASSES.values()))
        return metrics.classes(jobs, "kurian").astype(str).to_numpy(), _legend("color:N", CLASS_TITLE, scale)
    column = {"wait": "wait_time"}.get(color, color)
    jobs = jobs.reset_index()
    check_columns(jobs, [column])
    values = jobs[column].to_numpy()
    name = PER_JOB.get(column, column.replace("_", " "))
    if column not in IDENTIFIERS and values.dtype.kind in "iuf":
        scale = alt.Scale(scheme="viridis", type="sqrt", reverse=True)  # root: most waits are short, some are days
        if column in DURATIONS:
            return np.round(values / 3600, 3), _legend("color:Q", f"{name} (hours)", scale)
        return values, _legend("color:Q", name, scale)
    values = values.astype(str)
    most = pd.Series(area).groupby(values).sum().nlargest(MOST_COLOURS).index.tolist()
    shown = np.where(np.isin(values, most), values, OTHER)
    several = {OTHER: "#cccccc"} if OTHER in shown else {}
    if set(most) <= set(STATES):
        own = {state: colour for state, colour in STATES.items() if state in most}
    else:
        own = dict(zip(sorted(most), [*list(COLOURS.values())[1:MOST_COLOURS], "#000000"], strict=False)) | several
    scale = alt.Scale(domain=list(own), range=list(own.values()))
    return shown, _legend("color:N", name, scale)


def _legend(field, title, scale):
    legend = alt.Legend(orient="bottom", titleLimit=WIDE, columns=8)
    return alt.Color(field, title=title, scale=scale, legend=legend)


def profile(
    schedule,
    window=None,
    *,
    title: str | None = None,
    subtitle: str | None = None,
    width: float | None = None,
    height: float | None = None,
) -> alt.VConcatChart:
    """Draw processors in use, the length of the queue, and the work that waits in it, over time.

    Beyond 600 changes these are means over 600 equal parts of the window, weighted by time; for the queue also its
    maximum. The work of a queued job is its run time, as simulated, times its processors.

    Parameters
    ----------
    schedule : Schedule
    window : (begin, end), optional
        Dates at the machine, or seconds on the clock of the log; the whole schedule if left out.
    title, subtitle : str, optional
        By default the scheme; the trace, its load and its jobs.
    width, height : float, optional
        Of the three plots together, in pixels.
    """
    check_kind(schedule, Schedule)
    begin, end = _window(schedule, window)
    clock = Clock(schedule.trace, begin, end)
    states, binned = _states(schedule, begin, end)
    instants = states["time"].to_numpy()
    table = states.assign(time=clock.values(instants), at=clock.words(instants))

    def panel(field, words, height, colour, *more, labels=False, **tips):
        x = clock.x("time", labels=labels)
        y = alt.Y(f"{field}:Q", title=words, scale={"zero": True}, axis=axis(tickCount=4, minExtent=45))
        at = alt.Tooltip(f"at:{'N' if clock.dated else 'Q'}", title="from")
        tooltip = [at, *(alt.Tooltip(f"{name}:Q", title=title, format=",.4~g") for name, title in tips.items())]
        mark = {"type": "area", "interpolate": "step-after", "color": colour, "opacity": 0.75}
        area = alt.Chart(mark=mark, width=WIDE, height=height).encode(x=x, y=y, tooltip=tooltip)
        return alt.layer(area, *more) if more else area

    dashed = {"type": "rule", "color": INK, "strokeDash": [6, 3]}
    size = alt.Chart({"values": [{"size": schedule.machine.procs}]}, mark=dashed)
    size = size.encode(y=alt.Y("size:Q"))
    thin = {"type": "line", "interpolate": "step-after", "color": "#555555", "strokeWidth": 0.8}
    longest = alt.Chart(mark=thin).encode(x=clock.x("time", labels=False), y=alt.Y("longest:Q"))
    queue = ["jobs queued:", "mean, maximum"] if binned else "jobs queued"
    words = ["processors in use", f"of {schedule.machine.procs:,} (dashed)"]
    work = ["work queued", "(processor-hours)"]
    whole = alt.vconcat(
        panel("used", words, 130, COLOURS["EASY"], size, used="processors in use"),
        panel(
            "queued",
            queue,
            110,
            COLOURS["EASY-SJF"],
            *[longest] * binned,
            queued="jobs queued",
            longest="jobs queued, at most",
        ),
        panel("backlog", work, 110, COLOURS["Conservative"], labels=True, backlog=" ".join(work)),
        data={"values": table.to_dict("records")},  # a table Altair would clean and convert: 9 ms more
        spacing=14,
    )
    said = f"means over {_length((end - begin) / BINS)}" if binned else ""
    title = str(schedule.scheme) if title is None else title
    return headed(whole, title, WIDE, about(schedule) if subtitle is None else subtitle, said, size=(width, height))


def _states(schedule, begin, end):
    """Give the states of machine and queue in a window, and whether they are means over bins."""
    start, until, procs, _ = _whole_jobs(schedule)
    submit = came = schedule.trace.table["submit_time"].to_numpy()
    work = gone_work = (schedule.end - schedule.start) * procs
    left = begun = schedule.start
    if isinstance(schedule, ShreddedSchedule):
        start, until, procs, _ = _pieces(schedule)
        work = schedule.run * schedule.trace.table["requested_procs"].to_numpy()
        came, left = schedule.queued()
        begun, gone_work = schedule.departures()
    time = np.concatenate([submit, came, left, begun, start, until])
    time = np.unique(np.append(begin, time[(time > begin) & (time < end)]))
    # Sums over the jobs by now, not `Schedule.timeline`, which sorts all instants of the whole log: 20 ms for 80.
    came, left = (_by(time, instants, np.ones_like(instants))[0] for instants in (came, left))
    (came_work,), (gone_work,) = _by(time, submit, work), _by(time, begun, gone_work)
    backlog = np.maximum(came_work - gone_work, 0) / 3600  # the parts of a sweep are not exact
    (taken,), (freed,) = _by(time, start, procs), _by(time, until, procs)
    values = {"used": taken - freed, "queued": came - left, "backlog": backlog}
    binned = time.size > BINS
    edges = np.linspace(begin, end, BINS + 1) if binned else np.append(time, end)
    before = np.searchsorted(time, edges[:-1], side="right") - 1
    until = np.searchsorted(time, edges[1:], side="left")
    longest = np.maximum.reduceat(np.append(values["queued"], 0), np.column_stack([before, until]).ravel())[::2]
    states = {name: _means(np.append(time, end), value, edges) for name, value in values.items()}
    states["longest"] = longest
    # The last row draws the last step to its end.
    return pd.DataFrame({"time": edges, **{name: np.append(of, of[-1]) for name, of in states.items()}}), binned


def _by(instants, times, *amounts):
    """Sum up amounts over the jobs whose time has come, at each instant."""
    order = np.argsort(times)
    place = np.searchsorted(times[order], instants, side="right")
    return [np.append(0, np.cumsum(amount[order]))[place] for amount in amounts]


def _means(time, value, edges):
    """Give the means between edges, weighted by time, of a function with a step at all but the last of the times."""
    integral = np.append(0, np.cumsum(value * np.diff(time)))
    return np.diff(np.interp(edges, time, integral)) / np.diff(edges)


def _length(seconds):
    for unit, name in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.3g} seconds"
