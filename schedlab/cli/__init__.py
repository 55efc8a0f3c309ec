"""The command line: `schedlab traces | show | simulate | compare | grid | figures | page | claims | compile`."""

import os
import re
import signal
import sys
import warnings
from contextlib import contextmanager
from threading import current_thread, main_thread

from schedlab._runtime.text import plain
from schedlab.cli.options import parser
from schedlab.workload import archive, frames
from schedlab.workload.filter import LoadWarning
from schedlab.workload.loading import SizeUnknown
from schedlab.workload.sacct import GpuWarning, PartitionWarning

WARNINGS = (LoadWarning, GpuWarning, PartitionWarning, frames.UnitWarning)  # printed as plain messages
FAILED, NOT_FOUND = 1, 3  # exit codes; argparse uses 2 for wrong usage


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return its exit code: 0 done, 1 failed, 2 wrong usage, 3 trace not found."""
    try:
        try:
            with _any_letter(), _ended_as_by_control_c(), _warnings_in_words():
                options = parser().parse_args(arguments)
                options.run(options)
        finally:
            print(end="", flush=True)  # here a closed pipe can still be handled, but not when Python ends
    except archive.TraceNotFound as error:
        return _fail(error, NOT_FOUND)
    except BrokenPipeError:
        _drop_output()
        return FAILED  # without a word: `schedlab traces | head` has what it wanted
    except OSError as error:
        _drop_output()
        return _fail(f"{error.filename or 'output'}: {error.strerror}" if error.strerror else error, FAILED)
    except SizeUnknown as error:
        return _fail(_with_options(str(error)), FAILED)
    except ValueError as error:
        return _fail(error, FAILED)
    except KeyboardInterrupt:
        return _fail("interrupted", FAILED)
    return 0


@contextmanager
def _any_letter():
    """Print ``?`` for a letter that the encoding of standard output lacks: an error would lose the whole result.

    Standard error needs no such care; Python escapes such letters there.
    """
    stream, before = sys.stdout, getattr(sys.stdout, "errors", None)
    if before not in ("strict", "surrogateescape") or not hasattr(stream, "reconfigure"):  # the user's choice; no file
        yield
        return
    stream.reconfigure(errors="replace")
    try:
        yield
    finally:
        stream.reconfigure(errors=before)


@contextmanager
def _ended_as_by_control_c():
    """Treat the signals that end a terminal or a batch job like Ctrl-C: workers end, and files are left whole."""
    numbers = {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}  # Windows has no SIGHUP
    usual = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]  # nohup ignores SIGHUP
    here = usual if current_thread() is main_thread() else []  # only the main thread may set handlers
    for number in here:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in here:
            signal.signal(number, signal.SIG_DFL)


def _with_options(message):
    """Name options of the command line where an error or a warning names arguments of a function."""
    message = message.replace("machine={name: processors, ...}", "--machine NAME=PROCESSORS,...")
    return re.sub(r"\b(machine|partition)=", r"--\1", message)


@contextmanager
def _warnings_in_words():
    """Print the package's warnings on standard error, each once and without its place in the source."""
    printed = set()

    def show(message, category, *place):
        if category not in WARNINGS:
            before(message, category, *place)
        elif str(message) not in printed:
            printed.add(str(message))
            print(f"schedlab: warning: {_with_options(str(message))}", file=sys.stderr)

    with warnings.catch_warnings():
        for category in WARNINGS:
            warnings.simplefilter("always", category)
        before, warnings.showwarning = warnings.showwarning, show
        yield


def _drop_output():
    """Discard what standard output still holds if writing it failed, or Python would fail again as it ends."""
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error, code):
    lines = [*str(error).split("\n"), *getattr(error, "__notes__", ())[:1]]  # the note names what could not be made
    print("schedlab: " + "\n".join(map(plain, lines)), file=sys.stderr)
    return code
