"""The set of candidates that uses most of the free processors at once, exactly, for `lookahead`.

A set is a choice from a list, of short candidates and of long ones. The long ones must fit into the processors that are
open to them, and the whole set into the free processors: a knapsack under two limits, in which short and long jobs
share only the sum. Two tables, of the totals that short jobs and long jobs can reach, for every end of the list,
therefore give the set that a depth-first search would find first, in polynomial time: walk down the list and take a job
whenever the best total stays within reach. If taking every job that fits reaches the bound, not even the tables are
needed.

A row of a table is a list of the totals or, if there are many, one bit for each number of processors. Lists take at
most 2**jobs entries on any machine; bits take at most processors / 64 words per job, however many jobs wait.
"""

from typing import NamedTuple

import numpy as np

from ._jit import U, maker, part, routine
from .sorted_pairs import NEVER

# Places in Choice.size: candidates; short ones among them; free processors; those of them open to long jobs; the most
# that can be used; and the jobs chosen.
N_CANDIDATES, N_SHORT, ROOM, OPEN, BOUND, N_CHOSEN = range(6)

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


@part
def greedy(c, choice):
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
def at_least(needed, scratch):
    """Return the scratch array, or a larger one without content."""
    return scratch if scratch.size >= needed else np.empty(2 * needed, scratch.dtype)


@part
def rows_of(choice):
    """Return the number of rows of both tables: one for each candidate, and one without candidates for each kind."""
    return choice.size[N_CANDIDATES] + 2


@part
def words_of(choice):
    """Return the number of words in a row of totals 0 to ROOM, including one word of zeros."""
    return (choice.size[ROOM] >> 6) + 2


@routine
def fill_bits(c, choice, bits):
    """Fill the tables of totals that the end of the list can reach, with a bit for each total.

    Row r holds the totals of the last r short candidates, from the highest bit (0) down to the lowest (ROOM). This
    reversed order aligns each word with the word of long totals that has the same sum. After the short rows come the
    long ones, for the last r long candidates, from 0 up to OPEN.
    """
    size, procs, n_words = choice.size, c.jobs.procs, words_of(choice)
    for i in range(U(rows_of(choice)) * U(n_words)):
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
def best_of_bits(choice, bits):
    """Return the most processors that a set can use."""
    size, n_words = choice.size, words_of(choice)
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
    n_words = words_of(choice)
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
def list_totals(c, choice, totals, worths, most, ranked):
    """List the totals that the end of the list can reach, in ascending order; tell whether there are at most `most`.

    Rows as in `fill_bits`, but without the size limits of a row of bits. If sets are ranked, each total has the
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
def best_listed(choice, totals):
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
def choose(c, choice, total, totals, worths, ranked, bits, listed):
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
