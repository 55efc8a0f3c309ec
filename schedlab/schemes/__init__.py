"""Schemes: frozen dataclasses with a name and settings, each of which calls the kernel behind it.

Every module here is loaded, so that its schemes are known by name. So are schemes of other packages that register as
entry points of the group ``schedlab.schemes``.
"""

from importlib import import_module
from pkgutil import iter_modules

from .base import Case, Jobs, Outcome, Scheme, by_name, classes, colours, scheme
from .outcomes import Pieces, Ranges
from .policies import PolicyError
from .rigid import Queued
from .steps import SchemeError

__all__ = [
    "Case", "Jobs", "Outcome", "Pieces", "PolicyError", "Queued", "Ranges", "Scheme", "SchemeError", "by_name",
    "classes", "colours", "scheme",
]  # fmt: skip


def __getattr__(name):
    """Return the class of a scheme."""
    if name in (schemes := classes()):
        return schemes[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
