"""The lookahead paper: its example to the second, its figures from small logs, and every verdict of its ledger."""

import tracemalloc
from functools import cache

import numpy as np
import pandas as pd
import pytest

import schedlab as sl
from schedlab import experiment, papers
from schedlab.papers import grudenic2010 as paper
from schedlab.schemes.cases import case_of

NAMES = ("LLNL-Atlas-2006", "LLNL-Thunder-2007", "SDSC-SP2-1998")


@cache  # figures call these again and again
def small_log(name):
    trace = sl.model_trace("lublin", jobs=300, procs=64, seed=NAMES.index(name)).scale_load(0.9)
    return sl.Trace(**{**vars(trace), "name": name})


@pytest.fixture
def small(monkeypatch):
    """Three small traces in place of whole logs, and few copies and loads."""

    def log(name, estimates=paper.USERS):
        return None if name not in NAMES or estimates == paper.LEFT_OUT else small_log(name)

    monkeypatch.setattr(paper, "log", log)
    monkeypatch.setattr(paper, "COPIES", {"quick": 2, "full": 3})
    monkeypatch.setattr(paper, "COPIES_BY_LOAD", {"quick": 2, "full": 3})
    monkeypatch.setattr(paper, "LOADS", {"quick": (0.6, 0.9), "full": (0.6, 0.7, 0.9)})
    monkeypatch.setattr(paper, "AUDITED", NAMES[1])
    experiment.forget()
    yield
    experiment.forget()


def test_the_example_is_that_of_the_paper():
    easy, dpsa = (sl.simulate(paper.example(), scheme).validate() for scheme in (sl.EASY(), sl.DPSA()))
    assert easy.start.tolist()[2:] == [7, 2, 9, 9]
    assert dpsa.start.tolist()[2:] == [7, 9, 2, 2]
    table = paper.figure1().table.set_index("measure")
    work = 2 * 4 + 7 * 3 + 2 * 6 + 4 * 3 + 5 * 2 + 4 * 2
    assert table["EASY"].tolist() == pytest.approx([14, work / (7 * 14), 3.0125, 7, 2, 9, 9])
    assert table["DPSAn"].tolist() == pytest.approx([13, work / (7 * 13), 2.6625, 7, 9, 2, 2])


def test_the_example_is_one_picture_with_its_jobs_named():
    spec = paper.figure1().chart.to_dict()
    assert "inf" not in str(spec["title"])
    encodings = [part["layer"][0]["encoding"] for part in spec["vconcat"]]
    assert [one["x"]["scale"]["domain"] for one in encodings] == [[0, 14]] * 2
    assert [one["x"]["axis"]["labels"] for one in encodings] == [False, True]
    written = [spec["datasets"][part["layer"][1]["data"]["name"]] for part in spec["vconcat"]]
    for words in written:
        assert sorted(row["words"] for row in words) == ["J1", "J2", "J3", "J4", "running", "running"]
    colours = encodings[0]["color"]["scale"]
    assert len(set(colours["range"])) == len(colours["domain"]) == 5


def test_changes_are_those_of_the_means_over_shaken_copies(small, shared_runs):
    data = paper.changes("quick", progress=False).set_index(["trace", "scheme"])
    assert data.index.unique("trace").tolist() == list(NAMES)
    trace = paper.log(NAMES[0])
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
    data = paper.changes("quick", progress=False).set_index(["trace", "scheme"])
    row, trace = data.loc[NAMES[0], "DPSAw"], paper.log(NAMES[0])
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
    assert paper._better(data).to_dict() == {"DPSAn": 2}


