"""The paper on moldable jobs: figures from a small log, paired comparisons, and verdicts."""

import itertools
import json
import re
from dataclasses import replace
from functools import cache

import joblib
import numpy as np
import pandas as pd
import pytest
from replacing import rebuild

import schedlab as sl
from schedlab import decisions, papers
from schedlab.papers import sabin2006 as paper
from schedlab.papers.sabin2006 import beyond, grids, ledger


@cache
def log(name, or_standin=True):
    trace = sl.model_trace("lublin", jobs=120, machine=16, seed=paper.NAMES.index(name))
    area = pd.Series(np.geomspace(100, 4_000_000, len(trace)), trace.table.index).sample(frac=1, random_state=1)
    return replace(trace, name=name, logged_area=area.set_axis(trace.table.index))


@pytest.fixture
def small(monkeypatch, nothing_kept):
    """A small trace, with jobs of every class, in place of the log, and few draws and loads."""
    monkeypatch.setattr(grids, "load_trace", log)
    sizes = (
        (grids.SAMPLES, {60: ((0.4, 0.8), 2)}, {60: ((0.4, 0.6, 0.8), 3), None: ((0.4, 0.6), 2)}),
        *((table, (60, 2), (80, 2)) for table in (grids.SIDE, beyond.READ)),
        (beyond.DECISIONS, 10, 20),
        (beyond.INSTANCES, 8, 12),
    )
    for table, quick, full in sizes:
        monkeypatch.setitem(table, "quick", quick)
        monkeypatch.setitem(table, "full", full)
    return log


# The figures


def test_rows_are_those_of_the_schedules(small, shared_runs):
    data = grids.results(grids.RANDOM, "quick", progress=False)
    schemes = [scheme for scheme in grids.EVERY if scheme not in grids.UNRESTRICTED]  # which quick runs leave out
    assert len(data) == 2 * 2 * len(schemes) * (1 + 5)
    trace = small(grids.LOG).with_machine(512).cut_at_estimates().head(60).shake(60, 1)
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
        assert rows.loc["all jobs", "queue"] == pytest.approx(measures["mean_queue"])


def naive(jobs, procs):
    """Measure jobs (submission, start, end, processors) in plain Python: run, queue second by second, and wide."""
    begin, last = min(submit for submit, *_ in jobs), max(end for *_, end, _ in jobs)
    queue = sum(submit <= second < start for second in range(begin, last) for submit, start, *_ in jobs)
    run = sum(end - start for _, start, end, _ in jobs)
    wide = sum(2 * width > procs for *_, width in jobs)
    return run / len(jobs), queue / (last - begin), wide / len(jobs)


@pytest.mark.parametrize("scheme", [grids.PLAIN, grids.WIDE, grids.ITERATIVE, grids.UNLIMITED], ids=str)
def test_run_queue_and_wide_are_as_counted_job_by_job(scheme):
    rows = [(7 * job, 50 + 13 * job % 90, 200, 1 + 5 * job % 8) for job in range(40)]
    trace = sl.testing.trace_of(rows, machine=8).with_speedup(sl.Downey(), seed=1)
    schedule = sl.simulate(trace, scheme)
    table = grids.measured(schedule).set_index("group")
    jobs = list(zip(schedule.submit, schedule.start, schedule.end, schedule.procs, strict=True))
    assert table.loc["all jobs", ["run", "queue", "wide"]].tolist() == pytest.approx(naive(jobs, 8))
    assert table.loc["all jobs", "queue"] > 0
    area = np.array([seconds * procs for _, seconds, _, procs in rows])
    tiny = (schedule.run[area < 200].mean(), (schedule.procs[area < 200] > 4).mean())
    assert table.loc["tiny", ["run", "wide"]].tolist() == pytest.approx(tiny)
    assert table["queue"].iloc[1:].sum() == pytest.approx(table.loc["all jobs", "queue"])  # each waits in its class


@pytest.mark.parametrize("size", ["quick", "full"])
@pytest.mark.parametrize("function", paper.FIGURES, ids=lambda function: function.__name__)
def test_every_figure_is_drawn_from_a_small_log(small, shared_runs, function, size):
    figure = rebuild(function, size)
    always_whole = (paper.widths, paper.decision_times)
    assert ("full size:" in figure.sample) == (size == "quick" and function not in always_whole)


