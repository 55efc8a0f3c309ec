"""The colours and dashes of schemes, classes, logs and models: the same in all charts."""

import colorsys
import re
from collections.abc import Mapping
from zlib import crc32

import numpy as np
import pandas as pd

from schedlab import schemes
from schedlab._runtime.text import spelt
from schedlab.schedule import metrics

from ._altair import alt
from .axes import AXES
from .sizes import WIDTH

INK = "currentColor"  # of text, rules, and marks that belong to no scheme: that of the page, light or dark
PRINTED = "#222222"  # the same in files and for print, on white
# Luminances between which a colour is seen on white and on black alike: contrasts of 3 to both (WCAG 2).
SEEN = (0.135, 0.2, 0.28)
# After Okabe and Ito's palette, which readers with any colour vision can distinguish. The class of a scheme defines
# its colour (`schedlab.schemes`), so that a scheme has the same colour in all charts.
BLUE, ORANGE, VERMILION = "#0072B2", "#C28700", "#D55E00"
# Logs that are drawn together, in any version and also as stand-ins; Paul Tol's "muted" palette and black.
LOGS = {
    "CTC-SP2-1996": "#735ED7",
    "HPC2N-2002": "#1E97D3",
    "LLNL-Atlas-2006": "#3EA08F",
    "LLNL-Thunder-2007": "#138338",
    "SDSC-BLUE-2000": "#999933",
    "SDSC-Par-1995": "#707070",
    "SDSC-Par-1996": "#CC6677",
    "SDSC-SP2-1998": "#AA4499",
    "KTH-SP2-1996": "#CB337F",
}
# Models of workloads, with any seed; unlike one another and unlike the logs that they are compared with.
MODELS = {
    "Lublin-Feitelson model": "#D55E00",
    "Jann model": "#1E97D3",
    "Downey model": "#138338",
    "Tsafrir's model": "#C28700",
}
MODEL = re.compile(rf"(?P<model>{'|'.join(MODELS)})( \(CTC\))?(, seed \d+)?")
LOG = re.compile(rf"(?P<log>{'|'.join(LOGS)})(-[0-9.]+(-cln)?)?(?P<standin>(, [^(]*)? \(stand-in.*\))?")
# Kurian's classes: short jobs light, long ones dark; narrow ones blue, wide ones orange.
CLASSES = {"SN": "#1E9BE2", "SW": "#C28700", "LN": "#0072B2", "LW": "#D55E00"}
IN_WORDS = {metrics.CLASS_WORDS[name]: colour for name, colour in CLASSES.items()}
# Sweeps teal, other jobs grey.
GROUPS = {"sweeps": "#009988", "other jobs": "#888888"}
STATES = {"running": "#8C8C8C", "waiting": "#1E9BE2", "gets a processor": "#D55E00"}  # jobs of a decision
# Who held processors while a job waited.
WAITING = {
    "the job": "#D55E00",
    "ran already": "#BBBBBB",
    "submitted before it": "#56B4E9",
    "submitted after it": "#E69F00",
    "started later": "#8C8C8C40",  # seen through: pale on white and on black
}
OUTCOMES = {"completed": "#0072B2", "failed": "#D55E00", "cancelled": "#E69F00"}  # how jobs ended in the log
# What a PE does: useful work dark, waiting orange.
DOING = {
    "computing": "#0072B2",
    "communicating": "#1E9BE2",
    "spinning": "#C28700",
    "switching": "#707070",
    "idle": "#8C8C8C",
}
# Memberships of a task.
MEMBERSHIPS = {"I/O": "#D55E00", "communicating": "#1E9BE2", "computing": "#0072B2", "priority": INK}
DASHES = {
    "flat": (1, 0),
    "first-free": (1, 0),
    "non-contiguous": (1, 0),
    "contiguous": (6, 3),
    "quasi-contiguous": (2, 2),
}
PATTERNS = ((8, 2), (4, 4), (8, 2, 2, 2), (1, 3), (12, 3), (6, 2, 2, 2, 2, 2))  # for options of other names
TRIED = 12  # colours of a name that is beside others
GOLDEN = 137.5  # degrees from one to the next
APART = 0.3  # of red, green and blue: nearer ones are hardly told apart
_registered: dict[str, str] = {}


def register(
    colours: Mapping[str, str] | None = None,
    dashes: Mapping[str, tuple[int, ...]] | None = None,
    axes: Mapping[str, str] | None = None,
) -> None:
    """Register colours, dashes and axis titles for names that only some studies use.

    Otherwise, a chart derives a colour and a dash from each name, and uses the name of a column as its axis title.
    Raises ValueError if a name already has another value: changing it would change existing charts.

    Parameters
    ----------
    colours : mapping of str to str, optional
        Colours such as ``"#0072B2"``, by the names in a legend.
    dashes : mapping of str to tuple of int, optional
        Lengths of strokes and gaps in pixels, by the names in a legend.
    axes : mapping of str to str, optional
        Titles with units, by column.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.charts.register({"narrow jobs": "#56B4E9", "wide jobs": "#D55E00"})
    >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1).scale_load(0.8)
    >>> jobs = sl.simulate(trace, "easy").jobs
    >>> wide = jobs["procs"] >= 8
    >>> waits = {"narrow jobs": jobs["wait_time"][~wide], "wide jobs": jobs["wait_time"][wide]}
    >>> chart = sl.charts.distribution(waits, title="Waits under EASY")
    """
    built_in = schemes.colours() | CLASSES | IN_WORDS | GROUPS | MEMBERSHIPS
    for what, more, known, into in (
        ("colour", colours, built_in | _registered, _registered),
        ("dash", dashes, DASHES, DASHES),
        ("axis title", axes, AXES, AXES),
    ):
        for name, value in (more or {}).items():
            if known.get(name, value) != value:
                raise ValueError(f"{name!r} has the {what} {known[name]!r} already, got {spelt(value)}")
            into[name] = value