def test_chance_in_the_base_alone_is_no_change():
    # Twice as bad in one copy, twice as good in the other: the average of the copies' own changes is +25 %.
    runs = pd.DataFrame(
        [(0, "EASY", 10.0), (0, "DPSAn", 20.0), (1, "EASY", 20.0), (1, "DPSAn", 10.0)],
        columns=["seed", "scheme", paper.MEASURE],
    )
    (row,) = paper._against_easy(runs.assign(trace="a log")).to_dict("records")
    assert (row["trace"], row["scheme"]) == ("a log", "DPSAn")
    assert row["change"] == pytest.approx(0)
    assert row["change_low"] < 0 < row["change_high"]
    assert -50 < row["shaken_low"] < row["shaken_high"] < 100


def test_other_loads_and_readings_have_intervals_over_copies(small, shared_runs):
    load = paper.figure4_load("quick", progress=False)
    name = paper.GAIN
    assert (load.data["seeds"] == 2).all()
    assert (load.data[f"{name}_low"] <= load.data[name]).all()
    traces = paper.log(NAMES[0]).scale_load(0.9)
    copies = [traces.shake(60, seed) for seed in range(2)]
    old, new = (
        sum(sl.simulate(one, scheme).metrics()["bounded_slowdown"] for one in copies) for scheme in ("easy", "dpsan")
    )
    row = load.data[(load.data["trace"] == NAMES[0]) & (load.data["load"] == 0.9)].iloc[0]
    assert row[name] == pytest.approx(100 * (1 - new / old))
    readings = paper.sensitivity("quick", progress=False).data.dropna()
    assert (readings["change_low"] <= readings["change"]).all()
    first = readings[readings["reading"] == "as in Figure 3"].set_index(["trace", "scheme"])
    drawn = paper.changes("quick", progress=False).set_index(["trace", "scheme"])["change"].dropna()
    assert first["change"].to_dict() == drawn.to_dict()


@pytest.mark.parametrize("function", paper.FIGURES, ids=lambda function: function.__name__)
def test_every_figure_is_drawn_from_small_logs(small, shared_runs, function):
    figure = function("quick", progress=False)
    assert figure.title
    assert figure.caption
    assert len(figure.table)
    if figure.chart is not None:
        figure.chart.to_dict()


def test_figures_and_ledger_do_without_any_log(monkeypatch):
    monkeypatch.setattr(paper, "log", lambda *_: None)
    monkeypatch.setattr(paper, "AUDITED", "SDSC-Par-1995")  # it has no stand-in
    for function in paper.FIGURES[1:]:  # the first has no log
        figure = function("quick", progress=False)
        assert figure.data.empty
        assert (
            "SDSC-Par-1995" if figure.name == "bound" else "None of the paper's logs is at hand, and no stand-in"
        ) in figure.caption
    verdicts = paper.claims("quick", progress=False).set_index("id")["verdict"]
    assert verdicts.pop("GRU-6") == "reproduced"
    assert set(verdicts) == {"not testable"}
    assert sorted(verdicts.index) == [f"GRU-{i}" for i in range(1, 6)]


def test_the_ledger_has_every_target_and_names_what_is_missing(small, shared_runs):
    ledger = paper.claims("quick", progress=False).set_index("id")
    assert sorted(ledger.index.unique()) == ["GRU-1", "GRU-1 to GRU-4", *(f"GRU-{i}" for i in range(2, 7))]
    assert set(NAMES) <= set(ledger.loc["GRU-1", "trace"].split(", "))
    assert {case["case"] for case in ledger.loc["GRU-3", "cases"]} >= set(NAMES)
    missing = ledger.loc["GRU-1 to GRU-4"]
    assert missing["trace"].tolist() == [name for name in paper.LOGS if name not in NAMES]
    assert set(missing["verdict"]) == {"not testable"}


def data_of(scheme, spread=0.0, **changes):
    """Return changes of logs (percent) under a scheme, with intervals that extend `spread` to either side."""
    rows = [
        {"trace": name.replace("_", "-"), "scheme": scheme, "change": change, "utilization": 0.5 + i / 10}
        for i, (name, change) in enumerate(changes.items())
    ]
    return pd.DataFrame(rows).assign(
        change_low=lambda table: table["change"] - spread, change_high=lambda table: table["change"] + spread
    )


