"""Fuzz the readers: damaged and outlandish files either work or give one documented error, and nothing hangs.

    python -m tests.fuzz.fuzz_readers --seconds 30 --seed 1

Small valid files (SWF with rich headers, the same gzipped, output of sacct, tables of Jann's model, cached tables) are
mutated: bytes, fields, lines, header lines, pieces of other files. Each is read strictly and leniently, and the result
is used: shown, dated, cut, measured, written and read back, simulated.

These are failures: an error of an undocumented type, an error that does not name the file, a message with control
characters, a warning, a written log that reads back differently, an altered cached table that is accepted, and more
than a few seconds of computing. Each kind of failure is printed once, with the input; ``--only N`` runs the N-th input
of a seed again. The exit code is 1 if there was any failure.
"""

import argparse
import faulthandler
import gzip
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import unicodedata
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import schedlab as sl
from schedlab._runtime import paths
from schedlab._runtime.text import plain
from schedlab.workload import swf
from schedlab.workload.sacct import example_path

LIMIT = 5  # seconds of computing for one input
STUCK = 120  # seconds after which even a kernel that cannot be interrupted is given up
FEW = 60  # jobs that are simulated
DEEP = 0.2  # share of the inputs that are also used after reading
CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")
NAMES = ("X", "a b", "=1+1", "<img src=x>", "a\x1b[2Jb", "a\nb", "\u202eb", "Umeå")

HEADER = """\
; Version: 2.2
; Computer: IBM SP2
; Installation: Umeå
; Acknowledge: Dan Dwyer and Steve Hotovy
; Information: http://www.tc.cornell.edu/
;              http://www.cs.huji.ac.il/labs/parallel/workload/
; MaxJobs: 79302
; MaxRecords: 79302
; Preemption: No
; UnixStartTime: 835823160
; TimeZone: -18000
; TimeZoneString: US/Eastern
; StartTime: Wed Jun 26 17:06:00 EDT 1996
; EndTime:   Sat May 31 23:11:26 EDT 1997
; MaxNodes: 338 (batch partition; 512 total)
; MaxProcs: 338
; MaxRuntime: 64800
; MaxMemory: N/A
; Queues: these are actually LoadLeveler classes
; MaxQueues: 2
; Queue:  1 DSI
; Queue:  2 astro
; MaxPartitions: 1
; Partition:  1 batch
; Note: THIS IS A CLEANED VERSION OF THE LOG!
;       The filter used to produce it was
;
"""
VALUES = [
    *("", " ", "0", "-1", "-2", "1", "7", "0.5", "-0.0", "1e300", "1e-300", "1e5", "nan", "inf", "-Infinity", "0x10"),
    *("9007199254740991", "9007199254740992", "-9007199254740991", "16777216", "16777217", "4294967296"),
    *("253402214400", "253402300800", "-62135596800", "99999999999", "9" * 30, "9" * 5_000, "0" * 5_000 + "7", "1,024"),
    *("../../etc/passwd", "/etc/passwd", "Europe", "Europe/Stockholm", "localtime", "right/UTC", "a sentence of words"),
    *("N/A", "unknown", "\x1b[31m", "\0", "\r", "\t", "\x85", "\u2028", "\u202e", "\udcff", "</script>", "=1+1", ";"),
    *("1 2 3", "x" * 3_000, "1" * 17, "٣", "1_000", "+5", "5.", ".5", "-", "|", "\n", '"', "'", ",", "\ufeff"),
]
SACCT_VALUES = [
    *("None", "Unknown", "UNLIMITED", "Partition_Limit", "2024-03-31T02:30:00", "2024-10-27T02:30:00", "1709535600"),
    *("0001-01-01T00:00:00", "2199-12-31T23:59:59", "1900-01-01T00:00:00", "2024-02-30T00:00:00", "2024-03-04"),
    *("2024-03-04T06:10:25Z", "2024-03-04T06:10:25+01:00", "2024-03-04T06:10:25.5", "99999999999"),
    *("999999-23:59:59", "00:00:00", "-00:00:01", "1-0", "5:61", "99999999:59:59", "16777216", "16777217"),
    *("CANCELLED by 0", "RUNNING", "PENDING", "TIMEOUT", "RESIZING", "COMPLETING", "NONSENSE"),
    *("1_[1-9]", "1+0", "1_1.batch", "9" * 15, "9" * 16, "4000Mc", "16Gn", "?", "999999999999P", "0n", "1.5T"),
    *("a,b,c", "user\r", "x\x1b[2Jy", "JobID", "job|name"),
]


