"""Charts for a paper: as wide as its columns, in its type, and told apart without colours."""

import re

import numpy as np
import pandas as pd
import pytest
import vl_convert

import schedlab as sl
from schedlab import charts
from schedlab.charts._altair import VEGA_LITE
from schedlab.charts.paper import MM
from schedlab.charts.sizes import in_lines

pytestmark = pytest.mark.tables

COLUMN = 85 * MM
SCHEMES = ("EASY", "EASY-SJF", "FCFS")


@pytest.fixture(scope="module")
def trace():
    return sl.model_trace("lublin", jobs=60, machine=64, seed=3)


@pytest.fixture(scope="module")
def table():
    keys = [(log, load, scheme) for log in ("one", "two", "three") for load in (0.6, 0.8, 1.0) for scheme in SCHEMES]
    rows = pd.DataFrame(keys, columns=["log", "load", "scheme"])
    wait = 3600.0 * np.arange(1, len(rows) + 1)
    return rows.assign(wait_time=wait, wait_time_low=wait * 0.9, wait_time_high=wait * 1.1, bounded_slowdown=wait / 100)


def one(table):
    return table[table["log"] == "one"]


DRAWN = {
    "lines": lambda table, trace: charts.lines(one(table), "load", "wait_time", title="Waits"),
    "panels": lambda table, trace: charts.lines(table, "load", "wait_time", column="log"),
    "dashes": lambda table, trace: charts.lines(table, "load", "wait_time", dash="log"),
    "bars": lambda table, trace: charts.bars(one(table)[one(table)["load"] == 0.8], "scheme", "wait_time"),
    "points": lambda table, trace: charts.points(one(table)[:3], "load", "bounded_slowdown", "scheme"),
    "gantt": lambda table, trace: charts.gantt(sl.simulate(trace, "easy"), label="job_number", color="user_id"),
    "gantts": lambda table, trace: charts.gantts({"a": sl.simulate(trace, "easy"), "b": sl.simulate(trace, "fcfs")}),
    "wait": lambda table, trace: charts.gantt(sl.simulate(trace, "easy"), color="wait"),
    "profile": lambda table, trace: charts.profile(sl.simulate(trace, "easy")),
    "scatter": lambda table, trace: charts.scatter(sl.simulate(trace, "fcfs"), sl.simulate(trace, "easy")),
    "distribution": lambda table, trace: charts.distribution({"a": [1, 2, 3], "b": [2, 40, 5]}),
    "heatmap": lambda table, trace: charts.heatmap(trace),
    "weekly": lambda table, trace: charts.weekly(trace),
    "beside a model": lambda table, trace: charts.beside_model(trace, jobs=60),
    "tree": lambda table, trace: charts.tree(sl.simulate(trace, "easy", machine=sl.KaryTree(k=4, n=3))),
}


def width_of(picture):
    return float(re.search(r'width="([0-9.]+)"', picture)[1])


def colours_of(picture):
    """Return the colours of the picture that are not grey."""
    found = set(re.findall(r"(?:fill|stroke|stop-color)=\"((?:#|rgb|hsl)[^\"]+)\"", picture))
    parts = {
        colour: re.findall(r"\d+" if "(" in colour else "[0-9A-Fa-f]{2}" if len(colour) > 4 else "[0-9A-Fa-f]", colour)
        for colour in found
    }
    return {colour for colour, three in parts.items() if len(set(three[-3:])) > 1}


@pytest.mark.parametrize("name", DRAWN)
def test_a_chart_is_as_wide_as_the_column_and_grey(name, table, trace):
    chart = DRAWN[name](table, trace)
    before = chart.to_json()
    printed = charts.svg(charts.paper_style(chart, 1 if name != "beside a model" else 2))
    expected = COLUMN if name != "beside a model" else 178 * MM
    assert expected - 3 <= width_of(printed) <= expected + 0.1  # of panels, widths are whole numbers
    assert colours_of(printed) == set()
    assert chart.to_json() == before


def test_the_pdf_has_the_width(table, trace, tmp_path):
    chart = charts.paper_style(DRAWN["panels"](table, trace), 2, column_width=80, gutter=10)
    path = charts.save(chart, tmp_path / "figure.pdf")
    (box,) = re.findall(rb"MediaBox ?\[0 0 ([0-9.]+) [0-9.]+\]", path.read_bytes())
    assert 170 * MM - 3 <= float(box) <= 170 * MM + 0.1


