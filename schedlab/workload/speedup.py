"""Speedup laws: how much faster a job runs on n processors than on one, and how each job of a trace gets its law."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real

import numpy as np
import pandas as pd

from schedlab._runtime.streams import uniforms
from schedlab._runtime.text import spelt, suggestion
from schedlab.kernels import speedup as kernel
from schedlab.kernels.speedup import AMDAHL, DOWNEY, TABLE

PARALLELISM = ("system", "requested", "any")
ROUNDING = 1e-12  # a curve may fall by this fraction because of rounding; such a fall is removed


class Laws(kernel.Laws):
    """How the jobs of a trace speed up, as the kernels take it; `curves` has shape (1, 1) if the law needs none.

    The methods here do not use the kernels' code, but their results are equal to the last bit.
    """

    __slots__ = ()

    def of(self, jobs) -> "Laws":
        """Return the laws of some jobs: a slice, a mask or places."""
        return self._replace(a=self.a[jobs], b=self.b[jobs], moldable=self.moldable[jobs])

    def speedup(self, n) -> np.ndarray:
        """Return the speed-up S of each job on `n` processors, of a shape that broadcasts with (n_jobs,)."""
        if self.law == DOWNEY:
            return downey_speedup(n, self.a, self.b)
        if self.law == AMDAHL:
            return 1 / (self.a + (1 - self.a) / n)
        return self.curves[self.a.astype("int64"), n]

    def durations(self, seconds, procs, n) -> np.ndarray:
        """Return how long work that takes `seconds` on `procs` processors takes on `n`: int64, seconds, at least 1.

        Rounded up, so that no work is lost, but for a small tolerance: on `procs` processors it takes `seconds` again.
        """
        exact = (seconds * self.speedup(procs)) / self.speedup(n)
        return np.maximum(1, np.ceil(exact * (1 - 1e-12))).astype("int64")


class Model(ABC):
    """Base class of speedup models: a model gives each job its own numbers, which determine its speedup."""

    columns = ()

    @abstractmethod
    def draw(self, numbers, requested, machine: int, seed: int) -> dict[str, np.ndarray]:
        """Draw the columns of jobs, float64, shape (n_jobs,), from their numbers and requested processors.

        Parameters
        ----------
        numbers, requested : int64, shape (n_jobs,)
            Job numbers, and requested processors.
        machine : int
            Processors of the machine.
        seed : int
            The same seed gives the same numbers.
        """

    @abstractmethod
    def laws(self, table: pd.DataFrame, procs: int) -> Laws:
        """Return the laws by which jobs speed up, in the form that the kernels take.

        Parameters
        ----------
        table : DataFrame
            One row per job, with the columns that `draw` returns.
        procs : int
            Number of processors that the curves cover.
        """


@dataclass(frozen=True)
class Downey(Model):
    """Downey's speedup for jobs of average parallelism A, whose variance is sigma.

    Parameters
    ----------
    A : "system", "requested", "any", number or (low, high)
        Average parallelism.

        - "system": the size of the machine at the time when the jobs get their speedup.
        - "requested": uniform from 1 times to 2 times the processors that the job requests.
        - "any": uniform from 1 processor to twice the processors that the job requests.
        - a number: the same for all jobs.
        - (low, high): uniform between two numbers.
    sigma : number or (low, high)
        Variance of the parallelism: one number for all jobs, or uniform between two numbers; 0 is linear speedup up to
        A.

    Examples
    --------
    A job of average parallelism 32, on 64 processors:

    >>> import numpy as np
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> n = np.arange(1, 65, 3)
    >>> trace = sl.model_trace("lublin", jobs=n.size, machine=64)
    >>> curves = {sigma: trace.with_speedup(sl.Downey(A=32, sigma=sigma)).laws().speedup(n) for sigma in (0, 1, 2)}
    >>> {sigma: round(float(speedup[-1]), 1) for sigma, speedup in curves.items()}
    {0: 32.0, 1: 32.0, 2: 27.7}
    >>> table = pd.DataFrame(curves | {"procs": n}).melt("procs", var_name="sigma", value_name="speedup")
    >>> chart = sl.charts.lines(table, "procs", "speedup", "sigma")

    References
    ----------
    A. B. Downey, "A parallel workload model and its implications for processor allocation", Cluster Computing 1, 1998.
    "system" and "requested": Sabin, Lang and Sadayappan, "Moldable parallel job scheduling using job efficiency: an
    iterative approach", JSSPP 2006. "any" is another reading of "requested".
    """

    A: str | float | tuple[float, float] = "system"
    sigma: float | tuple[float, float] = (0, 2)

    columns = ("parallelism", "sigma")

    def __post_init__(self):
        if isinstance(self.A, str):
            if self.A not in PARALLELISM:
                known = ", ".join(map(repr, PARALLELISM))
                known += f", a number or (low, high){suggestion(self.A, PARALLELISM)}"
                raise ValueError(f"unknown A {self.A!r}; known: {known}")
        else:
            object.__setattr__(self, "A", _span("A", self.A, 1))
        object.__setattr__(self, "sigma", _span("sigma", self.sigma, 0))

    def draw(self, numbers, requested, machine: int, seed: int) -> dict[str, np.ndarray]:
        """As in `Model`: parallelism and sigma."""
        named = {"system": (machine, machine), "requested": (requested, 2 * requested), "any": (1, 2 * requested)}
        A = _drawn(named.get(self.A, self.A), uniforms(seed, "parallelism", numbers))
        return {"parallelism": A, "sigma": _drawn(self.sigma, uniforms(seed, "sigma", numbers))}

    def laws(self, table: pd.DataFrame, procs: int) -> Laws:
        A, sigma = (_column(table, *bounds) for bounds in (("parallelism", 1, np.inf), ("sigma", 0, np.inf)))
        return Laws(DOWNEY, A, sigma, np.zeros((1, 1)), _moldable(table))


@dataclass(frozen=True)
class Amdahl(Model):
    """Amdahl's law: a share of the work is serial; the rest speeds up linearly without limit.

    Parameters
    ----------
    serial : number or (low, high)
        Serial share of the work, from 0 to 1: one number for all jobs, or uniform between two numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> n = np.arange(1, 65, 3)
    >>> trace = sl.model_trace("lublin", jobs=n.size, machine=64)
    >>> curves = {serial: trace.with_speedup(sl.Amdahl(serial)).laws().speedup(n) for serial in (0, 0.05, 0.2)}
    >>> {serial: round(float(speedup[-1]), 1) for serial, speedup in curves.items()}
    {0: 64.0, 0.05: 15.4, 0.2: 4.7}
    >>> table = pd.DataFrame(curves | {"procs": n}).melt("procs", var_name="serial", value_name="speedup")
    >>> chart = sl.charts.lines(table, "procs", "speedup", "serial")

    References
    ----------
    G. M. Amdahl, "Validity of the single processor approach to achieving large scale computing capabilities", AFIPS
    1967.
    """

    serial: float | tuple[float, float] = 0.05

    columns = ("serial_share",)

    def __post_init__(self):
        object.__setattr__(self, "serial", _span("serial", self.serial, 0, 1))

    def draw(self, numbers, requested, machine: int, seed: int) -> dict[str, np.ndarray]:
        """As in `Model`: serial_share."""
        return {"serial_share": _drawn(self.serial, uniforms(seed, "serial", numbers))}

    def laws(self, table: pd.DataFrame, procs: int) -> Laws:
        serial = _column(table, "serial_share", 0, 1)
        return Laws(AMDAHL, serial, np.zeros(len(table)), np.zeros((1, 1)), _moldable(table))


@dataclass(frozen=True)
class Speedup(Model):
    """A user-defined speedup.

    Parameters
    ----------
    curve : sequence of numbers, or function
        S(1), S(2), ... up to the size of the machine; or a function of n, or of (n, procs), where procs is the number
        of processors that the job requests. A function may take arrays of n or single numbers. S(1) is 1, and S never
        decreases. S(n) may exceed n: a job whose data fit only into the caches of several processors may be more than
        twice as fast on two.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=100, machine=64).with_speedup(sl.Speedup(lambda n: n**0.8))
    >>> bool(trace.effective_load() < trace.offered_load())
    True
    """

    curve: Callable | Sequence[float]

    columns = ("curve",)

    def __post_init__(self):
        if callable(self.curve):
            if self._arguments not in (1, 2):
                raise ValueError(f"curve is a function of {self._arguments} arguments, expected one of n or (n, procs)")
            return
        try:
            values = np.asarray(self.curve, dtype="float64")
        except (TypeError, ValueError):
            values = np.empty(0)
        if isinstance(self.curve, str) or values.ndim != 1 or not values.size:
            raise ValueError(f"curve is {spelt(self.curve)}, expected the numbers S(1), S(2), ... or a function of n")
        object.__setattr__(self, "curve", tuple(_checked_curve(values, "").tolist()))

    def __str__(self) -> str:
        if callable(self.curve):
            return f"Speedup({getattr(self.curve, '__name__', type(self.curve).__name__)})"
        return f"Speedup({len(self.curve)} values)"

    def draw(self, numbers, requested, machine: int, seed: int) -> dict[str, np.ndarray]:
        """As in `Model`: curve, the requested size if the curve depends on it, otherwise 0. Nothing is drawn."""
        size = requested if self._by_size else np.zeros(len(numbers))
        return {"curve": size.astype("float64")}

    def laws(self, table: pd.DataFrame, procs: int) -> Laws:
        sizes, row = np.unique(table["curve"].to_numpy(), return_inverse=True)
        curves = _curves(self, procs, tuple(sizes.astype("int64").tolist())).copy()
        return Laws(TABLE, row.astype("float64"), np.zeros(len(table)), curves, _moldable(table))

    @property
    def _arguments(self):
        """Number of arguments the function is called with: the required ones, or one if all are optional."""
        if isinstance(self.curve, np.ufunc):
            return self.curve.nin
        try:
            parameters = inspect.signature(self.curve).parameters.values()
        except ValueError:  # some built-in functions have no signature
            return 1
        places = [arg for arg in parameters if arg.kind in (arg.POSITIONAL_ONLY, arg.POSITIONAL_OR_KEYWORD)]
        needed = sum(arg.default is arg.empty for arg in places)
        return needed or int(bool(places) or any(arg.kind == arg.VAR_POSITIONAL for arg in parameters))

    @property
    def _by_size(self):
        return callable(self.curve) and self._arguments == 2

    def values(self, procs: int, size: int) -> np.ndarray:
        """Return S(1) to S(procs) of a job that requests `size` processors; float64, shape (procs,).

        Parameters
        ----------
        procs : int
            Last number of processors; it is an error if the curve ends before.
        size : int
            Processors that the job requests; used only by a curve of (n, procs).
        """
        if not callable(self.curve):
            if len(self.curve) < procs:
                raise ValueError(f"the curve ends at {len(self.curve)} processors, but the machine has {procs}")
            return np.array(self.curve[:procs])
        more = (size,) if self._by_size else ()
        n = np.arange(1, procs + 1)
        try:
            values = np.asarray(self.curve(n, *more), dtype="float64")
        except (TypeError, ValueError):
            values = None  # not made for arrays; other errors are raised below
        if values is None or values.shape != n.shape:
            values = np.array([self.curve(count, *more) for count in n.tolist()], dtype="float64")
        return _checked_curve(values, f", for a job of {size}" if more else "")


@lru_cache(maxsize=8)
def _curves(model, procs, sizes):
    curves = np.zeros((len(sizes), procs + 1))
    for row, size in enumerate(sizes):
        curves[row, 1:] = model.values(procs, size)
    return curves


def _checked_curve(values, whose):
    if not abs(values[0] - 1) <= 1e-9:
        raise ValueError(f"speedup on 1 processor is {values[0]:g}{whose}, expected 1")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(f"speedup on {bad[0] + 1} processors is {values[bad[0]]}{whose}, expected a finite number")
    highest = np.maximum.accumulate(values)
    bad = np.flatnonzero(values < highest * (1 - ROUNDING))
    if bad.size:
        n = bad[0]
        fall = f"{values[n]:g}{whose}, less than {highest[n]:g} on fewer"
        raise ValueError(f"speedup on {n + 1} processors is {fall}; expected that it never falls")
    return highest


def _span(name, setting, least, most=np.inf):
    """Check a number or a pair (low, high) of numbers within bounds."""
    pair = isinstance(setting, tuple | list) and len(setting) == 2
    ends = tuple(setting) if pair else (setting,)
    if not all(isinstance(end, Real) and not isinstance(end, bool) for end in ends):
        raise ValueError(f"{name} must be a number or (low, high), got {spelt(setting)}")
    for end in ends:
        if not (least <= end <= most and np.isfinite(end)):
            bounds = f"at least {least} and finite" if most == np.inf else f"from {least} to {most}"
            raise ValueError(f"{name} must be {bounds}, got {end:g}")
    if ends[0] > ends[-1]:
        raise ValueError(f"{name} must be (low, high), got {spelt(setting)}")
    return ends if pair else setting


def _drawn(span, places):
    """Return the numbers at some places, from 0 to 1, of a span, which may be a single number."""
    low, high = span if isinstance(span, tuple) else (span, span)
    return low + (high - low) * places


def _column(table, name, least, most):
    values = table[name].to_numpy(dtype="float64", copy=True)
    bad = np.flatnonzero(~((values >= least) & (values <= most) & np.isfinite(values)))
    if bad.size:
        bounds = f"at least {least}" if most == np.inf else f"from {least} to {most}"
        raise ValueError(f"{name} of job {table.index[bad[0]]} is {values[bad[0]]:g}, expected {bounds}")
    return values


def _moldable(table):
    if "moldable" not in table:
        return np.ones(len(table), bool)
    return table["moldable"].to_numpy(dtype=bool, copy=True)


def downey_speedup(n, A, sigma) -> np.ndarray:
    """Return Downey's speedup S(n): float64, of the shape to which the arguments broadcast.

    `n` processors, average parallelism `A`, both at least 1, and its variance `sigma`, at least 0; 0 is linear speedup
    up to A. S(1) is 1; S is concave, never decreases, and stays at A once it has reached A (Downey 1998).
    """
    arrays = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (n, A, sigma)))
    for name, values, least in zip(("n", "A", "sigma"), arrays, (1, 1, 0), strict=True):
        bad = ~((values >= least) & np.isfinite(values))
        if bad.any():
            raise ValueError(f"{name} must be at least {least} and finite, got {values[bad].flat[0]:g}")
    n, A, sigma = arrays
    low = sigma <= 1
    # The paper's formulas, in its order; beyond them S is A.
    pieces = low & (n <= A), low & (n <= 2 * A - 1), ~low & (n <= A + A * sigma - sigma)
    values = (
        A * n / (A + sigma * (n - 1) / 2),
        # Only where it is used: for sigma above 2 the denominator passes through 0.
        A * n / np.where(low, sigma * (A - 0.5) + n * (1 - sigma / 2), 1),
        n * A * (sigma + 1) / (sigma * (n + A - 1) + A),
    )
    return np.select(pieces, values, default=A)
