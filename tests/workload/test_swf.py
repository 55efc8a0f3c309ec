"""SWF: the reader against a naive twin, every error's wording, headers, round trips, the table cache."""

import gzip
import hashlib
import json
import os
import re
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schedlab.workload import archive, fields, scanning, swf
from schedlab.workload.swf import FIELDS, Header, Log, SWFError, cached_log, read_log, write_log

pytestmark = pytest.mark.tables

RECORD = b"1 0 588530 937 306 142.00 -1 -1 35100 -1 1 97 -1 307 3 -1 -1 -1\n"
HEADER = b"; Version: 2.2\n; MaxProcs: 338\n"


def read(text: bytes, **options) -> Log:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.swf"
        path.write_bytes(text)
        return read_log(path, **options)


def with_field(number: int, value: bytes) -> bytes:
    fields = RECORD.split()
    fields[number - 1] = value
    return b" ".join(fields) + b"\n"


def table(n_rows: int = 3, **columns) -> pd.DataFrame:
    return pd.DataFrame({field: columns.get(field, np.arange(n_rows)) for field in FIELDS})


# The naive twin -----------------------------------------------------------------------------------------
NUMBER = re.compile(rb"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?")


def is_record(fields):
    if not all(map(NUMBER.fullmatch, fields)):
        return False
    values = [float(field) for field in fields]
    return max(map(abs, values)) < 2**53 and all(values[place] >= 0 or values[place] == -1 for place in (4, 7))


def value(text):
    """A further field: a number if it is one that can be kept, else its text."""
    is_code = re.match(rb"[+-]?0\d", text)  # such as 007
    number = float(text) if NUMBER.fullmatch(text) and not is_code else 2**53
    return number if abs(number) < 2**53 else text.decode()


def twin(text):
    """Return comment lines, records, and numbers of bad lines; all records have as many fields as the first."""
    comments, records, bad, expected = [], [], [], None
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        fields = line.split()
        begins = len(fields) >= 18 and is_record(fields[:18])
        if fields and fields[0].startswith(b";"):
            comments.append(line.rstrip(b"\r").decode())
        elif begins and len(fields) == (expected := expected or len(fields)):
            records.append([*map(float, fields[:18]), *map(value, fields[18:])])
        elif fields:
            bad.append(number)
    return comments, records, bad


plain_integers = st.integers(-1, 2**53 - 1).map(lambda n: b"%d" % n)
small_integers = st.integers(-1, 20).map(lambda n: b"%d" % n)
reals = st.floats(-1, 1e15).map(lambda x: repr(abs(x)).encode())
decimals = st.decimals(0, 10**9, places=2).map(lambda d: str(d).encode())
# 4503599627370497.5 lies halfway between two floats, its neighbours in the list just beside.
ODD_NUMBERS = (
    *(b"1e5", b"+3", b".5", b"5.", b"-0", b"-0.0", b"007", b"1E-3", b"2.5e+2", b"-1.0", b"1e-400"),
    *(b"0" * 30, b"0.10000000000000000000000001", b"3.14159265358979323846", b"9007199254740991"),
    *(b"4503599627370497.5", b"4503599627370497.51", b"4503599627370497.49", b"4503599627370498.5"),
)
numbers = st.one_of(small_integers, plain_integers, reals, decimals, st.sampled_from(ODD_NUMBERS))
NO_NUMBERS = (
    *(b"abc", b"nan", b"NaN", b"inf", b"-Infinity", b"0x10", b"1_000", b"1,5", "\uff11".encode(), b"\xa0"),
    *(b"-", b"+", b".", b"-.", b"1e", b"e5", b"1.2.3", b"--1", b"1-", b"1;", b"\xff", b"1e999"),
    *(b"9007199254740992", b"-9007199254740993", b"9007199254740991.9", b"123456789012345678901234567890"),
    *(b"99999999999999999", b"18446744073709551617"),
)
blanks = st.sampled_from([b" ", b"  ", b"\t", b" \t ", b"\r", b"\v", b"\f", b" " * 9])
margins = st.one_of(st.just(b""), blanks)
line_ends = st.sampled_from([b"\n", b"\r\n"])


@st.composite
def lines_of(draw, fields):
    *first, last = draw(fields)
    spaced = b"".join(field + draw(blanks) for field in first)
    return draw(margins) + spaced + last + draw(margins) + draw(line_ends)


@st.composite
def comments(draw):
    words = draw(st.text(st.characters(exclude_characters="\0\n", exclude_categories=["Cs"]), max_size=20))
    return draw(margins) + b";" + words.encode() + draw(line_ends)


records = lines_of(st.lists(numbers, min_size=18, max_size=18))
good_lines = st.one_of(records, records, comments(), st.tuples(margins, line_ends).map(b"".join))
bad_lines = lines_of(
    st.one_of(
        st.lists(numbers, min_size=1, max_size=17),
        st.lists(numbers, min_size=19, max_size=21),
        st.lists(st.one_of(numbers, st.sampled_from(NO_NUMBERS)), min_size=18, max_size=18),
        st.lists(st.sampled_from([b"-2", b"-1", b"5", b"-0.5"]), min_size=18, max_size=18),
    )
)


def texts(lines):
    """Draw whole files: a byte order mark or none, at least one record, with or without the last line end."""
    marks = st.sampled_from([b"", b"\xef\xbb\xbf"])
    bodies = st.tuples(st.lists(lines, max_size=8).map(b"".join), records).map(b"".join)
    ends = st.sampled_from([lambda body: body, lambda body: body.rstrip(b"\r\n")])
    return st.builds(lambda mark, body, end: mark + end(body), marks, bodies, ends)


