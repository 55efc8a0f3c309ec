"""Grids of runs: traces x loads x schemes, over threads, one row a run."""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from numbers import Real

import pandas as pd
from tqdm.auto import tqdm

from .schemes import Scheme
from .schemes import scheme as scheme_named
from .simulation import check_trace, simulate
from .workload.trace import Trace


def sweep(
    trace: Trace | Iterable[Trace],
    scheme: str | Scheme | Sequence[str | Scheme] = "easy",
    load: float | Sequence[float] | None = None,
    *,
    by: str = "run_time",
    tau: float = 10.0,
    threads: int | None = None,
    progress: bool = True,
    **conventions,
) -> pd.DataFrame:
    """Simulate every combination of traces, offered loads and schemes.

    Parameters
    ----------
    trace : Trace, or several
    scheme : Scheme or name, or several
    load : float, or several, optional
        Offered loads to scale each trace to; its own if left out.
    by : {"run_time", "interarrival"}
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
        One row a run: trace, load, scheme, and the measures of `Schedule.metrics`.
    """
    traces = [trace] if isinstance(trace, Trace | str) else list(trace)
    for one in traces:
        check_trace(one)
    schemes = [scheme_named(one) for one in ([scheme] if isinstance(scheme, str | Scheme) else scheme)]
    labels = _labels(schemes)
    loads = [load] if load is None or isinstance(load, Real) else list(load)
    overrun = conventions.get("overrun", "kill")
    workloads = [
        (one, target, one if target is None else one.scale_load(target, by=by, overrun=overrun))
        for one, target in product(traces, loads)
    ]
    runs = list(product(workloads, zip(schemes, labels, strict=True)))

    def row(run):
        (original, target, scaled), (one, label) = run
        measured = simulate(scaled, one, **conventions).metrics(tau=tau)
        names = {"trace": original.title, "load": original.offered_load(overrun) if target is None else target}
        return {**names, "scheme": label, **measured}

    with ThreadPoolExecutor(max_workers=os.cpu_count() if threads is None else threads) as pool:
        bar = tqdm(pool.map(row, runs), total=len(runs), desc="simulating", unit="run", delay=1, disable=not progress)
        return pd.DataFrame(list(bar))


def _labels(schemes):
    """Name the schemes, and number different ones of one name: all lambdas have the same."""
    distinct = list(dict.fromkeys(schemes))
    names = [str(one) for one in distinct]
    count = [names[:i].count(name) + 1 for i, name in enumerate(names)]
    labels = {one: f"{one} ({n})" if n > 1 else str(one) for one, n in zip(distinct, count, strict=True)}
    return [labels[one] for one in schemes]
