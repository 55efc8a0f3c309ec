"""The command line: `schedlab traces | show | simulate | compare | grid | figures | claims | compile`."""

import argparse
import gc
import math
import os
import re
import shutil
import signal
import sys
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import fill
from threading import Timer, current_thread, main_thread

import pandas as pd

from schedlab import __version__, papers
from schedlab._runtime.paths import replacing
from schedlab._runtime.precompile import compile_kernels
from schedlab._runtime.text import cell, check_known, plain
from schedlab.experiment import studies, sweep
from schedlab.experiment.grids import carried_out
from schedlab.schedule import metrics
from schedlab.schedule.simulation import EVENTS, has_waits, recorded, simulate
from schedlab.schedule.statistics import IntervalWarning, over_seeds
from schedlab.schemes import by_name, scheme
from schedlab.schemes.orders import NAMES
from schedlab.show.ledgers import as_json, as_markdown, counted, summary
from schedlab.testing import conformance
from schedlab.workload import archive, frames
from schedlab.workload.filter import check_missing_estimate
from schedlab.workload.public import logs, read_public
from schedlab.workload.sacct import ARRIVAL, PROCS_OF, PartitionWarning, is_export, read_sacct
from schedlab.workload.trace import (
    MODELS,
    OVERRUN,
    SIMULATED,
    LoadWarning,
    SizeUnknown,
    load_trace,
    model_trace,
    read_swf,
)

WARNINGS = (LoadWarning, PartitionWarning, frames.UnitWarning)  # printed as plain messages
FAILED, NOT_FOUND = 1, 3  # exit codes; argparse uses 2 for wrong usage
NARROWEST = 8  # characters of a column
PATIENCE = 1.0  # seconds of silence
SHOWN = {
    "wait_time": "wait s",
    "median_wait_time": "median s",
    "bounded_slowdown": "bsld",
    "utilization": "util",
    "loss_of_capacity_share": "lost",
    "mean_queue": "queue",
}
SHOWN_HELP = (
    "Columns: mean and median wait in seconds; mean bounded slowdown (bsld, tau 10 s); utilization; share of the "
    "capacity lost (idle while waiting jobs could use it); mean length of the queue in jobs."
)
WITH_ENDS = ("wait_time", "bounded_slowdown")  # what is shown with its interval over copies
SLURM = ("partition", "time_zone", "arrival", "procs_of", "names")  # options that only its records have
UNITS = {name: unit for name, (_, unit) in metrics.MEASURES.items() if unit != "share"}  # shares of 1 are printed bare
OF_CLASSES = ("jobs", "wait_time", "median_wait_time", "bounded_slowdown")
SCHEMES_HELP = (
    f"{', '.join(by_name())}; fcfs, easy, conservative and DPSA also with an order of the queue, such as easy-sjf; "
    f"orders: {', '.join(NAMES)}"
)
TRACE_HELP = (
    "name of an archive log (CTC-SP2-1996; `schedlab traces` lists them), path of an SWF file (.swf, .swf.gz), of the "
    "output of Slurm's sacct --parsable2, or of a table (.csv, .parquet, with --columns), or a workload model: lublin "
    "(Lublin-Feitelson), jann, downey"
)


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return its exit code: 0 done, 1 failed, 2 wrong usage, 3 trace not found."""
    if arguments is None:
        # Python would look for garbage in all modules, now and then and again as it ends: a third of a short command.
        gc.freeze()
    try:
        try:
            with _any_letter(), _ended_as_by_control_c(), _warnings_in_words():
                options = _parser().parse_args(arguments)
                options.run(options)
        finally:
            print(end="", flush=True)  # here a closed pipe can still be handled, but not when Python ends
    except archive.TraceNotFound as error:
        return _fail(error, NOT_FOUND)
    except BrokenPipeError:
        _drop_output()
        return FAILED  # without a word: `schedlab traces | head` has what it wanted
    except OSError as error:
        _drop_output()
        return _fail(f"{error.filename or 'output'}: {error.strerror}" if error.strerror else error, FAILED)
    except SizeUnknown as error:
        return _fail(_with_options(str(error)), FAILED)
    except ValueError as error:
        return _fail(error, FAILED)
    except KeyboardInterrupt:
        return _fail("interrupted", FAILED)
    return 0


@contextmanager
def _any_letter():
    """Print ``?`` for a letter that the encoding of standard output lacks: an error would lose the whole result.

    Standard error needs no such care; Python escapes such letters there.
    """
    stream, before = sys.stdout, getattr(sys.stdout, "errors", None)
    if before not in ("strict", "surrogateescape") or not hasattr(stream, "reconfigure"):  # the user's choice; no file
        yield
        return
    stream.reconfigure(errors="replace")
    try:
        yield
    finally:
        stream.reconfigure(errors=before)


@contextmanager
def _ended_as_by_control_c():
    """Treat the signals that end a terminal or a batch job like Ctrl-C: workers end, and files are left whole."""
    numbers = {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}  # Windows has no SIGHUP
    usual = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]  # nohup ignores SIGHUP
    here = usual if current_thread() is main_thread() else []  # only the main thread may set handlers
    for number in here:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in here:
            signal.signal(number, signal.SIG_DFL)


def _with_options(words):
    """Name options of the command line where an error or a warning names arguments of a function."""
    words = words.replace("machine={name: processors, ...}", "--machine NAME=PROCESSORS,...")
    return re.sub(r"\b(machine|partition)=", r"--\1", words)


@contextmanager
def _warnings_in_words():
    """Print the package's warnings on standard error, each once and without its place in the source."""
    said = set()

    def show(message, category, *place):
        if category not in WARNINGS:
            before(message, category, *place)
        elif str(message) not in said:
            said.add(str(message))
            _note(f"schedlab: warning: {_with_options(str(message))}")

    with warnings.catch_warnings():
        for category in WARNINGS:
            warnings.simplefilter("always", category)
        before, warnings.showwarning = warnings.showwarning, show
        yield


