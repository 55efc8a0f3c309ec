"""Orders of EASY's queues, learned on a part of a log: verdicts, and the reason that a verdict gives."""

import numpy as np
import pandas as pd
import pytest
from workloads import trace_of

from schedlab import papers
from schedlab.papers import lelong2017 as paper
from schedlab.papers.ledger import claims_of

LOGS = ("KTH-SP2-1996", "CTC-SP2-1996", "SDSC-SP2-1998")
MEAN, LONGEST = paper.CHANGES.values()


def runs(mean, longest):
    """Make ten runs of a pair on each log, with these changes (percent) of the mean and of the longest wait."""
    rng = np.random.default_rng(1)
    rows = [
        (log, "shortest, backfilling arrival", seed, *rng.normal(changes, 0.5), 864_000.0)
        for log, *changes in zip(LOGS, mean, longest, strict=True)
        for seed in range(10)
    ]
    return pd.DataFrame(rows, columns=["log", "pair", "seed", MEAN, LONGEST, "longest"])


def verdict(name, mean=(-20, -30, -25), longest=(40, 30, 20), bounded=(1, 3, 5)):
    check = paper.checks_of(runs(mean, longest), runs(mean, bounded))[name]
    return papers.judged(papers.Claim(name, "", "", ""), check, "a log")["verdict"]


@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        ("LEL-1a", {}, "reproduced"),
        ("LEL-1a", {"mean": (-20, -60, -25)}, "reproduced"),
        ("LEL-1a", {"mean": (-20, -60, 20)}, "in part"),
        ("LEL-1a", {"mean": (-20, -60, 200)}, "not reproduced"),  # on average it rises
        ("LEL-1a", {"mean": (0, 0, 0)}, "undecided"),
        ("LEL-1a", {"mean": (9, 0, 9)}, "not reproduced"),
        ("LEL-1b", {}, "reproduced"),
        ("LEL-1b", {"mean": (-20, -60, -25)}, "in part"),  # more than the published range
        ("LEL-1b", {"mean": (-20, -30, 2)}, "in part"),
        ("LEL-1b", {"mean": (-20, -30, 200)}, "not reproduced"),
        ("LEL-1b", {"mean": (-2, -60, 200)}, "not reproduced"),
        ("LEL-1b", {"mean": (0, 0, 0)}, "not reproduced"),
        ("LEL-1b", {"mean": (-11, -42, -11)}, "undecided"),
        ("LEL-2", {}, "reproduced"),
        ("LEL-2", {"longest": (0, 0, 0)}, "undecided"),
        ("LEL-2", {"longest": (0, 0, 9)}, "reproduced"),  # a risk
        ("LEL-2", {"longest": (9, -9, 0)}, "in part"),
        ("LEL-2", {"longest": (-9, -9, 0)}, "not reproduced"),
        ("LEL-3", {}, "reproduced"),
        ("LEL-3", {"bounded": (1, -9, 30)}, "in part"),
        ("LEL-3", {"bounded": (1, 3, 30)}, "not reproduced"),
        ("LEL-3", {"bounded": (20, 30, 40)}, "not reproduced"),
        ("LEL-3", {"bounded": (10, 10, 10)}, "undecided"),
        ("LEL-3", {"bounded": (1, -9, 10)}, "reproduced"),  # hardly more
    ],
)
def test_verdicts_follow_the_waits(name, changes, expected):
    assert verdict(name, **changes) == expected


def test_the_reason_names_loads_and_the_longest_wait_of_logs_that_get_slower(monkeypatch):
    few, many = (trace_of([(10 * job, seconds, seconds, 1) for job in range(11)], 2) for seconds in (2, 10))
    monkeypatch.setattr(paper, "half", lambda log, jobs, second: many if second else few)
    assert few.offered_load() == pytest.approx(0.11)
    assert many.offered_load() == pytest.approx(0.55)
    assert paper.slower(runs((-20, -30, 200), (0, 0, 0)), None) == (
        "The offered load of SDSC-SP2-1998 is 0.55 in the second half, 0.11 in the first; the longest wait there is "
        "10 days."
    )
    assert paper.slower(runs((-20, -30, -1), (0, 0, 0)), None) == ""


def test_the_tolerance_and_the_range_are_those_of_the_code():
    said = claims_of("lelong2017")
    assert said["LEL-3"].tolerance == f"hardly is by {paper.HARDLY} % at most"
    assert said["LEL-1b"].published == "by {1} to {0} %".format(*map(abs, paper.LEARNED))


def test_runs_on_a_part_of_the_logs_are_not_taken_for_the_whole():
    whole, part = (
        paper.checks_of(runs((0, 0, 0), (0, 0, 0)), runs((0, 0, 0), (0, 0, 0)), each) for each in ("", ", x")
    )
    assert [check.quantity for check in part.values()] == [f"{check.quantity}, x" for check in whole.values()]
