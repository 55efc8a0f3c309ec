"""Charts: valid specifications, the right columns with their units, colours that never change, files that open."""

import html
import json
import os
import re
import socket
from dataclasses import replace

import altair as alt
import numpy as np
import pandas as pd
import processes
import pytest
import vl_convert
from altair.utils.schemapi import SchemaValidationError

import schedlab as sl
from schedlab import charts
from schedlab.charts import files, job_colours, palette, theme
from schedlab.charts.palette import LOGS, MODELS
from schedlab.charts.theme import about
from schedlab.show.ledgers import SHAPES
from schedlab.show.reading import MINUS

pytestmark = pytest.mark.tables

STANDIN = " (stand-in, not the real log)"
TRACES = ("Zebra-2001", f"Ant-1999{STANDIN}")  # not in alphabetical order
SCHEMES = ("FCFS", "EASY", "EASY-SJF", "Conservative")
LOADS = (0.5, 0.7, 0.9)
ROOM = 926  # pixels: width of a JupyterLab cell beside the list of files, on a screen 1366 pixels wide


@pytest.fixture
def table():
    keys = [(trace, load, scheme) for trace in TRACES for load in LOADS for scheme in SCHEMES]
    return pd.DataFrame(keys, columns=["trace", "load", "scheme"]).assign(
        wait_time=[3600.0 * (i + 1) for i in range(len(keys))],
        bounded_slowdown=[1.5**i for i in range(len(keys))],
        utilization=0.5,
    )


@pytest.fixture
def single(table):
    return table[table["trace"] == TRACES[0]]


def drawn(chart, which=None):
    """Return the rows that a chart carries; of several tables, those of part `which`."""
    spec = chart.to_dict()
    if which is not None:
        return pd.DataFrame(spec["datasets"][spec["layer"][which].get("data", spec.get("data"))["name"]])
    (rows,) = spec["datasets"].values()
    return pd.DataFrame(rows)


def drawn_by(chart, mark):
    """Return the rows of the first part of a layered chart that has a mark."""
    spec = chart.to_dict()
    part = next(part for part in spec["layer"] if part["mark"]["type"] == mark)
    return pd.DataFrame(spec["datasets"][part.get("data", spec.get("data"))["name"]])


def pixels(chart):
    """Return width and height of a chart as it is drawn."""
    found = re.search(r'<svg[^>]* width="([0-9.]+)" height="([0-9.]+)"', vl_convert.vegalite_to_svg(chart.to_dict()))
    return float(found[1]), float(found[2])


def parts(spec):
    """Return the specifications of a chart that have an encoding."""
    if "encoding" in spec:
        yield spec
    for inner in [spec.get("spec"), *spec.get("layer", []), *spec.get("vconcat", [])]:
        if inner:
            yield from parts(inner)


def encoding(chart):
    return next(parts(chart.to_dict()))["encoding"]


# What is drawn


def test_fields_and_units(table):
    channels = encoding(charts.lines(table, "load", "wait_time", column="trace"))
    assert {axis: (channels[axis]["field"], channels[axis]["type"], channels[axis]["title"]) for axis in "xy"} == {
        "x": ("load", "quantitative", "offered load"),
        "y": ("wait_time", "quantitative", "mean wait (hours)"),
    }
    assert (channels["color"]["field"], channels["color"]["type"]) == ("scheme", "nominal")
    assert [tip["field"] for tip in channels["tooltip"]] == ["scheme", "load", "wait_time"]
    assert channels["tooltip"][2]["title"] == "mean wait (hours)"


def test_every_measure_has_a_title_and_times_are_hours():
    trace = sl.model_trace("lublin", jobs=50, machine=64)
    measures = sl.simulate(trace).metrics().index
    for name in ("load", *measures):
        assert name in charts.AXES
        assert ("(hours)" in charts.AXES[name]) == (name in charts.IN_HOURS)
    assert {name for name in measures if name.endswith("_time")} <= charts.IN_HOURS


def test_times_are_drawn_in_hours_on_either_axis(single):
    before = single.copy(deep=True)
    assert sorted(drawn(charts.lines(single, "load", "wait_time"))["wait_time"]) == [*range(1, 13)]
    chart = charts.lines(single, "wait_time", "utilization")
    assert sorted(drawn(chart)["wait_time"]) == [*range(1, 13)]
    assert encoding(chart)["x"]["title"] == "mean wait (hours)"
    assert single.equals(before)


def test_only_the_columns_that_are_drawn_are_carried(table, single):
    labels = ["label at", "label text", "label shift"]
    assert list(drawn(charts.lines(single, "load", "utilization"))) == ["load", "utilization", "scheme", *labels]
    assert len(drawn(charts.lines(table, "load", "utilization", column="trace"))) == len(table)


def test_title_and_subtitle(table, single):
    subtitle = "whole traces: " + ", ".join(TRACES)
    spec = charts.lines(single, "load", "utilization", title="Use", subtitle=subtitle).to_dict()
    assert spec["title"]["text"] == "Use"
    assert " ".join(spec["title"]["subtitle"]) == subtitle
    narrow = charts.lines(single, "load", "utilization", subtitle=subtitle, width=charts.WIDTH).to_dict()
    assert len(narrow["title"]["subtitle"]) == 2
    assert max(map(len, narrow["title"]["subtitle"])) <= charts.CHARACTERS
    wide = charts.lines(table, "load", "utilization", column="trace", subtitle=subtitle).to_dict()
    assert wide["title"]["subtitle"] == [subtitle]


def test_what_arrives_at_one_instant_has_no_load_in_words():
    trace = sl.model_trace("lublin", jobs=5, machine=8, seed=1)
    trace = replace(trace, table=trace.table.assign(submit_time=7))
    words = [about(sl.simulate(trace)), about(trace), repr(trace), trace._repr_html_()]
    assert words[0] == f"{trace.title}, all submitted at one instant, 5 jobs on 8 processors"
    assert words[1] == f"{trace.title}, all submitted at one instant, 5 jobs"
    assert "offered load none (all arrive at once)" in words[2]
    assert not any(re.search(r"\binf\b", text) for text in words)


def test_a_panel_for_each_value_in_the_order_of_the_table(table):
    spec = charts.lines(table, "load", "utilization", column="trace").to_dict()
    assert spec["facet"]["field"] == "trace"
    assert spec["facet"]["sort"] == list(TRACES)
    svg = vl_convert.vegalite_to_svg(spec)
    heads = [svg.index(words) for words in ("Zebra-2001", "Ant-1999 (stand-in, not the real log)")]
    assert heads == sorted(heads)


def test_cells_without_a_panel_have_no_axis():
    for count, axes in ((5, 5), (6, 3)):  # in rows of three, whose full columns share an axis
        several = pd.DataFrame({"load": [0.5, 0.7] * count, "scheme": "EASY", "utilization": 0.5})
        several["trace"] = [f"log {place // 2}" for place in range(2 * count)]
        svg = vl_convert.vegalite_to_svg(charts.lines(several, "load", "utilization", column="trace").to_dict())
        assert len(re.findall(">offered load<", svg)) == axes


def test_the_head_of_a_panel_is_on_two_lines_only_where_one_has_no_room(table):
    short = table.assign(trace=table["trace"].replace({TRACES[0]: "EASY"}))
    short.loc[short["trace"] == "EASY", "utilization"] /= 4
    svg = vl_convert.vegalite_to_svg(charts.lines(short, "load", "utilization", column="trace", width=300).to_dict())
    assert ">EASY, own scale<" in svg
    assert ">Ant-1999<" in svg
    assert ">(stand-in, not the real log)<" in svg
    assert ">own scale<" in svg


def test_panels_share_a_scale_that_serves_all_of_them(table):
    def drawn(factor):
        first = table["trace"] == TRACES[0]
        values = table.assign(utilization=table["utilization"].where(first, factor * table["utilization"]))
        return vl_convert.vegalite_to_svg(charts.lines(values, "load", "utilization", column="trace").to_dict())

    assert "own scale" not in drawn(0.9)
    assert "own scale" in drawn(0.5)


# Intervals and dashes


