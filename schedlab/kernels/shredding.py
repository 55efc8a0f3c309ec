"""Opportune job shredding and flooding: parameter sweeps on one site or on several.

After Kurian, Balaji and Sadayappan, The Ohio State University, 2003. A sweep is one parallel job of many independent
sequential tasks of equal length. *Flooding* replaces it at its submission by its tasks, as jobs of one processor, at
its place in the queue. *Opportune job shredding* leaves the parallel job in the queue. After every pass of the local
scheduler, an application-level scheduler (ALS) starts tasks on idle processors if they do not disturb the local
schedule: under EASY, a task must end by the shadow time or take an extra processor (any idle one if the queue is
empty); under conservative backfilling, every reservation in the profile stays. When the parallel job starts, it runs
the remaining tasks; when no task is left, it is withdrawn, and the local scheduler immediately makes another pass.

With several sites, each has its own queue and scheduler, and all share one pool of sweeps, which every ALS serves in
pool order: submit time, home site, place at home. A sweep may have copies in the queues of other sites; the first to
start claims the remaining tasks and the others are cancelled.

At each distinct instant: completions of all sites, arrivals of all sites, then the passes. Sites are visited in the
order of their index, each until nothing changes, in rounds until nothing changes anywhere. A site is visited only if
something happened since its last visit. This changes no result: time alone lets no task start that could not start
before, because the reservation of the head stays in place while nothing is freed, and every step of the profile is an
event or still ahead.

Each site is a `Cluster`, made of rows of a few arrays that all sites share, with the reservation of `easy` and the book
of `conservative`. These know nothing of tasks: the tasks that an ALS starts at one instant form a batch, which is a job
of its own, in one of the places behind the site's jobs. The places are reused, since each batch holds a processor. Two
things are not shared with the other kernels: the clock, which all sites have in common, and EASY's pass, in which under
flooding an entry of the queue may stand for many equal jobs. Cost grows with batches and events, not with tasks. Clock
ticks are fractions of a second such that every task takes a whole number of ticks at every site.

An early completion is one before the estimated end, of a job or of tasks; conservative backfilling then compresses.
With `release`, a parallel job takes no more processors than it has tasks left, and the local scheduler makes another
pass before the ALS may use the processors that the job leaves. A copy at a smaller site is estimated as whole rounds of
tasks.
"""

from typing import NamedTuple

import numpy as np

from ._jit import kernel, maker, part, routine
from .cluster import (
    ARRIVED,
    BEGUN,
    EARLY,
    FREE,
    FREED,
    NEWCOMER,
    NOW,
    SCALARS,
    WAITS,
    Cluster,
    Jobs,
    arrive,
    begin,
    complete,
    next_arrival,
    next_end,
    open_instant,
    waiting,
)
from .conservative import (
    FREED_UNTIL,
    LISTED_UNTIL,
    Book,
    compress,
    next_due,
    place_newcomers,
    release_early,
    start_due,
    unlist,
)
from .hole_bounds import HoleBounds, new_holes
from .profile import add, clear, forget_past, least
from .reservation import EXTRA, HEAD, NOBODY, SHADOW, reserve_for_head, still_blocked
from .sorted_pairs import (
    NEVER,
    SortedPairs,
    back,
    first_item,
    front,
    insert,
    new_pairs,
    place_of,
    remove,
    remove_at,
    size_of,
)

# Rows of Sites.columns: those of `Jobs` and `Cluster`; the reservations of `Book`; the sweep of an entry, or -1; and
# the processors that it requests, 0 for a batch.
SUBMIT, RUN, ESTIMATE, PROCS, START, PROMISE, RANK, STARTED, RESERVED, SWEEP, WIDTH = range(11)

# Lists of Sites.lists. Rows of Sites.few: the windows of these lists and of the profile; the clock; the memory of the
# book and of its holes; and the state.
ENDS, RUNNING, QUEUE, DUE, PROFILE, CLOCK, MEMORY, HOLES, STATE = range(9)

# Places in the state, after those of reservation.py: free places for batches; processors requested by the queued jobs;
# processor-ticks lost; whether something happened since the last visit; and whether a reservation was withdrawn.
SPARE, DEMAND, LOST, STIRRED, WITHDRAWN = range(3, 8)

