"""What was kept agrees with itself: figures, rows of the ledgers, their reasons, and conclusions."""

import re
from collections import Counter
from functools import cache
from itertools import groupby
from operator import itemgetter

import numpy as np
import pandas as pd
import pytest

from schedlab import papers
from schedlab.contest import study as arena
from schedlab.papers import kept, kurian2003, lelong2017, pascual2008, silva2000
from schedlab.papers.checks import NAMED
from schedlab.papers.sabin2006 import grids
from schedlab.papers.sabin2006 import ledger as sabin_ledger

TOGETHER = "all cases together"


def numbers(paper, *figures):
    """Return the kept numbers of several figures, each row once."""
    return pd.concat([kept.numbers_of(paper, figure) for figure in figures]).drop_duplicates(ignore_index=True)


def of_sabin():
    system, random = numbers("sabin2006", "figure7", "figure8"), numbers("sabin2006", "figure9", "figure10")
    alike = numbers("sabin2006", "overbooking")
    alike = alike.assign(sigma=[f"sigma {float(sigma):g}" for sigma in alike["sigma"]])
    scenarios = zip((system, random, alike), (grids.SYSTEM, grids.RANDOM, grids.SYSTEM), strict=True)
    runs = [data.assign(scenario=scenario, seed=data["draw"]) for data, scenario in scenarios]
    classes = sabin_ledger.classes_of(*runs)
    checks = sabin_ledger._expected(*runs)
    found = []
    for name, several in checks.items():
        why = " ".join(filter(None, (sabin_ledger.region(several[0]), classes.get(name))))
        found += [(f"SAB-{name}", check, why) for check in several]
    return found


def of_silva():
    data = numbers("silva2000", *(f"figure{number}" for number in silva2000.figures.RATIO_FIGURES))
    checks, whys = silva2000.ledger.checks(data), silva2000.ledger.reasons_for(data)
    return [(name, check, whys.get(name, "")) for name, check in checks.items()]


def of_kurian():
    single = numbers("kurian2003", *(f"figure{number}" for number in range(4, 18)))
    sites = numbers("kurian2003", *(f"figure{number}" for number in range(18, 24)))
    drawn = kurian2003.figures.AS_DRAWN
    schemes = kurian2003.grids.SHREDDING, kurian2003.grids.FLOODING
    one, flooding = ({drawn: single[single["scheme"] == scheme]} for scheme in schemes)
    tested = kurian2003.ledger._tested(one, flooding, {drawn: sites}, one)
    shown = {name: each for name, each in tested.items() if not name.startswith("KUR-12")}  # of users' estimates
    return [(name, check[drawn], more.get("why", "")) for name, (check, more) in shown.items()]


def of_pascual():
    """Return the checks on what Figures 2, 3 and 5 show: at s = 0, and of the paper's logs by themselves."""
    unsped, several = numbers("pascual2008", "figure2"), numbers("pascual2008", "figure3", "figure5")
    titles = {title: name for title in unsped["trace"] for name in pascual2008.grids.TREES if title.startswith(name)}
    unsped, several = (data.assign(trace=data["trace"].map(titles)) for data in (unsped, several))
    found = []
    for name, (check, logs, *why) in pascual2008.ledger.CHECKS.items():
        if name in ("PAS-1", "PAS-6a"):
            data = unsped
        elif logs is not pascual2008.LOGS:
            data = several[several["trace"].isin(logs)]
        else:
            continue
        sample = pascual2008.grids.SAMPLES["full"] if logs is pascual2008.LOGS else logs
        free = unsped[unsped["trace"].isin(sample)].assign(allocation=pascual2008.grids.ANYWHERE)
        free[pascual2008.grids.WAIT] = free["free_minutes"]
        words = pascual2008.ledger._free_waits(free) if pascual2008.ledger._free_waits in why else ""
        found += [(name, check(data, ("FCFS", policy)), words) for policy in pascual2008.grids.BACKFILLING]
    return found


def of_lelong():
    data = numbers("lelong2017", "bounds")
    tuned, limited = (data[data["hours"] == hours] for hours in (np.inf, lelong2017.BOUND))
    whys = {"LEL-1a": lelong2017.slower(tuned, None)}
    return [(name, check, whys.get(name, "")) for name, check in lelong2017.checks_of(tuned, limited).items()]


def of_arena():
    found = []
    for name, check in arena.tested(numbers("arena", "winners")).items():
        several = list(check.values()) if isinstance(check, dict) else [check]
        found += [(name, each, arena.where_not(several[0])) for each in several]
    return found


# Of each paper, what gives ids of claims, each with a check made again and the reason found again.
AGAIN = {"sabin2006": of_sabin, "silva2000": of_silva, "kurian2003": of_kurian, "pascual2008": of_pascual}
AGAIN |= {"lelong2017": of_lelong, "arena": of_arena}


@cache
def again(paper):
    return AGAIN[paper]()


def row_of(paper, name):
    (row,) = kept.ledger_of(paper).query("id == @name").to_dict("records")
    return row


# Its reason has the loads of the logs.
EACH_BY_NAME = {"lelong2017": pytest.param("lelong2017", marks=pytest.mark.traces)}
EACH = [EACH_BY_NAME.get(name, name) for name in AGAIN]


@pytest.mark.parametrize("paper", EACH)
def test_rows_say_what_the_figures_show(paper):
    for name, check, _ in again(paper):
        rows = row_of(paper, name)["conditions"]
        rows = [row for row in rows if row["check"].startswith(check.quantity)]
        for record in check.table().to_dict("records"):
            several = [row for row in rows if row["condition"] == record["condition"]]
            assert any(_same(row, record) for row in several), (name, record, several)


