"""How the values of runs appear in a table: plain ones as they are, others by name, and equal names are numbered."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from .._runtime.digests import NoDigestError, digest
from ..workload.labels import labels
from ..workload.trace import Trace
from .results import PLAIN


def named(runs: Sequence[Mapping]) -> list[dict]:
    """Return the values of runs as they appear in a table."""
    names = dict.fromkeys(name for values in runs for name in values)
    columns = {name: labelled(values[name] for values in runs if name in values) for name in names}
    return [
        {name: value if isinstance(value, PLAIN) else columns[name][identity(value)] for name, value in values.items()}
        for values in runs
    ]


def identity(value):
    """Return a key that is equal for equal values; traces, and values without a digest, are compared by identity."""
    try:
        return id(value) if isinstance(value, Trace) else digest(value)
    except NoDigestError:
        return id(value)


def labelled(values: Iterable) -> dict:
    """Name all values that are not plain: traces, schemes, functions and others. Number equal names."""
    values = list(values)
    traces = {id(trace): trace for trace in values if isinstance(trace, Trace)}
    names = dict(zip(traces, labels(traces.values()), strict=True))
    others = {identity(value): value for value in values if not isinstance(value, (Trace, *PLAIN))}
    taken = Counter()
    for known, value in others.items():
        name = name_of(value)
        taken[name] += 1
        names[known] = f"{name} ({taken[name]})" if taken[name] > 1 else name
    return names


def name_of(value):
    return getattr(value, "__name__", str(value))
