"""Grids of runs: every combination once, the same for any number of threads, and nothing simulated twice."""

import functools
import gc
import math
import os
import re
import sys
import threading
import time
import warnings
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import joblib
import numba
import numpy as np
import pandas as pd
import pytest
from workloads import trace_of

import schedlab as sl
from schedlab import experiment
from schedlab._runtime.digests import NoDigestError, digest
from schedlab.experiment import sweeps
from schedlab.experiment.progress import Progress

pytestmark = pytest.mark.tables

SCHEMES = ("fcfs", sl.EASY(), "easy-sjf", sl.Conservative())
LOADS = (0.6, 0.9)


@pytest.fixture(scope="module")
def traces():
    return [sl.model_trace("lublin", jobs=jobs, machine=64, seed=jobs) for jobs in (300, 120)]


@pytest.fixture(scope="module")
def table(traces):
    return sl.sweep(traces, SCHEMES, LOADS, progress=False)


def test_a_row_for_each_combination_in_order_has_the_measures_of_its_schedule(traces, table):
    titles = [f"{trace.title}, {trace.history[0]}" for trace in traces]
    names = [(title, load, scheme) for title in titles for load in LOADS for scheme in SCHEMES]
    assert table.index.tolist() == [*range(16)]
    assert table.columns[:3].tolist() == ["trace", "load", "scheme"]
    found = table[["trace", "load", "scheme"]].itertuples(index=False, name=None)
    expected = [(trace, load, {"fcfs": "FCFS", "easy-sjf": "EASY-SJF"}.get(s, str(s))) for trace, load, s in names]
    assert list(found) == expected
    assert table["jobs"].tolist() == [300] * 8 + [120] * 8
    rows = table.iterrows()
    for trace in traces:
        for load in LOADS:
            for scheme in SCHEMES:
                expected = sl.simulate(trace.scale_load(load), scheme).validate().metrics()
                _, row = next(rows)
                assert row[expected.index].tolist() == pytest.approx(expected.tolist(), rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize("by", ["run_time", "interarrival"])
def test_loads_are_reached_as_asked(traces, by):
    table = sl.sweep(traces, "easy", [0.4, 0.8, 1.2], by=by, progress=False)
    assert table["offered_load"].tolist() == pytest.approx(table["load"].tolist(), rel=0.01)
    scaled = [trace.scale_load(load, by=by) for trace in traces for load in (0.4, 0.8, 1.2)]
    spans = [np.ptp(trace.jobs["submit_time"]) for trace in scaled]
    assert (len(set(spans)) == 2) == (by == "run_time")
    assert (table["makespan"] >= spans).all()


def test_without_a_load_the_traces_keep_their_own(traces):
    for overrun in ("kill", "extend"):
        table = sl.sweep(traces, "easy", overrun=overrun, progress=False)
        assert table["load"].tolist() == [trace.offered_load(overrun) for trace in traces]


@pytest.mark.parametrize("load", [1, np.int64(1), 0.7, np.float64(0.7), [0.7], pd.Series([0.7]), np.array([0.7])])
@pytest.mark.parametrize("scheme", ["easy", sl.EASY(), ["easy"], (sl.EASY(),)])
def test_single_values_are_taken(traces, load, scheme):
    table = sl.sweep(traces[1], scheme, load, progress=False)
    assert table[["load", "scheme"]].to_dict("records") == [{"load": np.max(load), "scheme": "EASY"}]


def test_generators_and_stand_ins_are_taken(traces):
    assert len(sl.sweep((trace for trace in traces), progress=False)) == 2
    table = sl.sweep(replace(traces[1], name="CTC", source="stand-in"), progress=False)
    assert table["trace"].tolist() == ["CTC (stand-in, not the real log)"]


def test_conventions_and_tau_are_passed_on():
    trace = trace_of([(0, 10, 5, 1), (1, 4, 4, 2), (2, 3, 3, 1)], 2)
    killed, extended = (sl.sweep(trace, overrun=what, progress=False).iloc[0] for what in ("kill", "extend"))
    assert (killed["killed"], extended["killed"]) == (1, 0)
    assert extended["makespan"] > killed["makespan"]
    assert sl.sweep(trace, machine=4, progress=False)["wait_time"].tolist() == [0]
    short, long = (sl.sweep(trace, tau=tau, progress=False).iloc[0] for tau in (1, 1000))
    assert short["bounded_slowdown"] > long["bounded_slowdown"] == 1
    together = trace_of([(0, 5, 5, 2), (5, 4, 4, 2), (5, 1, 1, 1)], 2)
    for events, waits in (("batched", 1), ("each", 4)):
        table = sl.sweep(together, "easy-sjf", events=events, progress=False)
        assert table["wait_time"].tolist() == [waits / 3]


def test_what_is_wrong_is_said(traces):
    for wrong, words in (
        ({"load": [0.5, -1]}, "load must be greater than 0, got -1"),
        ({"load": float("nan")}, "load must be greater than 0, got nan"),
        ({"scheme": ["easy", "esay"]}, "unknown scheme 'esay'"),
        ({"load": 0.5, "by": "size"}, "unknown by 'size'"),
        ({"events": "all"}, "unknown events 'all'"),
        ({"threads": 0}, "greater than 0"),
    ):
        with pytest.raises(ValueError, match=words):
            sl.sweep(traces[1], **wrong, progress=False)


@pytest.mark.parametrize("name", ["trace", "scheme", "load", "seed"])
@pytest.mark.parametrize("made", [True, False])
def test_an_empty_list_is_an_error(traces, name, made):
    given = {"trace": (lambda seed: traces[1]) if made else traces[1], "seed": 1} | {name: ()}
    with pytest.raises(ValueError, match=f"^{name} is an empty list, expected at least one {name}$"):
        sl.sweep(**given, progress=False)


def test_progress_shows_on_standard_error_where_it_takes_long_and_what_is_quick_is_silent(traces, capsys, monkeypatch):
    sl.sweep(traces[1], "easy", progress=False)  # now compiled
    sl.sweep(traces[1], "easy")
    assert capsys.readouterr() == ("", "")
    done = sweeps.simulate
    monkeypatch.setattr(sl.experiment.progress, "SILENT", 0.2)
    monkeypatch.setattr(sweeps, "simulate", lambda *args, **options: time.sleep(0.15) or done(*args, **options))
    for progress in (True, False):
        experiment.forget()
        sl.sweep(traces[1], ["fcfs", "easy"], threads=1, progress=progress)
        out, err = capsys.readouterr()
        assert out == ""
        assert ("simulating" in err) == progress


def test_traces_of_one_name_are_told_apart_by_what_was_done_to_them(traces):
    trace = replace(traces[1], name="CTC", source="archive", history=()).head(100)
    exact, tripled = trace.with_estimates("exact"), trace.with_estimates("factor", factor=3)
    table = sl.sweep([trace, exact, tripled, exact], ["fcfs", "easy"], progress=False)
    names = ["CTC", "CTC, estimates: exact", "CTC, estimates: run time x 3", "CTC, estimates: exact"]
    assert table["trace"].tolist() == [name for name in names for _ in range(2)]
    sl.charts.lines(table.iloc[:6], x="load", y="wait_time", dash="trace")
    one, other = (replace(trace, name="CTC", source="archive", history=()) for trace in traces)
    table = sl.sweep([one, other, one], progress=False)  # these differ in nothing that can be said
    assert table["trace"].tolist() == ["CTC", "CTC (2)", "CTC"]


def test_a_family_has_one_name_for_all_its_seeds(traces):
    def drawn(seed):
        return sl.model_trace("lublin", jobs=60, machine=64, seed=seed)

    def exact(seed):
        return drawn(seed).with_estimates("factor", factor=3)

    table = sl.sweep([drawn, exact], seed=[1, 2], progress=False)
    title = "Lublin-Feitelson model"
    assert table["trace"].tolist() == [title, title, *2 * [f"{title}, estimates: run time x 3"]]


@pytest.mark.parametrize("given", ["CTC-SP2-1996", ["CTC-SP2-1996"], 7 * [None]])
def test_traces_must_be_traces(given):
    with pytest.raises(TypeError, match=r"^trace is .*, expected a Trace: load_trace\(name\) or read_swf\(path\)"):
        sl.sweep(given, progress=False)


def test_an_interrupt_leaves_undone_what_has_not_begun(monkeypatch):
    done = []

    def one(*arguments, **conventions):
        done.append(arguments)
        time.sleep(0.01)
        return sl.simulate(*arguments, **conventions)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sweeps, "simulate", one)
    monkeypatch.setattr(Progress, "update", interrupted)
    trace = sl.model_trace("lublin", jobs=20, machine=16)
    with pytest.raises(KeyboardInterrupt):
        sl.sweep(trace, "easy", [0.5 + i / 1000 for i in range(400)], threads=2)
    assert 1 <= len(done) < 50


