"""Workloads: read, write, find, filter, rescale and generate them. Tables in, tables out."""

from importlib import import_module

_HOME = {
    "LoadWarning": "filter",
    "SWFError": "swf",
    "SacctError": "sacct",
    "GpuWarning": "sacct",
    "PartitionWarning": "sacct",
    "TableError": "frames",
    "UnitWarning": "frames",
    "JannTable": "models.jann",
    "Tsafrir": "models.tsafrir",
    "fit_downey": "models.downey",
    "fit_jann": "models.jann",
    "fit_tsafrir": "models.tsafrir",
    "read_jann": "models.jann",
    "read_lsf": "accounting",
    "read_pbs": "accounting",
}
__all__ = [*_HOME]


def __getattr__(name):
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
