"""Lower bounds for all schedules: three relaxations of the problem that every scheduler of rigid jobs solves.

A schedule gives each job a start. From then on, the job holds its processors for its run time. At no instant do jobs
hold more processors than the machine has. Each relaxation drops some of these conditions, so its optimum is at most
that of the best schedule; `schedlab.schedule.bounds` has the proofs.

- `least_busy_time`: jobs may be interrupted, and the machine does processor-seconds of work at one rate for all jobs.
  The relaxation minimizes the sum of weighted mean busy times (the mean instant at which a job's work is done): the
  available job with the largest weight for its work goes first. Goemans et al., SIAM J. Discrete Math. 15(2), 2002.
- `least_turnaround`: the same machine, minimizing the sum of turnarounds: the job with the least remaining work goes
  first. Schrage, Operations Research 16(3), 1968.
- `raise_prices`: instants may be oversubscribed at a price for each processor-second, and each job starts where the sum
  of its costs for waiting and for processors is smallest. Whatever the prices, the total that jobs pay, minus what the
  machine's processor-seconds are worth at these prices, is at most the optimum. Rounds of a subgradient method search
  for prices that make this large. Dyer and Wolsey, Discrete Applied Mathematics 26, 1990; Avella, Boccia and D'Auria,
  INFORMS J. Computing 17(2), 2005.

Arrays are in order of submission; times are in seconds.
"""

import numpy as np

from ._jit import kernel, part
from .sorted_pairs import first_item, first_key, insert, is_empty, new_pairs, pop

STALL = 8  # rounds without a gain after which steps become shorter
SHORTER, MUCH_SHORTER = 0.7, 0.25  # the latter before the first gain
INERTIA = 0.7  # weight of the last round's direction
LOWEST = 1e-6  # step length at which the search ends


@kernel
def least_busy_time(submit, run, procs, capacity, weight, rank, halt):
    """Return the least sum of weight x (mean busy time - submission), in seconds x weight.

    The machine does `capacity` work a second, and a job `procs` work a second of its run time, 0 if it is not counted.
    `rank` is the place of each job in the order of weight per work, highest first; each place occurs once. If `halt[0]`
    is set from outside, all three kernels stop, and the result is meaningless.
    """
    count = submit.size
    left, moment = np.empty(count, np.int64), np.zeros(count)
    waiting = new_pairs(2 * count)
    now, arrived, total = np.int64(0), 0, 0.0  # a tick is a second for each unit of capacity
    while (arrived < count or not is_empty(waiting)) and not halt[0]:
        if is_empty(waiting):
            now = max(now, submit[arrived] * capacity)
        while arrived < count and submit[arrived] * capacity <= now:
            left[arrived] = run[arrived] * procs[arrived]
            if left[arrived] > 0:
                insert(waiting, rank[arrived], arrived)
            arrived += 1
        if is_empty(waiting):
            continue
        job = first_item(waiting)
        until = now + left[job]
        if arrived < count:
            until = min(until, submit[arrived] * capacity)
        since, to = now - submit[job] * capacity, until - submit[job] * capacity
        moment[job] += 0.5 * (since + to) * (to - since)
        left[job] -= until - now
        now = until
        if left[job] == 0:
            pop(waiting)
            total += weight[job] * moment[job] / (run[job] * procs[job])
    return total / capacity


@kernel
def least_turnaround(submit, run, procs, capacity, halt):
    """Return the least sum of turnarounds, in seconds, if jobs may be interrupted and run one at a time.

    Arguments as in `least_busy_time`.
    """
    count = submit.size
    waiting = new_pairs(2 * count)
    now, arrived, total = np.int64(0), 0, 0.0
    while (arrived < count or not is_empty(waiting)) and not halt[0]:
        if is_empty(waiting):
            now = max(now, submit[arrived] * capacity)
        while arrived < count and submit[arrived] * capacity <= now:
            if run[arrived] * procs[arrived] > 0:
                insert(waiting, run[arrived] * procs[arrived], arrived)
            arrived += 1
        if is_empty(waiting):
            continue
        job, left = first_item(waiting), first_key(waiting)
        until = now + left
        if arrived < count:
            until = min(until, submit[arrived] * capacity)
        pop(waiting)
        if until - now < left:
            insert(waiting, left - (until - now), job)
        else:
            total += until - submit[job] * capacity
        now = until
    return total / capacity


