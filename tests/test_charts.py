"""Charts: valid specifications, the right columns with their units, colours that never change, files that open."""

import html
import json
import re
import socket

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


def drawn_by(chart, mark):
    """Give the rows of the first part of a layered chart that has a mark."""
    spec = chart.to_dict()
    part = next(part for part in spec["layer"] if part["mark"]["type"] == mark)
    return pd.DataFrame(spec["datasets"][part.get("data", spec.get("data"))["name"]])


def parts(spec):
    """Give the specifications of a chart that have an encoding."""
    if "encoding" in spec:
        yield spec
    for inner in [spec.get("spec"), *spec.get("layer", []), *spec.get("vconcat", [])]:
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


# Intervals and dashes


def test_an_interval_is_shaded_where_the_table_has_one(table):
    low, high = table["wait_time"] / 2, table["wait_time"] * 2
    chart = charts.lines(table.assign(wait_time_low=low, wait_time_high=high), "load", "wait_time", column="trace")
    shade, line = (part["encoding"] for part in parts(chart.to_dict()))
    assert (shade["y"]["field"], shade["y2"]["field"]) == ("wait_time_low", "wait_time_high")
    assert line["y"]["field"] == "wait_time"
    assert shade["y"]["title"] == line["y"]["title"] == "mean wait (hours)"
    assert shade["color"] == line["color"]
    assert drawn(chart)[["wait_time_low", "wait_time_high"]].to_numpy().tolist() == [
        [hours / 2, hours * 2] for hours in range(1, 25)
    ]
    assert [tip["title"] for tip in line["tooltip"][3:]] == ["low", "high"]
    half = charts.lines(table.assign(wait_time_low=low), "load", "wait_time").to_dict()
    assert "layer" not in half


def test_an_option_of_the_machine_has_its_dash_whatever_else_is_drawn(table):
    names = ["flat", "contiguous", "quasi-contiguous", "anything else"]
    alone = {name: charts.dashes([name])[0] for name in names}
    for some in (names, names[::-1], names[1:]):
        assert charts.dashes(some) == [alone[name] for name in some]
    both = pd.concat([table.assign(machine="contiguous"), table.assign(machine="flat")])
    found = encoding(charts.lines(both, "load", "wait_time", dash="machine"))
    assert found["strokeDash"]["scale"] == {"domain": ["contiguous", "flat"], "range": [[6, 3], [1, 0]]}
    assert [tip["field"] for tip in found["tooltip"]][:2] == ["scheme", "machine"]
    svg = vl_convert.vegalite_to_svg(charts.lines(both, "load", "wait_time", dash="machine").to_dict())
    legend = svg[svg.index("role-legend-entry") :]  # drawn after the lines
    assert 'stroke-dasharray="6,3"' in legend
    with pytest.raises(ValueError, match="the table has no column 'option'"):
        charts.lines(table, "load", "wait_time", dash="option")


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
    type(chart).from_dict(chart.to_dict(), validate=True)


def test_bars_show_intervals(table):
    one = table[table["trace"] == TRACES[0]].assign(wait_time_change_low=-5.0, wait_time_change_high=8.0)
    chart = charts.bars(one, "load", "wait_time", "EASY")
    _, interval, _ = parts(chart.to_dict())
    assert interval["encoding"]["y"]["field"] == "wait_time_change_low"
    assert interval["encoding"]["y2"]["field"] == "wait_time_change_high"
    assert set(drawn_by(chart, "bar")["wait_time_change_high"]) == {8.0}


def test_what_cannot_be_compared(table):
    one = table[table["trace"] == TRACES[0]]
    with pytest.raises(ValueError, match="several rows of FCFS at load 0.5, aggregate them first"):
        charts.bars(table, "load", "wait_time", "EASY")
    with pytest.raises(ValueError, match="no wait_time above 0 of 'EASI' at load 0.5 to compare with"):
        charts.bars(one, "load", "wait_time", "EASI")
    with pytest.raises(ValueError, match="no wait_time above 0 of 'EASY' at load 0.9 to compare with"):
        charts.bars(one[(one["load"] < 0.9) | (one["scheme"] != "EASY")], "load", "wait_time", "EASY")
    zero = one.assign(wait_time=one["wait_time"].where(one["load"] > 0.5, 0))
    with pytest.raises(ValueError, match="no wait_time above 0 of 'EASY' at load 0.5 to compare with"):
        charts.bars(zero, "load", "wait_time", "EASY")


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


