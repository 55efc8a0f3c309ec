"""Grids of runs: traces x loads x schemes x seeds, over threads, one row a run."""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from numbers import Integral, Real

import pandas as pd
from tqdm.auto import tqdm

from .schemes import Scheme
from .schemes import scheme as scheme_named
from .simulation import check_trace, simulate
from .threads import pool
from .workload.trace import Trace, labels


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
    **conventions,
) -> pd.DataFrame:
    """Simulate every combination of traces, offered loads, schemes and seeds.

    Parameters
    ----------
    trace : Trace, or several
        Or functions of a seed that each give a trace.
    scheme : Scheme or name, or several
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
        One for each core if left out; the table is the same for any number.
    progress : bool
        Show a progress bar, if it takes over a second.
    **conventions
        machine, overrun and events, as in `simulate`.

    Returns
    -------
    DataFrame
        One row a run: trace, load, scheme, seed (where seeds are given), and the measures of `Schedule.metrics`.
        Different traces of one title are told apart by what was done to them (`schedlab.workload.trace.labels`). The
        load is the one asked for; else the trace's own, as it is before it is shaken, and the mean over the seeds where
        each has its own trace.

    Raises
    ------
    ValueError
        For an empty list, a load that is not above 0, an unknown scheme or convention, a function without seeds.
    """
    traces = _several("trace", trace, isinstance(trace, Trace | str) or callable(trace))
    seeds = _several("seed", seed, seed is None or isinstance(seed, Integral))
    families = [(_family(one, seeds), callable(one)) for one in traces]
    told = labels(family for family, _ in families)
    marks = [name.removeprefix(family[0].title) for name, (family, _) in zip(told, families, strict=True)]
    schemes = [scheme_named(one) for one in _several("scheme", scheme, isinstance(scheme, str | Scheme))]
    scheme_names = _labels(schemes)
    loads = _several("load", load, load is None or isinstance(load, Real))
    overrun = conventions.get("overrun", "kill")
    runs = [
        ({"trace": f"{copy.title}{mark}", "load": named, "scheme": label, "seed": each}, copy, one, made)
        for ((family, made), mark), target in product(zip(families, marks, strict=True), loads)
        for named, scaled in [_scaled(family, target, by, overrun)]
        for one, label in zip(schemes, scheme_names, strict=True)
        for each, copy in zip(seeds, scaled if made else scaled * len(seeds), strict=True)
    ]

    def row(run):
        names, copy, one, made = run
        if names["seed"] is None:
            del names["seed"]
        elif not made:
            copy = copy.shake(shake, names["seed"])  # here and not before: copies for all seeds would fill the memory
        return {**names, **simulate(copy, one, **conventions).metrics(tau=tau)}

    with pool(threads) as executor:
        rows = executor.map(row, runs)
        bar = tqdm(rows, total=len(runs), desc="simulating", unit="run", delay=1, leave=False, disable=not progress)
        return pd.DataFrame(list(bar))


def _several(name, given, single):
    """List what is given, one or several."""
    found = [given] if single else list(given)
    if not found:
        raise ValueError(f"{name} is an empty list, expected at least one {name}")
    return found


def _family(trace, seeds):
    """Give the traces that a function makes of the seeds; or the one trace given."""
    if callable(trace) and seeds == [None]:
        raise ValueError("a trace is a function, which needs seeds: seed=range(10)")
    family = [trace(seed) for seed in seeds] if callable(trace) else [trace]
    for one in family:
        check_trace(one)
    return family


def _scaled(family, load, by, overrun):
    """Give the load that names the runs of a family, and its traces at that load."""
    if load is None:
        return sum(one.offered_load(overrun) for one in family) / len(family), family
    return load, [one.scale_load(load, by=by, overrun=overrun) for one in family]


def _labels(schemes):
    """Name the schemes, and number different ones of one name: all lambdas have the same."""
    distinct = list(dict.fromkeys(schemes))
    names = [str(one) for one in distinct]
    count = [names[:i].count(name) + 1 for i, name in enumerate(names)]
    labels = {one: f"{one} ({n})" if n > 1 else str(one) for one, n in zip(distinct, count, strict=True)}
    return [labels[one] for one in schemes]
