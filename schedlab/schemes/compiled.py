"""Schemes written as a function of the kernels' parts, and compiled like the kernels."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral
from typing import ClassVar, overload

import numba
import numpy as np

from schedlab._runtime.digests import NoDigestError, digest
from schedlab._runtime.text import plain, spelt
from schedlab._runtime.threads import compile_for, interruptible
from schedlab.kernels._jit import KernelCache, kernel, part
from schedlab.kernels.cluster import BEGUN, FREE, NAN, NOW, advance, new_cluster
from schedlab.kernels.questions import sort_queue
from schedlab.kernels.sorted_pairs import NEVER, back, front
from schedlab.machine import Flat
from schedlab.workload.conventions import OVERRUN

from .base import Case, Outcome
from .orders import explained
from .policies import line_of, reason_of
from .python import by_its_name
from .rigid import Queued
from .steps import SchemeError


@dataclass(frozen=True)
class CompiledScheme(Queued):
    """A scheme made from a function of the kernels' parts; `schedlab.compiled_scheme` makes it.

    Its fields are the parameters of `schedlab.compiled_scheme`; `keeps` is `promises` there.
    """

    function: Callable = field(kw_only=True)
    memory: int | Callable = field(default=0, kw_only=True)
    keeps: bool = field(default=False, kw_only=True)
    in_order: bool = field(default=False, kw_only=True)

    overruns = OVERRUN
    maker: ClassVar[str] = "compiled_scheme"
    takes: ClassVar[tuple[str, ...]] = ("c",)  # parameters of the function, besides the memory
    counts: ClassVar[tuple[str, ...]] = ("jobs", "procs")  # parameters of a function that makes the memory

    def __post_init__(self):
        super().__post_init__()
        forms = f"({', '.join(self.takes)}) or ({', '.join((*self.takes, 'memory'))})"
        expected = f"{self.maker} takes a function of {forms}"
        if not inspect.isfunction(self.function):
            raise TypeError(f"{expected}, got {spelt(self.function)}")
        signature = inspect.signature(self.function)
        more = len(signature.parameters) - len(self.takes)
        if more not in (0, 1):
            raise TypeError(f"{expected}, got {self.function.__name__}{signature}")
        whole = isinstance(self.memory, Integral) and not isinstance(self.memory, bool)
        if not (_takes(self.memory, self.counts) if callable(self.memory) else whole and self.memory >= 0):
            counts = ", ".join(self.counts)
            raise TypeError(
                f"memory is {spelt(self.memory)}, expected the number of values, or a function of ({counts})"
            )
        if (more == 1) != (callable(self.memory) or self.memory > 0):
            wrong = "takes a memory: give memory=" if more else "takes no memory: leave out memory="
            raise TypeError(f"{self.function.__name__}{signature} {wrong}")

    def __reduce_ex__(self, protocol):
        return by_its_name(self, self.function) or super().__reduce_ex__(protocol)

    @property
    def label(self) -> str:
        return plain(self.function.__name__)

    def promises(self, machine: Flat) -> bool:
        return self.keeps

    @explained
    def simulate(self, case: Case) -> Outcome:
        start, promise, fault, waits = self._run(*self._arguments(case))
        if fault >= 0:
            late = case.number(int(np.flatnonzero(start == fault)[-1]))
            raise SchemeError(f"{self} at {fault} s: more processors are held than the machine has; job {late} starts")
        self._check_waiting(case, start, waits)
        return case.outcome(start, promise)

    def compile(self, case: Case) -> None:
        """Compile the scheme without running it.

        Parameters
        ----------
        case : Case
            Any case: its types count, not its jobs.
        """
        compile_for(self._kernel(), (*self._arguments(case), np.zeros(1, np.int64)))

    def _kernel(self):
        return kernel_of(self.function, self.keeps, _simulation, len(self.takes))

    def _run(self, *arguments):
        """Run the kernel; return what it does."""
        try:
            return interruptible(self._kernel(), *arguments)
        except numba.core.errors.NumbaError as error:
            raise self._not_compiled(str(error)) from None

    def _check_waiting(self, case, start, waits):
        """Raise if jobs were never started: `waits` is the first of them, -1 for none."""
        if waits >= 0:
            count = int((start < 0).sum())
            still = f"{count} job{'s' * (count > 1)} still wait: first job {case.number(int(waits))}"
            raise SchemeError(f"{self}: no job runs, none will arrive, and {still}")

    def _arguments(self, case):
        procs = case.machine.procs
        memory = self.memory(len(case), procs) if callable(self.memory) else np.zeros(self.memory, np.int64)
        return case.jobs, procs, self.queue(case), memory, case.per_event

    def _not_compiled(self, text):
        makes = re.search(r"Function\(<built-in function (zeros|empty|ones|full|arange|array)>\)", text)
        reason = f"it makes an array ({makes[1]}): let memory= make it" if makes else reason_of(text)
        return SchemeError("\n".join([f"{self} cannot be compiled: {reason}", *line_of(text, self.function)]))


@overload
def compiled_scheme(
    function: Callable,
    *,
    memory: int | Callable = ...,
    order: str | Callable = ...,
    promises: bool = ...,
    in_order: bool = ...,
) -> "CompiledScheme": ...
@overload
def compiled_scheme(
    *, memory: int | Callable = ..., order: str | Callable = ..., promises: bool = ..., in_order: bool = ...
) -> "Callable[[Callable], CompiledScheme]": ...
def compiled_scheme(
    function: Callable | None = None,
    *,
    memory: int | Callable = 0,
    order: str | Callable = "fcfs",
    promises: bool = False,
    in_order: bool = False,
):
    """Make a scheme from a function of the kernels' parts (`schedlab.kernels.parts`); it runs as fast as the kernels.

    The function is called at each pass, after the completions and arrivals of the instant. The first use compiles it,
    which takes a few seconds; the result stays on disk until the function, or anything it uses, changes. An endless
    loop in it can only be stopped by killing the process, and an index beyond an array may end it. So try a new
    function with `schedlab.testing.check_scheme` first, which runs it in another process. Without a function, this
    returns a decorator.

    Parameters
    ----------
    function : function
        Takes the state `c` of the simulation and, if it has a second parameter, its memory.
    memory : int or function
        How many integers the scheme keeps from pass to pass, all 0 at the beginning; or a function of (jobs, procs)
        that makes arrays, such as `schedlab.kernels.parts.new_profile`.
    order : str or function
        The order of the queue that the function sees; see `schedlab.schemes.Queued`.
    promises, in_order : bool
        As in `schedlab.python_scheme`. A job's first reservation is ``c.promise[job]``; `reserve_for_head` sets it.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.kernels.parts import FREE, back, begin, front
    >>> @sl.compiled_scheme
    ... def first_fit(c):
    ...     place = front(c.queue)
    ...     while place < back(c.queue):
    ...         if c.jobs.procs[c.queue.item[place]] <= c.clock[FREE]:
    ...             place = begin(c, place)
    ...         else:
    ...             place += 1
    >>> len(sl.simulate(sl.model_trace("lublin", jobs=300, seed=1), first_fit).validate())
    300
    """
    settings = {"memory": memory, "keeps": promises, "in_order": in_order}
    if function is None:
        return lambda function: CompiledScheme(order, function=function, **settings)
    return CompiledScheme(order, function=function, **settings)


def _takes(function, arguments):
    """Tell whether a function can be called with so many arguments."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # it has no signature
        return True
    return True


