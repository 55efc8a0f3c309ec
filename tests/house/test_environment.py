"""One project, described in several files: they agree with pyproject.toml and with each other."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest
import yaml
from lowest import lowest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import schedlab as sl

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text().splitlines()
PYTHONS = ["3.11.0", "3.12.0", "3.13.0", "3.14.0"]


def needs(*extras):
    """Return the project's requirements by name, with those of some extras and of the extras that these name."""
    lines = [PROJECT["dependencies"], *(PROJECT["optional-dependencies"][extra] for extra in extras)]
    found = {canonicalize_name(line.name): line for line in map(Requirement, chain(*lines))}
    own = found.pop(PROJECT["name"], None)
    return found if own is None else needs(*own.extras) | found


def pins(python):
    """Return the locked version of each package for one Python on Linux."""
    environment = {"python_version": python.rpartition(".")[0], "python_full_version": python}
    environment |= {"sys_platform": "linux", "os_name": "posix", "implementation_name": "cpython"}
    found = {}
    for line in map(Requirement, LOCK):
        if line.marker is None or line.marker.evaluate(environment):
            assert line.name not in found, f"{line.name} is pinned twice for Python {python}"
            (pin,) = line.specifier
            found[canonicalize_name(line.name)] = pin.version
    return found


def test_environment_yml_agrees_with_pyproject():
    # No conda channel is available to solve the environment, so names and bounds are compared.
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert environment["name"] == PROJECT["name"]
    assert environment["channels"] == ["conda-forge", "nodefaults"]
    conda = [Requirement(line) for line in environment["dependencies"] if isinstance(line, str)]
    assert len({line.name for line in conda}) == len(conda)
    found = {line.name: line.specifier for line in conda if line.name != "pip"}
    expected = {name: line.specifier for name, line in needs("lab").items()}
    assert found == expected | {"python": Requirement(f"python{PROJECT['requires-python']}").specifier}
    assert environment["dependencies"][-2:] == ["pip", {"pip": ["-e ."]}]


def test_lock_holds_names_and_versions_only():
    # An address, a path, an option of the installer or a hash would all need another character.
    pin = re.compile(r"[a-z0-9-]+==[0-9a-z.]+( ; [\w .<>=!'()]+)?")
    assert LOCK
    assert [line for line in LOCK if not pin.fullmatch(line)] == []


@pytest.mark.parametrize("python", PYTHONS)
def test_lock_satisfies_pyproject(python):
    locked = pins(python)
    for name, line in needs("test").items():
        assert name in locked, f"{name} is not pinned: `make lock`"
        assert locked[name] in line.specifier, f"{name}=={locked[name]} but {line.specifier}: `make lock`"


def test_everything_that_can_be_installed_is_locked_and_tested_and_a_worker_needs_no_notebook():
    extras = set(PROJECT["optional-dependencies"])
    assert extras == {"dask", "docs", "lab", "parquet", "pictures", "test", "web"}
    assert needs("test") == needs(*extras - {"web"})  # whose tools make a file that is kept
    kept_out = {"jupyterlab", "ipywidgets", "anywidget", "ipython", "distributed", "pyarrow", "vl-convert-python"}
    assert set(needs()) & kept_out == set()
    assert set(needs("lab")) - set(needs()) == {"jupyterlab", "ipywidgets", "anywidget", "vl-convert-python"}


def test_the_lowest_versions_are_the_lower_bounds_and_there_must_be_one():
    lines = lowest(PROJECT, LOCK)
    assert "numpy==2.2" in lines
    assert "ipywidgets==8.1.7" in lines
    pinned = {}
    for line in map(Requirement, lines):
        pinned.setdefault(canonicalize_name(line.name), []).append(str(line.specifier).removeprefix("=="))
    for name, line in needs("lab", "parquet").items():
        (version,) = pinned[name]  # once, for any Python
        assert version in line.specifier
        assert f">={version}" in str(line.specifier)
    assert {canonicalize_name(Requirement(line).name) for line in LOCK} == set(pinned)
    locked, listed = ([line for line in each if line.startswith("pytest==")] for each in (LOCK, lines))
    assert locked == listed
    project = {"dependencies": ["numpy<3"], "optional-dependencies": {"lab": [], "parquet": []}}
    message = "pyproject.toml: 'numpy<3' has no lower bound, expected numpy>=..."
    with pytest.raises(ValueError, match=re.escape(message)):
        lowest(project, [])


def test_versions_and_pythons_are_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == sl.__version__
    assert citation["license"] == PROJECT["license"]
    newest = re.search(r"^## \[([^]]+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest[1] == sl.__version__
    makefile = (ROOT / "Makefile").read_text()
    assert f"PYTHONS := {PROJECT['requires-python']}\n" in makefile
    assert PROJECT["requires-python"] == ">=3.11"  # numba says itself what is too new
    assert "sys.version_info >= (3, 11)" in makefile
