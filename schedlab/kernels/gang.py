"""Gang scheduling of tasks, with or without measurements at run time. Times in nanoseconds.

After Silva and Scherson, JSSPP 2000. Jobs of one or more tasks hold columns, one a processing element (PE), in the
rows of an Ousterhout matrix; all PEs switch to the next row together at every slice. The reference leaves a PE idle
where the row has no task for it or its task is blocked. By priority it then runs another of its tasks, the one that is
most likely to do I/O or to compute by what its past slices have shown. Under spin control a task that has waited long
for a message makes room for one that does I/O.

What happens at one instant on one PE: what was waited for arrives; a switch or a piece of work ends; a spin that has
lasted the time of an answer is looked at; then, at a multiple of the slice, the global switch, else a PE without a task
asks for one.

What a PE does reaches others later, never at once, and within a slice nothing takes it away from its task, but for the
task of the row, where that reclaims it when its I/O is done. So a task that holds a PE is followed as far as can be
told: through computing, sending, and receiving what is on its way, up to that instant or the end of the slice, a
message that has not been sent yet, or what blocks or ends the task. Who spins for a message is followed on as soon as
that is sent, since no choice is made there. A PE that loses its task, or idles until one is ready, is followed on, too:
what it runs next is its own affair, and so is the look at a spin whose end is known, or of which nothing can come.
Unless one of its tasks has made room for others until a message that has not been sent: then this is an event, and so
is the look at any other spin; events are taken in the order of time.

Tasks that depend on one another meet to draw what they do next, each at its own time, once no PE can be followed any
further: those of a job that sends messages draw pairs, those of a job with barriers draw supersteps. Who of them have
met, and stay within the slice, are followed together, which is a few additions for each.

Jobs with programs of the user's own find them in their rings, whole, when they are placed.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, kernel, maker, part, routine
from .variates import AHEAD, bits, duration, fill, uniform

NEVER = np.iinfo(np.int64).max

IO, EMBARRASSING, MESSAGES, BARRIERS, INTERACTIVE = range(5)  # kinds of jobs

FIRST_FIT, BEST_FIT, BUDDY = range(3)  # packings

# Operations, at the end of a computing piece; in a list of them, DISK and THINK at the end of a task are LAST_DISK and
# LAST_THINK.
END, DISK, THINK, SEND, RECEIVE, BARRIER, LAST_DISK, LAST_THINK = range(8)

# What a task does next when it holds a PE; first of all it may have to draw what that is; it meets the other tasks of
# its job for that if they draw together.
DRAWING, COMPUTING, SENDING, RECEIVING, WAITING, MEETING = range(6)

# What a PE does until the next instant at which something can change: nothing; work, up to the end of the slice; spin;
# or it has just lost its task.
IDLE, BUSY, SPINNING, FREED = range(4)

# Columns of Gang.jobs.
ARRIVAL, SIZE, KIND, DEMAND, KEY, FIRST, LEFT, PLACED, FINISH, ROW, ARRIVED, LATEST, ALIVE, MET = range(14)

# Columns of Gang.tasks: its job and PE; what it does next, for how long, and what then; how long its disk or thinking
# takes; when what it waits for arrives; its place on its PE; when it is done; how many bursts it has drawn, where the
# block of random numbers at hand begins, and how much of its demand is left then; how much it has computed; the key of
# its random numbers; its communication statements, whether it did I/O and whether it held its PE in this slice; its
# place among the operations drawn, and their end.
(
    JOB,
    PE,
    PIECE,
    LENGTH,
    OPERATION,
    BURST,
    UNTIL,
    PLACE,
    DONE,
    BURSTS,
    BLOCK,
    REMAINING,
    COMPUTED,
    STREAM,
    STATEMENTS,
    DID_IO,
    HELD,
    HEAD,
    TAIL,
) = range(19)

# Columns of Gang.members: running measurements and memberships of I/O, communicating and computing; priority.
S_IO, S_COMM, S_COMP, F_IO, F_COMM, F_COMP, PRIORITY = range(7)

# Columns of Gang.pes: the last task that it loaded, the one that it runs or loads, what it does, since when, when that
# may change within the slice, and when a spin is looked at; until when its task may keep it; how many of its tasks made
# room for others until a message that has not been sent; what a cut switch was to load, and how much of it was left;
# when its disk is free; the place after the task last chosen by priority; how many tasks it has; the task that the row
# has for it; and its time, by what it did.
(
    LOADED,
    RUNNING,
    DOES,
    SINCE,
    CHANGE,
    CHECK,
    LIMIT,
    ABSENT,
    CUT_TO,
    CUT_LEFT,
    DISK_FREE,
    NEXT,
    TASKS,
    TURN,
    TIME_COMPUTING,
    TIME_COMMUNICATING,
    TIME_SPINNING,
    TIME_SWITCHING,
    TIME_IDLE,
) = range(19)

# Columns of Gang.queued: operations that are known but not done yet, of jobs that send messages or have programs of
# their own; the third is, of SEND and RECEIVE, the other task, and of DISK and THINK their time; the last is, of SEND,
# the place of its RECEIVE among the operations of the peer, and of RECEIVE when the message arrives.
QUEUED_LENGTH, QUEUED_OPERATION, QUEUED_PEER, QUEUED_OTHER = range(4)

# Rows of Gang.log: also the current row of the matrix, and whether the task is in it.
LOG_PE, LOG_TASK, LOG_WHAT, LOG_FROM, LOG_UNTIL, LOG_ROW, LOG_TURN = range(7)

# Places in Gang.clock: the instant, the end of the slice or of all, the next multiple of the slice; how many rows there
# are, the current one; the next job to be placed, whether there is no room for it; when the next of the placed jobs is
# finished; events, log entries, slices; whether the slice is logged; which arrays were too small; how many PEs can go
# on; how many tasks held their PEs in this slice; and of how many jobs tasks have met.
(
    NOW,
    UPTO,
    BOUNDARY,
    ROWS,
    CURRENT,
    NEXT_JOB,
    STUCK,
    NEXT_FINISH,
    EVENTS,
    LOGGED,
    SLICES,
    LOGS,
    FULL,
    ANSWERED,
    HOLDERS,
    MEETINGS,
) = range(16)

NO_ROOM, NO_LOG = 1, 2  # bits of FULL


class Rules(NamedTuple):
    """The machine, the scheduler and the behaviour of jobs; times in nanoseconds, at least 1.

    Attributes
    ----------
    pes, slice, switch, latency, overhead, delta, horizon, max_tasks, statements : int
    alpha, beta, floor : float
    both, priority, spin_block, reclaim, unify, alternate : bool
    packing : {FIRST_FIT, BEST_FIT, BUDDY}
    law : see `schedlab.kernels.variates`
        Of all bursts.
    compute, disk, gap, superstep, react, think : int
        Mean bursts: computing and disk of I/O jobs, computing between messages and between barriers, computing and
        thinking of interactive jobs.
    imbalance : float
        By what part of a superstep its tasks differ.
    """

    pes: int
    slice: int
    switch: int
    latency: int
    overhead: int
    delta: int
    horizon: int
    max_tasks: int
    statements: int
    alpha: float
    beta: float
    floor: float
    both: bool
    priority: bool
    spin_block: bool
    reclaim: bool
    packing: int
    unify: bool
    alternate: bool
    law: int
    compute: int
    disk: int
    gap: int
    superstep: int
    react: int
    think: int
    imbalance: float


class Gang(NamedTuple):
    """A simulation; every field is modified in place. Times in nanoseconds.

    Attributes
    ----------
    jobs : int64, shape (n_jobs, 14)
    tasks : int64, shape (n_tasks, 19)
    members : float64, shape (n_tasks, 7)
    pes : int64, shape (pes, 19)
        What belongs to one is side by side.
    on : int64, shape (pes, places)
        The tasks on each PE, in the order in which they were placed, which is that of their jobs.
    ready : int64, shape (pes, places)
        From when each of them can run; NEVER where there is none.
    priority : float64, shape (pes, places)
        Of each of them, as in `members`.
    rank : int64, shape (pes, places)
        The same, its bits read as whole numbers, which have the same order.
    does_io : int64, shape (pes, places)
        Whether each is one that does I/O, by its memberships, or interactive.
    held : int64, shape (pes * max_tasks,)
        Tasks that held their PEs in this slice.
    matrix : int64, shape (most_rows, pes)
        The task in each row and column, or -1.
    units : float64, shape (n_tasks, 16)
        Random numbers at hand, a block of those of its stream.
    pairs : int64, shape (n_tasks, 8)
        Random numbers for the next pairs of a job, in the row of its first task.
    queued : int64, shape (n_tasks, room, 4)
        A ring for each task.
    begins : int64, shape (n_tasks + 1,)
        Where the program of each task begins in `given`; where it ends, too, if it has none.
    given : int64, shape (n_given, 4)
        Programs of the user's own; columns as of `queued`.
    tree : int64, shape (2 * leaves,)
        The next event of each PE, as the leaves of a tree of the earlier ones.
    answered : int64, shape (pes,)
        PEs that can go on: what they spin for is on its way, or what their tasks do next is drawn.
    meetings : int64, shape (pes,)
        Jobs of which tasks have met.
    log : int64, shape (7, most_logged)
    clock : int64, shape (16,)
    """

    jobs: np.ndarray
    tasks: np.ndarray
    members: np.ndarray
    pes: np.ndarray
    on: np.ndarray
    ready: np.ndarray
    priority: np.ndarray
    rank: np.ndarray
    does_io: np.ndarray
    held: np.ndarray
    matrix: np.ndarray
    units: np.ndarray
    pairs: np.ndarray
    queued: np.ndarray
    begins: np.ndarray
    given: np.ndarray
    tree: np.ndarray
    answered: np.ndarray
    meetings: np.ndarray
    log: np.ndarray
    clock: np.ndarray


# --- What a task does next ----------------------------------------------------------------------------------


@part
def _set_up(g, rules, task, job, rank):
    """Let a task have done nothing yet."""
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
def _start(g, rules, job):
    """Let all tasks of a job begin."""
    jobs = g.jobs
    jobs[job, LEFT] = jobs[job, ALIVE] = jobs[job, SIZE]
    first = jobs[job, FIRST]
    for task in range(first, first + jobs[job, SIZE]):
        _set_up(g, rules, task, job, task - first)
        for at in range(g.begins[task], g.begins[task + 1]):
            length, operation = g.given[at, QUEUED_LENGTH], g.given[at, QUEUED_OPERATION]
            _queue(g, task, length, operation, g.given[at, QUEUED_PEER], g.given[at, QUEUED_OTHER])


@part
def _next_operation(g, rules, task):
    """Draw how long a task computes next, and what it does then."""
    tasks = g.tasks
    job = tasks[task, JOB]
    kind, remaining = g.jobs[job, KIND], tasks[task, REMAINING]
    tasks[task, PIECE] = COMPUTING
    if tasks[task, TAIL] > 0:
        queued, at = g.queued, _in_ring(g, tasks[task, HEAD])
        tasks[task, LENGTH] = queued[task, at, QUEUED_LENGTH]
        tasks[task, OPERATION] = queued[task, at, QUEUED_OPERATION]
        tasks[task, BURST] = queued[task, at, QUEUED_PEER]  # of DISK and THINK; else nobody asks
        return
    tasks[task, LENGTH], tasks[task, OPERATION] = remaining, END
    if kind in (IO, INTERACTIVE):
        at = _take(g, rules, task, task, 2)
        computes = duration(rules.law, rules.compute if kind == IO else rules.react, g.units[task, at])
        blocks = duration(rules.law, rules.disk if kind == IO else rules.think, g.units[task, at + 1])
        if computes < remaining:
            tasks[task, LENGTH] = computes
            last = computes + blocks >= remaining
            tasks[task, BURST] = min(blocks, remaining - computes)
            tasks[task, OPERATION] = (LAST_DISK if last else DISK) if kind == IO else (LAST_THINK if last else THINK)
            tasks[task, REMAINING] = remaining - computes - tasks[task, BURST]
    elif kind == BARRIERS and g.jobs[job, SIZE] > 1:
        nominal = min(_nominal(g, rules, task, job), remaining)
        if nominal < remaining:
            tasks[task, OPERATION] = BARRIER
            tasks[task, REMAINING] = remaining - nominal
        tasks[task, LENGTH] = _length(g, rules, task, job, nominal)
        tasks[task, BURSTS] += 1


@part
def _has_to_meet(g, task):
    """Tell whether a task draws together with the others of its job what it does next."""
    job = g.tasks[task, JOB]
    kind = g.jobs[job, KIND]
    lacks = kind == BARRIERS or (kind == MESSAGES and g.tasks[task, HEAD] == g.tasks[task, TAIL])
    return lacks and g.jobs[job, SIZE] > 1


@part
def _nominal(g, rules, task, job):
    """Give the mean length of a task's next superstep, which is that of the job's other tasks, too."""
    first = g.jobs[job, FIRST]
    return duration(rules.law, rules.superstep, g.units[first, _take(g, rules, task, first, 0)])


@part
def _length(g, rules, task, job, nominal):
    """Give how long a task computes in a superstep."""
    if rules.imbalance <= 0:
        return nominal
    key = bits(g.tasks[task, STREAM], task - g.jobs[job, FIRST])
    differs = rules.imbalance * (2 * uniform(key, g.tasks[task, BURSTS]) - 1)
    return max(1, int((1 + differs) * nominal + 0.5))


@part
def _take(g, rules, task, owner, count):
    """Take a task's next random numbers, all of a block; give the place of the first in the row of their owner."""
    tasks = g.tasks
    place = tasks[task, BURSTS]
    at = place % AHEAD
    if tasks[owner, BLOCK] != place - at:
        tasks[owner, BLOCK] = place - at
        fill(rules.law, tasks[owner, STREAM], place - at, g.units, owner)
    tasks[task, BURSTS] = place + count
    return at


