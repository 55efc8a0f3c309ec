"""The workbench: explore a workload and try policies on it, and the figures that it is made of."""

import os
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from typing import NamedTuple

import ipywidgets

from ... import charts
from ..._runtime.text import check_known, suggestion
from ...charts._altair import alt
from ...charts.theme import ON_PAGE
from ...experiment import remember
from ...machine import Flat, KaryTree, Pools
from ...schedule import Schedule
from ...schemes import Scheme, by_name
from ...schemes import scheme as scheme_named
from ...schemes.orders import NAMES, OF_USERS
from ...web.in_page import InPage
from ...workload import archive
from ...workload.conventions import KEEP, OVERRUN
from ...workload.edges import has_waits
from ...workload.labels import labels
from ...workload.loading import load_trace
from ...workload.trace import Trace
from ...workload.variations import WEEK
from ..page import duration
from .comparing import difference, side_by_side
from .controls import NOTHING, WHOLE_LABEL, wide
from .live_figure import Live, live
from .sides import (
    Side,
    chosen_machines,
    drawn_together,
    ends_at_estimates,
    in_short,
    labels_of,
    machines_of,
    pools_of,
    refusals,
    sides_of,
)

OF_WEEKS = ("over time", "Gantt chart")  # views of the chosen weeks
FROM_LOG = "log"  # the name of the schedule that really happened
GROUPS = {
    "scheme": ["against", "order"],
    "machine": ["against_machine"],
    "view": ["view", "pool", "week", "weeks"],
    "workload": ["trace", "overrun"],
}
WHOLE = "all pools"


def explore(*traces: Trace | str, machine: Flat | KaryTree | Pools | Mapping | int | None = None) -> "Live":
    """Explore a workload and try policies and machines on it, in a live figure.

    It opens on a comparison of two schemes, and says the difference in a sentence. Choose the load, the schemes, the
    trace, the overrun rule, and the view: how waits are distributed, the machine and the queue over time, the Gantt
    charts of some weeks, the waits job by job, or arrivals by weekday and hour. The table below shows the measures of
    both schemes and their difference, with intervals if both settle (`Schedule.settles`).

    With several machines by name, it opens on EASY on the second machine, compared with EASY on the first. Of a machine
    of several pools, one pool can be shown alone. The load is that of the trace on its own processors: it is reached by
    scaling run times and estimates, so submissions and closed windows stay at their dates. Schemes that cannot run on a
    machine are not offered, and a line says why. What really happened is on the trace's own machine.

    Parameters
    ----------
    *traces : Trace or str
        Traces to choose from, beginning with the first. Named logs are loaded when chosen. Archive logs that are
        available locally are offered too, unless there is a machine.
    machine : Flat, KaryTree, Pools, mapping or int, optional
        As in `simulate`; or several by name, to choose from: ``{"as it is": pools, "16 more GPUs": more}``. A mapping
        of numbers is one machine of partitions.

    Returns
    -------
    Live
        As `live` returns.

    Raises
    ------
    ValueError
        If no trace is given and no log is available locally, or a machine is given without a trace.
    TypeError
        For anything else than a machine.

    Examples
    --------
    >>> import schedlab as sl
    >>> bench = sl.widgets.explore(sl.model_trace("lublin", jobs=500, machine=64))
    >>> bench.controls["view"].value = "Gantt chart"

    A machine of pools, and what more nodes would change:

    >>> from schedlab.workload.sacct import example_path
    >>> trace = sl.read_sacct(example_path(), machine=192, partition=["short", "long"])
    >>> closed = sl.Closed("2024-03-06 08:00", "2024-03-06 16:00")
    >>> today, larger = (sl.Pools(short=sl.Pool(64), long=sl.Pool(procs), closed=closed) for procs in (128, 256))
    >>> bench = sl.widgets.explore(trace, machine={"as it is": today, "more nodes": larger})
    >>> bench.controls["pool"].value = "long"
    """
    machines = machines_of(machine)
    if machines and not traces:
        raise ValueError("explore needs a trace whose jobs run on the machine: explore(trace, machine=...)")
    listed = archive.list_traces()
    logs = {name: name for name in listed.loc[listed["local"] != "", "name"] if not machines}
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
    pools = dict.fromkeys(pool for choice in machines.values() for pool in pools_of(choice))
    settings = {"machine": machines.get("")}
    choices = {}
    if "" not in machines and machines:
        names = list(machines)
        settings = {"machines": machines, "machine": names[0]}
        if len(names) > 1:
            settings |= {"machine": names[1], "against_machine": names[0], "against": "easy"}
            choices = {"machine": names, "against_machine": names}
    controls = {
        "load": ipywidgets.SelectionSlider(options=loads, index=0, layout=wide("offered load"), **WHOLE_LABEL),
        "scheme": schemes,
        "machine": choices.get("machine"),
        "against": schemes,
        "against_machine": choices.get("against_machine"),
        "order": list(NAMES),
        "trace": offered,
        "overrun": list(OVERRUN),
        "view": list(VIEWS),
        "pool": {WHOLE: None} | {str(pool): pool for pool in pools} if pools else None,
        "week": week,
        "weeks": [1, 2, 4, 8, 13, 26, 52],
    }
    controls = {name: values for name, values in controls.items() if values is not None}
    code = partial(code_of_bench, **{name: value for name, value in settings.items() if name not in controls})
    drawn = partial(bench, **settings)
    drawn.in_page = None if machines else _in_page(offered[first], schemes)
    return live(drawn, code=code, limits=limits_of_bench, groups=GROUPS, **controls)


