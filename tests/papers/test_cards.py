"""Cards: the kept full size as the picture, what was simulated just now as rings on it, and what such rings refuse."""

import html
import inspect
import re
from dataclasses import FrozenInstanceError, replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from schedlab import charts, papers
from schedlab.experiment import RunError, grid
from schedlab.papers import kept, notebook
from schedlab.papers.cards import NO_RUN, Card, Drawing, rebuilt, verdict_of
from schedlab.papers.kept import claims_about, compared, named_in
from schedlab.papers.tables import HEADS, as_read
from schedlab.papers.walls import READINGS, REST
from schedlab.show import card as page
from schedlab.show.ledgers import FAILURES_FIRST, VERDICTS
from schedlab.show.reading import MINUS, unbroken
from schedlab.workload.archive import TraceNotFound

pytestmark = pytest.mark.tables

RUNS = pd.DataFrame(
    [{"load": load, "seed": seed, "wait": 10 * load + seed} for load in (0.5, 0.9) for seed in range(5)]
)
OF_PAPERS = [
    (name, figure) for name, module in zip(papers.PAPERS, papers.modules(), strict=True) for figure in module.FIGURES
]


@cache
def as_kept(figure):
    return figure.as_kept()


@cache
def wall_of(paper):
    (module,) = papers.modules([paper])
    return papers.Wall(module)


def comparison(now, before=RUNS, **settings):
    return compared(before, now, ("load",), ("wait",), **settings)


# What rings accept and refuse


def test_the_very_runs_that_were_kept_agree():
    found = comparison(RUNS[RUNS["seed"] < 2])
    assert found["agrees"].all()
    assert found[["load", "low", "high"]].to_numpy().tolist() == [[0.5, 5, 9], [0.9, 9, 13]]
    assert found["now"].tolist() == pytest.approx([5.5, 9.5])


@pytest.mark.parametrize(
    ("now", "agrees"),
    [
        (RUNS.assign(seed=RUNS["seed"] + 10), [True, True]),  # other seeds, within the spread of single runs
        (RUNS.assign(seed=RUNS["seed"] + 10, wait=RUNS["wait"] + 20), [False, False]),
        (RUNS.assign(seed=RUNS["seed"] + 10, wait=RUNS["wait"] - 20), [False, False]),
        (RUNS.assign(wait=RUNS["wait"].where(RUNS.index != 1, 6.01)), [False, True]),  # the same run, another number
        (RUNS.assign(wait=RUNS["wait"] * (1 + 1e-4)), [False, False]),  # within the spread, but not the same
        (RUNS.assign(wait=RUNS["wait"] * (1 + 1e-8)), [True, True]),  # the digits that are kept
        (RUNS.assign(wait=np.nan), [False, False]),
        (pd.concat([RUNS[RUNS["load"] == 0.9], RUNS.assign(load=0.7)]), [False, True]),  # no run at 0.7 is kept
    ],
)
def test_a_run_agrees_or_does_not(now, agrees):
    assert comparison(now).sort_values("load")["agrees"].tolist() == agrees


def test_without_seeds_numbers_are_the_same_or_lie_between_kept_ends():
    before = pd.DataFrame({"load": [0.5, 0.9], "wait": [1.0, 2.0], "least": [0.5, 1.5], "most": [1.5, 2.5]})
    now = before.assign(wait=[1.2, 2.6])
    assert comparison(before, before)["agrees"].tolist() == [True, True]
    assert comparison(now, before)["agrees"].tolist() == [False, False]
    assert comparison(now, before, within={"wait": ("least", "most")})["agrees"].tolist() == [True, False]


def test_missing_numbers_are_not_counted_where_none_is_kept():
    before = pd.DataFrame({"load": [0.5, 0.9], "wait": [np.nan, 2.0]})
    assert comparison(before, before)["load"].tolist() == [0.9]  # what has no number in either says nothing
    assert comparison(before.assign(wait=[1.0, np.nan]), before)["agrees"].tolist() == [False, False]


# Verdicts of several claims


@pytest.mark.parametrize(
    ("verdicts", "of_all"),
    [
        (["reproduced", "reproduced"], "reproduced"),
        (["reproduced", "cannot be tested"], "reproduced"),
        (["cannot be tested"], "cannot be tested"),
        (["not reproduced"], "not reproduced"),
        (["reproduced", "not reproduced"], "in part"),
        (["reproduced", "undecided"], "undecided"),  # nothing is contradicted
        (["not reproduced", "undecided"], "undecided"),
        (["reproduced", "in part"], "in part"),
        (["undecided", "undecided"], "undecided"),
        ([], ""),
    ],
)
def test_the_verdict_of_several_claims(verdicts, of_all):
    assert verdict_of(verdicts) == of_all


