"""Experiments: run a function of simple values over a grid of them. `sweep` is the everyday form of `grid`.

All studies, the papers' figures included, share one pool, one cache, one progress bar and one form of result: a tidy
table with one row per run, or per run and class of jobs.
"""

import inspect
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import date, timedelta
from functools import wraps
from itertools import product
from numbers import Integral, Real
from threading import Lock, get_ident
from types import NoneType

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from tqdm.auto import tqdm

from .digests import NoDigestError, digest
from .kernels._jit import CACHE
from .schemes import Scheme
from .schemes import scheme as scheme_named
from .schemes.cases import check_trace
from .simulation import simulate
from .text import check_known
from .threads import stoppable
from .workload import archive
from .workload.trace import Trace, labels

ERRORS = ("raise", "keep")
MOST_RUNS = 100_000  # remembered; the oldest go first
PLAIN = (str, Real, date, timedelta, tuple, NoneType)  # what appears in a table as it is


class RunError(RuntimeError):
    """A run of a grid failed; the message names its values, and the cause is what it raised."""


def grid(
    run: Callable,
    cases: Iterable[Mapping] | None = None,
    /,
    *,
    threads: int | None = None,
    progress: bool = True,
    errors: str = "raise",
    words: str = "running",
    **values,
) -> pd.DataFrame:
    """Run a function over every combination of values, and collect its results in one tidy table.

    A run is not repeated in the same session unless its function, its values or the kernels have changed; `forget`
    empties the cache.

    Parameters
    ----------
    run : function
        Takes the values by name and returns measures: a number; a mapping or Series of numbers or texts for one row; or
        a DataFrame for several rows. It must depend on nothing but its values: pass seeds and names of logs, not open
        files or generators.
    cases : iterable of mapping, optional
        Values that belong together, for a study that is not a full product. Each case is combined with all of `values`.
    threads : int, optional
        How many runs at a time. Default: the setting of `joblib.parallel_config`, else one per core. The table does not
        depend on it.
    progress : bool
        Show a progress bar with the remaining time, if the grid takes over a second.
    errors : {"raise", "keep"}
        What happens when a run fails. "raise": the grid ends with a `RunError`. "keep": the grid goes on, and a column
        ``error`` has the error of that run and is empty for the others.
    words : str
        The label of the progress bar.
    **values
        For each parameter of the function one value, or several: a list, tuple, range, array or any other iterable.
        A text is one value. To pass a tuple as one value, put it in a list: ``sigma=[(0, 2)]``.

    Returns
    -------
    DataFrame
        The values of each run, then its measures; in the order of `cases` and of the product. Traces and schemes appear
        by name; different ones of the same name are numbered.

    Raises
    ------
    RunError
        Naming the values of the run.
    ValueError, TypeError
        For an empty list, or names that the function does not take.

    Notes
    -----
    Runs go through `joblib.Parallel`. The default is threads, because kernels release the interpreter lock. Choose
    another backend with ``joblib.parallel_config(backend=...)``; processes need a function that can be pickled.

    Examples
    --------
    >>> import schedlab as sl
    >>> def run(load, scheme, seed):
    ...     trace = sl.model_trace("lublin", jobs=200, seed=seed).scale_load(load)
    ...     return sl.simulate(trace, scheme).metrics()[["wait_time", "utilization"]]
    >>> table = sl.grid(run, load=[0.6, 0.8], scheme=["fcfs", sl.EASY()], seed=range(3))
    >>> table.columns.tolist(), len(table)
    (['load', 'scheme', 'seed', 'wait_time', 'utilization'], 12)
    """
    check_known("errors", errors, ERRORS)
    several = {name: _several(name, value, not _is_several(value)) for name, value in values.items()}
    cases = [{}] if cases is None else [dict(case) for case in cases]
    combined = [dict(zip(several, combination, strict=True)) for combination in product(*several.values())]
    runs = [case | more for case in cases for more in combined]
    if not runs:
        return pd.DataFrame()
    for case in cases:
        if both := case.keys() & several.keys():
            raise ValueError(f"{', '.join(sorted(both))}: given in the cases and beside them")
    _check_names(run, runs)
    return table_of(run, runs, _named(runs), threads=threads, progress=progress, errors=errors, words=words)


