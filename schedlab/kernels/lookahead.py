"""DPSA lookahead backfilling: the hole before the reservation is filled by the set of jobs that fits it best.

After Grudenić and Bogunović's DPSA, and close to Shmueli and Feitelson's lookahead (JPDC 65(9), 2005). As in EASY,
heads of the queue start while they fit, and the first that does not fit holds the only reservation. The candidates are
the other waiting jobs that need no more than the free processors. The set of candidates that uses most of the free
processors at once is started; of equally good sets, the first one in a depth-first search over the list of candidates.
So the order of the list decides ties, and defines the variants: by priority, or by ascending or descending size (equal
sizes by priority).

The reservation takes processors that will be released before free ones. So of the free ones only U = min(free, extra)
are open to jobs that outlast the shadow time ("long" ones). `best_set` finds the first of the best sets exactly.

The search itself is here. It may be limited, in jobs tried or in ticks of a clock that the caller runs; the best
set so far is then started.
"""

from typing import NamedTuple

import numpy as np

from ._jit import kernel, part, routine
from .best_set import (
    BOUND,
    MOST_TOTALS,
    N_CANDIDATES,
    N_CHOSEN,
    N_SHORT,
    OPEN,
    ROOM,
    WORDS_A_TOTAL,
    at_least,
    best_listed,
    best_of_bits,
    choose,
    fill_bits,
    greedy,
    list_totals,
    new_choice,
    rows_of,
    words_of,
)
from .cluster import ARRIVED, FREE, NAN, NEWCOMER, advance, new_cluster, place_in_queue, start_heads_that_fit
from .priority import sort
from .questions import ask, look, sort_queue
from .reservation import EXTRA, NOBODY, begin_behind_head, ends_by_shadow, reserve_for_head, still_blocked
from .sorted_pairs import NEVER, back, front

PRIORITY, NARROW, WIDE = range(3)  # possible values of `variant`
EXACT, DEPTH_FIRST = range(2)  # possible values of `search`


def expected_slowdown(now, submit, estimate, procs):
    """Return a job's slowdown if it starts now and its estimate holds; Shmueli and Feitelson's objective."""
    return (now - submit + max(estimate, 1)) / max(estimate, 1)


# Places in `facts`: see `lookahead`.
FACT_DECISIONS, FACT_GREEDY, FACT_LONGEST, FACT_TABLE, FACT_MISSED, FACT_LOST, FACT_BEST = range(7)


class Settings(NamedTuple):
    """Which jobs are considered, and how."""

    variant: int  # {PRIORITY, NARROW, WIDE}
    depth: int  # how many waiting jobs behind the head are considered, in queue order
    ranked: bool  # whether the total worth of jobs breaks ties between sets of equal size, not the order of the list
    worth: object  # a `Question`: what a job is worth
    search: int  # {EXACT, DEPTH_FIRST}
    budget: int  # maximum number of jobs that a depth-first search tries in one pass
    ticks: np.ndarray  # int64 of shape (1,): a clock that runs outside
    patience: int  # the number of its ticks that one depth-first search may take
    audit: bool  # compare the sets found by a depth-first search with the best sets


