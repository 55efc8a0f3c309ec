"""Stores of results: kept completely or not at all, found by any process, and the same table as without one."""

import abc
import contextlib
import functools
import os
import signal
import sys
import threading
import time
import warnings
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction
from functools import partial
from importlib import import_module, reload
from pathlib import Path

import dateutil.tz
import joblib
import numpy as np
import pandas as pd
import processes
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib.externals.loky import get_reusable_executor
from workloads import examples

import schedlab as sl
from schedlab import experiment
from schedlab._runtime.digests import digest, of_named, sources
from schedlab.experiment import stores
from schedlab.experiment.grids import planned
from schedlab.experiment.studies import read_study, shard_of, status

pytestmark = pytest.mark.tables

HERE = Path(__file__).parent  # tests replace it by another folder


@pytest.fixture(autouse=True)
def nothing_remembered():
    experiment.forget()


@pytest.fixture
def runs(tmp_path):
    return tmp_path / "runs"


@pytest.fixture
def made(tmp_path):
    """Return a function that a run calls, and the values it was called with."""
    log = str(tmp_path / "made")  # a path would be digested by the content of its file

    def note(*what):
        with open(log, "a") as file:
            file.write(" ".join(map(str, what)) + "\n")

    return note


@pytest.fixture
def lines(tmp_path):
    return lambda: (tmp_path / "made").read_text().splitlines()


def again(*arguments, **values):
    """Run a grid as another session would."""
    experiment.forget()
    return sl.grid(*arguments, progress=False, **values)


# --- The same table as without a store ---
def measures(a, scheme="easy"):
    return {"whole": a, "half": a / 2, "name": f"run {a}", "odd": bool(a % 2), "nothing": None, "nan": float("nan")}


def by_class(a):
    return pd.DataFrame({"wait": [a, 2 * a], "bsld": [0.5, None]}, index=pd.Index(["SN", "LW"], name="class"))


def sometimes_nothing(a):
    return pd.DataFrame({"x": np.arange(a), "name": [f"n{i}" for i in range(a)]})


def numbered(a):
    return pd.DataFrame({"group": ["a"], 10: [a], 60.5: [2.0]})


def mixed(a):
    return {"x": a if a % 2 else a / 4, "more": None if a == 2 else "text"} | ({"only": 1} if a == 3 else {})


def times(a):
    at = datetime(2024, 5, a)
    return {
        "date": at.date(),
        "datetime": at,
        "stamp": pd.Timestamp(at),
        "zoned": pd.Timestamp(at, tz="Europe/Stockholm"),
        "nanoseconds": pd.Timestamp(1 + a),
        "delta": timedelta(hours=a),
        "pandas": pd.Timedelta(a, "s"),
        "offset": pd.Timestamp(at, tz=timezone(timedelta(hours=2))),
        "never": pd.NaT,
    }


def kinds(a):
    return pd.DataFrame(
        {
            "category": pd.Categorical(["b", "a"], ["b", "a", "unused"], ordered=True),
            "object": pd.Series(["x", None], dtype=object),
            "nullable": pd.array([1, None], "Int64"),
            "small": np.array([1, 2], np.int8),
            "when": pd.to_datetime(["2024-01-01", None]),
            "long": pd.to_timedelta([1, 2], unit="h"),
            "truth": [True, False],
            "seconds": np.array(["2024-01-01", "NaT"], "datetime64[s]"),
            "numbered": pd.Categorical(np.array([1, 2], np.int8)),
            "maybe": pd.Series([1, None], dtype=object),
            "spans": pd.Series([timedelta(1), None], dtype=object),
        }
    )


@pytest.mark.parametrize("run", [measures, by_class, sometimes_nothing, numbered, mixed, times, kinds, lambda a: a / 3])
def test_the_table_is_that_of_a_grid_without_a_store(runs, run):
    expected = again(run, a=[1, 2, 3])
    for _ in range(2):
        pd.testing.assert_frame_equal(again(run, a=[1, 2, 3], store=runs), expected, check_exact=True)
    for a in (1, 2, 3):  # types are those of these runs, whatever others have
        pd.testing.assert_frame_equal(again(run, a=a, store=runs), again(run, a=a), check_exact=True)


