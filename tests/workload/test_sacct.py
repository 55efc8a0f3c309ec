"""Slurm's accounting: each format, each reason to leave a record out, each error; expectations are worked by hand."""

import bz2
import contextlib
import gzip
import json
import lzma
import math
import re
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import schedlab as sl
from schedlab import cli
from schedlab.workload import fields, sacct, swf
from schedlab.workload import filter as load_filter
from schedlab.workload.fields import A_DURATION, duration, since_1970
from schedlab.workload.sacct import COMMAND, PartitionWarning, SacctError, example_path, is_export
from schedlab.workload.values import A_TIME

pytestmark = pytest.mark.tables

NOON = 1_709_294_400  # 2024-03-01T12:00:00 UTC
COLUMNS = "JobID JobIDRaw Partition User Group Submit Eligible Start End"
COLUMNS += " ElapsedRaw TimelimitRaw AllocCPUS NNodes ReqMem State"
LINE = "7 7 batch ann staff 2024-03-01T12:00:00 2024-03-01T12:00:00 2024-03-01T12:10:00 2024-03-01T12:40:00"
LINE += " 1800 60 16 2 4000Mc COMPLETED"
PLAIN = dict(zip(COLUMNS.split(), LINE.split(), strict=True))
STARTED_NEVER = {"Start": "None", "ElapsedRaw": "0", "AllocCPUS": "0"}


def job(number=7, **fields):
    """Return one record: that of `PLAIN`, but for some fields."""
    return PLAIN | {"JobID": str(number), "JobIDRaw": str(number).partition("_")[0].partition("+")[0]} | fields


def without(*names):
    """Return the record of `PLAIN` without some fields."""
    return {name: text for name, text in PLAIN.items() if name not in names}


def export(folder, *records, columns=None, name="jobs.txt"):
    """Write an export of some columns, all of the first record's unless they are named."""
    columns = columns or list(records[0])
    lines = ["|".join(columns), *("|".join(record[column] for column in columns) for record in records)]
    return written(folder, "\n".join(lines) + "\n", name)


def written(folder, text, name="jobs.txt"):
    path = Path(folder) / name
    path.write_text(text)
    return path


@pytest.fixture
def read(tmp_path):
    """Read an export of the records given."""

    def reader(*records, columns=None, **options):
        return sl.read_sacct(export(tmp_path, *records, columns=columns), **options)

    return reader


def reasons(trace):
    """Return the reasons and how often each was given."""
    return trace.dropped["reason"].value_counts().to_dict()


# One job ------------------------------------------------------------------------------------------------
def test_a_job_gets_the_columns_of_swf(read):
    trace = read(PLAIN, machine=64)
    jobs = trace.jobs.reset_index()
    assert tuple(jobs.columns) == (*swf.FIELDS, "Eligible", "NNodes", "ReqMem", "state")
    assert jobs[list(swf.FIELDS)].to_numpy().tolist() == [
        [7, 0, 600, 1800, 16, -1, -1, 16, 3600, 4_096_000, 1, 1, 1, -1, -1, 1, -1, -1]
    ]
    assert (trace.name, trace.source, trace.procs, trace.history) == ("jobs", "file", 64, ())
    assert len(trace.dropped) == len(trace.repaired) == 0
    sl.simulate(trace, "easy").validate()


def test_the_header_says_where_and_when_and_a_trace_comes_back_from_swf(read, tmp_path):
    records = [PLAIN | {"Cluster": "blue"}, job(8, Partition="long", Cluster="blue")]
    trace = read(*records, partition=("batch", "long"), time_zone="Europe/Stockholm")
    assert trace.header.lines == (
        "; Version: 2.2",
        "; Computer: Slurm cluster blue",
        "; Conversion: by schedlab from the output of sacct",
        f"; UnixStartTime: {NOON - 3600}",  # Stockholm is an hour ahead in winter
        "; TimeZoneString: Europe/Stockholm",
        "; MaxProcs: 32",
        "; Partition: 1 batch",
        "; Partition: 2 long",
        "; Note: a processor is a CPU as Slurm counts them",
        "; Note: users and groups are numbered, their names were not kept",
    )
    assert trace.at(0) == pd.Timestamp("2024-03-01 12:00", tz="Europe/Stockholm")
    assert len(trace.between("2024-03-01", "2024-03-02")) == 2
    with pytest.raises(ValueError, match="no job of jobs was submitted"):
        trace.between("2024-03-02", "2024-03-03")
    plain = read(PLAIN).header
    assert plain.unix_start_time == NOON
    assert "no time zone was given; dates are those of UTC" in plain.all("Note")
    trace = read(job(5), job(6, TimelimitRaw="UNLIMITED"), job(9, AllocCPUS="3"))
    trace.to_swf(tmp_path / "out.swf.gz")
    again = sl.read_swf(tmp_path / "out.swf.gz")
    assert again.jobs.equals(trace.jobs[again.jobs.columns])
    assert again.procs == trace.procs == 35


def test_names_of_people_are_kept_nowhere(read, tmp_path):
    people = [job(1, User="xavier"), job(2, User="yvonne", Group="guests"), job(3, User="xavier"), job(4, User="")]
    trace = read(*people, job(5, User="zoe", **STARTED_NEVER))
    assert trace.jobs["user_id"].tolist() == [1, 2, 1, -1]
    assert trace.jobs["group_id"].tolist() == [1, 2, 1, 1]
    assert trace.dropped["user_id"].tolist() == [3]
    trace.to_swf(tmp_path / "out.swf")
    everything = (tmp_path / "out.swf").read_text() + repr(trace) + trace.dropped.to_csv() + trace.repaired.to_csv()
    assert not re.search("xavier|yvonne|zoe|guests|staff", everything)


# Durations ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *[("00:00", 0), ("05:30", 330), ("90:00", 5400), ("01:02:03", 3723), ("100:00:00", 360_000)],
        *[("2-12", 216_000), ("2-12:05", 216_300), ("2-12:05:30", 216_330)],
        *[("00:01.500", 1.5), ("1-00:00:00.250", 86_400.25)],
        *[(text, math.nan) for text in ("UNLIMITED", "Partition_Limit", "INVALID", "Unknown", "None", "")],
    ],
)
def test_durations_by_hand(text, seconds):
    assert duration(text) == pytest.approx(seconds, nan_ok=True, abs=0)


@pytest.mark.parametrize("text", ["12", "1:2:3:4", "00:60", "00:60:00", "1-", "-1:00", "1-2:60", "a:b", "\u0663:00"])
def test_what_is_no_duration(text):
    with pytest.raises(ValueError, match=re.escape(A_DURATION)):
        duration(text)


@pytest.mark.parametrize(
    ("known", "run"),
    [
        ({"ElapsedRaw": "100", "Elapsed": "00:03:20"}, 100),
        ({"ElapsedRaw": "", "Elapsed": "00:03:20"}, 200),
        ({"Elapsed": "00:03:20"}, 200),
        ({"Elapsed": "INVALID"}, 1800),  # from Start and End
        ({}, 1800),
    ],
)
def test_run_times_come_from_the_first_column_that_knows(read, known, run):
    assert read(without("ElapsedRaw") | known).jobs["run_time"].tolist() == [run]


