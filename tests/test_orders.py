"""Schemes and orders: names, checks on construction, and a user's function in the place of a built-in one."""

from dataclasses import FrozenInstanceError, fields
from math import log2, log10, sqrt

import numba
import numpy as np
import pytest
from workloads import trace_of

import schedlab as sl
from schedlab.schemes import BY_NAME, SPECIAL, SWEPT, orders, scheme
from schedlab.schemes.orders import FIXED, MOVING, NAMED, NAMES

# The same formulas once more, from the literature named in schedlab.kernels.priority.
FORMULAS = {
    "lcfs": lambda submit, estimate, procs: -submit,
    "sjf": lambda submit, estimate, procs: estimate,
    "ljf": lambda submit, estimate, procs: -estimate,
    "narrow": lambda submit, estimate, procs: procs,
    "wide": lambda submit, estimate, procs: -procs,
    "saf": lambda submit, estimate, procs: estimate * procs,
    "laf": lambda submit, estimate, procs: -(estimate * procs),
    "f1": lambda submit, estimate, procs: log10(estimate) * procs + 870 * log10(max(submit, 1)),
    "f2": lambda submit, estimate, procs: sqrt(estimate) * procs + 25_600 * log10(max(submit, 1)),
    "f3": lambda submit, estimate, procs: estimate * procs + 6_860_000 * log10(max(submit, 1)),
    "f4": lambda submit, estimate, procs: estimate * sqrt(procs) + 530_000 * log10(max(submit, 1)),
    "xfactor": lambda now, submit, estimate, procs: -(now - submit + estimate) / estimate,
    "wfp3": lambda now, submit, estimate, procs: -(((now - submit) / estimate) ** 3) * procs,
    "unicef": lambda now, submit, estimate, procs: -(now - submit) / (log2(max(procs, 2)) * estimate),
}
K = 1.0  # changed by a test


@pytest.fixture(scope="module")
def trace():
    """A queue long enough for an order to matter: 160 jobs, offered load 1.3."""
    return sl.model_trace("lublin", jobs=160, procs=32, seed=5).scale_load(1.3)


@pytest.fixture(scope="module")
def small():
    return trace_of([(0, 5, 5, 2), (0, 3, 3, 1), (1, 2, 2, 2), (2, 1, 1, 1), (2, 4, 4, 1)], 2)


def starts(trace, order, scheme=sl.EASY):
    return sl.simulate(trace, scheme(order=order)).start.tolist()


# Names --------------------------------------------------------------------------------------------------


@pytest.mark.reduced
def test_plain_names():
    assert scheme("easy") == sl.EASY()
    assert scheme("easy-sjf") == sl.EASY(order="sjf")
    assert scheme("EASY-SJF") == sl.EASY(order="sjf")
    assert scheme("easy-sjbf") == sl.EASY(backfill="sjf")
    assert scheme("fcfs-wfp3") == sl.FCFS(order="wfp3")
    assert scheme("conservative-saf") == sl.Conservative(order="saf")
    own = sl.EASY(order="f1", backfill="sjf")
    assert scheme(own) is own


@pytest.mark.reduced
def test_every_scheme_answers_to_the_name_it_is_shown_by():
    plain = [named(order=order) for named in BY_NAME.values() for order in NAMES]
    for one in [*plain, *SPECIAL.values(), *SWEPT.values()]:
        assert scheme(str(one)) == one
    assert str(sl.EASY(order="sjf")) == "EASY-SJF"
    assert str(sl.EASY(backfill="sjf")) == "EASY-SJBF"
    assert str(sl.EASY(order="f1", backfill="saf")) == "EASY-F1-BACKFILL-SAF"
    assert str(sl.Conservative(compression="none")) == "Conservative (none)"


@pytest.mark.reduced
@pytest.mark.parametrize("name", ["esay", "", "sjf", "-sjf", "easy sjf"])
def test_unknown_schemes_are_answered_with_known_ones(name):
    with pytest.raises(ValueError, match=f"unknown scheme '{name}'; known: conservative, dpsan, dpsap, dpsaw, easy, "):
        scheme(name)


@pytest.mark.reduced
@pytest.mark.parametrize("given", [None, 3, sl.EASY, ["easy"]])
def test_a_scheme_of_another_kind_is_refused(given):
    with pytest.raises(TypeError, match="expected a scheme such as EASY"):
        scheme(given)


# Settings -----------------------------------------------------------------------------------------------


