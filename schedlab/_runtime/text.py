"""Text from outside, such as a log's name, made safe for the places where it is shown.

A name is shown in a terminal, in the script of a page, and in a spreadsheet. There it must not control the terminal,
end the script, or act as a formula. In HTML itself, use `html.escape` as usual.
"""

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

CLOSE = 0.65  # how alike names must be to suggest one: "sfj" and "sjf" are, "foo" and "fromlog" are not
LONGEST = 200  # letters of a value in a message

# Control characters, marks that change the direction of writing, surrogates that cannot be encoded, line separators.
_UNSHOWN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_MARKUP = re.compile("<(?=[/!])")
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")  # with leading quotes, so that a reader removes only a quote added here
_NUMBER = re.compile(r"[+-][0-9][0-9.,]*(e[+-]?[0-9]+)?( ?%)?", re.IGNORECASE)


def plain(text: str) -> str:
    r"""Make text of any origin fit for one line of a terminal, a message or a chart.

    Control characters are written as Python writes them (``\x1b``, ``\n``). ``</`` and ``<!`` get a blank after the
    ``<``: Altair puts charts into the script of a page without escaping them, and the script would end there.
    """
    if not text.isprintable():
        hidden = {letter for letter in text if unicodedata.category(letter) in _UNSHOWN}
        text = "".join(ascii(letter)[1:-1] if letter in hidden else letter for letter in text)
    return _MARKUP.sub("< ", text)


def cell(value):
    """Make a value fit for a cell of a CSV file: text that a spreadsheet would take for a formula gets a leading ``'``.

    Numbers stay unchanged, also as text ("-5", "-11.6 %"). To read the text back, remove the first ``'`` where it
    matches ``'+[=+@-]``.
    """
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def check_known(what: str, name: str, values: Iterable[str]) -> str:
    """Return a name if it is a known one; else raise ValueError, which says `what` is unknown, and what is spelt alike.

    >>> check_known("size", "huge", ("quick", "full"))
    Traceback (most recent call last):
        ...
    ValueError: unknown size 'huge'; known: quick, full
    """
    values = tuple(values)
    if not isinstance(name, str) or name not in values:
        raise ValueError(f"unknown {what} {name!r}; known: {', '.join(values)}{suggestion(name, values)}")
    return name


def suggestion(name, values: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: a known name that is spelt alike; empty if there is none.

    Case, and the difference between ``-``, ``_`` and a blank, do not count.

    >>> suggestion("esay", ("fcfs", "easy")), suggestion("RunTime", ("run_time",)), suggestion("x", ("easy",))
    ("; did you mean 'easy'?", "; did you mean 'run_time'?", '')
    """
    if not isinstance(name, str):
        return ""
    spelt = {_spelling(value): value for value in values if isinstance(value, str)}
    near = get_close_matches(_spelling(name), spelt, n=1, cutoff=CLOSE)
    return f"; did you mean {spelt[near[0]]!r}?" if near else ""


def _spelling(name):
    return re.sub(r"[-_ ]+", "-", name.casefold())


def spelt(value) -> str:
    """Spell a value of the user in one line of a message: as Python does, but NumPy's numbers as plain ones.

    >>> import numpy as np
    >>> spelt(np.float64(0.5)), spelt(np.int64(3)), spelt("a")
    ('0.5', '3', "'a'")
    """
    is_number = type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0
    text = re.sub(r"\s*\n\s*", " ", repr(value.item() if is_number else value))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
