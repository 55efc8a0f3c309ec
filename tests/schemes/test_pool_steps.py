"""Schemes in plain Python on machines of several pools: equal to the kernels, and one clear error for what is not."""

import copy
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import twin_pools as twin
from hypothesis import given
from hypothesis import strategies as st
from kernels.test_pools import as_pools, as_trace, clusters, rows_of
from museum import plain_easy as easy
from workloads import examples

import schedlab as sl
from schedlab.schemes import SchemeError


@sl.python_scheme
def fcfs(state):
    for job in state.queue:
        if not state.fits(job):
            break
        state.start(job)


@sl.python_scheme
def conservative(state):
    for job in state.queue:
        instant = state.earliest(job)
        if instant == state.now:
            state.start(job)
        else:
            state.reserve(job, instant)


class ByEstimate(sl.Scheme):
    """EASY in an order of its own, from a list that it sorts itself."""

    def decide(self, state):
        for job in sorted(state.queue, key=lambda job: (job.estimate, job.place)):
            if not state.within_limits(job):
                continue
            if state.fits(job):
                state.start(job)
            elif not state.reserved:
                state.reserve(job, state.earliest(job))


PAIRS = {
    "fcfs": (fcfs, sl.FCFS()),
    "easy": (easy, sl.EASY()),
    "by estimate": (ByEstimate(), sl.EASY("sjf")),
    "conservative": (conservative, sl.Conservative(compression="rebuild")),
    "all reserve": (conservative, sl.EASY(reservations="all")),
}


@pytest.mark.parametrize("name", PAIRS)
@examples(200)
@given(clusters())
def test_python_and_kernels_agree(name, cluster):
    trace = as_trace(*cluster)
    machine = as_pools(cluster[1])
    plain, own = (sl.simulate(trace, scheme, machine=machine).validate() for scheme in PAIRS[name])
    assert rows_of(plain)[0] == rows_of(own)[0]
    assert plain.killed.tolist() == own.killed.tolist()
    if name != "conservative":  # there the kernel notes a promise even for a job that starts on arrival
        assert rows_of(plain)[1] == rows_of(own)[1]


@examples(100)
@given(clusters())
def test_step_by_step_is_the_same(cluster):
    trace = as_trace(*cluster)
    machine = as_pools(cluster[1])
    simulation = sl.steps(trace, machine=machine)
    for state in simulation:
        easy.decide(state)
    assert rows_of(simulation.schedule.validate()) == rows_of(sl.simulate(trace, "easy", machine=machine))


# What a state tells ----------------------------------------------------------------------------------------
TRIES = st.lists(
    st.tuples(st.sampled_from(["start", "reserve", "reserve at"]), st.integers(0, 5), st.integers(0, 9)), max_size=25
)


def values(amounts):
    """Return amounts as the twin has them."""
    return [amounts] if isinstance(amounts, int) else list(amounts.values())


@examples(300)
@given(clusters(limited=[False]), TRIES)
def test_a_state_is_its_naive_twin(cluster, tries):
    """With windows, known or not, reservations at any time, refused or not."""
    drawn, machine = cluster
    jobs = {job.number: replace(job, estimate=max(job.estimate, 1)) for job in drawn}
    origin = min(job.submit for job in drawn)
    tries = iter(tries)
    simulation = sl.steps(as_trace(drawn, machine), machine=as_pools(machine))
    for state in simulation:
        closed = [window._replace(begin=window.begin - origin, end=window.end - origin) for window in machine.closed]
        pool = twin.PoolState(state.pool, machine.pools[state.pool], closed)
        reserved = {}
        for what, which, later in tries:
            pool.running = {jobs[job.number]: job.start for job in state.running}
            compare(state, pool, reserved, jobs)
            if not state.queue:
                break
            job = state.queue[which % len(state.queue)]
            same = jobs[job.number]
            others = {other: begin for other, begin in reserved.items() if other is not same}
            instant = state.earliest(job) if what == "reserve" else state.now + later
            if what == "start":
                allowed = pool.fits(same, state.now, state.now, others)
                assert state.fits(job) == allowed
            else:
                allowed = same not in reserved and pool.fits(same, instant, state.now, reserved)
            with nullcontext() if allowed else pytest.raises(SchemeError, match="needs|delays|holds a reservation"):
                state.start(job) if what == "start" else state.reserve(job, instant)
            if allowed and what == "start":
                reserved.pop(same, None)
            elif allowed:
                reserved[same] = instant
        pool.running = {jobs[job.number]: job.start for job in state.running}
        compare(state, pool, reserved, jobs)
        for job in state.queue:
            if state.fits(job):
                state.start(job)
        if state.queue and not state.running:
            state.wake(state.now + 1)  # a reservation kept the pool idle
    simulation.schedule.validate()


