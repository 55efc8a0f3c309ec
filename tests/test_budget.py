"""The budgets of the tests: a test that takes too long fails, and no other."""

import re
from pathlib import Path

import budget
import pytest

pytestmark = pytest.mark.skipif(not budget.HELD, reason="budgets are those of compiled kernels")

SPIN = "import time; begin = time.process_time()\nwhile time.process_time() < begin + 0.1: pass"


@pytest.fixture
def run(pytester, monkeypatch):
    """Run tests with one budget for each of them, and one for the suite; return the result."""

    def run(tests, default=0.015, suite=100, slower=1.5, **named):
        monkeypatch.setattr(budget, "PATIENCE", 3)
        monkeypatch.setattr(budget, "SUITE_PATIENCE", 2)
        monkeypatch.setattr(budget, "DEFAULT", default)
        monkeypatch.setattr(budget, "SUITE", suite)
        monkeypatch.setattr(budget, "BUDGETS", {f"test_it.py::{name}": seconds for name, seconds in named.items()})
        monkeypatch.setattr(budget, "slowness", lambda: slower)
        pytester.makepyfile(test_it=tests)
        return pytester.runpytest_inprocess("-p", "budget", "-p", "no:cacheprovider")

    return run


SPINNING = f"def test_spinning():\n    exec({SPIN!r})\n"
IN_A_FIXTURE = f"""
import pytest

@pytest.fixture
def slow():
    exec({SPIN!r})

def test_with_it(slow):
    pass
"""
IN_A_PROCESS = f"""
import subprocess, sys

def test_that_starts_another():
    subprocess.run([sys.executable, "-c", {SPIN!r}], check=True)
"""
IN_A_FORK = f"""
import processes

def test_that_forks_another():
    processes.run({SPIN!r})
"""


@pytest.mark.parametrize("tests", [SPINNING, IN_A_FIXTURE, IN_A_PROCESS, IN_A_FORK])
def test_a_test_that_takes_too_long_fails(run, tests):
    done = run(tests)
    done.assert_outcomes(passed=1, errors=1)
    done.stdout.re_match_lines(
        [r".*test_it.py::test_\w+ took 0\.[1-9] s .* 3 times its budget of 0.015 s, and 1.5 times"]
    )
    assert done.ret == pytest.ExitCode.TESTS_FAILED


def test_waiting_takes_nothing(run):
    run("import time\ndef test_waiting(): time.sleep(0.2)", default=0.02).assert_outcomes(passed=1)


def test_a_test_may_have_a_budget_of_its_own(run):
    run(SPINNING, test_spinning=1).assert_outcomes(passed=1)
    again = "import pytest\n@pytest.mark.parametrize('way', 'ab')\n" + SPINNING.replace("spinning()", "spinning(way)")
    run(again, **{"test_spinning[a]": 1}).assert_outcomes(passed=2, errors=1)
    run(again, test_spinning=1).assert_outcomes(passed=2)


def test_a_slower_machine_has_more_time(run):
    run(SPINNING, default=0.025, slower=1).assert_outcomes(passed=1, errors=1)
    run(SPINNING, default=0.025, slower=4).assert_outcomes(passed=1)  # 0.1 s, of 3 * 4 * 0.025 s


def test_the_suite_fails_if_its_tests_take_too_long_together(run):
    many = "import pytest\n@pytest.mark.parametrize('way', 'abc')\n" + SPINNING.replace("spinning()", "spinning(way)")
    done = run(many, default=1, suite=0.07)
    done.assert_outcomes(passed=3)
    done.stdout.re_match_lines([r"FAILED: the tests took 0\.[2-9]\d* s of the processor, expected at most 0\.21 s"])
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    assert run(many, default=1, suite=1).ret == pytest.ExitCode.OK


def test_this_machine_is_timed():
    assert 1 <= budget.slowness() < 100


@pytest.mark.parametrize("name", budget.BUDGETS)
def test_who_has_a_budget_is_there(name):
    file, test = name.split("::")
    defined = re.findall(r"^def (test_\w+)", (Path(__file__).parent / file).read_text(encoding="utf-8"), re.MULTILINE)
    assert test.partition("[")[0] in defined
