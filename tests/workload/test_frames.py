"""Tables with columns of any name, as traces: `from_frame` and `read_table`."""

import bz2
import gzip
import lzma
import re
import warnings
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workloads import examples

import schedlab as sl
from schedlab.workload import swf
from schedlab.workload.filter import CANCELLED_EARLY, RUNNING, STEP, UNREADABLE, WAITING
from schedlab.workload.frames import TableError, UnitWarning
from schedlab.workload.loading import SizeUnknown
from schedlab.workload.runs import GpuWarning

pytestmark = pytest.mark.tables

JOBS = pd.DataFrame(
    {
        "Submit": ["2024-03-01 08:00:00", "2024-03-01 08:05:00", "2024-03-01 09:00:00"],
        "Start": ["2024-03-01 08:00:00", "2024-03-01 09:00:00", "2024-03-01 09:30:00"],
        "End": ["2024-03-01 09:00:00", "2024-03-01 09:30:00", "2024-03-01 10:30:00"],
        "Elapsed": ["01:00:00", "00:30:00", "01:00:00"],
        "Limit": [120, 60, 90],
        "NCPUS": [64, 16, 32],
        "User": ["ann", "bob", "ann"],
        "Account": ["p1", "p2", "p1"],
        "State": ["COMPLETED", "CANCELLED by 1000", "TIMEOUT"],
    }
)
NEEDED = {"submit": "Submit", "run": "Elapsed", "procs": "NCPUS", "machine": 64}


def made(jobs=JOBS, **columns):
    return sl.from_frame(jobs, **{key: value for key, value in (NEEDED | columns).items() if value is not None})


def test_a_table_worked_by_hand():
    trace = made(start="Start", end="End", estimate="Limit", user="User", group="Account", status="State", unit="min")
    columns = ["submit_time", "wait_time", "run_time", "requested_time", "requested_procs", "user_id", "status"]
    assert trace.jobs[columns].to_numpy().tolist() == [
        [0, 0, 3600, 7200, 64, 1, 1],
        [300, 3300, 1800, 3600, 16, 2, 5],
        [3600, 1800, 3600, 5400, 32, 1, 0],
    ]
    assert trace.jobs["allocated_procs"].tolist() == [64, 16, 32]
    assert trace.names["user_id"] == {1: "ann", 2: "bob"}
    assert trace.at(0) == pd.Timestamp("2024-03-01 08:00", tz="UTC")
    assert sl.recorded(trace).start.tolist() == [0, 3600, 5400]


@pytest.mark.parametrize("length", ["3,600", "60,5", "1,024 s", "1:00:00,5"])
def test_a_number_with_a_comma_is_no_length_of_time(length):
    with pytest.raises(TableError, match=f"^table, row 0: column 'Elapsed' .* is '{length}', expected seconds, or"):
        made(JOBS.assign(Elapsed=length))
    assert made(JOBS.assign(Limit=length), estimate="Limit").jobs["requested_time"].tolist() == [3600, 1800, 3600]


def test_numbers_of_jobs_in_a_mixed_column_are_no_steps():
    mixed = pd.Series([1.0, "2_1", 3.0], dtype=object)
    assert made(JOBS.assign(JobID=mixed), job="JobID").jobs.index.tolist() == [1, 2, 3]
    assert made(JOBS.assign(JobID=mixed)).dropped.empty


@pytest.mark.parametrize("values", [{"Elapsed": [60, 70, 80]}, {"NCPUS": [1, 2, 3]}])
def test_tasks_under_one_number_that_start_at_once_are_jobs(values):
    tasks = JOBS.assign(Submit=JOBS["Submit"][0], Elapsed=60, NCPUS=1, ArrayJobID=7).assign(**values)
    trace = made(tasks, job="ArrayJobID")
    assert (len(trace), trace.work()) == (3, (tasks["Elapsed"] * tasks["NCPUS"]).sum())
    assert len(made(pd.concat([tasks, tasks]), job="ArrayJobID")) == 3  # each is given twice


@pytest.mark.parametrize("submit", [[1709280000] * 3, pd.to_datetime(JOBS["Submit"], utc=True)])
def test_times_with_and_without_a_zone_need_one(submit):
    jobs = JOBS.assign(Submit=submit)
    message = (
        r"^table: column 'Submit' \(submit\) has times of a known zone, column 'Start' .* of none; give time_zone="
    )
    with pytest.raises(TableError, match=message):
        made(jobs, start="Start")
    assert made(jobs, start="Start", time_zone="UTC").jobs["wait_time"].min() == 0


