"""What callers may expect of any scheme: a user's own, one of another package, and all built-in ones."""

import pickle
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from museum import OneByOne
from workloads import changed, examples, trace_of, workloads

import schedlab as sl
from schedlab import charts, schemes
from schedlab.schedule import ScheduleError
from schedlab.schemes import base, cases

pytestmark = pytest.mark.reduced

JOBS = [(0, 5, 9, 2), (1, 3, 3, 3), (2, 4, 4, 1), (20, 0, 1, 4)]
LATER = [0, 9, 20, 30]


@pytest.fixture(autouse=True)
def names_as_they_were(monkeypatch):
    """Let no test leave a name behind."""
    monkeypatch.setattr(base, "_named", dict(base._named))


def test_a_scheme_of_ones_own_is_simulated_measured_and_drawn():
    trace = trace_of(JOBS, 4)
    schedule = sl.simulate(trace, OneByOne()).validate()
    assert schedule.start.tolist() == [0, 5, 8, 20]
    assert schedule.metrics()["wait_time"] == (4 + 6) / 4
    assert str(schedule.scheme) == "OneByOne"
    assert sl.fair_starts(schedule).tolist() == schedule.start.tolist()
    assert schedule.allocations()[:3] == ["0-1", "0-2", "0"]
    charts.gantt(schedule).to_dict()
    charts.profile(schedule).to_dict()
    table = sl.sweep(trace=trace, scheme=[OneByOne(), "easy"], seed=range(2), progress=False)
    assert table["scheme"].unique().tolist() == ["OneByOne", "EASY"]
    sites = sl.simulate_sites([trace, trace], OneByOne()).validate()
    assert sites[1].start.tolist() == schedule.start.tolist()


def test_the_laws_bind_a_scheme_of_ones_own():
    class Promising(OneByOne):
        promises = True

    class PromisingByMethod(OneByOne):
        def promises(self, machine):
            return True

    for scheme in (Promising(), PromisingByMethod()):
        schedule = sl.simulate(trace_of(JOBS, 4), scheme).validate()
        with pytest.raises(ScheduleError, match="job 2 starts at 5, but had been promised 4"):
            changed(schedule, promise=[-1, 4, -1, -1]).validate()
    with pytest.raises(ScheduleError, match="5 processors held at 1 s, expected at most 4"):
        changed(schedule, start=[0, 1, 2, 20]).validate()


@dataclass(frozen=True)
class Given(sl.Scheme):
    """Jobs start at given times."""

    starts: tuple

    def simulate(self, case):
        return case.outcome(np.array(self.starts))


@examples(200)
@given(workloads(overrun=True), st.lists(st.integers(0, 9), min_size=14, max_size=14))
def test_simulate_and_validate_count_the_processors_alike(workload, waits):
    jobs, procs = workload
    trace = trace_of(jobs, procs)
    starts = tuple(job.submit - jobs[0].submit + wait for job, wait in zip(jobs, waits, strict=False))
    one_by_one = sl.simulate(trace, OneByOne(), overrun="extend")
    try:
        changed(one_by_one, start=[start + jobs[0].submit for start in starts]).validate()
        fits = True
    except ScheduleError:
        fits = False
    with nullcontext() if fits else pytest.raises(sl.schemes.SchemeError, match="processors held"):
        sl.simulate(trace, Given(starts), overrun="extend")


def test_declarations_that_no_caller_could_use_are_refused():
    with pytest.raises(TypeError, match="promises of Often is 'often', expected promises = True"):
        type("Often", (sl.Scheme,), {"promises": "often"})
    with pytest.raises(TypeError, match="promises of Set is annotated like a setting, expected promises = True"):

        class Set(sl.Scheme):
            promises: bool = True

    with pytest.raises(TypeError, match="in_order of Method is .*expected True, False or a property"):
        type("Method", (sl.Scheme,), {"in_order": lambda self: True})