@kernel
def lookahead(jobs, machine, order, settings, per_event, halt):
    """Simulate DPSA lookahead backfilling; return start times and promises as in `easy`, and facts.

    The facts are the number of decisions; how many of them were settled by taking every job that fits; the length of
    the longest list of candidates; and the bytes of the largest tables. With an audit also: decisions in which the best
    total was missed, the processors missed in all of them together, and the processors in all best sets.
    """
    n, ranked = jobs.submit.size, settings.ranked
    c = new_cluster(jobs, machine, order.rank, order.moving, per_event, halt)
    score = np.empty(n if order.moving else 0, np.float64)
    reservation = np.full(3, NOBODY, np.int64)
    choice = new_choice(n)
    bits, totals = np.empty(0, np.uint64), np.empty(1024, np.int64)
    worths = np.empty(1024 if ranked else 0, np.float64)
    facts = np.zeros(7, np.int64)
    # Jobs that the best set leaves waiting cannot fit until processors are freed. A search may miss the best set.
    settled = settings.search == EXACT and settings.depth >= n
    while advance(c, NEVER):
        sort_queue(c, order, score)
        look(c, settings.worth)
        oldest = 0
        if not still_blocked(c, reservation):
            start_heads_that_fit(c)
            reserve_for_head(c, reservation)
        elif settled:
            oldest = c.clock[NEWCOMER]
        gather(c, reservation, choice, settings.depth, oldest)
        if choice.size[N_CANDIDATES] == 0:
            continue
        facts[FACT_DECISIONS] += 1
        facts[FACT_LONGEST] = max(facts[FACT_LONGEST], choice.size[N_CANDIDATES])
        arrange(c, choice, settings.variant)
        mark_long(c, reservation, choice)
        if ranked:
            _appraise(c, choice, settings.worth)
        if settings.search == DEPTH_FIRST:
            chosen = True
            _search(c, choice, settings.budget, settings.ticks, settings.patience)
        else:
            chosen = not ranked and greedy(c, choice)
            facts[FACT_GREEDY] += chosen
        if settings.audit or not chosen:
            needed, listed = rows_of(choice) * words_of(choice), True
            if ranked:
                while not list_totals(c, choice, totals, worths, worths.size, True):
                    if worths.size >= MOST_TOTALS:
                        raise ValueError("too many sets to tell apart by what they are worth; give a smaller depth")
                    totals, worths = at_least(totals.size + 1, totals), at_least(worths.size + 1, worths)
            else:
                most = max(needed // WORDS_A_TOTAL, 2)
                totals = at_least(most, totals)
                listed = list_totals(c, choice, totals, worths, most, False)
            if not listed:
                bits = at_least(needed, bits)
                fill_bits(c, choice, bits)
            total = best_listed(choice, totals) if listed else best_of_bits(choice, bits)
        if not chosen:
            choose(c, choice, total, totals, worths, ranked, bits, listed)
            used = choice.row[rows_of(choice)] * (1 + ranked) if listed else needed
            facts[FACT_TABLE] = max(facts[FACT_TABLE], 8 * used)
        if settings.audit:
            _compare(c, choice, total, facts)
        _begin_chosen(c, reservation, choice)
    if c.clock[NAN]:
        raise ValueError("the order of the queue or the worth of a job gives nan")
    return c.start, c.promise, facts


# The list of candidates ------------------------------------------------------------------------------------
@part
def gather(c, reservation, choice, depth, oldest):
    """List the waiting jobs behind the head that need no more than the free processors."""
    queue, procs, free = c.queue, c.jobs.procs, c.clock[FREE]
    count = 0
    first = front(queue) + 1
    last = back(queue)
    if free == 0 or (oldest > 0 and oldest == c.clock[ARRIVED]):
        last = first
    for place in range(first, min(last, first + depth)):
        job = queue.item[place]
        if procs[job] <= free and job >= oldest:
            choice.job[count] = job
            count += 1
    choice.size[N_CANDIDATES] = count
    choice.size[ROOM] = free
    choice.size[OPEN] = min(free, reservation[EXTRA])


@part
def arrange(c, choice, variant):
    """Sort the candidates into list order."""
    if variant == PRIORITY:
        return
    count, procs = choice.size[N_CANDIDATES], c.jobs.procs
    sign = 1 if variant == NARROW else -1
    for i in range(count):
        choice.key[i] = sign * procs[choice.job[i]]
        choice.place[i] = i
        choice.stack[i] = choice.job[i]
    sort(choice.key, choice.place, 0, count)
    for i in range(count):
        choice.job[i] = choice.stack[choice.place[i]]


@part
def mark_long(c, reservation, choice):
    """Mark long candidates, and compute a bound on what all can use."""
    size, procs = choice.size, c.jobs.procs
    size[N_SHORT] = 0
    short, long = 0, 0
    for i in range(size[N_CANDIDATES]):
        job = choice.job[i]
        choice.long[i] = not ends_by_shadow(c, reservation, job)
        if not choice.long[i]:
            size[N_SHORT] += 1
            short += procs[job]
        elif procs[job] <= size[OPEN]:
            long += procs[job]
    size[BOUND] = min(size[ROOM], short + min(size[OPEN], long))


@part
def _appraise(c, choice, worth):
    """Compute the worth of the candidates."""
    for i in range(choice.size[N_CANDIDATES]):
        choice.key[i] = ask(c, worth, choice.job[i])


@part
def _begin_chosen(c, reservation, choice):
    for i in range(choice.size[N_CHOSEN]):
        begin_behind_head(c, reservation, place_in_queue(c, choice.job[choice.chosen[i]]))


# The paper's search ---------------------------------------------------------------------------------------
@routine
def _search(c, choice, budget, ticks, patience):
    """Search depth first, by place in the list, up to the limits; keep the first set that uses the most processors.

    Processors of one kind are interchangeable, so only the numbers of reserved and open ones are counted. A short job
    takes the reserved ones first, because they have the smallest availability that suffices.
    """
    size, procs, stack = choice.size, c.jobs.procs, choice.stack
    room, open_to_long = size[ROOM], size[OPEN]
    best, depth, tried, i = 0, 0, 0, 0
    begun = ticks[0]
    size[N_CHOSEN] = 0
    while best < size[BOUND]:
        if i == size[N_CANDIDATES]:
            if depth == 0:
                break
            depth -= 1
            i = stack[depth]
            need = procs[choice.job[i]]
            room += need
            open_to_long = choice.place[depth]
            i += 1
            continue
        if tried == budget or ticks[0] - begun > patience or c.halt[0]:
            break
        tried += 1
        need = procs[choice.job[i]]
        if need <= (open_to_long if choice.long[i] else room):
            stack[depth], choice.place[depth] = i, open_to_long
            depth += 1
            room -= need
            open_to_long = open_to_long - need if choice.long[i] else min(open_to_long, room)
            if size[ROOM] - room > best:
                best = size[ROOM] - room
                for k in range(depth):
                    choice.chosen[k] = stack[k]
                size[N_CHOSEN] = depth
        i += 1


@part
def _compare(c, choice, best, facts):
    lost = best
    for i in range(choice.size[N_CHOSEN]):
        lost -= c.jobs.procs[choice.job[choice.chosen[i]]]
    facts[FACT_MISSED] += lost > 0
    facts[FACT_LOST] += lost
    facts[FACT_BEST] += best