# --- grid ---
@pytest.fixture(autouse=True)
def nothing_remembered():
    experiment.forget()


def product_of(a, b=1, seed=0):
    return {"product": a * b, "seeded": seed}


def test_a_grid_has_a_row_for_each_combination_in_order():
    table = sl.grid(product_of, a=[3, 1], b=(10, 20), seed=range(2), progress=False)
    assert table.columns.tolist() == ["a", "b", "seed", "product", "seeded"]
    assert table[["a", "b", "seed"]].to_numpy().tolist() == [
        [a, b, seed] for a in (3, 1) for b in (10, 20) for seed in (0, 1)
    ]
    assert (table["product"] == table["a"] * table["b"]).all()


def thread_of(a):
    time.sleep(0.02)  # so that one thread cannot have taken all runs before another begins
    return {"thread": threading.get_ident()}


def test_a_grid_takes_every_core_unless_told_otherwise():
    def threads_of(**settings):
        sl.experiment.forget()
        return sl.grid(thread_of, a=range(4 * os.cpu_count()), progress=False, **settings)["thread"].nunique()

    assert threads_of() == os.cpu_count()
    assert threads_of(threads=1) == 1
    with joblib.parallel_config(n_jobs=1):
        assert threads_of() == 1
    with joblib.parallel_config(n_jobs=3):
        assert threads_of() == 3


