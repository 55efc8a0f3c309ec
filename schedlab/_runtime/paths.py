"""The locations of the project's data and of the user's cache. All other modules ask this one."""

import hashlib
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from uuid import uuid4

from .remarks import SchedlabWarning

_PACKAGE = Path(__file__).resolve().parents[1]


def data_dir() -> Path:
    """Return the folder of small data files: inside the installed package, or `data/` of a checkout."""
    installed = _PACKAGE / "data"
    return installed if installed.is_dir() else _PACKAGE.parent / "data"


def cache_dir(room: str) -> Path:
    """Return a subfolder ("numba", "traces", "tables", "scripts", "runs") of the cache folder; it need not exist yet.

    The environment variable ``SCHEDLAB_CACHE`` names the cache folder. If it is not set, the platform's usual folder is
    used (``~/.cache/schedlab``, or as ``XDG_CACHE_HOME`` says).
    """
    base = os.environ.get("SCHEDLAB_CACHE")
    if base:
        return Path(base).expanduser() / room
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "schedlab" / room


def own_folder(room: str) -> Path | None:
    """Return a subfolder of the cache that only the user may write to; create it if it is missing.

    None if there can be no such folder, or if its contents may be from others (it belongs to somebody else, or others
    may write to it), which is warned of once.
    """
    folder = cache_dir(room)
    try:
        for path in (folder.parent, folder):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    if not hasattr(os, "geteuid"):  # Windows keeps users' folders separate itself
        return folder
    if status.st_uid != os.geteuid():
        _distrust(folder, "it belongs to somebody else; set SCHEDLAB_CACHE to a folder of your own")
        return None
    if status.st_mode & 0o022:
        _distrust(folder, "others may write to it; `chmod go-w` it, or delete it")
        return None
    return folder


def kernels_folder(digest: str) -> Path | None:
    """Return the folder for the machine code of the given sources; it need not exist yet. None if code cannot be kept.

    The environment variable ``SCHEDLAB_KERNELS`` may name a folder with compiled kernels of somebody whom the user
    trusts as much as the sources themselves, such as a colleague's ``~/.cache/schedlab/numba``. Its kernels for these
    sources are copied, so that nothing needs to be compiled.
    """
    folder, offered = own_folder("numba"), os.environ.get("SCHEDLAB_KERNELS")
    if folder is None:
        return None
    kept = folder / digest
    if offered and not kept.exists():
        theirs, copied = Path(offered).expanduser() / digest, folder / uuid4().hex
        try:
            if theirs.is_dir():
                shutil.copytree(theirs, copied, ignore=shutil.ignore_patterns("*.tmp.*"))  # files that numba is writing
                copied.rename(kept)
        except OSError as error:
            shutil.rmtree(copied, ignore_errors=True)
            if not kept.exists():  # otherwise another process was faster
                message = f"SCHEDLAB_KERNELS: {theirs} cannot be copied, so kernels are compiled: {error}"
                warnings.warn(message, SchedlabWarning, stacklevel=2)
    return kept


def kept_script(name: str, make: Callable[[], str]) -> str:
    """Return a script that takes seconds to make: from the cache, or newly made and then kept there.

    The name of its file must identify everything that it depends on. The cache only saves time: a damaged file is
    replaced, and a cache that cannot be written, or does not belong to the user alone, is not used.
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

    Yields the path of a temporary file in the same folder, which replaces `path` when the block ends, and is removed if
    the block raises.
    """
    path = Path(path)
    part = path.with_name(f".{uuid4().hex}.{path.name}")
    try:
        yield part
        os.replace(part, path)
    except OSError as error:
        if error.errno is not None and error.filename is None:  # for example if the disk is full
            error.filename = str(path)
        raise
    finally:
        part.unlink(missing_ok=True)


def is_own(stream) -> bool:
    """Tell whether an open file belongs to the user: others may have put files into the folder while they could."""
    return not hasattr(os, "geteuid") or os.fstat(stream.fileno()).st_uid == os.geteuid()


@cache
def _distrust(folder, why):
    """Warn once about each folder."""
    warnings.warn(f"{folder} is not trusted: {why}", SchedlabWarning, stacklevel=3)
