"""The laws of gang scheduling, one function each: what `GangSchedule.validate` checks, to the nanosecond.

Each takes a `GangSchedule` and raises a `ScheduleError` that names the job and task or the PE where its law is broken.
"""

import numpy as np

from schedlab.kernels.gang import state
from schedlab.schedule import ScheduleError

from .config import DOES, EQUAL
from .times import nanoseconds


def check(schedule) -> None:
    """Check every law that applies, given the scheduler and whether a log was kept."""
    times_of_a_pe_add_up_to_the_horizon(schedule)
    tasks_compute_what_their_programs_say(schedule)
    tasks_take_the_duration_of_their_job(schedule)
    tasks_end_no_sooner_than_they_can(schedule)
    pes_compute_what_their_tasks_compute(schedule)
    pes_overlap_io_only_while_they_compute(schedule)
    jobs_are_placed_in_order_of_arrival(schedule)
    jobs_are_placed_at_global_switches(schedule)
    tasks_of_a_job_have_pes_of_their_own(schedule)
    pes_hold_no_more_tasks_than_they_may(schedule)
    jobs_know_how_many_tasks_are_left(schedule)
    jobs_end_with_their_last_task(schedule)
    memberships_add_up_to_one(schedule)
    if schedule.logged is not None:
        the_log_leaves_no_gap(schedule)
        a_log_of_all_adds_up_to_the_times(schedule)
        tasks_run_where_they_are_placed(schedule)
        if not schedule.rules.priority:
            tasks_run_in_the_turn_of_their_row(schedule)


def times_of_a_pe_add_up_to_the_horizon(schedule) -> None:
    """The times of each PE add up to the horizon, and none is negative."""
    times, horizon = schedule.times, schedule.rules.horizon
    for pe in np.flatnonzero((times.sum(axis=0) != horizon) | (times < 0).any(axis=0)):
        spent = ", ".join(f"{activity} {time}" for activity, time in zip(DOES, times[:, pe], strict=True))
        raise ScheduleError(f"PE {pe}: {spent} ns, expected {horizon} in all")


def tasks_compute_what_their_programs_say(schedule) -> None:
    """A completed task has computed exactly what its program says; any other task has computed no more."""
    computing, _ = schedule.work
    finished, computed = schedule.is_done, schedule.task_rows[state.COMPUTED]
    for task in np.flatnonzero(np.where(finished, computed != computing, (computed < 0) | (computed > computing))):
        expected = computing[task] if finished[task] else f"0 to {computing[task]}"
        raise ScheduleError(f"{_name(schedule, task)} has computed for {computed[task]} ns, expected {expected}")


def tasks_take_the_duration_of_their_job(schedule) -> None:
    """Each task's computing, disk and think times add up to its job's duration, if all its tasks take as long."""
    procs, kind, demand = (schedule.job_rows[row] for row in (state.SIZE, state.KIND, state.DEMAND))
    unequal = (kind == state.BARRIERS) & (procs > 1) & (schedule.rules.imbalance > 0)
    if schedule.workload.programs is not None:
        unequal |= schedule.table.index.isin(schedule.workload.programs_table["job_number"])
    takes, demand = schedule.work.sum(axis=0), np.repeat(demand, procs)
    for task in np.flatnonzero((takes != demand) & ~np.repeat(unequal, procs)):
        raise ScheduleError(f"{_name(schedule, task)} takes {takes[task]} ns, expected {demand[task]} ns, as its job")


def tasks_end_no_sooner_than_they_can(schedule) -> None:
    """The time from a task's placement to its end is long enough for what the task does."""
    takes, ends = schedule.work.sum(axis=0), schedule.task_rows[state.DONE]
    came = schedule.job_rows[state.PLACED, schedule.task_rows[state.JOB]]
    for task in np.flatnonzero((ends < state.NEVER) & (ends - came < takes)):
        raise ScheduleError(
            f"{_name(schedule, task)} ends at {ends[task]} ns, expected at least {takes[task]} ns after its placement "
            f"at {came[task]}"
        )


