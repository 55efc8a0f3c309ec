"""How each job came to start: against naive schedulers that label at each decision, and against the definition.

Tables list (submit, run, estimate, procs), and were worked out on paper; the comments tell the story of the schedule.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import twin_starts
from hypothesis import given
from hypothesis import strategies as st
from twin_starts import EXTRA, HEAD, RESERVATION, WITHIN
from twins import table
from workloads import examples, trace_of, workloads

import schedlab as sl

pytestmark = pytest.mark.reduced

SCHEMES = {
    "fcfs": sl.FCFS(),
    "easy": sl.EASY(),
    "easy-sjf": sl.EASY(order="sjf"),
    "conservative": sl.Conservative(compression="none"),
}
TWINS = {
    "fcfs": twin_starts.fcfs,
    "easy": twin_starts.easy,
    "easy-sjf": lambda jobs, procs: twin_starts.easy(jobs, procs, "sjf"),
    "conservative": twin_starts.conservative,
}


@sl.python_scheme
def first_fit(state):
    for job in state.queue:
        if job.procs <= state.free:
            state.start(job)


def run(scheme, jobs, procs):
    """Simulate and validate; return the starts and the labels."""
    schedule = sl.simulate(trace_of(jobs, procs), scheme).validate()
    return schedule.start.tolist(), list(schedule.started_by)


def by_definition(jobs, procs, start, order="fcfs", reserved=(), passing=True):
    """Label from the starts alone, and from the jobs that held a reservation before the instant of their start.

    With `passing`, jobs of no length run at the instant of their start.
    """
    labels = []
    queue = sorted(range(len(jobs)), key=lambda j: (jobs[j].estimate if order == "sjf" else 0, jobs[j].submit, j))
    for j, now in enumerate(start):
        first = next((i for i in queue if jobs[i].submit <= now < start[i]), None)
        if first is None or queue.index(j) < queue.index(first):
            labels.append(HEAD)
        elif j in reserved:
            labels.append(RESERVATION)
        else:
            running = [i for i in queue if start[i] <= now < start[i] + max(jobs[i].run, passing)]
            held = [(start[i] + jobs[i].estimate, jobs[i].procs) for i in running]
            free = {t: procs - sum(p for end, p in held if end > t) for t in [now, *(max(end, now) for end, _ in held)]}
            shadow = min(t for t in free if free[t] >= jobs[first].procs)
            labels.append(WITHIN if now + jobs[j].estimate <= shadow else EXTRA)
    return labels


def told(labels, jobs, procs, start, order="fcfs"):
    """Return the labels that the starts alone can tell, and "backfilled" for others.

    The starts do not tell which jobs of no length still ran when the last start of an instant was made, and the shadow
    time may depend on it.
    """
    some, other = (by_definition(jobs, procs, start, order, passing=passing) for passing in (True, False))
    return [
        "backfilled" if one != another and label in (WITHIN, EXTRA) else label
        for label, one, another in zip(labels, some, other, strict=True)
    ]


# The twin ---------------------------------------------------------------------------------------------------
# On 5 processors. At 1 job 1 is the head, its shadow time is 6 and leaves 1 processor over. Job 2 ends at 3; job 3 ends
# at 10 and takes the processor left over. Job 0 ends early at 4, and job 1 starts. Job 4 comes at 5 and has to wait
# until 7; it takes no time, and job 5 starts in the next pass.
JOBS = table((0, 4, 6, 3), (1, 3, 3, 4), (1, 2, 2, 1), (1, 9, 9, 1), (5, 0, 2, 4), (5, 2, 2, 1))


def test_easy_worked_by_hand():
    expected = [0, 4, 1, 1, 7, 7], [HEAD, HEAD, WITHIN, EXTRA, HEAD, HEAD]
    assert twin_starts.easy(JOBS, 5) == run("easy", JOBS, 5) == expected


def test_conservative_worked_by_hand():
    # On 5 processors. Jobs 2, 3 and 4 are reserved at 8, 12 and 6, where jobs 1, 2 and 0 should end. Jobs 0 and 1 end
    # early, but nothing is moved: job 4 starts at 6, ahead of job 2. Job 5 comes then and ends at 8, where job 2 could
    # start. Job 6 takes the one processor that job 2 leaves over, until job 3 needs it at 12.
    jobs = table((0, 4, 6, 3), (0, 5, 8, 2), (1, 4, 4, 4), (1, 6, 6, 5), (1, 2, 2, 2), (6, 2, 2, 1), (6, 6, 6, 1))
    expected = [0, 0, 8, 12, 6, 6, 6], [HEAD, HEAD, HEAD, HEAD, RESERVATION, WITHIN, EXTRA]
    assert twin_starts.conservative(jobs, 5) == run(SCHEMES["conservative"], jobs, 5) == expected


def test_a_head_that_blocked_may_start_in_a_later_pass_of_the_instant():
    # On 2 processors. Job 0 takes one and keeps job 1 from starting; job 2 ends before job 0 should. But job 0 takes no
    # time, nor does job 2: job 1 starts at the same instant, and job 2 was ahead of none that still waits.
    jobs = table((0, 0, 8, 1), (0, 3, 3, 2), (0, 0, 0, 1))
    expected = [0, 0, 0], [HEAD, HEAD, HEAD]
    assert twin_starts.easy(jobs, 2) == run("easy", jobs, 2) == expected
    # On 4 processors. Job 3 starts in the first pass since it ends by 3, as job 0 should. In the second pass job 1
    # takes the machine until 2. Job 2 still waits, for 2 and not for 3, and leaves three processors over.
    jobs = table((0, 0, 3, 1), (0, 2, 2, 4), (0, 1, 9, 1), (0, 0, 3, 1))
    expected = [0, 0, 2, 0], [HEAD, HEAD, HEAD, EXTRA]
    assert twin_starts.easy(jobs, 4) == run("easy", jobs, 4) == expected


def test_jobs_of_no_length_count_in_all_passes_of_their_instant():
    # On 4 processors. Job 1 could start at 4, and leaves one processor over. Job 2 takes this one for no time, so that
    # job 3 takes it in the next pass. As both count as holding one until 5, job 1 could not start before.
    jobs = table((0, 4, 4, 2), (0, 1, 1, 3), (0, 0, 5, 1), (0, 2, 5, 1))
    assert twin_starts.easy(jobs, 4) == ([0, 4, 0, 0], [HEAD, HEAD, EXTRA, EXTRA])
    assert run("easy", jobs, 4) == ([0, 4, 0, 0], [HEAD, HEAD, WITHIN, WITHIN])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_more_jobs_of_no_length_than_processors_may_end_at_one_instant(scheme):
    # A kernel that made room for only as many as can run at once would write past its end; with the JIT off, that
    # raises.
    jobs = table(*[(0, 0, 1, 1)] * 5)
    expected = TWINS[scheme](jobs, 1)
    assert expected[1][0] == HEAD
    assert run(SCHEMES[scheme], jobs, 1) == expected


# Equal to the twin ------------------------------------------------------------------------------------------
@examples(500)
@given(workloads())
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_labels_are_those_of_a_scheduler_that_labels_as_it_decides(scheme, workload):
    jobs, procs = workload
    expected, labels = TWINS[scheme](jobs, procs)
    start, found = run(SCHEMES[scheme], jobs, procs)
    assert start == expected
    if scheme != "conservative":  # under which all starts of an instant are made in one pass
        found, labels = (told(each, jobs, procs, start, scheme.removeprefix("easy-")) for each in (found, labels))
    assert found == labels


# Equal to the definition ------------------------------------------------------------------------------------
def first_reservations(jobs, procs, reservations):
    """Return when each job gets its first reservation under EASY with several, and the starts."""
    when = {}

    @sl.python_scheme
    def easy(state):
        for job in state.queue:
            if state.fits(job):
                state.start(job)
            elif len(state.reserved) < reservations:
                state.reserve(job, state.earliest(job))
                when.setdefault(job.place, state.now + jobs[0].submit)

    start = sl.simulate(trace_of(jobs, procs), easy).start.tolist()
    return when, start


@examples(400)
@given(workloads())
@pytest.mark.parametrize("scheme", ["dpsan", "easy-sjbf", "conservative", "log", first_fit], ids=str)
def test_the_labels_are_what_the_definition_says(scheme, workload):
    jobs, procs = workload
    if scheme == "log":
        trace = as_log(jobs, procs, twin_starts.easy(jobs, procs)[0])
        schedule = sl.recorded(trace).validate()
        start, found = schedule.start.tolist(), list(schedule.started_by)
    else:
        start, found = run(scheme, jobs, procs)
    reserved = {j for j, job in enumerate(jobs) if job.submit < start[j]} if scheme == "conservative" else set()
    expected = by_definition(jobs, procs, start, reserved=reserved)
    assert told(found, jobs, procs, start) == told(expected, jobs, procs, start)


@examples(400)
@given(workloads(), st.integers(2, 3))
def test_with_several_reservations_the_labels_are_what_the_definition_says(workload, reservations):
    jobs, procs = workload
    when, expected = first_reservations(jobs, procs, reservations)
    start, found = run(sl.EASY(reservations=reservations), jobs, procs)
    assert start == expected
    labels = by_definition(jobs, procs, start, reserved={j for j in when if when[j] < start[j]})
    # Reservations made in an earlier pass of the instant are in the next test.
    clear = [j for j in range(len(jobs)) if when.get(j) != start[j]]
    found, labels = told(found, jobs, procs, start), told(labels, jobs, procs, start)
    assert [found[j] for j in clear] == [labels[j] for j in clear]


def test_a_reservation_of_an_earlier_pass_of_the_instant_counts():
    # On 2 processors. At 0 jobs 1 and 2 get the two reservations. At 1 they start, and jobs 3 and 4 get some. Job 1
    # takes no time: in the next pass of this instant job 4 starts, ahead of job 3.
    jobs = table((0, 1, 1, 2), (0, 0, 1, 1), (0, 3, 3, 1), (0, 1, 1, 2), (0, 1, 1, 1))
    when, start = first_reservations(jobs, 2, 2)
    assert (when, start) == ({1: 0, 2: 0, 3: 1, 4: 1}, [0, 1, 1, 4, 1])
    assert run(sl.EASY(reservations=2), jobs, 2) == (start, [HEAD, HEAD, HEAD, HEAD, RESERVATION])


def as_log(jobs, procs, start):
    """Make a trace of a log whose jobs started then."""
    trace = trace_of(jobs, procs)
    waits = trace.jobs.assign(wait_time=np.subtract(start, [job.submit for job in jobs]))
    return replace(trace, table=waits, name="a log", source="file")


# Where labels are -------------------------------------------------------------------------------------------
@pytest.mark.tables
@pytest.mark.parametrize("scheme", ["easy", "conservative"])
def test_the_table_of_jobs_has_them_and_measures_are_by_them(scheme):
    schedule = sl.simulate(trace_of(JOBS, 5), scheme).validate()
    labels = pd.Series(schedule.started_by, index=schedule.jobs.index, name="started_by")
    pd.testing.assert_series_equal(schedule.jobs["started_by"], labels)
    rows = schedule.metrics(by="started_by")
    assert rows.index.tolist() == [HEAD, RESERVATION, WITHIN, EXTRA]
    assert rows["jobs"].tolist() == [4, 0, 1, 1]
    assert rows["wait_time"][WITHIN] == 0
    assert rows["wait_time"][HEAD] == 7 / 4


@examples(100)
@given(workloads(), st.sampled_from(["first-free", "contiguous", "random"]))
def test_on_a_tree_a_job_is_a_head_or_backfilled(workload, allocation):
    jobs, procs = workload
    tree = sl.KaryTree(k=4, n=2, allocation=allocation)
    for scheme in ("fcfs", "easy"):
        schedule = sl.simulate(trace_of(jobs, procs), scheme, machine=tree).validate()
        assert schedule.started_by.categories.tolist() == ["head", "backfilled"]
        assert (schedule.started_by == "backfilled").tolist() == schedule.jobs["backfilled"].tolist()
        assert schedule.jobs["started_by"].tolist() == list(schedule.started_by)


@examples(50)
@given(workloads(), st.lists(st.sampled_from(["short", "long"]), min_size=14, max_size=14))
@pytest.mark.parametrize("scheme", ["easy", "conservative"])
def test_each_partition_has_labels_of_its_own(scheme, workload, where):
    jobs, procs = workload
    trace = trace_of(jobs, 2 * procs)
    trace = replace(trace, table=trace.jobs.assign(where=where[: len(jobs)]))
    machine = sl.Partitions({"short": procs, "long": procs}, column="where")
    labels = sl.simulate(trace, scheme, machine=machine).validate().jobs["started_by"]
    for name in set(where[: len(jobs)]):
        alone = sl.simulate(trace.where(f"where == '{name}'"), scheme, machine=procs).validate()
        assert labels[alone.jobs.index].tolist() == list(alone.started_by)


def test_jobs_that_run_in_pieces_have_none():
    trace = sl.model_trace("lublin", jobs=40, machine=32, seed=5).with_parameter_sweeps(0.3)
    schedule = sl.simulate(trace, "ojs").validate()
    with pytest.raises(ValueError, match="started_by needs jobs that run in one piece; OJS may split them"):
        _ = schedule.started_by
    assert "started_by" not in schedule.jobs
    with pytest.raises(ValueError, match="unknown classes 'started_by'"):
        schedule.metrics(by="started_by")