class _Cache(KernelCache):
    """The cache of one function's kernel: what the function is and uses is in the name."""

    def _index_key(self, sig, codegen):
        return sig, codegen.magic_tuple()


_kernels = {}  # by what the function is and uses (the function itself if it has no digest), and how it is run


def kernel_of(function: Callable, noted: bool, simulation: Callable, takes: int):
    """Return the kernel that calls a function at each pass; make it unless it exists for the function as it is now.

    `simulation` makes the function to compile; `takes` is how many arguments there are besides the memory.
    """
    try:
        code = f"{digest(function)}{'_noted' if noted else ''}_{takes}"
    except NoDigestError:  # something that it uses has no digest: compiled once per process
        code = None
    key = code or (function, noted, takes)
    if key not in _kernels:
        takes_memory = len(inspect.signature(function).parameters) > takes
        decide = part(function) if takes_memory else WITH_MEMORY[takes](part(function))
        simulate = simulation(decide, noted)
        simulate.__name__ = simulate.__qualname__ = function.__name__
        if code:  # machine code from the disk finds its constants by this name: no other kernel may have the same
            simulate.__qualname__ += f"_{code}"
        _kernels[key] = kernel(simulate, code and _Cache)
    return _kernels[key]


def _with_memory(decide):
    @part
    def decides(c, memory):
        decide(c)

    return decides


def _with_pool_and_memory(decide):
    @part
    def decides(c, pool, memory):
        decide(c, pool)

    return decides


WITH_MEMORY = {1: _with_memory, 2: _with_pool_and_memory}


def _simulation(decide, noted):
    """Return the function to compile; if promises are noted, the first one of a job counts, whatever is set later."""

    def simulate(jobs, machine, order, memory, per_event, halt):
        n = jobs.submit.size
        c = new_cluster(jobs, machine, order.rank, order.moving, per_event, halt)
        # What is not set yet is no job: whoever reads it gets an index outside all arrays, not what was in the memory.
        c.begun[:], c.queue.item[:], c.running.item[:], c.ends.item[:] = n, n, n, n
        score = np.empty(n if order.moving else 0, np.float64)
        first = np.full(n if noted else 0, -1, np.int64)
        while advance(c, NEVER):
            sort_queue(c, order, score)
            begun = c.clock[BEGUN]
            decide(c, memory)
            if c.clock[FREE] < 0:
                return c.start, c.promise, c.clock[NOW], -1
            if noted:
                note_promises(c, first, begun)
        if c.clock[NAN]:
            raise ValueError("the order of the queue gives nan")
        waits = c.start.argmin() if c.clock[BEGUN] < n and not halt[0] else -1
        return c.start, first if noted else c.promise, -1, waits

    return simulate


@part
def note_promises(c, first, begun):
    """Note in `first` the promises of jobs that wait or were started by this pass, unless they had one.

    Before the pass, `begun` jobs had been started. A job without a promise has -1 in `first`.
    """
    for place in range(front(c.queue), back(c.queue)):
        note_promise(c, first, c.queue.item[place])
    for place in range(begun, c.clock[BEGUN]):
        note_promise(c, first, c.begun[place])


@part
def note_promise(c, first, job):
    if first[job] < 0:
        first[job] = c.promise[job]
