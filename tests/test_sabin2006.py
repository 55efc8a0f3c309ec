"""The paper on moldable jobs: figures from a small log, paired comparisons, and verdicts."""

from dataclasses import replace
from functools import cache

import joblib
import numpy as np
import pandas as pd
import pytest

import schedlab as sl
from schedlab import decisions, experiment, papers
from schedlab.papers import sabin2006 as paper
from schedlab.papers.sabin2006 import beyond, grids, ledger


@cache
def log(name, or_standin=True):
    trace = sl.model_trace("lublin", jobs=120, procs=16, seed=paper.NAMES.index(name))
    area = pd.Series(np.geomspace(100, 4_000_000, len(trace)), trace.table.index).sample(frac=1, random_state=1)
    return replace(trace, name=name, logged_area=area.set_axis(trace.table.index))


@pytest.fixture
def small(monkeypatch):
    """A small trace, with jobs of every class, in place of the log, and few draws and loads."""
    monkeypatch.setattr(grids, "load_trace", log)
    samples = {"quick": {60: ((0.4, 0.8), 2)}, "full": {60: ((0.4, 0.6, 0.8), 3), None: ((0.4, 0.6), 2)}}
    sizes = (
        (grids.SAMPLES, samples),
        (grids.SIDE, {"quick": (60, 2), "full": (80, 2)}),
        (beyond.READ, {"quick": (60, 2), "full": (80, 2)}),
        (beyond.DECISIONS, {"quick": 10, "full": 20}),
        (beyond.INSTANCES, {"quick": 8, "full": 12}),
    )
    for table, few in sizes:
        for size in few:
            monkeypatch.setitem(table, size, few[size])
    experiment.forget()
    yield log
    experiment.forget()


# The figures


def test_rows_are_those_of_the_schedules(small, shared_runs):
    data = grids.results(grids.RANDOM, "quick", progress=False)
    schemes = [scheme for scheme in grids.EVERY if scheme != grids.GREEDY]  # which quick runs leave out
    assert len(data) == 2 * 2 * len(schemes) * (1 + 5)
    trace = small(grids.LOG).with_procs(512).cut_at_estimates().head(60).shake(60, 1)
    trace = trace.with_speedup(sl.Downey(A="requested", sigma=(0, 2)), seed=1).scale_load(0.8, by="effective")
    for scheme in schemes:
        schedule = sl.simulate(trace, scheme).validate()
        rows = data[(data["load"] == 0.8) & (data["seed"] == 1) & (data["scheme"] == str(scheme))].set_index("group")
        measures, classes = schedule.metrics(), schedule.metrics(by="sabin")
        assert rows.loc["all jobs", "turnaround"] == pytest.approx(measures["turnaround"])
        wasted = rows.loc["all jobs", "wasted"] / rows.loc["all jobs", "area"]
        assert wasted == pytest.approx(measures["wasted_share"])
        assert rows.loc[list(grids.CLASSES), "count"].tolist() == classes["jobs"].tolist()
        assert rows.loc[list(grids.CLASSES), "turnaround"].tolist() == pytest.approx(classes["turnaround"].tolist())
        assert rows.loc["all jobs", "procs"] == schedule.procs.mean()


@pytest.mark.parametrize("size", ["quick", "full"])
@pytest.mark.parametrize("function", paper.FIGURES, ids=lambda function: function.__name__)
def test_every_figure_is_drawn_from_a_small_log(small, shared_runs, function, size):
    figure = function(size, progress=False)
    assert figure.name == function.__name__.replace("_", "-")
    always_whole = (paper.widths, paper.decision_times)
    assert ("full size:" in figure.caption) == (size == "quick" and function not in always_whole)
    assert len(figure.data)
    if figure.chart is not None:
        figure.chart.to_dict()
    else:
        assert len(figure.table)


def test_the_papers_figures_are_there():
    names = [function.__name__ for function in paper.FIGURES if function.__name__.startswith("figure")]
    assert names == [f"figure{n}" for n in (2, 3, 4, 5, 7, 8, 9, 10)]


def test_figures_of_one_scenario_share_their_simulations(small, monkeypatch, counting):
    monkeypatch.setattr(grids, "simulate", counting(sl.simulate))
    for function in (paper.figure2, paper.figure3, paper.figure7, paper.figure8):
        function("quick", progress=False)
    assert counting.calls() == 2 * 2 * (len(grids.EVERY) - 1)


