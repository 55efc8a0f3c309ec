"""Run a function over a grid of values on any joblib backend, and skip runs whose results are known."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import cached_property, lru_cache, partial
from itertools import product
from numbers import Integral
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from joblib.parallel import (
    LokyBackend,
    MultiprocessingBackend,
    SequentialBackend,
    ThreadingBackend,
    get_active_backend,
)

from .._runtime.digests import NoDigestError, key, of_function, of_named
from .._runtime.files import note
from .._runtime.text import check_known
from .._runtime.threads import stoppable
from ..workload.trace import Trace
from . import memory
from .naming import name_of, named
from .progress import Progress
from .results import OF_FAILURES, PLAIN, check_columns, failed, result_of, tabled, without_numpy
from .sending import arrived, sender
from .stores import RESERVED, Store, storing_in

ERRORS = ("raise", "keep")
THREADS, PROCESSES = (SequentialBackend, ThreadingBackend), (LokyBackend, MultiprocessingBackend)  # on this computer
REMOTE_BATCH = (3, 30)  # seconds of work in one batch for a worker elsewhere: at least, at most
LAST_BATCH = (0.5, 1)  # the same near the end, so that all workers finish at about the same time
LOST_WORKERS = ("KilledWorker", "FutureCancelledError")  # errors of Dask
END = 8 * REMOTE_BATCH[0]  # seconds before the end when that begins; by then, two batches per worker are under way


STALE = (
    "this worker has loaded an older version of your code; restart the workers: "
    "joblib.externals.loky.get_reusable_executor().shutdown()"
)


class RunError(RuntimeError):
    """A run of a grid failed; the message names its values, and the cause is the exception that it raised."""


def grid(
    run: Callable,
    cases: Iterable[Mapping] | None = None,
    /,
    *,
    threads: int | None = None,
    progress: bool = True,
    errors: str = "raise",
    activity: str = "running",
    store: str | PathLike | Store | None = None,
    retry: bool = False,
    **values,
) -> pd.DataFrame:
    """Run a function over every combination of values, and collect its results in one tidy table.

    A run is not repeated in the same session unless its function, its values or the package have changed; `forget`
    empties the cache. With a `store`, it is not repeated in later sessions either.

    Parameters
    ----------
    run : function
        Takes the values by name and returns measures: a number; a mapping or Series of numbers or texts for one row; or
        a DataFrame for several rows. Its result must depend only on its values: pass seeds and names of logs, not open
        files or generators.
    cases : iterable of mapping, optional
        Values that belong together, for a study that is not a full product. Each case is combined with all of `values`.
    threads : int, optional
        How many runs at a time. Default: the setting of `joblib.parallel_config`, else one per core. The table does not
        depend on it.
    progress : bool
        Show a progress bar with the remaining time, if the grid takes over a second.
    errors : {"raise", "keep"}
        What happens when a run fails. "raise": the grid ends with a `RunError`. "keep": the grid goes on. The column
        ``error`` then has the error of a failed run and is empty for the others; ``error_at`` says where it was raised.
    activity : str
        The label of the progress bar.
    store : path or Store, optional
        A folder that keeps results between sessions, created if missing. Each result is saved as soon as its run ends.
        A stored run is not repeated, whether it comes from another session, from another grid of the same function, or
        from a process that uses the folder at the same time. See `schedlab.store`.
    retry : bool
        Rerun runs that the store holds as failures. Without ``errors="keep"``, failures are always rerun.
    **values
        For each parameter of the function, one value or several: a list, tuple, range, array or any other iterable. A
        text is one value. To pass a tuple as one value, put it in a list: ``sigma=[(0, 2)]``.

    Returns
    -------
    DataFrame
        The values of each run, then its measures, in the order of `cases` and of the product. Traces and schemes appear
        by name; different ones with the same name are numbered.

    Raises
    ------
    RunError
        Names the values of the run.
    ValueError, TypeError
        For an empty list, names that the function does not take, or values whose results cannot be stored.

    Notes
    -----
    A known result is used again if the function is the same, with every function, class and constant of yours that it
    uses, if its values are the same, and if the files and logs that it read through the package have the same content.
    What cannot be seen is what it gets by other ways: environment variables, modules imported by computed names,
    ``getattr`` with a text, files that it opens itself by names in its own code (a path passed as a value counts by its
    content), what threads of its own read, and what caches and compiled functions of its own still hold. Installed
    packages count by their names, not their versions: after an upgrade on which results depend, begin another store.

    Runs go through `joblib.Parallel`. The default is threads, because kernels release the interpreter lock. Runs of a
    few milliseconds are mostly Python code, which runs in one thread at a time: two threads run whole logs 1.4 times as
    fast as one, but do not speed up runs of 5,000 jobs under EASY. Choose another backend with
    ``joblib.parallel_config(backend=...)``: "loky" for processes, "dask" for a cluster. Processes need a function that
    can be pickled; each trace is sent to each process once. Cluster workers get several short runs at a time.

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
    plan = planned(run, cases, **values)
    return carried_out(plan, threads, progress, errors, activity, store, retry)


