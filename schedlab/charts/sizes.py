"""How wide and high charts and their parts are, in pixels."""

import math
import re
from numbers import Real
from textwrap import wrap

from ._altair import alt
from .checks import check_size

WIDTH, HEIGHT = 240, 220  # of one of three panels, in pixels
WIDE = 720  # width of a chart that fills the page
PAGE = 924  # width available in a notebook next to the file list, on a screen 1366 pixels wide, axes included
ACROSS = 3  # most panels side by side
MARGIN = 97  # beside a panel: its axis, with labels of up to seven letters, and the gap to the next panel
CHARACTER = 7  # width of a letter in a label, in pixels
SYMBOL = 16  # symbol of a legend, with the gap to its label
PADDING = 10  # around a chart, in pixels
GAP = 20  # between panels
LEGENDS = ("color", "size", "strokeWidth", "strokeDash", "stroke", "shape", "opacity")  # channels that have a legend
CHARACTERS = 48  # letters of a subtitle in a width of WIDTH pixels


def resized(chart, width: float | None = None, height: float | None = None):
    """Return a copy of a chart in another size.

    Parameters
    ----------
    chart : altair chart
        It is not changed.
    width, height : float, optional
        Size of the plot in pixels, or of all panels together; titles, axes and legends are added to it. Default:
        unchanged.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1).scale_load(0.8)
    >>> drawn = sl.charts.distribution([sl.simulate(trace, "easy"), sl.simulate(trace, "easy-sjf")], "wait_time")
    >>> chart = sl.charts.resized(drawn, width=560, height=140)
    """
    return resize(chart.copy(), width, height)


def resize(chart, width, height):
    """Change the size of a chart in place."""
    check_size(width, height)
    if width is None and height is None:
        return chart
    wide, high = extent(chart)
    _scale(chart, 1 if width is None else width / wide, 1 if height is None else height / high)
    title = chart.title
    if width is not None and isinstance(title, dict) and title.get("subtitle"):
        chart.title = {**title, "subtitle": wrapped(title["subtitle"], width)}
    return chart


def _scale(chart, across, down):
    for part in parts(chart):
        _scale(part, across, down)
    if not parts(chart):
        wide, high = extent(chart)
        chart.width, chart.height = round(wide * across), round(high * down)


def parts(chart):
    """Return the charts that make up a chart; none if it has a single plot."""
    return [chart.spec] if isinstance(chart, alt.FacetChart) else [part for row in _rows(chart) for part in row]


def _rows(chart):
    """Return the charts of each row, if charts are placed side by side or below one another."""
    if isinstance(chart, alt.HConcatChart):
        return [chart.hconcat]
    if isinstance(chart, alt.VConcatChart):
        return [[part] for part in chart.vconcat]
    if not isinstance(chart, alt.ConcatChart):
        return []
    columns = chart.columns if isinstance(chart.columns, int) else len(chart.concat)
    return [chart.concat[i : i + columns] for i in range(0, len(chart.concat), columns)]


def plots_across(chart):
    """Return the number of plots side by side."""
    if isinstance(chart, alt.FacetChart):
        return _grid(chart)[0]
    return max((sum(map(plots_across, row)) for row in _rows(chart)), default=1)


def extent(chart):
    """Return width and height of the plot, or of all plots together."""
    if isinstance(chart, alt.FacetChart):
        columns, rows = _grid(chart)
        wide, high = extent(chart.spec)
        return columns * wide, rows * high
    sizes = [[extent(part) for part in row] for row in _rows(chart)]
    if not sizes:
        return tuple(size if isinstance(size, Real) else 300 for size in (chart.width, chart.height))
    return max(sum(wide for wide, _ in row) for row in sizes), sum(max(high for _, high in row) for row in sizes)


