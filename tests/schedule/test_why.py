"""Why a job waited: against a naive twin, for all kinds of schedules, in words, and as a page."""

import random
import xml.etree.ElementTree as ET
from dataclasses import replace

import numba
import numpy as np
import pandas as pd
import pytest
import twin_why
import twins
from hypothesis import given
from hypothesis import strategies as st
from museum import OneByOne
from workloads import examples, trace_of, workloads

import schedlab as sl
from schedlab import show
from schedlab.workload.sacct import example_path

pytestmark = pytest.mark.reduced
compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="takes minutes")
EVENTS = st.sampled_from(["batched", "each"])
ITS_OWN = "#D55E00"
HOSTILE = "<img src=x onerror=alert(1)> & \"'"


def starts_of(twin, **settings):
    """Return a function that gives the starts of a twin alone."""
    return lambda jobs, procs, **more: twin(jobs, procs, **settings, **more)[0]


def simulated(rows, procs, scheme="easy", **more):
    return sl.simulate(trace_of(rows, procs), scheme, **more).validate()


def rows_of(why):
    return list(why.expected[["time", "expected_start"]].itertuples(index=False, name=None))


def waiting(schedule):
    """Return the numbers of the jobs that waited."""
    return schedule.trace.table.index[schedule.start > schedule.submit].tolist()


def one_of_those_that_waited(jobs, start, choice):
    """Return the position of one of the jobs that waited; of any, if none did."""
    waited = [j for j, job in enumerate(jobs) if start[j] > job.submit] or range(len(jobs))
    return waited[choice % len(waited)]


# What a job could expect, against the twin -----------------------------------------------------------------
ORDERS = st.sampled_from(["fcfs", "fcfs", "sjf", "lcfs", "wide", "xfactor", "f1"])
CHOICES = st.integers(0, 99)
OF_A_QUEUE = [  # with the twin, which gives starts
    (sl.FCFS(), twins.fcfs),
    (sl.EASY(), starts_of(twins.easy)),
    (sl.EASY(backfill="sjf"), starts_of(twins.easy, backfill="sjf")),
    (sl.DPSA(), starts_of(twins.dpsa)),
]
PASSES = [
    {"compression": "queue"},
    {"compression": "queue", "compress_on": "completion", "repeat": True},
    {"compression": "reservation"},
    {"compression": "none"},
    {"compression": "rebuild"},
]
WITH_RESERVATIONS = [(sl.Conservative(**passes), starts_of(twins.conservative, **passes)) for passes in PASSES]


@examples(800)
@given(
    st.one_of(
        st.tuples(workloads(), st.sampled_from(OF_A_QUEUE), st.just("kill")),
        st.tuples(workloads(), st.sampled_from(WITH_RESERVATIONS), st.just("kill")),
        st.tuples(workloads(overrun=True), st.sampled_from(OF_A_QUEUE), st.just("keep")),
    ),
    ORDERS,
    EVENTS,
    CHOICES,
    st.sampled_from([0, 1_000]),
)
def test_what_a_job_could_expect_is_its_twin_and_ends_with_its_start(drawn, order, events, choice, begin):
    (jobs, procs), (scheme, twin), overrun = drawn
    jobs = [job._replace(submit=begin + job.submit) for job in jobs]

    def ordered(some):
        return twin(some, procs, order=order, events=events)

    schedule = simulated(jobs, procs, replace(scheme, order=order), events=events, overrun=overrun)
    start = schedule.start.tolist()
    assert start == ordered(jobs)
    j = one_of_those_that_waited(jobs, start, choice)
    rows = rows_of(schedule.why(j + 1))
    assert rows == twin_why.expected(ordered, jobs, start, j)
    assert rows[-1][1] == start[j]


def told(rows, procs, job, scheme="easy", **more):
    """Return the rows of what a job could expect, with the news."""
    return list(simulated(rows, procs, scheme, **more).why(job).expected.itertuples(index=False, name=None))