def test_all_runs_of_a_table_without_rows_are_kept(runs, made, lines):
    def run(a):
        made(a)
        return pd.DataFrame({"x": np.arange(0)})

    first = again(run, a=[1, 2], store=runs)
    assert again(run, a=[1, 2], store=runs).equals(first)
    assert sorted(lines()) == ["1", "2"]
    assert len(sl.store(runs).table()) == 0


scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(max_size=5) | st.dates()


@given(st.lists(st.dictionaries(st.sampled_from("xyz"), scalars, min_size=1), min_size=1, max_size=6))
@examples(60)
def test_any_measures_come_back(tmp_path_factory, given_back):
    folder = tmp_path_factory.mktemp("any")

    def run(place):
        return given_back[place]

    places = range(len(given_back))
    expected = again(run, place=places)
    again(run, place=places, store=folder)
    pd.testing.assert_frame_equal(again(run, place=places, store=folder), expected, check_exact=True)


def test_a_run_is_made_once_in_this_session_and_others_in_a_block_and_outside(runs, made, lines):
    def run(a, b=1):
        made(a)
        return a * b

    sl.grid(run, a=1, progress=False)
    sl.grid(run, a=[1, 2], store=runs, progress=False)
    assert again(run, a=[3, 2, 1], store=runs)["value"].tolist() == [3, 2, 1]
    assert sorted(lines()) == ["1", "2", "3"]
    again(run, [{"a": 2}], b=[1, 2], store=str(runs))
    again(run, [{"b": 2}, {"b": 1}], a=2, store=str(runs))  # in any order
    assert sorted(lines()) == ["1", "2", "2", "2", "3"]  # the given values differ: b was left out before
    with experiment.storing(runs):
        again(run, a=4)
    again(run, a=4, store=runs)
    assert lines().count("4") == 1


def test_a_changed_function_or_package_makes_everything_new(runs, monkeypatch):
    def version(factor):
        def run(a):
            return factor * a

        return run

    assert again(version(1), a=2, store=runs)["value"].tolist() == [2]
    assert again(version(3), a=2, store=runs)["value"].tolist() == [6]
    assert sorted(sl.store(runs).table()["value"]) == [2, 6]
    before = planned(measures, a=[1]).keys
    monkeypatch.setattr("schedlab._runtime.digests.sources", lambda: "another")
    assert planned(measures, a=[1]).keys != before


def test_sweeps_have_stores_too(runs, monkeypatch):
    trace = sl.model_trace("lublin", jobs=100, machine=64, seed=1)
    first = sl.sweep(trace, ["fcfs", sl.EASY()], [0.6, 0.8], seed=range(2), store=runs, progress=False)
    experiment.forget()
    monkeypatch.setattr("schedlab.experiment.sweeps.simulate", None)
    second = sl.sweep(trace, ["fcfs", sl.EASY()], [0.6, 0.8], seed=range(2), store=runs, progress=False)
    pd.testing.assert_frame_equal(first, second, check_exact=True)
    kept = sl.store(runs).table()
    assert kept[["load", "scheme", "seed"]].drop_duplicates().shape == (8, 3)


def test_the_table_of_a_store_tells_sweeps_of_different_settings_apart(runs):
    trace = sl.model_trace("lublin", jobs=60, machine=16, seed=2)
    for how in ({"tau": 60.0}, {"shake": 5, "seed": 1}, {"machine": sl.KaryTree(4, 2), "events": "batched"}):
        sl.sweep(trace, store=runs, progress=False, **how)
    table = sl.store(runs).table().sort_values("run_finished")
    assert len(table) == 3
    assert table[["tau", "shake", "by"]].value_counts().to_dict() == {
        (60.0, 60, "run_time"): 1,
        (10.0, 5, "run_time"): 1,
        (10.0, 60, "run_time"): 1,
    }
    assert table.loc[table["events"].notna(), "machine"].tolist() == [str(sl.KaryTree(4, 2))]


KEYS = """
import sys
sys.path[:0] = {folders!r}
import schedlab as sl
from schedlab.experiment.grids import planned
from test_store import measures
trace = sl.load_trace("KTH-SP2-1996", standin=True).head(100)
order = lambda procs, estimate: procs * estimate
schemes = [sl.EASY(), sl.EASY(order=order), sl.Conservative(compression="none"), "fcfs"]
keys = planned(measures, a=[1, 0.5, None, trace], scheme=schemes).keys
"""


