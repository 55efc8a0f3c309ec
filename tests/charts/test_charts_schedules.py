"""Charts of schedules and traces: numbers worked by hand, nothing lost, and a note on what is left out."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import vl_convert
from workloads import trace_of

import schedlab as sl
from schedlab import charts
from schedlab.charts import cells, heatmaps, job_colours, timeline
from schedlab.workload.swf import Header

pytestmark = pytest.mark.tables

# (submit, run, estimate, processors). On 4 processors first come, first served starts them at 0, 10 and 30.
THREE = [(0, 10, 10, 2), (0, 20, 20, 3), (5, 10, 10, 2)]
# On 3 processors the last one starts at 10, on the first and the last of them.
SPLIT = [(0, 10, 10, 1), (0, 20, 20, 1), (0, 10, 10, 1), (10, 5, 5, 2)]
MONDAY = 833_760_000  # 1996-06-03 00:00 UTC


@pytest.fixture
def three():
    return sl.simulate(trace_of(THREE, 4), "fcfs")


@pytest.fixture(scope="module")
def model():
    return sl.model_trace("lublin", jobs=700, machine=64, seed=3)


@pytest.fixture(scope="module")
def easy(model):
    return sl.simulate(model, "easy")


@pytest.fixture(scope="module")
def shortest(model):
    return sl.simulate(model, sl.EASY(order="sjf"))


def dated(trace, *, zone="US/Eastern", zero=MONDAY):
    lines = (f"; UnixStartTime: {zero}", f"; TimeZoneString: {zone}")
    return replace(trace, header=Header(lines))


def layers(chart):
    """Return (specification, rows) of each part of a chart that has a mark."""
    spec = chart.to_dict()

    def walk(part, data):
        data = part.get("data", data)
        if "mark" in part:
            yield part, pd.DataFrame(spec["datasets"][data["name"]])
        for inner in [*part.get("layer", []), *part.get("vconcat", [])]:
            yield from walk(inner, data)

    return list(walk(spec, None))


def rows(chart):
    """Return the rows of the first mark."""
    return layers(chart)[0][1]


def said(chart):
    return " ".join(chart.to_dict()["title"]["subtitle"])


def axis_titles(chart):
    found = {}
    for part, _ in layers(chart):
        for name in ("x", "y", "color"):
            title = part["encoding"].get(name, {}).get("title")
            if title:
                found.setdefault(name, title if isinstance(title, str) else " ".join(title))
    return found


CALLS = {
    "gantt": lambda a, b: charts.gantt(a),
    "gantt by wait": lambda a, b: charts.gantt(a, color="wait"),
    "gantt by user": lambda a, b: charts.gantt(a, color="user_id"),
    "gantt by user's name": lambda a, b: charts.gantt(a, color="user"),
    "gantt by size": lambda a, b: charts.gantt(a, color="size"),
    "usage": lambda a, b: charts.usage(a, by="user"),
    "usage of two": lambda a, b: charts.usage([a, b], by="state", y="wait_time"),
    "usage by size": lambda a, b: charts.usage({"one": a, "two": b}, by="size", y="jobs"),
    "usage by two columns": lambda a, b: charts.usage(a, by=["user", "size"], y="share"),
    "gantt by killed": lambda a, b: charts.gantt(a, color="killed"),
    "profile": lambda a, b: charts.profile(a),
    "distribution": lambda a, b: charts.distribution([a, b]),
    "distribution of traces": lambda a, b: charts.distribution(a.trace, "run_time"),
    "weekly": lambda a, b: charts.weekly(a.trace),
    "beside model": lambda a, b: charts.beside_model(a.trace, "jann", jobs=200),
    "linear distribution": lambda a, b: charts.distribution([a, b], "bounded_slowdown", log=False),
    "scatter": lambda a, b: charts.scatter(a, b),
    "heatmap": lambda a, b: charts.heatmap(a),
    "heatmap of waits": lambda a, b: charts.heatmap(a, "wait_time"),
    "arrivals": lambda a, b: charts.arrivals(a.trace, start="2001-01-01"),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_specification_is_valid_and_the_same_each_time(name, easy, shortest):
    chart = CALLS[name](easy, shortest)
    spec = chart.to_dict()
    type(chart).validate(spec)
    assert spec == CALLS[name](easy, shortest).to_dict()
    assert "params" not in json.dumps(spec)
    assert spec["config"]["background"] == "transparent"
    assert all(len(data) <= charts.MOST_ROWS for data in spec["datasets"].values())
    assert spec["title"]["text"]
    assert "Lublin-Feitelson model, offered load" in said(chart)


@pytest.mark.parametrize("name", CALLS)
def test_jupyterlab_draws_the_same_with_its_vega_lite_5(name, easy, shortest):
    spec = CALLS[name](easy, shortest).to_dict()
    older = {**spec, "$schema": "https://vega.github.io/schema/vega-lite/v5.json"}
    fives = [version for version in vl_convert.get_vegalite_versions() if version.startswith("5.")]
    last = max(fives, key=lambda version: int(version[2:]))
    new, old = vl_convert.vegalite_to_svg(spec), vl_convert.vegalite_to_svg(older, vl_version=last)
    for shape in ("<path", "<text", "aria-roledescription"):
        assert old.count(shape) == new.count(shape)


@pytest.mark.parametrize("name", CALLS)
def test_a_stand_in_says_so(name, easy, shortest):
    both = (replace(schedule, trace=replace(schedule.trace, source="stand-in")) for schedule in (easy, shortest))
    assert "stand-in, not the real log" in said(CALLS[name](*both))


def test_title_and_subtitle_may_be_given(three):
    for draw in (charts.gantt, charts.profile, charts.distribution, charts.heatmap, charts.usage):
        spec = draw(three, title="A", subtitle="B").to_dict()["title"]
        assert spec["text"] == "A"
        assert spec["subtitle"][0] == "B"


WRONG = {
    "Schedule": (charts.gantt, charts.profile, lambda wrong: charts.scatter(wrong, wrong)),
    "Schedule or Trace or Mapping or Iterable": (charts.distribution, charts.usage),
    "Schedule or Trace or Iterable": (lambda wrong: charts.distribution({"A": wrong}),),
    "DataFrame or Trace or Schedule": (charts.heatmap,),
    "Trace": (charts.arrivals,),
}


@pytest.mark.parametrize("expected", WRONG)
@pytest.mark.parametrize("wrong", [None, 3, [1, 2]])
def test_what_cannot_be_drawn_is_named(expected, wrong):
    if isinstance(wrong, list) and "Iterable" in expected:
        return  # a list is iterable
    for draw in WRONG[expected]:
        with pytest.raises(TypeError, match=f"^expected {expected}, got {type(wrong).__name__}$"):
            draw(wrong)


# usage


def owned(schedule, people=30, **columns):
    """Return a schedule whose jobs have users with names, accounts and states, on a clock with dates."""
    trace = schedule.trace
    table = trace.table.assign(user_id=np.arange(len(trace)) % people, status=np.arange(len(trace)) % 2, **columns)
    names = {"user_id": {number: f"user {number}" for number in range(people)}}
    return replace(schedule, trace=dated(replace(trace, table=table, people=names)))


@pytest.mark.parametrize("y", ["processor_hours", "jobs", "wait_time", "utilization"])
def test_bars_are_the_largest_and_all_others_together(easy, y):
    schedule = owned(easy)
    table = schedule.usage("user")
    largest = table["processor_hours" if y == "wait_time" else y].nlargest(20).index
    bars = rows(charts.usage(schedule, "user", y)).set_index("first")["value"]
    assert set(bars.index) == {*largest, "others (10)"}
    unit = 3600 if y == "wait_time" else 1
    assert bars[largest].tolist() == pytest.approx((table.loc[largest, y] / unit).tolist())
    others = table.drop(largest)
    if y == "wait_time":
        waits = (others[y] * others["jobs"]).sum() / others["jobs"].sum()
        assert bars["others (10)"] * 3600 == pytest.approx(waits)
    else:
        assert bars.sum() == pytest.approx(table[y].sum())
    assert len(rows(charts.usage(owned(easy, 21), "user", y))) == 21  # no bar for a single other


def test_bars_are_sorted_and_have_numbers_and_names_in_tooltips(easy):
    spec = charts.usage(owned(easy, account=np.repeat(["b", "a", "c", "d"], 175)), "account", "wait_time").to_dict()
    bars, numbers = spec["layer"]
    (drawn,) = (pd.DataFrame(part).set_index("first") for part in spec["datasets"].values())
    assert bars["encoding"]["y"]["sort"] == drawn["value"].sort_values(ascending=False).index.tolist()
    assert bars["encoding"]["x"]["title"] == "mean wait (hours)"
    assert spec["title"]["text"] == "Mean wait by account"
    assert [tip["title"] for tip in bars["encoding"]["tooltip"][:3]] == ["account", "mean wait (hours)", "jobs"]
    assert numbers["encoding"]["text"]["field"] == "text"
    assert drawn.loc["a", "text"] == f"{drawn.loc['a', 'value']:.3g}"


@pytest.mark.parametrize(
    ("by", "y", "title", "bars"),
    [
        ("hour", "processor_hours", "hour (US/Eastern)", [str(hour) for hour in range(24)]),
        ("hour", "wait_time", "hour of submission (US/Eastern)", [str(hour) for hour in range(24)]),
        ("weekday", "jobs", "weekday of submission (US/Eastern)", list(heatmaps.WEEKDAYS)),
        ("month", "utilization", "month (US/Eastern)", None),
        ("size", "jobs", "size", None),
    ],
)
def test_bars_of_the_calendar_are_in_its_order(easy, by, y, title, bars):
    schedule = owned(easy)
    spec = charts.usage(schedule, by, y).to_dict()
    (bar,) = spec["layer"]
    assert bar["encoding"]["x"]["title"] == title
    assert bar["encoding"]["x"]["sort"] == (bars or [str(name) for name in schedule.usage(by).index])


def test_usage_under_several_schemes_and_in_cells(easy, shortest):
    both = {"first": owned(easy), "second": owned(shortest)}
    drawn = rows(charts.usage(both, "hour", "wait_time"))
    for name, schedule in both.items():
        waits = schedule.usage("hour")["wait_time"].dropna() / 3600
        assert drawn.loc[drawn["scheme"] == name, "value"].tolist() == pytest.approx(waits.tolist())
    cells = charts.usage(both["first"], ["weekday", "hour"])
    found = rows(cells)
    assert found["value"].sum() == pytest.approx(easy.usage("size")["processor_hours"].sum())
    assert ("thousands" in said(cells)) == (found["value"].max() >= 1000)
    trace = both["first"].trace
    happened = sl.recorded(replace(trace, table=trace.table.assign(wait_time=60), source="file"))
    until = charts.usage({"log": happened} | both, "weekday", "utilization")
    last = happened.submit[-1]
    assert "to the last submission" in said(until)
    days = happened.usage("weekday", (happened.submit[0], last + 1))["utilization"].dropna()
    drawn = rows(until)
    assert drawn.loc[drawn["scheme"] == "log", "value"].tolist() == pytest.approx(days.tolist())
    used = charts.usage(both["first"], ["user", "month"])
    assert layers(used)[0][0]["encoding"]["y"]["sort"][-1] == "others (10)"
    assert rows(used)["value"].sum() == pytest.approx(found["value"].sum())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["user", "size", "hour"],), "got 3 columns and 1 schedules, expected one column, or two of one schedule"),
        (("user", "gpu_hours"), "unknown y 'gpu_hours'; known: jobs, processor_hours, share"),
        (("hour",), "has no dates"),
        (("acount",), "unknown classes 'acount'"),
    ],
)
def test_usage_that_cannot_be_drawn(easy, arguments, message):
    with pytest.raises(ValueError, match=message):
        charts.usage(easy, *arguments)
    with pytest.raises(ValueError, match="got 2 columns and 2 schedules"):
        charts.usage([easy, sl.simulate(easy.trace, "fcfs")], ["user", "size"])
    with pytest.raises(ValueError, match="there is no schedule to draw"):
        charts.usage([])


# gantt


@pytest.mark.parametrize(
    ("color", "names"),
    [
        ("user", [*(f"user {number}" for number in range(7)), "others (23)"]),
        ("user_id", [*(f"user {number}" for number in range(7)), "others (23)"]),
        ("state", ["completed", "failed"]),
        ("weekday", list(heatmaps.WEEKDAYS)),
        ("qos", ["high", "unknown"]),
    ],
)
def test_colours_of_a_gantt_chart_have_names_and_so_has_its_tooltip(easy, color, names):
    schedule = owned(easy, qos=np.where(np.arange(700) % 3, "high", None))
    ((part, drawn),) = layers(charts.gantt(schedule, color=color))
    legend = part["encoding"]["color"]["scale"]["domain"]
    assert set(drawn["color"]) == set(legend)
    if color.startswith("user"):
        assert len(legend) == 8
        assert legend[-1] == names[-1]
        assert set(legend[:-1]) <= {f"user {number}" for number in range(30)}
        assert part["encoding"]["color"]["scale"]["range"][-1] == job_colours.GREY
    elif color == "weekday":
        assert legend == [day for day in names if day in legend]
    else:
        assert sorted(legend) == names
    assert part["encoding"]["color"]["title"] == color.removesuffix("_id")
    tips = [tip["field"] for tip in part["encoding"]["tooltip"]]
    assert tips[:4] == ["job", "user", "qos", "state"]
    assert set(drawn["state"]) == {"completed", "failed"}
    points, jobs = rows(charts.scatter(schedule, schedule, limit=100)), schedule.trace.jobs["user_id"]
    assert points["user"].tolist() == [f"user {jobs[job]}" for job in points["job"]]
    assert drawn["user"].tolist() == [f"user {jobs[job]}" for job in drawn["job"]]


def test_rectangles(three):
    found = rows(charts.gantt(three))
    assert found["begin"].tolist() == pytest.approx([0, 10, 30])
    assert found["end"].tolist() == pytest.approx([10, 30, 40])
    assert found[["low", "high"]].to_numpy().tolist() == [[0, 2], [0, 3], [0, 2]]
    assert found["job"].tolist() == [1, 2, 3]
    assert found["color"].tolist() == ["short narrow"] * 3
    titles = axis_titles(charts.gantt(three))
    assert titles["x"] == "time (seconds on the clock of the log)"
    assert titles["y"] == "processor"


@pytest.mark.parametrize("several", [False, True])
def test_a_chart_opens_on_a_part_and_can_be_moved(model, easy, several):
    window, rows_seen = (0, 3 * 3600), (8, 15)
    if several:
        spec = charts.gantts({"a": easy, "b": easy}, opened=(window, rows_seen), label="job_number").to_dict()
    else:
        spec = charts.gantt(easy, opened=(window, rows_seen), label="job_number").to_dict()
    (moved,) = spec["params"]
    plots = spec["vconcat"] if several else [spec]
    held = [plot["layer"][0] for plot in plots]
    assert (moved["bind"], len(moved["views"])) == ("scales", len(plots))
    assert {plot["name"] for plot in held} == {*moved["views"]}
    for plot in held:
        along, up = (plot["encoding"][axis]["scale"]["domain"] for axis in "xy")
        assert (along, up) == ([0, 3], [8, 16])
        assert plot["mark"]["clip"]
        drawn = spec["datasets"][plot["data"]["name"]]
        assert max(row["end"] for row in drawn) > 3  # the rest is there, out of sight
        assert max(row["high"] for row in drawn) > 16
    assert "drag to move" in str(spec["title"])
    with pytest.raises(ValueError, match="processors are 8 to 99, expected two numbers from 0 to 63"):
        charts.gantt(easy, opened=(window, (8, 99)))


def test_a_part_without_jobs_and_estimates_keep_the_view(easy):
    few = sl.simulate(trace_of([(0, 5, 5, 2)], 64), "easy")
    window = (float(few.end.max()) + 10, float(easy.end.max()))
    opened = ((window[0], window[0] + 3600), (8, 15))
    spec = charts.gantts({"a": easy, "b": few}, window, opened=opened).to_dict()
    empty = spec["vconcat"][1]
    ((middle,),) = [rows for name, rows in spec["datasets"].items() if name == empty["data"]["name"]]
    assert middle["low"] == 12  # in the middle of what is seen
    nothing = charts.gantts({"a": few, "b": few}, window, opened=opened).to_dict()
    assert "params" not in nothing
    assert "drag" not in str(nothing["title"])
    late = sl.simulate(trace_of([(0, 5, 50, 2), (1, 5, 60, 2)], 4), "easy")
    both = charts.gantt(late, opened=((0, 8), (0, 3)), estimates=True).to_dict()
    scales = [layer["encoding"]["x"].get("scale") for layer in both["layer"]]
    assert [scale["domain"] for scale in scales if scale] == [[0, 8]]  # Vega-Lite would unite different ones


def test_estimates_need_whole_jobs_and_profiles_one_log(easy):
    swept = sl.model_trace("lublin", jobs=60, machine=64, seed=3).with_parameter_sweeps(0.9, breakdown=4, seed=0)
    (split,) = sl.simulate_sites([swept], sl.OpportuneShredding())
    with pytest.raises(ValueError, match="estimates=True needs whole jobs"):
        charts.gantt(split, color="sweeps", estimates=True)
    with pytest.raises(ValueError, match="expected schedules of one log on one machine"):
        charts.profile(easy, against=split)


def test_a_profile_beside_another_schedule(model, easy):
    fcfs = sl.simulate(model, "fcfs")
    spec = charts.profile(easy, against=fcfs).to_dict()
    assert "area: EASY; line: FCFS" in str(spec["title"])
    drawn = [plot["layer"] for plot in spec["vconcat"]]
    assert all(layers[-1]["mark"]["type"] == "line" for layers in drawn)
    assert fcfs.end.max() > easy.end.max()
    alone = charts.profile(fcfs).to_dict()  # the axis ends where the later one does
    other = alone["datasets"][alone["data"]["name"]]
    assert all(spec["datasets"][layers[-1]["data"]["name"]] == other for layers in drawn)


def test_a_job_has_a_rectangle_for_each_interval():
    found = rows(charts.gantt(sl.simulate(trace_of(SPLIT, 3), "fcfs")))
    assert found.loc[found["job"] == 4, ["low", "high"]].to_numpy().tolist() == [[0, 1], [2, 3]]


def test_names_are_written_into_rectangles_that_have_room(three):
    named = replace(three.trace, table=three.trace.table.assign(called=["A", "a long name", "B"]))
    chart = charts.gantt(replace(three, trace=named), color="called", label="called")
    (_, rectangles), (text, words) = layers(chart)
    assert words["words"].tolist() == ["A", "a long name", "B"]
    assert words[["middle", "center"]].to_numpy().tolist() == [[5, 1], [20, 1.5], [35, 1]]
    assert "scale" not in text["encoding"]["x"]  # along the axis of the rectangles
    shorter = charts.gantt(replace(three, trace=named), (0, 400), color="called", label="called")
    assert layers(shorter)[1][1]["words"].tolist() == ["A", "B"]  # 18, 36 and 18 pixels
    with pytest.raises(ValueError, match="^label='job_number' needs colours of classes or names; choose another color"):
        charts.gantt(three, color="wait", label="job_number")
    with pytest.raises(ValueError, match="^the table has no column 'nobody'"):
        charts.gantt(three, label="nobody")
    assert len(rectangles) == 3


def test_some_processors_only(easy):
    chart = charts.gantt(easy, processors=(16, 31))
    found, everything = rows(chart), rows(charts.gantt(easy))
    whole = everything[(everything["high"] > 16) & (everything["low"] < 32)]
    assert found["low"].tolist() == whole["low"].clip(lower=16).tolist()
    assert found["high"].tolist() == whole["high"].clip(upper=32).tolist()
    assert found["job"].tolist() == whole["job"].tolist()
    assert layers(chart)[0][0]["encoding"]["y"]["scale"]["domain"] == [16, 32]
    for wrong in ((-1, 5), (5, 64), (6, 5)):
        with pytest.raises(ValueError, match="expected two numbers from 0 to 63, in order"):
            charts.gantt(easy, processors=wrong)
    idle = charts.gantt(sl.simulate(trace_of(THREE, 4), "fcfs"), processors=(3, 3)).to_dict()
    assert re.match("no job runs from 0.0 to .* on processors 3 to 3", idle["mark"]["text"][0])


def test_gantt_charts_share_time_and_colours(three):
    other = sl.simulate(three.trace, "easy-sjf")
    assert other.end.max() != three.end.max()
    spec = charts.gantts({"first": three, "second": other}, color="job_number", title="Both").to_dict()
    encodings = [part["encoding"] for part in spec["vconcat"]]
    assert [part["title"]["text"] for part in spec["vconcat"]] == ["first", "second"]
    last = float(max(three.end.max(), other.end.max()))
    assert [one["x"]["scale"]["domain"] for one in encodings] == [[0, last]] * 2
    assert [one["x"]["axis"]["labels"] for one in encodings] == [False, True]
    assert encodings[0]["color"] == encodings[1]["color"]
    assert spec["title"]["text"] == "Both"
    assert [row["job"] for row in spec["datasets"][spec["vconcat"][1]["data"]["name"]]] == [1, 2, 3]
    with pytest.raises(TypeError, match="^expected Schedule, got Trace$"):
        charts.gantts({"first": three.trace})


def test_rectangles_hold_the_area_of_the_jobs(easy):
    found = rows(charts.gantt(easy))
    areas = (found["end"] - found["begin"]) * (found["high"] - found["low"])
    jobs = easy.jobs
    expected = jobs["run_time"] * jobs["procs"] / 3600
    assert areas.groupby(found["job"]).sum().tolist() == pytest.approx(expected.tolist())
    assert "left out" not in said(charts.gantt(easy))


def test_rectangles_are_cut_at_the_window(three):
    found = rows(charts.gantt(three, (5, 20)))
    assert found[["begin", "end"]].to_numpy().tolist() == [pytest.approx([5, 10]), pytest.approx([10, 20])]
    assert found["run"].tolist() == pytest.approx([10 / 3600, 20 / 3600], abs=0.001)


def test_the_smallest_jobs_are_left_out_and_counted(easy):
    everything = rows(charts.gantt(easy))
    chart = charts.gantt(easy, limit=100)
    found = rows(chart)
    assert len(found) <= 100
    kept = set(found["job"])
    area = easy.jobs["run_time"] * easy.jobs["procs"]
    assert area[sorted(kept)].min() >= area.drop(sorted(kept)).max()
    assert found.groupby("job").size().equals(everything[everything["job"].isin(kept)].groupby("job").size())
    left = len(easy) - len(kept)
    share = 1 - area[sorted(kept)].sum() / area.sum()
    expected = f"{left} of 700 jobs, the smallest ({100 * share:.1f} % of the processor-hours), left out"
    assert expected in said(chart)


def test_of_several_schedules_the_note_says_of_which_one_jobs_are_left_out():
    trace = sl.model_trace("lublin", jobs=3_500, machine=64, seed=1)
    schedules = {name: sl.simulate(trace, name) for name in ("fcfs", "easy")}
    note = said(charts.gantts(schedules))
    assert re.search("fcfs: [0-9,]+ of 3,500 jobs, the smallest .* easy: [0-9,]+ of 3,500 jobs, the smallest", note)
    same = said(charts.gantts({"a": schedules["easy"], "b": schedules["easy"]}))
    assert re.search("[0-9,]+ of 3,500 jobs", same)
    assert "a: " not in same


@pytest.mark.parametrize("limit", [0, 5001, 10.5, "all", [1, 2]])
def test_a_limit_that_no_chart_takes(three, limit):
    for draw in (lambda: charts.gantt(three, limit=limit), lambda: charts.scatter(three, three, limit=limit)):
        with pytest.raises(ValueError, match="limit must be a whole number from 1 to 5,000, got"):
            draw()


def test_time_is_that_of_the_machine(three):
    schedule = replace(three, trace=dated(three.trace))
    chart = charts.gantt(schedule, ("1996-06-02 20:00:05", "1996-06-02 20:00:20"))
    found = rows(chart)
    evening = pd.Timestamp("1996-06-02 20:00").timestamp()  # in New York, carried as if it were in Greenwich
    assert (found["begin"] / 1000 - evening).tolist() == [5, 10]
    assert found["submit"].tolist() == ["1996-06-02 20:00:00"] * 2
    x = layers(chart)[0][0]["encoding"]["x"]
    assert x["scale"]["type"] == "utc"
    assert x["title"] == "local time, 1996-06-02 (UTC-04:00)"
    assert "20:00" in vl_convert.vegalite_to_svg(chart.to_dict())


def test_windows_that_cannot_be(three):
    with pytest.raises(ValueError, match="the window must begin before it ends, got 20 to 20"):
        charts.gantt(three, (20, 20))
    with pytest.raises(ValueError, match="has no UnixStartTime; give seconds, not the date '1996-06-03'"):
        charts.profile(three, ("1996-06-03", "1996-06-04"))
    with pytest.raises(ValueError, match="the window must begin before it ends, got 0 to inf"):
        charts.profile(three, (0, float("inf")))
    on_monday = sl.simulate(dated(three.trace), "fcfs")
    with pytest.raises(ValueError, match=r"no calendar has a window from 0 to 1e\+12 s of a test"):
        charts.profile(on_monday, (0, 10**12))


@pytest.fixture
def with_lead_in():
    """Five jobs on two processors, the first two of which do not count; under FCFS they wait 0, 0, 20, 40 and 55 s."""
    jobs = [(0, 30, 30, 2), (30, 30, 30, 1), (40, 40, 40, 2), (60, 20, 20, 1), (45, 10, 10, 2)]
    trace = trace_of(sorted(jobs), 2)
    trace = replace(trace, table=trace.jobs.assign(counted=[False, False, True, True, True]))
    return sl.simulate(dated(trace, zone="UTC"), "fcfs")


def test_charts_are_of_the_jobs_that_count_and_of_a_window_by_dates(with_lead_in):
    dates = ("1996-06-03 00:00:45", "1996-06-03 00:01:40")  # of the last two jobs
    waits = with_lead_in.jobs["wait_time"]
    for window, numbers in ((None, [3, 4, 5]), (dates, [4, 5]), ((45, 100), [4, 5])):
        curve = layers(charts.distribution(with_lead_in, "wait_time", log=False, window=window))[0][1]
        known = curve["value"].drop_duplicates() * 3600
        assert known.tolist() == pytest.approx(sorted({*waits[numbers]}))
        points = layers(charts.scatter(with_lead_in, with_lead_in, window=window))[0][1]
        assert points["job"].tolist() == numbers
        cells = layers(charts.heatmap(with_lead_in, window=window))[0][1]
        assert cells["value"].sum() == len(numbers)
        weeks = layers(charts.weekly(with_lead_in.trace, window=window))[0][1]
        work = with_lead_in.jobs.loc[numbers, ["run_time", "requested_procs"]].prod(axis=1).sum()
        assert weeks["offered_load"].dropna().unique() == pytest.approx(work / (2 * 7 * 86_400))
        arrivals = layers(charts.arrivals(with_lead_in.trace, window=window))[0][1]
        assert arrivals["value"].sum() == len(numbers)
    assert "3 jobs + 2 as lead-in, not counted on 2 processors" in " ".join(
        charts.profile(with_lead_in).to_dict()["title"]["subtitle"]
    )


def test_the_axis_of_time_begins_with_the_jobs_that_count(with_lead_in):
    begin, end = (1000 * (MONDAY + second) for second in (40, int(with_lead_in.end.max())))
    for chart in (charts.profile(with_lead_in), charts.gantt(with_lead_in)):
        domains = {
            tuple(part["encoding"]["x"]["scale"]["domain"]) for part, _ in layers(chart) if "x" in part["encoding"]
        }
        assert {(begin, end)} == domains
    held = layers(charts.profile(with_lead_in))[0][1]["used"].iloc[0]
    assert held == 1  # by job 2, which began before


def test_what_happened_is_drawn_as_far_as_the_log_knows():
    jobs = [*[(60 * i, 50, 50, 1) for i in range(10)], (0, 3 * 365 * 86_400, 60, 1)]
    trace = dated(trace_of(sorted(jobs), 4), zone="UTC")
    trace = replace(trace, source="file", table=trace.jobs.assign(wait_time=0))
    happened, easy = sl.recorded(trace), sl.simulate(trace, "easy", overrun="extend")
    assert "1 run of up to 1,095 days, as if no end was recorded: measure a window=(begin, end)" in happened.notes
    known = "to the last submission: later arrivals are not on record"
    for draw in (charts.profile, charts.gantt):
        spec = draw(happened).to_dict()
        assert known in " ".join(spec["title"]["subtitle"])
        domain = layers(draw(happened))[0][0]["encoding"]["x"]["scale"]["domain"]
        assert domain == [1000 * MONDAY, 1000 * (MONDAY + 540)]
        assert layers(draw(easy))[0][0]["encoding"]["x"]["scale"]["domain"][1] > 1000 * (MONDAY + 10**7)
        for other in (draw(easy), draw(happened, window=(0, 1000))):
            assert known not in " ".join(other.to_dict()["title"]["subtitle"])
    few = sl.recorded(replace(trace, table=trace.jobs.iloc[-1:]))  # most ran after the last submission
    assert known not in " ".join(charts.gantt(few).to_dict()["title"]["subtitle"])


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda of: charts.distribution(of, window=(9, 3)), "the window must begin before it ends, got 9 to 3"),
        (
            lambda of: charts.distribution({"a": [1, 2]}, window=(1, 3)),
            "window needs a trace or a schedule, which has a",
        ),
        (lambda of: charts.heatmap(of.jobs, window=(1, 3)), "window needs a trace or a schedule, .* got a DataFrame"),
        (
            lambda of: charts.scatter(of, of, window=(500, 600)),
            "no job of a test was submitted from 500 to 600; the log",
        ),
        (lambda of: charts.weekly(of.trace, window=("then", 3)), "'then' is not a date"),
        (lambda of: charts.arrivals(of.trace, window=5), "window is 5, expected .begin, end.: dates, or seconds on"),
    ],
)
def test_a_window_that_a_chart_cannot_have_is_refused(with_lead_in, draw, message):
    with pytest.raises(ValueError, match=message):
        draw(with_lead_in)


def test_a_window_without_jobs_is_an_empty_chart_that_says_so(three):
    on_monday = sl.simulate(dated(three.trace), "fcfs")
    chart = charts.gantt(on_monday, (50, 60), "sweeps", label="job_number")
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    assert "no job runs from 1996-06-02 20:00:50 to 1996-06-02 20:01:00 on processors 0 to 3<" in svg
    assert "starts at 1996-06-02 20:00:00, the last ends at 1996-06-02 20:00:40<" in svg
    assert svg.count('aria-roledescription="axis"') == 2
    assert charts.gantt(on_monday, (50, 60), width=300).width == 300
    early = sl.simulate(trace_of(THREE[:1], 4), "fcfs")
    both = charts.gantts({"early": early, "three": three}, (15, 40)).to_dict()
    marks = [part["mark"]["type"] for part in both["vconcat"]]
    assert marks == ["text", "rect"]
    assert vl_convert.vegalite_to_svg(charts.gantts({"early": early, "three": three}, (50, 60)).to_dict())


def test_estimates_are_drawn_from_the_end_of_a_job_to_its_estimated_end():
    jobs = [(0, 4, 10, 3), (1, 2, 2, 1), (2, 5, 60, 4)]  # job 2 ends as estimated, job 3 is estimated far too long
    schedule = sl.simulate(sl.testing.trace_of(jobs, machine=4), "easy")
    spec = charts.gantt(schedule, color="job_number", label="job_number", estimates=True).to_dict()
    pale, held, border = (spec["datasets"][layer["data"]["name"]] for layer in spec["layer"][0]["layer"])
    assert pale == border
    end = 1.4 * 9  # the axis makes room for estimates, but not for any length
    assert [(row["job"], row["end"], row["rest"]) for row in pale] == [(1, 4, 10), (3, 9, pytest.approx(end))]
    assert [(row["low"], row["high"]) for row in pale] == [(held[i]["low"], held[i]["high"]) for i in (0, 2)]
    assert spec["layer"][0]["layer"][1]["encoding"]["x"]["scale"]["domain"] == [0, pytest.approx(end)]
    assert spec["title"]["subtitle"][-1] == "pale, dashed: from the end of a job to its estimated end"
    both = charts.gantts({"one": schedule, "other": schedule}, color="job_number", estimates=True).to_dict()
    assert "pale, dashed" in both["title"]["subtitle"][-1]
    exact = sl.simulate(sl.testing.trace_of([(0, 4, 4, 3)], machine=4), "easy")
    assert "pale" not in str(charts.gantt(exact, estimates=True).to_dict()["title"])


def test_colours_of_a_gantt_chart(three, easy):
    found = charts.gantt(three, color="wait")
    assert rows(found)["color"].tolist() == pytest.approx([0, 10 / 3600, 25 / 3600], abs=0.001)
    assert axis_titles(found)["color"] == "wait (hours)"
    many = easy.trace.table.assign(user_id=np.arange(len(easy)) % 20)
    schedule = replace(easy, trace=replace(easy.trace, table=many))
    scale = layers(charts.gantt(schedule, color="user_id"))[0][0]["encoding"]["color"]["scale"]
    assert len(scale["domain"]) == len(scale["range"]) == 8
    assert scale["domain"][-1] == "others (13)"
    assert set(rows(charts.gantt(schedule, color="user_id"))["color"]) == set(scale["domain"])
    with pytest.raises(ValueError, match="the table has no column 'colour'"):
        charts.gantt(three, color="colour")


# profile


def test_few_states_are_drawn_exactly(three):
    chart = charts.profile(three)
    found = rows(chart)
    assert found["time"].tolist() == pytest.approx([0, 5, 10, 30, 40])
    assert found["used"].tolist() == [2, 2, 3, 2, 2]  # the last row draws the last step to its end
    assert found["queued"].tolist() == [1, 2, 1, 0, 0]
    assert found["longest"].tolist() == [1, 2, 1, 0, 0]
    assert (found["backlog"] * 3600).tolist() == pytest.approx([60, 80, 20, 0, 0])
    assert "means" not in said(chart)
    words = [part["encoding"]["y"].get("title") for part, _ in layers(chart)]
    assert words == [["processors in use", "of 4 (dashed)"], None, "jobs queued", ["work queued", "(processor-hours)"]]
    assert layers(chart)[1][1]["size"].tolist() == [4]


def test_the_state_before_a_window_counts(three):
    found = rows(charts.profile(three, (-10, 7)))
    assert found["time"].tolist() == pytest.approx([-10, 0, 5, 7])
    assert found["used"].tolist() == [0, 2, 2, 2]
    found = rows(charts.profile(three, (12, 35)))
    assert found["time"].tolist() == pytest.approx([12, 30, 35])
    assert found["queued"].tolist() == [1, 0, 0]
    assert rows(charts.profile(three, (50, 60)))["used"].tolist() == [0, 0]


def test_bins_lose_nothing(easy):
    chart = charts.profile(easy)
    found = rows(chart)
    assert len(found) == 601
    hours = np.diff(found["time"])
    jobs, whole = easy.jobs, easy.metrics()
    work = jobs["run_time"] * jobs["procs"]
    assert (found["used"][:-1] * hours).sum() == pytest.approx(work.sum() / 3600)
    assert (found["queued"][:-1] * hours).sum() == pytest.approx(jobs["wait_time"].sum() / 3600)
    assert (found["backlog"][:-1] * hours).sum() == pytest.approx((work * jobs["wait_time"]).sum() / 3600**2)
    assert found["longest"].max() == whole["max_queue"]
    assert (found["longest"] >= found["queued"] - 1e-9).all()
    assert found["used"].between(0, 64).all()
    assert "means over" in said(chart)


# distribution


def test_the_distribution_of_few_jobs_is_exact(three):
    chart = charts.distribution(three)
    found = rows(chart)
    assert found["value"].tolist() == [1, 10, 25]
    assert found["share"].tolist() == pytest.approx([1 / 3, 2 / 3, 1])
    assert "0 is drawn at 1 s" in said(chart)
    assert axis_titles(chart)["x"] == "wait"
    assert axis_titles(chart)["y"] == "share of jobs at or below"
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    assert all(f">{mark}<" in svg for mark in ("1 s", "10 s"))
    linear = charts.distribution(three, log=False)
    assert rows(linear)["value"].tolist() == pytest.approx([0, 10 / 3600, 25 / 3600])
    assert axis_titles(linear)["x"] == "wait (hours)"
    assert "drawn at" not in said(linear)


def test_a_long_distribution_is_thinned_to_points_that_are_on_it():
    values = np.random.default_rng(5).lognormal(5, 2, 20_000).round()
    found = rows(charts.distribution({"A": values, "B": values[:50]}))
    for name, exact in (("A", values), ("B", values[:50])):
        curve = found[found["scheme"] == name]
        assert len(curve) <= 400
        assert curve["value"].iloc[0] == max(exact.min(), 1)
        assert curve["value"].iloc[-1] == values.max()  # where both have their names
        above = curve[curve["value"] > 1]
        assert above["share"].tolist() == pytest.approx([(exact <= value).mean() for value in above["value"]])
        assert curve["share"].diff().dropna().max() < 0.2
    assert found.loc[found["scheme"] == "B", "value"].nunique() == len(np.unique(np.maximum(values[:50], 1))) + 1


def test_curves_have_their_names_where_they_leave_the_plot():
    curves = {"long": [50.0, 90.0], "short": [1.0, 2.0], "cut": [1.0, 200.0]}
    chart = charts.distribution(curves, up_to=100.0)
    ends = rows(chart).dropna(subset="label at")
    assert ends.set_index("scheme")["label at"].to_dict() == {"long": 1.0, "short": 1.0, "cut": 0.5}
    assert set(ends["value"]) == {100.0}
    assert ends.set_index("scheme")["label shift"].to_dict() == {"long": 7.5, "short": -7.5, "cut": 0.0}
    assert "role-legend" not in vl_convert.vegalite_to_svg(chart.to_dict())
    many = charts.distribution({str(n): [1.0, 2.0] for n in range(7)})
    for crowded in (many, charts.distribution(curves, width=365)):  # many, or beside others
        assert "role-legend" in vl_convert.vegalite_to_svg(crowded.to_dict())


def test_many_distributions_share_the_rows_of_a_chart():
    values = np.random.default_rng(5).lognormal(5, 2, 2_000)
    twelve, thirteen = (charts.distribution({f"S{n}": values for n in range(count)}) for count in (12, 13))
    assert len(rows(twelve)) == 12 * 400
    assert "points" not in said(twelve)
    found = rows(thirteen)
    assert len(found) == 13 * 384
    assert "384 points of each curve" in said(thirteen)
    assert found["value"].max() == values.max()
    assert found.loc[found["scheme"] == "S12", "share"].tolist()[-1] == 1
    short = charts.distribution({f"S{n}": values[:100] for n in range(13)})
    assert len(rows(short)) == 1300
    assert "points" not in said(short)
    with pytest.raises(ValueError, match="^2,501 curves are more than a chart takes, give at most 2,500$"):
        charts.distribution({f"S{n}": [1.0] for n in range(2501)})


def test_what_has_no_distribution(three, easy):
    with pytest.raises(ValueError, match="there is no schedule to draw"):
        charts.distribution([])
    with pytest.raises(ValueError, match="several schedules are of the same scheme; give a mapping"):
        charts.distribution([three, three])
    with pytest.raises(TypeError, match="expected schedules, or a mapping of names to values, got Series"):
        charts.distribution([three.jobs["wait_time"]])
    with pytest.raises(ValueError, match="A has no wait_time, or not for every job"):
        charts.distribution({"A": [1.0, float("nan")]})
    with pytest.raises(ValueError, match="wait_time has the value -1.0, which a logarithmic axis cannot show"):
        charts.distribution({"A": [-1, 3]})
    with pytest.raises(ValueError, match="the table has no column 'wait'"):
        charts.distribution(three, "wait")
    with pytest.raises(ValueError, match="the table has no column 'wait'"):
        charts.distribution(three.trace, "wait")
    named = charts.distribution({"first": three, "second": easy})
    assert set(rows(named)["scheme"]) == {"first", "second"}
    assert "a test" in said(named)
    assert "Lublin" in said(named)


def test_the_distribution_of_traces(three, easy):
    both = [three.trace, easy.trace]
    chart = charts.distribution(both, "requested_procs")
    found = rows(chart)
    assert set(found["scheme"]) == {trace.title for trace in both}
    mine = found[found["scheme"] == three.trace.title]
    assert mine["value"].tolist() == [*sorted(set(three.trace.jobs["requested_procs"])), found["value"].max()]
    assert axis_titles(chart)["x"] == "processors"
    kinds = (chart, charts.distribution({"users": [60, 120], "a model": [90, 180]}, "requested_time"))
    kinds = [kind.to_dict()["layer"][0]["encoding"]["color"]["title"] for kind in (*kinds, charts.distribution(three))]
    assert kinds == ["workload", "", "scheme"]  # the values are neither of workloads nor of schemes
    assert all(f"{trace.title}, offered load" in said(chart) for trace in both)


def test_a_model_beside_a_trace(easy):
    chart = charts.beside_model(easy.trace, "jann", "run_time", seed=3, jobs=300)
    drawn = sl.model_trace("jann", jobs=300, machine=easy.trace.procs, seed=3)
    found = rows(chart)
    curve = found[found["scheme"] == f"{drawn.title}, seed 3"]
    assert curve["value"].iloc[-1] == drawn.jobs["run_time"].max()
    assert easy.trace.title in set(found["scheme"])
    same = sl.model_trace("lublin", jobs=300, machine=64, seed=3)
    assert rows(charts.beside_model(same, "lublin", seed=4, jobs=300))["scheme"].nunique() == 2


def test_work_by_week():
    week = 7 * 86_400
    jobs = [(0, 3600, 7200, 2), (week - 1, 3600, 1800, 1), (week, 3600, 3600, 4), (2 * week, 60, 60, 1)]
    long = trace_of(jobs, 4)
    short = replace(trace_of(jobs[:1] + [(50, 100, 100, 4)], 4), name="short", source="stand-in")
    chart = charts.weekly([long, short])
    found = rows(chart).sort_values(["trace", "week"])
    of_week = [(2 * 3600 + 1800) / (4 * week), 4 * 3600 / (4 * week)]  # the third week has only an instant
    assert found["week"].tolist() == [1, 2, 1]
    assert found["offered_load"].tolist() == pytest.approx([*of_week, 7600 / (4 * week)])
    assert found["trace"].tolist() == [long.title] * 2 + ["short (stand-in, not the real log)"]
    assert "stand-in, not the real log" in said(chart)
    with pytest.raises(ValueError, match="there is no trace to draw"):
        charts.weekly([])


def test_weeks_of_traces_of_one_name_are_two_lines():
    log = sl.model_trace("lublin", jobs=400, machine=64, seed=4)
    ((*rows,),) = charts.weekly([log, log.head(200)]).to_dict()["datasets"].values()
    name = "Lublin-Feitelson model"
    assert {row["trace"] for row in rows} == {name, f"{name}, first 200 jobs"}


# scatter


def test_two_schemes_job_by_job(easy, shortest):
    chart = charts.scatter(easy, shortest)
    found = rows(chart)
    before, after = easy.jobs["wait_time"].to_numpy(), shortest.jobs["wait_time"].to_numpy()
    assert found["x"].tolist() == np.maximum(before, 1).tolist()
    assert found["y"].tolist() == np.maximum(after, 1).tolist()
    assert found["first"].to_numpy() == pytest.approx(before / 3600, abs=0.001)
    better, worse = (after < before).mean(), (after > before).mean()
    assert f"EASY-SJF is better for {better:.1%} of jobs and worse for {worse:.1%}" in said(chart)
    assert f"mean difference {(after - before).mean() / 3600:+,.3g} hours" in said(chart)
    assert "0 is drawn at 1 s" in said(chart)
    assert "is drawn at" not in said(charts.scatter(easy, shortest, "bounded_slowdown"))
    titles = axis_titles(chart)
    assert (titles["x"], titles["y"]) == ("wait, EASY", "wait, EASY-SJF")
    diagonal = layers(chart)[1][1]
    assert (diagonal["x"] == diagonal["y"]).all()


def test_scatter_plots_of_two_loads_can_have_the_same_axes(easy):
    for schedule in (easy, sl.simulate(easy.trace.scale_load(0.5), "easy")):
        points, _ = layers(charts.scatter(schedule, schedule, up_to=864000))[0]
        assert [points["encoding"][axis]["scale"]["domain"] for axis in "xy"] == [[1, 864000]] * 2


def test_a_sample_is_said_and_counts_are_of_all_jobs(easy, shortest):
    all_of_them, sample = charts.scatter(easy, shortest), charts.scatter(easy, shortest, limit=300)
    assert rows(sample)["job"].tolist() == rows(all_of_them)["job"].tolist()[::3]
    assert "one job in 3 is drawn" in said(sample)
    assert said(all_of_them).removesuffix("0 is drawn at 1 s") in said(sample)


def test_a_scatter_plot_needs_the_same_jobs(three, easy):
    with pytest.raises(ValueError, match="the schedules are not of the same jobs: a test, offered load"):
        charts.scatter(three, easy)


# heatmap and arrivals


def test_jobs_in_cells():
    table = [(1, 59, 0), (1, 60, 3600), (2, 60, 7200), (4, 3600, 0), (3, 3600, 3600), (4, 7200, 7200)]
    jobs = pd.DataFrame(table, columns=["procs", "run_time", "wait_time"])
    found = rows(charts.heatmap(jobs)).set_index(["size", "length"])
    assert found["value"].to_dict() == {
        ("1", "under 1 min"): 1,
        ("1", "1 to 10 min"): 1,
        ("2", "1 to 10 min"): 1,
        ("3-4", "1 to 10 h"): 3,
    }
    assert found["text"].tolist() == ["1", "1", "1", "3"]
    area = rows(charts.heatmap(jobs, "area")).set_index(["size", "length"])["value"]
    assert area["3-4", "1 to 10 h"] == 4 + 3 + 8
    wait = charts.heatmap(jobs, "wait_time")
    assert rows(wait).set_index(["size", "length"])["value"]["3-4", "1 to 10 h"] == 1
    assert axis_titles(wait) == {"x": "processors", "y": "run time"}
    y = layers(charts.heatmap(jobs))[0][0]["encoding"]["y"]
    assert y["sort"] == ["1 to 10 h", "10 min to 1 h", "1 to 10 min", "under 1 min"]  # none is skipped
    with pytest.raises(ValueError, match="the table has no column 'wait'"):
        charts.heatmap(jobs, "wait")


@pytest.mark.parametrize(
    ("column", "value", "found"),
    [
        ("run_time", -1, "-1.0"),
        ("run_time", None, "nan"),
        ("run_time", float("inf"), "inf"),
        ("procs", 0, "0.0"),
        ("procs", -1, "-1.0"),
        ("procs", None, "nan"),
    ],
)
def test_a_job_that_is_in_no_cell_is_named(column, value, found):
    jobs = pd.DataFrame({"procs": [1.0, 2.0], "run_time": [5.0, 6.0]}, index=[7, 8])
    jobs.loc[8, column] = value
    least = {"run_time": 0, "procs": 1}[column]
    with pytest.raises(ValueError, match=f"^job 8 has {column} {found}, expected {least} or more$"):
        charts.heatmap(jobs)
    with pytest.raises(ValueError, match=r"^column 'procs' has 'many' in row 7, expected numbers only$"):
        charts.heatmap(jobs.assign(procs="many"))
    with pytest.raises(ValueError, match=r"^column 'user' has 'a' in row 7, expected numbers only$"):
        charts.heatmap(jobs.fillna(1).replace(np.inf, 1).abs().clip(1).assign(user="a"), "user")


def test_no_job_is_lost_in_cells(easy):
    for given in (easy, easy.trace, easy.jobs, easy.trace.jobs):
        assert rows(charts.heatmap(given))["value"].sum() == len(easy)


def test_arrivals_in_local_hours():
    week = 7 * 86_400
    # In New York, four hours behind: Sunday 20:10 and 20:50, a week later 20:00, and Monday 21:00 the day after.
    jobs = [(submit, 1, 1, 1) for submit in (600, 3000, week, week + 25 * 3600)]
    trace = dated(trace_of(jobs, 4))
    chart = charts.arrivals(trace)
    found = rows(chart).set_index(["day", "hour"])["value"]
    assert len(found) == 7 * 24
    assert found[found > 0].to_dict() == {("Sunday", 20): 1.5, ("Monday", 21): 0.5}
    assert axis_titles(chart) == {"x": "hour of the day (US/Eastern)"}


def test_arrivals_follow_the_clock_over_the_change_of_summer_time():
    hour = 3600
    zero = int(pd.Timestamp("1996-10-25 12:00", tz="US/Eastern").timestamp())
    submits = [int(pd.Timestamp(f"1996-10-{day} 12:00", tz="US/Eastern").timestamp()) - zero for day in (25, 28)]
    assert submits == [0, 73 * hour]
    found = rows(charts.arrivals(dated(trace_of([(submit, 1, 1, 1) for submit in submits], 4), zero=zero)))
    assert found.loc[found["value"] > 0, ["day", "hour"]].to_numpy().tolist() == [["Monday", 12], ["Friday", 12]]


def test_arrivals_of_a_log_without_dates(three):
    with pytest.raises(ValueError, match="a test has no UnixStartTime; give start=, the local date of second 0"):
        charts.arrivals(three.trace)
    found = rows(charts.arrivals(three.trace, start="2001-01-01 07:00"))  # a Monday
    assert found[["day", "hour", "value"]].to_numpy().tolist() == [["Monday", 7, 3]]
    with pytest.raises(ValueError, match="a test has a UnixStartTime; start is for logs that have none"):
        charts.arrivals(dated(three.trace), start="2001-01-01")


@pytest.fixture
def in_cells(easy, monkeypatch):
    """Make a Gantt chart draw cells even for few rectangles."""
    monkeypatch.setattr(timeline, "MOST_ROWS", 20)
    for module in (cells, timeline):
        monkeypatch.setattr(module, "CELLS", (12, 5))
    return easy


def covered(begin, end, edges):
    """Return the share of each interval between edges that lies between begin and end."""
    return [max(0, min(end, right) - max(begin, left)) / (right - left) for left, right in pairwise(edges)]


def cover(schedule, window, cells, weights):
    """Add up how much of each cell is held, job by job."""
    across, up = np.linspace(*window, cells[0] + 1), np.linspace(0, schedule.machine.procs, cells[1] + 1)
    offset, first, last = schedule.processors()
    held = np.zeros(cells)
    for job, (start, until) in enumerate(zip(schedule.start, schedule.end, strict=True)):
        wide = covered(start, until, across)
        for place in range(offset[job], offset[job + 1]):
            held += weights[job] * np.outer(wide, covered(first[place], last[place] + 1, up))
    return held


def test_what_would_leave_out_most_is_drawn_in_cells(in_cells):
    begin, end = in_cells.submit[0], in_cells.end.max()
    found = rows(chart := charts.gantt(in_cells))
    held = cover(in_cells, (begin, end), (12, 5), np.ones(len(in_cells)))
    cells = found.assign(
        column=((found["begin"] - found["begin"].min()) / np.ptp([*found["begin"], *found["end"]]) * 12).round(),
        row=(found["low"] / (in_cells.machine.procs / 5)).round(),
    )
    for cell in cells.itertuples():
        assert cell.held == pytest.approx(held[int(cell.column), int(cell.row)], abs=0.001)
    assert len(found) == (held > 0.0005).sum()
    kinds = sl.metrics.classes(in_cells.jobs, "kurian").map(sl.metrics.CLASS_WORDS).astype(str).to_numpy()
    parts = {kind: cover(in_cells, (begin, end), (12, 5), kinds == kind) for kind in set(kinds)}
    for cell in cells.itertuples():
        shares = {kind: part[int(cell.column), int(cell.row)] for kind, part in parts.items()}
        assert shares[cell.color] == pytest.approx(max(shares.values()))
    assert f"all {len(in_cells)} jobs; a cell covers " in said(chart)
    assert "colour: who uses most of it; opacity: how much is used" in said(chart)


def test_gantt_charts_below_one_another_share_the_cells(in_cells):
    spec = charts.gantts({"a": in_cells, "b": in_cells}).to_dict()
    (table,) = {str(table): table for table in spec["datasets"].values()}.values()
    held = cover(in_cells, (in_cells.submit[0], in_cells.end.max()), (12, 2), np.ones(len(in_cells)))
    assert sorted(row["held"] for row in table) == pytest.approx(sorted(held[held > 0.0005]), abs=0.001)
    assert f"all {len(in_cells)} jobs; a cell covers " in " ".join(spec["title"]["subtitle"])
    opened = ((in_cells.submit[0], in_cells.submit[5]), (0, 3))
    moved = charts.gantts({"a": in_cells, "b": in_cells}, opened=opened).to_dict()  # what is zoomed has rectangles
    assert "of the processor-hours), left out" in " ".join(moved["title"]["subtitle"])


def test_cells_of_numbers_are_means_and_a_limit_asks_for_rectangles(in_cells):
    found = rows(charts.gantt(in_cells, color="wait"))
    waits = in_cells.jobs["wait_time"].to_numpy() / 3600
    assert found["color"].between(0, waits.max()).all()
    assert found["color"].nunique() > 5
    assert "of the processor-hours), left out" in said(charts.gantt(in_cells, limit=20))
    window = in_cells.trace.at(float(in_cells.submit[0])), in_cells.trace.at(float(in_cells.submit[5]))
    assert "in cells" not in said(charts.gantt(in_cells, window=window))


def test_the_mean_of_a_cell_is_of_jobs_that_have_a_number(in_cells):
    """Every second job has no number. Cells held by such jobs alone have no mean, but all cells are drawn."""
    number = np.where(np.arange(len(in_cells)) % 2, np.nan, 5.0)
    trace = replace(in_cells.trace, table=in_cells.trace.table.assign(number=number))
    found = rows(charts.gantt(replace(in_cells, trace=trace), color="number"))
    assert len(found) == len(rows(charts.gantt(in_cells)))
    assert set(found["color"].dropna()) == {5.0}


def test_as_many_rows_as_a_chart_takes():
    trace = sl.model_trace("lublin", jobs=6_000, machine=64)
    a, b = sl.simulate(trace, "easy"), sl.simulate(trace, "fcfs")
    for chart in (charts.gantt(a), charts.scatter(a, b), charts.profile(a), charts.distribution([a, b])):
        assert max(map(len, chart.to_dict()["datasets"].values())) <= charts.MOST_ROWS
    assert len(rows(charts.gantt(a))) > charts.MOST_ROWS - 64
    assert "of the processor-hours), left out" in said(charts.gantt(a))
    assert "one job in 2 is drawn" in said(charts.scatter(a, b))


def test_scatter_names_both_where_the_schedules_differ_in_more_than_the_scheme(easy):
    other = sl.simulate(easy.trace.scale_load(0.5), "easy")
    assert said(charts.scatter(easy, easy)).count("offered load") == 1
    assert said(charts.scatter(easy, other)).count("offered load") == 2
    assert "offered load 0.5" in said(charts.scatter(easy, other))


# --- The nodes of a tree ------------------------------------------------------------------------------------


def placed_on_tree(**settings):
    jobs = [(0, 10, 10, 2), (0, 20, 20, 5), (5, 10, 10, 1)]
    return sl.simulate(trace_of(jobs, 14), machine=sl.KaryTree(4, 2, **settings)).validate()


def test_tree_colours_each_node_by_its_job():
    spec = charts.tree(placed_on_tree(), 6).to_dict()
    nodes, frames, *_ = (spec["datasets"][layer["data"]["name"]] for layer in spec["layer"])
    held = {}
    for row in nodes:
        held.setdefault(row["job"], []).append(row["node"])
    schedule = placed_on_tree()
    text = dict(zip(schedule.trace.table.index.astype(str), schedule.jobs["nodes"], strict=True))
    assert held["1"] == [0, 1]
    assert text == {"1": "0-1", "2": "2-6", "3": "7"}
    assert {job: [nodes[0], nodes[-1]] for job, nodes in held.items() if job} == {"1": [0, 1], "2": [2, 6], "3": [7, 7]}
    colours = {row["job"]: row["color"] for row in nodes}
    assert len(set(colours.values())) == 4
    assert colours[""] == "transparent"
    assert [row["stage"] for row in frames] == [1] * 4 + [2]  # four switches, the last with two nodes, and one above
    assert "3 jobs hold 8 of 14 nodes" in str(spec["title"])


@pytest.mark.parametrize(("k", "n"), [(2, 3), (3, 2), (5, 2), (2, 6)])
def test_tree_gives_every_node_a_place_of_its_own(k, n):
    schedule = sl.simulate(trace_of([(0, 1, 1, 1)], k**n), machine=sl.KaryTree(k, n))
    spec = charts.tree(schedule).to_dict()
    nodes, frames, *_ = (spec["datasets"][layer["data"]["name"]] for layer in spec["layer"])
    assert len({(row["left"], row["top"]) for row in nodes}) == k**n
    for stage in range(1, n + 1):
        blocks = [frame for frame in frames if frame["stage"] == stage]
        for row in nodes:
            frame = blocks[row["node"] // k**stage]
            assert frame["left"] <= row["left"] < frame["right"]
            assert frame["top"] <= row["top"] < frame["bottom"]


def test_tree_numbers_the_jobs_whose_nodes_have_room():
    # 64 nodes: a job of a quarter of them, one of two nodes beside each other, and one of a single node; 60 px a node.
    jobs = [(0, 10, 10, 16), (0, 10, 10, 2), (0, 10, 10, 1)]
    trace = trace_of(jobs, 64)
    table = trace.table.set_axis([7, 123_456, 123_456_789_012], axis=0).rename_axis("job_number")
    schedule = sl.simulate(replace(trace, table=table), machine=sl.KaryTree(4, 3))
    spec = charts.tree(schedule, 5).to_dict()
    nodes, _, plates, words = (spec["datasets"][layer["data"]["name"]] for layer in spec["layer"])
    assert plates == words
    found = {row["job"]: row for row in words}
    assert set(found) == {"7", "123456"}  # twelve digits have no room on one node
    small = charts.tree(schedule, 5, width=120, height=120).to_dict()  # 15 px a node
    assert [row["job"] for row in small["datasets"][small["layer"][-1]["data"]["name"]]] == ["7"]
    assert (found["7"]["middle"], found["7"]["center"]) == (2, 2)
    held = {row["job"]: row for row in nodes}
    for job, row in found.items():
        assert row["color"] == held[job]["color"]
        inside = [node for node in nodes if node["job"] == job]
        for low, high in (("left", "right"), ("top", "bottom")):
            assert min(node[low] for node in inside) <= row[low] < row[high] <= max(node[high] for node in inside)


@pytest.mark.parametrize("k", [2, 4])
def test_tree_gives_neighbours_different_colours(k):
    trace = sl.model_trace("lublin", jobs=300, machine=64, seed=2).scale_load(1.2)
    n = 6 if k == 2 else 3
    spec = charts.tree(sl.simulate(trace, machine=sl.KaryTree(k, n, allocation="first-free"))).to_dict()
    nodes = {(row["left"], row["top"]): row for row in spec["datasets"][spec["layer"][0]["data"]["name"]]}
    assert len({row["job"] for row in nodes.values()}) > 4
    for (left, top), node in nodes.items():
        for step in ((1, 0), (0, 1), (1, 1), (1, -1)):
            other = nodes.get((left + step[0], top + step[1]), node)
            assert (node["color"] == other["color"]) == (node["job"] == other["job"])


def test_tree_says_what_is_not_installed():
    assert "grey: not installed" in str(charts.tree(placed_on_tree(), 6).to_dict()["title"])
    whole = sl.simulate(trace_of([(0, 1, 1, 1)], 16), machine=sl.KaryTree(4, 2))
    assert "installed" not in str(charts.tree(whole).to_dict()["title"])


def test_tree_needs_one():
    with pytest.raises(ValueError, match="the chart needs jobs on nodes; this schedule is of 2 processors without"):
        charts.tree(sl.simulate(trace_of([(0, 1, 1, 1)], 2)))
    large = sl.simulate(trace_of([(0, 1, 1, 1)], 6_000), machine=sl.KaryTree(2, 13))
    with pytest.raises(ValueError, match="has more nodes than the 5,000 that a chart takes"):
        charts.tree(large)


def test_sweeps_stand_out_among_other_jobs():
    trace = sl.model_trace("lublin", jobs=150, machine=64, seed=5).scale_load(0.9).with_parameter_sweeps(0.3)
    schedule = sl.simulate(trace, "ojs")
    drawn = rows(charts.gantt(schedule, color="sweeps"))
    assert (drawn["color"] == "tasks of a sweep").tolist() == (drawn["tasks"] > 0).tolist()
    sweeps = schedule.jobs.index[schedule.jobs["breakdown"] > 0]
    assert (drawn["color"] == "other jobs").tolist() == (~drawn["job"].isin(sweeps)).tolist()
    assert set(drawn["color"]) == {"tasks of a sweep", "other jobs", "sweep"}
    with pytest.raises(ValueError, match="^color='sweeps' needs a schedule in which sweeps were split into tasks"):
        charts.gantt(sl.simulate(trace, "easy"), color="sweeps")


def test_tasks_of_a_sweep_are_rectangles_of_their_own():
    trace = sl.model_trace("lublin", jobs=150, machine=64, seed=5).scale_load(0.9).with_parameter_sweeps(0.3)
    for schedule in (sl.simulate(trace, "ojs"), *sl.simulate_sites([trace, trace.head(100)], "ojs", speeds=(2, 1))):
        pieces = schedule.pieces
        for color in ("class", "wait", "job_number"):
            drawn = next(iter(charts.gantt(schedule, color=color).to_dict()["datasets"].values()))
            assert {(row["job"], row["tasks"]) for row in drawn} == set(
                zip(pieces["job_number"].tolist(), pieces["tasks"].tolist(), strict=True)
            )
            hours = sum((row["end"] - row["begin"]) * (row["high"] - row["low"]) for row in drawn)
            held = ((pieces["end_time"] - pieces["start_time"]) * pieces["procs"]).sum() / 3600
            assert hours == pytest.approx(held)
        shown = max(charts.profile(schedule).to_dict()["datasets"].values(), key=len)
        assert shown[-1]["queued"] == 0
        assert shown[-1]["backlog"] == pytest.approx(0, abs=1e-6)


def test_few_processors_have_no_ticks_between_them_and_jobs_are_listed_by_number():
    jobs = trace_of([(i, 5, 5, 1) for i in range(12)], 2)
    spec = charts.gantt(sl.simulate(jobs, "fcfs"), color="job_number").to_dict()
    words = re.findall(r">([^<]+)</text>", vl_convert.vegalite_to_svg(spec))
    assert "1" in words
    assert "0.5" not in words
    (listed,) = set(re.findall(r'"domain": \[("[^]]*)\]', json.dumps(spec)))
    numbers = [int(number) for number in re.findall(r'"(\d+)"', listed)]
    assert len(numbers) > 3
    assert numbers == sorted(numbers)
