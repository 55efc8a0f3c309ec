"""Experiments: run a function of simple values over a grid of them. `sweep` is the everyday form of `grid`.

All studies, the papers' figures included, share one pool, one memory, one store, one progress bar and one form of
result: a tidy table with one row per run, or per run and class of jobs.

- `grids`: `grid` and `table_of`, which run what is missing
- `stores`: `store`, the folder that keeps results between sessions and for many processes
- `memory`: what was run before in this session; `remember` for what is large
- `results`: what a run gave, and how results become a table
- `sending`: values on their way to other processes
- `progress`: how much is left, and for how long
- `studies`: a grid in a file, for job arrays
- `sweeps`: `sweep`
- `arena`: every scheme on every log, with ties and lower bounds
"""

from .grids import RunError, grid, table_of
from .memory import forget, remember
from .stores import Store, store, storing
from .sweeps import sweep

__all__ = ["RunError", "Store", "forget", "grid", "remember", "store", "storing", "sweep", "table_of"]
