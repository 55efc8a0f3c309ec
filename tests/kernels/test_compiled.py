"""Schemes made of the kernels' parts: equal to the kernels, kept on disk, and with clear errors."""

import os

import numba
import numpy as np
import processes
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workloads import examples, trace_of, workloads

import schedlab as sl
from schedlab.kernels.parts import (
    ARRIVED,
    EXTRA,
    FREE,
    NEVER,
    NEWCOMER,
    NOW,
    add,
    back,
    begin,
    begin_behind_head,
    earliest,
    ends_by_shadow,
    fill_profile,
    front,
    new_profile,
    reserve_for_head,
    start_heads_that_fit,
    still_blocked,
)
from schedlab.schedule import ScheduleError
from schedlab.schemes import compiled

pytestmark = pytest.mark.reduced
EVENTS = st.sampled_from(["batched", "each"])
OVERRUNS = st.sampled_from(["kill", "extend", "keep"])
WEIGHT = 1


@sl.compiled_scheme
def fcfs(c):
    start_heads_that_fit(c)


@sl.compiled_scheme(memory=3)
def easy(c, reservation):
    """EASY as in `schedlab.kernels.easy`: if no job has ended since the last pass, only newcomers are looked at."""
    if still_blocked(c, reservation) and back(c.queue) - front(c.queue) > c.clock[ARRIVED] - c.clock[NEWCOMER]:
        place = back(c.queue) - (c.clock[ARRIVED] - c.clock[NEWCOMER])
    else:
        start_heads_that_fit(c)
        reserve_for_head(c, reservation)
        place = front(c.queue) + 1
    while place < back(c.queue) and c.clock[FREE] > 0:
        job = c.queue.item[place]
        procs = c.jobs.procs[job]
        if procs <= c.clock[FREE] and (procs <= reservation[EXTRA] or ends_by_shadow(c, reservation, job)):
            place = begin_behind_head(c, reservation, place)
        else:
            place += 1


@sl.compiled_scheme(memory=3, order="sjf")
def easy_sjf(c, reservation):
    start_heads_that_fit(c)
    reserve_for_head(c, reservation)
    place = front(c.queue) + 1
    while place < back(c.queue):
        job = c.queue.item[place]
        procs = c.jobs.procs[job]
        if procs <= c.clock[FREE] and (procs <= reservation[EXTRA] or ends_by_shadow(c, reservation, job)):
            place = begin_behind_head(c, reservation, place)
        else:
            place += 1


@sl.compiled_scheme(memory=new_profile)
def conservative(c, steps):
    fill_profile(c, steps)
    place = front(c.queue)
    while place < back(c.queue):
        job = c.queue.item[place]
        procs, estimate = c.jobs.procs[job], c.jobs.estimate[job]
        begins = earliest(steps, c.clock[NOW], NEVER, procs, estimate)
        add(steps, begins, begins + estimate, -procs)
        if begins == c.clock[NOW]:
            place = begin(c, place)
        else:
            place += 1


def run(scheme, jobs, procs, **conventions):
    schedule = sl.simulate(trace_of(jobs, procs), scheme, **conventions).validate()
    return schedule.start.tolist(), schedule.promise.tolist()


@examples(300)
@given(workloads(overrun=True), OVERRUNS, EVENTS)
def test_what_is_made_of_the_parts_is_what_the_kernels_are(workload, overrun, events):
    jobs, procs = workload
    conventions = {"overrun": overrun, "events": events}
    assert run(fcfs, jobs, procs, **conventions) == run(sl.FCFS(), jobs, procs, **conventions)
    assert run(easy, jobs, procs, **conventions) == run(sl.EASY(), jobs, procs, **conventions)
    assert run(easy_sjf, jobs, procs, **conventions) == run(sl.EASY(order="sjf"), jobs, procs, **conventions)


@examples(200)
@given(workloads(overrun=True), st.sampled_from(["kill", "extend"]))
def test_conservative_backfilling_is(workload, overrun):
    jobs, procs = workload
    rebuilt = sl.Conservative(compression="rebuild")
    assert run(conservative, jobs, procs, overrun=overrun)[0] == run(rebuilt, jobs, procs, overrun=overrun)[0]


def test_declared_promises_and_order_are_kept_or_an_error():
    trace = trace_of([(0, 9, 9, 4), (1, 9, 9, 4), (2, 3, 3, 4)], 4)
    for declared, words in (
        ({"promises": True}, "job 2 starts at 12, but had been promised 9"),
        ({"in_order": True}, "job 3 starts at 9, before a job submitted earlier"),
    ):
        with pytest.raises(ScheduleError, match=words):
            sl.simulate(trace, sl.compiled_scheme(easy_sjf.function, memory=3, order="sjf", **declared)).validate()
    kept = sl.compiled_scheme(memory=3, promises=True, in_order=True)(easy.function)
    assert len(sl.simulate(trace, kept).validate()) == 3


def test_it_is_a_scheme_as_any_other():
    assert str(easy) == "easy"
    assert str(easy_sjf) == "easy_sjf-SJF"
    trace = sl.model_trace("lublin", jobs=80, machine=16, seed=2)
    table = sl.sweep(trace, [easy, "easy"], load=[0.8, 1.0], progress=False)
    ours, kernels = (table[table["scheme"] == name]["wait_time"].tolist() for name in ("easy", "EASY"))
    assert ours == kernels
    assert len(sl.fair_starts(sl.simulate(trace.head(20), easy))) == 20