@part
def _next_pair(g, rules, job):
    """Draw who sends to whom next in a job, and how long either computes before."""
    first, size = g.jobs[job, FIRST], g.jobs[job, SIZE]
    at = _take(g, rules, first, first, 2)
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


@part
def _pair(g, rules, job, sender, receiver, before_sending, before_receiving):
    """Let a task compute and send, and another compute and receive, if both can compute that long."""
    tasks = g.tasks
    sends, receives = tasks[sender, REMAINING] - before_sending, tasks[receiver, REMAINING] - before_receiving
    if sends > 0 and receives > 0:
        tasks[sender, REMAINING], tasks[receiver, REMAINING] = sends, receives
        place, arrival = tasks[receiver, TAIL], _send(g, rules, sender, before_sending)
        if arrival == NEVER:
            _queue(g, sender, before_sending, SEND, receiver, place)
        if arrival == NEVER or not _receive(g, rules, receiver, before_receiving, arrival):
            _queue(g, receiver, before_receiving, RECEIVE, sender, arrival)
    elif tasks[sender, REMAINING] > 0 and tasks[receiver, REMAINING] > 0:  # else what one does to its end is drawn
        _void(g, job, sender, receiver, sends, receives)


@routine
def _void(g, job, sender, receiver, sends, receives):
    """End those of a pair who could not compute that long, and a last one, who has nobody to send to."""
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
    _queue(g, task, g.tasks[task, REMAINING], END, 0, 0)
    g.tasks[task, REMAINING] = 0
    g.jobs[job, ALIVE] -= 1


