"""The package as others install it: away from the checkout, and with its data."""

import os
import re
import zipfile
from pathlib import Path

import processes
import pytest

import schedlab as sl

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Build the wheel as pip would and unpack it, which is what installing it does; this needs no index."""
    wheels, target = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("site-packages")
    processes.run(f"from hatchling.build import build_wheel; build_wheel({str(wheels)!r})", cwd=ROOT)
    (wheel,) = wheels.iterdir()
    zipfile.ZipFile(wheel).extractall(target)
    return target


def elsewhere(installed):
    """Return the environment in which the installed package is the one that is found."""
    return {**os.environ, "PYTHONPATH": str(installed)}


def test_an_installed_package_finds_its_data_from_any_folder(installed, tmp_path):
    code = """
import schedlab as sl
from schedlab._runtime.paths import data_dir
assert (data_dir() / "archive.csv").is_file()
assert "CTC-SP2-1996-3.1-cln" in set(sl.list_traces()["name"])
print(sl.__file__, data_dir(), sep="\\n")
"""
    package, data = map(Path, processes.run(code, cwd=tmp_path, env=elsewhere(installed)).splitlines())
    assert package == installed / "schedlab" / "__init__.py"
    assert data == installed / "schedlab" / "data"


def test_an_installed_package_is_the_whole_package_and_nothing_else(installed):
    sources = [path.relative_to(ROOT) for path in (ROOT / "schedlab").rglob("*.py")]
    kept = [path for path in (ROOT / "data").rglob("*.*") if not re.match(r"quick-|wheel\.", path.name)]
    data = [Path("schedlab") / path.relative_to(ROOT) for path in kept if path.suffix != ".pyc"]
    assert [path for path in (*sources, *data) if not (installed / path).is_file()] == []
    assert {path.name for path in installed.iterdir()} == {"schedlab", f"schedlab-{sl.__version__}.dist-info"}


CARDS = """
import hashlib
from kept_columns import made_of
from schedlab import papers
for paper in papers.modules():
    for figure in paper.FIGURES:
        if (card := figure.as_kept()) is not None:
            print(paper.__name__, figure.__name__, hashlib.sha256(made_of(card).encode()).hexdigest())
"""


def test_the_wheel_has_what_cards_need_and_is_small(installed, tmp_path):
    paths = [os.pathsep.join([str(place), str(ROOT / "tests")]) for place in (ROOT, installed)]
    ours, theirs = (processes.run(CARDS, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}) for path in paths)
    assert ours == theirs
    assert len(ours.splitlines()) > 80
    results = (installed / "schedlab/data/results").rglob("*.*")
    assert sum(path.stat().st_size for path in results) < 2_300_000  # of 4.3 MB in the repository


def test_an_installed_package_has_its_command(installed, tmp_path):
    (entry,) = installed.glob("*.dist-info/entry_points.txt")
    assert "schedlab = schedlab.cli:main" in entry.read_text()
    code = "import sys; sys.argv = ['schedlab', '--version']; from schedlab.cli import main; sys.exit(main())"
    assert sl.__version__ in processes.run(code, cwd=tmp_path, env=elsewhere(installed))


WORKER = """
import sys
missing = ("anywidget", "ipywidgets", "traitlets", "IPython", "jupyterlab", "distributed", "pyarrow", "vl_convert")
sys.modules.update(dict.fromkeys(missing))
import schedlab as sl
from schedlab.cli import main
trace = sl.model_trace("lublin", jobs=50, machine=64, seed=1)
table = sl.sweep(trace, ["fcfs", "easy"], load=[0.7, 0.8], progress=False)
sl.charts.setup()
chart = sl.charts.lines(table, x="load", y="wait_time")
assert chart.to_dict() and chart._repr_mimebundle_()
sl.charts.save(chart, "chart.json")
try:
    sl.charts.save(chart, "chart.png")
except ModuleNotFoundError as error:
    print(error)
sl.charts.table(table).to_html()
trace.to_swf("jobs.swf")
assert main(["simulate", "jobs.swf", "--scheme", "easy", "--out", "simulated.swf"]) == 0
from schedlab.show import report
assert "widgets" not in dir(sl)
exec("from schedlab import *")
try:
    from schedlab import widgets
except ModuleNotFoundError as error:
    assert error.name == "anywidget"
    print(error)
"""


def test_a_worker_does_without_the_lab(installed, tmp_path):
    environment = elsewhere(installed) | {"NUMBA_DISABLE_JIT": "1"}
    lines = processes.run(WORKER, cwd=tmp_path, env=environment).splitlines()
    assert lines[0].startswith("files of charts, walls, reports and pages need vl-convert-python, which comes with")
    assert lines[-1] == "live figures need anywidget, which comes with schedlab's extra: pip install 'schedlab[lab]'"
    assert [path.name for path in tmp_path.glob("chart.*")] == ["chart.json"]
    assert (tmp_path / "simulated.swf").is_file()
