"""
Downey's speedup against its printed values, his workload against its closed forms.

Both are those of the specification, section 7.1. Statistical tests have fixed seeds and tolerances of 4 standard
errors (one false alarm in 16,000); Kolmogorov's distance uses the critical value of the same probability.
"""

import math

import numpy as np
import pytest
import twin_moldable
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import stats
from workloads import trace_of

import schedlab as sl
from schedlab.workload.models.downey import downey, fit_downey
from schedlab.workload.speedup import downey_speedup

KOLMOGOROV = 2.28
HALF_DAY = 43_200

PRINTED = """
64 0.5 | 1.9922 7.7871 15.1144 28.5436 51.3605 59.9532 64 64 64
64 1 | 1.9845 7.5852 14.3217 25.7610 42.8901 56.3877 64 64 64
64 2 | 1.9794 7.4563 13.8378 24.1890 38.6415 49.2308 54.9189 55.1031 64
10 0.5 | 1.9512 6.8085 9.5522 10
10 1.5 | 1.8868 5.6338 8.4211 10
"""
PROCS = (2, 8, 16, 32, 64, 100, 127, 128, 190)

parallelism = st.floats(1, 1000)
variance = st.one_of(st.sampled_from([0.0, 1.0, 2.0]), st.floats(0, 5))


# --- The speedup --------------------------------------------------------------------------------------------
def test_printed_values():
    for line in PRINTED.strip().splitlines():
        (A, sigma), values = (np.array(part.split(), float) for part in line.split("|"))
        np.testing.assert_allclose(downey_speedup(PROCS[: len(values)], A, sigma), values, rtol=0, atol=5.1e-5)
    table = downey_speedup(np.array(PROCS), np.full((3, 1), 64), np.array([[0.5], [1], [2]]))  # arrays are broadcast
    np.testing.assert_allclose(table[:, 0], [1.9922, 1.9845, 1.9794], rtol=0, atol=5.1e-5)
    assert table.shape == (3, 9)
    assert downey_speedup(4, 64, 0.5).shape == ()


@given(parallelism, variance)
@example(1.0, 3.0)  # The formula for sigma up to 1 has a pole there, at 3 processors.
def test_speedup_begins_at_1_and_ends_at_A(A, sigma):
    assert downey_speedup(1, A, sigma) == pytest.approx(1)
    end = max(2 * A - 1, A + A * sigma - sigma)
    np.testing.assert_allclose(downey_speedup([end, end + 1, 10 * end], A, sigma), A, rtol=1e-12)
    n = np.linspace(1, 3 * end, 400)
    speedup = downey_speedup(n, A, sigma)
    assert (np.diff(speedup) >= -1e-9 * A).all()
    assert (speedup <= np.minimum(n, A) * (1 + 1e-12)).all()
    assert (np.diff(speedup, 2) <= 1e-9 * A).all()


@given(parallelism, variance, st.floats(1, 3000))
def test_slope_is_the_derivative(A, sigma, n):
    step = 1e-4 * n
    assume(all(abs(n - joint) > 2 * step for joint in (1, A, 2 * A - 1, A + A * sigma - sigma)))
    assume(n - step >= 1)
    below, above = downey_speedup([n - step, n + step], A, sigma)
    _, slope = twin_moldable.downey(A, sigma)
    assert slope(n) == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-8)


def test_slope_at_a_joint_is_that_to_its_right():
    joints = [(10, 0, n) for n in (1, 9.999, 10, 11)] + [(10, 0.5, 19), (10, 1, 19), (10, 2, 28), (1, 0.5, 1)]
    slopes = [twin_moldable.downey(A, sigma)[1](n) for A, sigma, n in joints]
    assert slopes == [1, 1, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([2, 0], 4, 1), "n must be at least 1 and finite, got 0"),
        ((2, 0.5, 1), "A must be at least 1 and finite, got 0.5"),
        ((2, 4, [0, -1]), "sigma must be at least 0 and finite, got -1"),
        ((2, math.nan, 1), "A must be at least 1 and finite, got nan"),
    ],
)
def test_numbers_out_of_range(arguments, message):
    with pytest.raises(ValueError, match=message):
        downey_speedup(*arguments)


