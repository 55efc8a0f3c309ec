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
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from operator import contains, eq, itemgetter, ne
from pathlib import Path
from types import FunctionType, MethodType

import numba
import numpy as np

from schedlab._runtime.text import plain, suggestion

from .outside import ChangingError, Outside, attributes_of
from .values import Code, Count, Usage

MOVING = ("now", "submit", "estimate", "procs")
# As other simulators call them.
ALIASES = dict.fromkeys(("walltime", "requested_walltime", "timelimit", "limit", "time_limit"), "estimate")
ALIASES |= dict.fromkeys(("size", "nodes", "cpus", "cores", "processors", "ncpus", "res"), "procs")
ALIASES |= dict.fromkeys(("arrival", "submission", "subtime"), "submit")
UNITS = {"now": " s", "submit": " s", "estimate": " s"}
EXAMPLE = {"now": 7_200, "submit": 3_600, "estimate": 1_800, "procs": 4}  # all other values are 1
TAKES = f"any of ({', '.join(MOVING)}), columns of the jobs (user, queue, ...) or sums such as user_usage"
ALLOWED = (
    "Allowed: arithmetic, comparisons, if, min, max, abs, math, NumPy functions of single numbers, numbers and arrays\n"
    "from outside, and helpers under @numba.njit; a number must come back."
)
TEXT = "compares {} with text, but text arrives as a number"
CODES = (
    'Get the number of a text outside the function, such as alice = trace.codes("{0}")["alice"],\n'
    "then compare with it: {0} == alice."
)
# Files that are not the user's own.
_FOREIGN = tuple(
    str(Path(folder)) for folder in (Path(__file__).parents[1], *map(sysconfig.get_path, ("stdlib", "purelib")))
)
# Nothing but compiled code calls such a function. Without wrappers it compiles in three quarters of the time.
_INSIDE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_NAMED = object()  # marks an argument that takes the value of its own name


class PolicyError(ValueError):
    """A user's function for an order or objective cannot be used; the message shows its line and the job's values.

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

    `parameters` are those of the C callback; `values` are those of the job: name, where to find it among the
    parameters, and whether it is an integer.
    """

    parameters: tuple[str, ...]
    values: tuple[tuple[str, str, bool], ...]

    @classmethod
    def of_scalars(cls, names: tuple[str, ...]) -> "Call":
        """Return the call that passes the values with these names, all integers."""
        return cls(names, tuple((name, name, True) for name in names))

    @property
    def places(self) -> dict[str, tuple[str, bool]]:
        """For the name of each value, where to find it, and whether it is an integer."""
        return {name: (place, whole) for name, place, whole in self.values}


