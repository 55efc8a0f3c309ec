"""The edges of a log: what was in the system when a part begins is simulated and not counted; notes on both ends."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workloads import examples, trace_of, workloads

import schedlab as sl
from schedlab.workload import edges
from schedlab.workload.swf import Header

DAY, WEEK = 86_400, 604_800
MONDAY = 1_709_510_400  # 2024-03-04 00:00 UTC

# On 4 processors (submit, run, estimate, procs), and the recorded waits: at second 50 job 1 has ended, 2 and 3 run, and
# 4 waits until 60; job 5 has no recorded wait.
JOBS = [
    (0, 40, 40, 2),
    (10, 80, 80, 1),
    (20, 30, 40, 3),
    (45, 20, 20, 2),
    (46, 90, 90, 1),
    (50, 10, 10, 1),
    (70, 5, 5, 4),
]
WAITS = [0, 5, 20, 15, -1, 0, 10]


def log_of(jobs=JOBS, waits=WAITS, procs=4, **facts):
    """Make a trace of a log that records these waits."""
    trace = trace_of(jobs, procs)
    table = trace.jobs.assign(wait_time=waits)
    header = Header((f"; UnixStartTime: {MONDAY}",))
    return replace(trace, table=table, **{"name": "a log", "source": "file", "header": header, **facts})


def rows(trace):
    """Return (number, submit, wait, counted) of each job."""
    return [*zip(trace.jobs.index, trace.jobs["submit_time"], trace.jobs["wait_time"], trace.counted(), strict=True)]


# A lead-in ----------------------------------------------------------------------------------------------
@pytest.mark.tables
def test_what_was_in_the_system_leads_in():
    part = log_of().between(50, 100, lead=0)
    running = [(2, 15, 0, False), (3, 40, 0, False)]  # submitted when they started
    assert rows(part) == [*running, (4, 45, 15, False), (6, 50, 0, True), (7, 70, 10, True)]
    assert part.history == ("submitted from 50 to 100; 3 jobs before that as lead-in, not counted",)
    assert part.altered == ""
    assert part.jobs["counted"].tolist() == part.counted().tolist()
    assert len(part) == 5
    assert repr(part).startswith(
        "<Trace a log (file): 2 jobs + 3 as lead-in, not counted on 4 processors, offered load"
    )
    assert "2 + 3 as lead-in, not counted" in part._repr_html_()
    assert part.work() == 10 + 20
    assert part.offered_load() == log_of().between(50, 100, lead=False).offered_load() == 30 / (4 * 20)


@pytest.mark.tables
@pytest.mark.parametrize(
    ("begin", "since"),
    [
        (0, 0),
        (5, 5),
        (10, 10),
        (11, 10),
        (15, 10),
        (16, 16),
        (21, 20),
        (40, 20),
        (41, 41),
        (46, 45),
        (60, 45),
        (65, 65),
    ],
)
def test_a_lead_in_begins_when_nobody_waited_for_the_last_time(begin, since):
    log = log_of()
    assert edges.lead_begins(log, begin, None) == since
    assert rows(log.between(begin, 100)) == rows(log.between(begin, 100, lead=begin - since))
    waits = [(at, at + max(wait, 0)) for at, wait in zip(log.jobs["submit_time"], log.jobs["wait_time"], strict=True)]
    quiet = [now for now in range(begin + 1) if not any(submit < now <= start for submit, start in waits)]
    assert quiet[-1] == since


@pytest.mark.tables
def test_a_lead_in_that_is_chosen_has_at_most_four_weeks():
    jobs = [(day * DAY, 60, 60, 1) for day in range(100)]
    waits = [95 * DAY, *[5] * 99]  # the first is held for months
    assert edges.lead_begins(log_of(jobs, waits), 90 * DAY, None) == 62 * DAY
    assert log_of(jobs, waits).between(90 * DAY, 91 * DAY).counted().tolist() == [False] * 29 + [True]


@pytest.mark.tables
@pytest.mark.parametrize("lead", [35, "35 s", "35s", "0 days 00:00:35", pd.Timedelta("35s"), "2024-03-04 00:00:15"])
def test_a_longer_lead_in_keeps_submissions_and_what_was_there_before_them(lead):
    part = log_of().between(50, 100, lead=lead)
    numbers, counted = part.jobs.index.tolist(), part.counted()
    assert numbers == [1, 2, 3, 4, 5, 6, 7]
    assert counted.tolist() == [False] * 5 + [True] * 2
    assert part.jobs["submit_time"].tolist() == [
        0,
        10,
        20,
        45,
        46,
        50,
        70,
    ]  # at 15 job 2 began: it ran at no time before


@pytest.mark.tables
def test_there_is_no_lead_in_where_none_is_asked_for_or_known():
    log = log_of()
    for trace, lead in (
        (log, False),
        (log.scale(2), None),
        (replace(log, source="model"), None),
        (log_of(waits=-1), None),
    ):
        part = trace.between(50, 100, lead=lead)
        assert "counted" not in part.jobs
        assert part.history[-1] == "submitted from 50 to 100"
    assert rows(log.scale(2).between(50, 100, lead=4)) == [(5, 46, -1, False), (6, 50, 0, True), (7, 70, 10, True)]
    assert "counted" not in log.between(0, 100, lead="1 day").jobs  # nothing was before


@pytest.mark.tables
@pytest.mark.parametrize(
    "lead", ["a week", "7", "next week", -5, np.inf, np.nan, True, (1, 2), "2024-03-05", {}, "-3 days"]
)
def test_what_is_no_lead_in_is_refused(lead):
    with pytest.raises(ValueError) as error:
        log_of().between(50, 100, lead=lead)
    expected = 'expected a length of time such as "7 days" or seconds, a date before that, or False'
    assert str(error.value) == f"lead is {lead!r}, {expected}"


@pytest.mark.tables
def test_a_date_as_a_lead_in_needs_a_log_with_dates():
    with pytest.raises(ValueError, match="lead is '2024-03-04', expected a length of time"):
        log_of(header=Header()).between(50, 100, lead="2024-03-04")


@pytest.mark.tables
def test_parts_of_a_part_keep_its_lead_in(tmp_path):
    part = log_of().between(50, 100, lead=0)
    assert rows(part.head(1)) == rows(part)[:4]
    assert part.head(1).history[-1] == "first 1 jobs"
    assert part.head(5).jobs.index.tolist() == part.jobs.index.tolist()
    assert part.where("requested_procs < 3").counted().tolist() == [False, False, True]
    assert rows(part.without_lead_in()) == [(6, 50, 0, True), (7, 70, 10, True)]
    assert "counted" not in part.without_lead_in().jobs
    assert part.scale_load(0.5).offered_load() == pytest.approx(0.5, abs=0.1)
    later = part.between(60, 100, lead=0)  # what it counted before is now there, or has ended
    assert rows(later) == [(2, 15, 0, False), (3, 40, 0, False), (4, 45, 15, False), (7, 70, 10, True)]
    part.to_parquet(tmp_path / "part.parquet")
    assert pd.read_parquet(tmp_path / "part.parquet")["counted"].tolist() == part.counted().tolist()
    part.to_swf(tmp_path / "part.swf")
    text = (tmp_path / "part.swf").read_text()
    assert "; Note: SWF cannot say which 3 of these jobs are a lead-in and do not count" in text


@pytest.mark.tables
def test_parts_of_a_log_that_are_joined_have_each_job_once():
    log = log_of()
    log = replace(log, repaired=sl.model_trace("lublin", jobs=1).repaired.iloc[:0])
    first, second = log.between(0, 50), log.between(50, 100, lead=0)
    joined = first.concat(second)
    assert rows(joined) == [(*row[:3], True) for row in rows(log)]
    gap = log.between(0, 20).concat(second)
    assert rows(gap) == [*rows(log)[:2], (3, 40, 0, False), (4, 45, 15, False), *rows(log)[5:]]
    for by in ("begin", "end"):
        assert second.concat(second, by=by).counted().tolist() == [True] * 4


@pytest.mark.tables
def test_a_column_of_the_users_says_what_counts_if_it_is_one_of_truth_values():
    jobs = pd.DataFrame({"submit": [0, 5, 9], "run": 60, "procs": 1, "counted": [True, False, True]})
    columns = {"submit": "submit", "run": "run", "procs": "procs"}
    trace = sl.from_frame(jobs, **columns, machine=4)
    assert trace.counted().tolist() == [True, False, True]
    with pytest.raises(
        ValueError, match="column 'counted' holds .*, expected true or false for each job: it says which"
    ):
        sl.from_frame(jobs.assign(counted=["yes", "no", "yes"]), **columns, machine=4).counted()
    with pytest.raises(ValueError, match="has no job that is counted"):
        sl.simulate(sl.from_frame(jobs.assign(counted=False), **columns, machine=4)).metrics()


# What is simulated --------------------------------------------------------------------------------------
@pytest.mark.reduced
@examples(100)
@given(workloads(shortest=1), st.sampled_from(["fcfs", "easy", "conservative"]), st.data())
def test_what_follows_a_lead_in_is_the_same_job_by_job(workload, scheme, data):
    jobs, procs = workload
    whole = sl.simulate(trace_of(jobs, procs), scheme)
    log = replace(whole.trace, source="file", table=whole.trace.jobs.assign(wait_time=whole.start - whole.submit))
    begin = data.draw(st.sampled_from(whole.submit.tolist()))
    part = sl.simulate(log.between(begin, whole.submit[-1] + 1), scheme, overrun="kill").validate()
    start = pd.Series(whole.start, whole.trace.jobs.index)[part.trace.jobs.index]
    assert part.start.tolist() == start.tolist()
    assert part.jobs.index[part.trace.counted()].tolist() == whole.jobs.index[whole.submit >= begin].tolist()
    assert sl.recorded(part.trace).start.tolist() == start.tolist()


def busy_log(tmp_path, seed):
    """Make the log of six weeks under EASY: 20,000 jobs in bursts, on a machine that is 60 % busy, read from a file."""
    draw, jobs = np.random.default_rng(seed), 20_000
    bursts = draw.choice(draw.uniform(0, 5 * WEEK, 4), 14_000) + draw.exponential(DAY * 1.5, 14_000)
    submit = np.sort(np.append(draw.uniform(0, 6 * WEEK, 6_000), bursts % (6 * WEEK)).astype(int))
    run = np.clip(draw.lognormal(7.5, 1.8, jobs), 10, 3 * DAY).astype(int)
    estimate = (run * draw.choice([1, 1.5, 3, 8], jobs)).astype(int)
    procs = 2 ** draw.integers(0, 8, jobs)
    trace = trace_of([*zip(*map(np.ndarray.tolist, (submit, run, estimate, procs)), strict=True)], 256)
    sl.simulate(trace.scale_load(0.6), "easy").to_swf(tmp_path / "log.swf")
    return sl.read_swf(tmp_path / "log.swf")


@pytest.mark.parametrize(("seed", "more"), [(1, 0), (2, 0), (3, 3 * DAY)])
def test_a_week_with_a_lead_in_has_the_waits_of_the_whole_simulation(tmp_path, seed, more):
    log = busy_log(tmp_path, seed)
    easy = sl.simulate(log, "easy")
    assert 0.55 < easy.metrics()["utilization"] < 0.65
    away = []
    for week in range(1, 5):
        begin, end = week * WEEK, (week + 1) * WEEK
        whole = easy.metrics(window=(begin, end))
        for lead in (None, "7 days"):
            lead_in = log.between(begin, end + more, lead=lead)  # and what comes while jobs of the week still wait
            part = sl.simulate(lead_in, "easy").metrics(window=(begin, end))
            assert part["jobs"] == whole["jobs"]
            assert part["wait_time"] == pytest.approx(whole["wait_time"], rel=0.05)
            assert part["utilization"] == pytest.approx(whole["utilization"], rel=0.05)
        without = sl.simulate(log.between(begin, end, lead=False), "easy").metrics()
        away.append(without["wait_time"] / whole["wait_time"])
    assert min(away) < 0.4


# Notes on edges -----------------------------------------------------------------------------------------
def notes(jobs, waits=0, procs=4):
    return edges.edge_notes(trace_of(jobs, procs).jobs.assign(wait_time=waits), procs)


@pytest.mark.tables
def test_notes_say_what_reaches_over_the_edges():
    cut = [(0, 6 * DAY, DAY, 2), (DAY, 5 * DAY, DAY, 1), (5 * DAY, DAY // 2, DAY, 1), *[(6 * DAY, 60, 60, 1)] * 4]
    assert notes(cut) == [
        "2 runs began before the first run ended, 5.5 days after the first submission: 97.1 % of the work, 3 of 4 "
        "processors"
    ]
    late = [(0, 60, 60, 1), *[(DAY, 60, 60, 1)] * 5, (2 * DAY - 60, DAY, DAY, 2), (2 * DAY, 60, 60, 4)]
    assert notes(late) == ["1 run goes on after the last submission: 99.6 % of the work, 2 of 4 processors"]
    assert notes([(0, 60, 60, 1), (100, 60, 60, 1), (200, 60, 60, 1)]) == []
    assert edges.edge_notes(trace_of(JOBS, 4).jobs.iloc[:0], 4) == []


@pytest.mark.tables
def test_runs_without_an_end_are_those_of_months_where_others_take_hours():
    jobs = [(hour * 3600, 7200, 7200, 1) for hour in range(200)]
    forgotten = [*jobs, (500, 3 * 365 * DAY, DAY, 2)]
    assert edges.runaways(trace_of(forgotten, 4).jobs).sum() == 1
    assert (
        notes(forgotten)[-1] == "1 run lasts up to 1,095 days, as if no end was recorded: 99.2 % of the work, 2 of 4 "
        "processors"
    )
    assert not edges.runaways(trace_of([*jobs, (500, 29 * DAY, DAY, 2)], 4).jobs).any()
    weeks = [(hour * 3600, 21 * DAY, DAY, 1) for hour in range(200)]  # where runs take weeks, months are usual
    assert not edges.runaways(trace_of([*weeks, (500, 90 * DAY, DAY, 2)], 4).jobs).any()


@pytest.mark.traces
@pytest.mark.tables
def test_the_log_of_ctc_begins_with_a_machine_that_was_full():
    log = sl.load_trace("CTC-SP2-1996")
    assert edges.edge_notes(log.jobs, log.procs)[0] == (
        "24 runs began before the first run ended, 4.3 days after the first submission: 0.131 % of the work, "
        "331 of 338 processors"
    )
    assert edges.runaways(sl.load_trace("SDSC-DS-2004").jobs).sum() == 1


@pytest.mark.traces
def test_months_of_the_logs_have_nearly_the_waits_of_the_whole_simulation():
    for name, month in (("KTH-SP2-1996", "1997-02"), ("CTC-SP2-1996", "1996-10"), ("SDSC-SP2-1998", "1999-03")):
        log = sl.load_trace(name)
        period = (f"{month}-01", f"{month}-28")
        whole = sl.simulate(log, "easy").metrics(window=period)["wait_time"]
        part = sl.simulate(log.between(*period), "easy").metrics()["wait_time"]
        assert part == pytest.approx(whole, rel=0.05), name
        assert sl.simulate(log.between(*period, lead=False), "easy").metrics()["wait_time"] < whole