@lru_cache(32)
def _version(sent):
    """Digest a function received from another process, including what it uses here."""
    return of_function(arrived(sent))


class Plan:
    """The runs of a grid: the values of each, and the names that its rows begin with.

    Settings are common to all runs. In a store, which may also hold runs with other settings, they are further columns.
    """

    def __init__(
        self,
        run: Callable,
        runs: Sequence[Mapping],
        names: Sequence[Mapping],
        settings: Mapping[str, str | float] | None = None,
    ):
        self.run, self.runs, self.names, self.settings = run, list(runs), list(names), dict(settings or {})
        self._digests = {}  # by identity: many runs share the same trace

    def __len__(self) -> int:
        return len(self.runs)

    @cached_property
    def about(self) -> str:
        """Digest of the function. It changes with the function's code and with the package."""
        return of_function(self.run)

    @cached_property
    def keys(self) -> list[str]:
        """Return a key for each run. Raises NoDigestError, which names the value without a digest."""
        return [key(self.about, {name: self._digest(name, value) for name, value in run.items()}) for run in self.runs]

    def _digest(self, name, value):
        if id(value) not in self._digests:
            self._digests[id(value)] = of_named(name, value)
        return self._digests[id(value)]

    def described(self, place: int) -> tuple[dict, dict]:
        """Return the first columns of a run's rows as a store keeps them, and what distinguishes equal labels.

        The labels do not depend on the rest of the plan. What distinguishes them, by column, is a digest, and the
        history of a trace.
        """
        columns, origins = {}, {}
        for name, label in self.names[place].items():
            value = self.runs[place].get(name)
            if isinstance(value, PLAIN):
                columns[name] = str(label) if isinstance(label, tuple) else label
            else:
                history = value.history if isinstance(value, Trace) else ()
                columns[name] = value.title if isinstance(value, Trace) else name_of(value)
                origins[name] = [self._digest(name, value)[:12], *history]
        return columns | self.settings, origins


def planned(run: Callable, cases: Iterable[Mapping] | None = None, /, **values) -> Plan:
    """Make the plan of a grid: every combination of the values that `grid` takes."""
    sets = {name: several(name, value, not is_several(value)) for name, value in values.items()}
    cases = [{}] if cases is None else _cases(cases)
    combined = [dict(zip(sets, combination, strict=True)) for combination in product(*sets.values())]
    for case in cases:
        if both := case.keys() & sets.keys():
            raise ValueError(
                f"{', '.join(sorted(both))}: given both in the cases and as values of their own; give them once"
            )
    runs = [case | more for case in cases for more in combined]
    _check_names(run, runs)
    return Plan(run, runs, named(runs))


def table_of(
    run: Callable, runs: Sequence[Mapping], names: Sequence[Mapping], settings: Mapping | None = None, **how
) -> pd.DataFrame:
    """Do what `grid` does, for a list of runs.

    Parameters
    ----------
    run : function
        As in `grid`.
    runs : sequence of mapping
        The values of each run.
    names : sequence of mapping
        For each run, the first columns of its rows.
    settings : mapping, optional
        As in `Plan`.
    **how
        threads, progress, errors, activity, store and retry, as in `grid`.

    Returns
    -------
    DataFrame
        The columns of `names`, then the measures; in the order of `runs`.

    Raises
    ------
    RunError
        Names the values of a run that failed.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64, seed=1)
    >>> def run(trace, scheme):
    ...     return sl.simulate(trace, scheme).metrics()[["wait_time", "utilization"]]
    >>> runs = [{"trace": trace.scale_load(load), "scheme": "easy"} for load in (0.6, 0.8)]
    >>> table = sl.experiment.table_of(run, runs, names=[{"load": 0.6}, {"load": 0.8}])
    >>> table.columns.tolist(), len(table)
    (['load', 'wait_time', 'utilization'], 2)
    """
    return carried_out(Plan(run, runs, names, settings), **how)


