"""Differences between schedules with their intervals: a dot with a whisker for each, beside a line at 0."""

import math
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from schedlab._runtime.text import check_known
from schedlab.schedule.metrics.tables import LABELS
from schedlab.schedule.statistics import Comparison, Comparisons
from schedlab.show.reading import MINUS

from ._altair import alt
from .axes import axis
from .changes import BETTER, WORSE
from .checks import check_kind
from .overlays import EDGE, Rows, across, having
from .palette import INK
from .sizes import CHARACTER, SYMBOL
from .theme import BELOW, headed, unchecked

STEP = 24  # pixels from row to row
BROAD = 560  # width of the plot, in pixels
LIMIT = 260  # width of a name, in pixels
DOT = 70
UNSURE = "#8C8C8C"  # seen on white and on black
DASHES = [4, 3]
COLOURS = "blue: lower; orange: higher; grey: not sure"
DOUBTFUL = "dashed: the interval may be too narrow"
NONE = "hollow: no interval, as a queue does not settle"
CUT = "arrow: the interval reaches further"
NO_CHANGE = "no change"


@unchecked
def differences(
    comparisons: Mapping[str, Comparison | Comparisons],
    classes: Iterable[str] | None = None,
    *,
    measure: str | None = None,
    title: str = "",
    subtitle: str = "",
    width: float | None = None,
    height: float | None = None,
) -> alt.LayerChart | alt.FacetChart:
    """Draw by how much schedules differ: a row for each comparison, with its interval, in a panel for each class.

    Blue is lower, orange is higher, both only where the interval does not reach 0 and carries no note. Durations are in
    hours. All panels have one axis; intervals that reach far beyond all differences are cut off, with an arrow.

    Parameters
    ----------
    comparisons : mapping of str to Comparison or Comparisons
        Of `paired`, each with the name of its row: all with classes (`by`), or all without.
    classes : iterable of str, optional
        The classes that are drawn, in this order. Default: all of them.
    measure : str, optional
        The title of the axis. Default: the measure that was compared, if it is known.
    title, subtitle, width, height : optional
        The subtitle should name the schedule compared with.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=5000, machine=64, seed=1).scale_load(0.5)
    >>> easy = sl.simulate(trace, "easy")
    >>> others = [sl.simulate(trace, scheme) for scheme in ("easy-sjf", "conservative")]
    >>> pairs = {str(other.scheme): sl.paired(other, easy, "wait_time", by="kurian") for other in others}
    >>> title = "Change of the mean wait against EASY, by class of jobs"
    >>> chart = sl.charts.differences(pairs, title=title, subtitle=trace.title)
    """
    table, seconds, name = _table(comparisons)
    if classes is not None:
        classes = [classes] if isinstance(classes, str) else list(map(str, classes))
        if not classes:
            raise ValueError("there is no class to draw, give one or more, or leave out classes=")
        for label in classes:
            check_known("class", label, dict.fromkeys(table["panel"]))
    panels = list(dict.fromkeys(table["panel"])) if classes is None else classes
    table = table[table["panel"].isin(panels)]
    if seconds:
        table[["mean", "mean_low", "mean_high"]] /= 3600
    if measure is None:
        measure = f"difference of the {name}" if name else "difference"
    rows = Rows(table, ["mean"], "mean", ["row", "panel", "note"])
    rows.contain("mean")
    rows.cut_off("mean", baseline=[0])
    table = rows.shown
    interval = rows.interval or ["mean", "mean"]
    known = table[interval].notna().all(axis=1) & bool(rows.interval)
    noted = known & (table["note"] != "")
    low, high = (table[end] for end in interval)
    sure = known & ~noted & ((low > 0) | (high < 0))
    table["colour"] = np.where(sure, np.where(table["mean"] < 0, BETTER, WORSE), UNSURE)
    same = known & (low == 0) & (high == 0) & (table["mean"] == 0)
    table["text"] = np.where(same, NO_CHANGE, _written(table["mean"]))
    table["doubtful"] = noted
    table["dot"] = np.select([same, known], ["", "filled"], "hollow")
    notes = [COLOURS, DOUBTFUL * bool(noted.any()), NONE * bool((~known).any()), CUT * rows.cut]
    notes = "; ".join(filter(None, notes))
    unit = " (hours)" if seconds else ""
    chart = _drawn(rows, list(comparisons), measure + unit)
    high = STEP * len(comparisons)
    longest = max(map(len, table["text"]), default=0) * CHARACTER + SYMBOL
    wide = BROAD
    if len(panels) == 1 and panels[0] == "":
        chart = chart.properties(width=wide, height=high)
        return headed(chart, title, wide + longest, subtitle, notes, size=(width, height))
    wide = wide if width is None else width
    high = high if height is None else height / len(panels)
    header = alt.Header(labelAnchor="start", labelFontWeight="bold", labelPadding=4, labelOrient="top", title=None)
    chart = chart.properties(width=wide, height=high).facet(
        facet=alt.Facet("panel:N", sort=panels, header=header, title=None), columns=1, spacing=10
    )
    chart = headed(chart, title, wide, subtitle, notes)
    chart.title["offset"] = BELOW
    return chart


