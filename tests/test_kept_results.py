"""What was kept agrees with itself: figures, rows of the ledgers, their reasons, and conclusions."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from schedlab import kept
from schedlab.papers import arena, kurian2003, lelong2017, pascual2008, silva2000
from schedlab.papers.sabin2006 import grids
from schedlab.papers.sabin2006 import ledger as sabin_ledger


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
    data = numbers("silva2000", *(f"figure{number}" for number in silva2000.RATIO_FIGURES))
    checks, whys = silva2000.checks(data), silva2000.reasons_for(data)
    return [(name, check, whys.get(name, "")) for name, check in checks.items()]


def of_kurian():
    single = numbers("kurian2003", *(f"figure{number}" for number in range(4, 18)))
    sites = numbers("kurian2003", *(f"figure{number}" for number in range(18, 24)))
    of = {scheme: single[single["scheme"] == scheme] for scheme in kurian2003.SCHEMES}
    drawn = kurian2003.AS_DRAWN
    tested = kurian2003._tested(
        {drawn: of[kurian2003.SHREDDING]}, of[kurian2003.FLOODING], {drawn: sites}, of[kurian2003.SHREDDING]
    )
    found = []
    for name, (check, more) in tested.items():
        if not name.startswith("KUR-12"):  # of users' estimates, which no figure shows
            found.append((name, check[drawn] if isinstance(check, dict) else check, more.get("why", "")))
    return found


def of_pascual():
    """Return the checks on what Figures 2, 3 and 5 show: at s = 0, and of the paper's logs by themselves."""
    unsped, several = numbers("pascual2008", "figure2"), numbers("pascual2008", "figure3", "figure5")
    titles = {title: name for title in unsped["trace"] for name in pascual2008.TREES if title.startswith(name)}
    unsped, several = (data.assign(trace=data["trace"].map(titles)) for data in (unsped, several))
    found = []
    for name, (check, logs, *why) in pascual2008.CHECKS.items():
        if name in ("PAS-1", "PAS-6a"):
            data = unsped
        elif logs is not pascual2008.LOGS:
            data = several[several["trace"].isin(logs)]
        else:
            continue
        free = unsped[unsped["trace"].isin(logs)].assign(allocation=pascual2008.ANYWHERE)
        free[pascual2008.WAIT] = free["free_minutes"]
        words = pascual2008._free_waits(free) if pascual2008._free_waits in why else ""
        found += [(name, check(data, ("FCFS", policy)), words) for policy in pascual2008.BACKFILLING]
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
AGAIN = {
    "sabin2006": of_sabin,
    "silva2000": of_silva,
    "kurian2003": of_kurian,
    "pascual2008": of_pascual,
    "lelong2017": of_lelong,
    "arena": of_arena,
}


@cache
def again(paper):
    return AGAIN[paper]()


def row_of(paper, name):
    (row,) = kept.ledger_of(paper).query("id == @name").to_dict("records")
    return row


# Its reason has the loads of the logs.
EACH = [pytest.param(name, marks=pytest.mark.traces) if name == "lelong2017" else name for name in AGAIN]


@pytest.mark.parametrize("paper", EACH)
def test_rows_say_what_the_figures_show(paper):
    for name, check, _ in again(paper):
        rows = row_of(paper, name)["cases"]
        for case in check.table().to_dict("records"):
            several = [row for row in rows if row["check"].startswith(check.quantity) and row["case"] == case["case"]]
            assert any(_same(row, case) for row in several), (name, case, several)


def _same(row, case):
    """Tell whether two cases have the same outcome and mean, to the digits that figures keep."""
    alike = row["outcome"] == case["outcome"] and row["expected"] == case["expected"]
    return alike and float(row["mean"] or "nan") == pytest.approx(case["mean"], rel=1e-6, abs=1e-5, nan_ok=True)


@pytest.mark.parametrize("paper", EACH)
def test_reasons_say_what_the_figures_show(paper):
    for name, _, why in again(paper):
        row = row_of(paper, name)
        if row["verdict"] not in ("reproduced", "cannot be tested"):
            assert why in row["reason"], name


def test_a_reason_that_says_something_else_is_found(monkeypatch):
    monkeypatch.setitem(globals(), "row_of", lambda paper, name: {"verdict": "in part", "reason": "Another."})
    with pytest.raises(AssertionError, match="ARE-2"):
        test_reasons_say_what_the_figures_show("arena")


@pytest.mark.parametrize("change", [{"outcome": "contradicts"}, {"mean": "1e9"}, {"case": "none"}, {"expected": "is"}])
def test_a_row_that_says_something_else_is_found(monkeypatch, change):
    def other(paper, name, row_of=row_of):
        row = row_of(paper, name)
        return row | {"cases": [case | change for case in row["cases"]]}

    monkeypatch.setitem(globals(), "row_of", other)
    with pytest.raises(AssertionError, match="ARE-1"):
        test_rows_say_what_the_figures_show("arena")