def test_keys_are_the_same_in_any_process():
    code = KEYS.format(folders=[str(folder) for folder in Path(__file__).parents[:2]])
    env = {**os.environ, "PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"}
    there = processes.run(f"{code}\nprint(*keys)", env=env).split()
    exec(code, here := {})
    assert there == here["keys"]


def test_files_count_by_what_is_in_them(tmp_path):
    log, digests = tmp_path / "log.swf", [digest(tmp_path / "log.swf")]
    for text in ("1", "2", "1"):
        log.write_text(text)
        os.utime(log, (1, len(digests)))
        digests += [of_named("log", str(log)), digest(log)]
    assert digests[5:] == digests[1:3]
    assert len(set(digests)) == 5


def test_variables_named_as_attributes_do_not_count(monkeypatch):
    def run(a):
        return {"value": a.table}

    before = digest(run)
    monkeypatch.setitem(globals(), "table", 5)
    assert digest(run) == before


def test_what_only_shows_results_does_not_count():
    code = "from schedlab._runtime import digests; print(digests.sources())"
    assert processes.run(code).strip() == sources()


def test_a_call_graph_of_many_functions_is_told_fast():
    names = [f"f{i}" for i in range(14)]
    calls = " + ".join(f"{name}(x)" for name in names)
    exec("\n".join(f"def {name}(x):\n    return {calls}" for name in names), space := {"__name__": "my_code"})
    begin = time.perf_counter()
    digest(space["f0"])
    assert time.perf_counter() - begin < 1


def test_a_folder_that_a_function_names_may_hold_its_store(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "HERE", tmp_path)
    again(in_folder, a=[1, 2], store=tmp_path / "runs")
    again(in_folder, a=[1, 2], store=tmp_path / "runs")
    assert len(sl.store(tmp_path / "runs").studies()) == 1


def in_folder(a):
    return len(HERE.name) * a


class Lazy:
    """A value that computes something when asked."""

    @functools.cached_property
    def worked_out(self):
        return 5


class Base(abc.ABC):
    @abc.abstractmethod
    def b(self):
        """Do something."""


def test_values_of_many_kinds_have_digests():
    lazy = Lazy()
    before = digest(lazy)
    assert lazy.worked_out == 5
    assert digest(lazy) == before
    assert digest(Base) == digest(Base)


def test_a_process_that_has_an_older_module_is_told_of(runs, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "my_edited.py").write_text("def f(x):\n    return 2 * x\n")
    module = import_module("my_edited")
    with joblib.parallel_config(backend="loky", n_jobs=2):
        get_reusable_executor().shutdown()
        assert again(lambda x: module.f(x), x=[1, 2], store=runs)["value"].tolist() == [2, 4]
        (tmp_path / "my_edited.py").write_text("def f(x):\n    return 30 * x + 1\n")
        reload(module)
        with pytest.raises(
            ValueError, match="this worker has loaded an older version of your code; restart the workers"
        ):
            again(lambda x: module.f(x), x=[1, 2], store=runs)
        get_reusable_executor().shutdown()
        assert again(lambda x: module.f(x), x=[1, 2], store=runs)["value"].tolist() == [31, 61]


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_of_any_kind_write_to_a_relative_store(tmp_path, monkeypatch, backend):
    for name, count in (("one", 2), ("other", 40)):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        with joblib.parallel_config(backend=backend, n_jobs=2):
            table = again(measures, a=range(count), store="runs")
    monkeypatch.chdir(tmp_path)
    assert len(sl.store(tmp_path / "one" / "runs").table()) == 2
    stored = sl.store(tmp_path / "other" / "runs").table()["whole"].sort_values().tolist()
    assert stored == table["whole"].tolist() == [*range(40)]


def test_values_named_as_columns_are_told_before_anything_runs(runs):
    message = "^function is a reserved column of a store; give the function's parameters other names"
    with pytest.raises(ValueError, match=message):
        again(lambda function: pytest.fail("it ran"), function=[1, 2], store=runs)


def test_errors_with_lone_surrogates_are_kept_and_measures_that_cannot_be_are_failures(runs):
    table = again(lambda a: {"x": Fraction(a, 2) if a == 2 else a}, a=[1, 2, 3], errors="keep", store=runs)
    assert table["error"].str[:20].tolist() == ["", "TypeError: measure x", ""]

    def run(a):
        raise ValueError("lone \udc80 surrogate")

    table = again(run, a=[pd.NaT, "\udc80"], errors="keep", store=runs)
    assert table["error"].tolist() == ["ValueError: lone \\udc80 surrogate"] * 2