@pytest.mark.parametrize(
    ("place", "names"),
    [
        ("Figure 2 on page 3, Figure 15, text", {"Figure 2", "Figure 15"}),
        ("Figures 3 to 5, 7", {"Figure 3", "Figure 4", "Figure 5", "Figure 7"}),
        ("Figures 10 and 11, Tables 1 to 3", {"Figure 10", "Figure 11", "Table 1", "Table 2", "Table 3"}),
        ("introduction, conclusions", set()),
    ],
)
def test_places_name_figures_and_tables(place, names):
    assert named_in(place) == names


def test_a_card_says_at_a_glance_which_claims_do_not_hold_and_why_and_which_do():
    both, none = "holds under: x; fails under: y", float("nan")
    rows = [("A-1", "reproduced", "", ""), ("A-2", "reproduced", none, none)]
    rows += [("A-3", "not reproduced", "All (of 2 (or 3)) contradict it. More.", "fails under: x")]
    rows += [(f"B-{number}", "in part", "1 of 2 contradict it.", both) for number in range(4)]
    rows += [("C-1", "undecided", none, none)]
    claims = pd.DataFrame(rows, columns=["id", "verdict", "reason", "readings"])
    claims = claims.assign(statement="it is <so>", published="5", measured="4")
    told = page._why(claims, {})
    lines = [re.sub("<[^>]+>", "", line) for line in told.split("</li>")[:-1]]
    assert lines == [
        "✕ not reproduced: A-3, it is &lt;so&gt;: 5 (All contradict it)",
        *(f"◐ in part: B-{number}, it is &lt;so&gt;: 5 ({both})" for number in range(3)),
        "◐ in part, too: B-3",
        "? undecided: C-1, it is &lt;so&gt;: 5",
        "● reproduced: A-1, A-2",
    ]


@pytest.mark.parametrize(
    ("verdicts", "of_tile", "of_card"),
    [
        ({"reproduced": 2}, ["● reproduced"], ["● reproduced"]),
        ({"reproduced": 2, "not reproduced": 1}, ["● 2", "✕ 1"], ["● 2 reproduced", "✕ 1 not reproduced"]),
    ],
)
def test_tiles_and_cards_count_verdicts_that_differ(verdicts, of_tile, of_card):
    tile = page.wall("", [("", "", "Figure 1", "t", verdicts)])
    assert re.findall(r">([●✕] [^<]+)</span>", tile) == of_tile
    assert re.findall(">([^<]*)</span>", page.badges(dict.fromkeys(VERDICTS, 0) | verdicts)) == of_card


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_each_claim_belongs_to_a_card_or_to_the_rest(paper):
    (module,) = papers.modules([paper])
    ledger, shown = kept.ledger_of(paper), set()
    for figure in module.FIGURES:
        shown |= set(as_kept(figure).claims.get("id", ()))
    rest = wall_of(paper).rest()
    without = [claim for claim in ledger["id"] if claim not in shown]
    assert (REST in wall_of(paper).html()) == bool(without)
    assert rest is None or sum(rest.verdicts.values()) == len(without)


# A figure's functions


@pytest.fixture
def made(monkeypatch):
    """A figure of a paper, with some kept runs; the sizes that it is asked for."""
    asked = []

    def draw(shown):
        lines = charts.lines(
            shown.data.groupby("load", as_index=False)["wait"].mean().assign(scheme="one"), "load", "wait"
        )
        about = f"{shown.size}, {'kept' if shown.kept else 'own'}, {'rings' if shown.now is not None else 'none'}"
        return Drawing("It grows", about, "Two loads.", lines, shown.data.head(), ("more",))

    monkeypatch.setattr(kept, "numbers_of", lambda paper, name: RUNS if paper == "tiny" else None)

    def make(runs=lambda size: RUNS[RUNS["seed"] < (5 if size == "full" else 1)], **settings):
        def run(size, progress):
            """Rebuild it."""
            asked.append(size)
            return runs(size)

        run.__module__ = "schedlab.papers.tiny"
        how = {"by": ("load",), "measures": ("wait",), "name": "figure9", "about": "Rebuild Figure 9: it."} | settings
        return rebuilt("Figure 9", draw, ("a note",), **how)(run)

    make.asked = asked
    return make