def carried_out(
    plan: Plan,
    threads: int | None = None,
    progress: bool = True,
    errors: str = "raise",
    activity: str = "running",
    store: str | PathLike | Store | None = None,
    retry: bool = False,
) -> pd.DataFrame:
    """Make the runs of a plan whose results are unknown, and return the table; other parameters are as in `grid`."""
    _check_threads(threads)
    if not len(plan):
        return pd.DataFrame()
    known = Known(plan, store, retry or errors == "raise")
    if known.missing:
        _run(plan, known, threads, progress, errors, activity)
    return tabled(plan.names, known.in_order(), errors == "keep")


class Known:
    """The results of a plan's runs: from this session, from a store, and newly computed.

    With `again`, stored failures count as missing; with `look`, the store is left unchanged.
    """

    def __init__(
        self, plan: Plan, store: str | PathLike | Store | None = None, again: bool = False, look: bool = False
    ):
        self.plan, self.study = plan, None
        store, requested = (storing_in(), False) if store is None else (Store(store), True)
        try:
            self.keys = plan.keys
        except NoDigestError as error:
            if requested:
                raise ValueError(f"results cannot be kept in {store.path}: {error}") from None
            store, self.keys = None, list(range(len(plan)))  # every run counts as different, and is not remembered
        self._results = memory.runs.of(self.keys)
        if store is not None:
            self._look_in(store, again, look, not requested)
        changed = memory.changed()
        self._results = {key: result for key, result in self._results.items() if not changed(result.files)}
        for result in self._results.values():
            note(result.files)

    def _look_in(self, store, again, look, optional):
        if both := sorted({name for names in self.plan.names for name in names} & set(RESERVED)):
            columns = "is a reserved column" if len(both) == 1 else "are reserved columns"
            raise ValueError(f"{', '.join(both)} {columns} of a store; give the function's parameters other names")
        self.study = store.study(self.plan)
        self.study.optional = optional
        stored = self.study.results(self.keys)
        if not look:
            store.make()
            self.study.ask(self.keys)
            places = {key: place for place, key in enumerate(self.keys)}
            for key in self._results.keys() - stored.keys():  # this session computed it without the store
                with suppress(TypeError) if optional else nullcontext():
                    self.study.keep(key, *self.plan.described(places[key]), self._results[key])
        self._results |= {key: result for key, result in stored.items() if not (again and result.failed)}

    @property
    def missing(self) -> list[int]:
        """Positions of the runs to make, without duplicates, in order."""
        first = {key: place for place, key in reversed([*enumerate(self.keys)]) if key not in self._results}
        return sorted(first.values())

    def by_place(self) -> dict:
        """Return the known results by position."""
        return {place: self._results[key] for place, key in enumerate(self.keys) if key in self._results}

    def take(self, place: int, result) -> None:
        """Add a new result."""
        self._results[self.keys[place]] = result
        note(result.files)
        if isinstance(self.keys[place], str):
            memory.runs.keep(self.keys[place], result)

    def in_order(self) -> list:
        """Return the results of all runs, in the order of the plan."""
        return [self._results[key] for key in self.keys]


