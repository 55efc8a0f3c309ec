"""The machine while a job waited, as a Gantt chart."""

from dataclasses import replace

from ._altair import alt
from .timeline import gantt

COLUMN = "who held processors"
HEIGHT = 220  # of the plot, in pixels
LONGEST = 600  # seconds that are drawn after the start of a job that waited less
MOST = 1_500  # rectangles


def waited(why, *, title: str = "", width: float | None = None, height: float | None = HEIGHT) -> alt.LayerChart:
    """Draw who held the processors while a job waited, and the job itself.

    Parameters
    ----------
    why : schedlab.schedule.why.Why
        As returned by `Schedule.why`.
    title, width, height : optional
        Text above the chart, and its size.

    Examples
    --------
    >>> import schedlab as sl
    >>> schedule = sl.simulate(sl.model_trace("lublin", jobs=40, machine=32, seed=7), "easy")
    >>> chart = sl.charts.waited(schedule.why(17), title="Job 17 waits for four processors")
    """
    schedule, job = why.schedule, why.job
    row = schedule.jobs.loc[job]
    came, start = int(row["submit_time"]), int(row["start_time"])
    until = start + max(min(int(row["run_time"]), max(start - came, LONGEST)), 1)
    which = why.others["which"].reindex(schedule.trace.table.index).fillna("started later")
    which[job] = "the job"
    table = schedule.trace.jobs.assign(**{COLUMN: which})
    coloured = replace(schedule, trace=replace(schedule.trace, table=table), traces=())
    marks = {"submitted and started": came} if start == came else {"submitted": came, "starts": start}
    drawn = {"color": COLUMN, "limit": MOST, "label": "job_number", "marks": marks, "always": job}
    return gantt(coloured, (came, until), title=title, subtitle="", width=width, height=height, **drawn)
