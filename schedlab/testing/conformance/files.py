"""Read when jobs start from the output of any simulator."""

import codecs
import csv
import gzip
import io
import zlib
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from schedlab._runtime.text import plain, spelt
from schedlab.schedule import Schedule
from schedlab.workload import swf

from .suite import NONE, Probe

ACCASIM = "%Y-%m-%d %H:%M:%S"
# Column names, in upper or lower case: those of Batsim and evalys, of schedlab and SWF, and plain ones.
NAMES = {
    "job": ("job_id", "job_number", "jobid", "job", "id"),
    "start": ("starting_time", "start_time", "start", "begin"),
    "wait": ("waiting_time", "wait_time", "wait"),
    "submit": ("submission_time", "submit_time", "submit"),
}
CQSIM = ("job", "procs", "procs", "estimate", "run", "wait", "submit", "start", "end")  # separated by ";", no header
NEVER = ("", "nan", "none", "na")  # in the place of a time: the job does not start
LIMIT = 2**53  # float64 holds every whole number below
GZIP_MAGIC = b"\x1f\x8b"


def read_starts(path: str | PathLike, probe: Probe) -> dict[int, int]:
    """Read when the jobs of a probe start from the output of any simulator.

    Parameters
    ----------
    path : path
        SWF, CSV, CQSim's results or AccaSim's dispatching plan, also compressed (.gz); the content decides which.
    probe : Probe
        For submit times, if the file counts from another origin.

    Returns
    -------
    dict of int to int
        By job number.

    Raises
    ------
    ValueError
        Names file, line, field, value and what was expected. Also for a job that the probe does not have, or that is
        given twice.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> output = pd.DataFrame({"job_id": [1, 2, 3, 4], "starting_time": [0, 10, 2, 3]})
    >>> with TemporaryDirectory() as folder:
    ...     output.to_csv(f"{folder}/jobs.csv", index=False)
    ...     sl.conformance.read_starts(f"{folder}/jobs.csv", sl.conformance.probe(1))
    {1: 0, 2: 10, 3: 2, 4: 3}
    """
    table = read_table(path)
    jobs, submits = table["job"].to_numpy(), probe.records["submit_time"]
    unknown = np.flatnonzero(~np.isin(jobs, submits.index))
    if unknown.size:
        numbers = f"{submits.index.min()} to {submits.index.max()}"
        where, job = table.index[unknown[0]], jobs[unknown[0]]
        raise ValueError(f"{where}: job {job} is not in probe {probe.number}, expected one of its jobs, {numbers}")
    again = np.flatnonzero(table["job"].duplicated())
    if again.size:
        where, job = table.index[again[0]], jobs[again[0]]
        first = table.index[np.flatnonzero(jobs == job)[0]]
        raise ValueError(f"{where}: job {job} is given a second time, after {first}, expected one start of each job")
    if table.attrs["dated"] or table["start"].isna().all():
        start = submits[jobs].to_numpy() + table["wait"].to_numpy()
    else:
        start = table["start"].to_numpy()
    return dict(zip(jobs.tolist(), np.where(np.isnan(start), NONE, start).astype("int64").tolist(), strict=True))


