"""What `schedlab.testing` finds in policies and schemes, and what it lets through."""

import html
import re
import threading

import numba
import numpy as np
import pandas as pd
import planted
import pytest
from museum import plain_easy
from mutants import CLOCKS, FIRST_FIT, MUTANTS, RIGHT

import schedlab as sl
from schedlab.schemes.orders import NAMED
from schedlab.testing import CheckError, apart, check_policy, check_scheme, schemes
from schedlab.testing.shrinking import smallest
from schedlab.testing.workloads import Coverage, realistic, tiny

OVERFLOW = "gives what exact arithmetic gives: no overflow"
NUMBER = "gives a number for every job"
IN_A_SIMULATION = "gives a number for every job in a simulation"
AGAIN = "gives the same value when asked again"
TIME = "depends on the time, since it takes now"
KNOWS = "does not know the future"


def aged(now, submit):
    return submit - now


def area_squared(estimate, procs):
    return (estimate * procs) ** 2


@pytest.mark.parametrize(
    ("policy", "failed", "found"),
    [
        (aged, TIME, "two jobs never changes while they wait: leave out now, and the order is made only once"),
        (
            lambda now, submit, user_usage: user_usage - 5 * (now - submit),
            TIME,
            "of two jobs never changes while they wait",
        ),
        (area_squared, OVERFLOW, "for a job with estimate = 43,200, procs = 1,000,000"),
        (lambda estimate: 2**-estimate, OVERFLOW, "gives 0 instead of 0.5 for a job with estimate = 1"),
        (lambda estimate: estimate * np.random.random(), AGAIN, "for a job with estimate = "),  # noqa: NPY002
        (lambda now, submit, estimate: estimate / (now - submit), NUMBER, "ZeroDivisionError"),
        (lambda now, submit, estimate: estimate / (now - submit - 86_400), NUMBER, "ZeroDivisionError"),
        (lambda procs: np.sqrt(4000.0 - procs), NUMBER, "gives nan, expected a number"),
        (lambda estimate: np.float64(estimate - 1) / np.float64(estimate - 1), NUMBER, "gives nan, expected a number"),
        (lambda procs: np.nan if procs in (128, 512) else 1.0 * procs, NUMBER, "gives nan, expected a number"),
        (lambda procs: np.nan if 40 < procs < 50 else 1.0 * procs, IN_A_SIMULATION, "gives nan"),
        (lambda procs: "wide" if procs > 4 else 0.0, NUMBER, "gives 'wide', expected a number"),
        (lambda estimate, procs: (estimate * procs) ** 40, NUMBER, "too large for a number of 64 bits for a job with"),
        (lambda procs: pd.Series([procs]).mean(), "compiles", "pandas.Series is not among the functions that numba co"),
        (lambda run_time: run_time, KNOWS, "takes run_time, which is known only after a job"),
        (lambda wait_time, estimate: wait_time + estimate, KNOWS, "known=['wait_time'] if it is known at submission"),
        (lambda run_time, estimate: estimate + 1 * (run_time > 86_400), KNOWS, "takes run_time, which is known only"),
        (lambda status_usage: status_usage, KNOWS, "takes status_usage, and status is known only after a job"),
        (lambda used_memory_count: used_memory_count, KNOWS, "used_memory is known only after a job has ended"),
    ],
)
def test_what_is_wrong_is_found_with_an_example(policy, failed, found):
    report = check_policy(policy, raises=False)
    assert [check.name for check in report.failed] == [failed]
    assert found in report.failed[0].found
    assert not report.passed
    assert found.split(",")[0] in repr(report)
    with pytest.raises(CheckError, match=f"order {re.escape(policy.__name__)}: 1 of . checks failed"):
        check_policy(policy)


@pytest.mark.parametrize(
    "policy",
    [
        *NAMED.values(),
        lambda estimate, procs: (1.0 * estimate * procs) ** 2,
        lambda now, submit, user_usage: user_usage * (now - submit),
        numba.njit(lambda estimate: estimate),
    ],
)
def test_good_policies_pass(policy):
    report = check_policy(policy)
    assert report.passed
    assert report.checks[-1].name == "is timed"


def test_a_veto_and_an_objective():
    assert check_policy(lambda user_running, estimate: user_running == 0 or estimate < 60, "may_backfill").passed
    assert check_policy(lambda now, submit: now - submit, "objective").passed
    never = check_policy(lambda now, procs: procs > 4 + 0 * now, "may_backfill", raises=False)
    (check,) = never.failed
    assert (check.name, check.found) == (TIME, "the answer never changes while they wait: leave out now")


