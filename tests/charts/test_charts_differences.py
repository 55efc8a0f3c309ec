"""Differences with their intervals: what is drawn of each, in which colour, and what is refused."""

import math
from dataclasses import replace

import altair as alt
import pandas as pd
import pytest
import vl_convert

import schedlab as sl
from schedlab.charts.changes import BETTER, WORSE
from schedlab.charts.differences import NO_CHANGE, UNSURE
from schedlab.schedule.metrics import MeasureTable
from schedlab.schedule.statistics import Comparison, Comparisons, Interval
from schedlab.show.reading import MINUS

pytestmark = pytest.mark.tables
NAN = math.nan
HOUR = 3600.0
COLUMNS = ["mean", "low", "high", "batches", "batch_size", "warm_up", "note"]


def compared(rows, measure="wait_time"):
    """Make what `paired` returns of rows {class: (mean, low, high, note)}."""
    index = pd.MultiIndex.from_tuples([(label, measure) for label in rows], names=["partition", "measure"])
    values = [[mean, low, high, 20, 10, 0, note] for mean, low, high, note in rows.values()]
    table = MeasureTable(pd.DataFrame(values, index=index, columns=COLUMNS))
    return Comparisons(table, table)


@pytest.fixture
def pairs():
    less = compared({"cpu": (-2 * HOUR, -3 * HOUR, -HOUR, ""), "gpu": (0.0, 0.0, 0.0, "")})
    more = compared({"cpu": (HOUR, 0.5 * HOUR, 2 * HOUR, ""), "gpu": (HOUR, -HOUR / 2, 2 * HOUR, "")})
    doubtful = compared({"cpu": (-HOUR, -90 * HOUR, -HOUR / 2, "too short"), "gpu": (0.1 * HOUR, NAN, NAN, "piles up")})
    return {"less": less, "more": more, "doubtful": doubtful}


def drawn(chart):
    (rows,) = chart.to_dict()["datasets"].values()
    return pd.DataFrame(rows).set_index(["row", "panel"])


def marks(chart):
    return [layer["mark"] for layer in chart.to_dict()["spec"]["layer"]]


def test_colours_say_what_is_sure(pairs):
    rows = drawn(sl.charts.differences(pairs, title="Waits"))
    expected = {
        ("less", "cpu"): BETTER,
        ("less", "gpu"): UNSURE,
        ("more", "cpu"): WORSE,
        ("more", "gpu"): UNSURE,
        ("doubtful", "cpu"): UNSURE,  # although its interval does not reach 0: it may be too narrow
        ("doubtful", "gpu"): UNSURE,
    }
    assert rows["colour"].to_dict() == expected
    dots = dict.fromkeys(expected, "filled") | {("less", "gpu"): "", ("doubtful", "gpu"): "hollow"}
    assert rows["dot"].to_dict() == dots
    assert rows["doubtful"].to_dict() == {place: place == ("doubtful", "cpu") for place in expected}


def test_durations_are_in_hours_and_written_to_one_place(pairs):
    chart = sl.charts.differences(pairs, title="Waits")
    rows = drawn(chart)
    assert rows.loc[("less", "cpu"), ["mean", "mean_low", "mean_high"]].tolist() == [-2, -3, -1]
    texts = [f"{MINUS}2.00", NO_CHANGE, "+1.00", "+1.00", f"{MINUS}1.00", "+0.10"]
    assert rows["text"].tolist() == texts
    titles = {
        layer["encoding"]["x"].get("title") for layer in chart.to_dict()["spec"]["layer"] if "x" in layer["encoding"]
    }
    assert "difference of the mean wait (hours)" in titles
    assert vl_convert.vegalite_to_svg(chart.to_dict()).count(">0<") == 1  # the tick at 0 has no sign
    slow = {"a": compared({"cpu": (0.25, 0.125, 0.5, "")}, "bounded_slowdown")}
    assert drawn(sl.charts.differences(slow)).loc[("a", "cpu"), "mean"] == 0.25
    assert drawn(sl.charts.differences(slow))["text"].tolist() == ["+0.250"]


def test_intervals_that_reach_far_are_cut_off_with_an_arrow(pairs):
    chart = sl.charts.differences(pairs, title="Waits")
    row = drawn(chart).loc[("doubtful", "cpu")]
    assert row["mean_low"] == -90
    assert row["mean_low_drawn"] == pytest.approx(-2 - 3)  # the values reach from -2 to 1
    shapes = [mark["shape"] for mark in marks(chart) if str(mark.get("shape", "")).startswith("triangle")]
    assert shapes == ["triangle-left"]
    assert "arrow" in " ".join(chart.to_dict()["title"]["subtitle"])


