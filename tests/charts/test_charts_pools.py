"""Charts of schedules on machines of several pools: what is held and open of each resource, and closed windows."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import vl_convert
from workloads import trace_of

import schedlab as sl
from schedlab import charts
from schedlab.charts import profiles
from schedlab.charts.pooled import SHADE
from schedlab.workload.swf import Header

pytestmark = pytest.mark.tables

GB = 1024**2  # KB
# Submission, run time, estimate and processors of each job.
JOBS = [(0, 10, 10, 1000), (0, 20, 20, 2048), (0, 10, 10, 2), (0, 4, 4, 2)]
LATE = sl.Closed(5, 8, "b", announced=0)
PARTLY = sl.Closed(40, 50, "b", gpus=1)
KNOWN = sl.Closed(60, 80)


def simulated(scheme="fcfs", closed=(LATE, PARTLY, KNOWN), names=("a", "b"), **settings):
    pools = [sl.Pool(2048, partitions=("x",)), sl.Pool(4, gpus=3, memory="1.5 TB", partitions=("y",))]
    trace = trace_of(JOBS, 4096)
    table = trace.table.assign(where=["x", "x", "y", "y"], gpus=[0, 0, 1, 3], requested_memory=[0, 0, 256 * GB, -1])
    machine = sl.Pools(dict(zip(names, pools, strict=True)), closed=closed, column="where", **settings)
    return sl.simulate(replace(trace, table=table), scheme, machine=machine)


@pytest.fixture(scope="module")
def schedule():
    return simulated()


@pytest.fixture(scope="module")
def busy():
    """Return a schedule of more states than a chart has bins."""
    trace = sl.model_trace("lublin", jobs=900, machine=64, seed=3)
    rows = np.arange(len(trace))
    trace = replace(trace, table=trace.table.assign(where=np.where(rows % 3, "x", "y"), gpus=rows % 4))
    begin = int(trace.table["submit_time"].iloc[300])
    closed = [sl.Closed(begin, begin + 50_000, announced=0)]
    return sl.simulate(
        trace, "easy", machine=sl.Pools(x=sl.Pool(64), y=sl.Pool(64, gpus=4), closed=closed, column="where")
    )


def layers(panel, datasets, data):
    """Return (mark, specification, rows) of each layer of a panel."""
    data = panel.get("data", data)
    if "mark" in panel:
        yield panel["mark"], panel, pd.DataFrame(datasets[data["name"]])
    for layer in panel.get("layer", []):
        yield from layers(layer, datasets, data)


def panels(chart):
    """Return the layers of each panel of a profile by its heading."""
    spec = chart.to_dict()
    return {panel["title"]["text"]: list(layers(panel, spec["datasets"], spec["data"])) for panel in spec["vconcat"]}


def layers_of(chart):
    spec = chart.to_dict()
    return list(layers(spec, spec["datasets"], spec.get("data")))


def subtitle(chart):
    return " ".join(chart.to_dict()["title"]["subtitle"])


# profile


def test_each_resource_of_each_pool_has_a_low_panel(schedule):
    chart = charts.profile(schedule)
    spec = chart.to_dict()
    type(chart).validate(spec)
    assert [panel["title"]["text"] for panel in spec["vconcat"]] == [
        "a: processors held, of 2,048",
        "b: processors held, of 4",
        "b: GPUs held, of 3",
        "b: memory held (TB), of 1.5",
        "jobs queued",
        "work queued (processor-hours)",
    ]
    assert {panel["height"] for panel in spec["vconcat"]} == {70}
    assert "dashed: what is open; grey bands: closed windows" in subtitle(chart)
    assert spec == charts.profile(schedule).to_dict()
    whole = charts.profile(simulated(closed=()))
    assert "dashed: all that there is" in subtitle(whole)
    assert "grey" not in subtitle(whole)


def test_what_is_held_and_open_is_that_of_the_table(schedule):
    window = (0, 90)
    table = schedule.held_over_time(window)
    units = {"memory": 1024 * GB}
    groups = table.groupby(["pool", "resource"], sort=False)
    for ((_, resource), rows), drawn in zip(groups, panels(charts.profile(schedule, window)).values(), strict=False):
        _, (_, area, held), (_, _, free) = drawn
        field = area["encoding"]["y"]["field"]
        for name, states, column in (("held", held, field), ("open", free, "open")):
            place = np.searchsorted(states["time"], rows["time"], side="right") - 1
            assert (states[column].to_numpy()[place] * units.get(resource, 1))[:-1].tolist() == rows[name].tolist()[:-1]


def test_bins_lose_nothing_of_a_resource(busy):
    headings = panels(charts.profile(busy))
    resources = busy.resources()
    assert len(headings) == 5
    for drawn, expected in zip(headings.values(), resources["held"], strict=False):
        _, (_, area, rows), _ = drawn
        assert len(rows) == profiles.BINS + 1
        held = rows[area["encoding"]["y"]["field"]].to_numpy()[:-1]
        assert (held * np.diff(rows["time"])).sum() == pytest.approx(expected)


def test_bands_lie_where_windows_are_and_say_so_in_their_own_words(schedule):
    headings = panels(charts.profile(schedule, (0, 70)))
    bands = {heading: drawn[0][2] for heading, drawn in headings.items() if len(drawn) == 3}
    assert [*bands] == [*headings][:4]
    texts = list(map(str, (LATE, PARTLY, KNOWN)))
    spans = {heading: rows[["begin", "end", "whole", "text"]].to_numpy().tolist() for heading, rows in bands.items()}
    every = [[5, 8, True, texts[0]], [40, 50, False, texts[1]], [60, 70, True, texts[2]]]
    assert list(spans.values()) == [every[2:], [every[0], every[2]], every, [every[0], every[2]]]
    mark, layer, _ = headings["b: GPUs held, of 3"][0]
    assert mark["type"] == "rect"
    assert [tip["field"] for tip in layer["encoding"]["tooltip"]] == ["text"]
    opacity = layer["encoding"]["opacity"]
    assert (opacity["condition"]["value"], opacity["value"]) == (SHADE, SHADE / 2)


def test_a_job_that_a_window_ended_is_queued_again_with_all_its_work():
    schedule = simulated(closed=[LATE])
    assert schedule.pieces["start_time"].tolist() == [0, 10, 0, 8, 18]
    *_, queue, work = panels(charts.profile(schedule)).values()
    rows = queue[0][2]
    assert rows.set_index("time")["queued"].to_dict() == {0: 2, 5: 3, 8: 2, 10: 1, 18: 0, 22: 0, 30: 0}
    waiting = 20 * 2048 + 8
    assert (rows["backlog"] * 3600).round().tolist() == [waiting, waiting + 20, waiting, 8, 0, 0, 0]
    assert work[0][2].equals(rows)


def test_another_schedule_is_drawn_by_what_its_jobs_hold(schedule):
    log = simulated("easy", closed=())
    chart = charts.profile(schedule, against=log)
    headings = panels(chart)
    mark, _, rows = headings["b: GPUs held, of 3"][-1]
    assert mark["type"] == "line"
    assert rows["held2"].to_numpy()[rows["time"].searchsorted([0, 9, 12], side="right") - 1].tolist() == [1, 1, 3]
    assert "area: FCFS; line: EASY" in subtitle(chart)
    assert "line: FCFS on another machine" in subtitle(charts.profile(schedule, against=simulated(closed=())))
    plain = sl.simulate(schedule.trace, "fcfs")
    assert len(panels(charts.profile(schedule, against=plain))) == 6  # on one machine for all
    with pytest.raises(ValueError, match="^expected schedules of one log on one machine, got .*, 3 jobs on .*$"):
        charts.profile(schedule, against=sl.simulate(schedule.trace.head(3), "fcfs"))


def test_tasks_of_sweeps_hold_no_resources_of_a_pool():
    trace = sl.model_trace("lublin", jobs=50, machine=64, seed=3).with_parameter_sweeps(0.3)
    trace = replace(trace, table=trace.table.assign(where="x"))
    machine = sl.Pools(x=sl.Pool(64), column="where")
    reason = "^a schedule on pools can only be drawn against one of whole jobs, but .* splits sweeps into tasks$"
    with pytest.raises(ValueError, match=reason):
        charts.profile(sl.simulate(trace, "easy", machine=machine), against=sl.simulate(trace, "ojs"))


def test_many_panels_stay_low():
    pools = {f"p{i}": sl.Pool(4, gpus=2, memory="1 GB") for i in range(4)}
    trace = trace_of([(0, 10, 10, 2)], 16)
    trace = replace(trace, table=trace.table.assign(where="p2", gpus=1))
    chart = charts.profile(sl.simulate(trace, "easy", machine=sl.Pools(pools, column="where")))
    assert charts.height_of(chart.to_dict()) < 14 * 115 + 120


@pytest.mark.parametrize("names", [("a.b[0]:Q", "<b>'\"\\"), (7, 8)])
def test_pools_may_have_any_name(names):
    schedule = simulated(names=names, closed=[KNOWN])
    headings = list(panels(charts.profile(schedule)))
    assert headings[1] == f"{names[1]}: processors held, of 4"
    texts = [rows["name"].tolist() for mark, _, rows in layers_of(charts.gantt(schedule)) if mark["type"] == "text"]
    assert texts == [[str(names[0])]]  # the other is too low


def test_partitions_are_drawn_as_one_machine():
    trace = trace_of(JOBS, 4096)
    trace = replace(trace, table=trace.table.assign(where=["x", "x", "y", "y"]))
    schedule = sl.simulate(trace, "fcfs", machine=sl.Partitions({"x": 2048, "y": 4}, "where"))
    spec = charts.profile(schedule).to_dict()
    assert [panel["height"] for panel in spec["vconcat"]] == [130, 110, 110]
    assert charts.gantt(schedule).to_dict().get("layer") is None


# gantt


def test_pools_lie_above_one_another_with_borders_and_names():
    chart = charts.gantt(simulated(closed=()))
    (held, border, names) = layers_of(chart)
    rows = held[2]
    of_a = rows["pool"] == "a"
    assert (rows.loc[of_a, "high"] <= 2048).all()
    assert (rows.loc[~of_a, "low"] >= 2048).all()
    area = (rows["high"] - rows["low"]) * (rows["end"] - rows["begin"])
    assert area.groupby(rows["pool"]).sum().to_dict() == {"a": 10 * 1000 + 20 * 2048, "b": 20 + 8}
    assert border[2]["low"].tolist() == [2048]
    assert names[2][["name", "low"]].to_numpy().tolist() == [["a", 1024]]
    assert held[1]["encoding"]["y"]["scale"]["domain"] == [0, 2052]
    near = charts.gantt(simulated(closed=()), processors=(2047, 2050))
    assert layers_of(near)[-1][2][["name", "low"]].to_numpy().tolist() == [["a", 2047.5], ["b", 2049.5]]
    assert all(part[1]["encoding"]["y"]["scale"]["domain"] == [2047, 2051] for part in layers_of(near))


def test_a_tooltip_has_pool_and_demand(schedule):
    held = next(part for part in layers_of(charts.gantt(schedule)) if "job" in part[2])
    assert held[2].set_index("job")["demand"].to_dict() == {
        1: "1,000 processors",
        2: "2,048 processors",
        3: "2 processors, 1 GPU, 512 GB of memory",
        4: "2 processors, 3 GPUs, 0 KB of memory",
    }
    tips = [tip["field"] for tip in held[1]["encoding"]["tooltip"]]
    assert {"pool", "demand", "ending"} <= set(tips)


def test_closed_windows_are_shaded_over_the_rows_of_their_pool(schedule):
    (mark, layer, rows), *_ = layers_of(charts.gantt(schedule, (0, 70)))
    assert mark["type"] == "rect"
    columns = ["begin", "end", "low", "high", "whole", "text"]
    assert rows[columns].to_numpy().tolist() == [
        [60, 70, 0, 2048, True, str(KNOWN)],
        [5, 8, 2048, 2052, True, str(LATE)],
        [40, 50, 2048, 2052, False, str(PARTLY)],
        [60, 70, 2048, 2052, True, str(KNOWN)],
    ]
    assert layer["encoding"]["tooltip"][0]["title"] == "closed window"
    assert "grey bands: closed windows" in subtitle(charts.gantt(schedule))


@pytest.mark.parametrize("closure", ["requeue", "kill"])
def test_a_run_that_a_window_ended_is_pale_with_a_border(closure):
    chart = charts.gantt(simulated(closed=[LATE], on_closure=closure), color="user_id", label="job_number")
    (_, layer, rows), (_, _, labels) = (part for part in layers_of(chart) if {"job", "words"} & set(part[2]))
    ended = rows[rows["ending"] == "ended by a closed window"]
    assert ended[["job", "begin", "end", "wait", "run"]].to_numpy().tolist() == [[3, 0, 5, 0, round(5 / 3600, 3)]]
    again = rows[(rows["job"] == 3) & (rows["ending"] == "went to its end")]
    assert again[["begin", "end"]].to_numpy().tolist() == ([[8, 18]] if closure == "requeue" else [])
    assert again["wait"].tolist() == ([round(8 / 3600, 3)] if closure == "requeue" else [])
    assert "ended by a closed window" in layer["encoding"]["fillOpacity"]["condition"]["test"]
    assert layer["encoding"]["stroke"]["condition"][0]["value"] == "currentColor"
    assert "pale with a border: runs that a closed window ended" in subtitle(chart)
    assert labels["words"].tolist() == ["1", "2"]  # those of pool b have no room
    near = charts.gantt(
        simulated(closed=[LATE], on_closure=closure), color="user_id", label="job_number", processors=(2048, 2051)
    )
    inks = next(rows for _, _, rows in layers_of(near) if "ink" in rows).query("middle == 2.5")["ink"]
    assert inks.tolist() == ["currentColor"]  # on a pale ground, whose colour is that of the page


def test_one_chart_a_pool(schedule):
    spec = charts.gantts(schedule.pools, (0, 90), title="By pool").to_dict()
    assert [panel["title"]["text"] for panel in spec["vconcat"]] == ["a", "b"]
    drawn = [[rows for _, _, rows in layers(panel, spec["datasets"], None)] for panel in spec["vconcat"]]
    bands = [rows[0][["begin", "low", "high"]].to_numpy().tolist() for rows in drawn]
    assert bands == [[[60, 0, 2048]], [[5, 0, 4], [40, 0, 4], [60, 0, 4]]]
    assert [len(rows) for rows in drawn] == [2, 2]  # no borders, and no names but those above the charts
    assert [sorted(set(rows[1]["job"])) for rows in drawn] == [[1, 2], [3, 4]]
    assert "closed windows" in " ".join(spec["title"]["subtitle"])


def test_a_pool_without_jobs_is_empty_and_a_chart_of_nothing_is_refused():
    trace = trace_of(JOBS, 4096)
    trace = replace(trace, table=trace.table.assign(where="x", gpus=0))
    machine = sl.Pools(x=sl.Pool(2048), y=sl.Pool(4, gpus=2), closed=[KNOWN], column="where")
    pools = sl.simulate(trace, "fcfs", machine=machine).pools
    text = json.dumps(charts.gantts(pools, (0, 90)).to_dict())
    assert "no job runs from 0.0 to 90.0 on processors 0 to 3" in text
    with pytest.raises(ValueError, match="^no schedule has jobs, so there is nothing to draw$"):
        charts.gantt(pools["y"])


def test_windows_are_shaded_where_no_job_runs(schedule):
    bands, text, *_ = layers_of(charts.gantt(schedule, (62, 70)))
    assert bands[2][["begin", "end"]].to_numpy().tolist() == [[62, 70], [62, 70]]
    assert "no job runs from" in text[0]["text"][0]


def test_a_chart_that_moves_has_borders_but_no_names(schedule):
    chart = charts.gantt(schedule, opened=((0, 20), (0, 2047)))
    assert [rows["name"].tolist() for mark, _, rows in layers_of(chart) if mark["type"] == "text" and len(rows)] == []
    assert all(mark.get("clip") for mark, _, _ in layers_of(chart) if mark["type"] in ("rect", "rule"))


CALLS = {
    "gantt": charts.gantt,
    "gantt of a window": lambda schedule: charts.gantt(schedule, schedule.measured()[1:3], "wait", estimates=True),
    "gantts": lambda schedule: charts.gantts(schedule.pools, title="By pool"),
    "profile": charts.profile,
    "profile against": lambda schedule: charts.profile(schedule, against=schedule),
    "usage": lambda schedule: charts.usage(schedule, by="pool", y="utilization"),
}


@pytest.mark.parametrize("name", CALLS)
def test_charts_of_pools_are_valid_and_drawn_alike_by_both_versions(name, busy):
    chart = CALLS[name](busy)
    spec = chart.to_dict()
    type(chart).validate(spec)
    assert all(len(rows) <= charts.MOST_ROWS for rows in spec["datasets"].values())
    older = {**spec, "$schema": "https://vega.github.io/schema/vega-lite/v5.json"}
    fives = [version for version in vl_convert.get_vegalite_versions() if version.startswith("5.")]
    last = max(fives, key=lambda version: int(version[2:]))
    drawings = vl_convert.vegalite_to_svg(spec), vl_convert.vegalite_to_svg(older, vl_version=last)
    for shape in ("<path", "<text", "aria-roledescription"):
        assert len({drawing.count(shape) for drawing in drawings}) == 1


def test_dates_of_windows_are_those_of_the_machine(busy):
    header = Header(("; UnixStartTime: 833760000", "; TimeZoneString: US/Eastern"))  # 1996-06-03 00:00 UTC
    dated = replace(busy, trace=replace(busy.trace, header=header))
    (window,) = busy.machine.closed
    rows = layers_of(charts.gantt(dated))[0][2]
    offset = 833_760_000 - 4 * 3600
    assert (rows[["begin", "end"]].drop_duplicates() / 1000 - offset).to_numpy().tolist() == [
        [window.begin, window.end]
    ]
