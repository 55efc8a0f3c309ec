"""Charts of an arena: which scheme wins where, how far each is from the bound, and how classes of jobs fare."""

from collections.abc import Sequence
from textwrap import wrap

import numpy as np
import pandas as pd

from schedlab.schedule.statistics import NOISE

from ._altair import alt
from .theme import (
    AXES,
    CHARACTER,
    IN_HOURS,
    INK,
    MARGIN,
    WIDE,
    WIDTH,
    axis,
    beside,
    check_columns,
    check_kind,
    check_numbers,
    coloured,
    colours,
    headed,
    log_scale,
    log_ticks,
    unchecked,
)
from .timeline import ink_on

CELL, ROW = 122, 33  # width and height of a cell with two lines of text, in pixels: fifteen fit on a screen
PALE = 0.25  # share of the winner's colour in a cell where others are tied with it
ALL_TIED = "#8C8C8C"
STEP, DOTS = 22, 600  # from scheme to scheme, and width of a plot of dots, in pixels
COLOURED, FARTHEST = 6, 2  # logs that are all told apart by colour; of more, only those farthest from their bounds
NARROW, LINE = 84, 20  # width and height of a cell with one number, in pixels
NARROWEST, BROAD = 34, 720  # widths: such a cell in a panel; all panels of a row
UNSURE = 0.7  # opacity of a change that may be none
STRONGEST = 0.62  # share of a colour on which the ink of the page is readable
LINES = "split(datum.label, ', ')"  # start a new line after a comma in a name
HEAD = 13  # letters in a line of the heading over such a cell
BETTER, WORSE = "#0072B2", "#D55E00"
FULL = 60  # change in percent at which a colour is strongest


@unchecked
def winners(
    table: pd.DataFrame, *, title: str = "", subtitle: str = "", width: float | None = None, height: float | None = None
) -> alt.LayerChart:
    """Draw which scheme wins where: a cell for each log and load, with ties marked.

    A cell in the full colour of its winner is won: every other scheme is worse, with the confidence of the arena. In a
    pale cell others are tied with the winner; in a grey one all are.

    Parameters
    ----------
    table : DataFrame
        `Arena.wins`.
    title, subtitle : str
        The subtitle should name the measure.
    width, height : float, optional
        Of the plot, in pixels.

    Examples
    --------
    >>> import schedlab as sl
    >>> traces = [sl.model_trace(model, jobs=300, machine=64, seed=1) for model in ("lublin", "jann")]
    >>> schemes = ["easy", "easy-sjf", "conservative"]
    >>> result = sl.arena(traces, schemes, load=(0.7, 0.9), seed=range(2), rounds=None)
    >>> title = "Which scheme wins, by the mean bounded slowdown"
    >>> chart = sl.charts.winners(result.wins("bounded_slowdown"), title=title, width=480)
    """
    check_kind(table, pd.DataFrame)
    check_columns(table, ["log", "load", "winner", "tied", "next", "behind"])
    shown = table.copy()
    others = shown["tied"].map(lambda names: len(list(filter(None, names.split("; ")))))
    nobody = shown["next"].eq("") & (others > 0)
    shown["fill"] = colours(list(shown["winner"]))
    shown.loc[nobody, "fill"] = ALL_TIED
    shown["share"] = np.where(others > 0, PALE, 1.0)
    shown["ink"] = [INK if tied else ink_on(fill) for fill, tied in zip(shown["fill"], others, strict=True)]
    shown["first"] = shown["winner"].where(~nobody, "all tied")
    ahead = shown["behind"].map(_ahead)
    tied = others.map(lambda count: f"tied with {count} other{'s' * (count > 1)}")
    shown["second"] = tied.where(others > 0, ahead).where(~nobody, "")
    loads, logs = list(dict.fromkeys(shown["load"])), list(dict.fromkeys(shown["log"]))
    along = alt.X("load:O", title=AXES["load"], sort=loads, axis=_plain(format=".2~f"))
    down = alt.Y("log:N", title=None, sort=logs, axis=_plain(labelExpr=LINES))
    tooltip = [
        alt.Tooltip("log:N"),
        alt.Tooltip("load:Q", title=AXES["load"], format=".2~f"),
        alt.Tooltip("winner:N", title="best mean"),
        alt.Tooltip("tied:N", title="tied with it"),
        alt.Tooltip("next:N", title="best of the others"),
        alt.Tooltip("behind:Q", title="worse by (%)", format=",.3~g"),
    ]
    cells = _cells().encode(tooltip=tooltip)
    layers, ink = [cells], alt.Color("ink:N", scale=None)
    for words, shift, size in (("first", -6, 11), ("second", 7, 10)):
        letters = alt.Chart().mark_text(fontSize=size, dy=shift, limit=CELL - 6)
        layers.append(letters.encode(text=alt.Text(f"{words}:N"), color=ink, tooltip=tooltip))
    wide = CELL * len(loads)
    layers = [one.encode(x=along, y=down) for one in layers]
    chart = alt.layer(*layers, data=shown, width=wide, height=ROW * len(logs))
    said = "full colour: every other scheme is worse; pale: tied with others; grey: all are tied"
    return headed(chart, title, max(wide, DOTS), subtitle, said, size=(width, height))