def test_parts_of_a_second_are_rounded_up_and_said_so(read):
    trace = read(without("ElapsedRaw") | {"Elapsed": "00:10.250"})
    assert trace.jobs["run_time"].tolist() == [11]
    assert trace.repaired[["field", "was", "now"]].to_numpy().tolist() == [["run_time", 10.25, 11.0]]


@pytest.mark.filterwarnings("ignore::schedlab.workload.LoadWarning")
@pytest.mark.parametrize("text", ["UNLIMITED", "Partition_Limit", "INVALID", "", "0"])
def test_a_job_without_a_limit_has_a_missing_estimate(read, text):
    record = job(TimelimitRaw=text)
    trace = read(record)
    assert trace.jobs["requested_time"].tolist() == [1800]
    assert trace.repaired["reason"].tolist() == ["no estimate; the run time is taken"]
    assert read(record, missing_estimate=7200).jobs["requested_time"].tolist() == [7200]
    assert reasons(read(record, job(8), missing_estimate="drop")) == {"no estimate": 1}


@pytest.mark.parametrize(("text", "limit"), [("01:30:00", 5400), ("7-00:00:00", 604_800), ("30:00", 1800)])
def test_limits_may_be_written_out(read, text, limit):
    assert read(without("TimelimitRaw") | {"Timelimit": text}).jobs["requested_time"].tolist() == [limit]


# Instants -----------------------------------------------------------------------------------------------
STOCKHOLM = ZoneInfo("Europe/Stockholm")


@pytest.mark.filterwarnings("ignore::schedlab.workload.LoadWarning")
@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *[("2024-03-01T12:00:00", NOON - 3600), ("2024-03-01 12:00:00", NOON - 3600)],
        *[("2024-07-01T00:00:00", 1_719_784_800), ("2024-03-01T12:00:00Z", NOON)],
        *[("2024-03-01T12:00:00+0200", NOON - 7200), (str(NOON), NOON)],
        *[("Unknown", math.nan), ("None", math.nan), ("", math.nan)],
    ],
)
def test_instants_by_hand(read, text, seconds):
    trace = read(job(Submit=text), job(8, Submit="2024-07-01T00:00:00"), time_zone="Europe/Stockholm", lenient=True)
    assert trace.header.unix_start_time == (1_719_784_800 if math.isnan(seconds) else seconds)


@pytest.mark.parametrize("text", ["12:00:00", "Ystday 12:00", "2024-13-01T00:00:00", "20240301", "soon"])
def test_what_is_no_instant(read, text):
    with pytest.raises(SacctError, match=r"jobs.txt:2: field 6 \(Submit\) is '.*', expected a (time|date)"):
        read(job(Submit=text), job(8))


@given(st.integers(10**9, 2 * 10**9), st.sampled_from(["Europe/Stockholm", "US/Eastern", "Australia/Lord_Howe", "UTC"]))
def test_one_of_the_two_meanings_of_a_time_is_the_right_one(seconds, name):
    zone = ZoneInfo(name)
    local = datetime.fromtimestamp(seconds, zone).replace(tzinfo=None)
    early, late = (since_1970(pd.DatetimeIndex([local]), zone, fold)[0] for fold in (0, 1))
    assert [early, late] == [local.replace(tzinfo=zone, fold=fold).timestamp() for fold in (0, 1)]
    assert seconds in (early, late)
    assert early <= late


def test_an_hour_that_came_twice_keeps_the_order_of_events(read):
    # 27 October 2024: 02:00 to 03:00 came as summer time, from 00:00 UTC, and again as winter time, from 01:00 UTC.
    times = [
        ("02:10", "02:40", "04:00"),  # nothing speaks against summer time for both
        ("02:40", "02:10", "04:00"),  # the start can only be in winter time
        ("01:50", "02:30", "02:20"),  # the end can only be in winter time
    ]
    days = [[f"2024-10-27T{time}:00" for time in row] for row in times]
    records = [
        job(number, Submit=submit, Start=start, End=end) for number, (submit, start, end) in enumerate(days, start=1)
    ]
    jobs = read(*records, columns=[*without("ElapsedRaw", "Eligible")], time_zone="Europe/Stockholm").jobs.sort_index()
    assert jobs[["submit_time", "wait_time", "run_time"]].to_numpy().tolist() == [
        [20 * 60, 30 * 60, 8400],
        [50 * 60, 30 * 60, 6600],
        [0, 40 * 60, 50 * 60],
    ]


def test_of_two_hours_the_run_time_tells_that_of_the_end_and_a_skipped_one_is_an_error(read):
    record = job(Submit="2024-10-27T01:00:00", Start="2024-10-27T01:50:00", End="2024-10-27T02:30:00")
    for run in (40 * 60, 100 * 60):
        trace = read(record | {"ElapsedRaw": str(run)}, time_zone="Europe/Stockholm")
        assert trace.jobs["run_time"].tolist() == [run]
    with pytest.raises(SacctError, match=r"ElapsedRaw\) is '6600', expected at most the time from start to end"):
        read(record | {"ElapsedRaw": "6600"})
    assert (
        "1 run longer by an hour than from start to end: the clock" in read(record | {"ElapsedRaw": "6000"}).history[0]
    )
    record = job(Start="2024-03-31T02:30:00", End="2024-03-31T04:00:00")
    with pytest.raises(SacctError, match=r"jobs.txt:2: field 8 \(Start\) is '2024-03-31T02:30:00', expected a time th"):
        read(record, time_zone="Europe/Stockholm")
    assert len(read(record)) == 1


def test_seconds_since_1970_need_no_time_zone(read):
    record = job(Submit=str(NOON), Eligible=str(NOON), Start=str(NOON + 5), End=str(NOON + 95), ElapsedRaw="90")
    trace = read(record, time_zone="Asia/Tokyo")
    assert trace.header.unix_start_time == NOON
    assert trace.jobs["wait_time"].tolist() == [5]


def test_a_job_arrives_when_submitted_or_when_nothing_holds_it_back_and_has_no_known_wait_if_it_started_before(read):
    records = [job(1, Eligible="2024-03-01T12:04:00"), job(2, Eligible="Unknown"), job(3)]
    assert read(*records).jobs["wait_time"].tolist() == [600, 600, 600]
    trace = read(*records, arrival="eligible")
    assert trace.jobs.sort_index()["submit_time"].tolist() == [240, 0, 0]
    assert trace.jobs.sort_index()["wait_time"].tolist() == [360, 600, 600]
    assert "submit times are those at which jobs became eligible" in trace.header.all("Note")
    assert read(job(Start="2024-03-01T11:59:00")).jobs["wait_time"].tolist() == [-1]


@pytest.mark.parametrize("column", ["NCPUS", "ReqCPUS", "ncpus"])
def test_other_columns_stand_in_for_the_size(read, column):
    trace = read(without("AllocCPUS") | {column: "24"})
    assert trace.jobs["requested_procs"].tolist() == [24]
    assert trace.repaired["field"].tolist() == (["allocated_procs"] if column == "ReqCPUS" else [])


