"""What is given to `judge`: files of probes in any dress, and what is refused because nobody could mean it."""

import gzip
import re

import pandas as pd
import pytest

import schedlab as sl
from schedlab import conformance
from schedlab.cli import main
from schedlab.testing.conformance import judge, read_starts
from schedlab.testing.conformance.files import read_table, table_of
from schedlab.testing.conformance.matching import matched

PROBE = conformance.probe(1)
FILE = PROBE.path.stem
STARTS = {1: 0, 2: 10, 3: 2, 4: 3}
TEXT = "job,start\n1,0\n2,10\n3,2\n4,3\n"
PACKED = gzip.compress(TEXT.encode(), mtime=0)


@pytest.fixture(scope="module")
def trace():
    """Ten jobs of a model."""
    return sl.model_trace("lublin", jobs=10, machine=8, seed=1)


# --- Files ---


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (f"{FILE}.csv", TEXT.encode("utf-8-sig")),
        (f"{FILE}.csv", gzip.compress(TEXT.encode("utf-8-sig"), mtime=0)),
        (f"{FILE}.csv.gz", PACKED),
        (f"{FILE}.CSV.GZ", PACKED),
        (f"{FILE}.Csv.gz", TEXT.encode()),
        (f"{FILE}.txt", TEXT.replace("\n", "\r\n").encode()),
    ],
)
def test_the_content_of_a_file_decides_how_it_is_read(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert read_starts(tmp_path / name, PROBE) == STARTS
    assert judge(tmp_path)["probe"].tolist() == [1]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"job_id,start\n", ": no jobs in the file, only the names of its columns"),
        (PACKED[:-9], ": the gzip stream ends early, expected a complete file"),
        (PACKED[:-8] + bytes(8), ": the gzip stream is damaged ("),
        (TEXT.encode("utf-16"), ": the text is UTF-16, expected UTF-8"),
        (TEXT.encode("utf-16-le"), ": the file is binary or UTF-16, expected text in UTF-8"),
        (b"job,start\n1,0\n2,10\n2,11\n", ":4: job 2 is given a second time, after "),
        (b"job,start\n0,1\n", ":2: job 0 is not in probe 1, expected one of its jobs, 1 to 4"),
        (b"job,start\n1,0\n2,1e300\n", ":3: start is '1e300', expected a second below 2**53"),
        (b"1,99999999999999999999\n", ":1: start is '99999999999999999999', expected a second below 2**53"),
        (b"1,0\n2,-inf\n", ":2: start is '-inf', expected a second below 2**53"),
        (b"inf,0\n", ":1: job is 'inf', expected a number below 2**53"),
        (b"job,start\n1,True\n", ":2: start is 'True', expected a whole number"),
        (b"job,start,start\n1,0,1\n", ":1: 2 columns are named start, expected one"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused_by_name_and_line(tmp_path, content, words):
    path = tmp_path / f"{FILE}.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path) + words)}"):
        judge(tmp_path)


def test_logs_beside_the_results_are_not_taken_for_results(tmp_path):
    conformance.export(tmp_path)
    with pytest.raises(ValueError, match="no file of any probe"):
        judge(tmp_path)
    (tmp_path / f"{FILE}.csv").write_text(TEXT)
    assert judge(tmp_path)["probe"].tolist() == [1]
    (tmp_path / f"{FILE}.txt.gz").write_text(TEXT)
    with pytest.raises(ValueError, match=f"{FILE}.csv and {FILE}.txt.gz are both of probe 1, expected one"):
        judge(tmp_path)


# --- What is given ---


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (None, "an object of type NoneType"),
        (3, "an object of type int"),
        ([0, 10], "an object of type list"),
        (sl.EASY, "the class EASY"),
        (b"results", "an object of type bytes"),
    ],
)
def test_what_is_no_result_is_refused_by_its_type(given, found):
    with pytest.raises(TypeError, match=f"judge was given {found}, expected the path of a folder with results"):
        judge(given)


