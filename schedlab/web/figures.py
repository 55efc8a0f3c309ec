"""Live figures that a page of the site simulates by itself: what it needs to know of them."""

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from schedlab import charts
from schedlab.charts.job_colours import OTHERS, TASKS
from schedlab.charts.palette import GROUPS, ink_on
from schedlab.charts.timeline import LETTER, LETTERS
from schedlab.schedule.simulation import simulate
from schedlab.show.page import number, table
from schedlab.web import description
from schedlab.web.in_page import DayInPage, InPage, Run
from schedlab.web.page import bundled, packed, parts
from schedlab.web.schemes import described

SCRIPT = "simulate.js"  # of the site
PARTS = "schedlabParts"  # its variable of the browser
# What is measured of the runs of a card, and of what tasks of sweeps change.
AGAIN = {"wait_time": "mean wait (s)", "bounded_slowdown": "mean bounded slowdown"}
MEANS = {"turnaround": "turnaround", "slowdown": "slowdown", "loss": "loss of capacity"}
FALLEN = {name: f"{measure} better by (%)" for name, measure in MEANS.items()}


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


def again(runs: Iterable[Run], figure: str = "") -> str:
    """Return the button with which a card of the site simulates runs again, with the values that they give in Python.

    Parameters
    ----------
    runs : iterable of Run
        What is simulated, here and in the page.
    figure : str
        Which it is in the paper: the button names it.
    """
    runs = list(runs)
    traces = list({id(run.trace): run.trace for run in runs}.values())
    entries = []
    rows = []
    for run in runs:
        values = run.tasks.values if run.tasks else _measured(run)
        place = next(place for place, trace in enumerate(traces) if trace is run.trace)
        entry = {"log": place, "load": run.load, "scheme": described(run.scheme), "values": values}
        entries.append(entry | ({"tasks": _of_tasks(run.tasks)} if run.tasks else {}))
        rows.append([run.label, *(text for value in values.values() for text in (number(value), "…"))])
    recipe = json.dumps({"logs": list(map(packed, traces)), "runs": entries}).replace("</", "<\\/")
    measures = FALLEN if runs[0].tasks else AGAIN
    heads = ["run", *(text for measure in measures.values() for text in (f"{measure}, in Python", "in this page"))]
    button = f"Simulate {figure} again" if figure else "Simulate again"
    return (
        f'<div class="card-again"><p><button disabled>{button}</button> <span role="status">{len(runs)} runs, '
        "simulated in this page.</span></p>"
        f'<div class="wide" hidden>{table(heads, rows)}</div>'
        f'<script type="application/json" class="recipe">{recipe}</script></div>'
    )


def _measured(run):
    trace = run.trace if run.load is None else run.trace.scale_load(run.load, **_kind_of_load(run.trace))
    metrics = simulate(trace, run.scheme).metrics()
    return {name: metrics[name] for name in AGAIN}


def _of_tasks(tasks):
    settings = {"sweeps": tasks.sweeps, "breakdown": tasks.breakdown, "group": tasks.group}
    return settings | {"rules": described(tasks.scheme)["rules"]}


def _kind_of_load(trace):
    """Return what else tells how a trace is scaled: moldable jobs by their effective load, as the page does."""
    return {"by": "effective"} if trace.has_speedup else {}


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
