"""The naive twin of pools, resources, windows and limits against examples worked by hand, and against the textbook.

Rows are (submit, run, estimate, demand, columns); jobs are numbered from 1. The quoted sentences are those of the
specification, section 2. If nothing else is said, the machine has 4 processors. All examples were worked on paper.
"""

import re
from dataclasses import replace
from itertools import pairwise
from math import inf

import pytest
import twin_policies
import twins
from hypothesis import given
from hypothesis import strategies as st
from twin_pools import Closed, Job, Limit, Machine, Pool, simulate
from workloads import examples, pick, workloads

SCHEMES = ("fcfs", "easy", "conservative")
ORDERS = {
    "fcfs": None,
    "sjf": lambda job, now: job.estimate,
    "wide": lambda job, now: -job.demands[0],
    # Changes with time: the expansion factor, in whole numbers.
    "xfactor": lambda job, now: -(now - job.submit + job.estimate) * 27720 // job.estimate,
}


def jobs_of(*rows):
    """Make jobs of rows; a number of processors, or a tuple of amounts; columns by name, if any."""
    jobs = []
    for i, (submit, run, estimate, demands, *columns) in enumerate(rows):
        demands = demands if isinstance(demands, tuple) else (demands,)
        columns = dict(columns[0]) if columns else {}
        jobs.append(Job(i + 1, submit, run, estimate, demands, columns.pop("partition", ""), columns))
    return jobs


def flat(*closed, procs=4, limits=(), on_closure="requeue"):
    return Machine({"all": Pool((procs,))}, ("procs",), closed, limits, on_closure)


def pieces(scheme, machine, *rows, **settings):
    """Return the pieces of each job, in the order of the rows."""
    jobs = jobs_of(*rows)
    by_number = {job.number: [] for job in jobs}
    for number, start, end in simulate(jobs, machine, scheme, **settings)[0]:
        by_number[number].append((start, end))
    return list(by_number.values())


def starts(scheme, machine, *rows, **settings):
    """Return the starts of jobs that all run once."""
    return [start for ((start, _),) in pieces(scheme, machine, *rows, **settings)]


def promises(scheme, machine, *rows, **settings):
    return simulate(jobs_of(*rows), machine, scheme, **settings)[1]


A, B = {"user": "a"}, {"user": "b"}


