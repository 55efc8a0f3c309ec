"""The workbench: explore a workload and try policies on it, and the figures that it is made of."""

import warnings
from dataclasses import fields, replace

import ipywidgets
import pandas as pd

from ... import charts
from ..._runtime.text import check_known
from ...charts._altair import alt
from ...experiment import remember
from ...schedule.simulation import simulate
from ...schedule.statistics import IntervalWarning, paired
from ...schemes import Scheme, by_name
from ...schemes import scheme as scheme_named
from ...schemes.orders import NAMES, OF_USERS
from ...workload import archive
from ...workload.conventions import OVERRUN
from ...workload.edges import has_waits
from ...workload.labels import labels
from ...workload.loading import load_trace
from ...workload.trace import Trace
from ...workload.variations import WEEK
from ..page import duration, unit_of
from .controls import NOTHING, WHOLE_LABEL, wide
from .live_figure import Live, live

OF_WEEKS = ("over time", "Gantt chart")  # views of the chosen weeks
FROM_LOG = "log"  # the name of the schedule that really happened
GROUPS = {"scheme": ["order"], "view": ["view", "week", "weeks"], "workload": ["trace", "overrun"]}
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


def explore(*traces: Trace | str) -> "Live":
    """Explore a workload and try policies on it, in a live figure.

    It opens on a comparison of two schemes, and says the difference in a sentence. Choose the load, the schemes, the
    trace, the overrun rule, and the view: how waits are distributed, the machine and the queue over time, the Gantt
    charts of some weeks, the waits job by job, or arrivals by weekday and hour. The table below shows the measures of
    both schemes and their difference, with intervals if both settle (`Schedule.settles`). Raises ValueError if no trace
    is given and no log is available locally.

    Parameters
    ----------
    *traces : Trace or str
        Traces to choose from, beginning with the first. Named logs are loaded when chosen. Archive logs that are
        available locally are offered too.

    Returns
    -------
    Live
        As `live` returns.

    Examples
    --------
    >>> import schedlab as sl
    >>> bench = sl.widgets.explore(sl.model_trace("lublin", jobs=500, machine=64))
    >>> bench.controls["view"].value = "Gantt chart"
    """
    listed = archive.list_traces()
    logs = {name: name for name in listed.loc[listed["local"] != "", "name"]}
    traces = [trace if isinstance(trace, Trace) else archive.resolve(trace) for trace in traces]
    named = dict(zip(labels([*traces, *logs]), traces, strict=False))
    offered = logs | named
    if not offered:
        raise ValueError("there is no trace to explore: give one, or set SCHEDLAB_DATA to a folder of logs")
    first = next(iter(named or offered))
    offered = {first: offered.pop(first)} | offered
    week = ipywidgets.IntSlider(0, 0, weeks_of(_trace(offered[first])) - 1, **WHOLE_LABEL)
    schemes = [name for name, make in by_name().items() if make.func.needs in (None, "waits")]
    loads = [("as it is", NOTHING), *((f"{load / 100:.2f}", load / 100) for load in range(30, 125, 5))]
    return live(
        bench,
        code=code_of_bench,
        limits=limits_of_bench,
        groups=GROUPS,
        load=ipywidgets.SelectionSlider(options=loads, index=0, layout=wide("offered load"), **WHOLE_LABEL),
        scheme=schemes,
        against=schemes,
        order=list(NAMES),
        trace=offered,
        overrun=list(OVERRUN),
        view=list(VIEWS),
        week=week,
        weeks=[1, 2, 4, 8, 13, 26, 52],
    )


def limits_of_bench(trace, load, scheme, against, view):
    """Say what the controls of `explore` can do, as the limits of `live`."""
    trace, schemes, last = _trace(trace), by_name(), weeks_of(_trace(trace)) - 1
    compared = [scheme_named(name) for name in (scheme, against)]
    simulated = [scheme for scheme in compared if scheme.simulated]
    rules = [rule for rule in OVERRUN if all(rule in scheme.overruns for scheme in simulated)]
    names = [name for name, make in schemes.items() if make.func.simulated or (load is None and has_waits(trace))]
    happening = f"“{FROM_LOG}” is what happened"
    other_load = f"{happening}, at no other load" if load is not None and has_waits(trace) else ""
    nobody = trace.columns.is_unknown("user")
    limits = {
        "scheme": (names, other_load),
        "against": (names, other_load),
        "overrun": (rules, "not every rule is for both schemes"),
        "order": ([name for name in NAMES if not (nobody and name in OF_USERS)], ""),
        "view": (list(VIEWS), ""),
        "week": last if last else "the trace has one week",
    }
    if not last:
        limits["weeks"] = limits["week"]
    if view not in OF_WEEKS:
        limits["week"] = limits["weeks"] = "this view is of the whole trace"
    if trace.header.unix_start_time is None:
        limits["view"] = ([name for name in VIEWS if name != "arrivals"], "arrivals need dates, which the trace lacks")
    if len(simulated) < len(compared):
        limits["load"] = f"{happening}, at no other load"
    if not compared[0].simulated:
        limits["order"] = f"{happening}, in its own order"
    if not simulated:
        limits["overrun"] = (rules[:1], f"{happening}, whatever the rule")
    elif not trace.beyond_estimates()[0]:
        limits["overrun"] = (rules[:1], "no job outlives its estimate")
    return limits


