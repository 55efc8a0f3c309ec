"""Who used the machine, and when: bars by a column of the log or by hour, weekday and month; two of these as cells."""

from collections.abc import Callable, Iterable, Mapping

import pandas as pd

from .._runtime.text import check_known
from ..schedule import Schedule
from ..schedule.calendar import WEEKDAYS
from ..schedule.metrics import is_calendar
from ..schedule.metrics.tables import LABELS
from ..schedule.usage import has_order, named
from ._altair import alt
from .axes import AXES, IN_HOURS, axis
from .checks import check_kind
from .clock import KNOWN, last_known, window_of
from .compare import named_parts
from .heatmaps import CELL, ROW, WIDE_CELL, mosaic
from .palette import BLUE, INK, coloured
from .sizes import HEIGHT, WIDE, beside
from .theme import about, headed, unchecked

MOST = 20  # values of a column, besides the others
SUMS = ("jobs", "processor_hours", "gpu_hours", "share", "utilization", "killed")
HELD = ("processor_hours", "gpu_hours", "share", "utilization")  # within an hour; others are by submission
SHARES = ("share", "utilization")
TIPS = ("jobs", "processor_hours", "gpu_hours", "utilization", "wait_time", "median_wait_time")
BAR = 18  # height of a bar, in pixels
THIN = 12  # of one in a group
ROOM = 1.12  # the axis in lengths of the longest bar, with room for its number
LYING = 520  # width of bars below one another, beside their names
LIMIT = 180  # width of a name, in pixels
FEW = 12  # columns of cells that can be wide
FIELDS = ["first", "second"]
OTHERS = "others"


@unchecked
def usage(
    schedules: Schedule | Iterable[Schedule] | Mapping[str, Schedule],
    by: str | Mapping | Callable | pd.Series | list = "user",
    y: str = "processor_hours",
    *,
    window=None,
    title: str | None = None,
    subtitle: str | None = None,
    width: float | None = None,
    height: float | None = None,
) -> alt.LayerChart:
    """Draw who used the machine: a bar for each user, account or other value of a column, or for each hour or month.

    Of more than 20 values, the chart has the largest, and one bar for all others together. Of waits and other means, it
    has those with the most processor-hours.

    Parameters
    ----------
    schedules : Schedule, several, or mapping
        Schedules, or a mapping of names to schedules. Several are compared, in groups of bars.
    by : str, mapping, function, Series, or a list of two
        As in `Schedule.usage`. Two of them make a table of cells, such as ``["weekday", "hour"]``, of one schedule.
    y : str
        A column of `Schedule.usage`, such as ``"processor_hours"``, ``"gpu_hours"``, ``"jobs"``, ``"utilization"`` or
        ``"wait_time"``.
    window : (begin, end), optional
        Dates at the machine, or seconds on the clock of the log. Default: the whole schedule; for hours, weekdays and
        months of what happened by a log, until its last submission.
    title, subtitle, width, height : optional
        By default, the title says what is shown, and the subtitle gives the trace, its load and its jobs.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.workload.sacct import example_path
    >>> trace = sl.read_sacct(example_path(), machine=128, partition=("debug", "short", "long"), names=True)
    >>> schedule = sl.simulate(trace, "easy")
    >>> chart = sl.charts.usage(schedule, by="user")
    >>> chart = sl.charts.usage(schedule, by=["weekday", "hour"], y="utilization")
    >>> both = {"what happened": sl.recorded(trace), "EASY": schedule}
    >>> chart = sl.charts.usage(both, by="hour", y="wait_time")
    """
    parts = named_parts(schedules)
    if not parts:
        raise ValueError("there is no schedule to draw, give one or more")
    for schedule in parts.values():
        check_kind(schedule, Schedule)
    first = next(iter(parts.values()))
    keys = list(by) if isinstance(by, list | tuple) else [by]
    if len(keys) not in (1, 2) or len(keys) > 1 < len(parts):
        counts = f"{len(keys)} columns and {len(parts)} schedules"
        raise ValueError(f"got {counts}, expected one column, or two of one schedule")
    known = [schedule for schedule in parts.values() if last_known(schedule) is not None]
    cut = window is None and known and any(is_calendar(key, first.trace.table.columns) for key in keys)
    if cut:  # hours after it would seem idle
        begin, end = window_of(known[0], None)
        window = (begin, end + 1)
    sides = [_Side(first, key, y, window) for key in keys]
    tables = [_rows(schedule, sides, y, window).assign(scheme=name) for name, schedule in parts.items()]
    rows = pd.concat(tables, ignore_index=True)
    chart, wide, note = _cells(rows, sides, y) if len(sides) == 2 else _bars(rows, sides[0], y, list(parts))
    measure = LABELS[y][0]
    if title is None:
        title = f"{measure[0].upper()}{measure[1:]} by {' and '.join(side.name for side in sides)}"
    subtitle = about(*parts.values()) if subtitle is None else subtitle
    return headed(chart, title, wide, subtitle, note, KNOWN if cut else "", size=(width, height))


