"""A warning of work that was left out."""

import warnings

import pandas as pd

from schedlab._runtime.text import plain

from .filter import FEW, lost_work


class LoadWarning(UserWarning):
    """A load is probably not the one that was meant.

    Either it is so high that a percentage was meant, or more than 1 % of the work was left out as a trace was loaded or
    put on another machine.
    """


def warn_of_lost_work(name: str, dropped: pd.DataFrame, kept: pd.DataFrame, stacklevel: int) -> str:
    """Warn if jobs with more than 1 % of the work are left out, and say how much; else return an empty text."""
    if dropped.empty:
        return ""
    lost, total = lost_work(dropped, area(kept))
    work = sum(lost.values())
    if work <= FEW * total:
        return ""
    counts = dropped["reason"].value_counts().to_dict()
    reasons = "; ".join(f"{counts[reason]:,} job{'s' * (counts[reason] != 1)}: {reason}" for reason in lost)
    share = f"{100 * work / total:.3g} % of the work left out"
    message = f"{plain(str(name))}: {share} ({work:,.0f} processor-seconds; {reasons})"
    warnings.warn(message, LoadWarning, stacklevel=stacklevel)
    return share


def area(table):
    return table["run_time"] * table["requested_procs"]