def pes_compute_what_their_tasks_compute(schedule) -> None:
    """A PE computes as long as the tasks on it do."""
    pe, computed = schedule.task_rows[state.PE], schedule.task_rows[state.COMPUTED]
    placed, computing = pe >= 0, schedule.pe_rows[state.TIME_COMPUTING]
    spent = np.zeros(schedule.rules.pes, "int64")
    np.add.at(spent, pe[placed], computed[placed])
    for at in np.flatnonzero(spent != computing):
        raise ScheduleError(f"PE {at} has computed for {computing[at]} ns, but its tasks for {spent[at]} ns")


def pes_overlap_io_only_while_they_compute(schedule) -> None:
    """The time in which a PE computes and its disk works is part of both, and the disk works only until the horizon."""
    overlap, computing = schedule.pe_rows[state.OVERLAP], schedule.pe_rows[state.TIME_COMPUTING]
    disk = schedule.disk_times
    wrong = (overlap < 0) | (overlap > computing) | (overlap > disk) | (disk > schedule.rules.horizon)
    for pe in np.flatnonzero(wrong):
        raise ScheduleError(
            f"PE {pe} computes for {overlap[pe]} ns while its disk works, but for {computing[pe]} ns in all, and its "
            f"disk works for {disk[pe]} ns"
        )


def jobs_are_placed_in_order_of_arrival(schedule) -> None:
    """No job is placed before one that arrived earlier."""
    placed = schedule.is_placed
    when = schedule.job_rows[state.PLACED, placed]
    if not placed[: placed.sum()].all() or (np.diff(when) < 0).any():
        raise ScheduleError("jobs are not placed in the order of their arrivals")


def jobs_are_placed_at_global_switches(schedule) -> None:
    """A job is placed at a multiple of the slice, and not before it arrives."""
    rows, placed, step = schedule.job_rows, schedule.is_placed, schedule.rules.slice
    when, came, numbers = rows[state.PLACED, placed], rows[state.ARRIVAL, placed], schedule.table.index[placed]
    for at in np.flatnonzero((when % step != 0) | (when < came)):
        raise ScheduleError(
            f"job {numbers[at]} is placed at {when[at]} ns, expected a multiple of {step} ns, not before its arrival "
            f"at {came[at]} ns"
        )


def tasks_of_a_job_have_pes_of_their_own(schedule) -> None:
    """No PE has two tasks of one job."""
    for pe, tasks in _on_pes(schedule):
        jobs = schedule.task_rows[state.JOB, tasks]
        if np.unique(jobs).size != jobs.size:
            raise ScheduleError(f"PE {pe} has two tasks of one job, expected at most one")


def pes_hold_no_more_tasks_than_they_may(schedule) -> None:
    """A PE holds a task from its placement to the end of its job, and at most max_tasks tasks at once."""
    rows, most = schedule.job_rows, schedule.rules.max_tasks
    ends = np.where(schedule.is_completed, rows[state.FINISH], schedule.rules.horizon)
    for pe, tasks in _on_pes(schedule):
        jobs = schedule.task_rows[state.JOB, tasks]
        came, left = rows[state.PLACED, jobs], ends[jobs]
        held = max((int(((came <= time) & (left > time)).sum()) for time in came), default=0)
        if held > most:
            raise ScheduleError(f"PE {pe} holds {held} tasks, expected at most {most}")


def _on_pes(schedule):
    """Return each PE with the tasks placed on it."""
    return [(pe, schedule.task_rows[state.PE] == pe) for pe in range(schedule.rules.pes)]


def jobs_know_how_many_tasks_are_left(schedule) -> None:
    """The tasks left of a placed job are those that have not ended."""
    recorded, left = schedule.job_rows[state.LEFT], np.zeros(len(schedule.table), "int64")
    np.add.at(left, _job_of_tasks(schedule), schedule.task_rows[state.DONE] == state.NEVER)
    for at in np.flatnonzero(schedule.is_placed & (recorded != left)):
        raise ScheduleError(f"job {schedule.table.index[at]} has {recorded[at]} tasks to end, expected {left[at]}")


def jobs_end_with_their_last_task(schedule) -> None:
    """A job whose tasks have all ended ends with the last of them."""
    finish, last = schedule.job_rows[state.FINISH], np.zeros(len(schedule.table), "int64")
    np.maximum.at(last, _job_of_tasks(schedule), schedule.task_rows[state.DONE])
    for at in np.flatnonzero(schedule.is_placed & (last < state.NEVER) & (finish != last)):
        number = schedule.table.index[at]
        raise ScheduleError(f"job {number} ends at {finish[at]} ns, but its last task at {last[at]} ns")


