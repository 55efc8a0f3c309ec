"""The naive twin of EASY with policies against tables worked by hand.

Tables list (submit, run, estimate, procs), and were worked out on paper from the rules in `twin_policies`; the comments
tell the story of the schedule.
"""

from math import log

import pytest
from twin_policies import easy, usage
from twins import Job, table


# --- Reservations ---
@pytest.mark.parametrize(("reservations", "promise"), [(1, -1), (2, 15)])
def test_a_job_that_may_not_overtake_is_passed_over_without_a_reservation(reservations, promise, events):
    # At 2, job 1 is promised 10. Job 2 could start, but may not; job 3 would run until 11, so a second reservation is
    # its own, 15. Job 0 ends early at 6: job 1 starts, and job 2, blocked only now, is promised its end at 11.
    jobs = table((0, 6, 10, 3), (1, 5, 5, 5), (2, 3, 3, 1), (2, 9, 9, 1))
    schedule = easy(jobs, 5, reservations=reservations, may_backfill=lambda job: job.index != 2, events=events)
    assert schedule == ([0, 6, 11, 11], [-1, 10, 11, promise])


def test_a_job_of_no_length_ends_before_the_second_that_is_planned_for_it():
    # Job 0 takes the machine for no time, but is expected to take a second. So job 1 is promised 1, and job 2 the end
    # of job 1. In the next round of the same instant job 1 starts.
    jobs = table((0, 0, 0, 2), (0, 4, 4, 2), (0, 3, 3, 1))
    assert easy(jobs, 2, reservations=2) == ([0, 0, 4], [-1, 1, 5])


def test_jobs_that_outlive_their_estimates():
    # Job 1 is promised 4, where job 0 should end, and job 2 fits before. At 5 job 0 is expected to end at 6: job 1 is
    # due then, job 3 when job 1 ends at 9, and job 4 fits before 6. Job 0 ends at 10.
    jobs = table((0, 10, 4, 1), (1, 3, 3, 2), (2, 2, 2, 1), (5, 3, 3, 1), (5, 1, 1, 1))
    assert easy(jobs, 2, reservations=2) == ([0, 10, 2, 13, 5], [-1, 4, -1, 9, -1])


# --- What functions see ---
def test_views_of_a_job():
    # Times count from 1000. Job 1 runs on two processors from 0 to 5; job 0 comes at 3 and has to wait for it.
    jobs = table((1003, 2, 4, 1), (1000, 5, 6, 2))
    seen = []
    sums = {name: (name, ["a", "a"], None) for name in ("usage", "running", "held", "queued")}

    def order(job):
        seen.append(vars(job))
        return 0

    assert easy(jobs, 2, order=order, columns={"rank": [7, 8]}, sums=sums) == ([1005, 1000], [1006, -1])
    job_1 = {"submit": 0, "estimate": 6, "procs": 2, "index": 1, "rank": 8}
    job_0 = {"submit": 3, "estimate": 4, "procs": 1, "index": 0, "rank": 7}
    assert seen == [
        {"now": 0, **job_1, "usage": 0, "running": 0, "held": 0, "queued": 1},
        {"now": 3, **job_0, "usage": 6, "running": 1, "held": 2, "queued": 1},
        {"now": 5, **job_0, "usage": 10, "running": 0, "held": 0, "queued": 1},
    ]


def test_per_event_completions_come_in_order_of_start():
    # Job 2 goes before job 1 when both start at 1; both end early at 3. Job 2 is the first to complete, which leaves
    # room for job 4 before the shadow time of the head, 9. Looked at is the head, job 3, of the same user as job 2.
    jobs = table((0, 1, 1, 3), (0, 2, 8, 1), (0, 2, 8, 2), (2, 1, 1, 3), (2, 4, 4, 2))
    seen = []
    sums = {"all": ("running", [0] * 5, None), "users": ("running", list("AABBC"), None)}

    def order(job):
        if job.index == 3:
            seen.append((job.now, job.all, job.users))
        return job.rank

    starts, promises = easy(jobs, 3, order=order, columns={"rank": [0, 2, 1, 3, 4]}, sums=sums, events="each")
    assert starts == [0, 1, 1, 7, 3]
    assert promises == [-1, 1, 1, 9, -1]
    # At 2 both arrivals are seen; at 3 both completions, and after the first, job 4 runs; at 7 job 4 completes.
    assert seen == [(2, 2, 1), (2, 2, 1), (3, 1, 0), (3, 1, 0), (7, 0, 0)]


