"""The options of the commands."""

from schedlab import papers
from schedlab.cli import cache, commands, values
from schedlab.schedule.simulation import EVENTS
from schedlab.schemes import by_name
from schedlab.schemes.orders import NAMES
from schedlab.testing import conformance as suite
from schedlab.workload import frames
from schedlab.workload.conventions import OVERRUN
from schedlab.workload.public import logs
from schedlab.workload.sacct import ARRIVALS, PROCS_OF

from .parsing import COMMANDS, Parser

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
    "--columns), - for standard input, or a workload model: lublin (Lublin-Feitelson), jann, downey"
)
# Groups of options.
RESULT = "results"
PART = "a part of the log"
MACHINE = "machine"
READING = "reading"
RULES = "rules of the simulation"
TABLE = "a table (.csv, .tsv, .parquet)"
SLURM = "output of Slurm's sacct"


def add(parser: Parser, name: str) -> None:
    """Add to the parser of a command its description and its options, and to what it parses the function to run."""
    run = getattr(commands, name.replace("-", "_"), None) or getattr(cache, name)
    parser.description = run.__doc__
    parser.usage = " ".join(filter(None, ["%(prog)s", _TAKES.get(name), "[options]"]))
    parser.set_defaults(run=run, parser=parser)
    _OF[name](parser)
    parser.option("", "-q", "--quiet", action="store_true", help="print results, warnings and errors, and nothing else")


def _sacct_command(parser):
    parser.option("", "--begin", type=values.date, metavar="DATE", help="first day (default: that of last month)")
    end = "the day after the last (default: a month after the first)"
    parser.option("", "--end", type=values.date, metavar="DATE", help=end)


def _traces(parser):
    parser.option("", "--fetch", nargs="+", metavar="NAME", help="download these logs into the cache and verify them")
    parser.option("", "--local", action="store_true", help="only the logs that are at hand")
    _json(parser, "")


def _json(parser, group=RESULT):
    parser.option(group, "--json", action="store_true", help="print JSON, with all digits")


def _show(parser):
    parser.epilog = "Example: schedlab show KTH-SP2-1996"
    parser.only_first("--jobs", "--between", "--machine", "--columns", "--json")
    _trace_arguments(parser)
    _json(parser)


def _simulate(parser):
    parser.epilog = "Example: schedlab simulate CTC-SP2-1996 --scheme easy --load 0.9 --out easy.swf"
    parser.only_first("--scheme", "--load", "--machine", "--classes", "--out")
    parser.option(
        RULES, "--scheme", type=values.scheme, default="easy", help=f"{SCHEMES_HELP} (default: easy)", metavar="SCHEME"
    )
    parser.option(
        RULES, "--load", type=values.load, metavar="L", help="scale to this offered load, 0.9 for 90 %% of the machine"
    )
    _workload_arguments(parser)
    _classes(parser)
    parser.option(
        RESULT,
        "--confidence",
        type=values.confidence,
        metavar="C",
        help="also print intervals of this confidence, such as 0.95, on the means over all jobs, by batch means",
    )
    parser.option(
        RESULT,
        "--out",
        type=values.file(".swf", ".swf.gz", ".csv"),
        metavar="FILE",
        help="write the schedule: .swf, .swf.gz, or .csv (Batsim's columns); - writes SWF to standard output, and the "
        "measures to standard error",
    )
    _json(parser)


def _classes(parser):
    parser.option(
        RESULT,
        "--classes",
        metavar="BY",
        help="also by class: kurian, sabin, size, user, group, state, hour, weekday, month, or a column (partition)",
    )


def _compare(parser):
    parser.description += f" {SHOWN_HELP}"
    parser.epilog = "Example: schedlab compare KTH-SP2-1996 --scheme fcfs,easy --load 0.7,0.8,0.9"
    parser.only_first("--scheme", "--load", "--copies", "--machine", "--out")
    parser.option(
        RULES,
        "--scheme",
        type=values.listed(values.scheme),
        default="fcfs,easy,conservative",
        metavar="A,B,...",
        help=f"{SCHEMES_HELP} (default: fcfs,easy,conservative)",
    )
    parser.option(
        RULES,
        "--load",
        type=values.listed(values.load),
        metavar="L,...",
        help="scale to these offered loads (0.9 for 90 %%)",
    )
    parser.option(
        RULES,
        "--copies",
        type=values.count,
        metavar="N",
        help="replications: simulate N shaken copies of the trace, whose submissions are moved at random by up to a "
        "minute, and print means and intervals over the copies; these show how much of a mean is chance (--out writes "
        "every run)",
    )
    _workload_arguments(parser)
    parser.option(
        RESULT,
        "--confidence",
        type=values.confidence,
        metavar="C",
        help="with --copies: confidence of the intervals over the copies (default: 0.95)",
    )
    _classes(parser)
    _out_csv(parser, RESULT, "write the table with all its measures")
    _json(parser)


