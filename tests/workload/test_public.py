"""Public logs that are not plain SWF: small made-up files with their columns, and expectations worked by hand."""

import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest

import schedlab as sl

pytestmark = pytest.mark.tables

NEVER_STARTED = "never started"
RUNNING = "still running when the record was made"
CANCELLED_EARLY = "cancelled before it started"
NO_PROCS = "number of processors unknown"


def read(log, path, **settings):
    return sl.read_public(path, log, **settings)


def checked(trace, columns, *rows):
    """Compare columns of the jobs with the expected rows, and simulate."""
    assert list(trace.jobs[columns.split()].itertuples(index=False, name=None)) == list(rows)
    sl.simulate(trace, "easy").validate()
    return trace


def named(trace, column):
    return trace.jobs[column].map(trace.names[column]).tolist()


def reasons(trace):
    return trace.dropped["reason"].tolist()


def parquet(frame, path):
    pytest.importorskip("pyarrow")
    frame.to_parquet(path)
    return path


def text(lines, path):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def utc(*times):
    return pd.to_datetime([f"2020-05-31 {time}" for time in times], utc=True).astype("datetime64[us, UTC]")


# PM100 --------------------------------------------------------------------------------------------------
@pytest.fixture
def pm100(tmp_path):
    """Return four jobs: one killed at its limit of 120 minutes, and one that ends before its start."""
    frame = pd.DataFrame(
        {
            "job_id": [10, 11, 12, 13],
            "submit_time": utc("22:00:00", "22:09:29", "22:10:00", "22:20:00"),
            "start_time": utc("22:00:10", "22:09:30", "22:30:00", "22:20:00"),
            "end_time": utc("22:12:10", "22:21:33", "22:20:00", "22:20:05"),
            "run_time": [720, 723, 600, 5],
            "time_limit": [10, 120, 60, 60],
            "num_nodes_alloc": [16, 2, 1, 981],
            "num_nodes_req": [16, 2, 1, 981],
            "num_gpus_alloc": [64, 8, 4, 3921],
            "num_cores_alloc": [2048, 256, 128, 125568],
            "mem_alloc": [3800, 475, 237, 9],
            "user_id": [310, 7, 310, 7],
            "group_id": 25200,
            "partition": ["1", "1", "0", "1"],
            "qos": ["1", "8", "1", "1"],
            "priority": [100, 200, 300, 400],
            "job_state": ["TIMEOUT", "COMPLETED", "CANCELLED", "NODE_FAIL"],
            "node_power_consumption": [np.array([500, 510])] * 4,
        }
    )
    return parquet(frame, tmp_path / "job_table.parquet")


@pytest.mark.filterwarnings("ignore::schedlab.workload.LoadWarning")
def test_pm100_has_limits_in_minutes(pm100):
    trace = checked(
        read("pm100", pm100),
        "submit_time wait_time run_time requested_time requested_procs user_id status priority mem_alloc",
        (0, 10, 720, 600, 16, 310, 0, 100, 3800),
        (569, 1, 723, 7200, 2, 7, 1, 200, 475),
    )
    assert (trace.procs, trace.name) == (980, "job_table")
    assert trace.jobs.index.tolist() == [10, 11]
    assert (named(trace, "queue"), named(trace, "partition")) == (["1", "8"], ["1", "1"])
    assert trace.at(0) == pd.Timestamp("2020-05-31 22:00", tz="UTC")
    assert reasons(trace) == [
        CANCELLED_EARLY,
        "wider than the machine (980 processors)",
    ]
    assert trace.history[-1] == "a processor is a node; only jobs alone on their nodes"
    assert "node_power_consumption" not in trace.jobs


@pytest.mark.filterwarnings("ignore::schedlab.workload.LoadWarning")
def test_pm100_in_gpus(pm100):
    trace = checked(read("pm100", pm100, procs_of="gpus"), "requested_procs num_nodes_alloc", (64, 16), (8, 2))
    assert trace.procs == 3_920
    assert len(read("pm100", pm100, machine=981)) == 3
    with pytest.raises(ValueError, match="unknown procs_of 'cores'; known: nodes, gpus"):
        read("pm100", pm100, procs_of="cores")


