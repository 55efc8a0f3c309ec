"""
The model of Jann et al.: the fitter against its formulas, the kept tables against the printed ones, the jobs drawn.

The printed tables are those of the specification, section 7.3. Statistical tests have fixed seeds and tolerances of 4
standard errors (one false alarm in 16,000), or 5 where dozens of numbers are compared.
"""

import heapq
import itertools
import math

import numpy as np
import pandas as pd
import pytest
from conftest import LOGS
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from workloads import trace_of

import schedlab as sl
from schedlab._runtime import paths
from schedlab._runtime.streams import Streams
from schedlab.workload import swf
from schedlab.workload.models.downey import downey
from schedlab.workload.models.jann import (
    RANGES,
    HyperErlang,
    JannRange,
    JannTable,
    fit_jann,
    jann,
    jann_table,
    read_jann,
)

# range | arrival: n l1 l2 p mean cv2 | service: the same. The log's jobs that ended before 12 September 1996.
CTC = """
1 | 1 1.4784e-04 2.3104e-03 0.0696 873 7.80 | 4 1.1902e-04 6.4799e-03 0.3872 13391 2.05
2 | 1 3.6082e-05 8.7181e-04 0.0971 3728 9.91 | 7 1.5892e-04 6.5935e-02 0.3037 13452 2.72
3-4 | 1 6.2116e-05 1.3441e-03 0.1305 2747 8.09 | 5 1.4277e-04 3.2435e-02 0.2062 7344 4.63
5-8 | 1 7.1596e-05 1.6624e-03 0.2183 3520 5.92 | 2 9.5222e-05 3.0522e-03 0.2223 5179 4.50
9-16 | 1 6.6933e-05 7.1386e-04 0.1083 2868 5.31 | 3 1.1385e-04 2.0474e-02 0.3140 8373 3.15
17-32 | 1 3.3678e-05 3.8022e-04 0.1243 5995 5.44 | 3 1.0485e-04 2.0821e-02 0.3174 9179 3.11
33-64 | 1 5.5242e-05 1.8114e-03 0.4505 8458 3.13 | 3 1.0055e-04 1.1850e-02 0.4186 12637 2.11
65-128 | 2 3.2752e-05 5.8829e-04 0.5107 32850 1.66 | 5 1.2294e-04 3.1954e-02 0.3023 12405 2.90
129-256 | 2 5.8074e-06 6.3875e-04 0.1942 69413 6.17 | 1 2.9251e-04 1.3475e-02 0.3784 1340 3.93
257-322 | 1 1.5761e-06 1.9591e-05 0.1557 141860 5.45 | 6 1.4161e-04 1.7567e-01 0.2110 8967 4.50
"""
KTH = """
1 | 1 1.2137e-04 2.6073e-03 0.1014 1180 9.08 | 1 2.0503e-05 2.0767e-04 0.1226 10207 4.99
2 | 1 7.0129e-05 1.7034e-03 0.1681 2886 7.28 | 1 2.2362e-05 5.3758e-04 0.0940 5889 10.02
3-4 | 1 6.2780e-05 1.0424e-03 0.1064 2551 7.54 | 1 2.7343e-05 6.9002e-04 0.0865 4488 10.68
5-8 | 1 1.2677e-04 2.4912e-03 0.2711 2431 4.75 | 1 2.6379e-05 2.4910e-04 0.1774 10027 4.33
9-16 | 1 1.1732e-04 2.8547e-03 0.3155 2929 4.36 | 1 2.4417e-05 1.6440e-04 0.1758 12212 3.36
17-32 | 1 4.9346e-05 5.6822e-04 0.3163 7613 3.56 | 1 2.3434e-05 2.8215e-04 0.1654 10018 5.21
33-64 | 1 1.1345e-05 1.2765e-04 0.0701 13465 5.64 | 1 2.5465e-05 4.1516e-04 0.1244 6993 7.05
65-128 | 1 3.5116e-06 6.2438e-05 0.0630 32940 8.86 | 1 9.6745e-05 2.1418e-04 0.4804 7391 1.29
"""
PRINTED = {"ctc": CTC, "kth": KTH}


