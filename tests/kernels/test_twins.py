"""The naive twins against tables worked by hand; `tests/papers/test_base.py` has published schedules, for the kernels.

Tables list (submit, run, estimate, procs). Unless a test names another source, its numbers were worked out
on paper from the rules in `twins`; the comments tell the story of the schedule.
"""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import conservative, easy, fcfs, order_value, table
from workloads import pick

COLUMNS = (*[range(6)] * 4, range(4))


@pytest.mark.parametrize("path", [*Path(__file__).parents[1].glob("twin*.py")], ids=lambda path: path.stem)
def test_a_twin_shares_nothing_with_the_package(path):
    assert "schedlab" not in path.read_text(encoding="utf-8")


def test_every_value_of_each_column_is_picked():
    counts = Counter()

    @settings(max_examples=400)  # in every profile: of 100, one in four seeds gives a value too seldom
    @given(st.data())
    def draws(data):
        counts.update(enumerate(pick(data.draw, *COLUMNS)))

    draws()
    for column, values in enumerate(COLUMNS):
        assert min(counts[column, value] for value in values) >= 400 / len(values) / 2


# --- Orders ---
def test_order_values():
    # wait 250, so x = 2.5; log2(4) = 2; log10(10) = 1; log10(100) = 2; sqrt(100) = 10: all exact.
    expected = {
        "fcfs": 10,
        "lcfs": -10,
        "sjf": 100,
        "ljf": -100,
        "narrow": 4,
        "wide": -4,
        "saf": 400,
        "laf": -400,
        "xfactor": -3.5,  # -(250 + 100) / 100
        "wfp3": -62.5,  # -15.625 * 4
        "unicef": -1.25,  # -250 / (2 * 100)
        "f1": 878.0,  # 2 * 4 + 870
        "f2": 25640.0,  # 10 * 4 + 25600
        "f3": 6860400.0,  # 100 * 4 + 6860000
        "f4": 530200.0,  # 100 * 2 + 530000
    }
    assert {name: order_value(name, 260, 10, 100, 4) for name in expected} == expected


def test_order_values_at_the_lower_limits():
    # Estimate, submit time and log2(procs) all count as 1 where they would be 0.
    expected = {"xfactor": -9.0, "wfp3": -512.0, "unicef": -8.0, "f1": 0.0, "f2": 1.0, "f3": 1.0, "f4": 1.0}
    assert {name: order_value(name, 8, 0, 0, 1) for name in expected} == expected


# --- FCFS, machine of 4 ---
FCFS_JOBS = table((0, 4, 6, 3), (1, 3, 3, 2), (2, 1, 1, 1), (4, 0, 2, 4), (5, 2, 2, 1))


def test_fcfs(events):
    # Job 2 would fit at 2 but waits behind job 1 until job 0 ends at 4. Job 3 needs the whole machine, gets
    # it at 7 and takes no time, so job 4 follows at the same instant.
    assert fcfs(FCFS_JOBS, 4, events=events) == [0, 4, 4, 7, 7]


def test_fcfs_in_another_order():
    # By estimate job 2 goes ahead of job 1; at 4 the fresh job 3 (estimate 2) goes first and takes no time.
    assert fcfs(FCFS_JOBS, 4, order="sjf") == [0, 4, 2, 4, 5]


def test_ties_in_another_order_go_to_the_first_submitted_then_to_the_first_row():
    jobs = table((2, 1, 1, 1), (2, 1, 1, 1), (1, 1, 1, 1), (0, 5, 5, 1))
    assert fcfs(jobs, 1, order="sjf") == [6, 7, 5, 0]


def test_batched_arrivals_are_ranked_together():
    # Batched: the shorter first. Each: the first row starts before the second is seen.
    jobs = table((0, 9, 9, 2), (0, 1, 1, 2))
    assert fcfs(jobs, 2, order="sjf") == [1, 0]
    assert fcfs(jobs, 2, order="sjf", events="each") == [0, 9]


# --- EASY ---
def test_easy_on_the_example_of_grudenic_and_bogunovic():
    # Specification, section 5.3, GRU-6: P = 7, two running jobs, then J1 to J4, "EASY starts J2 2, J1 7, J3 9, J4 9:
    # makespan 14, mean slowdown 3.0125"; "EASY reserves J1 for t=7", "at 7 [...] reserves J3" (for 9).
    jobs = table((0, 2, 2, 4), (0, 7, 7, 3), (0, 2, 2, 6), (0, 4, 4, 3), (0, 5, 5, 2), (0, 4, 4, 2))
    starts, promises = easy(jobs, 7)
    assert starts == [0, 0, 7, 2, 9, 9]
    assert promises == [-1, -1, 7, -1, 9, -1]
    ends = [start + job.run for start, job in zip(starts, jobs, strict=True)]
    assert max(ends) == 14
    slowdowns = [end / job.run for end, job in zip(ends, jobs, strict=True)][2:]
    assert sum(slowdowns) / 4 == pytest.approx(3.0125)


@pytest.mark.parametrize(
    ("backfill", "expected"),
    [
        # At 2, four are free and the head (job 1, promised 10) leaves two extra. Job 2 is long and takes
        # both, so none is left for job 3; job 4 ends just at the shadow time. Job 3 is the next blocked head.
        (None, ([0, 10, 2, 15, 2], [-1, 10, -1, 15, -1])),
        # Job 4 goes first but ends in time and so uses no extra processors: the same schedule.
        ("sjf", ([0, 10, 2, 15, 2], [-1, 10, -1, 15, -1])),
        # Job 3 goes first and takes one of the two extra ones; job 2 has to wait until job 1 ends.
        ("narrow", ([0, 10, 15, 2, 2], [-1, 10, 15, -1, -1])),
    ],
)
def test_easy_extra_processors(backfill, expected):
    jobs = table((0, 10, 10, 6), (1, 5, 5, 8), (2, 20, 20, 2), (2, 20, 20, 1), (2, 8, 8, 2))
    assert easy(jobs, 10, backfill=backfill) == expected


