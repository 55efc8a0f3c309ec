"""Nothing kept is stale: whatever a result depends on is another thing, and it is computed again."""

import gzip
import os
import shutil
import sys
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module, reload
from pathlib import Path

import pytest
from workloads import trace_of

import schedlab as sl
from schedlab import experiment
from schedlab._runtime.digests import digest
from schedlab._runtime.files import recording

pytestmark = pytest.mark.tables

FOLDER = Path()  # tests set both to a folder and a log
LOG = ""
FACTOR = 1


@pytest.fixture(autouse=True)
def nothing_remembered():
    experiment.forget()


@pytest.fixture(params=["session", "store", "both"])
def ask(request, tmp_path):
    """Return a grid that asks again: in the same session, in another one with a store, or in both."""

    def grid(run, **values):
        if request.param == "store":
            experiment.forget()
        store = None if request.param == "session" else tmp_path / "runs"
        return sl.grid(run, progress=False, store=store, **values)["value"].tolist()

    return grid


def write(path, jobs):
    trace_of([(i, 10, 10, 1) for i in range(jobs)], 4).to_swf(path)


# --- Code: a function, what it calls, and the constants that it reads ---
CODE = """
import schedlab as sl
FACTOR = 1
def helper(x):
    return FACTOR * x
class Helper:
    def times(self, x):
        return FACTOR * x
@sl.experiment.remember(4)
def remembered(x):
    return helper(x)
@sl.experiment.remember(4)
def with_class(x):
    return Helper().times(x)
@sl.experiment.remember(4)
def with_constant(x):
    return FACTOR * x
@sl.experiment.remember(4)
def twice_removed(x):
    return remembered(x)
def run(x):
    return {}
"""
EDITS = {"a helper": ("return FACTOR * x", "return 3 * x"), "a constant": ("FACTOR = 1", "FACTOR = 3")}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("way", ["remembered", "with_class", "with_constant", "twice_removed", "helper"])
def test_an_edit_of_what_a_remembered_function_uses_makes_both_new(ask, tmp_path, monkeypatch, edit, way):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    code = CODE.replace("{}", f"{way}(x)")
    (tmp_path / "my_code.py").write_text(code)
    module = import_module("my_code")
    try:
        assert ask(module.run, x=2) == [2]
        (tmp_path / "my_code.py").write_text(code.replace(*EDITS[edit]))
        os.utime(tmp_path / "my_code.py", (1, 1))
        assert ask(module.run, x=2) == [2]  # the code that is loaded is the old one
        module = reload(module)
        for _ in range(2):
            assert ask(module.run, x=2) == [6]
    finally:
        del sys.modules["my_code"]


def test_an_edit_in_a_notebook_counts(ask):
    """A cell that defines a helper again changes what the functions of other cells are."""
    space = {"sl": sl, "__name__": "__main__"}
    exec("K = 1\ndef helper(x):\n    return K * x\n", space)
    exec("@sl.experiment.remember(4)\ndef remembered(x):\n    return helper(x)\n", space)
    exec("def run(x):\n    return remembered(x)\n", space)
    assert ask(space["run"], x=2) == [2]
    exec("K = 5", space)
    assert ask(space["run"], x=2) == [10]
    exec("def helper(x):\n    return -x\n", space)
    assert ask(space["run"], x=2) == [-2]


def test_a_field_that_a_dataclass_does_not_compare_counts(ask):
    @dataclass(frozen=True)
    class Setting:
        name: str
        factor: int = field(default=1, compare=False)

    def run(setting):
        return setting.factor

    assert [ask(run, setting=Setting("a", factor)) for factor in (1, 2)] == [[1], [2]]


LAB = """
import functools
from my_lab import deep

def f(x):
    return {factor} * x

@functools.cache
def cached(x):
    return {factor} * x
"""
REACHED = {  # the code of a study in the same package, by how it comes by what the package has
    "a name": "from my_lab.near import f\ndef run(x):\n    return f(x)\n",
    "a module": "import my_lab.near\ndef run(x):\n    return my_lab.near.f(x)\n",
    "a submodule": "import my_lab.near\ndef run(x):\n    return my_lab.near.deep.far(x)\n",
    "a cached helper": "from my_lab.near import cached\ndef run(x):\n    return cached(x)\n",
    "an import within": "def run(x):\n    import my_lab.near\n    return my_lab.near.f(x)\n",
    "above and within": "import my_lab.near\ndef run(x):\n    import my_lab.near\n    return my_lab.near.f(x)\n",
    "a name from within": "def run(x):\n    from my_lab.near import f as g\n    return g(x)\n",
    "relative": "def run(x):\n    from .near import f\n    return f(x)\n",
    "a relative module": "def run(x):\n    from . import near\n    return near.f(x)\n",
    "beside what fails": (
        "def run(x):\n    from my_lab.near import f\n"
        "    try:\n        import a_missing_one\n    except ImportError:\n        return f(x)\n"
    ),
    "in a dict": "from . import near\nSCHEMES = {'mine': near}\ndef run(x):\n    return SCHEMES['mine'].f(x)\n",
    "a submodule in a dict": "import my_lab\nHELD = [my_lab]\ndef run(x):\n    return HELD[0].near.deep.far(x)\n",
    "as a default": "from . import near\ndef run(x, helpers=near):\n    return helpers.f(x)\n",
    "in an object": (
        "from . import near\nclass Held:\n    def __init__(self):\n        self.helpers = near\n"
        "HELD = Held()\ndef run(x):\n    return HELD.helpers.f(x)\n"
    ),
}