def missing(size):
    raise TraceNotFound("no log at hand for X-1999")


def missing_in_a_grid(size):
    return grid(lambda load: missing(size), load=[0.5, 0.6], progress=False)


def test_a_quick_card_shows_what_is_kept_with_rings_on_it(made):
    card = made()(progress=False)
    assert made.asked == ["quick"]
    assert (card.seen, card.size, card.kept) == ("full, kept, rings", "full", True)
    assert card.data is RUNS
    assert card.now["seed"].tolist() == [0, 0]
    expected = "○ Simulated again just now, a few single runs to check: all 2 values are as in the kept single runs."
    assert card.agreement == expected
    assert card.notes == ("a note", "more")
    assert repr(card) == "<Card Figure 9: It grows>"
    assert card.off == []
    with pytest.raises(FrozenInstanceError):
        card.title = "Another"


def test_a_full_card_shows_its_own_run(made):
    card = made()("full", progress=False)
    assert made.asked == ["full"]
    assert (card.seen, card.size, card.kept, card.now, card.agreement) == ("full, own, none", "full", False, None, "")


def test_a_figure_may_be_simulated_again_in_another_size_or_not_at_all(made):
    assert made(again="now")(progress=False).agreement.startswith("○ Simulated again just now")
    assert made.asked == ["now"]
    assert made(again=None)(progress=False).agreement == NO_RUN
    assert made.asked == ["now"]


def test_a_ring_outside_the_kept_runs_is_a_warning_that_names_it(made):
    off = RUNS[RUNS["seed"] == 1].assign(wait=lambda runs: runs["wait"] + 100 * (runs["load"] == 0.9))
    card = made(lambda size: off)(progress=False)
    assert card.agreement == "○ Just now: 1 of 2 values lie outside the kept runs: 0.9: wait 110, kept 9 to 13."
    assert re.search(r'role="note"[^>]*>○ Just now: 1 of 2 values lie outside', card.below())
    assert 'role="note"' not in made()(progress=False).below()
    other = made(lambda size: RUNS.assign(load=0.7))(progress=False)
    assert other.agreement == "○ Just now: 1 of 1 values lie outside the kept runs: 0.7: wait 9, kept nan to nan."


def test_rings_of_stand_ins_are_not_judged(made):
    card = replace(made()(progress=False), standins=("No log at hand for X",))
    card.rings["agrees"] = False
    assert card.off == []
    assert "nothing is judged" in card.agreement
    assert re.search(r'role="note"[^>]*>No log at hand for X', card.below())


def test_numbers_that_no_ring_shows_are_compared_all_the_same(made):
    card = replace(made()(progress=False), ringed=False)
    assert card.agreement == "Simulated again just now, a few single runs to check: all 2 values are as kept."


@pytest.mark.parametrize("runs", [missing, missing_in_a_grid])
def test_a_kept_picture_is_shown_though_the_log_is_missing(runs, made):
    card = made(runs)(progress=False)
    assert (card.kept, card.now, card.standins) == (True, None, ("no log at hand for X-1999",))
    assert card.chart is not None


def test_another_failure_of_a_run_is_not_a_missing_log(made):
    def failing(size):
        return grid(lambda load: 1 / (load - 0.5), load=[0.5], progress=False)

    with pytest.raises(RunError, match="division by zero"):
        made(failing)(progress=False)


def test_without_kept_results_a_quick_card_shows_itself_or_that_a_log_is_missing(made, monkeypatch):
    monkeypatch.setattr(kept, "numbers_of", lambda paper, name: None)
    card = made()(progress=False)
    assert (card.seen, card.size, card.kept) == ("quick, own, none", "quick", False)
    assert card.agreement == "No full-size result is kept: this is the quick run alone."
    card = made(missing)(progress=False)
    assert (card.title, card.seen) == ("Figure 9: not at hand", "no log at hand for X-1999")
    assert (card.chart, card.table) == (None, None)


def test_a_figure_has_the_signature_and_docstring_of_figures(made):
    function = made()
    assert function.__name__ == "figure9"
    assert function.__doc__.startswith("Rebuild Figure 9: it.\n\nParameters\n----------\nsize : ")
    assert str(inspect.signature(function)).startswith("(size: str | None = None, progress: bool = True) -> ")
    with pytest.raises(ValueError, match="unknown size 'huge'; known: quick, full"):
        function("huge")