def _out_csv(parser, group, purpose):
    purpose += "; - writes it to standard output, and nothing else"
    parser.option(group, "--out", type=values.file(".csv"), metavar="FILE.csv", help=purpose)


def _grid(parser):
    parser.epilog = (
        "Example, in a job array of Slurm: schedlab grid study.py --store runs/ --shard $SLURM_ARRAY_TASK_ID/16"
    )
    parser.add_argument(
        "study",
        metavar="STUDY.py",
        help="a Python file that defines a function, run, and its values, as sl.grid takes them",
    )
    parser.option(
        "",
        "--store",
        metavar="FOLDER",
        required=True,
        help="keep the results here; stored results are not computed again",
    )
    parser.option(
        "",
        "--shard",
        either="part",
        type=values.shard,
        metavar="I/N",
        help="run only part I of N (1/N to N/N make up the whole); all parts write into the same store",
    )
    parser.option(
        "",
        "--status",
        either="part",
        action="store_true",
        help="run nothing; say what is done, failed and to do",
    )
    parser.option("", "--threads", type=values.count, metavar="N", help="runs at a time (default: one for each core)")
    parser.option("", "--retry", action="store_true", help="also run failed runs again")
    _out_csv(parser, "", "write the table, once all runs of the study are done")


def _figures(parser):
    _paper_arguments(parser)
    parser.option(
        "",
        "--out",
        type=values.file(".html"),
        default="build/report.html",
        metavar="FILE.html",
        help="the page; its folder is made if missing (default: build/report.html)",
    )
    parser.option(
        "",
        "--keep",
        action="store_true",
        help="with --size full: keep the results in data/results, where quick runs show them beside their own",
    )


def _page(parser):
    parser.epilog = "Example: schedlab page try.html"
    parser.add_argument("out", type=values.file(".html"), metavar="FILE.html", help="the page")
    parser.add_argument(
        "traces",
        nargs="*",
        metavar="TRACE",
        help="logs in the page: names of the archive, or files as `schedlab show` takes them without further options "
        "(default: stand-ins of two logs)",
    )


def _claims(parser):
    _paper_arguments(parser)
    parser.option(
        "",
        "--run",
        dest="run_again",
        action="store_true",
        help="simulate again, instead of printing what is kept of the full size",
    )
    parser.option("", "--json", either="form", action="store_true", help="print JSON: every row with all its cases")
    parser.option("", "--markdown", either="form", action="store_true", help="print a table in Markdown")
    _out_csv(parser, "", "write the ledger as a table")


def _conformance(parser):
    parser.epilog = "Example: schedlab conformance --log KTH-SP2-1996 their.csv"
    parser.only_first("--log", "--scheme", "--export", "--of", "--machine")
    parser.add_argument(
        "results",
        nargs="?",
        metavar="RESULTS",
        help="a simulator's results: a folder with one file for each of the small logs, or with --log one file",
    )
    parser.option(
        RESULT,
        "--log",
        dest="trace",
        metavar="TRACE",
        help=f"judge the result of a simulator for this log: {TRACE_HELP}",
    )
    parser.option(RESULT, "--export", metavar="FOLDER", help="write the logs, for a simulator to run")
    parser.option(
        RESULT, "--scheme", type=values.scheme, metavar="SCHEME", help="judge a scheme of schedlab, such as easy"
    )
    about = f"only probes about this scheme: {', '.join(suite.KINDS)} (default: all)"
    parser.option(RESULT, "--of", type=values.one_of(suite.KINDS), metavar="SCHEME", help=about)
    _convention_arguments(parser)
    _trace_options(parser)
    parser.set_defaults(log=None, overrun=None, events=None)  # None: not given


def _cache(parser):
    parser.option(
        "",
        "--clear",
        nargs="*",
        choices=cache.ROOMS,
        metavar="ROOM",
        help=f"delete what these rooms keep: {', '.join(cache.ROOMS)}; without a name, all of them but traces",
    )


def _completion(parser):
    parser.epilog = 'Example, in ~/.bashrc: eval "$(schedlab completion bash)"'
    parser.add_argument("shell", choices=commands.SHELLS, metavar="SHELL", help=", ".join(commands.SHELLS))


def _paper_arguments(parser):
    known = f"only these: {', '.join(papers.PAPERS)} (default: all)"
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=known)
    size = "how many steps and seeds are simulated (default: SCHEDLAB_SIZE if set, else quick)"
    parser.option("", "--size", choices=papers.SIZES, help=size)


def _trace_arguments(parser):
    parser.add_argument("trace", metavar="TRACE", help=TRACE_HELP)
    _trace_options(parser)
    parser.option(
        TABLE,
        "--log",
        choices=[*logs().index],
        metavar="LOG",
        help=f"the file is one of these public logs, whose columns are known: {', '.join(logs().index)}",
    )


