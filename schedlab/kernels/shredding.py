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

Each site is a `Cluster` with the reservation of `easy` or the book of `conservative` (`sites`). These know nothing of
tasks: the tasks that an ALS starts at one instant form a batch, which is a job of its own, in one of the places behind
the site's jobs. The places are reused, since each batch holds a processor. EASY's pass is not that of the other
kernels, since under flooding an entry of the queue may stand for many equal jobs. Cost grows with batches and events,
not with tasks. Clock ticks are fractions of a second such that every task takes a whole number of ticks at every site.

An early completion is one before the estimated end, of a job or of tasks; conservative backfilling then compresses.
With `release`, a parallel job takes no more processors than it has tasks left, and the local scheduler makes another
pass before the ALS may use the processors that the job leaves. A copy at a smaller site is estimated as whole rounds of
tasks.
"""

import numpy as np

from ._jit import kernel, part, routine
from .cluster import (
    ARRIVED,
    BEGUN,
    EARLY,
    FREE,
    FREED,
    NEWCOMER,
    NOW,
    advance,
    begin,
    next_arrival,
    next_end,
    waiting,
)
from .conservative import FREED_UNTIL, compress, next_due, place_newcomers, release_early, start_due, unlist
from .profile import add, forget_past, least
from .reservation import EXTRA, SHADOW, reserve_for_head, still_blocked
from .sites import (
    ANOTHER_ROUND,
    COMPRESSED,
    JOB_STARTS,
    TASKS_START,
    Grid,
    book_at,
    cluster_at,
    copied,
    list_at,
    new_sites,
    new_sweeps,
    note,
)
from .sorted_pairs import NEVER, back, front, insert, place_of, remove, remove_at, size_of


@kernel
def shredding(entries, machine, tasks, rules, halt):
    """Simulate opportune job shredding or flooding; without sweeps, the local schedulers alone. Times in ticks.

    `machine` has the processors of each site. Return start times, -1 for an entry that never started as a parallel job;
    the first promised start time, or -1; the completion of the last task of each sweep, wherever it ran; how many tasks
    the parallel job ran; the log, int64 of shape (n_rows, 5), in order: sweep (or entry of the site), site, instant,
    count of tasks, kind; and the capacity lost at each site, in processor-ticks.
    """
    n, offset = entries.sweep.size, entries.offset
    sites, sweeps = new_sites(entries, machine, tasks, halt), new_sweeps(entries, tasks)
    # In a round each batch takes a processor, and an entry starts once or is withdrawn, which may compress once.
    room = min(machine.sum(), tasks.count.sum()) + 2 * n + 1
    log, logged = np.empty((room, 5), np.int64), np.zeros(1, np.int64)
    while not _simulated(Grid(sites, sweeps, rules, log, logged), room):
        log = copied(log, logged[0], 2 * logged[0] + room)
    start, promise = np.empty(n, np.int64), np.empty(n, np.int64)
    for s in range(machine.size):
        for i in range(offset[s], offset[s + 1]):
            start[i] = sites.clusters.start[s, i - offset[s]]
            promise[i] = sites.clusters.promise[s, i - offset[s]]
    return start, promise, sweeps.end, sweeps.claimed, copied(log, logged[0], logged[0]), sites.lost


@routine
def _simulated(g, room):
    """Simulate until nothing is left; False if the log may lack room for the next round."""
    sites = g.sites
    n_sites = sites.lost.size
    while True:
        now = _next_instant(g)
        if now == NEVER or sites.clusters.halt[0]:
            return True
        if g.logged[0] + room > g.log.shape[0]:
            return False
        if now == sites.clusters.clock[0, NOW]:
            note(g, -1, -1, now, 0, ANOTHER_ROUND)
        for s in range(n_sites):
            _advance(g, s, now)
        stirred = True
        while stirred:
            stirred = False
            for s in range(n_sites):
                while sites.stirred[s]:
                    sites.stirred[s] = 0
                    stirred = True
                    if g.rules.conservative:
                        _conservative_pass(g, s)
                    else:
                        _easy_pass(g, s)
                    if not g.rules.flooding:
                        _serve(g, s)


# --- The clock ----------------------------------------------------------------------------------------------
@part
def _next_instant(g):
    now = NEVER
    for s in range(g.sites.lost.size):
        c = cluster_at(g, s)
        now = min(now, next_end(c), next_arrival(c))
        if g.rules.conservative:
            now = min(now, next_due(c, book_at(g, s)))
    return now


@routine
def _advance(g, s, now):
    """Advance a site to an instant, and count the capacity that it has lost until then."""
    sites, c = g.sites, cluster_at(g, s)
    sites.lost[s] += (now - c.clock[NOW]) * min(sites.demand[s], c.clock[FREE])
    ended = front(c.ends)
    if not advance(c, now):
        return
    # Jobs removed from the list of ends are still stored before its front.
    for place in range(ended, front(c.ends)):
        job = c.begun[c.ends.item[place]]
        if sites.width[s, job] == 0:
            sites.batches[s, sites.spare[s]] = job
            sites.spare[s] += 1
    sites.stirred[s] |= c.clock[FREED]
    for job in range(c.clock[NEWCOMER], c.clock[ARRIVED]):
        _enter(g, s, job)
    if g.rules.conservative:
        book = book_at(g, s)
        forget_past(book.steps, now)
        if c.clock[EARLY]:
            _compress(c, book)
        place_newcomers(c, book)
        if next_due(c, book) == now:
            sites.stirred[s] = 1


@part
def _enter(g, s, job):
    """Count what a job that has arrived requests; a sweep enters the pool with its first copy."""
    sites, pool, sweep = g.sites, g.sweeps.pool, g.sites.sweep[s, job]
    sites.demand[s] += _wanted(g, s, job)
    sites.stirred[s] = 1
    if sweep >= 0 and not g.rules.flooding:
        last = back(pool)
        if last == front(pool) or place_of(pool, sweep, sweep) == last:
            insert(pool, sweep, sweep)
        for other in range(sites.stirred.size):
            sites.stirred[other] = 1


@part
def _wanted(g, s, job):
    """Count the processors that a queued job requests, for the loss of capacity."""
    sweep, width = g.sites.sweep[s, job], g.sites.width[s, job]
    if sweep < 0:
        return width
    left = g.sweeps.left[sweep]
    return left if g.rules.flooding else min(width, left)


# --- The local scheduler ------------------------------------------------------------------------------------
@routine
def _easy_pass(g, s):
    """Make a pass of EASY; under flooding, an entry of the queue may be many equal jobs of one processor."""
    c, reservation = cluster_at(g, s), g.sites.reservation[s]
    queue, procs, estimate, clock = c.queue, c.jobs.procs, c.jobs.estimate, c.clock
    if still_blocked(c, reservation):
        # All older candidates still fail; newcomers are last in the queue.
        place = max(front(queue) + 1, place_of(queue, clock[NEWCOMER], 0))
    else:
        clock[FREED] = 0
        place = front(queue)
        while place < back(queue) and procs[queue.item[place]] <= clock[FREE]:
            place = _start(g, s, place, clock[FREE])
        reserve_for_head(c, reservation)
        place = front(queue) + 1
    clock[NEWCOMER] = clock[ARRIVED]
    free, extra, longest = clock[FREE], reservation[EXTRA], reservation[SHADOW] - clock[NOW]
    while place < back(queue) and free > 0:
        job = queue.item[place]
        in_time = estimate[job] <= longest
        most = free if in_time else min(free, extra)
        if procs[job] > most:
            place += 1
            continue
        length = size_of(queue)
        place = _start(g, s, place, most)
        if not in_time:
            extra -= free - clock[FREE]
            reservation[EXTRA] = extra
        free = clock[FREE]
        if size_of(queue) == length:  # tasks are left
            place += 1


@part
def _start(g, s, place, most):
    """Start the job at a place of the queue, or as many tasks as may start; return the next place."""
    c, left = cluster_at(g, s), g.sweeps.left
    job = c.queue.item[place]
    sweep = g.sites.sweep[s, job]
    if not g.rules.flooding or sweep < 0:
        place = begin(c, place)
        note(g, job, s, c.clock[NOW], 0, JOB_STARTS)
        _settle(g, s, job)
        return place
    count = min(left[sweep], most)
    _start_tasks(g, s, sweep, count)
    left[sweep] -= count
    g.sites.demand[s] -= count
    return remove_at(c.queue, place) if left[sweep] == 0 else place


@routine
def _conservative_pass(g, s):
    c, book = cluster_at(g, s), book_at(g, s)
    if g.sites.withdrawn[s]:
        g.sites.withdrawn[s] = 0
        _compress(c, book)
        note(g, -1, s, c.clock[NOW], 0, COMPRESSED)
    begun = c.clock[BEGUN]
    start_due(c, book)
    for i in range(begun, c.clock[BEGUN]):
        note(g, c.begun[i], s, c.clock[NOW], 0, JOB_STARTS)
        _settle(g, s, c.begun[i])


@routine
def _compress(c, book):
    release_early(c, book)
    c.clock[EARLY] = 0
    compress(c, book, c.queue)


@routine
def _settle(g, s, job):
    """Do what follows the start of a job; a sweep claims all remaining tasks."""
    sites, sweeps, sweep = g.sites, g.sweeps, g.sites.sweep[s, job]
    sites.demand[s] -= _wanted(g, s, job)
    if sweep < 0:
        return
    c, left, width = cluster_at(g, s), sweeps.left[sweep], sites.width[s, job]
    now = c.clock[NOW]
    remove(sweeps.pool, sweep, sweep)
    _cancel(g, sweep, s)
    sweeps.claimed[sweep], sweeps.left[sweep] = left, 0
    sweeps.end[sweep] = max(sweeps.end[sweep], now + c.jobs.run[job])
    if g.rules.release and left % width:
        # The job holds the processors of the last round. The processors that it does not need form a batch that ends
        # before it, or, if this is the only round, are given back at once, followed by another pass.
        c.jobs.procs[job] = left % width
        if left > width:
            _occupy(g, s, width - left % width, left // width * sweeps.run[s, sweep], c.jobs.estimate[job])
        else:
            c.clock[FREE] += width - left
            c.clock[FREED] = sites.stirred[s] = 1
            _give_back(g, s, now, now + c.jobs.estimate[job], width - left)


@part
def _give_back(g, s, begins, ends, procs):
    """Free the time that a reservation or a job would have held; other reservations have to be compressed."""
    book = book_at(g, s)
    add(book.steps, begins, ends, procs)
    book.memory[FREED_UNTIL] = max(book.memory[FREED_UNTIL], ends)
    g.sites.withdrawn[s] = 1


@part
def _cancel(g, sweep, here):
    """Remove the copies of a sweep from the queues, except at the site that has started it (-1: none has)."""
    for s in range(g.sites.lost.size):
        job = g.sweeps.entry[s, sweep]
        if job >= 0 and s != here:
            _withdraw(g, s, job)


@routine
def _withdraw(g, s, job):
    c, book = cluster_at(g, s), book_at(g, s)
    remove(c.queue, c.rank[job], job)
    g.sites.demand[s] -= _wanted(g, s, job)
    g.sites.stirred[s] = 1
    reserved = book.reserved[job]
    if reserved < NEVER:
        unlist(book, job)
        _give_back(g, s, reserved, reserved + c.jobs.estimate[job], g.sites.width[s, job])


# --- Tasks --------------------------------------------------------------------------------------------------
@part
def _occupy(g, s, procs, run, estimate):
    """Record that processors, which no longer count as free, are held from now on."""
    sites, c = g.sites, cluster_at(g, s)
    now = c.clock[NOW]
    sites.spare[s] -= 1
    job = sites.batches[s, sites.spare[s]]
    c.start[job] = now
    c.jobs.procs[job], c.jobs.run[job], c.jobs.estimate[job] = procs, run, estimate
    insert(c.ends, now + run, job)
    insert(c.running, now + estimate, job)


@routine
def _start_tasks(g, s, sweep, count):
    clock, sweeps = g.sites.clusters.clock[s], g.sweeps
    now, run = clock[NOW], sweeps.run[s, sweep]
    _occupy(g, s, count, run, sweeps.estimate[s, sweep])
    clock[FREE] -= count
    sweeps.end[sweep] = max(sweeps.end[sweep], now + run)
    note(g, sweep, s, now, count, TASKS_START)


@routine
def _serve(g, s):
    """Let the ALS of a site start tasks; stop if this withdraws a job from the site's own queue."""
    sites, sweeps, pool, reservation = g.sites, g.sweeps, g.sweeps.pool, g.sites.reservation[s]
    c, steps = cluster_at(g, s), list_at(g.sites.books.steps, s)
    clock, now = c.clock, c.clock[NOW]
    place = front(pool)
    while place < back(pool) and clock[FREE] > 0 and not sites.stirred[s]:
        sweep = pool.item[place]
        until = now + sweeps.estimate[s, sweep]
        count = min(sweeps.left[sweep], clock[FREE])
        if g.rules.conservative:
            count = min(count, least(steps, now, until))
        elif waiting(c) and until > reservation[SHADOW]:
            count = min(count, reservation[EXTRA])
            reservation[EXTRA] -= count
        if count > 0:
            _start_tasks(g, s, sweep, count)
            if g.rules.conservative:
                add(steps, now, until, -count)
            if count == sweeps.left[sweep]:
                place = remove_at(pool, place)
                _cancel(g, sweep, -1)
                sweeps.left[sweep] = 0
                continue
            _take(g, sweep, count)
        place += 1


@part
def _take(g, sweep, count):
    """Record that tasks of a queued sweep were started: its copies request and run fewer."""
    sites, sweeps = g.sites, g.sweeps
    left = sweeps.left[sweep]
    fewer = left - count
    for s in range(sites.lost.size):
        job = sweeps.entry[s, sweep]
        if job >= 0:
            width = sites.width[s, job]
            sites.demand[s] -= min(width, left) - min(width, fewer)
            sites.clusters.jobs.run[s, job] = -(-fewer // width) * sweeps.run[s, sweep]
    sweeps.left[sweep] = fewer
