"""Names for traces in a comparison."""

from collections import Counter
from collections.abc import Iterable, Sequence

from .trace import Trace


def labels(families: Iterable[Trace | str | Sequence[Trace]]) -> list[str]:
    """Name traces for a comparison, so that different traces with the same title can be told apart.

    A family is a trace, the name of a log, or several traces under one name, such as replications. Its name is the
    title (of several traces, that of the first), and the steps that were not applied to all others with that title; a
    number if the steps do not differ. Equal traces get equal names.
    """
    families = [[family] if isinstance(family, Trace | str) else list(family) for family in families]
    keys = [tuple(part if isinstance(part, str) else id(part) for part in family) for family in families]
    facts = {key: _title_and_steps(*family) for key, family in zip(keys, families, strict=True)}
    names = dict(zip(facts, told_apart(facts.values()), strict=True))
    return [names[key] for key in keys]


def told_apart(facts: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    """Name things by their titles and by the steps in which they differ, as `labels` does."""
    facts, names, taken = list(facts), [], Counter()
    for title, steps in facts:
        others = [history for name, history in facts if name == title]
        name = ", ".join([title, *(step for step in steps if not all(step in history for history in others))])
        taken[name] += 1
        names.append(f"{name} ({taken[name]})" if taken[name] > 1 else name)
    return names


def _title_and_steps(first, *more):
    """Return the title of a family of traces, and the steps applied to all of them."""
    if isinstance(first, str):
        return first, []
    return first.title, [step for step in first.history if all(step in trace.history for trace in more)]