# F-DATA -------------------------------------------------------------------------------------------------
def test_fdata_has_dates_with_short_offsets_and_nodes_allocated_or_requested(tmp_path):
    frame = pd.DataFrame(
        {
            "jid": ["jid_0", "jid_1", "jid_2", "jid_3"],
            "usr": ["usr_5", "usr_0", "usr_5", "usr_1"],
            "adt": [f"2021-04-01 {time}+09" for time in ("10:28:01", "00:00:01", "11:00:00", "12:00:00")],
            "sdt": [f"2021-04-01 {time}+09" for time in ("10:28:31", "00:00:01", "11:00:10", "12:00:09")],
            "edt": [f"2021-04-01 {time}+09" for time in ("10:38:31", "01:00:01", "11:00:05", "12:30:09")],
            "duration": [600.0, 3599.0, 10.0, 1800.0],
            "elpl": [3600.0, 86400.0, 60.0, 600.0],
            "nnuma": [0, 384, 1, 2],
            "nnumr": [12, 400, 1, 2],
            "mszl": [2.0**64, 1e9, 1e9, 1e9],
            "econ": [1.5, 2.5, 3.5, 4.5],
            "pclass": ["memory-bound", "compute-bound", "memory-bound", "compute-bound"],
            "exit state": ["completed", "failed", "completed", "completed"],
        }
    )
    trace = checked(
        read("fdata", parquet(frame, tmp_path / "21_04.parquet")),
        "submit_time wait_time run_time requested_time requested_procs status econ",
        (0, 0, 3600, 86_400, 384, 0, 2.5),
        (37_680, 30, 600, 3_600, 12, 1, 1.5),
        (43_199, 9, 1800, 600, 2, 1, 4.5),
    )
    assert (trace.procs, trace.name) == (158_976, "21_04")
    assert named(trace, "user_id") == ["usr_0", "usr_5", "usr_1"]
    assert trace.at(0) == pd.Timestamp("2021-04-01 00:00:01", tz="Asia/Tokyo")  # in March by UTC
    late = "row 3: column 'edt' (end) is '2021-04-01 11:00:05+09', expected a time at or after the start"
    assert reasons(trace) == [late]
    few = parquet(frame.drop(columns="nnumr"), tmp_path / "few.parquet")
    assert sl.read_public(log="fdata", path=few).jobs.index.tolist() == [2, 4]
    with pytest.raises(sl.workload.TableError, match="^few.parquet: no column 'nnuma' for procs"):
        read("fdata", parquet(frame.drop(columns="nnuma"), tmp_path / "few.parquet"))


# Frontier -----------------------------------------------------------------------------------------------
FIELDS = "job_id submit_time wait_time runtime allocated_nodes CPU_time_used RAM_used required_nodes walltime_limit"
FIELDS += " RAM_requested job_status user_id group_id executable_number queue_id partition preceding_job think_time"
FIELDS += " used_GPUs soft_walltime required_properties"
HEAD = ["; Version: 1.0", "; Computer:  Frontier", "; UnixStartTime: 1735689600", "; number of jobs: 4"]
HEAD += ["; JOB FIELDS MEANING: ", *(f"; {place:2}: {name}   (words)" for place, name in enumerate(FIELDS.split()))]


@pytest.mark.filterwarnings("ignore::schedlab.workload.LoadWarning")
def test_frontier_has_its_nodes_in_field_21(tmp_path):
    jobs = [
        "1 1 0 5585 336 5585 -1 336 7200 -1 1 0 0 -1 0 -1 -1 -1 0 5585 frontier:excl:3x112",
        "2 5 7 100 229376 100 -1 229376 600 -1 1 3 0 -1 2 -1 -1 -1 4096 -1 frontier:excl:2048x112",
        "3 6 0 100 4 100 -1 4 600 -1 1 3 0 -1 2 -1 -1 -1 8 -1 unknown",
        "4 9 0 100 1 100 -1 1 -1 -1 1 3 0 -1 2 -1 -1 -1 4 -1 frontier:excl:9473x64",
    ]
    trace = checked(
        read("frontier", text([*HEAD, *jobs], tmp_path / "frontier-2025.swf")),
        "submit_time wait_time run_time requested_time requested_procs allocated_procs user_id queue used_GPUs "
        "required_properties",
        (1, 0, 5585, 7200, 3, 3, 0, 0, 0, "frontier:excl:3x112"),
        (5, 7, 100, 600, 2048, 2048, 3, 2, 4096, "frontier:excl:2048x112"),
    )
    assert (trace.procs, trace.name) == (9_472, "frontier-2025")
    assert trace.at(0) == pd.Timestamp("2025-01-01", tz="UTC")
    assert trace.dropped["reason"].to_dict() == {3: NO_PROCS, 4: "wider than the machine (9472 processors)"}
    assert trace.history == ("a processor is a node, as field 21 has them",)
    packed = tmp_path / "frontier-2025.swf.gz"
    packed.write_bytes(gzip.compress((tmp_path / "frontier-2025.swf").read_bytes()))
    pd.testing.assert_frame_equal(read("frontier", packed).jobs, trace.jobs)


