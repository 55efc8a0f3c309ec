"""How measures are written: each in words and with its unit, in a Series or a table."""

import numpy as np
import pandas as pd

from ... import show

CLASS_WORDS = {"SN": "short narrow", "SW": "short wide", "LN": "long narrow", "LW": "long wide"}  # of "kurian"
# For each measure of a schedule its name in words and its unit: seconds ("s"), a share of 1, a count, or none.
MEASURES = {
    "jobs": ("jobs", ""),
    "wait_time": ("mean wait", "s"),
    "median_wait_time": ("median wait", "s"),
    "p95_wait_time": ("95th percentile of the wait", "s"),
    "max_wait_time": ("longest wait", "s"),
    "turnaround": ("mean turnaround", "s"),
    "area_weighted_turnaround": ("mean turnaround, weighted by area", "s"),
    "slowdown": ("mean slowdown", ""),
    "bounded_slowdown": ("mean bounded slowdown", ""),
    "per_processor_slowdown": ("mean per-processor slowdown", ""),
    "killed": ("killed at their estimate", "jobs"),
    "wasted_share": ("wasted of what was held", "share"),
    "utilization": ("utilization", "share"),
    "makespan": ("makespan", "s"),
    "throughput": ("throughput", "jobs per hour"),
    "throughput_sd_day": ("standard deviation of the daily throughput", "jobs per day"),
    "throughput_sd_week": ("standard deviation of the weekly throughput", "jobs per week"),
    "loss_of_capacity": ("loss of capacity", "processor-seconds"),
    "loss_of_capacity_share": ("loss of capacity, of all capacity", "share"),
    "mean_queue": ("mean queue", "jobs"),
    "max_queue": ("longest queue", "jobs"),
    "longest_pile_up": ("longest pile-up of the queue, of the makespan", "share"),
    "offered_load": ("offered load", ""),
    "effective_load": ("effective load", ""),
    # Of gang scheduling, beside some of these.
    "placed": ("placed in the matrix by the horizon", "jobs"),
    "completed": ("completed by the horizon", "jobs"),
    "one_task_share": ("of one task, of the completed jobs", "share"),
    "computing": ("time of the PEs spent computing", "share"),
    "communicating": ("time spent communicating", "share"),
    "spinning": ("time spent spinning", "share"),
    "switching": ("time spent switching", "share"),
    "idle": ("time spent idle", "share"),
    "io_overlap": ("time of I/O with the PE computing", "share"),
}
# Columns of `Schedule.usage` that are no measures of a whole schedule.
USAGE = {
    "processor_hours": ("processor-hours", ""),
    "gpu_hours": ("GPU-hours", ""),
    "share": ("share of the processor-hours", "share"),
}
LABELS = MEASURES | USAGE
MOST_ROWS = 60  # a longer table shows only its first and last rows
VALUES = {"mean", "low", "high"}  # columns in the unit of their row


def written(measure: str, value: float, like: float | None = None) -> str:
    """Write the value of a measure with its unit; a duration may take the unit of another duration.

    Parameters
    ----------
    measure : str
        Name of the measure, as in `MEASURES`; any other name has no unit.
    value : float
        In the measure's own unit: seconds, shares, processor-seconds.
    like : float, seconds, optional
        The duration whose unit is used; default: `value`.

    Examples
    --------
    >>> written("wait_time", 7720.5), written("utilization", 0.84321), written("mean_queue", 3.25)
    ('2.14 h', '84.3 %', '3.25 jobs')
    """
    unit = LABELS.get(measure, ("", ""))[1]
    if unit == "s":
        return show.duration(value, like)
    if unit == "share":
        return f"{100 * value:.3g} %" if np.isfinite(value) else show.number(value)
    if unit == "processor-seconds":
        return f"{show.number(value / 3600)} processor-hours"
    return f"{show.number(value)} {unit}".strip()


class Measures(pd.Series):
    """Measures of a schedule: a Series that displays with units. Anything computed from it is a plain Series.

    Examples
    --------
    >>> import schedlab as sl
    >>> measures = sl.simulate(sl.testing.trace_of([(0, 7200, 7200, 8), (0, 3600, 3600, 4)], machine=8)).metrics()
    >>> print(measures)  # doctest: +ELLIPSIS
    EASY
    jobs                                       2  jobs
    wait_time                             60 min  mean wait
    ...
    """

    @property
    def _constructor(self):
        return pd.Series

    def __repr__(self) -> str:
        rows = self._written()
        widths = [max(map(len, column), default=0) for column in zip(*rows, strict=True)]
        lines = [f"{name:<{widths[0]}}  {value:>{widths[1]}}  {label}".rstrip() for name, value, label in rows]
        return "\n".join([str(self.name), *lines])

    def _repr_html_(self) -> str:
        rows = [(label or name, value, name) for name, value, label in self._written()]
        table = show.table(("measure", "", "name"), rows, texts=(0, 2))
        return show.page(show.line("", strong=str(self.name)), table)

    def _written(self):
        """Return one row per measure: its name, its value with unit, and its description."""
        return [(str(name), written(name, value), MEASURES.get(name, ("",))[0]) for name, value in self.items()]


def _in_words(name):
    """Return a measure or a class of jobs in words, or another name as it is."""
    return LABELS[name][0] if name in LABELS else CLASS_WORDS.get(name, str(name))


class MeasureTable(pd.DataFrame):
    """A table of measures: a DataFrame that displays with units. Anything computed from it is a plain DataFrame.

    A notebook shows the measures' names in words.
    """

    @property
    def _constructor(self):
        return pd.DataFrame

    @property
    def _constructor_sliced(self):
        return pd.Series

    def __repr__(self) -> str:
        return self._written().to_string()

    def _repr_html_(self) -> str:
        table = self._written()
        index = [" ".join(map(_in_words, np.atleast_1d(name))) for name in table.index.to_flat_index()]
        head = [" ".join(str(name) for name in table.index.names if name is not None)]
        rows = [[name, *row] for name, row in zip(index, table.to_numpy().tolist(), strict=True)]
        more = f"{len(self):,} rows; the first and the last {MOST_ROWS // 2} are shown" if len(self) > MOST_ROWS else ""
        names = [*head, *map(_in_words, table.columns)]
        text_columns = [place for place, name in enumerate(names) if place == 0 or name == "note"]
        return show.page(show.table(names, rows, text_columns), show.line(more, faint=True))

    def _written(self):
        """Return the table as text, each cell with its unit."""
        plain = pd.DataFrame(self)
        if len(plain) > MOST_ROWS:
            plain = pd.concat([plain.head(MOST_ROWS // 2), plain.tail(MOST_ROWS // 2)])
        if set(plain.columns) >= VALUES:  # one measure per row
            rows = plain.index.get_level_values(-1)
            largest = plain[sorted(VALUES)].replace([np.inf, -np.inf], np.nan).abs().max(axis=1)
            cells = {}
            for name, column in plain.items():
                values = zip(rows, column, largest, strict=True)
                cells[name] = [_cell(row if name in VALUES else name, value, like) for row, value, like in values]
        else:
            cells = {
                name: [_cell(name, value, column.dropna().median()) for value in column]
                for name, column in plain.items()
            }
        return pd.DataFrame(cells, index=plain.index, dtype="object")


def _cell(measure, value, like):
    """Write one cell: a duration in the unit that most of them use, a count without a unit."""
    if isinstance(value, str):
        return value
    unit = LABELS.get(measure, ("", ""))[1]
    return written(measure, value, like) if unit in ("s", "share") else show.number(value)
