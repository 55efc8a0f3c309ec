"""The command line; `schedlab --help` lists the commands.

Results are printed on standard output, all else on standard error. What help needs is in `parsing`, which loads nothing
of the package; `options` has the options of the commands, `commands` and `cache` what they do.
"""

import os
import signal
import sys
import warnings
from contextlib import contextmanager
from threading import current_thread, main_thread

from schedlab._runtime.remarks import SchedlabWarning, progress
from schedlab._runtime.text import plain
from schedlab.cli.parsing import parse
from schedlab.cli.shell import in_shell

FAILED, INTERRUPTED = 1, 130  # exit codes; argparse uses 2 for wrong usage


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return its exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    before = progress()
    try:
        try:
            with _any_letter(), _ended_as_by_control_c(), _warnings_in_words():
                options = parse(sys.argv[1:] if arguments is None else arguments)
                if options is not None:
                    progress(before and not options.quiet)
                    options.run(options)
        finally:
            progress(before)
            print(end="", flush=True)  # here a closed pipe can still be handled, but not when Python ends
    except BrokenPipeError:
        _drop_output()
        return FAILED  # without a word: `schedlab traces | head` has what it wanted
    except OSError as error:
        _drop_output()
        return _fail(f"{error.filename or 'output'}: {error.strerror}" if error.strerror else error)
    except (ValueError, LookupError) as error:
        return _fail(error)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
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


@contextmanager
def _warnings_in_words():
    """Print the package's warnings on standard error, each once and without its place in the source."""
    printed = set()

    def show(message, category, *place):
        if not issubclass(category, SchedlabWarning):
            before(message, category, *place)
        elif str(message) not in printed:
            printed.add(str(message))
            print(f"schedlab: warning: {in_shell(str(message))}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", SchedlabWarning)
        before, warnings.showwarning = warnings.showwarning, show
        yield


def _drop_output():
    """Discard what standard output still holds if writing it failed, or Python would fail again as it ends."""
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error, code=FAILED):
    lines = [*str(error).split("\n"), *getattr(error, "__notes__", ())[:1]]  # the note names what could not be made
    print("schedlab: " + "\n".join(map(plain, map(in_shell, lines))), file=sys.stderr)
    return code
