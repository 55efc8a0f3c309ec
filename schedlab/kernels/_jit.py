"""The decorators of this room: `kernel` for entry points, four others for the pieces that they share.

Numba's disk cache notices an edit in the file of the cached function only, so a kernel would keep a stale
copy of a part that lives in another file. The cache folder is therefore keyed on a digest of every kernel
source. Numba fixes the folder when a function is decorated; its settings are put back at once, so the
user's own jitted functions are cached where they always were. Machine code that others may have written is not run:
without a folder of the user's own nothing is cached.
"""

import hashlib
from pathlib import Path

import numba
import numpy as np
from numba.core.caching import FunctionCache, UserProvidedCacheLocator
from numba.core.dispatcher import Dispatcher

import schedlab.compiling  # noqa: F401 - hears when one of these kernels is compiled
from schedlab.paths import kernels_folder

from ._compiler import PIECES, KernelCompiler, PieceCompiler

# An index of this type cannot count from the end, which frees a loop of that check: entries move 5 times faster.
U = np.uint64


def _digest() -> str:
    """Digest what the machine code depends on and numba's own index does not: other files, bounds checking."""
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    texts = [source.read_bytes() for source in sources]
    settings = f"{numba.__version__} {numba.config.BOUNDSCHECK}"  # the index tells Pythons and processors apart
    return hashlib.sha256(b"".join([*texts, settings.encode()])).hexdigest()[:16]


class Locator(UserProvidedCacheLocator):
    """Finds the machine code of a kernel by the name of its folder, not by its path: all checkouts share it."""

    @classmethod
    def get_suitable_cache_subpath(cls, py_file):
        """Give the name of the folder that a kernel's source lies in."""
        return Path(py_file).parent.name


class KernelCache(FunctionCache):
    """Numba's, but a file that is broken, as where the disk was full, is as good as none: it is written anew."""

    def load_overload(self, sig, target_context):
        """Give what was compiled for a signature; None where there is nothing to be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a pickle that is cut short may raise anything
            self.flush()
            return None


CACHE = kernels_folder(_digest())
# Never called from Python: a third of the compile time.
_PIECE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **({"pipeline_class": PieceCompiler} if PIECES else {})}
_KERNEL = {"nogil": True, **({"pipeline_class": KernelCompiler} if PIECES else {})}
_SETTINGS = {"CACHE_DIR": str(CACHE), "CACHE_LOCATOR_CLASSES": f"{__name__}.{Locator.__name__}"}


def kernel(function, cache=KernelCache):
    """Compile an entry point: cached on disk, and free of the interpreter lock so that threads scale.

    `cache` makes the cache of a function; None for a kernel that cannot be kept.
    """
    compiled = numba.njit(**_KERNEL)(function)
    if None not in (CACHE, cache) and isinstance(compiled, Dispatcher):  # a plain function where the JIT is off
        before = {name: getattr(numba.config, name) for name in _SETTINGS}
        try:
            _set(_SETTINGS)
            compiled._cache = cache(function)
        finally:
            _set(before)
    return compiled


def _set(settings):
    for name, value in settings.items():
        setattr(numba.config, name, value)


def part(function):
    """Compile a shared piece of a kernel, without reference counting: inlined where that pays, as LLVM sees it.

    A part works on arrays that its kernel holds and makes none of its own, so counting references to them is
    waste, and much of it: numba counts at every ``state.queue.key[i]`` on a tuple of arrays. Measured on EASY
    over whole logs, with counting: CTC 291 ms instead of 31, SDSC-BLUE 844 ms instead of 73. Where numba compiles in
    its usual way each is inlined, since a call would hand over every array.
    """
    return numba.njit(forceinline=not PIECES, _nrt=False, **_PIECE)(function)


def inlined(function):
    """Compile a part that is always inlined: for hot ones, where measurement says so."""
    return numba.njit(forceinline=True, _nrt=False, **_PIECE)(function)


def routine(function):
    """Compile a shared piece as a function of its own: for the bigger ones, which inlining would copy about."""
    return numba.njit(_nrt=False, **_PIECE)(function)


def maker(function):
    """Compile a shared piece that makes arrays, which is all that it should do."""
    return numba.njit(**_PIECE)(function)