@pytest.mark.parametrize("reached", REACHED)
def test_an_edit_of_a_module_counts_however_it_is_reached(ask, tmp_path, monkeypatch, reached):
    lab = tmp_path / "my_lab"
    lab.mkdir()
    (lab / "__init__.py").write_text("from my_lab import near" if "submodule in" in reached else "")
    (lab / "study.py").write_text(REACHED[reached])
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def version(factor):
        (lab / "near.py").write_text(LAB.format(factor=factor))
        (lab / "deep.py").write_text(f"def far(x):\n    return {factor} * x\n")
        for name in [name for name in sys.modules if name.startswith("my_lab")]:
            monkeypatch.delitem(sys.modules, name)
        return import_module("my_lab.study").run

    assert digest(version(2)) == digest(version(2)) != digest(version(30))
    for factor in (2, 30):
        run = version(factor)
        before = digest(run)
        assert ask(run, x=2) == [2 * factor]
        assert digest(run) == before  # also when all is imported


# --- Files: however a run comes by their names ---
def name_of_a_text(name):
    return len(sl.read_swf(FOLDER / f"{name}.swf"))


@experiment.remember(4)
def log_of(name):
    return sl.read_swf(FOLDER / f"{name}.swf")


@experiment.remember(4)
def simulated(name):
    return sl.simulate(log_of(name), "fcfs")


WAYS = {
    "a text": (name_of_a_text, "my"),
    "a tuple": (lambda name: len(sl.read_swf(name[0])), [("{log}",)]),
    "a dict": (lambda name: len(sl.read_swf(name["log"])), [{"log": "{log}"}]),
    "a global": (lambda name: len(sl.read_swf(LOG)), "my"),
    "in the body": (lambda name: len(sl.read_swf(os.path.join(os.environ["MY_FOLDER"], "my.swf"))), "my"),
    "a value": (lambda name: len(sl.read_swf(name)), "{log}"),
    "a partial function": (partial(lambda name: len(sl.read_swf(name))), "{log}"),
    "remembered": (lambda name: len(log_of(name)), "my"),
    "remembered twice": (lambda name: len(simulated(name).jobs), "my"),
    "in another grid": (lambda name: sl.grid(name_of_a_text, name=name, progress=False)["value"].iloc[0], "my"),
    "leniently": (lambda name: len(sl.read_swf(FOLDER / f"{name}.swf", lenient=True)), "my"),
}


def named(way, log):
    """Put the path of the log into a value."""
    if isinstance(way, str):
        return way.format(log=log)
    if isinstance(way, dict):
        return {key: named(one, log) for key, one in way.items()}
    return type(way)(named(one, log) for one in way)


@pytest.mark.parametrize("way", WAYS)
def test_a_file_counts_by_its_content(ask, tmp_path, monkeypatch, way):
    run, value = WAYS[way]
    log = tmp_path / "my.swf"
    monkeypatch.setitem(globals(), "FOLDER", tmp_path)
    monkeypatch.setitem(globals(), "LOG", str(log))
    monkeypatch.setenv("MY_FOLDER", str(tmp_path))
    value = named(value, log)
    write(log, 3)
    assert ask(run, name=value) == [3]
    write(log, 5)
    assert ask(run, name=value) == [5]
    assert ask(run, name=value) == [5]
    write(log, 3)
    assert ask(run, name=value) == [3]


def test_what_has_not_changed_is_not_read_again(tmp_path, monkeypatch):
    log, made = tmp_path / "my.swf", str(tmp_path / "made")

    def run(name):
        with open(made, "a") as file:
            file.write("x")
        return len(sl.read_swf(name))

    write(log, 3)
    for _ in range(3):
        os.utime(log)
        experiment.forget()
        sl.grid(run, name=str(log), progress=False, store=tmp_path / "runs")
    assert Path(made).read_text() == "x"


