"""The command line: `schedlab traces | simulate | compare | figures | claims`."""

import argparse
import shutil
import sys
from pathlib import Path

import pandas as pd

from schedlab import __version__, papers
from schedlab.schemes import BY_NAME, SPECIAL, scheme
from schedlab.schemes.orders import NAMES
from schedlab.simulation import EVENTS, simulate
from schedlab.sweeps import sweep
from schedlab.workload import archive
from schedlab.workload.trace import OVERRUN, load_trace, model_trace, read_swf

FAILED, NOT_FOUND = 1, 3  # exit codes; argparse uses 2 for wrong usage
SHOWN = {
    "wait_time": "wait s",
    "median_wait_time": "median wait s",
    "bounded_slowdown": "bounded slowdown",
    "utilization": "utilization",
    "loss_of_capacity_share": "capacity lost",
    "mean_queue": "queue",
}
OF_CLASSES = ("jobs", "wait_time", "median_wait_time", "bounded_slowdown")
SCHEMES_HELP = (
    f"{', '.join((*BY_NAME, *SPECIAL))}, or one of the first three with an order of the queue, such as easy-sjf; "
    f"orders: {', '.join(NAMES)}"
)
TRACE_HELP = (
    "name of an archive log (CTC-SP2-1996; `schedlab traces` lists them), path of an SWF file (.swf, .swf.gz), "
    "or 'lublin' for the Lublin-Feitelson model"
)


