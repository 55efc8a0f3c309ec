"""Charts of a measure against a number: lines, and labelled points."""

import numpy as np
import pandas as pd

from ._altair import alt
from .axes import AXES, axis, vertical
from .overlays import PUBLISHED, Rows, across, having, interval_layers, published_layers, range_layers, ring_layers
from .palette import INK, coloured, dashes, turned
from .sizes import CHARACTER, HEIGHT, MARGIN, PAGE, SYMBOL, WIDTH, beside, panels
from .theme import headed, unchecked

OWN_SCALE = "own scale"  # said of each panel whose y axis is not that of the others
ALIKE = 0.7  # panels share a y axis if each uses at least this part of it
TICKS = 5  # about so many on the vertical axis of a panel
APART = 20  # pixels between two panels
LOW = 170  # height of a panel, in pixels, if there are several rows of them: all are to fit on a screen
MOST_LABELS = 6  # lines that have their names at their ends
LABEL = "label at"  # columns: where a line ends, its name there, and pixels to it
NAME = "label text"
SHIFT = "label shift"
ZERO = "zero"  # column of the baseline
_SHIFT = {"expr": f"datum['{SHIFT}']"}
LINE = 15  # of text, in pixels
STROKE = 10  # of a line beside its name, in pixels
MOST_ROOM = 0.6  # of the width of a panel, for names beside it
TICK = 50  # least distance of two ticks on a horizontal axis, in pixels, so that their labels do not touch
CUT = "shaded intervals are cut off where they reach far beyond the lines"


