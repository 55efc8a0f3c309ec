"""What `schedlab.testing` finds in policies and schemes, and what it lets through."""

import random

import numba
import numpy as np
import pandas as pd
import pytest
from museum import BUGS, ByHand, plain_easy

import schedlab as sl
from schedlab.schemes.orders import NAMED
from schedlab.testing import CheckError, check_policy, check_scheme

OVERFLOW = "gives what exact arithmetic gives: no overflow"
NUMBER = "gives a number for every job"
AGAIN = "gives the same value when asked again"
TIME = "depends on the time, since it takes now"


def aged(now, submit):
    return submit - now


def area_squared(estimate, procs):
    return (estimate * procs) ** 2


def exact_area_squared(estimate, procs):
    return (1.0 * estimate * procs) ** 2


def thrown(estimate):
    return estimate * np.random.random()  # noqa: NPY002 - what numba compiles


def divides_by_its_wait(now, submit, estimate):
    return estimate / (now - submit)


def halves(estimate):
    return 2**-estimate


def nan_of_wide(procs):
    return np.sqrt(4000.0 - procs)


def gives_text(procs):
    return "wide" if procs > 4 else 0.0


def calls_pandas(procs):
    return pd.Series([procs]).mean()


def huge(estimate, procs):
    return (estimate * procs) ** 40


def moves_by_usage(now, submit, user_usage):
    return user_usage * (now - submit)


def waits_for_usage(now, submit, user_usage):
    return user_usage - 5 * (now - submit)


@pytest.mark.parametrize(
    ("policy", "failed", "found"),
    [
        (
            aged,
            [TIME],
            "two jobs never changes while they wait: leave out now, and the order is made only once",
        ),
        (waits_for_usage, [TIME], "the order of two jobs never changes while they wait: leave out now"),
        (area_squared, [OVERFLOW], "for a job with estimate = 43,200, procs = 1,000,000"),
        (halves, [OVERFLOW], "gives 0 instead of 0.5 for a job with estimate = 1"),
        (thrown, [AGAIN], "for a job with estimate = "),
        (divides_by_its_wait, [NUMBER], "ZeroDivisionError"),
        (nan_of_wide, [NUMBER], "gives nan, expected a number"),
        (gives_text, [NUMBER], "gives 'wide', expected a number"),
        (huge, [NUMBER], "too large for a number of 64 bits for a job with estimate = "),
        (calls_pandas, ["compiles"], "pandas.Series is not among the functions that numba compiles"),
    ],
)
def test_what_is_wrong_is_found_with_an_example(policy, failed, found):
    report = check_policy(policy, raises=False)
    assert [check.name for check in report.failed] == failed
    assert found in report.failed[0].found
    assert not report.passed
    assert found.split(",")[0] in repr(report)
    with pytest.raises(CheckError, match=f"order {policy.__name__}: 1 of . checks failed"):
        check_policy(policy)


@pytest.mark.parametrize("name", [*NAMED, "exact_area_squared", "moves_by_usage"])
def test_good_policies_pass(name):
    report = check_policy(NAMED.get(name) or globals()[name])
    assert report.passed
    assert report.checks[-1].name == "is timed"


def test_a_veto_and_an_objective():
    assert check_policy(lambda user_running, estimate: user_running == 0 or estimate < 60, "may_backfill").passed
    assert check_policy(lambda now, submit: now - submit, "objective").passed
    never = check_policy(lambda now, procs: procs > 4 + 0 * now, "may_backfill", raises=False)
    assert [(check.name, check.found) for check in never.failed] == [
        (TIME, "the answer never changes while they wait: leave out now")
    ]


def test_columns_of_ones_own_are_taken_from_a_trace():
    def by_account(account, energy):
        return account + energy

    with pytest.raises(sl.PolicyError, match="takes 'account', which is neither|takes 'energy'"):
        check_policy(by_account)
    frame = pd.DataFrame(
        {"submit": range(40), "run": 9, "procs": 1, "account": ["a", "b"] * 20, "energy": np.linspace(0, 3, 40)}
    )
    trace = sl.from_frame(frame, submit="submit", run="run", procs="procs", machine=2)
    assert check_policy(by_account, trace=trace).passed
    with pytest.raises(ValueError, match="cannot use queue: it is unknown for every job"):
        check_policy(lambda queue: queue, trace=trace)


def test_what_is_no_policy_is_refused():
    with pytest.raises(ValueError, match="unknown what 'rank'; known: order, may_backfill, objective"):
        check_policy(aged, "rank")
    with pytest.raises(sl.PolicyError, match="takes"):
        check_policy(lambda *jobs: 0)
    with pytest.raises(TypeError, match="policy is 'fairshare', expected a function of any of"):
        check_policy("fairshare")
    with pytest.raises(TypeError, match="trace is 'KTH', expected a Trace"):
        check_policy(aged, trace="KTH")
    assert check_policy(numba.njit(lambda estimate: estimate)).passed


