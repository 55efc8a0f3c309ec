"""A live figure: controls above a figure, which is drawn anew as they move."""

import ast
import asyncio
import html
import inspect
import os
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, suppress
from numbers import Real
from textwrap import indent

import ipywidgets
import numpy as np
import pandas as pd

from ... import charts
from ..._runtime.text import spelt, suggestion
from ...charts._altair import alt, debug_mode
from ...charts.theme import ON_PAGE
from .controls import EMPTY, NARROW, NOTHING, Whole, control_of, documented, in_words, placed, slides
from .figures import ghosted, titled
from .pages import page_of
from .scripted import Chart, Code

REMEMBERED = 32  # figures; one of 5,000 jobs takes 2 MB
PATIENCE = 0.005  # seconds to wait for a further move; of moves during a computation, only the last one counts
AT_ONCE = 0.15  # seconds; a figure that is drawn within them follows the hand
DRAG = 1  # seconds between moves of one drag, at most
BESIDE = 2  # controls beside the primary one; the others are behind "More"

BUSY = '<div class="schedlab-busy" style="height:3px;background:#E69F00" title="simulating"></div>'
IDLE = '<div style="height:3px"></div>'
_REASONS = '<div class="schedlab-idle" role="status" style="color:var(--jp-ui-font-color2,#555)">{}</div>'
_ERROR = '<div class="schedlab-error" role="alert" style="{}">{}</div>'
_ERROR_STYLE = "border-left:4px solid #D55E00;padding:.5em 1em;white-space:pre-wrap;color:var(--jp-ui-font-color1,#222)"


def live(
    function: Callable,
    /,
    *,
    code: Callable | None = None,
    height: float | None = None,
    labels: Mapping[str, str] | None = None,
    limits: Callable | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    **controls,
) -> "Live":
    """Put controls above a figure; moving one redraws the figure.

    The first slider is the primary control and has a row of its own. If a figure is drawn within 0.15 s, it follows the
    slider while it is dragged; else it is redrawn on release. The next two controls stand below, the others behind
    "More".

    The tooltip of a control is the description of its parameter in the function's docstring, from the section
    "Parameters" in numpydoc form. If the description has several sentences and the first is short, that one is the
    control's label: "Offered load. Run times are scaled to it."

    Parameters
    ----------
    function : callable
        Takes the values of the controls by keyword. Returns an Altair chart, or a chart and a table to show below it (a
        DataFrame or its Styler).
    code : callable, optional
        Takes the same values and returns the Python code that reproduces the figure. Default: code that calls
        `function`.
    height : float, optional
        Height of the figure in pixels, kept while it is redrawn. Default: that of the first chart.
    labels : mapping of str to str, optional
        Label of each control, with its unit: ``{"load": "offered load"}``. Default: the first sentence in the
        docstring, else the parameter's name with spaces for underscores.
    limits : callable, optional
        Says what the controls can do under the present values, of which it takes some or all by keyword. Returns a
        mapping with an entry for each control that is limited:

        - text: the control has no effect, for this reason. It is disabled, and a line above the figure says why.
        - a number: the slider ends there.
        - some values and a text: the control offers only those of its own values that are among these, for this
          reason (empty: not told). With a single value it is disabled.

        Default: the attribute ``limits`` of `function`, if it has one.
    groups : mapping of str to list of str, optional
        Parameters by what they are about, such as ``{"workload": ["trace", "jobs"]}``: so the controls behind "More"
        are grouped. Default: the attribute ``groups`` of `function`, if it has one.
    **controls
        One control for each parameter:

        - ``(low, high)`` or ``(low, high, step)``: a slider.
        - a range or a list of numbers: a slider over these values.
        - any other list, or a mapping of labels to values: a menu.
        - True or False: a checkbox.
        - text: a text field.
        - a widget: itself.

        A control starts at the parameter's default, which must be one of its values. Without a default, or if the
        default is None and None is not offered, it starts at its first value. A slider of more than 150 steps has the
        full width, and a field to type a number.

    Returns
    -------
    Live
        A widget. ``.settings`` has the values of the controls; ``.reset()`` restores the initial ones.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64)
    >>> def waits(load=0.8, scheme="easy"):
    ...     table = sl.sweep(trace, scheme, load, progress=False)
    ...     return sl.charts.lines(table, x="load", y="wait_time")
    >>> labels = {"load": "offered load"}
    >>> figure = sl.widgets.live(waits, load=(0.5, 1.0, 0.05), scheme=["fcfs", "easy"], labels=labels)
    >>> figure.controls["load"].value = 0.9
    """
    return Live(function, code=code, height=height, labels=labels, limits=limits, groups=groups, **controls)


