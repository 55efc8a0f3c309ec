"""
Naive labels of how each job came to start on a machine of several pools, to be checked by eye.

They follow the definition, instant by instant, on schedules of `twin_pools`, and import nothing from the package. The
label of a job is of its last run. It depends on which jobs of its pool still wait after all starts of the instant. A
job that would exceed a limit beside all that runs then is none of them.

- "head": no job that still waits stands before it in the queue, as the order is at this instant.
- "reservation": one does, and the job waited with a reservation that was made in an earlier pass since it was queued,
  unless it arrived at this instant. Under FCFS and EASY with one reservation nobody holds one.
- "backfilled within the shadow": by its estimate it ends no later than the first waiting job could start, which is the
  first instant from which that job fits, given the running jobs and the windows known.
- "backfilled on extra processors": it ends later, and takes amounts that the first waiting job leaves over.

Jobs that start at the instant count as running, whatever their length, in limits too.
"""

from twin_pools import EASY, FCFS, Conservative
from twin_starts import EXTRA, HEAD, RESERVATION, WITHIN


class Noting:
    """A scheme that notes which jobs had held a reservation when their last run started."""

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings)
        self.promises = Reservations()
        self.holding = set()
        self.began_with_one = {}  # by number

    def decide(self, pool):
        self.promises.of_this_pass.clear()
        super().decide(pool)
        self.holding |= self.promises.of_this_pass & {job.number for job in pool.waiting}

    def start(self, pool, job):
        super().start(pool, job)
        self.began_with_one[job.number] = job.number in self.holding and job.submit < self.now
        self.holding.discard(job.number)


class Reservations(dict):
    """The first reservations by number, and who gets any in a pass."""

    def __init__(self):
        super().__init__()
        self.of_this_pass = set()

    def setdefault(self, number, instant):
        self.of_this_pass.add(number)
        return super().setdefault(number, instant)


class NotingEASY(Noting, EASY):
    pass


class NotingConservative(Noting, Conservative):
    pass


def started_by(jobs, machine, scheme="fcfs", order=None, **settings):
    """Return the pieces, as `twin_pools.simulate` does, and the label of each job in the order of the log."""
    if scheme == "conservative" or settings.get("reservations", 1) > 1:
        own = {"easy": NotingEASY, "conservative": NotingConservative}[scheme](jobs, machine, order, **settings)
        pieces, _ = own.run()
        reserved = {number for number, held in own.began_with_one.items() if held}
    else:
        pieces, _ = {"fcfs": FCFS, "easy": EASY}[scheme](jobs, machine, order, **settings).run()
        reserved = set()
    labels = []
    for job in jobs:
        now = max(start for number, start, _ in pieces if number == job.number)
        labels.append(_label(FCFS(jobs, machine, order), job.number, now, pieces, reserved))
    return pieces, labels


def _label(at, number, now, pieces, reserved):
    """Label the job of this number, which starts now; `at` is a scheme on the empty machine, to be filled."""
    at.now = now
    for job in at.jobs:
        runs = [(start, end) for other, start, end in pieces if other == job.number]
        pool = at.pool_of(job)
        running = [start for start, end in runs if start <= now < end or start == now]
        if running:
            pool.running[job] = running[-1]
        elif job.submit <= now and any(start > now for start, _ in runs):
            pool.waiting.append(job)
    labelled = next(job for job in at.jobs if job.number == number)
    pool = at.pool_of(labelled)
    queue = at.ranked([labelled] + [job for job in pool.waiting if at.within_limits(job)], at.order)
    place = queue.index(labelled)
    queue.remove(labelled)
    if place == 0:
        return HEAD
    if number in reserved:
        return RESERVATION
    shadow = pool.earliest(queue[0], now, {})
    return WITHIN if now + labelled.estimate <= shadow else EXTRA
