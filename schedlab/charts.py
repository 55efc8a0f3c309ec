"""Charts: a table in, an Altair chart out. One theme, one colour for each scheme, units on every axis."""

import math
from textwrap import wrap
from zlib import crc32

import altair as alt
import pandas as pd

WIDTH, HEIGHT = 240, 220  # of one panel, in pixels: three beside one another fit a page
CHARACTERS = 48  # of a subtitle over one panel
MOST_ROWS = 5_000
LAB = "application/vnd.vegalite.v5+json"

# Okabe and Ito's palette, told apart with any colour vision; the same scheme is the same colour everywhere.
COLOURS = {
    "FCFS": "#999999",
    "EASY": "#0072B2",
    "EASY-SJF": "#E69F00",
    "EASY-SJBF": "#56B4E9",
    "Conservative": "#D55E00",
    "Conservative-SJF": "#009E73",
    "FCFS-SJF": "#CC79A7",
}

AXES = {
    "load": "offered load",
    "offered_load": "offered load",
    "effective_load": "effective load",
    "wait_time": "mean wait (hours)",
    "median_wait_time": "median wait (hours)",
    "p95_wait_time": "95th percentile of the wait (hours)",
    "max_wait_time": "longest wait (hours)",
    "turnaround": "mean turnaround (hours)",
    "makespan": "makespan (hours)",
    "bounded_slowdown": "mean bounded slowdown (tau = 10 s)",
    "per_processor_slowdown": "mean per-processor slowdown (tau = 10 s)",
    "slowdown": "mean slowdown",
    "utilization": "utilization",
    "loss_of_capacity": "loss of capacity (processor-seconds)",
    "loss_of_capacity_share": "loss of capacity (share)",
    "throughput": "throughput (jobs per hour)",
    "mean_queue": "mean queue length (jobs)",
    "max_queue": "longest queue (jobs)",
    "jobs": "jobs",
    "killed": "killed (jobs)",
}
IN_HOURS = {"wait_time", "median_wait_time", "p95_wait_time", "max_wait_time", "turnaround", "makespan"}


def setup() -> None:
    """Let charts show in JupyterLab with no network.

    JupyterLab draws Vega-Lite 5 by itself, and Altair's own renderers ask for version 6 or for the network. The
    charts of this room keep to what version 5 can draw.
    """
    alt.renderers.register("schedlab", _for_lab)
    alt.renderers.enable("schedlab")


def _for_lab(spec, **_):
    older = {**spec, "$schema": "https://vega.github.io/schema/vega-lite/v5.json"}
    return {LAB: older, "text/plain": "<chart>"}, {LAB: {"embed_options": {"actions": False}}}


def lines(
    table: pd.DataFrame,
    x: str,
    y: str,
    color: str = "scheme",
    *,
    column: str | None = None,
    log: bool = False,
    title: str = "",
    subtitle: str = "",
) -> alt.Chart:
    """Draw a measure against a parameter, one line for each scheme.

    Parameters
    ----------
    table : DataFrame
        Tidy, one row a point, at most 5,000; as `sweep` gives it, times in seconds (drawn in hours).
    x, y, color : str
        Columns.
    column : str, optional
        A column with one panel for each value.
    log : bool
        Logarithmic y axis; linear near 0 where a value is 0.
    title, subtitle : str
        The subtitle should name the trace; a stand-in says so by its name.
    """
    _check(table, [name for name in (x, y, color, column) if name])
    shown = table[[name for name in dict.fromkeys((x, y, color, column)) if name]].copy()
    for name in IN_HOURS & {x, y}:
        shown[name] = shown[name] / 3600
    for name in filter(None, (color, column)):
        shown[name] = shown[name].astype(str)
    names = list(dict.fromkeys(shown[color]))
    panels = list(dict.fromkeys(shown[column])) if column else [""]
    chart = (
        alt.Chart(shown)
        .mark_line(point=True, strokeWidth=2)
        .encode(
            x=alt.X(f"{x}:Q", title=AXES.get(x, x), scale=alt.Scale(zero=False), axis=_axis(tickCount=6)),
            y=alt.Y(f"{y}:Q", title=AXES.get(y, y), **_vertical(shown[y], log)),
            color=alt.Color(
                f"{color}:N",
                title=color,
                scale=alt.Scale(domain=names, range=colours(names)),
                legend=alt.Legend(orient="bottom", columns=4 * len(panels), labelLimit=WIDTH),
            ),
            tooltip=[
                alt.Tooltip(f"{color}:N"),
                alt.Tooltip(f"{x}:Q", title=AXES.get(x, x), format=".3~g"),
                alt.Tooltip(f"{y}:Q", title=AXES.get(y, y), format=",.4~g"),
            ],
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    if column:
        header = alt.Header(labelLimit=WIDTH, labelExpr="split(replace(datum.label, ' (', '\\n('), '\\n')")
        facet = alt.Column(f"{column}:N", title=None, sort=panels, header=header)
        chart = chart.facet(column=facet).resolve_scale(y="independent")
    subtitle = wrap(subtitle, CHARACTERS * len(panels), break_on_hyphens=False)
    return themed(chart.properties(title=alt.Title(title, subtitle=subtitle)))


def _axis(**settings):
    return alt.Axis(format=",~r", labelFlush=False, **settings)  # 10,000 and 0.1; at its tick also at the ends


def _vertical(values, log):
    """Give scale and axis; a logarithmic one has numbers at powers of ten, or at 1, 2 and 5 over a short range."""
    if not log:
        return {"scale": alt.Scale(zero=True), "axis": _axis()}
    drawn = values[values > 0]
    if len(drawn) < values.count() or drawn.empty:
        return {"scale": alt.Scale(type="symlog"), "axis": _axis()}
    low, high = math.floor(math.log10(drawn.min())), math.ceil(math.log10(drawn.max()))
    steps = (1, 2, 5) if high - low <= 2 else (1,)
    ticks = [step * 10.0**power for power in range(low, high + 1) for step in steps]
    return {"scale": alt.Scale(type="log"), "axis": _axis(values=ticks)}


def stacked(parts: list[alt.Chart]):
    """Put charts below one another."""
    bare = [part.copy() for part in parts]
    for part in bare:
        part.config = alt.Undefined  # only the whole may carry the look
    return themed(alt.vconcat(*bare))


def colours(names: list[str]) -> list[str]:
    """Give each scheme its colour: its own, or one made of its name, whatever else is drawn."""
    return [COLOURS.get(name) or _made_of(name) for name in names]


def _made_of(name):
    number = crc32(name.encode())
    return f"hsl({number % 360}, 65%, {(30, 42, 54)[number // 360 % 3]}%)"


def themed(chart):
    """Apply the look that all charts share."""
    return (
        chart.configure(font="sans-serif")
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=11, titleFontSize=12, gridColor="#dddddd")
        .configure_legend(labelFontSize=12, titleFontSize=12)
        .configure_title(fontSize=15, subtitleFontSize=12, anchor="start", subtitleColor="#666666")
        .configure_header(labelFontSize=12)
    )


def _check(table, columns):
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise ValueError(f"the table has no column {missing[0]!r}; it has: {', '.join(map(str, table.columns))}")
    if len(table) > MOST_ROWS:
        raise ValueError(f"the table has {len(table):,} rows, a chart takes {MOST_ROWS:,}: aggregate it first")