# Sizes and memory ---------------------------------------------------------------------------------------
def test_nodes_may_be_counted_instead_and_what_a_job_occupied_counts(read):
    trace = read(job(1), job(2, NNodes="5"), procs_of="nodes")
    assert trace.jobs["requested_procs"].tolist() == [2, 5]
    assert trace.procs == 7
    assert "a processor is a node" in trace.header.all("Note")
    assert trace.history == ("size of the machine not given; the most nodes in use at one instant: 7",)
    trace = read(PLAIN | {"ReqCPUS": "1"})
    assert trace.jobs[["requested_procs", "allocated_procs"]].to_numpy().tolist() == [[16, 16]]


@pytest.mark.parametrize(
    ("text", "kilobytes"),
    [
        *[("4000Mc", 4_096_000), ("4000M", 4_096_000), ("4000", 4_096_000), ("16Gn", 16_777_216)],
        *[("1.50G", 1_572_864), ("2T", 2_147_483_648), ("512Kn", 512), ("1P", 2**40)],
        *[(text, math.nan) for text in ("0", "0n", "?", "?n", "")],
    ],
)
def test_amounts_of_memory_by_hand(text, kilobytes):
    assert fields.kilobytes(text) == pytest.approx(kilobytes, nan_ok=True, abs=0)


@pytest.mark.parametrize(
    ("options", "kilobytes"),
    [
        ({}, [2**20, 2**17, 2**16, 2, -1]),  # 16 CPUs on 2 nodes; 17 K are rounded up
        ({"procs_of": "nodes"}, [2**23, 2**20, 2**19, 9, -1]),
        ({"columns": [*without("NNodes")]}, [2**20, -1, 2**16, 2, -1]),
    ],
)
def test_memory_is_that_of_a_processor(read, options, kilobytes):
    records = [job(number, ReqMem=text) for number, text in enumerate(("1Gc", "1Gn", "1G", "17K", "?"))]
    assert read(*records, **options).jobs["requested_memory"].tolist() == kilobytes


def test_the_size_of_the_machine_is_the_most_in_use_at_one_instant(read):
    held = [(10, 20, "8"), (20, 30, "12"), (25, 40, "3"), (40, 50, "14")]  # job 1 ends as job 2 starts
    records = [
        job(number, Start=f"2024-03-01T12:{start}:00", End=f"2024-03-01T12:{end}:00", AllocCPUS=cpus)
        for number, (start, end, cpus) in enumerate(held, start=1)
    ]
    columns = [*without("ElapsedRaw")]
    trace = read(*records, columns=columns)
    assert trace.procs == trace.header.procs == 15
    assert trace.history == ("size of the machine not given; the most cpus in use at one instant: 15",)
    with pytest.warns(sl.workload.LoadWarning, match="36.4 % of the work left out"):
        smaller = read(*records, columns=columns, machine=13)
    assert (smaller.procs, smaller.history) == (13, ())
    assert reasons(smaller) == {"wider than the machine (13 processors)": 1}
    with pytest.raises(ValueError, match="machine must have at least 1 processor, got 0"):
        read(*records, columns=columns, machine=0)


# Jobs, arrays, steps, runs ------------------------------------------------------------------------------
def test_steps_are_left_out_and_counted(read):
    of_a_step = {"Partition": "", "User": "", "Group": "", "TimelimitRaw": "", "ReqMem": "", "NNodes": ""}
    names = ["7.batch", "7.extern", "7.0", "7.interactive", "9_4.0", "9+1.12", "9+0.0+1"]
    steps = [job(name, JobIDRaw=f"{name[0]}.0", **of_a_step) for name in names]
    trace = read(job(7), *steps, job(9))
    assert trace.jobs.index.tolist() == [7, 9]
    assert reasons(trace) == {"a step of a job, not a job": 7}
    assert trace.dropped.index.tolist() == [7] * 4 + [9] * 3


def test_each_task_of_an_array_is_a_job(read):
    trace = read(
        job("40_1", JobIDRaw="41"),
        job("40_2", JobIDRaw="40"),
        job("40_[5-10%2]", JobIDRaw="40", State="PENDING", **STARTED_NEVER | {"End": "Unknown"}),
        job("40_[1,3,5,...", JobIDRaw="42", State="CANCELLED by 1000", **STARTED_NEVER),
        *[job(f"50+{place}", JobIDRaw=str(50 + place)) for place in (0, 1)],
    )
    assert trace.jobs.index.tolist() == [41, 40, 50, 51]
    assert trace.repaired.empty
    assert trace.dropped["reason"].to_dict() == {40: WAITING, 42: "cancelled before it started"}


def test_numbers_of_jobs_without_the_raw_ones_and_from_these_alone(read):
    trace = read(job("40_1"), job("40_2"), job("41"), job("90.0"), columns=[*without("JobIDRaw")])
    assert trace.jobs.index.tolist() == [91, 40, 41]  # above all that the file names
    assert trace.repaired[["job_number", "was", "now"]].to_numpy().tolist() == [[91, 40, 91]]
    trace = read(job(7), job(8), job("8.batch", JobIDRaw="8.batch"), columns=[*without("JobID")])
    assert trace.jobs.index.tolist() == [7, 8]
    assert reasons(trace) == {"a step of a job, not a job": 1}


@pytest.mark.parametrize("state", ["REQUEUED", "NODE_FAIL", "PREEMPTED", "RESIZING"])
def test_each_run_of_a_job_is_a_job_and_the_last_keeps_the_number(read, state):
    first = job(7, State=state)
    second = job(7, Submit="2024-03-01T12:40:00", Start="2024-03-01T12:42:00", End="2024-03-01T13:12:00")
    trace = read(first, second, job(8))
    assert trace.jobs.index.tolist() == [9, 8, 7]
    assert trace.jobs["submit_time"].to_dict() == {9: 0, 8: 0, 7: 2400}
    assert trace.jobs["status"].to_dict() == {9: 0 if state == "NODE_FAIL" else 5, 8: 1, 7: 1}
    (repair,) = trace.repaired.to_dict("records")
    reason = "several runs, or tasks, under one number; the last keeps it"
    expected = {"job_number": 9, "field": "job_number", "was": 7.0, "now": 9.0, "reason": reason, "work": 16 * 1800}
    assert repair == expected
    assert trace.dropped.empty
    sl.simulate(trace, "easy").validate()


def test_of_a_record_given_twice_the_one_that_tells_the_end_is_kept(read):
    running = job(7, State="RUNNING", End="Unknown", ElapsedRaw="60")
    for records in ([running, job(7)], [job(7), running], [job(7), job(7)]):
        trace = read(*records)
        assert trace.jobs["run_time"].to_dict() == {7: 1800}
        assert reasons(trace) == {"given twice: same job, submission and start": 1}
        assert trace.repaired.empty


