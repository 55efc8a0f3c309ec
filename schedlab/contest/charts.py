"""Charts of an arena: which scheme wins where, and how far each is from the bound."""

import numpy as np
import pandas as pd

from ..charts._altair import alt
from ..charts.axes import AXES, IN_HOURS, axis, log_scale, log_ticks
from ..charts.changes import BETTER, SHORT, WORSE, coloured_cells, plain_axis
from ..charts.checks import check_columns, check_kind, check_numbers
from ..charts.palette import INK, coloured, colours, ink_on
from ..charts.sizes import WIDE, WIDTH, beside
from ..charts.theme import headed, unchecked

CELL, ROW = 122, 33  # width and height of a cell with two lines of text, in pixels: fifteen fit on a screen
PALE = 0.25  # share of the winner's colour in a cell where others are tied with it
ALL_TIED = "#8C8C8C"
STEP, DOTS = 22, 600  # from scheme to scheme, and width of a plot of dots, in pixels
COLOURED, FARTHEST = 6, 2  # logs that are all told apart by colour; of more, only those farthest from their bounds
LINES = f"split({SHORT}, ', ')"  # start a new line after a comma in a name


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
    title, subtitle, width, height : optional
        The subtitle should name the measure.

    Examples
    --------
    >>> import schedlab as sl
    >>> traces = [sl.model_trace(model, jobs=300, machine=64, seed=1) for model in ("lublin", "jann")]
    >>> schemes = ["easy", "easy-sjf", "conservative"]
    >>> result = sl.arena(traces, schemes, load=(0.7, 0.9), seed=range(2), rounds=None)
    >>> title = "Which scheme wins, by the mean bounded slowdown"
    >>> chart = sl.contest.winners(result.wins("bounded_slowdown"), title=title, width=480)
    """
    check_kind(table, pd.DataFrame)
    check_columns(table, ["log", "load", "winner", "tied", "next", "behind"])
    rows = table.copy()
    others = rows["tied"].map(lambda names: len(list(filter(None, names.split("; ")))))
    nobody = rows["next"].eq("") & (others > 0)
    rows["fill"] = colours(list(rows["winner"]))
    rows.loc[nobody, "fill"] = ALL_TIED
    rows["share"] = np.where(others > 0, PALE, 1.0)
    rows["ink"] = [INK if tied else ink_on(fill) for fill, tied in zip(rows["fill"], others, strict=True)]
    rows["first"] = rows["winner"].where(~nobody, "all tied")
    ahead = rows["behind"].map(_ahead)
    tied = others.map(lambda count: f"tied with {count} other{'s' * (count > 1)}")
    rows["second"] = tied.where(others > 0, ahead).where(~nobody, "")
    loads, logs = list(dict.fromkeys(rows["load"])), list(dict.fromkeys(rows["log"]))
    along = alt.X("load:O", title=AXES["load"], sort=loads, axis=plain_axis(format=".2~f"))
    down = alt.Y("log:N", title=None, sort=logs, axis=plain_axis(labelExpr=LINES))
    tooltip = [
        alt.Tooltip("log:N"),
        alt.Tooltip("load:Q", title=AXES["load"], format=".2~f"),
        alt.Tooltip("winner:N", title="best mean"),
        alt.Tooltip("tied:N", title="tied with it"),
        alt.Tooltip("next:N", title="best of the others"),
        alt.Tooltip("behind:Q", title="worse by (%)", format=",.3~g"),
    ]
    cells = coloured_cells().encode(tooltip=tooltip)
    layers, ink = [cells], alt.Color("ink:N", scale=None)
    for column, shift, size in (("first", -6, 11), ("second", 7, 10)):
        letters = alt.Chart().mark_text(fontSize=size, dy=shift, limit=CELL - 6)
        layers.append(letters.encode(text=alt.Text(f"{column}:N"), color=ink, tooltip=tooltip))
    wide = CELL * len(loads)
    layers = [layer.encode(x=along, y=down) for layer in layers]
    chart = alt.layer(*layers, data=rows, width=wide, height=ROW * len(logs))
    note = "full colour: every other scheme is worse; pale: tied with others; grey: all are tied"
    return headed(chart, title, max(wide, DOTS), subtitle, note, size=(width, height))


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
    title, subtitle, width, height : optional
        The subtitle should name the load or the log.

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
    >>> chart = sl.contest.against_bounds(table, "turnaround", "load", title="Mean turnaround", subtitle=trace.title)
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
    points = table[["scheme", panel, "value", "bound"]].assign(**{panel: table[panel].map(str)})
    several = list(dict.fromkeys(points[panel]))
    if measure in IN_HOURS:
        points[["value", "bound"]] /= 3600
    # A log has one bound, which is also that of schemes that may beat it.
    points["bound"] = points.groupby(panel)["bound"].transform("max")
    points["times"] = points["value"] / points["bound"].where(points["bound"] > 0)
    drawn = points["times"] > 0
    left_out = f"{(~drawn).sum()} of {len(points)} dots left out: bound or value is 0" if not drawn.all() else ""
    points = points[drawn].assign(above=100 * (points["times"] - 1))
    schemes = points.groupby("scheme", sort=False)["times"].median().sort_values(kind="stable").index.tolist()
    label = AXES.get(measure, measure.replace("_", " "))
    ticks = axis(values=log_ticks([pd.concat([points["times"], pd.Series([1.0])])]))
    along = {"title": f"{label.partition(' (')[0]}, times the lower bound", "scale": log_scale(), "axis": ticks}
    down = alt.Axis(labelLimit=200, ticks=False, domain=False, grid=True)
    tooltip = [
        alt.Tooltip("scheme:N"),
        alt.Tooltip(f"{panel}:N"),
        alt.Tooltip("value:Q", title=label, format=",.4~g"),
        alt.Tooltip("bound:Q", title="no schedule is better than", format=",.4~g"),
        alt.Tooltip("above:Q", title="above it by (%)", format=",.3~g"),
    ]
    of = {"color": coloured(panel, several, columns=min(3, beside(several, WIDE)), title="")}
    if panel == "load":
        sizes = alt.Scale(domain=several, range=np.linspace(20, 140, len(several)).round().tolist())
        legend = alt.Legend(orient="bottom", symbolFillColor=BETTER, symbolStrokeColor=BETTER)
        of = {"color": alt.value(BETTER), "size": alt.Size("load:O", title=AXES["load"], scale=sizes, legend=legend)}
    elif len(several) > COLOURED:
        medians = points.groupby(panel)["times"].median().sort_values(ascending=False, kind="stable")
        far, others = medians.index[:FARTHEST].tolist(), f"{len(medians) - FARTHEST} others"
        points["named"] = points[panel].where(points[panel].isin(far), others)
        points = points.sort_values("named", key=lambda names: names != others, kind="stable")  # grey below the colours
        legend = alt.Legend(orient="bottom", labelLimit=2 * WIDTH, symbolOpacity=1)
        scale = alt.Scale(domain=[*far, others], range=[WORSE, BETTER, ALL_TIED])
        of = {"color": alt.Color("named:N", title="", scale=scale, legend=legend)}
    dots = alt.Chart().mark_point(size=70, opacity=1, filled=True)
    dots = dots.encode(x=alt.X("times:Q", **along), tooltip=tooltip, **of)
    middle = alt.Chart().mark_tick(thickness=2, size=STEP - 4, color=INK).encode(x=alt.X("median(times):Q", **along))
    wall = alt.Chart().mark_rule(color=INK, strokeWidth=2).encode(x=alt.XDatum(1, **along))
    rows = (mark.encode(y=alt.Y("scheme:N", title=None, sort=schemes, axis=down)) for mark in (middle, dots))
    chart = alt.layer(wall, *rows, data=points, width=DOTS, height=STEP * len(schemes))
    note = f"each dot is a {panel}, the tick is their median; no schedule can be left of the line at 1"
    return headed(chart, title, DOTS, subtitle, note, left_out, size=(width, height))


def _ahead(percent):
    if np.isnan(percent):
        return ""
    return "the others not 0" if np.isinf(percent) else f"{percent:,.{1 if percent < 10 else 0}f} % ahead"
