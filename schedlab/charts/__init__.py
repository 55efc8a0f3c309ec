"""Charts: pass a table or a schedule, get an Altair chart. One theme, one colour per scheme, units on every axis."""

from .changes import changes
from .compare import beside_model, distribution, scatter, weekly
from .gang import memberships, shares, slices
from .grouped import bars, ratios
from .heatmaps import arrivals, compositions, heatmap, marks
from .paper import paper_style
from .series import lines, points
from .tables import table
from .theme import (
    AXES,
    CHARACTERS,
    DASHES,
    HEIGHT,
    IN_HOURS,
    LAB,
    MOST_ROWS,
    PAGE,
    WIDTH,
    colours,
    dashes,
    height_of,
    on_page,
    register,
    resized,
    save,
    setup,
    specified,
    stacked,
    svg,
    themed,
)
from .thumbnails import thumbnail
from .timeline import gantt, gantts, profile
from .trees import tree

__all__ = [
    "AXES",
    "CHARACTERS",
    "DASHES",
    "HEIGHT",
    "IN_HOURS",
    "LAB",
    "MOST_ROWS",
    "PAGE",
    "WIDTH",
    "arrivals",
    "bars",
    "beside_model",
    "changes",
    "colours",
    "compositions",
    "dashes",
    "distribution",
    "gantt",
    "gantts",
    "heatmap",
    "height_of",
    "lines",
    "marks",
    "memberships",
    "on_page",
    "paper_style",
    "points",
    "profile",
    "ratios",
    "register",
    "resized",
    "save",
    "scatter",
    "setup",
    "shares",
    "slices",
    "specified",
    "stacked",
    "svg",
    "table",
    "themed",
    "thumbnail",
    "tree",
    "weekly",
]