def test_an_interval_is_shaded_where_the_table_has_one(table, single):
    low, high = table["wait_time"] / 2, table["wait_time"] * 2
    chart = charts.lines(table.assign(wait_time_low=low, wait_time_high=high), "load", "wait_time", column="trace")
    shade, line, *_ = (part["encoding"] for part in parts(chart.to_dict()))
    # Otherwise JupyterLab stacks the bands, along x if y is logarithmic: they would begin at load 0.
    assert shade["x"]["stack"] is shade["y"]["stack"] is None
    assert (shade["y"]["field"], shade["y2"]["field"]) == ("wait_time_low", "wait_time_high")
    assert line["y"]["field"] == "wait_time"
    assert shade["y"]["title"] == line["y"]["title"] == "mean wait (hours)"
    assert shade["color"] == line["color"]
    hours = drawn(chart).sort_values("wait_time")
    assert hours["wait_time"].tolist() == [*range(1, 25)]
    assert (hours["wait_time_low"] * 2).tolist() == hours["wait_time"].tolist()
    assert (hours["wait_time_high"] / 2).tolist() == hours["wait_time"].tolist()
    assert [tip["title"] for tip in line["tooltip"][3:]] == ["low", "high"]
    half = charts.lines(single.assign(wait_time_low=low), "load", "wait_time").to_dict()
    kinds = [part["mark"]["type"] for part in parts(half)]
    assert kinds == ["line", "circle", "point", "text"]  # the point: a stroke beside each name


def test_an_option_of_the_machine_has_its_dash_whatever_else_is_drawn(single):
    names = ["flat", "contiguous", "quasi-contiguous", "anything else"]
    alone = {name: charts.dashes([name])[0] for name in names}
    for some in (names, names[::-1], names[1:]):
        assert charts.dashes(some) == [alone[name] for name in some]
    both = pd.concat([single.assign(machine="contiguous"), single.assign(machine="flat")])
    found = encoding(charts.lines(both, "load", "wait_time", dash="machine"))
    assert found["strokeDash"]["scale"] == {"domain": ["contiguous", "flat"], "range": [[6, 3], [1, 0]]}
    assert [tip["field"] for tip in found["tooltip"]][:2] == ["scheme", "machine"]
    svg = vl_convert.vegalite_to_svg(charts.lines(both, "load", "wait_time", dash="machine").to_dict())
    legend = svg[svg.index("role-legend-entry") :]  # drawn after the lines
    assert 'stroke-dasharray="6,3"' in legend


# Bars


def test_bars_are_changes_in_percent(table):
    one = table[table["trace"] == TRACES[0]]  # waits of 1, 2, 3, 4 hours at load 0.5, then 5 to 8, then 9 to 12
    chart = charts.bars(one, "load", "wait_time", "FCFS", title="A", subtitle=TRACES[0])
    found = drawn_by(chart, "bar")
    assert found["scheme"].tolist() == list(SCHEMES[1:]) * 3
    assert found["change"].tolist() == pytest.approx([100, 200, 300, 20, 40, 60, 100 / 9, 200 / 9, 100 / 3])
    bar = encoding(chart)
    assert bar["y"]["title"] == ["change of mean wait against FCFS (%)"]
    assert bar["x"]["title"] == "offered load"
    assert bar["xOffset"]["field"] == "scheme"
    assert bar["color"]["scale"]["range"] == charts.colours(list(SCHEMES[1:]))
    assert drawn_by(chart, "rule")["baseline"].tolist() == [0]
    type(chart).validate(chart.to_dict())


def test_bars_show_intervals(table):
    one = table[table["trace"] == TRACES[0]].assign(wait_time_change_low=-90.0, wait_time_change_high=120.0)
    chart = charts.bars(one, "load", "wait_time", "EASY")
    _, _, interval = parts(chart.to_dict())
    assert interval["encoding"]["y"]["field"] == "wait_time_change_low"
    assert interval["encoding"]["y2"]["field"] == "wait_time_change_high"
    assert interval["mark"]["color"] == "currentColor"
    assert set(drawn_by(chart, "bar")["wait_time_change_high"]) == {120.0}


# Colours


def test_a_scheme_has_its_colour_whatever_else_is_drawn(single):
    names = [*SCHEMES, "EASY-WFP3", "EASY-F1", "Conservative (rebuild)", "DPSA"]
    alone = {name: charts.colours([name])[0] for name in names}
    own = sl.schemes.colours()
    assert len(set(alone.values())) == len(names)
    assert len(set(own.values())) == len(own)
    for some in (names, names[::-1], names[4:], names[::3]):
        assert charts.colours(some) == [alone[name] for name in some]
    for some in (SCHEMES, SCHEMES[2:], SCHEMES[::-1]):
        shown = pd.concat([single[single["scheme"] == name] for name in some])
        scale = encoding(charts.lines(shown, "load", "utilization"))["color"]["scale"]
        assert scale == {"domain": list(some), "range": [alone[name] for name in some]}


def contrast(colour, other):
    """Return WCAG's contrast of two colours."""

    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, bright = sorted((light(colour), light(other)))
    return (bright + 0.05) / (dark + 0.05)


def test_colours_of_series_are_seen_on_light_and_on_dark():
    sl.papers.modules()  # which register more
    names = [*palette._registered, *sl.schemes.colours(), *LOGS, *palette.CLASSES, *palette.GROUPS]
    names += [*map(str, range(200)), *MODELS, *(f"{log}{STANDIN}" for log in LOGS)]
    for name, colour in zip(names, charts.colours(names), strict=True):
        for ground in ("#ffffff", "#14171c"):
            assert contrast(colour, ground) >= 3, (name, colour, ground)


FILLED = [*job_colours.PALETTE, *palette.CLASSES.values(), *job_colours.TASKS.values(), "#888888"]


@pytest.mark.parametrize("colour", FILLED)
def test_letters_are_read_on_every_colour(colour):
    chosen = {"white": "#ffffff", "black": "#000000"}[palette.ink_on(colour)]
    assert contrast(colour, chosen) == max(contrast(colour, ink) for ink in ("#ffffff", "#000000"))
    assert contrast(colour, chosen) >= 4.5


def test_letters_on_a_colour_that_is_seen_through_have_the_ink_of_the_page():
    pale = palette.WAITING["started later"]
    assert len(pale) == len("#rrggbbaa")
    assert palette.ink_on(pale) == palette.INK


def _lab(colour):
    """Return CIE L*a*b* of a colour: distances in it are as people see them."""
    parts = palette._parts_of(colour)
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    x, y, z = ([[0.434, 0.376, 0.190], [0.213, 0.715, 0.072], [0.018, 0.109, 0.873]] @ np.array(linear)) ** (1 / 3)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("efficiency", [0, 0.5, 1])
def test_plain_shares_are_told_from_easy_and_the_iterative_scheme(efficiency):
    shares, *others = charts.colours([f"Fair share (ObF 1, EF {efficiency})", "EASY", "Iterative", "Greedy", "FCFS"])
    assert min(np.linalg.norm(_lab(shares) - _lab(other)) for other in others) > 30
    assert min(contrast(shares, ground) for ground in ("#ffffff", "#000000")) > 3


@pytest.mark.parametrize("log", LOGS)
def test_a_log_and_its_stand_in_are_told_apart(log):
    (real, version), (standin,) = charts.colours([log, f"{log}-3.1-cln"]), charts.colours([f"{log}-3.1-cln{STANDIN}"])
    assert real == version != standin
    assert contrast(real, standin) > 1.5
    assert standin == charts.colours([f"{log}-3.1-cln, seed 2 (stand-in, not the real log)"])[0]
    others = [f"{log}-mine", f"{log} and more", f"{log}, exact estimates", f"{log}-3.1-cln: users", f"{log}2"]
    assert len({real, standin, *charts.colours(others)}) == 2 + len(others)


@pytest.mark.parametrize("log", LOGS)
def test_a_stand_in_beside_its_log_or_another_has_an_unlike_colour(log):
    for names in ([f"{log}-3.1-cln", f"{log}{STANDIN}"], [f"{log}{STANDIN}", f"{log}, seed 1{STANDIN}"]):
        one, other = charts.colours(names)
        assert np.linalg.norm(_lab(one) - _lab(other)) > 29
        assert min(contrast(other, ground) for ground in ("#ffffff", "#000000")) > 3


def test_logs_and_stand_ins_are_told_apart_together():
    names = [*LOGS, *(f"{log}{STANDIN}" for log in LOGS)]
    assert len(set(charts.colours(names))) == len(names)
    logs = charts.colours([*sl.papers.grudenic2010.grids.LOGS])
    assert len(set(logs)) == len(logs)


def test_models_are_told_apart_and_keep_their_colours_with_any_seed():
    titles = [sl.model_trace(name, jobs=10, machine=430, seed=1).title for name in ("lublin", "jann", "downey")]
    found = charts.colours([*titles, "Tsafrir's model", "CTC-SP2-1996"])
    assert len(set(found)) == len(found)
    assert set(found[:4]) == set(MODELS.values())
    assert charts.colours([f"{title}, seed 7" for title in titles]) == found[:3]
    another = "Jann model (KTH, not Jann's numbers)"  # may be drawn beside the one fitted to the CTC's log
    assert charts.colours([another]) != found[1:2]


