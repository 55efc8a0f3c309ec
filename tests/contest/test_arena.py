"""The arena: winners, ties, ranks and prices against values worked out by hand, and lower bounds that hold."""

import math

import numpy as np
import pandas as pd
import pytest
import vl_convert
from workloads import trace_of

import schedlab as sl
from schedlab.contest import entrants
from schedlab.contest import study as paper
from schedlab.contest.entrants import BOUNDED, JUDGED, Setting
from schedlab.contest.results import Arena
from schedlab.papers import judged, kept
from schedlab.schedule.statistics import NOISE, ratio_over_seeds, t_quantile
from schedlab.show.reading import MINUS

SCHEMES = ("fcfs", "easy", "easy-sjbf", sl.DPSA())
NAMES = ("FCFS", "EASY", "EASY-SJBF", "DPSAn")


@pytest.fixture(scope="module")
def traces():
    return [sl.model_trace("lublin", jobs=400, machine=64, seed=seed) for seed in (1, 2)]


@pytest.fixture(scope="module")
def found(traces):
    return sl.arena(traces, SCHEMES, load=(0.7, 0.9), seed=range(4), rounds=10, progress=False)


def given(values, kind="rigid", measure="wait_time", **more):
    """Make an arena of one cell, from the value of each copy under each scheme."""
    rows = [
        {"log": "a log", "load": 0.9, "seed": seed, "scheme": name, "kind": kind, measure: value}
        for name, several in values.items()
        for seed, value in enumerate(several)
    ]
    return Arena(pd.DataFrame(rows), pd.DataFrame(), Setting((0.9,), (0, 1, 2)), measure, **more)


def test_every_run_is_that_of_the_scheme_on_the_shaken_copy(found, traces):
    assert len(found.runs) == 2 * 2 * 4 * 4
    assert set(JUDGED) < set(found.runs.columns)
    logs, schemes = (
        dict(zip(*pairs, strict=True)) for pairs in ((found.runs["log"].unique(), traces), (NAMES, SCHEMES))
    )
    for row in found.runs.sample(12, random_state=1).itertuples():
        trace = logs[row.log].scale_load(row.load).shake(60, row.seed)
        schedule = sl.simulate(trace, schemes[row.scheme]).validate()
        metrics = schedule.metrics()
        assert (row.wait_time, row.bounded_slowdown) == (metrics["wait_time"], metrics["bounded_slowdown"])
        assert (row.gini, row.unfair) == (schedule.gini(), (schedule.start > sl.simulate(trace, "fcfs").start).mean())
        assert_classes(found.runs.loc[row.Index], schedule)


def assert_classes(run, schedule):
    for name, row in schedule.metrics(by="kurian").iterrows():
        assert run[f"bounded_slowdown {name}"] == pytest.approx(row["bounded_slowdown"])


def test_no_scheme_is_below_its_bound(found):
    for measure in BOUNDED:
        cells = found.cells(measure)
        assert cells["bound"].notna().all()
        assert (cells["value"] >= cells["bound"]).all()
        assert (cells["above"].dropna() >= 0).all()


def test_a_winner_is_told_from_the_others_by_intervals_that_hold_together():
    values = {"A": [10, 11, 12], "B": [10.1, 11.2, 12.1], "C": [20, 23, 24]}
    (row,) = given(values).wins().itertuples(index=False)
    assert (row.winner, row.tied, row.next) == ("A", "B", "C")
    assert row.value == 11
    ratio = np.mean(values["C"]) / 11
    error = np.std(np.array(values["C"]) - ratio * np.array(values["A"]), ddof=1) / math.sqrt(3) / np.mean(values["C"])
    half = t_quantile(1 - 0.05 / 2 / 2, 2) * error  # two comparisons
    assert row.behind == pytest.approx(100 * (ratio - 1))
    assert row.low == pytest.approx(100 * (ratio * math.exp(-half) - 1))
    assert row.high == pytest.approx(100 * (ratio * math.exp(half) - 1))


def test_equal_values_are_ties_and_one_copy_tells_nothing():
    (row,) = given({"A": [5, 6, 7], "B": [5, 6, 7]}).wins().itertuples(index=False)
    assert (row.winner, row.tied, row.next) == ("A", "B", "")
    (row,) = given({"A": [5], "B": [500]}).wins().itertuples(index=False)
    assert (row.winner, row.tied) == ("A", "B")


