"""The user's cache saves time and changes no results."""

import shutil
from types import SimpleNamespace

import pytest

from schedlab._runtime import paths

SCRIPT = "draw('ä');\n"


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "scripts"


@pytest.fixture
def made():
    return []


@pytest.fixture
def script(made):
    """Ask for a script, and note whether it was built."""

    def make():
        made.append(SCRIPT)
        return SCRIPT

    return lambda name="it.js": paths.kept_script(name, make)


def test_a_script_is_made_once(folder, script, made):
    assert [script(), script()] == [SCRIPT, SCRIPT]
    assert len(made) == 1
    assert [each.name for each in folder.iterdir()] == ["it.js"]
    assert script("another.js") == SCRIPT
    assert len(made) == 2


@pytest.mark.parametrize("damage", [lambda text: text[:-3], lambda text: b"", lambda text: text + b"fetch('x')"])
def test_a_script_that_is_not_as_it_was_written_is_made_anew(folder, script, made, damage):
    script()
    (folder / "it.js").write_bytes(damage((folder / "it.js").read_bytes()))
    assert script() == script() == SCRIPT
    assert len(made) == 2


def test_a_script_that_others_may_have_written_is_not_run(folder, script, made, monkeypatch):
    script()
    monkeypatch.setattr(paths, "is_own", lambda stream: False)
    assert script() == SCRIPT
    assert len(made) == 2
    monkeypatch.undo()
    monkeypatch.setenv("SCHEDLAB_CACHE", str(folder.parent))
    folder.chmod(0o777)
    with pytest.warns(UserWarning, match="others may write to it"):
        assert script() == SCRIPT
    assert len(made) == 3


def test_a_cache_that_cannot_be_written_is_done_without(monkeypatch, tmp_path, script, made):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "file"))
    assert [script(), script()] == [SCRIPT, SCRIPT]
    assert len(made) == 2


def test_kernels_that_cannot_be_copied_are_compiled(monkeypatch, tmp_path):
    theirs = tmp_path / "theirs" / "abc"
    (theirs / "kernels").mkdir(parents=True)

    def copy(source, target, **_):
        shutil.copytree(source / "kernels", target)
        raise PermissionError(13, "Permission denied")

    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SCHEDLAB_KERNELS", str(theirs.parent))
    monkeypatch.setattr(paths, "shutil", SimpleNamespace(**vars(shutil) | {"copytree": copy}))
    with pytest.warns(UserWarning, match="SCHEDLAB_KERNELS: .*abc cannot be copied, so kernels are compiled: .*denied"):
        kept = paths.kernels_folder("abc")
    assert kept == tmp_path / "cache" / "numba" / "abc"
    assert list(kept.parent.iterdir()) == []