def test_a_log_has_its_colour_as_a_stand_in_too():
    names = ["CTC-SP2-1996", "CTC-SP2-1996-3.1-cln", "CTC-SP2-1996-3.1-cln (stand-in, not the real log)"]
    assert len(set(charts.colours(names))) == 1
    logs = charts.colours([*sl.papers.grudenic2010.LOGS])
    assert len(set(logs)) == len(logs)


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


def test_a_logarithmic_axis_leaves_infinity_out(table):
    scale = encoding(charts.lines(table.assign(wait_time=float("inf")), "load", "wait_time", log=True))["y"]["scale"]
    assert scale["type"] == "symlog"


def test_a_missing_scheme_is_a_scheme(table):
    chart = charts.lines(table.assign(scheme=[None, *table["scheme"][1:]]), "load", "wait_time")
    assert encoding(chart)["color"]["scale"]["domain"][0] in ("None", "nan")


def test_a_base_that_is_no_text(table):
    numbered = table.assign(scheme=table["scheme"].factorize()[0]).drop_duplicates(["load", "scheme"])
    assert 0 < len(drawn_by(charts.bars(numbered, "load", "wait_time", base=0), "bar")) < len(numbered)
    with pytest.raises(ValueError, match="the table has nothing to compare with '0'"):
        charts.bars(numbered[numbered["scheme"] == 0], "load", "wait_time", base=0)


def test_a_missing_column_is_named(table):
    for call in ({"y": "wait"}, {"y": "wait_time", "column": "wait"}, {"y": "wait_time", "color": "wait"}):
        with pytest.raises(ValueError, match="the table has no column 'wait'; it has: trace, load, scheme, wait_time"):
            charts.lines(table, "load", **call)


def test_too_many_rows_are_refused():
    table = pd.DataFrame({"load": range(5001), "utilization": 1.0, "scheme": "EASY"})
    with pytest.raises(ValueError, match="the table has 5,001 rows, a chart takes 5,000: aggregate it first"):
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
def test_words_are_no_measure(table, name):
    one = table[table["trace"] == TRACES[0]].reset_index(drop=True)
    words = one.assign(wait_time=["long", *one["wait_time"][1:]])
    with pytest.raises(ValueError, match="^column 'wait_time' has 'long' in row 0, expected numbers only$"):
        DRAWN_FROM_A_TABLE[name](words)
    DRAWN_FROM_A_TABLE[name](one.astype({"wait_time": object}))
    ends = {f"wait_time{change}_{end}": "?" for change in ("", "_change") for end in ("low", "high")}
    with pytest.raises(ValueError, match=r"^column 'wait_time(_change)?_low' has '\?' in row 0, expected numbers"):
        DRAWN_FROM_A_TABLE[name](one.assign(**ends))


def test_words_are_no_parameter_of_lines(table):
    with pytest.raises(ValueError, match="^column 'scheme' has 'FCFS' in row 0, expected numbers only$"):
        charts.lines(table, "scheme", "wait_time")


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


def test_charts_are_white_in_a_dark_notebook(whole):
    config = whole.to_dict()["config"]
    assert config["background"] == "white"
    assert config["padding"] > 0


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
def test_what_is_saved_is_the_whole_chart(whole, tmp_path):
    assert json.loads(charts.save(whole, tmp_path / "chart.json").read_text()) == whole.to_dict()
    page = charts.save(whole, tmp_path / "chart.html").read_text()
    assert not re.findall(r"""<(?:script|link|img)[^>]*(?:src|href)=["']?http""", page)
    assert "mean wait (hours)" in page


