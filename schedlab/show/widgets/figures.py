"""A drawn figure, as Vega-Lite: its setting below its title, and the lines from before a move."""

from textwrap import wrap

GHOST = {"strokeWidth": 1, "opacity": 0.6}  # of lines from before a move
CHARACTERS = 130  # of a line that says the setting
TITLE = 88  # characters of a line of a title
SMALL = 12  # size of its letters where nothing else is above the panels, in pixels


def ghosted(spec, before):
    """Return a figure of lines above those of another one with the same axes and schemes; else the figure itself."""
    line, former = (None if drawn is None else _line(drawn) for drawn in (spec, before))
    if None in (line, former) or spec == before or line["encoding"] != former["encoding"]:
        return spec
    places = {name: channel for name, channel in former["encoding"].items() if name in ("x", "y", "color")}
    ghost = {"data": before.get("data"), **former, "mark": {**former["mark"], **GHOST}, "encoding": places}
    return {**spec, "datasets": before["datasets"] | spec["datasets"], "layer": [ghost, *spec["layer"]]}


def _line(spec):
    """Return the layer of a figure with the lines of schemes; None if there is none."""
    layers = (layer for layer in spec.get("layer", ()) if isinstance(layer.get("mark"), dict))
    return next(
        (layer for layer in layers if layer["mark"].get("type") == "line" and "color" in layer["encoding"]), None
    )


def titled(spec, setting):
    """Return a figure with its setting below its title, which has several lines if it is long."""
    title = spec.get("title", {})
    title = title if isinstance(title, dict) else {"text": title}
    subtitle = title.get("subtitle", [])
    lines = [*([subtitle] if isinstance(subtitle, str) else subtitle), *wrap(setting, CHARACTERS)]
    if "text" not in title:  # panels with titles of their own
        return spec | {"title": {"text": lines, "fontWeight": "normal", "fontSize": SMALL}}
    text = title["text"]
    if isinstance(text, str) and len(text) > TITLE:
        text = wrap(text, TITLE)
    return spec | {"title": title | {"text": text, "subtitle": lines}}