def test_a_scheme_has_one_name_and_one_colour_in_all_figures():
    found = {}
    for function in paper.FIGURES:
        card = function.as_kept()
        text = "" if card is None or card.chart is None else json.dumps(card.chart.to_dict())
        assert "Fair share (" not in text, function.__name__
        for names, colours in re.findall(r'"domain": (\[[^]]*\]), "range": (\["#[^]]*\])', text):
            for name, colour in zip(json.loads(names), json.loads(colours), strict=True):
                assert found.setdefault(name, colour) == colour
    assert {"ObF 1, EF 0", "ObF 4, EF 1", "Iterative", "EASY"} <= set(found)


def test_figures_of_one_scenario_share_their_simulations(small, monkeypatch, counting):
    monkeypatch.setattr(grids, "simulate", counting(sl.simulate))
    for function in (paper.figure2, paper.figure3, paper.figure7, paper.figure8):
        function("quick", progress=False)
    assert counting.calls() == 2 * 2 * (len(grids.EVERY) - 1)


def test_every_size_has_its_panel(small, shared_runs):
    figure = paper.figure3("quick", progress=False)
    assert figure.data["group"].unique().tolist() == ["all jobs", *grids.CLASSES]
    panels = ["less than 200", "200 to 3,200", "3,200 to 100,000", "0.1 to 2 million", "over 2 million"]
    assert figure.chart.to_dict()["facet"]["sort"] == [f"{panel} processor-seconds" for panel in panels]


ONE = sl.EASY()
OTHER = sl.FCFS()


def runs_of(*rows, jobs="first 5,000 jobs"):
    columns = ["load", "seed", "scheme", "group", "turnaround"]
    return pd.DataFrame(rows, columns=columns).assign(jobs=jobs, scenario="", sigma="")


@pytest.mark.parametrize("settings", [{}, {"A": "requested"}, {"sigma": 1}, {"share": 0.0}])
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


@pytest.mark.parametrize(
    ("of_easy", "change"),
    [((50, 200), -50), ((400, 100), 0)],  # in the second, an average of the draws' own ratios would be +112 %
)
def test_changes_are_paired_by_draw_and_chance_alone_is_none(of_easy, change):
    rows = [(0.5, seed, "FCFS", "all jobs", old) for seed, old in enumerate((100, 400))]
    rows += [(0.5, seed, "EASY", "all jobs", new) for seed, new in enumerate(of_easy)]
    (row,) = grids.changes(runs_of(*rows), ONE, OTHER).to_dict("records")
    assert (row["change"], row["seeds"]) == (pytest.approx(change), 2)
    assert row["low"] == pytest.approx(change) if change else row["low"] < 0 < row["high"]


def test_a_quick_sensitivity_leaves_iteration_to_the_full_size(small, shared_runs):
    full, quick = (paper.sensitivity(size, progress=False).data for size in ("full", "quick"))
    assert "iteration over the first 20 jobs only" in full["reading"].tolist()
    assert any("iterative" in name for name in full)
    assert "iterat" not in " ".join([*quick, *quick["reading"]])


# The ledger


def test_times_of_other_hardware_are_not_judged_but_told(small, shared_runs):
    row = ledger._decision_times("quick", False, "a log")
    assert row["verdict"] == "cannot be tested"
    assert re.match("longest decision .* ms [(]A ", row["measured"])
    assert "99th percentile" in row["details"]


IDS = {
    *("0", "0b", "1", "2", "3a", "3b", "3c", "3d", "4a", "4b", "5", "5b", "6", "7a", "7b", "8a", "8b", "8c"),
    *("9a", "9b", "9c", "10a", "10b", "11", "12a", "12b", "12c", "13a", "13b", "14a", "14b", "15", "16", "17", "18"),
}


def test_the_ledger_has_every_target(small, shared_runs):
    table = paper.claims("full", progress=False).set_index("id")
    assert set(table.index) == {f"SAB-{name}" for name in IDS}
    assert (table.loc[["SAB-0", "SAB-0b", "SAB-1", "SAB-2"], "verdict"] == "reproduced").all()
    assert table.loc["SAB-2", "measured"] == "1 T; 0.75 T"
    assert (table["trace"] == grids.LOG).all()


SEEDS, LOADS = range(10), grids.FEW_LOADS


