"""The accounting of PBS, Torque and LSF: records by hand, what is no record, and columns that are kept."""

import gzip
import random
import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import schedlab as sl
from schedlab.workload import filter as load_filter
from schedlab.workload.frames import TableError

DATES = "ctime=1709280000 qtime=1709280000 etime=1709280060 start=1709280600 end=1709284200"
BEGIN = 1709280000


def pbs(job="7.srv", kind="E", dates=DATES, at="03/01/2024 09:10:00", **values):
    """Return a record of PBS; a value None leaves its field out."""
    fields = {"user": "ann", "group": "g", "queue": "batch", "exec_host": "n1/0*16", "Resource_List.ncpus": "16"}
    fields |= {"Resource_List.walltime": "02:00:00", "Exit_status": "0", "resources_used.walltime": "01:00:00"}
    fields |= {name.replace("__", "."): value for name, value in values.items()}
    written = " ".join(f"{name}={value}" for name, value in fields.items() if value is not None)
    return f"{at};{kind};{job};{dates} {written}"


def started(job="7.srv", dates=DATES, **values):
    return pbs(job, "S", dates.partition(" end=")[0], Exit_status=None, resources_used__walltime=None, **values)


def read(folder, read_log, *lines, **settings):
    path = folder / "log"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return read_log(path, **{"machine": 64} | settings)


def read_pbs(folder, *lines, **settings):
    return read(folder, sl.workload.read_pbs, *lines, **settings)


def read_lsf(folder, *lines, **settings):
    return read(folder, sl.workload.read_lsf, *lines, **settings)


def test_a_record_of_pbs_by_hand(tmp_path):
    lines = [pbs(kind="Q"), pbs(kind="S"), pbs(), pbs("8[3].srv", Exit_status="271", account="physics")]
    trace = read_pbs(tmp_path, *lines)
    columns = ["submit_time", "wait_time", "run_time", "requested_time", "requested_procs", "status", "user_id"]
    assert trace.jobs[columns].to_numpy().tolist() == [[0, 600, 3600, 7200, 16, status, 1] for status in (1, 0)]
    assert trace.jobs.index.tolist() == [7, 8]
    assert trace.jobs["job_id"].tolist() == ["7", "8[3]"]
    assert trace.at(0).isoformat() == "2024-03-01T08:00:00+00:00"
    assert trace.jobs["account"].tolist() == ["", "physics"]
    assert trace.jobs["state"].tolist() == ["COMPLETED", "FAILED"]
    assert trace.jobs["Exit_status"].tolist() == [0, 271]
    assert read_pbs(tmp_path, *lines, arrival="eligible").jobs["wait_time"].tolist() == [540, 540]


NO_CPUS = {"Resource_List__ncpus": None}


@pytest.mark.parametrize(
    ("values", "procs", "gpus"),
    [
        (NO_CPUS | {"exec_host": "n1/0*8+n2/0*4"}, 12, 0),
        (NO_CPUS | {"exec_host": "n1/0+n1/1+n2/0"}, 3, 0),  # Torque
        (NO_CPUS | {"exec_host": "n1/0-15+n2/0-3,8"}, 21, 0),
        (NO_CPUS | {"exec_host": "n1/0,2,4", "Resource_List__nodes": "1:ppn=3:gpus=2"}, 3, 2),
        ({"exec_host": "n1/0-7+n2/0-7", "Resource_List__ncpus": "1", "Resource_List__nodes": "2:ppn=8:gpus=2"}, 16, 4),
        ({"exec_host": "n1/0-7+n2/0", "Resource_List__nodes": "n1:ppn=8:gpus=1+n2"}, 16, 1),
        ({"exec_host": "big/0"}, 16, 0),  # a large node, of which one slot is listed
        ({"exec_vnode": "(n1:ncpus=8:ngpus=2:mem=31457280kb)+(12[0]:ncpus=2+12[1]:ncpus=2)"}, 12, 2),
        ({"Resource_List__ngpus": "4"}, 16, 4),
        ({"Resource_List__select": "2:ncpus=8:ngpus=1+1:ncpus=4:ngpus=2"}, 16, 4),
        ({"Resource_List__select": "ncpus=8:ngpus=1:mem=4gb"}, 16, 1),
    ],
)
@pytest.mark.filterwarnings("ignore::schedlab.workload.runs.GpuWarning")
def test_processors_and_gpus_of_pbs(tmp_path, values, procs, gpus):
    row = read_pbs(tmp_path, pbs(**values)).jobs.iloc[0]
    assert (row["requested_procs"], row["gpus"]) == (procs, gpus)