def assert_same_as_twin(log, text):
    lines, rows, bad = twin(text)
    assert log.header.lines == tuple(lines)
    columns = [*FIELDS, *(f"field_{number}" for number in range(19, len(rows[0]) + 1))]
    assert list(log.records.columns) == columns
    for field, column in zip(columns, zip(*rows, strict=True), strict=True):
        if str in map(type, column):
            assert pd.api.types.is_string_dtype(log.records[field])
            continue
        whole = all(map(float.is_integer, column))
        assert log.records[field].dtype == (np.int64 if whole else np.float64)
        assert log.records[field].tolist() == list(column)
    assert log.skipped["line"].tolist() == bad


@pytest.mark.reduced
@given(texts(good_lines))
@example(RECORD)
@example(b"\xef\xbb\xbf" + RECORD.rstrip())
@example(HEADER + with_field(4, b"0.1") + b"; in the middle\r\n\r\n" + RECORD)
def test_reads_what_the_twin_reads(text):
    assert_same_as_twin(read(text), text)


@pytest.mark.reduced
@given(texts(st.one_of(good_lines, bad_lines)))
def test_lenient_skips_what_the_twin_calls_bad_and_strict_stops_at_the_first(text):
    assert_same_as_twin(read(text, lenient=True), text)
    bad = twin(text)[2]
    if bad:
        with pytest.raises(SWFError, match=rf"^X[.]swf:{bad[0]}: "):
            read(text)


@given(texts(good_lines))
def test_what_is_written_is_read_back(text):
    log = read(text)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("X.swf", "X.swf.gz"):
            write_log(log, Path(folder, name))
            again = read_log(Path(folder, name))
            pd.testing.assert_frame_equal(again.records, log.records, check_exact=True)
            assert again.header == log.header


@pytest.mark.parametrize("number", ODD_NUMBERS)
def test_odd_numbers_are_read_as_python_does(number):
    assert read(with_field(4, number)).records["run_time"][0] == float(number)


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_number_is_refused(text):
    with pytest.raises(SWFError, match=r"^X[.]swf:1: field 18 [(]think_time[)] is .*, expected a number"):
        read(with_field(18, text))


# Errors -------------------------------------------------------------------------------------------------
def run_time(value: bytes, found: str, expected: str = "a number"):
    return HEADER + RECORD + with_field(4, value), f":4: field 4 (run_time) is {found}, expected {expected}"


EXTENDED = RECORD.rstrip() + b" 8 2.5 frontier:excl:2x112\n"
MANY = b" ".join([RECORD.strip(), *[b"1"] * 83]) + b"\n"  # 101 fields
BAD_LINES = [
    *[run_time(text.encode(), f"'{text}'") for text in ("abc", "nan", "NaN", "inf", "-Infinity", "0x1F", "1_000")],
    run_time("\uff11\uff12".encode(), "'\uff11\uff12'"),
    run_time(b"caf\xe9", "'caf\u00e9'"),
    run_time(b"\x01", r"'\x01'"),
    run_time(b"x" * 100, f"'{'x' * 60}...'"),
    run_time(b"9007199254740992", "'9007199254740992'", "a number below 2^53 in magnitude"),
    run_time(b"-9223372036854775809", "'-9223372036854775809'", "a number below 2^53 in magnitude"),
    run_time(b"1e999", "'1e999'", "a number below 2^53 in magnitude"),
    (RECORD + with_field(5, b"-3"), ":2: field 5 (allocated_procs) is '-3', expected a number of processors"),
    (RECORD + with_field(8, b"-2.5"), ":2: field 8 (requested_procs) is '-2.5', expected a number of processors"),
    (RECORD + RECORD.replace(b" 97", b""), ":2: 17 fields, expected 18"),
    (RECORD + RECORD.replace(b"\n", b" 7\n"), ":2: 19 fields, expected 18"),
    (RECORD + RECORD.replace(b"97 -1", b"97-1"), ":2: 17 fields, expected 18"),
    (RECORD + b"abc\n", ":2: 1 field, expected 18"),
    # Logs with further fields.
    (EXTENDED + EXTENDED.replace(b" 8 2.5", b" 8"), ":2: 20 fields, expected 21 as in the first record: '1 0 58"),
    (EXTENDED + RECORD, ":2: 18 fields, expected 21 as in the first record: '1 0 58"),
    (HEADER + EXTENDED + b"\nabc\n", ":5: 1 field, expected 21 as in the first record: 'abc'"),
    (EXTENDED + EXTENDED.replace(b" 937 ", b" x "), ":2: field 4 (run_time) is 'x', expected a number"),
    (EXTENDED + HEADER + EXTENDED.replace(b" 937 ", b" x "), ":4: field 4 (run_time) is 'x', expected a number"),
    (EXTENDED.replace(b" 937 ", b" x ") + EXTENDED, ":1: field 4 (run_time) is 'x', expected a number"),
    (b"words " * 20 + b"\n" + RECORD, f":1: 20 fields, expected 18: '{'words ' * 10}...'"),
    (RECORD.replace(b" 97", b"") + RECORD, ":1: 17 fields, expected 18: '1 0 58"),
    (MANY + RECORD, ":1: 101 fields, expected 18: '1 0 58"),
]


@pytest.mark.reduced
@pytest.mark.parametrize(("text", "message"), BAD_LINES)
def test_a_bad_line_stops_the_strict_reader_and_is_listed_by_the_lenient_one(text, message):
    with pytest.raises(SWFError, match=f"^X.swf{re.escape(message)}") as error:
        read(text)
    log = read(text, lenient=True)
    assert len(log.records) == 1
    ((line, reason),) = log.skipped[["line", "reason"]].to_numpy()
    assert f"X.swf:{line}: {reason}" == str(error.value)
    assert log.records.iloc[0, 18:].tolist() == ([8, 2.5, "frontier:excl:2x112"] if b" 8 2.5" in text else [])


