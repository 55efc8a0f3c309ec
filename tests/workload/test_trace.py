"""Traces: they never change under the caller, a change does what it says, and files come back the same."""

import html
import re
import sys
import tempfile
import time
import tracemalloc
from contextlib import nullcontext
from dataclasses import FrozenInstanceError, replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from conftest import LOGS
from hypothesis import given
from hypothesis import strategies as st
from workloads import examples, trace_of, workloads

import schedlab as sl
from schedlab.workload.archive import TraceNotFound
from schedlab.workload.conventions import run_times
from schedlab.workload.copies import LAZY
from schedlab.workload.swf import Header, SWFError

pytestmark = pytest.mark.tables

JOBS = [(0, 10, 20, 2), (5, 30, 25, 1), (5, 7, 7, 3), (20, 4, 9, 1)]


@pytest.fixture
def trace():
    return trace_of(JOBS, 4)


@pytest.fixture(autouse=True)
def _cache_of_its_own(request, monkeypatch, tmp_path):
    if "traces" not in request.keywords:  # their caches are worth keeping from one run to the next
        monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "cache"))


def same(one, other):
    """Tell whether two traces have the same jobs on the same machine."""
    return one.procs == other.procs and one.jobs.equals(other.jobs)


def test_changing_a_table_that_came_out_or_went_in_leaves_the_trace_alone(trace):
    table = trace.jobs
    made = replace(trace, table=table)
    table.loc[1, "run_time"] = 99
    table["submit_time"] += 1
    table["new"] = 0
    table.iloc[:, 0] = 0
    assert same(trace, trace_of(JOBS, 4))
    assert same(made, trace)
    with pytest.raises(FrozenInstanceError):
        trace.procs = 8


@pytest.mark.filterwarnings("ignore::schedlab.workload.LoadWarning")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        *[("head", [2]), ("between", [0, 6]), ("scale_load", [0.9]), ("scale_load", [0.9, "interarrival"])],
        *[("with_estimates", ["exact"]), ("with_estimates", [[1, 2, 3, 4]])],
        *[("cut_at_estimates", []), ("with_machine", [2])],
    ],
)
def test_every_change_makes_a_new_trace_with_a_line_of_history(trace, name, arguments):
    changed = getattr(trace, name)(*arguments)
    assert same(trace, trace_of(JOBS, 4))
    assert (trace.history, len(trace.dropped)) == ((), 0)
    assert not same(changed, trace)
    (step,) = changed.history
    assert step in repr(changed)
    assert getattr(changed.with_machine(4), name)(*arguments).history[0] == step
    assert changed.logged_area.equals(trace.logged_area)


def test_jobs_are_in_the_order_of_their_submission_however_the_table_was(trace):
    shuffled = replace(trace, table=trace.jobs.loc[[4, 3, 2, 1]])
    assert shuffled.jobs.index.tolist() == [1, 3, 2, 4]  # of two at one instant, the first in the table


# Parts --------------------------------------------------------------------------------------------------
def test_parts_are_the_first_jobs_or_a_period_with_its_begin_and_not_its_end(trace):
    assert trace.head(2).jobs.index.tolist() == [1, 2]
    assert same(trace.head(100), trace)
    assert trace.head(100).history == ("first 4 jobs",)
    with pytest.raises(ValueError, match="jobs must be at least 1, got 0"):
        trace.head(0)
    assert trace.between(5, 20).jobs.index.tolist() == [2, 3]
    assert trace.between(4.5, 20.5).jobs.index.tolist() == [2, 3, 4]


def dated(submits, epoch, zone):
    """Make a trace of jobs submitted at the given seconds of a log that began at a second of 1970."""
    header = Header((f"; UnixStartTime: {epoch}", *([f"; TimeZoneString: {zone}"] if zone else [])))
    return replace(trace_of([(submit, 1, 1, 1) for submit in submits], 1), header=header)


@pytest.mark.parametrize("zone", ["US/Eastern", "Europe/Stockholm", "Asia/Tokyo", None])
def test_dates_are_those_of_the_machine(zone):
    here = ZoneInfo(zone or "UTC")
    midnight = int(datetime(1996, 9, 1, tzinfo=here).timestamp())
    begin = int(datetime(1996, 8, 20, 15, 30, tzinfo=here).timestamp())
    log = dated([0, midnight - begin - 1, midnight - begin, midnight - begin + 86_400], begin, zone)
    assert log.between("1996-09-01", "1996-09-02").jobs["submit_time"].tolist() == [midnight - begin]
    assert log.between(datetime(1996, 9, 1), "1996-09-03").jobs.index.tolist() == [3, 4]
    aware = pd.Timestamp(midnight, unit="s", tz="UTC")
    assert log.between(aware, "1996-09-02").jobs.index.tolist() == [3]
    assert log.at(0) == pd.Timestamp("1996-08-20 15:30", tz=here)


