"""What happens when a kernel is used that is not compiled yet: words, and work ahead.

Kernels are compiled once for each machine and version. Whoever did not do so ahead (`schedlab compile`) is told, once
for each group, what is waited for and about how long. Meanwhile another process compiles the others, likely ones first.
"""

import atexit
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock

from numba.core import event

# What is compiled together, likely groups first, and about how many seconds each takes.
SECONDS = {
    "rigid": 6,
    "others": 3,
    "conservative": 6,
    "lookahead": 5,
    "trees": 8,
    "moldable": 12,
    "shredding": 10,
    "gang": 14,
}
# The group of a kernel, by its module; all others are in "others".
GROUPS = {
    "easy": "rigid",
    "fcfs": "rigid",
    "conservative": "conservative",
    "lookahead": "lookahead",
    "placement": "trees",
    "tree_nodes": "trees",
    "moldable": "moldable",
    "iterative": "moldable",
    "shredding": "shredding",
    "gang": "gang",
}
KERNELS = f"{__package__}.kernels."


class _Listener(event.Listener):
    """Hears of every function that numba begins to compile, in any thread; heeds the first kernel of each group."""

    def __init__(self):
        self.lock, self.silent, self.told = Lock(), False, set()

    def on_start(self, event):
        module = event.data["dispatcher"].py_func.__module__ or ""
        group = GROUPS.get(module.removeprefix(KERNELS).partition(".")[0], "others")
        with self.lock:
            if self.silent or group in self.told or not module.startswith(KERNELS):
                return
            first = not self.told
            self.told.add(group)
        if not first and group == "others":  # small ones, of less than a second each
            return
        words = f"schedlab: compiling kernels ({group}), about {SECONDS[group]} s"
        if first:
            words += "; others are compiled meanwhile. `schedlab compile` does all of it ahead, once."
        print(words, file=sys.stderr, flush=True)
        if first:
            with suppress(OSError):  # what cannot be begun is compiled when it is used
                _compile_ahead([other for other in SECONDS if other != group])

    def on_end(self, event):
        pass


def _compile_ahead(groups):
    """Compile groups in another process, which ends with this one."""
    here = str(Path(__file__).parents[1])
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    # -P: nothing is taken from the user's folder, where a file may have the name of a module.
    command = [sys.executable, "-P", "-m", f"{__package__}.precompile", *groups]
    nowhere = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    atexit.register(subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, **nowhere).kill)


def not_here() -> None:
    """Let this process compile in silence and nothing but what it uses: it is there to compile, or to test."""
    _listener.silent = True


_listener = _Listener()
event.register("numba:compile", _listener)
