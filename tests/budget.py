"""Time budgets of the tests: a test that takes too long fails, and so does the suite if all together do.

Budgets count processor seconds of the test and of the processes that it started and waited for, so other load on the
machine matters little. Compiling by numba is not counted. A budget is the time that the test takes on the machine named
below. The test fails beyond `PATIENCE` times as much, and later still on a slower machine.
"""

import os
import time
from functools import cache

import processes
import pytest

PATIENCE = 10  # a busy machine has made tests take four times as long; what this finds is a mistake in a test
DEFAULT = 4
BUDGETS = {
    "test_conformance.py::test_what_is_written_of_mistakes_is_what_the_library_gives": 16,  # 150 schedulers, 58 logs
    "test_notebooks.py::test_runs_and_draws_and_its_ledger_is_what_is_kept": 30,  # in a kernel each, as users run them
    "test_report.py::test_papers_are_rebuilt_in_processes_of_their_own_to_the_same_page": 8,  # two papers, twice
    "test_report.py::test_the_whole_report_is_under_4_mb": 60,  # draws every figure twice, for its card and its tile
    "test_compiled.py::test_it_is_kept_until_what_it_uses_changes": 8,  # two schemes are compiled
    "test_precompile.py::test_schemes_run_with_no_proven_release_and_without_what_numba_may_drop": 8,  # the usual way
    "test_testing.py::test_planted_bugs_of_compiled_schemes_are_refused_and_the_process_goes_on": 12,  # compiled twice
    # An endless loop runs until it is noticed, and again for each smaller workload.
    "test_testing.py::test_what_ends_its_process_or_never_ends_is_shown_with_the_smallest_workload": 12,
    "test_testing.py::test_a_planted_bug_is_refused_by_the_check_that_names_it": 12,
    "test_sabin2006.py::test_the_ledger_has_every_target": 10,  # every reading, on whole small logs
    "test_gang.py::test_programs_of_ones_own_are_those_of_the_twin": 6,
    "test_readme.py::test_the_code_of_the_guide_runs": 6,  # in a process of its own, as users run it
}
# All of them, as `make test` runs them: about seven minutes on two cores, of which a third judge wrong schedulers.
SUITE, SUITE_PATIENCE = 800, 5
REFERENCE = 0.015  # seconds that `_errand` takes on an AMD EPYC at 2.6 GHz
# Budgets are those of kernels compiled as usual. The process that distributes the tests loads neither Numba nor NumPy.
HELD = all(os.environ.get(f"NUMBA_{mode}", "") in ("", "0") for mode in ("DISABLE_JIT", "BOUNDSCHECK"))
HELD = HELD and os.environ.get("SCHEDLAB_PIECES") != "0"

BEGAN = pytest.StashKey()


def of(nodeid: str) -> float:
    """Return the budget of a test: by its file and name, with or without its parameters."""
    name = nodeid.rpartition("/")[2]
    return BUDGETS.get(name, BUDGETS.get(name.partition("[")[0], DEFAULT))


def spent() -> float:
    """Return the processor's seconds of this process and of all that it waited for, without those of compiling."""
    return sum(os.times()[:4]) + processes.seconds - (getattr(_compiling(), "_duration", 0) if HELD else 0)


@cache
def _compiling():
    from numba.core import event

    listener = event.TimingListener()
    event.register("numba:compile", listener)
    return listener


def slowness() -> float:
    """Return how much longer than on the reference machine a fixed errand takes here and now: a factor, at least 1."""
    return max(1.0, min(_errand() for _ in range(5)) / REFERENCE)


def _errand():
    import numpy as np

    begin = time.thread_time()
    total = 0
    for number in range(200_000):
        total += number * number % 7
    np.sort(np.random.default_rng(total).random(100_000))
    return time.thread_time() - begin


def pytest_collection_modifyitems(items):
    """Run the longest tests first, so that all workers end together."""
    items.sort(key=lambda item: of(item.nodeid), reverse=True)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item):
    item.stash[BEGAN] = spent(), time.monotonic()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item):
    result = yield
    # Browser tests are left out: JupyterLab and chromium end with the last of them, and would be counted there.
    if HELD and "browser" not in item.keywords:
        before, began = item.stash[BEGAN]
        took = spent() - before
        item.user_properties.append(("processor_seconds", took))
        # Processes of an earlier test that end only now, such as idle workers, are counted here. This test and its
        # processes cannot have used more than the elapsed time on every core.
        _check(item.nodeid, min(took, (time.monotonic() - began) * os.cpu_count()))
    return result


def _check(nodeid, took):
    most = PATIENCE * of(nodeid)
    if took > most and took > most * (slower := slowness()):
        pytest.fail(
            f"{nodeid} took {took:.1f} s of the processor, expected at most {PATIENCE} times its budget of "
            f"{of(nodeid):g} s{f', and {slower:.1f} times that on this machine' if slower > 1 else ''}: make it "
            "cheaper, or say in tests/budget.py why it needs more",
            pytrace=False,
        )


class Sum:
    """The time of all tests together; under xdist, kept in the process that distributes them."""

    def __init__(self):
        self.took = 0.0

    def pytest_runtest_logreport(self, report):
        self.took += sum(took for name, took in report.user_properties if name == "processor_seconds")

    def most(self):
        return SUITE * SUITE_PATIENCE * (slowness() if self.took > SUITE * SUITE_PATIENCE else 1)

    def pytest_sessionfinish(self, session):
        if self.took > self.most() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        if self.took >= 1:
            terminalreporter.write_line(f"{self.took:.0f} s of the processor, of {SUITE} s in the budget")
        if self.took > self.most():
            terminalreporter.write_line(
                f"FAILED: the tests took {self.took:.3g} s of the processor, expected at most {self.most():.3g} s: "
                "see --durations=30, and tests/budget.py",
                red=True,
            )


def pytest_configure(config):
    if HELD and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Sum())
