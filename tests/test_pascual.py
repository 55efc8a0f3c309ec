"""The paper on placement: its figures from small logs, where lines cross, and every verdict of its ledger."""

from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest

import schedlab as sl
from schedlab.papers import pascual2008 as paper

PROCS = {paper.HPC2N: 240, paper.THUNDER: 300, paper.BLUE: 260}


@pytest.fixture
def small(monkeypatch):
    """Three small traces in place of whole logs, and few values of s."""

    def log(name):
        trace = sl.model_trace("lublin", jobs=300, procs=PROCS[name], seed=list(PROCS).index(name)).scale_load(0.8)
        return sl.Trace(**{**vars(trace), "name": name})

    traces = {name: log(name) for name in PROCS}
    monkeypatch.setattr(paper, "log_or_standin", traces.__getitem__)
    monkeypatch.setattr(paper, "SHARES", {"quick": (0.0, 0.3, 0.6), "full": (0.0, 0.2, 0.4, 0.6)})
    monkeypatch.setattr(paper, "COARSE", {"quick": (0.0, 0.6), "full": (0.0, 0.3, 0.6)})
    paper._against_speedup.cache_clear()
    yield traces
    paper._against_speedup.cache_clear()


def test_rows_are_those_of_the_schedules(small):
    data = paper.against_speedup(paper.HPC2N, "quick", progress=False)
    assert len(data) == 3 * 2 * 3
    trace = small[paper.HPC2N]
    for policy, (scheme, rule) in paper.POLICIES.items():
        free, together = (
            sl.simulate(
                trace,
                scheme,
                machine=sl.KaryTree(4, 4, allocation=allocation, reservation=rule, speedup=0.3),
                overrun="kill-backfilled",
            ).validate()
            for allocation in ("first-free", "contiguous")
        )
        part = data[(data["policy"] == policy) & (data["s"] == 0.3)].set_index("allocation")
        for allocation, schedule in (("first-free", free), ("contiguous", together)):
            wait, total = schedule.jobs["wait_time"].mean() / 60, schedule.jobs["turnaround"].mean() / 60
            assert part.loc[allocation, ["wait_minutes", "total_minutes"]].tolist() == pytest.approx([wait, total])
        row = part.loc["contiguous"]
        assert row["ratio"] == pytest.approx(together.jobs["wait_time"].mean() / free.jobs["wait_time"].mean())
        difference = together.jobs["turnaround"].mean() - free.jobs["turnaround"].mean()
        assert row["difference"] == pytest.approx(difference)
        assert row["difference_low"] <= difference <= row["difference_high"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([4, 2, -2, -4], 0.15),
        ([4, 0, -2, -4], 0.1),
        ([-1, -2, -3, -4], 0.0),
        ([4, 3, 2, 1], np.nan),
        ([4, -4, 4, -4], 0.05),  # the first of several
    ],
)
def test_crossing_is_on_a_straight_line(values, expected):
    table = pd.DataFrame({"s": [0.0, 0.1, 0.2, 0.3], "difference": values}).sample(frac=1, random_state=1)
    assert paper.crossing(table) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("function", paper.FIGURES, ids=lambda function: function.__name__)
def test_every_figure_is_drawn_from_small_logs(small, function):
    figure = function("quick", progress=False)
    assert "quick" in figure.caption or function is paper.figure2
    assert len(figure.data)
    if figure.chart is not None:
        figure.chart.to_dict()
    else:
        assert len(figure.table)


def test_both_rules_are_in_every_backfilling_figure(small):
    for function in (paper.figure2, paper.figure3, paper.figure4, paper.figure5):
        assert set(paper.BACKFILLING) <= set(function("quick", progress=False).data["policy"])


def test_the_ledger_has_every_target(small):
    ledger = paper.claims("quick", progress=False).set_index("id")
    assert ledger.index.tolist() == [f"PAS-{i}" for i in range(8)]
    assert ledger.loc["PAS-0", "verdict"] == "reproduced"
    assert paper.BLUE in ledger.loc["PAS-3", "trace"]


