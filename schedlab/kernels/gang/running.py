"""A task on its PE, simulated ahead to its next interaction with others.

What a PE does reaches others later, never at once. Within a slice nothing takes the PE from its task, except that the
task of the row may reclaim it when its I/O is done. So a task that holds a PE is simulated ahead through computing,
sending, and receiving messages that are on their way. It stops at that reclaim or the end of the slice, at a message
that has not been sent yet, or when it blocks or ends.
"""

from .._jit import inlined
from ..sorted_pairs import NEVER
from .choice import free_pe, is_wanted, next_task
from .events import event_of, set_event
from .log import spend
from .meeting import join_meeting
from .operations import has_to_meet, in_ring, next_operation
from .spinning import end_spin, spin, when_to_check
from .state import (
    ABSENT,
    ANSWERED,
    AT_BARRIER,
    BARRIER,
    BURST,
    BUSY,
    CHANGE,
    CHECK,
    COMPUTED,
    COMPUTING,
    CUT_LEFT,
    CUT_TO,
    DID_IO,
    DISK,
    DISK_FREE,
    DISK_TIME,
    DOES,
    DONE,
    DRAWING,
    END,
    EVENTS,
    FINISH,
    FIRST,
    HEAD,
    HELD,
    HOLDERS,
    IDLE,
    JOB,
    LAST_DISK,
    LAST_THINK,
    LATEST,
    LEFT,
    LENGTH,
    LIMIT,
    LOADED,
    NEXT_FINISH,
    OPERATION,
    PE,
    PIECE,
    PLACE,
    QUEUED_OTHER,
    QUEUED_PEER,
    RECEIVE,
    RECEIVING,
    RUNNING,
    SEND,
    SENDING,
    SIZE,
    SPINNING,
    STATEMENTS,
    TIME_COMMUNICATING,
    TIME_COMPUTING,
    TIME_SPINNING,
    TIME_SWITCHING,
    UNTIL,
    UPTO,
    WAITING,
)


@inlined
def run(g, rules, pe, task, now, loads):
    """Simulate a task that gets or keeps a PE, up to its next interaction with others."""
    tasks, pes, limit = g.tasks, g.pes, g.pes[pe, LIMIT]
    if loads:
        pes[pe, RUNNING] = task
        g.clock[EVENTS] += 1
        if pes[pe, LOADED] != task:
            needs = pes[pe, CUT_LEFT] if pes[pe, CUT_TO] == task else rules.switch
            until = min(now + needs, limit)
            spend(g, pe, task, TIME_SWITCHING, now, until)
            if now + needs > limit:
                pes[pe, CUT_TO], pes[pe, CUT_LEFT] = task, now + needs - limit
                _reach_limit(g, pe, limit)
                return
            now, pes[pe, LOADED] = until, task
        pes[pe, CUT_TO] = -1
        g.ready[pe, tasks[task, PLACE]] = 0
        if not tasks[task, HELD]:
            tasks[task, HELD], g.held[g.clock[HOLDERS]] = 1, task
            g.clock[HOLDERS] += 1
        # A task within a communication statement communicates in this slice too, wherever the statement began.
        tasks[task, STATEMENTS] += tasks[task, PIECE] > COMPUTING
    while True:
        piece = tasks[task, PIECE]
        if piece == WAITING:
            until = tasks[task, UNTIL]
            if until > now:
                check = when_to_check(g, rules, pe, task, now)
                if until > check or until > limit:
                    spin(g, pe, now, check, until)
                    return
                spend(g, pe, task, TIME_SPINNING, now, until)
                now = until
            g.clock[EVENTS] += 1
            receives = tasks[task, OPERATION] == RECEIVE
            piece = tasks[task, PIECE] = RECEIVING if receives else DRAWING
            tasks[task, LENGTH] = rules.overhead
            tasks[task, HEAD] += not receives
        if piece == DRAWING:
            if has_to_meet(g, task):
                join_meeting(g, pe, task, now)
                return
            next_operation(g, rules, task)
            piece = COMPUTING
        length = tasks[task, LENGTH]
        until = min(now + length, limit)
        if piece == COMPUTING:
            tasks[task, COMPUTED] += until - now
        spend(g, pe, task, TIME_COMPUTING if piece == COMPUTING else TIME_COMMUNICATING, now, until)
        if now + length > limit:
            tasks[task, LENGTH] = now + length - limit
            _reach_limit(g, pe, limit)
            return
        now = until
        g.clock[EVENTS] += 1
        if piece == COMPUTING:
            if _operate(g, rules, pe, task, now):
                free_pe(g, pe, now)
                return
        else:
            if piece == SENDING:
                _deliver(g, rules, task, now + rules.latency)
            tasks[task, HEAD] += 1
            tasks[task, PIECE] = DRAWING