@pytest.mark.parametrize(
    ("submits", "period", "message"),
    [
        ([0, 86_400], ("1999-01-01", "1999-02-01"), r"no job of a test was submitted .*; the log has 1996-08-31 .* to"),
        ([0, 2**52], (5, 6), "the log has 1996-08-31 .* to 4503599627370496$"),
        ([0], (5, 5), "the period must begin before it ends"),
        ([0], ("1999-02-01", "1999-01-01"), "the period must begin before it ends"),
        (None, ("1996-09-01", "1996-10-01"), "no UnixStartTime"),
    ],
)
def test_a_period_without_jobs_is_an_error_that_says_what_there_is_and_in_which_clock(trace, submits, period, message):
    log = trace if submits is None else dated(submits, 841_536_000, "US/Eastern")
    with pytest.raises(ValueError, match=message):
        log.between(*period)
    assert trace.at(5) == 5


@pytest.mark.parametrize("instant", ["garbage", "99999-01-01", "NaT", None, [], {}, np.nan, 10**400])
def test_what_is_no_date_is_refused(instant):
    log = dated([0, 5], 841_536_000, "US/Eastern")
    for ask in (log.seconds, lambda instant: log.between(0, instant)):
        with pytest.raises(ValueError, match="is not a date") as error:
            ask(instant)
        assert repr(instant)[:40] in str(error.value)
        assert "expected a date like 1996-09-01 or seconds on the clock of a test" in str(error.value)
        assert len(str(error.value)) < 200


def test_dates_of_odd_years_days_and_hours():
    far = dated([0], 99_999_999_999, "UTC")
    assert far.at(0.25).isoformat() == "5138-11-16T09:46:39.250000+00:00"
    assert far.at(5).isoformat() == "5138-11-16T09:46:44+00:00"
    spring = int(datetime(1997, 4, 6, tzinfo=ZoneInfo("US/Eastern")).timestamp())  # a day of 23 hours
    assert len(dated([0, 22 * 3600 + 3599, 23 * 3600], spring, "US/Eastern").between("1997-04-06", "1997-04-07")) == 2
    log = dated([0], 841_536_000, "US/Eastern")  # an hour that came twice is the earlier one, and one that never came
    assert log.at(log.seconds("1996-10-27 01:30")).isoformat() == "1996-10-27T01:30:00-04:00"
    assert log.at(log.seconds("1996-04-07 02:30")).isoformat() == "1996-04-07T03:00:00-04:00"


@pytest.mark.parametrize("second", [3e11, 1e17, -1e17, 2**53, float("nan"), float("inf"), -1e11, 10**400])
def test_a_second_beyond_the_calendar_is_refused(second):
    for zone in ("US/Eastern", "Asia/Tokyo", None):
        with pytest.raises(ValueError, match=r"a test has no date at second .*; expected one of the years 1 to 9999"):
            dated([0], 841_536_000, zone).at(second)


def test_header_lines_that_cannot_be_stand_among_what_was_dropped(tmp_path):
    header = ("; MaxProcs: 4", "; TimeZoneString: ../../etc/passwd", "; UnixStartTime: 0")
    trace = sl.read_swf(log_file(tmp_path, record(1), header=header), lenient=True)
    reason = "line 2: TimeZoneString is '../../etc/passwd', expected a time zone like Europe/Stockholm"
    assert trace.dropped["reason"].tolist() == [reason]
    trace.to_swf(tmp_path / "again.swf")
    assert sl.read_swf(tmp_path / "again.swf").header.timezone is None


# Load ---------------------------------------------------------------------------------------------------
def naive_load(jobs, procs, kill):
    area = sum((min(job.run, job.estimate) if kill else job.run) * job.procs for job in jobs)
    span = max(job.submit for job in jobs) - min(job.submit for job in jobs)
    return area / (procs * span) if span else float("inf")


def with_overruns(jobs):
    """Let every second job outlive its estimate."""
    return [job._replace(run=job.run + 3) if i % 2 else job for i, job in enumerate(jobs)]


@given(workloads())
def test_offered_load_is_what_the_loop_says(workload):
    jobs, procs = workload
    jobs = with_overruns(jobs)
    trace = trace_of(jobs, procs)
    assert trace.offered_load() == pytest.approx(naive_load(jobs, procs, kill=True), rel=1e-12)
    assert trace.offered_load("extend") == pytest.approx(naive_load(jobs, procs, kill=False), rel=1e-12)


