"""Charts: valid specifications, the right columns with their units, colours that never change, files that open."""

import json
import re

import altair as alt
import pandas as pd
import pytest
import vl_convert

import schedlab as sl
from schedlab import charts

TRACES = ("Zebra-2001", "Ant-1999 (stand-in, not the real log)")  # not in alphabetical order
SCHEMES = ("FCFS", "EASY", "EASY-SJF", "Conservative")
LOADS = (0.5, 0.7, 0.9)


@pytest.fixture
def table():
    keys = [(trace, load, scheme) for trace in TRACES for load in LOADS for scheme in SCHEMES]
    return pd.DataFrame(keys, columns=["trace", "load", "scheme"]).assign(
        wait_time=[3600.0 * (i + 1) for i in range(len(keys))],
        bounded_slowdown=[1.5**i for i in range(len(keys))],
        utilization=0.5,
    )


def drawn(chart):
    """Give the rows that a chart carries."""
    (rows,) = chart.to_dict()["datasets"].values()
    return pd.DataFrame(rows)


def parts(spec):
    """Give the specifications of a chart that have an encoding."""
    if "encoding" in spec:
        yield spec
    for inner in [spec.get("spec"), *spec.get("vconcat", [])]:
        if inner:
            yield from parts(inner)


def encoding(chart):
    return next(parts(chart.to_dict()))["encoding"]


# What is drawn


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("column", [None, "trace"])
def test_the_specification_is_valid(table, column, log):
    spec = charts.lines(table, "load", "wait_time", column=column, log=log, title="A", subtitle="B").to_dict()
    alt.Chart.from_dict(spec, validate=True)  # against Altair's copy of the schema
    assert spec["$schema"].endswith(f"vega-lite/{alt.SCHEMA_VERSION}.json")
    assert "url" not in json.dumps(spec["datasets"] if column else spec["data"])


def test_fields_and_units(table):
    found = encoding(charts.lines(table, "load", "wait_time", column="trace"))
    assert [(found[axis]["field"], found[axis]["type"]) for axis in ("x", "y", "color")] == [
        ("load", "quantitative"),
        ("wait_time", "quantitative"),
        ("scheme", "nominal"),
    ]
    assert found["x"]["title"] == "offered load"
    assert found["y"]["title"] == "mean wait (hours)"
    assert [tip["field"] for tip in found["tooltip"]] == ["scheme", "load", "wait_time"]
    assert found["tooltip"][2]["title"] == "mean wait (hours)"


def test_every_measure_has_a_title_and_times_are_hours():
    trace = sl.model_trace("lublin", jobs=50, procs=64)
    measures = sl.simulate(trace).metrics().index
    for name in ("load", *measures):
        assert name in charts.AXES
        assert ("(hours)" in charts.AXES[name]) == (name in charts.IN_HOURS)
    assert {name for name in measures if name.endswith("_time")} <= charts.IN_HOURS


def test_times_are_drawn_in_hours_on_either_axis(table):
    before = table.copy(deep=True)
    assert drawn(charts.lines(table, "load", "wait_time"))["wait_time"].tolist() == [*range(1, 25)]
    chart = charts.lines(table, "wait_time", "utilization")
    assert drawn(chart)["wait_time"].tolist() == [*range(1, 25)]
    assert encoding(chart)["x"]["title"] == "mean wait (hours)"
    assert table.equals(before)


def test_only_the_columns_that_are_drawn_are_carried(table):
    assert list(drawn(charts.lines(table, "load", "utilization"))) == ["load", "utilization", "scheme"]
    assert len(drawn(charts.lines(table, "load", "utilization", column="trace"))) == len(table)


