"""Live figures: a function that draws, and controls for its parameters.

The first slider is the primary control: the figure follows the hand where it is drawn quickly enough, else it is
redrawn on release, and a word beside the slider says so. The next two controls stand below it, the others behind
"More", by what they are about. The setting is written below the figure's title. Lines from before a move stay as a thin
ghost if the axes are the same. Figures drawn before come from memory. A thin bar above the figure shows that one is
being computed. An error replaces the figure, so an outdated one is never shown.
"""

import ast
import asyncio
import html
import inspect
import math
import os
import re
import sys
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.metadata import version
from itertools import product
from numbers import Integral, Real
from textwrap import indent, wrap

import numpy as np
import pandas as pd

try:
    import anywidget
    import ipywidgets
    import traitlets
except ModuleNotFoundError as missing:
    install = "which comes with schedlab's extra: pip install 'schedlab[lab]'"
    raise ModuleNotFoundError(f"live figures need {missing.name}, {install}", name=missing.name) from None

from .. import charts
from .._runtime.paths import kept_script
from .._runtime.text import check_known, suggestion
from ..charts._altair import alt, debug_mode
from ..charts.theme import ON_PAGE, WIDE
from ..experiment import remember
from ..schedule.simulation import has_waits, simulate
from ..schedule.statistics import IntervalWarning, paired
from ..schemes import Scheme, by_name
from ..schemes import scheme as scheme_named
from ..schemes.orders import NAMES, OF_USERS
from ..workload import archive
from ..workload.conventions import OVERRUN
from ..workload.labels import labels
from ..workload.loading import load_trace
from ..workload.trace import Trace
from ..workload.variations import WEEK
from .page import duration as _duration
from .page import unit_of as _unit_of

ON_A_PAGE = (5, 3, 2)  # values of the first controls, whose combinations a page has
HEAVIEST = 1_500_000  # characters of a figure in all its settings on a page; or five settings
REMEMBERED = 32  # figures; one of 5,000 jobs takes 2 MB
PATIENCE = 0.005  # seconds to wait for a further move; of moves during a computation, only the last one counts
EMBED = {"actions": False, "renderer": "svg"}
GHOST = {"strokeWidth": 1, "opacity": 0.6}  # of lines from before a move
AT_ONCE = 0.15  # seconds; a figure that is drawn within them follows the hand
DRAG = 1  # seconds between moves of one drag, at most
CHARACTERS = 130  # of a line that says the setting
TITLE = 88  # characters of a line of a title
SMALL = 12  # size of its letters where nothing else is above the panels, in pixels
BESIDE = 2  # controls beside the primary one; the others are behind "More"
MOST_STEPS = 150  # of a slider next to others: with more, a step is only a pixel or two

