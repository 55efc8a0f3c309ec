"""What was kept agrees with itself: figures, rows of the ledgers, their reasons, and conclusions."""

from functools import cache

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
    """Return the checks again, of what figures show: all but those of classes where all jobs scale alike."""
    system, random = numbers("sabin2006", "figure7", "figure8"), numbers("sabin2006", "figure9", "figure10")
    alike = numbers("sabin2006", "overbooking")
    alike = alike.assign(sigma=[f"sigma {float(sigma):g}" for sigma in alike["sigma"]])
    scenarios = zip((system, random, alike), (grids.SYSTEM, grids.RANDOM, grids.SYSTEM), strict=True)
    runs = [data.assign(scenario=scenario, seed=data["draw"]) for data, scenario in scenarios]
    checks = {f"SAB-{name}": several for name, several in sabin_ledger._expected(*runs).items()}
    whys = {name: sabin_ledger.region(main) for name, (main, *_) in checks.items()}
    return [(name, check, whys[name]) for name, several in checks.items() for check in several if len(check.cases)]


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
    data = numbers("pascual2008", "figure3", "figure5")
    names = {title: name for title in data["trace"].unique() for name in pascual2008.TREES if title.startswith(name)}
    data["trace"] = data["trace"].map(names)
    found = []
    for name, (check, logs, *_) in pascual2008.CHECKS.items():
        if logs is not pascual2008.LOGS:  # the others are on logs that these figures do not show
            part = data[data["trace"].isin(logs)]
            found += [(name, check(part, ("FCFS", policy)), "") for policy in pascual2008.BACKFILLING]
    return found


def of_lelong():
    data = numbers("lelong2017", "bounds")
    limited = data[data["hours"] == lelong2017.BOUND].assign(pair="")
    return [("LEL-3", lelong2017.checks_of(limited, limited)["LEL-3"], "")]


def of_arena():
    found = []
    for name, check in arena.tested(numbers("arena", "winners")).items():
        several = list(check.values()) if isinstance(check, dict) else [check]
        found += [(name, each, arena.where_not(several[0])) for each in several]
    return found


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


@pytest.mark.parametrize("paper", AGAIN)
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


@pytest.mark.parametrize("paper", AGAIN)
def test_reasons_say_what_the_figures_show(paper):
    for name, _, why in again(paper):
        row = row_of(paper, name)
        if row["verdict"] not in ("reproduced", "cannot be tested"):
            assert why in row["reason"], name
