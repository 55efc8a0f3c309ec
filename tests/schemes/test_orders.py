"""Schemes and orders: names, checks on construction, and a user's function in the place of a built-in one."""

import inspect
import math
from collections import Counter
from contextlib import suppress
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from functools import partial
from itertools import combinations
from math import log2, log10, sqrt
from types import ModuleType

import numba
import numpy as np
import pandas as pd
import pytest
from workloads import trace_of

import schedlab as sl
from schedlab.schemes import by_name, classes, orders, scheme
from schedlab.schemes.orders import NAMED, NAMES
from schedlab.schemes.rigid import Queued

COUNT = 7  # users in the trace

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
    "fairshare": lambda user_usage: user_usage,
    "multifactor": lambda now, submit, procs, machine_procs, used=sl.Usage(), of_all=sl.Usage(None), users=COUNT: (
        -1000 * min((now - submit) / 604_800, 1)
        - 10_000 * 2 ** -(used * users / of_all if of_all else 0)
        - 1000 * procs / machine_procs
    ),
}


@pytest.fixture(scope="module")
def trace():
    """A queue long enough for an order to matter: 160 jobs of seven users, offered load 1.3."""
    trace = sl.model_trace("lublin", jobs=160, machine=32, seed=5).scale_load(1.3)
    return replace(trace, table=trace.table.assign(user_id=np.arange(160) ** 2 % 13))


@pytest.fixture(scope="module")
def small():
    return trace_of([(0, 5, 5, 2), (0, 3, 3, 1), (1, 2, 2, 2), (2, 1, 1, 1), (2, 4, 4, 1)], 2)


def starts(trace, order, scheme=sl.EASY):
    return sl.simulate(trace, scheme(order=order)).start.tolist()


# Names --------------------------------------------------------------------------------------------------
@pytest.mark.reduced
def test_plain_names():
    named = {
        "fcfs": sl.FCFS(),
        "easy": sl.EASY(),
        "EASY-SJF": sl.EASY(order="sjf"),
        "easy-sjbf": sl.EASY(backfill="sjf"),
        "fcfs-wfp3": sl.FCFS(order="wfp3"),
        "dpsaw": sl.DPSA(variant="w"),
        "conservative": sl.Conservative(),
        "conservative-saf": sl.Conservative(order="saf"),
    }
    assert {name: scheme(name) for name in named} == named
    assert sl.DPSA("w") == sl.DPSA(variant="w", order="fcfs")  # the variant may come first
    own = sl.EASY(order="f1", backfill="sjf")
    assert scheme(own) is own


@pytest.mark.reduced
def test_every_scheme_answers_to_the_name_it_is_shown_by():
    plain = [make() for make in by_name().values() if make.func.needs != "speedup"]  # whose settings are in the name
    queued = [make for make in by_name().values() if isinstance(make(), Queued) and "backfill" not in make.keywords]
    assert len(queued) == 6
    for one in [*plain, *(make(order=order) for make in queued for order in NAMES)]:
        assert scheme(str(one)) == one
    assert str(sl.EASY(order="sjf")) == "EASY-SJF"
    assert str(sl.EASY(backfill="sjf")) == "EASY-SJBF"
    assert str(sl.EASY(order="f1", backfill="saf")) == "EASY-F1-BACKFILL-SAF"
    assert str(sl.Conservative(compression="none")) == "Conservative (none)"


def sjf(submit, estimate, procs):
    return -estimate


def sjbf(submit, estimate, procs):
    return -estimate


def slowdown(now, submit, estimate, procs):
    return -estimate


