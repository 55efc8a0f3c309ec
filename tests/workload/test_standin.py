"""Stand-ins: the same on every machine, as long as the log, similar to the log, and never mistaken for it."""

import gzip
import hashlib
import json
import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.likeness import distance, repeats, series

import schedlab as sl
from schedlab.workload import archive, standin, swf
from schedlab.workload.archive import TraceNotFound
from schedlab.workload.standin import fitting
from schedlab.workload.standin.digits import numbers_of

pytestmark = pytest.mark.tables

LOGS = (
    *("CTC-SP2-1996-3.1-cln", "HPC2N-2002-2.2-cln", "KTH-SP2-1996-2.1-cln", "LLNL-Atlas-2006-2.1-cln"),
    *("LLNL-Thunder-2007-1.1-cln", "SDSC-BLUE-2000-4.2-cln", "SDSC-Par-1996-3.1-cln", "SDSC-SP2-1998-4.2-cln"),
)
CLOSE = ("CTC-SP2-1996-3.1-cln", "KTH-SP2-1996-2.1-cln", "SDSC-SP2-1998-4.2-cln")


@pytest.fixture(autouse=True)
def _no_log(request, monkeypatch, tmp_path):
    if "traces" not in request.keywords:
        monkeypatch.delenv("SCHEDLAB_DATA", raising=False)
        monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))


@pytest.fixture(scope="module")
def both(request):
    """Load a log and its stand-in, once for all tests of them; pytest runs these one after the other."""
    return [sl.load_trace(request.param, standin=one) for one in (False, True)]


def table_of(name):
    return standin.load(archive.standin_table(name))


# --- The tables ---
def test_every_log_of_the_papers_has_a_table_of_some_tens_of_kilobytes_and_a_row_in_the_readme():
    assert sorted(standin.names()) == sorted(LOGS)
    for name in LOGS:
        assert 10_000 < archive.standin_table(name).stat().st_size < 70_000
    text = (Path(__file__).parents[2] / "data" / "README.md").read_text()
    assert set(re.findall(r"^\| ([A-Z][\w.-]+-cln) \|", text, re.MULTILINE)) >= set(LOGS)


def entries(value):
    """Return the lengths of the lists and of the strings of digits, at any depth of a table."""
    if isinstance(value, str | list):
        yield len(value)
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from entries(one)


