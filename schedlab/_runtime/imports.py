"""Import large libraries without the modules that are not needed, and without the garbage collector."""

import gc
import sys
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


@contextmanager
def deferred(name: str, *functions: str):
    """Replace a module by a stand-in that loads the real module at its first use.

    Parameters
    ----------
    name : str
        Name of the module. Nothing happens if it is already loaded, or its package is not installed.
    *functions : str
        The names that can be imported from it without loading it. Any other name loads it at once.
    """
    try:
        spec = None if name in sys.modules else find_spec(name.partition(".")[0])
    except (ImportError, ValueError):  # somebody has put something else in its place
        spec = None
    if spec is None:
        yield
        return

    def load():
        if sys.modules.get(name) is standin:
            del sys.modules[name]
        return import_module(name)

    standin = ModuleType(name)
    standin.__path__ = spec.submodule_search_locations  # each `from name import` looks for it
    for function in functions:
        setattr(standin, function, partial(_call, load, function))
    standin.__getattr__ = lambda asked: getattr(load(), asked)
    sys.modules[name] = standin
    try:
        yield
    finally:
        if sys.modules.get(name) is standin:
            del sys.modules[name]


def _call(load, function, *args, **kwargs):
    return getattr(load(), function)(*args, **kwargs)


@contextmanager
def uncollected():
    """Stop the garbage collector, which would walk through all modules several times while more are loaded."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
