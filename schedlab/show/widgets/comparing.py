"""Two schedules compared: in a sentence about their waits, and in a table of their measures."""

import warnings

import numpy as np
import pandas as pd

from ...machine import Pools
from ...schedule.statistics import IntervalWarning, paired
from ..page import duration, unit_of
from ..reading import MINUS

MEASURES = {
    "wait_time": "mean wait",
    "median_wait_time": "median wait",
    "p95_wait_time": "95th percentile of the wait",
    "bounded_slowdown": "mean bounded slowdown",
    "utilization": "utilization (%)",
    "loss_of_capacity_share": "loss of capacity (%)",
    "mean_queue": "mean queue (jobs)",
    "killed": "killed at their estimate (jobs)",
}
SHARES = ("utilization", "loss_of_capacity_share")
WAITS = [name for name in MEASURES if name.endswith("wait_time")]


def difference(schedule, other, machines=("", ""), pool=None):
    """Say in a sentence how long jobs wait under two schemes, or on two machines, of which the names are given."""
    under = [f"under {run.scheme}" for run in (schedule, other)]
    on = [f"on “{name}”" if name else "" for name in machines]
    side, other_side = (" ".join(filter(None, parts)) for parts in zip(under, on, strict=True))
    short, other_short = on if under[0] == under[1] and all(on) else (side, other_side)
    ours, theirs = schedule.metrics()["wait_time"], other.metrics()["wait_time"]
    job = "a job" if pool is None else f"a job in {pool}"
    sentence = f"{side[0].upper()}{side[1:]} {job} waits {duration(ours)} on average"
    if side != other_side:
        more = "less than" if ours < theirs else "more than"
        if ours == theirs or (theirs and abs(ours / theirs - 1) < 0.005):
            more = "as long as"
        elif theirs and 0.5 <= ours / theirs <= 2:
            more = f"{abs(ours / theirs - 1):.0%} {more}"
        sentence += f", {more} {other_short} ({duration(theirs)})"
    runs = {short: schedule, other_short: other}
    queues = [name for name, run in runs.items() if not run.settles]
    queues[1:] = [name if all(on) else name.removeprefix("under ") for name in queues[1:]]
    return sentence + f"; {' and '.join(queues)} the queue never settles" * bool(queues)


def side_by_side(schedule, other, labels=None):
    """Return the measures of two schedules with the paired difference, and a caption that says how certain it is."""
    side, other_side = labels or (str(schedule.scheme), str(other.scheme))
    ours, theirs = (pd.concat([run.metrics()[list(MEASURES)], _in_use(run)]) for run in (schedule, other))
    measures = dict.fromkeys([*ours.index, *theirs.index])
    ours, theirs = ours.reindex(measures), theirs.reindex(measures)
    names = dict(MEASURES)
    scale = pd.Series(1.0, ours.index)
    for wait in WAITS:
        both = (ours[wait] * theirs[wait]) ** 0.5 or max(ours[wait], theirs[wait])  # readable for both
        unit, scale[wait] = unit_of(both)
        names[wait] += f" ({unit})"
    scale[[name for name in measures if name in SHARES or name not in MEASURES]] = 0.01  # as percentages
    theirs = theirs.mask(np.isclose(ours, theirs, rtol=1e-9, atol=0), ours)  # no differences that are only rounding
    ours, theirs = ours / scale, theirs / scale
    columns = {side: ours, other_side: theirs}
    caption = ""
    if len(columns) == 2:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IntervalWarning)  # the caption says it
            pairs = {name: paired(schedule, other, name).difference for name in ("wait_time", "bounded_slowdown")}
        columns["difference"] = ours - theirs
        settled = schedule.settles and other.settles
        if settled:
            intervals = pd.Series({name: _between(pair, scale[name]) for name, pair in pairs.items()})
            columns["95 % interval"] = intervals.reindex(ours.index).fillna("")
        columns["change (%)"] = (100 * (ours / theirs - 1)).where(theirs > 0)
        notes = dict.fromkeys(note for pair in pairs.values() for note in pair.notes)
        about = "Intervals of the paired difference by batch means"
        caption = "; ".join([about, *notes]) if settled else f"No intervals: {'; '.join(notes)}"
    if len(measures) > len(MEASURES):
        caption = "; ".join(filter(None, [caption, "in use: the share of what was open"]))
    table = pd.DataFrame(columns).rename(index=names).rename_axis("measure").reset_index()
    return table, caption


def _in_use(schedule):
    """Return how much of each resource of each pool was in use, if the machine has pools."""
    if not isinstance(schedule.machine, Pools):
        return pd.Series(dtype="float64")
    pools = dict(schedule.machine.pools)
    shares = schedule.resources()["utilization"]
    named = {f"{pool}: {pools[pool].called(name)} in use (%)": share for (pool, name), share in shares.items()}
    return pd.Series(named, dtype="float64")


def _between(interval, scale):
    ends = (end / scale for end in (interval.low, interval.high))
    texts = (f"{end:,.0f}" if abs(end) >= 1000 else f"{end:.3g}" for end in ends)
    return " to ".join(texts).replace("-", MINUS)
