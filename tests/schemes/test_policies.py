"""Policies of any column and of running sums, vetoes and several reservations: against a naive twin, and in words."""

import gc
import inspect
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from math import floor

import numba
import numpy as np
import pandas as pd
import pytest
import twin_policies
from hypothesis import assume, given
from hypothesis import strategies as st
from workloads import always_by_index, examples, trace_of, workloads

import schedlab as sl
from schedlab.kernels.priority import multifactor
from schedlab.schemes.cases import case_of

EVENTS = st.sampled_from(["batched", "each"])
DAY = 24 * 3600.0


# Against the twin ------------------------------------------------------------------------------------------
def by_column(user, submit, queue):
    return (5 * user + 3 * submit + queue) % 4


def by_time_and_column(now, user, estimate):
    return (now * (user + 1) + estimate) % 5


def least_used(used=sl.Usage("user", half_life=None)):
    return used


def least_used_of_queue(estimate, by_queue=sl.Usage("queue", half_life=None), of_all=sl.Usage(None, half_life=None)):
    return (3 * by_queue + of_all + estimate) % 7


def decayed(faded=sl.Usage("user", half_life=5), all_faded=sl.Usage(None, half_life=3)):
    return floor(16 * faded + 0.5) - floor(4 * all_faded + 0.5)


def busiest(user_running, user_held, queue_queued, total_held, machine_procs, user_count):
    return (2 * user_running + 3 * user_held + 5 * queue_queued + total_held + machine_procs + user_count) % 6


ORDERS = [None, by_column, by_time_and_column, least_used, least_used_of_queue, decayed, busiest]


def short(estimate):
    return estimate <= 4


def not_twice(user_running):
    return user_running == 0


def few(user_held, queue_queued, total_running, procs):
    return user_held + procs <= 2 + queue_queued % 2 or total_running > 2


def has_waited(now, submit):
    return now - submit >= 2


def light(recent=sl.Usage("user", half_life=4)):
    return floor(8 * recent + 0.5) < 20


VETOES = [None, short, not_twice, few, has_waited, light]
SUMS = ("usage", "running", "held", "queued")


def as_twin(function, sums, scales=(16, 4, 8)):
    """Adapt our function for the twin; it discards examples in which rounding could decide."""
    if function is None:
        return None

    def ask(view):
        given = {name: getattr(view, name) for name in inspect.signature(function).parameters}
        for name, (_, _, half_life) in sums.items():
            if half_life is not None and name in given:
                assume(all(abs((scale * given[name] + 0.5) % 1 - 0.5) < 0.5 - 1e-6 for scale in scales))
        return function(**given)

    return ask


def sums_of(functions, keys):
    """Return the running sums that some functions ask for, as the twin takes them: by name kind, keys, half-life."""
    found = {}
    for function in filter(None, functions):
        for name, parameter in inspect.signature(function).parameters.items():
            of, _, kind = name.rpartition("_")
            if isinstance(parameter.default, sl.Usage):
                found[name] = "usage", keys[parameter.default.of or "total"], parameter.default.half_life
            elif kind in SUMS:
                found[name] = kind, keys[of], None
    return found


KEYS = st.fixed_dictionaries(dict.fromkeys(("user", "queue"), st.lists(st.integers(0, 2), min_size=30, max_size=30)))


def keyed(keys, jobs):
    """Return for each job its user, its queue, and what all have in common."""
    return {name: values[: len(jobs)] for name, values in keys.items()} | {"total": [0] * len(jobs)}


def with_columns(jobs, procs, **columns):
    trace = trace_of(jobs, procs)
    return replace(trace, table=trace.table.assign(**columns))


def simulated(jobs, procs, keys, scheme, **conventions):
    trace = with_columns(jobs, procs, user_id=keys["user"][: len(jobs)], queue=keys["queue"][: len(jobs)])
    schedule = sl.simulate(trace, scheme, **conventions).validate()
    return schedule.start.tolist(), schedule.promise.tolist()