def test_values_of_one_digest_and_several_labels_are_read(runs):
    for x in (1, 2):
        again(lambda lazy, x: x, lazy=[Lazy()], x=[x], store=runs)
    assert len(sl.store(runs).table()) == 2


def test_a_study_finds_the_modules_beside_it(tmp_path):
    (tmp_path / "beside_it.py").write_text("values = {'a': [1, 2]}")
    (tmp_path / "study.py").write_text("from beside_it import values\ndef run(a):\n    return a")
    assert len(read_study(tmp_path / "study.py")) == 2


# --- Failures ---
def test_failures_are_rows_and_are_tried_again_on_request(runs, tmp_path, made, lines):
    mended = str(tmp_path / "mended")

    def run(a):
        made(a)
        if a == 2 and not Path(mended).exists():
            raise ZeroDivisionError("a is two")
        return {"b": a}

    for _ in range(2):
        table = again(run, a=[1, 2], errors="keep", store=runs)
        assert table["error"].tolist() == ["", "ZeroDivisionError: a is two"]
        assert table["error_at"][1].startswith("test_store.py, line ")
        assert table["error_at"][1].endswith('in run: raise ZeroDivisionError("a is two")')
    assert sorted(lines()) == ["1", "2"]
    kept = sl.store(runs).table()
    assert kept.set_index("a")["error"].to_dict() == {1: "", 2: "ZeroDivisionError: a is two"}
    again(run, a=[1, 2], errors="keep", retry=True, store=runs)
    with pytest.raises(sl.experiment.RunError, match="a is two"):  # without "keep", failures are tried again
        again(run, a=[1, 2], store=runs)
    assert sorted(lines()) == ["1", "2", "2", "2"]
    assert len(sl.store(runs).table()) == 2
    Path(mended).touch()
    assert again(run, a=[1, 2], errors="keep", retry=True, store=runs)["b"].tolist() == [1, 2]
    assert again(run, a=[1, 2], errors="keep", store=runs)["error"].tolist() == ["", ""]
    assert sl.store(runs).table()["error"].tolist() == ["", ""]


class Unsendable(Exception):
    def __init__(self, one, two):
        super().__init__(one)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_an_error_that_cannot_be_sent_is_told_in_words(runs, backend):
    def run(a):
        raise Unsendable("gone", 2)

    with joblib.parallel_config(backend=backend, n_jobs=2):
        table = again(run, a=[1, 2], errors="keep", store=runs)
        assert table["error"].tolist() == ["Unsendable: gone"] * 2
        with pytest.raises(sl.experiment.RunError, match="the run with a=1 failed|the run with a=2 failed"):
            again(run, a=[1, 2])


