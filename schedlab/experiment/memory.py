"""Results computed earlier in this session."""

import inspect
from collections import OrderedDict
from functools import cache, partial, update_wrapper
from threading import Lock, RLock
from types import MethodType, SimpleNamespace
from weakref import WeakSet

from .._runtime.digests import NoDigestError, key, of_function, of_named
from .._runtime.files import note, recording
from ..workload import archive

MOST_RUNS = 100_000  # remembered runs; the oldest are dropped first
runs = OrderedDict()  # results of runs by their keys
_remembered = WeakSet()


def forget() -> None:
    """Empty the caches of `grid`, `sweep` and `remember`; results in a store stay.

    Examples
    --------
    >>> import schedlab as sl
    >>> workload = sl.experiment.remember(1)(lambda seed: sl.model_trace("lublin", jobs=200, seed=seed))
    >>> first = workload(1)
    >>> sl.experiment.forget()
    >>> workload(1) is first
    False
    """
    runs.clear()
    for remembering in list(_remembered):
        remembering.forget()


def changed():
    """Return a function that tells whether any of the files that a result has read is another one now."""
    now = cache(archive.digest_now)  # many results have read the same file
    return lambda files: any(now(label) != digest for label, digest in files.items())


def remember(most: int):
    """Make a decorator that caches the latest results of a function by its values, such as traces and schedules.

    A result is used again as `grid` uses one. If two threads ask for the same, it is computed once and both wait. A
    function that calls itself with the same values raises RecursionError.

    Parameters
    ----------
    most : int
        How many results to keep.

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
    """A function that remembers its latest results. A copy in another process begins with an empty cache.

    Of each call it has the result with the files that were read, and a lock, which a thread holds while it computes.
    """

    def __init__(self, most, function):
        self.most, self.calls, self.lock = most, OrderedDict(), Lock()
        self.signature = inspect.signature(function)
        update_wrapper(self, function)
        _remembered.add(self)

    def __reduce__(self):
        return _Remembering, (self.most, self.__wrapped__)

    def __get__(self, instance, owner=None):
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *arguments, **settings):
        function = self.__wrapped__
        bound = self.signature.bind(*arguments, **settings)
        bound.apply_defaults()
        try:
            about = key(of_function(function), {name: of_named(name, value) for name, value in bound.arguments.items()})
        except NoDigestError:
            return function(*arguments, **settings)
        with self.lock:
            call = self.calls.setdefault(about, SimpleNamespace(lock=RLock(), users=0, computing=False, result=None))
            self.calls.move_to_end(about)
            call.users += 1
            unused = [name for name, other in self.calls.items() if not other.users]
            for oldest in unused[: max(len(self.calls) - self.most, 0)]:
                del self.calls[oldest]
        try:
            with call.lock:
                return self._result(call, partial(function, *arguments, **settings))
        finally:
            with self.lock:
                call.users -= 1
                if call.result is None and not call.users:  # it failed
                    self.calls.pop(about, None)

    def _result(self, call, compute):
        if call.computing:
            raise RecursionError(f"{self.__wrapped__.__name__} asks for the result that it is computing")
        if call.result is not None and not changed()(call.result[1]):
            note(call.result[1])
            return call.result[0]
        call.computing = True
        try:
            with recording() as files:
                value = compute()
            call.result = value, files
        finally:
            call.computing = False
        return value

    def forget(self):
        """Empty the cache."""
        with self.lock:
            self.calls.clear()