@examples(100)
@given(workloads(shortest=1), st.floats(0.1, 20), st.sampled_from(["kill", "extend"]))
def test_scaled_run_times_reach_the_load_within_their_rounding(workload, load, overrun):
    jobs, procs = workload
    trace = trace_of(with_overruns(jobs), procs)
    if not np.isfinite(trace.offered_load()):
        return
    with pytest.warns(sl.workload.LoadWarning) if load > 1.5 else nullcontext():
        scaled = trace.scale_load(load, overrun=overrun)
    factor = load / trace.offered_load(overrun)
    for field in ("run_time", "requested_time"):
        expected = [max(1, round(value * factor)) for value in trace.jobs[field].tolist()]
        assert scaled.jobs[field].tolist() == expected
    untouched = ["submit_time", "requested_procs"]
    assert scaled.jobs[untouched].equals(trace.jobs[untouched])
    # Half a second a job, or up to one where the duration would have been 0.
    span = trace.jobs["submit_time"].max() - trace.jobs["submit_time"].min()
    allowed = trace.jobs["requested_procs"].sum() / (procs * span)
    assert abs(scaled.offered_load(overrun) - load) <= allowed + 1e-9


@examples(100)
@given(workloads(shortest=1), st.floats(0.01, 2), st.sampled_from(["kill", "extend"]), st.integers(0, 10**9))
def test_scaled_interarrival_times_reach_the_load_within_their_rounding(workload, load, overrun, first):
    jobs, procs = workload
    trace = trace_of([job._replace(submit=job.submit + first) for job in with_overruns(jobs)], procs)
    before = trace.offered_load(overrun)
    if not np.isfinite(before):
        return
    with pytest.warns(sl.workload.LoadWarning) if load > 1.5 else nullcontext():
        scaled = trace.scale_load(load, by="interarrival", overrun=overrun)
    submit, now = trace.jobs["submit_time"].to_numpy(), scaled.jobs["submit_time"].to_numpy()
    assert now[0] == submit[0]
    assert np.abs((now - now[0]) - (submit - submit[0]) * before / load).max() <= 0.5 + 1e-6
    untouched = ["run_time", "requested_time", "requested_procs"]
    assert scaled.jobs[untouched].equals(trace.jobs[untouched])


def test_sab_0b_65_to_90_percent_multiplies_run_times_by_their_ratio():
    # Offered load exactly 0.65: 13 x 10^6 processor-seconds on 4 processors in 5 x 10^6 s.
    jobs = [(0, 1_300_000, 2_600_000, 2), (5_000_000, 2_600_000, 3_900_000, 4)]
    scaled = trace_of(jobs, 4).scale_load(0.90)
    assert scaled.jobs["run_time"].tolist() == [1_800_000, 3_600_000]
    assert scaled.jobs["requested_time"].tolist() == [3_600_000, 5_400_000]
    assert scaled.offered_load() == pytest.approx(0.90)
    assert scaled.history == ("offered load 0.6500 -> 0.9: run times and estimates x 1.3846",)


@pytest.mark.parametrize("load", [0, -0.2, float("nan"), float("inf"), None, "0.5"])
def test_a_load_is_a_positive_number(trace, load):
    with pytest.raises(ValueError, match=f"load must be greater than 0, got {load!r}"):
        trace.scale_load(load)
    with pytest.raises(ValueError, match=f"factor must be greater than 0, got {load!r}"):
        trace.scale(load)


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (90, "load 90 is 9,000 % of the machine; if you mean 90 %, give 0.9"),
        (70.5, "load 70.5 is 7,050 % of the machine; if you mean 70.5 %, give 0.705"),
        (1.6, "load 1.6 is 160 % of the machine; the queue grows as long as jobs arrive"),
    ],
)
@pytest.mark.parametrize("by", ["run_time", "interarrival"])
def test_a_load_that_may_be_a_percentage_is_warned_of(trace, load, words, by):
    with pytest.warns(sl.workload.LoadWarning) as caught:
        scaled = trace.scale_load(load, by=by)
    assert [str(warning.message) for warning in caught] == [words]
    assert caught[0].filename == __file__
    assert scaled.offered_load() > 1
    assert trace.scale_load(1.5, by=by)  # without a warning
    with pytest.warns(sl.workload.LoadWarning):
        sl.sweep(trace, "fcfs", load=load, by=by, progress=False)


