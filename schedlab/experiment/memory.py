"""Results computed earlier in this session."""

import inspect
from collections import OrderedDict
from concurrent.futures import Future
from contextlib import suppress
from functools import cache, partial, update_wrapper
from threading import Lock, get_ident
from types import MethodType
from weakref import ref

from .._runtime.digests import NoDigestError, key, of_function, of_named
from .._runtime.files import note, recording
from ..workload import archive

MOST_RUNS = 100_000  # remembered runs; the oldest are dropped first


class Memory:
    """The results of runs by their keys; those not used for longest are dropped first."""

    def __init__(self, most: int = MOST_RUNS):
        self.most, self.lock, self.runs = most, Lock(), OrderedDict()

    def of(self, keys) -> dict:
        """Return the known results among some runs."""
        with self.lock:
            for key in keys:
                if key in self.runs:
                    self.runs.move_to_end(key)
            return {key: self.runs[key] for key in keys if key in self.runs}

    def keep(self, key, result) -> None:
        """Keep a result, unless it is a failure, which is to be tried again."""
        if not result.failed:
            with self.lock:
                self.runs[key] = result
                while len(self.runs) > self.most:
                    self.runs.popitem(last=False)

    def clear(self) -> None:
        """Forget all."""
        with self.lock:
            self.runs.clear()


class _Interrupted(Exception):
    """A run was interrupted; a thread that waits for it has to run it itself."""


runs = Memory()
_remembered = []


def forget() -> None:
    """Empty the caches of `grid`, `sweep` and `remember`; results in a store stay.

    Examples
    --------
    >>> import schedlab as sl
    >>> @sl.experiment.remember(1)
    ... def workload(seed):
    ...     return sl.model_trace("lublin", jobs=200, machine=64, seed=seed)
    >>> first = workload(1)
    >>> sl.experiment.forget()
    >>> workload(1) is first
    False
    """
    runs.clear()
    for remembering in filter(None, (reference() for reference in _remembered)):
        remembering.forget()


def changed():
    """Return a function that tells whether any of the files that a result has read is another one now."""
    now = cache(archive.digest_now)  # many results have read the same file
    return lambda files: any(now(label) != digest for label, digest in files.items())


def remember(most: int):
    """Cache the latest results of a function by its values; meant for traces and schedules, which are large.

    A result is used again as `grid` uses one: if the function, with what it uses, its values, and the files that it
    read are the same. If two threads ask for the same result, it is computed once and both wait for it.

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
        From the function, if it calls itself with the same values.

    Examples
    --------
    >>> import schedlab as sl
    >>> @sl.experiment.remember(4)
    ... def workload(load, seed):
    ...     return sl.model_trace("lublin", jobs=200, machine=64, seed=seed).scale_load(load)
    >>> def run(load, scheme, seed):
    ...     return sl.simulate(workload(load, seed), scheme).metrics()["wait_time"]
    >>> table = sl.grid(run, load=[0.6, 0.8], scheme=["fcfs", "easy"], seed=1)  # generates two traces, not four
    >>> workload(0.6, seed=1) is workload(0.6, seed=1)
    True
    """
    return partial(_Remembering, most)


class _Remembering:
    """A function that remembers its latest results. A copy in another process begins with an empty cache."""

    def __init__(self, most, function):
        self.most, self.kept, self.lock = most, OrderedDict(), Lock()
        self.signature = inspect.signature(function)
        update_wrapper(self, function)
        _remembered.append(ref(self))

    def __reduce__(self):
        return _Remembering, (self.most, self.__wrapped__)

    def __get__(self, instance, owner=None):
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *arguments, **settings):
        function = self.__wrapped__
        call = self.signature.bind(*arguments, **settings)
        call.apply_defaults()
        try:
            about = key(of_function(function), {name: of_named(name, value) for name, value in call.arguments.items()})
        except NoDigestError:
            return function(*arguments, **settings)
        while True:
            future, mine = self._future(about)
            if mine:
                break
            with suppress(_Interrupted):  # only the thread that computed it was interrupted
                value, files = future.result()
                note(files)
                return value
        try:
            with recording() as files:
                value = function(*arguments, **settings)
            future.set_result((value, files))
        except BaseException as error:
            with self.lock:
                if self.kept.get(about, (None,))[0] is future:
                    del self.kept[about]
            future.set_exception(error if isinstance(error, Exception) else _Interrupted())
            raise
        return value

    def _future(self, about):
        """Return the future of a result, and whether the caller is to compute it."""
        thread = get_ident()
        with self.lock:
            known, owner = self.kept.get(about, (None, None))
            finished = known is not None and known.done()
            if known is None or (finished and known.exception() is None and changed()(known.result()[1])):
                future = Future()
                self.kept[about] = future, thread
            else:
                future = known
            self.kept.move_to_end(about)
            if (beyond := len(self.kept) - self.most) > 0:
                over = [call for call, (other, _) in self.kept.items() if other.done()]
                for oldest in over[:beyond]:  # results still being computed are kept, since others wait for them
                    del self.kept[oldest]
        if future is known and not finished and owner == thread:
            raise RecursionError(f"{self.__wrapped__.__name__} asks for the result that it is computing")
        return future, future is not known

    def forget(self):
        """Empty the cache."""
        with self.lock:
            self.kept.clear()
