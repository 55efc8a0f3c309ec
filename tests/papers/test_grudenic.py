"""The lookahead paper: its example to the second, its figures from small logs, and every verdict of its ledger."""

import re
import tracemalloc
from functools import cache

import numpy as np
import pandas as pd
import pytest
from replacing import rebuild, replaced

import schedlab as sl
from schedlab import papers
from schedlab.papers import grudenic2010 as paper
from schedlab.papers import kept
from schedlab.papers.grudenic2010 import grids
from schedlab.schedule.statistics import jackknife
from schedlab.schemes.cases import case_of
from schedlab.show.reading import MINUS
from schedlab.workload.archive import standing_in

NAMES = ("LLNL-Atlas-2006", "LLNL-Thunder-2007", "SDSC-SP2-1998")


@cache  # figures call these again and again
def small_log(name):
    return sl.model_trace("lublin", jobs=300, machine=64, seed=NAMES.index(name)).scale_load(0.9).rename(name)


@pytest.fixture
def small(monkeypatch, nothing_kept):
    """Three small traces in place of whole logs, and few copies and loads."""

    def log(name, estimates=paper.USERS):
        return None if name not in NAMES or estimates == grids.LEFT_OUT else small_log(name)

    few = {name: {"quick": 2, "full": 3} for name in ("COPIES", "COPIES_BY_LOAD")}
    loads = {"quick": (0.6, 0.9), "full": (0.6, 0.7, 0.9)}
    replaced(monkeypatch, paper, log=log, LOADS=loads, AUDITED=NAMES[1], **few)


def test_the_example_is_that_of_the_paper():
    easy, dpsa = (sl.simulate(grids.example(), scheme).validate() for scheme in (sl.EASY(), sl.DPSA()))
    assert easy.start.tolist()[2:] == [7, 2, 9, 9]
    assert dpsa.start.tolist()[2:] == [7, 9, 2, 2]
    table = paper.figure1().table.set_index("measure")
    work = 2 * 4 + 7 * 3 + 2 * 6 + 4 * 3 + 5 * 2 + 4 * 2
    assert table["EASY"].tolist() == pytest.approx([14, work / (7 * 14), 3.0125, 7, 2, 9, 9])
    assert table["DPSAn"].tolist() == pytest.approx([13, work / (7 * 13), 2.6625, 7, 9, 2, 2])


def test_changes_are_those_of_the_means_over_shaken_copies(small, shared_runs):
    data = grids.changes("quick", progress=False).set_index(["trace", "scheme"])
    assert data.index.unique("trace").tolist() == list(NAMES)
    trace = grids.log(NAMES[0])
    row = data.loc[NAMES[0], "DPSAw"]
    copies = [trace.shake(60, seed) for seed in range(2)]
    old, new = (
        np.array([sl.simulate(one, name).metrics()["bounded_slowdown"] for one in copies]) for name in ("easy", "dpsaw")
    )
    assert row["change"] == pytest.approx(100 * (new.mean() / old.mean() - 1))
    assert row["bounded_slowdown"] == pytest.approx(new.mean())
    assert data.loc[(NAMES[0], "EASY"), "bounded_slowdown"] == pytest.approx(old.mean())
    part = new - new.mean() / old.mean() * old  # of the error of the ratio
    half = 12.7062 * 100 * part.std(ddof=1) / np.sqrt(2) / old.mean()  # Student's t with one degree of freedom
    assert [row["change_low"], row["change_high"]] == pytest.approx([row["change"] - half, row["change"] + half])
    single = 100 * (new / old - 1)
    assert min(single) <= row["shaken_low"] <= row["shaken_high"] <= max(single)


def test_the_log_itself_stands_beside_its_copies(small, shared_runs):
    data = grids.changes("quick", progress=False).set_index(["trace", "scheme"])
    row, trace = data.loc[NAMES[0], "DPSAw"], grids.log(NAMES[0])
    means = {name: sl.simulate(trace, name).metrics()["bounded_slowdown"] for name in ("easy", "dpsaw")}
    assert row["logged"] == pytest.approx(100 * (means["dpsaw"] / means["easy"] - 1))
    settles = all(sl.simulate(trace, name).settles for name in ("easy", "dpsaw"))
    assert settles == (row["paired_low"] <= row["logged"] <= row["paired_high"])
    assert settles == pd.notna(row["paired_low"])
    table = paper.figure3("quick", progress=False).table
    assert {"change (%)", "interval", "single copies, 95 %", "the log itself"} <= set(table)