# For each setting of each scheme, values that are not the default and give other schedules.
SETTINGS = {
    sl.FCFS: {"order": ["sjf", "f1", sjf]},
    sl.EASY: {
        "order": ["sjf", "f1", sjf, sjbf],
        "backfill": ["sjf", "saf", sjf],
        "shadow": ["block"],
        "spare": ["off", "on", "any"],
        "reservations": [2, "all"],
        "may_backfill": [sjf, slowdown],
    },
    sl.Conservative: {
        "order": ["sjf", sjf],
        "compression": ["reservation", "none", "rebuild"],
        "compress_on": ["completion"],
        "repeat": [True],
    },
    sl.DPSA: {
        "order": ["sjf", sjf],
        "variant": ["p", "w"],
        "objective": ["slowdown", slowdown],
        "depth": [1, 50],
        "search": ["depth-first"],
        "budget": [0, 100],
        "seconds": [0.5, 1],
        "shadow": ["block"],
    },
    sl.Flooding: {"local": ["conservative"]},
    sl.OpportuneShredding: {"local": ["conservative"], "release": [True], "everywhere": [True]},
    sl.FairShareMoldable: {
        "weight": ["proportional"],
        "overbooking": [4, 1.0000001, 0.1],
        "efficiency": [0.5, 0.50000001],
        "canmove": ["literal"],
        "work": ["area"],
        "mix": ["queued"],
        "backfill": ["start-now"],
    },
    sl.FromLog: {},
    sl.GreedyMoldable: {},
    sl.IterativeMoldable: {"head": [1, 30]},
}


@pytest.mark.reduced
def test_two_settings_never_print_alike():
    assert set(classes().values()) == set(SETTINGS)
    made = {named() for named in SETTINGS}
    for named, settings in SETTINGS.items():
        assert set(settings) == {field.name for field in fields(named)}
        made |= {named(**{name: value}) for name, values in settings.items() for value in values}
        pairs = combinations([(name, value) for name, values in settings.items() for value in values], 2)
        for one, other in pairs:
            with suppress(ValueError):  # an objective needs the exact search
                made.add(named(**dict([one, other])))
    shown = Counter(map(str, made))
    assert [name for name, count in shown.items() if count > 1] == []
    assert len(made) > 100


@pytest.mark.reduced
def test_a_search_is_shown_unless_a_bound_tells_it():
    assert (str(sl.DPSA()), str(sl.DPSA(variant="w", order="sjf"))) == ("DPSAn", "DPSAw-SJF")
    assert str(sl.DPSA(objective="slowdown", depth=50)) == "DPSAn (objective slowdown, depth 50)"
    assert str(sl.DPSA(search="depth-first", depth=5)) == "DPSAn (depth 5, search depth-first)"
    assert str(sl.DPSA(search="depth-first", budget=9)) == str(sl.DPSA(budget=9)) == "DPSAn (budget 9)"
    assert str(sl.EASY(order=sjf)) == "EASY-OWN-SJF"


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
@pytest.mark.parametrize("named", SETTINGS)
def test_schemes_are_frozen_and_equal_by_their_settings(named):
    for field in fields(named):
        with pytest.raises(FrozenInstanceError):
            setattr(named(), field.name, "sjf")
        (value, *_) = SETTINGS[named][field.name]
        with suppress(ValueError):  # an objective needs the exact search
            one, other = (named(**{field.name: value}) for _ in range(2))
            assert {one: 1}[other] == 1
            assert one != named()


@pytest.mark.reduced
@pytest.mark.parametrize("named", [sl.FCFS, sl.EASY, sl.Conservative])
@pytest.mark.parametrize("order", ["shortest", "", "SJF", None, 3, [], max, 1.5, dict])
def test_unknown_orders_are_refused_on_construction(named, order):
    with pytest.raises(ValueError, match=r"unknown order .*; known: fcfs, lcfs, sjf, .*, or a function of"):
        named(order=order)


@pytest.mark.reduced
@pytest.mark.parametrize(
    ("named", "settings", "message"),
    [
        (sl.EASY, {"backfill": "shortest"}, "unknown order 'shortest'"),
        (sl.Conservative, {"compression": "late"}, "unknown compression 'late'; known: queue, reservation, none, re"),
        (sl.Conservative, {"compress_on": "end"}, "unknown compress_on 'end'; known: early, completion"),
        (sl.Conservative, {"repeat": 2}, "repeat must be True or False, got 2"),
        (sl.Conservative, {"compression": "none", "compress_on": "completion"}, "compression='none' makes no compress"),
        (sl.Conservative, {"compression": "none", "repeat": True}, "compression='none' makes no compression passes"),
    ],
)
def test_other_settings_are_checked_on_construction(named, settings, message):
    with pytest.raises(ValueError, match=message):
        named(**settings)