def colours(names: list[str]) -> list[str]:
    """Give each scheme, class, group, log or model its colour: its own, or one derived from its name.

    A scheme has the same colour in all charts. Of other names without a colour of their own, a later one gets another
    if it would look like an earlier one.

    Parameters
    ----------
    names : list of str
        Names as they stand in the column of a table.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.charts.colours(["FCFS", "EASY", "EASY-SJF"])
    ['#8C8C8C', '#0072B2', '#C28700']
    """
    known = schemes.colours() | CLASSES | IN_WORDS | GROUPS | MEMBERSHIPS | _registered
    beside = _beside_their_log(names)
    chosen = {}
    for name in names:
        fixed = known.get(name) or _of_log(name, name in beside) or _of_model(name)
        others = [] if _is_scheme(name) else list(chosen.values())
        chosen.setdefault(name, fixed or _of_letters(name, others))
    return [chosen[name] for name in names]


def _is_scheme(name):
    """Tell whether a name is that of a scheme, with an order or settings."""
    family = re.split(r"[-( ]", name)[0]
    return bool(family) and any(scheme.startswith(family) for scheme in schemes.colours())


def _beside_their_log(names):
    """Return the stand-ins that are drawn beside their log, or beside another stand-in of it."""
    logs, beside = set(), set()
    for name in dict.fromkeys(names):
        if match := LOG.fullmatch(name):
            if match["standin"] and match["log"] in logs:
                beside.add(name)
            logs.add(match["log"])
    return beside


def _of_log(name, beside):
    """Return the colour of a log, in any version; a similar one of a stand-in, but the opposite one beside its log."""
    match = LOG.fullmatch(name)
    if not match:
        return None
    colour = LOGS[match["log"]]
    if beside:
        hue, _, saturation = colorsys.rgb_to_hls(*_parts_of(colour))
        return _shaded((hue + 0.5) % 1, max(saturation, 0.65), SEEN[1])
    return _like(colour) if match["standin"] else colour


def _like(colour):
    """Return a colour of the same hue: light instead of dark, dark instead of light."""
    parts = _parts_of(colour)
    hue, _, saturation = colorsys.rgb_to_hls(*parts)
    return _shaded(hue, saturation, SEEN[-1] if _luminance(parts) < SEEN[1] else SEEN[0])


def _of_model(name):
    """Return the colour of a model of workloads, with any seed; None for any other name."""
    match = MODEL.fullmatch(name)
    return MODELS[match["model"]] if match else None


def _of_letters(name, others):
    """Return a colour that is made of the letters of a name; a further one if others are hardly told from it."""
    number = crc32(name.encode())
    for further in range(TRIED):
        hue = (number % 360 + GOLDEN * further) % 360
        colour = _shaded(hue / 360, 0.65, SEEN[(number // 360 + further) % len(SEEN)])
        parts = _parts_of(colour)
        if all(np.linalg.norm(np.subtract(parts, _parts_of(other[:7]))) > APART for other in others):
            break
    return colour


def _shaded(hue, saturation, wanted):
    """Return the colour of a hue and saturation that has a luminance."""
    low, high = 0.0, 1.0
    for _ in range(12):
        lightness = (low + high) / 2
        parts = colorsys.hls_to_rgb(hue, lightness, saturation)
        low, high = (lightness, high) if _luminance(parts) < wanted else (low, lightness)
    return "#" + "".join(f"{round(255 * part):02X}" for part in parts)


def _parts_of(colour):
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def _luminance(parts):
    """Return the relative luminance of red, green and blue, from 0 to 1, as WCAG 2 defines it."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def ink_on(colour: str) -> str:
    """Return the colour of text that is easier to read on a colour, "#rrggbb": black or white.

    On a colour that is seen through, "#rrggbbaa", text has the ink of the page.
    """
    if len(colour) > len("#rrggbb"):
        return INK
    return "black" if _luminance(_parts_of(colour)) > 0.179 else "white"  # there, both have a contrast of 4.6


def dashes(names: list[str]) -> list[list[int]]:
    """Give each option of the machine its dash pattern: its own, or one derived from its name alone.

    Parameters
    ----------
    names : list of str
        Names as they stand in the column of a table.

    Returns
    -------
    list of list of int
        For each name the lengths of dashes and gaps, in pixels.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.charts.dashes(["first-free", "contiguous", "quasi-contiguous"])
    [[1, 0], [6, 3], [2, 2]]
    """
    return [list(DASHES.get(name) or PATTERNS[crc32(name.encode()) % len(PATTERNS)]) for name in names]


def coloured(name: str, names: list[str], *, columns: int = 4, title: str | None = None) -> alt.Color:
    """Encode the schemes of a column by their colours; the legend has room for the full title of a stand-in."""
    return alt.Color(
        f"{name}:N",
        title=AXES.get(name, name) if title is None else title,
        scale=alt.Scale(domain=names, range=colours(names)),
        legend=alt.Legend(orient="bottom", columns=columns, labelLimit=2 * WIDTH, symbolOpacity=1),
    )


def turned(table: pd.DataFrame, column: str, names: list[str]) -> pd.DataFrame:
    """Order rows from the last scheme to the first, the drawing order; rows of no scheme come last."""
    order = table[column].map({name: -i for i, name in enumerate(names)})
    return table.loc[order.sort_values(kind="stable").index]