def test_colours_by_something_that_is_no_text(table):
    chart = charts.lines(table, "wait_time", "utilization", color="load")
    assert encoding(chart)["color"]["scale"]["domain"] == ["0.5", "0.7", "0.9"]
    assert set(drawn(chart)["load"]) == {"0.5", "0.7", "0.9"}


# The logarithmic axis


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([3.0, 20_000.0], [1, 10, 100, 1000, 10_000, 100_000]),
        ([0.2, 30.0, float("nan")], [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]),
        ([2.0, 40.0], [1, 2, 5, 10, 20, 50, 100, 200, 500]),
        ([1.02, 1.09], [1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08, 1.09]),
        ([3.1, 4.4], [3, 3.2, 3.4, 3.6, 3.8, 4, 4.2, 4.4]),
        ([7.0, 7.0], [7]),
    ],
)
def test_a_logarithmic_axis_has_readable_numbers(values, ticks):
    table = pd.DataFrame({"load": range(len(values)), "slowdown": values, "scheme": "EASY"})
    y = encoding(charts.lines(table, "load", "slowdown", log=True))["y"]
    assert y["scale"] == {"type": "log", "nice": False, "padding": 8}
    assert y["axis"]["values"] == pytest.approx(ticks)
    svg = vl_convert.vegalite_to_svg(charts.lines(table, "load", "slowdown", log=True).to_dict())
    shown = re.findall(r"<text[^>]*>([\d.,]+)</text>", svg)
    within = {f"{tick:,.3g}" if tick < 1000 else f"{tick:,}" for tick in ticks if values[0] <= tick <= values[1]}
    assert within <= set(shown)
    assert len(within) >= 3 or values[0] == values[1]


def test_a_logarithmic_axis_shows_a_zero(single):
    table = single.assign(wait_time=single["wait_time"].where(single.index > 0, 0))
    y = encoding(charts.lines(table, "load", "wait_time", log=True))["y"]
    assert y["scale"] == {"type": "symlog"}
    assert encoding(charts.lines(table, "load", "wait_time"))["y"]["scale"] == {"zero": True}


# What is refused


def test_a_logarithmic_axis_leaves_infinity_out(single):
    scale = encoding(charts.lines(single.assign(wait_time=float("inf")), "load", "wait_time", log=True))["y"]["scale"]
    assert scale["type"] == "symlog"


def test_a_missing_scheme_is_a_scheme(single):
    chart = charts.lines(single.assign(scheme=[None, *single["scheme"][1:]]), "load", "wait_time")
    assert encoding(chart)["color"]["scale"]["domain"][0] in ("None", "nan")


def test_a_base_that_is_no_text(table):
    numbered = table.assign(scheme=table["scheme"].factorize()[0]).drop_duplicates(["load", "scheme"])
    assert 0 < len(drawn_by(charts.bars(numbered, "load", "wait_time", base=0), "bar")) < len(numbered)
    with pytest.raises(ValueError, match="the table has nothing to compare with '0'"):
        charts.bars(numbered[numbered["scheme"] == 0], "load", "wait_time", base=0)


def published(**columns):
    return pd.DataFrame({"load": [0.5], "scheme": ["EASY"], "wait_time": [7200.0]} | columns)


LACKS = "the table has no column 'wait'; it has: trace, load, scheme, wait_time"
BEE = published(trace="Bee")
ROLES = ("x", "y", "color", "dash", "column")


@pytest.mark.parametrize(
    ("draw", "settings", "message"),
    [
        ("lines", {"y": "wait"}, LACKS),
        ("lines", {"column": "wait"}, LACKS),
        ("lines", {"color": "wait"}, LACKS),
        ("lines", {"dash": "option"}, "the table has no column 'option'"),
        ("lines", {"x": "scheme"}, "^column 'scheme' has 'FCFS' in row 0, expected numbers only$"),
        ("lines", {"x": "zero", "log_x": True}, "column 'zero' has 0.0, expected more than 0 on a logarithmic axis"),
        ("bars", {"base": "EASI"}, "no wait_time above 0 of 'EASI' at load 0.5 to compare with"),
        ("bars", {"base": "EASY", "y": "some"}, "no some above 0 of 'EASY' at load 0.9 to compare with"),
        ("bars", {"base": "EASY", "x": "zero"}, "several rows of FCFS at zero 0.0, aggregate them first"),
        ("ratios", {"y": "zero"}, "zero is 0.0, expected a ratio above 0"),
        ("lines", {"published": published(scheme="EASI")}, "^published has scheme 'EASI', the table has only: FCFS, E"),
        ("lines", {"published": BEE, "column": "trace"}, "^published has trace 'Bee', the table has only: Zebra-2001$"),
        ("lines", {"published": published(wait_time="long")}, "^column 'wait_time' has 'long' in row 0"),
        ("bars", {"base": "FCFS", "published": published()}, "the table has no column 'wait_time_change'"),
        ("bars", {"height": np.nan}, "^height must be a number of pixels above 0, got nan$"),
    ],
)
def test_what_a_table_does_not_hold_is_refused(single, draw, settings, message):
    some = single["wait_time"].where(single["load"] < 0.9, 0)
    with pytest.raises(ValueError, match=message):
        getattr(charts, draw)(single.assign(zero=0.0, some=some), **{"x": "load", "y": "wait_time"} | settings)


@pytest.mark.parametrize(
    ("draw", "settings", "message"),
    [
        *((draw, {"title": 5}, "^title is 5, expected text$") for draw in ("lines", "bars")),
        *((draw, {"subtitle": None}, "^subtitle is None, expected text$") for draw in ("lines", "bars")),
        ("lines", {"published": {"wait_time": 3}}, "^expected DataFrame, got dict$"),
        *(("lines", {role: ["scheme"]}, r"^expected the name of one column, got \['scheme'\]$") for role in ROLES),
    ],
)
def test_settings_of_another_type_are_refused(single, draw, settings, message):
    with pytest.raises(TypeError, match=message):
        getattr(charts, draw)(single, **{"x": "load", "y": "wait_time"} | settings)


def test_too_many_rows_are_refused():
    table = pd.DataFrame({"load": range(5001), "utilization": 1.0, "scheme": "EASY"})
    with pytest.raises(ValueError, match="the table has 5,001 rows, a chart takes at most 5,000: aggregate it first"):
        charts.lines(table, "load", "utilization")
    assert len(drawn(charts.lines(table[:5000], "load", "utilization"))) == 5000


DRAWN_FROM_A_TABLE = {
    "lines": lambda given: charts.lines(given, "load", "wait_time"),
    "bars": lambda given: charts.bars(given, "load", "wait_time", "FCFS"),
    "points": lambda given: charts.points(given, "load", "wait_time", "scheme"),
}


@pytest.mark.parametrize("name", DRAWN_FROM_A_TABLE)
@pytest.mark.parametrize("wrong", [None, [1, 2], "a table", {"load": [1]}])
def test_what_is_no_table_is_named(name, wrong):
    with pytest.raises(TypeError, match=f"^expected DataFrame, got {type(wrong).__name__}$"):
        DRAWN_FROM_A_TABLE[name](wrong)


@pytest.mark.parametrize("name", DRAWN_FROM_A_TABLE)
def test_words_are_no_measure(single, name):
    DRAWN_FROM_A_TABLE[name](single.astype({"wait_time": object}))
    with pytest.raises(ValueError, match="^column 'wait_time' has 'long' in row 0, expected numbers only$"):
        DRAWN_FROM_A_TABLE[name](single.assign(wait_time=["long", *single["wait_time"][1:]]))
    ends = {f"wait_time{change}_{end}": "?" for change in ("", "_change") for end in ("low", "high")}
    with pytest.raises(ValueError, match=r"^column 'wait_time(_change)?_low' has '\?' in row 0, expected numbers"):
        DRAWN_FROM_A_TABLE[name](single.assign(**ends))


# Several charts


def test_stacked(table):
    above, below = (charts.lines(table, "load", y, column="trace", title=y) for y in ("wait_time", "utilization"))
    before = above.to_dict()
    spec = charts.stacked([above, below]).to_dict()
    alt.VConcatChart.validate(spec)
    assert [part["title"]["text"] for part in spec["vconcat"]] == ["wait_time", "utilization"]
    shown = [part["encoding"]["y"]["field"] for part in parts(spec) if part["encoding"]["y"]["field"] != "label at"]
    assert shown == ["wait_time"] * 2 + ["utilization"] * 2
    assert "config" in spec
    assert not any("config" in part for part in spec["vconcat"])
    assert above.to_dict() == before  # the parts are left as they were


# Sizes