def compare(state, pool, reserved, jobs):
    now = state.now
    for job in state.queue:
        same = jobs[job.number]
        others = {other: begin for other, begin in reserved.items() if other is not same}
        assert state.fits(job) == pool.fits(same, now, now, others)
        assert state.earliest(job) == pool.earliest(same, now, reserved)
    assert values(state.free) == pool.free_at(now, now, {})
    for instant in range(now, now + 12):
        assert values(state.free_at(instant)) == pool.free_at(instant, now, reserved)
    instants, level = state.profile
    rows = np.array([level] if isinstance(state.free, int) else list(level.values())).T
    assert rows.tolist() == [values(state.free_at(instant)) for instant in instants]


# Examples --------------------------------------------------------------------------------------------------
# Submission, run time, estimate, processors, GPUs, pool, user.
LOG = [
    (0, 9, 9, 3, 2, "gpu", "ann"),
    (1, 4, 6, 1, 2, "gpu", "bob"),
    (1, 3, 3, 2, 0, "cpu", "ann"),
    (2, 5, 5, 1, 1, "gpu", "ann"),
    (3, 2, 2, 4, 0, "cpu", "bob"),
]


def log(rows=LOG):
    jobs = [
        twin.Job(i + 1, submit, run, estimate, (procs, gpus), where, {"user": user})
        for i, (submit, run, estimate, procs, gpus, where, user) in enumerate(rows)
    ]
    machine = twin.Machine({}, ("procs", "gpus"))
    return as_trace(jobs, machine)


def pools(**more):
    return sl.Pools(cpu=4, gpu=sl.Pool(4, gpus=3), column="where", **more)


LIMIT = sl.Limit("user", running=1)
MAINTENANCE = sl.Closed(5, 8, "gpu", gpus=2)


def run(decide, rows=LOG, **more):
    return sl.simulate(log(rows), sl.python_scheme(decide), machine=pools(**more)).validate()


def looked_at(*looks, **more):
    """Return what functions of the state give at each pass of EASY, and the pool and the instant."""
    seen = []

    def look(state):
        seen.append((state.pool, state.now, *(function(state) for function in looks)))
        easy.decide(state)

    run(look, **more)
    return seen


@pytest.mark.parametrize("more", [{}, {"limits": [sl.Limit("user", running=9)]}, {"closed": [sl.Closed(90, 91)]}])
def test_a_pass_is_in_one_pool_and_knows_its_name_its_amounts_and_its_jobs(more):
    looks = (lambda state: state.free, lambda state: state.procs, lambda state: state.queue.number.tolist())
    seen = looked_at(*looks, **more)
    whole = {"procs": 4, "gpus": 3}
    of_gpu = [row for row in seen if row[0] == "gpu"]
    assert of_gpu[:3] == [
        ("gpu", 0, whole, whole, [1]),
        ("gpu", 1, {"procs": 1, "gpus": 1}, whole, [2]),
        ("gpu", 2, {"procs": 1, "gpus": 1}, whole, [2, 4]),
    ]
    assert [row for row in seen if row[0] == "cpu"] == [
        ("cpu", 1, 4, 4, [3]),
        ("cpu", 3, 2, 4, [5]),
        ("cpu", 4, 4, 4, [5]),
        ("cpu", 6, 4, 4, []),
    ]