def test_a_difference_that_no_user_would_notice_is_a_tie():
    values = {"A": [10.0, 12.0, 11.0], "B": [10.04, 12.04, 11.04], "C": [10.2, 12.2, 11.2]}
    found = given(values)
    ((low, change),) = found.against("A").query("scheme == 'B'")[["low", "change"]].itertuples(index=False)
    assert 0 < low < change < NOISE  # beyond chance
    (row,) = found.wins().itertuples(index=False)
    assert (row.winner, row.tied, row.next) == ("A", "B", "C")


def test_the_largest_utilization_wins():
    (row,) = given({"A": [0.5, 0.51, 0.52], "B": [0.8, 0.81, 0.83]}, measure="utilization").wins().itertuples()
    assert (row.winner, row.tied, row.next) == ("B", "", "A")
    assert 0 < row.low < row.behind < row.high
    ranks = given({"A": [0.5], "B": [0.8]}, measure="utilization").ranks()
    assert ranks["scheme"].tolist() == ["B", "A"]


def test_names_with_commas_are_names_in_a_tie():
    ranks = given({"A, repeated": [5, 5.1, 5.2], "B": [5, 5.1, 5.2], "C": [9, 9, 9.1]}).ranks().set_index("scheme")
    assert ranks["rank"].to_dict() == {"A, repeated": 1.5, "B": 1.5, "C": 3}
    assert ranks["tied"].to_dict() == {"A, repeated": 1, "B": 1, "C": 0}
    assert ranks["wins"].sum() == 0


def test_only_rigid_schemes_compete():
    both = given({"A": [5, 5.1, 5], "B": [7, 7.1, 7]})
    changed = given({"C": [1, 1, 1]}, kind="jobs changed")
    together = Arena(pd.concat([both.runs, changed.runs]), pd.DataFrame(), both.setting, "wait_time")
    assert together.wins()["winner"].tolist() == ["A"]
    assert together.ranks()["scheme"].tolist() == ["A", "B"]
    assert together.price((), base="A").set_index("scheme").loc["C", "wait_time"] == pytest.approx(
        100 * (1 / np.mean([5, 5.1, 5]) - 1)
    )
    assert len(together.of_kind("rigid").runs) == 6
    with pytest.raises(ValueError, match="no rigid scheme is in the arena; kinds: jobs changed"):
        changed.wins()


def test_prices_are_geometric_means_over_the_cells():
    runs = pd.DataFrame(
        {
            "log": ["a", "a", "b", "b"],
            "load": 0.9,
            "seed": 0,
            "scheme": ["EASY", "X"] * 2,
            "kind": "rigid",
            "wait_time": [100, 200, 100, 50],
            "gini": [0.5, 0.5, 0.0, 0.7],
        }
    )
    result = Arena(runs, pd.DataFrame(), Setting((0.9,), (0,)), "wait_time")
    table = result.price("gini").set_index("scheme")
    assert table.loc["X", "wait_time"] == pytest.approx(0)
    assert table.loc["X", "gini"] == pytest.approx(0)  # in the cell where neither is 0
    with pytest.raises(ValueError, match="unknown base 'Y'; known: EASY, X"):
        result.price(base="Y")


def test_schemes_are_compared_in_pairs_over_the_copies():
    values = {"EASY": [10, 20, 30], "A": [11, 22, 33.5], "B": [9, 21, 30], "C": [1, math.nan, 3]}
    table = given(values).against().set_index("scheme")
    assert table.index.tolist() == ["A", "B", "C"]
    ratio, low, high = ratio_over_seeds(values["A"], values["EASY"])
    assert table.loc["A", ["change", "low", "high"]].tolist() == [100 * (end - 1) for end in (ratio, low, high)]
    assert 0 < table.loc["A", "low"] < table.loc["A", "change"] < table.loc["A", "high"]
    assert table.loc["B", "low"] < 0 < table.loc["B", "high"]
    assert table.loc["C", "change"] == pytest.approx(-90)  # over the copies that both have
    wider = given(values, confidence=0.99).against().set_index("scheme")
    assert (wider["low"] < table["low"])[["A", "B"]].all()
    assert given({"EASY": [0, 0], "A": [1, 2]}).against()["change"].isna().all()
    alone = given({"EASY": [10], "A": [11]}).against().loc[0, ["change", "low", "high"]].tolist()
    assert alone == [pytest.approx(10), pytest.approx(math.nan, nan_ok=True), pytest.approx(math.nan, nan_ok=True)]
    with pytest.raises(ValueError, match="unknown base 'D'; known: EASY, A, B, C"):
        given(values).against("D")


