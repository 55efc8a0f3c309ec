"""Charts for print: as wide as a paper's columns, in its type size, and readable in grey."""

import math
import re
from numbers import Real

import numpy as np

from schedlab._runtime.text import spelt

from ._altair import VEGA_LITE, alt, converter, debug_mode
from .files import printed
from .palette import PRINTED
from .series import LABEL, NAME, SHIFT, shifts
from .sizes import in_lines

MM = 72 / 25.4  # points; a pixel of a chart is a point of its PDF
COLUMN, GUTTER = 85.0, 8.0  # columns of a two-column page, in millimetres
LETTER = 0.52  # width of a letter, as a share of its size
RATIO = 0.6  # least height of a plot, as a share of its width
NARROWEST = 80  # panel, in points
TICK = 6  # letters of width for each tick of a horizontal axis
LINE_GREYS, FILL_GREYS = (0, 165), (60, 220)  # of 255: the darkest and the lightest
DASHES = ((1, 0), (6, 2), (2, 2), (8, 2, 2, 2), (1, 2), (4, 4), (8, 2, 2, 2, 2, 2))
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "triangle-left")
DRAWN_THIN = {"line", "point", "circle", "square", "trail", "rule", "tick"}
NESTED = ("layer", "vconcat", "hconcat", "concat")
STROKE = 20  # length of a line in a legend, in points
LEADING, PADDING = 1.25, 8  # height of a line of text, as a share of its size; above and below the lines, in points
ROUNDS = 5  # attempts, after the first, to find the width of the plots: the axis labels change with it
STAND_IN = "stand-in"
HEX = re.compile("#[0-9a-fA-F]{6}")
HSL = re.compile(r"hsl\((\d+), (\d+)%, (\d+)%\)")


def paper_style(
    chart,
    columns: int = 1,
    *,
    font_size: float = 8,
    font: str = "sans-serif",
    grey: bool = True,
    title: bool = False,
    column_width: float = COLUMN,
    gutter: float = GUTTER,
):
    """Fit a chart to a paper: set its width and type size, and make it readable without colours.

    Lines get dashes and points get shapes, so that schemes can be told apart without colours. The chart names a
    stand-in even if its title is left out. Raises ValueError if the chart does not fit.

    Parameters
    ----------
    chart : altair chart
        Any that this package draws, or your own. It is not changed.
    columns : int
        How many columns of the page the chart fills, including axes and legends.
    font_size : float, points
        Size of axis and legend text in the printed figure.
    font : str
        Name of the font, such as ``"serif"`` or ``"Times New Roman"``.
    grey : bool
        Use greys instead of colours.
    title : bool
        Keep title and subtitle. In a paper they usually go into the caption.
    column_width, gutter : float, millimetres
        Measures of the page. The defaults fit most two-column journals.

    Returns
    -------
    altair chart
        A copy. `save` writes it; a PDF then has the stated width.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=300, seed=1)
    >>> drawn = sl.charts.lines(sl.sweep(trace, ["easy", "fcfs"], load=[0.6, 0.7, 0.8]), "load", "wait_time")
    >>> chart = sl.charts.paper_style(drawn, columns=1, font_size=8)
    """
    if not isinstance(chart, alt.TopLevelMixin):
        raise TypeError(f"chart is a {type(chart).__name__}, expected an Altair chart")
    sizes = {"columns": columns, "font_size": font_size, "column_width": column_width, "gutter": gutter}
    for name, value in sizes.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < math.inf:
            raise ValueError(f"{name} must be a number above 0, got {spelt(value)}")
    spec = printed(chart.to_dict())
    spec["config"] = _look(font, font_size)
    _retitle(spec, title, font_size)
    _name_in_legend(spec)
    views = list(_views(spec))
    thin = any(_mark(view)["type"] in DRAWN_THIN for view in views if "mark" in view and _names(view))
    shaped = any(_mark(view)["type"] == "circle" for view in views if "mark" in view and _names(view))
    for view in views:
        if shaped and "layer" in view:  # otherwise dashes would be drawn around the shapes of the legend
            view["resolve"] = {"legend": {"strokeDash": "independent"}, **view.get("resolve", {})}
        _tell_apart(view, font_size, shaped)
        _encode(view, grey, thin)
    if grey:
        _without_colours(spec)
    _fit(spec, (columns * column_width + (columns - 1) * gutter) * MM, font_size)
    with debug_mode(False):
        return type(chart).from_dict(spec)


def _look(font, size):
    ink = {"labelColor": PRINTED, "titleColor": PRINTED, "labelFontSize": size, "titleFontSize": size}
    return {
        "font": font,
        "background": "white",
        "padding": 1,
        "view": {"stroke": None},
        "axis": {
            **ink,
            "titleFontWeight": "normal",
            "titlePadding": 3,
            "labelPadding": 2,
            "tickSize": 3,
            "gridColor": "#E4E4E4",
            "gridWidth": 0.5,
            "domainColor": "#666666",
            "tickColor": "#666666",
            "domainWidth": 0.6,
            "tickWidth": 0.6,
        },
        "legend": {
            **ink,
            "titleFontWeight": "normal",
            "symbolSize": 40,
            "offset": 6,
            "rowPadding": 1,
            "columnPadding": 8,
        },
        "title": {"fontSize": size + 1, "subtitleFontSize": size, "anchor": "start", "color": PRINTED, "offset": 4},
        "header": {"labelFontSize": size, "titleFontSize": size, "labelColor": PRINTED, "labelPadding": 3},
        "text": {"color": PRINTED, "fontSize": size},
    }