class Failure(Exception):
    """An input failed; the message says how."""


class Slow(BaseException):
    """An input takes too long. No reader may catch this."""


# Inputs -------------------------------------------------------------------------------------------------
def swf_text(draw: random.Random) -> bytes:
    """Make a small valid log: jobs in order or not, some fields unknown or fractional."""
    lines = HEADER.splitlines(keepends=True)
    kept = [line for line in lines if draw.random() < 0.9 or "MaxProcs" in line]
    submit, rows = 0, []
    for number in range(1, draw.choice([2, 5, 12, 40])):
        submit += draw.choice([0, 1, 60, 3_600, 86_400])
        run, procs = draw.choice([0, 1, 30, 900, 50_000]), draw.choice([1, 2, 16, 300, 338])
        asked = draw.choice([-1, run, 2 * run, 64_800])
        wait, cpu, size = draw.choice([-1, 0, 50]), draw.choice(["-1", "142.00", "0.1"]), draw.choice([-1, procs])
        status, queue = draw.choice([-1, 0, 1, 2, 3, 4, 5]), draw.choice([1, 2])
        rows.append(
            f"{number} {submit} {wait} {run} {procs} {cpu} -1 {size} {asked} -1 "
            f"{status} {number % 5} 1 {number % 3} {queue} 1 -1 -1\n"
        )
    end = draw.choice(["", "; Note: the end\n"])
    return "".join([*kept, *rows, end]).encode()


def sacct_text(draw: random.Random) -> bytes:
    """Take some lines of the example."""
    head, *lines = example_path().read_text(encoding="utf-8").splitlines(keepends=True)
    first = draw.randrange(len(lines) - 40)
    return "".join([head, *lines[first : first + draw.choice([1, 6, 40])]]).encode()


