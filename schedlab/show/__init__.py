"""How results are displayed: numbers with units, the parts of a small page in a notebook, and ledgers."""

from .page import (
    display,
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
    "display", "duration", "facts", "folded", "formatted", "image", "instant", "interval", "line", "means",
    "note", "number", "page", "picture", "table", "text", "unit_of",
]  # fmt: skip
