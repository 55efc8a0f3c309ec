"""Moldable jobs: the kernels against their naive twins, the laws of their schedules, and what schedules report."""

from dataclasses import replace
from functools import partial

import numba
import numpy as np
import pandas as pd
import pytest
import twin_moldable as twin
from benchmarks import plain_iterative
from hypothesis import given
from hypothesis import strategies as st
from workloads import INSTANTS, among, changed, examples, integers, pick, trace_of

import schedlab as sl
from schedlab.kernels import iterative
from schedlab.kernels.iterative import decision
from schedlab.schemes import scheme
from schedlab.schemes.cases import case_of

MOLDABLE = ("shares", "greedy", "iterative")

pytestmark = pytest.mark.reduced
compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="takes minutes")


# --- Kernels and twins ---
def linear(procs):
    """Linear speedup, up to `procs` processors."""
    return sl.Downey(A=procs, sigma=0)


def twin_of_table(values):
    steps = [*np.diff(values).tolist(), 0.0]
    return lambda n: values[n - 1], lambda n: steps[n - 1]


def twin_of_amdahl(serial):
    def slope(n):
        below = serial * n + (1 - serial)
        return (1 - serial) / (below * below)

    return lambda n: 1 / (serial + (1 - serial) / n), slope


@st.composite
def curves(draw, law, jobs, procs):
    """Draw a model, the columns of its jobs, and the (speedup, slope) of each for the twin."""
    if law == "downey":
        drawn = [pick(draw, (1.0, 1.5, 2.0, 3.0, 4.7, 8.0, 16.0), (0.0, 0.5, 1.0, 1.3, 2.0)) for _ in jobs]
        parallelism, sigma = map(list, zip(*drawn, strict=True))
        return sl.Downey(), {"parallelism": parallelism, "sigma": sigma}, [twin.downey(*one) for one in drawn]
    if law == "amdahl":
        serial = pick(draw, *[(0.0, 0.1, 0.25, 0.5, 1.0)] * len(jobs))
        return sl.Amdahl(), {"serial_share": serial}, [twin_of_amdahl(one) for one in serial]
    steps = [(0, 0, 0.25, 0.5, 1, 2.5)] * (procs - 1)
    table = [np.cumsum([1.0, *pick(draw, *steps)]) for _ in range(procs)]
    model = sl.Speedup(lambda n, asked: table[asked - 1][np.asarray(n) - 1])
    sizes = [float(width) for *_, width in jobs]
    return model, {"curve": sizes}, [twin_of_table(table[int(size) - 1]) for size in sizes]


RUNS = (*range(1, 21), *[1, 4, 8, 12] * 5)


@st.composite
def workloads(draw, most=9, rigid=True):
    """Draw a trace with ties and curves of all kinds, some of its jobs rigid, and its jobs as the twins take them."""
    procs = draw(integers(1, 8))
    jobs = []
    for _ in range(draw(integers(1, most))):
        submit, width = pick(draw, INSTANTS, range(1, procs + 1))
        run, over = pick(draw, RUNS, (0, 0, 1, 3, 20))
        jobs.append((submit, run, run + over, width))
    jobs.sort(key=lambda job: job[0])
    model, columns, laws = draw(curves(draw(among("downey", "amdahl", "table")), jobs, procs))
    share = draw(among(1, 1, 0.5)) if rigid else 1
    moldable = [True] * len(jobs) if share == 1 else pick(draw, *[(False, True)] * len(jobs))
    trace = trace_of(jobs, procs)
    trace = replace(trace, table=trace.table.assign(moldable=moldable, **columns), speedup=model)
    rows = zip(jobs, laws, moldable, strict=True)
    return trace, [twin.Moldable(*job, *law, rigid=not able) for job, law, able in rows]


FAIR_SHARES = st.builds(
    sl.FairShareMoldable,
    weight=st.sampled_from(["sqrt", "proportional"]),
    overbooking=st.sampled_from([0.5, 1, 1.7, 4]),
    efficiency=st.sampled_from([0, 0.3, 0.5, 1]),
    canmove=st.sampled_from(["role", "literal"]),
    work=st.sampled_from(["sequential", "area"]),
    mix=st.sampled_from(["all", "queued"]),
    backfill=st.sampled_from(["any", "start-now"]),
)
ITERATIVE = st.builds(sl.IterativeMoldable, head=st.sampled_from([None, None, 1, 2, 4]))
EVERY_SCHEME = st.one_of(FAIR_SHARES, st.just(sl.GreedyMoldable()), ITERATIVE)