@pytest.mark.reduced
def test_schemes_are_frozen_and_hashable():
    def own(submit, estimate, procs):
        return estimate

    made = [
        sl.FCFS(),
        sl.EASY(),
        sl.EASY(order="sjf"),
        sl.EASY(order="sjf", backfill="sjf"),
        sl.EASY(order=own),
        sl.Conservative(),
        sl.Conservative(compression="none"),
    ]
    assert len(set(made)) == len(made)
    assert {sl.EASY(order="sjf"): 1}[sl.EASY(order="sjf")] == 1
    assert sl.EASY(order=own) == sl.EASY(order=own)
    assert sl.FCFS() != sl.EASY()
    for one in made:
        for field in fields(one):
            with pytest.raises(FrozenInstanceError):
                setattr(one, field.name, "sjf")


@pytest.mark.reduced
@pytest.mark.parametrize("named", [sl.FCFS, sl.EASY, sl.Conservative])
@pytest.mark.parametrize("order", ["shortest", "", "SJF", None, 3, [], max, 1.5])
def test_unknown_orders_are_refused_on_construction(named, order):
    with pytest.raises(ValueError, match=r"unknown order .*; known: fcfs, lcfs, sjf, .*, or a function of"):
        named(order=order)


@pytest.mark.reduced
def test_other_settings_are_checked_on_construction():
    with pytest.raises(ValueError, match="unknown order 'shortest'"):
        sl.EASY(backfill="shortest")
    with pytest.raises(ValueError, match="unknown compression 'late'; known: queue, reservation, none, rebuild"):
        sl.Conservative(compression="late")


@pytest.mark.reduced
@pytest.mark.parametrize(
    ("order", "found"),
    [
        (lambda a, b, c: a, "a, b, c"),
        (lambda submit, estimate: submit, "submit, estimate"),
        (lambda estimate, submit, procs: submit, "estimate, submit, procs"),
        (lambda submit, estimate, procs, now: submit, "submit, estimate, procs, now"),
        (lambda *jobs: 0, "jobs"),
        (lambda: 0, ""),
    ],
)
def test_parameters_of_another_name_are_refused(order, found):
    words = rf"order <lambda> takes \({found}\), expected \(submit, estimate, procs\) or, if it moves with time, \(now"
    for make in (lambda: sl.EASY(order=order), lambda: sl.EASY(backfill=order), lambda: sl.FCFS(order=order)):
        with pytest.raises(ValueError, match=words):
            make()


@pytest.mark.reduced
def test_callables_that_are_no_functions_are_refused_on_construction():
    class Order:
        def __call__(self, submit, estimate, procs):
            return submit

    with pytest.raises(ValueError, match=r"unknown order .*Order object.*, or a function of"):
        sl.EASY(order=Order())


# A user's function --------------------------------------------------------------------------------------


def test_there_is_a_formula_for_every_name():
    assert set(NAMES) == {"fcfs", *FORMULAS} == {"fcfs", *NAMED}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_function_of_the_same_formula_gives_the_same_schedule(trace, name):
    found = starts(trace, FORMULAS[name])
    assert found == starts(trace, name)
    assert found != starts(trace, "fcfs")
    backfilled = sl.simulate(trace, sl.EASY(backfill=FORMULAS[name])).start.tolist()
    assert backfilled == sl.simulate(trace, sl.EASY(backfill=name)).start.tolist()


@pytest.mark.parametrize("named", [sl.FCFS, sl.Conservative])
@pytest.mark.parametrize("name", ["saf", "wfp3"])
def test_it_does_in_every_scheme(trace, named, name):
    assert starts(trace, FORMULAS[name], named) == starts(trace, name, named)


@pytest.mark.reduced
def test_the_same_without_a_name(small):
    assert starts(small, lambda submit, estimate, procs: estimate) == starts(small, "sjf")
    assert starts(small, lambda now, submit, estimate, procs: estimate) == starts(small, "sjf")
    assert str(sl.EASY(order=lambda submit, estimate, procs: estimate)) == "EASY-<LAMBDA>"


@pytest.mark.reduced
def test_a_constant_whole_number_keeps_first_come_first_served(small):
    assert starts(small, lambda submit, estimate, procs: 1) == starts(small, "fcfs")
    assert starts(small, lambda now, submit, estimate, procs: 1) == starts(small, "fcfs")
    assert starts(small, lambda submit, estimate, procs: procs > 1) == starts(small, "narrow")


@pytest.mark.reduced
def test_a_function_without_a_source_works(small):
    scope = {}
    exec("def longest(submit, estimate, procs):\n    return -estimate", scope)
    assert starts(small, scope["longest"]) == starts(small, "ljf")


@pytest.mark.reduced
def test_a_jitted_function_works(small):
    jitted = numba.njit(FORMULAS["ljf"])
    assert starts(small, jitted) == starts(small, "ljf")
    with pytest.raises(ValueError, match="takes"):
        sl.EASY(order=numba.njit(lambda a, b, c: a))