def test_loads_that_cannot_be_scaled_are_refused(trace):
    empty = replace(trace, table=trace.table.iloc[:0])
    at_once = trace_of([(3, 1, 1, 1), (3, 2, 2, 1)], 4)
    for load, message in (
        (empty.offered_load, "has no jobs, and so no load"),
        (empty.effective_load, "has no jobs, and so no load"),
        (lambda: empty.scale_load(0.5), "has no jobs, and so no load"),
        (lambda: trace.scale_load(0.5, by="size"), "unknown by 'size'; known: run_time, interarrival"),
        (lambda: trace.offered_load("cut"), "unknown overrun 'cut'; known: kill, extend, keep"),
        (lambda: at_once.scale_load(0.5), "submitted at one instant"),
    ):
        with pytest.raises(ValueError, match=message):
            load()


def published_loads():
    """Read the offered loads of traces/README.md, section 2; none if the logs are not available."""
    readme = Path(LOGS or ".") / "README.md"
    text = readme.read_text() if LOGS and readme.exists() else ""
    row = re.compile(r"\| `([\w.-]+)` \| [\d,]+ \| [\d.]+ \| [\d.]+ \| ([\d.]+) \|")
    loads = {name: float(load) for name, load in row.findall(text)}
    # Those two have the most records, and would take as long as all the others.
    return {name: load for name, load in loads.items() if not name.startswith(("CEA", "RICC"))}


@pytest.mark.traces
@pytest.mark.parametrize(("name", "load"), published_loads().items())
def test_offered_loads_of_the_logs_are_as_counted(name, load):
    trace = sl.read_swf(Path(LOGS) / f"{name}.swf.gz")
    # There they are computed from allocated processors; the trace uses requested ones where it can.
    allocated = replace(trace, table=trace.jobs.assign(requested_procs=trace.jobs["allocated_procs"]))
    assert allocated.offered_load("extend") == pytest.approx(load, abs=6e-4)
    if (trace.jobs["requested_procs"] == trace.jobs["allocated_procs"]).all():
        assert trace.offered_load("extend") == pytest.approx(load, abs=6e-4)


# What the trace says of itself --------------------------------------------------------------------------
def test_repr_and_title_say_what_it_is(trace):
    text = repr(trace.scale_load(0.9).head(3))
    assert text.startswith("<Trace a test (model): 3 jobs on 4 processors, offered load ")
    assert "\n   offered load 0.8750 -> 0.9: run times and estimates x 1.0286\n   first 3 jobs>" in text
    standin = replace(trace, source="stand-in")
    assert "STAND-IN, not the real log" in repr(standin)
    assert standin.title == "a test (stand-in, not the real log)"
    assert trace.title == trace.name == "a test"


def test_repr_says_in_one_line_what_is_worth_a_look_and_what_is_not(tmp_path):
    trace = sl.read_swf(log_file(tmp_path, record(1), record(2, run=0), record(3, requested=-1)))
    line = "worth a look: 1 job without an estimate (run time taken, 50 % of the work); usual: 1 job of 0 s (left out)"
    assert repr(trace.head(1)).splitlines()[1:] == [f"   {line}", "   first 1 jobs>"]
    calm = sl.read_swf(log_file(tmp_path, record(1), record(2, run=0)))
    assert repr(calm).endswith("\n   nothing to worry about: 1 job of 0 s (left out)>")
    assert "\n" not in repr(sl.read_swf(log_file(tmp_path, record(1))))


def test_repr_says_how_much_of_the_work_is_cut_at_the_estimates_where_it_is_much(tmp_path):
    trace = sl.read_swf(log_file(tmp_path, record(1), record(2, run=100, requested=70), record(3, run=60)))
    assert trace.beyond_estimates() == (1, 30 / 170)
    words = '1 job runs longer than estimated: overrun "kill" cuts off 17.6 % of the work, not "extend" or "keep"'
    assert repr(trace).splitlines()[1:] == [f"   {words}>"]
    assert html.escape(words) in trace._repr_html_()
    little = sl.read_swf(log_file(tmp_path, record(1, run=200, requested=500), record(2, run=61), record(3, run=61)))
    assert little.beyond_estimates() == (2, pytest.approx(2 / 322))
    assert "\n" not in repr(little)
    assert sl.model_trace("lublin", jobs=50, machine=32).beyond_estimates() == (0, 0)


