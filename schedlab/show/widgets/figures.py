"""A drawn figure, as Vega-Lite: its setting below its title, and the lines from before a move."""

from textwrap import wrap

GHOST = {"strokeWidth": 1, "opacity": 0.6}  # of lines from before a move
CHARACTERS = 130  # of a line that says the setting
TITLE = 88  # characters of a line of a title
SMALL = 12  # size of its letters where nothing else is above the panels, in pixels


def ghosted(spec, before):
    """Return a figure of lines above those of another one with the same axes and schemes; else the figure itself."""
    both = (spec, before)
    if None in both or spec == before or any(not isinstance(drawn.get("mark"), dict) for drawn in both):
        return spec
    if any(drawn["mark"].get("type") != "line" for drawn in both) or spec["encoding"] != before["encoding"]:
        return spec
    places = {name: channel for name, channel in before["encoding"].items() if name in ("x", "y", "color")}
    ghost = {"data": before["data"], "mark": {**before["mark"], **GHOST}, "encoding": places}
    lines = {name: spec[name] for name in ("data", "mark", "encoding")}
    rest = {name: part for name, part in spec.items() if name not in lines}
    return {**rest, "datasets": before["datasets"] | spec["datasets"], "layer": [ghost, lines]}


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
