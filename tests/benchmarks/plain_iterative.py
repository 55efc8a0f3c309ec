"""The iterative scheme written straightforwardly: the whole conservative schedule is rebuilt for every candidate.

It shares no code with the kernel. A test compares the two schedules when many jobs wait, where the naive twin is too
slow.
"""

import math

import numba
import numpy as np


@numba.njit
def speedup(a, b, n):
    """Return Downey's speedup."""
    if b <= 1:
        if n <= a:
            return a * n / (a + b * (n - 1) / 2)
        if n <= 2 * a - 1:
            return a * n / (b * (a - 1 / 2) + n * (1 - b / 2))
    elif n <= a + a * b - b:
        return n * a * (b + 1) / (b * (n + a - 1) + a)
    return a


@numba.njit
def lasts(work, a, b, n):
    """Return the duration of a job on n processors."""
    return max(1, math.ceil(work / speedup(a, b, n) * (1 - 1e-12)))


@numba.njit
def hold(time, free, count, start, end, width):
    """Take processors out of a profile on [start, end); return the number of its steps."""
    for instant in (start, end):
        place = 0
        while place < count and time[place] < instant:
            place += 1
        if place == count or time[place] > instant:
            for i in range(count, place, -1):
                time[i] = time[i - 1]
                free[i] = free[i - 1]
            time[place] = instant
            free[place] = free[place - 1]
            count += 1
    for i in range(count):
        if start <= time[i] < end:
            free[i] -= width
    return count


@numba.njit
def earliest(time, free, count, width, seconds):
    """Find the first time from which `width` processors stay free for `seconds`."""
    start = -1
    for i in range(count):
        if free[i] < width:
            start = -1
            continue
        if start < 0:
            start = time[i]
        if i + 1 == count or time[i + 1] - start >= seconds:
            return start
    return -1


@numba.njit
def place_all(base_time, base_free, base, time, free, width, duration, start, m):
    """Place all waiting jobs in the order of the queue; return the sum of their completions."""
    time[:base] = base_time[:base]
    free[:base] = base_free[:base]
    count, total = base, 0
    for i in range(m):
        start[i] = earliest(time, free, count, width[i], duration[i])
        count = hold(time, free, count, start[i], start[i] + duration[i], width[i])
        total += start[i] + duration[i]
    return total


@numba.njit(cache=True)
def iterative(submit, run, estimate, procs, machine, a, b):
    """Simulate; return start times, widths, and how many jobs waited at once."""
    n = submit.size
    start, width = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    end, expected = np.zeros(n, np.int64), np.zeros(n, np.int64)
    work, true = np.empty(n), np.empty(n)
    for j in range(n):
        s = speedup(a[j], b[j], procs[j])
        work[j], true[j] = estimate[j] * s, run[j] * s
    queue, running = np.empty(n, np.int64), np.empty(n, np.int64)
    m = k = arrived = 0
    room = 2 * n + 16
    base_time, base_free = np.empty(room, np.int64), np.empty(room, np.int64)
    time, free = np.empty(room, np.int64), np.empty(room, np.int64)
    w, d, following = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    found, best_start = np.empty(n, np.int64), np.empty(n, np.int64)
    marked = np.empty(n, np.bool_)
    most, never = 0, 2**62
    while True:
        now = submit[arrived] if arrived < n else never
        for i in range(k):
            now = min(now, end[running[i]])
        if now == never:
            return start, width, most
        left = 0
        for i in range(k):
            if end[running[i]] > now:
                running[left] = running[i]
                left += 1
        k = left
        while arrived < n and submit[arrived] == now:
            queue[m] = arrived
            m += 1
            arrived += 1
        if m == 0:
            continue
        base_time[0], base_free[0] = now, machine
        base = 1
        for i in range(k):
            base = hold(base_time, base_free, base, now, expected[running[i]], width[running[i]])
        for i in range(m):
            j = queue[i]
            w[i], marked[i] = 1, False
            d[i] = lasts(work[j], a[j], b[j], 1)
            following[i] = lasts(work[j], a[j], b[j], 2) if machine > 1 else d[i]
        best = place_all(base_time, base_free, base, time, free, w, d, best_start, m)
        most = max(most, m)
        while True:
            gain, i = 0, -1
            for c in range(m):
                if not marked[c] and d[c] - following[c] > gain:
                    gain, i = d[c] - following[c], c
            if i < 0:
                break
            before = d[i]
            w[i] += 1
            d[i] = following[i]
            total = place_all(base_time, base_free, base, time, free, w, d, found, m)
            if total < best:
                best = total
                best_start[:m] = found[:m]
                j = queue[i]
                following[i] = lasts(work[j], a[j], b[j], w[i] + 1) if w[i] < machine else d[i]
            else:
                marked[i] = True
                w[i] -= 1
                d[i] = before
        left = 0
        for i in range(m):
            j = queue[i]
            if best_start[i] == now:
                start[j], width[j] = now, w[i]
                end[j] = now + lasts(true[j], a[j], b[j], w[i])
                expected[j] = now + d[i]
                running[k] = j
                k += 1
            else:
                queue[left] = j
                left += 1
        m = left
