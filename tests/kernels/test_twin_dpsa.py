"""The naive twin of DPSA against tables worked by hand.

Tables list (submit, run, estimate, procs); the numbers were worked out on paper from section 5.1.
"""

import pytest
from twins import dpsa, easy, table


@pytest.fixture(params=["p", "n", "w"])
def variant(request):
    return request.param


# --- The example of the paper ---
# Specification, section 5.3, GRU-6: P = 7, two running jobs, then J1 to J4. `test_lookahead.py` has the schedule.
GRU_6 = table((0, 2, 2, 4), (0, 7, 7, 3), (0, 2, 2, 6), (0, 4, 4, 3), (0, 5, 5, 2), (0, 4, 4, 2))


def test_dpsa_budget_on_the_example(events):
    # At 2, variant p: J2 (used 3), J3 and J4 do not fit beside it; J3, J4 (used 4). The set is node 5, and a
    # search of four nodes does what EASY does.
    assert dpsa(GRU_6, 7, "p", events=events, budget=4) == easy(GRU_6, 7, events=events)
    assert dpsa(GRU_6, 7, "p", events=events, budget=4)[0] == [0, 0, 7, 2, 9, 9]
    assert dpsa(GRU_6, 7, "p", events=events, budget=5)[0] == [0, 0, 7, 9, 2, 2]


# --- A hole of four processors from 1 to 10, machine of 10 ---
# Jobs 3 to 7 may fill the hole before job 2, which takes the machine from 10 to 20. What starts at 1 ends at
# 6, when nothing more ends by 10. Four of their eleven processors used, the others all fit at 20.
HOLE = table(
    (0, 10, 10, 6), (0, 1, 1, 4), (0, 10, 10, 10), (0, 5, 5, 3), (0, 5, 5, 2), (0, 5, 5, 4), (0, 5, 5, 1), (0, 5, 5, 1)
)


def filled(*begun):
    """The schedule in which these jobs start in the hole: the first of the others is the next blocked head."""
    left = [j for j in range(3, 8) if j not in begun]
    starts = [0, 0, 10] + [1 if j in begun else 20 for j in range(3, 8)]
    return starts, [-1, -1, 10] + [20 if j == left[0] else -1 for j in range(3, 8)]


# Nothing in the hole: at 20 there is no processor left for job 7, until the others end at 25.
EMPTY = [0, 0, 10, 20, 20, 20, 20, 25], [-1, -1, 10, 20, -1, -1, -1, 25]


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("p", filled(3, 6)),  # sizes 3 2 4 1 1: with job 3 only a single one fits
        ("n", filled(6, 7, 4)),  # sizes 1 1 2 3 4
        ("w", filled(5)),  # sizes 4 3 2 1 1
    ],
)
def test_dpsa_ties_go_by_the_order_of_the_list(variant, expected, events):
    assert dpsa(HOLE, 10, variant, events=events) == expected


@pytest.mark.parametrize(
    ("variant", "depth", "expected"),
    [
        ("n", 0, EMPTY),
        ("n", 1, filled(3)),
        ("w", 2, filled(3)),  # 3 and 2 processors, one too many together
        ("n", 2, filled(3)),  # job 4 is found first, but uses fewer
        ("n", 3, filled(5)),  # of 2, 3 and 4 processors only the last fill the hole
        ("n", 4, filled(6, 3)),  # sizes 1 2 3 4: 1 2, then 1 3
        ("n", 5, filled(6, 7, 4)),
        ("n", 99, filled(6, 7, 4)),
    ],
)
def test_dpsa_depth(variant, depth, expected, events):
    assert dpsa(HOLE, 10, variant, events=events, depth=depth) == expected


def test_dpsa_depth_counts_jobs_too_wide_for_the_hole(events):
    jobs = table((0, 10, 10, 3), (1, 5, 5, 4), (1, 1, 1, 2), (1, 2, 2, 1))
    assert dpsa(jobs, 4, events=events, depth=1) == ([0, 10, 15, 15], [-1, 10, 15, -1])
    assert dpsa(jobs, 4, events=events, depth=2) == ([0, 10, 15, 1], [-1, 10, 15, -1])


# Four processors are used by jobs 3 and 6, 3 and 7, 4 and 6 and 7, or 5.
@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        (lambda now, submit, estimate, procs: procs * procs, filled(5)),  # 16, before 10 and 6
        (lambda now, submit, estimate, procs: -procs * procs, filled(6, 7, 4)),
        (lambda now, submit, estimate, procs: -1, filled(5)),  # the fewest jobs, though none would cost nothing
        (lambda now, submit, estimate, procs: procs == 3, filled(3, 6)),  # job 6 is listed before job 7
        (lambda now, submit, estimate, procs: 100 * (procs == 2), filled(6, 7, 4)),
    ],
)
def test_dpsa_objective(variant, objective, expected, events):
    assert dpsa(HOLE, 10, variant, events=events, objective=objective) == expected


# --- Reserved and unreserved processors ---
def test_dpsa_short_jobs_leave_the_unreserved_processors_to_long_ones(variant, events):
    # At 1 five are free; job 2 needs eight at 10, when five are released, so three are reserved. Job 3 (long)
    # finds only two; job 5 gets these, for jobs 4 and 6 end by 10 and use the reserved ones, so the hole is
    # full. At 6, job 7 would take one of the two that job 2 needs; it starts at 15, with job 3.
    jobs = table((0, 10, 10, 5), (0, 1, 1, 5), (0, 5, 5, 8), (0, 20, 20, 3))
    jobs += table((0, 5, 5, 2), (0, 20, 20, 2), (0, 9, 9, 1), (0, 10, 10, 1))
    assert dpsa(jobs, 10, variant, events=events) == ([0, 0, 10, 15, 1, 1, 1, 15], [-1, -1, 10, 15, -1, -1, -1, -1])


def test_dpsa_processors_released_at_the_shadow_time_count_together(variant, events):
    # Job 2 needs three. Both others end at 5 and release four, so none of the two free ones is reserved.
    jobs = table((0, 5, 5, 2), (0, 5, 5, 2), (1, 4, 4, 3), (1, 20, 20, 2))
    assert dpsa(jobs, 6, variant, events=events) == ([0, 0, 5, 1], [-1, -1, 5, -1])


def test_dpsa_looks_at_the_last_job_of_the_list(variant, events):
    jobs = table((0, 4, 4, 3), (1, 2, 2, 4), (2, 2, 2, 1))
    assert dpsa(jobs, 4, variant, events=events) == ([0, 4, 2], [-1, 4, -1])


def test_dpsa_in_another_order():
    # The shortest job first: at 1 job 3 (estimate 1) is the head, wants the machine and gets it at 4. Before
    # it, two processors: of jobs 2 and 1, in this order, either fills them. At 4 job 1 is blocked by job 3.
    jobs = table((0, 4, 4, 2), (1, 3, 3, 2), (1, 2, 2, 2), (1, 1, 1, 4))
    assert dpsa(jobs, 4, "p", order="sjf") == ([0, 5, 1, 4], [-1, 5, -1, 4])
    # In the order of arrival job 1 starts at once and job 2 is the blocked head, then job 3.
    assert dpsa(jobs, 4, "p") == ([0, 1, 4, 6], [-1, -1, 4, 6])
