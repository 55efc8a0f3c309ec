"""Run a scheme in a process of its own first: with another seed of hashes, and compiled code with bounds checking.

What would end the process, or never end, is found there. The process of the caller follows: it simulates a workload
only after the other process has (`Apart.answer_to`).
"""

import dis
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from schedlab.schemes import Case, Outcome, Scheme
from schedlab.schemes.compiled import CompiledScheme

from .shrinking import smallest
from .workloads import MOST_JOBS, Workload

# Seconds for a tiny and for a realistic workload; for starting and compiling; for ending after the last answer.
PATIENCE, COMPILING, ENDING = (20, 100), 300, 5
SEEDS = ("1", "2")  # of hashes; the other one is taken if this process has it
CODE = """
import sys
import numba
numba.config.BOUNDSCHECK = 1 if sys.argv[1] == "checked" else numba.config.BOUNDSCHECK
from schedlab.testing.apart import serve
serve(sys.argv[2])
"""
EXTRA = 50  # workloads before the one that only the other process simulates
# Of the search for the smallest workload that loses the process: seconds in all, and after which a simulation counts as
# one that does not end; the exit code of a copy of the process that comes to the end of its simulation.
SHRINKING, MOMENT, DONE = 12, 1.0, 99


class Lost(Exception):
    """The other process ended, or does not answer, at a workload; the message says how.

    `code` is its exit code; None if it did not end.
    """

    workload = code = None


class Beyond(NamedTuple):
    """Compiled code used an index outside its array: what was raised, and the smallest workload that shows it."""

    words: str
    workload: Workload


def launch(checked: bool, path: str) -> subprocess.Popen:
    """Start the other process on a file of scheme and workloads: a new interpreter with another seed of hashes.

    If `checked`, its compiled code checks that indices lie within their arrays.
    """
    seed = next(seed for seed in SEEDS if os.environ.get("PYTHONHASHSEED") != seed)
    folders = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-c", CODE, "checked" if checked else "as usual", path]
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": folders}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)


class Apart:
    """The other process of a check, which simulates the workloads in their order.

    The scheme must be picklable by cloudpickle. With `extra`, other jobs are simulated among them, so that a scheme
    that remembers jobs differs from here. With `lost`, the answer for a workload is the smallest one that loses the
    process in the same way.
    """

    def __init__(self, scheme: Scheme, workloads: list[Workload], extra: bool = True, lost: Lost | None = None):
        import cloudpickle  # here, as only schemes of one's own need it

        self._left = list(workloads)
        if extra:
            self._left.insert(EXTRA, _other_jobs())
        # How a copy of the process ends if it is lost in the same way.
        code = lost and (-signal.SIGALRM if lost.code is None else lost.code)
        content = cloudpickle.dumps((scheme, self._left, code))
        with tempfile.NamedTemporaryFile(delete=False) as file:
            pickle.dump((sys.path, os.getcwd(), content), file)
        self._path, self._answers, self._ready = file.name, queue.SimpleQueue(), False
        self._patience = PATIENCE if lost is None else (2 * SHRINKING, 2 * SHRINKING)
        self._process = launch(is_checked(scheme), file.name)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        while True:
            try:
                self._answers.put(pickle.load(self._process.stdout))
            except Exception:  # it has ended, perhaps within an answer
                self._answers.put(None)
                return

    def answer_to(self, workload: Workload) -> np.ndarray | str | Beyond | Workload:
        """Return the starts of a workload, or what was raised, as text; those before it are passed over.

        Raises `Lost` if the process has ended, or takes too long.
        """
        while True:
            if not self._ready:
                self._next(self._left[0], COMPILING)
                self._ready = True
            current = self._left.pop(0)
            answer = self._next(current, self._patience[len(current) > MOST_JOBS])
            if current is workload:
                return answer

    def _next(self, workload, patience):
        try:
            answer, lost = self._answers.get(timeout=patience), None
        except queue.Empty:
            answer, lost = None, Lost(f"does not end: it was stopped after {patience} s")
        if answer is None:
            if lost is None:  # it is about to end: how it does is not to be that it was killed here
                end = time.monotonic() + ENDING
                while self._process.poll() is None and time.monotonic() < end:
                    time.sleep(0.01)
            self.close()
            if lost is None:
                code = self._process.returncode
                lost = Lost(f"ends the process of Python ({f'signal {-code}' if code < 0 else f'exit code {code}'})")
                lost.code = code
            lost.workload = workload
            raise lost
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self._process.stdout.close()
        with suppress(OSError):
            os.remove(self._path)


