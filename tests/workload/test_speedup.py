"""Speedup models: their laws, their effect on a trace, and its effective load. Downey's law is in test_downey.py."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import twin_moldable
from hypothesis import given
from hypothesis import strategies as st
from workloads import trace_of

import schedlab as sl
from schedlab._runtime.streams import uniforms
from schedlab.kernels import speedup as kernel
from schedlab.workload.speedup import Laws

pytestmark = pytest.mark.tables

JOBS = [(10 * i, 100 + i, 200 + i, 1 + i % 16) for i in range(400)]
SIZES = np.array([procs for *_, procs in JOBS])
MODELS = [
    sl.Downey(),
    sl.Downey(A="requested", sigma=0.5),
    sl.Amdahl((0, 0.3)),
    sl.Speedup(np.sqrt),
    sl.Speedup(lambda n, procs: np.minimum(n, procs)),
]


def trace(procs=16):
    return trace_of(JOBS, procs)


def column(name, model, **options):
    return trace().with_speedup(model, **options).jobs[name].to_numpy()


# --- The laws ---
@pytest.mark.reduced
@given(st.floats(1, 100), st.sampled_from([0, 0.3, 1, 1.7, 2, 4]), st.sampled_from([None, 2.0, 3.5, 64.0]))
def test_downey_is_the_twin_to_the_last_bit(A, sigma, round_A):
    A = round_A or A
    speedup, _ = twin_moldable.downey(A, sigma)
    laws = trace(1).with_speedup(sl.Downey(A=A, sigma=sigma)).laws()
    n = np.arange(1, 401)  # one width for each of the jobs
    assert laws.speedup(n).tolist() == [speedup(each) for each in n.tolist()]


@given(st.floats(0, 1), st.floats(1, 1000))
def test_amdahl(serial, n):
    laws = Laws(kernel.AMDAHL, np.array([serial]), np.zeros(1), np.zeros((1, 1)), np.ones(1, bool))
    assert laws.speedup(1) == pytest.approx(1)
    assert laws.speedup(n) == pytest.approx(n / (serial * n + 1 - serial))


def test_amdahl_and_a_table_by_hand():
    # Half serial: 2 n / (n + 1).
    laws = trace().with_speedup(sl.Amdahl(0.5)).laws()
    assert laws.speedup(np.full(400, 3))[0] == 1.5
    laws = trace_of(JOBS[:1], 4).with_speedup(sl.Speedup([1, 2.5, 3, 3, 9])).laws()
    assert [laws.speedup(n).item() for n in (1, 2, 3, 4)] == [1, 2.5, 3, 3]  # more than twice as fast on two


def test_a_function_is_asked_in_whatever_way_it_understands():
    expected = np.minimum(np.arange(1, 17), 8)
    for curve in (lambda n: np.minimum(n, 8), lambda n: min(n, 8), lambda n: 8 if n > 8 else n):
        laws = trace().with_speedup(sl.Speedup(curve)).laws()
        assert laws.curves.shape == (1, 17)
        assert laws.curves[0, 1:].tolist() == expected.tolist()
    constant = trace().with_speedup(sl.Speedup(lambda n: 1)).laws()
    assert constant.speedup(SIZES).tolist() == [1] * 400


def test_a_function_of_the_size_too_is_evaluated_once_for_each_size():
    asked = []

    def curve(n, procs):
        asked.append(procs)
        return np.minimum(n, procs)

    moldable = trace().with_speedup(sl.Speedup(curve))
    laws = moldable.laws()
    moldable.laws()
    assert asked == list(range(1, 17))
    assert laws.curves.shape == (16, 17)
    assert laws.speedup(np.full(400, 4)).tolist() == np.minimum(4, SIZES).tolist()
    assert laws.speedup(SIZES).tolist() == SIZES.tolist()


@pytest.mark.reduced
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_durations_are_those_of_the_kernel(model):
    laws = trace().with_speedup(model, share=0.8).laws()
    seconds = np.array([run for _, run, _, _ in JOBS])
    for width in (1, 3, 16):
        widths = np.full(400, width)
        expected = np.where(laws.moldable, laws.durations(seconds, SIZES, widths), seconds)
        assert kernel.durations(seconds, SIZES, widths, laws).tolist() == expected.tolist()
    assert laws.durations(seconds, SIZES, SIZES).tolist() == seconds.tolist()


# --- What is drawn ---
def test_draws_are_what_downey_says_and_independent_of_each_other():
    assert set(column("parallelism", sl.Downey())) == {16}
    assert set(column("parallelism", sl.Downey(A=5))) == {5}
    for model, low, high in (
        (sl.Downey(A="requested"), SIZES, 2 * SIZES),
        (sl.Downey(A="any"), 1, 2 * SIZES),
        (sl.Downey(A=(3, 9)), 3, 9),
    ):
        share = (column("parallelism", model) - low) / (np.asarray(high) - low)
        assert (share >= 0).all()
        assert (share < 1).all()
        assert share.mean() == pytest.approx(0.5, abs=0.05)
    sigma = column("sigma", sl.Downey())
    assert 0 <= sigma.min() < 0.05
    assert 1.95 < sigma.max() < 2
    assert set(column("sigma", sl.Downey(sigma=1.5))) == {1.5}
    serial = column("serial_share", sl.Amdahl((0.1, 0.2)))
    assert 0.1 <= serial.min() < serial.max() < 0.2
    drawn = [uniforms(7, name, np.arange(20_000)) for name in ("parallelism", "sigma", "moldable")]
    assert np.abs(np.corrcoef(drawn) - np.eye(3)).max() < 0.02


def test_a_job_speeds_up_the_same_in_every_part_at_every_load_and_share():
    model = sl.Downey(A="requested")
    whole = trace().with_speedup(model).jobs[["parallelism", "sigma"]]
    part = trace().scale_load(1.2).head(100).with_speedup(model, share=0.3).jobs[["parallelism", "sigma"]]
    pd.testing.assert_frame_equal(part, whole.head(100))
    few, many = (column("moldable", model, share=share) for share in (0.3, 0.6))
    assert not (few & ~many).any()
    assert few.mean() == pytest.approx(0.3, abs=0.07)
    assert column("moldable", model, share=0).sum() == 0
    assert column("moldable", model).all()
    assert (column("sigma", model, seed=2) != whole["sigma"]).all()


def test_a_second_model_takes_the_place_of_the_first():
    both = trace().with_speedup(sl.Downey(), share=0.5).with_speedup(sl.Amdahl(0.1))
    assert not {"parallelism", "sigma"} & set(both.jobs)
    assert both.jobs["moldable"].all()
    assert both.laws().law == kernel.AMDAHL
    assert both.history == (
        f"speedup Downey(A='system', sigma=(0, 2)), seed 0: {column('moldable', sl.Downey(), share=0.5).sum()} of "
        "400 jobs moldable",
        "speedup Amdahl(serial=0.1), seed 0: 400 of 400 jobs moldable",
    )


def test_models_can_be_remembered_and_compared():
    assert sl.Speedup(np.array([1.0, 2])) == sl.Speedup([1, 2])
    assert len({sl.Downey(), sl.Downey(A="system"), sl.Amdahl(0.1), sl.Speedup([1, 2])}) == 3
    assert str(sl.Speedup([1, 2])) == "Speedup(2 values)"
    assert str(sl.Speedup(np.sqrt)) == "Speedup(sqrt)"


# --- Effective load ---
def pair(run, procs):
    """Return two jobs 1,000 s apart on a machine of 10."""
    return trace_of([(0, run, run, procs), (1000, run, run, procs)], 10)


HALF_ON_FIVE = [sl.Amdahl(0.25), sl.Speedup([1, 1.5, 2, 2.25, 2.5, 3, 3, 3, 3, 3]), sl.Downey(2.5, 0)]


@pytest.mark.parametrize("model", HALF_ON_FIVE, ids=str)
def test_half_efficient_processors_count_half_and_what_is_killed_does_not_count(model):
    # Specification, section 1.2, SAB-0: 1000 s on 5 processors at 50 % efficiency are 2500 processor-seconds.
    moldable = pair(1000, 5).with_speedup(model)
    assert moldable.sequential_work().tolist() == [2500, 2500]
    assert moldable.effective_load() == 5000 / (10 * 1000)
    assert moldable.with_speedup(model, share=0).effective_load() == 0.5  # rigid jobs are no more efficient
    assert pair(1000, 5).effective_load() == pair(1000, 5).offered_load() == 1
    short = trace_of([(0, 1000, 600, 5), (1000, 1000, 600, 5)], 10).with_speedup(model)
    assert (short.effective_load(), short.effective_load(overrun="extend")) == (0.3, 0.5)


def test_scaling_from_65_to_90_percent():
    # Specification, section 1.6, SAB-0b: run times and estimates are multiplied by 0.9 / 0.65.
    jobs = [(0, 26_000, 65_000, 5), (20_000, 26_000, 65_000, 5)]
    moldable = trace_of(jobs, 10).with_speedup(sl.Amdahl(0.25))
    assert moldable.effective_load() == 0.65
    scaled = moldable.scale_load(0.9, by="effective")
    assert scaled.jobs["run_time"].tolist() == [36_000, 36_000]
    assert scaled.jobs["requested_time"].tolist() == [90_000, 90_000]
    assert scaled.effective_load() == 0.9
    assert scaled.jobs["serial_share"].tolist() == moldable.jobs["serial_share"].tolist()
    assert scaled.history[-1] == "effective load 0.6500 -> 0.9: run times and estimates x 1.3846"


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_scaling_reaches_the_effective_load_within_rounding(model):
    scaled = trace().with_speedup(model, share=0.5).scale_load(0.7, by="effective")
    assert scaled.effective_load() == pytest.approx(0.7, rel=0.01)
    assert (scaled.jobs["requested_time"] >= scaled.jobs["run_time"]).all()


# --- Bad input ---
AT_ONCE = trace_of(JOBS[:1], 16).with_speedup(sl.Downey())


def of_curve(curve):
    return trace().with_speedup(sl.Speedup(curve))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sl.Downey(A=0.5), "A must be at least 1 and finite, got 0.5"),
        (lambda: sl.Downey(A=(0.5, 3)), "A must be at least 1 and finite, got 0.5"),
        (lambda: sl.Downey(A=(4, 3)), r"A must be \(low, high\), got \(4, 3\)"),
        (lambda: sl.Downey(A="big"), "unknown A 'big'; known: 'system', 'requested', 'any', a number or"),
        (lambda: sl.Downey(A=None), r"A must be a number or \(low, high\), got None"),
        (lambda: sl.Downey(sigma=-1), "sigma must be at least 0 and finite, got -1"),
        (lambda: sl.Downey(sigma=(0, float("inf"))), "sigma must be at least 0 and finite, got inf"),
        (lambda: sl.Downey(sigma="wide"), r"sigma must be a number or \(low, high\), got 'wide'"),
        (lambda: sl.Amdahl(1.5), "serial must be from 0 to 1, got 1.5"),
        (lambda: sl.Amdahl((-0.1, 0.5)), "serial must be from 0 to 1, got -0.1"),
        (lambda: sl.Speedup("amdahl"), r"curve is 'amdahl', expected the numbers S\(1\), S\(2\)"),
        (lambda: sl.Speedup(lambda: 1), r"curve is a function of 0 arguments, expected one of n or \(n, procs\)"),
        (lambda: sl.Speedup(lambda n, procs, user: n), "curve is a function of 3 arguments, expected one"),
        (lambda: sl.Speedup([]), r"curve is \[\], expected the numbers"),
        (lambda: sl.Speedup(["a"]), r"curve is \['a'\], expected the numbers"),
        (lambda: sl.Speedup([2, 3]), "speedup on 1 processor is 2, expected 1"),
        (lambda: sl.Speedup([1, 3, 2]), "speedup on 3 processors is 2, less than 3 on fewer; expected that it never"),
        (lambda: sl.Speedup([np.nan, 2]), "speedup on 1 processor is nan, expected 1"),
        (lambda: sl.Speedup([1, np.nan]), "speedup on 2 processors is nan, expected a finite number"),
        (lambda: trace().with_speedup("downey"), "model is 'downey', expected one such as Downey"),
        (lambda: trace().with_speedup(sl.Downey(), share=1.5), "share must be from 0 to 1, got 1.5"),
        (lambda: trace().with_speedup(sl.Downey(), share=True), "share must be from 0 to 1, got True"),
        (lambda: trace().with_speedup(sl.Downey(), seed=-1), "seed must be a whole number"),
        (lambda: trace().with_speedup(sl.Speedup([1, 2])), "the curve ends at 2 processors, but the machine has 16"),
        (lambda: of_curve(lambda n, procs: n / procs), "speedup on 1 processor is 0.5, for a job of 2, expected 1"),
        (lambda: of_curve(lambda n: -n), "speedup on 1 processor is -1, expected 1"),
        (lambda: trace().scale_load(0.5, by="effective"), r"needs speed-up data, and a test has none: trace.with_spee"),
        (lambda: trace().laws(), r"laws\(\) needs speed-up data, and a test has none"),
        (lambda: trace().scale_load(0.5, by="size"), "unknown by 'size'; known: run_time, interarrival, effective"),
        (
            lambda: AT_ONCE.scale_load(0.5, by="effective"),
            "no effective load to scale: all its jobs are submitted at one",
        ),
    ],
)
def test_what_cannot_be_is_said(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_columns_that_cannot_be_and_what_is_wrong_with_a_function_are_said():
    jobs = sl.model_trace("downey", jobs=10, machine=8)
    jobs = replace(jobs, table=jobs.table.assign(parallelism=0.5))
    with pytest.raises(ValueError, match="parallelism of job 1 is 0.5, expected at least 1"):
        jobs.laws()
    jobs = trace().with_speedup(sl.Amdahl(0.1))
    jobs = replace(jobs, table=jobs.table.assign(serial_share=2))
    with pytest.raises(ValueError, match="serial_share of job 1 is 2, expected from 0 to 1"):
        jobs.effective_load()
    with pytest.raises(ZeroDivisionError):
        trace().with_speedup(sl.Speedup(lambda n: 1 / 0))
    with pytest.raises(TypeError, match="not callable"):
        trace().with_speedup(sl.Speedup(lambda n: n()))
