"""A task on its PE, simulated ahead to its next interaction with others.

What a PE does reaches others later, never at once. Within a slice nothing takes the PE from its task, except that the
task of the row may reclaim it when its I/O is done. So a task that holds a PE is simulated ahead through computing,
sending, and receiving messages that are on their way. It stops at that reclaim or the end of the slice, at a message
that has not been sent yet, or when it blocks or ends.
"""

from .._jit import inlined
from ..sorted_pairs import NEVER
from . import state
from .choice import end_spin, free_pe, is_wanted, next_task, spin, when_to_check
from .events import event_of, set_event
from .meeting import join_meeting
from .operations import has_to_meet, in_ring, next_operation
from .state import spend


@inlined
def run(g, rules, pe, task, now, loads):
    """Simulate a task that gets or keeps a PE, up to its next interaction with others."""
    tasks, pes, limit = g.tasks, g.pes, g.pes[pe, state.LIMIT]
    if loads:
        pes[pe, state.RUNNING] = task
        g.clock[state.EVENTS] += 1
        if pes[pe, state.LOADED] != task:
            needs = pes[pe, state.CUT_LEFT] if pes[pe, state.CUT_TO] == task else rules.switch
            until = min(now + needs, limit)
            spend(g, pe, task, state.TIME_SWITCHING, now, until)
            if now + needs > limit:
                pes[pe, state.CUT_TO], pes[pe, state.CUT_LEFT] = task, now + needs - limit
                _reach_limit(g, pe, limit)
                return
            now, pes[pe, state.LOADED] = until, task
        pes[pe, state.CUT_TO] = -1
        g.ready[pe, tasks[task, state.PLACE]] = 0
        if not tasks[task, state.HELD]:
            tasks[task, state.HELD], g.held[g.clock[state.HOLDERS]] = 1, task
            g.clock[state.HOLDERS] += 1
        # A task within a communication statement communicates in this slice too, wherever the statement began.
        tasks[task, state.STATEMENTS] += tasks[task, state.PIECE] > state.COMPUTING
    while True:
        piece = tasks[task, state.PIECE]
        if piece == state.WAITING:
            until = tasks[task, state.UNTIL]
            if until > now:
                check = when_to_check(g, rules, pe, task, now)
                if until > check or until > limit:
                    spin(g, pe, now, check, until)
                    return
                spend(g, pe, task, state.TIME_SPINNING, now, until)
                now = until
            g.clock[state.EVENTS] += 1
            receives = tasks[task, state.OPERATION] == state.RECEIVE
            piece = tasks[task, state.PIECE] = state.RECEIVING if receives else state.DRAWING
            tasks[task, state.LENGTH] = rules.overhead
            tasks[task, state.HEAD] += not receives
        if piece == state.DRAWING:
            if has_to_meet(g, task):
                join_meeting(g, pe, task, now)
                return
            next_operation(g, rules, task)
            piece = state.COMPUTING
        length = tasks[task, state.LENGTH]
        until = min(now + length, limit)
        if piece == state.COMPUTING:
            tasks[task, state.COMPUTED] += until - now
        spend(g, pe, task, state.TIME_COMPUTING if piece == state.COMPUTING else state.TIME_COMMUNICATING, now, until)
        if now + length > limit:
            tasks[task, state.LENGTH] = now + length - limit
            _reach_limit(g, pe, limit)
            return
        now = until
        g.clock[state.EVENTS] += 1
        if piece == state.COMPUTING:
            if _operate(g, rules, pe, task, now):
                free_pe(g, pe, now)
                return
        else:
            if piece == state.SENDING:
                _deliver(g, rules, task, now + rules.latency)
            tasks[task, state.HEAD] += 1
            tasks[task, state.PIECE] = state.DRAWING


@inlined
def go_on(g, rules, pe, now):
    """Return the task that a PE runs from an instant in mid-slice on, or -1."""
    does = g.pes[pe, state.DOES]
    if does == state.BUSY:  # the next operation of its task has been drawn
        return g.pes[pe, state.RUNNING]
    g.clock[state.EVENTS] += 1
    return end_spin(g, rules, pe, now) if does == state.SPINNING else next_task(g, rules, pe, now)


@inlined
def _reach_limit(g, pe, limit):
    """Stop simulating a task ahead: the slice is over, or the task of the row takes its PE back."""
    if limit < g.clock[state.UPTO]:
        free_pe(g, pe, limit)
    else:
        g.pes[pe, state.DOES], g.pes[pe, state.CHANGE] = state.BUSY, NEVER


