"""The paper's logs under conventions about estimates, and runs of EASY and DPSA on shaken copies of them."""

import warnings

import pandas as pd

from schedlab import DPSA, EASY, Trace, charts, load_trace
from schedlab._runtime.text import check_known
from schedlab.experiment import grid, remember
from schedlab.schedule.metrics import bounded_slowdown, utilization
from schedlab.schedule.simulation import simulate
from schedlab.schedule.statistics import IntervalWarning, over_seeds, paired, ratios_of_means
from schedlab.workload import LoadWarning, swf
from schedlab.workload.archive import TraceNotFound

NAMED = ("LLNL-Atlas-2006", "LLNL-Thunder-2007", "HPC2N-2002", "SDSC-Par-1995", "SDSC-Par-1996", "SDSC-SP2-1998")
GUESSED = ("CTC-SP2-1996", "SDSC-BLUE-2000")  # the paper has eight logs and names six
LOGS = NAMED + GUESSED
STANDIN = " (stand-in)"
SCHEMES = (EASY(), DPSA(variant="p"), DPSA(variant="n"), DPSA(variant="w"))
BASE, *VARIANTS = map(str, SCHEMES)
DPSAP, DPSAN, DPSAW = VARIANTS
# Changes of the mean bounded slowdown that the paper's text gives for single logs, in percent.
PRINTED = (("LLNL-Atlas-2006", DPSAN, -0.3), ("LLNL-Thunder-2007", DPSAN, -40.0), ("LLNL-Thunder-2007", DPSAP, 17.0))
MEASURE = "bounded_slowdown"
CODES = "DPSAn prefers narrow jobs, DPSAp jobs that came first, DPSAw wide jobs."
BY = ["trace", "scheme"]
COPIES = {"quick": 3, "full": 20}  # shaken
SHAKE = 60  # seconds
TAUS = (10, 1, 60)  # seconds; the first is the paper's
IN_PAGE = 60_000  # jobs of a log that a page of the site simulates: a few hundred kilobytes
MOST_JOBS = {"quick": 100_000, "full": None}  # of a log that is used outside Figures 3 and 4
AUDITED = "CTC-SP2-1996"
# The paper's example: job, run time, processors. Two jobs run while J1 to J4 wait. All are submitted at 0. The paper
# describes it in words; these numbers agree with every statement.
EXAMPLE = (("running", 2, 4), ("running", 7, 3), ("J1", 2, 6), ("J2", 4, 3), ("J3", 5, 2), ("J4", 4, 2))
EXAMPLE_PROCS = 7
# How jobs get estimates, and what happens to a job that outlives its estimate.
USERS, EXACT, LEFT_OUT, RUN_ON = "users' estimates", "exact estimates", "jobs without one left out", "overruns run on"
ESTIMATES = {USERS: "kill", EXACT: "kill", LEFT_OUT: "kill", RUN_ON: "keep"}
SHAKEN, SINGLE = "copies with submissions shaken by up to a minute", "single copies, 95 %"
charts.register({"gain": "#138A3B", "utilization": "#8C8C8C"})


@remember(len(LOGS) * len(ESTIMATES))  # generating a stand-in takes seconds
def log(name: str, estimates: str = USERS) -> Trace | None:
    """Return a log, or its stand-in, under a convention about estimates (one of `ESTIMATES`).

    None if there is neither, or if leaving out jobs without an estimate would leave out none or all. The run time
    replaces a missing estimate. The logs of the SDSC Paragon have no estimates, but their queues have time limits in
    their names: these serve as estimates, or the run time where it is longer or the queue has no limit. (Their
    stand-ins have no queues.)
    """
    check_known("estimates", estimates, ESTIMATES)
    if estimates == USERS:
        try:
            trace = load_trace(name, or_standin=True)
        except TraceNotFound:
            return None
        return trace.with_estimates("queue") if trace.name.startswith("SDSC-Par") else trace
    trace = log(name)
    if estimates == EXACT and trace is not None:
        return trace.with_estimates("exact")
    if estimates == LEFT_OUT and trace is not None:
        some = 0 < without_estimate(trace) < len(trace)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LoadWarning)  # the figure says how many jobs are left out
            return load_trace(name, or_standin=True, missing_estimate="drop") if some else None
    return trace


def logs(estimates: str = USERS, most: int | None = None) -> dict[str, Trace]:
    """Return those of the paper's logs that are available, or their stand-ins; there must be at least one.

    Logs with more than `most` jobs, counted under users' estimates, are left out.
    """
    traces = {name: trace for name in LOGS if (trace := log(name)) is not None}
    if not traces:
        raise TraceNotFound(
            "None of the paper's logs is at hand, and no stand-in; `schedlab traces --fetch NAME` downloads a log."
        )
    short = [name for name, trace in traces.items() if most is None or len(trace) <= most]
    return {name: trace for name in short if (trace := log(name, estimates)) is not None}


def without_estimate(trace: Trace) -> int:
    """Count the jobs for which the log has no estimate."""
    return int((trace.repaired["field"] == "requested_time").sum())


def label(trace: Trace) -> str:
    """Name a log as the paper does, and say where it is a stand-in."""
    name = next((name for name in LOGS if trace.name.startswith(name)), trace.name)
    return f"{name}{STANDIN}" if trace.source == "stand-in" else name


