"""Python processes that start fast: forked from one that has loaded pandas and numba, but nothing of the package.

A new interpreter takes 0.4 s of the processor to load these, and as much again until numba can load its first kernel.
A kernel of Jupyter takes 0.5 s more to load its own modules and Altair.
"""

import atexit
import builtins
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from threading import Thread, Timer
from types import ModuleType

COMMAND = "import sys; from schedlab.cli import main; sys.exit(main())"
# NumPy and Arrow start threads when they are loaded, beside which a process should not fork.
WITHOUT_THREADS = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
seconds = 0.0  # of the processor, of the processes that have ended
_started = set()  # and not ended


def run(code, *arguments, **settings):
    """Run Python code in a process and return what it prints; a process that fails is an error."""
    with start(code, *arguments, **settings) as process:
        out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return out


def start(code, *arguments, cwd=None, env=None, stdout=subprocess.PIPE, stderr=subprocess.PIPE, new=False, loaded=()):
    """Start a process that runs Python code, and return it as `subprocess` would; what it prints is text.

    It may be forked from a process that has also `loaded` other modules.

    Forked processes have the same seed of hashes, and objects at the same addresses: let one of them be `new`, an
    interpreter of its own, if they have to agree on keys. So must one in whose environment are settings of Python or
    numba, which read them when they are loaded.
    """
    if sys.platform == "linux" and not new:
        return _Forked(code, arguments, cwd, env, (stdout, stderr), loaded)
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, cwd=cwd, env=env, stdout=stdout, stderr=stderr, text=True)


class _Forked:
    """The part of `subprocess.Popen` that the tests and Jupyter use."""

    stdin = None

    def __init__(self, code, arguments, cwd, env, outputs, loaded):
        reading, writing = zip(*(os.pipe() for _ in range(3)), strict=True)
        self._report, self.stdout, self.stderr = map(os.fdopen, reading)
        given = [code, [*map(str, arguments)], os.path.abspath(cwd or "."), {**(os.environ if env is None else env)}]
        ends = [
            end if output == subprocess.PIPE else output if isinstance(output, int) else output.fileno()
            for output, end in zip(outputs, writing[1:], strict=True)
        ]
        socket.send_fds(_parent(*loaded), [json.dumps(given).encode()], [writing[0], *ends])
        for end in writing:
            os.close(end)
        self.code, self.returncode, self.pid = code, None, int(self._report.readline())
        _started.add(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wait()
        self.stdout.close()
        self.stderr.close()

    def poll(self):
        return self.wait() if self._report.closed or select.select([self._report], [], [], 0)[0] else None

    def wait(self):
        global seconds
        if self.returncode is None:
            status, took = self._report.readline().split()
            self.returncode = os.waitstatus_to_exitcode(int(status))
            seconds += float(took)
            self._report.close()
            _started.discard(self)
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self, timeout=600):
        said, late = [], []
        clock = Timer(timeout, lambda: late.append(True) or self.kill())
        beside = Thread(target=lambda: said.append(self.stderr.read()))
        clock.start()
        beside.start()
        out = self.stdout.read()
        beside.join()
        clock.cancel()
        self.__exit__()
        if late:
            raise subprocess.TimeoutExpired(self.code, timeout, out, *said)
        return out, *said

    def kill(self):
        """Kill the process and those that it has started, which may hold the other ends of what is read here."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


@cache
def _parent(*loaded):
    """Start the process that is forked and return the connection to it; one that has `loaded` more is itself forked."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if loaded:
        socket.send_fds(_parent(), [json.dumps(loaded).encode()], [there.fileno()])
        atexit.register(here.close)
    else:
        env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # each process has its own
        command = [sys.executable, __file__, str(there.fileno())]
        parent = subprocess.Popen(command, pass_fds=[there.fileno()], env=env | WITHOUT_THREADS)
        atexit.register(_end, here, parent)
    there.close()
    return here


def _end(connection, parent):
    """Kill what a failed test has left behind, and end the process that is forked."""
    for process in _started:
        process.kill()
    connection.close()
    parent.wait()


def _serve(connection):
    """Fork at each request. A new process returns, with what it shall run, or loads modules and serves in turn."""
    gc.freeze()
    while True:
        message, files, *_ = socket.recv_fds(connection, 1 << 20, 3)
        if not message:
            break
        if os.fork() == 0:
            connection.close()
            given, (one, *streams) = json.loads(message), files
            if streams:
                return given, *_watched(one, *streams)
            for name in given:
                import_module(name)
            return _serve(socket.socket(fileno=one))
        for file in files:
            os.close(file)
        while _waited(os.WNOHANG):
            pass
    while _waited(0):
        pass
    sys.exit()


def _waited(how):
    """Tell whether a process has ended; its time counts as of this one then."""
    try:
        return os.waitpid(-1, how)[0]
    except ChildProcessError:
        return False


def _watched(report, *streams):
    """Fork, return in the new process, and report here how it ends."""
    if (pid := os.fork()) == 0:
        os.close(report)
        os.setpgid(0, 0)
        return streams
    for stream in streams:
        os.close(stream)
    with suppress(PermissionError):  # it has done so itself, and runs another program now
        os.setpgid(pid, pid)  # in both, so that nobody sees it before
    os.write(report, f"{pid}\n".encode())
    ended, poll = os.pidfd_open(pid), select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(report, 0)  # tells of an error as soon as nobody can read what is reported
    if ended not in dict(poll.poll()):
        os.killpg(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    with suppress(BrokenPipeError):
        os.write(report, f"{status} {usage.ru_utime + usage.ru_stime}\n".encode())
    os._exit(0)


def _become(code, arguments, folder, env, streams):
    """Make this process look as if Python had been started with the option -c."""
    for number, (name, stream) in enumerate(zip(("stdout", "stderr"), streams, strict=True), 1):
        os.dup2(stream, number)
        os.close(stream)
        buffering = 1 if number == 2 or env.get("PYTHONUNBUFFERED") else -1
        setattr(sys, name, os.fdopen(number, "w", buffering, errors="strict" if number == 1 else "backslashreplace"))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # The state that all of NumPy shares would be that of the process it is forked from. No Generator can replace it.
    numpy.random.seed()  # noqa: NPY002
    sys.argv = ["-c", *arguments]
    sys.path[:1] = ["", *filter(None, env.get("PYTHONPATH", "").split(os.pathsep))]
    sys.dont_write_bytecode = bool(env.get("PYTHONDONTWRITEBYTECODE"))
    sys.modules["__main__"] = main = ModuleType("__main__")
    main.__builtins__ = builtins
    exec(code, vars(main))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import numba
    import numpy

    import_module("pandas")
    numba.njit(lambda: 0)()  # loads what any compiled function needs
    gc.set_threshold(2_000, 20, 100)  # as in the tests themselves
    given, *streams = _serve(socket.socket(fileno=int(sys.argv[1])))
    _become(*given, streams)
