"""What charts say of jobs: the colours of their classes or names, the legends of these, and whose the jobs are."""

import numpy as np
import pandas as pd

from ..schedule import metrics
from ..schedule.calendar import classes_of
from ..schedule.usage import has_order, named
from ._altair import alt
from .axes import DURATIONS, PER_JOB
from .checks import check_columns
from .palette import GROUPS, IN_WORDS, OUTCOMES, STATES, WAITING
from .sizes import WIDE

OTHERS = "other jobs"
TASKS = {"sweep": GROUPS["sweeps"], "tasks of a sweep": "#F0E442"}
# Colours of names, after Okabe and Ito: jobs, users, nodes.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#882255", "#F0E442")
MOST_COLOURS = 7  # with the others, one line of the legend
GREY = "#9E9E9E"  # the others, and jobs without a number
# Columns whose numbers are only names.
IDENTIFIERS = {"job_number", "user_id", "group_id", "executable", "queue", "partition", "status"}
# Whose a job is, and how it ended in the log: in the tooltip, if jobs differ.
OWNERS = ("user", "account", "group", "partition", "queue", "qos", "state")
CLASS_TITLE = "class: short or long (1 h), narrow or wide (32 processors)"


def owners(jobs, trace) -> dict:
    """Return by words such as "user" what names each job has, of those in which jobs differ."""
    columns = {word: metrics.SHORT.get(word, word) for word in OWNERS}
    differ = [word for word, name in columns.items() if name in jobs and len(jobs[name].unique()) > 1]
    return {word: texts_of(jobs, columns[word], trace)[0] for word in differ}


def texts_of(jobs, by, trace):
    """Return the text of the class of each job, and all texts in order."""
    numbers, names = named(classes_of(jobs, by, trace), by)
    names = np.array(list(map(str, names)))
    return names[numbers], names.tolist()


def colours_of(jobs, color, area, tasks, apart, trace):
    """Return the value of each piece, its encoding, and the colour of each value (None for numbers).

    `tasks` is -1 for whole jobs, and `apart` says whether sweeps were split into tasks.
    """
    if color == "sweeps" and not apart:
        raise ValueError("color='sweeps' needs a schedule in which sweeps were split into tasks: choose another color")
    if color in ("class", "sweeps"):
        values, colours, title = OTHERS, {OTHERS: GROUPS[OTHERS]}, None
        if color == "class":
            values = metrics.classes(jobs, "kurian").map(metrics.CLASS_WORDS).astype(str).to_numpy()
            colours, title = IN_WORDS, CLASS_TITLE
        if apart:
            sweeps = jobs.get("breakdown", pd.Series(0, jobs.index)) > 0
            values, colours = np.select([tasks > 0, sweeps], [*TASKS][::-1], values), colours | TASKS
        return values, _legend("color:N", title, colours), colours
    column = {"wait": "wait_time"}.get(color, color)
    jobs = jobs.reset_index()
    is_class = column in (*metrics.CLASSES, *metrics.SHORT, *metrics.CALENDAR) and column not in jobs
    check_columns(jobs, [] if is_class else [column])
    name = PER_JOB.get(column, column.replace("_", " "))
    if not is_class and column not in IDENTIFIERS and (values := jobs[column].to_numpy()).dtype.kind in "iuf":
        if column in DURATIONS:
            values, name = np.round(values / 3600, 3), f"{name} (hours)"
        if not np.isfinite(values).all():
            values, name = np.where(np.isfinite(values), values, np.nan), f"{name}; grey: none"
        return values, _legend("color:Q", name), None
    values, names = texts_of(jobs, column, trace)
    held = pd.Series(area).groupby(values).sum()
    most = held.nlargest(MOST_COLOURS).index.tolist()
    others = f"others ({len(held) - len(most):,})"
    values = np.where(np.isin(values, most), values, others)
    colours = {state: colour for state, colour in (STATES | WAITING | OUTCOMES).items() if state in most}
    left = set(most) - set(colours)
    names = [name for name in names if name in left] if has_order(column, jobs.columns) else sorted(left, key=_natural)
    free = [colour for colour in PALETTE if colour not in colours.values()]
    colours |= dict(zip(names, free, strict=False)) | ({others: GREY} if others in values else {})
    return values, _legend("color:N", name, colours), colours


def _natural(text):
    """Order numbers that are written as text by their value, in front of other text."""
    return (not text.isdecimal(), int(text) if text.isdecimal() else 0, text)


def _legend(field, title, colours=None):
    """Encode a colour, with a legend below; numbers along a scale in which short times differ, since few are long."""
    if colours is None:
        scale = alt.Scale(scheme="viridis", type="sqrt", reverse=True)
    else:
        scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    legend = alt.Legend(orient="bottom", titleLimit=WIDE, columns=8, symbolType="square")
    return alt.Color(field, title=title, scale=scale, legend=legend)