@pytest.mark.parametrize("threads", [1, 2, 4, None])
def test_a_grid_is_the_same_for_any_number_of_threads(threads):
    def slow_first(a):
        time.sleep(0.02 * (a == 0))
        return {"b": a}

    assert sl.grid(slow_first, a=range(20), threads=threads, progress=False)["b"].tolist() == [*range(20)]


@pytest.mark.parametrize(("backend", "jobs"), [("threading", 2), ("loky", 2), ("sequential", None)])
def test_a_grid_runs_on_the_backend_that_joblib_is_told(backend, jobs):
    with joblib.parallel_config(backend=backend, n_jobs=jobs):
        table = sl.grid(lambda a: {"b": a + 1, "pid": os.getpid()}, a=range(4), progress=False)
    assert table["b"].tolist() == [1, 2, 3, 4]
    assert (os.getpid() in set(table["pid"])) == (backend != "loky")


def test_combinations_are_joined_with_all_values_and_runs_give_several_rows_or_numbers_alone():
    table = sl.grid(product_of, [{"a": 1, "b": 2}, {"a": 5, "b": 6}], seed=[7, 8], progress=False)
    assert table[["a", "b", "seed"]].to_numpy().tolist() == [[1, 2, 7], [1, 2, 8], [5, 6, 7], [5, 6, 8]]
    assert sl.grid(product_of, [], seed=[7, 8], progress=False).empty

    def by_class(a):
        return pd.DataFrame({"wait": [a, 2 * a]}, index=pd.Index(["SN", "LW"], name="class"))

    table = sl.grid(by_class, a=[1, 5], progress=False)
    assert table.to_dict("list") == {"a": [1, 1, 5, 5], "class": ["SN", "LW"] * 2, "wait": [1, 2, 5, 10]}
    assert sl.grid(lambda a: a / 2, a=3, progress=False).to_dict("list") == {"a": [3], "value": [1.5]}
    assert sl.grid(lambda a: pd.Series({"b": a}), a=[3], progress=False).to_dict("list") == {"a": [3], "b": [3]}


