"""What each command does."""

import math
import os
import sys
import warnings
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer

import pandas as pd

from schedlab import papers
from schedlab._runtime import text
from schedlab._runtime.paths import replacing
from schedlab._runtime.precompile import compile_kernels
from schedlab._runtime.remarks import warn
from schedlab._runtime.text import plain
from schedlab.cli.parsing import COMMANDS, parser
from schedlab.cli.shell import in_shell
from schedlab.cli.tables import cell, print_indented, print_json, print_table, records
from schedlab.cli.traces import SLURM, trace_of
from schedlab.cli.values import STANDARD
from schedlab.experiment import studies, sweep
from schedlab.experiment.grids import carried_out
from schedlab.papers import kept
from schedlab.papers.names import paper_in
from schedlab.schedule import metrics, simulation
from schedlab.schedule.simulation import recorded
from schedlab.schedule.statistics import IntervalWarning, over_seeds
from schedlab.schedule.statistics.batches import longest_rhythm
from schedlab.show.ledgers import as_json, as_markdown, counted, summary
from schedlab.testing import conformance as suite
from schedlab.workload import archive
from schedlab.workload.conventions import SIMULATED
from schedlab.workload.edges import has_waits
from schedlab.workload.sacct_export import COMMAND

PATIENCE = 1.0  # seconds of silence
SHELLS = ("bash", "zsh", "tcsh")  # that a script can be made for
SHOWN = {
    "wait_time": "wait s",
    "median_wait_time": "median s",
    "bounded_slowdown": "bsld",
    "utilization": "util",
    "loss_of_capacity_share": "lost",
    "mean_queue": "queue",
}
WITH_ENDS = ("wait_time", "bounded_slowdown")  # what is shown with its interval over copies
UNITS = {name: unit for name, (_, unit) in metrics.MEASURES.items() if unit != "share"}  # shares of 1 are printed bare
OF_CLASSES = ("jobs", "wait_time", "median_wait_time", "bounded_slowdown")


def traces(options):
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
    table = table.rename(columns={"period": "years", "local": "at hand"})
    if options.json:
        print_json(records(table))
    else:
        print_table(table)


def sacct_command(options):
    """Print what exports all that `schedlab` can use of Slurm's accounting; run it on the cluster.

    Times are in seconds since 1970, so that they are exact. The second line prints the cluster's time zone: with it as
    --time-zone, dates are shown as its clocks showed them.
    """
    begin = options.begin or pd.Timestamp.now().normalize().replace(day=1) - pd.DateOffset(months=1)
    end = options.end or begin + pd.DateOffset(months=1)
    if not begin < end:
        raise ValueError(f"--end {end:%Y-%m-%d} is not after --begin {begin:%Y-%m-%d}")
    print(COMMAND.replace("2024-03-01", f"{begin:%Y-%m-%d}").replace("2024-04-01", f"{end:%Y-%m-%d}"))
    print("timedatectl show --property=Timezone --value")