@pytest.mark.parametrize(
    ("order", "backfill", "expected"),
    [
        # Job 1 starts at 1 beside job 0, job 2 follows when it ends, and job 3 has to wait for that one.
        ("fcfs", None, ([0, 1, 7, 12], [-1, -1, 7, 12])),
        # Job 3 is the head, promised 10. Job 2 and job 1 would both end by then, but only one fits: job 2.
        ("sjf", None, ([0, 13, 1, 10], [-1, 13, -1, 10])),
        # The same head, but now job 1 is tried first.
        ("sjf", "fcfs", ([0, 1, 13, 10], [-1, -1, 13, 10])),
    ],
)
def test_easy_order_decides_the_head_and_by_default_the_backfilling(order, backfill, expected):
    jobs = table((0, 10, 10, 2), (1, 6, 6, 2), (1, 5, 5, 2), (1, 3, 3, 4))
    assert easy(jobs, 4, order=order, backfill=backfill) == expected


def test_easy_keeps_the_first_promise():
    # Promised 10; the early completion at 2 would make that 9, and the next one lets the job start at 3.
    jobs = table((0, 2, 10, 2), (0, 3, 9, 2), (1, 2, 2, 4))
    assert easy(jobs, 4) == ([0, 0, 3], [-1, -1, 10])


def test_easy_plans_a_second_for_an_estimate_of_zero():
    # Job 0 takes the machine for no time, but is expected to take a second; job 1 is a blocked head until the next
    # round of the same instant.
    jobs = table((0, 0, 0, 2), (0, 4, 4, 2))
    assert easy(jobs, 2) == ([0, 0], [-1, 1])


# --- Conservative ---
@pytest.mark.parametrize(
    ("compression", "starts"),
    [("queue", [0, 0, 10, 3]), ("reservation", [0, 0, 7, 3]), ("none", [0, 0, 10, 6]), ("rebuild", [0, 0, 6, 11])],
)
def test_conservative_compression(compression, starts, events):
    # Machine of 4, full until 6 by the estimates; job 2 (wide) is promised 10, and job 3, which fits before
    # it, 6. Job 0 ends early at 3. Queue: job 2 cannot move while job 3 is in its way, then job 3 moves to 3;
    # job 1 ends on time at 6 and triggers no second pass, which would move job 2 to 7. Reservation: job 3
    # moves first and job 2 follows to its end at 7. Rebuild: job 2 gets 6, where job 1 ends, and then there
    # is no room for job 3 before 11.
    jobs = table((0, 3, 10, 2), (0, 6, 6, 2), (1, 5, 5, 4), (1, 4, 4, 2))
    assert conservative(jobs, 4, compression=compression, events=events) == (starts, [0, 0, 10, 6])


@pytest.mark.parametrize("compression", ["queue", "rebuild"])
def test_conservative_in_another_order(compression):
    # The same jobs, the shorter job 3 visited first.
    jobs = table((0, 3, 10, 2), (0, 6, 6, 2), (1, 5, 5, 4), (1, 4, 4, 2))
    expected = [0, 0, 7, 3], [0, 0, 10, 6]
    assert conservative(jobs, 4, order="sjf", compression=compression) == expected


def test_conservative_arrivals_are_placed_fcfs_whatever_the_order():
    jobs = table((0, 10, 10, 1), (0, 5, 5, 1), (0, 1, 1, 1))
    assert conservative(jobs, 1, order="sjf") == ([0, 10, 15], [0, 10, 15])
    assert conservative(jobs, 1, order="sjf", compression="rebuild") == ([6, 1, 0], [6, 1, 0])


def test_conservative_reservations_are_events(events):
    # Job 0 ends at 4 and nothing else happens until the reservations at 10 and 15.
    jobs = table((0, 4, 10, 4), (1, 5, 5, 4), (2, 3, 3, 2), (3, 2, 2, 2))
    promises = [0, 10, 15, 15]
    assert conservative(jobs, 4, compression="none", events=events) == (promises, promises)
    assert conservative(jobs, 4, events=events) == ([0, 4, 9, 9], promises)


def test_conservative_compresses_before_the_arrivals_of_the_instant():
    # Job 2 comes at 4, when job 0 ends early: the hole until 10 would suit it, but job 1 has moved into it.
    jobs = table((0, 4, 10, 4), (1, 5, 5, 4), (4, 6, 6, 4))
    assert conservative(jobs, 4) == ([0, 4, 9], [0, 10, 9])
    assert conservative(jobs, 4, compression="none") == ([0, 10, 4], [0, 10, 4])
    # Each: the arrival is placed first, behind job 1's old reservation.
    assert conservative(jobs, 4, events="each") == ([0, 4, 9], [0, 10, 15])


def test_conservative_zero_run_completes_early_at_its_start(events):
    jobs = table((0, 0, 10, 2), (0, 4, 4, 2))
    # Each: at the second arrival the first job's completion is still to come.
    assert conservative(jobs, 2, events=events) == ([0, 0], [0, 10])
    assert conservative(jobs, 2, compression="none", events=events) == ([0, 10], [0, 10])


def test_conservative_reserves_a_second_for_an_estimate_of_zero(events):
    # Job 1 is reserved for 5 and job 2 for 6, but job 1 takes no time, so job 2 follows at once.
    jobs = table((0, 5, 5, 2), (1, 0, 0, 1), (1, 3, 3, 2))
    assert conservative(jobs, 2, events=events) == ([0, 5, 5], [0, 5, 6])
