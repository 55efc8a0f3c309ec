"""The naive twin of gang scheduling against cases worked by hand, and the laws that it must obey.

Unless said, a slice takes 100 ns, a switch 3, a message 2 and either end of it 1, so the baseline spin is
2 * 2 + 4 * 1 = 8; delta is 6. A timeline lists (job, what, from, to) of one PE.
"""

from dataclasses import replace
from math import inf

import pytest
from gang_programs import SCHEDULERS, gang_workloads
from hypothesis import assume, given
from twin_gang import COMM, COMP, Job, Settings, simulate

LOCAL = pytest.mark.parametrize("scheduler", ["round-robin", "priority", "spin-block"])
BY_PRIORITY = pytest.mark.parametrize("scheduler", ["priority", "spin-block"])
END = ("end",)


@pytest.fixture(params=SCHEDULERS)
def scheduler(request):
    return request.param


def run(jobs, horizon, scheduler="gang", pes=1, **changes):
    settings = {"slice": 100, "switch": 3, "latency": 2, "overhead": 1, "delta": 6, **changes}
    return simulate(Settings(pes, horizon, scheduler, **settings), jobs)


def emb(*times, arrival=0):
    return Job(arrival, "emb", [[(time, END)] for time in times])


def alone(*program, kind="io", arrival=0):
    """Make a job with a single task."""
    return Job(arrival, kind, [list(program)])


def timeline(result, pe=0):
    return [(job, *rest) for number, job, _, *rest in result.segments if number == pe]


def story(text):
    """Read "0 computing 3-100, idle 100-150" as a timeline."""
    timeline = []
    for piece in text.split(", "):
        *job, what, span = piece.split()
        timeline.append((int(job[0]) if job else -1, what, *map(int, span.split("-"))))
    return timeline


def switches(result):
    return [(job, begin) for job, what, begin, _ in timeline(result) if what == "switching"]


# --- The matrix and the global clock ---
def test_a_job_alone_pays_one_switch_and_runs_on_across_boundaries(scheduler):
    result = run([emb(250)], 300, scheduler)
    assert timeline(result) == story("0 switching 0-3, 0 computing 3-253, idle 253-300")
    assert (result.placed, result.completed, result.computed, result.pe) == ([0], [253], [[250]], [[0]])
    assert result.totals == [{"computing": 250, "communicating": 0, "spinning": 0, "switching": 3, "idle": 47}]
    # Two boundaries, 100 and 200, lie before the horizon: S_COMP 3/4, then 7/8; f_COMP 0.6, then 0.525 / 0.575.
    assert result.S[0][0] == [0.125, 0.125, 0.875]
    assert result.f[0][0][COMP] == pytest.approx(0.525 / 0.575)


def test_two_rows_take_turns_and_a_row_that_ends_early_leaves_its_slice_idle():
    # 97 ns each; at 256 job 0 is done, and its row goes at 300. Job 1 has 53 left, after a switch.
    result = run([emb(150), emb(150)], 400)
    assert timeline(result) == story(
        "0 switching 0-3, 0 computing 3-100, 1 switching 100-103, 1 computing 103-200, 0 switching 200-203, "
        "0 computing 203-256, idle 256-300, 1 switching 300-303, 1 computing 303-356, idle 356-400"
    )


@LOCAL
def test_the_local_scheduler_fills_what_a_finished_task_leaves(scheduler):
    # As above up to 256. Then job 1 has 41 ns until 300, where it goes on without cost, and 12 more.
    result = run([emb(150), emb(150)], 400, scheduler)
    assert timeline(result)[5:] == story("0 computing 203-256, 1 switching 256-259, 1 computing 259-312, idle 312-400")


def test_first_fit_takes_the_first_row_and_the_lowest_columns(scheduler):
    jobs = [emb(9, 9, 9), emb(9, 9), emb(9), emb(9, 9), emb(9, 9)]
    result = run(jobs, 1, scheduler, pes=4)
    assert result.pe == [[0, 1, 2], [0, 1], [3], [2, 3], [0, 1]]
    assert result.placed == [0] * 5