@pytest.mark.reduced
@pytest.mark.parametrize(
    ("order", "found"),
    [
        (lambda *, size=1: 0, r"\*, size=1"),
        (lambda *jobs: 0, r"\*jobs"),
        (lambda submit, **more: 0, r"submit, \*\*more"),
        (lambda size=1: 0, "size=1"),
        (lambda: 0, ""),
        (numba.njit(lambda *jobs: 0), r"\*jobs"),
    ],
)
def test_parameters_of_another_name_are_refused(order, found):
    words = rf"<lambda> takes \({found}\), expected any of \(now, submit, estimate, procs\), columns of the jobs "
    for named, setting in ((sl.EASY, "order"), (sl.EASY, "backfill"), (sl.EASY, "may_backfill"), (sl.FCFS, "order")):
        with pytest.raises(sl.schemes.PolicyError, match=words):
            named(**{setting: order})


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


def test_functions_of_the_same_text_are_told_apart(small):
    """Numba's disk cache identifies a function by its place and its code, without constants and outer values."""

    def times(sign):
        return lambda submit, estimate, procs: sign * estimate

    constants = [lambda submit, estimate, procs: estimate * 2, lambda submit, estimate, procs: estimate * -2]
    for shortest, longest in (constants, (times(1), times(-1))):
        assert starts(small, shortest) == starts(small, "sjf")
        assert starts(small, longest) == starts(small, "ljf")
    assert starts(small, "sjf") != starts(small, "ljf")


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
    assert starts(small, "fcfs", named)  # the error is forgotten
    assert orders._running.get() is None  # the context of the failed simulation is gone


def test_a_division_by_zero_is_raised_in_the_thread_it_comes_from(small):
    runs = [(small, "easy"), (small, sl.EASY(order=divides_by_its_wait)), (small, "fcfs")]
    with pytest.raises(ValueError, match="order divides_by_its_wait failed: ZeroDivisionError"):
        sl.simulate_many(runs, threads=3)
    newcomers_fit = trace_of([(0, 9, 9, 1), (1, 5, 5, 2), (2, 1, 1, 1), (2, 2, 2, 1)], 2)
    with pytest.raises(ValueError, match="order divides_by_its_wait failed: ZeroDivisionError"):
        sl.simulate(newcomers_fit, sl.EASY(backfill=divides_by_its_wait))
    sl.simulate_many([runs[0], runs[2]], threads=2)


@pytest.mark.reduced
def test_times_count_from_the_first_submission(trace):
    later = trace_of([(10**9 + submit, 7, 7, 1) for submit in range(5)], 1)

    def known(submit, estimate, procs):
        return -submit if 0 <= submit < 5 else 0.0

    assert starts(later, known) == starts(later, "lcfs") != starts(later, "fcfs")


# A function that takes its values in its own way, and the messages about one that fails -------------------
def weighed(procs, estimate, weight=1, submit=0):
    return weight * estimate


@pytest.mark.reduced
def test_fixed_values_are_part_of_the_name():
    assert str(sl.EASY(order=partial(weighed, weight=0.5))) == "EASY-WEIGHED(WEIGHT=0.5)"
    assert str(sl.EASY(order=weighed)) == "EASY-WEIGHED"
    assert str(sl.EASY(order=lambda submit, estimate, procs: estimate)) == "EASY-<LAMBDA>"
    assert str(sl.EASY(order=partial(Weighted(0.5), power=2))) == "EASY-WEIGHTED(_WEIGHT=0.5, POWER=2)"
    assert str(sl.EASY(order=Weighted(0.5).priority)) == "EASY-PRIORITY(_WEIGHT=0.5, SIGN=1.0)"


