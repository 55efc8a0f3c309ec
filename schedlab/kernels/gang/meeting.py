"""Tasks that depend on one another meet to draw what they do next, each at its own time.

They meet once no PE can be simulated any further. The tasks of a job that sends messages draw pairs; those of a job
with barriers draw supersteps. Tasks that have met and stay within the slice are simulated ahead together, which costs a
few additions each.
"""

import numpy as np

from .._jit import inlined, routine
from ..sorted_pairs import NEVER
from ..variates import AHEAD, bits, duration
from .log import spend
from .operations import leave_meeting, next_operation, nominal_length, queue_operation, superstep_length, take_numbers
from .spinning import when_to_check
from .state import (
    ALIVE,
    BLOCK,
    BURSTS,
    BUSY,
    CHANGE,
    COMPUTED,
    DOES,
    END,
    EVENTS,
    FIRST,
    FULL,
    JOB,
    KIND,
    LENGTH,
    LIMIT,
    MEETING,
    MEETINGS,
    MESSAGES,
    MET,
    PE,
    PIECE,
    RECEIVE,
    REMAINING,
    SEND,
    SIZE,
    STATEMENTS,
    STREAM,
    TAIL,
    TIME_COMMUNICATING,
    TIME_COMPUTING,
    TIME_SPINNING,
    UNTIL,
    UPTO,
)


@inlined
def join_meeting(g, pe, task, now):
    """Let a task that holds a PE meet the other tasks of its job."""
    job = g.tasks[task, JOB]
    if g.jobs[job, MET] == 0:
        g.meetings[g.clock[MEETINGS]] = job
        g.clock[MEETINGS] += 1
    g.jobs[job, MET] += 1
    g.tasks[task, PIECE], g.tasks[task, UNTIL] = MEETING, now
    g.pes[pe, DOES], g.pes[pe, CHANGE] = BUSY, NEVER


@inlined
def meet(g, rules):
    """Let the met tasks of a job draw what they do next, and simulate them ahead as long as they stay together."""
    jobs, job = g.jobs, g.meetings[g.clock[MEETINGS] - 1]
    if jobs[job, KIND] == MESSAGES:
        while jobs[job, MET] > 0 and not g.clock[FULL]:
            next_pair(g, rules, job)
    else:
        while jobs[job, MET] == jobs[job, SIZE] and _next_superstep(g, rules, job):
            pass
        for task in range(jobs[job, FIRST], jobs[job, FIRST] + jobs[job, SIZE]):
            if g.tasks[task, PIECE] == MEETING:
                next_operation(g, rules, task)
                leave_meeting(g, task)
    g.clock[MEETINGS] -= 1


