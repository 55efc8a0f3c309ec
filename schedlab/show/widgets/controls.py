"""The controls of a live figure: made from values, labelled by docstrings, and limited by one another."""

import inspect
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral, Real

import ipywidgets
import traitlets

from schedlab._runtime.text import spelt

EMPTY = inspect.Parameter.empty
NOTHING = object()  # stands for an offered None: ipywidgets treats the value None as no choice
MOST_STEPS = 150  # of a slider next to others: with more, a step is only a pixel or two
WHOLE_LABEL = {"style": {"description_width": "initial"}}
NARROW = {"width": "auto"}
FIELD = {"width": "9em"}
_PARAMETERS = re.compile(r"^Parameters\n-{3,}\n([\s\S]*?)(?=^\S.*\n-{3,}$|\Z)", re.MULTILINE)
_FIRST_SENTENCE = re.compile(r"([^.`]{1,45})\. (?=[A-Z])")  # if another follows; no abbreviation or code
_LABEL = re.compile(r"(.*: )?(.*?)(?: \(([^()]*)\))?")  # a letter, what it means, the unit or more words
_NUMBER = re.compile(r"-?\d[\d.,e-]*")
_UNITS = ("s", "min", "h")


def control_of(name, values, default, label, tooltip):
    """Return the control of a parameter over values, as `live` describes them; a widget is used as it is."""
    spaced = name.replace("_", " ")
    if isinstance(values, ipywidgets.ValueWidget):
        control = values
        control.description = control.description or label or spaced
    else:
        control = _made(values, description=spaced, **WHOLE_LABEL)
        control.description = label or spaced
        control.layout = wide(control.description) if control.has_trait("readout") else NARROW
        if default is not EMPTY:
            _begin(name, control, default)
    control.tooltip = control.tooltip or tooltip or spaced  # browsers show "null" for a label without one
    if control.has_trait("continuous_update"):
        control.continuous_update = False
    return control


def _made(values, **settings):
    if isinstance(values, bool):
        return ipywidgets.Checkbox(values, indent=False, **settings)
    if isinstance(values, str):
        return ipywidgets.Text(values, **settings)
    if isinstance(values, tuple) and len(values) in (2, 3) and all(isinstance(value, Real) for value in values):
        return _slider(*values, settings=settings)
    if isinstance(values, Mapping) and values:
        return ipywidgets.Dropdown(options=[(label, offered(value)) for label, value in values.items()], **settings)
    if isinstance(values, Sequence) and len(values):
        if all(isinstance(value, Real) for value in values):
            return ipywidgets.SelectionSlider(options=list(values), **settings)
        options = list(values)
        if any(value is None for value in options):
            options = [(str(value), offered(value)) for value in options]
        return ipywidgets.Dropdown(options=options, **settings)
    raise TypeError(
        f"{settings['description']} is {spelt(values)}, expected (low, high), (low, high, step), a list, "
        "a mapping of labels to values, True or False, text, or a widget"
    )


def _slider(low, high, step=None, *, settings):
    whole = all(isinstance(value, Integral) for value in (low, high, step or 1))
    if not low < high or (step is not None and not step > 0):
        raise ValueError(f"{settings['description']} is from {low} to {high} in steps of {step}, expected low < high")
    step = step or (1 if whole else (high - low) / 20)
    if whole:
        return ipywidgets.IntSlider(value=low, min=low, max=high, step=step, **settings)
    digits = f".{max(2, math.ceil(-math.log10(step)))}f"  # so that neighbouring steps look different
    return ipywidgets.FloatSlider(value=low, min=low, max=high, step=step, readout_format=digits, **settings)


def _begin(name, control, default):
    """Set a control to the default of its parameter; None means no default, unless it is offered."""
    with suppress(traitlets.TraitError, ValueError):
        control.value = offered(default)
        if not control.has_trait("max") or control.value == default:  # ipywidgets silently limits a value to the ends
            return
    if default is None:
        return
    if control.has_trait("max"):
        expected = f"a number from {control.min} to {control.max}"
    elif control.has_trait("options"):
        labels = (str(option[0] if isinstance(option, tuple) else option) for option in control.options)
        expected = f"one of {', '.join(labels)}"
    else:
        expected = f"a value like {control.value!r}"
    raise ValueError(f"the default of {name} is {spelt(default)}, expected {expected}")


