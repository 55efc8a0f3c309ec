"""
The Lublin-Feitelson model against its recipe, its published marginals and a file by its authors' program.

The recipe (specification, section 7.4) is followed literally here, job by job, with scipy's distributions.
Statistical tests have fixed seeds and tolerances of 4 standard errors (one false alarm in 16,000), or 5
where dozens of numbers are compared.
"""

import dataclasses
import gzip
import math
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from workloads import examples

from schedlab._runtime.streams import Streams
from schedlab.workload.models import lublin
from schedlab.workload.models.common import seconds_at
from schedlab.workload.models.lublin import BATCH, INTERACTIVE, TYPELESS, LublinClass, lublin_feitelson

PUBLISHED = {"batch": BATCH, "interactive": INTERACTIVE, "typeless": TYPELESS}
DAY = 86_400

# Up to four draws in ten exceed the limits. An error in redrawing shows here; in the published sets it would be lost.
REDRAWN = dataclasses.replace(TYPELESS, a1=11.5, b1=1.0, a2=130.0, b2=0.085, aarr=25.0, arar=1.0, barr=0.51)


# --- The recipe, literally ----------------------------------------------------------------------------------
def recipe_weights(anum, bnum):
    weight = [None] * 48
    for i in range(11, 59):
        weight[(i - 1) % 48] = stats.gamma.cdf(i + 0.5, anum, scale=bnum) - stats.gamma.cdf(i - 0.5, anum, scale=bnum)
    mean = sum(weight) / 48
    return [w / mean for w in weight]


def recipe_arrivals(log_gaps, weight):
    bucket, points, remainder, time, times = 0, 0.0, 0.0, 0.0, []
    for g in log_gaps:
        points += math.exp(g) / 1800
        while points > weight[bucket]:
            points -= weight[bucket]
            bucket = (bucket + 1) % 48
            time += 1800
        new = points / weight[bucket]
        time += 1800 * (new - remainder)
        remainder = new
        times.append(time)
    return times


def recipe_points(cls, seconds):
    """Return the points of the daily cycle that are paid at some seconds."""
    days, rest = np.divmod(seconds, DAY)
    paid = np.concatenate([[0.0], np.cumsum(recipe_weights(cls.anum, cls.bnum))])
    return 48 * days + np.interp(rest, 1800 * np.arange(49), paid)


def recipe_size_probabilities(cls, procs):
    """Probability of every size 1..procs, element 0 unused."""

    def below(v):  # the two-stage uniform's cumulative probability
        low = np.clip((v - cls.u_low) / (cls.u_med - cls.u_low), 0, 1)
        high = np.clip((v - cls.u_med) / (cls.u_hi - cls.u_med), 0, 1)
        return cls.u_prob * low + (1 - cls.u_prob) * high

    p = np.zeros(procs + 1)
    p[1] += cls.p_serial
    for exponent in range(20):
        p[min(2**exponent, procs)] += cls.p_power2 * (below(exponent + 0.5) - below(exponent - 0.5))
    for size in range(1, procs + 1):
        largest = size == procs  # what comes out larger is cut to procs
        upper = 1.0 if largest else below(math.log2(size + 0.5))
        p[size] += (1 - cls.p_serial - cls.p_power2) * (upper - below(math.log2(size - 0.5)))
    assert p.sum() == pytest.approx(1, abs=1e-12)
    return p


def recipe_run_below(cls, size, log_limit):
    """Probability that the log of the run time of a job of `size` is below `log_limit`."""
    p = np.clip(cls.pa * size + cls.pb, 0, 1)

    def mixture(x):
        return p * stats.gamma.cdf(x, cls.a1, scale=cls.b1) + (1 - p) * stats.gamma.cdf(x, cls.a2, scale=cls.b2)

    return np.minimum(mixture(log_limit) / mixture(12.0), 1)