@pytest.mark.parametrize(
    ("values", "column", "expected"),
    [
        ({"account": '"PROJ A"'}, "account", "PROJ A"),
        ({"account": "PROJ A"}, "account", "PROJ A"),  # Torque
        ({"account": "'the \"A\" team'"}, "account", 'the "A" team'),
        ({"jobname": "a=b;c"}, "name", "a=b;c"),
        ({"jobname": '"x y=z"'}, "name", "x y=z"),
        ({"project": "_pbs_project_default"}, "project", "_pbs_project_default"),
        ({"resvID": "R55.srv"}, "reservation", "R55.srv"),
        ({"Resource_List__walltime": "100:00:00"}, "requested_time", 360_000),
        ({"Resource_List__mem": "64gb"}, "requested_memory", 4 * 1024**2),
        ({"Resource_List__mem": "32768b"}, "requested_memory", 2),
        ({"Resource_List__mem": "64gb"}, "Resource_List_mem", "64gb"),
        ({"Exit_status": "-29"}, "state", "TIMEOUT"),
        ({"Exit_status": "-11"}, "state", "FAILED"),
        ({"Exit_status": "-11"}, "Exit_status", -11),
    ],
)
def test_values_of_pbs(tmp_path, values, column, expected):
    assert read_pbs(tmp_path, pbs(**values)).jobs[column].tolist() == [expected]


def test_fields_of_pbs_that_name_people_are_not_kept(tmp_path):
    fields = {"owner": "eve@login", "requestor": "eve@login", "Output_Path": "/home/eve/x", "init_work_dir": "/eve"}
    trace = read_pbs(tmp_path, pbs(user="eve", jobname="x", **fields))
    assert trace.jobs["name"].tolist() == ["x"]
    trace.to_csv(tmp_path / "jobs.csv")
    assert "eve" not in (tmp_path / "jobs.csv").read_text()


def test_a_run_that_was_interrupted_at_no_date_is_a_bad_line(tmp_path):
    lines = [pbs("8.srv"), started(at="99/99/2024 09:10:00"), "03/01/2024 09:13:30;D;7.srv;"]
    with pytest.raises(TableError, match=r"^log:2: found '99/99/2024 09:10:00', expected a date like 03/01/2024"):
        read_pbs(tmp_path, *lines)


def test_each_run_of_a_job_of_pbs_is_a_job(tmp_path):
    later = DATES.replace("17092806", "17092906").replace("17092842", "17092942")
    lines = [started(), pbs(kind="R", Exit_status="-11"), pbs(dates=later)]
    trace = read_pbs(tmp_path, *lines)
    assert (len(trace), trace.work()) == (2, 2 * 16 * 3600)
    assert trace.jobs["state"].tolist() == ["REQUEUED", "COMPLETED"]
    assert trace.jobs.index.tolist() == [8, 7]
    assert len(read_pbs(tmp_path, *lines, *lines)) == 2  # files that overlap


def test_a_run_of_torque_without_an_end_is_left_out_with_its_work(tmp_path):
    later = DATES.replace("17092806", "17092906").replace("17092842", "17092942")
    lines = [started(), "03/01/2024 09:13:30;R;7.srv;", pbs(kind="S", dates=later), pbs(dates=later)]
    trace = read_pbs(tmp_path, *lines)
    assert (len(trace), trace.work()) == (1, 16 * 3600)
    assert trace.dropped[["reason", "work"]].to_numpy().tolist() == [[load_filter.INTERRUPTED, 16 * 210]]
    assert trace.dropped.index.tolist() == [7]
    trace = read_pbs(tmp_path, started(), pbs("8.srv"), "03/01/2024 09:13:30;D;7.srv;requestor=ann@login")
    assert trace.dropped["reason"].tolist() == [load_filter.INTERRUPTED]


def test_starts_that_failed_and_starts_that_were_corrected(tmp_path):
    trace = read_pbs(tmp_path, started(dates=DATES.replace("17092806", "17092803")), started(), pbs())
    assert trace.dropped[["reason", "work"]].to_numpy().tolist() == [[load_filter.INTERRUPTED, 0]]
    trace = read_pbs(tmp_path, started(), pbs(dates=DATES.replace("1709280600", "1709280602")))
    assert (len(trace), len(trace.dropped)) == (1, 0)


def test_a_job_that_runs_again_counts_with_what_it_did(tmp_path):
    later = DATES.replace("17092806", "17092906").replace("17092842", "17092942")
    lines = [started(), pbs(kind="R"), started(dates=later), pbs("8.srv", dates=later)]
    trace = read_pbs(tmp_path, *lines, pbs("9.srv", dates=later.replace("17092942", "17092914")))
    assert trace.dropped[["reason", "work"]].to_numpy().tolist() == [[load_filter.RUNNING, 16 * 3600]]