def test_skipped_lines_are_accounted_for():
    log = read(b"1 2 3\n" + RECORD + with_field(6, b"x") + b"; note\n" + with_field(8, b"-9"), lenient=True)
    assert log.skipped.to_dict("list") == {
        "line": [1, 3, 5],
        "field": [0, 6, 8],
        "value": ["1 2 3", "x", "-9"],
        "reason": [
            "3 fields, expected 18: '1 2 3'",
            "field 6 (avg_cpu_time) is 'x', expected a number",
            "field 8 (requested_procs) is '-9', expected a number of processors, or -1 for unknown",
        ],
    }
    assert len(log.records) == 1
    assert log.skipped.dtypes.equals(read(RECORD).skipped.dtypes)


# Further fields -----------------------------------------------------------------------------------------
FROM_ZERO = (
    b"; JOB FIELDS MEANING:\n;  0: job_id\n;  8: walltime_limit (s)\n; 18: used_GPUs (of all nodes)\n; 20: needs\n"
)
FROM_ONE = b";  1: job_id\n; 19: used_GPUs\n; 21: needs (cluster:excl:NxP)\n"


@pytest.mark.parametrize(
    ("comments", "names"),
    [
        (FROM_ZERO, ["used_GPUs", "field_20", "needs"]),
        (FROM_ONE, ["used_GPUs", "field_20", "needs"]),
        (b"", ["field_19", "field_20", "field_21"]),
        (b"; 19: run_time\n; 20: a\n; 21: a\n", ["field_19", "field_20", "field_21"]),
    ],
    ids=["from zero", "from one", "none", "taken or twice"],
)
def test_further_fields_are_called_as_the_comments_say(comments, names):
    log = read(comments + EXTENDED)
    assert list(log.records.columns) == [*FIELDS, *names]
    assert log.records.iloc[0, 18:].tolist() == [8, 2.5, "frontier:excl:2x112"]
    assert log.header.further(log.records.columns) == names
    assert log.records.iloc[:, :18].equals(read(RECORD).records)


@pytest.mark.parametrize(
    ("field_19", "field_20", "expected"),
    [
        (b"8", b"2.5", ([8, 8], [2.5, 2.5])),
        (b"9007199254740992", b"-1", (["8", "9007199254740992"], [2.5, -1.0])),  # no float is exactly it
        (b"007", b"0.5", (["8", "007"], [2.5, 0.5])),
    ],
)
def test_a_further_field_is_a_number_where_all_are_and_codes_of_digits_keep_their_zeros(field_19, field_20, expected):
    records = read(EXTENDED + EXTENDED.replace(b" 8 2.5", b" " + field_19 + b" " + field_20)).records
    assert (records["field_19"].tolist(), records["field_20"].tolist()) == expected
    assert (records["field_19"].dtype == np.int64) == (field_19 == b"8")
    assert records["field_20"].dtype == np.float64


@pytest.mark.parametrize("names", [["field_19", "field_20", "field_21"], ["GPUs", "power", "site"]])
def test_extended_logs_are_read_back_as_they_were_written(names, tmp_path):
    codes = ["007", "nan", "1e400", "a;b", "\x85", "\u2028", "9007199254740992", "\u00e5\u3042", "-"]
    columns = {"GPUs": range(-1, 8), "power": [2**53 - 1, -1, 0.1, 1e-9, 1e9, 0, 1 / 3, 7, 12.5], "site": codes}
    records = table(9).assign(**dict(zip(names, columns.values(), strict=True)))
    header = Header(("; 0: job_id", *(f"; {place}: {name}" for place, name in enumerate(names, start=18))))
    write_log((header, records), tmp_path / "X.swf")
    again = read_log(tmp_path / "X.swf")
    write_log(again, tmp_path / "Y.swf")
    assert (tmp_path / "X.swf").read_bytes() == (tmp_path / "Y.swf").read_bytes()
    assert again.header == header
    assert again.records.to_dict("list") == records.to_dict("list")


@pytest.mark.parametrize("text", ["a b", "", " a", "a\n", "a\tb", "\0", 7])
def test_a_further_field_that_could_not_be_read_back_is_not_written(text, tmp_path):
    records = table(2).assign(field_19=["fine", text])
    message = f"^row 1 of the records: field_19 is {re.escape(repr(text))}, expected a number or"
    with pytest.raises(SWFError, match=message):
        write_log((Header(()), records), tmp_path / "X.swf")
    assert not list(tmp_path.iterdir())


def test_columns_that_are_no_further_fields_are_not_written(tmp_path):
    write_log((Header(("; 19: GPUs",)), table(2).assign(other=1, GPUs=[3, 4], field_21=5)), tmp_path / "X.swf")
    assert list(read_log(tmp_path / "X.swf").records.columns) == [*FIELDS, "GPUs"]


PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489")
NO_RECORD = "X.swf: no line is a record, expected at least one of 18 numbers"
ENDS_EARLY = "X.swf: the gzip stream ends early (truncated download?), expected a complete file"