def as_claimed(kind, group, load, obf, ef):
    """Logarithms of turnaround, run and queue under shares if all claims hold, of a kind of jobs."""
    over, largest = np.log2(obf), group in ledger.LARGEST
    if kind == "sigma 0":
        turnaround = over * ((load - 0.5) if group == grids.ALL else -0.2 if largest else 0.2)
    elif kind.startswith("sigma"):
        turnaround = over * (0.1 + 0.2 * load)
    elif kind == grids.SYSTEM and group == grids.ALL:
        turnaround = 0.2 * ef if obf == 1 else 0.1 - 0.2 * ef
    elif kind == grids.SYSTEM:
        turnaround = (-0.25 * over + 0.3 * ef * (obf == 1)) if largest else 0.2 * over - 0.2 * ef
    else:
        turnaround = over * (0.1 + 0.2 * load) - 0.1 * ef * (group != grids.ALL or obf > 1)
    return turnaround, -0.3 * over, 0.5 * over


def drawn(kind, factor, noise=0.002, jobs=(ledger.WHOLE, "first 5,000 jobs")):
    """Make runs of a kind of jobs whose effects are those of the claims, times a factor."""
    rng, rows, schemes = np.random.default_rng(1), [], {(o, e): grids.SHARES[o, e] for o, e in grids.SHARES}
    if kind.startswith("sigma"):
        schemes = {(scheme.overbooking, 0): scheme for scheme in grids.OVERBOOKED}
    for several, load, seed in itertools.product(jobs, LOADS, SEEDS):
        for group in (grids.ALL, *grids.CLASSES):
            base, common = rng.normal(9, 0.3), (several, load, seed, group)
            found = {scheme: as_claimed(kind, group, load, *key) for key, scheme in schemes.items()}
            if not kind.startswith("sigma"):
                found[grids.ITERATIVE] = (-1 - load, -1, 0)
            for scheme, logarithms in found.items():
                values = np.exp(base + factor * np.array(logarithms) + rng.normal(0, noise, 3))
                rows.append((*common, str(scheme), *values))
    columns = ["jobs", "load", "seed", "group", "scheme", "turnaround", "run", "queue"]
    about = {"sigma": kind, "scenario": grids.SYSTEM} if kind.startswith("sigma") else {"sigma": "", "scenario": kind}
    return pd.DataFrame(rows, columns=columns).assign(**about)


@cache
def verdicts(factor, noise=0.002):
    """Return the verdict of each claim about comparisons, on runs whose effects are those claimed times a factor."""
    alike = pd.concat([drawn(f"sigma {sigma:g}", factor, noise, ["first 5,000 jobs"]) for sigma in grids.SIGMAS])
    checks = ledger._expected(*(drawn(kind, factor, noise) for kind in (grids.SYSTEM, grids.RANDOM)), alike)
    return {name: papers.judged(ledger.CLAIMS[name], main, "a log")["verdict"] for name, (main, *_) in checks.items()}


COMPARED = sorted(IDS - {"0", "0b", "1", "2", "15", "18"})
NO_EFFECT = {"8b", "12c", "14b"}  # what they claim holds, too, if there is no effect


@pytest.mark.parametrize("name", COMPARED)
def test_a_claim_is_reproduced_if_its_effect_is_there_and_not_if_it_is_reversed(name):
    turned = {"8b": ["reproduced"], "5": ["not reproduced", "in part"]}
    assert verdicts(1)[name] == "reproduced"
    assert verdicts(-1)[name] in turned.get(name, ["not reproduced"])


def test_claims_are_undecided_if_there_is_no_effect():
    """Each errs with a probability of at most 5 %, as the rule says."""
    by_claim = verdicts(0, 0.01)
    assert {by_claim[name] for name in NO_EFFECT} == {"reproduced"}
    assert sum(by_claim[name] != "undecided" for name in set(COMPARED) - NO_EFFECT) <= 0.1 * len(COMPARED)


def test_largest_jobs_that_efficiency_moves_contradict_almost_no_effect():
    system = drawn(grids.SYSTEM, 1)
    moved = (system["scheme"] == str(grids.WIDE)) & system["group"].isin(ledger.LARGEST)
    checks = []
    for factor in (1.0, 0.98, 0.7):
        runs = system.assign(turnaround=system["turnaround"].where(~moved, factor * system["turnaround"]))
        pairs = [(grids.SHARES[4, ef], grids.SHARES[4, 0]) for ef in (0.5, 1)]
        checks += ledger._checks(runs, pairs, "within", "x", ledger.LARGEST, bound=(-ledger.NOISE, ledger.NOISE))[:1]
    assert [check.outcome for check in checks] == ["holds", "holds", "fails"]


