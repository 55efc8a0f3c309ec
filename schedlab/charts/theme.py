"""What all charts share: fonts, colours, dashes, axes with units, titles, checks, and files."""

import colorsys
import io
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from numbers import Integral, Real
from pathlib import Path
from textwrap import wrap
from typing import ParamSpec, TypeVar
from weakref import WeakValueDictionary
from zlib import crc32

import numpy as np
import pandas as pd

from schedlab import schemes
from schedlab._runtime.text import suggestion
from schedlab.schedule import metrics

from ._altair import alt, debug_mode

WIDTH, HEIGHT = 240, 220  # of one of three panels, in pixels
P = ParamSpec("P")
Chart = TypeVar("Chart")
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
MOST_ROWS = 5_000
LEAST = 3  # ticks within a logarithmic axis, at least
INK = "currentColor"  # of text, rules, and marks that belong to no scheme: that of the page, light or dark
PRINTED = "#222222"  # the same in files and for print, on white
EMBED = {"actions": False, "renderer": "svg"}
ON_PAGE = "SCHEDLAB_PAGE"  # set when notebooks run for the pages of a site, which have the report's script
LAB = "application/vnd.vegalite.v5+json"
SUFFIXES = (".png", ".svg", ".pdf", ".html", ".json")

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

AXES = {
    "load": "offered load",
    "offered_load": "offered load",
    "effective_load": "effective load",
    "wait_time": "mean wait (hours)",
    "median_wait_time": "median wait (hours)",
    "p95_wait_time": "95th percentile of the wait (hours)",
    "max_wait_time": "longest wait (hours)",
    "turnaround": "mean turnaround (hours)",
    "area_weighted_turnaround": "mean turnaround, weighted by area (hours)",
    "makespan": "makespan (hours)",
    "bounded_slowdown": "mean bounded slowdown (tau = 10 s)",
    "per_processor_slowdown": "mean per-processor slowdown (tau = 10 s)",
    "slowdown": "mean slowdown",
    "wait_ratio": "ratio of mean waits",
    "utilization": "utilization",
    "loss_of_capacity": "loss of capacity (processor-seconds)",
    "loss_of_capacity_share": "loss of capacity (share)",
    "throughput": "throughput (jobs per hour)",
    "throughput_sd_day": "standard deviation of the throughput (jobs per day)",
    "throughput_sd_week": "standard deviation of the throughput (jobs per week)",
    "mean_queue": "mean queue length (jobs)",
    "max_queue": "longest queue (jobs)",
    "longest_pile_up": "longest pile-up of the queue (share of the makespan)",
    "jobs": "jobs",
    "killed": "killed (jobs)",
    "completed": "completed jobs",
    "slice": "slice (ms)",
    "pes": "PEs",
    "trace": "log",
    "week": "week since the first submission",
}
IN_HOURS = {
    *("wait_time", "median_wait_time", "p95_wait_time", "max_wait_time"),
    *("turnaround", "area_weighted_turnaround", "makespan"),
}

# Columns of `Schedule.jobs`: values of one job, not means over jobs.
PER_JOB = {
    "wait_time": "wait",
    "turnaround": "turnaround",
    "run_time": "run time",
    "requested_time": "estimate",
    "bounded_slowdown": "bounded slowdown (tau = 10 s)",
    "slowdown": "slowdown",
    "procs": "processors",
    "requested_procs": "processors",
    "killed": "killed",
    "user_id": "user",
}
DURATIONS = {"wait_time", "turnaround", "run_time", "requested_time"}  # columns in PER_JOB, in seconds
MARKS = {
    1: "1 s",
    10: "10 s",
    60: "1 min",
    600: "10 min",
    3_600: "1 h",
    36_000: "10 h",
    360_000: "100 h",
    3_600_000: "1,000 h",
}


# When all cells are run, JupyterLab makes the last one active and goes there. Until the reader scrolls, go back; a few
# times, since it comes to the last cell only when those before have their heights.
_TO_THE_TOP = """
requestAnimationFrame(() => {  // by then, the element is on the page
    const cell = element.closest(".jp-Cell"), view = element.closest(".jp-WindowedPanel-outer");
    const active = view?.querySelector(".jp-Cell.jp-mod-active");
    if (!view || active === cell || active === cell.nextElementSibling) return;
    const end = performance.now() + 5000, stop = new AbortController();
    for (const kind of ["wheel", "pointerdown", "keydown"])
        window.addEventListener(kind, () => stop.abort(), {signal: stop.signal, capture: true});
    const back = () => {
        if (stop.signal.aborted) return;
        view.scrollTop = 0;
        performance.now() < end ? requestAnimationFrame(back) : stop.abort();
    };
    back();
});
"""