@unchecked
def against_bounds(
    table: pd.DataFrame,
    measure: str,
    panel: str = "log",
    *,
    title: str = "",
    subtitle: str = "",
    width: float | None = None,
    height: float | None = None,
) -> alt.LayerChart:
    """Draw how many times the lower bound each scheme has: a row for each scheme, a dot for each log or load.

    The best scheme, by the median of its dots, is at the top.

    Parameters
    ----------
    table : DataFrame
        Of `Arena.cells`: one row for each scheme and dot, with value and bound.
    measure : str
        The measure to which the values belong.
    panel : str
        The column with one dot for each value: "log" or "load" (the higher, the larger). Up to six logs have a colour
        each; of more, only the two that are farthest from their bounds.
    title, subtitle : str
        The subtitle should name the load or the log.
    width, height : float, optional
        Of the plot, in pixels.

    Raises
    ------
    ValueError
        If a scheme has several rows for one dot, or a value is below 0.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=300, machine=64, seed=1)
    >>> schemes = ["easy", "easy-sjf", "easy-sjbf", "conservative"]
    >>> table = sl.arena(trace, schemes, load=(0.7, 0.9), seed=0, rounds=1).cells("turnaround")
    >>> chart = sl.charts.against_bounds(table, "turnaround", "load", title="Mean turnaround", subtitle=trace.title)
    """
    check_kind(table, pd.DataFrame)
    check_columns(table, ["scheme", panel, "value", "bound"])
    check_numbers(table, ["value", "bound"])
    doubled = table.duplicated(["scheme", panel])
    if doubled.any():
        row = table[doubled].iloc[0]
        raise ValueError(f"the table has several rows of {row['scheme']} at {panel} {row[panel]}; choose one {panel}")
    if (table["value"] < 0).any():
        raise ValueError(f"a value is {table['value'].min()}, expected 0 or more")
    shown = table[["scheme", panel, "value", "bound"]].assign(**{panel: table[panel].map(str)})
    several = list(dict.fromkeys(shown[panel]))
    if measure in IN_HOURS:
        shown[["value", "bound"]] /= 3600
    # A log has one bound, which is also that of schemes that may beat it.
    shown["bound"] = shown.groupby(panel)["bound"].transform("max")
    shown["times"] = shown["value"] / shown["bound"].where(shown["bound"] > 0)
    drawn = shown["times"] > 0
    left_out = f"{(~drawn).sum()} of {len(shown)} dots left out: bound or value is 0" if not drawn.all() else ""
    shown = shown[drawn].assign(above=100 * (shown["times"] - 1))
    schemes = shown.groupby("scheme", sort=False)["times"].median().sort_values(kind="stable").index.tolist()
    words = AXES.get(measure, measure.replace("_", " "))
    ticks = axis(values=log_ticks([pd.concat([shown["times"], pd.Series([1.0])])]))
    along = {"title": f"{words.partition(' (')[0]}, times the lower bound", "scale": log_scale(), "axis": ticks}
    down = alt.Axis(labelLimit=200, ticks=False, domain=False, grid=True)
    tooltip = [
        alt.Tooltip("scheme:N"),
        alt.Tooltip(f"{panel}:N"),
        alt.Tooltip("value:Q", title=words, format=",.4~g"),
        alt.Tooltip("bound:Q", title="no schedule is better than", format=",.4~g"),
        alt.Tooltip("above:Q", title="above it by (%)", format=",.3~g"),
    ]
    of = {"color": coloured(panel, several, columns=min(3, beside(several, WIDE)), title="")}
    if panel == "load":
        sizes = alt.Scale(domain=several, range=np.linspace(20, 140, len(several)).round().tolist())
        legend = alt.Legend(orient="bottom", symbolFillColor=BETTER, symbolStrokeColor=BETTER)
        of = {"color": alt.value(BETTER), "size": alt.Size("load:O", title=AXES["load"], scale=sizes, legend=legend)}
    elif len(several) > COLOURED:
        medians = shown.groupby(panel)["times"].median().sort_values(ascending=False, kind="stable")
        far, others = medians.index[:FARTHEST].tolist(), f"{len(medians) - FARTHEST} others"
        shown["named"] = shown[panel].where(shown[panel].isin(far), others)
        shown = shown.sort_values("named", key=lambda names: names != others, kind="stable")  # grey below the colours
        legend = alt.Legend(orient="bottom", labelLimit=2 * WIDTH, symbolOpacity=1)
        scale = alt.Scale(domain=[*far, others], range=[WORSE, BETTER, ALL_TIED])
        of = {"color": alt.Color("named:N", title="", scale=scale, legend=legend)}
    dots = alt.Chart().mark_point(size=70, opacity=1, filled=True)
    dots = dots.encode(x=alt.X("times:Q", **along), tooltip=tooltip, **of)
    middle = alt.Chart().mark_tick(thickness=2, size=STEP - 4, color=INK).encode(x=alt.X("median(times):Q", **along))
    wall = alt.Chart().mark_rule(color=INK, strokeWidth=2).encode(x=alt.XDatum(1, **along))
    rows = (one.encode(y=alt.Y("scheme:N", title=None, sort=schemes, axis=down)) for one in (middle, dots))
    chart = alt.layer(wall, *rows, data=shown, width=DOTS, height=STEP * len(schemes))
    said = f"each dot is a {panel}, the tick is their median; no schedule can be left of the line at 1"
    return headed(chart, title, DOTS, subtitle, said, left_out, size=(width, height))


