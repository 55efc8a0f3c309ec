"""Charts of machine and queue over time."""

import numpy as np
import pandas as pd

from ..schedule import Schedule
from ..show import means
from ._altair import alt
from .axes import axis
from .checks import check_kind, two_names
from .clock import KNOWN, Clock, last_known, length, window_of
from .palette import BLUE, INK, ORANGE, VERMILION
from .pooled import BANDS, bands, demands_of, has_pools, open_over_time, parts_of, windows_of
from .sizes import WIDE
from .theme import about, headed, unchecked

BINS = 600  # points of a profile: about one per pixel
LOW = 70  # height of a panel among those of several resources, in pixels
STEPS = {"type": "line", "interpolate": "step-after", "strokeWidth": 1.2}


@unchecked
def profile(
    schedule,
    window=None,
    *,
    against=None,
    names: tuple[str, str] | None = None,
    title: str | None = None,
    subtitle: str | None = None,
    width: float | None = None,
    height: float | None = None,
) -> alt.VConcatChart:
    """Draw over time: processors in use, the length of the queue, and the work waiting in it.

    With more than 600 changes, the chart shows time-weighted means over 600 equal parts of the window; for the queue of
    a single schedule, also its maximum. The work of a queued job is its run time, as simulated, times its processors.

    On `schedlab.Pools` each resource of each pool has a panel: what is held, what is open (dashed), and closed windows
    as grey bands.

    Parameters
    ----------
    schedule : Schedule
        The schedule to draw.
    window : (begin, end), optional
        Dates at the machine, or seconds on the clock of the log. Default: the whole schedule, without a lead-in; of
        what happened by a log, up to the last submission, unless most ran after it.
    against : Schedule, optional
        Another schedule of the same log, drawn as a thin line. On `schedlab.Pools` it may be of another machine.
    names : (str, str), optional
        What the two schedules are called, such as the names of two machines. Default: their schemes.
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
        _check_like(against, schedule)
        end = max(end, window_of(against, window)[1])
    clock = Clock(schedule.trace, begin, end)
    parts = parts_of(schedule.machine) if has_pools(schedule) else []
    demands = demands_of(schedule, parts) if parts else []

    def rows(drawn):
        states, binned = _states(drawn, begin, end, demands)
        instants = states["time"].to_numpy()
        # Rows as dictionaries: Altair would clean and convert a table, 9 ms more.
        return states.assign(time=clock.values(instants), at=clock.words(instants)).to_dict("records"), binned

    table, binned = rows(schedule)
    others, others_binned = ([], False) if against is None else rows(against)
    other = [] if against is None else [{"values": others}]
    thin = {"type": "line", "interpolate": "step-after", "color": INK, "opacity": 0.7, "strokeWidth": 0.8}

    def panel(field, name, height, colour, *more, below=(), labels=False, **tips):
        x = clock.x("time", labels=labels)
        ticks = axis(tickCount=2 if parts else 4, minExtent=45)
        y = alt.Y(f"{field}:Q", title=None if parts else name, scale={"zero": True}, axis=ticks)
        at = alt.Tooltip(f"at:{'N' if clock.dated else 'Q'}", title="from")
        tooltip = [at, *(alt.Tooltip(f"{name}:Q", title=title, format=",.4~g") for name, title in tips.items())]
        mark = {"type": "area", "interpolate": "step-after", "color": colour, "opacity": 0.75}
        area = alt.Chart(mark=mark, width=WIDE, height=height).encode(x=x, y=y, tooltip=tooltip)
        more = [*more, *(alt.Chart(data, mark=thin).encode(x=x, y=y) for data in other)]
        if parts:  # too low for a title beside it
            heading = {"text": name, "fontSize": 12, "fontWeight": "normal", "offset": 4}
            return alt.layer(*below, area, *more, title=heading)
        return alt.layer(area, *more) if more else area

    dashed = {"type": "rule", "color": INK, "strokeDash": [6, 3]}
    size = alt.Chart({"values": [{"size": schedule.machine.procs}]}, mark=dashed).encode(y=alt.Y("size:Q"))
    longest = alt.Chart(mark=thin).encode(x=clock.x("time", labels=False), y=alt.Y("longest:Q"))
    maxima = binned and against is None  # one thin line is enough
    queue = ["jobs queued:", "mean, maximum"] if maxima else "jobs queued"
    used = ["processors in use", f"of {schedule.machine.procs:,} (dashed)"]
    work = ["work queued", "(processor-hours)"]
    tips = {"queued": "jobs queued", "longest": "jobs queued, at most"}
    windows = windows_of(schedule, begin, end)
    plots = []
    for i, part in enumerate(parts):
        rows_of_open = open_over_time(part, windows, begin, end)
        steps = [row | {"time": clock.values(row["time"])} for row in rows_of_open]
        line = alt.Chart({"values": steps}, mark={**dashed, **STEPS})
        line = line.encode(x=clock.x("time", labels=False), y=alt.Y("open:Q"))
        below = [_shaded(part, windows, clock)] if windows else []
        plots.append(panel(f"held{i}", part.heading, LOW, BLUE, line, below=below, **{f"held{i}": part.held}))
    if not parts:
        plots.append(panel("used", used, 130, BLUE, size, used="processors in use"))
    high = LOW if parts else 110
    plots += [
        panel("queued", " ".join(queue) if maxima and parts else queue, high, ORANGE, *[longest] * maxima, **tips),
        panel("backlog", " ".join(work) if parts else work, high, VERMILION, labels=True, backlog=" ".join(work)),
    ]
    whole = alt.vconcat(*plots, data={"values": table}, spacing=14)
    key = [f"dashed: {'what is open' if windows else 'all that there is'}"] * bool(parts) + [BANDS] * bool(windows)
    key += [f"means over {length((end - begin) / BINS)}"] * (binned or others_binned)
    key += [KNOWN] * (window is None and against is None and last_known(schedule) is not None)
    if against is not None:
        same = str(against.scheme) == str(schedule.scheme) and against.machine != schedule.machine
        area, line = two_names(names, schedule, against)
        key.append(f"area: {area}; line: {line}{' on another machine' * (same and names is None)}")
    title = str(schedule.scheme) if title is None else title
    subtitle = about(schedule) if subtitle is None else subtitle
    return headed(whole, title, WIDE, subtitle, "; ".join(key), size=(width, height))


def _check_like(against, schedule):
    """Raise unless two schedules can be drawn in one chart."""
    pooled = has_pools(schedule)  # then what jobs hold is drawn, whatever machine they run on
    if pooled and against.outcome.in_pieces:
        reason = f"but {against.scheme} splits sweeps into tasks"
        raise ValueError(f"a schedule on pools can only be drawn against one of whole jobs, {reason}")
    if len(against) != len(schedule) or not (pooled or against.machine.procs == schedule.machine.procs):
        different = f"{about(schedule)} and {about(against)}"
        raise ValueError(f"expected schedules of one log on one machine, got {different}")


def _shaded(part, windows, clock):
    """Shade the closed windows of a resource over the height of its panel."""
    rows = []
    for window in windows:
        closed = window.closed.get(part.resource, 0) / part.unit
        if window.place == part.place and closed:
            sides = dict(zip(("begin", "end"), map(clock.values, window[1:3]), strict=True))
            rows.append(sides | {"whole": closed == part.capacity, "text": window.text})
    return bands(rows, clock.placed("begin"))


def _states(schedule, begin, end, demands=()):
    """Return the states of machine and queue in a window, and whether they are means over bins.

    `demands` is what each job holds of further resources while it runs, one array each.
    """
    outcome = schedule.outcome
    submit = schedule.submit
    work = schedule.run * schedule.procs
    procs = outcome.pieces.procs
    start, until = schedule.seconds(outcome.pieces.start), schedule.seconds(outcome.pieces.end)
    came, left = map(schedule.seconds, outcome.queued())
    begun, gone_work = outcome.begun()
    begun = schedule.seconds(begun)
    came_work = submit, work
    if outcome.interrupted is not None:  # all of a job's work is queued again
        gone_work = work[outcome.pieces.job]
        begun = left
        came_work = came, gone_work
    time = np.concatenate([submit, came, left, begun, start, until])
    time = np.unique(np.append(begin, time[(time > begin) & (time < end)]))
    # Cumulative sums over jobs, not `Schedule.timeline`, which sorts all instants of the log: 20 ms instead of 80.
    queued = _by(time, came, np.ones_like(came)) - _by(time, left, np.ones_like(left))
    backlog = np.maximum(_by(time, *came_work) - _by(time, begun, gone_work), 0) / 3600  # parts of sweeps are rounded
    used = _by(time, start, procs) - _by(time, until, procs)
    values = {"used": used, "queued": queued, "backlog": backlog}
    for i, demand in enumerate(demands):
        amounts = demand[outcome.pieces.job]
        values[f"held{i}"] = _by(time, start, amounts) - _by(time, until, amounts)
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
