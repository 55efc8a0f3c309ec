"""Import Altair in less than half of its usual time; modules that draw import it from here.

Altair loads jsonschema, which loads every format checker that it finds; JupyterLab installs all of them. The checker
for internationalized web addresses builds its parser on import, which takes 0.8 of the 1.15 s of ``import altair``
(``python -X importtime``). No chart contains such an address, so that module is loaded at its first use.
"""

import gc
import sys
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


@contextmanager
def deferred(name: str, function: str):
    """Replace a module by a stand-in that loads the real module at its first use.

    Parameters
    ----------
    name : str
        Name of the module. Nothing happens if it is already loaded, or not installed.
    function : str
        The name that can be imported from it without loading it. Any other name loads it at once.
    """
    spec = None if name in sys.modules else find_spec(name)
    if spec is None:
        yield
        return

    def load():
        if sys.modules.get(name) is standin:
            del sys.modules[name]
        return import_module(name)

    standin = ModuleType(name)
    standin.__path__ = spec.submodule_search_locations  # each `from name import` looks for it
    setattr(standin, function, lambda *args, **kwargs: getattr(load(), function)(*args, **kwargs))
    standin.__getattr__ = lambda asked: getattr(load(), asked)
    sys.modules[name] = standin
    try:
        yield
    finally:
        if sys.modules.get(name) is standin:
            del sys.modules[name]


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


with uncollected(), deferred("rfc3987_syntax", "is_valid_syntax"):
    import altair as alt
    from altair.utils.schemapi import debug_mode

__all__ = ["alt", "debug_mode"]