def compared(*factors, jobs, conditions=((0, grids.ALL), (0.1, grids.ALL), (0.2, grids.ALL))):
    """Make ten draws in which one scheme takes these factors of another's turnaround, a factor a load and class."""
    rng = np.random.default_rng(2)
    rows = [
        (load, seed, name, group, turnaround * rng.normal(1, 0.001))
        for (load, group), factor in zip(conditions, factors, strict=False)
        for seed in SEEDS
        for name, turnaround in ((str(ONE), 100 * factor), (str(OTHER), 100))
    ]
    return runs_of(*rows, jobs=jobs)


@pytest.mark.parametrize(
    ("factor", "jobs", "outcome"),
    [
        (0.92, "first 5,000 jobs", "holds"),
        (0.96, "first 5,000 jobs", "undecided"),  # noise
        (1.04, "first 5,000 jobs", "undecided"),
        (0.96, ledger.WHOLE, "holds"),
        (1.04, ledger.WHOLE, "fails"),
        (1.09, "first 5,000 jobs", "fails"),
    ],
)
def test_a_few_percent_are_noise_on_the_first_jobs_and_none_on_the_whole_log(factor, jobs, outcome):
    (check,) = ledger._checks(compared(factor, jobs=jobs), [(ONE, OTHER)], "lower")
    assert check.outcome == outcome


def test_the_whole_log_is_judged_and_its_first_jobs_stand_below():
    whole, first = compared(0.9, jobs=ledger.WHOLE), compared(1.2, 1.2, jobs="first 5,000 jobs")
    main, below = ledger._checks(pd.concat([first, whole]), [(ONE, OTHER)], "lower")
    row = papers.judged(ledger.CLAIMS["11"], main, "a log", others=[below])
    assert row["verdict"] == "reproduced"
    assert row["measured"].startswith("turnaround, whole log: -9.9 % [")
    first = "turnaround, first 5,000 jobs"
    assert [(condition["check"], condition["condition"], condition["outcome"]) for condition in row["conditions"]] == [
        ("turnaround, whole log", "EASY against FCFS, load 0", "supports"),
        (first, "EASY against FCFS, load 0", "contradicts"),
        (first, "EASY against FCFS, load 0.1", "contradicts"),
        (first, "all cases together", "fails"),
    ]


def test_quick_runs_are_among_those_of_the_full_size_which_have_ten_draws():
    assert all(draws >= 10 for _, draws in grids.SAMPLES["full"].values())
    assert beyond.READ["quick"][1] >= 10
    ((jobs, (loads, draws)),) = grids.SAMPLES["quick"].items()
    more, most = grids.SAMPLES["full"][jobs]
    assert set(loads) <= set(more)
    assert draws <= most


def test_growth_compares_the_highest_load_with_the_lowest():
    rows = [(load, 0, "FCFS", "all jobs", 100) for load in (0.2, 0.5, 0.8)]
    rows += [(load, 0, "EASY", "all jobs", new) for load, new in ((0.2, 100), (0.5, 1), (0.8, 150))]
    whole = runs_of(*[row for row in rows if row[0] < 0.8], jobs="whole log")  # has no run at the highest load
    both = pd.concat([runs_of(*rows), whole])
    found = ledger._growth(ledger._compared(both, [(ONE, OTHER)])).set_index("jobs")
    assert found["value"].to_dict() == pytest.approx({"first 5,000 jobs": np.log(1.5), "whole log": np.log(0.01)})
    assert found["loads"].to_dict() == {"first 5,000 jobs": "load 0.8 against 0.2", "whole log": "load 0.5 against 0.2"}


@pytest.mark.parametrize(("gains", "sign"), [((0.5, 0.6, 0.7, 1.5, 9), -1), ((0.1, 0.2, 1.1, 1.2, 1.3), 1)])
def test_most_classes_gain_if_the_median_one_does(gains, sign):
    rows = [(0.5, 0, "FCFS", name, 100) for name in grids.CLASSES]
    rows += [(0.5, 0, "EASY", name, 100 * gain) for name, gain in zip(grids.CLASSES, gains, strict=True)]
    runs = runs_of(*rows)
    (value,) = ledger._median(ledger._compared(runs, [(ONE, OTHER)], groups=grids.CLASSES))["value"]
    assert np.sign(value) == sign


