"""What a task does next: drawn from the random numbers of its job, or taken from its program.

For jobs that send messages, and for jobs with user-defined programs, each task has a ring of operations that are known
but not yet done.
"""

from .._jit import inlined, routine
from ..sorted_pairs import NEVER
from ..variates import AHEAD, bits, duration, fill, uniform
from . import state


@inlined
def _set_up(g, rules, task, job, rank):
    """Initialize a task that has not done anything yet."""
    tasks = g.tasks
    for i in range(3):
        g.members[task, state.S_IO + i] = g.members[task, state.F_IO + i] = 1 / 2
    g.members[task, state.PRIORITY] = max(rules.alpha / 2, 1 / 2)
    for column in range(tasks.shape[1]):
        tasks[task, column] = 0
    kind = g.jobs[job, state.KIND]
    together = kind in (state.MESSAGES, state.BARRIERS) and g.jobs[job, state.SIZE] > 1
    tasks[task, state.JOB] = job
    tasks[task, state.STREAM] = bits(g.jobs[job, state.KEY], 0 if together else rank + 1)
    tasks[task, state.REMAINING] = g.jobs[job, state.DEMAND]
    tasks[task, state.DONE], tasks[task, state.BLOCK] = NEVER, -1
    tasks[task, state.PIECE] = state.DRAWING


@routine
def start_job(g, rules, job):
    """Initialize all tasks of a job and queue their programs."""
    jobs, begins, steps = g.jobs, g.programs.begins, g.programs.given
    jobs[job, state.LEFT] = jobs[job, state.ALIVE] = jobs[job, state.SIZE]
    first = jobs[job, state.FIRST]
    for task in range(first, first + jobs[job, state.SIZE]):
        _set_up(g, rules, task, job, task - first)
        for at in range(begins[task], begins[task + 1]):
            length, operation = steps[at, state.QUEUED_LENGTH], steps[at, state.QUEUED_OPERATION]
            queue_operation(g, task, length, operation, steps[at, state.QUEUED_PEER], steps[at, state.QUEUED_OTHER])


@inlined
def next_operation(g, rules, task):
    """Take or draw how long a task computes next, and which operation follows."""
    tasks = g.tasks
    job = tasks[task, state.JOB]
    kind, remaining = g.jobs[job, state.KIND], tasks[task, state.REMAINING]
    tasks[task, state.PIECE] = state.COMPUTING
    if tasks[task, state.TAIL] > 0:
        queued, at = g.queued, in_ring(g, tasks[task, state.HEAD])
        tasks[task, state.LENGTH] = queued[task, at, state.QUEUED_LENGTH]
        tasks[task, state.OPERATION] = queued[task, at, state.QUEUED_OPERATION]
        tasks[task, state.BURST] = queued[task, at, state.QUEUED_PEER]  # used by DISK and THINK only
        return
    tasks[task, state.LENGTH], tasks[task, state.OPERATION] = remaining, state.END
    if kind in (state.IO, state.INTERACTIVE):
        at = take_numbers(g, rules, task, task, 2)
        computes = duration(rules.law, rules.compute if kind == state.IO else rules.react, g.units[task, at])
        blocks = duration(rules.law, rules.disk if kind == state.IO else rules.think, g.units[task, at + 1])
        if computes < remaining:
            tasks[task, state.LENGTH] = computes
            last = computes + blocks >= remaining
            tasks[task, state.BURST] = min(blocks, remaining - computes)
            tasks[task, state.OPERATION] = (
                (state.LAST_DISK if last else state.DISK)
                if kind == state.IO
                else (state.LAST_THINK if last else state.THINK)
            )
            tasks[task, state.REMAINING] = remaining - computes - tasks[task, state.BURST]
    elif kind == state.BARRIERS and g.jobs[job, state.SIZE] > 1:
        nominal = min(nominal_length(g, rules, task, job), remaining)
        if nominal < remaining:
            tasks[task, state.OPERATION] = state.BARRIER
            tasks[task, state.REMAINING] = remaining - nominal
        tasks[task, state.LENGTH] = superstep_length(g, rules, task, job, nominal)
        tasks[task, state.BURSTS] += 1


@inlined
def has_to_meet(g, task):
    """Tell whether a task has to draw its next operation together with the other tasks of its job."""
    job = g.tasks[task, state.JOB]
    kind = g.jobs[job, state.KIND]
    lacks = kind == state.BARRIERS or (
        kind == state.MESSAGES and g.tasks[task, state.HEAD] == g.tasks[task, state.TAIL]
    )
    return lacks and g.jobs[job, state.SIZE] > 1


@inlined
def nominal_length(g, rules, task, job):
    """Return the nominal length of a task's next superstep, which is the same for all tasks of the job."""
    first = g.jobs[job, state.FIRST]
    return duration(rules.law, rules.superstep, g.units[first, take_numbers(g, rules, task, first, 0)])


@inlined
def superstep_length(g, rules, task, job, nominal):
    """Return how long a task computes in a superstep."""
    if rules.imbalance <= 0:
        return nominal
    key = bits(g.tasks[task, state.STREAM], task - g.jobs[job, state.FIRST])
    differs = rules.imbalance * (2 * uniform(key, g.tasks[task, state.BURSTS]) - 1)
    return max(1, int((1 + differs) * nominal + 0.5))


@inlined
def take_numbers(g, rules, task, owner, count):
    """Take a task's next random numbers from one block; return the position of the first in the owner's row."""
    tasks = g.tasks
    place = tasks[task, state.BURSTS]
    at = place % AHEAD
    if tasks[owner, state.BLOCK] != place - at:
        tasks[owner, state.BLOCK] = place - at
        fill(rules.law, tasks[owner, state.STREAM], place - at, g.units, owner)
    tasks[task, state.BURSTS] = place + count
    return at


@inlined
def queue_operation(g, task, length, operation, peer, other):
    queued, head, tail = g.queued, g.tasks[task, state.HEAD], g.tasks[task, state.TAIL]
    if tail - head == queued.shape[1]:
        g.clock[state.FULL] |= state.NO_ROOM
        return
    at = in_ring(g, tail)
    queued[task, at, state.QUEUED_LENGTH], queued[task, at, state.QUEUED_OPERATION] = length, operation
    queued[task, at, state.QUEUED_PEER], queued[task, at, state.QUEUED_OTHER] = peer, other
    g.tasks[task, state.TAIL] = tail + 1
    if g.tasks[task, state.PIECE] == state.MEETING:
        g.tasks[task, state.PIECE] = state.DRAWING
        leave_meeting(g, task)


@inlined
def leave_meeting(g, task):
    """Let a task continue on its own."""
    g.jobs[g.tasks[task, state.JOB], state.MET] -= 1
    g.answered[g.clock[state.ANSWERED]] = g.tasks[task, state.PE]
    g.clock[state.ANSWERED] += 1


@inlined
def in_ring(g, place):
    return place & (g.queued.shape[1] - 1)