def _same(row, condition):
    """Tell whether two conditions have the same outcome and mean, to the digits that figures keep."""
    alike = row["outcome"] == condition["outcome"] and row["expected"] == condition["expected"]
    return alike and float(row["mean"] or "nan") == pytest.approx(condition["mean"], rel=1e-6, abs=1e-5, nan_ok=True)


@pytest.mark.parametrize("paper", EACH)
def test_reasons_say_what_the_figures_show(paper):
    for name, _, why in again(paper):
        row = row_of(paper, name)
        if row["verdict"] not in ("reproduced", "cannot be tested"):
            assert why in row["reason"], name


def told_by(conditions):
    """Write again, from the kept conditions of a check, what its reason says of them: patterns of its sentences."""
    *conditions, together = conditions if conditions[-1]["condition"] == TOGETHER else [*conditions, {"outcome": ""}]
    against = [one_that_contradicts(condition) for condition in conditions if condition["outcome"] == "contradicts"]
    n, counts = len(conditions), Counter(condition["outcome"] for condition in conditions)
    supports, contradicts, undecided = (counts[name] for name in ("supports", "contradicts", "open"))
    parts = [f"{supports} of {n} cases {'supports' if supports == 1 else 'support'} it"] if supports else []
    if contradicts:
        verb = "contradicts" if contradicts == 1 else "contradict"
        listed = rf" \({'; '.join(against)}\)" if contradicts <= NAMED else ""
        parts.append(f"{contradicts}{'' if supports else f' of {n} cases'} {verb} it{listed}")
    if undecided:
        parts.append(f"{undecided} {'is' if undecided == 1 else 'are'} open")
    sentences = [", ".join(parts)]
    if n == 1:
        sentences += [*(f"Measured {each}" for each in against), "What was measured contradicts it"]
        sentences += ["The interval allows both"] if undecided else []
    elif undecided == n:
        sentences += [f"The intervals of all {n} cases allow both"]
    more = {"fails": "contradicts it", "undecided": "is open"}
    if together["outcome"] in more:
        sentences.append(f"The effect over all cases {more[together['outcome']]}")
    return [rf"{sentence}\." for sentence in sentences]


def one_that_contradicts(condition):
    """Write down a condition: what was measured, what sets it apart, and by what factor it misses a number."""
    parts = "".join(rf"(?:{re.escape(part)}(?:, )?)?" for part in condition["condition"].split(", "))
    words = re.escape(condition["measured"]) + (rf"(?: \({parts}\))?")
    if not re.fullmatch(r"[-+]?[\d,.]+( \D+)?", condition["expected"]):  # a bound, or a range
        return words
    factor = float(condition["mean"]) / float(condition["expected"].split()[0].replace(",", ""))
    factors = {re.escape(f"{factor * more:.2g}") for more in (0.996, 1, 1.004)}  # the published number is rounded
    return rf"{words}, (?:{'|'.join(factors)}) times the published {re.escape(condition['expected'])}"


def unexplained(row, whys):
    """Return what is left of a reason without what its cases give, what was found again, and conjectures."""
    left = row["reason"].partition("Conjecture: ")[0]
    checks = groupby(row["conditions"], key=itemgetter("check"))
    checks = [(name, told_by([*conditions])) for name, conditions in checks]
    several = [(f"{re.escape(name)}: ", sentences) for name, sentences in checks]  # those of readings first
    for name, sentences in [*several, *(("", sentences) for _, sentences in several)]:
        for sentence in sentences:
            left = re.sub(name + sentence, "", left)
    for why in sorted(filter(None, whys), key=len, reverse=True):
        left = left.replace(why, "")
    return left.strip()


@pytest.mark.parametrize("paper", [EACH_BY_NAME.get(name, name) for name in papers.PAPERS])
def test_each_number_in_a_reason_is_found_again_and_a_wrong_one_is_not(paper):
    whys = [why for *_, why in again(paper)] if paper in AGAIN else []
    for row in kept.ledger_of(paper).query("verdict != 'cannot be tested'").to_dict("records"):
        left = unexplained(row, whys)
        assert not re.search(r"\d", left), (row["id"], left)
        reason = row["reason"].partition("Conjecture: ")[0]
        for digit in [*re.finditer(r"\d", reason)][::9]:
            wrong = f"{reason[: digit.start()]}{(int(digit[0]) + 5) % 10}{reason[digit.end() :]}"
            assert re.search(r"\d", unexplained(row | {"reason": wrong}, whys)), (row["id"], wrong)


def test_a_reason_that_says_something_else_is_found(monkeypatch):
    monkeypatch.setitem(globals(), "row_of", lambda paper, name: {"verdict": "in part", "reason": "Another."})
    with pytest.raises(AssertionError, match="ARE-2"):
        test_reasons_say_what_the_figures_show("arena")


@pytest.mark.parametrize("change", [{"outcome": "contradicts"}, {"mean": "1e9"}, {"condition": ""}, {"expected": "is"}])
def test_a_row_that_says_something_else_is_found(monkeypatch, change):
    def other(paper, name, row_of=row_of):
        row = row_of(paper, name)
        return row | {"conditions": [condition | change for condition in row["conditions"]]}

    monkeypatch.setitem(globals(), "row_of", other)
    with pytest.raises(AssertionError, match="ARE-1"):
        test_rows_say_what_the_figures_show("arena")