def cdf(law, x):
    below = [stats.gamma.cdf(x, law.order, scale=1 / rate) for rate in (law.lambda1, law.lambda2)]
    return law.p * below[0] + (1 - law.p) * below[1]


# --- The laws and their fitter ------------------------------------------------------------------------------
@st.composite
def laws(draw, order=None):
    order = draw(st.integers(1, 8)) if order is None else order
    slow = 10 ** draw(st.floats(-6, -1))
    return HyperErlang(order, slow, slow * draw(st.floats(1.1, 1000)), draw(st.floats(0.01, 0.99)))


@given(laws())
def test_a_fitted_law_has_the_moments_asked_for(law):
    fitted = HyperErlang.from_moments(*law.moments)
    np.testing.assert_allclose(fitted.moments, law.moments, rtol=1e-9)
    assert fitted.order <= law.order or law.lambda2 < 1.5 * law.lambda1  # nearly one Erlang law: a question of rounding


@given(st.lists(st.integers(1, 100_000), min_size=3, max_size=30, unique=True))
def test_the_moments_of_a_sample_can_be_fitted(sample):
    moments = [float(np.mean(np.array(sample, float) ** k)) for k in (1, 2, 3)]
    m1, m2, m3 = moments
    assume(m2 / m1**2 > 1.05)  # laws that vary less, or are nearer to two values, may need an order above 100
    assume(m1 * m3 / m2**2 > 1.05)
    fitted = HyperErlang.from_moments(*moments)
    np.testing.assert_allclose(fitted.moments, moments, rtol=1e-9)


@given(laws())
def test_moments_are_those_of_the_mixture(law):
    for k, moment in enumerate(law.moments, start=1):
        parts = [stats.gamma.moment(k, law.order, scale=1 / rate) for rate in (law.lambda1, law.lambda2)]
        assert moment == pytest.approx(law.p * parts[0] + (1 - law.p) * parts[1])
    assert law.mean == law.moments[0]
    assert law.cv2 == pytest.approx(law.moments[1] / law.mean**2 - 1)


@pytest.mark.parametrize(
    ("order", "moments"),
    [
        (1, (10.0, 200.0, 6000.0)),  # an exponential law: both rates alike
        (1, (50266.48531945268, 5053439092.741505, 762055865904117.6)),
        (5, (27.526273825892545, 909.2349008856206, 35038.98839537022)),
    ],
)
def test_the_limit_of_an_order_is_fitted_in_spite_of_rounding(order, moments):
    # One Erlang law except for the last digit, which makes two of it with moments of their own.
    fitted = HyperErlang.from_moments(*moments)
    assert fitted.order == order + 1
    np.testing.assert_allclose(fitted.moments, moments, rtol=1e-9)


@pytest.mark.parametrize(
    ("moments", "message"),
    [
        ((10, 100, 1000), r"no positive law has the moments 10, 100, 1000; feasible are m1 > 0, m2 > m1\*\*2 and"),
        ((10, 90, 1000), r"no positive law has .*; feasible are m1 > 0, m2 > m1\*\*2 and m1 \* m3 > m2\*\*2"),
        ((10, 200, 3900), r"no positive law has"),
        ((-10, 200, 6000), r"no positive law has"),
        ((10, 100.5, 1020), r"no hyper-Erlang law up to order 100 .*variation 0.005\); feasible are at least 1 / 100"),
        ((float("nan"), 1, 1), r"no positive law has"),
        ((1e200, 1e300, 1e308), r"no positive law has"),
    ],
)
def test_moments_that_no_law_has(moments, message):
    with pytest.raises(ValueError, match=message):
        HyperErlang.from_moments(*moments)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((0, 1, 1, 0.5), "order must be at least 1, got 0"),
        ((1.5, 1, 1, 0.5), "order must be a whole number, got 1.5"),
        ((1, 0, 1, 0.5), "lambda1 must be greater than 0, got 0"),
        ((1, 1, math.inf, 0.5), "lambda2 must be greater than 0, got inf"),
        ((1, 1, 1, 1.5), "p must be between 0 and 1, got 1.5"),
        ((1, 1, 1, math.nan), "p must be between 0 and 1, got nan"),
    ],
)
def test_laws_that_cannot_be(numbers, message):
    with pytest.raises(ValueError, match=message):
        HyperErlang(*numbers)


