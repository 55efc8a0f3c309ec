"""The five sentences on each paper follow from what is kept, and cannot outlive it."""

import re
from functools import cache

import pandas as pd
import pytest

from schedlab import papers
from schedlab.papers import kept, sentences
from schedlab.papers.findings import STALE, Findings, Rows, gains, part, percent, times

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


def found(paper, change=None, claim=None):
    """Return the findings on a paper, from its kept ledger or from one in which rows (of a claim) are changed."""
    table = ledger(paper).copy()
    chosen = table["id"].eq(claim) if claim else table["id"].notna()
    for name, each in (change or {}).items():
        table[name] = table[name].where(~chosen, table[name].map(each))
    return Findings(getattr(papers, paper), table)


def means(factor):
    return {"cases": lambda cases: [case | {"mean": str(factor * float(case["mean"] or "nan"))} for case in cases]}


OPPOSITE = {
    "supports": "contradicts",
    "contradicts": "supports",
    "open": "supports",
    "holds": "fails",
    "fails": "holds",
}


def opposite(case):
    """Turn a case into one far on the other side."""
    mean = "-200" if float(case["mean"] or 0) >= 0 else "200"
    return case | {"outcome": OPPOSITE.get(case["outcome"], ""), "mean": mean}


ALL_OPPOSITE = {
    "cases": lambda cases: [opposite(case) for case in cases],
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
            cells = {str(len(Rows(ledger(paper)).cases(claim))) for claim in each.claims}
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
