"""Wrong FCFS, EASY and conservative backfilling: one plain loop, and the mistakes that people make.

`MUTANTS` holds them by kind and by name; the name is what `schedlab.conformance` says of them ("looks at the first
candidate only"). Most differ from a right scheduler in one method. They import nothing from the kernels; only other
schemes altogether (k reservations, DPSA, ...) are those of schedlab. `RIGHT` holds what is right, by convention.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise, product, takewhile

import numpy as np

import schedlab as sl

NEVER = -1
ALL = 10**9  # jobs


class Simulation:
    """Jobs as (submit, run, estimate, procs), what runs and what waits, and how the events of an instant are taken.

    `clock` says how: "instant" (all events of the instant, then one pass), or which events come first, and whether
    there is a pass after each completion or one after all.
    """

    def __init__(self, scheduler, jobs, procs, clock="instant"):
        self.submit, self.run, self.estimate, self.procs = ([job[i] for job in jobs] for i in range(4))
        self.machine = self.free = procs
        self.start, self.queue, self.running = [NEVER] * len(jobs), [], []  # queue: first come first
        self.now, self.arrived, self.ended = 0, [], []  # of this pass
        self.scheduler, self.clock = scheduler, clock

    def starts(self):
        """Simulate, and return the starts; `NEVER` for a job that never starts."""
        coming = list(range(len(self.submit)))
        while True:
            times = [self.submit[coming[0]]] if coming else []
            times += [self.start[job] + self.run[job] for job in self.running]
            times += [time for time in self.scheduler.alarms(self) if time > self.now]
            if not times:
                return self.start
            self.now = min(times)
            arrivals = [job for job in coming if self.submit[job] == self.now]
            completions = [job for job in self.running if self.start[job] + self.run[job] == self.now]
            coming = coming[len(arrivals) :]
            for ended, arrived in self.rounds(completions, arrivals):
                self.ended, self.arrived = ended, arrived
                for job in ended:
                    self.running.remove(job)
                    self.free += self.procs[job]
                self.queue += arrived
                self.scheduler.decide(self)

    def rounds(self, completions, arrivals):
        """Return the events of an instant, by pass."""
        if self.clock == "instant" or not (completions or arrivals):
            return [(completions, arrivals)]
        first, each = self.clock
        ends = [([job], []) for job in completions] if each else [(completions, [])] * bool(completions)
        comes = [([], [job]) for job in arrivals]
        return ends + comes if first == "completions" else comes + ends

    def begin(self, job):
        """Start a waiting job."""
        self.queue.remove(job)
        self.running.append(job)
        self.start[job] = self.now
        self.free -= self.procs[job]

    def end(self, job):
        """Return the estimated end of a running job."""
        return self.start[job] + self.estimate[job]


# --- EASY backfilling ---
class Easy:
    """Right: heads start while they fit; then what ends by the shadow time, or needs extra processors only."""

    def alarms(self, s):
        """Return instants at which a pass is wanted."""
        return []

    def decide(self, s):
        self.start_heads(s)
        if s.queue:
            self.backfill(s)

    def start_heads(self, s, most=ALL):
        while most and s.queue and self.fits(s, self.first(s)):
            s.begin(self.first(s))
            most -= 1

    def first(self, s):
        return s.queue[0]

    def fits(self, s, job):
        return s.procs[job] <= s.free

    def backfill(self, s, most=ALL):
        self.fill(s, *self.reservation(s, self.head(s)), most)

    def fill(self, s, shadow, extra, most=ALL):
        """Start candidates, and return the extra processors that are left."""
        for job in self.candidates(s):
            if most and self.fits(s, job) and self.may_start(s, job, shadow, extra):
                extra = self.left_over(s, job, shadow, extra)
                s.begin(job)
                most -= 1
        return extra

    def head(self, s):
        return s.queue[0]

    def candidates(self, s):
        return [job for job in s.queue if job != self.head(s)]

    def reservation(self, s, head):
        """Return the shadow time, and the extra processors."""
        free = s.free
        ends = sorted((self.expected_end(s, job), s.procs[job]) for job in self.counted(s))
        for place, (end, procs) in enumerate(ends):
            free += procs
            if free >= s.procs[head] and not self.more_at(ends, place):
                return end, free - s.procs[head]
        return s.now, s.free  # nothing that counts frees enough

    def counted(self, s):
        return s.running

    def expected_end(self, s, job):
        return s.end(job)

    def more_at(self, ends, place):
        return place + 1 < len(ends) and ends[place + 1][0] == ends[place][0]

    def may_start(self, s, job, shadow, extra):
        return self.in_time(s, job, shadow) or s.procs[job] <= extra

    def in_time(self, s, job, shadow):
        return s.now + s.estimate[job] <= shadow

    def left_over(self, s, job, shadow, extra):
        return extra if self.in_time(s, job, shadow) else extra - s.procs[job]


def behind(s):
    """Return the candidates of a right scheduler."""
    return s.queue[1:]


class StopsAtTheFirstRefused(Easy):
    """stops at the first candidate that may not start"""

    def backfill(self, s):
        shadow, extra = self.reservation(s, s.queue[0])
        for job in behind(s):
            if not self.fits(s, job) or not self.may_start(s, job, shadow, extra):
                break
            extra = self.left_over(s, job, shadow, extra)
            s.begin(job)


class OnlyExtra(Easy):
    """backfills on extra processors only"""

    def may_start(self, s, job, shadow, extra):
        return s.procs[job] <= extra

    def left_over(self, s, job, shadow, extra):
        return extra - s.procs[job]


def extra_of_the_last_end(self, s, head):
    free = s.free
    for end, procs in sorted((s.end(job), s.procs[job]) for job in s.running):
        if free + procs >= s.procs[head]:
            return end, max(procs - (s.procs[head] - free) - s.free, 0)
        free += procs
    raise AssertionError("the head is wider than the machine")


class ShadowByRunTimes(Easy):
    """knows when running jobs will really end"""

    def expected_end(self, s, job):
        return s.start[job] + s.run[job]


def in_time_by_run_time(self, s, job, shadow):
    return s.now + s.run[job] <= shadow


class AllByRunTimes(ShadowByRunTimes):
    """knows all run times"""

    in_time = in_time_by_run_time


def shadow_of_the_first(self, s, head):
    end, procs = min((s.end(job), s.procs[job]) for job in s.running)
    return end, max(s.free + procs - s.procs[head], 0)


class ShadowKept(Easy):
    """keeps the first shadow time and extra processors of a head until it starts"""

    def __init__(self):
        self.kept = {}

    def backfill(self, s):
        head = s.queue[0]
        shadow, extra = self.kept.get(head) or self.reservation(s, head)
        self.kept[head] = shadow, self.fill(s, shadow, extra)


class HeadWaits(Easy):
    """lets the head start no earlier than first promised"""

    def __init__(self):
        self.promised = {}

    def alarms(self, s):
        return self.promised.values()

    def decide(self, s):
        while s.queue and self.fits(s, s.queue[0]) and self.promised.get(s.queue[0], s.now) <= s.now:
            s.begin(s.queue[0])
        if s.queue:
            head = s.queue[0]
            if head not in self.promised:
                self.promised[head] = self.reservation(s, head)[0]
            shadow = max(self.promised[head], s.now)
            free = s.free + sum(s.procs[job] for job in s.running if s.end(job) <= shadow)
            self.fill(s, shadow, free - s.procs[head])


class NoReservation(Easy):
    """starts whatever fits: first fit"""

    def may_start(self, s, job, shadow, extra):
        return True


class ReservesForTheWidest(Easy):
    """reserves for the widest waiting job, not for the first"""

    def head(self, s):
        return max(s.queue, key=lambda job: s.procs[job])

    def backfill(self, s):
        if not self.fits(s, self.head(s)):
            super().backfill(s)


class ReservesForTheLast(ReservesForTheWidest):
    """reserves for the last waiting job, not for the first"""

    def head(self, s):
        return s.queue[-1]


class ReservesForTheSecond(ReservesForTheWidest):
    """reserves for the second waiting job, if there is one, not for the first"""

    def head(self, s):
        return s.queue[min(1, len(s.queue) - 1)]

    def candidates(self, s):
        return [job for job in behind(s) if job != self.head(s)]


class OneStart(Easy):
    """starts one job in a pass"""

    def decide(self, s):
        if s.queue and self.fits(s, s.queue[0]):
            s.begin(s.queue[0])
        elif s.queue:
            self.backfill(s, 1)


class OneHead(Easy):
    """starts one head in a pass, and reserves for the next even if it fits"""

    def decide(self, s):
        self.start_heads(s, 1)
        if s.queue and not self.fits(s, s.queue[0]):
            self.backfill(s)


class NoBackfillAfterHeads(Easy):
    """does not backfill in a pass in which the head has started"""

    def decide(self, s):
        before = len(s.queue)
        self.start_heads(s)
        if s.queue and len(s.queue) == before:
            self.backfill(s)


class BackfillsFirst(Easy):
    """backfills against the old reservation before it starts heads"""

    def __init__(self):
        self.last = None

    def decide(self, s):
        if self.last is not None and s.queue and s.queue[0] == self.last[0]:
            self.fill(s, *self.last[1:])
        super().decide(s)
        self.last = (s.queue[0], *self.reservation(s, s.queue[0])) if s.queue else None


class ForgetsArrivals(Easy):
    """decides at completions only, unless the machine is idle"""

    def decide(self, s):
        if s.ended or not s.running:
            super().decide(s)


class ForgetsCompletions(Easy):
    """decides at arrivals only, until nothing runs"""

    def decide(self, s):
        if s.arrived or not s.running:
            super().decide(s)


class ForgetsMixed(Easy):
    """puts off its decision when jobs arrive at the instant of a completion"""

    def decide(self, s):
        if not (s.arrived and s.ended and s.running):
            super().decide(s)


class ForgetsTheSecondArrival(Easy):
    """sees only the first job that arrives at an instant, and the others at the next event"""

    def candidates(self, s):
        return [job for job in behind(s) if job not in s.arrived[1:]]


def among_sixty_four(self, s, job):
    return s.procs[job] <= s.free and len(s.running) < 64


class SixtyFourRunning(Easy):
    """runs at most sixty-four jobs at once"""

    fits = among_sixty_four

    def backfill(self, s):
        if s.procs[s.queue[0]] > s.free:
            super().backfill(s)


# --- First come, first served ---
class Fcfs(Easy):
    """Right: nothing passes the first job that does not fit."""

    def backfill(self, s):
        pass


class FcfsSkipsOne(Fcfs):
    """lets the second pass the first"""

    def start_heads(self, s):
        super().start_heads(s)
        while len(s.queue) > 1 and self.fits(s, s.queue[1]):
            s.begin(s.queue[1])


class FcfsFirstFit(Fcfs):
    """starts whatever fits: first fit"""

    def start_heads(self, s):
        for job in [*s.queue]:
            if self.fits(s, job):
                s.begin(job)


class FcfsNewcomersFirst(Fcfs):
    """starts a job at once if it fits when it arrives"""

    def start_heads(self, s):
        for job in s.arrived:
            if self.fits(s, job):
                s.begin(job)
        super().start_heads(s)


class FcfsForgetsArrivals(Fcfs, ForgetsArrivals):
    """decides at completions only, unless the machine is idle"""


class FcfsForgetsCompletions(Fcfs, ForgetsCompletions):
    """decides at arrivals only, until nothing runs"""


class FcfsByEstimate(Fcfs):
    """keeps processors until the estimated end"""

    def alarms(self, s):
        return [s.start[job] + s.estimate[job] for job in range(len(s.start)) if s.start[job] != NEVER]

    def fits(self, s, job):
        begun = [other for other in range(len(s.start)) if s.start[other] != NEVER and s.end(other) > s.now]
        return s.machine - sum(s.procs[other] for other in begun) >= s.procs[job]


class FcfsOnceAMinute(Fcfs):
    """decides once a minute"""

    def alarms(self, s):
        return [(s.now // 60 + 1) * 60] if s.queue else []

    def start_heads(self, s):
        if s.now % 60 == 0:
            super().start_heads(s)


# --- Conservative backfilling ---
class Conservative:
    """Right: each job is placed where its processors are free for its estimate; early ends move reservations."""

    compression, repeat, on_completion = "queue", False, False

    def __init__(self):
        self.reserved = {}

    def alarms(self, s):
        return self.reserved.values()

    def decide(self, s):
        if self.compression == "rebuild":
            self.reserved.clear()
            self.place(s, self.rebuilt(s))
        else:
            if self.moves(s):
                self.compress(s)
            self.place(s, s.arrived)
        self.start_due(s)

    def rebuilt(self, s):
        return s.queue

    def place(self, s, jobs):
        for job in jobs:
            self.reserved[job] = self.earliest(s, job)

    def start_due(self, s, most=ALL):
        for job in [*s.queue]:
            if most and self.reserved.get(job, s.now + 1) <= s.now and s.procs[job] <= s.free:
                s.begin(job)
                del self.reserved[job]
                most -= 1

    def moves(self, s):
        early = [job for job in s.ended if s.run[job] < s.estimate[job]]
        return self.compression != "none" and bool(s.ended if self.on_completion else early)

    def compress(self, s):
        before = None
        while before is None or (self.repeat and before != self.reserved):
            before = dict(self.reserved)
            for job in self.visited(s):
                was = self.reserved.pop(job)
                self.reserved[job] = self.moved(s, job, was)

    def visited(self, s):
        if self.compression == "reservation":
            return sorted(self.reserved, key=lambda job: (self.reserved[job], job))
        return [job for job in s.queue if job in self.reserved]

    def moved(self, s, job, was):
        return min(was, self.earliest(s, job))

    def expected(self, s, job):
        return s.estimate[job]

    def holds(self, s):
        """Return what is held: begin, end and processors."""
        return [(s.now, self.free_again(s, job), s.procs[job]) for job in s.running] + [
            (begin, begin + self.expected(s, job), s.procs[job]) for job, begin in self.reserved.items()
        ]

    def free_again(self, s, job):
        return s.start[job] + self.expected(s, job)

    def steps(self, s, holds):
        """Return the profile: instants from now on, and the processors free from each of them on."""
        changes = {s.now: s.machine}
        for begin, end, procs in holds:
            if end > s.now:
                changes[max(begin, s.now)] = changes.get(max(begin, s.now), 0) - procs
                changes[end] = changes.get(end, 0) + procs
        times = sorted(changes)
        return times, list(accumulate(changes[time] for time in times))

    def earliest(self, s, job):
        times, free = self.steps(s, self.holds(s))
        return next(time for time in self.starts(s, times) if self.fits(s, job, time, times, free))

    def starts(self, s, times):
        """Return the instants at which a reservation may begin."""
        return times

    def fits(self, s, job, time, times, free):
        place, last = bisect_right(times, time) - 1, time + self.expected(s, job)
        while place < len(times) and times[place] < last:
            if free[place] < s.procs[job]:
                return False
            place += 1
        return True


def fits_at_start_and_end(self, s, job, time, times, free):
    last = time + s.estimate[job] - 1
    return min(free[bisect_right(times, at) - 1] for at in (time, last)) >= s.procs[job]


class RunningOnly(Conservative):
    """places new reservations around running jobs only, not around other reservations"""

    def place(self, s, jobs):
        for job in jobs:
            others, self.reserved = self.reserved, {}
            others[job] = self.earliest(s, job)
            self.reserved = others


class BehindAll(Conservative):
    """places each new reservation no earlier than the last one"""

    def place(self, s, jobs):
        for job in jobs:
            last = max(self.reserved.values(), default=s.now)
            times, free = self.steps(s, self.holds(s))
            later = [last, *(time for time in times if time > last)]
            self.reserved[job] = next(time for time in later if self.fits(s, job, time, times, free))


class MovesToNowOnly(Conservative):
    """moves a reservation only if the job can start at once"""

    def moved(self, s, job, was):
        time = self.earliest(s, job)
        return time if time == s.now else was


class OwnPlaceInTheWay(Conservative):
    """counts a job's own reservation as taken when it looks for an earlier one"""

    def moved(self, s, job, was):
        self.reserved[job] = was
        time = self.earliest(s, job)
        del self.reserved[job]
        return min(was, time)


