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
    def backfill(self, s):
        shadow, extra = self.reservation(s, s.queue[0])
        for job in behind(s):
            if not self.fits(s, job) or not self.may_start(s, job, shadow, extra):
                break
            extra = self.left_over(s, job, shadow, extra)
            s.begin(job)


def extra_of_the_last_end(self, s, head):
    free = s.free
    for end, procs in sorted((s.end(job), s.procs[job]) for job in s.running):
        if free + procs >= s.procs[head]:
            return end, max(procs - (s.procs[head] - free) - s.free, 0)
        free += procs
    raise AssertionError("the head is wider than the machine")


def shadow_of_the_first(self, s, head):
    end, procs = min((s.end(job), s.procs[job]) for job in s.running)
    return end, max(s.free + procs - s.procs[head], 0)


class ShadowKept(Easy):
    def __init__(self):
        self.kept = {}

    def backfill(self, s):
        head = s.queue[0]
        shadow, extra = self.kept.get(head) or self.reservation(s, head)
        self.kept[head] = shadow, self.fill(s, shadow, extra)


class HeadWaits(Easy):
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


def unless_the_head_fits(self, s):
    """Backfill, where the head that has the reservation is not the first job."""
    if not self.fits(s, self.head(s)):
        Easy.backfill(self, s)


def one_start(self, s):
    if s.queue and self.fits(s, s.queue[0]):
        s.begin(s.queue[0])
    elif s.queue:
        self.backfill(s, 1)


def one_head(self, s):
    self.start_heads(s, 1)
    if s.queue and not self.fits(s, s.queue[0]):
        self.backfill(s)


def no_backfill_after_heads(self, s):
    before = len(s.queue)
    self.start_heads(s)
    if s.queue and len(s.queue) == before:
        self.backfill(s)


class BackfillsFirst(Easy):
    def __init__(self):
        self.last = None

    def decide(self, s):
        if self.last is not None and s.queue and s.queue[0] == self.last[0]:
            self.fill(s, *self.last[1:])
        super().decide(s)
        self.last = (s.queue[0], *self.reservation(s, s.queue[0])) if s.queue else None


def among_sixty_four(self, s, job):
    return s.procs[job] <= s.free and len(s.running) < 64


# --- First come, first served ---
class Fcfs(Easy):
    """Right: nothing passes the first job that does not fit."""

    def backfill(self, s):
        pass


def second_passes_the_first(self, s):
    Easy.start_heads(self, s)
    while len(s.queue) > 1 and self.fits(s, s.queue[1]):
        s.begin(s.queue[1])


def whatever_fits(self, s):
    for job in [*s.queue]:
        if self.fits(s, job):
            s.begin(job)


def newcomers_first(self, s):
    for job in s.arrived:
        if self.fits(s, job):
            s.begin(job)
    Easy.start_heads(self, s)


class FcfsByEstimate(Fcfs):
    def alarms(self, s):
        return [s.start[job] + s.estimate[job] for job in range(len(s.start)) if s.start[job] != NEVER]

    def fits(self, s, job):
        begun = [other for other in range(len(s.start)) if s.start[other] != NEVER and s.end(other) > s.now]
        return s.machine - sum(s.procs[other] for other in begun) >= s.procs[job]


class FcfsOnceAMinute(Fcfs):
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


def place_around_running_jobs(self, s, jobs):
    for job in jobs:
        others, self.reserved = self.reserved, {}
        others[job] = self.earliest(s, job)
        self.reserved = others


def place_behind_all(self, s, jobs):
    for job in jobs:
        last = max(self.reserved.values(), default=s.now)
        times, free = self.steps(s, self.holds(s))
        later = [last, *(time for time in times if time > last)]
        self.reserved[job] = next(time for time in later if self.fits(s, job, time, times, free))


def moved_to_now_only(self, s, job, was):
    time = self.earliest(s, job)
    return time if time == s.now else was


def moved_past_its_own_place(self, s, job, was):
    self.reserved[job] = was
    time = self.earliest(s, job)
    del self.reserved[job]
    return min(was, time)


