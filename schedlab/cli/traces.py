"""The trace that the options of a command name."""

import os
import re
import sys
from contextlib import suppress
from pathlib import Path

from schedlab._runtime.text import plain
from schedlab.workload import archive, frames
from schedlab.workload.loading import MODELS, load_trace, model_trace, read_swf
from schedlab.workload.public import read_public
from schedlab.workload.sacct import is_export, read_sacct

SLURM = ("partition", "time_zone", "arrival", "procs_of", "names")  # options that only its records have


def trace_of(options):
    """Load the trace that the options name, whole or in part, and say on standard error what it is."""
    size = sum(options.machine.values()) if isinstance(options.machine, dict) else options.machine
    given = {"machine": size, "missing_estimate": options.missing_estimate}
    seed = {} if options.seed is None else {"seed": options.seed}
    name = options.trace
    model = name in MODELS
    if options.lenient and not Path(name).is_file():
        raise ValueError(f"--lenient is for files; {name} is not a file")
    if options.standin and (model or Path(name).is_file()):
        raise ValueError(f"--standin is for logs of the archive; {name} is not one")
    if seed and not (model or options.standin):
        raise ValueError(f"--seed is for models and stand-ins; {name} is neither (compare --copies shakes a log)")
    if model and options.missing_estimate != "run":
        raise ValueError("--missing-estimate is for logs; every job of the model has an estimate")
    folder = Path(name).is_dir() and bool(options.columns or options.log)  # of Parquet files
    table = folder or (Path(name).is_file() and _is_table(options))
    of_table = {
        word: getattr(options, word) for word in ("columns", "unit", "log") if getattr(options, word) is not None
    }
    if of_table and not table:
        raise ValueError(f"--{next(iter(of_table))} is for tables; {name} is not one")
    if options.log and {"columns", "unit"} & of_table.keys():
        raise ValueError("--log sets columns and units: leave out --columns and --unit")
    exported = Path(name).is_file() and not table and is_export(name)
    slurm = {word: value for word in SLURM if (value := getattr(options, word)) is not None}
    if slurm and not exported and not (table and slurm.keys() == {"time_zone"}):
        raise ValueError(f"--{next(iter(slurm)).replace('_', '-')} is for the output of sacct; {name} is not that")
    if model:
        trace = model_trace(name, jobs=options.jobs or 10_000, machine=size, **seed)
    elif options.log:
        trace = read_public(name, options.log, machine=size, time_zone=options.time_zone)
    elif table:
        columns = {**(options.columns or {}), **({"unit": options.unit} if options.unit else {})}
        trace = frames.read_table(name, time_zone=options.time_zone, lenient=options.lenient, **given, **columns)
    elif exported:
        trace = read_sacct(name, lenient=options.lenient, **given, **slurm)
    elif Path(name).is_file():
        trace = read_swf(name, lenient=options.lenient, **given)
    elif _is_path(name):
        found = "no such file" if not Path(name).exists() else "a folder or a device, expected a file"
        raise archive.TraceNotFound(f"{plain(name)}: {found}")
    else:
        trace = load_trace(name, standin=options.standin, **given, **seed)
    if options.between:
        trace = trace.between(*options.between)
    if options.jobs and trace.source != "model":
        trace = trace.head(options.jobs)
    print(repr(trace).strip("<>"), file=sys.stderr)
    return trace


def _is_table(options):
    """Tell whether a file is a table, and neither SWF nor the output of sacct."""
    path = Path(options.trace.removesuffix(".gz"))
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