def _in_page(trace, schemes):
    """Return how a page of the site explores a trace."""
    from ...web.page import ORDERS  # here, since only pages need them
    from ...web.schemes import is_described

    if ON_PAGE not in os.environ:
        return None
    known = [name for name in schemes if is_described(scheme_named(name))]
    return InPage(
        lambda: _trace(trace),
        lambda scheme, order, against: {
            str(side.scheme): side.scheme for side in reversed(sides_of(scheme, order, against, None, None, None))
        },
        "Mean wait",
        lambda trace: (_span(trace),),
        offered={"scheme": known, "against": known, "order": ORDERS},
    )


def limits_of_bench(trace, load, scheme, against, view, machine=None, against_machine=None, machines=None, pool=None):
    """Say what the controls of `explore` can do, as the limits of `live`."""
    trace, schemes, last = _trace(trace), by_name(), weeks_of(_trace(trace)) - 1
    sides = sides_of(scheme, "fcfs", against, machine, against_machine, machines)
    used = chosen_machines(machine, against_machine, machines)
    simulated = [side for side in sides if side.scheme.simulated]
    ends = any(ends_at_estimates(side.machine) for side in simulated)
    allowed = [rule for rule in OVERRUN if not (ends and rule == KEEP)]
    rules = [rule for rule in allowed if all(rule in side.scheme.overruns for side in simulated)]
    names = [name for name, make in schemes.items() if make.func.simulated or (load is None and has_waits(trace))]
    happening = f"“{FROM_LOG}” is what happened"
    other_load = f"{happening}, at no other load" if load is not None and has_waits(trace) else ""
    nobody = trace.columns.is_unknown("user")
    limits = {
        "overrun": (rules, "jobs in pools end at their estimates" if ends else "not every rule is for both schemes"),
        "order": ([name for name in NAMES if not (nobody and name in OF_USERS)], ""),
        "week": last if last else "the trace has one week",
    }
    for name, on in zip(("scheme", "against"), used, strict=True):
        refused = refusals(trace, on)
        reason = "; ".join(filter(None, (other_load, in_short(refused))))
        once = bool(machines) and name == "against" and limits["scheme"][1] == reason  # they are far from each other
        limits[name] = ([known for known in names if known not in refused], "" if once else reason)
    if not last:
        limits["weeks"] = limits["week"]
    if view not in OF_WEEKS:
        limits["week"] = limits["weeks"] = "this view is of the whole trace"
    shared = [name for name in pools_of(used[0]) if name in pools_of(used[1])]
    limits["pool"] = ([None, *shared], "not every pool is on both machines")
    if len(simulated) < len(sides):
        limits["load"] = f"{happening}, at no other load"
        limits["pool"] = ([None], f"{happening}, and knows no pools")
    limits["view"] = _views(trace, sides, pool if pool in limits["pool"][0] else None)
    for name, side in zip(("machine", "against_machine"), sides, strict=True):
        if not side.scheme.simulated:
            limits[name] = f"{happening}, on the machine of the trace"
    if not sides[0].scheme.simulated:
        limits["order"] = f"{happening}, in its own order"
    if not simulated:
        limits["overrun"] = (rules[:1], f"{happening}, whatever the rule")
    elif not trace.beyond_estimates()[0]:
        limits["overrun"] = (rules[:1], "no job outlives its estimate")
    return limits


