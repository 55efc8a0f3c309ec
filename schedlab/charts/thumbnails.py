"""Small pictures of charts, for walls: the first panel, without words."""

import json
import re

from ._altair import VEGA_LITE, converter
from .theme import specified

BARE = {"labels": False, "title": None, "ticks": False, "grid": False}
# What Vega writes for grounds and marks without extent, and values that hold anyway.
INVISIBLE = r'<path d="(?:M0,0h0v0h0Z)?"[^>]*/>| pointer-events="none"| transform="translate\(0,0\)"| opacity="1"'
PLACES = ("x", "y", "x2", "y2", "xOffset", "yOffset", "theta", "radius")


def thumbnail(chart, width: int = 200, height: int = 84) -> str:
    """Return the first panel of a chart as a small SVG without words.

    Parameters
    ----------
    chart : altair chart
        Any that this package draws.
    width, height : int
        Pixels.

    Examples
    --------
    >>> import schedlab as sl
    >>> table = sl.sweep(sl.model_trace("lublin", jobs=500, machine=64, seed=1), ["fcfs", "easy"], load=[0.5, 0.7])
    >>> sl.charts.thumbnail(sl.charts.lines(table, "load", "wait_time"))[:4]
    '<svg'
    """
    spec = json.loads(json.dumps(specified(chart)))
    view = {"data": spec.get("data"), **_first(spec)}
    for name in ("title", "params", "resolve"):
        view.pop(name, None)
    _strip(view)
    view |= {name: spec[name] for name in ("$schema", "datasets") if name in spec}
    view |= {"width": width, "height": height, "padding": 2, "background": None}
    view["config"] = {"view": {"stroke": None}, "axis": {**BARE, "domainOpacity": 0.4}, "legend": {"disable": True}}
    svg = converter().vegalite_to_svg(json.dumps(view), vl_version=VEGA_LITE)
    svg = re.sub(r' (aria-[a-z]+|role|class|data-[a-z]+)="[^"]*"', "", svg)
    svg = re.sub(r"(\d+\.\d)\d+", r"\1", svg)
    ground = f'<path d="M0,0h{width}v{height}h-{width}Z"/>'
    svg = re.sub(INVISIBLE, "", svg.replace(ground, ""))
    return re.sub(r'<svg ([^>]*?) width="[^"]*" height="[^"]*"', r'<svg preserveAspectRatio="none" \1', svg, count=1)


def _first(spec):
    """Return the first panel of a chart that may have several."""
    for kind in ("vconcat", "hconcat", "concat"):
        if kind in spec:
            return {"data": spec.get("data"), **_first(spec[kind][0])}
    if "facet" in spec:
        facet = spec["facet"].get("row") or spec["facet"].get("column") or spec["facet"]
        panels = facet.get("sort") or [None]
        view = {"data": spec.get("data"), **_first(spec["spec"])}
        if isinstance(panels, list) and panels[0] is not None:
            chosen = {"filter": f"datum[{json.dumps(facet['field'])}] === {json.dumps(panels[0])}"}
            view["transform"] = [chosen, *spec.get("transform", []), *view.get("transform", [])]
        return view
    return dict(spec)


def _strip(view):
    """Leave out words: labels, titles, legends, tooltips, and marks that are text or stand beside it."""
    layers = [layer for layer in view.get("layer", []) if not _is_text(layer)]
    if layers:
        view["layer"] = layers
    for layer in layers:
        _strip(layer)
    view.pop("width", None), view.pop("height", None)
    encoding = view.get("encoding", {})
    for name in ("tooltip", "href", "row", "column", "facet"):
        encoding.pop(name, None)
    for name, channel in encoding.items():
        if isinstance(channel, dict):
            channel.pop("title", None)
            if name in ("x", "y"):
                channel["axis"] = {**BARE, "domainOpacity": 0.4}
            elif name not in PLACES and "field" in channel:
                channel["legend"] = None


def _is_text(layer):
    """Tell whether a layer is text, or stands beside it."""
    mark = layer.get("mark", "")
    return "xOffset" in mark or (mark.get("type") if isinstance(mark, dict) else mark) == "text"