def test_columns_of_ones_own_are_taken_from_a_trace():
    def by_account(account, energy):
        return account + energy

    with pytest.raises(sl.schemes.PolicyError, match="takes 'account', which is neither|takes 'energy'"):
        check_policy(by_account)
    jobs = {"submit": range(40), "run": 9, "procs": 1}
    frame = pd.DataFrame(jobs | {"account": ["a", "b"] * 20, "energy": np.linspace(0, 3, 40)})
    trace = sl.from_frame(frame, submit="submit", run="run", procs="procs", machine=2)
    (undeclared,) = check_policy(by_account, trace=trace, raises=False).failed
    assert "takes energy, which is not declared as known at submission" in undeclared.found
    assert check_policy(by_account, trace=trace, known=["energy"]).passed
    with pytest.raises(ValueError, match="cannot use queue: it is unknown for every job"):
        check_policy(lambda queue: queue, trace=trace)


def test_what_is_no_policy_is_refused():
    with pytest.raises(ValueError, match="unknown what 'rank'; known: order, may_backfill, objective"):
        check_policy(aged, "rank")
    with pytest.raises(sl.schemes.PolicyError, match="takes"):
        check_policy(lambda *jobs: 0)
    with pytest.raises(TypeError, match="policy is 'fairshare', expected a function of any of"):
        check_policy("fairshare")
    with pytest.raises(TypeError, match="trace is 'KTH', expected a Trace"):
        check_policy(aged, trace="KTH")


def test_a_report_shows_itself():
    report = check_policy(area_squared, raises=False)
    assert list(report.table.columns) == ["check", "passed", "found"]
    assert report.table["passed"].tolist().count(False) == 1
    page = report._repr_html_()
    assert "1 of 6 checks failed" in page
    assert "✗ gives what exact arithmetic gives" in page
    assert "FAILED: gives what exact" in repr(report)


@pytest.mark.parametrize(
    ("policy", "note"),
    [
        (lambda estimate: 0 * estimate, "gives every job the same value, 0"),
        (lambda procs: np.inf, "every value is infinite"),
        (lambda estimate, procs: 3.0 * procs * estimate + 7, "puts the jobs tried in the same order as 'saf'"),
        (lambda now, submit, user: submit, "puts the jobs tried in the same order as 'fcfs'"),
    ],
)
def test_what_is_worth_knowing_of_a_policy_is_a_note(policy, note):
    report = check_policy(policy, raises=False)
    assert note in report.notes
    assert f"note: {note}" in repr(report)
    assert f"Note: {note}".replace("'", "&#x27;") in report._repr_html_()


def test_two_orders_are_compared():
    assert check_policy(lambda estimate: estimate / 60.0, like="sjf").passed
    assert check_policy(aged, like="fcfs", raises=False).failed[0].name == TIME
    report = check_policy(lambda estimate, procs: estimate + procs / 1e6, like="sjf", raises=False)
    assert [check.name for check in report.failed] == ["puts jobs in the order of sjf"]
    assert "it puts first\nthe job with submit = " in report.failed[0].found
    assert not report.notes
    with pytest.raises(ValueError, match="like is for orders, not for objective"):
        check_policy(aged, "objective", like="sjf")
    with pytest.raises(ValueError, match="unknown order 'sjg'"):
        check_policy(aged, like="sjg")


def test_a_policy_may_know_the_future_where_that_is_meant():
    assert check_policy(lambda run_time: run_time, clairvoyant=True).passed


# Schemes ---------------------------------------------------------------------------------------------------


def nowhere(checked, path):
    raise OSError("no other process in this test")


@pytest.fixture(autouse=True)
def own_process(monkeypatch):
    """Leave out the process apart: few bugs need it, and it takes half a second."""
    launch = apart.launch
    monkeypatch.setattr(apart, "launch", nowhere)
    monkeypatch.setattr(apart, "PATIENCE", (5, 100))
    return lambda: monkeypatch.setattr(apart, "launch", launch)


def assert_refused(bug):
    report = check_scheme(bug.scheme, bug.like, effort=bug.effort, raises=False, **bug.options)
    (check,) = (check for check in report.failed if check.name == bug.check)
    assert bug.found in check.found
    return report, check


@pytest.mark.parametrize("bug", planted.WRONG, ids=str)
def test_a_planted_bug_is_refused_by_the_check_that_names_it(bug, own_process):
    if bug.apart:
        own_process()
    report, check = assert_refused(bug)
    assert "estimate" in check.found  # a workload that shows it
    assert html.escape(bug.check) in report._repr_html_()


@pytest.mark.parametrize(("name", "jobs"), [("exits", 3), ("reads_at_address_zero", 3), ("endless", 2)])
def test_what_ends_its_process_or_never_ends_is_shown_with_the_smallest_workload(name, jobs, own_process):
    own_process()
    (check,) = check_scheme(planted.Wrong(name), raises=False).failed
    assert check.name == planted.APART
    assert len(check.found.partition("procs\n")[2].split("\n")) == jobs