def setup(*, at_top: bool = False) -> None:
    """Let charts show in JupyterLab without a network.

    JupyterLab itself draws Vega-Lite 5, while Altair's own renderers need version 6 or the network. These charts use
    only what version 5 can draw.

    Parameters
    ----------
    at_top : bool
        Show the top of the notebook, not its end, when all its cells are run.
    """
    alt.renderers.register("schedlab", _for_page if os.environ.get(ON_PAGE) else _for_lab)
    alt.renderers.enable("schedlab")
    if (ipython := sys.modules.get("IPython")) and (shell := ipython.get_ipython()):
        shell.display_formatter.mimebundle_formatter.for_type(alt.TopLevelMixin, shown)
        if at_top and not os.environ.get(ON_PAGE):
            shell.display_pub.publish({"application/javascript": _TO_THE_TOP, "text/plain": ""})


def _for_lab(spec, **_):
    older = {**spec, "$schema": "https://vega.github.io/schema/vega-lite/v5.json"}
    return {LAB: older, "text/plain": "<chart>"}, {LAB: {"embed_options": EMBED}}


def _for_page(spec, **_):
    return {"text/html": on_page(spec)}, {}


def on_page(spec: dict) -> str:
    """Return a chart as HTML for a page that includes the report's script.

    Parameters
    ----------
    spec : dict
        As returned by `specified`.

    Examples
    --------
    >>> import schedlab as sl
    >>> drawn = sl.charts.heatmap(sl.model_trace("lublin", jobs=1000, machine=64, seed=1))
    >>> page = f"<h1>Jobs by size</h1>{sl.charts.on_page(sl.charts.specified(drawn))}"
    >>> page.count('<div class="chart"')
    1
    """
    text = json.dumps(spec).replace("</", "<\\/")
    key = f"chart-{crc32(text.encode()):08x}"
    place = f'<div class="chart" data-spec="{key}" style="min-height: {height_of(spec):.0f}px"></div>'
    return f'{place}<script type="application/json" id="{key}">{text}</script>'


CHECKED = False  # whether charts are validated when made; the tests set it
_MADE = WeakValueDictionary()  # by `id`: charts unchanged since this package made them


def unchecked(draw: Callable[P, Chart]) -> Callable[P, Chart]:
    """Let a function draw without Altair's validation, which takes a third of the time until a chart appears.

    The function itself checks its arguments. Errors in the function are found by the tests, which validate every chart,
    in its parts and as a whole.
    """

    @wraps(draw)
    def make(*args: P.args, **kwargs: P.kwargs) -> Chart:
        check_size(kwargs.get("width"), kwargs.get("height"))
        with debug_mode(CHECKED):
            return _made(draw(*args, **kwargs))

    return make


def _made(chart):
    """Remember that this package made a chart. Charts that users derive from it are copies, and are not remembered."""
    if CHECKED:
        chart.to_dict()
    _MADE[id(chart)] = chart
    return chart


def _is_made(chart):
    return _MADE.get(id(chart)) is chart


def shown(chart):
    """Return what a notebook shows of a chart. Altair validates charts changed by users, but not those made here."""
    if not _is_made(chart):
        return chart._repr_mimebundle_()
    return alt.renderers.get()(chart.to_dict(validate=False, context={"pre_transform": False}))


def specified(chart) -> dict:
    """Return a chart as Vega-Lite. Altair validates charts changed by users, not those made here; that halves the time.

    Parameters
    ----------
    chart : altair.Chart
        Or any other kind of Altair chart.

    Returns
    -------
    dict
        The specification, as given by `altair.Chart.to_dict`.

    Examples
    --------
    >>> import schedlab as sl
    >>> drawn = sl.charts.heatmap(sl.model_trace("lublin", jobs=1000, machine=64, seed=1))
    >>> sl.charts.specified(drawn)["title"]["text"]
    'Jobs by size and run time'
    """
    return chart.to_dict(validate=not _is_made(chart))


