"""Read the accounting of PBS (also Torque) and of LSF: a line for each event of a job, of which the ends count."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd

from schedlab._runtime.files import opened
from schedlab._runtime.text import plain, spelt
from schedlab._runtime.words import MissingEstimate

from . import filter as load_filter
from . import lsf_records, packed, pbs_records, swf
from .fields import Refusals, clipped
from .records import left_out
from .runs import trace_of
from .tables import NEEDED, FirstKnown, Table, TableError
from .trace import Trace

_LSF_RECORD = re.compile(r'"[A-Z][A-Z_0-9]+" "[^"]*" ')
_BYTES = re.compile(r"([0-9]+)([kmgtp]?)b?", re.IGNORECASE)  # an amount of memory


def read_pbs(
    path: str | os.PathLike,
    *,
    machine: int | None = None,
    arrival: str = "submit",
    time_zone: str | None = None,
    missing_estimate: MissingEstimate = "run",
    lenient: bool = False,
) -> Trace:
    """Read the accounting of PBS Professional, OpenPBS or Torque (``server_priv/accounting``).

    Parameters
    ----------
    path : path
        The file of a day, or those of several days joined in their order; plain or packed (.gz, .bz2, .xz, .zst).
    machine : int, optional
        Processors of the machine. Default: the most in use at one instant.
    arrival : {"submit", "eligible"}
        When a job arrives: when it was created (``ctime``), or when nothing held it back any more (``etime``).
    time_zone : str, optional
        Time zone in which dates are shown; all times that count are seconds since 1970.
    missing_estimate : "run", "drop" or a number of seconds
        What to do with a job without a walltime limit, as in `read_swf`.
    lenient : bool
        Skip bad lines instead of raising; `Trace.dropped` lists them.

    Returns
    -------
    Trace
        Users, groups and queues are numbered and named. ``account``, ``name`` (of the job), ``reservation``, ``gpus``
        and ``state`` are columns, and so are all other fields of a record under their own names, with ``_`` for a dot:
        ``project``, ``exec_host``, ``Exit_status``, ``Resource_List_select``, ``resources_used_mem``, ... Not kept are
        ``session``, ``qtime``, and ``exec_vnode`` and ``Resource_List.neednodes``, which other fields say, too; nor
        what names people: ``owner``, ``requestor``, ``Submit_arguments``, ``Output_Path`` and the like. Of tasks of
        arrays, ``job_id`` is such as ``123[4]``.

    Raises
    ------
    TableError
        With file, line, field, value and what was expected.

    Notes
    -----
    - *Runs*: an E record is a run that ended. So is an R record with times (OpenPBS: the job was run again); its state
      is REQUEUED. Each run is a job of its own, and the last keeps the number of the job.
    - *Run times* are from start to end, during which a job held its processors; ``resources_used_walltime`` may be
      shorter, since it starts later, and stops while a job is suspended.
    - *Processors* are those of ``exec_vnode``; else of ``exec_host`` (``n1/0*16``, ``n1/0-15``, ``n1/0+n1/1``), or
      ``Resource_List.ncpus`` where these are more. *GPUs* are the ``ngpus`` of ``exec_vnode``, else of
      ``Resource_List.ngpus`` or ``select``, or the ``gpus`` of Torque's ``nodes``, times the number of nodes.
    - *Memory* is ``Resource_List.mem``, of the whole job.
    - *States*: an exit status of 0 is COMPLETED; -29, PBS Professional's walltime limit, TIMEOUT; others are FAILED,
      among them 271, whoever ended the job.
    - *Omitted*, with the reason in `Trace.dropped`: jobs that still run (S without an end), with their work up to the
      last instant in the log; that wait (Q), were deleted or aborted before they ran (D, A); the records of arrays as a
      whole (``123[]``); and runs that were interrupted without a record of their end: Torque's R record is empty. Their
      length is that between the lines of S and R. Records of licenses and reservations are no jobs.
    - *Not known*: how whole nodes are counted that a job had for itself (``place=excl``), what a job gave back before
      its end, and who was suspended when.

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
    log = _Log(path, "the accounting of PBS", lenient)
    events = _Events(log)
    for number, line in log:
        match = pbs_records.RECORD.fullmatch(line.strip())
        if match is None:
            log.refuse(number, f"found {clipped(line)!r}, expected date;letter;job;key=value ...")
        else:
            with log.checked(number):
                events.take(number, *match.groups())
    events.close()
    roles = pbs_records.ROLES
    return log.trace(roles, "a job that ended (E)", machine, time_zone, missing_estimate, arrival)