def _grid(chart):
    """Return the number of columns and rows of a chart with panels."""
    facet = chart.facet
    if isinstance(facet, alt.FacetMapping):
        return tuple(_values(chart, part) if part is not alt.Undefined else 1 for part in (facet.column, facet.row))
    count = _values(chart, facet)
    columns = min(count, chart.columns) if isinstance(chart.columns, int) else count
    return columns, -(-count // columns)


def _values(chart, field):
    if isinstance(field["sort"], list):
        return len(field["sort"])
    return chart.data[field["shorthand"].rpartition(":")[0] or field["shorthand"]].nunique()


def panels(count: int, width: float | None, height: float | None) -> tuple[int, float, float]:
    """Lay out panels that have a width and height together: how many side by side, and how wide and high each is."""
    columns = count if count <= ACROSS else 2 if count == 4 else ACROSS
    wide = (PAGE - columns * MARGIN) // columns if count > 1 else WIDE
    wide = wide if width is None else width / columns
    return columns, wide, HEIGHT if height is None else height / -(-count // columns)


def beside(names: list[str], width: float) -> int:
    """Return the number of legend labels that fit side by side."""
    return max(1, int(width // (max(map(len, names), default=0) * CHARACTER + SYMBOL)))


def in_lines(text: str, letters: int) -> list[str]:
    """Break the title of an axis into lines of so many letters, but not within short brackets: "(tau = 10 s)"."""
    whole = re.sub(r"\([^()]{1,14}\)", lambda match: match[0].replace(" ", "\u00a0"), text)
    return [line.replace("\u00a0", " ") for line in wrap(whole, letters)]


def wrapped(lines, width):
    characters = max(20, int(CHARACTERS * width / WIDTH))
    return [part for line in lines for part in wrap(line, characters, break_on_hyphens=False)]


def height_of(spec: dict) -> float:
    """Estimate the height of a chart in pixels, including titles, axes and legends.

    Parameters
    ----------
    spec : dict
        The chart as Vega-Lite, ``chart.to_dict()``.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1)
    >>> low, high = (sl.charts.heatmap(trace, height=height) for height in (200, 300))
    >>> round(sl.charts.height_of(high.to_dict()) - sl.charts.height_of(low.to_dict()))
    100
    """
    return 2 * PADDING + 12 + _heading(spec) + _plots(spec, set())


def _heading(spec):
    """Estimate the height of a title with its subtitle."""
    title = spec.get("title")
    if not title:
        return 0
    title = title if isinstance(title, dict) else {"text": title}
    text = title.get("text", "")
    lines = 1 if isinstance(text, str) else len(text)
    offset = title.get("offset", 0) if text else 0
    return lines * title.get("fontSize", 15) + offset + 9 + 13 * len(title.get("subtitle") or ())


def _plots(spec, counted):
    """Estimate the height of the plots of a chart with axes and legends, except legends counted before."""
    kind = next((name for name in ("vconcat", "hconcat", "concat") if name in spec), None)
    if kind:
        heights = [_heading(part) + _plots(part, counted) for part in spec[kind]]
        across = {"vconcat": 1, "hconcat": len(heights)}.get(kind) or spec.get("columns", len(heights))
        rows = [max(heights[i : i + across]) for i in range(0, len(heights), across)]
        return sum(rows) + spec.get("spacing", GAP) * (len(rows) - 1)
    if "spec" in spec:
        rows = -(-len(spec["facet"].get("sort") or [0]) // spec.get("columns", 1)) if "facet" in spec else 1
        return rows * (_plots(spec["spec"], counted) + GAP + 16) - GAP
    height = spec.get("height", 300)
    encodings = [part.get("encoding", {}) for part in (spec, *spec.get("layer", ()))]
    legends = {_legend(name, channel) for encoding in encodings for name, channel in encoding.items()}
    legends -= {None} | counted
    counted |= legends
    below = max((_below(encoding["x"]) for encoding in encodings if "x" in encoding), default=0)
    return (height if isinstance(height, Real) else 300) + below + max((high for *_, high in legends), default=0)


def _legend(name, channel):
    """Return title, values and height of a channel's legend; None if it has none."""
    scale, legend = (channel.get(part, {}) if isinstance(channel, dict) else None for part in ("scale", "legend"))
    if name not in LEGENDS or scale is None or legend is None or "field" not in channel:
        return None
    values = scale.get("domain", ())
    title = channel.get("title", channel["field"])
    rows = -(-len(values) // legend.get("columns", max(1, len(values)))) if channel.get("type") == "nominal" else 2
    return str(title), str(values), 18 + 17 * bool(title) + 17 * rows


def _below(x):
    """Estimate the height of a horizontal axis."""
    axis = x.get("axis", {})
    if axis is None or not axis.get("labels", True):
        return 0
    longest = max(map(len, map(str, x.get("sort") or ())), default=0)
    turned = longest * CHARACTER * abs(math.sin(math.radians(axis.get("labelAngle", 0))))
    return 22 + turned + 17 * bool(x.get("title", True))