# Not in the reduced set: it compares a process with bounds checked with one without.
@pytest.mark.skipif(numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK, reason="needs compiled code without checks")
def test_planted_bugs_of_compiled_schemes_are_refused_and_the_process_goes_on(own_process):
    own_process()
    for bug in planted.COMPILED:
        assert_refused(bug)
    assert check_scheme(planted.compiled(planted.RIGHT_ONE), "easy", effort=0.1).passed


@pytest.mark.parametrize(("scheme", "like", "options"), planted.RIGHT, ids=lambda value: str(value)[:40])
def test_right_schemes_pass(scheme, like, options):
    report = check_scheme(scheme, like, effort=0.1, **options)
    assert report.passed


@pytest.mark.parametrize(("scheme", "note"), planted.NOTED, ids=lambda value: str(value)[:40])
def test_what_is_no_error_but_worth_knowing_is_a_note(scheme, note):
    dated = "time of day" in note
    report = check_scheme(scheme, effort=0.3 if dated else 0.1, clairvoyant=True, remembers=True)
    assert any(note in each for each in report.notes)
    assert note in repr(report)


def remembers_users():
    """Make a scheme that starts a job at every second look at its user, in whatever simulation."""
    looks = {}

    @sl.python_scheme
    def by_turns(state):
        for job in list(state.queue):
            looks[job.user] = looks.get(job.user, 0) + 1
            if job.procs <= state.free and looks[job.user] % 2:
                state.start(job)

    return by_turns


def fails_once(calls):
    """Make a scheme that starts a job twice at one of its calls, counted over all simulations."""
    count = 0

    @sl.python_scheme
    def once(state):
        nonlocal count
        for job in list(state.queue):
            if job.procs <= state.free:
                state.start(job)
                count += 1
                if count == calls:
                    state.start(job)

    return once


@pytest.mark.parametrize("scheme", [remembers_users(), fails_once(1), fails_once(40), fails_once(500)])
def test_a_law_that_is_broken_once_is_not_kept(scheme):
    """The scheme keeps something, so that no second simulation shows it, and no smaller workload."""
    report = check_scheme(scheme, effort=0.2, raises=False)
    assert not report.passed
    assert "SchemeError" in repr(report)


def test_easy_has_no_notes_and_what_was_covered_is_said():
    report = check_scheme("easy", "easy")
    assert report.passed
    assert not report.notes
    for words in ("613 workloads of up to 1,600 jobs", "1,000,000 processors", "clocks beyond 2**31 s", "up to 1.2"):
        assert words in report.covered
    assert report.covered.endswith("overrun kill, extend, keep")
    assert f"covered: {report.covered}" in repr(report)
    assert "covered: 613 workloads" in report._repr_html_()


def test_a_scheme_is_run_in_a_new_process_first(own_process):
    own_process()
    report = check_scheme(plain_easy, effort=0.1)
    assert report.checks[0].name == planted.APART
    assert report.passed
    assert "not tried" not in repr(report)


def test_a_scheme_that_cannot_be_sent_to_another_process_is_checked_here_and_the_report_says_so(own_process):
    own_process()
    lock = threading.Lock()  # which cannot be sent

    @sl.python_scheme
    def unsendable(state):
        with lock:
            planted.first_fit(state)

    report = check_scheme(unsendable, effort=0.1)
    untried = [check.name for check in report.checks if check.found.startswith("not tried: it cannot be sent")]
    assert untried == [planted.APART, planted.HASHES]


@pytest.mark.parametrize(
    "member",
    [
        MUTANTS["EASY"][FIRST_FIT],
        MUTANTS["EASY"]["uses no extra processors"],
        MUTANTS["EASY"]["does not backfill what ends exactly at the shadow time"],
        *(RIGHT["EASY"][clock] for clock in list(CLOCKS)[1:3]),  # which see events one by one
    ],
)
def test_mistakes_of_easy_are_shown_by_a_small_workload(member):
    with pytest.raises(CheckError, match="1 of 10 checks failed") as error:
        check_scheme(member, "easy", effort=0.4)
    report = error.value.report
    (found,) = report.failed
    assert found.name == "starts every job when EASY does"
    assert "under EASY at" in found.found
    jobs = found.found.count("\n") - 2
    assert 2 <= jobs <= 7  # a small workload that shows it
    page = report._repr_html_()
    assert "<svg" in page
    assert found.chart().to_dict()["vconcat"]


