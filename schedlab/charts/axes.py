"""Axes: their titles with units, scales and ticks.

They are plain dictionaries: Altair copies a chart whenever it is put into another, and its `Axis` has ninety settings.
"""

import math

import numpy as np

from schedlab.schedule.metrics import MEASURES

from ._altair import alt

LEAST = 3  # ticks within a logarithmic axis, at least
AXES = {name: f"{label} (hours)" for name, (label, unit) in MEASURES.items() if unit == "s"}
IN_HOURS = set(AXES)
AXES |= {
    "load": "offered load",
    "offered_load": "offered load",
    "effective_load": "effective load",
    "bounded_slowdown": "mean bounded slowdown (tau = 10 s)",
    "per_processor_slowdown": "mean per-processor slowdown (tau = 10 s)",
    "slowdown": "mean slowdown",
    "wait_ratio": "ratio of mean waits",
    "utilization": "utilization",
    "loss_of_capacity": "loss of capacity (processor-seconds)",
    "loss_of_capacity_share": "loss of capacity (share)",
    "throughput": "throughput (jobs per hour)",
    "throughput_sd_day": "standard deviation of the throughput (jobs per day)",
    "throughput_sd_week": "standard deviation of the throughput (jobs per week)",
    "mean_queue": "mean queue length (jobs)",
    "max_queue": "longest queue (jobs)",
    "longest_pile_up": "longest pile-up of the queue (share of the makespan)",
    "jobs": "jobs",
    "killed": "killed (jobs)",
    "completed": "completed jobs",
    "slice": "slice (ms)",
    "pes": "PEs",
    "trace": "log",
    "week": "week since the first submission",
    "processor_hours": "processor-hours",
    "gpu_hours": "GPU-hours",
}
# Columns of `Schedule.jobs`: values of one job, not means over jobs.
PER_JOB = {
    "wait_time": "wait",
    "turnaround": "turnaround",
    "run_time": "run time",
    "requested_time": "estimate",
    "bounded_slowdown": "bounded slowdown (tau = 10 s)",
    "slowdown": "slowdown",
    "procs": "processors",
    "requested_procs": "processors",
    "killed": "killed",
    "user_id": "user",
}
DURATIONS = {"wait_time", "turnaround", "run_time", "requested_time"}  # columns in PER_JOB, in seconds
MARKS = {
    1: "1 s",
    10: "10 s",
    60: "1 min",
    600: "10 min",
    3_600: "1 h",
    36_000: "10 h",
    360_000: "100 h",
    3_600_000: "1,000 h",
}


def axis(**settings) -> dict:
    """Return an axis with readable numbers."""
    return {"format": ",~r", "labelFlush": False, **settings}  # 10,000, 0.1; labels at their ticks


def vertical(parts, log: bool) -> dict:
    """Return scale and axis for the values of each panel; a logarithmic axis is linear near 0 if a value is 0."""
    if not log:
        return {"scale": {"zero": True}, "axis": axis()}
    known = [part[part.notna()] for part in parts]
    drawn = [part[(part > 0) & (part < np.inf)] for part in known]
    if any(map(len, known)) and all(len(some) == len(every) for some, every in zip(drawn, known, strict=True)):
        return {"scale": log_scale(), "axis": axis(values=log_ticks([part for part in drawn if len(part)]))}
    return {"scale": {"type": "symlog"}, "axis": axis()}


def log_scale(padding: int = 8) -> dict:
    """Return a logarithmic scale that extends this many pixels beyond what is drawn."""
    return {"type": "log", "nice": False, "padding": padding}


def log_ticks(several) -> list[float]:
    """Return a logarithmic axis's ticks for the values of each panel: at least three in their range, if they differ.

    They are powers of ten; over a shorter range 1, 2 and 5 times these; over a still shorter one evenly spaced.
    """
    return sorted({tick for values in several for tick in _ticks(float(np.min(values)), float(np.max(values)))})


def _ticks(low, high):
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for steps in ((1,), (1, 2, 5)):
        ticks = [float(f"{step}e{power}") for power in range(first, last + 1) for step in steps]
        if sum(low <= tick <= high for tick in ticks) >= LEAST:
            return ticks
    return _even(low, high)


def _even(low, high):
    """Return evenly spaced ticks, up to about one beyond either end."""
    if low == high:
        return [low]
    power = 10.0 ** math.floor(math.log10(high - low))
    for part in (1, 0.5, 0.2, 0.1):
        step = part * power
        first, last = math.floor(low / step), math.ceil(high / step)
        if sum(low <= i * step <= high for i in range(first, last + 1)) >= LEAST:
            break
    return [float(f"{i * step:.12g}") for i in range(first, last + 1) if i > 0]


def logarithmic(column: str, values, up_to: float | None = None) -> tuple[dict, np.ndarray, str]:
    """Fit a logarithmic axis to a column of values per job; ticks of durations at 1 s, 1 min, 1 h and the like.

    The axis ends at the largest value, or at `up_to`. Return scale and axis; the values to draw, zeros at the low end
    of the axis (for durations at 1 s); and what the subtitle must say about zeros, "" if there are none.
    """
    bad = values[~((values >= 0) & (values < np.inf))]
    if bad.size:
        raise ValueError(f"{column} has the value {bad[0]}, which a logarithmic axis cannot show")
    duration, positive = column in DURATIONS, values[values > 0]
    low = 1.0 if duration or not positive.size else float(positive.min())
    high = max(float(values.max(initial=0)) if up_to is None else up_to, 10 * low)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    labels = ", ".join(f"'{seconds}': '{text}'" for seconds, text in MARKS.items())
    marks = alt.Axis(values=list(MARKS), labelExpr=f"{{{labels}}}[datum.value]", labelFlush=False)
    ticks = marks if duration else axis(values=log_ticks([[low, high]]))
    zeros = f"0 is drawn at {'1 s' if duration else format(low, '.3g')}" if positive.size < values.size else ""
    return {"scale": scale, "axis": ticks}, np.maximum(values, low), zeros