def test_schemes_are_told_apart_by_dashes_and_shapes(table, trace):
    picture = charts.svg(charts.paper_style(DRAWN["lines"](table, trace)))
    lines = re.findall(r'aria-roledescription="line mark"[^>]*>', picture)
    assert len({re.search('stroke-dasharray="([^"]+)"', line)[1] for line in lines}) == len(SCHEMES)
    points = re.findall(r'aria-roledescription="point"[^>]* d="([^"]+)"', picture)
    assert len({point for point in points if "L5,0" not in point}) == len(SCHEMES)  # others are strokes beside names
    assert len({re.search('stroke="([^"]+)"', line)[1] for line in lines}) == len(SCHEMES)


def test_the_legend_shows_the_shapes_and_no_dashes(table, trace):
    picture = charts.svg(charts.paper_style(DRAWN["panels"](table, trace)))
    legend = picture[picture.index("role-legend") :]
    assert "stroke-dasharray" not in legend
    assert len(set(re.findall(r'<path transform="[^"]*" d="([^"]+)"', legend))) >= len(SCHEMES)
    assert all(f">{scheme}</text>" in legend for scheme in SCHEMES)


def test_colours_stay_where_they_are_wanted(table, trace):
    picture = charts.svg(charts.paper_style(DRAWN["lines"](table, trace), grey=False))
    assert all(colour in picture for colour in charts.colours(list(SCHEMES)))


def test_type_has_the_size_and_the_font(table, trace):
    picture = charts.svg(charts.paper_style(DRAWN["lines"](table, trace), font_size=7, font="Times New Roman"))
    assert set(re.findall(r'font-size="([^"]+)px"', picture)) == {"7"}
    assert "Times New Roman" in picture


def test_a_title_is_left_to_the_caption_but_a_stand_in_is_named(table, trace):
    def texts(chart):
        return charts.svg(charts.paper_style(chart))

    assert "Waits" not in texts(DRAWN["lines"](table, trace))
    assert "Waits" in charts.svg(charts.paper_style(DRAWN["lines"](table, trace), title=True))
    standin = "KTH-SP2-1996 (stand-in: a model)"
    named = texts(charts.lines(one(table), "load", "wait_time", title="Waits", subtitle=standin))
    assert standin in named
    assert "Waits" not in named


@pytest.mark.parametrize(
    "settings", [{"columns": 0}, {"font_size": -1}, {"column_width": "85"}, {"columns": True}, {"gutter": None}]
)
def test_what_is_no_size_is_refused(table, trace, settings):
    with pytest.raises(ValueError, match=f"{next(iter(settings))} must be a number above 0"):
        charts.paper_style(DRAWN["lines"](table, trace), **settings)


def test_what_is_no_chart_is_refused(table):
    with pytest.raises(TypeError, match="chart is a DataFrame, expected an Altair chart"):
        charts.paper_style(table)


def test_what_does_not_fit_says_so(table, trace):
    with pytest.raises(ValueError, match=r"the chart needs \d+ mm, expected at most 20 mm: give it more columns"):
        charts.paper_style(DRAWN["lines"](table, trace), column_width=20)


def test_names_at_the_ends_of_lines_stay_apart_in_a_lower_chart():
    rows = [("FCFS", 6.0, 66.0), ("EASY", 1.1, 4.6), ("Conservative", 1.0, 4.7)]
    rows = [(name, load, 3600 * wait) for name, *both in rows for load, wait in zip((0.5, 0.8), both, strict=True)]
    table = pd.DataFrame(rows, columns=["scheme", "load", "wait_time"])
    for log in (True, False):
        chart = charts.paper_style(charts.lines(table, "load", "wait_time", log=log), columns=1, font_size=8)
        spec = chart.to_dict()
        drawn = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)
        heights = re.findall(r'translate\([\d.]+,([\d.-]+)\)"[^>]*>(?:EASY|Conservative)<', drawn)
        low, high = sorted(float(each) for each in heights)
        assert high - low >= 9


def test_titles_of_axes_do_not_break_within_short_brackets():
    title = "mean bounded slowdown (tau = 10 s)"
    assert in_lines(title, 30) == ["mean bounded slowdown", "(tau = 10 s)"]
    assert in_lines("wait (hours, of all jobs of the log)", 20) == ["wait (hours, of all", "jobs of the log)"]