def test_a_column_of_ones_own_must_be_declared_as_known():
    frame = pd.DataFrame({"submit": range(0, 4000, 10), "run": [90, 200] * 200, "procs": [1, 2] * 200})
    frame["priority"] = frame["run"] % 7
    trace = sl.from_frame(frame, submit="submit", run="run", procs="procs", machine=2)
    scheme = sl.EASY(order=lambda priority: priority)
    with pytest.raises(sl.schemes.PolicyError, match="takes 'priority', which is neither"):
        sl.simulate(sl.model_trace("lublin", jobs=10), scheme)
    (check,) = check_scheme(scheme, trace=trace, effort=0.1, raises=False).failed
    assert check.name == planted.FUTURE
    assert "if priority of jobs that have not ended at" in check.found
    assert "or known=['priority'] if it is known at submission" in check.found
    assert check_scheme(scheme, trace=trace, known=["priority"], effort=0.1).passed


def test_what_is_no_scheme_of_rigid_jobs_is_refused():
    with pytest.raises(ValueError, match="needs 'speedup' of the jobs; check_scheme is for schemes of rigid jobs"):
        check_scheme("iterative")
    with pytest.raises(ValueError, match="unknown scheme 'esay'"):
        check_scheme("easy", "esay")
    for effort in (0, -1, True, "much", np.inf):
        with pytest.raises(ValueError, match="effort must be a number greater than 0, got"):
            check_scheme("easy", effort=effort)


# Workloads --------------------------------------------------------------------------------------------------


def test_realistic_workloads_are_what_is_said_of_them():
    drawn = list(realistic(1, True, ("kill", "extend", "keep")))
    again = list(realistic(1, True, ("kill", "extend", "keep")))
    assert all((one.rows == other.rows).all() for one, other in zip(drawn, again, strict=True))
    assert {each.procs for each in drawn} >= {10, 37, 100, 40_961, 1_000_000}
    assert {each.overrun for each in drawn} == {"kill", "extend", "keep"}
    for each in drawn:
        assert (each.rows >= [0, 0, 1, 1]).all()
        assert each.rows[:, 3].max() <= each.procs
        assert (np.diff(each.rows[:, 0]) >= 0).all()
        assert len(set(each.numbers)) == len(each)
        assert (np.diff(each.numbers) < 0).any()
    assert max(each.rows[-1, 0] for each in drawn) > 2**31
    assert any((each.rows[:, 1] == 0).any() for each in drawn)
    assert any((each.rows[:, 3] == each.procs).any() for each in drawn)
    assert any((each.rows[:, 1] > each.rows[:, 2]).any() for each in drawn)
    assert max((each.rows[:, 2] % 60 > 0).mean() for each in drawn) > 0.2
    assert max(len(np.unique(each.case.columns["user"])) for each in drawn) > 100


@pytest.mark.parametrize("fast", [True, False])
def test_one_workload_has_more_than_a_thousand_waiting_and_hundreds_of_running_jobs(fast):
    coverage, held = Coverage(), 0
    for each in realistic(1, fast):
        start = sl.EASY().outcome(each.case).start
        coverage.add(each, start)
        held = max(held, max((start <= now).sum() - (start + each.case.jobs.run <= now).sum() for now in start))
    assert coverage.waiting > 1_000
    assert held > 256


def test_a_slow_scheme_is_tried_on_fewer_workloads_and_that_is_said(monkeypatch):
    monkeypatch.setattr(schemes, "SLOW", (0.1, 0.1))
    report = check_scheme(planted.plain_easy, "easy")
    assert report.passed
    assert report.covered.endswith("; less than usual, since it takes long")
    assert int(report.covered.split()[0]) < 300


def test_coverage_counts_what_waits():
    coverage = Coverage()
    (workload,) = tiny(1)
    assert str(coverage) == "no workload"
    coverage.add(workload, workload.rows[:, 0] + 100)
    assert coverage.waiting == len(workload)
    assert str(coverage).startswith(f"1 workloads of up to {len(workload)} jobs, {len(workload)} waiting at once")


def test_shrinking_comes_to_an_end():
    asked = []
    for workload in filter(lambda each: len(each) > 3, tiny(50)):
        small = smallest(lambda each: asked.append(each) or len(each) >= 3, workload)
        assert len(small) == 3
        assert small.rows[:, 1:].tolist() == [[1, 1, 1]] * 3
    assert len(asked) < 50 * 60


def test_a_large_workload_is_shrunk_to_the_jobs_that_matter():
    workload = next(iter(realistic(0.01, False)))

    def fault(each):
        return (each.rows[:, 1] > 3600).sum() >= 2 and (each.rows[:, 3] >= 20).any()

    small = smallest(fault, workload, seconds=10)
    assert len(small) == 2
    assert small.rows[:, 0].tolist() == [0, 0]
    assert sorted(small.rows[:, 1].tolist()) == [3601, 3601]
    assert small.procs == 20
    assert small.numbers.tolist() == [1, 2]
