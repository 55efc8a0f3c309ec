"""Every notebook is committed without outputs and runs from top to bottom in a fresh kernel."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
CHART = "application/vnd.vegalite.v5+json"

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@every_notebook
def test_is_committed_without_outputs(path):
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    assert "widgets" not in notebook.metadata
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)


@every_notebook
def test_runs_and_draws(path):
    notebook = nbformat.read(path, 4)
    folder = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=300, store_widget_state=False, resources=folder).execute()
    kinds = {kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})}
    assert CHART in kinds


@every_notebook
def test_controls_of_live_figures_are_in_words(path):
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "code" and "widgets.live(" in cell.source:
            assert re.search(r"\blabels=", cell.source), cell.source


@pytest.mark.parametrize("number", ["03", "04", "05", "06"])
def test_a_notebook_of_a_paper_says_how_to_get_the_full_size(number):
    (path,) = (path for path in NOTEBOOKS if path.stem.startswith(number))
    prose = "\n".join(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")
    assert re.search(r'`paper\.\w+\("full"\)`', prose)