def test_the_note_explains_only_what_is_drawn(pairs):
    whole = " ".join(sl.charts.differences(pairs).to_dict()["title"]["subtitle"])
    for word in ("blue", "dashed", "hollow", "arrow"):
        assert word in whole
    few = " ".join(sl.charts.differences({"more": pairs["more"]}).to_dict()["title"]["subtitle"])
    assert "blue" in few
    for word in ("dashed", "hollow", "arrow"):
        assert word not in few


def test_no_layer_is_empty(pairs):
    """Vega warns of layers without rows, whose fields have no extent."""
    few = marks(sl.charts.differences({"more": pairs["more"]}))
    assert [mark["type"] for mark in few] == ["rule", "rule", "point", "text"]  # 0, intervals, means, numbers
    whole = marks(sl.charts.differences(pairs))
    assert [mark["type"] for mark in whole] == ["rule", "rule", "rule", "point", "point", "point", "text"]


def test_classes_are_chosen_and_ordered(pairs):
    facet = sl.charts.differences(pairs, ["gpu", "cpu"]).to_dict()["facet"]
    assert facet["sort"] == ["gpu", "cpu"]
    rows = drawn(sl.charts.differences(pairs, "gpu"))
    assert set(rows.index.get_level_values("panel")) == {"gpu"}
    assert list(dict.fromkeys(rows.index.get_level_values("row"))) == list(pairs)


def test_classes_that_are_numbers_are_chosen_by_them():
    numbered = {"less": compared({2: (-HOUR, NAN, NAN, "short"), 3: (HOUR, NAN, NAN, "short")})}
    rows = drawn(sl.charts.differences(numbered, [3]))
    assert rows.index.tolist() == [("less", "3")]


def test_an_unknown_difference_is_an_empty_row():
    interval = Interval(NAN, NAN, NAN, 0.95, 0, 0, notes=("a value is infinite or missing",))
    (rows,) = sl.charts.differences({"EASY": Comparison(interval, interval)}).to_dict()["datasets"].values()
    assert (rows[0]["row"], rows[0]["mean"], rows[0]["text"]) == ("EASY", None, "")


def test_whole_schedules_are_drawn_without_panels():
    interval = Interval(-HOUR, -2 * HOUR, -HOUR / 2, 0.95, 20, 10, unit="s")
    pair = Comparison(interval, replace(interval, unit=""))
    chart = sl.charts.differences({"EASY": pair}, title="Waits", width=400, height=60)
    assert isinstance(chart, alt.LayerChart)
    assert (chart.width, chart.height) == (400, 60)
    (rows,) = chart.to_dict()["datasets"].values()
    assert rows[0]["mean_low"] == -2
    unknown = Comparison(Interval(5.0, NAN, NAN, 0.95, 0, 0, notes=("piles up",)), interval)
    (rows,) = sl.charts.differences({"EASY": unknown}).to_dict()["datasets"].values()
    assert (rows[0]["dot"], rows[0]["mean"]) == ("hollow", 5)


def test_what_cannot_be_drawn_is_refused(pairs):
    with pytest.raises(ValueError, match="there is no comparison to draw"):
        sl.charts.differences({})
    with pytest.raises(ValueError, match="unknown class 'gpus'; known: cpu, gpu"):
        sl.charts.differences(pairs, ["gpus"])
    with pytest.raises(ValueError, match="there is no class to draw, give one or more, or leave out classes="):
        sl.charts.differences(pairs, [])
    slow = compared({"cpu": (0.25, 0.1, 0.5, "")}, "bounded_slowdown")
    with pytest.raises(ValueError, match=r"several measures or kinds \(bounded_slowdown, wait_time\), expected one"):
        sl.charts.differences(pairs | {"slow": slow})
    whole = {unit: Comparison(*[Interval(5.0, NAN, NAN, 0.95, 0, 0, unit=unit)] * 2) for unit in ("s", "")}
    with pytest.raises(ValueError, match=r"kinds \(all jobs, all jobs, in seconds\), expected one"):
        sl.charts.differences(whole)
    with pytest.raises(TypeError, match="expected Mapping, got list"):
        sl.charts.differences([pairs["less"]])
    with pytest.raises(TypeError, match="expected Comparison or Comparisons, got MeasureTable"):
        sl.charts.differences({"less": pairs["less"].difference})


@pytest.mark.filterwarnings("ignore::schedlab.schedule.statistics.IntervalWarning")
def test_real_comparisons_are_drawn():
    trace = sl.model_trace("lublin", jobs=2000, machine=64, seed=1).scale_load(0.5)
    easy, other = (sl.simulate(trace, scheme) for scheme in ("easy", "conservative"))
    pair = sl.paired(other, easy, "wait_time", by="kurian")
    rows = drawn(sl.charts.differences({"Conservative": pair}))
    assert rows["mean"].tolist() == pytest.approx((pair.difference["mean"] / HOUR).tolist())