# Theta --------------------------------------------------------------------------------------------------
DJC = "JOB_NAME,COBALT_JOBID,MACHINE_NAME,QUEUED_TIMESTAMP,START_TIMESTAMP,END_TIMESTAMP,USERNAME_GENID,"
DJC += "PROJECT_NAME_GENID,QUEUE_NAME,WALLTIME_SECONDS,RUNTIME_SECONDS,NODES_USED,NODES_REQUESTED,EXIT_STATUS,"
DJC += "ELIGIBLE_WAIT_SECONDS,MODE"
DAY = "2023-01-01"


def test_theta_comes_in_order_of_its_ends(tmp_path):
    lines = [
        f"a,1,T,{DAY} 08:10:00.500000,{DAY} 08:10:01,{DAY} 09:11:31,77,8,default,3600.0000,3690.0,128.0,128,143,1,x",
        f"b,2,theta,{DAY} 08:00:00,{DAY} 08:30:00,{DAY} 09:30:00,5,8,debug-cache-quad,7200.0000,3600.0,8,8,0,1800,x",
        f"c,3,theta,{DAY} 08:20:00,{DAY} 08:30:00,{DAY} 09:40:00,5,9,default,7200.0000,4200.0,256,256,,600,x",
        f"d,4,theta,{DAY} 08:25:00,,,5,9,default,7200.0000,,256,256,1,600,x",
        f"e,5,theta,{DAY} 08:26:00,{DAY} 08:30:00,{DAY} 09:40:00,5,9,default,7200.0000,4200.0,0,256,0,600,x",
    ]
    path = tmp_path / "ANL-ALCF-DJC-THETA_20230101_20231231.csv.gz"
    path.write_bytes(gzip.compress(("\ufeff" + "\n".join([DJC, *lines])).encode()))
    trace = checked(
        read("theta", path),
        "submit_time wait_time run_time requested_time requested_procs user_id group_id status",
        (0, 1800, 3600, 7200, 8, 5, 8, 1),
        (600, 0.5, 3690, 3600, 128, 77, 8, 0),
        (1200, 600, 4200, 7200, 256, 5, 9, -1),
    )
    assert (trace.procs, trace.name) == (4_392, "ANL-ALCF-DJC-THETA_20230101_20231231")
    assert named(trace, "queue") == ["debug-cache-quad", "default", "default"]
    assert trace.dropped["reason"].tolist() == [NEVER_STARTED, NO_PROCS]
    rest = trace.where("queue not in ('debug-cache-quad', 'debug-flat-quad')").with_machine(4360)
    assert rest.jobs["requested_procs"].tolist() == [128, 256]
    assert "no time zone was given" in "".join(trace.header.lines)
    assert read("theta", path, time_zone="America/Chicago").at(0) == pd.Timestamp(f"{DAY} 08:00", tz="America/Chicago")