def show(options):
    """Show what is in a trace, and what was left out or filled in when it was read, with the reasons."""
    trace = trace_of(options)
    header, jobs = trace.header, trace.table[trace.counted()]
    submit = jobs["submit_time"]
    facts = {
        "machine": " ".join(filter(None, (header.computer, header.installation))),
        "processors": trace.procs,
        "jobs": trace.jobs_text.replace(" jobs", "", 1),
        "users": jobs["user_id"].nunique(),
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
    repairs = trace.repairs.assign(words=trace.repairs["words"].map(in_shell))
    facts = {name: value for name, value in facts.items() if value not in ("", 0)}
    if options.json:
        print_json({"trace": trace.title, **facts, "jobs": len(submit), "repairs": records(repairs)})
        return
    print(trace.title)
    for name, value in facts.items():
        print_indented(f"{name}: {value if isinstance(value, str) else cell(value)}")
    if repairs.empty:
        print("\nnothing was left out or filled in")
        return
    print()
    print_table(repairs[["kind", "words"]], header=False)


def _when(trace, second):
    instant = trace.at(int(second))
    return f"{instant:%Y-%m-%d %H:%M}" if isinstance(instant, pd.Timestamp) else f"{instant:,} s"


def simulate(options):
    """Simulate a trace under a scheme, print its measures, and write the schedule if asked.

    An interval by batch means shows how certain a mean over the jobs of one run is; a note says why to doubt it.
    """
    _check_out(options)
    trace = trace_of(options)
    if options.classes is not None:
        metrics.check_classes(options.classes, dict.fromkeys((*trace.table.columns, *SIMULATED)))
    with _patience(options):
        if options.load is not None:
            trace = trace.scale_load(options.load, by=options.by, overrun=options.overrun)
        schedule = simulation.simulate(trace, options.scheme, **_conventions(options))
        window = options.window or "makespan"
        measures = schedule.metrics(window=window)
        classes = schedule.metrics(by=options.classes, window=window) if options.classes is not None else None
        intervals = _intervals(schedule, options.confidence, window) if options.confidence else None
        if options.out:
            _write(options, schedule.to_csv if options.out.endswith(".csv") else schedule.to_swf)
    if schedule.unsettled:
        warn(f"{schedule.unsettled}: its means and intervals say little")
    if options.json:
        parts = {"classes": classes, "intervals": intervals}
        tables = {name: records(part.reset_index()) for name, part in parts.items() if part is not None}
        remarks = [*schedule.notes, *filter(None, [schedule.unsettled])]
        facts = {"trace": trace.title, "scheme": str(options.scheme), "notes": remarks}
        print_json({**facts, "measures": measures.to_dict(), **tables})
        return
    if options.out == STANDARD and options.quiet:
        return
    with redirect_stdout(sys.stderr) if options.out == STANDARD else nullcontext():
        _print_measures(options, trace, schedule, measures, classes, intervals)


def _print_measures(options, trace, schedule, measures, classes, intervals):
    print(f"{trace.title}, {options.scheme}; times in seconds{_within(options)}")
    for note in schedule.notes:
        print_indented(note)
    print_table(measures.reset_index().assign(unit=[UNITS.get(name, "") for name in measures.index]), header=False)
    if classes is not None:
        print()
        print_table(classes[list(OF_CLASSES)].rename_axis("class").reset_index())
    if intervals is not None:
        print(f"\nintervals of {100 * options.confidence:.6g} % by batch means")
        print_table(intervals[["mean", "low", "high", "batches"]].reset_index())
        for note, noted in intervals[intervals["note"] != ""].groupby("note", sort=False):
            print_indented(f"{', '.join(noted.index)}: {note}")


def _conventions(options):
    partitions = options.machine if isinstance(options.machine, dict) else None
    return {"overrun": options.overrun, "events": options.events, "machine": partitions}


def _within(options):
    return "; of the jobs submitted from {} to {}".format(*options.window) if options.window else ""


def _intervals(schedule, confidence, window):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntervalWarning)  # the notes are printed
        return schedule.metrics(confidence=confidence, window=window)


def compare(options):
    """Simulate a trace under several schemes and print their measures side by side.

    If a log records its waits and neither it nor its machine is changed, the row "log" shows what really happened.
    """
    if options.confidence and not options.copies:
        raise ValueError("--confidence is for copies: give --copies too, or use `schedlab simulate --confidence`")
    if options.classes is not None and (options.copies or len(options.load or [1]) > 1):
        raise ValueError("--classes is for one load, without --copies")
    _check_out(options)
    trace = trace_of(options)
    seeds = range(options.copies) if options.copies else None
    unchanged = options.load is None and not seeds and not isinstance(options.machine, dict)
    happened = recorded(trace) if unchanged and has_waits(trace) else None
    schemes = options.scheme if happened is None else list(dict.fromkeys([happened.scheme, *options.scheme]))
    conventions = _conventions(options)
    with _patience(options):
        window = options.window or "makespan"
        table = sweep(trace, schemes, options.load, seed=seeds, by=options.by, window=window, **conventions)
    if options.out:
        _write_table(options, table)
    _warn_of_pile_ups(table)
    confidence = options.confidence or 0.95
    shown = table if not seeds else over_seeds(table, ["load", "scheme"], confidence)
    classes = None if options.classes is None else _waits_by_class(options, trace, schemes)
    if options.json:
        parts = {} if classes is None else {"classes": records(classes)}
        print_json({"trace": trace.title, "rows": records(shown)} | parts)
        return
    if options.out == STANDARD:
        return
    if not seeds:
        print(f"{trace.title}{_within(options)}")
        print_table(table[["load", "scheme", *SHOWN]].rename(columns=SHOWN))
        for note in () if happened is None else happened.notes:
            print_indented(f"{happened.scheme}: {note}")
        if classes is not None:
            print(f"\nmean wait (s) by {options.classes}")
            print_table(classes)
        return
    copies = f"; shaken copies: {options.copies}, intervals of {100 * confidence:.6g} % over them"
    print(f"{trace.title}{copies}{_within(options)}")
    ends = {f"{name}{end}": SHOWN[name] if not end else end[1:] for name in WITH_ENDS for end in ("", "_low", "_high")}
    print_table(shown[["load", "scheme", *ends]].set_axis(["load", "scheme", *ends.values()], axis=1))


