"""Digests of values and functions: equal values have the same digest in any process, different values do not.

They are the keys of kept results (`schedlab.experiment`). The digest of a user's function covers its code as it is
loaded, the values that it closes over, and the functions, classes and constants that it uses, in other modules of the
user, too. So an edited helper changes the digest; a moved one does not. Files that are read through the package are
compared when a result is used again (`schedlab._runtime.files`).
"""

import dis
import functools
import hashlib
import inspect
import marshal
import os
import sys
import sysconfig
import types
from collections import deque
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from weakref import WeakKeyDictionary

import joblib
import numpy as np
import pandas as pd

from .files import content

LENGTH = 32  # hexadecimal digits
_PACKAGE = Path(__file__).parents[1]
# Rooms and modules that only show results, or only say which are wanted: no result depends on them.
SHOWING = (
    "_runtime/compiling",
    "_runtime/imports",
    "_runtime/precompile",
    "charts",
    "cli",
    "contest/charts",
    "contest/study",
    "papers",
    "show",
)
# The digest of code in these folders is that of its name. Papers are read as users' functions are: they change.
_INSTALLED = tuple(
    f"{Path(folder)}{os.sep}" for folder in (_PACKAGE, *map(sysconfig.get_path, ("stdlib", "purelib", "platlib")))
)
_PAPERS = (f"{_PACKAGE / 'papers'}{os.sep}", str(_PACKAGE / "contest" / "study.py"))
_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")  # opcodes of Python's virtual machine
_of_unchanging = WeakKeyDictionary()  # hashing the table of a log takes tens of milliseconds


class NoDigestError(TypeError):
    """A value has no digest, because nothing tells whether another value equals it."""


def digest(*values) -> str:
    """Return a hexadecimal digest of values: numbers, text, arrays, tables, traces, schemes, functions, combinations.

    Equal values have equal digests. Raises NoDigestError for a value of another kind, such as an open file.
    """
    sha, seen = hashlib.sha256(), {}
    try:
        for value in values:
            _feed(sha, value, seen)
    except RecursionError:
        raise NoDigestError("a value that contains itself has no digest") from None
    return sha.hexdigest()[:LENGTH]