@pytest.mark.plain
@pytest.mark.reduced
@examples(600)
@given(
    workloads(overrun=True),
    KEYS,
    st.sampled_from(ORDERS),
    st.sampled_from(ORDERS),
    st.sampled_from(VETOES),
    st.sampled_from([1, 1, 2, 3, "all"]),
    EVENTS,
    st.booleans(),
)
def test_easy_is_its_twin(workload, keys, order, backfill, may_backfill, reservations, events, by_index):
    jobs, procs = workload
    keys = keyed(keys, jobs)
    functions = {"order": order, "backfill": backfill, "may_backfill": may_backfill}
    scheme = sl.EASY(**functions | {"order": order or "fcfs"}, reservations=reservations)
    with always_by_index(by_index):
        found = simulated(jobs, procs, keys, scheme, events=events, overrun="keep")
    rules = {name: as_twin(function, sums_of([function], keys)) for name, function in functions.items()}
    rules["reservations"] = len(jobs) + 1 if reservations == "all" else reservations
    one_for_all = {"machine_procs": procs, "user_count": len(set(keys["user"]))}
    columns = keys | {name: [value] * len(jobs) for name, value in one_for_all.items()}
    sums = sums_of(functions.values(), keys)
    assert found == twin_policies.easy(jobs, procs, **rules, columns=columns, sums=sums, events=events)


# All schemes -----------------------------------------------------------------------------------------------
LOG = [(0, 9, 9, 3), (1, 4, 6, 4), (1, 3, 3, 2), (2, 5, 5, 1), (2, 1, 2, 1), (3, 6, 9, 2), (4, 2, 2, 4), (5, 3, 4, 1)]


def log_of(jobs=LOG, **columns):
    """Return a trace whose users are the processors that jobs want, and whose queues are their estimates."""
    _, _, estimates, procs = zip(*jobs, strict=True)
    return with_columns(jobs, 4, user_id=procs, queue=estimates, **columns)


TREE = sl.KaryTree(k=2, n=2)
EVERYWHERE = [
    (sl.FCFS, "order", None),
    (sl.EASY, "order", None),
    (sl.EASY, "backfill", None),
    (sl.EASY, "may_backfill", None),
    (partial(sl.EASY, reservations=2), "backfill", None),
    (sl.Conservative, "order", None),
    (partial(sl.Conservative, compression="rebuild"), "order", None),
    (sl.DPSA, "order", None),
    (sl.DPSA, "objective", None),
    (sl.FCFS, "order", TREE),
    (sl.EASY, "order", TREE),
    (partial(sl.EASY, shadow="block"), "may_backfill", TREE),
]


@pytest.mark.reduced
@pytest.mark.parametrize(("scheme", "setting", "machine"), EVERYWHERE)
@pytest.mark.parametrize(
    ("by_column", "by_scalar"),
    [
        (lambda user, submit: (7 * user + submit) % 3, lambda procs, submit: (7 * procs + submit) % 3),
        (lambda now, queue: (now * queue) % 4, lambda now, estimate: (now * estimate) % 4),
    ],
)
def test_a_column_counts_as_the_same_value_by_another_name(by_column, by_scalar, scheme, setting, machine):
    trace = log_of()
    found, expected = (
        sl.simulate(trace, scheme(**{setting: function}), machine=machine).validate().start.tolist()
        for function in (by_column, by_scalar)
    )
    assert found == expected


@pytest.mark.reduced
@examples(200)
@given(workloads(), st.sampled_from(ORDERS), st.sampled_from(VETOES), KEYS)
def test_a_tree_that_is_one_block_is_a_flat_machine(workload, order, may_backfill, keys):
    jobs, procs = workload
    scheme = sl.EASY(order=order or "fcfs", may_backfill=may_backfill, shadow="block")
    tree = sl.KaryTree(k=2, n=3, procs=procs, allocation="first-free")
    assert simulated(jobs, procs, keys, scheme)[0] == simulated(jobs, procs, keys, scheme, machine=tree)[0]


@pytest.mark.reduced
@examples(200)
@given(workloads(), st.sampled_from(ORDERS), KEYS)
def test_conservative_backfilling_asks_as_easy_does(workload, order, keys):
    jobs, procs = workload
    order = order or "fcfs"
    found = simulated(jobs, procs, keys, sl.EASY(order=order, reservations="all"))[0]
    assert found == simulated(jobs, procs, keys, sl.Conservative(order=order, compression="rebuild"))[0]