@pytest.mark.parametrize("name", LOGS)
def test_nothing_in_a_table_identifies_a_job(name):
    table = table_of(name)
    assert set(table) == {
        *("name", "header", "procs", "unix_start_time", "timezone", "records", "starts", "hours", "jobs"),
        *("week", "strata", "work", "users", "gaps", "run_times", "other"),
    }
    jobs = sum(table["jobs"])
    figures = {key: value for key, value in table.items() if key not in ("header", "name", "timezone")}
    assert max(entries(figures)) <= jobs // fitting.FEWEST
    assert min(table["jobs"]) >= fitting.FEWEST
    assert len(table["hours"]) == len(table["jobs"]) + 1
    assert all(hours > 0 for hours in table["hours"][1:])
    strata = table["strata"].values()
    assert np.sum([numbers_of(fitted["jobs"]) for fitted in strata], axis=0).min() >= fitting.FEWEST
    for fitted in strata:
        assert min(fitted["kinds"][-1]) >= fitting.FEW
    for within, over, *quantiles in table["run_times"].values():
        for count, points in zip((within, over), quantiles, strict=True):
            assert count == len(points) == 0 or count >= fitting.FEW * max(1, len(points) // 2)
    assert min(table["users"]["jobs"]) >= fitting.FEW
    for *_, counts in table["other"].values():
        assert min(counts, default=fitting.FEW) >= fitting.FEW


@pytest.mark.traces
@pytest.mark.parametrize("name", ["KTH-SP2-1996-2.1-cln", "CTC-SP2-1996-3.1-cln", "LLNL-Thunder-2007-1.1-cln"])
def test_a_table_is_rebuilt_from_its_log_bit_for_bit(name, tmp_path):
    table = standin.fit(swf.cached_log(archive.fetch(name)), name)
    # Compare the text, since the bytes of the gzip file depend on the zlib that wrote it.
    assert standin.text_of(table) == gzip.decompress(archive.standin_table(name).read_bytes())
    standin.save(table, tmp_path / "a")
    standin.save(table, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert standin.load(tmp_path / "a") == json.loads(standin.text_of(table))


def small_log(jobs, run=600):
    """Make a log of two users: batches of eight jobs on 8 processors."""
    number = np.arange(jobs)
    columns = {
        "job_number": number + 1,
        "submit_time": 300 * number,
        "run_time": run + 60 * (number // 8 % 5),
        "allocated_procs": 1 + number // 8 % 4,
        "requested_procs": 1 + number // 8 % 4,
        "requested_time": 3600,
        "status": 1,
        "user_id": 1 + number // 8 % 2,
    }
    records = pd.DataFrame({field: columns.get(field, np.full(jobs, -1)) for field in swf.FIELDS})
    header = swf.Header(("; MaxProcs: 8", "; Computer: Tiny"))
    return swf.Log(header, records, pd.DataFrame(), "", Path("tiny.swf"))


def test_a_log_without_a_date_and_without_waits_can_be_fitted():
    table = standin.fit(small_log(400), "tiny")
    header, records = standin.generate(table)
    assert (header.procs, header.unix_start_time, header.computer) == (8, None, "Tiny")
    assert len(records) == 400
    assert set(records["requested_procs"]) == {1, 2, 3, 4}
    assert set(records["requested_time"]) == {3600}
    assert records["run_time"].between(550, 900).all()
    assert (table["starts"], records["submit_time"].is_monotonic_increasing) == (True, True)


@pytest.mark.parametrize("start", [None, 1_000_000_200])
def test_of_submissions_a_table_keeps_the_hour_alone(start):
    log = small_log(403)
    log = replace(log, header=swf.Header((*log.header.lines, *([f"; UnixStartTime: {start}"] if start else []))))
    past = (start or 0) % 3600
    on_the_hour = log.records.copy()
    submit = on_the_hour["submit_time"] + past
    on_the_hour["submit_time"] = (submit // 3600 * 3600 - past).clip(lower=0)
    tables = [standin.fit(one, "tiny") for one in (log, replace(log, records=on_the_hour))]
    gaps = [table.pop("gaps") for table in tables]
    assert tables[0] == tables[1]
    assert gaps[0] != gaps[1]
    # No hour's first generated job falls on the hour either.
    submitted = standin.generate({**tables[0], "gaps": gaps[0]})[1]["submit_time"]
    assert ((submitted + past) % 3600 == 0).mean() < 0.05
    assert submitted.min() >= 0


def test_logs_that_are_too_long_or_have_no_stand_in_are_refused():
    most = fitting.BLOCKS * fitting.MOST
    with pytest.raises(ValueError, match=f"long has {most + 1:,} jobs, expected {most:,} at most"):
        standin.fit(small_log(most + 1), "long")
    with pytest.raises(TraceNotFound, match=r"^NASA-iPSC-1993-3.1-cln has no stand-in; there are stand-ins for .*KTH"):
        sl.load_trace("NASA-iPSC-1993", standin=True)
    with pytest.raises(TraceNotFound, match="^unknown trace 'nonesuch'"):
        sl.load_trace("nonesuch", standin=True)


# --- What is generated ---
def digest(records):
    return hashlib.sha256(records.to_numpy().astype("<i8").tobytes()).hexdigest()


def test_generating_is_deterministic_and_follows_the_seed():
    table = table_of("KTH-SP2-1996")
    one, again, other = (standin.generate(table, seed)[1] for seed in (0, 0, 1))
    assert one.equals(again)
    assert not one.equals(other)
    assert (one.dtypes == "int64").all()
    # The same on every machine: raw output of PCG64, and whole numbers from there on.
    assert digest(one) == "7e3364693f60ba0d1b2f15a2e72001f8dea58b056f98e02227c42abd5e6d648f"


@pytest.mark.parametrize("name", LOGS)
def test_a_stand_in_is_as_long_as_its_log_and_says_what_it_is(name):
    log = standin.look_alike(name)
    facts = archive.catalogue().loc[name]
    assert len(log.records) == facts["jobs"]
    assert log.header.procs == facts["procs"]
    assert f"stand-in: made by schedlab from figures fitted to {name}" in "\n".join(log.header.all("Note"))
    assert log.header.acknowledge
    assert log.records["job_number"].tolist() == list(range(1, len(log.records) + 1))
    dated = log.records["submit_time"][log.records["submit_time"] >= 0]
    assert dated.is_monotonic_increasing
    assert (log.records["allocated_procs"] <= facts["procs"]).all()
    assert (log.records["wait_time"] == -1).all()


def test_gaps_of_the_records_are_kept():
    thunder = standin.look_alike("LLNL-Thunder-2007").records
    assert ((thunder["submit_time"] < 0) & (thunder["run_time"] < 0)).sum() == 1_190
    assert (thunder["requested_time"] <= 0).mean() == pytest.approx(82_437 / 121_039, abs=0.02)
    assert (standin.look_alike("CTC-SP2-1996").records["requested_procs"] == -1).all()
    assert (standin.look_alike("SDSC-Par-1996").records["requested_time"] == -1).all()
    assert (standin.look_alike("SDSC-SP2-1998").records["run_time"] < 0).sum() == pytest.approx(5_671, abs=30)


def test_where_submit_times_are_starts_all_jobs_fit_at_once():
    trace = sl.load_trace("LLNL-Atlas-2006", standin=True)
    assert sl.simulate(trace, "fcfs", overrun="extend").metrics()["wait_time"] < 60


def test_loading_gives_a_trace_that_says_what_it_is():
    trace = sl.load_trace("KTH-SP2-1996", standin=True)
    assert (trace.source, trace.name, trace.procs) == ("stand-in", "KTH-SP2-1996-2.1-cln", 100)
    assert trace.title == "KTH-SP2-1996-2.1-cln (stand-in, not the real log)"
    assert "STAND-IN" in repr(trace)
    assert len(trace.between("1996-10-01", "1996-11-01")) > 1_000
    sl.simulate(trace, "easy").validate()
    with pytest.warns(sl.workload.LoadWarning, match="18.1 % of the work left out"):
        assert len(sl.load_trace("KTH-SP2-1996", standin=True, machine=50)) < len(trace)
    other = sl.load_trace("KTH-SP2-1996", standin=True, seed=2)
    assert not other.jobs.equals(trace.jobs)
    assert other.title == "KTH-SP2-1996-2.1-cln, seed 2 (stand-in, not the real log)"
    assert sl.load_trace("KTH-SP2-1996", standin=True, seed=standin.SEED).title == trace.title
    for seed in (-1, 1.5, "x", None):
        with pytest.raises(ValueError, match="^seed must be a whole number of at least 0"):
            sl.load_trace("KTH-SP2-1996", standin=True, seed=seed)


@pytest.mark.parametrize("unasked", [None, False])
def test_a_stand_in_never_comes_unasked(monkeypatch, unasked):
    def no_network(name, progress):
        raise TraceNotFound("no network")

    monkeypatch.setattr(archive, "_download", no_network)
    with pytest.raises(TraceNotFound, match="no network"):
        sl.load_trace("KTH-SP2-1996", standin=unasked)


def test_two_hundred_thousand_jobs_take_less_than_two_seconds(record_property):
    table = table_of("SDSC-BLUE-2000")
    begin = time.process_time()
    records = standin.generate(table)[1]
    took = time.process_time() - begin
    record_property("seconds", took)
    assert len(records) > 200_000
    assert took < 2


# --- Likeness ---
@pytest.mark.traces
@pytest.mark.parametrize("both", LOGS, indirect=True)
def test_marginals_are_close(both):
    real, fake = (trace.table for trace in both)
    assert len(fake) == pytest.approx(len(real), rel=0.002)
    for field, most in (("requested_procs", 0.06), ("run_time", 0.04), ("requested_time", 0.04)):
        assert distance(real[field], fake[field]) < most, field


@pytest.mark.traces
@pytest.mark.parametrize("both", CLOSE, indirect=True)
def test_users_share_the_jobs_and_repeat_themselves_as_in_the_log(both):
    real, fake = (trace.table for trace in both)
    busiest = [jobs["user_id"].value_counts(normalize=True).iloc[:10].sum() for jobs in (real, fake)]
    assert busiest[1] == pytest.approx(busiest[0], abs=0.05)
    for log, ours in zip(repeats(real), repeats(fake), strict=True):
        assert ours == pytest.approx(log, abs=0.1)


@pytest.mark.traces
@pytest.mark.parametrize("both", CLOSE, indirect=True)
def test_easy_waits_as_long_as_on_the_log_within_a_quarter(both):
    waits = [sl.simulate(trace.scale_load(0.8), "easy").validate().metrics()["wait_time"] for trace in both]
    assert waits[1] == pytest.approx(waits[0], rel=0.25)


@pytest.mark.traces
@pytest.mark.parametrize("both", CLOSE, indirect=True)
def test_weeks_carry_the_same_work(both):
    real, fake = both
    end = real.table["submit_time"].max()
    assert fake.table["submit_time"].max() <= end + 3600
    work = [series(trace, 604_800, end + 3600)[1] for trace in (real, fake)]
    assert np.corrcoef(*work)[0, 1] > 0.85