# Cori ---------------------------------------------------------------------------------------------------
def test_cori_has_columns_with_blanks_and_no_limits(tmp_path):
    lines = [
        "\ufeffJob,Submit,Nodes Allocated,Elapsed Secs",
        "7,2022-07-11 00:00:00,2.0,3600.0",
        "7,2022-07-11 00:10:00,1.0,59.2",
        "8,2022-07-11 00:20:00,0.0,10.0",
        "9,2022-07-11 00:30:00,1.0,0.0",
    ]
    trace = checked(
        read("cori", text(lines, tmp_path / "knl.csv")),
        "submit_time wait_time run_time requested_time requested_procs",
        (0, -1, 3600, 3600, 2),
        (600, -1, 60, 60, 1),
    )
    assert trace.procs == 9_688
    assert trace.jobs.index.is_unique  # of 7 and 7
    assert trace.at(0) == pd.Timestamp("2022-07-11", tz="America/Los_Angeles")
    assert trace.dropped["reason"].to_dict() == {8: NO_PROCS, 9: "run time is 0"}
    assert read("cori", tmp_path / "knl.csv", machine=2_388).procs == 2_388


# Kestrel ------------------------------------------------------------------------------------------------
@pytest.fixture
def kestrel():
    """Return four jobs; one of them still waits."""
    times = ["2024-02-19 16:17:31-07", "2024-02-19 16:18:31-07", "2024-02-19 16:20:00-07", "2024-07-01 00:00:00-06"]
    return pd.DataFrame(
        {
            "id": ["1", "2_1", "2_2", "3"],
            "job_id": [1, 2, 2, 3],
            "array_pos": [None, 1, 2, None],
            "user_hash": ["a1b2c3d", "0000001", "a1b2c3d", "0000001"],
            "account_hash": ["fff0001", "fff0001", "fff0002", "fff0002"],
            "partition": ["short,standard", "gpu-h100", "standard", None],
            "qos": ["normal", "high", "normal", "standby"],
            "state": ["COMPLETED", "CANCELLED by 132357", "TIMEOUT", "PENDING"],
            "state_simple": ["COMPLETED", "CANCELLED", "FAILED", "PENDING"],
            "submit_time": times,
            "start_time": ["2024-02-19 16:17:41-07", "2024-02-19 16:18:31-07", "2024-02-19 16:20:00-07", None],
            "end_time": ["2024-02-19 17:17:41-07", "2024-02-19 16:19:31-07", "2024-02-19 17:20:10-07", None],
            "wallclock_req": ["2:00:00", "2 days", "01:00:00", "1-00:00:00"],
            "nodes_used": [2, 1, 10, 0],
            "nodes_req": [2, 1, 10, 4],
            "processors_used": [208, 26, 1040, 0],
            "gpus_requested": [0, 4, 0, 0],
        }
    )


LIMITS = [7_200, 172_800, 3_600]
KESTREL = "submit_time wait_time run_time requested_time requested_procs status"
THREE = (0, 10, 3600, 7_200, 2, 1), (60, 0, 60, 172_800, 1, 5), (149, 0, 3610, 3_600, 10, 0)


@pytest.mark.parametrize(
    "limits", [None, [*LIMITS, 0], pd.to_timedelta([*LIMITS, 86_400], unit="s")], ids=["text", "seconds", "timedelta"]
)
@pytest.mark.filterwarnings("ignore::schedlab.workload.runs.GpuWarning")
def test_kestrel_names_several_partitions_and_who_cancelled(kestrel, limits, tmp_path):
    if limits is not None:
        kestrel = kestrel.assign(wallclock_req=limits)
    path = parquet(kestrel, tmp_path / "part-0.parquet")
    trace = checked(read("kestrel", path, machine=2_304), KESTREL, *THREE)
    assert named(trace, "user_id") == ["a1b2c3d", "0000001", "a1b2c3d"]
    assert trace.jobs["account"].tolist() == ["fff0001", "fff0001", "fff0002"]
    assert named(trace, "queue") == ["normal", "high", "normal"]
    assert named(trace, "partition") == ["short", "gpu-h100", "standard"]
    assert trace.at(0) == pd.Timestamp("2024-02-19 16:17:31", tz="America/Denver")
    assert reasons(trace) == ["still waiting when the record was made"]
    cpus = checked(read("kestrel", path, procs_of="cpus"), "requested_procs", (208,), (26,), (1040,))
    assert cpus.procs == 1_040 + 208  # of the first and the third, from 16:20 on
    assert "the most cpus in use at one instant: 1,248" in " ".join(cpus.history)