_EMPTY = inspect.Parameter.empty
NOTHING = object()  # stands for an offered None: ipywidgets treats the value None as no choice
_WHOLE_LABEL = {"style": {"description_width": "initial"}}
_NARROW = {"width": "auto"}
_FIELD = {"width": "9em"}
_PARAMETERS = re.compile(r"^Parameters\n-{3,}\n([\s\S]*?)(?=^\S.*\n-{3,}$|\Z)", re.MULTILINE)
_FIRST_SENTENCE = re.compile(r"([^.`]{1,45})\. (?=[A-Z])")  # if another follows; no abbreviation or code
_LABEL = re.compile(r"(.*: )?(.*?)(?: \(([^()]*)\))?")  # a letter, what it means, the unit or more words
_NUMBER = re.compile(r"-?\d[\d.,e-]*")
_UNITS = ("s", "min", "h")
_BUSY = '<div class="schedlab-busy" style="height:3px;background:#E69F00" title="simulating"></div>'
_IDLE = '<div style="height:3px"></div>'
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
    """The widget that `live` makes.

    Attributes
    ----------
    controls : dict of str to widget
    chart : altair.JupyterChart
    drawn : int
        How many figures were computed, not counting those from memory.

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
        if code is not None and not callable(code):
            raise TypeError(f"code is {code!r}, expected a function; no control can have this name")
        if height is not None and not (isinstance(height, Real) and height > 0):
            raise TypeError(f"height is {height!r}, expected a number of pixels; no control can have this name")
        if limits is not None and not callable(limits):
            raise TypeError(f"limits is {limits!r}, expected a function; no control can have this name")
        groups = getattr(function, "groups", {}) if groups is None else groups
        if not (isinstance(groups, Mapping) and all(isinstance(names, Sequence) for names in groups.values())):
            raise TypeError(f"groups is {groups!r}, expected lists of controls by name; no control can have this name")
        _offline()
        self._function, self._code = function, code or self._call
        defaults = {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}
        documented = _documented(function)
        tooltips = {name: tooltip for name, (_, tooltip) in documented.items()}
        known = dict.fromkeys([*defaults, *controls])
        labels = _checked_labels({} if labels is None else labels, known)
        for names in groups.values():
            _check_parameters("groups", names, known)
        labels = {name: label for name, (label, _) in documented.items() if label} | labels
        self.controls = {
            name: _control(name, given, defaults.get(name, _EMPTY), labels.get(name), tooltips.get(name))
            for name, given in controls.items()
        }
        self._first = {name: control.value for name, control in self.controls.items()}
        self._limits = limits or getattr(function, "limits", None)
        self._defaults = {name: default for name, default in defaults.items() if default is not _EMPTY}
        self._whole = {name: _Whole.of(control) for name, control in self.controls.items()}
        self._fitting = False
        self._memory = OrderedDict()
        self._timer = None
        self._height = height
        self._ghost = self._shown = None
        self._drawn_at = -DRAG
        self.drawn = 0

        self.chart = alt.JupyterChart(None, embed_options=EMBED)
        self._busy, self._error = ipywidgets.HTML(_IDLE), ipywidgets.HTML()
        self._reasons, self._reasons_of_more = ipywidgets.HTML(), ipywidgets.HTML()
        # Otherwise JupyterLab would centre it.
        self._table = ipywidgets.HTML(layout={"width": "fit-content", "max_width": "100%", "overflow": "auto"})
        self._table.add_class("jp-RenderedHTMLCommon")  # JupyterLab's style for tables, in its light and dark themes
        self._script = Code()
        reset = ipywidgets.Button(description="Reset", tooltip="Set all controls back", layout=_NARROW)
        reset.on_click(lambda _: self.reset())
        self._place = ipywidgets.VBox([self.chart, self._error])
        self._hint = ipywidgets.HTML()
        placed = {name: _placed(control, controls[name]) for name, control in self.controls.items()}
        own = [control for name, control in self.controls.items() if control is controls[name]]
        top = self._arranged(placed, reset, groups, own)
        super().__init__([top, self._reasons, self._busy, self._place, self._table, self._script])
        self.add_class("schedlab-live")
        for control in self.controls.values():
            control.observe(self._moved, "value")
        self.redraw()

    def _arranged(self, placed, reset, groups, own):
        """Return the controls: the first slider by itself, two beside the button, the others folded, by group.

        Widgets of the user's `own` keep their layout.
        """
        self._primary = next(filter(self._slides, self.controls), None)
        self._order = sorted(placed, key=lambda name: name != self._primary)
        rows, others, self._folded = [], self._order, []
        if self._primary is not None:
            others = self._order[1:]
            first = placed[self._primary]
            if first not in own and not isinstance(first, ipywidgets.HBox):
                first.layout = {"flex": "1 1 auto", "width": "auto"}
            rows.append(ipywidgets.HBox([first, self._hint], layout={"width": "100%", "max_width": "60em"}))
        row = {"flex_flow": "row wrap", "align_items": "center", "grid_gap": "0 1.2em"}
        if len(others) < BESIDE + 2:  # a fold for one control would be in its place
            several = [placed[name] for name in others]
            return ipywidgets.VBox([*rows, ipywidgets.HBox([*several, reset], layout=row)])
        beside, self._folded, grouped = (
            [placed[name] for name in others[:BESIDE]],
            others[BESIDE:],
            {about: [] for about in groups},
        )
        for name in self._folded:
            about = next((words for words, names in groups.items() if name in names), "")
            grouped.setdefault(about, []).append(placed[name])
        parts = [ipywidgets.HBox([*_heading(about), *part], layout=row) for about, part in grouped.items() if part]
        folded = ipywidgets.VBox([*parts, self._reasons_of_more], layout={"display": "none"})
        button = ipywidgets.ToggleButton(False, description=f"More ({len(self._folded)})", layout=_NARROW)
        button.observe(lambda change: setattr(folded.layout, "display", "flex" if change["new"] else "none"), "value")
        return ipywidgets.VBox([*rows, ipywidgets.HBox([*beside, button, reset], layout=row), folded])

    def _slides(self, name):
        return self.controls[name].has_trait("continuous_update") and self.controls[name].has_trait("readout")

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
                self._whole[name].put_back(control)
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
                told = {
                    name: self._whole[name].fit(control, limits.get(name), self._first[name])
                    for name, control in self.controls.items()
                }
            if self.settings == before:
                break
        self._reasons.value = self._told(told, folded=False)
        self._reasons_of_more.value = self._told(told, folded=True)

    def _told(self, reasons, folded):
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
        self.chart.spec = self._with_ghost(spec)
        self._table.value = table
        try:
            self._script.code = self._code(**values)  # even if the figure failed, so that the user can look into it
        except Exception as error:  # the figure may be right nonetheless
            self._script.code = indent(f"there is no code for this figure: {type(error).__name__}: {error}", "# ")
        self._busy.value = _IDLE

    def _with_ghost(self, spec):
        """Return a figure with the lines from before the move, thin, if both have the same axes and schemes.

        Moves that follow one another within a second are one drag: its ghost is the figure that it began with.
        """
        now = time.monotonic()
        if now - self._drawn_at > DRAG:
            self._ghost = self._shown
        self._drawn_at, self._shown = now, spec
        return _ghosted(spec, self._ghost)

    def _repr_mimebundle_(self, **settings):
        if not os.environ.get(ON_PAGE):
            return super()._repr_mimebundle_(**settings)
        return {"text/html": _page_of(self)}

    def _recall(self, values):
        """Return the specification and the table for some values, from memory if possible."""
        key = tuple(values.values())
        try:
            found = self._memory.get(key)
        except TypeError:  # a value that is not hashable, such as a list
            return self._compute(values)
        found = self._memory[key] = found or self._compute(values)
        self._memory.move_to_end(key)
        if len(self._memory) > REMEMBERED:
            self._memory.popitem(last=False)
        return found

    def _compute(self, values):
        begin = time.perf_counter()
        with debug_mode(False):  # no validation of each part: it takes a third of the time
            drawn = self._function(**values)
            chart, table = drawn if isinstance(drawn, tuple) and len(drawn) == 2 else (drawn, None)
            if not isinstance(chart, alt.TopLevelMixin) or not (table is None or hasattr(table, "to_html")):
                kinds = [type(part).__name__ for part in (drawn if isinstance(drawn, tuple) else (drawn,))]
                raise TypeError(f"the function gave {', '.join(kinds)}, expected a chart, or a chart and a table")
            spec = _titled(chart.to_dict(validate=False), self._setting())
            found = spec, "" if table is None else _written_table(table)
        self.drawn += 1
        self._follow(time.perf_counter() - begin < AT_ONCE)
        if self._height is None:
            self._height = charts.height_of(found[0])
        self._place.layout.min_height = f"{self._height:.0f}px"
        return found

    def _setting(self):
        """Return the values of all controls that have an effect, in words; of the folded ones, of those that moved."""
        told, left = [], False
        for name in self._order:
            control = self.controls[name]
            if getattr(control, "disabled", False):
                continue
            if name in self._folded and control.value == self._first[name]:
                left = True
            else:
                told.append(_in_words(control.description or name, control))
        return ", ".join([*told, *["the rest as at first"] * left])

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
                found = f"what the menu calls {label!r}" if label else repr(value)
                lines.append(indent(f"{parameter} is {found}", "# "))
            arguments.append(f"{parameter}={parameter if written is None else written}")
        drawn = "chart, table" if self._table.value else "chart"
        return "\n".join([*lines, f"{drawn} = {name}({', '.join(arguments)})", "chart"])

    def _moved(self, _):
        """Redraw, unless the next move is already waiting."""
        if self._fitting:
            return
        self._busy.value = _BUSY
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # outside a notebook, there is nothing to wait for
            self.redraw()
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_later(PATIENCE, self.redraw)


def simulating(simulate: Callable[[str], None], *, quick: bool = True) -> ipywidgets.VBox:
    """Return buttons that simulate again, at the quick or at the full size, with room for progress bars and errors.

    Parameters
    ----------
    simulate : function of the size
        The buttons are disabled while it runs.
    quick : bool
        Whether there is a quick size.

    Examples
    --------
    >>> import schedlab as sl
    >>> row, _ = sl.widgets.simulating(print).children
    >>> [button.description for button in row.children]
    ['Simulate again', 'at full size']
    """
    again = ipywidgets.Button(description="Simulate again", tooltip="Some of the kept runs, in seconds", layout=_NARROW)
    full = ipywidgets.Button(
        description="at full size",
        tooltip="All of them: up to an hour; it goes on where it was stopped",
        layout=_NARROW,
    )
    output = ipywidgets.Output()

    def clicked(size):
        again.disabled = full.disabled = True
        output.clear_output()
        try:
            with output:
                simulate(size)
        finally:
            again.disabled = full.disabled = False

    again.on_click(lambda _: clicked("quick"))
    full.on_click(lambda _: clicked("full"))
    full.description = full.description if quick else "Simulate at full size"
    return ipywidgets.VBox([ipywidgets.HBox([again, full] if quick else [full]), output])


@dataclass(frozen=True)
class _Whole:
    """What a control can do if nothing limits it."""

    tooltip: str
    disabled: bool
    end: float | None
    options: tuple | None

    @classmethod
    def of(cls, control):
        end, options = (getattr(control, name, None) for name in ("max", "options"))
        return cls(control.tooltip, getattr(control, "disabled", False), end, options)

    def put_back(self, control):
        """Let a control do all that it can."""
        control.tooltip, control.disabled = self.tooltip, self.disabled
        if self.end is not None:
            control.max = self.end
        if self.options is not None and control.options != self.options:
            control.options = self.options

    def fit(self, control, limit, first):
        """Limit a control, as `live` says, and return the reason to tell, or an empty text."""
        end, options, reason, idle = self.end, self.options, "", False
        match limit:
            case str():
                reason, idle = limit, True
            case Real():
                end = max(limit, control.min)
                idle = end == control.min
                reason = f"only {end:g} is left" if idle else ""
            case (values, reason):
                allowed = [_offered(value) for value in values]
                options = tuple(option for option in self.options if _value_of(option) in allowed) or self.options[-1:]
                idle = len(options) == 1
                reason = reason if idle or options != self.options else ""
        if options is not None and control.options != options:
            before, known = control.value, [_value_of(option) for option in options]
            control.options = options  # this selects the first of them
            control.value = next(value for value in (before, first, *known) if value in known)
        if end is not None and control.max != end:
            control.max = end
        control.disabled = self.disabled or idle
        control.tooltip = f"{self.tooltip} (No effect now: {reason}.)" if idle else self.tooltip
        return reason


def _ghosted(spec, before):
    """Return a figure of lines above those of another one that has the same axes and schemes; else the figure "
    "itself.
    """
    both = (spec, before)
    if None in both or spec == before or any(not isinstance(one.get("mark"), dict) for one in both):
        return spec
    if any(one["mark"].get("type") != "line" for one in both) or spec["encoding"] != before["encoding"]:
        return spec
    places = {name: channel for name, channel in before["encoding"].items() if name in ("x", "y", "color")}
    ghost = {"data": before["data"], "mark": {**before["mark"], **GHOST}, "encoding": places}
    shown = {name: spec[name] for name in ("data", "mark", "encoding")}
    rest = {name: part for name, part in spec.items() if name not in shown}
    return {**rest, "datasets": before["datasets"] | spec["datasets"], "layer": [ghost, shown]}


def _titled(spec, setting):
    """Return a figure with its setting below its title, which has several lines if it is long."""
    title = spec.get("title", {})
    title = title if isinstance(title, dict) else {"text": title}
    told = title.get("subtitle", [])
    lines = [*([told] if isinstance(told, str) else told), *wrap(setting, CHARACTERS)]
    if "text" not in title:  # panels with titles of their own
        return spec | {"title": {"text": lines, "fontWeight": "normal", "fontSize": SMALL}}
    text = title["text"]
    if isinstance(text, str) and len(text) > TITLE:
        text = wrap(text, TITLE)
    return spec | {"title": title | {"text": text, "subtitle": lines}}


def _in_words(label, control):
    """Write a control and its value: "offered load 0.9", "scheme: EASY"; of "s: gain", only the gain."""
    value = _said(control)
    _, about, unit = _LABEL.fullmatch(label).groups()
    if not _NUMBER.fullmatch(value):
        return f"{about}: {value}"
    return f"{about} {value}" + (f" {unit}" if unit in _UNITS or (unit or "").startswith("%") else "")


def _said(control):
    """Write the value of a control as its user sees it."""
    if isinstance(control.value, bool):
        return "yes" if control.value else "no"
    if control.has_trait("options"):
        return str(control.label)
    return f"{control.value:.7g}" if isinstance(control.value, Real) else str(control.value)


def _heading(words):
    return [ipywidgets.HTML(f"<b>{html.escape(words)}</b>", layout={"width": "6em"})] if words else []


def _value_of(option):
    return option[1] if isinstance(option, tuple) else option


def explore(*traces: Trace | str) -> "Live":
    """Explore a workload and try policies on it, in a live figure.

    It opens on a comparison of two schemes, and says the difference in a sentence. Choose the load, the schemes, the
    trace, the overrun rule, and the view: how waits are distributed, the machine and the queue over time, the Gantt
    charts of some weeks, the waits job by job, or arrivals by weekday and hour. The table below
    shows the measures of both schemes and their difference, with intervals if both settle (`Schedule.settles`).

    Parameters
    ----------
    *traces : Trace or str
        Traces to choose from, beginning with the first. Named logs are loaded when chosen. Archive logs that are
        available locally are offered too.

    Returns
    -------
    Live
        As `live` returns.

    Raises
    ------
    ValueError
        If no trace is given and no log is available locally.

    Examples
    --------
    >>> import schedlab as sl
    >>> bench = sl.widgets.explore(sl.model_trace("lublin", jobs=500, machine=64))
    >>> bench.controls["view"].value = "Gantt chart"
    """
    listed = archive.list_traces()
    logs = {name: name for name in listed.loc[listed["local"] != "", "name"]}
    given = _menu(traces, logs)
    offered = logs | given
    if not offered:
        raise ValueError("there is no trace to explore: give one, or set SCHEDLAB_DATA to a folder of logs")
    first = next(iter(given or offered))
    offered = {first: offered.pop(first)} | offered
    week = ipywidgets.IntSlider(0, 0, _weeks(_trace(offered[first])) - 1, **_WHOLE_LABEL)
    schemes = [name for name, make in by_name().items() if make.func.needs in (None, "waits")]
    loads = [("as it is", NOTHING), *((f"{load / 100:.2f}", load / 100) for load in range(30, 125, 5))]
    return live(
        bench,
        code=_bench_code,
        limits=_bench_limits,
        groups=_BENCH_GROUPS,
        load=ipywidgets.SelectionSlider(options=loads, index=0, layout=_wide("offered load"), **_WHOLE_LABEL),
        scheme=schemes,
        against=schemes,
        order=list(NAMES),
        trace=offered,
        overrun=list(OVERRUN),
        view=list(VIEWS),
        week=week,
        weeks=[1, 2, 4, 8, 13, 26, 52],
    )


_BENCH_GROUPS = {"scheme": ["order"], "view": ["view", "week", "weeks"], "workload": ["trace", "overrun"]}


def _bench_limits(trace, load, scheme, against, view):
    """Say what the controls of `explore` can do, as the limits of `live`."""
    trace, schemes, last = _trace(trace), by_name(), _weeks(_trace(trace)) - 1
    compared = [scheme_named(name) for name in (scheme, against)]
    happened = [one for one in compared if not one.simulated]
    rules = [rule for rule in OVERRUN if all(rule in one.overruns for one in compared if one.simulated)]
    names = [name for name, make in schemes.items() if make.func.simulated or (load is None and has_waits(trace))]
    happening = f"“{FROM_LOG}” is what happened"
    other_load = f"{happening}, at no other load" if load is not None and has_waits(trace) else ""
    nobody = trace.columns.is_unknown("user")
    limits = {
        "scheme": (names, other_load),
        "against": (names, other_load),
        "overrun": (rules, "not every rule is for both schemes"),
        "order": ([name for name in NAMES if not (nobody and name in OF_USERS)], ""),
        "view": (list(VIEWS), ""),
        "week": last if last else "the trace has one week",
    }
    if not last:
        limits["weeks"] = limits["week"]
    if view not in OF_WEEKS:
        limits["week"] = limits["weeks"] = "this view is of the whole trace"
    if trace.header.unix_start_time is None:
        limits["view"] = ([name for name in VIEWS if name != "arrivals"], "arrivals need dates, which the trace lacks")
    if happened:
        limits["load"] = f"{happening}, at no other load"
    if not compared[0].simulated:
        limits["order"] = f"{happening}, in its own order"
    if len(happened) == len(compared):
        limits["overrun"] = (rules[:1], f"{happening}, whatever the rule")
    elif not trace.beyond_estimates()[0]:
        limits["overrun"] = (rules[:1], "no job outlives its estimate")
    return limits


def _menu(traces, logs):
    """Name traces for a menu that also lists names of logs."""
    traces = [one if isinstance(one, Trace) else archive.resolve(one) for one in traces]
    return dict(zip(labels([*traces, *logs]), traces, strict=False))


def bench(
    trace: Trace | str,
    load: float | None = None,
    overrun: str = "kill",
    scheme: str = "easy",
    order: str = "fcfs",
    against: str = "fcfs",
    view: str = "waits",
    week: int = 0,
    weeks: int = 4,
) -> tuple:
    """Draw one view of a trace under two schemes, and compare their measures.

    The title says the difference of the mean waits.

    The whole trace is simulated; the chart shows only the chosen weeks.

    Parameters
    ----------
    trace : Trace or str
        The workload; a name is loaded.
    load : float, optional
        Offered load. Run times are scaled to it; by default the trace keeps its own load.
    overrun : {"kill", "extend", "keep"}
        Jobs beyond their estimates. With "kill", they end there. With "extend", their estimates are
        raised beforehand. With "keep", they run on, and the scheduler learns of it when their estimates expire (not
        under conservative backfilling).
    scheme : str
        The scheme to show.
    order : str
        Order of its queue. The scheme it is compared with serves first come, first served.
    against : str
        Scheme to compare with. A name; "log" is what really happened.
    view : {"waits", "over time", "Gantt chart", "job by job", "arrivals"}
        What to draw.
    week : int
        First week shown. Weeks count from 0.
    weeks : int
        Weeks shown. The whole trace is simulated.

    Returns
    -------
    chart, table

    Raises
    ------
    ValueError
        For an unknown view.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1)
    >>> chart, table = sl.widgets.bench(trace, load=0.9, scheme="easy", against="fcfs", weeks=1)
    """
    check_known("view", view, VIEWS)
    trace = _trace(trace)
    compared = (_ordered(scheme, order), scheme_named(against))
    schedule, other = (_simulated(trace, load, one, overrun) for one in compared)
    chart = VIEWS[view](schedule, other, _window(schedule, week, weeks), _difference(schedule, other))
    return chart, charts.table(*_side_by_side(schedule, other))


def waits(
    trace: Trace | str,
    load: float | None = None,
    scheme: Scheme | str = "easy",
    against: Scheme | str = "fcfs",
) -> alt.Chart:
    """Draw how the waits of a trace at a load are distributed under two schemes, on the same axis at any load.

    Parameters
    ----------
    trace : Trace or str
        The workload; a name is loaded.
    load : float, optional
        Offered load to scale run times to; by default the trace keeps its own load.
    scheme : scheme or str
        The scheme to show.
    against : scheme or str
        The scheme to compare with.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64)
    >>> chart = sl.widgets.waits(trace, 0.8, sl.EASY(order="sjf"))
    """
    trace = _trace(trace)
    schemes = dict.fromkeys(map(scheme_named, (against, scheme)))
    schedules = [_simulated(trace, load, one, "kill") for one in schemes]
    means = (f"{_duration(one.metrics()['wait_time'])} under {one.scheme}" for one in reversed(schedules))
    title = f"Mean wait: {', '.join(means)}"
    return charts.distribution(schedules, up_to=_span(trace), title=title, width=WIDE)


def _span(trace):
    """Return the time from the first to the last submission, which ends the axis of waits at any load."""
    submit = trace.table["submit_time"]
    return float(submit.iloc[-1] - submit.iloc[0])


def _both(schedule, other):
    """Return the schedule to compare with and the other one, by scheme: one if they are of the same scheme."""
    return {str(one.scheme): one for one in (other, schedule)}


def _difference(schedule, other):
    """Say in a sentence how long jobs wait under two schemes."""
    ours, theirs = (one.metrics()["wait_time"] for one in (schedule, other))
    said = f"Under {schedule.scheme} a job waits {_duration(ours)} on average"
    if str(schedule.scheme) != str(other.scheme):
        more = "less than" if ours < theirs else "more than"
        if ours == theirs or (theirs and abs(ours / theirs - 1) < 0.005):
            more = "as long as"
        elif theirs and 0.5 <= ours / theirs <= 2:
            more = f"{abs(ours / theirs - 1):.0%} {more}"
        said += f", {more} under {other.scheme} ({_duration(theirs)})"
    queues = dict.fromkeys(str(one.scheme) for one in (schedule, other) if not one.settles)
    return said + f"; under {' and '.join(queues)} the queue never settles" * bool(queues)


# The function for each view. It takes the schedule, the one to compare with, the window in seconds of the log, and the
# title.
VIEWS = {
    "waits": lambda schedule, other, window, title: charts.distribution(
        _both(schedule, other), up_to=_span(schedule.trace), title=title, width=WIDE
    ),
    "over time": lambda schedule, other, window, title: charts.profile(schedule, window, against=other, title=title),
    "Gantt chart": lambda schedule, other, window, title: charts.gantts(_both(schedule, other), window, title=title),
    "job by job": lambda schedule, other, window, title: charts.scatter(
        other, schedule, up_to=_span(schedule.trace), title=title
    ),
    "arrivals": lambda schedule, other, window, title: _arrivals(schedule.trace),
}
OF_WEEKS = ("over time", "Gantt chart")  # views of the chosen weeks
FROM_LOG = "log"  # the name of the schedule that really happened
_MEASURES = {
    "wait_time": "mean wait",
    "median_wait_time": "median wait",
    "p95_wait_time": "95th percentile of the wait",
    "bounded_slowdown": "mean bounded slowdown",
    "utilization": "utilization (%)",
    "loss_of_capacity_share": "loss of capacity (%)",
    "mean_queue": "mean queue (jobs)",
    "killed": "killed at their estimate (jobs)",
}
_SHARES = ("utilization", "loss_of_capacity_share")
_WAITS = [name for name in _MEASURES if name.endswith("wait_time")]


def _arrivals(trace):
    if trace.header.unix_start_time is None:
        needed = "has no dates (no UnixStartTime), which this view needs; choose another view"
        raise ValueError(f"{trace.name} {needed}")
    return charts.arrivals(trace)


def _side_by_side(schedule, other):
    """Return the measures of two schedules with the paired difference, and a caption that says how certain it is.

    If one of them does not settle, the caption says so, and there are no intervals.
    """
    ours, theirs = (one.metrics()[list(_MEASURES)] for one in (schedule, other))
    names, scale = dict(_MEASURES), pd.Series(1.0, ours.index)
    for wait in _WAITS:
        both = (ours[wait] * theirs[wait]) ** 0.5 or max(ours[wait], theirs[wait])  # readable for both
        unit, scale[wait] = _unit_of(both)
        names[wait] += f" ({unit})"
    scale[list(_SHARES)] = 0.01  # as percentages
    ours, theirs = ours / scale, theirs / scale
    columns, caption = {f"{schedule.scheme}": ours, f"{other.scheme}": theirs}, ""
    if len(columns) == 2:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IntervalWarning)  # the caption says it
            pairs = {name: paired(schedule, other, name).difference for name in ("wait_time", "bounded_slowdown")}
        columns["difference"], settled = ours - theirs, schedule.settles and other.settles
        if settled:
            shown = pd.Series({name: _between(pair, scale[name]) for name, pair in pairs.items()})
            columns["95 % interval"] = shown.reindex(ours.index).fillna("")
        columns["change (%)"] = (100 * (ours / theirs - 1)).where(theirs > 0)
        notes = dict.fromkeys(note for pair in pairs.values() for note in pair.notes)
        about = "Intervals of the paired difference by batch means"
        caption = "; ".join([about, *notes]) if settled else f"No intervals: {'; '.join(notes)}"
    table = pd.DataFrame(columns).rename(index=names).rename_axis("measure").reset_index()
    return table, caption


def _between(interval, scale):
    ends = (end / scale for end in (interval.low, interval.high))
    return " to ".join(f"{end:,.0f}" if abs(end) >= 1000 else f"{end:.3g}" for end in ends)


@remember(4)
def _trace(given):
    return load_trace(given) if isinstance(given, str) else given


@remember(4)
def _workload(trace, load, overrun):
    return trace if load is None else trace.scale_load(load, overrun=overrun)


@remember(8)  # keyed by the given trace: digesting each scaled copy would take 30 ms at every move of a slider
def _simulated(trace, load, scheme, overrun):
    return simulate(_workload(trace, load, overrun), scheme, overrun=overrun)


def _ordered(scheme, order):
    """Return a scheme with an order of its queue; the recorded schedule has its own order."""
    scheme = scheme_named(scheme)
    return replace(scheme, order=order) if scheme.simulated else scheme


def _weeks(trace):
    submit = trace.table["submit_time"]
    return int((submit.iloc[-1] - submit.iloc[0]) // WEEK + 1)


def _window(schedule, week, weeks):
    begin = int(schedule.trace.table["submit_time"].iloc[0]) + week * WEEK
    return begin, min(begin + weeks * WEEK, int(schedule.end.max()))


def _bench_code(trace, load, overrun, scheme, order, against, view, week, weeks):
    """Return the code that draws the same view without `bench`."""
    one, other = _ordered(scheme, order), scheme_named(against)
    # Not "trace = trace...": running it for a second load would scale the already scaled trace.
    source = "trace" if isinstance(trace, Trace) else f"sl.load_trace({trace!r})"
    source += "" if load is None else f".scale_load({load}, overrun={overrun!r})"
    source += f"  # trace is the one given to explore: {trace.title!r}" if isinstance(trace, Trace) else ""
    run, beside = (f"sl.simulate(workload, {_call(each)}, overrun={overrun!r})" for each in (one, other))
    schedule = _simulated(_trace(trace), load, one, overrun)
    window = f"window={_window(schedule, week, weeks)}"
    both = f"{{{str(other)!r}: {beside}, {str(one)!r}: {run}}}"
    end = f"up_to={_span(schedule.trace):.0f}"
    drawn = {
        "waits": f"sl.charts.distribution({both}, {end}, width={WIDE})",
        "over time": f"sl.charts.profile({run}, {window}, against={beside})",
        "Gantt chart": f"sl.charts.gantts({both}, {window})",
        "job by job": f"sl.charts.scatter({beside}, {run}, {end})",
        "arrivals": "sl.charts.arrivals(workload)",
    }
    return f"import schedlab as sl\nworkload = {source}\n{drawn[view]}"


def _call(scheme):
    """Return the call that makes a scheme, with only the settings that differ from the defaults."""
    given = {each.name: getattr(scheme, each.name) for each in fields(scheme)}
    told = [f"{each.name}={given[each.name]!r}" for each in fields(scheme) if given[each.name] != each.default]
    return f"sl.{type(scheme).__name__}({', '.join(told)})"


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
    _esm = """
    function render({ model, el }) {
      const button = document.createElement("button");
      button.className = "jupyter-button widget-button schedlab-code";
      button.style.width = "auto";
      const shown = document.createElement("pre");
      shown.style.cssText = "margin:.3em 0;padding:.5em;border:1px solid var(--jp-border-color2,#ccc);" +
        "color:var(--jp-ui-font-color1,#222);user-select:all";
      shown.hidden = true;
      const label = text => { button.textContent = text; };
      const fill = () => { shown.textContent = model.get("code"); };
      label("Copy as code");
      button.onclick = async () => {
        if (!shown.hidden) { shown.hidden = true; label("Copy as code"); return; }
        fill();
        shown.hidden = false;
        try { await navigator.clipboard.writeText(model.get("code")); label("Copied; hide"); }
        catch { getSelection().selectAllChildren(shown); label("Press Ctrl-C; hide"); }
      };
      model.on("change:code", fill);
      el.append(button, shown);
    }
    export default { render };
    """


@cache
def _offline():
    """Let Altair's widget work without a network: preparing its script takes a second or two, once per version."""

    def made():
        alt.JupyterChart.enable_offline()
        return alt.JupyterChart._esm

    versions = f"{alt.__version__}-{version('vl-convert-python')}"
    alt.JupyterChart._esm = kept_script(f"widget-{versions}.js", made)