@part
def _queue(g, task, length, operation, peer, other):
    queued, head, tail = g.queued, g.tasks[task, HEAD], g.tasks[task, TAIL]
    if tail - head == queued.shape[1]:
        g.clock[FULL] |= NO_ROOM
        return
    at = _in_ring(g, tail)
    queued[task, at, QUEUED_LENGTH], queued[task, at, QUEUED_OPERATION] = length, operation
    queued[task, at, QUEUED_PEER], queued[task, at, QUEUED_OTHER] = peer, other
    g.tasks[task, TAIL] = tail + 1
    if g.tasks[task, PIECE] == MEETING:
        g.tasks[task, PIECE] = DRAWING
        _leave(g, task)


@part
def _in_ring(g, place):
    return place & (g.queued.shape[1] - 1)


# --- Tasks that meet ----------------------------------------------------------------------------------------


@part
def _join(g, pe, task, now):
    """Let a task that holds a PE meet the others of its job."""
    job = g.tasks[task, JOB]
    if g.jobs[job, MET] == 0:
        g.meetings[g.clock[MEETINGS]] = job
        g.clock[MEETINGS] += 1
    g.jobs[job, MET] += 1
    g.tasks[task, PIECE], g.tasks[task, UNTIL] = MEETING, now
    g.pes[pe, DOES], g.pes[pe, CHANGE] = BUSY, NEVER


@part
def _leave(g, task):
    """Let a task go on by itself."""
    g.jobs[g.tasks[task, JOB], MET] -= 1
    g.answered[g.clock[ANSWERED]] = g.tasks[task, PE]
    g.clock[ANSWERED] += 1


@part
def _meet(g, rules):
    """Let the tasks of a job that have met draw what they do next, and follow them as long as they stay together."""
    jobs, job = g.jobs, g.meetings[g.clock[MEETINGS] - 1]
    if jobs[job, KIND] == MESSAGES:
        while jobs[job, MET] > 0 and not g.clock[FULL]:
            _next_pair(g, rules, job)
    else:
        while jobs[job, MET] == jobs[job, SIZE] and _next_superstep(g, rules, job):
            pass
        for task in range(jobs[job, FIRST], jobs[job, FIRST] + jobs[job, SIZE]):
            if g.tasks[task, PIECE] == MEETING:
                _next_operation(g, rules, task)
                _leave(g, task)
    g.clock[MEETINGS] -= 1


