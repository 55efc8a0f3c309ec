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
    assert data["site"].unique().tolist() == ["site 1", "site 2", "site 3"]
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


def test_a_group_of_jobs_has_one_colour_in_bars_and_gantt_charts(small):
    bars = paper.figure8("quick", progress=False).chart.to_dict()["concat"][0]["layer"][0]["encoding"]["color"]
    schedule = sl.simulate(paper.subset().with_sweeps(0.2), "ojs")
    drawn = [bars, *(sl.charts.gantt(schedule, color=by).to_dict()["encoding"]["color"] for by in ("class", "sweeps"))]
    scales = [dict(zip(of["scale"]["domain"], of["scale"]["range"], strict=True)) for of in drawn]
    assert len(scales[0]) > 1
    assert scales[0].items() <= scales[1].items()
    assert sl.charts.colours(["sweeps", "other jobs"]) == [scales[2]["sweep"], scales[2]["other jobs"]]


def test_figures_4_to_23_are_there():
    assert [function.__name__ for function in paper.FIGURES] == [*(f"figure{n}" for n in range(4, 24)), "sensitivity"]


def test_the_ledger_has_every_target(small):
    ledger = paper.claims("quick", progress=False).set_index("id")
    assert ledger.index.tolist() == [f"KUR-{n}" for n in range(11)]
    assert ledger.loc["KUR-0", "verdict"] == "reproduced"


def draws_of(*draws):
    """Make draws as the ledger takes them, of one share and load: for each seed a mapping of groups to improvements."""
    rows = {
        (seed, 5, 0.6, group.replace("_", " ")): row for seed, draw in enumerate(draws) for group, row in draw.items()
    }
    index = pd.MultiIndex.from_tuples(rows, names=["seed", "share", "load", "group"])
    return pd.DataFrame(list(rows.values()), index=index, columns=list(paper.IMPROVED.values()))


def means_of(**values):
    """Make means as the ledger takes them."""
    return draws_of(values).droplevel("seed")


def test_verdicts_name_the_cases_that_do_not_hold():
    good = {"sweeps": (50, 60, 20), "other_jobs": (-2, -3, 20), "SN": (-2, -9, 20), "LW": (1, 1, 20)}
    draws = draws_of(good, good | {"SN": (-4, -9, 20)})
    assert paper._not_worse(draws, ["other jobs"], {"turnaround": 4, "slowdown": 4})["verdict"] == "reproduced"
    worse = paper._not_worse(draws, ["SN", "LW"], {"turnaround": 2.5, "slowdown": 10})
    assert worse["verdict"] == "trend only"
    assert worse["reason"].startswith("turnaround not in 1 of 2 cases: -3.0 % (5 % sweeps, load 0.6, SN); 1 of 2 draws")
    fine = means_of(**good)
    assert paper._trade(fine)["verdict"] == "reproduced"
    trade = paper._trade(means_of(sweeps=(50, -1, 20), other_jobs=(-2, -3, 20)))
    assert trade["verdict"] == "trend only"
    assert trade["reason"] == "sweeps' slowdown not in 1 of 1 cases: -1.0 % (5 % sweeps, load 0.6)"
    assert paper._slowdown_suffers_more(fine)["verdict"] == "trend only"  # not twice as much
    assert paper._slowdown_suffers_more(means_of(other_jobs=(-2, -5, 20)))["verdict"] == "reproduced"
    assert paper._narrow_suffer_most(fine)["verdict"] == "reproduced"


def test_up_to_compares_best_cases_of_single_draws():
    draws = draws_of(*({"sweeps": (0, 50 + 2 * i, i)} for i in range(20))).droplevel("group")
    assert paper._up_to(70, draws, "slowdown")["verdict"] == "reproduced"
    beyond = paper._up_to(95, draws, "slowdown")
    assert (beyond["verdict"], beyond["reason"]) == ("trend only", "the best case is 95 % or less in 20 of 20 draws")
    assert paper._up_to(0, draws, "loss")["verdict"] == "trend only"  # reached by one draw, and by no ordinary one
    assert paper._up_to(5, -draws, "loss")["verdict"] == "not reproduced"


def test_live_figure(small):
    chart, table = paper.live(sites=2, share=20, day=0, shown=64)
    assert "64 of 64 processors, site 1" in chart.to_dict()["title"]["text"]
    chart, alone = paper.live(share=20, day=0, first=10**6, shown=10**6)
    assert "64 of 64 processors" in chart.to_dict()["title"]["text"]
    assert "site" not in chart.to_dict()["title"]["text"]
    assert not {"site", "speed"} & set(" ".join(alone.data.columns).split())
    assert "1, speed 2" in table.to_html()
    assert "2, speed 1" in table.to_html()
    _, other = paper.live(sites=2, speeds=(1, 4), share=20, day=0, shown=64)
    assert "2, speed 4" in other.to_html()
    assert other.to_html() != table.to_html()
    with pytest.raises(ValueError, match="speeds has 2 values, expected one for each of 3 sites"):
        paper.live(sites=3, speeds=(1, 4))
    assert paper.SPEEDS in paper.RATIOS.values()


@pytest.mark.traces
def test_the_opening_picture_shows_tasks_in_the_holes():
    spec = paper.live()[0].to_dict()
    drawn, *_ = (spec["datasets"][layer["data"]["name"]] for layer in spec["layer"])
    shown = spec["layer"][0]["encoding"]
    (low, high), (begin, end) = (shown[axis]["scale"]["domain"] for axis in "yx")
    stripe, hour = spec["height"] / (high - low), spec["width"] / (end - begin) * 3_600_000
    assert stripe > 8  # pixels for a processor
    tasks = [row for row in drawn if row["color"] == "tasks of a sweep"]
    assert len({row["job"] for row in tasks}) > 1
    seen = [row for row in tasks if (row["end"] - row["begin"]) / 3_600_000 * hour > 8]
    assert len(seen) > 0.9 * len(tasks) > 50
    assert {row["color"] for row in drawn} == {"tasks of a sweep", "sweep", "other jobs"}


@pytest.mark.traces
def test_the_ctc_log_keeps_the_laws():
    trace = sl.load_trace("CTC-SP2-1996").head(3000).with_procs(512).scale_load(0.8).with_sweeps(0.1)
    shredding = sl.OpportuneShredding(local="conservative", release=True)
    for scheme in ("flooding", sl.Flooding(local="conservative"), "ojs", shredding):
        sl.simulate(trace, scheme).validate()
        sl.simulate(trace.with_estimates("exact"), scheme).validate()
