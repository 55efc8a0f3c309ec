"""Parts of a trace by condition or chance, names, and traces put together: `where`, `sample`, `rename`, `concat`."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workloads import examples

import schedlab as sl

pytestmark = pytest.mark.tables

USERS = ["ann", "bob", None, "ann", "bob", "cy"]


def log(begin="2024-03-01", users=USERS, procs=8, **options):
    """Make a trace of one job each 100 s, of 1, 2, ... processors, begun 5 s after its submission."""
    rows = np.arange(len(users))
    jobs = pd.DataFrame({"submit": pd.Timestamp(begin) + pd.to_timedelta(100 * rows, unit="s"), "run": 60 + rows})
    jobs = jobs.assign(start=jobs["submit"] + pd.Timedelta(5, "s"), size=rows % procs + 1, who=users, boards=rows % 3)
    columns = {"submit": "submit", "start": "start", "run": "run", "procs": "size", "user": "who", "queue": "who"}
    return sl.from_frame(jobs, **columns, machine=procs, **{"name": "log"} | options)


def kept(trace):
    return trace.jobs.index.tolist()


# where --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("chosen", "jobs"),
    [
        ("requested_procs >= 5", [5, 6]),
        ("user == 'ann'", [1, 4]),
        ("queue == 'bob' or user_id == 1", [1, 2, 4, 5]),
        ("user != 'ann' and boards == 1", [2, 5]),
        ("user.str.startswith('a')", [1, 4]),
        ("job_number in (2, 3)", [2, 3]),
        ("partition == -1", [1, 2, 3, 4, 5, 6]),
        ([True, False] * 3, [1, 3, 5]),
        (np.array([False] * 5 + [True]), [6]),
        (pd.array([True, False] * 3, dtype="boolean"), [1, 3, 5]),
        (pd.Series([True, False, False, False, False, False], index=[6, 5, 4, 3, 2, 1]), [6]),
        (lambda jobs: jobs["run_time"] > 63, [5, 6]),
        (lambda jobs: (jobs["boards"] == 0).to_numpy(), [1, 4]),
    ],
)
def test_jobs_chosen_by_a_condition(chosen, jobs):
    trace = log()
    part = trace.where(chosen)
    assert kept(part) == jobs
    pd.testing.assert_frame_equal(part.jobs, trace.jobs.loc[jobs])
    said = chosen if isinstance(chosen, str) else "a mask is true"
    assert part.history[-1] == f"where {said}: {len(jobs)} of 6 jobs"


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ("procs > 3", "cannot evaluate 'procs > 3' (name 'procs' is not defined); columns: submit_time, wait_time"),
        ("", "cannot evaluate ''"),
        ("run_time >", "cannot evaluate 'run_time >'"),
        ("run_time", "'run_time' gives int64, expected true or false for each job"),
        ("True", "'True' gives a bool, expected true or false for each job"),
        ("run_time = 3", "'run_time = 3' gives a DataFrame, expected true or false for each job"),
        ("run_time > 1000", "no job of log has 'run_time > 1000'"),
        ([True, False], "the mask has 2 values, expected one for each of the 6 jobs"),
        ([1, 0, 1, 0, 1, 0], "the mask holds int64, expected true or false for each job"),
        ([True, None] * 3, "the mask holds nothing for 3 jobs, expected true or false for each job"),
        (pd.Series([True, False], index=[1, 2]), "the mask holds nothing for 4 jobs"),
        (pd.Series([True] * 7, index=[1, 1, 2, 3, 4, 5, 6]), "the mask has job numbers twice"),
        ([False] * 6, "no job of log has 'a mask is true'"),
    ],
)
def test_conditions_that_cannot_be_are_one_clear_error(chosen, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        log().where(chosen)


def test_what_is_unknown_meets_no_condition_and_choosing_leaves_the_trace_as_it_was():
    jobs = pd.DataFrame({"submit_time": [0, 1, 2], "run_time": 5, "requested_procs": 1, "job_number": [1, 2, 3]})
    trace = sl.from_frame(jobs.assign(boards=pd.array([4, None, 0], dtype="Int64")), machine=8)
    assert (kept(trace.where("boards > 0")), kept(trace.where("boards == 0"))) == ([1], [3])
    trace = log()
    before = trace.jobs.copy(deep=True)
    trace.where(lambda jobs: jobs.assign(run_time=1)["run_time"] == 1)
    pd.testing.assert_frame_equal(trace.jobs, before)


# sample -------------------------------------------------------------------------------------------------
MODEL = sl.model_trace("lublin", jobs=400, machine=64)
shares = st.floats(0.02, 1)


@given(shares, shares, st.integers(0, 99))
def test_a_smaller_sample_is_part_of_a_larger_one(one, other, seed):
    smaller, larger = (set(kept(MODEL.sample(share, seed))) for share in sorted((one, other)))
    assert smaller <= larger


def test_draws_go_by_job_number():
    sample = MODEL.sample(0.3, seed=5)
    part = MODEL.where("requested_procs > 4")
    assert kept(part.sample(0.3, seed=5)) == [job for job in kept(sample) if job in kept(part)]
    assert kept(MODEL.sample(0.3, seed=6)) != kept(sample)
    assert 80 < len(sample) < 160
    assert kept(MODEL.sample(1)) == kept(MODEL)
    assert sample.history[-1] == f"sample of 0.3, seed 5: {len(sample)} of 400 jobs"


@pytest.mark.parametrize("share", [0, -0.5, 1.01, float("nan"), True, "all", None])
def test_a_share_is_above_0_and_at_most_1(share):
    with pytest.raises(ValueError, match=re.escape(f"share must be above 0 and at most 1, got {share!r}")):
        MODEL.sample(share)
    with pytest.raises(ValueError, match="a sample of 1e-12 of the 400 jobs of Lublin-Feitelson model is empty"):
        MODEL.sample(1e-12)


# rename -------------------------------------------------------------------------------------------------
def test_another_name_and_other_columns():
    trace = log().rename("March", columns={"boards": "Boards"})
    assert trace.name == "March"
    assert trace.jobs["Boards"].tolist() == [0, 1, 2, 0, 1, 2]
    assert "boards" not in trace.jobs
    assert trace.history[-2:] == ("called March, was log", "column Boards was boards")
    assert sl.simulate(trace).metrics(by="Boards")["jobs"].tolist() == [2, 2, 2]
    assert log().rename().history == log().rename("log").history == log().history
    jobs = pd.DataFrame({"submit_time": [0], "run_time": 5, "requested_procs": 1, "a": 1, "b": 2})
    swapped = sl.from_frame(jobs, machine=8).rename(columns={"a": "b", "b": "a"}).jobs
    assert (swapped["a"].tolist(), swapped["b"].tolist()) == ([2], [1])


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"Boards": "x"}, "unknown column 'Boards'"),
        ({"run_time": "x"}, "unknown column 'run_time'"),
        ({"boards": "run_time"}, "boards cannot be called 'run_time': another column has that name"),
        ({"boards": "start_time"}, "boards cannot be called 'start_time': another column has that name"),
    ],
)
def test_names_that_cannot_be(columns, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        log().rename(columns=columns)


# concat -------------------------------------------------------------------------------------------------
MARCH, APRIL = log(name="March"), log("2024-04-01", ["bob", "dan", "bob"], name="April")
MONTH = 31 * 86_400


def test_months_by_date():
    both = MARCH.concat(APRIL)
    assert both.name == "March + April"
    assert both.jobs["submit_time"].tolist() == [0, 100, 200, 300, 400, 500, MONTH, MONTH + 100, MONTH + 200]
    assert kept(both) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert both.names["user_id"] == both.names["queue"] == {1: "ann", 2: "bob", 3: "cy", 4: "dan"}
    assert both.jobs["user_id"].tolist() == both.jobs["queue"].tolist() == [1, 2, -1, 1, 2, 3, 2, 4, 2]
    assert both.jobs["boards"].tolist() == [0, 1, 2, 0, 1, 2, 0, 1, 2]
    assert both.at(MONTH) == pd.Timestamp("2024-04-01", tz="UTC")
    assert both.history[-1] == "2 traces put together by date: March, April"
    assert both.history[0] == f"March: {MARCH.history[0]}"
    assert sl.recorded(both).start.tolist() == (both.jobs["submit_time"] + 5).tolist()
    sl.simulate(both, "easy").validate()


def test_the_order_of_months_does_not_matter_and_missing_columns_are_empty():
    both, other = MARCH.concat(APRIL), APRIL.concat(MARCH)
    assert other.header.unix_start_time == both.header.unix_start_time
    columns = ["submit_time", "wait_time", "run_time", "requested_procs", "boards"]
    assert other.jobs[columns].to_numpy().tolist() == both.jobs[columns].to_numpy().tolist()
    assert len(MARCH.concat(MARCH, MARCH)) == 18
    pd.testing.assert_frame_equal(MARCH.concat().jobs, MARCH.jobs)
    both = MARCH.concat(APRIL.rename(columns={"boards": "Boards"}))
    assert both.jobs["boards"].isna().tolist() == [False] * 6 + [True] * 3
    assert both.jobs["Boards"].isna().tolist() == [True] * 6 + [False] * 3


def test_traces_that_begin_together_or_one_after_the_other():
    assert MARCH.concat(APRIL, by="begin").jobs["submit_time"].tolist() == [0, 0, 100, 100, 200, 200, 300, 400, 500]
    after = MARCH.concat(APRIL, APRIL, by="end")
    assert after.jobs["submit_time"].tolist() == [*range(0, 501, 100), 500, 600, 700, 700, 800, 900]
    for by in ("begin", "end"):
        with pytest.raises(ValueError, match=f"was changed .2 traces put together by {by}: March, April.: the waits"):
            sl.recorded(MARCH.concat(APRIL, by=by))


def test_job_numbers_that_come_twice_are_numbered_anew_and_preceding_jobs_go_with_them():
    both = MARCH.concat(APRIL)
    anew = both.repaired[both.repaired["field"] == "job_number"]
    assert anew["job_number"].tolist() == anew["now"].tolist() == [7, 8, 9]
    assert anew["was"].tolist() == [1, 2, 3]
    assert "3 records numbered anew (numbers were not unique, 21.7 % of the work)" in both.repairs["words"].tolist()
    jobs = MARCH.jobs.reset_index().assign(preceding_job=[-1, 1, 2, -1, 99, 5])
    trace = sl.from_frame(jobs, machine=8)
    assert trace.concat(trace, by="end").jobs["preceding_job"].tolist() == [-1, 1, 2, -1, -1, 5, -1, 7, 8, -1, -1, 11]


@pytest.mark.parametrize("first", [0, -7])
def test_job_numbers_from_0_or_less_are_numbered_anew(first):
    jobs = pd.DataFrame({"submit_time": [0, 1], "run_time": 5, "requested_procs": 1, "job_number": [first, first + 1]})
    trace = sl.from_frame(jobs.assign(preceding_job=[-1, first]), machine=8)
    both = trace.concat(trace, trace, by="end")
    assert both.jobs.index.is_unique
    assert len(both) == 6


def test_numbers_of_users_stay_where_all_agree_and_without_names_are_those_of_the_same_number():
    numbers = [replace(trace, people=None) for trace in (MARCH, APRIL)]
    assert numbers[0].concat(numbers[1]).jobs["user_id"].tolist() == [1, 2, -1, 1, 2, 3, 1, 2, 1]
    half = MARCH.concat(numbers[1])
    assert half.names["user_id"] == {1: "ann", 2: "bob", 3: "cy", 4: "1", 5: "2"}
    assert half.jobs["user_id"].tolist() == [1, 2, -1, 1, 2, 3, 4, 5, 4]
    march = replace(MARCH, people={"user_id": {1: "ann", 2: "bob", 3: "cy", 9: "eve"}})
    june = replace(MARCH.where("user_id == 3"), people={"user_id": {3: "cy", 7: "dan"}})
    both = march.concat(june)
    assert both.jobs["user_id"].tolist() == [1, 2, -1, 1, 2, 3, 3]
    assert both.names["user_id"] == {1: "ann", 2: "bob", 3: "cy", 7: "dan", 9: "eve"}


ROWS = np.arange(40)
PIECES = pd.DataFrame({"submit": pd.Timestamp("2024-03-01") + pd.to_timedelta(ROWS // 3 * 50, unit="s")})
PIECES = PIECES.assign(run=ROWS % 7 * 30, size=ROWS % 8 + 1)  # each seventh job ran 0 s, and is left out
PIECES = PIECES.assign(who=[f"u{number % 5}" for number in ROWS], estimate=[np.nan, 500] * 20)
ROLES = {"submit": "submit", "run": "run", "procs": "size", "user": "who", "queue": "who", "estimate": "estimate"}
PIECES = sl.from_frame(PIECES, **ROLES, machine=8)
masks = st.lists(st.booleans(), min_size=len(PIECES), max_size=len(PIECES))


@examples(100)
@given(masks.filter(lambda mask: 0 < sum(mask) < len(mask)))
def test_two_parts_of_a_log_put_together_are_the_log(mask):
    mask = np.array(mask)
    whole = PIECES.where(mask).concat(PIECES.where(~mask))
    pd.testing.assert_frame_equal(whole.jobs.sort_index(), PIECES.jobs.sort_index())
    assert whole.names == PIECES.names
    pd.testing.assert_frame_equal(whole.dropped, PIECES.dropped)
    assert sorted(whole.repaired["job_number"]) == sorted(PIECES.repaired["job_number"])
    assert whole.repairs["words"].tolist() == PIECES.repairs["words"].tolist()
    assert whole.header.unix_start_time == PIECES.header.unix_start_time


@pytest.mark.parametrize(
    ("others", "by", "error", "words"),
    [
        ((log(procs=9, name="nine"),), "date", ValueError, "the machines have 8 (March) and 9 (nine) processors; with"),
        ((sl.model_trace("lublin", jobs=9, machine=8),), "date", ValueError, "Lublin-Feitelson model has no dates"),
        ((APRIL,), "day", ValueError, "unknown by 'day'; known: date, begin, end"),
        (([1],), "date", TypeError, "found a list, expected a Trace"),
        ((APRIL.with_speedup(sl.Amdahl(0.1)),), "date", ValueError, "the traces have different speed-up data"),
    ],
)
def test_traces_that_do_not_fit_are_one_clear_error(others, by, error, words):
    with pytest.raises(error, match=f"^{re.escape(words)}"):
        MARCH.concat(*others, by=by)


def test_speed_up_data_stay_and_the_least_real_of_the_sources_names_the_whole():
    both = MARCH.with_speedup(sl.Amdahl(0.1)).concat(APRIL.with_speedup(sl.Amdahl(0.1)))
    assert (both.has_speedup, len(both)) == (True, 9)
    trace = MARCH.concat(sl.model_trace("lublin", jobs=9, machine=8), by="end")
    assert trace.source == "model"
    with pytest.raises(ValueError):
        sl.recorded(trace)


EXTENDED = """; MaxProcs: 8
; UnixStartTime: {epoch}
;  0: job_id
; 18: used_GPUs (of all nodes)
; 19: site
1 0 0 10 4 -1 -1 4 20 -1 1 1 1 -1 1 1 -1 -1 2 north
2 5 0 10 4 -1 -1 4 20 -1 1 1 1 -1 1 1 -1 -1 0 south
"""


def test_a_renamed_further_field_is_written_under_its_new_name(tmp_path):
    (tmp_path / "log.swf").write_text(EXTENDED.format(epoch=0))
    trace = sl.read_swf(tmp_path / "log.swf").rename(columns={"used_GPUs": "boards"})
    trace.to_swf(tmp_path / "renamed.swf")
    again = sl.read_swf(tmp_path / "renamed.swf").jobs
    assert again[["boards", "site"]].to_numpy().tolist() == [[2, "north"], [0, "south"]]
    with pytest.raises(ValueError, match="cannot be called 'used boards', expected one word"):
        trace.rename(columns={"boards": "used boards"})


def test_logs_with_other_further_fields_are_written_together(tmp_path):
    (tmp_path / "log.swf").write_text(EXTENDED.format(epoch=0))
    plain = "\n".join(line.removesuffix(" 2 north") for line in EXTENDED.format(epoch=100).splitlines()[:-1])
    (tmp_path / "plain.swf").write_text(plain)
    both = sl.read_swf(tmp_path / "log.swf").concat(sl.read_swf(tmp_path / "plain.swf"))
    both.to_swf(tmp_path / "both.swf")
    again = sl.read_swf(tmp_path / "both.swf").jobs
    assert again["used_GPUs"].tolist() == [2, 0, -1]
    assert again["site"].tolist() == ["north", "south", "-1"]
