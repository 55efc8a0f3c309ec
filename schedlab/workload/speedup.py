"""Speedup laws: how much faster a job runs on n processors than on one, and how the jobs of a trace come by theirs."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real

import numpy as np
import pandas as pd

from schedlab.kernels import speedup as kernel
from schedlab.kernels.speedup import AMDAHL, DOWNEY, TABLE
from schedlab.streams import uniforms

__all__ = ["Amdahl", "Downey", "Laws", "Model", "Speedup", "downey_slope", "downey_speedup"]

PARALLELISM = ("system", "requested", "any")
ROUNDING = 1e-12  # a curve may fall by so small a part of itself: that is rounding, and is taken back


class Laws(kernel.Laws):
    """How the jobs of a trace speed up, as the kernels take it; `curves` has shape (1, 1) where the law needs none.

    What is computed here is computed apart from the kernels, and equal to the last bit.
    """

    __slots__ = ()

    def of(self, jobs) -> "Laws":
        """Give the laws of some jobs.

        Parameters
        ----------
        jobs : slice, bool mask or int64 places
            Which jobs.
        """
        return self._replace(a=self.a[jobs], b=self.b[jobs], moldable=self.moldable[jobs])

    def speedup(self, n) -> np.ndarray:
        """Give the speed-up S of each job on `n` processors.

        Parameters
        ----------
        n : int64
            Processors, of a shape that broadcasts with (n_jobs,).

        Returns
        -------
        float64
        """
        if self.law == DOWNEY:
            return downey_speedup(n, self.a, self.b)
        if self.law == AMDAHL:
            return 1 / (self.a + (1 - self.a) / n)
        return self.curves[self.a.astype("int64"), n]

    def slope(self, n) -> np.ndarray:
        """Give the right derivative of the speed-up S.

        Of a table it is S(n + 1) - S(n), and 0 at its end.

        Parameters
        ----------
        n : int64
            Processors, of a shape that broadcasts with (n_jobs,).

        Returns
        -------
        float64
        """
        if self.law == DOWNEY:
            return downey_slope(n, self.a, self.b)
        if self.law == AMDAHL:
            below = self.a * n + (1 - self.a)
            return (1 - self.a) / (below * below)
        last = self.curves.shape[1] - 1
        return self.speedup(np.minimum(np.asarray(n) + 1, last)) - self.speedup(n)

    def durations(self, seconds, procs, n) -> np.ndarray:
        """Tell how long it takes on n processors what takes so many seconds on `procs`.

        Rounded up, which loses no work, to 1 s at least; but for a guard, which makes it `seconds` on `procs` again.

        Parameters
        ----------
        seconds, procs, n : int64
            Of shapes that broadcast with (n_jobs,).

        Returns
        -------
        int64 ndarray, seconds
        """
        exact = (seconds * self.speedup(procs)) / self.speedup(n)
        return np.maximum(1, np.ceil(exact * (1 - 1e-12))).astype("int64")


class Model(ABC):
    """What speedup models have in common: they give each job numbers of its own, by which it speeds up."""

    columns = ()

    @abstractmethod
    def draw(self, numbers, requested, machine: int, seed: int) -> dict[str, np.ndarray]:
        """Draw the columns of jobs, each by its job number; float64, shape (n_jobs,).

        Parameters
        ----------
        numbers, requested : int64, shape (n_jobs,)
            Job numbers, and processors asked for.
        machine : int
            Processors there are.
        seed : int
            Same seed, same numbers.
        """

    @abstractmethod
    def laws(self, table: pd.DataFrame, procs: int) -> Laws:
        """Give the laws by which jobs speed up, as the kernels take them.

        Parameters
        ----------
        table : DataFrame
            One row a job, with the columns that `draw` gives.
        procs : int
            Processors that the curves cover.

        Returns
        -------
        Laws
            See `schedlab.kernels.speedup`.
        """


@dataclass(frozen=True)
class Downey(Model):
    """Downey's speedup: of average parallelism A, which varies by sigma.

    Parameters
    ----------
    A : "system", "requested", "any", number or (low, high)
        Average parallelism: the size of the machine, as it is when the jobs get their speedup; uniform from 1 to 2
        times the processors that the job asks for; uniform from 1 to twice those; one for all jobs; or uniform between
        two numbers.
    sigma : number or (low, high)
        Variance of the parallelism, one for all jobs or uniform between two numbers; 0 is linear speedup up to A.

    References
    ----------
    A. B. Downey, "A parallel workload model and its implications for processor allocation", Cluster Computing 1, 1998.
    The first two A: Sabin, Lang and Sadayappan, "Moldable parallel job scheduling using job efficiency: an iterative
    approach", JSSPP 2006. The third is another reading of the second.
    """

    A: str | float | tuple[float, float] = "system"
    sigma: float | tuple[float, float] = (0, 2)

    columns = ("parallelism", "sigma")

    def __post_init__(self):
        if isinstance(self.A, str):
            if self.A not in PARALLELISM:
                known = ", ".join(map(repr, PARALLELISM))
                raise ValueError(f"unknown A {self.A!r}; known: {known}, a number or (low, high)")
        else:
            object.__setattr__(self, "A", _span("A", self.A, 1))
        object.__setattr__(self, "sigma", _span("sigma", self.sigma, 0))

    def draw(self, numbers, requested, machine: int, seed: int) -> dict[str, np.ndarray]:
        """As of `Model`: parallelism and sigma."""
        low, high = {
            "system": (machine, machine),
            "requested": (requested, 2 * requested),
            "any": (1, 2 * requested),
        }.get(self.A) or _ends(self.A)
        A = low + (high - low) * uniforms(seed, "parallelism", numbers)
        low, high = _ends(self.sigma)
        return {"parallelism": A, "sigma": low + (high - low) * uniforms(seed, "sigma", numbers)}

    def laws(self, table: pd.DataFrame, procs: int) -> Laws:
        """As of `Model`."""
        A, sigma = (_column(table, *bounds) for bounds in (("parallelism", 1, np.inf), ("sigma", 0, np.inf)))
        return Laws(DOWNEY, A, sigma, np.zeros((1, 1)), _moldable(table))


@dataclass(frozen=True)
class Amdahl(Model):
    """Amdahl's law: a share of the work is serial, the rest speeds up linearly without end.

    Parameters
    ----------
    serial : number or (low, high)
        Serial share of the work, from 0 to 1: one for all jobs, or uniform between two numbers.

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
        """As of `Model`: serial_share."""
        low, high = _ends(self.serial)
        return {"serial_share": low + (high - low) * uniforms(seed, "serial", numbers)}

    def laws(self, table: pd.DataFrame, procs: int) -> Laws:
        """As of `Model`."""
        serial = _column(table, "serial_share", 0, 1)
        return Laws(AMDAHL, serial, np.zeros(len(table)), np.zeros((1, 1)), _moldable(table))


