"""Whole logs of other simulators: a library of right and wrong schedules, each named or refused."""

import re

import numpy as np
import pandas as pd
import pytest
from mutants import FIRST_FIT, MUTANTS, ByHand, Easy
from workloads import trace_of

import schedlab as sl
from schedlab import conformance
from schedlab.cli import main
from schedlab.testing.conformance import judge
from schedlab.testing.conformance.files import read_table, table_of
from schedlab.testing.conformance.matching import matched
from schedlab.testing.conformance.settings import FIRST, estimates_of, fits, settings

EPOCH = 1_000_000_000


@pytest.fixture(scope="module")
def trace():
    """A busy model whose users overestimate: 200 jobs, most of which wait."""
    return sl.model_trace("lublin", jobs=200, machine=128, seed=3).scale_load(1.0).with_estimates("tsafrir")


@pytest.fixture(scope="module")
def easy(trace):
    return sl.simulate(trace, "easy")


@pytest.fixture(scope="module")
def late():
    """Jobs that run up to twice as long as estimated, and events at few instants."""
    rng = np.random.default_rng(5)
    submit = np.sort(rng.integers(0, 300, 200)) * 60
    run = rng.integers(1, 30, 200) * 60
    estimate = np.maximum(run * rng.choice([0.5, 0.75, 1.0, 2.0, 4.0], 200) // 60 * 60, 60).astype(int)
    return trace_of(list(zip(submit, run, estimate, rng.integers(1, 12, 200), strict=True)), machine=20)


def starts(schedule):
    return schedule.column("start_time")


def agreeing(verdict):
    """Return the settings that give all starts, as scheme and conventions."""
    return {(str(fit.setting.scheme), *fit.setting.conventions) for fit in verdict.exact}


# --- Right ones are named ---

RIGHT = {
    "FCFS": sl.FCFS(),
    "EASY": sl.EASY(),
    "EASY-SJBF": sl.EASY(backfill="sjf"),
    "EASY-SJF": sl.EASY(order="sjf"),
    "EASY (2 reservations)": sl.EASY(reservations=2),
    "DPSAn": sl.DPSA(),
    "Conservative": sl.Conservative(),
    "Conservative (none)": sl.Conservative(compression="none"),
    "Conservative (rebuild)": sl.Conservative(compression="rebuild"),
    "Conservative (reservation, repeated)": sl.Conservative(compression="reservation", repeat=True),
}
SAME = {"Conservative (rebuild)": {"EASY (all reservations)"}}  # as the docstring of EASY says


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_schedule_is_named(late, name):
    trace = late.cut_at_estimates()
    verdict = judge(starts(sl.simulate(trace, RIGHT[name])), trace=trace)
    assert verdict.passed
    assert verdict.laws == ()
    assert verdict.first_difference is None
    assert agreeing(verdict) >= {(name, "batched", "kill", "as given")}
    known = {name, *SAME.get(name, ())}
    assert all(scheme in known or scheme.startswith("Conservative") for scheme, *_ in agreeing(verdict))


@pytest.mark.parametrize("events", ["batched", "each"])
@pytest.mark.parametrize("overrun", ["kill", "extend", "keep"])
def test_conventions_are_told_apart(late, events, overrun):
    verdict = judge(starts(sl.simulate(late, "easy", events=events, overrun=overrun)), trace=late)
    assert {one[1:] for one in agreeing(verdict)} == {(events, overrun, "as given")}
    assert f"all 200 starts are those of EASY (events {events}, overrun {overrun}, estimates as given)" in str(verdict)


@pytest.mark.parametrize("estimates", ["exact", "doubled", "twice the run time"])
def test_estimates_are_told_apart(late, estimates):
    verdict = judge(starts(sl.simulate(estimates_of(late, "kill")[estimates], "easy")), trace=late)
    assert {(scheme, overrun, name) for scheme, _, overrun, name in agreeing(verdict)} == {("EASY", "kill", estimates)}


def test_a_schedule_of_other_estimates_is_said_to_be_one(late):
    output = starts(sl.simulate(estimates_of(late, "kill")["exact"], "easy"))
    verdict = judge(output, "EASY", trace=late)
    assert verdict.passed
    assert "only with exact run times as estimates: not with the estimates of the log" in str(verdict)
    assert "only with" not in str(judge(starts(sl.simulate(late, "easy")), "EASY", trace=late))


def test_missing_estimates_are_tried_by_several_conventions(tmp_path):
    lines = [
        f"{i} {50 * i} -1 {400 + 90 * (i % 5)} {1 + i % 4} -1 -1 {1 + i % 4} {-1 if i % 3 else 3600}" for i in range(60)
    ]
    text = "; MaxProcs: 6\n" + "\n".join(f"{line} -1 1 1 1 -1 -1 -1 -1 -1" for line in lines)
    (tmp_path / "log.swf").write_text(text)
    trace = sl.read_swf(tmp_path / "log.swf")
    longest = "missing: the longest of the log"
    output = starts(sl.simulate(estimates_of(trace, "kill")[longest], "easy"))
    verdict = judge(output, trace=trace)
    assert ("EASY", "batched", "kill", longest) in agreeing(verdict)
    assert ("EASY", "batched", "kill", "as given") not in agreeing(verdict)


def test_what_a_log_cannot_tell_apart_is_said(trace):
    quiet = trace_of([(100 * i, 50, 50, 1) for i in range(20)], machine=4)
    said = str(judge(starts(sl.simulate(quiet, "easy")), trace=quiet))
    assert "this log does not tell it from FCFS" in said
    assert "every job starts when it is submitted: such a log tells nothing about a scheduler" in said


def test_a_long_log_is_tried_in_parts(monkeypatch, trace, easy):
    monkeypatch.setattr("schedlab.testing.conformance.settings.FIRST", 50)
    verdict = judge(starts(easy), trace=trace)
    assert agreeing(verdict) == agreeing(judge(starts(easy), trace=trace.head(len(trace))))
    assert set(verdict.candidates["jobs"]) == {50, 200}
    assert "on the first 50 jobs only: these do not give all starts" in str(verdict)
    assert FIRST == 2_000


# --- Wrong ones are refused ---


def refused(output, trace, kind=None):
    verdict = judge(output, kind, trace=trace)
    assert not verdict.passed
    return verdict, str(verdict)


@pytest.mark.parametrize("name", ["looks at the first candidate only", "uses no extra processors"])
def test_easy_with_a_mistake_is_refused(trace, name):
    verdict, said = refused(starts(sl.simulate(trace, MUTANTS["EASY"][name])), trace, "EASY")
    assert said.startswith("not EASY: no setting gives all 200 starts")
    assert verdict.exact == []
    assert verdict.why.keys() == {"ours", "theirs"}


def test_first_fit_breaks_the_law_of_easy_and_easy_by_hand_does_not(late):
    verdict, said = refused(starts(sl.simulate(late, MUTANTS["EASY"][FIRST_FIT])), late, "EASY")
    assert said.startswith("breaks a law: job")
    assert {scheme for scheme, *_ in agreeing(verdict)} == {"first_fit"}
    assert "the head of the queue from" in verdict.laws[0]
    assert judge(starts(sl.simulate(late, ByHand(Easy))), "EASY", trace=late).passed


def test_the_output_of_accasim_is_not_easy():
    log = sl.model_trace("lublin", jobs=500, machine=64, seed=1).scale_load(0.8).with_estimates("tsafrir")
    verdict, said = refused(conformance.folder() / "accasim-easy.txt.gz", log, "EASY")
    assert said.startswith("breaks a law: job 40, the head of the queue from 29,806 s on, could start at 29,967 s")
    assert verdict.exact == []
    assert "nearest of all: first_fit (events batched, estimates as given): 386 of 500 starts" in said


def test_one_start_that_is_a_second_late_is_found(trace, easy):
    output = starts(easy)
    job = easy.jobs.query("wait_time > 0").index[50]
    output[job] += 1
    verdict, said = refused(output, trace)
    at = verdict.first_difference
    assert (at.job, at.time) == (job, output[job] - 1)
    assert verdict.candidates.loc[0, ["scheme", "agree", "max_difference"]].tolist() == ["EASY", 199, 1]
    assert f"first difference: at {at.time:,} s, job {job}: it starts at {at.time + 1:,} s in theirs" in said
    running = (easy.start < at.time) & (easy.end > at.time)
    assert at.free == 128 - easy.procs[running].sum()
    waited = (easy.submit <= at.time) & (easy.start >= at.time)
    assert at.waiting.index.tolist() == easy.trace.table.index[waited].tolist()
    assert at.waiting.loc[job, ["theirs", "ours"]].tolist() == [at.time + 1, at.time]
    assert f"why, in ours: Job {job} " in said


def test_a_start_before_the_submission_is_a_broken_law(trace, easy):
    output = starts(easy)
    output.iloc[5] = trace.jobs["submit_time"].iloc[5] - 1
    verdict, said = refused(output, trace)
    assert re.match(r"breaks a law: job 6 starts at [\d,]+ s, before its submission at", said)
    assert verdict.theirs.jobs["wait_time"].iloc[5] == -1
    assert "<svg" in verdict._repr_html_() or "image/svg" in verdict._repr_html_()


def test_one_processor_too_many_at_one_instant_is_a_broken_law():
    full = trace_of([(0, 10, 10, 3), (0, 20, 20, 1), (1, 5, 5, 2)], machine=4)
    verdict, _ = refused(pd.Series([0, 0, 9], [1, 2, 3]), full)
    assert verdict.laws == (
        "at 9 s 6 processors are held, with job 3, which starts then, and the machine has 4; it holds more than it has "
        "for 1 second in all",
    )
    wide = trace_of([(0, 10, 10, 3), (0, 20, 20, 1), (10, 5, 5, 3), (12, 1, 1, 1)], machine=4)
    verdict, _ = refused(pd.Series([0, 0, 10, 14], [1, 2, 3, 4]), wide)
    assert verdict.laws[0].startswith("at 14 s 5 processors are held, with job 4, which starts then")


def test_a_job_that_is_missing_given_twice_or_never_starts_is_a_broken_law(trace, easy):
    output = starts(easy)
    verdict, said = refused(output.drop(8), trace)
    assert verdict.laws == ("without a start: job 8",)
    assert "note: judged without it, though others could then start otherwise" in said
    verdict, _ = refused(pd.concat([output, output.iloc[3:4] + 5]), trace)
    assert verdict.laws == ("given more than one start: job 4; job 4 by the table, row 4 and the table, row 201",)
    verdict, _ = refused(output.astype(float).where(output.index > 2), trace)
    assert verdict.laws == ("without a start: 2 jobs (1, 2)",)


def test_another_scheme_than_claimed_is_refused(trace):
    output = starts(sl.simulate(trace, sl.Conservative()))
    _, said = refused(output, trace, "EASY")
    assert re.search("^not EASY: all 200 starts are those of Conservative", said, re.MULTILINE)
    assert re.search("^nearest EASY: EASY ", said, re.MULTILINE)
    assert judge(output, "conservative", trace=trace).passed
    easy = starts(sl.simulate(trace, "easy"))
    _, said = refused(easy, trace, "FCFS")
    assert re.match(r"breaks a law: job \d+ starts at [\d,]+ s, ahead of job \d+, which was submitted earlier", said)
    assert not judge(starts(sl.simulate(trace, sl.EASY(backfill="sjf"))), "EASY", trace=trace).passed


def test_order_binds_only_what_was_submitted_in_another_second():
    tied = trace_of([(0, 10, 10, 1), (0, 10, 10, 1), (0, 10, 10, 1), (5, 10, 10, 1)], machine=1)
    assert judge(pd.Series([20, 10, 0, 30], [1, 2, 3, 4]), "FCFS", trace=tied).laws == ()
    verdict, _ = refused(pd.Series([0, 30, 10, 20], [1, 2, 3, 4]), tied, "FCFS")
    assert verdict.laws == ("job 4 starts at 20 s, ahead of job 2, which was submitted earlier",)


def test_estimates_are_shown_as_the_log_has_them(late):
    output = starts(sl.simulate(estimates_of(late, "kill")["doubled"], "easy"))
    output[output.index[100]] += 1
    verdict, said = refused(output, late, "EASY")
    assert verdict.nearest.setting.estimates == "doubled"
    waiting = verdict.first_difference.waiting
    assert waiting["estimate"].tolist() == late.jobs.loc[waiting.index, "requested_time"].tolist()
    assert "why, in ours (with doubled estimates): " in said


def test_a_schedule_that_is_all_too_late_is_recognized(trace, easy):
    _, said = refused(starts(easy) + 1, trace)
    assert "nearest: EASY (" in said
    assert "200 jobs start exactly +1 s from ours" in said


def test_another_log_is_refused(trace, easy):
    with pytest.raises(ValueError, match="the submissions of the output are not those of Lublin-Feitelson model"):
        judge(easy.jobs[["submit_time", "start_time"]], trace=trace.scale_load(0.5, by="interarrival"))
    with pytest.raises(ValueError, match="no job of the output is in .*: its jobs are 1 to 200, those of the"):
        judge(starts(easy), trace=sl.model_trace("lublin", jobs=900, seed=1).where("job_number > 500"))
    moved = easy.jobs[["submit_time", "start_time"]]
    moved.loc[7, "submit_time"] += 3
    assert matched(table_of(moved), trace).laws[0].startswith("submitted at another time: job 7; job 7 at ")


def test_columns_that_contradict_each_other_are_a_broken_law(trace, easy):
    table = easy.jobs[["submit_time", "wait_time", "start_time"]]
    assert matched(table_of(table), trace).laws == ()
    table.loc[9, "wait_time"] += 5
    (law,) = matched(table_of(table), trace).laws
    assert law.startswith("submission, wait and start contradict each other: job 9; the first submitted at ")


# --- Clocks and forms ---


def test_the_clock_may_count_from_elsewhere(trace, easy):
    first, output = int(easy.submit[0]), starts(easy)
    found = [matched(table_of(one), trace) for one in (output, output - first, output + EPOCH)]
    assert all(one.start.tolist() == easy.start.tolist() for one in found)
    notes = [one.notes for one in found]
    assert notes[0] == ()
    assert notes[1] == ("the clock of the output is taken to begin at the first submission",)
    assert notes[2][0].startswith("the clock of the output is taken to be 1,000,000,000 s ahead of the log's: most")
    both = easy.jobs[["submit_time", "start_time"]] + EPOCH
    shifted = matched(table_of(both), trace)
    assert shifted.start.tolist() == easy.start.tolist()
    assert shifted.notes == ("the clock of the output is 1,000,000,000 s ahead of the log's, by the submissions",)


def test_every_form_is_read(trace, easy, tmp_path):
    jobs = easy.jobs
    easy.to_swf(tmp_path / "ours.swf.gz")
    batsim = pd.DataFrame({"job_id": [f"w0!{job}" for job in jobs.index], "submission_time": jobs["submit_time"],
                           "starting_time": jobs["start_time"] + 1e-6})  # fmt: skip
    batsim.to_csv(tmp_path / "batsim.csv", index=False)
    jobs["start_time"].to_csv(tmp_path / "pairs.csv", header=False)
    published = jobs.reset_index()[["job_number", "submit_time", "wait_time"]]
    published.to_csv(tmp_path / "published.csv.gz", index=False)
    cqsim = zip(jobs.index, jobs.procs, jobs.procs, jobs.requested_time, jobs.run_time, jobs.wait_time.astype(float),
                jobs.submit_time, jobs.start_time, jobs.end_time, strict=True)  # fmt: skip
    (tmp_path / "cqsim.rst").write_text("\n".join(";".join(map(str, row)) for row in cqsim))
    clock = [
        pd.to_datetime(EPOCH + jobs[name], unit="s").dt.strftime("%Y-%m-%d %H:%M:%S")
        for name in ("submit_time", "start_time", "end_time")
    ]
    plan = zip(jobs.index, *clock, strict=True)
    (tmp_path / "plan.data").write_text(
        "\n".join(f"{job};1;{came}__1;1#2;1#__{began};{ended};1;1;NA;9;" for job, came, began, ended in plan)
    )
    for path in tmp_path.iterdir():
        output = matched(read_table(path), trace)
        assert output.start.tolist() == easy.start.tolist(), path
        assert output.laws == ()
    for table in (easy, jobs, published, jobs["wait_time"].to_frame(), jobs["start_time"]):
        assert matched(table_of(table), trace).start.tolist() == easy.start.tolist()
    assert judge(tmp_path / "plan.data", trace=trace).passed
    assert judge(easy).passed
    assert judge(sl.EASY(), trace=trace).passed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("job,start,end\n1,2\n", ":2: 2 fields, expected 3"),
        ("job,end\n1,2\n", ":1: no start among job, end; expected a column starting_time"),
        ("1;1;2001-01-31 12:00:00__1;1;1;NA;9__;", ":1: start is '', expected a time"),
        ("1;2;3;4;5;6;7;x;9", ":1: start is 'x'"),
        ("", ": no jobs in the file"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(trace, tmp_path, text, words):
    path = tmp_path / "their.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}.*{re.escape(words)}"):
        judge(path, trace=trace)


def test_tables_without_job_numbers_or_a_trace_are_refused(trace, easy):
    with pytest.raises(ValueError, match="no job among start_time; expected a column job_id, or an index of"):
        judge(easy.jobs[["start_time"]].reset_index(drop=True), trace=trace)
    with pytest.raises(ValueError, match="the starts of a whole log were given without the log, expected trace="):
        judge(starts(easy))
    with pytest.raises(ValueError, match="the table, row 2: start_time is 'soon', expected a whole number"):
        judge(pd.DataFrame({"job_id": [1, 2], "start_time": [0, "soon"]}), trace=trace)
    with pytest.raises(ValueError, match="unknown scheme 'easy'; known: FCFS"):
        judge(starts(easy), "easy", trace=trace)
    with pytest.raises(TypeError, match="trace is 'KTH', expected a Trace"):
        judge(starts(easy), trace="KTH")
    assert table_of(starts(easy)).columns.tolist() == ["job", "submit", "start", "wait"]


def test_jobs_that_the_trace_lacks_are_not_judged_and_that_is_said(trace, easy):
    output = matched(table_of(starts(easy)), trace.where("job_number != 199"))
    assert any(note.startswith("in the output, but not in") and note.endswith("job 199") for note in output.notes)


def test_a_verdict_displays_itself(trace, easy):
    shown = judge(starts(easy), trace=trace)._repr_html_()
    assert "another simulator follows a known scheme" in shown
    assert "image" not in shown
    output = starts(easy)
    output.iloc[120] += 7
    verdict = judge(output, trace=trace)
    shown = verdict._repr_html_()
    assert "<svg" in shown
    assert "does not follow a known scheme" in shown
    assert verdict.chart().to_dict()["vconcat"]
    with pytest.raises(ValueError, match="the schedules do not differ"):
        judge(starts(easy), trace=trace).chart()


def test_theirs_is_a_schedule_like_any_other(trace, easy):
    output = starts(easy)
    verdict = judge(output, trace=trace)
    assert verdict.theirs.validate().start.tolist() == output.tolist()
    assert str(verdict.theirs.scheme) == "theirs"
    assert verdict.theirs.metrics()["wait_time"] == easy.metrics()["wait_time"]
    assert verdict.ours.start.tolist() == output.tolist()


def test_settings_are_many_and_differ(late):
    found = settings(late)
    names = [(str(one.scheme), *one.conventions) for one in found]
    assert len(names) == len(set(names)) > 500
    best = fits(late, starts(sl.simulate(late, "fcfs")).to_numpy())[0]
    assert str(best.setting.scheme) == "FCFS"


# --- The command ---


def test_the_command_judges_a_log(easy, trace, tmp_path, capsys):
    easy.to_swf(tmp_path / "log.swf")
    log, output = str(tmp_path / "log.swf"), tmp_path / "their.csv"
    starts(easy).to_csv(output)
    assert main(["conformance", "--log", log, str(output)]) == 0
    assert "all 200 starts are those of EASY" in capsys.readouterr().out
    assert main(["conformance", "--log", log, "--of", "FCFS", str(output)]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("breaks a law: ")
    assert "the starts break a law, or no setting gives all of them" in said.err
    assert main(["conformance", "--log", log]) == 1
    assert "--log needs the file with the simulator's starts" in capsys.readouterr().err
    assert main(["conformance", "--machine", "8", str(tmp_path)]) == 1
    assert "--machine is for a whole log, expected --log TRACE with it" in capsys.readouterr().err


# --- Published schedules ---

PUBLISHED = {
    "easy": {("EASY", "each", "kill", "as given")},
    "easy-clairvoyant": {("EASY", events, "kill", "exact") for events in ("batched", "each")},
    "easy-sjbf-clairvoyant": {("EASY-SJBF", "each", "kill", "exact")},
}


@pytest.mark.traces
@pytest.mark.parametrize("variant", PUBLISHED)
def test_published_schedules_are_named(reference, variant):
    trace = sl.load_trace("KTH-SP2-1996-2", missing_estimate="drop")
    verdict = judge(reference / f"KTH-SP2-1996.{variant}.csv.gz", trace=trace)
    assert agreeing(verdict) == PUBLISHED[variant]
