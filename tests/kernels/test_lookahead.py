"""DPSA beyond its twin: the paper's example, bounds, audit, and what is refused."""

import numba
import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from workloads import case_of, crowd, examples, trace_of, workloads

import schedlab as sl
from schedlab.kernels import lookahead as kernel

pytestmark = pytest.mark.reduced

# Specification, section 5.3, GRU-6: P = 7, two running jobs, then J1 to J4.
EXAMPLE = [(0, 2, 2, 4), (0, 7, 7, 3), (0, 2, 2, 6), (0, 4, 4, 3), (0, 5, 5, 2), (0, 4, 4, 2)]


@pytest.mark.parametrize("variant", ["p", "n", "w"])
@pytest.mark.parametrize(
    "settings", [{}, {"search": "depth-first"}, {"depth": 10**30}, {"budget": 10**30}, {"depth": np.int64(9)}], ids=str
)
@pytest.mark.parametrize("events", ["batched", "each"])
def test_the_example_of_the_paper(variant, settings, events):
    # "DPSA starts J3 2, J4 2, J1 7, J2 9: makespan 13, mean slowdown 2.6625". J2 fits alone, yet is left.
    schedule = sl.simulate(trace_of(EXAMPLE, 7), sl.DPSA(variant=variant, **settings), events=events).validate()
    assert schedule.start.tolist() == [0, 0, 7, 9, 2, 2]
    assert schedule.promise.tolist() == [-1, -1, 7, 9, -1, -1]
    assert schedule.end.max() == 13
    assert schedule.jobs["slowdown"].to_numpy()[2:].mean() == pytest.approx(2.6625)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"variant": "x"}, "unknown variant 'x'; known: p, n, w"),
        ({"search": "random"}, "unknown search 'random'; known: exact, depth-first"),
        ({"objective": "best"}, "unknown objective 'best'; known: list, slowdown, or a function of"),
        ({"objective": lambda *size: 0}, r"objective <lambda> takes \(\*size\), expected any of \(now, "),
        ({"depth": 0}, "depth must be a whole number of at least 1, got 0"),
        ({"depth": 2.5}, "depth must be a whole number of at least 1, got 2.5"),
        ({"budget": -1}, "budget must be a whole number of at least 0, got -1"),
        ({"budget": True}, "budget must be a whole number of at least 0, got True"),
        ({"seconds": 0}, "seconds must be greater than 0 and at most 1,000,000, got 0"),
        ({"seconds": -1.5}, "seconds must be greater than 0 and at most 1,000,000, got -1.5"),
        ({"seconds": float("inf")}, "seconds must be greater than 0 and at most 1,000,000, got inf"),
        ({"seconds": float("nan")}, "seconds must be greater than 0 and at most 1,000,000, got nan"),
        ({"seconds": "1"}, "seconds must be greater than 0 and at most 1,000,000, got '1'"),
        ({"objective": "slowdown", "budget": 9}, "an objective needs the exact search"),
    ],
)
def test_what_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        sl.DPSA(**settings)


def case_with(seed):
    return case_of(crowd(seed, jobs=60, procs=16), 16)


@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("variant", ["p", "n"])
def test_an_exact_search_misses_nothing(variant, seed):
    found = sl.DPSA(variant=variant).audit(case_with(seed))
    assert found["decisions"] > 0
    assert (found["missed"], found["lost"]) == (0, 0)
    assert found["best"] > 0


@pytest.mark.parametrize("budget", [None, 3])
def test_an_audit_is_of_the_same_schedule(budget):
    scheme, case = sl.DPSA(variant="w", budget=budget), case_with(3)
    outcome, facts = scheme.audited(case)
    expected = scheme.simulate(case)
    assert outcome.start.tolist() == expected.start.tolist()
    assert outcome.promise.tolist() == expected.promise.tolist()
    assert facts == scheme.audit(case)


def test_what_the_sets_cost_is_counted():
    # At 2 four processors are free and J2 to J4 (3, 2, 2) wait behind J1. Taking whatever fits in this order ends with
    # three of them used, so tables are made: a row for each of the three jobs and two more, of two words. At 7 no job
    # fits behind J1, and at 9 J2, the last job, is the head.
    case = case_of(EXAMPLE, 7)
    found = sl.DPSA(variant="p").audit(case)
    assert (found["decisions"], found["greedy"], found["longest"], found["table"]) == (1, 0, 3, 5 * 2 * 8)
    assert (found["missed"], found["lost"], found["best"]) == (0, 0, 4)
    found = sl.DPSA(variant="n").audit(case)
    assert (found["decisions"], found["greedy"], found["table"]) == (1, 1, 0)


# --- Huge machines ---
MILLION = 1_048_576


def scaled(jobs, factor):
    """Multiply the processors of all jobs: on a machine larger by the same factor the schedule is the same."""
    return [job._replace(procs=job.procs * factor) for job in jobs]


