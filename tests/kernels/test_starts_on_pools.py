"""How each job came to start on machines of several pools: against naive labels made by the definition.

Rows list (submit, run, estimate, demands), and the tables were worked out on paper.
"""

from dataclasses import replace
from math import inf
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels.test_pools import ORDERS, RESOURCES, SCHEMES, as_pools, as_trace, clusters, rows_of
from twin_pool_starts import started_by
from twin_pools import Closed, Job, Limit, Machine, Pool
from twin_starts import EXTRA, HEAD, WITHIN
from workloads import LENGTHS, examples

import schedlab as sl


def compare(jobs, machine, scheme, order="fcfs", backfill=None):
    """Simulate and validate; return the pieces, the labels and those of the twin, for the same pieces."""
    own, (name, key, settings) = SCHEMES[scheme](ORDERS[order], ORDERS.get(backfill))
    schedule = sl.simulate(as_trace(jobs, machine), own, machine=as_pools(machine)).validate()
    pieces, expected = started_by(jobs, machine, name, key, **settings)
    assert rows_of(schedule)[0] == pieces
    return pieces, list(schedule.started_by), expected


def on_one_pool(rows, capacity, scheme, order="fcfs", closed=(), limits=(), users=None):
    """Return the start of the last run of each job and the label, which the twin shares."""
    jobs = [Job(i, *row[:3], row[3], "a", {"user": "x"}) for i, row in enumerate(rows, start=1)]
    if users:
        jobs = [replace(job, columns={"user": user}) for job, user in zip(jobs, users, strict=True)]
    machine = Machine({"a": Pool(capacity, ("a",))}, ("procs", "gpus")[: len(capacity)], closed, limits)
    pieces, labels, expected = compare(jobs, machine, scheme, order)
    assert labels == expected
    return list({number: start for number, start, _ in pieces}.values()), labels


# Worked by hand ---------------------------------------------------------------------------------------------
def test_a_job_ends_before_the_first_could_start_or_takes_what_it_leaves_over():
    # On 5 processors and 2 GPUs, closed in [8, 10). Job 2 waits for job 1, until 6, and leaves 2 processors over. Job 3
    # ends at 6; job 4 takes a processor until 8. Job 5 would take a GPU of job 2. At 5 it is the first, and waits for
    # the end of the window, for it would run into it; job 6 ends before that.
    rows = [
        (0, 4, 6, (3, 0)),
        (1, 2, 2, (3, 2)),
        (1, 3, 5, (1, 1)),
        (1, 3, 7, (1, 0)),
        (1, 2, 7, (1, 1)),
        (5, 1, 2, (1, 0)),
    ]
    expected = [0, 4, 1, 1, 10, 5], [HEAD, HEAD, WITHIN, EXTRA, HEAD, WITHIN]
    assert on_one_pool(rows, (5, 2), "easy", closed=[Closed(8, 10)]) == expected


def test_who_is_over_a_limit_is_not_overtaken():
    # Each user may run one job. Job 3 starts while job 2, of the user of job 1, is held back.
    rows = [(0, 4, 4, (2,)), (1, 2, 2, (1,)), (2, 2, 2, (1,))]
    expected = [0, 4, 2], [HEAD] * 3
    assert on_one_pool(rows, (4,), "easy", limits=[Limit("user", running=1)], users="xxy") == expected


def test_the_label_is_of_the_last_run():
    # On 4 processors, of which 2 are closed in [3, 6). Job 2 starts as a head, is ended at 3 and starts again at 6,
    # ahead of job 3, which is wider and could start at 8 beside it.
    rows = [(0, 8, 8, (2,)), (0, 4, 4, (1,)), (1, 1, 3, (3,))]
    closed = [Closed(3, 6, amounts=(2,), announced=0)]
    assert on_one_pool(rows, (4,), "easy", "wide", closed=closed) == ([0, 6, 8], [HEAD, EXTRA, HEAD])


def test_a_first_waiting_job_may_fit_now():
    # On 2 processors. Job 2 is reserved at 8, where job 1 should end, and stays there. When job 3 starts at 7, job 2
    # could start at once. On one pool without limits the label is this one; nobody reaches the limit.
    rows = [(0, 0, 8, (2,)), (0, 1, 1, (1,)), (7, 0, 1, (1,))]
    expected = [0, 8, 7], [HEAD, HEAD, EXTRA]
    for limits in ((), [Limit("user", running=9)]):
        assert on_one_pool(rows, (2,), "conservative none early False", limits=limits) == expected


def test_a_job_that_comes_within_its_limits_and_starts_at_once_held_no_reservation():
    # On 4 processors; each user may run one job. Job 3 waits for job 1, until 9. Job 4 is over its limit until job 2
    # ends at 2, and starts then.
    rows = [(0, 9, 9, (1,)), (0, 2, 2, (1,)), (1, 1, 1, (4,)), (1, 1, 1, (1,))]
    expected = [0, 0, 9, 2], [HEAD, HEAD, HEAD, WITHIN]
    limits = [Limit("user", running=1)]
    assert on_one_pool(rows, (4,), "conservative queue early False", limits=limits, users="zxyx") == expected


# Equal to the twin ------------------------------------------------------------------------------------------
def crowd(seed):
    """Draw a cluster as `clusters` does, with more jobs that come almost at once, so that more of them wait."""
    random = Random(seed)
    resources = random.choice((1, 2, 3))
    names = random.choice(("a", "a", "ab"))
    jobs = []
    for i, submit in enumerate(sorted(random.choices(range(9), k=14)), start=1):
        run = random.choice(LENGTHS)
        over = random.choice((0, 0, 2, 8))
        demands = (random.choice((1, 1, 2, 3, 6)), random.choice((0, 0, 1, 4)), random.choice((0, 1, 5)))[:resources]
        columns = {"user": random.choice("xyz"), "qos": random.choice("pq")}
        jobs.append(Job(i, submit, run, run + over, demands, random.choice(names), columns))
    closed = []
    for begin in random.choice(((), (4,), (3, 9))):
        amounts = random.choice(((3, 2, 2), (4, 1, 3), (6, 4, 6)))[:resources]
        closed.append(Closed(begin, begin + random.randint(2, 5), "a", amounts, random.choice((0, 0, 9, inf))))
    limits = random.choice(((), (), (Limit("user", running=2),), (Limit("qos", running={"p": 1}, procs=7),)))
    served = {name: Pool((6, 4, 6)[:resources], (name,)) for name in names}
    return jobs, Machine(served, RESOURCES[:resources], closed, limits, random.choice(("requeue", "kill")))


FORMS = ["fcfs", "easy", "veto", "three reservations"]
FORMS += ["conservative queue early False", "conservative none early False"]


def check(cluster, scheme, order, backfill):
    _, labels, expected = compare(*cluster, scheme, order, backfill)
    assert labels == expected


@pytest.mark.parametrize("scheme", FORMS)
@examples(200)
@given(clusters(), st.sampled_from(sorted(ORDERS)), st.sampled_from([None, "sjf", "wide"]))
def test_the_labels_are_what_the_definition_says(scheme, cluster, order, backfill):
    check(cluster, scheme, order, backfill)


@pytest.mark.parametrize("scheme", FORMS)
def test_the_labels_are_what_the_definition_says_where_many_wait(scheme):
    for seed in range(60):
        order = sorted(ORDERS)[seed % len(ORDERS)]
        check(crowd(seed), scheme, order, (None, "sjf", "wide")[seed % 3])