def assert_same(trace, chosen, expected):
    schedule = sl.simulate(trace, chosen).validate()
    assert list(zip(schedule.start.tolist(), schedule.procs.tolist(), strict=True)) == expected


@examples(1_000)
@given(workloads(), FAIR_SHARES)
def test_fair_share_is_its_twin(workload, chosen):
    trace, jobs = workload
    names = ("overbooking", "efficiency", "weight", "work", "canmove", "backfill")
    rules = {name: getattr(chosen, name) for name in names}
    mix = "queued" if chosen.mix == "queued" else "queued+running"
    assert_same(trace, chosen, twin.fair_share(jobs, trace.procs, mix=mix, **rules))


@examples(300)
@given(workloads())
def test_greedy_is_its_twin(workload):
    trace, jobs = workload
    assert_same(trace, sl.GreedyMoldable(), twin.greedy(jobs, trace.procs))


@examples(500)
@given(workloads(), ITERATIVE)
def test_iterative_is_its_twin(workload, chosen):
    trace, jobs = workload
    assert_same(trace, chosen, twin.iterative(jobs, trace.procs, chosen.head))


@compiled
def test_iterative_is_the_straightforward_kernel_where_many_wait():
    trace = sl.model_trace("lublin", jobs=400, machine=64, seed=3).with_speedup(sl.Downey())
    trace = trace.scale_load(1.1, by="effective")
    case, _ = case_of(trace, sl.IterativeMoldable())
    start, width, most = plain_iterative.iterative(*case.jobs, 64, *trace.laws()[1:3])
    assert most > 30  # jobs waiting at once
    schedule = sl.simulate(trace, "iterative").validate()
    assert (schedule.start - schedule.submit[0]).tolist() == start.tolist()
    assert schedule.procs.tolist() == width.tolist()


@examples(500)
@given(workloads(), st.lists(st.tuples(st.integers(21, 40), st.integers(1, 4)), max_size=4))
def test_a_decision_of_the_iterative_scheme_is_its_twin(workload, running):
    trace, queue = workload
    while sum(held for _, held in running) > trace.procs:
        running = running[1:]
    running = sorted(running)
    ends, held = (np.array([row[i] for row in running], "int64") for i in range(2))
    estimate, procs = (trace.table[name].to_numpy(copy=True) for name in ("requested_time", "requested_procs"))
    width, start, steps = decision(ends, held, estimate, procs, trace.procs, trace.laws(), 20)
    widths, starts, expected = twin.one_decision(running, queue, trace.procs, 20)
    assert (width.tolist(), start.tolist()) == (widths, starts)
    assert len(steps) == len(expected)
    for (*step, total), (*tried, true) in zip(steps.tolist(), expected, strict=True):
        assert step == tried
        assert total == true or (total == -1 and not step[2])  # given up before its sum was known


def crowd(seed, jobs=60, procs=24):
    """Draw jobs that all arrive almost at once and have many curves, for the kernel and for its twin."""
    random = np.random.default_rng(seed)
    run = random.integers(1, 300, jobs)
    columns = np.sort(random.integers(0, 40, jobs)), run, run + random.choice([0, 10, 200], jobs)
    rows = list(zip(*(each.tolist() for each in (*columns, random.integers(1, procs + 1, jobs))), strict=True))
    trace = trace_of(rows, procs).with_speedup(sl.Downey(A="requested"), share=0.9, seed=seed)
    table = trace.jobs
    laws = [twin.downey(*one) for one in zip(table["parallelism"], table["sigma"], strict=True)]
    rows = zip(rows, laws, table["moldable"].tolist(), strict=True)
    return trace, [twin.Moldable(*row, *law, rigid=not able) for row, law, able in rows]


TWINS = {
    sl.FairShareMoldable(overbooking=4, efficiency=1): partial(twin.fair_share, overbooking=4, efficiency=1),
    sl.GreedyMoldable(): twin.greedy,
    sl.IterativeMoldable(): twin.iterative,
}


@compiled
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("chosen", TWINS, ids=str)
def test_schemes_are_their_twins_where_many_wait(chosen, seed):
    trace, jobs = crowd(seed)
    assert_same(trace, chosen, TWINS[chosen](jobs, trace.procs))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("overbooking", [1, 4])