def test_a_report_shows_itself():
    report = check_policy(area_squared, raises=False)
    assert list(report.table.columns) == ["check", "passed", "found"]
    assert report.table["passed"].tolist().count(False) == 1
    page = report._repr_html_()
    assert "1 of 5 checks failed" in page
    assert "✗ gives what exact arithmetic gives" in page
    assert "FAILED: gives what exact" in repr(report)


# Schemes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheme", "like"),
    [
        ("fcfs", None),
        ("easy", plain_easy),
        ("conservative", None),
        (sl.EASY(reservations=3), None),
        (sl.DPSA(), None),
        (plain_easy, "easy"),
        (ByHand(), "easy"),
    ],
)
def test_good_schemes_pass(scheme, like):
    assert check_scheme(scheme, like).passed


@pytest.mark.parametrize("bug", BUGS)
def test_the_bugs_of_the_museum_are_found(bug):
    with pytest.raises(CheckError, match="1 of 6 checks failed") as error:
        check_scheme(ByHand(bug), "easy")
    report = error.value.report
    (found,) = report.failed
    assert found.name == "starts every job when EASY does"
    assert "under EASY at" in found.found
    jobs = found.found.count("\n") - 2
    assert 2 <= jobs <= 7  # a small workload that shows it
    page = report._repr_html_()
    assert "data:image/svg+xml" in page
    assert found.chart().to_dict()["vconcat"]


class StartsAtOnce(sl.Scheme):
    def simulate(self, case):
        return case.outcome(case.jobs.submit.copy())


class Promises(sl.Scheme):
    """Promises each job that it starts at once, and then lets it wait."""

    def promises(self, machine):
        return True

    def simulate(self, case):
        start = sl.FCFS().simulate(case).start
        return case.outcome(start, case.jobs.submit.copy())


class Remembers(sl.Scheme):
    runs = 0

    def simulate(self, case):
        Remembers.runs += 1
        return case.outcome(sl.FCFS().simulate(case).start + Remembers.runs % 2)


class KnowsTheDate(sl.Scheme):
    """Waits for an even second, by the clock of the log."""

    def simulate(self, case):
        before = len(case) * case.jobs.procs.sum()
        return case.outcome(sl.FCFS().simulate(case).start + before)


class KnowsHowManyCome(sl.Scheme):
    def simulate(self, case):
        return case.outcome(sl.FCFS().simulate(case).start + (len(case) > 2))


class LeavesWideJobs(sl.Scheme):
    def decide(self, state):
        for job in state.queue:
            if job.procs < max(2, state.procs) and job.procs <= state.free:
                state.start(job)


@pytest.mark.parametrize(
    ("scheme", "name", "found"),
    [
        (StartsAtOnce(), "keeps the laws of scheduling", "processors held at"),
        (Promises(), "keeps the laws of scheduling", "had been promised"),
        (LeavesWideJobs(), "keeps the laws of scheduling", "SchemeError: LeavesWideJobs at"),
        (sl.EASY(order=lambda run_time: run_time), "does not know the future", "pass clairvoyant=True"),
        (KnowsHowManyCome(), "does not know the future", "if nothing new happens after"),
        (Remembers(), "gives the same schedule again, in several threads too", "at first, at"),
        (
            KnowsTheDate(),
            "forgets what lies before a long idle time",
            "after a long idle time; if that is meant, pass remembers=True",
        ),
    ],
)
def test_what_breaks_a_rule_is_found_with_its_smallest_workload(scheme, name, found):
    report = check_scheme(scheme, raises=False)
    check = next(check for check in report.failed if check.name == name)
    assert found in check.found
    assert "submit  run  estimate  procs" in check.found
    assert check.found.count("\n") <= 5
    report._repr_html_()


def test_a_scheme_may_know_the_future_where_that_is_meant():
    assert check_scheme(sl.EASY(order=lambda run_time: run_time), clairvoyant=True, examples=50).passed


def test_what_is_no_scheme_of_rigid_jobs_is_refused():
    with pytest.raises(ValueError, match="needs 'speedup' of the jobs; check_scheme is for schemes of rigid jobs"):
        check_scheme("iterative")
    with pytest.raises(ValueError, match="unknown scheme 'esay'"):
        check_scheme("easy", "esay")
    with pytest.raises(ValueError, match="examples must be a whole number of at least 1, got 0"):
        check_scheme("easy", examples=0)


def test_a_scheme_that_throws_dice_is_found():
    @sl.python_scheme
    def coin(state):
        queue = state.queue[::-1] if random.random() < 0.5 else state.queue
        for job in queue:
            if job.procs <= state.free:
                state.start(job)

    report = check_scheme(coin, raises=False)
    assert "gives the same schedule again, in several threads too" in [check.name for check in report.failed]