@pytest.mark.parametrize(
    ("factors", "region"),
    [
        ((0.9, 1.1, 0.9, 0.9), "at load 0.5, or in the class tiny."),
        ((0.9, 1.1, 1.1, 1.0), "in the class tiny at load 0.3; in the class 200-3,200 at load 0.5."),
        ((0.9, 0.9, 0.9, 1.0), ""),
        ((1.1, 1.1, 1.1, 1.1), ""),
    ],
)
def test_the_region_is_where_no_condition_contradicts(factors, region):
    conditions = [*itertools.product((0.3, 0.5), ("tiny", "200-3,200"))]
    runs = compared(*factors, jobs=ledger.WHOLE, conditions=conditions)
    (check,) = ledger._checks(runs, [(ONE, OTHER)], "lower", groups=grids.CLASSES)
    assert ledger.region(check) == (region and f"No case contradicts {region}")


def test_changes_by_class_are_geometric_means_over_draws_and_loads_of_the_whole_log():
    rows = [(load, seed, "FCFS", "tiny", 100) for load in (0.3, 0.5) for seed in range(2)]
    rows += [(load, seed, "EASY", "tiny", 100 * load * (1 + seed)) for load in (0.3, 0.5) for seed in range(2)]
    whole, first = runs_of(*rows, jobs=ledger.WHOLE), runs_of(*rows).assign(turnaround=1)
    mean = 100 * ((0.3 * 0.6 * 0.5 * 1.0) ** (1 / 4) - 1)
    words = f"EASY against FCFS by class, in processor-seconds: {mean:+.0f} % (tiny)."
    for runs in (whole, pd.concat([first, whole])):
        assert ledger.by_class(runs, ONE, OTHER) == words
    assert ledger.by_class(first, ONE, OTHER) != words


def test_of_a_claim_about_every_condition_the_smallest_effect_is_told():
    runs = compared(0.7, 0.95, 0.8, jobs=ledger.WHOLE)
    for expected, load in (("lower", 0.1), ("higher", 0)):
        (check,) = ledger._checks(runs, [(ONE, OTHER)], expected, every=True)
        assert ledger._smallest(check).endswith(f"(load {load:g})")


@pytest.mark.parametrize(
    ("wide", "verdict"),
    [
        ((0.9, 0.8), "reproduced"),
        ((0.9, 0.2), "in part"),
        ((0.2, 0.9), "in part"),
        ((0.2, 0.1), "not reproduced"),
        ((0.5, 0.5), "undecided"),
        ((), "cannot be tested"),
    ],
)
def test_greedy_jobs_are_wide_if_most_hold_more_than_half_of_the_machine(wide, verdict):
    rng = np.random.default_rng(3)
    rows = [
        (0.5, seed, str(scheme), grids.ALL, share + rng.normal(0, 0.01))
        for scheme, share in zip(grids.UNRESTRICTED, wide, strict=bool(wide))
        for seed in SEEDS
    ]
    runs = pd.DataFrame(rows, columns=["load", "seed", "scheme", "group", "wide"])
    assert ledger._unrestricted(runs, "a log")["verdict"] == verdict


def test_with_efficiency_jobs_run_on_more_than_their_share_and_without_they_do_not(small, monkeypatch):
    row = ledger._nothing_moves("quick", "a log")
    assert row["verdict"] == "reproduced"
    monkeypatch.setitem(grids.SHARES, (1, 0), grids.SHARES[1, 1])  # a scheme that moves processors all the same
    assert ledger._nothing_moves("quick", "a log")["verdict"] == "not reproduced"
    monkeypatch.undo()


# Live


def test_live_figure(small, shared_runs):
    chart, table = paper.live(jobs=60)
    assert chart.to_dict()
    assert "Fair share (ObF 4, EF 1): turnaround (h)" in table.to_html()
    for scheme in paper.CHOICES:
        chart, other = paper.live(jobs=60, scheme=scheme, share=0.5, sigma=0, overbooking=2, scenario=grids.RANDOM)
        assert other.to_html() != table.to_html()
    assert paper.RANGES["0 to 2"] == grids.SIGMA