# Several reservations --------------------------------------------------------------------------------------
@pytest.mark.traces
@pytest.mark.parametrize("log", ["KTH-SP2-1996", "SDSC-SP2-1998"])
def test_from_easy_to_conservative_on_a_whole_log(log):
    trace = sl.load_trace(log)
    for events in ("batched", "each"):
        everyone = sl.simulate(trace, sl.EASY(reservations="all"), events=events)
        rebuilt = sl.simulate(trace, sl.Conservative(compression="rebuild"), events=events)
        assert (everyone.start == rebuilt.start).all()
    exact = trace.cut_at_estimates().with_estimates("exact")
    never_moved = sl.simulate(exact, sl.Conservative(compression="none"))
    assert (sl.simulate(exact, sl.EASY(reservations="all")).start == never_moved.start).all()


# What policies see -----------------------------------------------------------------------------------------
def seen(trace, function, **settings):
    """Return the order in which FCFS, on one processor, starts jobs that all wait from the beginning."""
    start = sl.simulate(trace, sl.FCFS(order=function), **settings).validate().start
    return (np.argsort(start) + 1).tolist()


ROLES = {"submit": "submit", "run": "run", "procs": "procs"}


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "submit": pd.to_datetime(["2024-03-01 12:00"] * 4),
            "run": [10, 10, 10, 10],
            "procs": 1,
            "account": ["physics", "astro", None, "bio"],
            "urgent": [False, True, True, False],
            "energy": [3.5, 0.25, 7.0, 1.0],
            "deadline": pd.to_datetime(
                ["2024-03-01 13:00", "2024-03-02 00:00", "2024-02-01 00:00", "2024-03-01 12:30"]
            ),
            "notice": pd.to_timedelta([40, 20, 30, 10], unit="min"),
            "level": pd.array([3, None, 1, 2], dtype="Int64"),
        }
    )


@pytest.fixture
def table(frame):
    return sl.from_frame(frame, **ROLES, machine=1)


@pytest.mark.reduced
@pytest.mark.parametrize(
    ("function", "order"),
    [
        (lambda account: account, [3, 2, 4, 1]),  # unknown -1, astro 0, bio 1, physics 2
        (lambda urgent: -urgent, [2, 3, 1, 4]),
        (lambda energy: energy, [2, 4, 1, 3]),
        (lambda deadline: deadline, [3, 4, 1, 2]),
        (lambda deadline, now: deadline - now, [3, 4, 1, 2]),
        (lambda notice: notice, [4, 2, 3, 1]),
        (lambda level: level, [2, 3, 4, 1]),
        (lambda account_count, account, submit: account_count * account, [3, 2, 4, 1]),
    ],
)
def test_columns_arrive_as_numbers(table, function, order):
    assert seen(table, function) == order


def test_text_has_the_same_code_in_each_part(table):
    assert table.codes("account") == {"astro": 0, "bio": 1, "physics": 2}
    assert table.columns["account"].tolist() == [2, 0, -1, 1]
    part = table.where("account != 'astro'")
    assert part.codes("account") == {"bio": 0, "physics": 1}  # a trace of its own
    case, _ = case_of(table, sl.FCFS())
    assert case.first(2).columns["account"].tolist() == [2, 0]
    assert case.first(3).first(1).columns["account"].tolist() == [2]


def test_codes_of_what_has_none(table):
    with pytest.raises(ValueError, match="no column 'acount'; known: "):
        table.codes("acount")
    with pytest.raises(ValueError, match="column 'energy' holds numbers without names"):
        table.codes("energy")


def test_numbers_that_a_log_names_are_told_by_their_names(frame):
    named = sl.from_frame(frame.assign(queue=["x", "y", "x", "z"]), **ROLES, queue="queue", machine=1)
    codes = named.codes("queue")
    assert sorted(codes) == ["x", "y", "z"]
    assert [codes[name] for name in ("x", "y", "x", "z")] == named.columns["queue"].tolist()


