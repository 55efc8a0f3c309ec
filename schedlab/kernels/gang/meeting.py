"""Tasks that depend on one another meet to draw what they do next, each at its own time.

They meet once no PE can be simulated any further. The tasks of a job that sends messages draw pairs; those of a job
with barriers draw supersteps. Tasks that have met and stay within the slice are simulated ahead together, which costs a
few additions each.
"""

import numpy as np

from .._jit import inlined, routine
from ..sorted_pairs import NEVER
from ..variates import AHEAD, bits, duration
from . import state
from .choice import when_to_check
from .operations import leave_meeting, next_operation, nominal_length, queue_operation, superstep_length, take_numbers
from .state import spend


@inlined
def join_meeting(g, pe, task, now):
    """Let a task that holds a PE meet the other tasks of its job."""
    job = g.tasks[task, state.JOB]
    if g.jobs[job, state.MET] == 0:
        g.meetings[g.clock[state.MEETINGS]] = job
        g.clock[state.MEETINGS] += 1
    g.jobs[job, state.MET] += 1
    g.tasks[task, state.PIECE], g.tasks[task, state.UNTIL] = state.MEETING, now
    g.pes[pe, state.DOES], g.pes[pe, state.CHANGE] = state.BUSY, NEVER


@inlined
def meet(g, rules):
    """Let the met tasks of a job draw what they do next, and simulate them ahead as long as they stay together."""
    jobs, job = g.jobs, g.meetings[g.clock[state.MEETINGS] - 1]
    if jobs[job, state.KIND] == state.MESSAGES:
        while jobs[job, state.MET] > 0 and not g.clock[state.FULL]:
            next_pair(g, rules, job)
    else:
        while jobs[job, state.MET] == jobs[job, state.SIZE] and _next_superstep(g, rules, job):
            pass
        for task in range(jobs[job, state.FIRST], jobs[job, state.FIRST] + jobs[job, state.SIZE]):
            if g.tasks[task, state.PIECE] == state.MEETING:
                next_operation(g, rules, task)
                leave_meeting(g, task)
    g.clock[state.MEETINGS] -= 1


@inlined
def next_pair(g, rules, job):
    """Draw the next sender and receiver of a job, and how long each computes first."""
    first, size = g.jobs[job, state.FIRST], g.jobs[job, state.SIZE]
    at = take_numbers(g, rules, first, first, 2)
    if at == 0:
        key, place = g.tasks[first, state.STREAM] ^ 0x5BD1E995, g.tasks[first, state.BLOCK] // 2
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
    sends, receives = (
        tasks[sender, state.REMAINING] - before_sending,
        tasks[receiver, state.REMAINING] - before_receiving,
    )
    if sends > 0 and receives > 0:
        tasks[sender, state.REMAINING], tasks[receiver, state.REMAINING] = sends, receives
        place, arrival = tasks[receiver, state.TAIL], _send(g, rules, sender, before_sending)
        if arrival == NEVER:
            queue_operation(g, sender, before_sending, state.SEND, receiver, place)
        if arrival == NEVER or not _receive(g, rules, receiver, before_receiving, arrival):
            queue_operation(g, receiver, before_receiving, state.RECEIVE, sender, arrival)
    elif (
        tasks[sender, state.REMAINING] > 0 and tasks[receiver, state.REMAINING] > 0
    ):  # otherwise one has drawn all it does
        _void(g, job, sender, receiver, sends, receives)


@routine
def _void(g, job, sender, receiver, sends, receives):
    """End the tasks of a pair that cannot compute that long, and the last task, which has nobody to send to."""
    first = g.jobs[job, state.FIRST]
    if sends <= 0:
        _queue_end(g, job, sender)
    if receives <= 0:
        _queue_end(g, job, receiver)
    if g.jobs[job, state.ALIVE] == 1:
        for task in range(first, first + g.jobs[job, state.SIZE]):
            if g.tasks[task, state.REMAINING] > 0:
                _queue_end(g, job, task)


@routine
def _queue_end(g, job, task):
    queue_operation(g, task, g.tasks[task, state.REMAINING], state.END, 0, 0)
    g.tasks[task, state.REMAINING] = 0
    g.jobs[job, state.ALIVE] -= 1


@inlined
def _send(g, rules, task, length):
    """Simulate a task that has met others through computing and sending; return when its message arrives.

    NEVER if the task has not met others, or could not finish sending before it may lose its PE.
    """
    tasks = g.tasks
    if tasks[task, state.PIECE] != state.MEETING:
        return NEVER
    reached = tasks[task, state.UNTIL] + length
    sent = reached + rules.overhead
    if sent > g.pes[tasks[task, state.PE], state.LIMIT]:
        return NEVER
    _follow(g, task, reached, reached, sent)
    g.clock[state.EVENTS] += 2
    return sent + rules.latency


@inlined
def _receive(g, rules, task, length, arrival):
    """Simulate a task that has met others through computing and receiving; tell whether it gets that far."""
    tasks, pe = g.tasks, g.tasks[task, state.PE]
    if tasks[task, state.PIECE] != state.MEETING:
        return False
    reached = tasks[task, state.UNTIL] + length
    begins = max(reached, arrival)
    received = begins + rules.overhead
    if received > g.pes[pe, state.LIMIT] or (begins > reached and begins > when_to_check(g, rules, pe, task, reached)):
        return False
    _follow(g, task, reached, begins, received)
    g.clock[state.EVENTS] += 3
    return True


@inlined
def _follow(g, task, reached, begins, ends):
    """Advance a task that has met others: it computes, spins until the awaited message arrives, and communicates."""
    tasks, pe, now = g.tasks, g.tasks[task, state.PE], g.tasks[task, state.UNTIL]
    spend(g, pe, task, state.TIME_COMPUTING, now, reached)
    spend(g, pe, task, state.TIME_SPINNING, reached, begins)
    spend(g, pe, task, state.TIME_COMMUNICATING, begins, ends)
    tasks[task, state.COMPUTED] += reached - now
    tasks[task, state.STATEMENTS] += 1
    tasks[task, state.UNTIL] = ends


@inlined
def _next_superstep(g, rules, job):
    """Simulate all tasks of a job through a superstep and its barrier; tell whether that fits into the slice."""
    tasks, first, end = g.tasks, g.jobs[job, state.FIRST], g.jobs[job, state.FIRST] + g.jobs[job, state.SIZE]
    nominal, latest = nominal_length(g, rules, first, job), 0
    if nominal >= tasks[first, state.REMAINING]:
        return False
    for task in range(first, end):
        tasks[task, state.LENGTH] = superstep_length(g, rules, task, job, nominal)
        latest = max(latest, tasks[task, state.UNTIL] + tasks[task, state.LENGTH])
    release = latest + 2 * rules.latency + 4 * rules.overhead
    if release > g.clock[state.UPTO]:
        return False
    for task in range(first, end):
        reached, pe = tasks[task, state.UNTIL] + tasks[task, state.LENGTH], tasks[task, state.PE]
        if release > g.pes[pe, state.LIMIT] or (
            reached < latest and release > when_to_check(g, rules, pe, task, reached)
        ):
            return False
    for task in range(first, end):
        _follow(g, task, tasks[task, state.UNTIL] + tasks[task, state.LENGTH], release, release)
        tasks[task, state.REMAINING] -= nominal
        tasks[task, state.BURSTS] += 1
    g.clock[state.EVENTS] += 2 * (end - first)
    return True
