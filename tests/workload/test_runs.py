"""One truth behind every door: drawn runs are written as each system writes them, and read back the same everywhere."""

import json
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workloads import examples

import schedlab as sl
from schedlab.workload.filter import CANCELLED_EARLY, GIVEN_TWICE, NO_TIME, RUNNING, STEP, WAITING
from schedlab.workload.runs import GpuWarning

pytestmark = [
    pytest.mark.tables,
    pytest.mark.filterwarnings("ignore::schedlab.workload.runs.GpuWarning"),
    pytest.mark.filterwarnings("ignore::schedlab.workload.LoadWarning"),
    pytest.mark.filterwarnings("ignore::schedlab.workload.runs.UnitWarning"),
]

NUMBERS = {"PENDING": 0, "RUNNING": 1, "COMPLETED": 3, "CANCELLED": 4, "FAILED": 5, "TIMEOUT": 6, "OUT_OF_MEMORY": 11}
ENDED = ("COMPLETED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY", "CANCELLED")
MACHINE = 64
ZONES = ("UTC", "Europe/Berlin", "America/Chicago", "Australia/Lord_Howe")
# About the ends of summer time in 2024, so that clocks show some of the times twice; and a plain day.
AROUND = (1_709_280_000, 1_729_987_200, 1_730_610_000, 1_712_415_600)


@st.composite
def runs(draw):
    """Draw runs in the order of their numbers; each job is submitted after the one before it."""
    rows = []
    clock = draw(st.sampled_from(AROUND))
    for number in range(1, draw(st.integers(1, 8)) + 1):
        clock += draw(st.integers(1, 3000))
        kind = draw(st.sampled_from(["ended"] * 5 + ["running", "waiting", "cancelled early", "nothing"]))
        start = clock + draw(st.integers(0, 4000))
        run = {"nothing": 0, "waiting": 0, "cancelled early": 0}.get(kind, draw(st.integers(1, 20_000)))
        state = {"running": "RUNNING", "waiting": "PENDING", "cancelled early": "CANCELLED"}.get(
            kind, draw(st.sampled_from(ENDED if kind == "ended" else ("FAILED", "COMPLETED")))
        )
        rows.append(
            {
                "number": number,
                "submit": clock,
                "start": None if kind in ("waiting", "cancelled early") else start,
                "end": None if kind in ("waiting", "running") else start + run,
                "run": run,
                "state": state,
                "procs": draw(st.integers(1, MACHINE)),
                "gpus": draw(st.integers(0, 4)),
                "limit": draw(st.sampled_from([None, 1, 60, 1440])),
                "user": draw(st.sampled_from(["ann", "bob"])),
                "account": draw(st.sampled_from(["physics", "bio"])),
            }
        )
    return rows


def expected(rows):
    """Return the jobs that can be simulated, and the reasons for the others, by hand."""
    kept, reasons = [], {}
    for row in rows:
        reason = {"PENDING": WAITING, "RUNNING": RUNNING}.get(row["state"])
        reason = CANCELLED_EARLY if row["start"] is None and reason is None else reason
        if reason is None and row["run"] == 0:
            reason = NO_TIME
        if reason:
            reasons[reason] = reasons.get(reason, 0) + 1
        else:
            kept.append(row)
    return kept, reasons


# How each system writes the same runs -------------------------------------------------------------------
def local(second, zone):
    return "Unknown" if second is None else datetime.fromtimestamp(second, ZoneInfo(zone)).strftime("%Y-%m-%dT%H:%M:%S")


def clock(seconds):
    days, rest = divmod(seconds, 86_400)
    return f"{days}-" * (days > 0) + f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"


def tres(row):
    typed = f",gres/gpu:a100={row['gpus']},gres/gpu={row['gpus']}" if row["gpus"] else ""
    return f"billing={row['procs']},cpu={row['procs']}{typed},mem=64G,node=1" if row["start"] else ""