def test_a_log_counts_as_better_beyond_noise_and_chance_only():
    changes = [(-0.0019, -0.002), (-0.6, -0.1), (-40.0, 0.1), (-40.0, np.nan), (-40.0, -30.0), (40.0, 50.0)]
    data = pd.DataFrame(changes, columns=["change", "change_high"]).assign(scheme="DPSAn")
    data = pd.concat([data, data.assign(scheme="EASY", change=np.nan, change_high=np.nan)])
    assert paper.figures._beyond(data, "better").to_dict() == {"DPSAn": 2}
    turned = data.assign(change=-data["change"], change_low=-data["change_high"])
    assert paper.figures._beyond(turned, "worse").to_dict() == {"DPSAn": 2}


def test_chance_in_the_base_alone_is_no_change():
    # Twice as bad in one copy, twice as good in the other: the average of the copies' own changes is +25 %.
    runs = pd.DataFrame(
        [(0, "EASY", 10.0), (0, "DPSAn", 20.0), (1, "EASY", 20.0), (1, "DPSAn", 10.0)],
        columns=["seed", "scheme", grids.MEASURE],
    )
    (row,) = grids.against_easy(runs.assign(trace="a log")).to_dict("records")
    assert (row["trace"], row["scheme"]) == ("a log", "DPSAn")
    assert row["change"] == pytest.approx(0)
    assert row["change_low"] < 0 < row["change_high"]
    assert -50 < row["shaken_low"] < row["shaken_high"] < 100


def test_other_loads_and_readings_have_intervals_over_copies(small, shared_runs):
    load = paper.figure4_load("quick", progress=False)
    assert load.data.groupby(["trace", "load"])["seed"].nunique().eq(2).all()
    traces = grids.log(NAMES[0]).scale_load(0.9)
    copies = [traces.shake(60, seed) for seed in range(2)]
    old, new = (
        sum(sl.simulate(one, scheme).metrics()["bounded_slowdown"] for one in copies) for scheme in ("easy", "dpsan")
    )
    row = load.table.set_index("trace").loc[NAMES[0]]
    assert row["gain at 0.9 (%)"] == pytest.approx(100 * (1 - new / old))
    gains = pd.Series({0.5: 9, 0.6: 5, 0.7: 6, 0.8: 7})
    assert [paper.beyond._pays_from(part) for part in (gains, gains[:2])] == ["0.7", "none"]
    readings = paper.sensitivity("quick", progress=False).data.dropna()
    assert (readings["change_low"] <= readings["change"]).all()
    first = readings[readings["reading"] == "as in Figure 3"].set_index(["trace", "scheme"])
    drawn = grids.changes("quick", progress=False).set_index(["trace", "scheme"])["change"].dropna()
    assert first["change"].to_dict() == drawn.to_dict()


@pytest.mark.parametrize("function", paper.FIGURES, ids=lambda function: function.__name__)
def test_every_figure_is_drawn_from_small_logs(small, shared_runs, function):
    figure = rebuild(function)
    assert figure.sample
    assert len(figure.table)


def test_figures_and_ledger_do_without_any_log(monkeypatch, nothing_kept):
    replaced(monkeypatch, paper, log=lambda *_: None, AUDITED="SDSC-Par-1995")  # it has no stand-in
    for function in paper.FIGURES[1:]:  # the first has no log
        figure = function("quick", progress=False)
        assert figure.data.empty
        assert (
            "SDSC-Par-1995" if figure.name == "bound" else "None of the paper's logs is at hand, and no stand-in"
        ) in figure.seen
    verdicts = paper.claims("full", progress=False).set_index("id")["verdict"]
    assert {*verdicts.index} == {*paper.ledger.CLAIMS}
    assert verdicts.pop("GRU-6") == "reproduced"
    assert set(verdicts) == {"cannot be tested"}