@pytest.mark.reduced
@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", "X.swf: the file is empty, expected SWF text", id="empty"),
        pytest.param(gzip.compress(b""), "X.swf: the file is empty, expected SWF text", id="empty gzip"),
        pytest.param(PNG, "X.swf: the file is binary, expected SWF text", id="PNG"),
        pytest.param("1 2".encode("utf-16"), "X.swf:1: 2 fields, expected 18: '1 2'", id="UTF-16"),
        pytest.param(b"job,run\n1,2\n", "X.swf:1: 1 field, expected 18: 'job,run'", id="CSV"),
        pytest.param(RECORD.replace(b" ", b", "), "X.swf:1: field 1 (job_number) is '1,', expected a number", id="18"),
        pytest.param(HEADER, NO_RECORD, id="header only"),
        pytest.param(b"\n \r\n", NO_RECORD, id="blanks only"),
        pytest.param(b"\xef\xbb\xbf", NO_RECORD, id="byte order mark only"),
        pytest.param(gzip.compress(RECORD * 50)[:-20], ENDS_EARLY, id="truncated gzip"),
        pytest.param(gzip.compress(RECORD)[:-1], ENDS_EARLY, id="gzip without its last byte"),
        pytest.param(gzip.compress(RECORD)[:4], ENDS_EARLY, id="gzip cut in its header"),
    ],
)
def test_a_file_that_is_no_log_is_refused(content, message):
    with pytest.raises(SWFError, match=f"^{re.escape(message)}$"):
        read(content)
    with pytest.raises(SWFError, match=f"^{re.escape(NO_RECORD if ':1:' in message else message)}$"):
        read(content, lenient=True)


def test_files_with_a_hole_damage_or_no_record_are_refused():
    with pytest.raises(SWFError, match=r"^X[.]swf:51: field 4 \(run_time\) is '\\x00\\x00', expected a number$"):
        read(RECORD * 50 + with_field(4, bytes(2)))
    content = bytearray(gzip.compress(RECORD * 50))
    content[-6] ^= 1  # in the checksum
    with pytest.raises(SWFError, match=r"^X[.]swf: the gzip stream is damaged \(CRC .*\), expected a sound file$"):
        read(bytes(content))
    with pytest.raises(SWFError, match=f"^{re.escape(NO_RECORD)}$"):
        read(b"job,run\n1,2\n", lenient=True)


@pytest.mark.parametrize("reader", [read_log, cached_log])
def test_a_missing_file_is_named(reader, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"Y[.]swf: no such file, expected an SWF log"):
        reader(tmp_path / "Y.swf")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"1 " * 2_000_000, "X.swf:2: 2000000 fields, expected 18"),
        (b"7" * 5_000_000, "X.swf:2: 1 field, expected 18"),
        (RECORD[:-3] + b"7" * 5_000_000, f"field 18 (think_time) is '{'7' * 60}...', expected a number below"),
    ],
    ids=["fields", "digits", "digits in a record"],
)
def test_a_huge_line_is_an_ordinary_error(line, message):
    with pytest.raises(SWFError) as error:
        read(RECORD + line)
    assert message in str(error.value)
    assert len(str(error.value)) < 200


def test_a_file_of_blank_lines_asks_for_little_memory():
    text = b"\n" * 100_000 + RECORD
    read(RECORD)  # loads the kernel
    tracemalloc.start()
    assert len(read(text).records) == 1
    assert tracemalloc.get_traced_memory()[1] < 10 * len(text)
    tracemalloc.stop()


def test_gzip_is_told_by_content(tmp_path):
    plain, packed = tmp_path / "plain.swf.gz", tmp_path / "packed.swf"
    plain.write_bytes(RECORD)
    packed.write_bytes(gzip.compress(RECORD))
    assert read_log(plain).records.equals(read_log(packed).records)
    assert read_log(plain).sha256 == read_log(packed).sha256 == hashlib.sha256(RECORD).hexdigest()
    assert (read_log(plain).name, read_log(str(packed)).name) == ("plain", "packed")


# Header -------------------------------------------------------------------------------------------------
CTC = (
    "; Computer: IBM SP2",
    "; Acknowledge: Dan Dwyer and Steve Hotovy",
    "; Information: http://www.tc.cornell.edu/",
    ";              http://www.cs.huji.ac.il/labs/parallel/workload/",
    "; MaxNodes: 338 (batch partition; 512 total)",
    "; Note: uses the EASY scheduler",
    "; Queues: these are actually LoadLeveler classes",
    "; Queue:  1 DSI      ",
    "; Queue:  2 astro    ",
    ";",
    "; free-standing text",
    "; Note: THIS IS A CLEANED VERSION OF THE LOG!",
    ";       The filter used to produce it was",
    ";         user=135 and (job>=47421 and job<=50307) (2080 jobs removed)",
    ";\tsee: http://www-hpc.cea.fr/",
    ";",
)


@pytest.mark.reduced
def test_header_values_are_found():
    header = Header(CTC)
    assert header.labels() == ("Computer", "Acknowledge", "Information", "MaxNodes", "Note", "Queues", "Queue")
    assert header.get("computer") == header.computer == "IBM SP2"
    addresses = "http://www.tc.cornell.edu/\nhttp://www.cs.huji.ac.il/labs/parallel/workload/"
    assert header.get("Information") == addresses
    assert header.all("NOTE") == [
        "uses the EASY scheduler",
        "THIS IS A CLEANED VERSION OF THE LOG!\nThe filter used to produce it was\n"
        "user=135 and (job>=47421 and job<=50307) (2080 jobs removed)\nsee: http://www-hpc.cea.fr/",
    ]
    assert header.procs == header.integer("MaxNodes") == 338
    assert (header.queues, header.partitions) == ({1: "DSI", 2: "astro"}, {})
    assert header.acknowledge == "Dan Dwyer and Steve Hotovy"
    assert (header.unix_start_time, header.timezone, header.installation) == (None, None, None)
    assert (header.get("Version"), header.get("Version", "2.2"), header.all("Version")) == (None, "2.2", [])


