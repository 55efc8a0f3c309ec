"""Python processes of the tests' own interpreter."""

import subprocess
import sys

# A shell lets what it runs in the background ignore Ctrl-C; so would these processes.
COMMAND = """import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from schedlab.cli import main
sys.exit(main())"""


def run(code, *arguments, **settings):
    """Run Python code in a process and return what it prints; a process that fails is an error."""
    with start(code, *arguments, **settings) as process:
        out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return out


def start(code, *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **settings):
    """Start a process that runs Python code; what it prints is text."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=stdout, stderr=stderr, text=True, **settings)
