"""Charts that compare: a measure against a parameter, schemes against a base, jobs under one scheme and another."""

import re
from collections.abc import Iterable, Mapping
from textwrap import wrap

import altair as alt
import numpy as np
import pandas as pd

from ..schedule import Schedule
from ..workload.trace import WEEK, Trace, labels, model_trace, run_times
from .theme import (
    AXES,
    COLOURS,
    DURATIONS,
    HEIGHT,
    IN_HOURS,
    INK,
    MOST_ROWS,
    PER_JOB,
    WIDTH,
    about,
    about_trace,
    axis,
    check,
    check_columns,
    check_kind,
    check_limit,
    check_numbers,
    coloured,
    dashes,
    headed,
    logarithmic,
    vertical,
)

POINTS = 400  # of a distribution's curve
SQUARE = 400  # of a scatter plot, in pixels
BAR = 16  # of one bar, in pixels
CHARACTER = 7  # of a label, in pixels


def lines(
    table: pd.DataFrame,
    x: str,
    y: str,
    color: str = "scheme",
    *,
    dash: str | None = None,
    column: str | None = None,
    log: bool = False,
    title: str = "",
    subtitle: str = "",
) -> alt.Chart:
    """Draw a measure against a parameter, one line for each scheme.

    Parameters
    ----------
    table : DataFrame
        Tidy, one row a point, at most 5,000; as `sweep` gives it, times in seconds (drawn in hours). Where it has the
        columns ``{y}_low`` and ``{y}_high``, the interval between them is shaded. Rows that share x, color, dash and
        column are an error: their line would go up and down between them.
    x, y, color : str
        Columns.
    dash : str, optional
        A column with one dash for each value, such as an option of the machine.
    column : str, optional
        A column with one panel for each value.
    log : bool
        Logarithmic y axis; linear near 0 where a value is 0.
    title, subtitle : str
        The subtitle should name the trace; a stand-in says so by its name.
    """
    shown, band = _taken(table, [x, y], y, *filter(None, (color, dash, column)))
    for name in (x, y):
        if name in IN_HOURS:
            shown[name] = shown[name] / 3600
    if y in IN_HOURS:
        shown[band] = shown[band] / 3600
    for name in filter(None, (color, dash, column)):
        shown[name] = [str(value) for value in shown[name]]  # astype leaves a missing value missing
    doubled = shown.duplicated([x, *filter(None, (color, dash, column))])
    if doubled.any():
        row = table[doubled.to_numpy()].iloc[0]
        place = f"{row[color]} at {x} {row[x]}"
        raise ValueError(f"the table has several rows of {place}, aggregate them first or give them a dash or a column")
    panels = list(dict.fromkeys(shown[column])) if column else [""]
    reach = pd.concat([shown[name] for name in (y, *band)])
    horizontal = alt.X(f"{x}:Q", title=AXES.get(x, x), scale=alt.Scale(zero=False), axis=axis(tickCount=6))
    across = alt.Y(f"{y}:Q", title=AXES.get(y, y), **vertical(reach, log))
    colours = list(dict.fromkeys(shown[color]))
    colour = coloured(color, colours, columns=min(4 * len(panels), _beside(colours, WIDTH * len(panels))))
    tooltip = [
        *(alt.Tooltip(f"{name}:N") for name in filter(None, (color, dash))),
        alt.Tooltip(f"{x}:Q", title=AXES.get(x, x), format=".3~g"),
        alt.Tooltip(f"{y}:Q", title=AXES.get(y, y), format=",.4~g"),
        *_tips(band, "", ",.4~g"),
    ]
    parts = [alt.Chart(shown).mark_line(point=not dash, strokeWidth=2)]
    parts[0] = parts[0].encode(x=horizontal, y=across, color=colour, tooltip=tooltip)
    if dash:
        # Points of their own: with the line's, Vega-Lite 5 leaves the dashes out of the legend.
        points = alt.Chart(shown).mark_circle(size=30, opacity=1)
        parts.append(points.encode(x=horizontal, y=across, color=colour, tooltip=tooltip))
        options = list(dict.fromkeys(shown[dash]))
        scale = alt.Scale(domain=options, range=dashes(options))
        legend = alt.Legend(
            orient="bottom", columns=4 * len(panels), labelLimit=WIDTH, symbolType="stroke", symbolSize=400
        )
        parts[0] = parts[0].encode(strokeDash=alt.StrokeDash(f"{dash}:N", title=dash, scale=scale, legend=legend))
    if band:
        low = across.copy()
        low.shorthand = f"{band[0]}:Q"
        shade = alt.Chart(shown).mark_area(opacity=0.2).encode(x=horizontal, y=low, y2=band[1], color=colour)
        parts.insert(0, shade.encode(detail=f"{dash}:N") if dash else shade)
    chart = alt.layer(*parts) if len(parts) > 1 else parts[0]
    chart = chart.properties(width=WIDTH, height=HEIGHT)
    if column:
        header = alt.Header(labelLimit=WIDTH, labelExpr="split(replace(datum.label, ' (', '\\n('), '\\n')")
        facet = alt.Column(f"{column}:N", title=None, sort=panels, header=header)
        chart = chart.facet(column=facet).resolve_scale(y="independent")
    return headed(chart, title, WIDTH * len(panels), subtitle)


