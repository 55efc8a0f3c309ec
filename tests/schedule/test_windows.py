"""Measures of a period, and of the jobs that count: what a loop over jobs and seconds gives, and what is refused."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workloads import examples, trace_of, workloads

import schedlab as sl

pytestmark = [pytest.mark.reduced, pytest.mark.tables]

COLUMNS = ["wait_time", "turnaround", "slowdown", "bounded_slowdown"]


@st.composite
def schedules(draw):
    """Draw a schedule of which some jobs count; None of the masks leaves out all."""
    jobs, procs = draw(workloads(shortest=1))
    trace = trace_of(jobs, procs)
    counted = draw(st.none() | st.lists(st.booleans(), min_size=len(jobs), max_size=len(jobs)).filter(any))
    if counted is not None:
        trace = replace(trace, table=trace.jobs.assign(counted=counted))
    return sl.simulate(trace, draw(st.sampled_from(["fcfs", "easy", "conservative"])))


WINDOWS = st.none() | st.tuples(st.integers(-2, 12), st.integers(1, 20)).map(lambda ends: (ends[0], sum(ends)))


def by_hand(schedule, window):
    """Count second by second in lists; all times are whole seconds."""
    table = schedule.jobs
    jobs = table[table.get("counted", pd.Series(True, table.index)).astype(bool)]
    if window is None:
        begin, end = int(jobs["submit_time"].min()), int(jobs["end_time"].max())
        arrivals = int(jobs["submit_time"].max()) - begin
    else:
        begin, end = window
        jobs = jobs[(jobs["submit_time"] >= begin) & (jobs["submit_time"] < end)]
        arrivals = end - begin
    used, queued, lost = [], [], 0
    for now in range(begin, end):
        runs = table[(table["start_time"] <= now) & (now < table["end_time"])]
        waits = table[(table["submit_time"] <= now) & (now < table["start_time"])]
        used.append(runs["procs"].sum())
        queued.append(len(waits))
        lost += min(schedule.machine.procs - used[-1], waits["procs"].sum())
    size, work = schedule.machine.procs, (jobs["run_time"] * jobs["procs"]).sum()
    ended = ((table["end_time"] >= begin) & (table["end_time"] <= end)).sum()
    return jobs, {
        "jobs": len(jobs),
        "utilization": sum(used) / (size * (end - begin)),
        "mean_queue": np.mean(queued),
        "max_queue": max(queued),
        "loss_of_capacity": lost,
        "loss_of_capacity_share": lost / (size * (end - begin)),
        "throughput": 3600 * ended / (end - begin),
        "offered_load": work / (size * arrivals) if arrivals else math.inf,
        "effective_load": work / (size * arrivals) if arrivals else math.inf,
        "makespan": jobs["end_time"].max() - jobs["submit_time"].min(),
    }


@examples(120)
@given(schedules(), WINDOWS)
def test_measures_are_of_the_jobs_that_count_and_of_the_machine_in_that_time(schedule, window):
    jobs, expected = by_hand(schedule, window)
    how = {} if window is None else {"window": window}
    measures = schedule.metrics(**how)
    for name, value in expected.items():
        assert measures[name] == pytest.approx(value, nan_ok=True), name
    for name in COLUMNS:
        assert measures[name] == pytest.approx(jobs[name].mean(), nan_ok=True)
    assert schedule.loss_of_capacity(**how) == expected["loss_of_capacity"]
    if len(jobs):
        table = schedule.metrics(by="requested_procs", **how)
        pd.testing.assert_series_equal(
            table["wait_time"], jobs.groupby("requested_procs")["wait_time"].mean(), check_names=False
        )
        assert table["jobs"].tolist() == jobs.groupby("requested_procs").size().tolist()
        assert schedule.users(window)["jobs"].sum() == len(jobs)
        assert schedule.gini("turnaround", window) == pytest.approx(sl.metrics.gini(jobs["turnaround"]), nan_ok=True)
        fair = sl.fair_start_miss(schedule, "fcfs", window=window)
        assert fair["jobs"] == len(jobs)
        assert sl.fairness_table(schedule, window=window)["mean_miss"].tolist() == [fair["mean_miss"]]


@pytest.fixture(scope="module")
def pair():
    """Two schedules of 600 jobs, of which the last 500 count."""
    trace = sl.model_trace("lublin", jobs=600, machine=64, seed=2).scale_load(0.6)
    trace = replace(trace, table=trace.jobs.assign(counted=np.arange(600) >= 100))
    return sl.simulate(trace, "easy"), sl.simulate(trace, "easy-sjf")


@pytest.mark.filterwarnings("ignore::schedlab.schedule.statistics.IntervalWarning")
def test_intervals_and_pairs_are_of_the_jobs_that_count(pair):
    easy, sjf = pair
    submit = easy.submit
    for window, first, last in ((None, 100, 600), ((submit[200], submit[500]), 200, 500)):
        how = {} if window is None else {"window": window}
        waits = easy.jobs["wait_time"].iloc[first:last]
        table = easy.metrics(confidence=0.95, **how)
        assert table.loc["wait_time", "mean"] == pytest.approx(waits.mean())
        by = easy.metrics(by="kurian", confidence=0.95, **how)["batches"]
        assert len(by) == 5 * easy.classes("kurian").iloc[first:last].nunique()
        difference = sl.paired(easy, sjf, "wait_time", window=window).difference
        assert difference.mean == pytest.approx((waits - sjf.jobs["wait_time"].iloc[first:last]).mean())
    assert easy.users()["jobs"].sum() == 500
    assert "500 jobs + 100 as lead-in, not counted on 64 processors" in repr(easy)
    assert "500 jobs + 100 as lead-in, not counted" in easy._repr_html_()


def test_sweeps_bounds_and_sites_are_of_the_jobs_that_count(pair):
    easy, _ = pair
    trace, window = easy.trace, (easy.submit[200], easy.submit[500])
    table = sl.sweep(trace, ["easy", "fcfs"], progress=False)
    assert table.loc[0, "wait_time"] == easy.metrics()["wait_time"]
    table = sl.sweep(trace, ["easy", "fcfs"], window=window, progress=False)
    assert table.loc[0, ["jobs", "wait_time"]].tolist() == easy.metrics(window=window)[["jobs", "wait_time"]].tolist()
    bounds = sl.lower_bounds(trace, rounds=0)
    pd.testing.assert_frame_equal(bounds, sl.lower_bounds(trace.without_lead_in(), rounds=0))
    assert (sl.gaps(easy, bounds)["above"] >= 0).all()
    sites = sl.simulate_sites([trace.with_parameter_sweeps(0)] * 2, "easy")
    assert sites.metrics()["jobs"] == 1000
    assert sites.metrics(by="kurian")["jobs"].sum() == 1000


def test_a_period_without_submissions_has_a_machine_but_no_jobs():
    schedule = sl.simulate(trace_of([(0, 20, 20, 2), (100, 5, 5, 1)], 4), "fcfs")
    measures = schedule.metrics(window=(10, 30))
    assert measures["utilization"] == 0.25
    assert measures["jobs"] == 0
    assert measures["offered_load"] == 0
    assert math.isnan(measures["wait_time"])
    assert math.isnan(measures["makespan"])
    for refused in (
        lambda: sl.fair_start_miss(schedule, "fcfs", window=(10, 30)),
        lambda: sl.paired(schedule, schedule, window=(10, 30)),
    ):
        with pytest.raises(ValueError, match="no job of a test was submitted from 10 to 30; the log has 0 to 100"):
            refused()


def test_windows_are_dates_of_the_machine():
    columns = {"submit": "submit", "run": "run", "procs": "procs"}
    submit = pd.to_datetime(["2024-03-04 22:00", "2024-03-05 01:00"])
    trace = sl.from_frame(pd.DataFrame({"submit": submit, "run": 7200, "procs": [1, 2]}), **columns, machine=4)
    schedule = sl.simulate(trace, "easy")
    window = ("2024-03-05", "2024-03-05 02:00")
    assert schedule.metrics(window=window)["utilization"] == 0.25
    assert schedule.metrics(window=window)["jobs"] == 1
    assert schedule.metrics(window=(7200, 14_400)).equals(schedule.metrics(window=window))
    assert schedule.timeline(window).to_numpy().tolist() == [[7200, 0, 0, 0], [10_800, 2, 0, 0], [14_400, 0, 0, 0]]


REFUSED = {
    (5, 5): "the window must begin before it ends, got 5 to 5",
    (9, 5): "the window must begin before it ends, got 9 to 5",
    (0, math.inf): "the window must begin before it ends, got 0 to inf",
    ("2024-03-04", "2024-03-05"): "a test has no UnixStartTime; give seconds, not the date '2024-03-04'",
    (1, 2, 3): "window is (1, 2, 3), expected (begin, end): dates, or seconds on the clock of the log",
    7: "window is 7, expected (begin, end): dates, or seconds on the clock of the log",
}


@pytest.mark.parametrize("window", REFUSED, ids=str)
@pytest.mark.parametrize(
    "measure",
    [
        lambda schedule, window: schedule.metrics(window=window),
        lambda schedule, window: schedule.metrics(by="size", window=window),
        lambda schedule, window: schedule.metrics(confidence=0.9, window=window),
        lambda schedule, window: schedule.users(window),
        lambda schedule, window: schedule.usage("user", window),
        lambda schedule, window: schedule.gini(window=window),
        lambda schedule, window: schedule.timeline(window),
        lambda schedule, window: schedule.loss_of_capacity(window),
        lambda schedule, window: sl.fair_starts(schedule, window=window),
        lambda schedule, window: sl.paired(schedule, schedule, window=window),
        lambda schedule, window: sl.sweep(schedule.trace, "fcfs", window=window, progress=False),
        lambda schedule, window: schedule.trace.offered_load(window=window),
        lambda schedule, window: schedule.trace.counted(window),
    ],
)
def test_what_is_no_window_is_refused_in_one_sentence(measure, window):
    schedule = sl.simulate(trace_of([(0, 20, 20, 2), (3, 5, 5, 1)], 4), "fcfs")
    with pytest.raises(ValueError) as error:
        measure(schedule, window)
    assert str(error.value) == REFUSED[window]


def test_jobs_and_a_window_are_not_both_given():
    schedule = sl.simulate(trace_of([(0, 20, 20, 2), (3, 5, 5, 1)], 4), "fcfs")
    with pytest.raises(ValueError, match="jobs and window both say which jobs are meant, give one of them"):
        sl.fair_starts(schedule, jobs=[1], window=(0, 5))