@examples(300)
@given(
    workloads(), st.sampled_from("pnw"), st.sampled_from([64, 4_999, MILLION]), st.sampled_from(["list", "slowdown"])
)
def test_a_machine_and_jobs_that_are_larger_alike_change_nothing(workload, variant, factor, objective):
    jobs, procs = workload
    scheme = sl.DPSA(variant=variant, objective=objective)
    large = scheme.simulate(case_of(scaled(jobs, factor), procs * factor))
    if objective == "list":
        expected = twins.dpsa(jobs, procs, variant)
        assert (large.start.tolist(), large.promise.tolist()) == expected
    else:
        small = scheme.simulate(case_of(jobs, procs))
        assert large.start.tolist() == small.start.tolist()
        assert large.promise.tolist() == small.promise.tolist()


@st.composite
def holes_for_a_few(draw):
    """Draw a machine on which one job leaves a part free, a head that waits for more, and some jobs behind it."""
    procs = draw(st.sampled_from([200, 6_000, MILLION, 2**24]))
    free = draw(st.integers(procs // 4, procs // 2))
    sizes = st.integers(max(1, free // draw(st.integers(2, 9))), free // 2 + 1)
    behind = draw(st.lists(st.tuples(sizes, st.sampled_from([50, 50, 1_000])), min_size=2, max_size=9))
    head = draw(st.integers(free + 1, procs))
    jobs = [(0, 100, 100, procs - free), (1, 9, 9, head), *((1, run, run, size) for size, run in behind)]
    return case_of(jobs, procs)


@examples(600)
@given(holes_for_a_few(), st.sampled_from("pnw"))
def test_the_set_is_the_first_that_a_search_finds_whatever_the_machine(hole, variant):
    exact, search = (sl.DPSA(variant=variant, search=how).simulate(hole) for how in ("exact", "depth-first"))
    assert exact.start.tolist() == search.start.tolist()
    assert exact.promise.tolist() == search.promise.tolist()


@pytest.mark.parametrize("scheme", [sl.DPSA(variant="p"), sl.DPSA(), sl.DPSA(objective="slowdown")], ids=str)
def test_few_jobs_cost_as_little_on_a_huge_machine_as_on_a_small_one(scheme):
    # Six jobs wait in a hole that none of their sets fills: three short and three long, eight totals of each at most.
    sizes = [400_001, 310_007, 300_000, 290_003, 200_009, 190_000]
    jobs = [(0, 100, 100, MILLION // 2), (1, 9, 9, 700_000)]
    jobs += [(1, 50 if i % 2 else 900, 50 if i % 2 else 900, size) for i, size in enumerate(sizes)]
    found = scheme.audit(case_of(jobs, MILLION))
    assert (found["longest"], found["missed"]) == (6, 0)
    assert 0 < found["table"] <= 8 * 2 * 2 * (1 + 2 + 4 + 8)


def test_too_many_sets_to_rank_are_refused(monkeypatch):
    if numba.config.DISABLE_JIT:  # takes minutes for as many as compiled code may list
        monkeypatch.setattr(kernel, "MOST_TOTALS", 2**14)
    # The sums of these sixty sizes give nearly every number of processors, and for each the worthiest set is wanted.
    sizes = [2**23 // 31 + 7 * 3 ** (i % 12) + i for i in range(60)]
    jobs = [(0, 100, 100, 2**23), (1, 9, 9, 2**24), *((1, 50, 50, size) for size in sizes)]
    with pytest.raises(ValueError, match="too many sets to tell apart by what they are worth; give a smaller depth"):
        sl.simulate(trace_of(jobs, 2**24), sl.DPSA(objective="slowdown"))
    assert sl.simulate(trace_of(jobs, 2**24), sl.DPSA(objective="slowdown", depth=12)).validate().start.size == 62


def test_a_larger_budget_misses_less():
    lost = [sl.DPSA(variant="p", budget=budget).audit(case_with(2))["lost"] for budget in (0, 1, 10_000)]
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


def test_an_objective_takes_its_values_by_name():
    jobs = [(0, 10, 10, 6), (0, 1, 1, 4), (0, 10, 10, 10), (0, 8, 8, 4), (0, 2, 2, 4)]  # as above
    by_name, in_order, other = (
        sl.simulate(trace_of(jobs, 10), sl.DPSA(objective=worth)).start.tolist()
        for worth in (
            lambda estimate, procs: 1 / (estimate * procs),
            lambda now, submit, estimate, procs: 1 / (estimate * procs),
            lambda procs, estimate: estimate * procs,
        )
    )
    assert by_name == in_order != other


def test_an_objective_that_gives_nan_is_an_error():
    with pytest.raises(ValueError, match="objective <lambda> gives nan, expected a number"):
        sl.simulate(trace_of(EXAMPLE, 7), sl.DPSA(objective=lambda now, submit, estimate, procs: np.nan))