# --- Many writers, and those that are killed ---
STUDY = """
import os, sys, time

def run(a, b):
    with open({log!r}, "a") as file:
        file.write(f"{{os.getpid()}} {{a}} {{b}}\\n")
    time.sleep(0.02)
    if a == 3 and b == 1:
        raise ValueError("three and one")
    return {{"sum": a + b, "half": a / 2}}

values = {{"a": range(8), "b": range(4)}}
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.py"
    path.write_text(STUDY.format(log=str(tmp_path / "log")))
    return path


def command(*arguments, cwd):
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    return processes.start(processes.COMMAND, "grid", *arguments, cwd=cwd, env=environment)


def calls(tmp_path):
    log = tmp_path / "log"
    return [tuple(map(int, line.split())) for line in log.read_text().splitlines()] if log.exists() else []


def wait_for(tmp_path, count, process):
    until = time.monotonic() + 60
    while len(calls(tmp_path)) < count:
        assert time.monotonic() < until
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def test_shards_share_a_plan_and_the_last_gives_the_table(tmp_path, study):
    options = ("--store", "runs", "--out", "t.csv", "--shard")
    shards = [command(study, *options, f"{i}/3", cwd=tmp_path) for i in (1, 2, 3)]
    said = [shard.communicate(timeout=120) for shard in shards]
    assert len(calls(tmp_path)) == 32
    assert sorted({(a, b) for _, a, b in calls(tmp_path)}) == [(a, b) for a in range(8) for b in range(4)]
    assert sum("written: t.csv" in err for _, err in said) >= 1
    assert sorted(shard.returncode for shard in shards) == [0, 0, 1]  # one of them had the run that fails
    plan = read_study(study)
    expected = again(plan.run, a=range(8), b=range(4), errors="keep")
    found = pd.read_csv(tmp_path / "t.csv", keep_default_na=False, na_values={"sum": "", "half": ""})
    assert found[["a", "b", "sum", "half", "error"]].equals(expected[["a", "b", "sum", "half", "error"]])


def test_a_killed_process_loses_what_it_was_running(tmp_path, study):
    for _ in range(3):
        running = command(study, "--store", "runs", "--threads", "2", cwd=tmp_path)
        wanted = len(calls(tmp_path)) + 6
        wait_for(tmp_path, wanted, running)
        running.send_signal(signal.SIGKILL)
        running.communicate()
    last = command(study, "--store", "runs", "--threads", "2", cwd=tmp_path)
    _, err = last.communicate(timeout=120)
    assert last.returncode == 1
    assert "1 run failed" in err
    made = pd.Series([(a, b) for _, a, b in calls(tmp_path)]).value_counts()
    assert len(made) == 32
    assert made.sum() <= 32 + 3 * 2  # what two threads were at, three times
    table = sl.store(tmp_path / "runs").table()
    assert len(table) == len(table.drop_duplicates(["a", "b"])) == 32
    assert (table["error"] != "").sum() == 1


def test_the_status_says_what_is_done_failed_and_to_do(tmp_path, study):
    plan = read_study(study)
    counts, failures = status(plan, tmp_path / "runs")
    assert (counts, len(failures)) == ({"done": 0, "failed": 0, "to do": 32}, 0)
    assert not (tmp_path / "runs").exists()
    again(plan.run, a=3, b=range(4), store=tmp_path / "runs", errors="keep")
    said, _ = command("study.py", "--store", "runs", "--status", cwd=tmp_path).communicate(timeout=60)
    assert said.startswith("3 done, 1 failed, 28 to do\n")
    assert "ValueError: three and one" in said


@pytest.mark.parametrize("count", [1, 3, 7, 50])
def test_shards_are_the_plan(study, count):
    plan = read_study(study)
    shards = [shard_of(plan, number, count) for number in range(1, count + 1)]
    assert sorted(key for shard in shards for key in shard.keys) == sorted(plan.keys)
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


def test_a_line_with_a_flipped_bit_is_never_taken_for_a_result(runs):
    expected = again(kinds, a=1, store=runs)
    (path,) = runs.glob("*/*.jsonl")
    content, draws = path.read_bytes(), np.random.default_rng(1)
    for place in draws.integers(0, 8 * len(content), 400):
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        with warnings.catch_warnings(action="ignore"):
            assert len(sl.store(runs).table()) == 0, damaged
    path.write_bytes(content[:-100] + b"\n")
    with pytest.warns(UserWarning, match=r"jsonl:1: this run is skipped, since its line is damaged"):
        pd.testing.assert_frame_equal(again(kinds, a=1, store=runs), expected)


FULL = """
import resource, sys
import schedlab as sl

def run(a):
    return {"text": "x" * 1000}

if sys.argv[2] == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_500, 4_500))
try:
    print(len(sl.grid(run, a=range(9), threads=1, store=sys.argv[1], progress=False)))
except OSError as error:
    print(error.strerror, len(sl.store(sys.argv[1]).table()))
