"""Texts of ledgers as people read them: numbers of three digits, durations with a unit, no word twice.

Kept ledgers hold the texts of runs that took days, and new runs are compared with these texts. So they stay as they
are, and each place that shows them passes them through `readable`.
"""

import re
from html import escape

from .page import duration, without_exponent

MINUS = "\N{MINUS SIGN}"
DIGITS = 3  # of a measured number
_NUMBER = r"[+-]?\d[\d,]*(?:\.\d+)?"
_EXPONENT = re.compile(r"[+-]?\d(?:\.\d+)?e[+-]?\d+")
_INTERVAL = re.compile(rf"({_NUMBER})([^\[\]();:\d]*) \[({_NUMBER}) to ({_NUMBER})\]")
_SECONDS = re.compile(r"\b(\d{4,}\.\d+) s\b")  # printed digits, which a claim may be about, so they stay
_FACTOR = re.compile(r"(?<![\d.])0(?:\.0\d*)? times the published")
_DIFFERENCE = re.compile(r"\bless (?=(?:that|those) )")
_HYPHEN = re.compile(r"(?<![\w.,%)\]-])-(?=\d)")  # before a number, not within a range or a name
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=%)")
_LARGE = re.compile(r"(?<![\d.,])\d{4,}(?=(?:\.\d+)? %)")
_ZEROS = re.compile(r"(\.\d*[1-9])00+\b")  # digits that say nothing
_NESTED = re.compile(r"(?<=[\]%\d]) \(((?:[^()]|\([^()]*\))*\([^()]*\)[^()]*)\)")
_BRACKETS = re.compile(r"(?<=\]) \(([^()]*)\)")
_CONTRADICTED = re.compile(r"[^.:]*(?:\.\d[^.:]*)*: What was measured contradicts it\. ?")
_BEGINNING = re.compile(r"(^|(?<=[a-z)])\. )([a-z])(?=[a-z]*[ ,:'])")


def typeset(text: str) -> str:
    """Write a text as it is printed: with minus signs, and with commas within large changes.

    Examples
    --------
    >>> typeset("-5 % to +5569 % of CTC-SP2, 3-4").replace(MINUS, "minus ")
    'minus 5 % to +5,569 % of CTC-SP2, 3-4'
    """
    return _HYPHEN.sub(MINUS, _LARGE.sub(lambda match: f"{int(match[0]):,}", text))


def in_html(text) -> str:
    """Write a text as it is printed, for HTML."""
    return escape(typeset(str(text)))


def unbroken(text: str) -> str:
    """Write a text as it is printed, and let no line begin with a percent sign."""
    return _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", typeset(text))


def readable(text: str) -> str:
    """Write a text of a ledger as people read it; what it says stays the same.

    Measured numbers have three digits, and none has an exponent; durations with printed digits are in readable units,
    too; a difference is "minus".

    Examples
    --------
    >>> readable("wait: 1.41e+03 [-6.57e+03 to 9.39e+03] (KTH, EASY (count))")
    'wait: 1,410 [-6,570 to 9,390] for KTH, EASY (count)'
    >>> readable("change: +148.6 % [-96.1 to +19242.4]"), readable("wait 15187.6077 s")
    ('change: +149 % [-96.1 to +19,200]', 'wait 15,187.6077 s (4.22 h)')
    """
    text = _EXPONENT.sub(lambda match: without_exponent(match[0]), text)
    text = _INTERVAL.sub(_rounded, text)
    text = _SECONDS.sub(lambda match: f"{_grouped(match[1])} s ({duration(float(match[1]))})", text)
    text = _ZEROS.sub(r"\1", text)
    text = _DIFFERENCE.sub("minus ", _FACTOR.sub("published", text))
    if _NESTED.search(text):  # brackets within brackets; those beside them are written alike
        text = _BRACKETS.sub(r" for \1", _NESTED.sub(r" for \1", text))
    return text


def reason(text: str) -> str:
    """Write a reason as people read it: its sentences begin with a capital, and none stands there for each reading.

    Examples
    --------
    >>> reason("wait, by count: What was measured contradicts it. wait, by block: What was measured contradicts it.")
    'Under 2 readings, what was measured contradicts the claim.'
    """
    contradicted = list(_CONTRADICTED.finditer(text))
    if len(contradicted) > 1:
        first = contradicted[0].start()
        summary = f"Under {len(contradicted)} readings, what was measured contradicts the claim."
        parts = (text[:first], summary, _CONTRADICTED.sub("", text[first:]))
        text = " ".join(filter(None, map(str.strip, parts)))
    return _BEGINNING.sub(lambda match: match[1] + match[2].upper(), readable(text))


def _rounded(match):
    """Round a number and its interval to three digits, unless the interval would then have no length."""
    value, unit, low, high = match.groups()
    ends = [_three(end) for end in (low, high)]
    value, low, high = (value, low, high) if ends[0] == ends[1] else (_three(value), *ends)
    return f"{value}{unit} [{low} to {high}]"


def _three(text):
    digits = re.sub(r"\D", "", text).lstrip("0")
    if len(digits) <= DIGITS or "." not in text:
        return text
    number, sign = float(text.replace(",", "")), "+" * text.startswith("+")
    rounded = float(f"{number:.{DIGITS}g}")
    return f"{rounded:{sign},.0f}" if abs(rounded) >= 100 else f"{number:{sign}#.{DIGITS}g}"


def _grouped(digits):
    whole, _, part = digits.partition(".")
    return f"{int(whole):,}.{part}"
