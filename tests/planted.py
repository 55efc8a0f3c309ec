"""A library of planted bugs: schemes and policies that people write by mistake, each with what refuses it.

Most are a plain EASY with one mistake. `WRONG` lists schemes that a check of `check_scheme` refuses, `NOTED` those that
break no rule but get a note, and `RIGHT` those that must pass.
"""

import ctypes
import itertools
import os
import random
import sys
import time
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np
from museum import OneByOne, plain_easy, plain_fcfs
from mutants import FIRST_FIT, MUTANTS, ByHand, Easy

import schedlab as sl
from schedlab import parts

DAY = 86_400
UNKNOWN = ("run_time", "wait_time", "status", "avg_cpu_time", "used_memory")


@dataclass(frozen=True)
class Wrong(sl.Scheme):
    """A scheme with a bug: what `BUGS` has under its name decides at each pass."""

    bug: str

    def decide(self, state):
        BUGS[self.bug](state)


@dataclass(frozen=True)
class WrongStarts(sl.Scheme):
    """A scheme with a bug: what `STARTS` has under its name gives all starts at once."""

    bug: str

    def simulate(self, case):
        return case.outcome(STARTS[self.bug](case))


def _with(case, **columns):
    """Return a case with other columns of its jobs."""
    jobs = case.jobs._replace(**columns)
    return sl.Case(jobs, case.machine, columns=case.columns, name=case.name, numbers=case.numbers)


def _fcfs(case, **columns):
    return sl.FCFS().simulate(_with(case, **columns)).start


def easy(state, queue=None, may=lambda job: True, most=10**9):
    """EASY, with an order of the queue, a rule for what may start behind the head, and a number of starts."""
    for job in state.queue if queue is None else queue:
        if most and state.fits(job) and (may(job) or not state.reserved):
            state.start(job)
            most -= 1
        elif not state.reserved:
            state.reserve(job, state.earliest(job))


def first_fit(state, queue=None):
    """Start whatever fits."""
    for job in state.queue if queue is None else queue:
        if job.procs <= state.free:
            state.start(job)


# Numbers that are too small -----------------------------------------------------------------------------------------
def _ends_in_time(state, kind):
    """EASY by hand: only what ends by the shadow time may start behind the head, by a clock of some type."""
    queue = state.queue
    while queue and queue[0].procs <= state.free:
        state.start(queue[0])
        queue = state.queue
    if not queue:
        return
    shadow = np.array([state.earliest(queue[0])]).astype(kind)[0]
    for job in queue[1:]:
        end = np.array([state.now + job.estimate]).astype(kind)[0]
        if job.procs <= state.free and end <= shadow:
            state.start(job)


def area_of_32_bits(state):
    area = (state.queue.procs * state.queue.estimate).astype(np.int32)
    queue = state.queue
    easy(state, [queue[place] for place in np.argsort(area, kind="stable")])


class ProcessorsOf16Bits(sl.Scheme):
    """First fit in arrays that are too small for large machines."""

    def decide(self, state):
        procs = state.queue.procs.astype(np.int16)
        free = np.array([state.free]).astype(np.int16)[0]
        for job, own in zip(state.queue, procs, strict=True):
            if own <= free:
                state.start(job)
                free -= own


# What identifies a job ----------------------------------------------------------------------------------------------
def number_as_an_index(state):
    tried = np.zeros(60)
    for job in state.queue:
        tried[job.number - 1] += 1
        if job.procs <= state.free:
            state.start(job)


_lengths, _estimates = {}, {}


def default_argument(state, tried=set()):  # noqa: B006 - the mistake
    for job in state.queue:
        if job.procs <= state.free and (job.number not in tried or not state.running):
            state.start(job)
        else:
            tried.add(job.number)


_runs = itertools.count()


def counts(case):
    return _fcfs(case) + next(_runs) % 2


def in_any_order(state):
    names = {f"job {job.number}": job for job in state.queue}
    first_fit(state, [names[name] for name in set(names)])


_scratch = []


