"""Schemes in plain Python: equal to the kernels, and one clear error for whatever is not possible."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace

import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from museum import plain_easy as easy
from museum import plain_fcfs as fcfs
from workloads import examples, trace_of, workloads

import schedlab as sl
from schedlab.schedule import ScheduleError

pytestmark = pytest.mark.reduced

LOG = [(0, 9, 9, 3), (1, 4, 6, 4), (1, 3, 3, 2), (2, 5, 5, 1), (2, 1, 2, 1), (3, 6, 9, 2), (4, 2, 2, 4), (5, 3, 4, 1)]


@sl.python_scheme(promises=False)
def conservative(state):
    for job in state.queue:
        instant = state.earliest(job)
        if instant == state.now:
            state.start(job)
        else:
            state.reserve(job, instant)


@dataclass(frozen=True)
class Reserving(sl.Scheme):
    """EASY with several reservations, in an order of its own."""

    reservations: int = 2

    def decide(self, state):
        for job in sorted(state.queue, key=lambda job: (job.estimate * job.procs % 5, job.place)):
            if state.fits(job):
                state.start(job)
            elif len(state.reserved) < self.reservations:
                state.reserve(job, state.earliest(job))


def own_order(estimate, procs):
    return estimate * procs % 5


def run(scheme, jobs, procs, overrun):
    schedule = sl.simulate(trace_of(jobs, procs), scheme, overrun=overrun).validate()
    return schedule.start.tolist(), schedule.promise.tolist()


OVERRUNS = st.sampled_from(["kill", "extend", "keep"])


@examples(300)
@given(workloads(overrun=True), OVERRUNS)
def test_fcfs_and_easy_are_those_of_the_kernels(workload, overrun):
    jobs, procs = workload
    assert run(fcfs, jobs, procs, overrun) == run(sl.FCFS(), jobs, procs, overrun)
    assert run(easy, jobs, procs, overrun) == run(sl.EASY(), jobs, procs, overrun)
    if overrun == "keep":
        assert run(easy, jobs, procs, overrun) == twins.easy(jobs, procs)


@examples(300)
@given(workloads(overrun=True), OVERRUNS, st.integers(1, 4))
def test_several_reservations_are_those_of_the_kernel(workload, overrun, reservations):
    jobs, procs = workload
    found = run(Reserving(reservations), jobs, procs, overrun)
    assert found == run(sl.EASY(order=own_order, reservations=reservations), jobs, procs, overrun)


@examples(400)
@given(workloads(overrun=True), st.sampled_from(["kill", "extend"]))
def test_all_of_them_are_conservative_backfilling(workload, overrun):
    jobs, procs = workload
    start, promise = run(conservative, jobs, procs, overrun)
    assert start == run(sl.Conservative(compression="rebuild"), jobs, procs, overrun)[0]
    assert (start, promise) == run(sl.EASY(reservations="all"), jobs, procs, overrun)


@examples(100)
@given(workloads(overrun=True), OVERRUNS)
def test_step_by_step_is_the_same(workload, overrun):
    jobs, procs = workload
    trace = trace_of(jobs, procs)
    steps = sl.steps(trace, overrun=overrun)
    for state in steps:
        easy.decide(state)
    assert steps.schedule.validate().start.tolist() == sl.simulate(trace, "easy", overrun=overrun).start.tolist()


class Plainly:
    """A naive twin of what a `State` tells: a rescan of all running jobs and reservations at each second."""

    def __init__(self, state):
        self.now, self.procs = state.now, state.procs
        self.running = {job.number: (state.now, max(job.end, state.now + 1), job.procs) for job in state.running}
        self.reserved = {}

    def free_at(self, time, apart_from=None):
        reserved = [hold for number, hold in self.reserved.items() if number != apart_from]
        holds = [*self.running.values(), *reserved]
        return self.procs - sum(procs for begin, end, procs in holds if begin <= time < end)

    def is_free(self, job, begin, apart_from=None):
        seconds = range(begin, begin + job.estimate)
        return all(self.free_at(time, apart_from) >= job.procs for time in seconds)

    def fits(self, job):
        return self.is_free(job, self.now, apart_from=job.number)

    def earliest(self, job):
        return next(time for time in range(self.now, 10_000) if self.is_free(job, time))

    def start(self, job):
        self.reserved.pop(job.number, None)
        self.running[job.number] = self.now, self.now + job.estimate, job.procs

    def reserve(self, job, time):
        self.reserved[job.number] = time, time + job.estimate, job.procs

    def steps(self):
        holds = [*self.running.values(), *self.reserved.values()]
        times = sorted({self.now, *(end for _, end, _ in holds), *(begin for begin, _, _ in holds)})
        return times, [self.free_at(time) for time in times]


TRIES = st.lists(
    st.tuples(st.sampled_from(["start", "reserve", "reserve at", "look"]), st.integers(0, 5), st.integers(-2, 9)),
    max_size=25,
)


@examples(400)
@given(workloads(overrun=True, most=8), TRIES, st.booleans())
def test_a_state_is_its_naive_twin(workload, tries, looks):
    """With ties, jobs past their estimates, jobs that end early, and reservations at any time, refused or not."""
    tries = iter(tries)
    simulation = sl.steps(trace_of(*workload), overrun="keep")
    for state in simulation:
        twin = Plainly(state)
        for what, which, later in tries:
            job = (state.queue or [None])[which % max(len(state.queue), 1)]
            if job is None or what == "look":
                break
            instant = twin.earliest(job) if what == "reserve" else state.now + later
            if what == "start":
                allowed = twin.fits(job)
                assert state.fits(job) == allowed
                act = (state.start, job), (twin.start, job)
            else:
                allowed = job.number not in twin.reserved and later >= -2 and instant >= state.now
                allowed = allowed and twin.is_free(job, instant)
                act = (state.reserve, job, instant), (twin.reserve, job, instant)
            with nullcontext() if allowed else pytest.raises(sl.schemes.SchemeError):
                act[0][0](*act[0][1:])
            if allowed:
                act[1][0](*act[1][1:])
            if looks:
                compare(state, twin)
        compare(state, twin)
        for job in state.queue:
            if state.fits(job):
                state.start(job)
        if state.queue and not state.running:
            state.wake(state.now + 1)  # a reservation kept the machine idle
    simulation.schedule.validate()


def compare(state, twin):
    assert state.reserved.number.tolist() == list(twin.reserved)
    for job in state.queue:
        assert (state.fits(job), state.earliest(job)) == (twin.fits(job), twin.earliest(job))
    assert [column.tolist() for column in state.profile] == list(twin.steps())
    assert state.free == state.procs - state.running.procs.sum()
    assert all(state.free_at(state.now + after) == twin.free_at(state.now + after) for after in range(12))


# What a scheme sees ----------------------------------------------------------------------------------------
def test_jobs_have_attributes_and_lists_of_them_arrays():
    seen = []

    def look(state):
        if state.now == 2:
            seen.append((state.queue, state.running, state.free, state.procs, repr(state)))
            seen.append([(job.number, job.submit, job.estimate, job.procs, job.user, job.start) for job in state.queue])
            seen.append((state.queue.procs.tolist(), state.queue.user.tolist(), state.running.end.tolist()))
        fcfs.decide(state)

    trace = trace_of(LOG, 4)
    trace = replace(trace, table=trace.table.assign(user_id=[7, 7, 7, 8, 9, 9, 9, 9]))
    schedule = sl.simulate(trace, sl.python_scheme(look)).validate()
    (queue, running, free, procs, shown), waiting, arrays = seen
    assert [job.number for job in running] == [1]
    assert (free, procs) == (1, 4)
    assert waiting == [(2, 1, 6, 4, 7, None), (3, 1, 3, 2, 7, None), (4, 2, 5, 1, 8, None), (5, 2, 2, 1, 9, None)]
    assert arrays == ([4, 2, 1, 1], [7, 7, 8, 9], [9])
    assert shown == "<State at 2 s: 1 of 4 processors free, 4 jobs wait, 1 run>"
    assert schedule.start.tolist() == sl.simulate(trace, "fcfs").start.tolist()
    assert [job.number for job in queue] == [2, 3, 4, 5]  # as it was then
    assert "runs from 13 s, estimated to end at 16 s" in repr(queue[1])


def test_lists_of_no_jobs_and_parts_of_lists_have_arrays_too():
    def look(state):
        assert state.reserved.procs.tolist() == []
        assert state.queue[1:].procs.tolist() == state.queue.procs.tolist()[1:]
        fcfs.decide(state)

    sl.simulate(trace_of(LOG, 4), sl.python_scheme(look))


def first(state):
    return state.queue[0]


@pytest.mark.parametrize(
    ("look", "words"),
    [
        # A run time is known to nobody.
        (lambda state: first(state).run, "job 1 has no 'run'; known: demand, end, estimate, number, place, procs"),
        (lambda state: state.stop(first(state)), "a State has no 'stop': schedlab does not preempt jobs yet; known: e"),
        (lambda state: state.preempt(first(state)), "no 'preempt': schedlab does not preempt jobs yet; .* start, wake"),
        (lambda state: state.earliset(first(state)), r"no 'earliset'; known: .*free_at.*; did you mean 'earliest'\?"),
        (lambda state: first(state).kill(), "job 1 has no 'kill': schedlab does not preempt jobs yet; known: demand"),
        (lambda state: state.time, "a State has no 'time'; known: earliest, fits, free, free_at, memory, now, pool"),
        (lambda state: first(state).runtime, "'runtime'; .* mean 'run_time', which only the log knows, or 'estimate'"),
        (lambda state: state.queue.widht, "job 1 has no 'widht'; known: demand, end"),
    ],
)
def test_what_does_not_exist_is_said_with_what_does(look, words):
    with pytest.raises(AttributeError, match=f"at 0 s: .*{words}"):
        sl.simulate(trace_of(LOG, 4), sl.python_scheme(look))


def test_comparing_a_code_with_text_is_an_error_that_says_how():
    @sl.python_scheme
    def alice_first(state):
        for job in state.queue:
            if job.user == "alice" and job.procs <= state.free:
                state.start(job)

    words = r"user is compared with 'alice', .* trace.codes\('user'\)\['alice'\]"
    with pytest.raises(sl.schemes.SchemeError, match=words):
        sl.simulate(trace_of(LOG, 4), alice_first)


def change(path, value):
    """Make a scheme that sets an attribute of the state, or of a job."""

    def changes(state):
        fcfs.decide(state)
        if state.now == 1:
            *owners, name = path.split(".")
            seen = state
            for owner in owners:
                seen = seen[0] if owner == "first" else getattr(seen, owner)
            setattr(seen, name, value)

    return sl.python_scheme(changes)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("now", r"now of a State cannot be set: wake\(time\) asks for a pass"),
        ("free", r"free of a State cannot be set: start\(job\) and reserve\(job, time\) change the state"),
        ("procs", "procs of a State cannot be set: machine="),
        ("memory", "memory of a State cannot be set: it is a dict"),
        ("queue", "queue of a State cannot be set: start"),
        ("notes", "notes of a State cannot be set: .* notes of your own go into state.memory"),
        ("queue.first.start", r"job 2 is read-only, start cannot be set; state.start\(job\) starts it"),
        ("queue.first.procs", "job 2 is read-only, procs cannot be set"),
        ("queue.first.mine", "job 2 is read-only, mine cannot be set; notes of your own go into state.memory"),
        ("running.first.end", "job 1 is read-only, end cannot be set"),
    ],
)
def test_a_state_and_its_jobs_cannot_be_set(path, words):
    with pytest.raises(sl.schemes.SchemeError, match=f"changes at 1 s: {words}"):
        sl.simulate(trace_of(LOG, 4), change(path, 5))


def test_nothing_that_a_state_gives_changes_it():
    def meddle(state):
        lists = state.queue, state.running, state.reserved
        lists[0].sort(key=lambda job: job.procs)
        lists[0].reverse()
        for jobs in lists:
            jobs.clear()
        for array in (*state.profile, state.queue.procs, state.queue.user, state.running.end):
            with pytest.raises(ValueError, match="read-only"):
                array[:] = 0
        with pytest.raises(AttributeError, match="procs of a list of jobs cannot be set"):
            state.queue.procs = 1
        for thing in (state, *state.queue):
            with pytest.raises(sl.schemes.SchemeError, match="procs.* cannot be deleted"):
                del thing.procs
        easy.decide(state)

    trace = trace_of(LOG, 4)
    assert sl.simulate(trace, sl.python_scheme(meddle)).start.tolist() == sl.simulate(trace, "easy").start.tolist()


def test_what_gets_round_the_state_is_found_by_simulate():
    def cheat(state):
        for job in state.queue:
            object.__setattr__(job, "demand", 1)
            state.start(job)

    words = "cheat at 1 s: job 2 starts with 7 processors held at 1 s, expected at most 4"
    with pytest.raises(sl.schemes.SchemeError, match=words):
        sl.simulate(trace_of(LOG[:3], 4), sl.python_scheme(cheat))


def shortest_reserved(state):
    """Reserve for the shortest job, which another one takes the place of."""
    for job in sorted(state.queue, key=lambda job: (job.estimate, job.place)):
        if state.fits(job):
            state.start(job)
        elif not state.reserved:
            state.reserve(job, state.earliest(job))


def test_declared_promises_and_order_are_kept_or_an_error():
    trace = trace_of([(0, 9, 9, 4), (1, 9, 9, 4), (2, 3, 3, 4)], 4)
    assert len(sl.simulate(trace, sl.python_scheme(shortest_reserved)).validate()) == 3
    for declared, words in (
        ({"promises": True}, "job 2 starts at 12, but had been promised 9"),
        ({"in_order": True}, "job 3 starts at 9, before a job submitted earlier"),
    ):
        schedule = sl.simulate(trace, sl.python_scheme(shortest_reserved, **declared))
        with pytest.raises(ScheduleError, match=words):
            schedule.validate()

    kept = sl.python_scheme(promises=True, in_order=True)(fcfs.function)
    assert (str(kept), kept.promises(sl.Flat(4)), kept.in_order) == ("plain_fcfs", True, True)
    assert len(sl.simulate(trace, kept).validate()) == 3


def test_memory_lasts_for_one_simulation():
    @sl.python_scheme
    def counting(state):
        state.memory["passes"] = state.memory.get("passes", 0) + 1
        assert state.memory["passes"] <= 2 * len(LOG)
        fcfs.decide(state)

    trace = trace_of(LOG, 4)
    first, second = (sl.simulate(trace, counting).start.tolist() for _ in range(2))
    assert first == second


def test_a_pass_may_be_asked_for():
    """Jobs start a second after they arrive, though nothing happens then."""

    @sl.python_scheme
    def late(state):
        for job in state.queue:
            if job.submit == state.now:
                state.wake(state.now + 1)
                state.wake(state.now + 3)
            elif job.procs <= state.free:
                state.start(job)

    start = sl.simulate(trace_of([(0, 2, 2, 1), (10, 2, 2, 1), (10, 2, 2, 1)], 2), late).validate().start
    assert start.tolist() == [1, 11, 11]


# A scheme as any other -------------------------------------------------------------------------------------
def test_it_has_a_name_and_goes_where_schemes_go():
    assert str(easy) == "plain_easy"
    assert str(Reserving()) == "Reserving"
    assert str(Reserving(3)) == "Reserving (reservations 3)"
    trace = sl.model_trace("lublin", jobs=60, machine=16, seed=2)
    table = sl.sweep(trace, [easy, "easy", Reserving(3)], load=[0.8, 1.0], progress=False)
    assert table["scheme"].unique().tolist() == ["plain_easy", "EASY", "Reserving (reservations 3)"]
    ours, kernels = (table[table["scheme"] == name]["wait_time"].tolist() for name in ("plain_easy", "EASY"))
    assert ours == kernels
    assert len(sl.fair_starts(sl.simulate(trace.head(20), easy))) == 20
    with ThreadPoolExecutor(3) as pool:
        runs = list(pool.map(lambda _: sl.simulate(trace, easy).start.tolist(), range(6)))
    assert runs == [sl.simulate(trace, "easy").start.tolist()] * 6


def test_partitions_are_simulated_each_by_itself():
    trace = trace_of(LOG, 4)
    trace = replace(trace, table=trace.table.assign(partition=[1, 2] * 4))
    both = {1: 4, 2: 4}
    found, expected = (sl.simulate(trace, scheme, machine=both).start.tolist() for scheme in (easy, "easy"))
    assert found == expected


# What cannot be done ---------------------------------------------------------------------------------------
def start_ahead(state):
    for job in state.queue:
        if job.number == 1:
            state.start(job)
        elif not state.reserved:
            state.reserve(job, state.earliest(job))
        elif job.procs <= state.free:
            state.start(job)


def after_fcfs(act):
    """Decide as FCFS does, and then act on each job that waits."""

    def decide(state):
        fcfs.decide(state)
        for job in state.queue:
            act(state, job)

    return decide


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda state: [state.start(job) for job in 2 * [first(state)]], r"at 0 s: start\(job 1\): it started at 0 s"),
        (
            lambda state: [state.start(job) for job in state.queue],
            r"at 1 s: start\(job 2\): it needs 4 processors",
        ),
        (after_fcfs(lambda state, job: state.start(state.running[0])), r"at 1 s: start\(job 1\): it started at 0 s"),
        (lambda state: None, r"at 5 s: no job runs, none will arrive, and 8 jobs still wait: first job 1 \(3 proc"),
        (start_ahead, r"ahead at 3 s: start\(job 6\): .*job 2, reserved for 9 s|start\(job 4\): with 1 processors"),
        (
            lambda state: state.reserve(first(state), state.now - 1),
            r"at 0 s: reserve\(job 1, -1\): expected a whole",
        ),
        (lambda state: [state.reserve(first(state), time) for time in (0, 1)], r"reserve\(job 1, 1\): it holds a rese"),
        (
            after_fcfs(lambda state, job: state.reserve(job, state.now)),
            r"at 1 s: reserve\(job 2, 1\): it needs 4 .* 1",
        ),
        (lambda state: state.reserve(first(state), 1.5), r"at 0 s: reserve\(job 1, 1.5\): expected a whole second"),
        (lambda state: state.wake(state.now), r"at 0 s: wake\(0\): expected a whole second after now"),
    ],
)
def test_what_cannot_be_done_is_one_error_at_that_instant(function, message):
    jobs = [(0, 9, 9, 3), (1, 4, 6, 4), (1, 3, 3, 2), (2, 25, 25, 1), *LOG[4:]]
    with pytest.raises(sl.schemes.SchemeError, match=message):
        sl.simulate(trace_of(jobs, 4), sl.python_scheme(function))


def test_a_reservation_that_would_run_into_another_is_refused():
    def reserve_across(state):
        if state.now == 2:
            state.reserve(state.queue[0], 9)
            state.reserve(state.queue[1], 7)
        fcfs.decide(state)

    jobs = [(0, 9, 9, 2), (1, 4, 4, 4), (2, 5, 5, 2)]
    words = r"reserve\(job 3, 7\): it needs 2 processors for 5 s, 2 are free then, but fewer later on"
    with pytest.raises(sl.schemes.SchemeError, match=words):
        sl.simulate(trace_of(jobs, 4), sl.python_scheme(reserve_across))


def test_what_is_no_job_and_no_function_is_refused():
    with pytest.raises(TypeError, match=r"start\(\) takes a job of state.queue, got 1"):
        sl.simulate(trace_of(LOG, 4), sl.python_scheme(lambda state: state.start(1)))
    with pytest.raises(TypeError, match="python_scheme takes a function of the state, got 3"):
        sl.python_scheme(3)
    with pytest.raises(NotImplementedError, match=r"Empty has neither simulate\(case\) nor decide\(state\)"):
        sl.simulate(trace_of(LOG, 4), type("Empty", (sl.Scheme,), {})())


def test_steps_are_checked():
    trace = trace_of(LOG, 4)
    steps = sl.steps(trace)
    next(iter(steps))
    assert repr(steps).startswith(f"<Steps of {trace.title}: State at 0 s: ")
    with pytest.raises(RuntimeError, match="not all passes are over: <State at 0 s"):
        _ = steps.schedule
    with pytest.raises(ValueError, match="steps need a machine without a topology, got 2-ary 2-tree"):
        sl.steps(trace, machine=sl.KaryTree(k=2, n=2))
    with pytest.raises(ValueError, match="unknown overrun 'kil'"):
        sl.steps(trace, overrun="kil")
    with pytest.raises(ValueError, match="overrun 'kill-backfilled' is for jobs on nodes"):
        sl.steps(trace, overrun="kill-backfilled")


def test_schemes_and_schedules_are_pickled_and_jobs_copied():
    schedule = sl.simulate(trace_of(LOG, 4), easy)
    assert pickle.loads(pickle.dumps(easy)) is easy
    assert pickle.loads(pickle.dumps(schedule)).scheme is easy

    def copying(state):
        for job in state.queue:
            assert copy.copy(job).number == job.number
        fcfs.decide(state)

    sl.simulate(trace_of(LOG, 4), sl.python_scheme(copying))


def test_a_job_of_another_simulation_is_refused():
    others = next(iter(sl.steps(trace_of(LOG, 4)))).queue

    def foreign(state):
        state.start(others[0])

    with pytest.raises(sl.schemes.SchemeError, match=r"start\(job 1\): it is not a job of this simulation"):
        sl.simulate(trace_of(LOG, 4), sl.python_scheme(foreign))
