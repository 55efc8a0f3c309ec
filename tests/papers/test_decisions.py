"""Decisions of the schemes for moldable jobs, recomputed from their schedules."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import twin_moldable as twin
from workloads import trace_of

import schedlab as sl
from schedlab import decisions


def workload(A="system", sigma=(0, 2), share=1.0):
    trace = sl.model_trace("lublin", jobs=60, machine=512, seed=1)
    return trace.with_speedup(sl.Downey(A, sigma), share, seed=1).scale_load(0.8, "effective")


@pytest.fixture(scope="module")
def schedule():
    return sl.simulate(workload(), sl.IterativeMoldable())


def longest_queue(schedule):
    times, waiting, _ = decisions.instants(schedule)
    return times[np.argmax(waiting)]


@pytest.mark.parametrize("A", ["system", "requested"])
@pytest.mark.parametrize(("share", "overrun"), [(1.0, "kill"), (0.5, "kill"), (1.0, "extend")])
def test_decisions_made_again_are_those_of_the_schedule(A, share, overrun):
    trace = workload(A, share=share)
    if overrun == "extend":
        trace = replace(trace, table=trace.table.assign(requested_time=(trace.table["run_time"] // 2).clip(1)))
    schedule = sl.simulate(trace, sl.IterativeMoldable(), overrun=overrun).validate()
    started = 0
    times, waiting, free = decisions.instants(schedule)
    for now, jobs, procs in zip(times, waiting, free, strict=True):
        asked = decisions.situation(schedule, now)
        assert asked.queued.size == jobs
        assert asked.machine - asked.held.sum() == procs > 0
        width, start, _ = asked.made()
        assert start.tolist() == asked.reserved(width).tolist()
        begins = start == 0
        assert (schedule.start[asked.queued] == now).tolist() == begins.tolist()
        assert schedule.procs[asked.queued][begins].tolist() == width[begins].tolist()
        started += begins.sum()
    assert started == len(schedule)


def test_the_steps_of_a_decision_lead_to_its_widths(schedule):
    asked = decisions.situation(schedule, longest_queue(schedule))
    width, _, steps = asked.made()
    assert asked.widths_after(steps).tolist() == width.tolist()
    assert {bool(each) for each in steps[:, 2]} == {True, False}
    sums = [asked.total(asked.widths_after(steps[:n])) for n in range(len(steps) + 1)]
    for before, after, accepted in zip(sums[:-1], sums[1:], steps[:, 2], strict=True):
        assert after < before if accepted else after == before


def test_a_plan_has_what_runs_and_what_is_reserved(schedule):
    times, waiting, free = decisions.instants(schedule)
    now = times[np.argmax(np.where(free < schedule.machine.procs, waiting, 0))]
    asked = decisions.situation(schedule, now)
    assert asked.running.size
    width, reserved, _ = asked.made()
    plan = decisions.planned(schedule, asked, width)
    plan.processors()  # never more than there are
    numbers = schedule.trace.table.index
    queued, running = (plan.jobs.loc[numbers[jobs]] for jobs in (asked.queued, asked.running))
    assert queued["start_time"].tolist() == (now + reserved).tolist()
    assert (queued["end_time"] - queued["start_time"]).tolist() == asked.lasting(width).tolist()
    assert queued["procs"].tolist() == width.tolist()
    assert running["end_time"].tolist() == (now + asked.ends).tolist()
    assert running["procs"].tolist() == asked.held.tolist()
    assert len(plan) == len(queued) + len(running)


def test_a_decision_is_drawn_step_by_step(schedule):
    now = longest_queue(schedule)
    asked = decisions.situation(schedule, now)
    steps = asked.made()[2]
    rejected = int(np.argmin(steps[:, 2])) + 1
    last = f"of {len(steps):,}: one more processor for job "
    for step, words in ((1, f"Step 1 {last}"), (rejected, "is not tried again"), (10**6, last)):
        chart, table = decisions.draw_step(schedule, now, step)
        spec = chart.to_dict()
        before, after = spec["vconcat"]
        assert before["title"]["text"].startswith("Before: job ")
        assert after["title"]["text"].startswith("Tried: job ")
        assert words in " ".join([spec["title"]["text"], *spec["title"]["subtitle"]])
        assert len(table.data) == asked.queued.size
        assert (table.data["with it: processors"] - table.data["processors"]).tolist().count(1) == 1
    states = before["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert {"waiting", "gets a processor"} <= set(states) <= {"running", "waiting", "gets a processor"}


def test_pictures_are_of_few_jobs_and_of_a_free_machine_if_there_are_such(schedule, monkeypatch):
    procs = schedule.machine.procs
    times, waiting = np.arange(4), np.array([2, 3, 12, 13])
    for free, shown in (([procs] * 4, [1, 2]), ([procs, 1, procs // 4, procs], [2]), ([procs, 1, 2, procs], [1, 2])):
        monkeypatch.setattr(decisions, "instants", lambda _, free=free: (times, waiting, np.array(free)))
        assert decisions.readable_instants(schedule).tolist() == shown
    with pytest.raises(ValueError, match="no decision on 4 to 11 jobs, try another load"):
        decisions.readable_instants(schedule, 4, 11)


def test_timed_decisions_are_evenly_spaced(schedule):
    times, waiting, _ = decisions.instants(schedule)
    every, few = decisions.timed(schedule, 10**6), decisions.timed(schedule, 3)
    assert (every["instant"].tolist(), every["waiting"].tolist()) == (times.tolist(), waiting.tolist())
    assert few["instant"].tolist() == [times[0], times[round((len(times) - 1) / 2)], times[-1]]
    assert (every["seconds"] > 0).all()


def test_what_was_never_decided_is_refused(schedule):
    with pytest.raises(ValueError, match=r"nothing is decided at -1 s: 0 jobs wait and 512 processors are free"):
        decisions.situation(schedule, -1)
    with pytest.raises(ValueError, match="most must be at least 1, got 0"):
        decisions.timed(schedule, 0)


def test_a_decision_without_steps_is_not_drawn():
    schedule = sl.simulate(workload(share=0.0), sl.IterativeMoldable())
    with pytest.raises(ValueError, match="nothing was tried at .* s: no job gains from a second processor"):
        decisions.draw_step(schedule, decisions.instants(schedule)[0][0], 1)


def exhaustive(running, queue, procs):
    """Return the least sum of estimated completions over all widths, each job placed in the order of the queue."""
    best = None
    for width in product(range(1, procs + 1), repeat=len(queue)):
        profile, total = twin.profile_of(running, procs, 0), 0
        for job, n in zip(queue, width, strict=True):
            seconds = twin.duration(job.estimate, job, n)
            start = twin.earliest(profile, n, seconds)
            twin.hold(profile, start, start + seconds, n)
            total += start + seconds
        best = total if best is None else min(best, total)
    return best


def test_the_optimum_of_small_decisions_is_that_of_an_exhaustive_search():
    drawn = [asked for asked in decisions.small_decisions(600, seed=5) if asked.machine**asked.queued.size <= 256]
    assert len(drawn) > 200
    missed = 0
    for asked in drawn:
        speedups = [twin.downey(*one) for one in zip(asked.laws.a, asked.laws.b, strict=True)]
        queue = [
            twin.Moldable(0, estimate, estimate, procs, *speedup)
            for estimate, procs, speedup in zip(asked.estimate.tolist(), asked.procs.tolist(), speedups, strict=True)
        ]
        running = list(zip(asked.ends.tolist(), asked.held.tolist(), strict=True))
        best = exhaustive(running, queue, asked.machine)
        assert asked.least_total() == best
        found = asked.total(asked.made()[0])
        assert found >= best
        widths, starts, _ = twin.one_decision(running, queue, asked.machine, 0)
        lasts = [twin.duration(job.estimate, job, n) for job, n in zip(queue, widths, strict=True)]
        assert found == sum(starts) + sum(lasts)
        missed += found > best
    assert 0 < missed < len(drawn)


def test_fair_shares_are_those_of_the_paper():
    trace = trace_of([(0, 100, 100, 2), (0, 100, 100, 2)], 8).with_speedup(sl.Downey(sigma=0))
    schedule = sl.simulate(trace, sl.FairShareMoldable())
    assert decisions.fair_shares(schedule).tolist() == [4, 4]
    assert schedule.procs.tolist() == [4, 4]
    assert decisions.fair_shares(sl.simulate(trace, sl.FairShareMoldable(overbooking=2))).tolist() == [8, 8]


@pytest.mark.parametrize("scheme", [sl.FairShareMoldable(weight="proportional"), sl.IterativeMoldable()])
def test_fair_shares_of_other_settings_are_an_error(scheme):
    trace = sl.model_trace("lublin", jobs=30, machine=16).with_speedup(sl.Downey("system"))
    with pytest.raises(ValueError, match="expected FairShareMoldable with its usual weight, work and mix"):
        decisions.fair_shares(sl.simulate(trace, scheme))
