"""What a wrong call is told: one line, with the way out."""

import logging
import warnings

import numpy as np
import pytest

import schedlab as sl
from schedlab._runtime import remarks
from schedlab._runtime.text import spelt


@pytest.fixture(scope="module")
def trace():
    return sl.model_trace("lublin", jobs=30, machine=64, seed=1)


WRONG = {
    "sl.sweep(trace, schemes=['easy'])": (
        "sweep() takes no 'schemes': it is called scheme, of which there can be several"
    ),
    "sl.sweep(trace, 'easy', loads=[0.5])": "sweep() takes no 'loads'; did you mean 'load'?",
    "sl.sweep(trace, 'easy', overun='kill')": "sweep() takes no 'overun'; did you mean 'overrun'?",
    "sl.sweep(trace, 'easy', order='sjf')": (
        "sweep() takes no 'order': it belongs to the scheme, as in EASY(order='sjf')"
    ),
    "sl.simulate(trace, order='sjf')": "simulate() takes no 'order': it belongs to the scheme, as in EASY(order='sjf')",
    "sl.simulate(trace, load=np.float64(0.8))": (
        "simulate() takes no 'load': trace.scale_load(0.8) gives a trace of that load"
    ),
    "sl.simulate(trace, 'easy', 64)": (
        "simulate() takes trace, scheme; call simulate(trace, scheme), and name all others"
    ),
    "sl.simulate(trace, shceme='easy')": "simulate() takes no 'shceme'; did you mean 'scheme'?",
    "sl.simulate_many([trace])": 'run 0 is Trace, expected a pair such as (trace, "easy")',
    "sl.simulate_many([(trace, 'easy'), 'easy'])": "run 1 is 'easy', expected a pair such as (trace, \"easy\")",
    "sl.simulate_many([trace], 'easy')": (
        'simulate_many() takes runs; call simulate_many([(trace, "easy"), (trace, "fcfs")])'
    ),
    "sl.simulate(trace, machine='big')": "machine is 'big', expected processors or a machine such as Flat(128)",
    "sl.Flat('big')": "machine is 'big', expected a whole number of processors",
    "trace.scale_load(np.float64(-0.8))": "load must be greater than 0, got -0.8",
    "sl.EASY(reservations=np.int64(0))": 'reservations must be a whole number of at least 1, or "all", got 0',
}


@pytest.mark.parametrize("call", WRONG)
def test_a_wrong_call_is_told_the_right_one(trace, call):
    with pytest.raises((TypeError, ValueError)) as raised:
        eval(call, {"sl": sl, "np": np, "trace": trace})
    assert str(raised.value) == WRONG[call]


def test_values_are_spelt_in_one_line():
    assert [spelt(value) for value in (np.int64(3), np.str_("a"), None, [1.5])] == ["3", "'a'", "None", "[1.5]"]
    assert "\n" not in spelt(np.zeros((9, 9)))
    assert len(spelt("x" * 1000)) == 200


def test_one_switch_turns_progress_off(monkeypatch, capsys):
    monkeypatch.setattr("schedlab.experiment.progress.SILENT", 0)
    monkeypatch.setenv("SCHEDLAB_PROGRESS", "1")

    def run():
        sl.grid(lambda seed: {"value": seed}, seed=range(3))
        sl.experiment.forget()
        return capsys.readouterr().err

    assert "running" in run()
    assert sl.progress(False) is False
    assert run() == ""
    assert sl.progress() is False
    assert sl.progress(True) is True
    monkeypatch.setenv("SCHEDLAB_PROGRESS", "0")
    assert run() == ""
    monkeypatch.delenv("SCHEDLAB_PROGRESS")
    assert sl.progress()


def test_warnings_are_of_one_family(tmp_path, trace):
    from schedlab.workload import filter as load_filter
    from schedlab.workload import runs, sacct

    families = (load_filter.LoadWarning, runs.GpuWarning, runs.UnitWarning, sacct.PartitionWarning)
    assert all(issubclass(family, sl.SchedlabWarning) for family in (*families, sl.statistics.IntervalWarning))
    with warnings.catch_warnings():
        warnings.simplefilter("error", sl.SchedlabWarning)
        with pytest.raises(sl.SchedlabWarning, match="load 90"):
            trace.scale_load(90)


def test_the_logger_tells_who_asks(caplog):
    assert [type(handler) for handler in remarks.logger.handlers] == [logging.NullHandler]
    with caplog.at_level(logging.INFO, logger="schedlab"):
        sl.grid(lambda seed: {"value": seed}, seed=range(3), progress=False, activity="trying")
    assert caplog.messages == ["trying: 3 runs, 3 of them to be made"]
