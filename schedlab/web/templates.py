"""The charts of the page: those of `schedlab.charts`, with named tables that the page fills.

Each template is the Vega-Lite specification that a chart of Python has, without its rows. Colours stand for the schemes
`FIRST` and `SECOND`; the page puts names and colours in their place, and ends of axes.
"""

import json
import re

import pandas as pd

from schedlab import charts
from schedlab.schedule.simulation import simulate
from schedlab.workload.loading import load_trace, model_trace

FIRST = "EASY"  # names that have colours of their own
SECOND = "FCFS"
TABLES = ("rows", "others")
SIZE = "size"  # the table that has the processors of the machine
WHOSE = ("user", "state")  # what the page does not know of a job
HIGH = 240  # of a plot, in pixels
HOW = [
    {"field": "how", "type": "nominal", "title": "it started"},
    {"field": "promised", "type": "nominal", "title": "its reservation, when first made"},
    {"field": "passed", "type": "quantitative", "title": "earlier jobs that it passed"},
    {"field": "passing", "type": "quantitative", "title": "later jobs that passed it"},
]


def templates() -> dict[str, dict]:
    """Return the specification of each view by its name; views along time have one for logs without dates, too."""
    trace = model_trace("lublin", jobs=400, machine=64, seed=1).scale_load(0.9)
    dated = load_trace("KTH-SP2-1996", standin=True).head(400)
    drawn = {"waits": _waits(trace), "slowdown": _curve()}
    for name, part in {"time": trace, "time dated": dated}.items():
        drawn[name] = _over_time(part)
    for name, part in {"gantt": trace, "gantt dated": dated}.items():
        drawn[name] = _gantts(part)
    return drawn


def _schedules(trace):
    return {FIRST: simulate(trace, "easy"), SECOND: simulate(trace, "fcfs")}


def _waits(trace):
    spec = _emptied(charts.distribution(_schedules(trace), up_to=3_600_000, title="", subtitle="", height=HIGH))
    line = spec["layer"][0]
    thin = line | {"data": {"name": "ghost"}, "mark": line["mark"] | {"strokeWidth": 1, "opacity": 0.5}}
    return spec | {"layer": [thin, *spec["layer"]]}


def _curve():
    table = [
        {"load": load, "bounded_slowdown": 10 * load, "scheme": name} for load in (0.5, 1.0) for name in (FIRST, SECOND)
    ]
    chart = charts.lines(pd.DataFrame(table), "load", "bounded_slowdown", log=True, height=HIGH)
    spec = _emptied(chart)
    for layer in spec["layer"]:
        layer["encoding"]["y"]["axis"] = {"format": ",~r"}
    return spec


def _over_time(trace):
    first, second = _schedules(trace).values()
    spec = _emptied(charts.profile(first, against=second, title="", subtitle=""))
    return json.loads(json.dumps(spec).replace(f"of {trace.procs:,} (dashed)", "of {machine} (dashed)"))


def _gantts(trace):
    spec = _emptied(charts.gantts(_schedules(trace)))
    for panel in spec["vconcat"]:
        tips = [tip for tip in panel["encoding"]["tooltip"] if tip["field"] not in WHOSE] + HOW
        panel["encoding"]["tooltip"] = [tip | {"type": "nominal"} if tip["field"] == "submit" else tip for tip in tips]
    return spec


def _emptied(chart):
    """Return the specification of a chart with its tables named in order, and empty."""
    spec = charts.specified(chart)
    tables = spec.pop("datasets", {})
    if "values" in spec.get("data", {}):
        tables = {"": spec["data"].pop("values")} | tables
        spec["data"]["name"] = ""
    spec["title"]["subtitle"] = []
    text = re.sub('"local time, [^"]*"', '"local time"', json.dumps(spec))
    names = iter(TABLES)
    for name, rows in tables.items():
        text = text.replace(f'"name": "{name}"', f'"name": "{SIZE if SIZE in rows[0] else next(names)}"')
    return json.loads(text)