def main(arguments: list[str] | None = None) -> int:
    """Run a command; give its exit code: 0 done, 1 failed, 2 wrong usage, 3 trace not found."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except archive.TraceNotFound as error:
        return _fail(error, NOT_FOUND)
    except (ValueError, OSError) as error:
        return _fail(error, FAILED)
    except KeyboardInterrupt:
        return _fail("interrupted", FAILED)
    return 0


def _fail(error, code):
    print(f"schedlab: {error}", file=sys.stderr)
    return code


def _parser():
    parser = argparse.ArgumentParser(
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

    one = commands.add_parser(
        "simulate",
        help="simulate one trace under one scheme",
        description=_simulate.__doc__,
        epilog="Example: schedlab simulate CTC-SP2-1996 --scheme easy --load 0.9 --out simulated.swf.gz",
    )
    _workload_arguments(one)
    one.add_argument("--scheme", default="easy", help=f"{SCHEMES_HELP} (default: easy)")
    one.add_argument("--load", type=float, help="scale to this offered load (1 is all that the machine has)")
    one.add_argument("--classes", metavar="BY", help="also by class: kurian, sabin, size, or a column of the log")
    one.add_argument("--out", metavar="FILE", help="write the schedule: .swf, .swf.gz, or .csv (Batsim's columns)")
    one.set_defaults(run=_simulate)

    several = commands.add_parser(
        "compare",
        help="simulate one trace under several schemes, at one or more loads",
        description=_compare.__doc__,
        epilog="Example: schedlab compare KTH-SP2-1996 --schemes fcfs,easy,conservative --load 0.7,0.8,0.9",
    )
    _workload_arguments(several)
    several.add_argument(
        "--schemes",
        type=_listed(str),
        default=["fcfs", "easy", "conservative"],
        metavar="A,B,...",
        help=f"{SCHEMES_HELP} (default: fcfs,easy,conservative)",
    )
    several.add_argument("--load", type=_listed(float), metavar="L,...", help="scale to these offered loads")
    several.add_argument("--out", metavar="FILE.csv", help="write the table with all its measures")
    several.set_defaults(run=_compare)

    figures = commands.add_parser("figures", help="rebuild every figure in one page", description=_figures.__doc__)
    figures.add_argument("--size", choices=papers.SIZES, default="quick", help="(default: quick)")
    figures.add_argument("--out", default="build/report.html", metavar="FILE", help="(default: build/report.html)")
    figures.set_defaults(run=_figures)

    claims = commands.add_parser("claims", help="print published beside measured", description=_claims.__doc__)
    claims.add_argument("--out", metavar="FILE.csv", help="write the ledger as a table")
    claims.set_defaults(run=_claims)
    return parser


def _workload_arguments(parser):
    parser.add_argument("trace", metavar="TRACE", help=TRACE_HELP)
    parser.add_argument("--jobs", type=int, metavar="N", help="only the first N jobs")
    parser.add_argument("--between", nargs=2, metavar="DATE", help="only jobs submitted from a date up to another")
    parser.add_argument("--procs", type=int, metavar="P", help="size of the machine, if not the log's own")
    parser.add_argument("--by", choices=("run_time", "interarrival"), default="run_time", help="what --load scales")
    parser.add_argument("--overrun", choices=OVERRUN, default="kill", help="what becomes of jobs that outlive their estimate")
    parser.add_argument("--events", choices=EVENTS, default="batched", help="a pass for each instant, or each event")
    parser.add_argument(
        "--missing-estimate",
        type=_missing_estimate,
        default="run",
        metavar="run|drop|SECONDS",
        help="for records without an estimate: the run time (default), leave out, or a number",
    )
    parser.add_argument("--lenient", action="store_true", help="skip bad lines of a file and say how many")


def _listed(kind):
    def split(text):
        return [kind(item) for item in text.split(",") if item]

    split.__name__ = f"comma-separated list of {kind.__name__}"
    return split


def _missing_estimate(text):
    return text if text in ("run", "drop") else float(text)


def _trace(options):
    """Load the trace that the options name, whole or in part, and say on standard error what it is."""
    given = {"procs": options.procs, "missing_estimate": options.missing_estimate}
    name = options.trace
    if name == "lublin":
        trace = model_trace("lublin", jobs=options.jobs or 10_000, procs=options.procs or 256)
    elif Path(name).is_file() or name.endswith((".swf", ".gz")):
        trace = read_swf(name, lenient=options.lenient, **given)
    else:
        trace = load_trace(name, **given)
    if options.between:
        trace = trace.between(*options.between)
    if options.jobs:
        trace = trace.head(options.jobs)
    print(repr(trace).strip("<>"), file=sys.stderr)
    return trace


def _traces(options):
    """List the logs of the Parallel Workloads Archive: machine, size, and where a copy is at hand."""
    for name in options.fetch or ():
        print(f"{archive.resolve(name)}: {archive.fetch(name)}")
    if options.fetch:
        return
    table = archive.list_traces()
    if options.local:
        table = table[table["local"] != ""]
    _print(table)


def _simulate(options):
    """Simulate a trace under a scheme, print its measures, and write the schedule if asked."""
    if options.out:
        _check_suffix(options.out, (".swf", ".swf.gz", ".csv"))
    chosen = scheme(options.scheme)
    trace = _trace(options)
    if options.load is not None:
        trace = trace.scale_load(options.load, by=options.by, overrun=options.overrun)
    schedule = simulate(trace, chosen, overrun=options.overrun, events=options.events)
    print(f"{trace.title}, {chosen}")
    _print(schedule.metrics().rename("").to_frame(), header=False)
    if options.classes:
        print()
        _print(schedule.metrics(by=options.classes).rename_axis("class")[list(OF_CLASSES)])
    if options.out:
        (schedule.to_csv if options.out.endswith(".csv") else schedule.to_swf)(options.out)
        print(f"written: {options.out}", file=sys.stderr)


def _compare(options):
    """Simulate a trace under several schemes and print their measures side by side."""
    if options.out:
        _check_suffix(options.out, (".csv",))
    schemes = [scheme(name) for name in options.schemes]
    trace = _trace(options)
    conventions = {"overrun": options.overrun, "events": options.events}
    table = sweep(trace, schemes, options.load, by=options.by, **conventions)
    print(trace.title)
    _print(table[["load", "scheme", *SHOWN]].rename(columns=SHOWN).set_index(["load", "scheme"]))
    if options.out:
        table.to_csv(options.out, index=False)
        print(f"written: {options.out}", file=sys.stderr)


def _figures(options):
    """Rebuild every figure and table, and write one HTML page that opens with no network."""
    from schedlab import report  # here, since loading the charts costs a second that no other command needs

    print(report.figures(options.out, size=options.size))


def _claims(options):
    """Print the ledger: each published number or statement, what was measured, and the verdict."""
    if options.out:
        _check_suffix(options.out, (".csv",))
    for module in papers.modules():
        ledger = module.claims()
        print(f"{module.TITLE}\n")
        for row in ledger.itertuples():
            print(f"{row.id}  {row.verdict}" + (f" ({row.reason})" if row.reason else ""))
            print(f"    {row.statement}; {row.trace}")
            print(f"    published: {row.published}")
            print(f"    measured:  {row.measured or '-'}")
    if options.out:
        pd.concat([module.claims() for module in papers.modules()]).to_csv(options.out, index=False)


def _check_suffix(path, known):
    if not path.endswith(known):
        raise ValueError(f"--out is {path!r}, expected a name that ends in {' or '.join(known)}")


def _print(table, header=True):
    width = shutil.get_terminal_size().columns
    print(table.to_string(header=header, line_width=width, float_format=_number, max_colwidth=28))


def _number(value):
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:,.4g}"


if __name__ == "__main__":
    sys.exit(main())