@part
def _send(g, rules, task, length):
    """Follow a task, if it has met others, through computing and sending; give when its message arrives.

    NEVER if it does not come to that while it may keep its PE.
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


@part
def _receive(g, rules, task, length, arrival):
    """Follow a task, if it has met others, through computing and receiving; tell whether it comes to that."""
    tasks, pe = g.tasks, g.tasks[task, PE]
    if tasks[task, PIECE] != MEETING:
        return False
    reached = tasks[task, UNTIL] + length
    begins = max(reached, arrival)
    received = begins + rules.overhead
    if received > g.pes[pe, LIMIT] or (begins > reached and begins > _check(g, rules, pe, task, reached)):
        return False
    _follow(g, task, reached, begins, received)
    g.clock[EVENTS] += 3
    return True


@part
def _follow(g, task, reached, begins, ends):
    """Follow a task that has met others: it computes, spins until what it waits for has come, and communicates."""
    tasks, pe, now = g.tasks, g.tasks[task, PE], g.tasks[task, UNTIL]
    _spend(g, pe, task, TIME_COMPUTING, now, reached)
    _spend(g, pe, task, TIME_SPINNING, reached, begins)
    _spend(g, pe, task, TIME_COMMUNICATING, begins, ends)
    tasks[task, COMPUTED] += reached - now
    tasks[task, STATEMENTS] += 1
    tasks[task, UNTIL] = ends


@part
def _next_superstep(g, rules, job):
    """Follow all tasks of a job through a superstep and its barrier; tell whether they come to that in the slice."""
    tasks, first, end = g.tasks, g.jobs[job, FIRST], g.jobs[job, FIRST] + g.jobs[job, SIZE]
    nominal, latest = _nominal(g, rules, first, job), 0
    if nominal >= tasks[first, REMAINING]:
        return False
    for task in range(first, end):
        tasks[task, LENGTH] = _length(g, rules, task, job, nominal)
        latest = max(latest, tasks[task, UNTIL] + tasks[task, LENGTH])
    release = latest + 2 * rules.latency + 4 * rules.overhead
    if release > g.clock[UPTO]:
        return False
    for task in range(first, end):
        reached, pe = tasks[task, UNTIL] + tasks[task, LENGTH], tasks[task, PE]
        if release > g.pes[pe, LIMIT] or (reached < latest and release > _check(g, rules, pe, task, reached)):
            return False
    for task in range(first, end):
        _follow(g, task, tasks[task, UNTIL] + tasks[task, LENGTH], release, release)
        tasks[task, REMAINING] -= nominal
        tasks[task, BURSTS] += 1
    g.clock[EVENTS] += 2 * (end - first)
    return True


# --- A task on its PE ---------------------------------------------------------------------------------------


@part
def _run(g, rules, pe, task, now, loads):
    """Follow a task that gets a PE, or goes on there, as far as can be told."""
    tasks, pes, limit = g.tasks, g.pes, g.pes[pe, LIMIT]
    if loads:
        pes[pe, RUNNING] = task
        g.clock[EVENTS] += 1
        if pes[pe, LOADED] != task:
            needs = pes[pe, CUT_LEFT] if pes[pe, CUT_TO] == task else rules.switch
            until = min(now + needs, limit)
            _spend(g, pe, task, TIME_SWITCHING, now, until)
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
        # Within a communication statement it communicates in this slice, too, wherever the statement began.
        tasks[task, STATEMENTS] += tasks[task, PIECE] > COMPUTING
    while True:
        piece = tasks[task, PIECE]
        if piece == WAITING:
            until = tasks[task, UNTIL]
            if until > now:
                check = _check(g, rules, pe, task, now)
                if until > check or until > limit:
                    _spin(g, pe, now, check, until)
                    return
                _spend(g, pe, task, TIME_SPINNING, now, until)
                now = until
            g.clock[EVENTS] += 1
            receives = tasks[task, OPERATION] == RECEIVE
            piece = tasks[task, PIECE] = RECEIVING if receives else DRAWING
            tasks[task, LENGTH] = rules.overhead
            tasks[task, HEAD] += not receives
        if piece == DRAWING:
            if _has_to_meet(g, task):
                _join(g, pe, task, now)
                return
            _next_operation(g, rules, task)
            piece = COMPUTING
        length = tasks[task, LENGTH]
        until = min(now + length, limit)
        if piece == COMPUTING:
            tasks[task, COMPUTED] += until - now
        _spend(g, pe, task, TIME_COMPUTING if piece == COMPUTING else TIME_COMMUNICATING, now, until)
        if now + length > limit:
            tasks[task, LENGTH] = now + length - limit
            _reach_limit(g, pe, limit)
            return
        now = until
        g.clock[EVENTS] += 1
        if piece == COMPUTING:
            if _operate(g, rules, pe, task, now):
                _free(g, pe, now)
                return
        else:
            if piece == SENDING:
                _deliver(g, rules, task, now + rules.latency)
            tasks[task, HEAD] += 1
            tasks[task, PIECE] = DRAWING


@part
def _free(g, pe, now):
    """Take the PE from its task."""
    pes = g.pes
    pes[pe, DOES], pes[pe, SINCE], pes[pe, RUNNING], pes[pe, CHANGE] = FREED, now, -1, now


@part
def _reach_limit(g, pe, limit):
    """Stop following a task: the slice is over, or the task of the row takes its PE back."""
    if limit < g.clock[UPTO]:
        _free(g, pe, limit)
    else:
        g.pes[pe, DOES], g.pes[pe, CHANGE] = BUSY, NEVER


@part
def _operate(g, rules, pe, task, now):
    """Execute the operation that a task has reached; tell whether that takes the PE from it."""
    tasks, operation = g.tasks, g.tasks[task, OPERATION]
    if operation == SEND:
        tasks[task, STATEMENTS] += 1
        tasks[task, PIECE], tasks[task, LENGTH] = SENDING, rules.overhead
        return False
    if operation == RECEIVE:
        tasks[task, STATEMENTS] += 1
        tasks[task, PIECE] = WAITING
        tasks[task, UNTIL] = g.queued[task, _in_ring(g, tasks[task, HEAD]), QUEUED_OTHER]
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
    if operation in (LAST_DISK, LAST_THINK):
        _finish(g, pe, task, until)
    else:
        g.ready[pe, tasks[task, PLACE]], tasks[task, PIECE] = until, DRAWING
    return True


@part
def _finish(g, pe, task, instant):
    job = g.tasks[task, JOB]
    g.tasks[task, DONE], g.ready[pe, g.tasks[task, PLACE]] = instant, NEVER
    g.jobs[job, LEFT] -= 1
    g.jobs[job, FINISH] = max(g.jobs[job, FINISH], instant)
    if g.jobs[job, LEFT] == 0:
        g.clock[NEXT_FINISH] = min(g.clock[NEXT_FINISH], g.jobs[job, FINISH])


@part
def _deliver(g, rules, task, arrival):
    """Bring the message that a task sends to its receiver."""
    at = _in_ring(g, g.tasks[task, HEAD])
    receiver, place = g.queued[task, at, QUEUED_PEER], g.queued[task, at, QUEUED_OTHER]
    g.queued[receiver, _in_ring(g, place), QUEUED_OTHER] = arrival
    if g.tasks[receiver, PIECE] == WAITING and g.tasks[receiver, HEAD] == place:
        _answer(g, rules, receiver, arrival)


@part
def _arrive(g, rules, task, now):
    """Bring a task to its barrier; the latest releases all, which need not be the one that is followed last."""
    job = g.tasks[task, JOB]
    g.tasks[task, PIECE], g.tasks[task, UNTIL] = WAITING, NEVER
    g.jobs[job, ARRIVED] += 1
    g.jobs[job, LATEST] = max(g.jobs[job, LATEST], now)
    if g.jobs[job, ARRIVED] < g.jobs[job, SIZE]:
        return
    g.jobs[job, ARRIVED] = 0
    release = g.jobs[job, LATEST] + 2 * rules.latency + 4 * rules.overhead
    first = g.jobs[job, FIRST]
    for other in range(first, first + g.jobs[job, SIZE]):
        if other == task:
            g.tasks[task, UNTIL] = release
        else:
            _answer(g, rules, other, release)


@part
def _answer(g, rules, task, arrival):
    """Tell a waiting task when what it waits for arrives."""
    pes, pe, place = g.pes, g.tasks[task, PE], g.tasks[task, PLACE]
    g.tasks[task, UNTIL] = arrival
    if g.ready[pe, place] > 0:
        g.ready[pe, place] = arrival
        pes[pe, ABSENT] -= 1
    if pes[pe, RUNNING] == task and pes[pe, DOES] == SPINNING:
        if min(arrival, pes[pe, CHECK]) <= pes[pe, LIMIT] and (arrival <= pes[pe, CHECK] or pes[pe, ABSENT] == 0):
            g.answered[g.clock[ANSWERED]] = pe
            g.clock[ANSWERED] += 1
    elif pes[pe, DOES] == IDLE and arrival < g.clock[UPTO] and _wanted(g, rules, pe, place):
        _set_event(g, pe, min(_event(g, pe), arrival))


# --- Spinning -----------------------------------------------------------------------------------------------


@part
def _check(g, rules, pe, task, now):
    """Give when a spin that begins now is looked at, or NEVER if nothing can come of that.

    That is known, unless a task that does I/O has made room until a message that has not been sent: it may be ready by
    then.
    """
    check = now + 2 * rules.latency + 4 * rules.overhead
    if not rules.spin_block or g.clock[BOUNDARY] - check <= rules.delta:
        return NEVER
    if g.pes[pe, ABSENT] > 0 and _other_has_io(g, pe, task, NEVER):
        return check
    return check if _other_has_io(g, pe, task, check) else NEVER


@part
def _spin(g, pe, now, check, until):
    """Let a task spin on its PE for longer than can be told."""
    pes, change = g.pes, min(check, until)
    if pes[pe, LIMIT] < g.clock[UPTO]:
        change = min(change, pes[pe, LIMIT])
    pes[pe, DOES], pes[pe, SINCE], pes[pe, CHECK], pes[pe, CHANGE] = SPINNING, now, check, change


@part
def _end_spin(g, rules, pe, now):
    """A spin is over, is to be looked at, or loses its PE to the task of the row: tell which task runs next, if any."""
    pes, task = g.pes, g.pes[pe, RUNNING]
    until = g.tasks[task, UNTIL]
    if until > now and rules.reclaim:
        _spend(g, pe, task, TIME_SPINNING, pes[pe, SINCE], now)
        _free(g, pe, now)
        return _next_task(g, rules, pe, now)
    if until > now and _other_has_io(g, pe, task, now):
        _spend(g, pe, task, TIME_SPINNING, pes[pe, SINCE], now)
        g.ready[pe, g.tasks[task, PLACE]] = until
        pes[pe, ABSENT] += until == NEVER
        _free(g, pe, now)
        return _next_task(g, rules, pe, now)
    if until > now:
        _spin(g, pe, pes[pe, SINCE], NEVER, until)
        return -1
    _spend(g, pe, task, TIME_SPINNING, pes[pe, SINCE], now)
    return task


@part
def _other_has_io(g, pe, task, now):
    """Tell whether another task of a PE that is ready does I/O or is interactive."""
    others = False
    for place in range(_places(g, pe)):
        others |= (g.ready[pe, place] <= now) & (g.does_io[pe, place] > 0) & (g.on[pe, place] != task)
    return others


# --- Which task a PE runs -----------------------------------------------------------------------------------


@part
def _ready(g, pe, task, now):
    return g.ready[pe, g.tasks[task, PLACE]] <= now


@part
def _go_on(g, rules, pe, now):
    """Give the task that a PE runs from an instant in mid-slice on, or -1."""
    does = g.pes[pe, DOES]
    if does == BUSY:  # what its task does next has been drawn
        return g.pes[pe, RUNNING]
    g.clock[EVENTS] += 1
    return _end_spin(g, rules, pe, now) if does == SPINNING else _next_task(g, rules, pe, now)


@part
def _next_task(g, rules, pe, now):
    """Give the task that a PE without one runs next in mid-slice, or -1 and let it idle."""
    pes, turn = g.pes, g.pes[pe, TURN]
    task, own = -1, turn if turn >= 0 and _ready(g, pe, turn, now) else -1
    if pes[pe, DOES] == IDLE:
        _spend(g, pe, -1, TIME_IDLE, pes[pe, SINCE], now)
        task = own
    if rules.reclaim:
        task = own
    if task < 0 and rules.priority:
        task = _best(g, rules, pe, now)
    if task < 0:
        task = own
    if task < 0:
        _idle(g, rules, pe, now)
    if rules.reclaim:
        _limit(g, pe, task)
    return task


@part
def _limit(g, pe, task):
    """Let a task that is not of the row keep its PE until that of the row is ready."""
    turn, upto = g.pes[pe, TURN], g.clock[UPTO]
    g.pes[pe, LIMIT] = upto if turn < 0 or turn == task else min(upto, g.ready[pe, g.tasks[turn, PLACE]])


@part
def _best(g, rules, pe, now):
    """Choose the ready task of the highest priority, and of equals the next in turn; -1 if there is none."""
    ready, priority, end = g.ready, g.priority, _places(g, pe)
    highest = np.int64(-1)
    for place in range(end):
        highest = max(highest, g.rank[pe, place] if ready[pe, place] <= now else np.int64(-1))
    level = np.int64(highest).view(np.float64)
    if highest < 0 or level < rules.beta:
        return -1
    enough, after = max(level - 1e-9, rules.beta), g.pes[pe, NEXT]
    turn = 2 * end
    for place in range(end):
        fits = (ready[pe, place] <= now) & (priority[pe, place] >= enough)
        turn = min(turn, (place if place >= after else place + end) if fits else 2 * end)
    chosen = turn - end if turn >= end else turn
    g.pes[pe, NEXT] = chosen + 1
    return g.on[pe, chosen]


@part
def _idle(g, rules, pe, now):
    """Let a PE idle until a task that it would run becomes ready."""
    event = NEVER
    for place in range(_places(g, pe)):
        event = min(event, g.ready[pe, place] if _wanted(g, rules, pe, place) else NEVER)
    g.pes[pe, DOES], g.pes[pe, SINCE], g.pes[pe, RUNNING], g.pes[pe, CHANGE] = IDLE, now, -1, event


@part
def _places(g, pe):
    """Give how many places of a PE to look through; in fours, which makes short work of it without branches."""
    return (g.pes[pe, TASKS] + 3) & ~3


@part
def _wanted(g, rules, pe, place):
    """Tell whether a PE that idles would run one of its tasks if it were ready."""
    return (g.pes[pe, TURN] == g.on[pe, place]) | (rules.priority & (g.priority[pe, place] >= rules.beta))


# --- Events -------------------------------------------------------------------------------------------------


@part
def _next_event(g):
    """Give a PE that can go on, else the one with the earliest event; and when that is."""
    if g.clock[ANSWERED] == 0:
        return _earliest_pe(g), g.tree[1]
    g.clock[ANSWERED] -= 1
    pe = g.answered[g.clock[ANSWERED]]
    instant = g.tasks[g.pes[pe, RUNNING], UNTIL]
    return pe, max(min(instant, g.pes[pe, CHECK]), g.pes[pe, SINCE]) if g.pes[pe, DOES] == SPINNING else instant


@part
def _alone(g, pe):
    """Tell whether nothing that others do has a part in what a PE does next."""
    spins = g.pes[pe, DOES] == SPINNING
    return g.pes[pe, ABSENT] == 0 and not (spins and g.tasks[g.pes[pe, RUNNING], UNTIL] == NEVER)


@part
def _event(g, pe):
    return g.tree[g.tree.size // 2 + pe]


@part
def _set_event(g, pe, instant):
    tree = g.tree
    at = U(tree.size // 2 + pe)
    if tree[at] == instant:
        return
    tree[at] = instant
    while at > U(1):
        at >>= U(1)
        tree[at] = min(tree[U(2) * at], tree[U(2) * at + U(1)])


@part
def _earliest_pe(g):
    """Find a PE that has the earliest event."""
    tree, at = g.tree, U(1)
    while at < U(tree.size // 2):
        at = U(2) * at + U(tree[U(2) * at] != tree[at])
    return np.int64(at) - tree.size // 2


@part
def _spend(g, pe, task, what, begin, end):
    """Note what a PE does on [begin, end)."""
    g.pes[pe, what] += end - begin
    if g.clock[LOGS] and end > begin:
        _log(g.log, g.clock, pe, task, what - TIME_COMPUTING, begin, end, task >= 0 and task == g.pes[pe, TURN])


@routine
def _log(log, clock, pe, task, what, begin, end, turn):
    at = clock[LOGGED]
    if at == log.shape[1]:
        clock[FULL] |= NO_LOG
        return
    log[LOG_PE, at], log[LOG_TASK, at], log[LOG_WHAT, at] = pe, task, what
    log[LOG_FROM, at], log[LOG_UNTIL, at] = begin, end
    log[LOG_ROW, at], log[LOG_TURN, at] = clock[CURRENT], turn
    clock[LOGGED] += 1


# --- The global switch --------------------------------------------------------------------------------------


@part
def _stop(g, rules, now):
    """Take their PEs from all tasks, which have been followed up to this instant."""
    pes = g.pes
    for pe in range(rules.pes):
        if pes[pe, DOES] == SPINNING:
            _spend(g, pe, pes[pe, RUNNING], TIME_SPINNING, pes[pe, SINCE], now)
        elif pes[pe, DOES] == IDLE:
            _spend(g, pe, -1, TIME_IDLE, pes[pe, SINCE], now)
        pes[pe, DOES] = BUSY  # until its turn comes


@part
def _classify(g, rules):
    """Let what tasks did in the slice change their memberships."""
    tasks = g.tasks
    for i in range(g.clock[HOLDERS]):
        task = g.held[i]
        communicated = tasks[task, STATEMENTS] >= rules.statements
        _measure(g.members, rules, task, tasks[task, DID_IO] and (rules.both or not communicated), communicated)
        _show(g, tasks[task, PE], tasks[task, PLACE], task)
        tasks[task, HELD] = tasks[task, STATEMENTS] = tasks[task, DID_IO] = 0
    g.clock[HOLDERS] = 0


@part
def _show(g, pe, place, task):
    """Let the PE of a task see what it is held to be."""
    members = g.members
    inputs = members[task, F_IO] > members[task, F_COMM] and members[task, F_IO] > members[task, F_COMP]
    g.does_io[pe, place] = inputs or g.jobs[g.tasks[task, JOB], KIND] == INTERACTIVE
    g.priority[pe, place] = members[task, PRIORITY]


@part
def _measure(members, rules, task, did_io, communicated):
    """Update the running measurements, which become the memberships by Bayes' rule; none may vanish."""
    io = members[task, S_IO] / 2 + (1 / 2 if did_io else 0)
    comm = members[task, S_COMM] / 2 + (1 / 2 if communicated else 0)
    comp = members[task, S_COMP] / 2 + (0 if did_io or communicated else 1 / 2)
    members[task, S_IO], members[task, S_COMM], members[task, S_COMP] = io, comm, comp
    io, comm, comp = io * members[task, F_IO], comm * members[task, F_COMM], comp * members[task, F_COMP]
    least = rules.floor * (io + comm + comp)  # of their sum, as if they had been shares of it already
    io, comm, comp = max(io, least), max(comm, least), max(comp, least)
    total = io + comm + comp
    share = 1 / total if total > 0 else 0.0  # without a floor all may vanish
    io, comm, comp = io * share, comm * share, comp * share
    members[task, F_IO], members[task, F_COMM], members[task, F_COMP] = io, comm, comp
    members[task, PRIORITY] = max(rules.alpha * io, comp)