def test_schemes_and_traces_stand_in_a_grid_by_their_names(traces):
    def run(trace, scheme, order):
        return {"mean": sl.simulate(trace, scheme).metrics()["wait_time"], "text": str(order)}

    schemes = [sl.EASY(order=order) for order in (lambda procs: procs, lambda procs: -procs)]
    table = sl.grid(run, trace=traces, scheme=["easy", *schemes], order=[(0, 2)], progress=False)
    names = str(schemes[0])
    assert table["scheme"].tolist()[:3] == ["easy", names, f"{names} (2)"]
    assert table["trace"].nunique() == 2
    assert table["order"].tolist() == [(0, 2)] * 6
    assert table["mean"][0] == sl.simulate(traces[0], "easy").metrics()["wait_time"]


def fails_at_2(a):
    if a == 2:
        raise ZeroDivisionError("a is two")
    return {"b": a}


def test_a_run_that_fails_is_named_and_may_be_kept():
    words = "the run with a=2 failed: ZeroDivisionError: a is two"
    with pytest.raises(experiment.RunError, match=words) as caught:
        sl.grid(fails_at_2, a=range(4), progress=False)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    table = sl.grid(fails_at_2, a=range(4), errors="keep", progress=False)
    assert table["error"].tolist() == ["", "", "ZeroDivisionError: a is two", ""]
    assert table["b"].isna().tolist() == [False, False, True, False]
    only = sl.grid(fails_at_2, a=2, errors="keep", progress=False)
    line = fails_at_2.__code__.co_firstlineno + 2
    place = f'test_experiment.py, line {line}, in fails_at_2: raise ZeroDivisionError("a is two")'
    assert only.to_dict("list") == {"a": [2], "error": ["ZeroDivisionError: a is two"], "error_at": [place]}


def fails_at_once_or_waits(place):
    if place == 0:
        raise ValueError("the first fails")
    time.sleep(0.05)
    return place


def within_another_grid(outer):
    return sl.grid(fails_at_once_or_waits, place=range(outer, outer + 4), progress=False)["value"].sum()


@pytest.mark.parametrize("progress", [True, False])
@pytest.mark.parametrize("run", [fails_at_once_or_waits, within_another_grid])
def test_a_grid_that_ends_early_leaves_nothing_behind(run, progress):
    values = {"place" if run is fails_at_once_or_waits else "outer": range(6)}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(sl.experiment.RunError, match="the first fails"):
            sl.grid(run, threads=2, progress=progress, **values)
        time.sleep(0.2)  # longer than all other runs would take
        gc.collect()
    assert [str(one.message) for one in warned] == []


CLASH = "the run gives a, which is also one of its values; rename the measure"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sl.grid(product_of, a=[]), "a is an empty list, expected at least one a"),
        (lambda: sl.grid(product_of, a=1, errors="some"), "unknown errors 'some'; known: raise, keep"),
        (
            lambda: sl.grid(product_of, [{"a": 1}], a=[1]),
            "a: given both in the combinations and as values of their own; give",
        ),
        (lambda: sl.grid(product_of, c=1), "the function takes a, b, seed; with c: .*'a'|'c'"),
        (lambda: sl.grid(lambda threads: {}, threads=2), "threads: names of grid's own parameters"),
        *[(lambda a=a: sl.grid(lambda a: {"a": 1}, a=a), CLASH) for a in (1, [1, 2])],
        (
            lambda: sl.grid(lambda a: {"x": np.arange(3)}, a=[1, 2]),
            "measure x is a ndarray, expected a number, a text or",
        ),
        (lambda: sl.grid(lambda a: pd.Series([1, 2], index=["x", "x"]), a=[1, 2]), "the run gives x more than once"),
        (
            lambda: sl.grid(lambda a: pd.DataFrame([[1, 2]], columns=["x", "x"]), a=[1, 2]),
            "the run gives x more than once",
        ),
        (lambda: sl.grid(lambda a: "abc", a=1), "the run gave a str, expected measures"),
        (lambda: sl.grid(lambda a: {"error": a}, a=1, errors="keep"), "gives error, which is a reserved column"),
        *[
            (lambda rows=rows: sl.grid(product_of, rows), "combinations is .*, expected mappings such as")
            for rows in (3, "abc", [1], {"a": 1})
        ],
        *[
            (lambda number=number: sl.grid(product_of, a=1, threads=number), f"greater than 0, got {number}")
            for number in (0, 1.5, True)
        ],
    ],
)
def test_a_grid_that_cannot_be(make, message):
    with pytest.raises((ValueError, TypeError, experiment.RunError), match=message):
        make()