def test_the_ledger_has_every_claim_and_names_what_is_missing(small, shared_runs):
    ledger = paper.claims("full", progress=False).set_index("id")
    claims = [name for name in ledger.index if name in paper.ledger.CLAIMS]
    assert claims == [*paper.ledger.CLAIMS]
    missing = ledger.drop(index=claims)
    assert missing["trace"].tolist() == [name for name in grids.LOGS if name not in NAMES]
    assert set(missing["verdict"]) == {"cannot be tested"}
    assert set(NAMES) <= set(ledger.loc["GRU-1a", "trace"].split(", "))
    decisions = ledger.loc["GRU-7"]  # times are no evidence, but today's stand in the ledger
    assert (decisions["verdict"], decisions["reason"]) == ("cannot be tested", paper.ledger.OTHER_MACHINE)
    assert re.search(" decisions of DPSA.* s together$", decisions["measured"])


def test_the_ledger_has_every_reading_and_a_quick_run_the_first(small, shared_runs):
    of_size = {size: paper.claims(size, progress=False).set_index("id") for size in ("quick", "full")}
    readings = [paper.ledger.AS_DRAWN, "tau 1 s", "tau 60 s", paper.EXACT, paper.RUN_ON]
    for size, several in (("quick", readings[:1]), ("full", readings)):
        conditions = pd.DataFrame(of_size[size].loc["GRU-3a", "conditions"])
        assert set(conditions["check"]) == {f"change, {reading}" for reading in several}
        assert set(conditions["condition"]) == {*NAMES, "all cases together"}
    first = conditions.groupby("check")["measured"].first()
    assert first[f"change, {readings[0]}"] != first["change, tau 60 s"]


def runs_of(noise=0.1, seeds=6, **changes):
    """Make copies of logs on which all variants have these changes against EASY (percent), each shaken by `noise`.

    Logs are used the more the later they come.
    """
    rows = []
    for place, (name, change) in enumerate(changes.items()):
        for seed in range(seeds):
            about = {"trace": name.replace("_", "-"), "seed": seed}
            luck = noise * ((seed + place) % seeds - (seeds - 1) / 2)
            rows.append({**about, "scheme": "EASY", grids.MEASURE: 100.0})
            rows += [{**about, "scheme": each, grids.MEASURE: 100.0 + change + luck} for each in grids.VARIANTS]
    runs = pd.DataFrame(rows)
    used = pd.Series({name: 0.5 + place / 10 for place, name in enumerate(runs["trace"].unique())})
    return runs, used


THUNDER, ATLAS, HPC2N = "LLNL_Thunder_2007", "LLNL_Atlas_2006", "HPC2N_2002"


@pytest.mark.parametrize(
    ("claim", "changes", "verdict"),
    [
        ("GRU-1a", {"a": -0.5, "b": -40}, "reproduced"),
        ("GRU-1a", {"a": 0, "b": -40}, "reproduced"),  # one is open
        ("GRU-1a", {"a": 0.5, "b": -40}, "in part"),
        ("GRU-1a", {"a": 0.5, "b": 40}, "not reproduced"),
        ("GRU-1a", {"a": 0, "b": 0}, "undecided"),
        ("GRU-1b", {ATLAS: -0.3, THUNDER: -40}, "reproduced"),
        ("GRU-1b", {ATLAS: -0.3, THUNDER: -60}, "in part"),
        ("GRU-1b", {ATLAS: 0.9, THUNDER: -60}, "not reproduced"),
        ("GRU-1b", {"other": -40}, "cannot be tested"),
        ("GRU-2a", {"a": -5, "b": 9}, "reproduced"),
        ("GRU-2a", {"a": 0, "b": 9}, "undecided"),
        ("GRU-2a", {"a": 5, "b": 9}, "not reproduced"),
        ("GRU-2b", {"a": -5, "b": 9}, "reproduced"),
        ("GRU-2b", {"a": -5, "b": 0}, "undecided"),
        ("GRU-2b", {"a": -5, "b": -9}, "not reproduced"),
        ("GRU-3a", {"a": 5, "b": 145}, "reproduced"),
        ("GRU-3a", {"a": -1, "b": 145}, "in part"),
        ("GRU-3a", {"a": -1, "b": -5}, "not reproduced"),
        ("GRU-3b", {"a": 5, "b": 145}, "reproduced"),
        ("GRU-3b", {"a": 5, "b": 100}, "not reproduced"),
        ("GRU-4", {"a": -1, "b": -2, "c": -3, "SDSC_SP2": 50}, "reproduced"),
        ("GRU-4", {"a": -1, "b": -30, "c": -20}, "not reproduced"),
        ("GRU-4", {"a": -3, "b": -2, "c": -1}, "not reproduced"),
        ("GRU-4", {"a": -1, "b": -2}, "cannot be tested"),
        ("GRU-5", {HPC2N: -0.5, ATLAS: 1, "other": -50}, "reproduced"),
        ("GRU-5", {HPC2N: -9, ATLAS: 1}, "in part"),
        ("GRU-5", {HPC2N: -9, ATLAS: 12}, "not reproduced"),
        ("GRU-5", {"other": -9}, "cannot be tested"),
    ],
)
def test_verdicts_follow_the_numbers(claim, changes, verdict):
    checks = paper.ledger.checks(*runs_of(noise=0.01, **changes))
    assert [*checks, "GRU-6", "GRU-7"] == [*paper.ledger.CLAIMS]
    row = papers.judged(papers.Claim("A", "", "", ""), checks[claim], "a log")
    assert row["verdict"] == verdict, row["reason"]


