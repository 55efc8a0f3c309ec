"""The everyday form of a grid: traces, loads, schemes and seeds."""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from numbers import Integral, Real
from os import PathLike

import pandas as pd

from ..schemes import Scheme
from ..schemes import scheme as scheme_named
from ..schemes.cases import check_trace
from ..simulation import simulate
from ..workload.trace import Trace, labels
from .grids import RunError, identity, is_several, labelled, several, table_of
from .memory import remember
from .stores import Store


def sweep(
    trace: Trace | Callable[[int], Trace] | Iterable[Trace | Callable[[int], Trace]],
    scheme: str | Scheme | Sequence[str | Scheme] = "easy",
    load: float | Sequence[float] | None = None,
    seed: int | Iterable[int] | None = None,
    *,
    shake: int = 60,
    by: str = "run_time",
    tau: float = 10.0,
    threads: int | None = None,
    progress: bool = True,
    store: str | PathLike | Store | None = None,
    **conventions,
) -> pd.DataFrame:
    """Simulate every combination of traces, offered loads, schemes and seeds.

    What was simulated before in this session is not simulated again (`forget`). `grid` does the same for a function of
    your own.

    Parameters
    ----------
    trace : Trace, or several
        Or functions of a seed that each give a trace.
    scheme : Scheme or name, or several
        As in `simulate`.
    load : float, or several, optional
        Offered loads to scale each trace to; its own if left out.
    seed : int, or several, optional
        Replications: a trace is shaken with each seed (`Trace.shake`), after its load is scaled; a function of a
        seed is called with each. `schedlab.statistics.over_seeds` averages over them.
    shake : int, seconds
        How far submissions of a shaken trace move at most.
    by : {"run_time", "interarrival", "effective"}
        How to scale (`Trace.scale_load`).
    tau : float, seconds
        Of the bounded slowdown.
    threads : int, optional
        As of `grid`.
    progress : bool
        Show a progress bar, if it takes over a second.
    store : path or Store, optional
        As of `grid`. The table of the store also has the columns by, shake, tau, and those of `conventions`.
    **conventions
        machine, overrun and events, as in `simulate`.

    Returns
    -------
    DataFrame
        One row a run: trace, load, scheme, seed (where seeds are given), and the measures of `Schedule.metrics`.
        Different traces of one title are told apart by what was done to them (`schedlab.workload.trace.labels`). The
        load is the one asked for; else that of the unshaken trace, and the mean over the seeds where each has its own
        trace.

    Raises
    ------
    ValueError
        For an empty list, a load that is not above 0, an unknown scheme or convention, a function without seeds.
    """
    traces = several("trace", trace, isinstance(trace, Trace | str) or callable(trace))
    seeds = several("seed", seed, seed is None or isinstance(seed, Integral))
    families = [(_family(one, seeds), callable(one)) for one in traces]
    told = labels(family for family, _ in families)
    marks = [name.removeprefix(family[0].title) for name, (family, _) in zip(told, families, strict=True)]
    schemes = [scheme_named(one) for one in several("scheme", scheme, not is_several(scheme))]
    called = labelled(schemes)
    loads = several("load", load, load is None or isinstance(load, Real))
    overrun = conventions.get("overrun", "kill")
    names, runs = [], []
    for ((family, made), mark), target in product(zip(families, marks, strict=True), loads):
        own = sum(one.offered_load(overrun) for one in family) / len(family) if target is None else target
        for one in family:
            _scaled(one, target, by, overrun)  # says at once if that cannot be
        for using, (each, copy) in product(schemes, zip(seeds, family if made else family * len(seeds), strict=True)):
            about = {"trace": f"{copy.title}{mark}", "load": own, "scheme": called[identity(using)], "seed": each}
            names.append({name: value for name, value in about.items() if value is not None})
            moved = None if made else each
            run = {"trace": copy, "load": target, "by": by, "scheme": using, "seed": moved, "shake": shake, "tau": tau}
            runs.append(run | {"conventions": conventions})
    settings = {"by": by, "shake": shake, "tau": tau} | {name: str(value) for name, value in conventions.items()}
    how = {"threads": threads, "progress": progress, "words": "simulating", "store": store}
    try:
        return table_of(_simulated, runs, names, settings, **how)
    except RunError as error:
        raise (error.__cause__ or error) from None


def _family(trace, seeds):
    """Give the traces that a function makes of the seeds; or the one trace given."""
    if callable(trace) and seeds == [None]:
        raise ValueError("a trace is a function, which needs seeds: seed=range(10)")
    family = [trace(seed) for seed in seeds] if callable(trace) else [trace]
    for one in family:
        check_trace(one)
    return family


@remember(4)
def _scaled(trace, load, by, overrun):
    return trace if load is None else trace.scale_load(load, by=by, overrun=overrun)


def _simulated(trace, load, by, scheme, seed, shake, tau, conventions):
    trace = _scaled(trace, load, by, conventions.get("overrun", "kill"))
    if seed is not None:
        trace = trace.shake(shake, seed)  # here and not before: copies for all seeds would fill the memory
    return simulate(trace, scheme, **conventions).metrics(tau=tau)