def test_a_header_with_other_columns_is_an_error_even_if_lenient(tmp_path):
    text = export(tmp_path, job(1)).read_text()
    head, record = text.splitlines()
    path = tmp_path / "joined.txt"
    path.write_text(f"{text}\ufeff{text.replace(record, record.replace('1|1|', '2|2|', 1))}")
    assert len(sl.read_sacct(path)) == 2  # the same header behind a mark of UTF-8
    path.write_text(f"{text}{'|'.join(reversed(head.split('|')))}\n{record}\n")
    for lenient in (False, True):
        with pytest.raises(SacctError, match=r"^joined.txt:3: found .*, another header, expected only outputs with"):
            sl.read_sacct(path, lenient=lenient)


@pytest.mark.parametrize("before", ["Welcome to Tetralith\n\nWarning: quota is exceeded\n", "sacct: error: lost\n"])
def test_lines_before_the_header_are_counted(tmp_path, before):
    text = export(tmp_path, job(1)).read_text()
    path = tmp_path / "jobs.txt"
    path.write_text(before + text)
    assert reasons(sl.read_sacct(path)) == {"a message of a tool, not a record": len(before.split()) // 3}
    path.write_text(before + json.dumps({"jobs": [in_json()]}) if before.startswith("sacct") else text)
    with contextlib.suppress(sacct.GpuWarning):
        assert len(sl.read_sacct(path)) == 1


def test_a_list_of_partitions_without_a_name_is_unknown(read):
    assert read(job(1, Partition=","), job(2, Partition="p")).jobs["partition"].tolist() == [-1, 1]


STATUS = {
    1: "COMPLETED",
    0: "FAILED TIMEOUT DEADLINE NODE_FAIL BOOT_FAIL OUT_OF_MEMORY",
    5: "CANCELLED CANCELLED+ PREEMPTED REQUEUED RESIZING REVOKED",
}


def test_states_have_a_status(read):
    expected = {state: status for status, states in STATUS.items() for state in states.split()}
    expected["CANCELLED by 1000"] = 5
    records = [job(number, State=state) for number, state in enumerate(expected)]
    assert read(*records).jobs["status"].tolist() == [*expected.values()]


WAITING, RUNNING = "still waiting when the record was made", "still running when the record was made"
UNASKED = ("NNodes", "Partition", "Eligible")


@pytest.mark.filterwarnings("ignore::schedlab.workload.LoadWarning")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        *[({"State": state, "End": "Unknown", **STARTED_NEVER}, WAITING) for state in ("PENDING", "REQUEUE_HOLD")],
        *[({"State": state, "End": "Unknown"}, RUNNING) for state in ("RUNNING", "SUSPENDED", "")],
        ({"State": "RUNNING"}, RUNNING),
        ({"State": "CANCELLED by 1000", **STARTED_NEVER}, "cancelled before it started"),
        ({"State": "CANCELLED", **STARTED_NEVER, "Start": "Unknown"}, "cancelled before it started"),
        ({"State": "CANCELLED", "ElapsedRaw": "0", "AllocCPUS": "0"}, "cancelled before it started"),
        ({"State": "CANCELLED", "ElapsedRaw": "0"}, "run time is 0"),
        ({"State": "REVOKED", **STARTED_NEVER}, "never started"),
        ({"State": "DEADLINE", **STARTED_NEVER}, "never started"),
        ({"State": "FAILED", "ElapsedRaw": "0"}, "run time is 0"),
        ({"ElapsedRaw": ""}, "run time unknown: never started, or not recorded"),
        ({"AllocCPUS": "0"}, "number of processors unknown"),
        ({"AllocCPUS": "65"}, "wider than the machine (64 processors)"),
        ({"Submit": "Unknown"}, "submit time unknown"),
    ],
)
def test_every_record_left_out_has_its_reason(read, fields, reason):
    columns = PLAIN if "End" in fields else without("End")
    trace = read(job(1), job(2, **fields), columns=[*columns], machine=64)
    assert trace.jobs.index.tolist() == [1]
    assert trace.dropped["reason"].to_dict() == {2: reason}
    assert list(trace.dropped.columns)[: len(swf.FIELDS) + 1] == ["reason", "work", *swf.FIELDS[1:]]


EARLY = {"End": "2024-03-01T12:09:59"}
LATER = "a time at or after the start; if the clock was put back, give time_zone="
AT_MOST = "at most the time from start to end; is the unit right, and the time_zone?"


@pytest.mark.parametrize(
    "fields",
    [
        {"ElapsedRaw": "60"},  # suspended for the rest
        {"ElapsedRaw": "1801"},  # parts of a second, rounded
        {"End": "Unknown", "ElapsedRaw": "9999", "State": "RUNNING"},
        EARLY | {"State": "CANCELLED by 7", **STARTED_NEVER},
        EARLY | {"State": "CANCELLED", "ElapsedRaw": "0", "AllocCPUS": "0"},
        EARLY | {"State": "CANCELLED", "ElapsedRaw": "0"},  # Start was when it should have started
    ],
)
def test_times_that_agree_are_no_error(read, fields):
    assert len(read(job(1), job(2, **fields))) == 1 + (fields.keys() == {"ElapsedRaw"})


def test_nothing_left_is_an_error_that_says_why(read):
    waiting = job(1, State="PENDING", End="Unknown", **STARTED_NEVER)
    message = r"jobs.txt: none of 3 records can be simulated; 2: still waiting .*; 1: a step of a job"
    with pytest.raises(SacctError, match=message):
        read(waiting, waiting | {"JobID": "2"}, job("3.batch"))


# Partitions ---------------------------------------------------------------------------------------------
def test_one_partition_may_be_kept(read):
    both = {"State": "CANCELLED by 7", "End": "2024-03-01T12:05:00", **STARTED_NEVER}
    records = [job(1), job(2, Partition="long"), job(3, Partition="batch,long", **both), job(4, Partition="")]
    with pytest.warns(PartitionWarning):
        whole = read(*records)
    assert (whole.jobs["partition"].tolist(), whole.dropped["partition"].tolist()) == ([1, 2, -1], [1])
    assert whole.header.partitions == {1: "batch", 2: "long"}
    trace = read(*records, partition="long")
    assert trace.jobs["partition"].to_dict() == {2: 2}
    assert trace.dropped["partition"].to_dict() == {1: 1, 3: 2, 4: -1}
    other = "not of partition long"
    assert trace.dropped["reason"].to_dict() == {1: other, 3: "cancelled before it started", 4: other}
    both = read(*records, partition=["long", "batch"])
    assert both.jobs["partition"].to_dict() == {1: 1, 2: 2}
    assert both.dropped["reason"].to_dict() == {3: "cancelled before it started", 4: "not of partition long or batch"}
    for unknown in ("short", ("long", "short")):
        with pytest.raises(SacctError, match="jobs.txt: no job of partition 'short'; known: batch, long"):
            read(*records, partition=unknown)


USES = "batch uses 50.0 % (up to 16 at once), long uses 37.5 % (up to 12 at once), debug uses 6.2 % (up to 8 at once)"


def three_partitions():
    """Return jobs of an hour: in half of the machine, in three eighths, and twice for half of it in an eighth."""
    hour = {"End": "2024-03-01T13:10:00", "ElapsedRaw": "3600"}
    short = {"AllocCPUS": "8", "End": "2024-03-01T12:25:00", "ElapsedRaw": "900"}
    return [
        job(1, **hour),
        job(2, Partition="long", AllocCPUS="12", **hour),
        job(3, Partition="debug", **short),
        job(4, Partition="debug", State="PENDING", **STARTED_NEVER | {"End": "Unknown"}),
        job(5, Partition="", AllocCPUS="1", **hour),
    ]