def _trace_options(parser):
    """Add what tells how to read a trace."""
    parser.option(PART, "--jobs", type=values.count, metavar="N", help="only the first N jobs")
    parser.option(
        PART,
        "--between",
        nargs=2,
        type=values.instant,
        metavar=("BEGIN", "END"),
        help="only jobs submitted from BEGIN up to END: dates (1996-09-01), or seconds on the clock of the log; what "
        "was in the system leads in, and is not counted",
    )
    parser.option(
        PART,
        "--lead",
        type=values.lead,
        metavar="LENGTH|DATE|none",
        help="with --between: the lead-in begins so long before BEGIN (7days, or seconds), or at a date; none: no such",
    )
    parser.option(
        MACHINE,
        "--machine",
        type=values.machine,
        metavar="P|NAME=P,...",
        help="processors of the machine, if not the log's own; or of its partitions, each with its own queue: each job "
        "runs in the partition that it names",
    )
    parser.option(
        READING,
        "--missing-estimate",
        type=values.missing_estimate,
        default="run",
        metavar="run|drop|SECONDS",
        help="for records without an estimate: take the run time (default), drop the record, or take this many seconds",
    )
    parser.option(
        READING,
        "--standin",
        action="store_true",
        help="instead of an archive log use a generated look-alike, which needs no copy of the log",
    )
    parser.option(READING, "--seed", type=values.seed, metavar="S", help="seed of a model or a stand-in (default: 0)")
    parser.option(READING, "--lenient", action="store_true", help="skip bad lines of a file and say how many")
    parser.option(
        READING,
        "--time-zone",
        metavar="ZONE",
        help="time zone of dates without one, in a table or sacct output, such as Europe/Stockholm (default: UTC); "
        "that in which dates of PBS and LSF are shown",
    )
    parser.option(
        TABLE,
        "--columns",
        type=values.columns,
        metavar="submit=Submit,run=Elapsed,procs=NCPUS,...",
        help=f"which column holds what: {', '.join(frames.ROLES)}; needed are submit, run (or start and end) and procs "
        "(or nodes). Of sacct's output without a header, the names of its columns: JobID,Submit,Start,...",
    )
    parser.option(
        TABLE,
        "--unit",
        type=values.unit,
        metavar="U|run=U,...",
        help=f"unit of time, for all columns or by column: {', '.join(frames.UNITS)} (default: s)",
    )
    parser.option(
        TABLE,
        "--states",
        choices=("swf", "slurm"),
        help="what numbers in a column of states mean, where they do not tell",
    )
    parser.option(
        SLURM,
        "--partition",
        type=values.listed(str),
        metavar="A,B,...",
        help="only jobs of this partition, or of several that share nodes (default: all, on one machine)",
    )
    parser.option(
        SLURM,
        "--arrival",
        choices=ARRIVALS,
        help="when a job arrives: when it is submitted (default), or when nothing holds it back any more",
    )
    parser.option(SLURM, "--procs-of", choices=PROCS_OF, help="what a processor is: a CPU (default), a node or a GPU")
    parser.option(SLURM, "--cluster", metavar="NAME", help="only jobs of this cluster, of an output of several")
    parser.option(
        SLURM,
        "--names",
        action="store_true",
        default=None,
        help="show the names of users and groups in --classes user, group",
    )


def _workload_arguments(parser):
    _trace_arguments(parser)
    parser.option(
        PART,
        "--window",
        nargs=2,
        type=values.instant,
        metavar=("BEGIN", "END"),
        help="simulate the whole trace; measure the jobs submitted from BEGIN up to END, and the machine in that time",
    )
    parser.option(
        RULES,
        "--by",
        choices=("run_time", "interarrival", "effective"),
        default="run_time",
        help="what --load scales: run times and estimates, or the times between submissions (default: run_time); "
        "effective: run times and estimates, so that the sequential work amounts to this load",
    )
    _convention_arguments(parser)


def _convention_arguments(parser):
    parser.option(
        RULES,
        "--overrun",
        choices=OVERRUN,
        default="kill",
        help="jobs that outlive their estimate: kill ends them there (default); extend raises the estimate to the run "
        "time from the beginning; keep lets them run on, and the scheduler learns of it when the estimate expires "
        "(under fcfs, easy and DPSA)",
    )
    parser.option(
        RULES,
        "--events",
        choices=EVENTS,
        default="batched",
        help="a scheduling pass for each instant, or for each single event (default: batched)",
    )


def _compile(parser):
    """Add nothing: all kernels are compiled."""


# What comes before the options; a list of these would fill the terminal.
_TAKES = {
    **dict.fromkeys(("show", "simulate", "compare"), "TRACE"),
    **dict.fromkeys(("claims", "figures"), "[PAPER ...]"),
    "grid": "STUDY.py --store FOLDER",
    "conformance": "[RESULTS]",
    "page": "FILE.html [TRACE ...]",
    "completion": "SHELL",
}
_OF = {name: globals()[f"_{name.replace('-', '_')}"] for name in COMMANDS}