@pytest.mark.reduced
@pytest.mark.parametrize("order", [partial(weighed, size=3), partial(weighed, 1, 2, 3, 4, 5)])
def test_a_partial_of_what_is_not_there_is_refused(order):
    with pytest.raises(sl.schemes.PolicyError, match="expected any of"):
        sl.EASY(order=order)


@dataclass
class Weighted:
    """An order with settings, such as users write; a dataclass that may change has no hash."""

    _weight: float
    table: np.ndarray = None
    shares: dict = None
    calls: int = 0

    sign = 1.0

    def __call__(self, estimate, *, power=1):
        return self._weight * estimate**power

    def priority(self, estimate):
        return self.sign * self._weight * estimate

    @classmethod
    def of_class(cls, estimate):
        return -cls.sign * estimate

    @staticmethod
    def longest(estimate):
        return -estimate

    @property
    def doubled(self):
        return 2 * self._weight

    def scaled(self, value):
        return self.doubled * value

    def by_methods(self, estimate):
        return self.scaled(estimate) + (lambda value: self._weight * self.longest(value))(0)

    def by_table(self, estimate):
        return self.table[estimate]

    def by_shares(self, estimate):
        return self.shares[estimate]

    def counts(self, estimate):
        self.calls += 1
        return self.calls

    def fills(self, estimate):
        self.table[estimate] += 1
        return self.table[estimate]

    def misspells(self, estimate):
        return self.weight * estimate

    def itself(self, estimate):
        return self.itself(estimate - 1) if estimate > 1 else 0

    def without_a_job(self):
        return self._weight


def by_keyword(estimate, *, weight=-1.0, procs):
    return weight * estimate + 0 * procs


without_a_source = {}
exec("def longest(submit, estimate, procs):\n    return -estimate", without_a_source)


@pytest.mark.reduced
@pytest.mark.parametrize(
    ("order", "same"),
    [
        (lambda submit, estimate, procs: estimate, "sjf"),
        (lambda now, submit, estimate, procs: estimate, "sjf"),
        (lambda submit, estimate, procs: 1, "fcfs"),
        (lambda now, submit, estimate, procs: 1, "fcfs"),
        (lambda submit, estimate, procs: procs > 1, "narrow"),
        (without_a_source["longest"], "ljf"),
        (numba.njit(FORMULAS["ljf"]), "ljf"),
        (lambda procs, submit, estimate: estimate, "sjf"),
        (lambda estimate: estimate, "sjf"),
        (lambda estimate, now: estimate, "sjf"),
        (lambda estimate, scale=-1: scale * estimate, "ljf"),
        (weighed, "sjf"),
        (partial(weighed, weight=-1), "ljf"),
        (partial(lambda now, weight, estimate: weight * (now + estimate) - weight * now, weight=-1), "ljf"),
        (partial(lambda weight, estimate: weight * estimate, -1), "ljf"),
        (partial(numba.njit(weighed), weight=-1), "ljf"),
        (numba.njit(lambda procs, estimate: estimate), "sjf"),
        (numba.cfunc("float64(int64)")(lambda estimate: -estimate), "ljf"),
        (Weighted(1.0), "sjf"),
        (Weighted(-1.0), "ljf"),
        (partial(Weighted(-1.0), power=2), "ljf"),
        (Weighted(-1.0).priority, "ljf"),
        (partial(Weighted(-1.0).priority), "ljf"),
        (Weighted.of_class, "ljf"),
        (Weighted(1.0).longest, "ljf"),
        (Weighted(-1.0).by_methods, "ljf"),
        (Weighted(0.0, np.arange(10.0, 0.0, -1.0)).by_table, "ljf"),
        (by_keyword, "ljf"),
        (partial(by_keyword, weight=1.0), "sjf"),
        (lambda *, estimate: -estimate, "ljf"),
    ],
)
@pytest.mark.parametrize("setting", ["order", "backfill"])
def test_whatever_can_be_called_by_the_names_of_values_is_an_order(small, order, same, setting):
    found, expected = (sl.simulate(small, sl.EASY(**{setting: value})).start.tolist() for value in (order, same))
    assert found == expected