@pytest.mark.parametrize("law", [each.service for each in jann_table("ctc").ranges], ids=lambda law: str(law.order))
def test_draws_follow_the_law(law):
    drawn = law.draw(20_000, seed=1)
    # Kolmogorov's critical value for one false alarm in 16,000, since there are ten laws.
    assert stats.kstest(drawn, lambda x: cdf(law, x)).statistic < 2.28 / math.sqrt(drawn.size)
    m1, m2, _ = law.moments
    assert drawn.mean() == pytest.approx(m1, abs=4 * math.sqrt((m2 - m1**2) / drawn.size))
    assert np.array_equal(drawn[:100], law.draw(100, seed=1))
    assert not np.array_equal(drawn[:100], law.draw(100, seed=2))


# --- The tables ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("which", PRINTED)
def test_kept_tables_have_the_printed_digits(which):
    table = jann_table(which)
    printed = [[part.split() for part in line.split("|")] for line in PRINTED[which].strip().splitlines()]
    assert len(table.ranges) == len(printed)
    for each, (label, *laws_) in zip(table.ranges, printed, strict=True):
        assert [each.label] == label
        for law, (order, lambda1, lambda2, p, mean, cv2) in zip((each.arrival, each.service), laws_, strict=True):
            assert str(law.order) == order
            assert [f"{rate:.4e}" for rate in (law.lambda1, law.lambda2)] == [
                f"{float(rate):.4e}" for rate in (lambda1, lambda2)
            ]
            assert (f"{law.p:.4f}", f"{law.mean:.0f}", f"{law.cv2:.2f}") == (p, mean, cv2)


def test_kth_has_the_printed_shares_of_jobs():
    rates = np.array([1 / each.arrival.mean for each in jann_table("kth").ranges])
    printed = np.array([0.329, 0.134, 0.152, 0.160, 0.133, 0.051, 0.029, 0.011])
    # A range's share of the jobs is its share of the rates, but for when its first and last jobs came in the year.
    np.testing.assert_allclose(rates / rates.sum(), printed, atol=0.008)


@pytest.mark.traces
def test_kept_tables_are_rebuilt_from_the_logs_bit_for_bit(tmp_path):
    records = swf.cached_log(f"{LOGS}/CTC-SP2-1996-3.1-cln.swf.gz").records
    end = records["submit_time"] + records["wait_time"] + records["run_time"]
    ctc = records[end < 6_677_640]  # 12 September 1996, 0:00 EDT
    kth = sl.load_trace("KTH-SP2-1996-2").cut_at_estimates().jobs
    assert (len(ctc), len(kth)) == (17_432, 28_481)
    gap = float(kth["submit_time"].iloc[-1] - kth["submit_time"].iloc[0]) / (len(kth) - 1)
    for name, jobs, ranges, factor in (("ctc", ctc, RANGES, 1), ("kth", kth, RANGES[:8], gap / (80 * 86_400 / 17_440))):
        fitted = fit_jann(jobs.assign(requested_procs=jobs["allocated_procs"]), ranges)
        (fitted if factor == 1 else fitted.scale_arrivals(factor)).to_csv(tmp_path / name)
        assert (tmp_path / name).read_bytes() == (paths.data_dir() / f"jann-{name}.csv").read_bytes()


@given(st.lists(laws(), min_size=2, max_size=12))
def test_a_written_table_is_read_back(tmp_path_factory, drawn):
    pairs = list(itertools.pairwise(drawn))[: len(RANGES)]
    table = JannTable("mine", tuple(JannRange(*sizes, *pair) for sizes, pair in zip(RANGES, pairs, strict=False)))
    path = tmp_path_factory.mktemp("tables") / "mine.csv"
    table.to_csv(path)
    assert read_jann(path) == jann_table(str(path)) == jann_table(path) == table
    assert hash(read_jann(path)) == hash(table)