def _job_of_tasks(schedule):
    return np.repeat(np.arange(len(schedule.table)), schedule.job_rows[state.SIZE])


def memberships_add_up_to_one(schedule) -> None:
    """A measured task's memberships add up to 1, unless there is no floor and all of them vanished."""
    members = schedule.member_rows[state.F_IO : state.F_COMP + 1]
    placed = schedule.task_rows[state.PE] >= 0
    measured = (schedule.member_rows[: state.F_IO] != 1 / 2).any(axis=0)
    total = members.sum(axis=0)
    vanished = (members == 0).all(axis=0) & (schedule.rules.floor == 0)
    for task in np.flatnonzero(placed & measured & ~vanished & ~(np.abs(total - 1) < EQUAL)):
        raise ScheduleError(f"the memberships of {_name(schedule, task)} add up to {total[task]:g}, expected 1")


def the_log_leaves_no_gap(schedule) -> None:
    """The log of each PE has no gaps from the start of the first logged slice to the end of the last."""
    pe, begin, end = (schedule.log_in_order[row] for row in (state.LOG_PE, state.LOG_FROM, state.LOG_UNTIL))
    first, last = _span(schedule)
    new = np.append(True, np.diff(pe) > 0)
    expected = np.where(new, first, np.append(first, end[:-1]))
    for at in np.flatnonzero((begin != expected) | (end <= begin)):
        raise ScheduleError(f"PE {pe[at]}: the log goes on at {begin[at]} ns, expected {expected[at]}")
    for at in np.flatnonzero(np.append(new[1:], True) & (end != last)):
        raise ScheduleError(f"PE {pe[at]}: the log ends at {end[at]} ns, expected {last}")


def _span(schedule):
    """Return the logged span, extended to whole slices: two times in nanoseconds, at most the horizon."""
    step, horizon = schedule.rules.slice, schedule.rules.horizon
    first, last = (min(nanoseconds(time), horizon) for time in schedule.logged)
    return first // step * step, min(-(-last // step) * step, horizon)


def a_log_of_all_adds_up_to_the_times(schedule) -> None:
    """A log of all slices adds up to the times of the PEs."""
    if _span(schedule) != (0, schedule.rules.horizon):
        return
    pe, activity, begin, end = (
        schedule.log_in_order[row] for row in (state.LOG_PE, state.LOG_WHAT, state.LOG_FROM, state.LOG_UNTIL)
    )
    logged = np.zeros_like(schedule.times)
    np.add.at(logged, (activity, pe), end - begin)
    for does, at in np.argwhere(logged != schedule.times):
        expected = schedule.times[does, at]
        raise ScheduleError(f"PE {at}: the log has {logged[does, at]} ns of {DOES[does]}, expected {expected}")


def tasks_run_where_they_are_placed(schedule) -> None:
    """A task runs on its PE, between its placement and its end."""
    pe, task, begin, end = (
        schedule.log_in_order[row] for row in (state.LOG_PE, state.LOG_TASK, state.LOG_FROM, state.LOG_UNTIL)
    )
    placed = schedule.job_rows[state.PLACED, schedule.task_rows[state.JOB, task]]
    elsewhere = schedule.task_rows[state.PE, task] != pe
    wrong = elsewhere | (begin < placed) | (end > schedule.task_rows[state.DONE, task])
    for at in np.flatnonzero((task >= 0) & wrong):
        raise ScheduleError(
            f"{_name(schedule, task[at])} runs on PE {pe[at]} at {begin[at]} ns, but is not placed there"
        )


def tasks_run_in_the_turn_of_their_row(schedule) -> None:
    """Under the reference scheduler a task runs only when it is the turn of its row."""
    task, begin, turn = (schedule.log_in_order[row] for row in (state.LOG_TASK, state.LOG_FROM, state.LOG_TURN))
    for at in np.flatnonzero((task >= 0) & (turn == 0)):
        raise ScheduleError(f"{_name(schedule, task[at])} runs at {begin[at]} ns, when it is not its row's turn")


def _name(schedule, task):
    first = schedule.job_rows[state.FIRST]
    at = int(np.searchsorted(first, task, side="right")) - 1
    return f"task {task - first[at]} of job {schedule.table.index[at]}"