def test_full_nodes_are_left_out(scheduler):
    # At most 2 on a node. At 100 columns 0 and 4 of row 0 are free, and the nodes have 0, 1, 1, 1, 0 tasks. Job 5 opens
    # row 1 on nodes 0 to 2, job 6 row 2 on those that are not full then: 0, 3 and 4. Job 7 fits into row 0, but node 0
    # is full.
    jobs = [emb(9), emb(500), emb(500), emb(500), emb(9)]
    jobs += [emb(9, 9, 9, arrival=50), emb(9, 9, 9, arrival=50), emb(9, arrival=50)]
    result = run(jobs, 101, scheduler, pes=5, max_tasks=2)
    assert result.pe == [[0], [1], [2], [3], [4], [0, 1, 2], [0, 3, 4], [4]]


def test_the_head_of_the_queue_blocks(scheduler):
    # Job 2 would fit beside job 0, and job 1 takes both nodes.
    assert run([emb(9), emb(9, 9), emb(9)], 201, scheduler, pes=2, max_tasks=1).placed == [0, 100, 200]


@pytest.mark.parametrize(("service", "placed"), [(100, 200), (101, 300)])
def test_a_job_waits_until_the_node_has_room(scheduler, service, placed):
    # Job 0 computes from 3 to 100, and its disk is done at 200 or 201.
    result = run([alone((97, ("io", service, "end"))), emb(10)], 301, scheduler, max_tasks=1)
    assert result.completed[0] == 100 + service
    assert result.placed == [0, placed]


@pytest.mark.parametrize(("arrival", "placed"), [(0, 0), (1, 100), (100, 100), (101, 200), (200, -1)])
def test_jobs_are_placed_at_the_boundary_after_their_arrival(scheduler, arrival, placed):
    # At the horizon, 200 or 201, nothing is placed.
    horizon = 200 if placed == -1 else 201
    assert run([emb(10, arrival=arrival)], horizon, scheduler).placed == [placed]


def test_the_row_after_one_that_stays_follows_though_an_earlier_row_has_gone():
    # The disk of job 0 is done at 163, in the slice of job 1 (row 1 of 3). Of the rows up to that one, one stays: the
    # next is row 1 of 2, job 2.
    result = run([alone((10, ("io", 150, "end"))), emb(500), emb(500)], 400)
    assert [job for job, _ in switches(result)] == [0, 1, 2, 1]
    assert result.completed[0] == 163


def test_the_row_after_one_that_goes_takes_its_place():
    # Jobs 0 and 1 have gone at 200: no row stays up to theirs, so the next is row 0, job 2. Job 3 gets a new row.
    result = run([alone((10, ("io", 150, "end"))), emb(20), emb(500), emb(500, arrival=150)], 400)
    assert switches(result) == [(0, 0), (1, 100), (2, 200), (3, 300)]


@pytest.mark.parametrize(
    ("packing", "sizes", "pes"),
    [
        # As the kernel has them (tests/gang): row 0 has two columns left and row 1 one, when the job of one task comes.
        ("first-fit", (2, 3, 1), [[0, 1], [0, 1, 2], [2]]),
        ("best-fit", (2, 3, 1), [[0, 1], [0, 1, 2], [3]]),
        # A block of two begins at an even column; three tasks take a block of four, less the last column.
        ("buddy", (1, 2), [[0], [2, 3]]),
        ("buddy", (3, 1, 2), [[0, 1, 2], [3], [0, 1]]),
    ],
)
def test_packings(packing, sizes, pes):
    assert run([emb(*[10] * size) for size in sizes], 50, pes=4, packing=packing).pe == pes


@pytest.mark.parametrize(("option", "ends"), [({}, [23, 503, 303]), ({"unify": True}, [23, 303, 203])])
def test_unified_rows_run_together(option, ends):
    # Jobs 0 and 1 have row 0, job 2 has row 1; job 0 leaves at 23, and at 100 one row is enough for the others.
    assert run([emb(20), emb(300), emb(100)], 600, pes=2, **option).completed == ends