def again_in_a_second(self, s):
    """Return the instants of reservations, and the next second if a job that is due did not fit."""
    return [*self.reserved.values(), *([s.now + 1] if any(r <= s.now for r in self.reserved.values()) else [])]


class MovesTogether(Conservative):
    """moves all reservations forward by the time that the job ended early"""

    alarms = again_in_a_second

    def compress(self, s):
        saved = max(s.end(job) - s.now for job in s.ended)
        for job in self.reserved:
            self.reserved[job] = max(self.reserved[job] - saved, s.now)


class EstimatesKept(Conservative):
    """keeps the processors of jobs that ended early until their estimated ends"""

    compression = "none"

    def holds(self, s):
        begun = [job for job in range(len(s.start)) if s.start[job] != NEVER and s.end(job) > s.now]
        held = [(s.now, s.end(job), s.procs[job]) for job in begun]
        return held + [(r, r + s.estimate[job], s.procs[job]) for job, r in self.reserved.items()]


class NewcomersFirst(Conservative):
    """places newcomers before it moves the others"""

    def decide(self, s):
        moves = self.moves(s)
        self.place(s, s.arrived)
        if moves:
            self.compress(s)
        self.start_due(s)


class NewcomersBackfilled(Conservative):
    """starts a newcomer that fits at once, whatever is reserved"""

    alarms = again_in_a_second

    def place(self, s, jobs):
        for job in jobs:
            self.reserved[job] = s.now if s.procs[job] <= s.free else self.earliest(s, job)