def _control(name, given, default, label, tooltip):
    words = _words(name)
    if isinstance(given, ipywidgets.ValueWidget):
        control = given
        control.description = control.description or label or words
    else:
        control = _made(given, description=words, **_WHOLE_LABEL)
        control.description = label or words
        control.layout = _wide(control.description) if control.has_trait("readout") else _NARROW
        if default is not _EMPTY:
            _begin(name, control, default)
    control.tooltip = control.tooltip or tooltip or words  # browsers show "null" for a label without one
    if control.has_trait("continuous_update"):
        control.continuous_update = False
    return control


def _wide(label):
    """Return the layout of a slider: always the same length, whatever the width of its label."""
    return {"width": f"{16 + len(label) / 2}em"}


def _placed(control, given):
    """Return a slider with many steps the full width and a number field; a widget passed by the user stays as it is."""
    if control is given or not control.has_trait("readout"):
        return control
    ranged = control.has_trait("max")
    if (round((control.max - control.min) / control.step) if ranged else len(control.options) - 1) <= MOST_STEPS:
        return control
    if not ranged:
        control.layout = {"width": "100%"}
        return control
    control.readout, control.layout = False, {"flex": "1 1 auto", "width": "auto"}
    kind = ipywidgets.BoundedIntText if isinstance(control, ipywidgets.IntSlider) else ipywidgets.BoundedFloatText
    ends = {name: getattr(control, name) for name in ("min", "max", "step")}
    field = kind(control.value, **ends, tooltip="Type a number; the arrows go one step.", layout=_FIELD)
    for trait in ("max", "value", "disabled"):
        ipywidgets.link((control, trait), (field, trait))
    return ipywidgets.HBox([control, field], layout={"width": "100%"})


