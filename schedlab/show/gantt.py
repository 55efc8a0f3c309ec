"""A small Gantt chart in a page: which jobs held which processors, in a few colours with meanings."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT, LEFT, TOP = 720, 220, 44, 8  # of the picture and its margins, in pixels
LETTER, LINE = 6.5, 12  # width and height of a digit, in pixels
SWATCH = 10


class Bar(NamedTuple):
    """A rectangle: processors [low, high) during [begin, end), in seconds.

    Attributes
    ----------
    begin, end : float
    low, high : int
    kind : str
        One of the meanings of colours.
    label : str
        Written into the bar if there is room.
    words : str
        Shown as a tooltip.
    """

    begin: float
    end: float
    low: int
    high: int
    kind: str
    label: str
    words: str


def gantt(
    bars: Iterable[Bar],
    window: tuple[float, float],
    procs: int,
    colours: Mapping[str, str],
    marks: Mapping[float, str],
    ends: tuple[str, str],
    words: str,
) -> str:
    """Draw a Gantt chart as one small SVG.

    Parameters
    ----------
    bars : iterable of Bar
        What holds processors.
    window : (begin, end), seconds
        Span of the time axis; bars are cut there.
    procs : int
        Of the machine.
    colours : mapping of str to str
        The meanings and their colours, for the legend.
    marks : mapping of float to str
        Instants to mark with a line, and the label above each.
    ends : (str, str)
        Labels at both ends of the time axis.
    words : str
        Alternative text, for readers who cannot see the chart.
    """
    begin, end = window
    below = TOP + LINE + HEIGHT

    def x(second):
        return LEFT + (WIDTH - LEFT) * (min(max(second, begin), end) - begin) / (end - begin)

    def y(proc):
        return below - HEIGHT * proc / procs

    parts = []
    for bar in bars:
        left, right, top, bottom = x(bar.begin), x(bar.end), y(bar.high), y(bar.low)
        right = max(right, left + 1)  # so that a job of zero length is visible
        thin = min(right - left, bottom - top) < 3  # a border would hide it
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" '
            f'fill="{colours[bar.kind]}" stroke="{"none" if thin else "white"}" stroke-width=".5">'
            f"<title>{escape(bar.words)}</title></rect>"
        )
        if right - left > LETTER * len(bar.label) + 2 and bottom - top > LINE:
            middle = f'x="{(left + right) / 2:.1f}" y="{(top + bottom) / 2 + 4:.1f}" text-anchor="middle"'
            parts.append(f'<text {middle} fill="black" pointer-events="none">{escape(bar.label)}</text>')
    free_from = 0.0  # labels do not overlap
    for second, name in marks.items():
        place, anchor = x(second), "end" if x(second) > WIDTH - LETTER * len(name) else "start"
        written = place if anchor == "end" else max(place, free_from)
        free_from = written + LETTER * (len(name) + 1)
        parts.append(
            f'<line x1="{place:.1f}" x2="{place:.1f}" y1="{TOP + LINE}" y2="{below}" stroke="currentColor" '
            f'stroke-dasharray="4 3"/><text x="{written:.1f}" y="{TOP + LINE - 4}" text-anchor="{anchor}">'
            f"{escape(name)}</text>"
        )
    parts += [
        f'<path d="M{LEFT} {TOP + LINE}V{below}H{WIDTH}" fill="none" stroke="currentColor" opacity=".5"/>',
        f'<text x="{LEFT - 4}" y="{below}" text-anchor="end">0</text>',
        f'<text x="{LEFT - 4}" y="{TOP + LINE + 9}" text-anchor="end">{procs:,}</text>',
        f'<text transform="translate(12 {below - HEIGHT / 2}) rotate(-90)" text-anchor="middle">processors</text>',
        f'<text x="{LEFT}" y="{below + 15}">{escape(ends[0])}</text>',
        f'<text x="{WIDTH}" y="{below + 15}" text-anchor="end">{escape(ends[1])}</text>',
    ]
    place = LEFT
    for kind, colour in colours.items():
        parts.append(
            f'<rect x="{place}" y="{below + 26}" width="{SWATCH}" height="{SWATCH}" fill="{colour}"/>'
            f'<text x="{place + SWATCH + 4}" y="{below + 35}">{escape(kind)}</text>'
        )
        place += SWATCH + 22 + round(LETTER * len(kind))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(words)}" width="{WIDTH}" '
        f'height="{below + 42}" viewBox="0 0 {WIDTH} {below + 42}" font-family="sans-serif" font-size="11" '
        f'fill="currentColor" style="max-width:100%">{"".join(parts)}</svg>'
    )