@inlined
def go_on(g, rules, pe, now):
    """Return the task that a PE runs from an instant in mid-slice on, or -1."""
    does = g.pes[pe, DOES]
    if does == BUSY:  # the next operation of its task has been drawn
        return g.pes[pe, RUNNING]
    g.clock[EVENTS] += 1
    return end_spin(g, rules, pe, now) if does == SPINNING else next_task(g, rules, pe, now)


@inlined
def _reach_limit(g, pe, limit):
    """Stop simulating a task ahead: the slice is over, or the task of the row takes its PE back."""
    if limit < g.clock[UPTO]:
        free_pe(g, pe, limit)
    else:
        g.pes[pe, DOES], g.pes[pe, CHANGE] = BUSY, NEVER


@inlined
def _operate(g, rules, pe, task, now):
    """Execute the operation that a task has reached; tell whether the task loses its PE."""
    tasks, operation = g.tasks, g.tasks[task, OPERATION]
    if operation == SEND:
        tasks[task, STATEMENTS] += 1
        tasks[task, PIECE], tasks[task, LENGTH] = SENDING, rules.overhead
        return False
    if operation == RECEIVE:
        tasks[task, STATEMENTS] += 1
        tasks[task, PIECE] = WAITING
        tasks[task, UNTIL] = g.queued[task, in_ring(g, tasks[task, HEAD]), QUEUED_OTHER]
        return False
    if operation == BARRIER:
        tasks[task, STATEMENTS] += 1
        _arrive(g, rules, task, now)
        return False
    if operation == END:
        _finish(g, pe, task, now)
        return True
    tasks[task, DID_IO] = 1
    tasks[task, HEAD] += 1
    until = now + tasks[task, BURST]
    if operation in (DISK, LAST_DISK):
        until = max(now, g.pes[pe, DISK_FREE]) + tasks[task, BURST]
        g.pes[pe, DISK_FREE] = until
        g.pes[pe, DISK_TIME] += tasks[task, BURST]
    if operation in (LAST_DISK, LAST_THINK):
        _finish(g, pe, task, until)
    else:
        g.ready[pe, tasks[task, PLACE]], tasks[task, PIECE] = until, DRAWING
    return True


@inlined
def _finish(g, pe, task, instant):
    job = g.tasks[task, JOB]
    g.tasks[task, DONE], g.ready[pe, g.tasks[task, PLACE]] = instant, NEVER
    g.jobs[job, LEFT] -= 1
    g.jobs[job, FINISH] = max(g.jobs[job, FINISH], instant)
    if g.jobs[job, LEFT] == 0:
        g.clock[NEXT_FINISH] = min(g.clock[NEXT_FINISH], g.jobs[job, FINISH])


@inlined
def _deliver(g, rules, task, arrival):
    """Deliver a task's message to its receiver."""
    at = in_ring(g, g.tasks[task, HEAD])
    receiver, place = g.queued[task, at, QUEUED_PEER], g.queued[task, at, QUEUED_OTHER]
    g.queued[receiver, in_ring(g, place), QUEUED_OTHER] = arrival
    if g.tasks[receiver, PIECE] == WAITING and g.tasks[receiver, HEAD] == place:
        _answer(g, rules, receiver, arrival)


@inlined
def _arrive(g, rules, task, now):
    """Bring a task to its barrier; the latest arrival releases all, and it need not be the task simulated last."""
    job = g.tasks[task, JOB]
    g.tasks[task, PIECE], g.tasks[task, UNTIL] = WAITING, NEVER
    g.jobs[job, AT_BARRIER] += 1
    g.jobs[job, LATEST] = max(g.jobs[job, LATEST], now)
    if g.jobs[job, AT_BARRIER] < g.jobs[job, SIZE]:
        return
    g.jobs[job, AT_BARRIER] = 0
    release = g.jobs[job, LATEST] + 2 * rules.latency + 4 * rules.overhead
    first = g.jobs[job, FIRST]
    for other in range(first, first + g.jobs[job, SIZE]):
        if other == task:
            g.tasks[task, UNTIL] = release
        else:
            _answer(g, rules, other, release)


@inlined
def _answer(g, rules, task, arrival):
    """Tell a waiting task when the message or release that it waits for arrives."""
    pes, pe, place = g.pes, g.tasks[task, PE], g.tasks[task, PLACE]
    g.tasks[task, UNTIL] = arrival
    if g.ready[pe, place] > 0:
        g.ready[pe, place] = arrival
        pes[pe, ABSENT] -= 1
    if pes[pe, RUNNING] == task and pes[pe, DOES] == SPINNING:
        if min(arrival, pes[pe, CHECK]) <= pes[pe, LIMIT] and (arrival <= pes[pe, CHECK] or pes[pe, ABSENT] == 0):
            g.answered[g.clock[ANSWERED]] = pe
            g.clock[ANSWERED] += 1
    elif pes[pe, DOES] == IDLE and arrival < g.clock[UPTO] and is_wanted(g, rules, pe, place):
        set_event(g, pe, min(event_of(g, pe), arrival))