HEADER = (
    "smallest,largest,arrival_order,arrival_lambda1,arrival_lambda2,arrival_p,"
    "service_order,service_lambda1,service_lambda2,service_p"
)
GOOD = "1,1,1,1e-4,1e-3,0.1,2,1e-4,1e-3,0.5"


def row(number, value):
    """Return a line of the table with another field."""
    fields = GOOD.split(",")
    fields[number - 1] = value
    return f"{HEADER}\n{','.join(fields)}\n"


FEW = trace_of([(0, 5, 5, 1), (3, 6, 6, 1), (9, 9, 9, 1), (10, 100, 100, 1), (20, 7, 7, 3)], 4)
EQUAL = trace_of([(t, 5, 5, 1) for t in (0, 1, 5, 9, 30)], 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"mine.csv:1: the header is '', expected '{HEADER}'"),
        (f"{HEADER},more\n{GOOD},1\n", "mine.csv:1: the header is "),
        (f"{HEADER}\n", "mine.csv: no range, expected at least one line after the header"),
        (f"{HEADER}\n{GOOD}\n\n", "mine.csv:3: 0 fields, expected 10"),
        (f"{HEADER}\n{GOOD},3\n", "mine.csv:2: 11 fields, expected 10"),
        (row(10, "5"), "mine.csv:2: field 10 (service_p) is '5', expected a probability, 0 to 1"),
        (row(4, "abc"), "mine.csv:2: field 4 (arrival_lambda1) is 'abc', expected a number greater than 0"),
        (row(4, "nan"), "mine.csv:2: field 4 (arrival_lambda1) is 'nan', expected a number greater than 0"),
        (row(3, "1.5"), "mine.csv:2: field 3 (arrival_order) is '1.5', expected a whole number from 1 to"),
        (f"{HEADER}\n{GOOD}\n{GOOD}\n", "mine.csv:3: field 1 (smallest) is 1, expected more than 1, where the"),
        (row(1, "4"), "mine.csv:2: field 2 (largest) is 1, expected at least smallest, 4"),
        (f"{HEADER}\n\xe9{GOOD}\n".encode("latin-1"), "mine.csv:2: byte 0xe9 is not UTF-8, expected UTF-8 text"),
        (f'{HEADER}\n"{"7" * 200_000}', "mine.csv:2: field larger than field limit"),
        (row(2, "16777217"), "expected a whole number from 1 to 16,777,216"),
        (row(1, "9" * 5_000), f"is '{'9' * 60}...', expected a whole number"),
        (row(5, "1e-300"), "expected a number greater than 0, from 2^-53"),
        ("x" * 9_000, f"the header is '{'x' * 196}..., expected"),
    ],
    ids=lambda value: str(value)[-40:],
)
def test_a_bad_table_says_where(tmp_path, text, message):
    path = tmp_path / "mine.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError) as error:
        read_jann(path)
    assert type(error.value) is ValueError
    assert message in str(error.value)
    assert len(str(error.value)) < 500


def test_a_table_of_an_odd_name_shows_it_plainly(tmp_path):
    path = tmp_path / "a\x1b[2Jb.csv"
    path.write_text(f"{HEADER}\n{GOOD}\n")
    assert repr(read_jann(path)) == r"<JannTable a\x1b[2Jb: 1 ranges, sizes up to 1>"
    path.write_text("")
    with pytest.raises(ValueError, match=r"^a\\x1b\[2Jb.csv:1: the header"):
        read_jann(path)