@kernel
def raise_prices(submit, run, procs, capacity, slope, free, price, step, rounds, target, halt):
    """Search for prices that make the bound large; return it: a lower bound on sums of ``slope x max(0, wait - free)``.

    A job waits `free` seconds before each second costs its `slope`. `price` is that of a processor-second in each bin
    of `step` seconds, from 0 on, and nothing thereafter; it is modified in place and receives the best prices. There
    are at most `rounds` rounds; `target` is the expected size of the bound, in the unit of the result.
    """
    bins = price.size
    tried, best = price.copy(), price.copy()
    paid, sold, sold_at_best, turn = np.empty(bins + 1), np.empty(bins), np.empty(bins), np.zeros(bins)
    whole = np.empty(bins + 2, np.int64)
    highest, length, stalled, gained = -np.inf, 1.0, 0, False
    for _ in range(rounds):
        if halt[0]:
            break
        paid[0] = 0.0
        for i in range(bins):
            paid[i + 1] = paid[i] + tried[i] * step
        cost = _start_where_cheapest(submit, run, procs, slope, free, tried, paid, step, sold, whole)
        value = cost - capacity * paid[bins]
        if value > highest:
            gained = highest > -np.inf
            highest, stalled = value, 0
            best[:], sold_at_best[:] = tried, sold
        else:
            stalled += 1
        if stalled >= (STALL if gained else 1):  # return to the best prices and continue with shorter steps
            length *= SHORTER if gained else MUCH_SHORTER
            if length < LOWEST:
                break
            value, stalled = highest, 0
            tried[:], sold[:], turn[:] = best, sold_at_best, 0.0
        square = 0.0
        for i in range(bins):
            over = sold[i] - capacity * step
            if tried[i] <= 0 and over < 0:
                over = 0.0
            square += over * over
            turn[i] = INERTIA * turn[i] + (1 - INERTIA) * over
        if square == 0:
            break
        stride = length * (max(target, highest + 0.3 * abs(highest)) - value) / square
        for i in range(bins):
            tried[i] = max(0.0, tried[i] + stride * turn[i])
    price[:] = best
    return highest


@part
def _start_where_cheapest(submit, run, procs, slope, free, price, paid, step, sold, whole):
    """Start each job where waiting and processors cost least; return the total cost, and set what is sold of each bin.

    `whole` is scratch: the changes, from bin to bin, of the number of processors held during the entire bin.
    """
    bins = price.size
    sold[:], whole[:], total = 0.0, 0, 0.0
    for job in range(submit.size):
        width, lasts, begins = procs[job], run[job], submit[job]
        if lasts == 0:
            continue
        cheapest = width * (_paid_until(begins + lasts, price, paid, step) - _paid_until(begins, price, paid, step))
        start = begins
        if cheapest > 0:
            # A sum of piecewise linear functions has its minimum at an end of a piece: where the wait begins to cost,
            # or where a price changes at the start or at the end of the job.
            costs_from = begins + free[job]
            latest = costs_from + cheapest / slope[job]
            at = costs_from
            cost = width * (_paid_until(at + lasts, price, paid, step) - _paid_until(at, price, paid, step))
            if cost < cheapest:
                cheapest, start = cost, at
                latest = costs_from + cheapest / slope[job]
            over, rest = lasts // step, lasts % step
            i = begins // step + 1
            while i <= bins and i * step <= latest:
                at = i * step
                end = min(i + over, bins)
                cost = slope[job] * max(0, at - costs_from) + width * (paid[end] - paid[i])
                if end < bins:
                    cost += width * price[end] * rest
                if cost < cheapest:
                    cheapest, start = cost, at
                    latest = costs_from + cheapest / slope[job]
                i += 1
            i = (begins + lasts) // step + 1
            while i <= bins and i * step - lasts <= latest:
                at = i * step - lasts
                before = i - over - (rest > 0)
                cost = slope[job] * max(0, at - costs_from) + width * (paid[i] - paid[before])
                if rest > 0:
                    cost -= width * price[before] * (step - rest)
                if cost < cheapest:
                    cheapest, start = cost, at
                    latest = costs_from + cheapest / slope[job]
                i += 1
        total += cheapest
        first, last = start // step, (start + lasts) // step
        if first >= bins:
            continue
        if first == last:
            sold[first] += width * lasts
        else:
            sold[first] += width * ((first + 1) * step - start)
            whole[first + 1] += width
            whole[min(last, bins)] -= width
            if last < bins:
                sold[last] += width * (start + lasts - last * step)
    held = 0
    for i in range(bins):
        held += whole[i]
        sold[i] += held * step
    return total


@part
def _paid_until(instant, price, paid, step):
    """Return the price of one processor from 0 until an instant."""
    i = instant // step
    return paid[i] + price[i] * (instant - i * step) if i < price.size else paid[price.size]
