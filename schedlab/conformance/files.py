"""Read when jobs start from the output of any simulator."""

import csv
from datetime import datetime
from os import PathLike
from pathlib import Path

from schedlab.text import plain
from schedlab.workload import swf

from .suite import NONE, Case

ACCASIM = "%Y-%m-%d %H:%M:%S"
# Column names, in upper or lower case: those of Batsim and evalys, of schedlab and SWF, and plain ones.
JOB = ("job_id", "job_number", "jobid", "job", "id")
START = ("starting_time", "start_time", "start", "begin")


def read_starts(path: str | PathLike, case: Case) -> dict[int, int]:
    """Read when the jobs of a case start from the output of any simulator.

    Parameters
    ----------
    path : path
        SWF, CSV or AccaSim's dispatching plan; the content decides which.
    case : Case
        For submit times, if the file counts from another origin.

    Returns
    -------
    dict of int to int
        By job number.

    Raises
    ------
    ValueError
        Names file, line, field, value and what was expected.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> output = pd.DataFrame({"job_id": [1, 2, 3, 4], "starting_time": [0, 10, 2, 3]})
    >>> with TemporaryDirectory() as folder:
    ...     output.to_csv(f"{folder}/jobs.csv", index=False)
    ...     sl.conformance.read_starts(f"{folder}/jobs.csv", sl.conformance.case(1))
    {1: 0, 2: 10, 3: 2, 4: 3}
    """
    path = Path(path)
    lines = [
        (number, line.strip())
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith((";", "#"))
    ]
    if not lines:
        raise ValueError(f"{plain(str(path))}: no jobs in the file")
    first = lines[0][1]
    if len(first.split()) == len(swf.FIELDS):
        read = _of_swf
    elif first.count(";") > 3 and "__" in first:
        read = _of_accasim
    else:
        return _of_csv(path, lines)
    return dict(read(path, number, line, case) for number, line in lines)


def _of_swf(path, number, line, case):
    words = zip(swf.FIELDS[:3], line.split(), strict=False)
    job, submit, wait = (_whole(path, number, name, word) for name, word in words)
    return job, NONE if wait < 0 else submit + wait


def _of_accasim(path, number, line, case):
    before, *_, after = line.split("__")  # job, user, queued; nodes; start, end and more
    (job, *_, queued), start = before.split(";"), after.split(";")[0]
    try:
        wait = datetime.strptime(start, ACCASIM) - datetime.strptime(queued, ACCASIM)
    except ValueError:
        expected = "expected a time such as 2001-01-31 12:00:00"
        raise ValueError(f"{plain(str(path))}:{number}: start is {start!r}, {expected}") from None
    job = _whole(path, number, "job_id", job)
    if job not in case.records.index:
        raise ValueError(f"{plain(str(path))}:{number}: job {job} is not in case {case.number}")
    return job, int(case.records.loc[job, "submit_time"] + wait.total_seconds())


def _of_csv(path, lines):
    separator = max(",;\t", key=lines[0][1].count)
    rows = [(number, next(csv.reader([line], delimiter=separator))) for number, line in lines]
    names = [name.strip().casefold() for name in rows[0][1]]
    job, start = (next((names.index(name) for name in known if name in names), None) for known in (JOB, START))
    if job is None and start is None and len(names) == 2:  # a file without a header
        job, start = 0, 1
    elif job is None or start is None:
        missing, known = ("job", JOB) if job is None else ("start", START)
        expected = f"expected a column {known[0]} or {known[-2]}, or two columns without names"
        raise ValueError(f"{plain(str(path))}:{rows[0][0]}: no {missing} among {', '.join(names)}; {expected}")
    else:
        rows = rows[1:]
    found = {}
    for number, row in rows:
        if len(row) <= max(job, start):
            raise ValueError(f"{plain(str(path))}:{number}: {len(row)} fields, expected {len(names)}")
        key = _whole(path, number, names[job], row[job].rpartition("!")[2])  # Batsim's "w0!1"
        found[key] = _whole(path, number, names[start], row[start] or str(NONE))
    return found


def _whole(path, number, name, word):
    """Read a number of seconds, or of a job; rounding noise such as Batsim's 10.000001 is removed."""
    try:
        value = float(word)
        whole = round(value)
        if abs(value - whole) < 0.01:
            return whole
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"{plain(str(path))}:{number}: {name} is {word!r}, expected a whole number")
