"""What makes the first chart and the first compilation bearable: a module imported late, garbage not looked for."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


@contextmanager
def deferred(name: str, function: str) -> Iterator[None]:
    """Import a module at the first call of one of its functions, not where it is imported in this block.

    Another name of it loads it at once. Nothing happens if it is already loaded, or not installed.
    """
    spec = None if name in sys.modules else find_spec(name)
    if spec is None:
        yield
        return
    standin = ModuleType(name)
    standin.__path__ = spec.submodule_search_locations  # each `from name import` looks for it

    def load():
        if sys.modules.get(name) is standin:
            del sys.modules[name]
        return import_module(name)

    setattr(standin, function, lambda *args, **kwargs: getattr(load(), function)(*args, **kwargs))
    standin.__getattr__ = lambda other: getattr(load(), other)
    sys.modules[name] = standin
    try:
        yield
    finally:
        if sys.modules.get(name) is standin:
            del sys.modules[name]


@contextmanager
def uncollected() -> Iterator[None]:
    """Switch the garbage collector off.

    Numba makes millions of small objects that live until the kernel is compiled, and the collector scans them again and
    again: of 35 processor seconds for the group "shredding", this takes 4. Without it, compiling takes 473 MB, not 345.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