class RebuildsShortestFirst(Conservative):
    """makes all reservations anew, shortest first"""

    compression = "rebuild"

    def rebuilt(self, s):
        return sorted(s.queue, key=lambda job: s.estimate[job])


class ThirtyTwoReserved(Conservative):
    """gives only the first thirty-two waiting jobs a reservation"""

    many = 32

    def decide(self, s):
        if self.moves(s):
            self.compress(s)
        for _ in range(2):
            self.place(s, [job for job in s.queue[: self.many] if job not in self.reserved])
            self.start_due(s)


class HundredReserved(ThirtyTwoReserved):
    """gives only the first hundred waiting jobs a reservation"""

    many = 100


def tried(key):
    """Try the candidates in another order."""
    return lambda self, s: sorted(behind(s), key=partial(key, s))


def only(test):
    """Try some candidates only."""
    return lambda self, s: [job for job in behind(s) if test(s, job)]


def served(key):
    """Serve the queue in another order."""
    return lambda self, s: min(s.queue, key=partial(key, s))


# --- What people get wrong: classes, or one method, the words for it, and the method ---
_EASY = [
    ("candidates", "looks at the first candidate only", lambda self, s: behind(s)[:1]),
    ("candidates", "looks at the first two candidates only", lambda self, s: behind(s)[:2]),
    ("candidates", "looks at the first ten candidates only", lambda self, s: behind(s)[:10]),
    ("candidates", "looks at the first hundred candidates only", lambda self, s: behind(s)[:100]),
    ("candidates", "tries the candidates from the last to the first", lambda self, s: behind(s)[::-1]),
    ("candidates", "tries the longest candidates first", tried(lambda s, job: -s.estimate[job])),
    ("candidates", "tries the narrowest candidates first", tried(lambda s, job: s.procs[job])),
    ("candidates", "tries the widest candidates first", tried(lambda s, job: -s.procs[job])),
    (
        "candidates",
        "tries the candidates with the smallest area first",
        tried(lambda s, job: s.procs[job] * s.estimate[job]),
    ),
    ("candidates", "backfills a job only when it arrives", only(lambda s, job: job in s.arrived)),
    ("candidates", "does not backfill a job when it arrives", only(lambda s, job: job not in s.arrived)),
    (
        "candidates",
        "stops at the first candidate that does not fit",
        lambda self, s: takewhile(partial(self.fits, s), behind(s)),
    ),
    StopsAtTheFirstRefused,
    ("candidates", "backfills jobs of one processor only", only(lambda s, job: s.procs[job] == 1)),
    ("candidates", "backfills no job wider than half the machine", only(lambda s, job: 2 * s.procs[job] <= s.machine)),
    (
        "candidates",
        "backfills no job longer than the head",
        only(lambda s, job: s.estimate[job] <= s.estimate[s.queue[0]]),
    ),
    ("backfill", "backfills one job in a pass", lambda self, s: Easy.backfill(self, s, 1)),
    ("backfill", "backfills two jobs in a pass", lambda self, s: Easy.backfill(self, s, 2)),
    ("backfill", "backfills ten jobs in a pass", lambda self, s: Easy.backfill(self, s, 10)),
    ("may_start", "uses no extra processors", lambda self, s, job, shadow, extra: self.in_time(s, job, shadow)),
    OnlyExtra,
    (
        "may_start",
        "asks for an end by the shadow time and for extra processors at once",
        lambda self, s, job, shadow, extra: self.in_time(s, job, shadow) and s.procs[job] <= extra,
    ),
    ("left_over", "never uses up the extra processors", lambda self, s, job, shadow, extra: extra),
    (
        "left_over",
        "lets jobs that end by the shadow time use up extra processors",
        lambda self, s, job, shadow, extra: extra - s.procs[job],
    ),
    (
        "left_over",
        "lets jobs that end by the shadow time use up extra processors while there are enough",
        lambda self, s, job, shadow, extra: extra - s.procs[job] if s.procs[job] <= extra else extra,
    ),
    (
        "left_over",
        "counts one extra processor for each job, whatever its width",
        lambda self, s, job, shadow, extra: extra if self.in_time(s, job, shadow) else extra - 1,
    ),
    (
        "left_over",
        "lets the first job on extra processors use up all of them",
        lambda self, s, job, shadow, extra: extra if self.in_time(s, job, shadow) else 0,
    ),
    (
        "may_start",
        "keeps one extra processor back",
        lambda self, s, job, shadow, extra: self.in_time(s, job, shadow) or s.procs[job] < extra,
    ),
    (
        "reservation",
        "takes the processors that the head lacks now for the extra ones",
        lambda self, s, head: (Easy.reservation(self, s, head)[0], max(s.procs[head] - s.free, 0)),
    ),
    (
        "reservation",
        "counts as extra all processors of the machine that the head does not need",
        lambda self, s, head: (Easy.reservation(self, s, head)[0], s.machine - s.procs[head]),
    ),
    ("reservation", "counts as extra only what the last job to end leaves over", extra_of_the_last_end),
    (
        "counted",
        "does not count, for the shadow time, the jobs that started in the same pass",
        lambda self, s: [job for job in s.running if s.start[job] < s.now],
    ),
    ShadowByRunTimes,
    AllByRunTimes,
    ("in_time", "knows how long candidates will really run", in_time_by_run_time),
    (
        "more_at",
        "stops counting with the job that suffices, though others end at the same time",
        lambda self, ends, place: False,
    ),
    (
        "reservation",
        "takes the end of all running jobs for the shadow time",
        lambda self, s, head: (max(s.end(job) for job in s.running), s.machine - s.procs[head]),
    ),
    ("reservation", "takes the next end for the shadow time", shadow_of_the_first),
    (
        "expected_end",
        "counts the estimates of running jobs from now, not from their starts",
        lambda self, s, job: s.now + s.estimate[job],
    ),
    ShadowKept,
    HeadWaits,
    (
        "in_time",
        "does not backfill what ends exactly at the shadow time",
        lambda self, s, job, shadow: s.now + s.estimate[job] < shadow,
    ),
    (
        "in_time",
        "backfills what ends a second after the shadow time",
        lambda self, s, job, shadow: s.now + s.estimate[job] <= shadow + 1,
    ),
    (
        "in_time",
        "counts the estimates of candidates from their submission",
        lambda self, s, job, shadow: s.submit[job] + s.estimate[job] <= shadow,
    ),
    (
        "in_time",
        "compares a candidate's estimate with the shadow time itself, not with the time until then",
        lambda self, s, job, shadow: s.estimate[job] <= shadow,
    ),
    NoReservation,
    ReservesForTheWidest,
    ReservesForTheLast,
    ReservesForTheSecond,
    OneStart,
    OneHead,
    NoBackfillAfterHeads,
    BackfillsFirst,
    ("backfill", "backfills at completions only", lambda self, s: s.ended and Easy.backfill(self, s)),
    ("backfill", "backfills at arrivals only", lambda self, s: s.arrived and Easy.backfill(self, s)),
    ForgetsArrivals,
    ForgetsCompletions,
    ForgetsMixed,
    ForgetsTheSecondArrival,
    (
        "may_start",
        "reserves nothing for a head narrower than a quarter of the machine",
        lambda self, s, job, shadow, extra: (
            4 * s.procs[s.queue[0]] < s.machine or Easy.may_start(self, s, job, shadow, extra)
        ),
    ),
    (
        "in_time",
        "compares times to five digits",
        lambda self, s, job, shadow: (
            bool(np.isclose(s.now + s.estimate[job], shadow)) or Easy.in_time(self, s, job, shadow)
        ),
    ),
    (
        "in_time",
        "computes times in single precision",
        lambda self, s, job, shadow: bool(np.float32(s.now + s.estimate[job]) <= np.float32(shadow)),
    ),
    (
        "expected_end",
        "expects no running job to take more than a day",
        lambda self, s, job: s.start[job] + min(s.estimate[job], 86_400),
    ),
    (
        "may_start",
        "reserves nothing for a head that cannot start within a day",
        lambda self, s, job, shadow, extra: shadow > s.now + 86_400 or Easy.may_start(self, s, job, shadow, extra),
    ),
    (
        "decide",
        "does not decide at arrivals while more than sixty-four jobs wait",
        lambda self, s: (s.ended or len(s.queue) <= 64 or not s.running) and Easy.decide(self, s),
    ),
    SixtyFourRunning,
]
_FCFS = [
    ("first", "serves the last that came first", lambda self, s: s.queue[-1]),
    FcfsSkipsOne,
    FcfsFirstFit,
    FcfsNewcomersFirst,
    ("start_heads", "starts one job in a pass", lambda self, s: Easy.start_heads(self, s, 1)),
    (
        "fits",
        "keeps one processor back while others run",
        lambda self, s, job: s.procs[job] < s.free or (not s.running and s.procs[job] == s.free),
    ),
    ("fits", "runs one job at a time", lambda self, s, job: not s.running),
    FcfsForgetsArrivals,
    FcfsForgetsCompletions,
    FcfsByEstimate,
    ("first", "serves the shortest first", served(lambda s, job: s.estimate[job])),
    ("first", "serves the narrowest first", served(lambda s, job: s.procs[job])),
    ("start_heads", "starts ten jobs in a pass", lambda self, s: Easy.start_heads(self, s, 10)),
    ("fits", "runs at most sixty-four jobs at once", among_sixty_four),
    ("first", "serves the narrowest of those that came together", served(lambda s, job: (s.submit[job], s.procs[job]))),
    (
        "first",
        "serves the shortest of those that came together",
        served(lambda s, job: (s.submit[job], s.estimate[job])),
    ),
    ("first", "serves the last in the log of those that came together", served(lambda s, job: (s.submit[job], -job))),
    (
        "first",
        "serves the last first while more than a hundred wait",
        lambda self, s: s.queue[-1 if len(s.queue) > 100 else 0],
    ),
    FcfsOnceAMinute,
]
_CONSERVATIVE = [
    (
        "fits",
        "asks whether a new reservation fits at its start, not through its length",
        lambda self, s, job, time, times, free: free[bisect_right(times, time) - 1] >= s.procs[job],
    ),
    ("fits", "asks whether a new reservation fits at its start and at its end, not in between", fits_at_start_and_end),
    RunningOnly,
    BehindAll,
    (
        "starts",
        "places new reservations at the ends of running jobs or now, not at the ends of reservations",
        lambda self, s, times: sorted({s.now, *(self.free_again(s, job) for job in s.running), times[-1]}),
    ),
    (
        "visited",
        "moves only the first waiting job when a job ends early",
        lambda self, s: Conservative.visited(self, s)[:1],
    ),
    ("visited", "moves reservations from the last to the first", lambda self, s: Conservative.visited(self, s)[::-1]),
    (
        "visited",
        "moves the shortest job first",
        lambda self, s: sorted(Conservative.visited(self, s), key=lambda job: s.estimate[job]),
    ),
    (
        "visited",
        "moves the widest job first",
        lambda self, s: sorted(Conservative.visited(self, s), key=lambda job: -s.procs[job]),
    ),
    MovesToNowOnly,
    OwnPlaceInTheWay,
    ("moves", "moves reservations at arrivals, too", lambda self, s: bool(s.arrived) or Conservative.moves(self, s)),
    ("moves", "moves reservations at arrivals, not when a job ends early", lambda self, s: bool(s.arrived)),
    (
        "moves",
        "moves reservations when a job ends on time, not when it ends early",
        lambda self, s: bool(s.ended) and not Conservative.moves(self, s),
    ),
    MovesTogether,
    ("expected", "reserves for the true run times", lambda self, s, job: s.run[job]),
    (
        "expected",
        "reserves for the true run times of waiting jobs, and expects running ones to end by their estimates",
        lambda self, s, job: s.estimate[job] if job in s.running else s.run[job],
    ),
    ("expected", "leaves a second between a reservation and the next", lambda self, s, job: s.estimate[job] + 1),
    EstimatesKept,
    NewcomersFirst,
    NewcomersBackfilled,
    RebuildsShortestFirst,
    (
        "moves",
        "moves reservations only while at most thirty-two jobs wait",
        lambda self, s: len(s.queue) <= 32 and Conservative.moves(self, s),
    ),
    ("visited", "moves the first fifty waiting jobs only", lambda self, s: Conservative.visited(self, s)[:50]),
    ThirtyTwoReserved,
    HundredReserved,
    ("start_due", "starts one job in a pass", lambda self, s: Conservative.start_due(self, s, 1)),
]


