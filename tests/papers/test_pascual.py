"""The paper on placement: its figures from small logs, where lines cross, and every verdict of its ledger."""

from functools import cache
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from replacing import rebuild, replaced

import schedlab as sl
from schedlab.papers import judged
from schedlab.papers import pascual2008 as paper
from schedlab.papers.pascual2008 import grids

PROCS = {grids.HPC2N: 240, grids.THUNDER: 300, grids.BLUE: 260, **dict.fromkeys(grids.OTHERS, 250)}


@cache
def log(name):
    trace = sl.model_trace("lublin", jobs=300, machine=PROCS[name], seed=list(PROCS).index(name))
    return trace.scale_load(0.8).rename(name)


@pytest.fixture
def small(monkeypatch, nothing_kept):
    """Small traces in place of whole logs, and few values of s."""
    traces = {name: log(name) for name in PROCS}
    few = {"COPIES": {"quick": 2, "full": 3}, "COARSE": {"quick": (0.0, 0.6), "full": (0.0, 0.3, 0.6)}}
    few["SHARES"] = {"quick": (0.0, 0.3, 0.6), "full": (0.0, 0.2, 0.4, 0.6)}
    replaced(monkeypatch, paper, load_trace=lambda name, or_standin: traces[name], **few)
    return traces


def test_rows_are_those_of_the_schedules(small, shared_runs):
    assert len(grids.against_speedup(grids.HPC2N, "quick", progress=False)) == 2 * 3 * 2 * 3
    drawn, read = (grids.against_speedup(grids.HPC2N, "full", False, each) for each in (grids.DRAWN, grids.READ))
    assert (len(drawn), len(read)) == (3 * 3 * 2 * 4, grids.READ_COPIES * 4 * 2 * 3)
    data = pd.concat([drawn, read[read["policy"] != "FCFS"]])
    trace = small[grids.HPC2N].shake(60, 1)
    for policy, scheme in paper.POLICIES.items():
        at = 0.4 if policy in grids.DRAWN else 0.3
        part = data[(data["seed"] == 1) & (data["policy"] == policy) & (data["s"] == at)].set_index("allocation")
        means = {}
        for allocation in ("first-free", "contiguous"):
            machine = sl.KaryTree(4, 4, allocation=allocation, speedup=at)
            jobs = sl.simulate(trace, scheme, machine=machine, overrun="kill-backfilled").validate().jobs
            means[allocation] = jobs[["wait_time", "turnaround"]].mean() / 60
            drawn = part.loc[allocation, ["wait_minutes", "total_minutes"]].tolist()
            assert drawn == pytest.approx(means[allocation].tolist())
        row, free, together = part.loc["contiguous"], *means.values()
        assert row["ratio"] == pytest.approx(together["wait_time"] / free["wait_time"])
        assert row["free_minutes"] == part.loc["first-free", "wait_minutes"]
        assert row["difference"] == pytest.approx(together["turnaround"] - free["turnaround"])


def test_the_first_copy_is_the_log_as_it_is(small, shared_runs):
    data = grids.against_speedup(grids.BLUE, "full", progress=False)
    assert data["seed"].unique().tolist() == [0, 1, 2]
    as_it_is = sl.simulate(small[grids.BLUE], "fcfs", machine=grids.machine(grids.BLUE), overrun="kill-backfilled")
    row = data[(data["policy"] == "FCFS") & (data["allocation"] == "contiguous") & (data["s"] == 0)].iloc[0]
    assert row["wait_minutes"] == pytest.approx(as_it_is.jobs["wait_time"].mean() / 60)
    assert data.groupby(["policy", "allocation", "s"])["total_minutes"].nunique().max() == 3


def test_ratios_are_those_of_means_over_the_copies():
    table = pd.DataFrame([(0, 20, 10), (1, 40, 5)], columns=["seed", grids.WAIT, "free_minutes"])
    table = table.assign(trace="T", policy="FCFS", allocation="contiguous", s=0.0)
    assert grids.ratios(table)["ratio"].tolist() == pytest.approx([4])
    assert grids.ratios(table.assign(free_minutes=0.0)).empty  # nothing waits


@pytest.mark.parametrize("function", paper.FIGURES, ids=lambda function: function.__name__)
def test_every_figure_is_drawn_from_small_logs(small, shared_runs, function):
    figure = rebuild(function)
    assert "quick" in figure.sample or function is paper.figure2


