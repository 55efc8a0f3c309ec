"""Grids of runs: every combination once, scaled as asked, the same for any number of threads."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from workloads import trace_of

import schedlab as sl
from schedlab import sweeps

SCHEMES = ("fcfs", sl.EASY(), "easy-sjf", sl.Conservative())
LOADS = (0.6, 0.9)


@pytest.fixture(scope="module")
def traces():
    return [sl.model_trace("lublin", jobs=jobs, procs=64, seed=jobs) for jobs in (300, 120)]


@pytest.fixture(scope="module")
def table(traces):
    return sl.sweep(traces, SCHEMES, LOADS, progress=False)


def test_a_row_for_each_combination_in_order(traces, table):
    titles = [f"{trace.title}, {trace.history[0]}" for trace in traces]
    names = [(title, load, scheme) for title in titles for load in LOADS for scheme in SCHEMES]
    assert table.index.tolist() == [*range(16)]
    assert table.columns[:3].tolist() == ["trace", "load", "scheme"]
    found = table[["trace", "load", "scheme"]].itertuples(index=False, name=None)
    expected = [(trace, load, {"fcfs": "FCFS", "easy-sjf": "EASY-SJF"}.get(s, str(s))) for trace, load, s in names]
    assert list(found) == expected
    assert table["jobs"].tolist() == [300] * 8 + [120] * 8


def test_the_measures_are_those_of_the_schedules(traces, table):
    rows = table.iterrows()
    for trace in traces:
        for load in LOADS:
            for scheme in SCHEMES:
                expected = sl.simulate(trace.scale_load(load), scheme).validate().metrics()
                _, row = next(rows)
                assert row[expected.index].tolist() == expected.tolist()


@pytest.mark.parametrize("threads", [1, 2, 4, None])
def test_the_table_is_the_same_for_any_number_of_threads(traces, table, threads):
    pd.testing.assert_frame_equal(sl.sweep(traces, SCHEMES, LOADS, threads=threads, progress=False), table, rtol=0)


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


@pytest.mark.parametrize("load", [0.7, np.float64(0.7), [0.7], pd.Series([0.7]), np.array([0.7])])
@pytest.mark.parametrize("scheme", ["easy", sl.EASY(), ["easy"], (sl.EASY(),)])
def test_single_values_are_taken(traces, load, scheme):
    table = sl.sweep(traces[1], scheme, load, progress=False)
    assert table[["load", "scheme"]].to_dict("records") == [{"load": 0.7, "scheme": "EASY"}]


def test_a_whole_number_is_a_load(traces):
    for load in (1, np.int64(1)):
        assert sl.sweep(traces[1], load=load, progress=False)["load"].tolist() == [1]


def test_traces_may_come_from_a_generator(traces):
    assert len(sl.sweep((trace for trace in traces), progress=False)) == 2


def test_a_stand_in_says_so(traces):
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


def test_progress_shows_on_standard_error_where_it_takes_long(traces, monkeypatch, capsys):
    done = sweeps.simulate
    monkeypatch.setattr(sweeps, "simulate", lambda *args, **options: time.sleep(0.55) or done(*args, **options))
    sl.sweep(traces[1], ["fcfs", "easy"], threads=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert "simulating" in err
    sl.sweep(traces[1], ["fcfs", "easy"], threads=1, progress=False)
    assert capsys.readouterr() == ("", "")


def test_what_is_quick_is_silent(traces, capsys):
    sl.sweep(traces[1], "easy", progress=False)  # now compiled
    sl.sweep(traces[1], "easy")
    assert capsys.readouterr() == ("", "")


def test_schemes_of_one_name_are_numbered(traces):
    def order(key):
        return sl.FCFS(order=key)

    short, wide = order(lambda submit, estimate, procs: estimate), order(lambda submit, estimate, procs: -procs)
    table = sl.sweep(traces[0], [short, wide, short], progress=False)
    first = str(short)
    assert table["scheme"].tolist() == [first, f"{first} (2)", first]


def test_traces_of_one_name_are_told_apart_by_what_was_done_to_them(traces):
    trace = replace(traces[1], name="CTC", source="archive", history=()).head(100)
    exact, tripled = trace.with_estimates("exact"), trace.with_estimates("factor", factor=3)
    table = sl.sweep([trace, exact, tripled, exact], ["fcfs", "easy"], progress=False)
    names = ["CTC", "CTC, estimates: exact", "CTC, estimates: run time x 3", "CTC, estimates: exact"]
    assert table["trace"].tolist() == [name for name in names for _ in range(2)]
    sl.charts.lines(table.iloc[:6], x="load", y="wait_time", dash="trace")


def test_traces_that_differ_in_nothing_that_can_be_said_are_numbered(traces):
    one, other = (replace(trace, name="CTC", source="archive", history=()) for trace in traces)
    table = sl.sweep([one, other, one], progress=False)
    assert table["trace"].tolist() == ["CTC", "CTC (2)", "CTC"]


def test_a_family_has_one_name_for_all_its_seeds(traces):
    def drawn(seed):
        return sl.model_trace("lublin", jobs=60, procs=64, seed=seed)

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

    def interrupted(rows, **_):
        yield next(iter(rows))
        raise KeyboardInterrupt

    monkeypatch.setattr(sweeps, "simulate", one)
    monkeypatch.setattr(sweeps, "tqdm", interrupted)
    trace = sl.model_trace("lublin", jobs=20, procs=16)
    with pytest.raises(KeyboardInterrupt):
        sl.sweep(trace, "easy", [0.5 + i / 1000 for i in range(400)], threads=2)
    assert 1 <= len(done) < 50