# specification, section 7.4, column by column: batch, interactive, typeless.
PARAMETERS = """
p_serial 0.2927 0.1541 0.244
p_power2 0.6686 0.625 0.576
u_low 1.2 1 0.8
u_med 5 3 4.5
u_hi 7 5.5 7
u_prob 0.875 0.705 0.86
a1 6.57 3.8351 4.2
b1 0.823 0.6605 0.94
a2 639.1 7.073 312
b2 0.0156 0.6856 0.03
pa -0.003 -0.0118 -0.0054
pb 0.6986 0.9156 0.78
aarr 6.0415 6.5510 10.2303
barr 0.8531 0.6621 0.4871
anum 6.1271 8.9186 8.1737
bnum 5.2740 3.6680 3.9631
arar 1.0519 0.9797 1.0225
queue 1 0 -1
"""


def test_published_parameters_are_frozen_and_hashable():
    rows = [line.split() for line in PARAMETERS.strip().splitlines()]
    for column, cls in enumerate((BATCH, INTERACTIVE, TYPELESS), start=1):
        assert dataclasses.asdict(cls) == {row[0]: float(row[column]) for row in rows}
    with pytest.raises(dataclasses.FrozenInstanceError):
        BATCH.u_hi = 8
    assert len({BATCH, INTERACTIVE, TYPELESS, LublinClass(**dataclasses.asdict(BATCH))}) == 3


# --- Arrivals -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", PUBLISHED)
def test_weights_follow_the_recipe(name):
    cls = PUBLISHED[name]
    weights = lublin._cycle(cls.anum, cls.bnum)
    weights /= weights.mean()
    np.testing.assert_allclose(weights, recipe_weights(cls.anum, cls.bnum), rtol=1e-12)
    # Lowest before dawn, highest around noon, in half hours: the cycle is not shifted around the clock.
    assert 8 <= np.argmin(weights) <= 10
    assert 24 <= np.argmax(weights) <= 30


@pytest.mark.parametrize("name", PUBLISHED)
def test_arrivals_follow_the_recipe(name):
    cls = PUBLISHED[name]
    rng = np.random.default_rng(7)
    # Mostly seconds, some days: gaps of many kinds, several in one half hour as well as over midnight.
    log_gaps = np.concatenate([rng.gamma(10, 0.5, 3000), rng.uniform(0, 13, 500), [13.0, 13.0, 0.0]])
    rng.shuffle(log_gaps)
    weights = recipe_weights(cls.anum, cls.bnum)
    walked = recipe_arrivals(log_gaps, weights)
    inverted = seconds_at(np.cumsum(np.exp(log_gaps) / 1800), np.array(weights))
    np.testing.assert_allclose(inverted, walked, rtol=0, atol=1e-4)


@pytest.mark.parametrize("cls", [*PUBLISHED.values(), REDRAWN], ids=[*PUBLISHED, "redrawn"])
def test_gaps_are_truncated_gamma(cls):
    n = 20_000
    arrival = lublin._arrivals(cls, Streams(3, 0), n)
    points = recipe_points(cls, arrival)
    # Below 20 s the points' differences lose digits after years of model time: compare from there on.
    log_gaps = np.log(np.diff(points, prepend=0.0) * 1800)
    assert log_gaps.max() < 13.001
    law = stats.gamma(cls.aarr * cls.arar, scale=cls.barr)
    low, high = law.cdf(3), law.cdf(13)
    log_gaps = log_gaps[log_gaps > 3]
    distance = stats.kstest(log_gaps, lambda g: np.clip((law.cdf(g) - low) / (high - low), 0, 1)).statistic
    assert distance < 1.95 / math.sqrt(log_gaps.size)  # Kolmogorov's 0.1 % point


# --- Sizes --------------------------------------------------------------------------------------------------
ON_MACHINE = [
    ("typeless", 128, TYPELESS),
    ("typeless", 256, dataclasses.replace(TYPELESS, u_med=5.5, u_hi=8)),
    ("typeless", 100, dataclasses.replace(TYPELESS, u_med=math.log2(100) - 2.5, u_hi=math.log2(100))),
    ("batch", 128, BATCH),
    ("batch", 512, dataclasses.replace(BATCH, u_med=6.5, u_hi=9)),
    (INTERACTIVE, 128, INTERACTIVE),
]