def test_a_scheme_of_ones_own_is_added_by_one_line(found, traces):
    @sl.python_scheme
    def first_fit(state):
        for job in state.queue:
            if job.procs <= state.free:
                state.start(job)

    more = found.with_schemes(first_fit, "easy", progress=False)
    assert more.runs["scheme"].nunique() == 5
    assert len(more.runs) == len(found.runs) + 16
    both = ["log", "load", "seed", "scheme"]
    before, after = (one.runs.set_index(both).sort_index() for one in (found, more))
    pd.testing.assert_frame_equal(before, after.loc[before.index])
    assert found.runs["scheme"].nunique() == 4


def test_a_log_of_ones_own_is_added_by_one_line(found):
    mine = trace_of([(10 * i, 30, 60, 1 + i % 4) for i in range(200)], 8)
    more = found.with_traces(mine, schemes=SCHEMES, rounds=0, progress=False)
    assert len(more.runs) == len(found.runs) + 2 * 4 * 4
    assert more.wins()["log"].nunique() == 3
    assert more.cells("turnaround")["bound"].notna().all()
    with pytest.raises(ValueError, match="is in the arena already"):
        more.with_traces(mine, schemes=["easy"], progress=False)


def test_what_changes_jobs_or_machine_is_said_by_its_kind(traces):
    wide = sl.Entrant(sl.FairShareMoldable(), "moldable", change=entrants.moldable)
    placed = sl.Entrant(sl.EASY(shadow="block"), "on nodes", machine=entrants.tree)
    result = sl.arena(traces[0], ["easy", wide, placed], 0.8, range(2), rounds=0, progress=False)
    cells = result.cells("wait_time").set_index("scheme")
    assert cells["kind"].to_dict() == {"EASY": "rigid", "moldable": "jobs changed", "on nodes": "machine changed"}
    assert cells["bound"].notna().to_dict() == {"EASY": True, "moldable": False, "on nodes": False}
    assert entrants.tree(traces[0]) == sl.KaryTree(4, 3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scheme": ["easy", sl.EASY()]}, "two entrants are called 'EASY'"),
        ({"scheme": []}, "scheme is an empty list"),
        ({"scheme": ["esay"]}, "unknown scheme 'esay'"),
        ({"load": []}, "load is an empty list"),
        ({"measure": "wiat"}, "unknown measure 'wiat'; known: wait_time, turnaround"),
        ({"load": 0}, "load: 0, expected numbers above 0"),
        ({"load": "0.7"}, "load: '0.7', expected numbers above 0"),
        ({"seed": 1.5}, "seed: 1.5, expected whole numbers"),
        ({"seed": True}, "seed: True, expected whole numbers"),
        ({"rounds": "x"}, "rounds is 'x', expected a whole number of at least 0, or None"),
        ({"rounds": -1}, "rounds is -1"),
        ({"tau": "a"}, "tau is 'a', expected a number of seconds"),
        ({"confidence": 95}, "confidence is 95, expected a number between 0 and 1"),
    ],
)
def test_what_cannot_compete_is_refused(traces, settings, message):
    with pytest.raises(ValueError, match=message):
        sl.arena(traces[0], **({"scheme": "easy", "progress": False} | settings))


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"machine": sl.KaryTree(4, 3)}, TypeError, "machine of EASY is KaryTree.*, expected a function"),
        ({"change": "x"}, TypeError, "change of EASY is 'x', expected a function"),
        ({"name": 5}, TypeError, "name of an entrant is 5, expected a text"),
        ({"name": "a; b"}, ValueError, "entrant 'a; b' has '; ', which separates tied names"),
        ({"kind": "rigid", "machine": entrants.tree}, ValueError, "EASY is not a rigid entrant: machine changed"),
        ({"kind": "rigid", "change": entrants.moldable}, ValueError, "EASY is not a rigid entrant: jobs changed"),
    ],
)
def test_bad_entrants(settings, kind, message):
    with pytest.raises(kind, match=message):
        sl.Entrant("easy", **settings)


def test_a_change_keeps_the_jobs(traces):
    fewer = sl.Entrant("easy", change=lambda trace, seed: trace.head(50))
    with pytest.raises(
        sl.experiment.RunError, match=r"scheme=EASY, .*change of EASY gave 50 jobs, expected the 400 of the copy"
    ):
        sl.arena(traces[0], fewer, 0.8, 0, rounds=None, progress=False)