@routine
def _drop_finished(g, rules, now):
    """Free the columns of finished jobs; drop empty rows, and unite rows where that is asked for."""
    clock, matrix, pes = g.clock, g.matrix, g.pes
    clock[STUCK], clock[NEXT_FINISH] = 0, NEVER
    for pe in range(rules.pes):
        kept = after = 0
        for place in range(pes[pe, TASKS]):
            task = g.on[pe, place]
            job = g.tasks[task, JOB]
            if g.jobs[job, LEFT] == 0 and g.jobs[job, FINISH] <= now:
                matrix[g.jobs[job, ROW], pe] = -1
                continue
            g.on[pe, kept], g.ready[pe, kept] = task, g.ready[pe, place]
            g.tasks[task, PLACE] = kept
            _show(g, pe, kept, task)
            kept += 1
            after += place < pes[pe, NEXT]
            if g.jobs[job, LEFT] == 0:
                clock[NEXT_FINISH] = min(clock[NEXT_FINISH], g.jobs[job, FINISH])
        for place in range(kept, pes[pe, TASKS]):
            g.ready[pe, place] = NEVER
        pes[pe, TASKS], pes[pe, NEXT] = kept, after
    if rules.unify:
        for row in range(clock[ROWS]):
            for other in range(row + 1, clock[ROWS]):
                if not _overlap(matrix, row, other, rules.pes):
                    for pe in range(rules.pes):
                        if matrix[other, pe] >= 0:
                            matrix[row, pe] = matrix[other, pe]
                            matrix[other, pe] = -1
    kept = before = 0
    for row in range(clock[ROWS]):
        empty = True
        for pe in range(rules.pes):
            empty = empty and matrix[row, pe] < 0
        if empty:
            continue
        for pe in range(rules.pes):
            task = matrix[row, pe]
            matrix[row, pe] = -1
            matrix[kept, pe] = task
            if task >= 0:
                g.jobs[g.tasks[task, JOB], ROW] = kept
        kept += 1
        before += row < clock[CURRENT]
    clock[ROWS], clock[CURRENT] = kept, before