def test_every_size_has_its_panel(small, shared_runs):
    panels = paper.figure3("full", progress=False).chart.to_dict()["vconcat"]
    assert len(panels) == 2 * 2
    assert panels[0]["title"]["subtitle"] != panels[2]["title"]["subtitle"]
    drawn = paper.figure3("quick", progress=False).data["group"].unique().tolist()
    assert drawn == ["all jobs", *grids.CLASSES]


def runs_of(*rows, jobs="first 5,000 jobs"):
    columns = ["load", "seed", "scheme", "group", "turnaround"]
    return pd.DataFrame(rows, columns=columns).assign(jobs=jobs)


def test_changes_are_paired_by_draw():
    one, other = sl.EASY(), sl.FCFS()
    rows = [(0.5, seed, "FCFS", "all jobs", old) for seed, old in enumerate((100, 400))]
    rows += [(0.5, seed, "EASY", "all jobs", new) for seed, new in enumerate((50, 200))]
    (row,) = grids.changes(runs_of(*rows), one, other).to_dict("records")
    assert row["change"] == row["low"] == row["high"] == pytest.approx(-50)
    assert row["seeds"] == 2


@pytest.mark.parametrize(
    "settings",
    [{}, {"A": "requested"}, {"sigma": 1}, {"share": 0.0}],
    ids=["A = P", "A random", "nothing random", "rigid"],
)
def test_every_draw_shakes_the_base_and_the_scheme(small, monkeypatch, settings):
    simulated = {}

    def noted(trace, scheme):
        simulated.setdefault(str(scheme), []).append(tuple(trace.table["submit_time"]))
        return sl.simulate(trace, scheme)

    monkeypatch.setattr(grids, "simulate", noted)
    with joblib.parallel_config(n_jobs=1):
        grids.compare("", progress=False, jobs=60, draw=range(3), scheme=(grids.PLAIN, sl.EASY()), **settings)
    base, rigid = simulated.values()
    assert base == rigid  # within a draw
    assert len(set(base)) == 3


def test_chance_alone_makes_no_scheme_worse_than_the_other():
    """An average of the draws' own ratios would make each of the two 25 % slower than the other."""
    one, other = sl.EASY(), sl.FCFS()
    rows = [(0.5, seed, "EASY", "all jobs", turnaround) for seed, turnaround in enumerate((100, 200))]
    rows += [(0.5, seed, "FCFS", "all jobs", turnaround) for seed, turnaround in enumerate((200, 100))]
    for pair in ((one, other), (other, one)):
        (row,) = grids.changes(runs_of(*rows), *pair).to_dict("records")
        assert row["change"] == pytest.approx(0)


def test_what_is_judged_at_full_size_has_ten_draws():
    assert all(draws >= 10 for _, draws in grids.SAMPLES["full"].values())
    assert beyond.READ["quick"][1] >= 10


def test_a_quick_sensitivity_leaves_iteration_to_the_full_size(small, shared_runs):
    full, quick = (paper.sensitivity(size, progress=False).data for size in ("full", "quick"))
    assert "iteration over the first 20 jobs only" in full["reading"].tolist()
    assert any("iterative" in name for name in full)
    assert "iterat" not in " ".join([*quick, *quick["reading"]])


# The ledger


def test_the_ledger_has_every_target(small, shared_runs):
    table = paper.claims("quick", progress=False).set_index("id")
    assert table.index.tolist() == [f"SAB-{n}" for n in ("0", "0b", *range(1, 6), "5b", *range(6, 16))]
    assert (table.loc[["SAB-0", "SAB-0b", "SAB-1", "SAB-2", "SAB-15"], "verdict"] == "reproduced").all()
    assert table.loc["SAB-2", "measured"] == "1 T; 0.75 T"
    assert (table["trace"] == grids.LOG).all()


def changed(*rows, jobs="first 5,000 jobs", seeds=10):
    """Make changes as the ledger takes them: (change, low, high) of each load."""
    table = pd.DataFrame(rows, columns=["change", "low", "high"])
    about = {"jobs": jobs, "seeds": seeds, "group": "all jobs", "pair": "one against two"}
    return table.assign(load=np.arange(len(rows)) / 10, **about)


