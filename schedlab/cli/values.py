"""Arguments of the command line: from text to values, with one clear error for each."""

import argparse
import datetime as dt
import math
from contextlib import suppress
from pathlib import Path

import pandas as pd

from schedlab import schemes
from schedlab._runtime.text import check_known
from schedlab.workload import frames
from schedlab.workload.edges import duration
from schedlab.workload.filter import check_missing_estimate

STANDARD = "-"  # in place of a file: standard input or output


def _argument(parse):
    """Let argparse pass on what was wrong with an argument; of a ValueError it would keep only the name of the type."""

    def typed(text):
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(error) from None

    return typed


@_argument
def scheme(text):
    if "," in text:
        raise ValueError(f"expected one scheme, got {text!r}: `schedlab compare` takes several")
    return schemes.scheme(text)


def pairs(known):
    @_argument
    def split(text):
        pairs = dict(map(str.strip, item.partition("=")[::2]) for item in text.split(",") if item.strip())
        for name, value in pairs.items():
            if known is not None:
                check_known("name before '='", name, known)
            if not value:
                raise ValueError(f"expected {name}=..., got {name!r}")
        return {name: int(value) if value.isdecimal() else value for name, value in pairs.items()}

    return split


@_argument
def columns(text):
    return pairs(frames.ROLES)(text) if "=" in text else listed(str)(text)


@_argument
def machine(text):
    sizes = pairs(None)(text) if "=" in text else {"": int(text) if text.isdecimal() else text}
    if not all(isinstance(size, int) and size > 0 for size in sizes.values()):
        raise ValueError(f"expected a whole number of at least 1, or NAME=PROCESSORS,..., got {text!r}")
    return sizes if "=" in text else sizes[""]


@_argument
def unit(text):
    return pairs(frames.ROLES)(text) if "=" in text else check_known("unit", text, frames.UNITS)


@_argument
def load(text):
    load = _number_in(text)
    if not (load > 0 and math.isfinite(load)):
        raise ValueError(f"load must be greater than 0, got {text}")
    return load


@_argument
def count(text):
    if not (text.isdecimal() and int(text) > 0):
        raise ValueError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


@_argument
def shard(text):
    number, _, count = text.partition("/")
    if not (text.isascii() and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise ValueError(f"expected a part such as 3/16, from 1/16 to 16/16, got {text!r}")
    return int(number), int(count)


@_argument
def seed(text):
    if not text.isdecimal():
        raise ValueError(f"expected a whole number of at least 0, got {text!r}")
    return int(text)


@_argument
def confidence(text):
    confidence = _number_in(text)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {text}")
    return confidence


@_argument
def instant(text):
    try:
        return float(text)
    except ValueError:
        with suppress(ValueError):
            pd.Timestamp(text)
            return text
    raise ValueError(f"expected a date or a number of seconds, got {text!r}")


@_argument
def date(text):
    with suppress(ValueError):
        return pd.Timestamp(dt.date.fromisoformat(text))
    raise ValueError(f"expected a date such as 2026-03-01, got {text!r}")


@_argument
def lead(text):
    if text == "none":
        return False
    with suppress(argparse.ArgumentTypeError):
        return text if duration(text) >= 0 else instant(text)
    raise ValueError(f"expected a length of time such as 7days, a date, a number of seconds or none, got {text!r}")


@_argument
def missing_estimate(text):
    if text in ("run", "drop"):
        return text
    with suppress(ValueError):
        check_missing_estimate(seconds := float(text))
        return seconds
    raise ValueError(f"expected run, drop or a positive number of seconds, got {text!r}")


def _number_in(text):
    try:
        return float(text)
    except ValueError:
        hint = ", such as 0.9 for 90 %" if text.endswith("%") else ""
        raise ValueError(f"expected a number{hint}, got {text!r}") from None


def one_of(names):
    """Take one of some names, in capital or small letters."""

    @_argument
    def name(text):
        known = {spelling.casefold(): spelling for spelling in names}
        return known.get(text.casefold()) or check_known("scheme", text, names)

    return name


def listed(kind):
    def split(text):
        if items := [kind(item.strip()) for item in text.split(",") if item.strip()]:
            return items
        raise argparse.ArgumentTypeError(f"expected a comma-separated list, got {text!r}")

    return split


def file(*known):
    @_argument
    def checked(path):
        if path == STANDARD:
            return path
        if not path.endswith(known):
            raise ValueError(f"{path!r} has an unknown suffix, expected {' or '.join(known)}")
        if Path(path).is_dir():
            raise ValueError(f"{path!r} is a folder, expected a file")
        return path

    return checked