def _checked_labels(labels, known):
    if not (isinstance(labels, Mapping) and all(isinstance(words, str) for words in labels.values())):
        expected = "expected a mapping of parameters to words; no control can have this name"
        raise TypeError(f"labels is {labels!r}, {expected}")
    _check_parameters("labels", labels, known)
    return labels


def _check_parameters(about, names, known):
    for name in names:
        if name not in known:
            listed = f"{', '.join(known)}{suggestion(name, known)}"
            raise ValueError(f"{about} has {name!r}, which is no parameter; known: {listed}")


def _documented(function):
    """Read a label ("" if there is none) and a tooltip for each parameter from a numpydoc docstring."""
    section = _PARAMETERS.search(inspect.getdoc(getattr(function, "func", function)) or "")  # func: of a partial
    told = {}
    for line in section[1].splitlines() if section else ():
        if line[:1].strip():  # names and type; the indented lines below describe all of these names
            names, _, kind = (part.strip() for part in line.partition(":"))
            words = []
            told |= {name.strip().lstrip("*"): (kind, words) for name in names.split(",")}
        elif line.strip():
            words.append(line.strip())
    return {
        name: (_label(" ".join(words)), f"{name}{f' ({kind})' if kind else ''}{': ' if words else ''}{' '.join(words)}")
        for name, (kind, words) in told.items()
    }