def test_dates_need_a_log_that_has_some(frame):
    undated = sl.from_frame(frame.assign(submit=range(4)), **ROLES, machine=1)
    with pytest.raises(ValueError, match="column 'deadline' holds dates, but the log has no UnixStartTime"):
        sl.simulate(undated, sl.FCFS(order=lambda deadline: deadline))


def test_partitions_see_the_columns_of_their_own_jobs(frame):
    frame = frame.assign(part=["one", "two", "one", "two"])
    trace = sl.from_frame(frame, **ROLES, partition="part", machine=2)
    scheme = sl.FCFS(order=lambda account, total_queued: account - 0 * total_queued)
    start = sl.simulate(trace, scheme, machine={"one": 1, "two": 1}).validate().start - trace.table["submit_time"]
    assert start.tolist() == [10, 0, 0, 10]


def test_usage_fades():
    """Ten days ago user 1 used more than user 2 does now, and after ten half-lives it counts less."""
    day = 24 * 3600
    jobs = [(0, 4 * day, 4 * day, 2), (10 * day, 3600, 3600, 2), (10 * day + 1, 10, 10, 2), (10 * day + 2, 10, 10, 2)]
    trace = with_columns(jobs, 2, user_id=[1, 2, 2, 1])
    first = {
        half_life: sl.simulate(trace, sl.FCFS(order=sl.fairshare(half_life=half_life))).start[2:].argmin()
        for half_life in (None, 0.5 * day)
    }
    assert first == {None: 0, 0.5 * day: 1}


def test_multifactor_is_slurms_sum():
    """Half the age, a user with three times the share used, and half of the machine."""
    machine = {"machine_procs": 4, "user_count": 4}
    value = multifactor(now=3600, submit=0, procs=2, user_usage=30.0, total_usage=40.0, max_age=7200.0, **machine)
    assert value == -(1000 * 0.5 + 10_000 * 2.0**-3 + 1000 * 0.5)
    fresh = multifactor(now=9, submit=9, procs=4, user_usage=0.0, total_usage=0.0, **machine)
    assert fresh == -(10_000 + 1000)


def test_named_policies_are_told_by_their_settings():
    assert sl.EASY(order=sl.fairshare("group")) == sl.EASY(order=sl.fairshare("group"))
    assert sl.EASY(order=sl.multifactor(age=5)) == sl.EASY(order=sl.multifactor(age=5))
    assert sl.EASY(order=sl.fairshare("group")) != sl.EASY(order=sl.fairshare("user"))
    assert str(sl.EASY(order="fairshare")) == "EASY-FAIRSHARE"
    assert "FAIRSHARE(USER_USAGE=ACCOUNT HALF-LIFE 24 H" in str(sl.EASY(order=sl.fairshare("account", DAY)))
    assert sl.EASY(order=sl.multifactor()) == sl.EASY(order=sl.multifactor())
    assert "AGE=5" in str(sl.EASY(order=sl.multifactor(age=5)))
    trace = log_of(account=["x", "y"] * 4)
    by_account = sl.simulate(trace, sl.EASY(order=sl.multifactor(of="account"))).validate().start
    assert (by_account == sl.simulate(trace, sl.EASY(order=own_multifactor)).start).all()


def own_multifactor(now, submit, procs, machine_procs, account_count, used=sl.Usage("account"), of_all=sl.Usage(None)):
    share = 2 ** -(used * account_count / of_all) if of_all else 1
    return -(1000 * min((now - submit) / (7 * DAY), 1) + 10_000 * share + 1000 * procs / machine_procs)


def test_policies_may_be_dropped_while_their_kernels_run():
    """Only the call itself keeps the compiled form of a function with an outside array alive."""
    trace = log_of(LOG * 20)

    def run(k):
        weights = np.arange(10.0) * (-1) ** k
        return sl.simulate(trace, sl.EASY(order=lambda now, user: weights[user] + 0 * now)).start.tolist()

    expected = [run(0), run(1)]
    gc.collect()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(24))) == expected * 12


# Vetoes ----------------------------------------------------------------------------------------------------
def test_a_veto_that_gives_nan_is_an_error():
    trace = log_of()
    for veto in (lambda estimate: np.nan if estimate > 2 else 1.0, lambda now: np.nan if now > 1 else 1.0):
        with pytest.raises(ValueError, match="may_backfill <lambda> gives nan"):
            sl.simulate(trace, sl.EASY(may_backfill=veto))


