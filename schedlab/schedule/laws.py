"""The laws of scheduling that `Schedule.validate` checks, one function each.

If its law is broken, a function raises a `ScheduleError` that names the job and the time.
"""

import numpy as np

from schedlab._runtime.threads import abandonable
from schedlab.kernels import tree_nodes
from schedlab.kernels.replay import DELAYED, KEPT, OVERLOOKED, UNDUE, replay
from schedlab.machine import KaryTree, Pools
from schedlab.schemes.checking import excess_of_capacity, excess_of_limits
from schedlab.schemes.placement import fractions, shortened
from schedlab.schemes.pooled import ALWAYS
from schedlab.workload.conventions import KEEP, KILL_BACKFILLED, run_times

DISTURBED = {
    OVERLOOKED: "a job waits that the local scheduler could start",
    DELAYED: "tasks delay what the local scheduler has promised",
    UNDUE: "a job starts that the local scheduler would not start",
}


class ScheduleError(AssertionError):
    """A schedule breaks a law of scheduling; the message names the law, the job and the time."""


def check(schedule) -> None:
    """Check all laws that apply to a schedule, by its scheme, its machine and its outcome."""
    scheme, outcome = schedule.scheme, schedule.outcome
    every_job_starts(schedule)
    if schedule.case.in_parts:
        for part in filter(len, schedule.pools.values()):
            check(part)
        return
    submissions_are_those_of_the_trace(schedule)
    no_start_before_submission(schedule)
    no_more_processors_than_there_are(schedule)
    if scheme.in_order and not isinstance(schedule.machine, Pools):
        starts_in_order_of_arrival(schedule)
    if outcome.in_pieces:
        every_task_runs_once(schedule)
        if not outcome.shared.flooding:
            tasks_disturb_nobody(schedule)
        the_loss_is_that_of_the_timeline(schedule)
    elif isinstance(schedule.machine, Pools):
        every_job_has_the_processors_it_asks_for(schedule)
        no_more_than_is_open(schedule)
        limits_hold(schedule)
        windows_end_only_what_did_not_know_of_them(schedule)
    elif isinstance(schedule.machine, KaryTree):
        every_job_has_the_processors_it_asks_for(schedule)
        every_job_has_its_nodes(schedule)
        run_times_follow_from_places(schedule)
    elif scheme.needs == "speedup":
        run_times_follow_from_processors(schedule)
    else:
        every_job_has_the_processors_it_asks_for(schedule)
        run_times_are_those_of_the_trace(schedule)
    if not scheme.backfills and outcome.backfilled is not None:
        forbid(schedule, outcome.backfilled, "job {job} starts at {start} as backfilled, which {scheme} does not do")
    if scheme.promises(schedule.machine) and not _overruns(schedule):
        promises_are_kept(schedule)


def forbid(schedule, where, text, **columns) -> None:
    """Raise if a law is broken by the jobs where a mask is true, or by those at some places.

    The message may contain ``{job}``, ``{start}``, ``{submit}``, ``{promise}``, ``{scheme}`` of the first such job, and
    its value in further columns.
    """
    where = np.asarray(where)
    bad = np.flatnonzero(where) if where.dtype == bool else where
    if bad.size:
        i = bad[0]
        columns |= {name: getattr(schedule, name) for name in ("start", "submit", "promise")}
        values = {name: column[i] for name, column in columns.items()}
        message = text.format(job=schedule.trace.table.index[i], scheme=schedule.scheme, **values)
        raise _broken(schedule, f": {message}")


def _broken(schedule, message):
    return ScheduleError(f"{schedule.scheme} on {schedule.trace.name}{message}")


def every_job_starts(schedule) -> None:
    """Every job has one start."""
    if len(schedule.start) != len(schedule.trace):
        raise ScheduleError(f"{len(schedule.start)} starts for {len(schedule.trace)} jobs")


def submissions_are_those_of_the_trace(schedule) -> None:
    """Jobs are submitted when the trace says."""
    due = (schedule.submit - schedule.origin) * schedule.outcome.tick
    forbid(schedule, schedule.outcome.submit != due, "job {job} is not submitted at {submit}, as the trace says")


def every_job_has_the_processors_it_asks_for(schedule) -> None:
    """A job that is not moldable has the processors that it requests."""
    requested = schedule.case.jobs.procs  # on whole nodes, their number
    forbid(schedule, schedule.procs != requested, "job {job} does not have the processors it asks for, at {start}")


def no_start_before_submission(schedule) -> None:
    """No job starts before it is submitted."""
    early = schedule.outcome.start < (schedule.submit - schedule.origin) * schedule.outcome.tick
    forbid(schedule, early, "job {job} starts at {start}, before its submission at {submit}")


def no_more_processors_than_there_are(schedule) -> None:
    """No more processors are held than the machine has, including those held by tasks and by jobs of other sites."""
    time, used, _, _ = schedule.states
    over = np.flatnonzero(used > schedule.machine.procs)
    if over.size:
        at = f"{used[over[0]]:.0f} processors held at {schedule.seconds(time[over[0]])} s"
        raise ScheduleError(f"{at}, expected at most {schedule.machine.procs}")