def test_labels_without_blank_in_upper_or_lower_letters_and_unknown_ones():
    lines = (
        *(";Version: SWF v2", "  ; maxprocs : 64", ";Preemption:no", ";MaxMemory: N/A", ";MaxNodes: 1,024"),
        *("; Copyright: JOBLOG Repository Data Usage Agreement:", ";   This Job Trace Repository"),
        *("; Partition:  1  ", "; Partition: 10 z+i5U=:", "; Partition: none", "; Queue:  1  [fque:1]    "),
        *("; Acknowledge: one", "; acknowledge: two", ";  Http://upper.case/", "; Scheduler is: EASY"),
    )
    header = Header(lines)
    assert header.labels()[:3] == ("Version", "maxprocs", "Preemption")
    assert "acknowledge" not in header.labels()
    assert (header.get("Version"), header.get("Preemption"), header.procs) == ("SWF v2", "no", 64)
    assert header.get("Copyright").endswith("Agreement:\nThis Job Trace Repository")
    assert (header.integer("MaxMemory"), header.integer("MaxNodes")) == (None, None)
    assert (header.partitions, header.queues) == ({1: "", 10: "z+i5U=:"}, {1: "[fque:1]"})
    assert header.acknowledge == "one\ntwo\nHttp://upper.case/\nScheduler is: EASY"


@pytest.mark.parametrize(
    ("lines", "procs"),
    [
        (("; MaxNodes: 57", "; MaxProcs: 178"), 178),
        (("; MaxNodes: 57", "; MaxProcs: N/A"), 57),
        (("; MaxNodes: 57", "; MaxProcs: -1"), 57),
        (("; Computer: IBM SP2",), None),
    ],
)
def test_machine_size(lines, procs):
    assert Header(lines).procs == procs


@pytest.mark.parametrize("line", ["no comment", "; two\n; lines", "; return\r", "\u00a0; a blank?", "", "; a \udce9"])
def test_a_header_holds_comment_lines_only(line):
    with pytest.raises(SWFError, match="expected one line that begins with ';'"):
        Header((line,))


@pytest.mark.reduced
def test_header_text_survives_in_utf8_and_latin1(tmp_path):
    log = read("; Installation: Ume\u00e5\n".encode() + b"; Computer: Ume\xe5 \xff\r\n;\t\n" + RECORD)
    assert log.header.lines == ("; Installation: Ume\u00e5", "; Computer: Ume\u00e5 \u00ff", ";\t")
    write_log(log, tmp_path / "X.swf")
    assert read_log(tmp_path / "X.swf").header == log.header


# Header lines that say what cannot be ----------------------------------------------------------------------
DIGITS = "9" * 5_000
A_COUNT = "a number below 2^53 in magnitude"
A_SIZE = "a number of processors or nodes up to 16,777,216"
A_START = "seconds since 1970, up to the year 9999"
A_ZONE = "a time zone like Europe/Stockholm"
NO_ZONES = (
    *("../../../etc/passwd", "/etc/passwd", "/usr/share/zoneinfo/Europe/Stockholm", "Europe", "tzdata.zi", "localtime"),
    *("C:\\zones", "the one where the machine stood, of course", "Europe/\x1b[31mStockholm", "x" * 5_000),
)
BEYOND_BELIEF = [
    ("MaxProcs", "16777217", A_SIZE),
    ("MaxProcs", "100000000000 (cores)", A_SIZE),
    ("MaxNodes", DIGITS, A_SIZE),
    ("maxjobs", DIGITS, A_COUNT),
    ("MaxRecords", "9007199254740992", A_COUNT),
    ("MaxRuntime", f"-{DIGITS}", A_COUNT),
    ("TimeZone", DIGITS, A_COUNT),
    ("UnixStartTime", DIGITS, A_START),
    ("UnixStartTime", "253402300800", A_START),  # 10000-01-01
    ("UnixStartTime", "-62135596800", A_START),
    ("Queue", f"{DIGITS} batch", "a number below 2^53 and a name"),
    ("Partition", "9007199254740992", "a number below 2^53 and a name"),
    *[("TimeZoneString", zone, A_ZONE) for zone in NO_ZONES],
]


@pytest.mark.reduced
@pytest.mark.parametrize(("label", "value", "expected"), BEYOND_BELIEF, ids=lambda text: text[:30])
def test_a_header_line_that_cannot_be_is_an_error_or_left_out(label, value, expected):
    clipped = value if len(value) <= 60 else value[:60] + "..."
    message = f"{label} is {clipped!r}, expected {expected}"
    text = f"; Computer: toy\n; {label}: {value}\n; MaxNodes: 8\n".encode() + RECORD
    with pytest.raises(SWFError) as error:
        read(text)
    assert str(error.value) == f"X.swf:2: {message}"
    log = read(text, lenient=True)
    assert log.header == read(text.replace(text.split(b"\n")[1] + b"\n", b"")).header
    assert log.header.procs == 8
    assert log.skipped[["line", "field", "reason"]].to_numpy().tolist() == [[2, 0, message]]
    assert len(log.skipped["value"][0]) <= 63
    assert log.skipped["value"][0].isprintable()
    with pytest.raises(SWFError, match=f"^header line is .*: {re.escape(message)}$"):
        Header((f"; {label}: {value}",))


PROSE = (f"Note: {DIGITS}", f"Version: {DIGITS}")