def assert_follows(counts, p, least):
    """Compare counts with probabilities by Pearson's chi-square, at its 1e-4 point; rare sizes are put together."""
    n = counts.sum()
    common = n * p >= least
    expected = n * np.append(p[common], 1 - p[common].sum())
    observed = np.append(counts[common], n - counts[common].sum())
    keep = expected > 1e-6
    assert not observed[~keep].any()
    expected, observed = expected[keep], observed[keep]
    assert ((observed - expected) ** 2 / expected).sum() < stats.chi2.ppf(1 - 1e-4, expected.size - 1)


@pytest.mark.parametrize(
    ("classes", "procs", "cls"), ON_MACHINE, ids=lambda v: "interactive" if v is INTERACTIVE else None
)
def test_sizes(classes, procs, cls):
    n = 100_000
    size = lublin_feitelson(n, procs, seed=6, classes=classes)["requested_procs"].to_numpy()
    p = recipe_size_probabilities(cls, procs)
    counts = np.bincount(size, minlength=procs + 1)
    assert_follows(counts, p, least=10)

    def error(q):
        return 4 * math.sqrt(q * (1 - q) / n)

    power_of_two = np.array([k > 0 and k & (k - 1) == 0 for k in range(procs + 1)])
    # No parallel job is rounded to 1 (ULow >= 0.8), so the share of serial jobs is the parameter itself.
    assert np.mean(size == 1) == pytest.approx(cls.p_serial, abs=error(cls.p_serial))
    share = p[power_of_two].sum()
    assert np.mean(power_of_two[size]) == pytest.approx(share, abs=error(share))


def test_sizes_are_cut_to_the_machine_and_wide_jobs_run_longer():
    n = 20_000
    size = lublin_feitelson(n, 20, seed=1, classes=TYPELESS)["requested_procs"]  # UHi = 7: up to 128
    q = recipe_size_probabilities(TYPELESS, 20)[20]
    assert size.max() == 20
    assert (size == 20).mean() == pytest.approx(q, abs=4 * math.sqrt(q * (1 - q) / n))
    jobs = lublin_feitelson(50_000, 256, seed=11)
    median = jobs.groupby(jobs["requested_procs"] >= 64)["run_time"].median()
    assert median[True] > 5 * median[False]


# --- Run times ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("cls", [*PUBLISHED.values(), REDRAWN], ids=[*PUBLISHED, "redrawn"])
def test_run_times_given_the_size(cls):
    jobs = lublin_feitelson(60_000, 128, seed=9, classes=cls)
    for low, high in ((1, 1), (2, 8), (9, 31), (32, 128)):
        group = jobs[jobs["requested_procs"].between(low, high)]
        size = group["requested_procs"].to_numpy()
        assert size.size > 1000
        for seconds in (2, 10, 60, 600, 3600, 18_000, 40_000, 100_000):
            # Rounded to nearest: run_time <= 10 means less than 10.5 s drawn.
            q = recipe_run_below(cls, size, math.log(seconds + 0.5))
            observed = (group["run_time"] <= seconds).sum()
            assert abs(observed - q.sum()) <= 5 * math.sqrt((q * (1 - q)).sum()) + 1e-9, (low, high, seconds)
    assert jobs["run_time"].max() <= round(math.exp(12))


# --- Randomness ---------------------------------------------------------------------------------------------
SETS = ["typeless", "batch", "batch+interactive", REDRAWN, (REDRAWN, TYPELESS, BATCH)]
SET_NAMES = ["typeless", "batch", "batch+interactive", "redrawn", "three"]


