"""Run a function over a grid of values on any joblib backend, and skip runs whose results are known."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import product
from numbers import Integral
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from joblib.parallel import LokyBackend, MultiprocessingBackend, get_active_backend

from .._runtime.digests import NoDigestError, key, of_function, of_named
from .._runtime.files import note
from .._runtime.remarks import logger
from .._runtime.text import check_known, spelt
from .._runtime.threads import stoppable
from ..workload.trace import Trace
from . import memory
from .progress import Progress
from .results import OF_FAILURES, PLAIN, check_columns, failure_of, name_of, named, result_of, tabled, without_numpy
from .sending import arrived, sender
from .stores import RESERVED, Store, storing_in, study_of
from .written import written_or_text

REMOTE_BATCH = (1, 3)  # seconds of work in one message to a worker elsewhere: at least, at most
RESTART = "restart the workers: joblib.externals.loky.get_reusable_executor().shutdown()"


class RunError(RuntimeError):
    """A run of a grid failed; the message names its values, and the cause is the exception that it raised."""


def grid(
    run: Callable,
    combinations: Iterable[Mapping] | None = None,
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

    In a session (until `forget`), and with a `store` in later ones too, no run whose result is known is repeated.

    Parameters
    ----------
    run : function
        Takes the values by name and returns measures: a number; a mapping or Series of numbers or texts for one row; or
        a DataFrame for several. Nothing else may matter: pass seeds and names of logs, not open files or generators.
    combinations : iterable of mapping, optional
        Values that belong together, for a study that is not a full product. Each is combined with all of `values`.
    threads : int, optional
        How many runs at a time; the table is the same. Default: that of `joblib.parallel_config`, else one per core.
    progress : bool
        Show a progress bar with the remaining time, if the grid takes over a second.
    errors : {"raise", "keep"}
        What happens when a run fails. "raise": the grid ends with a `RunError`, which names the run's values. "keep":
        the grid goes on; the column ``error`` has the run's error and ``error_at`` where it was raised, or "".
    activity : str
        The label of the progress bar.
    store : path or Store, optional
        A folder that keeps each result as soon as its run ends: for later sessions, for other grids of the same
        function, and for processes that use the folder at the same time. Created if missing. See `schedlab.store`.
    retry : bool
        Rerun runs that the store holds as failures. Without ``errors="keep"``, failures are always rerun.
    **values
        For each parameter of the function, one value or several: a list, tuple, range, array or any other iterable. A
        text is one value. To pass a tuple as one value, put it in a list: ``sigma=[(0, 2)]``.

    Returns
    -------
    DataFrame
        The values of each run, then its measures, in the order of `combinations` and of the product. Traces and schemes
        appear by name; different ones with the same name are numbered.

    Raises
    ------
    ValueError, TypeError
        For an empty list, names that the function does not take, or values whose results cannot be stored.

    Notes
    -----
    A known result is used again if schedlab and the function are the same, with every function, class and constant of
    yours that it uses, its values, and the content of the files and logs that it read through the package. What cannot
    be seen is what it gets by other ways: environment variables, modules imported by computed names, ``getattr`` with a
    text, files that it opens itself by names in its own code (a path passed as a value counts by its content), what
    threads of its own read, and what caches and compiled functions of its own still hold. Installed packages count by
    their names, not their versions: after an upgrade on which results depend, begin another store.

    Runs go through `joblib.Parallel`, by default on threads, because kernels release the interpreter lock; runs of a
    few milliseconds are mostly Python code, which runs in one thread at a time. Choose another backend with
    ``joblib.parallel_config(backend=...)``: "loky" for processes, "dask" for a cluster. Processes need a function that
    can be pickled; each trace is sent to each process once.

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
    check_known("errors", errors, ("raise", "keep"))
    return carried_out(planned(run, combinations, **values), threads, progress, errors, activity, store, retry)


@lru_cache(32)
def _version(sent):
    """Digest a function received from another process, including what it uses here."""
    return of_function(arrived(sent))


@dataclass(eq=False)
class Plan:
    """The runs of a grid: the values of each, the names that its rows begin with, and settings as in `table_of`."""

    run: Callable
    runs: Sequence[Mapping]
    names: Sequence[Mapping]
    settings: Mapping[str, str | float] | None = None

    def __len__(self) -> int:
        return len(self.runs)

    @cached_property
    def about(self) -> str:
        """Digest of the function. It changes with the function's code and with the package."""
        return of_function(self.run)

    @cached_property
    def _digests(self):
        values = {id(value): (name, value) for run in self.runs for name, value in run.items()}  # many share a trace
        return {place: of_named(*value) for place, value in values.items()}

    @cached_property
    def keys(self) -> list[str]:
        """Return a key for each run. Raises NoDigestError, which names the value without a digest."""
        digests = self._digests
        return [key(self.about, {name: digests[id(value)] for name, value in run.items()}) for run in self.runs]

    def described(self, place: int) -> dict:
        """Return the first columns of a run's rows as a store keeps them, in JSON, whatever else is in the plan."""
        columns = {}
        for name, label in self.names[place].items():
            value = self.runs[place].get(name)
            if isinstance(value, PLAIN):
                columns[name] = written_or_text(label)
            else:
                title, history = (value.title, value.history) if isinstance(value, Trace) else (name_of(value), ())
                columns[name] = {"named": [title, self._digests[id(value)][:12], *history]}
        return columns | {name: written_or_text(value) for name, value in (self.settings or {}).items()}