def test_jobs_say_what_they_need_and_lists_of_them_too():
    def look(state):
        for job in state.queue:
            needs = job.procs if state.pool == "cpu" else {"procs": job.procs, "gpus": job.gpus}
            assert job.demand == needs
            assert state.fits(job) == (job.demand <= state.free)
            if state.pool == "gpu":
                assert (state.free >= job.demand) == (job.demand <= state.free)
                assert repr(job).startswith(f"<Job {job.number}: {job.procs} procs, {job.gpus} gpus, {job.estimate} s")
        assert len(state.queue.demand) == len(state.queue)
        fcfs.decide(state)

    run(look)


@pytest.mark.parametrize("more", [{}, {"limits": [sl.Limit("user", running=9)]}])
def test_each_pool_has_a_memory_of_its_own(more):
    def decide(state):
        state.memory["passes"] = state.memory.get("passes", 0) + 1
        assert state.memory.setdefault("pool", state.pool) == state.pool
        fcfs.decide(state)

    assert run(decide, **more).start.tolist() == [0, 9, 1, 9, 4]


def test_windows_have_passes_and_are_seen_when_they_are_known():
    window = sl.Closed(5, 8, "gpu", announced=2)
    looks = (lambda state: [column if isinstance(column, dict) else column.tolist() for column in state.profile],)
    seen = {now: profile for pool, now, profile in looked_at(*looks, closed=[window]) if pool == "gpu"}
    assert {3, 5, 8} <= set(seen)
    assert seen[2][0] == [2, 9]  # of the window nothing is known yet
    instants, level = seen[3]
    assert instants == [3, 5, 7, 8, 9]
    assert {name: row.tolist() for name, row in level.items()} == {
        "procs": [0, -4, -3, 1, 4],
        "gpus": [0, -3, -2, 1, 3],
    }


@pytest.mark.parametrize(("closure", "pieces"), [("requeue", [(0, 5), (8, 17)]), ("kill", [(0, 5)])])
def test_a_window_ends_jobs_and_queues_them_again(closure, pieces):
    schedule = run(fcfs.function, LOG[:1], closed=[sl.Closed(5, 8, "gpu", announced=2)], on_closure=closure)
    rows = schedule.outcome.pieces
    assert list(zip(rows.start.tolist(), rows.end.tolist(), strict=True)) == pieces
    assert schedule.killed.tolist() == [closure == "kill"]


def test_of_equal_starts_a_window_ends_the_later_in_the_log():
    rows = [(0, 9, 9, 2, 1, "gpu", "ann"), (0, 9, 9, 2, 1, "gpu", "bob")]
    schedule = run(fcfs.function, rows, closed=[sl.Closed(5, 8, "gpu", announced=2, procs=2)])
    assert (schedule.start.tolist(), schedule.outcome.interruptions.tolist()) == ([0, 8], [0, 1])


def test_passes_that_a_pool_asks_for_are_its_own():
    def decide(state):
        for job in state.queue:
            if job.submit == state.now and state.pool == "gpu":
                state.wake(state.now + 5)
            elif state.fits(job):
                state.start(job)

    rows = [(0, 2, 2, 1, 1, "gpu", "ann"), (1, 2, 2, 1, 0, "cpu", "ann")]
    seen = []
    assert run(lambda state: (seen.append((state.pool, state.now)), decide(state)), rows).start.tolist() == [5, 1]
    assert seen == [("cpu", 1), ("cpu", 3), ("gpu", 0), ("gpu", 5), ("gpu", 7)]  # one pool after the other


def test_step_by_step_pools_go_together():
    simulation = sl.steps(log(), machine=pools())
    seen = []
    for state in simulation:
        seen.append((state.now, state.pool))
        easy.decide(state)
    assert seen[:5] == [(0, "gpu"), (1, "cpu"), (1, "gpu"), (2, "gpu"), (3, "cpu")]
    assert rows_of(simulation.schedule) == rows_of(sl.simulate(log(), "easy", machine=pools()))


