"""Files of text, plain or packed by gzip, bzip2, xz or Zstandard; the content, not the name, decides which."""

import bz2
import codecs
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from schedlab._runtime.files import opened
from schedlab._runtime.text import plain

SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
BLOCK = 2**24  # bytes of a file that are in memory at once
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_PACKERS = {_GZIP_MAGIC: ("gzip", gzip.open), b"BZh": ("bzip2", bz2.open), b"\xfd7zXZ\0": ("xz", lzma.open)}
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
    """Open a file of text as a stream of unpacked bytes; raises ModuleNotFoundError for Zstandard without pyarrow."""
    with open(path, "rb") as stream:
        begin = stream.read(6)
    unpacked = _packer(begin)[1]
    return unpacked(path) if unpacked else open(path, "rb")


def without_suffix(name: str) -> str:
    """Return the name of a file without that of its packing."""
    return next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)


def _zstandard(source):
    from pyarrow import input_stream

    with input_stream(os.fspath(source) if isinstance(source, os.PathLike) else source, compression="zstd") as stream:
        return BytesIO(stream.read())  # Arrow's own stream has no lines


@contextmanager
def sound(file: str, kind: str, error: type[Exception]) -> Iterator[None]:
    """Explain by an error of a reader's own kind why a packed file cannot be unpacked."""
    try:
        yield
    except ModuleNotFoundError:
        hint = f'pip install "schedlab[parquet]" reads it, or unpack it: zstd -d {file}'
        raise error(f"{file}: packed by Zstandard, which needs pyarrow; {hint}") from None
    except EOFError:
        raise error(f"{file}: the {kind} stream ends early (truncated download?), expected a complete file") from None
    except (zlib.error, lzma.LZMAError, OSError) as problem:
        if isinstance(problem, FileNotFoundError | IsADirectoryError | PermissionError):
            raise
        raise error(f"{file}: the {kind} stream is damaged ({problem}), expected a sound file") from None


def _packer(begin):
    """Return the name of what packed a file, and what opens it; empty and None if nothing did."""
    packers = {**_PACKERS, _ZSTD_MAGIC: ("Zstandard", _zstandard)}
    return next((packer for magic, packer in packers.items() if begin.startswith(magic)), ("", None))


def undamaged(content: bytes, file: str, error: type[Exception], expected: str) -> bytes:
    """Undo packing and UTF-16 if they were used, and refuse what cannot be text by an error of a reader's own kind."""
    kind, unpacked = _packer(content)
    with sound(file, kind, error):
        if unpacked:
            with unpacked(BytesIO(content)) as stream:
                content = stream.read()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # from PowerShell's `>`
        content = content.decode("utf-16", errors="replace").encode()
    if b"\0" in content[:1024]:
        raise error(f"{file}: the file is binary, expected {expected}")
    return content


def lines_of(path: Path, error: type[Exception], expected: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file of text that are not blank, with their numbers; only a block of them is in memory."""
    opened(path)
    file = plain(path.name)
    number = 1
    rest = b""
    with readable(path, expected), open(path, "rb") as stream:
        kind = _packer(stream.read(6))[0]
    with sound(file, kind, error), opener(path) as stream:
        begin = stream.read(BLOCK)
        if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in begin[:1024]:
            begin = undamaged(begin + stream.read(), file, error, expected)
        block = begin.removeprefix(codecs.BOM_UTF8)
        while block:
            *lines, rest = (rest + block).split(b"\n")
            for line in _decoded_lines(lines):
                if line.strip():
                    yield number, line.rstrip("\r")
                number += 1
            block = stream.read(BLOCK)
    if rest.strip():
        yield number, decoded(rest).rstrip("\r")


def _decoded_lines(lines):
    return decoded(b"\n".join(lines)).split("\n") if lines else ()


def decoded(content: bytes, encoding: str = "utf-8") -> str:
    """Read UTF-8, otherwise Latin-1, in which any byte is valid."""
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return content.decode("latin-1")