def verdict_on(rows, expected="lower"):
    return papers.judged(papers.Claim("A", "", "", ""), ledger._checked(rows, expected), "a log")["verdict"]


@pytest.mark.parametrize(
    ("row", "jobs", "verdict"),
    [
        ((-8, -12, -4), "first 5,000 jobs", "reproduced"),
        ((-8, -20, 4), "first 5,000 jobs", "not testable"),  # chance
        ((-4, -5, -3), "first 5,000 jobs", "not reproduced"),  # noise
        ((-4, -5, -3), "whole log", "reproduced"),
        ((9, 5, 13), "first 5,000 jobs", "not reproduced"),
    ],
)
def test_a_few_percent_are_noise_on_the_first_jobs_and_none_on_the_whole_log(row, jobs, verdict):
    assert verdict_on(changed(row, jobs=jobs)) == verdict


def test_noise_on_the_first_jobs_says_nothing_where_the_whole_log_tells_more():
    noise, fine, worse = changed((1, -2, 4)), changed((-8, -9, -7), jobs="whole log", seeds=4), changed((12, 6, 18))
    together = [pd.concat([part, fine]) for part in (noise, worse)]
    assert [verdict_on(rows) for rows in (noise, *together)] == ["not reproduced", "reproduced", "trend only"]


def test_the_first_jobs_count_at_loads_that_the_whole_log_does_not_have():
    first, whole = changed((1, -2, 4), (1, -2, 4), (2, 1, 3)), changed((-8, -9, -7), jobs="whole log")
    told = [check.table()["case"].tolist() for check in ledger._checked(pd.concat([first, whole]), "lower")]
    assert told == [
        ["one against two, load 0, whole log"],
        [f"one against two, load {load}, first 5,000 jobs" for load in (0.1, 0.2)],
    ]


def test_cases_say_what_tells_them_apart():
    (check,) = ledger._checked(changed((-20, -30, -10), (12, 6, 18)), "lower")
    assert check.table()["case"].tolist() == [f"one against two, load {load:g}, first 5,000 jobs" for load in (0, 0.1)]


def test_with_efficiency_jobs_run_on_more_than_their_share_and_without_they_do_not(small, monkeypatch):
    row = ledger._nothing_moves("quick", "a log")
    assert row["verdict"] == "reproduced"
    monkeypatch.setitem(grids.SHARES, (1, 0), grids.SHARES[1, 1])  # a scheme that moves processors all the same
    assert ledger._nothing_moves("quick", "a log")["verdict"] == "not reproduced"
    monkeypatch.undo()


def test_growth_compares_the_highest_load_with_the_lowest():
    one, other = sl.EASY(), sl.FCFS()
    rows = [(load, 0, "FCFS", "all jobs", 100) for load in (0.2, 0.5, 0.8)]
    rows += [(load, 0, "EASY", "all jobs", new) for load, new in ((0.2, 100), (0.5, 1), (0.8, 150))]
    (row,) = ledger._growth(runs_of(*rows), one, other).to_dict("records")
    assert (row["change"], row["load"]) == (pytest.approx(50), 0.8)
    whole = runs_of(*[row for row in rows if row[0] < 0.8], jobs="whole log")  # has no run at the highest load
    both = ledger._growth(pd.concat([runs_of(*rows), whole]), one, other)
    assert both[["jobs", "load", "change"]].to_numpy().tolist() == [
        ["first 5,000 jobs", 0.8, pytest.approx(50)],
        ["whole log", 0.5, pytest.approx(-99)],
    ]


# Live


def test_live_figure(small, shared_runs):
    chart, table = paper.live(jobs=60)
    assert chart.to_dict()
    assert "Fair share (ObF 4, EF 1): turnaround (h)" in table.to_html()
    for scheme in paper.CHOICES:
        chart, other = paper.live(jobs=60, scheme=scheme, share=0.5, sigma=0, overbooking=2, scenario=grids.RANDOM)
        assert other.to_html() != table.to_html()
    assert paper.RANGES["0 to 2"] == grids.SIGMA


def test_live_decision(small, shared_runs):
    chart, _ = paper.live_decision(step=2, nth=10**6, jobs=60, load=0.9)
    assert "Step 2 of" in str(chart.to_dict())
    with pytest.raises(ValueError, match="no decision on 3 to 12 jobs"):
        paper.live_decision(jobs=2)


