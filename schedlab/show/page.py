"""How results are displayed: numbers with units, and the parts of a small page in a notebook.

Pages take the colours of the notebook around them, light or dark. Every word is escaped here.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from html import escape
from math import isfinite, isnan
from pathlib import Path
from zlib import crc32

import numpy as np

UNITS = ((86_400, "days"), (3_600, "h"), (60, "min"))
BINS = 280  # of a picture: one for two or three pixels
USED, QUEUED = "#3d8fd1", "#e69f00"  # visible on white and on black
STYLE = "color:var(--jp-ui-font-color1,inherit);line-height:1.5;overflow-x:auto"
FAINT = "color:var(--jp-ui-font-color2,inherit)"
CELL = "padding:.1em .8em .1em 0;border:none;background:none;white-space:nowrap"
BREAKS = "white-space:normal;min-width:24em;"
LONG = 60  # letters; a longer text in a table has line breaks where there is no room
NOTE = "border-left:3px solid #d55e00;padding-left:.5em"


def text_beside(place: str, name: str) -> str:
    """Return the text of a file, such as a style or a script, that lies beside another file."""
    return Path(place).with_name(name).read_text(encoding="utf-8")


def number(value: float) -> str:
    """Write a number with the digits that a reader needs, three or all before the point: "1,234", "0.123", "-" for nan.

    Examples
    --------
    >>> number(77205.4), number(0.123456), number(float("nan"))
    ('77,205', '0.123', '-')
    """
    if isnan(value):
        return "-"
    if not isfinite(value) or value == int(value) or abs(value) >= 999.5:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def interval(value: float, low: float, high: float, form: str = "{:.2f}") -> str:
    """Write down a value with its interval, if it has one; the unit appears once."""
    if np.isnan(value):
        return "-"
    text = formatted(value, form)
    if np.isnan([low, high]).any() or (low == value == high):
        return text
    unit = form.rpartition("}")[2]
    ends = (formatted(end, form).removesuffix(unit) for end in (low, high))
    return f"{text} [{' to '.join(ends)}]"


def formatted(value: float, form: str) -> str:
    """Write down a value, with more digits than its format if that would round it to zero."""
    text = re.sub(r"[+-]?\d(?:\.\d+)?e\+\d+", lambda match: without_exponent(match[0]), form.format(value))
    if re.search("[1-9]", text) or not np.isfinite(value):
        return text
    if not value:
        return re.sub("[+-]", "", text)
    places = re.search(r"\.\d+f", form)
    digits = int(np.ceil(-np.log10(abs(value))))
    return form.replace(places[0], f".{digits}f").format(value) if places else text


def without_exponent(digits: str) -> str:
    """Write a number that has an exponent without it.

    Examples
    --------
    >>> without_exponent("1.41e+03"), without_exponent("+6.5e-05")
    ('1,410', '+0.000065')
    """
    plain = np.format_float_positional(float(digits), trim="-", sign=digits.startswith("+"))
    return f"{float(digits):{'+' * digits.startswith('+')},.0f}" if "." not in plain else plain


def duration(seconds: float, like: float | None = None) -> str:
    """Write a duration in a readable unit, or in the unit of the duration `like`.

    Examples
    --------
    >>> duration(45), duration(7720.5), duration(2.6e6)
    ('45 s', '2.14 h', '30.1 days')
    """
    name, unit = unit_of(seconds if like is None else like)
    if unit == 1 or not isfinite(seconds):
        return f"{number(seconds)} s"
    value = seconds / unit
    return f"{value:,.0f} {name}" if abs(value) >= 1000 else f"{value:.3g} {name}"


def unit_of(seconds: float) -> tuple[str, int]:
    """Return the unit in which a duration is readable, and its seconds: ("h", 3600) for 7720.5."""
    return next(((name, unit) for unit, name in UNITS if abs(seconds) >= 2 * unit), ("s", 1))


def instant(moment) -> str:
    """Write a date, or a second of a log that has no dates."""
    return f"{moment:%Y-%m-%d %H:%M}" if hasattr(moment, "strftime") else f"{moment:,.0f} s"


def page(*parts: str) -> str:
    """Stack the parts of a page."""
    return f'<div class="schedlab-page" style="{STYLE}">{"".join(parts)}</div>'


def line(text: str, *, strong: str = "", faint: bool = False) -> str:
    """Return a line of text; the strong words come first."""
    strong += ":" * (bool(strong and text) and strong[-1].isalnum() and text[0].isupper())
    first = f"<b>{escape(strong)}</b> " * bool(strong)
    return f'<div style="{FAINT if faint else ""}">{first}{escape(text)}</div>'


def note(message: str) -> str:
    """Return a line that must not be overlooked."""
    return f'<div role="note" style="{NOTE}">{escape(message)}</div>'


def facts(values: Mapping[str, str], columns: int = 2) -> str:
    """Return names and values with this many pairs in a row, or fewer where there is no room for them."""
    pair = "display:flex;justify-content:space-between;gap:.8em;padding:.1em 0"
    pairs = "".join(
        f'<div style="{pair}"><span style="{FAINT}">{escape(name)}</span>'
        f'<span style="text-align:right">{escape(value)}</span></div>'
        for name, value in values.items()
    )
    grid = f"display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,18em),1fr));max-width:{21 * columns}em"
    style = f"{grid};column-gap:2.5em;margin:.3em 0;font-size:.9em;font-variant-numeric:tabular-nums"
    return f'<div style="{style}">{pairs}</div>'


def table(names: Iterable[str], rows: Iterable[Iterable[str]], texts: Collection[int] = (0,)) -> str:
    """Return a table; the columns at the places in `texts` hold text, the others numbers."""

    def cells(tag, values, style=""):
        parts = []
        for place, value in enumerate(values):
            side = "left" if place in texts else "right"
            breaks = BREAKS if len(value) > LONG else ""
            parts.append(f'<{tag} style="{CELL};{style};{breaks}text-align:{side}">{escape(value)}</{tag}>')
        return "".join(parts)

    head = cells("th", names, f"{FAINT};white-space:normal;vertical-align:bottom")
    body = "".join(f'<tr style="background:none">{row}</tr>' for row in (head, *(cells("td", row) for row in rows)))
    style = "margin:.3em 0;border-collapse:collapse;font-variant-numeric:tabular-nums"
    return f'<table style="{style}">{body}</table>'


def text(content: str) -> str:
    """Return preformatted text, such as a small table with aligned columns."""
    return f'<pre style="{STYLE};word-break:normal;background:none;margin:.3em 0">{escape(content)}</pre>'


def image(svg: str, label: str) -> str:
    """Return a picture with its alternative text, drawn in the ink of the page."""
    key = f"p{crc32(svg.encode()):08x}"  # the parts of each picture are named alike
    svg = re.sub(r'(id="|url\(#|href="#)', rf"\1{key}-", svg)
    return f'<div role="img" aria-label="{escape(label)}" style="max-width:100%;overflow-x:auto">{svg}</div>'


def folded(summary: str, *parts: str) -> str:
    """Return parts behind a line that opens them."""
    return f'<details><summary style="cursor:pointer">{escape(summary)}</summary>{"".join(parts)}</details>'


def means(time, values, bins: int | np.ndarray = BINS) -> np.ndarray:
    """Return the means of a step function over so many equal parts of its time, or between edges.

    The times are sorted, in seconds; each value holds from its time on, and the last is ignored.
    """
    time = np.asarray(time, dtype="float64")
    integral = np.append(0.0, np.cumsum(np.asarray(values, dtype="float64")[:-1] * np.diff(time)))
    edges = np.linspace(time[0], time[-1], bins + 1) if isinstance(bins, int) else bins
    return np.diff(np.interp(edges, time, integral)) / np.diff(edges)


def display(*parts) -> None:
    """Display parts of a result below one another in a notebook: pages as HTML, and charts."""
    from IPython.display import HTML, display  # here, since IPython takes a second that only notebooks should spend

    for part in parts:
        display(HTML(part) if isinstance(part, str) else part)


def picture(time, used, queued, procs: int, ends: tuple[str, str]) -> str:
    """Draw processors in use and the length of the queue over time, as one small SVG.

    States of a machine of `procs` processors, the dashed line, hold from each time until the next; `ends` are the
    labels at both ends of the time axis.
    """
    if time[0] == time[-1]:
        return ""
    busy, waiting = means(time, used), means(time, queued)
    most = max(procs, busy.max())
    dashed = f"of {procs:,} (dashed)" if busy.max() <= procs else f"over {procs:,} (dashed)"
    limit = 14 + _height(procs, 64, most)
    parts = [
        *_panel(14, 64, busy, most, USED, f"processors in use, {dashed}"),
        f'<line x1="0" x2="100%" y1="{limit}" y2="{limit}" stroke="currentColor" stroke-dasharray="5 3" opacity=".7"/>',
        *_panel(98, 44, waiting, max(waiting.max(), 1), QUEUED, f"jobs queued, mean up to {number(waiting.max())}"),
        f'<text x="0" y="157" opacity=".75">{escape(ends[0])}</text>',
        f'<text x="100%" y="157" text-anchor="end" opacity=".75">{escape(ends[1])}</text>',
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="processors in use and jobs queued over time" '
        f'width="100%" height="162" font-family="sans-serif" font-size="12" fill="currentColor" '
        f'style="display:block">{"".join(parts)}</svg>'
    )


def _panel(top, height, values, most, colour, name):
    """Return an area under its name; the area is stretched to the width of the page, the name is not."""
    path = "".join(f"V{_height(value, height, most)}h1" for value in values)
    yield f'<text x="0" y="{top - 3}">{escape(name)}</text>'
    stretched = f'viewBox="0 0 {values.size} {height}" preserveAspectRatio="none"'
    yield f'<svg y="{top}" width="100%" height="{height}" {stretched}>'
    yield f'<path d="M0 {height}{path}V{height}z" fill="{colour}"/></svg>'
    yield f'<line x1="0" x2="100%" y1="{top + height}" y2="{top + height}" stroke="currentColor" opacity=".5"/>'


def _height(value, height, most):
    return round(height * (1 - value / most), 1)
