"""What papers provide: figures with the data that they claim, and ledgers that tell the truth."""

import inspect
import re
from dataclasses import replace
from pathlib import Path

import altair as alt
import pytest
from workloads import trace_of

import schedlab as sl
from schedlab import papers
from schedlab.papers import base, cards
from schedlab.workload import archive
from schedlab.workload.archive import standing_in

ROW = dict.fromkeys(papers.LEDGER, "") | {"id": "A-1", "verdict": "reproduced", "conditions": []}


@pytest.fixture(autouse=True)
def alone(request, monkeypatch, tmp_path):
    if "traces" not in request.keywords:
        monkeypatch.delenv("SCHEDLAB_DATA", raising=False)
        monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))


@pytest.fixture
def quick(monkeypatch, nothing_kept):
    """Two small traces at two loads in place of three whole logs at six."""
    traces = [sl.model_trace("lublin", jobs=jobs, machine=64, seed=jobs) for jobs in (150, 200)]
    traces[1] = sl.Trace(**{**vars(traces[1]), "name": "another"})
    monkeypatch.setattr(base, "logs", lambda: traces)
    monkeypatch.setattr(cards, "standing_in", lambda names: ("a note",))
    monkeypatch.setattr(base, "LOADS", {"quick": (0.6, 0.8), "full": (0.6, 0.7, 0.8)})
    return traces


# All papers


@pytest.mark.parametrize("name", papers.PAPERS)
def test_a_paper_has_what_the_report_needs(name):
    paper = getattr(papers, name)
    assert paper.TITLE
    assert isinstance(paper.PAPER, papers.Paper)
    assert paper.FIGURES
    for function in (*paper.FIGURES, paper.claims):
        assert list(inspect.signature(function).parameters)[:2] == ["size", "progress"]


@pytest.mark.parametrize(
    ("paper", "tables", "figures"),
    [
        ("sabin2006", [], [2, 3, 4, 5, 7, 8, 9, 10]),
        ("silva2000", range(1, 7), range(3, 12)),
        ("kurian2003", [], range(4, 24)),
        ("grudenic2010", [], [1, 3, 4]),
        ("pascual2008", [], [2, 3, 4, 5]),
    ],
)
def test_the_figures_and_tables_of_a_paper_are_there(paper, tables, figures):
    names = [function.__name__ for function in getattr(papers, paper).FIGURES]
    expected = [*(f"table{number}" for number in tables), *(f"figure{number}" for number in figures)]
    assert [name for name in names if re.fullmatch(r"(table|figure)\d+", name)] == expected


def test_papers_are_chosen_by_name():
    assert papers.modules() == [getattr(papers, name) for name in papers.PAPERS]
    assert papers.modules(["pascual2008", "base"]) == [papers.base, papers.pascual2008]
    with pytest.raises(ValueError, match="unknown paper .knuth1968.; known: base, sabin2006, silva2000"):
        papers.modules(["base", "knuth1968"])
    with pytest.raises(AttributeError, match="module 'schedlab.papers' has no attribute 'knuth1968'"):
        _ = papers.knuth1968


# The figure of the base schedulers


@pytest.mark.parametrize("size", papers.SIZES)
def test_figure1_simulates_every_scheme_at_every_load(quick, size):
    figure = base.figure1(size, progress=False)
    loads = base.LOADS[size]
    expected = [(t.title, load, str(scheme)) for t in quick for load in loads for scheme in base.SCHEMES]
    assert list(figure.data[["trace", "load", "scheme"]].itertuples(index=False, name=None)) == expected
    measures = sl.simulate(quick[1].scale_load(0.8), sl.Conservative()).metrics()
    assert figure.data.iloc[-1][measures.index].tolist() == pytest.approx(measures.tolist(), rel=0, abs=0, nan_ok=True)


def test_figure1_draws_its_data(quick):
    figure = base.figure1(progress=False)
    spec = figure.chart.to_dict()
    alt.VConcatChart.from_dict(spec, validate=True)
    slowdown, wait = spec["vconcat"]
    for panel, measure, unit in ((slowdown, "bounded_slowdown", 1), (wait, "wait_time", 3600)):
        drawn = spec["datasets"][panel["data"]["name"]]
        found = {(row["trace"], row["load"], row["scheme"]): row[measure] for row in drawn}
        keys = figure.data[["trace", "load", "scheme"]].itertuples(index=False, name=None)
        assert found == dict(zip(keys, figure.data[measure] / unit, strict=True))
        assert panel["facet"]["field"] == "trace"
        alone = panel.get("resolve", {}).get("scale", {}).get("y") == "independent"
        assert ("own scale" in panel["facet"]["header"]["labelExpr"]) == alone
    assert figure.table.columns[:3].tolist() == ["trace", "offered load", "scheme"]
    assert figure.table["offered load"].tolist() == [0.8] * 2 * 4


def test_figure1_tells_what_is_simulated_and_reduced_and_is_silent_where_progress_is_off(quick, monkeypatch, capsys):
    short, full = (base.figure1(size, progress=False) for size in papers.SIZES)
    assert short.sample.startswith("Lublin-Feitelson model, another, whole; ")
    assert "in steps of 0.1 (quick; full size: 0.025)" in short.sample
    assert "in steps of 0.025." in full.sample
    assert short.standins == ("a note",)
    monkeypatch.setattr(base, "logs", lambda: [replace(quick[0], source="stand-in")])
    assert "(stand-in, not the real log)" in base.figure1(progress=False).sample
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("size", "step", "count"), [("quick", 0.1, 6), ("full", 0.025, 21)])
def test_the_sizes_are_those_that_the_caption_tells(size, step, count):
    assert base.LOADS[size] == pytest.approx([0.5 + step * i for i in range(count)])