@unchecked
def lines(
    table: pd.DataFrame,
    x: str,
    y: str,
    color: str = "scheme",
    *,
    dash: str | None = None,
    column: str | None = None,
    log: bool = False,
    log_x: bool | int = False,
    published: pd.DataFrame | None = None,
    rings: pd.DataFrame | None = None,
    range_label: str = "range",
    title: str = "",
    subtitle: str = "",
    width: float | None = None,
    height: float | None = None,
) -> alt.LayerChart | alt.FacetChart:
    """Draw a measure against a parameter, one line for each scheme.

    The first scheme of a panel is drawn on top. Up to six lines have their names at their ends: of several panels, in
    the last of each full row.

    Parameters
    ----------
    table : DataFrame
        Tidy, one row per point, at most 5,000, such as the result of `sweep`; times in seconds (drawn in hours). Rows
        with the same x, color, dash and column are an error: aggregate them first. Optional columns: the interval
        between ``{y}_low`` and ``{y}_high`` is shaded, and must contain y; another range, ``{y}_range_low`` and
        ``{y}_range_high``, is drawn as a narrow box.
    x, y, color : str
        Columns.
    dash : str, optional
        A column with one dash pattern for each value, such as an option of the machine.
    column : str, optional
        A column with one panel for each value.
    log : bool
        Logarithmic y axis. It is linear near 0 if a value is 0.
    log_x : bool or int
        Logarithmic x axis, with ticks at powers of 2, or of this number; x is above 0.
    published : DataFrame, optional
        Published numbers, drawn as hollow diamonds, or ranges, drawn as narrow boxes. Columns: y, or ``{y}_low`` and
        ``{y}_high``, in the table's units; and x, color and column, which say where a number belongs. Without x, it is
        drawn across the whole width; without column, in every panel.
    rings : DataFrame, optional
        What was simulated just now, to be drawn as rings on the lines: a table of the same form.
    range_label : str
        Name of the range in the legend.
    title, subtitle, width, height : optional
        The subtitle should name the trace; the name of a stand-in says that it is one.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1)
    >>> table = sl.sweep(trace, ["easy", "easy-sjf", "conservative"], load=[0.5, 0.6, 0.7, 0.8, 0.9])
    >>> chart = sl.charts.lines(table, "load", "wait_time", title="Mean wait", subtitle=trace.title)
    """
    named = list(filter(None, (color, dash, column)))
    rows = Rows(table, [x, y], y, named)
    for name in named:
        rows.shown[name] = [str(value) for value in rows.shown[name]]  # astype keeps a missing value missing
    doubled = rows.shown.duplicated([x, *named])
    if log_x and (rows.shown[x] <= 0).any():
        raise ValueError(f"column {x!r} has {rows.shown[x].min()}, expected more than 0 on a logarithmic axis")
    if doubled.any():
        row = table[doubled.to_numpy()].iloc[0]
        place = f"{row[color]} at {x} {row[x]}"
        raise ValueError(f"the table has several rows of {place}, aggregate them first or give them a dash or a column")
    names = list(dict.fromkeys(rows.shown[color]))
    rows.overlay(y, y, published, rings, x, color, dash, column)
    rows.in_hours(x, y)
    rows.cut_off(y, log=log, baseline=[] if log else [0], panel=column)
    rows.shown = turned(rows.shown, color, names)

    names_of_panels = list(dict.fromkeys(table[column].map(str))) if column else [""]
    count = len(names_of_panels)
    columns, wide, high = panels(count, width, height)
    if height is None and count > columns:
        high = LOW
    parts = [rows.shown[column] == panel for panel in names_of_panels] if column else [slice(None)]
    values = [rows.values(y, part) for part in parts]
    common = bool(column) and _alike(values, log)
    if common and width is None and count > 1:  # only the first panel of a row has an axis
        wide = (PAGE - MARGIN - columns * APART) // columns
    room = room_for(names)
    last = parts[columns - 1 :: columns]  # of each full row of panels
    labelled = color != column and not dash and 0 < len(names) <= MOST_LABELS
    if labelled and column:
        labelled = room <= MOST_ROOM * wide and all(
            len(_ends(rows.shown[part], x, y, color)) == len(names) for part in last
        )
    if labelled and not column:
        wide = min(wide, max(PAGE - MARGIN - room, WIDTH))
    elif labelled and width is None:
        wide -= max(0, room - APART // 2) // columns  # a row of panels leaves a little at its end
    most = min(6, max(2, int(wide // TICK)))
    along = rows.shown[x].dropna().to_numpy(float)
    if along.size and not log_x and (along % 1 == 0).all():
        most = min(most, max(1, int(np.ptp(along))))  # no half months
    ticks = axis(tickCount=most)
    scale = alt.Scale(zero=False)
    if log_x:
        base = 2 if log_x is True else log_x
        first, last = (round(np.log(end) / np.log(base)) for end in (along.min(), along.max()))
        scale = alt.Scale(type="log", base=base, nice=False)
        ticks = axis(tickCount=most) if base == 2 else axis(values=[base**power for power in range(first, last + 1)])
    horizontal = alt.X(f"{x}:Q", title=AXES.get(x, x), scale=scale, axis=ticks)
    upright = vertical(values, log)
    if column and not log:  # ticks at both ends of each axis, or headings of panels would stand at different heights
        upright = {"scale": {**upright["scale"], "nice": TICKS}, "axis": {**upright["axis"], "tickCount": TICKS}}
    vertically = alt.Y(f"{y}:Q", title=AXES.get(y, y), **upright)
    colour = coloured(color, names, columns=min(4 * columns, beside(names, wide * columns)))
    if labelled or color == column:  # a panel's head names its line
        colour["legend"] = None
    place = {"x": horizontal, "color": colour}
    about_line = [alt.Tooltip(f"{name}:N") for name in filter(None, (color, dash))]
    tooltip = [
        *about_line,
        alt.Tooltip(f"{x}:Q", title=AXES.get(x, x), format=".3~g"),
        alt.Tooltip(f"{y}:Q", title=AXES.get(y, y), format=",.4~g"),
        *rows.tips("", ",.4~g", range_label),
    ]
    path = having(y).mark_line(strokeWidth=2).encode(y=vertically, **place, tooltip=tooltip)
    points = having(y).mark_circle(size=36, opacity=1).encode(y=vertically, **place, tooltip=tooltip)
    if dash:
        options = list(dict.fromkeys(table[dash].map(str)))
        symbol = {"symbolType": "stroke", "symbolSize": 400}
        legend = alt.Legend(orient="bottom", columns=4 * columns, labelLimit=2 * WIDTH, **symbol)
        scale = alt.Scale(domain=options, range=dashes(options))
        path = path.encode(strokeDash=alt.StrokeDash(f"{dash}:N", title=dash, scale=scale, legend=legend))
    zero = _baseline(rows.shown, values, vertically, log, column)
    layers = [path, points, *zero, *range_layers(rows, range_label, vertically, x=horizontal)]
    if rows.interval:
        low, high_end = rows.drawn(rows.interval)
        shade = having(low, high_end).mark_area(opacity=0.2)
        # JupyterLab's Vega-Lite 5 would stack areas of several colours, or along x if y is logarithmic.
        flat = {"x": across(x, horizontal, stack=None), "y": across(low, vertically, stack=None)}
        shade = shade.encode(**flat, y2=alt.Y2(high_end), color=colour)
        layers.insert(0, shade.encode(detail=alt.Detail(f"{dash}:N")) if dash else shade)
    if rows.published:
        keys = [name for name in (color, x) if name in rows.keys]
        about = rows.published_tips([*map(alt.Tooltip, keys)], AXES.get(y, y), ",.4~g")
        under, over = published_layers(rows, vertically, about, **({"x": horizontal} if x in keys else {}))
        layers += [*under, *over]
        if {color, x} <= rows.keys and PUBLISHED in rows.published and len(names) > 1:
            heart = having(PUBLISHED).mark_circle(size=14, opacity=1)  # shows whose number it is
            layers.append(heart.encode(y=across(PUBLISHED, vertically), tooltip=about, **place))
    if labelled:
        named = [(part, place % columns == columns - 1) for place, part in enumerate(parts)]
        layers += _labels(rows.shown, named, common, x, y, color, high, log, horizontal, vertically, colour)
    layers += ring_layers(rows, vertically, about_line, AXES.get(y, y), ",.4~g", colour, x=horizontal)
    chart = alt.layer(*layers, data=rows.shown, width=round(wide), height=round(high))
    if column:
        header = _header(wide, "" if common or count == 1 else OWN_SCALE)
        facet = alt.Facet(f"{column}:N", title=None, sort=names_of_panels, header=header)
        chart = chart.facet(facet=facet, columns=columns, align="each")  # names widen the last column only
        chart = chart.resolve_scale(y="shared" if common else "independent")
        if count % columns:  # else the last row would draw a common axis below its empty cells, too
            chart = chart.resolve_axis(x="independent")
    return headed(chart, title, round(wide * columns), subtitle, CUT if rows.cut else "")


def _alike(values, log):
    """Tell whether one y axis, from zero unless it is logarithmic, serves all panels."""
    known = [part[np.isfinite(part)] for part in (part.to_numpy(float) for part in values)]
    known = [part for part in known if part.size]
    if log and any((part <= 0).any() for part in known):
        return False
    known = [np.log(part) if log else np.append(part, 0.0) for part in known]
    whole = np.ptp(np.concatenate(known)) if known else 0.0
    return all(np.ptp(part) >= ALIKE * whole for part in known)


def _header(wide, scale):
    """Head panels with their names and what is told of their scale: in a line if that fits, else in several."""
    beside, below = (f", {scale}", f"\\n{scale}") if scale else ("", "")
    # In brackets, since Vega-Lite puts a condition in place of `datum.label`.
    fits = f"length(datum.label) <= {wide // CHARACTER - len(beside):.0f}"
    # A name ends with brackets if it is that of a stand-in, for example, or tells a unit.
    several = f"split(replace(datum.label, ' (', '\\n(') + '{below}', '\\n')"
    return alt.Header(labelLimit=wide + 2 * APART, labelExpr=f"{fits} ? (datum.label) + '{beside}' : {several}")


def _baseline(rows, values, vertically, log, panel):
    """Mark zero in each panel if one has values on both sides of it: there a difference turns its sign."""
    if log or not any((part < 0).any() and (part > 0).any() for part in values):
        return []
    first = ~rows[panel].duplicated() if panel else np.arange(len(rows)) == 0
    rows[ZERO] = np.where(first, 0.0, np.nan)
    return [having(ZERO).mark_rule(color=INK, opacity=0.5).encode(y=across(ZERO, vertically))]


def _ends(rows, x, y, color):
    """Return the last row of each line, the lowest line first."""
    known = rows[rows[y].notna()].sort_values(x, kind="stable")
    return known.groupby(color, sort=False).tail(1).sort_values(y, kind="stable")


def _labels(rows, parts, common, x, y, color, high, log, horizontal, vertically, colour):
    """Name each line at its end, in ink, which is readable where a colour is not; names that would touch move apart.

    A stroke in the line's colour stands before its name, since several lines may end at one place. `parts` are the rows
    of each panel, and whether its lines have names. Where they have none the names are empty: a layer without a row
    would leave a panel without its axis. With a `common` axis, names stand along that of all panels.
    """
    rows[LABEL], rows[NAME], rows[SHIFT] = np.nan, "", 0.0
    for part, named in parts:
        ends = _ends(rows.loc[part], x, y, color)
        rows.loc[ends.index, LABEL] = ends[y].astype(float)
        if named:
            values = rows.loc[slice(None) if common else part, y].dropna().to_numpy(float)
            rows.loc[ends.index, NAME] = ends[color]
            rows.loc[ends.index, SHIFT] = shifts(ends[y].to_numpy(float), values, log, high, LINE)
    return names_at_ends(having(LABEL), {"x": horizontal, "y": across(LABEL, vertically)}, colour)


def names_at_ends(base, place, colour) -> list[alt.Chart]:
    """Return the layers of names at the ends of lines: strokes in their colours, and texts, for the columns above."""
    stroke = base.mark_point(
        shape="stroke", strokeWidth=2, opacity=1, size=_if_named(STROKE**2), xOffset=_if_named(STROKE), yOffset=_SHIFT
    )
    label = base.mark_text(align="left", fontSize=12, color=INK, dx=_if_named(8 + STROKE), dy=_SHIFT)
    return [stroke.encode(**place, color=colour), label.encode(**place, text=alt.Text(f"{NAME}:N"))]


def room_for(names) -> float:
    """Return the width of names at the ends of lines, in pixels."""
    return CHARACTER * max(map(len, names), default=0) + SYMBOL + STROKE


def _if_named(pixels):
    """Give a mark some pixels where a line has a name; an empty name shall not widen a panel."""
    return {"expr": f"datum['{NAME}'] ? {pixels} : 0"}


def shifts(places, values, log, high, gap):
    """Return by how many pixels names at sorted places of an axis over some values move down, so as not to touch."""
    log = log and (values > 0).all()
    turn = np.log if log else np.asarray
    low, most = float(turn(values.min())), float(turn(values.max()))
    low, most = (low, most) if log else (min(low, 0), max(most, 0))
    upward = turn(places) / (((most - low) or 1) / high)
    return upward - spread(upward, gap)


def spread(places, gap):
    """Move sorted places as little as necessary so that neighbours are a gap apart.

    Places that touch become a group, which stays around the mean of what its members want.
    """
    groups = []
    for place in places:
        groups.append([place])
        while len(groups) > 1 and _first(groups[-1], gap) < _first(groups[-2], gap) + gap * len(groups[-2]):
            last = groups.pop()
            groups[-1] += last
    return np.concatenate([_first(group, gap) + gap * np.arange(len(group)) for group in groups])


def _first(group, gap):
    return np.mean(group) - gap * (len(group) - 1) / 2


@unchecked
def points(
    table: pd.DataFrame,
    x: str,
    y: str,
    label: str,
    *,
    range_label: str = "range",
    title: str = "",
    subtitle: str = "",
    width: float | None = None,
    height: float | None = None,
) -> alt.LayerChart:
    """Draw one measure against another, with a labelled point for each row.

    Parameters
    ----------
    table : DataFrame
        One row per point. Optional columns: ``{y}_low`` and ``{y}_high`` are drawn as an interval, which must contain
        y; another range goes into ``{y}_range_low`` and ``{y}_range_high``.
    x, y, label : str
        Columns; the label is written beside the point.
    range_label : str
        Name of the range in the legend.
    title, subtitle, width, height : optional
        The subtitle should name the traces; the name of a stand-in says that it is one.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1)
    >>> table = sl.sweep(trace, ["easy", "easy-sjf", "easy-sjbf", "conservative"], load=0.9)
    >>> title = "A low slowdown may cost capacity"
    >>> chart = sl.charts.points(table, "loss_of_capacity_share", "bounded_slowdown", "scheme", title=title, width=480)
    """
    rows = Rows(table, [x, y], y, [label])
    rows.contain(y)
    rows.in_hours(x, y)
    rows.shown[label] = rows.shown[label].astype(str)
    # From 30 pixels before the first point to 30 pixels after the last, so that the places of the points are known.
    first, last = float(rows.shown[x].min()), float(rows.shown[x].max())
    wide = width or 2 * WIDTH
    room = 30 * ((last - first) or 1) / (wide - 60)
    scale = alt.Scale(domain=[first - room, last + room], nice=False)
    along = alt.X(f"{x}:Q", title=AXES.get(x, x), scale=scale, axis=axis(tickCount=6))
    upward = alt.Y(f"{y}:Q", title=AXES.get(y, y), axis=axis())
    tooltip = [
        alt.Tooltip(f"{label}:N"),
        *(alt.Tooltip(f"{name}:Q", title=AXES.get(name, name), format=",.4~g") for name in (x, y)),
        *rows.tips("", ",.4~g", range_label),
    ]
    circles = alt.Chart().mark_circle(size=60, opacity=1, color=INK).encode(x=along, y=upward, tooltip=tooltip)
    rows.shown["side"] = _sides(rows, x, y, label, wide)
    labels = []
    for side in dict.fromkeys(rows.shown["side"]):
        text = alt.Chart().mark_text(fontSize=11, **SIDES[side]).transform_filter(f"datum.side == '{side}'")
        labels.append(text.encode(x=along, y=upward, text=alt.Text(f"{label}:N")))
    overlays = [*range_layers(rows, range_label, upward, x=along), *interval_layers(rows, upward, x=along)]
    chart = alt.layer(*overlays, circles, *labels, data=rows.shown, width=2 * WIDTH, height=HEIGHT)
    return headed(chart, title, 2 * WIDTH, subtitle, size=(width, height))


# Where the label of a point may stand: the first of these that covers no other point.
SIDES = {
    "right": {"align": "left", "dx": 9},
    "left": {"align": "right", "dx": -9},
    "above": {"align": "center", "dy": -13},
    "below": {"align": "center", "dy": 14},
}


def _sides(rows, x, y, label, wide):
    """Choose the side of each point for its label: one where it covers no point, range or label, if there is any."""
    table = rows.shown
    ends = table[[y, *rows.drawn([*rows.spread, *rows.interval])]].astype(float)
    low, high = ends.min(axis=1).to_numpy(), ends.max(axis=1).to_numpy()
    bottom, top = min(low.min(), 0.0), max(high.max(), 0.0)
    values = table[x].to_numpy(dtype=float)
    middle = 30 + (wide - 60) * (values - values.min()) / (np.ptp(values) or 1)
    upward, low, high = (HEIGHT * (end - bottom) / ((top - bottom) or 1) for end in (table[y].to_numpy(), low, high))
    chosen, taken = [], []
    for i, name in enumerate(table[label]):
        long = CHARACTER * len(name)
        places = {
            "right": (middle[i] + 9, middle[i] + 9 + long, upward[i]),
            "left": (middle[i] - 9 - long, middle[i] - 9, upward[i]),
            "above": (middle[i] - long / 2, middle[i] + long / 2, upward[i] + 13),
            "below": (middle[i] - long / 2, middle[i] + long / 2, upward[i] - 14),
        }
        others = np.arange(len(middle)) != i
        inside = {"above": high[i] < places["above"][2] - 7, "below": low[i] > places["below"][2] + 7}  # of its range
        free = (
            side
            for side, place in places.items()
            if inside.get(side, True)
            and place[0] > 0
            and place[1] < wide + SYMBOL
            and place[2] > 7  # otherwise the axis would cross it
            and not _covers(place, middle, low, high)[others].any()
            and not any(_overlap(place, other) for other in taken)
        )
        chosen.append(next(free, "right"))
        taken.append(places[chosen[-1]])
    return chosen


def _covers(place, middle, low, high):
    """Tell which points, with their ranges, a label at a place would cover, in pixels."""
    begin, end, line = place
    return (middle > begin - 6) & (middle < end + 6) & (low - 6 < line + 7) & (high + 6 > line - 7)


def _overlap(label, other):
    return label[0] < other[1] and other[0] < label[1] and abs(label[2] - other[2]) < 13