def themed(chart):
    """Apply the look that all charts share: in the ink of the page, on its ground, whether that is light or dark.

    Parameters
    ----------
    chart : altair chart
        It is not changed.

    Returns
    -------
    altair chart
        A copy with that look.

    Examples
    --------
    >>> import altair as alt
    >>> import schedlab as sl
    >>> jobs = sl.model_trace("lublin", jobs=500, machine=64, seed=1).jobs
    >>> x = alt.X("requested_procs").title("processors")
    >>> y = alt.Y("run_time").title("run time (seconds)").scale(type="log")
    >>> chart = sl.charts.themed(alt.Chart(jobs, title="Each job of the trace").mark_point(opacity=0.5).encode(x, y))
    """
    themed = chart.copy(deep=False)
    themed.config = _look()
    return themed


def _look():
    return {
        "font": "sans-serif",
        "background": "transparent",
        "padding": PADDING,
        "view": {"stroke": None},
        # Every colour is set explicitly: JupyterLab's dark theme has its own for the others.
        "style": {name: {"fill": INK} for name in ("guide-label", "guide-title", "group-title")},
        "axis": {
            "labelFontSize": 11,
            "titleFontSize": 12,
            "gridColor": INK,
            "gridOpacity": 0.13,
            "domainColor": INK,
            "domainOpacity": 0.5,
            "tickColor": INK,
            "tickOpacity": 0.5,
        },
        "legend": {"labelFontSize": 12, "titleFontSize": 12},
        "title": {
            "fontSize": 15,
            "subtitleFontSize": 12,
            "anchor": "start",
            "color": INK,
            "subtitleColor": INK,
        },
        "header": {"labelFontSize": 12},
        "text": {"color": INK},
    }