def bench(
    trace: Trace | str,
    load: float | None = None,
    overrun: str = "kill",
    scheme: str = "easy",
    order: str = "fcfs",
    against: str = "fcfs",
    view: str = "waits",
    week: int = 0,
    weeks: int = 4,
) -> tuple:
    """Draw one view of a trace under two schemes, and compare their measures.

    The title says the difference of the mean waits. The whole trace is simulated; the chart shows the chosen weeks.
    Raises ValueError for an unknown view.

    Parameters
    ----------
    trace : Trace or str
        The workload; a name is loaded.
    load : float, optional
        Offered load. Run times are scaled to it; by default the trace keeps its own load.
    overrun : {"kill", "extend", "keep"}
        Jobs beyond their estimates. With "kill", they end there. With "extend", their estimates are raised beforehand.
        With "keep", they run on, and the scheduler learns of it when their estimates expire (not under conservative
        backfilling).
    scheme : str
        The scheme to show.
    order : str
        Order of its queue. The scheme it is compared with serves first come, first served.
    against : str
        Scheme to compare with. A name; "log" is what really happened.
    view : {"waits", "over time", "Gantt chart", "job by job", "arrivals"}
        What to draw.
    week : int
        First week shown. Weeks count from 0.
    weeks : int
        Weeks shown. The whole trace is simulated.

    Returns
    -------
    chart, table

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1)
    >>> chart, table = sl.widgets.bench(trace, load=0.9, scheme="easy", against="fcfs", weeks=1)
    """
    check_known("view", view, VIEWS)
    trace = _trace(trace)
    compared = (_ordered(scheme, order), scheme_named(against))
    schedule, other = (_simulated(trace, load, each, overrun) for each in compared)
    chart = VIEWS[view](schedule, other, _window(schedule, week, weeks), difference(schedule, other))
    return chart, charts.table(*side_by_side(schedule, other))


def waits(
    trace: Trace | str, load: float | None = None, scheme: Scheme | str = "easy", against: Scheme | str = "fcfs"
) -> alt.Chart:
    """Draw how the waits of a trace at a load are distributed under two schemes, on the same axis at any load.

    Parameters
    ----------
    trace : Trace or str
        The workload; a name is loaded.
    load : float, optional
        Offered load to scale run times to; by default the trace keeps its own load.
    scheme : scheme or str
        The scheme to show.
    against : scheme or str
        The scheme to compare with.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64)
    >>> chart = sl.widgets.waits(trace, 0.8, sl.EASY(order="sjf"))
    """
    trace = _trace(trace)
    schemes = dict.fromkeys(map(scheme_named, (against, scheme)))
    schedules = [_simulated(trace, load, scheme, "kill") for scheme in schemes]
    means = (f"{duration(run.metrics()['wait_time'])} under {run.scheme}" for run in reversed(schedules))
    title = f"Mean wait: {', '.join(means)}"
    return charts.distribution(schedules, up_to=_span(trace), title=title)


def _span(trace):
    """Return the time from the first to the last submission, which ends the axis of waits at any load."""
    submit = trace.table["submit_time"]
    return float(submit.iloc[-1] - submit.iloc[0])


def _both(schedule, other):
    """Return the schedule to compare with and the other one, by scheme: one if they are of the same scheme."""
    return {str(other.scheme): other, str(schedule.scheme): schedule}


def difference(schedule, other):
    """Say in a sentence how long jobs wait under two schemes."""
    ours, theirs = schedule.metrics()["wait_time"], other.metrics()["wait_time"]
    sentence = f"Under {schedule.scheme} a job waits {duration(ours)} on average"
    if str(schedule.scheme) != str(other.scheme):
        more = "less than" if ours < theirs else "more than"
        if ours == theirs or (theirs and abs(ours / theirs - 1) < 0.005):
            more = "as long as"
        elif theirs and 0.5 <= ours / theirs <= 2:
            more = f"{abs(ours / theirs - 1):.0%} {more}"
        sentence += f", {more} under {other.scheme} ({duration(theirs)})"
    queues = dict.fromkeys(str(run.scheme) for run in (schedule, other) if not run.settles)
    return sentence + f"; under {' and '.join(queues)} the queue never settles" * bool(queues)


