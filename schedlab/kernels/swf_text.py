"""Scan the text of an SWF log: bytes in, numbers out.

The scanner reads only *plain* lines: blank ones, and records of 18 fields, each of them digits, possibly with a point,
or -1. Nearly every line of the archive's logs is plain. At any other line (a comment, ``1e5``, too few fields, no
number at all) it stops and returns its position. The caller handles that line and calls again for the rest. So this
file is fast, and all other lines are handled in one place elsewhere.

Plain numbers are correctly rounded, so they equal the result of Python's ``float`` for the same text.
"""

import math

import numpy as np

from schedlab.kernels._jit import kernel, part

N_FIELDS = 18
EXACT = 2**53  # float64 holds every integer below this
MAX_DIGITS = 18  # int64 holds this many digits, and twice such a number

_POWERS = 10 ** np.arange(MAX_DIGITS + 1)
_NEWLINE, _SPACE, _MINUS, _POINT, _ZERO, _NINE = b"\n -.09"
_TAB, _RETURN = b"\t\r"
_ODD = -1


@kernel
def scan_records(text, start, line, row, cells):
    """Read plain lines until the text ends or an odd line is met.

    The text is bytes and ends with a line end, so that the loops need not check for the end of the text. Reading begins
    at the place `start`, with line number `line` and row `row` of `cells`: float64, shape (18, n_rows), modified in
    place. It needs one row more than the number of records, since an odd line may spoil the row after the last one.
    Return place, line and row of the odd line; the place is ``len(text)`` if there is none.
    """
    at = start
    while at < len(text):
        start = at
        field = 0
        while True:
            while _is_blank(text[at]):
                at += 1
            if text[at] == _NEWLINE:
                break
            if field == N_FIELDS:
                return start, line, row
            value, at = _plain_number(text, at)
            if at == _ODD or (value < 0 and value != -1):
                return start, line, row
            cells[field, row] = value
            field += 1
        if field == N_FIELDS:
            row += 1
        elif field > 0:
            return start, line, row
        at += 1
        line += 1
    return at, line, row


@part
def _plain_number(text, at):
    """Read one number; return its value and the place after it, which is `_ODD` if the number is not plain."""
    negative = text[at] == _MINUS
    if negative:
        at += 1
    mantissa = 0
    digits = 0
    while _ZERO <= text[at] <= _NINE:
        mantissa = 10 * mantissa + (text[at] - _ZERO)
        digits += 1
        at += 1
    decimals = 0
    if text[at] == _POINT:
        at += 1
        while _ZERO <= text[at] <= _NINE:
            mantissa = 10 * mantissa + (text[at] - _ZERO)
            decimals += 1
            at += 1
        digits += decimals
    closed = text[at] == _NEWLINE or _is_blank(text[at])
    if not (closed and 1 <= digits <= MAX_DIGITS):
        return 0.0, _ODD
    value = _quotient(mantissa, _POWERS[decimals])
    if value >= EXACT:
        return 0.0, _ODD
    return (-value if negative else value), at


@part
def _quotient(mantissa, power):
    """Divide an integer below 10**18 by a power of ten up to 10**18, correctly rounded.

    Both are exact in float64 if the integer is below 2**53, and their quotient is rounded once (Clinger 1990, "How to
    read floating point numbers accurately"). That covers nearly every number; the others, such as 1234.5678901234567,
    need a long division in binary.
    """
    if mantissa < EXACT:
        return mantissa / power
    quotient, rest = mantissa // power, mantissa % power
    shift = 0
    while quotient < EXACT:  # until there are 54 bits: those of a float64, and one for rounding
        rest *= 2
        bit = rest >= power
        rest -= power * bit
        quotient = 2 * quotient + bit
        shift += 1
    half, quotient = quotient & 1, quotient >> 1
    if half and (rest > 0 or quotient & 1):  # ties to even
        quotient += 1
    return math.ldexp(quotient, 1 - shift)


@part
def _is_blank(byte):
    """Tell whether a byte separates fields: any blank of ``bytes.split``, except the line end."""
    return byte == _SPACE or (_TAB <= byte <= _RETURN and byte != _NEWLINE)