def plots(svg):
    """Return the widths and heights of the plots of a picture, in pixels."""
    frames = re.findall(r'<path class="background" aria-hidden="true" d="M[-\d.]+,[-\d.]+h([\d.]+)v([\d.]+)h', svg)
    return {(round(float(wide)), round(float(high))) for wide, high in frames}


def test_a_chart_of_any_kind_has_the_size_that_is_asked_for(single):
    size = {"width": 600, "height": 300}
    trace = sl.model_trace("lublin", jobs=60, machine=64)
    schedule = sl.simulate(trace)
    charts_of_one_plot = [
        charts.lines(single, "load", "wait_time", **size),
        charts.bars(single, "load", "wait_time", "EASY", **size),
        charts.ratios(single, "load", "bounded_slowdown", **size),
        charts.points(single, "load", "wait_time", "scheme", **size),
        charts.distribution(schedule, **size),
        charts.beside_model(trace, jobs=60, **size),
        charts.weekly(trace, **size),
        charts.scatter(schedule, schedule, **size),
        charts.heatmap(trace, **size),
        charts.arrivals(trace, start="2001-01-01", **size),
        charts.gantt(schedule, **size),
    ]
    for chart in charts_of_one_plot:
        assert (chart.width, chart.height) == (600, 300)
        assert (600, 300) in plots(vl_convert.vegalite_to_svg(chart.to_dict()))