# --- What was run before ---
def test_nothing_is_run_twice_and_a_value_of_progress_is_no_part_of_a_key():
    ran = []

    def run(a, seed):
        ran.append((a, seed))
        return {"b": a + seed}

    key = digest(run)
    one = sl.grid(run, a=[1, 2, 1], seed=range(2), progress=False)
    assert len(ran) == 4
    assert digest(run) != key  # it closes over a list, which has changed
    ran.clear()
    same = sl.grid(run, a=[1, 2, 1], seed=range(2), progress=True)
    assert one.equals(same)
    same.loc[0, "b"] = 99  # of the caller's copy
    assert one.equals(sl.grid(run, a=[1, 2, 1], seed=range(2), progress=False))


@pytest.fixture
def made(monkeypatch):
    """Return a list to which runs append what they were asked for, by `note_made`: it is no part of their keys."""
    monkeypatch.setattr(sys, "made_by_runs", made := [], raising=False)
    return made


def note_made(value):
    sys.made_by_runs.append(value)


def test_what_is_remembered_is_made_once_and_only_so_much_is_kept(made):
    @experiment.remember(2)
    def trace(seed, jobs=10):
        note_made(seed)
        return sl.model_trace("lublin", jobs=jobs, seed=seed)

    assert trace(1) is trace(1, 10) is trace(jobs=10, seed=1)
    assert made == [1]
    assert trace(2) is not trace(1)
    trace(3)
    trace(2)
    assert made == [1, 2, 3, 2]  # 1 and 3 were the last two, so 2 was made again
    experiment.forget()
    trace(3)
    assert made == [1, 2, 3, 2, 3]

    def run(seed):
        return len(trace(seed))

    assert digest(run) == digest(run)
    assert sl.grid(run, seed=[1, 2], progress=False)["value"].tolist() == [10, 10]


def test_what_is_being_computed_is_not_computed_again(made):
    @experiment.remember(2)
    def slow(a):
        note_made(a)
        time.sleep(0.2)
        if a < 0:
            raise ValueError("below 0")
        return object()

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(slow, [0, 1, 2, 3, 0, 1, 2, 3]))) == 4
    assert sorted(made) == [0, 1, 2, 3]
    for _ in range(2):  # a failure is not remembered
        with pytest.raises(ValueError, match="below 0"):
            slow(-1)
    assert made[4:] == [-1, -1]


# --- Digests ---
HELPER_FACTOR = 2


def helper(a):
    return HELPER_FACTOR * a


def uses_helper(a):
    return helper(a)


def test_closures_defaults_and_partials_are_told_apart():
    def made(by, default=0):
        return lambda procs, b=default: procs * by + b

    assert digest(made(1)) == digest(made(1)) != digest(made(2)) != digest(made(1, default=1))
    assert digest(partial(helper, 1)) == digest(partial(helper, 1)) != digest(partial(helper, 2))
    assert digest(sl.EASY(order=made(1))) != digest(sl.EASY(order=made(2)))


@pytest.mark.parametrize(
    "values",
    [
        [1, 1.0, True, "1", None, b"1", (1,), [1], {1}, {1: 1}, range(1), np.array([1]), np.array([1.0])],
        [np.nan, np.inf, 0.1, 0.1 + 2**-56, -0.0],
        [sl.EASY(), sl.EASY("sjf"), sl.EASY(backfill="sjf"), sl.FCFS()],
        [sl.KaryTree(2, 2), sl.KaryTree(2, 3), sl.Flat(4), sl.Flat(8)],
        [pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]}), pd.DataFrame({"a": [1.0]}), pd.Series([1]), pd.Index([1])],
        [len, np.sin, np, helper, uses_helper, sl.EASY, sl.sweep, sl.grid],
    ],
)
def test_what_differs_has_another_digest(values):
    assert len({digest(value) for value in values}) == len(values)
    assert [digest(value) for value in values] == [digest(value) for value in values]