def test_each_reading_of_the_shares_can_be_chosen(small, shared_runs):
    readings = {}, {"weight": "proportional"}, {"mix": "queued"}, {"backfill": "start-now"}, {"machine": 430}
    tables = [paper.live(jobs=60, load=0.9, **reading)[1].data.to_numpy().tolist() for reading in readings]
    assert all(tables.count(table) == 1 for table in tables)
    assert "430 processors" in str(paper.live(jobs=60, machine=430)[0].to_dict())


def test_live_decision(small, shared_runs, monkeypatch):
    chart, _ = paper.live_decision(step=2, nth=10**6, jobs=60, load=0.9)
    assert "Step 2 of" in str(chart.to_dict())
    with pytest.raises(ValueError, match="no decision on 3 to 12 jobs"):
        paper.live_decision(jobs=2)
    instants = decisions.instants
    monkeypatch.setattr(decisions, "instants", lambda schedule: (*instants(schedule)[:2], 1))  # little is free
    assert "Tried: job " in str(paper.live_decision(jobs=60, load=0.9)[0].to_dict())


def test_sliders_of_a_decision_end_with_it(small, shared_runs):
    settings = {"load": 0.9, "scenario": grids.SYSTEM, "name": grids.OTHER_LOGS[0], "jobs": 60, "draw": 0}
    limits = paper.live_decision.limits(nth=0, **settings)
    last = paper.live_decision(step=limits["step"], **settings)[0].to_dict()
    assert f"Step {limits['step']} of {limits['step']}" in str(last)
    assert limits["step"] < 150
    assert paper.live_decision.limits(nth=99, **settings)["nth"] == limits["nth"]
    assert paper.live_decision(nth=limits["nth"], **settings)[0].to_dict()


def test_controls_of_fair_share_are_idle_under_other_schemes(small, shared_runs):
    of_shares = ("overbooking", "efficiency", "weight", "mix", "backfill")
    assert paper.live.limits("fair share", 1.0) == dict.fromkeys(of_shares)
    for scheme, share, why in (("greedy", 0.5, "only fair share has it"), ("fair share", 0.0, "no job is moldable")):
        assert paper.live.limits(scheme, share) == dict.fromkeys(of_shares, why)
        about = {"jobs": 60, "scheme": scheme, "share": share}
        one, other = (paper.live(**about, overbooking=f, efficiency=f / 8)[1].data.iloc[:, 1:] for f in (1, 8))
        assert one.to_numpy().tolist() == other.to_numpy().tolist()


@pytest.mark.traces
def test_the_opening_picture_shows_its_step():
    spec = paper.live_decision(step=1)[0].to_dict()
    jobs, names = (
        [pd.DataFrame(spec["datasets"][part["layer"][layer]["data"]["name"]]) for part in spec["vconcat"]]
        for layer in (0, 1)
    )
    (job,) = jobs[0].loc[jobs[0]["color"] == "gets a processor", "job"]
    assert str(job) in set(names[0]["words"])
    before, after = (table.set_index("job").loc[job] for table in jobs)
    assert [row["high"] - row["low"] for row in (before, after)] == [before["procs"], after["procs"]] == [1, 2]
    begin, end = spec["vconcat"][1]["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert (before["end"] - after["end"]) * spec["vconcat"][1]["width"] / (end - begin) > 50  # pixels: is seen


def test_live_figures_name_what_is_unknown():
    with pytest.raises(ValueError, match="unknown scheme 'x'; known: fair share, iterative, greedy"):
        paper.live(scheme="x")
    for figure in (paper.live, paper.live_decision):
        with pytest.raises(ValueError, match="unknown scenario 'A'; known: A = P, A random"):
            figure(scenario="A")


def test_tolerances_say_the_bounds_of_the_code():
    noise = f"changes within {ledger.NOISE} % on the first jobs of the log are noise"
    more = dict.fromkeys(("12c", "14b"), f"as the best is at most {ledger.NOISE} % slower; ")
    more["8b"] = f"almost none is within {ledger.NOISE} %; "
    stated = {name: claim.tolerance for name, claim in ledger.CLAIMS.items()}
    assert stated.pop("18").startswith(f"for most jobs (over {ledger.MOST} %), on more than half of the machine")
    assert stated == {name: f"{more.get(name, '')}{noise}" if name in COMPARED else "" for name in IDS - {"18"}}