def test_what_is_left_out_with_much_of_the_work_says_how_much(tmp_path):
    lines = [record(1, run=50), record(2, run=20, procs=5), record(3, run=800, requested=-1), record(4, run=-1)]
    message = r"^X: 88.9 % of the work left out \(1,600 processor-seconds; 1 job: no estimate\)$"
    with pytest.warns(sl.workload.LoadWarning, match=message):
        dropped = sl.read_swf(log_file(tmp_path, *lines), missing_estimate="drop")
    words = "1 job without an estimate (left out, as asked, 88.9 % of the work)"
    assert dropped.repairs["words"].tolist()[0] == words
    message = r"^X: 50 % of the work left out .*; 1 job: wider than the machine \(3 "
    with pytest.warns(sl.workload.LoadWarning, match=message):
        small = dropped.scale(7, "run_time").with_machine(3)
    assert set(small.repairs["words"]) == {
        words,
        "1 job wider than the machine (left out, 5.56 % of the work)",
        "1 record without a run time (left out)",
    }
    many = [record(number, run=100) for number in range(1, 300)]
    calm = sl.read_swf(log_file(tmp_path, *many, record(300, procs=9)))
    assert calm.repairs["words"].tolist() == ["1 job wider than the machine (left out)"]


@pytest.mark.parametrize(
    ("kind", "settings", "expected"),
    [
        ("exact", {}, [10, 30, 7, 4]),
        ("factor", {"factor": 2}, [20, 60, 14, 8]),
        ("factor", {"factor": 1.5}, [15, 45, 11, 6]),
        ("factor", {"factor": 0.3}, [3, 9, 3, 2]),
        ("factor", {"factor": 1.1}, [11, 33, 8, 5]),  # 1.1 * 30 is 33.00000000000001
        (pd.Series({4: 40, 3: 30, 2: 20.5, 1: 10, 99: 7}), {}, [10, 21, 30, 40]),
        (np.array([1, 2, 3, 4]), {}, [1, 2, 3, 4]),
        ((1, 2, 3, 4), {}, [1, 2, 3, 4]),
    ],
)
def test_estimates_are_run_times_by_a_factor_rounded_up_or_given_by_job_number(trace, kind, settings, expected):
    estimates = trace.with_estimates(kind, **settings).jobs["requested_time"]
    assert (estimates.tolist(), estimates.dtype) == (expected, np.int64)


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("perfect", {}, "unknown estimates 'perfect'; known: exact, factor, tsafrir"),
        *[("factor", {"factor": x}, f"factor must be greater than 0, got {x}") for x in (0, -1, np.nan, np.inf)],
        ([1, 2], {}, r"estimates have shape \(2,\), expected one for each of the 4 jobs"),
        (7, {}, r"estimates have shape \(\), expected one for each of the 4 jobs"),
        ([1, 2, 0, 4], {}, r"estimate of job 3 is 0.0, expected a positive number"),
        ([1, np.nan, 3, 4], {}, "estimate of job 2 is nan, expected a positive number"),
        ([1, 2, 3, np.inf], {}, "estimate of job 4 is inf, expected a positive number"),
        (pd.Series({1: 5, 2: 5, 3: 5}), {}, "estimate of job 4 is nan, expected a positive number"),
    ],
)
def test_estimates_that_cannot_be_are_refused(trace, kind, settings, message):
    with pytest.raises(ValueError, match=message):
        trace.with_estimates(kind, **settings)


@pytest.mark.reduced
@examples(60)
@given(workloads())
def test_cut_at_estimates_is_what_the_kill_does(workload):
    jobs, procs = workload
    trace = trace_of(with_overruns(jobs), procs)
    cut = trace.cut_at_estimates()
    over = sum(job.run > job.estimate for job in with_overruns(jobs))
    assert cut.history == (f"{over} run times cut at their estimates",)
    killed, full = sl.simulate(trace, overrun="kill"), sl.simulate(cut, overrun="extend")
    assert killed.start.tolist() == full.start.tolist()
    assert killed.end.tolist() == full.end.tolist()
    assert run_times(cut.jobs, "extend").tolist() == run_times(trace.jobs, "kill").tolist()


def test_a_smaller_machine_drops_wide_jobs_and_says_so(trace):
    with pytest.warns(sl.workload.LoadWarning) as caught:
        small = trace.with_machine(2)
    reason = "1 job: wider than the machine (2 processors)"
    message = f"a test: 28 % of the work left out (21 processor-seconds; {reason})"
    assert [(str(warning.message), warning.filename) for warning in caught] == [(message, __file__)]
    assert small.history == ("machine of 2 processors: 28 % of the work left out",)
    assert same(trace.where("requested_procs <= 2").with_machine(2), small)  # chosen on purpose: no warning
    assert (small.procs, small.jobs.index.tolist()) == (2, [1, 2, 4])
    assert small.dropped["reason"].to_dict() == {3: "wider than the machine (2 processors)"}
    with pytest.warns(sl.workload.LoadWarning):
        assert small.with_machine(1).dropped.index.tolist() == [3, 1]
    assert same(trace.with_machine(8), replace(trace, procs=8))
    assert len(trace.with_machine(8).dropped) == 0
    for machine, error, message in (
        (0, ValueError, "machine must have at least 1 processor, got 0"),
        (2.5, TypeError, r"machine is 2\.5, expected a whole number"),
    ):
        with pytest.raises(error, match=message):
            trace.with_machine(machine)
    with pytest.raises(ValueError, match="no job of a test fits on 2 processors"):
        trace_of([(0, 1, 1, 3)], 4).with_machine(2)