# How cards look


def test_a_card_has_number_title_verdict_words_and_folds(made):
    ledger = kept.ledger_of("grudenic2010")
    card = replace(made()(progress=False), title="A < B", seen="So & so", claims=ledger[ledger["id"] == "GRU-1a"])
    head, below = card.head(), card.below()
    assert "Figure 9" in head
    assert "A &lt; B" in head
    assert "◐ in part" in head
    assert "So &amp; so" in below
    assert re.findall("<summary>([^<]*)</summary>", below) == ["1 claim", "numbers", "sample and readings", "code"]
    assert "DPSAn is better than EASY on all eight logs" in below
    assert "sl.papers.tiny.figure9()" in below


def test_a_table_stands_open(made):
    below = replace(made()(progress=False), chart=None).below()
    assert "numbers" not in re.findall("<summary>([^<]*)</summary>", below)
    assert below.index("<table") < below.index("schedlab-caption")


def test_every_verdict_has_a_shape_of_its_own():
    assert set(page.SHAPES) == set(page.COLOURS) == set(VERDICTS)
    assert len(set(page.SHAPES.values())) == len(VERDICTS)
    for verdict in VERDICTS:
        assert page.SHAPES[verdict] in page.badge(verdict)
    assert "no claim" in page.badges({})


NO_NUMBER = "the paper gives no number: more"
SOME, ALL = "holds under: all; holds in part under: EASY", "holds under: all; fails under: EASY"


@pytest.mark.parametrize(
    ("published", "reason", "readings", "line"),
    [
        ("2.5 %", "14 of 16 cases support it, 2 are open.", SOME, f"2.5 % ({SOME})"),
        ("2.5 %", "The intervals of all 7 cases allow both.", "undecided under: all", "2.5 % (The intervals"),
        (NO_NUMBER, "8 of 8 cases contradict it. More.", ALL, f"other ({ALL})"),
        (NO_NUMBER, "3 of 8 cases contradict it (+2 % (SN)). More.", SOME, "other (3 of"),
        (NO_NUMBER, "a check, EASY: 4 of 9 cases contradict it.", SOME, f"other ({SOME})"),
        (NO_NUMBER, "", "", "other</li>"),
    ],
)
def test_a_card_says_what_is_claimed_and_why_it_does_not_hold(published, reason, readings, line):
    row = {"id": "KUR-1", "statement": "no job suffers more than any other", "verdict": "in part"}
    claims = pd.DataFrame([row | {"published": published, "reason": reason, "readings": readings}])
    assert line in page._why(claims, {})


LINES = [
    # verdict, published, reason, readings, the line
    ("in part", "2 %", "", "holds under: a; fails under: b, c", "more: 2 % (only under R1)"),
    ("in part", "2 %", "", "holds under: b, c; fails under: a", "more: 2 % (not under R1)"),
    ("in part", "", "", "holds under: b; holds in part under: c; fails under: a", "more (only under R1)"),
    ("in part", "", "9 of 12 cases support it, 1 contradicts it, 2 are open.", "", "more (9/12 hold)"),
    ("not reproduced", "", "9 of 12 cases support it, 3 contradict it.", "", "more (+5.2 % here; 9/12 hold, 3 fail)"),
    ("not reproduced", "", "2 of 8 cases contradict it (+2 %), 6 are open.", "", "(+5.2 % here; 2/8 fail, 6 open)"),
    ("undecided", "", "The intervals of all 7 cases allow both. More.", "", "more (7/7 open)"),
    ("undecided", "", "The interval allows both. Conjecture: more.", "", "more (open)"),
    ("reproduced", "more", "", "holds under: a; undecided under: b", "more"),
    ("reproduced", " ".join("123456789"), "", "", "more: 1 2 3 4 5 6 7 8 9"),
    ("reproduced", "the paper gives numbers for Msg only: 2 against 1", "", "", "more: 2 against 1, for Msg only"),
]


