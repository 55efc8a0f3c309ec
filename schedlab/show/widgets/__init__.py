"""Live figures: a function that draws, and controls for its parameters.

The first slider is the primary control: the figure follows the hand where it is drawn quickly enough, else it is
redrawn on release, and a word beside the slider says so. The next two controls stand below it, the others behind
"More", by what they are about. The setting is written below the figure's title. Lines from before a move stay as a thin
ghost if the axes are the same. Figures drawn before come from memory. A thin bar above the figure shows that one is
being computed. An error replaces the figure, so an outdated one is never shown.
"""

try:
    import anywidget  # noqa: F401 - the message below is for all that live figures need
    import ipywidgets  # noqa: F401
except ModuleNotFoundError as missing:
    install = "which comes with schedlab's extra: pip install 'schedlab[lab]'"
    raise ModuleNotFoundError(f"live figures need {missing.name}, {install}", name=missing.name) from None

from .buttons import simulating
from .exploring import bench, explore, waits
from .live_figure import Live, live
from .scripted import Code

__all__ = ["Code", "Live", "bench", "explore", "live", "simulating", "waits"]