def runs_of(data, *chances):
    """Return runs with these changes on average; `chances` are what copies add on each log (percent)."""
    rows = []
    for seed, chance in enumerate(chances or [[0] * len(data)] * 3):
        for (_, row), more in zip(data.iterrows(), chance, strict=True):
            about = {"trace": row["trace"], "seed": seed}
            rows.append({**about, "scheme": "EASY", paper.MEASURE: 100.0})
            rows.append({**about, "scheme": row["scheme"], paper.MEASURE: 100.0 + row["change"] + more})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("claim", "data", "verdict"),
    [
        ("GRU-1", data_of("DPSAn", LLNL_Atlas=-0.3, LLNL_Thunder=-40), "reproduced"),
        ("GRU-1", data_of("DPSAn", LLNL_Atlas=-0.3, LLNL_Thunder=-60), "trend only"),
        ("GRU-1", data_of("DPSAn", LLNL_Atlas=-0.002, LLNL_Thunder=-40), "trend only"),
        ("GRU-1", data_of("DPSAn", a=0.3, b=4, c=-40), "not reproduced"),
        ("GRU-1", data_of("DPSAn", 50, a=-0.3, b=-40), "not testable"),
        ("GRU-2", data_of("DPSAp", a=-5, b=9), "reproduced"),
        ("GRU-2", data_of("DPSAp", a=-5, b=-9), "not reproduced"),
        ("GRU-2", data_of("DPSAp", 7, a=-5, b=9), "not testable"),
        ("GRU-3", data_of("DPSAw", a=5, b=145), "reproduced"),
        ("GRU-3", data_of("DPSAw", a=-1, b=145, c=5), "trend only"),
        ("GRU-3", data_of("DPSAw", a=-1, b=-1, c=5), "not reproduced"),
        ("GRU-5", data_of("DPSAn", HPC2N_2002=-0.5), "reproduced"),
        ("GRU-5", data_of("DPSAn", HPC2N_2002=-9), "not reproduced"),
        ("GRU-5", data_of("DPSAn", other=-9), "not testable"),
        ("GRU-4", data_of("DPSAn", a=-1, b=-2, c=-3, SDSC_SP2=50), "reproduced"),
        ("GRU-4", data_of("DPSAn", a=-1, b=-3, c=-2), "trend only"),
        ("GRU-4", data_of("DPSAn", a=-3, b=-2, c=-1), "not reproduced"),
        ("GRU-4", data_of("DPSAn", a=-1, b=-2), "not testable"),
    ],
)
def test_verdicts_follow_the_numbers(claim, data, verdict):
    checks = paper._checks(data, runs_of(data))
    assert [*checks, "GRU-6"] == [*paper.CLAIMS]
    row = papers.judged(papers.Claim("A", "", "", ""), checks[claim], "a log")
    assert row["verdict"] == verdict, row["reason"]
    assert bool(row["reason"]) == (verdict != "reproduced")


def test_tolerances_say_the_bounds_of_the_code():
    met = {name: claim.tolerance for name, claim in paper.CLAIMS.items()}
    ends = "a gain of {:g} to {:g} % on LLNL-Atlas, and of {:g} to {:g} % on LLNL-Thunder"
    assert met["GRU-1"] == ends.format(*paper.LEAST, *paper.MOST)
    assert met["GRU-3"] == "a largest change of {:g} to {:g} %".format(*paper.WORST)
    assert met["GRU-4"] == f"a correlation above {paper.LINEAR}"
    assert met["GRU-5"] == f"a change of up to {paper.NEGLIGIBLE} %"