def test_who_never_waits_wins_over_those_who_do():
    """A ratio to 0 has no value; it only shows that the others are above it."""
    values = {"A": [0, 0, 0], "B": [100, 101, 99], "C": [0, 0, 0], "D": [0, 0, 1]}
    (row,) = given(values).wins().itertuples(index=False)
    assert (row.winner, row.tied, row.next) == ("A", "C; D", "B")
    assert row.behind == math.inf
    (row,) = given({"A": [0, 0, 0], "B": [0.5, 0.51, 0.5]}, measure="utilization").wins().itertuples(index=False)
    assert (row.winner, row.tied, row.next, row.behind) == ("B", "", "A", 100)
    (shown,) = sl.contest.winners(given(values).wins()).to_dict()["datasets"].values()
    assert shown[0]["second"] == "tied with 2 others"
    (shown,) = sl.contest.winners(given({"A": [0, 0], "B": [5, 5]}).wins()).to_dict()["datasets"].values()
    assert shown[0]["second"] == "the others not 0"


def test_who_is_alone_wins(traces):
    result = sl.arena(traces[0], "easy", 0.8, range(2), rounds=None, progress=False)
    (shown,) = sl.contest.winners(result.wins()).to_dict()["datasets"].values()
    assert (shown[0]["first"], shown[0]["second"]) == ("EASY", "")


def test_classes_go_by_the_run_times_as_they_are_cut():
    trace = sl.load_trace("KTH-SP2-1996", standin=True).head(600).scale_load(0.9)
    result = sl.arena(trace, "easy", [0.9, 0.9], [0, 0], rounds=None, progress=False)
    assert (result.setting.loads, result.setting.seeds) == ((0.9,), (0,))  # numbers given twice count once
    assert result.cells()["bound"].isna().all()
    assert repr(result) == "<Arena: 1 scheme on 1 log at 1 load, 1 run>"
    schedule = sl.simulate(trace.scale_load(0.9).shake(60, 0), "easy")
    assert schedule.metrics()["killed"] > 0
    assert_classes(result.runs.iloc[0], schedule)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *[(settings, "expected one of them") for settings in ({}, {"log": "x", "load": 0.9})],
        ({"log": "x"}, "unknown log 'x'"),
        ({"load": 0.3}, "there is no load 0.3; known: 0.7, 0.9"),
    ],
)
def test_a_picture_of_bounds_is_of_one_log_or_of_one_load(found, settings, message):
    with pytest.raises(ValueError, match=message):
        paper.draw_bounds(found, **settings)
    with pytest.raises(ValueError, match="unknown kind 'riggid'; known: rigid"):
        found.of_kind("riggid")
    with pytest.raises(ValueError, match="there is no scheme to add"):
        found.with_schemes()


def test_pictures_show_the_cells(found):
    (rows,) = sl.contest.winners(found.wins(), title="T", subtitle="S").to_dict()["datasets"].values()
    assert len(rows) == 4
    assert all(row["second"] or row["first"] == "all tied" for row in rows)
    cells = found.cells("turnaround")
    busy = cells[cells["load"] == 0.9]
    chart = sl.contest.against_bounds(busy, "turnaround").to_dict()
    (rows,) = chart["datasets"].values()
    assert [row["above"] for row in rows] == pytest.approx(busy["above"].tolist())
    order = chart["layer"][1]["encoding"]["y"]["sort"]
    assert busy.groupby("scheme")["above"].median()[order].is_monotonic_increasing  # the best scheme is at the top
    with pytest.raises(ValueError, match="the table has several rows of FCFS at log .*; choose one log"):
        sl.contest.against_bounds(cells, "turnaround")
    names = cells["log"] + cells["load"].astype(str)
    least = cells.assign(bound=cells["bound"].where(cells["load"] == 0.9, 0), log=names)
    chart = sl.contest.against_bounds(least, "turnaround").to_dict()
    (rows,) = chart["datasets"].values()
    assert len(rows) == len(cells) // 2
    assert f"{len(cells) // 2} of {len(cells)} dots left out" in chart["title"]["subtitle"][-1]


