"""Charts as files, for print, and within what displays itself, such as a case or a report of checks."""

import io
import json
import os
from pathlib import Path

from .. import show
from .._runtime.paths import replacing
from ._altair import converter, debug_mode
from .palette import INK, PRINTED
from .theme import ON_PAGE, on_page, specified

SUFFIXES = (".png", ".svg", ".pdf", ".html", ".json")


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
        The suffix sets the format: .png, .svg, .pdf, .html (a page that opens offline) or .json (Vega-Lite). The folder
        must exist.

    Returns
    -------
    Path
        The file.

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
    if path.suffix != ".json":
        converter()  # without which Altair would fail in its own words
    page = {"inline": True, "json_kwds": {"cls": _InPage}}
    settings = {".png": {"scale_factor": 2}, ".html": page}.get(path.suffix, {})
    with debug_mode(False):
        on_white = type(chart).from_dict(printed(specified(chart)))
    with replacing(path) as part:
        on_white.save(part, format=path.suffix[1:], **settings)
    return path


def printed(spec: dict) -> dict:
    """Return a specification, as given by `specified`, for files and for print: dark on white."""
    spec = json.loads(json.dumps(spec).replace(f'"{INK}"', f'"{PRINTED}"'))
    return {**spec, "config": spec.get("config", {}) | {"background": "white"}}


def svg(chart) -> str:
    """Return a chart as SVG, a static picture that needs no script; within a page, it has the page's ink and ground.

    Parameters
    ----------
    chart : altair chart
        Any that this package draws, or your own.

    Examples
    --------
    >>> import schedlab as sl
    >>> drawn = sl.charts.heatmap(sl.model_trace("lublin", jobs=1000, machine=64, seed=1))
    >>> page = f"<h1>Jobs by size</h1>{sl.charts.svg(drawn)}"
    >>> page.count("<svg")
    1
    """
    stream = io.StringIO()
    converter()
    chart.save(stream, format="svg")
    return stream.getvalue()


def within(chart, label: str) -> str:
    """Return a chart as HTML with its alternative text: static, or on a page of the site drawn for its width."""
    return on_page(specified(chart)) if os.environ.get(ON_PAGE) else show.image(svg(chart), label)
