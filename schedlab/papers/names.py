"""The names of the papers, in the order of the report, and the modules that hold them."""

from importlib import import_module

PAPERS = ("base", "sabin2006", "silva2000", "kurian2003", "grudenic2010", "pascual2008", "lelong2017", "arena")
_HOMES = {paper: f"{__package__}.{paper}" for paper in PAPERS} | {"arena": "schedlab.contest.study"}


def module_of(paper: str):
    """Load the module of a paper."""
    return import_module(_HOMES[paper])


def paper_in(module: str) -> str:
    """Name the paper that a module belongs to, which is its name within this package; "" for any other module."""
    within = module.partition(f"{__package__}.")[2].partition(".")[0]
    return next((paper for paper, home in _HOMES.items() if f"{module}.".startswith(f"{home}.")), within)
