"""Conservative backfilling and lookahead on the nodes of a tree: the kernels against naive twins, and small cases."""

import numpy as np
import pytest
import twin_nodes
import twin_tree
from hypothesis import given
from hypothesis import strategies as st
from test_placement import SHARE, outcomes, tree_of, tree_workloads
from workloads import examples, trace_of

import schedlab as sl
from schedlab.machine import ALLOCATIONS

pytestmark = pytest.mark.reduced

NODES = st.sampled_from(list(ALLOCATIONS))
CROWDED = (  # these seldom give different schedules, and then only with many jobs
    {},
    {"repeat": True},
    {"compression": "reservation", "compress_on": "completion"},
    {"compress_on": "completion", "repeat": True},
    {"compression": "rebuild"},
)
PASSES = st.sampled_from([*CROWDED, {"compression": "reservation"}, {"compression": "none"}])


@examples(700)
@given(tree_workloads(overrun=False), NODES, SHARE, st.booleans(), st.integers(0, 3), PASSES, st.booleans())
def test_conservative_on_nodes_is_its_twin(workload, allocation, share, scaled, seed, passes, shortest):
    jobs, k, n, procs = workload
    tree, settings = tree_of(k, n, allocation, share, scaled, seed)
    order = "sjf" if shortest else "fcfs"
    schedule = sl.simulate(trace_of(jobs, procs), sl.Conservative(order, **passes), machine=tree).validate()
    expected = twin_nodes.conservative(jobs, k, n, procs, **settings, **passes, order=order)
    assert outcomes(schedule, "promise") == [tuple(outcome) for outcome in expected]


def crowd(seed, count=60, procs=30):
    """Draw more jobs than hypothesis does, so that the plan grows, on a machine of more nodes than a word has bits."""
    rng = np.random.default_rng(seed)
    estimate = rng.integers(0, 40, count)
    run = np.minimum(estimate, rng.integers(0, 40, count))
    width = np.minimum(rng.geometric(0.15, count), procs)
    return [
        twin_tree.Job(*map(int, row))
        for row in zip(np.sort(rng.integers(0, 60, count)), run, estimate, width, strict=True)
    ]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("k", "n", "procs"), [(2, 7, 100), (3, 4, 81), (5, 3, 70)])
def test_conservative_on_many_nodes_is_its_twin(seed, k, n, procs):
    jobs = crowd(seed, procs=procs)
    for allocation, passes in zip(ALLOCATIONS, CROWDED, strict=True):
        tree, settings = tree_of(k, n, allocation, 0.1, False, seed)
        schedule = sl.simulate(trace_of(jobs, procs), sl.Conservative(**passes), machine=tree).validate()
        expected = twin_nodes.conservative(jobs, k, n, procs, **settings, **passes)
        assert outcomes(schedule, "promise") == [tuple(outcome) for outcome in expected]


@examples(700)
@given(
    tree_workloads(),
    st.sampled_from("pnw"),
    st.sampled_from(["count", "block", "block"]),
    NODES,
    SHARE,
    st.booleans(),
    st.integers(0, 3),
    st.sampled_from([0, 1, 3, 10, 1_000]),
    st.sampled_from([None, None, 1, 3]),
)
def test_lookahead_on_nodes_is_its_twin(workload, variant, reservation, allocation, share, scaled, seed, budget, depth):
    jobs, k, n, procs = workload
    tree, settings = tree_of(k, n, allocation, share, scaled, seed)
    scheme = sl.DPSA(variant, budget=budget, depth=depth, shadow=reservation)
    schedule = sl.simulate(trace_of(jobs, procs), scheme, machine=tree, overrun="keep").validate()
    rules = {"variant": variant, "budget": budget, "depth": depth, "reservation": reservation}
    expected = twin_nodes.dpsa(jobs, k, n, procs, **settings, **rules)
    assert outcomes(schedule, "backfilled", "promise") == [tuple(outcome) for outcome in expected]


def test_a_set_that_fits_the_hole_beats_the_job_that_comes_first():
    """Of four free nodes job 3 leaves one unused, which helps nobody. Jobs 4 and 5 use all of them."""
    jobs = [(0, 10, 10, 4), (1, 10, 10, 8), (2, 5, 5, 3), (2, 5, 5, 2), (2, 5, 5, 2)]
    trace, tree = trace_of(jobs, 8), sl.KaryTree(2, 3)
    first, best = (
        sl.simulate(trace, scheme, machine=tree).validate().start.tolist()
        for scheme in (sl.EASY(shadow="block"), sl.DPSA("p", budget=100, shadow="block"))
    )
    assert first == [0, 10, 2, 20, 20]
    assert best == [0, 10, 20, 2, 2]
