"""Ctrl-C ends simulations within a second, wherever they run."""

import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import processes
import pytest

import schedlab as sl
from schedlab._runtime.threads import abandonable, interruptible, pool
from schedlab.schedule import laws, places

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends signals")


def spin(begun, halt):
    """Do what a kernel does when it is told to halt."""
    begun.set()
    while not halt[0]:
        time.sleep(0.001)
    return "of no use"


@pytest.mark.reduced
def test_a_kernel_gets_its_arguments_and_a_flag_that_is_not_set_and_what_it_raises_is_raised():
    def kernel(a, b, halt):
        return a // b, halt.tolist()

    with pool(1) as executor:
        for call in (interruptible, lambda *arguments: executor.submit(interruptible, *arguments).result()):
            assert call(kernel, 6, 2) == (3, [0])
            with pytest.raises(ZeroDivisionError):
                call(kernel, 1, 0)


@pytest.mark.reduced
def test_a_kernel_does_not_run_in_the_main_thread():
    def identities():
        return threading.get_ident(), interruptible(lambda halt: threading.get_ident())

    ours, kernels = identities()
    assert ours != kernels
    with pool(1) as executor:
        ours, kernels = executor.submit(identities).result()
    assert ours == kernels


@pytest.mark.reduced
def test_a_signal_ends_a_kernel_that_runs_beside_the_main_thread():
    begun, ended = threading.Event(), []
    with interrupted(begun):
        interruptible(lambda halt: ended.append(spin(begun, halt)))
    assert ended == ["of no use"]


@contextmanager
def interrupted(begun):
    """Send Ctrl-C to the main thread when the event comes, and expect it to end what runs there."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    main = threading.main_thread().ident
    timer = threading.Thread(target=lambda: begun.wait(60) and signal.pthread_kill(main, signal.SIGINT))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGINT, before)
        timer.join()


@pytest.mark.reduced
def test_a_kernel_without_a_flag_gives_its_result_from_any_thread():
    assert abandonable(lambda a, b: a + b, 1, 2) == 3
    with pool(1) as executor:
        assert executor.submit(abandonable, lambda a: a, 1).result() == 1
    found = []
    own = threading.Thread(target=lambda: found.append(abandonable(threading.get_ident) == threading.get_ident()))
    own.start()
    own.join()
    assert found == [True]


class Deaf:
    """A kernel that ignores everything until it is allowed to end."""

    def __init__(self):
        self.begun, self.may_end, self.threads = threading.Event(), threading.Event(), []

    def __call__(self, *_):
        self.threads.append(threading.current_thread())
        self.begun.set()
        self.may_end.wait(60)


@pytest.mark.reduced
def test_a_kernel_without_a_flag_is_left_alone():
    deaf = Deaf()
    with interrupted(deaf.begun):
        abandonable(deaf)
    assert abandonable(int) == 0  # another thread runs the next kernel
    deaf.may_end.set()
    deaf.threads[0].join(60)
    assert not deaf.threads[0].is_alive()


@pytest.mark.reduced
def test_what_ends_a_pool_does_not_wait_for_a_kernel_without_a_flag():
    deaf = Deaf()

    def broken():
        with pool(1) as executor:
            executor.submit(abandonable, deaf)
            deaf.begun.wait()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken()
    assert not deaf.may_end.is_set()
    deaf.may_end.set()


@pytest.mark.parametrize(
    ("room", "kernel", "use"),
    [
        (places, "assign_processors", lambda trace: sl.simulate(trace).processors()),
        (places, "assign_processors", lambda trace: sl.simulate(trace, "ojs").processors()),
        (laws, "replay", lambda trace: sl.simulate(trace, "ojs").validate()),
    ],
)
def test_control_c_ends_what_follows_a_simulation(monkeypatch, room, kernel, use):
    deaf = Deaf()
    monkeypatch.setattr(room, kernel, deaf)
    with interrupted(deaf.begun):
        use(sl.model_trace("lublin", jobs=30, machine=16, seed=1).with_parameter_sweeps(0.5))
    deaf.may_end.set()


@pytest.mark.reduced
def test_what_ends_a_pool_ends_the_kernels_that_run_in_it_and_in_pools_within_it():
    begun = [threading.Event() for _ in range(2)]

    def within(event):
        with pool(1) as inner:
            return inner.submit(interruptible, spin, event).result()

    running = []

    def broken():
        with pool(2) as executor:
            running.extend([executor.submit(interruptible, spin, begun[0]), executor.submit(within, begun[1])])
            for event in begun:
                event.wait()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken()
    assert [type(one.exception()) for one in running] == [KeyboardInterrupt, KeyboardInterrupt]


@pytest.mark.reduced
def test_what_ends_a_pool_within_another_leaves_the_other_alone():
    def within():
        with pool(1):
            raise ZeroDivisionError

    with pool(2) as executor:
        begun = threading.Event()
        spins = executor.submit(interruptible, lambda halt: begun.wait() and halt.tolist())
        assert isinstance(executor.submit(within).exception(), ZeroDivisionError)
        begun.set()
        assert spins.result() == [0]


PATIENCE = 15  # seconds; on a busy machine

# Each of these would take minutes.
LONG = """
import signal, sys, time, traceback
import schedlab as sl
from schedlab import gang
sys.path.insert(0, sys.argv[1])
from workloads import trace_of