# --- Pools and what fits ---
@pytest.mark.parametrize("scheme", SCHEMES)
def test_pools_serve_partitions(scheme):
    # "each has a capacity of one to four resources and serves one or more partitions"; "two partitions share the same
    # nodes". Job 2 is of another partition, but of the pool of job 1; job 3 has a pool to itself.
    machine = Machine({"cpu": Pool((4, 0), ("cpu", "debug")), "gpu": Pool((4, 2), ("gpu",))}, ("procs", "gpus"))
    partitions = [{"partition": name} for name in ("cpu", "debug", "gpu")]
    rows = [(0, 5, 5, demands, partitions[i]) for i, demands in enumerate([(3, 0), (2, 0), (4, 2)])]
    assert starts(scheme, machine, *rows) == [0, 5, 0]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_second_resource_blocks(scheme):
    # "Fits: free amount at least the demand in each resource of the pool." Processors are free, GPUs are not.
    # "A job that asks for none of a resource asks for 0." Job 3 overtakes where the scheme lets it.
    machine = Machine({"all": Pool((4, 2))}, ("procs", "gpus"))
    rows = (0, 5, 5, (1, 2)), (0, 5, 5, (1, 1)), (0, 9, 9, (1, 0))
    assert starts(scheme, machine, *rows) == [0, 5, 5 if scheme == "fcfs" else 0]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        # "A job that can never fit is an error that names job, resource, demand and capacity"
        ([(0, 1, 1, (1, 1)), (0, 1, 1, (1, 3))], "job 2 needs 3 gpus, pool all has 2"),
        ([(0, 1, 1, (1, 1), {"partition": "big"})], "no pool serves partition 'big' of job 1"),
    ],
)
def test_a_job_that_can_never_fit_is_refused(rows, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        simulate(jobs_of(*rows), Machine({"all": Pool((4, 2))}, ("procs", "gpus")))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_queue_is_in_the_order_of_the_scheme(scheme):
    # "Queue: one a pool, in the scheme's order (which may use `partition`, `qos`, ...)." At 5, job 1 ends early, and
    # job 3 goes first. (Conservative: job 3 was promised 11, behind job 2, and compression takes it first.)
    rows = (0, 5, 9, 4), (1, 2, 2, 4, {"qos": 2}), (2, 3, 3, 4, {"qos": 1})
    assert starts(scheme, flat(), *rows, order=lambda job, now: job.columns.get("qos", 0)) == [0, 8, 5]


@pytest.mark.parametrize(("backfill", "expected"), [(None, [0, 10, 2, 15]), ("sjf", [0, 10, 15, 2])])
def test_candidates_have_an_order_of_their_own(backfill, expected):
    # At 2 two processors are free until 10. Jobs 3 and 4 both end by then, but there is room for only one of them.
    rows = (0, 10, 10, 2), (1, 5, 5, 4), (2, 8, 8, 2), (2, 3, 3, 2)
    assert starts("easy", flat(), *rows, backfill=ORDERS.get(backfill)) == expected


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_job_is_killed_at_its_estimate(scheme):
    assert pieces(scheme, flat(), (0, 9, 5, 4), (1, 3, 0, 4), (1, 2, 2, 4)) == [[(0, 5)], [(5, 6)], [(6, 8)]]


# --- Limits ---
RUNNING_1 = (Limit("user", running=1),)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_limit_counts_what_has_started_in_the_pass(scheme):
    # "a waiting job whose start would exceed a limit (given what has started so far in that pass) is passed over by
    # every scheme": job 2; job 3 is another user's.
    rows = (0, 5, 5, 1, A), (0, 5, 5, 1, A), (0, 5, 5, 1, B)
    assert starts(scheme, flat(limits=RUNNING_1), *rows) == [0, 5, 0]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_job_that_is_passed_over_is_no_head_and_holds_no_reservation(scheme):
    # "it is neither head nor candidate and holds no reservation": job 2 needs the whole machine, but job 3 starts, long
    # and wide as it is. At 10 job 2 is within the limit, and is promised the end of job 3.
    rows = (0, 10, 10, 1, A), (1, 5, 5, 4, A), (2, 20, 20, 3, B)
    assert starts(scheme, flat(limits=RUNNING_1), *rows) == [0, 22, 2]
    expected = {"fcfs": {}, "easy": {2: 22}, "conservative": {1: 0, 2: 22, 3: 2}}
    assert promises(scheme, flat(limits=RUNNING_1), *rows) == expected[scheme]
    # Without the limit job 2 is the head, and job 3 would delay it.
    assert starts(scheme, flat(), *rows) == [0, 10, 15]


def test_a_job_that_is_passed_over_is_no_candidate():
    # Job 3 could end before job 2 is due. It waits for job 1 of the same user, and then stands behind job 2.
    rows = (0, 10, 10, 1, A), (1, 5, 5, 4, B), (2, 3, 3, 1, A)
    assert starts("easy", flat(limits=RUNNING_1), *rows) == [0, 10, 15]
    assert starts("easy", flat(), *rows) == [0, 10, 2]


def test_a_reservation_that_is_lost_to_a_limit_leaves_room_at_once():
    # Open point 9. Of 5 processors job 4 is promised two from 8 to 20. Job 5, of the same user, fits before. At 5 job 2
    # ends early: job 4 is over the limit and loses its reservation, and job 3 moves from 20 to 8. At 8 job 4 is placed
    # anew, behind it.
    rows = (0, 8, 8, 1, B), (0, 5, 20, 3, B), (0, 5, 5, 4, B), (1, 12, 12, 2, A), (2, 6, 6, 1, A)
    machine = flat(procs=5, limits=(Limit("user", running={"a": 1}),))
    assert starts("conservative", machine, *rows) == [0, 0, 8, 13, 2]
    assert promises("conservative", machine, *rows) == {1: 0, 2: 0, 3: 20, 4: 8, 5: 2}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_limit_frees_at_an_arrival(scheme):
    # "from the first pass in which it is within the limits again it counts in its old place"; "At one instant:
    # completions, [...] arrivals, one pass." At 10 job 1 ends and job 3 comes; job 2 stands before it.
    rows = (0, 10, 10, 1, A), (1, 5, 5, 3, A), (10, 5, 5, 4, B)
    assert starts(scheme, flat(limits=RUNNING_1), *rows) == [0, 10, 15]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_job_within_the_limits_again_stands_before_later_ones(scheme):
    # The same, but job 3 has come at 9. It is the head then, and may be promised 10. At 10 job 2 goes first
    # in the queue, but under conservative backfilling the promise of job 3 is kept.
    rows = (0, 10, 10, 1, A), (1, 5, 5, 1, A), (9, 5, 5, 4, B)
    assert starts(scheme, flat(limits=RUNNING_1), *rows) == ([0, 15, 10] if scheme == "conservative" else [0, 10, 15])


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        # "Limits: [...] a number for all values of the column or a mapping by value". Three jobs are of debug.
        (Limit("qos", running=2), [0, 0, 5, 0]),
        (Limit("qos", procs=4), [0, 0, 5, 0]),
        (Limit("qos", procs=3), [0, 5, 10, 0]),
        (Limit("qos", gpus=1), [0, 5, 0, 0]),
        (Limit("qos", running={"debug": 1}), [0, 5, 10, 0]),
        (Limit("qos", running={"long": 1}), [0, 0, 0, 0]),
        (Limit("partition", running=1), [0, 5, 10, 15]),
    ],
)
def test_kinds_of_limits(limit, expected):
    machine = Machine({"all": Pool((99, 99))}, ("procs", "gpus"), (), (limit,))
    rows = [(0, 5, 5, demands, {"qos": "debug"}) for demands in [(2, 1), (2, 1), (2, 0)]] + [
        (0, 5, 5, (2, 1), {"qos": "long"})
    ]
    for scheme in SCHEMES:
        assert starts(scheme, machine, *rows) == expected


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_limit_counts_the_running_jobs_of_all_pools(scheme):
    # "it counts running jobs only". Job 2 could start in its pool, if job 1 did not run in the other.
    machine = Machine({"p": Pool((4,), ("p",)), "q": Pool((4,), ("q",))}, limits=RUNNING_1)
    rows = (0, 5, 5, 1, {**A, "partition": "q"}), (1, 5, 5, 1, {**A, "partition": "p"})
    assert starts(scheme, machine, *rows) == [0, 5]


