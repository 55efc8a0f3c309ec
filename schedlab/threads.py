"""Pools of threads that end when they are told to."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


@contextmanager
def pool(threads: int | None = None) -> Iterator[ThreadPoolExecutor]:
    """Give a pool of threads, one for each core if left out; an exception leaves undone what has not begun.

    The executor's own context would do it all first: Ctrl-C would end a sweep after its last run.
    """
    executor = ThreadPoolExecutor(max_workers=os.cpu_count() if threads is None else threads)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)
