"""Exports of sacct and tables read in the browser: the same jobs as Python reads, or one line that says why not."""

import random
from collections import Counter
from functools import partial

import pytest
from fuzz.fuzz_readers import SACCT_VALUES, VALUES, mutated, sacct_text
from readings import check, outcome_of, planted, read_in_node, written

import schedlab as sl
from schedlab.workload.sacct import example_path

FORMS = {"date": "2024-03-{:02d} {:02d}:{:02d}:{:02d}", "iso": "2024-03-{:02d}T{:02d}:{:02d}"}
FORMS |= {"seconds": "", "clock": ""}
ODD = ["", "NA", "NaN", "None", "-1", "0", "x", "1e3", "7.5", "-3", "1,5", '"4"', " 5 ", "Unknown", "2024-02-30"]
ODD += ["1-02:00", "TRUE", "4294967295", "16777217", "123.batch", "7_4", "UNLIMITED", "2024-03-01T00:00:00Z"]
COLUMNS = {"submit": "Submitted", "start": "Begin", "end": "Finish", "run": "Length", "procs": "CPUs"}
COLUMNS |= {"estimate": "Limit"}
RAW = "JobIDRaw|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocCPUS|State\n"
RAW += "9|1709280000|1709280010|1709283610|3600|90|4|PREEMPTED\n"
RAW += "9|1709283610|1709283700|1709287300|3600|90|4|COMPLETED\n"
RAW += "3|1709283620|1709283700|1709283710|10|UNLIMITED|4|FAILED\n"
TABLE = "job,Submitted,Length,CPUs\na,0,60,4\nb,5,60,2\n"


def test_the_example_of_sacct_is_read_as_in_python(tmp_path):
    results = read_in_node([example_path()], tmp_path)
    assert check(results, [example_path()], sl.read_sacct) == {"read": 1}


def test_records_given_twice_count_once(tmp_path):
    first, *lines = example_path().read_text(encoding="utf-8").splitlines()
    going = [line for line in lines if line.endswith("|RUNNING")]
    ended = [line.replace("|Unknown|", "|2024-03-07T00:00:00|").replace("RUNNING", "COMPLETED") for line in going]
    paths = written(tmp_path, ["\n".join([first, *lines, first, *more]) for more in (lines[:99], lines, ended)], ".txt")
    assert check(read_in_node(paths, tmp_path), paths, sl.read_sacct)["read"] >= 2


def test_damaged_exports_of_sacct_are_read_as_in_python_or_refused(tmp_path):
    draw = random.Random(1)
    texts = [mutated(draw, sacct_text(draw), b"|", VALUES + SACCT_VALUES * 3) for _ in range(250)]
    paths = written(tmp_path, texts, ".txt")
    results = dict(zip(paths, read_in_node(paths, tmp_path), strict=True))
    # Without a header, a table may have any columns.
    tables = [path for path, result in results.items() if result.get("error", {}).get("name") == "ColumnsNeeded"]
    assert len(tables) < 20
    results = {path: result for path, result in results.items() if path not in tables}
    count = check(results.values(), results, sl.read_sacct)
    assert count["read"] > 60
    assert count["refused by the page"] < 40