def test_news_are_named():
    # Job 1 ends early at 4; until 3 job 3 expects the end of job 2, that comes before it.
    rows = [(0, 4, 10, 2), (1, 5, 5, 2), (2, 6, 6, 2), (3, 1, 1, 2)]
    assert told(rows, 2, 3, "fcfs") == [(2, 15, "it was submitted"), (4, 9, "job 1 ended 6 s early")]
    assert told(rows, 2, 3, "fcfs-sjf")[1] == (3, 16, "job 4 arrived")
    late = [(0, 9, 3, 1), (1, 5, 5, 1), (9, 1, 1, 1)]
    assert told(late, 1, 2, overrun="keep") == [
        (1, 3, "it was submitted"),
        (3, 4, "job 1 ran on past its estimate"),
        (9, 9, "job 1 ended 6 s past its estimated end and job 3 arrived"),
    ]


@pytest.mark.parametrize(
    ("rows", "overrun", "words"),
    [
        # What did not hold is not said to stand.
        ([(0, 50, 5, 1), (6, 1, 1, 1)], "keep", "That did not change."),
        # Jobs that start at its submission hold processors, and less than one processor is none.
        ([(0, 5, 5, 1), (0, 5, 5, 1)], "kill", "0 jobs held 0 of 1 processor,"),
        ([(0, 5, 5, 1), (0, 5, 5, 1)], "kill", "fewer than 1 "),
    ],
)
def test_what_is_not_so_is_not_said(rows, overrun, words):
    assert words not in str(simulated(rows, 1, overrun=overrun).why(2))


def test_who_comes_later_is_not_blamed_for_a_job_past_its_estimate():
    rows = [(0, 50, 5, 1), (6, 1, 1, 1), (20, 1, 1, 1)]
    assert "job 3 arrived" not in [news for *_, news in told(rows, 1, 2, overrun="keep")]


@pytest.mark.parametrize(
    ("rows", "overrun"), [([(0, 5, 6, 1), (1, 0, 9, 1)], "kill"), ([(0, 5, 9, 1), (1, 3, 0, 1)], "keep")]
)
def test_what_a_job_does_from_its_start_on_is_not_what_it_waited_for(rows, overrun):
    # Job 1 ends early at 5, and job 2 starts: it takes no time, or its estimate is over at once.
    _, (*_, news) = told(rows, 1, 2, overrun=overrun)
    assert "job 1 ended" in news
    assert "job 2" not in news


def test_all_kinds_of_news_of_an_instant_are_named():
    # Job 2 ends at 5, 1 s early, beside job 1; job 4 comes at 5, is shorter, and goes before job 3.
    rows = [(0, 20, 20, 1), (0, 5, 6, 1), (1, 4, 4, 2), (5, 3, 3, 2)]
    assert told(rows, 2, 3, "easy-sjf")[1:] == [(5, 23, "job 2 ended 1 s early and job 4 arrived")]


# Many news -------------------------------------------------------------------------------------------------
@pytest.fixture
def kth():
    return sl.load_trace("KTH-SP2-1996").head(600)


def both(schedule, job, monkeypatch):
    """Return what a job could expect by halves, and after each of the news."""
    by_halves = schedule.why(job).expected
    monkeypatch.setattr("schedlab.schedule.why.ALL", 10**9)
    after_each = schedule.why(job).expected
    monkeypatch.undo()
    return by_halves, after_each


@compiled
@pytest.mark.traces
def test_halving_finds_all_changes_of_what_only_comes_earlier(kth, monkeypatch):
    schedule = sl.simulate(kth, "conservative").validate()
    early = schedule.end[schedule.end < schedule.start + schedule.estimate]
    news = np.unique(np.append(schedule.submit, early))
    many = np.flatnonzero(np.searchsorted(news, schedule.start) - np.searchsorted(news, schedule.submit) > 64)[::3]
    assert many.size >= 4
    for place in many:
        by_halves, after_each = both(schedule, kth.table.index[place], monkeypatch)
        assert len(after_each) > 1
        assert after_each["expected_start"].is_monotonic_decreasing
        pd.testing.assert_frame_equal(by_halves, after_each)