# --- The library ---
@dataclass(frozen=True)
class ByHand(sl.Scheme):
    """A scheduler of this file as a scheme, under a convention about the events of an instant."""

    scheduler: Callable
    clock: str | tuple = "instant"

    def simulate(self, case):
        jobs = list(zip(*(column.tolist() for column in case.jobs), strict=True))
        return case.outcome(np.array(Simulation(self.scheduler(), jobs, case.machine.procs, self.clock).starts()))


def starts_of(member, jobs, procs):
    """Return the starts of jobs (submit, run, estimate, procs) under a member of the library; `NEVER` for none."""
    if isinstance(member, ByHand):
        return tuple(Simulation(member.scheduler(), jobs, procs, member.clock).starts())
    table = np.array(jobs, np.int64).T
    case = sl.Case(sl.schemes.Jobs(*(np.ascontiguousarray(column) for column in table)), sl.Flat(procs))
    scheme, events = member
    return tuple(scheme.outcome(sl.Case(case.jobs, case.machine, events=events)).start.tolist())


def _by_name(right, mistakes):
    """Return the wrong schedulers by name: classes, or the one method in which they differ from what is right."""
    members = {}
    for mistake in mistakes:
        if isinstance(mistake, tuple):
            method, words, function = mistake
            mistake = type(right.__name__, (right,), {"__doc__": words, method: function})
        members[mistake.__doc__] = ByHand(mistake)
    return members


