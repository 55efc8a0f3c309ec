"""How results are displayed: numbers with units, the parts of a small page in a notebook, and ledgers."""

from .gantt import Bar, gantt
from .page import (
    duration,
    facts,
    folded,
    formatted,
    image,
    instant,
    interval,
    line,
    means,
    note,
    number,
    page,
    picture,
    table,
    text,
    unit_of,
)

__all__ = [
    "Bar", "duration", "facts", "folded", "formatted", "gantt", "image", "instant", "interval", "line", "means",
    "note", "number", "page", "picture", "table", "text", "unit_of",
]  # fmt: skip
