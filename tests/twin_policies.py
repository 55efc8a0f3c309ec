"""
A naive twin of EASY with orders given as functions, several reservations and running sums, to be checked by eye.

It follows sections 1.1 and 1.4 of the requirements, keeps the conventions of `twins` (events, jobs that outlive their
estimates, FCFS for ties), and imports nothing from the package. Every decision forgets all reservations and makes them
anew; every running sum is computed from scratch, over all jobs, whenever a function looks at a job.

The text leaves these points open; they are decided here:

1. An estimate of 0 s counts as 1 s, for reservations, for running jobs and for the functions.
2. A job that could start, but may not overtake the reservations made so far, is passed over for this decision.
"""

from math import expm1, fsum, log
from types import SimpleNamespace

from twins import _simulate, planned


def easy(
    jobs, procs, *, order=None, backfill=None, may_backfill=None, reservations=1, columns=(), sums=(), events="batched"
):
    """
    Let jobs overtake the first blocked jobs unless one of these, as estimated now, would start later.

    Return the start times, and the first reservation of every job (-1: it never had one). The functions `order`,
    `backfill` and `may_backfill` take a view of a job: now, submit (both counted from the first submission), estimate,
    procs, index, its value in each of the `columns` (lists by name), and its key's total in each of the `sums` (by
    name: kind, list of keys, half-life; see `total`).
    """
    assert reservations >= 1, reservations
    jobs = planned(jobs)
    columns, sums = dict(columns), dict(sums)
    first = min((job.submit for job in jobs), default=0)
    starts, running, promises = {}, [], {}

    def decide(now, held, waiting, arrived, early, ended):
        completed = [j for j in running if starts[j] + jobs[j].run == now] if ended else []
        for j in completed[:1] if events == "each" else completed:
            running.remove(j)
        free = procs - sum(p for _, p in held)
        holds = [(now, end, p) for end, p in held]
        begun, reserved = [], []

        def view(j):
            seen = {name: values[j] for name, values in columns.items()}
            queued = [i for i in waiting if i not in starts]
            for name, (kind, key, half_life) in sums.items():
                mine = [i for i in range(len(jobs)) if key[i] == key[j]]
                seen[name] = total(kind, mine, half_life, now, jobs, starts, running, queued)
            submit, _, estimate, needed = jobs[j]
            return SimpleNamespace(
                now=now - first, submit=submit - first, estimate=estimate, procs=needed, index=j, **seen
            )

        def ranked(some, function):
            values = {j: function(view(j)) for j in some}
            return sorted(some, key=lambda j: (values[j], jobs[j].submit, j))

        def can_start(j):
            """Tell whether the processors are free now, and stay free."""
            return jobs[j].procs <= free and fits(jobs[j], now, procs, holds)

        def may_start(j):
            return not reserved or may_backfill is None or may_backfill(view(j))

        def start(j):
            nonlocal free
            free -= jobs[j].procs
            holds.append((now, now + jobs[j].estimate, jobs[j].procs))
            starts[j] = now
            running.append(j)
            begun.append(j)

        def reserve(j):
            # Processors get more only where a hold ends, so no other time can be the earliest.
            times = sorted([now] + [end for _, end, _ in holds if end > now])
            begin = next(t for t in times if fits(jobs[j], t, procs, holds))
            holds.append((begin, begin + jobs[j].estimate, jobs[j].procs))
            reserved.append(j)
            promises.setdefault(j, begin)

        queue = ranked(waiting, order) if order else list(waiting)  # the waiting jobs come in FCFS order
        while queue and len(reserved) < reservations:
            j = queue.pop(0)
            if not can_start(j):
                reserve(j)
            elif may_start(j):
                start(j)
        for j in ranked(queue, backfill) if backfill else queue:
            if can_start(j) and may_start(j):
                start(j)
        return begun

    _simulate(jobs, events, decide)
    return [starts[j] for j in range(len(jobs))], [promises.get(j, -1) for j in range(len(jobs))]


def fits(job, t, procs, holds):
    """Tell whether the job's processors are free from time t for its estimate; a hold is a begin, end and procs."""

    def free_at(t):
        return procs - sum(p for begin, end, p in holds if begin <= t < end)

    # Processors get fewer only where a hold begins.
    times = [t] + [begin for begin, _, _ in holds if t < begin < t + job.estimate]
    return all(free_at(t) >= job.procs for t in times)


def total(kind, mine, half_life, now, jobs, starts, running, queued):
    """
    Sum up the jobs `mine`, all those with one key.

    "usage": processor-seconds since their starts, those of a half-life ago counting half (None: all count in full);
    "running" and "held": jobs that have started and not completed, and their processors; "queued": jobs that wait.
    """
    if kind == "usage":
        return fsum(usage(jobs[i], starts[i], now, half_life) for i in mine if i in starts)
    if kind == "held":
        return sum(jobs[i].procs for i in mine if i in running)
    return sum(i in {"running": running, "queued": queued}[kind] for i in mine)


def usage(job, start, now, half_life):
    """Return the integral of procs * 2 ** (-(now - t) / half_life) over t from the start to the end, or to now."""
    end = min(start + job.run, now)
    if half_life is None:
        return job.procs * (end - start)
    rate = log(2) / half_life
    return job.procs / rate * 2 ** (-(now - end) / half_life) * -expm1(-rate * (end - start))
