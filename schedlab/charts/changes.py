"""Changes in percent as a table of coloured cells."""

from collections.abc import Sequence
from textwrap import wrap

import numpy as np
import pandas as pd

from schedlab._runtime.text import spelt
from schedlab.schedule.statistics import NOISE
from schedlab.show.reading import MINUS

from ._altair import alt
from .axes import AXES
from .checks import check_columns, check_kind, check_numbers
from .palette import INK
from .sizes import CHARACTER, MARGIN
from .theme import headed, unchecked

CELL = 122  # least width of a panel, in pixels
NARROW, LINE = 84, 20  # width and height of a cell with one number, in pixels
NARROWEST, BROAD = 34, 720  # widths: such a cell in a panel; all panels of a row
UNSURE = 0.7  # opacity of a change that may be none
STRONGEST = 0.62  # share of a colour on which the ink of the page is readable
HEAD = 13  # letters in a line of the heading over such a cell
SHORT = "replace(datum.label, regexp('-[0-9.]+-cln'), '')"  # a log without the version of its file
BETTER, WORSE = "#0072B2", "#D55E00"
FULL = 60  # change in percent at which a colour is strongest


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
    title, subtitle, width, height : optional
        The subtitle should name the measure and the scheme compared with.

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
        raise ValueError(f"interval is {spelt(interval)}, expected the names of two columns: its low and its high ends")
    if len({*places}) < len(places):
        raise ValueError(f"x, y and panel are {', '.join(map(repr, places))}, expected different columns")
    check_columns(table, [*places, value, *ends, *texts])
    check_numbers(table, [value, *ends])
    rows = table[[*places, value, *ends, *texts]].dropna(subset=value)
    rows = rows.set_axis([*places, "value", *(["low", "high"] if ends else []), *(["text"] if texts else [])], axis=1)
    if panel is not None:
        rows[panel] = [f"{name:g}" if isinstance(name, float) else str(name) for name in rows[panel]]
    both = rows[["low", "high"] if ends else []]
    sure = (both > 0).all(axis=1) | (both < 0).all(axis=1)
    if ends:
        sure &= rows["value"].abs() >= NOISE
    rows["fill"] = np.where(rows["value"] < 0, BETTER, WORSE)
    rows["share"] = [_share(percent) for percent in rows["value"].where(sure, 0)]
    rows["clear"] = np.where(sure, 1.0, UNSURE)
    if written is None:
        rows["text"] = [_short(percent) for percent in rows["value"]]
    rows[x] = ["\n".join(wrap(str(name), HEAD)) for name in rows[x]]
    along, down = list(dict.fromkeys(rows[x])), list(dict.fromkeys(rows[y]))
    heads = plain_axis(labelLimit=NARROW, labelExpr="split(datum.label, '\\n')")
    across = alt.X(f"{x}:N", title=AXES.get(x), sort=along, axis=heads)
    place = {"x": across, "y": alt.Y(f"{y}:N", title=None, sort=down, axis=plain_axis(labelLimit=280, labelExpr=SHORT))}
    tooltip = [*(alt.Tooltip(f"{name}:N") for name in dict.fromkeys([*places[2:], y, x]))]
    tooltip += [alt.Tooltip("text:N", title=name) for name in texts]
    tooltip += [alt.Tooltip("value:Q", title=value, format="+,.3~g")]
    named = zip(both, ends, strict=True)
    tooltip += [alt.Tooltip(f"{name}:Q", title=end, format="+,.3~g") for name, end in named]
    cells = coloured_cells().encode(**place)
    numbers = alt.Chart().mark_text(fontSize=11, color=INK)
    numbers = numbers.encode(text=alt.Text("text:N"), opacity=alt.Opacity("clear:Q", scale=None), **place)
    layers = [layer.encode(tooltip=tooltip) for layer in (cells, numbers)]
    longest = max((len(line) for name in along for line in name.split("\n")), default=0)
    cell = NARROW if panel is None else max(NARROWEST, round(longest * CHARACTER) + 8)
    wide, high = cell * len(along), LINE * len(down)
    unknown = ", or is not known" if both.isna().any(axis=None) else ""
    faint = f"faint: the interval of the change reaches 0{unknown}; or the change is below {NOISE:g} %" if ends else ""
    if panel is None:
        chart = alt.layer(*layers, data=rows, width=wide, height=high)
        return headed(chart, title, max(wide, 3 * NARROW), subtitle, faint, size=(width, height))
    several = list(dict.fromkeys(rows[panel]))
    lines = -(-len(several) // max(1, BROAD // max(wide, CELL)))
    columns = max(1, -(-len(several) // max(1, lines)))  # lines of about the same number of panels
    wide = wide if width is None else round(width / columns)
    high = high if height is None else round(height / max(1, lines))
    chart = alt.layer(*layers, data=rows, width=wide, height=high)
    chart = chart.facet(facet=_faceted(panel, several, wide), columns=columns)
    if lines > 1:  # each line of panels has headings of its own
        chart = chart.resolve_axis(x="independent")
    return headed(chart, title, max(wide * columns, 3 * NARROW), subtitle, faint)


def coloured_cells():
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


def plain_axis(**settings):
    return alt.Axis(labelAngle=0, ticks=False, domain=False, **settings)


def _short(percent):
    """Write a change: +12, or +1,230 with three digits from a thousand on."""
    if abs(percent) < NOISE:
        return "0"
    return f"{float(f'{percent:.3g}') if abs(percent) >= 999.5 else percent:+,.0f}".replace("-", MINUS)


def _share(percent):
    """Return how strong the colour of a change is: the stronger, the larger it is; 0 for one that does not matter."""
    # By the ratio's logarithm: twice as much is as strong as half as much.
    share = min(1.0, abs(np.log1p(max(percent, -99.0) / 100)) / np.log1p(FULL / 100))
    return 0.08 + (STRONGEST - 0.08) * share if abs(percent) >= NOISE else 0.0