@pytest.mark.reduced
def test_an_object_works_in_every_place_of_a_policy(trace):
    trace = trace.head(60)
    for named, setting in ((sl.EASY, "may_backfill"), (sl.DPSA, "objective")):
        found, expected, other = (
            sl.simulate(trace, named(**{setting: value})).start.tolist()
            for value in (Weighted(-1.0).priority, lambda estimate: -estimate, Weighted(0.0))
        )
        assert found == expected != other
    assert sl.testing.check_policy(Weighted(-1.0).by_methods).passed


def test_an_object_is_read_anew_in_each_simulation(small):
    order = Weighted(1.0, np.arange(10.0))
    assert starts(small, order) == starts(small, order.by_table) == starts(small, "sjf")
    order._weight = -1.0
    order.table *= -1
    assert starts(small, order) == starts(small, order.by_table) == starts(small, "ljf")
    order.table = np.arange(10)
    assert starts(small, order.by_table) == starts(small, "sjf")


@pytest.mark.parametrize(
    ("order", "said", "line"),
    [
        (Weighted(1.0, shares=dict.fromkeys(range(9), 1)).by_shares, "it reads self.shares, a dict; num", "def by_"),
        (Weighted(1.0).itself, "it reads self.itself, a method that calls itself", "def itself"),
        (Weighted(1.0).counts, "a policy cannot change self.calls: it is called any number", "self.calls += 1"),
        (Weighted(1.0, np.ones(9)).fills, "it changes an array from outside", "self.table[estimate] += 1"),
        (Weighted(1.0).misspells, "there is no self.weight, or it is read by another", "return self.weight"),
    ],
)
def test_what_an_object_cannot_do_is_said(small, order, said, line):
    with pytest.raises(sl.schemes.PolicyError) as caught:
        starts(small, order)
    first, more, *_ = str(caught.value).split("\n")
    assert said in first
    assert line in more
    with pytest.raises(sl.schemes.PolicyError, match=r"without_a_job\(_weight=1.0\) takes \(self\), expected any of"):
        sl.EASY(order=Weighted(1.0).without_a_job)


# Compiled once -------------------------------------------------------------------------------------------
WEIGHTS = np.arange(10.0)
FAR = np.arange(200_000.0)  # numba keeps arrays of this size outside the machine code
SCALE = 1


@numba.njit
def of_weights(estimate):
    return WEIGHTS[estimate]


@numba.njit
def scaled(estimate, more=0.0):
    return SCALE * estimate + more


@numba.njit("float64(int64)")
def of_one_type(estimate):
    return SCALE * estimate


@numba.njit
def counted_down(estimate):
    return counted_down(estimate - 1) + SCALE if estimate > 0 else 0


ORDERS = {
    "array": lambda estimate: WEIGHTS[estimate],
    "large array": lambda estimate: FAR[estimate],
    "array of an outer function": (lambda weights: lambda estimate: weights[estimate])(WEIGHTS),
    "array and time": lambda now, estimate: WEIGHTS[estimate] + 0 * now,
    "array, fixed": partial(lambda estimate, weights: weights[estimate], weights=WEIGHTS),
    "array by default": lambda estimate, weights=WEIGHTS: weights[estimate],
    "tuple": partial(lambda estimate, both: both[0] * both[1][estimate], both=(1.0, WEIGHTS)),
    "helper": lambda estimate: scaled(estimate),
    "helper of one type": lambda estimate: of_one_type(estimate),
    "helper with an array": lambda estimate: of_weights(estimate),
    "helper that calls itself": lambda estimate: counted_down(estimate),
    "function within": lambda estimate: (lambda value: SCALE * value)(estimate),
    "function of NumPy": lambda estimate: SCALE * np.minimum(estimate, np.float64(1e6)),
}


