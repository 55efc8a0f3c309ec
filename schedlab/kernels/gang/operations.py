"""What a task does next: drawn from the random numbers of its job, or taken from its program.

For jobs that send messages, and for jobs with user-defined programs, each task has a ring of operations that are known
but not yet done.
"""

from .._jit import inlined, routine
from ..sorted_pairs import NEVER
from ..variates import AHEAD, bits, duration, fill, uniform
from .state import (
    ALIVE,
    ANSWERED,
    BARRIER,
    BARRIERS,
    BLOCK,
    BURST,
    BURSTS,
    COMPUTING,
    DEMAND,
    DISK,
    DONE,
    DRAWING,
    END,
    F_IO,
    FIRST,
    FULL,
    HEAD,
    INTERACTIVE,
    IO,
    JOB,
    KEY,
    KIND,
    LAST_DISK,
    LAST_THINK,
    LEFT,
    LENGTH,
    MEETING,
    MESSAGES,
    MET,
    NO_ROOM,
    OPERATION,
    PE,
    PIECE,
    PRIORITY,
    QUEUED_LENGTH,
    QUEUED_OPERATION,
    QUEUED_OTHER,
    QUEUED_PEER,
    REMAINING,
    S_IO,
    SIZE,
    STREAM,
    TAIL,
    THINK,
)


@inlined
def _set_up(g, rules, task, job, rank):
    """Initialize a task that has not done anything yet."""
    tasks = g.tasks
    for i in range(3):
        g.members[task, S_IO + i] = g.members[task, F_IO + i] = 1 / 2
    g.members[task, PRIORITY] = max(rules.alpha / 2, 1 / 2)
    for column in range(tasks.shape[1]):
        tasks[task, column] = 0
    kind = g.jobs[job, KIND]
    together = kind in (MESSAGES, BARRIERS) and g.jobs[job, SIZE] > 1
    tasks[task, JOB] = job
    tasks[task, STREAM] = bits(g.jobs[job, KEY], 0 if together else rank + 1)
    tasks[task, REMAINING] = g.jobs[job, DEMAND]
    tasks[task, DONE], tasks[task, BLOCK] = NEVER, -1
    tasks[task, PIECE] = DRAWING


@routine
def start_job(g, rules, job):
    """Initialize all tasks of a job and queue their programs."""
    jobs, begins, steps = g.jobs, g.programs.begins, g.programs.given
    jobs[job, LEFT] = jobs[job, ALIVE] = jobs[job, SIZE]
    first = jobs[job, FIRST]
    for task in range(first, first + jobs[job, SIZE]):
        _set_up(g, rules, task, job, task - first)
        for at in range(begins[task], begins[task + 1]):
            length, operation = steps[at, QUEUED_LENGTH], steps[at, QUEUED_OPERATION]
            queue_operation(g, task, length, operation, steps[at, QUEUED_PEER], steps[at, QUEUED_OTHER])


@inlined
def next_operation(g, rules, task):
    """Take or draw how long a task computes next, and which operation follows."""
    tasks = g.tasks
    job = tasks[task, JOB]
    kind, remaining = g.jobs[job, KIND], tasks[task, REMAINING]
    tasks[task, PIECE] = COMPUTING
    if tasks[task, TAIL] > 0:
        queued, at = g.queued, in_ring(g, tasks[task, HEAD])
        tasks[task, LENGTH] = queued[task, at, QUEUED_LENGTH]
        tasks[task, OPERATION] = queued[task, at, QUEUED_OPERATION]
        tasks[task, BURST] = queued[task, at, QUEUED_PEER]  # used by DISK and THINK only
        return
    tasks[task, LENGTH], tasks[task, OPERATION] = remaining, END
    if kind in (IO, INTERACTIVE):
        at = take_numbers(g, rules, task, task, 2)
        computes = duration(rules.law, rules.compute if kind == IO else rules.react, g.units[task, at])
        blocks = duration(rules.law, rules.disk if kind == IO else rules.think, g.units[task, at + 1])
        if computes < remaining:
            tasks[task, LENGTH] = computes
            last = computes + blocks >= remaining
            tasks[task, BURST] = min(blocks, remaining - computes)
            tasks[task, OPERATION] = (LAST_DISK if last else DISK) if kind == IO else (LAST_THINK if last else THINK)
            tasks[task, REMAINING] = remaining - computes - tasks[task, BURST]
    elif kind == BARRIERS and g.jobs[job, SIZE] > 1:
        nominal = min(nominal_length(g, rules, task, job), remaining)
        if nominal < remaining:
            tasks[task, OPERATION] = BARRIER
            tasks[task, REMAINING] = remaining - nominal
        tasks[task, LENGTH] = superstep_length(g, rules, task, job, nominal)
        tasks[task, BURSTS] += 1


@inlined
def has_to_meet(g, task):
    """Tell whether a task has to draw its next operation together with the other tasks of its job."""
    job = g.tasks[task, JOB]
    kind = g.jobs[job, KIND]
    lacks = kind == BARRIERS or (kind == MESSAGES and g.tasks[task, HEAD] == g.tasks[task, TAIL])
    return lacks and g.jobs[job, SIZE] > 1


@inlined
def nominal_length(g, rules, task, job):
    """Return the nominal length of a task's next superstep, which is the same for all tasks of the job."""
    first = g.jobs[job, FIRST]
    return duration(rules.law, rules.superstep, g.units[first, take_numbers(g, rules, task, first, 0)])


@inlined
def superstep_length(g, rules, task, job, nominal):
    """Return how long a task computes in a superstep."""
    if rules.imbalance <= 0:
        return nominal
    key = bits(g.tasks[task, STREAM], task - g.jobs[job, FIRST])
    differs = rules.imbalance * (2 * uniform(key, g.tasks[task, BURSTS]) - 1)
    return max(1, int((1 + differs) * nominal + 0.5))


@inlined
def take_numbers(g, rules, task, owner, count):
    """Take a task's next random numbers from one block; return the position of the first in the owner's row."""
    tasks = g.tasks
    place = tasks[task, BURSTS]
    at = place % AHEAD
    if tasks[owner, BLOCK] != place - at:
        tasks[owner, BLOCK] = place - at
        fill(rules.law, tasks[owner, STREAM], place - at, g.units, owner)
    tasks[task, BURSTS] = place + count
    return at


@inlined
def queue_operation(g, task, length, operation, peer, other):
    queued, head, tail = g.queued, g.tasks[task, HEAD], g.tasks[task, TAIL]
    if tail - head == queued.shape[1]:
        g.clock[FULL] |= NO_ROOM
        return
    at = in_ring(g, tail)
    queued[task, at, QUEUED_LENGTH], queued[task, at, QUEUED_OPERATION] = length, operation
    queued[task, at, QUEUED_PEER], queued[task, at, QUEUED_OTHER] = peer, other
    g.tasks[task, TAIL] = tail + 1
    if g.tasks[task, PIECE] == MEETING:
        g.tasks[task, PIECE] = DRAWING
        leave_meeting(g, task)


@inlined
def leave_meeting(g, task):
    """Let a task continue on its own."""
    g.jobs[g.tasks[task, JOB], MET] -= 1
    g.answered[g.clock[ANSWERED]] = g.tasks[task, PE]
    g.clock[ANSWERED] += 1


@inlined
def in_ring(g, place):
    return place & (g.queued.shape[1] - 1)
