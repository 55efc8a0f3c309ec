"""A user's function in a scheme: what it may ask for, how it is compiled, and how its failures are reported."""

import ctypes
import functools
import inspect
import linecache
import math
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from pathlib import Path

import numba
import numpy as np

from schedlab.text import plain

from .values import Count, Usage

MOVING = ("now", "submit", "estimate", "procs")
UNITS = {"now": " s", "submit": " s", "estimate": " s"}
EXAMPLE = {"now": 7_200, "submit": 3_600, "estimate": 1_800, "procs": 4}  # all other values are 1
TAKES = f"any of ({', '.join(MOVING)}), columns of the jobs (user, queue, ...) or sums such as user_usage"
ALLOWED = (
    "Allowed: arithmetic, comparisons, if, min, max, abs, math, NumPy functions of single numbers, numbers and arrays\n"
    "from outside, and helpers under @numba.njit; a number must come back."
)
# Files that are not the user's own.
_FOREIGN = tuple(
    str(Path(folder)) for folder in (Path(__file__).parents[1], *map(sysconfig.get_path, ("stdlib", "purelib")))
)
# Nothing but compiled code calls such a function. Without wrappers it compiles in three quarters of the time.
_INSIDE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_NAMED = object()  # marks an argument that takes the value of its own name


class PolicyError(ValueError):
    """A user's function for an order or objective cannot be used; the message shows its line and the values it was
    given.

    A notebook shows the message and the user's call, but none of the frames in between.
    """

    def _render_traceback_(self):
        """Return the lines that IPython shows instead of a traceback."""
        first, *more = str(self).split("\n")
        called = [frame for frame in traceback.extract_tb(self.__traceback__) if _is_own(frame.filename)]
        if called:
            place = _place(called[-1].filename, called[-1].lineno)
            more.append(f"Called from {place}: {called[-1].line}")
        return [f"\x1b[31m{type(self).__name__}\x1b[0m: {first}", *more]


@dataclass(frozen=True)
class Call:
    """How a kernel calls a policy.

    Attributes
    ----------
    parameters : tuple of str
        Those of the C callback.
    found : tuple of (str, str, bool)
        The values of the job: name, where to find it among the parameters, and whether it is an integer.
    """

    parameters: tuple[str, ...]
    found: tuple[tuple[str, str, bool], ...]

    @classmethod
    def of_scalars(cls, names: tuple[str, ...]) -> "Call":
        """Return the call that passes the values with these names, all integers."""
        return cls(names, tuple((name, name, True) for name in names))

    @property
    def places(self) -> dict[str, tuple[str, bool]]:
        """For the name of each value, where to find it, and whether it is an integer."""
        return {name: (place, whole) for name, place, whole in self.found}