def test_a_job_of_another_row_runs_where_its_columns_are_free():
    # At 100 it is the turn of row 1, where PE 1 is free for job 1; at 200 of row 0, where PE 0 is free for job 2.
    assert run([emb(20), emb(300), emb(100)], 600, pes=2, alternate=True).completed == [23, 303, 203]


def test_columns_of_a_finished_job_are_free_at_the_boundary(scheduler):
    # Job 0 keeps row 0 alive; job 2 has had to open row 1; job 3 takes the column that job 1 has left.
    result = run([emb(500), emb(9), emb(500, 500), emb(9, arrival=50)], 101, scheduler, pes=2)
    assert result.pe == [[0], [1], [0, 1], [1]]


def test_a_job_counts_on_all_its_nodes_until_its_last_task_is_done(scheduler):
    # PE 0 has nothing to do from 12 to 600, when the task on PE 1 has been done since 503.
    result = run([emb(9, 500), emb(9, arrival=50)], 601, scheduler, pes=2, max_tasks=1)
    assert result.placed == [0, 600]


# --- The horizon ---
@pytest.mark.parametrize(("horizon", "completed"), [(99, -1), (100, 100), (101, 100)])
def test_what_ends_at_the_horizon_is_done(scheduler, horizon, completed):
    # Also where the horizon is a boundary; but no membership is updated there.
    result = run([emb(97)], horizon, scheduler)
    assert result.completed == [completed]
    assert result.computed == [[min(97, horizon - 3)]]
    assert result.S[0][0] == ([0.25, 0.25, 0.75] if horizon > 100 else [0.5] * 3)


# --- Disks ---
def test_the_gang_scheduler_waits_for_the_disk():
    result = run([alone((30, ("io", 40)), (30, END)), emb(500)], 100)
    assert timeline(result) == story("0 switching 0-3, 0 computing 3-33, idle 33-73, 0 computing 73-100")


@LOCAL
def test_the_local_scheduler_keeps_the_pe_for_its_choice_until_the_boundary(scheduler):
    # Job 0 is ready at 73. At 100 comes the row of job 1, which goes on. At 233 job 0 is done.
    result = run([alone((30, ("io", 40)), (30, END)), emb(500)], 300, scheduler)
    assert timeline(result) == story(
        "0 switching 0-3, 0 computing 3-33, 1 switching 33-36, 1 computing 36-200, 0 switching 200-203, "
        "0 computing 203-233, 1 switching 233-236, 1 computing 236-300"
    )


@LOCAL
@pytest.mark.parametrize(("deed", "completed"), [("io", 123), ("think", 36)])
def test_the_disk_serves_one_after_the_other(scheduler, deed, completed):
    # The disk has work from 13 to 113. Job 1 asks for 10 ns at 26; thinking takes no disk. Job 0 goes on at 113, after
    # a switch.
    jobs = [alone((10, ("io", 100)), (10, END)), alone((10, (deed, 10, "end")))]
    assert run(jobs, 150, scheduler).completed == [126, completed]


@pytest.mark.parametrize("deed", ["io", "think"])
def test_what_is_executed_at_a_boundary_belongs_to_the_slice_before(scheduler, deed):
    # The request at 100 counts for the first slice, and nothing is held in the second.
    result = run([alone((97, (deed, 150)), (10, END))], 201, scheduler)
    assert result.S[0][0] == [0.75, 0.25, 0.25]
    assert result.f[0][0] == pytest.approx([0.6, 0.2, 0.2])
    assert timeline(result)[-1] == (-1, "idle", 100, 201)


# --- Choosing by priority ---
@LOCAL
def test_equals_take_turns(scheduler):
    # All priorities are 1 throughout the first slice. Jobs 1 to 3 compute 10, think 5, and so on: at 39 job 1 is ready
    # again, but it is the turn of job 3.
    thinking = [alone(*[(10, ("think", 5))] * 5, (1, END)) for _ in range(3)]
    result = run([alone((10, ("io", 500)), (10, END)), *thinking], 100, scheduler)
    assert switches(result) == [(0, 0), (1, 13), (2, 26), (3, 39), (1, 52), (2, 65), (3, 78), (1, 91)]


