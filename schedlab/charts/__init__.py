"""Charts: a table or a schedule in, an Altair chart out. One theme, one colour for each scheme, units on every axis."""

from .cells import arrivals, heatmap
from .compare import bars, beside_model, distribution, lines, points, ratios, scatter, weekly
from .gang import shares, slices
from .nodes import tree
from .tables import VERDICTS, table
from .theme import (
    AXES,
    CHARACTERS,
    COLOURS,
    DASHES,
    HEIGHT,
    IN_HOURS,
    LAB,
    MOST_ROWS,
    WIDTH,
    colours,
    dashes,
    save,
    setup,
    stacked,
    themed,
)
from .timeline import gantt, gantts, profile

__all__ = [
    "AXES",
    "CHARACTERS",
    "COLOURS",
    "DASHES",
    "HEIGHT",
    "IN_HOURS",
    "LAB",
    "MOST_ROWS",
    "VERDICTS",
    "WIDTH",
    "arrivals",
    "bars",
    "beside_model",
    "colours",
    "dashes",
    "distribution",
    "gantt",
    "gantts",
    "heatmap",
    "lines",
    "points",
    "profile",
    "ratios",
    "save",
    "scatter",
    "setup",
    "shares",
    "slices",
    "stacked",
    "table",
    "themed",
    "tree",
    "weekly",
]
