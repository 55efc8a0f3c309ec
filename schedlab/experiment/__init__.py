"""Experiments: run a function of simple values over a grid of them. `sweep` is the everyday form of `grid`.

All studies, including the papers' figures, share one thread or process pool, one session cache, one store, one progress
bar and one form of result: a tidy table with one row per run, or per run and class of jobs.

- `grids`: `grid` and `table_of`, which run what is missing
- `stores`: `store`, the folder that keeps results between sessions and for many processes; `written`: their JSON
- `memory`: results of runs in this session; `remember` for large results
- `results`: what a run gave, and how results become a table
- `sending`: sends values to other processes
- `progress`: how much of a grid is left, and how long it will take
- `studies`: a grid in a file, for job arrays
- `sweeps`: `sweep`
"""

from .grids import RunError, grid, table_of
from .memory import forget, remember
from .stores import Store, store, storing
from .sweeps import sweep

__all__ = ["RunError", "Store", "forget", "grid", "remember", "store", "storing", "sweep", "table_of"]