@BY_PRIORITY
@pytest.mark.parametrize(("beta", "chosen"), [(1, 1), (1.01, -1)])
def test_a_task_at_beta_is_a_candidate(scheduler, beta, chosen):
    # Priorities start at 1.
    result = run([alone((10, ("io", 500, "end"))), emb(50)], 20, scheduler, beta=beta)
    assert timeline(result)[2][0] == chosen


@BY_PRIORITY
def test_the_task_of_the_row_is_taken_at_any_priority_where_there_is_no_candidate(scheduler):
    # Job 0 has executed a barrier in the first slice: its priority, 0.4, is below beta. So the PE is idle from 113 to
    # 173. When job 1, having computed 27 + 13 ns, blocks at 229, job 0 has been ready since 220, and has the row.
    jobs = [
        alone((10, ("barrier",)), (89, ("io", 7)), (500, END), kind="bsp"),
        alone((10, ("io", 60)), (40, ("io", 500)), (10, END)),
    ]
    assert timeline(run(jobs, 250, scheduler, beta=0.7))[6:] == story(
        "idle 113-173, 1 computing 173-200, 0 switching 200-203, 0 computing 203-213, 1 switching 213-216, "
        "1 computing 216-229, 0 switching 229-232, 0 computing 232-250"
    )


@LOCAL
def test_the_task_of_the_row_competes_when_another_blocks(scheduler):
    # Job 0 is ready at 33. At 36 it has the same priority as job 2, whose turn it is.
    jobs = [alone((10, ("io", 20)), (10, END)), alone((20, ("think", 500, "end"))), emb(20)]
    assert timeline(run(jobs, 72, scheduler))[2:] == story(
        "1 switching 13-16, 1 computing 16-36, 2 switching 36-39, 2 computing 39-59, 0 switching 59-62, "
        "0 computing 62-72"
    )


@BY_PRIORITY
@pytest.mark.parametrize(("beta", "chosen"), [(0.39, 0), (0.41, -1)])
def test_a_task_below_beta_is_not_chosen(scheduler, beta, chosen):
    # After a slice with a barrier f_IO = 0.2 and f_COMP = 0.2, hence the priority of job 0 is 0.4.
    jobs = [alone((10, ("barrier",)), (500, END), kind="bsp"), alone((10, ("io", 500, "end")))]
    result = run(jobs, 200, scheduler, beta=beta)
    assert result.f[0][0] == pytest.approx([0.2, 0.6, 0.2])
    assert timeline(result)[-1][0] == chosen


@LOCAL
def test_a_cut_switch_is_lost_if_another_task_gets_the_pe(scheduler):
    # Job 0 blocks in the first slice and again at 73, until 123: f_IO = 0.6, priority 1.2. Jobs 1 and 2 are placed at
    # 100, and the row after that of job 0 is job 1's. At 198 it blocks; job 0 is chosen before job 2 (priority 1), but
    # at 200 comes the row of job 2. At 213 the switch to job 0 starts from the beginning.
    jobs = [
        alone((10, ("io", 50)), (10, ("io", 50)), (500, END)),
        alone((95, ("io", 500)), (10, END), arrival=50),
        emb(10, arrival=50),
    ]
    result = run(jobs, 230, scheduler)
    assert timeline(result)[4:] == story(
        "idle 73-100, 1 switching 100-103, 1 computing 103-198, 0 switching 198-200, 2 switching 200-203, "
        "2 computing 203-213, 0 switching 213-216, 0 computing 216-230"
    )
    # Job 0 never held the PE in the second slice.
    assert result.S[0][0] == [0.75, 0.25, 0.25]


@LOCAL
@pytest.mark.parametrize(("horizon", "updated"), [(102, False), (201, True)])
def test_a_cut_switch_is_finished_if_the_same_task_gets_the_pe(scheduler, horizon, updated):
    # Job 0 blocks at 98; two thirds of the switch to job 1 are done by 100, when its row comes. It has not held the PE
    # before.
    result = run([alone((95, ("io", 500)), (10, END)), emb(500)], horizon, scheduler)
    assert timeline(result)[2:4] == story(f"1 switching 98-101, 1 computing 101-{horizon}")
    assert result.S[1][0] == ([0.25, 0.25, 0.75] if updated else [0.5] * 3)


