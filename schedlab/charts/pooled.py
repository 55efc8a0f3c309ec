"""Machines of several pools in charts: their resources over time, their closed windows, and the runs these ended."""

from typing import NamedTuple

import numpy as np

from schedlab.machine import Partitions, Pools
from schedlab.machine.pools import memory_unit
from schedlab.schemes.pooled import seconds_of

from ._altair import alt
from .palette import INK

SHADE = 0.16  # opacity of a band where all is closed; half of that where some of it is
BANDS = "grey bands: closed windows"
ENDED = "pale with a border: runs that a closed window ended"


class Part(NamedTuple):
    """A resource of a pool: the position of the pool, what it has in units of the axis, and how much a unit is."""

    place: int
    resource: str
    capacity: float
    unit: int
    held: str  # such as "memory held (TB)"
    heading: str


class Window(NamedTuple):
    """A closed window of a pool, as far as it lies in a period (seconds): what it closes by resource, and its text."""

    place: int
    begin: float
    end: float
    closed: dict
    text: str


def has_pools(schedule) -> bool:
    """Tell whether a chart shows the pools of a machine one by one; `Partitions` it shows as one machine."""
    return isinstance(schedule.machine, Pools) and not isinstance(schedule.machine, Partitions)


def parts_of(machine: Pools) -> list[Part]:
    """Return each resource of each pool."""
    parts = []
    for place, (name, pool) in enumerate(machine.pools):
        for resource, amount in pool.amounts:
            size = 1
            unit = ""
            if resource == "memory":
                word, size = memory_unit(amount)
                unit = f" ({word})"
            held = f"{pool.called(resource)} held{unit}"
            capacity = amount / size
            parts.append(Part(place, resource, capacity, size, held, f"{name}: {held}, of {written(capacity)}"))
    return parts


def written(amount: float) -> str:
    """Write an amount with its thousands separated: 2,048 or 1.5."""
    return f"{amount:,.0f}" if amount == int(amount) else f"{amount:,.4g}"


def demands_of(schedule, parts: list[Part]) -> list[np.ndarray]:
    """Return what each job holds of each resource of each pool while it runs, in units of the axes."""
    places = schedule.case.places
    demand = schedule.case.pooled.demand
    resources = schedule.machine.resources
    columns = [demand[:, resources.index(part.resource)] / part.unit for part in parts]
    return [np.where(places == part.place, column, 0) for part, column in zip(parts, columns, strict=True)]


def windows_of(schedule, begin: float, end: float) -> list[Window]:
    """Return the closed windows of each pool within a period, in order."""
    windows = []
    for closed in schedule.machine.closed if has_pools(schedule) else ():
        first, last = seconds_of(schedule.trace, closed)
        for place, (name, pool) in enumerate(schedule.machine.pools):
            if closed.pool in (None, name) and first < end and last > begin:
                amounts = dict(closed.amounts) or dict(pool.amounts)
                windows.append(Window(place, max(first, begin), min(last, end), amounts, str(closed)))
    return sorted(windows, key=lambda window: (window.place, window.begin))


def open_over_time(part: Part, windows: list[Window], begin: float, end: float) -> list[dict]:
    """Return what is open of a resource, in units of the axis, from the begin to the end of a period."""
    mine = [window for window in windows if window.place == part.place]
    instants = sorted({begin, end, *(edge for window in mine for edge in window[1:3])})
    rows = []
    for now in instants:
        closed = sum(window.closed.get(part.resource, 0) for window in mine if window.begin <= now < window.end)
        rows.append({"time": now, "open": part.capacity - closed / part.unit})
    rows[-1]["open"] = rows[-2]["open"] if len(rows) > 1 else rows[-1]["open"]  # the last step is drawn to its end
    return rows


def ended_by_windows(schedule) -> np.ndarray:
    """Tell which pieces of a schedule were ended by a closed window; bool, shape (n_pieces,)."""
    outcome = schedule.outcome
    job = outcome.pieces.job
    if not (has_pools(schedule) and schedule.machine.closed):
        return np.zeros(job.size, bool)
    queued_again = np.append(job[1:] == job[:-1], False)[: job.size]
    return queued_again | (outcome.run < schedule.case.jobs.run)[job]


def demands_in_words(schedule, jobs: np.ndarray) -> list[str]:
    """Return the demand of some jobs, by position, in each resource of their pools: "8 processors, 2 GPUs"."""
    machine = schedule.machine
    demands = schedule.case.pooled.demand[jobs].tolist()
    texts = []
    for demand, place in zip(demands, schedule.case.places[jobs].tolist(), strict=True):
        pool = machine.pools[place][1]
        shares = {resource: demand[machine.resources.index(resource)] for resource, _ in pool.amounts}
        texts.append(", ".join(pool.shown(resource, amount) for resource, amount in shares.items()))
    return texts


def bands(rows: list[dict], x, *sides, clip: bool = False):
    """Shade closed windows: rows with begin, end, text and whether all is closed, and `sides` across them."""
    opacity = alt.condition("datum.whole", alt.value(SHADE), alt.value(SHADE / 2))
    mark = {"type": "rect", "color": INK, "clip": clip}
    shaded = alt.Chart({"values": rows}, mark=mark).encode(*sides, x=x, x2=alt.X2(field="end"), opacity=opacity)
    return shaded.encode(tooltip=[alt.Tooltip("text:N", title="closed window")])
