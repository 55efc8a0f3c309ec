"""Messages and background work when a kernel is used that is not compiled yet.

Kernels are compiled once for each machine and version. Users who did not compile them in advance (`schedlab compile`)
get a message, once for each group, that says what is being compiled and about how long it takes. Meanwhile another
process compiles the other groups, likely ones first.
"""

import atexit
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import parent_process
from pathlib import Path
from threading import Lock

from numba import config

from .paths import cache_dir, own_folder
from .remarks import logger, progress

try:
    from numba.core.event import Listener, register
except ImportError:  # another release of numba: nobody is told then
    Listener, register = object, lambda *_: None

# Groups of kernels that are compiled together, likely groups first, with the approximate seconds for each.
SECONDS = {"rigid": 6, "others": 3, "conservative": 6, "lookahead": 5, "trees": 8, "plans": 10, "moldable": 12}
SECONDS |= {"shredding": 10, "gang": 14, "pools": 9}
# The group of a kernel, by its module; all others are in "others".
GROUPS = {"easy": "rigid", "fcfs": "rigid", "conservative": "conservative", "easy_depth": "conservative"}
GROUPS |= {"lookahead": "lookahead", "placement": "trees", "tree_nodes": "trees", "conservative_tree": "plans"}
GROUPS |= {"lookahead_tree": "plans", "moldable": "moldable", "iterative": "moldable", "shredding": "shredding"}
GROUPS |= {"gang": "gang", "pools_easy": "pools", "pools_conservative": "pools", "pools_started_by": "pools"}
PACKAGE = "schedlab"
KERNELS = f"{PACKAGE}.kernels."
USUAL_WAY = os.environ.get("SCHEDLAB_PIECES") == "0"  # compile kernels as numba does, not in pieces: for tests of that
OWN, OWN_SECONDS = f"{PACKAGE}.schemes.compiled", 6  # where schemes from users' own functions are made


class _Listener(Listener):
    """Is notified of every function that numba begins to compile, in any thread; reports each group's first kernel."""

    def __init__(self, tell):
        self.lock, self.tell, self.told, self.own = Lock(), tell, [], None

    def on_start(self, event):
        dispatcher = event.data["dispatcher"]
        function, module = dispatcher.py_func, dispatcher.py_func.__module__ or ""
        if self.own is not None or not dispatcher.targetoptions.get("nogil"):
            return  # a piece of that scheme, or of a kernel; or a policy, such as Slurm's, which takes no time
        if module == OWN:
            self.own = dispatcher
            self.tell(f"scheme {function.__name__}", False, True)
        elif module.startswith(KERNELS):
            self.hear(GROUPS.get(module.removeprefix(KERNELS).partition(".")[0], "others"))

    def hear(self, group, here=True):
        with self.lock:
            if group in self.told:
                return
            self.told.append(group)
            first = len(self.told) == 1
        if first or group != "others":  # the others are small: less than a second each
            self.tell(group, first, here)

    def on_end(self, event):
        if event.data["dispatcher"] is self.own:
            self.own = None


def _say(group, first, here):
    """Say what is being compiled. The first time, if it is compiled here, start a process that compiles the rest."""
    from tqdm import tqdm  # imported here, because it is not needed if everything is compiled

    what = f"kernels ({group})" if group in SECONDS else group
    message = f"schedlab: compiling {what}, about {SECONDS.get(group, OWN_SECONDS)} s"
    worker = parent_process() is not None  # one of many, which share what they compile
    if first and own_folder("numba") is None:
        message += f". {cache_dir('numba')} cannot keep them, so each process compiles them again."
    elif first and not worker:
        message += (
            f"; others {'meanwhile' if here else 'when needed'}. `schedlab compile` compiles all once, ahead of time."
        )
        if here:
            _compile_ahead([other for other in SECONDS if other != group])
    logger.info(message.removeprefix("schedlab: "))
    if progress():
        tqdm.write(message, sys.stderr)  # above a progress bar


def _compile_ahead(groups):
    """Compile groups in another process, which ends with this one."""
    here = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    # -P: import nothing from the user's folder, where a file may have the name of a module.
    command = [sys.executable, "-P", "-m", f"{__package__}.precompile", *groups]
    nowhere = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with suppress(OSError):  # a group that cannot be compiled now is compiled when it is used
        process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, **nowhere)
        atexit.register(_end, process)


def _end(process):
    process.kill()
    process.wait()


def hear(group: str) -> None:
    """Say, once, that a worker of this process is compiling a group.

    Nothing is compiled in advance: the workers occupy the cores, and compile what they need. Measured on two cores with
    an empty cache: the report takes 203 s this way, and 250 s beside a process that compiles in advance.
    """
    _listener.hear(group, here=False)


def tell(how: Callable[[str, bool, bool], None]) -> None:
    """Set a function that is told of each group that is being compiled, in place of printing a message.

    Its arguments are the name of the group, whether it is the first one, and whether this process compiles it. Nothing
    is compiled in advance.
    """
    _listener.tell = how


def not_here() -> None:
    """Make this process compile silently, and only what it uses: for processes that compile or test."""
    tell(lambda *_: None)


_listener = _Listener(_say)
register("numba:compile", _listener)


def target() -> tuple:
    """Return what machine code depends on besides sources: Python, whether the JIT is on, and the processor."""
    try:
        from numba.core.registry import cpu_target

        processor = cpu_target.target_context.codegen().magic_tuple()
    except (ImportError, AttributeError):  # another release of numba
        processor = platform.machine(), platform.node()
    return sys.implementation.cache_tag, config.DISABLE_JIT, *processor


def has_compiled() -> bool:
    """Tell whether this process has compiled a kernel of the package, rather than loaded it."""
    return bool(_listener.told)