@pytest.mark.parametrize(("verdict", "published", "reason", "readings", "line"), LINES)
def test_in_the_fold_of_claims_a_line_is_short(verdict, published, reason, readings, line):
    row = {"id": "KUR-1", "where": "caption of Figure 3", "statement": "more", "verdict": verdict, "readings": readings}
    row["measured"] = "mean wait, whole log: +5.2 % [+4.1 to +6.3] on average over 12 cases"
    claims = pd.DataFrame([row | {"published": published or NO_NUMBER, "reason": reason}])
    html = page._in_lines(claims)
    (told,) = re.findall("<li><b>Figure 3</b> (.*)</li>", html)
    assert told.startswith(f'<b class="schedlab-{page.COLOURS[verdict]}" title="{verdict}">{page.SHAPES[verdict]}</b> ')
    assert told.endswith(line)
    assert ("leaves open:" in html) == ("R1" in line)
    of_full = {"kept": row["measured"], "kept_verdict": verdict, "kept_reason": reason, "kept_readings": readings}
    assert page._in_lines(claims.assign(measured="less", reason="", readings="", **of_full)) == html


def test_in_the_fold_of_claims_what_is_shared_is_said_once():
    several = [("Figure 4", "A, B: less"), ("Figure 3", "A: x, more"), ("Figure 3", "A, B: more"), ("Figure 5", "all")]
    claims = pd.DataFrame(several, columns=["where", "statement"]).assign(id=list("1234"), published=NO_NUMBER)
    claims[["reason", "readings", "measured"]] = ""
    claims["verdict"] = ["in part", "in part", "not reproduced", "reproduced"]
    html = page._in_lines(claims)
    text = re.sub(" +", " ", re.sub("<[^>]*>", " ", html)).strip()
    failing, whole = text.partition("allow both. ")[2].split(" ● reproduced: ")
    assert failing == "Figure 3 , A ✕ 3: B: more ◐ 2: x, more Figure 4 ◐ 1: A, B: less"
    assert whole == "Figure 5 Figure 5 ● 4: all"


def test_a_reading_is_named_with_the_default_that_it_replaces():
    row = {"id": "1", "where": "Figure 3", "statement": "more", "published": "2", "reason": "", "measured": ""}
    claims = pd.DataFrame([row | {"verdict": "in part", "readings": "holds under: a, b; fails under: c, d, e"}])
    html = page._in_lines(claims, {"a": "z", "b": "b"})
    assert re.findall("<li>(R.*?)</li>", html) == ["R1 a (the default: z)", "R2 b (the default)"]


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_every_reading_in_the_lines_of_a_wall_has_its_default(paper):
    named = re.findall(r"<li>(R\d+ .*?)</li>", wall_of(paper).html())
    assert not [reading for reading in named if "(the default" not in reading]


PRINTED = {"sabin2006": (10, 0), "silva2000": (11, 6), "kurian2003": (23, 0), "grudenic2010": (4, 0)}
PRINTED["pascual2008"] = (5, 0)  # figures and tables of each paper (PAPERS.md)


@pytest.mark.parametrize("paper", PRINTED)
def test_who_looks_for_a_figure_of_the_paper_finds_it_among_the_claims(paper):
    wall, (figures, tables) = wall_of(paper), PRINTED[paper]
    fold = page._in_lines(wall.ledger, {}, wall.others())
    named = set().union(*map(named_in, re.findall("<li><b>([^<]*)</b>", fold)))
    assert named == {f"Figure {n + 1}" for n in range(figures)} | {f"Table {n + 1}" for n in range(tables)}


@pytest.mark.parametrize("paper", PRINTED)
def test_what_the_paper_leaves_open_stands_behind_its_figures(paper):
    (readings,) = (figure.as_kept().title for figure in wall_of(paper).paper.FIGURES if figure.__name__ == READINGS)
    before, beyond = wall_of(paper).html().split("Behind the figures")
    assert html.escape(unbroken(readings)) not in before
    assert html.escape(unbroken(readings)) in beyond


def test_a_tile_without_a_picture_says_what_was_claimed_and_measured_once():
    shown = wall_of("silva2000").html()
    lines = re.findall('<div class="line">(.*?)</div></div>', shown)
    (third,) = (line for line in lines if line.startswith("<b>Table 3</b>"))
    assert "50 jobs, 82 % with information" in third
    assert "Measured: KTH fit: 43 jobs, 88 % with information" in third
    assert shown.count("SIL-5: ") == 2  # among all claims, and with the first table