@pytest.mark.parametrize(
    ("give", "message"),
    [
        (lambda case: case.jobs.submit, "Wrong gave a ndarray, expected an Outcome: case.outcome"),
        (lambda case: None, "Wrong gave a NoneType, expected an Outcome"),
        (lambda case: case.outcome(case.jobs.submit[:-1]), r"start of shape \(3,\), expected one for each of 4"),
        (lambda case: case.outcome(case.jobs.submit + 0.5), "gave start of type float64, expected whole numbers"),
        (lambda case: case.outcome(case.jobs.submit, [1, 2]), r"gave promise of shape \(2,\)"),
        (lambda case: case.outcome(case.jobs.submit, killed=case.jobs.submit), "gave killed of type int64"),
        (lambda case: case.outcome(None), "gave start None, expected one for each of 4 jobs"),
        (lambda case: case.outcome([0, 0, 0, 30]), "starts job 2 at 0 s, before its submission at 1 s"),
        (lambda case: case.outcome([0, 1, 2, 20]), "at 1 s: job 2 starts with 5 processors held at 1 s, expected at m"),
        (lambda case: case.outcome(LATER, 5), r"gave promise of shape \(\), expected"),
        (lambda case: case.outcome(LATER, estimate=[1, 2]), r"gave estimate of shape \(2,\), expected"),
        (lambda case: case.outcome(LATER, backfilled=[1, 0, 0, 0]), "backfilled of type int64, expected True or False"),
    ],
)
def test_what_is_no_outcome_of_the_case_is_refused(give, message):
    class Wrong(sl.Scheme):
        def simulate(self, case):
            return give(case)

    with pytest.raises((TypeError, ValueError), match=message):
        sl.simulate(trace_of(JOBS, 4), Wrong())
    with pytest.raises((TypeError, ValueError), match=message):
        sl.simulate_sites([trace_of(JOBS, 4)], Wrong())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"procs": [1, 1, 1, 1]}, "job 1 does not have the processors it asks for, at 0"),
        ({"submit": [0, 1, 1, 20]}, "job 3 is not submitted at 2, as the trace says"),
        ({"estimate": [9, 3, 4, 1]}, None),
    ],
)
def test_the_laws_hold_a_scheme_to_its_trace(change, message):
    schedule = sl.simulate(trace_of(JOBS, 4), OneByOne()).validate()
    schedule = changed(schedule, **{name: np.array(values) for name, values in change.items()})
    if message is None:
        schedule.validate()
    else:
        with pytest.raises(ScheduleError, match=message):
            schedule.validate()


def test_processors_are_only_given_where_there_are_enough():
    schedule = changed(sl.simulate(trace_of(JOBS, 4), OneByOne()), start=[0, 1, 2, 20])
    with pytest.raises(ScheduleError, match="5 processors held at 1 s, expected at most 4"):
        schedule.allocations()


def test_what_a_scheme_does_not_take_is_refused():
    trace = trace_of(JOBS, 4)
    for settings, message in (
        ({"events": "each"}, "events are batched under OneByOne, got 'each'"),
        ({"overrun": "keep"}, "overrun 'keep' is for DPSA, EASY and FCFS, not for OneByOne: use 'kill' or 'extend'"),
        ({"overrun": "kill-backfilled"}, "overrun 'kill-backfilled' is for jobs on nodes, not for OneByOne"),
        ({"machine": sl.KaryTree(2, 2)}, "OneByOne cannot run on 2-ary 2-tree .*: Conservative, DPSA, EASY"),
    ):
        with pytest.raises(ValueError, match=message):
            sl.simulate(trace, OneByOne(), **settings)


def test_defining_a_scheme_makes_its_names_and_colours_known():
    @dataclass(frozen=True)
    class Slow(OneByOne):
        order: str = "fcfs"

        label = "Slow"
        names = {"slow": {}, "slower": {"order": "sjf"}}  # noqa: RUF012 - as a user writes it
        colours = {"Slow": "#123456"}  # noqa: RUF012 - as a user writes it

    assert schemes.scheme("slow") == Slow()
    assert schemes.scheme("slower") == schemes.scheme("slow-sjf") == Slow(order="sjf")
    assert sl.Slow is Slow
    assert "Slow" in dir(sl)
    assert charts.colours(["Slow"]) == ["#123456"]
    with pytest.raises(ValueError, match="unknown scheme 'esay'; known: .*, slow, slower"):
        schemes.scheme("esay")


def test_a_name_belongs_to_one_scheme():
    for name, names in (("Easier", {"easy": {}}), ("EASY", {"Easy": {}})):  # the second of another module
        with pytest.raises(ValueError, match=f"the name 'easy' of {name} is taken by EASY"):
            type(name, (sl.Scheme,), {"names": names})
    for _ in range(2):  # a cell that is run again
        mine = type("Mine", (sl.Scheme,), {"names": {"mine": {}}})
    assert type(schemes.scheme("mine")) is mine
    with pytest.raises(ValueError, match="needs of Odd is 'luck'; known: None, 'speedup', 'sweeps', 'waits'"):
        type("Odd", (sl.Scheme,), {"needs": "luck"})


@pytest.fixture
def installed(monkeypatch):
    """Install packages that name their schemes as entry points."""

    def install(**packages):
        points = [EntryPoint(name, value, base.ENTRY_POINTS) for name, value in packages.items()]
        monkeypatch.setattr(base, "entry_points", lambda group: points if group == "schedlab.schemes" else [])
        base._load_others.cache_clear()

    yield install
    base._load_others.cache_clear()


