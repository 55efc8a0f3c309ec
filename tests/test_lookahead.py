"""DPSA beyond its twin: the paper's example, bounds, audit, what is refused."""

import numpy as np
import pytest
from workloads import arrays, crowd, trace_of

import schedlab as sl
from schedlab.schemes.rigid import Arrivals

pytestmark = pytest.mark.reduced

# Specification, section 5.3, GRU-6: P = 7, two running jobs, then J1 to J4.
EXAMPLE = [(0, 2, 2, 4), (0, 7, 7, 3), (0, 2, 2, 6), (0, 4, 4, 3), (0, 5, 5, 2), (0, 4, 4, 2)]


@pytest.mark.parametrize("variant", ["p", "n", "w"])
@pytest.mark.parametrize("search", ["exact", "depth-first"])
def test_the_example_of_the_paper(variant, search):
    schedule = sl.simulate(trace_of(EXAMPLE, 7), sl.DPSA(variant=variant, search=search)).validate()
    assert schedule.start.tolist() == [0, 0, 7, 9, 2, 2]
    assert schedule.end.max() == 13
    assert schedule.jobs["slowdown"].to_numpy()[2:].mean() == pytest.approx(2.6625)


def test_names():
    assert str(sl.DPSA()) == "DPSAn"
    assert str(sl.DPSA(variant="w", order="sjf")) == "DPSAw-SJF"
    assert str(sl.DPSA(objective="slowdown", depth=50)) == "DPSAn (worth slowdown, depth 50)"
    assert str(sl.DPSA(variant="p", budget=100)) == "DPSAp (budget 100)"
    assert sl.simulate(trace_of(EXAMPLE, 7), "dpsaw").scheme == sl.DPSA(variant="w")


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"variant": "x"}, ValueError, "unknown variant 'x'; known: p, n, w"),
        ({"search": "random"}, ValueError, "unknown search 'random'; known: exact, depth-first"),
        ({"objective": "best"}, ValueError, "unknown objective 'best'; known: list, slowdown, or a function of"),
        ({"objective": lambda size: size}, ValueError, r"objective <lambda> takes \(size\), expected any of \(now, "),
        ({"depth": 0}, ValueError, "depth must be a whole number of at least 1, got 0"),
        ({"depth": 2.5}, ValueError, "depth must be a whole number of at least 1, got 2.5"),
        ({"budget": -1}, ValueError, "budget must be a whole number of at least 0, got -1"),
        ({"budget": True}, ValueError, "budget must be a whole number of at least 0, got True"),
        ({"seconds": 0}, ValueError, "seconds must be greater than 0 and at most 1,000,000, got 0"),
        ({"seconds": -1.5}, ValueError, "seconds must be greater than 0 and at most 1,000,000, got -1.5"),
        ({"seconds": float("inf")}, ValueError, "seconds must be greater than 0 and at most 1,000,000, got inf"),
        ({"seconds": float("nan")}, ValueError, "seconds must be greater than 0 and at most 1,000,000, got nan"),
        ({"seconds": "1"}, ValueError, "seconds must be greater than 0 and at most 1,000,000, got '1'"),
        ({"objective": "slowdown", "budget": 9}, ValueError, "an objective needs the exact search"),
    ],
)
def test_what_is_refused(settings, error, message):
    with pytest.raises(error, match=message):
        sl.DPSA(**settings)


@pytest.mark.parametrize("scheme", [sl.DPSA(), sl.DPSA(variant="p", budget=3)], ids=str)
def test_an_empty_log_is_refused(scheme):
    trace = trace_of(EXAMPLE, 7)
    with pytest.raises(ValueError, match="a test has no jobs to simulate"):
        sl.simulate(sl.Trace(**{**vars(trace), "table": trace.table.iloc[:0]}), scheme)


def test_bounds_beyond_what_an_int64_can_count_bound_nothing():
    starts = [
        sl.simulate(trace_of(EXAMPLE, 7), scheme).start.tolist()
        for scheme in (sl.DPSA(), sl.DPSA(depth=10**30), sl.DPSA(budget=10**30), sl.DPSA(depth=np.int64(9)))
    ]
    assert all(start == starts[0] for start in starts)


def jobs_of(seed):
    return Arrivals(*arrays(crowd(seed, jobs=60, procs=16)))


def test_an_exact_search_misses_nothing():
    found = sl.DPSA().audit(jobs_of(1), 16)
    assert found["decisions"] > 0
    assert (found["missed"], found["lost"]) == (0, 0)
    assert found["best"] > 0


def test_what_the_sets_cost_is_counted():
    # At 2 four processors are free and J2 to J4 (3, 2, 2) wait behind J1: in this order taking whatever fits ends with
    # three of them, so that tables are made; a row for each of three jobs and two more, of two words. At 7 nobody
    # fits behind J1, and at 9 J2, the last, is the head.
    jobs = Arrivals(*arrays(EXAMPLE))
    found = sl.DPSA(variant="p").audit(jobs, 7)
    assert {name: found[name] for name in ("decisions", "greedy", "longest", "table")} == {
        "decisions": 1,
        "greedy": 0,
        "longest": 3,
        "table": 5 * 2 * 8,
    }
    assert (found["missed"], found["lost"], found["best"]) == (0, 0, 4)
    found = sl.DPSA(variant="n").audit(jobs, 7)
    assert (found["decisions"], found["greedy"], found["table"]) == (1, 1, 0)


def test_a_larger_budget_misses_less():
    lost = [sl.DPSA(variant="p", budget=budget).audit(jobs_of(2), 16)["lost"] for budget in (0, 1, 10_000)]
    assert lost[0] > lost[1] > lost[2] == 0


def test_a_clock_bounds_the_search():
    # Some 60 equal jobs that fill no hole exactly: the number of sets has no end within the life of the universe.
    jobs = [(0, 100, 100, 31), (0, 9, 9, 64), *((0, 50, 60, 2 * i % 7 * 2 + 4) for i in range(60))]
    trace = trace_of(jobs, 64)
    schedule = sl.simulate(trace, sl.DPSA(variant="p", seconds=0.05)).validate()
    assert (schedule.start >= 0).all()


def test_the_objective_of_expected_slowdown_favours_short_jobs():
    # Of the two jobs that fill the hole alike, the shorter one has the larger slowdown after the same wait.
    jobs = [(0, 10, 10, 6), (0, 1, 1, 4), (0, 10, 10, 10), (0, 8, 8, 4), (0, 2, 2, 4)]
    plain = sl.simulate(trace_of(jobs, 10), sl.DPSA()).start.tolist()
    ranked = sl.simulate(trace_of(jobs, 10), sl.DPSA(objective="slowdown")).start.tolist()
    assert plain[3] == 1
    assert ranked[4] == 1
    assert ranked[3] > 1


def test_an_objective_that_gives_nan_is_an_error():
    with pytest.raises(ValueError, match="objective <lambda> gives nan, expected a number"):
        sl.simulate(trace_of(EXAMPLE, 7), sl.DPSA(objective=lambda now, submit, estimate, procs: np.nan))
