"""Every measure against a plain loop written from its definition (specification, sections 1.2 and 1.3)."""

import math
import re
from dataclasses import replace
from itertools import pairwise
from statistics import stdev

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workloads import examples, trace_of, workloads

import schedlab as sl
from schedlab import metrics

pytestmark = [pytest.mark.reduced, pytest.mark.tables]

SCHEMES = st.sampled_from(["fcfs", "easy", "easy-sjf", "conservative"])
FEW = examples(80)  # drawing a schedule is slow
PER_JOB = ["wait_time", "turnaround", "slowdown", "bounded_slowdown", "per_processor_slowdown"]


@st.composite
def schedules(draw, most=14):
    """Draw a schedule of jobs with ties, zero lengths and overruns, some on a larger machine than its own."""
    jobs, procs = draw(workloads(most=most))
    jobs = [job._replace(run=job.run + draw(st.sampled_from([0, 0, 4]))) for job in jobs]
    overrun = draw(st.sampled_from(["kill", "extend"]))
    larger = procs + draw(st.sampled_from([0, 0, 2]))
    shift = draw(st.sampled_from([0, 10**9]))
    trace = trace_of([job._replace(submit=job.submit + shift) for job in jobs], procs)
    return sl.simulate(trace, draw(SCHEMES), machine=larger, overrun=overrun)


class Plain:
    """A schedule as lists: job by job submit, start, end, run, procs."""

    def __init__(self, schedule):
        table = schedule.trace.jobs
        estimate = table["requested_time"].tolist()
        logged = table["run_time"].tolist()
        self.submit = table["submit_time"].tolist()
        self.procs = table["requested_procs"].tolist()
        kill = schedule.overrun == "kill"
        self.run = [min(r, e) if kill else r for r, e in zip(logged, estimate, strict=True)]
        self.killed = [kill and r > e for r, e in zip(logged, estimate, strict=True)]
        self.start = schedule.start.tolist()
        self.end = [s + r for s, r in zip(self.start, self.run, strict=True)]
        self.n = len(self.start)
        self.machine = schedule.machine.procs

    def intervals(self):
        """Return (begin, end, processors in use, queued jobs) between any two neighbouring events."""
        times = sorted({*self.submit, *self.start, *self.end})
        for begin, end in pairwise(times):
            used = sum(self.procs[j] for j in range(self.n) if self.start[j] <= begin < self.end[j])
            yield begin, end, used, [j for j in range(self.n) if self.submit[j] <= begin < self.start[j]]


def naive_slowdown(turnaround, run):
    if run > 0:
        return turnaround / run
    return math.inf if turnaround > 0 else 1.0


def naive_per_job(plain, j, tau):
    turnaround, run = plain.end[j] - plain.submit[j], plain.run[j]
    return {
        "wait_time": plain.start[j] - plain.submit[j],
        "turnaround": turnaround,
        "slowdown": naive_slowdown(turnaround, run),
        "bounded_slowdown": max(1, turnaround / max(run, tau)),
        "per_processor_slowdown": max(1, turnaround / (plain.procs[j] * max(run, tau))),
    }


# Per job ------------------------------------------------------------------------------------------------
@FEW
@given(schedules())
def test_columns_of_each_job(schedule):
    plain, table = Plain(schedule), schedule.jobs
    assert table.index.equals(schedule.trace.jobs.index)
    assert table["killed"].tolist() == plain.killed
    for column, expected in [
        ("submit_time", plain.submit),
        ("start_time", plain.start),
        ("end_time", plain.end),
        ("run_time", plain.run),
        ("procs", plain.procs),
    ]:
        assert table[column].tolist() == expected
        assert table[column].dtype == np.int64
    for j in range(plain.n):
        for column, expected in naive_per_job(plain, j, 10).items():
            if column in table:
                assert table[column].iloc[j] == pytest.approx(expected)