def test_title_and_subtitle(table):
    subtitle = "whole traces: " + ", ".join(TRACES)
    spec = charts.lines(table, "load", "utilization", title="Use", subtitle=subtitle).to_dict()
    assert spec["title"]["text"] == "Use"
    assert " ".join(spec["title"]["subtitle"]) == subtitle
    assert len(spec["title"]["subtitle"]) == 2
    assert max(map(len, spec["title"]["subtitle"])) <= charts.CHARACTERS
    wide = charts.lines(table, "load", "utilization", column="trace", subtitle=subtitle).to_dict()
    assert wide["title"]["subtitle"] == [subtitle]


def test_a_panel_for_each_value_in_the_order_of_the_table(table):
    spec = charts.lines(table, "load", "utilization", column="trace").to_dict()
    assert spec["facet"]["column"]["field"] == "trace"
    assert spec["facet"]["column"]["sort"] == list(TRACES)
    svg = vl_convert.vegalite_to_svg(spec)
    heads = [svg.index(words) for words in ("Zebra-2001", "Ant-1999<", "(stand-in, not the real log)<")]
    assert heads == sorted(heads)  # the long one on two lines


# Colours


def test_the_schemes_of_the_core_have_colours_of_their_own():
    found = charts.colours([str(scheme) for scheme in sl.papers.core.SCHEMES])
    assert len(set(found)) == 4
    assert set(found) <= set(charts.COLOURS.values())
    assert len(set(charts.COLOURS.values())) == len(charts.COLOURS)


def test_a_scheme_has_its_colour_whatever_else_is_drawn(table):
    names = [*SCHEMES, "EASY-WFP3", "EASY-F1", "Conservative (rebuild)", "DPSA"]
    alone = {name: charts.colours([name])[0] for name in names}
    assert len(set(alone.values())) == len(names)
    for some in (names, names[::-1], names[4:], names[::3]):
        assert charts.colours(some) == [alone[name] for name in some]
    for some in (SCHEMES, SCHEMES[2:], SCHEMES[::-1]):
        shown = pd.concat([table[table["scheme"] == name] for name in some])
        scale = encoding(charts.lines(shown, "load", "utilization"))["color"]["scale"]
        assert scale == {"domain": list(some), "range": [alone[name] for name in some]}


def test_colours_by_something_that_is_no_text(table):
    chart = charts.lines(table, "wait_time", "utilization", color="load")
    assert encoding(chart)["color"]["scale"]["domain"] == ["0.5", "0.7", "0.9"]
    assert set(drawn(chart)["load"]) == {"0.5", "0.7", "0.9"}


# The logarithmic axis


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([3.0, 20_000.0], [1, 10, 100, 1000, 10_000, 100_000]),
        ([0.2, 30.0, float("nan")], [0.1, 1, 10, 100]),
        ([2.0, 40.0], [1, 2, 5, 10, 20, 50, 100, 200, 500]),
    ],
)
def test_a_logarithmic_axis_has_readable_numbers(values, ticks):
    table = pd.DataFrame({"load": range(len(values)), "slowdown": values, "scheme": "EASY"})
    y = encoding(charts.lines(table, "load", "slowdown", log=True))["y"]
    assert y["scale"] == {"type": "log"}
    assert y["axis"]["values"] == pytest.approx(ticks)
    svg = vl_convert.vegalite_to_svg(charts.lines(table, "load", "slowdown", log=True).to_dict())
    shown = re.findall(r"<text[^>]*>([\d.,]+)</text>", svg)
    assert {f"{tick:,.3g}" if tick < 1000 else f"{tick:,}" for tick in ticks if 1 < tick <= values[1]} <= set(shown)


def test_a_logarithmic_axis_shows_a_zero(table):
    table.loc[0, "wait_time"] = 0
    y = encoding(charts.lines(table, "load", "wait_time", log=True))["y"]
    assert y["scale"] == {"type": "symlog"}
    assert encoding(charts.lines(table, "load", "wait_time"))["y"]["scale"] == {"zero": True}


# What is refused


def test_a_missing_column_is_named(table):
    for call in ({"y": "wait"}, {"y": "wait_time", "column": "wait"}, {"y": "wait_time", "color": "wait"}):
        with pytest.raises(ValueError, match="the table has no column 'wait'; it has: trace, load, scheme, wait_time"):
            charts.lines(table, "load", **call)


