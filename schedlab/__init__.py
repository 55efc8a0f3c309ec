"""schedlab: a research toolkit for parallel job scheduling.

Importing it is cheap: what a name needs is loaded at its first use.
"""

from importlib import import_module
from importlib.util import find_spec

__version__ = "0.1.0"

_HOME = {
    "list_traces": "workload.archive",
    "load_trace": "workload.loading",
    "model_trace": "workload.loading",
    "read_swf": "workload.loading",
    "read_sacct": "workload.sacct",
    "from_frame": "workload.frames",
    "read_table": "workload.frames",
    "read_public": "workload.public",
    "Trace": "workload.trace",
    "Amdahl": "workload.speedup",
    "Downey": "workload.speedup",
    "Speedup": "workload.speedup",
    "Flat": "machine",
    "KaryTree": "machine",
    "Partitions": "machine",
    "Pools": "machine",
    "Pool": "machine",
    "Closed": "machine",
    "Limit": "machine",
    "read_slurm_conf": "machine.slurm_conf",
    "SchedlabWarning": "_runtime.remarks",
    "progress": "_runtime.remarks",
    "Case": "schemes.base",
    "Outcome": "schemes.outcomes",
    "Scheme": "schemes.base",
    "compiled_scheme": "schemes.compiled",
    "compiled_pool_scheme": "schemes.compiled_pools",
    "python_scheme": "schemes.python",
    "Usage": "schemes.values",
    "fairshare": "schemes.orders",
    "multifactor": "schemes.orders",
    "Schedule": "schedule",
    "recorded": "schedule.simulation",
    "simulate": "schedule.simulation",
    "simulate_many": "schedule.simulation",
    "simulate_sites": "schedule.simulation",
    "steps": "schedule.simulation",
    "Entrant": "contest.entrants",
    "arena": "contest.results",
    "Store": "experiment",
    "grid": "experiment",
    "store": "experiment",
    "sweep": "experiment",
    "batch_means": "schedule.statistics",
    "over_seeds": "schedule.statistics",
    "paired": "schedule.statistics",
    "compositions": "schemes.composing",
    "gaps": "schedule.bounds",
    "lower_bounds": "schedule.bounds",
    "fair_start_miss": "schedule.fairness",
    "fair_starts": "schedule.fairness",
    "fairness_table": "schedule.fairness",
}
_ROOMS = {  # and what these names stand for, where that is deeper in the house
    "charts": "charts",
    "conformance": "testing.conformance",
    "contest": "contest",
    "decisions": "papers.sabin2006.decisions",
    "experiment": "experiment",
    "gang": "gang",
    "kernels": "kernels",
    "metrics": "schedule.metrics",
    "papers": "papers",
    "parts": "kernels.parts",
    "pool_parts": "kernels.pool_parts",
    "schedule": "schedule",
    "schemes": "schemes",
    "statistics": "schedule.statistics",
    "testing": "testing",
    "widgets": "show.widgets",
    "workload": "workload",
}
_NEEDS = {"widgets": "anywidget"}  # of an extra, without which the room is there but not listed


def __getattr__(name):
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    if name in _ROOMS:
        return import_module(f"{__name__}.{_ROOMS[name]}")  # the error of a missing extra says what to install
    if name == "__all__":
        return [*_HOME, *_schemes(), *(room for room in _ROOMS if find_spec(_NEEDS.get(room, "numpy")))]
    if name[:1].isupper() and name in (schemes := _schemes()):  # modules are not, and schemes import them
        return schemes[name]
    # Without `obj`, Python's own traceback does not suggest a name a second time.
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_meant(name)}", name=name, obj=None)


def _meant(name):
    """Suggest a name that is spelt alike, but not for a module, which `from schedlab import` looks for here first."""
    if name.startswith("_") or find_spec(f"{__name__}.{name}"):
        return ""
    known = [*_HOME, *_ROOMS, *(_schemes() if name[:1].isupper() else ())]
    return import_module(f"{__name__}._runtime.text").suggestion(name, known)


def _schemes():
    """Return the classes of schemes, which register themselves."""
    return import_module(f"{__name__}.schemes").classes()


def __dir__():
    return sorted([*__getattr__("__all__"), "__version__"])
