"""Sending values to other processes: each value is sent once, however many runs use it."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock

import cloudpickle

from .results import PLAIN

MOST = 32  # values that a worker keeps
LARGE = 10**6  # bytes; joblib's Dask backend sends values above a thousandth of this only once
_lock = Lock()


@dataclass(frozen=True)
class Sent:
    """A value for another process, pickled or in a file; the name is a digest of that."""

    name: str
    pickled: bytes | Path = field(compare=False, repr=False)

    def __sizeof__(self):
        return LARGE  # so that it is sent once, whatever it is


def sender(folder: Path | None) -> Callable:
    """Return a function of a name and a value that prepares the value for other processes.

    A plain value stays as it is; for any other the function always gives the same `Sent`. The folder is for values sent
    to processes on this computer, and used until all runs are done. The function raises ValueError if a value cannot be
    pickled: joblib would wait for it forever.
    """
    cache = {}

    def sent(name, value):
        if isinstance(value, PLAIN):
            return value
        if id(value) not in cache:
            try:
                pickled = cloudpickle.dumps(value)
            except Exception as error:  # whatever its pickling raises
                raise ValueError(f"{name} cannot be sent to other processes: {error}") from error
            key = hashlib.sha256(pickled).hexdigest()
            if folder is not None:
                (folder / key).write_bytes(pickled)
                pickled = folder / key
            cache[id(value)] = Sent(key, pickled)
        return cache[id(value)]

    return sent


def arrived(value):
    """Return the original of a value that was sent: unpickled at its first use in this process, and then kept."""
    with _lock:
        return _loaded(value) if isinstance(value, Sent) else value


@lru_cache(MOST)
def _loaded(sent):
    return cloudpickle.loads(sent.pickled.read_bytes() if isinstance(sent.pickled, Path) else sent.pickled)
