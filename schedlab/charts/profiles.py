"""Charts of machine and queue over time."""

import numpy as np
import pandas as pd

from ..schedule import Schedule
from ..show import means
from ._altair import alt
from .axes import axis
from .checks import check_kind
from .clock import KNOWN, Clock, last_known, length, window_of
from .palette import BLUE, INK, ORANGE, VERMILION
from .sizes import WIDE
from .theme import about, headed, unchecked

BINS = 600  # points of a profile: about one per pixel


@unchecked
def profile(
    schedule,
    window=None,
    *,
    against=None,
    title: str | None = None,
    subtitle: str | None = None,
    width: float | None = None,
    height: float | None = None,
) -> alt.VConcatChart:
    """Draw over time: processors in use, the length of the queue, and the work waiting in it.

    With more than 600 changes, the chart shows time-weighted means over 600 equal parts of the window; for the queue of
    a single schedule, also its maximum. The work of a queued job is its run time, as simulated, times its processors.

    Parameters
    ----------
    schedule : Schedule
        The schedule to draw.
    window : (begin, end), optional
        Dates at the machine, or seconds on the clock of the log. Default: the whole schedule, without a lead-in; of
        what happened by a log, up to the last submission, unless most ran after it.
    against : Schedule, optional
        Another schedule of the same log, drawn as a thin line.
    title, subtitle, width, height : optional
        By default, the title is the scheme, and the subtitle gives the trace, its load and its jobs.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1).scale_load(0.9)
    >>> chart = sl.charts.profile(sl.simulate(trace, "easy"))
    """
    check_kind(schedule, Schedule)
    check_kind(schedule if against is None else against, Schedule)
    begin, end = window_of(schedule, window)
    if against is not None:
        if (len(against), against.machine.procs) != (len(schedule), schedule.machine.procs):
            different = f"{about(schedule)} and {about(against)}"
            raise ValueError(f"expected schedules of one log on one machine, got {different}")
        end = max(end, window_of(against, window)[1])
    clock = Clock(schedule.trace, begin, end)

    def rows(drawn):
        states, binned = _states(drawn, begin, end)
        instants = states["time"].to_numpy()
        # Rows as dictionaries: Altair would clean and convert a table, 9 ms more.
        return states.assign(time=clock.values(instants), at=clock.words(instants)).to_dict("records"), binned

    table, binned = rows(schedule)
    others, others_binned = ([], False) if against is None else rows(against)
    other = [] if against is None else [{"values": others}]
    thin = {"type": "line", "interpolate": "step-after", "color": INK, "opacity": 0.7, "strokeWidth": 0.8}

    def panel(field, name, height, colour, *more, labels=False, **tips):
        x = clock.x("time", labels=labels)
        y = alt.Y(f"{field}:Q", title=name, scale={"zero": True}, axis=axis(tickCount=4, minExtent=45))
        at = alt.Tooltip(f"at:{'N' if clock.dated else 'Q'}", title="from")
        tooltip = [at, *(alt.Tooltip(f"{name}:Q", title=title, format=",.4~g") for name, title in tips.items())]
        mark = {"type": "area", "interpolate": "step-after", "color": colour, "opacity": 0.75}
        area = alt.Chart(mark=mark, width=WIDE, height=height).encode(x=x, y=y, tooltip=tooltip)
        more = [*more, *(alt.Chart(data, mark=thin).encode(x=clock.x("time", labels=False), y=y) for data in other)]
        return alt.layer(area, *more) if more else area

    dashed = {"type": "rule", "color": INK, "strokeDash": [6, 3]}
    size = alt.Chart({"values": [{"size": schedule.machine.procs}]}, mark=dashed).encode(y=alt.Y("size:Q"))
    longest = alt.Chart(mark=thin).encode(x=clock.x("time", labels=False), y=alt.Y("longest:Q"))
    maxima = binned and against is None  # one thin line is enough
    queue = ["jobs queued:", "mean, maximum"] if maxima else "jobs queued"
    used = ["processors in use", f"of {schedule.machine.procs:,} (dashed)"]
    work = ["work queued", "(processor-hours)"]
    tips = {"queued": "jobs queued", "longest": "jobs queued, at most"}
    plots = [
        panel("used", used, 130, BLUE, size, used="processors in use"),
        panel("queued", queue, 110, ORANGE, *[longest] * maxima, **tips),
        panel("backlog", work, 110, VERMILION, labels=True, backlog=" ".join(work)),
    ]
    whole = alt.vconcat(*plots, data={"values": table}, spacing=14)
    key = [f"means over {length((end - begin) / BINS)}"] * (binned or others_binned)
    key += [KNOWN] * (window is None and against is None and last_known(schedule) is not None)
    key += [] if against is None else [f"area: {schedule.scheme}; line: {against.scheme}"]
    title = str(schedule.scheme) if title is None else title
    subtitle = about(schedule) if subtitle is None else subtitle
    return headed(whole, title, WIDE, subtitle, "; ".join(key), size=(width, height))


def _states(schedule, begin, end):
    """Return the states of machine and queue in a window, and whether they are means over bins."""
    outcome, submit, work = schedule.outcome, schedule.submit, schedule.run * schedule.procs
    procs = outcome.pieces.procs
    start, until = schedule.seconds(outcome.pieces.start), schedule.seconds(outcome.pieces.end)
    came, left = map(schedule.seconds, outcome.queued())
    begun, gone_work = outcome.begun()
    begun = schedule.seconds(begun)
    time = np.concatenate([submit, came, left, begun, start, until])
    time = np.unique(np.append(begin, time[(time > begin) & (time < end)]))
    # Cumulative sums over jobs, not `Schedule.timeline`, which sorts all instants of the log: 20 ms instead of 80.
    came, left = (_by(time, instants, np.ones_like(instants)) for instants in (came, left))
    backlog = np.maximum(_by(time, submit, work) - _by(time, begun, gone_work), 0) / 3600  # parts of sweeps are rounded
    used = _by(time, start, procs) - _by(time, until, procs)
    values = {"used": used, "queued": came - left, "backlog": backlog}
    binned = time.size > BINS
    edges = np.linspace(begin, end, BINS + 1) if binned else np.append(time, end)
    before = np.searchsorted(time, edges[:-1], side="right") - 1
    until = np.searchsorted(time, edges[1:], side="left")
    longest = np.maximum.reduceat(np.append(values["queued"], 0), np.column_stack([before, until]).ravel())[::2]
    states = {name: means(np.append(time, end), np.append(value, 0), edges) for name, value in values.items()}
    states["longest"] = longest
    # A last row draws the last step to its end.
    return pd.DataFrame({"time": edges, **{name: np.append(of, of[-1]) for name, of in states.items()}}), binned


def _by(instants, times, amounts):
    """Sum up amounts, at each instant, over the jobs whose time has come."""
    order = np.argsort(times)
    return np.append(0, np.cumsum(amounts[order]))[np.searchsorted(times[order], instants, side="right")]
