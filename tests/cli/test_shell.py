"""The command line as a shell knows it: help at once, pipes, JSON, silence, completion, and what is kept on disk."""

import io
import json
import re
import subprocess
import sys

import pandas as pd
import pytest

import schedlab as sl
from schedlab import papers
from schedlab._runtime.paths import cache_dir
from schedlab.cli import cache, parsing
from schedlab.cli.parsing import COMMANDS
from schedlab.cli.shell import in_shell
from schedlab.papers import kept

pytestmark = pytest.mark.tables


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """Keep the user's logs, cache and terminal out of the tests."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCHEDLAB_DATA", raising=False)
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def log(tmp_path):
    trace = sl.testing.trace_of([(0, 100, 100, 4), (10, 50, 80, 6), (20, 10, 20, 2)], machine=8)
    trace.to_swf(tmp_path / "small.swf")
    return tmp_path / "small.swf"


def test_help_loads_nothing_of_the_package():
    """It is there in less than 0.3 s (the issue's limit), which a test of time could not hold on a busy machine."""
    code = "import sys; from schedlab import cli\ntry:\n    cli.main(['--help'])\nexcept SystemExit:\n    pass\n"
    code += "print(*[name for name in ('numpy', 'pandas', 'numba', 'altair', 'joblib') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "simulate one log under one scheme" in done.stdout
    assert done.stdout.splitlines()[-1] == ""


def test_without_a_command_there_is_help(run):
    code, out, err = run()
    assert (code, err) == (0, "")
    assert out == run("--help")[1]


@pytest.mark.parametrize("command", ["show", "simulate", "compare", "conformance"])
def test_help_has_five_options_first_and_all_in_groups(run, command):
    short, whole = (run(command, option)[1] for option in ("--help", "--help-all"))
    assert len(re.findall(r"^  --(?!help)", short, re.MULTILINE)) == 5
    assert len(short.splitlines()) < 45
    for option in ("--lenient", "--time-zone", "--quiet"):
        assert option not in short
        assert option in whole
    titles = re.findall(r"^(\S.*):$", whole, re.MULTILINE)
    assert {"a part of the log", "machine", "reading", "output of Slurm's sacct"} <= {*titles}


def test_a_log_comes_by_standard_input_and_a_schedule_goes_by_standard_output(run, monkeypatch, log):
    def given(content, *arguments):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        return run(*arguments)

    code, out, err = given(log.read_bytes(), "simulate", "-", "--scheme", "fcfs", "--out", "-")
    assert code == 0
    assert "wait_time" in err
    schedule = sl.simulate(sl.read_swf(log), "fcfs")
    (log.parent / "out.swf").write_text(out)
    assert (sl.read_swf(log.parent / "out.swf").jobs["wait_time"] == schedule.jobs["wait_time"]).all()
    code, out, err = given(out.encode(), "show", "-")
    assert code == 0
    assert "jobs: 3" in out
    table = b"a,b,c\n0,60,4\n5,60,8\n"
    code, out, _ = given(table, "show", "-", "--columns", "submit=a,run=b,procs=c", "--machine", 8)
    assert (code, "processors: 8" in out) == (0, True)
    code, out, err = given(b"; MaxProcs: 8\n1 2 three\n", "simulate", "-")
    assert (code, out) == (1, "")
    assert err == "schedlab: standard-input:2: 3 fields, expected 18: '1 2 three'\n"


def test_tables_go_by_standard_output(run, log):
    code, out, _ = run("compare", log, "--scheme", "fcfs,easy", "--out", "-")
    assert code == 0
    table = sl.sweep(sl.read_swf(log), ["fcfs", "easy"], progress=False)
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(out)), table)
    assert pd.read_csv(io.StringIO(run("claims", "pascual2008", "--out", "-")[1]))["id"].str.startswith("PAS").all()
    code, out, err = run("compare", log, "--out", "-", "--json")
    assert (code, out) == (1, "")
    assert err == "schedlab: --out - and --json both want standard output: give one of them\n"