def table_of(
    run: Callable,
    runs: Sequence[Mapping],
    names: Sequence[Mapping],
    *,
    threads: int | None = None,
    progress: bool = True,
    errors: str = "raise",
    words: str = "running",
) -> pd.DataFrame:
    """Do what `grid` does, for a list of runs.

    Parameters
    ----------
    run : function
        As of `grid`.
    runs : sequence of mapping
        The values of each run.
    names : sequence of mapping
        For each run, the first columns of its rows.
    threads : int, optional
        As of `grid`.
    progress : bool
        As of `grid`.
    errors : {"raise", "keep"}
        As of `grid`.
    words : str
        As of `grid`.

    Returns
    -------
    DataFrame
        The columns of `names`, then the measures; in the order of `runs`.

    Raises
    ------
    RunError
        Naming the values of a run that failed.
    """
    keys = _keys(run, runs)
    found = _memory.found(keys)
    wanted = {key: place for place, key in reversed([*enumerate(keys)]) if key not in found}  # each once, in order
    wanted = dict(sorted(wanted.items(), key=lambda item: item[1]))
    _check_threads(threads)
    n_jobs = threads or get_active_backend()[1] or -1
    pool = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    done = iter(())
    bar = tqdm(total=len(wanted), desc=words, unit="run", delay=1, leave=False, disable=not progress)
    try:
        with bar, stoppable() as within:
            done = pool(delayed(within(_measured))(run, runs[place]) for place in wanted.values())
            for key, measured in zip(wanted, done, strict=True):
                if isinstance(measured, Exception) and errors == "raise":
                    raise _failed(names[wanted[key]], measured) from measured
                _check_columns(names[wanted[key]], measured, errors == "keep")
                found[key] = measured
                _memory.keep(key, measured)
                bar.update()
    except BaseException as error:
        if hasattr(done, "throw"):
            with suppress(BaseException):  # otherwise joblib warns that results are not used
                done.throw(error)
        raise
    return _tabled(names, [found[key] for key in keys], errors == "keep")


def _failed(names, error):
    told = ", ".join(f"{name}={value}" for name, value in names.items())
    return RunError(f"the run with {told} failed: {_words(error)}")


def _words(error):
    return f"{type(error).__name__}: {error}"


def _check_threads(threads):
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, Integral) or threads < 1):
        raise ValueError(f"threads must be a whole number greater than 0, got {threads!r}")


def _is_several(value):
    """Tell whether several values are given, not one."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | pd.DataFrame)


def _several(name, given, single):
    """List what is given, one or several."""
    found = [given] if single else list(given)
    if not found:
        raise ValueError(f"{name} is an empty list, expected at least one {name}")
    return [_without_numpy(one) for one in found]


def _without_numpy(value):
    """Give NumPy's numbers and times as Python's and pandas' own."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return pd.Timestamp(value) if isinstance(value, np.datetime64) else pd.Timedelta(value)
    return (
        value.item() if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim) else value
    )


def _check_names(run, runs):
    """Raise if the function does not take the values."""
    parameters = inspect.signature(run).parameters
    needed = {name for name, one in parameters.items() if one.default is one.empty}
    if own := inspect.signature(grid).parameters.keys() & needed - {"run", "cases", "values"}:
        raise ValueError(f"{', '.join(sorted(own))}: parameters of grid; give those of the function other names")
    for values in runs:
        try:
            inspect.signature(run).bind(**values)
        except TypeError as error:
            raise TypeError(f"the function takes {', '.join(parameters)}; with {', '.join(values)}: {error}") from None


def _named(runs):
    """Give the values of runs as they appear in a table."""
    columns = {}
    for name in dict.fromkeys(name for values in runs for name in values):
        own = [values[name] for values in runs if name in values]
        columns[name] = _labels(own)
    return [
        {name: value if isinstance(value, PLAIN) else columns[name][_identity(value)] for name, value in values.items()}
        for values in runs
    ]


def _identity(value):
    """Give a key that is the same for equal values; traces, and values without a digest, are told apart by identity."""
    try:
        return id(value) if isinstance(value, Trace) else digest(value)
    except NoDigestError:
        return id(value)