@unchecked
def changes(
    table: pd.DataFrame,
    x: str,
    y: str,
    value: str,
    *,
    panel: str | None = None,
    interval: Sequence[str] | None = None,
    written: str | None = None,
    title: str = "",
    subtitle: str = "",
    width: float | None = None,
    height: float | None = None,
) -> alt.LayerChart | alt.FacetChart:
    """Draw changes in percent as a table of coloured cells: blue is better (less), orange is worse.

    Parameters
    ----------
    table : DataFrame
        One row per cell.
    x, y : str
        Columns that name the cell's place.
    value : str
        The column of changes, in percent; cells without a number stay empty.
    panel : str, optional
        A column with one table for each value.
    interval : (str, str), optional
        The columns with the ends of each change's interval. Changes whose interval reaches 0 are faint, as are those
        below 0.5 % (`schedlab.statistics.NOISE`).
    written : str, optional
        The column with the text of each cell. Default: the changes.
    title, subtitle : str
        The subtitle should name the measure and the scheme compared with.
    width, height : float, optional
        Of the plot, in pixels.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=400, machine=64, seed=1)
    >>> schemes = ["easy", "easy-sjf", "easy-sjbf", "conservative"]
    >>> result = sl.arena(trace, schemes, load=(0.7, 0.8, 0.9), seed=range(2), rounds=None)
    >>> table, title = result.against("EASY", "wait_time"), "Mean wait compared with EASY, in percent, by load"
    >>> chart = sl.charts.changes(table, "load", "scheme", "change", interval=("low", "high"), title=title, width=480)
    """
    check_kind(table, pd.DataFrame)
    places, ends = [x, y, *([] if panel is None else [panel])], [] if interval is None else interval
    texts = [] if written is None else [written]
    if interval is not None and (isinstance(interval, str) or len(interval) != 2):
        raise ValueError(f"interval is {interval!r}, expected the names of two columns: its low and its high ends")
    if len({*places}) < len(places):
        raise ValueError(f"x, y and panel are {', '.join(map(repr, places))}, expected different columns")
    check_columns(table, [*places, value, *ends, *texts])
    check_numbers(table, [value, *ends])
    shown = table[[*places, value, *ends, *texts]].dropna(subset=value)
    shown = shown.set_axis([*places, "value", *(["low", "high"] if ends else []), *(["text"] if texts else [])], axis=1)
    if panel is not None:
        shown[panel] = [f"{name:g}" if isinstance(name, float) else str(name) for name in shown[panel]]
    both = shown[["low", "high"] if ends else []]
    sure = (both > 0).all(axis=1) | (both < 0).all(axis=1)
    if ends:
        sure &= shown["value"].abs() >= NOISE
    shown["fill"] = np.where(shown["value"] < 0, BETTER, WORSE)
    shown["share"] = [_share(percent) for percent in shown["value"].where(sure, 0)]
    shown["clear"] = np.where(sure, 1.0, UNSURE)
    if written is None:
        shown["text"] = [_short(percent) for percent in shown["value"]]
    shown[x] = ["\n".join(wrap(str(name), HEAD)) for name in shown[x]]
    along, down = list(dict.fromkeys(shown[x])), list(dict.fromkeys(shown[y]))
    heads = _plain(labelLimit=NARROW, labelExpr="split(datum.label, '\\n')")
    across = alt.X(f"{x}:N", title=AXES.get(x), sort=along, axis=heads)
    place = {"x": across, "y": alt.Y(f"{y}:N", title=None, sort=down, axis=_plain(labelLimit=280))}
    tooltip = [*(alt.Tooltip(f"{name}:N") for name in dict.fromkeys([*places[2:], y, x]))]
    tooltip += [alt.Tooltip("text:N", title=name) for name in texts]
    tooltip += [alt.Tooltip("value:Q", title=value, format="+,.3~g")]
    named = zip(both, ends, strict=True)
    tooltip += [alt.Tooltip(f"{name}:Q", title=end, format="+,.3~g") for name, end in named]
    cells = _cells().encode(**place)
    words = alt.Chart().mark_text(fontSize=11, color=INK)
    words = words.encode(text=alt.Text("text:N"), opacity=alt.Opacity("clear:Q", scale=None), **place)
    layers = [one.encode(tooltip=tooltip) for one in (cells, words)]
    longest = max((len(line) for name in along for line in name.split("\n")), default=0)
    each = NARROW if panel is None else max(NARROWEST, round(longest * CHARACTER) + 8)
    wide, high = each * len(along), LINE * len(down)
    unknown = both.isna().any(axis=None)
    said = f"the interval of the change reaches 0{', or is not known' if unknown else ''}"
    said = f"faint: {said}; or the change is below {NOISE:g} %" if ends else ""
    if panel is None:
        chart = alt.layer(*layers, data=shown, width=wide, height=high)
        return headed(chart, title, max(wide, 3 * NARROW), subtitle, said, size=(width, height))
    several = list(dict.fromkeys(shown[panel]))
    rows = -(-len(several) // max(1, BROAD // max(wide, CELL)))
    columns = max(1, -(-len(several) // max(1, rows)))  # rows of about the same number of panels
    wide = wide if width is None else round(width / columns)
    high = high if height is None else round(height / max(1, rows))
    chart = alt.layer(*layers, data=shown, width=wide, height=high)
    chart = chart.facet(facet=_faceted(panel, several, wide), columns=columns)
    if rows > 1:  # each row of panels has headings of its own
        chart = chart.resolve_axis(x="independent")
    return headed(chart, title, max(wide * columns, 3 * NARROW), subtitle, said)


def _cells():
    """Draw cells, each in its own colour and strength."""
    cells = alt.Chart().mark_rect(stroke=INK, strokeOpacity=0.15)
    return cells.encode(color=alt.Color("fill:N", scale=None), fillOpacity=alt.FillOpacity("share:Q", scale=None))


def _faceted(panel, names, wide):
    """Make a panel for each name; if any has two lines, all have, so that the panels of a row are level."""
    several = any(", " in name for name in names)
    # In brackets: Vega-Lite puts a conditional expression in the place of datum.label.
    lines = "(datum.label) + (indexof((datum.label), ', ') < 0 ? ', \\u00a0' : '')" if several else "datum.label"
    header = alt.Header(labelExpr=f"split({lines}, ', ')", labelLimit=wide + MARGIN // 2)
    return alt.Facet(f"{panel}:N", title=None, sort=names, header=header)


def _ahead(percent):
    if np.isnan(percent):
        return ""
    return "the others not 0" if np.isinf(percent) else f"{percent:,.{1 if percent < 10 else 0}f} % ahead"


def _plain(**settings):
    return alt.Axis(labelAngle=0, ticks=False, domain=False, **settings)


def _short(percent):
    """Write a change: +12, or +1.2k from a thousand on."""
    if abs(percent) < NOISE:
        return "0"
    unit = ""
    while abs(percent) >= 999.5 and unit != "M":
        percent, unit = percent / 1000, {"": "k", "k": "M"}[unit]
    return f"{percent:+,.{int(bool(unit) and abs(percent) < 9.95)}f}{unit}"


def _share(percent):
    """Return how strong the colour of a change is: the stronger, the larger it is; 0 for one that does not matter."""
    # By the ratio's logarithm: twice as much is as strong as half as much.
    share = min(1.0, abs(np.log1p(max(percent, -99.0) / 100)) / np.log1p(FULL / 100))
    return 0.08 + (STRONGEST - 0.08) * share if abs(percent) >= NOISE else 0.0