def test_each_claim_is_about_its_variant():
    runs, used = runs_of(a=-10, b=-20)
    for variant, ids in zip(grids.VARIANTS, (["GRU-2a", "GRU-2b"], ["GRU-1a"], ["GRU-3a", "GRU-3b"]), strict=True):
        other = runs.assign(**{grids.MEASURE: runs[grids.MEASURE].where(runs["scheme"] != variant, 300.0)})
        before, after = (paper.ledger.checks(each, used) for each in (runs, other))
        values = [{name: checks[name].conditions["value"] for name in before} for checks in (before, after)]
        moved = [name for name in before if not values[0][name].equals(values[1][name])]
        assert moved == ids


def test_chance_in_single_runs_makes_a_published_number_possible_and_a_sign_open():
    for noise, verdicts in ((0.01, ["in part", "reproduced"]), (20, ["reproduced", "undecided"])):
        checks = paper.ledger.checks(*runs_of(noise, **{ATLAS: -0.3, THUNDER: -5}))
        rows = [papers.judged(papers.Claim("A", "", "", ""), checks[name], "a log") for name in ("GRU-1b", "GRU-2a")]
        assert [row["verdict"] for row in rows] == verdicts


def test_tolerances_say_the_bounds_of_the_code():
    met = {name: claim.tolerance for name, claim in paper.ledger.CLAIMS.items() if claim.tolerance}
    assert met == {
        "GRU-4": f"a correlation above {paper.ledger.LINEAR}",
        "GRU-5": f"a change of up to {paper.ledger.NEGLIGIBLE} %",
    }
    printed = {(log, scheme): f"{abs(percent):g} % ({log[:-5]})" for log, scheme, percent in grids.PRINTED}
    for (_, scheme), words in printed.items():
        assert words in paper.ledger.CLAIMS["GRU-1b" if scheme == "DPSAn" else "GRU-2b"].published
    assert paper.ledger.CLAIMS["GRU-3b"].published == f"{paper.ledger.LARGEST} %"


def test_the_luck_of_copies_is_in_the_interval_of_the_correlation():
    spreads = []
    for noise in (0.1, 5):
        runs, used = runs_of(noise, a=-10, b=-20, c=-30)
        check = paper.ledger.checks(runs, used)["GRU-4"]
        value, low, high = jackknife(lambda part, used=used: correlation(part, used), runs)
        (condition,) = check.conditions.to_dict("records")
        assert condition["value"] == pytest.approx(value, abs=0.05)
        assert condition["high"] - condition["low"] == pytest.approx(high - low)
        spreads.append(high - low)
    assert spreads[0] < spreads[1] / 20


def correlation(runs, used):
    """Correlate DPSAn's gains with the utilization of three logs."""
    means = runs.pivot_table(grids.MEASURE, "trace", "scheme")
    return float(np.corrcoef(1 - means["DPSAn"] / means["EASY"], used)[0, 1])


def test_signs_tell_what_is_sure_and_what_single_runs_have():
    checks = paper.ledger.checks(*runs_of(noise=2, a=-9, b=-1, c=0.5))
    data = pd.DataFrame({"scheme": "DPSAp", "logged": [-1.0, 4.0, 5.0]})
    for claim, side, counts in (("GRU-2a", "better", (1, 2, 1)), ("GRU-2b", "worse", (0, 1, 2))):
        assert paper.ledger._signs_in_words(checks[claim], data, side) == (
            "{} on {} of 3 logs beyond chance; on {} in the mean over the copies, and on {} in single runs of the logs "
            "themselves"
        ).format(side, *counts)