def _label(words):
    """Return the first sentence, for use as a label, if it is short and others follow."""
    found = _FIRST_SENTENCE.match(words)
    if found is None or found[1].count("(") != found[1].count(")"):
        return ""
    return found[1][0].lower() + found[1][1:] if found[1][1:2].islower() else found[1]


def _page_of(live):
    """Return a live figure for a page without a kernel: figures made beforehand, for all combinations of some controls.

    The script of the page shows the chosen one.
    """
    controls, offered, left = [], {}, []
    room = max(ON_A_PAGE[0], HEAVIEST // len(charts.on_page(live._recall(live.settings)[0])))  # for figures
    for name in live._order:
        control = live.controls[name]
        count = min([*ON_A_PAGE, 0][len(offered)], room // math.prod(map(len, offered.values())))
        some = [] if getattr(control, "disabled", False) else _few(control, count)
        places = [place for place, (_, value) in enumerate(some) if value == control.value]
        if not places or len(some) < 2:
            left.append(control.description or name)
            continue
        texts = [html.escape(str(text)) for text, _ in some]
        drawn = (_slider_of_page if control.has_trait("max") else _menu_of_page)(html.escape(name), texts, places[0])
        controls.append(f"<label>{html.escape(control.description or name)} {drawn}</label>")
        offered[name] = [(place, value, place in places) for place, (_, value) in enumerate(some)]
    drawn = []
    for chosen in product(*offered.values()):
        values = {name: value for name, (_, value, _) in zip(offered, chosen, strict=True)}
        key = " ".join(f"{name}={place}" for name, (place, *_) in zip(offered, chosen, strict=True))
        hidden = "" if all(here for *_, here in chosen) else " hidden"
        with live._set(values) as settings:  # what they cannot be together is as in JupyterLab
            spec, table = live._recall(settings)
        drawn.append(
            f'<div class="live-figure" data-key="{html.escape(key)}"{hidden}>{charts.on_page(spec)}'
            f'<div style="overflow-x:auto">{table}</div></div>'
        )
    words = "In JupyterLab every value can be chosen, and the log is simulated again."
    words += f" There you can change, too: {html.escape(', '.join(left))}." * bool(left)
    return f'<div class="live-page">{"".join(controls)}{"".join(drawn)}<p>{words}</p></div>'


def _slider_of_page(name, texts, first):
    settings = f'name="{name}" max="{len(texts) - 1}" value="{first}" autocomplete="off"'
    return f'<input type="range" {settings} data-texts="{"|".join(texts)}"> <output>{texts[first]}</output>'


def _menu_of_page(name, texts, first):
    options = (
        f'<option value="{place}"{" selected" * (place == first)}>{text}</option>' for place, text in enumerate(texts)
    )
    return f'<select name="{name}" autocomplete="off">{"".join(options)}</select>'


def _few(control, count):
    """Return at most `count` of the values that a control offers, with their labels, including the current one."""
    if count < 2:
        return []
    if isinstance(control, ipywidgets.Checkbox):
        return [("no", False), ("yes", True)]
    if control.has_trait("options") and isinstance(getattr(control, "index", None), int):
        pairs = [one if isinstance(one, tuple) else (str(one), one) for one in control.options]
        chosen = control.index
    elif isinstance(control, ipywidgets.IntSlider | ipywidgets.FloatSlider):
        steps = round((control.max - control.min) / control.step)
        values = [control.min + step * control.step for step in range(steps + 1)]
        chosen = round((control.value - control.min) / control.step)
        values[chosen] = control.value
        pairs = [(f"{value:,.7g}", value) for value in values]
    else:
        return []
    apart = max(1, -(-len(pairs) // count))
    return [pair for place, pair in enumerate(pairs) if (place - chosen) % apart == 0]


def _written_table(table):
    """Write a table or its Styler as HTML; the table has no borders of its own, which would not follow the theme."""
    return table.to_html(border=0) if isinstance(table, pd.DataFrame) else table.to_html()


def _begin(name, control, default):
    """Set a control to the default of its parameter; None means no default, unless it is offered."""
    with suppress(traitlets.TraitError, ValueError):
        control.value = _offered(default)
        if not control.has_trait("max") or control.value == default:  # ipywidgets silently limits a value to the ends
            return
    if default is None:
        return
    if control.has_trait("max"):
        offered = f"a number from {control.min} to {control.max}"
    elif control.has_trait("options"):
        labels = (str(option[0] if isinstance(option, tuple) else option) for option in control.options)
        offered = f"one of {', '.join(labels)}"
    else:
        offered = f"a value like {control.value!r}"
    raise ValueError(f"the default of {name} is {default!r}, expected {offered}")


def _made(given, **settings):
    if isinstance(given, bool):
        return ipywidgets.Checkbox(given, indent=False, **settings)
    if isinstance(given, str):
        return ipywidgets.Text(given, **settings)
    if isinstance(given, tuple) and len(given) in (2, 3) and all(isinstance(value, Real) for value in given):
        return _slider(*given, settings=settings)
    if isinstance(given, Mapping) and given:
        return ipywidgets.Dropdown(options=[(label, _offered(value)) for label, value in given.items()], **settings)
    if isinstance(given, Sequence) and len(given):
        if all(isinstance(value, Real) for value in given):
            return ipywidgets.SelectionSlider(options=list(given), **settings)
        options = list(given)
        if any(value is None for value in options):
            options = [(str(value), _offered(value)) for value in options]
        return ipywidgets.Dropdown(options=options, **settings)
    raise TypeError(
        f"{settings['description']} is {given!r}, expected (low, high), (low, high, step), a list, "
        "a mapping of labels to values, True or False, text, or a widget"
    )


def _slider(low, high, step=None, *, settings):
    whole = all(isinstance(value, Integral) for value in (low, high, step or 1))
    if not low < high or (step is not None and not step > 0):
        raise ValueError(f"{settings['description']} is from {low} to {high} in steps of {step}, expected low < high")
    step = step or (1 if whole else (high - low) / 20)
    if whole:
        return ipywidgets.IntSlider(value=low, min=low, max=high, step=step, **settings)
    shown = f".{max(2, math.ceil(-math.log10(step)))}f"  # so that neighbouring steps look different
    return ipywidgets.FloatSlider(value=low, min=low, max=high, step=step, readout_format=shown, **settings)


def _offered(value):
    return NOTHING if value is None else value


def _written(value):
    """Write a value as Python code that needs no import; None if that is impossible."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        ast.literal_eval(text)
        return text
    return None


def _words(name):
    return name.replace("_", " ")
