"""The trace that the options of a command name."""

import atexit
import os
import re
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from schedlab._runtime.remarks import warn
from schedlab._runtime.text import plain
from schedlab.cli.shell import in_shell
from schedlab.cli.values import STANDARD
from schedlab.workload import accounting, archive, frames
from schedlab.workload.loading import MODELS, load_trace, model_trace, read_swf
from schedlab.workload.packed import without_suffix
from schedlab.workload.public import read_public
from schedlab.workload.sacct import is_export, read_sacct

SLURM = ("partition", "time_zone", "arrival", "procs_of", "names", "cluster")  # options that only its records have
ACCOUNTING = {"PBS": accounting.read_pbs, "LSF": accounting.read_lsf}
ZONED = ("table", *ACCOUNTING)  # other records whose dates can be shown in a time zone


def trace_of(options):
    """Load the trace that the options name, whole or in part, and say on standard error what it is."""
    if options.trace == STANDARD:
        options.trace = _standard_input()
    kind = _kind(options)
    _check(options, kind)
    trace = _read(options, kind)
    if options.between:
        trace = trace.between(*options.between, lead=options.lead)
    if options.jobs and kind != "model":
        trace = trace.head(options.jobs)
    if window := getattr(options, "window", None):
        trace.some_counted(window)  # raises early
    about = in_shell(repr(trace).strip("<>"))
    if not options.quiet:
        print(about, file=sys.stderr)
    else:
        for line in about.splitlines():
            if "worth a look" in line:  # which is no chatter
                warn(f"{trace.name}: {line.strip()}")
    return trace


def _standard_input():
    """Return the path of a file that has what comes by standard input; it is there as long as this process."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder, "standard-input")
    with open(path, "wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return str(path)


def _kind(options):
    """Tell what the name of a trace stands for: a model, a file of some kind, or a log of the archive."""
    name = options.trace
    if name in MODELS:
        return "model"
    if not Path(name).is_file():
        return (
            "table" if Path(name).is_dir() and (options.columns or options.log) else "log"
        )  # a folder of Parquet files
    if isinstance(options.columns, tuple | list):  # of an output of sacct without a header
        return "sacct"
    if _is_table(options):
        return "table"
    return accounting.kind_of(name) or ("sacct" if is_export(name) else "SWF")


def _check(options, kind):
    """Raise if there is an option for another kind of trace."""
    name = options.trace
    if options.lead is not None and not options.between:
        raise ValueError("--lead is what leads in to a period: give --between BEGIN END with it")
    is_file = Path(name).is_file()
    if options.lenient and not is_file:
        raise ValueError(f"--lenient is for files; {name} is not a file")
    if options.standin and (kind == "model" or is_file):
        raise ValueError(f"--standin is for logs of the archive; {name} is not one")
    if options.seed is not None and not (kind == "model" or options.standin):
        raise ValueError(f"--seed is for models and stand-ins; {name} is neither (compare --copies shakes a log)")
    if kind == "model" and options.missing_estimate != "run":
        raise ValueError("--missing-estimate is for logs; every job of the model has an estimate")
    for option in ("columns", "unit", "log", "states"):
        headerless = option == "columns" and kind == "sacct"
        if getattr(options, option) is not None and kind != "table" and not headerless:
            raise ValueError(f"--{option} is for tables; {name} is not one")
    if options.log and (options.columns or options.unit):
        raise ValueError("--log sets columns and units: leave out --columns and --unit")
    for option in _slurm(options):
        if kind != "sacct" and not (kind in ZONED and option == "time_zone"):
            raise ValueError(f"--{option.replace('_', '-')} is for the output of sacct; {name} is not that")


def _slurm(options):
    return {option: value for option in SLURM if (value := getattr(options, option)) is not None}


def _read(options, kind):
    name = options.trace
    size = sum(options.machine.values()) if isinstance(options.machine, dict) else options.machine
    common = {"machine": size, "missing_estimate": options.missing_estimate}
    seed = {} if options.seed is None else {"seed": options.seed}
    if kind == "model":
        return model_trace(name, jobs=options.jobs or 10_000, machine=size, **seed)
    if options.log:
        return read_public(name, options.log, machine=size, time_zone=options.time_zone)
    if kind == "table":
        settings = {name: value for name in ("unit", "states") if (value := getattr(options, name))}
        columns = {**(options.columns or {}), **settings}
        return frames.read_table(name, time_zone=options.time_zone, lenient=options.lenient, **common, **columns)
    if kind == "sacct":
        return read_sacct(name, lenient=options.lenient, columns=options.columns, **common, **_slurm(options))
    if kind in ACCOUNTING:
        return ACCOUNTING[kind](name, time_zone=options.time_zone, lenient=options.lenient, **common)
    if kind == "SWF":
        return read_swf(name, lenient=options.lenient, **common)
    if _is_path(name):
        problem = "no such file" if not Path(name).exists() else "a folder or a device, expected a file"
        raise archive.TraceNotFound(f"{plain(name)}: {problem}")
    return load_trace(name, standin=options.standin, **common, **seed)


def _is_table(options):
    """Tell whether a file is a table, and neither SWF nor the output of sacct."""
    path = Path(without_suffix(options.trace))
    if options.columns or options.log or path.suffix in frames.PARQUET:
        return True
    return path.suffix in (".csv", ".tsv") and not is_export(options.trace)


def _is_path(name):
    """Tell whether a name means a file rather than a log, whose version may have a dot in it."""
    if os.sep in name or re.search(r"\.[a-z]+$", name, re.IGNORECASE):
        return True
    with suppress(archive.TraceNotFound):
        archive.resolve(name)
        return False
    return Path(name).exists()
