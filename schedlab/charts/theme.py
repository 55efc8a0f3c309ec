"""The look that all charts share, and how notebooks and pages show them."""

import json
import os
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from typing import ParamSpec, TypeVar
from weakref import WeakValueDictionary
from zlib import crc32

import numpy as np

from schedlab._runtime.text import spelt

from ..show.page import text_beside
from ._altair import alt, debug_mode
from .checks import check_size
from .palette import INK
from .sizes import LEGENDS, MARGIN, PADDING, PAGE, extent, height_of, parts, plots_across, resize, wrapped

P = ParamSpec("P")
Chart = TypeVar("Chart")
BELOW = 14  # pixels between a title and the charts below it that have titles, too
EMBED = {"actions": False, "renderer": "svg"}
ON_PAGE = "SCHEDLAB_PAGE"  # set when notebooks run for the pages of a site, which have the report's script
LAB = "application/vnd.vegalite.v5+json"


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
            shell.display_pub.publish({"application/javascript": text_beside(__file__, "top.js"), "text/plain": ""})


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

    The function itself checks its arguments; the tests validate every chart.
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
    chart : altair chart
        Any kind of Altair chart.

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
        It is not changed; a copy has the look.

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
        "title": {"fontSize": 15, "subtitleFontSize": 12, "anchor": "start", "color": INK, "subtitleColor": INK},
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
    beside = min(len(bare), max(1, PAGE // max(extent(part)[0] + MARGIN * plots_across(part) for part in bare)))
    whole = alt.vconcat(*bare) if beside == 1 else alt.concat(*bare, columns=beside)
    legends = {}
    for channel, legend in _legends(whole):
        legends.setdefault(channel, set()).add(legend)
    if any(len(unlike) > 1 for unlike in legends.values()):  # a shared legend would give some schemes the wrong colour
        whole = whole.resolve_scale(**dict.fromkeys(legends, "independent"))
    whole = themed(resize(whole, width, height))
    return _made(whole) if all(map(_is_made, parts)) else whole


def _legends(chart):
    """Return the channels that have a legend, with their scales and legends as text."""
    for part in (*parts(chart), *(chart.layer if isinstance(chart, alt.LayerChart) else ())):
        yield from _legends(part)
    if isinstance(chart, alt.Chart):
        for channel in LEGENDS:
            encoding = chart.encoding[channel]
            if isinstance(encoding, alt.FieldChannelMixin):
                yield channel, str((encoding["scale"], encoding["legend"]))


def headed(chart, title: str, width: int, *subtitle: str, size: tuple = (None, None)):
    """Give a new chart, in place, its title, the look, its size, and a subtitle, of which each part starts a new line.

    The lines of the subtitle are as wide as the size says, or else as `width`.
    """
    for name, text in (("title", title), *(("subtitle", part) for part in subtitle)):
        if not isinstance(text, str):
            raise TypeError(f"{name} is {spelt(text)}, expected text")
    chart.title = {"text": title, "subtitle": wrapped(subtitle, size[0] or width)}
    if len(parts(chart)) > 1:  # they have headings of their own, which else would touch it
        chart.title["offset"] = BELOW
    chart.config = _look()  # not `themed`: Altair would copy everything in a chart with panels, 15 ms
    return resize(chart, *size)


def about(*subjects) -> str:
    """Say what a chart shows, schedules or traces: the trace (the name of a stand-in says so), its load, its jobs."""
    notes = [note for subject in subjects if hasattr(subject, "trace") for note in subject.notes]
    return "; ".join(dict.fromkeys([*map(_about, subjects), *notes]))


def _about(subject):
    trace = getattr(subject, "trace", subject)
    if subject is trace:
        return f"{trace.title}, {_load_words('offered', trace.offered_load())}, {trace.jobs_text}"
    what, load = ("effective", trace.effective_load) if trace.has_speedup else ("offered", trace.offered_load)
    load = load(subject.overrun) * trace.procs / subject.machine.procs
    return f"{trace.title}, {_load_words(what, load)}, {trace.jobs_text} on {subject.machine}"


def _load_words(what, load):
    return f"{what} load {load:.3g}" if np.isfinite(load) else "all submitted at one instant"
