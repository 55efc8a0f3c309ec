"""The everyday form of a grid: traces, loads, schemes and seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from os import PathLike

import pandas as pd

from .._runtime.calls import guided
from .._runtime.words import Rescaled
from ..schedule.simulation import simulate
from ..schemes import Scheme
from ..schemes import scheme as scheme_named
from ..schemes.cases import check_trace
from ..workload.labels import labels
from ..workload.trace import Trace
from .grids import RunError, several, table_of
from .memory import remember
from .results import identity, labelled
from .stores import Store


@guided(
    call="sweep(trace, scheme, load), and name all others",
    order="it belongs to the scheme, as in EASY(order={})",
    jobs="trace.head({}) gives the first jobs",
    schemes="it is called scheme, of which there can be several",
)
def sweep(
    trace: Trace | Callable[[int], Trace] | Iterable[Trace | Callable[[int], Trace]],
    scheme: str | Scheme | Sequence[str | Scheme] = "easy",
    load: float | Sequence[float] | None = None,
    seed: int | Iterable[int] | None = None,
    *,
    shake: int = 60,
    by: Rescaled = "run_time",
    tau: float = 10.0,
    window="makespan",
    threads: int | None = None,
    progress: bool = True,
    store: str | PathLike | Store | None = None,
    **conventions,
) -> pd.DataFrame:
    """Simulate every combination of traces, offered loads, schemes and seeds.

    As with `grid`, which does the same for your own function, nothing is simulated twice in a session.

    Parameters
    ----------
    trace : Trace, or several
        Traces, or functions of a seed that each return a trace.
    scheme : Scheme or name, or several
        As in `simulate`. A mapping gives them names in tables and charts: ``{"today": "easy", "mine": policy}``.
    load : float, or several, optional
        Offered loads to scale each trace to. Default: the trace's own load.
    seed : int, or several, optional
        Replications. After its load is scaled, each trace is shaken with each seed (`Trace.shake`); a function of a
        seed is called with each. `schedlab.statistics.over_seeds` averages over them.
    shake : int, seconds
        Largest move of a submission in a shaken trace.
    by : {"run_time", "interarrival", "effective"}
        How to scale (`Trace.scale_load`).
    tau : float, seconds
        Threshold of the bounded slowdown. Run times below it count as tau.
    window : optional
        As in `Schedule.metrics`: a period (begin, end) measures the jobs submitted in it.
    threads, progress : optional
        As in `grid`.
    store : path or Store, optional
        As in `grid`. The store's table also has the columns by, shake, tau, window, and those of `conventions`.
    **conventions
        machine, overrun and events, as in `simulate`.

    Returns
    -------
    DataFrame
        One row per run: trace, load, scheme, seed (if seeds are given), and the measures of `Schedule.metrics`. Traces
        with the same title are distinguished by their history. The load is the requested one; if none was requested,
        that of the unshaken trace, or the mean over the seeds if each seed has its own trace.

    Raises
    ------
    ValueError
        For an empty list, a load that is not above 0, an unknown scheme or convention, or a function without seeds.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=500, machine=64, seed=1)
    >>> schemes = ["easy", sl.EASY(order="sjf"), "conservative"]
    >>> table = sl.sweep(trace, schemes, load=[0.6, 0.7, 0.8, 0.9])
    >>> chart = sl.charts.lines(table, "load", "bounded_slowdown", title="Mean bounded slowdown")
    """
    traces = several("trace", trace)
    seeds = several("seed", seed)
    families = [(_family(source, seeds), callable(source)) for source in traces]
    titles = labels(family for family, _ in families)
    marks = [name.removeprefix(family[0].title) for name, (family, _) in zip(titles, families, strict=True)]
    choices = scheme if isinstance(scheme, Mapping) else dict(enumerate(several("scheme", scheme)))
    schemes = [scheme_named(choice) for choice in choices.values()]
    called = dict(zip(map(identity, schemes), choices, strict=True)) if choices is scheme else labelled(schemes)
    if len(called) < len(schemes) and choices is scheme:
        raise ValueError("two names have the same scheme; give each scheme one name")
    loads = several("load", load)
    overrun = conventions.get("overrun", "kill")
    common = {"by": by, "shake": shake, "tau": tau, "window": window}
    names, runs = [], []
    for ((family, seeded), mark), target in product(zip(families, marks, strict=True), loads):
        offered = sum(member.offered_load(overrun) for member in family) / len(family) if target is None else target
        for member in family:
            _scaled(member, target, by, overrun)  # raises early if that is impossible
        for using, (draw, copy) in product(schemes, zip(seeds, family if seeded else family * len(seeds), strict=True)):
            about = {"trace": f"{copy.title}{mark}", "load": offered, "scheme": called[identity(using)], "seed": draw}
            names.append({name: value for name, value in about.items() if value is not None})
            run = {"trace": copy, "load": target, "scheme": using, "seed": None if seeded else draw}
            runs.append(run | common | {"conventions": conventions})
    settings = common | {name: str(value) for name, value in {"window": window, **conventions}.items()}
    how = {"threads": threads, "progress": progress, "activity": "simulating", "store": store}
    try:
        return table_of(_simulated, runs, names, settings, **how)
    except RunError as error:
        raise (error.__cause__ or error) from None


def _family(trace, seeds):
    """Return the traces that a function makes for the seeds, or the single given trace."""
    if callable(trace) and seeds == [None]:
        raise ValueError("a trace that is a function needs seeds, such as seed=range(10)")
    family = [trace(seed) for seed in seeds] if callable(trace) else [trace]
    for member in family:
        check_trace(member)
    return family


@remember(4)
def _scaled(trace, load, by, overrun):
    return trace if load is None else trace.scale_load(load, by=by, overrun=overrun)


def _simulated(trace, load, by, scheme, seed, shake, tau, window, conventions):
    trace = _scaled(trace, load, by, conventions.get("overrun", "kill"))
    if seed is not None:
        trace = trace.shake(shake, seed)  # only here: copies for all seeds would fill the memory
    return simulate(trace, scheme, **conventions).metrics(tau=tau, window=window)