def test_the_head_keeps_its_reservation_when_a_candidate_uses_up_the_limit():
    # Open point 7. Two jobs of a user may run. At 2 job 2 is within the limit and is promised 5; job 3 takes the last
    # place of user a. Job 4 would delay job 2 and does not start. At 3 job 2 is passed over, and job 4 starts. At
    # 5 job 2 is within the limit again, ahead of job 5, and waits for job 3, which ends at 11.
    rows = (0, 5, 5, 2, A), (2, 9, 9, 3, A), (2, 9, 9, 1, A), (2, 9, 9, 1, B), (3, 1, 1, 4, B)
    assert starts("easy", flat(limits=(Limit("user", running=2),)), *rows) == [0, 11, 2, 3, 20]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_jobs_that_wait_for_ever_are_an_error(scheme):
    with pytest.raises(ValueError, match=r"jobs \[1\] can never start"):
        simulate(jobs_of((0, 5, 5, 1, A)), flat(limits=(Limit("user", running=0),)), scheme)


# --- Closed windows that are announced ---
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("window", "row", "start"),
    [
        # Closed windows "take an amount of each resource (default: all) of a pool (default: each)".
        (Closed(5, 8), (0, 6, 6, 1), 8),  # it would run into the window
        (Closed(5, 8), (0, 1, 6, 1), 8),  # by its estimate
        (Closed(5, 8), (0, 5, 5, 4), 0),  # ends just before it
        (Closed(5, 8, "all"), (0, 6, 6, 1), 8),
        (Closed(5, 8, "other"), (0, 6, 6, 1), 0),
        (Closed(5, 8, None, (3,)), (0, 6, 6, 1), 0),  # one processor stays open
        (Closed(5, 8, None, (3,)), (0, 6, 6, 2), 8),
        (Closed(5, 8, None, (None,)), (0, 6, 6, 1), 8),
        # "Fits from t: at every instant of [t, t + estimate) the open capacity, less what running jobs hold up to their
        # estimated ends, is at least the demand": the window may begin and end while the job would run.
        (Closed(2, 3), (0, 6, 6, 1), 3),
        # Planning knows them some seconds "before the begin (default: always)": here from 6 on.
        (Closed(10, 20, None, None, 4), (6, 5, 5, 1), 20),
        (Closed(10, 20, None, None, 4), (6, 4, 4, 1), 6),
        # "A job starts only if it fits from now." At the end of the window it does.
        (Closed(5, 8), (5, 1, 1, 1), 8),
        (Closed(5, 8), (8, 1, 1, 1), 8),
    ],
)
def test_an_announced_window(scheme, window, row, start):
    machine = Machine({"all": Pool((4,)), "other": Pool((4,), ("other",))}, closed=(window,))
    assert starts(scheme, machine, row) == [start]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_window_of_a_resource_holds_up_only_those_that_need_it(scheme):
    machine = Machine({"all": Pool((4, 2))}, ("procs", "gpus"), (Closed(5, 8, None, (0, None)),))
    rows = (0, 6, 6, (1, 0)), (0, 6, 6, (1, 1))
    assert starts(scheme, machine, *rows) == [0, 8]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_windows_that_overlap_add_up(scheme):
    # Open point 5: together they take 6, but no more than there is. One processor is open again at 15.
    machine = flat(Closed(10, 20, None, (3,)), Closed(12, 15, None, (3,)))
    assert starts(scheme, machine, (13, 1, 1, 1)) == [15]


