"""What compiled code takes from outside a function, so that it is compiled again only if any of that has changed."""

import builtins
import cmath
import dis
import hashlib
import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, NoneType

import numba
import numpy as np

MODULES = (math, cmath, np, numba)
NUMBERS = (bool, int, float, complex, str, NoneType)


class ChangingError(TypeError):
    """Nothing tells whether a value is still the same, so code that uses it cannot be used again."""


class Outside:
    """Values that will be constants of compiled code: numbers, text, arrays, tuples, and functions with all they use.

    Numba puts globals, closures and fixed arguments into the code as they are when it is compiled. Jitted functions
    keep the code that they were first compiled to. Copies are therefore compiled instead of the originals: large arrays
    stay outside the code, where a change of the original would reach them, and copies of jitted functions are compiled
    anew (`jitted` lists those).

    Two sets of values have an equal `key` only if both make the same code: arrays are compared by content, functions by
    code and by what they use. Tables, dictionaries or modules of the user's raise a `ChangingError`.
    """

    def __init__(self, *values: object):
        self.jitted, self._functions, self._jitted = [], {}, {}
        self.key, self._copy = self._state(values)

    def copies(self) -> tuple:
        """Copy the values; arrays are read-only, and each jitted function checks array indices."""
        return self._copy()

    def _state(self, value):
        """Return the key of a value, and a function that copies it."""
        kind = type(value)
        if kind in NUMBERS or isinstance(value, np.number | np.bool_):
            # Equal numbers of different types make different code: 10**13 overflows where 1e13 does not.
            return (kind, repr(value)), lambda: value
        if kind is np.ndarray and not value.dtype.hasobject:
            content = hashlib.sha256(np.ascontiguousarray(value)).digest()
            return (kind, str(value.dtype), value.shape, content), lambda: _read_only(value)
        if isinstance(value, tuple):
            states = [self._state(element) for element in value]
            key = tuple, getattr(value, "_fields", None), tuple(key for key, _ in states)
            return key, lambda: tuple.__new__(kind, (copy() for _, copy in states))
        if kind is FunctionType:
            return self._state_of_function(value)
        if type(getattr(value, "py_func", None)) is FunctionType and hasattr(value, "targetoptions"):
            return self._state_of_jitted(value)
        if any(value is module for module in MODULES) or _is_unchanging(value):
            return value, lambda: value
        raise ChangingError(f"{kind.__name__}")

    def _state_of_function(self, function):
        if id(function) in self._functions:  # it may call itself
            number, copy, _ = self._functions[id(function)]
            return number, copy
        code, copied = function.__code__, []

        def copy():
            if not copied:
                cells = tuple(CellType() for _ in closed)
                scope = {"__builtins__": builtins, "__name__": function.__module__}
                copied.append(FunctionType(code, scope, function.__name__, None, cells))
                copied[0].__qualname__ = function.__qualname__
                copied[0].__defaults__ = defaults[1]()
                scope.update((name, make()) for name, (_, make) in used.items())
                for cell, (_, make) in zip(cells, closed.values(), strict=True):
                    cell.cell_contents = make()
            return copied[0]

        self._functions[id(function)] = len(self._functions), copy, function  # which stays alive, and so its id
        outer = function.__globals__
        used = {name: self._state(outer[name]) for name in globals_of(code) if name in outer}
        closed = {name: self._state(value) for name, value in _closed(function)}
        defaults = self._state(function.__defaults__)
        if function.__kwdefaults__:
            raise ChangingError("parameters that are given by keyword only")
        keys = [(name, key) for name, (key, _) in (*used.items(), *closed.items())]
        return (code, *keys, defaults[0]), copy

    def _state_of_jitted(self, function):
        key, copy = self._state_of_function(function.py_func)
        signatures = [] if function._can_compile else function.nopython_signatures
        options = {**function.targetoptions, "boundscheck": True}
        copied = self._jitted.setdefault(id(function), [])  # it may call itself

        def jitted():
            plain = copy()
            if not copied:
                copied.append(numba.jit(**options)(plain))
                self.jitted.append(copied[0])
                for signature in signatures:  # given by the user
                    copied[0].compile(signature)
                copied[0].disable_compile(bool(signatures))
            return copied[0]

        return ("jitted", repr(sorted(options.items())), tuple(map(str, signatures)), key), jitted


@lru_cache(1024)
def globals_of(code: CodeType) -> tuple[str, ...]:
    """List the names that code, and the functions within it, take from globals or builtins."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return tuple(sorted(names.union(*(globals_of(inner) for inner in code.co_consts if isinstance(inner, CodeType)))))


def attributes_of(function: Callable) -> list[str]:
    """List the attributes of its first parameter that a Python function reads: for a method, those of ``self``."""
    code = function.__code__
    return sorted({field for name in code.co_varnames[: min(code.co_argcount, 1)] for field in _attributes(code, name)})


def _attributes(code: CodeType, name: str) -> Iterator[str]:
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "EXTENDED_ARG")]
    for before, step in pairwise(steps):
        # Python 3.13 loads two variables in one step.
        loads = before.opname.startswith("LOAD_") and name in (before.argval, _last(before.argval))
        if loads and step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            yield step.argval
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and name in inner.co_freevars:
            yield from _attributes(inner, name)


def _last(names):
    return names[-1] if isinstance(names, tuple) and names else None


def _closed(function):
    """Yield the names and values that a function closes over."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            raise ChangingError(f"{name}, which has no value yet") from None


def _read_only(array):
    copy = array.copy()
    copy.flags.writeable = False  # code that writes to its own constants would end the process
    return copy


def _is_unchanging(value):
    """Tell whether a value is a class, a type of numba's, or a function of NumPy or of a module like `math`."""
    if isinstance(value, type | np.ufunc | BuiltinFunctionType | numba.types.Type):
        return True
    return getattr(np, getattr(value, "__name__", ""), None) is value