def crossings_of(**values):
    rows = {policy: {"crossing": at, "low": at - 0.01, "high": at + 0.01} for policy, at in values.items()}
    return pd.DataFrame(rows).T.rename(index={"FCFS": "FCFS", "count": "EASY (count)", "block": "EASY (block)"})


def test_verdicts():
    near, far = crossings_of(FCFS=0.24, count=0.27, block=0.02), crossings_of(FCFS=0.4, count=0.45, block=0.02)
    assert paper._about(near, ("FCFS", "EASY (count)"))["verdict"] == "reproduced"
    assert paper._about(far, ("FCFS", "EASY (count)"))["verdict"] == "trend only"
    assert paper._within(near)["verdict"] == "reproduced"
    assert paper._within(far)["reason"] == "at 0.45 by the count of nodes"
    assert paper._slightly_higher(crossings_of(count=0.3), near)["verdict"] == "reproduced"
    assert paper._slightly_higher(far, near)["verdict"] == "trend only"
    assert paper._overall({"A": near, "B": near})["verdict"] == "reproduced"
    assert paper._overall({"A": near, "B": far})["verdict"] == "trend only"


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [((7.5, 90), "reproduced"), ((3, 150), "trend only"), ((0.9, 20), "not reproduced")],
)
def test_verdict_on_ratios(ratios, verdict):
    table = pd.DataFrame({"trace": "T", "policy": ["FCFS", "EASY (count)"], "ratio": ratios})
    assert paper._ratios([table])["verdict"] == verdict


def test_live_figure(small):
    chart, table = paper.live(paper.HPC2N, s=0.2, jobs=100, week=0, hour=24)
    assert "4-ary 4-tree of 240 nodes" in str(chart.to_dict()["title"])
    assert "EASY (count), contiguous, s = 0.2" in table.to_html()
    taller, _ = paper.live(paper.HPC2N, k=2, n=3, jobs=100, week=0, hour=24)
    assert "2-ary 8-tree of 240 nodes" in str(taller.to_dict()["title"])


def opening():
    """Give the call in the notebook that draws its first tree."""
    notebook = nbformat.read(Path(__file__).parents[1] / "notebooks/06-placement-pascual.ipynb", 4)
    return next(cell.source.splitlines()[0] for cell in notebook.cells if cell.source.startswith("chart, table = "))


@pytest.mark.parametrize("log", ["at hand", "stand-in"])
@pytest.mark.traces
def test_the_opening_picture_is_a_tree_that_holds_jobs(monkeypatch, tmp_path, log):
    if log == "stand-in":
        monkeypatch.setenv("SCHEDLAB_DATA", "")
        monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))
    names = {"paper": paper}
    exec(opening(), names)
    spec = names["chart"].to_dict()
    nodes, _, _, numbers = (spec["datasets"][layer["data"]["name"]] for layer in spec["layer"])
    jobs = {row["job"] for row in nodes} - {""}
    assert sum(row["job"] != "" for row in nodes) > len(nodes) / 2
    assert len(jobs) > 4
    assert {row["job"] for row in numbers} == jobs


@pytest.mark.traces
def test_contiguity_on_hpc2n():
    # The specification, section 6.5: by count 5 times the wait under EASY and 8.5 under FCFS; by block none.
    table = paper.against_speedup(paper.HPC2N, "quick", progress=False)
    at_0 = table[(table["s"] == 0) & (table["allocation"] == "contiguous")].set_index("policy")["ratio"]
    assert at_0.round(1).to_dict() == {"FCFS": 8.5, "EASY (count)": 5.3, "EASY (block)": 0.9}
    found = paper.crossings(table).set_index("policy")["crossing"]
    assert found[["FCFS", "EASY (count)"]].between(0.2, 0.3).all()