# Columns of the log. A row records one of these: tasks of a sweep that started; an entry of a queue that started as a
# parallel job; reservations compressed because one was withdrawn; or another round of the instant at all sites.
LOG_WHAT, LOG_SITE, LOG_TIME, LOG_COUNT, LOG_KIND = range(5)
TASKS_START, JOB_STARTS, COMPRESSED, ANOTHER_ROUND = range(4)


class Sites(NamedTuple):
    """The sites: every array has a row for each site, except `served` and `halt`, which are constant.

    There are few arrays because a call passes nine to thirteen words for each. With one array for each field of
    `Cluster` and `Book`, 37 in all, calls took a third of the time (ojs, 20 % sweeps: 13 ms instead of 9).
    """

    # int64 of shape (n_sites, 11, n_entries): by entry of the site's queue; the places for batches of tasks follow the
    # entries.
    columns: np.ndarray
    lists: np.ndarray  # int64 of shape (n_sites, 4, 2, n_entries): keys and items
    # int64 of shape (n_sites, 2, n_steps): the profile; used under conservative backfilling only, like the book.
    steps: np.ndarray
    few: np.ndarray  # int64 of shape (n_sites, 9, 10): scalars
    early: np.ndarray  # int64 of shape (n_sites, n_running): as in `Cluster`
    spare: np.ndarray  # int64 of shape (n_sites, n_places): the free places for batches
    holes: np.ndarray  # int64 of shape (n_sites, 2, n_classes): the longest holes and the scratch of `HoleBounds`
    served: np.ndarray  # int64 of shape (procs + 1,): as in `HoleBounds`
    halt: np.ndarray  # int64 of shape (1,)


class Sweeps(NamedTuple):
    """The sweeps, ordered by submit time, home site and place at home."""

    left: np.ndarray  # int64 of shape (n_sweeps,): tasks not yet started; modified in place
    claimed: np.ndarray  # int64 of shape (n_sweeps,): tasks that the parallel job runs; modified in place
    end: np.ndarray  # int64 of shape (n_sweeps,), ticks: when the last of the started tasks ends; modified in place
    run: np.ndarray  # int64 of shape (n_sites, n_sweeps), ticks, like the estimates: of one task
    estimate: np.ndarray
    entry: np.ndarray  # int64 of shape (n_sites, n_sweeps): the sweep's place among the jobs of a site, or -1
    pool: SortedPairs  # queued sweeps with tasks left; modified in place


class Entries(NamedTuple):
    """The queues of all sites: their jobs, and copies of sweeps whose home is another site."""

    offset: np.ndarray  # int64 of shape (n_sites + 1,): the entries of site s are ``offset[s]:offset[s + 1]``
    # Times in ticks; in the order of each site's queue: submit time, home site, place at home. The run time of a sweep
    # covers all rounds of its tasks, but under flooding one task. Processors are at least 1 and at most those of the
    # site; under flooding 1 for a sweep.
    jobs: Jobs
    sweep: np.ndarray  # int64 of shape (n_entries,): number of the sweep, in this order over all sites, or -1


class Tasks(NamedTuple):
    """The tasks of the sweeps."""

    count: np.ndarray  # int64 of shape (n_sweeps,)
    run: np.ndarray  # int64 of shape (n_sites, n_sweeps), ticks, like the estimates: of one task, at least 1
    estimate: np.ndarray


class Rules(NamedTuple):
    """The rules of the simulation."""

    conservative: bool  # whether the local schedulers use conservative backfilling instead of EASY
    flooding: bool  # EASY only
    # Whether a parallel job gives back processors that have no task left, instead of holding them for its last round.
    release: bool


@kernel
def shredding(entries, machine, tasks, rules, halt):
    """Simulate opportune job shredding or flooding; without sweeps, the local schedulers alone. Times in ticks.

    `machine` has the processors of each site. Return start times, -1 for an entry that never started as a parallel job;
    the first promised start time, or -1; the completion of the last task of each sweep, wherever it ran; how many tasks
    the parallel job ran; the log, int64 of shape (n_rows, 5), in order: sweep (or entry of the site), site, instant,
    count of tasks, kind; and the capacity lost at each site, in processor-ticks.
    """
    n_sites, n, offset = machine.size, entries.sweep.size, entries.offset
    sites = _new_sites(entries, machine, tasks, halt)
    sweeps = _new_sweeps(entries, tasks)
    # In a round each batch takes a processor, and an entry starts once or is withdrawn, which may compress once.
    room = min(machine.sum(), tasks.count.sum()) + 2 * n + 1
    log, used = np.empty((room, 5), np.int64), np.zeros(1, np.int64)
    while not _go_on(sites, sweeps, rules, log, used, room):
        log = _copied(log, used[0], 2 * used[0] + room)
    start, promise, lost = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n_sites, np.int64)
    for s in range(n_sites):
        lost[s] = sites.few[s, STATE, LOST]
        for i in range(offset[s], offset[s + 1]):
            start[i] = sites.columns[s, START, i - offset[s]]
            promise[i] = sites.columns[s, PROMISE, i - offset[s]]
    log = _copied(log, used[0], used[0])
    return start, promise, sweeps.end, sweeps.claimed, log, lost