# --- Round robin ---
@pytest.mark.parametrize(("scheduler", "chosen"), [("priority", 2), ("spin-block", 2), ("round-robin", 0)])
def test_the_highest_priority_is_chosen_but_for_round_robin_the_next_in_turn(scheduler, chosen):
    # Job 0 has computed for a slice: its priority is 0.6 when job 1 blocks at 113. That of job 2 is 1.
    jobs = [emb(500), alone((10, ("io", 500, "end"))), emb(500)]
    assert timeline(run(jobs, 150, scheduler), 0)[4] == (chosen, "switching", 113, 116)


@pytest.mark.parametrize("beta", [0.3, 2])
def test_round_robin_chooses_tasks_that_communicate(beta):
    # As by priority: that of job 0 is 0.4 after a slice with a barrier.
    jobs = [alone((10, ("barrier",)), (500, END), kind="bsp"), alone((10, ("io", 500, "end")))]
    assert timeline(run(jobs, 200, "round-robin", beta=beta))[-1][0] == 0


# --- Messages and barriers ---
def message(sender, receiver, after=5):
    """Make a job whose rank 0 sends after `sender` ns, and whose rank 1 asks for the message after `receiver` ns."""
    return Job(0, "msg", [[(sender, ("send", 1, 0)), (after, END)], [(receiver, ("recv", 0)), (after, END)]])


def test_a_message_takes_its_time(scheduler):
    # Sent from 23 to 24, it arrives at 26; received from 26 to 27.
    result = run([message(20, 10)], 50, scheduler, pes=2)
    assert timeline(result, 0)[1:] == story("0 computing 3-23, 0 communicating 23-24, 0 computing 24-29, idle 29-50")
    assert timeline(result, 1)[1:] == story(
        "0 computing 3-13, 0 spinning 13-26, 0 communicating 26-27, 0 computing 27-32, idle 32-50"
    )


@pytest.mark.parametrize(("receiver", "spun"), [(22, 1), (23, 0), (24, 0)])
def test_a_message_that_is_there_is_not_waited_for(scheduler, receiver, spun):
    # It arrives at 26, when the receiver asks for it at 25, 26 or 27.
    assert run([message(20, receiver)], 50, scheduler, pes=2).totals[1]["spinning"] == spun


def test_a_barrier_releases_all_at_once(scheduler):
    # The last comes at 23, so all go on at 31, after spins of 18 and 8.
    job = Job(0, "bsp", [[(10, ("barrier",)), (5, END)], [(20, ("barrier",)), (7, END)]])
    result = run([job], 50, scheduler, pes=2)
    assert timeline(result, 0)[2:] == story("0 spinning 13-31, 0 computing 31-36, idle 36-50")
    assert timeline(result, 1)[2:] == story("0 spinning 23-31, 0 computing 31-38, idle 38-50")
    assert result.completed == [38]


@pytest.mark.parametrize(("statements", "expected"), [(1, COMM), (2, COMP)])
def test_a_spin_that_goes_on_counts_as_a_statement_of_the_next_slice(statements, expected):
    # In each of the two slices the receiver has one statement: the receive, then getting the PE inside it.
    result = run([message(250, 10)], 201, pes=2, statements=statements)
    assert result.S[0][1][expected] == 0.875
    assert result.S[0][0] == [0.125, 0.125, 0.875]


def test_a_send_is_a_statement(scheduler):
    assert run([message(20, 10)], 101, scheduler, pes=2).S[0] == [[0.25, 0.75, 0.25]] * 2


def test_io_counts_in_its_slice_only(scheduler):
    assert run([alone((10, ("io", 10)), (500, END))], 201, scheduler).S[0][0] == [0.375, 0.125, 0.625]


