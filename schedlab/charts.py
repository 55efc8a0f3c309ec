"""Charts: a table in, an Altair chart out. One theme, one colour for each scheme, units on every axis."""

import altair as alt
import pandas as pd

WIDTH, HEIGHT = 300, 220  # of one panel, in pixels
MOST_ROWS = 5_000

# Okabe and Ito's palette, told apart with any colour vision; the same scheme is the same colour everywhere.
COLOURS = {
    "FCFS": "#999999",
    "EASY": "#0072B2",
    "EASY-SJF": "#E69F00",
    "EASY-SJBF": "#56B4E9",
    "Conservative": "#D55E00",
}
OTHERS = ("#009E73", "#CC79A7", "#F0E442", "#000000")

AXES = {
    "load": "offered load",
    "wait_time": "mean wait (hours)",
    "turnaround": "mean turnaround (hours)",
    "bounded_slowdown": "mean bounded slowdown (tau = 10 s)",
    "slowdown": "mean slowdown",
    "utilization": "utilization",
    "loss_of_capacity_share": "loss of capacity (share of processor-seconds)",
    "mean_queue": "mean queue length (jobs)",
}
IN_HOURS = ("wait_time", "turnaround")


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
        Logarithmic y axis.
    title, subtitle : str
        The subtitle should name the trace; a stand-in says so by its name.
    """
    _check(table, [name for name in (x, y, color, column) if name])
    shown = table[[name for name in dict.fromkeys((x, y, color, column)) if name]].copy()
    if y in IN_HOURS:
        shown[y] = shown[y] / 3600
    names = list(dict.fromkeys(shown[color].astype(str)))
    scale = alt.Scale(domain=names, range=colours(names))
    scale_y = alt.Scale(type="log") if log else alt.Scale(zero=True)
    chart = (
        alt.Chart(shown)
        .mark_line(point=True, strokeWidth=2)
        .encode(
            x=alt.X(f"{x}:Q", title=AXES.get(x, x), scale=alt.Scale(zero=False)),
            y=alt.Y(f"{y}:Q", title=AXES.get(y, y), scale=scale_y),
            color=alt.Color(f"{color}:N", title=color, scale=scale),
            tooltip=[
                alt.Tooltip(f"{color}:N"),
                alt.Tooltip(f"{x}:Q", title=AXES.get(x, x), format=".3~g"),
                alt.Tooltip(f"{y}:Q", title=AXES.get(y, y), format=",.4~g"),
            ],
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    if column:
        chart = chart.facet(column=alt.Column(f"{column}:N", title=None, sort=None)).resolve_scale(y="independent")
    return themed(chart.properties(title=alt.Title(title, subtitle=subtitle)))


def stacked(parts: list[alt.Chart]):
    """Put charts below one another."""
    bare = [part.copy() for part in parts]
    for part in bare:
        part.config = alt.Undefined  # only the whole may carry the look
    return themed(alt.vconcat(*bare))


def colours(names: list[str]) -> list[str]:
    """Give each scheme its colour; names without one of their own take the spare ones in turn."""
    spare = [name for name in names if name not in COLOURS]
    return [COLOURS.get(name) or OTHERS[spare.index(name) % len(OTHERS)] for name in names]


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