@pytest.mark.parametrize(
    ("line", "attribute", "value"),
    [
        ("; MaxProcs: 16777216", "procs", 2**24),
        *[(f"; {text}", "procs", None) for text in ("MaxProcs: 1,024", "MaxProcs: unknown", *PROSE)],
        ("; MaxProcs: 64 of 99999999999999999999", "procs", 64),
        ("; UnixStartTime: 0", "unix_start_time", 0),
        *[(f"; UnixStartTime: {text}", "unix_start_time", None) for text in ("-1", "N/A")],
        ("; UnixStartTime: 835823160 (approximately)", "unix_start_time", 835823160),
        ("; UnixStartTime: 253402214400", "unix_start_time", 253402214400),
        ("; TimeZoneString: US/Eastern", "timezone", "US/Eastern"),
        ("; TimeZoneString:  Europe/Stockholm (CET in winter)", "timezone", "Europe/Stockholm"),
        *[(f"; TimeZoneString:{text}", "timezone", None) for text in ("", " N/A", " unknown", " -1")],
        ("; Queue: none", "queues", {}),
        (f"; Queue: 1 {DIGITS}", "queues", {1: DIGITS}),
        ("; Queue: 007 James", "queues", {7: "James"}),
    ],
    ids=lambda text: str(text)[:40],
)
def test_header_lines_that_logs_may_have(line, attribute, value):
    log = read(line.encode() + b"\n" + RECORD)
    assert log.header.lines == (line,)
    assert getattr(log.header, attribute) == value


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (RECORD + b"; MaxProcs: 99999999999\nabc\n", "2: MaxProcs"),
        (RECORD + b"abc\n; MaxProcs: 99999999999\n", "2: 1 field"),
        (EXTENDED + b"x" + EXTENDED + RECORD, "2: field 1"),
    ],
)
def test_the_first_fault_of_a_file_is_told_first(text, fault):
    with pytest.raises(SWFError, match=f"^X.swf:{fault}"):
        read(text)


def test_a_continued_value_is_no_number_and_no_time_zone():
    numbers = ("; MaxProcs:", f";   {DIGITS}", "; Queue:", f"; {DIGITS} x")
    header = Header((*numbers, "; TimeZoneString: US/Eastern", "; /etc/passwd"))
    assert (header.procs, header.queues, header.timezone, header.integer("MaxProcs")) == (None, {}, "US/Eastern", None)
    assert Header((f"; Note: {DIGITS}",)).integer("Note") is None


def test_time_zones_that_some_systems_know_by_their_new_names_only(monkeypatch):
    monkeypatch.setattr(fields, "_zones", lambda: {"America/New_York", "UTC"})
    assert Header(("; TimeZoneString: US/Eastern",)).timezone == "US/Eastern"
    assert swf.time_zone("US/Eastern").key == "America/New_York"
    with pytest.raises(SWFError, match="expected a time zone"):
        Header(("; TimeZoneString: US/Mountain",))


def test_values_and_names_control_no_terminal(tmp_path):
    line = "; Installation: a\x1b[2Jb\t\x9b"
    log = read(line.encode() + b"\n; Queue: 1 x\ry\n" + RECORD)
    assert log.header.installation == r"a\x1b[2Jb\t\x9b"
    assert log.header.queues == {1: r"x\ry"}
    write_log(log, tmp_path / "X.swf")
    assert read_log(tmp_path / "X.swf").header.lines == log.header.lines == (line, "; Queue: 1 x\ry")
    path = tmp_path / "a\x1b[2Jb.swf"
    path.write_bytes(b"abc\n")
    with pytest.raises(SWFError) as error:
        read_log(path)
    assert str(error.value) == r"a\x1b[2Jb.swf:1: 1 field, expected 18: 'abc'"
    with pytest.raises(FileNotFoundError) as missing:
        read_log(tmp_path / "\x1b.swf")
    assert str(missing.value).isprintable()
    path.write_bytes(RECORD)
    assert read_log(path).name == r"a\x1b[2Jb"


# Writing ------------------------------------------------------------------------------------------------
@pytest.mark.reduced
def test_columns_are_aligned_and_the_layout_is_stable(tmp_path):
    records = table(
        run_time=[1.0, 20.0, 300.0], avg_cpu_time=[0.1, 12.0, 1e-7], user_id=[-1, 5, 1234], queue=[-1, 0, 1]
    )
    write_log((Header(("; MaxProcs: 4",)), records.set_index("user_id", drop=False)), tmp_path / "X.swf")
    assert (tmp_path / "X.swf").read_text() == (
        "; MaxProcs: 4\n"
        "0 0 0   1 0   0.1 0 0 0 0 0   -1 0 0 -1 0 0 0\n"
        "1 1 1  20 1  12.0 1 1 1 1 1    5 1 1  0 1 1 1\n"
        "2 2 2 300 2 1e-07 2 2 2 2 2 1234 2 2  1 2 2 2\n"
    )
    again = read_log(tmp_path / "X.swf").records
    assert again["run_time"].dtype == np.int64
    assert again["avg_cpu_time"].tolist() == [0.1, 12.0, 1e-7]


