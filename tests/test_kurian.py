"""The paper on job shredding: its figures from a small log, what is compared with what, and the ledger's verdicts."""

import pandas as pd
import pytest

import schedlab as sl
from schedlab.papers import kurian2003 as paper
from schedlab.workload.swf import Header


@pytest.fixture
def small(monkeypatch):
    """A small trace of three months in place of the log, and few draws and loads."""
    header = Header(("; UnixStartTime: 836179200", "; TimeZoneString: US/Eastern"))  # 1 July 1996

    def log(name):
        trace = sl.model_trace("lublin", jobs=240, procs=64, seed=1)
        submit = trace.table["submit_time"]
        table = trace.table.assign(submit_time=(submit * (91 * 86_400 / submit.max())).astype("int64"))
        return sl.Trace(**{**vars(trace), "name": name, "table": table, "header": header})

    monkeypatch.setattr(paper, "log_or_standin", log)
    monkeypatch.setattr(paper, "PROCS", 64)
    monkeypatch.setattr(paper, "JOBS", 80)
    monkeypatch.setattr(paper, "SEEDS", {"quick": 2, "full": 3})
    monkeypatch.setattr(paper, "LOADS", (0.7, 0.9))
    for function in (paper._single, paper._several, paper._sites_of):
        function.cache_clear()
    yield log
    for function in (paper._single, paper._several, paper._sites_of):
        function.cache_clear()


def test_improvements_are_those_of_the_schedules(small):
    trace = paper.subset()
    assert (len(trace), trace.procs) == (80, 64)
    assert (trace.table["requested_time"] == trace.table["run_time"]).all()
    data = paper.experiment(trace, 2, (20,), (0.9,), ("shredding",), progress=False)
    scaled = trace.scale_load(0.9)
    marked = scaled.with_sweeps(0.2, seed=1)
    old, new = sl.simulate(scaled, "easy"), sl.simulate(marked, sl.OpportuneShredding()).validate()
    sweep = marked.table["breakdown"].to_numpy() > 0
    row = data[(data["seed"] == 1) & (data["group"] == "sweeps")].iloc[0]
    for key in ("turnaround", "slowdown"):
        before, after = (schedule.jobs[key].to_numpy()[sweep].mean() for schedule in (old, new))
        assert row[f"{key}_better"] == pytest.approx(100 * (before - after) / before)
    before, after = (schedule.metrics()["loss_of_capacity"] for schedule in (old, new))
    assert row["loss_better"] == pytest.approx(100 * (before - after) / before)
    assert set(data["group"]) <= {"sweeps", "other jobs", *paper.CLASSES}


def test_sites_are_compared_with_sites_alone(small):
    data = paper.several("quick", progress=False)
    assert data["site"].unique().tolist() == ["site 1, speed 2 (Jul)", "site 2, speed 1 (Aug)", "site 3, speed 3 (Sep)"]
    traces = [trace.scale_load(0.9) for trace in paper.months()]
    marked = [trace.with_sweeps(0.1, seed=0) for trace in traces]
    begins = ["1996-07-01", "1996-08-01", "1996-09-01"]
    sites = sl.simulate_sites(marked, sl.OpportuneShredding(), speeds=(2, 1, 3), begins=begins)
    new = sites.validate()[1]
    old = sl.simulate(traces[1], "easy")
    others = marked[1].table["breakdown"].to_numpy() == 0
    before, after = (schedule.jobs["turnaround"].to_numpy()[others].mean() for schedule in (old, new))
    row = data[(data["share"] == 10) & (data["load"] == 0.9) & (data["seed"] == 0) & (data["group"] == "other jobs")]
    assert row.set_index("site")["turnaround_better"].iloc[1] == pytest.approx(100 * (before - after) / before)


@pytest.mark.parametrize("function", paper.FIGURES, ids=lambda function: function.__name__)
def test_every_figure_is_drawn_from_a_small_log(small, function):
    figure = function("quick", progress=False)
    assert figure.name == function.__name__
    assert "draw" in figure.caption
    assert len(figure.data)
    if figure.chart is not None:
        figure.chart.to_dict()
    else:
        assert len(figure.table)


def test_figures_4_to_23_are_there():
    assert [function.__name__ for function in paper.FIGURES] == [*(f"figure{n}" for n in range(4, 24)), "sensitivity"]


def test_the_ledger_has_every_target(small):
    ledger = paper.claims("quick", progress=False).set_index("id")
    assert ledger.index.tolist() == [f"KUR-{n}" for n in range(11)]
    assert ledger.loc["KUR-0", "verdict"] == "reproduced"


def means_of(**values):
    """Make a table of means as the ledger takes it, of one share and load."""
    rows = {(5, 0.6, group.replace("_", " ")): row for group, row in values.items()}
    index = pd.MultiIndex.from_tuples(rows, names=["share", "load", "group"])
    return pd.DataFrame(list(rows.values()), index=index, columns=list(paper.IMPROVED.values()))


def test_verdicts():
    fine = means_of(sweeps=(50, 60, 20), other_jobs=(-2, -3, 20), SN=(-2, -9, 20), LW=(1, 1, 20))
    assert paper._not_worse(fine, ["other jobs"], {"turnaround": 4, "slowdown": 4})["verdict"] == "reproduced"
    worse = paper._not_worse(fine, ["SN", "LW"], {"turnaround": 1.5, "slowdown": 10})
    assert (worse["verdict"], worse["reason"]) == ("trend only", "beyond 1.5 % in turnaround, 10 % in slowdown")
    assert paper._trade(fine)["verdict"] == "reproduced"
    assert paper._trade(means_of(sweeps=(50, -1, 20), other_jobs=(-2, -3, 20)))["verdict"] == "trend only"
    assert paper._slowdown_suffers_more(fine)["verdict"] == "reproduced"
    assert paper._narrow_suffer_most(fine)["verdict"] == "reproduced"
    draws = pd.DataFrame({"slowdown_better": [40.0, 75.0], "loss_better": [1.0, 2.0]})
    sweeps = fine.xs("sweeps", level="group")
    assert paper._up_to(70, sweeps, draws, "slowdown")["verdict"] == "reproduced"
    assert paper._up_to(21, sweeps, draws, "loss")["verdict"] == "trend only"


def test_live_figure(small):
    chart, table = paper.live(sites=2, share=20, day=0)
    assert chart.to_dict()
    assert "1, speed 2" in table.to_html()
    assert "2, speed 1" in table.to_html()
