"""The two decorators of this room: `kernel` for entry points, `part` for the pieces they share.

Numba's disk cache notices an edit in the file of the cached function only, so a kernel would keep a stale
copy of a part that lives in another file. The cache folder is therefore keyed on a digest of every kernel
source. Numba fixes the folder when a function is decorated; its setting is put back at once, so the
user's own jitted functions are cached where they always were.
"""

import hashlib
from pathlib import Path

import numba

from schedlab.paths import cache_dir


def _digest() -> str:
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


CACHE = cache_dir("numba") / _digest()


def kernel(function):
    """Compile an entry point: cached on disk, and free of the interpreter lock so that threads scale."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(CACHE)
    try:
        return numba.njit(cache=True, nogil=True)(function)
    finally:
        numba.config.CACHE_DIR = before


def part(function):
    """Compile a shared piece of a kernel: always inlined, and without reference counting.

    A part works on arrays that its kernel holds and makes none of its own, so counting references to them is
    waste, and much of it: numba counts at every ``state.queue.key[i]`` on a tuple of arrays. Measured on EASY
    over whole logs: 14 times slower with counting (CTC 311 ms against 22), 1.4 to 1.7 times without inlining.
    """
    return numba.njit(forceinline=True, _nrt=False)(function)


def routine(function):
    """Compile a shared piece as a function of its own: for the bigger ones, which inlining would copy about."""
    return numba.njit(_nrt=False)(function)


def maker(function):
    """Compile a shared piece that makes arrays, which is all that it should do."""
    return numba.njit(forceinline=True)(function)