@maker
def _copied(log, rows, room):
    """Copy some rows to a log with `room` rows."""
    copy = np.empty((room, log.shape[1]), np.int64)
    for row in range(rows):
        for column in range(log.shape[1]):
            copy[row, column] = log[row, column]
    return copy


@routine
def _go_on(sites, sweeps, rules, log, used, room):
    """Advance from instant to instant; False if the log may lack room for the next one."""
    n_sites = sites.few.shape[0]
    while True:
        now = _next_instant(sites, rules.conservative)
        if now == NEVER or sites.halt[0]:
            return True
        if used[0] + room > log.shape[0]:
            return False
        if now == sites.few[0, CLOCK, NOW]:
            _note(log, used, -1, -1, now, 0, ANOTHER_ROUND)
        _open(sites, now)
        for s in range(n_sites):
            _arrivals(sites, sweeps, s, rules)
        stirred = True
        while stirred:
            stirred = False
            for s in range(n_sites):
                while sites.few[s, STATE, STIRRED]:
                    sites.few[s, STATE, STIRRED] = 0
                    stirred = True
                    if rules.conservative:
                        _conservative_pass(sites, sweeps, s, rules, log, used)
                    else:
                        _easy_pass(sites, sweeps, s, rules, log, used)
                    if not rules.flooding:
                        _serve(sites, sweeps, s, rules, log, used)


@maker
def _new_sites(entries, machine, tasks, halt):
    n_sites, widest, offset, jobs = machine.size, machine.max(), entries.offset, entries.jobs
    longest = (offset[1:] - offset[:-1]).max()
    places = min(widest, tasks.count.sum() + tasks.count.size)  # a batch holds at least one processor
    n = longest + places
    holes = new_holes(widest)
    sites = Sites(
        np.zeros((n_sites, 11, n), np.int64),
        np.empty((n_sites, 4, 2, n), np.int64),
        np.empty((n_sites, 2, 3 * n + 8), np.int64),
        np.zeros((n_sites, 9, SCALARS), np.int64),
        np.empty((n_sites, min(n, widest)), np.int64),
        np.empty((n_sites, places), np.int64),
        np.zeros((n_sites, 2, holes.longest.size), np.int64),
        holes.served,
        halt,
    )
    columns, few = sites.columns, sites.few
    for s in range(n_sites):
        for i in range(n):
            columns[s, SUBMIT, i] = columns[s, RESERVED, i] = NEVER
            columns[s, START, i], columns[s, PROMISE, i], columns[s, SWEEP, i] = WAITS, -1, -1
            # For a batch, the item in `ends` is its own place; jobs overwrite theirs.
            columns[s, RANK, i] = columns[s, STARTED, i] = i
        for i in range(offset[s + 1] - offset[s]):
            entry = offset[s] + i
            columns[s, SUBMIT, i], columns[s, RUN, i] = jobs.submit[entry], jobs.run[entry]
            columns[s, ESTIMATE, i] = jobs.estimate[entry]
            columns[s, PROCS, i] = columns[s, WIDTH, i] = jobs.procs[entry]
            columns[s, SWEEP, i] = entries.sweep[entry]
        for i in range(places):
            sites.spare[s, i] = longest + i
        few[s, STATE, SPARE], few[s, STATE, HEAD] = places, NOBODY
        few[s, CLOCK, NOW], few[s, CLOCK, FREE] = -1, machine[s]
        few[s, MEMORY, LISTED_UNTIL] = NEVER
        _clear(sites, s, machine[s])
    return sites


@routine  # a maker would count references to the rows, which `_profile` does not
def _clear(sites, s, machine):
    clear(_profile(sites, s), 0, machine)