@functools.cache
def sources() -> str:
    """Return a digest of everything else that results depend on: the package itself, and the Python version.

    Rooms that only show results do not count.
    """
    sha = hashlib.sha256(repr(sys.version_info[:2]).encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        module = path.relative_to(_PACKAGE).with_suffix("").as_posix()
        if not f"{module}/".startswith(tuple(f"{room}/" for room in SHOWING)):
            _name(sha, module, path.read_text(encoding="utf-8"))
    return sha.hexdigest()[:LENGTH]


def of_value(value) -> str:
    """Return a digest of a value of a run; if the value is text that names a file, the content of the file counts."""
    if isinstance(value, str) and Path(value).suffix and os.path.isfile(value):
        return digest(value, content(value))
    return digest(value)


def key(about: str, digests: Mapping[str, str]) -> str:
    """Return the key of a result: of a function (`of_function`) and the digests of its values by name, in any order."""
    return digest(about, sorted(digests.items()))


def of_function(function: Callable) -> str:
    """Return a digest of a function with all that its results depend on besides its values and files."""
    return digest(function, sources())


def of_named(name: str, value) -> str:
    """Return a digest of a value of a run; an error names it."""
    try:
        return of_value(value)
    except NoDigestError as error:
        raise NoDigestError(f"{name}: {error}") from None


def innermost(function: Callable) -> Callable:
    """Return the function behind partials, methods, and wrappers that remember or compile it."""
    while True:
        attributes = getattr(function, "__dict__", {})
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif "__wrapped__" in attributes or "py_func" in attributes:
            function = attributes.get("__wrapped__", attributes.get("py_func"))
        else:
            return function


def _feed(sha, value, seen):
    """Add a value to a hash; `seen` numbers its functions and classes, because they may refer to each other."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        value = np.array(value)  # as a number it would have no unit
    elif isinstance(value, np.generic):
        value = value.item()
    kind = type(value)
    _name(sha, kind.__name__)
    if value is None or kind in (bool, int, float, complex, bytes):
        _name(sha, repr(value))
    elif kind is str:
        _name(sha, value)
    elif kind in (tuple, list):
        _all(sha, value, seen)
    elif isinstance(value, Set):
        _name(sha, *sorted(map(_alone, value)))
    elif kind in (dict, types.MappingProxyType):
        _all(sha, list(value.items()), seen)
    elif kind is range or kind is slice:
        _name(sha, repr(value))
    elif kind is np.ndarray:
        _array(sha, value, seen)
    elif isinstance(value, pd.DataFrame | pd.Series | pd.Index):
        _table(sha, value, seen)
    elif getattr(kind, "unchanging", False):
        if value not in _of_unchanging:
            _of_unchanging[value] = _alone(_state(value))
        _name(sha, _of_unchanging[value])
    elif isinstance(value, functools.partial):
        _all(sha, (value.func, value.args, value.keywords), seen)
    elif isinstance(value, types.ModuleType):
        _held_module(sha, value, seen)
    elif isinstance(value, type):
        _class(sha, value, seen)
    elif isinstance(value, types.MethodType):
        _all(sha, (value.__func__, value.__self__), seen)
    elif "__wrapped__" in getattr(value, "__dict__", {}) and _wraps(value):
        _feed(sha, value.__wrapped__, seen)
        _feed(sha, dict(getattr(value, "registry", {})), seen)  # of `functools.singledispatch`
    elif inspect.isfunction(getattr(value, "py_func", value)):  # numba keeps the Python function in `py_func`
        _function(sha, getattr(value, "py_func", value), seen)
        _feed(sha, getattr(value, "targetoptions", None), seen)
    elif isinstance(value, np.ufunc):
        if getattr(np, value.__name__, None) is not value:
            raise NoDigestError(f"{value.__name__} is a ufunc whose code is unknown")
        _name(sha, value.__name__)
    elif isinstance(value, types.BuiltinFunctionType):
        _name(sha, f"{value.__module__}.{value.__name__}")
        if not isinstance(getattr(value, "__self__", None), types.ModuleType | None):
            _feed(sha, value.__self__, seen)
    elif isinstance(value, types.CodeType):
        _name(sha, _of_code(value))
    elif isinstance(value, Path):
        _name(sha, str(value), content(value))
    elif is_dataclass(value):
        _class(sha, kind, seen)
        _all(sha, _state(value), seen)
        known = {field.name for field in fields(value) if field.compare}
        if not _installed(kind.__module__):  # installed classes store only what follows from their fields there
            _feed(sha, {name: more for name, more in _own(value) if name not in known}, seen)
    else:
        _other(sha, value, seen)


def _name(sha, *parts):
    for part in parts:
        sha.update(f"{len(part)}:{part}".encode(errors="surrogatepass"))


def _all(sha, values, seen):
    _name(sha, str(len(values)))
    for value in values:
        _feed(sha, value, seen)


def _alone(value):
    sha = hashlib.sha256()
    _feed(sha, value, {})
    return sha.hexdigest()


def _is_new(sha, value, seen):
    """Tell whether a function or class is met for the first time; later its number stands for it."""
    if id(value) in seen:
        _name(sha, f"number {seen[id(value)][0]}")
        return False
    seen[id(value)] = (len(seen), value)  # keeps the object alive, since another could get its address
    return True


def _array(sha, array, seen):
    _name(sha, str(array.dtype), str(array.shape))
    if array.dtype.hasobject:
        _all(sha, array.ravel().tolist(), seen)
    else:
        sha.update(np.ascontiguousarray(array).tobytes())


def _table(sha, table, seen):
    names = list(table.columns) if isinstance(table, pd.DataFrame) else [table.name]
    kinds = table.dtypes.tolist() if isinstance(table, pd.DataFrame) else [table.dtype]
    index = [] if isinstance(table, pd.Index) else list(table.index.names)
    _all(sha, [*names, *map(str, kinds), *index], seen)
    if isinstance(table, pd.Index):
        columns = [table.get_level_values(level) for level in range(table.nlevels)]
    else:
        columns = [table.iloc[:, i] for i in range(len(names))] if isinstance(table, pd.DataFrame) else [table]
        _table(sha, table.index, seen)
    for column in columns:
        if column.dtype == object:  # pandas hashes 1 and "1" alike
            _all(sha, column.tolist(), seen)
        elif isinstance(column.dtype, pd.CategoricalDtype):
            _table(sha, column.dtype.categories, seen)
            _name(sha, str(column.dtype.ordered))
            _array(sha, pd.Categorical(column).codes, seen)
        elif isinstance(column.dtype, np.dtype):
            _array(sha, column.to_numpy(), seen)
        else:
            _array(sha, pd.util.hash_pandas_object(pd.Series(column), index=False).to_numpy(), seen)


def _state(value):
    """Return the fields of a dataclass that it compares; of the package's own, others say only where it comes from."""
    return [getattr(value, field.name) for field in fields(value) if field.compare]


def _installed(module):
    path = getattr(sys.modules.get(module), "__file__", None) if module != "__main__" else None
    return module in sys.builtin_module_names or (path is not None and is_installed(path))


def is_installed(path):
    return path.startswith((*_INSTALLED, "<frozen ")) and not path.startswith(_PAPERS)


def _class(sha, kind, seen):
    """Add a class by its name; for a user's class, also its methods and attributes, wherever it is defined."""
    _name(sha, kind.__qualname__)
    if installed := _installed(kind.__module__):
        _name(sha, kind.__module__)
    if installed or not _is_new(sha, kind, seen):
        return
    parts = {
        name: value
        for name, value in vars(kind).items()
        if not ((name.startswith("__") and name.endswith("__")) or name.startswith("_abc_"))
        or inspect.isfunction(value)
    }
    for name in sorted(parts):
        value = getattr(parts[name], "__func__", getattr(parts[name], "fget", parts[name]))  # static and class methods
        value = value.func if isinstance(value, cached_property) else value
        _name(sha, name)
        if not inspect.isdatadescriptor(value):
            _feed(sha, value, seen)
    for base in (*kind.__bases__, type(kind)):
        _class(sha, base, seen)


def _function(sha, function, seen):
    """Add a function by its name; for a user's function, also its code and the values that it uses."""
    _name(sha, function.__qualname__)
    if installed := is_installed(function.__code__.co_filename):  # its module may be that of a function that it wraps
        _name(sha, function.__module__ or "")
    named = installed and "<" not in function.__qualname__  # not made by another function, nor a lambda
    if named or not _is_new(sha, function, seen):
        return
    _all(sha, [function.__code__, function.__defaults__, function.__kwdefaults__, vars(function)], seen)
    names = sorted(_names(function.__code__))
    for name, value in _outer(function).items():
        _name(sha, name)
        if isinstance(value, Path):  # the user's own folder may hold the results
            _name(sha, str(value))
        elif isinstance(value, types.ModuleType):  # of which counts what is used
            _name(sha, value.__name__)
        else:
            _feed(sha, value, seen)
        _module(sha, value, names, seen)


def _wraps(value):
    """Tell whether installed code wraps a function without changing its results: caches, `schedlab.remember`."""
    code = getattr(value, "__code__", None)
    return _installed(type(value).__module__) if code is None else is_installed(code.co_filename)


def _own_module(value):
    return isinstance(value, types.ModuleType) and not _installed(value.__name__)


def _held_module(sha, module, seen):
    """Add a module by its name; one of the user's that is held as a value, with all that it has."""
    _name(sha, module.__name__)
    if _own_module(module) and _is_new(sha, module, seen):
        for name, value in sorted(vars(module).items()):
            if not name.startswith("__"):
                _name(sha, name)
                with suppress(NoDigestError):  # such as an open file, which nothing tells from another
                    _feed(sha, value, seen)


def _module(sha, value, names, seen):
    """Add what a function uses of a module that is not installed: for ``helpers.f()``, f."""
    if _own_module(value):
        for name in names:
            if hasattr(value, name):
                _name(sha, name)
                _feed(sha, getattr(value, name), seen)
                _module(sha, getattr(value, name), [other for other in names if other != name], seen)


def _outer(function):
    """Return what a function uses from outside: closure values, its user's globals, and modules that it imports."""
    closed = zip(function.__code__.co_freevars, map(_held, function.__closure__ or ()), strict=True)
    if is_installed(function.__code__.co_filename):
        return dict(closed)
    outer, names = function.__globals__, sorted(_globals(function.__code__))
    used = {name: outer[name] for name in names if name in outer}
    return used | _imported(function) | dict(closed)


def _imported(function):
    """Return the modules that a function imports when it runs, by their full names."""
    modules = {}
    for name in sorted(_imports(function.__code__)):
        with suppress(Exception):  # the function will raise it itself
            full = resolve_name(name, function.__globals__.get("__package__") or "")
            modules[full] = import_module(full)
    return modules


def _held(cell):
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def _names(code):
    """List the global names and attributes that code and the functions within it use."""
    return set(code.co_names).union(*map(_names, _inner(code)))


@functools.lru_cache(1024)
def _globals(code):
    """List only the global names: an attribute may have the same name as an unrelated global."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname in _GLOBAL}
    return names.union(*map(_globals, _inner(code)))


@functools.lru_cache(1024)
def _imports(code):
    """Return the modules that code imports, relative ones with their dots, and what it imports from them."""
    steps, modules = list(dis.get_instructions(code)), set()
    for level, names, step in zip(steps, steps[1:], steps[2:], strict=False):
        if step.opname == "IMPORT_NAME":
            module = "." * level.argval + step.argval
            within = f"{module}." if step.argval else module
            modules |= {module, *(f"{within}{name}" for name in names.argval or ())}
    return modules.union(*map(_imports, _inner(code)))


def _inner(code):
    return [const for const in code.co_consts if isinstance(const, types.CodeType)]


@functools.lru_cache(4096)
def _of_code(code):
    """Return a digest of code: of what it does, not of where it is written."""
    inner = tuple(_of_code(const) if isinstance(const, types.CodeType) else const for const in code.co_consts)
    bare = code.replace(co_filename="", co_firstlineno=1, co_linetable=b"", co_consts=inner)
    return hashlib.sha256(marshal.dumps(bare, 2)).hexdigest()  # later formats tell apart equal values


def _own(value):
    """Return the named values of an object, including slots, except those that follow from the rest."""
    kind, state = type(value), object.__getstate__(value)
    named, slots = state if isinstance(state, tuple) else (state, None)
    held = sorted(((named or {}) | (slots or {})).items())
    return [(name, more) for name, more in held if not isinstance(getattr(kind, name, None), cached_property)]


def _other(sha, value, seen):
    kind = type(value)
    _class(sha, kind, seen)
    if isinstance(value, Mapping):
        _all(sha, list(value.items()), seen)
    if not _installed(kind.__module__) and hasattr(value, "__dict__"):
        for base in (int, float, complex, str, bytes, bytearray, tuple, list, deque, set, frozenset):
            if isinstance(value, base):
                _feed(sha, base(value), seen)
        if isinstance(value, np.ndarray):
            _array(sha, value.view(np.ndarray), seen)
        _feed(sha, dict(_own(value)), seen)
        return
    if isinstance(value, tuple | deque):
        _all(sha, value, seen)
        return
    if isinstance(value, types.SimpleNamespace | np.vectorize):
        _feed(sha, vars(value), seen)
        return
    try:
        _name(sha, joblib.hash(value))
    except Exception as error:  # anything that its pickling raises
        raise NoDigestError(f"a {kind.__name__} has no digest: {error}") from None