def read_table(path: str | PathLike) -> pd.DataFrame:
    """Read what a simulator wrote of each job, from a file as in `read_starts`.

    The index says where a row is in the file (``"jobs.csv:3"``). Columns: job (int64), and submit, start and wait
    (float64, whole seconds on the simulator's clock; nan if unknown, or if the job never starts). ``attrs["dated"]``
    tells whether the clock is a calendar, ``attrs["notes"]`` which of several columns was taken.
    """
    name = plain(str(path))
    lines = [
        (number, line.strip())
        for number, line in enumerate(io.StringIO(_text(path, name), newline=None), start=1)
        if line.strip() and not line.lstrip().startswith((";", "#"))
    ]
    if not lines:
        raise ValueError(f"{name}: no jobs in the file")
    first = lines[0][1]
    if len(first.split()) == len(swf.FIELDS):
        names, rows = swf.FIELDS, [(number, line.split()) for number, line in lines]
    elif first.count(";") > 3 and "__" in first:
        return _of_accasim(name, lines)
    else:
        separator = max(",;\t", key=first.count)
        rows = [(number, next(csv.reader([line], delimiter=separator))) for number, line in lines]
        names, rows = _header(name, rows, separator)
        if not rows:
            raise ValueError(f"{name}: no jobs in the file, only the names of its columns")
    for number, row in rows:
        if len(row) < len(names):
            raise ValueError(f"{name}:{number}: {len(row)} fields, expected {len(names)}")
    columns = {label: [row[i].strip() for _, row in rows] for i, label in enumerate(names)}
    return _table(columns, [f"{name}:{number}" for number, _ in rows])


