"""The naive twins of moldable scheduling against cases worked by hand, and the laws that they must obey.

Numbers come from the specification, sections 2 and 7.1, or are worked out in the comments beside them. A job that is
"linear up to A" has sigma = 0: its work W takes W / min(n, A) seconds on n processors, rounded up.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twin_moldable import (
    Moldable,
    downey,
    duration,
    efficiency_limits,
    fair_limits,
    fair_share,
    greedy,
    iterative,
    one_decision,
)
from workloads import INSTANTS, integers, pick

CANMOVE = pytest.mark.parametrize("canmove", ["role", "literal"])


def linear(submit, run, estimate, procs, A):
    return Moldable(submit, run, estimate, procs, *downey(A, 0))


def constant(*slopes):
    """Slopes that do not depend on the processors."""
    return [lambda n, slope=slope: slope for slope in slopes]


# --- Speedup and durations ---
@pytest.mark.parametrize(
    ("sigma", "speedups", "slopes"),
    [
        # A = 4: for sigma up to 1 it bends at 4 and 7, for 2 at 4 + 8 - 2 = 10.
        (0.5, {4: 16 / 4.75}, {4: 4 * 0.5 * 3.5 / 4.75**2, 7: 0}),
        (1, {1: 1, 2: 16 / 9, 4: 32 / 11, 5: 10 / 3, 7: 4, 9: 4}, {1: 7 / 8, 2: 56 / 81, 5: 7 / 18, 7: 0}),
        (2, {1: 1, 2: 12 / 7, 10: 4, 11: 4}, {1: 5 / 6, 2: 30 / 49, 10: 0}),
    ],
)
def test_downeys_speedup_and_its_right_derivative(sigma, speedups, slopes):
    speedup, slope = downey(4, sigma)
    assert {n: speedup(n) for n in speedups} == pytest.approx(speedups)
    assert {n: slope(n) for n in slopes} == pytest.approx(slopes)


def test_durations_round_up_but_for_a_guard():
    job = linear(0, 10, 12, 1, A=8)
    assert [duration(job.run, job, n) for n in (1, 2, 3, 4, 8, 9)] == [10, 5, 4, 3, 2, 2]
    assert [duration(job.estimate, job, n) for n in (1, 5, 6)] == [12, 3, 2]
    assert duration(1, job, 8) == 1
    job = Moldable(0, 3, 3, 4, *downey(64, 0.5))
    assert 3 * job.speedup(4) / job.speedup(4) > 3  # in floating point
    assert duration(job.run, job, 4) == 3


# --- Limits ---
def test_fair_limits_by_hand():
    # Square roots 1, 2, 3 of 6; the weights themselves are 1, 4, 9 of 14: 0.86, 3.43 and 7.71 processors of 12.
    assert fair_limits([1.0, 4.0, 9.0], 12, 1) == [2, 4, 6]
    assert fair_limits([1.0, 4.0, 9.0], 12, 1, weight="proportional") == [1, 3, 8]
    assert fair_limits([1.0, 4.0, 9.0], 12, 4) == [8, 12, 12]  # 8, 16, 24: no more than the machine
    assert fair_limits([1.0, 1e8], 12, 1) == [1, 12]  # 0.001: no less than one
    assert fair_limits([7.0, 7.0], 5, 1) == [3, 3]  # 2.5 each is rounded up
    assert fair_limits([7.0], 5, 1) == [5]


@CANMOVE
def test_efficiency_moves_up_to_the_band(canmove):
    # Flat and steep on 8 processors. EF = 0.5: the band is 2 to 6. EF = 1: 1 (not 0) to 8.
    slopes = constant(0.1, 1)
    assert efficiency_limits([4, 4], slopes, 8, 0.5, canmove) == [2, 6]
    assert efficiency_limits([4, 4], slopes, 8, 1, canmove) == [1, 7]
    # EF = 0.3: ceil(0.7 * 5) = 4, floor(1.3 * 5) = 6. EF = 0.7: 3 to 17, although (1 - 0.7) * 10 > 3 in floating point.
    assert efficiency_limits([5, 5], slopes, 20, 0.3, canmove) == [4, 6]
    assert efficiency_limits([10, 10], slopes, 20, 0.7, canmove) == [3, 17]
    # The machine bounds the band too: 6 + 6 would be 12.
    assert efficiency_limits([6, 6], slopes, 8, 1, canmove) == [4, 8]


def test_only_by_role_may_a_job_with_one_processor_gain():
    # Band of the first job: 1 to 2, so it is at a bound from the beginning; of the second: 1 to 8.
    assert efficiency_limits([1, 7], constant(1, 0.1), 8, 1) == [2, 6]
    assert efficiency_limits([1, 7], constant(1, 0.1), 8, 1, canmove="literal") == [1, 7]


@CANMOVE
def test_efficiency_stops_when_the_slopes_have_met(canmove):
    # Slopes 1/8 and 1/4, then 1/7 and 1/5, then 1/6 both; the bands are 1 to 12 and 1 to 8.
    assert efficiency_limits([8, 4], [lambda n: 1 / n] * 2, 12, 1, canmove) == [6, 6]
    # Only what differs in the twelfth decimal counts.
    assert efficiency_limits([4, 4], constant(0.1, 0.1 + 1e-13), 8, 0.5, canmove) == [4, 4]


@CANMOVE
def test_no_job_both_gains_and_loses(canmove):
    # EF = 0.5, bands 2 to 6. The third job, steepest at 4, takes one from the first and is then the flattest; it may
    # not give it back, so the first gives to the second until it is at 2.
    slopes = [*constant(0.2, 0.3), lambda n: 0.5 if n < 5 else 0.1]
    assert efficiency_limits([4, 4, 4], slopes, 12, 0.5, canmove) == [2, 5, 5]


@CANMOVE
def test_of_equal_slopes_the_earlier_job_moves(canmove):
    # Bands 2 to 6: the first two are equally flat, the others equally steep.
    slopes = constant(0.1, 0.1, 0.9, 0.9)
    assert efficiency_limits([4, 4, 4, 4], slopes, 16, 0.5, canmove) == [2, 2, 6, 6]
    # One processor to gain: the band of the fourth job is 1. One to lose: that of the last is 2 to 4.
    assert efficiency_limits([3, 3, 2, 1], slopes, 16, 0.5, canmove) == [2, 3, 3, 1]
    assert efficiency_limits([2, 2, 3], constant(0.9, 0.9, 0.1), 16, 0.5, canmove) == [3, 2, 2]


# --- Fair share ---
def test_fair_share_by_hand():
    # P = 4, ObF = 4, so that all limits are 4. Job 0 is linear up to 3: 10 s on 3, on 4 as well, so 3. At 1 there is
    # one processor free. Job 1 (30, 15, 10, 10 s on 1 to 4) is done at 31, 25, 20, 20: 3 are reserved at 10. Job 2
    # (40, 20, 14, 10 s) is done at 41, 40, 34, 30: it waits, or if it must start now, does so on 1.
    jobs = [linear(0, 10, 10, 3, A=3), linear(1, 10, 10, 3, A=3), linear(1, 10, 10, 4, A=4)]
    assert fair_share(jobs, 4, overbooking=4) == [(0, 3), (10, 3), (20, 4)]
    assert fair_share(jobs, 4, overbooking=4, backfill="start-now") == [(0, 3), (10, 3), (1, 1)]


def test_fair_share_reserves_for_one_job_only():
    # As above, and a job 3 that takes 25 s on 1 whatever it gets. Nothing is held for job 2, so job 3 starts beside the
    # reservation of job 1 and is done at 26. Job 2, at 10: done at 66, 40, 34 (3 from 20 on) or 36.
    jobs = [linear(0, 10, 10, 3, A=3), linear(1, 10, 10, 3, A=3), linear(1, 10, 10, 4, A=4), linear(1, 25, 25, 1, A=1)]
    assert fair_share(jobs, 4, overbooking=4) == [(0, 3), (10, 3), (20, 3), (1, 1)]


def test_fair_share_fills_a_hole_to_the_last_second():
    # Job 1 (linear up to 4) is done at 41, 30, 24 or 20: 4 are reserved at 10. Job 2, arriving at 2, takes 8 s on 1.
    jobs = [linear(0, 10, 10, 3, A=3), linear(1, 10, 10, 4, A=4), linear(2, 8, 8, 1, A=1)]
    assert fair_share(jobs, 4, overbooking=4) == [(0, 3), (10, 4), (2, 1)]


def test_fair_share_forgets_its_reservation():
    # As before, but job 0 ends at 5. Job 1 then starts, as job 2 must still not; the latter gets its reservation at 15.
    jobs = [linear(0, 5, 10, 3, A=3), linear(1, 10, 10, 3, A=3), linear(1, 10, 10, 4, A=4)]
    assert fair_share(jobs, 4, overbooking=4) == [(0, 3), (5, 3), (15, 4)]


def test_running_jobs_count_in_the_mix():
    # P = 8, ObF = 1. Job 0, linear up to 4, is alone and takes 4 for 10 s. At 1 the works are 40 and 160, the square
    # roots 1 to 2: job 1 gets 2/3 of 8, 5. On 4 it is done at 41, on 5 at 10 + 32. Alone in the mix it gets 8, and is
    # done at 10 + 20.
    jobs = [linear(0, 10, 10, 4, A=4), linear(1, 20, 20, 8, A=8)]
    assert fair_share(jobs, 8) == [(0, 4), (1, 4)]
    assert fair_share(jobs, 8, mix="queued") == [(0, 4), (10, 8)]


def test_weights():
    # 100 s on 4 processors: work 400 and, where A = 1, 100. Of 9 processors the first job gets 6, by area 4.5, in
    # proportion 7.2; the second needs only 1.
    jobs = [linear(0, 100, 100, 4, A=9), linear(0, 100, 100, 4, A=1)]
    assert fair_share(jobs, 9) == [(0, 6), (0, 1)]
    assert fair_share(jobs, 9, work="area") == [(0, 5), (0, 1)]
    assert fair_share(jobs, 9, weight="proportional") == [(0, 7), (0, 1)]


def test_efficiency_gives_the_flat_job_s_processors_to_the_steep_one():
    # As above: limits 6 and 3, slopes 1 and 0. EF = 0.5 gives 7 and 2, EF = 1 gives 8 and 1.
    jobs = [linear(0, 100, 100, 4, A=9), linear(0, 100, 100, 4, A=1)]
    assert fair_share(jobs, 9, efficiency=0.5) == [(0, 7), (0, 1)]
    assert fair_share(jobs, 9, efficiency=1) == [(0, 8), (0, 1)]


# --- Greedy ---
def test_greedy_by_hand():
    # P = 4. Job 0 is linear up to 2: 2 processors on [0, 10). Job 1 (12, 6, 4, 3 s) is done at 13, 7, 14, 13: 2 on
    # [1, 7). Job 2 (8, 4, 3, 2 s) is done at 15, 11, 13, 12: 2 reserved at 7. At 6 job 0 ends: job 2 starts on its 2
    # (done at 10), although 4 from 7 on would now be done at 9.
    jobs = [linear(0, 6, 10, 2, A=2), linear(1, 12, 12, 1, A=4), linear(2, 8, 8, 1, A=4)]
    assert greedy(jobs, 4) == [(0, 2), (1, 2), (6, 2)]


def test_greedy_chooses_after_the_completions_of_the_instant():
    # P = 3. Job 0 takes all on [0, 10), job 1 (8, 4, 4 s) is promised 2 on [10, 14). At 3 job 0 ends, and job 2 (6, 3,
    # 2 s) arrives. Job 1 moves to [3, 7), so job 2 is done at 9, 10 or 9: 1 at once. Before the move 3 had seemed free.
    jobs = [linear(0, 3, 10, 3, A=3), linear(1, 8, 8, 1, A=2), linear(3, 6, 6, 1, A=3)]
    assert greedy(jobs, 3) == [(0, 3), (3, 2), (3, 1)]


# --- Iterative ---
# Linear up to 4, 4 and 2: 12, 6, 4, 3; 4, 2, 2, 1; and 6, 3, 3, 3 s on 1 to 4 processors.
THREE = [linear(0, 12, 12, 1, A=4), linear(0, 4, 4, 1, A=4), linear(0, 6, 6, 1, A=2)]


def test_one_decision_by_hand():
    # P = 4. One processor each, all start at 0: 12 + 4 + 6 = 22.
    # Job 0 gains most, 6: 6 + 4 + 6 = 16.                                        Kept.
    # Gains 2, 2, 3. Job 2 on 2 starts when job 1 ends: 6 + 4 + 7 = 17.           Not kept.
    # Gains 2, 2: the earlier. Job 0 on 3, and job 2 starts at 4: 4 + 4 + 10.     Not kept.
    # Job 1 on 2, and job 2 starts at 2: 6 + 2 + 8 = 16, no less than before.     Not kept.
    steps = [(0, 2, True, 16), (2, 2, False, 17), (0, 3, False, 18), (1, 2, False, 16)]
    assert one_decision([], THREE, 4, 0) == ([2, 1, 1], [0, 0, 0], steps)


def test_one_decision_leaves_rigid_jobs_as_they_are():
    # Job 1 is rigid: 6 s on 3 processors. P = 4: both start, 4 + 6. Job 0 on 2: 2 + 8, no less. P = 3: 4 + 10, then
    # 2 + 8. On 3 job 0 gains nothing.
    queue = [THREE[1], THREE[2]._replace(rigid=True, procs=3)]
    assert one_decision([], queue, 4, 0) == ([1, 3], [0, 0], [(0, 2, False, 10)])
    assert one_decision([], queue, 3, 0) == ([2, 3], [0, 2], [(0, 2, True, 10)])


def test_jobs_behind_the_head_do_not_exist_for_the_decision():
    # Job 0, alone, takes all 4 processors for 3 s; then job 1, alone, 2, since a third brings it nothing.
    assert iterative(THREE[:2], 4, head=1) == [(0, 4), (3, 2)]


def test_one_decision_beside_running_jobs():
    # P = 3, at 5; one processor held until 9 and one until 7. Job 1 of the three: 4, 2, 2 s. On 1 it is done at 9; on
    # 2, from 7 on, too: not kept.
    assert one_decision([(9, 1), (7, 1)], THREE[1:2], 3, 5) == ([1], [5], [(0, 2, False, 9)])
    # Held until 6 instead: on 2 it is done at 8. On 3 it gains nothing.
    assert one_decision([(9, 1), (6, 1)], THREE[1:2], 3, 5) == ([2], [6], [(0, 2, True, 8)])


def test_iterative_by_hand():
    # P = 2. One processor each: [0, 12), [0, 4), [4, 10), sum 26. Job 0 on 2: 6 + 10 + 12 = 28. Job 2 on 2: 12 + 4 + 15
    # = 31. Job 1 on 2: 12 + 14 + 6 = 32. None kept. Job 1 ends at 2, not 4; on 2 job 2 would have to wait until 12.
    jobs = [THREE[0], THREE[1]._replace(run=2), THREE[2]]
    trace = []
    assert iterative(jobs, 2, trace=trace) == [(0, 1), (0, 1), (2, 1)]
    assert trace == [(0, 0, 2, False, 28), (0, 2, 2, False, 31), (0, 1, 2, False, 32), (2, 2, 2, False, 15)]


def test_iterative_widens_a_job_that_is_alone():
    # 12, 6, 4, 3 s; a fifth processor brings nothing, so it is not tried.
    trace = []
    assert iterative(THREE[:1], 8, trace=trace) == [(0, 4)]
    assert trace == [(0, 0, 2, True, 6), (0, 0, 3, True, 4), (0, 0, 4, True, 3)]


# --- Laws ---
RUNS = (*range(1, 21), *[1, 4, 8, 12] * 5)
OVERS = (0, 0, 1, 3, 20)
PARALLELISM, SIGMA = (1, 1.5, 2, 3, 4.7, 8, 16), (0, 0.5, 1, 1.3, 2)


@st.composite
def workloads(draw, most=8):
    """Draw (jobs, procs): Moldables with ties and curves of all kinds, not sorted, and a machine."""
    procs = draw(integers(1, 8))
    jobs = []
    for _ in range(draw(integers(1, most))):
        submit, width = pick(draw, INSTANTS, range(1, procs + 1))
        run, over, A, sigma = pick(draw, RUNS, OVERS, PARALLELISM, SIGMA)
        jobs.append(Moldable(submit, run, run + over, width, *downey(A, sigma)))
    return jobs, procs


SCHEMES = {
    "fair share": fair_share,
    "overbooked": lambda jobs, procs: fair_share(jobs, procs, overbooking=4, backfill="start-now"),
    "efficiency": lambda jobs, procs: fair_share(jobs, procs, overbooking=2, efficiency=0.5, mix="queued"),
    "literal": lambda jobs, procs: fair_share(jobs, procs, efficiency=1, canmove="literal", weight="proportional"),
    "greedy": greedy,
    "iterative": iterative,
    "capped": lambda jobs, procs: iterative(jobs, procs, head=2),
}
EVERY_SCHEME = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)


def ends(jobs, schedule):
    return [start + duration(job.run, job, width) for job, (start, width) in zip(jobs, schedule, strict=True)]


# Others are those of the kernels, which equal the twins: see `tests/schemes/test_moldable.py`.
@EVERY_SCHEME
@given(workloads())
def test_one_processor_is_served_in_order(scheme, workload):
    jobs, _ = workload
    jobs = [job._replace(procs=1) for job in jobs]
    now, expected = 0, {}
    for j in sorted(range(len(jobs)), key=lambda j: jobs[j].submit):
        expected[j] = max(now, jobs[j].submit), 1
        now = expected[j][0] + jobs[j].run
    assert scheme(jobs, 1) == [expected[j] for j in range(len(jobs))]


@given(workloads(), st.sampled_from([0.3, 0.5, 1]), st.sampled_from(["role", "literal"]))
def test_efficiency_keeps_the_sum_and_the_band(workload, efficiency, canmove):
    jobs, procs = workload
    before = fair_limits([float(job.estimate) for job in jobs], procs, 1.5)
    after = efficiency_limits(before, [job.slope for job in jobs], procs, efficiency, canmove)
    assert sum(after) == sum(before)
    for share, limit in zip(before, after, strict=True):
        assert max(1, (1 - efficiency) * share - 1e-6) <= limit <= min(procs, (1 + efficiency) * share + 1e-6)
