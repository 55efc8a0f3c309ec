"""The command line: results on standard output, everything else on standard error, exit codes as documented."""

import errno
import gzip
import io
import json
import math
import os
import re
import signal
import subprocess
import threading
import time
from contextlib import suppress
from types import SimpleNamespace

import pandas as pd
import processes
import pytest

import schedlab as sl
from schedlab import cli, papers, schemes
from schedlab.cli import commands
from schedlab.cli.parsing import COMMANDS
from schedlab.schedule import simulation
from schedlab.schemes.orders import NAMES
from schedlab.workload import archive, standin
from schedlab.workload.conventions import SIMULATED

pytestmark = pytest.mark.tables

JOBS = 48


def record(i):
    """Write the record of a job: one every ten minutes, of one to five processors; users ask for twice the run time."""
    procs, run = 1 + i % 5, 900 + 300 * (i % 7)
    return f"{i} {600 * i} -1 {run} {procs} -1 -1 {procs} {2 * run} -1 1 {i % 3} 1 1 1 1 -1 -1"


RECORDS = [record(i) for i in range(1, JOBS + 1)]
HEADER = ["; UnixStartTime: 0", "; TimeZoneString: UTC", "; MaxProcs: 8"]


@pytest.fixture(autouse=True)
def alone(request, monkeypatch, tmp_path):
    """Keep the user's logs, cache and terminal out of the tests."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    if "traces" not in request.keywords:
        monkeypatch.delenv("SCHEDLAB_DATA", raising=False)
        monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "small.swf"
    path.write_text("\n".join([*HEADER, *RECORDS, ""]))
    return path


@pytest.fixture
def broken(tmp_path):
    path = tmp_path / "broken.swf"
    spoiled = RECORDS[2].replace(" -1 1800 ", " -1 abc ", 1)
    path.write_text("\n".join([*HEADER, *RECORDS[:2], spoiled, *RECORDS[3:], ""]))
    return path


@pytest.fixture
def done(run):
    """Run a command that must succeed; return standard output and standard error."""

    def done(*arguments):
        code, out, err = run(*arguments)
        assert code == 0, err
        return out, err

    return done


def rows(text):
    """Split a printed table into words."""
    return [line.split() for line in text.splitlines()]


def measures(text):
    """Read what `simulate` prints, as far as the first empty line."""
    found = dict(line.split()[:2] for line in text.partition("\n\n")[0].splitlines()[1:])
    return {name: number(value) for name, value in found.items()}


def number(text):
    """Read a printed number; the same object for all that are missing, so that results can be compared."""
    return math.nan if text == "-" else float(text.replace(",", ""))


def files(folder):
    return sorted(path.name for path in folder.iterdir() if path.is_file())


# --- Help ---
def test_help_and_version(run):
    assert run("--version") == (0, f"schedlab {sl.__version__}\n", "")
    for command in ("simulate", "compare"):
        words = run(command, "--help")[1].replace(",", " ").replace(";", " ").split()
        assert {*schemes.by_name(), *NAMES} <= set(words)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_the_terminal_and_explains_everything(run, command):
    code, out, err = run(*filter(None, [command]), "--help")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    options = re.findall(r"^  (-.*(?:\n {20,}.*)*)", out, re.MULTILINE)
    assert all(re.search(r"\s{2,}\S", option) for option in options)  # what it does
    assert len(options) > 0
    if not command:
        assert set(re.findall(r"^  ([a-z][\w-]+) {2}", out, re.MULTILINE)) == {*COMMANDS}
        assert "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted." in out


@pytest.mark.parametrize("command", [["simulate", "--scheme"], ["compare", "--scheme"]])
def test_help_and_errors_list_the_same_schemes(run, monkeypatch, log, command):
    monkeypatch.setenv("COLUMNS", "1000")
    err = run(command[0], log, command[1], "esay")[2]
    listed = re.search("known: ([^();]*); did you mean 'easy'\\? \\(see", err)[1]
    assert set(listed.split(", ")) == set(schemes.by_name())
    assert f" {listed}; fcfs, easy, conservative" in run(command[0], "--help")[1]


# --- simulate ---
def test_simulate_prints_the_measures_of_the_schedule(done, log):
    out, err = done("simulate", log, "--scheme", "easy-sjf")
    assert out.splitlines()[0] == "small, EASY-SJF; times in seconds"
    schedule = sl.simulate(sl.read_swf(log), "easy-sjf").validate()
    expected = schedule.metrics()
    assert expected["wait_time"] > 0
    assert measures(out) == pytest.approx(expected.to_dict(), rel=1e-3, nan_ok=True)
    assert list(measures(out)) == expected.index.tolist()
    assert err.startswith("Trace small (file): 48 jobs on 8 processors, offered load 1.154\n")
    assert "Traceback" not in err


@pytest.mark.parametrize("model", ["lublin", "jann", "downey"])
def test_every_model_is_simulated_with_its_seed(run, done, model):
    for machine, seed in (([], 3), (["--machine", 16], 0)):
        out, err = done("simulate", model, "--jobs", 200, *machine, "--seed", seed)
        trace = sl.model_trace(model, jobs=200, seed=seed, **dict([("machine", 16)] if machine else []))
        assert out.splitlines()[0] == f"{trace.title}, EASY; times in seconds"
        assert measures(out) == pytest.approx(sl.simulate(trace).metrics().to_dict(), rel=1e-3, nan_ok=True)
        assert f"200 jobs for {trace.procs} processors, seed {seed}" in err


def test_simulate_prints_intervals_and_what_speaks_against_them(done, log):
    out, err = done("simulate", log, "--confidence", 0.9)
    assert "Warning" not in err
    title, head, *body = out.partition("\n\n")[2].splitlines()
    assert title == "intervals of 90 % by batch means"
    assert head.split() == ["measure", "mean", "low", "high", "batches"]
    with pytest.warns(sl.statistics.IntervalWarning):
        expected = sl.simulate(sl.read_swf(log)).metrics(confidence=0.9)
    for line, (measure, row) in zip(body, expected.iterrows(), strict=False):
        name, *numbers = line.replace(",", "").split()
        assert name == measure
        printed = [number(each) for each in numbers]
        assert printed == pytest.approx(row.iloc[:4].tolist(), rel=1e-3, nan_ok=True)
    words = " ".join(" ".join(body[len(expected) :]).split())
    assert words == f"{', '.join(expected.index)}: {expected['note'].iloc[0]}"
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("by", ["run_time", "interarrival"])
def test_simulate_scales_the_load(run, log, by):
    expected = sl.simulate(sl.read_swf(log).scale_load(0.5, by=by)).metrics()
    out = run("simulate", log, "--load", 0.5, "--by", by)[1]
    assert measures(out) == pytest.approx(expected.to_dict(), rel=1e-3, nan_ok=True)


@pytest.mark.parametrize("period", [("1970-01-01 01:00", "1970-01-01 03:00"), (3600, 10800)])
def test_simulate_takes_a_period_in_dates_or_seconds(done, log, period):
    out, err = done("simulate", log, "--between", *period)
    assert measures(out)["jobs"] == 12  # jobs 6 to 17
    assert f"submitted from {period[0]}" in err


def test_a_period_has_a_lead_in_and_a_window_measures_a_part_of_the_whole(done, log):
    period = (20_000, 30_000)
    trace = sl.read_swf(log)
    for option, lead in ((), None), (("--lead", "none"), False), (("--lead", "2h"), "2h"), (("--lead", 900), 900):
        part = trace.between(*period, lead=lead)
        out, err = done("simulate", log, "--between", *period, *option)
        expected = sl.simulate(part, "easy").metrics()
        assert measures(out) == pytest.approx(expected.to_dict(), rel=1e-3, nan_ok=True)
        assert part.jobs_text in err
        assert part.jobs_text.replace(" jobs", "", 1) in done("show", log, "--between", *period, *option)[0]
    out = done("simulate", log, "--window", *period, "--classes", "size", "--confidence", 0.9)[0]
    schedule = sl.simulate(trace, "easy")
    expected = schedule.metrics(window=period)
    assert out.splitlines()[0].endswith("; of the jobs submitted from 20000.0 to 30000.0")
    assert measures(out) == pytest.approx(expected.to_dict(), rel=1e-3, nan_ok=True)
    assert sum(int(row[1]) for row in rows(out.split("\n\n")[1])[1:]) == expected["jobs"]
    out = done("compare", log, "--scheme", "easy", "--window", *period)[0]
    assert out.splitlines()[0].endswith("; of the jobs submitted from 20000.0 to 30000.0")
    assert number(rows(out)[-1][2]) == pytest.approx(expected["wait_time"], rel=1e-3)
    assert "of the jobs submitted" in done("compare", log, "--scheme", "easy", "--window", *period, "--copies", 2)[0]


def test_simulate_takes_the_first_jobs_and_another_machine(done, log):
    out, err = done("simulate", log, "--jobs", 20, "--machine", 4)
    lost = "31.1 % of the work left out (81,000 processor-seconds; 9 jobs: wider than the machine (4 processors))"
    assert err.splitlines()[0] == f"schedlab: warning: small: {lost}"
    assert "20 jobs on 4 processors" in err
    with pytest.warns(sl.workload.LoadWarning):
        expected = sl.simulate(sl.read_swf(log, machine=4).head(20)).metrics()
    assert measures(out) == pytest.approx(expected.to_dict(), rel=1e-3, nan_ok=True)


def test_a_log_with_gpus_says_that_they_are_not_simulated(done, tmp_path):
    record = "7|2024-03-01T08:00:00|2024-03-01T08:10:00|2024-03-01T09:10:00|3600|120|16|cpu=16,gres/gpu=4|COMPLETED"
    path = tmp_path / "jobs.txt"
    path.write_text(f"JobID|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocTRES|State\n{record}\n")
    _, err = done("show", path)
    message = "jobs.txt: 1 job has GPUs, with 100 % of the work; cpus are simulated, GPUs are not"
    assert err.splitlines()[0] == f"schedlab: warning: {message}"


PBS_RUN = "user=ann queue=batch ctime=1709280000 start=1709280600 {end}exec_host=n1/0-7+n2/0-7 Resource_List.ncpus=1"
LSF_RUN = '"JOB_FINISH" "10.1" 1709284200 7 1000 0 16 1709280000 0 0 1709280600 "ann" "normal" "" "" "" "h"'
ACCOUNTING = {
    "20240301": f"03/01/2024 09:00:00;Q;7.srv;queue=batch\n03/01/2024 10:10:00;E;7.srv;{PBS_RUN}",
    "lsb.acct": f'"EVENT_ADRSV_FINISH" "10.1" 1709280000 0\n{LSF_RUN}',
}


@pytest.mark.parametrize("name", ACCOUNTING)
def test_show_and_simulate_take_the_accounting_of_pbs_and_lsf(run, done, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(ACCOUNTING[name].format(end="end=1709284200 ").encode()))
    out, err = done("show", path, "--time-zone", "Asia/Tokyo")
    assert "first submission: 2024-03-01 17:00" in out
    assert "1 jobs on 16 processors" in err
    assert measures(done("simulate", path, "--machine", 32)[0])["turnaround"] == 3600
    code, _, err = run("show", path, "--partition", "a")
    assert (code, err) == (1, f"schedlab: --partition is for the output of sacct; {path} is not that\n")


def test_show_says_what_still_runs_in_the_accounting_of_pbs(done, tmp_path):
    path = tmp_path / "20240301"
    lines = [
        ACCOUNTING[path.name].format(end="end=1709284200 "),
        f"03/01/2024 09:10:00;S;8.srv;{PBS_RUN.format(end='')}",
    ]
    path.write_text("\n".join([*lines, "a line that is no record"]))
    err = done("show", path, "--lenient", "--machine", 32)[1]
    assert "1 job still running (left out, 50 % of the work, 50 % of the machine at the end of the log)" in err
    assert "1 line that could not be read" in err


def test_simulate_takes_the_conventions(run, log):
    trace = sl.read_swf(log)
    shorter = trace.jobs.assign(requested_time=lambda jobs: jobs["run_time"] // 2)
    path = log.with_name("late.swf")
    sl.Trace(**{**vars(trace), "table": shorter}).to_swf(path)
    given = ("kill", "extend", "keep")
    killed, extended, kept = (measures(run("simulate", path, "--overrun", what)[1]) for what in given)
    assert (killed["killed"], extended["killed"], kept["killed"]) == (JOBS, 0, 0)
    assert run("simulate", path, "--events", "each")[0] == 0
    assert run("simulate", path, "--missing-estimate", 60)[0] == 0


@pytest.mark.parametrize(
    ("by", "names"),
    [("kurian", "SN SW LN LW"), ("user_id", "0 1 2"), ("size", "1 2 3-4 5-8"), ("killed", "0"), ("procs", "1 2 3 4 5")],
)
def test_simulate_by_classes(run, log, by, names):
    head, *classes = rows(run("simulate", log, "--classes", by)[1].partition("\n\n")[2])
    assert head == ["class", "jobs", "wait_time", "median_wait_time", "bounded_slowdown"]
    assert [row[0] for row in classes] == names.split()
    assert sum(int(row[1]) for row in classes) == JOBS


@pytest.mark.parametrize("suffix", [".swf", ".swf.gz", ".csv"])
def test_simulate_writes_the_schedule(done, log, tmp_path, suffix):
    out = tmp_path / "out" / f"simulated{suffix}"
    out.parent.mkdir()
    _, err = done("simulate", log, "--load", 1, "--out", out)
    assert f"written: {out}\n" in err
    assert files(out.parent) == [out.name]
    expected = sl.simulate(sl.read_swf(log).scale_load(1)).jobs
    if suffix == ".csv":
        found = pd.read_csv(out).set_index("job_id")
        columns = {"waiting_time": "wait_time", "starting_time": "start_time", "execution_time": "run_time"}
    else:
        assert (out.read_bytes()[:2] == b"\x1f\x8b") == (suffix == ".swf.gz")
        found = sl.read_swf(out).jobs
        columns = {"wait_time": "wait_time", "run_time": "run_time", "allocated_procs": "procs"}
    for column, meaning in columns.items():
        assert found[column].tolist() == expected[meaning].tolist()


def test_simulate_takes_gzip_bad_lines_and_prints_what_is_infinite(run, log, done, broken):
    packed = log.with_suffix(".swf.gz")
    packed.write_bytes(gzip.compress(log.read_bytes()))
    assert measures(run("simulate", packed)[1]) == measures(run("simulate", log)[1])
    assert measures(run("simulate", "lublin", "--jobs", 1)[1])["offered_load"] == float("inf")
    out, err = done("simulate", broken, "--lenient")
    assert measures(out)["jobs"] == JOBS - 1
    assert "worth a look: 1 line that could not be read (left out)" in err


def test_measures_have_their_units(run, log):
    out = run("simulate", log)[1]
    units = {line.split()[0]: " ".join(line.split()[2:]) for line in out.splitlines()[1:]}
    assert units["throughput"] == "jobs per hour"
    assert (units["throughput_sd_day"], units["throughput_sd_week"]) == ("jobs per day", "jobs per week")
    assert (units["loss_of_capacity"], units["wait_time"], units["killed"]) == ("processor-seconds", "s", "jobs")
    assert {units[name] for name in ("slowdown", "utilization", "jobs", "offered_load")} == {""}


# --- show ---
def test_show_says_what_a_trace_is_and_what_was_repaired(done, tmp_path):
    header = [*HEADER, "; Computer: a toy", "; Queue: 1 short", "; Queue: 2 long"]
    path = tmp_path / "small.swf"
    bad = [RECORDS[2].replace(" -1 1800 ", " -1 0 ", 1), RECORDS[3].replace(" 4200 ", " -1 ", 1)]
    path.write_text("\n".join([*header, *RECORDS[:2], *bad, *RECORDS[4:], ""]))
    out, err = done("show", path)
    line = (
        "worth a look: 1 job without an estimate (run time taken, 4.15 % of the work); usual: 1 job of 0 s (left out)"
    )
    assert err.splitlines()[1:] == [f"   {line}"]
    assert out.splitlines() == [
        "small",
        "    machine: a toy",
        "    processors: 8",
        "    jobs: 47",
        "    users: 3",
        "    first submission: 1970-01-01 00:10",
        "    last submission: 1970-01-01 08:00",
        f"    offered load: {sl.read_swf(path).offered_load():.4g}",
        "    queues: short, long",
        "",
        "worth a look  1 job without an estimate (run time taken, 4.15 % of the work)",
        "usual         1 job of 0 s (left out)",
    ]


def test_show_says_how_much_of_the_work_lies_beyond_the_estimates(run, done, tmp_path):
    path = tmp_path / "late.swf"
    late = RECORDS[2].replace(" 3600 ", " 60 ", 1)
    path.write_text("\n".join([*HEADER, *RECORDS[:2], late, *RECORDS[3:], ""]))
    out, err = done("show", path)
    share = 100 * sl.read_swf(path).beyond_estimates()[1]
    message = f"run longer than estimated: 1 job, with {share:.3g} % of the work beyond its estimate"
    assert message in " ".join(out.split())
    assert err.count("longer than estimated") == 1
    assert "longer" not in run("simulate", path, "--overrun", "kill")[1]


# Tables with columns of any name.

TABLE = "Submit,Elapsed,NCPUS,Account\n2024-03-01 08:00,01:00:00,8,p1\n2024-03-01 08:05,00:30:00,4,p2\n"
COLUMNS = "submit=Submit,run=Elapsed,procs=NCPUS"


def test_simulate_takes_a_table_and_show_that_of_a_public_log(done, tmp_path):
    (tmp_path / "jobs.csv").write_text(TABLE)
    out, err = done("simulate", "jobs.csv", "--columns", COLUMNS, "--machine", 8, "--classes", "Account")
    assert measures(out)["wait_time"] == (0 + 3300) / 2
    assert [row[0] for row in rows(out.partition("\n\n")[2])] == ["class", "p1", "p2"]
    assert "columns: submit = Submit, run = Elapsed, procs = NCPUS" in err
    (tmp_path / "cori.csv").write_text("Job,Submit,Nodes Allocated,Elapsed Secs\n1,2022-11-07 00:00:01,2.0,60\n")
    out = done("show", "cori.csv", "--log", "cori")[0]
    assert "processors: 9,688" in out


def test_simulate_takes_a_folder_of_parquet_files(run, done, tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "jobs").mkdir()
    jobs = pd.DataFrame({"Submit": ["2024-03-01 08:00", "2024-03-01 08:05"], "Elapsed": [3600, 1800], "NCPUS": [8, 4]})
    for i in range(2):
        jobs[i : i + 1].to_parquet(tmp_path / "jobs" / f"part-{i}.parquet")
    options = ("simulate", "jobs", "--columns", COLUMNS, "--machine", 8)
    assert measures(done(*options)[0])["wait_time"] == (0 + 3300) / 2
    (tmp_path / "jobs" / "part-2.parquet").write_bytes(b"no such thing")
    code, _, err = run(*options)
    assert code == 1
    assert re.fullmatch(r"schedlab: jobs: not a Parquet file, or a damaged one \(.*jobs/part-2\.parquet.*\)\n", err)


def test_units_and_time_zone_of_a_table(run, done, tmp_path):
    (tmp_path / "jobs.tsv").write_text("a\tb\tc\n2024-03-01 08:00\t2\t4\n2024-03-01 08:05\t3\t4\n")
    options = ("--columns", "submit=a,run=b,procs=c", "--machine", 8, "--unit", "run=min", "--time-zone", "Asia/Tokyo")
    out = done("show", "jobs.tsv", *options)[0]
    assert "first submission: 2024-03-01 08:00" in out
    assert measures(run("simulate", "jobs.tsv", *options)[1])["turnaround"] == 150


def test_partitions_have_their_own_processors(run, done, tmp_path):
    (tmp_path / "jobs.csv").write_text(TABLE)
    options = ("--columns", f"{COLUMNS},partition=Account", "--machine", 12, "--classes", "partition")
    out = done("simulate", "jobs.csv", *options, "--machine", "p1=8,p2=4")[0]
    assert measures(out)["wait_time"] == 0
    assert [row[:2] for row in rows(out.partition("\n\n")[2])[1:]] == [["p1", "1"], ["p2", "1"]]
    out = done("compare", "jobs.csv", *options[:4], "--machine", "p1=8,p2=4", "--scheme", "fcfs,easy")[0]
    assert out.count("EASY") == out.count("FCFS") == 1
    message = "1 jobs of partition 'p2', expected one of 'p1'"
    assert message in run("simulate", "jobs.csv", *options, "--machine", "p1=8")[2]


# What goes wrong, in one line that says what to do.

LINES = "\n".join([*HEADER, *RECORDS, ""])
MISSING = "run, drop or a positive number of seconds"
UNSIZED = "schedlab: X.swf: the header has neither MaxProcs"
NO_FILE = "a folder or a device, expected a file\n"
FEW = "\n".join([*HEADER, RECORDS[0].replace(" 1200 ", " 0 ", 1)])
WRONG_COLUMN = "schedlab: X.csv: no column 'elapsed' for run; columns: 'Submit', "
COPIES = "schedlab: --confidence is for copies: give --copies too, or use `schedlab simulate --confidence`\n"
MISTAKES = [
    ("\n".join([*HEADER, "1 2 3"]), "show X.swf", 1, "schedlab: X.swf:4: 3 fields, expected 18: '1 2 3'\n"),
    ("<html>404: not found</html>", "show X.swf.gz", 1, "X.swf.gz:1: 3 fields, expected 18: '<html>404: not found"),
    ("\n".join(RECORDS), "show X.swf", 1, UNSIZED),
    (FEW, "show X.swf", 1, "schedlab: X.swf: none of 1 records can be simulated; 1: run time is 0\n"),
    *[(None, f"show {name}", 1, f"schedlab: {name}: {NO_FILE}") for name in ("a_folder", "a.swf")],
    *[(None, f"show {name}", 1, f"schedlab: {name}: no such file\n") for name in ("jobs.txt", "./logs/ctc")],
    (TABLE, "show X.csv", 1, "schedlab: X.csv: no submission; name its column: --columns submit=..."),
    (TABLE, "show X.csv --columns submit=Submit,run=elapsed,procs=NCPUS", 1, WRONG_COLUMN),
    (TABLE, f"show X.csv --columns {COLUMNS}", 1, "X.csv: the size of the machine is not known; give --machine"),
    (
        TABLE,
        "show X.csv --columns sub=Submit",
        2,
        "--columns: unknown name before '=' 'sub'; known: submit, eligible, start",
    ),
    (LINES, "show X.swf --unit ms", 1, "--unit is for tables; X.swf is not one"),
    (TABLE, f"show X.csv --log cori --columns {COLUMNS}", 1, "--log sets columns and units: leave out --columns and"),
    (TABLE, "show X.csv --log pm100", 1, "schedlab: X.csv: no column 'submit_time'"),
    (LINES, "simulate X.swf --load 90%", 2, "argument --load: expected a number, such as 0.9 for 90 %, got '90%'"),
    (LINES, "simulate X.swf --classes=", 1, "unknown classes ''; known: kurian"),
    (LINES, "simulate X.swf --out a.swf", 2, "simulate: argument --out: 'a.swf' is a folder, expected a file"),
    (LINES, "compare X.swf --confidence 0.9", 1, COPIES),
    *[
        (LINES, f"show X.swf --missing-estimate {value}", 2, f"expected {MISSING}, got '{value}'")
        for value in ("-5", "nan", "1e300", "maybe")
    ],
]


@pytest.mark.parametrize(("content", "command", "code", "words"), MISTAKES, ids=[mistake[1] for mistake in MISTAKES])
def test_a_mistake_is_told_in_one_line(run, tmp_path, content, command, code, words):
    for folder in ("a_folder", "a.swf"):
        (tmp_path / folder).mkdir()
    if content is not None:
        (tmp_path / command.split()[1]).write_bytes(content if isinstance(content, bytes) else content.encode())
    found, out, err = run(*command.split())
    assert (found, out) == (code, "")
    assert words in err
    assert err.splitlines()[-1].startswith("schedlab")
    assert len([line for line in err.splitlines() if line.startswith("schedlab")]) == 1


def test_a_folder_named_as_a_log_does_not_hide_it_and_its_stand_in_follows_the_seed(run, tmp_path):
    (tmp_path / "KTH-SP2-1996").mkdir()
    outputs = [run("simulate", "KTH-SP2-1996", "--standin", "--jobs", 50, "--seed", seed)[1] for seed in (0, 1)]
    assert run("simulate", "KTH-SP2-1996", "--standin", "--jobs", 50)[1] == outputs[0] != outputs[1]


def test_show_says_that_there_was_nothing_to_repair(run, log):
    assert run("show", log)[1].endswith("\n\nnothing was left out or filled in\n")


def test_simulate_says_what_a_reader_of_a_recorded_schedule_must_know(run, log):
    out = run("simulate", log, "--scheme", "log")[1]
    assert "no wait is recorded; all jobs are taken to start when they were submitted" in " ".join(out.split())


# --- compare ---
def test_compare_is_one_block_that_fits(done, log, tmp_path):
    names = "fcfs,easy,easy-sjbf,conservative-unicef"
    out = done("compare", log, "--scheme", names, "--load", "0.7,0.9", "--out", "table.csv")[0]
    title, head, *body = rows(out)
    assert title == ["small"]
    assert head[:2] == ["load", "scheme"]
    assert [row[:2] for row in body] == [
        [load, scheme] for load in ("0.7", "0.9") for scheme in ("FCFS", "EASY", "EASY-SJBF", "Conservative-UNICEF")
    ]
    assert max(map(len, out.splitlines())) <= 80
    table = sl.sweep(sl.read_swf(log), names.split(","), [0.7, 0.9], progress=False)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "table.csv"), table, rtol=1e-14)
    waits = [float(row[2].replace(",", "")) for row in body]
    assert waits == pytest.approx(table["wait_time"].tolist(), rel=1e-3)


def test_compare_averages_over_shaken_copies(run, done, log, tmp_path):
    out = done("compare", log, "--scheme", "fcfs,easy", "--load", "0.7,0.9", "--copies", 4, "--out", "all.csv")[0]
    title, head, *_ = rows(out)
    assert " ".join(title) == "small; shaken copies: 4, intervals of 95 % over them"
    assert head == ["load", "scheme", "wait", "s", "low", "high", "bsld", "low", "high"]
    runs = sl.sweep(sl.read_swf(log), ["fcfs", "easy"], [0.7, 0.9], seed=range(4), progress=False)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "all.csv"), runs, rtol=1e-14)
    for confidence, arguments in ((0.95, []), (0.5, ["--confidence", 0.5])):
        out = run("compare", log, "--scheme", "fcfs,easy", "--load", "0.7,0.9", "--copies", 4, *arguments)[1]
        found = [[float(cell.replace(",", "")) for cell in row[2:]] for row in rows(out)[2:]]
        expected = sl.over_seeds(runs, ["load", "scheme"], confidence)
        names = [name + end for name in ("wait_time", "bounded_slowdown") for end in ("", "_low", "_high")]
        assert found == [pytest.approx(row, rel=1e-3) for row in expected[names].to_numpy().tolist()]
    assert max(map(len, out.splitlines())) <= 80


def test_compare_at_the_traces_own_load_and_one_copy_without_an_interval(run, log):
    load = f"{sl.read_swf(log).offered_load():.4g}"
    body = rows(run("compare", log)[1])[2:]
    assert [row[:2] for row in body] == [[load, scheme] for scheme in ("FCFS", "EASY", "Conservative")]
    out = run("compare", log, "--scheme", "fcfs", "--copies", 1)[1]
    assert [row.count("-") for row in rows(out)[2:]] == [4]


# --- traces ---
def test_what_goes_to_no_terminal_is_neither_cut_nor_wrapped(run, monkeypatch, log):
    monkeypatch.delenv("COLUMNS")
    out = run("traces")[1]
    assert all(machine in out for machine in archive.catalogue()["machine"])
    machine = ", ".join(40 * ["Cray"])
    assert f"\n    machine: {machine}\n" in run("show", named(log, "small.swf", machine))[1]


@pytest.mark.parametrize("command", ["show", "simulate", "compare", "traces", "conformance", "--help"])
def test_a_letter_that_the_encoding_lacks_is_replaced(monkeypatch, log, command):
    """Not an error, which would lose all that was simulated. (At 80 columns, cells of `traces` are cut by a …)"""
    out = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr("sys.stdout", out)
    logs = [str(named(log, "Umeå.swf", "Čray"))] if command in ("show", "simulate", "compare") else []
    with suppress(SystemExit):
        assert cli.main([command, *logs]) == 0
    assert out.errors == "strict"  # as before
    text = out.buffer.getvalue().decode("ascii")
    assert text.startswith("Ume?" if logs else text[:1])
    assert len(text.splitlines()) > 4


def named(log, name, machine):
    """Return a copy of a log with another name, of a machine with a name."""
    path = log.with_name(name)
    path.write_text(f"; Computer: {machine}\n{log.read_text()}", encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [80, 200])
def test_traces_fit_the_terminal(run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, err = run("traces")
    assert (code, err) == (0, "")
    head, *body = out.splitlines()
    assert head.split() == ["name", "machine", "procs", "jobs", "years", "at", "hand"]
    assert [line.split()[0] for line in body] == archive.catalogue().index.tolist()
    assert max(map(len, out.splitlines())) <= width
    assert "nan" not in out.lower()
    assert "<NA>" not in out
    assert ("…" in out) == (width == 80)
    assert ("Linux cluster, Ohio Supercomputer Center" in out) == (width == 200)


def test_traces_have_their_years(run):
    shown = {row[0]: row[-2] if row[-1] in ("data", "cache", "stand-in") else row[-1] for row in rows(run("traces")[1])}
    assert shown["HPC2N-2002-2.2-cln"] == "2002-2006"
    periods = archive.list_traces().set_index("name")["period"]
    for name, period in periods[periods != ""].items():
        first, last = period[:4], period.partition(" to ")[2][:4]
        assert shown[name] == (first if first == last else f"{first}-{last}")


def test_traces_with_a_stand_in_at_hand_and_fetched(run, monkeypatch, tmp_path):
    having = {line.split()[0] for line in run("traces")[1].splitlines() if line.endswith("  stand-in")}
    assert having == set(standin.names())
    assert "stand-in" not in run("traces", "--local")[1]
    monkeypatch.setattr(archive, "fetch", lambda name: f"/somewhere/{name}.swf.gz")
    assert run("traces", "--fetch", "lublin_256") == (0, "lublin_256: /somewhere/lublin_256.swf.gz\n", "")
    monkeypatch.setenv("SCHEDLAB_DATA", str(tmp_path))
    (tmp_path / "lublin_256.swf").touch()
    row = ["lublin_256", "synthetic,", "Lublin-Feitelson", "model", "256", "10,000", "data"]
    assert rows(run("traces", "--local")[1])[1:] == [row]


def test_a_stand_in_is_simulated_if_asked_for(run, done, log):
    out, err = done("simulate", "KTH-SP2-1996", "--standin", "--jobs", "100")
    assert out.startswith("KTH-SP2-1996-2.1-cln (stand-in, not the real log), EASY; times in seconds\n")
    assert "STAND-IN, not the real log" in err
    assert run("simulate", "NASA-iPSC-1993", "--standin")[0] == 1
    for name in (str(log), "lublin"):
        code, _, err = run("simulate", name, "--standin")
        assert (code, err) == (1, f"schedlab: --standin is for logs of the archive; {name} is not one\n")


# --- What ends a command ---
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_ends_a_terminal_or_a_batch_job_is_answered_as_control_c(run, monkeypatch, number):
    before = signal.signal(number, signal.SIG_DFL)  # under nohup, SIGHUP is ignored, and so it stays
    try:
        monkeypatch.setattr(archive, "list_traces", lambda: (os.kill(os.getpid(), number), time.sleep(10)))
        assert run("traces") == (130, "", "schedlab: interrupted\n")
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)


# --- figures and claims ---
def test_figures_asks_for_the_page(run, monkeypatch):
    from schedlab.show import report

    asked = []
    monkeypatch.setattr(report, "figures", lambda *asked_of, **more: asked.append((*asked_of, more)) or asked_of[0])
    assert run("figures", "--size", "full", "--keep", "--out", "a/b.html") == (0, "a/b.html\n", "")
    assert run("figures", "base") == (0, "build/report.html\n", "")
    assert asked == [
        ("a/b.html", {"size": "full", "only": [], "keep": True}),
        ("build/report.html", {"size": None, "only": ["base"], "keep": False}),  # None: as SCHEDLAB_SIZE says
    ]


@pytest.fixture
def claimed(monkeypatch):
    """A paper with two claims, and the sizes that it was asked for."""
    claim = papers.Claim("A-1", "Figure 1", "one is faster", "twice")
    rows = [
        papers.exact(claim, False, "1.5 times", "CTC", "It is not."),
        papers.untestable(papers.Claim("A-2", "Figure 2", "two is slower", "half"), "The log is not at hand."),
    ]
    asked = []
    paper = SimpleNamespace(
        TITLE="A paper", __name__="a_paper", claims=lambda size: asked.append(size) or papers.ledger(rows)
    )
    monkeypatch.setattr(papers, "modules", lambda only: [paper])
    return asked


def test_claims_as_json_as_markdown_and_to_a_file_once(done, claimed, tmp_path, run):
    out = done("claims", "--run", "--size", "full", "--out", "ledger.csv")[0]
    assert out.splitlines()[:2] == ["A paper", "1 not reproduced, 1 cannot be tested"]
    assert [line.split()[0] for line in out.splitlines()[3:5]] == ["A-1", "A-2"]  # one line a claim
    assert "    A-1: It is not." in out
    assert pd.read_csv(tmp_path / "ledger.csv")["verdict"].tolist() == ["not reproduced", "cannot be tested"]
    assert claimed == ["full"]
    out = done("claims", "--json")[0]
    assert [row["measured"] for row in json.loads(out)] == ["1.5 times", ""]
    code, out, _ = run("claims", "--markdown")
    assert out.splitlines()[4] == "| A-1 | not reproduced | one is faster | twice | 1.5 times | It is not. |"
    code, out, err = run("claims", "--markdown", "--json")
    assert code == 2
    assert "not allowed with argument" in err


def test_claims_of_the_core_fit_the_terminal(nothing_kept, done):
    out = done("claims", "base")[0]
    assert out.count("cannot be") >= 7
    assert max(map(len, out.splitlines())) <= 80


# --- What goes wrong ---
def one_line(text):
    """Check that a text is one line, and return it."""
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert "Traceback" not in text
    return text


A_MACHINE = "argument --machine: expected a whole number of at least 1, or NAME=PROCESSORS,..."


@pytest.mark.parametrize("command", ["simulate", "compare"])
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        *[(name, 1, f"{name}: no such file") for name in ("missing.swf", "folder/missing.swf.gz")],
        ("nonesuch", 1, "unknown trace 'nonesuch'; known: 42 traces"),
        ("sdsc-par", 1, "'sdsc-par' matches several traces: SDSC-Par-1995, SDSC-Par-1996"),
        ("broken.swf", 1, "broken.swf:6: field 4 (run_time) is 'abc', expected a number"),
        ("empty.swf", 1, "empty.swf: the file is empty, expected SWF text"),
        *[
            (f"small.swf --load {x}", 2, f"--load: load must be greater than 0, got {x}")
            for x in ("-0.2", "0", "nan", "inf")
        ],
        ("small.swf --load high", 2, "argument --load: expected a number, got 'high'"),
        ("small.swf --jobs 0", 2, "argument --jobs: expected a whole number of at least 1, got '0'"),
        *[(f"small.swf --machine {size}", 2, f"{A_MACHINE}, got '{size}'") for size in ("-8", "many")],
        ("small.swf --between May Juneish", 2, "expected a date or a number of seconds, got 'Juneish'"),
        ("small.swf --between 9 3", 1, "the period must begin before it ends, got 9.0 to 3.0"),
        ("small.swf --lead 7days", 1, "--lead is what leads in to a period: give --between BEGIN END with it"),
        (
            "small.swf --between 9 99999 --lead sometime",
            2,
            "argument --lead: expected a length of time such as 7days, ",
        ),
        ("small.swf --between 9 99999 --lead=-5", 1, "lead is -5.0, expected a length of time such as"),
        ("small.swf --window 9 3", 1, "the window must begin before it ends, got 9.0 to 3.0"),
        ("small.swf --window May Juneish", 2, "argument --window: expected a date or a number of seconds"),
        ("small.swf --between 2001-01-01 2002-01-01", 1, "no job of small was submitted from 2001-01-01"),
        ("small.swf --out table.txt", 2, "argument --out: 'table.txt' has an unknown suffix, expected "),
        ("small.swf --out nowhere/table.csv", 1, "nowhere is not a folder that can be written to"),
        ("small.swf --out small.swf/table.csv", 1, "small.swf is not a folder that can be written to"),
        ("kth-sp2 --lenient", 1, "--lenient is for files; kth-sp2 is not a file"),
        ("lublin --missing-estimate drop", 1, "--missing-estimate is for logs; every job of the model has"),
        ("jann --missing-estimate drop", 1, "--missing-estimate is for logs; every job of the model has"),
        ("downey --standin", 1, "--standin is for logs of the archive; downey is not one"),
        ("small.swf --seed 1", 1, "--seed is for models and stand-ins; small.swf is neither"),
        ("lublin --seed -1", 2, "argument --seed: expected a whole number of at least 0, got '-1'"),
        ("small.swf --confidence 95", 2, "argument --confidence: confidence must be between 0 and 1, got 95"),
        ("", 2, "the following arguments are required: TRACE"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(run, log, broken, tmp_path, command, arguments, code, message):
    (tmp_path / "empty.swf").touch()
    before = files(tmp_path)
    found, out, err = run(command, *arguments.split())
    assert (found, out) == (code, "")
    assert message in one_line(err)
    assert err.startswith(f"schedlab {command}: " if code == 2 else "schedlab: ")
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "small.swf", "--scheme", "esay"], "unknown scheme 'esay'; known: conservative, dpsan, dpsap, "),
        (["simulate", "small.swf", "--scheme", "easy-best"], "unknown order 'best'; known: fcfs, lcfs, sjf, "),
        (["compare", "small.swf", "--scheme", "fcfs,esay"], "unknown scheme 'esay'"),
        (["compare", "small.swf", "--scheme", ","], "expected a comma-separated list, got ','"),
        (["compare", "small.swf", "--load", "0.5,-1"], "load must be greater than 0, got -1"),
        (["compare", "small.swf", "--out", "table.swf"], "'table.swf' has an unknown suffix, expected .csv"),
        (["compare", "small.swf", "--copies", "0"], "expected a whole number of at least 1, got '0'"),
        (["figures", "--size", "huge"], "argument --size: unknown size 'huge'; known: quick, full"),
        (["figures", "--out", "page.pdf"], "'page.pdf' has an unknown suffix, expected .html"),
        (["claims", "--out", "ledger.html"], "'ledger.html' has an unknown suffix, expected .csv"),
        (["plot"], "argument COMMAND: unknown command 'plot'; known: traces, show, "),
        (["--shceme"], "unknown option '--shceme'"),
        (["compare", "small.swf", "--shceme", "easy"], "unknown option '--shceme'; did you mean '--scheme'?"),
        (["show", "small.swf", "other.swf"], "unknown argument 'other.swf'"),
    ],
)
def test_wrong_usage(run, monkeypatch, arguments, message):
    for room, work in (commands, "trace_of"), (simulation, "simulate"), (commands, "sweep"):
        monkeypatch.delattr(room, work)  # nothing is read or simulated before the error
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in one_line(err)


def test_unknown_classes_fail_before_the_simulation(run, monkeypatch, log):
    assert set(sl.simulate(sl.read_swf(log)).jobs.columns) == {*sl.read_swf(log).jobs.columns, *SIMULATED}
    monkeypatch.delattr(simulation, "simulate")
    code, out, err = run("simulate", log, "--classes", "colour")
    assert (code, out) == (1, "")
    known = "known: kurian, sabin, size, user, group, state, hour, weekday, month, a column (submit_time, "
    assert err.splitlines()[-1].startswith(f"schedlab: unknown classes 'colour'; {known}")


def test_a_log_without_a_size_asks_for_the_option(run, tmp_path):
    path = tmp_path / "unsized.swf"
    path.write_text("\n".join([*RECORDS, ""]))
    for command in ("show", "simulate", "compare"):
        code, out, err = run(command, path)
        assert (code, out) == (1, "")
        assert err == "schedlab: unsized.swf: the header has neither MaxProcs nor MaxNodes; give --machine\n"
        assert run(command, path, "--machine", 8)[0] == 0


@pytest.mark.parametrize("option", ["--load 90", "--load 90 --by interarrival", "--load 90,0.5 --copies 2"])
def test_a_load_that_may_be_a_percentage_is_warned_of_in_words_and_once(run, log, option):
    command = "compare" if "," in option else "simulate"
    err = run(command, log, *option.split())[2]
    assert [line for line in err.splitlines() if "load 90" in line and "->" not in line and "settle" not in line] == [
        "schedlab: warning: load 90 is 9,000 % of the machine; if you mean 90 %, give 0.9"
    ]
    assert "if you mean" not in run("compare", log, "--load", "1.0,1.5")[2]


@pytest.mark.parametrize("command", ["simulate", "compare"])
def test_a_queue_that_does_not_settle_is_warned_of(run, log, command):
    for load, words in (("1.5", True), ("0.2", False)):
        err = run(command, log, "--load", load, "--scheme", "fcfs", "-q")[2]
        assert ("does not settle" in err) == words
    notes = json.loads(run("simulate", log, "--load", 1.5, "--json")[1])["notes"]
    assert any("does not settle" in note for note in notes)


@pytest.mark.parametrize("command", ["simulate", "compare", "claims"])
def test_a_folder_that_cannot_be_written_to_is_found_out_before_the_work(run, monkeypatch, log, command):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anywhere
    for work in (commands, "trace_of"), (papers, "modules"):
        monkeypatch.delattr(*work)
    code, out, err = run(command, *([log] if command != "claims" else []), "--out", "table.csv")
    assert (code, out) == (1, "")
    assert one_line(err) == "schedlab: --out is 'table.csv', but . is not a folder that can be written to\n"


@pytest.mark.parametrize(
    ("command", "suffix"), [("simulate", ".csv"), ("simulate", ".swf"), ("compare", ".csv"), ("claims", ".csv")]
)
def test_a_full_disk_leaves_nothing_half_written(run, monkeypatch, log, tmp_path, command, suffix):
    def half(self, path, **_):
        path.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    old = tmp_path / f"old{suffix}"
    old.write_text("as it was")
    before = files(tmp_path)
    monkeypatch.setattr(pd.DataFrame, "to_csv", half)
    monkeypatch.setattr("schedlab.schedule.Schedule.to_swf", half)
    code, out, err = run(command, "base" if command == "claims" else log, "--out", old)
    assert (code, out) == (1, "")
    assert err.splitlines()[-1].startswith("schedlab: ")
    assert err.endswith(": No space left on device\n")
    assert files(tmp_path) == before
    assert old.read_text() == "as it was"


def start(*arguments, stdout=subprocess.PIPE):
    """Start a command in a process of its own, which keeps what it prints until it ends."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return processes.start(processes.COMMAND, *arguments, env=environment, stdout=stdout)