def shares_a_list(case):
    """Start one job at a time, in a list that all simulations share."""
    _scratch.clear()
    now = 0
    for submit, run in zip(case.jobs.submit.tolist(), case.jobs.run.tolist(), strict=True):
        now = max(now, submit)
        _scratch.append(now)
        time.sleep(0)  # lets the other threads go on, as a read or a kernel does
        now += run
    return np.maximum((_scratch + [now] * len(case))[: len(case)], case.jobs.submit)


# The future ---------------------------------------------------------------------------------------------------------
def last_one(case):
    """FCFS, but the last job of a trace of over 50 waits for all others."""
    start = _fcfs(case).copy()
    if len(start) > 50:
        start[-1] = (start + case.jobs.run).max()
    return start


def widest_tenth(case):
    """Give the whole machine to the widest tenth of all jobs of the trace."""
    procs = case.jobs.procs
    wide = (procs > np.quantile(procs, 0.9)) & (len(case) > 30)
    return _fcfs(case, procs=np.where(wide, case.machine.procs, procs))


def cuts_run_times(case):
    """Cut long run times in the arrays that it is given."""
    np.minimum(case.jobs.run, 64_800, out=case.jobs.run)
    return _fcfs(case)


# The clock and the past ---------------------------------------------------------------------------------------------
def long_ones_at_night(state):
    night = not 7 * 3600 <= state.now % DAY < 19 * 3600
    first_fit(state, [job for job in state.queue if night or job.estimate < 3600 or not state.running])
    if not night and state.queue:
        state.wake(state.now - state.now % DAY + 19 * 3600)


def used_so_far(state):
    used = state.memory
    for job in sorted(state.queue, key=lambda job: used.get(job.user, 0)):
        if job.procs <= state.free:
            state.start(job)
            used[job.user] = used.get(job.user, 0) + job.procs * job.estimate


# Laws ---------------------------------------------------------------------------------------------------------------
class Promises(sl.Scheme):
    """Promises every job the start that first fit would give it without later ones; declares that it keeps this."""

    promises = True

    def decide(self, state):
        first_fit(state)
        for job in state.queue:
            state.reserve(job, state.earliest(job))


class InOrder(sl.Scheme):
    """First fit that claims to start jobs in the order of arrival."""

    in_order = True

    def decide(self, state):
        first_fit(state)


def exits_as_python_does(state):
    if len(state.queue) > 2:
        sys.exit(3)
    first_fit(state)


def interrupts(state):
    if len(state.queue) > 2:
        raise KeyboardInterrupt
    first_fit(state)


class Speechless(Exception):
    """Has no text."""

    def __str__(self):
        raise ValueError("no text")


def raises_without_text(state):
    if len(state.queue) > 2:
        raise Speechless
    first_fit(state)


def ends_are_in_time(state):
    assert all(job.end >= state.now for job in state.running), "a job is late"
    easy(state)


# What ends the process, or never ends -------------------------------------------------------------------------------
def endless(state):
    while state.queue and state.queue[0].procs > state.free:
        pass
    first_fit(state)


def exits(state):
    if len(state.queue) > 2:
        os._exit(3)
    first_fit(state)


def reads_at_address_zero(state):
    if len(state.queue) > 2:
        ctypes.string_at(0)
    first_fit(state)