def test_a_claim_belongs_to_the_figures_that_it_compares():
    assert claims_about("tiny", "Figure 1").empty
    assert Card("A", "B", name="a").verdict == ""
    ids = {number: set(claims_about("silva2000", f"Figure {number}")["id"]) for number in range(3, 8)}
    assert [number for number, several in ids.items() if "SIL-4a" in several] == [3, 4, 6]
    assert [number for number, several in ids.items() if "SIL-4b" in several] == [4, 5, 6, 7]


def test_claims_of_a_card_are_in_a_fold_and_one_about_several_tables_is_told_with_the_first():
    claims = pd.DataFrame([{"id": "1", "statement": "more", "published": "2 h", "measured": "3 h [2 to 4]"}])
    claims = claims.assign(readings="", reason="", verdict="reproduced")
    for opened in (True, False):
        told, fold = page.below(seen="", opened=opened, claims=claims).split("<summary>1 claim</summary>")
        assert "3 h" not in told
        assert re.search("Published: 2 h.*Measured: 3 h .2 to 4.*reproduced", fold)
    tables = {figure.number: as_kept(figure).below() for figure in papers.silva2000.PAPERS_TABLES}
    assert [number for number, shown in tables.items() if "SIL-5 (see Table 1)" in shown] == [*tables][1:]


CODES = {"ObF": "overbooking factor", "EF ": "efficiency factor", "DPSAn": "narrow", "(count)": "promised"}
CODES["Msg"] = "mess"


@pytest.mark.parametrize(("paper", "figure"), OF_PAPERS, ids=lambda each: getattr(each, "__name__", each))
def test_every_figure_is_drawn_from_what_is_kept_with_heads_and_codes_in_words(paper, figure):
    card = as_kept(figure)
    assert card.title
    assert card.seen
    if paper != "arena":  # which is no paper, and has no words of its own
        words = f"{card.title} {card.seen}"
        assert not [code for code, meaning in CODES.items() if code in card.title and meaning not in words]
    assert card.sample.endswith((".", ")")) or not card.sample
    assert "nan" not in f"{card.title} {card.seen} {card.sample}"
    heads = [] if card.table is None else [str(head) for head in as_read(card.table).columns]
    assert not [head for head in heads if "_" in head or head in HEADS]
    if card.chart is not None:
        charts.specified(card.chart)
    else:
        assert len(card.table)


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_in_a_notebook_a_wall_begins_with_what_was_found_and_spells_out_codes(paper):
    first, _, after = wall_of(paper)._repr_html_().partition("all claims")
    assert after
    for words, claim in wall_of(paper).paper.PAPER.findings:
        assert f"{html.escape(words)} ({claim})." in first
    for code, meaning in wall_of(paper).paper.PAPER.terms:
        assert f"<b>{html.escape(code)}</b>: {html.escape(meaning)}" in wall_of(paper).html()


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_a_wall_shows_every_figure_in_the_papers_order(paper):
    (module,) = papers.modules([paper])
    wall = wall_of(paper)
    tiles = wall.tiles
    assert {tile.name for tile in tiles} == {figure.__name__.replace("_", "-") for figure in module.FIGURES}
    numbers = [tile.number for tile in tiles if tile.number]
    assert numbers == sorted(numbers, key=lambda number: (number.split()[0], int(number.split()[1])))
    assert [tile.number for tile in tiles] == numbers + [""] * (len(tiles) - len(numbers))
    html = wall.html("#")
    ledger = kept.ledger_of(paper)
    lines = re.findall('<b class=[^>]* title="([^"]*)">[^<]*</b> ([^:]*): ', html)
    assert sorted(lines) == sorted(zip(ledger["verdict"], ledger["id"], strict=True))  # all claims, in a line each
    places = re.findall("<li><b>([^<]*)</b>(.*?)(?=<li><b>|$)", page._in_lines(ledger))
    assert len(places) == len({place for place, _ in places})
    worst = [min(map(FAILURES_FIRST.index, re.findall(r'title="([^"]*)"', told))) for _, told in places]
    assert worst == sorted(worst)  # what does not hold is first
    stated = {(where.removeprefix("caption of ").lower(), name) for where, name in ledger[["where", "id"]].to_numpy()}
    assert {(place.lower(), name) for place, told in places for name in re.findall("</b> ([^:]*): ", told)} == stated
    assert f"Of {len(kept.ledger_of(paper))} claims: " in html
    assert html.count("<svg") == sum(bool(tile.picture) for tile in tiles)


