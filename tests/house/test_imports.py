"""The structure of the package: which room may import which, the cost of a bare import, and the top-level modules."""

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import processes
import pytest

import schedlab as sl
from schedlab._runtime.imports import deferred
from schedlab.schemes import classes

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "schedlab"

# From bottom to top: a room imports from itself and from the rooms before it. A module with a place of its own stands
# apart from the rest of its room: users find it there, but it needs what is above.
ROOMS = (
    *("_runtime", "show", "kernels", "workload", "machine", "schemes", "schedule", "gang", "experiment", "charts"),
    *("testing", "web", "show.widgets", "contest", "papers", "contest.study", "show.report", "_runtime.precompile"),
    "cli",
)
KERNELS_IMPORT = {"gc", "numpy", "numba", "llvmlite", "math", "typing", "hashlib", "pathlib", "contextlib", "threading"}
KERNELS_KNOW = {("kernels._jit", f"_runtime.{name}") for name in ("paths", "compiling")}
KERNELS_KNOW |= {("kernels._compiler", "_runtime.imports")}
WHEN_SHOWN = {("schedule.why", "charts")}  # a result that draws itself imports charts only then
WORKLOAD_IMPORTS = {"numpy", "pandas"}
COMPILING = {"schemes", "_runtime", "testing", "web"}  # users' policies; `_runtime` hears of compiled kernels
DOWNLOADING = {"pooch", "requests", "tqdm"}
PARQUET = {"pyarrow"}  # of the extra "parquet"
STORING = {"experiment"}  # results, as Parquet
DRAWING = {"papers", "contest.study", "show.report"}
ALTAIR = "charts._altair"  # where rooms that draw take it from, so that it loads fast
LIVE = {"anywidget", "ipywidgets", "traitlets"}  # of the extra "lab"; the rest of the package does without
ELSEWHERE = {"jupyterlab", "distributed", "dask", "dask_jobqueue"} | PARQUET  # of extras, used by others
# Imported here, installed as a requirement of a dependency.
COMES_WITH = {"cloudpickle": "joblib", "llvmlite": "numba", "requests": "pooch"}
COMES_WITH |= dict.fromkeys(("traitlets", "IPython"), "ipywidgets")
IMPORT_NAMES = {"vl-convert-python": "vl_convert", "rich-argparse": "rich_argparse"}

TOP = {
    *("notebooks", "schedlab", "data", "tests", "environment.yml", "README.md", "pyproject.toml", "requirements.lock"),
    *("Makefile", "LICENSE", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md", ".ci", ".gitignore"),
}


def room_of(module):
    """Return the room of a module, by its name within the package: "workload.swf" -> "workload"."""
    places = [module.rsplit(".", cut)[0] for cut in range(module.count(".") + 1)]
    return next((place for place in places if place in ROOMS), places[-1])


@cache
def imported(text, module, is_package=False):
    """Return what the source of a module ("" for the package) imports: our modules, and other packages, by name."""
    rooms, outside = set(), set()
    here = ["schedlab", *filter(None, module.split("."))]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + is_package] if node.level else []
            base = ".".join([*base, *filter(None, [node.module])])
            # What is taken from the package itself is a room, or a name that a room is home to.
            names = [f"schedlab.{alias.name}" for alias in node.names] if base == "schedlab" else [base]
        else:
            continue
        for name in names:
            package, _, rest = name.partition(".")
            if package == "schedlab":
                rooms |= at_home(rest)
            else:
                outside.add(package)
    return rooms, outside


def at_home(name):
    """Return the modules that a name of the package reaches; the bare package reaches all that it offers."""
    if not name or name == "*":
        return {home_of(offered) for offered in sl.__all__}
    if name == "__version__":
        return set()
    return {home_of(name)}


def home_of(name):
    """Return the module that a name of the package comes from; schemes register themselves."""
    return "schemes" if name in classes() else sl._HOME.get(name) or sl._ROOMS.get(name, name)