@dataclass(frozen=True)
class Policy:
    """A function of some values of a job.

    `function` is plain Python that takes all arguments by position, unwrapped from numba's decorator, a
    `functools.partial`, a method or an object. `what` is its purpose: "order" or "objective". `name` shows what
    `functools.partial` fixed, or the attributes that it reads.

    Its `arguments`, in order, each have a name and one of: a fixed value, a `Usage` or `Count` to look up, or a mark
    that the name itself says which value is meant. For a method, ``self`` is fixed: a tuple of the attributes that the
    method reads, with their present values.
    """

    function: Callable
    what: str
    arguments: tuple
    name: str

    @classmethod
    def of(cls, callee: Callable, what: str) -> "Policy":
        """Inspect a user's function; raise if its parameters do not name values of a job."""
        function = _plain(callee)
        parameters = inspect.signature(function).parameters
        fixed = _fixed(callee, list(parameters))
        wrong, arguments = not fixed.keys() <= parameters.keys(), []
        for name, parameter in parameters.items():
            wrong |= parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            value = fixed.get(name, parameter.default)
            if name not in fixed and (
                value is parameter.empty or (name in MOVING and not isinstance(value, Usage | Count))
            ):
                value = _NAMED
            arguments.append((name, value))
        policy = cls(_by_position(function), what, tuple(arguments), _label(callee, fixed, parameters))
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

    def outside(self) -> Outside:
        """Return what it uses besides the values of a job: its function, and the fixed arguments in their order."""
        return Outside(self.function, *(value for _, value in self.arguments if not _is_asked(value)))

    def apart(self) -> tuple["Policy", list]:
        """Return it with copies of what it uses, and the jitted functions among these; itself if there are none."""
        try:
            outside = self.outside()
        except ChangingError:
            return self, []
        function, *fixed = outside.copies()
        arguments = ((name, value if _is_asked(value) else fixed.pop(0)) for name, value in self.arguments)
        return replace(self, function=function, arguments=tuple(arguments)), outside.jitted

    def adapted(self, call: Call) -> tuple[Callable, list]:
        """Return a function of a callback's parameters that numba can compile, and the jitted functions in it."""
        policy, jitted = self.apart()
        scope, arguments = {"function": numba.njit(boundscheck=True, **_INSIDE)(policy.function)}, []
        for place, (name, value) in enumerate(policy.arguments):
            if _is_asked(value):
                arguments.append(call.places[name][0])
            else:
                arguments.append(f"fixed_{place}")
                scope[arguments[-1]] = value
        exec(f"def policy({', '.join(call.parameters)}):\n    return function({', '.join(arguments)})", scope)
        return scope["policy"], [scope["function"], *jitted]

    def reporting(self, call: Call, signature, failures: list[PolicyError]) -> Callable:
        """Return the same function, but record its first failure and continue with the value 0."""
        value = checked_in_python(self.apart()[0], call)  # helpers that check array indices

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
            "function": numba.njit(signature, **_INSIDE)(self.adapted(call)[0]),  # so None is an exception, too
            "nan": math.nan,
            "report": ctypes.CFUNCTYPE(ctypes.c_double, *kinds)(report),
        }
        parameters, arguments = ", ".join(call.parameters), ", ".join(place for place, _ in call.places.values())
        # Compiled code can catch either all exceptions or none. Plain Python then says what was wrong, as for a nan.
        exec(
            f"def policy({parameters}):\n"
            f"    try:\n"
            f"        found = function({parameters})\n"
            f"    except Exception:\n"
            f"        found = nan\n"
            f"    return found if found == found else report({arguments})",
            scope,
        )
        return scope["policy"]

    def in_python(self, call: Call) -> Callable:
        """Return it as a callback in plain Python that raises a PolicyError."""
        scope = {"checked": checked_in_python(self, call)}
        arguments = ", ".join(place for place, _ in call.places.values())
        exec(f"def policy({', '.join(call.parameters)}):\n    return checked({arguments})", scope)
        return scope["policy"]

    def __call__(self, **values) -> float:
        """Return its value for a job, computed in plain Python."""
        return self.function(*(values[name] if _is_asked(value) else value for name, value in self.arguments))

    def unknown(self, name: str, known: list[str]) -> PolicyError:
        """Return the error for a parameter that names no value of a job; `known` are the columns that exist."""
        near = f"; did you mean {ALIASES[name]!r}?" if name in ALIASES else suggestion(name, [*MOVING, *known])
        return self._error(
            f"takes {name!r}, which is neither a column nor another value of a job{near}",
            *_defined(self.function),
            f"Known: {', '.join((*MOVING, 'machine_procs'))}; columns: {', '.join(known) or 'none'}.",
            "Sums: user_usage, user_running, user_held, user_queued, user_count; total_usage, ...; of any column.",
            "Other parameters need a default or a value by functools.partial.",
        )

    def unknown_for_all(self, column: str, trace: str) -> PolicyError:
        """Return the error for a column that has no value for any job of a trace."""
        return self._error(f"cannot use {column}: it is unknown for every job of {trace}", *_defined(self.function))

    def not_compiled(self, error: Exception, call: Call) -> PolicyError:
        """Say why it cannot be compiled; if it fails in plain Python too, give Python's own message."""
        if reason := self._unusable():
            return self._error(f"cannot be compiled: {reason}", *_defined(self.function), ALLOWED)
        try:
            checked_in_python(self.apart()[0], call)(*(EXAMPLE.get(name, 1) for name in call.places))
        except PolicyError as failure:
            if not isinstance(failure.__context__, LookupError):  # there may be no such number of a user, for example
                return failure
        text = str(error)
        return self._error(f"cannot be compiled: {reason_of(text)}", *line_of(text, self.function), ALLOWED)

    def _unusable(self):
        """Name an attribute that a method reads and compiled code cannot use, if there is one."""
        for attributes in (value for _, value in self.arguments if isinstance(value, _Attributes)):
            for name, value in zip(attributes._fields, attributes, strict=True):
                try:
                    Outside(value)
                except ChangingError:
                    kind = "method that calls itself" if callable(value) else type(value).__name__
                    return f"it reads self.{name}, a {kind}; numbers, text, arrays and methods can be read"
        return ""

    def failed(self, reason: str, values: dict[str, float], error: Exception | None = None) -> PolicyError:
        """Say for which job it failed, and on which line."""
        where = error and _last_line(error)
        where = _shown(*where) if where else _defined(self.function)
        pairs = ", ".join(f"{name} = {value:,}{UNITS.get(name, '')}" for name, value in values.items())
        counted = " (times since the first submission)" if {"now", "submit"} & set(values) else ""
        return self._error(reason, *where, f"for a job with {pairs}{counted}")

    def check_texts(self, jitted: list) -> None:
        """Raise if compiled functions compare a value of a job with text: numba takes them to differ always."""
        for function in jitted:
            for result in function.overloads.values():
                for step, kinds in getattr(result.type_annotation, "calltypes", {}).items():
                    if getattr(step, "op", None) != "binop" or step.fn not in (eq, ne, contains):
                        continue
                    number = _number_beside_text(kinds.args, (step.lhs, step.rhs))
                    # A fixed argument may be a number or text, at the caller's choice.
                    if number and all(number != name or _is_asked(value) for name, value in self.arguments):
                        column = number if number in self.takes else None
                        raise self.compares_with_text((step.loc.filename, step.loc.line), column)

    def compares_with_text(self, line: tuple[str, int] | None, column: str | None = None) -> PolicyError:
        """Return the error for a comparison of a job's value with text, with line and column, if known."""
        where = _shown(*line) if line else _defined(self.function)
        likely = [name for name, what in self.takes.items() if what is None and name not in MOVING]
        return self._error(
            TEXT.format(column or "a value of the job"), *where, CODES.format(column or (*likely, "user")[0])
        )

    def _error(self, message, *texts):
        lines = [f"{self.what} {self.name} {message}", *(line for text in texts for line in text.split("\n"))]
        return PolicyError("\n".join(map(plain, lines)))


