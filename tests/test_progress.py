"""The progress of grids: costs of runs learnt from similar ones, and what is shown where."""

import io
import itertools
import re
import sys
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import schedlab as sl
from schedlab import experiment
from schedlab.experiment import progress
from schedlab.experiment.progress import Costs, Progress, span
from schedlab.experiment.results import Result

pytestmark = pytest.mark.tables

SCHEMES = {"fcfs": 0.001, "easy": 0.002, "iterative": 1.0}  # seconds: a factor of a thousand
LOADS = (0.5, 0.6, 0.7, 0.8, 0.9)
NAMES = [
    {"scheme": scheme, "load": load, "seed": seed}
    for scheme, load, seed in itertools.product(SCHEMES, LOADS, range(10))
]


def cost(names):
    return SCHEMES[names["scheme"]] * 10 ** (2 * names["load"])


@pytest.fixture(autouse=True)
def nothing_remembered():
    experiment.forget()


def learnt(places, noise=0.0):
    costs, draws = Costs(NAMES), np.random.default_rng(1)
    for place in places:
        costs.learn(place, cost(NAMES[place]) * np.exp(noise * draws.standard_normal()))
    return costs


def total(places):
    return sum(cost(NAMES[place]) for place in places)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_the_rest_is_estimated_from_similar_runs(noise):
    done = np.random.default_rng(2).permutation(len(NAMES))[:40].tolist()
    left = [place for place in range(len(NAMES)) if place not in done]
    seconds, unknown = learnt(done, noise).expected(left)
    assert unknown == ""
    assert seconds.sum() == pytest.approx(total(left), rel=0.35)
    mean = np.mean([cost(NAMES[place]) for place in done[:5]]) * len(left)
    assert abs(np.log(seconds.sum() / total(left))) < abs(np.log(mean / total(left)))  # than the mean of a few


def test_a_number_that_is_new_costs_what_those_beside_it_do():
    done = [place for place, names in enumerate(NAMES) if names["load"] != 0.7]
    left = [place for place in range(len(NAMES)) if place not in done]
    seconds, unknown = learnt(done).expected(left)
    assert unknown == ""  # 0.6 and 0.8 are known
    assert seconds.sum() == pytest.approx(total(left), rel=0.1)


def test_a_number_beyond_what_is_known_is_named_if_it_matters():
    done = [place for place, names in enumerate(NAMES) if names["load"] < 0.9 and names["seed"] < 8]
    left = [place for place in range(len(NAMES)) if place not in done]
    assert learnt(done).expected(left)[1] == "load=0.9"
    done = [place for place, names in enumerate(NAMES) if names["seed"] < 2]
    left = [place for place in range(len(NAMES)) if place not in done]
    assert learnt(done).expected(left)[1] == ""


def test_a_scheme_of_which_nothing_is_known_is_named():
    done = [place for place, names in enumerate(NAMES) if names["scheme"] != "iterative"]
    _, unknown = learnt(done).expected([place for place in range(len(NAMES)) if place not in done])
    assert unknown == "scheme=iterative"


def test_names_that_no_run_has_had_together_are_named_if_both_matter():
    names = [{"log": log, "scheme": scheme, "seed": seed} for log in "ab" for scheme in "xy" for seed in range(3)]
    costs = Costs(names)
    took = {("a", "x"): 1.0, ("a", "y"): 3.0, ("b", "x"): 10.0}
    for place, one in enumerate(names):
        if (pair := (one["log"], one["scheme"])) in took:
            costs.learn(place, took[pair])
    left = [place for place, one in enumerate(names) if (one["log"], one["scheme"]) == ("b", "y")]
    assert costs.expected(left)[1] == "log=b, scheme=y"  # which may take a thousand times as long
    costs.learn(left[0], 3000.0)
    assert costs.expected(left[1:])[1] == ""