LAW = HyperErlang(1, 1, 2, 0.5)
OVERLAPPING = (JannRange(3, 4, LAW, LAW), JannRange(4, 5, LAW, LAW))
WIDE = JannTable("wide", jann_table("ctc").ranges[3:])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: JannTable("none", ()), "a table needs at least one range"),
        (lambda: JannTable("two", OVERLAPPING), "ranges must go up and not overlap, got 4-5 after 3-4"),
        (lambda: JannRange(3, 2, LAW, LAW), "largest must be at least smallest, 3, got 2"),
        (lambda: jann_table("kth").scale_arrivals(0), "factor must be greater than 0, got 0"),
        (lambda: jann_table("jann"), "unknown table 'jann'; known: ctc, kth, the path"),
        (lambda: jann_table("nowhere.csv"), "nowhere.csv"),
        (lambda: WIDE.on_machine(4), "no range of wide fits on 4 processors; the least size is 5"),
        (lambda: sl.model_trace("jann", sizes="largest"), "unknown sizes 'largest'; known: uniform, upper, weighted"),
        (lambda: sl.model_trace("jann", classes="batch"), "unknown parameter of jann 'classes'; known: table, sizes"),
        (lambda: sl.model_trace("jann", jobs=0), "jobs must be at least 1, got 0"),
        (lambda: fit_jann(FEW), r"arrivals of range 3-4 \(1 jobs\): no value; give ranges= that join it"),
        (lambda: fit_jann(FEW, ((1, 2),)), "1 jobs fall into no range, the first with 3 processors; give other ra"),
        (lambda: fit_jann(EQUAL), r"run times of range 1 \(5 jobs\): no positive law has the moments 5, 25"),
        (lambda: fit_jann(FEW.jobs.iloc[:0]), "the log has no jobs to fit to"),
    ],
)
def test_what_cannot_be_is_said(make, message):
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        make()


def test_a_machine_cuts_a_table():
    table = jann_table("ctc")
    assert table.procs == 322
    assert [each.label for each in table.on_machine(8).ranges] == ["1", "2", "3-4", "5-8"]
    assert [each.label for each in table.on_machine(12).ranges] == ["1", "2", "3-4", "5-8", "9-12"]
    assert table.on_machine(322) == table.on_machine(1000) == table


# --- Fitting to a log ---------------------------------------------------------------------------------------
def test_fit_has_the_moments_of_the_log_and_finds_the_laws_it_was_drawn_from():
    trace = sl.model_trace("jann", jobs=20_000, machine=100, seed=3, table="kth")
    fitted = sl.workload.fit_jann(trace)
    assert [each.label for each in fitted.ranges] == ["1", "2", "3-4", "5-8", "9-16", "17-32", "33-64", "65-100"]
    assert fitted.name == "fitted to Jann model (KTH, not Jann's numbers)"
    for each in fitted.ranges:
        jobs = trace.jobs[trace.jobs["requested_procs"].between(each.smallest, each.largest)]
        for law, values in ((each.arrival, jobs["submit_time"].diff().dropna()), (each.service, jobs["run_time"])):
            np.testing.assert_allclose(law.moments, [(values.astype(float) ** k).mean() for k in (1, 2, 3)], rtol=1e-9)
    again = sl.model_trace("jann", jobs=100, table=fitted)
    assert again.name == "Jann model (fitted to Jann model (KTH, not Jann's numbers))"
    assert again.procs == 100
    n = 200_000
    table = JannTable("one", jann_table("ctc").ranges[4:5])
    (each,) = fit_jann(jann(n, seed=4, table=table), RANGES).ranges
    for fitted, law in ((each.arrival, table.ranges[0].arrival), (each.service, table.ranges[0].service)):
        assert fitted.mean == pytest.approx(law.mean, abs=4 * law.mean * math.sqrt(law.cv2 / n))
        assert fitted.order == law.order
        assert fitted.lambda1 == pytest.approx(law.lambda1, rel=0.1)