def planned(run: Callable, combinations: Iterable[Mapping] | None = None, /, **values) -> Plan:
    """Make the plan of a grid: every combination of the values that `grid` takes."""
    sets = {name: several(name, value) for name, value in values.items()}
    combinations = [{}] if combinations is None else _combinations(combinations)
    products = [dict(zip(sets, chosen, strict=True)) for chosen in product(*sets.values())]
    for combination in combinations:
        if both := ", ".join(sorted(combination.keys() & sets.keys())):
            raise ValueError(f"{both}: given both in the combinations and as values of their own; give them once")
    runs = [combination | more for combination in combinations for more in products]
    _check_names(run, runs)
    return Plan(run, runs, named(runs))


def table_of(
    run: Callable, runs: Sequence[Mapping], names: Sequence[Mapping], settings: Mapping | None = None, **how
) -> pd.DataFrame:
    """Do what `grid` does for a list of runs with names of their own, which the rows begin with, in the order of runs.

    Parameters
    ----------
    runs, names : sequence of mapping
        For each run, its values, and the first columns of its rows.
    settings : mapping, optional
        Values common to all runs; in a store, which may hold runs with others, they are further columns.
    run, **how
        As in `grid`: the function; threads, progress, errors, activity, store and retry.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64, seed=1)
    >>> runs = [{"trace": trace, "scheme": scheme} for scheme in ("fcfs", "easy")]
    >>> names = [{"scheme": "no backfilling"}, {"scheme": "backfilling"}]
    >>> table = sl.experiment.table_of(lambda trace, scheme: sl.simulate(trace, scheme).metrics(), runs, names)
    """
    return carried_out(Plan(run, runs, names, settings), **how)


def carried_out(plan, threads=None, progress=True, errors="raise", activity="running", store=None, retry=False):
    """Make the runs of a plan whose results are unknown, and return the table; other parameters are as in `grid`."""
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, Integral) or threads < 1):
        raise ValueError(f"threads must be a whole number greater than 0, got {spelt(threads)}")
    if not len(plan):
        return pd.DataFrame()
    known = Known(plan, store, retry or errors == "raise")
    logger.info("%s: %d runs, %d of them to be made", activity, len(plan), len(known.missing))
    if known.missing:
        _run(plan, known, threads, progress, errors, activity)
    return tabled(plan.names, known.in_order(), errors == "keep")


class Known:
    """The results of a plan's runs by their keys: from this session, from a store, and newly computed.

    With `again`, stored failures count as missing; with `look`, the store is left unchanged.
    """

    def __init__(self, plan: Plan, store=None, again: bool = False, look: bool = False):
        self.study = None
        required = store is not None
        store = Store(store) if required else storing_in.get()
        try:
            self.keys = plan.keys
        except NoDigestError as error:
            if required:
                raise ValueError(f"results cannot be kept in {store.path}: {error}") from None
            store, self.keys = None, list(range(len(plan)))  # every run counts as different, and is not remembered
        self.places = {key: place for place, key in reversed([*enumerate(self.keys)])}  # the first of each key
        results = {key: memory.runs[key] for key in self.places if key in memory.runs}
        if store is not None:
            self.study = study_of(plan, store, required)
            stored = self.study.results(self.keys)
            if not look:
                store.make()
                for added in results.keys() - stored.keys():  # this session computed it without the store
                    with nullcontext() if required else suppress(TypeError):
                        self.study.keep(added, plan.described(self.places[added]), results[added])
            results |= {key: result for key, result in stored.items() if not (again and result.failed)}
        changed = memory.changed()
        self.results = {key: result for key, result in results.items() if not changed(result.files)}
        for result in self.results.values():
            note(result.files)

    @property
    def missing(self) -> list[int]:
        """Positions of the runs to make, without duplicates, in order."""
        return sorted(place for key, place in self.places.items() if key not in self.results)

    def take(self, place: int, result) -> None:
        """Add a new result; this session remembers it, unless it is a failure, which is to be tried again."""
        key = self.keys[place]
        self.results[key] = result
        note(result.files)
        if isinstance(key, str) and not result.failed:
            memory.runs[key] = result
            if len(memory.runs) > memory.MOST_RUNS:
                memory.runs.popitem(last=False)

    def in_order(self) -> list:
        """Return the results of all runs in the order of the plan, and None for those that are missing."""
        return [self.results.get(key) for key in self.keys]