def test_partitions_on_one_machine_are_warned_of_with_what_each_used(read):
    with pytest.warns(PartitionWarning) as caught:
        trace = read(*three_partitions(), machine=32)
    message = f"3 partitions on one machine of 32 cpus: {USES}"
    assert str(caught[0].message).startswith(f"jobs.txt: {message}; if they share their nodes, name them all with")
    assert (len(caught), caught[0].filename) == (1, __file__)
    assert trace.history == (message,)


def test_partitions_that_are_named_are_pooled_without_a_warning_and_many_are_summed_up(read):
    trace = read(*three_partitions(), machine=32, partition=("batch", "debug"))
    uses = "batch uses 50.0 % (up to 16 at once), debug uses 6.2 % (up to 8 at once)"
    assert trace.history == (f"2 partitions on one machine of 32 cpus: {uses}",)
    assert read(*three_partitions(), machine=32, partition="debug").history == ()
    assert read(*three_partitions()[:1], *three_partitions()[3:]).history == (
        "size of the machine not given; the most cpus in use at one instant: 17",
    )
    records = [job(number, Partition=f"p{number}") for number in range(1, 9)]
    with pytest.warns(PartitionWarning):
        trace = read(*records, machine=128)
    assert trace.history[0].startswith("8 partitions on one machine of 128 cpus: p1 uses 12.5 % (up to 16 at once), p2")
    assert trace.history[0].endswith("p6 uses 12.5 % (up to 16 at once), 2 more use 25.0 %")


# Names --------------------------------------------------------------------------------------------------
def test_classes_have_names_but_users_stay_numbers_without_being_asked(read, tmp_path):
    people = [job(1, User="xavier", Partition="long"), job(2, User="yvonne"), job(3, User="", Group="guests")]
    with pytest.warns(PartitionWarning):
        schedule = sl.simulate(read(*people, names=True))
    assert schedule.metrics(by="partition").index.tolist() == ["long", "batch"]
    assert schedule.metrics(by="partition")["jobs"].tolist() == [1, 2]
    assert schedule.metrics(by="user").index.tolist() == ["unknown", "xavier", "yvonne"]
    assert schedule.metrics(by="user_id")["jobs"].tolist() == [1, 1, 1]
    assert schedule.metrics(by="group")["jobs"].to_dict() == {"staff": 2, "guests": 1}
    assert schedule.trace.header.all("Note")[-1] == "users and groups are numbered"
    with pytest.warns(sl.statistics.IntervalWarning):
        groups = schedule.metrics(by="group", confidence=0.9).index.get_level_values(0)
    assert groups.unique().tolist() == ["staff", "guests"]
    schedule.to_swf(tmp_path / "out.swf")
    schedule.to_csv(tmp_path / "out.csv")
    for out in ("out.swf", "out.csv"):
        assert not re.search("xavier|yvonne|guests|staff", (tmp_path / out).read_text())
    again = sl.simulate(sl.read_swf(tmp_path / "out.swf"))
    assert again.metrics(by="partition").index.tolist() == ["long", "batch"]  # of the header
    assert again.metrics(by="user").index.tolist() == [-1, 1, 2]
    schedule = sl.simulate(read(job(1, User="xavier"), job(2, User="yvonne")))
    assert schedule.metrics(by="user").index.tolist() == [1, 2]
    assert schedule.metrics(by="partition").index.tolist() == ["batch"]


# Bars in free text --------------------------------------------------------------------------------------
def with_names(**texts):
    """Return three records with free texts behind the JobID; those of the second are given."""
    return [
        {"JobID": str(number)} | {name: text if number == 2 else "plain" for name, text in texts.items()} | job(number)
        for number in (1, 2, 3)
    ]


@pytest.mark.parametrize("text", ["a|b", "|", "||||", "run|2024-03-01T12:00:00|COMPLETED", "|a", "a|", "x|7|y|8|9|z"])
@pytest.mark.parametrize("last", [False, True])
def test_a_bar_in_a_job_name_loses_no_line(read, text, last):
    records = with_names(JobName=text)
    columns = [name for name in records[0] if name != "JobName"]
    columns.insert(len(columns) if last else 2, "JobName")
    expected = read(*records, columns=[name for name in columns if name != "JobName"])
    trace = read(*records, columns=columns)
    assert trace.jobs.drop(columns="name").equals(expected.jobs)
    assert trace.jobs["name"].tolist() == ["plain", text, "plain"]
    assert trace.dropped.empty


@pytest.mark.parametrize("name", ["Comment", "workdir", "SubmitLine", "AdminComment"])
def test_other_free_texts_may_have_bars_too(read, name):
    assert len(read(*with_names(**{name: "srun a | tee b"}))) == 3


@pytest.mark.parametrize("texts", [{"JobName": "a|b", "Comment": "c"}, {"JobName": "a", "Comment": "b|c||d"}])
@pytest.mark.parametrize("apart", [False, True])
def test_of_several_free_texts_the_fields_between_tell_which_has_the_bar(read, texts, apart):
    records = with_names(**texts)
    columns = list(records[0])
    if apart:
        columns.append(columns.pop(columns.index("Comment")))
    assert read(*records, columns=columns).jobs.index.tolist() == [1, 2, 3]


def test_bars_in_two_texts_of_one_line_are_an_error_that_names_the_line(read):
    records = with_names(JobName="a|b", Comment="c|d")
    columns = list(records[0])
    columns.insert(len(columns) - 2, columns.pop(columns.index("Comment")))
    with pytest.raises(SacctError, match=r"^jobs.txt:3: 19 fields, expected 17 \(a '\|' or a line end inside"):
        read(*records, columns=columns)
    assert len(read(*records, columns=columns, lenient=True)) == 2
    columns.append(columns.pop(columns.index("Comment")))  # the last one takes what is left
    trace = read(*records, columns=columns)
    assert trace.jobs[["name", "Comment"]].to_numpy().tolist()[1] == ["a|b", "c|d"]