def test_figure_4_shows_both_series_in_order_of_utilization(small, shared_runs):
    figure = paper.figure4("quick", progress=False)
    bars, _ = figure.chart.to_dict()["vconcat"]
    assert bars["layer"][0]["encoding"]["x"]["sort"] == figure.data["trace"].tolist()
    assert figure.data["utilization"].is_monotonic_increasing


def without_logs(monkeypatch, tmp_path):
    monkeypatch.delenv("SCHEDLAB_DATA", raising=False)
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))


def test_where_a_log_is_not_at_hand_its_stand_in_takes_its_place_and_says_so(monkeypatch, tmp_path):
    without_logs(monkeypatch, tmp_path)
    trace = grids.log("SDSC-Par-1996")
    assert (trace.source, grids.label(trace)) == ("stand-in", "SDSC-Par-1996 (stand-in)")
    assert grids.log("SDSC-Par-1996") is trace
    assert grids.log("SDSC-Par-1995") is None
    (standins,) = standing_in(paper.figures.logs_at_hand("quick"))
    assert standins.startswith("No log at hand for LLNL-Atlas-2006")
    assert "SDSC-Par-1996" in standins
    assert "SDSC-Par-1995" not in standins


def test_what_was_measured_on_stand_ins_says_so_and_proves_nothing(monkeypatch, tmp_path):
    without_logs(monkeypatch, tmp_path)
    several = "SDSC-Par-1995", "SDSC-Par-1996", "LLNL-Atlas-2006"
    replaced(monkeypatch, paper, LOGS=several, COPIES={"quick": 2, "full": 3})
    monkeypatch.setattr(kept, "numbers_of", lambda *_: None)
    figure = paper.figure3("quick", progress=False)
    assert "SDSC-Par-1996-3.1-cln (stand-in, not the real log)" in " ".join(figure.chart.to_dict()["title"]["subtitle"])
    assert set(figure.table["trace"]) == {"SDSC-Par-1996 (stand-in)", "LLNL-Atlas-2006 (stand-in)"}
    rows = paper.claims("full", progress=False).set_index("id")
    assert {condition["condition"] for condition in rows.loc["GRU-3a", "conditions"]} >= {"SDSC-Par-1996 (stand-in)"}
    assert "LLNL-Atlas-2006-2.1-cln (stand-in, not the real log)" in rows.loc["GRU-1a", "trace"]
    assert rows.loc["GRU-5", "reason"] == "Stand-ins are no evidence about the logs."
    assert rows.loc["GRU-1a to GRU-4", ["trace", "verdict"]].tolist() == ["SDSC-Par-1995", "cannot be tested"]


def test_a_stand_in_is_not_taken_for_its_log(small, monkeypatch):
    before, real = grids.changes("quick", progress=False), grids.log
    standins = {name: sl.Trace(**{**vars(real(name)), "source": "stand-in"}) for name in NAMES}
    replaced(monkeypatch, paper, log=lambda name, estimates=None: standins.get(name))
    after = grids.changes("quick", progress=False)
    assert (set(before["trace"]), set(after["trace"])) == ({*NAMES}, {f"{name} (stand-in)" for name in NAMES})


def test_a_quick_run_leaves_the_longest_logs_to_figures_3_and_4_and_says_so(small, shared_runs, monkeypatch):
    short = grids.log
    longer = sl.model_trace("lublin", jobs=400, machine=64, seed=9).scale_load(0.9).rename(NAMES[1])
    replaced(monkeypatch, paper, log=lambda name, *more: longer if name == NAMES[1] else short(name, *more))
    replaced(monkeypatch, paper, MOST_JOBS={"quick": 300, "full": None})
    left = {NAMES[0], NAMES[2]}
    words = f" out the longest logs, {NAMES[1]} (quick; full size: all logs)."
    for figure in (paper.figure4_load, paper.effort, paper.sensitivity):
        quick = figure("quick", progress=False)
        assert set(quick.data["trace"]) == left
        assert words in quick.sample
    for figure in (paper.figure3_estimates, paper.figure4_estimates):
        quick = figure("quick", progress=False)
        by = {estimates: set(part["trace"]) for estimates, part in quick.data.groupby("estimates")}
        assert by == {paper.USERS: set(NAMES), paper.EXACT: left, paper.RUN_ON: left}
        assert f"All panels but the first leave{words}" in quick.sample
    for figure in (paper.figure3, paper.figure4, lambda size, progress: paper.sensitivity("full", progress)):
        assert set(figure("quick", progress=False).data["trace"]) == set(NAMES)
    assert words not in paper.sensitivity("full", progress=False).sample


