"""Experiments: run a function of simple values over a grid of them. `sweep` is the everyday form of `grid`.

All studies, including the papers' figures, share one thread or process pool, one session cache, one store, one progress
bar and one form of result: a tidy table with one row per run, or per run and class of jobs.
"""

from .grids import RunError, grid, table_of
from .memory import forget, remember
from .stores import Store, store, storing
from .sweeps import sweep

__all__ = ["RunError", "Store", "forget", "grid", "remember", "store", "storing", "sweep", "table_of"]