@FEW
@given(schedules(), st.sampled_from([1, 10, 60, 0.5]))
def test_averages_are_over_jobs(schedule, tau):
    plain, measured = Plain(schedule), schedule.metrics(tau=tau)
    each = [naive_per_job(plain, j, tau) for j in range(plain.n)]
    for name in PER_JOB:
        assert measured[name] == pytest.approx(sum(job[name] for job in each) / plain.n)
    waits = sorted(job["wait_time"] for job in each)
    middle = waits[(plain.n - 1) // 2], waits[plain.n // 2]
    assert measured["median_wait_time"] == sum(middle) / 2
    below = 0.95 * (plain.n - 1)  # linear between the two jobs around the place
    low, high = waits[math.floor(below)], waits[math.ceil(below)]
    assert measured["p95_wait_time"] == pytest.approx(low + (high - low) * (below - math.floor(below)))
    assert measured["max_wait_time"] == waits[-1]
    assert measured["killed"] == sum(plain.killed)
    areas = [run * procs for run, procs in zip(plain.run, plain.procs, strict=True)]
    weighted = sum(job["turnaround"] * area for job, area in zip(each, areas, strict=True))
    expected = weighted / sum(areas) if sum(areas) else math.nan
    assert measured["area_weighted_turnaround"] == pytest.approx(expected, nan_ok=True)
    assert measured["jobs"] == plain.n
    assert measured.name == str(schedule.scheme)


@given(st.lists(st.integers(0, 50), min_size=1), st.integers(0, 20), st.sampled_from([1, 3, 7.5, 60]))
def test_the_throughput_of_whole_periods_varies(ends, begin, period):
    ends = [begin + end for end in ends]
    until, counts, start = max(ends), [], begin
    while start + period <= until:
        counts.append(sum(start <= end < start + period for end in ends))
        start += period
    found = metrics.throughput_deviation(np.array(ends), begin, until, period)
    if len(counts) < 2:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(stdev(counts), abs=1e-12)


def test_throughput_of_more_days_than_memory_has_room_for():
    ends, count = np.array([0.0, 10.0, 1e15]), int(1e15 // metrics.DAY)
    expected = math.sqrt((4 - 4 / count) / (count - 1))  # two on the first day, none on the others
    assert metrics.throughput_deviation(ends, 0, 1e15, metrics.DAY) == pytest.approx(expected)


def test_throughput_by_day_and_week_of_all_and_by_class():
    hour, day = 3600, 86_400
    # Ends on days 0, 0, 1 and 20 after the first submission, which is not at midnight; the last day is cut short.
    jobs = [(5 * hour + submit, run, run, procs) for submit, run, procs in [(0, hour, 1), (0, hour, 2), (day, hour, 1)]]
    schedule = sl.simulate(trace_of([*jobs, (5 * hour + 20 * day, hour, hour, 1)], 4), "fcfs")
    measured, by = schedule.metrics(), schedule.metrics(by="procs")
    assert measured["throughput_sd_day"] == pytest.approx(stdev([2, 1, *[0] * 18]))
    assert measured["throughput_sd_week"] == pytest.approx(stdev([3, 0]))
    assert by["throughput_sd_day"].tolist() == pytest.approx([stdev([1, 1, *[0] * 18]), stdev([1, *[0] * 19])])
    assert by["throughput_sd_week"].tolist() == pytest.approx([stdev([2, 0]), stdev([1, 0])])
    whole = schedule.metrics(by=pd.Series("all", schedule.jobs.index)).loc["all"]
    assert whole["throughput_sd_day"] == pytest.approx(measured["throughput_sd_day"])


def test_turnaround_weighted_by_area_by_hand():
    # The second job waits 100 s for all processors, the third 100 s more.
    schedule = sl.simulate(trace_of([(0, 100, 100, 2), (0, 100, 100, 3), (0, 10, 10, 1)], 3), "fcfs")
    assert schedule.end.tolist() == [100, 200, 210]
    assert schedule.metrics()["area_weighted_turnaround"] == (100 * 200 + 200 * 300 + 210 * 10) / 510
    by = schedule.metrics(by={"procs": [0, 2, 3, 4, 9]})["area_weighted_turnaround"]
    assert by.tolist() == pytest.approx([210, 100, 200, math.nan], nan_ok=True)
    # Times and areas whose products exceed 64 bits.
    assert metrics.area_weighted_turnaround(np.array([10**10, 10**10]), np.array([10**12, 10**12])) == 10**10


def test_slowdowns_by_hand():
    assert metrics.slowdown(5, 10) == 0.5  # a run time may be the original one (Kurian), the job a faster one
    assert metrics.bounded_slowdown(30, 5) == 3.0  # 10 s in place of 5
    assert metrics.bounded_slowdown(30, 5, tau=60) == 1.0
    waited = pd.Series([30, 12], index=[7, 8])
    assert metrics.slowdown(waited, pd.Series([10, 12], index=[7, 8])).to_dict() == {7: 3.0, 8: 1.0}


def test_a_job_of_length_zero_is_slowed_without_limit_if_it_waited():
    assert metrics.slowdown(np.array([0, 5]), np.array([0, 0])).tolist() == [1.0, math.inf]
    assert metrics.bounded_slowdown(np.array([0, 5, 20]), np.array([0, 0, 0])).tolist() == [1.0, 1.0, 2.0]
    schedule = sl.simulate(trace_of([(0, 5, 5, 1), (0, 0, 0, 1), (9, 0, 0, 1)], 1), "fcfs")
    assert schedule.jobs["slowdown"].tolist() == [1.0, math.inf, 1.0]
    assert schedule.metrics()["slowdown"] == math.inf
    assert schedule.metrics()["bounded_slowdown"] == 1.0
    assert schedule.metrics(by=schedule.jobs["run_time"])["slowdown"].to_dict() == {0: math.inf, 5: 1.0}


@pytest.mark.parametrize("tau", [0, -10, math.nan])
def test_tau_is_a_positive_number(tau):
    schedule = sl.simulate(trace_of([(0, 5, 5, 1)], 1))
    with pytest.raises(ValueError, match=f"tau must be greater than 0, got {tau}"):
        schedule.metrics(tau=tau)


# The whole machine --------------------------------------------------------------------------------------
@FEW
@given(schedules())
def test_makespan_throughput_and_loads(schedule):
    plain, measured = Plain(schedule), schedule.metrics()
    makespan = max(plain.end) - min(plain.submit)
    span = max(plain.submit) - min(plain.submit)
    area = sum(r * p for r, p in zip(plain.run, plain.procs, strict=True))
    assert measured["makespan"] == makespan
    if makespan:
        assert measured["throughput"] == pytest.approx(plain.n / (makespan / 3600))
        assert measured["utilization"] == pytest.approx(area / (plain.machine * makespan))
    else:
        assert math.isnan(measured["throughput"])
        assert math.isnan(measured["utilization"])
    load = area / (plain.machine * span) if span else math.inf
    assert measured["offered_load"] == pytest.approx(load)
    assert measured["effective_load"] == pytest.approx(load)


@FEW
@given(schedules(), st.integers(-3, 30), st.integers(1, 30))
def test_utilization_of_a_window(schedule, begin, length):
    plain = Plain(schedule)
    first, last = plain.submit[0], plain.submit[-1]

    def naive(begin, end):
        held = 0
        for second in range(begin, end):  # all times are whole seconds
            held += sum(plain.procs[j] for j in range(plain.n) if plain.start[j] <= second < plain.end[j])
        return held / (plain.machine * (end - begin))

    stated = first + begin, first + begin + length
    assert schedule.metrics(window=stated)["utilization"] == pytest.approx(naive(*stated))
    if last > first:
        assert schedule.metrics(window="arrivals")["utilization"] == pytest.approx(naive(first, last))
    end = max(plain.end)
    if end > first:
        assert schedule.metrics(window="makespan")["utilization"] == pytest.approx(naive(first, end))
    for wrong in ("span", "all"):
        with pytest.raises(ValueError, match=f"unknown window '{wrong}'; known: makespan, arrivals, or"):
            schedule.metrics(window=wrong)


def test_utilization_of_half_a_second():
    held = metrics.utilization(np.array([0]), np.array([10]), np.array([2]), 4, (9.5, 10.5))
    assert held == pytest.approx(0.25)
    assert math.isnan(metrics.utilization(np.array([0]), np.array([10]), np.array([2]), 4, (5, 5)))


def naive_pile_up(plain, mean):
    """Return the length of the longest pile-up: from above the mean until at half of it."""
    longest, began = 0, None
    for begin, _, _, queue in plain.intervals():
        if began is not None and len(queue) <= mean / 2:
            longest, began = max(longest, begin - began), None
        if began is None and len(queue) > mean:
            began = begin
    return longest if began is None else max(longest, max(plain.end) - began)


@FEW
@given(schedules())
def test_loss_of_capacity_and_queue(schedule):
    plain, measured = Plain(schedule), schedule.metrics()
    lost = waited = longest = 0
    for begin, end, used, queue in plain.intervals():
        wanted = sum(plain.procs[j] for j in queue)
        lost += min(wanted, plain.machine - used) * (end - begin) if queue else 0
        waited += len(queue) * (end - begin)
        longest = max(longest, len(queue))
    makespan = max(plain.end) - min(plain.submit)
    assert measured["loss_of_capacity"] == lost
    assert measured["max_queue"] == longest
    assert measured["longest_pile_up"] * makespan == pytest.approx(naive_pile_up(plain, waited / max(makespan, 1)))
    if makespan:
        assert measured["loss_of_capacity_share"] == pytest.approx(lost / (plain.machine * makespan))
        assert 0 <= measured["loss_of_capacity_share"] < 1
        assert measured["mean_queue"] == pytest.approx(waited / makespan)
        # Little's law: the mean queue is the rate of arrivals times the mean wait.
        assert measured["mean_queue"] == pytest.approx(plain.n / makespan * measured["wait_time"])
    else:
        assert math.isnan(measured["loss_of_capacity_share"])
        assert measured["mean_queue"] == 0


@FEW
@given(schedules())
def test_the_timeline_is_what_the_loop_sees(schedule):
    plain, timeline = Plain(schedule), schedule.timeline()
    rows = [(time, used, len(queue), sum(plain.procs[j] for j in queue)) for time, _, used, queue in plain.intervals()]
    last = max(plain.end)
    assert list(timeline.itertuples(index=False, name=None)) == [*rows, (last, 0, 0, 0)]


def test_loss_of_capacity_by_hand():
    # Ten processors: six held until 100, the head wants eight, so four idle ones are lost from 10 to 100;
    # then the head holds eight, and two are lost to the job of five behind it until 150.
    jobs = [(0, 100, 100, 6), (10, 50, 50, 8), (20, 10, 10, 5)]
    schedule = sl.simulate(trace_of(jobs, 10), "fcfs")
    assert schedule.start.tolist() == [0, 100, 150]
    measured = schedule.metrics()
    assert measured["loss_of_capacity"] == 4 * 90 + 2 * 50
    assert measured["loss_of_capacity_share"] == pytest.approx(460 / (10 * 160))
    assert measured["mean_queue"] == pytest.approx((90 + 130) / 160)
    assert measured["max_queue"] == 2


# Classes ------------------------------------------------------------------------------------------------
ORDERED = {
    "kurian": ["SN", "SW", "LN", "LW"],
    "sabin": ["tiny", "200-3,200", "3,200-100,000", "100,000-2,000,000", "over 2,000,000"],
    "size": ["1", "2", "3-4", "5-8", "9-16", "17-32", "33-64"],
}
AT_THE_EDGES = {  # run time, processors, and the place of the class
    "kurian": [(3600, 32, 3), (3599, 31, 0), (3599, 32, 1), (3600, 31, 2)],
    "sabin": [
        *[(1_000_000, 2, 4), (199, 1, 0), (100, 2, 1), (3199, 1, 1), (100, 32, 2), (3200, 1, 2), (99_999, 1, 2)],
        *[(50_000, 2, 3), (1_999_999, 1, 3)],
    ],
    "size": [
        *[(5, 64, 6), (5, 1, 0), (5, 2, 1), (5, 3, 2), (5, 4, 2), (5, 5, 3), (5, 8, 3), (5, 9, 4), (5, 16, 4)],
        *[(5, 17, 5), (5, 33, 6)],
    ],
}


@pytest.mark.parametrize("by", ORDERED)
def test_classes_at_their_edges(by):
    names = ORDERED[by]
    jobs = [(submit, run, run + 60, procs) for submit, (run, procs, _) in enumerate(AT_THE_EDGES[by])]
    schedule = sl.simulate(trace_of(jobs, 64), "fcfs")
    expected = [names[place] for *_, place in AT_THE_EDGES[by]]
    assert metrics.classes(schedule.jobs, by).tolist() == expected
    measured = schedule.metrics(by=by)["jobs"]
    assert measured.to_dict() == {name: expected.count(name) for name in names}
    assert measured.index.tolist() == names  # in this order, whichever class comes first


@pytest.mark.parametrize("widest", [1, 2, 3, 4, 7, 8, 9, 1000, 1024])
def test_size_classes_end_with_the_widest_job(widest):
    schedule = sl.simulate(trace_of([(0, 1, 1, 1), (1, 1, 1, widest)], 1024))
    names = schedule.metrics(by="size").index.tolist()
    assert names[:3] == ["1", "2", "3-4"][: len(names)]
    assert schedule.metrics(by="size")["jobs"].sum() == 2
    low, _, high = names[-1].rpartition("-")
    assert int(low or high) <= max(widest, 2) <= int(high)


def test_a_table_of_measures_has_heads_in_words():
    measured = sl.simulate(trace_of([(0, 7200, 7200, 4), (0, 3600, 3600, 4)], 4)).metrics(by="size")
    shown = metrics.MeasureTable(measured[["jobs", "max_wait_time"]].assign(own=1))._repr_html_()
    assert "max_wait_time" not in shown
    assert all(words in shown for words in ("longest wait", "2 h", "own"))


def test_sabin_classes_are_those_of_the_log_whatever_the_load():
    trace = trace_of([(0, 100, 100, 1), (50, 200, 200, 1), (400, 100, 100, 1)], 2)
    schedule = sl.simulate(trace.scale(20.0))
    assert schedule.jobs["run_time"].min() >= 2000
    assert schedule.metrics(by="sabin")["jobs"].tolist() == [2, 1, 0, 0, 0]


def labels(jobs):
    return ["odd" if number % 2 else "even" for number in jobs.index]


@FEW
@given(schedules(), st.sampled_from([*ORDERED, "procs", "queue", {"procs": [2, 4]}, labels]))
def test_classes_share_out_all_jobs_and_their_means_make_the_mean(schedule, by):
    plain, overall, measured = Plain(schedule), schedule.metrics(), schedule.metrics(by=by)
    assert measured["jobs"].sum() == plain.n
    assert measured["killed"].sum() == overall["killed"]
    assert measured["max_wait_time"].max() == overall["max_wait_time"]
    filled = measured[measured["jobs"] > 0]
    for name in PER_JOB:
        mean = (filled["jobs"] * filled[name]).sum() / plain.n
        assert mean == pytest.approx(overall[name])
    assert measured.columns.tolist() == [name for name in overall.index if name in measured.columns]
    assert measured.columns[:2].tolist() == ["jobs", "wait_time"]


@FEW
@given(schedules(), st.integers(1, 6))
def test_means_of_a_class_are_over_its_jobs(schedule, width):
    plain = Plain(schedule)
    mine = [naive_per_job(plain, j, 10) for j in range(plain.n) if plain.procs[j] == width]
    measured = schedule.metrics(by="procs")
    if not mine:
        assert width not in measured.index
        return
    for name in PER_JOB:
        assert measured.loc[width, name] == pytest.approx(sum(job[name] for job in mine) / len(mine))
    assert measured.loc[width, "jobs"] == len(mine)


@pytest.fixture
def schedule():
    return sl.simulate(trace_of([(0, 10, 20, 2), (5, 30, 25, 1), (5, 7, 7, 3), (20, 4, 9, 1)], 4))


def test_classes_of_a_column(schedule):
    measured = schedule.metrics(by="procs")
    assert measured["jobs"].to_dict() == {1: 2, 2: 1, 3: 1}
    assert measured.index.name == "procs"


def test_classes_by_edges_are_half_open_and_leave_nobody_out(schedule):
    measured = schedule.metrics(by={"procs": [1, 2, 3]})
    assert measured["jobs"].tolist() == [2, 1, 1]  # the last: the job of three, in no interval
    assert [(part.left, part.right, part.closed) for part in measured.index[:2]] == [(1, 2, "left"), (2, 3, "left")]
    assert math.isnan(measured.index[2])
    whole = schedule.metrics(by={"run_time": (0, 7, np.inf)})
    assert whole["jobs"].tolist() == [1, 3]


def test_classes_by_a_function_and_by_labels(schedule):
    expected = {"even": 2, "odd": 2}
    assert schedule.metrics(by=labels)["jobs"].to_dict() == expected
    assert schedule.metrics(by=lambda jobs: jobs["procs"] > 1)["jobs"].to_dict() == {False: 2, True: 2}
    series = pd.Series(["odd", "even", "odd", "even", "other"], index=[1, 2, 3, 4, 5]).iloc[::-1]
    assert schedule.metrics(by=series)["jobs"].to_dict() == expected
    some = schedule.metrics(by=series.drop(index=3))
    assert some["jobs"].tolist() == [2, 1, 1]
    assert some.index.tolist()[:2] == ["even", "odd"]
    ordered = pd.Categorical(["odd", "even", "odd", "even"], ["odd", "none", "even"])
    by_category = schedule.metrics(by=lambda jobs: ordered)
    assert by_category["jobs"].to_dict() == {"odd": 2, "none": 0, "even": 2}
    assert by_category.index.tolist() == ["odd", "none", "even"]


@pytest.mark.parametrize("unknown", ["colour", {"colour": [1, 2]}])
def test_unknown_classes_are_answered_with_known_ones(schedule, unknown):
    with pytest.raises(ValueError, match=r"unknown classes 'colour'; known: kurian, sabin, size, .*procs"):
        schedule.metrics(by=unknown)


@pytest.mark.parametrize("quantity", ["wait_time", "run_time", "slowdown", "start_time", "share"])
def test_a_quantity_is_refused_as_classes_and_the_way_out_works(schedule, quantity):
    table = schedule.trace.jobs.assign(share=[0.5, 1, 2, 0.25])
    schedule = replace(schedule, trace=replace(schedule.trace, table=table))
    words = f"'{quantity}' is a quantity, expected classes of jobs (kurian, sabin, size, user, group, ...)"
    with pytest.raises(ValueError, match=re.escape(words)) as raised:
        schedule.metrics(quantity)  # the first argument is `by`
    assert f"by={{'{quantity}': [low, ..., high]}} makes classes of it" in str(raised.value)
    assert ("metrics()['wait_time'] is the mean wait" in str(raised.value)) == (quantity == "wait_time")
    assert schedule.metrics(by={quantity: [0, 10**9]})["jobs"].tolist() == [4]
    assert len(schedule.metrics(by=schedule.jobs[quantity])) > 1


def test_a_measure_of_the_whole_is_refused_as_classes(schedule):
    words = r"'utilization' is a quantity, .*; metrics\(\)\['utilization'\] is the utilization$"
    with pytest.raises(ValueError, match=words):
        schedule.metrics("utilization")


@pytest.mark.parametrize("by", [None, "size"])
@pytest.mark.parametrize("warm_up", [1, "mser", 0.5])
def test_a_warm_up_without_intervals_is_refused(schedule, by, warm_up):
    words = f"^warm_up is {warm_up!r}, but measures are of all jobs; for intervals give confidence="
    with pytest.raises(ValueError, match=words):
        schedule.metrics(by=by, warm_up=warm_up)


@pytest.mark.parametrize("given", [{"by": "size"}, {"confidence": 0.9}])
def test_a_window_without_a_utilization_is_refused(schedule, given):
    with pytest.raises(ValueError, match="window is 'arrivals', but classes and intervals have no utilization"):
        schedule.metrics(window="arrivals", **given)
    with pytest.raises(ValueError, match="unknown window 'makespam'; known: makespan, arrivals, or .*; did you mean"):
        schedule.metrics(window="makespam", **given)


@pytest.mark.parametrize("odd", [["a", "b", "c", "d"], np.arange(4), 7])
def test_classes_of_another_kind_are_refused(schedule, odd):
    with pytest.raises(TypeError, match=r"classes are .*, expected a name"):
        schedule.metrics(by=odd)
