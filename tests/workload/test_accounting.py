"""The accounting of PBS, Torque and LSF: records by hand, what is no record, and columns that are kept."""

import gzip
import re

import pytest

import schedlab as sl
from schedlab.workload.frames import TableError

DATES = "ctime=1709280000 qtime=1709280000 etime=1709280000 start=1709280600 end=1709284200"


def pbs(job="7.srv", kind="E", **values):
    """Return a record of PBS; a value None leaves its field out."""
    fields = {"user": "ann", "group": "g", "queue": "batch", "exec_host": "n1/0*16", "Resource_List.ncpus": "16"}
    fields |= {"Resource_List.walltime": "02:00:00", "Exit_status": "0", "resources_used.walltime": "01:00:00"}
    fields |= {name.replace("__", "."): value for name, value in values.items()}
    written = " ".join(f"{name}={value}" for name, value in fields.items() if value is not None)
    return f"03/01/2024 09:10:00;{kind};{job};{DATES} {written}"


def read(folder, read_log, *lines, **settings):
    path = folder / "log"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return read_log(path, machine=64, **settings)


def test_a_record_of_pbs_by_hand(tmp_path):
    lines = [pbs(kind="Q"), pbs(kind="S"), pbs(), pbs("8[3].srv", Exit_status="271", account="physics")]
    trace = read(tmp_path, sl.workload.read_pbs, *lines)
    columns = ["submit_time", "wait_time", "run_time", "requested_time", "requested_procs", "status", "user_id"]
    assert trace.jobs[columns].to_numpy().tolist() == [[0, 600, 3600, 7200, 16, status, 1] for status in (1, 0)]
    assert trace.jobs.index.tolist() == [7, 8]
    assert trace.at(0).isoformat() == "2024-03-01T08:00:00+00:00"
    assert trace.jobs["account"].fillna("").tolist() == ["", "physics"]


@pytest.mark.parametrize(
    ("values", "procs", "gpus"),
    [
        ({"Resource_List__ncpus": None, "exec_host": "n1/0*8+n2/0*4"}, 12, 0),
        ({"Resource_List__ncpus": None, "exec_host": "n1/0+n1/1+n2/0"}, 3, 0),  # Torque
        ({"Resource_List__ngpus": "4"}, 16, 4),
        ({"Resource_List__select": "2:ncpus=8:ngpus=1+1:ncpus=4:ngpus=2"}, 16, 3),
    ],
)
@pytest.mark.filterwarnings("ignore::schedlab.workload.runs.GpuWarning")
def test_processors_and_gpus_of_pbs(tmp_path, values, procs, gpus):
    row = read(tmp_path, sl.workload.read_pbs, pbs(**values)).jobs.iloc[0]
    assert (row["requested_procs"], row["gpus"]) == (procs, gpus)


def test_each_run_of_a_job_of_pbs_is_a_job(tmp_path):
    trace = read(
        tmp_path, sl.workload.read_pbs, pbs(Exit_status="1"), pbs().replace("start=17092806", "start=17092807")
    )
    assert (len(trace), trace.work()) == (2, 2 * 16 * 3600)


LSF = '"JOB_FINISH" "10.1" {end} {job} 1000 0 16 1709280000 0 0 {start} "ann" "normal" "" "" "" "h"'


def test_a_record_of_lsf_by_hand(tmp_path):
    lines = [LSF.format(end=1709284200, job=7, start=1709280600), LSF.format(end=1709284200, job=8, start=0)]
    lines += ['"JOB_NEW" "10.1" 1709280000 9 1000 0 16']
    trace = read(tmp_path, sl.workload.read_lsf, *lines)
    columns = ["submit_time", "wait_time", "run_time", "requested_procs", "user_id", "queue"]
    assert trace.jobs[columns].to_numpy().tolist() == [[0, 600, 3600, 16, 1, 1]]
    assert trace.jobs.index.tolist() == [7]
    assert len(trace.dropped) == 1  # it never started


@pytest.mark.parametrize(
    ("read_log", "lines", "message"),
    [
        ("read_pbs", ["Hello"], "log:1: found 'Hello', expected date;letter;job;key=value"),
        ("read_pbs", [pbs(kind="S")], "log: no record in it of a job that ended (E)"),
        ("read_pbs", [pbs(), pbs(Resource_List__ncpus="many")], "log:2: column 'procs' (procs) is 'many'"),
        ("read_lsf", ["Hello"], "log:1: found 'Hello', expected a record such as JOB_FINISH"),
        ("read_lsf", ['"JOB_NEW" "10.1" 1'], "log: no record in it of a job that ended (JOB_FINISH)"),
    ],
)
def test_what_is_no_accounting_is_refused(tmp_path, read_log, lines, message):
    with pytest.raises(TableError, match=f"^{re.escape(message)}"):
        read(tmp_path, getattr(sl.workload, read_log), *lines)


def test_a_bad_record_is_left_out_where_that_is_asked_for(tmp_path):
    trace = read(tmp_path, sl.workload.read_pbs, pbs(), pbs(Resource_List__ncpus="many"), lenient=True)
    assert (len(trace), len(trace.dropped)) == (1, 1)
