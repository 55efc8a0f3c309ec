"""Jobs on the nodes of a k-ary n-tree: the kernel against its naive twin, the laws, and small cases worked by hand."""

import time
from fractions import Fraction
from itertools import combinations
from math import ceil

import numba
import numpy as np
import pytest
import twin_tree
from hypothesis import given
from hypothesis import strategies as st
from workloads import INSTANTS, among, changed, examples, integers, pick, trace_of

import schedlab as sl
from schedlab.machine import ALLOCATIONS
from schedlab.schedule import ScheduleError
from schedlab.workload.conventions import OVERRUN

pytestmark = pytest.mark.reduced

TREES = st.sampled_from([(2, 1), (2, 2), (2, 3), (3, 2), (4, 2)])
BLOCK = sl.EASY(shadow="block")
ON_NODES = {"overrun": "kill-backfilled"}
SHARES = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5])
SHARE = st.one_of(SHARES, st.lists(SHARES, min_size=3, max_size=3))


@st.composite
def tree_workloads(draw, overrun=True):
    """Draw (jobs, k, n, procs): jobs in submit order, full of ties, with estimates above and below the run times."""
    k, n = draw(TREES)
    procs = draw(integers(max(1, k**n // 2), k**n))
    runs = (*[None] * 26, *range(13))  # None: as long as estimated
    widths = (*range(1, procs + 1), *[1, min(2, procs), procs] * procs)
    jobs = []
    for _ in range(draw(integers(1, 14))):
        (submit, width), (estimate, run) = pick(draw, INSTANTS, widths), pick(draw, range(9), runs)
        run = estimate if run is None else run
        run = run if overrun else min(run, estimate)
        jobs.append(twin_tree.Job(submit, run, estimate, width))
    return sorted(jobs, key=lambda job: job.submit), k, n, procs


@st.composite
def overdue_workloads(draw):
    """Draw similar workloads, rich in kills and ties: wide jobs wait while narrow ones outlive short estimates."""
    k, n = draw(among((2, 2), (2, 3), (3, 2), (4, 2)))
    procs = draw(integers(max(3, k**n - 2), k**n))
    jobs = []
    for _ in range(draw(integers(0, 3))):
        length, width = pick(draw, range(1, 7), range(1, 4))
        jobs.append(twin_tree.Job(0, length, length, width))
    for _ in range(draw(integers(1, 3))):
        submit, length, width = pick(draw, range(5), range(1, 4), range(k, procs + 1))
        jobs.append(twin_tree.Job(submit, length, length, width))
    for _ in range(draw(integers(3, 9))):
        (submit, width), (estimate, run) = pick(draw, range(5), range(1, 4)), pick(draw, range(5), (None, 9, 9))
        jobs.append(twin_tree.Job(submit, estimate if run is None else run, estimate, width))
    return sorted(jobs, key=lambda job: job.submit), k, n, procs


def tree_of(k, n, allocation, share, scaled, seed):
    """Return a tree, and its settings as the twins take them."""
    share = tuple(share[:n]) if isinstance(share, list) else share
    scaled = scaled and not isinstance(share, tuple)
    tree = sl.KaryTree(k, n, None, allocation, speedup=share, scale_estimates=scaled, seed=seed)
    return tree, {"allocation": allocation, "speedup": share, "scale_estimate": scaled, "seed": seed}


def outcomes(schedule, *columns):
    """Return each job's start, end and nodes, and some columns of the schedule, as the twins do."""
    more = (np.asarray(getattr(schedule, name, schedule.jobs.get(name))).tolist() for name in columns)
    nodes = map(expand, schedule.jobs["nodes"])
    return list(zip(schedule.start.tolist(), schedule.end.tolist(), nodes, *more, strict=True))


def expand(text):
    """Turn "0-3 7" into (0, 1, 2, 3, 7)."""
    ends = [part.split("-") for part in text.split()]
    return tuple(node for low, *high in ends for node in range(int(low), int(high[0] if high else low) + 1))


@examples(700)
@given(
    st.one_of(tree_workloads(), overdue_workloads()),
    st.sampled_from(["fcfs", "easy", "easy", "easy"]),
    st.sampled_from(list(ALLOCATIONS)),
    st.sampled_from(["count", "block"]),
    SHARE,
    st.booleans(),
    st.integers(0, 3),
    st.sampled_from(["kill-backfilled", "kill-backfilled", "keep"]),
    st.sampled_from([None, None, "off", "on", "any"]),
)
def test_placement_is_its_twin(workload, scheme, allocation, reservation, share, scaled, seed, overrun, spare):
    jobs, k, n, procs = workload
    tree, settings = tree_of(k, n, allocation, share, scaled, seed)
    spare = None if spare == "any" and overrun == "keep" else spare
    chosen = sl.FCFS() if scheme == "fcfs" else sl.EASY(shadow=reservation, spare=spare)
    schedule = sl.simulate(trace_of(jobs, procs), chosen, machine=tree, overrun=overrun).validate()
    rules = {"scheme": scheme, "reservation": reservation, "spare": spare, "kills": overrun != "keep"}
    expected = twin_tree.placed(jobs, k, n, procs, **settings, **rules)
    assert outcomes(schedule, "killed", "backfilled", "promise") == [tuple(outcome) for outcome in expected]


@examples(200)
@given(tree_workloads(), st.sampled_from(["first-free", "random"]), st.sampled_from(OVERRUN), st.integers(0, 30))
def test_anywhere_on_the_tree_is_the_flat_machine(workload, allocation, overrun, budget):
    jobs, k, n, procs = workload
    trace = trace_of(jobs, procs)
    tree = sl.KaryTree(k, n, allocation=allocation)
    easy = (sl.EASY(order, shadow="block") for order in ("fcfs", "sjf", "wfp3"))
    dpsa = (sl.DPSA(variant, budget=budget, shadow="block") for variant in "pnw")
    for scheme in (sl.FCFS(), *easy, *dpsa):
        on_nodes = sl.simulate(trace, scheme, machine=tree, overrun=overrun).validate()
        flat = sl.simulate(trace, scheme, overrun=overrun)
        assert on_nodes.start.tolist() == flat.start.tolist()
        assert on_nodes.promise.tolist() == flat.promise.tolist()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.3, 1 / 3])
def test_times_on_nodes_are_exact_where_floats_are_not(share):
    """Beyond 2**40 s, a second is less than floats were once rounded by."""
    left = 1 - Fraction(share).limit_denominator(1_000)
    tree = sl.KaryTree(2, 2, speedup=share, scale_estimates=True)
    for length in (3 * 2**40 + 1, 10**13 + 7, 2**51 - 9):
        schedule = sl.simulate(trace_of([(0, length, length, 4), (1, 5, 5, 4)], 4), "easy", machine=tree).validate()
        assert schedule.promise.tolist() == [-1, ceil(length * left)]
        assert schedule.run.tolist() == [ceil(length * left), ceil(5 * left)]
        assert schedule.start.tolist() == [0, ceil(length * left)]


# --- By hand ------------------------------------------------------------------------------------------------
def test_stages_of_the_paper():
    # The specification, section 6.2.
    tree = sl.KaryTree(4, 6)
    sizes = {1: (1, 4), 2: (5, 14, 16), 3: (17, 64), 4: (65, 240, 256), 5: (257, 1024), 6: (1025, 1152, 4096)}
    for stage, procs in sizes.items():
        assert tree.stage(procs).tolist() == [stage] * len(procs)


def test_four_nodes_need_an_empty_switch_and_fourteen_a_block_of_sixteen():
    # PAS-0. One node of each of four switches is taken; then 4 nodes find none empty among 16, and 14 find 12 free.
    ones = [(0, 100, 100, 1)] * 16
    short = [(0, 1 if i % 4 else 100, 100, 1) for i in range(16)]
    jobs = [*short, (2, 5, 5, 4), (2, 5, 5, 12), (2, 5, 5, 2)]
    fcfs = sl.simulate(trace_of(jobs, 16), "fcfs", machine=sl.KaryTree(4, 2)).validate()
    assert fcfs.start[16:].tolist() == [100, 100, 105]
    anywhere = sl.simulate(trace_of(jobs, 16), "fcfs", machine=sl.KaryTree(4, 2, allocation="first-free")).validate()
    assert anywhere.start[16:].tolist() == [2, 7, 12]
    fourteen = [*ones[:2], (1, 5, 5, 14), (2, 5, 5, 14)]
    schedule = sl.simulate(trace_of(fourteen, 32), "fcfs", machine=sl.KaryTree(4, 3, procs=32)).validate()
    assert schedule.start[2:].tolist() == [1, 2]
    assert schedule.jobs["nodes"].tolist()[2:] == ["2-15", "16-29"]


def test_the_two_rules_of_reservation():
    # Nodes 0-1 are taken until 10, 2-3 until 1, 4-5 until 20. A job of 4 comes, then two of 2, one short and one long.
    jobs = [(0, 10, 10, 2), (0, 1, 1, 2), (0, 20, 20, 2), (1, 5, 5, 4), (2, 3, 3, 2), (2, 30, 30, 2)]
    trace = trace_of(jobs, 8)
    starts = {
        rule: sl.simulate(trace, sl.EASY(shadow=rule), machine=sl.KaryTree(4, 2)).validate()
        for rule in ("count", "block")
    }
    assert starts["count"].jobs["nodes"].tolist()[:3] == ["0-1", "2-3", "4-5"]
    # Four nodes are free from 1 on, in two blocks: by counts the reservation is now, and nobody may pass.
    assert starts["count"].start.tolist() == [0, 0, 0, 10, 10, 13]
    # By blocks it is nodes 0-3 at 10, which the others need not.
    assert starts["block"].start.tolist() == [0, 0, 0, 10, 2, 2]
    assert starts["block"].promise.tolist() == [-1, -1, -1, 10, -1, -1]


def test_a_backfilled_job_past_its_estimate_is_killed_for_the_head():
    # The head needs all 4 nodes at 10; the job advanced at 1 says 5 and would run 50.
    jobs = [(0, 10, 10, 3), (1, 8, 8, 4), (1, 50, 5, 1)]
    tree = sl.KaryTree(2, 2)
    schedule = sl.simulate(trace_of(jobs, 4), "easy", machine=tree, **ON_NODES).validate()
    assert schedule.start.tolist() == [0, 10, 1]
    assert schedule.run.tolist() == [10, 8, 9]
    assert schedule.jobs["killed"].tolist() == [False, False, True]
    assert schedule.metrics()["killed"] == 1
    # Had it not been backfilled, the head would have waited for its end.
    waits = sl.simulate(trace_of([jobs[0], jobs[2], jobs[1]], 4), "easy", machine=tree, **ON_NODES).validate()
    assert waits.start.tolist() == [0, 1, 51]


TWO_BLOCKS = sl.KaryTree(4, 2, procs=8)


def test_only_a_job_with_nodes_in_the_block_is_killed():
    # The head is promised nodes 0-3 at 10; then two jobs are past their estimates, the later one on node 7.
    jobs = [(0, 10, 10, 3), (0, 30, 30, 3), (1, 5, 5, 4), (2, 50, 5, 1), (3, 50, 4, 1)]
    schedule = sl.simulate(trace_of(jobs, 8), BLOCK, machine=TWO_BLOCKS, **ON_NODES).validate()
    assert schedule.jobs["nodes"].tolist() == ["0-2", "4-6", "0-3", "3", "7"]
    assert schedule.start.tolist() == [0, 0, 10, 2, 3]
    assert schedule.killed.tolist() == [False, False, False, True, False]


def test_long_candidates_leave_held_nodes_free_and_short_ones_may_use_them():
    # Nodes 0-2 are held for the head at 10.
    tree, jobs = sl.KaryTree(4, 1), [(0, 10, 10, 2), (1, 5, 5, 3)]
    schedule = sl.simulate(trace_of([*jobs, (2, 90, 90, 1)], 4), BLOCK, machine=tree).validate()
    assert schedule.jobs["nodes"].tolist() == ["0-1", "0-2", "3"]
    both = sl.simulate(trace_of([*jobs, (2, 5, 5, 1), (2, 90, 90, 1)], 4), BLOCK, machine=tree).validate()
    assert both.jobs["nodes"].tolist() == ["0-1", "0-2", "2", "3"]
    assert both.start.tolist() == [0, 10, 2, 2]


def test_which_jobs_may_outlast_the_reservation():
    # The head wants 3 of the 4 nodes at 10; the last job would hold 1 or 2 of them for 90 s.
    def starts(width, **settings):
        jobs = [(0, 10, 10, 2), (1, 5, 5, 3), (2, 90, 90, width)]
        schedule = sl.simulate(trace_of(jobs, 4), sl.EASY(**settings), machine=sl.KaryTree(4, 1), **ON_NODES)
        return schedule.validate().start.tolist(), schedule.end.tolist()[-1]

    for rule, usual in (("count", 10), ("block", 2)):
        assert starts(1, shadow=rule) == ([0, 10, usual], usual + 90)
        assert starts(1, shadow=rule, spare="off") == ([0, 10, 10], 100)
        assert starts(1, shadow=rule, spare="on") == ([0, 10, 2], 92)
        assert starts(2, shadow=rule, spare="on") == ([0, 10, 15], 105)
        assert starts(1, shadow=rule, spare="any") == ([0, 10, 2], 92)
        assert starts(2, shadow=rule, spare="any") == ([0, 10, 2], 10)  # killed for the head


def test_what_was_started_for_no_longer_than_the_reservation_is_killed_for_it_only():
    jobs, tree = [(0, 10, 10, 2), (1, 5, 5, 3), (2, 90, 90, 1)], sl.KaryTree(4, 1)
    schedule = sl.simulate(trace_of(jobs, 4), sl.EASY(spare="any"), machine=tree, **ON_NODES).validate()
    assert schedule.promise.tolist() == [-1, 10, -1]
    killed = np.array([False, False, True])
    changed(schedule, run=np.array([10, 5, 8]), killed=killed).validate()  # at 10, with the head
    with pytest.raises(ScheduleError, match="job 3 was killed for no reason, from 2"):
        changed(schedule, run=np.array([10, 5, 3]), killed=killed).validate()  # at 5, when nobody needs its node


@pytest.mark.parametrize(
    ("settings", "machine", "message"),
    [
        ({"shadow": "none"}, None, "unknown shadow 'none'; known: count, block"),
        ({"spare": "of"}, None, r"unknown spare 'of'; known: off, on, any"),
        ({"spare": "off"}, None, "spare is for a KaryTree; leave it out"),
        ({"spare": "any"}, sl.KaryTree(4, 2), 'kills jobs at a reservation; got overrun="kill", expected overrun='),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, machine, message):
    with pytest.raises(ValueError, match=message):
        sl.simulate(trace_of([(0, 1, 1, 1)], 8), sl.EASY(**settings), machine=machine)


def test_quasi_contiguous_goes_one_stage_up_and_no_further():
    # From 5 on nodes 0 and 4 are free, which only the whole machine has in one block: two stages up.
    jobs = [(0, 1, 1, 1), (0, 10, 10, 3), (0, 5, 5, 1), (0, 10, 10, 3), (2, 5, 5, 2)]
    tree = sl.KaryTree(2, 3, allocation="quasi-contiguous")
    schedule = sl.simulate(trace_of(jobs, 8), BLOCK, machine=tree, **ON_NODES).validate()
    assert schedule.jobs["nodes"].tolist() == ["0", "1-3", "4", "5-7", "0-1"]
    assert (schedule.promise[-1], schedule.start[-1]) == (10, 10)


@pytest.mark.parametrize(
    ("allocation", "share", "runs"),
    [
        ("contiguous", 0.35, [65, 23, 7]),
        ("first-free", 0.35, [100, 35, 10]),
        ("contiguous", (0.5, 0.25, 0.0), [75, 27, 5]),
        ("first-free", (0.5, 0.25, 0.0), [75, 27, 5]),
    ],
)
def test_speed_up_is_for_contiguous_jobs_or_by_stage(allocation, share, runs):
    trace = trace_of([(0, 100, 200, 4), (0, 35, 40, 3), (0, 10, 10, 1)], 8)
    tree = sl.KaryTree(2, 3, allocation=allocation, speedup=share)
    assert sl.simulate(trace, "easy", machine=tree).validate().run.tolist() == runs


# --- Measures -----------------------------------------------------------------------------------------------
@given(tree_workloads(), st.sampled_from(list(ALLOCATIONS)))
def test_locality_and_fragmentation(workload, allocation):
    jobs, k, n, procs = workload
    schedule = sl.simulate(trace_of(jobs, procs), machine=sl.KaryTree(k, n, allocation=allocation), **ON_NODES)
    places = [expand(text) for text in schedule.jobs["nodes"]]
    found = schedule.locality()
    assert found["stage"].tolist() == [max(1, *(meeting(a, b, k) for a in place for b in place)) for place in places]
    hops = [[2 * meeting(a, b, k) for a, b in combinations(place, 2)] for place in places]
    np.testing.assert_allclose(found["hops"], [sum(each) / len(each) if each else 0 for each in hops])

    start, end = schedule.start.tolist(), schedule.end.tolist()
    over_time = schedule.fragmentation()
    assert over_time["time"].tolist() == sorted({*start, *end})
    for row in over_time.itertuples():
        taken = {v for a, b, place in zip(start, end, places, strict=True) if a <= row.time < b for v in place}
        free = [v for v in range(procs) if v not in taken]
        sizes = [x for x in range(1, procs + 1) if any(sum(v in b for v in free) >= x for b in blocks(x, k, n))]
        assert (row.free, row.largest) == (len(free), max(sizes, default=0))
        assert row.fragmentation == pytest.approx(1 - row.largest / row.free if free else 0)


def meeting(a, b, k):
    """Return the stage at which two nodes meet, 0 for a node and itself."""
    stage = 0
    while a // k**stage != b // k**stage:
        stage += 1
    return stage


def blocks(procs, k, n):
    return [range(first, first + k**s) for s in [int(sl.KaryTree(k, n).stage(procs))] for first in range(0, k**n, k**s)]


def test_measures_of_nodes_need_a_tree():
    schedule = sl.simulate(trace_of([(0, 1, 1, 1)], 2))
    for measure in (schedule.locality, schedule.fragmentation):
        with pytest.raises(ValueError, match="needs jobs on nodes; this schedule is of 2 processors"):
            measure()


def test_a_fair_start_on_a_tree_is_that_without_later_arrivals():
    trace = sl.model_trace("lublin", jobs=60, machine=16, seed=1).scale_load(1.2)
    for allocation in ("contiguous", "random"):
        tree = sl.KaryTree(4, 2, allocation=allocation, speedup=0.2)
        fair = sl.fair_starts(sl.simulate(trace, BLOCK, machine=tree, **ON_NODES))
        assert fair.iloc[::9].tolist() == [
            sl.simulate(trace.head(count), BLOCK, machine=tree, **ON_NODES).start[-1] for count in range(1, 61, 9)
        ]


def test_files_and_charts_show_the_nodes(tmp_path):
    schedule = sl.simulate(trace_of([(0, 5, 5, 1), (0, 5, 5, 4)], 8), machine=sl.KaryTree(4, 2))
    assert schedule.allocations() == ["0", "4-7"]
    schedule.to_csv(tmp_path / "jobs.csv")
    assert "4-7" in (tmp_path / "jobs.csv").read_text()
    schedule.to_swf(tmp_path / "jobs.swf")
    assert "EASY on a 4-ary 2-tree of 8 nodes, contiguous" in (tmp_path / "jobs.swf").read_text()
    rows = sl.charts.gantt(schedule).to_dict()["datasets"]
    assert [(row["low"], row["high"]) for rows in rows.values() for row in rows] == [(0, 1), (4, 8)]


# --- What must not pass -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ({"first": [0, 1], "last": [1, 2]}, "job 2 runs on a node that another job holds, at 0"),
        ({"first": [0, 1], "last": [1, 1]}, "job 2 does not have the nodes that it needs"),
        ({"first": [0, 6], "last": [1, 7]}, "job 2 runs on a node that is not installed"),
        ({"first": [1, 4], "last": [2, 5]}, "job 1 is spread over more than a block"),
    ],
)
def test_laws_of_nodes(ranges, message):
    schedule = sl.simulate(trace_of([(0, 5, 5, 2), (0, 5, 5, 2)], 6), machine=sl.KaryTree(2, 3)).validate()
    nodes = schedule.outcome.nodes._replace(**{name: np.array(values) for name, values in ranges.items()})
    with pytest.raises(ScheduleError, match=message):
        changed(schedule, nodes=nodes).validate()