# What is refused -------------------------------------------------------------------------------------------
@pytest.mark.reduced
@pytest.mark.parametrize(
    ("order", "name"),
    [
        (lambda size: size, "size"),
        (lambda size_usage: size_usage, "size_usage"),
        (lambda usage: usage, "usage"),
        (lambda total_count: total_count, "total_count"),
        (lambda used=sl.Usage("project"): used, "project"),
    ],
)
def test_what_no_job_has_is_refused_with_what_jobs_have(order, name):
    with pytest.raises(sl.schemes.PolicyError) as caught:
        sl.simulate(log_of(), sl.EASY(order=order))
    first, line, known, sums, more = str(caught.value).split("\n")
    assert f"takes '{name}', which is neither a column nor another value of a job" in first
    assert "test_policies.py, line" in line
    assert "columns: user, group, submit_time, " in known
    assert "user_usage" in sums
    assert "default" in more


@pytest.mark.reduced
def test_a_column_without_any_value_is_refused():
    nobody = trace_of(LOG, 4)
    for order in ("fairshare", "multifactor", lambda user: user, lambda user_running: user_running):
        with pytest.raises(ValueError, match="cannot use user: it is unknown for every job of a test"):
            sl.simulate(nobody, sl.EASY(order=order))


@pytest.mark.reduced
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sl.Usage(half_life=0), "half_life must be a number of seconds greater than 0, or None, got 0"),
        (lambda: sl.Usage(half_life="7d"), "half_life must be .* got '7d'"),
        (lambda: sl.EASY(reservations=0), 'reservations must be a whole number of at least 1, or "all", got 0'),
        (lambda: sl.EASY(reservations=2.0), "reservations must be .* got 2.0"),
        (lambda: sl.EASY(reservations=True), "reservations must be .* got True"),
        (lambda: sl.EASY(reservations="many"), "reservations must be .* got 'many'"),
        (lambda: sl.EASY(may_backfill="short"), "may_backfill is 'short', expected a function of"),
    ],
)
def test_settings_are_checked(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.reduced
def test_what_a_tree_cannot_do():
    with pytest.raises(ValueError, match="on nodes there is one reservation; leave out reservations"):
        sl.simulate(log_of(), sl.EASY(reservations=2), machine=TREE)
    counts = sl.EASY(may_backfill=not_twice, shadow="block")
    with pytest.raises(ValueError, match="may_backfill not_twice counts running jobs, which overrun 'kill-backfilled'"):
        sl.simulate(log_of(), counts, machine=TREE, overrun="kill-backfilled")


def test_the_job_at_which_it_fails_is_named_with_its_columns():
    def fails(user, user_held, energy):
        return 1 / (user - 3) + energy * user_held

    trace = log_of(energy=np.arange(8) / 4)
    with pytest.raises(sl.schemes.PolicyError, match="ZeroDivisionError") as caught:
        sl.simulate(trace, sl.EASY(order=fails))
    assert "user = 3, energy = 0.0, user_held = 0.0" in str(caught.value)


BOSS = "physics"


@numba.njit
def is_boss(account):
    return account == "physics"


def in_a_variable(account):
    name = account
    if name != "bio":
        return 1
    return 0


def matched(now, account):
    match account:
        case "bio":
            return now
    return 0


@pytest.mark.reduced
@pytest.mark.parametrize(
    ("policy", "name", "line"),
    [
        (lambda account: account == "bio", "account", 'account: account == "bio"'),
        (lambda account: account != "bio", "account", 'account: account != "bio"'),
        (lambda account: "bio" == account, "account", 'account: "bio" == account'),  # noqa: SIM300
        (lambda account: account in ("bio", "astro"), "account", "account in ("),
        (lambda account, procs: procs > 5 and account == BOSS, "account", "procs > 5 and account == BOSS"),
        (lambda account, boss=BOSS: account == boss, "account", "account == boss"),
        (lambda account: is_boss(account), "account", 'return account == "physics"'),
        (lambda account: (lambda code: code == "bio")(account), "a value of the job", 'code == "bio"'),
        (lambda energy: energy == "3.5", "energy", 'energy == "3.5"'),
        (in_a_variable, "a value of the job", 'if name != "bio":'),
        (matched, "account", 'case "bio":'),
    ],
)
@pytest.mark.parametrize("setting", ["order", "may_backfill"])
def test_comparing_a_column_with_text_is_an_error_that_says_how(table, policy, name, line, setting):
    if numba.config.DISABLE_JIT and (name == "energy" or "procs" in line or policy is matched):
        pytest.skip("noticed by the compiler only")
    with pytest.raises(sl.schemes.PolicyError) as caught:
        sl.simulate(table, sl.EASY(**{setting: policy}))
    first, place, *how = str(caught.value).split("\n")
    known = "a value of the job" if numba.config.DISABLE_JIT else name
    assert first == f"{setting} {policy.__name__} compares {known} with text, but text arrives as a number"
    assert line in place
    column = "energy" if name == "energy" else "account"
    assert how == [
        f'Get the number of a text outside the function, such as alice = trace.codes("{column}")["alice"],',
        f"then compare with it: {column} == alice.",
    ]


def test_text_that_is_compared_as_the_error_says_is_found(table):
    bio = table.codes("account")["bio"]
    assert seen(table, lambda account: account != bio) == [4, 1, 2, 3]
    assert seen(table, lambda account: 0 if account in (bio, -1) else 1) == [3, 4, 1, 2]


def test_settings_of_a_policy_may_be_text(table):
    def order(account, way="up", other=3):
        return account if way == "up" and other != "down" else -account

    assert seen(table, order) == [3, 2, 4, 1]
    assert (
        seen(table, partial(order, way=1))
        == seen(table, partial(order, way="down"))
        == seen(table, partial(order, other="down"))
        == [1, 4, 2, 3]
    )


def gives_nothing_to_unknown(account, energy):
    if account >= 0:
        return energy
    return None


@pytest.mark.reduced
@pytest.mark.parametrize("setting", ["order", "may_backfill"])
def test_the_job_that_gets_no_value_is_named(table, setting):
    with pytest.raises(sl.schemes.PolicyError) as caught:
        sl.simulate(table, sl.EASY(**{setting: gives_nothing_to_unknown}))
    first, line, job = str(caught.value).split("\n")
    assert first == f"{setting} gives_nothing_to_unknown gives None, expected a number"
    assert "def gives_nothing_to_unknown" in line
    assert job.startswith("for a job with ")
    assert "account = -1, energy = 7.0" in job
    known = table.where("account == account")
    assert seen(known, gives_nothing_to_unknown) == [2, 3, 1]  # nobody gets None


# What a review found ---------------------------------------------------------------------------------------
def test_a_vetoed_job_that_no_longer_fits_gets_a_reservation():
    """Job 3 may not be backfilled though it fits at 1; job 4 takes its processors. It gets a reservation at 2."""
    jobs = [(0, 10, 10, 3), (1, 5, 5, 4), (1, 5, 5, 2), (1, 9, 9, 2), (2, 20, 20, 1)]
    keys = {"user": [1, 1, 2, 1, 1], "queue": [0] * 5}
    for veto in (lambda user: user != 2, lambda now, user: user != 2):
        found = simulated(jobs, 6, keys, sl.EASY(reservations=2, may_backfill=veto))
        assert found == ([0, 10, 10, 1, 15], [-1, 10, 10, -1, 15])


def not_the_first(user):
    return user > 0


@pytest.mark.reduced
@examples(300)
@given(workloads(overrun=True, most=30), st.sampled_from([2, 3, "all"]), KEYS)
def test_a_veto_of_some_users_is_that_of_the_twin(workload, reservations, keys):
    jobs, procs = workload
    found = simulated(jobs, procs, keys, sl.EASY(reservations=reservations, may_backfill=not_the_first), overrun="keep")
    many = len(jobs) + 1 if reservations == "all" else reservations
    given = {"may_backfill": as_twin(not_the_first, {}), "reservations": many, "columns": keyed(keys, jobs)}
    assert found == twin_policies.easy(jobs, procs, **given)


BIG = 10**13
SIGN = 1


def big_area(estimate, procs):
    return BIG * estimate * procs


def nested(estimate):
    return max((lambda value: SIGN * value)(estimate), -1_000_000)


def test_what_a_policy_uses_is_compiled_with_its_type_and_wherever_it_stands(monkeypatch):
    jobs = [(0, 9, 9, 1), (1, 5, 10**6, 1), (1, 5, 5, 1), (1, 5, 10**5, 1)]
    trace = trace_of(jobs, 1)
    overflows = sl.simulate(trace, sl.FCFS(order=big_area)).start.tolist()
    monkeypatch.setitem(globals(), "BIG", 1e13)
    assert sl.simulate(trace, sl.FCFS(order=big_area)).start.tolist() == [0, 19, 9, 14] != overflows
    before = sl.simulate(trace, sl.FCFS(order=nested)).start.tolist()
    monkeypatch.setitem(globals(), "SIGN", -1)
    assert sl.simulate(trace, sl.FCFS(order=nested)).start.tolist() != before

    def changed_in_place(estimate):
        return estimate

    shortest = sl.simulate(trace, sl.FCFS(order=changed_in_place)).start.tolist()
    changed_in_place.__code__ = (lambda estimate: -estimate).__code__  # as %autoreload does
    assert sl.simulate(trace, sl.FCFS(order=changed_in_place)).start.tolist() != shortest


@pytest.mark.parametrize("moving", [False, True])
def test_an_array_that_is_too_short_is_an_error_and_no_garbage(moving):
    weights = np.ones(3)
    trace = log_of()  # users are 1 to 4
    order = (lambda now, user: weights[user] - now) if moving else (lambda user: weights[user])
    with pytest.raises(sl.schemes.PolicyError, match="IndexError"):
        sl.simulate(trace, sl.EASY(order=order))


def test_numbers_are_numbers_however_pandas_holds_them(frame):
    numbers = {
        "objects": pd.Series([10, 9, None, 2], dtype=object),
        "categories": pd.Series([10, 9, 9, 2], dtype="category"),
        "far": pd.Series(np.array(["2300-01-01", "9999-12-31", "NaT", "2024-03-01T12:00:09"], dtype="datetime64[s]")),
    }
    trace = sl.from_frame(frame.assign(**numbers), **ROLES, machine=1)
    assert trace.columns["objects"][[0, 1, 3]].tolist() == [10, 9, 2]
    assert trace.columns["categories"].tolist() == [10, 9, 9, 2]
    far = trace.columns["far"].tolist()
    assert far[2:] == [-1, 9]
    assert 8_000 * 365 * DAY > far[1] > far[0] > 275 * 365 * DAY
    with pytest.raises(ValueError, match="holds numbers without names"):
        trace.codes("notice")
    with pytest.raises(ValueError, match="read-only"):
        trace.columns["categories"][0] = 3


def test_a_kept_column_does_not_take_the_place_of_a_role(frame):
    frame = frame.assign(user=["w", "x", "y", "z"], uid=["a", "b", "a", "b"])
    trace = sl.from_frame(frame, **ROLES, user="uid", machine=1)
    assert "user_given" in trace.jobs
    assert trace.columns["user"].tolist() == trace.jobs["user_id"].tolist()


def test_a_usage_counts_whatever_its_parameter_is_called():
    def strange(procs=sl.Usage("user")):
        return procs

    trace = log_of(LOG * 4)
    assert (sl.simulate(trace, sl.FCFS(order=strange)).start == sl.simulate(trace, "fcfs-fairshare").start).all()


def test_labels_are_short():
    weights = np.arange(1000.0)
    order = partial(lambda user, weights: weights[user], weights=weights)
    assert str(sl.EASY(order=order)) == "EASY-<LAMBDA>(WEIGHTS=NDARRAY)"
    assert str(sl.EASY(may_backfill=lambda estimate: estimate < 4)) == "EASY (backfills if <lambda>)"
    assert "NUMBER OF ACCOUNT" in str(sl.EASY(order=sl.multifactor(of="account")))
    for make, of in ((lambda: sl.multifactor(of=None), None), (lambda: sl.Usage(3), 3)):
        with pytest.raises(TypeError, match=f"of is {of}, expected the name of a column"):
            make()
