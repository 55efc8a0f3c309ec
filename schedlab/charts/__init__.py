"""Charts: pass a table or a schedule, get an Altair chart. One theme, one colour per scheme, units on every axis.

`width` and `height` are those of the plot, or of all plots of a chart together, in pixels; titles, axes and legends are
added.
"""

from .axes import AXES, IN_HOURS
from .changes import changes
from .checks import MOST_ROWS
from .compare import beside_model, distribution, scatter, weekly
from .differences import differences
from .files import save, svg
from .gang import memberships, shares, slices
from .grouped import bars, ratios
from .heatmaps import arrivals, compositions, heatmap, marks
from .palette import DASHES, colours, dashes, register
from .paper import paper_style
from .profiles import profile
from .series import lines, points
from .sizes import CHARACTERS, HEIGHT, PAGE, WIDTH, height_of, resized
from .tables import table
from .theme import LAB, on_page, setup, specified, stacked, themed
from .thumbnails import thumbnail
from .timeline import gantt, gantts
from .trees import tree
from .usage import usage
from .waiting import waited

__all__ = [
    "AXES", "CHARACTERS", "DASHES", "HEIGHT", "IN_HOURS", "LAB", "MOST_ROWS", "PAGE", "WIDTH", "arrivals",
    "bars", "beside_model", "changes", "colours", "compositions", "dashes", "differences", "distribution",
    "gantt", "gantts", "heatmap", "height_of", "lines", "marks", "memberships", "on_page", "paper_style",
    "points", "profile", "ratios", "register", "resized", "save", "scatter", "setup", "shares", "slices",
    "specified", "stacked", "svg", "table", "themed", "thumbnail", "tree", "usage", "waited", "weekly",
]  # fmt: skip