@pytest.mark.parametrize("classes", SETS, ids=SET_NAMES)
def test_same_seed_same_table_of_which_more_jobs_leave_the_first_ones_unchanged_and_others_differ(classes):
    one = lublin_feitelson(300, 64, seed=1, classes=classes)
    other = lublin_feitelson(300, 64, seed=2, classes=classes)
    for column in ("submit_time", "run_time", "requested_procs"):
        assert (one[column] != other[column]).mean() > 0.3
    many = lublin_feitelson(4000, 64, seed=1, classes=classes)
    for n in (1, 2, 17, 300, 1000, 3999):
        pd.testing.assert_frame_equal(lublin_feitelson(n, 64, seed=1, classes=classes), many.head(n))


def test_a_generator_serves_as_seed():
    one = lublin_feitelson(50, seed=np.random.default_rng(5))
    rng = np.random.default_rng(5)
    pd.testing.assert_frame_equal(one, lublin_feitelson(50, seed=rng))
    assert not one.equals(lublin_feitelson(50, seed=rng))  # the next number of the same generator


def test_attributes_are_drawn_independently():
    base, slow, wide = (
        lublin_feitelson(5000, seed=4, classes=dataclasses.replace(TYPELESS, **changes))
        for changes in ({}, {"a1": 11.5, "b1": 1.0}, {"p_serial": 0, "p_power2": 0})
    )
    # Nearly every run time is redrawn at least once more often, and nothing but the run times changes.
    columns = ["submit_time", "requested_procs", "queue"]
    pd.testing.assert_frame_equal(base[columns], slow[columns])
    # The second gamma's run times stay the same: redraws do not shift their neighbours.
    assert 0.2 < (base["run_time"] == slow["run_time"]).mean() < 0.6
    # A job's size decides which gamma is used, not which value it returns.
    assert (base["run_time"] == wide["run_time"]).mean() > 0.9


def test_attributes_do_not_share_numbers():
    n = 40_000
    pair = dataclasses.replace(TYPELESS, queue=1), dataclasses.replace(TYPELESS, queue=2)
    first = lublin._arrivals(TYPELESS, Streams(1, 0), n)
    second = lublin._arrivals(TYPELESS, Streams(1, 1), n)
    sizes = lublin._sizes(dataclasses.replace(TYPELESS, p_serial=0, p_power2=0), Streams(1, 0), n, 128)
    runs = lublin._run_times(dataclasses.replace(TYPELESS, pa=0.0), Streams(1, 0), sizes)
    rows = [np.diff(first), np.diff(second), sizes[1:], runs[1:]]
    ranks = np.corrcoef([stats.rankdata(row) for row in rows])
    assert np.all(np.abs(ranks[~np.eye(4, dtype=bool)]) < 4.5 / math.sqrt(n))  # 6 pairs
    jobs = lublin_feitelson(2000, classes=pair)
    assert set(jobs["queue"]) == {1, 2}
    assert jobs["submit_time"].duplicated().mean() < 0.1  # two clocks, not one twice


# --- Two clocks, machines, the table ------------------------------------------------------------------------
def test_two_clocks_are_merged():
    both = lublin_feitelson(6000, 128, seed=12, classes="batch+interactive")
    batch = both[both["queue"] == 1].reset_index(drop=True)
    assert len(batch) > 300
    interactive = both.loc[both["queue"] == 0, "submit_time"]
    assert len(interactive) + len(batch) == 6000
    clock = lublin._arrivals(INTERACTIVE, Streams(12, 1), len(interactive))
    assert interactive.tolist() == np.floor(clock).tolist()
    # The batch clock runs as if it were alone, and none of its earlier jobs is passed over.
    alone = lublin_feitelson(6000, 128, seed=12, classes="batch").reset_index(drop=True)
    pd.testing.assert_frame_equal(batch, alone.head(len(batch)))
    assert alone.loc[len(batch), "submit_time"] >= both["submit_time"].iloc[-1]
    pd.testing.assert_frame_equal(both, lublin_feitelson(6000, 128, 12, (BATCH, INTERACTIVE)))
    # Jobs are shared in proportion to the rates of the clocks.
    many = lublin_feitelson(50_000, 128, seed=12, classes="batch+interactive")["queue"].value_counts()
    spans = [lublin_feitelson(50_000, seed=1, classes=cls)["submit_time"].max() for cls in (BATCH, INTERACTIVE)]
    assert many[1] / many[0] == pytest.approx(spans[1] / spans[0], rel=0.1)


