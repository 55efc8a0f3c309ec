"""The state of a simulation of gang scheduling: inputs, the columns of its tables, and what PEs spend their time on.

Times are in nanoseconds. The time of a PE is added up by what it does and, on request, logged piece by piece.
"""

from typing import NamedTuple

import numpy as np

from .._jit import inlined, maker, routine
from ..sorted_pairs import NEVER
from ..variates import AHEAD

IO, EMBARRASSING, MESSAGES, BARRIERS, INTERACTIVE = range(5)  # kinds of jobs

FIRST_FIT, BEST_FIT, BUDDY = range(3)  # packings

# Operations, at the end of a computing piece. A DISK or THINK that ends its task is listed as LAST_DISK or LAST_THINK.
END, DISK, THINK, SEND, RECEIVE, BARRIER, LAST_DISK, LAST_THINK = range(8)

# What a task does next when it holds a PE. DRAWING: it has to draw its next operation. MEETING: it meets the other
# tasks of its job, because they draw together.
DRAWING, COMPUTING, SENDING, RECEIVING, WAITING, MEETING = range(6)

# What a PE does until the next instant at which something can change: it idles, works until the end of the slice,
# spins, or has just lost its task.
IDLE, BUSY, SPINNING, LOST_TASK = range(4)

# Columns of Gang.jobs.
ARRIVAL, SIZE, KIND, DEMAND, KEY, FIRST, LEFT, PLACED, FINISH, ROW, AT_BARRIER, LATEST, ALIVE, MET = range(14)

# Columns of Gang.tasks: its job and PE; what it does next, for how long, and which operation follows; how long its disk
# or think operation takes; when the message or release it waits for arrives; its place on its PE; when it is done; how
# many bursts it has drawn, where the current block of random numbers begins, and how much of its demand is left after
# these bursts; how much it has computed; the key of its random numbers; its communication statements, whether it did
# I/O, and whether it held its PE in this slice; its position in its ring of operations, and the end of the ring; how
# many slices have been measured.
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
    MEASURED,
) = range(20)

# Columns of Gang.members: running measurements and memberships of I/O, communicating and computing; priority.
S_IO, S_COMM, S_COMP, F_IO, F_COMM, F_COMP, PRIORITY = range(7)

# Columns of Gang.pes: the last task that it loaded; the task that it runs or loads; what it does, since when, when that
# may change within the slice, and when a spin is checked; until when its task may keep it; how many of its tasks made
# room for others until they receive a message that has not been sent; the task that an interrupted switch was loading,
# and how much of that switch is left; when its disk is free; the place after the task last chosen by priority; how many
# tasks it has; the task whose turn it is; its time, by what it did; how long its disk takes for all requests so far,
# and how long the PE computed while its disk worked.
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
    DISK_TIME,
    OVERLAP,
) = range(21)

# Columns of Gang.queued: operations that are known but not done yet, of jobs that send messages or have their own
# programs. The third is the other task for SEND and RECEIVE, and the duration for DISK and THINK. The last is, for
# SEND, the position of its RECEIVE among the operations of the peer; for RECEIVE, when the message arrives.
QUEUED_LENGTH, QUEUED_OPERATION, QUEUED_PEER, QUEUED_OTHER = range(4)

# Rows of Gang.log, including the current row of the matrix and whether it is the task's turn.
LOG_PE, LOG_TASK, LOG_WHAT, LOG_FROM, LOG_UNTIL, LOG_ROW, LOG_TURN = range(7)

# Places in Gang.clock: the current instant; the end of the slice, at most the horizon; the next multiple of the slice;
# the number of rows; the current row; the next job to be placed; whether there is no room for it; when the next of the
# placed jobs is finished; numbers of events, log entries and slices; whether the slice is logged; which arrays were too
# small; how many PEs can continue; how many tasks held their PEs in this slice; and how many jobs have tasks that have
# met.
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
    """The machine, the scheduler and the behaviour of jobs; times in nanoseconds, at least 1."""

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
    window: int  # number of slices of the moving average of measurements; 0 for exponential smoothing
    both: bool
    priority: bool  # whether PEs run other tasks than that of the row
    round_robin: bool  # whether they do so in turn, as if all tasks had the same priority
    spin_block: bool
    reclaim: bool
    packing: int  # {FIRST_FIT, BEST_FIT, BUDDY}
    unify: bool
    alternate: bool
    law: int  # distribution of all bursts, see `variates`
    compute: int  # mean bursts: computing and disk of I/O jobs
    disk: int
    gap: int  # computing between messages
    superstep: int  # computing between barriers
    react: int  # computing and thinking of interactive jobs
    think: int
    imbalance: float  # how far a task's superstep may deviate from its nominal length, as a fraction of it


class Jobs(NamedTuple):
    """What jobs ask for, in the order of their arrivals; each int64, shape (n_jobs,)."""

    arrival: np.ndarray  # nanoseconds
    size: np.ndarray  # tasks
    # IO and so on: for a job with programs, only INTERACTIVE makes a difference; MESSAGES and BARRIERS are not allowed
    kind: np.ndarray
    demand: np.ndarray  # nanoseconds: dedicated time of each task, at least 1
    key: np.ndarray  # key of the job's random numbers, 32 bits