def slurm(rows, zone, steps=True):
    """Return the records of sacct, by column; each job that ran has a step, and the first record is given twice."""
    records = []
    for row in rows:
        record = {
            "JobID": str(row["number"]),
            "User": row["user"],
            "Account": row["account"],
            "Submit": local(row["submit"], zone),
            "Start": local(row["start"], zone),
            "End": local(row["end"], zone),
            "Elapsed": clock(row["run"]),
            "Timelimit": "UNLIMITED" if row["limit"] is None else clock(60 * row["limit"]),
            "AllocCPUS": str(row["procs"] if row["start"] else 0),
            "AllocTRES": tres(row),
            "State": "CANCELLED by 1000" if row["state"] == "CANCELLED" else row["state"],
        }
        records.append(record)
        if steps and row["start"]:
            records.append(record | {"JobID": f"{row['number']}.batch", "User": "", "AllocTRES": ""})
    return [records[0], *records] if steps else records


def by_sacct(path, rows, zone, order):
    records = slurm(rows, zone)
    columns = [[*records[0]][place] for place in order]
    lines = ["|".join(columns), *("|".join(record[name] for name in columns) for record in records)]
    path.write_text("\n".join(lines))
    return sl.read_sacct(path, machine=MACHINE, time_zone=zone, names=True)


ROLES = {"submit": "Submit", "start": "Start", "end": "End", "run": "Elapsed", "procs": "AllocCPUS", "job": "JobID"}
ROLES |= {"gpus": "AllocTRES", "estimate": "Timelimit", "user": "User", "account": "Account", "status": "State"}


def by_table(path, rows, zone, order):
    frame = pd.DataFrame(slurm(rows, zone))
    frame.iloc[:, order].to_csv(path.with_suffix(".csv"), index=False)
    return sl.read_table(path.with_suffix(".csv"), machine=MACHINE, time_zone=zone, **ROLES)


def by_frame(path, rows, zone, order):
    return sl.from_frame(pd.DataFrame(slurm(rows, zone)).iloc[:, order], machine=MACHINE, time_zone=zone, **ROLES)


def by_json(path, rows, zone, order):
    jobs = [
        {
            "job_id": row["number"],
            "association": {"account": row["account"], "user": row["user"], "cluster": "c"},
            "time": {
                "submission": row["submit"],
                "start": row["start"] or 0,
                "end": row["end"] or 0,
                "elapsed": row["run"],
                "limit": {"set": row["limit"] is not None, "infinite": row["limit"] is None, "number": row["limit"]},
            },
            "state": {"current": [row["state"]]},
            "tres": {
                "allocated": [
                    {"type": "cpu", "name": "", "count": row["procs"]},
                    {"type": "gres", "name": "gpu", "count": row["gpus"]},
                ]
                if row["start"]
                else []
            },
        }
        for row in rows
    ]
    path.write_text(json.dumps({"jobs": jobs}))
    return sl.read_sacct(path, machine=MACHINE, names=True)


def by_database(path, rows, zone, order):
    none = 2**32 - 1
    table = [
        {
            "id_job": row["number"],
            "id_user": 1000 + len(row["user"]),
            "account": row["account"],
            "state": NUMBERS[row["state"]],
            "timelimit": none if row["limit"] is None else row["limit"],
            "time_submit": row["submit"],
            "time_start": row["start"] or 0,
            "time_end": row["end"] or 0,
            "cpus_req": row["procs"],
            "tres_alloc": f"1={row['procs']},2=64000,4=1,1001={row['gpus']}" if row["start"] else "",
        }
        for row in rows
    ]
    pd.DataFrame(table).to_csv(path.with_suffix(".csv"), index=False)
    return sl.read_public(path.with_suffix(".csv"), log="slurmdbd", machine=MACHINE)


DOORS = {"sacct": by_sacct, "table": by_table, "frame": by_frame, "json": by_json, "database": by_database}


def shown_twice(second, zone):
    date = datetime.fromtimestamp(second, ZoneInfo(zone)).replace(tzinfo=None)
    return len({date.replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp() for fold in (0, 1)}) > 1


def check_instants(trace, jobs, kept, first):
    assert trace.header.unix_start_time == first
    assert jobs["submit_time"].tolist() == [row["submit"] - first for row in kept]
    assert jobs["wait_time"].tolist() == [row["start"] - row["submit"] for row in kept]