"""


def test_a_full_disk_ends_the_grid_and_leaves_nothing_half_written(runs):
    assert processes.run(FULL, runs, "full") == "File too large 3\n"
    (path,) = runs.glob("*/*.jsonl")
    assert path.read_bytes().endswith(b"}\n")
    assert processes.run(FULL, runs, "free") == "9\n"


def test_results_are_read_from_a_store_that_nobody_may_write(runs, monkeypatch):
    """Permissions do not stop the root user, who may run the tests, so the answers of the disk are simulated."""

    def double(load):
        return 2 * load

    table = again(double, load=[1, 2], store=runs)
    monkeypatch.setattr(stores.os, "access", lambda *_: False)
    pd.testing.assert_frame_equal(again(double, load=[1, 2], store=runs), table)
    with pytest.raises(PermissionError, match="this store is read-only, and 1 run is missing"):
        again(double, load=[1, 2, 3], store=runs)


# --- Reading all of it, and pruning ---
def test_everything_is_one_table(runs):
    trace = sl.model_trace("lublin", jobs=60, machine=64, seed=1)
    exact = trace.with_estimates("exact")

    def simulated(trace, scheme):
        return sl.simulate(trace, scheme).metrics()[["wait_time"]]

    orders = [sl.EASY(order=order) for order in (lambda procs: procs, lambda procs: -procs)]
    table = again(simulated, trace=[trace, exact], scheme=orders, store=runs)
    again(simulated, trace=exact, scheme=orders[1], store=runs)  # alone, its label needs no number
    again(by_class, a=[1, 2], store=runs)
    kept = sl.store(runs).table()
    assert kept.columns[:4].tolist() == ["function", "a", "trace", "scheme"]
    own = kept[kept["function"].str.endswith("simulated")]
    assert sorted(own["wait_time"]) == sorted(table["wait_time"])
    for column in ("trace", "scheme"):  # which of two equal labels is numbered 2 depends on which was stored first
        assert sorted(own[column]) == sorted(table[column])
        assert own.groupby(column)["wait_time"].apply(set).tolist() in [
            table.groupby(column)["wait_time"].apply(set).tolist()[::step] for step in (1, -1)
        ]
    assert sl.store(runs).table("by_class")["class"].tolist() == ["SN", "LW"] * 2
    assert "studies" in repr(sl.store(runs))


def test_what_is_old_or_not_asked_for_is_pruned(runs, monkeypatch):
    def run(a):
        return a

    again(run, a=[1, 2], store=runs)
    monkeypatch.setattr(stores, "_asked", set())  # another session

    def run(a):
        return 2 * a

    again(run, a=[2, 3], store=runs)
    store = sl.store(runs)
    with pytest.raises(ValueError, match="prune needs a condition, such as older_than='30 days' or unasked=True"):
        store.prune()
    for older_than in ("1 day", timedelta(days=1), str(date.today() - timedelta(days=1))):
        assert store.prune(older_than=older_than).empty
        assert store.prune(older_than=older_than, unasked=True).empty
    shown = store.prune(unasked=True, dry_run=True)
    assert shown["runs"].tolist() == [2]
    size = sum(path.stat().st_size for path in runs.glob("*/*.jsonl"))
    pd.testing.assert_frame_equal(store.prune(unasked=True), shown)
    assert size - sum(path.stat().st_size for path in runs.glob("*/*.jsonl")) == shown["bytes"].sum()
    assert sorted(store.table()["value"]) == [4, 6]
    assert len(store.studies()) == len([*runs.glob("*/")]) == 1
    monkeypatch.setattr(stores, "_asked", set())
    again(run, a=[3], store=runs)
    store.prune(unasked=True)  # one of two runs in a file
    assert sorted(store.table()["value"]) == [6]
    assert store.prune(older_than=datetime.now() + timedelta(days=1))["runs"].tolist() == [1]
    assert len(store.table()) == 0


@pytest.mark.parametrize("instant", ["soon", 5, [1], "-3 days", "0 days", timedelta(days=-1), "2024-13-01"])
def test_an_instant_that_is_none(runs, instant):
    again(measures, a=1, store=runs)
    with pytest.raises(ValueError, match="older_than is .*, expected a date such as 2026-03-01"):
        sl.store(runs).prune(older_than=instant)


PRUNING = """
import sys
import schedlab as sl
for _ in range(60):
    sl.store(sys.argv[1]).prune(older_than=sys.argv[2])