def jann_text(draw: random.Random) -> bytes:
    """Take some lines of a table that comes with the package."""
    head, *lines = (paths.data_dir() / "jann-kth.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join([head, *lines[: draw.randrange(1, len(lines) + 1)]]).encode()


def mutated(draw: random.Random, text: bytes, separator: bytes, values: list[str]) -> bytes:
    """Change a text in one to four places."""
    for _ in range(draw.choice([0, 1, 1, 1, 2, 2, 3, 4])):
        text = draw.choice([_byte, _piece, _field, _field, _field, _line, _label, _cut])(draw, text, separator, values)
    return text


def _value(draw, values):
    return draw.choice(values).encode("utf-8", "surrogateescape")


def _span(draw, text, most=40):
    begin = draw.randrange(len(text) + 1)
    return begin, min(len(text), begin + draw.randrange(most))


def _byte(draw, text, *_):
    begin, end = _span(draw, text, 3)
    return text[:begin] + draw.randbytes(draw.randrange(4)) + text[end:]


def _piece(draw, text, *_):
    (begin, end), (source, until) = _span(draw, text), _span(draw, text, 400)
    return text[:begin] + text[source:until] + text[end:]


def _field(draw, text, separator, values):
    lines = text.split(b"\n")
    place = draw.randrange(len(lines))
    fields = lines[place].split(separator)
    fields[draw.randrange(len(fields))] = _value(draw, values)
    lines[place] = separator.join(fields)
    return b"\n".join(lines)


def _line(draw, text, *_):
    lines = text.split(b"\n")
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    action = draw.randrange(4)
    if action == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif action == 1:
        lines.insert(one, lines[other])
    elif action == 2:
        del lines[one]
    else:
        lines[one] = lines[one] + draw.choice([b"\r", b" ", b" 7", b";", b"|", b","])
    return b"\n".join(lines)


def _label(draw, text, separator, values):
    """Insert an SWF header line; the other formats treat it like any other line."""
    label = draw.choice([*swf.LABELS, "Copyright"])
    line = f"; {draw.choice([label, label.lower()])}: ".encode() + _value(draw, values)
    lines = text.split(b"\n")
    lines.insert(draw.randrange(min(len(lines), 30)), line)
    return b"\n".join(lines)


def _cut(draw, text, *_):
    return text[: draw.randrange(len(text) + 1)] if draw.random() < 0.2 else text


def packed(draw: random.Random, text: bytes) -> bytes:
    """Gzip a text, or two in a row; damage some of the streams."""
    stream = gzip.compress(text, draw.choice([0, 1, 9]), mtime=0)
    if draw.random() < 0.1:
        stream += gzip.compress(text, mtime=0)
    action = draw.randrange(5)
    if action == 0:
        return _byte(draw, stream)
    if action == 1:
        return stream[: draw.randrange(len(stream))]
    if action == 2:
        return stream + draw.randbytes(draw.randrange(20))
    return stream


# What is done with them ---------------------------------------------------------------------------------
def read_swf(draw: random.Random, folder: Path, pack: bool = False) -> str:
    """Read and use a mutated log; most are only read as a `Log`, which takes a tenth of the time."""
    text = mutated(draw, swf_text(draw), b" ", VALUES)
    path = folder / f"{draw.choice(NAMES)}.swf{'.gz' * pack}"
    path.write_bytes(packed(draw, text) if pack else text)
    if draw.random() > DEEP:
        return _read_log(path)
    procs = draw.choice([None, None, 64])
    missing = draw.choice(["run", "drop", 3_600])
    return _both(
        draw, path, lambda lenient: sl.read_swf(path, lenient=lenient, machine=procs, missing_estimate=missing)
    )


def _read_log(path):
    strict = _documented(path, lambda: swf.read_log(path))
    lenient = _documented(path, lambda: swf.read_log(path, lenient=True))
    if lenient is None:
        if strict is not None:
            raise Failure("strict reading accepts what lenient reading refuses")
        return "refused"
    if (strict is None) != bool(len(lenient.skipped)):
        raise Failure("strict reading and what lenient reading leaves out do not fit")
    for words in (lenient.name, *lenient.skipped["value"], *lenient.skipped["reason"]):
        _shown(words)
    _use_header(lenient.header)
    return "left lines out" if strict is None else "read"


def read_gzip(draw: random.Random, folder: Path) -> str:
    """Read and use a mutated log in a gzip stream that may itself be damaged."""
    return read_swf(draw, folder, pack=True)


def read_sacct(draw: random.Random, folder: Path) -> str:
    """Read and use a mutated export."""
    text = mutated(draw, sacct_text(draw), b"|", VALUES + SACCT_VALUES * 3)
    path = folder / f"{draw.choice(NAMES)}.txt"
    path.write_bytes(packed(draw, text) if draw.random() < 0.1 else text)
    settings = {
        "machine": draw.choice([None, 128]),
        "procs_of": draw.choice(["cpus", "nodes"]),
        "arrival": draw.choice(["submit", "eligible"]),
        "time_zone": draw.choice([None, "Europe/Stockholm", "US/Pacific"]),
        "missing_estimate": draw.choice(["run", "drop"]),
    }
    if draw.random() > DEEP:
        lenient = draw.random() < 0.5
        return "read" if _documented(path, lambda: sl.read_sacct(path, lenient=lenient, **settings)) else "refused"
    return _both(draw, path, lambda lenient: sl.read_sacct(path, lenient=lenient, **settings))


def read_jann(draw: random.Random, folder: Path) -> str:
    """Read a mutated table of Jann's model and generate jobs from it."""
    path = folder / f"{draw.choice(NAMES)}.csv"
    path.write_bytes(mutated(draw, jann_text(draw), b",", VALUES))
    table = _documented(path, lambda: sl.workload.read_jann(path))
    if table is None:
        return "refused"
    _shown(repr(table))
    table.frame()
    if draw.random() > DEEP:
        return "read"
    trace = _refused(lambda: sl.model_trace("jann", jobs=20, machine=draw.choice([None, 4, 128]), table=table))
    if trace is None:
        return "no jobs"
    use(draw, trace, folder)
    return "used"


def read_table(draw: random.Random, folder: Path) -> str:
    """Alter the cached table of a log; reading must still return the log."""
    path = folder / "X.swf"
    path.write_bytes(swf_text(draw))
    expected = swf.read_log(path)
    swf.cached_log(path)
    (kept,) = paths.own_folder("tables").iterdir()
    sound = kept.read_bytes()
    try:
        if draw.random() < 0.5:
            _alter(draw, kept)
        else:
            kept.write_bytes(draw.choice([_byte, _piece, _cut])(draw, sound))
        found = swf.cached_log(path)
        if not (found.records.equals(expected.records) and found.header == expected.header):
            raise Failure("a table of the cache was believed, which is not that of the log")
        if found.sha256 != expected.sha256 or len(found.skipped):
            raise Failure("facts of an altered table were believed")
    finally:
        kept.unlink()
    return "rebuilt"


def _alter(draw, kept):
    """Write a valid file with other numbers in it."""
    with np.load(kept) as stored:
        content = dict(stored)
    name = draw.choice(list(content))
    array = content[name]
    changes = [
        lambda: array[::-1],
        lambda: array + array.dtype.type(1),
        lambda: array.astype(np.float64) * np.nan,
        lambda: array.astype(np.int64) * 2**40,
        lambda: array[:-1],
        lambda: array.reshape(1, -1),
        lambda: array.astype(str),
        lambda: np.array(array.tolist() + [None], dtype=object),
        lambda: np.frombuffer(array.tobytes(), np.uint8),
    ]
    change = draw.choice([*changes, None])
    with np.errstate(all="ignore"):
        content |= {name: change()} if change else {}
    if not change:
        del content[name]
    with open(kept, "wb") as stream:
        np.savez(stream, **content)


def _both(draw, path, read):
    """Read strictly and leniently; what strict reading accepts, lenient reading must accept too."""
    strict = _documented(path, lambda: read(False))
    lenient = _documented(path, lambda: read(True))
    if strict is not None and (lenient is None or not lenient.jobs.equals(strict.jobs)):
        raise Failure("strict and lenient reading differ")
    if lenient is None:
        return "refused"
    use(draw, lenient, path.parent)
    return "left lines out" if strict is None else "used"


def _documented(path, read):
    """Return what is read, or None after a documented error: of a documented type, naming the file."""
    try:
        return read()
    except (sl.workload.SWFError, sl.workload.SacctError, ValueError) as error:
        _plain_error(error)
        name = plain(path.name)
        if not str(error).startswith((name, name.removesuffix(".gz").removesuffix(".swf"))):
            raise Failure(f"a message that does not begin with the name of the file: {error}") from error
        return None


def _refused(action):
    """Return the result of an action, or None if it is refused with a ValueError that this package words."""
    try:
        return action()
    except ValueError as error:
        _plain_error(error)
        return None


def _plain_error(error):
    if type(error) is not ValueError and not isinstance(error, sl.workload.SWFError | sl.workload.SacctError):
        raise error
    if traceback.extract_tb(error.__traceback__)[-1].filename.startswith(str(Path(np.__file__).parents[1])):
        raise Failure(f"an error of a library: {error}") from error
    _shown(str(error))
    if len(str(error)) > 2_000:
        raise Failure(f"a message of {len(str(error)):,} letters")


def _shown(words):
    """Check that a text holds no control characters other than line ends."""
    if any(unicodedata.category(letter) in CONTROLS for letter in words.replace("\n", "")):
        raise Failure(f"words that control a terminal: {words!r}")


def _use_header(header):
    for label in header.labels():
        header.integer(label)
        _shown("\n".join(header.all(label)))
    for names in (header.queues, header.partitions):
        _shown("\n".join(names.values()))
    _shown(f"{header.timezone} {header.procs} {header.unix_start_time} {header.computer} {header.installation}")


def use(draw: random.Random, trace: sl.Trace, folder: Path) -> None:
    """Use a trace as people do."""
    for words in (repr(trace), trace.title, *trace.dropped["reason"], *trace.repaired["reason"]):
        _shown(words)
    _use_header(trace.header)
    submit = trace.jobs["submit_time"]
    for second in (0, submit.iloc[0], submit.iloc[-1], float(submit.mean()), draw.choice([1e11, -1e12, 1e300])):
        _refused(lambda second=second: str(trace.at(second)))
    for instant in ("1996-09-01", "1996-10-27 01:30", "garbage", 5, "2024-03-31 02:30", draw.choice(VALUES)):
        _refused(lambda instant=instant: trace.seconds(instant))
    part = _refused(lambda: trace.between(*sorted(draw.choices(submit.tolist(), k=2))))
    _refused(lambda: trace.between("1996-07-01", "1996-08-01"))
    for one in filter(None, (trace, part)):
        one.offered_load()
        _same(one, folder)
    if len(trace) <= FEW and trace.procs <= 2**16:
        sl.simulate(trace, "easy").validate()


def _same(trace, folder):
    """Check that a trace written to a file reads back the same."""
    path = folder / "again.swf"
    trace.to_swf(path)
    again = sl.read_swf(path)
    written = trace.jobs[again.jobs.columns]
    if not again.jobs.astype("float64").equals(written.astype("float64")) or again.procs != trace.procs:
        raise Failure("a written log is not read back the same")


KINDS = {"swf": read_swf, "gzip": read_gzip, "sacct": read_sacct, "jann": read_jann, "table": read_table}
WEIGHTS = (10, 5, 2, 4, 1)


# The run ------------------------------------------------------------------------------------------------
def one_input(seed: int, number: int) -> tuple[str, str, str]:
    """Run one input; return its kind, its outcome, and a failure with the input ("" if none)."""
    draw = random.Random(f"{seed}/{number}")
    (kind,) = draw.choices(list(KINDS), WEIGHTS)
    with tempfile.TemporaryDirectory(dir=_quick_folder()) as scratch:
        folder = Path(scratch) / "in"
        folder.mkdir()
        os.environ["SCHEDLAB_CACHE"] = str(Path(scratch) / "cache")
        try:
            _limit(LIMIT)
            return kind, KINDS[kind](draw, folder), ""
        except (Exception, Slow) as error:
            _limit(0)
            frames = "".join(traceback.format_exception(error))
            given = [f"{path.name!r}: {path.read_bytes()!r}" for path in folder.iterdir() if path.name != "again.swf"]
            return kind, f"FAILED {_sort(error)}", "\n".join([frames, *given])
        finally:
            _limit(0)


def _sort(error):
    """Return what tells failures apart: their type and where they come from."""
    if isinstance(error, Failure):
        return str(error)[:60]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "schedlab" in frame.filename]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "here"
    return f"{type(error).__name__} at {where}"