@pytest.mark.parametrize(("count", "columns"), [(1, 1), (2, 2), (3, 3), (4, 2), (5, 3)])
def test_panels_fill_the_page_and_take_a_size(single, count, columns):
    several = pd.concat([single.assign(trace=f"log {i}", wait_time=single["wait_time"] / 2**i) for i in range(count)])
    chart = charts.lines(several, "load", "wait_time", column="trace")
    assert chart.columns == columns
    alike = pd.concat([single.assign(trace=f"log {i}") for i in range(count)])
    assert 0.82 * ROOM < pixels(charts.lines(alike, "load", "wait_time", column="trace"))[0] <= ROOM
    if count > 1:
        large = several.assign(wait_time=2e4 * several["wait_time"])  # labels as long as 400,000
        for page in (pixels(chart)[0], pixels(charts.lines(large, "load", "wait_time", column="trace"))[0]):
            assert 0.85 * ROOM < page <= ROOM
    rows = -(-count // columns)
    sized = charts.lines(several, "load", "wait_time", column="trace", width=600, height=300)
    assert (sized.spec.width, sized.spec.height) == (600 // columns, 300 // rows)
    later = charts.resized(chart, 600, 300)
    assert (later.spec.width, later.spec.height) == (sized.spec.width, sized.spec.height)
    assert (600 // columns, 300 // rows) in plots(vl_convert.vegalite_to_svg(sized.to_dict()))
    assert vl_convert.vegalite_to_svg(chart.to_dict()).count(", own scale<") == (count if count > 1 else 0)


@pytest.mark.parametrize("halved", [1, 2], ids=["common scale", "own scales"])
def test_lines_of_panels_are_named_in_the_last_of_each_full_row(single, halved):
    for count, named_in in ((2, {"1"}), (3, {"2"}), (4, {"1", "3"}), (5, {"2"})):
        shown = [single.assign(trace=str(i), wait_time=single["wait_time"] / halved**i) for i in range(count)]
        chart = charts.lines(pd.concat(shown), "load", "wait_time", column="trace")
        ends = drawn(chart).dropna(subset="label at")
        assert len(ends) == count * len(SCHEMES)
        assert set(ends[ends["label text"] != ""]["trace"]) == named_in
        picture = vl_convert.vegalite_to_svg(chart.to_dict())
        assert "role-legend" not in picture
        assert [picture.count(f">{scheme}</text>") for scheme in SCHEMES] == [len(named_in)] * len(SCHEMES)


def test_lines_of_panels_have_a_legend_where_names_do_not_fit_or_the_last_panel_lacks_a_line(table):
    long = table.assign(scheme=[f"{scheme}, which has a long name" for scheme in table["scheme"]])
    lacking = table[(table["trace"] != TRACES[-1]) | (table["scheme"] != SCHEMES[0])]
    by_trace = table[table["scheme"] == SCHEMES[0]]  # the heads of panels name the lines
    pictures = [
        vl_convert.vegalite_to_svg(charts.lines(rows, "load", "wait_time", color, column="trace").to_dict())
        for rows, color in ((long, "scheme"), (lacking, "scheme"), (by_trace, "trace"))
    ]
    assert ["role-legend" in picture for picture in pictures] == [True, True, False]


def test_charts_of_several_plots_take_a_size(single):
    profile = charts.profile(sl.simulate(sl.model_trace("lublin", jobs=60, machine=64)), width=500, height=700)
    assert [part.width for part in profile.vconcat] == [500] * 3
    assert sum(part.height for part in profile.vconcat) == 700
    narrow = charts.bars(single, "load", "wait_time", "EASY", width=300)
    wide = charts.lines(single, "load", "wait_time")
    beside = charts.stacked([narrow, narrow], width=800, height=100)
    assert beside.columns == 2
    assert [(part.width, part.height) for part in beside.concat] == [(400, 100)] * 2
    below = charts.stacked([wide, wide], height=100)
    assert [(part.width, part.height) for part in below.vconcat] == [(wide.width, 50)] * 2
    before = wide.to_dict()
    assert charts.resized(wide, width=100).to_dict()["width"] == 100
    assert wide.to_dict() == before
    for wrong in (0, -3, float("inf"), float("nan"), "wide"):
        with pytest.raises(ValueError, match=f"^width must be a number of pixels above 0, got {wrong!r}$"):
            charts.resized(wide, width=wrong)


def test_charts_of_different_schemes_keep_their_colours_when_stacked(single):
    above = charts.lines(single, "load", "wait_time")
    below = charts.lines(single[single["scheme"] != SCHEMES[0]], "load", "wait_time")
    assert charts.stacked([above, below]).to_dict()["resolve"]["scale"]["color"] == "independent"
    assert "resolve" not in charts.stacked([above, above]).to_dict()


def test_lines_have_equal_strokes_and_the_first_is_on_top(single):
    svg = vl_convert.vegalite_to_svg(charts.lines(single.assign(wait_time=3600.0), "load", "wait_time").to_dict())
    lines = re.findall(r'aria-roledescription="line mark"[^>]* stroke="([^"]*)" stroke-width="([^"]*)"', svg)
    assert lines == [(colour, "2") for colour in charts.colours(list(SCHEMES))[::-1]]


def labels(chart):
    """Return the names at the ends of lines, each with its colour and its place (pixels from the top)."""
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    found = re.findall(r'<text[^>]*?transform="translate\(([\d.]+),([\d.]+)\)"[^>]*? fill="([^"]*)"[^>]*>([^<]*)<', svg)
    return {words: (colour, float(y)) for x, y, colour, words in found if words in SCHEMES and float(x) > 100}


@pytest.mark.parametrize("log", [False, True])
def test_up_to_six_lines_have_their_names_at_their_ends_apart_from_one_another(single, log):
    close = single.assign(wait_time=single["wait_time"].where(single["load"] < 0.9, 3600.0))
    for table in (single, close):
        found = labels(charts.lines(table, "load", "wait_time", log=log))
        assert {name: colour for name, (colour, _) in found.items()} == dict.fromkeys(SCHEMES, "currentColor")
        places = sorted(place for _, place in found.values())
        assert min(np.diff(places)) > 12  # the height of a letter
    many = pd.concat([single.assign(scheme=f"{name}") for name in "abcdefg"]).drop_duplicates(["load", "scheme"])
    assert "legend" not in json.dumps(charts.lines(single, "load", "wait_time").to_dict()["layer"][0]["encoding"]["y"])
    assert charts.lines(many, "load", "wait_time").to_dict()["layer"][0]["encoding"]["color"]["legend"]


def test_zero_is_marked_where_differences_turn_their_sign(single):
    def marked(table):
        return [part for part in parts(charts.lines(table, "load", "gain").to_dict()) if part["mark"]["type"] == "rule"]

    single = single.assign(gain=np.linspace(-5, 5, len(single)))
    (rule,) = marked(single)
    assert rule["encoding"]["y"]["field"] == "zero"
    assert marked(single.assign(gain=single["gain"].abs())) == []
    panels = charts.lines(single, "load", "gain", column="scheme")
    assert sorted(drawn(panels).dropna(subset="zero")["scheme"]) == sorted(SCHEMES)  # one in each


@pytest.mark.parametrize("draw", [charts.lines, charts.bars, charts.ratios])
def test_what_was_simulated_just_now_is_a_ring(single, draw):
    now = single[single["load"] == 0.7].assign(wait_time=lambda table: table["wait_time"] * 2)
    given = single if draw is not charts.bars else single.assign(wait_time=single["wait_time"] / 3600)
    chart = draw(given, "load", "wait_time", rings=pd.concat([now, now.assign(scheme="unknown")]))
    rings = [part for part in parts(chart.to_dict()) if part["encoding"]["y"].get("field") == "just now"]
    assert [(part["mark"]["shape"], part["mark"]["fill"]) for part in rings] == [("circle", "transparent")]
    spec = chart.to_dict()
    rows = pd.DataFrame(spec["datasets"][spec["data"]["name"]]).dropna(subset="just now").set_index("scheme")
    scale = 3600 if draw is charts.lines else 1
    assert (rows["just now"] * scale).to_dict() == now.set_index("scheme")["wait_time"].to_dict()
    plain = draw(given, "load", "wait_time", rings=now.assign(wait_time=np.nan)).to_dict()
    assert not [part for part in parts(plain) if part["encoding"]["y"].get("field") == "just now"]
    with pytest.raises(ValueError, match="wait_time"):
        draw(given, "load", "wait_time", rings=now.drop(columns="wait_time"))


def test_a_name_at_the_end_of_lines_that_meet_has_the_stroke_of_its_line():
    meet = pd.DataFrame({"load": [0.5, 0.9] * 2, "scheme": ["EASY"] * 2 + ["FCFS"] * 2, "wait_time": [1.0, 3, 2, 3]})
    chart = charts.lines(meet, "load", "wait_time")
    stroke, name = list(parts(chart.to_dict()))[-2:]
    assert (stroke["mark"]["shape"], name["mark"]["type"]) == ("stroke", "text")
    assert stroke["encoding"]["y"] == name["encoding"]["y"]  # moved apart together
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    for colour in charts.colours(["EASY", "FCFS"]):
        before, small = (text.count(f'stroke="{colour}"') for text in (svg, charts.thumbnail(chart)))
        assert before > small > 0  # a thumbnail has the lines only


@pytest.mark.parametrize("panels", [None, "trace"])
def test_a_thumbnail_has_no_words(table, panels):
    shown = table if panels else table[table["trace"] == TRACES[0]]
    small = charts.thumbnail(charts.lines(shown, "load", "wait_time", column=panels, title="Waits"))
    assert small.startswith("<svg")
    assert "<text" not in small
    assert small.count("stroke-width") >= len(SCHEMES)
    stacked = charts.stacked([charts.bars(shown[shown["trace"] == TRACES[0]], "load", "wait_time")] * 2)
    assert "<text" not in charts.thumbnail(stacked)


# Where charts go


@pytest.fixture
def whole(table):
    measures = ("wait_time", "utilization")
    return charts.stacked([charts.lines(table, "load", y, column="trace", log=True) for y in measures])


def test_what_jupyterlab_draws_with_no_network(whole):
    # It draws Vega-Lite 5 by itself. What only version 6 knows would be missing or fail there.
    spec = whole.to_dict()
    older = {**spec, "$schema": "https://vega.github.io/schema/vega-lite/v5.json"}
    versions = vl_convert.get_vegalite_versions()
    fives = sorted((name for name in versions if name.startswith("5.")), key=lambda name: int(name[2:]))
    new = vl_convert.vegalite_to_svg(spec, vl_version=versions[-1])
    assert new.count('aria-roledescription="circle"') == 2 * 2 * len(LOADS) * len(SCHEMES)
    for version in (fives[0], fives[-1]):
        old = vl_convert.vegalite_to_svg(older, vl_version=version)
        roles = [f'aria-roledescription="{mark}"' for mark in ("circle", "line mark")]
        for shape in (*roles, "role-legend-label", "<text"):
            assert old.count(shape) == new.count(shape)
        assert re.findall("<text[^>]*>([^<]*)<", old) == re.findall("<text[^>]*>([^<]*)<", new)


@pytest.fixture
def set_up():
    """Let charts be drawn as after `charts.setup`."""
    before = alt.renderers.active
    charts.setup()
    yield
    alt.renderers.enable(before)


@pytest.mark.usefixtures("set_up")
def test_setup_makes_jupyterlab_draw_version_5(whole):
    data, _ = whole._repr_mimebundle_()
    (kind,) = (name for name in data if name != "text/plain")
    assert kind == "application/vnd.vegalite.v5+json"
    assert data[kind]["$schema"] == "https://vega.github.io/schema/vega-lite/v5.json"
    assert data[kind]["vconcat"] == whole.to_dict()["vconcat"]


@theme.unchecked
def wrong():
    """Draw a chart that is not valid Vega-Lite."""
    return alt.Chart(pd.DataFrame({"x": [1]})).mark_point().encode(x=alt.X("x:Q", axis={"format": 5}))


def test_every_chart_that_a_test_draws_is_checked():
    with pytest.raises(SchemaValidationError, match="'5' is an invalid value"):
        wrong()


def test_parts_of_a_chart_are_checked_in_tests_only(monkeypatch):
    part = theme.unchecked(lambda: alt.Chart("table.csv", mark=alt.MarkDef("point", size="big")))
    with pytest.raises(SchemaValidationError, match="'big' is an invalid value"):
        part()
    monkeypatch.setattr(theme, "CHECKED", False)
    part()
    with pytest.raises(SchemaValidationError, match="'big' is an invalid value"):  # a user's own chart is still checked
        alt.MarkDef("point", size="big")


@pytest.mark.usefixtures("set_up")
def test_a_chart_is_shown_unchecked_until_a_user_changes_it(monkeypatch, single):
    chart = charts.lines(single, "load", "wait_time")
    assert theme.shown(chart) == chart._repr_mimebundle_()
    monkeypatch.setattr(theme, "CHECKED", False)
    monkeypatch.setattr(alt.TopLevelMixin, "_repr_mimebundle_", lambda chart: "checked")
    for made in (chart, charts.stacked([chart, chart]), wrong()):
        assert charts.LAB in theme.shown(made)[0]
    own = chart.copy()
    for users in (own, wrong().properties(title="mine"), charts.stacked([chart, own])):
        assert theme.shown(users) == "checked"


def test_setup_lets_a_notebook_show_charts_unchecked(tmp_path):
    code = """
import schedlab as sl
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
sl.charts.setup()
chart = sl.charts.heatmap(sl.model_trace("lublin", jobs=50, machine=64))
type(chart).validate = None  # a check would call it
data, told = shell.display_formatter.format(chart)
assert sl.charts.LAB in data and told[sl.charts.LAB]["embed_options"]["actions"] is False
"""
    environment = os.environ | {"IPYTHONDIR": str(tmp_path)}
    assert processes.run(code, env=environment) == ""  # what fails in there fails here


def test_on_a_page_a_chart_is_its_specification(single):
    chart = charts.lines(single, "load", "wait_time", title="a</script>b")
    place, _, script = charts.on_page(charts.specified(chart)).partition("<script")
    (key,) = re.findall(r'data-spec="([^"]+)"', place)
    text = script.partition(">")[2].removesuffix("</script>")
    assert f'id="{key}"' in script
    assert "</script" not in text
    assert json.loads(text) == charts.specified(chart)


def leaves(config, above=()):
    """Return the paths of all settings."""
    inner = [
        leaves(value, (*above, key)) if isinstance(value, dict) else [(*above, key)] for key, value in config.items()
    ]
    return [path for paths in inner for path in paths]


def test_charts_have_the_ink_and_the_ground_of_the_page(whole):
    config = whole.to_dict()["config"]
    assert config["background"] == "transparent"
    assert config["padding"] > 0
    # What JupyterLab's dark theme would make light: Vega's theme "dark". A chart's own config takes precedence over it.
    dark = {
        "background": "#333",
        "view": {"stroke": "#888"},
        "title": {"color": "#fff", "subtitleColor": "#fff"},
        "style": {"guide-label": {"fill": "#fff"}, "guide-title": {"fill": "#fff"}},
        "axis": {"domainColor": "#fff", "gridColor": "#888", "tickColor": "#fff"},
    }
    assert not [path for path in leaves(dark) if path not in leaves(config)]


# Files


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("something asks for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


STARTS = {".png": b"\x89PNG", ".svg": b"<svg", ".pdf": b"%PDF", ".html": b"<!DOCTYPE html>", ".json": b"{"}


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("suffix", STARTS)
def test_save(whole, tmp_path, suffix):
    path = tmp_path / f"chart{suffix}"
    path.write_text("what was there before")
    assert charts.save(whole, str(path)) == path
    assert path.read_bytes().lstrip().startswith(STARTS[suffix])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("no_network")
def test_what_is_saved_is_the_whole_chart_and_refers_to_nothing_outside(whole, tmp_path):
    saved = charts.save(whole, tmp_path / "chart.json").read_text()
    assert json.loads(saved) == files.printed(whole.to_dict())
    assert "currentColor" not in saved  # dark on white
    page, picture = (charts.save(whole, tmp_path / f"chart.{kind}").read_text() for kind in ("html", "svg"))
    assert not re.findall(r"""<(?:script|link|img)[^>]*(?:src|href)=["']?http""", page)
    assert not re.findall(r"""(?:href|src)=["'](?!#)|url\((?!["']?#)|@import""", picture)
    assert "mean wait (hours)" in page
    assert "mean wait (hours)" in picture


def test_a_folder_that_is_not_there_is_named(whole, tmp_path):
    with pytest.raises(FileNotFoundError, match=f"^there is no folder {re.escape(str(tmp_path / 'no'))} to save c.svg"):
        charts.save(whole, tmp_path / "no" / "c.svg")


@pytest.mark.parametrize("name", ["chart.gif", "chart"])
def test_an_unknown_format_is_refused(whole, tmp_path, name):
    with pytest.raises(ValueError, match="expected one of .png, .svg, .pdf, .html, .json"):
        charts.save(whole, tmp_path / name)
    assert not any(tmp_path.iterdir())


def test_a_file_appears_whole_or_not_at_all(whole, tmp_path, monkeypatch):
    path = tmp_path / "chart.svg"
    path.write_text("what was there before")

    def broken(chart, part, **_):
        part.write_text("half of it")
        raise OSError("disk full")

    monkeypatch.setattr(type(whole), "save", broken)
    with pytest.raises(OSError, match="disk full"):
        charts.save(whole, path)
    assert path.read_text() == "what was there before"
    assert list(tmp_path.iterdir()) == [path]


# Tables


def shown(styler):
    """Return the cells of a styled table in reading order, heads first."""
    page = styler.to_html()
    read = [re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", line) for line in page.split("<tr>")[1:]]
    return [[html.unescape(cell) for cell in line] for line in read]


def test_numbers_of_a_table():
    rows = [(77_205, 12_345.678, "CTC", True), (3, 0.123456, "<b>", False)]
    frame = pd.DataFrame(rows, columns=["jobs", "wait", "log", "killed"])
    before = frame.copy(deep=True)
    assert shown(charts.table(frame)) == [
        ["jobs", "wait", "log", "killed"],
        ["77,205", "12,346", "CTC", "yes"],
        ["3", "0.123", "<b>", "no"],
    ]
    assert frame.equals(before)
    assert shown(charts.table(pd.DataFrame({"wait": [1.5, float("nan")]})))[1:] == [["1.5"], ["-"]]


@pytest.mark.parametrize("values", [[], [True][:0], pd.to_datetime([]), [None], [float("nan")]])
def test_a_table_takes_columns_without_values(values):
    assert len(shown(charts.table(pd.DataFrame({"it": values})))) == 1 + len(values)


def test_a_table_breaks_no_name():
    sentence = "of some words, in a sentence"
    row = {"trace": "HPC2N-2002-2.2-cln", "said": sentence, "load": 0.5, "policy": "EASY (count)"}
    frame = pd.DataFrame([row])
    rules = re.findall(r"td\.(col\d) {\s*white-space: nowrap", charts.table(frame).to_html())
    assert rules == ["col0", "col2", "col3"]


def test_a_table_shows_no_row_numbers_that_begin_again_and_no_minus_zero():
    parts = [pd.DataFrame({"change": [-0.0, -0.5]}), pd.DataFrame({"change": [1.0]})]
    assert shown(charts.table(pd.concat(parts))) == [["change"], ["0"], [f"{MINUS}0.5"], ["1"]]
    assert shown(charts.table(pd.concat(parts).set_axis(["a", "b", "a"])))[1] == ["a", "0"]


def test_a_head_stands_over_its_column():
    page = charts.table(pd.DataFrame({"log": ["CTC"], "mean wait (s)": [1.5], "load": [1]})).to_html()
    rules = re.findall(r"#T_\w+ \.(col\d) {[^}]*text-align: (\w+)", page)  # of head and cells both
    assert dict(rules) == {"col0": "left", "col1": "right", "col2": "right"}


def test_an_index_that_says_something_is_shown():
    trace = sl.model_trace("lublin", jobs=50, machine=64)
    schedule = sl.simulate(trace)
    assert shown(charts.table(schedule.metrics()))[0] == ["", "EASY"]
    by_size = schedule.metrics(by="size")
    found = shown(charts.table(by_size))
    assert found[0][1] == "jobs"
    assert [row[0] for row in found[1:]] == [str(label) for label in by_size.index]


@pytest.mark.parametrize("wrong", [None, [1], "text"])
def test_what_is_no_table_has_no_style(wrong):
    with pytest.raises(TypeError, match=f"^expected DataFrame or Series, got {type(wrong).__name__}$"):
        charts.table(wrong)


def test_columns_of_one_name_are_refused():
    index = pd.Index([7, 8], name="load")
    for frame in (
        pd.DataFrame({"load": [1, 2]}, index=index),
        pd.DataFrame([[1, 2], [3, 4]], columns=["load", "load"]),
        pd.Series([1, 2], index=index, name="load"),
    ):
        with pytest.raises(ValueError, match="^the table has several columns 'load', the index counted; rename"):
            charts.table(frame)


def test_a_ledger():
    rows = [("A", "1", "CTC", "1", "reproduced"), ("B", "2", "CTC", "3", "not reproduced")]
    ledger = pd.DataFrame(rows, columns=["id", "published", "trace", "measured", "verdict"])
    styler = charts.table(ledger, caption="Published and measured")
    assert shown(styler)[0] == ["id", "published", "measured", "trace", "verdict"]
    page = styler.to_html()
    assert "Published and measured" in page
    for verdict in ("reproduced", "not reproduced"):
        assert f">{SHAPES[verdict]} {verdict}<" in page
    assert "background" not in page
    assert page == charts.table(ledger, caption="Published and measured").to_html()
    assert sl.papers.base.claims().shape[0] == len(shown(charts.table(sl.papers.base.claims()))) - 1


# --- Ratios -------------------------------------------------------------------------------------------------


def test_ratios_are_bars_from_one():
    table = pd.DataFrame({"trace": ["A", "A", "B"], "scheme": ["FCFS", "EASY", "FCFS"], "wait_ratio": [8.0, 0.5, 20.0]})
    spec = charts.ratios(table, "trace", "wait_ratio").to_dict()
    bars = spec["layer"][0]["encoding"]
    assert bars["y"]["field"] == "wait_ratio"
    assert bars["y"]["title"] == "ratio of mean waits"
    assert bars["y"]["scale"] == {"type": "log", "nice": False, "padding": 24}
    assert bars["y2"] == {"datum": 1}
    assert [part["mark"]["type"] for part in spec["layer"]] == ["bar", "rule", "text", "text"]
    above = charts.ratios(table.assign(wait_ratio=2.0), "trace", "wait_ratio").to_dict()
    assert [part["mark"]["type"] for part in above["layer"]] == ["bar", "rule", "text"]  # Vega warns of empty layers


NEAR, FAR, BOTH, BELOW, ABOVE = [1.02, 1.05, 1.09], [0.5, 3, 20], [0.97, 1.01, 1], [0.2, 0.5, 0.9], [150, 9, 2]


@pytest.mark.parametrize("values", [NEAR, FAR, BOTH, BELOW, ABOVE])
def test_ratios_have_ticks_and_fill_the_plot(values):
    table = pd.DataFrame({"m": ["A", "B", "C"], "scheme": "EASY", "ratio": values}).astype({"ratio": float})
    table = table.assign(ratio_low=table["ratio"] / 1.01, ratio_high=table["ratio"] * 1.02)
    spec = charts.ratios(table, "m", "ratio").to_dict()
    ends = [*table["ratio_low"], *table["ratio_high"], 1.0]
    ticks = [tick for tick in spec["layer"][0]["encoding"]["y"]["axis"]["values"] if min(ends) <= tick <= max(ends)]
    assert 3 <= len(ticks) <= 10
    svg = vl_convert.vegalite_to_svg(spec)
    bars = [
        sorted((float(top), float(top) + float(height)))
        for top, height in re.findall(r'aria-roledescription="bar" d="M[-\d.]+,([-\d.]+)h[-\d.]+v([-\d.]+)', svg)
    ]
    assert len(bars) == 3
    top, bottom = min(top for top, _ in bars), max(bottom for _, bottom in bars)
    assert 0 <= top <= bottom <= charts.HEIGHT
    assert bottom - top > 0.4 * charts.HEIGHT


def test_ratios_are_written_beyond_their_intervals():
    table = pd.DataFrame({"m": ["A", "B"], "scheme": "EASY", "ratio": [1.04, 0.93]})
    table = table.assign(ratio_low=[1.01, 0.9], ratio_high=[1.2, 0.95])
    published = pd.DataFrame({"m": ["B"], "scheme": "EASY", "ratio": [0.85]})
    spec = charts.ratios(table, "m", "ratio", published=published, width=100)
    rows = drawn(spec, 0).dropna(subset="ratio").set_index("ratio")
    assert rows["place"].to_dict() == {1.04: 1.2, 0.93: 0.85}
    up, down = (part for part in spec.to_dict()["layer"] if part["mark"]["type"] == "text")
    assert [(part["mark"]["baseline"], part["mark"]["dy"]) for part in (up, down)] == [("bottom", -6), ("top", 6)]
    wide = charts.ratios(table, "m", "ratio", published=published)  # on the bar, beside what is drawn over its middle
    rows = drawn(wide, 0).dropna(subset="ratio").set_index("ratio")
    assert rows["place"].to_dict() == {1.04: 1.04, 0.93: 0.93}
    up, down = (part for part in wide.to_dict()["layer"] if part["mark"]["type"] == "text")
    assert up["mark"]["dx"] == down["mark"]["dx"] < -12


# --- Intervals, ranges, published numbers ----------------------------------------------------------------


@pytest.fixture
def changes():
    keys = [(load, scheme) for load in ("0.5", "0.9") for scheme in ("DPSAn", "DPSAp")]
    return pd.DataFrame(keys, columns=["load", "scheme"]).assign(better=[10.0, -5.0, 20.0, 4.0])


@pytest.mark.parametrize("chart", [charts.bars, charts.ratios, charts.lines, charts.points])
def test_an_interval_must_be_of_what_is_drawn(chart):
    table = pd.DataFrame({"load": [0.5], "scheme": ["EASY"], "gain": [158.5], "gain_low": 2.7, "gain_high": 141.2})
    names = {"label" if chart is charts.points else "color": "scheme"}
    with pytest.raises(ValueError, match=r"^gain is 158\.5, outside its interval gain_low to gain_high, 2\.7 to 141"):
        chart(table, "load", "gain", **names)
    ranges = table.rename(columns=lambda name: re.sub("gain_(low|high)", r"gain_range_\1", name))
    spec = chart(ranges, "load", "gain", **names, range_label='shaken "copies", 95 %').to_dict()
    svg = vl_convert.vegalite_to_svg(spec)
    assert html.unescape(svg).count('shaken "copies", 95 %</text>') == 1
    tips = next(part["encoding"]["tooltip"] for part in parts(spec) if "tooltip" in part["encoding"])
    assert {'shaken "copies", 95 %, low', 'shaken "copies", 95 %, high'} <= {tip.get("title") for tip in tips}


def test_an_interval_may_touch_its_value_and_may_be_missing(changes):
    exact = changes.assign(better_low=changes["better"] * (1 + 1e-12), better_high=[30.0, np.nan, np.inf, 5.0])
    spec = charts.bars(exact, "load", "better").to_dict()
    rows = pd.DataFrame(next(rows for rows in spec["datasets"].values() if "better" in rows[0]))
    assert rows["better_low"].isna().tolist() == [False, True, False, False]  # one end alone is left out


def test_an_enormous_interval_is_cut_off_and_said(changes):
    wide = changes.assign(better_low=changes["better"] - 3, better_high=[12.0, 6.0, 8000.0, 9.0])
    spec = charts.bars(wide, "load", "better", subtitle="a log").to_dict()
    assert spec["title"]["subtitle"] == ["a log", "arrows: intervals that reach further"]
    rows = pd.DataFrame(next(rows for rows in spec["datasets"].values() if "better" in rows[0]))
    assert rows["better_high"].tolist() == [12, 6, 8000, 9]  # for the tooltip
    assert rows["better_high_drawn"].tolist() == [12, 6, 45, 9]  # bars from -5 to 20, and as far again
    (arrow,) = [part for part in spec["layer"] if part["mark"].get("shape") == "triangle-up"]
    assert arrow["encoding"]["y"]["field"] == "better_high_drawn"
    svg = vl_convert.vegalite_to_svg(spec)
    assert svg.count('aria-roledescription="point"') == 1
    calm = charts.bars(changes.assign(better_low=-9.0, better_high=30.0), "load", "better").to_dict()
    assert "arrows" not in str(calm["title"])
    assert not [part for part in calm["layer"] if part["mark"]["type"] == "point"]


@pytest.mark.parametrize("log", [False, True])
def test_an_enormous_band_is_cut_off_in_its_panel(table, log):
    low, high = table["wait_time"] / 2, table["wait_time"] * 2
    high[0] = 1e12
    wide = table.assign(wait_time_low=low, wait_time_high=high)
    chart = charts.lines(wide, "load", "wait_time", column="trace", log=log)
    assert "shaded intervals are cut off where they reach far" in chart.to_dict()["title"]["subtitle"][-1]
    rows = drawn(chart).set_index("wait_time")
    span = 12 * 12 if log else 12 + 12  # waits of 1 to 12 hours, on an axis from 0 if it is not logarithmic
    assert rows.loc[1, "wait_time_high_drawn"] == pytest.approx(span)
    assert rows.loc[2, "wait_time_high_drawn"] == rows.loc[2, "wait_time_high"] == 4


def published_parts(chart):
    """Return the parts of a chart that show published numbers."""
    return [part for part in parts(chart.to_dict()) if "stroke" in part["encoding"]]


def test_published_numbers_are_diamonds(changes):
    given = pd.DataFrame({"load": ["0.5", "0.9"], "scheme": ["DPSAn", "DPSAp"], "better": [8.0, 5.5]})
    chart = charts.bars(changes, "load", "better", published=given)
    (part,) = published_parts(chart)
    assert (part["mark"]["shape"], part["mark"]["fill"]) == ("diamond", "transparent")
    assert part["encoding"]["stroke"]["scale"] == {"domain": ["published"], "range": ["currentColor"]}
    assert part["encoding"]["xOffset"]["field"] == "scheme"
    assert [tip.get("title") for tip in part["encoding"]["tooltip"]] == [None, "offered load", "published: better"]
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    assert svg.count('aria-roledescription="point"') == 2
    assert svg.count(">published</text>") == 1
    assert svg.count('aria-roledescription="bar"') == len(changes)
    without = charts.bars(changes, "load", "better").to_dict()
    assert "published" not in json.dumps(without)


@pytest.mark.parametrize("version", ["5.20", "6.4"])
@pytest.mark.parametrize("log", [False, True])
def test_published_numbers_of_one_panel_or_of_all(table, log, version):
    mine = {"trace": [TRACES[1]], "load": [0.7], "scheme": ["EASY"], "wait_time": [7200.0]}
    for given, count in ((mine, 1), ({key: mine[key] for key in ("load", "scheme", "wait_time")}, 2)):
        chart = charts.lines(table, "load", "wait_time", column="trace", log=log, published=pd.DataFrame(given))
        svg = vl_convert.vegalite_to_svg(chart.to_dict(), vl_version=version)
        hearts, points = count, len(table)
        strokes = len(TRACES) * len(SCHEMES)  # beside names
        assert svg.count('aria-roledescription="point"') == count + strokes
        assert svg.count('aria-roledescription="circle"') == hearts + points
        assert svg.count('aria-roledescription="line mark"') == len(TRACES) * len(SCHEMES)
        assert svg.count(">published</text>") == 1
        assert set(drawn(chart)["published"].dropna()) == {2.0}  # hours, as the lines


def test_published_ranges(changes):
    here = pd.DataFrame({"load": ["0.5"], "better_low": [2.0], "better_high": [30.0]})
    chart = charts.bars(changes, "load", "better", published=here)
    low, high = published_parts(chart)
    assert (low["encoding"]["y"]["field"], high["encoding"]["y"]["field"]) == ("published_low", "published_high")
    assert "xOffset" not in low["encoding"]  # in the middle of its group
    assert vl_convert.vegalite_to_svg(chart.to_dict()).count(">published</text>") == 1
    everywhere = charts.bars(changes, "load", "better", published=here.drop(columns="load"))
    (band,) = published_parts(everywhere)
    assert band["mark"]["type"] == "rect"
    assert "x" not in band["encoding"]
    (rule,) = published_parts(charts.bars(changes, "load", "better", published=pd.DataFrame({"better": [7.0]})))
    assert rule["mark"]["type"] == "rule"
    assert "x" not in rule["encoding"]
    svg = vl_convert.vegalite_to_svg(everywhere.to_dict())
    assert len(re.findall(r">0\.[59]</text>", svg)) == 2  # and no group for what has none


def test_published_changes_against_a_base(table, single):
    given = pd.DataFrame({"load": [0.5], "scheme": ["EASY"], "wait_time_change": [77.0]})
    chart = charts.bars(single, "load", "wait_time", "FCFS", published=given)
    assert drawn_by(chart, "bar")["published"].dropna().tolist() == [77.0]


# Rows that would lie on one another -----------------------------------------------------------------------


def test_lines_refuse_several_rows_at_one_place():
    table = pd.DataFrame({"trace": ["a", "b"], "load": [0.5, 0.5], "scheme": ["EASY", "EASY"], "wait_time": [1.0, 2.0]})
    words = "the table has several rows of EASY at load 0.5, aggregate them first or give them a dash or a column"
    with pytest.raises(ValueError, match=words):
        sl.charts.lines(table, "load", "wait_time")
    for apart in ("dash", "column"):
        sl.charts.lines(table, "load", "wait_time", **{apart: "trace"})


@pytest.mark.parametrize(
    ("x", "y", "sides"),
    [
        ([0.1, 0.5, 0.51, 0.9], [5.0, 5.0, 5.0, 5.0], {0: "right", 1: "left", 2: "right", 3: "right"}),
        ([0.1, 0.5, 0.9], [10.0, 0.0, 5.0], {1: "above"}),  # not struck through by the axis
    ],
)
def test_names_of_points_cover_neither_points_nor_names_nor_the_axis(x, y, sides):
    points = pd.DataFrame({"load": x, "gain": y, "name": list("abcd")[: len(x)]})
    spec = charts.points(points, "load", "gain", "name").to_dict()
    (rows,) = spec["datasets"].values()
    assert {place: rows[place]["side"] for place in sides} == sides
    named = {part["mark"]["align"] for part in spec["layer"] if "text" in part["encoding"]}
    assert named >= {side for side in sides.values() if side != "above"}


def test_lines_without_any_interval_have_no_band():
    table = pd.DataFrame({"load": [0.5, 0.9], "scheme": "EASY", "wait_time": [1.0, 2.0]})
    empty = table.assign(wait_time_low=np.nan, wait_time_high=np.nan)
    kinds = [part["mark"]["type"] for part in parts(charts.lines(empty, "load", "wait_time").to_dict())]
    assert "area" not in kinds


def test_lines_of_a_table_without_rows_are_an_empty_chart():
    table = pd.DataFrame({"load": [0.5], "scheme": ["EASY"], "wait_time": [1.0]})
    spec = charts.lines(table.head(0), "load", "wait_time").to_dict()
    assert not any(spec.get("datasets", {}).values())


# What a page has room for


@pytest.mark.parametrize("chart", ["bars", "scatter"])
def test_two_charts_beside_one_another_fit_the_page(single, chart):
    if chart == "bars":
        one = charts.bars(single, "load", "wait_time", "EASY")
    else:
        schedule = sl.simulate(sl.model_trace("lublin", jobs=200, machine=64), "easy")
        one = charts.scatter(schedule, schedule)
    both = charts.stacked([one, one])
    assert both.columns == 2
    assert 0.9 * ROOM < pixels(both)[0] <= ROOM


def test_the_names_of_groups_lie_level_where_there_is_room(single):
    long = single.assign(load=[f"LLNL-Thunder-2007-1.1-{load}" for load in single["load"]])

    def angle(chart):
        bar = next(part for part in parts(chart.to_dict()) if part["mark"]["type"] == "bar")
        return bar["encoding"]["x"]["axis"]["labelAngle"]

    assert angle(charts.ratios(long, "load", "bounded_slowdown")) == 0
    assert angle(charts.bars(long, "load", "wait_time", "EASY")) == -30
    assert angle(charts.bars(long, "load", "wait_time", "EASY", width=700)) == 0


def test_the_height_of_a_chart_is_estimated_well(table, single):
    trace = sl.model_trace("lublin", jobs=300, machine=64)
    easy, fcfs = sl.simulate(trace, "easy"), sl.simulate(trace, "fcfs")
    drawn = {
        "profile": charts.profile(easy),
        "gantt": charts.gantt(easy),
        "gantts": charts.gantts({"EASY": easy, "FCFS": fcfs}),
        "distribution": charts.distribution([easy, fcfs]),
        "scatter": charts.scatter(fcfs, easy),
        "heatmap": charts.heatmap(trace),
        "marks": charts.compositions(sl.compositions(["easy", "greedy"])),
        "weekly": charts.weekly(trace),
        "arrivals": charts.stacked([charts.arrivals(trace, start="2001-01-01")] * 2),
        "lines": charts.lines(single, "load", "wait_time", title="Waits"),
        "panels": charts.lines(table, "load", "wait_time", column="trace", log=True),
        "bars": charts.bars(single.assign(load=[f"LLNL-{load}-1.1" for load in single["load"]]), "load", "wait_time"),
    }
    for name, chart in drawn.items():
        assert 0 <= charts.height_of(chart.to_dict()) - pixels(chart)[1] < 55, name


def test_names_without_a_colour_of_their_own_are_told_apart_in_one_chart():
    def parts(colour):
        return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255

    names = ["today (log)", "fair share", "today", "proposal", "other", "fourth"]
    chosen = charts.colours(names)
    assert chosen[0] == charts.colours(names[:1])[0]  # the first has that of its name
    assert charts.colours(names[:1] * 2) == chosen[:1] * 2
    for place, colour in enumerate(chosen):
        assert all(np.linalg.norm(parts(colour) - parts(other)) > 0.3 for other in chosen[:place])


def test_papers_and_users_register_colours_dashes_and_titles(monkeypatch):
    monkeypatch.setattr(palette, "_registered", dict(palette._registered))
    monkeypatch.setattr(palette, "DASHES", dict(palette.DASHES))
    monkeypatch.setattr(palette, "AXES", dict(palette.AXES))
    charts.register({"mine": "#123456"}, {"my tree": (9, 9)}, {"my_measure": "my measure (s)"})
    charts.register({"mine": "#123456"})
    assert charts.colours(["mine"]) == ["#123456"]
    assert charts.dashes(["my tree"]) == [[9, 9]]
    assert palette.AXES["my_measure"] == "my measure (s)"
    for given in ({"colours": {"EASY": "#000000"}}, {"dashes": {"flat": (1, 1)}}, {"axes": {"load": "load"}}):
        with pytest.raises(ValueError, match="already, got"):
            charts.register(**given)


@pytest.mark.parametrize(("log_x", "base", "values"), [(True, 2, None), (10, 10, [1, 10, 100])])
def test_a_logarithmic_x_axis_has_ticks_at_powers_of_a_number(log_x, base, values):
    table = pd.DataFrame({"reservations": [1, 2, 64], "wait_time": [3600, 7200, 9000], "scheme": "EASY"})
    spec = charts.lines(table, "reservations", "wait_time", log_x=log_x).to_dict()
    axes = [layer["encoding"]["x"] for layer in spec["layer"] if "title" in layer["encoding"].get("x", {})]
    assert {(axis["scale"]["type"], axis["scale"]["base"]) for axis in axes} == {("log", base)}
    assert all(axis["axis"].get("values") == values for axis in axes)


def test_points_are_drawn_in_the_hours_that_their_axes_name():
    table = pd.DataFrame({"scheme": ["EASY", "FCFS"], "wait_time": [3600, 7200], "max_wait_time": [36_000, 72_000]})
    table = table.assign(max_wait_time_low=[18_000, 54_000], max_wait_time_high=[54_000, 90_000])
    spec = charts.points(table, "wait_time", "max_wait_time", "scheme").to_dict()
    (rows,) = spec["datasets"].values()
    named = ("wait_time", "max_wait_time", "max_wait_time_low", "max_wait_time_high")
    assert [[row[name] for name in named] for row in rows] == [[1, 10, 5, 15], [2, 20, 15, 25]]


def test_whole_numbers_have_no_ticks_between_them():
    table = pd.DataFrame({"scheme": "EASY", "month": [1, 2, 3], "load": [0.5, 0.7, 0.9], "value": [4.0, 5.0, 6.0]})
    drawn = {x: json.dumps(charts.lines(table, x, "value").to_dict()["layer"]) for x in ("month", "load")}
    assert '"tickCount": 2' in drawn["month"]
    assert '"tickCount": 6' in drawn["load"]
    missing = table.astype({"month": "Int64"}).assign(month=lambda given: given["month"].where(given["month"] < 3))
    assert charts.lines(missing, "month", "value").to_dict()
    assert charts.lines(table.assign(month=[True, False, True], scheme=list("abc")), "month", "value").to_dict()
