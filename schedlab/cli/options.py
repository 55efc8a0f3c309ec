"""The commands and their options."""

import argparse

from schedlab import __version__, papers
from schedlab._runtime.text import check_known, plain
from schedlab.cli import commands, values
from schedlab.schedule.simulation import EVENTS
from schedlab.schemes import by_name
from schedlab.schemes.orders import NAMES
from schedlab.testing import conformance as suite
from schedlab.workload import frames
from schedlab.workload.conventions import OVERRUN
from schedlab.workload.public import logs
from schedlab.workload.sacct import ARRIVALS, PROCS_OF

SHOWN_HELP = (
    "Columns: mean and median wait in seconds; mean bounded slowdown (bsld, tau 10 s); utilization; share of the "
    "capacity lost (idle while waiting jobs could use it); mean length of the queue in jobs."
)
SCHEMES_HELP = (
    f"{', '.join(by_name())}; fcfs, easy, conservative and DPSA also with an order of the queue, such as easy-sjf; "
    f"orders: {', '.join(NAMES)}"
)
TRACE_HELP = (
    "name of an archive log (CTC-SP2-1996; `schedlab traces` lists them), path of an SWF file (.swf, .swf.gz), of the "
    "output of Slurm's sacct --parsable2, of the accounting of PBS, Torque or LSF, or of a table (.csv, .parquet, with "
    "--columns), or a workload model: lublin (Lublin-Feitelson), jann, downey"
)


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


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; what it parses has the command to `run`."""
    whole = _Parser(
        prog="schedlab",
        description="Simulate parallel job schedulers on real logs, and rebuild published figures.",
        epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 3 trace not found.",
    )
    whole.add_argument("--version", action="version", version=f"schedlab {__version__}")
    parsers = whole.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(run, **texts):
        added = parsers.add_parser(run.__name__.replace("_", "-"), **{"description": run.__doc__, **texts})
        added.set_defaults(run=run)
        return added

    _add_traces(add)
    _add_show(add)
    _add_simulate(add)
    _add_compare(add)
    _add_grid(add)
    _add_figures(add)
    _add_page(add)
    _add_claims(add)
    _add_conformance(add)
    _add_sacct_command(add)
    add(commands.compile, help="compile all kernels now instead of at first use")
    return whole


def _add_sacct_command(add):
    parser = add(commands.sacct_command, help="print the command that exports a cluster's jobs from Slurm")
    parser.add_argument("--begin", default="2024-03-01", metavar="DATE", help="first day (default: 2024-03-01)")
    parser.add_argument("--end", default="2024-04-01", metavar="DATE", help="the day after the last")


def _add_traces(add):
    parser = add(commands.traces, help="list the archive's logs, and fetch some")
    parser.add_argument("--fetch", nargs="+", metavar="NAME", help="download these logs into the cache and verify them")
    parser.add_argument("--local", action="store_true", help="only the logs that are at hand")


def _add_show(add):
    parser = add(
        commands.show,
        help="show what is in a trace, and what was left out or filled in",
        epilog="Example: schedlab show KTH-SP2-1996",
    )
    _trace_arguments(parser)


def _add_simulate(add):
    parser = add(
        commands.simulate,
        help="simulate one trace under one scheme",
        epilog="Example: schedlab simulate CTC-SP2-1996 --scheme easy --load 0.9 --out easy.swf",
    )
    _workload_arguments(parser)
    parser.add_argument("--scheme", type=values.scheme, default="easy", help=f"{SCHEMES_HELP} (default: easy)")
    parser.add_argument("--load", type=values.load, help="scale to this offered load, 0.9 for 90 %% of the machine")
    parser.add_argument(
        "--classes",
        metavar="BY",
        help="also by class: kurian, sabin, size, user, group, state, hour, weekday, month, or a column (partition)",
    )
    parser.add_argument(
        "--confidence",
        type=values.confidence,
        metavar="C",
        help="also print intervals of this confidence, such as 0.95, on the means over all jobs, by batch means",
    )
    parser.add_argument(
        "--out",
        type=values.file(".swf", ".swf.gz", ".csv"),
        metavar="FILE",
        help="write the schedule: .swf, .swf.gz, or .csv (Batsim's columns)",
    )


def _add_compare(add):
    parser = add(
        commands.compare,
        help="simulate one trace under several schemes, at one or more loads",
        description=f"{commands.compare.__doc__} {SHOWN_HELP}",
        epilog="Example: schedlab compare KTH-SP2-1996 --scheme fcfs,easy --load 0.7,0.8,0.9",
    )
    _workload_arguments(parser)
    parser.add_argument(
        "--scheme",
        type=values.listed(values.scheme),
        default="fcfs,easy,conservative",
        metavar="A,B,...",
        help=f"{SCHEMES_HELP} (default: fcfs,easy,conservative)",
    )
    parser.add_argument(
        "--load", type=values.listed(values.load), metavar="L,...", help="scale to these offered loads (0.9 for 90 %%)"
    )
    parser.add_argument(
        "--copies",
        type=values.count,
        metavar="N",
        help="replications: simulate N shaken copies of the trace, whose submissions are moved at random by up to a "
        "minute, and print means and intervals over the copies; these show how much of a mean is chance (--out writes "
        "every run)",
    )
    parser.add_argument(
        "--confidence",
        type=values.confidence,
        metavar="C",
        help="with --copies: confidence of the intervals over the copies (default: 0.95)",
    )
    parser.add_argument(
        "--out", type=values.file(".csv"), metavar="FILE.csv", help="write the table with all its measures"
    )


def _add_grid(add):
    parser = add(
        commands.grid,
        help="run the grid of a study, or a part of it, into a store",
        epilog="Example, in a job array of Slurm: schedlab grid study.py --store runs/ --shard $SLURM_ARRAY_TASK_ID/16",
    )
    parser.add_argument(
        "study",
        metavar="STUDY.py",
        help="a Python file that defines a function, run, and its values, as sl.grid takes them",
    )
    parser.add_argument(
        "--store", metavar="FOLDER", required=True, help="keep the results here; stored results are not computed again"
    )
    part = parser.add_mutually_exclusive_group()
    part.add_argument(
        "--shard",
        type=values.shard,
        metavar="I/N",
        help="run only part I of N (1/N to N/N make up the whole); all parts write into the same store",
    )
    part.add_argument("--status", action="store_true", help="run nothing; say what is done, failed and to do")
    parser.add_argument("--threads", type=values.count, metavar="N", help="runs at a time (default: one for each core)")
    parser.add_argument("--retry", action="store_true", help="also run failed runs again")
    parser.add_argument(
        "--out",
        type=values.file(".csv"),
        metavar="FILE.csv",
        help="write the table, once all runs of the study are done",
    )


def _add_figures(add):
    parser = add(commands.figures, help="rebuild every figure in one page")
    _paper_arguments(parser)
    parser.add_argument(
        "--out",
        type=values.file(".html"),
        default="build/report.html",
        metavar="FILE.html",
        help="the page; its folder is made if missing (default: build/report.html)",
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="with --size full: keep the results in data/results, where quick runs show them beside their own",
    )


def _add_page(add):
    parser = add(
        commands.page,
        help="write a page that simulates logs in a browser, with nothing installed",
        epilog="Example: schedlab page try.html",
    )
    parser.add_argument("out", type=values.file(".html"), metavar="FILE.html", help="the page")
    parser.add_argument(
        "traces",
        nargs="*",
        metavar="TRACE",
        help="logs in the page: names of the archive, or SWF files (default: stand-ins of two logs)",
    )


def _add_claims(add):
    parser = add(commands.claims, help="print published and measured values")
    _paper_arguments(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON: every row with all its cases")
    form.add_argument("--markdown", action="store_true", help="print a table in Markdown")
    parser.add_argument("--out", type=values.file(".csv"), metavar="FILE.csv", help="write the ledger as a table")


def _add_conformance(add):
    parser = add(
        commands.conformance,
        help="find out which conventions a simulator follows",
        epilog="Example: schedlab conformance --log KTH-SP2-1996 their.csv",
        usage="%(prog)s [options] [RESULTS]",  # a list of its options would not fit the terminal
    )
    parser.add_argument(
        "results",
        nargs="?",
        metavar="RESULTS",
        help="a simulator's results: a folder with one file for each of the small logs, or with --log one file",
    )
    parser.add_argument(
        "--log", dest="trace", metavar="TRACE", help=f"judge the result of a simulator for this log: {TRACE_HELP}"
    )
    parser.add_argument("--export", metavar="FOLDER", help="write the logs, for a simulator to run")
    parser.add_argument(
        "--scheme", type=values.scheme, metavar="SCHEME", help="judge a scheme of schedlab, such as easy"
    )
    parser.add_argument("--of", choices=suite.KINDS, help="only probes about this scheme (default: all)")
    _convention_arguments(parser)
    _trace_options(parser)
    parser.set_defaults(log=None, overrun=None, events=None)  # None: not given


def _paper_arguments(parser):
    known = f"only these: {', '.join(papers.PAPERS)} (default: all)"
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=known)
    size = "how many steps and seeds (default: SCHEDLAB_SIZE if set, else quick)"
    parser.add_argument("--size", choices=papers.SIZES, help=size)


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
    parser.add_argument("--jobs", type=values.count, metavar="N", help="only the first N jobs")
    parser.add_argument(
        "--between",
        nargs=2,
        type=values.instant,
        metavar=("BEGIN", "END"),
        help="only jobs submitted from BEGIN up to END: dates (1996-09-01), or seconds on the clock of the log; what "
        "was in the system leads in, and is not counted",
    )
    parser.add_argument(
        "--lead",
        type=values.lead,
        metavar="LENGTH|DATE|none",
        help="with --between: the lead-in begins so long before BEGIN (7days, or seconds), or at a date; none: no such",
    )
    parser.add_argument(
        "--machine",
        type=values.machine,
        metavar="P|NAME=P,...",
        help="processors of the machine, if not the log's own; or of its partitions, each with its own queue: each job "
        "runs in the partition that it names",
    )
    parser.add_argument(
        "--missing-estimate",
        type=values.missing_estimate,
        default="run",
        metavar="run|drop|SECONDS",
        help="for records without an estimate: take the run time (default), drop the record, or take this many seconds",
    )
    parser.add_argument(
        "--standin",
        action="store_true",
        help="instead of an archive log use a generated look-alike, which needs no copy of the log",
    )
    parser.add_argument("--seed", type=values.seed, metavar="S", help="seed of a model or a stand-in (default: 0)")
    parser.add_argument("--lenient", action="store_true", help="skip bad lines of a file and say how many")
    parser.add_argument(
        "--time-zone",
        metavar="ZONE",
        help="time zone of dates without one, in a table or sacct output, such as Europe/Stockholm (default: UTC); "
        "that in which dates of PBS and LSF are shown",
    )
    table = parser.add_argument_group("a table (.csv, .tsv, .parquet)")
    table.add_argument(
        "--columns",
        type=values.columns,
        metavar="submit=Submit,run=Elapsed,procs=NCPUS,...",
        help=f"which column holds what: {', '.join(frames.ROLES)}; needed are submit, run (or start and end) and procs "
        "(or nodes). Of sacct's output without a header, the names of its columns: JobID,Submit,Start,...",
    )
    table.add_argument(
        "--unit",
        type=values.unit,
        metavar="U|run=U,...",
        help=f"unit of time, for all columns or by column: {', '.join(frames.UNITS)} (default: s)",
    )
    table.add_argument(
        "--states", choices=("swf", "slurm"), help="what numbers in a column of states mean, where they do not tell"
    )
    slurm = parser.add_argument_group("output of Slurm's sacct")
    slurm.add_argument(
        "--partition",
        type=values.listed(str),
        metavar="A,B,...",
        help="only jobs of this partition, or of several that share nodes (default: all, on one machine)",
    )
    slurm.add_argument(
        "--arrival",
        choices=ARRIVALS,
        help="when a job arrives: when it is submitted (default), or when nothing holds it back any more",
    )
    slurm.add_argument("--procs-of", choices=PROCS_OF, help="what a processor is: a CPU (default), a node or a GPU")
    slurm.add_argument("--cluster", metavar="NAME", help="only jobs of this cluster, of an output of several")
    slurm.add_argument(
        "--names", action="store_true", default=None, help="show the names of users and groups in --classes user, group"
    )
    return table


def _workload_arguments(parser):
    _trace_arguments(parser)
    parser.add_argument(
        "--window",
        nargs=2,
        type=values.instant,
        metavar=("BEGIN", "END"),
        help="simulate the whole trace; measure the jobs submitted from BEGIN up to END, and the machine in that time",
    )
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