def test_more_gpus_than_any_machine_has_are_unknown():
    assert made(JOBS.assign(g=[0, 2**32 - 2, 0]), gpus="g").jobs["gpus"].tolist() == [0, -1, 0]


@pytest.mark.parametrize("options", [{}, {"keep": []}])
def test_a_comma_in_a_number_of_a_file_is_an_error(tmp_path, options):
    path = tmp_path / "jobs.csv"
    path.write_text("s,r,p\n100,60,5,2\n200,70,5,3\n")
    with pytest.raises(TableError, match=r"^jobs.csv: more fields in the first row than in the header; is ',' in"):
        sl.read_table(path, submit="s", run="r", procs="p", machine=64, **options)
    path.write_text("s,r,p\n100,60,2,\n200,70,3,\n")  # a comma at the end of each row
    assert sl.read_table(path, submit="s", run="r", procs="p", machine=64, **options).work() == 330


def test_the_table_of_the_caller_stays_and_further_columns_travel_to_the_schedule():
    before = JOBS.copy(deep=True)
    trace = made()
    jobs = trace.jobs
    jobs["Account"] = "other"
    pd.testing.assert_frame_equal(JOBS, before)
    assert trace.jobs["Account"].tolist() == ["p1", "p2", "p1"]
    schedule = sl.simulate(made(), "easy").validate()
    assert schedule.jobs["Account"].tolist() == ["p1", "p2", "p1"]
    assert schedule.metrics(by="Account")["jobs"].to_dict() == {"p1": 2, "p2": 1}
    assert sl.simulate(made(user="User"), "easy").metrics(by="user").index.tolist() == ["ann", "bob"]


DATES = pd.to_datetime(JOBS["Submit"])
UTC = DATES.dt.tz_localize("UTC")
INSTANTS = {
    "naive": DATES,
    "zone": UTC.dt.tz_convert("Asia/Tokyo"),
    "objects": UTC.astype(object),
    "zones": pd.Series([pd.Timestamp("2024-03-01 17:00", tz="Asia/Tokyo"), *UTC[1:]], dtype=object),
    "category": DATES.astype("category"),
    "period": DATES.dt.to_period("s"),
    "datetime": pd.Series([date.to_pydatetime() for date in DATES], dtype=object),
    "datetime64": pd.Series([date.to_datetime64() for date in DATES], dtype=object),
    "unix": DATES.astype("datetime64[s]").astype("int64"),
    "iso": JOBS["Submit"].str.replace(" ", "T") + "Z",
    "UTC": JOBS["Submit"] + " UTC",
    "short offset": JOBS["Submit"] + "+00",
    "fractions": JOBS["Submit"] + ".000000",
    "text of numbers": ["1709280000", "1709280300", "1709283600"],
    "floats": [1709280000.25, 1709280300.0, 1709283600.0],
}


@pytest.mark.parametrize("form", INSTANTS)
def test_instants_in_any_form(form):
    trace = made(submit=INSTANTS[form])
    assert trace.jobs["submit_time"].tolist() == [0, 300, 3600]
    assert trace.at(0) == pd.Timestamp("2024-03-01 08:00", tz="UTC")


@pytest.mark.parametrize("submit", [[5, 305, 3605], pd.to_timedelta([5, 305, 3605], unit="s")])
def test_seconds_on_a_clock_of_their_own(submit):
    trace = made(submit=submit)
    assert trace.jobs["submit_time"].tolist() == [5, 305, 3605]
    assert trace.header.unix_start_time is None


@pytest.mark.parametrize(
    "run",
    [
        pd.to_timedelta(JOBS["Elapsed"]),
        [3600, 1800, 3600],
        ["3600", "1800.0", "3600"],
        ["0 days 01:00:00", "0 days 00:30:00", "0-01:00:00"],
        [3599.5, 1799.1, 3600],
    ],
)
def test_durations_in_any_form(run):
    assert made(run=run).jobs["run_time"].tolist() == [3600, 1800, 3600]