def test_no_word_of_a_chart_ends_the_script_of_its_page(table, tmp_path):
    title = "</script><script>alert(1)</script>"
    page = charts.save(charts.lines(table, "load", "wait_time", title=title), tmp_path / "chart.html").read_text()
    assert title not in page
    assert title.replace("<", "\\u003c") in page


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
    """Give the cells of a styled table as they are read, heads first."""
    page = styler.to_html()
    read = [re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", line) for line in page.split("<tr>")[1:]]
    return [[html.unescape(cell) for cell in line] for line in read]


def test_numbers_of_a_table():
    frame = pd.DataFrame(
        {"jobs": [77_205, 3], "wait": [12_345.678, 0.123456], "log": ["CTC", "<b>"], "killed": [True, False]}
    )
    before = frame.copy(deep=True)
    assert shown(charts.table(frame)) == [
        ["jobs", "wait", "log", "killed"],
        ["77,205", "12,346", "CTC", "yes"],
        ["3", "0.1235", "<b>", "no"],
    ]
    assert frame.equals(before)
    assert shown(charts.table(pd.DataFrame({"wait": [1.5, float("nan")]})))[1:] == [["1.5"], ["-"]]


def test_a_head_stands_over_its_column():
    page = charts.table(pd.DataFrame({"log": ["CTC"], "mean wait (s)": [1.5], "load": [1]})).to_html()
    rules = dict(re.findall(r"#T_\w+ \.(col\d) {([^}]*)}", page))  # of head and cells both
    sides = {column: re.search(r"text-align: (\w+)", rule)[1] for column, rule in rules.items()}
    assert sides == {"col0": "left", "col1": "right", "col2": "right"}
    assert all("padding: .2em .8em" in rule for rule in rules.values())
    for column in rules:
        assert re.search(rf'<th class="[^"]*\b{column}"', page)
        assert re.search(rf'<td class="[^"]*\b{column}"', page)


def test_an_index_that_says_something_is_shown():
    trace = sl.model_trace("lublin", jobs=50, procs=64)
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


def test_no_word_of_a_table_is_taken_for_html():
    index = pd.Index(["<u>row"], name="<u>index")
    page = charts.table(pd.DataFrame({"<u>column": ["<u>cell"]}, index=index), caption="<u>caption").to_html()
    assert "<u>" not in page
    assert [f"&lt;u&gt;{word}" in page for word in ("row", "index", "column", "cell", "caption")] == [True] * 5


def test_a_ledger():
    ledger = pd.DataFrame(
        {
            "id": ["A", "B"],
            "published": ["1", "2"],
            "trace": ["CTC", "CTC"],
            "measured": ["1", "3"],
            "verdict": ["reproduced", "not reproduced"],
        }
    )
    styler = charts.table(ledger, caption="Published and measured")
    assert shown(styler)[0] == ["id", "published", "measured", "trace", "verdict"]
    page = styler.to_html()
    assert "Published and measured" in page
    for verdict in ("reproduced", "not reproduced"):
        ground, letters = re.findall("#[0-9a-f]{6}", charts.VERDICTS[verdict])
        assert f"background-color: {ground}" in page
        assert f"color: {letters}" in page
    assert set(charts.VERDICTS) == set(sl.papers.VERDICTS)
    assert page == charts.table(ledger, caption="Published and measured").to_html()
    assert sl.papers.core.claims().shape[0] == len(shown(charts.table(sl.papers.core.claims()))) - 1


# --- Ratios -------------------------------------------------------------------------------------------------


def test_ratios_are_bars_from_one():
    table = pd.DataFrame({"trace": ["A", "A", "B"], "scheme": ["FCFS", "EASY", "FCFS"], "wait_ratio": [8.0, 0.5, 20.0]})
    spec = charts.ratios(table, "trace", "wait_ratio").to_dict()
    bars = spec["layer"][0]["encoding"]
    assert bars["y"]["field"] == "wait_ratio"
    assert bars["y"]["title"] == "mean wait, times as long"
    assert bars["y"]["scale"] == {"domainMin": 0.25, "nice": False, "type": "log"}
    assert bars["y2"] == {"datum": 1}
    assert len(spec["layer"]) == 3
    ends = table.assign(wait_ratio_low=table["wait_ratio"] / 2, wait_ratio_high=table["wait_ratio"] * 2)
    assert charts.ratios(ends, "trace", "wait_ratio").to_dict()["layer"][2]["mark"]["type"] == "rule"
    close = charts.ratios(table.assign(wait_ratio=[0.8, 1.0, 1.2]), "trace", "wait_ratio").to_dict()
    assert close["layer"][0]["encoding"]["y"]["scale"]["domainMin"] == pytest.approx(0.8 / 1.5)


def test_ratios_are_above_zero():
    table = pd.DataFrame({"trace": ["A"], "scheme": ["FCFS"], "wait_ratio": [0.0]})
    with pytest.raises(ValueError, match="wait_ratio is 0.0, expected a ratio above 0"):
        charts.ratios(table, "trace", "wait_ratio")
