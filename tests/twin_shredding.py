"""
Naive twin of job shredding and flooding, on one site or many: plain lists and a rescan at every event, to be checked
by eye.

It follows section 4 of the requirements, with 1.1 (instants), 1.2 (loss of capacity), 1.4 (EASY) and 1.5
(conservative), and imports nothing from the package. A job is named by (home site, position in the home list); a job
with a breakdown b > 0 is a *sweep* of p * b tasks of r / b seconds each. Times are exact: whole seconds come in,
Fractions of seconds go out.

One instant: all completions, all arrivals, then the sites in index order, each until nothing changes, in rounds until
nothing changes anywhere. Under "conservative" compression after early completions closes the completions of the
instant and the reservations of the new jobs are part of the arrivals, so at every site they precede the first pass of
any site.

The text leaves these points open; they are decided here:

1. A job that takes no time completes at a further event of the instant of its start (as in the twins of the base
   schedulers).
2. A task of the application-level scheduler that ends before its estimated end is an early completion: it triggers
   compression.
3. ``release=True``: the parallel job needs all its p processors free to start. With m < p tasks left it takes only m
   of them, from the start, and the others are free for the rest of that same pass; the end of its full rounds is an
   event. Processors given back before the estimated end are an early completion, at the start too: the local
   scheduler makes another pass at once, as after a withdrawal, and compression opens it. Otherwise a task could take
   them from a local job.
4. ``everywhere=True``: a copy on q = min(p, processors of the site) is estimated as ceil(p b / q) rounds of tasks.
   This is the same work, rounded up so that the copy cannot outlive its estimate. The promise of a job is that of its
   home copy.
5. Flooding: the promise of a sweep is that of its first task to get one. The entries of `tasks` are one per site and
   instant.
6. A site with an empty queue loses nothing, and one with a queue is at work, so the sum over all time is the sum from
   the first submission to the last completion of the site. Under "everywhere" the copies in its queue count as
   submitted to it.
"""

from collections import Counter, namedtuple
from fractions import Fraction

from twins import planned

Job = namedtuple("Job", "submit run estimate procs breakdown")  # whole seconds, run <= estimate; breakdown 0: no sweep
Outcome = namedtuple("Outcome", "start end tasks promise")

# What queues at a site: a job, a copy of a sweep (whose `run` is not used: it depends on the tasks left) or a flooding
# task. Sorted as they are, Entries are in queue order: submit, home site, position.
Entry = namedtuple("Entry", "submit home position task procs run estimate")

Hold = namedtuple("Hold", "procs end estimated_end")  # processors in use at a site, from some time in the past


