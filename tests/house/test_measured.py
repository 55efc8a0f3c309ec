"""Numbers in README, guide and about are those that scripts wrote, and none is older than the kernels."""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from schedlab import papers
from schedlab.contest.entrants import ENTRANTS
from schedlab.papers import kept
from schedlab.show.ledgers import counted
from schedlab.testing import conformance

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/benchmarks"))
MEASURED = json.loads((ROOT / "data/measured.json").read_text("utf-8"))["parts"]
FIVE = ("sabin2006", "silva2000", "kurian2003", "grudenic2010", "pascual2008")
ABOUT = "notebooks/site/about.md"
PAPERS = "notebooks/site/papers.md"
INSTALL = "notebooks/site/guide/install.md"
README = "README.md"
# What stands in a page, with the names of the numbers.
SENTENCES = {
    ABOUT: [
        "EASY backfilling of the 77,205 jobs of the CTC SP2 takes {ctc_easy}.",
        "has {probes} small logs that each isolate one such choice",
        "| schedlab | compiled kernels behind Python; no model of the network | {kth_5000} |",
        "a million processors ({long_text} of text) are read in {long_read} with {long_memory} times the memory",
        "EASY takes {long_easy}",
        "Of {claims} claims, {claims_reproduced} are reproduced, {claims_in_part} in part, ",
        "{claims_not_reproduced} are not, {claims_undecided} are undecided, and {claims_cannot_be_tested} cannot be",
        *(f"{{{name}}}" for name in FIVE),
        "{entrants} schemes on fifteen logs",
        "which takes {compile} s of processor time for all",
    ],
    PAPERS: [
        "Of {claims} claims, {claims_reproduced} are reproduced, {claims_in_part} in part, ",
        "{claims_not_reproduced} are not, {claims_undecided} are undecided, and {claims_cannot_be_tested} cannot be",
    ],
    INSTALL: [
        "nothing compiled: first figure / all | {first_figure_empty} / {figures_empty} |",
        "the same with compiled kernels | {first_figure_compiled} / {figures_compiled} |",
        "compiling all kernels (processor time) | {compile} |",
        "a notebook from start to end, without a browser | {notebooks} |",
        "a Python process up to its first chart | {first_chart} |",
        "SDSC-SP2 / CTC / HPC2N | {conservative_sdsc} / {conservative_ctc} / {conservative_hpc2n} |",
        "5,000 jobs / whole CTC log | {iterative_5000} / {iterative_ctc} |",
        "HPC2N / SDSC-BLUE | {tree_hpc2n} / {tree_blue} |",
        "job shredding, 5,000 jobs | {shredding} |",
        "({long_text} of text), reading takes {long_read} and at most {long_memory} times the memory",
        "EASY takes {long_easy}, the measures {long_metrics}",
    ],
}


def numbers():
    values = {name: value for part in MEASURED.values() for name, value in part["values"].items()}
    verdicts = Counter()
    for name, paper in zip(FIVE, papers.modules(FIVE), strict=True):
        verdicts.update(counted(kept.ledger_of(name)))
        values[name] = ". ".join(text for text, _ in paper.PAPER.findings) + "."
    values |= {f"claims_{verdict.replace(' ', '_')}": count for verdict, count in verdicts.items()}
    counts = {"claims": verdicts.total(), "probes": len(list(conformance.probes())), "entrants": len(ENTRANTS)}
    return values | counts


@pytest.mark.parametrize(
    ("page", "sentence"), [(page, sentence) for page, several in SENTENCES.items() for sentence in several]
)
def test_a_page_has_the_measured_numbers(page, sentence):
    assert sentence.format(**numbers()) in (ROOT / page).read_text("utf-8"), sentence


@pytest.mark.parametrize("page", [README, ABOUT])
def test_a_page_has_the_measured_table(page):
    assert "\n".join(MEASURED["readme"]["values"]["readme"]) in (ROOT / page).read_text("utf-8")


@pytest.mark.parametrize("part", MEASURED)
def test_no_number_is_older_than_the_kernels(part):
    from measured import digests

    now, then = digests(), MEASURED[part]["kernels"]
    changed = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
    assert changed == [], f"measure again: python tests/benchmarks/measured.py --only {part}"
    assert len(then) > 20


def test_a_changed_kernel_is_noticed(monkeypatch):
    import measured

    monkeypatch.setattr(measured, "kernel_digest", lambda name: "other" if name.endswith(".easy") else "same")
    assert measured.digests()["easy"] == "other"


def test_all_parts_are_measured():
    from measured import PARTS

    assert MEASURED.keys() == PARTS.keys()