# Errors -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"Submit": "0001-01-01T00:00:00"}, "field 6 (Submit) is '0001-01-01T00:00:00', expected a "),
        ({"End": "9999-12-31T23:59:59"}, "field 9 (End) is '9999-12-31T23:59:59', expected "),
        ({"Submit": "yesterday"}, f"field 6 (Submit) is 'yesterday', expected {A_TIME}"),
        ({"ElapsedRaw": "ten"}, "field 10 (ElapsedRaw) is 'ten', expected seconds, or a duration like 05:30"),
        ({"AllocCPUS": "4294967294"}, "field 12 (AllocCPUS) is '4294967294', expected a number up to 16,777,216"),
        ({"AllocCPUS": "1.5K"}, "field 12 (AllocCPUS) is '1.5K', expected a number (run sacct with --noconvert)"),
        ({"JobID": "job7"}, "field 1 (JobID) is 'job7', expected a job like 123, 123_4, 123_[5-9] or 123+0, or"),
        ({"JobIDRaw": ""}, "field 2 (JobIDRaw) is '', expected a job like 123"),
        ({"User": "a|b"}, "16 fields, expected 15 (a '|' or a line end inside a field? leave such"),
        (EARLY, f"field 9 (End) is '2024-03-01T12:09:59', expected {LATER}"),
        ({"ElapsedRaw": "1802"}, f"field 10 (ElapsedRaw) is '1802', expected {AT_MOST}"),
        ({"ElapsedRaw": "", "Elapsed": "01:00:00"}, f"field 16 (Elapsed) is '01:00:00', expected {AT_MOST}"),
    ],
)
def test_a_bad_line_is_named_or_skipped(read, fields, message):
    good = {"Elapsed": ""} if "Elapsed" in fields else {}
    records = [job(1, **good), job(2, **good), job(2, **fields), job(4, **fields)]  # no bad record displaces a good one
    with pytest.raises(SacctError, match=re.escape(f"jobs.txt:4: {message}")):
        read(*records)
    trace = read(*records, lenient=True)
    assert trace.jobs.index.tolist() == [1, 2]
    first, second = trace.dropped["reason"]
    assert first.startswith(f"line 4: {message}")
    assert second.startswith(f"line 5: {message}")


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (("Submit",), {}, "no column Submit"),
        (("Start", "Submit"), {}, "no column Submit, no Start"),
        (("ElapsedRaw", "End"), {}, "no column ElapsedRaw or Elapsed or End"),
        (("AllocCPUS",), {}, "no column AllocCPUS or NCPUS or ReqCPUS"),
        (UNASKED, {"procs_of": "nodes"}, "no column NNodes or AllocNodes or ReqNodes"),
        (UNASKED, {"partition": "batch", "arrival": "eligible"}, "no column Partition, no Eligible"),
    ],
)
def test_missing_columns_are_named_with_the_command(read, names, options, message):
    assert len(read(PLAIN, columns=[*without(*UNASKED)])) == 1
    with pytest.raises(SacctError) as error:
        read(PLAIN, columns=[*without(*names)], **options)
    assert str(error.value).startswith(f"jobs.txt: {message}; run\n    ")
    assert options or str(error.value).endswith(f"run\n    {COMMAND}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"procs_of": "cores"}, "unknown procs_of 'cores'; known: cpus, nodes"),
        ({"arrival": "start"}, "unknown arrival 'start'; known: submit, eligible"),
        ({"time_zone": "Mars/Olympus"}, "unknown time zone 'Mars/Olympus', expected a name like Europe/Stockholm"),
        ({"missing_estimate": "mean"}, "missing_estimate is 'mean'"),
    ],
)
def test_options_that_cannot_be_are_refused(read, options, message):
    with pytest.raises(ValueError, match=message):
        read(PLAIN, **options)


@pytest.mark.parametrize(
    ("names", "list_of_names"),
    [(["red", "b\x9flue"], r"red, b\\x9flue"), ([f"c{number:02}" for number in range(12)], "c00, .*, c09, ...")],
)
def test_jobs_of_several_clusters_are_refused_and_their_names_control_no_terminal(read, names, list_of_names):
    with pytest.raises(SacctError, match=rf"jobs of several clusters \({list_of_names}\), expected one; give cluster="):
        read(*(job(number, Cluster=name) for number, name in enumerate(names)))


@pytest.mark.parametrize(
    ("records", "found"),
    [((), "0 steps, 0 bad lines"), ((job("7.batch", JobIDRaw="7.batch"),), "1 steps, 0 bad lines")],
)
def test_a_file_without_jobs_is_refused(read, records, found):
    with pytest.raises(SacctError, match=rf"^jobs.txt: no job in it \({found}\), expected a line for each; run\n"):
        read(*records, columns=list(PLAIN))


@pytest.mark.parametrize("head", ["       JobID      State", "7|7|batch|COMPLETED", "; Version: 2.2", "Name|Place"])
def test_what_is_no_output_of_sacct_is_refused(tmp_path, head):
    found = re.escape(f"jobs.txt:1: found {head!r}, expected the names of columns with '|' between them, JobID among")
    with pytest.raises(SacctError, match=found):
        sl.read_sacct(written(tmp_path, f"{head}\n{head}\n"))
    for text in ("", "\n \n"):
        with pytest.raises(SacctError, match=r"jobs.txt: the file is empty, expected the output of sacct; run"):
            sl.read_sacct(written(tmp_path, text))


PRETTY = """\
JobID           JobName  Partition    Account  AllocCPUS      State ExitCode
------------ ---------- ---------- ---------- ---------- ---------- --------
48211          simulate      short    physics         64  COMPLETED      0:0
48211.batch       batch               physics         32  COMPLETED      0:0
"""
HEADLESS = "48211|48211|short|ann|2024-03-04T06:10:25|2024-03-04T06:10:25|2024-03-04T07:41:14|5449|240|64|COMPLETED\n"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (PRETTY, "; these are aligned columns, in which sacct cuts long values: give it --parsable2; run"),
        ("\n   " + PRETTY, "; these are aligned columns, in which sacct cuts long values: give it --parsable2; run"),
        (HEADLESS, "(--parsable2, no --noheader); there is no header line: name its columns with columns=; run"),
    ],
)
def test_other_forms_of_the_output_get_a_hint_in_python_and_on_the_command_line(tmp_path, capsys, text, hint):
    path = written(tmp_path, text)
    with pytest.raises(SacctError, match=re.escape(hint)):
        sl.read_sacct(path)
    assert cli.main(["simulate", str(path)]) == 1
    assert hint.replace("columns=", "--columns") in capsys.readouterr().err


def test_other_forms_of_the_file_are_read_and_outputs_one_after_the_other(tmp_path):
    text = export(tmp_path, job(1), job(2)).read_text()
    expected = sl.read_sacct(written(tmp_path, text)).jobs
    trailing = "".join(f"{line}|\n" for line in text.splitlines())  # --parsable
    others = [text.replace("|", mark) for mark in ("^|^", "|||", ";", "\t", ",")]
    others += [trailing, text.replace("\n", "\r\n"), "\ufeff" + text, "\n" + text.rstrip("\n")]
    contents = [*(other.encode() for other in others), text.replace("ann", "andré").encode("latin-1")]
    contents += [text.encode("utf-16")]
    packed = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    packed["zst"] = lambda content: pa.compress(content, codec="zstd", asbytes=True)
    files = [(f"jobs.psv.{suffix}", pack(text.encode())) for suffix, pack in packed.items()]
    for name, content in (*files, *(("other.txt", each) for each in contents)):
        (tmp_path / name).write_bytes(content)
        trace = sl.read_sacct(tmp_path / name)
        assert trace.name == name.partition(".")[0]
        assert trace.jobs.equals(expected)
    both = "".join(export(tmp_path, job(number)).read_text() for number in (1, 2))
    assert sl.read_sacct(written(tmp_path, both)).jobs.index.tolist() == [1, 2]