# --- Policies on running sums ---
@pytest.mark.parametrize(
    ("half_life", "expected"),
    [
        # At 10 user A has used 20, so B goes first; at 14 B has used 8 and goes first again; at 18 it is 20 to 16.
        (None, ([0, 18, 10, 22, 14], [-1, 10, 10, 22, 14])),
        # In units of 8 / log(2), A's 1 - 2 ** -2.5 of 10 has decayed to 0.41 at 14, and B's is 1 - 0.5: now A goes
        # first, and job 3 becomes the head. At 18 A has 0.21 + 0.5, and B 0.25.
        (4, ([0, 14, 10, 22, 18], [-1, 10, 10, 18, 14])),
    ],
)
def test_least_usage_first(half_life, expected):
    # Every job takes the whole machine, so this is about the order alone. Job 1 is the head at 1, then job 2.
    jobs = table((0, 10, 10, 2), (1, 4, 4, 2), (2, 4, 4, 2), (3, 4, 4, 2), (4, 4, 4, 2))
    sums = {"used": ("usage", list("AABAB"), half_life)}
    assert easy(jobs, 2, order=lambda job: job.used, sums=sums) == expected


def test_usage():
    # Two processors from 0 to 10. With a half-life of 10 the integral of 2 ** -x is taken over x from 0 to 1 at 10, and
    # from 1 to 2 at 20.
    job = Job(0, 10, 15, 2)
    assert [usage(job, 0, now, None) for now in (0, 5, 10, 20)] == [0, 10, 20, 20]
    expected = [0, 20 / log(2) * (1 - 0.5**0.5), 10 / log(2), 5 / log(2)]
    assert [usage(job, 0, now, 10) for now in (0, 5, 10, 20)] == pytest.approx(expected)
    steps = [2 * 2 ** (-(17 - (i + 0.5) / 100) / 10) / 100 for i in range(1000)]
    assert usage(job, 0, 17, 10) == pytest.approx(sum(steps), rel=1e-6)
    assert [usage(job, 7, now + 7, None) for now in (0, 5, 10, 20)] == [0, 10, 20, 20]  # a later start
    assert [usage(job, 7, now + 7, 10) for now in (0, 5, 10, 20)] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("kind", "may", "starts"),
    [
        # At 1 job 2 starts; job 3 sees it run and waits until it ends at 5. Job 4 is another user's.
        ("running", lambda n: n == 0, [0, 10, 1, 5, 1]),
        ("held", lambda n: n <= 1, [0, 10, 1, 1, 1]),
        # Of job 2's user two wait, of job 4's one. Once job 2 has started, only one is left: job 3 waits on.
        ("queued", lambda n: n == 2, [0, 10, 1, 15, 15]),
        # As job 2 may not start, two are left: job 3 may not, either.
        ("queued", lambda n: n == 1, [0, 10, 15, 15, 1]),
    ],
)
def test_may_backfill_sees_what_was_started_in_this_decision(kind, may, starts):
    # The head is promised 10 and leaves nothing over; the others end in time. At 15 no reservation is left.
    jobs = table((0, 10, 10, 2), (1, 5, 5, 6), (1, 4, 4, 1), (1, 4, 4, 1), (1, 4, 4, 1))
    sums = {"n": (kind, list("AABBC"), None)}
    assert easy(jobs, 6, may_backfill=lambda job: may(job.n), sums=sums)[0] == starts


def test_backfill_values_are_those_before_the_backfilling():
    # Job 0 of user A starts and job 1 is blocked. Job 2 is A's, too, so B's jobs 3 and 4 go first. (With values from
    # before job 0, job 2 would be first; with new values after job 3, the second.) Job 2 waits for the head to end.
    jobs = table((0, 10, 10, 4), (0, 5, 5, 6), (0, 9, 9, 1), (0, 9, 9, 1), (0, 9, 9, 1))
    sums = {"running": ("running", list("ACABB"), None)}
    schedule = easy(jobs, 6, backfill=lambda job: job.running, sums=sums)
    assert schedule == ([0, 10, 15, 0, 0], [-1, 10, 15, -1, -1])