def read_lsf(
    path: str | os.PathLike,
    *,
    machine: int | None = None,
    time_zone: str | None = None,
    missing_estimate: MissingEstimate = "run",
    lenient: bool = False,
) -> Trace:
    """Read the accounting of LSF, ``lsb.acct``.

    Parameters
    ----------
    path : path
        The file, or several joined; plain or packed (.gz, .bz2, .xz, .zst).
    machine : int, optional
        Processors (slots) of the machine. Default: the most in use at one instant.
    time_zone : str, optional
        Time zone in which dates are shown; all times are seconds since 1970.
    missing_estimate : "run", "drop" or a number of seconds
        What to do with a job without a known run limit, as in `read_swf`.
    lenient : bool
        Skip bad lines instead of raising; `Trace.dropped` lists them.

    Returns
    -------
    Trace
        Users and queues are numbered and named. ``name`` (of the job), ``reservation``, ``gpus`` and ``state`` are
        columns, and, under IBM's names, ``projectName``, ``app``, ``exitStatus``, ``exitInfo``, ``execHosts`` (the
        slots of each host: ``16*n1 4*n2``), ``resReq``, ``effectiveResReq``, ``dependCond``, ``chargedSAAP`` and others
        that are numbers or short. Texts of people that no analysis needs are not kept: the command, folders and files,
        the commands before and after the job, its description, addresses of mail. Of tasks of arrays, ``job_id`` is
        such as ``123[4]``.

    Raises
    ------
    TableError
        With file, line, field, value and what was expected.

    Notes
    -----
    - *Runs*: each JOB_FINISH record is one, from ``startTime`` to the time of the event; other records are no runs.
      What lsb.acct does not have: jobs that still run or wait, earlier runs of a job that was run again, and when a job
      was suspended.
    - *Processors* are the slots that ran, of ``execHosts`` (``16*n1``, or a name for each slot), which may be more than
      ``numProcessors``, those asked for.
    - *Limits*: ``runLimit`` stands behind lists whose form differs between versions. It is read where all fields around
      it have their form, in the order of logs in public (before ``options3``, not behind it as in IBM's manual);
      otherwise it is unknown, as are all fields from the first that has another form.
    - *GPUs* are ``ngpus_physical`` of ``effectiveResReq``: for each host of the job, or as ``/host``, ``/task`` or
      ``/job`` says; unknown in requirements of several parts.
    - *States*: DONE is COMPLETED; EXIT is FAILED, or by ``exitInfo`` TIMEOUT, CANCELLED (by the owner or an
      administrator), OUT_OF_MEMORY, PREEMPTED or DEADLINE. ``exitStatus`` is a wait status: 256 times an exit code.
    - *Omitted*, with the reason in `Trace.dropped`: jobs that ended without a start.

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
    log = _Log(path, "the accounting of LSF", lenient)
    for number, line in log:
        with log.checked(number):
            if not _LSF_RECORD.match(line):
                raise ValueError(f"found {clipped(line)!r}, expected a record such as JOB_FINISH")
            record = lsf_records.tokens(line)
            if record[0] == '"JOB_FINISH"':
                log.add(number, lsf_records.row(record))
    return log.trace(lsf_records.ROLES, "a job that ended (JOB_FINISH)", machine, time_zone, missing_estimate)


def kind_of(path: str | os.PathLike) -> str:
    """Tell by its first line whether a file is the accounting of "PBS" or of "LSF"; empty if of neither."""
    with suppress(*packed.DAMAGED, ModuleNotFoundError), packed.opener(path) as stream:  # reported when it is read
        lines = (line.strip() for line in iter(lambda: stream.readline(10_000), b""))
        first = next(filter(None, lines), b"").decode("utf-8-sig", "replace")
        forms = {"PBS": pbs_records.RECORD, "LSF": _LSF_RECORD}
        return next((kind for kind, form in forms.items() if form.match(first)), "")
    return ""


class _Events:
    """The events of the jobs of PBS: each end is a row of the log, and what has none is left out."""

    def __init__(self, log):
        self.log = log
        self.queued = {}  # jobs that did not start, with what is left out
        self.started = set()  # jobs, and the arrays of which they are tasks
        self.open = {}  # the last start without an end, by job: line, when, job, fields
        self.stopped = {}  # when such a run was deleted, aborted or run again

    def take(self, number, when, letter, job, text):
        if letter in "QDA":
            self.queued.setdefault(job, load_filter.WAITING)
        if letter in "DA":
            self.queued[job] = load_filter.CANCELLED_EARLY
        if letter in "DAR" and job in self.open:
            self.stopped.setdefault(job, when)
        if letter not in "SER" or not text.strip():
            return
        match = pbs_records.JOB.fullmatch(job)
        if match is None:
            raise ValueError(f"the job is {spelt(clipped(job))}, expected a number like 123.server or 123[4].server")
        values = pbs_records.fields(text)
        if letter != "S" and match[2] == "[]":
            self.log.leave_out(load_filter.ARRAY, match[1])
        elif letter != "S":
            if not values.get("end"):
                raise ValueError("field end is missing, expected that of a run (is the line cut?)")
            self.log.add(number, pbs_records.row(match, values, again=letter == "R"))
        if letter == "S" or job in self.stopped:
            self._interrupt(job, values.get("start"))
        self.open.pop(job, None)
        if letter == "S":
            self.open[job] = (number, when, match, values)
        self.started |= {job, re.sub(r"\[[0-9]+\]", "[]", job)}

    def _interrupt(self, job, start=None):
        """Leave out the run of a job that is open, unless it began at `start`: its end is not recorded."""
        number, begin, match, values = self.open.pop(job, (0, "", None, {}))
        end = self.stopped.pop(job, None)
        if match and values.get("start") != start:
            with self.log.checked(number):
                length = (_date(end) - _date(begin)).total_seconds() if end else -1
                self.log.leave_out(load_filter.INTERRUPTED, match[1], length, pbs_records.row(match, values)["procs"])

    def close(self):
        """Add the runs that go on, and leave out those that nobody saw the end of and jobs that did not start."""
        for job in [*self.stopped]:
            self._interrupt(job)
        for number, _, match, values in self.open.values():
            with self.log.checked(number):
                self.log.add(number, pbs_records.row(match, values) | {"state": "RUNNING", "end": ""})
        for job, reason in self.queued.items():
            if job not in self.started:
                match = pbs_records.JOB.fullmatch(job)
                self.log.leave_out(reason, match[1] if match else -1)


def _date(text):
    try:
        return datetime.strptime(text, pbs_records.DATE)
    except ValueError:
        raise ValueError(f"found {clipped(text)!r}, expected a date like 03/01/2024 09:10:00") from None


class _Log:
    """A log as it is read: the rows, column by column, and what is left out."""

    def __init__(self, path, expected, lenient):
        self.path = Path(path)
        self.file = plain(self.path.name)
        self.expected = expected
        self.lenient = lenient
        self.bad_lines = Refusals(self._error, load_filter.BAD_LINE, lenient)
        self.columns = {}
        self.lines = []
        self.omitted = []  # reason, number of the job, run time and processors

    def _error(self, line, reason):
        return TableError(f"{self.file}:{line}: {reason}")

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return packed.lines_of(self.path, TableError, self.expected)

    def refuse(self, number: int, reason: str) -> None:
        self.bad_lines.add(number, number, reason)

    @contextmanager
    def checked(self, number: int) -> Iterator[None]:
        """Refuse a line if what is done with it raises ValueError."""
        try:
            yield
        except TableError:
            raise
        except ValueError as problem:
            self.refuse(number, str(problem))

    def add(self, number: int, row: Mapping[str, str]) -> None:
        for name in row:
            if name not in self.columns:
                self.columns[name] = [""] * len(self.lines)
        for name, values in self.columns.items():
            values.append(sys.intern(row.get(name, "")))
        self.lines.append(number)

    def leave_out(self, reason, job=-1, run=-1, procs="") -> None:
        self.omitted.append((reason, int(job), run, int(procs or -1)))

    def _left_out(self):
        """Return what was left out, and the bad lines, in the form of `Trace.dropped`."""
        omitted = self.omitted + [(reason, -1, -1, -1) for reason in self.bad_lines.values()]
        reasons, *columns = zip(*omitted, strict=True) if omitted else [()] * 4
        table = pd.DataFrame(-1, range(len(omitted)), swf.FIELDS)
        for name, values in zip(("job_number", "run_time", "requested_procs"), columns, strict=True):
            table[name] = np.array(values, dtype="int64")
        return left_out(table, dict(enumerate(reasons)))

    def trace(self, roles, expected, machine, time_zone, missing_estimate, arrival="submit") -> Trace:
        if not self.lines:
            raise TableError(f"{self.file}: no record in it of {expected}")
        needed = {roles.get(role) for role in NEEDED} | {"number", "job_id", "gpus"}
        columns = {name: values for name, values in self.columns.items() if name in needed or any(values)}
        frame = pd.DataFrame({name: pd.Series(values, dtype="str") for name, values in columns.items()})
        sources = {role: name for role, name in roles.items() if name in frame}
        sources["job"] = FirstKnown(("number", "job_id"))
        gpus = pd.to_numeric(frame.pop("gpus"))
        sources |= {} if gpus.isna().all() else {"gpus": gpus}
        if "Resource_List_mem" in frame:
            sources["memory"] = frame["Resource_List_mem"].str.replace(_BYTES, _kilobytes, regex=True)
        settings = {"time_zone": time_zone or "UTC", "lenient": self.lenient, "arrival": arrival, "lines": True}
        table = _Records(frame, sources, self.file, self.lines, states="slurm", **settings)
        table.omitted = self._left_out()
        name = Path(packed.without_suffix(self.path.name)).stem
        return replace(trace_of(table, name, machine, missing_estimate), files=opened(self.path))


class _Records(Table):
    """The rows of a log; messages name their fields as the log does."""

    def title(self, role: str, source) -> str:
        return f"field {source.replace('Resource_List_', 'Resource_List.')}" if isinstance(source, str) else role

    def source(self, role: str) -> str:
        return role if isinstance(self.sources[role], pd.Series) else super().source(role)


def _kilobytes(match):
    """Write bytes as KB, and other amounts as Slurm does."""
    return f"{match[1]}{match[2].upper()}" if match[2] else f"{int(match[1]) / 1024:.2f}K"