def test_a_text_without_a_header_is_read_by_the_names_of_its_columns(tmp_path):
    head, *records = export(tmp_path, job(1), job(2)).read_text().splitlines()
    path = written(tmp_path, "\n".join(records))
    names = head.split("|")
    expected = sl.read_sacct(written(tmp_path, "\n".join([head, *records]), "whole.txt")).jobs
    for columns in (names, ",".join(names)):
        assert sl.read_sacct(path, columns=columns).jobs.equals(expected)
    with pytest.raises(SacctError, match="a header line, expected a record; leave out columns=$"):
        sl.read_sacct(tmp_path / "whole.txt", columns=names)


def test_messages_of_slurm_are_counted_and_are_no_records(tmp_path):
    head, *records = export(tmp_path, job(1), job(2)).read_text().splitlines()
    messages = ["sacct: error: slurmdbd: Getting response to message type DBD_GET_JOBS_COND", "slurm_load: error: no"]
    trace = sl.read_sacct(written(tmp_path, "\n".join([messages[0], head, records[0], messages[1], records[1]])))
    assert (len(trace), trace.dropped["reason"].tolist()) == (2, [load_filter.NOISE] * 2)
    assert "nothing to worry about: 2 lines with a message of a tool" in repr(trace)


@pytest.mark.parametrize("last", [True, False])
def test_a_free_text_may_have_several_lines(read, last):
    records = with_names(SubmitLine="srun a &&\necho b\n\necho c")
    columns = [name for name in records[0] if name != "SubmitLine"]
    columns.insert(len(columns) if last else 2, "SubmitLine")
    trace = read(*records, columns=columns, names=True)
    assert trace.jobs["SubmitLine"].tolist() == ["plain", "srun a &&\necho b\necho c", "plain"]
    assert trace.dropped.empty


def test_a_job_that_ends_a_second_before_it_starts_and_has_not_run_is_one_of_no_length(read):
    trace = read(job(1) | EARLY | {"ElapsedRaw": "0"}, job(2))
    assert trace.dropped["reason"].tolist() == [load_filter.NO_TIME]


TRES = {
    "billing=16,cpu=16,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1": 4,
    "cpu=16,gres/gpu:v100=1,gres/gpu:a100=2,node=1": 3,
    "cpu=16,gres/gpumem=40G,gres/gpu=2": 2,
    "gpu:4": 4,
    "gpu:tesla:2": 2,
    "gpu:a100:2(IDX:0-1),gpu:v100:1(IDX:3)": 3,
    "gres:gpu:8": 8,
    "cpu=16,mem=64G,node=1": 0,
}


@pytest.mark.parametrize(("text", "gpus"), TRES.items())
def test_gpus_are_read_from_any_form_and_a_type_counts_once(read, text, gpus):
    message = "1 job has GPUs, with 100 % of the work; cpus are simulated, GPUs are not"
    with pytest.warns(sacct.GpuWarning, match=message) if gpus else contextlib.nullcontext():
        trace = read(job(1) | {"AllocTRES": text, "Account": "physics", "QOS": "high"})
    row = trace.jobs.iloc[0]
    assert (row["gpus"], row["account"], row["qos"], row["AllocTRES"]) == (gpus, "physics", "high", text)
    assert ("has GPUs" in repr(trace)) == (gpus > 0)


def in_json(job_id=1, **more):
    """Return a job as sacct --json writes it."""
    time = {"submission": 1709280000, "eligible": 1709280000, "start": 1709280600, "end": 1709284200, "elapsed": 3600}
    tres = [{"type": "cpu", "count": 16}, {"type": "gres", "name": "gpu:a100", "count": 4}]
    about = {"account": "physics", "cluster": "hpc", "user": "ann"}
    return {
        "job_id": job_id,
        "association": about,
        "qos": "high",
        "partition": "gpu",
        "time": time | {"limit": {"set": True, "infinite": False, "number": 120}} | more.pop("time", {}),
        "state": {"current": ["COMPLETED"], "reason": "None"},
        "tres": {"allocated": tres, "requested": tres},
    } | more


def test_numbers_of_json_may_be_objects_and_a_task_may_be_0(tmp_path):
    number = {"set": True, "infinite": False, "number": 8}
    zero = number | {"number": 0}
    jobs = [
        in_json(7),
        in_json(number, array={"job_id": 8, "task_id": zero}),
        in_json(9, het={"job_id": number, "job_offset": zero}),
    ]
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps({"jobs": jobs}))
    with pytest.warns(sacct.GpuWarning):
        assert sl.read_sacct(path).jobs["JobID"].tolist() == ["7", "8_0", "8+0"]


def test_json_is_read_like_text(tmp_path):
    jobs = [
        in_json(),
        in_json(2, state="FAILED", time={"limit": {"set": True, "infinite": True, "number": 0}}),
        in_json(3, array={"job_id": 3, "task_id": {"set": True, "infinite": False, "number": 7}}),
        in_json(4, state={"current": ["RUNNING"]}, time={"end": 0}),
        in_json(5, state=["PENDING"], time={"start": 0, "end": 0, "elapsed": 0}),
        in_json(6, time={"limit": 60, "start": {"set": True, "infinite": False, "number": 1709280600}}),
    ]
    path = written(tmp_path, json.dumps({"meta": {}, "jobs": jobs}), "jobs.json")
    assert is_export(path)
    with pytest.warns(sacct.GpuWarning):
        trace = sl.read_sacct(path)
    assert trace.jobs.index.tolist() == [1, 2, 3, 6]
    assert trace.jobs["requested_time"].tolist() == [7200, 3600, 7200, 3600]
    assert trace.jobs["status"].tolist() == [1, 0, 1, 1]
    same = trace.jobs[["run_time", "wait_time", "requested_procs", "gpus", "account", "qos"]].drop_duplicates()
    assert same.to_numpy().tolist() == [[3600, 600, 16, 4, "physics", "high"]]
    assert reasons(trace) == {load_filter.RUNNING: 1, load_filter.WAITING: 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"jobs": [', "jobs.txt:1: not JSON (Expecting value), expected the output of sacct --json"),
        ('{"nodes": []}', "jobs.txt: no jobs as sacct --json writes them (KeyError: 'jobs'), expected a list 'jobs'"),
        ('{"jobs": [{"job_id": 1}]}', "jobs.txt: no jobs as sacct --json writes them (KeyError: 'time'), expected"),
        ('{"jobs": []}', "jobs.txt: no job in it (0 steps, 0 bad lines)"),
    ],
)
def test_json_without_jobs_is_refused(tmp_path, text, message):
    with pytest.raises(SacctError, match=f"^{re.escape(message)}"):
        sl.read_sacct(written(tmp_path, text))


def test_an_account_is_no_group(read):
    jobs = [job(1) | {"Group": "users", "Account": "small"}, job(2) | {"Group": "users", "Account": "big"}]
    trace = read(*jobs)
    codes = trace.codes("account")
    assert codes["small"] != codes["big"]
    assert trace.jobs["group_id"].tolist() == [1, 1]
    alone = read(*jobs, columns=[*without("Group"), "Account"])
    assert alone.jobs["group_id"].tolist() == [-1, -1]
    with pytest.raises(ValueError, match="no column 'account'; known: user, group, submit_time"):
        read(job(1)).codes("account")


