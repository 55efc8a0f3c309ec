"""Words from outside, such as a log's name, made fit for the places where they are shown.

A name reaches a terminal, the script of a page, and a spreadsheet. What it must not do there: control the terminal, end
the script, or be a formula. HTML itself takes `html.escape`, as everywhere.
"""

import re
import unicodedata
from collections.abc import Iterable

# Controls, marks that turn the direction of writing, halves of letters that no encoding takes, ends of lines.
_UNSHOWN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_MARKUP = re.compile("<(?=[/!])")
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")  # with marks before it, lest a reader remove one that was not ours
_NUMBER = re.compile(r"[+-][0-9][0-9.,]*(e[+-]?[0-9]+)?( ?%)?", re.IGNORECASE)


def plain(words: str) -> str:
    r"""Make words fit for one line of a terminal, a message or a chart.

    Control characters are written as Python writes them (``\x1b``, ``\n``). ``</`` and ``<!`` get a blank between:
    Altair puts charts into the script of a page without escaping them, and the script would end there.

    Parameters
    ----------
    words : str
        Of any origin.

    Examples
    --------
    >>> print(plain("my log\x1b[31m"))
    my log\x1b[31m
    """
    if not words.isprintable():
        words = "".join(letter if _is_shown(letter) else ascii(letter)[1:-1] for letter in words)
    return _MARKUP.sub("< ", words)


def _is_shown(letter):
    return unicodedata.category(letter) not in _UNSHOWN


def cell(value):
    """Make a value fit for a cell of a CSV file: words that a spreadsheet takes for a formula get a ``'`` in front.

    Numbers stay as they are, also as words ("-5", "-11.6 %"). To read the words back, remove the first ``'`` where
    they match ``'+[=+@-]``.
    """
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def check_known(what: str, given: str, values: Iterable[str]) -> str:
    """Give a name back if it is one of those that are known.

    Parameters
    ----------
    what : str
        What the message calls it.
    given : str
        The name.
    values : iterable of str
        All that are known.

    Raises
    ------
    ValueError
        For an unknown name; the message lists the known ones.

    Examples
    --------
    >>> check_known("size", "huge", ("quick", "full"))
    Traceback (most recent call last):
        ...
    ValueError: unknown size 'huge'; known: quick, full
    """
    values = tuple(values)
    if not isinstance(given, str) or given not in values:
        raise ValueError(f"unknown {what} {given!r}; known: {', '.join(values)}")
    return given