def test_the_same_log_gives_the_same_bytes_and_the_folder_must_exist(tmp_path):
    for name in ("one.swf.gz", "two.swf.gz"):
        write_log((Header(), table()), tmp_path / name)
    assert (tmp_path / "one.swf.gz").read_bytes() == (tmp_path / "two.swf.gz").read_bytes()
    assert (tmp_path / "one.swf.gz").read_bytes()[4:8] == bytes(4)  # the time stamp
    with pytest.raises(FileNotFoundError, match=r"the folder .*nowhere does not exist"):
        write_log((Header(), table()), tmp_path / "nowhere" / "X.swf")


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (table(run_time=[1, np.nan, 2]), "row 1 of the records: run_time is nan, expected a number"),
        (table(run_time=[1, 2, -np.inf]), "row 2 of the records: run_time is -inf, expected a number below 2^53"),
        (table(user_id=[2**53 + 1, 0, 0]), "user_id is 9007199254740993, expected a number below 2^53"),
        (table(user_id=pd.array([1, None, 2], "Int64")), "user_id is <NA>, expected a number"),
        (table(requested_procs=[1, -1, -2]), "row 2 of the records: requested_procs is -2, expected a number of"),
        (table(queue=["a", "b", "c"]), f"queue is a column of {pd.Series(['a']).dtype}, expected numbers"),
        (table(wait_time=pd.to_timedelta([1, 2, 3])), "wait_time is a column of timedelta64[ns], expected numbers"),
        (table().drop(columns=["queue", "status"]), "the records lack status, queue; expected the 18 fields"),
        (table(0), "there are no records to write, expected at least one"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(records, message, tmp_path):
    (tmp_path / "X.swf").write_bytes(RECORD)
    with pytest.raises(SWFError, match=re.escape(message)):
        write_log((Header(), records), tmp_path / "X.swf")
    assert [path.name for path in tmp_path.iterdir()] == ["X.swf"]
    assert (tmp_path / "X.swf").read_bytes() == RECORD


def test_an_interrupted_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupted(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(OSError, match="disk full"):
        write_log((Header(), table()), tmp_path / "X.swf")
    assert list(tmp_path.iterdir()) == []


# The table cache ----------------------------------------------------------------------------------------
@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tables"


@pytest.fixture
def log_file(tmp_path):
    path = tmp_path / "X.swf.gz"
    second = b"2 10 -1 0.1 300 70000 -1 5000000000 1 1 1 1 1 1 1 1 1 1\n"
    path.write_bytes(gzip.compress("; Installation: Ume\u00e5\n".encode() + RECORD + second))
    return path


def forbid_parsing(monkeypatch):
    monkeypatch.setattr(scanning, "scan_records", None)


def assert_same_log(log, other):
    pd.testing.assert_frame_equal(log.records, other.records, check_exact=True)
    pd.testing.assert_frame_equal(log.skipped, other.skipped)
    assert (log.header, log.sha256, log.path) == (other.header, other.sha256, other.path)


@pytest.mark.reduced
def test_the_second_reading_comes_from_the_cache(log_file, cache, monkeypatch):
    expected = read_log(log_file)
    assert_same_log(cached_log(log_file), expected)
    assert len(list(cache.iterdir())) == 1
    forbid_parsing(monkeypatch)
    assert_same_log(cached_log(log_file), expected)


def test_an_extended_or_changed_log_is_read_as_it_is_at_each_reading(log_file, cache):
    log_file.write_bytes(FROM_ZERO + EXTENDED + EXTENDED)
    assert_same_log(cached_log(log_file), cached_log(log_file))
    assert_same_log(cached_log(log_file), read_log(log_file))
    assert len(cached_log(log_file).records.columns) == 21
    cached_log(log_file)
    log_file.write_bytes(RECORD)
    assert len(cached_log(log_file).records) == 1


def altered(kept, **columns):
    """Write a valid npz with other columns in it, as a well-meaning program would."""
    with np.load(kept) as stored:
        content = dict(stored)
    with open(kept, "wb") as stream:
        np.savez(stream, **content | {name: change(content[name]) for name, change in columns.items()})


def another_fact(**facts):
    def change(stored):
        text = json.dumps(json.loads(stored.tobytes()) | facts)
        return np.frombuffer(text.encode(), np.uint8)

    return change


DAMAGES = {
    "empty": lambda content: b"",
    "garbage": lambda content: b"garbage",
    "cut": lambda content: content[: len(content) // 2],
    "altered content": lambda content: content.replace(b"Installation", b"installation"),
    "altered names": lambda content: content.replace(b"queue", b"quack"),
    "later": {"run_time": lambda column: column + 1},
    "another type": {"status": lambda column: column.astype(np.int64)},
    "another sign": {"status": lambda column: column.view(f"u{column.itemsize}")},
    "fewer": {"status": lambda column: column[:1]},
    "another header": {"facts": another_fact(lines=["; Installation: elsewhere"])},
    "a header that cannot be": {"facts": another_fact(lines=["; MaxProcs: 99999999999999"])},
    "another sha256": {"facts": another_fact(sha256="0" * 64)},
    "another source": {"facts": another_fact(source="0" * 64)},
    "another digest": {"digest": lambda digest: digest[::-1]},
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_table_that_was_damaged_or_changed_is_rebuilt(damage, log_file, cache, monkeypatch):
    expected = cached_log(log_file)
    (kept,) = cache.iterdir()
    sound = kept.read_bytes()
    if isinstance(damage, dict):
        altered(kept, **damage)
    else:
        kept.write_bytes(damage(sound))
    assert kept.read_bytes() != sound
    assert_same_log(cached_log(log_file), expected)
    assert kept.read_bytes() == sound
    forbid_parsing(monkeypatch)
    assert_same_log(cached_log(log_file), expected)


def test_the_table_of_another_log_under_the_name_of_this_one_is_rebuilt(log_file, cache):
    cached_log(log_file)
    (other,) = cache.iterdir()
    log_file.write_bytes(HEADER + RECORD)
    expected = cached_log(log_file)
    (kept,) = set(cache.iterdir()) - {other}
    kept.write_bytes(other.read_bytes())
    assert_same_log(cached_log(log_file), expected)


def test_folders_of_the_cache_are_the_users_alone(log_file, cache):
    before = os.umask(0)
    try:
        cached_log(log_file)
    finally:
        os.umask(before)
    assert [folder.stat().st_mode & 0o777 for folder in (cache, cache.parent)] == [0o700, 0o700]


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o1777])
def test_a_cache_that_others_may_write_to_is_done_without(log_file, cache, mode):
    cache.mkdir(parents=True)
    cache.chmod(mode)
    message = f"{cache} is not trusted: others may write to it; `chmod go-w` it, or delete it"
    with pytest.warns(UserWarning, match=f"^{re.escape(message)}$"):
        assert_same_log(cached_log(log_file), read_log(log_file))
    assert_same_log(cached_log(log_file), read_log(log_file))  # without a further warning
    assert list(cache.iterdir()) == []


def test_a_cache_of_somebody_else_is_done_without(log_file, cache, monkeypatch):
    cached_log(log_file)
    (kept,) = cache.iterdir()
    kept.write_bytes(b"not to be opened")
    monkeypatch.setattr(os, "geteuid", lambda: cache.stat().st_uid + 1)
    message = f"{cache} is not trusted: it belongs to somebody else; set SCHEDLAB_CACHE to a folder of your own"
    with pytest.warns(UserWarning, match=f"^{re.escape(message)}$"):
        assert_same_log(cached_log(log_file), read_log(log_file))
    assert kept.read_bytes() == b"not to be opened"


def test_a_table_that_somebody_else_put_there_is_not_believed(log_file, cache, monkeypatch):
    cached_log(log_file)
    fstat = os.fstat

    def foreign(stream):
        status = list(fstat(stream))
        status[4] += 1  # its user
        return os.stat_result(status)

    monkeypatch.setattr(os, "fstat", foreign)
    parsed = []
    parse = swf.scanned
    monkeypatch.setattr(swf, "scanned", lambda *given, **options: parsed.append(1) or parse(*given, **options))
    assert_same_log(cached_log(log_file), read_log(log_file))
    assert len(parsed) == 2


def test_a_system_without_owners_has_its_cache(log_file, cache, monkeypatch):
    monkeypatch.delattr(os, "geteuid")
    expected = cached_log(log_file)
    forbid_parsing(monkeypatch)
    assert_same_log(cached_log(log_file), expected)


def test_a_cache_that_cannot_be_written_is_done_without(log_file, cache):
    cache.parent.write_text("a file where the folder should be")
    assert_same_log(cached_log(log_file), read_log(log_file))


# The archive's logs -------------------------------------------------------------------------------------

# test_archive.py compares the catalogue with the files by other means.
TRACES = archive.catalogue().query("sha256 != ''")
# The logs with hundredths of seconds in field 6; those with 142.00 and the like count as whole.
FRACTIONAL = ("HPC2N", "OSC", "SDSC-BLUE", "SDSC-DS", "SDSC-Par", "SDSC-SP2")


def trace_file(name: str) -> Path:
    return Path(os.environ["SCHEDLAB_DATA"]) / f"{name}.swf.gz"


@pytest.mark.traces
@pytest.mark.parametrize("name", TRACES.index)
def test_a_trace_is_read_whole_and_makes_the_round_trip(name, tmp_path):
    log = read_log(trace_file(name))
    labels = {label.lower() for label in log.header.labels()}
    assert (log.header.unix_start_time is not None) == ("unixstarttime" in labels)
    assert (log.header.timezone is not None) == ("timezonestring" in labels)
    assert log.header.procs > 0
    assert (len(log.records), log.sha256, log.name) == (*TRACES.loc[name, ["jobs", "sha256"]], name)
    assert log.records["avg_cpu_time"].dtype == (np.float64 if name.startswith(FRACTIONAL) else np.int64)
    write_log(log, tmp_path / "again.swf")
    again = read_log(tmp_path / "again.swf")
    assert again.records.equals(log.records)
    assert again.header.lines == log.header.lines


@pytest.mark.traces
@pytest.mark.parametrize("name", ["SDSC-Par-1996-3.1-cln", "Sandia-Ross-2001-1.1-cln", "lublin_256"])
def test_a_trace_is_read_as_the_twin_reads_it(name):
    assert_same_as_twin(read_log(trace_file(name)), gzip.decompress(trace_file(name).read_bytes()))


@pytest.mark.traces
def test_facts_in_the_headers_of_the_traces():
    ctc, datastar, curie, paragon, nasa = (
        read_log(trace_file(f"{name}-cln")).header
        for name in (
            "CTC-SP2-1996-3.1",
            "SDSC-DS-2004-2.1",
            "CEA-Curie-2011-2.1",
            "SDSC-Par-1996-3.1",
            "NASA-iPSC-1993-3.1",
        )
    )
    assert (ctc.procs, ctc.unix_start_time, ctc.timezone) == (338, 835823160, "US/Eastern")
    assert datastar.get("Copyright").splitlines()[-1].startswith("this data is properly referenced")
    assert datastar.queues[1] == "express          (p655 /  2hr /   8nodes / weekdays)"
    assert (curie.installation, curie.acknowledge) == ("CEA Curie Cluster", "Joseph Emeras, CEA/CNRS")
    assert (len(curie.partitions), curie.partitions[19]) == (33, "`;")
    assert curie.all("Note")[0].startswith(
        "Curie is composed of 3 types of nodes: thin, fat, and hybrid,\nsee: http://"
    )
    assert (len(paragon.queues), paragon.queues[0], paragon.queues[33]) == (34, "interactive", "test")
    assert nasa.all("Note")[1] == "group 1 is normal users\ngroup 2 is system personnel"