def test_kestrel_with_dates_of_parquet_and_without_any_partition(kestrel, tmp_path):
    for column in ("submit_time", "start_time", "end_time"):
        kestrel[column] = pd.to_datetime(kestrel[column], utc=True).dt.tz_convert("America/Denver")
    path = parquet(kestrel.assign(partition=None), tmp_path / "part-0.parquet")
    trace = checked(read("kestrel", path, machine=2_304), KESTREL, *THREE)
    assert trace.jobs["partition"].tolist() == [-1] * 3
    assert trace.at(0) == pd.Timestamp("2024-02-19 16:17:31", tz="America/Denver")


# Philly -------------------------------------------------------------------------------------------------
def attempt(start, end, *gpus):
    detail = [{"ip": f"m{place}", "gpus": [f"gpu{gpu}" for gpu in range(count)]} for place, count in enumerate(gpus)]
    return {"start_time": start, "end_time": end, "detail": detail}


def job(number, submitted, attempts, status="Pass", user="aaaaaa", vc="ee9e8c"):
    jobid = f"application_1506638472019_{number}"
    row = {"status": status, "vc": vc, "jobid": jobid, "submitted_time": submitted, "user": user}
    return row | {"attempts": attempts}


def test_philly_has_attempts(tmp_path):
    noon, hour = "2017-10-07 12:00:00", "2017-10-07 13:00:00"
    two = [attempt("2017-10-07 12:00:30", "2017-10-07 12:10:00", 8, 2), attempt(hour, "2017-10-07 14:00:30", 4)]
    jobs = [
        job(1, noon, two),
        job(2, "2017-10-07 12:30:00", [attempt(hour, "2017-10-07 13:00:10", 1)], "Killed", "bbbbbb", "6c71a0"),
        job(3, hour, [], "Failed"),
        job(4, hour, [attempt(hour, None, 1)]),
        job(5, hour, [attempt("None", "", 1)]),
        job(6, hour, [attempt(hour, "2017-10-07 14:00:00")]),
        job(7, hour, [attempt(hour, noon, 1)], "Failed"),
        job(8, hour, [attempt(hour, "2017-10-07 13:20:00", 1)], "Failed"),
    ]
    path = tmp_path / "cluster_job_log"
    path.write_text(json.dumps(jobs))
    trace = checked(
        read("philly", path, machine=2_816),
        "submit_time wait_time run_time requested_time requested_procs status jobid",
        (0, 30, 570, 570, 10, 0, "application_1506638472019_1"),
        (600, 3000, 3630, 3630, 4, 1, "application_1506638472019_1"),  # it arrives when the first attempt ended
        (1800, 1800, 10, 10, 1, 5, "application_1506638472019_2"),
        (3600, 0, 1200, 1200, 1, 0, "application_1506638472019_8"),
    )
    assert trace.name == "cluster_job_log"
    assert named(trace, "user_id") == ["aaaaaa", "aaaaaa", "bbbbbb", "aaaaaa"]
    assert named(trace, "queue") == ["ee9e8c", "ee9e8c", "6c71a0", "ee9e8c"]
    assert trace.at(0) == pd.Timestamp(noon, tz="America/Los_Angeles")
    late = "row 8: column 'end' (end) is '2017-10-07 12:00:00', expected a time at or after the start"
    assert trace.dropped["reason"].to_dict() == {4: NEVER_STARTED, 5: RUNNING, 6: NEVER_STARTED, 7: NO_PROCS, 8: late}
    assert read("philly", path).procs == 10  # of the first attempt of job 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *[("[{}]", "KeyError: 'attempts'"), ('{"jobs": []}', "TypeError: .*"), ("job_id,user", "JSONDecodeError: .*")],
        ("[]", "the table has no rows, expected one for each job"),
    ],
)
def test_another_file_than_philly_is_one_clear_error(content, message, tmp_path):
    (tmp_path / "other.json").write_text(content)
    expected = "; expected a JSON list of jobs as Philly has it" if "Error" in message else ""
    with pytest.raises(sl.workload.TableError, match=f"^other.json: {message}{expected}"):
        read("philly", tmp_path / "other.json")


