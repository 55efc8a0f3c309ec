"""Machines: what the jobs run on."""

from dataclasses import dataclass

from .workload.trace import check_procs


@dataclass(frozen=True)
class Flat:
    """Identical processors without a topology: any free ones will do.

    Parameters
    ----------
    procs : int
        How many.
    """

    procs: int

    def __post_init__(self):
        check_procs(self.procs)

    def __str__(self) -> str:
        return f"{self.procs:,} processors"
