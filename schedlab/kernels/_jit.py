"""The decorators of this room: `kernel` for entry points, and four others for the pieces that kernels share.

Numba's disk cache notices only edits in the file of the cached function, so a kernel would keep a stale copy of a piece
that is in another file. The cache folder is therefore keyed on a digest of every kernel source. Numba fixes the folder
when a function is decorated. Its settings are restored immediately, so the user's own jitted functions are cached where
they always were. Machine code that others may have written is not run: without a folder that belongs to the user alone,
nothing is cached. Nothing is ever cached beside the sources, where it would outlive the package.

What this takes from numba's internals may be missing in another release. Without the compiler of pieces (`_compiler`),
kernels are compiled in numba's usual way; without numba's classes for its cache, in each process anew. With the
environment variable ``SCHEDLAB_PIECES=0`` they are compiled in the usual way, too: `make test-plain` does that.
"""

import hashlib
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

import numba
import numpy as np

from schedlab._runtime.compiling import USUAL_WAY  # that module is notified when one of these kernels is compiled
from schedlab._runtime.paths import kernels_folder

try:
    from ._compiler import PROVEN, KernelCompiler, PieceCompiler

    PIECES = numba.version_info.short in PROVEN and not USUAL_WAY
except Exception:  # in another release of numba anything may be missing or different
    PIECES = False
try:
    from numba.core.caching import FunctionCache, UserProvidedCacheLocator
except ImportError:
    FunctionCache = UserProvidedCacheLocator = object  # nothing is cached

# An index of this type cannot count from the end, so a loop needs no check for that: entries move 5 times faster.
U = np.uint64


def _digest() -> str:
    """Digest what the machine code depends on and numba's own index does not cover: other files, bounds checking."""
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    texts = [source.read_bytes() for source in sources]
    # The index separates Python versions and processors.
    settings = f"{numba.__version__} {numba.config.BOUNDSCHECK} {PIECES}"
    return hashlib.sha256(b"".join([*texts, settings.encode()])).hexdigest()[:16]


class Locator(UserProvidedCacheLocator):
    """Finds a kernel's machine code by the name of its folder, not by its path, so that all checkouts share it."""

    @classmethod
    def from_function(cls, py_func, py_file):
        """Return a locator; None if nothing can be cached."""
        return None if CACHE is None else super().from_function(py_func, py_file)

    @classmethod
    def get_suitable_cache_subpath(cls, py_file):
        """Return the name of the folder that contains a kernel's source."""
        return Path(py_file).parent.name


class KernelCache(FunctionCache):
    """Numba's cache, except that a broken file, for example after a full disk, counts as missing and is rewritten."""

    def load_overload(self, sig, target_context):
        """Return the compiled code for a signature; None if it cannot be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a truncated pickle may raise anything
            self.flush()
            return None


CACHE = None if FunctionCache is object else kernels_folder(_digest())
# Never called from Python: a third of the compile time.
_PIECE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **({"pipeline_class": PieceCompiler} if PIECES else {})}
_KERNEL = {"nogil": True, **({"pipeline_class": KernelCompiler} if PIECES else {})}
_SETTINGS = {"CACHE_DIR": str(CACHE or ""), "CACHE_LOCATOR_CLASSES": f"{__name__}.{Locator.__name__}"}
_lock = RLock()


def kernel(function, cache=KernelCache):
    """Compile an entry point: cached on disk, and free of the interpreter lock so that threads scale.

    `cache` makes the cache of a function; None for a kernel that cannot be cached.
    """
    compiled = numba.njit(**_KERNEL)(function)
    if None not in (CACHE, cache) and hasattr(compiled, "_cache"):  # a plain function if the JIT is off
        with cached_beside_kernels():
            compiled._cache = cache(function)
    return compiled


@contextmanager
def cached_beside_kernels():
    """Let numba cache the functions that are decorated in this block where kernels are cached, or nowhere."""
    with _lock:  # settings are those of the process
        before = {name: getattr(numba.config, name, "") for name in _SETTINGS}
        try:
            _set(_SETTINGS)
            yield
        finally:
            _set(before)


def _set(settings):
    for name, value in settings.items():
        setattr(numba.config, name, value)


def part(function):
    """Compile a shared piece of a kernel, without reference counting; LLVM inlines it where that pays.

    A part works on its kernel's arrays and makes none of its own, so counting references to them is useless and
    expensive: numba counts at every ``state.queue.key[i]`` on a tuple of arrays. Measured on EASY over whole logs, with
    counting: CTC 291 ms instead of 31, SDSC-BLUE 844 ms instead of 73. If numba compiles in its usual way, each part is
    inlined, since a call would pass every array.
    """
    return numba.njit(forceinline=not PIECES, _nrt=False, **_PIECE)(function)


def inlined(function):
    """Compile a part that is always inlined: for hot parts, where measurements show that it helps."""
    return numba.njit(forceinline=True, _nrt=False, **_PIECE)(function)


def routine(function):
    """Compile a shared piece as a separate function: for larger pieces, of which inlining would make many copies."""
    return numba.njit(_nrt=False, **_PIECE)(function)


def maker(function):
    """Compile a shared piece that makes arrays; it should do nothing else."""
    return numba.njit(**_PIECE)(function)