def sources():
    """Return (module, is_package, source) of each file of the package, by module names within it."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        yield ".".join(parts[:-1] if is_package else parts), is_package, path.read_text(encoding="utf-8")


def faults(module, is_package, text):
    """Say what is wrong with the imports of one module."""
    room = room_of(module)
    rooms, outside = imported(text, module, is_package)
    if not module:
        return [f"a bare import imports {name}" for name in sorted(rooms | outside - {"importlib"})]
    if room not in ROOMS:
        return [f"{room} is a new room: give it a place in ROOMS, here, and in CONTRIBUTING.md"]
    found = []
    for target in sorted(rooms):
        if room_of(target) not in ROOMS:
            found.append(f"{module} imports {target}, which has no place in ROOMS")
        elif ROOMS.index(room_of(target)) > ROOMS.index(room) and (module, target) not in WHEN_SHOWN:
            found.append(f"{module} imports {target}: {room_of(target)} stands above {room}")
        elif room == "kernels" and room_of(target) != room and (module, target) not in KERNELS_KNOW:
            found.append(f"{module} imports {target}: kernels know nothing but each other")
    found += [f"{module} imports {name}" for name in sorted(outside) if not welcome(name, module)]
    return found


def welcome(name, module):
    """Tell whether a module may import a package from outside."""
    room = room_of(module)
    if room == "kernels":
        return name in KERNELS_IMPORT
    if name in sys.stdlib_module_names:
        return True
    if room == "workload":
        by_module = {"workload.archive": DOWNLOADING}
        by_module |= dict.fromkeys(("workload.frames", "workload.packed", "workload.writing"), PARQUET)
        return name in WORKLOAD_IMPORTS | by_module.get(module, set())
    if name == "numba":
        return room in COMPILING
    if name in LIVE:
        return room == "show.widgets"
    if name in PARQUET and room in STORING:
        return True
    if name in ELSEWHERE:
        return False
    if name == "IPython":
        return module in ("papers.notebook", "show.page")  # as results show themselves there
    return name != "altair" or module == ALTAIR or room in DRAWING


@pytest.mark.parametrize(
    ("module", "is_package", "text"), [pytest.param(*source, id=source[0] or "schedlab") for source in sources()]
)
def test_no_arrow_turns_round(module, is_package, text):
    assert faults(module, is_package, text) == []


def test_the_guide_has_a_row_for_each_room():
    house = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## The house")[2].partition("\n- ")[0]
    assert sorted(re.findall(r"^\| `([\w.]+)` \|", house, re.MULTILINE)) == sorted(ROOMS)


@pytest.mark.parametrize(
    ("module", "text", "fault"),
    [
        ("workload.swf", "from schedlab.schemes import EASY", "schemes stands above workload"),
        ("workload.models.jann", "def f():\n    from ...schedule import simulation", "schedule stands above"),
        ("workload.trace", "from .. import machine", "machine stands above workload"),
        ("machine", "from . import metrics, workload", "schedule stands above machine"),
        ("schemes", "from schedlab import simulate", "schedule stands above schemes"),
        ("show.widgets", "from schedlab import papers", "papers stands above show.widgets"),
        ("schemes.base", "import schedlab.schedule", "schedule stands above schemes"),
        ("kernels.easy", "from schedlab._runtime.paths import cache_dir", "nothing but each other"),
        ("kernels.easy", "import pandas", "imports pandas"),
        ("kernels.easy", "import os", "imports os"),
        ("workload.swf", "import pooch", "imports pooch"),
        ("workload.trace", "import pyarrow", "imports pyarrow"),
        ("schedule.metrics", "from numba import njit", "imports numba"),
        ("schedule", "import altair as alt", "imports altair"),
        ("charts.series", "import altair as alt", "imports altair"),
        ("show.widgets", "from altair.utils.schemapi import debug_mode", "imports altair"),
        ("charts.theme", "import ipywidgets", "imports ipywidgets"),
        ("show.widgets", "import jupyterlab", "imports jupyterlab"),
        ("experiment", "from distributed import Client", "imports distributed"),
        ("planning", "", "is a new room"),
        ("gang.laws", "from ..experiment import grid", "experiment stands above gang"),
        ("schedule.base", "from schedlab.gang import GangSchedule", "gang stands above schedule"),
        ("cli", "from .planning import plan", "no place in ROOMS"),
    ],
)
def test_a_wrong_import_is_seen(module, text, fault):
    (found,) = faults(module, False, text)
    assert fault in found


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("kernels._jit", "import numba\nfrom schedlab._runtime.paths import cache_dir"),
        ("workload.archive", "import pooch\nfrom tqdm.auto import tqdm\nfrom schedlab._runtime import paths"),
        ("papers.tsafrir2005", "import schedlab as sl\nimport altair as alt\nfrom . import ledger"),
        ("cli", "from schedlab import __version__, simulate\nfrom .. import papers, show"),
    ],
)
def test_a_right_import_is_let_through(module, text):
    assert faults(module, False, text) == []


def test_what_is_imported_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    declared = project["dependencies"] + extras["lab"] + extras["parquet"]
    names = {line.split("[")[0].split(">")[0].split("=")[0].split("<")[0].strip() for line in declared}
    names = {IMPORT_NAMES.get(name, name) for name in names}
    outside = set().union(*(imported(text, module, is_package)[1] for module, is_package, text in sources()))
    missing = {COMES_WITH.get(name, name) for name in outside - sys.stdlib_module_names} - names
    assert missing == set()


IMPORT_AND_REPORT = """
import sys
opened, connected = [], []
def watch(event, arguments):
    if event == "open":
        opened.append(str(arguments[0]))
    if event.startswith("socket."):
        connected.append(event)
