"""The kernels in a browser: one WebAssembly module, made from the functions that Python calls, and its page.

`build.py` makes the module, in two forms: `kernels64.wasm` for browsers with 64-bit memory, `kernels.wasm` for all.
`kernels.mjs` calls it. `kernels.json` describes the arguments of each kernel, says whether it changes them, and has
digests of what the module was made from: the kernels, `build.py` and `runtime.c`.
"""

import json
from pathlib import Path

from schedlab._runtime.digests import digest
from schedlab.kernels.conservative import conservative
from schedlab.kernels.easy import easy
from schedlab.kernels.easy_depth import easy_depth
from schedlab.kernels.fcfs import fcfs
from schedlab.kernels.iterative import iterative
from schedlab.kernels.lookahead import lookahead
from schedlab.kernels.moldable import fair_share, greedy
from schedlab.kernels.pools_conservative import pools_conservative
from schedlab.kernels.pools_easy import pools_easy
from schedlab.kernels.pools_started_by import pools_started_by
from schedlab.kernels.processors import assign_processors
from schedlab.kernels.shredding import shredding
from schedlab.kernels.speedup import durations
from schedlab.kernels.started_by import started_by

HERE = Path(__file__).parent
FILES = ("build.py", "runtime.c")
SCHEMES = (fcfs, easy, easy_depth, conservative, lookahead, fair_share, greedy, iterative, shredding)
# Python makes the state that these change, and reads the results from it.
POOLS = (pools_easy, pools_conservative, pools_started_by)
KERNELS = {kernel.__name__: kernel for kernel in (*SCHEMES, assign_processors, started_by, durations, *POOLS)}


def description() -> dict:
    """Return what is known of the module: the digests, and of each kernel its arguments and what it returns."""
    return json.loads((HERE / "kernels.json").read_text(encoding="utf-8"))


def digests() -> dict[str, str]:
    """Return a digest of each kernel, with all that it uses, and of each file that the module is made from."""
    files = {name: digest((HERE / name).read_text(encoding="utf-8")) for name in FILES}
    return {name: digest(kernel) for name, kernel in KERNELS.items()} | files


def stale() -> list[str]:
    """Return the names of the kernels and files that have changed since the module was made."""
    known = description()["digests"]
    return [name for name, value in digests().items() if known.get(name) != value]