@pytest.mark.parametrize(
    ("function", "published"),
    [(paper.figure2, {(None, 7, 100)}), (paper.thresholds, {(25, None, None), (None, 25, 30)})],
)
def test_published_numbers_are_in_the_charts(small, shared_runs, function, published):
    rows = [row for data in function("quick", progress=False).chart.to_dict()["datasets"].values() for row in data]
    found = {tuple(row.get(f"published{end}") for end in ("", "_low", "_high")) for row in rows}
    assert found - {(None, None, None)} == published


def test_both_rules_are_in_every_backfilling_figure(small, shared_runs):
    for function in (paper.figure2, paper.figure3, paper.figure4, paper.figure5):
        assert set(grids.BACKFILLING) <= set(function("quick", progress=False).data["policy"])


@pytest.mark.parametrize(("size", "readings"), [("quick", 2), ("full", 5)])
def test_the_ledger_has_every_target_under_each_reading(small, shared_runs, size, readings):
    ledger = paper.claims(size, progress=False).set_index("id")
    assert ledger.index.tolist() == ["PAS-0", *paper.ledger.CHECKS] == [*paper.ledger.CLAIMS]
    assert ledger.loc["PAS-0", "measured"] == "4 nodes: stage 1; 14 nodes: stage 2"
    for name in paper.ledger.CHECKS:
        checks = {condition["check"].rpartition(", ")[2] for condition in ledger.loc[name, "conditions"]}
        assert checks == set([*paper.ledger.RULE][:readings])
    assert grids.BLUE in ledger.loc["PAS-3a", "trace"]
    assert {claim for _, claim in paper.PAPER.findings} <= set(ledger.index)


def test_a_run_that_several_figures_ask_for_is_done_once(small, monkeypatch, counting):
    whole = {"quick": None}  # the log, as in the figures
    replaced(monkeypatch, paper, simulate=counting(sl.simulate), COARSE={"quick": (0.0, 0.3)}, BESIDE=whole)
    counts = {}
    for function in (paper.figure2, paper.figure3, paper.figure5, paper.thresholds, paper.claims, paper.sensitivity):
        function("quick", progress=False)
        counts[function.__name__] = counting.calls()
    assert counts.pop("figure2") == 3 * 2 * 3 * (1 + 3)
    # Three readings other than that of Figure 3, one of them with its run without contiguity.
    assert counts.pop("sensitivity") == 2 * (3 * (1 + 2) - 1)
    assert set(counts.values()) == {0}


def test_that_count_was_chosen_after_results_is_said(small, shared_runs):
    ledger = paper.claims("quick", progress=False)
    for details in ledger["details"][1:]:
        assert "The rule by count was chosen after results had been seen" in details
    assert "after results had been seen" in " ".join(paper.figure2("quick", progress=False).notes)


@pytest.mark.parametrize(("size", "values"), [("quick", 3), ("full", 4)])
def test_placement_anywhere_is_counted_once(small, shared_runs, size, values):
    ledger = paper.claims(size, progress=False).set_index("id")
    conditions = pd.DataFrame(ledger.loc["PAS-5", "conditions"])
    conditions = conditions[conditions["condition"] != "all cases together"]
    conditions = conditions[conditions["check"].str.endswith("by block")]
    logs = len(grids.SAMPLES[size])
    assert len(conditions) == logs * (1 + values)
    assert conditions["condition"].str.endswith("first-free").sum() == logs
    assert not conditions["condition"].duplicated().any()


def test_a_stage_that_differs_is_told(monkeypatch):
    replaced(monkeypatch, paper, STAGES={1: (1, 4), 2: (14, 17)})
    row = paper.ledger._levels()
    assert (row["verdict"], row["reason"]) == ("not reproduced", "other stages for 17 nodes")
    assert row["measured"] == "4 nodes: stage 1; 14 nodes: stage 2; 17 nodes: stage 3"


# Verdicts on made-up tables

S = (0.0, 0.2, 0.4, 0.6)
NOISE = (0, 1, -1)  # of the copies