def no_more_than_is_open(schedule) -> None:
    """In each pool, no more of a resource is held at any instant than is open."""
    excess = excess_of_capacity(schedule.case, schedule.outcome)
    if excess:
        message = f"{excess.held:,} {excess.what}, of {excess.most:,}"
        raise _broken(schedule, f", at {schedule.seconds(excess.instant)} s: {message}")


def limits_hold(schedule) -> None:
    """No limit is exceeded at any instant."""
    excess = excess_of_limits(schedule.case, schedule.outcome)
    if excess:
        message = f"{excess.held:,} {excess.what}, a limit allows {excess.most:,}"
        raise _broken(schedule, f", at {schedule.seconds(excess.instant)} s: {message}")


def windows_end_only_what_did_not_know_of_them(schedule) -> None:
    """A job runs as long as the trace and the overrun rule say, unless a window ended it that was not announced."""
    case = schedule.case
    pieces = schedule.outcome.pieces
    due = run_times(schedule.trace.table, schedule.overrun)
    short = (schedule.run < due) & (not case.pooled.requeues)
    last = np.append(pieces.job[1:] != pieces.job[:-1], True)
    ended = ~last | short[pieces.job]
    windows = case.pooled.windows
    pool = np.repeat(np.arange(len(windows.first) - 1), np.diff(windows.first))
    known = {(place, at): since for place, at, since in zip(pool, windows.begin, windows.known, strict=True)}
    for job, begun, end in zip(pieces.job[ended], pieces.start[ended], pieces.end[ended], strict=True):
        knew = begun >= known.get((case.places[job], end), ALWAYS)
        forbid(schedule, [job] if knew else [], "job {job} was ended by no window that it did not know of")
    forbid(schedule, (schedule.run != due) & ~short, "job {job} does not run as long as it must, from {start}")
    _kills_are(schedule, due, short)


def starts_in_order_of_arrival(schedule) -> None:
    """Jobs start in the order in which they arrive."""
    late = np.append(False, np.diff(schedule.outcome.start) < 0)
    forbid(schedule, late, "job {job} starts at {start}, before a job submitted earlier")


def promises_are_kept(schedule) -> None:
    """No job starts later than it was promised."""
    promise, start = schedule.outcome.promise, schedule.outcome.promised_start
    late = (promise >= 0) & (start > promise)
    forbid(schedule, late, "job {job} starts at {at}, but had been promised {promise}", at=schedule.seconds(start))


def _overruns(schedule):
    """Tell whether jobs run past their estimates; if so, no promise is binding."""
    table = schedule.trace.table
    return schedule.overrun in (KEEP, KILL_BACKFILLED) and (table["run_time"].to_numpy() > _estimates(table)).any()


def _estimates(table):
    """Return the estimates with which schemes plan; one of 0 s counts as 1 s."""
    return np.maximum(table["requested_time"].to_numpy(), 1)


def run_times_are_those_of_the_trace(schedule) -> None:
    """A job runs as long as the trace and the overrun rule say, and is killed only if that cuts it."""
    due = run_times(schedule.trace.table, schedule.overrun)
    forbid(schedule, schedule.run != due, "job {job} does not run as long as it must, from {start}")
    _kills_are(schedule, due)


def _kills_are(schedule, run, stopped=False):
    cut = run < schedule.trace.table["run_time"].to_numpy()
    wrong = schedule.killed != (cut | stopped)
    forbid(schedule, wrong, "job {job} is marked killed wrongly, or wrongly not, from {start}")


def run_times_follow_from_processors(schedule) -> None:
    """A moldable job has 1 to all processors and runs as long as its speedup says; a rigid one is as in the trace."""
    table, size = schedule.trace.table, schedule.machine.procs
    requested, laws = table["requested_procs"].to_numpy(), schedule.trace.laws(size)
    outside = (schedule.procs < 1) | (schedule.procs > size)
    forbid(schedule, outside, f"job {{job}} does not have 1 to {size} processors, at {{start}}")
    reshaped = ~laws.moldable & (schedule.procs != requested)
    forbid(schedule, reshaped, "job {job} is rigid, but was reshaped, at {start}")
    run = run_times(table, schedule.overrun)
    estimate = np.maximum(run, _estimates(table))
    for seconds, actual, what in ((run, schedule.run, "run"), (estimate, schedule.estimate, "estimated to run")):
        due = np.where(laws.moldable, laws.durations(seconds, requested, schedule.procs), seconds)
        forbid(schedule, actual != due, f"job {{job}} is not {what} as long as its speedup says, from {{start}}")