@compiled
@pytest.mark.traces
def test_halving_finds_nothing_that_is_not_so(kth, monkeypatch):
    # Job 159 is overtaken again and again, and what it could expect comes back to what it was before.
    schedule = sl.simulate(kth, "easy-lcfs").validate()
    by_halves, after_each = both(schedule, 159, monkeypatch)
    assert 2 < len(by_halves) < len(after_each)
    at = np.searchsorted(after_each["time"], by_halves["time"], side="right") - 1
    assert (after_each["expected_start"].iloc[at].to_numpy() == by_halves["expected_start"]).all()
    assert by_halves.iloc[0].equals(after_each.iloc[0])
    assert by_halves["expected_start"].iloc[-1] == after_each["expected_start"].iloc[-1]


def test_where_looks_are_few_no_cause_is_made_up(monkeypatch):
    # 200 short jobs end early one after the other, so that job 201 can expect to start earlier and earlier.
    rows = [(0, 1, 9, 1)] * 200 + [(0, 5, 5, 1)]
    schedule = simulated(rows, 1, "conservative")
    every = schedule.why(201).expected
    monkeypatch.setattr("schedlab.schedule.why.MOST_JOBS", 0)
    why = schedule.why(201)
    found = why.expected
    assert len(found) <= 16 < len(every)
    assert set(found["news"][1:]) == {"several things had happened"}
    assert found[["time", "expected_start"]].merge(every).shape[0] == len(found)
    assert "That changed at least " in str(why)


@pytest.mark.parametrize("many", [64, 65, 66])
def test_so_many_news_and_one_more(many):
    # Job 1 holds the machine, job 2 waits, and others come one by one, with job 3 first of all behind it.
    rows = [(0, 90, 100, 1)] + [(1 + i, 1, 1, 1) for i in range(many)]
    schedule = simulated(rows, 1, "conservative")
    assert rows_of(schedule.why(2)) == [(1, 100), (90, 90)]
    assert schedule.why(many + 1).expected["news"].tolist() == ["it was submitted", "job 1 ended 10 s early"]


def test_few_simulations_find_the_one_change_of_many_news():
    runs = []

    class Counted(sl.Conservative):
        def simulate(self, case):
            runs.append(len(case))
            return super().simulate(case)

    # Job 3 waits for jobs 1 and 2; job 1 ends 100 s early, halfway through 400 arrivals.
    rows = [(0, 200, 300, 1), (1, 900, 900, 1), *((1 + i, 1, 1, 1) for i in range(400))]
    schedule = simulated(rows, 1, Counted())
    runs.clear()
    assert rows_of(schedule.why(3)) == [(1, 1_200), (200, 1_100)]
    assert len(runs) <= 2 + 9  # 2 ** 9 is above 400


# Who held the processors -----------------------------------------------------------------------------------
ANY = st.sampled_from(["fcfs", "easy", "easy-sjf", "conservative", "easy-lcfs"])


@examples(200)
@given(workloads(shortest=1, overrun=True), ANY, CHOICES)
def test_those_who_held_processors_are_its_twin(workload, scheme, choice):
    jobs, procs = workload
    schedule = simulated(jobs, procs, scheme, overrun="kill" if scheme == "conservative" else "keep")
    jobs = [job._replace(run=run) for job, run in zip(jobs, schedule.run.tolist(), strict=True)]
    j = one_of_those_that_waited(jobs, schedule.start, choice)
    why, start = schedule.why(j + 1), schedule.start.tolist()
    if any(job.run == 0 for job in jobs):  # cut at an estimate of 0: it held nothing
        return
    table, expected = why.others, twin_why.others(jobs, start, j)
    assert dict(zip(table.index - 1, zip(table["which"], table["held"], strict=True), strict=True)) == expected
    assert table["held"].is_monotonic_decreasing
    for number, one in table.iterrows():
        job = jobs[number - 1]
        begin = start[number - 1]
        assert (one["procs"], one["start_time"], one["end_time"]) == (job.procs, begin, begin + job.run)
    timeline = schedule.timeline()
    edges = np.clip(np.append(timeline["time"], start[j]), schedule.submit[j], start[j])
    assert table["held"].sum() == (timeline["used"] * np.diff(edges)).sum()
    check_words(why, jobs, procs, start, j)


