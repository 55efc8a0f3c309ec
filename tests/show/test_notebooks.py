"""Every notebook is committed without outputs and runs from top to bottom in a fresh kernel."""

import os
import re
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from conftest import logs_at_hand
from nbclient import NotebookClient

from schedlab import papers
from schedlab.papers import kept
from schedlab.show.ledgers import VERDICTS

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
CHART = "application/vnd.vegalite.v5+json"

WITHOUT_NOTEBOOK = ("base", "lelong2017")
AUTHORS = {paper.rstrip("0123456789"): paper for paper in papers.PAPERS if paper not in WITHOUT_NOTEBOOK}
PAPERS = {path.stem: AUTHORS[end] for path in NOTEBOOKS if (end := path.stem.rpartition("-")[2]) in AUTHORS}
# The cell that the test appends. It uses the ledger of the notebook, since making it again takes as long.
SAVE = """
from schedlab.papers import Card
from schedlab.show.ledgers import Ledger
cards = [each for shown in Out.values() for each in getattr(shown, "cards", [shown]) if isinstance(each, Card)]
assert cards and not [(card, card.off) for card in cards if card.off]
(ledger,) = (shown for shown in Out.values() if isinstance(shown, Ledger))
ledger.to_pickle({path!r})
"""

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@every_notebook
def test_is_committed_without_outputs_and_with_controls_in_words(path):
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    assert "widgets" not in notebook.metadata
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)
            if "widgets.live(" in cell.source and "paper." not in cell.source:
                assert re.search(r"\blabels=", cell.source), cell.source  # those of the papers have them in docstrings


@every_notebook
def test_runs_and_draws_and_its_ledger_is_what_is_kept(path, tmp_path):
    notebook = nbformat.read(path, 4)
    saved, paper = tmp_path / "ledger.pickle", PAPERS.get(path.stem)
    if paper:
        notebook.cells.append(nbformat.v4.new_code_cell(SAVE.format(path=str(saved))))
    folder = {"metadata": {"path": str(path.parent)}}
    # A kernel that is asked to end waits for a second. It has nothing left to do, so end it at once.
    ended = {"shutdown_kernel": "immediate", "store_widget_state": False}
    one_thread = os.environ | {"LOKY_MAX_CPU_COUNT": "1"}  # others are tested beside it, and take the other cores
    NotebookClient(notebook, timeout=300, resources=folder, **ended).execute(env=one_thread)
    kinds = {kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})}
    assert CHART in kinds
    if paper and logs_at_hand():
        expected = kept.ledger_of(paper, kept.QUICK)
        assert expected is not None, f"nothing is kept: schedlab figures {paper} --size full --keep"
        moved = kept.moved(expected, pd.read_pickle(saved))
        assert not moved, "\n".join(moved)


every_paper = pytest.mark.parametrize(("notebook", "paper"), PAPERS.items(), ids=PAPERS)


def cells(notebook):
    (path,) = (path for path in NOTEBOOKS if path.stem == notebook)
    return nbformat.read(path, 4).cells


def prose(notebook):
    return "\n".join(cell.source for cell in cells(notebook) if cell.cell_type == "markdown")


def test_each_of_the_five_papers_has_its_notebook_and_so_has_the_arena():
    assert len(PAPERS) == len(set(PAPERS.values())) == 6
    assert {*papers.PAPERS} == {*PAPERS.values(), *WITHOUT_NOTEBOOK}  # whose ledgers test_ledger.py looks at


@every_paper
def test_a_notebook_of_a_paper_says_how_to_get_the_full_size_and_ends_with_what_was_found(notebook, paper):
    assert re.search(r'`paper\.\w+\("full"\)`', prose(notebook))
    head, last = cells(notebook)[-2:]
    assert head.source == "## What we found"
    assert (last.cell_type, last.source) == ("code", "sl.papers.Findings(paper)")  # test_findings.py looks at these


@every_paper
def test_prose_names_claims_and_verdicts_of_the_kept_ledger_only(notebook, paper):
    words = prose(notebook)
    verdicts = kept.ledger_of(paper).groupby("id")["verdict"].agg(set)
    for claim, verdict in re.findall(rf"\b([A-Z]{{3}}-\w+(?: \(\w+\))?): ({'|'.join(VERDICTS)})", words):
        assert verdict in verdicts[claim], claim
    named = set(re.findall(rf"\b{verdicts.index[0][:3]}-[0-9T]\w*\b", words))
    assert named <= {claim.partition(" (")[0] for claim in verdicts.index}