def test_laws_of_run_times():
    jobs = [(0, 5, 5, 2), (0, 6, 6, 2)]
    schedule = sl.simulate(trace_of(jobs, 8), machine=sl.KaryTree(2, 3, speedup=0.5), **ON_NODES).validate()
    assert schedule.run.tolist() == [3, 3]
    with pytest.raises(ScheduleError, match="job 2 does not run as long as it must, from 0"):
        changed(schedule, run=np.array([3, 2])).validate()
    with pytest.raises(ScheduleError, match="job 2 was killed for no reason, from 0"):
        changed(schedule, run=np.array([3, 2]), killed=np.array([False, True])).validate()


def test_laws_of_kills():
    jobs = [(0, 10, 10, 3), (1, 8, 8, 4), (1, 50, 5, 1)]
    trace, tree = trace_of(jobs, 4), sl.KaryTree(2, 2)
    cut = sl.simulate(trace, machine=tree).validate()
    fcfs = sl.simulate(trace, "fcfs", machine=tree, **ON_NODES).validate()
    nodes = cut.outcome.nodes
    for schedule, columns, message in (
        (cut, {"killed": np.array([False] * 3)}, "job 3 is marked killed wrongly"),
        (cut, {"killed": np.array([True, False, True])}, "job 1 is marked killed wrongly"),
        (fcfs, {"backfilled": np.array([False, False, True])}, "job 3 starts at 18 as backfilled, which FCFS does not"),
        (cut, {"nodes": None}, "no job has nodes, expected nodes of 2-ary 2-tree of 4 nodes, contiguous"),
        (cut, {"nodes": nodes._replace(offset=nodes.offset[:-1])}, "ranges of nodes that belong to no job"),
    ):
        with pytest.raises(ScheduleError, match=message):
            changed(schedule, **columns).validate()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 1}, "k is 1, expected a whole number of at least 2"),
        ({"n": 0}, "n is 0, expected a whole number of at least 1"),
        ({"k": 4, "n": 13}, "a 4-ary 13-tree has more than 16,777,216 nodes"),
        ({"procs": 17}, "17 nodes do not fit on a 4-ary 2-tree"),
        ({"allocation": "worst"}, "unknown allocation 'worst'; known: first-free, contiguous"),
        ({"speedup": 1.0}, "speedup is 1.0, expected a share from 0 to below 1"),
        ({"speedup": None}, "speedup is None, expected a share"),
        ({"seed": None}, "seed is None, expected a whole number of at least 0"),
        ({"allocation": ["best-fit"]}, "unknown allocation"),
        ({"speedup": (0.1,)}, "speedup has 1 values, expected one, or one for each of 2 stages"),
        ({"speedup": (0.1, 0.2), "scale_estimates": True}, "scale_estimates needs a single speedup"),
    ],
)
def test_bad_trees(settings, message):
    with pytest.raises(ValueError, match=message):
        sl.KaryTree(**{"k": 4, "n": 2, **settings})