def test_json_has_all_digits(run, log):
    schedule = sl.simulate(sl.read_swf(log).scale_load(0.7), "easy")
    content = json.loads(run("simulate", log, "--load", 0.7, "--classes", "size", "--json")[1])
    expected = schedule.metrics().to_dict()
    assert {name: value for name, value in content["measures"].items() if value is not None} == {
        name: value for name, value in expected.items() if value == value
    }
    assert content["scheme"] == "EASY"
    assert sum(row["jobs"] for row in content["classes"]) == 3
    content = json.loads(run("compare", log, "--scheme", "fcfs,easy", "--load", "0.5,0.9", "--json")[1])
    table = sl.sweep(sl.read_swf(log), ["fcfs", "easy"], [0.5, 0.9], progress=False)
    assert [row["wait_time"] for row in content["rows"]] == table["wait_time"].tolist()
    content = json.loads(run("show", log, "--json")[1])
    assert (content["processors"], content["repairs"]) == (8, [])
    assert len(json.loads(run("traces", "--json")[1])) == len(sl.list_traces())
    assert {row["id"][:3] for row in json.loads(run("claims", "pascual2008", "--json")[1])} == {"PAS"}


def test_schemes_are_compared_by_class(run, log):
    trace = sl.read_swf(log).scale_load(0.7)
    arguments = ("compare", log, "--scheme", "fcfs,easy", "--load", 0.7, "--classes", "size")
    content = json.loads(run(*arguments, "--json")[1])["classes"]
    for scheme in ("fcfs", "easy"):
        schedule = sl.simulate(trace, scheme)
        expected = schedule.metrics(by="size")["wait_time"]
        waits = {row["class"]: row[str(schedule.scheme)] for row in content}
        assert waits == {name: wait if wait == wait else None for name, wait in expected.items()}
    out = run(*arguments)[1]
    assert "mean wait (s) by size\nclass  jobs  FCFS  EASY\n" in out
    for more in (("--copies", 2), ("--load", "0.5,0.7")):
        assert run(*arguments, *more)[2] == "schedlab: --classes is for one load, without --copies\n"
    assert "unknown classes 'colour'" in run(*arguments[:-1], "colour")[2]


def test_quiet_prints_results_only(run, log):
    loud, quiet = (run("simulate", log, "--load", 0.1, "--out", "a.csv", *option) for option in ((), ("-q",)))
    assert quiet == (0, loud[1], "")
    assert "written" in loud[2]
    code, out, err = run("simulate", log, "--load", 0.1, "--out", "-", "-q")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].split()[0] == "3"
    assert sl.progress()


@pytest.mark.parametrize("paper", ["pascual2008", "grudenic2010"])
def test_claims_are_those_that_are_kept(run, monkeypatch, paper):
    (module,) = papers.modules([paper])
    monkeypatch.setattr(module, "claims", None)  # nothing is simulated
    out = run("claims", paper)[1]
    ledger = kept.ledger_of(paper)
    assert all(re.search(rf"^{re.escape(claim)} ", out, re.MULTILINE) for claim in ledger["id"])
    code, _, err = run("claims", paper, "--size", "full")
    assert (code, err) == (1, "schedlab: --size is how much is simulated: give --run, too\n")


def test_kept_claims_of_other_kernels_say_so(run, monkeypatch):
    monkeypatch.setattr(kept, "stale", lambda paper: True)
    err = run("claims", "pascual2008")[2]
    assert err == "schedlab: warning: pascual2008: kernels have changed since this was kept; give --run\n"