def test_jobs_run_on_under_their_convention_only_and_unknown_estimates_are_refused():
    assert grids.values_of("a log", paper.RUN_ON) == {"log": "a log", "overrun": "keep"}
    assert grids.values_of("a log", paper.EXACT) == {"log": "a log", "overrun": "kill"}
    with pytest.raises(ValueError, match="unknown estimates 'none'; known: users' estimates, exact estimates, jobs"):
        grids.log("CTC-SP2-1996", "none")


def test_jobs_without_an_estimate_are_left_out(monkeypatch, tmp_path):
    without_logs(monkeypatch, tmp_path)
    trace, kept = grids.log("LLNL-Atlas-2006"), grids.log("LLNL-Atlas-2006", grids.LEFT_OUT)
    assert len(kept) == len(trace) - grids.without_estimate(trace) > 0
    assert grids.log("SDSC-Par-1996", grids.LEFT_OUT) is None


def test_the_sensitivity_table_says_what_was_not_measured(small, shared_runs):
    table = paper.sensitivity("quick", progress=False).table
    raw = table[table["reading"].str.startswith("raw log: not at hand")]
    assert raw["trace"].tolist() == list(NAMES)
    assert (raw[["DPSAp", "DPSAn", "DPSAw"]] == "not measured").all(axis=None)
    assert len(table) == len(NAMES) * 8


def test_the_matrix_of_readings_has_the_numbers_of_the_kept_table():
    card = paper.sensitivity.as_kept()
    (cells,) = card.chart.to_dict()["datasets"].values()
    measured = card.data.dropna(subset="change")
    largest = measured.groupby("trace")["change"].agg(lambda changes: changes.abs().max())
    assert list(dict.fromkeys(cell["trace"] for cell in cells)) == [*largest.sort_values(ascending=False).index]
    measured = measured.sort_values("trace", key=lambda logs: -logs.map(largest), kind="stable")
    for cell, row in zip(cells, measured.to_dict("records"), strict=True):
        assert (cell["trace"], cell["scheme"]) == (row["trace"], row["scheme"])
        assert row["reading"].startswith(cell["reading"])
        zero = abs(row["change"]) < 0.5
        assert cell["text"] == ("0" if zero else f"{row['change']:+.0f}".replace("-", MINUS))
        assert (cell["share"] == 0) == (zero or row["change_low"] <= 0 <= row["change_high"])


@pytest.mark.traces
@pytest.mark.parametrize("name", ["SDSC-BLUE-2000", "LLNL-Thunder-2007"])
def test_a_whole_log_takes_less_than_100_megabytes(name):
    trace = grids.log(name)
    case, _ = case_of(trace, scheme := sl.DPSA(variant="w"))
    scheme.simulate(case)
    tracemalloc.start()  # numba's arrays, too
    scheme.simulate(case)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 16 * len(trace) < peak < 100_000_000


@pytest.mark.traces
def test_the_live_figure_compares_dpsa_with_easy():
    chart, table = paper.live("KTH-SP2-1996", load=0.7, variant="w", depth=50)
    chart.to_dict()
    assert table.data.columns.tolist() == ["bounded slowdown", "EASY", "DPSAw"]
    others = [paper.live("KTH-SP2-1996", load=0.7, estimates=each)[1].to_html() for each in (paper.EXACT, paper.RUN_ON)]
    assert len({table.to_html(), *others}) == 3


def test_controls_of_sets_are_idle_where_one_job_is_tried(monkeypatch, tmp_path):
    assert paper.live.limits(2) == {}
    assert set(paper.live.limits(1)) == {"variant", "budget"}
    without_logs(monkeypatch, tmp_path)
    trace = grids.log("KTH-SP2-1996").head(500).scale_load(0.9)
    same = {
        tuple(sl.simulate(trace, sl.DPSA(variant=v, depth=1, budget=b)).start) for v in "npw" for b in (None, 1, 10)
    }
    assert len(same) == 1