def test_instants_have_units_and_dates_without_a_zone_are_those_of_the_machine():
    assert made(run=[60, 30, 60], unit={"run": "min"}).jobs["run_time"].tolist() == [3600, 1800, 3600]
    seconds = pd.to_datetime(JOBS["Submit"]).astype("datetime64[s]").astype("int64")
    assert made(submit=seconds * 1000, unit={"submit": "ms"}).at(0) == pd.Timestamp("2024-03-01 08:00", tz="UTC")
    trace = made(time_zone="Europe/Stockholm")
    assert trace.at(0) == pd.Timestamp("2024-03-01 08:00", tz=ZoneInfo("Europe/Stockholm"))
    with pytest.raises(TableError, match=r"row 0: .* is '2024-03-31 02:30', expected a time .* of Europe/Stockholm"):
        made(JOBS.assign(Submit="2024-03-31 02:30"), time_zone="Europe/Stockholm")


@pytest.mark.parametrize(
    ("columns", "procs"),
    [
        ({"procs": None, "nodes": "NCPUS", "procs_per_node": 2, "machine": 128}, [128, 32, 64]),
        ({"procs": None, "nodes": "NCPUS"}, [64, 16, 32]),
        ({"procs": 8}, [8, 8, 8]),
    ],
)
def test_nodes_and_processors_of_a_node(columns, procs):
    assert made(**columns).jobs["requested_procs"].tolist() == procs


def test_the_size_of_the_machine_and_run_times_come_from_what_was_in_use():
    trace = made(start="Start", machine=None)
    assert trace.procs == 64
    assert any("most processors in use" in step for step in trace.history)
    assert made(machine=sl.Flat(100)).procs == 100
    with pytest.raises(SizeUnknown, match=r"table: the size of the machine is not known; give machine="):
        made(machine=None)
    trace = made(run=None, start="Start", end="End")
    assert trace.jobs["run_time"].tolist() == [3600, 1800, 3600]
    assert made(end="End").jobs["wait_time"].tolist() == [0, 3300, 1800]


def test_queues_and_partitions_have_names_and_values_go_by_index():
    trace = made(JOBS.assign(q=["long", "short", None]), queue="q", partition="Account")
    assert trace.jobs["queue"].tolist() == [1, 2, -1]
    assert trace.names["queue"] == {1: "long", 2: "short"}
    assert trace.names["partition"] == {1: "p1", 2: "p2"}
    assert made(user=[7, 0, -1]).jobs["user_id"].tolist() == [7, 0, -1]
    shuffled = JOBS.sample(frac=1, random_state=1)
    assert made(shuffled, procs=JOBS["NCPUS"]).jobs["requested_procs"].tolist() == [64, 16, 32]


def test_rows_that_lack_something_are_accounted_for():
    jobs = pd.concat([JOBS, JOBS], ignore_index=True)
    jobs.loc[0, "Submit"] = None
    jobs.loc[1, "Elapsed"] = "Unknown"
    jobs["NCPUS"] = jobs["NCPUS"].astype("float64")
    jobs.loc[2, "NCPUS"] = np.nan
    jobs.loc[3, "NCPUS"] = 65
    message = r"1 job: submit time unknown; 1 job: wider than the machine \(64 proc"
    with pytest.warns(sl.workload.LoadWarning, match=message):
        trace = made(jobs)
    assert trace.dropped["reason"].str.split(":").str[0].tolist() == [
        "submit time unknown",
        "run time unknown",
        "number of processors unknown",
        "wider than the machine (64 processors)",
    ]
    assert len(trace) + len(trace.dropped) == len(jobs)
    assert (trace.repaired["field"] == "requested_time").sum() == len(trace)