def test_of_many_logs_only_the_two_farthest_from_their_bounds_have_a_colour():
    rows = [(scheme, f"log {n}", worse * n, 1.0) for n in range(1, 9) for scheme, worse in (("EASY", 2), ("FCFS", 3))]
    table = pd.DataFrame(rows, columns=["scheme", "log", "value", "bound"])
    chart = sl.contest.against_bounds(table, "bounded_slowdown").to_dict()
    color = chart["layer"][2]["encoding"]["color"]
    assert color["scale"]["domain"] == ["log 8", "log 7", "6 others"]
    (shown,) = chart["datasets"].values()
    assert [row["named"] for row in shown[-4:]] == ["log 7", "log 7", "log 8", "log 8"]  # drawn last, on top
    few = sl.contest.against_bounds(table[table["log"] < "log 7"], "bounded_slowdown").to_dict()
    assert few["layer"][2]["encoding"]["color"]["scale"]["domain"] == [f"log {n}" for n in range(1, 7)]


def test_changes_that_may_be_chance_are_faint():
    ends = {"low": [-20, -20, 5, math.nan], "high": [-5, 5, 20, math.nan]}
    table = pd.DataFrame({"load": 0.9, "log": list("abcd"), "scheme": "EASY, twice", "v": [-12.4, -12, 12, 12], **ends})
    chart = sl.charts.changes(table, "load", "log", "v", panel="scheme", interval=("low", "high")).to_dict()
    (rows,) = chart["datasets"].values()
    assert [row["share"] == 0 for row in rows] == [False, True, False, True]
    assert [row["text"] for row in rows] == [f"{MINUS}12", f"{MINUS}12", "+12", "+12"]
    drawn = vl_convert.vegalite_to_svg(chart)
    assert ">EASY</" in drawn  # the panel's name goes on in a second line
    assert ">twice</" in drawn
    subtitle = " ".join(chart["title"]["subtitle"])
    assert "faint: the interval of the change reaches 0" in subtitle
    assert "or is not known" in subtitle
    small = pd.DataFrame({"x": ["a", "b"], "y": "c", "v": [-0.0019, -0.6], "low": -0.9, "high": [-0.001, -0.3]})
    chart = sl.charts.changes(small.assign(n=["1.20", "3"]), "x", "y", "v", interval=("low", "high")).to_dict()
    ((tiny, other),) = chart["datasets"].values()
    assert (tiny["text"], tiny["share"], other["text"], other["share"] > 0) == ("0", 0, f"{MINUS}1", True)
    assert "or the change is below 0.5 %" in " ".join(chart["title"]["subtitle"])
    chart = sl.charts.changes(small.assign(n=["1.20", "3"]), "x", "y", "v", written="n").to_dict()
    (rows,) = chart["datasets"].values()
    assert [row["text"] for row in rows] == ["1.20", "3"]


def test_a_kept_part_of_a_log_is_found_by_its_name():
    trace = paper.part("RICC-2010", 30_000)
    assert len(trace) == 30_000
    assert trace.name.endswith(", first 30,000 jobs")
    if trace.source != "stand-in":
        assert len(paper.kept_results().load(trace.name)) == 30_000


def test_a_mean_of_nothing_is_no_cell():
    """If a log has no job of a class, no scheme wins there."""
    empty = given({"A": [math.nan] * 3, "B": [math.nan] * 3}, measure="wait_time SW")
    assert empty.wins().empty
    assert empty.ranks()["cells"].tolist() == [0, 0]


# The claims


def runs_of(*factors, chance=0.01):
    """Make runs of two logs, on which schemes have so many times EASY's values."""
    rows = []
    for log, factor in zip("ab", factors, strict=True):
        for seed, luck in enumerate((1 - chance, 1, 1 + chance, 1)):
            values = {"EASY": 100} | dict.fromkeys(("EASY-SJBF", "Conservative", *paper.VARIANTS), 100 * factor * luck)
            for scheme, value in values.items():
                measures = dict.fromkeys(("bounded_slowdown", "wait_time LN", "wait_time SW"), value)
                rows.append({"log": log, "load": 0.9, "seed": seed, "scheme": scheme, **measures})
    return pd.DataFrame(rows)


def verdict_of(check):
    return judged(paper.claims_of("arena")["ARE-1"], check, "two logs")["verdict"]