def test_functions_of_the_same_text_are_told_apart(small):
    """Numba's disk cache knows a function by its place and its code without constants and outer values."""

    def times(sign):
        return lambda submit, estimate, procs: sign * estimate

    constants = [lambda submit, estimate, procs: estimate * 2, lambda submit, estimate, procs: estimate * -2]
    for shortest, longest in (constants, (times(1), times(-1))):
        assert starts(small, shortest) == starts(small, "sjf")
        assert starts(small, longest) == starts(small, "ljf")
    assert starts(small, "sjf") != starts(small, "ljf")


def test_a_function_sees_the_values_of_now(small, monkeypatch):
    def scaled(submit, estimate, procs):
        return K * estimate

    assert starts(small, scaled) == starts(small, "sjf")
    monkeypatch.setitem(globals(), "K", -1.0)
    assert starts(small, scaled) == starts(small, "ljf")


def refuses_two(submit, estimate, procs):
    if procs == 2:
        raise ValueError("two are too many")
    return estimate


def refuses_two_later(now, submit, estimate, procs):
    if procs == 2:
        raise ValueError("two are too many")
    return estimate


def divides_by_its_wait(now, submit, estimate, procs):
    return estimate / (now - submit)


@pytest.mark.reduced
@pytest.mark.parametrize("named", [sl.FCFS, sl.EASY, sl.Conservative])
@pytest.mark.parametrize("order", [refuses_two, refuses_two_later])
def test_what_a_function_raises_is_raised(small, order, named):
    with pytest.raises(ValueError, match="two are too many"):
        starts(small, order, named)
    assert starts(small, "fcfs", named)  # and is forgotten
    assert orders._caught.get() is None  # what others cannot raise is none of ours


def test_a_division_by_zero_is_raised_in_the_thread_it_comes_from(small):
    runs = [(small, "easy"), (small, sl.EASY(order=divides_by_its_wait)), (small, "fcfs")]
    with pytest.raises(ValueError, match="the order failed: ZeroDivisionError"):
        sl.simulate_many(runs, threads=3)
    newcomers_fit = trace_of([(0, 9, 9, 1), (1, 5, 5, 2), (2, 1, 1, 1), (2, 2, 2, 1)], 2)
    with pytest.raises(ValueError, match="the order failed: ZeroDivisionError"):
        sl.simulate(newcomers_fit, sl.EASY(backfill=divides_by_its_wait))
    sl.simulate_many([runs[0], runs[2]], threads=2)


@pytest.mark.reduced
def test_a_value_that_is_no_number_is_refused(small):
    with pytest.raises(ValueError, match="order <lambda> gives nan for submit 0, estimate 3, procs 1"):
        starts(small, lambda submit, estimate, procs: np.nan if procs == 1 else 0.0)


def test_a_function_that_cannot_be_compiled_is_an_error_with_its_place(small):
    def nothing(submit, estimate, procs):
        pass

    with pytest.raises(ValueError, match="order nothing at .*test_orders.py:[0-9]+ cannot be compiled: No conversion"):
        starts(small, nothing)


@pytest.mark.reduced
def test_times_count_from_the_first_submission(trace):
    later = trace_of([(10**9 + submit, 7, 7, 1) for submit in range(5)], 1)

    def known(submit, estimate, procs):
        return -submit if 0 <= submit < 5 else 0.0

    assert starts(later, known) == starts(later, "lcfs") != starts(later, "fcfs")


def test_what_a_function_takes_is_what_is_documented():
    assert FIXED == ("submit", "estimate", "procs")
    assert MOVING == ("now", "submit", "estimate", "procs")


def never_a_number(now, submit, estimate, procs):
    """Give nan for whoever is short."""
    return np.sqrt(estimate - 100.0)


@pytest.mark.reduced
@pytest.mark.parametrize("scheme", [sl.FCFS, sl.EASY, sl.Conservative])
def test_a_moving_order_that_gives_nan_is_refused(scheme):
    busy = trace_of([(0, 50, 50, 2), (1, 5, 5, 2), (2, 6, 6, 2)], 2)
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="gives nan"):
        sl.simulate(busy, scheme(order=never_a_number))


def test_values_from_outside_are_those_of_now():
    weights = np.arange(10.0)

    def weighted(submit, estimate, procs):
        return weights[estimate % 10]

    busy = trace_of([(0, 50, 50, 2), (1, 5, 5, 2), (1, 6, 6, 2)], 2)
    before = sl.simulate(busy, sl.FCFS(order=weighted)).start.tolist()
    weights[:] = -weights
    assert (before, sl.simulate(busy, sl.FCFS(order=weighted)).start.tolist()) == ([0, 50, 55], [0, 56, 50])