def test_the_luck_of_copies_is_in_the_interval_of_the_correlation():
    data = data_of("DPSAn", a=-10, b=-20, c=-30)
    verdicts = []
    for much in (0.1, 40):
        chances = [[much, 0, -much], [-much, 0, much], [0, much, -much], [0, -much, much]]
        (grown, _) = paper._grows(data, runs_of(data, *chances))
        (row,) = grown.cases.to_dict("records")
        assert row["value"] == pytest.approx(1, abs=1e-6)
        assert -1 <= row["low"] < row["value"] <= row["high"] <= 1
        verdicts.append(grown.outcomes.tolist())
    assert verdicts == [["yes"], ["open"]]


def test_signs_tell_what_is_sure_and_what_single_runs_have():
    data = data_of("DPSAp", 7, a=-9, b=-3, c=2).assign(logged=[-1.0, 4.0, 5.0])
    words = "better on 2 (1 for sure), worse on 1 (0 for sure) of 3 logs; in single runs of the logs themselves 1 and 2"
    assert paper._signs_in_words(data) == words


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
    trace = paper.log("SDSC-Par-1996")
    assert (trace.source, paper.label(trace)) == ("stand-in", "SDSC-Par-1996 (stand-in)")
    assert paper.log("SDSC-Par-1996") is trace
    assert paper.log("SDSC-Par-1995") is None
    monkeypatch.setattr(paper, "logs", lambda: {"SDSC-Par-1996": trace})
    guess, standing_in, queues, missing = paper._notes("quick")
    assert "wait" not in guess + standing_in + queues + missing
    assert guess.startswith("The paper does not name two of its eight logs")
    assert standing_in.startswith("No log at hand for SDSC-Par-1996: stand-ins are simulated instead")
    assert queues == "SDSC-Par-1996 (stand-in) has no queues and so no limits: its estimates are the run times."
    assert missing.startswith("Neither a log nor a stand-in is available for LLNL-Atlas-2006")


def test_what_was_measured_on_stand_ins_says_so_and_proves_nothing(monkeypatch, tmp_path):
    without_logs(monkeypatch, tmp_path)
    monkeypatch.setattr(paper, "LOGS", ("SDSC-Par-1995", "SDSC-Par-1996", "LLNL-Atlas-2006"))
    monkeypatch.setattr(paper, "COPIES", {"quick": 2, "full": 3})
    figure = paper.figure3("quick", progress=False)
    assert "SDSC-Par-1996-3.1-cln (stand-in, not the real log)" in " ".join(figure.chart.to_dict()["title"]["subtitle"])
    assert set(figure.table["trace"]) == {"SDSC-Par-1996 (stand-in)", "LLNL-Atlas-2006 (stand-in)"}
    rows = paper.claims("quick", progress=False).set_index("id")
    assert {case["case"] for case in rows.loc["GRU-3", "cases"]} >= {"SDSC-Par-1996 (stand-in)"}
    assert "LLNL-Atlas-2006-2.1-cln (stand-in, not the real log)" in rows.loc["GRU-1", "trace"]
    assert rows.loc["GRU-5", ["verdict", "reason"]].tolist() == [
        "trend only",
        "All cases hold, but stand-ins are no evidence about the logs.",
    ]
    assert rows.loc["GRU-1 to GRU-4", ["trace", "verdict"]].tolist() == ["SDSC-Par-1995", "not testable"]


def test_a_stand_in_is_not_taken_for_its_log(small, monkeypatch):
    before = paper.changes("quick", progress=False)
    real = paper.log
    standins = {name: sl.Trace(**{**vars(real(name)), "source": "stand-in"}) for name in NAMES}
    monkeypatch.setattr(paper, "log", lambda name, estimates=None: standins.get(name))
    after = paper.changes("quick", progress=False)
    assert set(before["trace"]) == set(NAMES)
    assert set(after["trace"]) == {f"{name} (stand-in)" for name in NAMES}