def _views(trace, sides, pool):
    """Return the views that can be drawn, and why others cannot."""
    left_out = {}
    if trace.header.unix_start_time is None:
        left_out["arrivals"] = "arrivals need dates, which the trace lacks"
    if not drawn_together(sides[0].machine, sides[1].machine, pool, trace):
        left_out["over time"] = "machines of different sizes are not drawn over time together"
    return [name for name in VIEWS if name not in left_out], "; ".join(left_out.values())


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
    machine: Flat | KaryTree | Pools | Mapping | int | str | None = None,
    against_machine: Flat | KaryTree | Pools | Mapping | int | str | None = None,
    machines: Mapping[str, Flat | KaryTree | Pools | int] | None = None,
    pool: str | int | None = None,
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
    machine : Flat, KaryTree, Pools, mapping, int or str, optional
        Machine. As in `simulate`, or the name of one of `machines`.
    against_machine : Flat, KaryTree, Pools, mapping, int or str, optional
        Machine to compare with. By default the same.
    machines : mapping of str to machine, optional
        Machines by their names.
    pool : str or int, optional
        Pool shown. All are simulated; by default all are shown.

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
    sides = sides_of(scheme, order, against, machine, against_machine, machines)
    schedules = [_simulated(trace, load, *side[:2], overrun) for side in sides]
    window = _window(schedules[0], week, weeks)
    comparison = Comparison(*(_part(schedule, pool) for schedule in schedules), labels_of(*sides), window, _span(trace))
    chart = VIEWS[view](comparison, difference(*comparison[:2], [side.name for side in sides], pool))
    return chart, charts.table(*side_by_side(*comparison[:2], comparison.labels))


class Comparison(NamedTuple):
    """What a view shows: a schedule and the one to compare it with, their labels, the weeks, and the end of axes."""

    schedule: Schedule
    other: Schedule
    labels: tuple[str, str]
    window: tuple[int, int]
    up_to: float

    @property
    def named(self) -> dict[str, Schedule]:
        """The schedule to compare with and the other one, by label: one if they are called the same."""
        return {self.labels[1]: self.other, self.labels[0]: self.schedule}

    @property
    def subtitle(self) -> str | None:
        """The trace and the notes, since pools take many words; None for other machines."""
        runs = self.schedule, self.other
        if not any(isinstance(run.machine, Pools) for run in runs):
            return None
        trace = self.schedule.trace
        notes = dict.fromkeys(note for run in runs for note in run.notes)
        return "; ".join([f"{trace.title}, {trace.jobs_text}", *notes])


def _part(schedule, pool):
    """Return the schedule of a pool, or of all."""
    if pool is None:
        return schedule
    if pool not in schedule.pools:
        known = f"{', '.join(map(str, schedule.pools))}{suggestion(pool, schedule.pools)}"
        raise ValueError(f"unknown pool {pool!r}; known: {known}")
    part = schedule.pools[pool]
    if not len(part):
        raise ValueError(f"{schedule.trace.name} has no jobs in pool {pool!r}; choose another one")
    return part


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
    schedules = [_simulated(trace, load, scheme, None, "kill") for scheme in schemes]
    means = (f"{duration(run.metrics()['wait_time'])} under {run.scheme}" for run in reversed(schedules))
    title = f"Mean wait: {', '.join(means)}"
    return charts.distribution(schedules, up_to=_span(trace), title=title)


def _beside(scheme):
    """Return a scheme and FCFS, by name."""
    return {str(side): side for side in map(scheme_named, (scheme, "fcfs"))}


def _span(trace):
    """Return the time from the first to the last submission, which ends the axis of waits at any load."""
    submit = trace.table["submit_time"]
    return float(submit.iloc[-1] - submit.iloc[0])


waits.in_page = InPage(
    lambda trace: _trace(trace), lambda scheme: _beside(scheme), "Mean wait", lambda trace: (_span(trace),)
)