@inlined
def _operate(g, rules, pe, task, now):
    """Execute the operation that a task has reached; tell whether the task loses its PE."""
    tasks, operation = g.tasks, g.tasks[task, state.OPERATION]
    if operation == state.SEND:
        tasks[task, state.STATEMENTS] += 1
        tasks[task, state.PIECE], tasks[task, state.LENGTH] = state.SENDING, rules.overhead
        return False
    if operation == state.RECEIVE:
        tasks[task, state.STATEMENTS] += 1
        tasks[task, state.PIECE] = state.WAITING
        tasks[task, state.UNTIL] = g.queued[task, in_ring(g, tasks[task, state.HEAD]), state.QUEUED_OTHER]
        return False
    if operation == state.BARRIER:
        tasks[task, state.STATEMENTS] += 1
        _arrive(g, rules, task, now)
        return False
    if operation == state.END:
        _finish(g, pe, task, now)
        return True
    tasks[task, state.DID_IO] = 1
    tasks[task, state.HEAD] += 1
    until = now + tasks[task, state.BURST]
    if operation in (state.DISK, state.LAST_DISK):
        until = max(now, g.pes[pe, state.DISK_FREE]) + tasks[task, state.BURST]
        g.pes[pe, state.DISK_FREE] = until
        g.pes[pe, state.DISK_TIME] += tasks[task, state.BURST]
    if operation in (state.LAST_DISK, state.LAST_THINK):
        _finish(g, pe, task, until)
    else:
        g.ready[pe, tasks[task, state.PLACE]], tasks[task, state.PIECE] = until, state.DRAWING
    return True


@inlined
def _finish(g, pe, task, instant):
    job = g.tasks[task, state.JOB]
    g.tasks[task, state.DONE], g.ready[pe, g.tasks[task, state.PLACE]] = instant, NEVER
    g.jobs[job, state.LEFT] -= 1
    g.jobs[job, state.FINISH] = max(g.jobs[job, state.FINISH], instant)
    if g.jobs[job, state.LEFT] == 0:
        g.clock[state.NEXT_FINISH] = min(g.clock[state.NEXT_FINISH], g.jobs[job, state.FINISH])


@inlined
def _deliver(g, rules, task, arrival):
    """Deliver a task's message to its receiver."""
    at = in_ring(g, g.tasks[task, state.HEAD])
    receiver, place = g.queued[task, at, state.QUEUED_PEER], g.queued[task, at, state.QUEUED_OTHER]
    g.queued[receiver, in_ring(g, place), state.QUEUED_OTHER] = arrival
    if g.tasks[receiver, state.PIECE] == state.WAITING and g.tasks[receiver, state.HEAD] == place:
        _answer(g, rules, receiver, arrival)


@inlined
def _arrive(g, rules, task, now):
    """Bring a task to its barrier; the latest arrival releases all, and it need not be the task simulated last."""
    job = g.tasks[task, state.JOB]
    g.tasks[task, state.PIECE], g.tasks[task, state.UNTIL] = state.WAITING, NEVER
    g.jobs[job, state.AT_BARRIER] += 1
    g.jobs[job, state.LATEST] = max(g.jobs[job, state.LATEST], now)
    if g.jobs[job, state.AT_BARRIER] < g.jobs[job, state.SIZE]:
        return
    g.jobs[job, state.AT_BARRIER] = 0
    release = g.jobs[job, state.LATEST] + 2 * rules.latency + 4 * rules.overhead
    first = g.jobs[job, state.FIRST]
    for other in range(first, first + g.jobs[job, state.SIZE]):
        if other == task:
            g.tasks[task, state.UNTIL] = release
        else:
            _answer(g, rules, other, release)


@inlined
def _answer(g, rules, task, arrival):
    """Tell a waiting task when the message or release that it waits for arrives."""
    pes, pe, place = g.pes, g.tasks[task, state.PE], g.tasks[task, state.PLACE]
    g.tasks[task, state.UNTIL] = arrival
    if g.ready[pe, place] > 0:
        g.ready[pe, place] = arrival
        pes[pe, state.ABSENT] -= 1
    if pes[pe, state.RUNNING] == task and pes[pe, state.DOES] == state.SPINNING:
        if min(arrival, pes[pe, state.CHECK]) <= pes[pe, state.LIMIT] and (
            arrival <= pes[pe, state.CHECK] or pes[pe, state.ABSENT] == 0
        ):
            g.answered[g.clock[state.ANSWERED]] = pe
            g.clock[state.ANSWERED] += 1
    elif pes[pe, state.DOES] == state.IDLE and arrival < g.clock[state.UPTO] and is_wanted(g, rules, pe, place):
        set_event(g, pe, min(event_of(g, pe), arrival))