def _labels(values):
    """Name all values that are not plain: traces, schemes, functions and others. Number different ones of one name."""
    traces = {id(one): one for one in values if isinstance(one, Trace)}
    named = dict(zip(traces, labels(traces.values()), strict=True))
    others = {_identity(one): one for one in values if not isinstance(one, (Trace, *PLAIN))}
    taken = Counter()
    for key, one in others.items():
        name = getattr(one, "__name__", str(one))
        taken[name] += 1
        named[key] = f"{name} ({taken[name]})" if taken[name] > 1 else name
    return named


def _measured(run, values):
    """Run once; return the measures or the error. An error that is raised would reach joblib, which hides its cause."""
    try:
        return _plain(run(**values))
    except Exception as error:  # whatever a user's function raises
        return error


def _plain(found):
    """Give the result of a run as a table of its own, or as a dict."""
    if isinstance(found, pd.DataFrame):
        table = found.reset_index() if any(found.index.names) else found.reset_index(drop=True)
        _check_once(table.columns)
        return table
    if isinstance(found, Mapping | pd.Series):
        _check_once(found.keys())
        measures = {str(name): _without_numpy(value) for name, value in found.items()}
        for name, value in measures.items():
            if not isinstance(value, PLAIN) or isinstance(value, tuple):
                raise TypeError(f"measure {name} is a {type(value).__name__}, expected a number, a text or a time")
        return measures
    if isinstance(value := _without_numpy(found), Real):
        return {"value": value}
    raise TypeError(f"the run gave a {type(found).__name__}, expected measures: a mapping, a Series or a DataFrame")


def _check_once(names):
    if twice := [str(name) for name, count in Counter(names).items() if count > 1]:
        raise ValueError(f"the run gives {', '.join(twice)} more than once")


def _check_columns(about, measured, kept):
    """Raise if a run gives a measure with the name of a value, or of the column of errors."""
    given = [] if isinstance(measured, Exception) else [*measured]
    columns = Counter([*about, *given, *(["error"] if kept else [])])
    if both := [name for name, count in columns.items() if count > 1]:
        raise ValueError(f"the run gives {', '.join(sorted(both))}, which is among its values, too")


def _tabled(names, measured, kept):
    """Put the rows of runs below one another."""
    rows = []
    for about, found in zip(names, measured, strict=True):
        _check_columns(about, found, kept)
        failed = isinstance(found, Exception)
        rows.append((about, {} if failed else found, {"error": _words(found) if failed else ""} if kept else {}))
    if not any(isinstance(own, pd.DataFrame) for _, own, _ in rows):
        return pd.DataFrame([{**about, **own, **error} for about, own, error in rows])
    tables = [
        own if isinstance(own, pd.DataFrame) else pd.DataFrame([own] if own or error else []) for _, own, error in rows
    ]
    # One table of the values of all runs, its rows repeated: a table for each run would cost 3 ms a run.
    places = np.repeat(np.arange(len(rows)), [len(table) for table in tables])
    front, back = (pd.DataFrame([row[i] for row in rows]).iloc[places].reset_index(drop=True) for i in (0, 2))
    filled = [table for table in tables if len(table)] or tables[:1]  # an empty one would change the types of columns
    return pd.concat([front, pd.concat(filled, ignore_index=True), back], axis=1)


# --- What was run before ------------------------------------------------------------------------------------


class _Memory:
    """The results of runs by their keys; those used last are kept longest."""

    def __init__(self, most):
        self.most, self.lock, self.runs = most, Lock(), OrderedDict()

    def found(self, keys):
        with self.lock:
            for key in keys:
                if key in self.runs:
                    self.runs.move_to_end(key)
            return {key: self.runs[key] for key in keys if key in self.runs}

    def keep(self, key, measured):
        if isinstance(key, str) and not isinstance(measured, Exception):  # failures are tried again
            with self.lock:
                self.runs[key] = measured
                while len(self.runs) > self.most:
                    self.runs.popitem(last=False)

    def clear(self):
        with self.lock:
            self.runs.clear()


class _Interrupted(Exception):
    """A run was interrupted; whoever waits for it has to run it."""


_memory = _Memory(MOST_RUNS)
_remembered = []