def is_checked(scheme: Scheme) -> bool:
    """Tell whether a scheme runs compiled code of the user's, whose indices are to be checked."""
    return isinstance(scheme, CompiledScheme)


def serve(path: str) -> None:
    """Simulate the workloads in a file, and write the starts to standard output: the work of the other process."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the scheme prints is no answer
    with open(path, "rb") as file:
        sys.path[:], folder, content = pickle.load(file)
    os.chdir(folder)
    scheme, workloads, exit_code = pickle.loads(content)
    if isinstance(scheme, CompiledScheme):
        with suppress(BaseException):  # the first simulation fails in the same way, and its failure is reported
            scheme.compile(workloads[0].case)
    _answer(answers, "ready")
    for workload in workloads:
        if exit_code is not None:
            _answer(answers, smallest(lambda smaller: exit_code == _ending(scheme, smaller), workload, SHRINKING))
        else:
            _answer(answers, _checked(scheme, workload) if is_checked(scheme) else simulated(scheme, workload))
    answers.close()
    os._exit(0)


def smallest_lost(scheme: Scheme, lost: Lost) -> Workload:
    """Return the smallest workload that loses the process as another did; that one if there is none, or no fork."""
    if not hasattr(os, "fork"):
        return lost.workload
    other = Apart(scheme, [lost.workload], extra=False, lost=lost)
    try:
        return other.answer_to(lost.workload)
    except Lost:
        return lost.workload
    finally:
        other.close()


def _ending(scheme, workload):
    """Return the exit code of a copy of this process that simulates a workload; -SIGALRM if it does not end."""
    copy = os.fork()
    if copy:
        return os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # which ends the process
    signal.setitimer(signal.ITIMER_REAL, MOMENT)
    simulated(scheme, workload)
    os._exit(DONE)


def _checked(scheme, workload):
    """Return the starts, or the smallest workload in which an index lies outside its array."""

    def is_beyond(each):
        answer = simulated(scheme, each)
        return isinstance(answer, str) and answer.startswith("IndexError")

    answer = simulated(scheme, workload)
    if not (isinstance(answer, str) and answer.startswith("IndexError")):
        return answer
    return Beyond(f"an index lies outside its array: {answer}", smallest(is_beyond, workload))


def _answer(answers, value):
    pickle.dump(value, answers)
    answers.flush()


def _other_jobs():
    """Return jobs that nothing else simulates; what a scheme remembers of them is wrong for all other jobs."""
    counted = np.arange(60)
    rows = np.column_stack([counted // 20, 7 + counted % 9, 7 + counted * 5 % 31, 1 + counted * 3 % 5])
    rows[:, 1] = np.minimum(rows[:, 1], rows[:, 2])
    return Workload(rows, 6)


def simulated(scheme: Scheme, workload: Workload) -> np.ndarray | str:
    """Return the starts of a workload under a scheme; what was raised, as text, if the scheme fails."""
    outcome = attempted(scheme, workload.case)
    return outcome if isinstance(outcome, str) else outcome.start


def attempted(scheme: Scheme, case: Case) -> Outcome | str:
    """Return the outcome of a case; what was raised, as text, if the scheme fails.

    A scheme may raise anything, also what ends a process: only an interrupt from outside, by the user, goes on.
    """
    try:
        return scheme.outcome(case)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not _is_raised_by_a_statement(error):
            raise
        try:
            return f"{type(error).__name__}: {error}"
        except BaseException as second:
            return f"{type(error).__name__}, whose text cannot be made: {type(second).__name__}"


def _is_raised_by_a_statement(error):
    """Tell whether an interrupt comes from ``raise``: one from outside comes at any other instruction."""
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    return dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] == "RAISE_VARARGS"