"""


@pytest.mark.parametrize("older_than", ["5 s", "1 ms"])
def test_pruning_while_others_write_loses_nothing_newer(runs, older_than):
    """A run that ends is found by whoever looks, though other processes delete what is older, and the folder, too."""
    again(measures, a=-1, store=runs)
    (study,) = sl.store(runs).studies()
    result = study.results(study.runs())[next(iter(study.runs()))]
    number = 0
    with processes.start(PRUNING, runs, older_than) as one, processes.start(PRUNING, runs, older_than) as other:
        while None in (one.poll(), other.poll()):
            number += 1
            study.keep(f"{number}", {"a": number}, replace(result, finished=time.time()))
            assert older_than == "1 ms" or f"{number}" in study.runs()
        for pruning in (one, other):
            assert pruning.returncode == 0, pruning.communicate()
    assert number > 10


# --- What cannot be ---
@pytest.mark.parametrize("kind", ["int64", "float32", "uint8", "float64"])
def test_arrays_of_numbers_in_a_table_come_back(runs, kind):
    def run(load):
        arrays = [np.arange(load + i, dtype=kind) for i in range(3)]
        if kind == "float64":
            arrays[0] = np.array([1.5, np.nan])
        return pd.DataFrame({"group": ["a", "b", "c"], "widths": arrays})

    first, second = (again(run, load=[2, 5_000], store=runs) for _ in range(2))
    assert second["group"].tolist() == first["group"].tolist()
    for one, other in zip(first["widths"], second["widths"], strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_what_cannot_be_kept_in_the_store_of_a_block_is_given_all_the_same(runs):
    def run(load):
        return pd.DataFrame({"group": [{"a": {load}}]})

    for _ in range(2):  # the second time from the memory of the session
        with experiment.storing(runs):
            table = sl.grid(run, load=[1, 2], progress=False)
        assert table["group"].tolist() == [{"a": {1}}, {"a": {2}}]
    assert len(sl.store(runs).table()) == 0


def test_a_file_and_a_folder_with_other_files_are_no_store(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ValueError, match="thesis.tex: expected a folder for the store, found a file"):
        again(measures, a=1, store=tmp_path / "thesis.tex")
    with pytest.raises(ValueError, match="expected an empty folder or a store; it contains thesis.tex"):
        again(measures, a=1, store=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no store, expected a folder that grid\(..., store=\) has made"):
        sl.store(tmp_path)


LOSS, RESERVED = "the column x cannot be stored without loss", ", which is a reserved column; rename the measure"
TZ = partial(dateutil.tz.tzoffset, "here", 3600)


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (lambda a: {"x": pd.Timestamp("2024-05-01", tz=TZ())}, "measure x is .*, which a store"),
        (lambda a: {"x": Fraction(1, 3)}, r"measure x is Fraction\(1, 3\), which a store cannot hold"),
        (lambda a: pd.DataFrame({None: [1]}), "the run gives a column None, expected names that are texts or numbers"),
        *[(lambda a: pd.DataFrame({"x": [1j]}), LOSS), (lambda a: pd.DataFrame({"x": [(1, 2)]}), LOSS)],
        (lambda a: pd.DataFrame({"x": [object()]}), LOSS),
        (lambda a: {"run_key": 1}, "the run gives run_key" + RESERVED),
        (lambda a: {"study": 1}, "the run gives study" + RESERVED),
    ],
)
def test_what_a_store_cannot_keep(runs, run, words):
    with pytest.raises((sl.experiment.RunError, ValueError), match=words):
        again(run, a=1, store=runs)


def test_values_without_a_digest_cannot_be_kept(runs, tmp_path):
    with (
        open(tmp_path / "file", "w") as file,
        pytest.raises(ValueError, match="cannot be kept in .*runs: to: a TextIO"),
    ):
        again(lambda to: {"b": 1}, to=[file], store=runs)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("values = {'a': [1]}", "defines no function run, expected a study: a Python file"),
        ("def run(a):\n    return a", "values is None, expected a mapping such as"),
        ("def run(a):\n    return a\nvalues = [1]", r"values is \[1\], expected a mapping such as"),
        ("def run(a):\n    return a\nvalues = {'a': []}", "a is an empty list, expected at least one a"),
        ("def run(a):\n    return a\nvalues = {'b': 1}", "the function takes a; with b: (missing|got)"),
        ("raise SystemExit('no')", "cannot be run: SystemExit: no"),
        ("1/0", "cannot be run: ZeroDivisionError: division by zero"),
        ("def run(", "cannot be run: SyntaxError"),
    ],
)
def test_a_study_that_is_none(tmp_path, text, words):
    path = tmp_path / "study.py"
    with pytest.raises(FileNotFoundError, match="no such file, expected a study: a Python file"):
        read_study(path)
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        read_study(path)


# --- Clusters ---
SBATCH = 'cp "$1" {0}/job-$$.sh; sh {0}/job-$$.sh >{0}/log 2>&1 & echo $! >>{0}/jobs; echo "Submitted batch job $!"'


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Put stand-ins for Slurm's commands, which run scripts here, first on the path; return where they keep them."""
    for name, text in (("sbatch", SBATCH.format(tmp_path)), ("scancel", "kill $1")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    yield tmp_path
    for process in (tmp_path / "jobs").read_text().split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(process), signal.SIGTERM)