def check_words(why, jobs, procs, start, j):
    """Compare the sentences on free processors and on later jobs with the twin."""
    words, free = str(why).splitlines(), twin_why.free(jobs, procs, start, j)
    few, enough = (sum((each < jobs[j].procs) == too_few for each in free) for too_few in (True, False))
    assert few + enough == start[j] - jobs[j].submit
    said = [f"For {show.duration(seconds)} " for seconds in (few, enough) if seconds]
    told = [line for line in words if line.startswith("For ")]
    assert [line[: len(start)] for line, start in zip(told, said, strict=True)] == said
    assert [" enough were free, " in line for line in told] == [False] * bool(few) + [True] * bool(enough)
    later = [i for i in range(j + 1, len(jobs)) if start[i] < start[j]]
    assert any("submitted later started before it" in line for line in words) == bool(later)


def test_a_job_of_no_length_holds_nothing():
    schedule = simulated([(0, 5, 5, 1), (1, 5, 5, 2), (2, 0, 0, 1)], 2)
    assert schedule.why(2).others.index.tolist() == [1]


def test_what_is_worked_by_hand():
    rows = [(0, 10, 12, 3), (1, 4, 4, 4), (2, 5, 5, 1), (3, 9, 9, 1)]
    why = simulated(rows, 4).why(2)
    assert why.others["which"].to_dict() == {1: "ran already", 3: "submitted after it"}
    assert why.others["held"].to_dict() == {1: 27, 3: 5}
    assert why.others.index.name == "job_number"
    assert str(why).splitlines() == [
        "Job 2 (4 processors, estimate 4 s) waited 9 s, from 1 s to 10 s.",
        "When it was submitted, 1 job held 3 of 4 processors, and no other job waited.",
        "For 9 s fewer than 4 processors were free.",
        "1 job submitted later started before it (3).",
        "When it was submitted, it could expect to start at 12 s.",
        "That changed once: at 10 s it could start at once, as job 1 ended 2 s early.",
        "It started in its turn.",
    ]
    assert repr(why) == str(why)


def test_processors_are_kept_for_nobody_where_nobody_else_waits():
    # Job 1 ends at 4, and job 2 keeps its reservation for 10.
    schedule = simulated([(0, 4, 10, 4), (1, 5, 5, 4)], 4, sl.Conservative(compression="none"))
    assert schedule.start.tolist() == [0, 10]
    assert "other jobs" not in str(schedule.why(2))


# All kinds of schedules ------------------------------------------------------------------------------------
ROWS = [
    (100, 20, 25, 3),
    (101, 30, 30, 4),
    (101, 5, 9, 1),
    (102, 0, 3, 2),
    (103, 8, 8, 4),
    (103, 4, 6, 2),
    (104, 2, 2, 1),
    (118, 7, 9, 2),
]
OVER = [(submit, run + 4 * (i % 3 == 0), estimate, procs) for i, (submit, run, estimate, procs) in enumerate(ROWS)]


class FirstFit(sl.Scheme):
    """Start whatever fits."""

    def decide(self, state):
        """As of `Scheme`."""
        for job in self.sort(state):
            if job.procs <= state.free:
                state.start(job)

    def sort(self, state):
        """Return the jobs in the order in which they are tried."""
        return state.queue


class Drawn(FirstFit):
    """Try the jobs in an order that is another one in each simulation."""

    def sort(self, state):
        """As of `FirstFit`."""
        return sorted(state.queue, key=lambda job: random.random())


class Turning(FirstFit):
    """Turn the order of the queue over with each pass that it has ever made."""

    def __init__(self):
        self.passes = 0

    def sort(self, state):
        """As of `FirstFit`."""
        self.passes += 1
        return list(state.queue)[:: -1 if self.passes % 2 else 1]


def shared(rows=ROWS):
    """Make a trace whose jobs are of three users, the last of whom comes late."""
    trace = trace_of(rows, 4)
    return replace(trace, table=trace.table.assign(user_id=[1, 2, 1, 2, 1, 2, 1, 3]))