def forget() -> None:
    """Empty the caches of `grid`, `sweep` and `remember`."""
    _memory.clear()
    for clear in _remembered:
        clear()


def _keys(run, runs):
    """Give a key for each run; its number, which is not kept, if its values have no digest."""
    found = {}  # by identity: the same trace is in many runs

    def of(value):
        if id(value) not in found:
            found[id(value)] = digest(value)
        return found[id(value)]

    try:
        about = digest(run, *_surroundings())
        return [digest(about, {name: of(value) for name, value in values.items()}) for values in runs]
    except NoDigestError:
        return list(range(len(runs)))


def _surroundings():
    """Give what results depend on besides the values: the kernels, and the logs that names refer to."""
    return str(CACHE), archive.at_hand()


def remember(most: int):
    """Cache the last results of a function by its values: for traces and schedules, which are large.

    Two threads that ask for the same result wait for one run. The key has the values only, so the function must not
    depend on variables that change.

    Parameters
    ----------
    most : int
        How many results to keep.

    Returns
    -------
    function
        A decorator.

    Raises
    ------
    RecursionError
        From the function, if it asks for the result that it is computing.
    """

    def decorate(function):
        kept, lock, signature = OrderedDict(), Lock(), inspect.signature(function)

        @wraps(function)
        def remembering(*arguments, **settings):
            given = signature.bind(*arguments, **settings)
            given.apply_defaults()
            try:
                key = digest(given.arguments, *_surroundings())
            except NoDigestError:
                return function(*arguments, **settings)
            while True:
                with lock:
                    mine = key not in kept
                    future, thread = kept.setdefault(key, (Future(), get_ident()))
                    kept.move_to_end(key)
                    if (beyond := len(kept) - most) > 0:
                        done = [each for each, (one, _) in kept.items() if one.done()]
                        for oldest in done[:beyond]:  # what is being computed is waited for
                            del kept[oldest]
                if mine:
                    break
                if not future.done() and thread == get_ident():
                    raise RecursionError(f"{function.__name__} asks for the result that it is computing")
                with suppress(_Interrupted):  # only the thread that computed it was interrupted
                    return future.result()
            try:
                future.set_result(function(*arguments, **settings))
            except BaseException as error:
                with lock:
                    if kept.get(key, (None,))[0] is future:
                        del kept[key]
                future.set_exception(error if isinstance(error, Exception) else _Interrupted())
                raise
            return future.result()

        def clear():
            with lock:
                kept.clear()

        remembering.forget = clear
        _remembered.append(clear)
        return remembering

    return decorate


# --- The everyday form --------------------------------------------------------------------------------------


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
    traces = _several("trace", trace, isinstance(trace, Trace | str) or callable(trace))
    seeds = _several("seed", seed, seed is None or isinstance(seed, Integral))
    families = [(_family(one, seeds), callable(one)) for one in traces]
    told = labels(family for family, _ in families)
    marks = [name.removeprefix(family[0].title) for name, (family, _) in zip(told, families, strict=True)]
    schemes = [scheme_named(one) for one in _several("scheme", scheme, not _is_several(scheme))]
    called = _labels(schemes)
    loads = _several("load", load, load is None or isinstance(load, Real))
    overrun = conventions.get("overrun", "kill")
    names, runs = [], []
    for ((family, made), mark), target in product(zip(families, marks, strict=True), loads):
        own = sum(one.offered_load(overrun) for one in family) / len(family) if target is None else target
        for one in family:
            _scaled(one, target, by, overrun)  # says at once if that cannot be
        for using, (each, copy) in product(schemes, zip(seeds, family if made else family * len(seeds), strict=True)):
            about = {"trace": f"{copy.title}{mark}", "load": own, "scheme": called[_identity(using)], "seed": each}
            names.append({name: value for name, value in about.items() if value is not None})
            moved = None if made else each
            run = {"trace": copy, "load": target, "by": by, "scheme": using, "seed": moved, "shake": shake, "tau": tau}
            runs.append(run | {"conventions": conventions})
    try:
        return table_of(_simulated, runs, names, threads=threads, progress=progress, words="simulating")
    except RunError as error:
        raise error.__cause__ from None


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