# --- The workload -------------------------------------------------------------------------------------------
def test_laws_of_the_quantities():
    n, procs = 50_000, 128
    jobs = downey(n, procs, seed=1, work=(20, 5e5))
    uniform = {
        "work": np.log(jobs["work"] / 20) / np.log(5e5 / 20),
        "parallelism": np.log(jobs["parallelism"]) / np.log(procs),
        "sigma": jobs["sigma"] / 2,
    }
    for values in uniform.values():
        assert stats.kstest(values, "uniform").statistic < KOLMOGOROV / math.sqrt(n)
    # Closed forms of a log-uniform law.
    log_ratio = math.log(5e5 / 20)
    mean, square = (5e5 - 20) / log_ratio, (5e5**2 - 20**2) / (2 * log_ratio)
    assert jobs["work"].mean() == pytest.approx(mean, abs=4 * math.sqrt((square - mean**2) / n))
    for q in (0.1, 0.5, 0.9):
        error = 4 * math.sqrt(q * (1 - q) / n)
        assert (jobs["work"] < 20 * 25_000**q).mean() == pytest.approx(q, abs=error)
    columns = (*uniform.values(), np.diff(jobs["submit_time"], prepend=0))
    ranks = np.corrcoef([stats.rankdata(column) for column in columns])
    assert np.all(np.abs(ranks[~np.eye(4, dtype=bool)]) < 4.5 / math.sqrt(n))  # 6 pairs


def test_sizes_and_run_times_follow_the_stated_rule():
    jobs = downey(20_000, 100, seed=2)
    assert jobs["requested_procs"].tolist() == np.rint(jobs["parallelism"]).tolist()
    assert jobs["requested_procs"].between(1, 100).all()
    speedup = downey_speedup(jobs["requested_procs"], jobs["parallelism"], jobs["sigma"])
    assert jobs["run_time"].tolist() == np.maximum(1, np.rint(jobs["work"] / speedup)).tolist()
    # P(size = k) = log((k + 1/2) / (k - 1/2)) / log P, at the ends half an interval.
    for k in (1, 2, 10, 100):
        q = math.log(min(k + 0.5, 100) / max(k - 0.5, 1)) / math.log(100)
        assert (jobs["requested_procs"] == k).mean() == pytest.approx(q, abs=4 * math.sqrt(q * (1 - q) / 20_000))


def test_arrivals_are_poisson_in_two_halves_of_the_day():
    rates = (30.0, 6.0)
    empty = [downey(5000, seed=4, rates=some)["submit_time"] % (2 * HALF_DAY) for some in ((10, 0), (0, 10))]
    assert empty[0].max() <= HALF_DAY <= empty[1].min()
    submit = downey(100_000, seed=3, rates=rates)["submit_time"].to_numpy()
    days = int(submit[-1] // (2 * HALF_DAY))
    half = submit[submit < days * 2 * HALF_DAY] // HALF_DAY
    counts = np.bincount(half, minlength=2 * days).reshape(days, 2)
    for column, rate in enumerate(rates):
        mean = 12 * rate
        found = counts[:, column]
        assert found.mean() == pytest.approx(mean, abs=4 * math.sqrt(mean / days))
        assert found.var(ddof=1) == pytest.approx(mean, abs=4 * mean * math.sqrt(2 / (days - 1)))
    # Within a half day the gaps are exponential. Gaps across its ends are left out, and these are more often long ones:
    # that takes 0.3 and 1.4 % off the mean, in addition to 4 standard errors of 1.4 and 3.1 %.
    gaps = np.diff(submit)[np.diff(submit // HALF_DAY) == 0]
    day = (submit[1:] // HALF_DAY % 2 == 0)[np.diff(submit // HALF_DAY) == 0]
    assert gaps[day].mean() == pytest.approx(120, rel=0.02)
    assert gaps[~day].mean() == pytest.approx(600, rel=0.05)


@pytest.mark.parametrize("procs", [1, 2, 3])
def test_small_machines(procs):
    jobs = downey(500, procs, seed=1)
    assert set(jobs["requested_procs"]) == set(range(1, procs + 1))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"jobs": 0}, "jobs must be at least 1, got 0"),
        ({"machine": 2.5}, "machine must be a whole number, got 2.5"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"work": (0, 10)}, "work must begin above 0, got 0"),
        ({"work": (10, 1)}, "work must be two finite numbers, least and most, got 10 and 1"),
        ({"work": (10, math.inf)}, "work must be two finite numbers, least and most, got 10 and inf"),
        ({"work": 10}, "work must be two numbers, least and most, got 10"),
        ({"sigma": (-1, 2)}, "sigma must begin at 0 or above, got -1"),
        ({"rates": (0, 0)}, "rates must be at least 0, finite and not both 0, got 0 and 0"),
        ({"rates": (1, -1)}, "rates must be at least 0, finite and not both 0, got 1 and -1"),
        ({"rates": (1e308, 1)}, "rates must be at least 0, finite and not both 0, got 1e\\+308 and 1"),
        ({"rates": 12}, "rates must be two numbers, got 12"),
        ({"rates": (1e-13, 0)}, r"a time would be .* s, expected less than 2\*\*53"),
        ({"work": (1, 1e300)}, r"a time would be .* s, expected less than 2\*\*53"),
    ],
)
def test_parameters_that_cannot_be(parameters, message):
    with pytest.raises(ValueError, match=message):
        downey(**parameters)