# Files --------------------------------------------------------------------------------------------------
def record(number, submit=0, run=10, procs=2, requested=60, status=1):
    """Write one line of SWF."""
    known = {0: number, 1: submit, 3: run, 4: procs, 7: procs, 8: requested, 10: status}
    return " ".join(str(known.get(place, -1)) for place in range(18))


def log_file(folder, *lines, header=("; MaxProcs: 8",), name="X.swf"):
    path = folder / name
    path.write_text("\n".join([*header, *lines]) + "\n")
    return path


@examples(40)
@given(workloads(shortest=1), st.sampled_from(["swf", "swf.gz"]))
def test_a_written_trace_is_read_back(workload, ending):
    jobs, procs = workload
    trace = trace_of(with_overruns(jobs), procs)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"X.{ending}"
        trace.to_swf(path)
        assert (path.read_bytes()[:2] == b"\x1f\x8b") == (ending == "swf.gz")
        again = sl.read_swf(path)
    assert same(again, trace)
    assert len(again.dropped) == len(again.repaired) == 0
    assert again.name == "X"
    assert again.source == "file"


def test_the_header_survives_and_says_what_was_done(tmp_path):
    header = ("; Computer: a toy", "; MaxJobs: 4", "; MaxProcs: 8", "; UnixStartTime: 12345", "; Note: ours")
    lines = (record(1), record(2, submit=3), record(3, submit=5, procs=5), record(4, submit=9, run=0))
    with pytest.warns(sl.workload.LoadWarning):
        trace = sl.read_swf(log_file(tmp_path, *lines, header=header)).with_machine(4).head(2)
    trace.to_swf(tmp_path / "Y.swf")
    again = sl.read_swf(tmp_path / "Y.swf")
    assert same(again, trace)
    assert again.procs == 4
    assert again.header.computer == "a toy"
    assert again.header.unix_start_time == 12345
    assert again.header.get("MaxJobs") is None  # no longer true
    assert again.header.integer("MaxRecords") == 2
    assert again.header.all("Note") == [
        "ours",
        "read by schedlab as X (file)",
        "machine of 4 processors: 55.6 % of the work left out",
        "first 2 jobs",
        "worth a look: 1 job wider than the machine (left out, 55.6 % of the work); usual: 1 job of 0 s (left out)",
    ]


def test_real_values_come_back_and_skipped_lines_are_accounted_for(tmp_path):
    path = log_file(tmp_path, "1 0.5 7.25 9.5 2 3.125 -1 2 20 -1 1 -1 -1 -1 -1 -1 -1 -1")
    trace = sl.read_swf(path)
    assert trace.jobs["avg_cpu_time"].tolist() == [3.125]
    trace.to_swf(tmp_path / "Y.swf.gz")
    again = sl.read_swf(tmp_path / "Y.swf.gz")
    assert same(again, trace)
    assert len(trace.repaired) == 2
    assert len(again.repaired) == 0
    bad = record(3).replace("60", "6x")
    path = log_file(tmp_path, record(1), "not a record", record(2, run=0), bad, record(4))
    with pytest.raises(SWFError, match=r"X.swf:3: 3 fields, expected 18"):
        sl.read_swf(path)
    trace = sl.read_swf(path, lenient=True)
    assert trace.jobs.index.tolist() == [1, 4]
    assert trace.dropped["reason"].tolist() == [
        "run time is 0",
        "line 3: 3 fields, expected 18: 'not a record'",
        "line 5: field 9 (requested_time) is '6x', expected a number",
    ]
    assert trace.dropped.index.tolist() == [2, -1, -1]