BUGS = {name: value for name, value in globals().items() if callable(value) and not isinstance(value, type)}
STARTS = {
    "counts": counts,
    "shares_a_list": shares_a_list,
    "last_one": last_one,
    "widest_tenth": widest_tenth,
    "cuts_run_times": cuts_run_times,
    "counts_what_comes": lambda case: _fcfs(case) + (len(case) > 2),  # waits a second if many jobs will come
    "counts_all": lambda case: _fcfs(
        case, procs=np.minimum((1 + (len(case) > 120)) * case.jobs.procs, case.machine.procs)
    ),
    "sees_ends": lambda case: sl.EASY().simulate(_with(case, estimate=case.jobs.run)).start,
    "at_once": lambda case: case.jobs.submit.copy(),
    "too_early": lambda case: np.maximum(_fcfs(case) - 1, 0),
    "no_length_holds": lambda case: ByHand(Easy).simulate(_with(case, run=np.maximum(case.jobs.run, 1))).start,
}
# Candidates that are left out, EASY to the eye; numbers that are too small; chance.
BUGS |= {
    "short_only": lambda state: easy(state, may=lambda job: job.estimate <= 12),
    "day_only": lambda state: easy(state, may=lambda job: job.estimate <= DAY),
    "first_ten": lambda state: easy(state, state.queue[:10]),
    "first_fifty": lambda state: easy(state, state.queue[:50]),
    "not_too_many": lambda state: easy(state, state.queue[:256]),
    "three_a_pass": lambda state: easy(state, most=3),
    "small_machines_only": lambda state: easy(state, may=lambda job: state.procs < 5_000 or job.procs < 4_096),
    "never_the_whole_machine": lambda state: first_fit(
        state, [job for job in state.queue if job.procs < max(2, state.procs)]
    ),
    "clock_of_32_bits": lambda state: _ends_in_time(state, np.int32),
    "clock_in_single_precision": lambda state: _ends_in_time(state, np.float32),
    "by_chance": lambda state: first_fit(state, state.queue[::-1] if random.random() < 0.5 else None),
    "by_numpys_chance": lambda state: first_fit(
        state,
        [state.queue[place] for place in np.random.permutation(len(state.queue))],  # noqa: NPY002
    ),
}
# Wrong orders of the queue, most of them by what a scheduler cannot know.
BUGS |= {
    name: lambda state, key=key, pass_over=pass_over: pass_over(state, sorted(state.queue, key=key))
    for name, pass_over, key in [
        ("large_numbers_last", easy, lambda job: job.number > 1_000 and job.number % 2),
        ("remembered_by_number", first_fit, lambda job: _lengths.setdefault(job.number, job.estimate)),
        ("remembered_by_place", first_fit, lambda job: _estimates.setdefault(job.place, job.estimate)),
        ("by_the_logarithm", first_fit, lambda job: np.log1p(job.submit) + job.estimate / 86_400),
        ("by_the_date", first_fit, lambda job: job.estimate % (job.submit_time % 1009 + 1)),
        ("divides", first_fit, lambda job: job.procs / (job.estimate - 1)),
        *((f"by {column}", first_fit, attrgetter(column)) for column in UNKNOWN),
    ]
}

# Compiled ones, in a single function, since each takes seconds to compile ---------------------------------------------
BUG = 3  # the place in the memory that says which
RIGHT_ONE, PAST_THE_END, BEYOND_THE_MEMORY, LAST_BY_MINUS_ONE, BEFORE_THE_FIRST = range(5)
NARROW_CLOCK, WHATEVER_FITS, CUT, MOVES = range(5, 9)


def compiled_easy(c, memory):
    """EASY of the kernels' parts, with a bug."""
    bug = memory[BUG]
    parts.start_heads_that_fit(c)
    if not parts.waiting(c):
        return
    parts.reserve_for_head(c, memory)
    head = c.queue.item[parts.front(c.queue)]
    if bug == MOVES:
        c.promise[head] = memory[parts.SHADOW]
    if bug == BEYOND_THE_MEMORY:
        memory[BUG + c.jobs.procs[head]] = 0
    place, last = parts.front(c.queue) + 1, parts.back(c.queue)
    if bug == PAST_THE_END:
        last += 1
    while place < last:
        job = c.queue.item[place - last - 1] if bug == LAST_BY_MINUS_ONE else c.queue.item[place]
        if bug == BEFORE_THE_FIRST:
            job = c.queue.item[place - 1]
        procs, estimate = c.jobs.procs[job], c.jobs.estimate[job]
        if bug == CUT:
            c.jobs.run[job] = min(c.jobs.run[job], 64_800)
        in_time = parts.ends_by_shadow(c, memory, job)
        if bug == NARROW_CLOCK:
            in_time = np.int32(c.clock[parts.NOW] + estimate) <= np.int32(memory[parts.SHADOW])
        enough = procs <= memory[parts.EXTRA] or in_time or bug in (WHATEVER_FITS, MOVES)
        if procs <= c.clock[parts.FREE] and enough:
            place = parts.begin_behind_head(c, memory, place)
            last = parts.back(c.queue) + (bug == PAST_THE_END)
        else:
            place += 1