DATE, A_TIME = "2024-03-01 08:00", "expected a time like 2024-03-01 12:00:00"
MIXED_ZONES = [DATE, "2024-03-01T08:05+01:00", "2024-03-01 09:00"]
THREE_HOURS = {"start": "Start", "end": "End", "run": [3_600_000] * 3}
BACKWARDS = {"start": "End", "end": "Start", "run": None}
BAD = [
    ({"run": "elapsed"}, "no column 'elapsed' for run; columns: 'Submit', 'Start', "),
    ({"run": "User"}, "row 0: column 'User' (run) is 'ann', expected seconds, or a duration"),
    (
        {"run": pd.to_datetime(JOBS["End"])},
        "row 0: run is '2024-03-01 09:00:00', expected a duration; dates go to start",
    ),
    ({"submit": MIXED_ZONES}, f"row 1: submit is '{MIXED_ZONES[1]}', expected a time without a time zone, like those"),
    ({"submit": ["01/03/2024 8:00"] * 3}, f"row 0: submit is '01/03/2024 8:00', {A_TIME}, or seconds (pd.to_datetime"),
    ({"submit": [1.7e12] * 3}, "row 0: submit is 1700000000000, expected seconds since 1970; are these ms? unit='ms'"),
    ({"submit": [DATE, "7", DATE]}, "row 1: submit is '7', expected a date, as in submit"),
    ({"start": [5, 6, 7]}, "row 0: start is 5, expected a date, as in column 'Submit' (submit)"),
    (BACKWARDS, f"row 0: column 'Start' (end) is '{DATE}:00', expected a time at or after the start"),
    (
        THREE_HOURS,
        "row 0: run is 3600000, expected at most the time from start to end; is the unit right, and the time",
    ),
    ({"procs": [64, -3, 1]}, "row 1: procs is -3, expected a number up to 16,777,216"),
    ({"procs": [True, False, True]}, "row 0: procs is True, expected a number"),
    ({"run": [np.inf, 1, 1]}, "row 0: run is inf, expected a number"),
    ({"status": [0, 143, 0]}, "row 1: status is 143, expected SWF's 1 (completed)"),
    ({"run": pd.Series([1, 2, 3], index=[5, 6, 7])}, "run is a Series with another index than the table"),
    ({"run": [1, 2]}, "run has 2 values, the table 3 rows"),
    ({"submit": None}, "no submission; name its column: submit=..."),
    ({"run": None}, "no run time; name its column, or start and end"),
    ({"procs": None}, "no processors; name a column"),
    ({"nodes": "NCPUS"}, "procs and nodes are both given"),
    ({"procs_per_node": 2}, "procs_per_node is given without nodes"),
    ({"procs": [0, 0, 0]}, "none of 3 records can be simulated"),
    *[
        ({role: pd.Series([nothing] * 3, dtype=object)}, f"none of 3 records can be simulated; 3: {name} unknown")
        for role, name in (("submit", "submit time"), ("run", "run time"), ("procs", "number of processors"))
        for nothing in (None, pd.NaT)
    ],
    ({"run": [1e30, 1, 1]}, "row 0: run is 1e+30, expected seconds that a job can last"),
    ({"run": [1, 10**30, 1]}, f"row 1: run is {10**30}, expected seconds that a job can last"),
    ({"run": ["1", "1" + "0" * 30, "1"]}, "row 1: run is '1000000000000000000000000000000', expected seconds"),
    ({"submit": [1e25, 1, 1]}, "row 0: submit is 1e+25, expected seconds since 1970"),
    ({"submit": ["1900-01-01T00:00:00Z"] * 3}, "row 0: submit is '1900-01-01T00:00:00Z', expected a date from 1970"),
    ({"submit": pd.to_datetime(["1960-01-01"] * 3)}, "row 0: submit is '1960-01-01 00:00:00', expected a date from"),
    ({"run": np.array([1, 2, 3], dtype=complex)}, "row 0: run is (1+0j), expected seconds, or a duration"),
    ({"jobs": JOBS.iloc[:0]}, "the table has no rows, expected one for each job"),
    ({"jobs": pd.concat([JOBS, JOBS[["User"]]], axis=1)}, "several columns are called 'User'"),
    ({"jobs": JOBS.set_index("User", drop=False)}, "the index and a column are both called 'User'"),
]


@pytest.mark.parametrize(("columns", "words"), BAD)
def test_bad_tables_are_one_clear_error(columns, words):
    with pytest.raises(TableError, match=f"^table[,:] {re.escape(words)}"):
        made(**columns)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *[("estimate", value) for value in (2**64 - 1, "two hours", -5)],
        *[("user", value) for value in (0.5, 2**60, np.inf)],
        *[("job", value) for value in (2**60, 1.5)],
        ("memory", "much"),
        ("gpus", "some"),
    ],
)
def test_a_value_that_no_run_needs_costs_no_job_and_is_counted(column, value):
    values = [value, *(["1", "2"] if isinstance(value, str) else [1, 2])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnitWarning)
        warnings.simplefilter("ignore", GpuWarning)
        trace = made(**{column: values})
    assert len(trace) == 3
    assert trace.work() == 64 * 3600 + 16 * 1800 + 32 * 3600 if column != "estimate" else True
    unread = trace.repaired[trace.repaired["reason"] == UNREADABLE]
    assert unread["field"].tolist() == [column]
    assert "1 value that cannot be read (taken for unknown" in repr(trace).partition("usual: ")[0]
    assert f"cannot be read: {value!r} in {column}, row 0" in trace.history