def table_of(name, totals, waits=(40, 30, 20, 10), free=None):
    """Make a table as `against_speedup` does; `totals` has each policy's total times at S, less that of first-free."""
    free = free or {}
    rows = []
    for seed, chance in enumerate(NOISE):
        for policy, differences in totals.items():
            anywhere = free.get(policy, 100) + chance
            facts = {"trace": name, "seed": seed, "policy": policy, "free_minutes": 10.0}
            rows += [{**facts, "allocation": "first-free", "s": s, grids.TOTAL: anywhere, grids.WAIT: 10.0} for s in S]
            for s, difference, wait in zip(S, differences, waits, strict=True):
                more = {grids.TOTAL: anywhere + difference, grids.WAIT: wait + chance / 10, "waiting": wait / 50}
                rows.append({**facts, "allocation": "contiguous", "s": s, "difference": difference + chance, **more})
    return pd.DataFrame(rows)


def together(tables):
    """Put the tables of logs together, by their names."""
    return pd.concat([table.assign(trace=name) for name, table in tables.items()], ignore_index=True)


def verdict_of(check, tables, policies=("FCFS", "EASY (count)")):
    return judged(paper.ledger.CLAIMS["PAS-1"], check(together(tables), policies), "a log")["verdict"]


def test_tolerances_say_the_bounds_of_the_code():
    met = {name: claim.tolerance for name, claim in paper.ledger.CLAIMS.items()}
    for name, word in (("PAS-2a", "about"), ("PAS-2b", "nearly"), ("PAS-7", "around")):
        assert met[name] == f"{word} is {paper.ledger.ABOUT} of s more or less"
    assert met["PAS-4b"] == f"slightly is {paper.ledger.SLIGHTLY} of s at most"


def falling(at):
    """Make differences that fall to 0 at s."""
    return [100 * (at - s) for s in S]


def near(at, **more):
    return {"FCFS": falling(at), "EASY (count)": falling(at), "EASY (block)": falling(0.05)} | more


# Where the lines of FCFS and of backfilling cross on each log, and the verdicts.
CROSSED = [
    ({grids.HPC2N: (0.25, 0.27)}, {"PAS-2a": "reproduced", "PAS-2b": "reproduced"}),
    ({grids.HPC2N: (0.22, 0.29)}, {"PAS-2a": "reproduced", "PAS-2b": "not reproduced"}),
    ({grids.HPC2N: (0.21, 0.45)}, {"PAS-2a": "in part", "PAS-2b": "not reproduced"}),
    ({grids.HPC2N: (0.4, 0.41)}, {"PAS-2a": "not reproduced", "PAS-2b": "reproduced"}),
    ({grids.BLUE: (0.27, 0.27)}, {"PAS-3a": "reproduced"}),
    ({grids.BLUE: (0.24, 0.24)}, {"PAS-3a": "undecided"}),
    ({grids.BLUE: (0.45, 0.45)}, {"PAS-3a": "not reproduced"}),
    ({grids.BLUE: (0.9, 0.9)}, {"PAS-3a": "not reproduced"}),
    ({grids.BLUE: (0.27, 0.05)}, {"PAS-3a": "not reproduced"}),
    ({grids.THUNDER: (0.33, 0.33), grids.BLUE: (0.27, 0.27)}, {"PAS-4a": "reproduced", "PAS-4b": "reproduced"}),
    ({grids.THUNDER: (0.45, 0.45), grids.BLUE: (0.27, 0.27)}, {"PAS-4a": "reproduced", "PAS-4b": "not reproduced"}),
    ({grids.THUNDER: (0.2, 0.2), grids.BLUE: (0.27, 0.27)}, {"PAS-4a": "not reproduced", "PAS-4b": "reproduced"}),
    ({grids.THUNDER: (0.9, 0.9), grids.BLUE: (0.27, 0.27)}, {"PAS-4a": "reproduced", "PAS-4b": "not reproduced"}),
    (dict(zip(paper.LOGS, [(0.27, 0.27), (0.28, 0.28), (0.28, 0.28)], strict=True)), {"PAS-7": "reproduced"}),
    (dict(zip(paper.LOGS, [(0.27, 0.27), (0.28, 0.28), (0.43, 0.43)], strict=True)), {"PAS-7": "in part"}),
    (dict.fromkeys(paper.LOGS, (0.5, 0.5)), {"PAS-7": "not reproduced"}),
]