def test_a_grid_runs_on_a_cluster_of_slurm(runs, slurm, tmp_path):
    jobqueue, distributed = pytest.importorskip("dask_jobqueue"), pytest.importorskip("distributed")
    settings = {"cores": 1, "memory": "1GB", "walltime": "00:10:00", "queue": "short", "account": "physics"}
    settings["scheduler_options"] = {"dashboard_address": ":0"}  # as another test may have a cluster, too
    settings["nanny"] = False  # a second process for each worker
    with jobqueue.SLURMCluster(**settings, local_directory=str(tmp_path), python=sys.executable) as cluster:
        cluster.scale(jobs=2)
        with distributed.Client(cluster) as client, joblib.parallel_config("dask"):
            client.wait_for_workers(2, timeout=60)
            table = again(lambda a: {"b": a + 1, "process": os.getpid()}, a=range(20), store=runs)
    assert table["b"].tolist() == [*range(1, 21)]
    assert os.getpid() not in set(table["process"])
    script, _ = slurm.glob("job-*.sh")
    for line in ("-p short", "-A physics", "-n 1", "--cpus-per-task=1", "--mem=954M", "-t 00:10:00"):
        assert f"#SBATCH {line}\n" in script.read_text()
    assert len(sl.store(runs).table()) == 20


class Travelling:
    """A value that notes where it arrives."""

    def __init__(self, log):
        self.log = log
        with open(log, "a") as file:
            file.write(f"{os.getpid()}\n")

    def __reduce__(self):
        return Travelling, (self.log,)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, distributed.Client(cluster):
        yield


@pytest.fixture
def dask(cluster):
    with joblib.parallel_config("dask"):
        yield


def test_what_is_large_travels_once_to_a_worker(dask, tmp_path):
    trace = sl.model_trace("lublin", jobs=300, machine=64, seed=1)
    logs = [str(tmp_path / name) for name in ("value", "closure")]
    value, closed = map(Travelling, logs)

    def run(given, value, load):
        closed.seen = True
        return {"jobs": len(given), "process": os.getpid()}

    table = again(run, given=[trace], value=[value], load=[load / 100 for load in range(60)])
    assert table["jobs"].tolist() == [300] * 60
    for log in logs:
        arrived = Path(log).read_text().split()
        assert len(arrived) == len(set(arrived))
        assert set(map(str, table["process"])) <= set(arrived[1:])


def test_what_comes_from_elsewhere_and_cannot_be_kept_is_a_failure(dask, runs):
    def run(a):
        return {"x": Fraction(a) if a == 3 else a}

    with pytest.raises(
        sl.experiment.RunError, match="a=3 failed: TypeError: measure x is .*, which a store cannot hold"
    ):
        again(run, a=range(6), store=runs)
    table = again(run, a=range(6), store=runs, errors="keep")
    assert (table["error"] != "").tolist() == [False, False, False, True, False, False]
    assert sorted(sl.store(runs).table()["a"]) == [*range(6)]


def test_what_cannot_be_sent_is_told_at_once(dask):
    lock = threading.Lock()
    with pytest.raises(ValueError, match="^to cannot be sent to other processes: cannot pickle '_thread.lock' object"):
        again(lambda to: 1, to=[lock])
    with pytest.raises(ValueError, match="^the function cannot be sent to other processes: .*lock"):
        again(lambda a: lock.locked(), a=1)


# --- What is wrong is said ---
def test_a_name_that_no_file_can_hold_is_a_failure(runs):
    for store in (None, runs):
        with pytest.raises(sl.experiment.RunError, match="a name that cannot be written to a file"):
            again(lambda a: {"\ud800": 1}, a=1, store=store)
        table = again(lambda a: {"\ud800": 1}, a=1, store=store, errors="keep")
        assert "cannot be written to a file" in table["error"][0]


def test_a_shard_is_of_plain_digits(tmp_path, study):
    said = command(study, "--store", "runs", "--shard", "\uff11/3", cwd=tmp_path).communicate(timeout=60)[1]
    assert "expected a part such as 3/16" in said
