"""The report: one page that holds everything, opens with no network, and grows while it is made."""

import json
import os
import re
import time
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from types import SimpleNamespace

import altair as alt
import kept_report
import pandas as pd
import pytest
import vl_convert
from pages import Page

import schedlab as sl
from schedlab import charts, papers
from schedlab.experiment import forget, grid
from schedlab.papers import base, kept
from schedlab.show import report
from schedlab.show.ledgers import CONDITION, SHAPES, SHOWN, VERDICTS

LIBRARY = cache(vl_convert.javascript_bundle)  # takes a second or two each time
EVIL = "<b>&\"</b></script><!--<script>alert(1)</script>'"


def row_of(verdict, **more):
    """Return a row of a ledger, of one case."""
    condition = dict.fromkeys(CONDITION, f"a case {EVIL}")
    row = dict.fromkeys(papers.LEDGER, f"a {verdict} {EVIL}")
    return row | {"verdict": verdict, "conditions": [condition], "trace": "a log"} | more


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    monkeypatch.delenv("SCHEDLAB_DATA", raising=False)
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(vl_convert, "javascript_bundle", LIBRARY)


def card(name, title, seen, data, chart=None, table=None, notes=()):
    return papers.Card(title, seen, name=name, data=data, chart=chart, table=table, notes=notes)


def unkept(*figures):
    """Give functions what figures have besides, with nothing kept."""
    for figure in figures:
        figure.number, figure.claims, figure.as_kept = "", (), lambda: None
    return figures


@pytest.fixture
def paper(monkeypatch):
    """A paper with a chart, a table, and every verdict, full of text that must not become HTML."""
    table = pd.DataFrame({"load": [0.5, 0.9], "wait_time": [1234.5, 20.0], "scheme": [EVIL, "EASY"]})

    def chart(size, progress):
        drawn = charts.lines(table, "load", "wait_time", title=EVIL, subtitle="a trace")
        return card("chart", f"Chart {EVIL}", f"See {size} {EVIL}", table, drawn, table, ("One note",))

    def pair(size, progress):
        panels = [charts.lines(table, "load", "wait_time", column="scheme", log=True) for _ in range(2)]
        return card("pair", "Two panels", "Both.", table, charts.stacked(panels), notes=("One note",))

    def words(size, progress):
        return card("words", "A table", "Numbers.", table, table=table, notes=(f"Another {EVIL}",))

    rows = [row_of(verdict, id=f"A-{number}") for number, verdict in enumerate(VERDICTS)]
    paper = SimpleNamespace(
        __name__="schedlab.papers.tiny",
        TITLE=f"Tiny {EVIL}",
        PAPER=papers.Paper("A. Author", f"On {EVIL}", "JSSPP", 2001, "It is so.", (("It is not", "A-2"),)),
        FIGURES=unkept(chart, pair, words),
        claims=lambda size, progress, full=None: papers.ledger(rows),
    )
    monkeypatch.setattr(papers, "modules", lambda only: [paper])
    return paper


def read(folder):
    return Page((folder / "report.html").read_text(encoding="utf-8"))


def made(folder):
    report.figures(folder / "report.html", progress=False)
    return read(folder)


@pytest.fixture
def page(paper, tmp_path):
    return made(tmp_path / "new")


# What is in it