def test_sizes_for_a_machine():
    for cls in PUBLISHED.values():
        assert cls.on_machine(128) == cls  # as published
        big = cls.on_machine(1024)
        assert (big.u_low, big.u_med, big.u_hi) == (cls.u_low, 7.5, 10)
        assert dataclasses.replace(big, u_med=cls.u_med, u_hi=cls.u_hi) == cls  # nothing else changes
    small = TYPELESS.on_machine(8)  # the rule would put UMed at 0.5, below ULow
    assert (small.u_low, small.u_med, small.u_hi) == (0.8, 0.8, 3)
    one = BATCH.on_machine(1)
    assert (one.u_low, one.u_med, one.u_hi) == (0, 0, 0)


@pytest.mark.parametrize("classes", ["typeless", "batch", "batch+interactive"])
@pytest.mark.parametrize("procs", [1, 2, 3, 4, 5, 8, 16])
def test_small_machines_get_serial_and_wide_jobs_as_others_do(classes, procs):
    size = lublin_feitelson(2000, procs, seed=1, classes=classes)["requested_procs"]
    assert size.min() == 1
    assert size.max() >= 2 ** int(math.log2(procs))
    assert procs == 1 or 0.1 < (size == 1).mean() < 0.35


def test_the_table():
    jobs = lublin_feitelson(500)
    assert list(jobs.columns) == ["submit_time", "run_time", "requested_procs", "queue"]
    assert (jobs.dtypes == np.int64).all()
    assert (jobs.index.name, jobs.index.tolist()) == ("job_number", list(range(1, 501)))
    assert set(jobs["queue"]) == {-1}
    # Rounded down: the table's first time is the clock's.
    assert (jobs["submit_time"] == np.floor(lublin._arrivals(TYPELESS, Streams(0, 0), 500))).all()


@examples(120)
@given(
    jobs=st.integers(1, 60),
    procs=st.one_of(st.integers(1, 20), st.integers(1, 2**21), st.sampled_from([127, 128, 129])),
    seed=st.integers(0, 2**70),
    classes=st.sampled_from(["typeless", "batch", "batch+interactive", REDRAWN, (INTERACTIVE, REDRAWN)]),
)
def test_laws(jobs, procs, seed, classes):
    table = lublin_feitelson(jobs, procs, seed, classes)
    assert len(table) == jobs
    assert table["requested_procs"].between(1, procs).all()
    assert table["run_time"].between(1, 162_755).all()
    assert table["submit_time"].between(0, np.inf).all()
    assert table["submit_time"].is_monotonic_increasing