@pytest.mark.parametrize("sizes", [(100, 200, 400, 800, 1600), (1600, 800, 400, 200, 100)])
def test_a_trend_of_numbers_goes_on(sizes):
    names = [{"jobs": jobs, "seed": seed} for jobs in sizes for seed in range(4)]
    costs = Costs(names)
    for place, one in enumerate(names[:12]):  # three sizes
        costs.learn(place, one["jobs"] ** 1.5)
    seconds, unknown = costs.expected(range(12, 20))
    assert unknown.startswith("jobs=")
    assert seconds.sum() == pytest.approx(sum(one["jobs"] ** 1.5 for one in names[12:]), rel=0.2)


def test_before_anything_is_done_nothing_is_known():
    seconds, unknown = Costs(NAMES).expected([0, 1])
    assert np.isnan(seconds).all()
    assert unknown == ""


@given(
    st.lists(
        st.fixed_dictionaries({"a": st.none() | st.integers(0, 3) | st.text(max_size=2) | st.booleans()}),
        min_size=1,
        max_size=12,
    ),
    st.data(),
)
def test_any_values_can_be_learnt(names, data):
    costs = Costs(names)
    for place in data.draw(st.sets(st.integers(0, len(names) - 1), min_size=1)):
        costs.learn(place, data.draw(st.floats(0, 1e6)))
    seconds, _ = costs.expected(range(len(names)))
    assert (seconds > 0).all()
    assert np.isfinite(seconds).all()


def done(seconds):
    return Result({}, seconds, 0.0, "here")


def test_the_remaining_time_is_that_of_all_workers(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    bar = Progress(NAMES, range(len(NAMES)), {}, "running", True, workers=2)
    for place in range(0, len(NAMES), 3):
        clock[0] += cost(NAMES[place]) / 2  # both are busy
        bar.update(place, done(cost(NAMES[place])))
    bar._estimate(clock[0])
    left = total(set(range(len(NAMES))) - set(range(0, len(NAMES), 3))) / 2
    assert bar.until - clock[0] == pytest.approx(left, rel=0.05)
    before = bar.remaining()
    clock[0] += left / 2
    assert bar.remaining() != before  # it counts down though nothing ends
    assert re.fullmatch(r"[\d.]+ (s|min|h) left", before)


def test_what_was_known_before_counts():
    known = {place: done(cost(names)) for place, names in enumerate(NAMES) if names["seed"] < 2}
    bar = Progress(NAMES, range(len(NAMES)), known, "running", True, workers=1)
    bar._estimate(time.monotonic())
    assert bar.unknown == ""
    assert bar.until is not None


class Terminal(io.StringIO):
    def isatty(self):
        return True


def slow(a):
    time.sleep(0.12)  # a bar is drawn anew after 0.1 s at the earliest
    if a == 1:
        raise ValueError("one")
    return a


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_a_terminal_gets_a_bar_and_a_file_gets_lines(monkeypatch, kind):
    monkeypatch.setattr(progress, "SILENT", 0.15)
    monkeypatch.setattr(sys, "stderr", kind())
    sl.grid(slow, a=range(5), threads=1, words="trying", errors="keep")
    said = sys.stderr.getvalue()
    if kind is Terminal:
        assert "\r" in said
        assert re.search(r"trying:  [468]0%\|.*\| [234]/5 \[00:0\d, \d s left, 1 failed\]", said)
    else:
        first, last = said.splitlines()
        assert re.fullmatch(r"\d\d:\d\d:\d\d trying: [12] of 5, .*\d s left.*", first)
        assert re.fullmatch(r"\d\d:\d\d:\d\d trying: 5 of 5, after \d s, 1 failed", last)


def test_a_file_gets_few_lines(monkeypatch):
    monkeypatch.setattr(progress, "SILENT", 0.02)
    monkeypatch.setattr(progress, "LINES", (0.1, 0.4))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    begin = time.monotonic()
    sl.grid(lambda a: time.sleep(0.01) or a, a=range(80), threads=1)
    took = time.monotonic() - begin
    assert 4 <= len(sys.stderr.getvalue().splitlines()) <= 4 + took / 0.4  # after 0.02, 0.1, 0.2, 0.4, 0.4 s, ...


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (59.4, "59 s"), (60, "1 min"), (3599, "60 min"), (5400, "1.5 h"), (1e6, "11.6 days")],
)
def test_a_span_in_words(seconds, words):
    assert span(seconds) == words