def is_function(callee) -> bool:
    """Tell whether something is a function whose code is accessible, possibly compiled or with fixed arguments."""
    return inspect.isfunction(_plain(callee))


def _is_asked(value):
    """Tell whether an argument is a value of the job."""
    return value is _NAMED or isinstance(value, Usage | Count)


class _ComparesWithTextError(TypeError):
    """A function compares a value of a job with text."""


class _Whole(Code):
    def is_compared_with(self, text):
        raise _ComparesWithTextError


def checked_in_python(policy: Policy, call: Call) -> Callable:
    """Return a policy as a function of the values of a call, in plain Python, that raises a PolicyError."""
    kinds = [(name, _Whole if whole else float) for name, (_, whole) in call.places.items()]

    def value(*values):
        # Plain Python numbers: division of a NumPy number by 0 only warns.
        arguments = {name: kind(value) for (name, kind), value in zip(kinds, values, strict=True)}
        try:
            with np.errstate(all="ignore"):
                result = policy(**arguments)
        except _ComparesWithTextError as error:
            raise policy.compares_with_text(_last_line(error)) from None
        except Exception as error:  # a user's function may raise anything
            failure = policy.failed(f"failed: {type(error).__name__}: {error}", arguments, error)
            raise failure from None
        if not isinstance(result, Real | np.bool_):
            raise policy.failed(f"gives {_clipped(repr(result), 60)}, expected a number", arguments)
        if math.isnan(result):
            raise policy.failed("gives nan, expected a number", arguments)
        return float(result)

    return value


def _plain(callee):
    """Unwrap a function from `functools.partial`, numba's decorator, a method or an object; it is compiled again."""
    if isinstance(callee, functools.partial):
        return _plain(callee.func)
    if isinstance(callee, MethodType):
        return _plain(callee.__func__)
    return _method_of(callee) or getattr(callee, "py_func", getattr(callee, "_pyfunc", callee))


def _method_of(callee):
    """Return the method by which an object of the user's is called, if there is one."""
    method = inspect.getattr_static(type(callee), "__call__", None)
    return method if inspect.isfunction(method) and not hasattr(callee, "_pyfunc") else None  # no callback of numba's


def _fixed(callee, names):
    """Return the arguments that a partial, a method or an object fixes, by name; those without a name by number."""
    if isinstance(callee, functools.partial):
        fixed = _fixed(callee.func, names)
        free = [name for name in names if name not in fixed]
        rest = dict(enumerate(callee.args[len(free) :]))
        return fixed | dict(zip(free, callee.args, strict=False)) | rest | callee.keywords
    owner = callee.__self__ if isinstance(callee, MethodType) else callee if _method_of(callee) else None
    return {} if owner is None else {name: _attributes(owner, _plain(callee)) for name in names[:1]}


class _Attributes:
    """What a method reads of ``self``: a named tuple, since compiled code takes no objects."""

    __slots__ = ()

    def __getattr__(self, name):
        raise AttributeError(f"there is no self.{name}, or it is read by another name than self")

    def __setattr__(self, name, value):
        raise TypeError(f"a policy cannot change self.{name}: it is called any number of times, in any order")