def _drop_output():
    """Discard what standard output still holds if writing it failed, or Python would fail again as it ends."""
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _note(words):
    print(words, file=sys.stderr)


def _fail(error, code):
    said = [*str(error).split("\n"), *getattr(error, "__notes__", ())[:1]]  # the note names what could not be made
    words = "\n".join(map(plain, said))
    print(f"schedlab: {words}", file=sys.stderr)
    return code


class _Parser(argparse.ArgumentParser):
    def _check_value(self, action, value):
        if action.choices is not None:  # as check_known, which suggests a name
            what = action.metavar if action.dest == argparse.SUPPRESS else action.dest
            try:
                check_known(what.lower().replace("_", " "), value, action.choices)
            except ValueError as error:
                raise argparse.ArgumentError(action, str(error)) from None

    def error(self, message):
        # One line instead of the usage of twenty options.
        self.exit(2, f"{self.prog}: {plain(message)} (see {self.prog} --help)\n")


def _parser():
    parser = _Parser(
        prog="schedlab",
        description="Simulate parallel job schedulers on real logs, and rebuild published figures.",
        epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 3 trace not found.",
    )
    parser.add_argument("--version", action="version", version=f"schedlab {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    traces = commands.add_parser("traces", help="list the archive's logs, and fetch some", description=_traces.__doc__)
    traces.add_argument("--fetch", nargs="+", metavar="NAME", help="download these logs into the cache and verify them")
    traces.add_argument("--local", action="store_true", help="only the logs that are at hand")
    traces.set_defaults(run=_traces)

    show = commands.add_parser(
        "show",
        help="show what is in a trace, and what was left out or filled in",
        description=_show.__doc__,
        epilog="Example: schedlab show KTH-SP2-1996",
    )
    _trace_arguments(show)
    show.set_defaults(run=_show)

    one = commands.add_parser(
        "simulate",
        help="simulate one trace under one scheme",
        description=_simulate.__doc__,
        epilog="Example: schedlab simulate CTC-SP2-1996 --scheme easy --load 0.9 --out easy.swf",
    )
    _workload_arguments(one)
    one.add_argument("--scheme", type=_scheme, default="easy", help=f"{SCHEMES_HELP} (default: easy)")
    one.add_argument("--load", type=_load, help="scale to this offered load, 0.9 for 90 %% of the machine")
    one.add_argument(
        "--classes",
        metavar="BY",
        help="also by class: kurian, sabin, size, user, group, or a column of the log such as partition",
    )
    one.add_argument(
        "--confidence",
        type=_confidence,
        metavar="C",
        help="also print intervals of this confidence, such as 0.95, on the means over all jobs, by batch means",
    )
    one.add_argument(
        "--out",
        type=_file(".swf", ".swf.gz", ".csv"),
        metavar="FILE",
        help="write the schedule: .swf, .swf.gz, or .csv (Batsim's columns)",
    )
    one.set_defaults(run=_simulate)

    several = commands.add_parser(
        "compare",
        help="simulate one trace under several schemes, at one or more loads",
        description=f"{_compare.__doc__} {SHOWN_HELP}",
        epilog="Example: schedlab compare KTH-SP2-1996 --scheme fcfs,easy --load 0.7,0.8,0.9",
    )
    _workload_arguments(several)
    several.add_argument(
        "--scheme",
        type=_listed(_scheme),
        default="fcfs,easy,conservative",
        metavar="A,B,...",
        help=f"{SCHEMES_HELP} (default: fcfs,easy,conservative)",
    )
    several.add_argument(
        "--load", type=_listed(_load), metavar="L,...", help="scale to these offered loads (0.9 for 90 %%)"
    )
    several.add_argument(
        "--copies",
        type=_count,
        metavar="N",
        help="replications: simulate N shaken copies of the trace, whose submissions are moved at random by up to a "
        "minute, and print means and intervals over the copies; these show how much of a mean is chance (--out writes "
        "every run)",
    )
    several.add_argument(
        "--confidence",
        type=_confidence,
        metavar="C",
        help="with --copies: confidence of the intervals over the copies (default: 0.95)",
    )
    several.add_argument("--out", type=_file(".csv"), metavar="FILE.csv", help="write the table with all its measures")
    several.set_defaults(run=_compare)

    study = commands.add_parser(
        "grid",
        help="run the grid of a study, or a part of it, into a store",
        description=_grid.__doc__,
        epilog="Example, in a job array of Slurm: schedlab grid study.py --store runs/ --shard $SLURM_ARRAY_TASK_ID/16",
    )
    study.add_argument(
        "study",
        metavar="STUDY.py",
        help="a Python file that defines a function, run, and its values, as sl.grid takes them",
    )
    study.add_argument(
        "--store", metavar="FOLDER", required=True, help="keep the results here; stored results are not computed again"
    )
    part = study.add_mutually_exclusive_group()
    part.add_argument(
        "--shard",
        type=_shard,
        metavar="I/N",
        help="run only part I of N (1/N to N/N make up the whole); all parts write into the same store",
    )
    part.add_argument("--status", action="store_true", help="run nothing; say what is done, failed and to do")
    study.add_argument("--threads", type=_count, metavar="N", help="runs at a time (default: one for each core)")
    study.add_argument("--retry", action="store_true", help="also run failed runs again")
    study.add_argument(
        "--out", type=_file(".csv"), metavar="FILE.csv", help="write the table, once all runs of the study are done"
    )
    study.set_defaults(run=_grid)

    figures = commands.add_parser("figures", help="rebuild every figure in one page", description=_figures.__doc__)
    size_help = "how many steps and seeds (default: SCHEDLAB_SIZE if set, else quick)"
    _add_papers(figures)
    figures.add_argument("--size", choices=papers.SIZES, help=size_help)
    figures.add_argument(
        "--out",
        type=_file(".html"),
        default="build/report.html",
        metavar="FILE.html",
        help="the page; its folder is made if missing (default: build/report.html)",
    )
    figures.add_argument(
        "--keep",
        action="store_true",
        help="with --size full: keep the results in data/results, where quick runs show them beside their own",
    )
    figures.set_defaults(run=_figures)

    claims = commands.add_parser("claims", help="print published and measured values", description=_claims.__doc__)
    _add_papers(claims)
    claims.add_argument("--size", choices=papers.SIZES, help=size_help)
    form = claims.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON: every row with all its cases")
    form.add_argument("--markdown", action="store_true", help="print a table in Markdown")
    claims.add_argument("--out", type=_file(".csv"), metavar="FILE.csv", help="write the ledger as a table")
    claims.set_defaults(run=_claims)

    judged = commands.add_parser(
        "conformance",
        help="find out which conventions a simulator follows",
        description=_conformance.__doc__,
        epilog="Example: schedlab conformance --log KTH-SP2-1996 their.csv",
        usage="%(prog)s [options] [RESULTS]",  # a list of its options would not fit the terminal
    )
    judged.add_argument(
        "results",
        nargs="?",
        metavar="RESULTS",
        help="a simulator's results: a folder with one file for each of the small logs, or with --log one file",
    )
    judged.add_argument(
        "--log", dest="trace", metavar="TRACE", help=f"judge the result of a simulator for this log: {TRACE_HELP}"
    )
    judged.add_argument("--export", metavar="FOLDER", help="write the logs, for a simulator to run")
    judged.add_argument("--scheme", type=_scheme, metavar="SCHEME", help="judge a scheme of schedlab, such as easy")
    judged.add_argument("--of", choices=conformance.KINDS, help="only cases about this scheme (default: all)")
    _convention_arguments(judged)
    _trace_options(judged)
    judged.set_defaults(run=_conformance, log=None, overrun=None, events=None)  # None: not given

    compiling = commands.add_parser("compile", help="compile all kernels now instead of at first use")
    compiling.description = _compile.__doc__
    compiling.set_defaults(run=_compile)
    return parser


def _trace_arguments(parser):
    parser.add_argument("trace", metavar="TRACE", help=TRACE_HELP)
    _trace_options(parser).add_argument(
        "--log",
        choices=[*logs().index],
        metavar="LOG",
        help=f"the file is one of these public logs, whose columns are known: {', '.join(logs().index)}",
    )


def _trace_options(parser):
    """Add what tells how to read a trace; return the group of options for tables."""
    parser.add_argument("--jobs", type=_count, metavar="N", help="only the first N jobs")
    parser.add_argument(
        "--between",
        nargs=2,
        type=_instant,
        metavar=("BEGIN", "END"),
        help="only jobs submitted from BEGIN up to END: dates (1996-09-01), or seconds on the clock of the log",
    )
    parser.add_argument(
        "--machine",
        type=_machine,
        metavar="P|NAME=P,...",
        help="processors of the machine, if not the log's own; or of its partitions, each with its own queue: each job "
        "runs in the partition that it names",
    )
    parser.add_argument(
        "--missing-estimate",
        type=_missing_estimate,
        default="run",
        metavar="run|drop|SECONDS",
        help="for records without an estimate: take the run time (default), drop the record, or take this many seconds",
    )
    parser.add_argument(
        "--standin",
        action="store_true",
        help="instead of an archive log use a generated look-alike, which needs no copy of the log",
    )
    parser.add_argument(
        "--seed",
        type=_seed,
        metavar="S",
        help="seed of a model or a stand-in (default: 0)",
    )
    parser.add_argument("--lenient", action="store_true", help="skip bad lines of a file and say how many")
    parser.add_argument(
        "--time-zone",
        metavar="ZONE",
        help="time zone of dates without one, in a table or sacct output, such as Europe/Stockholm (default: UTC)",
    )
    table = parser.add_argument_group("a table (.csv, .tsv, .parquet)")
    table.add_argument(
        "--columns",
        type=_pairs(frames.ROLES),
        metavar="submit=Submit,run=Elapsed,procs=NCPUS,...",
        help=f"which column holds what: {', '.join(frames.ROLES)}; needed are submit, run (or start and end) and procs "
        "(or nodes)",
    )
    table.add_argument(
        "--unit",
        type=_unit,
        metavar="U|run=U,...",
        help=f"unit of time, for all columns or by column: {', '.join(frames.UNITS)} (default: s)",
    )
    slurm = parser.add_argument_group("output of Slurm's sacct")
    slurm.add_argument(
        "--partition",
        type=_listed(str),
        metavar="A,B,...",
        help="only jobs of this partition, or of several that share nodes (default: all, on one machine)",
    )
    slurm.add_argument(
        "--arrival",
        choices=ARRIVAL,
        help="when a job arrives: when it is submitted (default), or when nothing holds it back any more",
    )
    slurm.add_argument("--procs-of", choices=PROCS_OF, help="what a processor is: a CPU (default) or a node")
    slurm.add_argument(
        "--names", action="store_true", default=None, help="show the names of users and groups in --classes user, group"
    )
    return table


def _workload_arguments(parser):
    _trace_arguments(parser)
    parser.add_argument(
        "--by",
        choices=("run_time", "interarrival", "effective"),
        default="run_time",
        help="what --load scales: run times and estimates, or the times between submissions (default: run_time); "
        "effective: run times and estimates, so that the sequential work amounts to this load",
    )
    _convention_arguments(parser)


def _convention_arguments(parser):
    parser.add_argument(
        "--overrun",
        choices=OVERRUN,
        default="kill",
        help="jobs that outlive their estimate: kill ends them there (default); extend raises the estimate to the run "
        "time from the beginning; keep lets them run on, and the scheduler learns of it when the estimate expires "
        "(under fcfs, easy and DPSA)",
    )
    parser.add_argument(
        "--events",
        choices=EVENTS,
        default="batched",
        help="a scheduling pass for each instant, or for each single event (default: batched)",
    )


def _argument(parse):
    """Let argparse pass on what was wrong with an argument; of a ValueError it would keep only the name of the type."""

    def typed(text):
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(error) from None

    return typed


_scheme = _argument(scheme)


def _pairs(known):
    @_argument
    def split(text):
        pairs = dict(map(str.strip, item.partition("=")[::2]) for item in text.split(",") if item.strip())
        for name, value in pairs.items():
            if known is not None:
                check_known("name before '='", name, known)
            if not value:
                raise ValueError(f"expected {name}=..., got {name!r}")
        return {name: int(value) if value.isdecimal() else value for name, value in pairs.items()}

    return split


@_argument
def _machine(text):
    sizes = _pairs(None)(text) if "=" in text else {"": int(text) if text.isdecimal() else text}
    if not all(isinstance(size, int) and size > 0 for size in sizes.values()):
        raise ValueError(f"expected a whole number of at least 1, or NAME=PROCESSORS,..., got {text!r}")
    return sizes if "=" in text else sizes[""]


@_argument
def _unit(text):
    return _pairs(frames.ROLES)(text) if "=" in text else check_known("unit", text, frames.UNITS)


@_argument
def _load(text):
    load = _number_in(text)
    if not (load > 0 and math.isfinite(load)):
        raise ValueError(f"load must be greater than 0, got {text}")
    return load


@_argument
def _count(text):
    if not (text.isdecimal() and int(text) > 0):
        raise ValueError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


@_argument
def _shard(text):
    number, _, count = text.partition("/")
    if not (text.isascii() and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise ValueError(f"expected a part such as 3/16, from 1/16 to 16/16, got {text!r}")
    return int(number), int(count)


@_argument
def _seed(text):
    if not text.isdecimal():
        raise ValueError(f"expected a whole number of at least 0, got {text!r}")
    return int(text)


@_argument
def _confidence(text):
    confidence = _number_in(text)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {text}")
    return confidence


@_argument
def _instant(text):
    try:
        return float(text)
    except ValueError:
        with suppress(ValueError):
            pd.Timestamp(text)
            return text
    raise ValueError(f"expected a date or a number of seconds, got {text!r}")


@_argument
def _missing_estimate(text):
    if text in ("run", "drop"):
        return text
    with suppress(ValueError):
        check_missing_estimate(seconds := float(text))
        return seconds
    raise ValueError(f"expected run, drop or a positive number of seconds, got {text!r}")


def _number_in(text):
    try:
        return float(text)
    except ValueError:
        hint = ", such as 0.9 for 90 %" if text.endswith("%") else ""
        raise ValueError(f"expected a number{hint}, got {text!r}") from None


def _listed(kind):
    def split(text):
        if items := [kind(item.strip()) for item in text.split(",") if item.strip()]:
            return items
        raise argparse.ArgumentTypeError(f"expected a comma-separated list, got {text!r}")

    return split


def _file(*known):
    @_argument
    def checked(path):
        if not path.endswith(known):
            raise ValueError(f"{path!r} has an unknown suffix, expected {' or '.join(known)}")
        if Path(path).is_dir():
            raise ValueError(f"{path!r} is a folder, expected a file")
        return path

    return checked


def _trace(options):
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


def _traces(options):
    """List the logs of the Parallel Workloads Archive: machine, size, and where a copy is at hand.

    "data" is the folder that SCHEDLAB_DATA names; "stand-in": there is no copy, but --standin generates a look-alike.
    """
    for name in options.fetch or ():
        print(f"{archive.resolve(name)}: {archive.fetch(name)}")
    if options.fetch:
        return
    table = archive.list_traces()
    if options.local:
        table = table[table["local"] != ""]
    years = table["period"].str.replace(r"-\d\d\b", "", regex=True)
    table["period"] = years.str.replace(r"^(\d{4}) to \1$", r"\1", regex=True).str.replace(" to ", "-")
    place = table["local"].replace("SCHEDLAB_DATA", "data")
    table["local"] = place.mask(table.pop("stand_in") & (place == ""), "stand-in")
    _print(table.rename(columns={"period": "years", "local": "at hand"}))


def _show(options):
    """Show what is in a trace, and what was left out or filled in when it was read, with the reasons."""
    trace = _trace(options)
    header, submit = trace.header, trace.table["submit_time"]
    facts = {
        "machine": " ".join(filter(None, (header.computer, header.installation))),
        "processors": trace.procs,
        "jobs": len(trace),
        "users": trace.table["user_id"].nunique(),
        "first submission": _when(trace, submit.iloc[0]),
        "last submission": _when(trace, submit.iloc[-1]),
        "offered load": load if math.isfinite(load := trace.offered_load()) else "none (all arrive at once)",
    }
    late, share = trace.beyond_estimates()
    if late:
        jobs, whose = (f"{late:,} jobs", "their estimates") if late > 1 else ("1 job", "its estimate")
        facts["run longer than estimated"] = f"{jobs}, with {100 * share:.3g} % of the work beyond {whose}"
    for column, named in trace.names.items():
        facts[f"{column.removesuffix('_id')}s"] = ", ".join(filter(None, named.values()))
    print(trace.title)
    for name, value in facts.items():
        if value not in ("", 0):
            _print_indented(f"{name}: {value if isinstance(value, str) else _cell(value)}")
    repairs = trace.repairs
    if repairs.empty:
        print("\nnothing was left out or filled in")
        return
    print()
    _print(repairs[["kind", "words"]], header=False)


def _when(trace, second):
    instant = trace.at(int(second))
    return f"{instant:%Y-%m-%d %H:%M}" if isinstance(instant, pd.Timestamp) else f"{instant:,} s"


def _simulate(options):
    """Simulate a trace under a scheme, print its measures, and write the schedule if asked.

    An interval by batch means shows how certain a mean over the jobs of one run is; a note says why to doubt it.
    """
    _check_folder(options.out)
    trace = _trace(options)
    if options.classes is not None:
        metrics.check_classes(options.classes, dict.fromkeys((*trace.table.columns, *SIMULATED)))
    with _patience():
        if options.load is not None:
            trace = trace.scale_load(options.load, by=options.by, overrun=options.overrun)
        schedule = simulate(trace, options.scheme, **_conventions(options))
        measures = schedule.metrics()
        classes = schedule.metrics(by=options.classes) if options.classes is not None else None
        intervals = _intervals(schedule, options.confidence) if options.confidence else None
        if options.out:
            _write(options.out, schedule.to_csv if options.out.endswith(".csv") else schedule.to_swf)
    print(f"{trace.title}, {options.scheme}; times in seconds")
    for note in schedule.notes:
        _print_indented(note)
    _print(measures.reset_index().assign(unit=[UNITS.get(name, "") for name in measures.index]), header=False)
    if classes is not None:
        print()
        _print(classes[list(OF_CLASSES)].rename_axis("class").reset_index())
    if intervals is not None:
        print(f"\nintervals of {100 * options.confidence:.6g} % by batch means")
        _print(intervals[["mean", "low", "high", "batches"]].reset_index())
        for note, noted in intervals[intervals["note"] != ""].groupby("note", sort=False):
            _print_indented(f"{', '.join(noted.index)}: {note}")


def _conventions(options):
    partitions = options.machine if isinstance(options.machine, dict) else None
    return {"overrun": options.overrun, "events": options.events, "machine": partitions}


def _intervals(schedule, confidence):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntervalWarning)  # the notes are printed
        return schedule.metrics(confidence=confidence)


def _compare(options):
    """Simulate a trace under several schemes and print their measures side by side.

    If a log records its waits and neither it nor its machine is changed, the row "log" shows what really happened.
    """
    if options.confidence and not options.copies:
        raise ValueError("--confidence is for copies: give --copies too, or use `schedlab simulate --confidence`")
    _check_folder(options.out)
    trace = _trace(options)
    seeds = range(options.copies) if options.copies else None
    unchanged = options.load is None and not seeds and not isinstance(options.machine, dict)
    happened = recorded(trace) if unchanged and has_waits(trace) else None
    schemes = options.scheme if happened is None else list(dict.fromkeys([happened.scheme, *options.scheme]))
    conventions = _conventions(options)
    with _patience():
        table = sweep(trace, schemes, options.load, seed=seeds, by=options.by, **conventions)
    if options.out:
        _write(options.out, lambda path: table.map(cell).to_csv(path, index=False))
    if not seeds:
        print(trace.title)
        _print(table[["load", "scheme", *SHOWN]].rename(columns=SHOWN))
        for note in () if happened is None else happened.notes:
            _print_indented(f"{happened.scheme}: {note}")
        return
    confidence = options.confidence or 0.95
    print(f"{trace.title}; shaken copies: {options.copies}, intervals of {100 * confidence:.6g} % over them")
    ends = {f"{name}{end}": SHOWN[name] if not end else end[1:] for name in WITH_ENDS for end in ("", "_low", "_high")}
    shown = over_seeds(table, ["load", "scheme"], confidence)
    _print(shown[["load", "scheme", *ends]].set_axis(["load", "scheme", *ends.values()], axis=1))


def _grid(options):
    """Run the grid of a study, and keep each result as soon as it is done.

    A run that fails does not stop the others. The call that finds all runs done, whichever part it ran, prints or
    writes the table. Exit code 1 means that runs of this part have failed.
    """
    _check_folder(options.out)
    plan = studies.read_study(options.study)
    if not len(plan):
        raise ValueError(f"{plain(options.study)}: nothing to run: cases is empty")
    if options.status:
        _print_status(*studies.status(plan, options.store))
        return
    mine = studies.shard_of(plan, *options.shard) if options.shard else plan
    made = carried_out(mine, options.threads, errors="keep", store=options.store, retry=options.retry)
    failed = int((made["error"] != "").sum()) if len(made) else 0
    if (table := studies.table(plan, options.store)) is None:
        counts, _ = studies.status(plan, options.store)
        print(f"{counts['done'] + counts['failed']:,} of {len(plan):,} runs are done; other parts are not")
    elif options.out:
        _write(options.out, lambda path: table.map(cell).to_csv(path, index=False))
    else:
        _print(table if (table["error"] != "").any() else table.drop(columns=["error", "error_at"]))
    if failed:
        words = f"{failed:,} {'run' if failed == 1 else 'runs'} failed"
        raise ValueError(f"{words}; --status lists them, --retry runs them again")


def _print_status(counts, failures):
    print(", ".join(f"{count:,} {what}" for what, count in counts.items()))
    if len(failures):
        print()
        _print(failures)


def _add_papers(parser):
    known = f"only these: {', '.join(papers.PAPERS)} (default: all)"
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=known)


