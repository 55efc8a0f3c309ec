"""Check that an outcome fits its case, whoever made it."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from schedlab.machine import Pools

from .outcomes import Outcome
from .steps import SchemeError

if TYPE_CHECKING:  # its module imports this one
    from .base import Case, Scheme


def checked(scheme: "Scheme", case: "Case", outcome: Outcome) -> Outcome:
    """Return the outcome if it fits the case; otherwise raise."""
    if not isinstance(outcome, Outcome):
        raise TypeError(f"{scheme} gave a {type(outcome).__name__}, expected an Outcome: case.outcome(start) makes one")
    if outcome.in_pieces and not scheme.splits:
        raise TypeError(f"{scheme} gave pieces of jobs, but does not say that it splits jobs: set splits = True")
    outcome.check(scheme, case)
    if scheme.simulated and not outcome.in_pieces and not _is_own(scheme):
        (check_excess if isinstance(case.machine, Pools) else check_capacity)(scheme, case, outcome)
    return outcome


def _is_own(scheme):
    """Tell whether a kernel of this package made the schedule: checking takes 40 % of the time of EASY's."""
    simulate, simulate_sites = type(scheme).simulate.__module__, type(scheme).simulate_sites.__module__
    # In `base`, `decide` is called, in `compiled` and `compiled_pools`, a user's compiled function.
    users = (f"{__package__}.base", f"{__package__}.compiled", f"{__package__}.compiled_pools")
    return simulate.startswith("schedlab.") and simulate not in users and simulate_sites.startswith("schedlab.")


def check_capacity(scheme: "Scheme", case: "Case", outcome: Outcome) -> None:
    """Raise if more processors are held at an instant than the machine has."""
    lasting = np.flatnonzero(outcome.run > 0)
    by_start, by_end = (lasting[np.argsort(time[lasting], kind="stable")] for time in (outcome.start, outcome.end))
    given_back = np.append(0, np.cumsum(outcome.procs[by_end]))
    ended = np.searchsorted(outcome.end[by_end], outcome.start[by_start], side="right")
    held = np.cumsum(outcome.procs[by_start]) - given_back[ended]
    most = case.machine.procs
    over = np.flatnonzero(held > (held if most is None else most))
    if over.size:
        job, many = by_start[over[0]], held[over[0]]
        at = f"{outcome.start[job]} s"
        message = f"job {case.number(job)} starts with {many} processors held at {at}, expected at most {most}"
        raise SchemeError(f"{scheme} at {at}: {message}")


class Excess(NamedTuple):
    """Where too much is held: the instant, what it is, how much is held, and how much may be."""

    instant: int
    what: str
    held: int
    most: int


def excess_of_capacity(case, outcome) -> Excess | None:
    """Return where more of a resource is held in a pool than is open; None if nowhere."""
    pieces = outcome.pieces
    windows = case.pooled.windows
    for pool, capacity in enumerate(case.pooled.capacity):
        mine = np.flatnonzero((case.places[pieces.job] == pool) & (pieces.end > pieces.start))
        closed = slice(windows.first[pool], windows.first[pool + 1])
        demand = case.pooled.demand[pieces.job[mine]]
        time = np.concatenate([pieces.start[mine], pieces.end[mine], windows.begin[closed], windows.end[closed]])
        change = np.concatenate([demand, -demand, windows.closed[closed], -windows.closed[closed]])
        instants, place = np.unique(time, return_inverse=True)
        changes = np.zeros((len(instants), len(capacity)), np.int64)
        np.add.at(changes, place, change)
        held = np.cumsum(changes, axis=0)
        over = np.argwhere(held > capacity)
        if over.size:
            at, resource = over[0]
            what = f"{case.machine.resources[resource]} of pool {case.machine.pools[pool][0]!r} are held or closed"
            return Excess(int(instants[at]), what, int(held[at, resource]), int(capacity[resource]))
    return None


def excess_of_limits(case, outcome) -> Excess | None:
    """Return where running jobs hold more than a limit allows; None if nowhere."""
    limits = case.pooled.limits
    pieces = outcome.pieces
    kinds = [f"{kind} of a {limit.column} are held" for limit in case.machine.limits for kind, _ in limit.most]
    for what, cell, amount in zip(kinds, limits.cell.T, limits.amount.T, strict=True):
        counted = np.flatnonzero((pieces.end > pieces.start) & (cell[pieces.job] >= 0))
        cells = np.tile(cell[pieces.job[counted]], 2)
        time = np.concatenate([pieces.start[counted], pieces.end[counted]])
        change = np.concatenate([amount[pieces.job[counted]], -amount[pieces.job[counted]]])
        order = np.lexsort((change, time, cells))  # by value, and ends before starts
        total = np.cumsum(change[order])  # the changes of each value add up to 0
        most = limits.most[cells[order]]
        over = np.flatnonzero(total > most)
        if over.size:
            return Excess(int(time[order][over[0]]), what, int(total[over[0]]), int(most[over[0]]))
    return None


def check_excess(scheme, case, outcome) -> None:
    """Raise a `SchemeError` if more is held than a pool has open, or than a limit allows."""
    excess = excess_of_capacity(case, outcome) or excess_of_limits(case, outcome)
    if excess:
        message = f"{excess.held:,} {excess.what}, expected at most {excess.most:,}"
        raise SchemeError(f"{scheme} at {excess.instant} s: {message}")