def _attributes(owner, method, callers=()):
    """Return the attributes of an object that a method reads, with their present values."""
    names = [name for name in attributes_of(method) if hasattr(owner, name)]
    values = [_compilable(getattr(owner, name), (*callers, method)) for name in names]
    kind = type(owner).__name__
    namespace = {name: property(itemgetter(place)) for place, name in enumerate(names)} | {"_fields": tuple(names)}
    return type(kind, (_Attributes, namedtuple(kind, names, rename=True)), namespace)(*values)  # names may begin with _


def _compilable(value, callers):
    """Return an attribute; a method in a form that compiled methods can call."""
    if inspect.isfunction(value):  # a static method
        return numba.njit(value)
    if not isinstance(value, MethodType) or not inspect.isfunction(value.__func__) or value.__func__ in callers:
        return value
    method, attributes = numba.njit(value.__func__), _attributes(value.__self__, value.__func__, callers)
    return numba.njit(lambda *arguments: method(attributes, *arguments))


def _label(callee, fixed, parameters):
    """Return the name of a function, with what a partial fixes, or with the attributes that a method reads."""
    function = _plain(callee)
    callee = callee.func if isinstance(callee, functools.partial) else callee
    label = type(callee).__name__ if _method_of(callee) else function.__name__
    values = {}
    for name, value in fixed.items():
        if isinstance(value, _Attributes):
            values |= {field: part for field, part in zip(value._fields, value, strict=True) if not callable(part)}
        elif name not in parameters or value is not parameters[name].default:
            values[name] = value
    text = ", ".join(f"{name}={_in_a_label(value)}" for name, value in values.items())
    return f"{label}({text})" if text else label


def _by_position(function):
    """Return a function without defaults that takes all arguments by position; numba knows no others."""
    if not function.__defaults__ and not function.__code__.co_kwonlyargcount:
        return function
    code = function.__code__
    code = code.replace(co_argcount=code.co_argcount + code.co_kwonlyargcount, co_kwonlyargcount=0)
    plain = FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)
    plain.__qualname__, plain.__module__ = function.__qualname__, function.__module__
    return plain


def _last_line(error):
    """Return file and line of the last of the user's own lines that an error comes from; None if there is none."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame.filename)]
    return (frames[-1].filename, frames[-1].lineno) if frames else None


def _number_beside_text(kinds, sides):
    """Return the name of the number in a comparison of a number with text, or with a tuple of texts; else None."""
    texts, numbers = (numba.types.UnicodeType, numba.types.StringLiteral), (numba.types.Number, numba.types.Boolean)
    kinds = [kind.types[0] if isinstance(kind, numba.types.BaseTuple) and len(kind) else kind for kind in kinds]
    if not any(isinstance(kind, texts) for kind in kinds):
        return None
    names = (str(side).partition(".")[0] for side in sides)  # numba numbers the values of a variable
    return next((name for name, kind in zip(names, kinds, strict=True) if isinstance(kind, numbers)), None)


def line_of(text: str, function: Callable) -> tuple[str]:
    """Return the line of a function that a numba message refers to."""
    source = Path(function.__code__.co_filename)
    lines = re.findall(r'File "(.+?)", line (\d+)', text)
    lines = [int(line) for file, line in lines if Path(file).name == source.name]
    return _shown(str(source), lines[0]) if lines else _defined(function)


def reason_of(text: str) -> str:
    """Say in one sentence why numba did not compile something."""
    if match := re.search(r"Untyped global name '(\w+)':.*<class 'function'>", text):
        return f"{match[1]} is a plain Python function; put @numba.njit on the line above its def"
    if match := re.search(r"Untyped global name '(\w+)':.*?<class '([^']+)'>", text):
        return f"{match[1]} is a {match[2].rpartition('.')[2]}, which compiled code cannot use"
    if match := re.search(r"No conversion from (.+) to float64", text):
        kinds = {"none": "None", "unicode": "text", "Literal[str]": "text", "array": "an array"}
        kind = next((name for prefix, name in kinds.items() if match[1].startswith(prefix)), match[1])
        return f"it may give {kind}, expected a number"
    if re.search(r"built-in function setitem.*readonly", text, re.DOTALL):
        return "it changes an array from outside"
    if match := re.search(r"Use of unsupported NumPy function '([\w.]+)'", text):
        return f"{match[1]} is not among the functions that numba compiles"
    if match := re.search(r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'", text):
        return f"{match[2]}.{match[1]} is not among the functions that numba compiles"
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith("Failed in ")), text)


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
    return _clipped(str(value) if isinstance(value, Usage | Count | float | int | str) else type(value).__name__, 40)


def _clipped(text, most):
    return text if len(text) <= most else f"{text[: most - 1]}…"