@pytest.mark.parametrize(("crossed", "verdicts"), CROSSED)
def test_verdicts_follow_where_lines_cross(crossed, verdicts):
    tables = {name: table_of(name, near(count, FCFS=falling(fcfs))) for name, (fcfs, count) in crossed.items()}
    assert {claim: verdict_of(paper.ledger.CHECKS[claim][0], tables) for claim in verdicts} == verdicts
    crossings = paper.ledger._overall(together(tables), ("FCFS", "EASY (count)")).conditions["policy"].tolist()
    assert crossings.count("FCFS") == (grids.HPC2N in tables)  # Figure 5 has backfilling only


@pytest.mark.parametrize(("blue", "verdict"), [(0.3, "reproduced"), (0.25, "undecided"), (0.2, "not reproduced")])
def test_lines_cross_later_than_on_hpc2n(blue, verdict):
    tables = {grids.BLUE: table_of("B", near(blue)), grids.HPC2N: table_of("H", near(0.25))}
    tables[grids.HPC2N]["difference"] -= 0.3 * tables[grids.HPC2N]["seed"]  # by chance
    assert verdict_of(paper.ledger.CHECKS["PAS-3b"][0], tables) == verdict


def test_lines_that_never_cross_are_censored_at_the_largest_s():
    table = table_of("T", near(0.9))
    found = grids.crossings(table).set_index("policy")
    assert found.loc["EASY (count)", ["crossing", "crossing_low", "never"]].tolist() == [0.6, 0.6, 1]
    assert paper.figures._written(found.reset_index())["total times cross at s"].tolist() == [
        *["nowhere up to the largest s"] * 2,
        "0.050 [0.025 to 0.075]",
    ]
    runs = "runs (a copy of a log under a policy)"
    nowhere = f"{runs} lines cross nowhere up to s = 0.6, which counts as their crossing."
    assert paper.ledger._censored(table) == f"In 3 of 3 {nowhere}"  # without FCFS
    assert paper.ledger._censored(table.assign(trace=grids.HPC2N)) == f"In 6 of 6 {nowhere}"
    assert paper.ledger._censored(table_of("T", near(0.3))) == ""
    some = table_of("T", near(0.595))  # in one of three copies
    shown = paper.figures._written(grids.crossings(some))["total times cross at s"][0]
    assert shown.endswith("], nowhere up to the largest s in 33% of the copies")


@pytest.mark.parametrize(
    ("waits", "verdict", "in_part"),
    [
        ((400, 9, 9, 9), "reproduced", "reproduced"),
        ((30, 9, 9, 9), "not reproduced", "in part"),
        ((2000, 9, 9, 9), "not reproduced", "not reproduced"),  # more than 100 times on average
    ],
)
def test_contiguous_jobs_wait_so_many_times_as_long(waits, verdict, in_part):
    tables = {name: table_of(name, near(0.2), waits) for name in paper.LOGS}
    assert verdict_of(paper.ledger._many_times, tables) == verdict
    mixed = tables | {grids.BLUE: table_of("B", near(0.2), (400, 9, 9, 9))}
    assert verdict_of(paper.ledger._many_times, mixed) == in_part
    without = paper.ledger._free_waits(together(tables))
    assert without.endswith(f"is free: {', '.join(f'10 on {name}' for name in paper.LOGS)}.")


def test_backfilling_is_lower_than_fcfs():
    lower = {"FCFS": 200, "EASY (count)": 100, "EASY (block)": 90}
    tables = {name: table_of(name, near(0.2), free=lower) for name in paper.LOGS}
    assert verdict_of(paper.ledger._lower, tables) == "reproduced"
    almost = tables | {grids.BLUE: table_of("B", near(0.2), free=lower | {"EASY (count)": 199.996})}
    check = paper.ledger._lower(together(almost), ("FCFS", "EASY (count)"))
    assert check.conditions["outcome"].tolist() == ["supports"] * 15
    higher = {name: table_of(name, near(0.2), free=lower | {"EASY (count)": 300}) for name in paper.LOGS}
    assert verdict_of(paper.ledger._lower, tables | {grids.BLUE: higher[grids.BLUE]}) == "in part"
    assert verdict_of(paper.ledger._lower, higher) == "not reproduced"