def test_traces_are_told_by_their_jobs_and_history_and_a_class_by_its_methods(traces):
    one, other = traces
    again = sl.model_trace("lublin", jobs=300, machine=64, seed=300)
    assert digest(one) == digest(again) != digest(other)
    assert digest(one.scale_load(0.8)) == digest(again.scale_load(0.8)) != digest(one)
    assert digest(one.shake(60, 1)) != digest(one.shake(60, 2))

    def made(by):
        class Mine(sl.Scheme):
            def simulate(self, case):
                return case.outcome(case.jobs.submit * by)

        return Mine()

    assert digest(made(1)) == digest(made(1)) != digest(made(2))


class Later(sl.EASY):
    """EASY with all jobs a number of seconds later."""

    def __init__(self, by):
        super().__init__()
        object.__setattr__(self, "by", by)

    def simulate(self, case):
        return case.outcome(super().simulate(case).start + self.by)


def test_schemes_that_a_dataclass_takes_for_equal_are_told_apart(traces):
    table = sl.sweep(traces[1], [Later(1), Later(1000), Later(1)], progress=False)
    assert table["scheme"].tolist() == ["EASY", "EASY (2)", "EASY"]
    assert table["wait_time"][1] - table["wait_time"][0] == pytest.approx(999)


class Seed(int):
    """A number of a type of its own."""


class WithSlot:
    """Holds a value in a slot; instances of child classes hold theirs in a `__dict__` as well."""

    __slots__ = ("held",)


def with_slot(held):
    """Return an object of a child class, which holds the value in a slot of its parent."""
    one = type("Child", (WithSlot,), {})()
    one.held = held
    return one


def of_metaclass(factor):
    """Return a class that differs from others only by its metaclass."""
    return type("Meta", (type,), {"factor": factor})("Made", (), {})


HOLDERS = (
    lambda function: SimpleNamespace(held=function),
    lambda function: deque([function]),
    lambda function: functools.wraps(math.fabs)(lambda x: function(x)),
    np.vectorize,
    functools.cache,
)
FAILS = " except ValueError:\n  return 0\n"


def covering(*parts):
    """Return a function whose `try` covers more or less of the same code."""
    exec(f"def f(x):\n try:\n  a = int(x)\n{''.join(parts)}\n return a + b", space := {})
    return space["f"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *[(hold(lambda x: 2 * x), hold(lambda x: 3 * x)) for hold in HOLDERS],
        (covering("  b = float(x)\n", FAILS), covering(FAILS, " else:\n  b = float(x)\n")),
        (np.timedelta64(1, "s"), np.timedelta64(1, "ns")),
        (np.timedelta64(1, "ns"), 1),
        (pd.Series(pd.Categorical(["a", "b"])), pd.Series(pd.Categorical(["a", "b"], ordered=True))),
        (with_slot(1), with_slot(2)),
        (of_metaclass(1), of_metaclass(2)),
        (re.compile("1").match, re.compile("2").match),
        ({1: 5.0}.get, {1: 6.0}.get),
        (Seed(1), Seed(2)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (pd.Series([1, 2], dtype=object), pd.Series(["1", "2"], dtype=object)),
        (pd.Series(["a", "b"], dtype="category"), pd.Series(["a", "b"], dtype=pd.CategoricalDtype(["b", "a"]))),
        (pd.DataFrame({"a": [1]}, index=[0]), pd.DataFrame({"a": [1]}, index=[1])),
        (numba.njit(product_of), numba.njit(fastmath=True)(product_of)),
    ],
)
def test_what_looks_alike_has_another_digest(one, other):
    assert digest(one) == digest(one) != digest(other)


def test_what_holds_itself_and_a_ufunc_of_ones_own_have_no_digest():
    one = []
    one.append(one)
    with pytest.raises(NoDigestError, match="contains itself"):
        digest(one)
    with pytest.raises(NoDigestError, match="ufunc whose code is unknown"):
        digest(np.frompyfunc(lambda x: x + 1, 1, 1))
    assert digest(np.sqrt) != digest(np.exp)