def _waits_by_class(options, trace, schemes):
    """Return a table with a row for each class of jobs: how many, and their mean wait under each scheme."""
    metrics.check_classes(options.classes, dict.fromkeys((*trace.table.columns, *SIMULATED)))
    if options.load is not None:
        trace = trace.scale_load(options.load[0], by=options.by, overrun=options.overrun)
    waits = {}
    for scheme in schemes:
        schedule = simulation.simulate(trace, scheme, **_conventions(options))
        by_class = schedule.metrics(by=options.classes, window=options.window or "makespan")
        waits |= {"jobs": by_class["jobs"], str(schedule.scheme): by_class["wait_time"]}
    return pd.DataFrame(waits).rename_axis("class").reset_index()


def _warn_of_pile_ups(table):
    """Name the schemes and loads whose queues do not settle."""
    piles = table["longest_pile_up"] * table["makespan"] > table["makespan"].map(longest_rhythm)
    rows = table[piles].drop_duplicates(["scheme", "load"])
    if len(rows):
        places = [f"{scheme} at load {load:.3g}" for scheme, load in zip(rows["scheme"], rows["load"], strict=True)]
        message = f"the queue does not settle under {', '.join(places)}: means and intervals there say little"
        warn(message)


def grid(options):
    """Run the grid of a study, and keep each result as soon as it is done.

    A run that fails does not stop the others. The call that finds all runs done, whichever part it ran, prints or
    writes the table. Exit code 1 means that runs of this part have failed.
    """
    _check_out(options)
    plan = studies.read_study(options.study)
    if not len(plan):
        raise ValueError(f"{plain(options.study)}: nothing to run: combinations is empty")
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
        _write_table(options, table)
    else:
        print_table(table if (table["error"] != "").any() else table.drop(columns=["error", "error_at"]))
    if failed:
        runs = "run" if failed == 1 else "runs"
        raise ValueError(f"{failed:,} {runs} failed; --status lists them, --retry runs them again")


def _print_status(counts, failures):
    print(", ".join(f"{count:,} {what}" for what, count in counts.items()))
    if len(failures):
        print()
        print_table(failures)


def figures(options):
    """Rebuild every figure and table, and write one HTML page that opens with no network."""
    from schedlab.show import report  # here, since loading the charts costs a second that no other command needs

    # After Ctrl-C joblib cleans up after its workers in a separate process, which would print warnings.
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), "ignore:resource_tracker"]))
    print(report.figures(options.out, size=options.size, only=options.papers, keep=options.keep))


def page(options):
    """Write a page that simulates logs by itself, in any browser: one file, which needs no network.

    Whoever opens it can drop a log of their own on it, which never leaves the page.
    """
    from schedlab.web import page as pages  # here, as for the figures

    _check_out(options)
    logs = [trace_of(parser(["show"]).parse_args(["show", name, "--quiet"])) for name in options.traces]
    if options.out == STANDARD:
        print(pages.page(logs or pages.first()))
    else:
        print(pages.write(options.out, logs))


def claims(options):
    """Print the ledger: each published number or statement, what was measured, and the verdict.

    It is what is kept of the full size, unless --run asks for a simulation; then kept and new numbers are compared.
    """
    _check_out(options)
    if options.size and not options.run_again:
        raise ValueError("--size is how much is simulated: give --run, too")
    with _patience(options), papers.keeping(papers.chosen_size(options.size)):
        ledgers = {paper.TITLE: _ledger_of(paper, options) for paper in papers.modules(options.papers)}
    if options.out:
        whole = pd.concat(ledgers.values())
        _write_table(options, whole.drop(columns=["conditions", "kept_conditions"], errors="ignore"))
    if options.json:
        print(as_json(pd.concat(ledgers.values(), ignore_index=True)))
    if options.json or options.out == STANDARD:
        return
    for title, ledger in ledgers.items():
        print(f"## {title}\n" if options.markdown else title)
        if options.markdown:
            print(f"{as_markdown(ledger)}\n")
            continue
        print(", ".join(f"{count} {verdict}" for verdict, count in counted(ledger).items() if count))
        print_table(summary(ledger).drop(columns="reason"))
        for row in summary(ledger).itertuples():
            if row.reason:
                print_indented(f"{row.id}: {row.reason}")
        print()