# --- Closed windows that end runs ---
UNANNOUNCED = Closed(10, 20, None, None, 0)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("announced", "estimate"), [(0, 12), (4, 12), (inf, 10)])
def test_a_window_that_begins_at_a_completion(scheme, announced, estimate):
    # "At one instant: completions, begins and ends of windows, arrivals, one pass." Job 1 has completed when the window
    # begins. Job 2 comes when it has begun, and job 3 when it has ended.
    rows = (0, 10, estimate, 4), (10, 1, 1, 1), (20, 1, 1, 4)
    machine = flat(Closed(10, 20, None, None, announced))
    assert pieces(scheme, machine, *rows) == [[(0, 10)], [(20, 21)], [(21, 22)]]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("on_closure", "expected"),
    [
        # "They are queued again in their old place with their whole run time": job 1 goes before job 2. "Each run is a
        # piece."
        ("requeue", [[(0, 10), (20, 40)], [(40, 45)]]),
        # "or stay ended"
        ("kill", [[(0, 10)], [(20, 25)]]),
    ],
)
def test_an_ended_job_is_queued_again_or_stays_ended(scheme, on_closure, expected):
    rows = (0, 20, 20, 4), (1, 5, 5, 4)
    assert pieces(scheme, flat(UNANNOUNCED, on_closure=on_closure), *rows) == expected


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        # "those that no longer fit are ended: the latest start first, of equal starts the later in the log, until the
        # rest fits". Jobs 2 and 3 both start at 2, when job 4 ends; job 3 is the later in the log, though not by number
        # of processors. Nobody has to end if nothing is short. (A "kill", to see only this.)
        (0, [17, 17, 17]),
        (1, [17, 17, 10]),
        (2, [17, 10, 10]),
        (3, [10, 10, 10]),
    ],
)
def test_the_latest_start_is_ended_first(scheme, amount, expected):
    machine = flat(Closed(10, 20, None, (amount,), 0), on_closure="kill")
    rows = (0, 17, 17, 2), (1, 15, 15, 1), (1, 15, 15, 1), (0, 2, 2, 2)
    assert pieces(scheme, machine, *rows) == [
        *[[(start, end)] for start, end in zip([0, 2, 2], expected, strict=True)],
        [(0, 2)],
    ]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_job_that_knew_of_the_window_is_not_ended(scheme):
    # "running jobs that did not know of when they started": the window takes 3 and is known from 6 on. Job 1 is too
    # wide and is ended; job 2 comes at 5 and knows nothing; job 3 comes at 6, and ends in time.
    machine = flat(Closed(10, 20, None, (3,), 4), on_closure="kill")
    rows = (0, 20, 20, 2), (5, 20, 20, 1), (6, 4, 4, 1)
    assert pieces(scheme, machine, *rows) == [[(0, 10)], [(5, 10)], [(6, 10)]]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_later_start_is_ended_though_it_needs_nothing_of_what_is_closed(scheme):
    # Open point 2: strictly by start, until the rest fits. GPUs are closed; job 2 needs none, but started last.
    machine = Machine({"all": Pool((4, 2))}, ("procs", "gpus"), (Closed(10, 20, None, (0, None), 0),), (), "kill")
    assert pieces(scheme, machine, (0, 20, 20, (1, 1)), (1, 20, 20, (1, 0))) == [[(0, 10)], [(1, 10)]]
    assert pieces(scheme, machine, (1, 20, 20, (1, 1)), (0, 20, 20, (1, 0))) == [[(1, 10)], [(0, 20)]]


def test_an_ended_job_may_start_again_at_once():
    # Open point 4. The window leaves 2 of 4. Job 2 is ended first, but job 1 alone does not fit either. In the pass of
    # this instant job 1 is promised 20, and job 2 fits beside the window and beside job 1.
    machine = flat(Closed(10, 20, None, (2,), 0))
    rows = (0, 15, 15, 3), (1, 15, 15, 1)
    assert pieces("easy", machine, *rows) == [[(0, 10), (20, 35)], [(1, 10), (10, 25)]]
    assert pieces("conservative", machine, *rows) == [[(0, 10), (20, 35)], [(1, 10), (10, 25)]]
    assert pieces("fcfs", machine, *rows) == [[(0, 10), (20, 35)], [(1, 10), (20, 35)]]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_where_less_than_nothing_is_free_nothing_fits(scheme):
    # Open point 3. From 6 on it is known that GPUs close at 10, and job 1 is planned to hold one until 30. Job 2 needs
    # none, but would run into this window. At 10 job 1 is ended, and job 2 starts.
    machine = Machine({"all": Pool((4, 2))}, ("procs", "gpus"), (Closed(10, 20, None, (0, None), 4),), (), "kill")
    rows = (0, 30, 30, (1, 1)), (6, 5, 5, (1, 0))
    assert pieces(scheme, machine, *rows) == [[(0, 10)], [(10, 15)]]