def test_what_cannot_be_told_is_run_each_time(tmp_path):
    with open(tmp_path / "a", "w") as file:
        with pytest.raises(NoDigestError, match="a TextIOWrapper has no digest"):
            digest(file)
        table = sl.grid(lambda a, to: {"b": to.write(a)}, a=["xy"] * 2, to=[file], progress=False)
    assert table["b"].tolist() == [2, 2]
    assert (tmp_path / "a").read_text() == "xyxy"


def test_times_and_equal_lists_stand_in_the_table_as_they_are():
    days = np.array(["1996-07-01", "1996-08-01"], "datetime64[D]")
    table = sl.grid(lambda day: day.month, day=days, progress=False)
    assert table["day"].tolist() == [pd.Timestamp("1996-07-01"), pd.Timestamp("1996-08-01")]
    assert table["value"].tolist() == [7, 8]
    rows = [{"limits": [1, 2], "seed": seed} for seed in range(2)]
    table = sl.grid(lambda limits, seed: limits[0] + seed, rows, progress=False)
    assert table["limits"].tolist() == ["[1, 2]", "[1, 2]"]
    assert sl.grid(lambda load: load, load=np.array(0.7), progress=False)["load"].tolist() == [0.7]


def test_a_clash_is_told_after_the_first_run():
    done = []

    def run(a):
        done.append(a)
        return {"a": a}

    with pytest.raises(ValueError, match="one of its values"):
        sl.grid(run, a=range(50), threads=1, progress=False)
    assert len(done) < 10


def test_truth_empty_tables_and_defaults_are_taken():
    assert sl.grid(lambda a: np.bool_(a > 1), a=[1, 2], progress=False)["value"].tolist() == [False, True]

    def rows(a, threads=3):
        return pd.DataFrame({"x": np.arange(a)}).assign(threads_of_the_function=threads)

    table = sl.grid(rows, a=[0, 2], progress=False)
    assert table[["a", "x", "threads_of_the_function"]].to_numpy().tolist() == [[2, 0, 3], [2, 1, 3]]
    assert table["x"].dtype == "int64"


def test_what_asks_for_itself_is_an_error_and_not_a_wait():
    @experiment.remember(2)
    def endless(x):
        return endless(x)

    with pytest.raises(RecursionError, match="endless asks for the result that it is computing"):
        endless(1)


def test_who_waits_for_an_interrupted_run_makes_it_itself(made):
    @experiment.remember(2)
    def slow(x):
        note_made(x)
        if len(getattr(sys, "made_by_runs")) == 1:  # noqa: B009
            time.sleep(0.2)
            raise KeyboardInterrupt
        return x

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(slow, 1)
        while not made:
            time.sleep(0.01)
        second = pool.submit(slow, 1)
        assert second.result() == 1
        with pytest.raises(KeyboardInterrupt):
            first.result()
    assert made == [1, 1]


def test_forgetting_while_others_ask_hangs_nobody():
    @experiment.remember(2)
    def one(x):
        return x

    until = time.monotonic() + 0.5

    def ask(_):
        while time.monotonic() < until:
            assert one(1) == 1

    with ThreadPoolExecutor(2) as pool:
        asking = [pool.submit(ask, i) for i in range(2)]
        while time.monotonic() < until:
            one.forget()
        for each in asking:
            each.result(timeout=5)


def test_schemes_of_a_sweep_can_be_named():
    trace = sl.model_trace("lublin", jobs=60, machine=64, seed=1)
    schemes = {"today": "easy", "mine": sl.EASY(order="sjf")}
    table = sl.sweep(trace, schemes, load=[0.5, 0.9], progress=False)
    unnamed = sl.sweep(trace, list(schemes.values()), load=[0.5, 0.9], progress=False)
    assert table["scheme"].tolist() == ["today", "mine"] * 2
    assert table["wait_time"].tolist() == unnamed["wait_time"].tolist()
    with pytest.raises(ValueError, match="two names have the same scheme"):
        sl.sweep(trace, {"one": "easy", "two": sl.EASY()}, progress=False)