def test_numbers_for_states_are_those_of_swf_or_of_slurm_and_nobody_guesses():
    for states, expected in (("swf", [1, 0, 5]), ("slurm", [-1, -1, 0])):
        assert read_status([1, 0, 5], states=states) == expected
    assert read_status([3, 4, 11]) == [1, 5, 0]  # only Slurm has an 11
    assert read_status([1, -1, 5]) == [1, -1, 5]  # only SWF has a -1
    with pytest.raises(TableError, match=r"^table: status has numbers, SWF's \(0 failed, 1 .*give states='swf' or 'sl"):
        read_status([1, 0, 5])
    assert made(JOBS.assign(status=[1, 0, 5])).jobs["status"].tolist() == [1, 0, 5]  # as SWF calls its own column


def read_status(status, **settings):
    trace = made(status=status, **settings)
    records = pd.concat([trace.jobs, trace.dropped]).sort_index()
    return records["status"].tolist()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"states": "pbs"}, "unknown states 'pbs'; known: swf, slurm"),
        ({"arrival": "eligible"}, "table: arrival='eligible', but no column for eligible"),
        ({"unit": "weeks"}, "unknown unit 'weeks'; known: ns, us, ms, s, min, h, d"),
        ({"unit": {"size": "s"}}, "unknown argument in unit 'size'"),
        ({"time_zone": "Mars"}, "unknown time zone 'Mars'"),
        ({"jobs": [1]}, "df is a list, expected a DataFrame"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        made(**settings)


def test_lenient_leaves_bad_rows_out_and_says_so_in_short():
    trace = made(procs=[64, -3, 32], lenient=True)
    assert trace.jobs["requested_procs"].tolist() == [64, 32]
    words = "row 1: procs is -3, expected a number up to 16,777,216, or -1 for unknown"
    assert trace.dropped["reason"].tolist() == [words]
    assert "1 row that could not be read (left out)" in trace.repairs["words"].tolist()
    with pytest.raises(TableError, match="none of 1,000 records can be simulated") as raised:
        made(pd.DataFrame({"Submit": range(1000), "Elapsed": 1, "NCPUS": -7}), lenient=True)
    assert len(str(raised.value)) < 1000


def test_minutes_taken_for_seconds_are_suspected_and_unknown_words_for_states_told():
    with pytest.warns(UnitWarning, match="67 % of the jobs run more than 10 times as long as their estimates"):
        made(estimate=[1, 2, 4000])
    trace = made(status=["Pass", "Killed", "levitating"])
    assert trace.jobs["status"].tolist() == [1, 5, -1]
    assert trace.history[-1] == "status: 'levitating' not known, taken for unknown"


def test_names_that_the_schedule_needs_and_numbers_that_are_text_are_kept_under_another():
    trace = made(JOBS.assign(procs=1, submit_time="x", start_time=[7, 8, 9]))
    kept = trace.jobs[["procs_given", "submit_time_given", "start_time_given"]]
    assert kept["start_time_given"].tolist() == [7, 8, 9]
    assert sl.simulate(trace).jobs["start_time_given"].tolist() == [7, 8, 9]
    assert "column procs is kept as procs_given" in trace.history
    trace = made(JOBS.assign(job_number=["7.a", "7.b", "8"], procs=1, procs_given=2))
    assert trace.jobs.index.tolist() == [9, 7, 8]  # of the two runs of job 7 the last keeps the number
    assert trace.jobs["job_number_given"].tolist() == ["7.a", "7.b", "8"]
    assert trace.jobs["procs_given_given"].tolist() == [1, 1, 1]
    assert trace.jobs["procs_given"].tolist() == [2, 2, 2]


def test_steps_and_jobs_that_wait_or_run_are_no_jobs():
    rows = [
        ("1", "08:10", "09:10", "01:00:00", "COMPLETED"),
        ("1.batch", "08:10", "09:10", "01:00:00", "COMPLETED"),
        ("1.0", "08:10", "09:10", "01:00:00", "COMPLETED"),
        ("2_3", "08:10", "Unknown", "01:00:00", "RUNNING"),
        ("3", "Unknown", "Unknown", "00:00:00", "PENDING"),
        ("4", "None", "08:05", "00:00:00", "CANCELLED by 5"),
        ("5", "08:10", "Unknown", "01:00:00", "COMPLETED"),  # its end was not recorded
    ]
    table = pd.DataFrame(rows, columns=["JobID", "Start", "End", "Elapsed", "State"]).assign(
        Submit="2024-03-01 08:00", N=4
    )
    table[["Start", "End"]] = table[["Start", "End"]].replace(r"^([0-9])", r"2024-03-01 \1", regex=True)
    roles = {"submit": "Submit", "start": "Start", "end": "End", "run": "Elapsed", "procs": "N"}
    for more in ({}, {"job": "JobID", "status": "State"}):
        trace = sl.from_frame(table, **roles, **more)
        assert (len(trace), trace.work()) == (2, 2 * 4 * 3600)
        assert trace.dropped["reason"].value_counts().to_dict() == {STEP: 2, RUNNING: 1, WAITING: 1, CANCELLED_EARLY: 1}
        running = "1 job still running (left out, 33.3 % of the work, 50 % of the machine at the end of the log)"
        assert running in repr(trace).partition("usual")[0]
    unfinished = sl.from_frame(table[["Start", "End", "Elapsed", "Submit", "N"]], **roles)
    assert (unfinished.dropped["reason"] == RUNNING).sum() == 2  # nothing but the missing end tells


whole, runs = st.integers(0, 10**6), st.integers(1, 10**6)


@examples(100)
@given(st.lists(st.tuples(whole, runs, st.integers(1, 64), whole, st.integers(-1, 9)), min_size=1))
def test_tables_with_the_columns_of_swf_need_no_words(rows):
    columns = ["submit_time", "run_time", "requested_procs", "wait_time", "user_id"]
    table = pd.DataFrame(rows, columns=columns).assign(job_number=np.arange(1, len(rows) + 1))
    jobs = sl.from_frame(table, machine=64).jobs.sort_index()
    pd.testing.assert_frame_equal(jobs[columns], table.set_index("job_number")[columns])
    assert list(jobs.columns) == [field for field in swf.FIELDS if field != "job_number"]


@pytest.fixture(params=["jobs.csv", "jobs.tsv", "jobs.csv.gz", "jobs.parquet"])
def path(request, tmp_path):
    """Return a file with the jobs, of each kind."""
    path = tmp_path / request.param
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow")
        JOBS.to_parquet(path)
    else:
        JOBS.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


def test_files(path):
    trace = sl.read_table(path, **NEEDED)
    pd.testing.assert_frame_equal(trace.jobs, made().jobs)
    assert trace.name == "jobs"
    few = sl.read_table(path, **NEEDED, keep=["Account"])
    assert list(few.jobs.columns[17:]) == ["Account"]
    assert list(sl.read_table(path, **NEEDED, keep=[]).jobs.columns) == list(swf.FIELDS[1:])


def test_rows_of_a_file_are_counted_from_the_first_below_its_head(path):
    with pytest.raises(TableError, match=rf"^{re.escape(path.name)}, row 1: column 'User' \(run\) is 'ann'"):
        sl.read_table(path, **NEEDED | {"run": "User"})


AB = b"a,b\n1,2\n"


@pytest.mark.parametrize(
    ("name", "content", "columns", "words"),
    [
        ("ragged.csv", b"a,b\n1,2\n1,2,3\n", {}, "ragged.csv:3: 3 fields, expected 2"),
        ("empty.csv", b"", {}, "empty.csv: the file is empty"),
        ("broken.csv.gz", gzip.compress(AB, mtime=0)[:-9], {}, "broken.csv.gz: not text in UTF-8, or damaged"),
        ("latin.csv", "Submit,Größe\n1,2\n".encode("latin-1"), {}, "latin.csv: not text in UTF-8"),
        ("other.csv", AB, {"keep": []}, "other.csv: no column 'Submit' for submit; columns: 'a', 'b'"),
        ("other.csv", AB, {"keep": ["c"]}, "no column 'c' to keep"),
        ("pipes.csv", AB.replace(b",", b"|"), {}, r"is it separated by '\|'\? give read_table separator='\|'"),
        ("broken.parquet", b"PAR1 and nothing else", {}, "broken.parquet: not a Parquet file, or a damaged one"),
    ],
)
def test_files_that_are_no_tables(tmp_path, name, content, columns, words):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=words):
        sl.read_table(tmp_path / name, **NEEDED | columns)