@pytest.mark.parametrize("use", ["in a run, cached", "before, simulated", "before, only looked at"])
def test_a_trace_that_was_read_elsewhere_counts_too(ask, tmp_path, use):
    """A run that does not read the file gets a trace that knows where it comes from."""
    log = tmp_path / "my.swf"

    def session():
        class Study:
            @cached_property
            def trace(self):
                return sl.read_swf(log)

        study = Study()
        if use.startswith("before"):
            assert study.trace.procs == 4

        def run(load):
            trace = study.trace if "looked" in use else study.trace.scale_load(load)
            return trace.jobs["run_time"].count() if "looked" in use else len(sl.simulate(trace, "fcfs").jobs)

        return run

    for jobs in (3, 5):
        write(log, jobs)
        assert ask(session(), load=[0.5, 0.7]) == [jobs, jobs]
    assert ask(session(), load=[0.7]) == [5]


@pytest.mark.parametrize("remembered", [False, True])
def test_a_relative_path_is_of_the_present_folder(ask, tmp_path, monkeypatch, remembered):
    def read(path):
        return sl.read_swf(path)

    reading = experiment.remember(4)(read) if remembered else read

    def run(name):
        return len(reading(f"{name}.swf"))

    for name, jobs in (("one", 3), ("other", 5), ("one", 3)):
        (tmp_path / name).mkdir(exist_ok=True)
        write(tmp_path / name / "my.swf", jobs)
        monkeypatch.chdir(tmp_path / name)
        assert ask(run, name="my") == [jobs]


READERS = {
    "swf.gz": lambda path: sl.read_swf(path),
    "csv": lambda path: sl.read_table(path, submit="submit", run="run", procs="procs", machine=4),
    "txt": lambda path: sl.read_sacct(path),
    "folder": lambda path: sl.read_table(path / "my.csv", submit="submit", run="run", procs="procs", machine=4),
    "jann": lambda path: sl.model_trace("jann", jobs=20, table=path),
}
SACCT = "JobID|Submit|Start|End|State|NCPUS|Timelimit\n"
ROW = "{0}|2024-01-01T00:00:0{0}|2024-01-01T00:01:00|2024-01-01T00:02:00|COMPLETED|1|00:10:00\n"


@pytest.mark.parametrize("kind", READERS)
def test_every_reader_says_what_it_reads(ask, tmp_path, kind):
    path, read = tmp_path / ("jobs" if kind == "folder" else f"my.{kind}"), READERS[kind]

    def write_jobs(count):
        if kind == "swf.gz":
            write(path, count)
        elif kind == "jann":
            table = (Path(sl.__file__).parents[1] / "data" / "jann-ctc.csv").read_text()
            path.write_text(table.replace("257,322", f"257,{320 + count}"))
        elif kind == "txt":
            path.write_text(SACCT + "".join(ROW.format(i) for i in range(1, count + 1)))
        else:
            file = path / "my.csv" if kind == "folder" else path
            file.parent.mkdir(exist_ok=True)
            file.write_text("submit,run,procs\n" + "".join(f"{i},10,1\n" for i in range(count)))

    numbers = []

    def run(seed):
        numbers.append(seed)
        return len(read(path))

    for count in (3, 3, 5):
        write_jobs(count)
        numbers.clear()
        ask(run, seed=1)
    assert numbers == [1]
    with recording() as files:
        trace = read(path)
    assert set(map(Path, files)) >= {path / "my.csv" if kind == "folder" else path}
    assert kind == "jann" or dict(trace.files) == files


@pytest.mark.parametrize("packed", [False, True])
def test_a_log_that_has_come_is_not_taken_for_its_stand_in(ask, tmp_path, monkeypatch, packed):
    monkeypatch.setenv("SCHEDLAB_DATA", str(tmp_path / "logs"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SCHEDLAB_CACHE", raising=False)
    (tmp_path / "logs").mkdir()
    monkeypatch.setattr(sl.workload.archive, "check_digest", lambda *_: None)
    monkeypatch.setattr(sl.workload.archive, "fetch", lambda name, **_: sl.workload.archive.find(name))

    def run(log):
        return {"value": sl.load_trace(log, or_standin=True).source}

    assert ask(run, log="KTH-SP2-1996") == ["stand-in"]
    path = tmp_path / "logs" / "KTH-SP2-1996-2.1-cln.swf"
    write(path, 3)
    if packed:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert ask(run, log="KTH-SP2-1996") == ["archive"]
    monkeypatch.setenv("SCHEDLAB_DATA", str(shutil.move(tmp_path / "logs", tmp_path / "moved")))
    assert ask(run, log="KTH-SP2-1996") == ["archive"]
