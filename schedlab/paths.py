"""Where the project's data and the user's cache lie. Everything else asks here."""

import hashlib
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from uuid import uuid4

_PACKAGE = Path(__file__).resolve().parent


def data_dir() -> Path:
    """Give the folder of small data files: inside the installed package, or `data/` of a checkout."""
    installed = _PACKAGE / "data"
    return installed if installed.is_dir() else _PACKAGE.parent / "data"


def cache_dir(room: str) -> Path:
    """Give one room ("numba", "traces", "tables", "scripts", "runs") of the cache folder, which need not exist yet.

    The environment variable ``SCHEDLAB_CACHE`` names the cache folder; without it, it is the
    platform's usual place (``~/.cache/schedlab`` unless ``XDG_CACHE_HOME`` says otherwise).
    """
    base = os.environ.get("SCHEDLAB_CACHE")
    if base:
        return Path(base).expanduser() / room
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "schedlab" / room


def own_folder(room: str) -> Path | None:
    """Give one room of the cache as a folder that only the user may write to, made where it is missing.

    Returns
    -------
    Path or None
        None where there can be no such folder, and where what lies in it may be from others: it belongs to somebody
        else, or others may write to it.

    Warns
    -----
    UserWarning
        Of a folder that is not trusted, once.
    """
    folder = cache_dir(room)
    try:
        for made in (folder.parent, folder):
            made.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    if not hasattr(os, "geteuid"):  # Windows keeps users' folders apart by itself
        return folder
    if status.st_uid != os.geteuid():
        _distrust(folder, "it belongs to somebody else; set SCHEDLAB_CACHE to a folder of your own")
        return None
    if status.st_mode & 0o022:
        _distrust(folder, "others may write to it; `chmod go-w` it, or delete it")
        return None
    return folder


def kernels_folder(digest: str) -> Path | None:
    """Give the folder of the machine code that some sources make, which need not exist yet; None where it is not kept.

    The environment variable ``SCHEDLAB_KERNELS`` names the kernels of somebody whom the user trusts as the sources
    themselves: a colleague's ``~/.cache/schedlab/numba``. What that holds of these sources is copied, so that nothing
    need be compiled.
    """
    folder, offered = own_folder("numba"), os.environ.get("SCHEDLAB_KERNELS")
    if folder is None:
        return None
    kept = folder / digest
    if offered and not kept.exists():
        theirs, copied = Path(offered).expanduser() / digest, folder / uuid4().hex
        try:
            if theirs.is_dir():
                shutil.copytree(theirs, copied, ignore=shutil.ignore_patterns("*.tmp.*"))  # which numba is writing
                copied.rename(kept)
        except OSError as error:
            shutil.rmtree(copied, ignore_errors=True)
            if not kept.exists():  # else another process was faster
                words = f"SCHEDLAB_KERNELS: {theirs} cannot be copied, so kernels are compiled: {error}"
                warnings.warn(words, stacklevel=2)
    return kept


def kept_script(name: str, make: Callable[[], str]) -> str:
    """Give a script that takes seconds to make: from the cache, or made and kept there.

    It only ever saves time: a file that is not as it was written is made anew, and a cache that cannot be written, or
    that is not the user's alone, is done without.

    Parameters
    ----------
    name : str
        Of the file. It has to say all that the script depends on.
    make : function
        Makes the script.
    """
    folder = own_folder("scripts")
    if folder is None:
        return make()
    kept = folder / name
    with suppress(OSError), open(kept, "rb") as stream:
        digest, _, script = stream.read().partition(b"\n")
        if is_own(stream) and digest == _digest_of(script):
            return script.decode()
    script = make()
    with suppress(OSError), replacing(kept) as part, open(part, "xb") as stream:
        stream.write(_digest_of(script.encode()) + b"\n" + script.encode())
    return script


def _digest_of(script):
    return hashlib.sha256(script).hexdigest().encode()


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Write a file whole or not at all.

    Yields the path of a temporary file in the same folder. It replaces `path` when the block ends, and is removed if
    the block raises.

    Parameters
    ----------
    path : path
        The file.
    """
    path = Path(path)
    part = path.with_name(f".{uuid4().hex}.{path.name}")
    try:
        yield part
        os.replace(part, path)
    except OSError as error:
        if error.errno is not None and error.filename is None:  # as where the disk is full
            error.filename = str(path)
        raise
    finally:
        part.unlink(missing_ok=True)


def is_own(stream) -> bool:
    """Tell whether an open file is the user's: what others put into a folder while they could stays theirs."""
    return not hasattr(os, "geteuid") or os.fstat(stream.fileno()).st_uid == os.geteuid()


@cache
def _distrust(folder, why):
    """Warn once of each folder."""
    warnings.warn(f"{folder} is not trusted: {why}", stacklevel=3)