before = set(sys.modules)
sys.addaudithook(watch)
import schedlab
new = {name for name in set(sys.modules) - before if name.partition(".")[0] not in sys.stdlib_module_names}
assert new == {"schedlab"}, new
assert all(path.endswith((".py", ".pyc")) for path in opened), opened
assert not connected, connected
"""


def test_importing_the_package_does_no_work():
    command = [sys.executable, "-B", "-c", IMPORT_AND_REPORT]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def run(code):
    """Run Python code in a process and return what it prints."""
    return processes.run(code, cwd=ROOT)


def test_simulating_loads_nothing_that_draws():
    code = """
import sys
import schedlab as sl
schedule = sl.simulate(sl.model_trace("lublin", jobs=50, machine=64), "easy").validate()
schedule.metrics(by="kurian"), sl.papers.PAPERS
print(*({name.partition(".")[0] for name in sys.modules}))
"""
    assert not {"altair", "jsonschema", "IPython", "ipywidgets", "anywidget", "vl_convert", "joblib"} & {
        *run(code).split()
    }


@pytest.mark.parametrize("room", ["charts", "widgets"])
def test_drawing_does_not_build_the_parser_of_web_addresses(room):
    pytest.importorskip("rfc3987_syntax")
    code = f"""
import sys
import schedlab as sl
sl.{room}
assert "altair" in sys.modules and "rfc3987_syntax" not in sys.modules
"""
    assert run(code) == ""  # what fails in there fails here


def test_jsonschema_works_as_if_its_parser_had_not_been_deferred():
    pytest.importorskip("rfc3987_syntax")
    code = """
import schedlab as sl
sl.charts
from jsonschema import Draft7Validator
checker = Draft7Validator.FORMAT_CHECKER
assert checker.conforms("http://example.org/ä", "iri") and not checker.conforms("no iri", "iri")
assert checker.conforms("../ä", "iri-reference") and not checker.conforms("\\\\", "iri-reference")
import rfc3987_syntax
assert rfc3987_syntax.RFC3987_SYNTAX_TERMS and rfc3987_syntax.is_valid_syntax("iri", "a:b")
"""
    assert run(code) == ""


def test_what_is_deferred_loads_when_anything_else_of_it_is_asked_for(monkeypatch, tmp_path):
    (tmp_path / "heavy.py").write_text("other = 7\ndef answer(x):\n    return x + 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    with deferred("heavy", "answer"):
        from heavy import answer

        assert "other" not in vars(sys.modules["heavy"])
    assert "heavy" not in sys.modules
    assert answer(1) == 2
    assert sys.modules.pop("heavy").other == 7
    with deferred("heavy", "answer"):
        from heavy import other
    assert other == 7
    with deferred("heavy", "answer"):
        assert sys.modules.pop("heavy").answer(2) == 3  # it was loaded: nothing is deferred
    with deferred("no_such_module", "answer"):
        assert find_spec("no_such_module") is None


@pytest.mark.parametrize("name", sl.__all__)
def test_every_name_leads_somewhere(name):
    # Importing a module plants its name in the package, and so would hide a function of the same name.
    home = import_module(f"schedlab.{home_of(name)}")
    assert getattr(sl, name) is (home if name in sl._ROOMS else getattr(home, name))


def test_the_top_level_holds_what_it_may():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode or not listed.stdout:
        pytest.skip("needs a git checkout")
    assert {Path(line).parts[0] for line in listed.stdout.splitlines()} - TOP == set()
