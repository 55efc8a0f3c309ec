"""Charts of groups of bars: changes from 0 in percent, ratios from 1."""

import json
import re

import numpy as np
import pandas as pd

from ._altair import alt
from .axes import AXES, axis, log_scale, log_ticks
from .overlays import PUBLISHED, Rows, across, having, interval_layers, published_layers, range_layers, ring_layers
from .palette import INK, coloured
from .sizes import CHARACTER, HEIGHT, MARGIN, PAGE, WIDE, WIDTH, beside, in_lines
from .theme import headed, unchecked

BAR = 16  # of one bar, in pixels
NUMBERED = 34  # width of a bar with a number at its end
SHOULDER = 56  # from this width on, a number has room beside what is drawn over its bar
BANDS = 0.8  # part of a group's width that its bars take
CUT = "arrows: intervals that reach further"


@unchecked
def bars(
    table: pd.DataFrame,
    x: str,
    y: str,
    base: str | None = None,
    color: str = "scheme",
    *,
    published: pd.DataFrame | None = None,
    rings: pd.DataFrame | None = None,
    range_label: str = "range",
    title: str = "",
    subtitle: str = "",
    width: float | None = None,
    height: float | None = None,
) -> alt.LayerChart:
    """Draw the change of a measure in percent, in groups of bars.

    Parameters
    ----------
    table : DataFrame
        Tidy, one row per x and scheme (aggregated, if there were several). Optional columns:

        - ``{y}_change_low`` and ``{y}_change_high``, in percent (without a base ``{y}_low`` and ``{y}_high``): drawn as
          intervals. An interval must contain its bar's value; one that reaches far beyond all bars is cut off, with an
          arrow.
        - ``{y}_change_range_low`` and ``{y}_change_range_high`` (without a base ``{y}_range_low`` and
          ``{y}_range_high``): another range, drawn as a narrow box.
    x, y, color : str
        Columns.
    base : str, optional
        The scheme (a value of `color`) that the others are compared with, at the same x. It has no bars. If omitted, y
        already is a change in percent.
    published : DataFrame, optional
        Published numbers, drawn as hollow diamonds, or ranges, drawn as narrow boxes; in percent. Columns:
        ``{y}_change`` (without a base y), or the same with ``_low`` and ``_high``; and x and color, which say where a
        number belongs. Without color, it is drawn in the middle of its group; without x, across all groups.
    rings : DataFrame, optional
        What was simulated just now, to be drawn as rings; columns x, color, and that of the numbers in `published`.
    range_label : str
        Name of the range in the legend.
    title, subtitle, width, height : optional
        The subtitle should name the trace; the name of a stand-in says that it is one.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1)
    >>> table = sl.sweep(trace, ["easy", "easy-sjf", "easy-sjbf", "conservative"], load=[0.7, 0.8, 0.9])
    >>> title = "Mean wait, compared with EASY"
    >>> chart = sl.charts.bars(table, "load", "wait_time", base="EASY", title=title, subtitle=trace.title)
    """
    measure = y if base is None else f"{y}_change"
    rows = Rows(table, [y], measure, (x, color))
    rows.shown[color] = rows.shown[color].astype(str)
    doubled = rows.shown.duplicated([x, color])
    if doubled.any():
        row = rows.shown[doubled].iloc[0]
        raise ValueError(f"the table has several rows of {row[color]} at {x} {row[x]}, aggregate them first")
    title_of_y = name = AXES.get(y, y)
    if base is not None:
        rows.shown, y = _against(rows.shown, x, y, color, str(base)), "change"
        title_of_y = f"change of {re.sub(r' [(].*[)]$', '', name)} against {base} (%)"
        name = f"change against {base} (%)"
    rows.overlay(y, measure, published, rings, x, color)
    rows.cut_off(y, baseline=[0])
    axes = {"title": in_lines(title_of_y, (height or HEIGHT) // 6), "axis": axis()}
    chart, wide = _groups(rows, x, y, color, axes, name, "+,.1f", 0, range_label, width)
    return headed(chart, title, wide, subtitle, CUT * rows.cut, size=(width, height))


def _against(rows, x, y, color, base):
    """Return the rows of the other schemes, with their changes from the base at the same x, in percent."""
    bases = rows[rows[color] == base].set_index(x)[y]
    missing = [value for value in rows[x] if value not in bases.index or not bases[value] > 0]
    if missing:
        raise ValueError(f"the table has no {y} above 0 of {base!r} at {x} {missing[0]} to compare with")
    rows["change"] = 100 * (rows[y].to_numpy() / bases.reindex(rows[x]).to_numpy() - 1)
    rows = rows[rows[color] != base]
    if rows.empty:
        raise ValueError(f"the table has nothing to compare with {base!r}")
    return rows


@unchecked
def ratios(
    table: pd.DataFrame,
    x: str,
    y: str,
    color: str = "scheme",
    *,
    published: pd.DataFrame | None = None,
    rings: pd.DataFrame | None = None,
    range_label: str = "range",
    title: str = "",
    subtitle: str = "",
    width: float | None = None,
    height: float | None = None,
) -> alt.LayerChart:
    """Draw ratios as groups of bars from 1, on a logarithmic axis: a ratio of 2 rises as far as a ratio of 1/2 falls.

    Parameters
    ----------
    table : DataFrame
        Tidy, one row per x and scheme; every ratio above 0. Optional columns: ``{y}_low`` and ``{y}_high`` are drawn as
        intervals, which must contain y; an interval that reaches far beyond all bars is cut off, with an arrow. Another
        range goes into ``{y}_range_low`` and ``{y}_range_high``.
    x, y, color : str
        Columns.
    published : DataFrame, optional
        As in `bars`, in the columns y, or ``{y}_low`` and ``{y}_high``.
    rings : DataFrame, optional
        What was simulated just now, to be drawn as rings; columns x, color, and that of the numbers in `published`.
    range_label : str
        Name of the range in the legend.
    title, subtitle, width, height : optional
        The subtitle should name the trace; the name of a stand-in says that it is one.

    Examples
    --------
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=1000, machine=128, seed=1).scale_load(0.9)
    >>> schedules = [sl.simulate(trace, scheme) for scheme in ("easy", "easy-sjf", "conservative")]
    >>> waits = pd.DataFrame({str(one.scheme): one.metrics(by="kurian")["wait_time"] for one in schedules})
    >>> table = waits.div(waits.pop("EASY"), axis=0).rename_axis("class").reset_index()
    >>> table = table.melt("class", var_name="scheme", value_name="wait_ratio")
    >>> chart = sl.charts.ratios(table, "class", "wait_ratio", title="Mean wait by class, relative to EASY")
    """
    rows = Rows(table, [y], y, (x, color))
    rows.shown[color] = rows.shown[color].astype(str)
    bad = rows.shown.loc[~(rows.shown[y] > 0), y]
    if len(bad):
        raise ValueError(f"{y} is {bad.iloc[0]}, expected a ratio above 0")
    rows.overlay(y, y, published, rings, x, color)
    rows.cut_off(y, log=True, baseline=[1])
    drawn = rows.values(y).dropna()
    ticks = axis(values=log_ticks([np.append(drawn[drawn > 0], 1)]))
    axes = {"title": AXES.get(y, y), "scale": log_scale(padding=24), "axis": ticks}
    chart, wide = _groups(rows, x, y, color, axes, AXES.get(y, y), ",.3~g", 1, range_label, width, numbered=True)
    return headed(chart, title, wide, subtitle, CUT * rows.cut, size=(width, height))


def _groups(rows, x, y, color, axes, measure, form, baseline, range_label, width, *, numbered=False):
    """Return grouped bars that stand on a baseline, with their overlays, and their width unless one is given."""
    measured = rows.shown[rows.shown[y].notna()]
    groups, schemes = list(dict.fromkeys(rows.shown[x].dropna())), list(dict.fromkeys(measured[color]))
    written = max(len(str(group)) for group in groups) * CHARACTER * len(groups)
    if numbered:
        wide = max(2 * WIDTH, NUMBERED * len(measured), written)
    else:
        wide = max(PAGE // 2 - MARGIN, BAR * len(measured))  # two bar charts fit side by side on a page
    wide = min(wide, PAGE - MARGIN)
    crowded = written > (width or wide)
    labels = alt.Axis(labelAngle=-30 if crowded else 0, labelLimit=WIDTH)
    along = alt.X(f"{x}:N", title=AXES.get(x, x), sort=groups, axis=labels)
    place = {"x": along, "xOffset": alt.XOffset(f"{color}:N", sort=schemes)}
    names = [alt.Tooltip(f"{color}:N"), alt.Tooltip(f"{x}:N", title=AXES.get(x, x))]
    unit = f" ({measure.rpartition('(')[2]}" if measure.endswith(")") else ""
    tooltip = [*names, alt.Tooltip(f"{y}:Q", title=measure, format=form), *rows.tips(unit, form, range_label)]
    upward = alt.Y(f"{y}:Q", **axes)
    # The bars are placed side by side: JupyterLab's Vega-Lite 5 would stack them.
    stands = {"y": across(y, upward, stack=None), "y2": alt.Y2Datum(baseline)}
    colour = coloured(color, schemes, columns=min(4, beside(schemes, WIDE)))
    bar = having(y).mark_bar().encode(**stands, color=colour, **place)
    rule = alt.Chart(pd.DataFrame({"baseline": [baseline]})).mark_rule(color=INK).encode(y=alt.Y("baseline:Q"))
    layers = [bar.encode(tooltip=tooltip), rule, *range_layers(rows, range_label, upward, **place)]
    over = []
    if rows.published:
        keys = [name for name, key in zip(names, (color, x), strict=True) if key in rows.keys]
        centred = place if color in rows.keys else {"x": along}
        about = rows.published_tips(keys, measure, form)
        under, over = published_layers(rows, upward, about, **(centred if x in rows.keys else {}))
        layers += under
    layers += [*interval_layers(rows, upward, **place), *over]
    layers += ring_layers(rows, upward, names, measure, form, **place)
    if numbered:
        bar = BANDS * (width or wide) / (len(groups) * len(schemes))
        layers += _numbers(rows, x, y, color, upward, baseline, place, bar)
    return alt.layer(*layers, data=rows.shown, width=wide, height=HEIGHT), wide


def _numbers(rows, x, y, color, upward, baseline, place, bar):
    """Write each ratio at the end of its bar: on the left shoulder of a wide one, else beyond all that is over it."""
    wide = bar >= SHOULDER
    over = [y] if wide else [y, *rows.ends.values()]
    reach = rows.shown[over]
    if not wide and {x, color} <= rows.keys and PUBLISHED in rows.published:
        printed = rows.shown[rows.shown[PUBLISHED].notna()].drop_duplicates([x, color]).set_index([x, color])[PUBLISHED]
        reach = reach.assign(printed=printed.reindex(pd.MultiIndex.from_frame(rows.shown[[x, color]])).to_numpy())
    above = rows.shown[y] >= baseline
    rows.shown["place"] = np.where(above, reach.max(axis=1), reach.min(axis=1))
    rows.shown["place"] = rows.shown["place"].where(rows.shown[y].notna())
    layers, measured = [], rows.shown[y].notna()
    for sign, kept, where, shift in ((">=", above, "bottom", -6), ("<", ~above, "top", 6)):
        if not (kept & measured).any():
            continue
        base = having(y).transform_filter(f"datum[{json.dumps(y)}] {sign} {baseline}")
        beside = {"align": "center", "dx": -bar / 4, "dy": shift / 2} if wide else {"dy": shift}
        numbers = base.mark_text(baseline=where, fontSize=11, **beside)
        layers.append(numbers.encode(y=across("place", upward), text=alt.Text(f"{y}:Q", format=",.3r"), **place))
    return layers
