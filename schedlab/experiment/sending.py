"""Sending values to other processes: each value is sent once, however many runs use it."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock

import cloudpickle

from .results import PLAIN

MOST = 32  # values that a worker keeps
LARGE = 10**6  # bytes; joblib's Dask backend sends values above a thousandth of this only once
_arrived, _lock = OrderedDict(), Lock()


class Sent:
    """A value, pickled or in a file, for another process: unpickled there at its first use, and then kept."""

    def __init__(self, name: str, pickled: bytes | Path):
        self.name, self.pickled = name, pickled

    def __eq__(self, other):
        return isinstance(other, Sent) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __sizeof__(self):
        return LARGE  # so that it is sent once, whatever it is

    def __reduce__(self):
        return Sent, (self.name, self.pickled)

    @property
    def value(self):
        """The value itself."""
        with _lock:
            if self.name not in _arrived:
                there = self.pickled.read_bytes() if isinstance(self.pickled, Path) else self.pickled
                _arrived[self.name] = cloudpickle.loads(there)
            _arrived.move_to_end(self.name)
            while len(_arrived) > MOST:
                _arrived.popitem(last=False)
            return _arrived[self.name]


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
    """Return the original of a value that was sent."""
    return value.value if isinstance(value, Sent) else value