def test_a_limit_that_cannot_be_read_costs_no_job(tmp_path):
    trace = read_pbs(tmp_path, pbs(Resource_List__walltime="long"))
    assert "cannot be read: 'long' in field Resource_List.walltime, line 1" in trace.history


def test_jobs_that_run_wait_or_were_deleted_are_told(tmp_path):
    date = "03/01/2024 09:10:00"
    lines = [f"{date};Q;{job}.srv;queue=batch" for job in ("7", "8", "9", "10", "11[]", "12[]")]
    lines += [pbs(), started("8.srv"), f"{date};D;9.srv;requestor=ann@login", pbs("11[1].srv"), started("11[2].srv")]
    lines += [pbs("11[].srv", exec_host=None), f"{date};D;11[3].srv;", f"{date};A;13.srv;held too often"]
    lines += [f"{date};L;license;floating license", f"{date};B;R5.srv;owner=root", f"{date};F;R5.srv;"]
    trace = read_pbs(tmp_path, *lines)
    assert trace.jobs["job_id"].tolist() == ["7", "11[1]"]
    assert trace.dropped["reason"].value_counts().to_dict() == {
        load_filter.CANCELLED_EARLY: 3,
        load_filter.RUNNING: 2,
        load_filter.WAITING: 2,
        load_filter.ARRAY: 1,
    }
    # Up to the last instant in the log; a task has the number of the array, of which another task is kept.
    running = trace.dropped[trace.dropped["reason"] == load_filter.RUNNING]
    assert running["work"].tolist() == [16 * 3600] * 2


TAIL = (
    ' "" "clim" {exit} 16 "" "" {idx} 2048 0 "" "" "" "" 0 "" {info} "" -1 "/c" "" "app 1" "" -1 "" "" 6160 "" 0 "" ""'
)
END = ' {limit} 4194304 86016 "{needs}" "" -1 "" -1 0 "" 0 0 "" 40 "" 0 ""'
NEEDS = "select[type == any] order[r15s:pg] "


def lsf(job=7, start=1709280600, end=1709284200, asked=16, **fields):
    """Return a record of LSF, all of it; `extra` are pairs of numbers and texts, `used` what each host used."""
    values = {"hosts": '1 "16*n1"', "groups": "0", "status": 64, "exit": 0, "idx": 0, "info": 0, "extra": "0"}
    values |= {"used": "0", "limit": 7200, "needs": NEEDS, "name": 'a ""b""', "tail": END} | fields
    record = f'"JOB_FINISH" "10.1" {end} {job} 1000 0 {asked} {BEGIN} 0 0 {start} "ann" "normal" "" "" "" "h" "/home/x"'
    record += f' "" "%J.out" "" "1.7" {values["groups"]} {values["hosts"]} {values["status"]} 60.0'
    record += f' "{values["name"]}" "run ""x y""" 12.5 0.5{" 7" * 17}{TAIL} {values["extra"]} {values["used"]}'
    return (record + values["tail"]).format(**values)


def test_a_record_of_lsf_by_hand(tmp_path):
    short = '"JOB_FINISH" "10.1" {end} {job} 1000 0 16 1709280000 0 0 {start} "ann" "normal" "" "" "" "h"'
    lines = [short.format(end=1709284200, job=7, start=1709280600), short.format(end=1709284200, job=8, start=0)]
    lines += ['"JOB_NEW" "10.1" 1709280000 9 1000 0 16', lsf(9, status=32, exit=256, info=5, idx=3)]
    trace = read_lsf(tmp_path, *lines)
    columns = [
        "submit_time",
        "wait_time",
        "run_time",
        "requested_time",
        "requested_procs",
        "user_id",
        "queue",
        "status",
    ]
    rows = [[0, 600, 3600, 3600, 16, 1, 1, -1], [0, 600, 3600, 7200, 16, 1, 1, 0]]
    assert trace.jobs[columns].to_numpy().tolist() == rows
    assert trace.jobs["job_id"].tolist() == ["7", "9[3]"]
    assert trace.dropped["reason"].tolist() == [load_filter.NEVER_STARTED]
    kept = ["projectName", "app", "name", "execHosts", "state"]
    assert trace.jobs[kept].to_numpy().tolist() == [[""] * 5, ["clim", "app 1", 'a "b"', "16*n1", "TIMEOUT"]]
    assert trace.jobs["exitStatus"].tolist() == ["", "256"]
    assert not {"command", "cwd", "outFile"} & {*trace.jobs}