def test_fair_share_is_its_twin_where_many_processors_move(overbooking, seed):
    # So many for each job that they are moved several at a time (`shares.MANY_STEPS`).
    trace, jobs = crowd(seed, jobs=4, procs=1500)
    if seed % 2:  # all slopes alike
        trace = replace(trace, table=trace.table.assign(sigma=0.0))
        laws = [twin.downey(A, 0) for A in trace.table["parallelism"]]
        jobs = [twin.Moldable(*job[:4], *law, rigid=job.rigid) for job, law in zip(jobs, laws, strict=True)]
    expected = twin.fair_share(jobs, trace.procs, overbooking, efficiency=1)
    assert_same(trace, sl.FairShareMoldable(overbooking=overbooking, efficiency=1), expected)


# --- Laws ---
@given(workloads(rigid=False), EVERY_SCHEME)
def test_rigid_jobs_are_scheduled_as_by_rigid_schemes(workload, chosen):
    trace, _ = workload
    trace = replace(trace, table=trace.table.assign(moldable=False))
    schedule = sl.simulate(trace, chosen).validate()
    rigid = sl.EASY() if isinstance(chosen, sl.FairShareMoldable) else sl.Conservative(compression="rebuild")
    if getattr(chosen, "head", None) is None:
        assert schedule.start.tolist() == sl.simulate(trace, rigid).start.tolist()
    assert schedule.procs.tolist() == trace.jobs["requested_procs"].tolist()


@given(workloads(), EVERY_SCHEME, st.integers(1, 10**9))
def test_shifting_all_times_shifts_the_schedule(workload, chosen, shift):
    trace, _ = workload
    later = replace(trace, table=trace.table.assign(submit_time=trace.table["submit_time"] + shift))
    one, other = sl.simulate(trace, chosen), sl.simulate(later, chosen)
    assert (other.start - shift).tolist() == one.start.tolist()
    assert other.procs.tolist() == one.procs.tolist()


@given(workloads(), EVERY_SCHEME, st.sampled_from(["kill", "extend"]))
def test_jobs_that_outlive_their_estimates(workload, chosen, overrun):
    trace, _ = workload
    table = trace.table.assign(requested_time=np.maximum(1, trace.table["requested_time"] - 4))
    schedule = sl.simulate(replace(trace, table=table), chosen, overrun=overrun).validate()
    over = table["run_time"] > table["requested_time"]
    assert schedule.killed.tolist() == (over.tolist() if overrun == "kill" else [False] * len(table))
    assert (schedule.estimate >= schedule.run).all()


@pytest.mark.parametrize("overbooking", [1, 2])
def test_two_perfectly_scalable_jobs(overbooking):
    # Specification, section 2.6, SAB-2: side by side on half the machine each, or one after the other on all of it.
    trace = trace_of([(0, 1200, 1200, 4), (0, 1200, 1200, 4)], 8).with_speedup(linear(8))
    schedule = sl.simulate(trace, sl.FairShareMoldable(overbooking=overbooking)).validate()
    side_by_side = 1200
    assert schedule.procs.tolist() == [4 * overbooking] * 2
    assert schedule.end.tolist() == [side_by_side / overbooking, side_by_side]
    assert schedule.metrics()["turnaround"] == (1 if overbooking == 1 else 0.75) * side_by_side


def test_of_equal_slopes_the_first_to_arrive_gains_whether_it_runs_or_waits():
    # Specification, sections 1.1 and 2.3, on three processors. Job 0 (work 5, linear up to 2) runs on 2 until 4. At 2
    # job 1 (15, up to 3) is allowed 2 and reserves them at 4. At 3 job 2 (40, up to 2) arrives: square roots 2.2, 3.9
    # and 6.3, limits 1, 1 and 2, of which job 2 at slope 0 gives one away. Jobs 0 and 1 gain alike, at slope 1: job 0,
    # the first, gets it. So job 1 has a limit of 1 and starts, and job 2 starts when job 0 ends.
    trace = trace_of([(1, 5, 5, 1), (2, 5, 5, 3), (3, 40, 40, 1)], 3).with_speedup(sl.Downey(A=1, sigma=0))
    trace = replace(trace, table=trace.table.assign(parallelism=[2.0, 3.0, 2.0]))
    schedule = sl.simulate(trace, sl.FairShareMoldable(overbooking=1, efficiency=1)).validate()
    assert schedule.start.tolist() == [1, 3, 4]
    assert schedule.procs[:2].tolist() == [2, 1]


