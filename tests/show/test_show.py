"""How traces, schedules, measures and intervals display themselves, in a terminal and in a notebook."""

import pickle
import re
import time
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pages import Page
from workloads import trace_of

import schedlab as sl
from schedlab import metrics, show
from schedlab.workload.sacct import example_path

pytestmark = [pytest.mark.reduced, pytest.mark.tables]

HOSTILE = "<img src=x onerror=alert(1)> & \"'"
LONG = re.compile(r"\d[.]\d{7,}|\de[+-]\d\d|nan|\binf\b")


def read(shown):
    """Return the words of a displayed object, after checking that its page is whole and safe."""
    page = Page(shown._repr_html_())
    assert page.open == []
    assert not {"img", "script"} & set(page.tags)
    assert not LONG.search(page.text), page.text
    return page.text


@pytest.fixture(scope="module")
def schedule():
    jobs = [(60 * i, 100 + 7_000 * (i % 3), 9_000 + i, 1 + i % 4) for i in range(60)]
    return sl.simulate(trace_of(jobs, 4), "easy")


@pytest.fixture(scope="module")
def hostile(schedule):
    return replace(schedule.trace, name=HOSTILE, history=(HOSTILE,), source="file")


# Numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (119, "119 s"),
        (0.25, "0.25 s"),
        (120, "2 min"),
        (7_199, "120 min"),
        (7_720.5, "2.14 h"),
        (400_000, "4.63 days"),
        (1e9, "11,574 days"),
        (-7_720.5, "-2.14 h"),
        (float("nan"), "- s"),
        (float("inf"), "inf s"),
    ],
)
def test_durations_are_read_in_their_unit(seconds, said):
    assert show.duration(seconds) == said
    assert show.duration(90, like=7_200) == "0.025 h"  # durations of a column share a unit


def test_every_measure_has_words_and_a_unit(schedule):
    trace = sl.model_trace("lublin", jobs=20, machine=8).with_speedup(sl.Downey(A="system", sigma=1))
    for shown in (schedule, sl.simulate(trace, "greedy")):
        assert set(shown.metrics().index) <= set(metrics.MEASURES)


# Measures -----------------------------------------------------------------------------------------------


def test_measures_show_units_and_stay_a_series(schedule):
    measures = schedule.metrics()
    text = repr(measures)
    assert text.startswith("EASY\n")
    assert re.search(r"^wait_time +[\d.]+ (s|min|h|days)  mean wait$", text, re.MULTILINE)
    assert re.search(r"^utilization +[\d.]+ %  utilization$", text, re.MULTILINE)
    assert not LONG.search(text)
    assert "mean wait" in read(measures)
    for plain in (2 * measures, measures[["jobs", "wait_time"]], measures.copy(), measures.sort_values()):
        assert type(plain) is pd.Series
    assert type(measures.to_frame()) is pd.DataFrame
    assert measures["wait_time"] == schedule.jobs["wait_time"].mean()
    assert {**measures} == pytest.approx(measures.to_dict(), rel=0, abs=0, nan_ok=True)
    assert pickle.loads(pickle.dumps(measures)).equals(measures)


def test_tables_of_measures_show_units_and_stay_tables(schedule):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.statistics.IntervalWarning)
        settings = {"by": "size"}, {"confidence": 0.95}, {"by": "kurian", "confidence": 0.95}
        tables = [schedule.metrics(**each) for each in settings]
    for table in tables:
        assert not LONG.search(repr(table)), repr(table)
        words = read(table)
        assert " h" in words
        assert "mean wait" in words
        assert "wait_time" not in words
        assert type(table.copy()) is type(table * 1 if "note" not in table else table.iloc[:1]) is pd.DataFrame
        assert type(table.iloc[:, 0]) is pd.Series
    assert tables[0].loc["1", "jobs"] == (schedule.procs == 1).sum()


def test_a_long_table_shows_its_ends(schedule):
    words = read(schedule.metrics(by=pd.Series(np.arange(60) // 1, index=schedule.jobs.index)))
    assert "rows" not in words
    long = sl.simulate(trace_of([(i, 1, 1, 1) for i in range(80)], 1), "fcfs")
    words = read(long.metrics(by=pd.Series(range(80), index=long.jobs.index)))
    assert "80 rows; the first and the last 30 are shown" in words


def test_names_of_classes_are_escaped(schedule):
    assert HOSTILE in read(schedule.metrics(by=pd.Series(HOSTILE, index=schedule.jobs.index)))


# Intervals ----------------------------------------------------------------------------------------------


def test_intervals_are_short():
    found = sl.statistics.Interval(13941.713432, 10338.129, 18059.93, 0.95, 22, 3509)
    assert repr(found) == "<Interval 13,942, 95 % from 10,338 to 18,060; 22 batches of 3,509>"
    assert read(found) == "13,942, 95 % from 10,338 to 18,060; 22 batches of 3,509"
    assert "0.00123, no interval" in read(sl.statistics.Interval(0.00123456, np.nan, np.nan, 0.95, 0, 0))
    noted = replace(found, notes=(HOSTILE,), warm_up=1200)
    assert HOSTILE in read(noted)
    assert repr(noted).endswith(f"; the first 1,200 left out; {HOSTILE}>")


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((-2733.4, -4980.0, -1320.0), "-45.6 min, 95 % from -83 to -22 min; 40 batches of 711"),
        ((13941.7, 10338.1, 18059.9), "3.87 h, 95 % from 2.87 to 5.02 h; 40 batches of 711"),
        ((0.0, -30.0, 30.0), "0 s, 95 % from -30 to 30 s; 40 batches of 711"),
        ((300.0, np.nan, np.nan), "5 min, no interval"),
    ],
)
def test_intervals_of_seconds_are_displayed_in_a_readable_unit(ends, words):
    interval = sl.statistics.Interval(*ends, 0.95, 40, 711, unit="s")
    assert words in read(interval)


def test_comparisons_name_what_they_compare(schedule):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.statistics.IntervalWarning)
        words = read(sl.paired(schedule, sl.simulate(schedule.trace, "fcfs"), "wait_time"))
    assert re.match(r"Difference -?[\d.]+ (s|min|h), ", words)  # of waits
    assert re.search(r" Ratio [\d.]+, ", words)