@inlined
def next_pair(g, rules, job):
    """Draw the next sender and receiver of a job, and how long each computes first."""
    first, size = g.jobs[job, FIRST], g.jobs[job, SIZE]
    at = take_numbers(g, rules, first, first, 2)
    if at == 0:
        key, place = g.tasks[first, STREAM] ^ 0x5BD1E995, g.tasks[first, BLOCK] // 2
        for i in range(AHEAD // 2):
            g.pairs[first, i] = np.int64(bits(key, place + i))
    drawn = g.pairs[first, at // 2]
    sender = drawn * size >> 32
    receiver = (drawn * (size * (size - 1)) >> 32) - sender * (size - 1)
    receiver += receiver >= sender
    before_sending = duration(rules.law, rules.gap, g.units[first, at])
    before_receiving = duration(rules.law, rules.gap, g.units[first, at + 1])
    _pair(g, rules, job, first + sender, first + receiver, before_sending, before_receiving)


@inlined
def _pair(g, rules, job, sender, receiver, before_sending, before_receiving):
    """Let one task compute and send, and another compute and receive, if both have that much computing left."""
    tasks = g.tasks
    sends, receives = tasks[sender, REMAINING] - before_sending, tasks[receiver, REMAINING] - before_receiving
    if sends > 0 and receives > 0:
        tasks[sender, REMAINING], tasks[receiver, REMAINING] = sends, receives
        place, arrival = tasks[receiver, TAIL], _send(g, rules, sender, before_sending)
        if arrival == NEVER:
            queue_operation(g, sender, before_sending, SEND, receiver, place)
        if arrival == NEVER or not _receive(g, rules, receiver, before_receiving, arrival):
            queue_operation(g, receiver, before_receiving, RECEIVE, sender, arrival)
    elif tasks[sender, REMAINING] > 0 and tasks[receiver, REMAINING] > 0:  # otherwise one has drawn all it does
        _void(g, job, sender, receiver, sends, receives)


@routine
def _void(g, job, sender, receiver, sends, receives):
    """End the tasks of a pair that cannot compute that long, and the last task, which has nobody to send to."""
    first = g.jobs[job, FIRST]
    if sends <= 0:
        _queue_end(g, job, sender)
    if receives <= 0:
        _queue_end(g, job, receiver)
    if g.jobs[job, ALIVE] == 1:
        for task in range(first, first + g.jobs[job, SIZE]):
            if g.tasks[task, REMAINING] > 0:
                _queue_end(g, job, task)


@routine
def _queue_end(g, job, task):
    queue_operation(g, task, g.tasks[task, REMAINING], END, 0, 0)
    g.tasks[task, REMAINING] = 0
    g.jobs[job, ALIVE] -= 1


@inlined
def _send(g, rules, task, length):
    """Simulate a task that has met others through computing and sending; return when its message arrives.

    NEVER if the task has not met others, or could not finish sending before it may lose its PE.
    """
    tasks = g.tasks
    if tasks[task, PIECE] != MEETING:
        return NEVER
    reached = tasks[task, UNTIL] + length
    sent = reached + rules.overhead
    if sent > g.pes[tasks[task, PE], LIMIT]:
        return NEVER
    _follow(g, task, reached, reached, sent)
    g.clock[EVENTS] += 2
    return sent + rules.latency


@inlined
def _receive(g, rules, task, length, arrival):
    """Simulate a task that has met others through computing and receiving; tell whether it gets that far."""
    tasks, pe = g.tasks, g.tasks[task, PE]
    if tasks[task, PIECE] != MEETING:
        return False
    reached = tasks[task, UNTIL] + length
    begins = max(reached, arrival)
    received = begins + rules.overhead
    if received > g.pes[pe, LIMIT] or (begins > reached and begins > when_to_check(g, rules, pe, task, reached)):
        return False
    _follow(g, task, reached, begins, received)
    g.clock[EVENTS] += 3
    return True


@inlined
def _follow(g, task, reached, begins, ends):
    """Advance a task that has met others: it computes, spins until the awaited message arrives, and communicates."""
    tasks, pe, now = g.tasks, g.tasks[task, PE], g.tasks[task, UNTIL]
    spend(g, pe, task, TIME_COMPUTING, now, reached)
    spend(g, pe, task, TIME_SPINNING, reached, begins)
    spend(g, pe, task, TIME_COMMUNICATING, begins, ends)
    tasks[task, COMPUTED] += reached - now
    tasks[task, STATEMENTS] += 1
    tasks[task, UNTIL] = ends


@inlined
def _next_superstep(g, rules, job):
    """Simulate all tasks of a job through a superstep and its barrier; tell whether that fits into the slice."""
    tasks, first, end = g.tasks, g.jobs[job, FIRST], g.jobs[job, FIRST] + g.jobs[job, SIZE]
    nominal, latest = nominal_length(g, rules, first, job), 0
    if nominal >= tasks[first, REMAINING]:
        return False
    for task in range(first, end):
        tasks[task, LENGTH] = superstep_length(g, rules, task, job, nominal)
        latest = max(latest, tasks[task, UNTIL] + tasks[task, LENGTH])
    release = latest + 2 * rules.latency + 4 * rules.overhead
    if release > g.clock[UPTO]:
        return False
    for task in range(first, end):
        reached, pe = tasks[task, UNTIL] + tasks[task, LENGTH], tasks[task, PE]
        if release > g.pes[pe, LIMIT] or (reached < latest and release > when_to_check(g, rules, pe, task, reached)):
            return False
    for task in range(first, end):
        _follow(g, task, tasks[task, UNTIL] + tasks[task, LENGTH], release, release)
        tasks[task, REMAINING] -= nominal
        tasks[task, BURSTS] += 1
    g.clock[EVENTS] += 2 * (end - first)
    return True