def moldable():
    rows = [(submit, max(run, 1), estimate, procs) for submit, run, estimate, procs in ROWS]
    return trace_of(rows, 4).with_speedup(sl.Downey(A="system", sigma=1))


def on_partitions(rows, scheme="easy"):
    """Make a schedule of rows (submit, run, estimate, procs, partition) on two partitions."""
    names = ["submit", "run", "estimate", "procs", "partition"]
    trace = sl.from_frame(pd.DataFrame(rows, columns=names), machine=8, **dict(zip(names, names, strict=True)))
    return sl.simulate(trace, scheme, machine={"short": 4, "long": 4})


def partitioned(begins=(0, 0)):
    """Make a schedule on two partitions whose first jobs come at these instants."""
    rows = [
        (begin + 10 + submit, run, limit, 4, where)
        for begin, where in zip(begins, ("short", "long"), strict=True)
        for submit, run, limit in ((0, 5, 9), (1, 6, 6), (2, 1, 1))
    ]
    return on_partitions(rows)


def on_tree(rows=ROWS, scheme="easy", overrun="kill", **more):
    wide = [(submit, run, estimate, 3 * procs) for submit, run, estimate, procs in rows]
    return simulated(wide, 16, scheme, machine=sl.KaryTree(k=4, n=2, **more), overrun=overrun)


KINDS = {
    "fcfs": lambda: simulated(ROWS, 4, "fcfs"),
    "easy": lambda: simulated(ROWS, 4),
    "each": lambda: simulated(ROWS, 4, events="each"),
    "extend": lambda: simulated(OVER, 4, overrun="extend"),
    "kill": lambda: simulated(OVER, 4, "conservative"),
    "sjbf": lambda: simulated(ROWS, 4, "easy-sjbf"),
    "dpsa": lambda: simulated(ROWS, 4, "dpsan"),
    "rebuild": lambda: simulated(ROWS, 4, sl.Conservative(compression="rebuild")),
    "reservations": lambda: simulated(ROWS, 4, sl.EASY(reservations=2)),
    "veto": lambda: simulated(ROWS, 4, sl.EASY(may_backfill=lambda estimate: estimate < 5)),
    "fairshare": lambda: sl.simulate(shared(), "easy-fairshare"),
    "multifactor": lambda: sl.simulate(shared(), "fcfs-multifactor"),
    "one of its users": lambda: sl.simulate(shared(), sl.EASY(order=lambda user_running, user_queued: user_running)),
    "tree": on_tree,
    "tree, fcfs": lambda: on_tree(scheme="fcfs"),
    "tree, block": lambda: on_tree(scheme=sl.EASY(shadow="block"), allocation="quasi-contiguous"),
    "tree, random": lambda: on_tree(allocation="random", seed=3),
    "iterative": lambda: sl.simulate(moldable(), "iterative"),
    "greedy": lambda: sl.simulate(moldable(), "greedy"),
    "fair shares": lambda: sl.simulate(moldable(), "shares"),
    "partitions": partitioned,
    "partitions, one later": lambda: partitioned((0, 50)),
    "of one's own": lambda: simulated(ROWS, 4, FirstFit()),
    "of one's own, whole": lambda: simulated(ROWS, 4, OneByOne()),
    "wider machine": lambda: simulated(ROWS, 4, machine=6),
    "some jobs": lambda: sl.simulate(trace_of(ROWS, 4).where("requested_procs > 1"), "easy"),
    "keep": lambda: simulated(OVER, 4, overrun="keep"),
    "tree, keep": lambda: on_tree(OVER, overrun="keep"),
    "tree, kill-backfilled": lambda: on_tree(OVER, overrun="kill-backfilled"),
    "one site": lambda: sl.simulate_sites([trace_of(ROWS, 4)], "easy")[0],
}
# For these, what jobs could expect need not be told.
OTHERS = {
    "clairvoyant": lambda: simulated(ROWS, 4, sl.EASY(order=lambda run_time: run_time)),
    "drawn": lambda: simulated(ROWS, 4, Drawn()),
    "turning": lambda: simulated(ROWS, 4, Turning()),
    "two sites": lambda: sl.simulate_sites([trace_of(ROWS, 4), trace_of(ROWS, 4)], "easy")[1],
}
COLUMNS = ["time", "expected_start", "news"]