# Traces and schedules -----------------------------------------------------------------------------------


def test_a_trace_shows_what_it_is(schedule, hostile):
    words = read(schedule.trace)
    assert "a test from a model" in words
    assert "jobs 60" in words
    assert "nothing was left out or filled in" in words
    assert HOSTILE in read(hostile)
    assert "a stand-in, not the real log" in read(replace(hostile, source="stand-in"))
    assert "jobs 0" in read(replace(schedule.trace, table=schedule.trace.table.iloc[:0]))
    assert "effective load" in read(schedule.trace.with_speedup(sl.Downey(A="system", sigma=1)))


def test_what_was_left_out_and_filled_in_is_told_by_reason():
    trace = sl.read_sacct(example_path(), machine=128, partition=("debug", "short", "long"))
    words = read(trace)
    for told in trace.repairs["words"]:
        assert told in words
    assert "step" in words


@pytest.mark.parametrize(
    ("kinds", "summary"),
    [
        (["worth a look", "usual"], "worth a look: 5 jobs <b>"),
        (["usual", "usual"], "left out and filled in: nothing to worry about"),
    ],
)
def test_what_is_worth_a_look_is_told_from_what_is_usual(schedule, monkeypatch, kinds, summary):
    repairs = pd.DataFrame({"kind": kinds, "words": ["5 jobs <b>", "7 sizes filled in"], "share": [0.25, np.nan]})
    monkeypatch.setattr(sl.Trace, "repairs", repairs, raising=False)
    for shown in (schedule, schedule.trace):
        words = read(shown)
        assert f"{summary} of the work {kinds[0]} 5 jobs <b> 25 % usual 7 sizes filled in" in words


def test_a_schedule_shows_machine_and_queue(schedule, hostile):
    page = Page(schedule._repr_html_())
    assert page.tags.count("svg") == 3  # the picture and its two areas
    words = read(schedule)
    assert words.startswith("EASY on a test 60 jobs on 4 processors, offered load ")
    for said in ("processors in use", "of 4 (dashed)", "jobs queued", "mean wait", "utilization"):
        assert said in words
    assert "overrun" not in words
    assert "overrun extend; events each" in read(sl.simulate(schedule.trace, "easy", overrun="extend", events="each"))
    assert HOSTILE in read(sl.simulate(hostile, "easy"))


def test_the_picture_has_the_means_of_the_timeline():
    time, used = np.array([0, 10, 30, 40]), np.array([2, 4, 0, 0])
    assert show.means(time, used, bins=4).tolist() == [2, 4, 4, 0]
    assert show.means(time, used, bins=2).tolist() == [3, 2]


def test_the_picture_fits_any_width_with_text_of_12_px():
    drawn = show.picture([0, 50, 100], [1, 2, 2], [0, 1, 1], 2, ("0 s", "100 s"))
    assert 'width="100%"' in drawn
    assert 'font-size="12"' in drawn
    outer = drawn[drawn.index("<svg") :]
    assert "viewBox" not in outer[: outer.index(">")]  # which would make the text smaller on a phone


def test_a_schedule_of_an_instant_has_no_picture():
    words = read(sl.simulate(trace_of([(0, 0, 0, 1)], 2), "fcfs"))
    assert "processors in use" not in words
    assert "FCFS" in words


def test_a_recorded_schedule_says_what_it_breaks():
    crowded = trace_of([(0, 10, 10, 3), (5, 10, 10, 3)], 4)
    log = replace(crowded, table=crowded.jobs.assign(wait_time=[0, 1]), source="file")
    words = read(sl.recorded(log))
    assert "log on a test" in words
    assert "up to 6 processors are held, the machine has 4" in words
    assert "overrun" not in words


def test_sites_show_each_site():
    traces = [sl.model_trace("lublin", jobs=60, machine=32, seed=seed) for seed in (1, 2)]
    swept = [trace.with_parameter_sweeps(0.5, min_procs=2) for trace in traces]
    sites = sl.simulate_sites(swept, "ojs", speeds=(2, 1))
    words = read(sites)
    assert words.startswith("OJS at 2 sites, speeds 2, 1")
    assert words.count("processors in use") == 2
    assert "processors in use" in read(sites[0])
    assert not LONG.search(repr(sites.metrics(by="site")))


@pytest.mark.traces
def test_a_bare_cell_is_fast():
    schedule = sl.simulate(sl.load_trace("CTC-SP2-1996"), "easy")
    schedule._repr_html_()
    begin = time.process_time()
    shown = schedule._repr_html_()
    assert time.process_time() - begin < 0.3
    assert len(shown) < 20_000