# The function for each view. It takes the schedule, the one to compare with, the window in seconds of the log, and the
# title.
VIEWS = {
    "waits": lambda schedule, other, window, title: charts.distribution(
        _both(schedule, other), up_to=_span(schedule.trace), title=title
    ),
    "over time": lambda schedule, other, window, title: charts.profile(schedule, window, against=other, title=title),
    "Gantt chart": lambda schedule, other, window, title: charts.gantts(_both(schedule, other), window, title=title),
    "job by job": lambda schedule, other, window, title: charts.scatter(
        other, schedule, up_to=_span(schedule.trace), title=title
    ),
    "arrivals": lambda schedule, other, window, title: _arrivals(schedule.trace),
}


def _arrivals(trace):
    if trace.header.unix_start_time is None:
        needed = "has no dates (no UnixStartTime), which this view needs; choose another view"
        raise ValueError(f"{trace.name} {needed}")
    return charts.arrivals(trace)


def side_by_side(schedule, other):
    """Return the measures of two schedules with the paired difference, and a caption that says how certain it is."""
    ours, theirs = schedule.metrics()[list(MEASURES)], other.metrics()[list(MEASURES)]
    names, scale = dict(MEASURES), pd.Series(1.0, ours.index)
    for wait in WAITS:
        both = (ours[wait] * theirs[wait]) ** 0.5 or max(ours[wait], theirs[wait])  # readable for both
        unit, scale[wait] = unit_of(both)
        names[wait] += f" ({unit})"
    scale[list(SHARES)] = 0.01  # as percentages
    ours, theirs = ours / scale, theirs / scale
    columns, caption = {f"{schedule.scheme}": ours, f"{other.scheme}": theirs}, ""
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
    table = pd.DataFrame(columns).rename(index=names).rename_axis("measure").reset_index()
    return table, caption


def _between(interval, scale):
    ends = (end / scale for end in (interval.low, interval.high))
    return " to ".join(f"{end:,.0f}" if abs(end) >= 1000 else f"{end:.3g}" for end in ends)


@remember(4)
def _trace(trace):
    return load_trace(trace) if isinstance(trace, str) else trace


@remember(4)
def _workload(trace, load, overrun):
    return trace if load is None else trace.scale_load(load, overrun=overrun)


@remember(8)  # keyed by the given trace: digesting each scaled copy would take 30 ms at every move of a slider
def _simulated(trace, load, scheme, overrun):
    return simulate(_workload(trace, load, overrun), scheme, overrun=overrun)


def _ordered(scheme, order):
    """Return a scheme with an order of its queue; the recorded schedule has its own order."""
    scheme = scheme_named(scheme)
    return replace(scheme, order=order) if scheme.simulated else scheme


def weeks_of(trace):
    """Return the number of weeks of a trace, of which the last need not be whole."""
    return int(_span(trace) // WEEK + 1)


def _window(schedule, week, weeks):
    _, first, last, _ = schedule.measured()
    begin = int(first) + week * WEEK
    return begin, min(begin + weeks * WEEK, int(last))


def code_of_bench(trace, load, overrun, scheme, order, against, view, week, weeks):
    """Return the code that draws the same view without `bench`."""
    scheme, other = _ordered(scheme, order), scheme_named(against)
    # Not "trace = trace...": running it for a second load would scale the already scaled trace.
    source = "trace" if isinstance(trace, Trace) else f"sl.load_trace({trace!r})"
    source += "" if load is None else f".scale_load({load}, overrun={overrun!r})"
    source += f"  # trace is the one given to explore: {trace.title!r}" if isinstance(trace, Trace) else ""
    run, beside = (f"sl.simulate(workload, {_call(each)}, overrun={overrun!r})" for each in (scheme, other))
    schedule = _simulated(_trace(trace), load, scheme, overrun)
    window = f"window={_window(schedule, week, weeks)}"
    both = f"{{{str(other)!r}: {beside}, {str(scheme)!r}: {run}}}"
    end = f"up_to={_span(schedule.trace):.0f}"
    drawn = {
        "waits": f"sl.charts.distribution({both}, {end})",
        "over time": f"sl.charts.profile({run}, {window}, against={beside})",
        "Gantt chart": f"sl.charts.gantts({both}, {window})",
        "job by job": f"sl.charts.scatter({beside}, {run}, {end})",
        "arrivals": "sl.charts.arrivals(workload)",
    }
    return f"import schedlab as sl\nworkload = {source}\n{drawn[view]}"


def _call(scheme):
    """Return the call that makes a scheme, with only the settings that differ from the defaults."""
    values = [(field, getattr(scheme, field.name)) for field in fields(scheme)]
    settings = [f"{field.name}={value!r}" for field, value in values if value != field.default]
    return f"sl.{type(scheme).__name__}({', '.join(settings)})"
