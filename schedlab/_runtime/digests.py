"""Digests of values and functions: equal values have the same digest in any process, different values do not.

They are the keys of kept results (`schedlab.experiment`). The digest of a user's function covers its code as it is
loaded (its file may have been edited since), the values that it closes over, and the functions, classes and constants
that it uses, in other modules of the user, too. So an edited helper changes the digest; a moved one does not. Files
that are read through the package are compared when a result is used again (`schedlab._runtime.files`).
"""

import copyreg
import dis
import functools
import hashlib
import inspect
import marshal
import os
import sys
import sysconfig
import types
from collections.abc import Callable, Mapping, Set
from contextlib import nullcontext, suppress
from dataclasses import fields, is_dataclass
from functools import cached_property
from operator import methodcaller
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from .files import content

LENGTH = 32  # hexadecimal digits
_PACKAGE = Path(__file__).parents[1]
# Rooms and modules that only show results, or only say which are wanted: no result depends on them.
SHOWING = ("charts", "cli", "contest/charts", "contest/study", "papers", "show")
SHOWING += ("_runtime/compiling", "_runtime/imports", "_runtime/precompile")
# The digest of code in these folders is that of its name. Papers are read as users' functions are: they change.
_FOLDERS = (_PACKAGE, *map(sysconfig.get_path, ("stdlib", "purelib", "platlib")))
_INSTALLED = tuple(f"{Path(folder)}{os.sep}" for folder in _FOLDERS)
_PAPERS = (f"{_PACKAGE / 'papers'}{os.sep}", str(_PACKAGE / "contest" / "study.py"))
_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")  # opcodes of Python's virtual machine
_of_unchanging = WeakKeyDictionary()  # hashing the table of a log takes tens of milliseconds


class NoDigestError(TypeError):
    """A value has no digest, because nothing tells whether another value equals it."""


def digest(*values) -> str:
    """Return a hexadecimal digest of values: numbers, text, arrays, tables, traces, schemes, functions, combinations.

    Equal values have equal digests. Raises NoDigestError for a value of another kind, such as an open file.
    """
    try:
        return _alone(values)[:LENGTH]
    except RecursionError:
        raise NoDigestError("a value that contains itself has no digest") from None


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


def key(about: str, digests: Mapping[str, str]) -> str:
    """Return the key of a result: of a function (`of_function`) and the digests of its values by name, in any order."""
    return digest(about, sorted(digests.items()))


def of_function(function: Callable) -> str:
    """Return a digest of a function with all that its results depend on besides its values and files."""
    return digest(function, sources())


def of_named(name: str, value) -> str:
    """Return a digest of a value of a run; if it is a text that names a file, the content counts. An error names it."""
    try:
        if isinstance(value, str) and Path(value).suffix and os.path.isfile(value):
            return digest(value, content(value))
        return digest(value)
    except NoDigestError as error:
        raise NoDigestError(f"{name}: {error}") from None


def _feed(sha, value, seen):
    """Add a value to a hash; `seen` numbers functions, classes and modules, because they may refer to each other."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    kind = type(value)
    _name(sha, kind.__name__)
    if value is None or kind in (bool, int, float, complex, bytes, str):
        _name(sha, repr(value))
    elif kind in (tuple, list):
        _all(sha, value, seen)
    elif isinstance(value, Set):
        _name(sha, *sorted(map(_alone, value)))
    elif kind in (dict, types.MappingProxyType):
        _all(sha, list(value.items()), seen)
    elif kind is np.ndarray:
        _name(sha, str(value.dtype), str(value.shape))
        if value.dtype.hasobject:
            _all(sha, value.ravel().tolist(), seen)
        else:
            sha.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, pd.DataFrame | pd.Series | pd.Index):
        _table(sha, value, seen)
    elif isinstance(value, types.ModuleType):
        _used(sha, value, None, seen)
    elif isinstance(value, type):
        _class(sha, value, seen)
    elif isinstance(value, types.MethodType):
        _all(sha, (value.__func__, value.__self__), seen)
    elif inspect.isfunction(getattr(value, "py_func", value)):  # numba keeps the Python function in `py_func`
        _function(sha, getattr(value, "py_func", value), seen)
        _feed(sha, getattr(value, "targetoptions", None), seen)
    elif isinstance(value, types.CodeType):
        _name(sha, _of_code(value))
    elif isinstance(value, Path):
        _name(sha, str(value), content(value))
    elif getattr(kind, "unchanging", False):
        if value not in _of_unchanging:
            _of_unchanging[value] = _alone(_compared(value))
        _name(sha, _of_unchanging[value])
    elif is_dataclass(value) and _installed(kind.__module__):  # what else it holds follows from its fields
        _class(sha, kind, seen)
        _all(sha, _compared(value), seen)
    else:
        _pickled(sha, value, seen)


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


def _is_new(sha, value, seen, *names):
    """Tell whether a function, class or module is met for the first time; later its number stands for it."""
    key = (id(value), *names)
    if key in seen:
        _name(sha, f"number {seen[key][0]}")
        return False
    seen[key] = (len(seen), value)  # keeps the object alive, since another could get its address
    return True


def _table(sha, table, seen):
    columns = [table]
    if isinstance(table, pd.DataFrame):
        columns = [table.iloc[:, place] for place in range(table.shape[1])]
    elif isinstance(table, pd.MultiIndex):
        columns = [table.get_level_values(level) for level in range(table.nlevels)]
    _all(sha, [(column.name, column.dtype, column.to_numpy()) for column in columns], seen)
    if not isinstance(table, pd.Index):
        _feed(sha, table.index, seen)


def _compared(value):
    return [getattr(value, field.name) for field in fields(value) if field.compare]


def _installed(module):
    path = getattr(sys.modules.get(module), "__file__", None) if module != "__main__" else None
    return module in sys.builtin_module_names or (path is not None and is_installed(path))


def is_installed(path):
    return path.startswith((*_INSTALLED, "<frozen ")) and not path.startswith(_PAPERS)


def _class(sha, kind, seen):
    """Add a class by its name; for a user's class, also its methods and attributes, wherever it is defined."""
    _name(sha, kind.__qualname__)
    if _installed(kind.__module__):
        _name(sha, kind.__module__)
    elif _is_new(sha, kind, seen):
        for name, part in sorted(vars(kind).items()):
            value = getattr(part, "__func__", getattr(part, "fget", part))  # static and class methods, properties
            value = value.func if isinstance(value, cached_property) else value
            special = name.startswith(("__", "_abc_")) and not inspect.isfunction(value)
            if not special and not inspect.isdatadescriptor(value):
                _name(sha, name)
                _feed(sha, value, seen)
        for base in (*kind.__bases__, type(kind)):
            _class(sha, base, seen)


