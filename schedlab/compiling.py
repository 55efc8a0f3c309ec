"""What happens when a kernel is used that is not compiled yet: words, and work ahead.

Kernels are compiled once for each machine and version. Whoever did not do so ahead (`schedlab compile`) is told once
what is waited for, and about how long. Meanwhile another process compiles the other kernels, likely ones first.
"""

import atexit
import os
import subprocess
import sys
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
    """Hears of every function that numba begins to compile, in any thread; heeds the first kernel."""

    def __init__(self):
        self.lock, self.told = Lock(), False

    def on_start(self, event):
        module = event.data["dispatcher"].py_func.__module__ or ""
        with self.lock:
            if self.told or not module.startswith(KERNELS):
                return
            self.told = True
        group = GROUPS.get(module.removeprefix(KERNELS).partition(".")[0], "others")
        words = f"compiling kernels ({group}), about {SECONDS[group]} s; others are compiled meanwhile"
        print(f"schedlab: {words}. `schedlab compile` does all of it ahead, once.", file=sys.stderr, flush=True)
        _compile_ahead([other for other in SECONDS if other != group])

    def on_end(self, event):
        pass


def _compile_ahead(groups):
    """Compile groups in another process, which ends with this one."""
    here = str(Path(__file__).parents[1])
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", f"{__package__}.precompile", *groups]
    nowhere = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    atexit.register(subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, **nowhere).kill)


def not_here() -> None:
    """Let this process compile in silence and nothing but what it uses: it is there to compile, or to test."""
    _listener.told = True


_listener = _Listener()
event.register("numba:compile", _listener)