@pytest.mark.parametrize("door", DOORS)
@examples(60)
@given(rows=runs(), zone=st.sampled_from(ZONES), order=st.permutations(range(11)))
def test_the_same_runs_come_through_every_door(tmp_path_factory, door, rows, zone, order):
    kept, reasons = expected(rows)
    path = tmp_path_factory.mktemp("door") / "jobs.txt"
    if not kept:
        with pytest.raises(ValueError, match="none of .* records can be simulated|no job in it"):
            DOORS[door](path, rows, zone, order)
        return
    trace = DOORS[door](path, rows, zone, order)
    jobs = trace.jobs.sort_index()
    assert jobs.index.tolist() == [row["number"] for row in kept]
    first = min(row["submit"] for row in rows if row["state"] != "RUNNING")
    instants = [row[name] for row in rows for name in ("submit", "start") if row[name]]
    if door in ("json", "database") or not any(shown_twice(instant, zone) for instant in instants):
        check_instants(trace, jobs, kept, first)
    assert jobs["run_time"].tolist() == [row["run"] for row in kept]
    limits = [row["run"] if row["limit"] is None else 60 * row["limit"] for row in kept]
    assert jobs["requested_time"].tolist() == limits
    assert trace.work("extend") == sum(row["run"] * row["procs"] for row in kept)
    assert jobs.get("gpus", pd.Series(0, jobs.index)).tolist() == [row["gpus"] for row in kept]
    assert jobs["account"].tolist() == [row["account"] for row in kept]
    assert jobs["state"].tolist() == [row["state"] for row in kept]
    dropped = trace.dropped["reason"].value_counts().to_dict()
    for reason in (STEP, GIVEN_TWICE):  # which only texts have
        dropped.pop(reason, None)
    assert dropped == reasons
    running = trace.dropped[trace.dropped["reason"] == RUNNING]
    if door != "database":  # which does not say how long they have run
        assert running["work"].sum() == sum(row["run"] * row["procs"] for row in rows if row["state"] == "RUNNING")
    sl.simulate(trace, "easy").validate()


@given(rows=runs(), cut=st.floats(0, 1))
@examples(80)
def test_a_file_that_was_cut_off_is_read_up_to_there_or_refused_in_one_line(tmp_path_factory, rows, cut):
    path = tmp_path_factory.mktemp("cut") / "jobs.txt"
    records = slurm(rows, "UTC", steps=False)
    lines = ["|".join(records[0]), *("|".join(record.values()) for record in records)]
    text = "\n".join(lines)
    path.write_text(text[: int(cut * len(text))])
    try:
        trace = sl.read_sacct(path, machine=MACHINE, time_zone="UTC", lenient=True)
    except ValueError as error:
        message = str(error)
    else:
        message = ""
    if message:
        assert message.startswith("jobs.txt")
        return
    whole = expected(rows)[0]
    assert len(trace) <= len(whole)
    jobs = trace.jobs.sort_index()
    last = jobs.index[-1]
    known = {row["number"]: row["run"] for row in whole}
    assert all(run == known[number] for number, run in jobs["run_time"].items() if number != last)


# Kinds of trouble, each behind more than one door -------------------------------------------------------
def table(*rows, **columns):
    names = ["JobID", "Submit", "Start", "End", "NCPUS", "State"]
    return pd.DataFrame(rows, columns=names).assign(**columns)


NAMED = {"submit": "Submit", "start": "Start", "end": "End", "procs": "NCPUS", "status": "State", "job": "JobID"}
DAY = "2024-03-01"
PLAIN = ("7", f"{DAY} 08:00:00", f"{DAY} 08:10:00", f"{DAY} 09:10:00", 16, "COMPLETED")


def through(door, tmp_path, frame, **settings):
    """Read a table of sacct's columns by one of three doors."""
    if door == "frame":
        return sl.from_frame(frame, **NAMED, **settings)
    path = tmp_path / "jobs.csv"
    if door == "table":
        frame.to_csv(path, index=False)
        return sl.read_table(path, **NAMED, **settings)
    frame.astype(str).replace(" ", "T", regex=True).to_csv(path, sep="|", index=False)
    return sl.read_sacct(path, **settings)


