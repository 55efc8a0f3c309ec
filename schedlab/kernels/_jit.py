"""The decorators of this room: `kernel` for entry points, `part`, `routine` and `maker` for the pieces they share.

Numba's disk cache notices an edit in the file of the cached function only, so a kernel would keep a stale
copy of a part that lives in another file. The cache folder is therefore keyed on a digest of every kernel
source. Numba fixes the folder when a function is decorated; its setting is put back at once, so the
user's own jitted functions are cached where they always were. Machine code that others may have written is not run:
without a folder of the user's own nothing is cached.
"""

import hashlib
from pathlib import Path

import numba
import numpy as np

from schedlab.paths import own_folder

# An index of this type cannot count from the end, which frees a loop of that check: entries move 5 times faster.
U = np.uint64


def _digest() -> str:
    """Digest what the machine code depends on and numba's own index does not: other files, bounds checking."""
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    texts = [source.read_bytes() for source in sources]
    return hashlib.sha256(b"".join([*texts, str(numba.config.BOUNDSCHECK).encode()])).hexdigest()[:16]


_FOLDER = own_folder("numba")
CACHE = _FOLDER and _FOLDER / _digest()
# Never called from Python: a third of the compile time.
_INSIDE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function):
    """Compile an entry point: cached on disk, and free of the interpreter lock so that threads scale."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(CACHE)
    try:
        return numba.njit(cache=CACHE is not None, nogil=True)(function)
    finally:
        numba.config.CACHE_DIR = before


def part(function):
    """Compile a shared piece of a kernel: always inlined, and without reference counting.

    A part works on arrays that its kernel holds and makes none of its own, so counting references to them is
    waste, and much of it: numba counts at every ``state.queue.key[i]`` on a tuple of arrays. Measured on EASY
    over whole logs, with counting: CTC 291 ms instead of 31, SDSC-BLUE 844 ms instead of 73.
    """
    return numba.njit(forceinline=True, _nrt=False, **_INSIDE)(function)


def routine(function):
    """Compile a shared piece as a function of its own: for the bigger ones, which inlining would copy about."""
    return numba.njit(_nrt=False, **_INSIDE)(function)


def maker(function):
    """Compile a shared piece that makes arrays, which is all that it should do."""
    return numba.njit(**_INSIDE)(function)
