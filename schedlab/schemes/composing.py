"""What can be combined: which schemes run on which machines, and under which conventions.

The table is built from the schemes' own answers: each scheme is asked (`Scheme.check_whole`) about a small case. The
tests simulate all combinations, and expect the table's error wherever one is not supported.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from functools import cache

import pandas as pd

from ..machine import Closed, KaryTree, Partitions, Pools
from ..workload.frames import from_frame
from ..workload.speedup import Downey
from ..workload.trace import Trace
from .base import Scheme
from .base import scheme as scheme_named
from .cases import case_of
from .conservative import Conservative
from .lookahead import DPSA
from .moldable import FairShareMoldable, GreedyMoldable, IterativeMoldable
from .rigid import EASY, FCFS
from .shredding import Flooding, OpportuneShredding

PROCS = 16
YES = "yes"
TREE = KaryTree(2, 4)


def wide(estimate, procs):
    return -procs


def narrow(procs):
    return procs <= 2


SCHEMES = (
    FCFS(),
    EASY(),
    EASY(backfill="sjf"),
    EASY(reservations=4),
    EASY(reservations="all"),
    EASY(shadow="block"),
    EASY(may_backfill=narrow),
    *(Conservative(compression=rule) for rule in ("queue", "reservation", "none", "rebuild")),
    Conservative(compress_on="completion", repeat=True),
    *(DPSA(variant=variant) for variant in "pnw"),
    DPSA(budget=1000),
    DPSA(budget=1000, shadow="block"),
    DPSA(objective="slowdown"),
    *(scheme(local=local) for scheme in (Flooding, OpportuneShredding) for local in ("easy", "conservative")),
    FairShareMoldable(),
    GreedyMoldable(),
    IterativeMoldable(),
)
# By column heading: the settings of `simulate`, and the order given to the scheme.
CONDITIONS = {
    "partitions": {"machine": Partitions({"a": PROCS, "b": PROCS})},
    "pools with closed windows": {"machine": Pools({"a": PROCS, "b": PROCS}, closed=Closed(20, 40))},
    "tree, nodes of one block": {"machine": TREE},
    "tree, nodes anywhere": {"machine": KaryTree(2, 4, allocation="first-free")},
    "a pass for each event": {"events": "each"},
    "estimates extended": {"overrun": "extend"},
    "runs beyond estimates": {"overrun": "keep"},
    "kills for the head": {"machine": TREE, "overrun": "kill-backfilled"},
    "shortest first": {"order": "sjf"},
    "an order of one's own": {"order": wide},
}


def compositions(scheme: Scheme | str | Iterable[Scheme | str] | None = None) -> pd.DataFrame:
    """Tell which machines, conventions and orders each scheme supports (columns: `CONDITIONS`).

    A cell is "yes", or the error that `simulate` raises before it starts.

    Parameters
    ----------
    scheme : Scheme or name, or several, optional
        Default: all schemes of the package, in the settings that make a difference.

    Examples
    --------
    >>> import schedlab as sl
    >>> table = sl.compositions(["easy", "conservative", sl.DPSA(budget=1000)])
    >>> table["tree, nodes of one block"].tolist()
    ['yes', 'yes', 'yes']
    >>> table["runs beyond estimates"].eq("yes").tolist()
    [True, False, True]
    """
    if scheme is None:
        scheme = SCHEMES
    schemes = [scheme_named(entry) for entry in ([scheme] if isinstance(scheme, Scheme | str) else scheme)]
    for entry in schemes:
        if not entry.simulated:
            raise ValueError(f"{entry} is the recorded schedule, on its own machine and conventions; leave it out")
    rows = [{head: _said(entry, **settings) for head, settings in CONDITIONS.items()} for entry in schemes]
    return pd.DataFrame(rows, index=pd.Index(map(str, schemes), name="scheme"))


def _said(scheme, order=None, **settings):
    try:
        ordered = scheme if order is None else in_order(scheme, order)
        machine = settings.pop("machine", None)
        if isinstance(machine, KaryTree):
            machine = machine.holding(PROCS)
        case, _ = case_of(small(ordered.needs), ordered, machine, **settings)
        ordered.check_whole(case)
    except ValueError as error:
        return str(error)
    return YES


def refusal(trace: Trace, scheme: Scheme, machine) -> str:
    """Return what a scheme says if it cannot run on a machine, asked about the first job of a trace; "" if it can."""
    case, _ = case_of(trace.head(1), scheme, machine)
    try:
        scheme.check_whole(case)
    except ValueError as error:
        return str(error)
    return ""


def in_order(scheme: Scheme, order) -> Scheme:
    """Return a scheme with another order of its queue (as in `EASY`); raise if the order cannot be chosen."""
    if not is_dataclass(scheme) or "order" not in {field.name for field in fields(scheme)}:
        raise ValueError(f"{scheme} has no order to choose")
    return replace(scheme, order=order)


@cache
def small(needs: str | None) -> Trace:
    """Return a trace of a few jobs, in two partitions, with the data that a scheme needs."""
    submit = range(0, 60, 5)
    jobs = {
        "submit": submit,
        "run": [10 + 7 * (i % 5) for i in range(len(submit))],
        "estimate": [10 + 9 * (i % 4) for i in range(len(submit))],
        "procs": [1 + 5 * (i % 3) for i in range(len(submit))],
        "where": ["ab"[i % 2] for i in range(len(submit))],
        "user": ["xyz"[i % 3] for i in range(len(submit))],
    }
    named = {name: name for name in ("submit", "run", "estimate", "procs", "user")} | {"partition": "where"}
    trace = from_frame(pd.DataFrame(jobs), machine=PROCS, name="a few jobs", **named)
    if needs == "speedup":
        return trace.with_speedup(Downey())
    return trace.with_parameter_sweeps(0.5, min_procs=2) if needs == "sweeps" else trace