def test_a_whole_log_takes_no_mapping(trace):
    with pytest.raises(TypeError, match="an object of type dict, expected the path of a file with starts, a table"):
        judge(STARTS, trace=trace)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("easy", "easy: no such file or folder; for a scheme expected an instance of it, such as sl.EASY()"),
        ("gone.csv", "gone.csv: no such file, expected one with the starts of all jobs"),
        (".", ".: a folder, expected one file with the starts of all jobs"),
    ],
)
def test_a_whole_log_needs_a_file(trace, given, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        judge(given, trace=trace)


def test_probes_need_a_folder(tmp_path):
    (tmp_path / "their.csv").write_text(TEXT)
    with pytest.raises(ValueError, match="their.csv: a file, expected a folder with a file for each probe"):
        judge(tmp_path / "their.csv")
    with pytest.raises(ValueError, match="easy: no such file or folder; for a scheme expected an instance"):
        judge("easy")


@pytest.mark.parametrize("given", [".", {PROBE.name: STARTS}, pd.Series(STARTS)], ids=["path", "mapping", "series"])
def test_conventions_are_only_for_schemes(given):
    with pytest.raises(ValueError, match=r"^overrun, foo: only for a scheme, which judge runs; results are judged as"):
        judge(given, overrun="keep", foo=1)


@pytest.mark.parametrize(
    "start", [10**30, 10**400, float("inf"), float("nan"), True, None, "0"], ids=lambda start: repr(start)[:9]
)
def test_a_start_is_a_second(start):
    with pytest.raises(ValueError, match="job 1 starts at .*, expected a whole number of seconds below"):
        judge({PROBE.name: STARTS | {1: start}})


def test_starts_of_a_probe_are_given_once():
    with pytest.raises(ValueError, match="extra-processors: job 1 is given a second time, expected one start"):
        judge({PROBE.name: pd.Series([0, 10], [1, 1])})


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (
            pd.Series([0], pd.MultiIndex.from_tuples([(1, 2)])),
            r"the index has 2 levels \(None, None\), expected",
        ),
        (pd.Series([True, False], [1, 2]), "the table, row 1: start is True, expected a whole number"),
        (
            pd.Series([0, 10**400], [1, 2], dtype=object),
            r"the table, row 2: start is 10+(\.\.\.)?, expected a second",
        ),
        (
            pd.DataFrame([[1, 2, 3]], columns=["job", "start", "start"]),
            "the table: 2 columns are named start",
        ),
    ],
)
def test_a_table_that_cannot_be_meant_is_refused(output, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        table_of(output)


# --- Whole logs ---


def test_which_of_several_columns_was_taken_is_said(trace, tmp_path):
    submit = trace.jobs["submit_time"]
    output = pd.DataFrame({"start": 0, "Starting_Time": submit})
    output.rename_axis("job_id").to_csv(tmp_path / "their.csv")
    for table in (table_of(output), read_table(tmp_path / "their.csv")):
        found = matched(table, trace)
        assert found.start.tolist() == submit.tolist()
        assert found.notes == ("of several columns for the start, Starting_Time was taken, not start",)


def test_milliseconds_are_suspected(trace):
    output = sl.simulate(trace, "easy").jobs[["submit_time", "start_time"]]
    with pytest.raises(ValueError, match="no shift of the clock explains this for most jobs, but milliseconds"):
        matched(table_of(1000 * output), trace)
    (*_, note) = matched(table_of(1000 * output["start_time"]), trace).notes
    assert note.endswith("1,000 times as long as the submissions of the trace: milliseconds? expected seconds")
    for other in (output + 5, 2 * output["start_time"]):
        assert not any("milliseconds" in note for note in matched(table_of(other), trace).notes)


def test_a_clock_that_is_late_is_behind(trace):
    output = sl.simulate(trace, "easy").jobs[["submit_time", "start_time"]] - 10**9
    (note,) = matched(table_of(output), trace).notes
    assert note == "the clock of the output is 1,000,000,000 s behind the log's, by the submissions"
    note, *_ = matched(table_of(output["start_time"]), trace).notes
    assert note.startswith("the clock of the output is taken to be 1,000,000,000 s behind the log's: most jobs")


# --- The command ---


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--scheme", "easy", "."], "--scheme judges a scheme of schedlab on the small logs, expected no results"),
        (["--overrun", "kill", "."], "--overrun is for a scheme of schedlab, expected --scheme with it"),
        (["--events", "each", "--log", "KTH-SP2-1996", "a.csv"], "--events is for a scheme of schedlab, expected"),
        (["easy"], "easy: no such file or folder; for a scheme expected an instance"),
    ],
)
def test_the_command_refuses_what_it_would_ignore(capsys, arguments, words):
    assert main(["conformance", *arguments]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line


def test_the_command_prints_the_probes_of_a_kind(capsys):
    assert main(["conformance", "--of", "FCFS"]) == 0
    said = capsys.readouterr().out
    assert "FCFS: " in said
    assert " EASY: " not in said
