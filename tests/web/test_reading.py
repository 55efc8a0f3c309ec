"""Logs in SWF read in the browser: the same jobs as Python reads, or one line that says why not."""

import gzip
import os
import random
from pathlib import Path

import numpy as np
import pytest
from fuzz.fuzz_readers import VALUES, mutated, packed, swf_text
from readings import READING, check, differences, outcome_of, planted, read_in_node, written

import schedlab as sl
from schedlab.workload import archive

LOGS = ("KTH-SP2-1996", "CTC-SP2-1996", "SDSC-SP2-1998", "HPC2N-2002", "SDSC-BLUE-2000", "LANL-CM5-1994")
LOGS += ("RICC-2010", "lublin_256")
TROUBLES = Path(os.environ.get("SCHEDLAB_DATA", ""), "../cases")  # small logs that go wrong elsewhere
MACHINE = "; MaxProcs: 64\n"
RECORD = "1 0 5 10 4 -1 -1 4 20 -1 1 7 1 -1 1 -1 -1 -1\n"
SECOND = RECORD.replace("1 0", "2 9", 1)
LOG = MACHINE + RECORD
LABELS = [f"MaxProcs: {size}\n; MaxNodes: 8" for size in ("1,024", "N/A", "-5", "0", "16777217", "4 (batch)", "+7")]
LABELS += ["MaxProcs:\n;   12", "Note: x\n; MaxNodes:\n;  9", "maxprocs : 5", "MaxProcs: 9 <!--", "MaxNodes://9"]
LABELS += ["MaxProcs: 99999999,5", "MaxProcs: 7\n; MaxProcs: 8", "\xa0MaxProcs: 8", "\x85MaxProcs: 8", "; MaxProcs: 8"]
TIMES = (0, -1, -2, 99, 253_402_214_400, 253_402_214_401, "9" * 40)
LABELS += [f"MaxNodes: 4\n; UnixStartTime: {time}" for time in TIMES]
LABELS += ["\rMaxProcs: 8", "Note: \x07", "Note: MaxProcs: 9", "MaxProcs : -1\n; MaxNodes: 6"]
LABELS += [f"MaxNodes: 4\n; {label}" for label in ("TimeZoneString: A/B", "Queue: -5 a", "Queue:x")]
SIZES = ("0", "-1", "-2", "65", "64", "4.5", "63.2", "1e1", "1e99")
LENGTHS = ("0", "-1", "0.2", "9.000", "nan", "0x1", "1_0", "+5", "\u0661", "1e-1")
LIMITS = ("0", "-1", "-0.5", "2.5", "9007199254740991", "9007199254740992", "9" * 400)
SUBMISSIONS = ("-1", "12", "9.9", "-0.0", "'\"", "<!--", "a\x1bb", "\\")
TEXTS = [
    *("", "\ufeff", " \n\r\n", MACHINE, f"\ufeff{LOG}", LOG.replace("\n", "\r\n"), f"{LOG}\n \t\n{SECOND}", LOG[:-4]),
    *(RECORD, f"{MACHINE}\0{RECORD}", f"{LOG}{'; Note: a comment' * 99}\n\0", f"{LOG}a b\xa0\n"),
    *(
        f"{LOG[:-1]} 1\n{RECORD}",
        f"{LOG[:-1]} a b\n{SECOND[:-1]} c 7",
        f"{LOG[:-1]} a\n{LOG}",
        f"{MACHINE}{'1 ' * 101}",
    ),
    *(f"; {label}\n{RECORD}" for label in LABELS),
    *(LOG.replace(" 4 ", f" {size} ") + SECOND for size in SIZES),
    *(LOG.replace(" 10 ", f" {length} ") for length in LENGTHS),
    *(LOG.replace(" 20 ", f" {limit} ") for limit in LIMITS),
    *(f"{LOG.replace('1 0', f'1 {submission}', 1)}{SECOND}" for submission in SUBMISSIONS),
    *(f"{LOG}{RECORD.replace(' 1 7', f' {status} 7')}{SECOND}" for status in (1, 2, 3, 4, 5)),
    *(gzip.compress(LOG.encode(), mtime=0)[:-end] for end in (1, 9, 20)),
    *(LOG.encode("utf-16"), b"BZh91AY", f"; Note: caf\xe9\n{MACHINE}x\xe9".encode("latin-1")),
]
MISTAKES = [
    ("reading_rules.mjs", "sizes[i] > procs", "sizes[i] >= procs"),
    ("reading_rules.mjs", "(i) => Math.floor(submit[i])", "(i) => Math.ceil(submit[i])"),
    ("reading_rules.mjs", "run[i] === 0", "run[i] < 0"),
    ("reading_rules.mjs", "|| a - b", "|| b - a"),
    ("reading_rules.mjs", "Math.floor(submit[a]) - Math.floor(submit[b])", "submit[a] - submit[b]"),
    ("reading_rules.mjs", "each === sorted[i - 1]", "each < sorted[i - 1]"),
    ("reading_swf.mjs", "number !== -1", "number < -9"),
    ("reading_swf.mjs", "requested: 7", "requested: 4"),
    ("reading_swf.mjs", "maxprocs ?? maxnodes", "maxnodes ?? maxprocs"),
    ("reading_swf.mjs", "(label in this.header)", "label"),
    ("reading.mjs", "x1f\\x85", "x1f"),
]


@pytest.mark.traces
@pytest.mark.parametrize("log", LOGS)
def test_logs_of_the_archive_are_read_as_in_python(log, tmp_path):
    path = archive.find(archive.resolve(log))
    (result,) = read_in_node([path], tmp_path)
    assert differences(result, sl.read_swf(path)) == []
    assert result["progress"] == {"bytes": path.stat().st_size, "of": path.stat().st_size}