class Live(ipywidgets.VBox):
    """The widget that `live` makes, with its `controls` by name; `drawn` counts the figures not taken from memory.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64)
    >>> def waits(load=0.8, scheme="easy"):
    ...     return sl.widgets.waits(trace, load, scheme)
    >>> figure = sl.widgets.live(waits, load=(0.5, 1.0, 0.1), scheme=["easy", "conservative"])
    >>> figure.controls["scheme"].value = "conservative"
    >>> figure.settings
    {'load': 0.8, 'scheme': 'conservative'}
    >>> figure.reset()  # drawn from memory
    >>> figure.drawn
    2
    """

    def __init__(self, function, /, *, code=None, height=None, labels=None, limits=None, groups=None, **controls):
        groups = getattr(function, "groups", {}) if groups is None else groups
        labels = {} if labels is None else labels
        for name, value, fits, expected in (
            ("code", code, code is None or callable(code), "a function"),
            ("height", height, height is None or (isinstance(height, Real) and height > 0), "a number of pixels"),
            ("limits", limits, limits is None or callable(limits), "a function"),
            ("groups", groups, _is_mapping(groups, Sequence), "lists of controls by name"),
            ("labels", labels, _is_mapping(labels, str), "a mapping of parameters to words"),
        ):
            if not fits:
                raise TypeError(f"{name} is {spelt(value)}, expected {expected}; no control can have this name")
        self._function, self._code = function, code or self._call
        defaults = {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}
        known = dict.fromkeys([*defaults, *controls])
        for about, names in (("labels", labels), *(("groups", names) for names in groups.values())):
            for name in names:
                if name not in known:
                    listed = f"{', '.join(known)}{suggestion(name, known)}"
                    raise ValueError(f"{about} has {name!r}, which is no parameter; known: {listed}")
        entries = documented(function)
        labels = {name: label for name, (label, _) in entries.items() if label} | labels
        tooltips = {name: tooltip for name, (_, tooltip) in entries.items()}
        self.controls = {
            name: control_of(name, values, defaults.get(name, EMPTY), labels.get(name), tooltips.get(name))
            for name, values in controls.items()
        }
        self._first = {name: control.value for name, control in self.controls.items()}
        self._limits = limits or getattr(function, "limits", None)
        self._defaults = {name: default for name, default in defaults.items() if default is not EMPTY}
        self._whole = {name: Whole.of(control) for name, control in self.controls.items()}
        self._fitting, self._timer = False, None
        self._memory, self._height = OrderedDict(), height
        self._ghost = self._shown = None
        self._drawn_at = -DRAG
        self.drawn = 0

        self.chart = self._script = None  # made with the first picture, since a busy page may miss what follows
        self._busy, self._error = ipywidgets.HTML(IDLE), ipywidgets.HTML()
        self._reasons, self._reasons_of_more = ipywidgets.HTML(), ipywidgets.HTML()
        # Otherwise JupyterLab would centre it.
        self._table = ipywidgets.HTML(layout={"width": "fit-content", "max_width": "100%", "overflow": "auto"})
        self._table.add_class("jp-RenderedHTMLCommon")  # JupyterLab's style for tables, in its light and dark themes
        reset = ipywidgets.Button(description="Reset", tooltip="Set all controls back", layout=NARROW)
        reset.on_click(lambda _: self.reset())
        self._place = ipywidgets.VBox([self._error])
        self._hint = ipywidgets.HTML()
        theirs = [control for name, control in self.controls.items() if control is controls[name]]
        rows = {name: placed(control, controls[name]) for name, control in self.controls.items()}
        top = self._arranged(rows, reset, groups, theirs)
        super().__init__([top, self._reasons, self._busy, self._place, self._table])
        self.add_class("schedlab-live")
        for control in self.controls.values():
            control.observe(self._moved, "value")
        self.redraw()

    def _arranged(self, placed, reset, groups, theirs):
        """Return the controls: the first slider by itself, two beside the button, the others folded, by group.

        Widgets of the user, `theirs`, keep their layout.
        """
        self._primary = next((name for name, control in self.controls.items() if slides(control)), None)
        self._order = sorted(placed, key=lambda name: name != self._primary)
        rows, others, self._folded = [], self._order, []
        if self._primary is not None:
            others = self._order[1:]
            first = placed[self._primary]
            if first not in theirs and not isinstance(first, ipywidgets.HBox):
                first.layout = {"flex": "1 1 auto", "width": "auto"}
            rows.append(ipywidgets.HBox([first, self._hint], layout={"width": "100%", "max_width": "60em"}))
        row = {"flex_flow": "row wrap", "align_items": "center", "grid_gap": "0 1.2em"}
        if len(others) < BESIDE + 2:  # a fold for one control would be in its place
            return ipywidgets.VBox([*rows, ipywidgets.HBox([*(placed[name] for name in others), reset], layout=row)])
        beside = [placed[name] for name in others[:BESIDE]]
        self._folded = others[BESIDE:]
        grouped = {about: [] for about in groups}
        for name in self._folded:
            about = next((about for about, names in groups.items() if name in names), "")
            grouped.setdefault(about, []).append(placed[name])
        parts = [ipywidgets.HBox([*_heading(about), *part], layout=row) for about, part in grouped.items() if part]
        folded = ipywidgets.VBox([*parts, self._reasons_of_more], layout={"display": "none"})
        button = ipywidgets.ToggleButton(False, description=f"More ({len(self._folded)})", layout=NARROW)
        button.observe(lambda change: setattr(folded.layout, "display", "flex" if change["new"] else "none"), "value")
        return ipywidgets.VBox([*rows, ipywidgets.HBox([*beside, button, reset], layout=row), folded])

    @property
    def settings(self) -> dict:
        """Values of the controls, by name."""
        values = {name: control.value for name, control in self.controls.items()}
        return {name: None if value is NOTHING else value for name, value in values.items()}

    def reset(self) -> None:
        """Set all controls back to their initial values."""
        self._put(self._first)
        self._moved(None)

    @contextmanager
    def _without_redrawing(self):
        self._fitting = True
        try:
            yield
        finally:
            self._fitting = False

    def _put(self, values):
        """Set the controls to values, as far as the limits let them, without redrawing."""
        with self._without_redrawing():
            for name, control in self.controls.items():
                self._whole[name].fit(control, None, self._first[name])
            for name, value in values.items():
                self.controls[name].value = value
        self._fit()

    @contextmanager
    def _set(self, values):
        """Set some controls for a while, without redrawing, and give the settings."""
        before = {name: control.value for name, control in self.controls.items()}
        self._put(before | values)
        try:
            yield self.settings
        finally:
            self._put(before)

    def _fit(self) -> None:
        """Let each control offer only what has an effect under the values of the others, and say why."""
        if self._limits is None:
            return
        taken = inspect.signature(self._limits).parameters
        for _ in self.controls:  # a value that a limit has changed may change other limits
            before = self.settings
            values = {name: value for name, value in (self._defaults | before).items() if name in taken}
            try:
                limits = self._limits(**values)
            except Exception:  # drawing will fail, too, and then say why
                return
            with self._without_redrawing():
                reasons = {
                    name: self._whole[name].fit(control, limits.get(name), self._first[name])
                    for name, control in self.controls.items()
                }
            if self.settings == before:
                break
        self._reasons.value = self._reasons_of(reasons, folded=False)
        self._reasons_of_more.value = self._reasons_of(reasons, folded=True)

    def _reasons_of(self, reasons, folded):
        """Write why controls have no effect, beside those that are folded or those that are not."""
        by_reason = {}
        for name, reason in reasons.items():
            if reason and (name in self._folded) == folded:
                by_reason.setdefault(reason, []).append(self.controls[name].description)
        lines = [f"{', '.join(labels)}: {reason}" for reason, labels in by_reason.items()]
        return _REASONS.format(html.escape("; ".join(lines))) if lines else ""

    def redraw(self) -> None:
        """Draw the figure for the current values of the controls, from memory if possible."""
        self._timer = None
        self._fit()
        values = self.settings
        try:
            spec, table = self._recall(values)
        except Exception as error:  # whatever it is, the user sees it in place of the figure
            spec, table = None, ""
            self._error.value = _ERROR.format(_ERROR_STYLE, html.escape(f"{type(error).__name__}: {error}"))
        else:
            self._error.value = ""
        spec = self._with_ghost(spec)
        self._table.value = table
        try:
            code = self._code(**values)  # even if the figure failed, so that the user can look into it
        except Exception as error:  # the figure may be right nonetheless
            code = indent(f"there is no code for this figure: {type(error).__name__}: {error}", "# ")
        if self.chart is None:
            self.chart = Chart(spec=spec)
            self._script = Code(code=code)
            self._place.children = [self.chart, self._error]
            self.children = [*self.children, self._script]
        self.chart.spec = spec
        self._script.code = code
        self._busy.value = IDLE

    def _with_ghost(self, spec):
        """Return a figure with the lines from before the move, thin, if both have the same axes and schemes.

        Moves that follow one another within a second are one drag: its ghost is the figure that it began with.
        """
        now = time.monotonic()
        if now - self._drawn_at > DRAG:
            self._ghost = self._shown
        self._drawn_at, self._shown = now, spec
        return ghosted(spec, self._ghost)

    def _repr_mimebundle_(self, **settings):
        if not os.environ.get(ON_PAGE):
            return super()._repr_mimebundle_(**settings)
        return {"text/html": page_of(self)}

    def _recall(self, values):
        """Return the specification and the table for some values, from memory if possible."""
        key = tuple(values.values())
        try:
            drawn = self._memory.get(key)
        except TypeError:  # a value that is not hashable, such as a list
            return self._compute(values)
        drawn = self._memory[key] = drawn or self._compute(values)
        self._memory.move_to_end(key)
        if len(self._memory) > REMEMBERED:
            self._memory.popitem(last=False)
        return drawn

    def _compute(self, values):
        begin = time.perf_counter()
        with debug_mode(False):  # no validation of each part: it takes a third of the time
            drawn = self._function(**values)
            chart, table = drawn if isinstance(drawn, tuple) and len(drawn) == 2 else (drawn, None)
            if not isinstance(chart, alt.TopLevelMixin) or not (table is None or hasattr(table, "to_html")):
                kinds = [type(part).__name__ for part in (drawn if isinstance(drawn, tuple) else (drawn,))]
                raise TypeError(f"the function gave {', '.join(kinds)}, expected a chart, or a chart and a table")
            spec = titled(chart.to_dict(validate=False), self._setting())
            # A table has no borders of its own, which would not follow the theme.
            written = "" if table is None else table.to_html(**{"border": 0} if isinstance(table, pd.DataFrame) else {})
        self.drawn += 1
        self._follow(time.perf_counter() - begin < AT_ONCE)
        if self._height is None:
            self._height = charts.height_of(spec)
        self._place.layout.min_height = f"{self._height:.0f}px"
        return spec, written

    def _setting(self):
        """Return the values of all controls that have an effect, in words; of the folded ones, of those that moved."""
        effective = [name for name in self._order if not getattr(self.controls[name], "disabled", False)]
        unmoved = [
            name for name in effective if name in self._folded and self.controls[name].value == self._first[name]
        ]
        settings = [
            in_words(self.controls[name].description or name, self.controls[name])
            for name in effective
            if name not in unmoved
        ]
        return ", ".join([*settings, *["the rest as at first"] * bool(unmoved)])

    def _follow(self, at_once):
        """Let the primary control redraw while it is dragged, or only when it is released."""
        if self._primary is not None:
            self.controls[self._primary].continuous_update = at_once
            self._hint.value = "" if at_once else '<span title="the figure is redrawn on release">release</span>'

    def _call(self, /, **values):
        """Return the code that calls the function: with an import if it is in a module, else with a comment on it."""
        name, module = getattr(self._function, "__name__", ""), getattr(self._function, "__module__", None)
        if not name.isidentifier():  # a lambda, or a callable object
            name, origin = "function", "# function is the one given to live"
        elif module != "__main__" and getattr(sys.modules.get(module), name, None) is self._function:
            origin = f"from {module} import {name}"
        else:
            origin = f"# {name} is defined in this notebook"
        lines, arguments = [origin], []
        for parameter, value in values.items():
            written = _written(value)
            if written is None:
                label = getattr(self.controls[parameter], "label", None)
                described = f"what the menu calls {label!r}" if label else repr(value)
                lines.append(indent(f"{parameter} is {described}", "# "))
            arguments.append(f"{parameter}={parameter if written is None else written}")
        drawn = "chart, table" if self._table.value else "chart"
        return "\n".join([*lines, f"{drawn} = {name}({', '.join(arguments)})", "chart"])

    def _moved(self, _):
        """Redraw, unless the next move is already waiting."""
        if self._fitting:
            return
        self._busy.value = BUSY
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # outside a notebook, there is nothing to wait for
            self.redraw()
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_later(PATIENCE, self.redraw)


def _heading(about):
    return [ipywidgets.HTML(f"<b>{html.escape(about)}</b>", layout={"width": "6em"})] if about else []


def _is_mapping(value, kind):
    return isinstance(value, Mapping) and all(isinstance(part, kind) for part in value.values())


def _written(value):
    """Write a value as Python code that needs no import; None if that is impossible."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        ast.literal_eval(text)
        return text
    return None