def _quick_folder():
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _limit(seconds):
    """Raise `Slow` after this much computing time; 0 means never."""
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _too_slow(*_):
    raise Slow(f"more than {LIMIT} s")


def main(arguments: list[str] | None = None) -> int:
    """Run inputs until the time is over; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.fuzz_readers", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=30, help="how long to go on (default: 30)")
    parser.add_argument("--seed", type=int, default=1, help="other inputs for another one (default: 1)")
    parser.add_argument("--inputs", type=int, default=10**9, metavar="N", help="stop after so many inputs")
    parser.add_argument("--only", type=int, metavar="N", help="the N-th input of the seed and no other")
    options = parser.parse_args(arguments)
    warnings.simplefilter("error")
    for documented in (sl.workload.PartitionWarning, sl.workload.LoadWarning):
        warnings.simplefilter("ignore", documented)
    if hasattr(signal, "SIGPROF"):
        signal.signal(signal.SIGPROF, _too_slow)
    sl.simulate(sl.model_trace("lublin", jobs=20, machine=8), "easy").validate()  # compiles what is not in the cache
    counts, failures = Counter(), {}
    begin = time.monotonic()
    numbers = range(options.inputs) if options.only is None else (options.only,)
    for number in numbers:
        if time.monotonic() - begin > options.seconds:
            break
        faulthandler.dump_traceback_later(STUCK, exit=True)
        kind, outcome, failure = one_input(options.seed, number)
        counts[kind, outcome] += 1
        if failure and outcome not in failures:
            failures[outcome] = number
            print(f"--seed {options.seed} --only {number}, {kind}: {outcome}\n{failure}\n", flush=True)
    faulthandler.cancel_dump_traceback_later()
    for (kind, outcome), count in sorted(counts.items()):
        print(f"{kind:6} {count:8,}  {outcome}")
    print(f"{counts.total():,} inputs, seed {options.seed}: {len(failures)} kinds of failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