@maker
def _new_sweeps(entries, tasks):
    offset, sweep, n = entries.offset, entries.sweep, tasks.count.size
    entry = np.full((offset.size - 1, n), -1, np.int64)
    for s in range(offset.size - 1):
        for i in range(offset[s], offset[s + 1]):
            if sweep[i] >= 0:
                entry[s, sweep[i]] = i - offset[s]
    zeros = np.zeros(n, np.int64)
    return Sweeps(tasks.count.copy(), zeros, zeros.copy(), tasks.run, tasks.estimate, entry, new_pairs(2 * n))


@part
def _list(sites, s, which):
    return SortedPairs(sites.lists[s, which, 0], sites.lists[s, which, 1], sites.few[s, which])


@part
def _profile(sites, s):
    return SortedPairs(sites.steps[s, 0], sites.steps[s, 1], sites.few[s, PROFILE])


@part
def _cluster(sites, s):
    columns = sites.columns
    return Cluster(
        Jobs(columns[s, SUBMIT], columns[s, RUN], columns[s, ESTIMATE], columns[s, PROCS]),
        columns[s, START],
        columns[s, PROMISE],
        columns[s, RANK],
        columns[s, STARTED],
        sites.early[s],
        _list(sites, s, ENDS),
        _list(sites, s, RUNNING),
        _list(sites, s, QUEUE),
        sites.few[s, CLOCK],
        sites.halt,
    )


@part
def _book(sites, s):
    return Book(
        _profile(sites, s),
        _list(sites, s, DUE),
        sites.columns[s, RESERVED],
        HoleBounds(sites.served, sites.holes[s, 0], sites.holes[s, 1], sites.few[s, HOLES]),
        sites.few[s, MEMORY],
    )


# --- The clock ----------------------------------------------------------------------------------------------


@part
def _next_instant(sites, conservative):
    now = NEVER
    for s in range(sites.few.shape[0]):
        c = _cluster(sites, s)
        now = min(now, next_end(c), next_arrival(c))
        if conservative:
            now = min(now, next_due(c, _book(sites, s)))
    return now


@part
def _open(sites, now):
    """Advance to an instant; count the capacity lost until then, and complete the jobs that end then."""
    for s in range(sites.few.shape[0]):
        c, state = _cluster(sites, s), sites.few[s, STATE]
        state[LOST] += (now - c.clock[NOW]) * min(state[DEMAND], c.clock[FREE])
        open_instant(c, now)
        while next_end(c) == now:
            job = c.begun[first_item(c.ends)]
            complete(c)
            if sites.columns[s, WIDTH, job] == 0:
                sites.spare[s, state[SPARE]] = job
                state[SPARE] += 1
        state[STIRRED] = c.clock[FREED]


@part
def _arrivals(sites, sweeps, s, rules):
    c, state = _cluster(sites, s), sites.few[s, STATE]
    now = c.clock[NOW]
    while next_arrival(c) == now:
        job = c.clock[ARRIVED]
        arrive(c)
        sweep = sites.columns[s, SWEEP, job]
        state[DEMAND] += _wanted(sites, sweeps, s, job, rules.flooding)
        state[STIRRED] = 1
        if sweep >= 0 and not rules.flooding:
            last = back(sweeps.pool)
            if last == front(sweeps.pool) or place_of(sweeps.pool, sweep, sweep) == last:
                insert(sweeps.pool, sweep, sweep)
            for other in range(sites.few.shape[0]):
                sites.few[other, STATE, STIRRED] = 1
    if rules.conservative:
        book = _book(sites, s)
        forget_past(book.steps, now)
        if c.clock[EARLY]:
            _compress(c, book)
        place_newcomers(c, book)
        if next_due(c, book) == now:
            state[STIRRED] = 1


@part
def _wanted(sites, sweeps, s, job, flooding):
    """Count the processors that a queued job requests, for the loss of capacity."""
    sweep = sites.columns[s, SWEEP, job]
    if sweep < 0:
        return sites.columns[s, WIDTH, job]
    return sweeps.left[sweep] if flooding else min(sites.columns[s, WIDTH, job], sweeps.left[sweep])


# --- The local scheduler ------------------------------------------------------------------------------------