@pytest.mark.parametrize(("both", "m_io"), [(True, 0.5), (False, 0)])
def test_a_slice_with_io_and_statements_gives_both_measurements(both, m_io):
    result = run([alone((10, ("barrier",)), (10, ("io", 10)), (500, END))], 101, both=both)
    assert result.S[0][0] == [0.25 + m_io, 0.75, 0.25]


# --- Spin control: jobs 0 send a message, job 1 is interactive and takes both PEs in row 1 ---
KEEN = Job(0, "interactive", [[(500, END)], [(500, END)]])


@pytest.mark.parametrize(
    ("jobs", "settings", "end"),
    [
        # Without spin control a spin goes on until the message is there.
        ([message(16, 10), KEEN], {"scheduler": "gang"}, 22),
        ([message(16, 10), KEEN], {"scheduler": "priority"}, 22),
        # A spin blocks only if more than delta is left: at 21 there are 79 ns left.
        ([message(16, 10), KEEN], {"delta": 78}, 21),
        ([message(16, 10), KEEN], {"delta": 79}, 22),
        # It blocks only for io and interactive tasks: in the first slice, where all memberships are equal, none is io.
        ([message(16, 10), Job(0, "io", KEEN.programs)], {}, 22),
        # It does not block for its own task.
        ([replace(message(30, 10), kind="interactive")], {}, 36),
    ],
)
def test_a_spin_ends_with_its_message_or_at_its_check(jobs, settings, end):
    result = run(jobs, 100, **{"scheduler": "spin-block", "pes": 2, **settings})
    assert timeline(result, 1)[2] == (0, "spinning", 13, end)


def test_a_message_that_arrives_at_the_check_ends_the_spin():
    # Sent from 18 to 19, it arrives at 21, the baseline after the spin began at 13.
    result = run([message(15, 10), KEEN], 100, "spin-block", pes=2)
    assert timeline(result, 1)[2:4] == story("0 spinning 13-21, 0 communicating 21-22")


def test_a_spin_that_outlasts_the_baseline_blocks():
    # The message arrives at 22, which job 0 learns when its row comes again.
    result = run([message(16, 10), KEEN], 209, "spin-block", pes=2)
    assert timeline(result, 1)[2:] == story(
        "0 spinning 13-21, 1 switching 21-24, 1 computing 24-200, 0 switching 200-203, 0 communicating 203-204, "
        "0 computing 204-209"
    )


@pytest.mark.parametrize(("start", "end"), [(100, 121), (200, 221), (300, 322)])
def test_a_spin_blocks_for_a_task_that_is_classified_io(start, end):
    # Job 0 blocks in the first slice, and only computes from then on: f_IO is 0.6 at 100 and at 200, but at 300 it is
    # 0.1125 / 0.3875, and f_COMP 0.2708 / 0.3875. Job 1 comes to row 1 then.
    io = Job(0, "io", [[(10, ("io", 40)), (500, END)]] * 2)
    result = run([io, replace(message(16, 10), arrival=start - 50)], start + 50, "spin-block", pes=2)
    assert [row for row in timeline(result, 1) if row[1] == "spinning"] == [(1, "spinning", start + 13, end)]


# --- Memberships ---
def test_memberships_have_a_floor():
    # SIL-1 up to the second slice. In the third 0.003155 is raised to 0.01 for two classes: the sum is 1.013691.
    job = alone(*[(30, ("io", 20))] * 20, (1, END))
    f = run([job], 301, floor=0.01).f[0][0]
    assert f == pytest.approx([0.993691 / 1.013691, 0.01 / 1.013691, 0.01 / 1.013691], abs=5e-7)