@pytest.mark.parametrize(
    ("waits", "mostly", "falls"),
    [
        ((40, 30, 20, 10), "reproduced", "reproduced"),
        ((20, 15, 12, 10), "not reproduced", "reproduced"),
        ((40, 41.5, 20, 10), "reproduced", "in part"),
        ((10, 20, 30, 40), "not reproduced", "not reproduced"),
    ],
)
def test_most_of_the_time_is_waiting_and_falls(waits, mostly, falls):
    tables = {name: table_of(name, near(0.2), waits) for name in paper.LOGS}
    assert verdict_of(paper.ledger._mostly_waiting, tables) == mostly
    assert verdict_of(paper.ledger._waits_fall, tables) == falls
    steps = paper.ledger._waits_fall(together(tables), ("FCFS", "EASY (count)")).conditions
    assert len(steps) == 3 * 2 * 3
    assert steps["value"].iloc[0] == pytest.approx(100 * (waits[1] / waits[0] - 1))


def test_live_figure(small, shared_runs):
    chart, table = paper.live(grids.HPC2N, s=0.2, jobs=100, hour=24)
    heads = [tree["title"] for tree in chart.to_dict()["concat"]]  # side by side
    assert [head["text"] for head in heads] == ["EASY (count), first-free", "EASY (count), contiguous"]
    assert all("of 240 nodes" in str(head) and "4 stages" in str(head) for head in heads)
    assert "EASY (count), contiguous, s = 0.2" in table.to_html()
    taller, _ = paper.live(grids.HPC2N, k=2, n=3, jobs=100, hour=24)
    assert "8 stages" in str(taller.to_dict())
    assert len(paper.live(grids.HPC2N, allocation="first-free", jobs=100)[0].to_dict()["vconcat"]) == 1


def test_controls_that_would_do_nothing_are_idle(small, shared_runs):
    assert paper.live.limits(grids.HPC2N, 4, "contiguous") == {"n": (range(4, 25), "240 nodes need 4 stages")}
    assert paper.live.limits(grids.HPC2N, 2, "best-fit")["n"] == (range(8, 25), "240 nodes need 8 stages")
    for allocation in ("first-free", "random"):
        assert paper.live.limits(grids.HPC2N, 4, allocation)["s"] == "jobs anywhere save nothing"
        means = [paper.live(s=s, allocation=allocation, jobs=100)[1].data for s in (0.0, 0.5)]
        assert means[0].iloc[0, 1:].tolist() == means[1].iloc[0, 1:].tolist()


def opening():
    """Return the call in the notebook that draws its first tree."""
    notebook = nbformat.read(Path(__file__).parents[2] / "notebooks/06-placement-pascual.ipynb", 4)
    return next(cell.source.splitlines()[0] for cell in notebook.cells if cell.source.startswith("chart, table = "))


@pytest.mark.parametrize("log", ["at hand", "stand-in"])
@pytest.mark.traces
def test_the_opening_picture_is_a_tree_that_holds_jobs(monkeypatch, tmp_path, log):
    if log == "stand-in":
        monkeypatch.setenv("SCHEDLAB_DATA", "")
        monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))
    names = {"paper": paper}
    exec(opening(), names)
    whole = names["chart"].to_dict()
    nodes, _, _, numbers, *_ = (whole["datasets"].get(part["data"].get("name")) for part in whole["concat"][1]["layer"])
    held = [row["job"] for row in nodes if row["job"] != ""]
    assert len(held) > len(nodes) / 2
    assert 4 < len({row["job"] for row in numbers}) < len(set(held))  # the others have no room for a number


@pytest.mark.traces
def test_contiguity_on_hpc2n(monkeypatch):
    shares = {"quick": (0.0, 0.15, 0.3)}  # the last two around where lines cross
    replaced(monkeypatch, paper, SHARES=shares, COPIES={"quick": 2})
    # The specification, section 6.5: by count 5 times the wait under EASY and 8.5 under FCFS; by block none.
    table = grids.against_speedup(grids.HPC2N, "quick", progress=False)
    at_0 = table[(table["s"] == 0) & (table["allocation"] == "contiguous") & (table["seed"] == 0)]
    at_0 = at_0.set_index("policy")["ratio"]
    assert at_0.round(1).to_dict() == {"FCFS": 8.5, "EASY (count)": 5.3, "EASY (block)": 0.9}
    found = grids.crossings(table).set_index("policy")["crossing"]
    assert found[["FCFS", "EASY (count)"]].between(0.2, 0.3).all()