def check(schedule, whole):
    """Check what holds for any job of any schedule; if `whole`, also that the last expected start is the actual one."""
    schedule.validate()
    for place, job in enumerate(schedule.trace.table.index):
        came, began, why = schedule.submit[place], schedule.start[place], schedule.why(job)
        assert why.job == job
        assert f"Job {job} (" in str(why).splitlines()[0]
        assert ("did not wait" in str(why)) == (came == began)
        assert (why.others["held"] >= 0).all()
        assert "nan" not in str(why)
        sl.charts.waited(why)
        table = why.expected
        assert table.columns.tolist() == COLUMNS
        if not len(table):
            assert not whole
            assert "it could expect to start" not in str(why)
            continue
        assert table["time"].iloc[0] == came
        assert table["news"].tolist()[0] == "it was submitted"
        assert "it was submitted" not in table["news"].tolist()[1:]
        assert table["time"].is_monotonic_increasing
        assert table["time"].iloc[-1] <= began
        assert (table["expected_start"].diff().iloc[1:] != 0).all()
        assert (table["expected_start"] >= table["time"]).all()
        assert not whole or table["expected_start"].iloc[-1] == began


@pytest.mark.parametrize("kind", [*KINDS, *OTHERS])
def test_any_job_of_any_schedule_could_expect_its_start_in_the_end_if_that_is_known(kind):
    schedule = (KINDS | OTHERS)[kind]()
    assert waiting(schedule)
    check(schedule, kind in KINDS)


def test_what_was_decided_step_by_step_cannot_be_asked_again():
    simulation = sl.steps(trace_of([(0, 5, 5, 1), (1, 5, 5, 1)], 1))
    for state in simulation:
        for job in state.queue:
            if state.fits(job):
                state.start(job)
    why = simulation.schedule.validate().why(2)
    assert why.expected.empty
    assert "What it could expect cannot be told: it was decided step by step, from outside." in str(why)


@pytest.mark.parametrize(
    "make",
    [
        OTHERS["two sites"],
        lambda: simulated([(0, 1, 9, 1), (0, 5, 5, 1)], 1, sl.FCFS(order=lambda run_time: run_time)),  # clairvoyant
        lambda: on_tree(OVER, overrun="kill", speedup=0.5),  # nobody knows where a job would run
        lambda: on_tree(OVER, overrun="keep", speedup=0.5),
        lambda: on_tree(OVER, overrun="kill", speedup=(0.5, 0.25)),
        lambda: on_tree(OVER, overrun="keep", speedup=(0.5, 0.25)),
    ],
)
def test_what_a_job_could_expect_is_not_said_where_nobody_knows(make):
    schedule = make()
    check(schedule, False)
    assert waiting(schedule)
    assert all(schedule.why(job).expected.empty for job in waiting(schedule))


def test_partitions_that_begin_later_tell_what_a_job_could_expect():
    schedule = partitioned((0, 50))
    later = schedule.trace.table.index[schedule.submit >= 60]
    early = [rows_of(schedule.why(job)) for job in schedule.trace.table.index[:3]]
    assert [[(a - 50, b - 50) for a, b in rows_of(schedule.why(job))] for job in later] == early


def test_how_a_job_of_a_partition_started_is_told_by_the_clock_of_the_whole():
    # By "f1", since the first submission of the trace, job 3 goes before job 4; since that of the partition, after it.
    rows = [(0, 1, 1, 1, "long"), (6, 2, 3, 3, "short"), (6, 7, 7, 4, "short"), (7, 6, 6, 4, "short")]
    schedule = on_partitions(rows, "easy-f1")
    assert schedule.start.tolist() == [0, 6, 8, 15]
    assert str(schedule.why(3)).endswith("It started in its turn.")