@pytest.fixture
def compiled(monkeypatch):
    """Count how often the compiler is called."""
    count, cfunc = [], numba.cfunc
    monkeypatch.setattr(numba, "cfunc", lambda *given, **more: count.append(given) or cfunc(*given, **more))
    return count


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("name", ORDERS)
def test_a_policy_is_compiled_once_until_what_it_uses_changes(small, name, compiled, monkeypatch):
    order = ORDERS[name]
    assert starts(small, order) == starts(small, order) == starts(small, "sjf")
    assert len(compiled) <= 1  # none if a policy with the same content has been compiled before
    monkeypatch.setitem(globals(), "SCALE", -1)
    for array in (WEIGHTS, FAR):
        np.negative(array, out=array)  # in place, as a notebook does
    try:
        assert starts(small, order) == starts(small, "ljf")
    finally:
        for array in (WEIGHTS, FAR):
            np.negative(array, out=array)
    monkeypatch.undo()
    assert starts(small, order) == starts(small, "sjf")


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_helper_that_is_defined_again_is_the_new_one(small, compiled, monkeypatch):
    def order(estimate):
        return scaled(estimate)

    assert starts(small, order) == starts(small, "sjf")
    for sign, same in ((-1, "ljf"), (1, "sjf")):
        monkeypatch.setitem(globals(), "scaled", numba.njit(lambda estimate: sign * estimate))  # noqa: B023
        assert starts(small, order) == starts(small, same)
    before = len(compiled)
    monkeypatch.setitem(globals(), "scaled", numba.njit(lambda estimate, more=-1: more * estimate))
    assert starts(small, order) == starts(small, "ljf")
    monkeypatch.setitem(globals(), "scaled", numba.njit(lambda estimate, more=1: more * estimate))
    assert starts(small, order) == starts(small, "sjf")
    assert len(compiled) == before + 2


def test_an_array_of_equal_content_does_not_stand_for_another_one(small):
    """Machine code refers to a large array by its address, so it must be to an array that nobody changes."""
    one, other = FAR.copy(), FAR.copy()
    orders_ = [partial(lambda estimate, weights: weights[estimate], weights=weights) for weights in (one, other)]
    assert starts(small, orders_[0]) == starts(small, "sjf")
    one[:] = -one
    assert starts(small, orders_[1]) == starts(small, "sjf")
    assert starts(small, orders_[0]) == starts(small, "ljf")


def test_a_helper_that_reads_past_an_array_is_an_error(small):
    two = np.ones(2)
    past = numba.njit(lambda estimate: two[estimate])
    words = "order <lambda> failed: IndexError: index is out of bounds\n.*past.estimate"
    with pytest.raises(sl.schemes.PolicyError, match=words):
        starts(small, lambda estimate: past(estimate))


def test_what_may_change_unseen_is_compiled_each_time(small, compiled):
    mine = ModuleType("mine")
    mine.weights = WEIGHTS.copy()

    def order(estimate):
        return mine.weights[estimate]

    assert starts(small, order) == starts(small, "sjf")
    mine.weights *= -1
    assert starts(small, order) == starts(small, "ljf")
    assert len(compiled) == (0 if numba.config.DISABLE_JIT else 2)


def gives_text(submit, estimate, procs):
    return "short" if estimate < 60 else "long"


def gives_nothing_to_some(estimate, procs):  # noqa: RET503 - the mistake under test
    if procs > 1:
        return estimate < 4


def of_text(estimate):
    return 2 * len(str(estimate))