def _figures(options):
    """Rebuild every figure and table, and write one HTML page that opens with no network."""
    from schedlab.show import report  # here, since loading the charts costs a second that no other command needs

    # After Ctrl-C joblib cleans up after its workers in a separate process, which would print warnings.
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), "ignore:resource_tracker"]))
    print(report.figures(options.out, size=options.size, only=options.papers, keep=options.keep))


def _claims(options):
    """Print the ledger: each published number or statement, what was measured, and the verdict.

    The verdict is that of the full size if its results are kept in data/results.
    """
    _check_folder(options.out)
    with _patience(), papers.keeping(papers.chosen_size(options.size)):
        ledgers = {paper.TITLE: paper.claims(options.size) for paper in papers.modules(options.papers)}
    if options.out:
        whole = pd.concat(ledgers.values()).drop(columns=["cases", "kept_cases"], errors="ignore")
        _write(options.out, lambda path: whole.map(cell).to_csv(path, index=False))
    if options.json:
        print(as_json(pd.concat(ledgers.values(), ignore_index=True)))
        return
    for title, ledger in ledgers.items():
        print(f"## {title}\n" if options.markdown else title)
        if options.markdown:
            print(f"{as_markdown(ledger)}\n")
            continue
        print(", ".join(f"{count} {verdict}" for verdict, count in counted(ledger).items() if count))
        _print(summary(ledger).drop(columns="reason"))
        for row in summary(ledger).itertuples():
            if row.reason:
                _print_indented(f"{row.id}: {row.reason}")
        print()


