"""The command `cache`: what schedlab keeps on the disk of the user."""

import shutil
import sys

import pandas as pd

from schedlab._runtime.paths import cache_dir
from schedlab.cli.tables import print_table

ROOMS = {
    "numba": "compiled kernels",
    "traces": "logs of the archive",
    "tables": "logs as they were read",
    "scripts": "scripts of charts",
    "runs": "results of runs of the papers",
}
LOGS = "traces"  # which would have to be fetched again


def cache(options):
    """Show what is kept on disk, where, and how large it is; or delete some of it.

    What is missing is compiled, read or simulated again. Logs of the archive are deleted only if they are named.
    """
    if options.clear is not None:
        for room in options.clear or [room for room in ROOMS if room != LOGS]:
            count, size = _held(room)
            if cache_dir(room).exists():
                shutil.rmtree(cache_dir(room))
            if not options.quiet:
                print(f"deleted: {room}, {count:,} files, {size:.1f} MB", file=sys.stderr)
        return
    rows = [(room, content, *_held(room)) for room, content in ROOMS.items()]
    print(cache_dir(LOGS).parent)
    print_table(pd.DataFrame(rows, columns=["room", "what is kept", "files", "MB"]))


def _held(room):
    """Count the files of a room, and their size in MB."""
    files = [path for path in cache_dir(room).rglob("*") if path.is_file()]
    return len(files), sum(path.stat().st_size for path in files) / 1e6