def again_in_a_second(self, s):
    """Return the instants of reservations, and the next second if a job that is due did not fit."""
    return [*self.reserved.values(), *([s.now + 1] if any(r <= s.now for r in self.reserved.values()) else [])]


def move_together(self, s):
    saved = max(s.end(job) - s.now for job in s.ended)
    for job in self.reserved:
        self.reserved[job] = max(self.reserved[job] - saved, s.now)


def held_until_estimated_ends(self, s):
    begun = [job for job in range(len(s.start)) if s.start[job] != NEVER and s.end(job) > s.now]
    held = [(s.now, s.end(job), s.procs[job]) for job in begun]
    return held + [(r, r + s.estimate[job], s.procs[job]) for job, r in self.reserved.items()]


def place_newcomers_first(self, s):
    moves = self.moves(s)
    self.place(s, s.arrived)
    if moves:
        self.compress(s)
    self.start_due(s)


def place_newcomers_now(self, s, jobs):
    for job in jobs:
        self.reserved[job] = s.now if s.procs[job] <= s.free else self.earliest(s, job)


class ThirtyTwoReserved(Conservative):
    many = 32

    def decide(self, s):
        if self.moves(s):
            self.compress(s)
        for _ in range(2):
            self.place(s, [job for job in s.queue[: self.many] if job not in self.reserved])
            self.start_due(s)


class HundredReserved(ThirtyTwoReserved):
    many = 100


def tried(key):
    """Try the candidates in another order."""
    return {"candidates": lambda self, s: sorted(behind(s), key=partial(key, s))}


def only(test):
    """Try some candidates only."""
    return {"candidates": lambda self, s: [job for job in behind(s) if test(s, job)]}


def ends(in_time):
    """Compare the estimated end of a candidate with the shadow time in another way."""
    return {"in_time": lambda self, s, job, shadow: in_time(s.now + s.estimate[job], shadow)}


def served(key):
    """Serve the queue in another order."""
    return {"first": lambda self, s: min(s.queue, key=partial(key, s))}