def _conformance(options):
    """Find out which conventions a simulator follows, with small logs that each isolate one choice.

    Without arguments, print the cases and the schedule under each convention. With --log, judge the starts of a whole
    log: which laws they break, which settings give all of them, and where the nearest one first differs. Exit code 1
    means that in some case the simulator follows no convention of the case's scheme, or that it breaks a law of
    scheduling or no setting gives all its starts of the log.
    """
    if options.export:
        print("\n".join(str(path) for path in conformance.export(options.export)))
        return
    given = options.results if options.results is not None else options.scheme
    if options.scheme is not None and (options.results is not None or options.trace is not None):
        raise ValueError(
            "--scheme judges a scheme of schedlab on the small logs, expected no results and no --log with it"
        )
    how = {name: getattr(options, name) for name in ("overrun", "events") if getattr(options, name) is not None}
    if how and options.scheme is None:
        raise ValueError(f"--{next(iter(how))} is for a scheme of schedlab, expected --scheme with it")
    if options.trace is not None:
        if options.results is None:
            raise ValueError("--log needs the file with the simulator's starts: schedlab conformance --log TRACE FILE")
        trace = _trace(options)
        with _patience():
            verdict = conformance.judge(options.results, options.of, trace=trace)
            report = str(verdict)
        print(report)
        if not verdict.passed:
            raise ValueError("the starts break a law, or no setting gives all of them")
        return
    for name in ("jobs", "between", "machine", "standin", "seed", "lenient", "columns", "unit", *SLURM):
        if getattr(options, name):
            raise ValueError(f"--{name.replace('_', '-')} is for a whole log, expected --log TRACE with it")
    if given is None:
        for case in conformance.cases():
            if options.of not in (None, case.scheme):
                continue
            print(f"{case.number} {case.scheme}: {case.title}\n")
            _print_indented(case.words)
            for answer in case.answers:
                _print_indented(f"{answer.told}: {answer.convention}. {answer.words}")
            print()
        return
    verdicts = conformance.judge(given, options.of, **how)
    print(verdicts)
    if not verdicts.passed:
        raise ValueError("not all cases follow their scheme")


