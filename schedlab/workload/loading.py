"""Make a trace: from a file, from a log of the archive or its stand-in, from a model."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping

import pandas as pd

from schedlab._runtime.files import opened, recording
from schedlab._runtime.streams import entropy
from schedlab._runtime.text import check_known, plain
from schedlab._runtime.words import MissingEstimate

from . import archive, swf
from .conventions import check_procs
from .filter import BAD_LINE, area, usable, warn_of_lost_work
from .models.downey import downey
from .models.jann import jann, jann_table
from .models.lublin import lublin_feitelson
from .standin import SEED, look_alike
from .trace import SPEEDUP, Trace

MODELS = {"lublin": lublin_feitelson, "jann": jann, "downey": downey}
MOST_REASONS = 5  # listed in a message
MODEL_NAMES = {"lublin": "Lublin-Feitelson model", "jann": "Jann model", "downey": "Downey model"}


class SizeUnknown(swf.SWFError):
    """A log does not say how many processors its machine has."""


def read_swf(
    path: str | os.PathLike,
    *,
    machine: int | None = None,
    missing_estimate: MissingEstimate = "run",
    lenient: bool = False,
) -> Trace:
    """Read a log in the Standard Workload Format and keep the records that can be simulated.

    `Trace.dropped` lists what was omitted, `Trace.repaired` what was filled in.

    Parameters
    ----------
    path : path
        A .swf or .swf.gz file.
    machine : int, optional
        Size of the machine. Default: the header's MaxProcs, else its MaxNodes.
    missing_estimate : "run", "drop" or a number of seconds
        What to do with a record without a requested time.

        - "run" (default): use its run time.
        - "drop": omit it.
        - a number: use it, in seconds.
    lenient : bool
        Skip bad lines instead of raising; `Trace.dropped` lists them.

    Raises
    ------
    swf.SWFError
        Names file, line, field, value and what was expected.

    Warns
    -----
    LoadWarning
        If jobs with more than 1 % of the work are left out, for example because they are wider than the machine.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import schedlab as sl
    >>> with TemporaryDirectory() as folder:
    ...     sl.model_trace("lublin", jobs=100, seed=1).to_swf(Path(folder, "my.swf.gz"))
    ...     trace = sl.read_swf(Path(folder, "my.swf.gz"))
    >>> len(trace), trace.procs, trace.source
    (100, 256, 'file')
    """
    log = swf.read_log(path, lenient=True) if lenient else swf.cached_log(path)
    return from_log(log, log.name, "file", machine, missing_estimate, files=opened(path))


def load_trace(
    name: str,
    *,
    machine: int | None = None,
    missing_estimate: MissingEstimate = "run",
    progress: bool = True,
    standin: bool | None = None,
    or_standin: bool = False,
    seed: int = SEED,
) -> Trace:
    """Load a log of the Parallel Workloads Archive by its name.

    The log is looked up in the folder named by the environment variable SCHEDLAB_DATA, then in the cache; if it is in
    neither, it is downloaded from the archive. Its checksum is verified. Nothing replaces it unless you ask for a
    stand-in.

    Parameters
    ----------
    name : str
        ``"CTC-SP2-1996-3.1-cln"``, or ``"CTC-SP2-1996"`` without the version. `list_traces` lists all names.
    machine, missing_estimate
        As in `read_swf`.
    progress : bool
        Show a progress bar during a download.
    standin : bool, optional
        True: generate a stand-in, a trace with similar statistics (`schedlab.workload.standin`), even if the log is
        available. The trace says that it is a stand-in.
    or_standin : bool
        Generate the stand-in, instead of downloading, if the log is not available locally. `standin` takes precedence.
    seed : int
        Seed of the stand-in. A seed other than the default becomes part of its name.

    Raises
    ------
    TraceNotFound
        For an unknown name, or if the log is neither available nor downloaded and has no stand-in.

    Warns
    -----
    LoadWarning
        As in `read_swf`.

    Examples
    --------
    A stand-in, so that it runs without the log; ``sl.load_trace("KTH-SP2-1996")`` loads the log itself:

    >>> import schedlab as sl
    >>> trace = sl.load_trace("KTH-SP2-1996", standin=True)
    >>> trace.procs, trace.source
    (100, 'stand-in')
    >>> chart = sl.charts.arrivals(trace)
    """
    official = archive.resolve(name)
    label = f"{archive.STANDIN if standin else archive.LOG}{official}"
    files = {label: archive.digest_now(label)}
    if standin is None:
        standin = or_standin and archive.find(official) is None
    if standin:
        name = official if seed == SEED else f"{official}, seed {seed}"
        return from_log(look_alike(official, seed), name, "stand-in", machine, missing_estimate, files=files)
    path = archive.fetch(official, progress=progress)
    with recording(alone=True):  # it counts by its name, wherever it is kept
        log = swf.cached_log(path)
    archive.check_digest(official, log.sha256, path)
    files = {label: archive.digest_now(label)}  # it may have been downloaded
    return from_log(log, official, "archive", machine, missing_estimate, files=files)


def model_trace(
    model: str = "lublin", jobs: int = 10_000, machine: int | None = None, seed: int = 0, **parameters
) -> Trace:
    """Generate a trace from a workload model.

    The models have no user estimates: a job's estimate is its run time. `Trace.with_estimates` replaces them.

    Parameters
    ----------
    model : {"lublin", "jann", "downey"}
        ``"lublin"``
            Lublin and Feitelson 2003, rigid jobs. ``classes``: "typeless" (the default), "batch",
            "batch+interactive", or `LublinClass` objects.
        ``"jann"``
            Jann et al. 1997, rigid jobs in ranges of sizes. ``table``: "ctc" (the default; fitted to the log of the
            authors' machine and months), "kth" (not the authors' numbers), the path of a table, or a `JannTable` such
            as `fit_jann` returns; ``sizes`` in a range: "uniform" (the default), "upper", "weighted".
        ``"downey"``
            Downey 1998, moldable jobs with the size and run time that they would choose. ``work``, ``rates``,
            ``sigma``: pairs of numbers, see `schedlab.workload.models.downey.downey`; `fit_downey` returns the first
            two. The columns ``parallelism`` and ``sigma`` say how a job speeds up; its work is its run time times the
            speedup on the processors that it requests.
    jobs : int
        Number of jobs.
    machine : int, optional
        Processors of the machine. Default: 256; for ``"jann"``, the largest size in its table.
    seed : int
        The same seed gives the same trace.
    **parameters
        Parameters of the model, as above.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.model_trace("jann", jobs=1000, machine=128, table="kth", sizes="weighted").title
    "Jann model (KTH, not Jann's numbers)"

    The models compared by their run times:

    >>> models = ("lublin", "jann", "downey")
    >>> traces = {model: sl.model_trace(model, jobs=1000, machine=128, seed=1) for model in models}
    >>> chart = sl.charts.distribution(traces, "run_time")
    """
    check_known("model", model, tuple(MODELS))
    generate, name, seed = MODELS[model], MODEL_NAMES[model], entropy(seed)
    known = [word for word in inspect.signature(generate).parameters if word not in ("jobs", "machine", "seed")]
    for word in parameters:
        check_known(f"parameter of {model}", word, known)
    settings = "".join(f", {word} {value}" for word, value in parameters.items())
    left_out = ()
    if model == "jann":
        table = parameters["table"] = jann_table(parameters.get("table", "ctc"))
        name = f"{name} ({table.name})"
        machine = table.procs if machine is None else machine
        wider = [span.label for span in table.ranges if span.smallest > machine]
        left_out = (f"sizes {', '.join(wider)} of the table left out: wider than the machine",) if wider else ()
    machine = 256 if machine is None else machine
    drawn = generate(jobs=jobs, machine=machine, seed=seed, **parameters).reset_index()
    columns = [*swf.FIELDS, *drawn.columns.intersection(SPEEDUP)]
    records = pd.DataFrame({column: drawn.get(column, -1) for column in columns})
    header = swf.Header((f"; Computer: {plain(name)}", f"; MaxProcs: {machine}"))
    table, dropped, repaired = usable(records, machine)
    history = (f"{jobs:,} jobs for {machine:,} processors, seed {seed}{settings}", *left_out)
    return Trace(table, name, machine, header, "model", dropped, repaired, area(table), history)


def from_log(
    log: swf.Log,
    name: str,
    source: str,
    machine: int | None,
    missing_estimate: str | float,
    left_out: pd.DataFrame | None = None,
    files: Mapping[str, str] | None = None,
    error: type[Exception] = swf.SWFError,
) -> Trace:
    """Make a trace of a log, whose records are taken out of it; every reader ends here.

    Parameters as in `read_swf` and `Trace`; `left_out` has the records that the reader already left out, in the form of
    `Trace.dropped`. It is an `error`, of the reader's own kind, if nothing is left to simulate.
    """
    size = log.header.procs if machine is None else machine
    if size is None:
        raise SizeUnknown(f"{plain(log.path.name)}: the header has neither MaxProcs nor MaxNodes; give machine=")
    check_procs(size)
    table, dropped, repaired = usable(log.records, size, missing_estimate, spare=True)
    if len(log.skipped):
        reasons = [f"{BAD_LINE}{row.line}: {row.reason}" for row in log.skipped.itertuples()]
        skipped = pd.DataFrame({"reason": reasons}, index=pd.Index([-1] * len(reasons), name="job_number"))
        dropped = pd.concat([dropped, skipped])
    if left_out is not None and len(left_out):
        dropped = pd.concat([left_out, dropped])
    if table.empty:
        n_records, counts = len(dropped) - len(log.skipped), dropped["reason"].value_counts()
        reasons = [f"{count:,}: {reason}" for reason, count in counts.iloc[:MOST_REASONS].items()]  # one per bad line
        listed = "; ".join([*reasons, *["..."] * (len(counts) > MOST_REASONS)])
        raise error(f"{plain(log.path.name)}: none of {n_records:,} records can be simulated; {listed}")
    warn_of_lost_work(name, dropped, table, stacklevel=4)
    return Trace(table, name, int(size), log.header, source, dropped, repaired, area(table), files=files or {})
