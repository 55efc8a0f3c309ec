"""Read the accounting of PBS (also Torque) and of LSF: a line for each event of a job, of which the ends count."""

from __future__ import annotations

import csv
import os
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd

from schedlab._runtime.files import opened
from schedlab._runtime.text import plain
from schedlab._runtime.words import MissingEstimate

from . import packed
from .runs import trace_of
from .tables import Table, TableError
from .trace import Trace

# 03/01/2024 09:10:00;E;100.srv;user=ann ...: an event by its letter, a job by its number.
_PBS = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;([A-Z]);([^;]*);(.*)")
_PBS_JOB = re.compile(r"([0-9]+)(\[[0-9]*\])?(?:\..*)?")
_HELD = re.compile(r"\*([0-9]+)$")  # processors of a host: n1/0*16
PBS_COLUMNS = {"queue": "queue", "user": "user", "group": "group", "account": "account", "project": "project"}
PBS_COLUMNS |= {"jobname": "name", "Resource_List.select": "select", "Resource_List.mem": "requested_mem"}
LSF_FIELDS = ("kind", "version", "end", "job", "user_id", "options", "procs", "submit", "begin", "term", "start")
LSF_FIELDS += ("user", "queue")
LSF_ROLES = {"submit": "submit", "start": "start", "end": "end", "procs": "procs", "job": "job", "user": "user"}
LSF_ROLES |= {"queue": "queue"}


def read_pbs(
    path: str | os.PathLike,
    *,
    machine: int | None = None,
    time_zone: str | None = None,
    missing_estimate: MissingEstimate = "run",
    lenient: bool = False,
) -> Trace:
    """Read the accounting of PBS, OpenPBS or Torque: a file of a day, or several joined, plain or packed.

    The E records count: a job ended. A job that was run again has several; each is a run of its own, and the last keeps
    the number of the job.

    Parameters
    ----------
    path : path
        The file.
    machine : int, optional
        Processors of the machine. Default: the most in use at one instant.
    time_zone : str, optional
        Time zone in which dates are shown; all times are seconds since 1970.
    missing_estimate : "run", "drop" or a number of seconds
        What to do with a job without a walltime limit, as in `read_swf`.
    lenient : bool
        Skip bad lines instead of raising; `Trace.dropped` lists them.

    Returns
    -------
    Trace
        ``gpus``, ``account``, ``project``, ``name`` and the other columns of a record are kept. Processors are those of
        ``Resource_List.ncpus``, or else those of the hosts (``exec_host``).

    Raises
    ------
    TableError
        With file, line and what was expected, for a file of another form.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import schedlab as sl
    >>> record = "03/01/2024 09:10:00;E;7.srv;user=ann queue=batch ctime=1709280000 start=1709280600 end=1709284200 "
    >>> record += "exec_host=n1/0*16 Resource_List.ncpus=16 Resource_List.walltime=02:00:00 Exit_status=0"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "20240301")
    ...     size = path.write_text(record)
    ...     trace = sl.workload.read_pbs(path, machine=64)
    >>> trace.jobs[["wait_time", "run_time", "requested_time", "requested_procs"]].to_numpy().tolist()
    [[600, 3600, 7200, 16]]

    References
    ----------
    Altair, "PBS Professional Administrator's Guide", accounting log; Adaptive Computing, "Torque", accounting records.
    """
    path = Path(path)
    rows = []
    for number, line in _lines(path, "the accounting of PBS"):
        match = _PBS.fullmatch(line)
        if match is None:
            raise TableError(
                f"{plain(path.name)}:{number}: found {line[:60]!r}, expected date;letter;job;key=value ..."
            )
        if match[1] == "E":
            rows.append(
                _pbs_row(match[2], dict(part.partition("=")[::2] for part in match[3].split())) | {"line": number}
            )
    roles = {name: name for name in ("submit", "start", "end", "run", "procs", "estimate", "status", "job", "user")}
    roles |= {"group": "group", "queue": "queue"}
    return _trace(path, rows, roles, machine, time_zone, missing_estimate, lenient, "a job that ended (E)")