def test_arguments_that_no_file_can_have(tmp_path):
    (tmp_path / "other.csv").write_bytes(AB)
    with pytest.raises(FileNotFoundError, match=r"nothing.csv: no such file, expected a table"):
        sl.read_table(tmp_path / "nothing.csv", **NEEDED)
    with pytest.raises(TypeError, match="read_table has no argument 'proc'"):
        sl.read_table(tmp_path / "other.csv", **NEEDED, proc="a")
    with pytest.raises(TypeError, match="run is a list, expected the name of a column"):
        sl.read_table(tmp_path / "other.csv", **NEEDED | {"run": [1]})


# Columns of other types ---------------------------------------------------------------------------------
SECONDS = pd.Series([3600, 1800, 3600])


@pytest.mark.parametrize("kind", ["Int64", "Float64", "uint16", "float32", "category", "string", "object"])
def test_numbers_of_any_type(kind):
    assert made(run=SECONDS.astype(kind)).jobs["run_time"].tolist() == [3600, 1800, 3600]
    assert made(procs=JOBS["NCPUS"].astype(kind)).jobs["requested_procs"].tolist() == [64, 16, 32]


@pytest.mark.filterwarnings("ignore::schedlab.workload.LoadWarning")
@pytest.mark.parametrize("kind", ["int64[pyarrow]", "double[pyarrow]", "string[pyarrow]", "duration[us][pyarrow]"])
def test_columns_of_arrow(kind):
    pytest.importorskip("pyarrow")
    values = pd.to_timedelta(SECONDS, unit="s") if kind.startswith("duration") else SECONDS
    assert made(run=values.astype(kind)).jobs["run_time"].tolist() == [3600, 1800, 3600]
    for submit in (DATES, DATES.dt.tz_localize("UTC")):
        unit = "us" if submit.dt.tz is None else "us, tz=UTC"
        trace = made(submit=submit.where(DATES.dt.minute == 0).astype(f"timestamp[{unit}][pyarrow]"))
        assert trace.jobs["submit_time"].tolist() == [0, 3600]
        assert trace.at(0) == pd.Timestamp("2024-03-01 08:00", tz="UTC")