def test_labels_tell_trees_apart():
    for one, other in (({"allocation": "random"}, {"seed": 3}), ({"speedup": 0.1}, {"scale_estimates": True})):
        first, second = str(sl.KaryTree(2, 2, **one)), str(sl.KaryTree(2, 2, **one, **other))
        assert second.startswith(first)
        assert second != first
    assert str(sl.KaryTree(2, 2, seed=3, scale_estimates=True)) == str(sl.KaryTree(2, 2))  # which change nothing there


def test_numbers_of_numpy_make_the_same_tree():
    tree = sl.KaryTree(np.int8(4), np.int8(6), procs=4096, speedup=np.full(6, 0.25))
    assert tree == sl.KaryTree(4, 6, procs=4096, speedup=(0.25,) * 6)
    seeds = [sl.KaryTree(2, 2, allocation="random", seed=seed) for seed in (1, 2**64 + 1)]
    assert len({tuple(sl.simulate(trace_of([(0, 1, 1, 1)], 4), machine=tree).allocations()) for tree in seeds}) == 1


@pytest.mark.parametrize(
    ("scheme", "settings", "message"),
    [
        ("greedy", {}, "Greedy cannot run on .* of 4 nodes, .*: Conservative, DPSA, EASY and FCFS pl"),
        ("easy-sjbf", {}, "EASY-SJBF cannot run on .*: on nodes, candidates are tried in the order"),
        (sl.DPSA(), {}, r"DPSAn cannot run on .*: on nodes the search is depth-first and needs a bou"),
        ("easy", {"events": "each"}, "events are batched on 2-ary 2-tree of 4 nodes, contiguous, got 'each'"),
        ("easy", {"machine": None} | ON_NODES, "'kill-backfilled' is for jobs on nodes: give a KaryTree, not 4 proc"),
        ("easy", {"machine": sl.KaryTree(2, 1)}, "4 nodes do not fit on a 2-ary 1-tree, which has 2"),
        ("easy", {"machine": sl.KaryTree(2, 2, procs=3)}, "has a job of 4 processors, the machine 3"),
    ],
)
def test_what_a_tree_cannot_do(scheme, settings, message):
    trace = trace_of([(0, 1, 1, 4)], 4).with_speedup(sl.Downey())
    with pytest.raises(ValueError, match=message):
        sl.simulate(trace, scheme, **{"machine": sl.KaryTree(2, 2)} | settings)