@routine
def _easy_pass(sites, sweeps, s, rules, log, used):
    """Make a pass of EASY; under flooding, an entry of the queue may be many equal jobs of one processor."""
    c, state = _cluster(sites, s), sites.few[s, STATE]
    queue, procs, estimate, clock = c.queue, c.jobs.procs, c.jobs.estimate, c.clock
    if still_blocked(c, state):
        # All older candidates still fail; newcomers are last in the queue.
        place = max(front(queue) + 1, place_of(queue, clock[NEWCOMER], 0))
    else:
        clock[FREED] = 0
        place = front(queue)
        while place < back(queue) and procs[queue.item[place]] <= clock[FREE]:
            place = _start(sites, sweeps, s, place, clock[FREE], rules, log, used)
        reserve_for_head(c, state)
        place = front(queue) + 1
    clock[NEWCOMER] = clock[ARRIVED]
    free, extra, longest = clock[FREE], state[EXTRA], state[SHADOW] - clock[NOW]
    while place < back(queue) and free > 0:
        job = queue.item[place]
        in_time = estimate[job] <= longest
        most = free if in_time else min(free, extra)
        if procs[job] > most:
            place += 1
            continue
        length = size_of(queue)
        place = _start(sites, sweeps, s, place, most, rules, log, used)
        if not in_time:
            extra -= free - clock[FREE]
            state[EXTRA] = extra
        free = clock[FREE]
        if size_of(queue) == length:  # tasks are left
            place += 1


@part
def _start(sites, sweeps, s, place, most, rules, log, used):
    """Start the job at a place of the queue, or as many tasks as may start; return the next place."""
    c, state = _cluster(sites, s), sites.few[s, STATE]
    job = c.queue.item[place]
    sweep = sites.columns[s, SWEEP, job]
    if not rules.flooding or sweep < 0:
        place = begin(c, place)
        _note(log, used, job, s, c.clock[NOW], 0, JOB_STARTS)
        _settle(sites, sweeps, s, job, rules)
        return place
    count = min(sweeps.left[sweep], most)
    _start_tasks(sites, sweeps, s, sweep, count, log, used)
    sweeps.left[sweep] -= count
    state[DEMAND] -= count
    return remove_at(c.queue, place) if sweeps.left[sweep] == 0 else place


@routine
def _conservative_pass(sites, sweeps, s, rules, log, used):
    c, book, state = _cluster(sites, s), _book(sites, s), sites.few[s, STATE]
    if state[WITHDRAWN]:
        state[WITHDRAWN] = 0
        _compress(c, book)
        _note(log, used, -1, s, c.clock[NOW], 0, COMPRESSED)
    begun = c.clock[BEGUN]
    start_due(c, book)
    for i in range(begun, c.clock[BEGUN]):
        _note(log, used, c.begun[i], s, c.clock[NOW], 0, JOB_STARTS)
        _settle(sites, sweeps, s, c.begun[i], rules)


@routine
def _compress(c, book):
    release_early(c, book)
    c.clock[EARLY] = 0
    compress(c, book, c.queue)