@pytest.mark.filterwarnings("ignore::schedlab.workload.LoadWarning")
@pytest.mark.parametrize("nothing", [None, np.nan, pd.NaT, pd.NA, "", "Unknown", "-1"])
def test_whatever_is_missing_is_unknown(nothing):
    def without(values):
        return pd.Series([values[0], nothing, values[2]], dtype=object)

    for columns in ({"submit": without(DATES)}, {"run": without(SECONDS)}, {"procs": without(JOBS["NCPUS"])}):
        assert made(**columns).dropped["reason"].str.contains("unknown").tolist() == [True]
    trace = made(user=without(JOBS["User"]), status=without(JOBS["State"]), estimate=without([7200] * 3))
    assert trace.jobs["user_id"].tolist() == [1, 2 if str(nothing) in ("Unknown", "-1") else -1, 1]
    assert trace.jobs["status"].tolist() == [1, -1, 0]
    assert trace.jobs["requested_time"].tolist() == [7200, 1800, 7200]


@pytest.mark.parametrize(
    "status",
    [
        pd.array([True, None, False], dtype="boolean"),
        pd.Series([True, None, False], dtype=object),
        pd.Categorical([True, None, False]),
        pd.array([1, None, 0], dtype="Int64"),
        pd.Categorical([1, None, 0]),
        ["1", "", "0"],
    ],
)
def test_truth_and_codes_of_any_type_for_states(status):
    trace = made(status=status, states="swf")
    assert trace.jobs["status"].tolist() == [1, -1, 0]
    assert not any("not known" in step for step in trace.history)


def test_an_index_of_any_kind():
    jobs = made().jobs
    for index in ([1, 1, 2], pd.MultiIndex.from_tuples([(1, 1), (1, 2), (2, 1)]), list("abc"), [np.nan, None, 1]):
        pd.testing.assert_frame_equal(made(JOBS.set_axis(index)).jobs, jobs)
    trace = made(JOBS.set_index(["User", "Account"]), user="User")
    assert trace.names["user_id"] == {1: "ann", 2: "bob"}
    assert trace.jobs["Account"].tolist() == ["p1", "p2", "p1"]


