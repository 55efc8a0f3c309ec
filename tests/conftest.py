"""What all tests share: hypothesis without deadlines, a cache of their own, and the logs if available."""

import os
from collections import OrderedDict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A deadline would time the compiler. The same examples in every run, half as many ("quick") as in `.ci/run` ("ci");
# --hypothesis-profile=search looks for new ones.
default, slow = settings.get_profile("default"), [HealthCheck.too_slow]
search = settings(default, max_examples=200, deadline=None, suppress_health_check=slow)
settings.register_profile("search", search)
settings.register_profile("ci", search, max_examples=100, derandomize=True)
settings.register_profile("quick", search, max_examples=50, derandomize=True)
settings.load_profile("quick")

LOGS = os.environ.get("SCHEDLAB_DATA")


def logs_at_hand():
    return bool(LOGS) and Path(LOGS).is_dir()


def pytest_collection_modifyitems(items):
    """Skip the tests that need the archive's logs if these are missing, and say why."""
    missing = pytest.mark.skip(reason="needs the archive's logs; set SCHEDLAB_DATA to their folder")
    for item in items:
        if "traces" in item.keywords and not logs_at_hand():
            item.add_marker(missing)


def pytest_collection_finish():
    """Prepare a process that runs tests. The one that distributes them needs no charts, and starts a second sooner."""
    from schedlab._runtime import compiling
    from schedlab.charts import theme

    compiling.not_here()  # tests compile what they use, without a message
    theme.CHECKED = True  # every chart that a test draws is checked against Vega-Lite's schema, in parts and as a whole


@pytest.fixture
def nothing_kept(monkeypatch, tmp_path):
    """Let no full-size results be kept, and no runs be remembered."""
    from schedlab.experiment import forget
    from schedlab.papers import kept

    monkeypatch.setattr(kept, "folder", lambda: tmp_path / "no-results")
    kept.ledger_of.cache_clear()
    forget()
    yield
    kept.ledger_of.cache_clear()
    forget()


@pytest.fixture(scope="module")
def runs_of_the_file():
    return OrderedDict()


@pytest.fixture
def shared_runs(runs_of_the_file):
    """Do each run once for all tests of a file that request this; they must put the same small logs in place of whole.

    Request it after the fixture that replaces the logs. Other tests neither see these runs nor lose theirs. Runs go one
    at a time: joblib checks every 10 ms whether threads are done, which is longer than a run takes.
    """
    from joblib import parallel_config

    from schedlab.experiment import memory

    with pytest.MonkeyPatch.context() as patch, parallel_config(n_jobs=1):
        patch.setattr(memory, "runs", runs_of_the_file)
        yield


@pytest.fixture
def counting(tmp_path):
    """Let a function count its calls in a file: the digest of one that counts in a list would change at each call."""
    log = str(tmp_path / "calls")

    def counted(function):
        def call(*arguments, **settings):
            with open(log, "a") as file:
                file.write(".")
            return function(*arguments, **settings)

        return call

    def calls():
        """Return the number of calls since this was last asked."""
        count = len(Path(log).read_text()) if Path(log).exists() else 0
        Path(log).unlink(missing_ok=True)
        return count

    counted.calls = calls
    return counted


@pytest.fixture
def reference():
    """Return the folder of published schedules, next to the logs."""
    folder = Path(LOGS).parent / "reference"
    if not folder.is_dir():
        pytest.skip(f"needs the published schedules in {folder}")
    return folder


@pytest.fixture
def run(capsys):
    """Run a command in this process; return exit code, standard output and standard error."""
    from schedlab import cli

    def run(*arguments):
        try:
            code = cli.main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
        return code, *capsys.readouterr()

    return run


@pytest.fixture(params=["batched", "each"])
def events(request):
    """How instants with several events are seen, one convention after the other."""
    return request.param
