"""Threads for simulations that Ctrl-C stops within a second: thread pools, and single kernels."""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue

import numpy as np

MOMENT = 0.1  # seconds between the main thread's checks while it waits, in case a signal does not wake it


@contextmanager
def pool(threads: int | None = None) -> Iterator[ThreadPoolExecutor]:
    """Return a pool of threads that an exception stops at once. Default: one thread per core.

    Running simulations stop early (`interruptible`) and pending ones are cancelled. The executor's own context manager
    would finish all of them first.
    """
    with ExitStack() as ending, _halting() as halt:
        workers = os.cpu_count() if threads is None else threads
        executor = ThreadPoolExecutor(workers, initializer=partial(setattr, _thread, "halt", halt))
        ending.callback(executor.shutdown, cancel_futures=True)
        yield executor


@contextmanager
def _halting():
    """Yield the flag that stops kernels, which an exception sets: that of the pool around this one, if there is one."""
    outer = getattr(_thread, "halt", None)
    halt = _new_halt() if outer is None else outer
    try:
        yield halt
    except BaseException:
        if outer is None:
            halt[0] = 1
        raise


@contextmanager
def stoppable() -> Iterator[type]:
    """Stop kernels that run in another library's threads when an exception leaves the block.

    Yields a wrapper for the functions that those threads call. Kernels in a wrapped function (`interruptible`) stop
    soon after an exception has left the block.
    """
    with _halting() as halt:
        yield partial(_Belonging, halt)


class _Belonging:
    """A function whose kernels belong to a block; it can be pickled, for pools of processes."""

    def __init__(self, halt, function):
        self.halt, self.function = halt, function

    def __call__(self, *arguments):
        before = getattr(_thread, "halt", None)
        _thread.halt = self.halt
        try:
            return self.function(*arguments)
        finally:
            _thread.halt = before


def interruptible(kernel: Callable, *arguments):
    """Call a kernel so that Ctrl-C ends it within a second, and its result is discarded.

    Python handles signals in the main thread only, between two of its own steps, so never within a kernel. A kernel
    that is called from the main thread therefore runs in another thread, while the main thread waits. Called from
    another thread, a kernel runs directly; it ends early if that thread's `pool` ends. The kernel's last argument is a
    flag, int64, shape (1,); it returns soon after the flag is set.
    """
    if threading.current_thread() is threading.main_thread():
        halt = _new_halt()
        return _elsewhere(kernel, (*arguments, halt), halt)
    halt = getattr(_thread, "halt", None)
    if halt is None:
        halt = _new_halt()
    result = kernel(*arguments, halt)
    if halt[0]:
        raise KeyboardInterrupt
    return result


def go_on() -> None:
    """Raise KeyboardInterrupt if the pool of this thread has stopped; for occasional calls in long Python loops."""
    halt = getattr(_thread, "halt", None)
    if halt is not None and halt[0]:
        raise KeyboardInterrupt


def abandonable(kernel: Callable, *arguments):
    """Call a kernel that takes no flag so that Ctrl-C is answered within a second, as in `interruptible`.

    The kernel continues in its thread, and its result is discarded. Use this only for kernels that take seconds, not
    minutes, and that change only their own arrays.
    """
    halt = getattr(_thread, "halt", None)
    if halt is None and threading.current_thread() is not threading.main_thread():
        return kernel(*arguments)
    return _elsewhere(kernel, arguments, watched=halt)


_thread = threading.local()  # `halt`: the flag of the pool that the thread belongs to


def _new_halt():
    return np.zeros(1, np.int64)


# The queues of threads that wait for a kernel to run. Starting a thread for each call would take four times as long:
# measured with a kernel that does nothing, 130 us instead of 25 to 30.
_idle = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a fork copies no threads


def _run_calls(calls):
    for call in iter(calls.get, None):
        call()


def _waiting_thread():
    """Return the queue of a thread that waits for a call; start a new thread if none is waiting."""
    with suppress(IndexError):
        return _idle.pop()
    calls = SimpleQueue()
    threading.Thread(target=_run_calls, args=(calls,), name="kernels", daemon=True).start()
    return calls


def _elsewhere(kernel, arguments, halt=None, watched=None):
    """Call a kernel in another thread, and wait until it ends, an exception comes, or the flag of a pool is set.

    In the last two cases its flag `halt` ends the kernel, and this waits for the end; a kernel without a flag is left
    running.
    """
    # A queue in C: an exception that a signal raises within `threading.Event` can leave its lock held for good.
    begun, completion, results, errors = [], SimpleQueue(), [], []
    compile_for(kernel, arguments)
    context = copy_context()  # it identifies who catches the errors of an order

    def run():
        begun.append(True)
        try:
            results.append(context.run(kernel, *arguments))
        except BaseException as error:  # to be raised again in the calling thread
            errors.append(error)
        finally:
            completion.put(None)

    calls = _waiting_thread()
    try:
        calls.put(run)
        while not (results or errors):
            with suppress(Empty):
                completion.get(timeout=MOMENT)
            if watched is not None and watched[0]:
                raise KeyboardInterrupt
    except BaseException:
        if halt is not None:
            halt[0] = 1
            while begun and not (results or errors):
                with suppress(Empty):
                    completion.get(timeout=MOMENT)
        raise
    finally:
        if results or errors:
            _idle.append(calls)
        else:
            calls.put(None)  # the thread ends after this call
    if errors:
        raise errors[0]
    return results[0]


def compile_for(kernel: Callable, arguments: tuple) -> None:
    """Compile a kernel for such arguments before its first call: the compiler handles Ctrl-C in the main thread only.

    It is left alone if it is compiled already, or if numba's JIT is switched off.
    """
    if not getattr(kernel, "overloads", True):  # without overloads if numba's JIT is switched off
        kernel.compile(tuple(kernel.typeof_pyval(argument) for argument in arguments))