class Programs(NamedTuple):
    """User-defined programs."""

    # int64 of shape (n_tasks + 1,): where the program of each task begins in `given`, which is also where it ends if
    # the task has none.
    begins: np.ndarray
    # int64 of shape (n_given, 4): columns as in `Gang.queued`: QUEUED_LENGTH is at least 1, tasks are numbered across
    # all jobs, and the last column of RECEIVE is NEVER. The tasks of a job must be able to end.
    given: np.ndarray


class Logging(NamedTuple):
    """What is logged: what PEs do in the slices that overlap a span of time."""

    most: int  # maximum number of log entries
    begin: int  # nanoseconds
    end: int


class Gang(NamedTuple):
    """A simulation; every field is modified in place. Times in nanoseconds."""

    jobs: np.ndarray  # int64 of shape (n_jobs, 14)
    tasks: np.ndarray  # int64 of shape (n_tasks, 20)
    members: np.ndarray  # float64 of shape (n_tasks, 7)
    # int8 of shape (n_tasks, window): a ring of what each task did in its last slices: 1 for I/O, plus 2 for
    # communicating.
    recent: np.ndarray
    pes: np.ndarray  # int64 of shape (pes, 21): the values of one PE are adjacent in memory
    # int64 of shape (pes, places): the tasks on each PE, in the order in which they were placed, which is the order of
    # their jobs.
    on: np.ndarray
    ready: np.ndarray  # int64 of shape (pes, places): when each of them can run; NEVER in an empty place
    # float64 of shape (pes, places): priority of each of them, as in `members`; under round robin, alpha.
    priority: np.ndarray
    rank: np.ndarray  # int64 of shape (pes, places): the same bits read as integers, which sort in the same order
    # int64 of shape (pes, places): whether each of them does I/O, judging by its memberships, or is interactive.
    does_io: np.ndarray
    held: np.ndarray  # int64 of shape (pes * max_tasks,): tasks that held their PEs in this slice
    matrix: np.ndarray  # int64 of shape (most_rows, pes): the task in each row and column, or -1
    units: np.ndarray  # float64 of shape (n_tasks, 16): current random numbers, one block of each task's stream
    # int64 of shape (n_tasks, 8): random numbers for the next pairs of a job, in the row of its first task.
    pairs: np.ndarray
    queued: np.ndarray  # int64 of shape (n_tasks, room, 4): a ring of operations for each task
    programs: Programs
    # int64 of shape (2 * leaves,): the next event of each PE, in the leaves of a tree whose inner nodes hold the
    # minimum of their children.
    tree: np.ndarray
    # int64 of shape (pes,): PEs that can continue: the message or release they spin for is on its way, or the next
    # operation of their tasks has been drawn.
    answered: np.ndarray
    meetings: np.ndarray  # int64 of shape (pes,): jobs with tasks that have met
    log: np.ndarray  # int64 of shape (7, most_logged)
    clock: np.ndarray  # int64 of shape (16,)


@maker
def new_gang(given, programs, rules, room, logged):
    """Create an empty machine; `slices.gang` describes its input."""
    n = given.size.size
    jobs = np.zeros((n, 14), np.int64)
    tasks = 0
    for job in range(n):
        jobs[job, ARRIVAL], jobs[job, SIZE], jobs[job, KIND] = given.arrival[job], given.size[job], given.kind[job]
        jobs[job, DEMAND], jobs[job, KEY] = given.demand[job], given.key[job]
        jobs[job, FIRST], jobs[job, PLACED] = tasks, -1
        tasks += given.size[job]
    leaves = 1
    while leaves < rules.pes:
        leaves *= 2
    places = (rules.max_tasks + 3) & ~3
    priority = np.zeros((rules.pes, places), np.float64)
    g = Gang(
        jobs,
        np.zeros((tasks, 20), np.int64),
        np.zeros((tasks, 7), np.float64),
        np.zeros((tasks, rules.window), np.int8),
        np.zeros((rules.pes, 21), np.int64),
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
        programs,
        np.full(2 * leaves, NEVER, np.int64),
        np.zeros(rules.pes, np.int64),
        np.zeros(rules.pes, np.int64),
        np.zeros((7, logged), np.int64),
        np.zeros(16, np.int64),
    )
    for task in range(tasks):
        g.tasks[task, PE], g.tasks[task, DONE] = -1, NEVER
    g.clock[NEXT_FINISH] = NEVER
    for pe in range(rules.pes):
        g.pes[pe, LOADED] = g.pes[pe, RUNNING] = g.pes[pe, CUT_TO] = g.pes[pe, TURN] = -1
    return g


@inlined
def spend(g, pe, task, what, begin, end):
    """Record what a PE does on [begin, end)."""
    g.pes[pe, what] += end - begin
    if what == TIME_COMPUTING and begin < g.pes[pe, DISK_FREE]:  # its disk gets no request meanwhile
        g.pes[pe, OVERLAP] += min(end, g.pes[pe, DISK_FREE]) - begin
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