@dataclass(frozen=True)
class Policy:
    """A function of some values of a job.

    Attributes
    ----------
    function : function
        Plain Python, unwrapped from numba's decorator or a `functools.partial`.
    what : str
        Its purpose: "order" or "objective".
    arguments : tuple of (str, object)
        Its arguments, in order. Each has a name and one of: a fixed value, a `Usage` or `Count` to look up, or a mark
        that the name itself says which value is meant.
    """

    function: Callable
    what: str
    arguments: tuple

    @classmethod
    def of(cls, given: Callable, what: str) -> "Policy":
        """Inspect a user's function; raise if its parameters do not name values of a job."""
        function = _plain(given)
        parameters = inspect.signature(function).parameters.values()
        bound = {}
        if isinstance(given, functools.partial):
            bound = dict(zip((each.name for each in parameters), given.args, strict=False)) | given.keywords
        names = [each.name for each in parameters]
        arguments, wrong = [], len(getattr(given, "args", ())) > len(names) or not set(bound) <= set(names)
        for each in parameters:
            if each.kind not in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD):
                wrong = True
            elif each.name in bound:
                arguments.append((each.name, bound[each.name]))
            elif each.default is each.empty or (each.name in MOVING and not isinstance(each.default, Usage | Count)):
                arguments.append((each.name, _NAMED))
            else:
                arguments.append((each.name, each.default))
        policy = cls(function, what, tuple(arguments))
        if wrong or not policy.takes:
            raise policy._error(
                f"takes {inspect.signature(function)}, expected {TAKES}, by name",
                *_defined(function),
                "Other parameters need a default or a value by functools.partial; * and ** are not allowed.",
            )
        return policy

    @property
    def takes(self) -> dict[str, Usage | Count | None]:
        """The values of a job that it takes, by name, in its own order; None if the name says what it is."""
        return {name: None if value is _NAMED else value for name, value in self.arguments if _is_asked(value)}

    @property
    def simple(self) -> bool:
        """Whether it needs only time, submission, estimate and processors."""
        return all(name in MOVING and what is None for name, what in self.takes.items())

    @property
    def name(self) -> str:
        """Its name, with the arguments that `functools.partial` fixed."""
        defaults = {each.name: each.default for each in inspect.signature(self.function).parameters.values()}
        fixed = [
            f"{name}={_in_a_label(value)}"
            for name, value in self.arguments
            if value is not _NAMED and value is not defaults[name]
        ]
        return f"{self.function.__name__}({', '.join(fixed)})" if fixed else self.function.__name__

    def outer(self) -> tuple:
        """Return everything its value depends on besides the job: names and values from outside it."""
        seen = inspect.getclosurevars(self.function)
        fixed = [(name, value) for name, value in self.arguments if not _is_asked(value)]
        return (*(seen.nonlocals | seen.globals).items(), *fixed)

    def adapted(self, call: Call) -> Callable:
        """Return a function of a callback's parameters that numba can compile."""
        names = tuple(name for name, _ in self.arguments)
        if call == Call.of_scalars(names) and all(value is _NAMED for _, value in self.arguments):
            return self.function
        scope, given = {"function": numba.njit(boundscheck=True, **_INSIDE)(self.function)}, []
        for place, (name, value) in enumerate(self.arguments):
            if _is_asked(value):
                given.append(call.places[name][0])
            else:
                given.append(f"fixed_{place}")
                scope[given[-1]] = value
        exec(f"def policy({', '.join(call.parameters)}):\n    return function({', '.join(given)})", scope)
        return scope["policy"]

    def reporting(self, call: Call, failures: list[PolicyError]) -> Callable:
        """Return the same function, but record its first failure and continue with the value 0."""
        value = checked_in_python(self, call)

        def report(*values):
            if not failures:
                try:
                    return value(*values)
                except PolicyError as failure:
                    failures.append(failure)
            return 0.0

        # Only the failing job is evaluated in Python: a call takes 5 us, and a long log needs 20 million.
        kinds = [ctypes.c_int64 if whole else ctypes.c_double for _, whole in call.places.values()]
        scope = {
            "function": numba.njit(**_INSIDE)(self.adapted(call)),
            "nan": math.nan,
            "report": ctypes.CFUNCTYPE(ctypes.c_double, *kinds)(report),
        }
        taken, given = ", ".join(call.parameters), ", ".join(place for place, _ in call.places.values())
        # Compiled code can catch either all exceptions or none. Plain Python then says what was wrong, as for a nan.
        exec(
            f"def policy({taken}):\n"
            f"    try:\n"
            f"        found = float(function({taken}))\n"
            f"    except Exception:\n"
            f"        found = nan\n"
            f"    return found if found == found else report({given})",
            scope,
        )
        return scope["policy"]

    def in_python(self, call: Call) -> Callable:
        """Return it as a callback in plain Python that raises a PolicyError."""
        scope = {"checked": checked_in_python(self, call)}
        given = ", ".join(place for place, _ in call.places.values())
        exec(f"def policy({', '.join(call.parameters)}):\n    return checked({given})", scope)
        return scope["policy"]

    def __call__(self, **values) -> float:
        """Return its value for a job, computed in plain Python."""
        return self.function(*(values[name] if _is_asked(value) else value for name, value in self.arguments))

    def unknown(self, name: str, known: list[str]) -> PolicyError:
        """Return the error for a parameter that names no value of a job.

        Parameters
        ----------
        name : str
            Name of the parameter.
        known : list of str
            The columns that exist.
        """
        return self._error(
            f"takes {name!r}, which is neither a column nor another value of a job",
            *_defined(self.function),
            f"Known: {', '.join((*MOVING, 'machine_procs'))}; columns: {', '.join(known) or 'none'}.",
            "Sums: user_usage, user_running, user_held, user_queued, user_count; total_usage, ...; of any column.",
            "Other parameters need a default or a value by functools.partial.",
        )

    def unknown_for_all(self, column: str, trace: str) -> PolicyError:
        """Return the error for a column that has no value for any job.

        Parameters
        ----------
        column, trace : str
            Their names.
        """
        return self._error(f"cannot use {column}: it is unknown for every job of {trace}", *_defined(self.function))

    def not_compiled(self, error: Exception, call: Call) -> PolicyError:
        """Say why it cannot be compiled; if it fails in plain Python too, give Python's own message."""
        try:
            checked_in_python(self, call)(*(EXAMPLE.get(name, 1) for name in call.places))
        except PolicyError as failure:
            return failure
        text = str(error)
        return self._error(f"cannot be compiled: {reason_of(text)}", *line_of(text, self.function), ALLOWED)

    def failed(self, reason: str, values: dict[str, float], error: Exception | None = None) -> PolicyError:
        """Say for which job it failed, and on which line."""
        frames = [] if error is None else traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if _is_own(frame.filename)]
        where = _shown(own[-1].filename, own[-1].lineno) if own else _defined(self.function)
        given = ", ".join(f"{name} = {value:,}{UNITS.get(name, '')}" for name, value in values.items())
        counted = " (times since the first submission)" if {"now", "submit"} & set(values) else ""
        return self._error(reason, *where, f"for a job with {given}{counted}")

    def _error(self, words, *lines):
        said = [f"{self.what} {self.name} {words}", *(each for line in lines for each in line.split("\n"))]
        return PolicyError("\n".join(map(plain, said)))