@part
def _overlap(matrix, row, other, pes):
    both = 0
    for pe in range(pes):
        both += matrix[row, pe] >= 0 and matrix[other, pe] >= 0
    return both > 0


@part
def _admit(g, rules, now):
    """Place the jobs that have arrived, in their order, until one has to wait."""
    clock = g.clock
    while not clock[STUCK] and clock[NEXT_JOB] < g.jobs.shape[0] and g.jobs[clock[NEXT_JOB], ARRIVAL] <= now:
        job = clock[NEXT_JOB]
        row, column = _find_place(g, rules, g.jobs[job, SIZE])
        if row < 0:
            clock[STUCK] = 1
            return
        clock[ROWS] = max(clock[ROWS], row + 1)
        _place(g, rules, job, row, column, now)
        clock[NEXT_JOB] += 1


@part
def _has_room(g, rules, row, pe):
    """Tell whether a column of a row is free, on a node that may hold another task; the row may be a new one."""
    return g.pes[pe, TASKS] < rules.max_tasks and (row == g.clock[ROWS] or g.matrix[row, pe] < 0)


@part
def _find_place(g, rules, size):
    """Find row and first column for a job, or -1; but for buddies, its columns are the lowest with room."""
    found, fewest = -1, rules.pes + 1
    for row in range(g.clock[ROWS] + 1):
        if row == g.clock[ROWS] and found >= 0:
            break
        if rules.packing == BUDDY:
            column = _find_block(g, rules, row, size)
            if column >= 0:
                return row, column
            continue
        free = 0
        for pe in range(rules.pes):
            free += _has_room(g, rules, row, pe)
        if free >= size and free < fewest:
            found, fewest = row, free
            if rules.packing == FIRST_FIT:
                break
    return found, 0