def offered(value):
    """Return the value of an option that stands for a value."""
    return NOTHING if value is None else value


def value_of(option):
    """Return the value of an option, which may have a label."""
    return option[1] if isinstance(option, tuple) else option


def wide(label):
    """Return the layout of a slider: always the same length, whatever the width of its label."""
    return {"width": f"{16 + len(label) / 2}em"}


def placed(control, values):
    """Return a slider with many steps the full width and a number field; a widget passed by the user stays as it is."""
    if control is values or not control.has_trait("readout"):
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
    field = kind(control.value, **ends, tooltip="Type a number; the arrows go one step.", layout=FIELD)
    for trait in ("max", "value", "disabled"):
        ipywidgets.link((control, trait), (field, trait))
    return ipywidgets.HBox([control, field], layout={"width": "100%"})


def slides(control) -> bool:
    return control.has_trait("continuous_update") and control.has_trait("readout")


def documented(function) -> dict[str, tuple[str, str]]:
    """Read a label ("" if there is none) and a tooltip for each parameter from a numpydoc docstring."""
    section = _PARAMETERS.search(inspect.getdoc(getattr(function, "func", function)) or "")  # func: of a partial
    entries = {}
    for line in section[1].splitlines() if section else ():
        if line[:1].strip():  # names and type; the indented lines below describe all of these names
            names, _, kind = (part.strip() for part in line.partition(":"))
            lines = []
            entries |= {name.strip().lstrip("*"): (kind, lines) for name in names.split(",")}
        elif line.strip():
            lines.append(line.strip())
    return {
        name: (_label(" ".join(lines)), f"{name}{f' ({kind})' if kind else ''}{': ' if lines else ''}{' '.join(lines)}")
        for name, (kind, lines) in entries.items()
    }


def _label(text):
    """Return the first sentence, for use as a label, if it is short and others follow."""
    match = _FIRST_SENTENCE.match(text)
    if match is None or match[1].count("(") != match[1].count(")"):
        return ""
    return match[1][0].lower() + match[1][1:] if match[1][1:2].islower() else match[1]


def in_words(label, control) -> str:
    """Write a control and its value: "offered load 0.9", "scheme: EASY"; of "s: gain", only the gain."""
    if isinstance(control.value, bool):
        value = "yes" if control.value else "no"
    elif control.has_trait("options"):
        value = str(control.label)
    else:
        value = f"{control.value:.7g}" if isinstance(control.value, Real) else str(control.value)
    _, about, unit = _LABEL.fullmatch(label).groups()
    if not _NUMBER.fullmatch(value):
        return f"{about}: {value}"
    return f"{about} {value}" + (f" {unit}" if unit in _UNITS or (unit or "").startswith("%") else "")


@dataclass(frozen=True)
class Whole:
    """What a control can do if nothing limits it."""

    tooltip: str
    disabled: bool
    end: float | None
    options: tuple | None

    @classmethod
    def of(cls, control):
        end, options = (getattr(control, name, None) for name in ("max", "options"))
        return cls(control.tooltip, getattr(control, "disabled", False), end, options)

    def fit(self, control, limit, first):
        """Limit a control, as `live` says, or let it do all that it can; return the reason to tell, or "" for none."""
        end, options, reason, idle = self.end, self.options, "", False
        match limit:
            case str():
                reason, idle = limit, True
            case Real():
                end = max(limit, control.min)
                idle = end == control.min
                reason = f"only {end:g} is left" if idle else ""
            case (values, reason):
                allowed = [offered(value) for value in values]
                options = tuple(option for option in self.options if value_of(option) in allowed) or self.options[-1:]
                idle = len(options) == 1
                reason = reason if idle or options != self.options else ""
        if options is not None and control.options != options:
            before, known = control.value, [value_of(option) for option in options]
            control.options = options  # this selects the first of them
            control.value = next(value for value in (before, first, *known) if value in known)
        if end is not None and control.max != end:
            control.max = end
        control.disabled = self.disabled or idle
        control.tooltip = f"{self.tooltip} (No effect now: {reason}.)" if idle else self.tooltip
        return reason
