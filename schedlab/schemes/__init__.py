"""Schemes: names and settings in frozen dataclasses, and the call of the kernel behind each."""

from functools import partial

from .fromlog import FromLog
from .lookahead import DPSA
from .moldable import FairShareMoldable, GreedyMoldable, IterativeMoldable, Moldable, Molded
from .placement import Placed
from .rigid import EASY, FCFS, Arrivals, Conservative, Scheme
from .shredding import Flooding, OpportuneShredding, Shredding

BY_NAME = {
    "fcfs": FCFS,
    "easy": EASY,
    "conservative": Conservative,
    "dpsap": partial(DPSA, variant="p"),
    "dpsan": partial(DPSA, variant="n"),
    "dpsaw": partial(DPSA, variant="w"),
}
SPECIAL = {"easy-sjbf": EASY(backfill="sjf")}
RECORDED = {"log": FromLog()}
SWEPT = {"flooding": Flooding(), "ojs": OpportuneShredding()}  # for traces with parameter sweeps
MOLDABLE = {  # for traces with speed-up data
    "fairshare": FairShareMoldable(),
    "greedy": GreedyMoldable(),
    "iterative": IterativeMoldable(),
}
NAMES = tuple(sorted((*BY_NAME, *SPECIAL, *RECORDED, *SWEPT, *MOLDABLE)))

__all__ = [
    "BY_NAME",
    "DPSA",
    "EASY",
    "FCFS",
    "NAMES",
    "Arrivals",
    "Conservative",
    "FairShareMoldable",
    "Flooding",
    "FromLog",
    "GreedyMoldable",
    "IterativeMoldable",
    "Moldable",
    "Molded",
    "OpportuneShredding",
    "Placed",
    "Scheme",
    "Shredding",
    "scheme",
]


def scheme(given: "str | Scheme") -> Scheme:
    """Give a scheme by its plain name: ``"easy"``, ``"easy-sjf"`` (with an order), ``"easy-sjbf"``, ``"ojs"``.

    ``"log"`` is what really happened (`schedlab.recorded`). A scheme is given back as it is.
    """
    if isinstance(given, Scheme):
        return given
    if not isinstance(given, str):
        raise TypeError(f"scheme is {given!r}, expected a scheme such as EASY() or its name")
    name, _, order = given.lower().partition("-")
    for special in (SPECIAL, RECORDED, SWEPT, MOLDABLE):
        if given.lower() in special:
            return special[given.lower()]
    if name not in BY_NAME:
        raise ValueError(f"unknown scheme {given!r}; known: {', '.join(NAMES)}")
    return BY_NAME[name](order=order or "fcfs")
