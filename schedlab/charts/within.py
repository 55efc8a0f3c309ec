"""Charts within what displays itself, such as a case or a report of checks."""

import os

from schedlab import show

from .theme import ON_PAGE, on_page, specified, svg


def within(chart, words: str) -> str:
    """Return a chart as HTML with its alternative text: static, or on a page of the site drawn for its width.

    Parameters
    ----------
    chart : altair chart
    words : str
        For readers who cannot see it.
    """
    return on_page(specified(chart)) if os.environ.get(ON_PAGE) else show.image(svg(chart), words)
