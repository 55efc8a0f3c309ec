"""Charts that compare: a measure against a parameter, schemes against a base, jobs under one scheme and another."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from ..schedule import Schedule
from ..workload.conventions import run_times
from ..workload.labels import labels
from ..workload.loading import model_trace
from ..workload.trace import Trace
from ..workload.variations import WEEK
from ._altair import alt
from .axes import DURATIONS, PER_JOB, axis, logarithmic
from .checks import MOST_ROWS, check_columns, check_kind, check_limit, counted, two_names
from .job_colours import owners
from .overlays import across, having
from .palette import INK, coloured, turned
from .series import LABEL, LINE, MOST_LABELS, NAME, SHIFT, lines, names_at_ends, room_for, shifts
from .sizes import HEIGHT, MARGIN, PAGE, WIDE, beside
from .theme import about, headed, unchecked

POINTS = 400  # points of a curve
ALONE = 480  # pixels; narrower charts stand beside others, where names at ends of lines have no room
SEEN_ON_BOTH = "#3D8FD1"  # of dots that are seen through: clear on white and on black
SQUARE = 365  # side of a scatter plot, in pixels: two fit on a page


@unchecked
def distribution(
    schedules: Schedule | Trace | Iterable[Schedule | Trace] | Mapping[str, Schedule | Trace | Iterable[float]],
    column: str = "wait_time",
    log: bool = True,
    *,
    window=None,
    up_to: float | None = None,
    title: str | None = None,
    subtitle: str | None = None,
    width: float | None = None,
    height: float | None = None,
) -> alt.LayerChart:
    """Draw the cumulative distribution of a measure over jobs, one curve per scheme or workload.

    With more than 400 distinct values, 400 evenly spaced quantiles are drawn, including the smallest and the largest
    value. With more than a dozen curves, each gets fewer points, so that the chart has at most 5,000; the subtitle says
    so.

    Parameters
    ----------
    schedules : Schedule or Trace, several, or mapping
        Schedules or traces, or a mapping of names to schedules, traces or lists of values (times in seconds).
    column : str
        A column of `Schedule.jobs`, or of `Trace.jobs`.
    log : bool
        Logarithmic x axis. A wait of 0 is drawn at 1 s, and the subtitle says so.
    window : (begin, end), optional
        Only jobs submitted in [begin, end): dates at the machine, or seconds on the clock of the log. Default: all that
        are counted (`Trace.counted`).
    up_to : float, optional
        End of a logarithmic x axis, where curves are cut off: for charts that are looked at one after the other. Times
        in seconds. Default: the largest value.
    title, subtitle, width, height : optional
        By default, the title is the measure, and the subtitle gives the traces, their loads and jobs.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1).scale_load(0.8)
    >>> schedules = [sl.simulate(trace, scheme) for scheme in ("fcfs", "easy", "easy-sjf")]
    >>> chart = sl.charts.distribution(schedules, "wait_time")
    """
    named = named_parts(schedules)
    if not named:
        raise ValueError("there is no schedule to draw, give one or more")
    most = min(POINTS, MOST_ROWS // len(named))
    if most < 2:  # ends
        raise ValueError(f"{len(named):,} curves are more than a chart takes, give at most {MOST_ROWS // 2:,}")
    curves = {}
    for name, values in named.items():
        check_kind(values, Schedule, Trace, Iterable)
        if window is not None or isinstance(values, Schedule | Trace):
            jobs = counted(values, window)
            check_columns(jobs, [column])
            values = jobs[column]
        curves[name] = np.sort(np.asarray(values, dtype=float))
        if not curves[name].size or np.isnan(curves[name]).any():
            raise ValueError(f"{name} has no {column}, or not for every job")
    steps = [_steps(values, most).assign(scheme=name) for name, values in curves.items()]
    thinned = most < POINTS and any(np.unique(values).size > most for values in curves.values())
    steps = pd.concat(steps, ignore_index=True)
    measure, zeros = _title(column), ""
    if log:
        along, steps["value"], zeros = logarithmic(column, steps["value"].to_numpy(), up_to)
    else:
        along = {"scale": alt.Scale(zero=True), "axis": axis(tickCount=6)}
        if column in DURATIONS:
            steps["value"] /= 3600
            measure += " (hours)"
    names = list(curves)
    labelled = len(names) <= MOST_LABELS and (width is None or width > ALONE)
    if labelled:
        right = along["scale"].domain[1] if log else steps["value"].max()
        steps = _reaching(steps, right, {name: np.median(values) for name, values in curves.items()})
    steps = turned(steps, "scheme", names)
    kinds = {Schedule: "scheme", Trace: "workload"}
    of = next((name for kind, name in kinds.items() if any(isinstance(part, kind) for part in named.values())), "")
    colour = coloured("scheme", names, columns=min(4, beside(names, width or WIDE)), title=of)
    along = alt.X("value:Q", title=measure, **along)
    upward = alt.Y("share:Q", title="share of jobs at or below", scale=alt.Scale(domain=[0, 1]), axis=axis())
    wide, layers = WIDE, []
    if labelled:
        colour["legend"], wide = None, min(WIDE, PAGE - MARGIN - room_for(names))
        layers = names_at_ends(having(LABEL), {"x": along, "y": across(LABEL, upward)}, colour)
    in_seconds = " (s)" if log and column in DURATIONS else ""
    tooltip = [
        alt.Tooltip("scheme:N", title=of),
        alt.Tooltip("value:Q", title=f"{measure}{in_seconds}", format=",.4~g"),
        alt.Tooltip("share:Q", title="share of jobs", format=".1%"),
    ]
    line = alt.Chart().mark_line(interpolate="step-after", strokeWidth=2, clip=up_to is not None)
    line = line.encode(x=along, y=upward, color=colour, tooltip=tooltip)
    chart = alt.layer(line, *layers, data=steps, width=wide, height=HEIGHT)
    if subtitle is None:
        drawn = [part for part in named.values() if isinstance(part, Schedule | Trace)]
        subtitle = about(*drawn)
    title = f"Distribution of the {_title(column).partition(' (')[0]}" if title is None else title
    thinning = f"{most} points of each curve" if thinned else ""
    return headed(chart, title, WIDE, subtitle, zeros, thinning, size=(width, height))


def _reaching(steps, right, medians):
    """Continue each curve to the right end of the axis, and name it there: the longer the values, the lower."""
    known = steps[steps["value"] <= right].groupby("scheme")
    last = known["value"].max().reindex(medians)
    short = last[last != right].index
    shares = known["share"].max().reindex(medians).fillna(0.0)
    more = pd.DataFrame({"scheme": short, "value": right, "share": shares[short].to_numpy()})
    steps = pd.concat([steps, more], ignore_index=True)
    order = sorted(medians, key=lambda name: (shares[name], -medians[name]))
    moved = shifts(shares[order].to_numpy(), np.array([0.0, 1.0]), False, HEIGHT, LINE)
    at_end = steps["value"] == right
    steps[LABEL], steps[NAME] = steps["share"].where(at_end), steps["scheme"].where(at_end, "")
    steps[SHIFT] = steps["scheme"].map(dict(zip(order, moved, strict=True))).where(at_end, 0.0)
    return steps


def named_parts(schedules) -> dict:
    """Return schedules, traces or lists of values by their names."""
    check_kind(schedules, Schedule, Trace, Mapping, Iterable)
    if isinstance(schedules, Mapping):
        return {str(name): part for name, part in schedules.items()}
    parts = [schedules] if isinstance(schedules, Schedule | Trace) else list(schedules)
    for part in parts:
        if not isinstance(part, Schedule | Trace):
            raise TypeError(f"expected schedules, or a mapping of names to values, got {type(part).__name__}")
    named = {part.title if isinstance(part, Trace) else str(part.scheme): part for part in parts}
    if len(named) < len(parts):
        raise ValueError("several schedules are of the same scheme; give a mapping of names to schedules")
    return named


def _steps(values, most):
    """Return the points of the empirical distribution of sorted values, thinned to at most `most`."""
    kept = np.unique(values)
    if kept.size > most:
        kept = np.unique(values[np.linspace(0, len(values) - 1, most).round().astype(int)])
    return pd.DataFrame({"value": kept, "share": np.searchsorted(values, kept, side="right") / len(values)})


@unchecked
def beside_model(
    trace: Trace,
    model: str = "lublin",
    column: str = "run_time",
    seed: int = 0,
    jobs: int = 10_000,
    *,
    width: float | None = None,
    height: float | None = None,
) -> alt.Chart:
    """Draw the distribution of a column of a trace beside that of a workload model, on a machine of the same size.

    Parameters
    ----------
    trace : Trace
        What the model is compared with.
    model : {"lublin", "jann", "downey"}
        As in `model_trace`.
    column : str
        A column of `Trace.jobs`.
    seed, jobs : int
        As in `model_trace`.
    width, height : float, optional
        Of the plot, in pixels.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("jann", jobs=2000, seed=1)
    >>> chart = sl.charts.beside_model(trace, "downey", "run_time")
    """
    drawn = model_trace(model, jobs=jobs, machine=trace.procs, seed=seed)
    return distribution({trace.title: trace, f"{drawn.title}, seed {seed}": drawn}, column, width=width, height=height)


@unchecked
def weekly(
    traces: Trace | Iterable[Trace],
    *,
    window=None,
    title: str = "Work by week",
    subtitle: str | None = None,
    width: float | None = WIDE,
    height: float | None = None,
) -> alt.LayerChart:
    """Draw the offered load of each whole week since the first submission, one line for each trace.

    Run times count up to the estimates. A trace shorter than a week is drawn as far as it goes.

    Parameters
    ----------
    traces : Trace, or several
        One line each; at least one.
    window : (begin, end), optional
        Only jobs submitted in [begin, end): dates at the machine, or seconds on the clock of the log. Default: all that
        are counted (`Trace.counted`).
    title, subtitle, width, height : optional
        The subtitle is by default the traces, their loads and jobs.

    Examples
    --------
    >>> import schedlab as sl
    >>> traces = [sl.model_trace("lublin", jobs=10_000, seed=1), sl.model_trace("jann", jobs=25_000, seed=1)]
    >>> chart = sl.charts.weekly(traces)
    """
    traces = [traces] if isinstance(traces, Trace) else list(traces)
    if not traces:
        raise ValueError("there is no trace to draw, give one or more")
    parts = [_by_week(trace, name, window) for trace, name in zip(traces, labels(traces), strict=True)]
    table = pd.concat(parts, ignore_index=True)
    subtitle = "; ".join(map(about, traces)) if subtitle is None else subtitle
    return lines(table, "week", "offered_load", "trace", title=title, subtitle=subtitle, width=width, height=height)


def _by_week(trace, name, window):
    """Return the offered load of the whole weeks, counted from 1."""
    jobs = counted(trace, window)
    after = jobs["submit_time"] - jobs["submit_time"].iloc[0]
    work = run_times(jobs, "kill") * jobs["requested_procs"]
    load = np.bincount(after // WEEK, work) / (trace.procs * WEEK)
    load = load[: max(1, (int(after.iloc[-1]) + 1) // WEEK)]
    return pd.DataFrame({"trace": name, "week": np.arange(1, load.size + 1), "offered_load": load})


@unchecked
def scatter(
    a: Schedule,
    b: Schedule,
    column: str = "wait_time",
    limit: int = MOST_ROWS,
    *,
    names: tuple[str, str] | None = None,
    window=None,
    up_to: float | None = None,
    title: str | None = None,
    subtitle: str | None = None,
    width: float | None = None,
    height: float | None = None,
) -> alt.LayerChart:
    """Draw one schedule against another, job by job, on logarithmic axes; below the diagonal the second is better.

    The subtitle gives, over all these jobs, the share that the second scheme serves better and worse, and the mean of
    the paired differences.

    Parameters
    ----------
    a, b : Schedule
        Of the same jobs.
    column : str
        A column of `Schedule.jobs` of which less is better.
    limit : int
        Points at most, up to 5,000. Beyond that every k-th job in order of submission is drawn, and the subtitle says
        so.
    window : (begin, end), optional
        Only jobs submitted in [begin, end): dates at the machine, or seconds on the clock of the log. Default: all that
        are counted (`Trace.counted`).
    up_to : float, optional
        End of both axes, beyond which nothing is drawn. Times in seconds. Default: the largest value.
    names : (str, str), optional
        What the schedules are called, such as the names of two machines. Default: their schemes.
    title, subtitle, width, height : optional
        By default both names; the trace, its load and its jobs (both, where they differ).

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1).scale_load(0.9)
    >>> chart = sl.charts.scatter(sl.simulate(trace, "easy"), sl.simulate(trace, "easy-sjf"), "wait_time")
    """
    check_limit(limit)
    check_kind(a, Schedule)
    check_kind(b, Schedule)
    first, second = a.column(column), b.column(column)
    if not first.index.equals(second.index):
        raise ValueError(f"the schedules are not of the same jobs: {about(a)}, and {about(b)}")
    mask = a.trace.some_counted(window)
    first = first[mask]
    second = second[mask]
    names = two_names(names, a, b)
    x, y = first.to_numpy(dtype=float), second.to_numpy(dtype=float)
    ends, drawn, zeros = logarithmic(column, np.concatenate([x, y]), up_to)
    every = -(-len(x) // limit)
    scale, unit = (3600, " (hours)") if column in DURATIONS else (1, "")
    table = pd.DataFrame(
        {
            "x": drawn[: len(x)],
            "y": drawn[len(x) :],
            "job": first.index,
            "procs": a.procs[mask],
            "run": np.round(a.run[mask] / 3600, 3),
            "first": np.round(x / scale, 3),
            "second": np.round(y / scale, 3),
        }
    )
    table = table.iloc[::every]
    whose = owners(a.trace.table.loc[table["job"]], a.trace)
    titles = [f"{_title(column)}, {name}" for name in names]
    points = (
        alt.Chart(table.assign(**whose))
        .mark_circle(size=16, opacity=0.5, color=SEEN_ON_BOTH, clip=up_to is not None)
        .encode(
            x=alt.X("x:Q", title=titles[0], **ends),
            y=alt.Y("y:Q", title=titles[1], **ends),
            tooltip=[
                alt.Tooltip("job:Q"),
                *(alt.Tooltip(f"{word}:N") for word in whose),
                alt.Tooltip("procs:Q", title="processors"),
                alt.Tooltip("run:Q", title="run time (hours)"),
                alt.Tooltip("first:Q", title=titles[0] + unit, format=",.4~g"),
                alt.Tooltip("second:Q", title=titles[1] + unit, format=",.4~g"),
            ],
        )
    )
    diagonal = alt.Chart(pd.DataFrame({"x": ends["scale"].domain, "y": ends["scale"].domain}))
    diagonal = diagonal.mark_line(color=INK, strokeWidth=1, strokeDash=[4, 3]).encode(x=alt.X("x:Q"), y=alt.Y("y:Q"))
    chart = alt.layer(points, diagonal, width=SQUARE, height=SQUARE)
    return headed(
        chart,
        f"{names[1]} against {names[0]}" if title is None else title,
        SQUARE,
        about(a, b) if subtitle is None else subtitle,
        f"{names[1]} is better for {np.mean(y < x):.1%} of jobs and worse for {np.mean(y > x):.1%}",
        f"mean difference {np.mean(y - x) / scale:+,.3g}" + (" hours" if column in DURATIONS else ""),
        f"one job in {every:,} is drawn" if every > 1 else "",
        zeros,
        size=(width, height),
    )


def _title(column):
    return PER_JOB.get(column, column.replace("_", " "))
