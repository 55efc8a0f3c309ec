"""The README and the guide: short enough, and every block of code runs."""

import contextlib
import inspect
import io
import re
import shlex
import sys
import types
from pathlib import Path

import pytest

import schedlab as sl
from schedlab import cli, papers

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, ROOT / "notebooks/site/start.md", *sorted((ROOT / "notebooks/site/guide").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)  # cells that the site runs begin with a brace
COMMANDS = ("schedlab ", ".venv/bin/schedlab ")


def blocks(page, *kinds):
    return [code for kind, code in BLOCK.findall(page.read_text("utf-8")) if kind in kinds]


def by_name(page):
    return page.name if page == README else page.stem


def test_the_readme_is_short():
    text = README.read_text("utf-8")
    assert len(text.splitlines()) <= 120
    assert (
        len(re.findall(r"[\w'-]+", BLOCK.sub("", re.sub(r"\(\S+\)|^\|.*$|!\[[^\]]*\]", "", text, flags=re.M)))) <= 600
    )
    assert text.index("```python") < 1_500


@pytest.mark.traces
def test_the_readme_shows_what_its_code_gives():
    (code,), (shown,) = blocks(README, "python"), blocks(README, "text")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(code, {})
    assert said.getvalue() == shown


@pytest.fixture
def jobqueue(monkeypatch):
    """Let a cluster of Slurm be one on this machine."""
    distributed, begun = pytest.importorskip("distributed"), []

    def begin(**_):
        begun.append(distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None))
        begun[-1].scale = lambda _: None
        return begun[-1]

    module = types.ModuleType("dask_jobqueue")
    module.SLURMCluster = begin
    monkeypatch.setitem(sys.modules, "dask_jobqueue", module)
    yield
    for cluster in begun:
        cluster.close()


@pytest.mark.traces
@pytest.mark.usefixtures("jobqueue")
@pytest.mark.parametrize("page", [page for page in PAGES[1:] if blocks(page, "python")], ids=by_name)
def test_the_code_of_the_guide_runs(page, tmp_path, monkeypatch):
    """In the order of the page, on few jobs of each log and with few seeds."""
    load = sl.load_trace
    monkeypatch.setattr(sl, "load_trace", lambda name, **_: load(name, or_standin=True).head(200))
    for name in ("figure3", "claims"):  # which take long at full size
        monkeypatch.setattr(papers.grudenic2010, name, inspect.signature(getattr(papers.grudenic2010, name)).bind)
    monkeypatch.setattr(sl.charts, "setup", lambda: None)  # of the whole process
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "guide"}
    cells = re.findall(r"^```(?:python|\{code-cell\} ipython3)\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    for number, code in enumerate(cells):
        few = re.sub(r"range\(\d+\)", "range(2)", code)
        exec(compile(few, f"{page.name}, block {number}", "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_the_commands_are_ones_that_there_are(page):
    lines = [line for code in blocks(page, "") for line in code.splitlines() if line.startswith(COMMANDS)]
    for line in lines:
        _, *words = shlex.split(line.replace("$SLURM_ARRAY_TASK_ID", "3"), comments=True)
        cli._parser().parse_args(words)


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_each_make_is_a_target(page):
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.M)
    named = re.findall(r"\bmake ([a-z-]+)\b", "\n".join(blocks(page, "")))
    assert set(named) <= set(targets)