def _ledger_of(paper, options):
    """Return the kept ledger of a paper, if there is one and no simulation is asked for."""
    name = paper_in(paper.__name__)
    ledger = None if options.run_again else kept.ledger_of(name)
    if ledger is None:
        return paper.claims(options.size)
    if kept.stale(name):
        warn(f"{name}: kernels have changed since this was kept; give --run")
    return ledger


def conformance(options):
    """Find out which conventions a simulator follows, with small logs that each isolate one choice.

    Without arguments, print the probes and the schedule under each convention. With --log, judge the starts of a whole
    log: which laws they break, which settings give all of them, and where the nearest one first differs. Exit code 1
    means that in some probe the simulator follows no convention of the probe's scheme, or that it breaks a law of
    scheduling or no setting gives all its starts of the log.
    """
    if options.export:
        print("\n".join(str(path) for path in suite.export(options.export)))
        return
    if options.scheme is not None and (options.results is not None or options.trace is not None):
        raise ValueError(
            "--scheme judges a scheme of schedlab on the small logs, expected no results and no --log with it"
        )
    conventions = {name: value for name in ("overrun", "events") if (value := getattr(options, name)) is not None}
    if conventions and options.scheme is None:
        raise ValueError(f"--{next(iter(conventions))} is for a scheme of schedlab, expected --scheme with it")
    if options.trace is not None:
        _judge_log(options)
        return
    for name in ("jobs", "between", "lead", "machine", "standin", "seed", "lenient", "columns", "unit", *SLURM):
        if getattr(options, name):
            raise ValueError(f"--{name.replace('_', '-')} is for a whole log, expected --log TRACE with it")
    judged = options.results if options.results is not None else options.scheme
    if judged is None:
        _print_probes(options.of)
        return
    verdicts = suite.judge(judged, options.of, **conventions)
    print(verdicts)
    if not verdicts.passed:
        raise ValueError("not all probes follow their scheme")


def _judge_log(options):
    if options.results is None:
        raise ValueError("--log needs the file with the simulator's starts: schedlab conformance --log TRACE FILE")
    if options.between and options.lead is None:
        options.lead = False  # the simulator began with an empty machine
    trace = trace_of(options)
    with _patience(options):
        verdict = suite.judge(options.results, options.of, trace=trace)
        report = str(verdict)
    print(report)
    if not verdict.passed:
        raise ValueError("the starts break a law, or no setting gives all of them")


def _print_probes(scheme):
    for probe in suite.probes():
        if scheme not in (None, probe.scheme):
            continue
        print(f"{probe.number} {probe.scheme}: {probe.title}\n")
        print_indented(probe.words)
        for answer in probe.answers:
            print_indented(f"{answer.told}: {answer.convention}. {answer.words}")
        print()


def compile(_):
    """Compile all kernels now instead of at the first use of each. It takes minutes, once for each new version."""
    compile_kernels()


def completion(options):
    """Print a script that lets a shell complete commands, options and their values."""
    from shtab import complete  # here, since only this command needs it

    print(complete(parser(COMMANDS, whole=True), options.shell))


def _check_out(options):
    """Raise early, before there is work to lose, if a file cannot be written, or two results want one output."""
    if options.out == STANDARD:
        if getattr(options, "json", False):
            raise ValueError("--out - and --json both want standard output: give one of them")
        return
    folder = Path(options.out or ".").parent
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise OSError(f"--out is {options.out!r}, but {folder} is not a folder that can be written to")


def _write_table(options, table):
    _write(options, lambda path: table.map(text.cell).to_csv(path, index=False))


def _write(options, write):
    """Write a file that appears whole or not at all, and say so; or write it to standard output."""
    if options.out == STANDARD:
        with TemporaryDirectory() as folder:
            write(Path(folder, "out"))
            print(Path(folder, "out").read_text(encoding="utf-8"), end="")
        return
    with replacing(options.out) as part:
        write(part)
    if not options.quiet:
        print(f"written: {plain(options.out)}", file=sys.stderr)


@contextmanager
def _patience(options):
    """Say on standard error what is going on, if it takes long."""
    timer = Timer(PATIENCE, print, ["simulating"], {"file": sys.stderr})
    timer.daemon = True
    try:
        if not options.quiet:
            timer.start()  # within, since Ctrl-C may come while it starts
        yield
    finally:
        timer.cancel()