def test_jobs_that_still_run_are_counted_by_what_they_have_done(read):
    running = {"State": "RUNNING", "End": "Unknown", "ElapsedRaw": "864000", "AllocCPUS": "64"}
    trace = read(job(1), job(2) | running)
    assert "worth a look: 1 job still running (left out, 9" in repr(trace)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "jobs.psv.gz",
            gzip.compress(b"JobID|State\n" * 50, mtime=0)[:-20],
            "jobs.psv.gz: the gzip stream ends early",
        ),
        ("jobs.txt", b"\0" * 100, "jobs.txt: the file is binary"),
        ("a\x1b[2Jb.txt", b"abc\n", r"a\\x1b\[2Jb.txt:1: found 'abc'"),
        ("a\x1b[2Jb.txt", b"JobID|State\n1|COMPLETED\n", r"a\\x1b\[2Jb.txt: no column Submit"),
    ],
)
def test_a_file_that_is_damaged_or_no_text_is_refused_and_its_name_controls_no_terminal(
    tmp_path, name, content, message
):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SacctError, match=f"^{message}"):
        sl.read_sacct(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="nowhere.txt: no such file, expected the output of sacct"):
        sl.read_sacct("nowhere.txt")


# The example, the documentation, the command line -------------------------------------------------------
def test_the_documented_command_is_the_one_in_the_errors():
    documented = " ".join(sl.read_sacct.__doc__.split())
    assert " ".join(COMMAND.replace(",ElapsedRaw", ", ElapsedRaw").split()) in documented


@pytest.mark.reduced
def test_the_example_can_be_simulated():
    trace = sl.read_sacct(example_path(), partition=("debug", "short", "long"), time_zone="Europe/Stockholm")
    lines = example_path().read_text().splitlines()
    assert (trace.procs, len(trace) + len(trace.dropped)) == (128, len(lines) - 1)
    assert reasons(trace)["a step of a job, not a job"] == sum("." in line.partition("|")[0] for line in lines)
    assert set(trace.repaired["field"]) == {"job_number", "requested_time"}
    for scheme in ("fcfs", "easy", "conservative"):
        sl.simulate(trace, scheme).validate()
    assert 0 < len(trace.between("2024-03-05", "2024-03-06")) < len(trace)


def test_the_command_line_knows_an_export(tmp_path, capsys):
    assert is_export(example_path())
    assert cli.main(["simulate", str(example_path()), "--machine", "128"]) == 0
    err = capsys.readouterr().err.splitlines()
    assert err[0].startswith("schedlab: warning: sacct-example.txt: 3 partitions on one machine of 128 cpus: ")
    assert err[0].endswith("if each has its own, do so and simulate with --machine NAME=PROCESSORS,...")
    assert err[1].startswith("Trace sacct-example (file): 268 jobs on 128 processors")
    zipped = tmp_path / "jobs.txt.gz"
    zipped.write_bytes(gzip.compress(example_path().read_bytes()))
    assert is_export(zipped)
    zipped.write_bytes(zipped.read_bytes()[:12])
    for text in ("; Version: 2.2\n", "1 0 1 1\n", ""):
        assert not is_export(written(tmp_path, text, "X.swf"))
    assert not is_export(zipped)
    assert cli.main(["simulate", str(export(tmp_path, job(1, Start="soon")))]) == 1
    assert "schedlab: jobs.txt:2: field 8 (Start) is 'soon'" in capsys.readouterr().err


def test_the_command_line_has_the_options_of_the_reader(capsys):
    path = str(example_path())
    options = ["--partition", "short,debug", "--time-zone", "Europe/Stockholm", "--arrival", "eligible"]
    chosen = {"partition": ("short", "debug"), "time_zone": "Europe/Stockholm", "arrival": "eligible"}
    for more, asked in (([], {}), (["--procs-of", "nodes", "--names"], {"procs_of": "nodes", "names": True})):
        assert cli.main(["simulate", path, *options, *more, "--classes", "user"]) == 0
        out, err = capsys.readouterr()
        trace = sl.read_sacct(example_path(), **chosen, **asked)
        assert err.startswith(repr(trace).strip("<>"))
        expected = sl.simulate(trace).metrics(by="user")
        classes = [line.split() for line in out.partition("\n\n")[2].splitlines()[1:]]
        assert [row[0] for row in classes] == expected.index.astype(str).tolist()
        assert [int(row[1]) for row in classes] == expected["jobs"].tolist()
    assert cli.main(["show", path, "--partition", "short", "--names"]) == 0
    out, err = capsys.readouterr()
    assert "    groups: physics, chemistry, biology\n" in out
    assert "partitions on one machine" not in err


@pytest.mark.parametrize("option", ["partition short", "time-zone UTC", "arrival submit", "procs-of cpus", "names"])
def test_options_of_sacct_are_for_its_output_only(capsys, option):
    name, *value = option.split()
    assert cli.main(["simulate", "lublin", f"--{name}", *value]) == 1
    assert capsys.readouterr().err == f"schedlab: --{name} is for the output of sacct; lublin is not that\n"


def test_what_every_accounting_has_is_nothing_to_worry_about(read):
    many = [job(number) for number in range(100, 300)]
    usual = [
        job("7.batch", JobIDRaw="7.batch"),
        job(8, State="REQUEUED"),
        job(8, Submit="2024-03-01T12:40:00", Start="2024-03-01T12:42:00", End="2024-03-01T13:12:00"),
        *[job(9)] * 2,
        job(10, State="PENDING", **STARTED_NEVER | {"End": "Unknown"}),
        job(11, State="CANCELLED by 7", **STARTED_NEVER),
        job(12, State="REVOKED", **STARTED_NEVER),
        job(13, State="RUNNING", End="Unknown"),
        job(14, State="FAILED", ElapsedRaw="0"),
        job(15, Partition="long"),
    ]
    repairs = read(*many, *usual, machine=64, partition="batch").repairs
    assert sorted(zip(repairs["kind"], repairs["words"], strict=True)) == [
        ("usual", "1 job cancelled before the start (left out)"),
        ("usual", "1 job of 0 s (left out)"),
        ("usual", "1 job of other partitions (left out, as asked)"),
        ("usual", "1 job still running (left out, 25 % of the machine at the end of the log)"),
        ("usual", "1 job still waiting (left out)"),
        ("usual", "1 job that never started (left out)"),
        ("usual", "1 record given twice (left out once)"),
        ("usual", "1 record numbered anew (other runs of a job)"),
        ("usual", "1 step of jobs (left out: no jobs themselves)"),
    ]
    with pytest.warns(sl.workload.LoadWarning, match="2.99 % of the work left out"):
        bad = read(*many, job(16, ElapsedRaw="ten"), job(17, AllocCPUS="99"), machine=64, lenient=True)
    assert bad.repairs[["kind", "words"]].to_numpy().tolist() == [
        ["worth a look", "1 job wider than the machine (left out, 2.99 % of the work)"],
        ["worth a look", "1 line that could not be read (left out)"],
    ]