def stacked(parts: Iterable, *, width: float | None = None, height: float | None = None):
    """Place charts below one another; narrow ones side by side, as many as fit on a page.

    Parameters
    ----------
    parts : list of altair charts
        From top to bottom.
    width, height : float, optional
        As in `resized`.

    Returns
    -------
    altair chart
        All of them, as one.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1)
    >>> table = sl.sweep(trace, ["easy", "easy-sjf", "conservative"], load=[0.6, 0.7, 0.8, 0.9])
    >>> measures = {"wait_time": "Mean wait", "bounded_slowdown": "Mean bounded slowdown"}
    >>> chart = sl.charts.stacked([sl.charts.lines(table, "load", y, title=title) for y, title in measures.items()])
    """
    bare = [part.copy() for part in parts]
    for part in bare:
        part.config = alt.Undefined  # only the whole chart may carry the look
    beside = min(len(bare), max(1, PAGE // max(_extent(part)[0] + MARGIN * _across(part) for part in bare)))
    whole = alt.vconcat(*bare) if beside == 1 else alt.concat(*bare, columns=beside)
    told = {}
    for channel, given in _legends(whole):
        told.setdefault(channel, set()).add(given)
    if any(len(several) > 1 for several in told.values()):  # a shared legend would give some schemes the wrong colour
        whole = whole.resolve_scale(**dict.fromkeys(told, "independent"))
    whole = themed(_resize(whole, width, height))
    return _made(whole) if all(map(_is_made, parts)) else whole


def _legends(chart):
    """Return the channels that have a legend, with their scales and legends as text."""
    for part in (*_parts(chart), *(chart.layer if isinstance(chart, alt.LayerChart) else ())):
        yield from _legends(part)
    if isinstance(chart, alt.Chart):
        for channel in LEGENDS:
            given = chart.encoding[channel]
            if isinstance(given, alt.FieldChannelMixin):
                yield channel, str((given["scale"], given["legend"]))


# -- sizes -----------------------------------------------------------------------------------------------


def resized(chart, width: float | None = None, height: float | None = None):
    """Return a copy of a chart in another size.

    Parameters
    ----------
    chart : altair chart
        It is not changed.
    width, height : float, optional
        Size of the plot in pixels, or of all panels together; titles, axes and legends are added to it. Default:
        unchanged.

    Returns
    -------
    altair chart
        A copy of that size.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1).scale_load(0.8)
    >>> drawn = sl.charts.distribution([sl.simulate(trace, "easy"), sl.simulate(trace, "easy-sjf")], "wait_time")
    >>> chart = sl.charts.resized(drawn, width=560, height=140)
    """
    return _resize(chart.copy(), width, height)


def _resize(chart, width, height):
    """Change the size of a chart in place."""
    check_size(width, height)
    if width is None and height is None:
        return chart
    wide, high = _extent(chart)
    _scale(chart, 1 if width is None else width / wide, 1 if height is None else height / high)
    title = chart.title
    if width is not None and isinstance(title, dict) and title.get("subtitle"):
        chart.title = {**title, "subtitle": _wrapped(title["subtitle"], width)}
    return chart


def _scale(chart, across, down):
    for part in _parts(chart):
        _scale(part, across, down)
    if not _parts(chart):
        wide, high = _extent(chart)
        chart.width, chart.height = round(wide * across), round(high * down)


def _parts(chart):
    """Return the charts that make up a chart; none if it has a single plot."""
    if isinstance(chart, alt.FacetChart):
        return [chart.spec]
    kinds = {alt.VConcatChart: "vconcat", alt.HConcatChart: "hconcat", alt.ConcatChart: "concat"}
    return next((getattr(chart, name) for kind, name in kinds.items() if isinstance(chart, kind)), [])


def _across(chart):
    """Return the number of plots side by side."""
    if isinstance(chart, alt.FacetChart):
        return _grid(chart)[0]
    parts = _parts(chart)
    if isinstance(chart, alt.HConcatChart):
        return sum(map(_across, parts))
    if isinstance(chart, alt.ConcatChart):
        return max(sum(map(_across, row)) for row in _rows(chart))
    return max(map(_across, parts), default=1)


def _extent(chart):
    """Return width and height of the plot, or of all plots together."""
    if isinstance(chart, alt.FacetChart):
        columns, rows = _grid(chart)
        wide, high = _extent(chart.spec)
        return columns * wide, rows * high
    if not _parts(chart):
        return tuple(size if isinstance(size, Real) else 300 for size in (chart.width, chart.height))
    rows = [_parts(chart)] if isinstance(chart, alt.HConcatChart) else _rows(chart)
    sizes = [[_extent(part) for part in row] for row in rows]
    return max(sum(wide for wide, _ in row) for row in sizes), sum(max(high for _, high in row) for row in sizes)


def _rows(chart):
    """Return the charts of each row, if rows of charts are placed below one another."""
    parts, columns = _parts(chart), 1 if isinstance(chart, alt.VConcatChart) else chart.columns
    columns = columns if isinstance(columns, int) else len(parts)
    return [parts[i : i + columns] for i in range(0, len(parts), columns)]


def _grid(chart):
    """Return the number of columns and rows of a chart with panels."""
    given = chart.facet
    if not isinstance(given, alt.FacetMapping):
        count = _values(chart, given)
        columns = min(count, chart.columns) if isinstance(chart.columns, int) else count
        return columns, -(-count // columns)
    return tuple(_values(chart, part) if part is not alt.Undefined else 1 for part in (given.column, given.row))


def _values(chart, field):
    if isinstance(field["sort"], list):
        return len(field["sort"])
    return chart.data[field["shorthand"].rpartition(":")[0] or field["shorthand"]].nunique()


def panels(count: int, width: float | None, height: float | None) -> tuple[int, float, float]:
    """Lay out panels on a page: the number side by side, and the width and height of each in pixels.

    Parameters
    ----------
    count : int
    width, height : float, optional
        Of all panels together.
    """
    columns = count if count <= ACROSS else 2 if count == 4 else ACROSS
    each = (PAGE - columns * MARGIN) // columns if count > 1 else WIDE
    each = each if width is None else width / columns
    return columns, each, HEIGHT if height is None else height / -(-count // columns)


# -- colours ---------------------------------------------------------------------------------------------

_registered: dict[str, str] = {}


def register(
    colours: Mapping[str, str] | None = None,
    dashes: Mapping[str, tuple[int, ...]] | None = None,
    axes: Mapping[str, str] | None = None,
) -> None:
    """Register colours, dashes and axis titles for names that only some studies use.

    Otherwise, a chart derives a colour and a dash from each name, and uses the name of a column as its axis title.

    Parameters
    ----------
    colours : mapping of str to str, optional
        Colours such as ``"#0072B2"``, by the names in a legend.
    dashes : mapping of str to tuple of int, optional
        Lengths of strokes and gaps in pixels, by the names in a legend.
    axes : mapping of str to str, optional
        Titles with units, by column.

    Raises
    ------
    ValueError
        If a name already has another value: changing it would change existing charts.

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
    for what, given, known, into in (
        ("colour", colours, built_in | _registered, _registered),
        ("dash", dashes, DASHES, DASHES),
        ("axis title", axes, AXES, AXES),
    ):
        for name, value in (given or {}).items():
            if known.get(name, value) != value:
                raise ValueError(f"{name!r} has the {what} {known[name]!r} already, got {value!r}")
            into[name] = value


def colours(names: list[str]) -> list[str]:
    """Give each scheme, class, group, log or model its colour: its own, or one derived from its name alone.

    Parameters
    ----------
    names : list of str
        Names as they stand in the column of a table.

    Returns
    -------
    list of str
        A CSS colour for each name.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.charts.colours(["FCFS", "EASY", "EASY-SJF"])
    ['#8C8C8C', '#0072B2', '#C28700']
    """
    known = schemes.colours() | CLASSES | IN_WORDS | GROUPS | MEMBERSHIPS | _registered
    beside = _beside_their_log(names)
    return [known.get(name) or _of_log(name, name in beside) or _of_model(name) or _made_of(name) for name in names]


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
    """Return the colour of a log of the archive, in any version.

    A stand-in gets a similar one, but the opposite one beside its log: there the two are compared.
    """
    match = LOG.fullmatch(name)
    if not match:
        return None
    own = LOGS[match["log"]]
    if beside:
        hue, _, saturation = colorsys.rgb_to_hls(*_parts_of(own))
        return _shaded((hue + 0.5) % 1, max(saturation, 0.65), SEEN[1])
    return _like(own) if match["standin"] else own


def _of_model(name):
    """Return the colour of a model of workloads, with any seed."""
    found = MODEL.fullmatch(name)
    return found and MODELS[found["model"]]


def _like(colour):
    """Return a colour of the same hue: light instead of dark, dark instead of light."""
    parts = _parts_of(colour)
    hue, _, saturation = colorsys.rgb_to_hls(*parts)
    return _shaded(hue, saturation, SEEN[-1] if luminance(parts) < SEEN[1] else SEEN[0])


def _made_of(name):
    number = crc32(name.encode())
    return _shaded(number % 360 / 360, 0.65, SEEN[number // 360 % len(SEEN)])


def _shaded(hue, saturation, wanted):
    """Return the colour of a hue and saturation that has a luminance."""
    low, high = 0.0, 1.0
    for _ in range(12):
        lightness = (low + high) / 2
        parts = colorsys.hls_to_rgb(hue, lightness, saturation)
        low, high = (lightness, high) if luminance(parts) < wanted else (low, lightness)
    return "#" + "".join(f"{round(255 * part):02X}" for part in parts)


def _parts_of(colour):
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def luminance(parts: Iterable[float]) -> float:
    """Return the relative luminance of a colour, from 0 to 1, as WCAG 2 defines it; its parts are red, green, blue."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def dashes(names: list[str]) -> list[list[int]]:
    """Give each option of the machine its dash pattern: its own, or one derived from its name alone.

    Parameters
    ----------
    names : list of str
        Names as they stand in the column of a table.

    Returns
    -------
    list of list of int, pixels
        For each name the lengths of dashes and gaps.

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
    return lines * title.get("fontSize", 15) + 9 + 13 * len(title.get("subtitle") or ())


def _plots(spec, told):
    """Estimate the height of the plots of a chart with axes and legends, except legends counted before."""
    stacked = next((name for name in ("vconcat", "hconcat", "concat") if name in spec), None)
    if stacked:
        parts = [_heading(part) + _plots(part, told) for part in spec[stacked]]
        across = {"vconcat": 1, "hconcat": len(parts)}.get(stacked) or spec.get("columns", len(parts))
        rows = [max(parts[i : i + across]) for i in range(0, len(parts), across)]
        return sum(rows) + spec.get("spacing", GAP) * (len(rows) - 1)
    if "spec" in spec:
        rows = -(-len(spec["facet"].get("sort") or [0]) // spec.get("columns", 1)) if "facet" in spec else 1
        return rows * (_plots(spec["spec"], told) + GAP + 16) - GAP
    height = spec.get("height", 300)
    encodings = [part.get("encoding", {}) for part in (spec, *spec.get("layer", ()))]
    legends = {_legend(channel, given) for encoding in encodings for channel, given in encoding.items()} - {None} - told
    told |= legends
    below = max((_below(encoding["x"]) for encoding in encodings if "x" in encoding), default=0)
    return (height if isinstance(height, Real) else 300) + below + max((high for *_, high in legends), default=0)


def _legend(channel, given):
    """Return title, values and height of a channel's legend; None if it has none."""
    scale, legend = (given.get(name, {}) if isinstance(given, dict) else None for name in ("scale", "legend"))
    if channel not in LEGENDS or scale is None or legend is None or "field" not in given:
        return None
    values, title = scale.get("domain", ()), given.get("title", given["field"])
    rows = -(-len(values) // legend.get("columns", max(1, len(values)))) if given.get("type") == "nominal" else 2
    return str(title), str(values), 18 + 17 * bool(title) + 17 * rows


def _below(x):
    """Estimate the height of a horizontal axis."""
    given = x.get("axis", {})
    if given is None or not given.get("labels", True):
        return 0
    longest = max(map(len, map(str, x.get("sort") or ())), default=0)
    turned = longest * CHARACTER * abs(math.sin(math.radians(given.get("labelAngle", 0))))
    return 22 + turned + 17 * bool(x.get("title", True))


def turned(table: pd.DataFrame, column: str, names: list[str]) -> pd.DataFrame:
    """Order rows from the last scheme to the first, the drawing order; rows of no scheme come last."""
    order = table[column].map({name: -i for i, name in enumerate(names)})
    return table.loc[order.sort_values(kind="stable").index]


def beside(names: list[str], width: float) -> int:
    """Return the number of legend labels that fit side by side."""
    return max(1, int(width // (max(map(len, names), default=0) * CHARACTER + SYMBOL)))


# -- axes ------------------------------------------------------------------------------------------------
# Plain dictionaries: Altair copies a chart whenever it is put into another, and its `Axis` has ninety settings.


def axis(**settings) -> dict:
    """Return an axis with readable numbers."""
    return {"format": ",~r", "labelFlush": False, **settings}  # 10,000, 0.1; labels at their ticks


def vertical(parts, log: bool) -> dict:
    """Return scale and axis for the values of each panel; a logarithmic axis is linear near 0 if a value is 0."""
    if not log:
        return {"scale": {"zero": True}, "axis": axis()}
    known = [part[part.notna()] for part in parts]
    drawn = [part[(part > 0) & (part < np.inf)] for part in known]
    if any(map(len, known)) and all(len(some) == len(every) for some, every in zip(drawn, known, strict=True)):
        return {"scale": log_scale(), "axis": axis(values=log_ticks([part for part in drawn if len(part)]))}
    return {"scale": {"type": "symlog"}, "axis": axis()}


def log_scale(padding: int = 8) -> dict:
    """Return a logarithmic scale that extends this many pixels beyond what is drawn."""
    return {"type": "log", "nice": False, "padding": padding}


def log_ticks(several) -> list[float]:
    """Return a logarithmic axis's ticks for the values of each panel: at least three in their range, if they differ.

    The ticks are powers of ten over a long range, 1, 2 and 5 times these over a shorter one, and evenly spaced over a
    still shorter one.
    """
    return sorted({tick for values in several for tick in _ticks(float(np.min(values)), float(np.max(values)))})


def _ticks(low, high):
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for steps in ((1,), (1, 2, 5)):
        ticks = [float(f"{step}e{power}") for power in range(first, last + 1) for step in steps]
        if sum(low <= tick <= high for tick in ticks) >= LEAST:
            return ticks
    return _even(low, high)


def _even(low, high):
    """Return evenly spaced ticks, up to about one beyond either end."""
    if low == high:
        return [low]
    power = 10.0 ** math.floor(math.log10(high - low))
    for part in (1, 0.5, 0.2, 0.1):
        step = part * power
        first, last = math.floor(low / step), math.ceil(high / step)
        if sum(low <= i * step <= high for i in range(first, last + 1)) >= LEAST:
            break
    return [float(f"{i * step:.12g}") for i in range(first, last + 1) if i > 0]


def logarithmic(column: str, values, up_to: float | None = None) -> tuple[dict, np.ndarray, str]:
    """Fit a logarithmic axis to a column of values per job; ticks of durations at 1 s, 1 min, 1 h and the like.

    The axis ends at the largest value, or at `up_to`.

    Returns
    -------
    settings : dict
        Scale and axis.
    values : float64
        The values to draw. A zero is drawn at the low end of the axis; for durations, at 1 s.
    said : str
        What the subtitle must say about zeros; "" if there are none.
    """
    bad = values[~((values >= 0) & (values < np.inf))]
    if bad.size:
        raise ValueError(f"{column} has the value {bad[0]}, which a logarithmic axis cannot show")
    duration, positive = column in DURATIONS, values[values > 0]
    low = 1.0 if duration or not positive.size else float(positive.min())
    high = max(float(values.max(initial=0)) if up_to is None else up_to, 10 * low)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    words = ", ".join(f"'{seconds}': '{text}'" for seconds, text in MARKS.items())
    marks = alt.Axis(values=list(MARKS), labelExpr=f"{{{words}}}[datum.value]", labelFlush=False)
    ticks = marks if duration else axis(values=log_ticks([[low, high]]))
    said = f"0 is drawn at {'1 s' if duration else format(low, '.3g')}" if positive.size < values.size else ""
    return {"scale": scale, "axis": ticks}, np.maximum(values, low), said


# -- titles ----------------------------------------------------------------------------------------------


def headed(chart, title: str, width: int, *subtitle: str, size: tuple = (None, None)):
    """Give a new chart its title, the look, its size, and a subtitle.

    Parameters
    ----------
    chart : altair chart
        Changed in place.
    title : str
    width : int
        Width available for the lines of the subtitle, in pixels.
    *subtitle : str
        Each starts a new line.
    size : (width, height)
        As in `resized`.
    """
    for words, given in (("title", title), *(("subtitle", part) for part in subtitle)):
        if not isinstance(given, str):
            raise TypeError(f"{words} is {given!r}, expected text")
    chart.title = {"text": title, "subtitle": _wrapped(subtitle, size[0] or width)}
    chart.config = _look()  # not `themed`: Altair would copy everything in a chart with panels, 15 ms
    return _resize(chart, *size)


def _wrapped(parts, width):
    characters = max(20, int(CHARACTERS * width / WIDTH))
    return [line for part in parts for line in wrap(part, characters, break_on_hyphens=False)]


def in_lines(words: str, letters: int) -> list[str]:
    """Break the title of an axis into lines of so many letters, but not within short brackets: "(tau = 10 s)"."""
    whole = re.sub(r"\([^()]{1,14}\)", lambda match: match[0].replace(" ", "\u00a0"), words)
    return [line.replace("\u00a0", " ") for line in wrap(whole, letters)]


def about(schedule) -> str:
    """Say what was simulated: the trace (the name of a stand-in says so), its load and its jobs."""
    trace = schedule.trace
    what, load = ("effective", trace.effective_load) if trace.has_speedup else ("offered", trace.offered_load)
    load = load(schedule.overrun) * trace.procs / schedule.machine.procs
    said = f"{trace.title}, {_load_words(what, load)}, {len(schedule):,} jobs on {schedule.machine}"
    return "; ".join([said, *schedule.notes])


def about_trace(trace) -> str:
    """Say which jobs are shown: the trace (the name of a stand-in says so), its load and its jobs."""
    return f"{trace.title}, {_load_words('offered', trace.offered_load())}, {len(trace):,} jobs"


def _load_words(what, load):
    return f"{what} load {load:.3g}" if np.isfinite(load) else "all submitted at one instant"


# -- checks ----------------------------------------------------------------------------------------------


def check_kind(given, *kinds: type) -> None:
    """Raise unless what is to be drawn is of one of these kinds."""
    if not isinstance(given, kinds):
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"expected {expected}, got {type(given).__name__}")


def check_size(width, height) -> None:
    """Raise for an impossible width or height of a chart; None means not given."""
    for given, words in ((width, "width"), (height, "height")):
        if given is not None and not (isinstance(given, Real) and 0 < given < math.inf):
            raise ValueError(f"{words} must be a number of pixels above 0, got {given!r}")


def check(table, columns) -> None:
    """Raise if a table lacks a column, or has more rows than a chart can take."""
    check_columns(table, columns)
    if len(table) > MOST_ROWS:
        raise ValueError(f"the table has {len(table):,} rows, a chart takes at most {MOST_ROWS:,}: aggregate it first")


def check_columns(table, columns) -> None:
    """Raise if something is not a table, or lacks a column."""
    check_kind(table, pd.DataFrame)
    missing = [name for name in columns if name not in table.columns]
    if missing:
        known = f"{', '.join(map(str, table.columns))}{suggestion(missing[0], table.columns)}"
        raise ValueError(f"the table has no column {missing[0]!r}; it has: {known}")


def check_names(names) -> None:
    """Raise if the name of a column is not text."""
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"expected the name of one column, got {name!r}")


def check_numbers(table, columns) -> None:
    """Raise if a column measured along an axis holds anything but numbers; values may be missing."""
    for name in columns:
        if pd.api.types.is_numeric_dtype(table[name]):
            continue
        known = table[name].dropna()
        wrong = known[[not isinstance(value, Real) for value in known]]
        if len(wrong):
            raise ValueError(f"column {name!r} has {wrong.iloc[0]!r} in row {wrong.index[0]}, expected numbers only")


def check_limit(limit: int) -> None:
    """Raise if a limit is not a possible number of rows of a chart."""
    if not (isinstance(limit, Integral) and 1 <= limit <= MOST_ROWS):
        given = f"{limit:,}" if isinstance(limit, Integral) else repr(limit)
        raise ValueError(f"limit must be a whole number from 1 to {MOST_ROWS:,}, got {given}")


# -- files -----------------------------------------------------------------------------------------------


class _InPage(json.JSONEncoder):
    """JSON for a script in a page: no text in it can end the script."""

    def encode(self, o):
        return super().encode(o).replace("<", "\\u003c")


def save(chart, path: str | os.PathLike) -> Path:
    """Write a chart to a file, which appears only when complete. No network is needed.

    Parameters
    ----------
    chart : altair chart
        Any that this package draws, or your own.
    path : path
        The suffix sets the format: .png, .svg, .pdf, .html (a page that opens offline) or .json (Vega-Lite).

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        For any other suffix.
    FileNotFoundError
        If the folder does not exist.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import schedlab as sl
    >>> drawn = sl.charts.heatmap(sl.model_trace("lublin", jobs=1000, machine=64, seed=1))
    >>> with TemporaryDirectory() as folder:
    ...     sl.charts.save(drawn, f"{folder}/sizes.svg").name
    'sizes.svg'
    """
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise ValueError(f"{path.name} ends in {path.suffix!r}, expected one of {', '.join(SUFFIXES)}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to save {path.name} in")
    part = path.with_name(f".{os.getpid()}.{path.name}")
    page = {"inline": True, "json_kwds": {"cls": _InPage}}
    settings = {".png": {"scale_factor": 2}, ".html": page}.get(path.suffix, {})
    try:
        _on_white(chart).save(part, format=path.suffix[1:], **settings)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return path


def printed(spec: dict) -> dict:
    """Return a specification, as given by `specified`, for files and for print: dark on white."""
    spec = json.loads(json.dumps(spec).replace(f'"{INK}"', f'"{PRINTED}"'))
    return {**spec, "config": spec.get("config", {}) | {"background": "white"}}


def _on_white(chart):
    with debug_mode(False):
        return type(chart).from_dict(printed(specified(chart)))


def svg(chart) -> str:
    """Return a chart as SVG, a static picture that needs no script; within a page, it has the page's ink and ground.

    Parameters
    ----------
    chart : altair chart
        Any that this package draws, or your own.

    Returns
    -------
    str

    Examples
    --------
    >>> import schedlab as sl
    >>> drawn = sl.charts.heatmap(sl.model_trace("lublin", jobs=1000, machine=64, seed=1))
    >>> page = f"<h1>Jobs by size</h1>{sl.charts.svg(drawn)}"
    >>> page.count("<svg")
    1
    """
    stream = io.StringIO()
    chart.save(stream, format="svg")
    return stream.getvalue()