def _run(plan, known, threads, progress, errors, label):
    """Run what is missing, on joblib's backend."""
    places, study = known.missing, known.study
    backend, _ = get_active_backend(prefer="threads")  # it reports 1 job if no number was set
    _, jobs = get_active_backend()
    together, near = isinstance(backend, THREADS), isinstance(backend, THREADS + PROCESSES)
    jobs = threads or jobs or -1
    workers, spent = backend.effective_n_jobs(jobs), 0.0
    if not near:
        _batch(backend, REMOTE_BATCH)
    if study is not None:
        study.check_writable(len(places))
    pool = Parallel(n_jobs=jobs, prefer="threads", return_as="generator_unordered")
    reserved = RESERVED if study else OF_FAILURES if errors == "keep" else ()
    results = iter(())
    try:
        with Progress(len(places), label, progress) as bar, stoppable() as within, TemporaryDirectory() as folder:
            # Workers on this computer write to the store themselves, at once; those elsewhere may not have access to
            # it.
            writing = study if near else None
            task = delayed(within(_one))
            # Processes are reused, with the modules that they have loaded.
            version = plan.about if near and not together and isinstance(known.keys[0], str) else None
            sent = (lambda _, value: value) if together else sender(Path(folder) if near else None)
            results = pool(
                task(
                    place,
                    plan.names[place],
                    reserved,
                    partial(_kept, writing, known.keys[place], *plan.described(place)) if writing else None,
                    version,
                    sent("the function", plan.run),
                    tuple(plan.runs[place]),
                    *(sent(name, value) for name, value in plan.runs[place].items()),
                )
                for place in places
            )
            for count, (place, result) in enumerate(results, start=1):
                spent += result.seconds
                if not near and spent / count * (len(places) - count) < END * workers:
                    _batch(backend, LAST_BATCH)
                if study is not None and not writing:
                    result = _kept(study, known.keys[place], *plan.described(place), result)
                if result.failed and errors == "raise":
                    raise _failed(plan.names[place], result.measured) from result.measured.error
                known.take(place, result)
                bar.update(result.failed)
    except BaseException as error:
        if hasattr(results, "throw"):
            with suppress(BaseException):  # otherwise joblib warns about unused results
                results.throw(error)
        if type(error).__name__ in LOST_WORKERS:
            raise RuntimeError("a Dask worker ended during a run, perhaps for lack of memory; see its log") from error
        raise


def _batch(backend, seconds):
    """Let joblib group runs into batches that take at least, and at most, this many seconds."""
    backend.MIN_IDEAL_BATCH_DURATION, backend.MAX_IDEAL_BATCH_DURATION = seconds


def _one(place, about, reserved, kept, version, run, names, *values):
    """Make one run in a worker; `kept` stores its result there if the worker can."""
    if version is not None and _version(run) != version:
        raise ValueError(STALE)
    run, *values = map(arrived, (run, *values))
    result = result_of(run, dict(zip(names, values, strict=True)))
    check_columns(about, result, reserved)
    return place, result if kept is None else kept(result)


def _kept(study, key, columns, origins, result):
    """Store a result and return it; if it cannot be stored and a store was requested, return a failure."""
    try:
        study.keep(key, columns, origins, result)
    except TypeError as error:
        if not study.optional:
            study.keep(key, columns, origins, result := failed(result, error))
    return result


def _failed(names, failure):
    values = ", ".join(f"{name}={value}" for name, value in names.items())
    return RunError(f"the run with {values} failed: {failure.words}")


def _check_threads(threads):
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, Integral) or threads < 1):
        raise ValueError(f"threads must be a whole number greater than 0, got {threads!r}")


def is_several(value) -> bool:
    """Tell whether several values are given, rather than one."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | pd.DataFrame)


def several(name: str, given, single: bool) -> list:
    """Make a list of the given values, one or several."""
    values = [given] if single else list(given)
    if not values:
        raise ValueError(f"{name} is an empty list, expected at least one {name}")
    return [without_numpy(value) for value in values]


def _cases(argument):
    if isinstance(argument, Iterable) and not isinstance(argument, str | Mapping):
        cases = list(argument)
        if all(isinstance(case, Mapping) for case in cases):
            return [dict(case) for case in cases]
    raise TypeError(f"cases is {argument!r}, expected mappings such as [{{'load': 0.7, 'scheme': 'easy'}}]")


def _check_names(run, runs):
    """Raise if the function does not take the values."""
    parameters = inspect.signature(run).parameters
    needed = {name for name, parameter in parameters.items() if parameter.default is parameter.empty}
    if reserved := inspect.signature(grid).parameters.keys() & needed - {"run", "cases", "values"}:
        raise ValueError(
            f"{', '.join(sorted(reserved))}: names of grid's own parameters; give the function's parameters other names"
        )
    for values in runs:
        try:
            inspect.signature(run).bind(**values)
        except TypeError as error:
            taken, arguments = (", ".join(names) or "no parameters" for names in (parameters, values))
            raise TypeError(f"the function takes {taken}; with {arguments}: {error}") from None