def test_schemes_of_other_packages_are_found_by_their_entry_points(installed, monkeypatch, tmp_path):
    (tmp_path / "theirs.py").write_text(
        "import schedlab as sl\n\nclass Theirs(sl.EASY):\n    label = 'Theirs'\n    names = {'theirs': {}}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    installed(theirs="theirs")
    assert str(schemes.scheme("theirs")) == "Theirs"
    assert sl.simulate(trace_of(JOBS, 4), "theirs").start.tolist() == [0, 5, 2, 20]


def test_a_package_that_cannot_be_loaded_does_not_stop_the_others(installed):
    installed(broken="no_such_module_of_theirs")
    with pytest.warns(UserWarning, match="the schemes of broken .* cannot be loaded: ModuleNotFoundError"):
        known = schemes.by_name()
    assert "easy" in known


@pytest.mark.parametrize("name", schemes.by_name())
def test_every_scheme_says_what_it_is(name):
    scheme = schemes.scheme(name)
    assert isinstance(scheme, sl.Scheme)
    assert scheme.label
    assert getattr(sl, type(scheme).__name__) is type(scheme)
    assert str(scheme) in schemes.colours()
    assert sl.Flat in scheme.machines
    assert scheme.needs in base.NEEDS


def test_a_case_of_fewer_jobs_has_what_is_theirs():
    trace = trace_of(JOBS, 4).with_parameter_sweeps(1, min_procs=2)
    case, _ = cases.case_of(trace, schemes.scheme("ojs"))
    few = case.first(2)
    assert len(few) == few.jobs.procs.size == len(few.breakdown) == len(few.cut) == 2
    assert few.number(1) == 2
    assert (few.machine, few.name) == (case.machine, case.name)


def test_what_an_outcome_gives_away_cannot_be_written_even_after_pickling_and_the_case_can():
    case, _ = cases.case_of(trace_of(JOBS, 4), sl.EASY())
    outcome = sl.EASY().simulate(case)
    for array in (outcome.start, outcome.run, pickle.loads(pickle.dumps(outcome)).start):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    case.jobs.run[0] = case.jobs.run[0]  # or kernels would be compiled once more for it


@dataclass(frozen=True)
class Delayed(sl.Scheme):
    """One job after the other, each some seconds late."""

    seconds: int = 0

    def simulate(self, case):
        return case.outcome(np.cumsum(case.jobs.run) - case.jobs.run + case.jobs.submit[-1] + self.seconds)


def test_settings_are_in_the_name():
    table = sl.sweep(trace_of(JOBS, 4), [Delayed(), Delayed(seconds=3)], progress=False)
    assert table["scheme"].tolist() == ["Delayed", "Delayed (seconds 3)"]


def case_of(**columns):
    own = dict(zip(("submit", "run", "estimate", "procs"), np.array(JOBS).T, strict=True)) | columns
    return sl.Case(schemes.Jobs(**own), sl.Flat(4))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"procs": [1, 2]}, "has 4 submissions, but 2 of procs"),
        ({"run": [1.5, 2, 3, 4]}, "run of the trace is float64, expected a whole number for each job"),
        ({"procs": [1, 2, 9, 1]}, "job 3 asks for 9 processors, expected 1 to 4 processors"),
        ({"procs": [0, 2, 3, 1]}, "job 1 asks for 0 processors"),
    ],
)
def test_a_case_that_cannot_be(columns, message):
    with pytest.raises((ValueError, TypeError), match=message):
        case_of(**columns)


def test_cases_take_lists_and_narrow_types_and_no_jobs():
    plain = sl.EASY().outcome(case_of()).start
    narrow = case_of(run=np.array(JOBS, "int32")[:, 1], submit=[job[0] for job in JOBS])
    assert narrow.jobs.run.dtype == "int64"
    assert sl.EASY().outcome(narrow).start.tolist() == plain.tolist()
    for scheme in ("fcfs", "easy", "conservative", "dpsan"):
        assert schemes.scheme(scheme).outcome(case_of().first(0)).start.tolist() == []


def test_each_site_needs_an_outcome():
    @dataclass(frozen=True)
    class OneSite(sl.Scheme):
        def simulate_sites(self, cases, speeds):
            return [case.outcome(np.cumsum(case.jobs.run) + 30) for case in cases[:1]]

    with pytest.raises(ValueError, match="OneSite gave 1 outcomes, expected one for each of 2 sites"):
        sl.simulate_sites([trace_of(JOBS, 4)] * 2, OneSite())