def test_room_for_ranges_grows():
    # Every other node is freed again and again, so that jobs get scattered over many ranges.
    rng = np.random.default_rng(1)
    jobs = [(int(t), int(rng.integers(1, 30)), 30, int(rng.integers(1, 6))) for t in range(2_000)]
    schedule = sl.simulate(trace_of(jobs, 16), machine=sl.KaryTree(2, 4, allocation="random"), **ON_NODES).validate()
    assert schedule.outcome.nodes.first.size > len(jobs) + 4 * 16


def test_without_a_topology_both_rules_are_the_same():
    trace = trace_of([(0, 10, 10, 2), (1, 5, 5, 3), (2, 90, 90, 1), (2, 90, 90, 1)], 4)
    one, other = (sl.simulate(trace, sl.EASY(shadow=rule)).validate() for rule in ("count", "block"))
    assert one.start.tolist() == other.start.tolist()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="the time of compiled kernels is measured")
def test_a_queue_is_not_walked_through_while_the_machine_is_full():
    trace = trace_of([(0, 10, 10, 2)] * 50_000, 2)

    def seconds(machine):
        begin = time.process_time()
        sl.simulate(trace, "easy", machine=machine)
        return time.process_time() - begin

    flat, tree = (min(seconds(machine) for _ in range(4)) for machine in (2, sl.KaryTree(2, 1)))
    assert tree < 10 * flat  # at each pass a walk would take 100 times as long
