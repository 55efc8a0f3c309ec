"""Files of text, plain or packed by gzip, bzip2 or xz; the content, not the name, decides which."""

import bz2
import codecs
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schedlab._runtime.files import opened
from schedlab._runtime.text import plain

SUFFIXES = (".gz", ".bz2", ".xz")
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_PACKERS = {_GZIP_MAGIC: ("gzip", gzip), b"BZh": ("bzip2", bz2), b"\xfd7zXZ\0": ("xz", lzma)}
DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError)  # what reading from `opener` raises


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
    with open(path, "rb") as stream:
        begin = stream.read(6)
    packers = (module.open for magic, (_, module) in _PACKERS.items() if begin.startswith(magic))
    return next(packers, open)(path, "rb")


def without_suffix(name: str) -> str:
    """Return the name of a file without that of its packing."""
    return next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)


def undamaged(content: bytes, file: str, error: type[Exception], expected: str) -> bytes:
    """Undo packing and UTF-16 if they were used, and refuse what cannot be text by an error of a reader's own kind."""
    if content.startswith(_ZSTD_MAGIC):
        raise error(f"{file}: packed by Zstandard, expected text, or gzip, bzip2 or xz; unpack it: zstd -d {file}")
    kind, module = next((packer for magic, packer in _PACKERS.items() if content.startswith(magic)), ("", None))
    try:
        content = module.decompress(content) if module else content
    except (EOFError, ValueError):
        raise error(f"{file}: the {kind} stream ends early (truncated download?), expected a complete file") from None
    except (zlib.error, lzma.LZMAError, OSError) as problem:
        raise error(f"{file}: the {kind} stream is damaged ({problem}), expected a sound file") from None
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # from PowerShell's `>`
        content = content.decode("utf-16", errors="replace").encode()
    if b"\0" in content[:1024]:
        raise error(f"{file}: the file is binary, expected {expected}")
    return content


def decoded(content: bytes, encoding: str = "utf-8") -> str:
    """Read UTF-8, otherwise Latin-1, in which any byte is valid."""
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return content.decode("latin-1")