def _function(sha, function, seen):
    """Add a function by its name; for a user's function, also its code and the values that it uses."""
    code = function.__code__
    _name(sha, function.__qualname__)
    if installed := is_installed(code.co_filename):  # it may wrap a user's function, as `functools.singledispatch` does
        wrapped = vars(function).get("__wrapped__")
        _all(sha, (function.__module__, wrapped, dict(getattr(function, "registry", {}))), seen)
    named = installed and "<" not in function.__qualname__  # not made by another function, nor a lambda
    if named or (installed and wrapped) or not _is_new(sha, function, seen):
        return
    _all(sha, [code, function.__defaults__, function.__kwdefaults__, vars(function)], seen)
    outer = {}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # not assigned yet
            outer[name] = cell.cell_contents
    names, variables, imports = _names(code)
    if not installed:
        outer |= {name: function.__globals__[name] for name in variables if name in function.__globals__}
        for level, module, within in imports:
            with suppress(Exception):  # the function will raise it itself
                outer["." * level + module] = __import__(module, function.__globals__, None, within, level)
    for name in sorted(outer):
        _name(sha, name)
        _used(sha, outer[name], names, seen)


def _used(sha, value, names, seen):
    """Add a value that code uses. Of a module of the user's counts what has one of some names; None stands for all."""
    if isinstance(value, Path):  # the user's own folder may hold the results
        _name(sha, str(value))
    elif not isinstance(value, types.ModuleType):
        _feed(sha, value, seen)
    else:
        _name(sha, value.__name__)
        if not _installed(value.__name__) and _is_new(sha, value, seen, names):
            for name in sorted(vars(value) if names is None else names):
                if hasattr(value, name) and not name.startswith("__"):
                    _name(sha, name)
                    with nullcontext() if names else suppress(NoDigestError):  # such as an open file
                        _used(sha, getattr(value, name), names, seen)


@functools.lru_cache(1024)
def _names(code):
    """Return the names that code uses, those that are global variables, and its imports; with the functions within."""
    steps = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
    imports = {
        (level.argval, step.argval, within.argval)
        for level, within, step in zip(steps, steps[1:], steps[2:], strict=False)
        if step.opname == "IMPORT_NAME"
    }
    variables = {step.argval for step in steps if step.opname in _GLOBAL}
    parts = [_names(const) for const in code.co_consts if isinstance(const, types.CodeType)]
    return tuple(map(frozenset().union, (code.co_names, variables, imports), *parts))


@functools.lru_cache(4096)
def _of_code(code):
    """Return a digest of code: of what it does, not of where it is written."""
    inner = tuple(_of_code(const) if isinstance(const, types.CodeType) else const for const in code.co_consts)
    bare = code.replace(co_filename="", co_firstlineno=1, co_linetable=b"", co_consts=inner)
    return hashlib.sha256(marshal.dumps(bare, 2)).hexdigest()  # later formats tell apart equal values


def _pickled(sha, value, seen):
    """Add the class of an object, and what pickling would keep of it."""
    kind = type(value)
    if isinstance(value, np.ufunc) and getattr(np, value.__name__, None) is not value:
        raise NoDigestError(f"{value.__name__} is a ufunc whose code is unknown")
    try:
        reduced = copyreg.dispatch_table.get(kind, methodcaller("__reduce_ex__", 4))(value)
    except Exception as error:  # anything that its pickling raises
        raise NoDigestError(f"a {kind.__name__} has no digest: {error}") from None
    _class(sha, kind, seen)
    if isinstance(reduced, str):  # the name of what exists once
        reduced = (getattr(value, "__module__", None), reduced, getattr(value, "__dict__", None))
    make, values, state, items, pairs = (*reduced, None, None, None)[:5]
    parts = state if isinstance(state, tuple) else (state,)  # two if it has slots
    parts = [_attributes(part, kind) if isinstance(part, dict) else part for part in parts]
    _all(sha, (make, values, parts, list(items or ()), list(pairs or ())), seen)


def _attributes(state, kind):
    """Return the attributes of an object, without those that its class computes from the others."""
    names = [name for name in sorted(state, key=str) if not isinstance(getattr(kind, name, None), cached_property)]
    return [(name, state[name]) for name in names] or None