def _text(path, name):
    """Return the text of a file, plain or gzipped; its content, not its name, decides which."""
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{name}: no such file, expected one with the starts of all jobs") from None
    except IsADirectoryError:
        raise ValueError(f"{name}: a folder, expected one file with the starts of all jobs") from None
    if content.startswith(GZIP_MAGIC):
        try:
            content = gzip.decompress(content)
        except EOFError:
            raise ValueError(f"{name}: the gzip stream ends early, expected a complete file") from None
        except (zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{name}: the gzip stream is damaged ({error}), expected a sound file") from None
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ValueError(f"{name}: the text is UTF-16, expected UTF-8")
    if b"\0" in content:
        raise ValueError(f"{name}: the file is binary or UTF-16, expected text in UTF-8")
    return content.decode("utf-8-sig", errors="replace")


def _header(name, rows, separator):
    """Return the names of the columns, and the rows without them."""
    number, first = rows[0]
    labels = [label.strip() for label in first]
    known = {label for labels in NAMES.values() for label in labels}
    if not known & {label.casefold() for label in labels}:
        if len(labels) == 2:
            return ("job", "start"), rows
        if len(labels) == len(CQSIM) and separator == ";":
            return CQSIM, rows
    _columns(labels, f"{name}:{number}")
    return labels, rows[1:]


def _columns(labels, where):
    """Return the label of each column that is needed, by what it holds, and notes on what was taken of several."""
    columns, notes = {}, []
    for what, known in NAMES.items():
        matches = sorted(
            (label for label in labels if label.strip().casefold() in known),
            key=lambda label: known.index(label.strip().casefold()),
        )
        if not matches:
            continue
        first, *others = matches
        if len({*matches}) < len(matches):
            label = next(label for label in matches if matches.count(label) > 1)
            raise ValueError(f"{where}: {matches.count(label)} columns are named {plain(label)}, expected one")
        columns[what] = first
        if others:
            notes.append(f"of several columns for the {what}, {first} was taken, not {', '.join(others)}")
    missing = "job" if "job" not in columns else "start" if not {"start", "wait"} & columns.keys() else None
    if missing:
        known = NAMES[missing]
        expected = f"expected a column {known[0]} or {known[-2]}, or two columns without names"
        raise ValueError(f"{where}: no {missing} among {', '.join(map(str, labels))}; {expected}")
    return columns, tuple(map(plain, notes))


def _of_accasim(name, lines):
    columns = {what: [] for what in ("job", "submit", "start")}
    for number, line in lines:
        try:
            before, *_, after = line.split("__")  # job, user, queued; nodes; start, end and more
            (job, *_, queued), start = before.split(";"), after.split(";")[0]
        except ValueError:
            expected = "expected job;user;time__nodes__time;..., as in AccaSim's dispatching plan"
            raise ValueError(f"{name}:{number}: the line is {spelt(plain(line))}, {expected}") from None
        columns["job"].append(job)
        for what, word in (("submit", queued), ("start", start)):
            try:
                columns[what].append(datetime.strptime(word, ACCASIM).replace(tzinfo=UTC).timestamp())
            except ValueError:
                expected = "expected a time such as 2001-01-31 12:00:00"
                raise ValueError(f"{name}:{number}: {what} is {spelt(word)}, {expected}") from None
    return _table(columns, [f"{name}:{number}" for number, _ in lines], dated=True)


def table_of(output: pd.DataFrame | pd.Series | Schedule) -> pd.DataFrame:
    """Return what a simulator made of each job, in the form of `read_table`.

    The output is a table with a column or an index of job numbers and the columns that a file would have, starts by job
    number, or a schedule.
    """
    if isinstance(output, Schedule):
        columns = {"submit": output.submit, "start": output.start}
        output = pd.DataFrame(columns, pd.Index(output.trace.table.index, name="job"))
    if isinstance(output, pd.Series):
        output = output.to_frame("start")
    if output.empty:
        raise ValueError("the table has no rows, expected one for each job")
    labels = [str(label) for label in output.columns]
    if not {label.casefold() for label in labels} & {*NAMES["job"]}:
        if isinstance(output.index, pd.MultiIndex):
            levels = ", ".join(map(str, output.index.names))
            raise ValueError(f"the index has {output.index.nlevels} levels ({levels}), expected one of job numbers")
        if isinstance(output.index, pd.RangeIndex) and output.index.name is None and output.index.start == 0:
            raise ValueError(f"no job among {', '.join(labels)}; expected a column job_id, or an index of job numbers")
        output = output.rename_axis("job").reset_index()
    output = output.set_axis([str(label) for label in output.columns], axis="columns")
    _columns(list(output.columns), "the table")  # refuses columns of the same name
    known = {label for labels in NAMES.values() for label in labels}
    columns = {label: output[label].tolist() for label in output.columns if label.strip().casefold() in known}
    return _table(columns, [f"the table, row {i}" for i in range(1, len(output) + 1)])


def _table(columns, places, dated=False):
    """Make the table of `read_table` from columns of words or numbers."""
    named, notes = _columns(list(columns), places[0])
    job = [word.rpartition("!")[2] if isinstance(word, str) else word for word in columns[named["job"]]]  # "w0!1"
    values = {"job": _whole(job, places, named["job"], "number").astype("int64")}
    for what in ("submit", "start", "wait"):
        values[what] = np.full(len(places), np.nan)
        if what in named:
            texts = columns[named[what]]
            never = [isinstance(word, str) and word.casefold() in NEVER for word in texts]
            never = np.array(never) | pd.isna(pd.Series(texts, dtype=object)).to_numpy()
            read = _whole(
                [str(NONE) if not_at_all else word for word, not_at_all in zip(texts, never, strict=True)],
                places,
                named[what],
            )
            values[what] = np.where(read == NONE, np.nan, read)
    if "start" not in named:
        values["start"] = values["submit"] + values["wait"]
    elif "wait" not in named:
        values["wait"] = values["start"] - values["submit"]
    table = pd.DataFrame(values, index=places)
    table.attrs.update(dated=dated, notes=notes)
    return table


def _whole(texts, places, label, what="second"):
    """Read numbers of seconds, or of jobs; rounding noise such as Batsim's 10.000001 is removed."""
    try:
        values = np.array(texts, dtype="float64")
    except (ValueError, TypeError, OverflowError):
        values = np.array([_number(text) for text in texts])
    values[[isinstance(text, bool | np.bool_) for text in texts]] = np.nan
    large = np.abs(values) >= LIMIT
    values = np.where(large, 0, values)
    whole = np.round(values)
    wrong = np.flatnonzero(large | ~(np.abs(values - whole) < 0.01))
    if wrong.size:
        expected = f"a {what} below 2**53" if large[wrong[0]] else "a whole number"
        raise ValueError(f"{places[wrong[0]]}: {label} is {spelt(texts[wrong[0]])}, expected {expected}")
    return whole


def _number(word):
    try:
        return float(word)
    except (ValueError, TypeError):
        return np.nan
    except OverflowError:
        return np.inf
