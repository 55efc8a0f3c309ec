"""
Naive schedulers that say how each job came to start, to be checked by eye: FCFS, EASY, conservative backfilling.

They import nothing from the package and label a job when they decide to start it, by the rule that lets it start.
Nobody knows then how long the job will really run. A function returns the starts and the labels:

- "head": no job that still waits stands before it in the queue.
- "reservation": one does, and the job held a reservation before this instant.
- "backfilled within the shadow": by its estimate it ends no later than the first waiting job could start.
- "backfilled on extra processors": it ends later, and takes processors that the first waiting job leaves over.

Jobs come in the order of submission and never outlive their estimates. At each instant come all completions, then
all arrivals, then one decision. A job of no length completes at the instant of its start, which has another pass then.
An estimate of 0 s counts as 1 s.
"""

from twins import _simulate, _take_fitting_heads, planned

HEAD, RESERVATION = "head", "reservation"
WITHIN, EXTRA = "backfilled within the shadow", "backfilled on extra processors"


def fcfs(jobs, procs):
    """Start jobs as they come; the first that does not fit blocks all others."""

    def decide(now, held, waiting, arrived):
        return dict.fromkeys(_take_fitting_heads(jobs, waiting, procs - _sum(held)), HEAD)

    return _labelled(jobs, decide)


def easy(jobs, procs, order="fcfs"):
    """Let jobs start ahead of a blocked head that do not delay it, by the estimates. Candidates come in queue order."""
    jobs = planned(jobs)
    overtaken = {}  # by each backfilled job: when, and which head

    def place(j):
        return jobs[j].estimate if order == "sjf" else 0, jobs[j].submit, j

    def decide(now, held, waiting, arrived):
        queue = sorted(waiting, key=place)
        labels = dict.fromkeys(_take_fitting_heads(jobs, queue, procs - _sum(held)), HEAD)
        held = held + [(now + jobs[j].estimate, jobs[j].procs) for j in labels]
        free = procs - _sum(held)
        head = queue.pop(0) if queue else None
        shadow, extra = (now, 0) if head is None else _shadow(jobs[head], now, held, procs)

        def within(j):
            return now + jobs[j].estimate <= shadow

        # A job of no length was the obstacle to a head, and is over: in a further pass of the same instant the head
        # starts. Who overtook it then started ahead of none, or of the head that waits now.
        for j, (instant, before) in overtaken.items():
            if instant == now and before in labels:
                labels[j] = HEAD if head is None or place(j) < place(head) else WITHIN if within(j) else EXTRA
                overtaken[j] = now, head

        for j in queue:
            if jobs[j].procs <= free and within(j):
                labels[j] = WITHIN
            elif jobs[j].procs <= min(free, extra):
                labels[j] = EXTRA
                extra -= jobs[j].procs
            else:
                continue
            free -= jobs[j].procs
            overtaken[j] = now, head
        return labels

    return _labelled(jobs, decide)


def conservative(jobs, procs):
    """Reserve for every job, at its arrival, the earliest time; it starts then, even if it could start earlier."""
    jobs = planned(jobs)
    reserved = {}

    def decide(now, held, waiting, arrived):
        for j in arrived:
            holds = [(now, end, p) for end, p in held]
            holds += [(begin, begin + jobs[i].estimate, jobs[i].procs) for i, begin in reserved.items()]
            reserved[j] = _earliest(jobs[j], now, holds, procs)
        begun = [j for j in waiting if reserved[j] == now]
        left = [j for j in waiting if reserved[j] > now]
        held = held + [(now + jobs[j].estimate, jobs[j].procs) for j in begun]
        labels = {}
        for j in begun:
            del reserved[j]
            if not left or j < left[0]:
                labels[j] = HEAD
            elif j not in arrived:
                labels[j] = RESERVATION
            else:
                # The first could start at its shadow time as in EASY, which may be before its own reservation.
                shadow, _ = _shadow(jobs[left[0]], now, held, procs)
                labels[j] = WITHIN if now + jobs[j].estimate <= shadow else EXTRA
        return labels

    return _labelled(jobs, decide, reserved)


def _labelled(jobs, decide, reserved=None):
    """Return the starts and the labels; `decide` returns jobs to start, each with its label, or new labels of others.

    It receives the time, the (estimated end, procs) of the running jobs, the waiting jobs and, among them, those just
    arrived. The times in the dictionary `reserved`, which `decide` keeps up to date, are events too.
    """
    labels = {}

    def starting(now, held, waiting, arrived, early, ended):
        labels.update(decide(now, held, list(waiting), arrived))
        return [j for j in waiting if j in labels]

    starts = _simulate(jobs, "batched", starting, reserved)
    return starts, [labels[j] for j in range(len(jobs))]


def _sum(held):
    return sum(p for _, p in held)


def _shadow(job, now, held, procs):
    """Return when the job could start if all that runs ended as estimated, and how many processors it leaves then."""

    def left_at(t):
        return procs - sum(p for end, p in held if end > t) - job.procs

    shadow = next(t for t in sorted([now] + [end for end, _ in held]) if left_at(t) >= 0)
    return shadow, left_at(shadow)


def _earliest(job, now, holds, procs):
    """Return the first time from which the job's processors stay free for its estimate; a hold is begin, end, procs."""

    def free_at(t):
        return procs - sum(p for begin, end, p in holds if begin <= t < end)

    def fits(t):  # processors get fewer only where a hold begins
        return all(free_at(b) >= job.procs for b in [t] + [b for b, _, _ in holds if t < b < t + job.estimate])

    # Processors get more only where a hold ends, so no other time can be the earliest.
    return next(t for t in sorted([now] + [end for _, end, _ in holds if end > now]) if fits(t))
