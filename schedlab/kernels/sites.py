"""The state of `shredding`: sites, each a `Cluster` with a `Book`, the sweeps that they share, and the log.

A call passes seven to nine words for each array of a tuple, so there is one array for all sites of each kind.
"""

from typing import NamedTuple

import numpy as np

from ._jit import maker, part, routine
from .cluster import FREE, NOW, SCALARS, WAITS, Cluster, Jobs
from .conservative import LISTED_UNTIL, Book
from .hole_bounds import HoleBounds, new_holes
from .profile import clear
from .reservation import NOBODY
from .sorted_pairs import NEVER, SortedPairs, new_pairs

# Columns of the log. A row records one of these: tasks of a sweep that started; an entry of a queue that started as a
# parallel job; reservations compressed because one was withdrawn; or another round of the instant at all sites.
LOG_WHAT, LOG_SITE, LOG_TIME, LOG_COUNT, LOG_KIND = range(5)
TASKS_START, JOB_STARTS, COMPRESSED, ANOTHER_ROUND = range(4)


class Sites(NamedTuple):
    """The sites: each array has a row for each site, except `books.holes.served` and `clusters.halt`.

    The places for batches of tasks follow the entries of a site. Everything is int64 and modified in place.
    """

    clusters: Cluster
    books: Book  # used under conservative backfilling only
    reservation: np.ndarray  # of shape (n_sites, 3): that of EASY
    sweep: np.ndarray  # of shape (n_sites, n_entries): the sweep of an entry, or -1
    width: np.ndarray  # of shape (n_sites, n_entries): the processors that an entry requests; 0 for a batch
    batches: np.ndarray  # of shape (n_sites, n_batches): the places for batches; the first `spare[s]` are free
    spare: np.ndarray  # of shape (n_sites,)
    demand: np.ndarray  # of shape (n_sites,): processors requested by the queued jobs
    lost: np.ndarray  # of shape (n_sites,): processor-ticks lost
    stirred: np.ndarray  # of shape (n_sites,): whether something happened since the last visit
    withdrawn: np.ndarray  # of shape (n_sites,): whether a reservation was withdrawn


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


class Grid(NamedTuple):
    """One simulation."""

    sites: Sites
    sweeps: Sweeps
    rules: Rules
    log: np.ndarray  # int64 of shape (n_rows, 5)
    logged: np.ndarray  # int64 of shape (1,): how many rows are in use


@maker
def copied(log, rows, room):
    """Copy some rows to a log with `room` rows."""
    copy = np.empty((room, log.shape[1]), np.int64)
    for row in range(rows):
        for column in range(log.shape[1]):
            copy[row, column] = log[row, column]
    return copy


@part
def note(g, what, s, now, count, kind):
    log, row = g.log, g.logged[0]
    log[row, LOG_WHAT], log[row, LOG_SITE], log[row, LOG_TIME] = what, s, now
    log[row, LOG_COUNT], log[row, LOG_KIND] = count, kind
    g.logged[0] = row + 1


@maker
def new_sites(entries, machine, tasks, halt):
    n_sites, widest, offset, jobs = machine.size, machine.max(), entries.offset, entries.jobs
    longest = (offset[1:] - offset[:-1]).max()
    n_batches = min(widest, tasks.count.sum() + tasks.count.size)  # a batch holds at least one processor
    n = longest + n_batches
    holes = new_holes(widest)
    classes = holes.longest.size
    clusters = Cluster(
        Jobs(_filled(n_sites, n, NEVER), _filled(n_sites, n, 0), _filled(n_sites, n, 0), _filled(n_sites, n, 0)),
        _filled(n_sites, n, WAITS),
        _filled(n_sites, n, -1),
        _filled(n_sites, n, 0),
        _filled(n_sites, n, 0),
        _filled(n_sites, min(n, widest), 0),
        _lists(n_sites, n),
        _lists(n_sites, n),
        _lists(n_sites, n),
        _filled(n_sites, SCALARS, 0),
        halt,
    )
    bounds = HoleBounds(
        holes.served, _filled(n_sites, classes, 0), _filled(n_sites, classes, 0), _filled(n_sites, 2, 0)
    )
    reserved, memory = _filled(n_sites, n, NEVER), _filled(n_sites, 5, 0)
    books = Book(_lists(n_sites, 3 * n + 8), _lists(n_sites, n), reserved, bounds, memory)
    sites = Sites(
        clusters,
        books,
        _filled(n_sites, 3, NOBODY),
        _filled(n_sites, n, -1),
        _filled(n_sites, n, 0),
        _filled(n_sites, n_batches, 0),
        np.full(n_sites, n_batches, np.int64),
        np.zeros(n_sites, np.int64),
        np.zeros(n_sites, np.int64),
        np.zeros(n_sites, np.int64),
        np.zeros(n_sites, np.int64),
    )
    for s in range(n_sites):
        for i in range(n):
            # For a batch, the item in `ends` is its own place; jobs overwrite theirs.
            clusters.rank[s, i] = clusters.begun[s, i] = i
        for i in range(offset[s + 1] - offset[s]):
            entry = offset[s] + i
            clusters.jobs.submit[s, i], clusters.jobs.run[s, i] = jobs.submit[entry], jobs.run[entry]
            clusters.jobs.estimate[s, i] = jobs.estimate[entry]
            clusters.jobs.procs[s, i] = sites.width[s, i] = jobs.procs[entry]
            sites.sweep[s, i] = entries.sweep[entry]
        for i in range(n_batches):
            sites.batches[s, i] = longest + i
        clusters.clock[s, NOW], clusters.clock[s, FREE] = -1, machine[s]
        memory[s, LISTED_UNTIL] = NEVER
        _clear(sites, s, machine[s])
    return sites


@maker
def _filled(n_sites, n, value):
    return np.full((n_sites, n), value, np.int64)


@maker
def _lists(n_sites, n):
    """Make an empty list for each site."""
    return SortedPairs(_filled(n_sites, n, 0), _filled(n_sites, n, 0), _filled(n_sites, 2, 0))


@routine  # a maker would count references to the rows, which `list_at` does not
def _clear(sites, s, machine):
    clear(list_at(sites.books.steps, s), 0, machine)


@maker
def new_sweeps(entries, tasks):
    offset, sweep, n = entries.offset, entries.sweep, tasks.count.size
    entry = np.full((offset.size - 1, n), -1, np.int64)
    for s in range(offset.size - 1):
        for i in range(offset[s], offset[s + 1]):
            if sweep[i] >= 0:
                entry[s, sweep[i]] = i - offset[s]
    zeros = np.zeros(n, np.int64)
    return Sweeps(tasks.count.copy(), zeros, zeros.copy(), tasks.run, tasks.estimate, entry, new_pairs(2 * n))


@part
def list_at(lists, s):
    return SortedPairs(lists.key[s], lists.item[s], lists.window[s])


@part
def cluster_at(g, s):
    c = g.sites.clusters
    return Cluster(
        Jobs(c.jobs.submit[s], c.jobs.run[s], c.jobs.estimate[s], c.jobs.procs[s]),
        c.start[s],
        c.promise[s],
        c.rank[s],
        c.begun[s],
        c.early[s],
        list_at(c.ends, s),
        list_at(c.running, s),
        list_at(c.queue, s),
        c.clock[s],
        c.halt,
    )


@part
def book_at(g, s):
    book = g.sites.books
    holes = HoleBounds(book.holes.served, book.holes.longest[s], book.holes.since[s], book.holes.memory[s])
    return Book(list_at(book.steps, s), list_at(book.due, s), book.reserved[s], holes, book.memory[s])