def compiled(bug, **declared):
    """Return the compiled scheme with a bug."""
    return sl.compiled_scheme(compiled_easy, memory=lambda jobs, procs: np.array([0, 0, 0, bug]), **declared)


@sl.python_scheme
def plain_conservative(state):
    """Conservative backfilling in plain Python: all reservations are made anew at each pass."""
    for job in state.queue:
        instant = state.earliest(job)
        if instant == state.now:
            state.start(job)
        else:
            state.reserve(job, instant)


# What refuses them --------------------------------------------------------------------------------------------------
LIKE_EASY = "starts every job when EASY does"
LIKE_SAF = "starts every job when EASY-SAF does"
APART = "ends, and stays within its arrays, in a process of its own"
LAWS = "keeps the laws of scheduling"
AGAIN = "gives the same schedule again"
NUMBERS = "does not depend on job numbers"
KEEPS = "keeps nothing from one simulation to the next"
THREADS = "gives the same in several threads"
HASHES = "does not depend on hash order"
CLOCK = "does not depend on the clock's origin"
FUTURE = "does not know the future"
FORGETS = "forgets what lies before a long idle time"


@dataclass(frozen=True)
class Bug:
    """A wrong scheme, the check that must refuse it, words of what it must find, and how it is asked."""

    scheme: object
    check: str
    found: str = ""
    like: object = None
    effort: float = 0.1
    apart: bool = False  # whether the process apart is needed to find it
    options: dict = field(default_factory=dict)

    def __str__(self):
        return getattr(self.scheme, "bug", None) or str(self.scheme)


# Other checks than the one that must refuse a bug are left out, to save time.
PRESENT, PAST = {"clairvoyant": True}, {"remembers": True}


def _like_easy(name, **more):
    return Bug(Wrong(name), LIKE_EASY, "under EASY at", "easy", options=PRESENT | PAST, **more)