@pytest.mark.parametrize(
    ("factors", "chance", "lower", "higher"),
    [
        ((0.8, 0.7), 0.01, "reproduced", "not reproduced"),
        ((1.2, 1.3), 0.01, "not reproduced", "reproduced"),
        ((0.8, 1.3), 0.01, "not reproduced", "in part"),  # means of both: +5 %, and -1 % the other way round
        ((1, 1), 0.1, "undecided", "undecided"),
        ((0.8, 1.002), 0.01, "reproduced", "not reproduced"),  # one log tells nothing
    ],
)
def test_statements_are_about_changes_against_the_other_scheme(factors, chance, lower, higher):
    checks = paper.tested(runs_of(*factors, chance=chance))
    assert list(checks) == list(paper.claims_of("arena"))
    assert [verdict_of(checks[name]) for name in ("ARE-1", "ARE-3", "ARE-4")] == [lower] * 3
    assert verdict_of(checks["ARE-2"]) == higher  # there EASY is the scheme that should be better
    assert list(checks["ARE-4"]) == ["jobs by arrival (DPSAp)", "narrow jobs first (DPSAn)", "wide jobs first (DPSAw)"]
    measured = checks["ARE-1"].conditions.set_index("log")["value"].to_dict()
    assert measured == pytest.approx({log: 100 * (factor - 1) for log, factor in zip("ab", factors, strict=True)})


def test_where_a_check_is_contradicted_is_told_if_that_is_in_many_conditions():
    runs = pd.concat(runs_of(0.8, 1.3).assign(load=load) for load in (0.6, 0.7, 0.8, 0.9))
    check = paper.tested(runs)["ARE-1"]
    assert paper.where_not(check) == "Those that contradict it are at loads of 0.6 to 0.9: b (4)."
    assert paper.where_not(paper.tested(runs_of(0.8, 1.3))["ARE-1"]) == ""  # the sentence on the cases names it


@pytest.fixture(scope="module")
def full():
    return paper.kept_results()


def test_the_kept_ledger_is_that_of_the_kept_runs(full, monkeypatch):
    monkeypatch.setattr(paper, "results", lambda size, progress, bounded: full)
    now, before = paper.claims("full", progress=False), kept.ledger_of("arena")
    for name in ("verdict", "measured", "reason", "readings"):
        assert now[name].tolist() == before[name].tolist()


def test_kept_results_are_those_of_at_least_eight_logs(full):
    assert full.runs["log"].nunique() >= 8
    assert not kept.stale("arena")


def test_no_scheme_beats_a_bound_in_the_kept_results(full):
    for measure in BOUNDED:
        cells = full.cells(measure)
        assert cells["bound"].notna().all()
        assert (cells["value"] >= cells["bound"] * (1 - 1e-8)).all()  # nine digits are kept


def test_kept_results_can_be_drawn_by_any_measure(full):
    for measure in ("wait_time", "bounded_slowdown SW", "utilization"):
        assert "wins most: alone in" in paper.live(measure).to_dict()["title"]["text"]
    assert paper.live("wait_time", log="HPC2N-2002-2.2-cln").to_dict()["title"]["subtitle"][0].startswith("HPC2N")
    assert paper.live.limits("all") == {}


def test_short_traces_compete(traces):
    """One job, and jobs that never wait: nobody wins."""
    result = sl.arena(trace_of([(0, 10, 10, 1), (50, 10, 10, 1)], 4), ["fcfs", "easy"], 0.1, range(2), progress=False)
    (row,) = result.wins().itertuples(index=False)
    assert row.tied


def test_changes_take_any_names_of_panels_and_write_large_changes_with_three_digits():
    table = pd.DataFrame({"log": list("aabb"), "load": [0.7, 0.9] * 2, "v": [1_204.4, 26_166, -0.2, 3.2e6]})
    chart = sl.charts.changes(table.assign(scheme="X"), "log", "scheme", "v", panel="load").to_dict()
    (rows,) = chart["datasets"].values()
    assert [row["text"] for row in rows] == ["+1,200", "+26,200", "0", "+3,200,000"]
    assert {row["load"] for row in rows} == {"0.7", "0.9"}
    empty = sl.charts.changes(table.iloc[:0].assign(scheme=[]), "log", "scheme", "v", panel="load", height=100)
    assert empty.to_dict()["columns"] == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *[({"interval": names}, "interval is .*, expected the names of two columns") for names in ("low", ("low",))],
        ({"panel": "x"}, "x, y and panel are 'x', 'y', 'x', expected different columns"),
        ({"written": "m"}, "the table has no column 'm'"),
    ],
)
def test_bad_columns_of_changes(settings, message):
    table = pd.DataFrame({"x": ["a"], "y": ["b"], "v": [1.0], "low": [0.5], "high": [2.0]})
    with pytest.raises(ValueError, match=message):
        sl.charts.changes(table, "x", "y", "v", **settings)


@pytest.mark.traces
def test_a_part_is_as_long_as_its_name_says():
    assert len(paper.kept_results().load("KTH-SP2-1996, first 50 jobs")) == 50