def hear(*_):
    global heard
    heard = time.process_time()
    raise KeyboardInterrupt

signal.signal(signal.SIGINT, hear)
busy = sl.model_trace("lublin", jobs=60_000, machine=1024, seed=1).scale_load(90)
sweeps = busy.head(20_000).with_parameter_sweeps(0.3, min_procs=2, seed=1)
moldable = busy.head(30_000).with_speedup(sl.Downey(), seed=1)
even = [(2, 5, 10, 2 + 2 * (i % 20)) for i in range(60)]  # no set of them fills an odd hole
puzzle = trace_of([(0, 10**6, 10**6, 2), (1, 5, 5, 101), *even], 101)
runs = {
    "conservative": lambda jobs: sl.simulate(busy.head(jobs), "conservative"),
    "rebuild": lambda jobs: sl.simulate(busy.head(jobs), sl.Conservative(compression="rebuild")),
    "easy": lambda jobs: sl.simulate(busy.head(jobs), sl.EASY(order="wfp3")),
    "search": lambda jobs: sl.simulate(puzzle.head(jobs), sl.DPSA(search="depth-first")),
    "tree": lambda jobs: sl.simulate(busy.head(jobs), sl.EASY("wfp3", shadow="block"), machine=sl.KaryTree(2, 10)),
    "shredding": lambda jobs: sl.simulate(sweeps.head(jobs), sl.OpportuneShredding(local="conservative")),
    "iterative": lambda jobs: sl.simulate(moldable.head(jobs), "iterative"),
    "greedy": lambda jobs: sl.simulate(moldable.head(jobs), "greedy"),
    "sweep": lambda jobs: sl.sweep(busy.head(jobs), "conservative", [80, 85, 90], threads=2, progress=False),
    "many": lambda jobs: sl.simulate_many([(busy.head(jobs), "conservative")] * 3, threads=2),
    "gang": lambda jobs: gang.simulate(gang.Workload("msg", pes=256, horizon=100 * jobs), "spin-block"),
}
for name, run in runs.items():
    run(5)  # with its kernel compiled
    where = set()
    while not where:  # interrupted before the kernel had begun: once more
        print(name, flush=True)
        try:
            run(60_000)
            print("done", flush=True)
        except KeyboardInterrupt as error:
            seconds, steps = time.process_time() - heard, traceback.extract_tb(error.__traceback__)
            kernel_or_pools = {"interruptible", "result_iterator", "_retrieve"}
            where = {step.name for step in steps} & kernel_or_pools
            print("interrupted", seconds, flush=True)
"""


INTERRUPTED = """
import random, signal, time
from schedlab._runtime import threads

def kernel(halt):
    end = time.monotonic() + 0.002
    while time.monotonic() < end and not halt[0]:
        time.sleep(0.0002)

def interrupt(*_):
    raise KeyboardInterrupt

threads.MOMENT = 1e-6  # so that it waits in Python's steps most of the time, between which signals are handled
signal.signal(signal.SIGALRM, interrupt)
count, drawn = 0, random.Random(1)
for _ in range(1000):
    try:
        signal.setitimer(signal.ITIMER_REAL, drawn.uniform(1e-5, 0.003))
        threads.interruptible(kernel)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        count += 1
print(count)
"""


def test_an_interrupt_at_any_step_leaves_nothing_locked():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120)
    assert int(done.stdout) > 100, done.stderr


def test_control_c_ends_any_simulation_within_a_second():
    late, pause = {}, 0.1
    with processes.start(LONG, Path(__file__).parents[1]) as process:
        for line in process.stdout:
            pause = 2 * pause if line.strip() in late else 0.1
            time.sleep(pause)
            assert process.poll() is None
            sent = time.monotonic()
            process.send_signal(signal.SIGINT)
            word, seconds = process.stdout.readline().split()
            assert word == "interrupted", line
            assert time.monotonic() - sent < PATIENCE, line
            late[line.strip()] = float(seconds)
    assert process.returncode == 0
    assert len(late) == 11
    assert max(late.values()) < 2, late  # seconds of the processor, since others may be at work too
