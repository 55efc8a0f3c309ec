"""Files that results depend on: what is read while something is computed, each with a digest of its content.

Every reader of the package says what it opens (`opened`); `recording` collects that. So a kept result can be compared
with the files as they are now, however a function came by their names.
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from os import PathLike
from pathlib import Path

_recording = ContextVar("_recording", default=())


@contextmanager
def recording(alone: bool = False) -> Iterator[dict[str, str]]:
    """Collect what this thread reads within the block: a digest of the content, by path or by another name (`note`).

    With `alone`, it is hidden from the blocks around this one.
    """
    files = {}
    token = _recording.set((files,) if alone else (*_recording.get(), files))
    try:
        yield files
    finally:
        _recording.reset(token)


def note(files: Mapping[str, str]) -> None:
    """Say that a result depends on files, or on other things that have names and digests."""
    for collected in _recording.get():
        collected.update({**files, **collected})  # the first digest stays: it is from before the file was read


def opened(path: str | PathLike) -> dict[str, str]:
    """Say that a file, or a folder of files, is being read; return its absolute path with the digest of its content.

    A relative path is noted as it is: in another folder, the same run would read another file.
    """
    digest = content(path)
    note({str(path): digest})
    return {str(Path(path).absolute()): digest}


def content(path: str | PathLike) -> str:
    """Return a digest of the content of a file or a folder; empty if there is none."""
    path = Path(path)
    try:
        if path.is_dir():
            parts = sorted(file for file in path.rglob("*") if file.is_file())
            names = "".join(f"{file.relative_to(path)} {_digest(str(file), *_stamp(file))}\n" for file in parts)
            return hashlib.sha256(names.encode(errors="surrogateescape")).hexdigest()
        return _digest(str(path), *_stamp(path))
    except OSError:
        return ""


def _stamp(path):
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size


@lru_cache(256)  # by the stamp: a file that many runs use is read once
def _digest(path, *_):
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