@part
def _find_block(g, rules, row, size):
    """Find the first aligned block of a power of two that has room for a job, or -1."""
    block = 1
    while block < size:
        block *= 2
    for column in range(0, rules.pes - size + 1, block):
        fits = True
        for pe in range(column, min(column + block, rules.pes)):
            fits = fits and _has_room(g, rules, row, pe)
        if fits:
            return column
    return -1


@part
def _place(g, rules, job, row, column, now):
    jobs, matrix = g.jobs, g.matrix
    jobs[job, PLACED], jobs[job, ROW] = now, row
    _start(g, rules, job)
    task = jobs[job, FIRST]
    end = task + jobs[job, SIZE]
    pe = column
    while task < end:
        if _has_room(g, rules, row, pe):
            matrix[row, pe] = task
            place = g.pes[pe, TASKS]
            g.on[pe, place], g.ready[pe, place] = task, 0
            g.tasks[task, PE], g.tasks[task, PLACE] = pe, place
            _show(g, pe, place, task)
            g.pes[pe, TASKS] = place + 1
            task += 1
        pe += 1


@part
def _turn(g, rules):
    """Switch to the current row."""
    clock, pes = g.clock, g.pes
    rows = clock[ROWS]
    clock[CURRENT] = row = clock[CURRENT] % rows if rows else 0
    for pe in range(rules.pes):
        pes[pe, TURN], pes[pe, LIMIT] = g.matrix[row, pe] if rows else -1, clock[UPTO]
    if rules.alternate:
        for further in range(1, rows):
            _alternate(g, rules, (row + further) % rows)


@part
def _take_turn(g, rules, pe, now):
    """Give the task that a PE runs after a global switch, or -1 and let it idle."""
    task = g.pes[pe, TURN]
    if task < 0 or not _ready(g, pe, task, now):
        task = _best(g, rules, pe, now) if rules.priority else -1
    if task < 0:
        g.pes[pe, CUT_TO] = -1
        _idle(g, rules, pe, now)
    if rules.reclaim:
        _limit(g, pe, task)
    return task


@part
def _alternate(g, rules, row):
    """Give the jobs of another row a turn, too, where all their columns are free."""
    for pe in range(rules.pes):
        task = g.matrix[row, pe]
        if task >= 0 and task == g.jobs[g.tasks[task, JOB], FIRST]:
            end = task + g.jobs[g.tasks[task, JOB], SIZE]
            free = True
            for other in range(task, end):
                free = free and g.pes[g.tasks[other, PE], TURN] < 0
            if free:
                for other in range(task, end):
                    g.pes[g.tasks[other, PE], TURN] = other


# --- The simulation -----------------------------------------------------------------------------------------