@pytest.mark.parametrize(
    ("fields", "procs", "limit", "gpus"),
    [
        ({}, 16, 7200, 0),
        ({"hosts": '1 "12*n3"'}, 12, 7200, 0),  # more or fewer than those asked for
        ({"hosts": '3 "n1" "n1" "n2"', "groups": '2 "hg1" "hg2"'}, 3, 7200, 0),
        ({"used": "2 n1 1 0 2 3 n2 1 0 2 3"}, 16, 7200, 0),
        ({"used": "2 n1 1 0 2 3 0 n2 1 0 2 3 0", "extra": '2 1110 "default" 1086 "-1 -1 "'}, 16, 7200, 0),
        ({"used": '1 "n1" 1 0 2 3'}, 16, 7200, 0),
        ({"used": "1 n1 1 0 2"}, 16, None, -1),  # of another form
        ({"limit": -1}, 16, None, 0),
        ({"limit": 0}, 16, None, 0),
        ({"tail": END.replace("4194304", "-1")}, 16, None, 0),  # the limit behind options3
        ({"tail": ""}, 16, None, -1),
        ({"hosts": '3 "n1" "n1"'}, 16, None, -1),
        ({"status": 16}, 16, None, -1),
        ({"needs": "select[ngpus>0] rusage[ngpus_physical=2.00:mem=8192.00] span[hosts=1]"}, 16, 7200, 2),
        ({"hosts": '2 "8*n1" "8*n2"', "needs": "rusage[mem=1,ngpus_physical=2]"}, 16, 7200, 4),
        ({"hosts": '2 "8*n1" "8*n2"', "needs": "rusage[ngpus_physical=2/task]"}, 16, 7200, 32),
        ({"hosts": '2 "8*n1" "8*n2"', "needs": "rusage[ngpus_physical=2.00/job]"}, 16, 7200, 2),
        ({"needs": "2*{{rusage[ngpus_physical=2]}} + rusage[mem=1]"}, 16, 7200, -1),
        ({"needs": "rusage[ngpus_physical=0.50]"}, 16, 7200, -1),
    ],
)
@pytest.mark.filterwarnings("ignore::schedlab.workload.runs.GpuWarning")
def test_processors_limits_and_gpus_of_lsf(tmp_path, fields, procs, limit, gpus):
    trace = read_lsf(tmp_path, lsf(**fields), lsf(8, needs="rusage[ngpus_physical=1]"))
    row = trace.jobs.loc[7]
    assert (row["requested_procs"], row["gpus"]) == (procs, gpus)
    assert (row["requested_time"], 7 in [*trace.repaired["job_number"]]) == (limit or 3600, limit is None)


def test_a_log_of_lsf_says_that_jobs_had_asked_for_other_sizes(tmp_path):
    history = read_lsf(tmp_path, lsf(asked=4), lsf(8)).history
    assert any("had asked for other sizes (numProcessors)" in line for line in history)


BAD_JOB = pbs("job 7")
BAD_PLACES = pbs(exec_host="n1/5-3")


@pytest.mark.parametrize(
    ("read_log", "lines", "message"),
    [
        ("read_pbs", ["Hello"], "log:1: found 'Hello', expected date;letter;job;key=value"),
        ("read_pbs", [pbs(kind="Q")], "log: no record in it of a job that ended (E)"),
        ("read_pbs", [pbs(), pbs(Resource_List__ncpus="many")], "log:2: field Resource_List.ncpus is 'many', expected"),
        ("read_pbs", [pbs(), BAD_PLACES], "log:2: field exec_host is 'n1/5-3', expected hosts and their slots like"),
        ("read_pbs", [started(exec_host="n1"), pbs("8.srv")], "log:1: field exec_host is 'n1', expected hosts"),
        ("read_pbs", [pbs(), BAD_JOB], "log:2: the job is 'job 7', expected a number like 123.server"),
        (
            "read_pbs",
            [pbs(dates=DATES.replace("=17092806", "=x"))],
            "log:1: field start is 'x00', expected a time like",
        ),
        ("read_pbs", [pbs(dates="ctime=1709280000 start=1709280600")], "log:1: field end is missing, expected that"),
        ("read_lsf", ["Hello"], "log:1: found 'Hello', expected a record such as JOB_FINISH"),
        ("read_lsf", ['"JOB_NEW" "10.1" 1'], "log: no record in it of a job that ended (JOB_FINISH)"),
        ("read_lsf", [lsf(), lsf(job="seven")], "log:2: field 4 (jobId) is 'seven', expected a number"),
        ("read_lsf", [lsf().partition(' "normal"')[0]], "log:1: field 13 (queue) is '', expected a text in quotes"),
        ("read_lsf", [lsf().rpartition('"')[0]], 'log:1: found \'"JOB_FINISH" '),
    ],
)
def test_what_is_no_accounting_is_refused(tmp_path, read_log, lines, message):
    with pytest.raises(TableError, match=f"^{re.escape(message)}"):
        read(tmp_path, getattr(sl.workload, read_log), *lines)