@pytest.mark.parametrize("backfill", [False, True])
@pytest.mark.parametrize(
    ("order", "message", "line"),
    [
        (lambda estimate: of_text(estimate), "of_text is a plain Python function; put @numba.njit on the line", 0),
        (gives_text, "gives 'long', expected a number", 0),
        (lambda submit, estimate, procs: None, "gives None, expected a number", 0),
        (lambda estimate: estimte, "failed: NameError: name 'estimte' is not defined", 0),  # noqa: F821
        (lambda procs, estimate: scaled(estimate, procs, 1), "failed: TypeError: too many arguments: expected ", 0),
        (lambda estimate, procs: estimate / (procs - 2), "failed: ZeroDivisionError: ", 0),
        (divides_by_its_wait, "failed: ZeroDivisionError: ", 1),
        (lambda procs: pd.Series([procs]).mean(), "pandas.Series is not among the functions that numba compiles", 0),
        (lambda procs: np.polyfit([1, 2], [1, procs], 1)[0], "numpy.polyfit is not among the functions that numba", 0),
        (lambda estimate, procs: np.array([estimate, procs]), "gives array([1800,    4]), expected a number", 0),
        (lambda now, procs: 1 if procs > 1 else None, "gives None, expected a number", 0),
        (gives_nothing_to_some, "gives None, expected a number", 0),
    ],
)
def test_a_mistake_is_told_in_a_few_lines(order, message, line, backfill):
    newcomers_fit = trace_of([(0, 9, 9, 1), (1, 5, 5, 2), (2, 1, 1, 1), (2, 2, 2, 1)], 2)
    with pytest.raises(sl.schemes.PolicyError) as caught:
        sl.simulate(newcomers_fit, sl.EASY(**{"backfill" if backfill else "order": order}))
    first, *more = str(caught.value).split("\n")
    assert first.startswith(f"order {order.__name__} ")
    assert message in first
    lines, begin = inspect.getsourcelines(order)
    assert f"test_orders.py, line {begin + line}: {lines[line].strip()[:40]}" in more[0]
    assert 2 <= len(more) + 1 <= 8
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.reduced
@pytest.mark.parametrize(
    ("order", "said", "job"),
    [
        (
            lambda submit, estimate, procs: estimate / (procs - 2),
            "division by zero",
            "submit = 0 s, estimate = 5 s, procs = 2 (times since the first",
        ),
        (divides_by_its_wait, "division by zero", "now = 0 s, submit = 0 s, estimate = 5 s, procs = 2 (times"),
        (lambda procs: math.nan if procs == 1 else 0.0, "gives nan", "submit = 0 s, estimate = 3 s, procs = 1"),
        (lambda now, procs: math.nan if procs == 1 else 0.0, "gives nan", "now = 0 s, submit = 0 s, estimate = 3 s, p"),
        (gives_nothing_to_some, "gives None", "submit = 0 s, estimate = 3 s, procs = 1"),
    ],
)
@pytest.mark.parametrize("named", [sl.FCFS, sl.EASY, sl.Conservative, sl.DPSA])
def test_the_job_at_which_it_fails_is_named(small, order, said, job, named):
    with pytest.raises(sl.schemes.PolicyError) as caught:
        sl.simulate(small, named(order=order))
    first, _, values, *_ = str(caught.value).split("\n")
    assert said in first
    assert values.startswith(f"for a job with {job}")


@pytest.mark.reduced
@pytest.mark.parametrize("order", [gives_text, lambda estimate: None, lambda estimate: estimte])  # noqa: F821
def test_what_is_no_number_is_refused_without_compiling_too(small, order):
    with pytest.raises(sl.schemes.PolicyError, match=f"^order {order.__name__} (gives|failed)"):
        starts(small, order)


def test_a_failing_objective_is_called_one(trace):
    words = r"^objective divides_by_its_wait failed: ZeroDivisionError.*\n.*orders"
    with pytest.raises(sl.schemes.PolicyError, match=words):
        sl.simulate(trace, sl.DPSA(objective=divides_by_its_wait))


def test_a_notebook_shows_the_message_and_the_call_alone(small):
    with pytest.raises(sl.schemes.PolicyError) as caught:
        starts(small, gives_text)
    shown = caught.value._render_traceback_()
    assert len(shown) <= 8
    assert shown[0] == "\x1b[31mPolicyError\x1b[0m: order gives_text gives 'long', expected a number"
    assert shown[-1].startswith("Called from ")
    assert shown[-1].endswith("return sl.simulate(trace, scheme(order=order)).start.tolist()")