def test_memberships_by_an_average_over_the_last_slices():
    # I/O in two slices, then computing only. The first slice is an average of one. In the third S_IO and S_COMP are
    # equal, so f_IO still is 100 times f_COMP; in the fourth S_IO is 0.
    job = alone((30, ("io", 20)), (80, ("io", 20)), (500, END))
    for slices, measurements, memberships in (
        (1, [0.5, 0, 0], [1 / 1.02, 0.01 / 1.02, 0.01 / 1.02]),
        (2, [0.5, 0, 0], [1 / 1.02, 0.01 / 1.02, 0.01 / 1.02]),
        (3, [0.25, 0, 0.25], [1 / 1.01 / (1 / 1.01 + 0.02), *[0.01 / (1 / 1.01 + 0.02)] * 2]),
        (4, [0, 0, 0.5], [0.01 / 1.02, 0.01 / 1.02, 1 / 1.02]),
    ):
        result = run([job], 100 * slices + 1, floor=0.01, window=2)
        assert result.S[0][0] == measurements
        assert result.f[0][0] == pytest.approx(memberships)


# --- Disks and computing ---
@pytest.mark.parametrize(
    ("scheduler", "horizon", "disk"), [("gang", 100, (40, 0)), ("priority", 100, (40, 37)), ("priority", 60, (27, 24))]
)
def test_how_long_a_pe_computes_while_its_disk_works(scheduler, horizon, disk):
    # The disk works from 33 to 73. Job 1, if it is chosen, computes from 36 on.
    assert run([alone((30, ("io", 40)), (30, END)), emb(500)], horizon, scheduler).disk == [disk]


def test_neither_spinning_nor_switching_nor_communicating_is_computing():
    # The disk of PE 1 works from 10 to 110. Job 1 sends from 39 to 40 on PE 0. On PE 1 it computes from 13 to 23,
    # spins, receives from 42 to 43, and computes to 48.
    result = run([Job(0, "io", [[(3, END)], [(7, ("io", 100, "end"))]]), message(30, 10)], 100, "priority", pes=2)
    assert result.totals[1] == {"computing": 22, "communicating": 1, "spinning": 19, "switching": 6, "idle": 52}
    assert result.disk == [(0, 0), (90, 15)]


# --- Laws, beside those of `schedlab.gang.laws`, which hold for the kernel's schedules, equal to the twin's ---
def replay(settings, result, job, rank, program):
    """Walk through a program along the segments of its task, of which nothing may be left over.

    Return, for each step that began, (first moment, moment of the operation, first and last moment of its o), with None
    for what had not happened by the horizon.
    """
    left = [
        [what, begin, end]
        for _, j, r, what, begin, end in result.segments
        if (j, r) == (job, rank) and what in ("computing", "communicating")
    ]

    def take(what, amount):
        """Consume this much of the segments; return its begin, and its end if all of it was done."""
        begin = left[0][1] if left else None
        while left and amount:
            assert left[0][0] == what
            part = min(amount, left[0][2] - left[0][1])
            amount -= part
            left[0][1] += part
            end = left[0][1]
            if left[0][1] == left[0][2]:
                left.pop(0)
        return begin, end if begin is not None and amount == 0 else None

    steps = []
    for compute, operation in program:
        begin, executed = take("computing", compute)
        cost = (None, None)
        if executed is not None and operation[0] in ("send", "recv"):
            cost = take("communicating", settings.overhead)
        if begin is not None:
            steps.append((begin, executed, *cost))
    assert not left
    return steps