EVERYWHERE = pytest.mark.parametrize("door", ["frame", "table", "sacct"])


@EVERYWHERE
def test_a_job_that_failed_and_ran_again_has_two_runs_and_the_last_keeps_the_number(tmp_path, door):
    again = ("7", f"{DAY} 09:20:00", f"{DAY} 09:30:00", f"{DAY} 10:00:00", 16, "COMPLETED")
    trace = through(door, tmp_path, table((*PLAIN[:5], "FAILED"), again), machine=MACHINE)
    assert trace.jobs["run_time"].to_dict() == {8: 3600, 7: 1800}
    assert trace.repairs["reason"].str.startswith("several runs").any()


@EVERYWHERE
def test_one_number_for_two_jobs_at_the_same_time_is_worth_a_look(tmp_path, door):
    other = ("7", f"{DAY} 08:20:00", f"{DAY} 08:30:00", f"{DAY} 10:00:00", 16, "COMPLETED")
    repairs = through(door, tmp_path, table(PLAIN, other), machine=MACHINE).repairs
    assert repairs.set_index("reason")["kind"]["job numbers were not unique"] == "worth a look"


@EVERYWHERE
def test_clocks_that_were_put_back_say_what_is_missing_or_are_understood(tmp_path, door):
    night = "2024-11-03"
    row = ("7", f"{night} 00:50:00", f"{night} 01:30:00", f"{night} 01:20:00", 16, "COMPLETED")
    with pytest.raises(ValueError, match="a time at or after the start; if the clock was put back, give time_zone="):
        through(door, tmp_path, table(row), machine=MACHINE)
    trace = through(door, tmp_path, table(row), machine=MACHINE, time_zone="America/Chicago")
    assert trace.jobs["run_time"].tolist() == [3000]
    assert "1 run at a time that the clock showed twice" in repr(trace)


@EVERYWHERE
def test_what_still_runs_is_told_by_work_and_by_the_machine_it_holds(tmp_path, door):
    small = [(str(number), *PLAIN[1:4], 1, "COMPLETED") for number in range(1, 51)]
    running = ("99", f"{DAY} 08:00:00", f"{DAY} 08:00:00", "Unknown", 48, "RUNNING")
    frame = table(*small, running)
    frame = frame.assign(Elapsed="10-00:00:00").where(frame["JobID"] == "99", frame.assign(Elapsed="01:00:00"))
    roles = {} if door == "sacct" else {"run": "Elapsed"}
    trace = through(door, tmp_path, frame, machine=MACHINE, **roles)
    line = repr(trace).splitlines()[1]
    share = 48 * 864_000 / (48 * 864_000 + 50 * 3600)
    words = f"(left out, {100 * share:.3g} % of the work, 75 % of the machine at the end of the log)"
    assert line.strip().startswith(f"worth a look: 1 job still running {words}")


@EVERYWHERE
def test_what_has_run_for_years_does_not_set_the_clock_of_the_log(tmp_path, door):
    runaway = ("1", "2019-05-01 00:00:00", "2019-05-01 00:00:00", "Unknown", 4, "RUNNING")
    trace = through(door, tmp_path, table(runaway, PLAIN), machine=MACHINE)
    assert trace.at(0) == pd.Timestamp(f"{DAY} 08:00", tz="UTC")


@EVERYWHERE
def test_gpus_are_said_loudly_where_processors_are_simulated_and_can_be_simulated(tmp_path, door):
    frame = table(PLAIN, ("8", *PLAIN[1:4], 1, "COMPLETED"), AllocTRES=["cpu=16,gres/gpu:a100=4,gres/gpu=4", "cpu=1"])
    with pytest.warns(GpuWarning, match="1 job has GPUs, with 94.1 % of the work; .* are simulated, GPUs are not"):
        trace = through(door, tmp_path, frame, machine=MACHINE)
    assert (trace.jobs["gpus"].tolist(), trace.gpus) == ([4, 0], 4)
    assert trace.columns["gpus"].tolist() == [4, 0]
    if door == "sacct":
        trace = through(door, tmp_path, frame, procs_of="gpus", machine=8)
        assert trace.jobs["requested_procs"].to_dict() == {7: 4}
        assert trace.dropped["reason"].to_dict()[8].startswith("asks for no GPU")