def _retitle(spec, keep, size):
    """Remove the title except the lines that name a stand-in, or fit it to the type size."""
    heading = spec.pop("title", None)
    if not heading:
        return
    heading = heading if isinstance(heading, dict) else {"text": heading}
    lines = heading.get("subtitle") or []
    lines = [lines] if isinstance(lines, str) else list(lines)
    if keep:
        spec["title"] = {"text": heading["text"], "subtitle": lines}
    elif named := [line for line in (heading["text"], *lines) if STAND_IN in str(line)]:
        spec["title"] = {"text": named, "fontSize": size, "fontWeight": "normal"}


def _views(spec):
    """Yield all views, from the whole chart down to its parts."""
    yield spec
    for name in NESTED:
        for part in spec.get(name, ()):
            if isinstance(part.get("title"), dict):
                part["title"].pop("fontSize", None)
            yield from _views(part)
    if "spec" in spec:
        yield from _views(spec["spec"])


def _mark(view):
    return view["mark"] if isinstance(view["mark"], dict) else {"type": view["mark"]}


def _names(view):
    """Return the names that the colours of a view stand for, if they stand for names."""
    colour = view.get("encoding", {}).get("color", {})
    return (colour.get("scale") or {}).get("domain") if colour.get("type") == "nominal" else None


def _name_in_legend(spec):
    """Give panels a legend instead of names at the ends of lines: a page may have room for fewer panels in a row."""
    for plot in [view["spec"] for view in _views(spec) if "facet" in view and "layer" in view["spec"]]:
        layers = [part for part in plot["layer"] if part["encoding"].get("y", {}).get("field") != LABEL]
        if len(layers) < len(plot["layer"]):
            plot["layer"] = layers
            for colour in [part["encoding"]["color"] for part in layers if _names(part)]:
                colour["legend"] = {"orient": "bottom", "symbolOpacity": 1}


def _tell_apart(view, size, shaped):
    """Give dashes to lines and shapes to points, according to their colours; the legend shows the shapes, if any."""
    if "mark" not in view:
        return
    view["mark"] = mark = dict(_mark(view))
    encoding, names = view.get("encoding", {}), _names(view)
    colour = encoding.get("color", {})
    if mark["type"] == "text":
        mark["fontSize"] = min(size, mark.get("fontSize", size))
    elif mark["type"] == "line":
        mark["strokeWidth"] = 1.2
        if names and "strokeDash" not in encoding:
            encoding["strokeDash"] = _like(colour, [list(DASHES[i % len(DASHES)]) for i in range(len(names))])
            if shaped:
                encoding["strokeDash"]["legend"] = None
    elif mark["type"] == "circle" and "size" not in encoding:
        mark["size"] = min(mark.get("size", 22), 22)
        if names:
            mark |= {"type": "point", "filled": True}
            encoding["shape"] = _like(colour, [SHAPES[i % len(SHAPES)] for i in range(len(names))])


def _like(colour, values):
    """Encode what a colour stands for by another channel, in the same legend."""
    return {**colour, "scale": {"domain": colour["scale"]["domain"], "range": values}}


def _encode(view, grey, thin):
    """Replace the colours of a view by greys, and give its legends their symbols."""
    for channel in ("color", "fill", "stroke"):
        encoding = view.get("encoding", {}).get(channel)
        if not grey or not isinstance(encoding, dict) or "field" not in encoding or encoding.get("scale", {}) is None:
            continue  # without a scale, the data hold the colours
        scale = dict(encoding.get("scale", {}))
        if encoding["type"] in ("nominal", "ordinal") and "domain" in scale:
            darkest, lightest = LINE_GREYS if thin else FILL_GREYS
            scale["range"] = [_grey(light) for light in np.linspace(darkest, lightest, len(scale["domain"]))]
        else:
            scale = {**{name: value for name, value in scale.items() if name != "range"}, "scheme": "greys"}
        encoding["scale"] = scale


def _grey(light):
    return f"#{round(light):02X}" + 2 * f"{round(light):02X}"


def _without_colours(part):
    """Turn the colours of single marks into greys of the same lightness."""
    pairs = part.items() if isinstance(part, dict) else enumerate(part)
    for key, value in list(pairs):
        if key == "scale":
            continue
        if isinstance(value, dict | list):
            _without_colours(value)
        elif isinstance(value, str) and (light := _lightness(value)) is not None:
            part[key] = _grey(light)


def _lightness(colour):
    """Return the lightness of a colour, out of 255; None if it is not a colour."""
    if HEX.fullmatch(colour):
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue
    if match := HSL.fullmatch(colour):
        return 255 * int(match[3]) / 100
    return None


