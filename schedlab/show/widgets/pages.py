"""A live figure on a page without a kernel: figures made beforehand, of which the script of the page shows one."""

import math
from html import escape
from itertools import product

import ipywidgets

from ... import charts

ON_A_PAGE = (5, 3, 2)  # values of the first controls, whose combinations a page has
HEAVIEST = 1_500_000  # characters of a figure in all its settings on a page; or five settings


def page_of(live) -> str:
    """Return a live figure as HTML: figures for all combinations of some values of its first controls."""
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
        texts = [escape(str(text)) for text, _ in some]
        field = (_slider if control.has_trait("max") else _menu)(escape(name), texts, places[0])
        controls.append(f"<label>{escape(control.description or name)} {field}</label>")
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


def _slider(name, texts, first):
    settings = f'name="{name}" max="{len(texts) - 1}" value="{first}" autocomplete="off"'
    return f'<input type="range" {settings} data-texts="{"|".join(texts)}"> <output>{texts[first]}</output>'


def _menu(name, texts, first):
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
        pairs = [option if isinstance(option, tuple) else (str(option), option) for option in control.options]
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