def test_the_work_of_jobs_that_got_more_than_they_asked_for_is_said(tmp_path):
    frame = table(PLAIN, ("8", *PLAIN[1:4], 16, "COMPLETED"), ReqCPUS=[4, 16])
    for door in ("frame", "table", "sacct"):
        trace = through(door, tmp_path, frame, machine=MACHINE)
        assert "50 % of the work had asked for other sizes (ReqCPUS) than it got, which count" in trace.history
        assert trace.jobs["ReqCPUS"].tolist() == [4, 16]


def test_a_log_without_numbers_of_jobs_is_numbered_and_one_without_submissions_is_refused(tmp_path):
    path = tmp_path / "jobs.txt"
    path.write_text(f"Submit|Start|End|NCPUS\n{'|'.join(PLAIN[1:4])}|16\n".replace(" ", "T"))
    assert sl.read_sacct(path, machine=MACHINE).jobs.index.tolist() == [1]
    path.write_text("Start|End|NCPUS\n1709280000|1709283600|16\n")
    with pytest.raises(ValueError, match="^jobs.txt: no column Submit; run"):
        sl.read_sacct(path)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        *[
            ("CD", "COMPLETED"),
            ("F", "FAILED"),
            ("TO", "TIMEOUT"),
            ("OOM", "OUT_OF_MEMORY"),
            ("OUT_OF_ME+", "OUT_OF_MEMORY"),
        ],
        *[("CANCELLED+", "CANCELLED"), ("CANCELLED by 7", "CANCELLED"), ("Pass", "COMPLETED"), ("Killed", "CANCELLED")],
        *[
            ("COMPLETED_WALLTIME_REACHED", "TIMEOUT"),
            ("COMPLETED_SUCCESSFULLY", "COMPLETED"),
            ("completed", "COMPLETED"),
        ],
    ],
)
def test_states_as_systems_write_them(text, state):
    trace = sl.from_frame(table((*PLAIN[:5], text)), **NAMED, machine=MACHINE)
    assert trace.jobs["state"].tolist() == [state]


def test_an_unknown_state_drops_splits_and_joins_nothing():
    frame = table(PLAIN, ("8", *PLAIN[1:5], "levitating"))
    trace = sl.from_frame(frame, **NAMED, machine=MACHINE)
    assert trace.jobs["status"].tolist() == [1, -1]
    assert "status: 'levitating' not known, taken for unknown" in trace.history


def test_numbers_of_jobs_that_are_names_are_kept_beside_those_of_the_rows():
    trace = sl.from_frame(table(("app_7", *PLAIN[1:]), ("app_8", *PLAIN[1:])), **NAMED, machine=MACHINE)
    assert trace.jobs.index.tolist() == [1, 2]
    assert trace.jobs["JobID"].tolist() == ["app_7", "app_8"]


def test_tasks_that_share_the_number_of_their_array_are_not_one_job_given_twice():
    tasks = table(*[PLAIN] * 3, Node=["n1", "n2", "n2"])
    trace = sl.from_frame(tasks, **NAMED, machine=MACHINE)
    assert (len(trace), trace.dropped["reason"].tolist()) == (2, [GIVEN_TWICE])  # only the last two are the same row
    running = (*PLAIN[:3], "Unknown", 16, "RUNNING")
    trace = sl.from_frame(table(running, PLAIN), **NAMED, machine=MACHINE)
    assert (len(trace), trace.dropped["reason"].tolist()) == (1, [GIVEN_TWICE])


def test_jobs_that_have_to_wait_for_others_are_said_and_columns_are_found_in_any_spelling():
    frame = table(PLAIN, ("8", *PLAIN[1:]), Account=["physics", "bio"], preceding_job=[-1, 7])
    trace = sl.from_frame(frame, **NAMED, machine=MACHINE)
    assert "1 job has to wait for another (preceding_job), which is not simulated" in repr(trace)
    assert trace.columns["account"].tolist() == [1, 0]
    assert np.isin("Account", trace.jobs.columns)