# -- size ------------------------------------------------------------------------------------------------


def _fit(spec, width, size):
    """Make the whole chart as wide as requested: fit legends and labels first, then the plots."""
    for view in _views(spec):
        _break_titles(view, width, size)
        encoding = view.get("encoding", {})
        for channel in encoding.values():
            if isinstance(channel, dict) and isinstance(channel.get("legend"), dict):
                _narrow(channel, width, size)
                if channel["field"] != encoding.get("color", channel).get("field"):  # two legends would be side by side
                    channel["legend"]["orient"] = "top"
        if "facet" in view and view.get("columns", 1) > 1:
            view["columns"] = max(1, min(view["columns"], int(width // (NARROWEST + 4 * size))))
            view.setdefault("resolve", {}).setdefault("axis", {})["x"] = "independent"  # none below empty cells
    missing = width - _width(spec)
    for _ in range(ROUNDS):
        if 0 <= missing < _across(spec) or abs(missing) < 0.1:
            break
        _widen(spec, missing)
        missing = width - _width(spec)
    _spread_names(spec, size)
    if missing <= -0.1:
        needs = f"{(width - missing) / MM:.0f} mm, expected at most {width / MM:.0f} mm"
        raise ValueError(f"the chart needs {needs}: give it more columns, a smaller font, or fewer panels")


def _spread_names(spec, size):
    """Move names at the ends of lines apart again, since the chart may be less high than it was."""
    for view in _views(spec):
        parts = [part.get("encoding", {}).get("y", {}) for part in view.get("layer", ())]
        values = next((y for y in parts if y.get("field") not in (None, LABEL) and "scale" in y), None)
        rows = spec.get("datasets", {}).get(view.get("data", spec.get("data", {})).get("name"), ())
        ends = sorted((row for row in rows if row.get(NAME)), key=lambda row: row[LABEL])
        if not ends or values is None or not isinstance(view.get("height"), Real):
            continue
        every = np.array([row[values["field"]] for row in rows if row.get(values["field"]) is not None], float)
        log, high = values["scale"].get("type") == "log", max(view["height"] - 2 * PADDING, 1)
        moved = shifts(np.array([row[LABEL] for row in ends], float), every, log, high, LEADING * size)
        for row, pixels in zip(ends, moved, strict=True):
            row[SHIFT] = float(pixels)


def _width(spec):
    as_drawn = alt.utils.update_nested(alt.theme.get()(), spec, copy=True)
    drawn = converter().vegalite_to_svg(as_drawn, vl_version=VEGA_LITE)
    return float(re.search(r'width="([0-9.]+)"', drawn)[1])


def _widen(spec, missing):
    """Give the missing width to the plots that stand side by side."""
    views = [view for view in _views(spec) if isinstance(view.get("width"), Real)]
    across = _across(spec)
    for view in views:
        before = view["width"]
        view["width"] = max(before + missing / across, 20)
        if across > 1:  # the width of panels is rounded up to whole pixels
            view["width"] = math.floor(view["width"])
        if isinstance(view.get("height"), Real):
            shrunk = view["height"] * view["width"] / before
            view["height"] = min(view["height"], max(shrunk, RATIO * view["width"]))


def _across(spec):
    """Return the number of plots that stand side by side."""
    if "hconcat" in spec:
        return sum(map(_across, spec["hconcat"]))
    if "concat" in spec:
        return min(spec.get("columns", len(spec["concat"])), len(spec["concat"]))
    if "vconcat" in spec:
        return max(map(_across, spec["vconcat"]))
    return spec.get("columns", 1) if "facet" in spec else 1


def _break_titles(view, width, size):
    """Break axis titles that are longer than the axis."""
    high = view.get("height")
    for name, long in (("x", width - 40), ("y", min(high, RATIO * width) if isinstance(high, Real) else width / 2)):
        encoding = view.get("encoding", {}).get(name)
        if not isinstance(encoding, dict):
            continue
        if isinstance(encoding.get("title"), str):
            encoding["title"] = in_lines(encoding["title"], max(12, int(long / (LETTER * size)))) or encoding["title"]
        axis = encoding.get("axis")
        if name == "x" and isinstance(axis, dict) and isinstance(axis.get("tickCount"), Real):
            axis["tickCount"] = min(axis["tickCount"], max(2, int(width // (TICK * size))))


def _narrow(encoding, width, size):
    """Limit the columns of a legend to the available width."""
    names = (encoding.get("scale") or {}).get("domain") or ()
    longest = max((len(str(name)) for name in names), default=8)
    column = LETTER * size * longest + 22
    beside = LETTER * size * len(encoding.get("title") or "") + 6
    if beside < width / 4:
        encoding["legend"] = {**encoding["legend"], "titleOrient": "left"}
        width -= beside
    encoding["legend"] = {**encoding["legend"], "columns": max(1, min(len(names) or 1, int(width // column)))}
    encoding["legend"]["labelLimit"] = width - 22
    encoding["legend"].pop("symbolSize", None)
    if encoding["legend"].get("symbolType") == "stroke":
        encoding["legend"]["symbolSize"] = STROKE**2