WRONG = [
    *map(_like_easy, ("short_only", "first_ten", "first_fifty", "not_too_many", "three_a_pass")),
    *(_like_easy(name, effort=0.3) for name in ("day_only", "small_machines_only")),
    Bug(WrongStarts("no_length_holds"), LIKE_EASY, "under EASY at", "easy"),
    Bug(Wrong("area_of_32_bits"), LIKE_SAF, "under EASY-SAF at", sl.EASY(order="saf"), 0.3, options=PRESENT | PAST),
    Bug(Wrong("clock_of_32_bits"), CLOCK, "submitted", effort=0.3, options=PRESENT | PAST),
    Bug(Wrong("clock_in_single_precision"), CLOCK, "submitted", options=PRESENT | PAST),
    Bug(ProcessorsOf16Bits(), LAWS, "processors", effort=0.3),
    Bug(Wrong("number_as_an_index"), LAWS, "IndexError"),
    Bug(Wrong("remembered_by_number"), KEEPS, "if no earlier simulation had jobs with these numbers"),
    Bug(Wrong("large_numbers_last"), NUMBERS, "if its jobs have other numbers", effort=0.3),
    Bug(Wrong("remembered_by_place"), KEEPS, "", effort=0.2, apart=True),
    Bug(Wrong("default_argument"), KEEPS, "a default argument"),
    Bug(WrongStarts("counts"), KEEPS, "in the next simulation"),
    Bug(Wrong("in_any_order"), HASHES, "sets and dictionaries have another order", apart=True),
    Bug(Wrong("by_chance"), AGAIN, "draws random numbers"),
    Bug(Wrong("by_numpys_chance"), AGAIN, "draws random numbers"),
    Bug(WrongStarts("shares_a_list"), THREADS, "", effort=0.3),
    *(Bug(Wrong(f"by {column}"), FUTURE, column, options=PAST) for column in UNKNOWN),
    Bug(sl.EASY(order=lambda run_time: run_time), FUTURE, "run_time"),
    Bug(WrongStarts("counts_what_comes"), FUTURE, "if other jobs arrive after"),
    Bug(WrongStarts("last_one"), FUTURE, "if other jobs arrive after", effort=0.5),
    Bug(WrongStarts("counts_all"), FUTURE, "if other jobs arrive after", effort=0.5),
    Bug(WrongStarts("widest_tenth"), FUTURE, "if other jobs arrive after", effort=0.5),
    Bug(WrongStarts("sees_ends"), FUTURE, "run_time"),
    Bug(Wrong("by_the_logarithm"), CLOCK, "pass dated=True", effort=1.0, options=PRESENT | PAST),
    Bug(Wrong("by_the_date"), CLOCK, "pass dated=True", options=PRESENT | PAST),
    Bug(Wrong("used_so_far"), FORGETS, "pass remembers=True", options=PRESENT),
    Bug(WrongStarts("at_once"), LAWS, "processors held at"),
    Bug(WrongStarts("too_early"), LAWS, ""),
    Bug(Promises(), LAWS, "had been promised"),
    Bug(InOrder(), LAWS, "before a job submitted earlier"),
    Bug(Wrong("never_the_whole_machine"), LAWS, "SchemeError"),
    Bug(Wrong("ends_are_in_time"), LAWS, "AssertionError: a job is late", effort=0.5),
    Bug(Wrong("divides"), LAWS, "ZeroDivisionError"),
    Bug(WrongStarts("cuts_run_times"), LAWS, "changes its input: run of job ", effort=0.3),
    Bug(Wrong("exits_as_python_does"), LAWS, "SystemExit: 3", apart=True),
    Bug(Wrong("interrupts"), LAWS, "KeyboardInterrupt"),
    Bug(Wrong("raises_without_text"), LAWS, "Speechless, whose text cannot be made", apart=True),
    Bug(Wrong("endless"), APART, "does not end", apart=True),
    Bug(Wrong("exits"), APART, "ends the process of Python (exit code 3)", apart=True),
    Bug(Wrong("reads_at_address_zero"), APART, "ends the process of Python (signal 11)", apart=True),
]
COMPILED = [
    Bug(compiled(PAST_THE_END), APART, "an index lies outside its array", apart=True),
    Bug(compiled(BEYOND_THE_MEMORY), APART, "an index lies outside its array", apart=True),
    Bug(compiled(LAST_BY_MINUS_ONE), APART, "an index lies outside its array", apart=True),
    Bug(compiled(BEFORE_THE_FIRST), LAWS, "more processors are held", apart=True),
    Bug(compiled(NARROW_CLOCK), CLOCK, "submitted", effort=0.3, apart=True),
    Bug(compiled(WHATEVER_FITS), LIKE_EASY, "under EASY at", "easy", apart=True),
    Bug(compiled(CUT), LAWS, "changes its input: run of job ", effort=0.3, apart=True),
    Bug(compiled(MOVES, promises=True), LAWS, "but had been promised", apart=True),
]
NOTED = [
    (sl.python_scheme(promises=True)(first_fit), "no promise was made"),
    (sl.python_scheme(first_fit), "(starvation)"),
    (sl.EASY(order="sjf"), "a job of 10,000 s waits as long as"),
    (OneByOne(), "times that under EASY"),
    (MUTANTS["EASY"][FIRST_FIT], "heads of the queue are delayed"),
    (Wrong("long_ones_at_night"), "decisions depend on the time of day or of the week"),
]
RIGHT = [
    (plain_fcfs, "fcfs", {}),
    (plain_easy, "easy", {}),
    (plain_conservative, sl.Conservative(compression="rebuild"), {}),
    (ByHand(Easy), "easy", {}),
    (sl.EASY(), plain_easy, {}),
    *((scheme, None, {}) for scheme in (OneByOne(), sl.FCFS(), sl.Conservative(), sl.DPSA(), sl.EASY(reservations=3))),
    (sl.EASY(order="sjf", backfill="narrow"), None, {}),
    (sl.EASY(order="f1"), None, {"dated": True}),
    *((sl.EASY(order=order), None, {"remembers": True}) for order in ("fairshare", "multifactor")),
    (sl.EASY(order=lambda run_time: run_time), None, {"clairvoyant": True}),
]