def test_parquet_comes_back_and_without_pyarrow_says_what_is_missing(trace, tmp_path, monkeypatch):
    trace.to_parquet(tmp_path / "X.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "X.parquet"), trace.jobs)
    assert same(sl.read_table(tmp_path / "X.parquet", machine=4), trace)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pyarrow"):
        trace.to_parquet(tmp_path / "Y.parquet")
    assert not (tmp_path / "Y.parquet").exists()


def test_a_model_says_that_it_is_one():
    trace = sl.model_trace("lublin", jobs=50, machine=32, seed=3)
    assert repr(trace).startswith("<Trace Lublin-Feitelson model (model): 50 jobs on 32 processors")
    assert (trace.source, trace.history) == ("model", ("50 jobs for 32 processors, seed 3",))
    assert "\n   nothing to worry about: all 50 jobs without " in repr(trace)
    assert trace.jobs["requested_time"].tolist() == trace.jobs["run_time"].tolist()
    assert set(trace.repaired["field"]) <= {"requested_time", "allocated_procs"}
    assert same(trace, sl.model_trace("lublin", jobs=50, machine=32, seed=3))
    assert not same(trace, sl.model_trace("lublin", jobs=50, machine=32, seed=4))
    with pytest.raises(ValueError, match="unknown model 'gauss'; known: lublin, jann, downey"):
        sl.model_trace("gauss")


def test_a_log_without_a_usable_record_says_why_and_unknown_names_are_answered_with_known_ones(tmp_path):
    path = log_file(tmp_path, record(1, run=0), record(2, run=-1), record(3, run=0))
    with pytest.raises(SWFError, match="X.swf: none of .*3 records can be simulated; 2: run time is 0; 1: run"):
        sl.read_swf(path)
    unknown = log_file(tmp_path, record(1, requested=-1), name="Y.swf")
    assert len(sl.read_swf(unknown)) == 1
    with pytest.raises(SWFError, match="1: no estimate"):
        sl.read_swf(unknown, missing_estimate="drop")
    with pytest.raises(TraceNotFound, match=r"unknown trace 'CTCC-SP2'; known: .*CTC-SP2-1996-3.1-cln"):
        sl.load_trace("CTCC-SP2")
    with pytest.raises(FileNotFoundError, match=r"nowhere.swf: no such file"):
        sl.read_swf("nowhere.swf")


def test_a_log_without_a_size_asks_for_it(tmp_path):
    path = log_file(tmp_path, record(1), record(2, procs=3), header=("; Computer: a toy",))
    with pytest.raises(SWFError, match="X.swf: the header has neither MaxProcs nor MaxNodes; give machine="):
        sl.read_swf(path)
    with pytest.warns(sl.workload.LoadWarning, match=r"X: 60 % of the work left out \(30 processor-seconds") as caught:
        trace = sl.read_swf(path, machine=2)
    assert caught[0].filename == __file__
    assert trace.procs == 2
    assert trace.dropped["reason"].tolist() == ["wider than the machine (2 processors)"]
    with pytest.raises(ValueError, match="machine must have at least 1 processor, got -4"):
        sl.read_swf(path, machine=-4)
    with pytest.raises(ValueError, match="machine must have at most 16,777,216 processors, got 100,000,000,000"):
        sl.read_swf(path, machine=10**11)
    assert sl.read_swf(log_file(tmp_path, record(1)), machine=16).procs == 16  # it goes before the header


# --- Speed and memory of what is generated ---
@pytest.mark.parametrize("model", ["lublin", "jann", "downey"])
def test_two_hundred_thousand_jobs_of_a_model_take_less_than_two_seconds(model):
    begin = time.process_time()
    trace = sl.model_trace(model, jobs=200_000, machine=256, seed=1).with_estimates("tsafrir")
    assert time.process_time() - begin < 2
    assert len(trace) == 200_000


@pytest.mark.skipif(not LAZY, reason="this pandas copies a table at once")
@pytest.mark.parametrize("model", ["lublin", "jann", "downey"])
def test_a_million_jobs_take_less_than_a_gigabyte(model):  # seen at a tenth of both
    tracemalloc.start()
    try:
        trace = sl.model_trace(model, jobs=100_000, machine=256, seed=1).with_estimates("tsafrir")
        assert tracemalloc.get_traced_memory()[1] < 10**9 / 10
    finally:
        tracemalloc.stop()
    assert len(trace) == 100_000


def test_sweeps_are_nested_the_same_at_any_load_and_all_eligible_jobs_at_most(trace):
    # KUR: 5 % of 1,234 eligible jobs are 62.
    model = sl.model_trace("lublin", jobs=4000, seed=3)
    marks = {share: model.with_parameter_sweeps(share, breakdown=7).jobs["breakdown"] for share in (0, 0.05, 0.1, 1)}
    eligible = model.jobs["requested_procs"] > 8
    assert [int((mark > 0).sum()) for mark in marks.values()] == [round(s * eligible.sum()) for s in marks]
    assert (marks[0.05] <= marks[0.1]).all()
    assert ((marks[1] == 7) == eligible).all()
    stretched = model.scale_load(0.5).with_parameter_sweeps(0.05, breakdown=7).jobs["breakdown"]
    assert (stretched == marks[0.05]).all()
    assert (model.with_parameter_sweeps(0.05, seed=2, breakdown=7).jobs["breakdown"] != marks[0.05]).any()
    swept = trace.with_parameter_sweeps(1, min_procs=2, of="all")
    eligible = int((trace.jobs["requested_procs"] > 1).sum())
    assert int((swept.jobs["breakdown"] == 10).sum()) == eligible < len(trace)
    assert swept.history[-1].endswith(f"; {len(trace)} asked for, all {eligible} eligible jobs taken")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *[({"fraction": x}, f"fraction must be a share from 0 to 1, got {x}") for x in (-0.1, 1.1, float("nan"))],
        *[({"breakdown": x}, f"breakdown must be a whole number of at least 1, got {x}") for x in (0, 2.5)],
        ({"min_procs": 0}, "min_procs must be a whole number of at least 1, got 0"),
        ({"of": "some"}, "unknown of 'some'; known: eligible, all"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
    ],
)
def test_sweeps_that_cannot_be_are_refused(trace, settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        trace.with_parameter_sweeps(**settings)


def lacking(trace, jobs):
    """Return the trace as if its first jobs had been logged without an estimate."""
    rows = {"job_number": trace.table.index[:jobs], "field": "requested_time", "was": -1.0, "now": 0.0, "reason": ""}
    return replace(trace, repaired=pd.DataFrame(rows))


def test_missing_estimates_are_drawn_from_the_model_fitted_to_the_others():
    trace = sl.model_trace("lublin", jobs=600, machine=64, seed=1).with_estimates("tsafrir")
    given, fitted = trace.table, lacking(trace, 200).with_estimates("fitted").table
    assert fitted["requested_time"].iloc[200:].equals(given["requested_time"].iloc[200:])
    drawn = fitted.iloc[:200]
    assert (drawn["requested_time"] >= drawn["run_time"]).all()
    assert (drawn["requested_time"] > drawn["run_time"]).any()
    longest = given["requested_time"].iloc[200:].max()  # the longest estimate of the model
    assert (drawn["requested_time"] <= np.maximum(drawn["run_time"], longest)).all()


@pytest.mark.parametrize(
    ("estimates", "missing", "said"),
    [
        ("exact", 400, "cannot have 155 different estimates"),
        ("tsafrir", 500, "100 jobs have an estimate of their own, expected at least 200"),
    ],
)
def test_estimates_too_few_or_too_short_to_fit_the_model_to_are_an_error(estimates, missing, said):
    trace = sl.model_trace("lublin", jobs=600, machine=64, seed=1).with_estimates(estimates)
    with pytest.raises(ValueError, match=said):
        lacking(trace, missing).with_estimates("fitted")


def test_queue_limits_are_estimates_but_never_below_the_run_time():
    trace = sl.model_trace("lublin", jobs=6, machine=8, seed=1)
    table = trace.table.assign(queue=[0, 1, 2, 3, 4, 9], run_time=[10, 20, 30, 50_000, 5, 5])
    queues = enumerate(("interactive", "q4t", "qf8s", "q32m", "q1ll"))
    header = Header(tuple(f"; Queue: {number} {name}" for number, name in queues))
    limited = replace(trace, table=table, header=header).with_estimates("queue")
    assert limited.table["requested_time"].tolist() == [10, 3600, 3600, 50_000, 43_200, 5]


def test_a_bootstrapped_trace_knows_which_estimates_were_missing():
    trace = sl.model_trace("lublin", jobs=2_000, machine=64, seed=1).with_estimates("tsafrir")
    by_run = trace.table["run_time"].rank(method="first")
    trace = replace(trace, table=trace.table[by_run <= 1_900])  # or the model, fitted to few, has none long enough
    drawn = lacking(trace, 500).bootstrap(seed=3)
    numbers = drawn.repaired["job_number"]
    assert numbers.is_unique
    assert 0 < len(numbers) < len(drawn)
    runs = trace.table["run_time"].iloc[:500].value_counts()
    assert set(drawn.table.loc[numbers, "run_time"]) <= set(runs.index)
    fitted = drawn.with_estimates("fitted").table["requested_time"]
    own = ~drawn.table.index.isin(numbers)
    assert fitted[own].equals(drawn.table.loc[own, "requested_time"])
    whole = replace(trace, repaired=trace.repaired.iloc[:0])
    assert whole.with_estimates("fitted").table.equals(trace.table)  # if none is missing, none is drawn