@dataclass(frozen=True)
class Speedup(Model):
    """A speedup of your own.

    Parameters
    ----------
    curve : sequence of numbers, or function
        S(1), S(2), ... up to the size of the machine; or a function of n, or of (n, procs), where procs is what the job
        asks for. A function may take arrays of n or single numbers. S(1) is 1, and S never falls. It may rise above n:
        a job whose data find room in the caches of several processors is more than twice as fast on two.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=100, procs=64).with_speedup(sl.Speedup(lambda n: n**0.8))
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
            raise ValueError(f"curve is {self.curve!r}, expected the numbers S(1), S(2), ... or a function of n")
        object.__setattr__(self, "curve", tuple(_checked_curve(values, "").tolist()))

    def __str__(self) -> str:
        if callable(self.curve):
            return f"Speedup({getattr(self.curve, '__name__', type(self.curve).__name__)})"
        return f"Speedup({len(self.curve)} values)"

    def draw(self, numbers, requested, machine: int, seed: int) -> dict[str, np.ndarray]:
        """As of `Model`: curve, the size that a job's curve is of, 0 where all have the same. Nothing is drawn."""
        size = requested if self._by_size else np.zeros(len(numbers))
        return {"curve": size.astype("float64")}

    def laws(self, table: pd.DataFrame, procs: int) -> Laws:
        """As of `Model`."""
        sizes, row = np.unique(table["curve"].to_numpy(), return_inverse=True)
        curves = _curves(self, procs, tuple(sizes.astype("int64").tolist())).copy()
        return Laws(TABLE, row.astype("float64"), np.zeros(len(table)), curves, _moldable(table))

    @property
    def _arguments(self):
        """How many arguments the function is called with: those that it needs, one if it needs none but takes some."""
        if isinstance(self.curve, np.ufunc):
            return self.curve.nin
        try:
            parameters = inspect.signature(self.curve).parameters.values()
        except ValueError:  # some built-in functions do not tell
            return 1
        places = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
        needed = sum(each.default is each.empty for each in places)
        return needed or int(bool(places) or any(each.kind == each.VAR_POSITIONAL for each in parameters))

    @property
    def _by_size(self):
        return callable(self.curve) and self._arguments == 2

    def values(self, procs: int, size: int) -> np.ndarray:
        """Give S(1) to S(procs) of a job that asks for so many processors; float64, shape (procs,).

        Parameters
        ----------
        procs : int
            Where to end.
        size : int
            Processors that the job asks for; counts for a curve of (n, procs).

        Raises
        ------
        ValueError
            If the curve ends before, or has values that no speedup has.
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
            values = None  # not made for arrays; what else may be wrong is raised below
        if values is None or values.shape != n.shape:
            values = np.array([self.curve(each, *more) for each in n.tolist()], dtype="float64")
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
        raise ValueError(
            f"speedup on {n + 1} processors is {values[n]:g}{whose}, less than {highest[n]:g} on fewer; "
            "expected that it never falls"
        )
    return highest


def _span(name, given, least, most=np.inf):
    """Check a number or a pair (low, high) of numbers within bounds."""
    pair = isinstance(given, tuple | list) and len(given) == 2
    ends = tuple(given) if pair else (given,)
    if not all(isinstance(end, Real) and not isinstance(end, bool) for end in ends):
        raise ValueError(f"{name} must be a number or (low, high), got {given!r}")
    for end in ends:
        if not (least <= end <= most and np.isfinite(end)):
            bounds = f"at least {least} and finite" if most == np.inf else f"from {least} to {most}"
            raise ValueError(f"{name} must be {bounds}, got {end:g}")
    if ends[0] > ends[-1]:
        raise ValueError(f"{name} must be (low, high), got {given!r}")
    return ends if pair else given


def _ends(span):
    return span if isinstance(span, tuple) else (span, span)


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
    """Give Downey's speedup S(n).

    Parameters
    ----------
    n : array-like
        Processors, at least 1.
    A : array-like
        Average parallelism, at least 1.
    sigma : array-like
        Variance of the parallelism, at least 0: 0 is linear speedup up to A processors.

    Returns
    -------
    ndarray, float64, of the shape that the three broadcast to
        S(1) is 1; S is concave, never falls, and stays at A once it got there.

    Raises
    ------
    ValueError
        For a number outside its range.

    References
    ----------
    A. B. Downey: A parallel workload model and its implications for processor allocation. Cluster Computing 1
    (1998) 133-145.

    Examples
    --------
    >>> downey_speedup([1, 32, 127], A=64, sigma=0.5).round(4).tolist()
    [1.0, 28.5436, 64.0]
    """
    n, A, sigma = _checked(n, A, sigma)
    pieces, (first, second, third) = _pieces(n, A, sigma, np.less_equal)
    values = (A * n / first, A * n / second, n * A * (sigma + 1) / third)
    return np.select(pieces, values, default=A)


def downey_slope(n, A, sigma) -> np.ndarray:
    """Give the derivative of `downey_speedup` in n; where S has a kink, the derivative to its right.

    Parameters
    ----------
    n, A, sigma : array-like
        As in `downey_speedup`.

    Returns
    -------
    ndarray, float64, of the shape that the three broadcast to

    Examples
    --------
    >>> downey_slope([1, 63, 64], A=64, sigma=0).tolist()
    [1.0, 1.0, 0.0]
    """
    n, A, sigma = _checked(n, A, sigma)
    pieces, (first, second, third) = _pieces(n, A, sigma, np.less)
    # Squares as products, here and in the kernels, so that all agree to the last bit.
    slopes = (
        A * (A - sigma / 2) / (first * first),
        A * sigma * (A - 0.5) / (second * second),
        A * (sigma + 1) * (sigma * (A - 1) + A) / (third * third),
    )
    return np.select(pieces, slopes, default=0.0)


def _pieces(n, A, sigma, before):
    """Tell where each formula holds, in the order of the paper, and its denominator; beyond them S is A."""
    low = sigma <= 1
    pieces = low & before(n, A), low & before(n, 2 * A - 1), ~low & before(n, A + A * sigma - sigma)
    denominators = (
        A + sigma * (n - 1) / 2,
        # Only where it is used: for sigma above 2 it passes through 0.
        np.where(low, sigma * (A - 0.5) + n * (1 - sigma / 2), 1),
        sigma * (n + A - 1) + A,
    )
    return pieces, denominators


def _checked(n, A, sigma):
    arrays = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (n, A, sigma)))
    for name, values, least in zip(("n", "A", "sigma"), arrays, (1, 1, 0), strict=True):
        bad = ~((values >= least) & np.isfinite(values))
        if bad.any():
            raise ValueError(f"{name} must be at least {least} and finite, got {values[bad].flat[0]:g}")
    return arrays
