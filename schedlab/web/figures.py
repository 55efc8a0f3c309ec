"""Live figures that a page of the site simulates by itself: what it needs to know of them."""

import inspect
import json
from collections.abc import Mapping, Sequence
from itertools import product

from schedlab import charts
from schedlab.charts.job_colours import OTHERS, TASKS
from schedlab.charts.palette import GROUPS, ink_on
from schedlab.charts.timeline import LETTER, LETTERS
from schedlab.web import description
from schedlab.web.in_page import DayInPage, InPage
from schedlab.web.page import bundled, packed, parts
from schedlab.web.schemes import described

SCRIPT = "simulate.js"  # of the site
PARTS = "schedlabParts"  # its variable of the browser


def recipe(figure: InPage | DayInPage, choices: Mapping[str, Sequence]) -> str:
    """Return what the page needs to know of a figure, as JSON.

    Parameters
    ----------
    figure : InPage or DayInPage
        The figure.
    choices : mapping of str to sequence
        The values of each of its controls, in the order in which the page offers them.
    """
    traces = []

    def place_of(trace):
        if not any(trace is known for known in traces):
            traces.append(trace)
        return next(place for place, known in enumerate(traces) if known is trace)

    log = _table(figure.trace, choices, place_of)
    known = (_of_day if isinstance(figure, DayInPage) else _of_schemes)(figure, choices, traces)
    return json.dumps(known | {"log": log, "load": _table(figure.load, choices)}).replace("</", "<\\/")


def _of_schemes(figure, choices, traces):
    schemes = {}

    def sides_of(named):
        for (name, scheme), colour in zip(named.items(), charts.colours(list(named)), strict=True):
            entry = {"name": name, "colour": colour, "scheme": described(scheme)}
            schemes.setdefault((name, scheme), (len(schemes), entry))
        return [schemes[side][0] for side in named.items()]

    return {
        "kind": "figure",
        "title": figure.title,
        "columns": figure.columns,
        "sides": _table(figure.schemes, choices, sides_of),
        "tau": _table(figure.tau, choices),
        "schemes": [entry for _, entry in schemes.values()],
        "short": {name: figure.short(name) for name, _ in schemes},
        "logs": [{"log": packed(trace), "upTo": figure.up_to(trace)} for trace in traces],
    }


def _of_day(figure, choices, traces):
    def with_tasks(scheme):
        title, panel = figure.titles(scheme)
        return {"title": title, "panel": panel, "rules": described(scheme)["rules"]}

    return {
        "kind": "day",
        "sweeps": _table(figure.sweeps, choices),
        "breakdown": _table(figure.breakdown, choices),
        "alone": _table(figure.alone, choices, described),
        "scheme": _table(figure.scheme, choices, with_tasks),
        "day": _table(figure.day, choices),
        "letters": [LETTER * LETTERS, LETTERS],
        "inks": {name: ink_on(colour) for name, colour in (TASKS | {OTHERS: GROUPS[OTHERS]}).items()},
        "logs": [{"log": packed(trace)} for trace in traces],
    }


def _table(function, choices, written=lambda value: value):
    """Return what a function gives for all values of its controls, by their places."""
    names = list(inspect.signature(function).parameters)
    values = {}
    for chosen in product(*(enumerate(choices[name]) for name in names)):
        key = ",".join(str(place) for place, _ in chosen)
        arguments = {name: value for name, (_, value) in zip(names, chosen, strict=True)}
        values[key] = written(function(**arguments))
    return {"of": names, "values": values}


def script() -> str:
    """Return the script with which the pages of the site simulate their live figures."""
    content = json.dumps(parts() | {"kernels": description()["kernels"], "schemes": {}})
    return f"(() => {{\nwindow.{PARTS} = {content};\n{bundled('office', 'words', 'live')}\n}})();\n"
