"""The README and the guide: short enough, and every block of code runs."""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import schedlab as sl
from schedlab.cli.parsing import parse

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [README, ROOT / "notebooks/site/start.md", *sorted((ROOT / "notebooks/site/guide").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)  # cells that the site runs begin with a brace
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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


# Before the code of a page, in a process of its own: few jobs of each log, one machine for Slurm's, no full size.
BEFORE = """
import inspect, sys, types
import schedlab as sl
from distributed import LocalCluster
from schedlab.papers import grudenic2010

load = sl.load_trace
sl.load_trace = lambda name, **_: load(name, or_standin=True).head(200)
for name in ("figure3", "claims"):
    setattr(grudenic2010, name, inspect.signature(getattr(grudenic2010, name)).bind)
queue = sys.modules["dask_jobqueue"] = types.ModuleType("dask_jobqueue")
queue.SLURMCluster = lambda **_: LocalCluster(n_workers=1, processes=False, dashboard_address=None)
LocalCluster.scale = lambda *_: None
"""


@pytest.mark.traces
@pytest.mark.parametrize("page", [page for page in PAGES[1:] if blocks(page, "python")], ids=by_name)
def test_the_code_of_the_guide_runs(page, tmp_path):
    pytest.importorskip("distributed")
    cells = re.findall(r"^```(?:python|\{code-cell\} ipython3)\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    code = re.sub(r"range\(\d+\)", "range(2)", BEFORE + "\n".join(cells))
    done = subprocess.run([sys.executable, "-"], input=code, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr


def recipes():
    """Return the title and the code of each task of the cookbook."""
    text = (ROOT / "notebooks/site/guide/questions.md").read_text("utf-8").partition("\n## Cookbook\n")[2]
    parts = [part.partition("\n") for part in text.split("\n### ")[1:]]
    return [(title, *CELL.findall(part)) for title, _, part in parts]


def test_the_cookbook_has_one_short_block_for_each_task():
    lines = {title: [line for line in code.splitlines() if line] for title, code in recipes()}
    assert len(lines) == 15
    assert {title: len(code) for title, code in lines.items() if not 2 <= len(code) <= 6} == {}


@pytest.mark.parametrize(("title", "code"), recipes())
def test_each_block_of_the_cookbook_works_alone(title, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"sl": sl}
    exec(compile(code, title, "exec"), names)
    assert names.keys() - {"sl", "__builtins__"}  # it makes something


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_the_commands_are_ones_that_there_are(page):
    lines = [line for code in blocks(page, "") for line in code.splitlines() if line.startswith(COMMANDS)]
    assert [line for line in lines if not is_a_command(line)] == []


def is_a_command(line):
    _, *words = shlex.split(line.partition(" | ")[0].replace("$SLURM_ARRAY_TASK_ID", "3"), comments=True)
    try:
        return parse(words) is not None
    except SystemExit:
        return False


@pytest.mark.parametrize("line", ["schedlab simulat x.swf", "schedlab traces --fetsh KTH", "schedlab show"])
def test_a_command_that_there_is_not_is_found(line):
    assert not is_a_command(line)


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_each_make_is_a_target(page):
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.M)
    named = re.findall(r"\bmake ([a-z-]+)\b", "\n".join(blocks(page, "")))
    assert set(named) <= set(targets)