def test_an_order_that_counts_users_tells_what_a_job_could_expect():
    trace = trace_of([(0, 5, 5, 1), (0, 4, 4, 1), (1, 3, 3, 1)], 1)
    trace = replace(trace, table=trace.table.assign(user_id=[1, 1, 2]))
    schedule = sl.simulate(trace, sl.FCFS(order=lambda user_count, estimate: estimate * (3 - 2 * user_count)))
    assert schedule.start.tolist() == [0, 5, 9]
    assert rows_of(schedule.why(2)) == [(0, 5)]


def test_in_a_partition_only_its_own_jobs_count():
    schedule = partitioned()
    names = schedule.jobs["partition"]
    for job in waiting(schedule):
        why = schedule.why(job)
        assert set(names[why.others.index]) == {names[job]}
        assert "4 of 4 processors" in str(why)


def test_a_recorded_log_says_what_is_recorded_only():
    trace = trace_of([(100, 10, 8, 3), (101, 5, 5, 4), (102, 3, 3, 2), (103, 30, 60, 1)], 4)
    trace = replace(trace, table=trace.jobs.assign(wait_time=[0, 9, 13, 15]), source="file")
    schedule = sl.recorded(trace)
    check(schedule, False)
    assert all(schedule.why(job).expected.empty for job in trace.table.index)
    assert "For 10 s enough were free, but it did not get them." in str(schedule.why(4)).splitlines()


@pytest.mark.parametrize("rows", [[(0, 5, 5, 1)], [(7, 0, 0, 1)], [(7, 0, 9, 1)]])
def test_a_trace_of_one_job(rows):
    schedule = simulated(rows, 1)
    check(schedule, True)
    why = schedule.why(1)
    (submit, *_) = rows[0]
    assert rows_of(why) == [(submit, submit)]
    assert why.others.empty
    assert f"did not wait: it started at {submit} s, when it was submitted" in str(why)


@pytest.mark.parametrize("given", [99, 0, -1, "3", None, 3.5, np.int64(99), [1]])
def test_unknown_jobs(given):
    with pytest.raises(ValueError, match="^a test has no job .*; jobs are named by job_number$"):
        simulated(ROWS, 4).why(given)


def test_numbers_of_numpy_and_of_a_filtered_trace():
    schedule = KINDS["some jobs"]()
    last = schedule.trace.table.index[-1]
    assert type(schedule.why(np.int64(last)).job) is int
    with pytest.raises(ValueError, match="has no job 3"):
        schedule.why(3)


@pytest.mark.parametrize("scheme", ["ojs", "flooding"])
def test_sweeps_in_pieces(scheme):
    trace = sl.model_trace("lublin", jobs=30, machine=16, seed=1).with_parameter_sweeps(0.3)
    with pytest.raises(ValueError, match="^why needs jobs that run in one piece; .* may split them$"):
        sl.simulate(trace, scheme).why(1)


# In words, with and without dates --------------------------------------------------------------------------
@compiled
def test_a_log_with_dates():
    trace = sl.read_sacct(example_path(), machine=128, partition="long")
    schedule = sl.simulate(trace, "easy")
    check(schedule, True)
    job = max(waiting(schedule), key=lambda job: schedule.jobs["wait_time"][job])
    came = trace.at(int(schedule.jobs["submit_time"][job]))
    assert f"from {came:%Y-%m-%d %H:%M} to " in str(schedule.why(job))
    assert " s," not in str(schedule.why(job)).splitlines()[4]


def test_a_wait_within_a_minute_has_a_beginning_and_an_end():
    submit = pd.Series(pd.to_datetime(["2024-01-01 14:00:05", "2024-01-01 14:00:10"]))
    jobs = pd.DataFrame({"submit": submit, "run": [50, 5], "procs": [1, 1]})
    trace = sl.from_frame(jobs, machine=1, submit="submit", run="run", procs="procs")
    first = str(sl.simulate(trace, "fcfs").why(2)).splitlines()[0]
    begin, end = first.removesuffix(".").split(" from ")[1].split(" to ")
    assert begin != end


