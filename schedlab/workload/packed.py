"""Files of text, plain or gzipped; the content, not the name, decides which."""

import codecs
import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schedlab._runtime.files import opened
from schedlab._runtime.text import plain

_GZIP_MAGIC = b"\x1f\x8b"
DAMAGED = (EOFError, OSError, zlib.error)  # what reading from `opener` raises


@contextmanager
def readable(path: Path, expected: str) -> Iterator[None]:
    """Explain why a file cannot be read."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"{plain(str(path))}: no such file, expected {expected}") from None
    except IsADirectoryError:
        raise IsADirectoryError(f"{plain(str(path))} is a folder, expected {expected}") from None


def content_of(path: Path, expected: str) -> bytes:
    """Return the bytes of a file, and note that it was read."""
    opened(path)
    with readable(path, expected):
        return path.read_bytes()


def is_gzipped(path: str | os.PathLike) -> bool:
    with open(path, "rb") as stream:
        return stream.read(2) == _GZIP_MAGIC


def opener(path: str | os.PathLike):
    """Open a file of text as a stream of bytes."""
    return (gzip.open if is_gzipped(path) else open)(path, "rb")


def undamaged(content: bytes, file: str, error: type[Exception], expected: str) -> bytes:
    """Undo gzip if it was used, and refuse what cannot be text by an error of a reader's own kind."""
    try:
        content = gzip.decompress(content) if content.startswith(_GZIP_MAGIC) else content
    except EOFError:
        raise error(f"{file}: the gzip stream ends early (truncated download?), expected a complete file") from None
    except (zlib.error, gzip.BadGzipFile) as problem:
        raise error(f"{file}: the gzip stream is damaged ({problem}), expected a sound file") from None
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise error(f"{file}: the text is UTF-16 (from PowerShell's `>`?), expected UTF-8")
    if b"\0" in content[:1024]:
        raise error(f"{file}: the file is binary, expected {expected}")
    return content


def decoded(content: bytes, encoding: str = "utf-8") -> str:
    """Read UTF-8, otherwise Latin-1, in which any byte is valid."""
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return content.decode("latin-1")