def _pbs_row(job, values):
    """Return the values of an E record, by role or under their own names."""
    match = _PBS_JOB.fullmatch(job)
    limits = {name.partition(".")[2]: text for name, text in values.items() if name.startswith("Resource_List.")}
    hosts = [host for host in values.get("exec_host", "").split("+") if host]
    held = sum(int(mark[1]) if (mark := _HELD.search(host)) else 1 for host in hosts)
    gpus = limits.get("ngpus") or sum(map(int, re.findall(r"ngpus=([0-9]+)", limits.get("select", ""))))
    row = {
        "job": int(match[1]) if match else None,
        "submit": values.get("ctime") or values.get("qtime"),
        "start": values.get("start"),
        "end": values.get("end"),
        "run": values.get("resources_used.walltime"),
        "procs": limits.get("ncpus") or held or None,
        "estimate": limits.get("walltime"),
        "status": {"0": "COMPLETED", "": None}.get(values.get("Exit_status", ""), "FAILED"),
        "gpus": int(gpus),
    }
    return row | {name: values.get(key) for key, name in PBS_COLUMNS.items()}


def read_lsf(
    path: str | os.PathLike,
    *,
    machine: int | None = None,
    time_zone: str | None = None,
    lenient: bool = False,
) -> Trace:
    """Read the accounting of LSF, ``lsb.acct``, plain or packed; the JOB_FINISH records count.

    Parameters
    ----------
    path : path
        The file.
    machine : int, optional
        Processors (slots) of the machine. Default: the most in use at one instant.
    time_zone : str, optional
        Time zone in which dates are shown; all times are seconds since 1970.
    lenient : bool
        Skip bad lines instead of raising; `Trace.dropped` lists them.

    Returns
    -------
    Trace
        The first fields of a record tell who ran what and when. Limits stand behind lists of hosts, whose form differs
        between versions, so they are unknown, and each job's estimate is its run time.

    Raises
    ------
    TableError
        With file, line and what was expected, for a file of another form.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import schedlab as sl
    >>> record = '"JOB_FINISH" "10.1" 1709284200 7 1000 0 16 1709280000 0 0 1709280600 "ann" "normal" "" "" "" "h"'
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "lsb.acct")
    ...     size = path.write_text(record)
    ...     trace = sl.workload.read_lsf(path, machine=64)
    >>> trace.jobs[["wait_time", "run_time", "requested_procs"]].to_numpy().tolist()
    [[600, 3600, 16]]

    References
    ----------
    IBM, "LSF configuration reference", lsb.acct.
    """
    path = Path(path)
    rows = []
    for number, line in _lines(path, "the accounting of LSF"):
        fields = next(csv.reader([line], delimiter=" "))
        if not fields[0].isupper() or len(fields) < 3:
            raise TableError(f"{plain(path.name)}:{number}: found {line[:60]!r}, expected a record such as JOB_FINISH")
        if fields[0] == "JOB_FINISH":
            row = dict(zip(LSF_FIELDS, fields, strict=False)) | {"line": number}
            never = row.get("start") == "0"  # it ended without a start
            rows.append(row | {"start": None if never else row.get("start"), "job": int(row["job"])})
    return _trace(path, rows, LSF_ROLES, machine, time_zone, "run", lenient, "a job that ended (JOB_FINISH)")


def _lines(path, expected):
    """Return the lines of a file that are not empty, with their numbers."""
    content = packed.undamaged(packed.content_of(path, expected), plain(path.name), TableError, expected)
    lines = enumerate(packed.decoded(content, "utf-8-sig").splitlines(), start=1)
    return [(number, line.strip()) for number, line in lines if line.strip()]


def _trace(path, rows, roles, machine, time_zone, missing_estimate, lenient, expected):
    file = plain(path.name)
    if not rows:
        raise TableError(f"{file}: no record in it of {expected}")
    frame = pd.DataFrame(rows)
    lines = frame.pop("line").tolist()
    frame = frame.drop(columns=["kind", "version", "options", "begin", "term"], errors="ignore")
    table = Table(frame, roles, file, lines, time_zone=time_zone or "UTC", lenient=lenient, lines=True)
    name = Path(packed.without_suffix(path.name)).stem
    return replace(trace_of(table, name, machine, missing_estimate), files=opened(path))
