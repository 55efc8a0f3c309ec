"""The lookahead paper: its example to the second, its figures from small logs, and every verdict of its ledger."""

import pandas as pd
import pytest

import schedlab as sl
from schedlab.papers import grudenic2010 as paper
from schedlab.workload.swf import Header

NAMES = ("LLNL-Atlas-2006", "LLNL-Thunder-2007", "SDSC-SP2-1998")


@pytest.fixture
def small(monkeypatch):
    """Three small traces in place of whole logs, and few copies and loads."""

    def log(name):
        if name not in NAMES:
            return None
        trace = sl.model_trace("lublin", jobs=300, procs=64, seed=NAMES.index(name)).scale_load(0.9)
        return sl.Trace(**{**vars(trace), "name": name})

    monkeypatch.setattr(paper, "log", log)
    monkeypatch.setattr(paper, "load_trace", lambda name, **_: log(name))
    monkeypatch.setattr(paper, "COPIES", {"quick": 2, "full": 3})
    monkeypatch.setattr(paper, "LOADS", {"quick": (0.6, 0.9), "full": (0.6, 0.7, 0.9)})
    monkeypatch.setattr(paper, "AUDITED", NAMES[1])
    paper._changes.cache_clear()
    yield
    paper._changes.cache_clear()


def test_the_example_is_that_of_the_paper():
    easy, dpsa = (sl.simulate(paper.example(), scheme).validate() for scheme in (sl.EASY(), sl.DPSA()))
    assert easy.start.tolist()[2:] == [7, 2, 9, 9]
    assert dpsa.start.tolist()[2:] == [7, 9, 2, 2]
    table = paper.figure1().table.set_index("start, s")
    assert table["EASY"].tolist() == pytest.approx([14, 3.0125, 7, 2, 9, 9])
    assert table["DPSAn"].tolist() == pytest.approx([13, 2.6625, 7, 9, 2, 2])


def test_changes_are_those_of_the_schedules(small):
    data = paper.changes("quick", progress=False).set_index(["trace", "scheme"])
    assert data.index.unique("trace").tolist() == list(NAMES)
    trace = paper.log(NAMES[0])
    means = {name: sl.simulate(trace, name).metrics()["bounded_slowdown"] for name in ("easy", "dpsaw")}
    row = data.loc[NAMES[0], "DPSAw"]
    assert row["change"] == pytest.approx(100 * (means["dpsaw"] / means["easy"] - 1))
    shaken = [trace.shake(60, seed) for seed in range(2)]
    found = [[sl.simulate(one, name).metrics()["bounded_slowdown"] for name in ("dpsaw", "easy")] for one in shaken]
    changes = [100 * (ours / theirs - 1) for ours, theirs in found]
    assert min(changes) <= row["shaken_low"] <= row["shaken_high"] <= max(changes)
    assert row["paired_low"] <= row["change"] <= row["paired_high"]


@pytest.mark.parametrize("function", paper.FIGURES, ids=lambda function: function.__name__)
def test_every_figure_is_drawn_from_small_logs(small, function):
    figure = function("quick", progress=False)
    assert figure.title
    assert figure.caption
    assert len(figure.table)
    if figure.chart is not None:
        figure.chart.to_dict()


def test_figures_and_ledger_do_without_any_log(monkeypatch):
    monkeypatch.setattr(paper, "log", lambda name: None)
    for function in paper.FIGURES:
        function("quick", progress=False)
    verdicts = paper.claims("quick", progress=False).set_index("id")["verdict"]
    assert verdicts.pop("GRU-6") == "reproduced"
    assert set(verdicts) == {"not testable"}
    assert sorted(verdicts.index) == [f"GRU-{i}" for i in range(1, 6)]


def test_the_ledger_has_every_target_and_names_what_is_missing(small):
    ledger = paper.claims("quick", progress=False).set_index("id")
    assert sorted(ledger.index) == [f"GRU-{i}" for i in range(1, 7)]
    assert set(NAMES) <= set(ledger.loc["GRU-1", "trace"].split(", "))


def changed(**changes):
    return pd.Series({name.replace("_", "-"): change for name, change in changes.items()})


@pytest.mark.parametrize(
    ("judge", "changes", "verdict"),
    [
        (paper._all_better, changed(a=-0.3, b=-40), "reproduced"),
        (paper._all_better, changed(a=-0.3, b=-60), "trend only"),
        (paper._all_better, changed(a=0.3, b=-40), "trend only"),
        (paper._mixed, changed(a=-5, b=9), "trend only"),
        (paper._all_worse, changed(a=5, b=145), "reproduced"),
        (paper._all_worse, changed(a=-1, b=145), "trend only"),
        (paper._negligible, changed(HPC2N_2002=-0.5), "reproduced"),
        (paper._negligible, changed(HPC2N_2002=-9), "trend only"),
        (paper._negligible, changed(other=-9), "not testable"),
    ],
)
def test_verdicts_follow_the_numbers(judge, changes, verdict):
    found = judge(changes)
    assert found["verdict"] == verdict
    assert bool(found["reason"]) == (verdict != "reproduced")


def test_queue_limits_are_estimates_but_never_below_the_run_time():
    trace = sl.model_trace("lublin", jobs=6, procs=8, seed=1)
    table = trace.table.assign(queue=[0, 1, 2, 3, 4, 9], run_time=[10, 20, 30, 50_000, 5, 5])
    queues = enumerate(("interactive", "q4t", "qf8s", "q32m", "q1ll"))
    header = Header(tuple(f"; Queue: {number} {name}" for number, name in queues))
    limited = paper.with_queue_limits(sl.Trace(**{**vars(trace), "table": table, "header": header}))
    assert limited.table["requested_time"].tolist() == [10, 3600, 3600, 50_000, 43_200, 5]


@pytest.mark.traces
def test_the_live_figure_compares_dpsa_with_easy():
    chart, table = paper.live("KTH-SP2-1996", load=0.7, variant="w", depth=50)
    chart.to_dict()
    assert table.data.columns.tolist() == ["bounded slowdown", "EASY", "DPSAw (depth 50)"]