@routine
def _settle(sites, sweeps, s, job, rules):
    """Do what follows the start of a job; a sweep claims all remaining tasks."""
    c, state, sweep = _cluster(sites, s), sites.few[s, STATE], sites.columns[s, SWEEP, job]
    state[DEMAND] -= _wanted(sites, sweeps, s, job, False)
    if sweep < 0:
        return
    left, width, now = sweeps.left[sweep], sites.columns[s, WIDTH, job], c.clock[NOW]
    remove(sweeps.pool, sweep, sweep)
    _cancel(sites, sweeps, sweep, s)
    sweeps.claimed[sweep], sweeps.left[sweep] = left, 0
    sweeps.end[sweep] = max(sweeps.end[sweep], now + c.jobs.run[job])
    if rules.release and left % width:
        # The job holds the processors of the last round. The processors that it does not need form a batch that ends
        # before it, or, if this is the only round, are given back at once, followed by another pass.
        c.jobs.procs[job] = left % width
        if left > width:
            _occupy(sites, s, width - left % width, left // width * sweeps.run[s, sweep], c.jobs.estimate[job])
        else:
            c.clock[FREE] += width - left
            c.clock[FREED] = state[STIRRED] = 1
            _give_back(_book(sites, s), state, now, now + c.jobs.estimate[job], width - left)


@part
def _give_back(book, state, begin, end, procs):
    """Free the time that a reservation or a job would have held; other reservations have to be compressed."""
    add(book.steps, begin, end, procs)
    book.memory[FREED_UNTIL] = max(book.memory[FREED_UNTIL], end)
    state[WITHDRAWN] = 1


@part
def _cancel(sites, sweeps, sweep, here):
    """Remove the copies of a sweep from the queues, except at the site that has started it (-1: none has)."""
    for s in range(sites.few.shape[0]):
        job = sweeps.entry[s, sweep]
        if job >= 0 and s != here:
            _withdraw(sites, sweeps, s, job)


@routine
def _withdraw(sites, sweeps, s, job):
    c, state = _cluster(sites, s), sites.few[s, STATE]
    remove(c.queue, c.rank[job], job)
    state[DEMAND] -= _wanted(sites, sweeps, s, job, False)
    state[STIRRED] = 1
    book = _book(sites, s)
    reserved = book.reserved[job]
    if reserved < NEVER:
        unlist(book, job)
        _give_back(book, state, reserved, reserved + c.jobs.estimate[job], sites.columns[s, WIDTH, job])


@part
def _note(log, used, what, s, now, count, kind):
    row = used[0]
    log[row, LOG_WHAT], log[row, LOG_SITE], log[row, LOG_TIME] = what, s, now
    log[row, LOG_COUNT], log[row, LOG_KIND] = count, kind
    used[0] = row + 1


# --- Tasks --------------------------------------------------------------------------------------------------


@part
def _occupy(sites, s, procs, run, estimate):
    """Record that processors, which no longer count as free, are held from now on."""
    c, state = _cluster(sites, s), sites.few[s, STATE]
    now = c.clock[NOW]
    state[SPARE] -= 1
    job = sites.spare[s, state[SPARE]]
    c.start[job] = now
    c.jobs.procs[job], c.jobs.run[job], c.jobs.estimate[job] = procs, run, estimate
    insert(c.ends, now + run, job)
    insert(c.running, now + estimate, job)


@routine
def _start_tasks(sites, sweeps, s, sweep, count, log, used):
    c = _cluster(sites, s)
    now, run, estimate = c.clock[NOW], sweeps.run[s, sweep], sweeps.estimate[s, sweep]
    _occupy(sites, s, count, run, estimate)
    c.clock[FREE] -= count
    sweeps.end[sweep] = max(sweeps.end[sweep], now + run)
    _note(log, used, sweep, s, now, count, TASKS_START)


@routine
def _serve(sites, sweeps, s, rules, log, used):
    """Let the ALS of a site start tasks; stop if this withdraws a job from the site's own queue."""
    c, state, pool = _cluster(sites, s), sites.few[s, STATE], sweeps.pool
    clock, now = c.clock, c.clock[NOW]
    steps = _profile(sites, s)
    place = front(pool)
    while place < back(pool) and clock[FREE] > 0 and not state[STIRRED]:
        sweep = pool.item[place]
        until = now + sweeps.estimate[s, sweep]
        count = min(sweeps.left[sweep], clock[FREE])
        if rules.conservative:
            count = min(count, least(steps, now, until))
        elif waiting(c) and until > state[SHADOW]:
            count = min(count, state[EXTRA])
            state[EXTRA] -= count
        if count > 0:
            _start_tasks(sites, sweeps, s, sweep, count, log, used)
            if rules.conservative:
                add(steps, now, until, -count)
            if count == sweeps.left[sweep]:
                place = remove_at(pool, place)
                _cancel(sites, sweeps, sweep, -1)
                sweeps.left[sweep] = 0
                continue
            _take(sites, sweeps, sweep, count)
        place += 1


@part
def _take(sites, sweeps, sweep, count):
    """Record that tasks of a queued sweep were started: its copies request and run fewer."""
    for s in range(sites.few.shape[0]):
        job = sweeps.entry[s, sweep]
        if job >= 0:
            sites.few[s, STATE, DEMAND] -= _wanted(sites, sweeps, s, job, False)
    sweeps.left[sweep] -= count
    for s in range(sites.few.shape[0]):
        job = sweeps.entry[s, sweep]
        if job >= 0:
            sites.few[s, STATE, DEMAND] += _wanted(sites, sweeps, s, job, False)
            rounds = -(-sweeps.left[sweep] // sites.columns[s, WIDTH, job])
            sites.columns[s, RUN, job] = rounds * sweeps.run[s, sweep]