def test_the_cache_is_shown_and_cleared_but_for_logs_that_are_not_named(run):
    for room in cache.ROOMS:
        cache_dir(room).mkdir(parents=True)
        (cache_dir(room) / "file").write_bytes(bytes(2_000_000))
    code, out, _ = run("cache")
    assert code == 0
    assert out.splitlines()[0] == str(cache_dir("runs").parent)
    assert all(re.search(rf"^{room} .* 1 +2$", out, re.MULTILINE) for room in cache.ROOMS)
    assert run("cache", "--clear", "runs") == (0, "", "deleted: runs, 1 files, 2.0 MB\n")
    assert not cache_dir("runs").exists()
    assert run("cache", "--clear", "-q") == (0, "", "")
    assert [room for room in cache.ROOMS if cache_dir(room).exists()] == ["traces"]
    code, _, err = run("cache", "--clear", "numa")
    assert code == 2
    assert "did you mean 'numba'?" in err


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_a_shell_can_complete(run, shell):
    code, out, err = run("completion", shell)
    assert (code, err) == (0, "")
    assert all(command in out for command in COMMANDS)
    assert "overrun" in out


def test_bash_takes_the_completion(run, tmp_path):
    script = tmp_path / "complete"
    script.write_text(run("completion", "bash")[1])
    test = (
        f"source {script}; COMP_WORDS=(schedlab simulate --ov); COMP_CWORD=2; _shtab_schedlab; echo ${{COMPREPLY[@]}}"
    )
    done = subprocess.run(["bash", "-c", test], capture_output=True, text=True)
    assert done.stdout.strip() == "--overrun"


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("give machine=", "give --machine"),
        ("give machine={name: processors, ...}", "give --machine NAME=PROCESSORS,..."),
        ("names=True keeps them; lenient=True skips them", "--names keeps them; --lenient skips them"),
        ("overrun='keep' lets it run", "--overrun 'keep' lets it run"),
        ("missing_estimate=60", "--missing-estimate 60"),
        ("or_standin=True generates one", "--standin generates one"),
        ("name its column: submit=...", "name its column: --columns submit=..."),
        ("name its columns with columns=; run", "name its columns with --columns; run"),
        ("procs=... or nodes=...", "--columns procs=... or --columns nodes=..."),
        ("argument --machine: p=8", "argument --machine: p=8"),
    ],
)
def test_messages_speak_shell(python, shell):
    assert in_shell(python) == shell


def test_quiet_still_warns_of_what_is_worth_a_look(run, tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("submit_time,run_time,requested_procs\n0,60,4\n900,60,4\n")
    err = run("simulate", path, "--machine", 8, "-q")[2]
    assert err.startswith("schedlab: warning: jobs: worth a look: all 2 jobs without an estimate")


def test_the_command_for_slurm_ends_a_month_after_it_begins(run):
    assert "--starttime=2026-10-01 --endtime=2026-11-01 " in run("sacct-command", "--begin", "2026-10-01")[1]
    command = run("sacct-command")[1]
    begin, end = map(pd.Timestamp, re.search(r"--starttime=(\S+) --endtime=(\S+)", command).groups())
    assert begin.day == end.day == 1
    assert begin < end <= pd.Timestamp.now()
    code, _, err = run("sacct-command", "--begin", "2026-10-01", "--end", "2026-09-01")
    assert (code, err) == (1, "schedlab: --end 2026-09-01 is not after --begin 2026-10-01\n")
    assert "expected a date such as" in run("sacct-command", "--begin", "yesterday")[2]


def test_a_page_takes_whatever_show_takes(run, tmp_path):
    from schedlab.workload import sacct

    code, out, _ = run("page", tmp_path / "try.html", sacct.example_path(), "-q")
    assert (code, out) == (0, f"{tmp_path / 'try.html'}\n")
    assert "sacct-example" in (tmp_path / "try.html").read_text("utf-8")


def test_what_cannot_be_fetched_may_have_a_stand_in(run):
    code, _, err = run("show", "NASA-iPSC-1993-3.1-cln")
    assert (code, "stand-in" in err) == (1, False)


def test_every_command_has_its_options():
    for name in COMMANDS:
        whole = parsing.parser([name], whole=True)
        assert "--quiet" in whole.format_help() or name
        with pytest.raises(SystemExit):
            whole.parse_args([name, "--help"])