def is_function(given) -> bool:
    """Tell whether something is a function whose code is accessible, possibly compiled or with fixed arguments."""
    return inspect.isfunction(_plain(given))


def _is_asked(value):
    """Tell whether an argument is a value of the job."""
    return value is _NAMED or isinstance(value, Usage | Count)


def checked_in_python(policy: Policy, call: Call) -> Callable:
    """Return a policy as a function of the values of a call, in plain Python, that raises a PolicyError."""
    kinds = [(name, int if whole else float) for name, (_, whole) in call.places.items()]

    def value(*values):
        # Plain Python numbers: division of a NumPy number by 0 only warns.
        given = {name: kind(value) for (name, kind), value in zip(kinds, values, strict=True)}
        try:
            with np.errstate(all="ignore"):
                found = policy(**given)
        except Exception as error:  # a user's function may raise anything
            failure = policy.failed(f"failed: {type(error).__name__}: {error}", given, error)
            raise failure from None
        if not isinstance(found, Real | np.bool_):
            raise policy.failed(f"gives {_shortened(found)}, expected a number", given)
        if math.isnan(found):
            raise policy.failed("gives nan, expected a number", given)
        return float(found)

    return value


def _plain(given):
    """Unwrap a function from `functools.partial` and numba's decorator; it will be compiled again."""
    if isinstance(given, functools.partial):
        return _plain(given.func)
    return getattr(given, "py_func", getattr(given, "_pyfunc", given))


def line_of(text: str, function: Callable) -> tuple[str]:
    """Return the line of a function that a numba message refers to."""
    own = Path(function.__code__.co_filename)
    lines = re.findall(r'File "(.+?)", line (\d+)', text)
    lines = [int(line) for file, line in lines if Path(file).name == own.name]
    return _shown(str(own), lines[0]) if lines else _defined(function)


def reason_of(text: str) -> str:
    """Say in one sentence why numba did not compile something."""
    if found := re.search(r"Untyped global name '(\w+)':.*<class 'function'>", text):
        return f"{found[1]} is a plain Python function; put @numba.njit on the line above its def"
    if found := re.search(r"Untyped global name '(\w+)':.*?<class '([^']+)'>", text):
        return f"{found[1]} is a {found[2].rpartition('.')[2]}, which compiled code cannot use"
    if found := re.search(r"No conversion from (.+) to float64", text):
        kinds = {"none": "None", "unicode": "text", "Literal[str]": "text", "array": "an array"}
        kind = next((words for start, words in kinds.items() if found[1].startswith(start)), found[1])
        return f"it may give {kind}, expected a number"
    if found := re.search(r"Use of unsupported NumPy function '([\w.]+)'", text):
        return f"{found[1]} is not among the functions that numba compiles"
    if found := re.search(r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'", text):
        return f"{found[2]}.{found[1]} is not among the functions that numba compiles"
    said = (line.strip() for line in text.splitlines())
    return next((line for line in said if line and not line.startswith("Failed in ")), text)


def _is_own(filename):
    """Tell whether a file, or a cell of a notebook, is the user's own."""
    return not filename.startswith((*_FOREIGN, "<frozen")) and filename != "<string>"


def _defined(function):
    """Return the line on which a function begins."""
    code = function.__code__
    return _shown(code.co_filename, code.co_firstlineno)


def _shown(filename, line):
    """Show a line of the user's code with its place; only the place if there is no source."""
    place, source = _place(filename, line), linecache.getline(filename, line).strip()
    return (f"    {place}: {source}" if source else f"    {place}",)


def _place(filename, line):
    """Name the place of a line: the number of its cell in a notebook, else its file."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    named = getattr(getattr(shell, "compile", None), "format_code_name", lambda _: None)(filename)
    return f"{' '.join(named) if named else filename}, line {line}"


def _in_a_label(value):
    """Write a fixed value in one short line."""
    words = str(value) if isinstance(value, Usage | Count | float | int | str) else type(value).__name__
    return words if len(words) <= 40 else f"{words[:39]}…"


def _shortened(value):
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