def _beside(names, width):
    """Tell how many labels of a legend have room beside one another."""
    return max(1, width // (max(map(len, names), default=0) * CHARACTER + BAR))


def bars(
    table: pd.DataFrame,
    x: str,
    y: str,
    base: str | None = None,
    color: str = "scheme",
    *,
    title: str = "",
    subtitle: str = "",
) -> alt.LayerChart:
    """Draw by how many percent a measure changes, in groups of bars.

    Parameters
    ----------
    table : DataFrame
        Tidy, one row for each x and scheme. Where it has the columns ``{y}_change_low`` and ``{y}_change_high``, in
        percent, they are drawn as intervals; without a base ``{y}_low`` and ``{y}_high``.
    x, y, color : str
        Columns.
    base : str, optional
        The scheme (a value of `color`) that the others are measured against, at the same x. It has no bars. If left
        out, y is a change in percent already.
    title, subtitle : str
        The subtitle should name the trace; a stand-in says so by its name.
    """
    shown, ends = _taken(table, [y], y if base is None else f"{y}_change", x, color)
    shown[color] = shown[color].astype(str)
    doubled = shown.duplicated([x, color])
    if doubled.any():
        row = shown[doubled].iloc[0]
        raise ValueError(f"the table has several rows of {row[color]} at {x} {row[x]}, aggregate them first")
    words, told = AXES.get(y, y), AXES.get(y, y)
    if base is not None:
        shown, y = _against(shown, x, y, color, str(base)), "change"
        measure, told = re.sub(r" \(.*\)$", "", words), f"change against {base} (%)"
        words = f"change of {measure} against {base} (%)"
    axes = {"title": wrap(words, HEIGHT // 6), "axis": axis()}
    layers, width = _groups(shown, x, y, color, ends, axes, told, "+,.1f", 0)
    return headed(alt.layer(*layers, data=shown, width=width, height=HEIGHT), title, width, subtitle)


def _against(shown, x, y, color, base):
    """Give the rows of the other schemes, with their changes against the base at the same x, in percent."""
    bases = shown[shown[color] == base].set_index(x)[y]
    missing = [value for value in shown[x] if value not in bases.index or not bases[value] > 0]
    if missing:
        raise ValueError(f"the table has no {y} above 0 of {base!r} at {x} {missing[0]} to compare with")
    shown["change"] = 100 * (shown[y].to_numpy() / bases.reindex(shown[x]).to_numpy() - 1)
    shown = shown[shown[color] != base]
    if shown.empty:
        raise ValueError(f"the table has nothing to compare with {base!r}")
    return shown


def _groups(shown, x, y, color, ends, axes, told, form, baseline):
    """Give the layers of grouped bars that stand on a baseline, and their width."""
    groups, schemes = list(dict.fromkeys(shown[x])), list(dict.fromkeys(shown[color]))
    width = max(WIDTH, BAR * len(shown))
    crowded = max(len(str(group)) for group in groups) * CHARACTER * len(groups) > width
    labels = alt.Axis(labelAngle=-30 if crowded else 0, labelLimit=WIDTH)
    along = alt.X(f"{x}:N", title=AXES.get(x, x), sort=groups, axis=labels)
    where = {"x": along, "xOffset": alt.XOffset(f"{color}:N", sort=schemes)}
    tooltip = [
        alt.Tooltip(f"{color}:N"),
        alt.Tooltip(f"{x}:N", title=AXES.get(x, x)),
        alt.Tooltip(f"{y}:Q", title=told, format=form),
        *_tips(ends, f" ({told.rpartition('(')[2]}" if told.endswith(")") else "", form),
    ]
    stands = {"y": alt.Y(f"{y}:Q", **axes), "y2": alt.datum(baseline), "color": coloured(color, schemes)}
    layers = [alt.Chart().mark_bar().encode(**where, **stands, tooltip=tooltip)]
    if ends:
        layers.append(_interval(alt.Chart(), ends, title=axes["title"], **where))
    rule = alt.Chart(pd.DataFrame({"baseline": [baseline]})).mark_rule(color=INK).encode(y="baseline:Q")
    return [*layers, rule], width


def ratios(
    table: pd.DataFrame,
    x: str,
    y: str,
    color: str = "scheme",
    *,
    title: str = "",
    subtitle: str = "",
) -> alt.LayerChart:
    """Draw ratios as groups of bars from 1, on a logarithmic axis: twice reaches as far up as half reaches down.

    Parameters
    ----------
    table : DataFrame
        Tidy, one row for each x and scheme; every ratio above 0. Where it has the columns ``{y}_low`` and ``{y}_high``,
        they are drawn as intervals.
    x, y, color : str
        Columns.
    title, subtitle : str
        The subtitle should name the trace; a stand-in says so by its name.
    """
    shown, ends = _taken(table, [y], y, x, color)
    bad = shown.loc[~(shown[y] > 0), y]
    if len(bad):
        raise ValueError(f"{y} is {bad.iloc[0]}, expected a ratio above 0")
    axes = {"title": AXES.get(y, y), **vertical(shown[y], True)}
    lowest, highest = min(1.0, float(shown[y].min())), max(1.0, float(shown[y].max()))
    # Room below the lowest bar: a factor of 2 at most, less where all ratios are close to 1.
    axes["scale"] = alt.Scale(type="log", domainMin=lowest / min(max(highest / lowest, 1.1), 2), nice=False)
    layers, width = _groups(shown, x, y, color, ends, axes, AXES.get(y, y), ",.3~g", 1)
    words = alt.Chart().mark_text(dy=-6, fontSize=11, color=INK)
    words = words.encode(**{key: layers[0].encoding[key] for key in ("x", "xOffset")}, y=f"{y}:Q")
    layers.insert(1, words.encode(text=alt.Text(f"{y}:Q", format=",.3~r")))
    width = max(2 * WIDTH, 2 * width)
    return headed(alt.layer(*layers, data=shown, width=width, height=HEIGHT), title, width, subtitle)


def points(
    table: pd.DataFrame,
    x: str,
    y: str,
    label: str,
    *,
    title: str = "",
    subtitle: str = "",
) -> alt.LayerChart:
    """Draw one measure against another, a named point for each row.

    Parameters
    ----------
    table : DataFrame
        One row a point. Where it has the columns ``{y}_low`` and ``{y}_high``, they are drawn as an interval.
    x, y, label : str
        Columns; the label is written beside the point.
    title, subtitle : str
        The subtitle should name the traces; a stand-in says so by its name.
    """
    shown, ends = _taken(table, [x, y], y, label)
    shown[label] = shown[label].astype(str)
    along = alt.X(f"{x}:Q", title=AXES.get(x, x), scale=alt.Scale(zero=False, padding=30), axis=axis(tickCount=6))
    across = alt.Y(f"{y}:Q", title=AXES.get(y, y), axis=axis())
    tooltip = [
        alt.Tooltip(f"{label}:N"),
        *(alt.Tooltip(f"{name}:Q", title=AXES.get(name, name), format=",.4~g") for name in (x, y)),
        *_tips(ends, "", ",.4~g"),
    ]
    base = alt.Chart(shown)
    layers = [base.mark_circle(size=60, opacity=1, color=INK).encode(x=along, y=across, tooltip=tooltip)]
    if ends:
        layers.insert(0, _interval(base, ends, title=AXES.get(y, y), x=along))
    words = base.mark_text(align="left", dx=7, fontSize=11, color=INK)
    layers.append(words.encode(x=along, y=across, text=f"{label}:N"))
    chart = alt.layer(*layers).properties(width=2 * WIDTH, height=HEIGHT)
    return headed(chart, title, 2 * WIDTH, subtitle)


def _taken(table, numbers, measure, *others):
    """Give a copy of the columns that a chart takes, the measure's interval included, and that interval's two names."""
    check_kind(table, pd.DataFrame)
    ends = [f"{measure}_low", f"{measure}_high"]
    ends = ends if set(ends) <= set(table.columns) else []
    names = list(dict.fromkeys((*numbers, *ends, *others)))
    check(table, names)
    check_numbers(table, [*numbers, *ends])
    return table[names].copy(), ends


def _tips(ends, unit, form):
    """Give the tooltips of an interval's two columns: low and high."""
    return [alt.Tooltip(f"{name}:Q", title=name.rpartition("_")[2] + unit, format=form) for name in ends]


def _interval(chart, ends, *, title=alt.Undefined, **where):
    """Draw an interval as a rule."""
    y = alt.Y(f"{ends[0]}:Q", title=title)
    return chart.mark_rule(color=INK, strokeWidth=1.5).encode(y=y, y2=ends[1], **where)


def distribution(
    schedules: Schedule | Trace | Iterable[Schedule | Trace] | Mapping[str, Schedule | Trace | Iterable[float]],
    column: str = "wait_time",
    log: bool = True,
    *,
    title: str | None = None,
    subtitle: str | None = None,
) -> alt.Chart:
    """Draw the share of jobs that a measure leaves at or below each value, one curve for each scheme or workload.

    Of more than 400 distinct values, 400 evenly spaced quantiles are drawn, smallest and largest among them; of more
    than a dozen curves, as many of each as leave 5,000 points in all, and the subtitle says so.

    Parameters
    ----------
    schedules : Schedule or Trace, several, or a mapping of names to them or to values (times in seconds)
    column : str
        A column of `Schedule.jobs`, or of `Trace.jobs`.
    log : bool
        Logarithmic x axis; a wait of 0 is drawn at 1 s, and the subtitle says so.
    title, subtitle : str, optional
        By default the measure; the traces, their loads and jobs.
    """
    named = _named(schedules)
    if not named:
        raise ValueError("there is no schedule to draw, give one or more")
    most = min(POINTS, MOST_ROWS // len(named))
    if most < 2:  # ends
        raise ValueError(f"{len(named):,} curves are more than a chart takes, give at most {MOST_ROWS // 2:,}")
    curves = {}
    for name, given in named.items():
        check_kind(given, Schedule, Trace, Iterable)
        if isinstance(given, Schedule | Trace):
            check_columns(given.jobs, [column])
            given = given.jobs[column]
        curves[name] = np.sort(np.asarray(given, dtype=float))
        if not curves[name].size or np.isnan(curves[name]).any():
            raise ValueError(f"{name} has no {column}, or not for every job")
    steps = [_steps(values, most).assign(scheme=name) for name, values in curves.items()]
    thinned = most < POINTS and any(np.unique(values).size > most for values in curves.values())
    steps = pd.concat(steps, ignore_index=True)
    words, said = _title(column), ""
    if log:
        along, steps["value"], said = logarithmic(column, steps["value"].to_numpy())
    else:
        along = {"scale": alt.Scale(zero=True), "axis": axis(tickCount=6)}
        if column in DURATIONS:
            steps["value"] /= 3600
            words += " (hours)"
    names = list(curves)
    of = "workload" if any(isinstance(one, Trace) for one in named.values()) else "scheme"
    chart = (
        alt.Chart(steps)
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("value:Q", title=words, **along),
            y=alt.Y("share:Q", title="share of jobs at or below", scale=alt.Scale(domain=[0, 1]), axis=axis()),
            color=coloured("scheme", names, columns=min(4, _beside(names, SQUARE)), title=of),
            tooltip=[
                alt.Tooltip("scheme:N", title=of),
                alt.Tooltip("value:Q", title=f"{words} (s)" if log and column in DURATIONS else words, format=",.4~g"),
                alt.Tooltip("share:Q", title="share of jobs", format=".1%"),
            ],
        )
        .properties(width=SQUARE, height=HEIGHT)
    )
    if subtitle is None:
        subtitle = "; ".join(dict.fromkeys(_about(one) for one in named.values() if isinstance(one, Schedule | Trace)))
    title = f"Distribution of the {_title(column).partition(' (')[0]}" if title is None else title
    return headed(chart, title, SQUARE, subtitle, said, f"{most} points of each curve" if thinned else "")


def _named(schedules):
    check_kind(schedules, Schedule, Trace, Mapping, Iterable)
    if isinstance(schedules, Mapping):
        return {str(name): given for name, given in schedules.items()}
    several = [schedules] if isinstance(schedules, Schedule | Trace) else list(schedules)
    for one in several:
        if not isinstance(one, Schedule | Trace):
            raise TypeError(f"expected schedules, or a mapping of names to values, got {type(one).__name__}")
    named = {one.title if isinstance(one, Trace) else str(one.scheme): one for one in several}
    if len(named) < len(several):
        raise ValueError("several schedules are of the same scheme; give a mapping of names to schedules")
    return named


def _about(given):
    return about(given) if isinstance(given, Schedule) else about_trace(given)


def _steps(values, most):
    """Give the points of the empirical distribution of sorted values, thinned to so many."""
    kept = np.unique(values)
    if kept.size > most:
        kept = np.unique(values[np.linspace(0, len(values) - 1, most).round().astype(int)])
    return pd.DataFrame({"value": kept, "share": np.searchsorted(values, kept, side="right") / len(values)})


def beside_model(
    trace: Trace,
    model: str = "lublin",
    column: str = "run_time",
    seed: int = 1,
    jobs: int = 10_000,
) -> alt.Chart:
    """Draw the distribution of a column of a trace beside that of a workload model, on a machine of the same size.

    Parameters
    ----------
    trace : Trace
    model, seed, jobs
        As in `model_trace`.
    column : str
        A column of `Trace.jobs`.
    """
    drawn = model_trace(model, jobs=jobs, procs=trace.procs, seed=seed)
    return distribution({trace.title: trace, f"{drawn.title}, seed {seed}": drawn}, column)


def weekly(traces: Trace | Iterable[Trace], *, title: str = "Work by week", subtitle: str | None = None) -> alt.Chart:
    """Draw the offered load of each whole week since the first submission, one line for each trace.

    Run times count up to the estimates. Of a trace shorter than a week, what there is of it is drawn.
    """
    traces = [traces] if isinstance(traces, Trace) else list(traces)
    if not traces:
        raise ValueError("there is no trace to draw, give one or more")
    table = pd.concat(map(_by_week, traces, labels(traces)), ignore_index=True)
    subtitle = "; ".join(map(about_trace, traces)) if subtitle is None else subtitle
    return lines(table, "week", "offered_load", "trace", title=title, subtitle=subtitle)


def _by_week(trace, name):
    """Give the offered load of the whole weeks, counted from 1."""
    after = trace.table["submit_time"] - trace.table["submit_time"].iloc[0]
    work = run_times(trace.table, "kill") * trace.table["requested_procs"]
    load = np.bincount(after // WEEK, work) / (trace.procs * WEEK)
    load = load[: max(1, (int(after.iloc[-1]) + 1) // WEEK)]
    return pd.DataFrame({"trace": name, "week": np.arange(1, load.size + 1), "offered_load": load})


def scatter(
    a: Schedule,
    b: Schedule,
    column: str = "wait_time",
    limit: int = MOST_ROWS,
    *,
    title: str | None = None,
    subtitle: str | None = None,
) -> alt.LayerChart:
    """Draw one schedule against another, job by job, on logarithmic axes; below the diagonal the second is better.

    The subtitle gives, over all jobs, the share that the second scheme serves better and worse, and the mean of the
    paired differences.

    Parameters
    ----------
    a, b : Schedule
        Of the same jobs.
    column : str
        A column of `Schedule.jobs` of which less is better.
    limit : int
        Points at most, up to 5,000. Beyond that every k-th job in order of submission is drawn, and the subtitle says
        so.
    title, subtitle : str, optional
        By default both schemes; the trace, its load and its jobs (both, where they differ).
    """
    check_limit(limit)
    for one in (a, b):
        check_kind(one, Schedule)
    first, second = a.jobs, b.jobs
    check_columns(first, [column])
    if not first.index.equals(second.index):
        raise ValueError(f"the schedules are not of the same jobs: {about(a)}, and {about(b)}")
    names = [str(a.scheme), str(b.scheme)]
    x, y = (jobs[column].to_numpy(dtype=float) for jobs in (first, second))
    ends, drawn, zeros = logarithmic(column, np.concatenate([x, y]))
    every = -(-len(x) // limit)
    scale, unit = (3600, " (hours)") if column in DURATIONS else (1, "")
    table = pd.DataFrame(
        {
            "x": drawn[: len(x)],
            "y": drawn[len(x) :],
            "job": first.index,
            "procs": first["procs"].to_numpy(),
            "run": np.round(first["run_time"].to_numpy() / 3600, 3),
            "first": np.round(x / scale, 3),
            "second": np.round(y / scale, 3),
        }
    )
    titles = [f"{_title(column)}, {name}" for name in names]
    points = (
        alt.Chart(table.iloc[::every])
        .mark_circle(size=14, opacity=0.35, color=COLOURS["EASY"])
        .encode(
            x=alt.X("x:Q", title=titles[0], **ends),
            y=alt.Y("y:Q", title=titles[1], **ends),
            tooltip=[
                alt.Tooltip("job:Q"),
                alt.Tooltip("procs:Q", title="processors"),
                alt.Tooltip("run:Q", title="run time (hours)"),
                alt.Tooltip("first:Q", title=titles[0] + unit, format=",.4~g"),
                alt.Tooltip("second:Q", title=titles[1] + unit, format=",.4~g"),
            ],
        )
    )
    diagonal = alt.Chart(pd.DataFrame({"x": ends["scale"].domain, "y": ends["scale"].domain}))
    diagonal = diagonal.mark_line(color=INK, strokeWidth=1, strokeDash=[4, 3]).encode(x="x:Q", y="y:Q")
    chart = alt.layer(points, diagonal, width=SQUARE, height=SQUARE)
    return headed(
        chart,
        f"{names[1]} against {names[0]}" if title is None else title,
        SQUARE,
        "; ".join(dict.fromkeys((about(a), about(b)))) if subtitle is None else subtitle,
        f"{names[1]} is better for {np.mean(y < x):.1%} of jobs and worse for {np.mean(y > x):.1%}",
        f"mean difference {np.mean(y - x) / scale:+,.3g}" + (" hours" if column in DURATIONS else ""),
        f"one job in {every:,} is drawn" if every > 1 else "",
        zeros,
    )


def _title(column):
    return PER_JOB.get(column, column.replace("_", " "))