def _table(comparisons):
    """Return a row for each comparison and class, whether the values are seconds, and the measure in words."""
    check_kind(comparisons, Mapping)
    if not comparisons:
        raise ValueError("there is no comparison to draw, give one or more")
    rows = []
    units = set()
    for name, compared in comparisons.items():
        check_kind(compared, Comparison, Comparisons)
        if isinstance(compared, Comparison):
            part = compared.difference
            units.add(("", part.unit))
            rows.append(("", name, part.mean, part.low, part.high, "; ".join(part.notes)))
            continue
        for (label, measure), row in compared.difference.iterrows():
            units.add((measure, LABELS.get(measure, ("", ""))[1]))
            rows.append((str(label), name, row["mean"], row["low"], row["high"], row["note"]))
    if len(units) > 1:
        measures = ", ".join(sorted(measure or f"all jobs{', in seconds' * (unit == 's')}" for measure, unit in units))
        raise ValueError(f"the comparisons are of several measures or kinds ({measures}), expected one")
    ((measure, unit),) = units
    columns = ["panel", "row", "mean", "mean_low", "mean_high", "note"]
    return pd.DataFrame(rows, columns=columns), unit == "s", LABELS.get(measure, (measure,))[0]


def _drawn(rows, names, measure):
    down = alt.Y("row:N", title=None, sort=names, axis=alt.Axis(labelLimit=LIMIT, ticks=False, domain=False))
    signed = "abs(datum.value) > 1e-9 ? format(datum.value, '+,~r') : '0'"
    ticks = axis(labelExpr=signed, tickCount=8)
    along = alt.X("mean:Q", title=measure, axis=ticks, scale=alt.Scale(zero=True, nice=False, padding=10))
    colour = alt.Color("colour:N", scale=None)
    tooltip = [
        alt.Tooltip("panel:N", title="class"),
        alt.Tooltip("row:N", title="compared"),
        alt.Tooltip("mean:Q", title=measure, format="+,.3~g"),
        *(alt.Tooltip(f"{end}:Q", title=end.removeprefix("mean_"), format="+,.3~g") for end in rows.interval),
        alt.Tooltip("note:N"),
    ]
    if all(panel == "" for panel in rows.shown["panel"]):
        tooltip = tooltip[1:]
    zero = alt.Chart().mark_rule(color=INK, strokeWidth=1).encode(x=alt.XDatum(0))
    layers = [zero]
    table = rows.shown  # a layer of no rows would have no extent, of which Vega warns
    if rows.interval:
        low, high = rows.drawn(rows.interval)
        whiskers = table[table[[low, high]].notna().all(axis=1)]
        for doubtful, dash in ((False, [1, 0]), (True, DASHES)):
            if not (whiskers["doubtful"] == doubtful).any():
                continue
            whisker = having(low, high).transform_filter(f"datum.doubtful === {str(doubtful).lower()}")
            whisker = whisker.mark_rule(strokeWidth=2 * EDGE, strokeDash=dash)
            layers.append(whisker.encode(x=across(low, along), x2=alt.X2(high), y=down, color=colour, tooltip=tooltip))
        for end, drawn, side in zip(rows.interval, (low, high), ("left", "right"), strict=True):
            if (whiskers[end] != whiskers[drawn]).any():
                cut = having(drawn).transform_filter(f"datum.{end} !== datum.{drawn}")
                arrow = cut.mark_point(shape=f"triangle-{side}", filled=True, size=50, opacity=1)
                layers.append(arrow.encode(x=across(drawn, along), y=down, color=colour))
    for kind in sorted({"filled", "hollow"}.intersection(table["dot"])):
        dot = having("mean").transform_filter(f"datum.dot === '{kind}'")
        dot = dot.mark_point(filled=kind == "filled", size=DOT, opacity=1, strokeWidth=EDGE)
        layers.append(dot.encode(x=along, y=down, color=colour, tooltip=tooltip))
    number = having("mean").mark_text(align="left", dx=8, fontSize=11, color=INK)
    layers.append(number.encode(x=alt.XValue("width"), y=down, text=alt.Text("text:N"), tooltip=tooltip))
    return alt.layer(*layers, data=table)


def _written(values):
    """Write differences with their signs, all to the same place, so that the largest has three digits."""
    largest = values[np.isfinite(values)].abs().max()
    digits = max(0, 2 - math.floor(math.log10(largest))) if largest > 0 else 0
    return ["" if math.isnan(value) else f"{value:+,.{digits}f}".replace("-", MINUS) for value in values]
