"""A small Gantt chart in a page: which jobs held which processors, in a few colours with meanings."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import NamedTuple

# Places along the time axis are shares of the width, so that the picture fits any column with its text at full size.
HEIGHT, LEFT, TOP = 220, 46, 4  # of the plot and its margins, in pixels
WIDTHS = {"narrow": 300, "wide": 640}  # of the plot: at least this on a phone, and elsewhere
LETTER, LINE = 7.5, 14  # width and height of a digit, in pixels
ONLY_WIDE = "schedlab-only-wide"  # labels for which a phone has no room
STYLE = f"<style>@media (max-width: 40rem) {{ .{ONLY_WIDE} {{ display: none; }} }}</style>"
SWATCH = "display:inline-block;width:.7em;height:.7em;margin-right:.35em;background:"


class Bar(NamedTuple):
    """A rectangle: processors [low, high) during [begin, end), in seconds."""

    begin: float
    end: float
    low: int
    high: int
    kind: str  # one of the meanings of colours
    label: str  # written into the bar if there is room
    tooltip: str


def gantt(
    bars: Iterable[Bar],
    window: tuple[float, float],
    procs: int,
    colours: Mapping[str, str],
    marks: Mapping[float, str],
    ends: tuple[str, str],
    about: str,
) -> str:
    """Draw a Gantt chart as one small SVG: bars, cut at the ends of the window, on so many processors.

    `colours` has the meanings in the legend; `marks` has instants to mark with a line, and the label above each. `ends`
    are the labels at both ends of the time axis, and `about` is for readers who cannot see the chart.
    """
    begin, end = window

    def x(second):
        return 100 * (min(max(second, begin), end) - begin) / (end - begin)

    lines, rows = [], {}
    for second, name in marks.items():
        place = x(second)
        half = LETTER * len(name) / WIDTHS["narrow"] * 50
        first, last = (place - 2 * half, place) if place > 100 - 2 * half else (place, place + 2 * half)
        row = next(row for row in range(len(marks)) if rows.get(row, -1) < first)  # labels do not overlap
        rows[row] = last + 2
        lines.append((place, row, "end" if last == place else "start", name))
    top = TOP + LINE * max(len(rows), 1)
    below = top + HEIGHT

    def y(proc):
        return below - HEIGHT * proc / procs

    parts = []
    for bar in bars:
        left, right, upper, lower = x(bar.begin), x(bar.end), y(bar.high), y(bar.low)
        right = max(right, left + 0.15)  # so that a job of zero length is visible
        thin = right - left < 0.5 or lower - upper < 3  # a border would hide it
        parts.append(
            f'<rect x="{left:.2f}%" y="{upper:.1f}" width="{right - left:.2f}%" height="{lower - upper:.1f}" '
            f'fill="{colours[bar.kind]}" stroke="{"none" if thin else "white"}" stroke-width=".5">'
            f"<title>{escape(bar.tooltip)}</title></rect>"
        )
        fits = [name for name, width in WIDTHS.items() if (right - left) * width / 100 > LETTER * len(bar.label) + 2]
        if fits and lower - upper > LINE:
            middle = f'x="{(left + right) / 2:.2f}%" y="{(upper + lower) / 2 + 4:.1f}" text-anchor="middle"'
            only = "" if "narrow" in fits else f' class="{ONLY_WIDE}"'
            parts.append(f'<text {middle} fill="black" pointer-events="none"{only}>{escape(bar.label)}</text>')
    for place, row, anchor, name in lines:
        level = TOP + LINE * (row + 1)
        parts.append(
            f'<line x1="{place:.2f}%" x2="{place:.2f}%" y1="{level}" y2="{below}" stroke="currentColor" '
            f'stroke-dasharray="4 3"/><text x="{place:.2f}%" y="{level - 4}" text-anchor="{anchor}">'
            f"{escape(name)}</text>"
        )
    parts += [
        f'<line x1="0" x2="0" y1="{top}" y2="{below}" stroke="currentColor" opacity=".5"/>',
        f'<line x1="0" x2="100%" y1="{below}" y2="{below}" stroke="currentColor" opacity=".5"/>',
        f'<text x="-4" y="{below}" text-anchor="end">0</text>',
        f'<text x="-4" y="{top + 9}" text-anchor="end">{procs:,}</text>',
        f'<text transform="translate({12 - LEFT} {below - HEIGHT / 2}) rotate(-90)" text-anchor="middle">'
        "processors</text>",
        f'<text x="0" y="{below + 16}">{escape(ends[0])}</text>',
        f'<text x="100%" y="{below + 16}" text-anchor="end">{escape(ends[1])}</text>',
    ]
    legend = "".join(
        f'<span style="white-space:nowrap;margin-right:1.2em"><span style="{SWATCH}{colour}"></span>'
        f"{escape(kind)}</span> "
        for kind, colour in colours.items()
    )
    return (
        f'{STYLE}<div style="padding-left:{LEFT}px"><svg xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="{escape(about)}" width="100%" height="{below + 22}" font-family="sans-serif" font-size="12" '
        f'fill="currentColor" style="display:block;overflow:visible">{"".join(parts)}</svg>'
        f'<div style="font:12px sans-serif">{legend}</div></div>'
    )