# --- What people get wrong: the words for it, and the methods that differ from what is right, or a class ---
FIRST_FIT = "starts whatever fits: first fit"
SHOWN_BY_TIES = {  # by events at one instant only
    "puts off its decision when jobs arrive at the instant of a completion": {
        "decide": lambda self, s: not (s.arrived and s.ended and s.running) and Easy.decide(self, s)
    },
    "sees only the first job that arrives at an instant, and the others at the next event": only(
        lambda s, job: job not in s.arrived[1:]
    ),
}
_FORGETFUL = {
    "decides at completions only, unless the machine is idle": {
        "decide": lambda self, s: (s.ended or not s.running) and Easy.decide(self, s)
    },
    "decides at arrivals only, until nothing runs": {
        "decide": lambda self, s: (s.arrived or not s.running) and Easy.decide(self, s)
    },
}
_EASY = {
    "looks at the first candidate only": {"candidates": lambda self, s: behind(s)[:1]},
    "looks at the first two candidates only": {"candidates": lambda self, s: behind(s)[:2]},
    "looks at the first ten candidates only": {"candidates": lambda self, s: behind(s)[:10]},
    "looks at the first hundred candidates only": {"candidates": lambda self, s: behind(s)[:100]},
    "tries the candidates from the last to the first": {"candidates": lambda self, s: behind(s)[::-1]},
    "tries the longest candidates first": tried(lambda s, job: -s.estimate[job]),
    "tries the narrowest candidates first": tried(lambda s, job: s.procs[job]),
    "tries the widest candidates first": tried(lambda s, job: -s.procs[job]),
    "tries the candidates with the smallest area first": tried(lambda s, job: s.procs[job] * s.estimate[job]),
    "backfills a job only when it arrives": only(lambda s, job: job in s.arrived),
    "does not backfill a job when it arrives": only(lambda s, job: job not in s.arrived),
    "stops at the first candidate that does not fit": {
        "candidates": lambda self, s: takewhile(partial(self.fits, s), behind(s))
    },
    "stops at the first candidate that may not start": StopsAtTheFirstRefused,
    "backfills jobs of one processor only": only(lambda s, job: s.procs[job] == 1),
    "backfills no job wider than half the machine": only(lambda s, job: 2 * s.procs[job] <= s.machine),
    "backfills no job longer than the head": only(lambda s, job: s.estimate[job] <= s.estimate[s.queue[0]]),
    "backfills one job in a pass": {"backfill": lambda self, s: Easy.backfill(self, s, 1)},
    "backfills two jobs in a pass": {"backfill": lambda self, s: Easy.backfill(self, s, 2)},
    "backfills ten jobs in a pass": {"backfill": lambda self, s: Easy.backfill(self, s, 10)},
    "uses no extra processors": {"may_start": lambda self, s, job, shadow, extra: self.in_time(s, job, shadow)},
    "backfills on extra processors only": {
        "may_start": lambda self, s, job, shadow, extra: s.procs[job] <= extra,
        "left_over": lambda self, s, job, shadow, extra: extra - s.procs[job],
    },
    "asks for an end by the shadow time and for extra processors at once": {
        "may_start": lambda self, s, job, shadow, extra: self.in_time(s, job, shadow) and s.procs[job] <= extra
    },
    "never uses up the extra processors": {"left_over": lambda self, s, job, shadow, extra: extra},
    "lets jobs that end by the shadow time use up extra processors": {
        "left_over": lambda self, s, job, shadow, extra: extra - s.procs[job]
    },
    "lets jobs that end by the shadow time use up extra processors while there are enough": {
        "left_over": lambda self, s, job, shadow, extra: extra - s.procs[job] if s.procs[job] <= extra else extra
    },
    "counts one extra processor for each job, whatever its width": {
        "left_over": lambda self, s, job, shadow, extra: extra if self.in_time(s, job, shadow) else extra - 1
    },
    "lets the first job on extra processors use up all of them": {
        "left_over": lambda self, s, job, shadow, extra: extra if self.in_time(s, job, shadow) else 0
    },
    "keeps one extra processor back": {
        "may_start": lambda self, s, job, shadow, extra: self.in_time(s, job, shadow) or s.procs[job] < extra
    },
    "takes the processors that the head lacks now for the extra ones": {
        "reservation": lambda self, s, head: (Easy.reservation(self, s, head)[0], max(s.procs[head] - s.free, 0))
    },
    "counts as extra all processors of the machine that the head does not need": {
        "reservation": lambda self, s, head: (Easy.reservation(self, s, head)[0], s.machine - s.procs[head])
    },
    "counts as extra only what the last job to end leaves over": {"reservation": extra_of_the_last_end},
    "does not count, for the shadow time, the jobs that started in the same pass": {
        "counted": lambda self, s: [job for job in s.running if s.start[job] < s.now]
    },
    "knows when running jobs will really end": {"expected_end": lambda self, s, job: s.start[job] + s.run[job]},
    "knows all run times": {
        "expected_end": lambda self, s, job: s.start[job] + s.run[job],
        "in_time": lambda self, s, job, shadow: s.now + s.run[job] <= shadow,
    },
    "knows how long candidates will really run": {"in_time": lambda self, s, job, shadow: s.now + s.run[job] <= shadow},
    "stops counting with the job that suffices, though others end at the same time": {
        "more_at": lambda self, ends, place: False
    },
    "takes the end of all running jobs for the shadow time": {
        "reservation": lambda self, s, head: (max(s.end(job) for job in s.running), s.machine - s.procs[head])
    },
    "takes the next end for the shadow time": {"reservation": shadow_of_the_first},
    "counts the estimates of running jobs from now, not from their starts": {
        "expected_end": lambda self, s, job: s.now + s.estimate[job]
    },
    "keeps the first shadow time and extra processors of a head until it starts": ShadowKept,
    "lets the head start no earlier than first promised": HeadWaits,
    "does not backfill what ends exactly at the shadow time": ends(lambda end, shadow: end < shadow),
    "backfills what ends a second after the shadow time": ends(lambda end, shadow: end <= shadow + 1),
    "counts the estimates of candidates from their submission": {
        "in_time": lambda self, s, job, shadow: s.submit[job] + s.estimate[job] <= shadow
    },
    "compares a candidate's estimate with the shadow time itself, not with the time until then": {
        "in_time": lambda self, s, job, shadow: s.estimate[job] <= shadow
    },
    FIRST_FIT: {"may_start": lambda self, s, job, shadow, extra: True},
    "reserves for the widest waiting job, not for the first": {
        "head": lambda self, s: max(s.queue, key=lambda job: s.procs[job]),
        "backfill": unless_the_head_fits,
    },
    "reserves for the last waiting job, not for the first": {
        "head": lambda self, s: s.queue[-1],
        "backfill": unless_the_head_fits,
    },
    "reserves for the second waiting job, if there is one, not for the first": {
        "head": lambda self, s: s.queue[min(1, len(s.queue) - 1)],
        "candidates": lambda self, s: [job for job in behind(s) if job != self.head(s)],
        "backfill": unless_the_head_fits,
    },
    "starts one job in a pass": {"decide": one_start},
    "starts one head in a pass, and reserves for the next even if it fits": {"decide": one_head},
    "does not backfill in a pass in which the head has started": {"decide": no_backfill_after_heads},
    "backfills against the old reservation before it starts heads": BackfillsFirst,
    "backfills at completions only": {"backfill": lambda self, s: s.ended and Easy.backfill(self, s)},
    "backfills at arrivals only": {"backfill": lambda self, s: s.arrived and Easy.backfill(self, s)},
    **_FORGETFUL,
    **SHOWN_BY_TIES,
    "reserves nothing for a head narrower than a quarter of the machine": {
        "may_start": lambda self, s, job, shadow, extra: (
            4 * s.procs[s.queue[0]] < s.machine or Easy.may_start(self, s, job, shadow, extra)
        )
    },
    "compares times to five digits": ends(lambda end, shadow: end <= shadow or bool(np.isclose(end, shadow))),
    "computes times in single precision": ends(lambda end, shadow: bool(np.float32(end) <= np.float32(shadow))),
    "expects no running job to take more than a day": {
        "expected_end": lambda self, s, job: s.start[job] + min(s.estimate[job], 86_400)
    },
    "reserves nothing for a head that cannot start within a day": {
        "may_start": lambda self, s, job, shadow, extra: (
            shadow > s.now + 86_400 or Easy.may_start(self, s, job, shadow, extra)
        )
    },
    "does not decide at arrivals while more than sixty-four jobs wait": {
        "decide": lambda self, s: (s.ended or len(s.queue) <= 64 or not s.running) and Easy.decide(self, s)
    },
    "runs at most sixty-four jobs at once": {
        "fits": among_sixty_four,
        "backfill": lambda self, s: s.procs[s.queue[0]] > s.free and Easy.backfill(self, s),
    },
}
_FCFS = {
    "serves the last that came first": {"first": lambda self, s: s.queue[-1]},
    "lets the second pass the first": {"start_heads": second_passes_the_first},
    FIRST_FIT: {"start_heads": whatever_fits},
    "starts a job at once if it fits when it arrives": {"start_heads": newcomers_first},
    "starts one job in a pass": {"start_heads": lambda self, s: Easy.start_heads(self, s, 1)},
    "keeps one processor back while others run": {
        "fits": lambda self, s, job: s.procs[job] < s.free or (not s.running and s.procs[job] == s.free)
    },
    "runs one job at a time": {"fits": lambda self, s, job: not s.running},
    **_FORGETFUL,
    "keeps processors until the estimated end": FcfsByEstimate,
    "serves the shortest first": served(lambda s, job: s.estimate[job]),
    "serves the narrowest first": served(lambda s, job: s.procs[job]),
    "starts ten jobs in a pass": {"start_heads": lambda self, s: Easy.start_heads(self, s, 10)},
    "runs at most sixty-four jobs at once": {"fits": among_sixty_four},
    "serves the narrowest of those that came together": served(lambda s, job: (s.submit[job], s.procs[job])),
    "serves the shortest of those that came together": served(lambda s, job: (s.submit[job], s.estimate[job])),
    "serves the last in the log of those that came together": served(lambda s, job: (s.submit[job], -job)),
    "serves the last first while more than a hundred wait": {
        "first": lambda self, s: s.queue[-1 if len(s.queue) > 100 else 0]
    },
    "decides once a minute": FcfsOnceAMinute,
}
_CONSERVATIVE = {
    "asks whether a new reservation fits at its start, not through its length": {
        "fits": lambda self, s, job, time, times, free: free[bisect_right(times, time) - 1] >= s.procs[job]
    },
    "asks whether a new reservation fits at its start and at its end, not in between": {"fits": fits_at_start_and_end},
    "places new reservations around running jobs only, not around other reservations": {
        "place": place_around_running_jobs
    },
    "places each new reservation no earlier than the last one": {"place": place_behind_all},
    "places new reservations at the ends of running jobs or now, not at the ends of reservations": {
        "starts": lambda self, s, times: sorted({s.now, *(self.free_again(s, job) for job in s.running), times[-1]})
    },
    "moves only the first waiting job when a job ends early": {
        "visited": lambda self, s: Conservative.visited(self, s)[:1]
    },
    "moves reservations from the last to the first": {"visited": lambda self, s: Conservative.visited(self, s)[::-1]},
    "moves the shortest job first": {
        "visited": lambda self, s: sorted(Conservative.visited(self, s), key=lambda job: s.estimate[job])
    },
    "moves the widest job first": {
        "visited": lambda self, s: sorted(Conservative.visited(self, s), key=lambda job: -s.procs[job])
    },
    "moves a reservation only if the job can start at once": {"moved": moved_to_now_only},
    "counts a job's own reservation as taken when it looks for an earlier one": {"moved": moved_past_its_own_place},
    "moves reservations at arrivals, too": {"moves": lambda self, s: bool(s.arrived) or Conservative.moves(self, s)},
    "moves reservations at arrivals, not when a job ends early": {"moves": lambda self, s: bool(s.arrived)},
    "moves reservations when a job ends on time, not when it ends early": {
        "moves": lambda self, s: bool(s.ended) and not Conservative.moves(self, s)
    },
    "moves all reservations forward by the time that the job ended early": {
        "compress": move_together,
        "alarms": again_in_a_second,
    },
    "reserves for the true run times": {"expected": lambda self, s, job: s.run[job]},
    "reserves for the true run times of waiting jobs, and expects running ones to end by their estimates": {
        "expected": lambda self, s, job: s.estimate[job] if job in s.running else s.run[job]
    },
    "leaves a second between a reservation and the next": {"expected": lambda self, s, job: s.estimate[job] + 1},
    "keeps the processors of jobs that ended early until their estimated ends": {
        "compression": "none",
        "holds": held_until_estimated_ends,
    },
    "places newcomers before it moves the others": {"decide": place_newcomers_first},
    "starts a newcomer that fits at once, whatever is reserved": {
        "place": place_newcomers_now,
        "alarms": again_in_a_second,
    },
    "makes all reservations anew, shortest first": {
        "compression": "rebuild",
        "rebuilt": lambda self, s: sorted(s.queue, key=lambda job: s.estimate[job]),
    },
    "moves reservations only while at most thirty-two jobs wait": {
        "moves": lambda self, s: len(s.queue) <= 32 and Conservative.moves(self, s)
    },
    "moves the first fifty waiting jobs only": {"visited": lambda self, s: Conservative.visited(self, s)[:50]},
    "gives only the first thirty-two waiting jobs a reservation": ThirtyTwoReserved,
    "gives only the first hundred waiting jobs a reservation": HundredReserved,
    "starts one job in a pass": {"start_due": lambda self, s: Conservative.start_due(self, s, 1)},
}


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
    """Return the wrong schedulers by name: classes, or the methods in which they differ from what is right."""
    return {
        name: ByHand(mistake if isinstance(mistake, type) else type(right.__name__, (right,), mistake))
        for name, mistake in mistakes.items()
    }


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
    | {FIRST_FIT: _by_name(Easy, _EASY)[FIRST_FIT]}
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