def test_settings_may_be_as_large_as_they_like():
    trace = trace_of([(0, 60, 60, 4), (0, 60, 60, 4)], 8).with_speedup(linear(8))
    assert sl.simulate(trace, sl.FairShareMoldable(overbooking=1e300)).procs.tolist() == [8, 8]
    every, first = (sl.simulate(trace, sl.IterativeMoldable(head=head)) for head in (None, 10**30))
    assert first.procs.tolist() == every.procs.tolist()


def test_times_and_sizes_beyond_32_bits_do_not_overflow():
    ten_years, million = 315_360_000, 10**6
    trace = trace_of([(0, ten_years, ten_years, million), (1, ten_years, ten_years, million)], million)
    trace = trace.with_speedup(linear(million))
    schedule = sl.simulate(trace, "greedy").validate()
    assert schedule.start.tolist() == [0, ten_years]
    assert schedule.procs.tolist() == [million, million]
    assert schedule.jobs["wasted"].tolist() == [0, 0]


@pytest.mark.parametrize("chosen", [sl.FairShareMoldable(efficiency=1), sl.GreedyMoldable()], ids=str)
@pytest.mark.parametrize("sigma", [0, 1.5])
def test_the_time_that_a_simulation_takes_does_not_follow_the_processors(chosen, sigma):
    # With one processor at a time this took minutes with the JIT off, and for some more jobs also with it on.
    jobs = [(i // 2, 10**9 // (i + 1), 10**9 // (i + 1), 2**22 // (i + 1)) for i in range(6)]
    trace = trace_of(jobs, 2**24).with_speedup(sl.Downey(A="system", sigma=sigma))
    sl.simulate(trace, chosen).validate()


@compiled
def test_too_many_processors_to_give_one_by_one_are_refused():
    # Centuries of work on one processor, so that millions of processors help.
    jobs = [(0, 2 * 10**11, 2 * 10**11, 1000) for _ in range(40)]
    trace = trace_of(jobs, 2**24).with_speedup(linear(2**24))
    with pytest.raises(ValueError, match="the iterative scheme has too many processors to give one by one; set a head"):
        sl.simulate(trace, "iterative")


def test_jobs_that_can_have_no_more_processors_are_not_refused(monkeypatch):
    if not numba.config.DISABLE_JIT:
        pytest.skip("compiled kernels have their constants built in")
    monkeypatch.setattr(iterative, "MOST_LOOKS", 10)
    jobs = [(0, 50, 50, 2**17 - 1), *((0, 1, 1, 2) for _ in range(40))]
    sl.simulate(trace_of(jobs, 2**17).with_speedup(linear(2**17), share=0), "iterative").validate()


def test_sums_of_completions_beyond_int64_are_refused():
    # One after the other on one processor: every time fits into int64, but the sum of the completions does not.
    trace = trace_of([(0, 2**43, 2**43, 1)] * 1_000, 1).with_speedup(linear(1), share=0)
    with pytest.raises(ValueError, match="completions of the waiting jobs add up to more seconds than int64 can count"):
        sl.simulate(trace, "iterative")
    assert sl.simulate(trace.head(3), "iterative").validate().start.tolist() == [0, 2**43, 2**44]


def test_areas_up_to_the_limit_are_weights():
    jobs = [(0, 2**49, 2**49, 8), (0, 2**49, 2**49, 8)]
    trace = trace_of(jobs, 8).with_speedup(sl.Speedup([1, 1.1, 1.2, 1.3, 1.3, 1.3, 1.3, 1.3]))
    assert sl.simulate(trace, sl.FairShareMoldable(work="area")).procs.tolist() == [4, 4]


# --- What a schedule says ---
@pytest.fixture(scope="module")
def schedule():
    # Twice as fast on two, not faster on more. P = 4. Job 1 asks for 4, on which it takes 60 s as on 2; job 2 is rigid.
    model = sl.Speedup([1, 2, 2, 2])
    trace = trace_of([(0, 60, 100, 4), (10, 30, 30, 3), (20, 8, 8, 1)], 4).with_speedup(model)
    trace = replace(trace, table=trace.table.assign(moldable=[True, False, True]))
    return sl.simulate(trace, "greedy").validate()


def test_a_schedule_shows_the_processors_used(schedule):
    jobs = schedule.jobs
    assert jobs["procs"].tolist() == schedule.procs.tolist() == [2, 3, 2]
    assert jobs["requested_procs"].tolist() == [4, 3, 1]
    assert jobs["run_time"].tolist() == [60, 30, 4]
    assert jobs["estimate"].tolist() == [100, 30, 4]
    assert jobs["requested_time"].tolist() == [100, 30, 8]
    assert jobs["start_time"].tolist() == [0, 60, 20]
    assert jobs["sequential_work"].tolist() == [120, 60, 8]
    assert jobs["wasted"].tolist() == [0, 30, 0]
    timeline = schedule.timeline().set_index("time")["used"]
    assert timeline.to_dict() == {0: 2, 10: 2, 20: 4, 24: 2, 60: 3, 90: 0}


def test_measures_are_of_the_processors_used(schedule):
    measured = schedule.metrics()
    assert measured["wasted_share"] == pytest.approx(30 / (120 + 90 + 8))
    assert measured["utilization"] == pytest.approx((120 + 90 + 8) / (4 * 90))
    assert measured["effective_load"] == pytest.approx((120 + 60 + 8) / (4 * 20)) == schedule.trace.effective_load()
    # From 10 to 20 and from 24 to 60 job 2 waits for 3 processors, and 2 are idle.
    assert measured["loss_of_capacity"] == 2 * (10 + 36)
    by_width = schedule.metrics(by="procs")
    assert by_width["wasted_share"].to_dict() == {2: 0, 3: pytest.approx(1 / 3)}


def test_rigid_schedules_measure_waste_too(schedule):
    rigid = sl.simulate(schedule.trace, "easy").validate()
    assert rigid.jobs["wasted"].tolist() == [60 * 4 - 120, 30, 0]
    assert rigid.metrics()["effective_load"] == schedule.metrics()["effective_load"]
    assert "estimate" not in rigid.jobs
    plain = sl.simulate(trace_of([(0, 60, 100, 4), (10, 30, 30, 3)], 4), "easy")
    assert "wasted" not in plain.jobs
    assert "wasted_share" not in plain.metrics()


def test_files_show_the_processors_used(schedule, tmp_path):
    schedule.to_swf(tmp_path / "log.swf")
    log = sl.read_swf(tmp_path / "log.swf").jobs
    assert log["allocated_procs"].tolist() == [2, 3, 2]
    assert log["requested_procs"].tolist() == [4, 3, 1]
    assert log["run_time"].tolist() == [60, 30, 4]
    assert "run times are on the allocated processors" in (tmp_path / "log.swf").read_text()
    schedule.to_csv(tmp_path / "jobs.csv")
    table = pd.read_csv(tmp_path / "jobs.csv")
    assert table["requested_number_of_resources"].tolist() == [2, 3, 2]
    assert table["requested_time"].tolist() == [100, 30, 4]
    assert table["allocated_resources"].tolist() == ["0-1", "0-2", "2-3"]


def test_charts_show_the_processors_used(schedule):
    drawn = sl.charts.gantt(schedule)
    rectangles = max(drawn.to_dict()["datasets"].values(), key=len)
    assert sorted((row["procs"], row["low"], row["high"]) for row in rectangles) == [(2, 0, 2), (2, 2, 4), (3, 0, 3)]
    assert "effective load 2.35" in str(drawn.to_dict()["title"])
    profile = str(sl.charts.profile(schedule).to_dict()["datasets"])
    assert "'value': 4" in profile or "4.0" in profile


def test_fair_start_times_are_of_a_schedule_without_later_arrivals(schedule):
    fair = sl.fair_starts(schedule)
    for place in range(3):
        known = sl.simulate(schedule.trace.head(place + 1), schedule.scheme)
        assert fair.iloc[place] == known.start[place]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"procs": [5, 3, 2]}, "processors held"),
        ({"procs": [0, 3, 2]}, "job 1 does not have 1 to 4 processors, at 0"),
        ({"procs": [2, 2, 2]}, "job 2 is rigid, but was reshaped, at 60"),
        ({"run": [59, 30, 4]}, "job 1 is not run as long as its speedup says, from 0"),
        ({"run": [60, 29, 4]}, "job 2 is not run as long as its speedup says, from 60"),
        ({"estimate": [100, 30, 5]}, "job 3 is not estimated to run as long as its speedup says, from 20"),
        ({"start": [0, 5, 20]}, "job 2 starts at 5, before its submission at 10"),
        ({"start": [0, 10, 20]}, "5 processors held at 10 s, expected at most 4"),
    ],
)
def test_what_breaks_a_law_is_found(schedule, change, message):
    with pytest.raises(sl.schedule.ScheduleError, match=message):
        changed(schedule, **{name: np.array(values) for name, values in change.items()}).validate()