def check_causes(settings, jobs, result):
    """Check that nothing goes on before what it waits for (disk, thinking, message or barrier), and that jobs end then.

    Return, for each task, the times from and to which it is blocked by its disk or its thinking, or done.
    """
    baseline = 2 * settings.latency + 4 * settings.overhead
    walks = {
        (j, r): replay(settings, result, j, r, program)
        for j, job in enumerate(jobs)
        for r, program in enumerate(job.programs)
    }
    requests = [[] for _ in range(settings.pes)]
    arrivals, barriers = {}, {}
    for (j, r), steps in walks.items():
        for i, (_, executed, _, end) in enumerate(steps):
            operation = jobs[j].programs[r][i][1]
            if operation[0] == "io" and executed is not None:
                requests[result.pe[j][r]].append((executed, operation[1], (j, r, i)))
            elif operation[0] == "send" and end is not None:
                arrivals[j, operation[1], operation[2]] = end + settings.latency
            elif operation[0] == "barrier" and executed is not None:
                number = [other[0] for _, other in jobs[j].programs[r][:i]].count("barrier")
                barriers.setdefault((j, number), []).append(executed)
    served = {}
    for queue in requests:
        disk_free = 0
        for when, service, name in sorted(queue):
            disk_free = served[name] = max(when, disk_free) + service

    absences = {name: [] for name in walks}
    for j, job in enumerate(jobs):
        ends = []
        for r, program in enumerate(job.programs):
            steps, barrier = walks[j, r], 0
            for i, (_, executed, begin, _) in enumerate(steps):
                operation = program[i][1]
                following = steps[i + 1][0] if i + 1 < len(steps) else None
                free_to_go = executed
                if operation[0] == "io" and executed is not None:
                    free_to_go = served[j, r, i]
                elif operation[0] == "think" and executed is not None:
                    free_to_go = executed + operation[1]
                elif operation[0] == "recv" and begin is not None:
                    assert begin >= max(executed, arrivals[j, r, operation[1]])
                elif operation[0] == "barrier":
                    if following is not None:
                        assert len(barriers[j, barrier]) == job.size
                        free_to_go = max(barriers[j, barrier]) + baseline
                    barrier += 1
                if following is not None:
                    assert following >= free_to_go
                if operation[-1] == "end":
                    ends.append(free_to_go)
                if executed is not None and operation[-1] == "end":
                    absences[j, r].append((executed, inf))
                elif executed is not None and operation[0] in ("io", "think"):
                    absences[j, r].append((executed, free_to_go))
        all_ended = len(ends) == job.size and None not in ends and max(ends) <= settings.horizon
        assert result.completed[j] == (max(ends) if all_ended else -1)
    return absences


@given(gang_workloads())
def test_nothing_goes_on_before_what_it_waits_for(workload):
    # The other laws are those of `schedlab.gang.laws`, which hold for the kernel's schedules, equal to the twin's.
    settings, jobs = workload
    check_causes(settings, jobs, simulate(settings, jobs))


@given(gang_workloads(schedulers=["priority", "round-robin"]))
def test_no_pe_is_idle_while_a_candidate_is_ready(workload):
    # With beta this low every task is a candidate, and spinning tasks hold their PE.
    settings, jobs = workload
    settings = replace(settings, beta=1e-9)
    result = simulate(settings, jobs)
    absences = check_causes(settings, jobs, result)
    for pe, _, _, what, begin, end in result.segments:
        for j, r in absences:
            if what == "idle" and result.pe[j][r] == pe and result.placed[j] < end:
                assert result.placed[j] <= begin
                assert covered(begin, end, absences[j, r])


def covered(begin, end, spans):
    """Tell whether spans in order of time cover everything from begin to end."""
    for start, stop in spans:
        if start <= begin < stop:
            begin = stop
    return begin >= end


@given(gang_workloads(fewest=1))
def test_all_jobs_end_in_time(workload):
    settings, jobs = workload
    horizons = (slices * settings.slice for slices in (50, 500, 5000))
    assert any(-1 not in simulate(replace(settings, horizon=horizon), jobs).completed for horizon in horizons)


@given(gang_workloads(fewest=1, most=1))
def test_schedulers_do_not_matter_to_a_job_alone(workload):
    settings, jobs = workload
    results = [simulate(replace(settings, scheduler=name), jobs) for name in SCHEDULERS]
    assert all(result == results[0] for result in results)


@given(gang_workloads(schedulers=["priority"], kinds=("emb", "msg", "bsp")))
def test_spin_control_is_inactive_without_io(workload):
    settings, jobs = workload
    assert simulate(settings, jobs) == simulate(replace(settings, scheduler="spin-block"), jobs)


@given(gang_workloads())
def test_a_longer_horizon_continues_a_shorter_one(workload):
    settings, jobs = workload
    assume(settings.horizon > 1)
    whole = simulate(settings, jobs)
    middle = settings.horizon // 2
    half = simulate(replace(settings, horizon=middle), jobs)
    assert half.segments == [(*row[:5], min(row[5], middle)) for row in whole.segments if row[4] < middle]