CLOCKS = {
    "all events of an instant, then a pass": "instant",
    "completions, then arrivals, a pass after each": ("completions", True),
    "arrivals and a pass, then completions and a pass": ("arrivals", False),
    "arrivals, then completions, a pass after each": ("arrivals", True),
}
AS_PYSS = "as pyss: arrivals, then completions, a pass after each, and a job at its estimated end is gone before them"
COMPRESSIONS = {}
for order, repeat, on in product(("queue", "reservation"), (False, True), ("early", "completion")):
    name = f"{order}{', repeated' * repeat}{', at every completion' * (on == 'completion')}"
    COMPRESSIONS[name] = {"compression": order, "repeat": repeat, "compress_on": on}
COMPRESSIONS |= {name: {"compression": name} for name in ("none", "rebuild")}

_OTHERS = {
    "is first come, first served": sl.FCFS(),
    "is EASY": sl.EASY(),
    "is EASY, shortest candidates first": sl.EASY(backfill="sjf"),
    "is EASY, shortest queue first": sl.EASY(order="sjf"),
    "is EASY with two reservations": sl.EASY(reservations=2),
    "is EASY with three reservations": sl.EASY(reservations=3),
    **{f"is lookahead (DPSA{variant})": sl.DPSA(variant=variant) for variant in "pnw"},
    **{f"is conservative backfilling ({name})": sl.Conservative(**settings) for name, settings in COMPRESSIONS.items()},
}