# --- Settings ---
def test_names_and_labels():
    assert {name: str(scheme(name)) for name in MOLDABLE} == {
        "shares": "Fair share (ObF 1, EF 0)",
        "greedy": "Greedy",
        "iterative": "Iterative",
    }
    assert scheme("Iterative") == sl.IterativeMoldable()
    assert sl.FairShareMoldable("proportional").weight == "proportional"
    assert str(sl.FairShareMoldable(overbooking=4, efficiency=0.5)) == "Fair share (ObF 4, EF 0.5)"
    every = sl.FairShareMoldable("proportional", 2, 1, "literal", "area", "queued", "start-now")
    assert str(every) == "Fair share (ObF 2, EF 1, proportional, literal, by area, among queued, start-now)"
    assert str(sl.IterativeMoldable(head=20)) == "Iterative (first 20)"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(sl.FairShareMoldable, weight="cubic"), "unknown weight 'cubic'; known: sqrt, proportional"),
        (partial(sl.FairShareMoldable, canmove="never"), "unknown canmove 'never'; known: role, literal"),
        (partial(sl.FairShareMoldable, work="none"), "unknown work 'none'; known: sequential, area"),
        (partial(sl.FairShareMoldable, mix="running"), "unknown mix 'running'; known: all, queued"),
        (partial(sl.FairShareMoldable, backfill="no"), "unknown backfill 'no'; known: any, start-now"),
        (partial(sl.FairShareMoldable, overbooking=0), "overbooking must be a number above 0, got 0"),
        (partial(sl.FairShareMoldable, overbooking=np.inf), "overbooking must be a number above 0, got inf"),
        (partial(sl.FairShareMoldable, efficiency=1.5), "efficiency must be a number from 0 to 1, got 1.5"),
        (partial(sl.FairShareMoldable, efficiency="1"), "efficiency must be a number from 0 to 1, got '1'"),
        (partial(sl.IterativeMoldable, head=0), "head must be a whole number of at least 1, or None .*, got 0"),
        (partial(sl.IterativeMoldable, head=True), "head must be a whole number of at least 1, or None .*, got True"),
    ],
)
def test_settings_out_of_range(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("chosen", MOLDABLE)
@pytest.mark.parametrize(
    ("conventions", "message"),
    [
        ({"machine": sl.KaryTree(k=2, n=3)}, "cannot run on"),
        ({"events": "each"}, "events are batched under"),
        ({"overrun": "kill-backfilled"}, "overrun 'kill-backfilled' is for jobs on nodes, not for"),
        ({"machine": 3}, "a test has a job of 4 processors, the machine 3"),
        ({"machine": 5}, "the curve ends at 4 processors, but the machine has 5"),
    ],
)
def test_conventions_that_are_not_for_moldable_jobs(schedule, chosen, conventions, message):
    with pytest.raises(ValueError, match=message):
        sl.simulate(schedule.trace, chosen, **conventions)


@pytest.mark.parametrize("chosen", MOLDABLE)
def test_a_trace_without_speedups_is_told_how_to_get_some(chosen):
    trace = trace_of([(0, 60, 100, 4)], 4)
    with pytest.raises(ValueError, match=r"needs speed-up data, and a test has none: trace.with_speedup\(sl.Downey\("):
        sl.simulate(trace, chosen)
    with pytest.raises(ValueError, match="job 1 of a test has a run time of 0"):
        sl.simulate(trace_of([(0, 0, 100, 4)], 4).with_speedup(sl.Downey()), chosen)
    with pytest.raises(ValueError, match="the jobs of a test on one processor each take .* s, expected less"):
        sl.simulate(trace_of([(0, 1, 2**51 - 1, 4)] * 2, 4).with_speedup(sl.Downey(A=8, sigma=0)), chosen)


def test_sweeps_and_sites_take_moldable_schemes():
    trace = sl.model_trace("downey", jobs=60, machine=16)
    table = sl.sweep(trace, ["easy", "greedy", sl.FairShareMoldable()], load=[0.5, 0.9], by="effective", progress=False)
    assert table["effective_load"].tolist() == pytest.approx([0.5] * 3 + [0.9] * 3, rel=0.01)
    assert table["wasted_share"].between(0, 1).all()
    assert len(sl.simulate_sites([trace, trace], "greedy").validate().jobs) == 120