# --- EASY ---
def test_shadow_time_at_the_end_of_a_window():
    # "the shadow time is the first instant from which it fits, among now, estimated ends, and ends and begins of
    # windows": from 5, where job 1 ends, job 2 would run into the window, which leaves 2. So it is promised 20.
    # "A candidate starts if it fits from now and if, with it running to its estimated end, the head still fits from its
    # shadow time." Job 3 would run until 21, beside the head; job 4 ends at 20. At 20 job 3 is the head.
    rows = (0, 5, 5, 3), (1, 8, 8, 4), (2, 19, 19, 1), (2, 18, 18, 1)
    machine = flat(Closed(10, 20, None, (2,)))
    assert starts("easy", machine, *rows) == [0, 20, 28, 2]
    assert promises("easy", machine, *rows) == {2: 20, 3: 28}


def test_a_candidate_has_to_fit_from_now():
    # Job 2 waits for the end of the window, and leaves 2 processors. Job 3 would leave it these, but would run into the
    # window; job 4 ends in time.
    rows = (0, 5, 5, 1), (0, 12, 12, 2), (0, 11, 11, 1), (0, 10, 10, 2)
    assert starts("easy", flat(Closed(10, 20)), *rows) == [0, 20, 20, 0]
    assert promises("easy", flat(Closed(10, 20)), *rows) == {2: 20}


def test_a_candidate_may_not_take_the_second_resource_of_the_head():
    # GPUs: 3, of which job 1 has 2 until 5. The head needs all 3. Job 3 would keep one; job 4 gives it back at 5.
    machine = Machine({"all": Pool((4, 3))}, ("procs", "gpus"))
    rows = (0, 5, 5, (1, 2)), (1, 5, 5, (1, 3)), (2, 9, 9, (1, 1)), (2, 3, 3, (1, 1))
    assert starts("easy", machine, *rows) == [0, 5, 10, 2]


