"""Machines: what the jobs run on."""

from dataclasses import dataclass


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
        if self.procs < 1:
            raise ValueError(f"procs must be at least 1, got {self.procs}")

    def __str__(self) -> str:
        return f"{self.procs:,} processors"