def test_columns_whose_names_are_no_text():
    numbered = JOBS.set_axis(range(len(JOBS.columns)), axis=1)
    trace = made(numbered, submit=0, run=3, procs=5)
    assert trace.jobs["requested_procs"].tolist() == [64, 16, 32]
    assert trace.jobs["7"].tolist() == ["p1", "p2", "p1"]
    pairs = JOBS.set_axis(pd.MultiIndex.from_product([["all"], JOBS.columns]), axis=1)
    trace = made(pairs, submit=("all", "Submit"), run=("all", "Elapsed"), procs=("all", "NCPUS"))
    assert trace.jobs["requested_procs"].tolist() == [64, 16, 32]


def test_one_row_and_dates_that_nanoseconds_cannot_count():
    assert made(JOBS.iloc[:1]).jobs["run_time"].tolist() == [3600]
    trace = made(submit=np.array(["2300-01-01", "2300-01-02", "2300-01-03"], dtype="datetime64[s]"))
    assert trace.jobs["submit_time"].tolist() == [0, 86_400, 172_800]


@pytest.mark.parametrize("numbers", [range(70, 70 + len(JOBS)), [*range(90, 90 + len(JOBS) - 1), 5]])
def test_an_index_of_parquet_is_a_column_like_others(numbers, tmp_path):
    pytest.importorskip("pyarrow")
    JOBS.assign(Name=numbers).set_index("Name").to_parquet(tmp_path / "jobs.parquet")
    every, kept, named, none = (
        sl.read_table(tmp_path / "jobs.parquet", **NEEDED, **more).jobs
        for more in ({}, {"keep": ["Name"]}, {"job": "Name", "keep": ["Name"]}, {"keep": []})
    )
    assert every["Name"].tolist() == kept["Name"].tolist()
    assert "Account" not in kept
    assert named.index.tolist() == kept["Name"].tolist()
    assert "Name" not in none


def test_a_folder_of_parquet_files_is_one_table(tmp_path):
    pytest.importorskip("pyarrow")
    folder = tmp_path / "kestrel"
    (folder / "2024").mkdir(parents=True)
    for name, rows in (("a.parquet", slice(0, 2)), ("2024/b.parquet", slice(2, None))):
        JOBS.iloc[rows].reset_index(drop=True).to_parquet(folder / name)
    JOBS.iloc[[2, 0, 1]].to_parquet(tmp_path / "one.parquet")
    found, expected = (sl.read_table(tmp_path / name, **NEEDED) for name in ("kestrel", "one.parquet"))
    pd.testing.assert_frame_equal(found.jobs, expected.jobs)
    assert found.name == "kestrel"
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match=r"empty: a folder without Parquet files, expected some \(.parquet\)"):
        sl.read_table(tmp_path / "empty", **NEEDED)
    (folder / "c.parquet").write_bytes(b"no such thing")
    with pytest.raises(TableError, match="kestrel: not a Parquet file, or a damaged one"):
        sl.read_table(folder, **NEEDED)


def test_a_column_of_ones_own_keeps_its_type_in_any_order_of_the_rows():
    frame = pd.DataFrame({"submit": [5, 0, 9], "run": [1, 2, 3], "procs": 1})
    frame["due"] = pd.Series([datetime(2020, 1, 1), None, datetime(2020, 1, 2)], dtype=object)
    for rows in (frame, frame.sort_values("submit")):
        due = sl.from_frame(rows, submit="submit", run="run", procs="procs", machine=4).jobs["due"]
        assert (due.dtype, due.tolist()) == (object, [None, datetime(2020, 1, 1), datetime(2020, 1, 2)])


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_table_may_be_packed_and_in_any_unicode(tmp_path, suffix, encoding):
    pack = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    pack[".zst"] = lambda content: pa.compress(content, codec="zstd", asbytes=True)
    path = tmp_path / f"jobs.csv{suffix}"
    path.write_bytes(pack[suffix](JOBS.assign(User=["äbc", "b", "c"]).to_csv(index=False).encode(encoding)))
    trace = sl.read_table(path, submit="Submit", run="Elapsed", procs="NCPUS", user="User", machine=64)
    assert trace.names["user_id"] == {1: "äbc", 2: "b", 3: "c"}
    assert trace.name == "jobs"