def test_sliders_of_a_decision_end_with_it(small, shared_runs):
    settings = {"load": 0.9, "scenario": grids.SYSTEM, "name": grids.OTHER_LOGS[0], "jobs": 60, "draw": 0}
    limits = paper.live_decision.limits(nth=0, **settings)
    last = paper.live_decision(step=limits["step"], **settings)[0].to_dict()
    assert f"Step {limits['step']} of {limits['step']}" in str(last)
    assert limits["step"] < 150
    assert paper.live_decision.limits(nth=99, **settings)["nth"] == limits["nth"]
    assert paper.live_decision(nth=limits["nth"], **settings)[0].to_dict()


def test_controls_of_fair_share_are_idle_under_other_schemes(small, shared_runs):
    assert paper.live.limits("fair share", 1.0) == {"overbooking": None, "efficiency": None}
    for scheme, share, why in (("greedy", 0.5, "only fair share has it"), ("fair share", 0.0, "no job is moldable")):
        assert paper.live.limits(scheme, share) == {"overbooking": why, "efficiency": why}
        means = [
            paper.live(jobs=60, scheme=scheme, share=share, overbooking=factor, efficiency=factor / 8)[
                1
            ].data.to_numpy()
            for factor in (1, 8)
        ]
        assert (means[0][:, 1:] == means[1][:, 1:]).all()


def test_a_decision_is_shown_though_little_is_free(small, monkeypatch):
    found = decisions.instants
    monkeypatch.setattr(decisions, "instants", lambda schedule: (*found(schedule)[:2], 1))
    chart, _ = paper.live_decision(jobs=60, load=0.9)
    assert "Tried: job " in str(chart.to_dict())


@pytest.mark.traces
def test_the_opening_picture_shows_its_step():
    spec = paper.live_decision(step=1)[0].to_dict()
    before, after = (
        {row["job"]: row for row in spec["datasets"][part["layer"][0]["data"]["name"]]} for part in spec["vconcat"]
    )
    (job,) = [row["job"] for row in before.values() if row["color"] == "gets a processor"]
    assert (before[job]["procs"], after[job]["procs"]) == (1, 2)
    part = spec["vconcat"][1]["layer"][0]
    low, high = part["encoding"]["y"]["scale"]["domain"]
    begin, end = part["encoding"]["x"]["scale"]["domain"]
    pixel = spec["vconcat"][1]["height"] / (high - low), spec["vconcat"][1]["width"] / (end - begin)
    for row, procs in ((before[job], 1), (after[job], 2)):
        assert (row["high"] - row["low"]) == procs
    assert pixel[0] > 10  # of height for one processor more
    assert (before[job]["end"] - after[job]["end"]) * pixel[1] > 50  # of time that it saves
    assert {row["words"] for row in spec["datasets"][spec["vconcat"][0]["layer"][1]["data"]["name"]]} >= {str(job)}


@pytest.mark.traces
def test_the_ctc_log_keeps_the_laws():
    for A in paper.SCENARIOS.values():
        trace = grids.workload(jobs=600, A=A, load=0.6)
        assert trace.effective_load() == pytest.approx(0.6, rel=1e-3)
        for scheme in grids.EVERY:
            sl.simulate(trace, scheme).validate()


@pytest.mark.parametrize(
    ("figure", "options", "message"),
    [
        (paper.live, {"scheme": "x"}, "unknown scheme 'x'; known: fair share, iterative, greedy"),
        (paper.live, {"scenario": "A"}, "unknown scenario 'A'; known: A = P, A random"),
        (paper.live_decision, {"scenario": "A"}, "unknown scenario 'A'; known: A = P, A random"),
    ],
)
def test_live_figures_name_what_is_unknown(figure, options, message):
    with pytest.raises(ValueError, match=message):
        figure(**options)


def test_tolerances_say_the_bounds_of_the_code():
    met = {name: claim.tolerance for name, claim in ledger.CLAIMS.items()}
    assert met["15"] == f"no decision takes longer than {ledger.FEW_HUNDRED} ms"
    noise = f"changes within {ledger.NOISE} % on the first jobs of the log are noise"
    assert {met[name] for name in met if name not in ("0", "0b", "1", "2", "15")} == {noise}
