"""A Sphinx extension: run the examples of docstrings, and draw each one's `chart` below it."""

import doctest
import re
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO

from sphinx.util import logging

CHART = "chart"  # the variable that holds the chart of an example
ASSIGNED = re.compile(rf">>> {CHART}(, \w+)* = ")
LATE = 600  # after numpydoc, which rewrites the sections


def setup(app) -> dict:
    """Add the extension to Sphinx."""
    app.connect("autodoc-process-docstring", draw, priority=LATE)
    return {"parallel_read_safe": True}


def draw(app, what, name, obj, options, lines) -> None:
    """Insert the chart of a docstring's example after the example, in place."""
    text = "\n".join(lines)
    if not ASSIGNED.search(text):
        return
    last = max(i for i, line in enumerate(lines) if line.lstrip().startswith((">>> ", "... ")))
    end = next((i for i in range(last, len(lines)) if not lines[i].strip()), len(lines))
    if not (html := _html(text, name)):
        return
    lines[end:end] = ["", ".. raw:: html", "", *(f"   {line}" for line in html.splitlines()), ""]


@cache  # the tables of contents ask for each docstring, too
def _html(text, name):
    from schedlab import charts

    names = {}
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            for example in doctest.DocTestParser().get_examples(text):
                exec(compile(example.source, f"<example of {name}>", "single"), names)
        return charts.on_page(charts.specified(names[CHART]))
    except Exception as error:  # an example may raise anything; the warning names it and fails the build
        logging.getLogger(__name__).warning("the example of %s fails: %r", name, error)
        return ""
