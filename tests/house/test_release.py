"""The checklist of a release refuses what is wrong."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import release  # noqa: E402 - of the folder of tests

FILES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE", "schedlab/__init__.py")


@pytest.fixture
def copy(tmp_path):
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks", ignore=shutil.ignore_patterns("*.ipynb_checkpoints"))
    (tmp_path / "data").mkdir()
    return tmp_path


def edit(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def test_the_present_state_agrees():
    assert list(release.versions(ROOT)) == []
    assert list(release.links(ROOT)) == []
    assert list(release.licences()) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("CITATION.cff", "version: 0.1.0", "version: 0.1.1", "CITATION.cff has version 0.1.1, expected 0.1.0"),
        ("CHANGELOG.md", "## [0.1.0] - ", "## [0.1.0] - unreleased; ", "CHANGELOG.md begins with 0.1.0 - unreleased"),
        ("CHANGELOG.md", "### Logs", "### Fixed", "CHANGELOG.md has changes, but nothing was released before"),
        ("schedlab/__init__.py", '"0.1.0"', '"0.2.0"', "CITATION.cff has version 0.1.0, expected 0.2.0"),
    ],
)
def test_versions_that_differ_are_named(copy, name, old, new, problem):
    edit(copy / name, old, new)
    assert next(release.versions(copy)).startswith(problem)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("(CHANGELOG.md)", "(CHANGES.md)", "README.md links to CHANGES.md, which is not there"),
        ("about.md#measured", "about.md#mesured", "about.md#mesured, which has no such heading"),
        ("|---|---|---|---|---|", "", "README.md has a link or a table that is shown as text"),
    ],
)
def test_links_that_lead_nowhere_are_named(copy, old, new, problem):
    edit(copy / "README.md", old, new)
    problems = list(release.links(copy))
    assert [line for line in problems if problem in line], problems


def test_a_changed_tree_is_not_clean(tmp_path):
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    assert list(release.clean(tmp_path)) == []
    (tmp_path / "file").touch()
    assert list(release.clean(tmp_path)) == ["?? file"]


def test_a_wheel_that_does_not_run_is_named(tmp_path):
    wheel = tmp_path / "schedlab-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("schedlab/__init__.py", "")
        file.writestr("schedlab-0.1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: schedlab\nVersion: 0.1.0\n")
        file.writestr("schedlab-0.1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        file.writestr("schedlab-0.1.0.dist-info/RECORD", "")
    assert "schedlab --version gives 1" in next(release.installs(wheel, tmp_path))
    wheel.write_bytes(b"no zip")
    (tmp_path / "again").mkdir()
    assert "does not install" in next(release.installs(wheel, tmp_path / "again"))


def test_what_nobody_expects_in_a_wheel_is_named(tmp_path):
    packages = release.built(ROOT, tmp_path)
    assert list(release.shipped(packages)) == []
    with zipfile.ZipFile(packages[".whl"], "a") as file:
        file.writestr("schedlab/data/secret.key", "")
    problems = list(release.shipped(packages))
    assert "data/secret.key has no origin and licence in data/README.md" in problems
    assert any(line.startswith("schedlab/data/secret.key is of a kind") for line in problems)


def test_a_licence_that_is_not_permissive_is_named(monkeypatch):
    from email.message import Message

    about = Message()
    about["License"] = "All rights reserved"
    monkeypatch.setattr(release, "metadata", lambda name: about)
    assert len(list(release.licences())) > 5