def test_a_window_that_becomes_known_lets_candidates_start():
    # Open point 1. Job 2 is promised 10, and job 3 would delay it. At 5 it becomes known that half the machine closes
    # at 12, so job 2 is promised 30. Now job 3 fits before.
    rows = (0, 10, 10, 2), (1, 5, 5, 4), (2, 9, 9, 2)
    assert starts("easy", flat(Closed(12, 30, None, (2,), 7)), *rows) == [0, 30, 5]
    assert promises("easy", flat(Closed(12, 30, None, (2,), 7)), *rows) == {2: 10}


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        # "A head that never fits given the windows known is an error at the door."
        ("easy", "job 1 never fits in pool all given the windows known"),
        ("conservative", "job 1 never fits in pool all given the windows known"),
        ("fcfs", "jobs [1] can never start"),
    ],
)
def test_a_head_that_never_fits_is_an_error(scheme, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        simulate(jobs_of((0, 6, 6, 1)), flat(Closed(5, inf)), scheme)
    assert starts(scheme, flat(Closed(5, inf)), (0, 5, 5, 1)) == [0]


# --- Conservative ---
@pytest.mark.parametrize("compression", ["queue", "reservation", "none", "rebuild"])
def test_reservations_around_a_window(compression):
    # "each job's reservation is the first instant from which it fits, given the running jobs and all earlier
    # reservations": from 6 job 2 would run into the window, job 3 ends just before it. Nothing ends early.
    rows = (0, 6, 6, 4), (0, 5, 5, 4), (0, 4, 4, 4), (0, 1, 1, 1)
    machine = flat(Closed(10, 20))
    assert starts("conservative", machine, *rows, compression=compression) == [0, 20, 6, 25]
    assert promises("conservative", machine, *rows, compression=compression) == {1: 0, 2: 20, 3: 6, 4: 25}


@pytest.mark.parametrize(("compression", "start"), [("queue", 3), ("reservation", 3), ("none", 20), ("rebuild", 3)])
def test_compression_moves_a_job_before_the_window(compression, start):
    # "compression as for one resource": job 1 ends 3 s before its estimate, and job 2 moves before the window.
    rows = (0, 3, 6, 4), (1, 6, 6, 4)
    assert starts("conservative", flat(Closed(10, 20)), *rows, compression=compression) == [0, start]
    assert promises("conservative", flat(Closed(10, 20)), *rows, compression=compression) == {1: 0, 2: 20}


@pytest.mark.parametrize("compression", ["queue", "reservation", "none", "rebuild"])
def test_reservations_are_made_anew_when_a_window_becomes_known(compression):
    # "when a window becomes known [...] all reservations are made anew in the order of the queue": at 2. Job 2, due
    # at 5, would run into the window and is moved behind it; job 3 moves from 11 to 5.
    rows = (0, 5, 5, 4), (1, 6, 6, 2), (1, 3, 3, 4)
    machine = flat(Closed(10, 12, None, None, 8))
    assert starts("conservative", machine, *rows, compression=compression) == [0, 12, 5]
    assert promises("conservative", machine, *rows, compression=compression) == {1: 0, 2: 5, 3: 11}


@pytest.mark.parametrize("compression", ["queue", "reservation", "none", "rebuild"])
@pytest.mark.parametrize(("on_closure", "expected"), [("requeue", [(15, 35), (35, 40)]), ("kill", [(15, 20)])])
def test_reservations_are_made_anew_when_a_window_ends_jobs(compression, on_closure, expected):
    # "or ends jobs": known from 6 on, the window ends job 1 at 10. Job 2 has been promised 20, the end of job 1.
    rows = (0, 20, 20, 2), (1, 5, 5, 4)
    machine = flat(Closed(10, 15, None, None, 4), on_closure=on_closure)
    first, second = pieces("conservative", machine, *rows, compression=compression)
    assert first[0] == (0, 10)
    assert first[1:] + second == expected
    assert promises("conservative", machine, *rows, compression=compression) == {1: 0, 2: 20}


# --- The textbook: one resource, no windows, no limits ---
def textbook_easy(jobs, procs):
    """EASY by shadow time and extra processors; a pass every second; jobs run for at least a second."""
    start, shadows, now = {}, {}, 0
    while len(start) < len(jobs):
        running = [i for i in start if now < start[i] + jobs[i].run]
        free = procs - sum(jobs[i].procs for i in running)
        queue = [i for i, job in enumerate(jobs) if job.submit <= now and i not in start]
        while queue and jobs[queue[0]].procs <= free:
            running.append(queue.pop(0))
            start[running[-1]] = now
            free -= jobs[running[-1]].procs
        if queue:
            head = queue.pop(0)
            extra = free - jobs[head].procs
            ends = sorted(start[i] + jobs[i].estimate for i in running)
            shadow = next(
                t for t in ends if extra + sum(jobs[i].procs for i in running if start[i] + jobs[i].estimate <= t) >= 0
            )
            extra += sum(jobs[i].procs for i in running if start[i] + jobs[i].estimate <= shadow)
            shadows.setdefault(head + 1, shadow)
            for i in queue:
                in_time = now + jobs[i].estimate <= shadow
                if jobs[i].procs <= free and (in_time or jobs[i].procs <= extra):
                    start[i] = now
                    free -= jobs[i].procs
                    extra -= 0 if in_time else jobs[i].procs
        now += 1
    return [start[i] for i in range(len(jobs))], shadows


def textbook_conservative(jobs, procs):
    """Conservative backfilling, compressed after early completions in the order of the queue, second by second."""
    start, due, first, now = {}, {}, {}, 0

    def place(i):
        def fits(t):
            running = {k: start[k] for k in start if now < start[k] + jobs[k].run}
            return all(
                sum(jobs[k].procs for k, begin in (running | due).items() if begin <= second < begin + jobs[k].estimate)
                <= procs - jobs[i].procs
                for second in range(t, t + jobs[i].estimate)
            )

        due.pop(i, None)
        due[i] = next(t for t in range(now, 10_000) if fits(t))
        first.setdefault(i + 1, due[i])

    while len(start) < len(jobs):
        if any(start[i] + jobs[i].run == now < start[i] + jobs[i].estimate for i in start):
            for i in sorted(due):
                place(i)
        for i, job in enumerate(jobs):
            if job.submit == now:
                place(i)
        for i in [i for i in due if due[i] == now]:
            start[i] = due.pop(i)
        now += 1
    return [start[i] for i in range(len(jobs))], first


def with_pools(jobs):
    """Make jobs of those of the other twins."""
    return [Job(i + 1, *job[:3], (job.procs,)) for i, job in enumerate(jobs)]


def schedule(jobs, machine, scheme, **settings):
    """Return starts and promises of jobs that all run once."""
    rows, promise = simulate(jobs, machine, scheme, **settings)
    assert [number for number, _, _ in rows] == [job.number for job in jobs]
    return [start for _, start, _ in rows], promise


@examples(200)
@given(workloads(shortest=1, most=9))
def test_one_resource_without_windows_and_limits_is_the_textbook(workload):
    # "With one pool of one resource, no windows and no limits, every schedule equals today's job by job."
    jobs, procs = workload
    machine = Machine({"all": Pool((procs,))})
    assert schedule(with_pools(jobs), machine, "easy") == textbook_easy(jobs, procs)
    assert schedule(with_pools(jobs), machine, "conservative") == textbook_conservative(jobs, procs)


def twins_order(name):
    """Return the order as the other twins take it: of the time, the submission, the estimate and processors."""
    function = ORDERS[name]
    return lambda now, submit, estimate, procs: (
        function(Job(0, submit, 0, estimate, (procs,)), now) if function else submit
    )


@examples(200)
@given(workloads(most=9), st.sampled_from(sorted(ORDERS)), st.sampled_from([None, "sjf", "wide"]))
def test_one_resource_is_what_the_other_twins_do(workload, name, backfill):
    jobs, procs = workload
    machine = Machine({"all": Pool((procs,))})
    order = twins_order(name)
    plain = with_pools(jobs)
    assert schedule(plain, machine, "fcfs", order=ORDERS[name]) == (twins.fcfs(jobs, procs, order=order), {})

    start, promise = twins.easy(jobs, procs, order=order, backfill=backfill and twins_order(backfill))
    promise = {i + 1: shadow for i, shadow in enumerate(promise) if shadow >= 0}
    assert schedule(plain, machine, "easy", order=ORDERS[name], backfill=ORDERS.get(backfill)) == (start, promise)


@examples(200)
@given(
    workloads(most=9),
    st.sampled_from(sorted(ORDERS)),
    st.sampled_from(["queue", "reservation", "none", "rebuild"]),
    st.sampled_from(["early", "completion"]),
    st.booleans(),
)
def test_compressions_are_what_the_other_twins_do(workload, name, compression, compress_on, repeat):
    jobs, procs = workload
    settings = {"compression": compression, "compress_on": compress_on, "repeat": repeat}
    start, promise = twins.conservative(jobs, procs, order=twins_order(name), **settings)
    machine = Machine({"all": Pool((procs,))})
    answer = schedule(with_pools(jobs), machine, "conservative", order=ORDERS[name], **settings)
    assert answer == (start, {i + 1: t for i, t in enumerate(promise)})


@examples(200)
@given(workloads(most=9), st.integers(1, 3), st.sampled_from([1, 2, 3]))
def test_reservations_and_vetoes_are_what_the_other_twins_do(workload, reservations, refused):
    jobs, procs = workload
    machine = Machine({"all": Pool((procs,))})
    settings = {"reservations": reservations, "may_backfill": lambda job, now: job.number % 3 != refused % 3}
    start, promise = twin_policies.easy(
        jobs, procs, reservations=reservations, may_backfill=lambda job: (job.index + 1) % 3 != refused % 3
    )
    promise = {i + 1: shadow for i, shadow in enumerate(promise) if shadow >= 0}
    assert schedule(with_pools(jobs), machine, "easy", **settings) == (start, promise)


# --- Equalities and laws, with windows and limits ---
@st.composite
def situations(draw, closures=("requeue", "kill"), announced=(0, inf, 0, 3, 9)):
    """Draw jobs of two users and a machine of one pool, with up to two windows and limits."""
    plain, procs = draw(workloads(most=8))
    jobs = []
    for job in with_pools(plain):
        jobs.append(replace(job, columns={"user": draw(st.sampled_from("ab"))}))
    closed = []
    now = 0
    for _ in range(draw(st.sampled_from([2, 1, 2, 0]))):
        window = pick(draw, (5, 8, 2, 3, 12), range(1, 9), (None, (1,), (procs,)), announced)
        now += window[0]
        closed.append(Closed(now, now + window[1], None, *window[2:]))
        now += window[1]
    limits = ((), RUNNING_1, (Limit("user", procs=procs),), (Limit("user", running={"a": 2}),))
    limits, on_closure = pick(draw, limits, closures)
    return jobs, Machine({"all": Pool((procs,))}, ("procs",), closed, limits, on_closure)


def resized(jobs, machine, factors, name):
    """Return jobs and machine with a second resource: so many times the first for jobs, pools and windows."""
    of_jobs, of_machine = factors
    jobs = [replace(job, demands=(job.demands[0], of_jobs * job.demands[0])) for job in jobs]
    closed = [w._replace(amounts=w.amounts and (w.amounts[0], of_machine * w.amounts[0])) for w in machine.closed]
    pools = {key: Pool((pool.capacity[0], of_machine * pool.capacity[0])) for key, pool in machine.pools.items()}
    return jobs, machine._replace(pools=pools, closed=closed, resources=("procs", name))


@pytest.mark.parametrize("scheme", SCHEMES)
@examples(200)
@given(situations())
def test_what_changes_nothing(scheme, situation):
    jobs, machine = situation
    expected = simulate(jobs, machine, scheme)
    # A second resource that nobody needs; one that is proportional to the first.
    assert simulate(*resized(jobs, machine, (0, 1), "gpus"), scheme) == expected
    assert simulate(*resized(jobs, machine, (3, 3), "memory"), scheme) == expected
    # A window beyond the last end; a limit that nobody reaches.
    late = [*machine.closed, Closed(10_000, 10_001)]
    assert simulate(jobs, machine._replace(closed=late), scheme) == expected
    limits = [*machine.limits, Limit("user", running=99, procs={"a": 999}), Limit("partition", gpus=0)]
    assert simulate(jobs, machine._replace(limits=limits), scheme) == expected


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["fcfs", "xfactor"])
@examples(100)
@given(situations(closures=("requeue",)), situations(closures=("requeue",)))
def test_two_pools_are_two_simulations(scheme, name, here, there):
    expected = []
    together = Machine({}, ("procs",), [])
    jobs = []
    for key, (single, machine) in {"here": here, "there": there}.items():
        single = [replace(job, number=(key, job.number), partition=key) for job in single]
        pool = machine.pools["all"]._replace(partitions=(key,))
        expected.append(simulate(single, machine._replace(pools={"all": pool}, limits=()), scheme, ORDERS[name]))
        jobs += single
        together.pools[key] = pool
        together.closed.extend(window._replace(pool=key) for window in machine.closed)
    rows, promise = simulate(jobs, together, scheme, ORDERS[name])
    assert rows == expected[0][0] + expected[1][0]
    assert promise == expected[0][1] | expected[1][1]