def test_a_closed_pipe_is_no_error_and_an_output_that_is_full_is_one():
    started = []
    for arguments in (["traces"], ["--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        started.append(start(*arguments, stdout=writing))
        os.close(writing)
    ended = [(process.communicate(timeout=60)[1], process.returncode) for process in started]
    assert ended == [("", 1), ("", 1)]
    with open("/dev/full", "w") as full, start("traces", stdout=full) as process:
        assert process.communicate(timeout=60)[1] == "schedlab: output: No space left on device\n"
    assert process.returncode == 1


def test_control_c_ends_many_runs_that_would_take_minutes(monkeypatch):
    monkeypatch.undo()  # with the cache of compiled kernels
    with start("compare", "lublin", "--jobs", 1000, "--load", ",".join(f"0.{i}" for i in range(5000, 7000))) as process:
        while not process.stderr.readline().startswith("Trace"):
            assert process.poll() is None
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert time.monotonic() - sent < 15  # on a busy machine; usually 1 s, some of it for Python's exit
    assert (process.returncode, out) == (130, "")
    assert err.endswith("schedlab: interrupted\n")
    assert "Traceback" not in err


# --- Progress ---
def test_what_is_quick_goes_without_progress(run, monkeypatch, log):
    for command in ("simulate", "compare"):
        run(command, log)  # now compiled
        monkeypatch.setattr(commands, "PATIENCE", 5)
        assert "simulating" not in run(command, log)[2]
        assert all(thread.finished.is_set() for thread in threading.enumerate() if isinstance(thread, threading.Timer))


@pytest.mark.parametrize(
    ("command", "work"), [("simulate", (simulation, "simulate")), ("compare", (commands, "sweep"))]
)
def test_what_takes_long_says_so_on_standard_error(run, monkeypatch, log, command, work):
    quick = run(command, log)[1]
    done = getattr(*work)
    monkeypatch.setattr(commands, "PATIENCE", 0.01)
    monkeypatch.setattr(*work, lambda *args, **options: time.sleep(0.3) or done(*args, **options))
    code, out, err = run(command, log)
    assert (code, out) == (0, quick)
    assert "simulating\n" in err
    assert "compiling" not in err  # the kernels are in the cache


def test_conformance_lists_writes_and_judges(run, done, tmp_path):
    code, out, err = run("conformance")
    assert (code, err) == (0, "")
    assert "6 EASY: Candidates that would delay the head of the queue" in out
    assert "5874, 5874, 5874, 4445, ... (160 jobs):" in out
    out = done("conformance", "--export", str(tmp_path / "logs"))[0]
    assert len(out.splitlines()) == len([*(tmp_path / "logs").iterdir()]) == 58
    code, out, err = run("conformance", "--scheme", "easy", "--events", "each")
    assert (code, err) == (0, "")
    assert "probe 3 (Two early completions at one instant): a pass after each completion" in out
    (tmp_path / "06-candidates-against-the-head.csv").write_text("job,start\n1,0\n2,22\n3,2\n")
    code, out, err = run("conformance", str(tmp_path))
    assert (code, err) == (1, "schedlab: not all probes follow their scheme\n")
    told = "not EASY: probe 6 (Candidates that would delay the head of the queue): as with: whatever fits starts."
    assert out.startswith(told)


def test_the_command_for_slurm_has_the_days_that_are_asked_for_and_the_zone(run):
    command, zone = run("sacct-command", "--begin", "2025-01-01", "--end", "2025-02-01")[1].splitlines()
    assert command.startswith("SLURM_TIME_FORMAT=%s sacct --allusers")
    assert "--starttime=2025-01-01 --endtime=2025-02-01" in command
    for column in ("Account", "QOS", "AllocTRES", "State", "Reservation", "Cluster"):
        assert f",{column}" in command
    assert "Timezone" in zone


def test_an_export_without_a_header_and_one_of_several_clusters_can_be_shown(done, tmp_path):
    row = "{}|{}|2024-03-01T08:00:00|2024-03-01T08:10:00|2024-03-01T09:10:00|16\n"
    path = tmp_path / "jobs.txt"
    path.write_text(row.format(7, "red") + row.format(7, "blue"))
    columns = "JobID,Cluster,Submit,Start,End,AllocCPUS"
    out, _ = done("show", path, "--columns", columns, "--cluster", "blue", "--machine", 64)
    assert "jobs: 1" in out
    assert "1 job of other clusters (left out, as asked)" in out