# The picture and the tables --------------------------------------------------------------------------------
@pytest.fixture
def displayed(monkeypatch):
    """Return a function that displays a `Why` as a notebook does, and returns the words and the chart."""

    def show(why):
        parts = []
        monkeypatch.setattr("IPython.display.display", parts.append)
        why._ipython_display_()
        before, chart, after = parts
        pages = [ET.fromstring(page.data) for page in (before, after)]
        assert not any(each.tag.endswith(("img", "script")) for page in pages for each in page.iter())
        return " ".join(text for page in pages for text in page.itertext()), chart

    return show


def drawn_rows(chart, column):
    """Return the rows of a chart's tables that have a column."""
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows if column in row]


def bars_of(why):
    return drawn_rows(sl.charts.waited(why), "low")


def own_bars(why):
    return [bar for bar in bars_of(why) if bar["color"] == "the job"]


def test_the_chart_shows_the_job_and_all_who_held_processors():
    why = simulated([(0, 700, 900, 3), (60, 800, 800, 4), (70, 500, 500, 1)], 4).why(2)
    bars = {bar["job"]: (bar["color"], bar["begin"], bar["end"], bar["low"], bar["high"]) for bar in bars_of(why)}
    assert bars == {
        1: ("ran already", 60, 700, 0, 3),
        3: ("submitted after it", 70, 570, 3, 4),
        2: ("the job", 700, 700 + 640, 0, 4),  # as long on as it waited
    }
    chart = sl.charts.waited(why)
    assert {row["words"] for row in drawn_rows(chart, "words")} == {"1", "2", "3"}
    assert {row["mark"]: row["instant"] for row in drawn_rows(chart, "mark")} == {"submitted": 60, "starts": 700}


@examples(50)
@given(workloads(shortest=1), ANY, CHOICES)
def test_bars_are_as_high_as_jobs_are_wide(workload, scheme, choice):
    jobs, procs = workload
    schedule = simulated(jobs, procs, scheme)
    j = one_of_those_that_waited(jobs, schedule.start, choice)
    why = schedule.why(j + 1)
    heights = {}
    for bar in bars_of(why):
        heights[bar["job"]] = heights.get(bar["job"], 0) + bar["high"] - bar["low"]
    assert {*why.others.index, j + 1} <= heights.keys()
    assert heights == {job: jobs[job - 1].procs for job in heights}


def test_names_are_written_as_text(displayed):
    schedule = simulated(ROWS, 4)
    hostile = replace(schedule.trace, name=HOSTILE, history=(HOSTILE,), source="file")
    schedule = replace(schedule, trace=hostile, traces=())
    for job in waiting(schedule):
        displayed(schedule.why(job))
    with pytest.raises(ValueError, match="has no job 99"):
        schedule.why(99)


def test_a_log_that_holds_more_than_there_is_stays_in_the_chart():
    trace = trace_of([(0, 10, 10, 3), (5, 10, 10, 3), (6, 20, 20, 2)], 4)
    trace = replace(trace, table=trace.jobs.assign(wait_time=[0, 0, 4]), source="file")
    why = sl.recorded(trace).why(3)
    assert len(own_bars(why)) == 1
    assert max(bar["high"] for bar in bars_of(why)) == 6
    assert "2 jobs held 6 of 4 processors" in str(why)


def test_long_tables_are_cut(displayed):
    rows = [(0, 5, 5, 1)] + [(1, 5, 5, 1)] * 12
    words, _ = displayed(simulated(rows, 1, "fcfs").why(13))
    assert "12 jobs held processors while it waited, the 8 that held most" in words


def test_a_job_of_no_length_has_no_bar():
    assert not own_bars(simulated([(0, 0, 0, 1), (0, 9, 9, 1)], 2).why(1))


def test_of_too_many_jobs_small_ones_are_left_out_of_the_chart_but_never_the_job_itself(monkeypatch):
    monkeypatch.setattr("schedlab.charts.waiting.MOST", 1)
    why = simulated([(0, 50, 50, 4), (1, 1, 1, 1)], 4, "fcfs").why(2)
    assert [bar["job"] for bar in bars_of(why)] == [2]
    assert "1 of 2 jobs, the smallest" in " ".join(sl.charts.waited(why).to_dict()["title"]["subtitle"])