# Logs, stand-ins or the model


def test_without_logs_stand_ins_are_simulated_and_say_so():
    traces, (note,) = base.logs(), standing_in(base.LOGS)
    assert [trace.source for trace in traces] == ["stand-in"] * 3
    assert [trace.title.split(" ", 1)[1] for trace in traces] == ["(stand-in, not the real log)"] * 3
    assert note.startswith("No log at hand for CTC-SP2-1996, KTH-SP2-1996, SDSC-SP2-1998: stand-ins are simulated")
    assert "`schedlab traces --fetch CTC-SP2-1996 KTH-SP2-1996 SDSC-SP2-1998`" in note


def test_without_a_stand_in_the_model_is_simulated_and_says_so():
    trace = base.log_or_model("NASA-iPSC-1993")
    assert (trace.source, trace.title, len(trace)) == ("model", "Lublin-Feitelson model", 10_000)


def test_the_note_names_the_logs_that_are_missing(monkeypatch):
    monkeypatch.setattr(archive, "find", lambda name: Path(name) if "KTH" in name else None)
    (note,) = standing_in(base.LOGS)
    assert note.startswith("No log at hand for CTC-SP2-1996, SDSC-SP2-1998: ")
    monkeypatch.setattr(archive, "find", Path)
    assert standing_in(base.LOGS) == ()


# Their ledger


@pytest.mark.traces
def test_every_published_schedule_is_reproduced():
    ledger = base.claims()
    assert ledger["verdict"].tolist() == ["agrees"] * 7
    assert ledger["measured"].tolist() == ledger["published"].tolist()
    assert set(ledger["reason"]) == {""}
    assert set(ledger["trace"]) == {"KTH-SP2-1996-2", "CTC-SP2-1996-3.1-cln"}


def test_without_logs_nothing_can_be_tested():
    ledger = base.claims()
    assert ledger["verdict"].tolist() == ["cannot be tested"] * 7
    assert ledger["reason"].tolist() == ["KTH-SP2-1996-2 is not at hand"] * 4 + ["CTC-SP2-1996 is not at hand"] * 3
    assert set(ledger["measured"]) == {""}
    assert not ledger.duplicated(["statement", "trace"]).any()  # these identify the kept rows
    assert ledger["published"][0] == "turnaround 15187.6077 s, bounded slowdown 71.7224"


@pytest.mark.parametrize(
    ("wait", "verdict"), [("1.33", "reproduced"), ("1.333", "reproduced"), ("1.34", "not reproduced")]
)
def test_every_printed_digit_must_come_out(monkeypatch, wait, verdict):
    # Job 1 holds both processors until 5, job 2 until 9: waits 0, 4 and, on what is left, 0.
    trace = trace_of([(0, 5, 5, 2), (1, 4, 4, 1), (5, 1, 1, 1)], 2)
    monkeypatch.setattr(archive, "find", Path)
    monkeypatch.setattr(base, "load_trace", lambda name, missing_estimate: trace)
    row = ("A", "KTH-SP2-1996-2", sl.EASY(), "batched", True, {"wait_time": wait})
    monkeypatch.setattr(base, "PUBLISHED", [row])
    (row,) = base.claims("full").to_dict("records")
    assert (row["verdict"], row["trace"]) == (verdict, "a test")
    assert row["measured"] == f"wait {4 / 3:.{len(wait) - 2}f} s"
    assert row["reason"] == ("" if verdict == "reproduced" else "differs in a printed digit")


# What papers are made of


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verdict": "confirmed"}, "unknown verdict 'confirmed'; known: reproduced, in part, not reproduced, undec"),
        ({"verdict": "not reproduced"}, "no reason is given for the verdict of A-1: not reproduced"),
        ({"verdict": "cannot be tested"}, "no reason is given for the verdict of A-1: cannot be"),
        ({"page": "3"}, "a row of the ledger has id, .*, page; expected id, where, statement"),
    ],
)
def test_a_ledger_refuses_what_is_no_row(change, message):
    with pytest.raises(ValueError, match=message):
        papers.ledger([ROW, ROW | change])


@pytest.mark.parametrize("column", papers.LEDGER)
def test_a_ledger_refuses_a_row_that_lacks_something(column):
    with pytest.raises(ValueError, match="a row of the ledger has .*; expected id, where"):
        papers.ledger([{name: value for name, value in ROW.items() if name != column}])


def test_a_ledger_has_its_columns_in_order():
    rows = [dict(reversed(ROW.items())), ROW | {"verdict": "cannot be tested", "reason": "no log"}]
    assert papers.ledger(rows).columns.tolist() == list(papers.LEDGER)
    assert papers.ledger(rows)["verdict"].tolist() == ["reproduced", "cannot be tested"]
    assert papers.ledger([]).columns.tolist() == list(papers.LEDGER)


def test_the_environment_says_the_size_unless_the_caller_does(monkeypatch):
    monkeypatch.delenv("SCHEDLAB_SIZE", raising=False)
    assert (papers.chosen_size(), papers.chosen_size("full")) == ("quick", "full")
    monkeypatch.setenv("SCHEDLAB_SIZE", "full")
    assert (papers.chosen_size(), papers.chosen_size("quick")) == ("full", "quick")
    monkeypatch.setenv("SCHEDLAB_SIZE", "huge")
    with pytest.raises(ValueError, match="unknown size 'huge'; known: quick, full"):
        papers.chosen_size()