def _conservative(compression, repeat=False, compress_on="early"):
    scheduler = Conservative()
    scheduler.compression, scheduler.repeat = compression, repeat
    scheduler.on_completion = compress_on == "completion"
    return scheduler


def _others(*without):
    return {name: (scheme, "batched") for name, scheme in _OTHERS.items() if not name.startswith(without)}


MUTANTS = {
    "FCFS": _by_name(Fcfs, _FCFS) | _others("is first come"),
    "EASY": {name: member for name, member in (_by_name(Easy, _EASY) | _others()).items() if name != "is EASY"},
    "conservative": _by_name(Conservative, _CONSERVATIVE)
    | {NoReservation.__doc__: ByHand(NoReservation)}
    | _others("is conservative"),
}
RIGHT = {
    "FCFS": {name: ByHand(Fcfs, clock) for name, clock in CLOCKS.items()},
    "EASY": {name: ByHand(Easy, clock) for name, clock in CLOCKS.items()} | {AS_PYSS: (sl.EASY(), "each")},
    "conservative": {
        **{
            f"{name}; {clock_name}": (sl.Conservative(**settings), "batched")
            if clock == "instant"
            else ByHand(partial(_conservative, **settings), clock)
            for (name, settings), (clock_name, clock) in product(COMPRESSIONS.items(), CLOCKS.items())
        },
        **{f"{name}; {AS_PYSS}": (sl.Conservative(**settings), "each") for name, settings in COMPRESSIONS.items()},
    },
}


def has_ties(member, jobs, procs):
    """Tell whether two events, arrivals or completions, fall on one instant in the schedule of a member."""
    starts = starts_of(member, jobs, procs)
    events = sorted([*(job[0] for job in jobs), *(start + job[1] for start, job in zip(starts, jobs, strict=True))])
    return any(a == b for a, b in pairwise(events))