def every_job_has_its_nodes(schedule) -> None:
    """A job on a tree has the nodes it needs: installed, held by no other job, and in one block if required."""
    tree = schedule.machine
    if schedule.outcome.nodes is None:
        raise _broken(schedule, f": no job has nodes, expected nodes of {tree}")
    offset, first, last = schedule.outcome.nodes
    if offset.size != len(schedule) + 1 or offset[0] != 0 or not offset[-1] == first.size == last.size:
        raise _broken(schedule, ": ranges of nodes that belong to no job")
    job = np.repeat(np.arange(len(schedule)), np.diff(offset))
    count = np.bincount(job, weights=last - first + 1, minlength=len(schedule))
    forbid(schedule, count != schedule.procs, "job {job} does not have the nodes that it needs, at {start}")
    nowhere = job[(first < 0) | (last >= tree.procs)]
    forbid(schedule, nowhere, "job {job} runs on a node that is not installed, at {start}")
    held = (schedule.start, schedule.end, offset, first, last)
    conflict = abandonable(tree_nodes.conflict, *held, tree.procs)
    forbid(schedule, [conflict] if conflict >= 0 else [], "job {job} runs on a node that another job holds, at {start}")
    if not tree.policy.whole:
        scattered = schedule.locality()["stage"].to_numpy() > tree.stage(schedule.procs) + tree.policy.relaxed
        forbid(schedule, scattered, "job {job} is spread over more than a block of its stage, at {start}")


def run_times_follow_from_places(schedule) -> None:
    """A job on a tree runs as long as its place allows, or was killed past its estimate after it was backfilled.

    If whatever fits was started, it may have been killed for a job whose reservation had come.
    """
    tree, table = schedule.machine, schedule.trace.table
    left = fractions(tree.saved())[:, schedule.locality()["stage"].to_numpy()]
    run, estimate = run_times(table, schedule.overrun), _estimates(table)
    due = shortened(run, *left)
    stopped = schedule.killed & (schedule.run < due)
    past = schedule.run >= (shortened(estimate, *left) if tree.scale_estimates else estimate)
    if getattr(schedule.scheme, "stops_early", False):
        come = (schedule.promise >= 0) & (schedule.promise <= schedule.start)
        past |= np.isin(schedule.end, schedule.start[come])
    forbid(schedule, (schedule.run != due) & ~stopped, "job {job} does not run as long as it must, from {start}")
    unfounded = stopped if schedule.outcome.backfilled is None else stopped & ~(past & schedule.outcome.backfilled)
    forbid(schedule, unfounded, "job {job} was killed for no reason, from {start}")
    _kills_are(schedule, run, stopped)


def every_task_runs_once(schedule) -> None:
    """Each task of each sweep runs once, at some site, and a sweep ends with its last task."""
    shared = schedule.outcome.shared
    ran, ends = shared.claimed.copy(), np.full(shared.tasks.size, -1)
    batches = np.concatenate([[site.home, site.job, site.end, site.tasks] for site in shared.pieces], axis=1)
    every = shared.sweep >= 0
    keys = zip(shared.home[every].tolist(), shared.job[every].tolist(), strict=True)
    number = dict(zip(keys, shared.sweep[every].tolist(), strict=True))
    sweep = np.array([number.get(key, -1) for key in zip(*batches[:2].tolist(), strict=True)], "int64")
    known = sweep >= 0
    np.add.at(ran, sweep[known], batches[3][known])
    np.maximum.at(ends, sweep[known], batches[2][known])
    wrong = np.flatnonzero((ran != shared.tasks) | (ends != shared.end))
    if wrong.size:
        raise ScheduleError(
            f"{schedule.scheme}: of sweep {wrong[0]}, {ran[wrong[0]]} of {shared.tasks[wrong[0]]} tasks ran, "
            f"the last until tick {ends[wrong[0]]} of {shared.end[wrong[0]]}"
        )


def tasks_disturb_nobody(schedule) -> None:
    """Whenever tasks start, the local scheduler has nothing left to start, and its promises are as without them."""
    outcome, site = schedule.outcome, schedule.site
    shared, pieces = outcome.shared, outcome.pieces
    events = shared.happened(site)
    begun = events.piece >= 0
    count = begun.sum() + (events.more >= 0).sum()
    if count != pieces.start.size or (pieces.start[events.piece[begun]] != events.time[begun]).any():
        raise _broken(schedule, ": the pieces differ from those of the log of events")
    entries, held = shared.entries(site), (pieces.end, shared.expected[site], pieces.procs)
    requests, conservative = (shared.width[entries], shared.estimate[entries]), schedule.scheme.local == "conservative"
    verdict, tick = abandonable(replay, events, *held, *requests, schedule.machine.procs, conservative)
    if verdict != KEPT:
        raise _broken(schedule, f", at {schedule.seconds(tick)} s: {DISTURBED[verdict]}")


def the_loss_is_that_of_the_timeline(schedule) -> None:
    """The loss of capacity that the kernel counts agrees with the states of machine and queue."""
    time, used, queued, demand = schedule.states
    wanted = np.minimum(demand, schedule.machine.procs - used)[:-1]
    if int((wanted * np.diff(time)).sum()) != schedule.outcome.lost or queued[-1]:
        raise _broken(schedule, ": the loss of capacity differs from that of the timeline")
