"""The two sides of a comparison in the workbench: a scheme on a machine each, and what can run and be drawn."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from schedlab._runtime.text import spelt

from ...experiment import remember
from ...machine import Flat, KaryTree, Partitions, Pools
from ...schedule import Schedule
from ...schedule.simulation import machine_for, simulate
from ...schemes import Scheme, by_name
from ...schemes import scheme as scheme_named
from ...schemes.composing import refusal


class Side(NamedTuple):
    """A scheme on a machine (None: the trace's own), and the name of the machine if that tells the sides apart."""

    scheme: Scheme
    machine: Flat | KaryTree | Pools | int | None
    name: str = ""

    def schedule(self, trace, overrun) -> Schedule:
        return simulate(trace, self.scheme, machine=self.machine, overrun=overrun)


def chosen_machines(machine, against_machine, machines) -> list:
    """Return the machine to show and the one to compare it with (None: the same one), each of them given or named."""
    choices = [machine, machine if against_machine is None else against_machine]
    for choice in choices:
        if isinstance(choice, str) and choice not in (machines or {}):
            raise ValueError(f"unknown machine {choice!r}; known: {', '.join(machines or {}) or 'none'}")
    return [machines[choice] if isinstance(choice, str) else one_machine(choice) for choice in choices]


def sides_of(scheme, order, against, machine, against_machine, machines) -> tuple[Side, Side]:
    """Return the side to show and the one to compare it with; what was recorded is on the trace's own machine."""
    used = chosen_machines(machine, against_machine, machines)
    names = ["", ""]
    if used[0] != used[1]:
        choices = zip((machine, against_machine), used, strict=True)
        names = [choice if isinstance(choice, str) else str(on) for choice, on in choices]
    schemes = ordered(scheme, order), scheme_named(against)
    sides = map(Side, schemes, used, names)
    return tuple(side if side.scheme.simulated else Side(side.scheme, None) for side in sides)


def ordered(scheme, order) -> Scheme:
    """Return a scheme with an order of its queue; the recorded schedule has its own order."""
    scheme = scheme_named(scheme)
    return replace(scheme, order=order) if scheme.simulated else scheme


def labels_of(side: Side, other: Side) -> tuple[str, str]:
    """Return what two sides are called in charts: by their schemes, and by their machines where these differ."""
    if side.name and other.name and str(side.scheme) == str(other.scheme):
        return side.name, other.name
    return tuple(", ".join(filter(None, (str(scheme), name))) for scheme, _, name in (side, other))


def machines_of(machine) -> dict[str, Flat | KaryTree | Pools | int]:
    """Return machines by name: those of a mapping, or "" for a single one; a mapping of numbers is `Partitions`."""
    if machine is None:
        return {}
    if isinstance(machine, Mapping) and not machine:
        raise ValueError("machine is an empty mapping, expected machines by name, or leave it out")
    if isinstance(machine, Mapping) and not all(_is_number(value) for value in machine.values()):
        return {str(name): _checked(name, value) for name, value in machine.items()}
    return {"": _checked("", machine)}


def one_machine(machine):
    """Return a machine as `simulate` takes it, but hashable."""
    return Partitions(machine) if isinstance(machine, Mapping) else machine


def _is_number(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _checked(name, machine):
    machine = one_machine(machine)
    if not (_is_number(machine) or isinstance(machine, Flat | KaryTree | Pools)):
        which = f"machine {name!r}" if name else "machine"
        raise TypeError(f"{which} is {spelt(machine)}, expected a machine such as sl.Pools(...), or machines by name")
    return machine


def pools_of(machine) -> list[str | int]:
    """Return the names of the pools of a machine, if it has several."""
    names = [name for name, _ in machine.pools] if isinstance(machine, Pools) else []
    return names if len(names) > 1 else []


def drawn_together(machine, other, pool, trace) -> bool:
    """Tell whether `charts.profile` draws schedules of two machines together: in pools, or of equal size."""
    machine, other = (_of_pool(choice, pool, trace) for choice in (machine, other))
    return (isinstance(machine, Pools) and not isinstance(machine, Partitions)) or machine.procs == other.procs


def _of_pool(machine, pool, trace):
    machine = machine_for(machine, trace)
    if pool is None:
        return machine
    return machine.parts()[[name for name, _ in machine.pools].index(pool)]


def ends_at_estimates(machine) -> bool:
    """Tell whether jobs on a machine must end at their estimates: in pools that are more than processors."""
    return isinstance(machine, Pools) and not (machine.in_parts and all(isinstance(p, Flat) for p in machine.parts()))


@remember(16)
def refusals(trace, machine) -> dict[str, str]:
    """Return the named schemes that do not run on a machine, and what they say about it."""
    if machine is None:
        return {}
    machine = machine_for(machine, trace)
    schemes = {name: make() for name, make in by_name().items() if make.func.simulated and make.func.needs is None}
    reasons = {name: refusal(trace, scheme, machine) for name, scheme in schemes.items()}
    return {name: reason for name, reason in reasons.items() if reason}


def in_short(refused: Mapping[str, str]) -> str:
    """Say which schemes do not run on a machine, and which do: what their errors have after the last colon."""
    if not refused:
        return ""
    reasons = dict.fromkeys(message.rpartition(": ")[2] for message in refused.values())
    return f"without {', '.join(refused)}: {'; '.join(reasons)}"