# --- The jobs -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 50, 3000])
def test_ranges_are_renewal_processes_merged_by_time(n):
    # Literally: draw every range's clock far too long, and merge all of them.
    clocks = []
    for i, each in enumerate(jann_table("ctc").ranges):
        gaps = each.arrival.draw(3 * n + 100, Streams(5, i)("gap"))
        clocks.append([(time, i) for time in itertools.accumulate(gaps.tolist())])
    merged = list(itertools.islice(heapq.merge(*clocks), n))
    jobs = jann(n, seed=5)
    assert [int(time) for time, _ in merged] == jobs["submit_time"].tolist()
    range_of = np.array([i for _, i in merged])
    for i, (low, high) in enumerate(RANGES):
        mine = jobs[range_of == i]
        assert mine["requested_procs"].between(low, high).all()
        drawn = jann_table("ctc").ranges[i].service.draw(n, Streams(5, i)("service"))[: len(mine)]
        assert mine["run_time"].tolist() == np.maximum(1, np.rint(drawn)).tolist()


def shares(jobs, smallest, largest):
    size = jobs["requested_procs"]
    mine = size[size.between(smallest, largest)]
    return mine.value_counts(normalize=True).sort_index(), len(mine)


def test_sizes_inside_their_ranges():
    n = 100_000
    for smallest, largest in RANGES[:6]:
        share, count = shares(jann(n, seed=7, machine=32), smallest, largest)
        assert share.index.tolist() == list(range(smallest, largest + 1))
        each = 1 / (largest - smallest + 1)
        np.testing.assert_allclose(share, each, atol=5 * math.sqrt(each * (1 - each) / count) + 1e-12)
    assert set(jann(n, seed=7, sizes="upper")["requested_procs"]) == {largest for _, largest in RANGES}
    weighted = jann(n, seed=7, sizes="weighted")
    for sizes, q in (((3, 4), 0.68), ((5, 8), 0.54), ((9, 16), 0.36)):
        share, count = shares(weighted, *sizes)
        assert share.iloc[-1] == pytest.approx(q, abs=4 * math.sqrt(q * (1 - q) / count))
        others = (1 - q) / (sizes[1] - sizes[0])
        np.testing.assert_allclose(share.iloc[:-1], others, atol=5 * math.sqrt(others / count))
    share, count = shares(weighted, 17, 32)  # not measured: uniform
    np.testing.assert_allclose(share, 1 / 16, atol=5 * math.sqrt(1 / 16 / count))


@pytest.mark.parametrize("model", [jann, downey])
def test_the_same_seed_gives_the_same_jobs_and_more_jobs_leave_the_first_unchanged(model):
    many = model(5000, seed=8)
    for n in (1, 2, 17, 1000, 5000):
        pd.testing.assert_frame_equal(model(n, seed=8), many.head(n))
    assert not model(100, seed=9).equals(many.head(100))
    pd.testing.assert_frame_equal(model(50, seed=np.random.default_rng(5)), model(50, seed=np.random.default_rng(5)))


def test_a_smaller_machine_lacks_the_wide_jobs_and_nothing_else():
    all_jobs = jann(2000, seed=10)
    narrow = all_jobs[all_jobs["requested_procs"] <= 16].reset_index(drop=True)
    pd.testing.assert_frame_equal(jann(len(narrow), machine=16, seed=10).reset_index(drop=True), narrow)
    assert jann(500, machine=12, seed=10)["requested_procs"].max() == 12


def test_the_table_of_jobs():
    jobs = jann(300, seed=1)
    assert list(jobs.columns) == ["submit_time", "run_time", "requested_procs"]
    assert (jobs.dtypes == np.int64).all()
    assert jobs.index.tolist() == list(range(1, 301))
    assert jobs["submit_time"].is_monotonic_increasing
    assert jobs["run_time"].min() >= 1


def test_a_trace_of_the_model():
    trace = sl.model_trace("jann", jobs=400, seed=2)
    assert (trace.title, trace.procs, trace.source) == ("Jann model (CTC)", 322, "model")
    assert trace.history == ("400 jobs for 322 processors, seed 2",)
    assert trace.jobs["run_time"].tolist() == jann(400, seed=2)["run_time"].tolist()
    small = sl.model_trace("jann", jobs=400, machine=40, seed=2, table="kth", sizes="upper")
    assert small.title == "Jann model (KTH, not Jann's numbers)"
    assert small.history == (
        "400 jobs for 40 processors, seed 2, table kth, sizes upper",
        "sizes 65-128 of the table left out: wider than the machine",
    )