# --- Errors -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "jobs must be at least 1, got 0"),
        ({"jobs": -3}, "jobs must be at least 1, got -3"),
        ({"jobs": 2.5}, "jobs must be a whole number, got 2.5"),
        ({"machine": 0}, "machine must be at least 1, got 0"),
        ({"machine": "all"}, "machine must be a whole number, got 'all'"),
        ({"seed": -1}, "seed must be a whole number of at least 0 or a numpy Generator, got -1"),
        ({"seed": None}, "seed must be a whole number of at least 0 or a numpy Generator, got None"),
        ({"classes": "btach"}, "unknown classes 'btach'; known: batch, batch+interactive, typeless, or"),
        ({"classes": ()}, "unknown classes (); known: batch"),
        ({"classes": (BATCH, "interactive")}, "unknown classes (LublinClass("),
        ({"classes": None}, "unknown classes None"),
    ],
    ids=str,
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError) as error:
        lublin_feitelson(**{"jobs": 5, **options})
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"p_serial": 1.2}, "p_serial must be between 0 and 1, got 1.2"),
        ({"u_prob": -0.1}, "u_prob must be between 0 and 1, got -0.1"),
        ({"p_serial": 0.5, "p_power2": 0.75}, "p_serial + p_power2 must be at most 1, got 1.25"),
        ({"u_med": 0.5}, "expected 0 <= u_low <= u_med <= u_hi <= 60, got u_low=0.8, u_med=0.5, u_hi=7"),
        ({"u_low": -1}, "expected 0 <= u_low"),
        ({"b2": 0}, "b2 must be greater than 0, got 0"),
        ({"pa": math.nan}, "pa must be finite, got nan"),
        ({"a1": 20.0}, "a1, b1: more than half of gamma(20, 0.94) exceeds the model's limit of 12"),
        ({"a2": 800}, "a2, b2: more than half of gamma(800, 0.03) exceeds"),
        ({"aarr": 30}, "aarr * arar, barr: more than half of gamma(30.675, 0.4871) exceeds"),
        ({"bnum": 5000}, "anum, bnum: gamma(8.1737, 5000) has no weight"),
    ],
    ids=str,
)
def test_bad_parameters(changes, message):
    if "bnum" in changes:
        changes = {"anum": 2000.0, **changes}
        message = message.replace("8.1737", "2000")
    with pytest.raises(ValueError) as error:
        dataclasses.replace(TYPELESS, **changes)
    assert str(error.value).startswith(message)


# --- The gamma function -------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", [0.05, 0.5, 1, 4.2, 8.1737, 50, 312, 639.1, 1000])
def test_gamma_cdf_is_scipys(shape):
    law = stats.gamma(shape, scale=0.3)
    quantiles = law.ppf([1e-9, 1e-3, 0.01, 0.1, 0.4, 0.5, 0.6, 0.9, 0.99, 0.999999])
    # On both sides of the seam between series and fraction, and far outside where one of them would fail.
    seam = 0.3 * (shape + 1)
    for x in [*quantiles, seam * (1 - 1e-9), seam, seam * (1 + 1e-9), 1000 * seam, 1e-12]:
        assert lublin._gamma_cdf(x, shape, 0.3) == pytest.approx(law.cdf(x), abs=1e-11)
    assert lublin._gamma_cdf(0.0, shape, 0.3) == 0


# --- A table made by the authors' program -------------------------------------------------------------------
@pytest.mark.traces
def test_the_circulated_file_is_this_model():
    path = Path(os.environ["SCHEDLAB_DATA"]) / "lublin_256.swf.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    with gzip.open(path, "rt") as lines:
        file = np.array([line.split()[:5] for line in lines if not line.startswith(";")], dtype=float)
    submit, run, size = file[:, 1], file[:, 3], file[:, 4].astype(int)
    n = size.size
    assert n == 10_000
    # Typeless, on 256 processors with UMed = UHi - 2.5.
    cls = TYPELESS.on_machine(256)
    p = recipe_size_probabilities(cls, 256)
    assert_follows(np.bincount(size, minlength=257), p, least=5)
    for seconds in (2, 10, 60, 600, 3600, 18_000, 40_000):
        q = recipe_run_below(cls, size, math.log(seconds + 1))  # that program rounds down
        assert abs((run <= seconds).sum() - q.sum()) < 4.5 * math.sqrt((q * (1 - q)).sum())
    # The program's clock drops a fraction of a second at every job, but its walk through the day does not. With half a
    # second per job added back, gaps and times of day agree with the model.
    points = recipe_points(cls, submit + 0.5 * np.arange(1, n + 1))
    gaps = np.log(np.maximum(np.diff(points) * 1800, 1))
    gaps = gaps[gaps > 3]
    law = stats.gamma(cls.aarr * cls.arar, scale=cls.barr)
    low, high = law.cdf(3), law.cdf(13)
    assert stats.kstest(gaps, lambda g: (law.cdf(g) - low) / (high - low)).statistic < 1.95 / math.sqrt(gaps.size)
    # Bursts make the phases dependent; 0.05 is the 99 % point of 200 tables of 10,000 jobs of this model.
    assert stats.kstest(points % 48 / 48, "uniform").statistic < 0.05
