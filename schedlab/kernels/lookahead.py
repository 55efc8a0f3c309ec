"""DPSA lookahead backfilling: the hole before the reservation is filled by the set of jobs that fits it best.

After Grudenić and Bogunović's DPSA, and close to Shmueli and Feitelson's lookahead (JPDC 65(9), 2005). As in EASY,
heads of the queue start while they fit, and the first that does not fit holds the only reservation. The candidates are
the other waiting jobs that need no more than the free processors. The set of candidates that uses most of the free
processors at once is started; of equally good sets, the first one in a depth-first search over the list of candidates.
So the order of the list decides ties, and defines the variants: by priority, or by ascending or descending size (equal
sizes by priority).

The reservation takes processors that will be released before free ones. So of the free ones only U = min(free, extra)
are open to jobs that outlast the shadow time ("long" ones). The long jobs of a set must fit into U, and the whole set
into the free processors: a knapsack under two limits, in which short and long jobs share only the sum. Two tables, of
the totals that short jobs and long jobs can reach, for every end of the list, therefore give the set that the search
would find first, in polynomial time: walk down the list and take a job whenever the best total stays within reach. If
taking every job that fits reaches the bound, not even the tables are needed.

A row of a table is a list of the totals or, if there are many, one bit for each number of processors. Lists take at
most 2**jobs entries on any machine; bits take at most processors / 64 words per job, however many jobs wait.

The search itself is also here. It may be limited, in jobs tried or in ticks of a clock that the caller runs; the best
set so far is then started.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, kernel, maker, part, routine
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


# Places in Choice.size: candidates; short ones among them; free processors; those of them open to long jobs; the most
# that can be used; and the jobs chosen.
N_CANDIDATES, N_SHORT, ROOM, OPEN, BOUND, N_CHOSEN = range(6)
# Places in `facts`: see `lookahead`.
FACT_DECISIONS, FACT_GREEDY, FACT_LONGEST, FACT_TABLE, FACT_MISSED, FACT_LOST, FACT_BEST = range(7)
UNREACHED = -np.inf

# Totals are listed until there are more of them than this share of the words of their bits. The time for whole logs
# (CTC, SDSC-SP2, HPC2N, SDSC-BLUE under p, n and w) is about that of bits alone: 1.03 s with 2, 1.07 with 4, 1.18 with
# 8, 1.08 with bits. One decision of six jobs that fill no hole exactly, on 1,048,576 processors, takes under 0.1 ms,
# with bits 0.5 s.
WORDS_A_TOTAL = 4
MOST_TOTALS = 2**26  # for one decision, with their worth: 1 GiB


class Choice(NamedTuple):
    """The set to be chosen at one pass; every field is modified in place."""

    job: np.ndarray  # int64 of shape (n_jobs,): the candidates in list order
    place: np.ndarray  # int64 of shape (n_jobs,): before the list is sorted, their places in queue order
    long: np.ndarray  # bool of shape (n_jobs,): whether a candidate outlasts the shadow time
    key: np.ndarray  # float64 of shape (n_jobs,): the sort key of the list, later the worth of a candidate
    chosen: np.ndarray  # int64 of shape (n_jobs,): places in the list of the best set so far
    stack: np.ndarray  # int64 of shape (n_jobs,): places in the list of the set being searched
    row: np.ndarray  # int64 of shape (n_jobs + 3,): where each list of totals begins, and where the last list ends
    size: np.ndarray  # int64 of shape (6,): the scalars


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


@maker
def new_choice(n):
    """Allocate room for the candidates of a pass."""
    return Choice(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.bool_),
        np.empty(n, np.float64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n + 3, np.int64),
        np.zeros(6, np.int64),
    )


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
            chosen = not ranked and _greedy(c, choice)
            facts[FACT_GREEDY] += chosen
        if settings.audit or not chosen:
            needed, listed = _rows(choice) * _words(choice), True
            if ranked:
                while not _list_totals(c, choice, totals, worths, worths.size, True):
                    if worths.size >= MOST_TOTALS:
                        raise ValueError("too many sets to tell apart by what they are worth; give a smaller depth")
                    totals, worths = _at_least(totals.size + 1, totals), _at_least(worths.size + 1, worths)
            else:
                most = max(needed // WORDS_A_TOTAL, 2)
                totals = _at_least(most, totals)
                listed = _list_totals(c, choice, totals, worths, most, False)
            if not listed:
                bits = _at_least(needed, bits)
                _fill_bits(c, choice, bits)
            total = _best_listed(choice, totals) if listed else _best_of_bits(choice, bits)
        if not chosen:
            _choose(c, choice, total, totals, worths, ranked, bits, listed)
            used = choice.row[_rows(choice)] * (1 + ranked) if listed else needed
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


@part
def _total(c, choice):
    total = 0
    for i in range(choice.size[N_CHOSEN]):
        total += c.jobs.procs[choice.job[choice.chosen[i]]]
    return total


# The best set, exactly -------------------------------------------------------------------------------------


@part
def _greedy(c, choice):
    """Take every job that fits, down the list; tell whether that reaches the bound, so that no set is better."""
    size, procs = choice.size, c.jobs.procs
    room, open_to_long, chosen = size[ROOM], size[OPEN], 0
    for i in range(size[N_CANDIDATES]):
        need = procs[choice.job[i]]
        if need <= room and (not choice.long[i] or need <= open_to_long):
            room -= need
            if choice.long[i]:
                open_to_long -= need
            choice.chosen[chosen] = i
            chosen += 1
            if room == 0:
                break
    size[N_CHOSEN] = chosen
    return size[ROOM] - room == size[BOUND]


@maker
def _at_least(needed, scratch):
    """Return the scratch array, or a larger one without content."""
    return scratch if scratch.size >= needed else np.empty(2 * needed, scratch.dtype)


@part
def _rows(choice):
    """Return the number of rows of both tables: one for each candidate, and one without candidates for each kind."""
    return choice.size[N_CANDIDATES] + 2


@part
def _words(choice):
    """Return the number of words in a row of totals 0 to ROOM, including one word of zeros."""
    return (choice.size[ROOM] >> 6) + 2


@routine
def _fill_bits(c, choice, bits):
    """Fill the tables of totals that the end of the list can reach, with a bit for each total.

    Row r holds the totals of the last r short candidates, from the highest bit (0) down to the lowest (ROOM). This
    reversed order aligns each word with the word of long totals that has the same sum. After the short rows come the
    long ones, for the last r long candidates, from 0 up to OPEN.
    """
    size, procs, n_words = choice.size, c.jobs.procs, _words(choice)
    for i in range(U(_rows(choice)) * U(n_words)):
        bits[i] = U(0)
    short, long = 0, (size[N_SHORT] + 1) * n_words
    _set_bit(bits, short, size[ROOM])
    _set_bit(bits, long, 0)
    for i in range(size[N_CANDIDATES] - 1, -1, -1):
        need = procs[choice.job[i]]
        if choice.long[i]:
            if need <= size[OPEN]:
                _or_up(bits, long, n_words, need)
            else:
                _or_up(bits, long, n_words, 0)
            long += n_words
        else:
            _or_down(bits, short, n_words, need)
            short += n_words


@part
def _best_of_bits(choice, bits):
    """Return the most processors that a set can use."""
    size, n_words = choice.size, _words(choice)
    short, long = size[N_SHORT], size[N_CANDIDATES] + 1
    if _reachable(choice, bits, short, long, size[BOUND], size[OPEN]):
        return size[BOUND]  # nearly always
    short, long = short * n_words, long * n_words
    highest, wasted = 0, size[ROOM]
    for word in range(n_words - 1):
        if bits[U(short + word)] | bits[U(long + word)] == U(0):
            continue
        for bit in range(64):
            place = 64 * word + bit
            if place <= size[OPEN] and (bits[U(long + word)] >> U(bit)) & U(1) != U(0):
                highest = place
            if (bits[U(short + word)] >> U(bit)) & U(1) != U(0):
                wasted = min(wasted, place - highest)
    return size[ROOM] - wasted


@part
def _set_bit(bits, row, bit):
    bits[U(row + (bit >> 6))] |= U(1) << U(bit & 63)


@part
def _or_up(bits, row, n_words, shift):
    """Make the next row: this row combined with itself shifted up by `shift` bits; bits beyond the row are lost."""
    skip, within = shift >> 6, U(shift & 63)
    for word in range(n_words - 1):
        moved = U(0)
        if word >= skip:
            moved = bits[U(row + word - skip)] << within
            if within > U(0) and word > skip:
                moved |= bits[U(row + word - skip - 1)] >> (U(64) - within)
        bits[U(row + n_words + word)] = bits[U(row + word)] | moved


@part
def _or_down(bits, row, n_words, shift):
    """Make the next row: this row combined with itself shifted down by `shift` bits; bits beyond the row are lost."""
    skip, within = shift >> 6, U(shift & 63)
    for word in range(n_words - 1):
        moved = U(0)
        if word + skip < n_words - 1:
            moved = bits[U(row + word + skip)] >> within
            if within > U(0):
                moved |= bits[U(row + word + skip + 1)] << (U(64) - within)
        bits[U(row + n_words + word)] = bits[U(row + word)] | moved


@part
def _reachable(choice, bits, short, long, total, open_to_long):
    """Tell whether a short and a long total of two rows have the sum `total`, with the long one within limits."""
    n_words = _words(choice)
    short, long = short * n_words, long * n_words
    shift = choice.size[ROOM] - total  # the short total (total - l) is at bit ROOM - total + l
    skip, within = shift >> 6, U(shift & 63)
    last = open_to_long >> 6
    for word in range(min(last + 1, n_words - 1 - skip)):
        pairs = bits[U(short + word + skip)] >> within
        if within > U(0):
            pairs |= bits[U(short + word + skip + 1)] << (U(64) - within)
        pairs &= bits[U(long + word)]
        if word == last:
            pairs &= ~U(0) >> U(63 - (open_to_long & 63))
        if pairs != U(0):
            return True
    return False


@routine
def _list_totals(c, choice, totals, worths, most, ranked):
    """List the totals that the end of the list can reach, in ascending order; tell whether there are at most `most`.

    Rows as in `_fill_bits`, but without the size limits of a row of bits. If sets are ranked, each total has the
    greatest worth of the sets that reach it.
    """
    size, procs, row = choice.size, c.jobs.procs, choice.row
    count, end = 0, 0
    for long in (False, True):
        limit = size[OPEN] if long else size[ROOM]
        if end == most:
            return False
        row[count], totals[end] = end, 0
        if ranked:
            worths[end] = 0.0
        count, end = count + 1, end + 1
        for i in range(size[N_CANDIDATES] - 1, -1, -1):
            if choice.long[i] == long:
                row[count] = end
                end = _add_candidate(choice, totals, worths, most, ranked, count - 1, i, procs[choice.job[i]], limit)
                count += 1
                if end < 0:
                    return False
    row[count] = end
    return True


@part
def _add_candidate(choice, totals, worths, most, ranked, before, i, need, limit):
    """Make the next row: a row merged with itself plus a candidate; return its end, or -1 if there is no room."""
    old = new = choice.row[before]
    last = end = choice.row[before + 1]
    while True:
        without = totals[old] if old < last else NEVER
        with_it = totals[new] + need if new < last else NEVER
        if with_it > limit:
            with_it = NEVER
        total = min(without, with_it)
        if total == NEVER:
            return end
        if end == most:
            return -1
        totals[end] = total
        if ranked:
            best = worths[old] if without == total else UNREACHED
            if with_it == total:
                best = max(best, worths[new] + choice.key[i])
            worths[end] = best
        old += without == total
        new += with_it == total
        end += 1


@part
def _best_listed(choice, totals):
    """Return the most processors that a set can use."""
    size, row = choice.size, choice.row
    best, high = 0, row[size[N_CANDIDATES] + 2] - 1
    for low in range(row[size[N_SHORT]], row[size[N_SHORT] + 1]):
        while totals[low] + totals[high] > size[ROOM]:
            high -= 1
        best = max(best, totals[low] + totals[high])
    return best


@part
def _best_pair(choice, totals, worths, ranked, short, long, total, open_to_long):
    """Return the greatest worth of a pair as in `_reachable`; `UNREACHED` if none, 0 if sets are not ranked."""
    row, best = choice.row, UNREACHED
    low, high = row[short], row[long + 1] - 1
    while low < row[short + 1] and high >= row[long]:
        sum_ = totals[low] + totals[high]
        if totals[high] > open_to_long or sum_ > total:
            high -= 1
        elif sum_ < total:
            low += 1
        elif not ranked:
            return 0.0
        else:
            best = max(best, worths[low] + worths[high])
            low, high = low + 1, high - 1
    return best


@routine
def _choose(c, choice, total, totals, worths, ranked, bits, listed):
    """Walk down the list and take a job whenever the best total stays within reach.

    If sets are ranked, a job is taken only if no set of the same total without it is worth more.
    """
    size, procs = choice.size, c.jobs.procs
    short, long = size[N_SHORT], size[N_CANDIDATES] + 1
    open_to_long, chosen = size[OPEN], 0
    for i in range(size[N_CANDIDATES]):
        if total == 0:
            break
        need = procs[choice.job[i]]
        if choice.long[i]:
            long -= 1
        else:
            short -= 1
        left = open_to_long - need if choice.long[i] else open_to_long
        if left < 0 or need > total:
            continue
        if not listed:
            if not _reachable(choice, bits, short, long, total - need, left):
                continue
        else:
            with_it = _best_pair(choice, totals, worths, ranked, short, long, total - need, left)
            if with_it == UNREACHED:
                continue
            if ranked:
                without = _best_pair(choice, totals, worths, ranked, short, long, total, open_to_long)
                if with_it + choice.key[i] < without:
                    continue
        total -= need
        open_to_long = left
        choice.chosen[chosen] = i
        chosen += 1
    size[N_CHOSEN] = chosen


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
    lost = best - _total(c, choice)
    facts[FACT_MISSED] += lost > 0
    facts[FACT_LOST] += lost
    facts[FACT_BEST] += best