@pytest.mark.parametrize("line", [BAD_JOB, BAD_PLACES, pbs(Resource_List__ncpus="many"), "Hello"])
def test_a_bad_record_is_left_out_where_that_is_asked_for(tmp_path, line):
    trace = read_pbs(tmp_path, pbs(), line, lenient=True)
    assert (len(trace), len(trace.dropped)) == (1, 1)
    assert trace.dropped["reason"].iloc[0].startswith("line 2: ")


SPELLINGS = {
    "PBS Professional": lambda sizes: {
        "exec_host": "+".join(f"n{node}/0*{size}" for node, size in enumerate(sizes)),
        "exec_vnode": "+".join(f"(n{node}:ncpus={size})" for node, size in enumerate(sizes)),
        "Resource_List__ncpus": sum(sizes),
    },
    "ranges": lambda sizes: NO_CPUS | {"exec_host": "+".join(f"n{i}/0-{size - 1}" for i, size in enumerate(sizes))},
    "slots": lambda sizes: (
        NO_CPUS | {"exec_host": "+".join(f"n{node}/{slot}" for node, size in enumerate(sizes) for slot in range(size))}
    ),
    "LSF, counted": lambda sizes: {"hosts": " ".join([f"{len(sizes)}", *(f'"{s}*n{i}"' for i, s in enumerate(sizes))])},
    "LSF, listed": lambda sizes: {"hosts": f"{sum(sizes)} " + " ".join(f'"n{i}" ' * s for i, s in enumerate(sizes))},
}
RUNS = st.lists(
    st.tuples(
        st.sampled_from([*SPELLINGS]),
        st.lists(st.integers(1, 20), min_size=1, max_size=3),
        st.integers(1, 10**6),  # wait, and run time
        st.integers(1, 10**6),
        st.integers(60, 10**7) | st.none(),  # limit
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=40)
@given(RUNS)
@pytest.mark.filterwarnings("ignore::schedlab.workload.runs.UnitWarning")
def test_the_work_of_a_log_is_that_of_its_runs(folder, runs):
    work = {"LSF": 0, "PBS": 0}
    limits = {"LSF": [], "PBS": []}
    lines = {"LSF": [], "PBS": []}
    for job, (spelling, sizes, wait, run, limit) in enumerate(runs, start=1):
        system = "LSF" if spelling.startswith("LSF") else "PBS"
        work[system] += sum(sizes) * run
        limits[system].append(limit or run)
        start = BEGIN + wait
        fields = SPELLINGS[spelling](sizes)
        if system == "LSF":
            lines[system].append(lsf(job, start, start + run, limit=limit or -1, **fields))
        else:
            dates = f"ctime={BEGIN} start={start} end={start + run}"
            walltime = limit and f"{limit // 3600}:{limit // 60 % 60:02}:{limit % 60:02}"
            lines[system] += [
                pbs(f"{job}.srv", kind, dates, Resource_List__walltime=walltime, **fields) for kind in "SE"
            ]
    for system, read_log in {"LSF": read_lsf, "PBS": read_pbs}.items():
        if lines[system]:
            trace = read_log(folder, *lines[system], machine=10_000)
            assert trace.work("extend") == work[system]
            assert trace.jobs.sort_index()["requested_time"].tolist() == limits[system]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("logs")


@pytest.mark.parametrize(
    ("read_log", "lines"),
    [(read_pbs, [started(), pbs(), pbs("8[1].srv", account='"A B"')]), (read_lsf, [lsf(), lsf(8)])],
)
@pytest.mark.filterwarnings("ignore")
def test_changed_lines_raise_the_readers_own_error(tmp_path, read_log, lines):
    chance = random.Random(0)
    text = "\n".join(lines)
    refused = []
    for lenient in [False, True] * 20:
        place = chance.randrange(len(text))
        piece = "".join(chance.choices(string.printable + ';;==""++//0', k=chance.randrange(4)))
        changed = text[:place] + piece + text[place + chance.randrange(12) :]
        try:
            read_log(tmp_path, *changed.split("\n"), lenient=lenient)
        except TableError as error:
            refused.append(str(error))
    assert 0 < len(refused) < 40
    assert all(message.startswith("log") and "\n" not in message for message in refused)