def test_a_quick_run_leaves_the_longest_logs_to_figures_3_and_4_and_says_so(small, shared_runs, monkeypatch):
    short = paper.log
    longer = sl.model_trace("lublin", jobs=400, procs=64, seed=9).scale_load(0.9)
    longer = sl.Trace(**{**vars(longer), "name": NAMES[1]})
    monkeypatch.setattr(paper, "log", lambda name, *estimates: longer if name == NAMES[1] else short(name, *estimates))
    monkeypatch.setattr(paper, "MOST_JOBS", {"quick": 300, "full": None})
    left = {NAMES[0], NAMES[2]}
    words = f" out the longest logs, {NAMES[1]} (quick; full size: all logs)."
    for figure in (paper.figure4_load, paper.effort, paper.sensitivity):
        quick = figure("quick", progress=False)
        assert set(quick.data["trace"]) == left
        assert words in quick.caption
    for figure in (paper.figure3_estimates, paper.figure4_estimates):
        quick = figure("quick", progress=False)
        by = {estimates: set(part["trace"]) for estimates, part in quick.data.groupby("estimates")}
        assert by == {paper.USERS: set(NAMES), paper.EXACT: left, paper.RUN_ON: left}
        assert f"All panels but the first leave{words}" in quick.caption
    for figure in (paper.figure3, paper.figure4, lambda size, progress: paper.sensitivity("full", progress)):
        assert set(figure("quick", progress=False).data["trace"]) == set(NAMES)
    assert words not in paper.sensitivity("full", progress=False).caption


def test_conventions_about_estimates():
    assert paper._case("a log", paper.RUN_ON) == {"log": "a log", "overrun": "keep"}
    assert paper._case("a log", paper.EXACT) == {"log": "a log", "overrun": "kill"}
    with pytest.raises(ValueError, match="unknown estimates 'none'; known: users' estimates, exact estimates, jobs"):
        paper.log("CTC-SP2-1996", "none")


def test_jobs_without_an_estimate_are_left_out(monkeypatch, tmp_path):
    without_logs(monkeypatch, tmp_path)
    trace, kept = paper.log("LLNL-Atlas-2006"), paper.log("LLNL-Atlas-2006", paper.LEFT_OUT)
    assert len(kept) == len(trace) - paper.without_estimate(trace) > 0
    assert paper.log("SDSC-Par-1996", paper.LEFT_OUT) is None


def test_the_sensitivity_table_says_what_was_not_measured(small, shared_runs):
    table = paper.sensitivity("quick", progress=False).table
    raw = table[table["reading"].str.startswith("raw log: not at hand")]
    assert raw["trace"].tolist() == list(NAMES)
    assert (raw[["DPSAp", "DPSAn", "DPSAw"]] == "not measured").all(axis=None)
    assert len(table) == len(NAMES) * 8


def test_the_load_from_which_it_pays():
    assert paper._pays_from(pd.Series({0.5: 9, 0.6: 5, 0.7: 6, 0.8: 7})) == "0.7"
    assert paper._pays_from(pd.Series({0.5: 9, 0.6: 5})) == "none"


@pytest.mark.traces
@pytest.mark.parametrize("name", ["SDSC-BLUE-2000", "LLNL-Thunder-2007"])
def test_a_whole_log_takes_less_than_100_megabytes(name):
    trace = paper.log(name)
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
    assert table.data.columns.tolist() == ["bounded slowdown", "EASY", "DPSAw (depth 50)"]


def test_controls_of_sets_are_idle_where_one_job_is_tried(monkeypatch, tmp_path):
    assert paper.live.limits(2) == {}
    assert set(paper.live.limits(1)) == {"variant", "budget"}
    without_logs(monkeypatch, tmp_path)
    trace = paper.log("KTH-SP2-1996").head(500).scale_load(0.9)
    same = {
        tuple(sl.simulate(trace, sl.DPSA(variant=v, depth=1, budget=b)).start) for v in "npw" for b in (None, 1, 10)
    }
    assert len(same) == 1