@maker
def _new_gang(arrival, size, kind, demand, key, begins, given, rules, room, logged):
    n = arrival.size
    jobs = np.zeros((n, 14), np.int64)
    jobs[:, ARRIVAL], jobs[:, SIZE], jobs[:, KIND], jobs[:, DEMAND], jobs[:, KEY] = arrival, size, kind, demand, key
    jobs[:, PLACED] = -1
    tasks = 0
    for job in range(n):
        jobs[job, FIRST] = tasks
        tasks += size[job]
    leaves = 1
    while leaves < rules.pes:
        leaves *= 2
    places = (rules.max_tasks + 3) & ~3
    priority = np.zeros((rules.pes, places), np.float64)
    g = Gang(
        jobs,
        np.zeros((tasks, 19), np.int64),
        np.zeros((tasks, 7), np.float64),
        np.zeros((rules.pes, 19), np.int64),
        np.full((rules.pes, places), -1, np.int64),
        np.full((rules.pes, places), NEVER, np.int64),
        priority,
        priority.view(np.int64),
        np.zeros((rules.pes, places), np.int64),
        np.zeros(rules.pes * rules.max_tasks, np.int64),
        np.full((min(n, rules.pes * rules.max_tasks) + 1, rules.pes), -1, np.int64),
        np.zeros((tasks, AHEAD), np.float64),
        np.zeros((tasks, AHEAD // 2), np.int64),
        np.zeros((tasks, room, 4), np.int64),
        begins,
        given,
        np.full(2 * leaves, NEVER, np.int64),
        np.zeros(rules.pes, np.int64),
        np.zeros(rules.pes, np.int64),
        np.zeros((7, logged), np.int64),
        np.zeros(16, np.int64),
    )
    g.tasks[:, PE] = -1
    g.tasks[:, DONE] = NEVER
    g.clock[NEXT_FINISH] = NEVER
    g.pes[:, LOADED] = g.pes[:, RUNNING] = g.pes[:, CUT_TO] = g.pes[:, TURN] = -1
    return g


@kernel
def gang(arrival, size, kind, demand, key, begins, given, rules, room, logged, log_from, log_until, watched, halt):
    """Simulate gang scheduling.

    Parameters
    ----------
    arrival, size, kind, demand, key : int64, shape (n_jobs,)
        In the order of the arrivals: nanoseconds; tasks; IO and so on; dedicated time of each task in nanoseconds, at
        least 1; key of the job's random numbers, 32 bits. Of a job with programs only INTERACTIVE makes a difference,
        and it must be neither MESSAGES nor BARRIERS.
    begins, given : int64, shapes (n_tasks + 1,), (n_given, 4)
        Programs of the user's own, see `Gang`: QUEUED_LENGTH at least 1, tasks numbered through, and NEVER as the last
        column of RECEIVE. Those of a job must be able to end.
    rules : Rules
    room : int
        How many operations may be known ahead of a task, a power of two; of a job that sends messages or has programs.
    logged : int
        How many entries the log may have.
    log_from, log_until : int
        What PEs do is logged for the slices that have a part in this span, nanoseconds.
    watched : int64, shape (n_watched,)
        Tasks, numbered through, whose memberships are noted at the end of every slice.
    halt
        As in `schedlab.kernels.fcfs`.

    Returns
    -------
    full : int
        NO_ROOM if room was too small, plus NO_LOG if the log was: then the rest is of no use.
    jobs : int64, shape (14, n_jobs)
    tasks : int64, shape (19, n_tasks)
    members : float64, shape (7, n_tasks)
    pes : int64, shape (19, pes)
    log : int64, shape (7, n_logged)
        See the rows that this module names.
    history : float64, shape (n_watched, n_slices, 8)
        Measurements, memberships, priority, and whether the task held a PE in the slice.
    events : int
    """
    g = _new_gang(arrival, size, kind, demand, key, begins, given, rules, room, logged)
    slices = -(-rules.horizon // rules.slice)
    history = np.zeros((watched.size, slices, 8), np.float64)
    while g.clock[NOW] < rules.horizon and not g.clock[FULL] and not halt[0]:
        _simulate_slice(g, rules, log_from, log_until, watched, history, halt)
    return (
        g.clock[FULL],
        g.jobs.T,
        g.tasks.T,
        g.members.T,
        g.pes.T,
        g.log[:, : g.clock[LOGGED]].copy(),
        history,
        g.clock[EVENTS],
    )


@part
def _simulate_slice(g, rules, log_from, log_until, watched, history, halt):
    clock, now = g.clock, g.clock[NOW]
    clock[BOUNDARY] = now + rules.slice
    clock[UPTO] = min(clock[BOUNDARY], rules.horizon)
    clock[LOGS] = now < log_until and clock[UPTO] > log_from
    # So many rows come before the next one, and so many are left of them when empty rows go.
    clock[CURRENT] = min(clock[CURRENT] + 1, clock[ROWS])
    if clock[NEXT_FINISH] <= now:
        _drop_finished(g, rules, now)
    _admit(g, rules, now)
    _turn(g, rules)
    switched, pe, goes_on = 0, 0, False
    while not clock[FULL] and not halt[0]:
        loads = True
        if not goes_on and switched < rules.pes:
            pe, now = switched, clock[NOW]
            task = _take_turn(g, rules, pe, now)
            switched += 1
        elif not goes_on and clock[ANSWERED] == 0 and clock[MEETINGS] > 0:
            _meet(g, rules)
            continue
        else:
            if not goes_on:
                pe, now = _next_event(g)
                if now > clock[UPTO]:
                    break
            spins = g.pes[pe, RUNNING]
            task = _go_on(g, rules, pe, now)
            loads = task != spins
        if task >= 0:  # here alone: a call would hand over all arrays and rules, which takes as long as an event
            _run(g, rules, pe, task, now, loads)
        # Who gets a PE at the end is decided by the global switch.
        now, last = g.pes[pe, CHANGE], clock[UPTO] - (g.pes[pe, DOES] != SPINNING)
        goes_on = now <= last and _alone(g, pe)
        if not goes_on:
            _set_event(g, pe, now if now <= last else NEVER)
    _stop(g, rules, clock[UPTO])
    for i in range(watched.size):
        history[i, clock[SLICES], 7] = g.tasks[watched[i], HELD]
    if clock[UPTO] < rules.horizon:
        _classify(g, rules)
    for i in range(watched.size):
        for row in range(7):
            history[i, clock[SLICES], row] = g.members[watched[i], row]
    clock[SLICES] += 1
    clock[NOW] = clock[UPTO]


# --- What jobs do, without a machine ------------------------------------------------------------------------


@kernel
def programs(size, kind, demand, key, begins, given, rules, room, listed):
    """List what the tasks of jobs do, in the order in which each task does it.

    Parameters
    ----------
    size, kind, demand, key, begins, given, rules, room
        As of `gang`; of the rules what jobs do.
    listed : int
        How many operations may be listed; 0 if only the sums are wanted.

    Returns
    -------
    full : int
        As of `gang`.
    operations : int64, shape (5, n_operations)
        Task, numbered through; nanoseconds of computing before the operation; the operation. Of DISK, THINK and their
        like: nanoseconds, 0. Of SEND: the receiving task, and the place of its RECEIVE among its operations; of
        RECEIVE: the sending task, 0. Else 0, 0.
    sums : int64, shape (2, n_tasks), nanoseconds
        Computing; disk and thinking.
    """
    g = _new_gang(np.zeros(size.size, np.int64), size, kind, demand, key, begins, given, rules, room, 0)
    operations, sums = np.zeros((5, listed), np.int64), np.zeros((2, g.tasks.shape[0]), np.int64)
    for job in range(size.size):
        if not g.clock[FULL]:
            _start(g, rules, job)
            _list(g, rules, job, operations, sums)
    return g.clock[FULL], operations[:, : g.clock[LOGGED]].copy(), sums


@routine
def _list(g, rules, job, operations, sums):
    """Let the tasks of a job do an operation each, until all have ended."""
    jobs, tasks = g.jobs, g.tasks
    while jobs[job, LEFT] > 0 and not g.clock[FULL]:
        for task in range(jobs[job, FIRST], jobs[job, FIRST] + jobs[job, SIZE]):
            if tasks[task, DONE] == NEVER:
                while g.jobs[job, KIND] == MESSAGES and _has_to_meet(g, task) and not g.clock[FULL]:
                    _next_pair(g, rules, job)
                _next_operation(g, rules, task)
                operation = tasks[task, OPERATION]
                burst = tasks[task, BURST] if operation in (DISK, THINK, LAST_DISK, LAST_THINK) else 0
                sums[0, task] += tasks[task, LENGTH]
                sums[1, task] += burst
                if operations.shape[1] > 0:
                    _list_operation(g, operations, task, burst)
                if operation in (END, LAST_DISK, LAST_THINK):
                    tasks[task, DONE] = 0
                    jobs[job, LEFT] -= 1
                else:
                    tasks[task, HEAD] += 1


@part
def _list_operation(g, operations, task, burst):
    at = g.clock[LOGGED]
    if at == operations.shape[1]:
        g.clock[FULL] |= NO_LOG
        return
    operation, place = g.tasks[task, OPERATION], _in_ring(g, g.tasks[task, HEAD])
    operations[0, at], operations[1, at], operations[2, at] = task, g.tasks[task, LENGTH], operation
    operations[3, at] = g.queued[task, place, QUEUED_PEER] if operation in (SEND, RECEIVE) else burst
    operations[4, at] = g.queued[task, place, QUEUED_OTHER] if operation == SEND else 0
    g.clock[LOGGED] += 1
