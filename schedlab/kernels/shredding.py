"""Opportune job shredding and flooding: parameter sweeps on one site or on several.

After Kurian, Balaji and Sadayappan, The Ohio State University, 2003. A sweep is one parallel job of many independent
sequential tasks of equal length. *Flooding* replaces it at its submission by its tasks, as jobs of one processor, in
its place of the queue. *Opportune job shredding* leaves the parallel job in the queue; after every pass of the local
scheduler an application-level scheduler (ALS) starts tasks on idle processors where they do not disturb the local
schedule: under EASY, a task ends by the shadow time or takes an extra processor (any idle one where the queue is
empty); under conservative backfilling the profile keeps every reservation. When the parallel job starts it runs the
tasks that are left; when none is left it is withdrawn, which gives the local scheduler another pass at once.

Several sites have queues and schedulers of their own, and one pool of sweeps, which every ALS serves in its order:
submit time, home site, place at home. A sweep may have a copy in the queues of other sites; the first to start claims
what is left and the others are cancelled.

At each distinct instant: completions of all sites, arrivals of all sites, then the passes: sites in the order of their
index, each until nothing changes, in rounds until nothing changes anywhere. A site is visited where something happened
since its last visit. That is no departure: time alone lets no task start that could not before. The reservation of the
head stays where it is while nothing is freed, and a step of the profile is an event or lies ahead.

Each site is a `Cluster`, a row of arrays that have one more dimension, with the reservation of `easy` and the book of
`conservative`. So that these need to know nothing of tasks, those that an ALS starts at one instant are a job of
their own, in one of the places behind the site's jobs; places are used again, since each holds a processor. Two things
are not shared: the clock, which is that of all sites, and EASY's pass, in which under flooding an entry of the queue
may be many equal jobs. Cost grows with batches and events, not with tasks. Clock ticks are fractions of a second such
that every task takes a whole number of them at every site.

An early completion is one before the estimated end, of a job or of tasks: conservative backfilling compresses. With
`release` a parallel job takes no more processors than it has tasks left, and the local scheduler makes another pass
before the ALS may have those that it leaves. A copy at a smaller site is estimated as whole rounds of tasks.
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
    NEXT_DUE,
    Book,
    compress,
    look_for_due,
    next_due,
    place_newcomers,
    release_early,
    start_due,
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

# Places in Sites.state, after those of reservation.py: free places for batches, processors that the queued jobs want,
# processor-ticks lost, whether something happened since the last visit, whether a reservation was withdrawn.
SPARE, DEMAND, LOST, STIRRED, WITHDRAWN = range(3, 8)

# Columns of the log; what its row is about: tasks of a sweep that started, an entry of a queue that started as a
# parallel job, reservations compressed because one was withdrawn, or another round of the instant at all sites.
LOG_WHAT, LOG_SITE, LOG_TIME, LOG_COUNT, LOG_KIND = range(5)
TASKS_START, JOB_STARTS, COMPRESSED, ANOTHER_ROUND = range(4)


class Sites(NamedTuple):
    """The sites: every array but `halt` has a row for each. Constant are `halt`, `sweep`, `width`, `holes.served`.

    Attributes
    ----------
    cluster : Cluster
        Behind the entries of each site's queue come the places for batches of tasks.
    book : Book
        Used under conservative backfilling only.
    sweep : int64, shape (n_sites, n_entries)
        Which sweep an entry is, or -1.
    width : int64, shape (n_sites, n_entries)
        Processors that the entry asks for; 0 for a batch.
    spare : int64, shape (n_sites, n_places)
        The free places for batches.
    state : int64, shape (n_sites, 8)
        The reservation of the head and the scalars.
    """

    cluster: Cluster
    book: Book
    sweep: np.ndarray
    width: np.ndarray
    spare: np.ndarray
    state: np.ndarray


class Sweeps(NamedTuple):
    """The sweeps, in the order of submit time, home site and place at home.

    Attributes
    ----------
    left : int64, shape (n_sweeps,)
        Tasks not yet started; modified in place.
    claimed : int64, shape (n_sweeps,)
        Tasks that the parallel job runs; modified in place.
    end : int64, shape (n_sweeps,), ticks
        When the last of the started tasks ends; modified in place.
    run, estimate : int64, shape (n_sites, n_sweeps), ticks
        Of a task.
    entry : int64, shape (n_sites, n_sweeps)
        The sweep's place among the jobs of a site, or -1.
    pool : SortedPairs
        Queued sweeps with tasks left; modified in place.
    """

    left: np.ndarray
    claimed: np.ndarray
    end: np.ndarray
    run: np.ndarray
    estimate: np.ndarray
    entry: np.ndarray
    pool: SortedPairs


class Entries(NamedTuple):
    """The queues of all sites: their jobs, and copies of sweeps that live elsewhere.

    Attributes
    ----------
    offset : int64, shape (n_sites + 1,)
        The entries of site s are ``offset[s]:offset[s + 1]``.
    jobs : Jobs
        Times in ticks; in the order of each site's queue: submit time, home site, place at home. The run time of a
        sweep is that of all rounds of its tasks, and under flooding of one task. Processors are at least 1 and at most
        those of the site; under flooding 1 for a sweep.
    sweep : int64, shape (n_entries,)
        Number of the sweep, in that order over all sites, or -1.
    """

    offset: np.ndarray
    jobs: Jobs
    sweep: np.ndarray


class Tasks(NamedTuple):
    """The tasks of the sweeps.

    Attributes
    ----------
    count : int64, shape (n_sweeps,)
    run, estimate : int64, shape (n_sites, n_sweeps), ticks
        Of one task, at least 1.
    """

    count: np.ndarray
    run: np.ndarray
    estimate: np.ndarray


class Rules(NamedTuple):
    """What is simulated.

    Attributes
    ----------
    conservative : bool
        The local schedulers use conservative backfilling, not EASY.
    flooding : bool
        EASY only.
    release : bool
        A parallel job gives processors back as they run dry, and does not hold them for its last round.
    """

    conservative: bool
    flooding: bool
    release: bool


@kernel
def shredding(entries, machine, tasks, rules, halt):
    """Simulate opportune job shredding or flooding; without sweeps, the local schedulers alone.

    Parameters
    ----------
    entries : Entries
    machine : int64, shape (n_sites,)
        Processors.
    tasks : Tasks
    rules : Rules
    halt
        As in `schedlab.kernels.fcfs`.

    Returns
    -------
    start, promise : int64, shape (n_entries,), ticks
        Start times, -1 for what never started as a parallel job; the first start time promised, -1 if none was.
    end : int64, shape (n_sweeps,), ticks
        Completion: of the last task, wherever it ran.
    claimed : int64, shape (n_sweeps,)
        Tasks that the parallel job ran.
    log : int64, shape (n_rows, 5)
        What happened, in order: sweep (or entry of the site), site, instant (ticks), count of tasks, kind.
    lost : int64, shape (n_sites,), processor-ticks
        Loss of capacity.
    """
    n_sites, n, offset = machine.size, entries.sweep.size, entries.offset
    sites = _new_sites(entries, machine, tasks, halt)
    sweeps = _new_sweeps(entries, tasks)
    # In a round each batch takes a processor, and an entry starts once, or is withdrawn, which may compress once.
    room = min(machine.sum(), tasks.count.sum()) + 2 * n + 1
    log, used = np.empty((room, 5), np.int64), np.zeros(1, np.int64)
    while not _go_on(sites, sweeps, rules, log, used, room):
        log = _copied(log, used[0], 2 * used[0] + room)
    start, promise = np.empty(n, np.int64), np.empty(n, np.int64)
    for s in range(n_sites):
        for i in range(offset[s], offset[s + 1]):
            start[i] = sites.cluster.start[s, i - offset[s]]
            promise[i] = sites.cluster.promise[s, i - offset[s]]
    log = _copied(log, used[0], used[0])
    return start, promise, sweeps.end, sweeps.claimed, log, sites.state[:, LOST].copy()


@maker
def _copied(log, rows, room):
    """Copy some rows to a log with room for so many."""
    copy = np.empty((room, log.shape[1]), np.int64)
    for row in range(rows):
        for column in range(log.shape[1]):
            copy[row, column] = log[row, column]
    return copy


@routine
def _go_on(sites, sweeps, rules, log, used, room):
    """Go from instant to instant; False where the log may not have room for the next."""
    n_sites = sites.state.shape[0]
    while True:
        now = _next_instant(sites, rules.conservative)
        if now == NEVER or sites.cluster.halt[0]:
            return True
        if used[0] + room > log.shape[0]:
            return False
        if now == sites.cluster.clock[0, NOW]:
            _note(log, used, -1, -1, now, 0, ANOTHER_ROUND)
        _open(sites, now)
        for s in range(n_sites):
            _arrivals(sites, sweeps, s, rules)
        stirred = True
        while stirred:
            stirred = False
            for s in range(n_sites):
                while sites.state[s, STIRRED]:
                    sites.state[s, STIRRED] = 0
                    stirred = True
                    if rules.conservative:
                        _conservative_pass(sites, sweeps, s, rules, log, used)
                    else:
                        _easy_pass(sites, sweeps, s, rules, log, used)
                    if not rules.flooding:
                        _serve(sites, sweeps, s, rules, log, used)


@maker
def _rows(n_sites, length, value):
    return np.full((n_sites, length), value, np.int64)


@maker
def _lists(n_sites, capacity):
    return SortedPairs(_rows(n_sites, capacity, 0), _rows(n_sites, capacity, 0), _rows(n_sites, 2, 0))


@maker
def _new_sites(entries, machine, tasks, halt):
    n_sites, widest, offset, given = machine.size, machine.max(), entries.offset, entries.jobs
    longest = (offset[1:] - offset[:-1]).max()
    places = min(widest, tasks.count.sum() + tasks.count.size)  # a batch holds a processor
    n = longest + places
    jobs = Jobs(_rows(n_sites, n, NEVER), _rows(n_sites, n, 0), _rows(n_sites, n, 0), _rows(n_sites, n, 0))
    rank = _rows(n_sites, n, 0)
    c = Cluster(
        jobs,
        _rows(n_sites, n, WAITS),
        _rows(n_sites, n, -1),
        rank,
        _rows(n_sites, n, 0),
        _rows(n_sites, min(n, widest), 0),
        _lists(n_sites, n),
        _lists(n_sites, n),
        _lists(n_sites, n),
        _rows(n_sites, SCALARS, 0),
        halt,
    )
    steps, one = _lists(n_sites, 3 * n + 8), new_holes(widest)
    classes = one.longest.size
    holes = HoleBounds(one.served, _rows(n_sites, classes, 0), _rows(n_sites, classes, 0), _rows(n_sites, 2, 0))
    book = Book(steps, _lists(n_sites, n), _rows(n_sites, n, NEVER), holes, _rows(n_sites, 3, 0))
    sites = Sites(
        c,
        book,
        _rows(n_sites, n, -1),
        _rows(n_sites, n, 0),
        _rows(n_sites, places, 0),
        _rows(n_sites, 8, 0),
    )
    for s in range(n_sites):
        for i in range(offset[s + 1] - offset[s]):
            entry = offset[s] + i
            jobs.submit[s, i], jobs.run[s, i] = given.submit[entry], given.run[entry]
            jobs.estimate[s, i] = given.estimate[entry]
            jobs.procs[s, i] = sites.width[s, i] = given.procs[entry]
            sites.sweep[s, i] = entries.sweep[entry]
        for i in range(n):
            rank[s, i] = c.begun[s, i] = i  # what `ends` says of a batch is its own place; jobs overwrite theirs
        for i in range(places):
            sites.spare[s, i] = longest + i
        sites.state[s, SPARE] = places
        sites.state[s, HEAD] = NOBODY
        c.clock[s, NOW] = -1
        c.clock[s, FREE] = machine[s]
        book.memory[s, NEXT_DUE] = NEVER
        _clear(steps, s, machine[s])
    return sites


@routine  # a maker would count references to the rows, which `_pairs` does not
def _clear(steps, s, machine):
    clear(_pairs(steps, s), 0, machine)


@maker
def _new_sweeps(entries, tasks):
    offset, sweep, n = entries.offset, entries.sweep, tasks.count.size
    entry = _rows(offset.size - 1, n, -1)
    for s in range(offset.size - 1):
        for i in range(offset[s], offset[s + 1]):
            if sweep[i] >= 0:
                entry[s, sweep[i]] = i - offset[s]
    none = np.zeros(n, np.int64)
    return Sweeps(tasks.count.copy(), none, none.copy(), tasks.run, tasks.estimate, entry, new_pairs(2 * n))


@part
def _pairs(lists, s):
    return SortedPairs(lists.key[s], lists.item[s], lists.window[s])


@part
def _cluster(sites, s):
    c = sites.cluster
    jobs = c.jobs
    return Cluster(
        Jobs(jobs.submit[s], jobs.run[s], jobs.estimate[s], jobs.procs[s]),
        c.start[s],
        c.promise[s],
        c.rank[s],
        c.begun[s],
        c.early[s],
        _pairs(c.ends, s),
        _pairs(c.running, s),
        _pairs(c.queue, s),
        c.clock[s],
        c.halt,
    )


@part
def _book(sites, s):
    book = sites.book
    holes = book.holes
    return Book(
        _pairs(book.steps, s),
        _pairs(book.due, s),
        book.reserved[s],
        HoleBounds(holes.served, holes.longest[s], holes.since[s], holes.memory[s]),
        book.memory[s],
    )


# --- The clock ----------------------------------------------------------------------------------------------


@part
def _next_instant(sites, conservative):
    now = NEVER
    for s in range(sites.state.shape[0]):
        c = _cluster(sites, s)
        now = min(now, next_end(c), next_arrival(c))
        if conservative:
            now = min(now, next_due(_book(sites, s)))
    return now


@part
def _open(sites, now):
    """Go on to an instant; count what was lost until then and complete what ends then."""
    for s in range(sites.state.shape[0]):
        c, state = _cluster(sites, s), sites.state[s]
        state[LOST] += (now - c.clock[NOW]) * min(state[DEMAND], c.clock[FREE])
        open_instant(c, now)
        while next_end(c) == now:
            job = c.begun[first_item(c.ends)]
            complete(c)
            if sites.width[s, job] == 0:
                sites.spare[s, state[SPARE]] = job
                state[SPARE] += 1
        state[STIRRED] = c.clock[FREED]


@part
def _arrivals(sites, sweeps, s, rules):
    c, state = _cluster(sites, s), sites.state[s]
    now = c.clock[NOW]
    while next_arrival(c) == now:
        job = c.clock[ARRIVED]
        arrive(c)
        sweep = sites.sweep[s, job]
        state[DEMAND] += _wanted(sites, sweeps, s, job, rules.flooding)
        state[STIRRED] = 1
        if sweep >= 0 and not rules.flooding:
            last = back(sweeps.pool)
            if last == front(sweeps.pool) or place_of(sweeps.pool, sweep, sweep) == last:
                insert(sweeps.pool, sweep, sweep)
            for other in range(sites.state.shape[0]):
                sites.state[other, STIRRED] = 1
    if rules.conservative:
        book = _book(sites, s)
        forget_past(book.steps, now)
        if c.clock[EARLY]:
            _compress(c, book)
        place_newcomers(c, book)
        if next_due(book) == now:
            state[STIRRED] = 1


@part
def _wanted(sites, sweeps, s, job, flooding):
    """Count the processors that a queued job wants, for the loss of capacity."""
    sweep = sites.sweep[s, job]
    if sweep < 0:
        return sites.width[s, job]
    return sweeps.left[sweep] if flooding else min(sites.width[s, job], sweeps.left[sweep])


# --- The local scheduler ------------------------------------------------------------------------------------


@routine
def _easy_pass(sites, sweeps, s, rules, log, used):
    """Make a pass of EASY; under flooding an entry of the queue may be many equal jobs of one processor."""
    c, state = _cluster(sites, s), sites.state[s]
    queue, procs, estimate, clock = c.queue, c.jobs.procs, c.jobs.estimate, c.clock
    if still_blocked(c, state):
        # All older candidates still fail; newcomers are the last of the queue.
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
    """Start the job at a place of the queue, or as many tasks as may start; give the place of what comes next."""
    c, state = _cluster(sites, s), sites.state[s]
    job = c.queue.item[place]
    sweep = sites.sweep[s, job]
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
    c, book, state = _cluster(sites, s), _book(sites, s), sites.state[s]
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
    """Note what comes of the start of a job; a sweep claims all tasks that are left."""
    c, state, sweep = _cluster(sites, s), sites.state[s], sites.sweep[s, job]
    state[DEMAND] -= _wanted(sites, sweeps, s, job, False)
    if sweep < 0:
        return
    left, width, now = sweeps.left[sweep], sites.width[s, job], c.clock[NOW]
    remove(sweeps.pool, sweep, sweep)
    _cancel(sites, sweeps, sweep, s)
    sweeps.claimed[sweep], sweeps.left[sweep] = left, 0
    sweeps.end[sweep] = max(sweeps.end[sweep], now + c.jobs.run[job])
    if rules.release and left % width:
        # The last round is the job's; the processors that it does not need are a batch that ends before it,
        # or, where it is the only round, are given back at once, for which there is another pass.
        c.jobs.procs[job] = left % width
        if left > width:
            _occupy(sites, s, width - left % width, left // width * sweeps.run[s, sweep], c.jobs.estimate[job])
        else:
            c.clock[FREE] += width - left
            c.clock[FREED] = state[STIRRED] = 1
            _give_back(_book(sites, s), state, now, now + c.jobs.estimate[job], width - left)


@part
def _give_back(book, state, begin, end, procs):
    """Free what a reservation or a job would have held; the reservations of others are to be compressed."""
    add(book.steps, begin, end, procs)
    book.memory[FREED_UNTIL] = max(book.memory[FREED_UNTIL], end)
    state[WITHDRAWN] = 1


@part
def _cancel(sites, sweeps, sweep, here):
    """Take the copies of a sweep out of the queues, but for the site that has started it (-1: none has)."""
    for s in range(sites.state.shape[0]):
        job = sweeps.entry[s, sweep]
        if job >= 0 and s != here:
            _withdraw(sites, sweeps, s, job)


@routine
def _withdraw(sites, sweeps, s, job):
    c, state = _cluster(sites, s), sites.state[s]
    remove(c.queue, c.rank[job], job)
    state[DEMAND] -= _wanted(sites, sweeps, s, job, False)
    state[STIRRED] = 1
    book = _book(sites, s)
    reserved = book.reserved[job]
    if reserved < NEVER:
        look_for_due(c.queue, book, -1)
        _give_back(book, state, reserved, reserved + c.jobs.estimate[job], sites.width[s, job])


@part
def _note(log, used, what, s, now, count, kind):
    row = used[0]
    log[row, LOG_WHAT], log[row, LOG_SITE], log[row, LOG_TIME] = what, s, now
    log[row, LOG_COUNT], log[row, LOG_KIND] = count, kind
    used[0] = row + 1


# --- Tasks --------------------------------------------------------------------------------------------------


@part
def _occupy(sites, s, procs, run, estimate):
    """Note that so many processors, which are not free any more, are held from now on."""
    c, state = _cluster(sites, s), sites.state[s]
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
    """Let the ALS of a site start tasks; stop where one withdraws a job from the site's own queue."""
    c, state, pool = _cluster(sites, s), sites.state[s], sweeps.pool
    clock, now = c.clock, c.clock[NOW]
    steps = _pairs(sites.book.steps, s)
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
    """Note that tasks of a queued sweep were started: its copies want and run fewer."""
    for s in range(sites.state.shape[0]):
        job = sweeps.entry[s, sweep]
        if job >= 0:
            sites.state[s, DEMAND] -= _wanted(sites, sweeps, s, job, False)
    sweeps.left[sweep] -= count
    for s in range(sites.state.shape[0]):
        job = sweeps.entry[s, sweep]
        if job >= 0:
            sites.state[s, DEMAND] += _wanted(sites, sweeps, s, job, False)
            rounds = -(-sweeps.left[sweep] // sites.width[s, job])
            sites.cluster.jobs.run[s, job] = rounds * sweeps.run[s, sweep]
