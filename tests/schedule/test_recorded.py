"""The schedule that a log records: how it is made, which laws it breaks, and when it is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from workloads import trace_of

import schedlab as sl
from schedlab import charts, widgets
from schedlab.cli import main

pytestmark = [pytest.mark.reduced, pytest.mark.tables]

# On four processors (submit, run, estimate, procs); job 1 ran longer than its estimate, and nobody killed it.
JOBS = [(100, 10, 8, 3), (101, 5, 5, 4), (102, 3, 3, 2), (103, 30, 60, 1)]
WAITS = [0, 9, 13, 15]


def log_of(jobs=JOBS, waits=WAITS, procs=4, **facts):
    """Make a trace of a log that records these waits."""
    trace = trace_of(jobs, procs)
    table = trace.jobs.assign(wait_time=waits)
    return replace(trace, table=table, **{"name": "a log", "source": "file", **facts})


@pytest.fixture
def log():
    return log_of()


@pytest.fixture
def crowded():
    """A log that runs six processors at once on a machine of four."""
    return log_of([(0, 10, 10, 3), (5, 10, 10, 3), (19, 20, 20, 2)], [0, 0, 1])


# What it is ---------------------------------------------------------------------------------------------
def test_it_starts_jobs_when_the_log_does(log):
    schedule = sl.recorded(log)
    assert schedule.start.tolist() == [100, 110, 115, 118]
    assert schedule.end.tolist() == [110, 115, 118, 148]
    assert schedule.jobs["wait_time"].tolist() == WAITS
    assert not schedule.jobs["killed"].any()
    assert (schedule.promise == -1).all()
    assert str(schedule.scheme) == "log"
    assert schedule.machine == sl.Flat(4)


def test_what_it_measures_is_worked_by_hand():
    schedule = sl.recorded(log_of([(0, 10, 10, 2), (0, 10, 10, 4)], [0, 10]))
    measures = schedule.validate().metrics()
    assert measures["wait_time"] == 5
    assert measures["turnaround"] == 15
    assert measures["utilization"] == 60 / 80
    assert measures["max_queue"] == 1
    assert schedule.notes == ()


def test_it_is_compared_with_what_could_have_been(log):
    happened, easy = sl.recorded(log), sl.simulate(log, "easy", overrun="extend")
    with pytest.warns(sl.statistics.IntervalWarning):
        found = sl.paired(happened, easy, "wait_time").difference
    assert found.mean == np.mean(WAITS) - easy.metrics()["wait_time"]
    assert sl.fairness_table([happened, easy])["mean_miss"].notna().all()


def test_the_plain_name_gives_it_wherever_a_scheme_is_taken(log):
    assert sl.simulate(log, "log").start.tolist() == sl.recorded(log).start.tolist()
    assert sl.simulate(log, sl.FromLog(), machine=4).start.tolist() == sl.recorded(log).start.tolist()
    table = sl.sweep(log, ["log", "easy"], progress=False)
    assert table["scheme"].tolist() == ["log", "EASY"]
    assert table["wait_time"].iloc[0] == np.mean(WAITS)
    with pytest.raises(ValueError, match="the log was recorded on 4 processors, not on 8 processors"):
        sl.simulate(log, "log", machine=8)


def test_it_cannot_be_simulated_by_itself(log):
    with pytest.raises(ValueError, match="log is the recorded schedule and cannot be simulated"):
        sl.fair_starts(sl.recorded(log), "arrivals")
    with pytest.raises(ValueError, match="unknown scheme 'log-sjf'; known: "):
        sl.simulate(log, "log-sjf")


def test_it_is_written_as_what_it_is(log, tmp_path):
    sl.recorded(log).to_swf(tmp_path / "again.swf")
    again = sl.read_swf(tmp_path / "again.swf")
    assert any("starts as the log records them" in line for line in again.header.lines)
    assert sl.recorded(again).start.tolist() == sl.recorded(log).start.tolist()


# What it breaks -----------------------------------------------------------------------------------------
def test_more_processors_than_there_are_is_said(crowded):
    schedule = sl.recorded(crowded)
    (note,) = schedule.notes
    assert note == "up to 6 processors are held, the machine has 4; more than it has in 12 % of the time"
    assert note in repr(schedule)
    with pytest.raises(sl.schedule.ScheduleError, match="6 processors held at 5 s, expected at most 4"):
        schedule.validate()


def test_the_measures_of_a_machine_that_is_too_full_stay_what_they_are(crowded):
    schedule = sl.recorded(crowded)
    assert schedule.metrics(window=(5, 10))["utilization"] == 1.5
    assert schedule.loss_of_capacity() == 2  # the third job waits for a second, and could have two
    waits = sl.recorded(log_of([(0, 10, 10, 3), (0, 10, 10, 3), (0, 5, 5, 2)], [0, 0, 10]))
    assert waits.loss_of_capacity() == 0  # six of four are held while the third waits: nothing is idle


def test_its_charts_show_all_that_is_held(crowded):
    schedule = sl.recorded(crowded)
    offset, first, last = schedule.processors()
    assert (last - first + 1).tolist() == [3, 3, 2]
    assert last.max() == 5
    assert offset.tolist() == [0, 1, 2, 3]
    gantt = charts.gantt(schedule).to_dict()
    pieces, there = gantt["layer"]
    assert pieces["encoding"]["y"]["scale"]["domain"] == [0, 6]
    assert gantt["datasets"][there["data"]["name"]] == [{"size": 4}]
    said = " ".join(gantt["title"]["subtitle"])
    assert "up to 6 processors are held, the machine has 4" in said
    assert "up to 6" in " ".join(charts.profile(schedule).to_dict()["title"]["subtitle"])


# When it is refused -------------------------------------------------------------------------------------
def test_waits_that_are_not_recorded_count_as_none_and_that_is_said():
    schedule = sl.recorded(log_of(waits=[-1, 9, -1, 15]))
    assert schedule.jobs["wait_time"].tolist() == [0, 9, 0, 15]
    assert "2 of 4 waits are not recorded; these jobs are taken to start when they were submitted" in schedule.notes
    none = sl.recorded(log_of([(0, 1, 1, 1), (5, 1, 1, 1)], -1))
    assert none.notes == ("no wait is recorded; all jobs are taken to start when they were submitted",)
    zero = sl.recorded(log_of([(0, 1, 1, 1), (5, 1, 1, 1)], 0))
    assert zero.notes == ("all waits are 0: recorded submissions may be start times",)


@pytest.mark.parametrize("source", ["model", "stand-in"])
def test_what_was_generated_never_happened(source):
    with pytest.raises(ValueError, match=f"a log is a {source}: nothing was recorded; recorded.. is for real logs"):
        sl.recorded(log_of(source=source))


@pytest.mark.parametrize(
    "change",
    [
        lambda trace: trace.scale_load(0.5),
        lambda trace: trace.scale_load(0.5, by="interarrival"),
        lambda trace: trace.scale(2.0),
        lambda trace: trace.shake(),
        lambda trace: trace.cut_at_estimates(),
        lambda trace: trace.with_machine(8),
        lambda trace: trace.scale_load(0.5).head(2),
    ],
)
def test_waits_of_another_workload_are_refused(log, change):
    changed = change(log)
    step = next(step for step in changed.history if "first" not in step)
    with pytest.raises(ValueError) as caught:
        sl.recorded(changed)
    assert str(caught.value) == (
        f"a log was changed ({step}): the waits that the log records are no longer those of its jobs; "
        "take recorded() of the log before that"
    )


def test_a_bootstrap_and_cut_run_times_are_refused():
    weeks = log_of([(2 * hour * 3600, 10 if hour < 250 else 5000, 6000, 1) for hour in range(1, 253)], 7)
    with pytest.raises(ValueError, match="was changed .3 blocks of 1 week"):
        sl.recorded(weeks.bootstrap())
    with pytest.raises(ValueError, match="run times cut to the longest"):
        sl.recorded(weeks.with_estimates(sl.workload.Tsafrir(longest=3600)))
    assert sl.recorded(weeks.with_estimates(sl.workload.Tsafrir(longest=36_000))).metrics()["wait_time"] == 7


@pytest.mark.parametrize(
    "change",
    [
        lambda trace: trace.head(3),
        lambda trace: trace.between(100, 103),
        lambda trace: trace.with_estimates("exact"),
        lambda trace: trace.with_estimates("factor", factor=3),
        lambda trace: trace.with_estimates([60] * 4),
        lambda trace: trace.with_speedup(sl.Downey(A="system", sigma=1)),
        lambda trace: trace.with_parameter_sweeps(0.5, min_procs=2),
    ],
)
def test_parts_and_other_estimates_keep_the_waits(log, change):
    found = sl.recorded(change(log))
    assert found.start.tolist() == sl.recorded(log).start[: len(found)].tolist()


def test_what_is_no_trace_is_refused():
    with pytest.raises(TypeError, match="trace is 'CTC', expected a Trace"):
        sl.recorded("CTC")


# Where people meet it -----------------------------------------------------------------------------------
def test_explore_offers_it_and_says_when_it_cannot_be(log):
    _, table = widgets.bench(log, scheme="easy", against="log")
    assert "log" in table.to_html()
    assert "sl.FromLog(" in widgets.exploring.code_of_bench(log, None, "kill", "log", "sjf", "easy", "over time", 0, 4)
    with pytest.raises(ValueError, match="the log records are no longer those"):
        widgets.bench(log, load=0.5, scheme="log")


def test_compare_has_a_row_of_it_where_waits_are_known(log, crowded, tmp_path, capsys):
    log.to_swf(tmp_path / "log.swf")
    crowded.to_swf(tmp_path / "crowded.swf")
    path = str(tmp_path / "log.swf")

    def shown():
        return [line.split()[1] for line in capsys.readouterr().out.splitlines()[1:]]

    assert main(["compare", path, "--scheme", "fcfs,easy"]) == 0
    assert shown() == ["scheme", "log", "FCFS", "EASY"]
    assert main(["compare", path, "--scheme", "fcfs", "--load", "0.5"]) == 0
    assert shown() == ["scheme", "FCFS"]
    log_of(waits=-1).to_swf(tmp_path / "none.swf")
    assert main(["compare", str(tmp_path / "none.swf"), "--scheme", "fcfs"]) == 0
    assert shown() == ["scheme", "FCFS"]
    assert main(["compare", str(tmp_path / "crowded.swf"), "--scheme", "fcfs"]) == 0
    assert "log: up to 6 processors are held, the machine has 4" in capsys.readouterr().out


@pytest.mark.traces
def test_the_log_of_thunder_runs_more_processors_than_there_are():
    schedule = sl.recorded(sl.load_trace("LLNL-Thunder-2007"))
    assert any(note.startswith("up to 15,516 processors are held, the machine has 4,008") for note in schedule.notes)
    assert any(note.startswith("no wait is recorded") for note in schedule.notes)
    with pytest.raises(sl.schedule.ScheduleError, match="processors held"):
        schedule.validate()


@pytest.mark.traces
def test_the_waits_of_ctc_are_those_of_its_log():
    trace = sl.load_trace("CTC-SP2-1996")
    measures = sl.recorded(trace).metrics()
    assert measures["wait_time"] == pd.Series.mean(trace.jobs["wait_time"])
    assert 0.8 < measures["utilization"] < 0.9