def test_too_many_rows_are_refused():
    table = pd.DataFrame({"load": range(5001), "utilization": 1.0, "scheme": "EASY"})
    with pytest.raises(ValueError, match="the table has 5,001 rows, a chart takes 5,000: aggregate it first"):
        charts.lines(table, "load", "utilization")
    assert len(drawn(charts.lines(table[:5000], "load", "utilization"))) == 5000


# Several charts


def test_stacked(table):
    above, below = (charts.lines(table, "load", y, column="trace", title=y) for y in ("wait_time", "utilization"))
    before = above.to_dict()
    spec = charts.stacked([above, below]).to_dict()
    alt.VConcatChart.from_dict(spec, validate=True)
    assert [part["title"]["text"] for part in spec["vconcat"]] == ["wait_time", "utilization"]
    assert [part["encoding"]["y"]["field"] for part in parts(spec)] == ["wait_time", "utilization"]
    assert "config" in spec
    assert not any("config" in part for part in spec["vconcat"])
    assert above.to_dict() == before  # the parts are left as they were


# Where charts go


@pytest.fixture
def whole(table):
    measures = ("wait_time", "utilization")
    return charts.stacked([charts.lines(table, "load", y, column="trace", log=True) for y in measures])


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("pdf", b"%PDF")])
def test_charts_become_pictures(whole, tmp_path, suffix, start):
    path = tmp_path / f"chart.{suffix}"
    whole.save(path)
    assert path.read_bytes().startswith(start)
    assert path.stat().st_size > 5000


def test_a_picture_refers_to_nothing_outside(whole, tmp_path):
    whole.save(tmp_path / "chart.svg")
    svg = (tmp_path / "chart.svg").read_text()
    assert not re.findall(r"""(?:href|src)=["'](?!#)|url\((?!["']?#)|@import""", svg)
    assert "mean wait (hours)" in svg


def test_a_chart_becomes_a_page_that_needs_no_network(whole, tmp_path):
    whole.save(tmp_path / "chart.html", inline=True)
    page = (tmp_path / "chart.html").read_text()
    assert "<script" in page
    assert not re.findall(r"""<(?:script|link|img)[^>]*(?:src|href)=["']?http""", page)


def test_what_jupyterlab_draws_with_no_network(whole):
    # It draws Vega-Lite 5 by itself. What only version 6 knows would be missing or fail there.
    spec = whole.to_dict()
    older = {**spec, "$schema": "https://vega.github.io/schema/vega-lite/v5.json"}
    versions = vl_convert.get_vegalite_versions()
    fives = sorted((name for name in versions if name.startswith("5.")), key=lambda name: int(name[2:]))
    new = vl_convert.vegalite_to_svg(spec, vl_version=versions[-1])
    assert new.count('aria-roledescription="point"') == 2 * 2 * len(LOADS) * len(SCHEMES)
    for version in (fives[0], fives[-1]):
        old = vl_convert.vegalite_to_svg(older, vl_version=version)
        for shape in ('aria-roledescription="point"', 'aria-roledescription="line mark"', "role-legend-label", "<text"):
            assert old.count(shape) == new.count(shape)
        assert re.findall("<text[^>]*>([^<]*)<", old) == re.findall("<text[^>]*>([^<]*)<", new)


def test_setup_makes_jupyterlab_draw_version_5(whole):
    before = alt.renderers.active
    try:
        charts.setup()
        data, _ = whole._repr_mimebundle_()
    finally:
        alt.renderers.enable(before)
    (kind,) = (name for name in data if name != "text/plain")
    assert kind == "application/vnd.vegalite.v5+json"
    assert data[kind]["$schema"] == "https://vega.github.io/schema/vega-lite/v5.json"
    assert data[kind]["vconcat"] == whole.to_dict()["vconcat"]
