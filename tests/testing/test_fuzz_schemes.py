"""The fuzzer of the schemes: its runs can be repeated, and it finds what it looks for."""

import ast

import pytest
from fuzz.fuzz_schemes import Worker, program, simulated

JOBS = ["jobs = [(0, 5, 5, 1), (0, 0, 9, 2)]", "trace = trace_of(jobs, 2)"]


def test_a_run_is_drawn_from_its_seed_and_number_alone():
    assert program(1, 7) == program(1, 7)
    assert len({"\n".join(program(seed, number)) for seed in range(2) for number in range(10)}) == 20


@pytest.mark.parametrize("number", range(3))
def test_the_snippet_of_a_run_is_python(number):
    assert len(ast.parse("\n".join(program(0, number))).body) > 2  # jobs, a trace, and what uses them


def test_what_is_valid_passes_and_a_refusal_is_told():
    assert simulated([*JOBS, "schedule = sl.simulate(trace, sl.FCFS())"]) == ""
    assert "has a job of 2 processors" in simulated([*JOBS, "schedule = sl.simulate(trace, sl.FCFS(), machine=1)"])


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("schedule = sl.simulate(trace, sl.FCFS(), machine=1 / 0)", ZeroDivisionError),
        ("raise ValueError('two\\nlines')", ValueError),
        ("start = schedule.outcome.start; start.flags.writeable = True; start[1] = -1", Exception),
        ("import warnings; warnings.warn('overflow', RuntimeWarning)", RuntimeWarning),
    ],
)
def test_what_is_neither_is_a_failure(line, error):
    with pytest.raises(error):
        simulated([*JOBS, "schedule = sl.simulate(trace)", "0;" + line, "schedule.validate()"])


@pytest.mark.parametrize(
    ("line", "limit", "ended"), [("while True: pass", 0.2, "hung"), ("0; import os; os._exit(3)", 600, "failed")]
)
def test_a_run_that_does_not_end_and_one_that_dies_are_seen(line, limit, ended):
    worker = Worker()
    scheme = "schedule = sl.simulate(trace, sl.FCFS())"
    refused = "0; raise ValueError('no')"
    assert worker.run([*JOBS, "", "", "", refused, scheme], 600) == ("done", "no")  # it has started
    assert worker.run([*JOBS, "", "", "", line, scheme], limit)[0] == ended  # before it loads any kernel
    worker.end()