# --- The fit, and traces ------------------------------------------------------------------------------------
@pytest.mark.parametrize("shift", [0, 5 * 3600, 15 * 3600, 100 * 86_400])
def test_fit_finds_what_was_drawn_wherever_the_busy_half_lies(shift):
    n = 50_000
    jobs = downey(n, 128, seed=7, work=(500, 2e5), rates=(40, 8))
    fitted = fit_downey(jobs.assign(submit_time=jobs["submit_time"] + shift))
    width = math.log(2e5 / 500)
    # Standard errors of mean and sqrt(3) x standard deviation of a uniform law: the latter's is w sqrt(0.8 / 16 n).
    error = 4 * width * (math.sqrt(1 / (12 * n)) + math.sqrt(0.8 / (16 * n))) + 0.001  # run times are rounded too
    np.testing.assert_allclose(np.log(fitted["work"]), np.log([500, 2e5]), rtol=0, atol=error)
    hours = n / (40 + 8)  # in each half
    for rate, expected in zip(fitted["rates"], (40, 8), strict=True):
        assert rate == pytest.approx(expected, abs=4 * math.sqrt(expected / hours) + expected * 24 / hours)


def test_rates_are_those_of_the_hours_that_the_log_has_and_work_of_rigid_jobs_is_their_area():
    # A day and a half: 2 an hour in the first half of both days, one every two hours in between.
    submit = [*range(0, HALF_DAY, 1800), *range(HALF_DAY, 2 * HALF_DAY, 7200), *range(2 * HALF_DAY, 3 * HALF_DAY, 1800)]
    jobs = trace_of([(second, 1 + second, 1 + second, 1) for second in submit], 1).jobs
    assert fit_downey(jobs)["rates"] == pytest.approx((48 / 23.5, 6 / 12))
    trace = trace_of([(0, 100, 100, 2), (90_000, 800, 800, 1), (100_000, 100, 100, 2)], 4)
    least, most = fit_downey(trace)["work"]
    log_work = np.log([200, 800, 200])
    assert math.sqrt(least * most) == pytest.approx(math.exp(log_work.mean()))
    assert math.log(most / least) ** 2 / 12 == pytest.approx(log_work.var())


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        ([(0, 1, 1, 1)], "a log of a day or more is needed to fit two rates, got 1 jobs in 0 s"),
        ([(0, 1, 1, 1), (80_000, 2, 2, 1)], "a log of a day or more is needed to fit two rates, got 2 jobs in 80000 s"),
        ([(0, 1, 1, 1), (90_000, 0, 2, 1)], "job 2 has no work, expected run time and processors above 0"),
        ([(0, 6, 6, 1), (90_000, 3, 3, 2)], "all jobs are of the same work, expected at least two different ones"),
    ],
)
def test_logs_that_cannot_be_fitted(jobs, message):
    with pytest.raises(ValueError, match=message):
        fit_downey(trace_of(jobs, 4))


def test_a_trace_of_the_model():
    trace = sl.model_trace("downey", jobs=500, machine=64, seed=3, work=(100, 1e4), sigma=(0, 1))
    drawn = downey(500, 64, 3, work=(100, 1e4), sigma=(0, 1))
    assert (trace.title, trace.source, trace.procs) == ("Downey model", "model", 64)
    assert trace.history == ("500 jobs for 64 processors, seed 3, work (100, 10000.0), sigma (0, 1)",)
    for column in ("submit_time", "run_time", "requested_procs", "parallelism", "sigma"):
        assert trace.jobs[column].tolist() == drawn[column].tolist()
    laws = trace.laws()  # moldable as they are
    assert laws.moldable.all()
    assert laws.a.tolist() == trace.jobs["parallelism"].tolist()
    assert trace.effective_load() < trace.offered_load()
    assert "work" not in trace.jobs  # run time x speedup, also after the trace was scaled
    assert sl.model_trace("downey", jobs=5).procs == 256
    fitted = sl.workload.fit_downey(sl.model_trace("downey", jobs=2000, machine=64))
    assert len(sl.model_trace("downey", jobs=50, **fitted)) == 50
    with pytest.raises(ValueError, match="unknown parameter of downey 'table'; known: work, rates, sigma"):
        sl.model_trace("downey", table="ctc")
