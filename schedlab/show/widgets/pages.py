"""A live figure on a page: simulated there, or figures made beforehand, of which the script of the page shows one."""

import math
from html import escape
from itertools import product

import ipywidgets

from ... import charts
from .controls import NOTHING

ON_A_PAGE = (5, 3, 2)  # values of the first controls, whose combinations a page has
MANY = 200  # values of a control whose figures are simulated in the page
HEAVIEST = 1_500_000  # characters of a figure in all its settings on a page; or five settings


def page_of(live) -> str:
    """Return a live figure as HTML, as its function says how: simulated in the page, or made beforehand."""
    in_page = getattr(live._function, "in_page", None)
    return _made(live) if in_page is None else _simulated(live, in_page)


def _simulated(live, in_page):
    """Return a figure that the page simulates by itself, with all values of the controls that it has there."""
    from ...web.figures import recipe  # here, since only pages need it

    controls = []
    choices = {}
    left = []
    for name in live._order:
        control = live.controls[name]
        if name not in in_page.controls:
            left.append(control.description or name)
            continue
        offered = (in_page.offered or {}).get(name)
        some = [pair for pair in _few(control, MANY) if offered is None or pair[1] in offered]
        first = next(place for place, (_, value) in enumerate(some) if value == control.value)
        controls.append(_labelled(control, name, some, first, data=True))
        choices[name] = [None if value is NOTHING else value for _, value in some]
    spec, table = live._recall(live.settings)
    note = "Each move simulates the whole workload again, in this page."
    note += f" In JupyterLab you can change, too: {escape(', '.join(left))}." * bool(left)
    known = f'<script type="application/json" class="recipe">{recipe(in_page, choices)}</script>'
    table = f'<div style="overflow-x:auto">{table}</div>' * in_page.has_table
    parts = [*controls, charts.on_page(spec), table, f'<p role="status"></p><p>{note}</p>', known]
    return f'<div class="live-page live-simulated">{"".join(parts)}</div>'


def _labelled(control, name, some, first, *, data=False):
    """Return a control in its label."""
    field = _slider if control.has_trait("max") or isinstance(control, ipywidgets.SelectionSlider) else _menu
    label = escape(control.description or name)
    texts = [escape(str(text)) for text, _ in some]
    further = f' data-label="{label}" disabled' if data else ""
    return f"<label>{label} {field(escape(name), texts, first, further)}</label>"


def _made(live):
    """Return figures for all combinations of some values of the first controls."""
    controls, choices, left = [], {}, []
    room = max(ON_A_PAGE[0], HEAVIEST // len(charts.on_page(live._recall(live.settings)[0])))  # for figures
    for name in live._order:
        control = live.controls[name]
        count = min([*ON_A_PAGE, 0][len(choices)], room // math.prod(map(len, choices.values())))
        some = [] if getattr(control, "disabled", False) else _few(control, count)
        places = [place for place, (_, value) in enumerate(some) if value == control.value]
        if not places or len(some) < 2:
            left.append(control.description or name)
            continue
        controls.append(_labelled(control, name, some, places[0]))
        choices[name] = [(place, value, place in places) for place, (_, value) in enumerate(some)]
    figures = []
    for chosen in product(*choices.values()):
        values = {name: value for name, (_, value, _) in zip(choices, chosen, strict=True)}
        key = " ".join(f"{name}={place}" for name, (place, *_) in zip(choices, chosen, strict=True))
        hidden = "" if all(here for *_, here in chosen) else " hidden"
        with live._set(values) as settings:  # what they cannot be together is as in JupyterLab
            spec, table = live._recall(settings)
        figures.append(
            f'<div class="live-figure" data-key="{escape(key)}"{hidden}>{charts.on_page(spec)}'
            f'<div style="overflow-x:auto">{table}</div></div>'
        )
    note = "In JupyterLab every value can be chosen, and the log is simulated again."
    note += f" There you can change, too: {escape(', '.join(left))}." * bool(left)
    return f'<div class="live-page">{"".join(controls)}{"".join(figures)}<p>{note}</p></div>'


def _slider(name, texts, first, further=""):
    settings = f'name="{name}"{further} max="{len(texts) - 1}" value="{first}" autocomplete="off"'
    return f'<input type="range" {settings} data-texts="{"|".join(texts)}"> <output>{texts[first]}</output>'


def _menu(name, texts, first, further=""):
    options = (
        f'<option value="{place}"{" selected" * (place == first)}>{text}</option>' for place, text in enumerate(texts)
    )
    return f'<select name="{name}"{further} autocomplete="off">{"".join(options)}</select>'


def _few(control, count):
    """Return at most `count` of the values that a control offers, with their labels, including the current one."""
    if count < 2:
        return []
    if isinstance(control, ipywidgets.Checkbox):
        return [("no", False), ("yes", True)]
    if control.has_trait("options") and isinstance(getattr(control, "index", None), int):
        pairs = [option if isinstance(option, tuple) else (str(option), option) for option in control.options]
        chosen = control.index
    elif isinstance(control, ipywidgets.IntSlider | ipywidgets.FloatSlider):
        steps = round((control.max - control.min) / control.step)
        values = [round(control.min + step * control.step, 10) for step in range(steps + 1)]
        chosen = round((control.value - control.min) / control.step)
        values[chosen] = control.value
        pairs = [(f"{value:,.7g}", value) for value in values]
    else:
        return []
    apart = max(1, -(-len(pairs) // count))
    return [pair for place, pair in enumerate(pairs) if (place - chosen) % apart == 0]