# Helios -------------------------------------------------------------------------------------------------
def test_helios_counts_gpus_and_calls_the_wait_a_queue(tmp_path):
    day = "2020-06-09"
    lines = [
        "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue",
        f"1425511,uXBbc,vcJkd,1,1,1,COMPLETED,{day} 18:41:01,{day} 18:41:01,2020-06-10 04:55:09,36848,0",
        f"1425512,uVMrF,vchbv,16,64,2,FAILED,{day} 18:41:11,{day} 18:42:11,{day} 18:46:20,249,60",
        f"1425513,uzqls,vcJkd,0,16,1,COMPLETED,{day} 18:41:12,{day} 18:41:12,{day} 18:42:12,60,0",
        f"1425514,uXBbc,vcJkd,8,8,1,CANCELLED,{day} 18:50:01,{day} 18:50:01,{day} 18:50:01,0,0",
        f"1425515,uXBbc,vcJkd,8,8,1,NODE_FAIL,{day} 18:50:01,{day} 18:50:01,{day} 18:51:01,60,0",
    ]
    path = text(lines, tmp_path / "cluster_log.csv")
    trace = checked(
        read("helios", path, machine=1_264),
        "submit_time wait_time run_time requested_procs requested_time status cpu_num node_num",
        (0, 0, 36_848, 1, 36_848, 1, 1, 1),
        (10, 60, 249, 16, 249, 0, 64, 2),
        (540, 0, 60, 8, 60, 0, 8, 1),
    )
    assert trace.jobs.index.tolist() == [1425511, 1425512, 1425515]
    assert named(trace, "queue") == ["vcJkd", "vchbv", "vcJkd"]
    assert named(trace, "user_id") == ["uXBbc", "uVMrF", "uXBbc"]
    assert trace.at(0) == pd.Timestamp(f"{day} 18:41:01", tz="Asia/Shanghai")
    assert trace.dropped["reason"].to_dict() == {
        1425513: "asks for no GPU, and the machine is counted in GPUs",
        1425514: "run time is 0",
    }
    assert "1 job without GPUs (left out)" in trace.repairs["words"].tolist()
    assert read("helios", path).procs == 17


SUBMIT = {"fdata": "adt", "theta": "QUEUED_TIMESTAMP", "cori": "Submit"}


@pytest.mark.parametrize("log", ["pm100", "fdata", "theta", "cori", "kestrel", "helios"])
def test_the_file_of_another_log_is_one_clear_error(log, tmp_path):
    path = text(["a,b", "1,2"], tmp_path / "other.csv")
    missing = f"no column '{SUBMIT.get(log, 'submit_time')}' for submit"
    with pytest.raises(sl.workload.TableError, match=f"^other.csv: {re.escape(missing)}(.|\n)*columns: 'a', 'b'$"):
        sl.read_public(path, log)
    with pytest.raises(FileNotFoundError, match="nothing.csv: no such file"):
        sl.read_public(tmp_path / "nothing.csv", log)


def test_a_plain_log_is_no_frontier(tmp_path):
    path = text(["1 0 0 10 1 -1 -1 1 20 -1 1 1 1 -1 1 -1 -1 -1"], tmp_path / "plain.swf")
    with pytest.raises(ValueError, match="^plain.swf: records of 18 fields, expected 21; read_swf reads other logs$"):
        read("frontier", path)


DATABASE = "id_job,time_submit,time_start,time_end,state,cpus_req"


def test_numbers_of_states_in_a_database_of_slurm(tmp_path):
    path = tmp_path / "jobs.csv"
    states = {3: "COMPLETED", 1024: "REQUEUED", 8192: "RESIZING", 524288: "REVOKED", 77: ""}
    rows = [f"{job},1709280000,1709280600,1709284200,{state},4" for job, state in enumerate(states, start=1)]
    path.write_text("\n".join([DATABASE, *rows]))
    trace = read("slurmdbd", path)
    assert trace.jobs["state"].tolist() == [*states.values()]
    assert "status: '77' not known, taken for unknown" in trace.history


@pytest.mark.parametrize(("log", "columns"), [("supercloud", DATABASE), ("alibaba2023", "name,num_gpu")])
def test_a_public_log_that_lacks_a_column_is_an_error(tmp_path, log, columns):
    path = tmp_path / "jobs.csv"
    path.write_text(f"{columns}\n{columns}\n")
    with pytest.raises(sl.workload.frames.TableError, match=f"^jobs.csv: no column '.*', which {log} has; columns: "):
        read(log, path)