def test_what_it_uses_may_change(monkeypatch):
    @sl.compiled_scheme
    def sometimes(c):
        if WEIGHT > 0 or c.clock[NOW] > 5:
            start_heads_that_fit(c)

    jobs = [(0, 2, 2, 1), (7, 2, 2, 1)]
    assert run(sometimes, jobs, 1)[0] == [0, 7]
    monkeypatch.setitem(globals(), "WEIGHT", 0)
    assert run(sometimes, jobs, 1)[0] == [7, 9]


SCRIPT = """
import sys
from importlib import import_module
from pathlib import Path
import schedlab as sl
from schedlab._runtime import compiling
told = []
compiling.tell(lambda group, *_: told.append(group))
path, text, *signs = sys.argv[1:]
sys.path.insert(0, path)
for sign in signs:
    Path(path, "mine.py").write_text(text.replace("{sign}", sign))
    sys.modules.pop("mine", None)
    first_fit = import_module("mine").first_fit
    print(sl.simulate(sl.model_trace("lublin", jobs=30, machine=16, seed=1), first_fit).start.sum(), told)
    told.clear()
"""
MINE = """
import schedlab as sl
from schedlab.kernels.parts import FREE, back, begin, front

SIGN = {sign}


@sl.compiled_scheme
def first_fit(c):
    place = front(c.queue)
    while place < back(c.queue):
        if SIGN * c.jobs.procs[c.queue.item[place]] <= SIGN * c.clock[FREE]:
            place = begin(c, place)
        else:
            place += 1
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_it_is_kept_until_what_it_uses_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "cache"))

    def told(*signs):
        """Run the scheme in a new process, with one version of its module after the other."""
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        said = processes.run(SCRIPT, tmp_path, MINE, *signs, env=environment)
        return [line.split(maxsplit=1) for line in said.splitlines()]

    first, other = told("1", "1.0")  # in one process, which loads the compiler once
    assert first[1].startswith("['scheme first_fit'")
    assert other == first
    assert told("1") == [[first[0], "[]"]]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_no_two_kernels_have_the_same_name():
    """Numba finds the constants of machine code from the disk by its name: those of a namesake are another's."""
    kernels = {
        compiled.kernel_of(function, noted, compiled._simulation, 1)
        for function in (fcfs.function, idle)
        for noted in (False, True)
    }
    assert len({kernel.py_func.__qualname__ for kernel in kernels}) == 4


# What is wrong ---------------------------------------------------------------------------------------------
def misspelt(c):
    start_heads_that_fits(c)  # noqa: F821 - the mistake under test


def with_an_array(c):
    np.zeros(3)
    start_heads_that_fit(c)


def helper(value):
    return value


def with_plain_python(c):
    helper(3)
    start_heads_that_fit(c)


def idle(c):
    pass


def greedy(c):
    place = front(c.queue)
    while place < back(c.queue):
        place = begin(c, place)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (misspelt, "misspelt cannot be compiled: NameError: name 'start_heads_that_fits' is not .*\n.*test_compiled"),
        (with_an_array, r"with_an_array cannot .* it makes an array \(zeros\): let memory= make it\n.*np.zeros"),
        (with_plain_python, "helper is a plain Python function; put @numba.njit on the line above its def"),
    ],
)
def test_what_cannot_be_compiled_is_said_with_its_line(function, words):
    with pytest.raises(sl.schemes.SchemeError, match=words):
        sl.simulate(trace_of([(0, 1, 1, 1)], 1), sl.compiled_scheme(function))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (idle, "idle: no job runs, none will arrive, and 3 jobs still wait: first job 1"),
        (greedy, "greedy at 1 s: more processors are held than the machine has; job 2 starts"),
    ],
)
def test_what_cannot_be_done_is_an_error(function, words):
    with pytest.raises(sl.schemes.SchemeError, match=words):
        sl.simulate(trace_of([(0, 3, 3, 2), (1, 1, 1, 1), (8, 1, 1, 1)], 2), sl.compiled_scheme(function))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sl.compiled_scheme(3), r"compiled_scheme takes a function of \(c\) or \(c, memory\), got 3"),
        (lambda: sl.compiled_scheme(lambda: 0), r"got <lambda>\(\)"),
        (lambda: sl.compiled_scheme(lambda c, m, more: 0), r"got <lambda>\(c, m, more\)"),
        (lambda: sl.compiled_scheme(lambda c, m: 0), r"<lambda>\(c, m\) takes a memory: give memory="),
        (lambda: sl.compiled_scheme(idle, memory=2), r"idle\(c\) takes no memory: leave out memory="),
        (lambda: sl.compiled_scheme(idle, memory=-1), "memory is -1, expected the number of values, or a function of"),
        (lambda: sl.compiled_scheme(idle, memory=True), "memory is True, expected"),
    ],
)
def test_settings_are_checked(make, words):
    with pytest.raises(TypeError, match=words):
        make()