def test_a_family_shows_one_card_at_a_time(made):
    card = made()(progress=False)
    html = papers.Family(card, replace(card, name="figure10", number="Figure 10"))._repr_html_()
    assert re.findall("<label[^>]*>([^<]*)</label>", html) == ["Figure 9", "Figure 10"]
    assert html.count(" checked>") == 1
    ids = re.findall(r' id="([^"]*)"', html)
    assert len(set(ids)) == len(ids)


def test_a_family_is_simulated_again_as_a_whole(made, monkeypatch):
    shown = []
    updated = []
    monkeypatch.setattr(notebook, "display", lambda part, **about: shown.append(part) or SimpleNamespace(display_id=1))
    monkeypatch.setattr(notebook, "update_display", lambda part, display_id: updated.append((part.data, display_id)))
    monkeypatch.setattr(Card, "again", lambda card, size: replace(card, title=f"{card.number} at the {size} size"))
    card = made()(progress=False)
    family = papers.Family(card, replace(card, name="figure10", number="Figure 10"))
    notebook.display_family(family)
    html, buttons = shown
    assert html.data == family._repr_html_()
    buttons.children[0].children[0].click()
    ((after, place),) = updated
    assert place == 1
    assert "Figure 9 at the quick size" in after
    assert "Figure 10 at the quick size" in after
    shown.clear()
    monkeypatch.setenv("SCHEDLAB_PAGE", "1")
    notebook.display_family(family)
    assert [type(part).__name__ for part in shown] == ["HTML"]  # a page has no buttons


def test_titles_and_ledger_of_grudenic_count_alike():
    """The figure counts logs by the intervals that it draws, the ledger by joint ones: a reader must see one number."""
    card = as_kept(papers.grudenic2010.figure3)
    counts = re.search(r"on (\d+) of (\d+) logs, wide jobs raise it on (\d+)", card.title).groups()
    reasons = kept.ledger_of("grudenic2010").set_index("id")["reason"]
    assert reasons["GRU-1a"].startswith(f"{counts[0]} of {counts[1]} cases support it")
    assert reasons["GRU-3a"].startswith(f"{counts[2]} of {counts[1]} cases support it")


def test_a_table_is_shown_as_people_read_it():
    table = pd.DataFrame({"trace": ["a", "b"], "group": ["tiny", "all"], "mean wait (s)": [6846.0, float("nan")]})
    table = table.assign(**{"run (s)": 5.0, "total (minutes)": 130.0, "change (%)": [-2.0, 3.0]})
    table = table.assign(**{"change (%)_low": [-3.0, float("nan")], "change (%)_high": [-1.0, float("nan")]})
    before = table.copy()
    found = as_read(table)
    assert found.columns.tolist() == ["log", HEADS["group"], "mean wait", "run (s)", "total", "change (%)"]
    assert found["mean wait"].tolist() == ["114 min", "-"]
    assert found["total"].tolist() == ["2.17 h", "2.17 h"]
    assert found["change (%)"].str.replace(MINUS, "-").tolist() == ["-2.0 [-3.0 to -1.0]", "+3.0"]
    assert table.equals(before)


def test_notes_that_figures_share_stand_on_the_wall_and_not_on_each_card():
    (module,) = papers.modules(["sabin2006"])
    wall = wall_of("sabin2006").html()
    note = "Schemes are compared within the draw"
    assert wall.count(note) == 1
    cards = [as_kept(figure) for figure in module.FIGURES]
    assert sum(note in " ".join(card.notes) for card in cards) > 10
    assert not [card for card in cards if note in card.below()]


@pytest.mark.parametrize("name", ["kurian2003", "sabin2006"])
def test_captions_of_figures_are_sentences_with_few_numbers(name):
    (module,) = papers.modules([name])
    for card in (as_kept(figure) for figure in module.FIGURES if figure.number):
        caption = re.sub("(5|20) % sweeps", "", card.seen.partition(" In the paper")[0])
        assert len(re.findall(r"[-+]?[\d.]+(?: to [\d.]+)? %", caption)) <= 3, card.seen


def test_no_thumbnail_of_a_matrix_is_empty():
    for name in papers.PAPERS:
        for tile in wall_of(name).tiles:
            strong = [float(opacity) for opacity in re.findall(r'fill-opacity="([\d.]+)"', tile.picture)]
            assert len(strong) < 10 or max(strong) > 0.1, (name, tile.name)