def test_each_chart_of_a_paper_becomes_a_picture(paper, tmp_path):
    written = report.pictures(tmp_path, progress=False, only=["tiny"])
    assert [path.name for path in written] == ["tiny-chart.png", "tiny-pair.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


def test_the_contents_lead_to_everything(page):
    contents = ["#front", "#tiny", "#tiny-chart", "#tiny-pair", "#tiny-words", "#tiny-ledger", "#traces"]
    # Then its line and its heading on the front page, and the wall's tile of claims that no figure shows.
    assert page.links == [*contents, "#tiny", "#tiny", "#tiny-ledger", "#tiny-ledger"]
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert len(set(page.ids)) == len(page.ids)


def test_captions_tables_notes_and_versions(page):
    for words in (f"See quick {EVIL}", "Both.", "Numbers.", f"Tiny {EVIL}", "the quick size", "1,234"):
        assert words in page.text
    assert page.text.count("One note") == 2  # a fold of each figure
    assert f"Another {EVIL}" in page.text
    for name in report.VERSIONS:
        assert f"{name} {sl.__version__ if name == 'schedlab' else version(name)}" in page.text
    assert {"numpy", "numba", "pandas", "altair"} <= set(report.VERSIONS)
    assert page.tags.count("table") == 2 + 1 + len(VERDICTS)  # figures, ledger, cases behind its folds


def test_the_front_page_tells_what_each_paper_is_and_how_it_fared(page):
    front = page.text.partition("Papers on job scheduling, rebuilt")[2].partition("It is so.")[0]
    for words in (f"A. Author, On {EVIL} , JSSPP 2001", "It is not (A-2).", "Each claim has one main check"):
        assert words in front
    for verdict in VERDICTS:
        assert f"1 {verdict}" in front


def test_the_ledger_is_there_with_every_verdict(page):
    for column in SHOWN:
        assert column in page.text
    for verdict in VERDICTS:
        assert f"a {verdict} {EVIL}" in page.text
        assert f"{verdict} (1)" in page.text  # a filter


def test_the_front_page_counts_the_verdicts_of_the_five_papers(paper, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "FIVE", ("tiny",))
    page = made(tmp_path)
    told = " , ".join(f"{SHAPES[verdict]} 1 {verdict}" for verdict in VERDICTS)
    assert f"Of {len(VERDICTS)} claims of one paper: {told} ." in page.text


def test_results_of_the_full_size_are_kept_on_request(paper, tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "folder", lambda: tmp_path / "results")
    with pytest.raises(ValueError, match="only results of the full size are kept, got size 'quick'"):
        report.figures(tmp_path / "report.html", "quick", progress=False, keep=True)
    out = report.figures(tmp_path / "report.html", "full", progress=False, keep=True)
    kept.ledger_of.cache_clear()
    assert kept.ledger_of("tiny")["verdict"].tolist() == list(VERDICTS)
    kept.ledger_of.cache_clear()
    assert f"Full size: made {kept.made('tiny')['made']} with schedlab" in out.read_text(encoding="utf-8")


def test_words_stay_words(page):
    assert "alert" not in "".join(page.scripts[-2:])
    assert page.tags.count("script") == 2 + 3
    assert list(page.specs) == ["tiny-chart", "tiny-pair"]
    assert page.specs["tiny-chart"]["title"]["text"] == EVIL


def test_it_loads_nothing_from_elsewhere(page):
    assert page.loads == []
    assert not re.findall(r"url\(|@import", page.styles)
    for spec in page.specs.values():
        assert '"url"' not in json.dumps(spec)


def test_it_carries_the_vega_lite_that_the_charts_are_written_in(page):
    assert alt.SCHEMA_VERSION.startswith(f"v{report.VEGA_LITE}.")
    assert report.VEGA_LITE in vl_convert.get_vegalite_versions()
    library = max(page.scripts, key=len)
    assert len(library) > 500_000
    assert f'"{alt.SCHEMA_VERSION[1:]}"' in library


def test_it_is_silent_without_progress(paper, tmp_path, capsys, monkeypatch):
    report.figures(tmp_path / "report.html", progress=False)
    monkeypatch.setattr(report, "PAUSE", 60)
    report.figures(tmp_path / "report.html")  # done before the bar looks for the first time
    assert capsys.readouterr() == ("", "")


def test_without_logs_it_says_that_stand_ins_are_simulated(nothing_kept, monkeypatch, tmp_path):
    load = base.load_trace
    monkeypatch.setattr(papers, "PAPERS", ("base",))  # others keep their loaded logs, which would be short
    monkeypatch.setattr(base, "load_trace", lambda name, or_standin: load(name, or_standin=or_standin).head(100))
    monkeypatch.setattr(base, "LOADS", {"quick": (0.7, 0.8)})
    page = made(tmp_path)
    assert "No log at hand for CTC-SP2-1996, KTH-SP2-1996, SDSC-SP2-1998: stand-ins are simulated" in page.text
    untested = sum((module.claims()["verdict"] == "cannot be tested").sum() for module in papers.modules())
    assert page.tags.count("tr") > untested > 0
    assert f"{untested} cannot be tested" in page.text
    spec = page.specs["base-figure1"]
    for panel in spec["vconcat"]:
        assert sum("(stand-in, not the real log)" in name for name in panel["facet"]["sort"]) == 3
    assert "whom to thank" not in page.text


def test_logs_at_hand_are_acknowledged(paper, monkeypatch, tmp_path):
    (tmp_path / "HPC2N-2002-2.2-cln.swf").touch()
    monkeypatch.setenv("SCHEDLAB_DATA", str(tmp_path))
    page = made(tmp_path)
    assert "HPC2N-2002-2.2-cln: Åke Sandgren, HPC2N" in page.text


# As it grows, and where it fails


def fail(*_, **__):
    raise OSError("the disk is full")


@pytest.mark.parametrize(
    ("owner", "name"),
    [(alt.Chart, "to_dict"), (report, "_traces"), (report.Path, "write_text"), (report.os, "replace")],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_failure_before_the_first_figure_leaves_the_old_page(paper, monkeypatch, tmp_path, owner, name):
    old = tmp_path / "out" / "report.html"
    report.figures(old, progress=False)
    before = old.read_bytes()
    monkeypatch.setattr(owner, name, fail)
    with pytest.raises(OSError, match="the disk is full"):
        report.figures(old, progress=False)
    assert [path.name for path in old.parent.iterdir()] == ["report.html"]
    assert old.read_bytes() == before


@pytest.mark.parametrize("stop", [OSError("the disk is full"), KeyboardInterrupt()], ids=["failure", "Ctrl-C"])
def test_what_was_done_before_a_run_stopped_is_left_and_said_to_be_a_part(paper, tmp_path, stop):
    def stopped(size, progress):
        raise stop

    paper.FIGURES = unkept(*paper.FIGURES[:2], stopped)
    with pytest.raises(type(stop)) as raised:
        report.figures(tmp_path / "report.html", progress=False)
    page = read(tmp_path)
    if isinstance(stop, OSError):
        assert raised.value.__notes__ == [f"Tiny {EVIL}: stopped could not be made."]
        assert f"incomplete. Tiny {EVIL}: stopped could not be made. OSError: the disk is full" in page.text
    else:
        assert report.STOPPED in page.text
    assert list(page.specs) == ["tiny-chart", "tiny-pair"]
    assert page.text.count(report.NOT_YET) == 3  # twice on the front page, and in place of the ledger
    assert "meta" in page.tags
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_the_page_grows_while_papers_are_rebuilt(paper, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "PAUSE", 0.01)
    monkeypatch.setattr(report, "RELOADED", 0.05)
    out, seen = tmp_path / "report.html", []

    def looking(size, progress):
        deadline = time.monotonic() + 30
        while not (out.exists() and "tiny-pair" in out.read_text(encoding="utf-8")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        seen.append(out.read_text(encoding="utf-8"))
        return card("late", "Late", "Last.", pd.DataFrame())

    paper.FIGURES = unkept(*paper.FIGURES[:2], looking)
    report.figures(out, progress=False)
    (early,), whole = seen, out.read_text(encoding="utf-8")
    assert list(Page(early).specs) == ["tiny-chart", "tiny-pair"]
    for words in ('<meta http-equiv="refresh"', report.GROWING, report.NOT_YET):
        assert words in early
        assert words not in whole


def test_a_page_that_grows_is_not_written_more_often_than_it_is_loaded(paper, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "PAUSE", 0.01)
    times = []
    monkeypatch.setattr(report, "_write", lambda *_: times.append(time.monotonic()))

    def slow(size, progress):
        time.sleep(0.05)
        return card("late", "Late", "Last.", pd.DataFrame())

    paper.FIGURES = unkept(slow) * 8
    report.figures(tmp_path / "report.html", progress=False)
    assert len(times) == 2  # once there is a figure, and when all are done
    monkeypatch.setattr(report, "RELOADED", 0.12)
    times.clear()
    report.figures(tmp_path / "report.html", progress=False)
    *growing, _ = times
    assert len(growing) > 1
    assert all(later - earlier >= 0.12 for earlier, later in pairwise(growing))


def test_where_a_paper_fails_the_others_are_rebuilt(paper, monkeypatch, tmp_path):
    def failing(size, progress):
        raise ZeroDivisionError("none")

    other = SimpleNamespace(**vars(paper) | {"__name__": "schedlab.papers.other", "TITLE": "Other"})
    paper.FIGURES = unkept(paper.FIGURES[0], failing, paper.FIGURES[1])
    monkeypatch.setattr(papers, "modules", lambda only: [paper, other])
    with pytest.raises(ZeroDivisionError) as raised:
        report.figures(tmp_path / "report.html", progress=False, processes=1)
    assert raised.value.__notes__ == [f"Tiny {EVIL}: failing could not be made."]
    page = read(tmp_path)
    assert list(page.specs) == ["tiny-chart", "other-chart", "other-pair"]
    assert "failing could not be made. ZeroDivisionError: none" in page.text


def test_who_fails_in_another_process_says_where(monkeypatch, tmp_path):
    def failing(name, folder, size, keep):
        def broken(size, progress):
            return 1 / 0

        paper = getattr(papers, name)
        before, paper.FIGURES = paper.FIGURES, unkept(broken)
        try:
            return report._build(name, folder, size, keep)
        finally:
            paper.FIGURES = before

    monkeypatch.setattr(report, "_build", failing)
    with pytest.raises(ZeroDivisionError) as raised:
        report.figures(tmp_path / "report.html", progress=False, only=["base", "lelong2017"], processes=2)
    where, lines = raised.value.__notes__
    assert "broken could not be made." in where
    assert "return 1 / 0" in lines


FEW = [("lelong2017", "JOBS", 500), ("lelong2017", "COPIES", 2), ("lelong2017", "LOGS", ("KTH-SP2-1996",))]
FEW.append(("base", "LOADS", (0.7,)))


def test_papers_are_rebuilt_in_processes_of_their_own_to_the_same_page(monkeypatch, tmp_path):
    monkeypatch.setenv("SCHEDLAB_DATA", str(tmp_path))  # stand-ins, also in the other processes
    monkeypatch.delenv("SCHEDLAB_CACHE")
    kept.ledger_of.cache_clear()  # other tests keep ledgers of their own
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    here, few = os.getpid(), FEW

    def build_few(name, *more):  # it is pickled whole, with its closure
        (elsewhere / name).write_text(str(os.getpid()))
        tables = [(getattr(getattr(papers, paper), table), value) for paper, table, value in few]
        usual = [table["quick"] for table, _ in tables]
        try:
            for table, value in tables:
                table["quick"] = value
            report._build(name, *more)
        finally:
            for (table, _), value in zip(tables, usual, strict=True):
                table["quick"] = value

    for paper, table, value in FEW:
        monkeypatch.setitem(getattr(getattr(papers, paper), table), "quick", value)
    monkeypatch.setattr(report, "_build", build_few)
    pages = [
        report.figures(tmp_path / f"{count}.html", progress=False, only=["base", "lelong2017"], processes=count)
        for count in (1, 2)
    ]
    one, two = (re.sub(r"Made [-\d]+ [:\d]+ UTC", "", page.read_text(encoding="utf-8")) for page in pages)
    assert one == two
    assert {path.name for path in elsewhere.iterdir()} == {"base", "lelong2017"}
    assert str(here) not in {path.read_text() for path in elsewhere.iterdir()}


def test_the_first_paper_is_rebuilt_first_and_then_those_that_take_longest(monkeypatch, tmp_path):
    seconds = {"short": 3, "long": 90, "first": 5, "middle": 20}
    monkeypatch.setattr(kept, "made", lambda name: {"seconds": seconds[name]} if name in seconds else None)
    names = ["first", "new", "short", "middle", "long"]
    sections = [report.Section(SimpleNamespace(__name__=f"schedlab.papers.{name}"), tmp_path) for name in names]
    assert [section.name for section in report._in_turn(sections)] == ["first", "long", "middle", "short", "new"]


def test_a_new_page_takes_the_place_of_the_old_one(paper, tmp_path):
    out = tmp_path / "out" / "report.html"
    for size in papers.SIZES:
        assert report.figures(str(out), size=size, progress=False) == out
        assert f"in the {size} size" in out.read_text(encoding="utf-8")
    assert [path.name for path in out.parent.iterdir()] == ["report.html"]


def test_a_full_size_that_was_interrupted_goes_on_where_it_was(paper, tmp_path, counting):
    pytest.importorskip("pyarrow")
    stop, run = tmp_path / "stop", counting(lambda a: a)
    stop.touch()

    def drawn(place):
        def figure(size, progress):
            if place and stop.exists():
                raise KeyboardInterrupt
            data = grid(run, a=range(3 * place, 3 * place + 3), progress=False)
            return card(f"figure{place}", f"{place}", "", data, table=data)

        return figure

    paper.FIGURES = unkept(drawn(0), drawn(1))
    for size, again in (("full", 3), ("quick", 6)):
        stop.touch()
        with pytest.raises(KeyboardInterrupt):
            report.figures(tmp_path / "report.html", size, progress=False)
        assert counting.calls() == 3
        stop.unlink()
        forget()
        report.figures(tmp_path / "report.html", size, progress=False)
        assert counting.calls() == again  # a quick one starts over
        forget()


def test_a_folder_that_cannot_be_had_is_known_before_the_work(paper, tmp_path):
    (tmp_path / "file").touch()
    paper.FIGURES = unkept(lambda size, progress: pytest.fail("there was work"))
    with pytest.raises(OSError, match="file"):
        report.figures(tmp_path / "file" / "report.html", progress=False)


def test_the_whole_report_is_under_4_mb(monkeypatch, tmp_path):
    path = kept_report.write(tmp_path / "report.html", monkeypatch)
    assert path.stat().st_size < 3_900_000  # the rings of a run add the rest


def test_tables_of_charts_come_by_columns():
    rows = [{"load": 0.5, "scheme": "EASY"}, {"load": 0.9, "scheme": "EASY"}]
    assert report._by_columns(rows) == {"rows": 2, "columns": {"load": [0.5, 0.9], "scheme": "EASY"}}
    for odd in ([], [{"load": 0.5}, {"scheme": "EASY"}]):
        assert report._by_columns(odd) == odd
    assert report._by_columns([{"at": [1, 2]}] * 2) == {"rows": 2, "columns": {"at": [[1, 2], [1, 2]]}}