def example() -> Trace:
    """Return the paper's example."""
    table = pd.DataFrame(EXAMPLE, columns=["job", "run_time", "requested_procs"])
    table.index = pd.Index(range(1, len(table) + 1), name="job_number")
    table = table.assign(submit_time=0, requested_time=table["run_time"], allocated_procs=table["requested_procs"])
    table = table.assign(user_id=table.index).reindex(columns=[*swf.FIELDS[1:], "job"], fill_value=-1)
    area, nothing = table["run_time"] * table["requested_procs"], table.iloc[:0]
    return Trace(table, "the paper's example", EXAMPLE_PROCS, swf.Header(), "model", nothing, nothing, area)


def changes(size: str, progress: bool = True, estimates: str = USERS) -> pd.DataFrame:
    """Compare the three variants with EASY on every log; a quick run with other estimates skips the longest logs.

    Schedules are chaotic, and the luck of a single run of EASY would enter the changes of all variants. So EASY runs on
    each copy, and the variants are compared with it copy by copy.

    One row for each log and scheme: utilization; over copies of the log whose submissions were shaken, the mean bounded
    slowdown, change (percent, of this mean against that of EASY), the interval of this change (change_low,
    change_high), and the range of the changes on single copies (shaken_low, shaken_high; 2.5 % and 97.5 % quantiles);
    of the log itself, the change (logged) and its interval by batch means of the paired jobs (paired_low, paired_high;
    nan where a schedule does not settle).
    """
    most = None if estimates == USERS else MOST_JOBS[size]
    combinations = [values_of(trace, estimates) for trace in logs(estimates, most).values()]
    runs = copies(combinations, size, f"shaking, {estimates}", progress)
    if runs.empty:  # no log has jobs without an estimate, to be left out
        return runs
    with warnings.catch_warnings(action="ignore", category=IntervalWarning):  # the caption says it of all of them
        itself = grid(_itself, combinations, activity=f"the logs themselves, {estimates}", progress=progress)
    means = runs.groupby(BY, sort=False, as_index=False)[MEASURE].mean()
    data = itself.merge(means, "left", BY).merge(against_easy(runs), "left", BY)
    against = ["change", "change_low", "change_high", "shaken_low", "shaken_high"]
    return data[["trace", "title", "utilization", "scheme", MEASURE, *against, "logged", "paired_low", "paired_high"]]


def copies(
    combinations: list[dict], size: str, label: str, progress: bool = True, tau: int | None = TAUS[0]
) -> pd.DataFrame:
    """Simulate shaken copies of logs; one row for each log, copy (seed) and scheme: trace, and the bounded slowdown.

    If tau is None, the bounded slowdown for each of `TAUS`, in columns of these names.
    """
    runs = grid(_copy, combinations, seed=range(COPIES[size]), activity=label, progress=progress)
    return runs if tau is None else runs.rename(columns={tau: MEASURE})


def values_of(trace, estimates=USERS):
    """Return what is simulated: a log, and the treatment of jobs that outlive their estimates."""
    return {"log": trace, "overrun": ESTIMATES[estimates]}


def _copy(log, seed, **conventions):
    """Simulate a shaken copy of a log: for each scheme the mean bounded slowdown, for each tau."""
    copy, rows = log.shake(SHAKE, seed), []
    for scheme in SCHEMES:
        schedule = simulate(copy, scheme, **conventions)
        rows.append({"trace": label(log), "scheme": str(scheme), **{tau: mean_slowdown(schedule, tau) for tau in TAUS}})
    return pd.DataFrame(rows)


def mean_slowdown(schedule, tau=TAUS[0]):
    """Return the mean bounded slowdown."""
    return float(bounded_slowdown(schedule.end - schedule.submit, schedule.run, tau).mean())


def _itself(log, **conventions):
    """Simulate a log as it is: for each variant the change against EASY, and its interval over the paired jobs."""
    base, *others = (simulate(log, scheme, **conventions) for scheme in SCHEMES)
    rows = [{"scheme": BASE}]
    for schedule in others:
        ratio = paired(schedule, base, MEASURE).ratio
        logged, low, high = (
            100 * (factor - 1) for factor in (mean_slowdown(schedule) / mean_slowdown(base), ratio.low, ratio.high)
        )
        rows.append({"scheme": str(schedule.scheme), "logged": logged, "paired_low": low, "paired_high": high})
    used = utilization(base.start, base.end, base.procs, log.procs, (base.submit[0], base.end.max()))
    return pd.DataFrame(rows).assign(trace=label(log), title=log.title, utilization=used)


def changes_of_copies(runs):
    """Give, for each variant and copy, its part of the change of the mean against EASY (percent)."""
    base = runs[runs["scheme"] == BASE].drop(columns="scheme").rename(columns={MEASURE: "base"})
    runs = runs[runs["scheme"] != BASE].merge(base[["trace", "seed", "base"]], on=["trace", "seed"])
    return runs.assign(change=100 * (ratios_of_means(runs, MEASURE, "base", BY) - 1))


def against_easy(runs):
    """Give, for each variant, the change of the mean over the copies, its interval, and the range of single copies."""
    runs = changes_of_copies(runs)
    single = (100 * (runs[MEASURE] / runs["base"] - 1)).groupby([runs[name] for name in BY], sort=False)
    ends = {"shaken_low": single.quantile(0.025).to_numpy(), "shaken_high": single.quantile(0.975).to_numpy()}
    return over_seeds(runs[[*BY, "seed", "change"]], BY).drop(columns="seeds").assign(**ends)


def as_gains(data):
    """Return gains in place of changes: the same table with the signs turned."""
    gains = {name: -data[name] for name in ("change", "logged") if name in data}
    for kind in (name.removesuffix("_low") for name in data if name.endswith("_low")):
        gains |= {f"{kind}_low": -data[f"{kind}_high"], f"{kind}_high": -data[f"{kind}_low"]}
    return data.assign(**gains)