def _run(plan, known, threads, progress, errors, label):
    """Run what is missing, on joblib's backend."""
    places, study = known.missing, known.study
    backend, _ = get_active_backend(prefer="threads")  # it reports 1 job if no number was set
    _, jobs = get_active_backend()
    together = getattr(backend, "supports_sharedmem", False)
    near = together or isinstance(backend, LokyBackend | MultiprocessingBackend)  # on this computer
    if not near:
        backend.MIN_IDEAL_BATCH_DURATION, backend.MAX_IDEAL_BATCH_DURATION = REMOTE_BATCH
    if study is not None:
        study.check_writable(len(places))
    writing = study if near else None  # workers elsewhere may not have access to the store
    # Processes are reused, with the modules that they have loaded.
    version = plan.about if near and not together and isinstance(known.keys[0], str) else None
    reserved = RESERVED if study else OF_FAILURES if errors == "keep" else ()
    pool = Parallel(n_jobs=threads or jobs or -1, prefer="threads", return_as="generator_unordered")
    results = iter(())
    try:
        with Progress(len(places), label, progress) as bar, stoppable() as within, TemporaryDirectory() as folder:
            task = delayed(within(_one))
            sent = (lambda _, value: value) if together else sender(Path(folder) if near else None)
            results = pool(
                task(
                    place,
                    plan.names[place],
                    reserved,
                    partial(_kept, writing, known.keys[place], plan.described(place)) if writing else None,
                    version,
                    sent("the function", plan.run),
                    tuple(plan.runs[place]),
                    *(sent(name, value) for name, value in plan.runs[place].items()),
                )
                for place in places
            )
            for place, result in results:
                if study is not None and not writing:
                    result = _kept(study, known.keys[place], plan.described(place), result)
                if result.failed and errors == "raise":
                    values = ", ".join(f"{name}={value}" for name, value in plan.names[place].items())
                    message = f"the run with {values} failed: {result.measured.words}"
                    raise RunError(message) from result.measured.error
                known.take(place, result)
                bar.update(result.failed)
    except BaseException as error:
        with suppress(BaseException):  # otherwise joblib warns about unused results, if there are any
            results.throw(error)
        raise


def _one(place, about, reserved, kept, version, run, names, *values):
    """Make one run in a worker; `kept` stores its result there if the worker can."""
    if version is not None and _version(run) != version:
        raise ValueError(f"this worker has loaded an older version of your code; {RESTART}")
    run, *values = map(arrived, (run, *values))
    result = result_of(run, dict(zip(names, values, strict=True)))
    check_columns(about, result, reserved)
    return place, result if kept is None else kept(result)


def _kept(study, key, values, result):
    """Store a result and return it; if it cannot be stored and a store was requested, return a failure."""
    try:
        study.keep(key, values, result)
    except TypeError as error:
        if study.required:
            study.keep(key, values, result := replace(result, measured=failure_of(error)))
    return result


def several(name: str, argument) -> list:
    """Make a list of one value or several: a text, a mapping or a table is one, whatever else is iterable several."""
    single = not isinstance(argument, Iterable) or isinstance(argument, str | bytes | Mapping | pd.DataFrame)
    values = [argument] if single or (isinstance(argument, np.ndarray) and not argument.ndim) else list(argument)
    if not values:
        raise ValueError(f"{name} is an empty list, expected at least one {name}")
    return [without_numpy(value) for value in values]


def _combinations(argument):
    if isinstance(argument, Iterable) and not isinstance(argument, str | Mapping):
        combinations = list(argument)
        if all(isinstance(combination, Mapping) for combination in combinations):
            return [dict(combination) for combination in combinations]
    raise TypeError(f"combinations is {spelt(argument)}, expected mappings such as [{{'load': 0.7, 'scheme': 'easy'}}]")


def _check_names(run, runs):
    """Raise if the function does not take the values."""
    parameters = inspect.signature(run).parameters
    needed = {name for name, parameter in parameters.items() if parameter.default is parameter.empty}
    settings = inspect.signature(grid).parameters.keys() - {"run", "combinations", "values"}
    if reserved := ", ".join(sorted(settings & needed)):
        raise ValueError(f"{reserved}: names of grid's own parameters; give the function's parameters other names")
    for values in runs:
        try:
            inspect.signature(run).bind(**values)
        except TypeError as error:
            taken, arguments = (", ".join(names) or "no parameters" for names in (parameters, values))
            raise TypeError(f"the function takes {taken}; with {arguments}: {error}") from None
