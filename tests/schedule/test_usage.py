"""Usage by columns and by the calendar, against a loop over minutes; names of numbers; what is refused."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workloads import examples, trace_of, workloads

import schedlab as sl
from schedlab.schedule import usage
from schedlab.schedule.calendar import WEEKDAYS
from schedlab.workload.swf import Header

pytestmark = [pytest.mark.reduced, pytest.mark.tables]

STEP = 1800  # seconds; times of the drawn jobs are multiples
# Clocks and hours around which they are changed: by an hour, at midnight, by half an hour, a minute after midnight.
CLOCKS = {
    "Europe/Berlin": "2024-03-30 20:00",
    "America/Sao_Paulo": "2018-11-03 20:00",
    "Australia/Lord_Howe": "2024-04-06 08:00",
    "America/St_Johns": "1999-10-30 20:00",
    "Asia/Kathmandu": "2024-02-29 10:00",
    "UTC": "2023-12-31 18:00",
}


def dated(trace, zone="Europe/Berlin", date="2024-03-30 20:00"):
    zero = int(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp())
    return replace(trace, header=Header((f"; UnixStartTime: {zero}", f"; TimeZoneString: {zone}")))


@st.composite
def schedules(draw):
    """Draw a schedule of long jobs of three users and two accounts, on a clock that is changed meanwhile."""
    jobs, procs = draw(workloads(most=10))
    jobs = [job._replace(submit=STEP * job.submit, run=STEP * job.run, estimate=STEP * job.estimate) for job in jobs]
    zone = draw(st.sampled_from(sorted(CLOCKS)))
    trace = dated(trace_of(jobs, procs), zone, CLOCKS[zone])
    several = [draw(st.sampled_from(["astro", "physics", None])) for _ in jobs]
    gpus = [draw(st.integers(-1, 3)) for _ in jobs]
    users = [draw(st.sampled_from([-1, 7, 9])) for _ in jobs]
    table = trace.table.assign(user_id=users, account=several, gpus=gpus)
    people = {"user_id": {7: "ann", 9: "bob"}}
    return sl.simulate(replace(trace, table=table, people=people), draw(st.sampled_from(["fcfs", "easy"])))


@cache
def date_of(header, second):
    """Return what the clock of the machine shows at a second of the log."""
    zero, zone = (line.split(": ")[1] for line in header.lines)
    return (datetime.fromtimestamp(int(zero), UTC) + timedelta(seconds=second)).astimezone(ZoneInfo(zone))


def row_of(header, keys, second, job=None):
    """Return what a table shows for a job at a second of the log."""
    date, row = date_of(header, second), []
    for key in keys:
        if key in ("user", "account", "requested_procs"):
            value = job["user_id" if key == "user" else key]
            value = value if isinstance(value, str | int) else "unknown"
            row.append({-1: "unknown", 7: "ann", 9: "bob"}[value] if key == "user" else value)
        else:
            row.append({"hour": date.hour, "weekday": WEEKDAYS[date.weekday()], "month": f"{date:%Y-%m}"}[key])
    return tuple(row)


def twin(schedule, keys, begin, until, last):
    """Count, minute by minute, processor-seconds, GPU-seconds and seconds, and the waits of jobs, for each row.

    Jobs are those that are submitted before `last`.
    """
    held, gpus, lasts, waits = {}, {}, {}, {}
    header, jobs = schedule.trace.header, schedule.trace.jobs.to_dict("records")
    timed = [key for key in keys if key in ("hour", "weekday", "month")]
    for minute in range(begin, until, 60):
        row = row_of(header, timed, minute)
        lasts[row] = lasts.get(row, 0) + 60
    for job, start, end in zip(jobs, schedule.start.tolist(), schedule.end.tolist(), strict=True):
        for minute in range(max(start, begin), min(end, until), 60):
            row = row_of(header, keys, minute, job)
            held[row] = held.get(row, 0) + 60 * job["requested_procs"]
            gpus[row] = gpus.get(row, 0) + 60 * max(job["gpus"], 0)
        if begin <= job["submit_time"] < last:
            row = row_of(header, keys, job["submit_time"], job)
            waits.setdefault(row, []).append(start - job["submit_time"])
    return held, gpus, lasts, waits


KEYS = ["user", "account", "requested_procs", "hour", "weekday", "month", ["weekday", "user"], ["month", "hour"]]


@examples(60)
@given(schedules(), st.sampled_from([*KEYS, ["user", "account"]]), st.sampled_from([None, (0, 1), (2, 17), (20, 99)]))
def test_the_table_is_what_a_loop_over_minutes_counts(schedule, by, window):
    keys = by if isinstance(by, list) else [by]
    window = window if window is None else tuple(STEP * side for side in window)
    begin, until = window or (int(schedule.submit[0]), int(schedule.end.max()))
    if begin == until:
        return
    table = schedule.usage(by, window)
    last = until + (window is None)  # a job of no length may be submitted at the very end
    held, gpus, lasts, waits = twin(schedule, keys, begin, until, last)
    rows = {row if isinstance(row, tuple) else (row,): table.loc[row] for row in table.index}
    assert set(rows) >= set(held) | set(waits)
    timed = [place for place, key in enumerate(keys) if key in ("hour", "weekday", "month")]
    for row, values in rows.items():
        assert values["processor_hours"] * 3600 == pytest.approx(held.get(row, 0), abs=1e-6)
        assert values["gpu_hours"] * 3600 == pytest.approx(gpus.get(row, 0), abs=1e-6)
        assert values["jobs"] == len(waits.get(row, []))
        if row in waits:
            assert values["wait_time"] == pytest.approx(np.mean(waits[row]))
            assert values["median_wait_time"] == np.median(waits[row])
            assert values["max_wait_time"] == max(waits[row])
        if seconds := lasts.get(tuple(row[place] for place in timed), 0):
            expected = held.get(row, 0) / (schedule.machine.procs * seconds)
            assert values["utilization"] == pytest.approx(expected)
    assert table["jobs"].sum() == sum(map(len, waits.values()))
    assert (table["processor_hours"] * 3600).round().sum() == sum(held.values())
    if held:
        assert table["share"].sum() == pytest.approx(1)


@examples(60)
@given(schedules(), st.sampled_from(KEYS))
def test_rows_add_up_to_the_whole(schedule, by):
    table, measured = schedule.usage(by), schedule.metrics()
    assert table["jobs"].sum() == len(schedule)
    assert round(table["processor_hours"].sum() * 3600) == int((schedule.run * schedule.procs).sum())
    assert table["killed"].sum() == measured["killed"]
    assert table["max_wait_time"].max() == measured["max_wait_time"]
    if measured["makespan"] and by in ("user", "account"):
        assert table["utilization"].sum() == pytest.approx(measured["utilization"])
        assert (np.diff(table["processor_hours"]) <= 0).all()


@examples(30)
@given(schedules(), st.sampled_from(KEYS))
def test_parts_of_runs_are_counted_in_pieces_that_fit_in_memory(schedule, by):
    whole = schedule.usage(by)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(usage, "MANY", 3)
        assert schedule.usage(by).equals(whole)


def test_a_run_across_a_clock_change_and_midnight_counts_to_the_second():
    # From 23:59:50 on Saturday; at 2:00 on Sunday the clock goes to 3:00; it ends at 3:00:07.
    trace = dated(trace_of([(10_790, 2 * 3600 + 17, 10_000, 3)], 4), date="2024-03-30 20:00")
    schedule = sl.simulate(trace, "easy")
    seconds = (schedule.usage("hour")["processor_hours"] * 1200).round().astype(int)
    assert seconds[seconds > 0].to_dict() == {0: 3600, 1: 3600, 3: 7, 23: 10}
    assert schedule.usage("hour").index.tolist() == list(range(24))
    days = schedule.usage("weekday")
    assert days.index.tolist() == list(WEEKDAYS)
    assert (days["processor_hours"] * 1200).round().tolist()[5:] == [10, 7207]
    assert days["utilization"].tolist()[5:] == [0.75, 0.75]
    assert days["jobs"].tolist() == [0] * 5 + [1, 0]  # by submission
    assert schedule.usage("month").index.tolist() == ["2024-03"]


def named():
    jobs = [(0, 3600, 3600, 1), (0, 3600, 3600, 2), (60, 7200, 7200, 4), (90, 1800, 1800, 2)]
    trace = dated(trace_of(jobs, 4))
    table = trace.table.assign(user_id=[3, 4, 5, 3], status=[1, 0, 5, -1], partition=[1, 2, 1, 2], qos=list("hnnh"))
    lines = (*trace.header.lines, "; Partition: 1 short", "; Partition: 2 long")
    people = {"user_id": {3: "ann", 4: "bob", 5: "eve"}}
    return replace(trace, table=table, header=Header(lines), people=people)


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        ("user", ["eve", "ann", "bob"]),
        ("user_id", ["eve", "ann", "bob"]),
        ("state", ["cancelled", "failed", "unknown", "completed"]),
        ("status", ["cancelled", "failed", "unknown", "completed"]),
        ("partition", ["short", "long"]),
        ("qos", ["n", "h"]),
        ("size", ["1", "2", "3-4"]),
        ("group", ["unknown"]),
        (["partition", "qos"], [("short", "n"), ("short", "h"), ("long", "n"), ("long", "h")]),
        ({"procs": [1, 2, 9]}, [pd.Interval(1, 2, closed="left"), pd.Interval(2, 9, closed="left")]),
    ],
)
def test_rows_have_names_and_the_largest_is_first(by, rows):
    schedule = sl.simulate(named(), "easy")
    table = schedule.usage(by)
    assert table.index.tolist() == rows
    assert table.index.names == (by if isinstance(by, list) else ["procs" if isinstance(by, dict) else by])
    if isinstance(by, str) and by != "group":
        assert sorted(map(str, schedule.metrics(by=by).index)) == sorted(rows)


def test_names_are_shown_plainly_and_a_column_goes_before_a_word():
    trace = named()
    table = trace.table.assign(hour=["late", "early", "late", "\x1b[2J"], state=["x", "y", "y", "y"])
    schedule = sl.simulate(replace(trace, table=table), "easy")
    assert set(schedule.usage("hour").index) == {"late", "early", r"\x1b[2J"}
    assert schedule.usage("state").index.tolist() == ["y", "x"]
    assert schedule.metrics(by="hour")["jobs"]["late"] == 2


def test_measures_by_the_calendar_count_submissions():
    measured = sl.simulate(named(), "easy").metrics(by="weekday")
    assert measured["jobs"].to_dict() == {day: 4 * (day == "Saturday") for day in WEEKDAYS}
    assert sl.simulate(named(), "easy").metrics(by="hour")["jobs"].iloc[21] == 4
    assert sl.simulate(named(), "easy").metrics(by="month")["jobs"].to_dict() == {"2024-03": 4}


def test_a_partition_is_measured_against_its_own_processors():
    schedule = sl.simulate(named(), "easy", machine=sl.Partitions({"short": 4, "long": 2}))
    table, parts = schedule.usage("partition", (0, 3600)), schedule.partitions
    for name, part in parts.items():
        assert table.loc[name, "utilization"] == part.metrics(window=(0, 3600))["utilization"]
    assert schedule.usage("user", (0, 3600))["utilization"].sum() == schedule.metrics(window=(0, 3600))["utilization"]


def test_tasks_from_other_sites_have_a_row_of_their_own():
    trace = sl.model_trace("lublin", jobs=150, machine=64, seed=5).scale_load(0.9).with_parameter_sweeps(0.3)
    sites = sl.simulate_sites([trace, trace.head(100)], "ojs", speeds=(2, 1))
    foreign = 0
    for schedule in sites:
        table, pieces = schedule.usage("size"), schedule.pieces
        seconds = (pieces["end_time"] - pieces["start_time"]) * pieces["procs"]
        assert table["processor_hours"].sum() * 3600 == pytest.approx(seconds.sum())
        assert table["jobs"].sum() == len(schedule)
        away = seconds[pieces["home_site"] != schedule.site].sum()
        foreign += away
        assert table["processor_hours"].get("other sites", 0) * 3600 == pytest.approx(away)
    assert foreign > 0


def test_windows_may_be_dates():
    schedule = sl.simulate(named(), "easy")
    assert schedule.usage("user", ("2024-03-30 21:00", "2024-03-30 22:00")).equals(schedule.usage("user", (0, 3600)))


REFUSED = {
    "wait_time": "'wait_time' is a quantity, expected classes of jobs",
    "acount": "unknown classes 'acount'; known: .*, qos.*did you mean 'account'",
    "hour": "trace has no dates (UnixStartTime), and so no hour, weekday or month",
    "empty": "by is an empty list, expected columns or classes of jobs",
    "window": "the window must begin before it ends, got 5 to 5",
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_counted_is_refused(case):
    trace = named()
    trace = replace(trace, table=trace.table.assign(account="a"), name="trace")
    bare = replace(trace, header=Header())
    schedule = sl.simulate(bare if case == "hour" else trace, "easy")
    arguments = {"empty": ([],), "window": ("user", (5, 5))}.get(case, (case,))
    words = REFUSED[case]
    with pytest.raises(ValueError, match=words if ".*" in words else re.escape(words)):
        schedule.usage(*arguments)
    if case in ("wait_time", "acount", "hour"):
        with pytest.raises(ValueError, match=words if ".*" in words else re.escape(words)):
            schedule.metrics(by=case)


def test_a_table_without_a_clock_has_no_hours():
    with pytest.raises(ValueError, match="'hour' needs the dates of a log"):
        sl.metrics.classes(sl.simulate(named(), "easy").jobs, "hour")


def test_the_table_displays_with_units_and_names_in_words():
    table = sl.simulate(named(), "easy").usage(["partition", "hour"])
    page = table._repr_html_()
    assert all(words in page for words in ("processor-hours", "share of the processor-hours", "short 22", "50 %"))
    assert " min" in repr(table)
    assert isinstance(table["processor_hours"] * 2, pd.Series)