class _Side:
    """One of the keys of a chart: its name, its values in order, and which of them are put together."""

    def __init__(self, schedule, key, y, window):
        self.key = key
        table = schedule.usage(key, window)
        check_known("y", y, table.columns)
        self.name = str(table.index.name or "class").removesuffix("_id").replace("_", " ")
        self.ordered = has_order(key, schedule.trace.table.columns)
        self.timed = is_calendar(key, schedule.trace.table.columns)
        if not self.ordered:
            table = table.sort_values(y, ascending=False, kind="stable")
        self.few = not self.ordered and len(table) > MOST + 1
        self.order = list(map(str, table.index))
        if self.few:
            largest = table[y if y in SUMS else "processor_hours"].nlargest(MOST).index
            kept = table.index[table.index.isin(largest)]
            self.order = [*map(str, kept), f"{OTHERS} ({len(table) - MOST:,})"]
        self.title = self.name
        if self.timed:
            of = "" if y in HELD else " of submission"
            self.title = f"{self.name}{of} ({schedule.trace.at(0).tzinfo})"

    def of(self, schedule):
        """Return the key, or what each job shows if some values are put together."""
        if not self.few:
            return self.key
        numbers, names = named(schedule.classes(self.key), self.key)
        texts = pd.Series([str(names[number]) for number in numbers], schedule.trace.table.index, name=self.name)
        return texts.where(texts.isin(self.order), self.order[-1])


def _rows(schedule, sides, y, window):
    """Return a row for each bar or cell: its names, what is drawn, and what the tooltip shows; durations in hours."""
    table = schedule.usage([side.of(schedule) for side in sides], window)
    tips = [name for name in TIPS if name in table and name != y]
    rows = table[[*tips, y]].copy()
    for name in IN_HOURS & set(rows.columns):
        rows[name] /= 3600
    rows["value"] = rows.pop(y)
    rows["text"] = [_written(value, y) for value in rows["value"]]
    rows = rows.rename_axis(FIELDS[: len(sides)]).reset_index()
    return rows.astype(dict.fromkeys(FIELDS[: len(sides)], str)).dropna(subset="value")


def _written(value, y, *, short=False):
    if y in SHARES:
        return f"{value:.0%}" if short else f"{value:.1%}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.{2 if short else 3}g}"


def _tips(rows, y, *names):
    """Return what a tooltip shows: names, what is drawn, and the other measures of the table."""
    tips = [*names, alt.Tooltip("value:Q", title=_title(y), format=_format(y))]
    return tips + [alt.Tooltip(f"{name}:Q", title=_title(name), format=_format(name)) for name in TIPS if name in rows]


def _title(name):
    return AXES.get(name) or LABELS[name][0]


def _format(name):
    return ".1%" if name in SHARES else ",.4~g"


def _bars(rows, side, y, names):
    """Return bars side by side along time or an order, else below one another, with numbers; the width, and no note."""
    amount = {"title": _title(y), "axis": axis(format=".0%" if y in SHARES else ",~r")}
    tips = [alt.Tooltip("scheme:N")] if len(names) > 1 else []
    tips = _tips(rows, y, *tips, alt.Tooltip("first:N", title=side.name))
    colour = alt.ColorValue(BLUE)
    if len(names) > 1:
        colour = coloured("scheme", names, columns=min(4, beside(names, WIDE)), title="")
    bars = alt.Chart().mark_bar().encode(color=colour, tooltip=tips)
    if side.ordered:
        labels = alt.Axis(labelAngle=0, labelOverlap=True, labelSeparation=4)
        if side.order == list(WEEKDAYS):
            labels.labelExpr = "slice(datum.label, 0, 3)"
        place = {"x": alt.X("first:O", sort=side.order, title=side.title, axis=labels)}
        if len(names) > 1:
            place["xOffset"] = alt.XOffset("scheme:N", sort=names)
        bars = bars.encode(**place, y=alt.Y("value:Q", **amount, stack=None))
        return alt.layer(bars, data=rows, width=WIDE, height=HEIGHT), WIDE, ""
    labels = alt.Axis(labelLimit=LIMIT, ticks=False)
    place = {"y": alt.Y("first:N", sort=side.order, title=side.name, axis=labels)}
    if len(names) > 1:
        place["yOffset"] = alt.YOffset("scheme:N", sort=names)
    longest = rows["value"].max()
    scale = alt.Scale(domain=[0, ROOM * longest if longest > 0 else 1], nice=False)
    along = alt.X("value:Q", **amount, scale=scale, stack=None)
    numbers = alt.Chart().mark_text(align="left", dx=4, fontSize=11, color=INK)
    layers = [bars.encode(**place, x=along), numbers.encode(**place, x=along, text="text:N")]
    high = (BAR if len(names) == 1 else THIN) * len(rows) + 6 * len(side.order)
    return alt.layer(*layers, data=rows, width=LYING, height=high), LYING, ""


def _cells(rows, sides, y):
    """Return cells of two sides with numbers, the width, and a note on the unit of the numbers."""
    down, across = sides
    narrow = len(across.order) > FEW
    unit = 1000 if narrow and rows["value"].max() >= 1000 else 1
    rows["text"] = [_written(value / unit, y, short=narrow) for value in rows["value"]]
    along = alt.X("second:O", sort=across.order, title=across.title)
    upright = alt.Y("first:O", sort=down.order, title=None if down.timed else down.name)
    wide = (CELL if narrow else WIDE_CELL) * len(across.order)
    return (
        mosaic(rows, _title(y), along, upright, wide, ROW * len(down.order)),
        wide,
        "numbers in thousands" * (unit > 1),
    )