# The function for each view. It takes what is shown and the title.
VIEWS = {
    "waits": lambda comparison, title: charts.distribution(
        comparison.named, up_to=comparison.up_to, title=title, subtitle=comparison.subtitle
    ),
    "over time": lambda comparison, title: charts.profile(
        comparison.schedule, comparison.window, against=comparison.other, names=comparison.labels, title=title
    ),
    "Gantt chart": lambda comparison, title: charts.gantts(comparison.named, comparison.window, title=title),
    "job by job": lambda comparison, title: charts.scatter(
        comparison.other,
        comparison.schedule,
        names=comparison.labels[::-1],
        up_to=comparison.up_to,
        title=title,
        subtitle=comparison.subtitle,
    ),
    "arrivals": lambda comparison, title: _arrivals(comparison.schedule.trace),
}


def _arrivals(trace):
    if trace.header.unix_start_time is None:
        needed = "has no dates (no UnixStartTime), which this view needs; choose another view"
        raise ValueError(f"{trace.name} {needed}")
    return charts.arrivals(trace)


@remember(4)
def _trace(trace):
    return load_trace(trace) if isinstance(trace, str) else trace


@remember(4)
def _workload(trace, load, overrun):
    return trace if load is None else trace.scale_load(load, overrun=overrun)


@remember(8)  # keyed by the given trace: digesting each scaled copy would take 30 ms at every move of a slider
def _simulated(trace, load, scheme, machine, overrun):
    return Side(scheme, machine).schedule(_workload(trace, load, overrun), overrun)


def weeks_of(trace):
    """Return the number of weeks of a trace, of which the last need not be whole."""
    return int(_span(trace) // WEEK + 1)


def _window(schedule, week, weeks):
    _, first, last, _ = schedule.measured()
    begin = int(first) + week * WEEK
    return begin, min(begin + weeks * WEEK, int(last))


def code_of_bench(
    trace,
    load,
    overrun,
    scheme,
    order,
    against,
    view,
    week,
    weeks,
    machine=None,
    against_machine=None,
    machines=None,
    pool=None,
):
    """Return the code that draws the same view without `bench`."""
    sides = sides_of(scheme, order, against, machine, against_machine, machines)
    # Not "trace = trace...": running it for a second load would scale the already scaled trace.
    source = "trace" if isinstance(trace, Trace) else f"sl.load_trace({trace!r})"
    source += "" if load is None else f".scale_load({load}, overrun={overrun!r})"
    source += f"  # trace is the one given to explore: {trace.title!r}" if isinstance(trace, Trace) else ""
    choices = machine, machine if against_machine is None else against_machine
    part = "" if pool is None else f".pools[{pool!r}]"
    run, beside = (
        f"sl.simulate(workload, {_call(side.scheme)}{_on(side, choice)}, overrun={overrun!r}){part}"
        for side, choice in zip(sides, choices, strict=True)
    )
    trace = _trace(trace)
    label, other = labels_of(*sides)
    window = f"window={_window(_simulated(trace, load, *sides[0][:2], overrun), week, weeks)}"
    both = f"{{{other!r}: {beside}, {label!r}: {run}}}"
    end = f"up_to={_span(trace):.0f}"
    apart = any(side.name for side in sides)
    drawn = {
        "waits": f"sl.charts.distribution({both}, {end})",
        "over time": f"sl.charts.profile({run}, {window}, against={beside}{f', names={(label, other)}' * apart})",
        "Gantt chart": f"sl.charts.gantts({both}, {window})",
        "job by job": f"sl.charts.scatter({beside}, {run}, {end}{f', names={(other, label)}' * apart})",
        "arrivals": f"sl.charts.arrivals({f'{run}.trace' if part else 'workload'})",
    }
    lines = ["import schedlab as sl"]
    lines += ["# machine is what was given to explore"] * any(side.machine is not None for side in sides)
    return "\n".join([*lines, f"workload = {source}", drawn[view]])


def _on(side, choice):
    """Return the argument that says on which machine a side is."""
    if side.machine is None:
        return ""
    return f", machine=machine[{choice!r}]" if isinstance(choice, str) else ", machine=machine"


def _call(scheme):
    """Return the call that makes a scheme, with only the settings that differ from the defaults."""
    values = [(field, getattr(scheme, field.name)) for field in fields(scheme)]
    settings = [f"{field.name}={value!r}" for field, value in values if value != field.default]
    return f"sl.{type(scheme).__name__}({', '.join(settings)})"