def test_a_job_over_a_limit_is_not_in_the_queue_and_leaves_it_within_a_loop():
    def decide(state):
        queue = state.queue
        seen.append((state.pool, state.now, [job.number for job in queue]))
        for job in queue:
            tried.append(job.number)
            if state.fits(job):
                state.start(job)

    seen = []
    tried = []
    rows = [(0, 9, 9, 1, 0, "cpu", "ann"), (0, 2, 2, 1, 0, "cpu", "ann"), (1, 5, 5, 1, 1, "gpu", "ann")]
    assert run(decide, rows, limits=[LIMIT]).start.tolist() == [0, 9, 11]
    assert seen[:2] == [("cpu", 0, [1, 2]), ("gpu", 1, [])]
    assert seen[2:4] == [
        ("cpu", 9, [2]),
        ("gpu", 9, []),
    ]  # also in another pool there is a pass, and the first may start
    assert tried == [1, 2, 3]


# What cannot be done ---------------------------------------------------------------------------------------
GPU = [row for row in LOG if row[5] == "gpu"]


def starts_all(state):
    for job in list(state.queue):
        state.start(job)


def reserves(number, instant):
    """Make a scheme that reserves for a job at the instant of its submission."""

    def decide(state):
        for job in state.queue:
            if job.number == number and job.submit == state.now:
                state.reserve(job, instant)
        fcfs.decide(state)

    return decide


def delays(state):
    for job in state.queue:
        if job.number == 2:
            state.reserve(job, 9)
        elif job.demand <= state.free:
            state.start(job)


@pytest.mark.parametrize(
    ("decide", "settings", "message"),
    [
        (starts_all, {}, r"at 1 s in pool 'gpu': start\(job 2\): it needs 2 GPUs, 1 are free"),
        (
            starts_all,
            {"closed": [MAINTENANCE]},
            r"at 0 s .* start\(job 1\): it needs 2 GPUs until 9 s, 1 are free at 5 s: .* window from 5 to 8 s",
        ),
        (starts_all, {"limits": [LIMIT]}, r"start\(job 2\): it needs 2 GPUs, 1 are free"),
        (reserves(2, 5), {}, r"at 1 s .* reserve\(job 2, 5\): it needs 2 GPUs until 11 s, 1 are free at 5 s"),
        (
            reserves(1, 6),
            {"closed": [MAINTENANCE]},
            r"reserve\(job 1, 6\): it needs 2 GPUs until 15 s, 1 are free at 6 s: .* window from 5 to 8 s",
        ),
    ],
)
def test_what_is_impossible_is_refused_and_what_is_short_is_named(decide, settings, message):
    with pytest.raises(SchemeError, match=message):
        sl.simulate(log(GPU), sl.python_scheme(decide), machine=pools(**settings))


def test_a_start_that_delays_a_reservation_names_it():
    rows = [(0, 9, 9, 3, 2, "gpu", "ann"), (1, 4, 6, 4, 2, "gpu", "bob"), (2, 5, 10, 1, 1, "gpu", "ann")]
    message = r"start\(job 3\): with 1 procs, 1 gpus until 12 s it delays job 2, reserved for 9 s"
    with pytest.raises(SchemeError, match=message):
        sl.simulate(log(rows), sl.python_scheme(delays), machine=pools())


def starts_and_reserves(state):
    queue = list(state.queue)
    state.start(queue[0])
    state.reserve(queue[1], 9)


@pytest.mark.parametrize(
    ("decide", "what"), [(starts_all, r"start\(job 2\)"), (starts_and_reserves, r"reserve\(job 2, 9\)")]
)
def test_a_list_of_its_own_may_hold_jobs_that_starts_have_pushed_over_a_limit(decide, what):
    rows = [(0, 9, 9, 1, 0, "cpu", "ann"), (0, 2, 2, 1, 0, "cpu", "ann")]
    message = rf"{what}: its user may have 1 running at most, has 1, .*; state.within_limits\(job\) tells"
    with pytest.raises(SchemeError, match=message):
        sl.simulate(log(rows), sl.python_scheme(decide), machine=pools(limits=[LIMIT]))


