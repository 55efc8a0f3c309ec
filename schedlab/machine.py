"""Machines: what the jobs run on."""

from dataclasses import dataclass

import numpy as np


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
        if not isinstance(self.procs, int | np.integer):
            raise TypeError(f"procs is {self.procs!r}, expected a whole number")
        if self.procs < 1:
            raise ValueError(f"procs must be at least 1, got {self.procs}")

    def __str__(self) -> str:
        return f"{self.procs:,} processors"