def _compile(_):
    """Compile all kernels now instead of at the first use of each. It takes minutes, once for each new version."""
    compile_kernels()


def _check_folder(path):
    """Raise early, before there is work to lose, if a file cannot be written."""
    folder = Path(path or ".").parent
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise OSError(f"--out is {path!r}, but {folder} is not a folder that can be written to")


def _write(path, write):
    """Write a file that appears whole or not at all, and say so."""
    with replacing(path) as part:
        write(part)
    print(f"written: {plain(path)}", file=sys.stderr)


@contextmanager
def _patience():
    """Say on standard error what is going on, if it takes long."""
    timer = Timer(PATIENCE, _note, ["simulating"])
    timer.daemon = True
    try:
        timer.start()  # within, since Ctrl-C may come while it starts
        yield
    finally:
        timer.cancel()


def _print(table, header=True):
    """Print numbers right-aligned and words left-aligned; in a narrow terminal the widest words are cut.

    The first column, which names the row, stays whole.
    """
    words = [not pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes]
    columns = [[plain(str(name))] * header + [_cell(value) for value in column] for name, column in table.items()]
    widths = [max(map(len, column), default=0) for column in columns]
    excess = sum(widths) + 2 * (len(widths) - 1) - _width()
    while excess > 0 and any(words[1:]):
        widest = max((i for i in range(1, len(widths)) if words[i]), key=widths.__getitem__)
        if widths[widest] <= NARROWEST:
            break
        widths[widest] -= 1
        excess -= 1
    columns = [
        [_cut(cell, width) for cell in column] if word else column
        for column, width, word in zip(columns, widths, words, strict=True)
    ]
    for row in zip(*columns, strict=True):
        cells = (f"{cell:{'<' if word else '>'}{width}}" for cell, word, width in zip(row, words, widths, strict=True))
        print("  ".join(cells).rstrip())


def _cell(value):
    if isinstance(value, str):
        return plain(value)
    if pd.isna(value):
        return "-"
    if abs(value) < 1000 and value != int(value):
        return f"{value:,.4g}"
    return f"{value:,.0f}"


def _cut(words, width):
    return words if len(words) <= width else words[: width - 1].rstrip(" ,") + "…"


def _width():
    """Return the columns of the terminal, or COLUMNS if set; for a pipe or a file there is no limit."""
    return shutil.get_terminal_size((sys.maxsize, 24)).columns


def _print_indented(words):
    print(fill(words, _width(), initial_indent="    ", subsequent_indent=" " * 15, break_on_hyphens=False))