def shredded(sites, procs, speeds, *, scheme="ojs", local="easy", release=False, everywhere=False):
    """
    Run the sites together, and return (outcomes, loss, placed).

    `sites` lists the Jobs of each site in submit order; `procs` and `speeds` have one int per site. "base" runs sweeps
    as rigid jobs, "flooding" as one-processor jobs at home, "ojs" by opportune shredding, in which every site serves
    the tasks of all queued sweeps and the parallel job is queued at home, or `everywhere`.

    outcomes[site][job]: start of the parallel job (None: never), completion, sorted (site, start, count) of the tasks
    started singly, and promise: the shadow time when first a blocked head, or the first reservation, or -1.
    loss[site]: processor-seconds. placed[site][job]: (site, start, procs, length) of the parallel job that ran, or
    None.
    """
    assert scheme in ("base", "flooding", "ojs"), scheme
    assert local in ("easy", "conservative"), local
    sites = [planned(site) for site in sites]  # an estimate of 0 s counts as 1 s
    everyone = range(len(sites))
    jobs = {(home, i): job for home in everyone for i, job in enumerate(sites[home])}
    left = {}  # tasks not yet started, of every sweep to be shredded
    if scheme == "ojs":
        left = {name: job.procs * job.breakdown for name, job in jobs.items() if job.breakdown}

    queues = [[] for _ in everyone]  # Entries in queue order
    running = [[] for _ in everyone]  # Holds in order of start
    reserved = [{} for _ in everyone]  # conservative: start reserved for each queued Entry
    compress_next = [False for _ in everyone]  # conservative: capacity has come free at this site
    given_back = [False for _ in everyone]  # a parallel job has not needed all its processors

    starts, ends, placed, promises = {}, {}, {}, {}
    tasks = {name: Counter() for name in jobs}

    def name_of(entry):
        return entry.home, entry.position

    def task_seconds(name, site, whole):
        """Return the length (or estimate) of one task at a site, from that of the sweep at home."""
        return Fraction(whole, jobs[name].breakdown) * Fraction(speeds[name[0]], speeds[site])

    def free(site):
        return procs[site] - sum(hold.procs for hold in running[site])

    def entries_of(name):
        """Return the (site, Entry) pairs by which a job queues."""
        job, home = jobs[name], name[0]
        if scheme == "flooding" and job.breakdown:
            run, estimate = task_seconds(name, home, job.run), task_seconds(name, home, job.estimate)
            return [(home, Entry(job.submit, *name, k, 1, run, estimate)) for k in range(job.procs * job.breakdown)]
        if name in left and everywhere:
            pairs = []
            for site in everyone:
                width = min(job.procs, procs[site])
                estimate = rounds(job.procs * job.breakdown, width) * task_seconds(name, site, job.estimate)
                pairs.append((site, Entry(job.submit, *name, 0, width, None, estimate)))
            return pairs
        return [(home, Entry(job.submit, *name, 0, job.procs, job.run, job.estimate))]

    # ---- starting and withdrawing

    def withdraw(name):
        """Take all copies of a sweep out of the queues."""
        for site in everyone:
            for entry in [e for e in queues[site] if name_of(e) == name]:
                queues[site].remove(entry)
                reserved[site].pop(entry, None)
                compress_next[site] = True

    def start(site, entry, now):
        """Start an Entry of the local queue; a copy of a sweep claims all tasks left and cancels the other copies."""
        name, width = name_of(entry), entry.procs
        queues[site].remove(entry)
        reserved[site].pop(entry, None)
        length, holds = entry.run, [(width, entry.run)]
        if name in left:
            m, task = left[name], task_seconds(name, site, jobs[name].run)
            left[name] = 0
            withdraw(name)
            length = rounds(m, width) * task
            holds = [(width, length)]
            if release and m % width:  # the last round is not full
                holds = [(m % width, length), (width - m % width, m // width * task)]
                if m < width:  # there is no full round: the others are given back at once
                    holds.pop()
                    compress_next[site] = given_back[site] = True
        running[site] += [Hold(p, now + seconds, now + entry.estimate) for p, seconds in holds]
        ends[name] = max(ends.get(name, now), now + length)
        if scheme == "flooding" and jobs[name].breakdown:
            tasks[name][site, now] += 1
        else:
            starts[name] = now
            placed[name] = (site, now, width, length)

    def start_task(site, name, now):
        """Start one task of a queued sweep on an idle processor."""
        end = now + task_seconds(name, site, jobs[name].run)
        running[site].append(Hold(1, end, now + task_seconds(name, site, jobs[name].estimate)))
        left[name] -= 1
        tasks[name][site, now] += 1
        ends[name] = max(ends.get(name, now), end)

    def promise(site, entry, when):
        if site == entry.home:
            promises.setdefault(name_of(entry), when)

    # ---- the local schedulers

    def head_reservation(site):
        """Return the shadow time and the extra nodes of the blocked head (1.4, step 2)."""

        def free_at(t):
            return free(site) + sum(hold.procs for hold in running[site] if hold.estimated_end <= t)

        needed = queues[site][0].procs
        shadow = min(hold.estimated_end for hold in running[site] if free_at(hold.estimated_end) >= needed)
        return shadow, free_at(shadow) - needed

    def easy_pass(site, now):
        while queues[site] and queues[site][0].procs <= free(site):
            start(site, queues[site][0], now)
        if not queues[site]:
            return
        shadow, extra = head_reservation(site)
        promise(site, queues[site][0], shadow)
        for entry in queues[site][1:]:
            in_time = now + entry.estimate <= shadow
            if entry.procs <= free(site) and (in_time or entry.procs <= extra):
                before = free(site)
                start(site, entry, now)
                if not in_time:
                    extra -= before - free(site)

    def is_free(site, needed, begin, end, now):
        """Tell whether the profile (running jobs and tasks, reservations) has the processors on [begin, end)."""
        holds = [(now, hold.estimated_end, hold.procs) for hold in running[site]]
        holds += [(t, t + entry.estimate, entry.procs) for entry, t in reserved[site].items()]

        def free_at(t):
            return procs[site] - sum(p for b, e, p in holds if b <= t < e)

        # Processors get fewer only where a hold begins.
        return all(free_at(t) >= needed for t in [begin] + [b for b, _, _ in holds if begin < b < end])

    def reserve(site, entry, now):
        """Reserve the earliest time at which the processors stay free for the estimate."""
        times = [now] + [hold.estimated_end for hold in running[site]]  # elsewhere processors do not get more
        times += [t + other.estimate for other, t in reserved[site].items()]
        fitting = (t for t in sorted(times) if t >= now and is_free(site, entry.procs, t, t + entry.estimate, now))
        reserved[site][entry] = next(fitting)
        promise(site, entry, reserved[site][entry])

    def compress(site, now):
        for entry in list(queues[site]):
            del reserved[site][entry]
            reserve(site, entry, now)
        compress_next[site] = False

    def conservative_pass(site, now):
        if compress_next[site]:
            compress(site, now)
        for entry in list(queues[site]):
            if reserved[site][entry] <= now:
                start(site, entry, now)

    # ---- the application-level scheduler

    def task_may_start(site, name, now):
        end = now + task_seconds(name, site, jobs[name].estimate)
        if local == "conservative":
            return is_free(site, 1, now, end, now)
        if free(site) == 0 or not queues[site]:
            return free(site) > 0
        shadow, extra = head_reservation(site)  # afresh: tasks that outlast the shadow time use up the extra nodes
        return end <= shadow or extra > 0

    def shred(site, now):
        """Serve the queued sweeps in queue order, until one runs out of tasks."""
        queued = sorted({(e.submit, *name_of(e)) for queue in queues for e in queue if name_of(e) in left})
        for _, *name in queued:
            name = tuple(name)
            while left[name] and task_may_start(site, name, now):
                start_task(site, name, now)
            if not left[name]:
                withdraw(name)
                return  # to another pass of the local scheduler, then again from the first sweep

    def visit(site, now):
        """Make one pass of the local scheduler and one of the ALS; tell whether anything changed."""
        before = [list(queue) for queue in queues], dict(left)
        local_pass = easy_pass if local == "easy" else conservative_pass
        local_pass(site, now)
        while given_back[site]:
            given_back[site] = False
            local_pass(site, now)
        shred(site, now)
        return before != (queues, left)

    # ---- from instant to instant

    def loss_rate(site):
        """Return the idle processors for which queued jobs have a use; of a sweep only the tasks left count."""
        wanted = sum(min(entry.procs, left.get(name_of(entry), entry.procs)) for entry in queues[site])
        return min(wanted, free(site))

    coming = sorted((entry, site) for name in jobs for site, entry in entries_of(name))
    loss = [Fraction(0) for _ in everyone]
    now = None
    while coming or any(queues) or any(running):
        times = [entry.submit for entry, _ in coming]
        times += [hold.end for site in everyone for hold in running[site]]
        times += [t for site in everyone for t in reserved[site].values()]
        previous, now = now, Fraction(min(times))
        if previous is not None:
            loss = [loss[site] + loss_rate(site) * (now - previous) for site in everyone]

        for site in everyone:
            early = any(hold.end == now < hold.estimated_end for hold in running[site])
            running[site] = [hold for hold in running[site] if hold.end > now]
            if early and local == "conservative":
                compress(site, now)
        for entry, site in [pair for pair in coming if pair[0].submit == now]:
            coming.remove((entry, site))
            queues[site].append(entry)  # stays in queue order, which begins with the submit time
            if local == "conservative":
                reserve(site, entry, now)

        changed = True
        while changed:
            changed = False
            for site in everyone:
                while visit(site, now):
                    changed = True

    def outcome(name):
        started = sorted((site, when, count) for (site, when), count in tasks[name].items())
        return Outcome(starts.get(name), ends[name], started, promises.get(name, -1))

    names = [[(home, i) for i in range(len(sites[home]))] for home in everyone]
    outcomes = [[outcome(name) for name in row] for row in names]
    return outcomes, loss, [[placed.get(name) for name in row] for row in names]


def rounds(tasks, width):
    """Return how many rounds of `width` tasks at a time it takes."""
    return -(-tasks // width)