@pytest.mark.parametrize("scheme", SCHEMES)
@examples(200)
@given(situations())
def test_laws(scheme, situation):
    # "at each instant, in each pool and resource, no more than the open capacity; no job runs in a window it was told
    # of; limits hold at each instant"
    jobs, machine = situation
    rows, _ = simulate(jobs, machine, scheme)
    (capacity,) = machine.pools["all"].capacity
    by_number = {job.number: job for job in jobs}
    for now in range(max(end for _, _, end in rows)):
        running = [by_number[number] for number, start, end in rows if start <= now < end]
        taken = [w.amounts[0] if w.amounts else capacity for w in machine.closed if w.begin <= now < w.end]
        assert sum(job.demands[0] for job in running) <= capacity - sum(taken)
        for limit in machine.limits:
            for user in "ab":
                same = [job for job in running if job.columns["user"] == user]
                most = limit.running.get(user, 99) if isinstance(limit.running, dict) else limit.running
                assert most is None or len(same) <= most
                assert limit.procs is None or sum(job.demands[0] for job in same) <= limit.procs
    for window in machine.closed:
        for _, start, end in rows:
            if window.amounts is None and start >= window.begin - window.announced and start < end:
                assert end <= window.begin or start >= window.end
    for job in jobs:
        runs = [(start, end) for number, start, end in rows if number == job.number]
        assert job.submit <= runs[0][0]
        assert all(end <= start for (_, end), (start, _) in pairwise(runs))
        whole = min(job.run, max(job.estimate, 1))
        ended = [(start, end) for start, end in runs if end - start != whole]
        assert ended == (runs if machine.on_closure == "kill" and ended else runs[:-1])
        assert len(runs) == 1 or machine.on_closure == "requeue"
        # "At the begin of a window that running jobs did not know of when they started"
        for start, end in ended:
            assert any(end == window.begin and start < window.begin - window.announced for window in machine.closed)


@pytest.mark.parametrize("scheme", ["easy", "conservative"])
@examples(200)
@given(situations(announced=(inf,)))
def test_promises_are_kept_where_all_windows_are_announced(scheme, situation):
    # "promises as ever"
    jobs, machine = situation
    rows, promise = simulate(jobs, machine._replace(limits=()), scheme)
    assert all(start <= promise.get(number, start) for number, start, _ in rows)
