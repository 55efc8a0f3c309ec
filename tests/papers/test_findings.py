"""The five sentences on each paper follow from what is kept, and cannot outlive it."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest

from schedlab import papers
from schedlab.papers import kept, sentences
from schedlab.papers.findings import FAILS, HOLDS, STALE, Findings, Rows, gains, part, percent, times
from schedlab.papers.pascual2008.grids import BLUE, HPC2N

pytestmark = pytest.mark.tables

NUMBER = re.compile(r"\d+(?:\.\d+)?")
# Names that have numbers, and what the papers' claims fix.
NAMES = re.compile(r"ObF \d|EF \d|HPC2N|Tables 1 to 6|with 5 % sweeps")
OF_FIGURES = ("_wins", "_one_more_stage")  # what gives numbers that no ledger has
ONCE = {name: cache(getattr(sentences, name)) for name in OF_FIGURES}
MOST_WORDS = 32

every_paper = pytest.mark.parametrize("paper", sentences.SENTENCES)


@cache
def ledger(paper):
    return kept.ledger_of(paper)


@pytest.fixture(autouse=True)
def _figures_once(monkeypatch):
    for name in OF_FIGURES:
        monkeypatch.setattr(sentences, name, ONCE[name])


def changed(paper, change=None, claim=None):
    """Return the kept ledger of a paper, or one in which rows (of a claim) are changed."""
    table = ledger(paper).copy()
    chosen = table["id"].eq(claim) if claim else table["id"].notna()
    for name, each in (change or {}).items():
        table[name] = table[name].where(~chosen, table[name].map(each))
    return table


def found(paper, change=None, claim=None):
    """Return the findings on a paper, from its kept ledger or from one in which rows (of a claim) are changed."""
    return Findings(getattr(papers, paper), changed(paper, change, claim))


def means(factor):
    return {"conditions": lambda rows: [row | {"mean": str(factor * float(row["mean"] or "nan"))} for row in rows]}


OPPOSITE = {"supports": "contradicts", "contradicts": "supports", "open": "supports"}
OPPOSITE |= {"holds": "fails", "fails": "holds"}


def opposite(condition):
    """Turn a condition into one far on the other side."""
    mean = "-200" if float(condition["mean"] or 0) >= 0 else "200"
    return condition | {"outcome": OPPOSITE.get(condition["outcome"], ""), "mean": mean}


ALL_OPPOSITE = {
    "conditions": lambda conditions: [opposite(condition) for condition in conditions],
    "verdict": lambda verdict: "undecided",
    "readings": lambda readings: re.sub("holds|fails", lambda match: OPPOSITE[match[0]], readings),
}


@every_paper
def test_there_are_five_short_sentences_that_follow_from_what_is_kept(paper):
    several = found(paper).sentences
    assert len(several) == 5
    for each in several:
        assert each.follows, each.text
        assert len(each.text.split()) <= MOST_WORDS, each.text
        assert re.fullmatch(r"[A-Z][^.]*(?:\.\d[^.]*)*\.", each.text), each.text  # one sentence


@every_paper
def test_each_rests_on_claims_of_the_ledger_or_on_a_figure(paper):
    for each in found(paper).sentences:
        assert set(each.claims) <= set(ledger(paper)["id"])
        assert each.claims or paper in ("pascual2008", "arena"), each.text


@every_paper
def test_no_sentence_stands_if_the_rows_of_one_of_its_claims_say_the_opposite(paper):
    claims = {claim for each in found(paper).sentences for claim in each.claims}
    for changed in [None, *sorted(claims)]:
        for each in found(paper, ALL_OPPOSITE, changed).sentences:
            assert not (each.follows and (changed in each.claims if changed else each.claims)), (changed, each.text)


@every_paper
def test_a_ledger_without_a_claim_is_refused(paper):
    claim = next(claim for each in found(paper).sentences for claim in each.claims)
    table = ledger(paper)
    findings = Findings(getattr(papers, paper), table[table["id"] != claim])
    with pytest.raises(ValueError, match=f"{claim}: 0 rows in this ledger, expected one"):
        _ = findings.sentences


def numbers(words):
    return NUMBER.findall(NAMES.sub("", words))


@every_paper
def test_each_number_comes_from_the_rows(paper, monkeypatch):
    alike = found(paper).sentences
    price = kept.numbers_of("arena", "price")
    monkeypatch.setattr(kept, "numbers_of", lambda *about: price.assign(max_wait_time=1.7 * price["max_wait_time"]))
    others = [found(paper, change).sentences for change in (means(1.7), ALL_OPPOSITE)]
    said = ledger(paper).set_index("id")[["statement", "published"]].agg(" ".join, axis="columns")
    for place, each in enumerate(alike):
        if each.claims:
            stay = set(numbers(each.text))
            for several in others:
                stay &= set(numbers(several[place].text))
            told = " ".join(said[list(each.claims)])
            cells = {str(len(Rows(ledger(paper)).conditions(claim))) for claim in each.claims}
            assert not {number for number in stay if number not in told} - cells, each.text


@every_paper
def test_the_page_shows_each_sentence_with_the_verdicts_of_its_claims(paper):
    findings = found(paper)
    page = findings._repr_html_()
    assert page.count("<li>") == 5
    assert STALE not in page
    for claim, verdict in zip(ledger(paper)["id"], ledger(paper)["verdict"], strict=True):
        if any(claim in each.claims for each in findings.sentences):
            assert re.search(rf"{claim}[^:<]*: {verdict}", page), claim
    assert STALE in found(paper, ALL_OPPOSITE)._repr_html_()


def test_sentences_on_figures_do_not_follow_from_other_numbers(monkeypatch):
    monkeypatch.setattr(sentences, "_one_more_stage", lambda: ([50.0], [40.0]))
    assert not found("pascual2008").sentences[-1].follows
    monkeypatch.setattr(sentences, "_wins", lambda: (pd.Series(["EASY"] * 75), 75))
    price = kept.numbers_of("arena", "price")
    dear = price.assign(bounded_slowdown=-price["bounded_slowdown"], max_wait_time=10.0)
    monkeypatch.setattr(kept, "numbers_of", lambda *about: dear)
    stale = [each.follows for each in found("arena").sentences]
    assert stale == [True, True, False, False, True]


def test_nothing_is_said_where_nothing_is_kept_and_a_paper_without_sentences_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="unknown paper with findings 'base'"):
        _ = Findings(papers.base).sentences
    monkeypatch.setattr(kept, "ledger_of", lambda name: None)
    nothing = Findings(papers.grudenic2010)
    assert nothing.sentences == []
    assert "<li>" not in nothing._repr_html_()


def test_numbers_are_written_as_people_say_them():
    assert (percent(-6.04), percent(0.45), percent(23.9), percent(2.1, 7.0)) == ("6 %", "0.5 %", "24 %", "2 to 7 %")
    assert (times(1.6508), times(10.92), part(0.2207), part(0.0, 0.1035)) == ("1.65", "10.9", "0.22", "0.00 to 0.10")
    assert gains([1.5, 1.0]).tolist() == [50.0, 0.0]


# The three conclusions on each paper


def outcomes(rows, claim, check=""):
    """Count the outcomes of the conditions of a claim."""
    return {name: len(rows.conditions(claim, check, outcome=name)) for name in ("supports", "contradicts", "open")}


WHOLE, BY_COUNT, BY_BLOCK = "whole log, as in", "reservation by count", "reservation by block"
# Of each conclusion, what must be so in the rows.
CONCLUSIONS = {
    "BASE-2": lambda rows: set(rows.ledger.query("id == 'BASE-2'")["verdict"]) == {"reproduced"},
    "SAB-11": lambda rows: (
        rows.verdict("SAB-11") == "reproduced" and -6.5 < 100 * np.expm1(rows.effect("SAB-11")) < -5.5
    ),
    "SAB-13a": lambda rows: (
        outcomes(rows, "SAB-13a", WHOLE)["contradicts"] > 0
        and all(float(name[-3:]) < 0.6 for name in rows.conditions("SAB-13a", WHOLE, outcome="contradicts").index)
    ),
    "SAB-12b": lambda rows: (
        outcomes(rows, "SAB-12a", WHOLE)["contradicts"] == 0 == outcomes(rows, "SAB-12b", WHOLE)["supports"]
    ),
    "PAS-2a": lambda rows: round(rows.conditions("PAS-2a", BY_COUNT, "FCFS").item(), 2) == 0.22,
    "PAS-1": lambda rows: all(
        0 < rows.conditions("PAS-1", BY_BLOCK, f"{log}, EASY").item() < 7 for log in (HPC2N, BLUE)
    ),
    "PAS-7": lambda rows: (
        rows.conditions("PAS-7", BY_BLOCK, f"{BLUE}, EASY").item() < 0.1
        and rows.conditions("PAS-7", BY_COUNT, f"{BLUE}, EASY").item() > 0.25
    ),
    "SIL-8": lambda rows: rows.verdict("SIL-8") == "reproduced",
    "SIL-2a": lambda rows: (
        rows.verdict("SIL-2a") == "not reproduced"
        and rows.effect("SIL-2a") < 1.8 < rows.effect("SIL-2a", "constant bursts")
    ),
    "SIL-6a": lambda rows: (
        [rows.verdict("SIL-6b"), rows.verdict("SIL-6a")] == ["reproduced", "not reproduced"]
        and all(
            "CTC fit" in name for name in rows.conditions("SIL-6a", "as in the figures", outcome="contradicts").index
        )
    ),
    "KUR-1": lambda rows: "EASY" in rows.under("KUR-1", HOLDS),
    "KUR-2": lambda rows: "EASY" in rows.under("KUR-2", FAILS) and rows.effect("KUR-2") > 21,
    "KUR-4a": lambda rows: (
        {name.split(", ")[1][0] for name in rows.conditions("KUR-4a", "EASY", outcome="contradicts").index} == {"S"}
        and "conservative backfilling" in rows.under("KUR-4a", HOLDS)
    ),
    "GRU-1a": lambda rows: outcomes(rows, "GRU-1a", "as in Figure 3")["contradicts"] == 0,
    "GRU-2a": lambda rows: outcomes(rows, "GRU-2a", "as in Figure 3")["open"] > 4,
    "GRU-3a": lambda rows: rows.verdict("GRU-3a") == "reproduced",
    "LEL-1a": lambda rows: outcomes(rows, "LEL-1a") == {"supports": 2, "contradicts": 1, "open": 0},
    "LEL-2": lambda rows: rows.verdict("LEL-2") == "reproduced",
    "LEL-3": lambda rows: outcomes(rows, "LEL-3")["supports"] == 2,
    "ARE-1": lambda rows: outcomes(rows, "ARE-1")["supports"] > 38 and outcomes(rows, "ARE-1")["contradicts"] > 0,
    "ARE-2": lambda rows: outcomes(rows, "ARE-2")["supports"] > 34 and outcomes(rows, "ARE-2")["contradicts"] > 0,
    "ARE-4": lambda rows: (
        rows.under("ARE-4", HOLDS) == ["narrow jobs first (DPSAn)"] and outcomes(rows, "ARE-4", "DPSAp")["open"] > 38
    ),
}


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_conclusions_say_what_the_rows_say_and_do_not_stand_if_these_say_the_opposite(paper):
    for conclusion, claim in getattr(papers, paper).PAPER.findings:
        assert CONCLUSIONS[claim](Rows(ledger(paper))), conclusion
        assert not CONCLUSIONS[claim](Rows(changed(paper, ALL_OPPOSITE))), conclusion
