"""The state of a simulation of gangs: what it is given, and the columns of its tables. Times in nanoseconds."""

from typing import NamedTuple

import numpy as np

from .._jit import maker
from ..sorted_pairs import NEVER
from ..variates import AHEAD

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
IDLE, BUSY, SPINNING, LOST_TASK = range(4)

# Columns of Gang.jobs.
ARRIVAL, SIZE, KIND, DEMAND, KEY, FIRST, LEFT, PLACED, FINISH, ROW, AT_BARRIER, LATEST, ALIVE, MET = range(14)

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


class Jobs(NamedTuple):
    """What jobs ask for, in the order of their arrivals; each int64, shape (n_jobs,).

    Attributes
    ----------
    arrival : nanoseconds
    size : tasks
    kind : IO and so on
        Of a job with programs only INTERACTIVE makes a difference, and it must be neither MESSAGES nor BARRIERS.
    demand : nanoseconds
        Dedicated time of each task, at least 1.
    key : key of the job's random numbers, 32 bits
    """

    arrival: np.ndarray
    size: np.ndarray
    kind: np.ndarray
    demand: np.ndarray
    key: np.ndarray


class Programs(NamedTuple):
    """Programs of the user's own.

    Attributes
    ----------
    begins : int64, shape (n_tasks + 1,)
        Where the program of each task begins in `given`; where it ends, too, if it has none.
    given : int64, shape (n_given, 4)
        Columns as of `Gang.queued`: QUEUED_LENGTH at least 1, tasks numbered through, and NEVER as the last column of
        RECEIVE. Those of a job must be able to end.
    """

    begins: np.ndarray
    given: np.ndarray


class Logging(NamedTuple):
    """What is logged: what PEs do in the slices that have a part in a span of time.

    Attributes
    ----------
    most : int
        Entries that the log may have.
    begin, end : int, nanoseconds
    """

    most: int
    begin: int
    end: int


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
    programs : Programs
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
    programs: Programs
    tree: np.ndarray
    answered: np.ndarray
    meetings: np.ndarray
    log: np.ndarray
    clock: np.ndarray


@maker
def new_gang(given, programs, rules, room, logged):
    """Make an empty machine; what it is given is described in `slices.gang`."""
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