def test_texts_are_read_or_refused(tmp_path):
    paths = written(tmp_path, TEXTS, ".swf")
    count = check(read_in_node(paths, tmp_path), paths, sl.read_swf)
    assert count["read"] > 35
    assert count["refused"] > 30


def test_damaged_logs_are_read_or_refused(tmp_path):
    draw = random.Random(1)
    texts = [mutated(draw, swf_text(draw), b" ", VALUES) for _ in range(250)]
    texts = [packed(draw, text) if draw.random() < 0.3 else text for text in texts]
    paths = written(tmp_path, texts, ".swf")
    count = check(read_in_node(paths, tmp_path), paths, sl.read_swf)
    assert count["read"] > 60
    assert count["refused"] > 60


def drawn_texts(count):
    """Draw logs whose fields are often unknown, sometimes fractions, rarely nonsense, in any order."""
    random = np.random.default_rng(1)
    values = np.array(["-1", "0", "1", "2", "5", "17", "64", "80", "0.5", "12.25", "1e1", "-2", "x", ""])
    odds = np.array([20, 10, 20, 20, 20, 10, 5, 5, 5, 2, 1, 0.05, 0.05, 0.1])
    for _ in range(count):
        rows = random.choice(values, (random.integers(1, 30), 18), p=odds / odds.sum())
        rows[:, 0] = random.permutation(len(rows))
        lines = [MACHINE.strip(), *map(" ".join, rows.tolist())]
        lines.insert(random.integers(len(lines) + 1), random.choice(["", ";", "; Note: a", "; MaxProcs: 32", "\t"]))
        yield random.choice(["\n", "\r\n"]).join(lines)


def test_drawn_logs_are_read_or_refused(tmp_path):
    paths = written(tmp_path, list(drawn_texts(300)), ".swf")
    count = check(read_in_node(paths, tmp_path), paths, sl.read_swf)
    assert count["read"] > 60
    assert count["refused"] > 30


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """Return a function that counts what comes of the texts with a reader; None if it reads one unlike Python."""
    folder = tmp_path_factory.mktemp("texts")
    paths = written(folder, [*TEXTS, *drawn_texts(20)], ".swf")
    return lambda module: outcome_of(read_in_node(paths, folder, module=module), paths, sl.read_swf)


@pytest.fixture(scope="module")
def right(outcome):
    return outcome(READING)


@pytest.mark.parametrize(("file", "text", "mistake"), MISTAKES)
def test_a_mistake_in_the_reader_is_noticed(file, text, mistake, outcome, right, tmp_path):
    assert right is not None
    assert outcome(planted(tmp_path, file, text, mistake)) != right


def test_a_long_log_is_read_piece_by_piece(tmp_path):
    path = tmp_path / "long.swf"
    rows = [f"{number} {number} 5 10 4 -1 -1 4 20 -1 1 7 1 -1 1 -1 -1 -1\n" for number in range(1, 100_001)]
    path.write_text(MACHINE + "".join(rows))
    (result,) = read_in_node([path], tmp_path)
    assert differences(result, sl.read_swf(path)) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "no jobs, expected SWF, what sacct -P writes, or a table with the names of its columns"),
        (b"; MaxProcs: 4\n1 2 3\n", "x.swf:2: 3 fields, expected the 18 of SWF"),
        (LOG.replace(" 10 ", " ten ").encode(), "x.swf:2: field 4 (run_time) is 'ten', expected a number"),
        ((LOG + RECORD).encode(), "x.swf: several records of job 1, expected one; sl.read_swf in Python reads them"),
        (gzip.compress(LOG.encode(), mtime=0)[:-9], "x.swf: cannot be read, or its gzip stream is damaged"),
        (LOG.encode("utf-16"), "x.swf:1: not plain text in UTF-8: unpack xz or zip first; Python reads some"),
    ],
)
def test_a_broken_log_is_refused_in_one_line(text, message, tmp_path):
    (result,) = read_in_node(written(tmp_path, [text], ".swf"), tmp_path)
    assert result["error"]["name"] == "LogError"
    assert message.replace("x.swf", "0.swf") in result["error"]["message"]


@pytest.mark.skipif(not TROUBLES.is_dir(), reason="needs their folder beside the archive's logs")
def test_small_logs_that_go_wrong_elsewhere_are_read_as_in_python_or_refused(tmp_path):
    paths = sorted(path for path in TROUBLES.iterdir() if path.suffix not in (".md", ".swf"))
    results = dict(zip(paths, read_in_node(paths, tmp_path), strict=True))
    asked = [path for path, result in results.items() if result.get("error", {}).get("name") == "ColumnsNeeded"]
    assert [path.name for path in asked] == ["23_supercloud.csv", "23c_requeue.csv", "50_no_job_id.txt"]
    results = {path: result for path, result in results.items() if path not in asked}
    assert check(results.values(), results, sl.read_sacct)["read"] == 8


def test_jobs_that_must_wait_and_jobs_that_are_cut_are_told(tmp_path):
    text = "; MaxProcs: 4\n1 0 -1 90 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n2 1 -1 9 1 -1 -1 1 60 -1 1 1 1 1 1 1 1 -1\n"
    (result,) = read_in_node(written(tmp_path, [text], ".swf"), tmp_path)
    notes = "\n".join(result["notes"])
    assert "jobs that must wait for another one, which is not simulated: 1" in notes
    assert "1 record cut at the estimate, though the job ran longer" in notes
