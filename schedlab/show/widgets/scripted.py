"""Widgets with scripts of their own: the chart of a live figure, and the button with the code behind it."""

import hashlib
from functools import cache
from importlib.metadata import version

import anywidget
import traitlets

from ..._runtime.paths import kept_script
from ...charts._altair import VEGA_LITE, converter
from ...charts.theme import EMBED
from ..page import text_beside

LISTENING = text_beside(__file__, "listening.js")
DRAWING = LISTENING + text_beside(__file__, "chart.js")


class Chart(anywidget.AnyWidget):
    """A chart that is drawn anew when its specification changes, without a network.

    Attributes
    ----------
    spec : dict or None
        In Vega-Lite; with None, nothing is drawn.
    """

    spec = traitlets.Dict(allow_none=True).tag(sync=True)
    options = traitlets.Dict(EMBED).tag(sync=True)
    _esm = traitlets.Unicode().tag(sync=True)

    @traitlets.default("_esm")
    def _script(self):
        return script()


class Code(anywidget.AnyWidget):
    """A button that shows and copies the Python code behind a figure.

    Attributes
    ----------
    code : str

    Examples
    --------
    >>> import schedlab as sl
    >>> button = sl.widgets.Code(code='sl.simulate(sl.load_trace("CTC-SP2-1996"), "easy").metrics()')
    """

    code = traitlets.Unicode().tag(sync=True)
    _esm = LISTENING + text_beside(__file__, "code.js")


@cache
def script() -> str:
    """Return the script of charts: preparing it takes a second or two, once per version."""
    bundle = converter().javascript_bundle
    about = f"{VEGA_LITE}-{version('vl-convert-python')}-{hashlib.sha256(DRAWING.encode()).hexdigest()[:16]}"
    return kept_script(f"widget-{about}.js", lambda: bundle(DRAWING, vl_version=VEGA_LITE))