def instant(seconds, form):
    if form == "clock":
        return str(seconds)
    if form == "seconds":
        return str(1_709_280_000 + seconds)
    day, rest = divmod(seconds, 86_400)
    return FORMS[form].format(day + 1, rest // 3_600, rest // 60 % 60, rest % 60)


def duration(draw, seconds):
    if draw.random() < 0.3:
        return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return str(seconds)


def table_text(draw):
    """Draw a table of jobs; return also its separator, and the columns by role."""
    form = draw.choice(list(FORMS))
    mark = draw.choice([",", ",", "\t", ";"])
    absent = draw.choice([("run",), ("start", "end"), ("end",), ("start",), ()])
    names = {role: name for role, name in COLUMNS.items() if role not in absent}
    further = {"job": draw.choice(["job_number", "JobID", "n"]), "state": draw.choice(["state", "why", "Status"])}
    further["user"] = "Owner"
    at = 0
    lines = [mark.join([*names.values(), *further.values()])]
    for number in range(1, draw.choice([2, 4, 12])):
        at += draw.choice([0, 1, 60, 3_600, 40_000])
        begin = at + draw.choice([0, 5, 700])
        length = draw.choice([0, 30, 3_600, 90_000])
        values = {"submit": instant(at, form), "start": instant(begin, form), "end": instant(begin + length, form)}
        values["run"] = duration(draw, length)
        values["estimate"] = duration(draw, 2 * length)
        values |= {"procs": draw.choice([1, 2, 16]), "user": draw.choice(["ann", "bob", '"a, b"', 7])}
        values |= {"job": draw.choice([number, number, 1])}
        values |= {"state": draw.choice(["COMPLETED", "RUNNING", "CANCELLED by 5", "done", ""])}
        row = [str(values[role]) for role in (*names, *further)]
        if draw.random() < 0.15:
            row[draw.randrange(len(row))] = draw.choice(ODD)
        lines.append(mark.join(row))
    end = draw.choice(["\n", "\n", "\r\n"])
    return end.join([*lines, *[""] * draw.choice([0, 1, 2])]), mark, names


def test_tables_are_read_as_in_python_or_refused(tmp_path):
    draw = random.Random(1)
    tables = [table_text(draw) for _ in range(250)]
    values = VALUES + SACCT_VALUES + ODD * 4
    damaged = [(mutated(draw, text.encode(), mark.encode(), values), mark, names) for text, mark, names in tables[:100]]
    tables += damaged
    paths = written(tmp_path, [text for text, *_ in tables], ".csv")
    results = read_in_node(paths, tmp_path, [{"columns": names} for *_, names in tables])
    count = Counter()
    for path, result, (_, mark, names) in zip(paths, results, tables, strict=True):
        count += check([result], [path], partial(sl.read_table, separator=mark, **names))
    assert count["read"] > 90
    assert count["refused by the page"] < 40


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("run.reason = UNENDED", 'run.reason = ""'),
        ("last.get(run.number) === run", "last.get(run.number) !== run"),
        ("a[0] - b[0] || a[1] - b[1]", "a[0] - b[0] || b[1] - a[1]"),
        ("60 * minutes", "6 * minutes"),
        ("run.submit -= start", "run.submit -= 0"),
        ('role === "estimate" ? 60 : 1', '"" ? 60 : 1'),
        ("Math.max(this.highest, run.number)", "run.number"),
    ],
)
def test_a_mistake_in_the_rules_is_noticed(text, mistake, tmp_path):
    module = planted(tmp_path, "reading_table.mjs", text, mistake)
    (path,) = written(tmp_path, [RAW], ".txt")
    paths = [example_path(), path]
    assert outcome_of(read_in_node(paths, tmp_path), paths, sl.read_sacct) == {"read": 2}
    assert outcome_of(read_in_node(paths, tmp_path, module=module), paths, sl.read_sacct) != {"read": 2}


def test_a_table_of_other_columns_asks_for_them(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(TABLE)
    (result,) = read_in_node([path], tmp_path)
    error = result["error"]
    assert error["name"] == "ColumnsNeeded"
    assert error["columns"] == ["job", "Submitted", "Length", "CPUs"]
    assert error["rows"] == [["a", "0", "60", "4"], ["b", "5", "60", "2"]]
    columns = {"submit": "Submitted", "run": "Length", "procs": "CPUs"}
    results = read_in_node([path], tmp_path, [{"columns": columns}])
    assert check(results, [path], partial(sl.read_table, **columns)) == {"size unknown": 1}


def test_a_table_with_the_names_of_swf_needs_no_columns(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("job_number,submit_time,run_time,requested_procs,requested_time\n7,0,60,4,90\n7,1,60,4,90\n")
    assert check(read_in_node([path], tmp_path), [path], sl.read_table) == {"size unknown": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("03/01/2024 09:10:00;E;7.srv;user=ann\n", "x.txt:1: expected SWF, or a line with unique names of columns"),
        ('"JOB_FINISH" "10.1" 1709284200 7\n', "Python reads JSON, PBS and LSF, too"),
        ('\n{"jobs": [], "meta": 0, "errors": []}', "Python reads JSON, PBS and LSF, too"),
        ("JobID|Cluster|Submit|Start|End|NCPUS\n1|a|1|1|2|1\n2|b|1|1|2|1\n", "the cluster b, expected one alone"),
        ("JobID|Submit|Start|End|NCPUS\n1|1|1|2|x\n", "x.txt:2: column NCPUS (procs) is 'x', expected a number"),
        ("JobID|Submit|Start|End|NCPUS\n1|1|1|2\n", "4 fields, expected 5; sl.read_sacct in Python reads more"),
        ("a,b,a\n1,2,3\n", "a line with unique names of columns"),
    ],
)
def test_what_python_reads_and_the_page_does_not_is_named(text, message, tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(text)
    (result,) = read_in_node([path], tmp_path)
    error = result["error"]
    assert error["name"] == "LogError"
    assert message in error["message"]
    assert "\n" not in error["message"]