def test_jobs_of_other_pools_are_refused():
    jobs = []

    def decide(state):
        jobs.extend(state.queue)
        if state.pool == "gpu" and state.now == 1:
            state.start(jobs[1])

    rows = [LOG[0], LOG[2], LOG[1]]
    message = r"start\(job 2\): it waits in pool 'cpu', this is a pass in 'gpu'"
    with pytest.raises(SchemeError, match=message):
        sl.simulate(log(rows), sl.python_scheme(decide), machine=pools(limits=[sl.Limit("user", running=9)]))


@pytest.mark.parametrize(
    ("look", "message"),
    [
        (lambda state: state.queue[0].procs <= state.free, r"procs and gpus are compared with 3: .*free\['procs'\]"),
        (lambda state: state.queue[0].demand > state.free, "compare amounts of several resources by <= or >="),
        (lambda state: state.free["gpu"], "'gpu'; known: procs, gpus"),
    ],
)
def test_amounts_say_how_they_are_compared(look, message):
    with pytest.raises((TypeError, KeyError), match=message):
        sl.simulate(log(GPU), sl.python_scheme(look), machine=pools())


def test_amounts_are_read_only_and_states_are_copied():
    def look(state):
        if state.pool == "gpu" and state.queue:
            again = copy.deepcopy(state)
            assert (again.free, again.queue.number.tolist()) == (state.free, state.queue.number.tolist())
            with pytest.raises(TypeError, match="does not support item assignment"):
                state.free["gpus"] = 5
            with pytest.raises(SchemeError, match="free of a State cannot be set"):
                state.free = 5
        easy.decide(state)

    run(look)


def test_jobs_that_wait_for_ever_are_named():
    with pytest.raises(SchemeError, match=r"3 jobs still wait: first job 1 \(3 procs, 2 gpus, submitted at 0 s\)"):
        sl.simulate(log(GPU), sl.python_scheme(lambda state: None), machine=pools())


# A scheme that makes its own starts, or gets round the state, is checked all the same -----------------------
class AtOnce(sl.Scheme):
    machines = (sl.Flat, sl.Pools)

    def simulate(self, case):
        return case.outcome(case.jobs.submit.copy())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "at 1 s: 4 gpus of pool 'gpu' are held or closed, expected at most 3"),
        ({"closed": [sl.Closed(0, 3, "gpu", procs=2)]}, "at 0 s: 5 procs of pool 'gpu' are held or closed, .* most 4"),
        ({"limits": [sl.Limit("user", gpus=2)]}, "at 1 s: 4 gpus of pool 'gpu' are held"),
    ],
)
def test_more_than_there_is_is_found_in_what_others_simulate(settings, message):
    with pytest.raises(SchemeError, match=f"AtOnce {message}"):
        sl.simulate(log(GPU), AtOnce(), machine=pools(**settings))


def test_more_than_a_limit_allows_is_found_in_what_others_simulate():
    rows = [(0, 9, 9, 1, 1, "gpu", "ann"), (1, 4, 6, 1, 1, "cpu", "ann")]
    message = "AtOnce at 1 s: 2 running of a user are held, expected at most 1"
    with pytest.raises(SchemeError, match=message):
        sl.simulate(log(rows), AtOnce(), machine=pools(limits=[LIMIT]))


def test_promises_are_declared_where_they_can_be_kept():
    kept = sl.python_scheme(promises=True)(easy.function)
    machines = [
        pools(),
        pools(closed=[MAINTENANCE]),
        pools(limits=[LIMIT]),
        pools(closed=[sl.Closed(5, 8, announced=2)]),
    ]
    assert [kept.promises(machine) for machine in machines] == [True, True, False, False]


def test_schemes_without_pools_and_jobs_past_their_estimates_are_refused():
    class OnlyFlat(sl.Scheme):
        machines = (sl.Flat,)

        def decide(self, state):
            easy.decide(state)

    with pytest.raises(ValueError, match="OnlyFlat cannot run on pools cpu"):
        sl.simulate(log(), OnlyFlat(), machine=pools(limits=[LIMIT]))
    with pytest.raises(ValueError, match="jobs in pools end at their estimates"):
        sl.steps(log(), machine=pools(), overrun="keep")
