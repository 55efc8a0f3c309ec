"""Which scheme wins where: schemes compete on many logs, judged against ties and lower bounds.

- `entrants`: the schemes, and their runs
- `results`: `arena`, which lets them compete, and its result
- `charts`: who wins where, and how far from the bounds
- `study`: the arena of fifteen logs, with its figures and claims, as a paper has them
"""

from .charts import against_bounds, winners
from .entrants import Entrant
from .results import Arena, arena

__all__ = ["Arena", "Entrant", "against_bounds", "arena", "winners"]
